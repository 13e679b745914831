/* SPDX-License-Identifier: MIT */
/*
 * Files of the host as inodes: looking up, attributes, making and removing names.
 *
 * What an inode says of size, owner, mode and times is what the server said last; stat, lookup and
 * whatever depends on the size ask again. The fields are written without inode->lock, each in one
 * store: readers see an older or a newer answer.
 */
#include "v9fs.h"

#include <perch/mm.h>

static const struct inode_ops v9_iops, v9_link_iops;

/* --- inodes -------------------------------------------------------------------------------- */

static void take_attr(struct inode *i, const struct p9_attr *a)
{
	WRITE_ONCE(i->mode, a->mode);
	WRITE_ONCE(i->uid, a->uid);
	WRITE_ONCE(i->gid, a->gid);
	WRITE_ONCE(i->nlink, a->nlink);
	WRITE_ONCE(i->rdev, a->rdev);
	WRITE_ONCE(i->size, a->size);
	WRITE_ONCE(i->blocks, a->blocks);
	WRITE_ONCE(i->atime, a->atime);
	WRITE_ONCE(i->mtime, a->mtime);
	WRITE_ONCE(i->ctime, a->ctime);
}

static struct inode *new_inode(struct super *sb, u32 fid, const struct p9_attr *a)
{
	struct v9_node *n = kmalloc(sizeof(*n));
	struct inode *i = n ? inode_alloc(sb, a->mode) : NULL;

	if (!i) {
		kfree(n);
		return NULL;
	}
	*n = (struct v9_node){ .fid = fid, .fresh = P9_NOFID, .path = a->qid.path };
	i->priv = n;
	i->ino = a->qid.path;
	i->ops = S_ISLNK(a->mode) ? &v9_link_iops : &v9_iops;
	if (S_ISDIR(a->mode))
		i->fops = &v9_dir_ops;
	else if (S_ISREG(a->mode))
		i->fops = &v9_file_ops;
	take_attr(i, a);
	return i;
}

struct inode *v9_inode(struct super *sb, u32 fid)
{
	struct inode *i = NULL;
	struct p9_attr a;
	int err = p9_getattr(sb->priv, fid, &a);

	if (!err) {
		i = new_inode(sb, fid, &a);
		err = i ? 0 : -ENOMEM;
	}
	if (err)
		p9_clunk(sb->priv, fid);
	return err ? ERR_PTR(err) : i;
}

static void v9_evict(struct inode *i)
{
	struct v9_node *n = v9_node(i);

	if (n->fresh != P9_NOFID)
		p9_clunk(v9_client(i), n->fresh);
	p9_clunk(v9_client(i), n->fid);
	kfree(n);
}

/* --- attributes ---------------------------------------------------------------------------- */

int v9_refresh(struct inode *i, u64 *blksize)
{
	struct p9_attr a;
	int err = p9_getattr(v9_client(i), v9_node(i)->fid, &a);

	if (err)
		return err;
	if (a.qid.path != v9_node(i)->path || ((a.mode ^ i->mode) & S_IFMT))
		return -ESTALE;
	take_attr(i, &a);
	if (blksize)
		*blksize = a.blksize;
	return 0;
}

/* An error here (the file was removed while it is open) shows what was known last. */
static int v9_getattr(struct inode *i, struct kstat *st)
{
	u64 blksize;
	int err = v9_refresh(i, &blksize);

	if (err)
		return err;
	generic_getattr(i, st);
	st->blksize = blksize;
	return 0;
}

static bool v9_revalidate(struct dentry *d)
{
	return !v9_refresh(d->inode, NULL);
}

static int v9_setattr(struct inode *i, const struct iattr *a)
{
	int err = p9_setattr(v9_client(i), v9_node(i)->fid, a);

	if (!err)
		v9_refresh(i, NULL);
	if (!err && (a->valid & ATTR_SIZE))
		mm_unmap_file(i, DIV_ROUND_UP((u64)a->size, PAGE_SIZE), UINT64_MAX, true);
	return err;
}

static int v9_readlink(struct inode *i, struct dentry *d, char *buf, size_t size)
{
	return p9_readlink(v9_client(i), v9_node(i)->fid, buf, size);
}

