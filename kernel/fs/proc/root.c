/* SPDX-License-Identifier: MIT */
/*
 * The root of procfs: registered files (knodes), self and thread-self, and a directory for each
 * process. Registered names never look like a number. self and thread-self stay once they were looked up,
 * like on Linux: every program that asks for itself comes through them.
 *
 * Positions of a directory read: 0 and 1 the dots, 2.. the registered names, 254 and 255 self and
 * thread-self, PID_POS + pid the processes.
 */
#include "internal.h"
#include <perch/page.h>
#include <perch/printk.h>
#include <stdio.h>
#include <string.h>

#define SELF_POS	254

/* --- self and thread-self: links whose text depends on the reader --------------------------- */

static int self_readlink(struct inode *i, struct dentry *d, char *buf, size_t size)
{
	return snprintf(buf, size, "%u", current->tgid);
}

static int thread_self_readlink(struct inode *i, struct dentry *d, char *buf, size_t size)
{
	return snprintf(buf, size, "%u/task/%u", current->tgid, current->pid);
}

static const struct inode_ops self_iops = { .readlink = self_readlink, .setattr = pid_setattr };
static const struct inode_ops thread_self_iops = {
	.readlink = thread_self_readlink,
	.setattr = pid_setattr,
};

struct self_link { const char *name; u64 ino; const struct inode_ops *iops; };
static const struct self_link self_links[] = {
	{ "self", 0xf0000001UL - 2, &self_iops },
	{ "thread-self", 0xf0000001UL - 1, &thread_self_iops },
};

static const struct self_link *find_self(const struct dentry *d)
{
	for (size_t k = 0; k < ARRAY_SIZE(self_links); k++)
		if (!strcmp(d->name, self_links[k].name))
			return &self_links[k];
	return NULL;
}

static int attach_self(struct inode *dir, struct dentry *d, const struct self_link *l)
{
	struct inode *i = inode_alloc(dir->sb, S_IFLNK | 0777);

	if (!i)
		return -ENOMEM;
	i->ino = l->ino;
	i->ops = l->iops;
	d->pinned = true;
	dentry_get(d);
	dentry_attach(d, i);
	return 0;
}

/* --- the root directory --------------------------------------------------------------------- */

static int root_lookup(struct inode *dir, struct dentry *d)
{
	const struct self_link *l;
	int err = pid_lookup_root(dir, d);

	if (err != -ENOENT)
		return err;
	l = find_self(d);
	return l ? attach_self(dir, d, l) : knode_dir_iops.lookup(dir, d);
}

static bool emit_self(struct file *f, struct readdir_ctx *ctx)
{
	while (f->pos < PID_POS) {
		const struct self_link *l = &self_links[f->pos - SELF_POS];

		if (!readdir_emit(ctx, l->name, strlen(l->name), f->pos + 1, l->ino, DT_LNK))
			return false;
	}
	return true;
}

static int root_iterate(struct file *f, struct readdir_ctx *ctx)
{
	if (!emit_dots(f, ctx))
		return 0;
	if (f->pos < SELF_POS) {
		if (!knode_emit(f->inode->priv, f, ctx))
			return 0;
		ASSERT(f->pos <= SELF_POS);
		f->pos = SELF_POS;
	}
	if (f->pos < PID_POS && !emit_self(f, ctx))
		return 0;
	return pid_emit_root(f, ctx);
}

/* As on Linux: two for the directory itself and one for each process. */
static int root_getattr(struct inode *i, struct kstat *st)
{
	generic_getattr(i, st);
	st->nlink = nr_tasks + 2;
	return 0;
}

static int root_setattr(struct inode *i, const struct iattr *a)
{
	return knode_dir_iops.setattr(i, a);
}

static void root_evict(struct inode *i)
{
	knode_put(i->priv);
}

static const struct inode_ops root_iops = {
	.lookup = root_lookup,
	.getattr = root_getattr,
	.setattr = root_setattr,
	.evict = root_evict,
};

static const struct file_ops root_fops = {
	.iterate = root_iterate,
	.llseek = text_llseek,
};

static int proc_mount(struct super *sb, const char *source, const char *data)
{
	int err = knode_mount(sb, proc_root, PROC_MAGIC);

	if (err)
		return err;
	sb->root->inode->ops = &root_iops;
	sb->root->inode->fops = &root_fops;
	return 0;
}

static struct fs_type proc_type = {
	.name = "proc", .nodev = true, .single = true, .mount = proc_mount,
};

void proc_init(void)
{
	register_fs(&proc_type);
	proc_system_init();
	proc_meminfo_init();
	proc_tables_init();
	proc_kernel_init();
	proc_kcore_init();
	proc_sysctl_init();
	proc_sysctl_vm_fs_init();
	knode_link(proc_root, "mounts", "self/mounts");
	knode_link(proc_root, "net", "self/net");
}
