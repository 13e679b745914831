/* SPDX-License-Identifier: MIT */
/*
 * Cache events that only certain cores have. The common events know no writes and no prefetches;
 * the numbers from 0x40 on are recommendations, and a core is only trusted to follow them where its
 * manual says so. PMCEID does not describe them, so they are not checked.
 *
 * Numbers: technical reference manuals of Cortex-A53, A57 and A72.
 * Which perf event takes which: observed on Linux 6.12 whose device tree named these cores.
 */
#include "events.h"

#include <string.h>

#define READ	PERF_COUNT_HW_CACHE_OP_READ
#define WRITE	PERF_COUNT_HW_CACHE_OP_WRITE
#define PREFETCH PERF_COUNT_HW_CACHE_OP_PREFETCH
#define ACCESS	PERF_COUNT_HW_CACHE_RESULT_ACCESS
#define MISS	PERF_COUNT_HW_CACHE_RESULT_MISS

struct core_event {
	u8 cache, op, result;
	u8 number;
};

static const struct core_event a53[] = {
	{ PERF_COUNT_HW_CACHE_L1D, PREFETCH, MISS, 0xc2 },
	{ PERF_COUNT_HW_CACHE_NODE, READ, ACCESS, 0x60 },
	{ PERF_COUNT_HW_CACHE_NODE, WRITE, ACCESS, 0x61 },
	{ .number = 0 },
};

static const struct core_event a57[] = {
	{ PERF_COUNT_HW_CACHE_L1D, READ, ACCESS, 0x40 },
	{ PERF_COUNT_HW_CACHE_L1D, READ, MISS, 0x42 },
	{ PERF_COUNT_HW_CACHE_L1D, WRITE, ACCESS, 0x41 },
	{ PERF_COUNT_HW_CACHE_L1D, WRITE, MISS, 0x43 },
	{ PERF_COUNT_HW_CACHE_DTLB, READ, MISS, 0x4c },
	{ PERF_COUNT_HW_CACHE_DTLB, WRITE, MISS, 0x4d },
	{ PERF_COUNT_HW_CACHE_NODE, READ, ACCESS, 0x60 },
	{ PERF_COUNT_HW_CACHE_NODE, WRITE, ACCESS, 0x61 },
	{ .number = 0 },
};

static const struct core_event *events;	/* of this machine's core; NULL: none. Set at boot */

void pmu_core_select(const char *pmu_name)
{
	static const struct { const char *name; const struct core_event *events; } cores[] = {
		{ "armv8_cortex_a53", a53 },
		{ "armv8_cortex_a57", a57 },
		{ "armv8_cortex_a72", a57 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cores); i++)
		if (!strcmp(cores[i].name, pmu_name))
			events = cores[i].events;
}

int pmu_core_cache_event(u32 cache, u32 op, u32 result)
{
	const struct core_event *e = events;

	for (; e && e->number; e++)
		if (e->cache == cache && e->op == op && e->result == result)
			return e->number;
	return -1;
}
