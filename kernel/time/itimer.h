/* SPDX-License-Identifier: MIT */
/* A process's interval timers: the three of setitimer and those of timer_create. */
#ifndef KERNEL_TIME_ITIMER_H
#define KERNEL_TIME_ITIMER_H

#include <perch/spinlock.h>
#include <perch/task.h>

#include "time.h"

/* ITIMER_VIRTUAL or ITIMER_PROF: due when the process's CPU time passes expires. */
struct cpu_itimer {
	u64 expires;		/* ns of the clock; 0: off */
	u64 interval;		/* ns */
};

/* One for a process, made when it first asks for a timer; freed at its exit. */
struct itimer {
	spinlock lock;		/* irqsave; before task_lock */
	struct process *proc;	/* I: it owns us */
	struct timer real;	/* lock */
	ktime real_interval;	/* lock */
	struct cpu_itimer virt, prof;	/* lock */
	struct list timers;	/* posix_timer.node; lock */
	u32 nr_timers;		/* lock */
	int next_id;		/* lock */
	bool cpu_work;		/* some CPU-time timer may be on: looked at by the tick */
};

/* The process's structure, made if need be; NULL when out of memory. Process context. */
struct itimer *itimer_of(struct process *p);

/* posix_timer.c. Due timers of CPU clocks; true if any is still on. IRQs off, no lock held. */
bool posix_cpu_timers_check(struct itimer *it);
void posix_timers_free(struct itimer *it);	/* process context */

#endif
