/* SPDX-License-Identifier: MIT */
/*
 * Character devices: a table from (major, minor) to the operations that a node with this number
 * gets when it is opened. Nodes may be on any file system; devtmpfs is where the kernel makes its
 * own.
 */
#include "internal.h"

struct chrdev {
	u32 major, minor, nr;
	const char *name;
	const struct file_ops *ops;
	struct chrdev *next;
};

static struct chrdev *devices;		/* grows at boot only */
static spinlock devices_lock = SPINLOCK_INIT;

/* st_rdev's form: 12 bits of major between the low 8 and the high bits of the minor. */
u64 dev_encode(u64 dev)
{
	u64 major = dev >> 20, minor = dev & 0xfffff;

	return (minor & 0xff) | major << 8 | (minor & ~0xffULL) << 12;
}

u64 dev_decode(u64 abi)
{
	return mkdev(abi >> 8 & 0xfff, (abi & 0xff) | (abi >> 12 & 0xfff00));
}

int chrdev_register(u32 major, u32 minor, u32 nr, const char *name, const struct file_ops *ops)
{
	struct chrdev *d = kzalloc(sizeof(*d)), **p;

	if (!d)
		return -ENOMEM;
	*d = (struct chrdev){ major, minor, nr, name, ops, NULL };
	spin_lock(&devices_lock);
	for (p = &devices; *p; p = &(*p)->next)
		;
	*p = d;
	spin_unlock(&devices_lock);
	return 0;
}

const struct file_ops *chrdev_find(u64 rdev)
{
	u32 major = rdev >> 20, minor = rdev & 0xfffff;
	const struct file_ops *ops = NULL;

	spin_lock(&devices_lock);
	for (struct chrdev *d = devices; d && !ops; d = d->next)
		if (d->major == major && minor >= d->minor && minor - d->minor < d->nr)
			ops = d->ops;
	spin_unlock(&devices_lock);
	return ops;
}

/* One line for each major number, in their order. */
void chrdevs_show(struct textbuf *b)
{
	text_puts(b, "Character devices:\n");
	for (u32 major = 1; major < 512; major++) {
		struct chrdev *d = devices;

		while (d && d->major != major)
			d = d->next;
		if (d)
			text_printf(b, "%3u %s\n", major, d->name);
	}
	text_puts(b, "\nBlock devices:\n");
}
