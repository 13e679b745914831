/* SPDX-License-Identifier: MIT */
/* Rings: mapping them, and how long a reader in poll() waits after an overflow. */
#include "bench.h"

#include <poll.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define MAPS 20

static double maps(const char *name, int fd, unsigned int pages)
{
	double start = now();

	for (int i = 0; i < MAPS; i++)
		unmap_ring(map_ring(name, fd, pages), pages);
	return (now() - start) / MAPS;
}

BENCH("ring", 50)
{
	static const unsigned int sizes[] = { 4, 128, 512 };
	struct perf_event_attr a = attr_of(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES);
	char name[64];
	int fd;

	a.sample_period = 1000000;
	a.disabled = 1;
	fd = must_open("ring4.mmap+munmap", &a, 0, -1, -1);
	for (int i = 0; i < 3; i++) {
		snprintf(name, sizeof(name), "ring%u.mmap+munmap", sizes[i]);
		report(ROW_WAIT, name, LEAST(maps(name, fd, sizes[i])));
	}
}

/*
 * The task that overflows: it keeps telling the time, so its last word is from just before the
 * overflow.
 */
static void tell_time(void *shared)
{
	for (;;)
		*(volatile double *)shared = now();
}

#define WAKEUPS 50

BENCH("poll", 51)
{
	static const char name[] = "poll.wakeup";
	struct perf_event_attr a = attr_of(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES);
	volatile double *last = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
				     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t pid = start_child(0, tell_time, (void *)last);
	double least = 1e300;
	struct pollfd p;

	a.sample_period = 3000000;
	a.sample_type = PERF_SAMPLE_IP;
	a.wakeup_events = 1;
	a.exclude_kernel = 1;
	p = (struct pollfd){ must_open(name, &a, pid, -1, -1), POLLIN, 0 };
	map_ring(name, p.fd, 16);
	for (int i = 0; i < WAKEUPS; i++) {
		if (poll(&p, 1, -1) != 1)
			break;
		double waited = now() - *last;

		least = waited > 0 && waited < least ? waited : least;
	}
	report(ROW_PERF, name, least);
	end_child(pid);
}
