/* SPDX-License-Identifier: MIT */
/*
 * Runs the tests of ptest.h: one process each, a time limit, TAP lines, a sum at the end.
 *
 * Many tests compare what two clocks or two counters say of the same stretch of time. Under -icount that is
 * exact, and a test has one try. Otherwise virtual CPUs stop at any point while the build machine does something
 * else: a test that fails gets two more tries, and its line says so if it needed them. --once gives none.
 */
#include "ptest.h"

#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <time.h>

#define TIME_LIMIT_S 20
#define EXIT_SKIP 77

extern const struct ptest *const __start_ptests[], *const __stop_ptests[];

static bool failed;		/* in the test's own process */

void test_fail(const char *file, int line, const char *fmt, ...)
{
	const char *base = strrchr(file, '/');
	va_list ap;

	failed = true;
	printf("  # %s:%d: ", base ? base + 1 : file, line);
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	printf("\n");
	fflush(stdout);
}

bool test_failed(void)
{
	return failed;
}

void test_skip(const char *fmt, ...)
{
	va_list ap;

	printf("  # skipped: ");
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	printf("\n");
	fflush(stdout);
	_exit(EXIT_SKIP);
}

void need_(const char *file, int line, const char *what, long result)
{
	if (result >= 0)
		return;
	test_fail(file, line, "%s: %s", what, strerror(errno));
	_exit(1);
}

static int run_one(const struct ptest *t)
{
	siginfo_t si;
	pid_t pid = fork();

	if (!pid) {
		setpgid(0, 0);
		alarm(TIME_LIMIT_S);
		t->run();
		fflush(stdout);
		_exit(failed);
	}
	waitid(P_PID, pid, &si, WEXITED | WNOWAIT);
	kill(-pid, SIGKILL);	/* what it may have left running */
	int st;
	waitpid(pid, &st, 0);
	if (WIFSIGNALED(st)) {
		printf("  # %s\n", WTERMSIG(st) == SIGALRM ? "time limit" : strsignal(WTERMSIG(st)));
		return 1;
	}
	return WEXITSTATUS(st);
}

/* The kernel lowers its sample rate when samples take long, as they do where virtual CPUs stand still. */
static void full_rate(void)
{
	write_long("/proc/sys/kernel/perf_cpu_time_max_percent", 95);
	write_long("/proc/sys/kernel/perf_event_max_sample_rate", 100000);
}

static int run_tries(const struct ptest *t, int tries, int *used)
{
	int st;

	for (*used = 1;; ++*used) {
		full_rate();
		st = run_one(t);
		if (!st || st == EXIT_SKIP || *used == tries)
			return st;
	}
}

static bool wanted(const struct ptest *t, int argc, char **argv)
{
	if (argc < 2)
		return true;
	for (int i = 1; i < argc; i++) {
		size_t n = strlen(argv[i]);

		if (!strncmp(t->name, argv[i], n) && (!t->name[n] || t->name[n] == '/'))
			return true;
	}
	return false;
}

static int by_name(const void *a, const void *b)
{
	return strcmp((*(const struct ptest **)a)->name, (*(const struct ptest **)b)->name);
}

int main(int argc, char **argv)
{
	size_t n = (size_t)(__stop_ptests - __start_ptests);
	const struct ptest **all = calloc(n, sizeof(*all));
	int passed = 0, bad = 0, skipped = 0, nr = 0, tries = exact_time() ? 1 : 3;

	memcpy(all, __start_ptests, n * sizeof(*all));
	qsort(all, n, sizeof(*all), by_name);
	if (argc > 1 && !strcmp(argv[1], "-l")) {
		for (size_t i = 0; i < n; i++)
			printf("%s\t%s\t%s\n", all[i]->name, all[i]->covers, all[i]->source);
		return 0;
	}
	if (argc > 1 && !strcmp(argv[1], "--once")) {
		tries = 1;
		argv[1] = argv[0];
		argv++, argc--;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	for (size_t i = 0; i < n; i++) {
		if (!wanted(all[i], argc, argv))
			continue;
		fflush(stdout);
		u64 start = now_ns();
		int used, st = run_tries(all[i], tries, &used);
		unsigned ms = (unsigned)((now_ns() - start) / 1000000);

		nr++;
		if (st == EXIT_SKIP)
			skipped++;
		else if (st)
			bad++;
		else
			passed++;
		printf("%s %d - %s%s (%u ms", st && st != EXIT_SKIP ? "not ok" : "ok", nr, all[i]->name,
		       st == EXIT_SKIP ? " # SKIP" : "", ms);
		printf(used > 1 ? ", %d tries)\n" : ")\n", used);
	}
	printf("ptest: %d passed, %d failed, %d skipped\n", passed, bad, skipped);
	return bad || !nr;
}
