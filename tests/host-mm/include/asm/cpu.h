/* SPDX-License-Identifier: MIT */
/* The build machine as a CPU without interrupts. */
#ifndef ASM_CPU_H
#define ASM_CPU_H

#include <perch/types.h>

struct cpu;
struct task;
extern struct cpu *host_cpu;
extern struct task *host_task;

#define cpu_relax()	barrier()
#define this_cpu()	host_cpu
#define current		host_task

static inline u64 irq_save(void) { return 0; }
static inline void irq_restore(u64 f) { (void)f; }
static inline void irq_enable(void) { }
static inline void irq_disable(void) { }
static inline bool irqs_off(void) { return true; }

#endif
