/* SPDX-License-Identifier: MIT */
/*
 * Sending signals.
 *
 * A sender holds task_lock: so the target's tables, thread list and sighand stand still, and
 * sending works from any context. Under the target's sighand->lock the signal
 *   1. has its side effects that do not wait for delivery (SIGCONT continues, a stop signal cancels
 *      a pending SIGCONT and the other way round);
 *   2. is dropped if the target ignores it and does not block it, or if the process is dying;
 *   3. is put in a queue; and
 *   4. wakes a thread that will take it. A signal that surely kills turns into a group exit
 *      right here, so that it does not wait for the thread that happens to be chosen.
 */
#include <perch/atomic.h>
#include <perch/errno.h>
#include <perch/page.h>
#include <perch/printk.h>
#include <string.h>

#include "internal.h"

void signal_wake(struct task *t, bool fatal)
{
	set_task_flag(t, TIF_SIGPENDING);
	kick_task(t, TASK_INTERRUPTIBLE | (fatal ? TASK_KILLABLE | TASK_STOPPED : 0));
}

/* --- 1 and 2: before the queue */

static bool ignored_by_default(struct task *t, int sig, enum send_how how)
{
	if (t->proc->unkillable && !(how == SEND_FORCE && sig_in(sig, SIG_KERNEL_ONLY)))
		return true;
	return sig_in(sig, SIGSET_IGNORE);
}

static bool sig_ignored(struct task *t, int sig, enum send_how how)
{
	u64 handler = t->sighand->action[sig - 1].handler;

	/* Blocked: whoever unblocks it may have set a handler by then. */
	if (sig_in(sig, t->blocked | t->real_blocked))
		return false;
	if (t->flags & TF_KTHREAD)
		return true;
	if (t->proc->is_init && sig_in(sig, SIG_KERNEL_ONLY) && how != SEND_FORCE)
		return true;
	if (handler == SIG_DFL)
		return ignored_by_default(t, sig, how);
	return handler == SIG_IGN;
}

static void remove_from_all(struct process *p, sigset set)
{
	struct task *t;

	sigpending_remove(&p->shared_pending, set);
	list_for_each(t, &p->threads, thread_node)
		sigpending_remove(&t->pending, set);
}

/* Side effects of sending. *why: what the parent must be told once sighand->lock is free. */
static bool prepare_held(struct task *t, int sig, enum send_how how, int *why)
{
	struct process *p = t->proc;

	if (p->group_exit)
		return false;
	if (sig_in(sig, SIGSET_STOP)) {
		remove_from_all(p, sigmask(SIGCONT));
	} else if (sig == SIGCONT) {
		remove_from_all(p, SIGSET_STOP);
		*why = group_continue_held(p);
	}
	return !sig_ignored(t, sig, how);
}

/* --- 3: the queue */

/* May one more signal be queued on the account of u? Signals of the kernel and standard ones always may. */
static bool charge(struct user *u, struct process *p, bool may_exceed)
{
	u64 n = atomic_add_return(&u->sigpending, 1);

	if (may_exceed || n <= p->rlim[RLIMIT_SIGPENDING].cur)
		return true;
	atomic_dec(&u->sigpending);
	return false;
}

static struct sigqueue *sigqueue_new(struct task *t, bool may_exceed)
{
	struct user *u = t->user;
	struct sigqueue *q;

	if (!charge(u, t->proc, may_exceed))
		return NULL;
	q = kmalloc(sizeof(*q));
	if (!q) {
		atomic_dec(&u->sigpending);
		return NULL;
	}
	ref_get(&u->refs);
	q->user = u;
	return q;
}

static void fill_info(struct siginfo_abi *dst, int sig, const struct siginfo_abi *src)
{
	if (src) {
		*dst = *src;
		dst->signo = sig;	/* collect() finds entries by it */
		return;
	}
	memset(dst, 0, sizeof(*dst));
	dst->signo = sig;
	dst->code = SI_KERNEL;
}

static int enqueue_held(struct task *t, struct sigpending *pend, int sig, const struct siginfo_abi *info)
{
	bool user_made = info && info->code < 0;
	struct sigqueue *q;

	if (sig < SIGRTMIN && sig_in(sig, pend->set))
		return 0;	/* pending already: standard signals do not queue */
	if (sig != SIGKILL) {
		q = sigqueue_new(t, sig < SIGRTMIN && !user_made);
		if (q) {
			fill_info(&q->info, sig, info);
			list_add_tail(&q->node, &pend->queue);
		} else if (sig >= SIGRTMIN && info && info->code != SI_USER) {
			return -EAGAIN;
		}
	}
	pend->set |= sigmask(sig);
	if (waitq_active(t->sighand->signalfd_wq))
		wake_up_all(t->sighand->signalfd_wq);
	return 0;
}

/* --- 4: the thread */

static bool wants_signal(struct task *t, int sig)
{
	if (sig_in(sig, t->blocked) || (t->flags & TF_EXITING))
		return false;
	if (sig == SIGKILL)
		return true;
	if (t->frozen_stop)
		return false;
	return t->on_cpu || !signal_pending(t);
}

static struct task *choose_thread(struct task *t, int sig, bool to_process)
{
	struct task *other;

