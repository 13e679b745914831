/* SPDX-License-Identifier: MIT */
/* Interrupts between CPUs and their start. The kinds are the numbers of the GIC's SGIs. */
#ifndef ASM_SMP_H
#define ASM_SMP_H

#include <perch/types.h>

#define IPI_RESCHED	0	/* leave idle or user mode, look at need_resched and TIF_x */
#define IPI_CALL	1	/* run smp_handle_call() */
#define IPI_STOP	2	/* mask interrupts and never come back */
#define NR_IPIS		3

/* Interrupt one CPU. What the caller stored before is visible to the handler. The own CPU is
 * allowed (IPI_CALL: irq work); a CPU that is not online ignores it. Any context. */
void arch_send_ipi(u32 cpu, int kind);

/*
 * Start a CPU that is not online: it enters secondary_main() on the stack of cpus[cpu].idle, which
 * must exist. Returns at once: the caller waits for cpus[cpu].online. Process context, boot CPU. 0,
 * -ENODEV (no way to start it in the device tree), -EIO (the firmware refused).
 */
int arch_cpu_start(u32 cpu);

#endif
