/* SPDX-License-Identifier: MIT */
/*
 * What the named tests share. Comments at their heads say what a test stands for: H n is a row of the hazard
 * table (kernel/perf/REVIEW.md), PB-n a public bug of Linux's perf, S n and F n features of StarryOS's and
 * FreeBSD's counters. Time is in ns; every event counts sim_rate() per ns, cycles (CYC) 1.
 */
#ifndef TESTLIB_H
#define TESTLIB_H

#include "sim.h"

#include <string.h>

#define MS 1000000ULL
#define TET (PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING)
#define CYC 0x11

static inline struct perf_event_attr raw(u64 config)
{
	return (struct perf_event_attr){ .type = PERF_TYPE_RAW, .size = sizeof(struct perf_event_attr),
					 .config = config, .read_format = TET };
}

static inline struct perf_event_attr sw(u64 config)
{
	struct perf_event_attr a = raw(config);

	a.type = PERF_TYPE_SOFTWARE;
	return a;
}

/* Start with one task that runs on CPU 0, where we are. */
static inline struct task *begin(u32 width)
{
	struct task *t;

	sim_start(7, width);
	t = sim_task();
	sim_switch(0, t);
	return t;
}

static inline long try_open(struct perf_event_attr a, int pid, int cpu, int group)
{
	return sim_open(&a, pid, cpu, group, 0);
}
static inline int open_on(struct perf_event_attr a, int pid, int cpu, int group)
{
	long fd = try_open(a, pid, cpu, group);

	if (fd < 0)
		fail("open of type %u config %lu: %ld", a.type, (unsigned long)a.config, fd);
	return (int)fd;
}
static inline int self(struct perf_event_attr a) { return open_on(a, 0, -1, -1); }
static inline int member(struct perf_event_attr a, int group) { return open_on(a, 0, -1, group); }

struct val { u64 v, en, run; };
static inline struct val get(int fd)
{
	u64 b[3];

	CHECK_EQ(sim_read(fd, b, sizeof(b)), 24);
	return (struct val){ b[0], b[1], b[2] };
}
static inline void on(int fd) { CHECK_EQ(sim_ioctl(fd, PERF_EVENT_IOC_ENABLE, 0), 0); }
static inline void off(int fd) { CHECK_EQ(sim_ioctl(fd, PERF_EVENT_IOC_DISABLE, 0), 0); }

static inline void set_sysctl(const char *name, int value)
{
	for (struct perf_sysctl *s = perf_sysctls; s->name; s++)
		if (!strcmp(s->name, name)) {
			CHECK_EQ(perf_sysctl_set(s, value), 0);
			return;
		}
	fail("no sysctl %s", name);
}

#endif
