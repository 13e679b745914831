/* SPDX-License-Identifier: MIT */
/*
 * Starting the other CPUs, and stopping the machine.
 *
 * PSCI: the firmware starts a CPU at the address we give. Spin table: the CPU polls a word of
 * memory with its caches off, so the word is cleaned to the point of coherency before the event
 * that wakes it. Either way it arrives in secondary_entry (head.S), finds its struct cpu by MPIDR
 * and its stack in cpus[n].idle.
 */
#include <asm/cpu.h>
#include <asm/dt.h>
#include <asm/pgtable.h>
#include <asm/smp.h>
#include <libfdt.h>
#include <perch/boot.h>
#include <perch/cpu.h>
#include <perch/errno.h>
#include <perch/page.h>
#include <perch/printk.h>
#include <string.h>

#include "arch.h"
#include "dt_internal.h"

static struct {
	enum { BOOT_NONE, BOOT_PSCI, BOOT_SPIN } how;
	paddr release;		/* spin table: where the CPU looks for its entry address */
} boot_method[NR_CPUS];		/* immutable after boot */

void cpu_boot_method(u32 cpu, int node)
{
	const char *how = dt_string(node, "enable-method");
	int len;
	const void *release;

	if (!how)
		return;
	if (!strcmp(how, "psci")) {
		boot_method[cpu].how = BOOT_PSCI;
		return;
	}
	release = fdt_getprop(boot_fdt, node, "cpu-release-addr", &len);
	if (strcmp(how, "spin-table") || !release || len < 8)
		return;
	boot_method[cpu].how = BOOT_SPIN;
	boot_method[cpu].release = dt_cells(release, 2);
}

/*
 * The word is in the firmware's memory, of which the linear map may have nothing (a no-map
 * reservation), so it gets a mapping of its own; as normal memory, for no address may be mapped with
 * two types. The CPU that waits for it has its caches off: the line goes to the point of coherency,
 * and is there (DSB) before the event.
 */
static int spin_release(paddr release, paddr entry)
{
	static char *window;
	u64 *p;

	if (!window)
		window = kernel_va_reserve(PAGE_SIZE, PAGE_SIZE);
	if (!window || kernel_map(window, release & PAGE_MASK))
		return -ENOMEM;
	p = (u64 *)(window + (release & ~PAGE_MASK));
	WRITE_ONCE(*p, entry);
	__asm__ volatile("dc civac, %0" :: "r"(p) : "memory");
	dsb(sy);
	__asm__ volatile("sev" ::: "memory");
	kernel_unmap(window);
	return 0;
}

int arch_cpu_start(u32 cpu)
{
	paddr entry = image_phys(secondary_entry);

	ASSERT(cpu < nr_cpus && !cpus[cpu].online && cpus[cpu].idle);
	dsb(sy);
	switch (boot_method[cpu].how) {
	case BOOT_PSCI:
		if (!psci_present())
			return -ENODEV;
		return psci_cpu_on(cpus[cpu].mpidr, entry) ? -EIO : 0;
	case BOOT_SPIN:
		return spin_release(boot_method[cpu].release, entry);
	default:
		return -ENODEV;
	}
}

static void __noreturn wait_forever(void)
{
	irq_disable();
	for (;;)
		wfi();
}

void arch_poweroff(void)
{
	psci_off();
	bcm_poweroff();
	pr_err("this machine cannot switch itself off\n");
	wait_forever();
}

void arch_reboot(void)
{
	psci_reset();
	bcm_reboot();
	pr_err("this machine cannot reset itself\n");
	wait_forever();
}
