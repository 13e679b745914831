/* SPDX-License-Identifier: MIT */
/* The PMU's overflow interrupt lines. Boot, process context, all CPUs up. */
#ifndef PMU_LINES_H
#define PMU_LINES_H

#include <kernel/perf/pmu.h>

/* Take and enable the lines that the PMU's node names. False: none, or not one for every CPU. */
bool pmu_lines_of_tree(int node);
/* The same for the PPI of Arm's convention, when the node names lines that do not work. False: the
 * node names none at all, or names this one. */
bool pmu_lines_of_convention(int node);
/* From now on overflows on pmu->cpus go to the perf core; before, to the self-test. */
void pmu_lines_give(struct pmu *pmu);

#endif
