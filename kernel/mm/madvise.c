/* SPDX-License-Identifier: MIT */
/*
 * madvise. Hints about paging and huge pages are accepted and ignored: there
 * is neither. What changes contents or inheritance is done.
 */
#include <perch/errno.h>
#include <perch/fs.h>
#include <perch/mm.h>
#include <perch/signal.h>
#include <perch/syscall.h>
#include "internal.h"

enum {
	MADV_NORMAL, MADV_RANDOM, MADV_SEQUENTIAL, MADV_WILLNEED, MADV_DONTNEED,
	MADV_FREE = 8, MADV_REMOVE, MADV_DONTFORK, MADV_DOFORK, MADV_MERGEABLE, MADV_UNMERGEABLE,
	MADV_HUGEPAGE, MADV_NOHUGEPAGE, MADV_DONTDUMP, MADV_DODUMP, MADV_WIPEONFORK, MADV_KEEPONFORK,
	MADV_COLD, MADV_PAGEOUT, MADV_POPULATE_READ, MADV_POPULATE_WRITE, MADV_DONTNEED_LOCKED,
	MADV_COLLAPSE,
	MADV_HWPOISON = 100, MADV_SOFT_OFFLINE,
};

static bool known(int advice)
{
	return (advice >= MADV_NORMAL && advice <= MADV_DONTNEED) ||
	       (advice >= MADV_FREE && advice <= MADV_COLLAPSE);
}

/* What to do with one area's part [start, end). 0 or -errno. */
struct advice {
	int advice;
	int (*check)(struct vma *v);
	u32 set, clear;			/* VM_ flags */
	bool discard;			/* drop the pages */
};

static int check_discard(struct vma *v)
{
	return v->flags & (VM_LOCKED | VM_PFNMAP) ? -EINVAL : 0;
}

static int check_discard_locked(struct vma *v)
{
	return v->flags & VM_PFNMAP ? -EINVAL : 0;
}

static int check_free(struct vma *v)
{
	return v->file || (v->flags & VM_SHARED) || !vma_is_anon(v) ? -EINVAL : check_discard(v);
}

static int check_private_anon(struct vma *v)
{
	return v->file || (v->flags & VM_SHARED) ? -EINVAL : 0;
}

static int check_special(struct vma *v)
{
	return v->flags & VM_PFNMAP ? -EINVAL : 0;
}

static const struct advice table[] = {
	{ MADV_DONTNEED, check_discard, 0, 0, true },
	{ MADV_DONTNEED_LOCKED, check_discard_locked, 0, 0, true },
	{ MADV_FREE, check_free, 0, 0, true },
	{ MADV_DONTFORK, NULL, VM_DONTCOPY, 0, false },
	{ MADV_DOFORK, check_special, 0, VM_DONTCOPY, false },
	{ MADV_DONTDUMP, NULL, VM_DONTDUMP, 0, false },
	{ MADV_DODUMP, check_special, 0, VM_DONTDUMP, false },
	{ MADV_WIPEONFORK, check_private_anon, VM_WIPEONFORK, 0, false },
	{ MADV_KEEPONFORK, NULL, 0, VM_WIPEONFORK, false },
	{ MADV_COLD, check_discard, 0, 0, false },
	{ MADV_PAGEOUT, check_discard, 0, 0, false },
};

static const struct advice *find_advice(int advice)
{
	for (u32 i = 0; i < ARRAY_SIZE(table); i++)
		if (table[i].advice == advice)
			return &table[i];
	return NULL;
}

/* Apply to the part of *pv inside [start, end); *pv becomes the area to go on from. */
static int advise_area(struct mm *mm, struct vma **pv, uaddr start, uaddr end, const struct advice *a)
{
	struct vma *v = *pv;
	u32 flags;
	int err = a && a->check ? a->check(v) : 0;

	start = max(start, v->start);
	end = min(end, v->end);
	if (err || !a)
		return err;
	if (a->discard) {
		if ((v->flags & VM_SEALED) && !v->file && !(v->flags & VM_WRITE))
			return -EPERM;
		mm_zap(mm, start, end);
	}
	flags = (v->flags | a->set) & ~a->clear;
	if (flags == v->flags)
		return 0;
	err = vma_cut(mm, start, end);
	if (err)
		return err;
	v = vma_at(mm, start);
	v->flags = (v->flags | a->set) & ~a->clear;
	*pv = vma_merge(mm, v);
	return 0;
}

