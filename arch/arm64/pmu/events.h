/* SPDX-License-Identifier: MIT */
/* Which events this PMU has, and how perf's generic ones are encoded. Read once at boot. */
#ifndef PMU_EVENTS_H
#define PMU_EVENTS_H

#include <kernel/perf/pmu.h>
#include <perch/types.h>

#define EVT_INST_RETIRED	0x08
#define EVT_CPU_CYCLES		0x11
#define EVT_CHAIN		0x1e

/* Read PMCEID0/1_EL0 and PMMIR_EL1 of this CPU and build the sysfs table. pmuver: the field of
 * ID_AA64DFR0_EL1. Boot, once. */
void pmu_events_init(u32 pmuver);
/* The core's own cache events (cores.c): choose the table by the name of the PMU, boot, once; and
 * the number for a perf cache event, -1 if the core has none. */
void pmu_core_select(const char *pmu_name);
int pmu_core_cache_event(u32 cache, u32 op, u32 result);
/* Does the CPU say that it implements this common event? */
bool pmu_event_exists(u32 event);
/*
 * The event number for attr (HARDWARE, HW_CACHE, RAW or own_type, the PMU's own), or -errno as
 * Linux
 * answers: -ENOENT what the CPU lacks, -EINVAL nonsense. Raw numbers are taken as they are.
 */
int pmu_map_event(const struct perf_event_attr *attr, u32 own_type, struct perf_why *why);
/* format/, events/ and caps/ for sysfs. */
const struct pmu_attr *pmu_sysfs_attrs(u32 *nr);
u32 pmu_threshold_max(void);

#endif
