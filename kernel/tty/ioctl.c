/* SPDX-License-Identifier: MIT */
/* Terminal settings and questions: the ioctls of tty_ioctl(4). Numbers from asm-generic/ioctls.h.
 * */
#include "internal.h"
#include <perch/cred.h>
#include <perch/printk.h>
#include <perch/signal.h>
#include <perch/task.h>
#include <perch/uaccess.h>
#include <string.h>

#define TCGETS		0x5401
#define TCSETS		0x5402
#define TCSETSW		0x5403
#define TCSETSF		0x5404
#define TCGETA		0x5405
#define TCSETA		0x5406
#define TCSETAW		0x5407
#define TCSETAF		0x5408
#define TCSBRK		0x5409
#define TCXONC		0x540a
#define TCFLSH		0x540b
#define TIOCEXCL	0x540c
#define TIOCNXCL	0x540d
#define TIOCSCTTY	0x540e
#define TIOCGPGRP	0x540f
#define TIOCSPGRP	0x5410
#define TIOCOUTQ	0x5411
#define TIOCSTI		0x5412
#define TIOCGWINSZ	0x5413
#define TIOCSWINSZ	0x5414
#define TIOCGSOFTCAR	0x5419
#define TIOCSSOFTCAR	0x541a
#define FIONREAD	0x541b
#define TIOCNOTTY	0x5422
#define TIOCSETD	0x5423
#define TIOCGETD	0x5424
#define TCSBRKP		0x5425
#define TIOCSBRK	0x5427
#define TIOCCBRK	0x5428
#define TIOCGSID	0x5429
#define TCGETS2		0x802c542aU
#define TCSETS2		0x402c542bU
#define TCSETSW2	0x402c542cU
#define TCSETSF2	0x402c542dU
#define TIOCGDEV	0x80045432U
#define TIOCVHANGUP	0x5437
#define TIOCGEXCL	0x80045440U

struct termio_abi { u16 iflag, oflag, cflag, lflag; u8 line, cc[8]; };	/* System V's */

static long copy_out(u64 arg, const void *p, size_t n)
{
	return copy_to_user((void __user *)arg, p, n) ? -EFAULT : 0;
}

static long copy_in(void *p, u64 arg, size_t n)
{
	return copy_from_user(p, (const void __user *)arg, n) ? -EFAULT : 0;
}

/* --- termios -------------------------------------------------------------------------------- */

static struct termios2_abi get_termios(struct tty *t)
{
	u64 flags = spin_lock_irqsave(&t->lock);
	struct termios2_abi k = t->tio;

	spin_unlock_irqrestore(&t->lock, flags);
	return k;
}

static long get_termio(struct tty *t, u64 arg)
{
	struct termios2_abi k = get_termios(t);
	struct termio_abi a = {
		.iflag = (u16)k.t.iflag, .oflag = (u16)k.t.oflag, .cflag = (u16)k.t.cflag,
		.lflag = (u16)k.t.lflag, .line = k.t.line,
	};

	memcpy(a.cc, k.t.cc, sizeof(a.cc));
	return copy_out(arg, &a, sizeof(a));
}

/* The speed that a code in cflag means; 0 for codes without one. */
static u32 code_speed(u32 cflag)
{
	static const u32 low[] = { 0, 50, 75, 110, 134, 150, 200, 300, 600, 1200, 1800, 2400, 4800,
				   9600, 19200, 38400 };
	static const u32 high[] = { 0, 57600, 115200, 230400, 460800, 500000, 576000, 921600,
				    1000000, 1152000, 1500000, 2000000, 2500000, 3000000, 3500000,
				    4000000 };

	return cflag & 0010000 ? high[cflag & 15] : low[cflag & 15];
}

static bool is_termio(u32 cmd)
{
	return cmd >= TCSETA && cmd <= TCSETAF;
}

/* The new settings from user space, in whichever of the three layouts cmd means. */
static long read_termios(struct tty *t, u32 cmd, u64 arg, struct termios2_abi *k)
{
	struct termio_abi a;
	long err;

	*k = get_termios(t);
	if (is_termio(cmd)) {
		err = copy_in(&a, arg, sizeof(a));
		if (err)
			return err;
		k->t.iflag = (k->t.iflag & 0xffff0000U) | a.iflag;
		k->t.oflag = (k->t.oflag & 0xffff0000U) | a.oflag;
		k->t.cflag = (k->t.cflag & 0xffff0000U) | a.cflag;
		k->t.lflag = (k->t.lflag & 0xffff0000U) | a.lflag;
		memcpy(k->t.cc, a.cc, sizeof(a.cc));
	} else if (cmd >= TCSETS && cmd <= TCSETSF) {
		err = copy_in(&k->t, arg, sizeof(k->t));
	} else {
		err = copy_in(k, arg, sizeof(*k));
	}
	if (!err && (cmd < TCSETS2 || (k->t.cflag & CBAUD) != 0010000))
		k->ispeed = k->ospeed = code_speed(k->t.cflag);
	return err;
}

