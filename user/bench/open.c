/* SPDX-License-Identifier: MIT */
/* perf_event_open and close: of one event, of a group; disabled, so that no counter is involved. */
#include "bench.h"

#include <unistd.h>

#define LOOPS 200

static void round_of(const char *name, const struct perf_event_attr *a, int n, double cost[2])
{
	int fd[16];

	cost[0] = cost[1] = 0;
	for (int i = 0; i < LOOPS; i++) {
		double start = now(), opened;

		for (int k = 0; k < n; k++)
			fd[k] = must_open(name, a, 0, -1, k ? fd[0] : -1);
		opened = now();
		close_many(fd, n);
		cost[0] += (opened - start) / LOOPS;
		cost[1] += (now() - opened) / LOOPS;
	}
}

static void open_close(const char *name, uint32_t type, uint64_t config, int n)
{
	struct perf_event_attr a = attr_of(type, config);
	double least[2] = { 1e300, 1e300 }, cost[2];
	char row[64];

	a.disabled = 1;
	for (int r = 0; r < ROUNDS + 1; r++) {
		round_of(name, &a, n, cost);
		for (int k = 0; k < 2; k++)
			least[k] = cost[k] < least[k] ? cost[k] : least[k];
	}
	snprintf(row, sizeof(row), "%s.open", name);
	report(ROW_PERF, row, least[0]);
	snprintf(row, sizeof(row), "%s.close", name);
	report(ROW_PERF, row, least[1]);
}

BENCH("open", 20)
{
	open_close("hw1", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, 1);
	open_close("hwgroup4", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, 4);
	open_close("sw1", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK, 1);
}
