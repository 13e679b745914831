/* SPDX-License-Identifier: MIT */
/*
 * Trees of knodes as file systems: inodes for nodes, reading directories, and the three kinds of
 * files: text that is shown and stored, and files with operations of their own.
 *
 * An inode's priv is its node, with a reference. Owner and mode may be changed (chmod in sysfs);
 * they are kept in the node, because inodes come and go.
 */
#include "internal.h"
#include <perch/cred.h>
#include <perch/page.h>
#include <perch/printk.h>
#include <string.h>

static const struct inode_ops knode_file_iops, knode_link_iops, sysctl_file_iops;
static const struct file_ops knode_text_fops;

static bool in_sysctl(const struct knode *n)
{
	for (; n; n = n->parent)
		if (n == proc_sys_root)
			return true;
	return false;
}

struct inode *knode_inode(struct super *sb, struct knode *n)
{
	struct inode *i = inode_alloc(sb, n->mode);
	bool sysctl = in_sysctl(n);

	if (!i) {
		knode_put(n);
		return NULL;
	}
	i->ino = n->ino;
	i->uid = n->uid;
	i->gid = n->gid;
	i->size = n->size;
	i->priv = n;
	if (S_ISDIR(n->mode)) {
		i->ops = sysctl ? &sysctl_dir_iops : &knode_dir_iops;
		i->fops = &knode_dir_fops;
		i->nlink = 2 + READ_ONCE(n->nr_dirs);
	} else if (S_ISLNK(n->mode)) {
		i->ops = &knode_link_iops;
	} else {
		i->ops = sysctl ? &sysctl_file_iops : &knode_file_iops;
		i->fops = n->ops->fops ? n->ops->fops : &knode_text_fops;
	}
	return i;
}

/* --- inode operations ----------------------------------------------------------------------- */

static int knode_lookup(struct inode *dir, struct dentry *d)
{
	struct knode *n = knode_find(dir->priv, d->name, d->name_len);
	struct inode *i;

	/* Nothing can be made in procfs, which says so by the name not being there; sysfs says
	 * EPERM. */
	if (!n)
		return dir->sb->magic == PROC_MAGIC ? -ENOENT : 0;
	i = knode_inode(dir->sb, n);
	if (!i)
		return -ENOMEM;
	dentry_attach(d, i);
	return 0;
}

static bool knode_revalidate(struct dentry *d)
{
	struct knode *n = d->inode ? d->inode->priv : NULL;

	return n && !READ_ONCE(n->dead);
}

static int knode_setattr(struct inode *i, const struct iattr *a)
{
	struct knode *n = i->priv;

	if (a->valid & ATTR_MODE)
		n->mode = i->mode = (i->mode & S_IFMT) | (a->mode & 07777);
	if (a->valid & ATTR_UID)
		n->uid = i->uid = a->uid;
	if (a->valid & ATTR_GID)
		n->gid = i->gid = a->gid;
	return 0;	/* truncation on open is accepted and means nothing */
}

static void knode_evict(struct inode *i)
{
	knode_put(i->priv);
}

static int knode_readlink(struct inode *i, struct dentry *d, char *buf, size_t size)
{
	const struct knode *n = i->priv;
	size_t len = min(strlen(n->target), size - 1);

	memcpy(buf, n->target, len);
	buf[len] = 0;
	return (int)len;
}

/* /proc/sys: the mode bits bind root, too; owner and mode never change. */
static int sysctl_permission(struct inode *i, int mask)
{
	u32 mode = i->mode;

	if (current->cred.euid == 0)
		mode >>= 6;
	else if (in_group(0))
		mode >>= 3;
	return (u32)mask & ~mode & (MAY_READ | MAY_WRITE | MAY_EXEC) ? -EACCES : 0;
}

static int sysctl_setattr(struct inode *i, const struct iattr *a)
{
	return a->valid & (ATTR_MODE | ATTR_UID | ATTR_GID) ? -EPERM : 0;
}

const struct inode_ops knode_dir_iops = {
	.lookup = knode_lookup,
	.revalidate = knode_revalidate,
	.setattr = knode_setattr,
	.evict = knode_evict,
};

