/* SPDX-License-Identifier: MIT */
/*
 * Taking pages out of a page table.
 *
 * While other threads may run on the table, a page must not be reused before the TLBs have
 * forgotten it: entries are cleared first, then one flush covers a batch, then the batch's
 * references are dropped. An address space that is going away needs no flushes: no user code will
 * run on it, and pgt_free flushes its ASID before that is used again.
 */
#include <perch/mm.h>
#include <perch/sched.h>
#include "internal.h"

#define BATCH	64
#define CHUNK	(256UL << 20)	/* bytes of address space per hold of pt_lock */

struct zap {
	struct mm *mm;
	u32 n;
	bool flush;
	bool keep_anon;
	uaddr first, last;		/* addresses cleared and not flushed yet: [first, last) */
	s64 anon, file, shmem;		/* pages taken out */
	struct page *page[BATCH];
};

static void zap_settle(struct zap *z)
{
	if (z->flush && z->last) {
		if (z->last - z->first == PAGE_SIZE)
			tlb_flush_page(&z->mm->pgt, z->first);
		else
			tlb_flush_range(&z->mm->pgt, z->first, z->last);
	}
	for (u32 i = 0; i < z->n; i++)
		page_put(z->page[i]);
	z->n = 0;
	z->last = 0;
}

static void zap_entry(pte *p, uaddr va, void *arg)
{
	struct zap *z = arg;
	pte old = *p;
	struct page *page;

	if (z->keep_anon && !pte_special(old) && (phys_to_page(pte_phys(old))->flags & PG_ANON))
		return;
	WRITE_ONCE(*p, 0);
	if (!z->last)
		z->first = va;
	z->last = va + PAGE_SIZE;
	if (pte_special(old))
		return;
	page = phys_to_page(pte_phys(old));
	atomic_dec(&page->mapcount);
	if (page->flags & PG_ANON)
		z->anon++;
	else if (page->flags & PG_CACHE)
		z->shmem++;
	else
		z->file++;
	z->page[z->n++] = page;
	if (z->n == BATCH)
		zap_settle(z);
}

static void zap_chunk(struct zap *z, uaddr start, uaddr end)
{
	struct mm *mm = z->mm;

	spin_lock(&mm->pt_lock);
	pgt_walk(&mm->pgt, start, end, zap_entry, z);
	zap_settle(z);
	spin_unlock(&mm->pt_lock);
}

static void zap_uncount(struct zap *z)
{
	struct mm *mm = z->mm;

	if (z->anon)
		atomic_sub(&mm->rss_anon, z->anon);
	if (z->file)
		atomic_sub(&mm->rss_file, z->file);
	if (z->shmem)
		atomic_sub(&mm->rss_shmem, z->shmem);
}

static void zap_range(struct zap *z, uaddr start, uaddr end)
{
	while (start < end) {
		uaddr stop = min(end, ALIGN_DOWN(start, CHUNK) + CHUNK);

		zap_chunk(z, start, stop);
		start = stop;
	}
	zap_uncount(z);
}

/* By hand: the array of pages need not be cleared. */
static void zap_init(struct zap *z, struct mm *mm, bool flush)
{
	z->mm = mm;
	z->n = 0;
	z->flush = flush;
	z->keep_anon = false;
	z->last = 0;
	z->anon = z->file = z->shmem = 0;
}

void mm_zap(struct mm *mm, uaddr start, uaddr end)
{
	struct zap z;

	zap_init(&z, mm, true);
	zap_range(&z, start, end);
}

/* One walk over all tables costs less than one for each area. */
void mm_zap_all(struct mm *mm)
{
	struct zap z;

	zap_init(&z, mm, false);
	zap_chunk(&z, 0, USER_MAX);
	zap_uncount(&z);
}

void mm_zap_file_pages(struct mm *mm, uaddr start, uaddr end)
{
	struct zap z;

	zap_init(&z, mm, true);
	z.keep_anon = true;
	zap_range(&z, start, end);
}

s64 *mm_rss(struct mm *mm, const struct page *p)
{
	if (p->flags & PG_ANON)
		return &mm->rss_anon;
	return p->flags & PG_CACHE ? &mm->rss_shmem : &mm->rss_file;
}
