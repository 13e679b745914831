/* SPDX-License-Identifier: MIT */
/*
 * A folder of the host as a file system: 9P2000.L over a virtio device.
 *
 *	qemu ... -fsdev local,security_model=none,id=share,path=DIR
 *		 -device virtio-9p-device,fsdev=share,mount_tag=share
 *	mount -t 9p -o trans=virtio,version=9p2000.L share /mnt
 *
 * Nothing is cached: the host may change any file at any time, so each lookup, stat, read and write
 * asks the server, and a name that somebody still holds is checked again when it is walked over
 * (revalidate). Every inode has a fid, the server's handle for it; every open file has another one.
 *
 * One attach serves all users: the server does everything as the user who runs it, and permissions
 * are checked here by what it says of owner and mode.
 */
#include "v9fs.h"

#include <perch/mm.h>
#include <stdlib.h>
#include <string.h>

#define V9FS_MAGIC	0x01021997
#define FEATURE_TAG	BIT(0)		/* the device has a mount tag */
#define MSIZE		(P9_IO_MAX + PAGE_SIZE)

/* --- options ------------------------------------------------------------------------------- */

struct v9_options { u32 msize; char aname[64]; };

static bool starts(const char *s, const char *prefix)
{
	return !strncmp(s, prefix, strlen(prefix));
}

static bool parse_option(struct v9_options *o, const char *s)
{
	char *end;
	u64 n;

	if (starts(s, "aname="))
		return strlcpy(o->aname, s + 6, sizeof(o->aname)) < sizeof(o->aname);
	if (starts(s, "msize=")) {
		n = strtoul(s + 6, &end, 0);
		o->msize = min_t(u64, n, MSIZE);
		return end != s + 6 && !*end && n >= 2 * PAGE_SIZE;
	}
	/* Only what describes what is done anyway. */
	return !strcmp(s, "trans=virtio") || !strcmp(s, "version=9p2000.L") ||
	       !strcmp(s, "cache=none") || !strcmp(s, "access=client") || !strcmp(s, "access=any");
}

static int parse_options(struct v9_options *o, const char *data)
{
	char *copy = kstrdup(data), *s = copy, *opt;
	int err = 0;

	if (!copy)
		return -ENOMEM;
	while (!err && (opt = strsep(&s, ",")))
		if (*opt && !parse_option(o, opt))
			err = -EINVAL;
	kfree(copy);
	return err;
}

/* --- the device ---------------------------------------------------------------------------- */

static bool has_tag(struct virtio_dev *d, const char *tag)
{
	char buf[256];
	u16 len;

	virtio_config(d, 0, &len, sizeof(len));
	if (len != strlen(tag) || len > sizeof(buf))
		return false;
	virtio_config(d, sizeof(len), buf, len);
	return !memcmp(buf, tag, len);
}

/* The free device with this tag, started. ERR_PTR(-ENOENT): there is none, or it is mounted. */
static struct virtio_dev *find_device(const char *tag)
{
	for (u32 n = 0; ; n++) {
		struct virtio_dev *d = virtio_claim(VIRTIO_ID_9P, n, FEATURE_TAG);
		int err;

		if (!d)
			return ERR_PTR(-ENOENT);
		err = has_tag(d, tag) ? virtio_start(d) : -ENOENT;
		if (!err)
			return d;
		virtio_release(d);
		if (err != -ENOENT)
			return ERR_PTR(err);
	}
}

/* --- mount and its end --------------------------------------------------------------------- */

static void client_free(struct p9 *c)
{
	virtio_release(c->dev);
	kfree(c->fids);
	kfree(c);
}

static struct p9 *client_new(const char *tag)
{
	struct p9 *c = kzalloc(sizeof(*c));

	if (!c)
		return ERR_PTR(-ENOMEM);
	spin_init(&c->lock);
	waitq_init(&c->tag_free);
	c->dev = find_device(tag);
	if (IS_ERR(c->dev)) {
		int err = PTR_ERR(c->dev);

		kfree(c);
		return ERR_PTR(err);
	}
	return c;
}

static int connect(struct super *sb, struct p9 *c, const struct v9_options *o)
{
	struct inode *root;
	u32 fid;
	int err = p9_version(c, o->msize);

	if (!err)
		err = p9_fid_alloc(c, &fid);
	if (!err)
		err = p9_attach(c, fid, current->cred.fsuid, o->aname);
	if (err)
		return err;
	root = v9_inode(sb, fid);
	if (IS_ERR(root))
		return PTR_ERR(root);
	sb->root = dentry_root(sb, root);
	return sb->root ? 0 : -ENOMEM;
}

static int v9_mount(struct super *sb, const char *source, const char *data)
{
	struct v9_options o = { .msize = MSIZE };
	int err = data ? parse_options(&o, data) : 0;
	struct p9 *c;

	if (!err && !source)
		err = -EINVAL;
	if (err)
		return err;
	c = client_new(source);
	if (IS_ERR(c))
		return PTR_ERR(c);
	sb->magic = V9FS_MAGIC;
	sb->priv = c;
	strlcpy(sb->options, "access=client,trans=virtio", sizeof(sb->options));
	err = connect(sb, c, &o);
	if (err)
		client_free(c);
	return err;
}

/* The root's inode needs the connection for its last word. */
static void v9_kill(struct super *sb)
{
	dentry_put(sb->root);
	client_free(sb->priv);
}

struct fs_type v9fs_type = { .name = "9p", .nodev = true, .mount = v9_mount, .kill = v9_kill };
