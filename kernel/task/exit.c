/* SPDX-License-Identifier: MIT */
/*
 * The end of a task and of a process.
 *
 * A task gives back what it has in the order in which others may still need it: the robust futexes
 * and the thread id word first (they live in user memory), then perf (its counts go to the parent,
 * those of the last faults, too), memory, files. The last thread to begin its exit also ends what belongs to the process:
 * timers, terminal, children.
 *
 * Then it becomes a zombie. A thread that is no leader is nobody's child: it releases itself. A leader stays
 * in the table until all other threads have gone (its number is the process's); then the parent is told. If
 * the parent does not care (SIGCHLD ignored, SA_NOCLDWAIT), whoever finds that out reaps at once.
 */
#include <perch/atomic.h>
#include <perch/errno.h>
#include <perch/fs.h>
#include <perch/futex.h>
#include <perch/mm.h>
#include <perch/perf.h>
#include <perch/printk.h>
#include <perch/syscall.h>
#include <perch/tty.h>
#include <string.h>

#include "internal.h"

/* --- telling the parent */

static void exit_siginfo(struct process *p, struct siginfo_abi *info, int code)
{
	struct rusage_counts ru;

	memset(info, 0, sizeof(*info));
	process_times_locked(p, &ru);
	info->chld.pid = (s32)p->pid;
	info->chld.uid = p->leader->cred.uid;
	info->chld.utime = (s64)(ru.utime_ns / (NSEC_PER_SEC / USER_HZ));
	info->chld.stime = (s64)(ru.stime_ns / (NSEC_PER_SEC / USER_HZ));
	if (code & 0x7f) {
		info->code = code & 0x80 ? CLD_DUMPED : CLD_KILLED;
		info->chld.status = code & 0x7f;
	} else {
		info->code = CLD_EXITED;
		info->chld.status = (code >> 8) & 0xff;
	}
}

bool notify_parent_exit_locked(struct process *p)
{
	struct process *parent = p->parent;
	struct siginfo_abi info;
	struct sigaction_abi *sa;
	int sig = p->leader->exit_signal;
	bool reap = false;

	ASSERT(spin_is_locked(&task_lock) && p->nr_threads == 1);
	wake_up_all(&p->pidfd_wq);
	if (!parent)
		return true;
	/* Since the parent asked for that signal it has become another program. */
	if (p->parent_exec_id != parent->exec_id)
		sig = SIGCHLD;
	if (sig == SIGCHLD) {
		sa = &parent->leader->sighand->action[SIGCHLD - 1];
		reap = READ_ONCE(sa->handler) == SIG_IGN || (READ_ONCE(sa->flags) & SA_NOCLDWAIT);
		if (READ_ONCE(sa->handler) == SIG_IGN)
			sig = 0;
	}
	if (sig_valid(sig)) {
		exit_siginfo(p, &info, p->group_exit ? p->group_exit_code : p->leader->exit_code);
		send_process_locked(parent, sig, &info);
	}
	wake_up_all(&parent->wait_child);
	return reap;
}

/* --- giving things back */

/* Process-wide signals that only this thread could have taken must find another one. */
static void hand_signals_over_locked(struct task *t)
{
	struct process *p = t->proc;
	struct task *other;

	spin_lock(&t->sighand->lock);
	list_for_each(other, &p->threads, thread_node)
		if (!(other->flags & TF_EXITING) && (p->shared_pending.set & ~other->blocked))
			signal_wake(other, false);
	spin_unlock(&t->sighand->lock);
}

/* Of threads that end one by one, the last one's status is the process's. */
static void decide_status_locked(struct task *t, int code)
{
	spin_lock(&t->sighand->lock);
	if (!t->proc->group_exit)
		start_group_exit_held(t->proc, code);
	spin_unlock(&t->sighand->lock);
}

/* No signal chooses this thread any more. True: it is the last one of its process to get here. */
static bool begin_exit(struct task *t, int code)
{
	struct process *p = t->proc;
	u64 flags = spin_lock_irqsave(&task_lock);
	bool last;

	atomic_or(&t->flags, TF_EXITING);
	t->exit_code = code;
	last = --p->nr_live == 0;
	if (last)
		decide_status_locked(t, code);
	stop_forget_thread_locked(t);
	if (!last && !p->group_exit)
		hand_signals_over_locked(t);
	spin_unlock_irqrestore(&task_lock, flags);
	return last;
}

