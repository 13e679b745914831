/* SPDX-License-Identifier: MIT */
/*
 * Page faults: making the page table say what the areas promise.
 *
 * Everything here runs with mm->lock held, so areas cannot change and nobody else adds entries;
 * only truncation of a file may take entries away meanwhile (under pt_lock), which every path
 * that slept checks for by comparing the entry again.
 *
 *   anonymous, read      the zero page, read-only, not counted (PTE_SPECIAL)
 *   anonymous, write     a zeroed page of its own (PG_ANON)
 *   file, read           the file's page; and those around it that exist (64 KiB)
 *   file private, write  a copy of the file's page
 *   file shared, write   the file's page, writable
 *   write to read-only   private: a copy, or the page itself if nobody else has it
 *
 * A valid entry is never replaced by another page directly: it is cleared and flushed first, as
 * the architecture demands (break before make).
 */
#include <asm/page.h>
#include <perch/mm.h>
#include <perch/perf.h>
#include <perch/signal.h>
#include <perch/task.h>
#include "internal.h"

#define AROUND	16	/* pages, as on Linux: programs have the same number of faults on both */

struct page *zero_page;

void fault_init(void)
{
	zero_page = alloc_zpage();
	if (!zero_page)
		panic("no memory for the zero page");
}

void mm_note_peak(struct mm *mm)
{
	s64 rss = atomic_read(&mm->rss_anon) + atomic_read(&mm->rss_file) +
		  atomic_read(&mm->rss_shmem);

	if (rss > (s64)mm->hiwater_rss)
		mm->hiwater_rss = rss;
	if (mm->total_vm > mm->hiwater_vm)
		mm->hiwater_vm = mm->total_vm;
}

/* --- entries --------------------------------------------------------------------------------------- */

/* What all entries of v have in common; base of make_entry. */
static pte entry_base(const struct vma *v, bool write)
{
	u32 prot = v->flags & VM_PROT;

	if (!prot)
		return pte_none_make(0);
	if (!write)
		prot &= ~VM_WRITE;
	return pte_make(0, prot ? prot : VM_READ);
}

static void sync_instructions(struct page *page)
{
	if (READ_ONCE(page->flags) & PG_ISYNC)
		return;
	icache_sync(page_address(page), PAGE_SIZE);
	atomic_or(&page->flags, PG_ISYNC);
}

static pte make_entry(const struct vma *v, struct page *page, bool write)
{
	if (v->flags & VM_EXEC)
		sync_instructions(page);
	return entry_base(v, write) | page_to_phys(page);
}

/* Count a page whose entry is about to be written; takes over the caller's reference. */
static void count_mapped(struct mm *mm, struct page *page)
{
	atomic_inc(&page->mapcount);
	atomic_inc(&mm->rss[page_kind(page)]);
}

static void count_unmapped(struct mm *mm, struct page *page)
{
	atomic_dec(&mm->rss[page_kind(page)]);
	page_unmap(page);
}

static struct page *anon_page(void)
{
	struct page *p = alloc_page_user();

	if (p) {
		p->flags = PG_ANON;
		atomic_inc(&mem_stats.anon_pages);
	}
	return p;
}

/*
 * An entry for a page that only this fault knows, where there was none: no pt_lock, for if truncation looks
 * here it sees nothing or the whole of it. The barrier (here and below) makes the page's contents and
 * counters visible before the entry is: other CPUs' table walks pair with it by address dependency.
 */
static void set_anon(struct vma *v, pte *p, struct page *page)
{
	page->mapcount = 1;
	atomic_inc(&v->mm->rss_anon);
	v->flags |= VM_ANON;
	smp_wmb();
	pte_set(p, make_entry(v, page, v->flags & VM_WRITE));
}

static void set_file(struct vma *v, pte *p, struct page *page, bool write)
{
	pte e = make_entry(v, page, write);

	spin_lock(&v->mm->pt_lock);
	count_mapped(v->mm, page);
	smp_wmb();
	pte_set(p, e);
	spin_unlock(&v->mm->pt_lock);
}

