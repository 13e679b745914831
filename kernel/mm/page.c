/* SPDX-License-Identifier: MIT */
/*
 * Page frames: a binary buddy allocator with a small stock of hot single pages on each CPU.
 *
 * A free block of 2^n pages lies on the list of its order; only its first struct page says so
 * (PG_FREE, order). Freeing joins a block with its buddy (its number with bit n flipped) as long
 * as that is free and whole, too.
 *
 * Most traffic is single pages, so each CPU keeps up to HOT_MAX of them: taking one needs no
 * lock, only interrupts off (the kernel is not preemptible). A few more are known to be zero: page tables
 * that were used and cleared again. Pages in stock are not counted free.
 *
 * The last pages belong to the kernel: alloc_page_user fails while fewer than mem_reserve() are
 * free, so page tables, task structures and the way out of a killed process still find memory.
 */
#include <asm/page.h>
#include <perch/debug.h>
#include <perch/kasan.h>
#include <perch/page.h>
#include <perch/spinlock.h>
#include <perch/task.h>
#include <string.h>
#include "internal.h"

#define MAX_ORDER	10
#define HOT_MAX		32
#define HOT_BATCH	16	/* a power of two, at most half of HOT_MAX */
#define ZERO_MAX	16	/* two processes' tables */

struct page *mem_map;
u64 page_zero;
u64 min_pfn, max_pfn;
struct mem_stats mem_stats;

static struct {
	spinlock lock;		/* irqsave */
	struct list free[MAX_ORDER + 1];	/* lock */
} buddy;

static struct hot_pages {
	u32 n;				/* own CPU, IRQs off */
	struct page *page[HOT_MAX];
	u32 nr_zero;			/* the same */
	struct page *zero[ZERO_MAX];
} __aligned(64) hot[NR_CPUS];

static u64 reserve;		/* immutable after mem_init */
u32 alloc_fail_countdown;

/* --- failure injection --------------------------------------------------------------------- */

void alloc_fail_after(u32 n)
{
	atomic_set(&alloc_fail_countdown, n);
}

bool alloc_fails_now(void)
{
	u32 n = atomic_read(&alloc_fail_countdown);

	if (FAIL_STEP(FAIL_MEMORY))
		return true;
	if (likely(!n))
		return false;
	return atomic_cas(&alloc_fail_countdown, n, n - 1) && n == 1;
}

/* --- buddy ----------------------------------------------------------------------------------- */

static void list_block(struct page *p, unsigned order)
{
	p->order = order;
	p->flags = PG_FREE;
	list_add(&p->node, &buddy.free[order]);
}

static void unlist_block(struct page *p)
{
	list_del(&p->node);
	p->flags = 0;
}

/* The block of the given order beside p's, if it is free and whole; else NULL. */
static struct page *free_buddy(u64 pfn, unsigned order)
{
	u64 b = pfn ^ (1UL << order);
	struct page *p;

	if (b < min_pfn || b + (1UL << order) > max_pfn)
		return NULL;
	p = pfn_to_page(b);
	return (p->flags & PG_FREE) && p->order == order ? p : NULL;
}

static void buddy_free(struct page *p, unsigned order)
{
	u64 pfn = page_to_pfn(p);
	struct page *b;

	ASSERT(!(p->flags & PG_FREE));
	mem_stats.free_pages += 1UL << order;
	while (order < MAX_ORDER && (b = free_buddy(pfn, order))) {
		unlist_block(b);
		pfn &= ~(1UL << order);
		order++;
	}
	list_block(pfn_to_page(pfn), order);
}

static struct page *buddy_alloc(unsigned order)
{
	unsigned o = order;
	struct page *p;

	while (o <= MAX_ORDER && list_empty(&buddy.free[o]))
		o++;
	if (o > MAX_ORDER)
		return NULL;
	p = list_first(&buddy.free[o], struct page, node);
	ASSERT((p->flags & PG_FREE) && p->order == o);
	unlist_block(p);
	while (o > order) {
		o--;
		list_block(p + (1UL << o), o);
	}
	mem_stats.free_pages -= 1UL << order;
	return p;
}

/* Up to want (a power of two) single pages at once, of the smallest block there is. Their number. */
static u32 buddy_alloc_singles(struct page **to, u32 want)
{
	unsigned order = 0, o = 0;
	struct page *p;

	while (o < MAX_ORDER && list_empty(&buddy.free[o]))
		o++;
	while (order < o && 2U << order <= want)
		order++;
	p = buddy_alloc(order);
	if (!p)
		return 0;
	for (u32 i = 0; i < 1U << order; i++)
		to[i] = p + i;
	return 1U << order;
}

/* --- single pages: the stock of this CPU --------------------------------------------------------- */

static noinline void hot_fill(struct hot_pages *h)
{
	u32 n = 1;

	spin_lock(&buddy.lock);
	while (n && h->n < HOT_BATCH) {
		n = buddy_alloc_singles(h->page + h->n, HOT_BATCH);
		h->n += n;
	}
	spin_unlock(&buddy.lock);
}

static struct page *hot_alloc(void)
{
	u64 flags = irq_save();
	struct hot_pages *h = &hot[cpu_id()];
	struct page *p;

