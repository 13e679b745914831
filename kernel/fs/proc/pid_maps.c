/* SPDX-License-Identifier: MIT */
/*
 * /proc/PID/maps and what says more about each area: smaps, smaps_rollup, numa_maps, pagemap.
 *
 * The text is made under mm->lock, so it shows one state of the address space. Page counts come
 * from the page tables (under pt_lock, one area at a time). The kernel does not keep accessed and
 * dirty bits: every present page counts as referenced, and pages of files in memory and anonymous
 * pages as dirty, as Linux shows them for tmpfs.
 */
#include "internal.h"
#include <perch/cred.h>
#include <perch/mm.h>
#include <perch/page.h>
#include <perch/printk.h>
#include <stdlib.h>
#include <string.h>

/* --- one line of maps ----------------------------------------------------------------------- */

#define NAME_COLUMN 73

static void pad_to_name(struct textbuf *b, size_t line_start)
{
	while (b->len - line_start < NAME_COLUMN - 1 && !b->failed)
		text_puts(b, " ");
	text_puts(b, " ");
}

/* The name of an area that has no file, or NULL. */
static const char *special_name(struct vma *v)
{
	if (v->ops && v->ops->name)
		return v->ops->name(v);
	if (v->flags & VM_HEAP)
		return "[heap]";
	if (v->flags & VM_STACK)
		return "[stack]";
	return NULL;
}

static void put_file_name(struct textbuf *b, const struct path *p, char *page)
{
	char *s = path_name(p, page, PATH_MAX);

	text_escape_newline(b, IS_ERR(s) ? "(unreachable)" : s);
}

static void put_line(struct textbuf *b, struct vma *v, char *page)
{
	size_t start = b->len;
	const char *name = v->file ? NULL : special_name(v);
	u64 dev = v->file ? v->file->inode->sb->dev : 0;	/* as st_dev shows it */

	text_printf(b, "%08lx-%08lx %c%c%c%c %08lx %02x:%02x %lu", v->start, v->end,
		    v->flags & VM_READ ? 'r' : '-', v->flags & VM_WRITE ? 'w' : '-',
		    v->flags & VM_EXEC ? 'x' : '-', v->flags & VM_SHARED ? 's' : 'p',
		    v->file ? v->pgoff << PAGE_SHIFT : 0, dev_major(dev), dev_minor(dev),
		    v->file ? v->file->inode->ino : 0);
	if (v->file || name)
		pad_to_name(b, start);
	else
		text_puts(b, " ");
	if (v->file)
		put_file_name(b, &v->file->path, page);
	else if (name)
		text_puts(b, name);
	text_puts(b, "\n");
}

/* Call fn for each area of t's memory, with mm->lock held and a page for names. */
static int each_vma(struct textbuf *b, struct task *t, void *arg,
		    void (*fn)(struct textbuf *b, struct vma *v, char *page, void *arg))
{
	struct mm *mm = task_get_mm(t);
	char *page;
	struct vma *v;
	int err = 0;

	if (!mm)
		return 0;
	page = kmalloc(PATH_MAX);
	if (!page)
		err = -ENOMEM;
	else if (mutex_lock_killable(&mm->lock))
		err = -EINTR;
	if (!err) {
		list_for_each(v, &mm->vmas, node)
			fn(b, v, page, arg);
		mm_unlock(mm);
	}
	kfree(page);
	mm_put(mm);
	return err;
}

static void maps_line(struct textbuf *b, struct vma *v, char *page, void *arg)
{
	put_line(b, v, page);
}

PID_SHOW(pid_maps_show)
{
	return each_vma(b, t, NULL, maps_line);
}

/* --- counting pages ------------------------------------------------------------------------- */

struct usage {
	/* bytes */
	u64 rss, anon, shared_clean, shared_dirty, private_clean, private_dirty, locked;
	u64 pss, pss_dirty, pss_anon, pss_shmem;	/* bytes << PSS_SHIFT */
	u64 mapmax;
	bool lock_counts;		/* the area is mlocked */
};
#define PSS_SHIFT 12

static void count_page(pte *p, uaddr va, void *arg)
{
	struct usage *u = arg;
	struct page *pg;
	u64 share, n;

	if (pte_special(*p) || !phys_is_ram(pte_phys(*p)))
		return;
	pg = phys_to_page(pte_phys(*p));
	n = max(READ_ONCE(pg->mapcount), 1U);
	share = (PAGE_SIZE << PSS_SHIFT) / n;
	u->rss += PAGE_SIZE;
	u->pss += share;
	u->mapmax = max(u->mapmax, n);
	if (u->lock_counts)
		u->locked += share;
	if (pg->flags & PG_KERNEL) {
		*(n > 1 ? &u->shared_clean : &u->private_clean) += PAGE_SIZE;
		return;
	}
	*(n > 1 ? &u->shared_dirty : &u->private_dirty) += PAGE_SIZE;
	u->pss_dirty += share;
	if (pg->flags & PG_CACHE) {
		u->pss_shmem += share;
	} else {
		u->anon += PAGE_SIZE;
		u->pss_anon += share;
	}
}

