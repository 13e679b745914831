/* SPDX-License-Identifier: MIT */
/* The system calls in front of do_fork: clone(2) with arm64's argument order, clone3(2); and unshare(2). */
#include <perch/errno.h>
#include <perch/fs.h>
#include <perch/mm.h>
#include <perch/printk.h>
#include <perch/syscall.h>
#include <perch/uaccess.h>
#include <string.h>

#include "internal.h"

#define CSIGNAL 0xffULL

/* What a kernel built without namespaces says: the privilege is asked for first. */
int refuse_namespaces(u64 flags)
{
	if (!(flags & CLONE_NEW_ANY))
		return 0;
	if ((flags & CLONE_FS) && (flags & (CLONE_NEWNS | CLONE_NEWUSER)))
		return -EINVAL;
	if ((flags & CLONE_NEW_ANY & ~CLONE_NEWUSER) && !capable(CAP_SYS_ADMIN))
		return -EPERM;
	return -EINVAL;
}

long sys_clone(u64 flags, uaddr stack, u32 __user *parent_tid, uaddr tls, u32 __user *child_tid)
{
	u64 low = flags & 0xffffffffULL;
	struct clone_args_k a = {
		.flags = low & ~CSIGNAL,
		.exit_signal = (int)(low & CSIGNAL),
		.stack = stack,
		.tls = tls,
		.parent_tid = parent_tid,
		.child_tid = child_tid,
		.pidfd = (int __user *)parent_tid,	/* the same argument serves both */
	};

	if ((low & CLONE_PIDFD) && (low & CLONE_PARENT_SETTID))
		return -EINVAL;
	return do_fork(&a, task_pt_regs(current));
}

/* include/uapi/linux/sched.h of 6.12: version 0 has 64 bytes, 1 adds set_tid, 2 cgroup. */
struct clone_args_abi {
	u64 flags, pidfd, child_tid, parent_tid, exit_signal, stack, stack_size, tls;
	u64 set_tid, set_tid_size, cgroup;
};
#define CLONE_ARGS_SIZE_VER0 64
_Static_assert(sizeof(struct clone_args_abi) == 88, "clone_args of version 2");

/* A larger structure than we know is fine as long as the unknown part is zero. */
static int copy_clone_args(struct clone_args_abi *u, const void __user *uargs, size_t size)
{
	u8 rest;

	memset(u, 0, sizeof(*u));
	if (size > PAGE_SIZE)
		return -E2BIG;
	if (size < CLONE_ARGS_SIZE_VER0)
		return -EINVAL;
	for (size_t i = sizeof(*u); i < size; i++) {
		if (get_user(rest, (const u8 __user *)uargs + i))
			return -EFAULT;
		if (rest)
			return -E2BIG;
	}
	return copy_from_user(u, uargs, min(size, sizeof(*u))) ? -EFAULT : 0;
}

static int check_clone_args(const struct clone_args_abi *u)
{
	if ((u->flags & CLONE_INTO_CGROUP) || (u->flags >> 34))
		return -EINVAL;
	if (u->flags & (CLONE_DETACHED | (CSIGNAL & ~CLONE_NEWTIME)))
		return -EINVAL;
	if (u->exit_signal > NSIG)
		return -EINVAL;
	if ((u->flags & CLONE_SIGHAND) && (u->flags & CLONE_CLEAR_SIGHAND))
		return -EINVAL;
	if ((u->flags & (CLONE_THREAD | CLONE_PARENT)) && u->exit_signal)
		return -EINVAL;
	if (!u->stack != !u->stack_size)
		return -EINVAL;
	if (u->stack && !access_ok((void __user *)u->stack, u->stack_size))
		return -EINVAL;
	if (!u->set_tid != !u->set_tid_size || u->set_tid_size > 32)
		return -EINVAL;
	/* Choosing the number is a matter for whoever restores checkpoints. */
	return u->set_tid ? -EPERM : 0;
}

long sys_clone3(const void __user *uargs, size_t size)
{
	struct clone_args_abi u;
	struct clone_args_k a;
	int err = copy_clone_args(&u, uargs, size);

	if (!err)
		err = check_clone_args(&u);
	if (err)
		return err;
	a = (struct clone_args_k){
		.flags = u.flags,
		.exit_signal = (int)u.exit_signal,
		.stack = u.stack + u.stack_size,
		.tls = u.tls,
		.parent_tid = (u32 __user *)u.parent_tid,
		.child_tid = (u32 __user *)u.child_tid,
		.pidfd = (int __user *)u.pidfd,
	};
	return do_fork(&a, task_pt_regs(current));
}

/* --- unshare */

static int check_unshare(u64 flags)
{
	int err = refuse_namespaces(flags & ~CLONE_FS);

	if (flags & ~(CLONE_NEW_ANY | CLONE_FS | CLONE_FILES | CLONE_SYSVSEM | CLONE_THREAD |
		      CLONE_SIGHAND | CLONE_VM))
		return -EINVAL;
	if (err)
		return err;
	if ((flags & (CLONE_THREAD | CLONE_SIGHAND | CLONE_VM)) && READ_ONCE(current->proc->nr_threads) > 1)
		return -EINVAL;
	if ((flags & (CLONE_SIGHAND | CLONE_VM)) && ref_read(&current->sighand->refs) > 1)
		return -EINVAL;
	if ((flags & CLONE_VM) && ref_read(&current->mm->users) > 1)
		return -EINVAL;
	return 0;
}

static int unshare_fs(void)
{
	struct fs_context *old = current->fs, *fs;

	if (ref_read(&old->refs) == 1)
		return 0;
	fs = fs_fork(old);
	if (!fs)
		return -ENOMEM;
	spin_lock(&current->alloc_lock);
	current->fs = fs;
	spin_unlock(&current->alloc_lock);
	fs_put(old);
	return 0;
}

static int unshare_files(void)
{
	struct files *old = current->files, *files = files_fork(old);

	if (!files)
		return -ENOMEM;
	spin_lock(&current->alloc_lock);
	current->files = files;
	spin_unlock(&current->alloc_lock);
	files_put(old);
	return 0;
}

long sys_unshare(u64 flags)
{
	int err = check_unshare(flags);

	if (!err && (flags & CLONE_FS))
		err = unshare_fs();
	if (!err && (flags & CLONE_FILES))
		err = unshare_files();
	return err;
}

/* There is one namespace of each kind: entering the own one is all that could work. */
long sys_setns(int fd, int type)
{
	struct file *f = fd_get(fd);

	if (!f)
		return -EBADF;
	file_put(f);
	return -EINVAL;
}
