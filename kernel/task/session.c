/* SPDX-License-Identifier: MIT */
/* Numbers of processes and threads, process groups and sessions: the calls that read and change them. */
#include <perch/errno.h>
#include <perch/printk.h>
#include <perch/syscall.h>
#include <perch/uaccess.h>

#include "internal.h"

long sys_getpid(void)
{
	return current->tgid;
}

long sys_gettid(void)
{
	return current->pid;
}

long sys_getppid(void)
{
	u64 flags = spin_lock_irqsave(&task_lock);
	struct process *parent = current->proc->parent;
	long pid = parent ? parent->pid : 0;

	spin_unlock_irqrestore(&task_lock, flags);
	return pid;
}

long sys_set_tid_address(u32 __user *p)
{
	current->clear_child_tid = p;
	return current->pid;
}

/* --- groups */

static struct process *find_target_locked(u32 pid)
{
	struct task *t = pid ? task_find_locked(pid) : current;

	return t ? t->proc : NULL;
}

/* Is there a process of session sid in group pgid? */
static bool group_in_session_locked(u32 pgid, u32 sid)
{
	for (struct process *p = process_next(1); p; p = process_next(p->pid + 1))
		if (p->pgid == pgid && p->sid == sid)
			return true;
	return false;
}

/* One's own process or a child of the same session that has not execed: so the shell can do it as well. */
static int may_move_locked(struct process *p)
{
	struct process *me = current->proc;

	if (p != me) {
		if (p->parent != me)
			return -ESRCH;
		if (p->sid != me->sid)
			return -EPERM;
		if (p->exec_done)
			return -EACCES;
	}
	return p->sid == p->pid ? -EPERM : 0;
}

static long setpgid_locked(u32 pid, u32 pgid)
{
	struct task *t = task_find_locked(pid);
	struct process *p;
	int err;

	if (!t)
		return -ESRCH;
	if (t->pid != t->tgid)
		return -EINVAL;
	p = t->proc;
	err = may_move_locked(p);
	if (err)
		return err;
	if (pgid != p->pid && !group_in_session_locked(pgid, current->proc->sid))
		return -EPERM;
	process_set_group_locked(p, pgid, p->sid);
	return 0;
}

long sys_setpgid(int pid, int pgid)
{
	u64 flags;
	long ret;

	if (!pid)
		pid = (int)current->tgid;
	if (!pgid)
		pgid = pid;
	if (pgid < 0)
		return -EINVAL;
	if (pid < 0)
		return -ESRCH;
	flags = spin_lock_irqsave(&task_lock);
	ret = setpgid_locked((u32)pid, (u32)pgid);
	spin_unlock_irqrestore(&task_lock, flags);
	return ret;
}

long sys_getpgid(int pid)
{
	u64 flags = spin_lock_irqsave(&task_lock);
	struct process *p = pid < 0 ? NULL : find_target_locked((u32)pid);
	long ret = p ? (long)p->pgid : -ESRCH;

	spin_unlock_irqrestore(&task_lock, flags);
	return ret;
}

long sys_getsid(int pid)
{
	u64 flags = spin_lock_irqsave(&task_lock);
	struct process *p = pid < 0 ? NULL : find_target_locked((u32)pid);
	long ret = p ? (long)p->sid : -ESRCH;

	spin_unlock_irqrestore(&task_lock, flags);
	return ret;
}

static bool group_exists_locked(u32 pgid)
{
	for (struct process *p = process_next(1); p; p = process_next(p->pid + 1))
		if (p->pgid == pgid)
			return true;
	return false;
}

/* A new session with a new group in it, both named after the caller, without a terminal. */
long sys_setsid(void)
{
	struct process *p = current->proc;
	u64 flags = spin_lock_irqsave(&task_lock);
	long ret = -EPERM;

	if (p->sid != p->pid && !group_exists_locked(p->pid)) {
		process_set_group_locked(p, p->pid, p->pid);
		p->tty = NULL;
		ret = p->pid;
	}
	spin_unlock_irqrestore(&task_lock, flags);
	return ret;
}
