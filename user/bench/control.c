/* SPDX-License-Identifier: MIT */
/*
 * Enabling, disabling and resetting an event: of the running task, and of one that runs on another
 * CPU.
 */
#include "bench.h"

#include <unistd.h>

#define LOOPS 1000
#define REMOTE_LOOPS 100	/* each waits twice for another CPU, which may not run just now */

static double toggles(int fd, unsigned long flags, int loops)
{
	double start = now();

	for (int i = 0; i < loops; i++) {
		ioctl(fd, PERF_EVENT_IOC_DISABLE, flags);
		ioctl(fd, PERF_EVENT_IOC_ENABLE, flags);
	}
	return (now() - start) / loops;
}

static double resets(int fd)
{
	double start = now();

	for (int i = 0; i < LOOPS; i++)
		ioctl(fd, PERF_EVENT_IOC_RESET, 0);
	return (now() - start) / LOOPS;
}

static void run_for_ever(void *unused)
{
	for (;;)
		spin(1000000);
}

static void toggle_remote(const char *name)
{
	int fd[4];
	pid_t pid;

	if (!need_two_cpus(name))
		return;
	pid = start_child(1, run_for_ever, NULL);
	open_many(name, fd, 4, pid, false, true);
	report(ROW_PERF, name, LEAST(toggles(fd[0], PERF_IOC_FLAG_GROUP, REMOTE_LOOPS)));
	close_many(fd, 4);
	end_child(pid);
}

BENCH("control", 40)
{
	struct perf_event_attr a = attr_of(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES);
	int fd = must_open("ioctl.disable+enable", &a, 0, -1, -1);

	report(ROW_PERF, "ioctl.disable+enable", LEAST(toggles(fd, 0, LOOPS)));
	report(ROW_PERF, "ioctl.reset", LEAST(resets(fd)));
	close(fd);
	toggle_remote("ioctl.disable+enable.group4.other_cpu");
}
