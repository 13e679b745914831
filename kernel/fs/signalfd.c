/* SPDX-License-Identifier: MIT */
/* signalfd: pending signals of the reader, taken by read instead of a handler. */
#include "internal.h"

#include <perch/signal.h>
#include <string.h>

struct signalfd { sigset mask; };

/* What read returns for each signal: signalfd(2). */
struct signalfd_info {
	u32 signo;
	s32 error, code;
	u32 pid, uid;
	s32 fd;
	u32 tid, band, overrun, trapno;
	s32 status, value_int;
	u64 value_ptr, utime, stime, addr;
	u16 addr_lsb, pad2;
	s32 syscall;
	u64 call_addr;
	u32 arch;
	u8 pad[28];
};
_Static_assert(sizeof(struct signalfd_info) == 128, "struct signalfd_siginfo");

static void fill_fault(struct signalfd_info *o, const struct siginfo_abi *i)
{
	o->addr = i->fault.addr;
}

static void fill_by_signal(struct signalfd_info *o, const struct siginfo_abi *i)
{
	switch (i->signo) {
	case SIGCHLD:
		o->pid = i->chld.pid;
		o->uid = i->chld.uid;
		o->status = i->chld.status;
		o->utime = i->chld.utime;
		o->stime = i->chld.stime;
		return;
	case SIGILL: case SIGFPE: case SIGSEGV: case SIGBUS: case SIGTRAP:
		fill_fault(o, i);
		return;
	case SIGSYS:
		o->call_addr = i->sys.call_addr;
		o->syscall = i->sys.syscall;
		o->arch = i->sys.arch;
		return;
	default:
		o->band = i->poll.band;
		o->fd = i->poll.fd;
	}
}

static struct signalfd_info convert(const struct siginfo_abi *i)
{
	struct signalfd_info o;

	memset(&o, 0, sizeof(o));
	o.signo = i->signo;
	o.error = i->error;
	o.code = i->code;
	if (i->code == SI_TIMER) {
		o.tid = i->timer.tid;
		o.overrun = i->timer.overrun;
		o.value_ptr = i->timer.value;
		o.value_int = i->timer.value;
	} else if (i->code > SI_USER && i->code < SI_KERNEL) {
		fill_by_signal(&o, i);
	} else {
		o.pid = i->rt.pid;
		o.uid = i->rt.uid;
		o.value_ptr = i->rt.value;
		o.value_int = i->rt.value;
	}
	return o;
}

static struct waitq *queue(void)
{
	return current->sighand->signalfd_wq;
}

static long wait_signal(sigset mask, struct siginfo_abi *info)
{
	int sig = 0;
	long err = wait_event_interruptible(queue(), (sig = dequeue_signal(mask, info)));

	return err ? err : sig;
}

static ssize_t signalfd_read(struct file *f, struct uio *u, loff *pos)
{
	struct signalfd *s = f->priv;
	bool nonblock = f->flags & O_NONBLOCK;
	ssize_t done = 0;

	if (u->left < sizeof(struct signalfd_info))
		return -EINVAL;
	while (u->left >= sizeof(struct signalfd_info)) {
		struct siginfo_abi info;
		struct signalfd_info out;
		long sig = dequeue_signal(READ_ONCE(s->mask), &info);

		if (!sig && !done)
			sig = nonblock ? -EAGAIN : wait_signal(READ_ONCE(s->mask), &info);
		if (sig <= 0)
			return done ? done : sig;
		out = convert(&info);
		if (uio_write(u, &out, sizeof(out)) < sizeof(out))
			return done ? done : -EFAULT;
		done += sizeof(out);
	}
	return done;
}

static u32 signalfd_poll(struct file *f, struct poll_table *pt)
{
	struct signalfd *s = f->priv;

	poll_wait(f, queue(), pt);
	return pending_set(current) & READ_ONCE(s->mask) ? POLLIN : 0;
}

static void signalfd_release(struct file *f)
{
	kfree(f->priv);
}

static void signalfd_fdinfo(struct file *f, struct textbuf *b)
{
	struct signalfd *s = f->priv;

	text_printf(b, "sigmask:\t%016lx\n", s->mask);
}

static const struct file_ops signalfd_ops = {
	.read = signalfd_read, .poll = signalfd_poll, .release = signalfd_release,
	.show_fdinfo = signalfd_fdinfo,
};

static long signalfd_create(sigset mask, u32 flags)
{
	struct signalfd *s = kmalloc(sizeof(*s));
	struct file *f;

	if (!s)
		return -ENOMEM;
	s->mask = mask;
	f = anon_file("anon_inode:[signalfd]", &signalfd_ops, s, O_RDWR | (flags & O_NONBLOCK));
	if (IS_ERR(f))
		kfree(s);
	return fd_new(f, flags);
}

static long signalfd_change(int fd, sigset mask)
{
	struct file *f = fd_get_io(fd);
	long ret = -EINVAL;

	if (!f)
		return -EBADF;
	if (f->ops == &signalfd_ops) {
		WRITE_ONCE(((struct signalfd *)f->priv)->mask, mask);
		wake_up_all(queue());
		ret = fd;
	}
	file_put(f);
	return ret;
}

long sys_signalfd4(int fd, const sigset __user *umask, size_t size, u32 flags)
{
	sigset mask;

	if (size != sizeof(mask))
		return -EINVAL;
	if (copy_from_user(&mask, umask, sizeof(mask)))
		return -EFAULT;
	if (flags & ~(O_CLOEXEC | O_NONBLOCK))
		return -EINVAL;
	mask &= ~SIG_KERNEL_ONLY;
	return fd == -1 ? signalfd_create(mask, flags) : signalfd_change(fd, mask);
}
