/* SPDX-License-Identifier: MIT */
/*
 * Moving data between files without a user buffer: sendfile, copy_file_range, splice, tee,
 * vmsplice. Between two pipes whole pages change hands; everything else is a read and a write
 * through a kernel buffer. What could not be written goes back to the front of the pipe, so nothing
 * is lost.
 */
#include "internal.h"

#include "pipe.h"
#include <perch/signal.h>

#define CHUNK		65536UL
#define SPLICE_MOVE	1
#define SPLICE_NONBLOCK	2
#define SPLICE_MORE	4
#define SPLICE_GIFT	8
#define SPLICE_ALL	15

static int get_off(uaddr uoff, loff *off)
{
	if (copy_from_user(off, (void __user *)uoff, sizeof(*off)))
		return -EFAULT;
	return *off < 0 ? -EINVAL : 0;
}

static int put_off(uaddr uoff, loff off)
{
	return uoff && copy_to_user((void __user *)uoff, &off, sizeof(off)) ? -EFAULT : 0;
}

/* Write n bytes at *pos, or at the file's own position when pos is NULL. */
static ssize_t write_at(struct file *f, void *buf, size_t n, loff *pos)
{
	struct uio u;

	uio_init_kernel(&u, buf, n);
	return pos ? file_write(f, &u, pos) : file_rw_pos(f, &u, true);
}

/* --- file to file ---------------------------------------------------------------------------- */

/* Copy until count, the end of in, or a short write. *ipos advances by what was written. */
static ssize_t copy_loop(struct file *in, loff *ipos, struct file *out, loff *opos, size_t count)
{
	char *buf = kmalloc(CHUNK);
	ssize_t total = 0, n = 0, w = 0;

	if (!buf)
		return -ENOMEM;
	while ((size_t)total < count && w == n) {
		n = file_read_kernel(in, buf, min_t(size_t, count - total, CHUNK), *ipos);
		if (n <= 0)
			break;
		w = write_at(out, buf, n, opos);
		if (w < 0) {
			n = w;
			break;
		}
		total += w;
		*ipos += w;
		if (signal_pending(current)) {
			n = -ERESTARTSYS;
			break;
		}
		cond_resched();
	}
	kfree(buf);
	return total ? total : n;
}

static ssize_t do_sendfile(struct file *out, struct file *in, uaddr uoff, size_t count)
{
	loff pos = 0;
	ssize_t ret = 0;

	if (!(in->mode & FMODE_READ) || !(out->mode & FMODE_WRITE))
		return -EBADF;
	if (uoff) {
		if (in->mode & FMODE_NOPOS)
			return -ESPIPE;
		ret = get_off(uoff, &pos);
	}
	if (ret)
		return ret;
	if ((in->mode & FMODE_NOPOS) || !in->ops->read || (out->flags & O_APPEND))
		return -EINVAL;
	if (uoff) {
		ret = copy_loop(in, &pos, out, NULL, count);
		return put_off(uoff, pos) ? -EFAULT : ret;
	}
	if (in == out)		/* its position cannot be two things at once */
		return -EINVAL;
	/* Not held over the copy, which takes out's: two calls that copy in both directions would each
	 * wait for the other. */
	mutex_lock(&in->pos_lock);
	pos = in->pos;
	mutex_unlock(&in->pos_lock);
	ret = copy_loop(in, &pos, out, NULL, count);
	mutex_lock(&in->pos_lock);
	in->pos = pos;
	mutex_unlock(&in->pos_lock);
	return ret;
}

long sys_sendfile(int out_fd, int in_fd, uaddr uoff, size_t count)
{
	struct file *in = fd_get_io(in_fd), *out = fd_get_io(out_fd);
	long ret = -EBADF;

	if (in && out)
		ret = do_sendfile(out, in, uoff, min_t(size_t, count, MAX_RW_COUNT));
	file_put(in);
	file_put(out);
	return ret;
}

