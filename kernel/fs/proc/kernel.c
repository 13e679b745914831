/* SPDX-License-Identifier: MIT */
/* The kernel looked at from outside: its symbols, its log, the emergency keys, and Perch's own
 * counters. */
#include "internal.h"
#include <perch/boot.h>
#include <perch/cred.h>
#include <perch/kallsyms.h>
#include <perch/kmsg.h>
#include <perch/mm.h>
#include <perch/page.h>
#include <perch/perf.h>
#include <perch/printk.h>
#include <perch/syscall.h>
#include <perch/task.h>
#include <string.h>

/* --- kallsyms ------------------------------------------------------------------------------- */

int sysctl_kptr_restrict;

static int paranoid(void)
{
	for (const struct perf_sysctl *s = perf_sysctls; s->name; s++)
		if (!strcmp(s->name, "perf_event_paranoid"))
			return READ_ONCE(s->value);
	return 3;
}

/* Addresses of the kernel are for those who may profile it, and for CAP_SYSLOG unless even that is
 * off. */
static bool may_see_addresses(void)
{
	switch (READ_ONCE(sysctl_kptr_restrict)) {
	case 0:
		if (paranoid() <= 1)
			return true;
		return capable(CAP_SYSLOG);
	case 1:
		return capable(CAP_SYSLOG);
	default:
		return false;
	}
}

static int kallsyms_show(struct textbuf *b, void *arg)
{
	bool visible = may_see_addresses();
	const char *name;
	char type;
	u64 addr;

	for (u32 k = 0; kallsyms_get(k, &addr, &type, &name) && !b->failed; k++)
		text_printf(b, "%016lx %c %s\n", visible ? addr : 0, type, name);
	return 0;
}

/* --- kmsg: the log, each record once, waiting for more -------------------------------------- */

static u64 kmsg_seq;	/* kmsg_lock: next record; shared by all readers, as on Linux */
static struct mutex kmsg_lock = MUTEX_INIT(kmsg_lock);

static int kmsg_open(struct inode *i, struct file *f)
{
	return capable(CAP_SYSLOG) ? 0 : -EPERM;
}

/* kmsg_lock held: as many records as fit. */
static ssize_t kmsg_take(struct uio *u, char *text)
{
	ssize_t done = 0;

	for (;;) {
		u64 next = kmsg_seq;
		size_t n = kmsg_read_syslog(&next, text, KMSG_MAX);

		if (!n || n > u->left)
			return done ? done : n ? -EINVAL : 0;
		if (uio_write(u, text, n) != n)
			return done ? done : -EFAULT;
		kmsg_seq = next;
		done += (ssize_t)n;
	}
}

static ssize_t kmsg_read_file(struct file *f, struct uio *u, loff *pos)
{
	char *text = kmalloc(KMSG_MAX);
	ssize_t ret;

	if (!text)
		return -ENOMEM;
	do {
		mutex_lock(&kmsg_lock);
		ret = kmsg_take(u, text);
		mutex_unlock(&kmsg_lock);
		if (!ret && (f->flags & O_NONBLOCK))
			ret = -EAGAIN;
		if (!ret)
			ret = wait_event_interruptible(&kmsg_wq, kmsg_seq < kmsg_next());
		else
			break;
	} while (!ret);
	kfree(text);
	return ret;
}

static u32 kmsg_poll(struct file *f, struct poll_table *pt)
{
	poll_wait(f, &kmsg_wq, pt);
	return READ_ONCE(kmsg_seq) < kmsg_next() ? POLLIN | POLLRDNORM : 0;
}

static const struct file_ops kmsg_fops = {
	.open = kmsg_open,
	.read = kmsg_read_file,
	.poll = kmsg_poll,
	.llseek = text_llseek,
};

/* --- sysrq-trigger -------------------------------------------------------------------------- */

static void sysrq(char key)
{
	switch (key) {
	case 'b':
		arch_reboot();
	case 'o':
		arch_poweroff();
	case 'c':
		panic("sysrq triggered crash");
	case 'f':
		oom_kill();
		return;
	case 's':	/* there are no disks to bring up to date */
	case 'u':
		return;
	default:
		pr_info("sysrq: HELP : reboot(b) crash(c) memory-full-oom-kill(f) poweroff(o) "
			"sync(s)\n");
	}
}

/* Only the first character counts. */
static ssize_t sysrq_store(const char *buf, size_t len, void *arg)
{
	if (len)
		sysrq(buf[0]);
	return (ssize_t)len;
}

/* --- perch/ --------------------------------------------------------------------------------- */

static int unknown_syscalls_show(struct textbuf *b, void *arg)
{
	syscall_unknown_show(b);
	return 0;
}

static int perf_stats_show(struct textbuf *b, void *arg)
{
	char *page = kmalloc(PAGE_SIZE);
	long n = page ? perf_stats_text(page, PAGE_SIZE) : -ENOMEM;

	if (n > 0)
		text_write(b, page, min((size_t)n, PAGE_SIZE));
	kfree(page);
	return n < 0 ? (int)n : 0;
}

static const struct knode_ops kallsyms_ops = { .show = kallsyms_show };
static const struct knode_ops kmsg_ops = { .fops = &kmsg_fops };
static const struct knode_ops sysrq_ops = { .store = sysrq_store };
static const struct knode_ops unknown_ops = { .show = unknown_syscalls_show };
static const struct knode_ops perf_stats_ops = { .show = perf_stats_show };

void proc_kernel_init(void)
{
	knode_file(proc_root, "kallsyms", 0444, &kallsyms_ops, NULL);
	knode_file(proc_root, "kmsg", 0400, &kmsg_ops, NULL);
	knode_file(proc_root, "sysrq-trigger", 0200, &sysrq_ops, NULL);
	knode_file(proc_root, "perch/unknown_syscalls", 0444, &unknown_ops, NULL);
	knode_file(proc_root, "perch/perf_stats", 0444, &perf_stats_ops, NULL);
}
