/* SPDX-License-Identifier: MIT */
/*
 * Rotation: more groups than counters.
 *
 * As long as a group that could run has to wait, once per interval (the PMU's
 * perf_event_mux_interval_ms) the one at the head of the queue goes to its end, and the counters are given
 * out anew in the order of the queue. The queues of the CPU and of the running task are merged by order, so
 * neither can keep the other out. With n equal groups for k places each is on for k of n turns; a large group
 * runs when it reaches the head.
 *
 * Whoever ran and is not at the head runs on, having come before those that wait. So only the head leaves, and if
 * the next in the queue use up what it had, that is all. Else all flexible groups leave and are placed again:
 * counters differ, and a free one may be of use only if several others move. The same if the head is not
 * on the counters: a task that comes finds them with the CPU's groups, which may be younger than its own.
 *
 * Two things start a turn. A timer of the CPU, armed when something did not fit, which stops by
 * itself when all fit again. And the context's own clock: a task whose slices always miss the
 * timer's phase is rotated at switch-in when it has run for an interval since its last turn.
 *
 * A program whose phases are as long as the turns gets wrong estimates. kernel.perf_mux_jitter against that is
 * off (0) by default; else it is the seed of a random lengthening of each turn by up to a quarter, the same
 * sequence on a CPU for the same seed.
 */
#include "core.h"

static u64 interval(const struct perf_cpu_pmu *pp)
{
	return (u64)READ_ONCE(pp->pmu->mux_interval_ms) * NSEC_PER_MSEC;
}

/* xorshift32: never 0, if it was not. */
static u32 next_random(u32 x)
{
	x ^= x << 13;
	x ^= x >> 17;
	return x ^ x << 5;
}

/* How much longer than the interval the next turn is. */
static u64 jitter(struct perf_cpu_pmu *pp)
{
	u32 seed = sysctl_jitter();

	if (likely(!seed))
		return 0;
	if (pp->jitter_seed != seed) {
		pp->jitter_seed = seed;
		pp->jitter = (seed ^ (pp->cpu->id + 1) * 0x9e3779b9u) | 1;
	}
	pp->jitter = next_random(pp->jitter);
	return (interval(pp) / 4 * (pp->jitter >> 16)) >> 16;
}

static bool unmet(const struct perf_cpu_pmu *pp)
{
	const struct perf_ctx *task = pp->cpu->task_ctx;
	u32 i = pp->pmu->index;

	return pp->cpu->ctx.unmet[i] || (task && task->unmet[i]);
}

static void on_timer(struct host_timer *t)
{
	struct perf_cpu_pmu *pp = container_of(t, struct perf_cpu_pmu, timer);

	if (!unmet(pp))
		return;
	rotate_now(pp);
	cpu_commit(pp->cpu);
}

void rotate_init(struct perf_cpu_pmu *pp)
{
	host_timer_init(&pp->timer, on_timer);
}

/* Something waits: see to it that there is a next turn. o. */
void rotate_want(struct perf_cpu_pmu *pp)
{
	if (!host_timer_armed(&pp->timer))
		host_timer_start(&pp->timer, host_now() + interval(pp) + jitter(pp));
}

static void turn(struct perf_ctx *ctx, u32 pmu)
{
	ctx_clock(ctx);
	ctx->rotated[pmu] = ctx->time;
}

/* Has the CPU groups of its own? Most have none, and only the task's take turns. */
static bool cpu_takes_part(const struct perf_cpu_pmu *pp)
{
	return pp->cpu->ctx.nr_groups[pp->pmu->index];
}

/* The head of both queues. */
static struct perf_event *first(const struct perf_cpu_pmu *pp)
{
	struct perf_ctx *task = pp->cpu->task_ctx;
	u32 i = pp->pmu->index;
	struct perf_event *a = cpu_takes_part(pp) ? queue_first(&pp->cpu->ctx, i, false) : NULL;
	struct perf_event *b = task ? queue_first(task, i, false) : NULL;

	return !a || (b && b->group.order < a->group.order) ? b : a;
}

/*
 * The head goes to the end. A group that could not run anyway takes no turn of its own: the next one
 * goes with it, else those behind would have their places for two turns. False: the head waits, because others
 * of the two contexts had the counters before it came. It stays, and its turn is now.
 */
static bool advance(struct perf_cpu_pmu *pp)
{
	struct perf_event *head;
	bool could = false;

	for (u32 n = 0; n <= PLACE_SKIPS && !could && (head = first(pp)); n++) {
		could = head->group.placed || group_satisfiable(pp, head);
		if (head->group.placed)
			group_evict(head);
		else if (could)
			return false;
		group_requeue(head);
	}
	return true;
}

/* Give out what is free. */
static void fill(struct perf_cpu_pmu *pp)
{
	struct perf_ctx *cpu = &pp->cpu->ctx, *task = pp->cpu->task_ctx;

	place_flexible(pp, task ? task : cpu, task && cpu_takes_part(pp) ? cpu : NULL);
}

/* One turn. o. */
void rotate_now(struct perf_cpu_pmu *pp)
{
	struct perf_ctx *cpu = &pp->cpu->ctx, *task = pp->cpu->task_ctx;
	u32 i = pp->pmu->index;

	STAT_INC(rotations);
	if (cpu_takes_part(pp))
		turn(cpu, i);
	if (task)
		turn(task, i);
	if (advance(pp)) {
		fill(pp);
		if (pp->seats->used == pp->pmu->counters)
			return;
	}
	evict_flexible(pp);
	fill(pp);
}

/* Has ctx, which waits, run for an interval since its last turn? */
static bool is_due(const struct perf_cpu_pmu *pp, const struct perf_ctx *ctx)
{
	u32 i = pp->pmu->index;

	return ctx->unmet[i] && ctx->time - ctx->rotated[i] >= interval(pp);
}

/* ctx, of which a group waits, has come in: the turns go on where they stopped. o. */
void rotate_go_on(struct perf_cpu_pmu *pp, const struct perf_ctx *ctx)
{
	rotate_want(pp);
	if (is_due(pp, ctx))
		rotate_now(pp);
}
