/* SPDX-License-Identifier: MIT */
/*
 * tmpfs: files that live in memory. The directory tree is the dentry tree itself (each entry is
 * pinned by a reference of the tree), file contents are the page cache (pagecache.c), a symbolic
 * link's text hangs on the inode. The root file system, /dev, /tmp, memfd and shared anonymous
 * memory are all this.
 */
#include "internal.h"

#include <perch/mm.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct inode_ops tmpfs_dir_iops, tmpfs_file_iops, tmpfs_link_iops, tmpfs_special_iops;
static const struct file_ops tmpfs_dir_ops;

/* --- inodes -------------------------------------------------------------------------------- */

struct inode *tmpfs_inode(struct super *sb, const struct inode *dir, u32 mode, u64 rdev)
{
	struct inode *i = inode_alloc(sb, mode);

	if (!i)
		return NULL;
	inode_init_owner(i, dir);
	i->rdev = rdev;
	if (S_ISDIR(mode)) {
		i->ops = &tmpfs_dir_iops;
		i->fops = &tmpfs_dir_ops;
		i->nlink = 2;
		i->size = 40;
	} else if (S_ISREG(mode)) {
		i->ops = &tmpfs_file_iops;
		i->fops = &tmpfs_file_ops;
		i->flags = IF_SHMEM;
	} else if (S_ISLNK(mode)) {
		i->ops = &tmpfs_link_iops;
	} else {
		i->ops = &tmpfs_special_iops;
	}
	return i;
}

static void tmpfs_evict(struct inode *i)
{
	if (S_ISREG(i->mode))
		pagecache_truncate(i, 0);
	else if (S_ISLNK(i->mode))
		kfree(i->priv);
}

#define DIRENT_SIZE 20		/* what Linux's tmpfs counts for an entry in a directory's size */

static void dir_changed(struct inode *dir, int entries)
{
	dir->size += entries * DIRENT_SIZE;
	dir->mtime = dir->ctime = fs_now();
}

/* Give the negative dentry d in dir the inode (reference taken over) and pin it. */
int tmpfs_attach(struct inode *dir, struct dentry *d, struct inode *i)
{
	d->pinned = true;
	dentry_get(d);
	dentry_attach(d, i);
	dir_changed(dir, 1);
	if (S_ISDIR(i->mode))
		dir->nlink++;
	return 0;
}

static int make(struct inode *dir, struct dentry *d, u32 mode, u64 rdev)
{
	struct inode *i = tmpfs_inode(dir->sb, dir, mode, rdev);

	return i ? tmpfs_attach(dir, d, i) : -ENOSPC;
}

static int tmpfs_create(struct inode *dir, struct dentry *d, u32 mode)
{
	return make(dir, d, mode, 0);
}

static int tmpfs_symlink(struct inode *dir, struct dentry *d, const char *target)
{
	struct inode *i = tmpfs_inode(dir->sb, dir, S_IFLNK | 0777, 0);

	if (!i)
		return -ENOSPC;
	i->priv = kstrdup(target);
	if (!i->priv) {
		inode_put(i);
		return -ENOMEM;
	}
	i->size = strlen(target);
	return tmpfs_attach(dir, d, i);
}

static int tmpfs_link(struct inode *dir, struct dentry *d, struct inode *target)
{
	inode_get(target);
	target->nlink++;
	target->flags &= ~IF_TMPFILE;
	target->ctime = fs_now();
	return tmpfs_attach(dir, d, target);
}

static int tmpfs_unlink(struct inode *dir, struct dentry *d)
{
	d->inode->nlink--;
	d->inode->ctime = fs_now();
	dir_changed(dir, -1);
	return 0;
}

static bool dir_empty(struct dentry *d)
{
	bool empty;

	spin_lock(&dcache_lock);
	empty = list_empty(&d->children);
	spin_unlock(&dcache_lock);
	return empty;
}

static int tmpfs_rmdir(struct inode *dir, struct dentry *d)
{
	if (!dir_empty(d))
		return -ENOTEMPTY;
	d->inode->nlink = 0;
	dir->nlink--;
	dir_changed(dir, -1);
	return 0;
}

