/* SPDX-License-Identifier: MIT */
/* /proc/sys/vm, fs and dev. */
#include "internal.h"
#include <perch/mm.h>
#include <perch/page.h>
#include <stdio.h>

/* Everything cached is the only copy there is (tmpfs): dropping clean caches drops nothing. */
static ssize_t drop_caches_store(const char *buf, size_t len, void *arg)
{
	long v;

	if (sysctl_parse_int(buf, &v) || v < 1 || v > 4)
		return -EINVAL;
	return (ssize_t)len;
}

/* As many files as a tenth of memory could hold at 1 KiB each, which is Linux's rule. */
static u64 file_max(void)
{
	return max(mem_stats.total_pages * (PAGE_SIZE / 1024) / 10, 8192UL);
}

static int file_max_show(struct textbuf *b, void *arg)
{
	text_printf(b, "%lu\n", file_max());
	return 0;
}

static const struct { const char *path; struct sysctl_int s; } ints[] = {
	{ "vm/overcommit_memory", { &sysctl_overcommit_memory, 0, 2, NULL, -1 } },
	{ "vm/max_map_count", { &sysctl_max_map_count, 0, INT32_MAX, NULL, -1 } },
};

static const struct { const char *path, *text; } facts[] = {
	{ "vm/mmap_min_addr", "65536" }, { "vm/overcommit_ratio", "50" },
	{ "vm/panic_on_oom", "0" }, { "vm/nr_hugepages", "0" },
	{ "vm/nr_overcommit_hugepages", "0" }, { "vm/legacy_va_layout", "0" },
	{ "vm/oom_kill_allocating_task", "0" },
	{ "fs/nr_open", "1048576" }, { "fs/pipe-max-size", "1048576" },
	{ "fs/overflowuid", "65534" },
	{ "fs/overflowgid", "65534" }, { "fs/suid_dumpable", "0" },
	{ "dev/tty/ldisc_autoload", "0" }, { "dev/tty/legacy_tiocsti", "0" },
};

_Static_assert(USER_MIN == 65536, "mmap_min_addr");

void proc_sysctl_vm_fs_init(void)
{
	static const struct knode_ops drop_ops = { .store = drop_caches_store };
	static const struct knode_ops file_max_ops = { .show = file_max_show };

	for (size_t k = 0; k < ARRAY_SIZE(ints); k++)
		sysctl_int_file(ints[k].path, 0644, &ints[k].s);
	for (size_t k = 0; k < ARRAY_SIZE(facts); k++)
		sysctl_text_file(facts[k].path, facts[k].text);
	knode_file(proc_sys_root, "vm/drop_caches", 0200, &drop_ops, NULL);
	knode_file(proc_sys_root, "fs/file-max", 0444, &file_max_ops, NULL);
}
