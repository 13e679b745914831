/* SPDX-License-Identifier: MIT */
/*
 * Families.
 *
 * An event with attr.inherit is copied into every task that its task creates, and so on. All
 * copies hang on one list at the root, the event that has the file: identity, totals and losses
 * are the root's. What a copy starts with comes from the task that forks: its copy may be on while the
 * root is off (enable_on_exec of a child), or run with another period. When a task exits, the
 * totals of its copies are added to the root once, and the copies are freed.
 *
 * A fork first makes all copies, groups and buckets, which may fail, in a context that nobody can find yet; then it
 * links them in one go. An exit takes them out in one go.
 *
 * Everything here is P under perf_mutex: a fork is either before a close (which then kills the
 * copies) or after it (and finds nothing to copy).
 */
#include "core.h"

static u64 next_clone_id = 1;	/* m */

static bool wanted(const struct perf_event *e, u32 flags)
{
	if (!e->attr.inherit || (e->attr.inherit_thread && !(flags & PERF_FORK_THREAD)))
		return false;
	/* Without its handler the child would die of the first SIGTRAP. */
	return !(e->attr.sigtrap && (flags & PERF_FORK_NO_HANDLERS));
}

/* Will the copy be what from is? Not after an error, nor when from has used up its enable_on_exec, which
 * a copy gets from the root, as on Linux. */
static bool alike(const struct perf_event *from)
{
	return from->state != PERF_ERROR && from->on_exec == from->root->on_exec;
}

static struct perf_event *copy_event(struct perf_event *from)
{
	struct perf_event *root = from->root;
	struct perf_event *e = event_alloc();

	if (!e)
		return NULL;
	e->attr = root->attr;
	event_init(e, root->cpu, root);
	e->kind = root->kind;
	e->pmu = root->pmu;
	e->hw.config = root->hw.config;
	e->hw.counters = root->hw.counters;
	e->hw.flags = root->hw.flags;
	group_alone(e);
	e->state = from->state >= PERF_ON ? PERF_ON : PERF_OFF;
	e->on_exec = root->on_exec;
	e->sample_period = from->sample_period;
	e->last_period = from->sample_period;
	e->period_left = (s64)from->sample_period;
	sw_event_born(e);
	list_add_tail(&e->child_node, &root->children);
	STAT_INC(inherited);
	return e;
}

/* Copies on their way into ctx. */
struct brood {
	struct perf_ctx *ctx;
	struct list copies;	/* by ctx_node, a group's leader before its members */
};

static struct perf_event *inherit_one(struct perf_event *from, struct brood *b, struct perf_event *leader)
{
	struct perf_bucket *bucket = ctx_bucket(b->ctx, from->cpu);
	struct perf_event *e = bucket ? copy_event(from) : NULL;

	if (!e)
		return NULL;
	e->bucket = bucket;
	list_add_tail(&e->ctx_node, &b->copies);
	if (leader)
		group_join(leader, e);
	return e;
}

static int inherit_group(struct perf_event *from, struct brood *b)
{
	struct perf_event *leader = inherit_one(from, b, NULL), *m;

	if (!leader)
		return -ENOMEM;
	for_each_member(m, from)
		if (m != from && !inherit_one(m, b, leader))
			return -ENOMEM;
	leader->group.generation = from->group.generation;
	return 0;
}

static int inherit_all(struct perf_ctx *parent, struct brood *b, u32 flags, bool *all)
{
	struct perf_event *e;
	int err = 0;

	list_for_each(e, &parent->events, ctx_node) {
		*all &= alike(e);
		if (!is_leader(e))
			continue;
		if (!wanted(e, flags))
			*all = false;
		else
			err = inherit_group(e, b);
		if (err)
			break;
		HOST_PAUSE("inherit");
	}
	return err;
}

/* All copies into the child's context, which is out and stays so. */
static void link_all(struct brood *b)
{
	struct perf_ctx *ctx = b->ctx;
	struct perf_event *e, *next;

	list_for_each_safe(e, next, &b->copies, ctx_node) {
		list_del(&e->ctx_node);
		ctx_add_event(ctx, e, e->bucket);
	}
	list_for_each(e, &ctx->events, ctx_node)
		if (is_leader(e))
			group_relist(e);
}

static void link_brood(struct perf_ctx *parent, struct brood *b, bool all)
{
	u64 flags = host_irq_save();

	host_spin_lock(&b->ctx->lock);	/* nobody can find it yet; but it is ours by the book */
	link_all(b);
	if (all)
		park_born(parent, b->ctx);
	host_spin_unlock(&b->ctx->lock);
	host_irq_restore(flags);
}

/* The copies that are made already: no memory for the next. */
static void drop_copies(struct brood *b)
{
	while (!list_empty(&b->copies)) {
		struct perf_event *e = list_first(&b->copies, struct perf_event, ctx_node);

		list_del(&e->ctx_node);
		group_leave(e);
		list_del(&e->child_node);
		event_free(e);
	}
}

/* Copy the events of parent (pinned) that child, which does not run yet, inherits. 0 or -ENOMEM. */
int inherit_ctx(struct perf_ctx *parent, struct perf_task *child, u32 flags)
{
	struct perf_ctx *ctx = ctx_alloc(child->task);
	struct brood b = { ctx, LIST_INIT(b.copies) };
	bool all = true;
	int err = ctx ? inherit_all(parent, &b, flags, &all) : -ENOMEM;

	if (err)
		drop_copies(&b);
	if (list_empty(&b.copies)) {
		if (ctx)
			ctx_free(ctx);
		return err;
	}
	link_brood(parent, &b, all);
	if (all) {
		if (!parent->clone_id)
			WRITE_ONCE(parent->clone_id, next_clone_id++);
		ctx->clone_id = parent->clone_id;
	}
	__atomic_store_n(&child->ctx, ctx, __ATOMIC_RELEASE);
	return 0;
}

/* fn as the owner of each: root, then its live copies. P, m. */
void family_do(struct perf_event *root, event_fn *fn)
{
	struct perf_event *c;

	event_do(root, fn, root);
	list_for_each(c, &root->children, child_node)
		event_do(c, fn, c);
}

/* A copy whose task has ended: its totals go to the root, it is freed. It is in no context. */
void family_fold(struct perf_event *child)
{
	struct perf_event *root = child->root;

	ASSERT_PERF(host_mutex_held(&perf_mutex) && root != child && !child->ctx);
	/* Pages and samples look at these without the mutex. */
	WRITE_ONCE(root->child_count, root->child_count + child->count);
	WRITE_ONCE(root->child_enabled, root->child_enabled + child->enabled);
	WRITE_ONCE(root->child_running, root->child_running + child->running);
	list_del(&child->child_node);
	if (unlikely(host_waitq_active(&root->waitq)))
		host_waitq_wake(&root->waitq, HOST_POLLHUP);	/* it may have been the last one */
	STAT_INC(folded);
	event_free(child);
}

/* The root's file is closed: all copies stop and go. */
void family_kill(struct perf_event *root)
{
	while (!list_empty(&root->children)) {
		struct perf_event *e = list_first(&root->children, struct perf_event, child_node);
		struct perf_ctx *ctx = e->ctx;

		event_detach(e);
		list_del(&e->child_node);
		event_free(e);
		if (ctx)
			ctx_drop_if_empty(ctx);
	}
}
