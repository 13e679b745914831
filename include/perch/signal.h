/* SPDX-License-Identifier: MIT */
/*
 * Signals. Pending signals live per task and per process; sighand (dispositions) is shared by
 * CLONE_SIGHAND. sighand->lock guards dispositions and all pending queues of its tasks; it is
 * taken with IRQs off, so sending works from any context.
 */
#ifndef PERCH_SIGNAL_H
#define PERCH_SIGNAL_H

#include <perch/list.h>
#include <perch/spinlock.h>
#include <perch/wait.h>
#include <perch/types.h>
#include <linux/signal.h>	/* ours: SIG*, struct siginfo_abi, struct sigaction_abi, SA_*, si codes */

struct task;
struct process;
struct pt_regs;

typedef u64 sigset;		/* bit n-1 for signal n */
#define sigmask(n)	(1ULL << ((n) - 1))
#define SIG_KERNEL_ONLY	(sigmask(SIGKILL) | sigmask(SIGSTOP))

struct sigqueue {
	struct list node;
	struct siginfo_abi info;	/* 128 bytes, as user space sees it */
	struct user *user;		/* whose RLIMIT_SIGPENDING it counts against; reference */
};

struct sigpending {
	sigset set;		/* sighand->lock */
	struct list queue;	/* of sigqueue; sighand->lock */
};

struct sighand {
	refcount refs;
	spinlock lock;		/* irqsave */
	sigset touched;		/* all other actions are as at the start (zero); lock */
	struct sigaction_abi action[NSIG];	/* [n-1]; lock */
	/* Woken for each signal that becomes pending. Static and shared among sighands: a signalfd that is
	 * registered in an epoll set may outlive the sighand. */
	struct waitq *signalfd_wq;
};

/* Send to one thread / to a process (any eligible thread). info NULL: SI_KERNEL-like. Any context.
 * Returns 0, -ESRCH if it is gone, -EAGAIN when the queue limit refuses a real-time signal. */
int send_signal_task(struct task *t, int sig, const struct siginfo_abi *info);
int send_signal_process(struct process *p, int sig, const struct siginfo_abi *info);
int send_signal_pgrp(u32 pgid, int sig, const struct siginfo_abi *info);	/* -ESRCH if empty */
/* A synchronous fault of current: unblocks and resets the handler if it is blocked or ignored. */
void force_signal(int sig, int code, uaddr addr);
void force_signal_info(const struct siginfo_abi *info);

static inline bool signal_pending_hint(const u32 *flags, u32 bit) { return READ_ONCE(*flags) & bit; }
bool signal_pending(struct task *t);		/* something deliverable, or a stop/kill in progress */
bool fatal_signal_pending(struct task *t);
void recalc_sigpending(void);			/* current; after changing the blocked set */
void set_blocked(sigset s);			/* current */

/* Called on the way to user space when TIF_SIGPENDING is set: delivers at most one handler frame,
 * does default actions, restarts system calls (regs->syscallno, orig_x0). IRQs on. */
void do_signal(struct pt_regs *regs);
/* Dequeue for sigtimedwait/signalfd: the signal number, 0 if none of set pending. Own task. */
int dequeue_signal(sigset set, struct siginfo_abi *info);
sigset pending_set(struct task *t);

/* arch: build the frame on the user stack / take it down. 0 or -EFAULT. */
int arch_setup_frame(int sig, const struct sigaction_abi *sa, const struct siginfo_abi *info,
		     sigset saved, struct pt_regs *regs);
/* rt_sigreturn: restores everything, returns the new x0. */
long arch_sigreturn(struct pt_regs *regs, sigset *blocked);

struct sighand *sighand_create(void);
struct sighand *sighand_copy(struct sighand *old);
void sighand_put(struct sighand *s);
void sigpending_init(struct sigpending *p);
void sigpending_flush(struct sigpending *p);	/* sighand->lock held, or the owner is gone */
void signals_exec(struct task *t);		/* handlers to default, alt stack off */

/* tty job control: would a background read/write stop us? Sends SIGTTIN/SIGTTOU to the group. */
bool signal_ignored_or_blocked(struct task *t, int sig);
/* No member has a parent in another group of the same session. Takes task_lock. */
bool pgrp_orphaned(u32 pgid);

/*
 * For calls with a temporary mask (ppoll, pselect6, epoll_pwait, ...). set_user_sigmask: installs the
 * user's mask of size bytes (NULL: keep) and remembers the old one: 0, -EINVAL, -EFAULT. At the end
 * restore_user_sigmask(interrupted): interrupted (the call returns -EINTR/-ERESTARTNOHAND) leaves the
 * restoring to do_signal, which needs the temporary mask to deliver.
 */
int set_user_sigmask(const sigset __user *mask, size_t size);
void restore_user_sigmask(bool interrupted);

#endif
