/* SPDX-License-Identifier: MIT */
/* mincore and msync: what is in memory, and writing it back (which is nothing to do for tmpfs). */
#include <perch/errno.h>
#include <perch/fs.h>
#include <perch/mm.h>
#include <perch/syscall.h>
#include <perch/uaccess.h>
#include <string.h>
#include "internal.h"

#define MS_ASYNC	1
#define MS_INVALIDATE	2
#define MS_SYNC		4

static void see_page(void *arg, u32 first, struct page *const *pages, u32 n)
{
	*(bool *)arg = pages[0];
}

static bool resident(struct vma *v, uaddr va)
{
	pte *p = pgt_entry(&v->mm->pgt, va, false);
	bool cached = false;

	if (p && pte_present(*p))
		return true;
	if (v->ops && v->ops->cached)
		v->ops->cached(v, vma_pgoff(v, va), 1, see_page, &cached);
	return cached;
}

/* One byte per page of [start, start+n pages) into vec. 0 or -ENOMEM at a hole. */
static long fill(struct mm *mm, uaddr start, u64 n, u8 *vec)
{
	long err = 0;

	mutex_lock(&mm->lock);
	for (u64 i = 0; i < n; i++) {
		uaddr va = start + (i << PAGE_SHIFT);
		struct vma *v = vma_at(mm, va);

		if (!v) {
			err = -ENOMEM;
			break;
		}
		vec[i] = resident(v, va);
	}
	mm_unlock(mm);
	return err;
}

long sys_mincore(uaddr start, u64 len, u8 __user *vec)
{
	u64 pages = (len >> PAGE_SHIFT) + ((len & ~PAGE_MASK) != 0);
	u8 *buf;
	long err = 0;

	start = untag(start);
	if (start & ~PAGE_MASK)
		return -EINVAL;
	if (start > USER_MAX || len > USER_MAX - start)
		return -ENOMEM;
	if (!access_ok(vec, pages))
		return -EFAULT;
	buf = kmalloc(PAGE_SIZE);
	if (!buf)
		return -EAGAIN;
	while (pages && !err) {
		u64 n = min(pages, (u64)PAGE_SIZE);

		err = fill(current->mm, start, n, buf);
		if (!err && copy_to_user(vec, buf, n))
			err = -EFAULT;
		start += n << PAGE_SHIFT;
		vec += n;
		pages -= n;
	}
	kfree(buf);
	return err;
}

static long sync_range(struct mm *mm, uaddr start, uaddr end, u32 flags)
{
	long hole = 0;

	while (start < end) {
		struct vma *v = vma_find(mm, start);

		if (!v || v->start >= end)
			return -ENOMEM;
		if (v->start > start)
			hole = -ENOMEM;
		if ((flags & MS_INVALIDATE) && (v->flags & VM_LOCKED))
			return -EBUSY;
		start = v->end;
	}
	return hole;
}

long sys_msync(uaddr start, u64 len, int flags)
{
	struct mm *mm = current->mm;
	u64 n = ALIGN_UP(len, PAGE_SIZE);
	long ret;

	start = untag(start);
	if ((flags & ~(MS_ASYNC | MS_INVALIDATE | MS_SYNC)) || (start & ~PAGE_MASK) ||
	    ((flags & MS_ASYNC) && (flags & MS_SYNC)))
		return -EINVAL;
	if (start + n < start || (len && !n))
		return -ENOMEM;
	if (!n)
		return 0;
	mutex_lock(&mm->lock);
	ret = sync_range(mm, start, start + n, flags);
	mm_unlock(mm);
	return ret;
}
