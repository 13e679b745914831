/* SPDX-License-Identifier: MIT */
/* /sys/devices/system/node and memory: one node with all CPUs and all memory, in blocks of 128
 * MiB. */
#include "internal.h"
#include <perch/cpu.h>
#include <perch/page.h>
#include <stdio.h>

#define NODE_DIR "devices/system/node"
#define MEMORY_DIR "devices/system/memory"
#define BLOCK_SIZE (128UL << 20)

static int cpulist_show(struct textbuf *b, void *arg)
{
	text_cpulist(b, READ_ONCE(cpu_online_mask));
	text_puts(b, "\n");
	return 0;
}

static int cpumap_show(struct textbuf *b, void *arg)
{
	text_cpumask(b, READ_ONCE(cpu_online_mask));
	text_puts(b, "\n");
	return 0;
}

static int node_meminfo_show(struct textbuf *b, void *arg)
{
	meminfo_node_show(b);
	return 0;
}

static int phys_index_show(struct textbuf *b, void *arg)
{
	text_printf(b, "%08lx\n", (u64)arg);
	return 0;
}

static void add_block(u64 index)
{
	static const struct knode_ops index_ops = { .show = phys_index_show };
	char path[96], target[64];

	snprintf(path, sizeof(path), MEMORY_DIR "/memory%lu/phys_index", index);
	sysfs_show(path, &index_ops, (void *)index);
	snprintf(path, sizeof(path), MEMORY_DIR "/memory%lu/online", index);
	sysfs_text(path, "1");
	snprintf(path, sizeof(path), MEMORY_DIR "/memory%lu/state", index);
	sysfs_text(path, "online");
	snprintf(path, sizeof(path), MEMORY_DIR "/memory%lu/node0", index);
	knode_link(sysfs_root, path, "../../node/node0");
	snprintf(path, sizeof(path), NODE_DIR "/node0/memory%lu", index);
	snprintf(target, sizeof(target), "../../memory/memory%lu", index);
	knode_link(sysfs_root, path, target);
}

static void add_memory(void)
{
	static char size[20];
	u64 end = max_pfn << PAGE_SHIFT;

	snprintf(size, sizeof(size), "%lx", BLOCK_SIZE);
	sysfs_text(MEMORY_DIR "/block_size_bytes", size);
	for (u64 k = (min_pfn << PAGE_SHIFT) / BLOCK_SIZE; k * BLOCK_SIZE < end; k++)
		add_block(k);
}

static void add_cpu_links(void)
{
	char path[96], target[64];

	for (u32 cpu = 0; cpu < nr_cpus; cpu++) {
		snprintf(path, sizeof(path), NODE_DIR "/node0/cpu%u", cpu);
		snprintf(target, sizeof(target), "../../cpu/cpu%u", cpu);
		knode_link(sysfs_root, path, target);
		snprintf(path, sizeof(path), "devices/system/cpu/cpu%u/node0", cpu);
		knode_link(sysfs_root, path, "../../node/node0");
	}
}

void sysfs_node_init(void)
{
	static const struct knode_ops list_ops = { .show = cpulist_show };
	static const struct knode_ops map_ops = { .show = cpumap_show };
	static const struct knode_ops meminfo_ops = { .show = node_meminfo_show };
	static const char *const zero[] = { "has_cpu", "has_memory", "has_normal_memory", "online",
					    "possible" };
	char path[64];

	for (size_t k = 0; k < ARRAY_SIZE(zero); k++) {
		snprintf(path, sizeof(path), NODE_DIR "/%s", zero[k]);
		sysfs_text(path, "0");
	}
	sysfs_text(NODE_DIR "/has_generic_initiator", "");
	sysfs_show(NODE_DIR "/node0/cpulist", &list_ops, NULL);
	sysfs_show(NODE_DIR "/node0/cpumap", &map_ops, NULL);
	sysfs_show(NODE_DIR "/node0/meminfo", &meminfo_ops, NULL);
	sysfs_text(NODE_DIR "/node0/distance", "10");
	add_cpu_links();
	add_memory();
}
