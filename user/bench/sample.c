/* SPDX-License-Identifier: MIT */
/*
 * Samples: the time of a computation with a sampling event less the time without, by the number of
 * samples in the ring. Each row has a second one, "...samples": how many were found, of how many
 * that were due.
 */
#include "bench.h"

#include <sys/mman.h>
#include <unistd.h>

#define LENGTH 2000000		/* rounds of spin: some 6 instructions each */
#define RING_PAGES 1024

static uint64_t count_samples(const struct perf_event_mmap_page *page)
{
	const char *data = (const char *)page + page->data_offset;
	uint64_t head = page->data_head, n = 0;

	__sync_synchronize();
	for (uint64_t at = 0; at < head;) {
		const struct perf_event_header *h = (const void *)(data + at % page->data_size);

		if (!h->size)
			break;
		n += h->type == PERF_RECORD_SAMPLE;
		at += h->size;
	}
	return n;
}

/* Computes at a depth of that many more frames. */
__attribute__((noinline)) static double deep(int depth, long rounds)
{
	double start = now(), t;

	if (depth) {
		t = deep(depth - 1, rounds);
	} else {
		spin(rounds);
		t = now() - start;
	}
	__asm__ volatile("" : : : "memory");
	return t;
}

/* The shortest times of the computation so far, without the event and with it. */
struct shortest {
	double bare, with;
};

static double shorter(double a, double b)
{
	return a < b ? a : b;
}

static double cost(const char *name, struct perf_event_attr *a, int depth, struct shortest *t,
		   uint64_t *samples)
{
	int fd = must_open(name, a, 0, -1, -1);
	struct perf_event_mmap_page *page = map_ring(name, fd, RING_PAGES);

	t->bare = shorter(t->bare, deep(depth, LENGTH));
	ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
	t->with = shorter(t->with, deep(depth, LENGTH));
	ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
	*samples = count_samples(page);
	unmap_ring(page, RING_PAGES);
	close(fd);
	must(name, "no samples", *samples ? 0 : -1);
	return (t->with - t->bare) / (double)*samples;
}

static void sample(const char *name, uint64_t type, uint64_t period, int depth)
{
	struct perf_event_attr a = attr_of(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES);
	struct shortest t = { 1e300, 1e300 };
	uint64_t samples;
	double each;
	char row[64];

	a.sample_period = period;
	a.sample_type = type;
	a.disabled = 1;
	a.exclude_kernel = 1;
	a.exclude_hv = 1;
	if (type & PERF_SAMPLE_STACK_USER)
		a.sample_stack_user = 4096;
	if (type & PERF_SAMPLE_REGS_USER)
		a.sample_regs_user = (1ull << 33) - 1;
	for (int r = 0; r <= ROUNDS; r++)
		each = cost(name, &a, depth, &t, &samples);
	report(ROW_PERF, name, each);
	snprintf(row, sizeof(row), "%s.samples_of_due", name);
	report_unit(ROW_INFO, row, 100.0 * (double)samples * (double)period / t.bare, "%");
}

#define BASICS (PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME)

BENCH("sample", 80)
{
	sample("sample.ip", BASICS | PERF_SAMPLE_PERIOD, 20000, 0);
	sample("sample.callchain16", BASICS | PERF_SAMPLE_CALLCHAIN, 20000, 16);
	sample("sample.regs+stack4k", BASICS | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER,
	       40000, 4);
}

#define FAULTS 256

static double faults(void)
{
	size_t size = FAULTS * 4096;
	volatile char *p = mmap(NULL, size, PROT_READ | PROT_WRITE,
				MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	double start, t;

	madvise((void *)p, size, MADV_NOHUGEPAGE);
	start = now();
	for (int i = 0; i < FAULTS; i++)
		p[i * 4096] = 1;
	t = (now() - start) / FAULTS;
	munmap((void *)p, size);
	return t;
}

BENCH("pagefault", 81)
{
	struct perf_event_attr a = attr_of(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS);
	double bare = LEAST(faults()), with;
	int fd;

	report(ROW_BASE, "pagefault.0ev", bare);
	a.sample_period = 1;
	a.sample_type = BASICS | PERF_SAMPLE_ADDR;
	fd = must_open("pagefault.sampled.extra", &a, 0, -1, -1);
	map_ring("pagefault.sampled.extra", fd, 64);
	with = LEAST(faults());
	report(ROW_PERF, "pagefault.sampled.extra", with - bare);
}
