/* SPDX-License-Identifier: MIT */
/*
 * mremap: shrink, grow in place, or move an area with its page-table entries.
 *
 * Moving first makes all tables that the new place needs, so nothing can fail half way; then the
 * entries go over one by one and one flush makes the old place unusable.
 */
#include <perch/errno.h>
#include <perch/fs.h>
#include <perch/mm.h>
#include <perch/syscall.h>
#include "internal.h"

#define MREMAP_MAYMOVE		1
#define MREMAP_FIXED		2
#define MREMAP_DONTUNMAP	4

struct move {
	struct mm *mm;
	u64 delta;		/* new address - old address */
	bool failed;
};

static void prepare_entry(pte *p, uaddr va, void *arg)
{
	struct move *m = arg;

	if (!m->failed && !pgt_entry(&m->mm->pgt, va + m->delta, true))
		m->failed = true;
}

static void move_entry(pte *p, uaddr va, void *arg)
{
	struct move *m = arg;
	pte *q = pgt_entry(&m->mm->pgt, va + m->delta, false);

	ASSERT(q && !*q);
	WRITE_ONCE(*q, *p);
	WRITE_ONCE(*p, 0);
}

static int move_pages(struct mm *mm, uaddr from, uaddr to, u64 len)
{
	struct move m = { .mm = mm, .delta = to - from };

	spin_lock(&mm->pt_lock);
	pgt_walk(&mm->pgt, from, from + len, prepare_entry, &m);
	if (!m.failed)
		pgt_walk(&mm->pgt, from, from + len, move_entry, &m);
	spin_unlock(&mm->pt_lock);
	tlb_flush_range(&mm->pgt, from, from + len);
	return m.failed ? -ENOMEM : 0;
}

/* A copy of v for [addr, addr+len), whose first page is v's page at old. Inserted, not accounted. */
static struct vma *duplicate(struct mm *mm, struct vma *v, uaddr old, uaddr addr, u64 len)
{
	struct vma *n = vma_copy(v);

	if (!n)
		return NULL;
	n->start = addr;
	n->end = addr + len;
	n->pgoff = vma_is_anon(v) && !v->file ? addr >> PAGE_SHIFT : vma_pgoff(v, old);
	if (n->ops && n->ops->open)
		n->ops->open(n);
	vma_insert(mm, n);
	return n;
}

static void undo_duplicate(struct mm *mm, struct vma *n)
{
	vma_erase(mm, n);
	vma_discard(mm, n);
}

/* Move [old, old+old_len) of v to the free range at addr, which gets new_len bytes. */
static long move_area(struct mm *mm, struct vma *v, uaddr old, u64 old_len, uaddr addr, u64 new_len,
		      u32 flags)
{
	bool keep = flags & MREMAP_DONTUNMAP;
	struct vma *n;
	u32 locked = v->flags & VM_LOCKED;
	int err;

	if (mm->nr_vmas + 3 > sysctl_max_map_count)
		return -ENOMEM;
	n = duplicate(mm, v, old, addr, new_len);
	if (!n)
		return -ENOMEM;
	err = move_pages(mm, old, addr, min(old_len, new_len));
	if (!err && !keep && old_len)
		err = mm_unmap(mm, old, old_len);
	if (err) {
		(void)move_pages(mm, addr, old, min(old_len, new_len));
		undo_duplicate(mm, n);
		return err;
	}
	mm_account(mm, n->flags, vma_pages(n));
	if (keep && locked) {
		mm->locked_vm -= vma_pages(v);
		v->flags &= ~(VM_LOCKED | VM_LOCKONFAULT);
	}
	n = vma_merge(mm, n);
	if (locked && new_len > old_len)
		(void)mm_populate(mm, addr, addr + new_len);
	return addr;
}

/* May [old, old+old_len) become new_len long? */
static struct vma *area_to_remap(struct mm *mm, uaddr old, u64 old_len, u64 new_len, u32 flags)
{
	struct vma *v = vma_at(mm, old);
	u64 grow = new_len > old_len ? (new_len - old_len) >> PAGE_SHIFT : 0;

	if (!v)
		return ERR_PTR(-EFAULT);
	if (v->flags & VM_SEALED)
		return ERR_PTR(-EPERM);
	if (!old_len && !(v->flags & VM_SHARED))
		return ERR_PTR(-EINVAL);
	if ((flags & MREMAP_DONTUNMAP) && (v->flags & (VM_DONTEXPAND | VM_PFNMAP)))
		return ERR_PTR(-EINVAL);
	if (old_len > v->end - old)
		return ERR_PTR(-EFAULT);
	if (new_len == old_len)
		return v;
	if (v->flags & (VM_DONTEXPAND | VM_PFNMAP))
		return ERR_PTR(-EFAULT);
	if (vma_pgoff(v, old) + (new_len >> PAGE_SHIFT) < vma_pgoff(v, old))
		return ERR_PTR(-EINVAL);
	if ((v->flags & VM_LOCKED) && grow && mm_may_lock(mm, grow))
		return ERR_PTR(-EAGAIN);
	if (grow && mm_may_expand(mm, v->flags, grow))
		return ERR_PTR(-ENOMEM);
	return v;
}

