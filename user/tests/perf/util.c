/* SPDX-License-Identifier: MIT */
/* What the tests share: opening, reading, burning time. */
#include "ptest.h"

#include <dirent.h>
#include <fcntl.h>
#include <sched.h>
#include <stdarg.h>
#include <time.h>

struct perf_event_attr attr_of(u32 type, u64 config)
{
	return (struct perf_event_attr){ .type = type, .size = sizeof(struct perf_event_attr), .config = config };
}

int perf_open(const struct perf_event_attr *a, pid_t pid, int cpu, int group, unsigned long flags)
{
	return (int)syscall(SYS_perf_event_open, a, pid, cpu, group, flags);
}

int open_self(u32 type, u64 config)
{
	return open_with(type, config, 0, false, false);
}

int open_with(u32 type, u64 config, u64 read_format, bool disabled, bool inherit)
{
	struct perf_event_attr a = attr_of(type, config);

	a.read_format = read_format;
	a.disabled = disabled;
	a.inherit = inherit;
	int fd = perf_open(&a, 0, -1, -1, 0);

	NEED(fd);
	return fd;
}

u64 read_u64(int fd)
{
	u64 v = 0;
	ssize_t n = read(fd, &v, sizeof(v));

	EXPECT_EQ(n, sizeof(v));
	return v;
}

struct times read_times(int fd)
{
	struct times t = { 0 };
	ssize_t n = read(fd, &t, sizeof(t));

	EXPECT_EQ(n, sizeof(t));
	return t;
}

static u64 clock_ns(clockid_t c)
{
	struct timespec t;

	clock_gettime(c, &t);
	return (u64)t.tv_sec * 1000000000 + (u64)t.tv_nsec;
}

u64 now_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

u64 thread_cpu_ns(void)
{
	return clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

__attribute__((noinline)) void spin_loops(u64 n)
{
	while (n--)
		__asm__ volatile("" : "+r"(n));
}

void spin_ms(unsigned ms)
{
	u64 end = thread_cpu_ns() + ms * 1000000ull;

	while (thread_cpu_ns() < end)
		spin_loops(2000);
}

void nap_ms(unsigned ms)
{
	struct timespec t = { ms / 1000, ms % 1000 * 1000000 };

	nanosleep(&t, NULL);
}

int run_child(void (*fn)(void *), void *arg)
{
	pid_t pid = fork();

	NEED(pid);
	if (!pid) {
		fn(arg);
		_exit(0);
	}
	return pid;
}

void reap(pid_t pid)
{
	int st;

	NEED(waitpid(pid, &st, 0));
	EXPECT(WIFEXITED(st) && !WEXITSTATUS(st), "child ended with status %#x", st);
}

int run_program(char *out, size_t size, const char *path, ...)
{
	const char *argv[24] = { path };
	int p[2], st, n = 1;
	size_t len = 0;
	ssize_t got;
	va_list ap;
	pid_t pid;

	va_start(ap, path);
	while (n < 23 && (argv[n] = va_arg(ap, const char *)))
		n++;
	va_end(ap);
	NEED(pipe(p));
	pid = fork();
	NEED(pid);
	if (!pid) {
		int null = open("/dev/null", O_RDONLY);

		dup2(null, 0);
		dup2(p[1], 1);
		dup2(p[1], 2);
		close(p[0]);
		execvp(path, (char **)argv);
		_exit(127);
	}
	close(p[1]);
	while (len < size - 1 && (got = read(p[0], out + len, size - 1 - len)) > 0)
		len += (size_t)got;
	out[len] = 0;
	close(p[0]);
	NEED(waitpid(pid, &st, 0));
	return WIFEXITED(st) ? WEXITSTATUS(st) : -1;
}

int nr_cpus(void)
{
	return (int)sysconf(_SC_NPROCESSORS_ONLN);
}

void pin(int cpu)
{
	cpu_set_t s;

	CPU_ZERO(&s);
	CPU_SET(cpu, &s);
	NEED(sched_setaffinity(0, sizeof(s), &s));
}

long read_long(const char *path)
{
	FILE *f = fopen(path, "r");
	long v = -1;

	if (!f)
		return -1;
	if (fscanf(f, "%ld", &v) != 1)
		v = -1;
	fclose(f);
	return v;
}

#define PMUS "/sys/bus/event_source/devices"

/* PMUs of CPUs are those with a file "cpus"; types are given in the order of registration. */
const char *pmu_file(const char *name)
{
	static char path[400];
	char best[256] = "";
	long best_type = -1;
	DIR *d = opendir(PMUS);
	struct dirent *e;

	while (d && (e = readdir(d))) {
		snprintf(path, sizeof(path), PMUS "/%s/cpus", e->d_name);
		if (access(path, F_OK))
			continue;
		snprintf(path, sizeof(path), PMUS "/%s/type", e->d_name);
		if (best_type >= 0 && read_long(path) > best_type)
			continue;
		best_type = read_long(path);
		snprintf(best, sizeof(best), "%s", e->d_name);
	}
	if (d)
		closedir(d);
	path[0] = '\0';
	if (best[0])
		snprintf(path, sizeof(path), PMUS "/%s/%s", best, name);
	return path;
}

int write_long(const char *path, long v)
{
	char text[32];
	int fd = open(path, O_WRONLY), n = snprintf(text, sizeof(text), "%ld\n", v);
	ssize_t done;

	if (fd < 0)
		return -1;
	done = write(fd, text, (size_t)n);
	close(fd);
	return done == n ? 0 : -1;
}

bool has_event(u32 type, u64 config)
{
	struct perf_event_attr a = attr_of(type, config);
	int fd = perf_open(&a, 0, -1, -1, 0);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

bool exact_time(void)
{
	return has_event(PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS);
}

u64 skew_percent(void)
{
	return exact_time() ? 2 : 15;
}

u64 least_interrupts(u64 due)
{
	return exact_time() ? due / 4 : due > 0;
}
