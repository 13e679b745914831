/* SPDX-License-Identifier: MIT */
/*
 * Calls on another process's memory: process_vm_readv and writev, process_madvise and
 * process_mrelease. Bytes go through a page of kernel memory, because each side wants its own lock.
 */
#include <perch/errno.h>
#include <perch/fs.h>
#include <perch/mm.h>
#include <perch/signal.h>
#include <perch/syscall.h>
#include <perch/uaccess.h>
#include "internal.h"

#define MAX_IOV 1024

/* A user's vector in kernel memory (kfree it); NULL for n 0. ERR_PTR. Total length must fit a ssize_t. */
static struct iovec_abi *get_vector(const struct iovec_abi __user *user, u64 n)
{
	struct iovec_abi *vec;
	u64 total = 0;

	if (n > MAX_IOV)
		return ERR_PTR(-EINVAL);
	if (!n)
		return NULL;
	vec = kmalloc(n * sizeof(*vec));
	if (!vec)
		return ERR_PTR(-ENOMEM);
	if (copy_from_user(vec, user, n * sizeof(*vec))) {
		kfree(vec);
		return ERR_PTR(-EFAULT);
	}
	for (u64 i = 0; i < n; i++) {
		if ((s64)vec[i].len < 0 || (s64)(total += vec[i].len) < 0) {
			kfree(vec);
			return ERR_PTR(-EINVAL);
		}
	}
	return vec;
}

/* A position in a vector. */
struct cursor {
	struct iovec_abi *vec;
	u64 n;
	u64 off;	/* in vec[0] */
};

/* Skip what is used up; bytes left in this segment, 0 at the end. */
static u64 cursor_left(struct cursor *c)
{
	while (c->n && c->off == c->vec->len) {
		c->vec++;
		c->n--;
		c->off = 0;
	}
	return c->n ? c->vec->len - c->off : 0;
}

static long transfer_step(struct mm *mm, struct cursor *local, struct cursor *remote, char *buf,
			  bool write)
{
	uaddr l = local->vec->base + local->off, r = remote->vec->base + remote->off;
	u64 n = min(min(cursor_left(local), cursor_left(remote)), (u64)PAGE_SIZE);
	size_t missed;
	long got;

	n = min(n, PAGE_SIZE - (r & ~PAGE_MASK));
	if (write) {
		missed = copy_from_user(buf, (const void __user *)l, n);
		if (missed == n)
			return -EFAULT;
		return mm_access(mm, r, buf, n - missed, true, false);
	}
	got = mm_access(mm, r, buf, n, false, false);
	if (got <= 0)
		return got;
	missed = copy_to_user((void __user *)l, buf, got);
	return missed == (size_t)got ? -EFAULT : got - (long)missed;
}

static long transfer(struct mm *mm, struct cursor local, struct cursor remote, bool write)
{
	char *buf = kmalloc(PAGE_SIZE);
	long done = 0, n = 0;

	if (!buf)
		return -ENOMEM;
	while (cursor_left(&local) && cursor_left(&remote)) {
		n = fatal_signal_pending(current) ? -EINTR :
		    transfer_step(mm, &local, &remote, buf, write);
		if (n <= 0)
			break;
		local.off += n;
		remote.off += n;
		done += n;
	}
	kfree(buf);
	return done ? done : n;
}

/* The mm of a process that current may look into, with a reference. ERR_PTR. */
static struct mm *traceable_mm(u32 pid)
{
	struct task *t = task_find_get(pid);
	struct mm *mm;

	if (!t)
		return ERR_PTR(-ESRCH);
	mm = task_get_mm(t);
	if (!mm) {
		task_put(t);
		return ERR_PTR(-ESRCH);
	}
	if (mm != current->mm && !ptrace_may_access(t)) {
		mm_put(mm);
		mm = ERR_PTR(-EPERM);
	}
	task_put(t);
	return mm;
}

