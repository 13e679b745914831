/* SPDX-License-Identifier: MIT */
/*
 * read, write and their vector and positional forms; lseek. Every form ends in file_read or
 * file_write with a uio and a position. Files with a position (those that can seek) are used under
 * pos_lock, so two threads that share one see each byte once.
 */
#include "fdtable.h"

#include <perch/signal.h>
#include <string.h>

/* f is open for reading, or for writing. */
static inline ssize_t read_uio(struct file *f, struct uio *u, loff *pos)
{
	ssize_t ret;

	if (!f->ops->read)
		return S_ISDIR(f->inode->mode) ? -EISDIR : -EINVAL;
	ret = f->ops->read(f, u, pos);
	current->ru.rchar += (u64)max(ret, (ssize_t)0);
	current->ru.syscr++;
	return ret;
}

static inline ssize_t write_uio(struct file *f, struct uio *u, loff *pos)
{
	ssize_t ret;

	if (!f->ops->write)
		return -EINVAL;
	ret = f->ops->write(f, u, pos);
	current->ru.wchar += (u64)max(ret, (ssize_t)0);
	current->ru.syscw++;
	return ret;
}

ssize_t file_read(struct file *f, struct uio *u, loff *pos)
{
	return f->mode & FMODE_READ ? read_uio(f, u, pos) : -EBADF;
}

ssize_t file_write(struct file *f, struct uio *u, loff *pos)
{
	return f->mode & FMODE_WRITE ? write_uio(f, u, pos) : -EBADF;
}

ssize_t file_read_kernel(struct file *f, void *buf, size_t n, loff pos)
{
	struct uio u;

	uio_init_kernel(&u, buf, min_t(size_t, n, MAX_RW_COUNT));
	return file_read(f, &u, &pos);
}

ssize_t file_write_kernel(struct file *f, const void *buf, size_t n, loff pos)
{
	struct uio u;

	uio_init_kernel(&u, (void *)buf, min_t(size_t, n, MAX_RW_COUNT));
	return file_write(f, &u, &pos);
}

/* --- with the file's own position ---------------------------------------------------------- */

ssize_t file_rw_pos(struct file *f, struct uio *u, bool write)
{
	loff pos = 0;
	ssize_t ret;

	if (f->mode & FMODE_NOPOS)
		return write ? file_write(f, u, &pos) : file_read(f, u, &pos);
	mutex_lock(&f->pos_lock);
	pos = f->pos;
	ret = write ? file_write(f, u, &pos) : file_read(f, u, &pos);
	if (ret >= 0)
		f->pos = pos;
	mutex_unlock(&f->pos_lock);
	return ret;
}

static ssize_t read_short(struct file *f, uaddr buf, size_t n)
{
	ssize_t ret = f->ops->read_user(f, buf, n);

	current->ru.rchar += (u64)max(ret, (ssize_t)0);
	current->ru.syscr++;
	return ret;
}

static inline ssize_t rw_uio(struct file *f, uaddr buf, size_t n, bool write)
{
	struct uio u;
	loff pos = 0;

	uio_init_user(&u, buf, n);
	if (!(f->mode & FMODE_NOPOS))
		return file_rw_pos(f, &u, write);
	return write ? write_uio(f, &u, &pos) : read_uio(f, &u, &pos);
}

static inline ssize_t rw_file(struct file *f, uaddr buf, size_t n, bool write)
{
	if (!(f->mode & (write ? FMODE_WRITE : FMODE_READ)))
		return -EBADF;
	if ((ssize_t)n < 0)
		return -EINVAL;
	if (!access_ok((void __user *)buf, n))
		return -EFAULT;
	n = min_t(size_t, n, MAX_RW_COUNT);
	return !write && f->ops->read_user ? read_short(f, buf, n) : rw_uio(f, buf, n, write);
}

static inline ssize_t rw_user(int fd, uaddr buf, size_t n, bool write)
{
	struct fd_use u = fd_use(fd);
	ssize_t ret = u.f ? rw_file(u.f, buf, n, write) : -EBADF;

	fd_unuse(u);
	return ret;
}

long sys_read(int fd, uaddr buf, size_t n)
{
	return rw_user(fd, buf, n, false);
}

long sys_write(int fd, uaddr buf, size_t n)
{
	return rw_user(fd, buf, n, true);
}

/* --- at a given position ------------------------------------------------------------------- */

static ssize_t rw_at(struct file *f, struct uio *u, loff pos, bool write)
{
	if (pos < 0)
		return -EINVAL;
	if (f->mode & FMODE_NOPOS)
		return -ESPIPE;
	return write ? file_write(f, u, &pos) : file_read(f, u, &pos);
}

static ssize_t prw_user(int fd, uaddr buf, size_t n, loff pos, bool write)
{
	struct file *f;
	struct uio u;
	ssize_t ret;

	if (pos < 0)
		return -EINVAL;
	f = fd_get_io(fd);
	if (!f)
		return -EBADF;
	if (f->mode & FMODE_NOPOS) {
		ret = -ESPIPE;
	} else if ((ssize_t)n < 0) {
		ret = -EINVAL;
	} else if (!access_ok((void __user *)buf, n)) {
		ret = f->mode & (write ? FMODE_WRITE : FMODE_READ) ? -EFAULT : -EBADF;
	} else {
		uio_init_user(&u, buf, min_t(size_t, n, MAX_RW_COUNT));
		ret = rw_at(f, &u, pos, write);
	}
	file_put(f);
	return ret;
}

