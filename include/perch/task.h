/* SPDX-License-Identifier: MIT */
/*
 * Tasks (threads) and processes (thread groups).
 *
 *   process 1 --- n task;  task -> mm, files, fs, sighand (shared as clone() says)
 *
 * task_lock (one irqsave spinlock, kernel/task) guards the trees: the pid table, process
 * children/sibling lists, thread lists, session and group ids, exit state and wait status.
 * Lock order: task_lock -> sighand->lock -> rq lock. Members say which lock they want:
 *   (I) immutable after creation  (o) own task only  (t) task_lock  (s) sighand->lock
 *   (r) run queue lock            (a) atomic
 */
#ifndef PERCH_TASK_H
#define PERCH_TASK_H

#include <asm/thread.h>		/* struct thread: saved registers, FP state, TLS */
#include <perch/cred.h>
#include <perch/debug.h>
#include <perch/heap.h>
#include <perch/list.h>
#include <perch/seccomp.h>
#include <perch/signal.h>
#include <perch/syscall.h>
#include <perch/time.h>
#include <perch/types.h>
#include <perch/wait.h>

struct files;
struct fs_context;
struct mm;
struct perf_task;
struct tty;
struct itimer;

#define TASK_COMM_LEN 16

/* task.flags: looked at on every return to user space. (a) */
#define TIF_SIGPENDING	0x01
#define TIF_NEED_RESCHED 0x02
#define TIF_NOTIFY	0x04	/* task_notify() has work (perf sigtrap and the like) */
#define TF_RESTORE_SIGMASK 0x08	/* saved_sigmask is to be put back by do_signal */
#define TIF_WORK	(TIF_SIGPENDING | TIF_NEED_RESCHED | TIF_NOTIFY)
#define TF_KTHREAD	0x100
#define TF_IDLE		0x200
#define TF_EXITING	0x400
#define TF_FORKNOEXEC	0x1000
#define TF_VFORK	0x2000		/* vfork_done is awaited */

struct rusage_counts {
	u64 utime_ns, stime_ns;
	u64 minflt, majflt, nvcsw, nivcsw;
	u64 maxrss;		/* pages */
	u64 rchar, wchar, syscr, syscw;	/* bytes and calls of read and write, for /proc/PID/io */
};

/* All members are (r), kernel/sched's own; others use the functions of sched.h. */
struct sched_entity {
	struct heap_node fair;	/* in the fair queue; key: weighted virtual runtime, ns */
	struct list node;	/* in a real-time queue */
	u64 sum_exec;		/* ns on CPU, whole life */
	u64 slice_left;		/* ns, SCHED_RR */
	u64 user_ticks, system_ticks;	/* samples that split sum_exec into user and system time */
	u32 weight;		/* from nice */
	int last_cpu;		/* where it really ran last; -1: never */
	bool queued;		/* waits in a run queue (not: runs) */
};

struct task {
	/* arch code knows these offsets through asm-offsets: keep them first. */
	u32 flags;			/* TIF_, TF_ (a) */
	u32 state;			/* TASK_ state (r for wake-up; own task sets it) */
	void *stack;			/* kernel stack base (I) */
	const syscall_fn *syscalls;	/* syscall_table, or what asks the filters first (t writes) */
	refcount refs;			/* the pid table, the scheduler, whoever looked it up */
	u32 pid;			/* thread id (I) */
	struct thread thread;		/* arch (o, saved at switch) */

	u32 tgid;			/* process id (I, except exec by a non-leader) */
	char comm[TASK_COMM_LEN];	/* (o writes; readers tolerate tearing) */
	struct process *proc;		/* (I) */
	struct list thread_node;	/* proc->threads (t) */
	struct mm *mm;			/* NULL for kernel threads (o; others use task_get_mm) */
	spinlock alloc_lock;		/* others' view of mm, files, fs */
	struct files *files;		/* (o; others under alloc_lock) */
	struct fs_context *fs;		/* (o; others under alloc_lock) */
	struct cred cred;		/* (o) */
	struct user *user;		/* account of cred.uid; reference (o writes under t) */
	struct seccomp seccomp;		/* (t writes, o reads) */

