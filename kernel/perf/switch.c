/* SPDX-License-Identifier: MIT */
/*
 * The context switch.
 *
 * The events of prev leave the counters, those of next enter. Both in one hook, with the PMU paused
 * once around it. If the two contexts are copies of each other (a family whose members all inherited
 * the same events) nothing needs to be reprogrammed: the tasks swap their contexts, and the events
 * go on counting for next. The sum over the family is the same, and it is what read() shows.
 *
 * Called under the run-queue lock: nothing here may wake anybody.
 */
#include "core.h"

u32 perf_switch_users;
static u32 watchers;	/* of these, the events that count or record every switch (a) */

void switch_watch(u32 n)
{
	__atomic_fetch_add(&watchers, n, __ATOMIC_SEQ_CST);
	__atomic_fetch_add(&perf_switch_users, n, __ATOMIC_SEQ_CST);
}

static struct perf_task *perf_of(struct task *t)
{
	return __atomic_load_n(host_task_slot(t), __ATOMIC_ACQUIRE);
}

static struct perf_ctx *ctx_of(struct task *t)
{
	struct perf_task *pt = perf_of(t);

	return pt ? __atomic_load_n(&pt->ctx, __ATOMIC_ACQUIRE) : NULL;
}

static void place_after_switch(struct perf_cpu *pc, u32 pmus, struct perf_ctx *next)
{
	for (; pmus; pmus &= pmus - 1) {
		u32 i = (u32)__builtin_ctz(pmus);
		struct perf_cpu_pmu *pp = &pc->pmu[i];

		if (!next && !pc->ctx.nr_groups[i])
			continue;	/* nobody is left who could want a counter */
		if (!next || !park_in(pp, next, &next->seats[i]))
			place_pass(pc, i, next);
		if (next && unlikely(next->unmet[i]))
			rotate_go_on(pp, next);
	}
	cpu_commit(pc);
}

static noinline void full_switch(struct perf_cpu *pc, struct perf_ctx *prev, struct perf_ctx *next)
{
	u64 now = host_now();
	u32 pmus = prev ? prev->wanted : 0;	/* now: once it is out, others may change it */

	STAT_INC(switches);
	if (prev)
		ctx_out(prev, pc, now);
	if (next && !ctx_in(next, pc, now))
		next = NULL;
	place_after_switch(pc, next ? pmus | next->wanted : pmus, next);
}

/* a of prev (in here) and b of next (out) seem to be copies: if they are and may, the tasks swap them. */
static noinline void family_switch(struct perf_cpu *pc, struct task *t, struct task *u, struct perf_ctx *a,
				   struct perf_ctx *b)
{
	struct perf_task *prev = perf_of(t), *next = perf_of(u);
	bool same;

	host_spin_lock(&a->lock);
	host_spin_lock_nested(&b->lock);	/* only this CPU can take two: both tasks are in its hands */
	same = a->clone_id && a->clone_id == b->clone_id && !READ_ONCE(a->pins) && !READ_ONCE(b->pins) && !a->noswap &&
	       !b->noswap && list_empty(&a->mapped) && list_empty(&b->mapped) &&
	       !a->traps_owed && !b->traps_owed;	/* a signal is for the task that was interrupted */
	if (same) {
		WRITE_ONCE(a->task, next->task);	/* is_tasks */
		WRITE_ONCE(b->task, prev->task);
		/* ctx_of_task looks at them on another CPU before it takes a lock. */
		__atomic_store_n(&next->ctx, a, __ATOMIC_RELEASE);
		__atomic_store_n(&prev->ctx, b, __ATOMIC_RELEASE);
		STAT_INC(family_switches);
	}
	host_spin_unlock(&b->lock);
	host_spin_unlock(&a->lock);
	if (!same)
		full_switch(pc, a, b);
}

/* The events of prev leave, those of next come. a: prev's context, if it was brought in; b: next's. */
static inline void exchange(struct perf_cpu *pc, struct task *prev, struct task *next, struct perf_ctx *a,
		     struct perf_ctx *b)
{
	if (a && b && a->clone_id && READ_ONCE(b->clone_id) == a->clone_id)
		family_switch(pc, prev, next, a, b);
	else if (likely(pc->online))
		full_switch(pc, a, b);
}

/* Does an event of this CPU or of the running task record switches? */
static bool records(const struct perf_cpu *pc)
{
	return pc->ctx.nr_switch || (pc->task_ctx && pc->task_ctx->nr_switch);
}

/* The same, and tell the events that look at switches. */
static noinline void watched_switch(struct task *prev, struct task *next, bool preempt, bool migrated)
{
	struct perf_cpu *pc = this_perf_cpu();
	struct perf_ctx *b;

	if (unlikely(!pc->online))
		return;
	perf_sw_event(PERF_COUNT_SW_CONTEXT_SWITCHES, 1, NULL, 0);
	if (records(pc))
		sideband_switch(pc, prev, next, true, preempt);
	b = ctx_of(next);
	if (pc->task_ctx || b)
		exchange(pc, prev, next, pc->task_ctx, b);
	if (records(pc))
		sideband_switch(pc, prev, next, false, preempt);
	if (!migrated)
		return;
	pc->as = next;
	perf_sw_event(PERF_COUNT_SW_CPU_MIGRATIONS, 1, NULL, 0);
	pc->as = NULL;
}

void perf_sched_switch_slow(struct task *prev, struct task *next, bool preempt, bool migrated)
{
	struct perf_cpu *pc = this_perf_cpu();
	struct perf_ctx *a = pc->task_ctx, *b = ctx_of(next);

	ASSERT_HOT(host_irqs_off());
	if (unlikely(READ_ONCE(watchers)))
		watched_switch(prev, next, preempt, migrated);
	else if (a || b)
		exchange(pc, prev, next, a, b);
}
