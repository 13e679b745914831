/* SPDX-License-Identifier: MIT */
/*
 * The file system of pseudo terminals: ptmx and a node for each pair whose master is open. All
 * mounts show the same. Owner and mode of a node are the pair's.
 */
#include "internal.h"
#include <perch/cred.h>
#include <perch/page.h>
#include <perch/printk.h>
#include <perch/task.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PTMX_INO	2
#define FIRST_PTY_INO	3

/* Mount options; set by the mount that made the super. */
static u32 pts_mode = 0600, ptmx_mode;
static u32 pts_gid = UINT32_MAX;	/* UINT32_MAX: the opener's */

static bool node_index(const struct dentry *d, u32 *index)
{
	u64 v = 0;

	if (!d->name_len || d->name_len > 4 || (d->name[0] == '0' && d->name_len > 1))
		return false;
	for (u32 k = 0; k < d->name_len; k++) {
		if (d->name[k] < '0' || d->name[k] > '9')
			return false;
		v = v * 10 + (u64)(d->name[k] - '0');
	}
	*index = (u32)v;
	return true;
}

static struct pty *inode_pty(const struct inode *i)
{
	return i->ino >= FIRST_PTY_INO ? pty_find((u32)(i->ino - FIRST_PTY_INO)) : NULL;
}

/* The name is good while it is the same pair's. */
static bool node_revalidate(struct dentry *d)
{
	struct pty *p = inode_pty(d->inode);
	bool same = p && (u64)p->ctime == (u64)d->inode->ctime;

	if (p)
		pty_put(p);
	return same;
}

static int node_setattr(struct inode *i, const struct iattr *a)
{
	struct pty *p = inode_pty(i);

	if (a->valid & ATTR_MODE)
		i->mode = (i->mode & S_IFMT) | (a->mode & 07777);
	if (a->valid & ATTR_UID)
		i->uid = a->uid;
	if (a->valid & ATTR_GID)
		i->gid = a->gid;
	if (p) {
		p->mode = i->mode & 07777;
		p->uid = i->uid;
		p->gid = i->gid;
		pty_put(p);
	}
	return 0;
}

static const struct inode_ops node_iops = {
	.setattr = node_setattr, .revalidate = node_revalidate,
};
static const struct inode_ops ptmx_iops = { .setattr = node_setattr };

static struct inode *ptmx_inode(struct super *sb)
{
	struct inode *i = inode_alloc(sb, S_IFCHR | ptmx_mode);

	if (!i)
		return NULL;
	i->ino = PTMX_INO;
	i->rdev = mkdev(5, 2);
	i->ops = &ptmx_iops;
	return i;
}

static struct inode *pty_inode(struct super *sb, struct pty *p)
{
	struct inode *i = inode_alloc(sb, S_IFCHR | (p->mode ? p->mode : pts_mode));

	if (!i)
		return NULL;
	i->ino = FIRST_PTY_INO + p->index;
	i->rdev = mkdev(PTS_MAJOR, p->index);
	i->uid = p->uid;
	i->gid = p->mode || pts_gid == UINT32_MAX ? p->gid : pts_gid;
	i->ctime = p->ctime;
	i->ops = &node_iops;
	return i;
}

static int root_lookup(struct inode *dir, struct dentry *d)
{
	struct inode *i;
	struct pty *p;
	u32 index;

	if (!strcmp(d->name, "ptmx")) {
		i = ptmx_inode(dir->sb);
	} else {
		p = node_index(d, &index) ? pty_find(index) : NULL;
		if (!p)
			return 0;
		i = pty_inode(dir->sb, p);
		pty_put(p);
	}
	if (!i)
		return -ENOMEM;
	dentry_attach(d, i);
	return 0;
}

static bool emit(struct readdir_ctx *ctx, const char *name, u64 ino, u8 type, loff next)
{
	return readdir_emit(ctx, name, strlen(name), next, ino, type);
}

/* Positions: 0, 1 the dots, 2 ptmx, 3 + index the pairs. */
static int root_iterate(struct file *f, struct readdir_ctx *ctx)
{
	char name[12];
	u32 k;

	if (f->pos == 0 && !emit(ctx, ".", 1, DT_DIR, 1))
		return 0;
	if (f->pos == 1 && !emit(ctx, "..", 1, DT_DIR, 2))
		return 0;
	if (f->pos == 2 && !emit(ctx, "ptmx", PTMX_INO, DT_CHR, 3))
		return 0;
	while ((k = pty_next((u32)(f->pos - 3))) < PTY_MAX) {
		snprintf(name, sizeof(name), "%u", k);
		if (!emit(ctx, name, FIRST_PTY_INO + k, DT_CHR, (loff)k + 4))
			return 0;
	}
	return 0;
}

static loff root_llseek(struct file *f, loff off, int whence)
{
	if (whence != SEEK_SET || off < 0)
		return -EINVAL;
	return f->pos = off;
}

static const struct inode_ops root_iops = { .lookup = root_lookup };
static const struct file_ops root_fops = { .iterate = root_iterate, .llseek = root_llseek };

/* One option; unknown ones are refused. */
static int parse_option(const char *o)
{
	if (!strncmp(o, "mode=", 5))
		pts_mode = (u32)strtoul(o + 5, NULL, 8) & 0777;
	else if (!strncmp(o, "ptmxmode=", 9))
		ptmx_mode = (u32)strtoul(o + 9, NULL, 8) & 0777;
	else if (!strncmp(o, "gid=", 4))
		pts_gid = (u32)strtoul(o + 4, NULL, 10);
	else if (*o && strcmp(o, "newinstance") && strncmp(o, "max=", 4))
		return -EINVAL;
	return 0;
}

static int parse_options(const char *data)
{
	char *copy = kstrdup(data), *rest = copy, *o;
	int err = copy ? 0 : -ENOMEM;

	while (!err && (o = strsep(&rest, ",")))
		err = parse_option(o);
	kfree(copy);
	return err;
}

static int devpts_mount(struct super *sb, const char *source, const char *data)
{
	int err = data ? parse_options(data) : 0;
	struct inode *i;

	if (err)
		return err;
	sb->magic = DEVPTS_MAGIC;
	if (pts_gid == UINT32_MAX)
		snprintf(sb->options, sizeof(sb->options), "mode=%03o,ptmxmode=%03o", pts_mode,
			 ptmx_mode);
	else
		snprintf(sb->options, sizeof(sb->options), "gid=%u,mode=%03o,ptmxmode=%03o",
			 pts_gid, pts_mode, ptmx_mode);
	i = inode_alloc(sb, S_IFDIR | 0755);
	if (!i)
		return -ENOMEM;
	i->ino = 1;
	i->nlink = 2;
	i->ops = &root_iops;
	i->fops = &root_fops;
	sb->root = dentry_root(sb, i);
	return sb->root ? 0 : -ENOMEM;
}

static struct fs_type devpts_type = {
	.name = "devpts",
	.nodev = true,
	.single = true,
	.mount = devpts_mount,
};

void devpts_init(void)
{
	register_fs(&devpts_type);
}
