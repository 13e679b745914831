/* SPDX-License-Identifier: MIT */
/*
 * Changing a file's size, and the calls that are about "the disk": sync and its family, advice and
 * preallocation. Nothing here is ever on a disk, so syncing is done as soon as it is asked; the
 * arguments are checked as Linux checks them.
 */
#include "internal.h"

#include <perch/signal.h>

#define RLIMIT_FSIZE 1
#define FALLOC_FL_KEEP_SIZE	1
#define FALLOC_FL_PUNCH_HOLE	2

int do_truncate(struct file *f, struct inode *i, loff size)
{
	struct iattr a = { .valid = ATTR_SIZE, .size = size };
	int err;

	mutex_lock(&i->lock);
	inode_strip_suid(i);
	err = inode_setattr(i, &a);
	mutex_unlock(&i->lock);
	return err;
}

/* Growing beyond the limit sends SIGXFSZ. */
static int check_fsize(const struct inode *i, loff size)
{
	if (size <= i->size || (u64)size <= current->proc->rlim[RLIMIT_FSIZE].cur)
		return 0;
	send_signal_task(current, SIGXFSZ, NULL);
	return -EFBIG;
}

static int truncate_path(const struct path *p, loff size)
{
	struct inode *i = p->dentry->inode;
	int err;

	if (S_ISDIR(i->mode))
		return -EISDIR;
	if (!S_ISREG(i->mode))
		return -EINVAL;
	err = inode_permission(i, MAY_WRITE);
	if (!err && mount_readonly(p->mnt))
		err = -EROFS;
	if (!err)
		err = check_fsize(i, size);
	if (!err)
		err = inode_get_write(i);
	if (err)
		return err;
	err = do_truncate(NULL, i, size);
	inode_put_write(i);
	return err;
}

long sys_truncate(const char __user *name, loff size)
{
	struct path p;
	int err;

	if (size < 0)
		return -EINVAL;
	err = user_path(AT_FDCWD, name, LOOKUP_FOLLOW, &p);
	if (err)
		return err;
	err = truncate_path(&p, size);
	path_put(&p);
	return err;
}

long sys_ftruncate(int fd, loff size)
{
	struct file *f;
	int err;

	if (size < 0)
		return -EINVAL;
	f = fd_get_io(fd);
	if (!f)
		return -EBADF;
	if (!S_ISREG(f->inode->mode) || !(f->mode & FMODE_WRITE))
		err = -EINVAL;
	else
		err = check_fsize(f->inode, size);
	if (!err)
		err = do_truncate(f, f->inode, size);
	file_put(f);
	return err;
}

static long do_fallocate(struct file *f, int mode, loff off, loff len)
{
	loff end;

	if (off < 0 || len <= 0)
		return -EINVAL;
	if (!(f->mode & FMODE_WRITE))
		return -EBADF;
	if (S_ISFIFO(f->inode->mode))
		return -ESPIPE;
	if (S_ISDIR(f->inode->mode))
		return -EISDIR;
	if (!S_ISREG(f->inode->mode))
		return -ENODEV;
	if (__builtin_add_overflow(off, len, &end))
		return -EFBIG;
	if (mode & ~(FALLOC_FL_KEEP_SIZE | FALLOC_FL_PUNCH_HOLE))
		return -EOPNOTSUPP;
	if ((mode & FALLOC_FL_PUNCH_HOLE) && !(mode & FALLOC_FL_KEEP_SIZE))
		return -EOPNOTSUPP;
	return f->ops->fallocate ? f->ops->fallocate(f, mode, off, len) : -EOPNOTSUPP;
}

long sys_fallocate(int fd, int mode, loff off, loff len)
{
	struct file *f = fd_get_io(fd);
	long ret;

	if (!f)
		return -EBADF;
	ret = do_fallocate(f, mode, off, len);
	file_put(f);
	return ret;
}

/* --- sync ---------------------------------------------------------------------------------- */

long sys_fsync(int fd)
{
	struct file *f = fd_get_io(fd);
	long ret;

	if (!f)
		return -EBADF;
	ret = f->ops->fsync ? f->ops->fsync(f) : -EINVAL;
	file_put(f);
	return ret;
}

long sys_fdatasync(int fd)
{
	return sys_fsync(fd);
}

long sys_sync(void)
{
	return 0;
}

long sys_syncfs(int fd)
{
	struct file *f = fd_get_io(fd);

	if (!f)
		return -EBADF;
	file_put(f);
	return 0;
}

long sys_sync_file_range(int fd, loff off, loff len, u32 flags)
{
	struct file *f;
	long ret = 0;
	loff end;

	if ((flags & ~7U) || off < 0 || len < 0 || __builtin_add_overflow(off, len, &end))
		return -EINVAL;
	f = fd_get_io(fd);
	if (!f)
		return -EBADF;
	if (!S_ISREG(f->inode->mode) && !S_ISDIR(f->inode->mode) && !S_ISLNK(f->inode->mode))
		ret = -ESPIPE;
	file_put(f);
	return ret;
}

/* --- advice -------------------------------------------------------------------------------- */

long sys_fadvise64(int fd, loff off, loff len, int advice)
{
	struct file *f = fd_get_io(fd);
	long ret = 0;

	if (!f)
		return -EBADF;
	if (S_ISFIFO(f->inode->mode))
		ret = -ESPIPE;
	else if (len < 0 || advice < 0 || advice > 5)
		ret = -EINVAL;
	file_put(f);
	return ret;
}

long sys_readahead(int fd, loff off, size_t n)
{
	struct file *f = fd_get_io(fd);
	long ret = 0;

	if (!f)
		return -EBADF;
	if (!(f->mode & FMODE_READ))
		ret = -EBADF;
	else if (!S_ISREG(f->inode->mode))
		ret = -EINVAL;
	file_put(f);
	return ret;
}
