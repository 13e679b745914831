/* SPDX-License-Identifier: MIT */
/* usage: test SEEDS STEPS: run the tests for seeds 1..SEEDS; every page must have come back each time. */
#include "host.h"

static u64 pages_in_stock(void)
{
	extern void mem_drain(void);

	mem_drain();
	return mem_stats.free_pages + mem_stats.slab_pages;
}

/* A thousand areas in random order: the tree finds each, and free ranges from the top. */
static void test_areas(u64 seed)
{
	struct mm *mm = mm_create();
	uaddr a[1000];

	rnd_seed(seed);
	host_task->mm = mm;
	mutex_lock(&mm->lock);
	for (u32 i = 0; i < 1000; i++) {
		a[i] = mm_map(mm, 0, (1 + rnd(5)) << PAGE_SHIFT, (1 + i % 2) | VM_MAYREAD, 0, NULL, 0);
		CHECK(!IS_ERR((void *)a[i]) && a[i] < mm->mmap_base);
		if (rnd(3) == 0)
			CHECK(!mm_unmap(mm, a[rnd(i + 1)], PAGE_SIZE));
	}
	mm_unlock(mm);
	page_table_check(mm);
	mm_put(mm);
}

int main(int argc, char **argv)
{
	u64 seeds = argc > 1 ? strtoul(argv[1], NULL, 0) : 10, stock;
	u32 steps = argc > 2 ? strtoul(argv[2], NULL, 0) : 1000;
	u64 first = argc > 3 ? strtoul(argv[3], NULL, 0) : 1;

	host_start(64 << 20);
	stock = pages_in_stock();
	for (u64 s = first; s < first + seeds; s++) {
		test_alloc(s);
		CHECK(pages_in_stock() == stock);
		test_areas(s);
		test_model(s, steps);
		CHECK(pages_in_stock() == stock && !mem_stats.anon_pages);
	}
	printf("host-mm: %lu seeds, %u steps each: passed\n", seeds, steps);
	return 0;
}
