/* SPDX-License-Identifier: MIT */
/*
 * The only door from the perf core to the kernel that hosts it.
 *
 * A host supplies <perch/perf_host_types.h> on its include path and implements the functions
 * below. kernel/perfhost.c is Perch's; tests/host is the simulated machine. Nothing in
 * kernel/perf includes any other header of the kernel, except three that are pure C
 * (<perch/types.h>, <perch/list.h>, <perch/errno.h>).
 *
 * Contexts: P process, may sleep, IRQs on, no spinlock held; A any context, IRQs on or off;
 * O IRQs off ("owner": the caller cannot lose its CPU).
 * Functions that can fail return 0 or a negative errno.
 *
 * perf_host_types.h must define, preferably inline, because they are on hot paths (and may define any
 * other function of this header inline, too):
 *   host_spinlock           with HOST_SPIN_INIT and host_spin_init(l), host_spin_lock(l),
 *                           host_spin_unlock(l): IRQ state is the caller's business (always O),
 *                           host_spin_lock_nested(l): a second one, in an order that the caller knows,
 *                           bool host_spin_held(l): by somebody (for asserts only)
 *   host_mutex              host_mutex_init(m), _lock(m), _unlock(m) (P), bool host_mutex_held(m)
 *   host_waitq              host_waitq_init(q)
 *   struct host_timer       embeds whatever the host needs; see host_timer_* below
 *   struct host_irq_work    likewise
 *   u64 host_irq_save(void), void host_irq_restore(u64), bool host_irqs_off(void)   (A)
 *   u32 host_cpu(void)      number of this CPU, < HOST_MAX_CPUS (stable only in O, or while the
 *                           caller does not sleep on a kernel without preemption)
 *   u64 host_now(void)      CLOCK_MONOTONIC in ns; never goes back, not even across CPUs (A)
 *   struct task *host_current(void)                                                 (A)
 *   struct perf_task **host_task_slot(struct task *t)    the pointer that every task carries for
 *                           perf: NULL in a new task, not copied by fork, only perf writes it (A)
 *   HOST_MAX_CPUS           <= 64
 *   HOST_ASSERT(cond)       stops the machine if cond is false
 *   HOST_ASSERT_HOT(cond)   the same on a path where the test would be a good part of the work: a build
 *                           that is not for finding faults may leave it out
 *   HOST_PAUSE(name)        a place where tests may hold whoever comes by (any context); else nothing
 */
#ifndef PERF_HOST_H
#define PERF_HOST_H

#include <perch/errno.h>
#include <perch/list.h>
#include <perch/types.h>

struct pt_regs;
struct task;
struct perf_task;
struct host_ns { u64 dev, ino; };

#include <perch/perf_host_types.h>

/* --- memory and log --------------------------------------------------------------------- */

/* Zeroed memory, 16-byte aligned; NULL when out of memory. P. */
void *host_zalloc(size_t size);
void host_free(void *p);			/* NULL is fine. A */
/* A zeroed 4 KiB page that can be mapped to user space; NULL when out of memory. P. */
void *host_page_alloc(void);
void host_page_free(void *page);		/* P */
/* One line (with \n) to the kernel log. A. */
void host_log(const char *fmt, ...) __printf(1, 2);
int host_snprintf(char *buf, size_t size, const char *fmt, ...) __printf(3, 4);

/* --- CPUs -------------------------------------------------------------------------------- */

u32 host_nr_cpus(void);				/* possible CPUs: numbers are 0..n-1 */
bool host_cpu_online(u32 cpu);
/*
 * Run fn(arg) on cpu, in interrupt context with IRQs off, and return when it has finished.
 * On the caller's own CPU it runs directly with IRQs off. P (asserted: IRQs on, no spinlock;
 * sleeping mutexes may be held). Returns 0, or -ENXIO if the CPU is not online (fn not run).
 * fn must be short, must not sleep, wake anybody or call_on_cpu.
 */
int host_call_on_cpu(u32 cpu, void (*fn)(void *), void *arg);
/* Keep the 4 ms tick going on this CPU although it idles: counted. O. */
void host_tick_hold(void);
void host_tick_release(void);

/* --- one-shot timers: belong to the CPU that started them ----------------------------------- */

/* fn(t) runs on the CPU that started t, in interrupt context (O). It may start t again. */
void host_timer_init(struct host_timer *t, void (*fn)(struct host_timer *));
/* (Re)start for the absolute host_now() time. O. Not if armed on another CPU. */
void host_timer_start(struct host_timer *t, u64 when);
/* Stop t. On the CPU that armed it, O: after return fn does not run. May be called in fn. */
void host_timer_cancel(struct host_timer *t);
bool host_timer_armed(const struct host_timer *t);	/* O, same CPU */

