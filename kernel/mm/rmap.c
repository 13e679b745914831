/* SPDX-License-Identifier: MIT */
/*
 * From a file to the areas that map it, for truncation: a small hash table of lists.
 *
 * Truncation removes pages from the file's cache, then calls mm_unmap_file, which moves the
 * bucket's sequence number on and clears entries under each address space's pt_lock. A fault reads
 * the number before it asks for the page and again after its entry is in place:
 *
 *	fault: seq -> page from cache -> entry (pt_lock) -> seq changed? clear and fault again
 *	truncate: page out of cache -> seq+1 -> clear entries (pt_lock)
 *
 * If truncation came to the entry first, its seq+1 is visible to the fault (through pt_lock); if
 * not, it finds the entry.
 *
 * Lock order: bucket lock -> pt_lock. start, end and pgoff of file areas change under mm->lock and
 * the bucket lock, so either suffices to read them.
 */
#include <perch/fs.h>
#include <perch/mm.h>
#include "internal.h"

#define BUCKETS 64

static struct bucket {
	spinlock lock;
	u32 seq;		/* lock to write */
	struct list areas;	/* lock; next NULL: never used */
} __aligned(64) buckets[BUCKETS];

static struct bucket *bucket_of(const struct inode *i)
{
	return &buckets[((u64)i >> 6 ^ (u64)i >> 12) % BUCKETS];
}

void rmap_add(struct vma *v)
{
	struct bucket *b = bucket_of(v->file->inode);

	spin_lock(&b->lock);
	if (!b->areas.next)
		list_init(&b->areas);
	list_add_tail(&v->rmap_node, &b->areas);
	spin_unlock(&b->lock);
}

void rmap_del(struct vma *v)
{
	struct bucket *b = bucket_of(v->file->inode);

	spin_lock(&b->lock);
	list_del(&v->rmap_node);
	spin_unlock(&b->lock);
}

void rmap_resize(struct vma *v, uaddr start, uaddr end)
{
	struct bucket *b = v->file ? bucket_of(v->file->inode) : NULL;

	if (b)
		spin_lock(&b->lock);
	v->start = start;
	v->end = end;
	if (b)
		spin_unlock(&b->lock);
}

u32 rmap_seq(const struct vma *v)
{
	return load_acquire(&bucket_of(v->file->inode)->seq);
}

static void unmap_part(struct vma *v, u64 first, u64 last, bool cows)
{
	u64 from = max(first, v->pgoff), to = min(last, v->pgoff + vma_pages(v));
	uaddr start, end;

	if (from >= to || (v->flags & VM_PFNMAP))
		return;
	start = v->start + ((from - v->pgoff) << PAGE_SHIFT);
	end = v->start + ((to - v->pgoff) << PAGE_SHIFT);
	if (cows)
		mm_zap(v->mm, start, end);
	else
		mm_zap_file_pages(v->mm, start, end);
}

void mm_unmap_file(struct inode *i, u64 first, u64 nr, bool cows)
{
	struct bucket *b = bucket_of(i);
	u64 last = first + nr < first ? ~0UL : first + nr;
	struct vma *v;

	spin_lock(&b->lock);
	WRITE_ONCE(b->seq, b->seq + 1);
	if (b->areas.next)
		list_for_each(v, &b->areas, rmap_node)
			if (v->file->inode == i)
				unmap_part(v, first, last, cows);
	spin_unlock(&b->lock);
}

bool mm_file_mapped_writable(struct inode *i)
{
	struct bucket *b = bucket_of(i);
	bool found = false;
	struct vma *v;

	spin_lock(&b->lock);
	if (b->areas.next)
		list_for_each(v, &b->areas, rmap_node)
			if (v->file->inode == i && (v->flags & VM_SHARED) && (v->flags & VM_MAYWRITE))
				found = true;
	spin_unlock(&b->lock);
	return found;
}
