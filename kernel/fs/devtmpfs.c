/* SPDX-License-Identifier: MIT */
/*
 * devtmpfs: one tmpfs for all its mounts, in which the kernel makes the nodes of its devices. It
 * exists from boot on; programs see it when they mount it.
 */
#include "internal.h"

#include <string.h>

static struct mount *dev_mount;

static int devtmpfs_mount(struct super *sb, const char *source, const char *data)
{
	int err = tmpfs_type.mount(sb, source, "mode=755");

	if (!err)
		strlcpy(sb->options, "mode=755,inode64", sizeof(sb->options));
	return err;
}

struct fs_type devtmpfs_type = {
	.name = "devtmpfs", .nodev = true, .single = true, .mount = devtmpfs_mount,
};

void devtmpfs_init(void)
{
	dev_mount = kern_mount(&devtmpfs_type);
}

/* Find or make the directory name below dir. Consumes dir. */
static struct dentry *enter(struct dentry *dir, const struct name *n)
{
	struct dentry *d;
	int err = 0;

	mutex_lock(&dir->inode->lock);
	d = dentry_find(dir, n);
	if (!d) {
		d = dentry_alloc(dir, n);
		err = d ? dir->inode->ops->mkdir(dir->inode, d, S_IFDIR | 0755) : -ENOMEM;
	}
	mutex_unlock(&dir->inode->lock);
	dentry_put(dir);
	if (err) {
		dentry_put(d);
		return NULL;
	}
	return d;
}

static int make_node(struct dentry *dir, const struct name *n, u32 mode, u64 rdev)
{
	struct dentry *d;
	int err = -ENOMEM;

	mutex_lock(&dir->inode->lock);
	d = dentry_find(dir, n);
	if (d) {
		err = -EEXIST;
	} else {
		d = dentry_alloc(dir, n);
		if (d)
			err = dir->inode->ops->mknod(dir->inode, d, mode, rdev);
	}
	mutex_unlock(&dir->inode->lock);
	dentry_put(d);
	return err;
}

int devtmpfs_add(const char *name, u32 mode, u64 rdev)
{
	struct dentry *dir = dentry_get(dev_mount->root);
	const char *slash;
	struct name n;
	int err;

	while ((slash = strchr(name, '/'))) {
		name_set(&n, name, slash - name);
		dir = enter(dir, &n);
		if (!dir)
			return -ENOMEM;
		name = slash + 1;
	}
	name_set(&n, name, strlen(name));
	err = make_node(dir, &n, mode, rdev);
	dentry_put(dir);
	return err;
}
