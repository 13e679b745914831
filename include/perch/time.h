/* SPDX-License-Identifier: MIT */
/*
 * Clocks and one-shot timers. There is no periodic tick: each CPU programs its timer for the
 * earliest of its timers (and the scheduler keeps a 4 ms tick timer only while it needs one).
 */
#ifndef PERCH_TIME_H
#define PERCH_TIME_H

#include <perch/heap.h>
#include <perch/list.h>
#include <perch/types.h>

struct process;
struct task;

/* Nanoseconds since boot (CLOCK_MONOTONIC = BOOTTIME = MONOTONIC_RAW). Any context. From the
 * generic timer's counter with a fixed mult/shift (the same the vDSO and perf pages use). */
ktime ktime_now(void);
/* ns = (counter * mult) >> shift, exactly what ktime_now computes (with 128-bit product). */
void ktime_params(u32 *mult, u32 *shift);
u64 timer_counter(void);		/* CNTVCT_EL0 */
u64 timer_freq(void);			/* CNTFRQ in Hz */
/* CLOCK_REALTIME = monotonic + this; set from the RTC at boot and by clock_settime. */
s64 realtime_offset(void);
/* Make CLOCK_REALTIME read ns (since 1970) now. Any context. */
void realtime_set(s64 ns);

/*
 * A one-shot timer. Owned by its embedding object; belongs to one CPU while armed (the one
 * that armed it). fn runs in interrupt context on that CPU with IRQs off and may re-arm it.
 */
struct timer {
	struct heap_node node;	/* kernel/time private: ordered by expires */
	ktime expires;
	void (*fn)(struct timer *);
	int cpu;		/* CPU whose queue holds it, -1 if none */
};
void timer_setup(struct timer *t, void (*fn)(struct timer *));
/* Arm (or re-arm) for the absolute monotonic time. Any context. */
void timer_start(struct timer *t, ktime expires);
/* Remove. True if it was armed and will not run. Any context, may be called in fn. */
bool timer_cancel(struct timer *t);
/* timer_cancel, then wait until fn is not running on another CPU. Not from fn, no lock that fn
 * takes held. */
bool timer_cancel_sync(struct timer *t);
bool timer_armed(const struct timer *t);

void time_init(void);			/* boot CPU: clock and RTC */
void timer_init_cpu(void);		/* each CPU, after its interrupt controller; IRQs off */
void timer_interrupt(void);		/* arch timer handler calls this, IRQs off */
/* arch: program this CPU's comparator for an absolute monotonic time (KTIME_MAX: off). */
void arch_timer_program(ktime expires);
void arch_timer_init_cpu(void);		/* arch: comparator off, its interrupt on */
#define KTIME_MAX INT64_MAX

/*
 * Interval timers of a process (setitimer, timer_create). exec: the process keeps its itimers and loses
 * its POSIX timers; exit: the last thread of a process has no more use for any. Process context, own
 * process, no lock held.
 */
void itimers_exec(struct process *p);
void itimers_exit(struct process *p);
/* For sched_tick: t's process may have CPU-time timers that are due. IRQs off, own CPU, no lock held. */
void itimers_tick(struct task *t);

/* The value of a clock id (CLOCK_x, or a CPU clock of current's process) in ns; -EINVAL for an unknown
 * one. Not for the CPU-time clocks of others. Process context for CPU clocks, else any. */
s64 clock_ns(int clockid);

/* Sleep until the monotonic time; interruptible returns -EINTR on a signal. Process context. */
void sleep_until(ktime t);
int sleep_until_interruptible(ktime t);

struct timespec64 { s64 tv_sec; s64 tv_nsec; };	/* as user space lays it out */
struct timeval64 { s64 tv_sec; s64 tv_usec; };
static inline bool timespec_valid(const struct timespec64 *t)
{
	return t->tv_sec >= 0 && (u64)t->tv_nsec < NSEC_PER_SEC;
}
/* Saturates at KTIME_MAX. */
static inline ktime timespec_to_ktime(const struct timespec64 *t)
{
	if (t->tv_sec >= KTIME_MAX / NSEC_PER_SEC)
		return KTIME_MAX;
	return t->tv_sec * NSEC_PER_SEC + t->tv_nsec;
}
static inline struct timespec64 ktime_to_timespec(ktime t)
{
	return (struct timespec64){ t / NSEC_PER_SEC, t % NSEC_PER_SEC };
}

#endif
