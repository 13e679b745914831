/* SPDX-License-Identifier: MIT */
/*
 * What the files of kernel/task share. Functions ending in _locked want task_lock held by the caller;
 * those that take sighand->lock inside say so. See README.md for the objects and their life.
 */
#ifndef KERNEL_TASK_INTERNAL_H
#define KERNEL_TASK_INTERNAL_H

#include <perch/sched.h>
#include <perch/signal.h>
#include <perch/task.h>

struct file;

#define PID_MAX		32768	/* pids are 1 .. PID_MAX-1 */
#define PID_RESERVED	300	/* after a wrap numbers start here */

#define EXIT_ALIVE	0	/* task.exit_state */
#define EXIT_ZOMBIE	1
#define EXIT_REAPED	2

/* pid.c. A number is free when nobody counts on it: no task, process group or session. */
int pid_alloc(void);			/* counted once; -EAGAIN when all are taken. Takes task_lock */
void pid_hold_locked(u32 pid);
void pid_drop_locked(u32 pid);
void pid_hash_locked(struct task *t);	/* findable by t->pid from now on */
void pid_unhash_locked(struct task *t);
struct task *task_find_locked(u32 pid);
struct process *process_find_locked(u32 pid);

/* task.c */
struct task *task_alloc(void);		/* zeroed, with a stack and refs for table and scheduler; NULL */
void task_free(struct task *t);		/* process context; also for half-built ones */
void free_dead_tasks(void);		/* process context, no locks */
void task_write_comm(struct task *t, const char *comm);	/* without telling perf: exec does that */
/* Out of all tables; counts go to the process. Drops the table's reference. */
void task_release_locked(struct task *t);

/* process.c */
struct process *process_alloc(void);	/* refs 1 */
void process_link_locked(struct process *p, struct task *leader, struct process *parent);
void process_unlink_locked(struct process *p);
void process_reparent_children_locked(struct process *p);
void process_set_group_locked(struct process *p, u32 pgid, u32 sid);
/* p is about to leave: does its group lose its last tie to the session? Then HUP and CONT. */
void process_orphan_check_locked(struct process *p);
void rusage_add(struct rusage_counts *sum, const struct rusage_counts *c);
void process_times_locked(struct process *p, struct rusage_counts *out);

/* clone.c: CLONE_x of clone(2), clone3(2), unshare(2) */
#define CLONE_NEWTIME		0x00000080ULL
#define CLONE_VM		0x00000100ULL
#define CLONE_FS		0x00000200ULL
#define CLONE_FILES		0x00000400ULL
#define CLONE_SIGHAND		0x00000800ULL
#define CLONE_PIDFD		0x00001000ULL
#define CLONE_PTRACE		0x00002000ULL
#define CLONE_VFORK		0x00004000ULL
#define CLONE_PARENT		0x00008000ULL
#define CLONE_THREAD		0x00010000ULL
#define CLONE_NEWNS		0x00020000ULL
#define CLONE_SYSVSEM		0x00040000ULL
#define CLONE_SETTLS		0x00080000ULL
#define CLONE_PARENT_SETTID	0x00100000ULL
#define CLONE_CHILD_CLEARTID	0x00200000ULL
#define CLONE_DETACHED		0x00400000ULL
#define CLONE_UNTRACED		0x00800000ULL
#define CLONE_CHILD_SETTID	0x01000000ULL
#define CLONE_NEWCGROUP		0x02000000ULL
#define CLONE_NEWUTS		0x04000000ULL
#define CLONE_NEWIPC		0x08000000ULL
#define CLONE_NEWUSER		0x10000000ULL
#define CLONE_NEWPID		0x20000000ULL
#define CLONE_NEWNET		0x40000000ULL
#define CLONE_IO		0x80000000ULL
#define CLONE_CLEAR_SIGHAND	0x100000000ULL
#define CLONE_INTO_CGROUP	0x200000000ULL
#define CLONE_NEW_ANY	(CLONE_NEWTIME | CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | \
			 CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET)
/* There are no namespaces: what a kernel without them answers. 0 if flags asks for none. */
int refuse_namespaces(u64 flags);

