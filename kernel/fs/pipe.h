/* SPDX-License-Identifier: MIT */
/* The inside of a pipe, for pipe.c, pipe_open.c and splice.c. */
#ifndef KERNEL_FS_PIPE_H
#define KERNEL_FS_PIPE_H

#include "internal.h"

/* data: a page of its own, or (shared) one that is in another buffer, too: nothing may be appended there. */
struct pipe_buf { char *data; u16 off, len; bool packet, shared; };
_Static_assert(sizeof(struct pipe_buf) == 16 && PAGE_SIZE <= UINT16_MAX, "a page fits");

static inline void pipe_buf_put(const struct pipe_buf *b)
{
	page_put(virt_to_page(b->data));
}

struct pipe {
	struct mutex lock;
	struct waitq rd, wr;		/* readers wait for data, writers for room */
	/* 2 * slots entries, data NULL in what is not in use; but while the ring is empty, the one at head may keep a
	 * page for the next write. lock */
	struct pipe_buf *ring;
	u32 head, tail;			/* free running; lock to change */
	u32 slots, mask;		/* a power of two; of the entries: 2 * slots - 1; lock to change */
	u32 readers, writers;		/* open files; lock to change */
	u32 r_count, w_count;		/* opens ever: FIFO opens wait for a change; lock */
	u32 files;			/* fifo_lock */
	bool polled;			/* somebody has polled: announce every write */
	struct fasync fasync_rd, fasync_wr;
};

static inline bool pipe_empty(const struct pipe *p)
{
	return READ_ONCE(p->head) == READ_ONCE(p->tail);
}

ssize_t pipe_read(struct file *f, struct uio *u, loff *pos);
ssize_t pipe_write(struct file *f, struct uio *u, loff *pos);
u32 pipe_poll(struct file *f, struct poll_table *pt);
long pipe_ioctl(struct file *f, u32 cmd, u64 arg);
int pipe_fasync(struct file *f, bool on);
void pipe_drop_all(struct pipe *p);	/* buffers and kept page; nobody else knows p */
struct pipe *pipe_of(const struct file *f);	/* NULL if f is no pipe */
/*
 * One buffer of at most max bytes out of p (copy: a reference to it stays; skip: this many buffers
 * on). 0, 1: no (more) data and no writers or nothing at skip, -EAGAIN, -ERESTARTSYS.
 */
long pipe_take(struct pipe *p, struct pipe_buf *b, size_t max, bool copy, u32 skip, bool nonblock);
void pipe_put_back(struct pipe *p, const struct pipe_buf *b);	/* to the front */
/* Append a buffer; the pipe owns its page then. 0, -EPIPE (and SIGPIPE), -EAGAIN, -ERESTARTSYS. */
long pipe_give(struct pipe *p, const struct pipe_buf *b, bool nonblock);
long pipe_await_room(struct pipe *p, bool nonblock);	/* free bytes, 0 without readers, -errno */
long pipe_fcntl(struct file *f, int cmd, u64 arg);

#endif
