/* SPDX-License-Identifier: MIT */
/*
 * mlock and its relatives. Nothing is ever paged out here, so locking means: fault the pages in
 * now (unless ONFAULT) and count them against RLIMIT_MEMLOCK.
 */
#include <perch/errno.h>
#include <perch/mm.h>
#include <perch/syscall.h>
#include "internal.h"

#define LOCK_FLAGS	(VM_LOCKED | VM_LOCKONFAULT)
#define MLOCK_ONFAULT	1
#define MCL_CURRENT	1
#define MCL_FUTURE	2
#define MCL_ONFAULT	4

static void set_area(struct mm *mm, struct vma *v, u32 lock)
{
	if (v->flags & (VM_DONTEXPAND | VM_PFNMAP))
		return;
	if (v->flags & VM_LOCKED)
		mm->locked_vm -= vma_pages(v);
	v->flags = (v->flags & ~LOCK_FLAGS) | lock;
	if (lock)
		mm->locked_vm += vma_pages(v);
}

/* Give [start, end) the lock flags. -ENOMEM at the first hole; what comes before it is done. */
static int apply(struct mm *mm, uaddr start, uaddr end, u32 lock)
{
	while (start < end) {
		struct vma *v = vma_at(mm, start);
		int err;

		if (!v)
			return -ENOMEM;
		if ((v->flags & LOCK_FLAGS) != lock && !(v->flags & (VM_DONTEXPAND | VM_PFNMAP))) {
			err = vma_cut(mm, start, min(end, v->end));
			if (err)
				return err == -EINVAL ? err : -ENOMEM;
			v = vma_at(mm, start);
			set_area(mm, v, lock);
			v = vma_merge(mm, v);
		}
		start = v->end;
	}
	return 0;
}

static u64 already_locked(struct mm *mm, uaddr start, uaddr end)
{
	u64 n = 0;

	for (struct vma *v = vma_find(mm, start); v && v->start < end; v = vma_next(mm, v))
		if (v->flags & VM_LOCKED)
			n += (min(v->end, end) - max(v->start, start)) >> PAGE_SHIFT;
	return n;
}

/* mlock's errors for a range that cannot be faulted in. */
static long populate_error(long err)
{
	return err == -EFAULT ? -ENOMEM : err == -ENOMEM ? -EAGAIN : err;
}

static long lock_range(uaddr start, u64 len, u32 lock)
{
	struct mm *mm = current->mm;
	uaddr end;
	long err = -ENOMEM;

	start = untag(start);
	if (lock && !can_mlock())
		return -EPERM;
	len = ALIGN_UP(len + (start & ~PAGE_MASK), PAGE_SIZE);
	start &= PAGE_MASK;
	end = start + len;
	if (end < start)
		return lock ? -ENOMEM : -EINVAL;
	if (end == start)
		return 0;
	mutex_lock(&mm->lock);
	if (!lock || mm->locked_vm + (len >> PAGE_SHIFT) - already_locked(mm, start, end) <=
	    rlimit_pages(RLIMIT_MEMLOCK) || capable(CAP_IPC_LOCK))
		err = apply(mm, start, end, lock);
	if (!err && lock == VM_LOCKED)
		err = populate_error(mm_populate(mm, start, end));
	mm_unlock(mm);
	return err;
}

long sys_mlock(uaddr start, u64 len)
{
	return lock_range(start, len, VM_LOCKED);
}

long sys_mlock2(uaddr start, u64 len, u32 flags)
{
	if (flags & ~MLOCK_ONFAULT)
		return -EINVAL;
	return lock_range(start, len, flags & MLOCK_ONFAULT ? LOCK_FLAGS : VM_LOCKED);
}

long sys_munlock(uaddr start, u64 len)
{
	return lock_range(start, len, 0);
}

static void lock_all(struct mm *mm, u32 lock)
{
	struct vma *v, *next;

	for (v = vma_find(mm, 0); v; v = next) {
		set_area(mm, v, lock);
		v = vma_merge(mm, v);
		next = vma_next(mm, v);
	}
}

/* Best effort, area by area: holes and areas without access do not matter. */
static void populate_all(struct mm *mm)
{
	struct vma *v;

	list_for_each(v, &mm->vmas, node)
		(void)mm_populate(mm, v->start, v->end);
}

long sys_mlockall(int flags)
{
	struct mm *mm = current->mm;
	u32 lock = flags & MCL_ONFAULT ? LOCK_FLAGS : VM_LOCKED;
	long err = -ENOMEM;

	if (!flags || (flags & ~7) || flags == MCL_ONFAULT)
		return -EINVAL;
	if (!can_mlock())
		return -EPERM;
	mutex_lock(&mm->lock);
	if (!(flags & MCL_CURRENT) || mm->total_vm <= rlimit_pages(RLIMIT_MEMLOCK) ||
	    capable(CAP_IPC_LOCK)) {
		mm->def_flags = flags & MCL_FUTURE ? lock : 0;
		if (flags & MCL_CURRENT)
			lock_all(mm, lock);
		if ((flags & MCL_CURRENT) && lock == VM_LOCKED)
			populate_all(mm);
		err = 0;
	}
	mm_unlock(mm);
	return err;
}

long sys_munlockall(void)
{
	struct mm *mm = current->mm;

	mutex_lock(&mm->lock);
	mm->def_flags = 0;
	lock_all(mm, 0);
	mm_unlock(mm);
	return 0;
}
