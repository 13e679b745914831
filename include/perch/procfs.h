/* SPDX-License-Identifier: MIT */
/*
 * Text files of procfs and sysfs. A file's text is made at the first read after open (or after a
 * seek to 0) and then served from that snapshot, so a reader never sees half of one state.
 */
#ifndef PERCH_PROCFS_H
#define PERCH_PROCFS_H

#include <perch/fs.h>

struct knode;	/* a directory or file in a static tree (procfs top level, /proc/sys, sysfs) */

struct knode_ops {
	/* Produce the text; arg as registered. 0 or -errno (given to the reader). */
	int (*show)(struct textbuf *b, void *arg);
	/* A write of len bytes (NUL-terminated copy). len or -errno. NULL: not writable (mode says so too). */
	ssize_t (*store)(const char *buf, size_t len, void *arg);
	/* Instead of show/store: a file with its own ops (e.g. /proc/kmsg). */
	const struct file_ops *fops;
};

extern struct knode *proc_root, *proc_sys_root, *sysfs_root;
/* Create below parent; path may contain '/' (directories are made, 0555). Returns the node, the existing one for a
 * directory that is there already, or NULL on OOM. ops must stay valid. Process context. */
struct knode *knode_dir(struct knode *parent, const char *path);
struct knode *knode_file(struct knode *parent, const char *path, u32 mode, const struct knode_ops *ops, void *arg);
struct knode *knode_link(struct knode *parent, const char *path, const char *target);
void knode_remove(struct knode *n);	/* and everything below */
void knode_set_size(struct knode *n, loff size);	/* st_size, for binary files */

/* A sysctl that is one integer with bounds: value is read and written as a decimal line. */
struct sysctl_int {
	int *value;
	int min, max;
	int (*changed)(int old, int new);	/* optional, after the write; -errno refuses and restores */
	int cap;				/* capability needed to write beyond mode bits, -1 none */
};
/* path below /proc/sys. s must stay valid. NULL on OOM. */
struct knode *sysctl_int_file(const char *path, u32 mode, const struct sysctl_int *s);

/* Register the file systems and fill the trees. Once, after vfs_init; process context. */
void proc_init(void);
void sysfs_init(void);

/* Device (as stat shows it) and inode number of a namespace ("net", "uts", ...): there is one of each. P. */
void ns_number(const char *name, u64 *dev, u64 *ino);

#endif
