/* SPDX-License-Identifier: MIT */
/*
 * What one rotation costs while n events take turns on the counters: the time of a computation
 * with them less the time without, by the number of 4 ms intervals in it.
 */
#include "bench.h"

#include <stdlib.h>

#define LENGTH 10000000
#define INTERVAL_NS 4e6

static double computing(void)
{
	double start = now();

	spin(LENGTH);
	return now() - start;
}

static double shortest(void)
{
	double a = computing(), b = computing();

	return a < b ? a : b;
}

BENCH("rotate", 90)
{
	static const int sizes[] = { 16, 256, 1024 };
	double bare = shortest();
	char name[64];

	for (int i = 0; i < 3; i++) {
		int *fd = calloc((size_t)sizes[i], sizeof(int));
		double with;

		snprintf(name, sizeof(name), "rotate.%dhw", sizes[i]);
		open_many(name, fd, sizes[i], 0, false, false);
		with = shortest();
		report(ROW_PERF, name, (with - bare) / (with / INTERVAL_NS));
		close_many(fd, sizes[i]);
		free(fd);
	}
}