	/* scheduling */
	struct sched_entity se;
	u32 cpu;			/* where it runs or last ran (r) */
	bool on_cpu;			/* really running, registers not yet saved (a) */
	int policy, rt_prio, nice;	/* (r) */
	bool reset_on_fork;
	u64 cpus_allowed;		/* (r) */
	u32 nr_migrations;
	struct rusage_counts ru;	/* (o) */
	ktime start_time;		/* ns since boot (I) */
	ktime acct_stamp;		/* user/system time accounting (o) */
	ktime slack_ns;

	/* signals */
	struct sighand *sighand;	/* (I until exit) */
	struct sigpending pending;	/* (s) */
	sigset blocked;			/* (o writes under s) */
	sigset saved_sigmask;		/* (o) */
	sigset real_blocked;		/* the mask while sigtimedwait lifts it (s) */
	u32 jobctl;			/* JC_x (s) */
	struct { uaddr sp; u64 size; u32 flags; } altstack;	/* (o) */
	struct { long (*fn)(struct task *); u64 arg[6]; } restart;	/* restart_syscall (o) */

	/* exit and wait */
	int exit_code;			/* wait status (t) */
	int exit_signal;		/* sent to the parent at exit; -1 for a thread (t) */
	u32 exit_state;			/* 0, 1 zombie, 2 reaped (t) */
	int pdeath_signal;		/* (o) */
	struct completion *vfork_done;	/* (t) */
	u32 __user *clear_child_tid;	/* (o) */
	u32 __user *set_child_tid;	/* (o) */
	uaddr robust_list;		/* (o) */

	/* perf */
	struct perf_task *perf;		/* kernel/perf owns it; NULL: no event was ever here */

	/* namesake odds and ends */
	u64 personality;
	void *journal;			/* free for debug */
	struct list pid_node;		/* pid hash (t) */
	struct list timer_list;		/* reserved */
	int mempolicy; u64 mempolicy_nodes;
	char *perf_refusal;		/* text of the last refused perf_event_open, or NULL (o) */
	bool in_execve;
	u8 epoll_depth;		/* locks of epoll instances that it holds, one above the other; own task */
	bool frozen_stop;		/* stopped by job control (s) */
	struct task *free_next;		/* list of dead tasks that wait to be freed */
#ifdef PERCH_LOCKCHECK
	struct held_locks held;		/* mutexes (o) */
	struct failpoint fail;		/* (o) */
#endif
};
#define JC_STOP_PENDING	1		/* a group stop is on and this thread has yet to join it */

#define RLIM_NLIMITS 16
#define RLIMIT_CPU 0
#define RLIMIT_FSIZE 1
#define RLIMIT_DATA 2
#define RLIMIT_STACK 3
#define RLIMIT_CORE 4
#define RLIMIT_RSS 5
#define RLIMIT_NPROC 6
#define RLIMIT_NOFILE 7
#define RLIMIT_MEMLOCK 8
#define RLIMIT_AS 9
#define RLIMIT_LOCKS 10
#define RLIMIT_SIGPENDING 11
#define RLIMIT_MSGQUEUE 12
#define RLIMIT_NICE 13
#define RLIMIT_RTPRIO 14
#define RLIMIT_RTTIME 15
#define RLIM_INFINITY UINT64_MAX
struct rlimit64 { u64 cur, max; };

struct process {
	refcount refs;			/* its tasks + lookups */
	u32 pid;			/* = leader's pid (I) */
	u32 pgid, sid;			/* (t) */
	struct task *leader;		/* (t) */
	struct list threads;		/* of task.thread_node (t) */
	u32 nr_threads;			/* (t) */
	u32 nr_live;			/* threads that have not begun to exit (t) */
	struct process *parent;		/* never NULL except for init and kernel threads (t) */
	struct list children;		/* of process.sibling (t) */
	struct list sibling;		/* (t) */
	struct waitq wait_child;	/* wait4 sleeps here */
	bool subreaper;
	bool exec_done;			/* setpgid of a child is refused after it (t) */
	struct tty *tty;		/* controlling terminal (t) */
	struct rlimit64 rlim[RLIM_NLIMITS];	/* (t) */
	struct sigpending shared_pending;	/* (s) */
	/* group exit and job control (s) */
	bool group_exit;
	int group_exit_code;
	struct task *group_exec_task;	/* the thread that execs while others die */
	u32 stop_count;			/* threads that have still to stop */
	int stop_signal;		/* group stop in progress or done */
	bool stopped, stop_reported, continued;
	bool stop_dequeued;		/* a stop signal was taken; SIGCONT and SIGKILL clear it */
	bool unkillable;		/* init: signals without a handler do nothing */
	/* accounting of exited threads and reaped children (t) */
	struct rusage_counts dead_threads, children_ru;
	/* timers */
	struct itimer *itimers;		/* setitimer/timer_create state, allocated on use (t) */
	struct mutex exec_lock;		/* held by exec while credentials, mm and perf state change */
	u64 oom_score_adj;
	bool is_init;
	bool reaped;			/* out of the tables (t) */
	u32 exec_id, parent_exec_id;	/* exit_signal is only believed while the parent's matches (t) */
	struct waitq pidfd_wq;		/* pidfds poll here: exit and reaping */
};

