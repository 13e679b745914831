/* SPDX-License-Identifier: MIT */
/*
 * System calls on a task's own signals: dispositions, masks, waiting, the alternate stack. Sending is
 * in kill.c.
 */
#include <perch/errno.h>
#include <perch/printk.h>
#include <perch/syscall.h>
#include <perch/uaccess.h>
#include <asm/ptrace.h>
#include <string.h>

#include "internal.h"

/* --- dispositions */

/* Flags that Linux knows; others are cleared on the way in, so that programs can probe for them. */
#define SA_KNOWN (SA_NOCLDSTOP | SA_NOCLDWAIT | SA_SIGINFO | SA_RESTORER | SA_ONSTACK | SA_RESTART | \
		  SA_NODEFER | SA_RESETHAND | SA_EXPOSE_TAGBITS)

/* Signals that the new disposition ignores must not stay pending. Both locks held. */
static void forget_ignored_held(int sig)
{
	struct process *p = current->proc;
	struct task *t;

	sigpending_remove(&p->shared_pending, sigmask(sig));
	list_for_each(t, &p->threads, thread_node)
		sigpending_remove(&t->pending, sigmask(sig));
	recalc_sigpending_held(current);
}

static void set_action(int sig, const struct sigaction_abi *new, struct sigaction_abi *old)
{
	struct sighand *s = current->sighand;
	u64 flags = spin_lock_irqsave(&task_lock);

	spin_lock(&s->lock);
	*old = s->action[sig - 1];
	if (new) {
		s->action[sig - 1] = *new;
		s->touched |= sigmask(sig);
		if (new->handler == SIG_IGN ||
		    (new->handler == SIG_DFL && sig_in(sig, SIGSET_IGNORE)))
			forget_ignored_held(sig);
	}
	spin_unlock(&s->lock);
	spin_unlock_irqrestore(&task_lock, flags);
}

long sys_rt_sigaction(int sig, const struct sigaction_abi __user *act,
		      struct sigaction_abi __user *oact, size_t size)
{
	struct sigaction_abi new, old;

	if (size != sizeof(sigset))
		return -EINVAL;
	if (act && copy_from_user(&new, act, sizeof(new)))
		return -EFAULT;
	if (!sig_valid(sig) || (act && sig_in(sig, SIG_KERNEL_ONLY)))
		return -EINVAL;
	if (act) {
		new.mask &= ~SIG_KERNEL_ONLY;
		new.flags &= SA_KNOWN;
	}
	set_action(sig, act ? &new : NULL, &old);
	if (oact && copy_to_user(oact, &old, sizeof(old)))
		return -EFAULT;
	return 0;
}

/* --- masks */

static int change_mask(int how, sigset s)
{
	switch (how) {
	case SIG_BLOCK:
		set_blocked(current->blocked | s);
		return 0;
	case SIG_UNBLOCK:
		set_blocked(current->blocked & ~s);
		return 0;
	case SIG_SETMASK:
		set_blocked(s);
		return 0;
	}
	return -EINVAL;
}

long sys_rt_sigprocmask(int how, const sigset __user *set, sigset __user *oset, size_t size)
{
	sigset s, old = current->blocked;
	int err = 0;

	if (size != sizeof(sigset))
		return -EINVAL;
	if (set) {
		if (get_user(s, set))
			return -EFAULT;
		err = change_mask(how, s);
	}
	if (!err && oset)
		err = put_user(old, oset);
	return err;
}

long sys_rt_sigpending(sigset __user *set, size_t size)
{
	sigset s;

	if (size > sizeof(sigset))
		return -EINVAL;
	s = pending_set(current) & current->blocked;
	return copy_to_user(set, &s, size) ? -EFAULT : 0;
}

long sys_rt_sigsuspend(const sigset __user *set, size_t size)
{
	sigset s;

	if (size != sizeof(sigset))
		return -EINVAL;
	if (get_user(s, set))
		return -EFAULT;
	current->saved_sigmask = current->blocked;
	set_blocked(s);
	while (!signal_pending(current)) {
		WRITE_ONCE(current->state, TASK_INTERRUPTIBLE);
		smp_mb();	/* pairs with kick_task */
		if (!signal_pending(current))
			schedule();
		WRITE_ONCE(current->state, TASK_RUNNING);
	}
	atomic_or(&current->flags, TF_RESTORE_SIGMASK);
	return -ERESTARTNOHAND;
}

/* --- sigtimedwait */

/*
 * Wait for one of set. Meanwhile those signals count as not blocked, so that a sender wakes this
 * thread, and as blocked, so that they are queued although nobody handles them (real_blocked).
 */
