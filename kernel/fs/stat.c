/* SPDX-License-Identifier: MIT */
/*
 * Looking at objects: stat in its forms, statx, statfs, readlink.
 */
#include "internal.h"

#include <string.h>

#define STATX_BASIC	0x7ff
#define STATX_BTIME	0x800
#define STATX_MNT_ID	0x1000
#define STATX_RESERVED	0x80000000U
#define AT_STATX_SYNC	0x6000
#define ATTR_MOUNT_ROOT	0x2000

static void path_getattr(const struct path *p, struct kstat *st)
{
	struct inode *i = p->dentry->inode;

	if (!i->ops || !i->ops->getattr || i->ops->getattr(i, st))
		generic_getattr(i, st);
}

static int store_stat(const struct kstat *k, uaddr buf)
{
	struct stat_abi s;

	memset(&s, 0, sizeof(s));
	s.st_dev = k->dev;
	s.st_ino = k->ino;
	s.st_mode = k->mode;
	s.st_nlink = k->nlink;
	s.st_uid = k->uid;
	s.st_gid = k->gid;
	s.st_rdev = dev_encode(k->rdev);
	s.st_size = k->size;
	s.st_blksize = k->blksize;
	s.st_blocks = k->blocks;
	s.st_atime = k->atime / NSEC_PER_SEC;
	s.st_atime_nsec = k->atime % NSEC_PER_SEC;
	s.st_mtime = k->mtime / NSEC_PER_SEC;
	s.st_mtime_nsec = k->mtime % NSEC_PER_SEC;
	s.st_ctime = k->ctime / NSEC_PER_SEC;
	s.st_ctime_nsec = k->ctime % NSEC_PER_SEC;
	return copy_to_user((void __user *)buf, &s, sizeof(s)) ? -EFAULT : 0;
}

static int fd_path(int fd, struct path *out)
{
	struct file *f = fd_get(fd);

	if (!f)
		return -EBADF;
	*out = f->path;
	path_get(out);
	file_put(f);
	return 0;
}

/* The object of a (dirfd, name, AT_x) triple. name may be NULL or "" with AT_EMPTY_PATH. */
static int stat_path(int dirfd, const char __user *name, int flags, struct path *out)
{
	u32 lookup = flags & AT_SYMLINK_NOFOLLOW ? 0 : LOOKUP_FOLLOW;
	char first = 0;

	if (flags & AT_EMPTY_PATH) {
		if (name && get_user(first, name))
			return -EFAULT;
		if (!first && dirfd >= 0)
			return fd_path(dirfd, out);
		if (!first)
			return path_lookup(dirfd, "", LOOKUP_EMPTY, out);
		lookup |= LOOKUP_EMPTY;
	}
	return user_path(dirfd, name, lookup, out);
}

long sys_newfstatat(int dirfd, const char __user *name, uaddr buf, int flags)
{
	struct kstat st;
	struct path p;
	int err;

	if (flags & ~(AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT | AT_EMPTY_PATH))
		return -EINVAL;
	err = stat_path(dirfd, name, flags, &p);
	if (err)
		return err;
	path_getattr(&p, &st);
	path_put(&p);
	return store_stat(&st, buf);
}

long sys_fstat(int fd, uaddr buf)
{
	struct kstat st;
	struct path p;
	int err = fd_path(fd, &p);

	if (err)
		return err;
	path_getattr(&p, &st);
	path_put(&p);
	return store_stat(&st, buf);
}

/* --- statx --------------------------------------------------------------------------------- */

static struct statx_time_abi statx_time(s64 ns)
{
	return (struct statx_time_abi){ ns / NSEC_PER_SEC, ns % NSEC_PER_SEC, 0 };
}

static int store_statx(const struct kstat *k, const struct path *p, uaddr buf)
{
	u64 dev = dev_decode(k->dev);
	struct statx_abi s;

	memset(&s, 0, sizeof(s));
	s.stx_mask = STATX_BASIC | STATX_MNT_ID;
	if (p->dentry->sb->magic == TMPFS_MAGIC)
		s.stx_mask |= STATX_BTIME;
	s.stx_blksize = k->blksize;
	s.stx_attributes = p->dentry == p->mnt->root ? ATTR_MOUNT_ROOT : 0;
	s.stx_attributes_mask = ATTR_MOUNT_ROOT;
	s.stx_nlink = k->nlink;
	s.stx_uid = k->uid;
	s.stx_gid = k->gid;
	s.stx_mode = k->mode;
	s.stx_ino = k->ino;
	s.stx_size = k->size;
	s.stx_blocks = k->blocks;
	s.stx_atime = statx_time(k->atime);
	s.stx_mtime = statx_time(k->mtime);
	s.stx_ctime = statx_time(k->ctime);
	if (s.stx_mask & STATX_BTIME)
		s.stx_btime = statx_time(k->btime);
	s.stx_rdev_major = k->rdev >> 20;
	s.stx_rdev_minor = k->rdev & 0xfffff;
	s.stx_dev_major = dev >> 20;
	s.stx_dev_minor = dev & 0xfffff;
	s.stx_mnt_id = p->mnt->id;
	return copy_to_user((void __user *)buf, &s, sizeof(s)) ? -EFAULT : 0;
}

