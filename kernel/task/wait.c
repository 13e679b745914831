/* SPDX-License-Identifier: MIT */
/*
 * wait4(2) and waitid(2).
 *
 * One scan under task_lock looks at every child: does the caller mean it, and is there news (exit,
 * stop, continue)? News is taken in the same critical section, so of two waiters exactly one gets it. Whoever
 * makes news wakes the parent's wait_child afterwards, and the waiter queues itself before it scans.
 */
#include <perch/errno.h>
#include <perch/printk.h>
#include <perch/syscall.h>
#include <perch/uaccess.h>
#include <limits.h>
#include <string.h>

#include "internal.h"
#include "rusage.h"

#define WNOHANG		0x00000001
#define WUNTRACED	0x00000002
#define WSTOPPED	WUNTRACED
#define WEXITED		0x00000004
#define WCONTINUED	0x00000008
#define WNOWAIT		0x01000000
#define __WNOTHREAD	0x20000000
#define __WALL		0x40000000
#define __WCLONE	0x80000000u

#define P_ALL	0
#define P_PID	1
#define P_PGID	2
#define P_PIDFD	3

struct wait_req {
	int type;		/* P_x */
	u32 id;			/* pid or pgid */
	struct process *which;	/* P_PIDFD */
	u32 options;
	/* the answer */
	u32 pid, uid;
	int status;		/* as wait4 gives it */
	int code;		/* CLD_x */
	struct rusage_counts ru;
};

static bool means(const struct wait_req *w, const struct process *p)
{
	bool clone_child = p->leader->exit_signal != SIGCHLD;

	if (w->type == P_PID && p->pid != w->id)
		return false;
	if (w->type == P_PGID && p->pgid != w->id)
		return false;
	if (w->type == P_PIDFD && p != w->which)
		return false;
	return (w->options & __WALL) || clone_child == !!(w->options & __WCLONE);
}

static void answer(struct wait_req *w, struct process *p, int status, int code)
{
	w->pid = p->pid;
	w->uid = p->leader->cred.uid;
	w->status = status;
	w->code = code;
	process_times_locked(p, &w->ru);
	rusage_add(&w->ru, &p->children_ru);
}

static bool take_zombie_locked(struct wait_req *w, struct process *p)
{
	int status;

	if (!(w->options & WEXITED) || p->leader->exit_state != EXIT_ZOMBIE || p->nr_threads > 1)
		return false;
	status = p->group_exit ? p->group_exit_code : p->leader->exit_code;
	answer(w, p, status, status & 0x7f ? (status & 0x80 ? CLD_DUMPED : CLD_KILLED) : CLD_EXITED);
	if (!(w->options & WNOWAIT)) {
		rusage_add(&current->proc->children_ru, &w->ru);
		task_release_locked(p->leader);
	}
	return true;
}

static bool take_stop_locked(struct wait_req *w, struct process *p)
{
	if (!(w->options & WSTOPPED) || !p->stopped || p->stop_reported)
		return false;
	answer(w, p, p->stop_signal << 8 | 0x7f, CLD_STOPPED);
	if (!(w->options & WNOWAIT))
		p->stop_reported = true;
	return true;
}

static bool take_continue_locked(struct wait_req *w, struct process *p)
{
	if (!(w->options & WCONTINUED) || !p->continued)
		return false;
	answer(w, p, 0xffff, CLD_CONTINUED);
	if (!(w->options & WNOWAIT))
		p->continued = false;
	return true;
}

/* 1: w is answered; 0: nothing yet; -ECHILD: no such child. */
static int scan(struct wait_req *w)
{
	u64 flags = spin_lock_irqsave(&task_lock);
	struct process *p, *next;
	int ret = -ECHILD;

	list_for_each_safe(p, next, &current->proc->children, sibling) {
		if (!means(w, p))
			continue;
		ret = 0;
		if (take_zombie_locked(w, p) || take_stop_locked(w, p) || take_continue_locked(w, p)) {
			ret = 1;
			break;
		}
	}
	spin_unlock_irqrestore(&task_lock, flags);
	return ret;
}

