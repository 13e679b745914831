/* SPDX-License-Identifier: MIT */
/*
 * Context switches: two processes on one CPU send a byte to and fro through pipes. A row is half a
 * round trip: one write, one read that sleeps, one switch, and what the open events add.
 *
 * clone: the events are inherited, so the two tasks' contexts are copies of each other. full: the
 * tasks have events of their own and everything must be exchanged.
 */
#include "bench.h"

#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define TRIPS 300

struct pair {
	int to[2], from[2];
	pid_t pid;
};

static void echo(void *arg)
{
	struct pair *p = arg;
	char c;

	while (read(p->to[0], &c, 1) == 1 && write(p->from[1], &c, 1) == 1)
		;
}

static void start(const char *name, struct pair *p)
{
	must(name, "pipe", pipe(p->to));
	must(name, "pipe", pipe(p->from));
	p->pid = start_child(0, echo, p);
	must(name, "fork", p->pid);
}

static void end(struct pair *p)
{
	end_child(p->pid);
	for (int i = 0; i < 2; i++) {
		close(p->to[i]);
		close(p->from[i]);
	}
}

static double trips(const struct pair *p)
{
	double begin = now();
	char c = 0;

	for (int i = 0; i < TRIPS; i++)
		if (write(p->to[1], &c, 1) != 1 || read(p->from[0], &c, 1) != 1)
			return -1;
	return (now() - begin) / TRIPS / 2;
}

static void switch_clone(const char *name, int n)
{
	int *fd = calloc((size_t)n + 1, sizeof(int));
	struct pair p;

	open_many(name, fd, n, 0, true, false);
	start(name, &p);
	report(n ? ROW_PERF : ROW_BASE, name, LEAST(trips(&p)));
	end(&p);
	close_many(fd, n);
	free(fd);
}

static void switch_full(const char *name, int n, bool group)
{
	int *fd = calloc(2 * (size_t)n, sizeof(int));
	struct pair p;

	start(name, &p);
	open_many(name, fd, n, 0, false, group);
	open_many(name, fd + n, n, p.pid, false, group);
	report(ROW_PERF, name, LEAST(trips(&p)));
	end(&p);
	close_many(fd, 2 * n);
	free(fd);
}

static void switch_soft(const char *name, int n)
{
	struct perf_event_attr a = attr_of(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK);
	struct pair p;
	int fd[32];

	start(name, &p);
	for (int i = 0; i < 2 * n; i++)
		fd[i] = must_open(name, &a, i < n ? 0 : p.pid, -1, -1);
	report(ROW_PERF, name, LEAST(trips(&p)));
	end(&p);
	close_many(fd, 2 * n);
}

/* A third task, which sleeps, has an event: the two that switch have none. */
static void switch_other(const char *name)
{
	struct pair sleeper, p;
	int fd;

	start(name, &sleeper);
	open_many(name, &fd, 1, sleeper.pid, false, false);
	start(name, &p);
	report(ROW_PERF, name, LEAST(trips(&p)));
	end(&p);
	end(&sleeper);
	close(fd);
}

/* Each switch away from either task is a sample. */
static void switch_sampled(const char *name)
{
	struct perf_event_attr a = attr_of(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES);
	struct pair p;
	int fd[2];

	a.sample_period = 1;
	a.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME;
	start(name, &p);
	for (int i = 0; i < 2; i++) {
		fd[i] = must_open(name, &a, i ? p.pid : 0, -1, -1);
		map_ring(name, fd[i], 64);
	}
	report(ROW_PERF, name, LEAST(trips(&p)));
	end(&p);
	close_many(fd, 2);
}

BENCH("switch", 60)
{
	switch_clone("switch.0ev", 0);
	switch_other("switch.other_task_1hw");
	switch_clone("switch.clone.1hw", 1);
	switch_clone("switch.clone.6hw", 6);
	switch_clone("switch.clone.256hw", 256);
	switch_full("switch.full.1hw", 1, false);
	switch_full("switch.full.6hw", 6, false);
	switch_full("switch.full.6hw.group", 6, true);
	switch_full("switch.full.8hw", 8, false);
	switch_full("switch.full.32hw", 32, false);
	switch_full("switch.full.256hw", 256, false);
	switch_full("switch.full.1024hw", 1024, false);
	switch_soft("switch.full.8sw", 8);
	switch_sampled("switch.sampled");
}