static void exit_vfork(struct task *t)
{
	u64 flags;

	if (!READ_ONCE(t->vfork_done))
		return;
	flags = spin_lock_irqsave(&task_lock);
	complete_vfork_locked(t);
	spin_unlock_irqrestore(&task_lock, flags);
}

static void exit_mm(struct task *t)
{
	struct mm *mm = t->mm;
	u64 flags;

	if (mm) {
		mm_note_peak(mm);
		t->ru.maxrss = max(t->ru.maxrss, mm->hiwater_rss);
		flags = irq_save();
		spin_lock(&t->alloc_lock);
		t->mm = NULL;
		spin_unlock(&t->alloc_lock);
		arch_mm_switch(NULL);
		irq_restore(flags);
		mm_put(mm);
	}
	/* Also without memory: a vfork child whose exec failed half-way. */
	exit_vfork(t);
}

static void exit_files(struct task *t)
{
	struct files *files = t->files;
	struct fs_context *fs = t->fs;

	spin_lock(&t->alloc_lock);
	t->files = NULL;
	t->fs = NULL;
	spin_unlock(&t->alloc_lock);
	files_put(files);
	fs_put(fs);
}

/* What ends with the process, before its last thread becomes a zombie. */
static void end_process(struct process *p, int code)
{
	if (p->is_init)
		panic("Attempted to kill init! exitcode=0x%08x",
		      (unsigned)(p->group_exit ? p->group_exit_code : code));
	itimers_exit(p);
}

/* --- zombie */

/* A process of which only the zombie leader is left. */
static void finish_process_locked(struct process *p)
{
	if (notify_parent_exit_locked(p))
		task_release_locked(p->leader);
}

/* The child of a group that only we tied to the session's other groups. */
static void check_own_group_locked(struct process *p)
{
	struct process *parent = p->parent;

	if (parent && parent->pgid != p->pgid && parent->sid == p->sid &&
	    pgrp_orphaned_locked(p->pgid, p))
		process_orphan_check_locked(p);
}

static void become_zombie(struct task *t, bool last)
{
	struct process *p = t->proc;
	u64 flags = spin_lock_irqsave(&task_lock);

	if (last) {
		process_reparent_children_locked(p);
		check_own_group_locked(p);
	}
	t->exit_state = EXIT_ZOMBIE;
	if (t != p->leader)
		task_release_locked(t);
	if (p->nr_threads == 1 && p->leader->exit_state == EXIT_ZOMBIE)
		finish_process_locked(p);
	if (p->group_exec_task)
		wake_up_state(p->group_exec_task, TASK_KILLABLE);
	spin_unlock_irqrestore(&task_lock, flags);
}

void do_exit(int code)
{
	struct task *t = current;
	bool last;

	ASSERT(!in_irq() && this_cpu()->spin_depth == 0 && !(t->flags & TF_IDLE));
	irq_enable();
	WRITE_ONCE(t->state, TASK_RUNNING);
	if (t->flags & TF_EXITING)
		panic("%s[%u]: fault while exiting", t->comm, t->pid);
	last = begin_exit(t, code);
	if (last)
		end_process(t->proc, code);
	if (t->mm)
		futex_exit(t);
	perf_exit(t);	/* behind the last access to user memory: its faults count */
	exit_mm(t);
	exit_files(t);
	if (last && t->proc->sid == t->proc->pid)
		tty_disassociate(t->proc);
	free_dead_tasks();
	become_zombie(t, last);
	WRITE_ONCE(t->state, TASK_DEAD);
	schedule();
	BUG();
}

void do_group_exit(int code)
{
	struct process *p = current->proc;
	u64 flags = spin_lock_irqsave(&task_lock);

	spin_lock(&current->sighand->lock);
	if (p->group_exit) {
		code = p->group_exit_code;
	} else if (p->group_exec_task && p->group_exec_task != current) {
		code = 0;	/* only this thread ends: the process goes on in another program */
	} else {
		start_group_exit_held(p, code);
		kill_other_threads_held(p, current);
	}
	spin_unlock(&current->sighand->lock);
	spin_unlock_irqrestore(&task_lock, flags);
	do_exit(code);
}

long sys_exit(int code)
{
	do_exit((code & 0xff) << 8);
}

long sys_exit_group(int code)
{
	do_group_exit((code & 0xff) << 8);
}
