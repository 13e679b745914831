/* SPDX-License-Identifier: MIT */
/* Terminals: shared by the files of kernel/tty. README.md tells how they fit together. */
#ifndef TTY_INTERNAL_H
#define TTY_INTERNAL_H

#include "../fs/internal.h"
#include <perch/fs.h>
#include <perch/spinlock.h>
#include <perch/tty.h>
#include <perch/wait.h>

#define TTY_IN_SIZE	4096U	/* both powers of two */
#define TTY_OUT_SIZE	4096U
#define TTY_ECHO_ROOM	256U	/* what writers leave free for echoes */
#define TTY_WAKE_CHARS	256U	/* a terminal with more to send is not writable for poll */

#define NCCS_KERNEL 19
struct termios_abi { u32 iflag, oflag, cflag, lflag; u8 line, cc[NCCS_KERNEL]; };
_Static_assert(sizeof(struct termios_abi) == 36, "struct termios of the system call");
struct termios2_abi { struct termios_abi t; u32 ispeed, ospeed; };
_Static_assert(sizeof(struct termios2_abi) == 44, "struct termios2");
struct winsize_abi { u16 row, col, xpixel, ypixel; };

enum { VINTR, VQUIT, VERASE, VKILL, VEOF, VTIME, VMIN, VSWTC, VSTART, VSTOP, VSUSP, VEOL, VREPRINT,
       VDISCARD, VWERASE, VLNEXT, VEOL2 };
/* iflag */
#define IGNBRK	0000001
#define BRKINT	0000002
#define PARMRK	0000010
#define ISTRIP	0000040
#define INLCR	0000100
#define IGNCR	0000200
#define ICRNL	0000400
#define IUCLC	0001000
#define IXON	0002000
#define IXANY	0004000
#define IXOFF	0010000
#define IMAXBEL	0020000
#define IUTF8	0040000
/* oflag */
#define OPOST	0000001
#define OLCUC	0000002
#define ONLCR	0000004
#define OCRNL	0000010
#define ONOCR	0000020
#define ONLRET	0000040
#define TABDLY	0014000
#define XTABS	0014000
/* cflag */
#define B38400	0000017
#define CBAUD	0010017
#define CS8	0000060
#define CREAD	0000200
#define HUPCL	0002000
#define CLOCAL	0004000
/* lflag */
#define ISIG	0000001
#define ICANON	0000002
#define ECHO	0000010
#define ECHOE	0000020
#define ECHOK	0000040
#define ECHONL	0000100
#define NOFLSH	0000200
#define TOSTOP	0000400
#define ECHOCTL	0001000
#define ECHOPRT	0002000
#define ECHOKE	0004000
#define IEXTEN	0100000

struct tty;
struct tty_ops {
	/* There is output, or the way is free again: send what the line takes. tty->lock held,
	 * IRQs off. */
	void (*start)(struct tty *t);
	/* Input was taken from a full buffer. No lock held, process context. Optional. */
	void (*unthrottle)(struct tty *t);
};

/*
 * A terminal: the console, or the slave side of a pseudo terminal.
 * (l) lock  (t) task_lock  (I) immutable
 */
struct tty {
	const struct tty_ops *ops;	/* (I) */
	u64 dev;			/* (I) internal device number */
	spinlock lock;			/* irqsave: input comes from interrupts */
	struct termios2_abi tio;	/* (l) */
	struct winsize_abi ws;		/* (l) */

	/* Input ring: free-running indices. [tail, canon) are complete lines, [canon, head) the
	 * line being edited; without ICANON all of [tail, head) can be read. */
	u8 in[TTY_IN_SIZE];		/* (l) */
	u64 line_end[TTY_IN_SIZE / 64];	/* (l) bit: the character at this index ends a line */
	u32 head, canon, tail;		/* (l) */
	bool lnext;			/* (l) the next character is literal */
	bool erasing;			/* (l) inside ECHOPRT's \.../ */
	bool pushed;		/* (l) the last line is what was there when ICANON came on */

	/* Output ring, emptied by ops->start or by the master's reads. */
	u8 out[TTY_OUT_SIZE];		/* (l) */
	u32 out_head, out_tail;		/* (l) */
	bool stopped;			/* (l) ^S or TCOOFF */
	u32 column, canon_column;	/* (l) cursor now / where the edited line began */

	u32 session, pgrp;		/* (t); 0: none */
	u32 hangups;			/* atomic: files opened before the last one are dead */
	u32 opened;			/* atomic: times a file of it was opened */
	bool exclusive;			/* (l) TIOCEXCL */
	bool other_closed;		/* (l) pty: the master is gone */
	struct waitq read_wq, write_wq;
	struct mutex read_lock, write_lock;	/* one reader, one writer at a time; before lock */
	struct fasync fasync;
	struct pty *pty;		/* (I) NULL: console */
};

