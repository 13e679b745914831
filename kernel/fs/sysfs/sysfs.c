/* SPDX-License-Identifier: MIT */
/*
 * sysfs: a tree of knodes below sysfs_root, filled at boot. Only what programs look for is there;
 * what is there is true. debugfs and tracefs can be mounted and are empty.
 */
#include "internal.h"
#include <perch/page.h>
#include <perch/printk.h>
#include <string.h>

extern const char __start_notes[], __stop_notes[];

static int line_show(struct textbuf *b, void *arg)
{
	text_puts(b, arg);
	text_puts(b, "\n");
	return 0;
}

void sysfs_text(const char *path, const char *line)
{
	static const struct knode_ops ops = { .show = line_show };

	knode_file(sysfs_root, path, 0444, &ops, (void *)line);
}

void sysfs_show(const char *path, const struct knode_ops *ops, void *arg)
{
	knode_file(sysfs_root, path, 0444, ops, arg);
}

/* --- kernel/notes: the ELF notes of the image, among them its build id ---------------------- */

static ssize_t notes_read(struct file *f, struct uio *u, loff *pos)
{
	return text_serve(u, pos, __start_notes, (size_t)(__stop_notes - __start_notes));
}

static const struct file_ops notes_fops = { .read = notes_read, .llseek = text_llseek };

static void add_kernel(void)
{
	static const struct knode_ops notes_ops = { .fops = &notes_fops };
	struct knode *n = knode_file(sysfs_root, "kernel/notes", 0444, &notes_ops, NULL);

	if (n)
		knode_set_size(n, __stop_notes - __start_notes);
	sysfs_text("kernel/address_bits", "64");
	sysfs_text("kernel/cpu_byteorder", "little");
	sysfs_text("kernel/fscaps", "0");
	sysfs_text("kernel/profiling", "0");
	sysfs_text("kernel/kexec_loaded", "0");
	knode_dir(sysfs_root, "kernel/debug");
	knode_dir(sysfs_root, "kernel/tracing");
}

/* --- the file systems ----------------------------------------------------------------------- */

static struct knode debugfs_root = {
	.refs = { 1 }, .name = "debug", .mode = S_IFDIR | 0700, .ino = 1,
	.children = LIST_INIT(debugfs_root.children), .node = LIST_INIT(debugfs_root.node),
};
static struct knode tracefs_root = {
	.refs = { 1 }, .name = "tracing", .mode = S_IFDIR | 0700, .ino = 1,
	.children = LIST_INIT(tracefs_root.children), .node = LIST_INIT(tracefs_root.node),
};

static int sysfs_mount(struct super *sb, const char *source, const char *data)
{
	sysfs_pmu_init();
	return knode_mount(sb, sysfs_root, SYSFS_MAGIC);
}

static int debugfs_mount(struct super *sb, const char *source, const char *data)
{
	return knode_mount(sb, &debugfs_root, DEBUGFS_MAGIC);
}

/* No tracepoints yet: an empty events directory is what perf list takes for an answer. */
static int tracefs_mount(struct super *sb, const char *source, const char *data)
{
	if (!knode_dir(&tracefs_root, "events"))
		return -ENOMEM;
	return knode_mount(sb, &tracefs_root, TRACEFS_MAGIC);
}

static struct fs_type types[] = {
	{ .name = "sysfs", .nodev = true, .single = true, .mount = sysfs_mount },
	{ .name = "debugfs", .nodev = true, .single = true, .mount = debugfs_mount },
	{ .name = "tracefs", .nodev = true, .single = true, .mount = tracefs_mount },
};

void sysfs_init(void)
{
	static const char *const dirs[] = { "block", "bus", "class", "dev/block", "dev/char",
					    "devices", "firmware", "fs", "kernel", "module" };

	for (size_t k = 0; k < ARRAY_SIZE(types); k++)
		register_fs(&types[k]);
	for (size_t k = 0; k < ARRAY_SIZE(dirs); k++)
		knode_dir(sysfs_root, dirs[k]);
	add_kernel();
	sysfs_cpu_init();
	sysfs_node_init();
	sysfs_class_init();
}
