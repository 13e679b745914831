/* SPDX-License-Identifier: MIT */
/*
 * Boot in C: what the device tree says about memory, CPUs and the boot loader's gifts, then the
 * kernel's page tables, then kernel_main(). Nothing here can print before the console is found, so
 * the first half is kept simple.
 */
#include <asm/cpu.h>
#include <asm/offsets.h>
#include <libfdt.h>
#include <perch/boot.h>
#include <perch/cpu.h>
#include <perch/page.h>
#include <perch/printk.h>
#include <perch/random.h>
#include <perch/sched.h>
#include <string.h>

#include "arch.h"
#include "dt_internal.h"

#define MAX_RANGES 32

static struct mem_range ram[MAX_RANGES], used[MAX_RANGES];
static int nr_ram, nr_used;

static void add_range(struct mem_range *list, int *n, paddr base, u64 size)
{
	if (size && *n < MAX_RANGES)
		list[(*n)++] = (struct mem_range){ base, size };
}

/* --- memory ------------------------------------------------------------------------------ */

/* Remove [base, base + size) from the RAM list: firmware's own memory may not even be mapped. */
static void cut_ram(paddr base, u64 size)
{
	paddr end = base + size;

	for (int i = 0; i < nr_ram; i++) {
		paddr rb = ram[i].base, re = rb + ram[i].size;

		if (end <= rb || base >= re)
			continue;
		ram[i] = (struct mem_range){ rb, base > rb ? base - rb : 0 };
		if (re > end)
			add_range(ram, &nr_ram, end, re - end);
	}
}

static void find_ram(void)
{
	paddr base;
	u64 size;
	int node = -1;

	for (;;) {
		node = fdt_node_offset_by_prop_value(boot_fdt, node, "device_type", "memory", 7);
		if (node < 0)
			return;
		for (u32 i = 0; dt_reg(node, i, &base, &size); i++)
			add_range(ram, &nr_ram, base, size);
	}
}

static void find_reserved(void)
{
	int top = fdt_path_offset(boot_fdt, "/reserved-memory"), node;
	u64 base, size;

	for (int i = 0; i < fdt_num_mem_rsv(boot_fdt); i++)
		if (!fdt_get_mem_rsv(boot_fdt, i, &base, &size))
			add_range(used, &nr_used, base, size);
	if (top < 0)
		return;
	fdt_for_each_subnode(node, boot_fdt, top) {
		for (u32 i = 0; dt_reg(node, i, &base, &size); i++) {
			if (fdt_getprop(boot_fdt, node, "no-map", NULL))
				cut_ram(base, size);
			else
				add_range(used, &nr_used, base, size);
		}
	}
}

/* --- /chosen ----------------------------------------------------------------------------- */

static bool chosen_number(int node, const char *name, u64 *v)
{
	int len;
	const void *p = fdt_getprop(boot_fdt, node, name, &len);

	if (!p || (len != 4 && len != 8))
		return false;
	*v = dt_cells(p, (u32)len / 4);
	return true;
}

static void read_chosen(void)
{
	int node = fdt_path_offset(boot_fdt, "/chosen");
	const char *args;
	u64 start, end;

	if (node < 0)
		return;
	args = dt_string(node, "bootargs");
	if (args)
		strlcpy(boot_cmdline, args, sizeof(boot_cmdline));
	if (chosen_number(node, "linux,initrd-start", &start) &&
	    chosen_number(node, "linux,initrd-end", &end) && end > start) {
		initrd_start = start;
		initrd_size = end - start;
		add_range(used, &nr_used, start, end - start);
	}
}

static void seed_random(void)
{
	int node = fdt_path_offset(boot_fdt, "/chosen"), len;
	static const char *const names[] = { "rng-seed", "kaslr-seed" };

	for (size_t i = 0; node >= 0 && i < ARRAY_SIZE(names); i++) {
		const void *p = fdt_getprop(boot_fdt, node, names[i], &len);

		if (p && len > 0)
			random_add(p, (size_t)len);
	}
}

/* --- CPUs -------------------------------------------------------------------------------- */

static u64 own_mpidr(void)
{
	return read_sysreg(mpidr_el1) & 0xff00ffffffUL;
}

static void add_cpu(int node, u64 mpidr)
{
	u32 n = nr_cpus++;

	cpus[n].id = n;
	cpus[n].mpidr = mpidr;
	cpu_boot_method(n, node);
}

/* The boot CPU is number 0, the others follow in the order of the tree, up to nr_cpus=. */
static void find_cpus(void)
{
	int top = fdt_path_offset(boot_fdt, "/cpus"), node;
	long limit = cmdline_int("nr_cpus", NR_CPUS);
	u64 mpidr;

	limit = clamp_t(long, limit, 1, NR_CPUS);
	nr_cpus = 1;
	cpus[0].mpidr = own_mpidr();
	fdt_for_each_subnode(node, boot_fdt, top) {
		const char *type = dt_string(node, "device_type");

		if (!type || strcmp(type, "cpu") || !dt_cpu_mpidr(node, &mpidr))
			continue;
		if (mpidr == cpus[0].mpidr)
			cpu_boot_method(0, node);
		else if (nr_cpus < limit)
			add_cpu(node, mpidr);
	}
	cpus[0].online = true;
	cpu_online_mask = 1;
}

/* --- the device tree itself ---------------------------------------------------------------- */

/*
 * head.S has mapped the 2 MiB block in which the tree begins; the next one, only if it goes on
 * there: behind the last block of RAM there may be something that must not be touched.
 */
static void find_fdt(paddr fdt)
{
	u64 size;

	boot_fdt = (const void *)(FDT_VADDR + (fdt & 0x1fffff));
	size = fdt_magic(boot_fdt) == FDT_MAGIC ? fdt_totalsize(boot_fdt) : 0;
	if (size && size <= 0x200000 && (fdt & 0x1fffff) + size > 0x200000) {
		WRITE_ONCE(early_fdt_l2[1], early_fdt_l2[0] + 0x200000);
		dsb(ishst);	/* the entry is visible to the table walk ... */
		isb();		/* ... before the next access */
	}
	if (!size || size > 0x200000 || fdt_check_header(boot_fdt))
		for (;;)	/* there is no console to complain on */
			wfi();
}

/* --- the sequence ------------------------------------------------------------------------ */

void arch_boot(paddr fdt, paddr image)
{
	find_fdt(fdt);
	read_chosen();
	find_ram();
	find_reserved();
	add_range(used, &nr_used, fdt, fdt_totalsize(boot_fdt));
	add_range(used, &nr_used, image, (u64)(_end - _text));
	add_range(used, &nr_used, 0, PAGE_SIZE);	/* spin tables; and 0 means "none" */
	mmu_init(image, ram, nr_ram);
	boot_fdt = phys_to_virt(fdt);
	find_cpus();
	uart_init_early();
	kernel_main();
}

void arch_init_early(void)
{
	extable_init();
	cpu_init_local();
	features_init();
	mem_init(ram, nr_ram, used, nr_used);
	seed_random();
	psci_init();
	bcm_pm_init();
}

void arch_init_irq(void)
{
	gic_init();
	arch_timer_init();
}

void arch_init_late(void)
{
	vdso_init();
	uart_init();
	rtc_init();
	pmuv3_init();
}

/* On the idle task's stack, identity map still in TTBR0. */
void arch_secondary(void)
{
	arch_mm_switch(NULL);
	__asm__ volatile("tlbi vmalle1; dsb nsh; isb" ::: "memory");
	this_cpu()->curr = current;
	cpu_init_local();
	gic_init_cpu();
	secondary_main();
}
