/* SPDX-License-Identifier: MIT */
/*
 * File descriptor tables. A table is an array of file pointers plus two bitmaps: which numbers are
 * taken (a number may be taken before its file is installed) and which close on exec. Threads share
 * a table by reference; fork copies it.
 *
 * files->lock guards everything and is held for a few loads only. fd_get takes a reference to the
 * file under it, so a file closed by another thread stays alive until the last call using it ends. Only while a task
 * has its table for itself it needs neither: fd_use, fd_alloc, fd_install.
 */
#include "fdtable.h"

#include <string.h>

#define FD_MIN_SIZE 64
#define RLIMIT_NOFILE 7

/* --- the arrays ---------------------------------------------------------------------------- */

/* One block holds the pointers and both bitmaps. */
static struct file **table_alloc(u32 size)
{
	return kzalloc(size * sizeof(struct file *) + size / 4);
}

static void table_set(struct files *t, struct file **block, u32 size)
{
	t->fd = block;
	t->open = (u64 *)(block + size);
	t->cloexec = t->open + size / 64;
	t->size = size;
}

static void table_copy(struct files *to, const struct files *from)
{
	memcpy(to->fd, from->fd, from->size * sizeof(to->fd[0]));
	memcpy(to->open, from->open, from->size / 8);
	memcpy(to->cloexec, from->cloexec, from->size / 8);
}

u32 fd_limit(void)
{
	return min_t(u64, current->proc->rlim[RLIMIT_NOFILE].cur, 1 << 20);
}

/* Make number fd fit. Drops and retakes the lock around the allocation. */
int files_grow_locked(struct files *t, u32 fd)
{
	u32 size = max_t(u32, ALIGN_UP(fd + 1, 64U), FD_MIN_SIZE);
	struct file **block, **old = NULL;

	if (fd < t->size)
		return 0;
	size = max(size, t->size * 2);
	spin_unlock(&t->lock);
	block = table_alloc(size);
	spin_lock(&t->lock);
	if (!block)
		return fd < t->size ? 0 : -ENOMEM;
	if (size > t->size) {
		struct files tmp;

		table_set(&tmp, block, size);
		table_copy(&tmp, t);
		old = t->fd;
		table_set(t, block, size);
		block = old;
	}
	kfree(block);
	return 0;
}

static u32 find_free(const struct files *t, u32 from)
{
	while (from < t->size) {
		u64 w = ~t->open[from / 64] >> (from % 64);

		if (w)
			return from + __builtin_ctzll(w);
		from = ALIGN_DOWN(from + 64, 64U);
	}
	return from;
}

/* --- life of a table ----------------------------------------------------------------------- */

struct files *files_create(void)
{
	struct files *t = kzalloc(sizeof(*t));
	struct file **block = table_alloc(FD_MIN_SIZE);

	if (!t || !block) {
		kfree(t);
		kfree(block);
		return NULL;
	}
	ref_init(&t->refs, 1);
	spin_init(&t->lock);
	table_set(t, block, FD_MIN_SIZE);
	return t;
}

static void take_files(struct files *t)
{
	for (u32 i = fd_next_bit(t->open, 0, t->size); i < t->size; i = fd_next_bit(t->open, i + 1, t->size)) {
		if (t->fd[i]) {
			file_get(t->fd[i]);
			continue;
		}
		fd_set_bit(t->open, i, false);		/* reserved by a call of the parent */
		fd_set_bit(t->cloexec, i, false);
	}
	t->next = 0;
}

struct files *files_fork(struct files *old)
{
	struct files *t = files_create();

	if (!t || !old)
		return t;
	spin_lock(&old->lock);
	while (t->size < old->size) {
		u32 size = old->size;
		struct file **block;

		spin_unlock(&old->lock);
		block = table_alloc(size);
		if (!block) {
			files_put(t);
			return NULL;
		}
		kfree(t->fd);
		table_set(t, block, size);
		spin_lock(&old->lock);
	}
	table_copy(t, old);
	take_files(t);
	spin_unlock(&old->lock);
	return t;
}

