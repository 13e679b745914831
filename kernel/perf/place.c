/* SPDX-License-Identifier: MIT */
/*
 * Placement: which groups get the counters of this CPU.
 *
 * The order of precedence: CPU pinned, task pinned, CPU flexible, task flexible. A pinned group that
 * wants in may push out flexible ones, a CPU's also pinned ones of the task; if it still does not
 * fit it becomes ERROR. Flexible groups take what is left, in the order of the queue, and a queue
 * stops at the first group that does not fit: nobody overtakes it, so it cannot starve behind small
 * ones (rotation brings it to the head, where it meets an empty PMU). Only a group that could not
 * even run if all flexible ones were gone is passed over: waiting for it would help nobody. If what is free is of
 * the wrong kind for the next one, somebody who runs may move there and leave it the right kind.
 *
 * Choosing counters is pure. One routine answers three questions with different masks of free
 * counters: all (does it fit at all; asked at open), the unused ones (does it fit now), and those
 * not held by pinned groups (would it fit).
 *
 * No walk if nobody waits: a group that comes to free counters takes them, counters that become free stay so
 * (nr_active against nr_groups tells).
 *
 * Cost: a queue is walked over the groups that are placed (at most one per counter) and at most
 * PLACE_SKIPS + 1 that are not.
 */
#include "core.h"

static bool wants_counter(const struct perf_event *e)
{
	return e->kind == PERF_KIND_HW && e->state >= PERF_ON;
}

/* Linux checks at open those that are on, or will be by exec. m: the state may change meanwhile. */
static bool will_want_counter(const struct perf_event *e)
{
	enum perf_state state = READ_ONCE(e->state);

	return e->kind == PERF_KIND_HW && (state >= PERF_ON || (state == PERF_OFF && e->on_exec));
}

/* Take the counters of one event out of *free. */
static inline bool choose_one(const struct perf_event *e, u64 *free, s16 *counter, u64 *taken)
{
	int c = e->pmu->ops->choose(e->pmu, &e->hw, *free, taken);

	if (c < 0)
		return false;
	ASSERT_HOT(*taken & (1ULL << c) && !(*taken & ~*free));
	*free &= ~*taken;
	*counter = (s16)c;
	return true;
}

/* Would all members fit into *free? Takes out what they would have. Pure. */
static bool fits(struct perf_event *leader, u64 *free)
{
	struct perf_event *e;
	s16 counter;
	u64 taken;

	for_each_member(e, leader)
		if (wants_counter(e) && !choose_one(e, free, &counter, &taken))
			return false;
	return true;
}

/* Would leader's group with extra fit on an empty PMU, as Linux asks at open? leader may be extra. */
bool group_could_open(struct perf_event *leader, const struct perf_event *extra)
{
	u64 free = extra->pmu->counters, taken;
	struct perf_event *e;
	s16 counter;

	if (leader != extra)
		for_each_member(e, leader)
			if (will_want_counter(e) && !choose_one(e, &free, &counter, &taken))
				return false;
	return !will_want_counter(extra) || choose_one(extra, &free, &counter, &taken);
}

/* Give every member its counter, or none. */
static bool reserve(struct perf_event *leader, u64 free)
{
	struct perf_event *e, *undo;

	if (likely(is_alone(leader)))
		return choose_one(leader, &free, &leader->hw.counter, &leader->hw.taken);
	for_each_member(e, leader) {
		if (!wants_counter(e) || choose_one(e, &free, &e->hw.counter, &e->hw.taken))
			continue;
		for (undo = leader; undo != e; undo = group_next(leader, undo)) {
			undo->hw.counter = -1;
			undo->hw.taken = 0;
		}
		return false;
	}
	return true;
}

/* The group runs, or runs no more: its clocks (if it has any) with it. Show it to user space, where that
 * looks. */
