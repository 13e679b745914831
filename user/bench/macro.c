/* SPDX-License-Identifier: MIT */
/*
 * What `perf record -F 20000 -g` adds to a program: pbench --work compute|forks measures itself,
 * and runs once alone and once under perf. perf's own work (it empties the rings on the same CPU)
 * is part of it.
 */
#include "bench.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define COMPUTE 20000000
#define FORKS 100

static void work(const char *what)
{
	if (!strcmp(what, "compute"))
		spin(COMPUTE);
	for (int i = 0; i < FORKS && !strcmp(what, "forks"); i++) {
		pid_t pid = fork();

		if (!pid)
			_exit(0);
		waitpid(pid, NULL, 0);
	}
}

/* The program that is measured: writes the time of its work to /tmp/pbench.work. */
int macro_main(const char *what)
{
	double start = now();
	FILE *f;

	if (!strcmp(what, "nothing"))
		return 0;
	work(what);
	start = now() - start;
	f = fopen("/tmp/pbench.work", "w");
	if (!f)
		return 1;
	fprintf(f, "%f\n", start);
	return fclose(f) ? 1 : 0;
}

static double time_of(const char *command)
{
	double t = -1;
	FILE *f;

	unlink("/tmp/pbench.work");
	if (system(command) || !(f = fopen("/tmp/pbench.work", "r")))
		return -1;
	if (fscanf(f, "%lf", &t) != 1)
		t = -1;
	fclose(f);
	return t;
}

static void record(const char *what)
{
	char name[64], command[256];
	double bare, with;

	snprintf(name, sizeof(name), "record.%s", what);
	snprintf(command, sizeof(command), "/bin/pbench --work %s", what);
	bare = time_of(command);
	snprintf(command, sizeof(command), "perf record -q -F 20000 -g -o /tmp/pbench.data -- "
		 "/bin/pbench --work %s >/dev/null 2>&1", what);
	with = time_of(command);
	unlink("/tmp/pbench.data");
	if (bare < 0 || with < 0) {
		report_none(name, "perf record did not run");
		return;
	}
	report_unit(ROW_INFO, name, 100 * (with - bare) / bare, "% more time");
	strcat(name, ".extra");		/* a share says little where what it is of differs */
	report(ROW_INFO, name, with - bare);
}

BENCH("record", 120)
{
	record("compute");
	record("forks");
}