/* n: the target name, with an inode if it replaces something. The dentries are moved by the
 * caller. */
static int tmpfs_rename(struct inode *od, struct dentry *o, struct inode *nd, struct dentry *n,
			u32 flags)
{
	bool dir = S_ISDIR(o->inode->mode);
	bool exchange = n->inode && (flags & 2);

	if (n->inode && !exchange) {
		int err = S_ISDIR(n->inode->mode) ? tmpfs_rmdir(nd, n) : tmpfs_unlink(nd, n);

		if (err)
			return err;
	}
	if (dir && od != nd && !(exchange && S_ISDIR(n->inode->mode))) {
		od->nlink--;
		nd->nlink++;
	} else if (exchange && !dir && od != nd && S_ISDIR(n->inode->mode)) {
		od->nlink++;
		nd->nlink--;
	}
	dir_changed(od, exchange ? 0 : -1);
	dir_changed(nd, exchange ? 0 : 1);
	o->inode->ctime = fs_now();
	return 0;
}

static int tmpfs_readlink(struct inode *i, struct dentry *d, char *buf, size_t size)
{
	size_t n = min_t(size_t, i->size, size);

	memcpy(buf, i->priv, n);
	return n;
}

static int tmpfs_setattr(struct inode *i, const struct iattr *a)
{
	int err = 0;

	if (a->valid & ATTR_SIZE)
		err = S_ISREG(i->mode) ? tmpfs_truncate(i, a->size) : -EINVAL;
	if (err)
		return err;
	if (a->valid & ATTR_MODE)
		i->mode = (i->mode & S_IFMT) | (a->mode & 07777);
	if (a->valid & ATTR_UID)
		i->uid = a->uid;
	if (a->valid & ATTR_GID)
		i->gid = a->gid;
	if (a->valid & ATTR_ATIME)
		i->atime = a->atime;
	if (a->valid & ATTR_MTIME)
		i->mtime = a->mtime;
	return 0;
}

/* --- directories --------------------------------------------------------------------------- */

static u8 dirent_type(const struct inode *i)
{
	return (i->mode & S_IFMT) >> 12;
}

static bool emit_dots(struct file *f, struct readdir_ctx *c)
{
	struct dentry *d = f->path.dentry;

	if (f->pos == 0 && !readdir_emit(c, ".", 1, 1, d->inode->ino, DT_DIR))
		return false;
	return f->pos != 1 || readdir_emit(c, "..", 2, 2, d->parent->inode->ino, DT_DIR);
}

/* Entries are in the order of their cookies; names are stable under the directory's lock. */
static int tmpfs_iterate(struct file *f, struct readdir_ctx *c)
{
	struct dentry *dir = f->path.dentry, *d;

	if (!emit_dots(f, c))
		return 0;
	for (struct list *l = dir->children.next; l != &dir->children; l = l->next) {
		d = list_entry(l, struct dentry, child_node);
		if (d->cookie <= (u64)f->pos)
			continue;
		if (!readdir_emit(c, d->name, d->name_len, d->cookie, d->inode->ino,
				  dirent_type(d->inode)))
			break;
	}
	return 0;
}

static loff tmpfs_dir_llseek(struct file *f, loff off, int whence)
{
	if (whence == SEEK_END || whence == SEEK_DATA || whence == SEEK_HOLE)
		return -EINVAL;
	return generic_llseek(f, off, whence, 0);
}

static const struct inode_ops tmpfs_dir_iops = {
	.create = tmpfs_create, .mkdir = tmpfs_create, .mknod = make, .symlink = tmpfs_symlink,
	.link = tmpfs_link, .unlink = tmpfs_unlink, .rmdir = tmpfs_rmdir, .rename = tmpfs_rename,
	.setattr = tmpfs_setattr,
};
static const struct inode_ops tmpfs_file_iops = { .setattr = tmpfs_setattr, .evict = tmpfs_evict };
static const struct inode_ops tmpfs_special_iops = { .setattr = tmpfs_setattr };
static const struct inode_ops tmpfs_link_iops = {
	.setattr = tmpfs_setattr, .readlink = tmpfs_readlink, .evict = tmpfs_evict,
};
static const struct file_ops tmpfs_dir_ops = {
	.iterate = tmpfs_iterate, .llseek = tmpfs_dir_llseek, .fsync = tmpfs_fsync,
};

