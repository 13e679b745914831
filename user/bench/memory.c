/* SPDX-License-Identifier: MIT */
/*
 * Memory of the kernel for an event and for a ring, by what /proc/meminfo says is free before and
 * after.
 */
#include "bench.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EVENTS 2000
#define RINGS 256
#define RING_PAGES 4

static double free_bytes(void)
{
	FILE *f = fopen("/proc/meminfo", "r");
	char line[128];
	double kb = 0;

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "MemFree: %lf", &kb) == 1)
			break;
	if (f)
		fclose(f);
	return kb * 1024;
}

static double event_bytes(int *fd)
{
	double before = free_bytes(), per;

	open_many("memory.event", fd, EVENTS, 0, false, false);
	per = (before - free_bytes()) / EVENTS;
	close_many(fd, EVENTS);
	return per;
}

static double ring_bytes(const int *fd)
{
	void *ring[RINGS];
	double before = free_bytes(), per;

	for (int i = 0; i < RINGS; i++)
		ring[i] = map_ring("memory.ring4", fd[i], RING_PAGES);
	per = (before - free_bytes()) / RINGS;
	for (int i = 0; i < RINGS; i++)
		unmap_ring(ring[i], RING_PAGES);
	return per;
}

BENCH("memory", 100)
{
	int *fd = calloc(EVENTS, sizeof(int));

	usleep(500000);		/* for what earlier benchmarks left to be freed */
	memset(fd, 0xff, EVENTS * sizeof(int));
	report_unit(ROW_INFO, "memory.event", event_bytes(fd), "bytes");
	open_many("memory.ring4", fd, RINGS, 0, false, false);
	report_unit(ROW_INFO, "memory.ring4", ring_bytes(fd), "bytes");
}
