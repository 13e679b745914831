/* SPDX-License-Identifier: MIT */
/*
 * Events enter and leave contexts; contexts are found and made for tasks. All of it P, under
 * perf_mutex; what touches a context runs as its owner through ctx_call.
 */
#include "core.h"

struct attach_request {
	struct perf_event *e, *leader;
	struct perf_bucket *bucket;
};

static void link(struct perf_ctx *ctx, const struct attach_request *r)
{
	ctx_add_event(ctx, r->e, r->bucket);
	if (r->leader)
		group_join(r->leader, r->e);
}

static noinline void attach_running(struct perf_ctx *ctx, struct perf_event *head, const struct attach_request *r)
{
	ctx_clock(ctx);
	if (r->leader && r->leader->group.placed)
		group_evict(r->leader);
	if (r->leader)
		group_settle(r->leader);
	link(ctx, r);
	group_relist(head);
	resched_group(ctx, head);
}

/* While the group is off there is nothing to settle, to list or to place. */
static void attach_in_ctx(struct perf_ctx *ctx, void *arg)
{
	struct attach_request *r = arg;
	struct perf_event *head = r->leader ? r->leader : r->e;

	if (head->state < PERF_ON)
		link(ctx, r);
	else
		attach_running(ctx, head, r);
}

/* Put e, new and a group of one, into ctx and into leader's group (NULL: its own). */
void event_attach(struct perf_ctx *ctx, struct perf_event *e, struct perf_bucket *b,
		  struct perf_event *leader)
{
	struct attach_request r = { e, leader == e ? NULL : leader, b };

	ctx_call(ctx, attach_in_ctx, &r);
}

/* It has no part in what counts, and nobody changes by its leaving: the group is off, or e is all of it. */
static bool leaves_quietly(const struct perf_event *e)
{
	return e->leader->state < PERF_ON && (!is_leader(e) || is_alone(e)) && !e->page;
}

static void detach_in_ctx(struct perf_ctx *ctx, void *arg)
{
	struct perf_event *e = arg, *leader = e->leader;
	struct pmu *pmu = leader->group.pmu;

	if (leaves_quietly(e)) {
		if (leader != e)
			group_leave(e);
		WRITE_ONCE(e->state, PERF_GONE);
		ctx_del_event(e);
		return;
	}
	ctx_clock(ctx);
	if (leader->group.placed)
		group_evict(leader);
	group_settle(leader);
	group_leave(e);
	WRITE_ONCE(e->state, PERF_GONE);
	group_relist(e);
	userpage_update(e);
	ctx_del_event(e);
	resched_ctx(ctx, pmu);
}

/* Take e out of its context and its group; it keeps what it has counted. No-op without a context. */
void event_detach(struct perf_event *e)
{
	if (e->ctx)
		ctx_call(e->ctx, detach_in_ctx, e);
	else if (!is_leader(e) || e->group.nr > 1)
		group_leave(e);
}

/* The task's running CPU brings in the context that was made for it meanwhile. IRQs off. */
static void bring_in(void *arg)
{
	struct perf_ctx *ctx = arg;
	struct perf_cpu *pc = this_perf_cpu();

	if (ctx->task == host_current() && ctx->oncpu < 0 && pc->online) {
		ASSERT_PERF(!pc->task_ctx);
		(void)ctx_in(ctx, pc, host_now());
	}
}

/* The memory of the context that pt's task had before, or new memory. */
static struct perf_ctx *take_ctx(struct perf_task *pt)
{
	struct perf_ctx *ctx = pt->spare;

	if (!ctx)
		return ctx_alloc(pt->task);
	pt->spare = NULL;
	ctx_reuse(ctx);
	return ctx;
}

/*
 * A context for another task, which has none. It may be running anywhere, on a CPU that did not see
 * the context yet: after the store every switch to the task sees it, and the visit catches a task that runs.
 */
static struct perf_ctx *make_ctx(struct perf_task *pt)
{
	struct perf_ctx *ctx = take_ctx(pt);

	if (!ctx)
		return NULL;
	__atomic_store_n(&pt->ctx, ctx, __ATOMIC_SEQ_CST);
	for (u32 c = 0; c < host_nr_cpus(); c++)
		if (host_cpu_online(c))
			(void)host_call_on_cpu(c, bring_in, ctx);
	return ctx;
}

/* One more of the pins if ctx is t's: true. A family switch looks at them on the CPU that ctx is in on, or under the lock.
 * P, m. */
