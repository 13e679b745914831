/* SPDX-License-Identifier: MIT */
/*
 * /sys/devices/system/cpu: which CPUs there are, how they hang together, what they are. All CPUs
 * form one package with one core each, which is what the machines we run on look like; CPUs that
 * did not come up are possible and present, but not online.
 */
#include "internal.h"
#include <perch/boot.h>
#include <perch/cpu.h>
#include <perch/page.h>
#include <stdio.h>

#define CPU_DIR "devices/system/cpu"

static u64 possible_mask(void)
{
	return nr_cpus >= 64 ? ~0ULL : BIT(nr_cpus) - 1;
}

/* --- sets of CPUs --------------------------------------------------------------------------- */

enum cpu_set { SET_NONE, SET_ONLINE, SET_OFFLINE, SET_POSSIBLE };

static int set_show(struct textbuf *b, void *arg)
{
	u64 online = READ_ONCE(cpu_online_mask), mask = 0;

	switch ((enum cpu_set)(u64)arg) {
	case SET_NONE: break;
	case SET_ONLINE: mask = online; break;
	case SET_OFFLINE: mask = possible_mask() & ~online; break;
	case SET_POSSIBLE: mask = possible_mask(); break;
	}
	text_cpulist(b, mask);
	text_puts(b, "\n");
	return 0;
}

static int kernel_max_show(struct textbuf *b, void *arg)
{
	text_printf(b, "%d\n", NR_CPUS - 1);
	return 0;
}

/* udev's name for the features: the number of each hardware capability bit. */
static int modalias_show(struct textbuf *b, void *arg)
{
	u64 caps = arch_hwcap();

	text_printf(b, "cpu:type:%s:feature:", arch_platform());
	for (u32 k = 0; k < 64; k++)
		if (caps & BIT(k))
			text_printf(b, ",%04X", k);
	text_puts(b, "\n");
	return 0;
}

static void add_sets(void)
{
	static const struct knode_ops set_ops = { .show = set_show };
	static const struct knode_ops max_ops = { .show = kernel_max_show };
	static const struct knode_ops modalias_ops = { .show = modalias_show };
	static const struct { const char *path; enum cpu_set set; } sets[] = {
		{ CPU_DIR "/possible", SET_POSSIBLE }, { CPU_DIR "/present", SET_POSSIBLE },
		{ CPU_DIR "/enabled", SET_POSSIBLE }, { CPU_DIR "/online", SET_ONLINE },
		{ CPU_DIR "/offline", SET_OFFLINE }, { CPU_DIR "/isolated", SET_NONE },
	};

	for (size_t k = 0; k < ARRAY_SIZE(sets); k++)
		sysfs_show(sets[k].path, &set_ops, (void *)(u64)sets[k].set);
	sysfs_show(CPU_DIR "/kernel_max", &max_ops, NULL);
	sysfs_show(CPU_DIR "/modalias", &modalias_ops, NULL);
	sysfs_text(CPU_DIR "/smt/active", "0");
	sysfs_text(CPU_DIR "/smt/control", "notimplemented");
}

/* --- one CPU -------------------------------------------------------------------------------- */

static int midr_show(struct textbuf *b, void *arg)
{
	text_printf(b, "0x%016lx\n", arch_cpu_midr((u32)(u64)arg));
	return 0;
}

static int revidr_show(struct textbuf *b, void *arg)
{
	text_printf(b, "0x%016lx\n", arch_cpu_revidr((u32)(u64)arg));
	return 0;
}

static int online_show(struct textbuf *b, void *arg)
{
	text_printf(b, "%d\n", cpu_is_online((u32)(u64)arg));
	return 0;
}

static int uevent_show(struct textbuf *b, void *arg)
{
	text_puts(b, "MODALIAS=");
	return modalias_show(b, NULL);
}

static int id_show(struct textbuf *b, void *arg)
{
	text_printf(b, "%lu\n", (u64)arg);
	return 0;
}

static int own_mask_show(struct textbuf *b, void *arg)
{
	text_cpumask(b, BIT((u64)arg));
	text_puts(b, "\n");
	return 0;
}

static int all_mask_show(struct textbuf *b, void *arg)
{
	text_cpumask(b, READ_ONCE(cpu_online_mask));
	text_puts(b, "\n");
	return 0;
}

static int all_list_show(struct textbuf *b, void *arg)
{
	return set_show(b, (void *)(u64)SET_ONLINE);
}