long sys_statx(int dirfd, const char __user *name, u32 flags, u32 mask, uaddr buf)
{
	struct kstat st;
	struct path p;
	int err;

	if ((mask & STATX_RESERVED) || (flags & AT_STATX_SYNC) == AT_STATX_SYNC)
		return -EINVAL;
	if (flags & ~(AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT | AT_EMPTY_PATH | AT_STATX_SYNC))
		return -EINVAL;
	err = stat_path(dirfd, name, flags, &p);
	if (err)
		return err;
	path_getattr(&p, &st);
	err = store_statx(&st, &p, buf);
	path_put(&p);
	return err;
}

/* --- statfs -------------------------------------------------------------------------------- */

/* Flags of statvfs, which differ from those of mount. */
static u64 statfs_flags(u32 mnt)
{
	u64 f = 0x20;	/* ST_VALID */

	f |= mnt & (MS_RDONLY | MS_NOSUID | MS_NODEV | MS_NOEXEC);
	if (mnt & MS_NOATIME)
		f |= 0x400;
	if (mnt & MS_NODIRATIME)
		f |= 0x800;
	if (mnt & MS_RELATIME)
		f |= 0x1000;
	return f;
}

static int store_statfs(const struct path *p, uaddr buf)
{
	const struct super *sb = p->dentry->sb;
	struct statfs_abi s;

	memset(&s, 0, sizeof(s));
	s.f_type = sb->magic;
	s.f_bsize = s.f_frsize = PAGE_SIZE;
	s.f_namelen = NAME_MAX;
	s.f_flags = statfs_flags(p->mnt->flags);
	s.f_fsid[0] = sb->dev;
	if (sb->max_pages) {
		s.f_blocks = sb->max_pages;
		s.f_bfree = s.f_bavail = sb->max_pages - min(sb->used_pages, sb->max_pages);
		s.f_files = sb->max_pages;
		s.f_ffree = s.f_files - min_t(u64, sb->next_ino, s.f_files);
	}
	return copy_to_user((void __user *)buf, &s, sizeof(s)) ? -EFAULT : 0;
}

long sys_statfs(const char __user *name, uaddr buf)
{
	struct path p;
	int err = user_path(AT_FDCWD, name, LOOKUP_FOLLOW, &p);

	if (err)
		return err;
	err = store_statfs(&p, buf);
	path_put(&p);
	return err;
}

long sys_fstatfs(int fd, uaddr buf)
{
	struct path p;
	int err = fd_path(fd, &p);

	if (err)
		return err;
	err = store_statfs(&p, buf);
	path_put(&p);
	return err;
}

/* --- readlink ------------------------------------------------------------------------------ */

static long read_link(struct path *p, uaddr ubuf, int size)
{
	struct inode *i = p->dentry->inode;
	char *buf;
	long n;

	if (!S_ISLNK(i->mode) || !i->ops->readlink)
		return -EINVAL;
	buf = kmalloc(PATH_MAX);
	if (!buf)
		return -ENOMEM;
	n = i->ops->readlink(i, p->dentry, buf, PATH_MAX);
	if (n > size)
		n = size;
	if (n > 0 && copy_to_user((void __user *)ubuf, buf, n))
		n = -EFAULT;
	kfree(buf);
	return n;
}

long sys_readlinkat(int dirfd, const char __user *name, uaddr buf, int size)
{
	struct path p;
	char first;
	long ret;

	if (size <= 0)
		return -EINVAL;
	ret = user_path(dirfd, name, LOOKUP_EMPTY, &p);
	if (ret)
		return ret;
	ret = read_link(&p, buf, size);
	path_put(&p);
	/* An empty name means the fd itself; that one being no link is "no such name". */
	if (ret == -EINVAL && !get_user(first, name) && !first)
		ret = -ENOENT;
	return ret;
}