static void apply_termios(struct tty *t, const struct termios2_abi *k)
{
	u64 flags = spin_lock_irqsave(&t->lock);
	struct termios_abi old = t->tio.t;

	t->tio = *k;
	tty_mode_changed(t, &old);
	if (!(k->t.iflag & IXON) && (old.iflag & IXON))
		t->stopped = false;
	tty_start(t);
	spin_unlock_irqrestore(&t->lock, flags);
	wake_up_all(&t->read_wq);	/* readers look at the new rules */
}

static long set_termios(struct tty *t, struct file *f, u32 cmd, u64 arg)
{
	bool wait = cmd == TCSETSW || cmd == TCSETSF || cmd == TCSETAW || cmd == TCSETAF ||
		    cmd == TCSETSW2 || cmd == TCSETSF2;
	bool flush = cmd == TCSETSF || cmd == TCSETAF || cmd == TCSETSF2;
	struct termios2_abi k;
	long err = tty_check_job(t, SIGTTOU);

	if (!err)
		err = read_termios(t, cmd, arg, &k);
	if (!err && wait)
		err = tty_drain(t, f);
	if (err)
		return err;
	if (flush) {
		u64 flags = spin_lock_irqsave(&t->lock);

		tty_flush_input(t);
		spin_unlock_irqrestore(&t->lock, flags);
	}
	apply_termios(t, &k);
	return 0;
}

/* --- flow, queues, breaks ------------------------------------------------------------------- */

static long flush_queues(struct tty *t, u64 which)
{
	long err = tty_check_job(t, SIGTTOU);
	u64 flags;

	if (err)
		return err;
	if (which > 2)
		return -EINVAL;
	flags = spin_lock_irqsave(&t->lock);
	if (which != 1)		/* TCIFLUSH, TCIOFLUSH */
		tty_flush_input(t);
	if (which != 0)		/* TCOFLUSH, TCIOFLUSH */
		t->out_tail = t->out_head;
	tty_start(t);
	spin_unlock_irqrestore(&t->lock, flags);
	return 0;
}

static long flow_control(struct tty *t, u64 what)
{
	long err = tty_check_job(t, SIGTTOU);
	u64 flags;
	u8 c;

	if (err)
		return err;
	switch (what) {
	case 0:		/* TCOOFF */
	case 1:		/* TCOON */
		tty_set_stopped(t, what == 0);
		return 0;
	case 2:		/* TCIOFF: ask the other side to stop */
	case 3:		/* TCION */
		flags = spin_lock_irqsave(&t->lock);
		c = t->tio.t.cc[what == 2 ? VSTOP : VSTART];
		if (c)
			out_char_raw(t, c);
		tty_start(t);
		spin_unlock_irqrestore(&t->lock, flags);
		return 0;
	}
	return -EINVAL;
}

/* The lines here cannot send a break; what counts is that everything before it has gone out. */
static long send_break(struct tty *t, struct file *f)
{
	long err = tty_check_job(t, SIGTTOU);

	return err ? err : tty_drain(t, f);
}

static u32 output_count(struct tty *t)
{
	u64 flags = spin_lock_irqsave(&t->lock);
	u32 n = out_used(t);

	spin_unlock_irqrestore(&t->lock, flags);
	return n;
}

/* --- window size ---------------------------------------------------------------------------- */

static long get_winsize(struct tty *t, u64 arg)
{
	u64 flags = spin_lock_irqsave(&t->lock);
	struct winsize_abi ws = t->ws;

	spin_unlock_irqrestore(&t->lock, flags);
	return copy_out(arg, &ws, sizeof(ws));
}

static long set_winsize(struct tty *t, u64 arg)
{
	struct winsize_abi ws;
	bool changed;
	u64 flags;

	if (copy_in(&ws, arg, sizeof(ws)))
		return -EFAULT;
	flags = spin_lock_irqsave(&t->lock);
	changed = memcmp(&t->ws, &ws, sizeof(ws)) != 0;
	t->ws = ws;
	spin_unlock_irqrestore(&t->lock, flags);
	if (changed)
		tty_signal_group(t, SIGWINCH);
	return 0;
}

