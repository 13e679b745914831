/* SPDX-License-Identifier: MIT */
/*
 * Output: processing (newline to carriage return and newline, tabs, the column that echo erasing
 * needs), the ring, and write(2). The ring is emptied by the UART's interrupts or by a pty's
 * master. Writers wait while it is full, but for a little room that is kept for echoes.
 */
#include "internal.h"
#include <ctype.h>
#include <perch/printk.h>
#include <perch/signal.h>

bool out_char_raw(struct tty *t, u8 c)
{
	if (!out_free(t))
		return false;
	t->out[t->out_head++ & (TTY_OUT_SIZE - 1)] = c;
	return true;
}

static bool out_newline(struct tty *t)
{
	u32 oflag = t->tio.t.oflag;

	if (oflag & ONLRET)
		t->column = 0;
	if (oflag & ONLCR) {
		if (out_free(t) < 2)
			return false;
		out_char_raw(t, '\r');
		t->column = t->canon_column = 0;
	}
	return out_char_raw(t, '\n');
}

static bool out_return(struct tty *t)
{
	u32 oflag = t->tio.t.oflag;

	if ((oflag & ONOCR) && t->column == 0)
		return true;
	if (oflag & OCRNL) {
		if (oflag & ONLRET)
			t->column = t->canon_column = 0;
		return out_char_raw(t, '\n');
	}
	if (!out_char_raw(t, '\r'))
		return false;
	t->column = t->canon_column = 0;
	return true;
}

static bool out_tab(struct tty *t)
{
	u32 n = 8 - (t->column & 7);

	if ((t->tio.t.oflag & TABDLY) == XTABS) {
		if (out_free(t) < n)
			return false;
		for (u32 k = 0; k < n; k++)
			out_char_raw(t, ' ');
	} else if (!out_char_raw(t, '\t')) {
		return false;
	}
	t->column += n;
	return true;
}

bool out_char(struct tty *t, u8 c)
{
	u32 oflag = t->tio.t.oflag;

	if (!(oflag & OPOST))
		return out_char_raw(t, c);
	switch (c) {
	case '\n':
		return out_newline(t);
	case '\r':
		return out_return(t);
	case '\t':
		return out_tab(t);
	case '\b':
		if (!out_char_raw(t, c))
			return false;
		t->column -= t->column > 0;
		return true;
	}
	if (oflag & OLCUC)
		c = (u8)toupper(c);
	if (!out_char_raw(t, c))
		return false;
	if (!iscntrl(c) && !((t->tio.t.iflag & IUTF8) && (c & 0xc0) == 0x80))
		t->column++;
	return true;
}

size_t out_take(struct tty *t, u8 *s, size_t n)
{
	size_t k = 0;

	while (k < n && out_used(t))
		s[k++] = t->out[t->out_tail++ & (TTY_OUT_SIZE - 1)];
	return k;
}

void tty_start(struct tty *t)
{
	if (out_used(t) && !t->stopped)
		t->ops->start(t);
	if (waitq_active(&t->write_wq) && out_used(t) < TTY_WAKE_CHARS)
		wake_up_poll(&t->write_wq, POLLOUT | POLLWRNORM);
}

void tty_set_stopped(struct tty *t, bool stopped)
{
	u64 flags = spin_lock_irqsave(&t->lock);

	t->stopped = stopped;
	tty_start(t);
	spin_unlock_irqrestore(&t->lock, flags);
}

/* --- write ---------------------------------------------------------------------------------- */

/* Queue what fits of s; the number of characters taken. */
static size_t queue(struct tty *t, const u8 *s, size_t n)
{
	u64 flags = spin_lock_irqsave(&t->lock);
	size_t k = 0;

	while (k < n && out_free(t) > TTY_ECHO_ROOM && out_char(t, s[k]))
		k++;
	tty_start(t);
	spin_unlock_irqrestore(&t->lock, flags);
	return k;
}

static bool has_room(struct tty *t)
{
	u64 flags = spin_lock_irqsave(&t->lock);
	bool room = out_free(t) > TTY_ECHO_ROOM;

	spin_unlock_irqrestore(&t->lock, flags);
	return room;
}

/* Send n bytes, waiting for room. The number sent, or -errno when it is none. */
static ssize_t write_chunk(struct tty *t, struct file *f, const u8 *s, size_t n)
{
	size_t done = 0;
	long err = 0;

	for (;;) {
		if (tty_file_dead(f) || READ_ONCE(t->other_closed)) {
			err = -EIO;
			break;
		}
		done += queue(t, s + done, n - done);
		if (done == n)
			break;
		if (f->flags & O_NONBLOCK) {
			err = -EAGAIN;
			break;
		}
		err = wait_event_interruptible(&t->write_wq, has_room(t) || tty_file_dead(f) ||
					       READ_ONCE(t->other_closed));
		if (err)
			break;
	}
	return done ? (ssize_t)done : err;
}

ssize_t tty_write(struct file *f, struct uio *u, loff *pos)
{
	struct tty *t = file_tty(f);
	ssize_t done = 0, n = 0;
	u8 chunk[256];

	if (tty_file_dead(f))
		return -EIO;
	if (t->tio.t.lflag & TOSTOP) {
		int err = tty_check_job(t, SIGTTOU);

		if (err)
			return err;
	}
	if (f->flags & O_NONBLOCK) {
		if (!mutex_trylock(&t->write_lock))
			return -EAGAIN;
	} else if (mutex_lock_killable(&t->write_lock)) {
		return -ERESTARTSYS;
	}
	while (u->left) {
		size_t want = min(u->left, sizeof(chunk)), got = uio_read(u, chunk, want);

		n = got ? write_chunk(t, f, chunk, got) : -EFAULT;
		if (n > 0)
			done += n;
		if (n < (ssize_t)want)
			break;
	}
	mutex_unlock(&t->write_lock);
	return done ? done : n;
}

static bool drained(struct tty *t)
{
	u64 flags = spin_lock_irqsave(&t->lock);
	bool empty = !out_used(t);

	spin_unlock_irqrestore(&t->lock, flags);
	return empty;
}

int tty_drain(struct tty *t, struct file *f)
{
	long err;

	if (t->pty)
		return 0;	/* what the master has not read yet is out, as on Linux */
	err = wait_event_interruptible(&t->write_wq, drained(t) || tty_file_dead(f));
	return err ? (int)err : tty_file_dead(f) ? -EIO : 0;
}
