/* SPDX-License-Identifier: MIT */
/*
 * Runs the benchmarks of bench.h: pbench [NAME...], each in a process of its own. `pbench -l`
 * lists them. The other words are programs that benchmarks start: see macro.c and family.c.
 */
#include "bench.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define TIME_LIMIT_S 120

extern const struct bench *const __start_benches[], *const __stop_benches[];

static const char *const kinds[] = {
	[ROW_PERF] = "perf", [ROW_BASE] = "base", [ROW_USER] = "user", [ROW_WAIT] = "wait",
	[ROW_INFO] = "info",
};

void report_unit(enum row_kind kind, const char *name, double value, const char *unit)
{
	printf("bench\t%s\t%s\t%.1f\t%s\n", kinds[kind], name, value, unit);
	fflush(stdout);
}

void report(enum row_kind kind, const char *name, double ns)
{
	report_unit(kind, name, ns, "ns");
}

void report_none(const char *name, const char *why)
{
	printf("bench\tinfo\t%s\tNA\t%s%s%s\n", name, why, errno ? ": " : "",
	       errno ? strerror(errno) : "");
	fflush(stdout);
}

static bool wanted(const struct bench *b, int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		if (!strcmp(b->name, argv[i]))
			return true;
	return argc < 2;
}

static int by_order(const void *a, const void *b)
{
	return (*(const struct bench **)a)->order - (*(const struct bench **)b)->order;
}

static int run_one(const struct bench *b)
{
	int status;
	pid_t pid = fork();

	if (!pid) {
		alarm(TIME_LIMIT_S);
		pin(0, 0);
		errno = 0;
		b->run();
		_exit(0);
	}
	waitpid(pid, &status, 0);
	if (!status)
		return 0;
	printf("bench: %s ended with status %#x\n", b->name, status);
	return 1;
}

int macro_main(const char *what);	/* macro.c */

int main(int argc, char **argv)
{
	size_t n = (size_t)(__stop_benches - __start_benches);
	const struct bench **all = calloc(n, sizeof(*all));
	struct rlimit files = { 4096, 4096 };
	int bad = 0;

	if (argc > 2 && !strcmp(argv[1], "--work"))
		return macro_main(argv[2]);
	memcpy(all, __start_benches, n * sizeof(*all));
	qsort(all, n, sizeof(*all), by_order);
	if (argc > 1 && !strcmp(argv[1], "-l")) {
		for (size_t i = 0; i < n; i++)
			printf("%s\n", all[i]->name);
		return 0;
	}
	setrlimit(RLIMIT_NOFILE, &files);
	for (size_t i = 0; i < n; i++)
		if (wanted(all[i], argc, argv))
			bad += run_one(all[i]);
	printf("bench: %d failed\n", bad);
	return bad;
}
