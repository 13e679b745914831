/* SPDX-License-Identifier: MIT */
/* System calls that send signals, and who may send to whom (kill(2), sigqueue(3), tgkill(2)). */
#include <perch/errno.h>
#include <perch/fs.h>
#include <perch/printk.h>
#include <perch/syscall.h>
#include <perch/uaccess.h>
#include <limits.h>
#include <string.h>

#include "internal.h"

void siginfo_user(struct siginfo_abi *info, int sig, int code)
{
	memset(info, 0, sizeof(*info));
	info->signo = sig;
	info->code = code;
	info->rt.pid = (s32)current->tgid;
	info->rt.uid = current->cred.uid;
}

/* info NULL or made by the kernel (code > 0): always allowed. sig 0 asks only for permission. */
int kill_permission(struct task *t, int sig, const struct siginfo_abi *info)
{
	const struct cred *me = &current->cred, *it = &t->cred;

	if (sig < 0 || sig > NSIG)
		return -EINVAL;
	if (!info || info->code > 0 || t->proc == current->proc)
		return 0;
	if (me->euid == it->suid || me->euid == it->uid || me->uid == it->suid || me->uid == it->uid)
		return 0;
	if (capable(CAP_KILL))
		return 0;
	if (sig == SIGCONT && t->proc->sid == current->proc->sid)
		return 0;
	return -EPERM;
}

static int check_and_send_locked(struct task *t, int sig, const struct siginfo_abi *info,
				 bool to_process)
{
	int err = kill_permission(t, sig, info);

	if (err || !sig)
		return err;
	return send_signal_locked(t, sig, info, to_process, SEND_NORMAL);
}

/* All of a group: success if one got it; else EPERM if there was one at all, else ESRCH. */
static int kill_pgrp_locked(u32 pgid, int sig, const struct siginfo_abi *info)
{
	int ret = -ESRCH;
	bool sent = false;

	for (struct process *p = process_next(1); p; p = process_next(p->pid + 1)) {
		if (p->pgid != pgid)
			continue;
		int err = check_and_send_locked(p->leader, sig, info, true);

		sent |= !err;
		if (err)
			ret = err;
	}
	return sent ? 0 : ret;
}

/* Everything but init and the caller's own process. */
static int kill_all_locked(int sig, const struct siginfo_abi *info)
{
	int ret = 0;
	u32 n = 0;

	for (struct process *p = process_next(2); p; p = process_next(p->pid + 1)) {
		if (p == current->proc || (p->leader->flags & TF_KTHREAD))
			continue;
		int err = check_and_send_locked(p->leader, sig, info, true);

		n++;
		if (err != -EPERM)
			ret = err;
	}
	return n ? ret : -ESRCH;
}

static int kill_locked(int pid, int sig, const struct siginfo_abi *info)
{
	struct process *p;
	struct task *t;

	if (pid == -1)
		return kill_all_locked(sig, info);
	if (pid <= 0)
		return kill_pgrp_locked(pid ? (u32)-pid : current->proc->pgid, sig, info);
	/* The number of a thread also names its process here, as on Linux. */
	t = task_find_locked((u32)pid);
	p = t ? t->proc : NULL;
	return p ? check_and_send_locked(p->leader, sig, info, true) : -ESRCH;
}

static long kill_info(int pid, int sig, const struct siginfo_abi *info)
{
	u64 flags;
	int ret;

	if (sig < 0 || sig > NSIG)
		return pid == INT_MIN ? -ESRCH : -EINVAL;
	if (pid == INT_MIN)
		return -ESRCH;
	flags = spin_lock_irqsave(&task_lock);
	ret = kill_locked(pid, sig, info);
	spin_unlock_irqrestore(&task_lock, flags);
	return ret;
}

long sys_kill(int pid, int sig)
{
	struct siginfo_abi info;

	siginfo_user(&info, sig, SI_USER);
	return kill_info(pid, sig, &info);
}

/* tgid -1: whatever process the thread is in. */
static long kill_thread(int tgid, int tid, int sig, const struct siginfo_abi *info)
{
	u64 flags = spin_lock_irqsave(&task_lock);
	struct task *t = task_find_locked((u32)tid);
	long ret = -ESRCH;

	if (t && (tgid == -1 || t->tgid == (u32)tgid))
		ret = check_and_send_locked(t, sig, info, false);
	spin_unlock_irqrestore(&task_lock, flags);
	return ret;
}

