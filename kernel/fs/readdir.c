/* SPDX-License-Identifier: MIT */
/*
 * getdents64. A directory's iterate op calls readdir_emit for each entry from f->pos on, with the
 * position after that entry; it stops when the buffer is full. iterate runs under the directory's
 * lock, which is allowed to be held over a fault in the user's buffer (inode->lock -> mm->lock).
 */
#include "internal.h"

#include <string.h>

struct dirent_abi { u64 ino; s64 off; u16 reclen; u8 type; char name[]; };
#define DIRENT_HEAD 19		/* offset of name */

struct readdir_ctx {
	struct file *f;
	uaddr buf;
	size_t left;
	bool some;		/* an entry was stored */
	int err;
};

bool readdir_emit(struct readdir_ctx *c, const char *name, size_t len, loff next_pos, u64 ino,
		  u8 type)
{
	char raw[ALIGN_UP(DIRENT_HEAD + NAME_MAX + 1, 8)] __aligned(8);
	struct dirent_abi *e = (struct dirent_abi *)raw;
	size_t size = ALIGN_UP(DIRENT_HEAD + len + 1, 8UL);

	if (len > NAME_MAX || size > c->left) {
		c->err = c->some ? 0 : -EINVAL;
		return false;
	}
	e->ino = ino;
	e->off = next_pos;
	e->reclen = size;
	e->type = type;
	memcpy(e->name, name, len);
	memset(e->name + len, 0, size - DIRENT_HEAD - len);
	if (copy_to_user((void __user *)c->buf, raw, size)) {
		c->err = -EFAULT;
		return false;
	}
	c->some = true;
	c->buf += size;
	c->left -= size;
	c->f->pos = next_pos;
	return true;
}

static long iterate_locked(struct file *f, struct readdir_ctx *c)
{
	uaddr start = c->buf;
	int err;

	if (f->path.dentry->unhashed)
		return -ENOENT;		/* the directory has been removed */
	err = f->ops->iterate(f, c);
	if (c->some)
		return c->buf - start;
	return err ? err : c->err;
}

long sys_getdents64(int fd, uaddr buf, u32 n)
{
	struct file *f = fd_get_io(fd);
	struct readdir_ctx c = { .f = f, .buf = buf, .left = n };
	long ret;

	if (!f)
		return -EBADF;
	if (!S_ISDIR(f->inode->mode) || !f->ops->iterate) {
		ret = -ENOTDIR;
	} else if (!access_ok((void __user *)buf, n)) {
		ret = -EFAULT;
	} else {
		mutex_lock(&f->pos_lock);
		mutex_lock(&f->inode->lock);
		ret = iterate_locked(f, &c);
		mutex_unlock(&f->inode->lock);
		mutex_unlock(&f->pos_lock);
	}
	file_put(f);
	return ret;
}
