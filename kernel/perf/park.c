/* SPDX-License-Identifier: MIT */
/*
 * Parking: a task's groups keep their places while the task is out.
 *
 * Most tasks come back to a CPU whose counters are free and want what they had. So who sits on which counter is
 * written down in the task's context (struct perf_seats), and the CPU only points to it. At switch-out the counters are
 * read, the pointer goes back to the CPU's own seats, and the groups are parked: they stay "placed", each event with its
 * counter's number. At switch-in, if the CPU's own seats are empty and nobody else wants any, the pointer comes back and
 * the counters are loaded: no list is touched, no queue is walked and nothing chosen. Times need no touch at all: the
 * clock of a hardware group is the context's, and it stands still meanwhile.
 *
 * Whoever wants to look at or change a context that is out unparks it first (ctx_call does): then
 * it is as if the groups had been evicted. So only switch-out and switch-in ever see parked groups, and what
 * would make the outcome of placing differ (a change of the queues, of a group, of a state) undoes parking.
 * A new task whose events are copies of its parent's will want the same counters. If those of the parent are all on
 * theirs, the copies are parked from birth as if they had been there, and the first switch to the child finds them so
 * (park_born).
 * Not parked: events with something running beside the counter (tick, clock, counters that user code may read),
 * exclusive groups, and groups that share the counters with the CPU's own. Those of the CPU sit where there was place
 * when they came: if that is with the task, they move when it leaves.
 */
#include "core.h"

void seats_init(struct perf_seats *s)
{
	*s = (struct perf_seats){ 0 };
	list_init(&s->active);
}

/* The CPU uses its own seats again; who is left on a task's moves there. o. */
void seats_return(struct perf_cpu_pmu *pp)
{
	struct perf_seats *from = pp->seats, *own = pp->own;

	ASSERT_HOT(from == own || list_empty(&own->active));
	if (from != own && from->nr_active) {
		*own = *from;
		list_init(&own->active);
		list_splice_tail(&from->active, &own->active);
		seats_init(from);
	}
	pp->seats = own;
}

/* May all groups of ctx on pp's counters be parked? They are on s. */
static bool can_park(const struct perf_cpu_pmu *pp, const struct perf_seats *s, const struct perf_ctx *ctx)
{
	const struct perf_cpu *pc = pp->cpu;

	return !s->foreign && !s->exclusive &&
	       !(pc->tick_events | pc->throttled | ctx->nr_clocks | ctx->nr_user);
}

/* Take the counters from the groups of ctx, which is leaving this CPU. False: evict them instead. o. */
bool park_out(struct perf_cpu_pmu *pp, struct perf_ctx *ctx)
{
	struct perf_seats *s = pp->seats;

	if (s == pp->own || !can_park(pp, s, ctx))
		return false;
	count_touch(pp);
	count_unload(pp, s);
	s->cpu = pp->cpu->id;
	s->interrupts = pp->run.interrupts;
	pp->run.forget |= s->used;
	pp->run.counters = pp->run.interrupts = 0;
	pp->seats = pp->own;
	ctx->parked = true;
	return true;
}

static void unpark(struct perf_ctx *ctx, struct perf_seats *s)
{
	struct perf_event *g, *next, *e;

	list_for_each_safe(g, next, &s->active, group.active) {
		group_settle(g);
		g->group.placed = false;
		list_del(&g->group.active);
		for_each_member(e, g) {
			e->rstamp = ctx->time;
			if (is_placed(e))
				s->slot[e->hw.counter] = NULL;
			e->hw.counter = -1;
			e->hw.taken = 0;
		}
	}
	s->nr_active = 0;
	s->used = s->pinned = 0;
}

/* All groups of ctx are as if they had been evicted at switch-out. c. */
void unpark_all(struct perf_ctx *ctx)
{
	ctx->parked = false;
	for (u32 i = 0; i < perf_nr_pmus; i++)
		if (ctx->seats[i].nr_active)
			unpark(ctx, &ctx->seats[i]);
}