long sys_pread64(int fd, uaddr buf, size_t n, loff pos)
{
	return prw_user(fd, buf, n, pos, false);
}

long sys_pwrite64(int fd, uaddr buf, size_t n, loff pos)
{
	return prw_user(fd, buf, n, pos, true);
}

/* --- vectors ------------------------------------------------------------------------------- */

static ssize_t check_iov(struct iovec_abi *v, u64 n)
{
	size_t total = 0;

	for (u64 i = 0; i < n; i++) {
		if ((s64)v[i].len < 0)
			return -EINVAL;
		if (!access_ok((void __user *)v[i].base, v[i].len))
			return -EFAULT;
		v[i].len = min_t(u64, v[i].len, MAX_RW_COUNT - total);
		total += v[i].len;
	}
	return total;
}

ssize_t iov_import(uaddr uvec, u64 n, struct iovec_abi *fast, u32 nfast, struct iovec_abi **out)
{
	struct iovec_abi *v = fast;
	ssize_t ret;

	if (n > IOV_MAX)
		return -EINVAL;
	if (n > nfast) {
		v = kmalloc(n * sizeof(*v));
		if (!v)
			return -ENOMEM;
	}
	if (copy_from_user(v, (void __user *)uvec, n * sizeof(*v)))
		ret = -EFAULT;
	else
		ret = check_iov(v, n);
	*out = v;
	if (ret < 0 && v != fast)
		kfree(v);
	return ret;
}

#define RWF_HIPRI	1
#define RWF_DSYNC	2
#define RWF_SYNC	4
#define RWF_NOWAIT	8
#define RWF_APPEND	16

static ssize_t vec_io(struct file *f, uaddr uvec, u64 n, loff pos, bool use_pos, bool write)
{
	struct iovec_abi fast[8], *v;
	struct uio u;
	ssize_t ret;

	if (!(f->mode & (write ? FMODE_WRITE : FMODE_READ)))
		return -EBADF;
	ret = iov_import(uvec, n, fast, ARRAY_SIZE(fast), &v);
	if (ret < 0)
		return ret;
	uio_init_vec(&u, v, n, ret);
	if (u.left)
		ret = use_pos ? rw_at(f, &u, pos, write) : file_rw_pos(f, &u, write);
	if (v != fast)
		kfree(v);
	return ret;
}

/* pos -1 with any_pos: the file's own position (preadv2, readv). */
static ssize_t rwv(int fd, uaddr uvec, u64 n, loff pos, bool any_pos, u32 flags, bool write)
{
	bool use_pos = !any_pos || pos != -1;
	struct file *f;
	ssize_t ret;

	if (use_pos && pos < 0)
		return -EINVAL;
	f = fd_get_io(fd);
	if (!f)
		return -EBADF;
	if (use_pos && (f->mode & FMODE_NOPOS))
		ret = -ESPIPE;
	else if (flags & ~(RWF_HIPRI | RWF_DSYNC | RWF_SYNC))
		ret = -EOPNOTSUPP;
	else
		ret = vec_io(f, uvec, n, pos, use_pos, write);
	file_put(f);
	return ret;
}

long sys_readv(int fd, uaddr vec, u64 n)
{
	return rwv(fd, vec, n, -1, true, 0, false);
}

long sys_writev(int fd, uaddr vec, u64 n)
{
	return rwv(fd, vec, n, -1, true, 0, true);
}

long sys_preadv(int fd, uaddr vec, u64 n, u64 pos_low, u64 pos_high)
{
	return rwv(fd, vec, n, pos_low, false, 0, false);
}

long sys_pwritev(int fd, uaddr vec, u64 n, u64 pos_low, u64 pos_high)
{
	return rwv(fd, vec, n, pos_low, false, 0, true);
}

long sys_preadv2(int fd, uaddr vec, u64 n, u64 pos_low, u64 pos_high, u32 flags)
{
	return rwv(fd, vec, n, pos_low, true, flags, false);
}

long sys_pwritev2(int fd, uaddr vec, u64 n, u64 pos_low, u64 pos_high, u32 flags)
{
	return rwv(fd, vec, n, pos_low, true, flags, true);
}

/* --- lseek --------------------------------------------------------------------------------- */

loff generic_llseek(struct file *f, loff off, int whence, loff size)
{
	loff pos;

	switch (whence) {
	case SEEK_SET:
		pos = off;
		break;
	case SEEK_CUR:
		if (__builtin_add_overflow(f->pos, off, &pos))
			return -EOVERFLOW;
		break;
	case SEEK_END:
		if (__builtin_add_overflow(size, off, &pos))
			return -EOVERFLOW;
		break;
	case SEEK_DATA:
	case SEEK_HOLE:
		if (off < 0 || off >= size)
			return -ENXIO;
		pos = whence == SEEK_DATA ? off : size;
		break;
	default:
		return -EINVAL;
	}
	if (pos < 0)
		return -EINVAL;
	f->pos = pos;
	return pos;
}

long sys_lseek(int fd, loff off, u32 whence)
{
	struct file *f = fd_get_io(fd);
	long ret;

	if (!f)
		return -EBADF;
	if (whence > SEEK_HOLE) {
		ret = -EINVAL;
	} else if (!f->ops->llseek) {
		ret = -ESPIPE;
	} else {
		mutex_lock(&f->pos_lock);
		ret = f->ops->llseek(f, off, whence);
		mutex_unlock(&f->pos_lock);
	}
	file_put(f);
	return ret;
}
