/* SPDX-License-Identifier: MIT */
/*
 * Mappings of files whose pages live in the page cache of their inode: tmpfs, and with it shared
 * anonymous memory and memfd.
 */
#include <perch/errno.h>
#include <perch/fs.h>
#include <perch/mm.h>
#include "internal.h"

static bool beyond_end(struct inode *i, u64 pgoff)
{
	loff size = READ_ONCE(i->size);

	return size <= 0 || pgoff > (u64)(size - 1) >> PAGE_SHIFT;
}

static struct page *tmpfs_fault(struct vma *v, u64 pgoff, bool write)
{
	struct inode *i = v->file->inode;
	struct page *p;

	if (beyond_end(i, pgoff))
		return ERR_PTR(-EFAULT);
	p = tmpfs_page(i, pgoff, true);
	return IS_ERR(p) && PTR_ERR(p) != -ENOMEM ? ERR_PTR(-EFAULT) : p;	/* full: SIGBUS */
}

/* Also behind the end of the file there may be pages: not for mappings. */
static void tmpfs_cached(struct vma *v, u64 pgoff, u32 n, page_run_fn *fn, void *arg)
{
	struct inode *i = v->file->inode;
	u64 end = DIV_ROUND_UP((u64)READ_ONCE(i->size), PAGE_SIZE);

	if (pgoff < end)
		tmpfs_runs(i, pgoff, min((u64)n, end - pgoff), fn, arg);
}

static const struct vma_ops tmpfs_vma_ops = {
	.fault = tmpfs_fault,
	.cached = tmpfs_cached,
};

#define SEALED_AGAINST_WRITES	(8 | 16)	/* F_SEAL_WRITE, F_SEAL_FUTURE_WRITE */

int tmpfs_mmap(struct file *f, struct vma *v)
{
	if ((v->flags & VM_SHARED) && (f->inode->seals & SEALED_AGAINST_WRITES)) {
		if (v->flags & VM_WRITE)
			return -EPERM;
		v->flags &= ~VM_MAYWRITE;
	}
	v->ops = &tmpfs_vma_ops;
	return 0;
}