/* Has every group of ctx that wants counters got them, and could all be parked? o. */
static bool all_seated(const struct perf_cpu *pc, const struct perf_ctx *ctx)
{
	for (u32 i = 0; i < perf_nr_pmus; i++) {
		const struct perf_cpu_pmu *pp = &pc->pmu[i];

		if (ctx->nr_groups[i] &&
		    (pp->seats->nr_active != ctx->nr_groups[i] || !can_park(pp, pp->seats, ctx)))
			return false;
	}
	return true;
}

/* The leader of a copied group gets the counter of from, each member that of its own. False: the states have parted
 * since they were copied. */
static bool sit_like(struct perf_event *leader, struct perf_event *from, struct perf_seats *s)
{
	struct perf_event *e = leader, *f = from;

	for (; e; e = group_next(leader, e), f = group_next(from, f))
		if (e->state != f->state)
			return false;
	for (e = leader, f = from; e; e = group_next(leader, e), f = group_next(from, f)) {
		if (!is_placed(f))
			continue;
		e->hw.counter = f->hw.counter;
		e->hw.taken = f->hw.taken;
		e->hw.width = f->hw.width;
		e->hw.width_on = f->hw.width_on;
		s->slot[e->hw.counter] = e;
	}
	leader->group.placed = true;
	list_add_tail(&leader->group.active, &s->active);
	s->nr_active++;
	return true;
}

static void take_places(const struct perf_cpu *pc, struct perf_ctx *child)
{
	for (u32 i = 0; i < perf_nr_pmus; i++) {
		const struct perf_cpu_pmu *pp = &pc->pmu[i];
		struct perf_seats *s = &child->seats[i];

		if (!s->nr_active)
			continue;
		s->used = pp->seats->used;
		s->pinned = pp->seats->pinned;
		s->interrupts = pp->run.interrupts;
		s->cpu = pc->id;
		child->parked = true;
	}
}

void park_born(const struct perf_ctx *parent, struct perf_ctx *child)
{
	const struct perf_cpu *pc = this_perf_cpu();
	struct perf_event *e = list_first(&child->events, struct perf_event, ctx_node), *from;

	if (pc->task_ctx != parent || !all_seated(pc, parent))
		return;
	list_for_each(from, &parent->events, ctx_node) {
		if (!is_leader(from))
			continue;
		if (from->group.placed && !sit_like(e, from, &child->seats[from->group.pmu->index])) {
			unpark_all(child);
			return;
		}
		for (u32 n = from->group.nr; n; n--)	/* to the next copied group: they lie in the order of from's */
			e = list_entry(e->ctx_node.next, struct perf_event, ctx_node);
	}
	take_places(pc, child);
}

/* Is there no group of this CPU's own that could have a say? */
static bool is_free(const struct perf_cpu_pmu *pp)
{
	return pp->online && !pp->cpu->ctx.nr_groups[pp->pmu->index];
}

/* And none of ctx that only this CPU has? The array of buckets may be made at this moment on another CPU: it holds
 * no group before that CPU has called here. */
static bool can_return(const struct perf_cpu_pmu *pp, const struct perf_ctx *ctx, const struct perf_seats *s)
{
	return is_free(pp) && (!READ_ONCE(ctx->bycpu) || s->cpu == pp->cpu->id);
}

/* ctx has come in on this CPU: give its parked groups their counters back. False: none, or they had to be
 * unparked; place them. o. */
bool park_in(struct perf_cpu_pmu *pp, struct perf_ctx *ctx, struct perf_seats *s)
{
	if (!s->nr_active) {
		if (is_free(pp))
			pp->seats = s;
		return false;
	}
	if (unlikely(!can_return(pp, ctx, s))) {
		unpark(ctx, s);
		return false;
	}
	count_touch(pp);
	pp->seats = s;
	pp->run.counters = s->used;
	pp->run.interrupts = s->interrupts;
	pp->run.forget |= s->used;
	count_load(pp, s);
	return true;
}