	if (wants_signal(t, sig))
		return t;
	if (!to_process)
		return NULL;
	list_for_each(other, &t->proc->threads, thread_node)
		if (wants_signal(other, sig))
			return other;
	return NULL;
}

u32 kill_other_threads_held(struct process *p, struct task *except)
{
	struct task *t;
	u32 n = 0;

	ASSERT(spin_is_locked(&task_lock));
	p->stop_count = 0;
	list_for_each(t, &p->threads, thread_node) {
		t->jobctl &= ~JC_STOP_PENDING;
		if (t == except)
			continue;
		n++;
		if (t->exit_state != EXIT_ALIVE)
			continue;
		t->pending.set |= sigmask(SIGKILL);
		signal_wake(t, true);
	}
	return n;
}

void start_group_exit_held(struct process *p, int code)
{
	p->group_exit = true;
	p->group_exit_code = code;
	p->stop_dequeued = false;
	p->stopped = false;
}

/* Does sig kill the process for certain, whatever it does before the signal is delivered? */
static bool surely_fatal(struct task *t, int sig)
{
	if (t->sighand->action[sig - 1].handler != SIG_DFL || t->proc->group_exit)
		return false;
	if (sig_in(sig, SIGSET_IGNORE | SIGSET_STOP | SIGSET_CORE))
		return false;
	return !sig_in(sig, t->real_blocked);
}

static void complete_held(struct task *t, int sig, bool to_process)
{
	struct process *p = t->proc;

	t = choose_thread(t, sig, to_process);
	if (!t)
		return;
	if (surely_fatal(t, sig)) {
		start_group_exit_held(p, sig);
		kill_other_threads_held(p, NULL);
		return;
	}
	signal_wake(t, sig == SIGKILL);
}

int send_signal_locked(struct task *t, int sig, const struct siginfo_abi *info, bool to_process,
		       enum send_how how)
{
	struct process *p = t->proc;
	int ret = 0, why = 0;

	ASSERT(spin_is_locked(&task_lock) && sig_valid(sig));
	if (t->exit_state == EXIT_REAPED)
		return -ESRCH;
	spin_lock(&t->sighand->lock);
	if (prepare_held(t, sig, how, &why)) {
		ret = enqueue_held(t, to_process ? &p->shared_pending : &t->pending, sig, info);
		if (!ret)
			complete_held(t, sig, to_process);
	}
	spin_unlock(&t->sighand->lock);
	if (why)
		notify_parent_stop_locked(p, why);
	return ret;
}

int send_process_locked(struct process *p, int sig, const struct siginfo_abi *info)
{
	if (p->reaped)
		return -ESRCH;
	return send_signal_locked(p->leader, sig, info, true, SEND_NORMAL);
}

int send_pgrp_locked(u32 pgid, int sig, const struct siginfo_abi *info)
{
	int ret = -ESRCH;

	for (struct process *p = process_next(1); p; p = process_next(p->pid + 1)) {
		if (p->pgid != pgid)
			continue;
		int err = send_process_locked(p, sig, info);

		if (ret)
			ret = err;
	}
	return ret;
}

/* --- for the rest of the kernel */

int send_signal_task(struct task *t, int sig, const struct siginfo_abi *info)
{
	u64 flags = spin_lock_irqsave(&task_lock);
	int ret = send_signal_locked(t, sig, info, false, info ? SEND_NORMAL : SEND_FORCE);

	spin_unlock_irqrestore(&task_lock, flags);
	return ret;
}

int send_signal_process(struct process *p, int sig, const struct siginfo_abi *info)
{
	u64 flags = spin_lock_irqsave(&task_lock);
	int ret = send_process_locked(p, sig, info);

	spin_unlock_irqrestore(&task_lock, flags);
	return ret;
}

int send_signal_pgrp(u32 pgid, int sig, const struct siginfo_abi *info)
{
	u64 flags = spin_lock_irqsave(&task_lock);
	int ret = pgid ? send_pgrp_locked(pgid, sig, info) : -ESRCH;

	spin_unlock_irqrestore(&task_lock, flags);
	return ret;
}

/*
 * A fault cannot be ignored or put off: the instruction would only fault again. So a blocked or
 * ignored signal gets its default action, which kills, also init.
 */
void force_signal_info(const struct siginfo_abi *info)
{
	struct task *t = current;
	int sig = info->signo;
	struct sigaction_abi *sa;
	u64 flags;

	ASSERT(sig_valid(sig) && !(t->flags & TF_KTHREAD));
	flags = spin_lock_irqsave(&task_lock);
	sa = &t->sighand->action[sig - 1];
	spin_lock(&t->sighand->lock);
	if (sig_in(sig, t->blocked) || sa->handler == SIG_IGN) {
		sa->handler = SIG_DFL;
		t->blocked &= ~sigmask(sig);
		recalc_sigpending_held(t);
	}
	if (sa->handler == SIG_DFL)
		t->proc->unkillable = false;
	spin_unlock(&t->sighand->lock);
	send_signal_locked(t, sig, info, false, SEND_FORCE);
	spin_unlock_irqrestore(&task_lock, flags);
}

void force_signal(int sig, int code, uaddr addr)
{
	struct siginfo_abi info;

	memset(&info, 0, sizeof(info));
	info.signo = sig;
	info.code = code;
	info.fault.addr = addr;
	force_signal_info(&info);
}
