/* SPDX-License-Identifier: MIT */
/* What the boot loader told us, and the order in which the kernel comes up. */
#ifndef PERCH_BOOT_H
#define PERCH_BOOT_H

#include <perch/types.h>

extern char boot_cmdline[2048];		/* bootargs from /chosen */
extern paddr initrd_start;		/* physical; 0 if none */
extern u64 initrd_size;
extern const void *boot_fdt;		/* device tree in the linear map (read only) */

/* Value of "name=" in the command line (copied, up to size), or false. A bare "name" gives "". */
bool cmdline_get(const char *name, char *buf, size_t size);
long cmdline_int(const char *name, long fallback);

/* arch entry calls this on the boot CPU with the MMU on, console early, IRQs off. Never returns. */
void kernel_main(void) __noreturn;
/* Secondary CPUs, MMU on, IRQs off, on their idle task's stack. */
void secondary_main(void) __noreturn;

/* arch services, in the order kernel_main calls them */
void arch_init_early(void);	/* fdt: memory, cmdline, initrd; mem_init; CPU features */
void arch_init_irq(void);	/* GIC */
void arch_init_late(void);	/* other drivers: UART interrupts, RTC */
void arch_poweroff(void) __noreturn;
void arch_reboot(void) __noreturn;
/* For /proc/cpuinfo, one CPU */
struct textbuf;
void arch_cpuinfo(struct textbuf *b, u32 cpu);
u64 arch_cpu_midr(u32 cpu);
u64 arch_cpu_revidr(u32 cpu);
/* The index-th cache of a CPU (all are alike): its level and "Data", "Instruction" or "Unified". False
 * behind the last. */
bool arch_cpu_cache(u32 index, u32 *level, const char **type);
/* hwcaps for auxv */
u64 arch_hwcap(void);
u64 arch_hwcap2(void);
/*
 * vDSO. arch_map_vdso puts the data page ([vvar]) and the code ([vdso], directly above it) into mm
 * and sets mm->vdso (what AT_SYSINFO_EHDR wants). For exec; mm->lock held. 0 or -errno.
 * vdso_update copies the clock's mult/shift and realtime_offset() to the data page: time code calls
 * it after each change of them (from time_init on). Any context.
 */
struct mm;
int arch_map_vdso(struct mm *mm);
void vdso_update(void);
const void *arch_vdso_image(size_t *size);	/* the ELF image itself, kernel address */
/* For panic: registers, then a frame-pointer backtrace from regs (NULL: from the caller), printed line
 * by line with printk. Any context; must not fault. */
struct pt_regs;
void arch_show_regs(struct pt_regs *regs);
void arch_backtrace(struct pt_regs *regs);
/* The kernel call chain of t, innermost first: up to max return addresses, their number. The caller has a
 * reference. Of a task that runs on another CPU it says nothing useful. */
struct task;
u32 arch_stack_trace(struct task *t, u64 *pcs, u32 max);
const char *arch_platform(void);	/* "aarch64" */

#endif
