/* SPDX-License-Identifier: MIT */
/*
 * Open files. A struct file is what open makes: a path, a position, flags, and the operations of
 * what is behind the path. Fd tables, sleeping calls, mappings and messages in flight hold
 * references; the last put tears it down, in the order: epoll forgets it, its locks go, its owner's
 * release runs, the path goes. That last put may come under mm->lock (munmap), so release must not
 * take an inode lock nor touch user memory.
 *
 * This file also has the objects without a name: all anonymous files share one inode.
 */
#include "internal.h"

#include <string.h>

static inline struct file *alloc(void)
{
	struct file *f = kzalloc(sizeof(*f));

	if (!f)
		return NULL;
	ref_init(&f->refs, 1);
	mutex_init(&f->pos_lock);
	spin_init(&f->owner.lock);
	list_init(&f->epitems);
	f->async_fd = -1;
	return f;
}

struct file *file_alloc(void)
{
	return alloc();
}

/* Takes over the references in p, on errors too. flags decide read and write; does not call
 * open. */
struct file *file_new(const struct path *p, u32 flags, const struct file_ops *ops)
{
	struct file *f = file_alloc();
	struct path path = *p;

	if (f)
		file_fill(f, p, flags, ops);
	else
		path_put(&path);
	return f;
}

void file_fill(struct file *f, const struct path *p, u32 flags, const struct file_ops *ops)
{
	f->path = *p;
	f->inode = p->dentry->inode;
	f->flags = flags & ~(O_CREAT | O_EXCL | O_NOCTTY | O_TRUNC | O_CLOEXEC);
	f->mode = (flags + 1) & O_ACCMODE;
	f->ops = ops;
	if (!ops->llseek)
		f->mode |= FMODE_NOPOS;
}

int file_begin_write(struct file *f)
{
	int err = inode_get_write(f->inode);

	if (!err)
		atomic_inc(&f->path.mnt->writers);
	return err;
}

void file_end_write(struct file *f)
{
	atomic_dec(&f->path.mnt->writers);
	inode_put_write(f->inode);
}

struct file *file_get(struct file *f)
{
	ref_get(&f->refs);
	return f;
}

static void file_free(struct file *f)
{
	if (!list_empty(&f->epitems))
		epoll_file_gone(f);
	locks_release(f);
	if ((f->flags & O_ASYNC) && f->ops->fasync)
		f->ops->fasync(f, false);
	if (f->ops->release)
		f->ops->release(f);
	if ((f->mode & FMODE_WRITE) && S_ISREG(f->inode->mode))
		file_end_write(f);
	if (!(f->mode & FMODE_LENT))
		path_put(&f->path);
	kfree(f);
}

void file_put(struct file *f)
{
	if (f && ref_put(&f->refs))
		file_free(f);
}

/* --- files without a name ------------------------------------------------------------------ */

static struct fs_type anon_type = { .name = "anon_inodefs", .nodev = true };
static struct mount *anon_mount;
static struct inode *anon_inode;

void anon_init(void)
{
	anon_mount = kern_mount(&anon_type);
	anon_mount->sb->magic = ANON_INODE_MAGIC;
	anon_inode = anon_mount->sb->root->inode;
	anon_inode->mode = 0600;
}

struct dentry *anon_dentry(const char *name)
{
	struct dentry *d;

	inode_get(anon_inode);
	d = dentry_alloc_pseudo(anon_mount->sb, name, anon_inode);
	if (!d)
		inode_put(anon_inode);
	return d;
}

struct file *anon_file_at(struct dentry *name, const struct file_ops *ops, void *priv, u32 flags)
{
	struct path p = { anon_mount, name };
	struct file *f = alloc();

	if (!f)
		return ERR_PTR(-ENOMEM);
	file_fill(f, &p, flags, ops);
	f->mode |= FMODE_LENT;
	f->priv = priv;
	return f;
}

struct file *anon_file(const char *name, const struct file_ops *ops, void *priv, u32 flags)
{
	struct path p = { anon_mount, anon_dentry(name) };
	struct file *f;

	if (!p.dentry)
		return ERR_PTR(-ENOMEM);
	mount_get(p.mnt);
	f = file_new(&p, flags, ops);
	if (!f)
		return ERR_PTR(-ENOMEM);
	f->priv = priv;
	return f;
}
