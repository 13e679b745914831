/* SPDX-License-Identifier: MIT */
/*
 * /sys/bus/event_source/devices: what perf knows about PMUs. The perf core enumerates its PMUs and
 * their files by number (perf.h); here they get their places: hardware below devices/platform/pmu,
 * software in devices, and a link from the bus to each.
 */
#include "internal.h"
#include <perch/page.h>
#include <perch/perf.h>
#include <stdio.h>
#include <string.h>

/* PMU number << 16 | file number, as the argument of a file. */
static u32 arg_pmu(void *arg)
{
	return (u32)((u64)arg >> 16);
}

static u32 arg_file(void *arg)
{
	return (u32)((u64)arg & 0xffff);
}

static int pmu_show(struct textbuf *b, void *arg)
{
	char *page = kmalloc(PAGE_SIZE);
	long n = page ? perf_sysfs_read(arg_pmu(arg), arg_file(arg), page, PAGE_SIZE) : -ENOMEM;

	if (n > 0)
		text_write(b, page, min((size_t)n, PAGE_SIZE));
	kfree(page);
	return n < 0 ? (int)n : 0;
}

static ssize_t pmu_store(const char *buf, size_t len, void *arg)
{
	int err = perf_sysfs_write(arg_pmu(arg), arg_file(arg), buf);

	return err ? err : (ssize_t)len;
}

static const struct knode_ops pmu_ro_ops = { .show = pmu_show };
static const struct knode_ops pmu_rw_ops = { .show = pmu_show, .store = pmu_store };

static int nothing_show(struct textbuf *b, void *arg)
{
	return 0;
}

static const struct knode_ops uevent_ops = { .show = nothing_show };

static void add_pmu(u32 i, const char *pmu)
{
	bool hard = strcmp(pmu, "software") != 0;
	const char *where = hard ? "devices/platform/pmu" : "devices";
	const char *up = hard ? "../../../../bus/event_source" : "../../bus/event_source";
	const char *dir, *name;
	char path[128], target[96];
	u32 mode;

	for (u32 j = 0; perf_sysfs_file(i, j, &dir, &name, &mode); j++) {
		snprintf(path, sizeof(path), "%s/%s/%s%s%s", where, pmu, dir ? dir : "",
			 dir ? "/" : "", name);
		knode_file(sysfs_root, path, mode, mode & 0200 ? &pmu_rw_ops : &pmu_ro_ops,
			   (void *)((u64)i << 16 | j));
	}
	snprintf(path, sizeof(path), "%s/%s/uevent", where, pmu);
	sysfs_show(path, &uevent_ops, NULL);
	snprintf(path, sizeof(path), "%s/%s/subsystem", where, pmu);
	knode_link(sysfs_root, path, up);
	snprintf(path, sizeof(path), "bus/event_source/devices/%s", pmu);
	snprintf(target, sizeof(target), "../../../%s/%s", where, pmu);
	knode_link(sysfs_root, path, target);
}

void sysfs_pmu_init(void)
{
	const char *name;

	knode_dir(sysfs_root, "bus/event_source/devices");
	for (u32 i = 0; (name = perf_sysfs_pmu(i)); i++)
		add_pmu(i, name);
}
