/* SPDX-License-Identifier: MIT */
/*
 * The process object and the two graphs it is part of: the tree of parents and children, and the
 * process groups and sessions of job control. All under task_lock.
 *
 * A process exists from fork until it is reaped; afterwards it may still be referenced (pidfds, tasks
 * whose stack is in use), with reaped set. When a process dies its children go to the nearest
 * ancestor that asked for it (PR_SET_CHILD_SUBREAPER), else to init.
 */
#include <perch/atomic.h>
#include <perch/mm.h>
#include <perch/printk.h>

#include "internal.h"

struct process *init_process;

struct process *process_alloc(void)
{
	struct process *p = kzalloc(sizeof(*p));

	if (!p)
		return NULL;
	ref_init(&p->refs, 1);
	list_init(&p->threads);
	list_init(&p->children);
	list_init(&p->sibling);
	waitq_init(&p->wait_child);
	waitq_init(&p->pidfd_wq);
	mutex_init(&p->exec_lock);
	sigpending_init(&p->shared_pending);
	return p;
}

void process_put(struct process *p)
{
	if (!ref_put(&p->refs))
		return;
	ASSERT(!p->nr_threads && list_empty(&p->children));
	sigpending_flush(&p->shared_pending);
	ASSERT(!p->itimers);
	kfree(p);
}

void process_link_locked(struct process *p, struct task *leader, struct process *parent)
{
	p->pid = leader->pid;
	p->leader = leader;
	p->parent = parent;
	if (parent)
		list_add_tail(&p->sibling, &parent->children);
	pid_hold_locked(p->pgid);
	pid_hold_locked(p->sid);
}

void process_unlink_locked(struct process *p)
{
	ASSERT(!p->reaped && !p->nr_threads && list_empty(&p->children));
	p->reaped = true;
	list_del(&p->sibling);
	p->parent = NULL;
	p->leader = NULL;
	pid_drop_locked(p->pgid);
	pid_drop_locked(p->sid);
	wake_up_all(&p->pidfd_wq);
}

void process_set_group_locked(struct process *p, u32 pgid, u32 sid)
{
	pid_hold_locked(pgid);
	pid_hold_locked(sid);
	pid_drop_locked(p->pgid);
	pid_drop_locked(p->sid);
	p->pgid = pgid;
	p->sid = sid;
}

static bool process_dead(const struct process *p)
{
	return !p->nr_live;
}

/* Who takes over p's children: a living subreaper above it, or init. */
static struct process *find_reaper(struct process *p)
{
	for (struct process *r = p->parent; r && r != init_process; r = r->parent)
		if (r->subreaper && !process_dead(r))
			return r;
	return init_process;
}

static void reparent_one_locked(struct process *child, struct process *old, struct process *reaper)
{
	struct task *t;

	list_del(&child->sibling);
	list_add_tail(&child->sibling, &reaper->children);
	child->parent = reaper;
	list_for_each(t, &child->threads, thread_node)
		if (t->pdeath_signal)
			send_signal_locked(t, t->pdeath_signal, NULL, true, SEND_NORMAL);
	/* Only init's kind of reaping is sure to come: so the usual signal, whatever was asked for. */
	child->leader->exit_signal = SIGCHLD;
	if (child->leader->exit_state == EXIT_ZOMBIE && child->nr_threads == 1) {
		if (notify_parent_exit_locked(child)) {
			task_release_locked(child->leader);
			return;
		}
	}
	/* The dead parent was this group's only tie to another group of the session. */
	if (old->pgid != child->pgid && old->sid == child->sid &&
	    pgrp_orphaned_locked(child->pgid, NULL))
		process_orphan_check_locked(child);
}

void process_reparent_children_locked(struct process *p)
{
	struct process *child, *next, *reaper = find_reaper(p);

	ASSERT(spin_is_locked(&task_lock));
	ASSERT(reaper != p || list_empty(&p->children));
	list_for_each_safe(child, next, &p->children, sibling)
		reparent_one_locked(child, p, reaper);
}

/* No member of the group, apart from except, has a parent outside it in the same session. */
bool pgrp_orphaned_locked(u32 pgid, const struct process *except)
{
	for (struct process *p = process_next(1); p; p = process_next(p->pid + 1)) {
		struct process *parent = p->parent;

		if (p->pgid != pgid || p == except || !parent || parent->is_init ||
		    (process_dead(p) && p->nr_threads == 1))
			continue;
		if (parent->pgid != pgid && parent->sid == p->sid)
			return false;
	}
	return true;
}

bool pgrp_orphaned(u32 pgid)
{
	u64 flags = spin_lock_irqsave(&task_lock);
	bool orphaned = pgrp_orphaned_locked(pgid, NULL);

	spin_unlock_irqrestore(&task_lock, flags);
	return orphaned;
}

static bool pgrp_has_stopped(u32 pgid)
{
	for (struct process *p = process_next(1); p; p = process_next(p->pid + 1))
		if (p->pgid == pgid && p->stopped)
			return true;
	return false;
}

/* POSIX: stopped members of a group that nobody can continue any more get SIGHUP and SIGCONT. */
void process_orphan_check_locked(struct process *p)
{
	if (!pgrp_has_stopped(p->pgid))
		return;
	send_pgrp_locked(p->pgid, SIGHUP, NULL);
	send_pgrp_locked(p->pgid, SIGCONT, NULL);
}

void rusage_add(struct rusage_counts *sum, const struct rusage_counts *c)
{
	sum->utime_ns += c->utime_ns;
	sum->stime_ns += c->stime_ns;
	sum->minflt += c->minflt;
	sum->majflt += c->majflt;
	sum->nvcsw += c->nvcsw;
	sum->nivcsw += c->nivcsw;
	sum->maxrss = max(sum->maxrss, c->maxrss);
	sum->rchar += c->rchar;
	sum->wchar += c->wchar;
	sum->syscr += c->syscr;
	sum->syscw += c->syscw;
}

void process_times_locked(struct process *p, struct rusage_counts *out)
{
	struct task *t;

	*out = p->dead_threads;
	list_for_each(t, &p->threads, thread_node) {
		task_account(t);
		rusage_add(out, &t->ru);
	}
}

void process_times(struct process *p, struct rusage_counts *out)
{
	u64 flags = spin_lock_irqsave(&task_lock);

	process_times_locked(p, out);
	spin_unlock_irqrestore(&task_lock, flags);
}
