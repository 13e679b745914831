/* SPDX-License-Identifier: MIT */
/* What the files of arch/arm64 tell each other; the rest of the kernel sees include/perch and asm/
 * only. */
#ifndef ARCH_H
#define ARCH_H

#include <asm/pgtable.h>
#include <asm/thread.h>
#include <perch/types.h>

struct pt_regs;
struct task;

/* switch.S, vectors.S, head.S */
struct task *cpu_switch(struct task *prev, struct task *next, struct fpsimd_state *save,
			const struct fpsimd_state *load);
void fpsimd_save(struct fpsimd_state *s);
void fpsimd_load(const struct fpsimd_state *s);
void ret_from_fork(void);
void secondary_entry(void);		/* run at its physical address, MMU off */
void idmap_replace_ttbr1(u64 root);	/* run at its physical address */
extern u64 idmap_pg_dir[512], empty_pg_dir[512], kernel_pg_dir[512];
extern u64 early_fdt_l2[512];
extern char pt_pool[], pt_pool_end[];
extern char boot_stack[];

/* Symbols of the linker script */
extern char _text[], _stext[], _etext[], __start_rodata[], _sdata[], _edata[], _end[];

/* setup.c: from head.S. secondary: on the idle task's stack. */
void arch_boot(paddr fdt, paddr image) __noreturn;
void arch_secondary(void) __noreturn;

/* mmu.c: physical address of something in the image. */
paddr image_phys(const void *p);
/* Boot CPU, before the allocator: tables for the image and for ram[]; afterwards the linear map is
 * there. */
struct mem_range;
void mmu_init(paddr image, const struct mem_range *ram, int nr_ram);

/* cpu.c: control registers of this CPU that head.S did not set; identity registers noted. */
void cpu_init_local(void);
/* features.c */
void features_init(void);		/* boot CPU: hwcaps from the ID registers */
bool emulate_mrs(struct pt_regs *regs, u32 insn);	/* an EL0 read of an ID register: done? */
u32 asid_bits(void);
struct textbuf;
void features_show(struct textbuf *b);	/* for /proc/cpuinfo: " fp asimd ..." */

/* fault.c, traps.c: called from vectors.S with everything masked */
void el0_exception(struct pt_regs *regs, u64 esr);
void el1_exception(struct pt_regs *regs, u64 esr);
void kernel_stack_overflow(struct pt_regs *regs, u64 esr, u64 far) __noreturn;
void bad_exception(struct pt_regs *regs, u64 reason, u64 esr) __noreturn;
void irq_dispatch(struct pt_regs *regs);
void user_abort(struct pt_regs *regs, u64 esr, u64 far);
void kernel_abort(struct pt_regs *regs, u64 esr, u64 far);
void extable_init(void);
void kthread_returned(int ret);
void fpsimd_reload_current(void);

/* setup of devices, in order */
void gic_init(void);			/* boot CPU; then gic_init_cpu there, too */
void gic_init_cpu(void);
void psci_init(void);
void arch_timer_init(void);
void pmuv3_init(void);	/* pmu/probe.c: all CPUs up, process context */
void vdso_init(void);

/* drivers/ */
void uart_init_early(void);		/* polled console */
void uart_init(void);			/* its interrupts */
void rtc_init(void);
void bcm_pm_init(void);			/* before anything can panic */
void bcm_poweroff(void);		/* both return if there is no such device */
void bcm_reboot(void);

/* smp.c: how cpu is started, from its device tree node. */
void cpu_boot_method(u32 cpu, int node);

/* psci.c. cpu_on: 0 or a PSCI error. Off and reset return if the firmware knows no such call. */
bool psci_present(void);
long psci_cpu_on(u64 mpidr, paddr entry);
void psci_off(void);
void psci_reset(void);

#endif
