/* SPDX-License-Identifier: MIT */
/*
 * mprotect, pkey_mprotect and mseal.
 *
 * Taking rights away rewrites the entries and flushes; giving write access to private pages makes
 * only those writable that nobody else has: the others wait for a fault that copies them.
 */
#include <perch/errno.h>
#include <perch/mm.h>
#include <perch/syscall.h>
#include "internal.h"

#define PROT_SEM	0x8
#define PROT_GROWSDOWN	0x01000000
#define PROT_GROWSUP	0x02000000
#define READ_IMPLIES_EXEC 0x0400000

struct protect {
	struct vma *v;		/* with its new flags */
};

static bool may_write(const struct vma *v, pte old, const struct page *page)
{
	if (!(v->flags & VM_WRITE))
		return false;
	if ((v->flags & VM_SHARED) || pte_writable(old))
		return !pte_special(old) || (v->flags & VM_SHARED);
	return !pte_special(old) && (page->flags & PG_ANON) && load_acquire(&page->refs.n) == 1;
}

static void protect_entry(pte *p, uaddr va, void *arg)
{
	struct protect *pr = arg;
	struct page *page = phys_to_page(pte_phys(*p));
	u32 prot = pr->v->flags & VM_PROT;

	if (!may_write(pr->v, *p, page))
		prot &= ~VM_WRITE;
	if ((prot & VM_EXEC) && !(page->flags & PG_ISYNC)) {
		icache_sync(page_address(page), PAGE_SIZE);
		atomic_or(&page->flags, PG_ISYNC);
	}
	if (pr->v->flags & VM_PROT)
		WRITE_ONCE(*p, pte_make(page_to_phys(page), prot ? prot : VM_READ) |
			       (*p & PTE_SPECIAL));
	else
		WRITE_ONCE(*p, pte_none_make(page_to_phys(page)) | (*p & PTE_SPECIAL));
}

/* All of v gets the protection prot. */
static void protect_area(struct mm *mm, struct vma *v, u32 prot)
{
	struct protect pr = { v };

	mm_account(mm, v->flags, -(s64)vma_pages(v));
	v->flags = (v->flags & ~VM_PROT) | prot;
	mm_account(mm, v->flags, vma_pages(v));
	spin_lock(&mm->pt_lock);
	pgt_walk(&mm->pgt, v->start, v->end, protect_entry, &pr);
	spin_unlock(&mm->pt_lock);
	tlb_flush_range(&mm->pgt, v->start, v->end);
	if ((prot & VM_WRITE) && (v->flags & VM_LOCKED) && !(v->flags & VM_SHARED))
		(void)mm_populate(mm, v->start, v->end);
	mm_perf_mmap(v);
}

/* Private memory that becomes writable counts against RLIMIT_DATA. */
static int check_area(struct mm *mm, struct vma *v, u32 prot)
{
	u32 may = (v->flags & (VM_MAYREAD | VM_MAYWRITE | VM_MAYEXEC)) >> 5;

	if (v->flags & VM_SEALED)
		return -EPERM;
	if (prot & ~may)
		return -EACCES;
	if ((prot & VM_WRITE) && !(v->flags & (VM_WRITE | VM_SHARED | VM_GROWSDOWN)) &&
	    mm->data_vm + vma_pages(v) > rlimit_pages(RLIMIT_DATA))
		return -ENOMEM;
	return 0;
}
_Static_assert(VM_MAYREAD >> 5 == VM_READ && VM_MAYEXEC >> 5 == VM_EXEC, "MAY bits are shifted rights");

static int protect_part(struct mm *mm, struct vma **pv, uaddr start, uaddr end, u32 prot)
{
	struct vma *v = *pv;
	int err = check_area(mm, v, prot);

	if (err || (v->flags & VM_PROT) == prot)
		return err;
	err = vma_cut(mm, max(start, v->start), min(end, v->end));
	if (err)
		return err;
	v = vma_at(mm, max(start, v->start));
	protect_area(mm, v, prot);
	*pv = vma_merge(mm, v);
	return 0;
}

static int grows_start(struct mm *mm, uaddr *start, u64 flags)
{
	struct vma *v = vma_at(mm, *start);

	if (!(flags & PROT_GROWSDOWN))
		return 0;
	if (!v)
		return -ENOMEM;
	if (!(v->flags & VM_GROWSDOWN))
		return -EINVAL;
	*start = v->start;
	return 0;
}

static long protect_range(struct mm *mm, uaddr start, uaddr end, u32 prot, u64 flags)
{
	long err = grows_start(mm, &start, flags);
	struct vma *v;

	while (!err && start < end) {
		v = vma_at(mm, start);
		if (!v)
			return -ENOMEM;
		if (prot & VM_READ && (current->personality & READ_IMPLIES_EXEC) &&
		    (v->flags & VM_MAYEXEC))
			err = protect_part(mm, &v, start, end, prot | VM_EXEC);
		else
			err = protect_part(mm, &v, start, end, prot);
		start = v->end;
	}
	return err;
}

long sys_mprotect(uaddr start, u64 len, u64 prot)
{
	struct mm *mm = current->mm;
	u64 flags = prot & (PROT_GROWSDOWN | PROT_GROWSUP);
	long err;

	start = untag(start);
	prot &= ~(u64)(PROT_GROWSDOWN | PROT_GROWSUP);
	if (flags == (PROT_GROWSDOWN | PROT_GROWSUP) || (start & ~PAGE_MASK))
		return -EINVAL;
	if (!len)
		return 0;
	len = ALIGN_UP(len, PAGE_SIZE);
	if (start + len <= start)
		return -ENOMEM;
	if ((prot & ~(u64)(VM_PROT | PROT_SEM)) || (flags & PROT_GROWSUP))
		return -EINVAL;
	prot &= VM_PROT;
	mutex_lock(&mm->lock);
	err = protect_range(mm, start, start + len, prot, flags);
	mm_unlock(mm);
	return err;
}

/* There are no protection keys: key 0 is everybody's, -1 means plain mprotect. */
long sys_pkey_mprotect(uaddr start, u64 len, u64 prot, int pkey)
{
	return pkey == -1 || pkey == 0 ? sys_mprotect(start, len, prot) : -EINVAL;
}

long sys_pkey_alloc(u64 flags, u64 rights)
{
	return flags || (rights & ~3UL) ? -EINVAL : -ENOSPC;
}

long sys_pkey_free(int pkey)
{
	return -EINVAL;
}

/* Is all of [start, end) mapped? */
static bool no_holes(struct mm *mm, uaddr start, uaddr end)
{
	struct vma *v;

	for (v = vma_find(mm, start); start < end; v = vma_next(mm, v)) {
		if (!v || v->start > start)
			return false;
		start = v->end;
	}
	return true;
}

static long seal_range(struct mm *mm, uaddr start, uaddr end)
{
	struct vma *v;
	int err = no_holes(mm, start, end) ? vma_cut(mm, start, end) : -ENOMEM;

	if (err)
		return err;
	for (v = vma_find(mm, start); v && v->start < end; v = vma_next(mm, v))
		v->flags |= VM_SEALED;
	return 0;
}

long sys_mseal(uaddr start, u64 len, u64 flags)
{
	struct mm *mm = current->mm;
	u64 n = ALIGN_UP(len, PAGE_SIZE);
	long ret;

	start = untag(start);
	if (flags || (start & ~PAGE_MASK) || (len && !n) || start + n < start)
		return -EINVAL;
	if (!n)
		return 0;
	mutex_lock(&mm->lock);
	ret = seal_range(mm, start, start + n);
	mm_unlock(mm);
	return ret;
}