/* --- the file system ----------------------------------------------------------------------- */

/* "64k", "10m", "50%" in units of unit bytes, as pages; false if malformed. */
static bool parse_size(const char *s, u64 unit, u64 *pages)
{
	char *end;
	u64 n = strtoul(s, &end, 0);

	if (end == s)
		return false;
	if (*end == '%') {
		*pages = mem_stats.total_pages * n / 100;
		return !end[1];
	}
	switch (*end) {
	case 'g': case 'G': n <<= 10; /* fall through */
	case 'm': case 'M': n <<= 10; /* fall through */
	case 'k': case 'K': n <<= 10; end++; break;
	}
	*pages = DIV_ROUND_UP(n * unit, PAGE_SIZE);
	return !*end;
}

static bool parse_option(struct super *sb, struct inode *root, char *opt)
{
	char *value = strchr(opt, '='), *end;
	u64 n;

	if (!value)
		return false;
	*value++ = '\0';
	if (!strcmp(opt, "size"))
		return parse_size(value, 1, &sb->max_pages);
	if (!strcmp(opt, "nr_blocks"))
		return parse_size(value, PAGE_SIZE, &sb->max_pages);
	if (!strcmp(opt, "nr_inodes") || !strcmp(opt, "huge") || !strcmp(opt, "mpol"))
		return true;
	n = strtoul(value, &end, !strcmp(opt, "mode") ? 8 : 10);
	if (end == value || *end)
		return false;
	if (!strcmp(opt, "mode"))
		root->mode = S_IFDIR | (n & 07777);
	else if (!strcmp(opt, "uid"))
		root->uid = n;
	else if (!strcmp(opt, "gid"))
		root->gid = n;
	else
		return false;
	return true;
}

static int parse_options(struct super *sb, struct inode *root, const char *data)
{
	char *copy = kstrdup(data), *s = copy, *opt;
	int err = 0;

	if (!copy)
		return -ENOMEM;
	while (!err && (opt = strsep(&s, ",")))
		if (*opt && !parse_option(sb, root, opt))
			err = -EINVAL;
	kfree(copy);
	return err;
}

/* What /proc/mounts shows: what differs from the defaults. */
static void show_options(struct super *sb, const struct inode *root, u64 default_pages)
{
	char *p = sb->options, *end = p + sizeof(sb->options);

	if (sb->max_pages != default_pages)
		p += snprintf(p, end - p, "size=%luk,", sb->max_pages * (PAGE_SIZE / 1024));
	if ((root->mode & 07777) != 01777)
		p += snprintf(p, end - p, "mode=%03o,", root->mode & 07777);
	snprintf(p, end - p, "inode64");
}

static int tmpfs_mount(struct super *sb, const char *source, const char *data)
{
	struct inode *root = tmpfs_inode(sb, NULL, S_IFDIR | 01777, 0);
	int err;

	if (!root)
		return -ENOMEM;
	sb->magic = TMPFS_MAGIC;
	sb->max_pages = mem_stats.total_pages / 2;
	err = data ? parse_options(sb, root, data) : 0;
	if (err) {
		inode_put(root);
		return err;
	}
	show_options(sb, root, mem_stats.total_pages / 2);
	sb->root = dentry_root(sb, root);
	return sb->root ? 0 : -ENOMEM;
}

/* Nobody can reach the tree any more: take it down leaf by leaf. */
static void tmpfs_kill(struct super *sb)
{
	struct dentry *d = sb->root;

	for (;;) {
		struct dentry *up = d->parent;

		if (!list_empty(&d->children)) {
			d = list_first(&d->children, struct dentry, child_node);
			continue;
		}
		if (d == sb->root)
			break;
		dentry_drop(d);
		d = up;
	}
	dentry_put(sb->root);
	sb->root = NULL;
}

struct fs_type tmpfs_type = { .name = "tmpfs", .nodev = true, .mount = tmpfs_mount,
			     .kill = tmpfs_kill };