static inline void group_changed(struct perf_cpu_pmu *pp, struct perf_event *leader, bool clocks)
{
	struct perf_ctx *ctx = leader->ctx;
	struct perf_event *e;

	if (unlikely(!list_empty(&ctx->mapped)))
		pp->cpu->stale |= is_tasks(ctx) ? STALE_TASK : STALE_CPU;
	if (unlikely(clocks))
		for_each_member(e, leader)
			clock_update(e);
}

/* Place the whole group on this CPU if it fits now. */
static bool group_place(struct perf_cpu_pmu *pp, struct perf_event *leader)
{
	u64 now = leader->ctx->time;
	struct perf_event *e;
	bool clocks = false;

	ASSERT_HOT(!leader->group.placed && leader->group.listed && leader->group.pmu == pp->pmu);
	if (pp->seats->exclusive || (leader->attr.exclusive && !list_empty(&pp->seats->active)))
		return false;
	if (!reserve(leader, pp->pmu->counters & ~pp->seats->used))
		return false;
	count_touch(pp);
	for_each_member(e, leader) {
		e->rstamp = now;	/* enabled time goes on unsettled */
		clocks |= e->clock_listed;
		if (is_placed(e))
			count_start(pp, e);
		if (is_alone(leader))
			break;
	}
	if (unlikely(leader->attr.pinned))
		for_each_member(e, leader)
			pp->seats->pinned |= e->hw.taken;
	leader->group.placed = true;
	list_add_tail(&leader->group.active, &pp->seats->active);
	pp->seats->nr_active++;
	if (leader->attr.exclusive)
		pp->seats->exclusive = leader;
	pp->seats->foreign += !is_tasks(leader->ctx);
	group_changed(pp, leader, clocks);
	return true;
}

static struct perf_cpu_pmu *pp_of(const struct pmu *pmu)
{
	return &this_perf_cpu()->pmu[pmu->index];
}

/* The running time ends here; enabled time goes on unsettled. */
static void stop_running(struct perf_event *e, u64 now)
{
	u64 ran = now - e->rstamp;

	if (e->state < PERF_ON)
		return;
	e->running += ran;
	if (e->kind == PERF_KIND_CLOCK)
		e->count += ran;
	e->rstamp = now;
}

static void group_off(struct perf_cpu_pmu *pp, struct perf_event *leader)
{
	u64 now = leader->ctx->time;
	struct perf_event *e;
	bool clocks = false;

	ASSERT_HOT(leader->group.placed && leader->ctx->oncpu == (int)pp->cpu->id);
	count_touch(pp);
	for_each_member(e, leader) {
		stop_running(e, now);
		clocks |= e->clock_listed;
		if (is_placed(e))
			count_stop(pp, e);
		if (is_alone(leader))
			break;
	}
	leader->group.placed = false;
	list_del(&leader->group.active);
	pp->seats->nr_active--;
	if (pp->seats->exclusive == leader)
		pp->seats->exclusive = NULL;
	pp->seats->foreign -= !is_tasks(leader->ctx);
	group_changed(pp, leader, clocks);
}

/* Take a placed group off the counters of this CPU. o, after ctx_clock. */
void group_evict(struct perf_event *leader)
{
	group_off(pp_of(leader->group.pmu), leader);
}

/* Take one member off; the rest of the group goes on. o, after ctx_clock. */
void event_evict(struct perf_event *e)
{
	struct perf_cpu_pmu *pp = pp_of(e->pmu);

	count_touch(pp);
	event_settle(e);
	count_stop(pp, e);
}

/* o, after ctx_clock of the contexts concerned. */
static void evict_if(struct perf_cpu_pmu *pp, const struct perf_ctx *ctx, bool flexible)
{
	struct perf_event *g, *next;

	list_for_each_safe(g, next, &pp->seats->active, group.active)
		if (ctx ? g->ctx == ctx : flexible && !g->attr.pinned)
			group_off(pp, g);
}

void evict_flexible(struct perf_cpu_pmu *pp)
{
	evict_if(pp, NULL, true);
}

void evict_ctx(struct perf_cpu_pmu *pp, struct perf_ctx *ctx)
{
	evict_if(pp, ctx, false);
}