static void count_area(struct vma *v, struct usage *u)
{
	u->lock_counts = v->flags & VM_LOCKED;
	if (v->flags & VM_PFNMAP)
		return;
	spin_lock(&v->mm->pt_lock);
	pgt_walk(&v->mm->pgt, v->start, v->end, count_page, u);
	spin_unlock(&v->mm->pt_lock);
}

/* --- smaps ---------------------------------------------------------------------------------- */

static void put_kb(struct textbuf *b, const char *name, u64 bytes)
{
	text_printf(b, "%-16s%8lu kB\n", name, bytes >> 10);
}

static void put_usage(struct textbuf *b, const struct usage *u, bool rollup)
{
	put_kb(b, "Rss:", u->rss);
	put_kb(b, "Pss:", u->pss >> PSS_SHIFT);
	put_kb(b, "Pss_Dirty:", u->pss_dirty >> PSS_SHIFT);
	if (rollup) {
		put_kb(b, "Pss_Anon:", u->pss_anon >> PSS_SHIFT);
		put_kb(b, "Pss_File:", (u->pss - u->pss_anon - u->pss_shmem) >> PSS_SHIFT);
		put_kb(b, "Pss_Shmem:", u->pss_shmem >> PSS_SHIFT);
	}
	put_kb(b, "Shared_Clean:", u->shared_clean);
	put_kb(b, "Shared_Dirty:", u->shared_dirty);
	put_kb(b, "Private_Clean:", u->private_clean);
	put_kb(b, "Private_Dirty:", u->private_dirty);
	put_kb(b, "Referenced:", u->rss);
	put_kb(b, "Anonymous:", u->anon);
	for (const char *const *z = (const char *const[]){ "KSM:", "LazyFree:", "AnonHugePages:",
	     "ShmemPmdMapped:", "FilePmdMapped:", "Shared_Hugetlb:", "Private_Hugetlb:", "Swap:",
	     "SwapPss:", NULL }; *z; z++)
		put_kb(b, *z, 0);	/* Perch has no such pages */
	put_kb(b, "Locked:", u->locked >> PSS_SHIFT);
}

static void put_vm_flags(struct textbuf *b, u32 flags)
{
	static const struct { u32 bit; char name[4]; } names[] = {
		{ VM_READ, "rd" }, { VM_WRITE, "wr" }, { VM_EXEC, "ex" }, { VM_SHARED, "sh" },
		{ VM_MAYREAD, "mr" }, { VM_MAYWRITE, "mw" }, { VM_MAYEXEC, "me" },
		{ VM_GROWSDOWN, "gd" }, { VM_PFNMAP, "pf" }, { VM_LOCKED, "lo" },
		{ VM_DONTCOPY, "dc" }, { VM_DONTEXPAND, "de" }, { VM_NORESERVE, "nr" },
		{ VM_WIPEONFORK, "wf" },
	};

	text_puts(b, "VmFlags: ");
	for (size_t k = 0; k < ARRAY_SIZE(names); k++)
		if (flags & names[k].bit)
			text_printf(b, "%s ", names[k].name);
	if ((flags & VM_WRITE) && !(flags & (VM_SHARED | VM_NORESERVE)))
		text_puts(b, "ac ");
	text_puts(b, "\n");
}

static void smaps_area(struct textbuf *b, struct vma *v, char *page, void *arg)
{
	struct usage u = { 0 };

	count_area(v, &u);
	put_line(b, v, page);
	put_kb(b, "Size:", v->end - v->start);
	put_kb(b, "KernelPageSize:", PAGE_SIZE);
	put_kb(b, "MMUPageSize:", PAGE_SIZE);
	put_usage(b, &u, false);
	text_puts(b, "THPeligible:           0\n");
	put_vm_flags(b, v->flags);
}

PID_SHOW(pid_smaps_show)
{
	return each_vma(b, t, NULL, smaps_area);
}

struct rollup { struct usage u; uaddr start, end; };

static void rollup_area(struct textbuf *b, struct vma *v, char *page, void *arg)
{
	struct rollup *r = arg;

	if (!r->end)
		r->start = v->start;
	r->end = v->end;
	count_area(v, &r->u);
}

PID_SHOW(pid_smaps_rollup_show)
{
	struct rollup r = { 0 };
	int err = each_vma(b, t, &r, rollup_area);
	size_t start = b->len;

	if (err)
		return err;
	if (!r.end)
		return -ESRCH;
	text_printf(b, "%08lx-%08lx ---p 00000000 00:00 0", r.start, r.end);
	pad_to_name(b, start);
	text_puts(b, "[rollup]\n");
	put_usage(b, &r.u, true);
	return 0;
}

