/* SPDX-License-Identifier: MIT */
/*
 * Everything the kernel calls in the perf core, and nothing else.
 *
 * Contexts: P process context, may sleep, IRQs on, no spinlock held. O IRQs off.
 * The hooks on hot paths are inline: one load of a global and one predictable branch while
 * nobody uses what they feed. "May fail" means negative errno.
 */
#ifndef PERCH_PERF_H
#define PERCH_PERF_H

#include <perch/types.h>

struct pt_regs;
struct task;
struct perf_why;

/* --- start ------------------------------------------------------------------------------------- */

/* Once on the boot CPU, P, when allocation, timers and current work. Calls perf_cpu_online for
 * that CPU. PMU drivers may register before or after. */
void perf_init(void);
/* On every other CPU as it comes up, on that CPU, O. */
void perf_cpu_online(void);

/* --- system calls -------------------------------------------------------------------------------- */

/* perf_event_open(2). attr is a user address. Returns an fd or -errno. P. */
long sys_perf_event_open(u64 attr, int pid, int cpu, int group_fd, u64 flags);
/* prctl(PR_TASK_PERF_EVENTS_DISABLE=31 / _ENABLE=32): the events that current has opened. P. */
long perf_prctl(bool enable);

/* --- the life of a task --------------------------------------------------------------------------- */

/*
 * In fork/clone, in the parent, before child can run or be found by its id; its slot
 * (host_task_slot) is NULL. Copies inherited events. May fail (-ENOMEM): then fork must fail with
 * that error; nothing is left behind. P.
 */
#define PERF_FORK_THREAD	1u	/* CLONE_THREAD */
#define PERF_FORK_NO_HANDLERS	2u	/* CLONE_CLEAR_SIGHAND */
int perf_fork(struct task *child, u32 flags);
/* Fork failed after perf_fork had succeeded: undo it. child never ran. P. */
void perf_fork_undo(struct task *child);
/* The child exists (has its id and parent) and is about to be made runnable: side-band FORK. P. */
void perf_forked(struct task *child);
/*
 * current exits: after its last user instruction, before its mm and fds go (fds may go before).
 * Every event of it stops here; it will be in no context afterwards. Called once. P.
 */
void perf_exit(struct task *current_task);
/* The last reference to t has gone: free what perf kept. P. Also for tasks that never ran. */
void perf_task_free(struct task *t);
/*
 * execve of current has passed the point of no return; new credentials, mm and comm are set.
 * enable_on_exec and remove_on_exec happen here, and COMM_EXEC. privileged: the exec changed the
 * credentials (set-id): then all events of the task are taken away, with an EXIT record. Between
 * host_exec_guard and unguard of the exec path. P.
 */
void perf_exec(bool privileged);
/* comm of t changed without an exec (prctl, /proc/PID/comm). P. */
void perf_comm(struct task *t);

/* --- the scheduler --------------------------------------------------------------------------------- */

extern u32 perf_switch_users;	/* contexts and events that care about switches; written under perf's locks */
void perf_sched_switch_slow(struct task *prev, struct task *next, bool preempt, bool migrated);
/*
 * On every context switch, on this CPU, right before the registers of next are loaded; current is
 * still prev. O, under the run-queue lock (no wake-ups are made from here). prev or next may be an
 * idle task. preempt: prev stays runnable. migrated: next last ran on another CPU (a new task's
 * first placement is no migration). It must be called for the first switch to a new task, too, and
 * for the last one away from a task that has exited.
 */
static inline void perf_sched_switch(struct task *prev, struct task *next, bool preempt,
				     bool migrated)
{
	if (unlikely(READ_ONCE(perf_switch_users)))
		perf_sched_switch_slow(prev, next, preempt, migrated);
}

/* After host_user_return(): current goes on in user mode as soon as this is done. P. */
void perf_user_return(void);

extern u32 perf_tick_users[];	/* per CPU: rings in frequency mode, throttled events, PMUs without interrupt */
void perf_tick_slow(void);
/* On each 4 ms tick of this CPU, from its interrupt. O. */
static inline void perf_tick(u32 cpu)
{
	if (unlikely(READ_ONCE(perf_tick_users[cpu])))
		perf_tick_slow();
}

/* --- software events ------------------------------------------------------------------------------- */

enum perf_fault_kind { PERF_FAULT_MINOR, PERF_FAULT_MAJOR };

