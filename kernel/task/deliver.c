/* SPDX-License-Identifier: MIT */
/*
 * Delivering signals: what a task does with its pending signals on the way to user space.
 *
 * Default actions happen here; a handler gets a frame on the user stack (arch). One call delivers at most
 * one handler; exit_to_user_work calls again while TIF_SIGPENDING stands, and the last frame built
 * runs first.
 *
 * A system call that was interrupted has returned one of the ERESTART codes. They say what becomes of
 * it: without a handler it is repeated (ERESTART_RESTARTBLOCK: as restart_syscall, which knows how much
 * of a timeout is left); with a handler ERESTARTSYS is repeated if SA_RESTART, ERESTARTNOINTR always, the
 * others end with EINTR. The call is rewound first and unwound if a handler wants EINTR, so that a
 * handler returns to the right place.
 */
#include <perch/atomic.h>
#include <perch/errno.h>
#include <perch/printk.h>
#include <asm/ptrace.h>

#include "internal.h"

#define NR_RESTART_SYSCALL 128

struct delivery {
	int sig;
	struct siginfo_abi info;
	struct sigaction_abi sa;
};

enum verdict { NOTHING, AGAIN, HANDLER, STOP, KILL };

/* The default action of d->sig. sighand->lock held. */
static enum verdict default_action_held(struct process *p, int sig)
{
	if (sig_in(sig, SIGSET_IGNORE))
		return AGAIN;
	if (p->unkillable && !sig_in(sig, SIG_KERNEL_ONLY))
		return AGAIN;
	if (sig_in(sig, SIGSET_STOP)) {
		p->stop_dequeued = true;
		return STOP;
	}
	return KILL;
}

static enum verdict take_one_held(struct delivery *d)
{
	struct process *p = current->proc;
	struct sigaction_abi *sa;

	if (p->group_exit || (p->group_exec_task && p->group_exec_task != current)) {
		d->sig = SIGKILL;
		return KILL;
	}
	d->sig = dequeue_held(~current->blocked, &d->info);
	if (!d->sig)
		return NOTHING;
	sa = &current->sighand->action[d->sig - 1];
	if (sa->handler == SIG_IGN)
		return AGAIN;
	if (sa->handler == SIG_DFL)
		return default_action_held(p, d->sig);
	d->sa = *sa;
	if (sa->flags & SA_RESETHAND)
		sa->handler = SIG_DFL;
	return HANDLER;
}

/* Does default actions until a signal with a handler comes up (true) or none is left. May not return. */
static bool next_handler(struct delivery *d)
{
	enum verdict v;
	u64 flags;

	for (;;) {
		while (stop_if_pending())
			;
		flags = spin_lock_irqsave(&current->sighand->lock);
		v = take_one_held(d);
		spin_unlock_irqrestore(&current->sighand->lock, flags);
		if (v == KILL)
			do_group_exit(d->sig);
		if (v == STOP)
			group_stop(d->sig);
		if (v == HANDLER)
			return true;
		if (v == NOTHING && !(READ_ONCE(current->jobctl) & JC_STOP_PENDING))
			return false;
	}
}

static bool is_restart_code(s64 ret)
{
	return ret == -ERESTARTSYS || ret == -ERESTARTNOINTR || ret == -ERESTARTNOHAND ||
	       ret == -ERESTART_RESTARTBLOCK;
}

/* No room for the frame: a SIGSEGV whose own frame fails must kill. */
static void frame_failed(int sig)
{
	u64 flags;

	if (sig == SIGSEGV) {
		flags = spin_lock_irqsave(&current->sighand->lock);
		current->sighand->action[SIGSEGV - 1].handler = SIG_DFL;
		spin_unlock_irqrestore(&current->sighand->lock, flags);
	}
	force_signal(SIGSEGV, SI_KERNEL, 0);
}

static void run_handler(struct delivery *d, struct pt_regs *regs)
{
	struct task *t = current;
	bool restore = t->flags & TF_RESTORE_SIGMASK;
	sigset mask;

	atomic_and(&t->flags, ~TF_RESTORE_SIGMASK);
	if (arch_setup_frame(d->sig, &d->sa, &d->info, restore ? t->saved_sigmask : t->blocked, regs)) {
		frame_failed(d->sig);
		return;
	}
	if (t->altstack.flags & SS_AUTODISARM) {
		t->altstack.sp = 0;
		t->altstack.size = 0;
		t->altstack.flags = SS_DISABLE;
	}
	mask = t->blocked | d->sa.mask;
	if (!(d->sa.flags & SA_NODEFER))
		mask |= sigmask(d->sig);
	set_blocked(mask);
}

void do_signal(struct pt_regs *regs)
{
	s64 ret = regs->syscallno >= 0 ? syscall_result(regs) : 0;
	struct delivery d;

	/* Whatever happens below, it happens to this system call only once. */
	regs->syscallno = -1;
	if (is_restart_code(ret))
		syscall_rewind(regs);
	if (next_handler(&d)) {
		if (ret == -ERESTARTNOHAND || ret == -ERESTART_RESTARTBLOCK ||
		    (ret == -ERESTARTSYS && !(d.sa.flags & SA_RESTART))) {
			syscall_unwind(regs);
			syscall_set_result(regs, -EINTR);
		}
		run_handler(&d, regs);
		return;
	}
	if (ret == -ERESTART_RESTARTBLOCK)
		syscall_set_number(regs, NR_RESTART_SYSCALL);
	if (current->flags & TF_RESTORE_SIGMASK) {
		atomic_and(&current->flags, ~TF_RESTORE_SIGMASK);
		set_blocked(current->saved_sigmask);
	}
}
