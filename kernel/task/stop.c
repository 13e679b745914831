/* SPDX-License-Identifier: MIT */
/*
 * Group stop and continue.
 *
 * The thread that takes a stop signal marks all threads of its process (JC_STOP_PENDING); each joins
 * on its way to user space and counts stop_count down. The last one makes the process stopped and tells
 * the parent. SIGCONT undoes all of it at the moment it is sent, whether or not a handler runs
 * later; so does death.
 *
 * Between taking the stop signal and marking, the locks are dropped (the thread list wants task_lock).
 * stop_dequeued bridges the gap: SIGCONT and group exit clear it, and then there is nothing to stop.
 */
#include <perch/atomic.h>
#include <perch/printk.h>
#include <string.h>

#include "internal.h"

/* Mark every thread that has not stopped yet. Both locks held. */
static void mark_threads_held(struct process *p, int sig)
{
	struct task *t;

	if (!p->stopped)
		p->stop_signal = sig;
	p->stop_count = 0;
	list_for_each(t, &p->threads, thread_node) {
		if ((t->flags & TF_EXITING) || t->frozen_stop)
			continue;
		t->jobctl |= JC_STOP_PENDING;
		p->stop_count++;
		signal_wake(t, false);
	}
}

void group_stop(int sig)
{
	struct process *p = current->proc;
	u64 flags = spin_lock_irqsave(&task_lock);
	bool wanted;

	/* Terminal stops would leave an orphaned group stopped for ever. */
	wanted = sig == SIGSTOP || !pgrp_orphaned_locked(p->pgid, NULL);
	spin_lock(&current->sighand->lock);
	if (wanted && p->stop_dequeued && !p->group_exit && !p->group_exec_task && !p->stop_count)
		mark_threads_held(p, sig);
	spin_unlock(&current->sighand->lock);
	spin_unlock_irqrestore(&task_lock, flags);
}

/* One thread fewer is awaited. True if that completed the stop. Both locks held. */
static bool count_down_held(struct process *p)
{
	ASSERT(p->stop_count > 0);
	if (--p->stop_count)
		return false;
	p->stopped = true;
	p->stop_reported = false;
	p->continued = false;
	return true;
}

bool stop_if_pending(void)
{
	struct task *t = current;
	struct process *p = t->proc;
	bool last;
	u64 flags;

	if (!(READ_ONCE(t->jobctl) & JC_STOP_PENDING))
		return false;
	flags = spin_lock_irqsave(&task_lock);
	spin_lock(&t->sighand->lock);
	if (!(t->jobctl & JC_STOP_PENDING)) {
		spin_unlock(&t->sighand->lock);
		spin_unlock_irqrestore(&task_lock, flags);
		return false;
	}
	t->jobctl &= ~JC_STOP_PENDING;
	t->frozen_stop = true;
	WRITE_ONCE(t->state, TASK_STOPPED);
	last = count_down_held(p);
	spin_unlock(&t->sighand->lock);
	if (last)
		notify_parent_stop_locked(p, CLD_STOPPED);
	spin_unlock_irqrestore(&task_lock, flags);
	schedule();
	flags = spin_lock_irqsave(&t->sighand->lock);
	t->frozen_stop = false;
	recalc_sigpending_held(t);
	spin_unlock_irqrestore(&t->sighand->lock, flags);
	return true;
}

void stop_forget_thread_locked(struct task *t)
{
	struct process *p = t->proc;
	bool last = false;

	spin_lock(&t->sighand->lock);
	if (t->jobctl & JC_STOP_PENDING) {
		t->jobctl &= ~JC_STOP_PENDING;
		last = count_down_held(p) && p->nr_live > 0;
	}
	spin_unlock(&t->sighand->lock);
	if (last)
		notify_parent_stop_locked(p, CLD_STOPPED);
}

int group_continue_held(struct process *p)
{
	struct task *t;
	int why = 0;

	if (p->stopped)
		why = CLD_CONTINUED;
	else if (p->stop_count)
		why = CLD_STOPPED;	/* it got that far: the parent sees a stop first */
	p->stop_dequeued = false;
	list_for_each(t, &p->threads, thread_node) {
		t->jobctl &= ~JC_STOP_PENDING;
		if (t->frozen_stop) {
			t->frozen_stop = false;
			wake_up_state(t, TASK_STOPPED);
		}
	}
	if (why) {
		p->continued = true;
		p->stopped = false;
		p->stop_count = 0;
	}
	return why;
}

/* SIGCHLD for a stop or continue, unless the parent does not want those; waiters always wake. */
void notify_parent_stop_locked(struct process *p, int why)
{
	struct process *parent = p->parent;
	struct sigaction_abi *sa;
	struct rusage_counts ru;
	struct siginfo_abi info;

	if (!parent || parent->reaped)
		return;
	memset(&info, 0, sizeof(info));
	info.signo = SIGCHLD;
	info.code = why;
	info.chld.pid = (s32)p->pid;
	info.chld.uid = p->leader->cred.uid;
	info.chld.status = why == CLD_CONTINUED ? SIGCONT : p->stop_signal & 0x7f;
	process_times_locked(p, &ru);
	info.chld.utime = (s64)(ru.utime_ns / (NSEC_PER_SEC / USER_HZ));
	info.chld.stime = (s64)(ru.stime_ns / (NSEC_PER_SEC / USER_HZ));
	sa = &parent->leader->sighand->action[SIGCHLD - 1];
	if (READ_ONCE(sa->handler) != SIG_IGN && !(READ_ONCE(sa->flags) & SA_NOCLDSTOP))
		send_process_locked(parent, SIGCHLD, &info);
	wake_up_all(&parent->wait_child);
}
