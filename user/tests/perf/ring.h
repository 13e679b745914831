/* SPDX-License-Identifier: MIT */
/* A reader of rings for the tests: written from perf_event_open(2) alone. */
#ifndef RING_H
#define RING_H

#include "ptest.h"

#include <stddef.h>

struct ring {
	struct perf_event_mmap_page *page;
	char *data;
	u64 size;
};

union record {
	struct perf_event_header h;
	u64 u64[8192];
	u32 u32[16384];
	char bytes[65536];
};

#define PAGE 4096ul

/* Map 1 + pages; ends the test if refused. */
struct ring ring_map(int fd, unsigned pages, int prot);
/* mmap of that many pages in all: the address or MAP_FAILED. */
void *map_pages(int fd, unsigned total, int prot);
/* Copy the oldest record out and take it off the ring; false if there is none. Checks its size. */
bool ring_next(struct ring *r, union record *out);
/* How many of this type are in the ring; takes all off. */
unsigned ring_count(struct ring *r, u32 type);

/* Burn CPU time until so many bytes wait in the ring: on a busy machine one tick may stand for many. False after 5 s. */
bool spin_filled(struct ring *r, u64 bytes);

/* A sampling attribute, disabled. */
struct perf_event_attr sampling(u32 type, u64 config, u64 period, u64 sample_type);
/* Open it for pid 0 on any CPU. */
int open_attr(const struct perf_event_attr *a);
void ioc(int fd, unsigned long cmd, unsigned long arg);	/* must succeed */
void yields(unsigned n);	/* so many context switches of this thread */
u64 event_id(int fd);
u64 clock_of(int id);		/* ns */

#define SWITCHES PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES
#define FAULTS PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS
#define DUMMY PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY
#define MAX_RATE "/proc/sys/kernel/perf_event_max_sample_rate"

#endif
