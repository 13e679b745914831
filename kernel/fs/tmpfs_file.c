/* SPDX-License-Identifier: MIT */
/*
 * The contents of tmpfs files: reading, writing, holes, preallocation, truncation, and the seals of
 * memfd that forbid some of it.
 */
#include "internal.h"

#include <perch/mm.h>
#include <perch/signal.h>
#include <string.h>

/* --- size and seals ------------------------------------------------------------------------ */

#define F_SEAL_SEAL	1
#define F_SEAL_SHRINK	2
#define F_SEAL_GROW	4
#define F_SEAL_WRITE	8
#define F_SEAL_FUTURE_WRITE 16
#define F_SEAL_EXEC	32

/* Zero what is behind the end in the last page, so that growing again shows zeros. */
static void zero_tail(struct inode *i, loff size)
{
	struct page *p = tmpfs_page(i, size >> PAGE_SHIFT, false);
	u64 off = size & ~PAGE_MASK;

	if (!p)
		return;
	memset((char *)page_address(p) + off, 0, PAGE_SIZE - off);
	page_put(p);
}

int tmpfs_truncate(struct inode *i, loff size)
{
	if (((i->seals & F_SEAL_SHRINK) && size < i->size) ||
	    ((i->seals & F_SEAL_GROW) && size > i->size))
		return -EPERM;
	if (size <= i->size) {	/* equal: a write that failed or fallocate may have left pages behind the end */
		u64 first = DIV_ROUND_UP((u64)size, PAGE_SIZE);

		WRITE_ONCE(i->size, size);
		pagecache_truncate(i, first);
		mm_unmap_file(i, first, UINT64_MAX, true);
		if (size & ~PAGE_MASK)
			zero_tail(i, size);
	}
	WRITE_ONCE(i->size, size);
	i->mtime = i->ctime = fs_now();
	return 0;
}

int tmpfs_add_seals(struct file *f, u32 seals)
{
	struct inode *i = f->inode;
	int err = 0;

	if (!(f->mode & FMODE_WRITE))
		return -EPERM;
	if (seals & ~0x3fU)
		return -EINVAL;
	mutex_lock(&i->lock);
	if (i->seals & F_SEAL_SEAL)
		err = -EPERM;
	else if ((seals & F_SEAL_WRITE) && !(i->seals & F_SEAL_WRITE) && mm_file_mapped_writable(i))
		err = -EBUSY;
	else
		i->seals |= seals;
	mutex_unlock(&i->lock);
	return err;
}

/* --- reading and writing ------------------------------------------------------------------- */

static ssize_t tmpfs_read(struct file *f, struct uio *u, loff *pos)
{
	struct inode *i = f->inode;
	loff start = *pos;

	while (u->left && !u->fault) {
		loff size = READ_ONCE(i->size);
		u64 off = *pos & ~PAGE_MASK;
		size_t n, moved;
		struct page *p;

		if (*pos >= size)
			break;
		n = min_t(u64, min_t(u64, PAGE_SIZE - off, size - *pos), u->left);
		p = tmpfs_page(i, *pos >> PAGE_SHIFT, false);
		if (p) {
			moved = uio_write(u, (char *)page_address(p) + off, n);
			page_put(p);
		} else {
			moved = uio_zero(u, n);
		}
		*pos += moved;
	}
	if (!(f->flags & O_NOATIME) && !(f->path.mnt->flags & MS_NOATIME))
		i->atime = fs_now();
	if (*pos == start && u->fault)
		return -EFAULT;
	return *pos - start;
}

/* One page's worth. Bytes moved, or -errno. */
static ssize_t write_chunk(struct inode *i, struct uio *u, loff pos)
{
	u64 off = pos & ~PAGE_MASK;
	size_t n = min_t(size_t, PAGE_SIZE - off, u->left), moved;
	struct page *p;
	int err;

	/* Zeroed also if it will be overwritten as a whole: others see it before it is, and the copy may fault. */
	p = pagecache_get(i, pos >> PAGE_SHIFT, true, true, &err);
	if (!p)
		return err;
	moved = uio_read(u, (char *)page_address(p) + off, n);
	if (p->flags & PG_ISYNC)
		atomic_and(&p->flags, (u8)~PG_ISYNC);
	page_put(p);
	return moved ? (ssize_t)moved : -EFAULT;
}

static ssize_t write_pages(struct inode *i, struct uio *u, loff *pos)
{
	ssize_t total = 0, n = 0;

	while (u->left) {
		if (*pos == MAX_FILE_SIZE)
			n = -EFBIG;
		else
			n = write_chunk(i, u, *pos);
		if (n < 0)
			break;
		*pos += n;
		total += n;
		if (*pos > i->size)
			WRITE_ONCE(i->size, *pos);
		if (u->fault)
			break;
	}
	return total ? total : n;
}