static void numa_area(struct textbuf *b, struct vma *v, char *page, void *arg)
{
	struct usage u = { 0 };
	const char *name = special_name(v);
	u64 dirty;

	count_area(v, &u);
	dirty = (u.shared_dirty + u.private_dirty) >> PAGE_SHIFT;
	text_printf(b, "%08lx default", v->start);
	if (v->file) {
		text_puts(b, " file=");
		put_file_name(b, &v->file->path, page);
	} else if (name && (v->flags & (VM_HEAP | VM_STACK))) {
		text_puts(b, v->flags & VM_HEAP ? " heap" : " stack");
	}
	if (u.rss && dirty) {	/* the kernel's own pages are not counted here */
		if (u.anon)
			text_printf(b, " anon=%lu", u.anon >> PAGE_SHIFT);
		if (dirty)
			text_printf(b, " dirty=%lu", dirty);
		if (u.mapmax > 1)
			text_printf(b, " mapmax=%lu", u.mapmax);
		text_printf(b, " N0=%lu kernelpagesize_kB=4", u.rss >> PAGE_SHIFT);
	}
	text_puts(b, "\n");
}

PID_SHOW(pid_numa_maps_show)
{
	return each_vma(b, t, NULL, numa_area);
}

/* Value 5 resets the peak RSS. The others clear accessed and soft-dirty bits, which Perch does not
 * keep. */
PID_STORE(pid_clear_refs_store)
{
	struct mm *mm;
	char *end;

	if (strtoul(buf, &end, 10) != 5 || (*end && *end != '\n'))
		return -EINVAL;
	mm = task_get_mm(t);
	if (mm) {
		mm->hiwater_rss = (u64)max(mm->rss_anon + mm->rss_file + mm->rss_shmem, (s64)0);
		mm_put(mm);
	}
	return (ssize_t)len;
}

/* --- pagemap: a u64 per page ---------------------------------------------------------------- */

#define PM_EXCLUSIVE	BIT(56)
#define PM_FILE		BIT(61)
#define PM_PRESENT	BIT(63)
#define PM_FRAME	(BIT(55) - 1)

static u64 pagemap_entry(struct mm *mm, uaddr va, bool show_frame)
{
	pte *p, v = 0;
	struct page *pg;
	u64 e;

	spin_lock(&mm->pt_lock);
	p = pgt_entry(&mm->pgt, va, false);
	if (p)
		v = *p;
	spin_unlock(&mm->pt_lock);
	if (!pte_present(v))
		return 0;
	e = PM_PRESENT | (show_frame ? (pte_phys(v) >> PAGE_SHIFT) & PM_FRAME : 0);
	if (pte_special(v) || !phys_is_ram(pte_phys(v)))
		return e | PM_FILE;
	pg = phys_to_page(pte_phys(v));
	if (pg->flags & (PG_CACHE | PG_KERNEL))
		e |= PM_FILE;
	if (READ_ONCE(pg->mapcount) <= 1)
		e |= PM_EXCLUSIVE;
	return e;
}

static ssize_t pagemap_fill(struct mm *mm, struct uio *u, loff *pos)
{
	bool show_frame = capable(CAP_SYS_ADMIN);
	ssize_t done = 0;
	u64 chunk[64];

	while (u->left && (u64)*pos < (USER_MAX >> PAGE_SHIFT) * 8) {
		size_t n = min(u->left / 8, ARRAY_SIZE(chunk));

		if (mutex_lock_killable(&mm->lock))
			return done ? done : -EINTR;
		for (size_t k = 0; k < n; k++)
			chunk[k] = pagemap_entry(mm, ((u64)*pos / 8 + k) << PAGE_SHIFT, show_frame);
		mm_unlock(mm);
		if (uio_write(u, chunk, n * 8) != n * 8)
			return done ? done : -EFAULT;
		*pos += (loff)(n * 8);
		done += (ssize_t)(n * 8);
	}
	return done;
}

static ssize_t pagemap_read(struct file *f, struct uio *u, loff *pos)
{
	struct task *t = pnode_task(f->inode);
	struct mm *mm = t && ptrace_may_access(t) ? task_get_mm(t) : NULL;
	ssize_t ret = 0;

	if (t)
		task_put(t);
	if (!mm)
		return 0;
	if (*pos < 0 || *pos % 8 || u->left % 8)
		ret = -EINVAL;
	else
		ret = pagemap_fill(mm, u, pos);
	mm_put(mm);
	return ret;
}

static int pagemap_open(struct inode *i, struct file *f)
{
	struct task *t = pnode_task(i);
	int err = !t ? -ESRCH : ptrace_may_access(t) ? 0 : -EACCES;

	if (t)
		task_put(t);
	return err;
}

const struct file_ops pid_pagemap_fops = {
	.open = pagemap_open,
	.read = pagemap_read,
	.llseek = text_llseek,
};
