/* SPDX-License-Identifier: MIT */
/*
 * The host lane: the perf core on a simulated machine.
 *   perf-host                  named tests, then random programs from fixed seeds
 *   perf-host -n NAME          one named test
 *   perf-host -s SEED [-o OPS] one random program, to replay a failure
 *   perf-host -x SEED [-o OPS] leave out steps of it as long as it fails
 *   perf-host -r RUNS [-o OPS] so many seeds
 *   -v prints the program of -s, -k LIST runs only these steps of it, -q ends at the first failure
 *   -c checks all events after each step: that finds the first wrong one sooner, but a read can also mend it
 */
#include "sim.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

void fail(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	printf("  ");
	vprintf(fmt, ap);
	printf("\n");
	fflush(stdout);
	_exit(1);
}

void sim_assert_failed(const char *what, const char *file, int line)
{
	fail("assertion failed: %s (%s:%d)", what, strrchr(file, '/') ? strrchr(file, '/') + 1 : file,
	     line);
}

static int passed, failed;
static bool stop_at_first;

/* Each test in its own process: a failure is the end of that one only. */
static void in_child(const char *name, void (*fn)(void), u64 seed, u32 ops)
{
	int status;
	pid_t pid;

	if (stop_at_first && failed)
		return;
	fflush(stdout);
	pid = fork();
	if (!pid) {
		alarm(100);
		fn ? fn() : random_run(seed, ops, NULL);
		fflush(stdout);
		_exit(0);
	}
	waitpid(pid, &status, 0);
	if (WIFEXITED(status) && !WEXITSTATUS(status)) {
		passed++;
		return;
	}
	failed++;
	if (fn)
		printf("FAIL %s (status 0x%x)\n", name, status);
	else
		printf("FAIL seed %lu (status 0x%x): replay with -s %lu -o %u, shrink with -x\n", seed,
		       status, seed, ops);
}

extern const struct test *const __start_host_tests[], *const __stop_host_tests[];

static void named(const struct test *t, const char *only)
{
	if (!only || !strcmp(t->name, only))
		in_child(t->name, t->fn, 0, 0);
}

static void all_named(const char *only)
{
	for (const struct test *const *t = __start_host_tests; t < __stop_host_tests; t++)
		named(*t, only);
}

int main(int argc, char **argv)
{
	const char *name = NULL;
	u32 ops = 3000, runs = 350;
	const char *keep = NULL;
	long seed = -1, to_shrink = -1;
	u8 *skip = NULL;
	int c;

	while ((c = getopt(argc, argv, "n:s:x:k:o:r:vqc")) != -1)
		switch (c) {
		case 'n': name = optarg; break;
		case 's': seed = atol(optarg); break;
		case 'x': to_shrink = atol(optarg); break;
		case 'k': keep = optarg; break;
		case 'q': stop_at_first = true; break;
		case 'v': sim_trace = true; break;
		case 'c': sim_check_each = true; break;
		case 'o': ops = (u32)atol(optarg); break;
		case 'r': runs = (u32)atol(optarg); break;
		default: return 2;
		}
	if (to_shrink >= 0)
		return shrink((u64)to_shrink, ops);
	if (keep && !steps_keep(keep, ops, skip = malloc(ops)))
		return 2;
	if (seed >= 0) {
		random_run((u64)seed, ops, skip);
		printf("seed %ld passed\n", seed);
		return 0;
	}
	all_named(name);
	if (!name)
		for (u64 s = 1; s <= runs; s++)
			in_child(NULL, NULL, s, ops);
	printf("%d passed, %d failed\n", passed, failed);
	return failed || !passed;
}
