/* SPDX-License-Identifier: MIT */
/*
 * Signals, the data: queues of pending signals, dispositions (sighand), masks, and the flag that makes
 * a task look at them.
 *
 * A pending signal is a bit in a set, and usually a sigqueue entry that carries its siginfo. Standard
 * signals are pending at most once; real-time ones queue. The bit may stand without an entry (no memory,
 * SIGKILL): then the siginfo is made up. A signal waits either in task.pending (sent to this thread) or
 * in process.shared_pending (any thread may take it); threads take their own first.
 *
 * TIF_SIGPENDING is a hint that only the task itself clears, under sighand->lock
 * (recalc_sigpending): whoever adds a signal sets it after the signal is in place.
 *
 * task.sighand changes only in exec, under task_lock; so a sender, who holds task_lock, and the
 * task itself may follow the pointer.
 */
#include <perch/atomic.h>
#include <perch/page.h>
#include <perch/printk.h>
#include <perch/uaccess.h>
#include <string.h>

#include "internal.h"

/* --- queues */

void sigpending_init(struct sigpending *p)
{
	p->set = 0;
	list_init(&p->queue);
}

void sigqueue_free(struct sigqueue *q)
{
	if (q->user) {
		atomic_dec(&q->user->sigpending);
		user_put(q->user);
	}
	kfree(q);
}

/* Drop the pending signals of set. */
void sigpending_remove(struct sigpending *p, sigset set)
{
	struct sigqueue *q, *next;

	if (!(p->set & set))
		return;
	p->set &= ~set;
	list_for_each_safe(q, next, &p->queue, node) {
		if (sig_in(q->info.signo, set)) {
			list_del(&q->node);
			sigqueue_free(q);
		}
	}
}

void sigpending_flush(struct sigpending *p)
{
	sigpending_remove(p, ~0ULL);
	ASSERT(list_empty(&p->queue));
}

/* Faults of the instruction stream go first, so that their handler sees the faulting context. */
static int next_signal(const struct sigpending *p, sigset mask)
{
	sigset s = p->set & mask;

	if (s & SIGSET_SYNC)
		s &= SIGSET_SYNC;
	return s ? __builtin_ctzll(s) + 1 : 0;
}

/* Take sig's oldest entry; the bit stays while another entry is queued. */
static void collect(struct sigpending *p, int sig, struct siginfo_abi *info)
{
	struct sigqueue *q, *first = NULL;

	list_for_each(q, &p->queue, node) {
		if (q->info.signo != sig)
			continue;
		if (first)
			goto more;
		first = q;
	}
	p->set &= ~sigmask(sig);
more:
	if (first) {
		list_del(&first->node);
		*info = first->info;
		sigqueue_free(first);
		return;
	}
	memset(info, 0, sizeof(*info));
	info->signo = sig;
	info->code = SI_USER;
}

int sigpending_take(struct sigpending *p, sigset mask, struct siginfo_abi *info)
{
	int sig = next_signal(p, mask);

	if (sig)
		collect(p, sig, info);
	return sig;
}

/* --- dispositions */

static struct waitq signalfd_wqs[16];

void signals_init(void)
{
	for (u32 i = 0; i < ARRAY_SIZE(signalfd_wqs); i++)
		waitq_init(&signalfd_wqs[i]);
}

struct sighand *sighand_create(void)
{
	struct sighand *s = kzalloc(sizeof(*s));

	if (!s)
		return NULL;
	ref_init(&s->refs, 1);
	spin_init(&s->lock);
	s->signalfd_wq = &signalfd_wqs[(u64)s / sizeof(*s) % ARRAY_SIZE(signalfd_wqs)];
	return s;
}

struct sighand *sighand_copy(struct sighand *old)
{
	struct sighand *s = sighand_create();
	u64 flags;

	if (!s)
		return NULL;
	flags = spin_lock_irqsave(&old->lock);
	s->touched = old->touched;
	for (sigset left = s->touched; left; left &= left - 1) {
		int i = __builtin_ctzll(left);

		s->action[i] = old->action[i];
	}
	spin_unlock_irqrestore(&old->lock, flags);
	return s;
}

void sighand_put(struct sighand *s)
{
	if (ref_put(&s->refs))
		kfree(s);
}

void signals_exec(struct task *t)
{
	struct sighand *s = t->sighand;
	u64 flags = spin_lock_irqsave(&s->lock);

	for (sigset left = s->touched; left; left &= left - 1) {
		int i = __builtin_ctzll(left);
		u64 keep = s->action[i].handler == SIG_IGN ? SIG_IGN : SIG_DFL;

		s->action[i] = (struct sigaction_abi){ .handler = keep };
	}
	spin_unlock_irqrestore(&s->lock, flags);
	t->altstack.sp = 0;
	t->altstack.size = 0;
	t->altstack.flags = 0;
}