static int check_copy(struct file *in, loff ipos, struct file *out, loff opos, size_t len)
{
	if (S_ISDIR(in->inode->mode) || S_ISDIR(out->inode->mode))
		return -EISDIR;
	if (!S_ISREG(in->inode->mode) || !S_ISREG(out->inode->mode))
		return -EINVAL;
	if (!(in->mode & FMODE_READ) || !(out->mode & FMODE_WRITE) || (out->flags & O_APPEND))
		return -EBADF;
	if (in->inode->sb != out->inode->sb)
		return -EXDEV;
	if (ipos < 0 || opos < 0 || (loff)(ipos + len) < ipos || (loff)(opos + len) < opos)
		return -EOVERFLOW;
	if (in->inode == out->inode && ipos < opos + (loff)len && opos < ipos + (loff)len)
		return -EINVAL;
	return 0;
}

static ssize_t copy_range(struct file *in, uaddr uin, struct file *out, uaddr uout, size_t len)
{
	loff ipos = in->pos, opos = out->pos;
	ssize_t ret = uin ? get_off(uin, &ipos) : 0;

	if (!ret && uout)
		ret = get_off(uout, &opos);
	if (!ret)
		ret = check_copy(in, ipos, out, opos, len);
	if (ret)
		return ret;
	ret = copy_loop(in, &ipos, out, &opos, len);
	if (ret <= 0)
		return ret;
	if (!uin)
		in->pos = ipos;
	if (!uout)
		out->pos = opos;
	return put_off(uin, ipos) || put_off(uout, opos) ? -EFAULT : ret;
}

long sys_copy_file_range(int in_fd, uaddr uin, int out_fd, uaddr uout, size_t len, u32 flags)
{
	struct file *in = fd_get_io(in_fd), *out = fd_get_io(out_fd);
	long ret = -EBADF;

	if (in && out)
		ret = flags ? -EINVAL : copy_range(in, uin, out, uout, min_t(size_t, len,
									     MAX_RW_COUNT));
	file_put(in);
	file_put(out);
	return ret;
}

/* --- splice ---------------------------------------------------------------------------------- */

static bool nonblocking(struct file *f, u32 flags)
{
	return (flags & SPLICE_NONBLOCK) || (f->flags & O_NONBLOCK);
}

/* Pages of one pipe to another; copy: they stay in the first one, too (tee). */
static ssize_t pipe_to_pipe(struct file *in, struct file *out, size_t len, u32 flags, bool copy)
{
	struct pipe *from = pipe_of(in), *to = pipe_of(out);
	ssize_t total = 0;
	long err = 0;

	if (from == to)
		return -EINVAL;
	for (u32 skip = 0; (size_t)total < len; skip += copy) {
		struct pipe_buf b;

		err = pipe_take(from, &b, len - total, copy, skip, total || nonblocking(in, flags));
		if (err)
			break;
		err = pipe_give(to, &b, total || nonblocking(out, flags));
		if (err) {
			if (copy)
				pipe_buf_put(&b);
			else
				pipe_put_back(from, &b);
			break;
		}
		total += b.len;
	}
	return total || err == 1 ? total : err;
}

static ssize_t pipe_to_file(struct file *in, struct file *out, loff *opos, size_t len, u32 flags)
{
	struct pipe *from = pipe_of(in);
	ssize_t total = 0;
	long err = 0;

	while ((size_t)total < len) {
		struct pipe_buf b;
		ssize_t w;

		err = pipe_take(from, &b, len - total, false, 0, total || nonblocking(in, flags));
		if (err)
			break;
		w = write_at(out, b.data + b.off, b.len, opos);
		if (w > 0) {
			total += w;
			b.off += w;
			b.len -= w;
		}
		if (!b.len) {
			pipe_buf_put(&b);
			continue;
		}
		pipe_put_back(from, &b);
		err = w < 0 ? w : 0;
		break;
	}
	return total || err == 1 ? total : err;
}

static ssize_t file_to_pipe(struct file *in, loff *ipos, struct file *out, size_t len, u32 flags)
{
	struct page *page = alloc_page_user();
	ssize_t n;
	long room = page ? pipe_await_room(pipe_of(out), nonblocking(out, flags)) : -ENOMEM;
	struct uio u;

	if (room <= 0) {
		if (page)
			page_put(page);
		if (!room)
			send_signal_task(current, SIGPIPE, NULL);
		return room ? room : -EPIPE;
	}
	uio_init_kernel(&u, page_address(page), min_t(size_t, len, PAGE_SIZE));
	n = ipos ? file_read(in, &u, ipos) : file_rw_pos(in, &u, false);
	if (n > 0) {
		struct pipe_buf b = { page_address(page), 0, n, false, false };
		long err = pipe_give(pipe_of(out), &b, false);

		if (!err)
			return n;
		n = err;
	}
	page_put(page);
	return n;
}

