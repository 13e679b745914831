/* SPDX-License-Identifier: MIT */
/* The inside of a pipe, for pipe.c and splice.c. */
#ifndef KERNEL_FS_PIPE_H
#define KERNEL_FS_PIPE_H

#include "internal.h"

struct pipe_buf { struct page *page; u32 off, len; bool packet; };

struct pipe {
	struct mutex lock;
	struct waitq rd, wr;		/* readers wait for data, writers for room */
	struct pipe_buf *ring;		/* slots entries; lock */
	u32 head, tail, slots;		/* free running; slots a power of two; lock to change */
	u32 readers, writers;		/* open files; lock to change */
	u32 r_count, w_count;		/* opens ever: FIFO opens wait for a change; lock */
	u32 files;			/* fifo_lock */
	bool polled;			/* somebody has polled: announce every write */
	struct page *spare[2];		/* lock */
	struct fasync fasync_rd, fasync_wr;
};

struct pipe *pipe_of(const struct file *f);	/* NULL if f is no pipe */
long pipe_fcntl(struct file *f, int cmd, u64 arg);

#endif