bool signal_ignored_or_blocked(struct task *t, int sig)
{
	u64 flags = spin_lock_irqsave(&t->sighand->lock);
	bool ret = sig_in(sig, t->blocked) || t->sighand->action[sig - 1].handler == SIG_IGN;

	spin_unlock_irqrestore(&t->sighand->lock, flags);
	return ret;
}

/* --- what is pending */

static bool has_pending(struct task *t)
{
	sigset s = t->pending.set | t->proc->shared_pending.set;

	return (s & ~t->blocked) || (t->jobctl & JC_STOP_PENDING);
}

void recalc_sigpending_held(struct task *t)
{
	ASSERT(spin_is_locked(&t->sighand->lock));
	if (has_pending(t))
		set_task_flag(t, TIF_SIGPENDING);
	else if (t == current)
		atomic_and(&t->flags, ~TIF_SIGPENDING);
}

void recalc_sigpending(void)
{
	u64 flags = spin_lock_irqsave(&current->sighand->lock);

	recalc_sigpending_held(current);
	spin_unlock_irqrestore(&current->sighand->lock, flags);
}

bool signal_pending(struct task *t)
{
	return signal_pending_hint(&t->flags, TIF_SIGPENDING);
}

bool fatal_signal_pending(struct task *t)
{
	return signal_pending(t) && sig_in(SIGKILL, READ_ONCE(t->pending.set));
}

sigset pending_set(struct task *t)
{
	u64 flags = spin_lock_irqsave(&t->sighand->lock);
	sigset s = t->pending.set | t->proc->shared_pending.set;

	spin_unlock_irqrestore(&t->sighand->lock, flags);
	return s;
}

int dequeue_held(sigset mask, struct siginfo_abi *info)
{
	struct task *t = current;
	int sig = sigpending_take(&t->pending, mask, info);

	if (!sig)
		sig = sigpending_take(&t->proc->shared_pending, mask, info);
	recalc_sigpending_held(t);
	return sig;
}

int dequeue_signal(sigset set, struct siginfo_abi *info)
{
	u64 flags = spin_lock_irqsave(&current->sighand->lock);
	int sig = dequeue_held(set & ~SIG_KERNEL_ONLY, info);

	spin_unlock_irqrestore(&current->sighand->lock, flags);
	return sig;
}

/* --- the mask */

/*
 * A thread that blocks a signal may be the one that the sender chose for it: some other thread has to
 * be told, or the signal would wait although somebody would take it. The thread list wants task_lock; so this
 * is done only when a process-wide signal is really waiting.
 */
static void hand_over_locked(struct process *p, sigset s)
{
	struct task *t;

	s &= p->shared_pending.set;
	list_for_each(t, &p->threads, thread_node) {
		if (!s)
			return;
		if (t == current || (t->flags & TF_EXITING) || !(s & ~t->blocked))
			continue;
		s &= t->blocked;
		if (!signal_pending(t))
			signal_wake(t, false);
	}
}

void set_blocked_held(struct task *t, sigset s)
{
	ASSERT(t == current && spin_is_locked(&t->sighand->lock));
	t->blocked = s & ~SIG_KERNEL_ONLY;
	recalc_sigpending_held(t);
}

void set_blocked(sigset s)
{
	struct task *t = current;
	struct process *p = t->proc;
	sigset added;
	u64 flags;

	s &= ~SIG_KERNEL_ONLY;
	if (s == t->blocked)
		return;
	added = s & ~t->blocked;
	flags = spin_lock_irqsave(&t->sighand->lock);
	if (!(p->shared_pending.set & added) || READ_ONCE(p->nr_threads) == 1) {
		set_blocked_held(t, s);
		spin_unlock_irqrestore(&t->sighand->lock, flags);
		return;
	}
	spin_unlock_irqrestore(&t->sighand->lock, flags);
	flags = spin_lock_irqsave(&task_lock);
	spin_lock(&t->sighand->lock);
	hand_over_locked(p, added);
	set_blocked_held(t, s);
	spin_unlock(&t->sighand->lock);
	spin_unlock_irqrestore(&task_lock, flags);
}

int set_user_sigmask(const sigset __user *mask, size_t size)
{
	sigset s;

	if (!mask)
		return 0;
	if (size != sizeof(sigset))
		return -EINVAL;
	if (get_user(s, mask))
		return -EFAULT;
	current->saved_sigmask = current->blocked;
	atomic_or(&current->flags, TF_RESTORE_SIGMASK);
	set_blocked(s);
	return 0;
}

void restore_user_sigmask(bool interrupted)
{
	if (interrupted || !(current->flags & TF_RESTORE_SIGMASK))
		return;
	atomic_and(&current->flags, ~TF_RESTORE_SIGMASK);
	set_blocked(current->saved_sigmask);
}
