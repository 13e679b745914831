/* SPDX-License-Identifier: MIT */
/*
 * The scheduler: per-CPU run queues; SCHED_FIFO/RR by priority above SCHED_OTHER by weighted
 * virtual runtime; idle CPUs stop their tick. rq->lock (irqsave) guards a queue and the (r)
 * members of its tasks; a second queue is only ever tried.
 */
#ifndef PERCH_SCHED_H
#define PERCH_SCHED_H

#include <perch/task.h>

#define SCHED_OTHER	0
#define SCHED_FIFO	1
#define SCHED_RR	2
#define SCHED_BATCH	3
#define SCHED_IDLE	5
#define SCHED_RESET_ON_FORK 0x40000000

/* Give up the CPU. The caller has set its state (TASK_RUNNING: just yield). Process context, no
 * spinlock held (asserted); IRQ state is kept. */
void schedule(void);
void cond_resched(void);	/* if need_resched */
/* Make t runnable if its state is in mask. True if it was asleep. Any context. */
bool wake_up_state(struct task *t, u32 mask);
static inline bool wake_up_task(struct task *t)
{
	return wake_up_state(t, TASK_INTERRUPTIBLE | TASK_UNINTERRUPTIBLE | TASK_KILLABLE);
}
void wake_up_new_task(struct task *t);	/* first time; picks a CPU */
/* Poke t so that it notices new TIF flags: wakes it if state is in mask, else interrupts its CPU. */
void kick_task(struct task *t, u32 mask);
void set_task_flag(struct task *t, u32 tif);	/* atomic or; no kick */

int set_policy(struct task *t, int policy, int prio, int nice);	/* -errno after checks by caller */
int set_affinity(struct task *t, u64 mask);	/* moves it off forbidden CPUs before returning; -EINVAL if empty */
void sched_fork(struct task *child);
void sched_init(void);			/* boot CPU */
void sched_init_cpu(void);		/* each CPU: becomes its idle task */
void cpu_idle(void) __noreturn;		/* loop of the idle tasks */
void sched_tick(void);			/* 4 ms timer, IRQs off */
/* Keep the 4 ms tick going on this CPU although it would stop (perf freq mode, throttling):
 * counted; own CPU, IRQs off. */
void sched_tick_get(void);
void sched_tick_put(void);
/* Bring t->ru.utime_ns and stime_ns up to now (they do not move by themselves): call it before reading them,
 * and for current before its ru is added to the process's dead_threads. Any context. */
void task_account(struct task *t);
u64 task_exec_ns(struct task *t);	/* sum_exec including the running part; any context */
bool task_running(struct task *t);	/* on a CPU right now (racy unless on that CPU) */

struct cpu_times { u64 user, nice, system, idle, iowait, irq, softirq; };	/* ns */
void cpu_times(u32 cpu, struct cpu_times *out);
u64 nr_context_switches(void);		/* all CPUs, since boot */
u32 nr_running(void);
u32 nr_blocked(void);
void loadavg(u64 out[3]);		/* fixed point, 1 << 16 */

/* arch: switch stacks and registers. Called with rq lock held, IRQs off; returns the task that
 * ran before on this CPU. */
struct task *arch_switch_to(struct task *prev, struct task *next);
/* First thing a new task does (from ret_from_fork): releases the rq lock. */
void schedule_tail(struct task *prev);
void arch_mm_switch(struct mm *mm);	/* load a page table (NULL: kernel only) */

#endif