static int wait_for_signal(sigset set, struct siginfo_abi *info, ktime deadline)
{
	struct task *t = current;
	u64 flags;
	int sig;

	flags = spin_lock_irqsave(&t->sighand->lock);
	sig = dequeue_held(set, info);
	if (sig || deadline == 0) {
		spin_unlock_irqrestore(&t->sighand->lock, flags);
		return sig ? sig : -EAGAIN;
	}
	t->real_blocked = t->blocked;
	set_blocked_held(t, t->blocked & ~set);
	WRITE_ONCE(t->state, TASK_INTERRUPTIBLE);
	spin_unlock_irqrestore(&t->sighand->lock, flags);

	if (signal_pending(t))
		WRITE_ONCE(t->state, TASK_RUNNING);
	else
		schedule_until(deadline);

	flags = spin_lock_irqsave(&t->sighand->lock);
	t->blocked = t->real_blocked;
	t->real_blocked = 0;
	sig = dequeue_held(set, info);
	spin_unlock_irqrestore(&t->sighand->lock, flags);
	if (sig)
		return sig;
	return ktime_now() >= deadline ? -EAGAIN : -EINTR;
}

long sys_rt_sigtimedwait(const sigset __user *uset, struct siginfo_abi __user *uinfo,
			 const struct timespec64 __user *uts, size_t size)
{
	struct siginfo_abi info;
	struct timespec64 ts;
	ktime deadline = KTIME_MAX;
	sigset set;
	int sig;

	if (size != sizeof(sigset))
		return -EINVAL;
	if (get_user(set, uset))
		return -EFAULT;
	if (uts) {
		if (copy_from_user(&ts, uts, sizeof(ts)))
			return -EFAULT;
		if (!timespec_valid(&ts))
			return -EINVAL;
		deadline = timespec_to_ktime(&ts);
		if (deadline && __builtin_add_overflow(deadline, ktime_now(), &deadline))
			deadline = KTIME_MAX;
	}
	sig = wait_for_signal(set & ~SIG_KERNEL_ONLY, &info, deadline);
	if (sig > 0 && uinfo && copy_to_user(uinfo, &info, sizeof(info)))
		return -EFAULT;
	return sig;
}

/* --- alternate stack */

static bool on_altstack(u64 sp)
{
	struct task *t = current;

	if (t->altstack.flags & SS_AUTODISARM)
		return false;
	return sp > t->altstack.sp && sp - t->altstack.sp <= t->altstack.size;
}

static int set_altstack(const struct stack_abi *ss, u64 sp)
{
	struct task *t = current;
	u32 mode = (u32)ss->flags & ~SS_AUTODISARM;

	if (on_altstack(sp))
		return -EPERM;
	if (mode != SS_DISABLE && mode != SS_ONSTACK && mode != 0)
		return -EINVAL;
	if (mode == SS_DISABLE) {
		t->altstack.sp = 0;
		t->altstack.size = 0;
	} else {
		if (ss->size < MINSIGSTKSZ)
			return -ENOMEM;
		t->altstack.sp = ss->sp;
		t->altstack.size = ss->size;
	}
	t->altstack.flags = (u32)ss->flags;
	return 0;
}

static void get_altstack(struct stack_abi *ss, u64 sp)
{
	struct task *t = current;

	memset(ss, 0, sizeof(*ss));
	ss->sp = t->altstack.sp;
	ss->size = t->altstack.size;
	if (!ss->size)
		ss->flags = SS_DISABLE;
	else
		ss->flags = on_altstack(sp) ? SS_ONSTACK : 0;
	ss->flags |= (s32)(t->altstack.flags & SS_AUTODISARM);
}

long sys_sigaltstack(const struct stack_abi __user *uss, struct stack_abi __user *uoss)
{
	u64 sp = task_pt_regs(current)->sp;
	struct stack_abi ss, old;
	int err;

	if (uss && copy_from_user(&ss, uss, sizeof(ss)))
		return -EFAULT;
	get_altstack(&old, sp);
	if (uss) {
		err = set_altstack(&ss, sp);
		if (err)
			return err;
	}
	if (uoss && copy_to_user(uoss, &old, sizeof(old)))
		return -EFAULT;
	return 0;
}

/* --- returning from a handler, restarting a call */

long sys_rt_sigreturn(void)
{
	struct pt_regs *regs = task_pt_regs(current);
	sigset blocked = current->blocked;
	long x0;

	current->restart.fn = NULL;
	x0 = arch_sigreturn(regs, &blocked);
	set_blocked(blocked);
	regs->syscallno = -1;	/* x0 is the program's: never taken for a restart code */
	return x0;
}

long sys_restart_syscall(void)
{
	if (!current->restart.fn)
		return -EINTR;
	return current->restart.fn(current);
}
