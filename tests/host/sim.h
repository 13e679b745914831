/* SPDX-License-Identifier: MIT */
/*
 * A machine in one thread: CPUs, tasks, a PMU with registers, time that moves only when told.
 *
 * The core under test runs on "the current CPU" (sim.cpu). Concurrency comes from chaos points: where
 * real code could be interrupted or sleep (mutex, allocation, IPI), the simulator may first let the
 * other CPUs switch tasks, move the caller to another CPU, or run a whole system call of somebody
 * else. All of it follows a seed, so every run can be repeated.
 */
#ifndef SIM_H
#define SIM_H

#include "../../kernel/perf/core.h"

/* Registers are a place, nothing is in them. */
#define USER_REGS ((struct pt_regs *)1)
#define KERNEL_REGS ((struct pt_regs *)2)

#define SIM_CPUS 4
#define SIM_TASKS 64
#define SIM_FDS 128

struct task {
	u32 tid, tgid;
	struct perf_task *perf;
	int refs;
	int cpu;		/* runs on, -1: no */
	int last_cpu;		/* last ran on, -1: never */
	bool used, dead, idle;
	bool user_return;	/* host_user_return: perf wants to be called */
	bool embryo;		/* fork has not finished: cannot run, cannot be found */
	int uid;
};

struct host_file {
	const struct host_file_ops *ops;
	void *priv;
	int refs;
	bool async;		/* O_ASYNC */
	u32 signals[2];		/* sent: POLL_IN, POLL_HUP */
};
void host_file_put(struct host_file *f);	/* the last one releases it */

struct sim {
	u32 cpu;
	u64 now;
	struct task *curr[SIM_CPUS];
	struct task idle[SIM_CPUS];
	struct task tasks[SIM_TASKS];
	bool irq_off[SIM_CPUS];
	struct host_timer *timers;
	struct host_irq_work *works[SIM_CPUS];	/* queued, run when IRQs are on again */
	struct host_file *fds[SIM_FDS];
	u32 next_tid;
	long allocs;		/* live */
	long fail_after;	/* fail the n-th allocation from now, 0: never */
	u64 seed;
	u32 chaos;		/* percent at each chaos point */
	bool in_chaos;
	void (*chaos_call)(void);	/* somebody else's system call */
	bool may_sleep_switch;	/* the caller itself may be moved */
	u32 width;		/* of the programmable counters */
	bool late_irq;		/* overflow interrupts come late */
	bool in_kernel;		/* and then they find the CPU in the kernel */
	u32 user_frames;	/* callers of user code, 0: 2 */
	u32 cpus_online;
	int uid;
	bool capable;
	u32 lacks;		/* but not these capabilities: bit per enum host_cap */
	u64 reg_writes;		/* PMU register accesses */
	u32 pmu_caps;		/* of the next sim_start */
	u64 ticks;
	bool drift;		/* time passes with every look at the clock, as in reality */
	u32 migrations;
	/* For tests that hold a CPU in the middle of something: */
	void (*before_lock)(host_spinlock *l);
	void (*ipi_waits)(u32 cpu);	/* an IPI has to wait because that CPU has IRQs off */
};
extern struct sim sim;
extern bool sim_trace;		/* print the random program */
extern bool sim_check_each;	/* check all events after each step, which is another program */

#define ONCPU(c) for (u32 _save = sim.cpu, _once = (sim.cpu = (c), 1); _once; _once = 0, sim.cpu = _save)

void sim_start(u64 seed, u32 width);
void sim_start_caps(u64 seed, u32 width, u32 caps);
void sim_end(void);		/* everything gone? fails the test if not */
u32 sim_rand(u32 n);		/* 0..n-1 */
struct task *sim_task(void);
void sim_task_put(struct task *t);
void sim_switch(u32 cpu, struct task *next);	/* next NULL: idle. It must not run elsewhere */
void sim_advance(u64 ns);	/* all CPUs run user code */
void sim_user(u32 cpu);		/* current of that CPU goes on in user mode */
void sim_hook_advance(u64 ns);	/* model's: before time moves */
extern void (*sim_on_advance)(u64 ns);
struct task *sim_fork(bool thread);	/* by current; NULL on failure */
void sim_exit(u32 cpu);		/* current of that CPU */
long sim_open(struct perf_event_attr *a, int pid, int cpu, int group, u64 flags);
void sim_close(int fd);
long sim_read(int fd, u64 *buf, size_t n);
long sim_ioctl(int fd, u32 cmd, u64 arg);
struct perf_event *sim_event(int fd);
u32 sim_rate(u64 config);	/* events per ns */
void sim_second_pmu(u64 cpus);
extern u32 sim_traps;		/* host_sigtrap was called */
void sim_spurious(u32 cpu, u32 counter);
bool sim_user_read(u32 cpu, u32 counter, u64 *value);

/* test frame */
void fail(const char *fmt, ...) __attribute__((format(printf, 1, 2), noreturn));
#define CHECK(c) do { if (!(c)) fail("%s:%d: %s", __FILE__, __LINE__, #c); } while (0)
#define CHECK_EQ(a, b) do { long long _a = (long long)(a), _b = (long long)(b);			\
	if (_a != _b) fail("%s:%d: %s is %lld, not %lld", __FILE__, __LINE__, #a, _a, _b); } while (0)
struct test { const char *name; void (*fn)(void); };
/* TEST(name) { ... }: a test that needs no other registration. */
#define TEST(name)									\
	static void name(void);								\
	static const struct test test_##name = { #name, name };				\
	static const struct test *const test_at_##name					\
		__attribute__((used, section("host_tests"))) = &test_##name;		\
	static void name(void)
void random_run(u64 seed, u32 ops, const u8 *skip);
bool shrink(u64 seed, u32 ops);
bool steps_keep(const char *list, u32 ops, u8 *skip);

#endif
