/* SPDX-License-Identifier: MIT */
/*
 * fcntl(2): a switch over small commands. Status flags, owners and signals of a file are changed
 * here; locks are locks.c's, pipe sizes pipe.c's, seals tmpfs's.
 */
#include "internal.h"

#include "pipe.h"
#include <perch/signal.h>

#define SETFL_MASK (O_APPEND | O_NONBLOCK | O_ASYNC | O_DIRECT | O_NOATIME)
#define F_GETLEASE	1025
#define F_DUPFD_QUERY	1027
#define F_GETOWNER_UIDS	17

int file_set_async(struct file *f, int fd, bool on)
{
	int err;

	if (!!(f->flags & O_ASYNC) == on)
		return 0;
	f->async_fd = fd;
	/* Files that cannot announce anything keep the flag without effect, as on Linux. */
	err = f->ops->fasync ? f->ops->fasync(f, on) : 0;
	if (!err)
		f->flags ^= O_ASYNC;
	return err;
}

int file_set_flags(struct file *f, int fd, u32 flags)
{
	int err;

	if ((flags & O_NOATIME) && !(f->flags & O_NOATIME) && !inode_owner_or_capable(f->inode))
		return -EPERM;
	err = file_set_async(f, fd, flags & O_ASYNC);
	if (err)
		return err;
	f->flags = (flags & (SETFL_MASK & ~O_ASYNC)) | (f->flags & ~(SETFL_MASK & ~O_ASYNC));
	return 0;
}

/* --- owners -------------------------------------------------------------------------------- */

static void set_owner(struct file *f, int type, u32 pid)
{
	u64 flags = spin_lock_irqsave(&f->owner.lock);

	f->owner.type = type;
	f->owner.pid = pid;
	f->owner.uid = current->cred.uid;
	f->owner.euid = current->cred.euid;
	spin_unlock_irqrestore(&f->owner.lock, flags);
}

static bool group_exists(u32 pgid)
{
	u64 flags = spin_lock_irqsave(&task_lock);
	struct process *p = process_next(1);

	while (p && p->pgid != pgid)
		p = process_next(p->pid + 1);
	spin_unlock_irqrestore(&task_lock, flags);
	return p;
}

static bool pid_exists(int type, u32 pid)
{
	struct task *t;

	if (type == F_OWNER_PGRP)
		return group_exists(pid);
	t = task_find_get(pid);
	if (t)
		task_put(t);
	return t;
}

static long setown(struct file *f, int who)
{
	int type = who < 0 ? F_OWNER_PGRP : F_OWNER_PID;

	if (who == INT32_MIN)
		return -EINVAL;
	if (who && !pid_exists(type, who < 0 ? -who : who))
		return -ESRCH;
	set_owner(f, type, who < 0 ? -who : who);
	return 0;
}

static long getown(struct file *f)
{
	int pid = f->owner.pid;

	return f->owner.type == F_OWNER_PGRP ? -pid : pid;
}

struct owner_ex { int type, pid; };

static long setown_ex(struct file *f, uaddr arg)
{
	struct owner_ex o;

	if (copy_from_user(&o, (void __user *)arg, sizeof(o)))
		return -EFAULT;
	if (o.type < F_OWNER_TID || o.type > F_OWNER_PGRP)
		return -EINVAL;
	if (o.pid && !pid_exists(o.type, o.pid))
		return -ESRCH;
	set_owner(f, o.type, o.pid);
	return 0;
}

static long getown_ex(struct file *f, uaddr arg)
{
	struct owner_ex o = { f->owner.type, f->owner.pid };

	return copy_to_user((void __user *)arg, &o, sizeof(o)) ? -EFAULT : 0;
}

static long setsig(struct file *f, u64 sig)
{
	if (sig > NSIG)
		return -EINVAL;
	f->owner.sig = sig;
	return 0;
}

static long getowner_uids(struct file *f, uaddr arg)
{
	u32 ids[2] = { f->owner.uid, f->owner.euid };

	return copy_to_user((void __user *)arg, ids, sizeof(ids)) ? -EFAULT : 0;
}

/* --- the switch ---------------------------------------------------------------------------- */

static long dup_min(struct file *f, u64 min, bool cloexec)
{
	return min >= fd_limit() ? -EINVAL : fd_dup_from(f, min, cloexec);
}

static bool same_file(struct file *f, int fd)
{
	struct file *g = fd_get(fd);
	bool same = g == f;

	file_put(g);
	return same;
}

/* Commands that also work on O_PATH files. */
static long fcntl_any(struct file *f, int fd, u32 cmd, u64 arg)
{
	switch (cmd) {
	case F_DUPFD:
		return dup_min(f, (u32)arg, false);
	case F_DUPFD_CLOEXEC:
		return dup_min(f, (u32)arg, true);
	case F_GETFD:
		return fd_get_cloexec(fd) > 0 ? FD_CLOEXEC : 0;
	case F_SETFD:
		return fd_set_cloexec(fd, arg & FD_CLOEXEC);
	case F_GETFL:
		return f->flags;
	case F_DUPFD_QUERY:
		return same_file(f, arg);
	default:
		return -ENOSYS;
	}
}

static long get_seals(struct file *f)
{
	return f->inode->flags & IF_SHMEM ? (long)f->inode->seals : -EINVAL;
}

static long add_seals(struct file *f, u32 seals)
{
	return f->inode->flags & IF_SHMEM ? tmpfs_add_seals(f, seals) : -EINVAL;
}

static long fcntl_io(struct file *f, int fd, u32 cmd, u64 arg)
{
	switch (cmd) {
	case F_SETFL:
		return file_set_flags(f, fd, arg);
	case F_GETLK: case F_SETLK: case F_SETLKW:
	case F_OFD_GETLK: case F_OFD_SETLK: case F_OFD_SETLKW:
		return locks_fcntl(f, cmd, arg);
	case F_SETOWN:
		return setown(f, arg);
	case F_GETOWN:
		return getown(f);
	case F_SETOWN_EX:
		return setown_ex(f, arg);
	case F_GETOWN_EX:
		return getown_ex(f, arg);
	case F_GETOWNER_UIDS:
		return getowner_uids(f, arg);
	case F_SETSIG:
		return setsig(f, arg);
	case F_GETSIG:
		return f->owner.sig;
	case F_SETPIPE_SZ: case F_GETPIPE_SZ:
		return pipe_fcntl(f, cmd, arg);
	case F_ADD_SEALS:
		return add_seals(f, arg);
	case F_GET_SEALS:
		return get_seals(f);
	case F_GETLEASE:
		return F_UNLCK;
	default:
		return -EINVAL;
	}
}

long sys_fcntl(int fd, u32 cmd, u64 arg)
{
	struct file *f = fd_get(fd);
	long ret;

	if (!f)
		return -EBADF;
	ret = fcntl_any(f, fd, cmd, arg);
	if (ret == -ENOSYS)
		ret = f->mode & FMODE_PATH ? -EBADF : fcntl_io(f, fd, cmd, arg);
	file_put(f);
	return ret;
}
