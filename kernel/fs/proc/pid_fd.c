/* SPDX-License-Identifier: MIT */
/* /proc/PID/fd (a magic link for each open file) and /proc/PID/fdinfo (its position and flags). */
#include "internal.h"
#include "../internal.h"
#include <perch/cred.h>
#include <stdio.h>

static struct file *node_file(const struct inode *i)
{
	const struct pnode *n = i->priv;
	struct task *t = pnode_task(i);
	struct file *f;

	if (!t)
		return NULL;
	f = task_fd_get(t, n->fd);
	task_put(t);
	return f;
}

/* --- the links ------------------------------------------------------------------------------ */

static int fd_follow(struct inode *i, struct dentry *d, struct path *out)
{
	struct task *t = pnode_task(i);
	bool allowed = t && ptrace_may_access(t);
	struct file *f;

	if (t)
		task_put(t);
	if (!allowed)
		return t ? -EACCES : -ENOENT;
	f = node_file(i);
	if (!f)
		return -ENOENT;
	*out = f->path;
	path_get(out);
	file_put(f);
	return 0;
}

static int fd_readlink(struct inode *i, struct dentry *d, char *buf, size_t size)
{
	struct path p;
	int err = fd_follow(i, d, &p);

	return err ? err : path_text(&p, buf, size);
}

/* The link's own permission bits say how the file was opened. */
static u32 link_mode(const struct file *f)
{
	u32 mode = S_IFLNK;

	if (f->mode & FMODE_READ)
		mode |= 0500;
	if (f->mode & FMODE_WRITE)
		mode |= 0300;
	return mode;
}

static bool fd_revalidate(struct dentry *d)
{
	struct file *f;

	if (!pid_revalidate(d))
		return false;
	f = node_file(d->inode);
	if (!f)
		return false;
	if (S_ISLNK(d->inode->mode))
		d->inode->mode = link_mode(f);
	file_put(f);
	return true;
}

static const struct inode_ops fd_link_iops = {
	.readlink = fd_readlink,
	.follow = fd_follow,
	.revalidate = fd_revalidate,
	.setattr = pid_setattr,
	.evict = pid_evict,
};

/* --- fdinfo --------------------------------------------------------------------------------- */

static int fdinfo_show(struct file *info, struct textbuf *b)
{
	struct file *f = node_file(info->inode);

	if (!f)
		return -ENOENT;
	text_printf(b, "pos:\t%ld\nflags:\t0%o\nmnt_id:\t%u\nino:\t%lu\n", f->pos, f->flags,
		    f->path.mnt ? f->path.mnt->id : 0, f->inode->ino);
	if (f->ops->show_fdinfo)
		f->ops->show_fdinfo(f, b);
	file_put(f);
	return 0;
}

static int fdinfo_open(struct inode *i, struct file *f)
{
	struct task *t = pnode_task(i);
	bool ok = t && ptrace_may_access(t);

	if (t)
		task_put(t);
	return ok ? text_open(f, fdinfo_show) : t ? -EACCES : -ESRCH;
}

static const struct file_ops fdinfo_file_fops = {
	.open = fdinfo_open,
	.read = text_read,
	.llseek = text_llseek,
	.release = text_release,
};

static const struct inode_ops fdinfo_file_iops = {
	.revalidate = fd_revalidate,
	.setattr = pid_setattr,
	.evict = pid_evict,
};

/* --- the directories ------------------------------------------------------------------------ */

static struct inode *fd_inode(struct super *sb, struct task *t, bool thread, u32 fd, bool info)
{
	struct file *f = task_fd_get(t, (int)fd);
	struct inode *i;

	if (!f)
		return NULL;
	i = pid_inode(sb, t, thread, NULL, (int)fd, info ? S_IFREG | 0444 : link_mode(f));
	file_put(f);
	if (!i)
		return ERR_PTR(-ENOMEM);
	i->ops = info ? &fdinfo_file_iops : &fd_link_iops;
	i->fops = info ? &fdinfo_file_fops : NULL;
	i->size = info ? 0 : 64;
	return i;
}

static int fd_dir_lookup(struct inode *dir, struct dentry *d, bool info)
{
	const struct pnode *n = dir->priv;
	struct task *t;
	struct inode *i;
	u32 fd;

	if (!parse_number(d->name, d->name_len, &fd))
		return -ENOENT;
	t = pnode_task(dir);
	if (!t)
		return -ENOENT;
	i = fd_inode(dir->sb, t, n->thread, fd, info);
	task_put(t);
	if (IS_ERR(i))
		return (int)PTR_ERR(i);
	if (!i)
		return -ENOENT;
	dentry_attach(d, i);
	return 0;
}

static int fd_lookup(struct inode *dir, struct dentry *d)
{
	return fd_dir_lookup(dir, d, false);
}

static int fdinfo_lookup(struct inode *dir, struct dentry *d)
{
	return fd_dir_lookup(dir, d, true);
}

static int emit_fds(struct file *f, struct readdir_ctx *ctx, u8 type)
{
	const struct pnode *n = f->inode->priv;
	struct task *t = pnode_task(f->inode);
	char name[12];
	int fd;

	if (!t)
		return -ENOENT;
	if (!emit_dots(f, ctx))
		goto out;
	while ((fd = fd_next(t, (int)(f->pos - 2))) >= 0) {
		int len = snprintf(name, sizeof(name), "%d", fd);

		if (!readdir_emit(ctx, name, (size_t)len, (loff)fd + 3,
				  ((u64)n->pid << 32) + (u64)(fd + 1) % 16384 + 3, type))
			break;
	}
out:
	task_put(t);
	return 0;
}

static int fd_iterate(struct file *f, struct readdir_ctx *ctx)
{
	return emit_fds(f, ctx, DT_LNK);
}

static int fdinfo_iterate(struct file *f, struct readdir_ctx *ctx)
{
	return emit_fds(f, ctx, DT_REG);
}

/* A process may always look at its own files, whoever the directory belongs to now. */
static int fd_permission(struct inode *i, int mask)
{
	struct task *t = pnode_task(i);
	bool ok = t && t->tgid == current->tgid;

	if (t)
		task_put(t);
	ok |= current->cred.fsuid == i->uid;
	ok |= capable(CAP_DAC_OVERRIDE) || capable(CAP_DAC_READ_SEARCH);
	return ok && (!(mask & MAY_WRITE) || capable(CAP_DAC_OVERRIDE)) ? 0 : -EACCES;
}

static int fd_getattr(struct inode *i, struct kstat *st)
{
	struct task *t = pnode_task(i);

	generic_getattr(i, st);
	if (!t)
		return 0;
	st->size = 0;
	for (int fd = fd_next(t, 0); fd >= 0; fd = fd_next(t, fd + 1))
		st->size++;
	task_put(t);
	return 0;
}

const struct inode_ops pid_fd_iops = {
	.lookup = fd_lookup,
	.permission = fd_permission,
	.getattr = fd_getattr,
	.revalidate = pid_revalidate,
	.setattr = pid_setattr,
	.evict = pid_evict,
};

const struct inode_ops pid_fdinfo_iops = {
	.lookup = fdinfo_lookup,
	.revalidate = pid_revalidate,
	.setattr = pid_setattr,
	.evict = pid_evict,
};

const struct file_ops pid_fd_fops = { .iterate = fd_iterate, .llseek = text_llseek };
const struct file_ops pid_fdinfo_fops = { .iterate = fdinfo_iterate, .llseek = text_llseek };