/* --- session -------------------------------------------------------------------------------- */

/* What the two questions answer for the caller's controlling terminal; a pty master may always
 * ask. */
static long get_session(struct tty *t, u64 arg, bool pgrp, bool always)
{
	u64 flags = spin_lock_irqsave(&task_lock);
	bool ours = current->proc->tty == t || always;
	u32 id = pgrp ? t->pgrp : t->session;

	spin_unlock_irqrestore(&task_lock, flags);
	if (!ours || (!pgrp && !id))
		return -ENOTTY;
	return put_user(id, (u32 __user *)arg);
}

static long put_int(int v, u64 arg)
{
	return put_user(v, (int __user *)arg);
}

static long session_ioctl(struct tty *t, struct file *f, u32 cmd, u64 arg)
{
	bool master = f->ops != &tty_fops;
	int pgrp;

	switch (cmd) {
	case TIOCSCTTY:
		return tty_set_controlling(t, f, arg);
	case TIOCNOTTY:
		return tty_give_up(t);
	case TIOCGPGRP:
		return get_session(t, arg, true, master);
	case TIOCGSID:
		return get_session(t, arg, false, master);
	case TIOCSPGRP:
		return copy_in(&pgrp, arg, sizeof(pgrp)) ? -EFAULT : tty_set_pgrp(t, pgrp);
	case TIOCVHANGUP:
		if (!capable(CAP_SYS_ADMIN))
			return -EPERM;
		tty_hangup(t);
		return 0;
	case TIOCEXCL:
	case TIOCNXCL:
		WRITE_ONCE(t->exclusive, cmd == TIOCEXCL);
		return 0;
	case TIOCGEXCL:
		return put_int(t->exclusive, arg);
	case TIOCSTI:
		return -EIO;	/* faking input is off, as with dev.tty.legacy_tiocsti=0 */
	}
	return -ENOTTY;
}

static long set_softcar(struct tty *t, u64 arg)
{
	int on;
	u64 flags;

	if (copy_in(&on, arg, sizeof(on)))
		return -EFAULT;
	flags = spin_lock_irqsave(&t->lock);
	t->tio.t.cflag = (t->tio.t.cflag & ~CLOCAL) | (on ? CLOCAL : 0);
	spin_unlock_irqrestore(&t->lock, flags);
	return 0;
}

long tty_ioctl(struct file *f, u32 cmd, u64 arg)
{
	if (tty_file_dead(f))
		return cmd == TIOCSPGRP ? -ENOTTY : -EIO;
	return tty_do_ioctl(file_tty(f), f, cmd, arg);
}

long tty_do_ioctl(struct tty *t, struct file *f, u32 cmd, u64 arg)
{
	struct termios2_abi k;
	int v;

	switch (cmd) {
	case TCGETS:
	case TCGETS2:
		k = get_termios(t);
		return copy_out(arg, &k, cmd == TCGETS ? sizeof(k.t) : sizeof(k));
	case TCGETA:
		return get_termio(t, arg);
	case TCSETS: case TCSETSW: case TCSETSF:
	case TCSETA: case TCSETAW: case TCSETAF:
	case TCSETS2: case TCSETSW2: case TCSETSF2:
		return set_termios(t, f, cmd, arg);
	case TCSBRK: case TCSBRKP: case TIOCSBRK: case TIOCCBRK:
		return send_break(t, f);
	case TCXONC:
		return flow_control(t, arg);
	case TCFLSH:
		return flush_queues(t, arg);
	case TIOCGWINSZ:
		return get_winsize(t, arg);
	case TIOCSWINSZ:
		return set_winsize(t, arg);
	case TIOCOUTQ:
		return put_int((int)output_count(t), arg);
	case FIONREAD:
		return put_int((int)tty_input_count(t), arg);
	case TIOCGSOFTCAR:
		return put_int(!!(t->tio.t.cflag & CLOCAL), arg);
	case TIOCSSOFTCAR:
		return set_softcar(t, arg);
	case TIOCGETD:
		return put_int(0, arg);		/* N_TTY, the only line discipline */
	case TIOCSETD:
		return copy_in(&v, arg, sizeof(v)) ? -EFAULT : v == 0 ? 0 : -EINVAL;
	case TIOCGDEV:
		return put_int((int)dev_encode(t->dev), arg);
	}
	return session_ioctl(t, f, cmd, arg);
}
