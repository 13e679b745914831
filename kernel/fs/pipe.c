/* SPDX-License-Identifier: MIT */
/*
 * Pipes: a ring of pages between writers and readers. How they come and go is pipe_open.c's.
 *
 * A write first tops up the last page if what is left of it after whole pages fits there, then adds
 * pages; so a write of up to PIPE_BUF (one page) bytes is never split: it fits or it waits.
 * Everything is under the pipe's mutex, user copies included. Sleepers are exclusive: data wakes
 * one reader, and a reader that leaves data behind wakes the next; the same for room and writers.
 * A pipe that is read as fast as it is written into lives on one page: the last buffer's stays in its slot.
 * Wake-ups are needed only when the ring stops being empty or full, unless somebody polls
 * (edge-triggered epoll wants to hear of every write).
 */
#include "internal.h"

#include "pipe.h"
#include <perch/signal.h>
#include <string.h>

#define MAX_PIPE_BYTES	1048576		/* without CAP_SYS_RESOURCE */
#define FIONREAD	0x541B

/* --- the ring (p->lock held) ---------------------------------------------------------------- */

static u32 used(const struct pipe *p)
{
	return p->head - p->tail;
}

static bool is_empty(const struct pipe *p)
{
	return p->head == p->tail;
}

static bool is_full(const struct pipe *p)
{
	return used(p) >= p->slots;
}

/*
 * The same without the lock: a hint. head first: others may take and add between the two looks, and then the difference is
 * less than it was, even negative, never more. Who finds it full is on the list of writers, and will be woken.
 */
static bool seems_full(const struct pipe *p)
{
	u32 head = load_acquire(&p->head);

	return (s32)(head - READ_ONCE(p->tail)) >= (s32)READ_ONCE(p->slots);
}

/* The array has room for twice the slots: splice may put back what it took meanwhile. */
static struct pipe_buf *buf_at(struct pipe *p, u32 n)
{
	return &p->ring[n & p->mask];
}

/* b is the first one. If it is the only one, too, the head goes back to it, and its page is kept. */
static void drop_buf(struct pipe *p, struct pipe_buf *b)
{
	if (likely(used(p) == 1 && !b->shared)) {
		WRITE_ONCE(p->head, p->tail);
		return;
	}
	pipe_buf_put(b);
	b->data = NULL;
	WRITE_ONCE(p->tail, p->tail + 1);
}

static void drop_kept(struct pipe *p)
{
	struct pipe_buf *b = buf_at(p, p->head);

	if (is_empty(p) && b->data) {
		pipe_buf_put(b);
		b->data = NULL;
	}
}

void pipe_drop_all(struct pipe *p)
{
	while (!is_empty(p))
		drop_buf(p, buf_at(p, p->tail));
	drop_kept(p);
}

/* Append to the last page when the odd part of the data fits there. Bytes moved. */
static size_t top_up(struct pipe *p, struct uio *u)
{
	size_t odd = u->left & ~PAGE_MASK, n;
	struct pipe_buf *b;

	if (is_empty(p) || !odd)
		return 0;
	b = buf_at(p, p->head - 1);
	if (b->packet || b->shared || b->off + b->len + odd > PAGE_SIZE)
		return 0;
	n = uio_read(u, b->data + b->off + b->len, odd);
	b->len += n;
	return n;
}

/* Nothing has come into the slot at head. Its page may stay there only if the ring is empty. */
static ssize_t fault_at_head(struct pipe *p)
{
	struct pipe_buf *b = buf_at(p, p->head);

	if (!is_empty(p)) {
		pipe_buf_put(b);
		b->data = NULL;
	}
	return -EFAULT;
}

/* One more page. Bytes moved, or -errno. */
static ssize_t add_page(struct pipe *p, struct uio *u, bool packet)
{
	struct pipe_buf *b = buf_at(p, p->head);
	size_t n;

	if (!b->data) {
		struct page *page = alloc_page_user();

		if (!page)
			return -ENOMEM;
		b->data = page_address(page);
	}
	n = uio_read(u, b->data, min_t(size_t, u->left, PAGE_SIZE));
	if (!n)
		return fault_at_head(p);
	*b = (struct pipe_buf){ b->data, 0, n, packet, false };
	WRITE_ONCE(p->head, p->head + 1);
	return n;
}

/* --- read ----------------------------------------------------------------------------------- */

static size_t take(struct pipe *p, struct uio *u)
{
	size_t done = 0, n;

	while (!is_empty(p) && u->left && !u->fault) {
		struct pipe_buf *b = buf_at(p, p->tail);
		bool packet = b->packet;

		n = uio_write(u, b->data + b->off, min_t(size_t, b->len, u->left));
		done += n;
		if (n < b->len && (u->fault || !packet)) {	/* the rest stays */
			b->off += n;
			b->len -= n;
			break;
		}
		drop_buf(p, b);
		if (packet)
			break;
	}
	return done;
}

static bool readable(const struct pipe *p)
{
	return !pipe_empty(p) || !READ_ONCE(p->writers);
}

#define NO_WRITERS 1

