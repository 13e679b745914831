/* SPDX-License-Identifier: MIT */
/*
 * Memory of the machine: meminfo, vmstat, zoneinfo, and node0's meminfo in sysfs. Lines whose
 * number Perch does not keep are left out; a 0 here is true (no swap, no disks, nothing
 * reclaimable).
 */
#include "internal.h"
#include <perch/page.h>
#include <string.h>

#define KB(pages) ((pages) << (PAGE_SHIFT - 10))

static void put_line(struct textbuf *b, const char *prefix, const char *name, u64 pages)
{
	text_printf(b, "%s%-16s%8lu kB\n", prefix, name, KB(pages));
}

/* Lines that the machine's and the node's table have in common; each is a name and its pages. */
struct line { const char *name; u64 pages; };

static void put_lines(struct textbuf *b, const char *prefix, const struct line *l, size_t n)
{
	for (size_t k = 0; k < n; k++)
		put_line(b, prefix, l[k].name, l[k].pages);
}

static int meminfo_show(struct textbuf *b, void *arg)
{
	struct mem_stats m = mem_stats;
	u64 anon = m.anon_pages, shmem = m.shmem_pages;
	const struct line lines[] = {
		{ "MemTotal:", m.total_pages }, { "MemFree:", m.free_pages },
		{ "MemAvailable:", m.free_pages }, { "Buffers:", 0 }, { "Cached:", shmem },
		{ "SwapCached:", 0 }, { "Active:", anon + shmem }, { "Inactive:", 0 },
		{ "Active(anon):", anon + shmem }, { "Inactive(anon):", 0 },
		{ "Active(file):", 0 }, { "Inactive(file):", 0 }, { "Unevictable:", 0 },
		{ "Mlocked:", 0 }, { "SwapTotal:", 0 }, { "SwapFree:", 0 }, { "Dirty:", 0 },
		{ "Writeback:", 0 }, { "AnonPages:", anon }, { "Shmem:", shmem },
		{ "KReclaimable:", 0 }, { "Slab:", m.slab_pages }, { "SReclaimable:", 0 },
		{ "SUnreclaim:", m.slab_pages }, { "KernelStack:", m.stack_pages },
		{ "PageTables:", m.pagetable_pages }, { "SecPageTables:", 0 },
		{ "NFS_Unstable:", 0 }, { "Bounce:", 0 }, { "WritebackTmp:", 0 },
		{ "CommitLimit:", m.total_pages / 2 },
	};

	put_lines(b, "", lines, ARRAY_SIZE(lines));
	return 0;
}

void meminfo_node_show(struct textbuf *b)
{
	struct mem_stats m = mem_stats;
	u64 anon = m.anon_pages, shmem = m.shmem_pages;
	const struct line lines[] = {
		{ "MemTotal:", m.total_pages }, { "MemFree:", m.free_pages },
		{ "MemUsed:", m.total_pages - m.free_pages }, { "SwapCached:", 0 },
		{ "Active:", anon + shmem }, { "Inactive:", 0 },
		{ "Active(anon):", anon + shmem }, { "Inactive(anon):", 0 },
		{ "Active(file):", 0 }, { "Inactive(file):", 0 }, { "Unevictable:", 0 },
		{ "Mlocked:", 0 }, { "Dirty:", 0 }, { "Writeback:", 0 }, { "FilePages:", shmem },
		{ "AnonPages:", anon }, { "Shmem:", shmem }, { "KernelStack:", m.stack_pages },
		{ "PageTables:", m.pagetable_pages }, { "SecPageTables:", 0 },
		{ "NFS_Unstable:", 0 }, { "Bounce:", 0 }, { "WritebackTmp:", 0 },
		{ "KReclaimable:", 0 }, { "Slab:", m.slab_pages }, { "SReclaimable:", 0 },
		{ "SUnreclaim:", m.slab_pages },
	};

	put_lines(b, "Node 0 ", lines, ARRAY_SIZE(lines));
}

static int vmstat_show(struct textbuf *b, void *arg)
{
	struct mem_stats m = mem_stats;

	text_printf(b, "nr_free_pages %lu\nnr_active_anon %lu\nnr_inactive_anon 0\n"
		    "nr_active_file 0\nnr_inactive_file 0\nnr_unevictable 0\n"
		    "nr_slab_reclaimable 0\n"
		    "nr_slab_unreclaimable %lu\nnr_anon_pages %lu\nnr_file_pages %lu\nnr_dirty 0\n"
		    "nr_writeback 0\nnr_shmem %lu\nnr_kernel_stack %lu\nnr_page_table_pages %lu\n",
		    m.free_pages, m.anon_pages + m.shmem_pages, m.slab_pages, m.anon_pages,
		    m.shmem_pages, m.shmem_pages, KB(m.stack_pages), m.pagetable_pages);
	text_puts(b, "pgpgin 0\npgpgout 0\npswpin 0\npswpout 0\n");
	return 0;
}

static int zoneinfo_show(struct textbuf *b, void *arg)
{
	struct mem_stats m = mem_stats;

	text_printf(b, "Node 0, zone   Normal\n  per-node stats\n      nr_anon_pages %lu\n"
		    "      nr_file_pages %lu\n      nr_shmem     %lu\n", m.anon_pages,
		    m.shmem_pages, m.shmem_pages);
	text_printf(b, "  pages free     %lu\n        spanned  %lu\n        present  %lu\n"
		    "        managed  %lu\n      nr_free_pages %lu\n  start_pfn:           %lu\n",
		    m.free_pages, max_pfn - min_pfn, max_pfn - min_pfn, m.total_pages, m.free_pages,
		    min_pfn);
	return 0;
}

static int swaps_show(struct textbuf *b, void *arg)
{
	text_puts(b, "Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n");
	return 0;
}

static const struct knode_ops meminfo_ops = { .show = meminfo_show };
static const struct knode_ops vmstat_ops = { .show = vmstat_show };
static const struct knode_ops zoneinfo_ops = { .show = zoneinfo_show };
static const struct knode_ops swaps_ops = { .show = swaps_show };

void proc_meminfo_init(void)
{
	knode_file(proc_root, "meminfo", 0444, &meminfo_ops, NULL);
	knode_file(proc_root, "vmstat", 0444, &vmstat_ops, NULL);
	knode_file(proc_root, "zoneinfo", 0444, &zoneinfo_ops, NULL);
	knode_file(proc_root, "swaps", 0444, &swaps_ops, NULL);
}
