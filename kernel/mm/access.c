/* SPDX-License-Identifier: MIT */
/*
 * Getting at the memory of an address space from the kernel without following user pointers:
 * /proc/PID/mem, cmdline and environ, process_vm_readv and writev, futex keys.
 *
 * Pages are faulted in and copied through the linear map while mm->lock is held, so the buffer on
 * the other side must be kernel memory.
 */
#include <perch/errno.h>
#include <perch/fs.h>
#include <perch/mm.h>
#include <string.h>
#include "internal.h"

static bool access_allowed(const struct vma *v, bool write, bool force)
{
	if (v->flags & VM_PFNMAP)
		return false;
	if (!write)
		return (v->flags & VM_READ) || (force && (v->flags & VM_MAYREAD));
	if (v->flags & VM_WRITE)
		return true;
	return force && (v->flags & VM_MAYWRITE) && !(v->flags & VM_SHARED);
}

/* The page of va's entry, with a reference: under pt_lock truncation does not take it away. NULL: it has. */
static struct page *entry_page(struct mm *mm, uaddr va)
{
	struct page *page = NULL;
	pte *p;

	spin_lock(&mm->pt_lock);
	p = pgt_entry(&mm->pgt, va, false);
	if (p && pte_present(*p)) {
		page = phys_to_page(pte_phys(*p));
		page_get(page);
	}
	spin_unlock(&mm->pt_lock);
	return page;
}

/* The page behind va (aligned), present and allowed, with a reference. mm->lock held. ERR_PTR. */
static struct page *page_at(struct mm *mm, uaddr va, bool write, bool force)
{
	struct vma *v = vma_at(mm, va);
	struct page *page;
	int err;

	if (!v || !access_allowed(v, write, force))
		return ERR_PTR(-EFAULT);
	err = fault_in(v, va, write ? FAULT_WRITE : 0);
	if (err)
		return ERR_PTR(err);
	page = entry_page(mm, va);
	return page ? page : ERR_PTR(-EFAULT);
}

static void copy_page_part(struct page *page, u32 off, void *buf, size_t n, bool write)
{
	char *k = (char *)page_address(page) + off;

	if (!write) {
		memcpy(buf, k, n);
		return;
	}
	memcpy(k, buf, n);
	if (page->flags & PG_ISYNC)
		icache_sync(k, n);
}

long mm_access(struct mm *mm, uaddr addr, void *buf, size_t len, bool write, bool force)
{
	size_t done = 0;
	long err = 0;

	addr = untag(addr);
	if (addr >= USER_MAX)
		return -EFAULT;
	len = min(len, (size_t)(USER_MAX - addr));
	mutex_lock(&mm->lock);
	while (done < len) {
		u32 off = (addr + done) & ~PAGE_MASK;
		size_t n = min(len - done, PAGE_SIZE - off);
		struct page *page = page_at(mm, (addr + done) & PAGE_MASK, write, force);

		if (IS_ERR(page)) {
			err = PTR_ERR(page);
			break;
		}
		copy_page_part(page, off, (char *)buf + done, n, write);
		page_put(page);
		done += n;
	}
	mm_unlock(mm);
	return done ? (long)done : err;
}

struct page *mm_get_user_page(struct mm *mm, uaddr addr, bool write)
{
	struct page *page;

	addr = untag(addr);
	if (addr >= USER_MAX)
		return ERR_PTR(-EFAULT);
	mutex_lock(&mm->lock);
	page = page_at(mm, addr & PAGE_MASK, write, false);
	mm_unlock(mm);
	return page;
}

int mm_futex_key(struct mm *mm, uaddr addr, bool shared, u64 key[2])
{
	struct vma *v;
	int err = 0;

	key[0] = (u64)mm;
	key[1] = addr;
	if (!shared)
		return 0;
	mutex_lock(&mm->lock);
	v = vma_at(mm, addr);
	if (!v || !(v->flags & VM_PROT)) {
		err = -EFAULT;
	} else if ((v->flags & VM_SHARED) && v->file) {
		key[0] = (u64)v->file->inode;
		key[1] = vma_pgoff(v, addr & PAGE_MASK) << PAGE_SHIFT | (addr & ~PAGE_MASK);
	}
	mm_unlock(mm);
	return err;
}
