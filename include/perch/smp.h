/* SPDX-License-Identifier: MIT */
/*
 * Cross-CPU work. A request lives on the caller's stack; a waiter serves its own queue while
 * it waits, so two CPUs that call each other cannot deadlock.
 */
#ifndef PERCH_SMP_H
#define PERCH_SMP_H

#include <perch/types.h>

/* Run fn(arg) on cpu with IRQs off (interrupt context there) and wait for it. On the own CPU
 * it runs at once with IRQs off. Context: process, IRQs on, no spinlock held (asserted).
 * Returns 0, or -ENXIO if cpu is not online. */
int call_on_cpu(u32 cpu, void (*fn)(void *), void *arg);

/* Ask cpu to look at need_resched. Any context. */
void smp_send_resched(u32 cpu);

/*
 * irq work: run fn(w) on this CPU soon, in interrupt context with IRQs off, once interrupts
 * are enabled again: for callers that hold locks a wake-up may not be made under. Any context,
 * own CPU only. Returns false, and does nothing, when the item is queued already (fn has not started).
 */
struct irq_work {
	struct irq_work *next;
	void (*fn)(struct irq_work *);
	bool queued;
};
bool irq_work_queue(struct irq_work *w);
/* Wait until w is not queued and not running on any CPU. Process context, IRQs on. */
void irq_work_sync(struct irq_work *w);

/* Bring up the other CPUs found in the device tree. Boot CPU, once, scheduler ready. */
void smp_init(void);
/* Stop all other CPUs (panic, power off). Any context. */
void smp_stop_others(void);

/* Called by arch code on IPI_CALL: runs queued call_on_cpu requests. IRQs off. */
void smp_handle_call(void);
/* Called by arch code at the end of an interrupt, still in it, if this_cpu()->irq_work is not empty. IRQs off. */
void irq_work_run(void);

#endif
