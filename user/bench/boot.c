/* SPDX-License-Identifier: MIT */
/*
 * From the machine's start to the first program. The counter starts with the machine; /proc/1/stat
 * says when init started on the clock that started with the kernel, and both clocks are read now.
 * Rounded up, in steps of 10 ms, as stat has it.
 */
#include "bench.h"

#include <string.h>
#include <time.h>

static double init_started(void)
{
	unsigned long long ticks = 0;
	char line[1024] = "", *p;
	FILE *f = fopen("/proc/1/stat", "r");

	if (f && fgets(line, sizeof(line), f) && (p = strrchr(line, ')')))
		for (int field = 2; field < 22 && p; field++)
			if ((p = strchr(p + 1, ' ')) && field == 21)
				sscanf(p, " %llu", &ticks);
	if (f)
		fclose(f);
	return (double)(ticks + 1) * 1e7;
}

BENCH("boot", 110)
{
	struct timespec t;
	double boot_clock;

	clock_gettime(CLOCK_BOOTTIME, &t);
	boot_clock = (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
	report(ROW_BASE, "boot.to_init", now() - (boot_clock - init_started()));
}