/* Files of cpuN; each is told the CPU's number. */
static const struct { const char *name; struct knode_ops ops; } cpu_files[] = {
	{ "online", { .show = online_show } }, { "uevent", { .show = uevent_show } },
	{ "regs/identification/midr_el1", { .show = midr_show } },
	{ "regs/identification/revidr_el1", { .show = revidr_show } },
	{ "topology/core_id", { .show = id_show } },
	{ "topology/core_cpus", { .show = own_mask_show } },
	{ "topology/core_cpus_list", { .show = id_show } },
	{ "topology/thread_siblings", { .show = own_mask_show } },
	{ "topology/thread_siblings_list", { .show = id_show } },
	{ "topology/core_siblings", { .show = all_mask_show } },
	{ "topology/core_siblings_list", { .show = all_list_show } },
	{ "topology/package_cpus", { .show = all_mask_show } },
	{ "topology/package_cpus_list", { .show = all_list_show } },
	{ "topology/cluster_cpus", { .show = all_mask_show } },
	{ "topology/cluster_cpus_list", { .show = all_list_show } },
};
static const struct { const char *name, *line; } cpu_lines[] = {
	{ "topology/physical_package_id", "0" }, { "topology/cluster_id", "0" },
	{ "cpu_capacity", "1024" },
};

/* --- caches: those of the first level are each CPU's own, the others are shared ------------- */

static int level_show(struct textbuf *b, void *arg)
{
	const char *type;
	u32 level;

	if (!arch_cpu_cache((u32)(u64)arg & 0xff, &level, &type))
		return -ENOENT;
	text_printf(b, "%u\n", level);
	return 0;
}

static int type_show(struct textbuf *b, void *arg)
{
	const char *type;
	u32 level;

	if (!arch_cpu_cache((u32)(u64)arg & 0xff, &level, &type))
		return -ENOENT;
	text_printf(b, "%s\n", type);
	return 0;
}

static u64 cache_cpus(u64 arg)
{
	const char *type;
	u32 level = 0;

	arch_cpu_cache((u32)arg & 0xff, &level, &type);
	return level > 1 ? READ_ONCE(cpu_online_mask) : BIT(arg >> 8);
}

static int shared_map_show(struct textbuf *b, void *arg)
{
	text_cpumask(b, cache_cpus((u64)arg));
	text_puts(b, "\n");
	return 0;
}

static int shared_list_show(struct textbuf *b, void *arg)
{
	text_cpulist(b, cache_cpus((u64)arg));
	text_puts(b, "\n");
	return 0;
}

/* Each is told cpu << 8 | index. */
static const struct { const char *name; struct knode_ops ops; } cache_files[] = {
	{ "level", { .show = level_show } }, { "type", { .show = type_show } },
	{ "shared_cpu_map", { .show = shared_map_show } },
	{ "shared_cpu_list", { .show = shared_list_show } },
};

static void add_caches(u32 cpu)
{
	const char *type;
	char path[96];
	u32 level;

	for (u32 index = 0; arch_cpu_cache(index, &level, &type); index++)
		for (size_t k = 0; k < ARRAY_SIZE(cache_files); k++) {
			snprintf(path, sizeof(path), CPU_DIR "/cpu%u/cache/index%u/%s", cpu, index,
				 cache_files[k].name);
			sysfs_show(path, &cache_files[k].ops, (void *)(u64)(cpu << 8 | index));
		}
}

static void add_cpu(u32 cpu)
{
	char path[96], target[64];

	for (size_t k = 0; k < ARRAY_SIZE(cpu_files); k++) {
		snprintf(path, sizeof(path), CPU_DIR "/cpu%u/%s", cpu, cpu_files[k].name);
		sysfs_show(path, &cpu_files[k].ops, (void *)(u64)cpu);
	}
	for (size_t k = 0; k < ARRAY_SIZE(cpu_lines); k++) {
		snprintf(path, sizeof(path), CPU_DIR "/cpu%u/%s", cpu, cpu_lines[k].name);
		sysfs_text(path, cpu_lines[k].line);
	}
	add_caches(cpu);
	snprintf(path, sizeof(path), CPU_DIR "/cpu%u/subsystem", cpu);
	knode_link(sysfs_root, path, "../../../../bus/cpu");
	snprintf(path, sizeof(path), "bus/cpu/devices/cpu%u", cpu);
	snprintf(target, sizeof(target), "../../../devices/system/cpu/cpu%u", cpu);
	knode_link(sysfs_root, path, target);
}

void sysfs_cpu_init(void)
{
	for (u32 cpu = 0; cpu < nr_cpus; cpu++)
		add_cpu(cpu);
	add_sets();
}
