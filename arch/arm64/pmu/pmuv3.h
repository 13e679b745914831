/* SPDX-License-Identifier: MIT */
/* The PMUv3 driver's parts among themselves. */
#ifndef PMUV3_H
#define PMUV3_H

#include "regs.h"

#include <kernel/perf/pmu.h>

extern u64 pmuv3_pmcr;			/* PMCR without E */
/* ops (pmuv3.c) */
extern const struct pmu_ops pmuv3_ops;
/* Facts that the ops need, set once at boot: number of event counters, 64-bit event counters. */
void pmuv3_set_hardware(u32 nr_event_counters, bool long_counters);
/* Stop all counters of this CPU; let those go on that ran. IRQs off. The interrupt does this around all it does. */
static inline void pmuv3_hold(void)
{
	write_sysreg(pmuv3_pmcr, pmcr_el0);
	isb();
}
static inline void pmuv3_go_on(void)
{
	write_sysreg(pmuv3_pmcr | PMCR_E, pmcr_el0);
	isb();
}
/* Reset this CPU's PMU. IRQs off. */
void pmuv3_reset_cpu(void);

/* Boot, process context, all CPUs up: find the PMU, test it, register it with the core. One line in
 * the log says what was found and what follows. Boot option: pmu_clusters=2, see probe.c. */
void pmuv3_init(void);

#endif
