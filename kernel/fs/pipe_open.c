/* SPDX-License-Identifier: MIT */
/*
 * Pipes come and go: pipe2, opening and closing FIFOs. The pipe hangs on its inode as long as any
 * file is open; opening one side of a FIFO waits until the other side has been opened, too, which
 * is seen by the counts of opens ever, so a partner that is gone again by then also counts.
 */
#include "pipe.h"

#include <string.h>

#define DEFAULT_SLOTS	16

static struct fs_type pipe_type = { .name = "pipefs", .nodev = true };
static struct mount *pipe_mount;
static spinlock fifo_lock = SPINLOCK_INIT;	/* inode->priv and ->files of FIFOs */

/* --- life ----------------------------------------------------------------------------------- */

static struct pipe *pipe_alloc(void)
{
	struct pipe *p = kzalloc(sizeof(*p));

	if (!p)
		return NULL;
	p->slots = DEFAULT_SLOTS;
	p->mask = 2 * p->slots - 1;
	p->ring = kcalloc(2 * p->slots, sizeof(p->ring[0]));
	if (!p->ring) {
		kfree(p);
		return NULL;
	}
	mutex_init(&p->lock);
	waitq_init(&p->rd);
	waitq_init(&p->wr);
	fasync_init(&p->fasync_rd);
	fasync_init(&p->fasync_wr);
	return p;
}

static void pipe_free(struct pipe *p)
{
	pipe_drop_all(p);
	kfree(p->ring);
	kfree(p);
}

static void drop_file(struct inode *i, struct pipe *p)
{
	bool last;

	spin_lock(&fifo_lock);
	last = !--p->files;
	if (last)
		i->priv = NULL;
	spin_unlock(&fifo_lock);
	if (last)
		pipe_free(p);
}

static void pipe_release(struct file *f)
{
	struct pipe *p = f->priv;

	mutex_lock(&p->lock);
	if (f->mode & FMODE_READ)
		p->readers--;
	if (f->mode & FMODE_WRITE)
		p->writers--;
	mutex_unlock(&p->lock);
	wake_up_nr(&p->rd, 0, (void *)(POLLIN | POLLRDNORM | POLLERR | POLLHUP));
	wake_up_nr(&p->wr, 0, (void *)(POLLOUT | POLLWRNORM | POLLERR | POLLHUP));
	fasync_kill(&p->fasync_rd, POLL_IN, POLLIN | POLLRDNORM);
	fasync_kill(&p->fasync_wr, POLL_OUT, POLLOUT | POLLWRNORM);
	drop_file(f->inode, p);
}

/* --- FIFOs: opening waits for the other side ------------------------------------------------ */

static struct pipe *fifo_pipe(struct inode *i)
{
	struct pipe *fresh = pipe_alloc(), *p;

	if (!fresh)
		return NULL;
	spin_lock(&fifo_lock);
	p = i->priv;
	if (!p)
		i->priv = p = fresh;
	p->files++;
	spin_unlock(&fifo_lock);
	if (p != fresh)
		pipe_free(fresh);
	return p;
}

/* Called with p->lock held; drops it while waiting. */
static long fifo_wait(struct pipe *p, struct waitq *q, u32 *count)
{
	u32 seen = *count;
	long err;

	mutex_unlock(&p->lock);
	err = wait_event_interruptible(q, READ_ONCE(*count) != seen);
	mutex_lock(&p->lock);
	return err;
}

/* An end of an anonymous pipe can be opened again through /proc/PID/fd: that never waits. */
static long fifo_open_locked(struct pipe *p, struct file *f)
{
	bool is_pipe = f->inode->sb == pipe_mount->sb;
	bool nonblock = f->flags & O_NONBLOCK;

	switch (f->mode & (FMODE_READ | FMODE_WRITE)) {
	case FMODE_READ:
		p->r_count++;
		if (!p->readers++)
			wake_up_all(&p->wr);
		if (p->writers || is_pipe)
			return 0;
		if (nonblock) {
			f->pos = p->w_count;
			return 0;
		}
		return fifo_wait(p, &p->rd, &p->w_count);
	case FMODE_WRITE:
		if (nonblock && !p->readers && !is_pipe)
			return -ENXIO;
		p->w_count++;
		if (!p->writers++)
			wake_up_all(&p->rd);
		return p->readers || is_pipe ? 0 : fifo_wait(p, &p->wr, &p->r_count);
	case FMODE_READ | FMODE_WRITE:
		p->r_count++;
		p->w_count++;
		p->readers++;
		p->writers++;
		wake_up_all(&p->rd);
		wake_up_all(&p->wr);
		return 0;
	default:
		return -EINVAL;
	}
}

