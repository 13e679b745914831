/* SPDX-License-Identifier: MIT */
/*
 * From the device tree's ranges to the page allocator.
 *
 * RAM minus what is in use gives free segments. The first one that is large enough gives the
 * memory for mem_map itself; what is left of all of them goes to the buddy lists in the largest
 * aligned blocks. Every other frame (kernel image, initrd, firmware, holes between banks) stays
 * PG_RESERVED with one reference, so that mapping such a page can count like for any other.
 */
#include <perch/kasan.h>
#include <perch/page.h>
#include <perch/printk.h>
#include <string.h>
#include "internal.h"

#define MAX_SEGS 64

struct segment { u64 start, end; };	/* page frames */

static struct {
	struct segment seg[MAX_SEGS];
	int n;
} boot;

static void add_segment(u64 start, u64 end)
{
	if (start >= end)
		return;
	if (boot.n == MAX_SEGS) {
		pr_warn("memory: too many ranges, %lu pages left out\n", end - start);
		return;
	}
	boot.seg[boot.n++] = (struct segment){ start, end };
}

/* Cut [start, end) out of all segments. A segment may become two. */
static void remove_range(u64 start, u64 end)
{
	int n = boot.n;

	for (int i = 0; i < n; i++) {
		struct segment s = boot.seg[i];

		if (end <= s.start || start >= s.end)
			continue;
		boot.seg[i].end = max(s.start, min(start, s.end));
		if (end < s.end)
			add_segment(end, s.end);
	}
}

static void collect(const struct mem_range *ram, int nr_ram, const struct mem_range *used, int nr_used)
{
	min_pfn = ~0UL;
	for (int i = 0; i < nr_ram; i++) {
		u64 start = DIV_ROUND_UP(ram[i].base, PAGE_SIZE);
		u64 end = (ram[i].base + ram[i].size) >> PAGE_SHIFT;

		if (start >= end)
			continue;
		min_pfn = min(min_pfn, start);
		max_pfn = max(max_pfn, end);
		add_segment(start, end);
	}
	for (int i = 0; i < nr_used; i++)
		remove_range(used[i].base >> PAGE_SHIFT,
			     DIV_ROUND_UP(used[i].base + used[i].size, PAGE_SIZE));
}

/* Take npages from the end of the first segment that has them. */
static u64 carve(u64 npages)
{
	for (int i = 0; i < boot.n; i++) {
		struct segment *s = &boot.seg[i];

		if (s->end - s->start >= npages) {
			s->end -= npages;
			return s->end;
		}
	}
	panic("no room for the page map (%lu pages)", npages);
}

static void reserve_pages(u64 start, u64 end)
{
	for (u64 pfn = start; pfn < end; pfn++) {
		struct page *p = pfn_to_page(pfn);

		ref_init(&p->refs, 1);
		p->flags = PG_RESERVED;
	}
}

static void sort_segments(void)
{
	for (int i = 1; i < boot.n; i++)
		for (int j = i; j > 0 && boot.seg[j].start < boot.seg[j - 1].start; j--) {
			struct segment t = boot.seg[j];

			boot.seg[j] = boot.seg[j - 1];
			boot.seg[j - 1] = t;
		}
}

/* Largest blocks that are aligned to their size. */
static void release(u64 start, u64 end)
{
	while (start < end) {
		unsigned order = 10;

		while (order && ((start & ((1UL << order) - 1)) || start + (1UL << order) > end))
			order--;
		free_pages_boot(pfn_to_page(start), order);
		start += 1UL << order;
	}
}

void mem_init(const struct mem_range *ram, int nr_ram, const struct mem_range *used, int nr_used)
{
	u64 map_pages, next, total = 0;

	buddy_init();
	collect(ram, nr_ram, used, nr_used);
	ASSERT(max_pfn > min_pfn);
	map_pages = DIV_ROUND_UP((max_pfn - min_pfn) * sizeof(struct page), PAGE_SIZE);
	mem_map = phys_to_virt(carve(map_pages) << PAGE_SHIFT);
	page_zero = (u64)mem_map - min_pfn * sizeof(struct page);
	memset(mem_map, 0, map_pages << PAGE_SHIFT);
#ifdef PERCH_KASAN
	next = carve(kasan_shadow_pages(min_pfn, max_pfn));
	kasan_init(min_pfn, max_pfn, phys_to_virt(next << PAGE_SHIFT));
#endif
	sort_segments();
	next = min_pfn;
	for (int i = 0; i < boot.n; i++) {
		struct segment *s = &boot.seg[i];

		if (s->start >= s->end)
			continue;
		reserve_pages(next, s->start);
		release(s->start, s->end);
		total += s->end - s->start;
		next = s->end;
	}
	reserve_pages(next, max_pfn);
	mem_stats.total_pages = total;
	mem_reserve_init(total);
	slab_init();
	fault_init();
}

void mem_free_range(paddr base, u64 size)
{
	u64 start = DIV_ROUND_UP(base, PAGE_SIZE), end = (base + size) >> PAGE_SHIFT;

	for (u64 pfn = start; pfn < end; pfn++) {
		struct page *p;

		ASSERT(phys_is_ram(pfn << PAGE_SHIFT));
		p = pfn_to_page(pfn);
		ASSERT(p->flags & PG_RESERVED);
		p->flags = 0;
		free_pages_boot(p, 0);
		atomic_inc(&mem_stats.total_pages);
	}
}