const struct inode_ops sysctl_dir_iops = {
	.lookup = knode_lookup,
	.revalidate = knode_revalidate,
	.setattr = sysctl_setattr,
	.permission = sysctl_permission,
	.evict = knode_evict,
};

static const struct inode_ops knode_file_iops = {
	.revalidate = knode_revalidate,
	.setattr = knode_setattr,
	.evict = knode_evict,
};

static const struct inode_ops sysctl_file_iops = {
	.revalidate = knode_revalidate,
	.setattr = sysctl_setattr,
	.permission = sysctl_permission,
	.evict = knode_evict,
};

static const struct inode_ops knode_link_iops = {
	.readlink = knode_readlink,
	.revalidate = knode_revalidate,
	.evict = knode_evict,
};

/* --- directories ---------------------------------------------------------------------------- */

bool emit_dots(struct file *f, struct readdir_ctx *ctx)
{
	struct dentry *d = f->path.dentry;

	if (f->pos == 0 && !readdir_emit(ctx, ".", 1, 1, f->inode->ino, DT_DIR))
		return false;
	if (f->pos == 1 && !readdir_emit(ctx, "..", 2, 2, d->parent->inode->ino, DT_DIR))
		return false;
	return true;
}

bool knode_emit(struct knode *dir, struct file *f, struct readdir_ctx *ctx)
{
	struct knode *c;
	bool room = true;

	while (room && (c = knode_nth(dir, (u32)(f->pos - 2)))) {
		u8 type = (u8)((c->mode & S_IFMT) >> 12);

		/* on success f->pos is the next position */
		room = readdir_emit(ctx, c->name, strlen(c->name), f->pos + 1, c->ino, type);
		knode_put(c);
	}
	return room;
}

static int knode_iterate(struct file *f, struct readdir_ctx *ctx)
{
	if (emit_dots(f, ctx))
		knode_emit(f->inode->priv, f, ctx);
	return 0;
}

const struct file_ops knode_dir_fops = {
	.iterate = knode_iterate,
	.llseek = text_llseek,
};

/* --- text files ----------------------------------------------------------------------------- */

static int knode_show(struct file *f, struct textbuf *b)
{
	struct knode *n = f->inode->priv;

	if (!n->ops->show)
		return -EIO;
	if (READ_ONCE(n->dead))
		return -ENODEV;
	return n->ops->show(b, n->arg);
}

static int knode_open(struct inode *i, struct file *f)
{
	const struct knode *n = i->priv;

	/* sysfs refuses what a file cannot do even to root; procfs lets it open and fails the
	 * write */
	if (i->sb->magic == SYSFS_MAGIC && (f->mode & FMODE_WRITE) &&
	    (!(i->mode & 0222) || !n->ops->store))
		return -EACCES;
	return text_open(f, knode_show);
}

static ssize_t knode_write(struct file *f, struct uio *u, loff *pos)
{
	struct knode *n = f->inode->priv;
	size_t len;
	ssize_t ret;
	char *s;

	if (!n->ops->store)
		return -EIO;
	if (READ_ONCE(n->dead))
		return -ENODEV;
	s = text_write_copy(u, &len);
	if (IS_ERR(s))
		return PTR_ERR(s);
	/* a sysctl is written from position 0; the rest of a long write is taken and ignored */
	if (*pos && f->inode->ops == &sysctl_file_iops)
		ret = (ssize_t)len;
	else
		ret = n->ops->store(s, len, n->arg);
	kfree(s);
	if (ret > 0)
		*pos += ret;
	return ret;
}

static const struct file_ops knode_text_fops = {
	.open = knode_open,
	.read = text_read,
	.write = knode_write,
	.llseek = text_llseek,
	.release = text_release,
};

/* --- mounting ------------------------------------------------------------------------------- */

int knode_mount(struct super *sb, struct knode *root, u64 magic)
{
	struct inode *i;

	sb->magic = magic;
	ref_get(&root->refs);
	i = knode_inode(sb, root);
	if (!i)
		return -ENOMEM;
	sb->root = dentry_root(sb, i);
	return sb->root ? 0 : -ENOMEM;
}