/*
 * Wait for data (0) or the end (NO_WRITERS), and take the lock. -errno: a reason to stop, and the lock is free.
 * Who has to wait sees so without the lock, and takes it once.
 */
static long await_data(struct pipe *p, bool nonblock)
{
	long err = 0;

	for (;;) {
		if (!nonblock)
			err = wait_event_interruptible_excl(&p->rd, readable(p));
		if (err)
			return err;
		mutex_lock(&p->lock);
		if (!is_empty(p))
			return 0;
		if (!p->writers)
			return NO_WRITERS;
		mutex_unlock(&p->lock);
		if (nonblock)
			return -EAGAIN;
	}
}

/* The wake-up that brought this reader was perhaps meant for data that it leaves. */
static void wake_next(struct pipe *p)
{
	if (unlikely(!pipe_empty(p)))
		wake_up_poll(&p->rd, POLLIN | POLLRDNORM);
}

static ssize_t read_locked(struct pipe *p, struct uio *u)
{
	ssize_t n = take(p, u);

	return n ? n : -EFAULT;
}

ssize_t pipe_read(struct file *f, struct uio *u, loff *pos)
{
	struct pipe *p = f->priv;
	bool was_full, room;
	ssize_t ret;

	if (!u->left)
		return 0;
	ret = await_data(p, f->flags & O_NONBLOCK);
	if (ret < 0) {
		wake_next(p);
		return ret;
	}
	was_full = is_full(p);
	ret = ret == NO_WRITERS ? 0 : read_locked(p, u);
	room = was_full && !is_full(p);
	mutex_unlock(&p->lock);
	wake_next(p);
	if (unlikely(room))
		wake_up_poll(&p->wr, POLLOUT | POLLWRNORM);
	if (ret > 0)
		fasync_kill(&p->fasync_wr, POLL_OUT, POLLOUT | POLLWRNORM);
	return ret;
}

/* --- write ---------------------------------------------------------------------------------- */

static bool writable(const struct pipe *p)
{
	return !seems_full(p) || !READ_ONCE(p->readers);
}

static void tell_readers(struct pipe *p)
{
	wake_up_poll(&p->rd, POLLIN | POLLRDNORM);
	fasync_kill(&p->fasync_rd, POLL_IN, POLLIN | POLLRDNORM);
}

/* The wake-up that brought this writer was perhaps meant for room that it leaves. */
static void wake_next_writer(struct pipe *p)
{
	if (unlikely(waitq_active(&p->wr)) && !seems_full(p))
		wake_up_poll(&p->wr, POLLOUT | POLLWRNORM);
}

static long wait_room(struct pipe *p)
{
	long err;

	mutex_unlock(&p->lock);
	tell_readers(p);
	err = wait_event_interruptible_excl(&p->wr, writable(p));
	mutex_lock(&p->lock);
	return err;
}

/* *was_empty: set if readers may sleep for what comes now. */
static ssize_t write_locked(struct pipe *p, struct file *f, struct uio *u, bool *was_empty)
{
	ssize_t total = 0, n = 0;

	if (p->readers && !(f->flags & O_DIRECT))
		total = top_up(p, u);
	while (u->left && !u->fault) {
		if (!p->readers) {
			send_signal_task(current, SIGPIPE, NULL);
			n = -EPIPE;
		} else if (!is_full(p)) {
			n = add_page(p, u, f->flags & O_DIRECT);
		} else if (f->flags & O_NONBLOCK) {
			n = -EAGAIN;
		} else {
			n = wait_room(p);
			*was_empty |= is_empty(p);
		}
		if (n < 0)
			break;
		total += n;
	}
	if (total)
		return total;
	return n < 0 ? n : u->fault ? -EFAULT : 0;
}

ssize_t pipe_write(struct file *f, struct uio *u, loff *pos)
{
	struct pipe *p = f->priv;
	bool was_empty;
	ssize_t ret;

	if (!u->left)
		return 0;
	mutex_lock(&p->lock);
	was_empty = is_empty(p);
	ret = write_locked(p, f, u, &was_empty);
	mutex_unlock(&p->lock);
	if (ret > 0 && (was_empty || p->polled))
		wake_up_poll(&p->rd, POLLIN | POLLRDNORM);
	if (ret > 0)
		fasync_kill(&p->fasync_rd, POLL_IN, POLLIN | POLLRDNORM);
	wake_next_writer(p);
	return ret;
}

/* --- whole buffers, for splice --------------------------------------------------------------- */

long pipe_take(struct pipe *p, struct pipe_buf *b, size_t max, bool copy, u32 skip, bool nonblock)
{
	long err = await_data(p, nonblock);

	if (err < 0) {
		wake_next(p);
		return err;
	}
	if (!err && skip >= used(p))
		err = 1;
	if (!err) {
		struct pipe_buf *src = buf_at(p, p->tail + skip);

		*b = *src;
		if (copy || b->len > max) {
			src->shared = b->shared = true;
			page_get(virt_to_page(b->data));
			b->len = min_t(u32, b->len, max);
		}
		if (!copy && b->len < src->len) {
			src->off += b->len;
			src->len -= b->len;
		} else if (!copy) {
			src->data = NULL;
			WRITE_ONCE(p->tail, p->tail + 1);
		}
	}
	mutex_unlock(&p->lock);
	wake_next(p);
	if (!err && !copy) {
		wake_up_poll(&p->wr, POLLOUT | POLLWRNORM);
		fasync_kill(&p->fasync_wr, POLL_OUT, POLLOUT | POLLWRNORM);
	}
	return err;
}