void files_get(struct files *t)
{
	ref_get(&t->refs);
}

void files_close(struct file *f, struct files *owner)
{
	if (f->ops->flush)
		f->ops->flush(f);
	locks_close(f, owner);
	file_put(f);
}

void files_put(struct files *t)
{
	if (!t || !ref_put(&t->refs))
		return;
	for (u32 i = fd_next_bit(t->open, 0, t->size); i < t->size; i = fd_next_bit(t->open, i + 1, t->size)) {
		struct file *f = t->fd[i];

		if (!f)
			continue;
		t->fd[i] = NULL;
		files_close(f, t);
		cond_resched();
	}
	kfree(t->fd);
	kfree(t);
}

/* A table of its own for current, if it shares one. */
int files_unshare(void)
{
	struct files *old = current->files, *t;

	if (files_alone(old))
		return 0;
	t = files_fork(old);
	if (!t)
		return -ENOMEM;
	spin_lock(&current->alloc_lock);
	current->files = t;
	spin_unlock(&current->alloc_lock);
	files_put(old);
	return 0;
}

static inline struct file *detach_locked(struct files *t, u32 fd)
{
	struct file *f = t->fd[fd];

	t->fd[fd] = NULL;
	fd_set_bit(t->open, fd, false);
	fd_set_bit(t->cloexec, fd, false);
	t->next = min(t->next, fd);
	return f;
}

/* Close the open fds in [first, last] (all, or only the close-on-exec ones). */
void files_close_range(struct files *t, u32 first, u32 last, bool cloexec_only)
{
	spin_lock(&t->lock);
	for (u32 i = first; ; i++) {
		struct file *f;

		/* The lock is dropped below: the arrays may be others by now. */
		i = fd_next_bit(cloexec_only ? t->cloexec : t->open, i, t->size);
		if (i > last || i >= t->size)
			break;
		if (!t->fd[i])
			continue;
		f = detach_locked(t, i);
		spin_unlock(&t->lock);
		files_close(f, t);
		spin_lock(&t->lock);
	}
	spin_unlock(&t->lock);
}

void files_exec(void)
{
	/* Out of memory here leaves the table shared; nothing is closed in others' names. */
	if (current->files && !files_unshare())
		files_close_range(current->files, 0, UINT32_MAX - 1, true);
}

/* --- numbers ------------------------------------------------------------------------------- */

/* The lowest free number, from `from` on, is taken. -1: none below limit, or the table is too small. */
static inline int take_number(struct files *t, u32 from, u32 limit, bool cloexec)
{
	u32 fd = find_free(t, max(from, t->next));

	if (unlikely(fd >= limit || fd >= t->size))
		return -1;
	fd_set_bit(t->open, fd, true);
	if (cloexec)	/* a free number's bit is clear */
		fd_set_bit(t->cloexec, fd, true);
	if (from <= t->next)
		t->next = fd + 1;
	return (int)fd;
}

static noinline int alloc_locked(struct files *t, u32 from, u32 limit, bool cloexec)
{
	int fd, err = 0;

	spin_lock(&t->lock);
	while ((fd = take_number(t, from, limit, cloexec)) < 0 && !err) {
		u32 wanted = find_free(t, max(from, t->next));

		err = wanted >= limit ? -EMFILE : files_grow_locked(t, wanted);
	}
	spin_unlock(&t->lock);
	return fd < 0 ? err : fd;
}

/* While only this task has the table, nobody else looks at the bits: who looks at it from outside looks at the files, and
 * at the size, which only changes under the lock. */
static inline int alloc_from(struct files *t, u32 from, bool cloexec)
{
	u32 limit = fd_limit();
	int fd = -1;

	if (FAIL_STEP(FAIL_FD))
		return -EMFILE;
	if (likely(files_alone(t)))
		fd = take_number(t, from, limit, cloexec);
	return likely(fd >= 0) ? fd : alloc_locked(t, from, limit, cloexec);
}

int fd_alloc(u32 flags)
{
	return alloc_from(current->files, 0, flags & O_CLOEXEC);
}

