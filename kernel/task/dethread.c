/* SPDX-License-Identifier: MIT */
/*
 * execve in a process with several threads: all others die, and the one that execs becomes the leader,
 * under the process's number, even if it was not.
 *
 * group_exec_task announces it. The others get SIGKILL but, seeing group_exec_task, end only themselves. Each
 * one that leaves wakes the exec'ing thread, which waits killably: a real SIGKILL for the process wins.
 */
#include <perch/atomic.h>
#include <perch/errno.h>
#include <perch/printk.h>

#include "exec.h"
#include "internal.h"

static int announce(struct process *p)
{
	u64 flags = spin_lock_irqsave(&task_lock);
	int err = 0;

	spin_lock(&current->sighand->lock);
	if (p->group_exit || p->group_exec_task) {
		err = -EAGAIN;
	} else {
		p->group_exec_task = current;
		kill_other_threads_held(p, current);
	}
	spin_unlock(&current->sighand->lock);
	spin_unlock_irqrestore(&task_lock, flags);
	return err;
}

/* Alone, or alone with the zombie of the leader. */
static bool alone_locked(struct process *p)
{
	if (p->leader == current)
		return p->nr_threads == 1;
	return p->nr_threads == 2 && p->leader->exit_state == EXIT_ZOMBIE;
}

/*
 * The old leader gives its number to current and goes. The parent notices nothing: leader changes under
 * task_lock, and a process with two threads is not waited for.
 */
static void take_over_locked(struct process *p)
{
	struct task *t = current, *old = p->leader;
	u32 pid = t->pid;

	pid_unhash_locked(t);
	pid_unhash_locked(old);
	t->pid = old->pid;
	old->pid = pid;
	t->start_time = old->start_time;
	t->exit_signal = SIGCHLD;
	old->exit_signal = -1;
	p->leader = t;
	pid_hash_locked(t);
	pid_hash_locked(old);
	task_release_locked(old);
}

static int wait_until_alone(struct process *p)
{
	int err = 0;
	u64 flags;

	for (;;) {
		flags = spin_lock_irqsave(&task_lock);
		WRITE_ONCE(current->state, TASK_KILLABLE);
		if (alone_locked(p))
			break;
		if (fatal_signal_pending(current)) {
			err = -EAGAIN;
			break;
		}
		spin_unlock_irqrestore(&task_lock, flags);
		schedule();
	}
	WRITE_ONCE(current->state, TASK_RUNNING);
	if (!err && p->leader != current)
		take_over_locked(p);
	p->group_exec_task = NULL;
	spin_unlock_irqrestore(&task_lock, flags);
	return err;
}

int exec_dethread(void)
{
	struct process *p = current->proc;
	int err = announce(p);

	if (!err)
		err = wait_until_alone(p);
	return err;
}

/* A sighand that is shared with another process (CLONE_SIGHAND without CLONE_THREAD) is left to it. */
int exec_own_sighand(void)
{
	struct sighand *old = current->sighand, *new;
	u64 flags;

	if (ref_read(&old->refs) == 1)
		return 0;
	new = sighand_copy(old);
	if (!new)
		return -ENOMEM;
	flags = spin_lock_irqsave(&task_lock);
	spin_lock(&old->lock);
	current->sighand = new;
	spin_unlock(&old->lock);
	spin_unlock_irqrestore(&task_lock, flags);
	sighand_put(old);
	return 0;
}
