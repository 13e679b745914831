/* SPDX-License-Identifier: MIT */
/* The floor: a system call that does nothing, and one of perf that finds nothing to do. */
#include "bench.h"

#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define LOOPS 1000

static double getppids(void)
{
	double start = now();

	for (int i = 0; i < LOOPS; i++)
		syscall(SYS_getppid);
	return (now() - start) / LOOPS;
}

static double prctls(void)
{
	double start = now();

	for (int i = 0; i < LOOPS; i++) {
		prctl(PR_TASK_PERF_EVENTS_DISABLE);
		prctl(PR_TASK_PERF_EVENTS_ENABLE);
	}
	return (now() - start) / LOOPS;
}

BENCH("syscall", 10)
{
	report(ROW_BASE, "syscall.getppid", LEAST(getppids()));
	report(ROW_PERF, "prctl.disable+enable.none", LEAST(prctls()));
}