/* RLIMIT_FSIZE and the largest size: shorten the write, or -EFBIG when nothing fits. */
static int limit_write(struct file *f, struct uio *u, loff pos)
{
	u64 limit = current->proc ? current->proc->rlim[1].cur : UINT64_MAX;

	if ((u64)pos >= limit) {
		send_signal_task(current, SIGXFSZ, NULL);
		return -EFBIG;
	}
	u->left = min_t(u64, u->left, min_t(u64, limit - pos, MAX_FILE_SIZE - pos));
	return u->left ? 0 : -EFBIG;
}

static int check_seals(const struct inode *i, const struct uio *u, loff pos)
{
	if (likely(!i->seals))
		return 0;
	if (i->seals & (F_SEAL_WRITE | F_SEAL_FUTURE_WRITE))
		return -EPERM;
	return (i->seals & F_SEAL_GROW) && pos + (loff)u->left > i->size ? -EPERM : 0;
}

static ssize_t tmpfs_write(struct file *f, struct uio *u, loff *pos)
{
	struct inode *i = f->inode;
	ssize_t ret;

	if (!u->left)
		return 0;
	mutex_lock(&i->lock);
	if (f->flags & O_APPEND)
		*pos = i->size;
	ret = limit_write(f, u, *pos);
	if (!ret)
		ret = check_seals(i, u, *pos);
	if (!ret) {
		inode_strip_suid(i);
		ret = write_pages(i, u, pos);
	}
	if (ret > 0)
		i->mtime = i->ctime = fs_now();
	mutex_unlock(&i->lock);
	return ret;
}

static loff tmpfs_llseek(struct file *f, loff off, int whence)
{
	struct inode *i = f->inode;
	loff size = READ_ONCE(i->size);
	u64 page;

	if ((whence != SEEK_DATA && whence != SEEK_HOLE) || off < 0 || off >= size)
		return generic_llseek(f, off, whence, size);
	page = pagecache_next(i, off >> PAGE_SHIFT, whence == SEEK_HOLE);
	if (page > (u64)size >> PAGE_SHIFT || (page << PAGE_SHIFT) >= size) {
		if (whence == SEEK_DATA)
			return -ENXIO;
		f->pos = size;
	} else {
		f->pos = max_t(loff, off, page << PAGE_SHIFT);
	}
	return f->pos;
}

/* Zero [from, to), which lies within one page, if that page is there. */
static void zero_part(struct inode *i, loff from, loff to)
{
	struct page *p = from < to ? tmpfs_page(i, from >> PAGE_SHIFT, false) : NULL;

	if (!p)
		return;
	memset((char *)page_address(p) + (from & ~PAGE_MASK), 0, to - from);
	page_put(p);
}

/* Partial pages at both ends are zeroed, whole ones between them go. */
static int punch_hole(struct inode *i, loff off, loff end)
{
	u64 first = DIV_ROUND_UP((u64)off, PAGE_SIZE), last = (u64)end >> PAGE_SHIFT;

	if (i->seals & (F_SEAL_WRITE | F_SEAL_FUTURE_WRITE))
		return -EPERM;
	if (first > last) {		/* both ends in one page */
		zero_part(i, off, end);
		return 0;
	}
	zero_part(i, off, first << PAGE_SHIFT);
	zero_part(i, last << PAGE_SHIFT, end);
	if (first < last) {
		pagecache_remove(i, first, last - 1);
		mm_unmap_file(i, first, last - first, false);
	}
	return 0;
}

/* All or nothing, as on Linux: what was made before the first failure goes again, unless somebody uses it. */
static int prepare_pages(struct inode *i, u64 first, u64 last)
{
	int err = 0;
	u64 k;

	for (k = first; k <= last && !err; k++) {
		err = pagecache_prepare(i, k);
		if (!err && fatal_signal_pending(current))
			err = -EINTR;
		cond_resched();
	}
	if (err)
		pagecache_unprepare(i, first, k - 1);
	return err;
}

static int preallocate(struct inode *i, loff off, loff end, bool keep_size)
{
	int err;

	if ((i->seals & F_SEAL_GROW) && end > i->size)
		return -EPERM;
	if (i->sb->max_pages && (u64)(end - off) >> PAGE_SHIFT > i->sb->max_pages)
		return -ENOSPC;
	err = prepare_pages(i, off >> PAGE_SHIFT, (u64)(end - 1) >> PAGE_SHIFT);
	if (err)
		return err;
	if (!keep_size && end > i->size)
		WRITE_ONCE(i->size, end);
	i->ctime = fs_now();
	return 0;
}

static int tmpfs_fallocate(struct file *f, int mode, loff off, loff len)
{
	struct inode *i = f->inode;
	int err;

	mutex_lock(&i->lock);
	err = mode & 2 ? punch_hole(i, off, off + len) : preallocate(i, off, off + len, mode & 1);
	mutex_unlock(&i->lock);
	return err;
}

int tmpfs_fsync(struct file *f)
{
	return 0;
}

const struct file_ops tmpfs_file_ops = {
	.read = tmpfs_read, .write = tmpfs_write, .llseek = tmpfs_llseek, .mmap = tmpfs_mmap,
	.fsync = tmpfs_fsync, .fallocate = tmpfs_fallocate,
};
