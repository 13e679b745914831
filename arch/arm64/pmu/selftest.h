/* SPDX-License-Identifier: MIT */
/* Does the PMU do what its registers and the device tree say? Once, at boot. */
#ifndef PMU_SELFTEST_H
#define PMU_SELFTEST_H

#include <perch/types.h>

/* What holds for every CPU that is online. */
struct pmu_findings {
	bool counts;		/* the cycle counter advances at EL1 */
	bool filters;		/* and stands still when EL1 is left out */
	bool interrupts;	/* its overflow interrupted that CPU */
};

/* Run the test on each CPU, one after the other; with interrupts (some line is enabled) wait for
 * the overflows. All PMUs are reset afterwards. Process context, all CPUs up, before any event
 * exists. */
struct pmu_findings pmu_selftest(bool interrupts);
/* The interrupt handler's: this CPU's counter has overflowed. IRQs off. */
void pmu_selftest_interrupt(u32 intid);
/* After a test with interrupts: the line on which this CPU was interrupted. */
u32 pmu_selftest_line(u32 cpu);

#endif
