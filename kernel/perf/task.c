/* SPDX-License-Identifier: MIT */
/*
 * The life of a task as perf sees it: fork, exec, exit.
 *
 * A task has a struct perf_task from the first moment that perf has to remember something about it.
 * Its slot only ever changes from NULL to that, or, when a task without one exits, to a tombstone:
 * so an open that races with the exit finds "dead" and answers ESRCH.
 */
#include "sample.h"

static struct perf_task tombstone = { .dead = true };

static u64 last_task_id;	/* m */

static struct perf_task *peek(struct task *t)
{
	return __atomic_load_n(host_task_slot(t), __ATOMIC_ACQUIRE);
}

struct perf_task *perf_task_make(struct task *t)
{
	struct perf_task *pt = host_zalloc(sizeof(*pt)), *none = NULL;

	if (!pt)
		return NULL;
	pt->task = t;
	pt->id = ++last_task_id;
	list_init(&pt->owned);
	if (!__atomic_compare_exchange_n(host_task_slot(t), &none, pt, false, __ATOMIC_ACQ_REL,
					 __ATOMIC_ACQUIRE)) {
		host_free(pt);
		return none;	/* the tombstone: t exited meanwhile */
	}
	STAT_INC(tasks);
	return pt;
}

/* Pin the context of current, so that no switch replaces it while we sleep. NULL: none. */
static struct perf_ctx *pin_own_ctx(struct perf_task *pt)
{
	u64 flags = host_irq_save();
	struct perf_ctx *ctx = pt->ctx;

	if (ctx)
		WRITE_ONCE(ctx->pins, ctx->pins + 1);	/* in on this CPU, so ours */
	host_irq_restore(flags);
	return ctx;
}

int perf_fork(struct task *child, u32 flags)
{
	struct perf_task *pt = peek(host_current()), *cpt;
	struct perf_ctx *ctx;
	int err = 0;

	if (likely(!pt || !READ_ONCE(pt->ctx)))
		return 0;
	host_mutex_lock(&perf_mutex);
	ctx = pin_own_ctx(pt);
	if (ctx) {
		cpt = perf_task_get(child);
		err = cpt ? inherit_ctx(ctx, cpt, flags) : -ENOMEM;
		ctx_unpin(ctx);
	}
	host_mutex_unlock(&perf_mutex);
	if (err)
		perf_task_free(child);
	return err;
}

/* Every event of ctx, which has left its task and is out, stops for good. Copies are handed over; roots
 * keep their counts and their groups for later reads. */
static void gone_in_ctx(struct perf_ctx *ctx, void *arg)
{
	struct list *copies = arg;
	struct perf_event *e, *next;

	list_for_each(e, &ctx->events, ctx_node)
		event_settle(e);	/* all, before the first leader stops to be on */
	list_for_each_safe(e, next, &ctx->events, ctx_node) {
		WRITE_ONCE(e->state, PERF_GONE);
		if (e->root == e)
			overflow_wake(e);	/* who polls it learns of the end */
		if (e->group.listed)
			queue_remove(e);
		if (e->soft_listed || e->clock_listed)
			event_relist(e);
		if (e->page)
			userpage_update(e);
		ctx_del_event(e);
		if (e->root != e)
			list_add_tail(&e->ctx_node, copies);
	}
}

static void empty_ctx(struct perf_ctx *ctx)
{
	struct list copies = LIST_INIT(copies);
	struct perf_event *e;

	ctx_call(ctx, gone_in_ctx, &copies);
	while (!list_empty(&copies)) {
		e = list_first(&copies, struct perf_event, ctx_node);
		list_del(&e->ctx_node);
		if (!is_leader(e) || !is_alone(e))
			group_leave(e);
		family_fold(e);
	}
	ctx_free(ctx);
}

/* Take current's context away from it, and off this CPU. */
static struct perf_ctx *leave_own_ctx(struct perf_task *pt)
{
	u64 flags = host_irq_save();
	struct perf_cpu *pc = this_perf_cpu();
	struct perf_ctx *ctx = pt->ctx;

	if (ctx) {
		ASSERT_PERF(ctx == pc->task_ctx && ctx->task == pt->task);
		ctx_out(ctx, pc, host_now());
		__atomic_store_n(&pt->ctx, NULL, __ATOMIC_RELEASE);
		for (u32 i = 0; i < perf_nr_pmus; i++)
			if (ctx->nr_groups[i])
				place_pass(pc, i, NULL);	/* others get the counters at once */
		cpu_commit(pc);
	}
	host_irq_restore(flags);
	return ctx;
}