static long process_vm(int pid, const struct iovec_abi __user *lvec, u64 nl,
		       const struct iovec_abi __user *rvec, u64 nr, u64 flags, bool write)
{
	struct iovec_abi *l, *r;
	struct mm *mm;
	long ret;

	if (flags)
		return -EINVAL;
	l = get_vector(lvec, nl);
	if (IS_ERR(l))
		return PTR_ERR(l);
	r = get_vector(rvec, nr);
	if (IS_ERR(r)) {
		kfree(l);
		return PTR_ERR(r);
	}
	mm = l && r ? traceable_mm(pid) : NULL;
	if (IS_ERR(mm))
		ret = PTR_ERR(mm);
	else
		ret = mm ? transfer(mm, (struct cursor){ l, nl, 0 }, (struct cursor){ r, nr, 0 }, write) : 0;
	if (!IS_ERR_OR_NULL(mm))
		mm_put(mm);
	kfree(r);
	kfree(l);
	return ret;
}

long sys_process_vm_readv(int pid, const struct iovec_abi __user *lvec, u64 nl,
			  const struct iovec_abi __user *rvec, u64 nr, u64 flags)
{
	return process_vm(pid, lvec, nl, rvec, nr, flags, false);
}

long sys_process_vm_writev(int pid, const struct iovec_abi __user *lvec, u64 nl,
			   const struct iovec_abi __user *rvec, u64 nr, u64 flags)
{
	return process_vm(pid, lvec, nl, rvec, nr, flags, true);
}

/* --- by pidfd ---------------------------------------------------------------------------------------------- */

#define MADV_WILLNEED	3
#define MADV_COLD	20
#define MADV_PAGEOUT	21
#define MADV_COLLAPSE	25

static bool allowed_remotely(int advice)
{
	return advice == MADV_COLD || advice == MADV_PAGEOUT || advice == MADV_WILLNEED ||
	       advice == MADV_COLLAPSE;
}

static long advise_vector(struct mm *mm, const struct iovec_abi *vec, u64 n, int advice)
{
	u64 done = 0;

	for (u64 i = 0; i < n; i++) {
		long err = mm_madvise(mm, vec[i].base, vec[i].len, advice);

		if (err)
			return done ? (long)done : err;
		done += vec[i].len;
	}
	return done;
}

static long advise_process(struct process *p, const struct iovec_abi *vec, u64 n, int advice)
{
	struct mm *mm;
	long ret;

	if (!allowed_remotely(advice))
		return -EINVAL;
	mm = traceable_mm(p->pid);
	if (IS_ERR(mm))
		return PTR_ERR(mm);
	if (mm != current->mm && !capable(CAP_SYS_NICE))
		ret = -EPERM;
	else
		ret = advise_vector(mm, vec, n, advice);
	mm_put(mm);
	return ret;
}

long sys_process_madvise(int pidfd, const struct iovec_abi __user *uvec, u64 n, int advice, u32 flags)
{
	struct iovec_abi *vec;
	struct process *p;
	long ret;

	if (flags)
		return -EINVAL;
	vec = get_vector(uvec, n);
	if (IS_ERR(vec))
		return PTR_ERR(vec);
	p = pidfd_process(pidfd);
	if (IS_ERR(p)) {
		ret = PTR_ERR(p);
	} else {
		ret = advise_process(p, vec, n, advice);
		process_put(p);
	}
	kfree(vec);
	return ret;
}

/* A dying process frees its memory by itself soon enough; the call only says whether it is dying. */
long sys_process_mrelease(int pidfd, u32 flags)
{
	struct process *p;
	struct mm *mm;
	long ret = 0;

	if (flags)
		return -EINVAL;
	p = pidfd_process(pidfd);
	if (IS_ERR(p))
		return PTR_ERR(p);
	mm = process_get_mm(p);
	if (!mm)
		ret = -ESRCH;
	else if (!READ_ONCE(p->group_exit))
		ret = -EINVAL;
	if (mm)
		mm_put(mm);
	process_put(p);
	return ret;
}
