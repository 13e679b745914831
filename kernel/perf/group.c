/* SPDX-License-Identifier: MIT */
/*
 * Groups: events that count together or not at all.
 *
 * A group is its leader; a single event leads a group of one. The group wants counters on one
 * PMU at most, the one of its hardware members; software members go along. While the leader is
 * off, nothing of the group counts. When a leader leaves, its members become groups of one in
 * its place of the queue: that path allocates nothing and cannot fail.
 */
#include "core.h"

#define READ_LIMIT (16 * 1024)	/* bytes of one read(), Linux's limit of the group's size */
#define READ_EACH 24		/* of these, at most for the group and for each member: read_size_for */

/* Bring queue and soft lists in line with the states of the group. c. */
void group_relist(struct perf_event *leader)
{
	bool want = leader->state >= PERF_ON && leader->group.pmu;
	struct perf_event *e;

	if (want && !leader->group.listed)
		queue_insert(leader, false);
	else if (!want && leader->group.listed)
		queue_remove(leader);
	for_each_member(e, leader)
		event_relist(e);
}

/* To the end of its queue. c. */
void group_requeue(struct perf_event *leader)
{
	queue_remove(leader);
	queue_insert(leader, false);
}

/* e, until now a group of one that is not queued, joins. Both in the same context (mc; a group that is on has been
 * settled), or both new and in none (m). The group is not placed. */
void group_join(struct perf_event *leader, struct perf_event *e)
{
	ASSERT_HOT(!leader->group.placed && !e->group.listed && is_leader(leader));
	list_add_tail(&e->group_node, &leader->group.members);
	e->leader = leader;
	leader->group.nr++;
	leader->group.generation++;
	WRITE_ONCE(leader->group.demand, leader->group.demand + event_demand(e));
	/* A software group moves to the hardware side. Its members run on another clock from here on; none
	 * runs until it is placed, and that takes new stamps. */
	if (e->kind == PERF_KIND_HW && !leader->group.pmu)
		leader->group.pmu = e->pmu;
}

/* e becomes a group of one, at the group's place in the queue. */
static void stand_alone(struct perf_event *e, u64 order)
{
	group_alone(e);
	e->group.order = order;
	if (!e->ctx)
		return;
	event_restamp(e);
	if (e->state >= PERF_ON && e->group.pmu)
		queue_insert(e, true);
	event_relist(e);
}

/* The PMU that the members still need after one has left. */
static void group_repmu(struct perf_event *leader)
{
	struct perf_event *m;
	struct pmu *pmu = NULL;

	for_each_member(m, leader)
		if (m->kind == PERF_KIND_HW)
			pmu = m->pmu;
	if (pmu == leader->group.pmu)
		return;
	if (leader->ctx && leader->group.listed)
		queue_remove(leader);
	leader->group.pmu = pmu;
	if (leader->ctx)
		for_each_member(m, leader)
			event_restamp(m);
}

/*
 * Take e out of its group; it leads itself afterwards and is on no queue. Settled and not placed
 * (with a context: mc, after ctx_clock; else m).
 */
void group_leave(struct perf_event *e)
{
	struct perf_event *leader = e->leader, *m, *tmp;

	ASSERT_HOT(!leader->group.placed);
	if (leader != e) {
		list_del(&e->group_node);
		leader->group.nr--;
		leader->group.generation++;
		WRITE_ONCE(leader->group.demand, leader->group.demand - event_demand(e));
		group_repmu(leader);
		if (leader->ctx && leader->state >= PERF_ON)
			group_relist(leader);
	} else {
		if (e->group.listed)
			queue_remove(e);
		list_for_each_safe(m, tmp, &e->group.members, group_node) {
			list_del(&m->group_node);
			stand_alone(m, e->group.order);
		}
	}
	group_alone(e);
}

/* Could everyone still read the group after e has joined? */
static bool sizes_ok(struct perf_event *leader, const struct perf_event *e)
{
	u32 nr = leader->group.nr + 1;
	struct perf_event *m;

	if (likely((nr + 1) * READ_EACH <= READ_LIMIT))
		return true;
	for_each_member(m, leader)
		if (read_size_for(m->attr.read_format, nr) > READ_LIMIT)
			return false;
	return read_size_for(e->attr.read_format, nr) <= READ_LIMIT;
}

/* May the new event e, meant for the same context, join leader? Linux's rules. m. */
int group_check(struct perf_event *leader, const struct perf_event *e, struct perf_why *why)
{
	if (!is_leader(leader))
		return perf_refuse(why, -EINVAL, "group_fd", leader->id, "is itself a group member");
	if (leader->attr.use_clockid != e->attr.use_clockid ||
	    (e->attr.use_clockid && leader->attr.clockid != e->attr.clockid))
		return perf_refuse(why, -EINVAL, "clockid", (u64)e->attr.clockid,
				   "differs from the group's");
	if (leader->cpu != e->cpu)
		return perf_refuse(why, -EINVAL, "cpu", (u64)e->cpu, "differs from the group's");
	if (e->attr.exclusive || e->attr.pinned)
		return perf_refuse(why, -EINVAL, "pinned", 1, "pinned and exclusive are for leaders");
	if (e->pmu && leader->group.pmu && leader->group.pmu != e->pmu)
		return perf_refuse(why, -EINVAL, "type", e->attr.type, "other PMU than the group's");
	if (!sizes_ok(leader, e))
		return perf_refuse(why, -E2BIG, "read_format", e->attr.read_format,
				   "a read of the group would exceed 16 KiB");
	return 0;
}