/* What it counts, and its hold on what it has opened elsewhere (prctl). */
static void drop_own_events(struct perf_task *pt)
{
	struct perf_ctx *ctx = leave_own_ctx(pt);

	while (!list_empty(&pt->owned))
		list_del(pt->owned.next);
	sideband_exit(pt->task, ctx);	/* after the last sample, before the rings go */
	if (ctx)
		empty_ctx(ctx);
	host_free(pt->spare);
	pt->spare = NULL;
}

void perf_exit(struct task *t)
{
	struct perf_task *pt = peek(t), *none = NULL;

	if (!pt && __atomic_compare_exchange_n(host_task_slot(t), &none, &tombstone, false,
					       __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
		sideband_exit(t, NULL);
		return;
	}
	pt = peek(t);
	if (pt == &tombstone)
		return;
	HOST_PAUSE("exit");
	host_mutex_lock(&perf_mutex);
	pt->dead = true;
	drop_own_events(pt);
	host_mutex_unlock(&perf_mutex);
}

void perf_fork_undo(struct task *child)
{
	struct perf_task *pt = peek(child);
	struct perf_ctx *ctx;

	if (!pt || pt == &tombstone)
		return;
	host_mutex_lock(&perf_mutex);
	pt->dead = true;
	ctx = pt->ctx;
	pt->ctx = NULL;
	if (ctx)
		empty_ctx(ctx);
	host_mutex_unlock(&perf_mutex);
}

void perf_task_free(struct task *t)
{
	struct perf_task *pt = peek(t);

	if (!pt || pt == &tombstone)
		return;
	ASSERT_PERF(!pt->ctx && list_empty(&pt->owned));
	*host_task_slot(t) = NULL;
	host_free(pt->spare);	/* its fork failed after somebody had closed the events that it was to inherit */
	STAT_DEC(tasks);
	host_free(pt);
}

static void exec_enable(struct perf_ctx *ctx, void *arg)
{
	struct perf_event *e;
	bool any = false;

	(void)arg;
	ctx_clock(ctx);
	list_for_each(e, &ctx->events, ctx_node) {
		if (!e->on_exec)
			continue;
		e->on_exec = false;		/* once only */
		WRITE_ONCE(ctx->clone_id, 0);	/* differs from its copies now */
		if (e->state >= PERF_ON)
			continue;
		if (e->leader->group.placed)
			group_evict(e->leader);
		event_set_state(e, PERF_ON);
		any = true;
	}
	if (!any)
		return;
	for (u32 i = 0; i < perf_nr_pmus; i++)
		resched_ctx(ctx, perf_pmus[i]);
}

static void report_read(struct perf_ctx *ctx, void *child)
{
	(void)ctx;
	sample_read_output(child);
}

/* Linux 6.12 has READ records of copies that an exec removes, none of those whose task exits. */
static void exec_remove(struct perf_ctx *ctx)
{
	struct perf_event *e, *next;

	list_for_each_safe(e, next, &ctx->events, ctx_node) {
		if (!e->attr.remove_on_exec)
			continue;
		if (e->root != e && e->attr.inherit_stat)
			ctx_call(ctx, report_read, e);
		event_detach(e);
		if (e->root != e) {
			family_fold(e);
			continue;
		}
		list_del(&e->owner_node);
		host_waitq_wake(&e->waitq, HOST_POLLHUP);	/* who polls it learns of the end */
	}
}

static void exec_events(struct perf_task *pt)
{
	struct perf_ctx *ctx;

	host_mutex_lock(&perf_mutex);
	ctx = pin_own_ctx(pt);
	if (ctx) {
		ctx_call(ctx, exec_enable, NULL);
		exec_remove(ctx);
		ctx_unpin(ctx);
		ctx_drop_if_empty(ctx);
	}
	host_mutex_unlock(&perf_mutex);
}

/* The new program may do more than who measures it. As on Linux the task ends for its events, with an EXIT record. */
static void exec_part(struct perf_task *pt)
{
	if (!pt) {
		sideband_exit(host_current(), NULL);
		return;
	}
	host_mutex_lock(&perf_mutex);
	drop_own_events(pt);
	host_mutex_unlock(&perf_mutex);
}

void perf_exec(bool privileged)
{
	struct perf_task *pt = peek(host_current());

	if (unlikely(pt && READ_ONCE(pt->ctx)))
		exec_events(pt);
	sideband_exec();	/* behind it: the events that it enabled want the new name */
	if (unlikely(privileged))
		exec_part(pt);
}

long perf_prctl(bool enable)
{
	struct perf_task *pt = peek(host_current());
	event_fn *fn = enable ? event_enable : event_disable;
	struct perf_event *e;

	if (!pt)
		return 0;
	host_mutex_lock(&perf_mutex);
	list_for_each(e, &pt->owned, owner_node)
		family_do(e, fn);
	host_mutex_unlock(&perf_mutex);
	return 0;
}
