/* SPDX-License-Identifier: MIT */
/*
 * One event: its life, its state and its times.
 *
 * State. OFF and ON are what the user asked for; ERROR is a pinned event that once found no
 * counter; GONE has left its context for good, and only its counts remain. Whether an ON event
 * counts right now is not a state but a fact: is_running().
 *
 * Time. A context has a clock that runs while the context is in. An event holds two totals and two
 * stamps. Nothing is written to it while time passes: event_settle adds what has passed since the
 * stamps, and everyone who changes what is_enabled() or is_running() would say settles first. So
 * a hundred events that wait for a counter cost a context switch nothing.
 */
#include "sample.h"

static u64 next_id = 1;	/* a */

static void init_sampling(struct perf_event *e)
{
	const struct perf_event_attr *attr = &e->attr;

	e->sampling = true;
	e->sample_period = attr->freq ? 1 : attr->sample_period;
	e->last_period = e->sample_period;
	e->period_left = (s64)e->sample_period;
	e->sample_fixed = sample_fixed_size(attr);
	e->sample_kind = (u8)sample_kind(attr);
	e->nr_uregs = (u8)__builtin_popcountll(attr->sample_regs_user);
	e->nr_iregs = (u8)__builtin_popcountll(attr->sample_regs_intr);
	e->more = attr->freq || attr->sigtrap;
	clock_init(e);
}

/* Nodes that nobody asks whether they are on a list stay 0 until they are put on one. */
void event_init(struct perf_event *e, int cpu, struct perf_event *root)
{
	const struct perf_event_attr *attr = &e->attr;

	e->cpu = cpu;
	e->id = __atomic_fetch_add(&next_id, 1, __ATOMIC_RELAXED);
	e->root = root ? root : e;
	e->state = attr->disabled ? PERF_OFF : PERF_ON;
	e->on_exec = attr->enable_on_exec;
	e->hw.counter = -1;
	e->hw.width_on = -1;
	if (attr->sample_period)	/* or a frequency: the same word */
		init_sampling(e);
	list_init(&e->children);	/* or child_node */
	list_init(&e->owner_node);
	list_init(&e->map_node);
	list_init(&e->group.members);
	host_waitq_init(&e->waitq);
	host_irq_work_init(&e->work, overflow_pending);
	e->leader = e;
	e->group.nr = 1;
	STAT_INC(events);
}

/* e is in no context, group or family. P, m. */
void event_free(struct perf_event *e)
{
	if (!e->root) {		/* the open failed before event_init */
		host_free(e);
		return;
	}
	ASSERT_HOT(!e->ctx && !is_placed(e) && is_leader(e) && list_empty(&e->group.members));
	ASSERT_HOT(list_empty(&e->children) && list_empty(&e->owner_node) && !e->nr_maps && !e->ring && !e->clock_listed);
	if (READ_ONCE(e->noted))
		host_irq_work_sync(&e->work);
	sideband_dies(e);
	sw_event_dies(e);
	callchain_dies(e);
	STAT_DEC(events);
	host_free(e);
}

void group_settle(struct perf_event *leader)
{
	struct perf_event *e;

	for_each_member(e, leader)
		event_settle(e);
}

static void relist_clock(struct perf_event *e)
{
	bool want = e->kind == PERF_KIND_CLOCK && is_sampling(e) && is_enabled(e);

	if (want == e->clock_listed)
		return;
	e->clock_listed = want;
	e->ctx->nr_clocks += want ? 1 : -1u;
	if (want)
		list_add_tail(&e->clock_node, &e->bucket->clocks);
	else
		list_del(&e->clock_node);
	if (!want)
		overflow_unthrottle(e);
	clock_update(e);
}

/* e enters or leaves the lists of software events and of clocks. c. */
void event_relist(struct perf_event *e)
{
	bool want = e->kind == PERF_KIND_COUNT && is_enabled(e);

	relist_clock(e);
	if (want == e->soft_listed)
		return;
	if (!want)
		overflow_unthrottle(e);
	e->soft_listed = want;
	if (want)
		list_add_tail(&e->soft_node, &e->bucket->soft);
	else
		list_del(&e->soft_node);
}