/* fork.c */
void fork_set_limits(struct process *p);	/* the limits init starts with; rlimit.c */
/* Make a finished task findable. task_lock held. */
void task_link_locked(struct task *t, bool thread, struct process *parent);

/* exit.c */
/* A whole process is a zombie now: tell the parent. True if nobody will wait for it (reap it). */
bool notify_parent_exit_locked(struct process *p);
void complete_vfork_locked(struct task *t);

/* signal.c */
#define SIGSET_STOP	(sigmask(SIGSTOP) | sigmask(SIGTSTP) | sigmask(SIGTTIN) | sigmask(SIGTTOU))
#define SIGSET_IGNORE	(sigmask(SIGCONT) | sigmask(SIGCHLD) | sigmask(SIGWINCH) | sigmask(SIGURG))
#define SIGSET_SYNC	(sigmask(SIGSEGV) | sigmask(SIGBUS) | sigmask(SIGILL) | sigmask(SIGTRAP) | \
			 sigmask(SIGFPE) | sigmask(SIGSYS))
#define SIGSET_CORE	(sigmask(SIGQUIT) | sigmask(SIGILL) | sigmask(SIGTRAP) | sigmask(SIGABRT) | \
			 sigmask(SIGBUS) | sigmask(SIGFPE) | sigmask(SIGSEGV) | sigmask(SIGXCPU) | \
			 sigmask(SIGXFSZ) | sigmask(SIGSYS))
static inline bool sig_valid(int sig) { return sig > 0 && sig <= NSIG; }
static inline bool sig_in(int sig, sigset set) { return set & sigmask(sig); }

void signals_init(void);
void sigqueue_free(struct sigqueue *q);
/* sighand->lock held by the caller for all of these. */
void sigpending_remove(struct sigpending *p, sigset set);
int sigpending_take(struct sigpending *p, sigset mask, struct siginfo_abi *info);
void recalc_sigpending_held(struct task *t);
void set_blocked_held(struct task *t, sigset s);
/* Take one signal of mask for current, private ones first; 0 if none. */
int dequeue_held(sigset mask, struct siginfo_abi *info);

/* send.c. task_lock held, sighand->lock taken inside. to_process: any thread may take it. */
enum send_how { SEND_NORMAL, SEND_FORCE };	/* force: the kernel itself sends it, also to init */
int send_signal_locked(struct task *t, int sig, const struct siginfo_abi *info, bool to_process,
		       enum send_how how);
int send_process_locked(struct process *p, int sig, const struct siginfo_abi *info);
int send_pgrp_locked(u32 pgid, int sig, const struct siginfo_abi *info);
/* May current send sig to t? 0 or -EPERM. */
int kill_permission(struct task *t, int sig, const struct siginfo_abi *info);
void siginfo_user(struct siginfo_abi *info, int sig, int code);	/* from current */
/* Every other thread of p gets SIGKILL. task_lock and sighand->lock held. Their number. */
u32 kill_other_threads_held(struct process *p, struct task *except);
void start_group_exit_held(struct process *p, int code);
void signal_wake(struct task *t, bool fatal);	/* set TIF_SIGPENDING and poke */

/* stop.c */
void group_stop(int sig);		/* current took a stop signal; no lock held */
bool stop_if_pending(void);		/* join a group stop: true after having stopped */
void stop_forget_thread_locked(struct task *t);	/* t exits: it will not join any more */
/* SIGCONT is being sent to p (sighand->lock held): what the parent is to be told, 0 or CLD_x. */
int group_continue_held(struct process *p);
void notify_parent_stop_locked(struct process *p, int why);
bool pgrp_orphaned_locked(u32 pgid, const struct process *except);

/* pidfd.c */
/* fd and file are ready but not installed. *file gets a reference. fd or -errno. */
int pidfd_prepare(struct process *p, u32 flags, struct file **file);
struct process *pidfd_process(int fd);	/* with a reference; ERR_PTR(-EBADF) */

/* user accounts, creds.c */
int task_set_user(struct task *t, u32 uid);	/* current or a task in the making: 0, -EAGAIN (OOM) */
void creds_exec(struct cred *c, u32 mode, u32 fuid, u32 fgid, bool nosuid, bool *secure);

#endif