/* --- names --------------------------------------------------------------------------------- */

int v9_walk(struct p9 *c, u32 fid, const struct dentry *name, u32 *newfid)
{
	int err = p9_fid_alloc(c, newfid);

	if (err)
		return err;
	err = p9_walk(c, fid, *newfid, name);
	if (err)
		p9_fid_free(c, *newfid);
	return err;
}

/* The name d exists on the server: give it its inode. */
static int attach(struct inode *dir, struct dentry *d)
{
	struct inode *i;
	u32 fid;
	int err = v9_walk(v9_client(dir), v9_node(dir)->fid, d, &fid);

	if (err)
		return err;
	i = v9_inode(dir->sb, fid);
	if (IS_ERR(i))
		return PTR_ERR(i);
	dentry_attach(d, i);
	return 0;
}

static int v9_lookup(struct inode *dir, struct dentry *d)
{
	int err = attach(dir, d);

	return err == -ENOENT ? 0 : err;	/* 0 without an inode: there is no such name */
}

/* Tlcreate turns a fid of the directory into the open file. It is kept for the open that follows:
 * the file's mode might not allow a second one. */
static int v9_create(struct inode *dir, struct dentry *d, u32 mode)
{
	struct p9 *c = v9_client(dir);
	u32 fid;
	int err = v9_walk(c, v9_node(dir)->fid, NULL, &fid);

	if (err)
		return err;
	err = p9_create(c, fid, d, O_RDWR, mode & 07777, current->cred.fsgid);
	if (!err)
		err = attach(dir, d);
	if (err)
		p9_clunk(c, fid);
	else
		v9_node(d->inode)->fresh = fid;
	return err;
}

static int v9_mkdir(struct inode *dir, struct dentry *d, u32 mode)
{
	int err = p9_mkdir(v9_client(dir), v9_node(dir)->fid, d, mode & 07777, current->cred.fsgid);

	return err ? err : attach(dir, d);
}

static int v9_mknod(struct inode *dir, struct dentry *d, u32 mode, u64 rdev)
{
	int err = p9_mknod(v9_client(dir), v9_node(dir)->fid, d, mode, rdev, current->cred.fsgid);

	return err ? err : attach(dir, d);
}

static int v9_symlink(struct inode *dir, struct dentry *d, const char *target)
{
	int err = p9_symlink(v9_client(dir), v9_node(dir)->fid, d, target, current->cred.fsgid);

	return err ? err : attach(dir, d);
}

static int v9_link(struct inode *dir, struct dentry *d, struct inode *target)
{
	int err = p9_link(v9_client(dir), v9_node(dir)->fid, d, v9_node(target)->fid);

	return err ? err : attach(dir, d);
}

static int v9_unlink(struct inode *dir, struct dentry *d)
{
	return p9_unlink(v9_client(dir), v9_node(dir)->fid, d, false);
}

static int v9_rmdir(struct inode *dir, struct dentry *d)
{
	return p9_unlink(v9_client(dir), v9_node(dir)->fid, d, true);
}

static int v9_rename(struct inode *od, struct dentry *o, struct inode *nd, struct dentry *n,
		     u32 flags)
{
	if (flags & 2)		/* RENAME_EXCHANGE: the protocol has no word for it */
		return -EINVAL;
	return p9_rename(v9_client(od), v9_node(od)->fid, o, v9_node(nd)->fid, n);
}

static const struct inode_ops v9_iops = {
	.lookup = v9_lookup, .create = v9_create, .mkdir = v9_mkdir, .mknod = v9_mknod,
	.symlink = v9_symlink, .link = v9_link, .unlink = v9_unlink, .rmdir = v9_rmdir,
	.rename = v9_rename, .getattr = v9_getattr, .setattr = v9_setattr,
	.revalidate = v9_revalidate, .evict = v9_evict,
};
static const struct inode_ops v9_link_iops = {
	.readlink = v9_readlink, .getattr = v9_getattr, .setattr = v9_setattr,
	.revalidate = v9_revalidate, .evict = v9_evict,
};
