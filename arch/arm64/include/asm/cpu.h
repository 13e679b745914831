/* SPDX-License-Identifier: MIT */
/*
 * One-instruction primitives of the running CPU. TPIDR_EL1 holds this CPU's struct cpu, SP_EL0
 * (while in the kernel) the current task.
 */
#ifndef ASM_CPU_H
#define ASM_CPU_H

#include <perch/types.h>

struct cpu;
struct task;

#define read_sysreg(r) ({ u64 _v; __asm__ volatile("mrs %0, " #r : "=r"(_v)); _v; })
#define write_sysreg(v, r) __asm__ volatile("msr " #r ", %x0" :: "rZ"((u64)(v)) : "memory")
/* By encoding, for registers that the assembler may not know: SYS(op0, op1, CRn, CRm, op2). */
#define __SYSNAME(a, b, c, d, e) "S" #a "_" #b "_C" #c "_C" #d "_" #e

#define isb()		__asm__ volatile("isb" ::: "memory")
#define dsb(op)		__asm__ volatile("dsb " #op ::: "memory")
#define dmb(op)		__asm__ volatile("dmb " #op ::: "memory")
#define cpu_relax()	__asm__ volatile("yield" ::: "memory")
#define wfi()		__asm__ volatile("dsb sy\n\twfi" ::: "memory")

static inline struct cpu *this_cpu(void)
{
	struct cpu *c;

	/* volatile: a task that slept may be on another CPU, so the value must not be kept over a
	 * call */
	__asm__ volatile("mrs %0, tpidr_el1" : "=r"(c));
	return c;
}

static inline struct task *get_current(void)
{
	struct task *t;

	__asm__("mrs %0, sp_el0" : "=r"(t));
	return t;
}
#define current get_current()

/* Make t the current task without a switch: only for a CPU's boot context, which becomes its idle
 * task. */
static inline void set_current(struct task *t)
{
	__asm__ volatile("msr sp_el0, %0" :: "r"(t) : "memory");
}

static inline void irq_enable(void)
{
	__asm__ volatile("msr daifclr, #2" ::: "memory");
}

static inline void irq_disable(void)
{
	__asm__ volatile("msr daifset, #2" ::: "memory");
}

/* Mask IRQs; returns the state to give to irq_restore. */
static inline u64 irq_save(void)
{
	u64 f = read_sysreg(daif);

	irq_disable();
	return f;
}

static inline void irq_restore(u64 f)
{
	write_sysreg(f, daif);
}

static inline bool irqs_off(void)
{
	return read_sysreg(daif) & 0x80;
}

#endif