/* Alone with the table, the array stays where it is and the number is ours: who looks at it from outside sees f or
 * nothing. */
void fd_install(int fd, struct file *f)
{
	struct files *t = current->files;
	bool shared = !files_alone(t);

	if (unlikely(shared))
		spin_lock(&t->lock);
	ASSERT(fd_bit(t->open, fd) && !t->fd[fd]);
	store_release(&t->fd[fd], f);
	if (unlikely(shared))
		spin_unlock(&t->lock);
}

void fd_release(int fd)
{
	struct files *t = current->files;

	spin_lock(&t->lock);
	ASSERT(fd_bit(t->open, fd) && !t->fd[fd]);
	detach_locked(t, fd);
	spin_unlock(&t->lock);
}

int fd_new(struct file *f, u32 flags)
{
	int fd;

	if (IS_ERR(f))
		return PTR_ERR(f);
	fd = fd_alloc(flags);
	if (fd < 0)
		file_put(f);
	else
		fd_install(fd, f);
	return fd;
}

int fd_dup_from(struct file *f, int min, bool cloexec)
{
	int fd = alloc_from(current->files, min, cloexec);

	if (fd >= 0)
		fd_install(fd, file_get(f));
	return fd;
}

static struct file *table_get(struct files *t, u32 fd)
{
	struct file *f = NULL;

	spin_lock(&t->lock);
	if (fd < t->size && t->fd[fd])
		f = file_get(t->fd[fd]);
	spin_unlock(&t->lock);
	return f;
}

struct file *fd_get(int fd)
{
	return current->files ? table_get(current->files, fd) : NULL;
}

struct file *fd_get_io(int fd)
{
	struct file *f = fd_get(fd);

	if (f && unlikely(f->mode & FMODE_PATH)) {
		file_put(f);
		return NULL;
	}
	return f;
}

struct fd_use fd_use_shared(int fd)
{
	struct file *f = fd_get_io(fd);

	return (struct fd_use){ f, f != NULL };
}

int fd_close(int fd)
{
	struct files *t = current->files;
	struct file *f = NULL;

	spin_lock(&t->lock);
	if ((u32)fd < t->size && t->fd[fd])
		f = detach_locked(t, fd);
	spin_unlock(&t->lock);
	if (!f)
		return -EBADF;
	files_close(f, t);
	return 0;
}

int fd_get_cloexec(int fd)
{
	struct files *t = current->files;
	int ret = -EBADF;

	spin_lock(&t->lock);
	if ((u32)fd < t->size && t->fd[fd])
		ret = fd_bit(t->cloexec, fd);
	spin_unlock(&t->lock);
	return ret;
}

int fd_set_cloexec(int fd, bool on)
{
	struct files *t = current->files;
	int ret = -EBADF;

	spin_lock(&t->lock);
	if ((u32)fd < t->size && t->fd[fd]) {
		fd_set_bit(t->cloexec, fd, on);
		ret = 0;
	}
	spin_unlock(&t->lock);
	return ret;
}

/* --- other tasks' tables ------------------------------------------------------------------- */

static struct files *task_files(struct task *t)
{
	struct files *fs;

	spin_lock(&t->alloc_lock);
	fs = t->files;
	if (fs)
		files_get(fs);
	spin_unlock(&t->alloc_lock);
	return fs;
}

struct file *task_fd_get(struct task *t, int fd)
{
	struct files *fs = task_files(t);
	struct file *f = fs ? table_get(fs, fd) : NULL;

	files_put(fs);
	return f;
}

int fd_next(struct task *t, int from)
{
	struct files *fs = task_files(t);
	int ret = -1;

	if (!fs)
		return -1;
	spin_lock(&fs->lock);
	for (u32 i = max(from, 0); i < fs->size && ret < 0; i++)
		if (fs->fd[i])
			ret = i;
	spin_unlock(&fs->lock);
	files_put(fs);
	return ret;
}

u32 files_size(struct task *t)
{
	struct files *fs = task_files(t);
	u32 size = fs ? READ_ONCE(fs->size) : 0;

	files_put(fs);
	return size;
}
