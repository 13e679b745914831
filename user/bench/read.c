/* SPDX-License-Identifier: MIT */
/*
 * read(2) of one event, of a group, of an event that counts on another CPU; and the read without a
 * system call.
 */
#include "bench.h"

#include <sys/mman.h>
#include <unistd.h>

#define LOOPS 1000
#define TIMES (PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING)

static double reads(int fd)
{
	uint64_t buf[64];
	double start = now();

	for (int i = 0; i < LOOPS; i++)
		if (read(fd, buf, sizeof(buf)) <= 0)
			return -1;
	return (now() - start) / LOOPS;
}

static void read_group(const char *name, int n, uint64_t format)
{
	struct perf_event_attr a = attr_of(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES);
	int fd[16];

	a.read_format = format;
	for (int k = 0; k < n; k++)
		fd[k] = must_open(name, &a, 0, -1, k ? fd[0] : -1);
	report(ROW_PERF, name, LEAST(reads(fd[0])));
	close_many(fd, n);
}

static void run_for_ever(void *unused)
{
	for (;;)
		spin(1000000);
}

static void read_remote(const char *name)
{
	struct perf_event_attr a = attr_of(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES);
	pid_t pid;
	int fd;

	if (!need_two_cpus(name))
		return;
	pid = start_child(1, run_for_ever, NULL);
	a.read_format = TIMES;
	fd = must_open(name, &a, pid, -1, -1);
	report(ROW_PERF, name, LEAST(reads(fd)));
	close(fd);
	end_child(pid);
}

BENCH("read", 30)
{
	read_group("read.hw1", 1, TIMES);
	read_group("read.hwgroup6", 6, TIMES | PERF_FORMAT_GROUP | PERF_FORMAT_ID);
	read_remote("read.other_cpu");
}

/* The man page's loop: the lock says whether index, offset and counter belong together. */
static inline uint64_t user_read(const volatile struct perf_event_mmap_page *page)
{
	uint64_t count, raw;
	uint32_t seq, index;

	do {
		seq = page->lock;
		__asm__ volatile("dmb ishld" : : : "memory");
		index = page->index;
		if (index == 32)
			__asm__ volatile("mrs %0, pmccntr_el0" : "=r"(raw));
		else
			__asm__ volatile("msr pmselr_el0, %1\n\tisb\n\tmrs %0, pmxevcntr_el0"
					 : "=r"(raw) : "r"((uint64_t)index - 1));
		count = (uint64_t)page->offset + raw;
		__asm__ volatile("dmb ishld" : : : "memory");
	} while (page->lock != seq);
	return count;
}

static double user_reads(const void *page)
{
	volatile uint64_t sum = 0;
	double start = now();

	for (int i = 0; i < LOOPS; i++)
		sum += user_read(page);
	return (now() - start) / LOOPS;
}

BENCH("rdpmc", 31)
{
	struct perf_event_attr a = attr_of(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES);
	struct perf_event_mmap_page *page;
	int fd;

	a.config1 = 2;		/* user-space reads */
	fd = must_open("rdpmc.user", &a, 0, -1, -1);
	page = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);
	must("rdpmc.user", "mmap", page == MAP_FAILED ? -1 : 0);
	must("rdpmc.user", "no index", page->cap_user_rdpmc && page->index ? 0 : -1);
	report(ROW_USER, "rdpmc.user", LEAST(user_reads(page)));
}
