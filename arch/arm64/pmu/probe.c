/* SPDX-License-Identifier: MIT */
/*
 * Finding the PMU and believing nothing about it. The ID register says what the PMU is, the device tree
 * how its overflow interrupt is wired: one PPI for all CPUs, or one SPI for each with an affinity. Then
 * every CPU lets its cycle counter overflow once and sees whether it advances and whether the interrupt
 * arrives. Without an interrupt Perch counts and does not sample; without advance there is no PMU.
 *
 * Context: boot, process context, all CPUs up, before any event exists.
 */
#include "events.h"
#include "pmuv3.h"
#include "regs.h"

#include <asm/dt.h>
#include <perch/cpu.h>
#include <perch/errno.h>
#include <perch/irq.h>
#include <perch/printk.h>
#include <perch/smp.h>
#include <perch/time.h>

#define PPI_FIRST	16
#define SPI_FIRST	32
#define TEST_CYCLES	2000		/* until the test overflow: 2 us at 1 GHz */
#define TEST_WAIT_NS	(200 * NSEC_PER_MSEC)	/* an emulator on a busy machine takes its time */

struct pmu pmuv3;

/* What the self-test saw, per CPU. Written by that CPU; read by the boot CPU after it. */
static struct {
	bool advanced;
	u32 irqs;			/* test interrupts taken */
	u32 line;			/* INTID of the last */
} seen[NR_CPUS];
static bool testing = true;

static void pmu_interrupt(u32 intid, struct pt_regs *regs, void *arg)
{
	u64 ovf = read_sysreg(pmovsclr_el0);

	if (!ovf)
		return;		/* spurious, or another device on a shared line */
	write_sysreg(ovf, pmovsclr_el0);
	if (testing) {
		write_sysreg(UINT32_MAX, pmintenclr_el1);
		seen[cpu_id()].line = intid;
		seen[cpu_id()].irqs++;
		return;
	}
	perf_pmu_overflow(&pmuv3, ovf, regs);
}

/* On each CPU, IRQs off: arm the cycle counter to overflow soon. */
static void start_test(void *unused)
{
	u64 first;

	pmuv3_reset_cpu();
	write_sysreg(PMEVTYPER_NSH, pmccfiltr_el0);
	write_sysreg(-(u64)TEST_CYCLES, pmccntr_el0);
	write_sysreg(BIT(PMU_CYCLE_COUNTER), pmintenset_el1);
	write_sysreg(BIT(PMU_CYCLE_COUNTER), pmcntenset_el0);
	write_sysreg(read_sysreg(pmcr_el0) | PMCR_E, pmcr_el0);
	isb();
	first = read_sysreg(pmccntr_el0);
	for (int i = 0; i < 1000 && read_sysreg(pmccntr_el0) == first; i++)
		cpu_relax();
	seen[cpu_id()].advanced = read_sysreg(pmccntr_el0) != first;
}

static void end_test(void *unused)
{
	pmuv3_reset_cpu();
}

static bool all_saw_interrupt(void)
{
	for_each_online_cpu(c)
		if (!READ_ONCE(seen[c].irqs))
			return false;
	return true;
}

/* Returns whether the counters of all CPUs advance; *irq whether all interrupts arrive. */
static bool self_test(bool wired, bool *irq)
{
	ktime end;

	for_each_online_cpu(c)
		call_on_cpu(c, start_test, NULL);
	end = ktime_now() + (wired ? TEST_WAIT_NS : 0);
	while (!all_saw_interrupt() && ktime_now() < end)
		cpu_relax();
	*irq = wired && all_saw_interrupt();
	for_each_online_cpu(c)
		call_on_cpu(c, end_test, NULL);
	for_each_online_cpu(c)
		if (!seen[c].advanced)
			return false;
	return true;
}

static void enable_ppi(void *intid)
{
	irq_enable_percpu(*(u32 *)intid);
}

static bool wire_ppi(u32 intid)
{
	if (irq_request(intid, pmu_interrupt, NULL, "arm-pmu"))
		return false;
	for_each_online_cpu(c)
		call_on_cpu(c, enable_ppi, &intid);
	return true;
}

/* One SPI per CPU; each needs its own so that the interrupt arrives where the counter is. */
static bool wire_spis(int node)
{
	u64 wired = 0;
	u32 intid;

	for (u32 i = 0; dt_irq(node, i, &intid); i++) {
		int cpu = dt_irq_affinity(node, i);

		if (cpu < 0)
			cpu = (int)i;	/* without the property the order of CPUs counts */
		if (!cpu_is_online((u32)cpu) || irq_request(intid, pmu_interrupt, NULL, "arm-pmu"))
			continue;
		if (!irq_set_affinity(intid, (u32)cpu))
			wired |= BIT(cpu);
	}
	return wired == cpu_online_mask;
}

static bool wire_interrupt(int node)
{
	u32 intid;

	if (!dt_irq(node, 0, &intid) || intid < PPI_FIRST)
		return false;
	return intid < SPI_FIRST ? wire_ppi(intid) : wire_spis(node);
}

/* The node and the name that Linux gives its PMU. */
static int find_node(const char **name)
{
	static const struct { const char *compatible, *name; } known[] = {
		{ "arm,armv8-pmuv3", "armv8_pmuv3" },
		{ "arm,cortex-a72-pmu", "armv8_cortex_a72" },
		{ "arm,cortex-a53-pmu", "armv8_cortex_a53" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(known); i++) {
		int node = dt_find(known[i].compatible, -1);

		*name = known[i].name;
		if (node >= 0)
			return node;
	}
	return -1;
}

static void describe(u32 nr, bool irq)
{
	pmuv3.ops = &pmuv3_ops;
	pmuv3.cpus = cpu_online_mask;
	pmuv3.counters = (BIT(nr) - 1) | BIT(PMU_CYCLE_COUNTER);
	pmuv3.caps = PMU_EXTENDED_TYPE | (irq ? 0 : PMU_NO_INTERRUPT);
	pmuv3.attrs = pmu_sysfs_attrs(&pmuv3.nr_attrs);
}

void pmuv3_init(void)
{
	u32 version = read_sysreg(id_aa64dfr0_el1) >> 8 & 0xf;
	bool wide = version >= 6 && version != 0xf, irq;	/* PMUv3p5 */
	u32 nr = PMCR_N(read_sysreg(pmcr_el0));
	int node = find_node(&pmuv3.name), err;

	if (!version || version == 0xf || node < 0) {
		pr_warn("pmu: none found: hardware events are not supported\n");
		return;
	}
	pmuv3_set_hardware(nr, wide);
	pmu_events_init(version);
	if (!self_test(wire_interrupt(node), &irq)) {
		pr_warn("pmu: %s does not count: hardware events are not supported\n", pmuv3.name);
		return;
	}
	testing = false;
	describe(nr, irq);
	err = pmu_register(&pmuv3);
	if (err)
		pr_err("pmu: cannot register %s: error %d\n", pmuv3.name, -err);
	else if (irq)
		pr_info("pmu: %s, %u %u-bit counters and the cycle counter, interrupt %u\n", pmuv3.name, nr,
			wide ? 64 : 32, seen[0].line);
	else
		pr_warn("pmu: %s, %u counters, no overflow interrupt: counting works, sampling is refused\n",
			pmuv3.name, nr);
}