static int do_wait(struct wait_req *w)
{
	struct waitq *q = &current->proc->wait_child;
	struct wait_entry e = { 0 };
	int ret;

	for (;;) {
		prepare_to_wait(q, &e, TASK_INTERRUPTIBLE, false);
		ret = scan(w);
		if (ret || (w->options & WNOHANG))
			break;
		if (signal_pending(current)) {
			ret = -ERESTARTSYS;
			break;
		}
		schedule();
	}
	finish_wait(q, &e);
	free_dead_tasks();
	return ret;
}

long sys_wait4(int pid, int __user *ustatus, int options, struct rusage_abi __user *uru)
{
	struct wait_req w = { .type = P_ALL, .options = (u32)options | WEXITED };
	struct rusage_abi ru;
	int ret;

	if ((u32)options & ~(WNOHANG | WUNTRACED | WCONTINUED | __WNOTHREAD | __WCLONE | __WALL))
		return -EINVAL;
	if (pid == INT_MIN)
		return -ESRCH;
	if (pid > 0) {
		w.type = P_PID;
		w.id = (u32)pid;
	} else if (pid != -1) {
		w.type = P_PGID;
		w.id = pid ? (u32)-pid : READ_ONCE(current->proc->pgid);
	}
	ret = do_wait(&w);
	if (ret <= 0)
		return ret;
	rusage_to_abi(&w.ru, &ru);
	if (ustatus && put_user(w.status, ustatus))
		return -EFAULT;
	if (uru && copy_to_user(uru, &ru, sizeof(ru)))
		return -EFAULT;
	return w.pid;
}

static int parse_waitid(struct wait_req *w, int type, int id)
{
	w->type = type;
	w->id = (u32)id;
	switch (type) {
	case P_ALL:
		return 0;
	case P_PID:
		return id > 0 ? 0 : -EINVAL;
	case P_PGID:
		if (!id)
			w->id = READ_ONCE(current->proc->pgid);
		return id >= 0 ? 0 : -EINVAL;
	case P_PIDFD:
		if (id < 0)
			return -EINVAL;
		w->which = pidfd_process(id);
		return IS_ERR(w->which) ? (int)PTR_ERR(w->which) : 0;
	}
	return -EINVAL;
}

static int waitid_copy_out(const struct wait_req *w, int ret, struct siginfo_abi __user *uinfo,
			   struct rusage_abi __user *uru)
{
	struct siginfo_abi info;
	struct rusage_abi ru;

	if (ret > 0 && uru) {
		rusage_to_abi(&w->ru, &ru);
		if (copy_to_user(uru, &ru, sizeof(ru)))
			return -EFAULT;
	}
	if (!uinfo)
		return 0;
	memset(&info, 0, sizeof(info));
	if (ret > 0) {
		info.signo = SIGCHLD;
		info.code = w->code;
		info.chld.pid = (s32)w->pid;
		info.chld.uid = w->uid;
		if (w->code == CLD_EXITED || w->code == CLD_STOPPED)
			info.chld.status = (w->status >> 8) & 0xff;
		else
			info.chld.status = w->code == CLD_CONTINUED ? SIGCONT : w->status & 0x7f;
	}
	/* Only the fields that Linux writes; the rest of the user's structure stays as it is. */
	return copy_to_user(uinfo, &info, offsetof(struct siginfo_abi, chld.pad)) ? -EFAULT : 0;
}

long sys_waitid(int type, int id, struct siginfo_abi __user *uinfo, int options,
		struct rusage_abi __user *uru)
{
	struct wait_req w = { .options = (u32)options };
	int ret;

	if ((u32)options & ~(WNOHANG | WNOWAIT | WEXITED | WSTOPPED | WCONTINUED | __WNOTHREAD | __WCLONE |
			     __WALL))
		return -EINVAL;
	if (!(options & (WEXITED | WSTOPPED | WCONTINUED)))
		return -EINVAL;
	ret = parse_waitid(&w, type, id);
	if (ret)
		return ret;
	ret = do_wait(&w);
	if (w.which)
		process_put(w.which);
	if (ret < 0)
		return ret;
	return waitid_copy_out(&w, ret, uinfo, uru);
}