/* File to pipe, page by page; once something has moved, a full pipe ends it. */
static ssize_t fill_pipe(struct file *in, loff *ipos, struct file *out, size_t len, u32 flags)
{
	ssize_t total = 0, n = 0;

	while ((size_t)total < len) {
		/* A stream may have nothing more for now: one piece of it is enough. */
		if (total && (in->mode & FMODE_NOPOS))
			break;
		n = file_to_pipe(in, ipos, out, len - total, total ? SPLICE_NONBLOCK : flags);
		if (n <= 0)
			break;
		total += n;
	}
	return total ? total : n;
}

static ssize_t do_splice(struct file *in, uaddr uin, struct file *out, uaddr uout, size_t len,
			 u32 flags)
{
	struct pipe *from = pipe_of(in), *to = pipe_of(out);
	loff ipos = 0, opos = 0;
	ssize_t ret = 0;

	if (!(in->mode & FMODE_READ) || !(out->mode & FMODE_WRITE))
		return -EBADF;
	if ((from && uin) || (to && uout))
		return -ESPIPE;
	if (!from && !to)
		return -EINVAL;
	if (from && to)
		return pipe_to_pipe(in, out, len, flags, false);
	if ((uin && (in->mode & FMODE_NOPOS)) || (uout && (out->mode & FMODE_NOPOS)))
		return -EINVAL;
	if (from && (out->flags & O_APPEND))
		return -EINVAL;
	if (uin || uout)
		ret = get_off(uin ? uin : uout, uin ? &ipos : &opos);
	if (ret)
		return ret;
	if (from)
		ret = pipe_to_file(in, out, uout ? &opos : NULL, len, flags);
	else
		ret = fill_pipe(in, uin ? &ipos : NULL, out, len, flags);
	if (ret > 0 && (put_off(uin, ipos) || put_off(uout, opos)))
		ret = -EFAULT;
	return ret;
}

long sys_splice(int in_fd, uaddr uin, int out_fd, uaddr uout, size_t len, u32 flags)
{
	struct file *in, *out;
	long ret = -EBADF;

	if (!len)
		return 0;
	if (flags & ~SPLICE_ALL)
		return -EINVAL;
	in = fd_get_io(in_fd);
	out = fd_get_io(out_fd);
	if (in && out)
		ret = do_splice(in, uin, out, uout, min_t(size_t, len, MAX_RW_COUNT), flags);
	file_put(in);
	file_put(out);
	return ret;
}

long sys_tee(int in_fd, int out_fd, size_t len, u32 flags)
{
	struct file *in, *out;
	long ret = -EBADF;

	if (flags & ~SPLICE_ALL)
		return -EINVAL;
	if (!len)
		return 0;
	in = fd_get_io(in_fd);
	out = fd_get_io(out_fd);
	if (in && out && (in->mode & FMODE_READ) && (out->mode & FMODE_WRITE))
		ret = pipe_of(in) && pipe_of(out) ?
		      pipe_to_pipe(in, out, min_t(size_t, len, MAX_RW_COUNT), flags,
				   true) : -EINVAL;
	file_put(in);
	file_put(out);
	return ret;
}

/* The user's pages are copied: what SPLICE_F_GIFT would save is not worth sharing them. */
long sys_vmsplice(int fd, uaddr vec, u64 n, u32 flags)
{
	struct file *f;
	long ret;

	if (flags & ~SPLICE_ALL)
		return -EINVAL;
	f = fd_get_io(fd);
	if (!f)
		return -EBADF;
	if (!pipe_of(f))
		ret = -EBADF;
	else if (f->mode & FMODE_WRITE)
		ret = sys_writev(fd, vec, n);
	else
		ret = sys_readv(fd, vec, n);
	file_put(f);
	return ret;
}
