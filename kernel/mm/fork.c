/* SPDX-License-Identifier: MIT */
/*
 * Copying an address space for fork.
 *
 * Areas are duplicated; pages are not: both sides get the private ones read-only and the first
 * writer takes a copy (fault.c). Only areas in which private pages were made (VM_ANON) are looked
 * at: what can be had from a file again is left to faults. The parent's TLB entries still allow
 * writing until the flush at the end; it happens before the lock is released and before the child
 * can run, so neither side sees the other's later writes.
 */
#include <perch/fs.h>
#include <perch/mm.h>
#include <perch/sched.h>
#include <string.h>
#include "internal.h"

struct copy {
	struct mm *to;
	pte *table;		/* entries of to for the 2 MiB at block, or NULL */
	uaddr block;
	u64 marked;		/* the last line of entries that was marked */
	bool shared;		/* area is VM_SHARED: entries stay as they are */
	bool failed;		/* out of memory */
	s64 count[NR_PAGE_KINDS];
};

#define MARK_BYTES	(8 * sizeof(pte))	/* entries that one mark stands for */
#define TABLE_SPAN	(PAGE_SIZE / sizeof(pte) * PAGE_SIZE)

/* The child's entry for va. Entries of one table are contiguous in a page. */
static pte *child_entry(struct copy *c, uaddr va)
{
	uaddr block = ALIGN_DOWN(va, TABLE_SPAN);
	pte *p;

	if (!c->table || c->block != block) {
		p = pgt_entry(&c->to->pgt, va, true);
		if (!p)
			return NULL;
		c->table = (pte *)((u64)p & PAGE_MASK);
		c->block = block;
	}
	p = c->table + ((va - block) >> PAGE_SHIFT);
	if (c->marked != ALIGN_DOWN((u64)p, MARK_BYTES)) {
		c->marked = ALIGN_DOWN((u64)p, MARK_BYTES);
		pgt_mark(p, 1);
	}
	return p;
}

static void copy_entry(pte *p, uaddr va, void *arg)
{
	struct copy *c = arg;
	pte old = *p, *q = c->failed ? NULL : child_entry(c, va);
	struct page *page;

	if (!q) {
		c->failed = true;
		return;
	}
	if (!c->shared && pte_writable(old)) {
		old = pte_wrprotect(old);
		WRITE_ONCE(*p, old);
	}
	if (!pte_special(old)) {
		page = phys_to_page(pte_phys(old));
		page_map(page);
		c->count[page_kind(page)]++;
	}
	WRITE_ONCE(*q, old);	/* the flush at the end orders it */
}

static int copy_pages(struct mm *old, struct mm *mm, struct vma *v)
{
	struct copy c = { .to = mm, .shared = v->flags & VM_SHARED };

	if (!(v->flags & (VM_ANON | VM_PFNMAP)) || (v->flags & VM_WIPEONFORK))
		return 0;
	spin_lock(&old->pt_lock);
	pgt_walk(&old->pgt, v->start, v->end, copy_entry, &c);
	spin_unlock(&old->pt_lock);
	for (int kind = 0; kind < NR_PAGE_KINDS; kind++)
		atomic_add(&mm->rss[kind], c.count[kind]);
	return c.failed || mem_low() ? -ENOMEM : 0;
}

static int copy_area(struct mm *old, struct mm *mm, struct vma *v)
{
	struct vma *n = vma_copy(v);

	if (!n)
		return -ENOMEM;
	n->mm = mm;
	n->flags &= ~(VM_LOCKED | VM_LOCKONFAULT);
	if (n->flags & VM_WIPEONFORK)
		n->flags &= ~VM_ANON;
	if (n->ops && n->ops->open)
		n->ops->open(n);
	vma_insert(mm, n);
	mm_account(mm, n->flags, vma_pages(n));
	return copy_pages(old, mm, v);
}

static void copy_description(struct mm *old, struct mm *mm)
{
	mm->mmap_base = old->mmap_base;
	mm->start_code = old->start_code;
	mm->end_code = old->end_code;
	mm->start_data = old->start_data;
	mm->end_data = old->end_data;
	mm->start_brk = old->start_brk;
	mm->brk = old->brk;
	mm->start_stack = old->start_stack;
	mm->arg_start = old->arg_start;
	mm->arg_end = old->arg_end;
	mm->env_start = old->env_start;
	mm->env_end = old->env_end;
	mm->vdso = old->vdso;
	memcpy(mm->auxv, old->auxv, sizeof(mm->auxv));
	mm->auxv_len = old->auxv_len;
	mm->dumpable = old->dumpable;
	mm->membarrier = old->membarrier;
}

struct mm *mm_fork(struct mm *old)
{
	struct mm *mm = mm_alloc();
	struct file *exe;
	struct vma *v;
	int err = 0;

	if (!mm)
		return ERR_PTR(-ENOMEM);
	mutex_lock(&old->lock);
	mutex_lock_nested(&mm->lock, 1);	/* nobody else knows the child's yet */
	copy_description(old, mm);
	exe = old->exe ? file_get(old->exe) : NULL;
	list_for_each(v, &old->vmas, node) {
		if (v->flags & VM_DONTCOPY)
			continue;
		err = copy_area(old, mm, v);
		if (err)
			break;
		cond_resched();
	}
	tlb_flush_all(&old->pgt);
	mm_note_peak(mm);
	mutex_unlock(&mm->lock);
	mm_unlock(old);
	if (exe) {
		if (!err)
			err = mm_set_exe(mm, exe);
		file_put(exe);
	}
	if (err) {
		mm_put(mm);
		return ERR_PTR(err);
	}
	return mm;
}