	if (unlikely(!h->n))
		hot_fill(h);
	p = likely(h->n) ? h->page[--h->n] : NULL;
	irq_restore(flags);
	return p;
}

static void hot_spill(struct hot_pages *h, u32 keep)
{
	spin_lock(&buddy.lock);
	while (h->n > keep)
		buddy_free(h->page[--h->n], 0);
	spin_unlock(&buddy.lock);
}

static void hot_free(struct page *p)
{
	u64 flags = irq_save();
	struct hot_pages *h = &hot[cpu_id()];

	if (unlikely(h->n == HOT_MAX))
		hot_spill(h, HOT_MAX - HOT_BATCH);
	h->page[h->n++] = p;
	irq_restore(flags);
}

static struct page *zero_take(void)
{
	u64 flags = irq_save();
	struct hot_pages *h = &hot[cpu_id()];
	struct page *p = h->nr_zero ? h->zero[--h->nr_zero] : NULL;

	irq_restore(flags);
	return p;
}

/* False: there are enough of them. */
static bool zero_put(struct page *p)
{
	u64 flags = irq_save();
	struct hot_pages *h = &hot[cpu_id()];
	bool room = h->nr_zero < ZERO_MAX;

	if (room)
		h->zero[h->nr_zero++] = p;
	irq_restore(flags);
	return room;
}

void mem_drain(void)
{
	u64 flags = irq_save();
	struct hot_pages *h = &hot[cpu_id()];
	struct page *p;

	while ((p = zero_take()))
		hot_free(p);
	hot_spill(h, 0);
	irq_restore(flags);
}

/* --- the interface -------------------------------------------------------------------------------- */

static struct page *page_new(struct page *p, unsigned order)
{
	ref_init(&p->refs, 1);
	p->mapcount = 0;
	p->order = order;
	p->flags = 0;
	p->priv = NULL;
	kasan_pages_alloc(p, order);
	return p;
}

struct page *page_alloc_raw(unsigned order)
{
	struct page *p;
	u64 flags;

	if (likely(order == 0)) {
		p = hot_alloc();
	} else if (order > MAX_ORDER) {
		return NULL;
	} else {
		flags = spin_lock_irqsave(&buddy.lock);
		p = buddy_alloc(order);
		spin_unlock_irqrestore(&buddy.lock, flags);
	}
	return likely(p) ? page_new(p, order) : NULL;
}

struct page *alloc_pages(unsigned order)
{
	return unlikely(alloc_should_fail()) ? NULL : page_alloc_raw(order);
}

struct page *alloc_zpages(unsigned order)
{
	struct page *p = alloc_pages(order);

	if (likely(p))
		for (u64 i = 0; i < 1UL << order; i++)
			clear_page((char *)page_address(p) + (i << PAGE_SHIFT));
	return p;
}

struct page *alloc_zpage(void)
{
	struct page *p = unlikely(alloc_may_fail()) ? NULL : zero_take();

	return likely(p) ? page_new(p, 0) : alloc_zpages(0);
}

struct page *alloc_page_user(void)
{
	struct page *p;

	if (unlikely(alloc_should_fail()))
		return NULL;
	for (u32 try = 0; ; try++) {
		bool dying = current->mm && current->mm->oom_victim;

		if (likely(!mem_low()) || dying) {
			p = page_alloc_raw(0);
			if (likely(p))
				return p;
		}
		if (!oom_wait(try))
			return NULL;
	}
}

void free_pages(struct page *p, unsigned order)
{
	u64 flags;

	ASSERT(!(p->flags & (PG_FREE | PG_RESERVED)));
	ref_init(&p->refs, 0);
	p->flags = 0;
	kasan_pages_free(p, order);
	if (likely(order == 0)) {
		hot_free(p);
		return;
	}
	flags = spin_lock_irqsave(&buddy.lock);
	buddy_free(p, order);
	spin_unlock_irqrestore(&buddy.lock, flags);
}

/* Not with the address checker: it writes into what is free. */
void free_zpage(struct page *p)
{
	ref_init(&p->refs, 0);
	if (KASAN_REDZONE || !zero_put(p))
		free_pages(p, 0);
}

void page_free_last(struct page *p)
{
	ASSERT(!(p->flags & PG_SLAB) && p->mapcount == 0);
	if (p->flags & PG_ANON)
		atomic_dec(&mem_stats.anon_pages);
	free_pages(p, 0);
}

void buddy_init(void)
{
	for (int i = 0; i <= MAX_ORDER; i++)
		list_init(&buddy.free[i]);
}

void free_pages_boot(struct page *p, unsigned order)
{
	u64 flags;

	kasan_pages_boot(p, order);
	flags = spin_lock_irqsave(&buddy.lock);
	ref_init(&p->refs, 0);
	buddy_free(p, order);
	spin_unlock_irqrestore(&buddy.lock, flags);
}

/* 1/32 of memory, between 1 and 16 MiB: 1.9 MiB of a 64 MiB machine. */
void mem_reserve_init(u64 total)
{
	reserve = clamp_t(u64, total / 32, 256, 4096);
}

u64 mem_reserve(void)
{
	return reserve;
}

bool mem_low(void)
{
	return READ_ONCE(mem_stats.free_pages) < reserve;
}
