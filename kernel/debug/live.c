/* SPDX-License-Identifier: MIT */
/*
 * What is allocated: /proc/perch/live.
 *
 * "objects N" counts what kmalloc gave out in its small sizes and did not get back, "pages N" the pages that
 * somebody other than kmalloc's small sizes has. Both are exact, unlike free memory, which also depends on what the
 * allocators keep for later. A test that does something, takes it back and finds other numbers has found a leak.
 */
#include <perch/debug.h>
#include <perch/page.h>
#include <perch/procfs.h>

#include "debug.h"

static s64 objects, pages;	/* atomic */

void live_object(int change)
{
	atomic_add(&objects, change);
}

void live_pages(int change)
{
	atomic_add(&pages, change);
}

static int show(struct textbuf *b, void *arg)
{
	text_printf(b, "objects %lld\npages %lld\n", (long long)atomic_read(&objects),
		    (long long)(atomic_read(&pages) - (s64)atomic_read(&mem_stats.slab_pages)));
	return 0;
}

static const struct knode_ops ops = { .show = show };

void live_init(void)
{
	knode_file(proc_root, "perch/live", 0444, &ops, NULL);
}
