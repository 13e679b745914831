/* SPDX-License-Identifier: MIT */
/*
 * Every CPU lets its cycle counter run in the kernel, once counting EL1 and once leaving it out,
 * and then overflow. That answers in a few microseconds what else would be found out by wrong
 * numbers: a PMU that firmware or a hypervisor keeps stopped, filters that do nothing, an interrupt
 * that goes nowhere or to another CPU.
 */
#include "selftest.h"
#include "pmuv3.h"
#include "regs.h"

#include <perch/cpu.h>
#include <perch/smp.h>
#include <perch/time.h>

#define TEST_CYCLES	2000		/* until the overflow: 2 us at 1 GHz */
#define TEST_WAIT_NS	(200 * NSEC_PER_MSEC)	/* an emulator on a busy machine takes its time */
#define TEST_LOOPS	200

/* Written by that CPU; read by the boot CPU. */
static struct {
	bool counts, filters;
	u32 irqs;		/* taken */
	u32 line;		/* INTID of the last */
} seen[NR_CPUS];

void pmu_selftest_interrupt(u32 intid)
{
	write_sysreg(UINT32_MAX, pmintenclr_el1);
	seen[cpu_id()].line = intid;
	WRITE_ONCE(seen[cpu_id()].irqs, seen[cpu_id()].irqs + 1);
}

/* Does the cycle counter move under this filter? */
static bool advances(u64 filter)
{
	u64 first, now;

	write_sysreg(filter, pmccfiltr_el0);
	isb();
	first = now = read_sysreg(pmccntr_el0);
	for (int i = 0; i < TEST_LOOPS && now == first; i++) {
		cpu_relax();
		now = read_sysreg(pmccntr_el0);
	}
	return now != first;
}

/* On each CPU, IRQs off: look, then arm the counter to overflow soon. */
static void start_test(void *unused)
{
	pmuv3_reset_cpu();
	write_sysreg(BIT(PMU_CYCLE_COUNTER), pmcntenset_el0);
	write_sysreg(read_sysreg(pmcr_el0) | PMCR_E, pmcr_el0);
	seen[cpu_id()].irqs = 0;
	seen[cpu_id()].filters = !advances(PMEVTYPER_P | PMEVTYPER_NSH);
	seen[cpu_id()].counts = advances(PMEVTYPER_NSH);
	write_sysreg(-(u64)TEST_CYCLES, pmccntr_el0);
	write_sysreg(BIT(PMU_CYCLE_COUNTER), pmintenset_el1);
	isb();
}

static void end_test(void *unused)
{
	pmuv3_reset_cpu();
}

static bool all_interrupted(void)
{
	for_each_online_cpu(c)
		if (!READ_ONCE(seen[c].irqs))
			return false;
	return true;
}

static bool wait_for_interrupts(void)
{
	ktime end = ktime_now() + TEST_WAIT_NS;

	while (!all_interrupted() && ktime_now() < end)
		cpu_relax();
	return all_interrupted();
}

struct pmu_findings pmu_selftest(bool interrupts)
{
	struct pmu_findings f = { .counts = true, .filters = true };

	for_each_online_cpu(c)
		call_on_cpu(c, start_test, NULL);
	f.interrupts = interrupts && wait_for_interrupts();
	for_each_online_cpu(c) {
		call_on_cpu(c, end_test, NULL);
		f.counts &= seen[c].counts;
		f.filters &= seen[c].filters;
	}
	return f;
}

u32 pmu_selftest_line(u32 cpu)
{
	return seen[cpu].line;
}
