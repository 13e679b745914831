/* SPDX-License-Identifier: MIT */
/*
 * Pseudo terminals. Opening /dev/ptmx makes a pair and its name in devpts (devpts.c). What the
 * slave writes goes, processed, into the terminal's output ring, and the master's reads empty it;
 * what the master writes is the terminal's input, echo and signals included.
 *
 * When the master closes, the terminal hangs up and its name goes. When the last slave file
 * closes, the master reads EIO until the slave is opened again.
 *
 * pty_lock (spin) guards the table and the counts; it is taken before tty->lock.
 */
#include "internal.h"
#include <perch/cred.h>
#include <perch/page.h>
#include <perch/printk.h>
#include <perch/procfs.h>
#include <perch/task.h>
#include <perch/uaccess.h>
#include <stdio.h>

#define FIONREAD	0x541b
#define TIOCGPTN	0x80045430U
#define TIOCSPTLCK	0x40045431U
#define TIOCGPTLCK	0x80045439U
#define TIOCGPTPEER	0x5441
#define TIOCSIG		0x40045436U

static struct pty *ptys[PTY_MAX];	/* pty_lock; until the last reference goes */
static spinlock pty_lock;

/* --- life ----------------------------------------------------------------------------------- */

/* No process may keep a pointer to a terminal that goes away. */
static void forget_terminal(struct tty *t)
{
	u64 flags = spin_lock_irqsave(&task_lock);
	struct process *p;

	for (p = process_next(1); p; p = process_next(p->pid + 1))
		if (p->tty == t)
			p->tty = NULL;
	spin_unlock_irqrestore(&task_lock, flags);
}

void pty_put(struct pty *p)
{
	if (!ref_put(&p->refs))
		return;
	forget_terminal(&p->tty);
	spin_lock(&pty_lock);
	ASSERT(!p->master_open && !p->slaves);
	ptys[p->index] = NULL;
	spin_unlock(&pty_lock);
	kfree(p);
}

struct pty *pty_find(u32 index)
{
	struct pty *p;

	if (index >= PTY_MAX)
		return NULL;
	spin_lock(&pty_lock);
	p = ptys[index];
	if (p && (!p->master_open || !ref_get_unless_zero(&p->refs)))
		p = NULL;
	spin_unlock(&pty_lock);
	return p;
}

u32 pty_next(u32 from)
{
	spin_lock(&pty_lock);
	while (from < PTY_MAX && !(ptys[from] && ptys[from]->master_open))
		from++;
	spin_unlock(&pty_lock);
	return from;
}

void pty_tty_get(struct tty *t)
{
	if (t->pty)
		ref_get(&t->pty->refs);
}

void pty_tty_put(struct tty *t)
{
	if (t->pty)
		pty_put(t->pty);
}

/* --- the terminal's side -------------------------------------------------------------------- */

static void slave_start(struct tty *t)
{
	wake_up_poll(&t->pty->master_wq, POLLIN | POLLRDNORM);
}

static void slave_unthrottle(struct tty *t)
{
	wake_up_poll(&t->pty->master_wq, POLLOUT | POLLWRNORM);
}

static const struct tty_ops slave_ops = { .start = slave_start, .unthrottle = slave_unthrottle };

int pty_slave_opened(struct tty *t)
{
	struct pty *p = t->pty;
	int err = 0;

	spin_lock(&pty_lock);
	if (!p->master_open || p->locked)
		err = -EIO;
	else
		p->slaves++;
	spin_unlock(&pty_lock);
	if (!err)
		pty_tty_get(t);
	return err;
}

void pty_slave_closed(struct tty *t)
{
	struct pty *p = t->pty;

	spin_lock(&pty_lock);
	ASSERT(p->slaves > 0);
	p->slaves--;
	spin_unlock(&pty_lock);
	wake_up_all(&p->master_wq);
	pty_put(p);
}

static int slave_dev_open(struct inode *i, struct file *f)
{
	struct pty *p = pty_find((u32)(i->rdev & 0xfffff));
	int err;

	if (!p)
		return -EIO;
	err = tty_open_file(&p->tty, f, false, true);
	pty_put(p);
	return err;
}

static const struct file_ops slave_dev_fops = { .open = slave_dev_open };

/* --- the master's side: f->priv is the pair ------------------------------------------------- */

static const struct file_ops master_fops;

