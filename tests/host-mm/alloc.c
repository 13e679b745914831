/* SPDX-License-Identifier: MIT */
/* Page frames and kmalloc: blocks are aligned, disjoint, keep their contents, and all come back. */
#include "host.h"

#define SLOTS 400

static struct { void *p; size_t n; unsigned order; bool pages; u8 fill; } slot[SLOTS];

static void fill(u32 i)
{
	slot[i].fill = rnd(256);
	memset(slot[i].p, slot[i].fill, slot[i].n);
}

static void verify_and_free(u32 i)
{
	u8 *b = slot[i].p;

	for (size_t k = 0; k < slot[i].n; k++)
		CHECK(b[k] == slot[i].fill);
	if (slot[i].pages)
		free_pages(virt_to_page(b), slot[i].order);
	else
		kfree(b);
	slot[i].p = NULL;
}

static void allocate(u32 i)
{
	slot[i].pages = rnd(4) == 0;
	if (slot[i].pages) {
		struct page *p = alloc_pages(slot[i].order = rnd(7));

		slot[i].p = p ? page_address(p) : NULL;
		slot[i].n = PAGE_SIZE << slot[i].order;
		CHECK(p && IS_ALIGNED(page_to_phys(p), slot[i].n));
	} else {
		slot[i].n = 1 + (rnd(8) ? rnd(2048) : rnd(40000));
		if (rnd(4) == 0)
			slot[i].n = 16UL << rnd(8);
		slot[i].p = kmalloc(slot[i].n);
		CHECK(!slot[i].p || IS_ALIGNED((u64)slot[i].p, 16));
		if (slot[i].p && (slot[i].n & (slot[i].n - 1)) == 0 && slot[i].n >= 16 && slot[i].n <= 4096)
			CHECK(IS_ALIGNED((u64)slot[i].p, slot[i].n));
		CHECK(!slot[i].p || ksize(slot[i].p) >= slot[i].n);
	}
	if (slot[i].p)
		fill(i);
}

static void grow(u32 i)
{
	size_t n = 1 + rnd(6000), old = slot[i].n;
	u8 *b;

	if (slot[i].pages)
		return;
	b = krealloc(slot[i].p, n);
	CHECK(b);
	for (size_t k = 0; k < min(old, n); k++)
		CHECK(b[k] == slot[i].fill);
	slot[i].p = b;
	slot[i].n = n;
	fill(i);
}

/* A zeroed page is zero, also if it came back with the promise that it is. */
static void zero_page_once(void)
{
	struct page *p = alloc_zpage();
	u8 *b = page_address(p);

	CHECK(p && ref_read(&p->refs) == 1 && !p->used && !p->flags);
	for (size_t k = 0; k < PAGE_SIZE; k++)
		CHECK(!b[k]);
	b[rnd(PAGE_SIZE)] = 1;
	if (rnd(2)) {
		free_pages(p, 0);
		return;
	}
	memset(b, 0, PAGE_SIZE);
	free_zpage(p);
}

void test_alloc(u64 seed)
{
	rnd_seed(seed);
	for (u32 n = 0; n < 20000; n++) {
		u32 i = rnd(SLOTS);

		if (rnd(16) == 0)
			zero_page_once();
		if (!slot[i].p)
			allocate(i);
		else if (rnd(5) == 0)
			grow(i);
		else
			verify_and_free(i);
	}
	for (u32 i = 0; i < SLOTS; i++)
		if (slot[i].p)
			verify_and_free(i);
}