static int fifo_open(struct inode *i, struct file *f)
{
	struct pipe *p = fifo_pipe(i);
	long err;

	if (!p)
		return -ENOMEM;
	f->priv = p;
	mutex_lock(&p->lock);
	err = fifo_open_locked(p, f);
	mutex_unlock(&p->lock);
	if (!err)
		return 0;
	if (err == -ENXIO || err == -EINVAL)
		drop_file(i, p);
	else
		pipe_release(f);
	return err;
}

const struct file_ops fifo_ops = {
	.read = pipe_read, .write = pipe_write, .poll = pipe_poll, .ioctl = pipe_ioctl,
	.open = fifo_open, .release = pipe_release, .fasync = pipe_fasync,
};

struct pipe *pipe_of(const struct file *f)
{
	return f->ops == &fifo_ops ? f->priv : NULL;
}

/* --- pipe2 ---------------------------------------------------------------------------------- */

void pipe_init(void)
{
	pipe_mount = kern_mount(&pipe_type);
	pipe_mount->sb->magic = PIPEFS_MAGIC;
	strlcpy(pipe_mount->sb->source, "pipe", sizeof(pipe_mount->sb->source));
}

static struct inode *pipe_inode(void)
{
	struct inode *i = inode_alloc(pipe_mount->sb, S_IFIFO | 0600);
	struct pipe *p = i ? pipe_alloc() : NULL;

	if (!p) {
		inode_put(i);
		return NULL;
	}
	inode_init_owner(i, NULL);
	p->readers = p->writers = p->r_count = p->w_count = 1;
	p->files = 2;
	i->priv = p;
	return i;
}

static struct file *pipe_end(struct dentry *d, u32 flags)
{
	struct path path = { mount_get(pipe_mount), dentry_get(d) };
	struct file *f = file_new(&path, flags, &fifo_ops);

	if (f)
		f->priv = d->inode->priv;
	return f;
}

/* Both ends into f[0] (read) and f[1] (write). */
static int pipe_files(struct file *f[2], u32 flags)
{
	struct inode *i = pipe_inode();
	struct dentry *d = i ? dentry_alloc_pseudo(pipe_mount->sb, NULL, i) : NULL;
	struct pipe *p;

	if (!d) {
		if (i)
			pipe_free(i->priv);
		inode_put(i);
		return -ENOMEM;
	}
	p = i->priv;
	f[0] = pipe_end(d, O_RDONLY | (flags & (O_NONBLOCK | O_DIRECT)));
	f[1] = pipe_end(d, O_WRONLY | (flags & (O_NONBLOCK | O_DIRECT)));
	if (f[0] && f[1]) {
		dentry_put(d);
		return 0;
	}
	for (int k = 0; k < 2; k++) {
		if (f[k]) {
			path_put(&f[k]->path);
			kfree(f[k]);
		}
	}
	pipe_free(p);
	dentry_put(d);
	return -ENOMEM;
}

long sys_pipe2(int __user *ufds, u32 flags)
{
	struct file *f[2];
	int fds[2], err;

	if (flags & ~(O_CLOEXEC | O_NONBLOCK | O_DIRECT))
		return -EINVAL;
	err = pipe_files(f, flags);
	if (err)
		return err;
	fds[0] = fd_alloc(flags);
	fds[1] = fds[0] < 0 ? fds[0] : fd_alloc(flags);
	if (fds[1] < 0)
		err = fds[1];
	else if (copy_to_user(ufds, fds, sizeof(fds)))
		err = -EFAULT;
	if (!err) {
		fd_install(fds[0], f[0]);
		fd_install(fds[1], f[1]);
		return 0;
	}
	for (int k = 0; k < 2; k++) {
		if (fds[k] >= 0)
			fd_release(fds[k]);
		file_put(f[k]);
	}
	return err;
}
