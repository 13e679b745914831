/* SPDX-License-Identifier: MIT */
/*
 * What the kernel keeps per CPU, and the interrupt mask of the CPU that asks. Because the
 * kernel is not preemptible, this_cpu() and current stay valid until the caller sleeps.
 */
#ifndef PERCH_CPU_H
#define PERCH_CPU_H

#include <asm/cpu.h>	/* irq_save/irq_restore/irq_disable/irq_enable/irqs_off, cpu_relax, wfi,
			 * this_cpu(), current: one instruction each */
#include <perch/types.h>

struct pt_regs;
struct task;
struct irq_work;
struct cpu {
	union {
		struct {
			u32 spin_depth;	/* spinlocks held by this CPU; own CPU only */
			u32 irq_depth;	/* 1 in an interrupt handler, which none interrupts; own CPU only */
		};
		u64 depth;	/* both: 0 where the kernel may sleep */
	};
	u32 id;			/* logical number, 0..nr_cpus-1; immutable */
	bool need_resched;	/* set under rq lock or by IPI; cleared by schedule() */
	bool online;		/* set once, by the CPU itself */
	u64 mpidr;		/* hardware id from the device tree; immutable */
	struct task *idle;	/* this CPU's idle task; immutable */
	struct task *curr;	/* the running task; own CPU only: others would follow a pointer to what may be freed */
	struct rq *rq;		/* run queue (kernel/sched) */
	struct irq_work *irq_work;	/* to run at the end of an interrupt, newest first; own CPU, IRQs off */
	u64 ipi_count;		/* interrupts by other CPUs taken, for /proc/stat */
	struct pt_regs *timer_regs;	/* timer_regs(); own CPU only */
} __aligned(64);	/* no cache line is another CPU's */

extern struct cpu cpus[NR_CPUS];
extern u32 nr_cpus;		/* possible CPUs: those of the device tree within nr_cpus=/NR_CPUS */
extern u64 cpu_online_mask;	/* bit per logical CPU; grows only, during boot */

static inline bool cpu_is_online(u32 cpu)
{
	return cpu < NR_CPUS && (READ_ONCE(cpu_online_mask) & BIT(cpu));
}

#define for_each_online_cpu(c) \
	for (u32 c = 0; c < nr_cpus; c++) if (cpu_is_online(c))

static inline u32 cpu_id(void)
{
	return this_cpu()->id;
}

static inline bool in_irq(void)
{
	return this_cpu()->irq_depth != 0;
}

#endif