/* MREMAP_FIXED and MREMAP_DONTUNMAP: the new place is given or must be another. */
static long remap_to(struct mm *mm, uaddr old, u64 old_len, uaddr addr, u64 new_len, u32 flags)
{
	struct vma *v;
	long ret;

	if (addr & ~PAGE_MASK || new_len > USER_MAX || addr > USER_MAX - new_len)
		return -EINVAL;
	if (addr + new_len > old && old + old_len > addr && (flags & MREMAP_FIXED))
		return -EINVAL;
	if (mm->nr_vmas + 2 >= sysctl_max_map_count - 3)
		return -ENOMEM;
	if (flags & MREMAP_FIXED) {
		if (addr < USER_MIN && !capable(CAP_SYS_RAWIO))
			return -EPERM;
		ret = mm_unmap(mm, addr, new_len);
		if (ret)
			return ret;
	}
	if (old_len > new_len) {
		ret = mm_unmap(mm, old + new_len, old_len - new_len);
		if (ret)
			return ret;
		old_len = new_len;
	}
	v = area_to_remap(mm, old, old_len, new_len, flags);
	if (IS_ERR(v))
		return PTR_ERR(v);
	if ((flags & MREMAP_DONTUNMAP) && mm_may_expand(mm, v->flags, old_len >> PAGE_SHIFT))
		return -ENOMEM;
	if (!(flags & MREMAP_FIXED)) {
		addr = mm_unmapped_area(mm, addr, new_len);
		if (IS_ERR((void *)addr))
			return addr;
	}
	return move_area(mm, v, old, old_len, addr, new_len, flags);
}

static bool can_grow_in_place(struct mm *mm, struct vma *v, uaddr new_end)
{
	struct vma *next = vma_next(mm, v);

	return new_end > v->end && new_end <= USER_MAX && (!next || new_end <= vma_low_end(next));
}

static long grow_in_place(struct mm *mm, struct vma *v, uaddr old, uaddr new_end)
{
	uaddr old_end = v->end;

	vma_resize(mm, v, v->start, new_end);
	mm_account(mm, v->flags, (new_end - old_end) >> PAGE_SHIFT);
	if (v->flags & VM_LOCKED)
		(void)mm_populate(mm, old_end, new_end);
	vma_merge(mm, v);
	return old;
}

static long remap(struct mm *mm, uaddr old, u64 old_len, u64 new_len, u32 flags, uaddr new_addr)
{
	struct vma *v = vma_at(mm, old);
	long ret;

	if (!v)
		return -EFAULT;
	if (flags & (MREMAP_FIXED | MREMAP_DONTUNMAP))
		return remap_to(mm, old, old_len, new_addr, new_len, flags);
	if (old_len >= new_len) {
		if (old_len == new_len)
			return IS_ERR(v = area_to_remap(mm, old, old_len, new_len, flags)) ?
			       PTR_ERR(v) : (long)old;
		ret = mm_unmap(mm, old + new_len, old_len - new_len);
		return ret ? ret : (long)old;
	}
	v = area_to_remap(mm, old, old_len, new_len, flags);
	if (IS_ERR(v))
		return PTR_ERR(v);
	if (old_len == v->end - old && can_grow_in_place(mm, v, old + new_len))
		return grow_in_place(mm, v, old, old + new_len);
	if (!(flags & MREMAP_MAYMOVE))
		return -ENOMEM;
	new_addr = mm_unmapped_area(mm, 0, new_len);
	if (IS_ERR((void *)new_addr))
		return new_addr;
	return move_area(mm, v, old, old_len, new_addr, new_len, flags);
}

long sys_mremap(uaddr old, u64 old_len, u64 new_len, u64 flags, uaddr new_addr)
{
	struct mm *mm = current->mm;
	long ret;

	old = untag(old);
	if (flags & ~7UL)
		return -EINVAL;
	if ((flags & MREMAP_FIXED) && !(flags & MREMAP_MAYMOVE))
		return -EINVAL;
	if ((flags & MREMAP_DONTUNMAP) && (!(flags & MREMAP_MAYMOVE) || old_len != new_len))
		return -EINVAL;
	if (old & ~PAGE_MASK)
		return -EINVAL;
	old_len = ALIGN_UP(old_len, PAGE_SIZE);
	new_len = ALIGN_UP(new_len, PAGE_SIZE);
	if (!new_len)
		return -EINVAL;
	mutex_lock(&mm->lock);
	ret = remap(mm, old, old_len, new_len, flags, new_addr);
	mm_unlock(mm);
	return ret;
}