static struct pty *pty_alloc(void)
{
	struct pty *p = kzalloc(sizeof(*p));

	if (!p)
		return NULL;
	ref_init(&p->refs, 1);
	waitq_init(&p->master_wq);
	mutex_init(&p->master_read);
	mutex_init(&p->master_write);
	p->locked = p->master_open = true;
	p->uid = current->cred.fsuid;
	p->gid = current->cred.fsgid;
	p->ctime = fs_now();
	return p;
}

static bool pty_number(struct pty *p)
{
	u32 k = 0;

	spin_lock(&pty_lock);
	while (k < PTY_MAX && ptys[k])
		k++;
	if (k < PTY_MAX) {
		p->index = k;
		ptys[k] = p;
	}
	spin_unlock(&pty_lock);
	return k < PTY_MAX;
}

static int ptmx_open(struct inode *i, struct file *f)
{
	struct pty *p = pty_alloc();

	if (!p)
		return -ENOMEM;
	tty_setup(&p->tty, &slave_ops, 0, B38400 | CS8 | CREAD);
	p->tty.pty = p;
	if (!pty_number(p)) {
		kfree(p);
		return -ENOSPC;
	}
	p->tty.dev = mkdev(PTS_MAJOR, p->index);
	f->priv = p;
	f->ops = &master_fops;
	return 0;
}

static void master_release(struct file *f)
{
	struct pty *p = f->priv;

	spin_lock(&pty_lock);
	p->master_open = false;
	spin_unlock(&pty_lock);
	WRITE_ONCE(p->tty.other_closed, true);
	tty_hangup(&p->tty);
	pty_put(p);
}

static u32 output_waiting(struct pty *p)
{
	u64 flags = spin_lock_irqsave(&p->tty.lock);
	u32 n = p->tty.stopped ? 0 : out_used(&p->tty);

	spin_unlock_irqrestore(&p->tty.lock, flags);
	return n;
}

/* The slave was open and is not any more. */
static bool slave_gone(struct pty *p)
{
	return !READ_ONCE(p->slaves) && atomic_read(&p->tty.opened);
}

/* Move output of the terminal to u; bytes, or -EFAULT. */
static ssize_t master_take(struct pty *p, struct uio *u)
{
	ssize_t done = 0;
	u8 chunk[256];
	size_t n;

	do {
		u64 flags = spin_lock_irqsave(&p->tty.lock);

		n = p->tty.stopped ? 0 : out_take(&p->tty, chunk, min(u->left, sizeof(chunk)));
		tty_start(&p->tty);	/* its writers may go on */
		spin_unlock_irqrestore(&p->tty.lock, flags);
		if (n && uio_write(u, chunk, n) != n)
			return done ? done : -EFAULT;
		done += (ssize_t)n;
	} while (n == sizeof(chunk) && u->left);
	return done;
}

static ssize_t master_read_locked(struct pty *p, struct file *f, struct uio *u)
{
	long err;

	while (!output_waiting(p)) {
		if (slave_gone(p))
			return -EIO;
		if (f->flags & O_NONBLOCK)
			return -EAGAIN;
		err = wait_event_interruptible(&p->master_wq, output_waiting(p) || slave_gone(p));
		if (err)
			return err;
	}
	return master_take(p, u);
}

static ssize_t master_read(struct file *f, struct uio *u, loff *pos)
{
	struct pty *p = f->priv;
	ssize_t ret;

	if (!u->left)
		return 0;
	if (mutex_lock_killable(&p->master_read))
		return -ERESTARTSYS;
	ret = master_read_locked(p, f, u);
	mutex_unlock(&p->master_read);
	return ret;
}

/* Type one piece of input, waiting for room. Bytes taken, or -errno when none. */
static ssize_t type_chunk(struct pty *p, struct file *f, const u8 *s, size_t n)
{
	size_t done = 0;
	long err = 0;

	while (done < n) {
		u32 room = tty_input_room(&p->tty);

		if (room) {
			size_t k = min_t(size_t, room, n - done);

			tty_input(&p->tty, s + done, k);
			done += k;
			continue;
		}
		err = f->flags & O_NONBLOCK ? -EAGAIN :
			wait_event_interruptible(&p->master_wq, tty_input_room(&p->tty));
		if (err)
			break;
	}
	return done ? (ssize_t)done : err;
}