/* f->priv of an open terminal. */
struct tty_file { struct tty *tty; u32 hangups; bool console; };

void tty_setup(struct tty *t, const struct tty_ops *ops, u64 dev, u32 cflag);
/* Make f a file of t, with the controlling-terminal rules of open(2). 0 or -errno. */
int tty_open_file(struct tty *t, struct file *f, bool console, bool may_control);
static inline struct tty *file_tty(struct file *f) { return ((struct tty_file *)f->priv)->tty; }
bool tty_file_dead(struct file *f);		/* hung up since it was opened */
extern const struct file_ops tty_fops;

/* --- input.c: characters come in; edit.c: line editing and echo ----------------------------- */

/* Characters from the line. Any context. */
void tty_input(struct tty *t, const u8 *s, size_t n);
u32 tty_input_room(struct tty *t);	/* how many characters tty_input would keep. Any context */
/* lock held: */
void edit_erase(struct tty *t, u8 c);		/* ERASE, WERASE or KILL */
void edit_reprint(struct tty *t);
void edit_finish_erasing(struct tty *t);
void echo_char(struct tty *t, u8 c);		/* control characters as ^X */
void echo_raw(struct tty *t, u8 c);
void tty_flush_input(struct tty *t);
void tty_mode_changed(struct tty *t, const struct termios_abi *old);

/* --- output.c ------------------------------------------------------------------------------- */

static inline u32 out_used(const struct tty *t) { return t->out_head - t->out_tail; }
static inline u32 out_free(const struct tty *t) { return TTY_OUT_SIZE - out_used(t); }
/* Queue one character with output processing. False: no room for it and what it expands to. lock
 * held. */
bool out_char(struct tty *t, u8 c);
bool out_char_raw(struct tty *t, u8 c);
/* Take up to n characters from the output ring. lock held. */
size_t out_take(struct tty *t, u8 *s, size_t n);
void tty_start(struct tty *t);		/* lock held: ops->start unless stopped, wake writers */
void tty_set_stopped(struct tty *t, bool stopped);	/* takes lock */
ssize_t tty_write(struct file *f, struct uio *u, loff *pos);
int tty_drain(struct tty *t, struct file *f);	/* wait until all is sent: 0, -ERESTARTSYS, -EIO */

/* --- read.c --------------------------------------------------------------------------------- */

ssize_t tty_read(struct file *f, struct uio *u, loff *pos);
bool tty_input_available(struct tty *t, bool for_poll);		/* lock held */
u32 tty_input_count(struct tty *t);				/* FIONREAD; takes lock */

/* --- ioctl.c, jobctl.c ---------------------------------------------------------------------- */

long tty_ioctl(struct file *f, u32 cmd, u64 arg);
/* The same for f a file of t or of its master. */
long tty_do_ioctl(struct tty *t, struct file *f, u32 cmd, u64 arg);
/* May current touch its terminal now? 0, -ERESTARTSYS after stopping the group with sig, -EIO. */
int tty_check_job(struct tty *t, int sig);
void tty_take_control(struct tty *t, struct file *f);	/* open without O_NOCTTY */
long tty_set_controlling(struct tty *t, struct file *f, u64 arg);
long tty_give_up(struct tty *t);			/* TIOCNOTTY */
long tty_set_pgrp(struct tty *t, int pgrp);
void tty_hangup(struct tty *t);				/* process context */
void tty_signal_group(struct tty *t, int sig);		/* foreground group; any context */
struct tty *current_tty_get(void);	/* controlling terminal, referenced (pty), or NULL */

/* --- pty.c ---------------------------------------------------------------------------------- */

#define PTY_MAX		256U
#define PTS_MAJOR	136

/*
 * A pair: the terminal (slave) and the master, which sees the terminal's output and types its
 * input.
 * (p) pty_lock  (I) immutable. References: the master's file, each slave file, and lookups.
 */
struct pty {
	refcount refs;
	u32 index;			/* (I) name in devpts */
	bool locked;			/* (p) the slave cannot be opened yet */
	bool master_open;		/* (p) */
	u32 slaves;			/* (p) open files of the slave */
	u32 uid, gid, mode;		/* (p) of the name in devpts */
	s64 ctime;			/* (I) */
	struct waitq master_wq;		/* the master's readers and writers */
	struct mutex master_read, master_write;
	struct tty tty;
};

void pty_init(void);
void devpts_init(void);
struct pty *pty_find(u32 index);	/* with an open master; referenced, or NULL */
u32 pty_next(u32 from);			/* the smallest such index >= from, or PTY_MAX */
void pty_put(struct pty *p);		/* process context */
/* A reference on the pair, if t belongs to one; any context. */
void pty_tty_get(struct tty *t);
void pty_tty_put(struct tty *t);	/* process context */
int pty_slave_opened(struct tty *t);	/* counts the open; -EIO when locked or without a master */
void pty_slave_closed(struct tty *t);

#endif