/* Change the state. An event that stops being ON has been evicted before. c, after ctx_clock. */
void event_set_state(struct perf_event *e, enum perf_state state)
{
	ASSERT_HOT(state >= PERF_ON || !is_placed(e));
	ASSERT_HOT(state >= PERF_ON || !is_leader(e) || !e->group.placed);
	if (is_leader(e))
		group_settle(e);
	else
		event_settle(e);
	WRITE_ONCE(e->state, state);
	group_relist(e->leader);
}

void event_do(struct perf_event *e, event_fn *fn, void *arg)
{
	if (e->ctx)
		ctx_call(e->ctx, fn, arg);
	else
		fn(NULL, arg);
}

void event_enable(struct perf_ctx *ctx, void *arg)
{
	struct perf_event *e = arg;

	e->disarmed = false;
	if (e->state >= PERF_ON || e->state < PERF_ERROR)
		return;
	ctx_clock(ctx);
	/* A group runs with all members that are on: take it off and place it again with e. */
	if (e->leader->group.placed)
		group_evict(e->leader);
	event_set_state(e, PERF_ON);
	resched_group(ctx, e->leader);
	userpage_update(e);
}

void event_disable(struct perf_ctx *ctx, void *arg)
{
	struct perf_event *e = arg;

	if (e->state < PERF_ON)
		return;
	ctx_clock(ctx);
	if (is_leader(e) && e->group.placed)
		group_evict(e);
	else if (is_placed(e))
		event_evict(e);
	event_set_state(e, PERF_OFF);
	resched_ctx(ctx, e->leader->group.pmu);
	userpage_update(e);
}

/* An interrupt's work: e's budget is used up. If its context has left this CPU meanwhile, the next overflow
 * comes here again. O, interrupt. */
void event_disable_here(struct perf_event *e)
{
	struct perf_cpu *pc = this_perf_cpu();
	struct perf_ctx *ctx = READ_ONCE(e->ctx);	/* if it is in elsewhere, it may change */

	if (ctx_is_here(pc, ctx) && e->disarmed)
		event_disable(ctx, e);
}

struct refresh {
	struct perf_event *e;
	u32 n;
};

static void refresh_in_ctx(struct perf_ctx *ctx, void *arg)
{
	struct refresh *r = arg;

	r->e->budget += r->n;
	event_enable(ctx, r->e);
}

/* n more overflows, then off. P, m. */
void event_refresh(struct perf_event *e, u32 n)
{
	struct refresh r = { e, n };

	event_do(e, refresh_in_ctx, &r);
}

/* Clears the event's own count, neither times nor what exited copies left. */
void event_reset(struct perf_ctx *ctx, void *arg)
{
	struct perf_event *e = arg;

	if (ctx) {
		ctx_clock(ctx);
		event_update(e);
		HOST_PAUSE("reset");
	}
	e->count = 0;
	userpage_update(e);
}

struct period_change {
	struct perf_event *e;
	u64 value;
};

static void period_in_ctx(struct perf_ctx *ctx, void *arg)
{
	struct period_change *c = arg;
	struct perf_event *e = c->e;
	bool placed = is_placed(e);

	ctx_clock(ctx);
	if (placed)
		group_evict(e->leader);
	if (e->attr.freq)
		e->attr.sample_freq = c->value;
	else
		e->attr.sample_period = e->sample_period = c->value;
	e->period_left = 0;	/* the next start takes a whole new period, as on Linux */
	clock_restart(e);
	if (placed)
		resched_ctx(ctx, e->leader->group.pmu);
}

/* New period or frequency of a sampling event, checked by the caller. P, m. */
void event_set_period(struct perf_event *e, u64 value)
{
	struct period_change c = { e, value };

	if (e->ctx)
		ctx_call(e->ctx, period_in_ctx, &c);
	else if (e->attr.freq)
		e->attr.sample_freq = value;
	else
		e->attr.sample_period = e->sample_period = value;
}
