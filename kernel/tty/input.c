/* SPDX-License-Identifier: MIT */
/*
 * Characters coming in from the line (usually in the UART's interrupt): mapping, flow control,
 * signal characters, and into the ring, with echo. Line editing is in edit.c, taking lines out in
 * read.c.
 *
 * The whole batch is handled under tty->lock; signals and wake-ups are collected and done after it
 * is dropped, because sending a signal takes task_lock.
 */
#include "internal.h"
#include <ctype.h>
#include <perch/printk.h>
#include <perch/signal.h>
#include <string.h>

#define CHAR_DISABLED	0	/* a cc of 0 matches nothing */

/* What is to be done once the lock is dropped. */
struct after { u32 signals; bool readers; };
#define AFTER_INT	1
#define AFTER_QUIT	2
#define AFTER_STOP	4

static bool is_cc(const struct tty *t, int which, u8 c)
{
	return c != CHAR_DISABLED && c == t->tio.t.cc[which];
}

static void set_line_end(struct tty *t, u32 index)
{
	index &= TTY_IN_SIZE - 1;
	t->line_end[index / 64] |= BIT(index % 64);
}

static void clear_line_end(struct tty *t, u32 index)
{
	index &= TTY_IN_SIZE - 1;
	t->line_end[index / 64] &= ~BIT(index % 64);
}

void tty_flush_input(struct tty *t)
{
	t->head = t->canon = t->tail = 0;
	t->lnext = t->erasing = t->pushed = false;
	memset(t->line_end, 0, sizeof(t->line_end));
}

/* ICANON was switched: what waits is not edited any more. It can be read at once in both
 * directions. */
void tty_mode_changed(struct tty *t, const struct termios_abi *old)
{
	if (!((old->lflag ^ t->tio.t.lflag) & ICANON))
		return;
	memset(t->line_end, 0, sizeof(t->line_end));
	t->lnext = t->erasing = t->pushed = false;
	t->canon = t->tail;
	if ((t->tio.t.lflag & ICANON) && t->head != t->tail) {
		set_line_end(t, t->head - 1);
		t->canon = t->head;
		t->pushed = true;
	}
}

static u32 in_used(const struct tty *t)
{
	return t->head - t->tail;
}

u32 tty_input_room(struct tty *t)
{
	u64 flags = spin_lock_irqsave(&t->lock);
	u32 room = TTY_IN_SIZE - in_used(t);

	/* A line too long to fit still needs its editing and ending characters. */
	if (!room && (t->tio.t.lflag & ICANON) && t->canon == t->tail)
		room = 1;
	spin_unlock_irqrestore(&t->lock, flags);
	return room;
}

/* Append c. In a full ring the last character of an unfinished line is overwritten, else c is
 * lost. */
static bool put_char(struct tty *t, u8 c)
{
	if (in_used(t) >= TTY_IN_SIZE) {
		if (!(t->tio.t.lflag & ICANON) || t->head == t->canon) {
			if (t->tio.t.iflag & IMAXBEL)
				out_char_raw(t, '\a');
			return false;
		}
		t->head--;
	}
	clear_line_end(t, t->head);
	t->in[t->head & (TTY_IN_SIZE - 1)] = c;
	t->head++;
	return true;
}

static void put_line_end(struct tty *t, u8 c, struct after *a)
{
	if (!put_char(t, c))
		return;
	set_line_end(t, t->head - 1);
	t->canon = t->head;
	t->pushed = false;
	a->readers = true;
}

/* An ordinary or quoted character. */
static void put_literal(struct tty *t, u8 c, struct after *a)
{
	const struct termios_abi *tio = &t->tio.t;

	if (tio->lflag & ECHO) {
		edit_finish_erasing(t);
		if (t->head == t->canon)
			t->canon_column = t->column;
		if (c == '\n' && !(tio->lflag & ICANON))
			echo_raw(t, c);
		else
			echo_char(t, c);
	}
	if ((tio->iflag & PARMRK) && c == 0xff)
		put_char(t, c);
	put_char(t, c);
	if (!(tio->lflag & ICANON))
		a->readers = true;
}

static void signal_char(struct tty *t, u8 c, u32 which, struct after *a)
{
	if (!(t->tio.t.lflag & NOFLSH)) {
		tty_flush_input(t);
		t->out_tail = t->out_head;
	}
	if (t->tio.t.iflag & IXON)
		t->stopped = false;
	if (t->tio.t.lflag & ECHO)
		echo_char(t, c);
	a->signals |= which;
}