/* --- absent entries ---------------------------------------------------------------------------------- */

static int fault_anon(struct vma *v, pte *p, bool write)
{
	struct page *page;

	if (!write) {
		pte_set(p, make_entry(v, zero_page, false) | PTE_SPECIAL);
		return 0;
	}
	page = anon_page();
	if (!page)
		return -ENOMEM;
	clear_page(page_address(page));
	set_anon(v, p, page);
	return 0;
}

static struct page *file_page(struct vma *v, uaddr va, bool write)
{
	struct page *page = v->ops->fault(v, vma_pgoff(v, va), write);

	return page ? page : ERR_PTR(-EFAULT);
}

static int fault_private_write(struct vma *v, uaddr va, pte *p)
{
	struct page *src = file_page(v, va, false), *page;

	if (IS_ERR(src))
		return PTR_ERR(src);
	page = anon_page();
	if (page)
		copy_page(page_address(page), page_address(src));
	page_put(src);
	if (!page)
		return -ENOMEM;
	set_anon(v, p, page);
	return 0;
}

/* What a fault maps of a file beside its own page, and that page if it exists. */
struct around {
	struct vma *v;
	pte *first;		/* where the first page's entry is or comes */
	pte base;		/* what the entries have in common */
};

/*
 * Entries for those of pages[0..n) that exist and have none. Whoever takes a page out of the file does so under the
 * lock that our caller holds, and only then looks for entries: it finds these.
 */
static void map_run(void *arg, u32 first, struct page *const *pages, u32 n)
{
	struct around *a = arg;
	struct mm *mm = a->v->mm;
	bool exec = a->v->flags & VM_EXEC;
	pte base = a->base;
	struct page *some = NULL;
	s64 mapped = 0;

	spin_lock(&mm->pt_lock);
	for (pte *q = a->first + first, *end = q + n; q < end; q++, pages++) {
		struct page *page = *pages;

		if (!page || READ_ONCE(*q))
			continue;
		if (exec)
			sync_instructions(page);
		page_map(page);
		WRITE_ONCE(*q, base | page_to_phys(page));
		some = page;
		mapped++;
	}
	if (some)
		atomic_add(&mm->rss[page_kind(some)], mapped);	/* all are of one kind */
	spin_unlock(&mm->pt_lock);
}

/*
 * Map what exists of the aligned 64 KiB around va, within the area and va's table. p: va's entry. True if that
 * is there now.
 */
static bool fault_around(struct vma *v, uaddr va, pte *p, bool write)
{
	u32 slot = ((u64)p & ~PAGE_MASK) / sizeof(*p), first = slot & ~(AROUND - 1);
	u32 below = min((va - v->start) >> PAGE_SHIFT, (u64)(slot - first));
	u32 above = min((v->end - va) >> PAGE_SHIFT, (u64)(AROUND - (slot - first)));
	struct around a = { v, p - below, entry_base(v, write) };

	pgt_mark(a.first, below + above);
	v->ops->cached(v, vma_pgoff(v, va) - below, below + above, map_run, &a);
	pgt_publish();
	return READ_ONCE(*p);
}

static int map_pfn(struct vma *v, uaddr va, pte *p, bool writable)
{
	struct page *page = file_page(v, va, writable);

	if (IS_ERR(page))
		return PTR_ERR(page);
	pte_set(p, make_entry(v, page, writable) | PTE_SPECIAL);
	page_put(page);		/* the area keeps it */
	return 0;
}

/* One page of a file, made if it does not exist yet. */
static int map_file_page(struct vma *v, uaddr va, pte *p, bool write)
{
	u32 seq = v->file ? rmap_seq(v) : 0;
	struct page *page = file_page(v, va, write);

	if (IS_ERR(page))
		return PTR_ERR(page);
	set_file(v, p, page, write);
	if (unlikely(v->file && rmap_seq(v) != seq))
		mm_zap_file_pages(v->mm, v->start, v->end);	/* perhaps truncated: fault again */
	return 0;
}

