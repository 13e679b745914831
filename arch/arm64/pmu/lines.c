/* SPDX-License-Identifier: MIT */
/*
 * The overflow interrupt: where it is wired and what it does.
 *
 * The device tree names one PPI for all CPUs, or an SPI for each with the CPU in
 * interrupt-affinity. An overflow can only be handled on the CPU whose counter it is, so an SPI
 * goes to that CPU and to no other; a line that is routed wrongly would interrupt somebody who
 * cannot make it stop, for ever, so such a line is masked during the self-test.
 *
 * A tree can be wrong. QEMU's raspi4b is given the board's tree, with SPIs, but wires PPI 7 (INTID
 * 23), the number that Arm's Base System Architecture has for it; so that is tried when the tree's
 * lines stay silent. A tree that names no interrupt is believed: hypervisors leave it out when they
 * cannot deliver one.
 */
#include "lines.h"
#include "pmuv3.h"
#include "regs.h"
#include "selftest.h"

#include <asm/dt.h>
#include <perch/cpu.h>
#include <perch/errno.h>
#include <perch/irq.h>
#include <perch/smp.h>

#define PPI_FIRST	16
#define SPI_FIRST	32
#define BSA_PMU_INTID	23
#define MAX_STRAYS	1000

/* Both: own CPU, IRQs off. */
static struct perf_cpu_pmu *owner[NR_CPUS];	/* who handles the overflows; NULL: the self-test */
static u32 strays[NR_CPUS];

/* During the self-test; or spurious, another device on a shared line, or another CPU's. */
static noinline void odd_interrupt(u32 intid, u64 ovf)
{
	u32 cpu = cpu_id();

	if (!ovf) {
		if (!owner[cpu] && ++strays[cpu] > MAX_STRAYS)
			irq_mask(intid);
		return;
	}
	write_sysreg(ovf, pmovsclr_el0);
	isb();
	pmu_selftest_interrupt(intid);
}

static void pmu_interrupt(u32 intid, struct pt_regs *regs, void *arg)
{
	u64 ovf = read_sysreg(pmovsclr_el0);
	struct perf_cpu_pmu *pp = owner[cpu_id()];

	if (unlikely(!ovf || !pp)) {
		odd_interrupt(intid, ovf);
		return;
	}
	write_sysreg(ovf, pmovsclr_el0);
	pmuv3_hold();	/* with a barrier: the level is down before the end of interrupt, or it comes again */
	if (likely(perf_pmu_overflow(pp, ovf, regs)))
		pmuv3_go_on();
}

static void own_here(void *pmu)
{
	owner[cpu_id()] = perf_pmu_here(pmu);
}

void pmu_lines_give(struct pmu *pmu)
{
	for_each_online_cpu(c)
		if (pmu->cpus & BIT(c))
			call_on_cpu(c, own_here, pmu);
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

/* The line of one CPU: without interrupt-affinity the order of CPUs counts. */
static u64 wire_spi(int node, u32 index, u32 intid)
{
	int cpu = dt_irq_affinity(node, index);

	if (cpu < 0)
		cpu = (int)index;
	if (!cpu_is_online((u32)cpu) || intid < SPI_FIRST ||
	    irq_request(intid, pmu_interrupt, NULL, "arm-pmu"))
		return 0;
	return irq_set_affinity(intid, (u32)cpu) ? 0 : BIT(cpu);
}

static bool wire_spis(int node)
{
	u64 wired = 0;
	u32 intid;

	for (u32 i = 0; dt_irq(node, i, &intid); i++)
		wired |= wire_spi(node, i, intid);
	return wired == cpu_online_mask;
}

bool pmu_lines_of_tree(int node)
{
	u32 intid;

	if (!dt_irq(node, 0, &intid) || intid < PPI_FIRST)
		return false;
	return intid < SPI_FIRST ? wire_ppi(intid) : wire_spis(node);
}

bool pmu_lines_of_convention(int node)
{
	u32 intid;

	return dt_irq(node, 0, &intid) && wire_ppi(BSA_PMU_INTID);
}