/* --- work for later: from where no wake-up is allowed ----------------------------------------- */

/* fn(w) runs once, on this CPU, in interrupt context, at the end of the interrupt that queued it or as soon as IRQs are
 * on again; no scheduler lock is held then. There wake-ups, signals and SIGIO are allowed. */
void host_irq_work_init(struct host_irq_work *w, void (*fn)(struct host_irq_work *));
/* Queue on this CPU. False if it was queued already (then fn has yet to start). O. */
bool host_irq_work_queue(struct host_irq_work *w);
/* Wait until w is neither queued nor running anywhere. P. */
void host_irq_work_sync(struct host_irq_work *w);

/* --- tasks ------------------------------------------------------------------------------------ */

/* The thread with this id (0: current) that has not been reaped, with a reference; or NULL. P. */
struct task *host_task_find(int tid);
void host_task_get(struct task *t);		/* A */
void host_task_put(struct task *t);		/* P: the last one calls perf_task_free */
u32 host_task_tid(const struct task *t);	/* 0 for idle tasks. A */
u32 host_task_tgid(const struct task *t);	/* A */
bool host_task_is_kernel(const struct task *t);	/* kernel thread or idle: has no user registers. A */
/* 16 bytes including the 0; padded with 0. A. */
void host_task_comm(const struct task *t, char comm[16]);
#define HOST_NR_NS 7
/* current's namespaces as device and inode number: net, uts, ipc, pid, user, mnt, cgroup. P. */
void host_task_ns(struct host_ns ns[HOST_NR_NS]);
/* Process and thread id of t's parent; 0 if it has none. P. */
void host_task_parent(const struct task *t, u32 *tgid, u32 *tid);
/* Registers with which t entered the kernel from user space. t is current. NULL if is_kernel. A. */
struct pt_regs *host_task_user_regs(struct task *t);

/* --- permission: of the current task. P --------------------------------------------------------- */

enum host_cap { HOST_CAP_PERFMON, HOST_CAP_SYS_ADMIN, HOST_CAP_IPC_LOCK, HOST_CAP_KILL };
bool host_capable(enum host_cap cap);
/* May current observe t as ptrace would allow it with its real ids? */
bool host_may_observe(struct task *t);
/*
 * Hold off exec of t's process (its change of credentials and everything up to and including
 * the perf_exec hook). Taken before perf's own mutex. Returns 0 or -EINTR. P.
 */
int host_exec_guard(struct task *t);
void host_exec_unguard(struct task *t);
/* RLIMIT_MEMLOCK of the current process in bytes, UINT64_MAX for infinity. */
u64 host_memlock_limit(void);
/*
 * Pages locked for rings. host_user is the current user's account, host_mm the current address
 * space's; both counted, get returns a reference. Their counters are atomics that perf changes.
 */
struct host_user;
struct host_mm;
struct host_user *host_user_get(void);
void host_user_put(struct host_user *u);
s64 *host_user_locked_pages(struct host_user *u);
struct host_mm *host_mm_get(void);
void host_mm_put(struct host_mm *mm);
s64 *host_mm_pinned_pages(struct host_mm *mm);

/* --- user memory -------------------------------------------------------------------------------- */

/* 0 or -EFAULT. P; perf's mutex not held (a fault takes the mm lock, see README "Locks"). */
int host_copy_from_user(void *dst, u64 src, size_t n);
int host_copy_to_user(u64 dst, const void *src, size_t n);
/* Bytes copied from the start, 0..n; never faults a page in, never sleeps. A. */
size_t host_copy_from_user_nofault(void *dst, u64 src, size_t n);

/* --- interrupted registers. A ------------------------------------------------------------------- */

bool host_regs_user(const struct pt_regs *regs);	/* came from user mode */
u64 host_regs_pc(const struct pt_regs *regs);
u64 host_regs_sp(const struct pt_regs *regs);
/* Register number in the numbering of PERF_SAMPLE_REGS_*; 0 if there is none. */
u64 host_regs_get(const struct pt_regs *regs, u32 nr);
/* The first *nr registers (less than 64) in a row, in the order of their numbers; or NULL. */
const u64 *host_regs_array(const struct pt_regs *regs, u32 *nr);
u64 host_regs_mask(void);				/* the register numbers that exist */
u64 host_regs_extended(void);				/* those beyond the general ones, whether they exist or not */
/* Interrupted by the timer whose function runs. O. */
const struct pt_regs *host_timer_regs(void);
/* Registers that say where the kernel is now; valid until the next call on this CPU. O. */
const struct pt_regs *host_here_regs(void);
/*
 * Return addresses by frame pointers, innermost first, beginning with regs' pc: at most max into ips; the
 * number. The kernel's stop at the entry to the kernel; the user's (regs: user registers of current)
 * read only current's memory, without faults, and only frames that rise.
 */
