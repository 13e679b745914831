/* SPDX-License-Identifier: MIT */
/* Integers as files below /proc/sys: bounds, permission, and what is to happen when one changes. */
#include "internal.h"
#include <perch/cred.h>
#include <perch/page.h>
#include <stdlib.h>
#include <string.h>

static int int_show(struct textbuf *b, void *arg)
{
	const struct sysctl_int *s = arg;

	text_printf(b, "%d\n", READ_ONCE(*s->value));
	return 0;
}

int sysctl_parse_int(const char *buf, long *out)
{
	char *end;

	while (*buf == ' ' || *buf == '\t' || *buf == '\n')
		buf++;
	*out = strtol(buf, &end, 0);
	if (end == buf)
		return -EINVAL;
	/* what follows white space is ignored */
	if (*end && !strchr(" \t\n", *end))
		return -EINVAL;
	return *out < INT32_MIN || *out > INT32_MAX ? -EINVAL : 0;
}

static ssize_t int_store(const char *buf, size_t len, void *arg)
{
	const struct sysctl_int *s = arg;
	int old = *s->value, err;
	long v;

	if (s->cap >= 0 && !capable(s->cap))
		return -EPERM;
	err = sysctl_parse_int(buf, &v);
	if (err || v < s->min || v > s->max)
		return -EINVAL;
	WRITE_ONCE(*s->value, (int)v);
	err = s->changed ? s->changed(old, (int)v) : 0;
	if (err) {
		WRITE_ONCE(*s->value, old);
		return err;
	}
	return (ssize_t)len;
}

struct knode *sysctl_int_file(const char *path, u32 mode, const struct sysctl_int *s)
{
	static const struct knode_ops ops = { .show = int_show, .store = int_store };

	ASSERT(s->min <= s->max);
	return knode_file(proc_sys_root, path, mode, &ops, (void *)s);
}

/* A line that never changes: what Linux lets one set and Perch has only one way of doing. */
static int text_show(struct textbuf *b, void *arg)
{
	text_puts(b, arg);
	text_puts(b, "\n");
	return 0;
}

void sysctl_text_file(const char *path, const char *text)
{
	static const struct knode_ops ops = { .show = text_show };

	knode_file(proc_sys_root, path, 0444, &ops, (void *)text);
}