static int fault_file(struct vma *v, uaddr va, pte *p, bool write)
{
	bool writable = (v->flags & VM_SHARED) && (v->flags & VM_WRITE);

	if (v->flags & VM_PFNMAP)
		return map_pfn(v, va, p, write && writable);	/* not all of it need be writable */
	if (write && !(v->flags & VM_SHARED))
		return fault_private_write(v, va, p);
	if (!write && v->ops->cached && fault_around(v, va, p, writable))
		return 0;
	return map_file_page(v, va, p, writable);
}

/* --- writes to read-only entries ------------------------------------------------------------------------ */

static int wp_shared(struct vma *v, uaddr va, pte *p, pte old)
{
	struct mm *mm = v->mm;
	struct page *page = file_page(v, va, true);

	if (IS_ERR(page))
		return PTR_ERR(page);
	spin_lock(&mm->pt_lock);
	if (*p == old && page_to_phys(page) == pte_phys(old))
		pte_set(p, make_entry(v, page, true) | (old & PTE_SPECIAL));
	spin_unlock(&mm->pt_lock);
	tlb_flush_page(&mm->pgt, va);
	page_put(page);
	return 0;
}

/*
 * old stays mapped while the copy is made; should its file be truncated meanwhile the entry changes and
 * the copy (of whatever the page holds now) is thrown away.
 */
static int wp_copy(struct vma *v, uaddr va, pte *p, pte old)
{
	struct mm *mm = v->mm;
	struct page *src = phys_to_page(pte_phys(old)), *page = anon_page();

	if (!page)
		return -ENOMEM;
	if (src == zero_page)
		clear_page(page_address(page));
	else
		copy_page(page_address(page), page_address(src));
	spin_lock(&mm->pt_lock);
	if (unlikely(*p != old)) {
		spin_unlock(&mm->pt_lock);
		page_put(page);
		return 0;
	}
	WRITE_ONCE(*p, 0);
	tlb_flush_page(&mm->pgt, va);
	count_mapped(mm, page);
	pte_set(p, make_entry(v, page, v->flags & VM_WRITE));
	spin_unlock(&mm->pt_lock);
	v->flags |= VM_ANON;
	if (!pte_special(old))
		count_unmapped(mm, src);
	return 0;
}

/* Nobody else can get at the page any more: acquire pairs with the release in the others' page_put. */
static bool sole_owner(struct page *page)
{
	return (page->flags & PG_ANON) && load_acquire(&page->refs.n) == 1;
}

/* The page is this mapping's alone: it may write to it. Unless truncation has just taken it away; then fault again. */
static void wp_allow(struct vma *v, uaddr va, pte *p, pte old)
{
	struct mm *mm = v->mm;

	spin_lock(&mm->pt_lock);
	if (likely(*p == old))
		pte_set(p, make_entry(v, phys_to_page(pte_phys(old)), true));
	spin_unlock(&mm->pt_lock);
	tlb_flush_page(&mm->pgt, va);
}

static int fault_write_protected(struct vma *v, uaddr va, pte *p, pte old)
{
	if (v->flags & VM_SHARED)
		return wp_shared(v, va, p, old);
	if (pte_special(old) || !sole_owner(phys_to_page(pte_phys(old))))
		return wp_copy(v, va, p, old);
	if (v->flags & VM_WRITE)
		wp_allow(v, va, p, old);
	return 0;
}

/* --- dispatch --------------------------------------------------------------------------------------------- */

int fault_in(struct vma *v, uaddr va, unsigned flags)
{
	bool write = flags & FAULT_WRITE;
	pte *p = pgt_entry(&v->mm->pgt, va, true), old;

	if (unlikely(!p))
		return -ENOMEM;
	old = READ_ONCE(*p);
	if (!pte_present(old))
		return vma_is_anon(v) ? fault_anon(v, p, write) : fault_file(v, va, p, write);
	if (write && !pte_writable(old))
		return fault_write_protected(v, va, p, old);
	/* Somebody was faster, or this CPU remembers an older entry. */
	tlb_flush_page(&v->mm->pgt, va);
	return 0;
}

