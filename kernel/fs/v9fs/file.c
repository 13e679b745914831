/* SPDX-License-Identifier: MIT */
/*
 * Open files of the host: each has a fid of its own, in file->priv. Data is not cached: read and
 * write move it between the user's memory and the server.
 *
 * Mappings are for reading, private ones also for writing: a fault reads the page, and each mapping
 * has its own copy of it, as of then. Shared writable ones are refused with EINVAL, as
 * Linux refuses them on a 9P mount without a cache. (Linux there refuses every shared mapping of a file that is
 * open for writing; here one for reading is allowed, for `perf record -o /mnt/perf.data` wants it.)
 */
#include "v9fs.h"

#include <perch/mm.h>
#include <perch/signal.h>
#include <string.h>

static u32 file_fid(const struct file *f)
{
	return (u32)(u64)f->priv;
}

static int v9_open(struct inode *i, struct file *f)
{
	struct p9 *c = v9_client(i);
	u32 flags = f->flags & (O_ACCMODE | O_APPEND | O_DSYNC | O_SYNC), fid = P9_NOFID;
	int err = 0;

	if (!(flags & O_APPEND))
		fid = atomic_xchg(&v9_node(i)->fresh, P9_NOFID);
	if (fid == P9_NOFID) {
		err = v9_walk(c, v9_node(i)->fid, NULL, &fid);
		if (err)
			return err;
		err = p9_open(c, fid, flags);
		if (err)
			p9_clunk(c, fid);
	}
	f->priv = (void *)(u64)fid;
	return err;
}

static void v9_release(struct file *f)
{
	p9_clunk(v9_client(f->inode), file_fid(f));
}

static int v9_fsync(struct file *f)
{
	return p9_fsync(v9_client(f->inode), file_fid(f));
}

/* --- data ---------------------------------------------------------------------------------- */

typedef ssize_t (*io_fn)(struct p9 *c, u32 fid, u64 off, struct uio *u, size_t n);

/* One message after the other until u is done, the file ends or something goes wrong; what was
 * moved before an error counts. */
static ssize_t move(struct file *f, struct uio *u, loff *pos, io_fn one)
{
	struct p9 *c = v9_client(f->inode);
	ssize_t done = 0, n = 0;

	while (u->left && !u->fault && !fatal_signal_pending(current)) {
		size_t want = min_t(size_t, u->left, c->max_io);

		n = one(c, file_fid(f), *pos, u, want);
		if (n <= 0)
			break;
		*pos += n;
		done += n;
		if ((size_t)n < want)
			break;
	}
	return done ? done : n;
}

static ssize_t v9_read(struct file *f, struct uio *u, loff *pos)
{
	return move(f, u, pos, p9_read);
}

/* The server appends by itself (the fid was opened so): it went to where the file ends now. */
static ssize_t v9_write(struct file *f, struct uio *u, loff *pos)
{
	struct inode *i = f->inode;
	ssize_t ret;

	mutex_lock(&i->lock);
	ret = move(f, u, pos, p9_write);
	if (ret > 0) {
		v9_refresh(i, NULL);
		if (f->flags & O_APPEND)
			*pos = i->size;
	}
	mutex_unlock(&i->lock);
	return ret;
}

static loff v9_llseek(struct file *f, loff off, int whence)
{
	if (whence != SEEK_SET && whence != SEEK_CUR)
		v9_refresh(f->inode, NULL);
	return generic_llseek(f, off, whence, READ_ONCE(f->inode->size));
}

/* --- mappings ------------------------------------------------------------------------------ */

static struct page *v9_fault(struct vma *v, u64 pgoff, bool write)
{
	struct page *page = alloc_page_user();
	ssize_t n;

	if (!page)
		return ERR_PTR(-ENOMEM);
	n = p9_read_page(v9_client(v->file->inode), file_fid(v->file), pgoff << PAGE_SHIFT, page);
	if (n > 0)
		return page;
	page_put(page);
	return ERR_PTR(n == -ENOMEM ? n : -EFAULT);	/* behind the end, unreadable: SIGBUS */
}

static const struct vma_ops v9_vma_ops = { .fault = v9_fault };

static int v9_mmap(struct file *f, struct vma *v)
{
	if ((v->flags & VM_SHARED) && (v->flags & VM_WRITE))
		return -EINVAL;
	if (v->flags & VM_SHARED)
		v->flags &= ~VM_MAYWRITE;
	v->ops = &v9_vma_ops;
	return 0;
}

const struct file_ops v9_file_ops = {
	.read = v9_read, .write = v9_write, .llseek = v9_llseek, .open = v9_open,
	.release = v9_release, .fsync = v9_fsync, .mmap = v9_mmap,
};

/* --- directories --------------------------------------------------------------------------- */

#define ENTRY_HEAD 24		/* qid[13] cookie[8] type[1] len[2] */

/* One entry at p, of at most left bytes; its length, 0: stop. */
static u32 emit_entry(struct readdir_ctx *ctx, const u8 *p, u32 left)
{
	u64 ino, next;
	u16 len;

	if (left < ENTRY_HEAD)
		return 0;
	memcpy(&ino, p + 5, sizeof(ino));
	memcpy(&next, p + 13, sizeof(next));
	memcpy(&len, p + 22, sizeof(len));
	if (left < ENTRY_HEAD + len ||
	    !readdir_emit(ctx, (const char *)p + ENTRY_HEAD, len, next, ino, p[21]))
		return 0;
	return ENTRY_HEAD + len;
}

/* readdir_emit moves f->pos on to the cookie behind each entry. */
static int v9_iterate(struct file *f, struct readdir_ctx *ctx)
{
	struct page *page = alloc_page_user();
	bool more = page;
	ssize_t n = page ? 0 : -ENOMEM;

	while (more) {
		const u8 *p = page_address(page);
		u32 at = 0, len;

		n = p9_readdir(v9_client(f->inode), file_fid(f), f->pos, page);
		more = n > 0;
		while (more && at < n) {
			len = emit_entry(ctx, p + at, n - at);
			at += len;
			more = len;
		}
	}
	if (page)
		page_put(page);
	return n < 0 ? n : 0;
}

static loff v9_dir_llseek(struct file *f, loff off, int whence)
{
	if (whence != SEEK_SET && whence != SEEK_CUR)
		return -EINVAL;
	return generic_llseek(f, off, whence, 0);
}

const struct file_ops v9_dir_ops = {
	.iterate = v9_iterate, .llseek = v9_dir_llseek, .open = v9_open, .release = v9_release,
	.fsync = v9_fsync,
};
