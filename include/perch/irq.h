/* SPDX-License-Identifier: MIT */
/*
 * Interrupt lines. Numbers are GIC INTIDs (PPI n is 16+n, SPI n is 32+n). The handler runs on
 * the CPU that took the interrupt with IRQs off; it must not sleep.
 */
#ifndef PERCH_IRQ_H
#define PERCH_IRQ_H

#include <perch/types.h>

struct pt_regs;
typedef void (*irq_handler)(u32 intid, struct pt_regs *regs, void *arg);

/* Register a handler (all CPUs; a PPI must also be enabled on each CPU by irq_enable_percpu).
 * An SPI is enabled at once, routed to CPU 0. name is shown in /proc/interrupts.
 * Returns 0, -EBUSY if taken, -EINVAL if out of range. Process context. */
int irq_request(u32 intid, irq_handler fn, void *arg, const char *name);
void irq_enable_percpu(u32 intid);	/* own CPU */
/* Take no more interrupts from the line: a PPI on this CPU, an SPI at all. Any context. */
void irq_mask(u32 intid);
/* Route an SPI to one CPU. Returns 0 or -EINVAL. */
int irq_set_affinity(u32 intid, u32 cpu);

/* What the timer's interrupt, which this CPU is handling, came upon; NULL outside it. */
struct pt_regs *timer_regs(void);

/* For /proc/interrupts: walk the registered lines. Returns false past the last index. */
bool irq_describe(u32 index, u32 *intid, const char **name, u64 counts[NR_CPUS]);

#endif
