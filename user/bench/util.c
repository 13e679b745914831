/* SPDX-License-Identifier: MIT */
/* What the benchmarks share: time, events, rings, children. */
#include "bench.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

double now(void)
{
	uint64_t ticks, hz;

	__asm__ volatile("isb\n\tmrs %0, cntvct_el0\n\tmrs %1, cntfrq_el0"
			 : "=r"(ticks), "=r"(hz) : : "memory");
	return (double)ticks * (1e9 / (double)hz);
}

struct perf_event_attr attr_of(uint32_t type, uint64_t config)
{
	return (struct perf_event_attr){
		.type = type, .size = sizeof(struct perf_event_attr), .config = config
	};
}

int perf_open(const struct perf_event_attr *a, pid_t pid, int cpu, int group)
{
	return (int)syscall(SYS_perf_event_open, a, pid, cpu, group, 0);
}

void must(const char *name, const char *what, long result)
{
	if (result >= 0)
		return;
	report_none(name, what);
	_exit(0);
}

int must_open(const char *name, const struct perf_event_attr *a, pid_t pid, int cpu, int group)
{
	int fd = perf_open(a, pid, cpu, group);

	must(name, "open", fd);
	return fd;
}

void open_many(const char *name, int *fd, int n, pid_t pid, bool inherit, bool group)
{
	static const uint64_t events[] = { RAW_INSTRUCTIONS, RAW_CYCLES };

	for (int i = 0; i < n; i++) {
		struct perf_event_attr a = attr_of(PERF_TYPE_RAW, events[i % 2]);

		a.inherit = inherit;
		fd[i] = must_open(name, &a, pid, -1, group && i ? fd[0] : -1);
	}
}

void close_many(const int *fd, int n)
{
	while (n--)
		close(fd[n]);
}

void *map_ring(const char *name, int fd, unsigned int pages)
{
	void *ring = mmap(NULL, 4096 * (pages + 1), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	must(name, "mmap", ring == MAP_FAILED ? -1 : 0);
	return ring;
}

void unmap_ring(void *ring, unsigned int pages)
{
	munmap(ring, 4096 * (pages + 1));
}

void pin(pid_t pid, int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	sched_setaffinity(pid, sizeof(set), &set);
}

static volatile uint64_t sink;

__attribute__((noinline)) void spin(long rounds)
{
	for (long i = 0; i < rounds; i++)
		sink += (uint64_t)i;
}

pid_t start_child(int cpu, void (*fn)(void *), void *arg)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	pin(0, cpu);
	fn(arg);
	_exit(0);
}

void end_child(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

bool need_two_cpus(const char *name)
{
	if (sysconf(_SC_NPROCESSORS_ONLN) >= 2)
		return true;
	errno = 0;
	report_none(name, "needs two CPUs");
	return false;
}
