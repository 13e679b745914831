/* SPDX-License-Identifier: MIT */
/*
 * storm [SECONDS]: cycles with period 1 on every CPU, their records into rings that nobody empties, ten processes that only
 * compute; meanwhile a shell is started and asked again and again. It must answer within a second (the median of the
 * answers, because the machine under an emulator may be held up). Exits 0 if it does.
 */
#define _GNU_SOURCE
#include <linux/perf_event.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define WORKERS 10
#define ASKS 9

static long now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

/* One event and ring for each CPU. How many. */
static int start_storm(void)
{
	struct perf_event_attr a = {.type = PERF_TYPE_RAW, .size = sizeof(a), .config = 0x11, .sample_period = 1,
		.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CALLCHAIN};
	int n = (int)sysconf(_SC_NPROCESSORS_ONLN), made = 0;

	for (int cpu = 0; cpu < n; cpu++) {
		int fd = (int)syscall(SYS_perf_event_open, &a, -1, cpu, -1, 0);

		made += fd >= 0 && mmap(NULL, 65 * 4096, PROT_READ, MAP_SHARED, fd, 0) != MAP_FAILED;
	}
	return made == n ? n : 0;
}

static pid_t start_worker(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (volatile unsigned long i = 0;; i++)
			;
	}
	return pid;
}

/* Milliseconds until a new shell has said what it was told, or -1. */
static long ask(void)
{
	long start = now_ms();
	char line[16] = "";
	FILE *f = popen("echo alive | cat", "r");

	if (!f || !fgets(line, sizeof(line), f) || pclose(f) || strcmp(line, "alive\n"))
		return -1;
	return now_ms() - start;
}

static int by_value(const void *a, const void *b)
{
	return (int)(*(const long *)a - *(const long *)b);
}

int main(void)
{
	long answer[ASKS];
	pid_t worker[WORKERS];
	int cpus, bad = 0;

	for (int i = 0; i < WORKERS; i++)
		worker[i] = start_worker();
	cpus = start_storm();
	for (int i = 0; i < ASKS; i++) {
		answer[i] = ask();
		bad += answer[i] < 0;
	}
	for (int i = 0; i < WORKERS; i++) {
		kill(worker[i], SIGKILL);
		waitpid(worker[i], NULL, 0);
	}
	qsort(answer, ASKS, sizeof(answer[0]), by_value);
	printf("storm: period 1 on %d CPUs, %d workers: the shell answers after %ld ms (%ld to %ld)\n", cpus, WORKERS,
		answer[ASKS / 2], answer[0], answer[ASKS - 1]);
	return !cpus || bad || answer[ASKS / 2] > 1000;
}
