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

void uio_init_vec(struct uio *u, const struct iovec_abi *iov, u32 n, size_t total)
{
	*u = (struct uio){ .user = true, .next = iov, .nr_next = n, .left = total };
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

void uio_next(struct uio *u)
{
	ASSERT(u->nr_next);
	u->base = u->next->base;
	u->here = u->next->len;
	u->next++;
	u->nr_next--;
}

/* Within the buffer in use. */
static inline size_t move_here(struct uio *u, enum uio_dir dir, char *kernel, size_t n)
{
	size_t done = move_chunk_user(dir, u->base, kernel, n);

	if (unlikely(done < n))
		u->fault = true;
	u->base += done;
	u->here -= done;
	return done;
}

static size_t move_user(struct uio *u, enum uio_dir dir, char *kernel, size_t n)
{
	size_t done = 0;

	while (done < n && !u->fault) {
		if (u->here)
			done += move_here(u, dir, kernel + done, min(u->here, n - done));
		else if (u->nr_next)
			uio_next(u);
		else
			break;
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

/* Nearly always all of it lies in one user buffer (a kernel buffer has here 0). */
static inline size_t uio_move(struct uio *u, enum uio_dir dir, void *kernel, size_t n)
{
	size_t done;

	n = min(n, u->left);
	if (unlikely(u->fault))
		return 0;
	if (likely(n <= u->here))
		done = move_here(u, dir, kernel, n);
	else
		done = move_any(u, dir, kernel, n);
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