/* Flow control and signals: true if c was one of theirs. */
static bool special_char(struct tty *t, u8 c, struct after *a)
{
	const struct termios_abi *tio = &t->tio.t;

	if (tio->iflag & IXON) {
		if (is_cc(t, VSTART, c) || is_cc(t, VSTOP, c)) {
			t->stopped = is_cc(t, VSTOP, c) && !is_cc(t, VSTART, c);
			return true;
		}
		if (t->stopped && (tio->iflag & IXANY))
			t->stopped = false;
	}
	if (!(tio->lflag & ISIG))
		return false;
	if (is_cc(t, VINTR, c))
		signal_char(t, c, AFTER_INT, a);
	else if (is_cc(t, VQUIT, c))
		signal_char(t, c, AFTER_QUIT, a);
	else if (is_cc(t, VSUSP, c))
		signal_char(t, c, AFTER_STOP, a);
	else
		return false;
	return true;
}

static void quote_next(struct tty *t)
{
	t->lnext = true;
	if (!(t->tio.t.lflag & ECHO))
		return;
	edit_finish_erasing(t);
	if (t->tio.t.lflag & ECHOCTL) {
		echo_raw(t, '^');
		echo_raw(t, '\b');
	}
}

static void end_line(struct tty *t, u8 c, struct after *a)
{
	u32 lflag = t->tio.t.lflag;

	if (c == '\n' && (lflag & (ECHO | ECHONL)))
		echo_raw(t, '\n');
	else if (c != '\n' && (lflag & ECHO))
		echo_char(t, c);
	put_line_end(t, c, a);
}

/* ICANON: editing and line ends. True if c was used up. */
static bool canon_char(struct tty *t, u8 c, struct after *a)
{
	u32 lflag = t->tio.t.lflag;
	bool ext = lflag & IEXTEN;

	if (is_cc(t, VERASE, c) || is_cc(t, VKILL, c) || (ext && is_cc(t, VWERASE, c)))
		edit_erase(t, c);
	else if (ext && is_cc(t, VLNEXT, c))
		quote_next(t);
	else if (ext && (lflag & ECHO) && is_cc(t, VREPRINT, c))
		edit_reprint(t);
	else if (c == '\n' || is_cc(t, VEOL, c) || (ext && is_cc(t, VEOL2, c)))
		end_line(t, c, a);
	else if (is_cc(t, VEOF, c))
		put_line_end(t, 0, a);
	else
		return false;
	return true;
}

static void input_char(struct tty *t, u8 c, struct after *a)
{
	const struct termios_abi *tio = &t->tio.t;

	if (tio->iflag & ISTRIP)
		c &= 0x7f;
	if ((tio->iflag & IUCLC) && (tio->lflag & IEXTEN))
		c = (u8)tolower(c);
	if (t->lnext) {
		t->lnext = false;
		put_literal(t, c, a);
		return;
	}
	if (special_char(t, c, a))
		return;
	if (c == '\r') {
		if (tio->iflag & IGNCR)
			return;
		if (tio->iflag & ICRNL)
			c = '\n';
	} else if (c == '\n' && (tio->iflag & INLCR)) {
		c = '\r';
	}
	if ((tio->lflag & ICANON) && canon_char(t, c, a))
		return;
	put_literal(t, c, a);
}

static void do_after(struct tty *t, const struct after *a)
{
	if (a->signals & AFTER_INT)
		tty_signal_group(t, SIGINT);
	if (a->signals & AFTER_QUIT)
		tty_signal_group(t, SIGQUIT);
	if (a->signals & AFTER_STOP)
		tty_signal_group(t, SIGTSTP);
	if (a->readers) {
		wake_up_poll(&t->read_wq, POLLIN | POLLRDNORM);
		fasync_kill(&t->fasync, POLL_IN, POLLIN | POLLRDNORM);
	}
}

void tty_input(struct tty *t, const u8 *s, size_t n)
{
	struct after a = { 0 };
	u64 flags = spin_lock_irqsave(&t->lock);

	for (size_t k = 0; k < n; k++)
		input_char(t, s[k], &a);
	tty_start(t);
	spin_unlock_irqrestore(&t->lock, flags);
	do_after(t, &a);
}
