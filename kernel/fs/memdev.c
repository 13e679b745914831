/* SPDX-License-Identifier: MIT */
/*
 * The devices without hardware: null, zero, full, random, urandom, kmsg. /dev/mem and /dev/port do
 * not exist: physical memory is nobody's business.
 */
#include "internal.h"

#include <perch/kmsg.h>
#include <perch/mm.h>
#include <perch/random.h>
#include <string.h>

static ssize_t null_read(struct file *f, struct uio *u, loff *pos)
{
	return 0;
}

static ssize_t null_write(struct file *f, struct uio *u, loff *pos)
{
	ssize_t n = u->left;

	u->left = 0;
	return n;
}

static loff null_llseek(struct file *f, loff off, int whence)
{
	f->pos = 0;
	return 0;
}

static ssize_t zero_read(struct file *f, struct uio *u, loff *pos)
{
	size_t done = 0;

	while (u->left && !u->fault && !signal_pending(current)) {
		done += uio_zero(u, PAGE_SIZE);
		cond_resched();
	}
	if (!done && u->left)
		return u->fault ? -EFAULT : -ERESTARTSYS;
	return done;
}

static ssize_t full_write(struct file *f, struct uio *u, loff *pos)
{
	return -ENOSPC;
}

/*
 * A private mapping of /dev/zero is plain anonymous memory (no vma ops); a shared one is a shmem
 * file of its own, which takes f's place in the area. mm takes the area's reference on f after this
 * op, so that one is given back in advance; the caller's own keeps f alive meanwhile.
 */
static int zero_mmap(struct file *f, struct vma *v)
{
	struct file *shm;

	if (!(v->flags & VM_SHARED))
		return 0;
	shm = shmem_file("dev/zero", v->end - v->start);
	if (IS_ERR(shm))
		return PTR_ERR(shm);
	v->file = shm;
	v->pgoff = 0;
	tmpfs_mmap(shm, v);
	file_put(f);
	return 0;
}

static ssize_t random_read(struct file *f, struct uio *u, loff *pos)
{
	char buf[256];
	size_t done = 0;

	while (u->left && !u->fault && !(done && signal_pending(current))) {
		size_t n = min(u->left, sizeof(buf));

		random_bytes(buf, n);
		done += uio_write(u, buf, n);
		cond_resched();
	}
	memset(buf, 0, sizeof(buf));
	return done || !u->left ? (ssize_t)done : -EFAULT;
}

/* What is written stirs the pool; a megabyte does as well as more. */
static ssize_t random_write(struct file *f, struct uio *u, loff *pos)
{
	char buf[256];
	size_t done = 0;

	while (u->left && !u->fault && !(done && signal_pending(current))) {
		size_t n = uio_read(u, buf, sizeof(buf));

		random_add(buf, n);
		done += n;
		cond_resched();
	}
	return done || !u->left ? (ssize_t)done : -EFAULT;
}

#define RNDGETENTCNT	0x80045200
#define RNDADDTOENTCNT	0x40045201
#define RNDADDENTROPY	0x40085203
#define RNDRESEEDCRNG	0x5207

static long random_ioctl(struct file *f, u32 cmd, u64 arg)
{
	switch (cmd) {
	case RNDGETENTCNT:
		return put_user(256, (int __user *)arg);
	case RNDADDTOENTCNT:
	case RNDADDENTROPY:
	case RNDRESEEDCRNG:
		return capable(CAP_SYS_ADMIN) ? 0 : -EPERM;
	default:
		return -ENOTTY;
	}
}

static loff random_llseek(struct file *f, loff off, int whence)
{
	return generic_llseek(f, off, whence, 0);
}

/* --- kmsg: one record per read --------------------------------------------------------------- */

struct kmsg_user { u64 seq; struct mutex lock; char buf[KMSG_MAX]; };

static int kmsg_open(struct inode *i, struct file *f)
{
	struct kmsg_user *k;

	if ((f->flags & O_ACCMODE) == O_WRONLY)
		return 0;
	k = kmalloc(sizeof(*k));
	if (!k)
		return -ENOMEM;
	k->seq = kmsg_first();
	mutex_init(&k->lock);
	f->priv = k;
	return 0;
}

static void kmsg_release(struct file *f)
{
	kfree(f->priv);
}