/* Holes are skipped but remembered: ENOMEM at the end, as on Linux. */
static long advise_range(struct mm *mm, uaddr start, uaddr end, const struct advice *a)
{
	long hole = 0;
	struct vma *v;

	while (start < end) {
		int err;

		v = vma_find(mm, start);
		if (!v || v->start >= end)
			return -ENOMEM;
		if (v->start > start)
			hole = -ENOMEM;
		err = advise_area(mm, &v, start, end, a);
		if (err)
			return err;
		start = v->end;
	}
	return hole;
}

/* --- the ones that are not about an area's flags or pages ------------------------------------------------ */

static long populate_for(struct mm *mm, uaddr start, uaddr end, bool write)
{
	while (start < end) {
		struct vma *v = vma_at(mm, start);
		long err;

		if (!v)
			return -ENOMEM;
		if ((v->flags & VM_PFNMAP) || !(v->flags & (write ? VM_WRITE : VM_READ)))
			return -EINVAL;
		err = fatal_signal_pending(current) ? -EINTR :
		      fault_in(v, start, write ? FAULT_WRITE : 0);
		if (err)
			return err;
		start += PAGE_SIZE;
	}
	mm_note_peak(mm);
	return 0;
}

#define PUNCH_HOLE	3	/* FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE */

/* The file's operation takes inode->lock, which comes before mm->lock: so one area at a time, unlocked. */
static long remove_range(struct mm *mm, uaddr start, uaddr end)
{
	while (start < end) {
		struct vma *v;
		struct file *f;
		uaddr stop;
		loff off;
		long err = 0;

		mutex_lock(&mm->lock);
		v = vma_at(mm, start);
		if (!v)
			err = -ENOMEM;
		else if ((v->flags & VM_LOCKED) || !v->file)
			err = -EINVAL;
		else if (!(v->flags & VM_SHARED) || !(v->flags & VM_MAYWRITE))
			err = -EACCES;
		if (err) {
			mm_unlock(mm);
			return err;
		}
		f = file_get(v->file);
		stop = min(end, v->end);
		off = vma_pgoff(v, start) << PAGE_SHIFT;
		mm_unlock(mm);
		err = f->ops->fallocate ? f->ops->fallocate(f, PUNCH_HOLE, off, stop - start) :
		      -EOPNOTSUPP;
		file_put(f);
		if (err)
			return err;
		start = stop;
	}
	return 0;
}

long mm_madvise(struct mm *mm, uaddr start, u64 len, int advice)
{
	u64 n = ALIGN_UP(len, PAGE_SIZE);
	long ret;

	start = untag(start);
	if (advice == MADV_HWPOISON || advice == MADV_SOFT_OFFLINE)
		return capable(CAP_SYS_ADMIN) ? -EINVAL : -EPERM;
	if (!known(advice) || (start & ~PAGE_MASK) || (len && !n) || start + n < start)
		return -EINVAL;
	if (!n)
		return 0;
	if (advice == MADV_REMOVE)
		return remove_range(mm, start, start + n);
	mutex_lock(&mm->lock);
	if (advice == MADV_POPULATE_READ || advice == MADV_POPULATE_WRITE)
		ret = populate_for(mm, start, start + n, advice == MADV_POPULATE_WRITE);
	else
		ret = advise_range(mm, start, start + n, find_advice(advice));
	mm_unlock(mm);
	return advice == MADV_COLLAPSE && !ret ? -EINVAL : ret;
}

long sys_madvise(uaddr start, u64 len, int advice)
{
	return mm_madvise(current->mm, start, len, advice);
}