/* A soft limit of current's process. */
u64 rlimit(u32 resource);

extern spinlock task_lock;
extern struct process *init_process;
extern u32 nr_tasks, total_forks;	/* (t) */
extern u32 last_pid;			/* the latest one given out (t) */

/* Lookups. With a reference for the caller (task_put), or NULL. Any context. */
struct task *task_find_get(u32 pid);
struct process *process_find_get(u32 pid);
void task_get(struct task *t);
void task_put(struct task *t);		/* last put frees; process context, or deferred otherwise */
void process_put(struct process *p);
struct process *pidfd_process(int fd);	/* of a pidfd of current, with a reference; ERR_PTR(-EBADF) */
/* Walk all processes / the threads of one: caller holds task_lock. */
struct process *process_next(u32 pid_min);	/* with the smallest pid >= pid_min, or NULL */

/*
 * Kernel threads. cpu -1: anywhere. ERR_PTR on OOM. Not running yet: the caller passes the task to
 * wake_up_new_task() and may hold on to it only with a reference of its own. The first one gets pid 1
 * and becomes init. fn's return ends the thread, unless kernel_execve had succeeded: then it goes to
 * user space with task_pt_regs(current). (arch: when the function given to arch_kthread_thread
 * returns, leave to user mode through exit_to_user_work.)
 */
struct task *kthread_create(int (*fn)(void *), void *arg, int cpu, const char *fmt, ...) __printf(4, 5);

/* clone(): everything from clone3's arguments. Returns the child's pid or -errno. */
struct clone_args_k {
	u64 flags;
	int exit_signal;
	uaddr stack, tls;
	u32 __user *parent_tid, *child_tid;
	int __user *pidfd;
	u32 set_tid;
};
long do_fork(const struct clone_args_k *a, struct pt_regs *regs);
/* arch: prepare the child's thread so that its first switch-in goes to ret_from_fork with a copy of
 * regs, x0 = 0 (user) or calls fn(arg) (kernel thread). */
void arch_fork_thread(struct task *child, const struct pt_regs *regs, uaddr stack, uaddr tls, bool settls);
void arch_kthread_thread(struct task *child, int (*fn)(void *), void *arg);
void arch_exec_thread(struct pt_regs *regs, uaddr entry, uaddr sp);	/* fresh user registers */
void arch_flush_thread(struct task *t);		/* exec: FP state and TLS to zero */

void do_exit(int code) __noreturn;		/* this thread; code is a wait status */
void do_group_exit(int code) __noreturn;	/* the process */
/* execve. Path and strings are in user space (or kernel for init). 0: regs now start the program. */
int do_execve(int dirfd, const char *kpath, const char __user *const __user *argv,
	      const char __user *const __user *envp, int flags);
int kernel_execve(const char *path, const char *const argv[], const char *const envp[]);

/* The tail of a system call or interrupt before user mode: work in TIF_WORK order. IRQs off in/out. */
void exit_to_user_work(struct pt_regs *regs);
void task_notify(void);		/* its TIF_NOTIFY part: frees dead tasks. Clears the flag. IRQs on */
struct pt_regs *task_pt_regs(struct task *t);	/* saved user registers at the stack top */

void task_set_comm(struct task *t, const char *comm);	/* tells perf; exec: true when by exec */
/* user+system time of a process including dead threads, ns. */
void process_times(struct process *p, struct rusage_counts *out);
extern u32 max_threads;		/* kernel.threads-max; set at the first fork */

#endif