u32 host_callchain_kernel(const struct pt_regs *regs, u64 *ips, u32 max);
u32 host_callchain_user(const struct pt_regs *regs, u64 *ips, u32 max);
/* Where addr of the present address space lies: physical address (may be NULL) and size of its page; 0
 * if it is not mapped. Never faults. */
void host_page_of(u64 addr, u64 *phys, u64 *size);

/* --- files ------------------------------------------------------------------------------------- */

struct host_file;		/* counted */
struct host_poll;		/* one poll() call in progress */
struct host_map_req {
	u64 pgoff;		/* offset in pages */
	u64 npages;		/* length, > 0 */
	bool shared;		/* MAP_SHARED */
	bool writable;		/* PROT_WRITE now */
};
struct host_file_ops {
	const char *name;	/* "[perf_event]" */
	/* Bytes written to the user's buf (at most n) or -errno. P. */
	long (*read)(void *priv, u64 buf, size_t n);
	/* P. arg is the third argument of ioctl(2). */
	long (*ioctl)(void *priv, u32 cmd, u64 arg);
	/* Mask of POLLIN, POLLHUP, POLLERR; calls host_poll_wait first. P. */
	u32 (*poll)(void *priv, struct host_poll *p);
	/*
	 * Map. On success *pages is an array of req->npages kernel addresses of pages from
	 * host_page_alloc that the host maps in order; it and the pages stay valid until munmap
	 * is called. mm lock held; user memory must not be touched.
	 */
	int (*mmap)(void *priv, const struct host_map_req *req, void *const **pages);
	/*
	 * The last piece of that mapping has gone (once for each successful mmap, also when the host
	 * fails after it). The mapping is not inherited by fork, does not grow and is not split.
	 * mm lock held or not. P.
	 */
	void (*munmap)(void *priv, const struct host_map_req *req);
	/* The last reference has gone and no mapping is left. P. */
	void (*release)(void *priv);
};
/* Event numbers of poll(2), as on Linux. */
#define HOST_POLLIN	0x01u
#define HOST_POLLERR	0x08u
#define HOST_POLLHUP	0x10u

/* An fd number of current, reserved; -EMFILE. P. */
int host_fd_reserve(bool cloexec);
void host_fd_unreserve(int fd);
/* A file object (O_RDWR) with one reference; NULL when out of memory. Does not call release then. ops is
 * the same in all calls. P. */
struct host_file *host_file_new(const struct host_file_ops *ops, void *priv);
/* Make it visible under the reserved number; gives the reference away. Cannot fail. P. */
void host_fd_install(int fd, struct host_file *f);
/* current's open file of this number if it was made with ops, and *priv; else its file is NULL. It stays open until
 * host_fd_put, in the same system call. P. */
struct host_fd {
	struct host_file *file;
	bool counted;		/* the host's */
};
struct host_fd host_fd_get(int fd, const struct host_file_ops *ops, void **priv);
void host_fd_put(struct host_fd f);
bool host_fd_open(int fd);			/* has current an open file of this number? P */

void host_poll_wait(struct host_poll *p, host_waitq *q);	/* P */
/* Does anybody poll? Who has begun to by host_poll_wait, and has then taken a lock that the caller holds now, is seen. A. */
bool host_waitq_active(const host_waitq *q);
/* Wake pollers for mask. From irq work or P only. */
void host_waitq_wake(host_waitq *q, u32 mask);
/* Send the O_ASYNC signal of f (SIGIO or F_SETSIG's, to its F_SETOWN owner); hup: POLL_HUP, else
 * POLL_IN. Nothing if O_ASYNC is off. From irq work or P only. */
void host_file_sigio(struct host_file *f, bool hup);
bool host_file_async(const struct host_file *f);	/* is O_ASYNC on? A */
/* perf_user_return() is to be called before t goes on in user mode. It sleeps or runs on this CPU, or is about to. O. */
void host_user_return(struct task *t);
/* SIGTRAP with TRAP_PERF to current. From perf_user_return, IRQs off. */
void host_sigtrap(u64 addr, u32 type, u64 data);

/* --- the clock that user space can compute --------------------------------------------------- */

/* host_now() == (counter * mult) >> shift for the counter that user code can read. False if it
 * cannot. A. */
bool host_user_clock(u32 *mult, u32 *shift, u64 *counter);
/* Time of another clockid in ns (CLOCK_REALTIME 0, TAI 11 ...). A. */
u64 host_clock(int clockid);

#endif
