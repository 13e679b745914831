/* SPDX-License-Identifier: MIT */
/*
 * Parking: a task's groups keep their places while the task is out.
 *
 * Most tasks come back to a CPU whose counters are free and want what they had. So at switch-out the
 * counters are read, and the groups are parked: they stay "placed", each event with its counter's number,
 * and the list of them moves from the CPU to the context. At switch-in, if the CPU's counters are free and
 * nobody else wants any, they are loaded again: no queue is walked and nothing chosen. Times need
 * no touch at all: the clock of a hardware group is the context's, and it stands still meanwhile.
 *
 * Whoever wants to look at or change a context that is out unparks it first (ctx_call does): then
 * it is as if the groups had been evicted. So only switch-out and switch-in ever see parked groups, and what
 * would make the outcome of placing differ (a change of the queues, of a group, of a state) undoes parking.
 * Not parked: events with something running beside the counter (tick, clock, control page), exclusive groups,
 * and groups that share the counters with the CPU's own.
 */
#include "core.h"

/* May all groups on pp's counters be parked? They are ctx's, if nothing is foreign. */
static bool can_park(const struct perf_cpu_pmu *pp, const struct perf_ctx *ctx)
{
	const struct perf_cpu *pc = pp->cpu;

	return !pp->foreign && !pp->exclusive && !pc->tick_events && !pc->throttled &&
	       list_empty(&ctx->mapped) && list_empty(&ctx->any.clocks) &&
	       (!ctx->here || list_empty(&ctx->here->clocks)) &&
	       (u32)__builtin_popcountll(pp->run.interrupts) <= PARK_MAX;
}

/* Take the counters from the groups of ctx, which is leaving this CPU. False: evict them instead. o. */
bool park_out(struct perf_cpu_pmu *pp, struct perf_ctx *ctx)
{
	u32 i = pp->pmu->index;
	struct perf_park *p = &ctx->park[i];

	if (unlikely(!can_park(pp, ctx)))
		return false;
	count_touch(pp);
	p->cpu = pp->cpu->id;
	p->used = pp->used;
	p->pinned = pp->pinned;
	p->interrupts = pp->run.interrupts;
	p->nr = count_unload(pp, p->event);
	pp->run.forget |= pp->used;
	pp->run.counters = pp->run.interrupts = 0;
	pp->used = pp->pinned = 0;
	list_splice_tail(&pp->active, &p->groups);
	p->nr_groups = pp->nr_active;
	pp->nr_active = 0;
	ctx->parked |= 1u << i;
	return true;
}

static void unpark(struct perf_ctx *ctx, struct perf_park *p)
{
	struct perf_event *g, *next, *e;

	list_for_each_safe(g, next, &p->groups, group.active) {
		group_settle(g);
		g->group.placed = false;
		list_del(&g->group.active);
		for_each_member(e, g) {
			e->rstamp = ctx->time;
			e->hw.counter = -1;
			e->hw.taken = 0;
		}
	}
}

/* All groups of ctx are as if they had been evicted at switch-out. c. */
void unpark_all(struct perf_ctx *ctx)
{
	for (u32 i = 0; ctx->parked; i++, ctx->parked >>= 1)
		if (ctx->parked & 1)
			unpark(ctx, &ctx->park[i]);
}

/*
 * Is there nothing on this CPU that could have a say? The array of buckets may be made at this moment on another
 * CPU: it holds no group before that CPU has called here.
 */
static bool can_return(const struct perf_cpu_pmu *pp, const struct perf_ctx *ctx,
		       const struct perf_park *p)
{
	return pp->online && list_empty(&pp->active) && !pp->cpu->ctx.nr_groups[pp->pmu->index] &&
	       (!READ_ONCE(ctx->bycpu) || p->cpu == pp->cpu->id);
}

/* ctx has come in on this CPU: give its parked groups their counters back. False: none, or they had to be
 * unparked; place them. o. */
bool park_in(struct perf_cpu_pmu *pp, struct perf_ctx *ctx)
{
	u32 i = pp->pmu->index;
	struct perf_park *p = &ctx->park[i];

	if (!(ctx->parked & 1u << i))
		return false;
	ctx->parked &= ~(1u << i);
	if (unlikely(!can_return(pp, ctx, p))) {
		unpark(ctx, p);
		return false;
	}
	count_touch(pp);
	count_load(pp, p->event, p->nr);
	pp->used = p->used;
	pp->pinned = p->pinned;
	pp->run.counters = p->used;
	pp->run.interrupts = p->interrupts;
	pp->run.forget |= p->used;
	list_splice_tail(&p->groups, &pp->active);
	pp->nr_active = p->nr_groups;
	if (unlikely(ctx->unmet[i]))
		rotate_want(pp);
	return true;
}
