/* SPDX-License-Identifier: MIT */
/* Resource limits: what init starts with, and the calls that read and change them (getrlimit(2)). */
#include <perch/errno.h>
#include <perch/mm.h>
#include <perch/printk.h>
#include <perch/syscall.h>
#include <perch/uaccess.h>

#include "internal.h"

u32 max_threads;

/* An eighth of memory may be kernel stacks: so a fork bomb meets a limit before it meets the OOM killer. */
static u32 threads_for_memory(void)
{
	return (u32)max_t(u64, mem_stats.total_pages * PAGE_SIZE / (KSTACK_SIZE * 8), 20);
}

void fork_set_limits(struct process *p)
{
	if (!max_threads)
		max_threads = threads_for_memory();
	for (int i = 0; i < RLIM_NLIMITS; i++)
		p->rlim[i] = (struct rlimit64){ RLIM_INFINITY, RLIM_INFINITY };
	p->rlim[RLIMIT_STACK].cur = 8 << 20;
	p->rlim[RLIMIT_CORE].cur = 0;
	p->rlim[RLIMIT_NPROC] = (struct rlimit64){ max_threads / 2, max_threads / 2 };
	p->rlim[RLIMIT_NOFILE] = (struct rlimit64){ 1024, 4096 };
	p->rlim[RLIMIT_MEMLOCK] = (struct rlimit64){ 8 << 20, 8 << 20 };
	p->rlim[RLIMIT_SIGPENDING] = p->rlim[RLIMIT_NPROC];
	p->rlim[RLIMIT_MSGQUEUE] = (struct rlimit64){ 819200, 819200 };
	p->rlim[RLIMIT_NICE] = (struct rlimit64){ 0, 0 };
	p->rlim[RLIMIT_RTPRIO] = (struct rlimit64){ 0, 0 };
}

u64 rlimit(u32 resource)
{
	return READ_ONCE(current->proc->rlim[resource].cur);
}

#define NR_OPEN_MAX (1024 * 1024)	/* fs.nr_open */

static int check_new(u32 resource, const struct rlimit64 *new, const struct rlimit64 *old)
{
	if (new->cur > new->max)
		return -EINVAL;
	if (resource == RLIMIT_NOFILE && new->max > NR_OPEN_MAX)
		return -EPERM;
	if (new->max > old->max && !capable(CAP_SYS_RESOURCE))
		return -EPERM;
	return 0;
}

static int do_prlimit(struct process *p, u32 resource, const struct rlimit64 *new, struct rlimit64 *old)
{
	u64 flags;
	int err = 0;

	if (resource >= RLIM_NLIMITS)
		return -EINVAL;
	flags = spin_lock_irqsave(&task_lock);
	*old = p->rlim[resource];
	if (new)
		err = check_new(resource, new, old);
	if (new && !err)
		p->rlim[resource] = *new;
	spin_unlock_irqrestore(&task_lock, flags);
	return err;
}

/* All ids the same as the caller's real ones, or the capability. */
static bool may_prlimit(struct task *t)
{
	const struct cred *me = &current->cred, *it = &t->cred;

	if (t->proc == current->proc)
		return true;
	if (me->uid == it->euid && me->uid == it->suid && me->uid == it->uid && me->gid == it->egid &&
	    me->gid == it->sgid && me->gid == it->gid)
		return true;
	return capable(CAP_SYS_RESOURCE);
}

long sys_prlimit64(int pid, u32 resource, const struct rlimit64 __user *unew, struct rlimit64 __user *uold)
{
	struct rlimit64 new, old;
	struct task *t;
	int err;

	if (unew && copy_from_user(&new, unew, sizeof(new)))
		return -EFAULT;
	if (pid < 0)
		return -ESRCH;
	if (!pid) {
		t = current;
		task_get(t);
	} else {
		t = task_find_get((u32)pid);
	}
	if (!t)
		return -ESRCH;
	err = may_prlimit(t) ? do_prlimit(t->proc, resource, unew ? &new : NULL, &old) : -EPERM;
	task_put(t);
	if (!err && uold && copy_to_user(uold, &old, sizeof(old)))
		return -EFAULT;
	return err;
}

long sys_getrlimit(u32 resource, struct rlimit64 __user *uold)
{
	struct rlimit64 old;
	int err = do_prlimit(current->proc, resource, NULL, &old);

	if (err)
		return err;
	return copy_to_user(uold, &old, sizeof(old)) ? -EFAULT : 0;
}

long sys_setrlimit(u32 resource, const struct rlimit64 __user *unew)
{
	struct rlimit64 new, old;

	if (copy_from_user(&new, unew, sizeof(new)))
		return -EFAULT;
	return do_prlimit(current->proc, resource, &new, &old);
}
