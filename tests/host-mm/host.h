/* SPDX-License-Identifier: MIT */
/* What the simulated machine offers to the tests. */
#ifndef HOST_MM_H
#define HOST_MM_H

#include <perch/fs.h>
#include <perch/mm.h>
#include <perch/page.h>
#include <perch/task.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RAM_BASE	0x40000000UL
#define FILE_PAGES	64

void host_start(u64 ram_bytes);

#define CHECK(c) do { if (!(c)) panic("check failed: %s (%s:%d)", #c, __FILE__, __LINE__); } while (0)

/* A file whose cache is an array. */
struct host_file { struct file f; struct inode i; struct super sb; struct page *page[FILE_PAGES]; };
struct host_file *host_file_new(u64 pages);
void host_file_truncate(struct host_file *f, u64 pages);
void host_file_punch(struct host_file *f, u64 first, u64 nr);
void host_file_free(struct host_file *f);

/* A load or store as a user program would do it, through a TLB that forgets only what was flushed. 0, or
 * the signal. */
int user_load(struct mm *mm, uaddr va, u64 *value);
int user_store(struct mm *mm, uaddr va, u64 value);
void tlb_check(void);		/* every remembered translation is still true */
void page_table_check(struct mm *mm);	/* counters of mm and its pages */

extern bool host_capable;
extern u64 host_rlimit[16];

u64 rnd(u64 n);			/* 0..n-1 */
void rnd_seed(u64 seed);
void test_alloc(u64 seed);
void test_model(u64 seed, u32 steps);

#endif
