/* SPDX-License-Identifier: MIT */
/*
 * Devices without hardware by class: /sys/class/CLASS/NAME and /sys/dev/char/MAJOR:MINOR point to
 * /sys/devices/virtual/CLASS/NAME, whose dev and uevent say the number. mdev makes nodes from
 * these.
 */
#include "internal.h"
#include <perch/page.h>
#include <perch/tty.h>
#include <stdio.h>

struct device { const char *class, *name; u32 major, minor; };

static const struct device devices[] = {
	{ "mem", "null", 1, 3 }, { "mem", "zero", 1, 5 }, { "mem", "full", 1, 7 },
	{ "mem", "random", 1, 8 }, { "mem", "urandom", 1, 9 }, { "mem", "kmsg", 1, 11 },
	{ "tty", "tty", 5, 0 }, { "tty", "console", 5, 1 }, { "tty", "ptmx", 5, 2 },
};

static int dev_show(struct textbuf *b, void *arg)
{
	const struct device *d = arg;

	text_printf(b, "%u:%u\n", d->major, d->minor);
	return 0;
}

static int uevent_show(struct textbuf *b, void *arg)
{
	const struct device *d = arg;

	text_printf(b, "MAJOR=%u\nMINOR=%u\nDEVNAME=%s\n", d->major, d->minor, d->name);
	return 0;
}

static void add_device(const struct device *d)
{
	static const struct knode_ops dev_ops = { .show = dev_show };
	static const struct knode_ops uevent_ops = { .show = uevent_show };
	char path[96], target[96];

	snprintf(path, sizeof(path), "devices/virtual/%s/%s/dev", d->class, d->name);
	sysfs_show(path, &dev_ops, (void *)d);
	snprintf(path, sizeof(path), "devices/virtual/%s/%s/uevent", d->class, d->name);
	sysfs_show(path, &uevent_ops, (void *)d);
	snprintf(path, sizeof(path), "devices/virtual/%s/%s/subsystem", d->class, d->name);
	snprintf(target, sizeof(target), "../../../../class/%s", d->class);
	knode_link(sysfs_root, path, target);
	snprintf(target, sizeof(target), "../../devices/virtual/%s/%s", d->class, d->name);
	snprintf(path, sizeof(path), "class/%s/%s", d->class, d->name);
	knode_link(sysfs_root, path, target);
	snprintf(path, sizeof(path), "dev/char/%u:%u", d->major, d->minor);
	knode_link(sysfs_root, path, target);
}

static char uart_name[32];
static struct device uart_device = { "tty", uart_name, 0, 0 };

static int active_show(struct textbuf *b, void *arg)
{
	text_printf(b, "%s\n", uart_name);
	return 0;
}

void sysfs_class_init(void)
{
	static const struct knode_ops active_ops = { .show = active_show };
	const struct uart_ops *u = console_uart();

	for (size_t k = 0; k < ARRAY_SIZE(devices); k++)
		add_device(&devices[k]);
	if (u) {
		snprintf(uart_name, sizeof(uart_name), "%s0", u->name);
		uart_device.major = u->major;
		uart_device.minor = u->minor;
		add_device(&uart_device);
	}
	sysfs_show("devices/virtual/tty/console/active", &active_ops, NULL);
}