static void pinned_failed(struct perf_event *leader)
{
	event_set_state(leader, PERF_ERROR);
	STAT_INC(pinned_errors);
}

static void place_pinned(struct perf_cpu_pmu *pp, struct perf_ctx *ctx)
{
	struct perf_ctx *task = pp->cpu->task_ctx;
	struct perf_event *g, *next;

	for (g = queue_first(ctx, pp->pmu->index, true); g; g = next) {
		next = queue_next(g);
		if (g->group.placed || group_place(pp, g))
			continue;
		evict_flexible(pp);
		if (group_place(pp, g))
			continue;
		if (!is_tasks(ctx) && task) {
			evict_ctx(pp, task);
			if (group_place(pp, g))
				continue;
		}
		pinned_failed(g);
	}
}

/* Could g run if every flexible group were off? */
bool group_satisfiable(const struct perf_cpu_pmu *pp, struct perf_event *g)
{
	u64 free;

	if (pp->seats->exclusive && pp->seats->exclusive->attr.pinned)
		return false;
	if (g->attr.exclusive && pp->seats->pinned)
		return false;
	free = pp->pmu->counters & ~pp->seats->pinned;
	return fits(g, &free);
}

/* Could p take what is free, if g had p's? Only one that is alone moves, for more than one could need more than one. */
static bool could_move(const struct perf_cpu_pmu *pp, struct perf_event *p, struct perf_event *g)
{
	u64 free = (pp->pmu->counters & ~pp->seats->used) | p->hw.taken;

	return is_alone(p) && !p->attr.pinned && fits(g, &free) && fits(p, &free);
}

/* What is free is not of the kind that g needs: let somebody who can do with it move over. */
static bool place_by_move(struct perf_cpu_pmu *pp, struct perf_event *g)
{
	struct perf_event *p;

	if (pp->seats->used == pp->pmu->counters || pp->seats->exclusive || g->attr.exclusive)
		return false;
	list_for_each(p, &pp->seats->active, group.active) {
		if (!could_move(pp, p, g))
			continue;
		group_off(pp, p);
		return group_place(pp, g) && group_place(pp, p);
	}
	return false;
}

/* The next group of the walk: of a or b, the one with the smaller order; moves that one on. */
static struct perf_event *pick(struct perf_event **a, struct perf_event **b)
{
	struct perf_event **from = !*b || (*a && (*a)->group.order <= (*b)->group.order) ? a : b;
	struct perf_event *g = *from;

	if (g)
		*from = queue_next(g);
	return g;
}

/* Fill the free counters from the flexible queues of a and (if not NULL) b, merged. o. */
void place_flexible(struct perf_cpu_pmu *pp, struct perf_ctx *a, struct perf_ctx *b)
{
	u32 i = pp->pmu->index;
	struct perf_event *ga = queue_first(a, i, false);
	struct perf_event *gb = b ? queue_first(b, i, false) : NULL;
	struct perf_event *g;
	u32 skipped = 0;

	a->unmet[i] = false;
	if (b)
		b->unmet[i] = false;
	while ((g = pick(&ga, &gb))) {
		if (g->group.placed || group_place(pp, g) || place_by_move(pp, g))
			continue;
		if (!group_satisfiable(pp, g) && ++skipped <= PLACE_SKIPS)
			continue;
		/* Whoever is behind g waits too: rotation is needed for both. */
		a->unmet[i] |= g->ctx == a || ga;
		if (b)
			b->unmet[i] |= g->ctx == b || gb;
		break;
	}
	if (a->unmet[i] || (b && b->unmet[i]))
		rotate_want(pp);
}

/* Groups that want counters of pp, with those of the contexts that run on other CPUs only. */
static u32 nr_listed(const struct perf_cpu_pmu *pp)
{
	const struct perf_ctx *task = pp->cpu->task_ctx;
	u32 i = pp->pmu->index;

	return pp->cpu->ctx.nr_groups[i] + (task ? task->nr_groups[i] : 0);
}

