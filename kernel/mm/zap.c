/* SPDX-License-Identifier: MIT */
/*
 * Taking pages out of a page table.
 *
 * While other threads may run on the table, a page must not be reused before the TLBs have
 * forgotten it: entries are cleared first, then one flush covers a batch, then the batch's
 * references are dropped. An address space that is going away needs no flushes and no batches: no user
 * code will run on it, and pgt_free flushes its ASID before that is used again.
 */
#include <perch/mm.h>
#include <perch/sched.h>
#include "internal.h"

#define BATCH	64
#define CHUNK	(256UL << 20)	/* bytes of address space per hold of pt_lock */

struct zap {
	struct mm *mm;
	u32 n;
	uaddr first, last;		/* addresses cleared and not flushed yet: [first, last) */
	s64 count[NR_PAGE_KINDS];	/* pages taken out */
	struct page *page[BATCH];
};

static void zap_settle(struct zap *z)
{
	if (z->last) {
		if (z->last - z->first == PAGE_SIZE)
			tlb_flush_page(&z->mm->pgt, z->first);
		else
			tlb_flush_range(&z->mm->pgt, z->first, z->last);
	}
	for (u32 i = 0; i < z->n; i++)
		page_unmap(z->page[i]);
	z->n = 0;
	z->last = 0;
}

/* Remember the page of an entry that is gone. */
static inline void zap_page(struct zap *z, struct page *page)
{
	z->count[page_kind(page)]++;
	z->page[z->n++] = page;
	if (unlikely(z->n == BATCH))
		zap_settle(z);
}

static void zap_entry(pte *p, uaddr va, void *arg)
{
	struct zap *z = arg;
	pte old = *p;

	WRITE_ONCE(*p, 0);
	if (!z->last)
		z->first = va;
	z->last = va + PAGE_SIZE;
	if (!pte_special(old))
		zap_page(z, phys_to_page(pte_phys(old)));
}

static void zap_file_entry(pte *p, uaddr va, void *arg)
{
	if (pte_special(*p) || !(phys_to_page(pte_phys(*p))->flags & PG_ANON))
		zap_entry(p, va, arg);
}

typedef void zap_fn(pte *p, uaddr va, void *arg);

static void zap_chunk(struct zap *z, uaddr start, uaddr end, zap_fn *fn)
{
	struct mm *mm = z->mm;

	spin_lock(&mm->pt_lock);
	pgt_walk(&mm->pgt, start, end, fn, z);
	zap_settle(z);
	spin_unlock(&mm->pt_lock);
}

static void zap_uncount(struct zap *z)
{
	for (int kind = 0; kind < NR_PAGE_KINDS; kind++)
		if (z->count[kind])
			atomic_sub(&z->mm->rss[kind], z->count[kind]);
}

/* By hand: the array of pages need not be cleared. */
static void zap_init(struct zap *z, struct mm *mm)
{
	z->mm = mm;
	z->n = 0;
	z->last = 0;
	for (int kind = 0; kind < NR_PAGE_KINDS; kind++)
		z->count[kind] = 0;
}

static void zap_range(struct mm *mm, uaddr start, uaddr end, zap_fn *fn)
{
	struct zap z;

	zap_init(&z, mm);
	while (start < end) {
		uaddr stop = min(end, ALIGN_DOWN(start, CHUNK) + CHUNK);

		zap_chunk(&z, start, stop, fn);
		start = stop;
	}
	zap_uncount(&z);
}

void mm_zap(struct mm *mm, uaddr start, uaddr end)
{
	zap_range(mm, start, end, zap_entry);
}

void mm_zap_file_pages(struct mm *mm, uaddr start, uaddr end)
{
	zap_range(mm, start, end, zap_file_entry);
}

/* --- all of an address space that nobody runs on --- */

/* arg: number of pages taken out. */
static void zap_dead_run(pte *p, pte *end, uaddr va, void *arg)
{
	s64 n = 0;

	for (; p < end; p++) {
		pte old = *p;

		if (!pte_present(old))
			continue;
		WRITE_ONCE(*p, 0);
		if (pte_special(old))
			continue;
		page_unmap(phys_to_page(pte_phys(old)));
		n++;
	}
	*(s64 *)arg += n;
}

/* One walk over all tables costs less than one for each area. */
void mm_zap_all(struct mm *mm)
{
	s64 n = 0;

	spin_lock(&mm->pt_lock);
	pgt_walk_runs(&mm->pgt, 0, USER_MAX, zap_dead_run, &n);
	spin_unlock(&mm->pt_lock);
	WARN_ONCE(n != mm->rss_anon + mm->rss_file + mm->rss_shmem,
		  "mm: %ld pages mapped, but counted anon %ld file %ld shmem %ld\n", n, mm->rss_anon,
		  mm->rss_file, mm->rss_shmem);
}
