/* SPDX-License-Identifier: MIT */
/*
 * Moving bytes between the kernel and "wherever the caller of read or write keeps them": one kernel
 * buffer, or a vector of user buffers. A fault in user memory ends the move early and is remembered
 * in u->fault; what was moved before stays moved, as read(2) and write(2) promise.
 */
#include <perch/fs.h>
#include <perch/printk.h>
#include <perch/uaccess.h>
#include <string.h>

enum uio_dir { UIO_OUT, UIO_IN, UIO_ZERO };

void uio_init_user(struct uio *u, uaddr base, size_t len, struct iovec_abi *one)
{
	one->base = base;
	one->len = len;
	*u = (struct uio){ .user = true, .iov = one, .nr_iov = 1, .left = len };
}

void uio_init_kernel(struct uio *u, void *buf, size_t len)
{
	*u = (struct uio){ .kbuf = buf, .left = len };
}

static inline size_t move_chunk_user(enum uio_dir dir, uaddr at, void *kernel, size_t n)
{
	void __user *p = (void __user *)at;

	switch (dir) {
	case UIO_OUT:
		return n - copy_to_user(p, kernel, n);
	case UIO_IN:
		return n - copy_from_user(kernel, p, n);
	default:
		return n - clear_user(p, n);
	}
}

static size_t move_user(struct uio *u, enum uio_dir dir, char *kernel, size_t n)
{
	size_t done = 0;

	while (done < n && u->idx < u->nr_iov) {
		const struct iovec_abi *v = &u->iov[u->idx];
		size_t chunk = min_t(size_t, v->len - u->off, n - done), moved;

		moved = move_chunk_user(dir, v->base + u->off, kernel + done, chunk);
		done += moved;
		u->off += moved;
		if (moved < chunk) {
			u->fault = true;
			break;
		}
		if (u->off == v->len) {
			u->idx++;
			u->off = 0;
		}
	}
	return done;
}

static size_t move_kernel(struct uio *u, enum uio_dir dir, char *kernel, size_t n)
{
	if (dir == UIO_OUT)
		memcpy(u->kbuf, kernel, n);
	else if (dir == UIO_IN)
		memcpy(kernel, u->kbuf, n);
	else
		memset(u->kbuf, 0, n);
	u->kbuf += n;
	return n;
}

static noinline size_t move_any(struct uio *u, enum uio_dir dir, void *kernel, size_t n)
{
	return u->user ? move_user(u, dir, kernel, n) : move_kernel(u, dir, kernel, n);
}

/* Nearly always all of it lies in one user buffer. */
static inline size_t uio_move(struct uio *u, enum uio_dir dir, void *kernel, size_t n)
{
	const struct iovec_abi *v = &u->iov[u->idx];
	size_t done;

	n = min(n, u->left);
	if (unlikely(u->fault || !n))
		return 0;
	if (likely(u->user && v->len - u->off >= n)) {
		done = move_chunk_user(dir, v->base + u->off, kernel, n);
		u->off += done;
		u->fault = done < n;
	} else {
		done = move_any(u, dir, kernel, n);
	}
	ASSERT(done <= u->left);
	u->left -= done;
	return done;
}

size_t uio_write(struct uio *u, const void *src, size_t n)
{
	return uio_move(u, UIO_OUT, (void *)src, n);
}

size_t uio_read(struct uio *u, void *dst, size_t n)
{
	return uio_move(u, UIO_IN, dst, n);
}

size_t uio_zero(struct uio *u, size_t n)
{
	return uio_move(u, UIO_ZERO, NULL, n);
}