static void nobody_waits(struct perf_cpu_pmu *pp)
{
	struct perf_ctx *task = pp->cpu->task_ctx;
	u32 i = pp->pmu->index;

	pp->cpu->ctx.unmet[i] = false;
	if (task)
		task->unmet[i] = false;
}

static noinline void give_out(struct perf_cpu_pmu *pp, const struct perf_ctx *fresh)
{
	struct perf_ctx *cpu = &pp->cpu->ctx, *task = pp->cpu->task_ctx;
	u32 i = pp->pmu->index;

	if (task && !task->nr_groups[i])
		task = NULL;
	if (cpu->nr_groups[i] && cpu != fresh)
		ctx_clock(cpu);
	if (task && task != fresh)
		ctx_clock(task);
	if (cpu->nr_groups[i])
		place_pinned(pp, cpu);
	if (task)
		place_pinned(pp, task);
	if (cpu->nr_groups[i])
		place_flexible(pp, cpu, NULL);
	if (task)
		place_flexible(pp, task, NULL);
}

/*
 * Give every waiting group of this CPU its chance. o. fresh: the context whose clock this operation
 * has just brought up, or NULL. It is not moved again: a group that is enabled and placed in one
 * operation must not have been enabled before it ran.
 */
void place_pass(struct perf_cpu *pc, u32 pmu, const struct perf_ctx *fresh)
{
	struct perf_cpu_pmu *pp = &pc->pmu[pmu];

	nobody_waits(pp);
	if (!pp->online)
		return;		/* this CPU lacks the PMU: nobody waits here, nobody fails */
	ASSERT_HOT(pp->seats->nr_active <= nr_listed(pp));
	if (pp->seats->nr_active != nr_listed(pp))
		give_out(pp, fresh);
}

/* End of an operation: let the PMUs that were paused go on, tell user space. o. */
void cpu_commit(struct perf_cpu *pc)
{
	const struct perf_ctx *task = pc->task_ctx;

	u32 touched = pc->touched;

	pc->touched = 0;
	for (; touched; touched &= touched - 1) {
		struct perf_cpu_pmu *pp = &pc->pmu[__builtin_ctz(touched)];

		pp->pmu->ops->resume(pp->pmu, &pp->run);
		pp->run.forget = 0;
		pp->paused = !pp->run.counters;
	}
	if (unlikely(pc->user || (task && task->nr_user)))
		userpage_access(pc);
	if (unlikely(pc->stale))
		userpage_commit(pc);
}

/* Something about the groups of ctx for this PMU (NULL: none) has changed. c, after ctx_clock. */
void resched_ctx(struct perf_ctx *ctx, struct pmu *pmu)
{
	struct perf_cpu *pc = this_perf_cpu();

	if (ctx->oncpu < 0)
		return;
	ASSERT_HOT(ctx->oncpu == (int)pc->id);
	if (pmu)
		place_pass(pc, pmu->index, ctx);
	cpu_commit(pc);
}

/* Place leader, of ctx, if it is the only one that waits and can do so at once. */
static bool place_only(struct perf_ctx *ctx, struct perf_event *leader)
{
	struct perf_cpu_pmu *pp = pp_of(leader->group.pmu);

	if (!pp->online || pp->seats->nr_active + 1 != nr_listed(pp))
		return false;
	if ((leader->bucket != &ctx->any && leader->bucket != ctx->here) || !group_place(pp, leader))
		return false;
	nobody_waits(pp);
	return true;
}

/* leader's group has come, or has changed and was taken off for that. c, after ctx_clock. */
void resched_group(struct perf_ctx *ctx, struct perf_event *leader)
{
	struct perf_cpu *pc = this_perf_cpu();

	if (ctx->oncpu < 0)
		return;
	ASSERT_HOT(ctx->oncpu == (int)pc->id);
	if (leader->group.listed && !leader->group.placed && !place_only(ctx, leader))
		place_pass(pc, leader->group.pmu->index, ctx);
	cpu_commit(pc);
}