static bool add_pins(struct perf_ctx *ctx, const struct task *t)
{
	u64 flags = host_irq_save();
	bool out = READ_ONCE(ctx->oncpu) != (int)host_cpu(), ours;

	if (out)
		host_spin_lock(&ctx->lock);
	ours = ctx->task == t;	/* else a family switch came between */
	if (ours)
		WRITE_ONCE(ctx->pins, ctx->pins + 1);
	if (out)
		host_spin_unlock(&ctx->lock);
	host_irq_restore(flags);
	return ours;
}

/* A context for current. It comes in before anybody can find it, so there is nobody to keep away. */
static struct perf_ctx *make_own_ctx(struct perf_task *pt)
{
	struct perf_ctx *ctx = take_ctx(pt);
	struct perf_cpu *pc;
	u64 flags;

	if (!ctx)
		return NULL;
	ASSERT_HOT(ctx->oncpu < 0 && !ctx->here && !ctx->bycpu && !ctx->nr_clocks && !ctx->parked &&
		   list_empty(&ctx->mapped));
	flags = host_irq_save();
	pc = this_perf_cpu();
	if (likely(pc->online)) {
		WRITE_ONCE(ctx->oncpu, (int)pc->id);
		ctx->stamp = host_now();
		pc->task_ctx = ctx;
	}
	__atomic_store_n(&pt->ctx, ctx, __ATOMIC_RELEASE);
	host_irq_restore(flags);
	return ctx;
}

/* As ctx_of_task for current, which is pt's. It is not being switched, so nobody looks at the pins. NULL: no memory. */
struct perf_ctx *ctx_of_self(struct perf_task *pt)
{
	struct perf_ctx *ctx = pt->ctx ? pt->ctx : make_own_ctx(pt);

	if (ctx)
		WRITE_ONCE(ctx->pins, ctx->pins + 1);
	return ctx;
}

/*
 * The context of t, another task, made if need be, pinned to t: no family switch moves it away until ctx_unpin.
 * NULL with *err = -ESRCH (t has exited) or -ENOMEM.
 */
struct perf_ctx *ctx_of_task(struct task *t, int *err)
{
	struct perf_task *pt = perf_task_get(t);

	*err = -ENOMEM;
	if (!pt)
		return NULL;
	if (pt->dead) {
		*err = -ESRCH;
		return NULL;
	}
	for (;;) {
		struct perf_ctx *ctx = __atomic_load_n(&pt->ctx, __ATOMIC_ACQUIRE);

		if (!ctx)
			ctx = make_ctx(pt);
		if (!ctx || add_pins(ctx, t))
			return ctx;
	}
}

/* A family switch that still sees the pin goes the other way, and that is all. */
void ctx_unpin(struct perf_ctx *ctx)
{
	ASSERT_PERF(ctx->pins);
	WRITE_ONCE(ctx->pins, ctx->pins - 1);
}

/* arg: set to whether the task was running, so that nobody else can be switching to it. */
static void part_from_task(struct perf_ctx *ctx, void *arg)
{
	struct perf_cpu *pc = this_perf_cpu();
	bool *was_in = arg;

	*was_in = ctx->oncpu >= 0;
	if (*was_in) {
		ctx_clock(ctx);
		for (u32 i = 0; i < perf_nr_pmus; i++)
			seats_return(&pc->pmu[i]);
		pc->task_ctx = NULL;
		ctx->here = NULL;
		__atomic_store_n(&ctx->oncpu, -1, __ATOMIC_RELEASE);
	}
	ctx->dead = true;
	__atomic_store_n(&(*host_task_slot(ctx->task))->ctx, NULL, __ATOMIC_RELEASE);
}

static void nothing(void *unused)
{
	(void)unused;
}

/*
 * A task's context without events costs every switch something: drop it. A CPU that is switching to
 * the task may have found the pointer already; it will see "dead". When every CPU has left the switch that it may
 * have been in, the memory is at rest: for the task's next event, or until the task ends.
 */
void ctx_drop_if_empty(struct perf_ctx *ctx)
{
	struct perf_task *pt;
	bool was_in;

	if (!is_tasks(ctx) || ctx->nr_events || ctx->pins)
		return;
	pt = *host_task_slot(ctx->task);
	ctx_call(ctx, part_from_task, &was_in);
	for (u32 c = 0; !was_in && c < host_nr_cpus(); c++)
		if (host_cpu_online(c))
			(void)host_call_on_cpu(c, nothing, NULL);
	ctx_rest(ctx);
	ASSERT_PERF(!pt->spare);
	pt->spare = ctx;
}
