/* SPDX-License-Identifier: MIT */
/* syslog(2): the log as dmesg reads it. Actions and errors as in the man page. */
#include <perch/cred.h>
#include <perch/kmsg.h>
#include <perch/page.h>
#include <perch/task.h>
#include <perch/uaccess.h>

enum {
	SYSLOG_CLOSE, SYSLOG_OPEN, SYSLOG_READ, SYSLOG_READ_ALL, SYSLOG_READ_CLEAR, SYSLOG_CLEAR,
	SYSLOG_CONSOLE_OFF, SYSLOG_CONSOLE_ON, SYSLOG_CONSOLE_LEVEL, SYSLOG_SIZE_UNREAD,
	SYSLOG_SIZE_BUFFER,
};

#define SYSLOG_BUFFER (256 << 10)	/* what SIZE_BUFFER answers: dmesg allocates this much */

int dmesg_restrict;			/* kernel.dmesg_restrict */
static u64 read_seq;			/* next record of SYSLOG_READ; shared by all readers, as on Linux */
static u64 clear_seq;			/* records before it were cleared */
static int saved_loglevel = -1;

/* Copy records from *seq on while they fit. Bytes or -EFAULT. */
static long copy_records(u64 *seq, char __user *buf, size_t size)
{
	char *text = kmalloc(KMSG_MAX);
	long done = 0;

	if (!text)
		return -ENOMEM;
	for (;;) {
		u64 next = *seq;
		size_t n = kmsg_read_syslog(&next, text, KMSG_MAX);

		if (!n || n > size - (size_t)done)
			break;
		if (copy_to_user(buf + done, text, n)) {
			done = -EFAULT;
			break;
		}
		done += (long)n;
		*seq = next;
	}
	kfree(text);
	return done;
}

static size_t text_size(u64 seq)
{
	char text[KMSG_MAX];
	size_t total = 0, n;

	while ((n = kmsg_read_syslog(&seq, text, sizeof(text))))
		total += n;
	return total;
}

/* The newest records that fit into size bytes. */
static long read_all(char __user *buf, size_t size, bool clear)
{
	u64 seq = max(clear_seq, kmsg_first()), end = kmsg_next();
	size_t total = text_size(seq);
	char text[KMSG_MAX];
	long done;

	while (total > size && seq < end)
		total -= kmsg_read_syslog(&seq, text, sizeof(text));
	done = copy_records(&seq, buf, size);
	if (clear && done >= 0)
		clear_seq = end;
	return done;
}

static long read_wait(char __user *buf, size_t size)
{
	long err = wait_event_interruptible(&kmsg_wq, kmsg_next() > READ_ONCE(read_seq));

	return err ? err : copy_records(&read_seq, buf, size);
}

static long console_level(int level)
{
	if (level < 1 || level > 8)
		return -EINVAL;
	console_loglevel = level;
	saved_loglevel = -1;
	return 0;
}

long sys_syslog(int type, char __user *buf, int len)
{
	bool reading = type == SYSLOG_READ || type == SYSLOG_READ_ALL || type == SYSLOG_READ_CLEAR;

	if (!(type == SYSLOG_READ_ALL || type == SYSLOG_SIZE_BUFFER) || dmesg_restrict) {
		if (!capable(CAP_SYSLOG) && !capable(CAP_SYS_ADMIN))
			return -EPERM;
	}
	if (reading && (!buf || len < 0))
		return -EINVAL;
	if (reading && !len)
		return 0;
	switch (type) {
	case SYSLOG_CLOSE:
	case SYSLOG_OPEN:
		return 0;
	case SYSLOG_READ:
		return read_wait(buf, (size_t)len);
	case SYSLOG_READ_ALL:
	case SYSLOG_READ_CLEAR:
		return read_all(buf, (size_t)len, type == SYSLOG_READ_CLEAR);
	case SYSLOG_CLEAR:
		clear_seq = kmsg_next();
		return 0;
	case SYSLOG_CONSOLE_OFF:
		if (saved_loglevel < 0)
			saved_loglevel = console_loglevel;
		console_loglevel = 1;
		return 0;
	case SYSLOG_CONSOLE_ON:
		if (saved_loglevel >= 0)
			console_loglevel = saved_loglevel;
		saved_loglevel = -1;
		return 0;
	case SYSLOG_CONSOLE_LEVEL:
		return console_level(len);
	case SYSLOG_SIZE_UNREAD:
		return (long)text_size(read_seq);
	case SYSLOG_SIZE_BUFFER:
		return SYSLOG_BUFFER;
	default:
		return -EINVAL;
	}
}
