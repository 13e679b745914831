/* SPDX-License-Identifier: MIT */
/* The calls on descriptors themselves: close, close_range, dup, dup3. */
#include "fdtable.h"

long sys_close(u32 fd)
{
	return fd_close(fd);
}

#define CLOSE_RANGE_UNSHARE	2
#define CLOSE_RANGE_CLOEXEC	4

static void mark_cloexec(struct files *t, u32 first, u32 last)
{
	spin_lock(&t->lock);
	for (u32 i = first; i <= last && i < t->size; i++)
		if (fd_bit(t->open, i))
			fd_set_bit(t->cloexec, i, true);
	spin_unlock(&t->lock);
}

long sys_close_range(u32 first, u32 last, u32 flags)
{
	int err;

	if ((flags & ~(CLOSE_RANGE_UNSHARE | CLOSE_RANGE_CLOEXEC)) || first > last)
		return -EINVAL;
	if (flags & CLOSE_RANGE_UNSHARE) {
		err = files_unshare();
		if (err)
			return err;
	}
	if (flags & CLOSE_RANGE_CLOEXEC)
		mark_cloexec(current->files, first, last);
	else
		files_close_range(current->files, first, last, false);
	return 0;
}

long sys_dup(u32 fd)
{
	struct file *f = fd_get(fd);
	long ret;

	if (!f)
		return -EBADF;
	ret = fd_dup_from(f, 0, false);
	file_put(f);
	return ret;
}

/* Put f at number fd, closing what was there. */
static long install_at(struct files *t, u32 fd, struct file *f, bool cloexec)
{
	struct file *old;
	int err;

	spin_lock(&t->lock);
	err = files_grow_locked(t, fd);
	if (!err && fd_bit(t->open, fd) && !t->fd[fd])
		err = -EBUSY;	/* another thread's open is about to use it */
	if (err) {
		spin_unlock(&t->lock);
		return err;
	}
	old = t->fd[fd];
	t->fd[fd] = file_get(f);
	fd_set_bit(t->open, fd, true);
	fd_set_bit(t->cloexec, fd, cloexec);
	spin_unlock(&t->lock);
	if (old)
		files_close(old, t);
	return fd;
}

long sys_dup3(u32 oldfd, u32 newfd, u32 flags)
{
	struct file *f;
	long ret;

	if ((flags & ~O_CLOEXEC) || oldfd == newfd)
		return -EINVAL;
	if (newfd >= fd_limit())
		return -EBADF;
	f = fd_get(oldfd);
	if (!f)
		return -EBADF;
	ret = install_at(current->files, newfd, f, flags & O_CLOEXEC);
	file_put(f);
	return ret;
}
