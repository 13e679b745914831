/* SPDX-License-Identifier: MIT */
/* The inside of a table of file descriptors, for fdtable.c and fdcalls.c. */
#ifndef KERNEL_FS_FDTABLE_H
#define KERNEL_FS_FDTABLE_H

#include "internal.h"

struct files {
	refcount refs;
	spinlock lock;
	u32 size;		/* multiple of 64; lock (all below, too) */
	u32 next;		/* no free number below this one */
	struct file **fd;
	u64 *open, *cloexec;	/* bitmaps */
};

static inline bool fd_bit(const u64 *map, u32 n)
{
	return map[n / 64] >> (n % 64) & 1;
}

static inline void fd_set_bit(u64 *map, u32 n, bool on)
{
	if (on)
		map[n / 64] |= BIT(n % 64);
	else
		map[n / 64] &= ~BIT(n % 64);
}

/* The first bit at or above n that is set, or size. */
static inline u32 fd_next_bit(const u64 *map, u32 n, u32 size)
{
	for (; n < size; n = ALIGN_DOWN(n + 64, 64U)) {
		u64 w = map[n / 64] >> (n % 64);

		if (w)
			return n + (u32)__builtin_ctzll(w);
	}
	return size;
}

/*
 * The file for the length of one system call, NULL for EBADF and for O_PATH files. While only this task
 * has the table nobody can close the file meanwhile, and no reference is taken. Process context.
 */
struct fd_use {
	struct file *f;
	bool counted;
};
struct fd_use fd_use_shared(int fd);
/* Acquire: what the last one to share the table did to it, and to what it held, came before. */
static inline bool files_alone(const struct files *t)
{
	return load_acquire(&t->refs.n) == 1;
}
static inline struct fd_use fd_use(int fd)
{
	struct files *t = current->files;
	struct file *f;

	if (unlikely(!t || !files_alone(t)))
		return fd_use_shared(fd);
	f = (u32)fd < t->size ? t->fd[fd] : NULL;
	if (unlikely(f && f->mode & FMODE_PATH))
		f = NULL;
	return (struct fd_use){ f, false };
}
static inline void fd_unuse(struct fd_use u)
{
	if (unlikely(u.counted))
		file_put(u.f);
}

/* Make number fd fit: 0 or -ENOMEM. lock held; dropped and retaken around the allocation. */
int files_grow_locked(struct files *t, u32 fd);
/* what close(2) does once f is out of the table */
void files_close(struct file *f, struct files *owner);
int files_unshare(void);	/* a table of its own for current: 0 or -ENOMEM */
/* Close the open fds in [first, last], all or only the close-on-exec ones. */
void files_close_range(struct files *t, u32 first, u32 last, bool cloexec_only);

#endif
