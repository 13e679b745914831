/* SPDX-License-Identifier: MIT */
/* What the files of kernel/time share. */
#ifndef KERNEL_TIME_TIME_H
#define KERNEL_TIME_TIME_H

#include <perch/time.h>
#include <perch/wait.h>

#define CLOCK_REALTIME		0
#define CLOCK_MONOTONIC		1
#define CLOCK_PROCESS_CPUTIME_ID 2
#define CLOCK_THREAD_CPUTIME_ID	3
#define CLOCK_MONOTONIC_RAW	4
#define CLOCK_REALTIME_COARSE	5
#define CLOCK_MONOTONIC_COARSE	6
#define CLOCK_BOOTTIME		7
#define CLOCK_REALTIME_ALARM	8
#define CLOCK_BOOTTIME_ALARM	9
#define CLOCK_TAI		11
#define TIMER_ABSTIME		1

/* A CPU clock of a process or thread by number: (~id << 3) | per thread 4 | which. */
#define CPUCLOCK_PROF		0	/* user + system */
#define CPUCLOCK_VIRT		1	/* user */
#define CPUCLOCK_SCHED		2	/* exec clock */
#define CPUCLOCK_THREAD		4

extern struct waitq realtime_wq;	/* woken when CLOCK_REALTIME is set */
void posix_timers_clock_set(void);	/* then re-arm absolute timers on it. Any context */

/* Is clockid one whose time passes like monotonic time? *offset: what to add to monotonic. */
bool clock_is_wall(int clockid);		/* REALTIME and its kin */
bool clock_is_coarse(int clockid);		/* shows the last tick */
bool clock_is_running(int clockid);		/* any but CPU-time clocks */
s64 clock_offset(int clockid);
long clock_alarm_allowed(int clockid);		/* -EPERM: an alarm clock without CAP_WAKE_ALARM */

/* CPU clocks (cpuclock.c). Value in ns or -EINVAL. Process context. */
bool clock_is_cpu(int clockid);
s64 cpuclock_ns(int clockid);
u64 process_exec_ns(struct process *p);

/* Next expiry after now of a timer with this interval that expired at last; *missed: how many in
 * between are skipped. Steps are at least TIMER_MIN_STEP from now, so that a timer with a tiny
 * interval cannot keep a CPU busy. */
ktime timer_forward(ktime last, ktime interval, ktime now, u64 *missed);
#define TIMER_MIN_STEP	(20 * NSEC_PER_USEC)

/* Absolute monotonic deadline of a relative or absolute time on a clock; saturates. */
ktime clock_deadline(int clockid, ktime t, bool absolute);

#endif
