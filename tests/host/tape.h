/* SPDX-License-Identifier: MIT */
/*
 * The reader of rings for the host lane, and the judge of what is in them. Both were written from
 * perf_event_open(2) alone and share nothing with the kernel's encoder but the ABI's header.
 */
#ifndef TAPE_H
#define TAPE_H

#include "testlib.h"

#define US 1000ULL
#define PAGE 4096u

/* A mapping of an event's file, and the reader's place on it. */
struct tape {
	struct host_file *file;
	struct host_map_req req;
	void *const *pages;
	u64 size, tail;
};

struct rec {
	u32 type, misc, size;
	u64 w[8192];		/* the whole record */
};

static inline struct perf_event_mmap_page *head_page(const struct tape *t) { return t->pages[0]; }

/* Take the oldest record; false if there is none. */
bool take(struct tape *t, struct rec *r);
int map_try(int fd, u32 total, bool writable, struct tape *t);
struct tape map(int fd, u32 total);	/* must succeed */
void unmap(struct tape *t);

/* Fail the test if the sample is not one of an event with these attributes, this id and group size (0: any). */
void decode_sample(const struct rec *r, const struct perf_event_attr *a, u64 id, u32 nr_group);
/* The same for all other records. */
void decode_other(const struct rec *r, const struct perf_event_attr *a);

/* --- events to sample */

#define CLOCK PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK
#define ALIGN PERF_TYPE_SOFTWARE, PERF_COUNT_SW_ALIGNMENT_FAULTS
#define RAW PERF_TYPE_RAW, CYC

struct perf_event_attr attr(u32 type, u64 config, u64 period, u64 sample_type);
void adv(u64 ns);		/* in small steps: the simulated PMU looks for overflows only between them */
void happen(u32 n);		/* alignment faults of current */
void ioc(int fd, u32 cmd, u64 arg);	/* must succeed */
u32 drain_type(struct tape *t, u32 type);	/* takes all; how many of this type */

#endif