int stack_grow(struct vma *v, uaddr addr)
{
	struct mm *mm = v->mm;
	struct vma *prev = vma_prev(mm, v);
	u64 grow = (v->start - addr) >> PAGE_SHIFT;
	int err;

	if (addr < USER_MIN || v->end - addr > rlimit(RLIMIT_STACK))
		return -ENOMEM;
	if (prev && !(prev->flags & VM_GROWSDOWN) && (prev->flags & VM_PROT) &&
	    addr - prev->end < STACK_GAP)
		return -ENOMEM;
	if ((v->flags & VM_LOCKED) && mm_may_lock(mm, grow))
		return -ENOMEM;
	err = mm_may_expand(mm, v->flags, grow);
	if (err)
		return err;
	v->pgoff -= grow;
	vma_resize(mm, v, addr, v->end);
	mm_account(mm, v->flags, grow);
	mm_perf_mmap(v);
	return 0;
}

/* The area that a fault at addr (page aligned) belongs to, grown if it is a stack; or NULL. */
static struct vma *fault_area(struct mm *mm, uaddr addr)
{
	struct vma *v = vma_find(mm, addr), *prev;

	if (!v || v->start <= addr)
		return v;
	prev = vma_prev(mm, v);
	if (!(v->flags & VM_GROWSDOWN) || (prev && prev->end > addr) || stack_grow(v, addr))
		return NULL;
	return v;
}

static bool fault_allowed(const struct vma *v, unsigned flags)
{
	if (flags & FAULT_EXEC)
		return v->flags & VM_EXEC;
	if (flags & FAULT_WRITE)
		return v->flags & VM_WRITE;
	return v->flags & VM_PROT;
}

static int fault_once(struct mm *mm, uaddr addr, unsigned flags, int *code)
{
	struct vma *v;
	int err, ret = SIGSEGV;

	mutex_lock(&mm->lock);
	v = fault_area(mm, addr);
	*code = SEGV_MAPERR;
	if (unlikely(!v))
		goto out;
	*code = SEGV_ACCERR;
	if (unlikely(!fault_allowed(v, flags)))
		goto out;
	err = fault_in(v, addr, flags);
	*code = BUS_ADRERR;
	ret = err == -EFAULT ? SIGBUS : err;
out:
	mm_unlock(mm);
	return ret;
}

int mm_fault(struct mm *mm, uaddr addr, unsigned flags, int *code)
{
	struct pt_regs *regs = flags & FAULT_USER ? task_pt_regs(current) : NULL;
	uaddr va = untag(addr) & PAGE_MASK;
	int ret;

	ASSERT(!in_irq() && this_cpu()->spin_depth == 0);
	perf_page_fault_any(regs, addr);
	if (va >= USER_MAX) {
		*code = SEGV_MAPERR;
		return SIGSEGV;
	}
	for (u32 try = 0; ; try++) {
		ret = fault_once(mm, va, flags, code);
		if (ret != -ENOMEM || !oom_wait(try))
			break;
	}
	if (likely(!ret)) {
		current->ru.minflt++;
		perf_page_fault(PERF_FAULT_MINOR, regs, addr);
	}
	return ret;
}

int mm_populate(struct mm *mm, uaddr start, uaddr end)
{
	struct vma *v = vma_find(mm, start);
	int err = 0;

	for (; start < end && !err; v = vma_next(mm, v)) {
		unsigned flags;
		uaddr stop;

		if (!v || v->start > start)
			return -ENOMEM;
		stop = min(end, v->end);
		flags = (v->flags & (VM_WRITE | VM_SHARED)) == VM_WRITE ? FAULT_WRITE : 0;
		if (v->flags & VM_PFNMAP)
			start = stop;
		else if (!(v->flags & VM_PROT))
			return -EFAULT;
		for (; start < stop && !err; start += PAGE_SIZE)
			err = fatal_signal_pending(current) ? -EINTR : fault_in(v, start, flags);
	}
	return err;
}