long sys_tgkill(int tgid, int tid, int sig)
{
	struct siginfo_abi info;

	if (tgid <= 0 || tid <= 0)
		return -EINVAL;
	siginfo_user(&info, sig, SI_TKILL);
	return kill_thread(tgid, tid, sig, &info);
}

long sys_tkill(int tid, int sig)
{
	struct siginfo_abi info;

	if (tid <= 0)
		return -EINVAL;
	siginfo_user(&info, sig, SI_TKILL);
	return kill_thread(-1, tid, sig, &info);
}

/* A caller may make up a siginfo, but not one that looks like kill(2) or the kernel, except to itself. */
static int copy_siginfo(struct siginfo_abi *info, const struct siginfo_abi __user *uinfo, int sig)
{
	if (copy_from_user(info, uinfo, sizeof(*info)))
		return -EFAULT;
	info->signo = sig;
	return 0;
}

static bool forged(const struct siginfo_abi *info, int pid)
{
	return (info->code >= 0 || info->code == SI_TKILL) && pid != (int)current->tgid;
}

long sys_rt_sigqueueinfo(int pid, int sig, const struct siginfo_abi __user *uinfo)
{
	struct siginfo_abi info;
	u64 flags;
	long ret;
	struct task *t;

	if (copy_siginfo(&info, uinfo, sig))
		return -EFAULT;
	if (forged(&info, pid))
		return -EPERM;
	flags = spin_lock_irqsave(&task_lock);
	t = pid > 0 ? task_find_locked((u32)pid) : NULL;
	ret = t ? check_and_send_locked(t->proc->leader, sig, &info, true) : -ESRCH;
	spin_unlock_irqrestore(&task_lock, flags);
	return ret;
}

long sys_rt_tgsigqueueinfo(int tgid, int tid, int sig, const struct siginfo_abi __user *uinfo)
{
	struct siginfo_abi info;

	if (copy_siginfo(&info, uinfo, sig))
		return -EFAULT;
	if (tgid <= 0 || tid <= 0)
		return -EINVAL;
	if ((info.code >= 0 || info.code == SI_TKILL) && tid != (int)current->pid)
		return -EPERM;
	return kill_thread(tgid, tid, sig, &info);
}

#define PIDFD_SIGNAL_THREAD		1
#define PIDFD_SIGNAL_THREAD_GROUP	2
#define PIDFD_SIGNAL_PROCESS_GROUP	4

static long pidfd_kill_locked(struct process *p, int sig, const struct siginfo_abi *info, u32 flags)
{
	if (p->reaped)
		return -ESRCH;
	if (flags == PIDFD_SIGNAL_PROCESS_GROUP)
		return kill_pgrp_locked(p->pid, sig, info);
	return check_and_send_locked(p->leader, sig, info, flags != PIDFD_SIGNAL_THREAD);
}

static int pidfd_siginfo(struct siginfo_abi *info, const struct siginfo_abi __user *uinfo, int sig,
			 struct process *p)
{
	if (!uinfo) {
		siginfo_user(info, sig, SI_USER);
		return 0;
	}
	if (copy_from_user(info, uinfo, sizeof(*info)))
		return -EFAULT;
	if (info->signo != sig)
		return -EINVAL;
	return forged(info, (int)p->pid) ? -EPERM : 0;
}

long sys_pidfd_send_signal(int pidfd, int sig, const struct siginfo_abi __user *uinfo, u32 flags)
{
	struct siginfo_abi info;
	struct process *p;
	u64 irq;
	long ret;

	if (flags & ~7u || (flags & (flags - 1)))
		return -EINVAL;
	p = pidfd_process(pidfd);
	if (IS_ERR(p))
		return PTR_ERR(p);
	ret = pidfd_siginfo(&info, uinfo, sig, p);
	if (!ret) {
		irq = spin_lock_irqsave(&task_lock);
		ret = pidfd_kill_locked(p, sig, &info, flags);
		spin_unlock_irqrestore(&task_lock, irq);
	}
	process_put(p);
	return ret;
}