void pipe_put_back(struct pipe *p, const struct pipe_buf *b)
{
	mutex_lock(&p->lock);
	ASSERT(used(p) < 2 * p->slots);
	WRITE_ONCE(p->tail, p->tail - 1);
	*buf_at(p, p->tail) = *b;
	mutex_unlock(&p->lock);
	wake_up_poll(&p->rd, POLLIN | POLLRDNORM);
}

long pipe_give(struct pipe *p, const struct pipe_buf *b, bool nonblock)
{
	long err = 0;

	mutex_lock(&p->lock);
	while (!err && p->readers && is_full(p))
		err = nonblock ? -EAGAIN : wait_room(p);
	if (!err && !p->readers) {
		send_signal_task(current, SIGPIPE, NULL);
		err = -EPIPE;
	}
	if (!err) {
		drop_kept(p);
		*buf_at(p, p->head) = *b;
		WRITE_ONCE(p->head, p->head + 1);
	}
	mutex_unlock(&p->lock);
	if (!err)
		tell_readers(p);
	wake_next_writer(p);
	return err;
}

long pipe_await_room(struct pipe *p, bool nonblock)
{
	long err = 0;

	mutex_lock(&p->lock);
	while (!err && p->readers && is_full(p))
		err = nonblock ? -EAGAIN : wait_room(p);
	if (!err)
		err = p->readers ? (long)((p->slots - used(p)) * PAGE_SIZE) : 0;
	mutex_unlock(&p->lock);
	wake_next_writer(p);
	return err;
}

/* --- poll, ioctl, size ---------------------------------------------------------------------- */

u32 pipe_poll(struct file *f, struct poll_table *pt)
{
	struct pipe *p = f->priv;
	u32 mask = 0;

	WRITE_ONCE(p->polled, true);
	if (f->mode & FMODE_READ) {
		poll_wait(f, &p->rd, pt);
		if (!pipe_empty(p))
			mask |= POLLIN | POLLRDNORM;
		/* A FIFO opened without a writer does not hang up before one has come. */
		if (!READ_ONCE(p->writers) && f->pos != p->w_count)
			mask |= POLLHUP;
	}
	if (f->mode & FMODE_WRITE) {
		poll_wait(f, &p->wr, pt);
		if (!seems_full(p))
			mask |= POLLOUT | POLLWRNORM;
		if (!READ_ONCE(p->readers))
			mask |= POLLERR;
	}
	return mask;
}

long pipe_ioctl(struct file *f, u32 cmd, u64 arg)
{
	struct pipe *p = f->priv;
	int n = 0;

	if (cmd != FIONREAD)
		return -ENOTTY;
	mutex_lock(&p->lock);
	for (u32 i = p->tail; i != p->head; i++)
		n += buf_at(p, i)->len;
	mutex_unlock(&p->lock);
	return put_user(n, (int __user *)arg);
}

static long resize_locked(struct pipe *p, u32 slots)
{
	struct pipe_buf *ring;
	u32 n = used(p);

	if (n > slots)
		return -EBUSY;
	ring = kcalloc(2 * slots, sizeof(*ring));
	if (!ring)
		return -ENOMEM;
	drop_kept(p);
	for (u32 i = 0; i < n; i++)
		ring[i] = *buf_at(p, p->tail + i);
	kfree(p->ring);
	p->ring = ring;
	p->tail = 0;
	p->head = n;
	p->slots = slots;
	p->mask = 2 * slots - 1;
	return slots * PAGE_SIZE;
}

static long set_size(struct pipe *p, u64 bytes)
{
	u32 slots = 1;
	long ret;

	if (bytes > BIT(31))
		return -EINVAL;
	while (slots * PAGE_SIZE < bytes)
		slots *= 2;
	if (slots * PAGE_SIZE > MAX_PIPE_BYTES && !capable(CAP_SYS_RESOURCE))
		return -EPERM;
	mutex_lock(&p->lock);
	ret = resize_locked(p, slots);
	mutex_unlock(&p->lock);
	if (ret > 0)
		wake_up_all(&p->wr);
	return ret;
}

long pipe_fcntl(struct file *f, int cmd, u64 arg)
{
	struct pipe *p = pipe_of(f);

	if (!p)
		return -EBADF;
	return cmd == F_GETPIPE_SZ ? (long)(p->slots * PAGE_SIZE) : set_size(p, (u32)arg);
}

int pipe_fasync(struct file *f, bool on)
{
	struct pipe *p = f->priv;
	int err = 0;

	if (f->mode & FMODE_READ)
		err = fasync_set(&p->fasync_rd, f, on);
	if (!err && (f->mode & FMODE_WRITE))
		err = fasync_set(&p->fasync_wr, f, on);
	return err;
}
