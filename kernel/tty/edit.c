/* SPDX-License-Identifier: MIT */
/*
 * Editing of the line that is being typed, and its echo: erase, word erase, kill, reprint. The
 * edited line is [canon, head) of the input ring. All functions want tty->lock.
 *
 * Erasing a character on the screen means knowing how wide its echo was: two columns for ^X, as
 * many as up to the next stop for a tab, none for the tail bytes of a UTF-8 character.
 */
#include "internal.h"
#include <ctype.h>
#include <perch/printk.h>

static u8 at(const struct tty *t, u32 index)
{
	return t->in[index & (TTY_IN_SIZE - 1)];
}

static bool utf8_tail(const struct tty *t, u8 c)
{
	return (t->tio.t.iflag & IUTF8) && (c & 0xc0) == 0x80;
}

void echo_raw(struct tty *t, u8 c)
{
	if (t->tio.t.oflag & OPOST)
		out_char(t, c);
	else
		out_char_raw(t, c);
}

void echo_char(struct tty *t, u8 c)
{
	if ((t->tio.t.lflag & ECHOCTL) && iscntrl(c) && c != '\t') {
		out_char(t, '^');
		c ^= 0x40;
	}
	echo_raw(t, c);
}

void edit_finish_erasing(struct tty *t)
{
	if (!t->erasing)
		return;
	echo_raw(t, '/');
	t->erasing = false;
}

static void rub_out(struct tty *t, u32 columns)
{
	while (columns--) {
		echo_raw(t, '\b');
		echo_raw(t, ' ');
		echo_raw(t, '\b');
	}
}

/* Columns that the echo of the line up to head takes since its last tab; *after_tab: there is one.
 * */
static u32 columns_before(const struct tty *t, bool *after_tab)
{
	u32 n = 0;

	*after_tab = false;
	for (u32 k = t->head; k != t->canon; k--) {
		u8 c = at(t, k - 1);

		if (c == '\t') {
			*after_tab = true;
			break;
		}
		if (iscntrl(c))
			n += t->tio.t.lflag & ECHOCTL ? 2 : 0;
		else if (!utf8_tail(t, c))
			n++;
	}
	return n;
}

/* The tab at head was taken out: go back over its columns. */
static void rub_out_tab(struct tty *t)
{
	bool after_tab;
	u32 col = columns_before(t, &after_tab);

	if (!after_tab)
		col += t->canon_column;
	for (u32 n = 8 - (col & 7); n && t->column; n--)
		echo_raw(t, '\b');
}

static void show_erased(struct tty *t, u8 c, bool by_erase, u32 bytes)
{
	u32 lflag = t->tio.t.lflag;

	if (!(lflag & ECHO))
		return;
	if (lflag & ECHOPRT) {
		if (!t->erasing) {
			echo_raw(t, '\\');
			t->erasing = true;
		}
		echo_char(t, c);
		for (u32 k = 1; k < bytes; k++)
			echo_raw(t, at(t, t->head + k));
	} else if (by_erase && !(lflag & ECHOE)) {
		echo_char(t, t->tio.t.cc[VERASE]);
	} else if (c == '\t') {
		rub_out_tab(t);
	} else if (!iscntrl(c)) {
		rub_out(t, 1);
	} else if (lflag & ECHOCTL) {
		rub_out(t, 2);
	}
}

/* Take the last character out of the line: its first byte, the number of bytes in *bytes. False:
 * what is there is only the tail of a character. */
static bool last_char(const struct tty *t, u8 *c, u32 *bytes)
{
	u32 k = t->head;

	do {
		k--;
		*c = at(t, k);
	} while (utf8_tail(t, *c) && k != t->canon);
	*bytes = t->head - k;
	return !utf8_tail(t, *c);
}

static void erase_chars(struct tty *t, bool word, bool one)
{
	bool seen_word = false;
	u32 bytes;
	u8 c;

	while (t->head != t->canon && last_char(t, &c, &bytes)) {
		if (word) {
			if (isalnum(c) || c == '_')
				seen_word = true;
			else if (seen_word)
				break;
		}
		t->head -= bytes;
		show_erased(t, c, one, bytes);
		if (one)
			break;
	}
	if (t->head == t->canon && (t->tio.t.lflag & ECHO))
		edit_finish_erasing(t);
}

static void kill_line(struct tty *t)
{
	u32 lflag = t->tio.t.lflag;

	if ((lflag & ECHO) && (lflag & ECHOK) && (lflag & ECHOKE) && (lflag & ECHOE)) {
		erase_chars(t, false, false);
		return;
	}
	t->head = t->canon;
	if (!(lflag & ECHO))
		return;
	edit_finish_erasing(t);
	echo_char(t, t->tio.t.cc[VKILL]);
	if (lflag & ECHOK)
		echo_raw(t, '\n');
}

void edit_erase(struct tty *t, u8 c)
{
	if (t->head == t->canon)
		return;
	if (c == t->tio.t.cc[VERASE])
		erase_chars(t, false, true);
	else if (c == t->tio.t.cc[VKILL])
		kill_line(t);
	else
		erase_chars(t, true, false);
}

void edit_reprint(struct tty *t)
{
	edit_finish_erasing(t);
	echo_char(t, t->tio.t.cc[VREPRINT]);
	echo_raw(t, '\n');
	t->canon_column = t->column;
	for (u32 k = t->canon; k != t->head; k++)
		echo_char(t, at(t, k));
}
