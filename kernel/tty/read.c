/* SPDX-License-Identifier: MIT */
/*
 * read(2) of a terminal. With ICANON a read returns at most one line; the character that ended it
 * by EOF is not handed out, so EOF alone reads as 0 bytes. Without it, VMIN and VTIME decide how
 * long to wait (termios(3) has the four cases).
 */
#include "internal.h"
#include <perch/printk.h>
#include <perch/signal.h>

static bool is_line_end(const struct tty *t, u32 index)
{
	index &= TTY_IN_SIZE - 1;
	return t->line_end[index / 64] & BIT(index % 64);
}

bool tty_input_available(struct tty *t, bool for_poll)
{
	const u8 *cc = t->tio.t.cc;
	u32 least = for_poll && !cc[VTIME] && cc[VMIN] ? cc[VMIN] : 1;

	if (t->tio.t.lflag & ICANON)
		return t->canon != t->tail;
	return t->head - t->tail >= least;
}

static bool available(struct tty *t)
{
	u64 flags = spin_lock_irqsave(&t->lock);
	bool yes = tty_input_available(t, false);

	spin_unlock_irqrestore(&t->lock, flags);
	return yes;
}

u32 tty_input_count(struct tty *t)
{
	u64 flags = spin_lock_irqsave(&t->lock);
	u32 n = (t->tio.t.lflag & ICANON ? t->canon : t->head) - t->tail;

	spin_unlock_irqrestore(&t->lock, flags);
	return n;
}

/* Move up to n characters of the line out. *ended: it was read to its end. lock held. */
static size_t take_line(struct tty *t, u8 *s, size_t n, bool *ended)
{
	size_t k = 0;

	*ended = false;
	while (t->tail != t->canon && !*ended) {
		u32 index = t->tail;
		u8 c = t->in[index & (TTY_IN_SIZE - 1)];
		bool end = is_line_end(t, index), last = index + 1 == t->canon;
		bool eof = end && c == 0 && !(t->pushed && last);

		if (k == n && !eof)
			break;
		t->tail++;
		if (!eof)
			s[k++] = c;
		*ended = end;
	}
	return k;
}

static size_t take_raw(struct tty *t, u8 *s, size_t n)
{
	size_t k = 0;

	while (k < n && t->tail != t->head)
		s[k++] = t->in[t->tail++ & (TTY_IN_SIZE - 1)];
	return k;
}

/* Take input for u. *ended: a line ended. The number of bytes, or -EFAULT. */
static ssize_t take(struct tty *t, struct uio *u, bool *ended)
{
	ssize_t done = 0;
	u8 chunk[256];
	size_t n;

	*ended = false;
	do {
		u64 flags = spin_lock_irqsave(&t->lock);
		size_t want = min(u->left, sizeof(chunk));

		n = t->tio.t.lflag & ICANON ? take_line(t, chunk, want, ended) :
		    take_raw(t, chunk, want);
		spin_unlock_irqrestore(&t->lock, flags);
		if (n && uio_write(u, chunk, n) != n)
			return -EFAULT;
		done += (ssize_t)n;
	} while (n == sizeof(chunk) && u->left && !*ended);
	if (done && t->ops->unthrottle)
		t->ops->unthrottle(t);
	return done;
}

/* How long to wait for the next character: false: do not wait. */
static bool wait_limit(struct tty *t, bool first, ktime *until)
{
	u8 vmin = t->tio.t.cc[VMIN], vtime = t->tio.t.cc[VTIME];
	ktime span = (ktime)vtime * (NSEC_PER_SEC / 10);

	*until = KTIME_MAX;
	if (t->tio.t.lflag & ICANON)
		return true;
	if (!vmin && !vtime)
		return false;
	if (vtime && (!vmin || !first))
		*until = ktime_now() + span;
	return true;
}

static bool input_or_end(struct tty *t, struct file *f)
{
	return available(t) || tty_file_dead(f) || READ_ONCE(t->other_closed);
}

/* Wait for input. 1: there is some, 0: time is up or the terminal is dead, -errno. */
static long wait_input(struct tty *t, struct file *f, ktime until)
{
	long err;

	if (!input_or_end(t, f)) {
		if (f->flags & O_NONBLOCK)
			return -EAGAIN;
		err = wait_event_interruptible_until(&t->read_wq, input_or_end(t, f), until);
		if (err == -ETIMEDOUT)
			return 0;
		if (err)
			return err;
	}
	if (tty_file_dead(f))
		return 0;
	if (available(t))
		return 1;
	return -EIO;		/* a slave without a master */
}

/* read_lock held. */
static ssize_t read_locked(struct tty *t, struct file *f, struct uio *u)
{
	ssize_t done = 0;
	ktime until;

	for (;;) {
		size_t least = t->tio.t.lflag & ICANON ? 1 : t->tio.t.cc[VMIN];
		bool ended, may_wait = wait_limit(t, done == 0, &until);
		long got = may_wait ? wait_input(t, f, until) : available(t);
		ssize_t n;

		if (got <= 0)
			return done ? done : got;
		n = take(t, u, &ended);
		if (n < 0)
			return done ? done : n;
		done += n;
		/* nothing taken and no line end: the mode changed under us, look again */
		if (ended || !u->left || (done && (size_t)done >= least))
			return done;
	}
}

ssize_t tty_read(struct file *f, struct uio *u, loff *pos)
{
	struct tty *t = file_tty(f);
	ssize_t ret;

	if (tty_file_dead(f))
		return 0;
	ret = tty_check_job(t, SIGTTIN);
	if (ret)
		return ret;
	if (!u->left)
		return 0;
	if (f->flags & O_NONBLOCK) {
		if (!mutex_trylock(&t->read_lock))
			return -EAGAIN;
	} else if (mutex_lock_killable(&t->read_lock)) {
		return -ERESTARTSYS;
	}
	ret = read_locked(t, f, u);
	mutex_unlock(&t->read_lock);
	return ret;
}
