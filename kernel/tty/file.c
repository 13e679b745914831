/* SPDX-License-Identifier: MIT */
/* A terminal as a file: open, close, poll. /dev/tty is the opener's controlling terminal. */
#include "internal.h"
#include <perch/cred.h>
#include <perch/page.h>
#include <perch/printk.h>
#include <perch/task.h>

/* What every terminal starts with; the line editing that people expect is on. */
static const struct termios_abi default_termios = {
	.iflag = ICRNL | IXON,
	.oflag = OPOST | ONLCR,
	.lflag = ISIG | ICANON | ECHO | ECHOE | ECHOK | ECHOCTL | ECHOKE | IEXTEN,
	.cc = {
		[VINTR] = 'C' & 0x1f, [VQUIT] = '\\' & 0x1f, [VERASE] = 0x7f, [VKILL] = 'U' & 0x1f,
		[VEOF] = 'D' & 0x1f, [VMIN] = 1, [VSTART] = 'Q' & 0x1f, [VSTOP] = 'S' & 0x1f,
		[VSUSP] = 'Z' & 0x1f, [VREPRINT] = 'R' & 0x1f, [VDISCARD] = 'O' & 0x1f,
		[VWERASE] = 'W' & 0x1f, [VLNEXT] = 'V' & 0x1f,
	},
};

void tty_setup(struct tty *t, const struct tty_ops *ops, u64 dev, u32 cflag)
{
	t->ops = ops;
	t->dev = dev;
	spin_init(&t->lock);
	t->tio.t = default_termios;
	t->tio.t.cflag = cflag;
	t->tio.ispeed = t->tio.ospeed = 38400;
	waitq_init(&t->read_wq);
	waitq_init(&t->write_wq);
	mutex_init(&t->read_lock);
	mutex_init(&t->write_lock);
	fasync_init(&t->fasync);
}

int tty_open_file(struct tty *t, struct file *f, bool console, bool may_control)
{
	struct tty_file *tf = kmalloc(sizeof(*tf));
	int err = 0;

	if (!tf)
		return -ENOMEM;
	if (READ_ONCE(t->exclusive) && !capable(CAP_SYS_ADMIN))
		err = -EBUSY;
	if (!err && t->pty)
		err = pty_slave_opened(t);
	if (err) {
		kfree(tf);
		return err;
	}
	*tf = (struct tty_file){
		.tty = t, .hangups = atomic_read(&t->hangups), .console = console,
	};
	f->priv = tf;
	f->ops = &tty_fops;
	atomic_inc(&t->opened);
	if (may_control && !(f->flags & O_NOCTTY))
		tty_take_control(t, f);
	return 0;
}

static void tty_release(struct file *f)
{
	struct tty_file *tf = f->priv;

	if (!tf)
		return;
	if (tf->tty->pty)
		pty_slave_closed(tf->tty);
	kfree(tf);
}

static u32 tty_poll(struct file *f, struct poll_table *pt)
{
	struct tty *t = file_tty(f);
	u32 mask = 0;
	u64 flags;

	poll_wait(f, &t->read_wq, pt);
	poll_wait(f, &t->write_wq, pt);
	if (tty_file_dead(f))
		return POLLIN | POLLOUT | POLLERR | POLLHUP | POLLRDNORM | POLLWRNORM;
	flags = spin_lock_irqsave(&t->lock);
	if (tty_input_available(t, true))
		mask |= POLLIN | POLLRDNORM;
	if (t->other_closed)
		mask |= POLLIN | POLLRDNORM | POLLHUP;
	if (out_used(t) < TTY_WAKE_CHARS)
		mask |= POLLOUT | POLLWRNORM;
	spin_unlock_irqrestore(&t->lock, flags);
	return mask;
}

static int tty_fasync(struct file *f, bool on)
{
	return fasync_set(&file_tty(f)->fasync, f, on);
}

const struct file_ops tty_fops = {
	.read = tty_read,
	.write = tty_write,
	.poll = tty_poll,
	.ioctl = tty_ioctl,
	.release = tty_release,
	.fasync = tty_fasync,
};