static ssize_t master_write(struct file *f, struct uio *u, loff *pos)
{
	struct pty *p = f->priv;
	ssize_t done = 0, n = 0;
	u8 chunk[256];

	if (slave_gone(p))
		return -EIO;
	if (mutex_lock_killable(&p->master_write))
		return -ERESTARTSYS;
	while (u->left) {
		size_t want = min(u->left, sizeof(chunk)), got = uio_read(u, chunk, want);

		n = got ? type_chunk(p, f, chunk, got) : -EFAULT;
		if (n > 0)
			done += n;
		if (n < (ssize_t)want)
			break;
	}
	mutex_unlock(&p->master_write);
	return done ? done : n;
}

static u32 master_poll(struct file *f, struct poll_table *pt)
{
	struct pty *p = f->priv;
	u32 mask = 0;

	poll_wait(f, &p->master_wq, pt);
	if (output_waiting(p))
		mask |= POLLIN | POLLRDNORM;
	if (slave_gone(p))
		mask |= POLLHUP;
	if (tty_input_room(&p->tty))
		mask |= POLLOUT | POLLWRNORM;
	return mask;
}

/* Open the slave without its name (the caller may be in another root). */
static long open_peer(struct pty *p, u32 flags)
{
	char name[32];
	struct file *s;
	int fd;

	snprintf(name, sizeof(name), "/dev/pts/%u", p->index);
	s = file_open(AT_FDCWD, name, flags & ~O_CREAT, 0);
	if (IS_ERR(s))
		return PTR_ERR(s);
	if (s->ops != &tty_fops || file_tty(s) != &p->tty) {
		file_put(s);
		return -EIO;
	}
	fd = fd_alloc(flags);
	if (fd < 0)
		file_put(s);
	else
		fd_install(fd, s);
	return fd;
}

static long set_locked(struct pty *p, u64 arg)
{
	int on;

	if (copy_from_user(&on, (void __user *)arg, sizeof(on)))
		return -EFAULT;
	spin_lock(&pty_lock);
	p->locked = on;
	spin_unlock(&pty_lock);
	return 0;
}

static long master_ioctl(struct file *f, u32 cmd, u64 arg)
{
	struct pty *p = f->priv;

	switch (cmd) {
	case TIOCGPTN:
		return put_user(p->index, (u32 __user *)arg);
	case TIOCSPTLCK:
		return set_locked(p, arg);
	case TIOCGPTLCK:
		return put_user((int)READ_ONCE(p->locked), (int __user *)arg);
	case TIOCGPTPEER:
		return open_peer(p, (u32)arg);
	case TIOCSIG:
		if (arg != SIGINT && arg != SIGQUIT && arg != SIGTSTP)
			return -EINVAL;
		tty_signal_group(&p->tty, (int)arg);
		return 0;
	case FIONREAD:
		return put_user((int)output_waiting(p), (int __user *)arg);
	}
	return tty_do_ioctl(&p->tty, f, cmd, arg);
}

static const struct file_ops master_fops = {
	.read = master_read,
	.write = master_write,
	.poll = master_poll,
	.ioctl = master_ioctl,
	.release = master_release,
};

static const struct file_ops ptmx_fops = { .open = ptmx_open };

static int pty_count_show(struct textbuf *b, void *arg)
{
	u32 n = 0;

	for (u32 k = pty_next(0); k < PTY_MAX; k = pty_next(k + 1))
		n++;
	text_printf(b, "%u\n", n);
	return 0;
}

static int pty_max_show(struct textbuf *b, void *arg)
{
	text_printf(b, "%u\n", PTY_MAX);
	return 0;
}

void pty_init(void)
{
	static const struct knode_ops count_ops = { .show = pty_count_show };
	static const struct knode_ops max_ops = { .show = pty_max_show };
	int err = chrdev_register(5, 2, 1, "/dev/ptmx", &ptmx_fops);

	if (!err)
		err = chrdev_register(PTS_MAJOR, 0, PTY_MAX, "pts", &slave_dev_fops);
	if (!err)
		err = devtmpfs_add("ptmx", S_IFCHR | 0666, mkdev(5, 2));
	if (err)
		pr_err("pty: error %d\n", -err);
	knode_file(proc_sys_root, "kernel/pty/nr", 0444, &count_ops, NULL);
	knode_file(proc_sys_root, "kernel/pty/max", 0444, &max_ops, NULL);
	devpts_init();
}
