/* SPDX-License-Identifier: MIT */
/* asm/cpu.h for the build machine: one CPU at a time, chosen by the test; interrupts are a flag. */
#ifndef ASM_CPU_H
#define ASM_CPU_H

#include <perch/types.h>

struct cpu;
struct task;

extern struct cpu *test_cpu;
extern struct task *test_current;
extern bool test_irqs_off;

#define cpu_relax()	((void)0)
#define isb()		((void)0)
#define wfi()		((void)0)
static inline struct cpu *this_cpu(void) { return test_cpu; }
static inline struct task *get_current(void) { return test_current; }
#define current get_current()
static inline void irq_enable(void) { test_irqs_off = false; }
static inline void irq_disable(void) { test_irqs_off = true; }
static inline u64 irq_save(void) { u64 f = test_irqs_off; test_irqs_off = true; return f; }
static inline void irq_restore(u64 f) { test_irqs_off = f; }
static inline bool irqs_off(void) { return test_irqs_off; }

#endif
