/* SPDX-License-Identifier: MIT */
/*
 * CPU affinity. A new mask takes effect before set_affinity returns: a queued task is moved at
 * once; a running one is told to give way, finds in schedule() that it may not stay, and is pushed
 * on by the task that follows it (finish_switch); a sleeping one chooses an allowed CPU when it
 * wakes.
 */
#include "policy.h"
#include "rq.h"
#include <perch/cred.h>
#include <perch/errno.h>
#include <perch/syscall.h>
#include <perch/uaccess.h>

#define POLL_INTERVAL	(50 * NSEC_PER_USEC)

static bool misplaced(struct task *t)
{
	return READ_ONCE(t->on_cpu) && !task_allowed(t, READ_ONCE(t->cpu));
}

/* t runs on a forbidden CPU and has been told: it leaves when it next schedules, at the latest on
 * its way to user mode. */
static void wait_until_moved(struct task *t)
{
	if (t == current) {
		schedule();
		return;
	}
	while (misplaced(t)) {
		WRITE_ONCE(current->state, TASK_UNINTERRUPTIBLE);
		schedule_until(ktime_now() + POLL_INTERVAL);
	}
}

int set_affinity(struct task *t, u64 mask)
{
	struct rq *rq;
	u64 flags;

	mask &= BIT(nr_cpus) - 1;
	if (!(mask & cpu_online_mask))
		return -EINVAL;
	rq = task_rq_lock(t, &flags);
	WRITE_ONCE(t->cpus_allowed, mask);
	if (task_allowed(t, rq->cpu) || (!t->se.queued && rq->curr != t)) {
		task_rq_unlock(rq, flags);
	} else if (t->se.queued) {
		dequeue(rq, t);
		t->se.fair.key -= rq->min_vruntime;
		t->cpu = select_cpu(t);
		rq_unlock(rq);
		activate(t);
		irq_restore(flags);
	} else {
		resched(rq);
		task_rq_unlock(rq, flags);
		wait_until_moved(t);
	}
	return 0;
}

bool sched_same_owner(struct task *t)
{
	return current->cred.euid == t->cred.euid || current->cred.euid == t->cred.uid;
}

long sys_sched_setaffinity(int pid, u32 len, const u64 __user *user_mask)
{
	struct task *t;
	u64 mask = 0;
	long ret;

	if (copy_from_user(&mask, user_mask, min_t(u32, len, sizeof(mask))))
		return -EFAULT;
	t = pid < 0 ? NULL : sched_find(pid);
	if (!t)
		return -ESRCH;
	if (!sched_same_owner(t) && !capable(CAP_SYS_NICE))
		ret = -EPERM;
	else
		ret = set_affinity(t, mask);
	task_put(t);
	return ret;
}

long sys_sched_getaffinity(int pid, u32 len, u64 __user *user_mask)
{
	struct task *t;
	u64 mask;

	if ((u64)len * 8 < nr_cpus || len % sizeof(mask))
		return -EINVAL;
	t = pid < 0 ? NULL : sched_find(pid);
	if (!t)
		return -ESRCH;
	mask = READ_ONCE(t->cpus_allowed) & cpu_online_mask;
	task_put(t);
	return put_user(mask, user_mask) ? -EFAULT : (long)sizeof(mask);
}

long sys_getcpu(u32 __user *cpu, u32 __user *node, void __user *unused)
{
	u32 here = cpu_id(), zero = 0;

	(void)unused;
	if (cpu && put_user(here, cpu))
		return -EFAULT;
	return node && put_user(zero, node) ? -EFAULT : 0;
}
