/* SPDX-License-Identifier: MIT */
/* setpriority and getpriority: nice values of a thread, a process group or a user. */
#include "rq.h"
#include "policy.h"
#include <perch/cred.h>
#include <perch/errno.h>
#include <perch/syscall.h>

#define PRIO_PROCESS	0
#define PRIO_PGRP	1
#define PRIO_USER	2

static long set_nice(struct task *t, int nice)
{
	if (!sched_same_owner(t) && !capable(CAP_SYS_NICE))
		return -EPERM;
	if (nice < t->nice && !nice_allowed(t, nice) && !capable(CAP_SYS_NICE))
		return -EACCES;
	return set_policy(t, t->policy, t->rt_prio, nice);
}

/* What a call does to each thread it names; ret collects the answer. task_lock held. */
typedef void (*visit_fn)(struct task *t, int nice, long *ret);

/* One thread's error stays, but does not stop the others; success replaces only "nobody found". */
static void visit_set(struct task *t, int nice, long *ret)
{
	long err = set_nice(t, nice);

	if (err)
		*ret = err;
	else if (*ret == -ESRCH)
		*ret = 0;
}

/* The call answers 20 - nice, so that it is never negative; the most favoured thread counts. */
static void visit_get(struct task *t, int unused, long *ret)
{
	(void)unused;
	*ret = max_t(long, *ret, 20 - t->nice);
}

static bool in_class(struct process *p, int which, u32 who)
{
	if (which == PRIO_PGRP)
		return p->pgid == who;
	return p->leader->cred.uid == who;
}

static void visit_class(int which, u32 who, int nice, visit_fn fn, long *ret)
{
	u64 flags = spin_lock_irqsave(&task_lock);
	struct process *p;
	struct task *t;

	for (p = process_next(1); p; p = process_next(p->pid + 1))
		if (in_class(p, which, who))
			list_for_each(t, &p->threads, thread_node)
				fn(t, nice, ret);
	spin_unlock_irqrestore(&task_lock, flags);
}

static void visit_thread(u32 who, int nice, visit_fn fn, long *ret)
{
	struct task *t = sched_find(who);

	if (!t)
		return;
	fn(t, nice, ret);
	task_put(t);
}

static u32 own_class(int which)
{
	return which == PRIO_PGRP ? current->proc->pgid : current->cred.uid;
}

static long visit(int which, u32 who, int nice, visit_fn fn)
{
	long ret = -ESRCH;

	if (which < PRIO_PROCESS || which > PRIO_USER)
		return -EINVAL;
	if (which == PRIO_PROCESS)
		visit_thread(who, nice, fn, &ret);
	else
		visit_class(which, who ? who : own_class(which), nice, fn, &ret);
	return ret;
}

long sys_setpriority(int which, int who, int nice)
{
	return visit(which, who, clamp_t(int, nice, -20, 19), visit_set);
}

long sys_getpriority(int which, int who)
{
	return visit(which, who, 0, visit_get);
}