static ssize_t kmsg_read_locked(struct file *f, struct kmsg_user *k, struct uio *u)
{
	u64 seq = k->seq;
	size_t n;
	long err;

	if (seq < kmsg_first()) {
		k->seq = kmsg_first();
		return -EPIPE;	/* records were overwritten: said once */
	}
	while (!(n = kmsg_read(&seq, k->buf, sizeof(k->buf)))) {
		if (f->flags & O_NONBLOCK)
			return -EAGAIN;
		err = wait_event_interruptible(&kmsg_wq, seq < kmsg_next());
		if (err)
			return err;
	}
	if (n > u->left)
		return -EINVAL;
	if (uio_write(u, k->buf, n) < n)
		return -EFAULT;
	k->seq = seq;
	return n;
}

static ssize_t kmsg_fread(struct file *f, struct uio *u, loff *pos)
{
	struct kmsg_user *k = f->priv;
	ssize_t ret;

	if (!k)
		return -EBADF;
	if (mutex_lock_killable(&k->lock))
		return -EINTR;
	ret = kmsg_read_locked(f, k, u);
	mutex_unlock(&k->lock);
	return ret;
}

/* "<N>text": the level is taken from it, the facility is forgotten. */
static ssize_t kmsg_write(struct file *f, struct uio *u, loff *pos)
{
	char buf[1024], *text = buf;
	size_t n = u->left;
	u32 level = 4;

	if (n >= sizeof(buf))
		return -EINVAL;
	if (uio_read(u, buf, n) < n)
		return -EFAULT;
	buf[n] = '\0';
	if (buf[0] == '<') {
		u32 v = 0;

		for (text++; *text >= '0' && *text <= '9' && v < 10000; text++)
			v = v * 10 + (*text - '0');
		if (*text == '>') {
			level = v & 7;
			text++;
		} else {
			text = buf;
		}
	}
	printk("<%u>%s%s", level, text, n && buf[n - 1] == '\n' ? "" : "\n");
	return n;
}

static u32 kmsg_poll(struct file *f, struct poll_table *pt)
{
	struct kmsg_user *k = f->priv;

	poll_wait(f, &kmsg_wq, pt);
	if (!k)
		return POLLOUT | POLLWRNORM;
	return READ_ONCE(k->seq) < kmsg_next() ? POLLIN | POLLRDNORM : 0;
}

static loff kmsg_llseek(struct file *f, loff off, int whence)
{
	struct kmsg_user *k = f->priv;

	if (!k)
		return -EBADF;
	if (off)
		return -ESPIPE;
	switch (whence) {
	case SEEK_SET:
	case SEEK_DATA:		/* the last clear; there is none */
		k->seq = kmsg_first();
		return 0;
	case SEEK_END:
		k->seq = kmsg_next();
		return 0;
	default:
		return -EINVAL;
	}
}

static const struct file_ops null_ops = {
	.read = null_read, .write = null_write, .llseek = null_llseek,
};
static const struct file_ops zero_ops = {
	.read = zero_read, .write = null_write, .llseek = null_llseek, .mmap = zero_mmap,
};
static const struct file_ops full_ops = {
	.read = zero_read, .write = full_write, .llseek = null_llseek,
};
static const struct file_ops random_ops = {
	.read = random_read, .write = random_write, .ioctl = random_ioctl, .llseek = random_llseek,
};
static const struct file_ops kmsg_ops = {
	.read = kmsg_fread, .write = kmsg_write, .open = kmsg_open, .release = kmsg_release,
	.poll = kmsg_poll, .llseek = kmsg_llseek,
};

void devices_init(void)
{
	static const struct { const char *name; u32 minor,
			     mode; const struct file_ops *ops; } devs[] = {
		{ "null", 3, 0666, &null_ops }, { "zero", 5, 0666, &zero_ops },
		{ "full", 7, 0666, &full_ops }, { "random", 8, 0666, &random_ops },
		{ "urandom", 9, 0666, &random_ops }, { "kmsg", 11, 0644, &kmsg_ops },
	};

	for (size_t i = 0; i < ARRAY_SIZE(devs); i++) {
		chrdev_register(1, devs[i].minor, 1, "mem", devs[i].ops);
		devtmpfs_add(devs[i].name, S_IFCHR | devs[i].mode, mkdev(1, devs[i].minor));
	}
}
