/* SPDX-License-Identifier: MIT */
/* ioctl(2): the commands that mean the same for every file; the rest goes to the file's own op. */
#include "fdtable.h"

#define FIONREAD	0x541B
#define FIONBIO		0x5421
#define FIONCLEX	0x5450
#define FIOCLEX		0x5451
#define FIOASYNC	0x5452
#define FIOQSIZE	0x5460

static long set_nonblock(struct file *f, u64 arg)
{
	int on;

	if (get_user(on, (int __user *)arg))
		return -EFAULT;
	if (on)
		f->flags |= O_NONBLOCK;
	else
		f->flags &= ~O_NONBLOCK;
	return 0;
}

static long set_async(struct file *f, int fd, u64 arg)
{
	int on;

	if (get_user(on, (int __user *)arg))
		return -EFAULT;
	if (!!on != !!(f->flags & O_ASYNC) && !f->ops->fasync)
		return -ENOTTY;
	return file_set_async(f, fd, on);
}

static long bytes_left(struct file *f, u64 arg)
{
	int n = f->inode->size - f->pos;

	return put_user(n, (int __user *)arg);
}

static long file_size(struct file *f, u64 arg)
{
	if (!S_ISREG(f->inode->mode) && !S_ISDIR(f->inode->mode) && !S_ISLNK(f->inode->mode))
		return -ENOTTY;
	return put_user(f->inode->size, (loff __user *)arg);
}

static inline long own_ioctl(struct file *f, u32 cmd, u64 arg)
{
	return f->ops->ioctl ? f->ops->ioctl(f, cmd, arg) : -ENOTTY;
}

static noinline long common_ioctl(struct file *f, int fd, u32 cmd, u64 arg)
{
	switch (cmd) {
	case FIOCLEX:
		return fd_set_cloexec(fd, true);
	case FIONCLEX:
		return fd_set_cloexec(fd, false);
	case FIONBIO:
		return set_nonblock(f, arg);
	case FIOASYNC:
		return set_async(f, fd, arg);
	case FIOQSIZE:
		return file_size(f, arg);
	case FIONREAD:
		if (S_ISREG(f->inode->mode))
			return bytes_left(f, arg);
		break;
	}
	return own_ioctl(f, cmd, arg);
}

/* All commands that files have in common are of the terminals' type, 'T'. */
long sys_ioctl(int fd, u32 cmd, u64 arg)
{
	struct fd_use u = fd_use(fd);
	long ret;

	if (!u.f)
		return -EBADF;
	if (unlikely((cmd & 0xff00) == 'T' << 8))
		ret = common_ioctl(u.f, fd, cmd, arg);
	else
		ret = own_ioctl(u.f, cmd, arg);
	fd_unuse(u);
	return ret;
}
