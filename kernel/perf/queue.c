/* SPDX-License-Identifier: MIT */
/*
 * Who is next: the queues of groups that want counters.
 *
 * A bucket has two lists for each PMU, pinned and flexible, both sorted by group.order. What is
 * not on a list (leader off, error, software only, other CPU) costs nobody anything. A context
 * that is in on a CPU offers the groups of two buckets, "any CPU" and "this CPU", merged by order.
 *
 * order is a time in ns: a group that enters a queue, or is moved to its end by rotation, gets the
 * present. So the queues of two contexts can be merged fairly, too.
 */
#include "core.h"

static struct list *queue_of(struct perf_event *leader)
{
	u32 i = leader->group.pmu->index;

	return leader->attr.pinned ? &leader->bucket->pmu[i].pinned : &leader->bucket->pmu[i].flexible;
}

static struct perf_event *entry(struct list *n, struct list *head)
{
	return n == head ? NULL : list_entry(n, struct perf_event, group.node);
}

/* Put leader in its queue: at its old place (keep_order) or at the end. */
void queue_insert(struct perf_event *leader, bool keep_order)
{
	struct list *q = queue_of(leader), *at = q->prev;
	struct perf_event *last = entry(at, q);

	ASSERT_HOT(ctx_owned(leader->ctx) && !leader->group.listed && is_leader(leader));
	if (!keep_order)
		leader->group.order = max_t(u64, host_now(), last ? last->group.order + 1 : 0);
	while (at != q && entry(at, q)->group.order > leader->group.order)
		at = at->prev;
	list_add(&leader->group.node, at);
	leader->group.listed = true;
	leader->ctx->nr_groups[leader->group.pmu->index]++;
	leader->ctx->wanted |= 1u << leader->group.pmu->index;
}

void queue_remove(struct perf_event *leader)
{
	ASSERT_HOT(ctx_owned(leader->ctx) && leader->group.listed && !leader->group.placed);
	list_del(&leader->group.node);
	leader->group.listed = false;
	if (!--leader->ctx->nr_groups[leader->group.pmu->index])
		leader->ctx->wanted &= ~(1u << leader->group.pmu->index);
}

static struct list *list_in(struct perf_bucket *b, u32 pmu, bool pinned)
{
	return pinned ? &b->pmu[pmu].pinned : &b->pmu[pmu].flexible;
}

static struct perf_event *earlier(struct perf_event *a, struct perf_event *b)
{
	if (!a || !b)
		return a ? a : b;
	return b->group.order < a->group.order ? b : a;
}

/* The first group of ctx, which is in on this CPU, for this PMU. */
struct perf_event *queue_first(struct perf_ctx *ctx, u32 pmu, bool pinned)
{
	struct list *any = list_in(&ctx->any, pmu, pinned), *here;

	if (!ctx->here)
		return entry(any->next, any);
	here = list_in(ctx->here, pmu, pinned);
	return earlier(entry(any->next, any), entry(here->next, here));
}

/* First of list b that comes after g in the merged order (g is in another list; ties: b later). */
static struct perf_event *after(struct list *b, const struct perf_event *g, bool ties)
{
	struct perf_event *e;

	list_for_each(e, b, group.node)
		if (e->group.order > g->group.order || (ties && e->group.order == g->group.order))
			return e;
	return NULL;
}

/* The one after g. Costs a scan of the other bucket's list only up to g's place. */
struct perf_event *queue_next(struct perf_event *g)
{
	struct perf_ctx *ctx = g->ctx;
	struct list *own = queue_of(g), *other;
	struct perf_event *next = entry(g->group.node.next, own);
	u32 pmu = g->group.pmu->index;

	if (!ctx->here)
		return next;
	other = list_in(g->bucket == &ctx->any ? ctx->here : &ctx->any, pmu, g->attr.pinned);
	/* With equal orders "any" goes first, as queue_first has it. */
	return earlier(g->bucket == &ctx->any ? next : after(other, g, false),
		       g->bucket == &ctx->any ? after(other, g, true) : next);
}