/* How many events of each software id (PERF_COUNT_SW_x) exist. */
extern u32 perf_sw_users[12];
void perf_sw_event_slow(u32 id, u64 n, struct pt_regs *regs, u64 addr);
/* n more of software event id happened to current at regs (NULL: at this point of the kernel). addr:
 * data address or 0. Any context. */
static inline void perf_sw_event(u32 id, u64 n, struct pt_regs *regs, u64 addr)
{
	if (unlikely(READ_ONCE(perf_sw_users[id])))
		perf_sw_event_slow(id, n, regs, addr);
}

/* A page fault of current was resolved: PAGE_FAULTS is counted at each fault (also one that
 * ends in a signal, call perf_page_fault_any for it first), then MIN or MAJ when resolved. P. */
static inline void perf_page_fault_any(struct pt_regs *regs, u64 addr)
{
	perf_sw_event(2, 1, regs, addr);
}
static inline void perf_page_fault(enum perf_fault_kind kind, struct pt_regs *regs, u64 addr)
{
	perf_sw_event(kind == PERF_FAULT_MAJOR ? 6 : 5, 1, regs, addr);
}

/* current's user code was trapped reading a counter. True: it has events that it may read so, and
 * they were taken off its hands this very moment: let it read 0. False: SIGILL. P. */
bool perf_user_read_trap(void);

/* --- mappings of current's address space: side-band MMAP/MMAP2 -------------------------------------- */

/* What perf wants to know of a mapping; path is a kernel string ("//anon", "[heap]", "[stack]",
 * "[vdso]", or a file's path) valid during the call. */
struct perf_mapping {
	u64 start, len, pgoff;		/* bytes; pgoff of start in bytes */
	u32 prot;			/* PROT_x */
	u32 flags;			/* MAP_SHARED or MAP_PRIVATE, MAP_DENYWRITE 0x800 ... as Linux shows */
	u32 dev_major, dev_minor;
	u64 ino, ino_generation;	/* 0 for anonymous */
	const char *path;
	u8 build_id[20];
	u32 build_id_size;		/* 0: it has none, or nobody wants it */
};
extern u32 perf_mmap_users;	/* events that ask for mmap records: test before collecting a path */
/* A new mapping (also by exec, mremap, brk growth as Linux reports them). mm lock may be held. P. */
void perf_mmap(const struct perf_mapping *m);
static inline bool perf_wants_mmap(void)
{
	return unlikely(READ_ONCE(perf_mmap_users));
}

extern u32 perf_build_id_users;	/* of these, the ones that want build ids */
static inline bool perf_wants_build_id(void)
{
	return READ_ONCE(perf_build_id_users);
}

/* --- /proc/sys/kernel -------------------------------------------------------------------------------- */

/* Write: range checks as Linux; names without the directory. All P. */
struct perf_sysctl {
	const char *name;	/* "perf_event_paranoid" ... */
	int value;
	int min, max;		/* outside: EINVAL */
};
extern struct perf_sysctl perf_sysctls[];	/* ends with name NULL */
/* Set it: 0, -EINVAL (range), -EBUSY (perf_event_max_stack and _max_contexts_per_stack while in use). The
 * caller has checked the file's mode (0644, root). */
int perf_sysctl_set(struct perf_sysctl *s, int value);

/* --- /sys/bus/event_source/devices ------------------------------------------------------------------- */

/* PMUs are numbered 0.. and never go away. Name of the i-th, NULL behind the last. */
const char *perf_sysfs_pmu(u32 i);
/*
 * The j-th file of PMU i: *dir is "format", "events", "caps" or NULL for the top directory; *mode
 * 0444 or 0644. False behind the last. Directories exist only if they have files; Linux keeps
 * hardware PMUs under devices/platform/pmu/ and "software" in devices/.
 */
bool perf_sysfs_file(u32 i, u32 j, const char **dir, const char **name, u32 *mode);
/* Its contents into buf: length or -errno. P. */
long perf_sysfs_read(u32 i, u32 j, char *buf, size_t size);
/* text is 0-terminated. 0 or -errno (-EACCES for a read-only file). P. */
int perf_sysfs_write(u32 i, u32 j, const char *text);

/* --- /proc --------------------------------------------------------------------------------------------- */

/* /proc/PID/perf_refusal: one line "errno field value reason\n" about t's last refused
 * perf_event_open, or an empty text. Length or -errno. P. */
long perf_refusal_text(struct task *t, char *buf, size_t size);
/* /proc/perch/perf_stats: lines "name value\n" of live objects and totals. Length or -errno. P. */
long perf_stats_text(char *buf, size_t size);

#endif
