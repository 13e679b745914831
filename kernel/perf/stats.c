/* SPDX-License-Identifier: MIT */
/*
 * /proc/perch/perf_stats: how many objects live, and what has happened since boot. Tests compare the
 * live ones before and after.
 */
#include "core.h"

struct perf_stats perf_stats;

#define ROW(name) { #name, &perf_stats.name }

static const struct {
	const char *name;
	const u64 *value;
} rows[] = {
	ROW(events), ROW(contexts), ROW(buckets), ROW(tasks), ROW(rings), ROW(pages),
	ROW(opens), ROW(refusals), ROW(switches), ROW(family_switches), ROW(rotations),
	ROW(remote_calls), ROW(spurious), ROW(inherited), ROW(folded),
	ROW(pinned_errors), ROW(lost), ROW(throttles),
};
_Static_assert(ARRAY_SIZE(rows) * sizeof(u64) == sizeof(struct perf_stats), "a row for each");

u64 stats_overflows(void)
{
	u64 n = 0;

	for (u32 c = 0; c < host_nr_cpus(); c++)
		for (u32 i = 0; i < PMU_MAX; i++)
			n += READ_ONCE(perf_cpus[c].pmu[i].overflows);
	return n;
}

long perf_stats_text(char *buf, size_t size)
{
	long n = 0;

	for (u32 i = 0; i < ARRAY_SIZE(rows) && (size_t)n < size; i++)
		n += host_snprintf(buf + n, size - (size_t)n, "%s%s %lu\n", i < 6 ? "live_" : "",
				   rows[i].name,
				   (unsigned long)__atomic_load_n(rows[i].value, __ATOMIC_RELAXED));
	if ((size_t)n < size)
		n += host_snprintf(buf + n, size - (size_t)n, "overflows %lu\n", (unsigned long)stats_overflows());
	return min_t(long, n, (long)size);
}
