/* SPDX-License-Identifier: MIT */
/* eventfd: a 64-bit counter as a file. read takes it (or 1 of it), write adds to it. */
#include "internal.h"

#define EFD_SEMAPHORE 1

struct eventfd {
	struct waitq wq;
	spinlock lock;
	u64 count;		/* lock */
	bool semaphore;
};

static bool try_take(struct eventfd *e, u64 *value)
{
	bool ok;

	spin_lock(&e->lock);
	ok = e->count;
	*value = e->semaphore && ok ? 1 : e->count;
	e->count -= *value;
	spin_unlock(&e->lock);
	return ok;
}

static bool try_add(struct eventfd *e, u64 value)
{
	bool ok;

	spin_lock(&e->lock);
	ok = UINT64_MAX - e->count > value;
	if (ok)
		e->count += value;
	spin_unlock(&e->lock);
	return ok;
}

static ssize_t eventfd_read(struct file *f, struct uio *u, loff *pos)
{
	struct eventfd *e = f->priv;
	u64 value;
	long err = 0;

	if (u->left < sizeof(value))
		return -EINVAL;
	if (!try_take(e, &value)) {
		if (f->flags & O_NONBLOCK)
			return -EAGAIN;
		err = wait_event_interruptible(&e->wq, try_take(e, &value));
	}
	if (err)
		return err;
	wake_up_poll(&e->wq, POLLOUT);
	return uio_write(u, &value, sizeof(value)) < sizeof(value) ? -EFAULT :
	       (ssize_t)sizeof(value);
}

static ssize_t eventfd_write(struct file *f, struct uio *u, loff *pos)
{
	struct eventfd *e = f->priv;
	u64 value;
	long err = 0;

	if (u->left < sizeof(value))
		return -EINVAL;
	if (uio_read(u, &value, sizeof(value)) < sizeof(value))
		return -EFAULT;
	if (value == UINT64_MAX)
		return -EINVAL;
	if (!try_add(e, value)) {
		if (f->flags & O_NONBLOCK)
			return -EAGAIN;
		err = wait_event_interruptible(&e->wq, try_add(e, value));
	}
	if (err)
		return err;
	wake_up_poll(&e->wq, POLLIN);
	return sizeof(value);
}

static u32 eventfd_poll(struct file *f, struct poll_table *pt)
{
	struct eventfd *e = f->priv;
	u64 count;
	u32 mask = 0;

	poll_wait(f, &e->wq, pt);
	count = READ_ONCE(e->count);
	if (count)
		mask |= POLLIN;
	if (count == UINT64_MAX)
		mask |= POLLERR;
	if (count < UINT64_MAX - 1)
		mask |= POLLOUT;
	return mask;
}

static void eventfd_release(struct file *f)
{
	kfree(f->priv);
}

static void eventfd_fdinfo(struct file *f, struct textbuf *b)
{
	struct eventfd *e = f->priv;

	text_printf(b, "eventfd-count: %16lx\neventfd-semaphore: %d\n", READ_ONCE(e->count),
		    e->semaphore);
}

static const struct file_ops eventfd_ops = {
	.read = eventfd_read, .write = eventfd_write, .poll = eventfd_poll,
	.release = eventfd_release, .show_fdinfo = eventfd_fdinfo,
};

long sys_eventfd2(u32 count, u32 flags)
{
	struct eventfd *e;
	struct file *f;

	if (flags & ~(EFD_SEMAPHORE | O_CLOEXEC | O_NONBLOCK))
		return -EINVAL;
	e = kzalloc(sizeof(*e));
	if (!e)
		return -ENOMEM;
	waitq_init(&e->wq);
	spin_init(&e->lock);
	e->count = count;
	e->semaphore = flags & EFD_SEMAPHORE;
	f = anon_file("anon_inode:[eventfd]", &eventfd_ops, e, O_RDWR | (flags & O_NONBLOCK));
	if (IS_ERR(f))
		kfree(e);
	return fd_new(f, flags);
}
