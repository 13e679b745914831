/* SPDX-License-Identifier: MIT */
/*
 * fork, exec and threads, with inherited events and without. A row is the whole life: creation,
 * end, wait.
 */
#include "bench.h"

#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#define FORKS 40

static double forks(void)
{
	double start = now();

	for (int i = 0; i < FORKS; i++) {
		pid_t pid = fork();

		if (!pid)
			_exit(0);
		waitpid(pid, NULL, 0);
	}
	return (now() - start) / FORKS;
}

/* The program is this one, with words that make it end at once. */
static double execs(void)
{
	double start = now();

	for (int i = 0; i < FORKS; i++) {
		pid_t pid = vfork();

		if (!pid) {
			execl("/proc/self/exe", "pbench", "--work", "nothing", NULL);
			_exit(1);
		}
		waitpid(pid, NULL, 0);
	}
	return (now() - start) / FORKS;
}

static void *nothing(void *arg)
{
	return arg;
}

static double threads(void)
{
	double start = now();
	pthread_t t;

	for (int i = 0; i < FORKS; i++) {
		pthread_create(&t, NULL, nothing, NULL);
		pthread_join(t, NULL);
	}
	return (now() - start) / FORKS;
}

static void with_events(const char *what, double (*round)(void), int n)
{
	char name[64];
	int fd[16];

	snprintf(name, sizeof(name), n ? "%s.%dhw" : "%s.%dev", what, n);
	open_many(name, fd, n, 0, true, false);
	report(n ? ROW_PERF : ROW_BASE, name, LEAST(round()));
	close_many(fd, n);
}

BENCH("fork", 70)
{
	with_events("fork", forks, 0);
	with_events("fork", forks, 1);
	with_events("fork", forks, 6);
}

BENCH("exec", 71)
{
	with_events("exec", execs, 0);
	with_events("exec", execs, 6);
}

BENCH("thread", 72)
{
	with_events("thread", threads, 0);
	with_events("thread", threads, 6);
}
