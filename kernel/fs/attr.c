/* SPDX-License-Identifier: MIT */
/*
 * Changing attributes: chmod, chown, utimes; and extended attributes, of which no file system here
 * keeps any (tmpfs says "no such attribute", the others "not supported").
 */
#include "internal.h"

#include <string.h>

#define UTIME_NOW	0x3fffffff
#define UTIME_OMIT	0x3ffffffe

static int change(struct path *p, const struct iattr *a)
{
	struct inode *i = p->dentry->inode;
	int err;

	if (mount_readonly(p->mnt))
		return -EROFS;
	mutex_lock(&i->lock);
	err = inode_setattr(i, a);
	mutex_unlock(&i->lock);
	return err;
}

static int change_and_put(struct path *p, const struct iattr *a)
{
	int err = change(p, a);

	path_put(p);
	return err;
}

static int io_path(int fd, struct path *out)
{
	struct file *f = fd_get_io(fd);

	if (!f)
		return -EBADF;
	*out = f->path;
	path_get(out);
	file_put(f);
	return 0;
}

static int lookup_at(int dirfd, const char __user *name, int flags, struct path *out)
{
	u32 lookup = flags & AT_SYMLINK_NOFOLLOW ? 0 : LOOKUP_FOLLOW;

	if (flags & AT_EMPTY_PATH)
		lookup |= LOOKUP_EMPTY;
	return user_path(dirfd, name, lookup, out);
}

/* --- chmod --------------------------------------------------------------------------------- */

long sys_fchmod(int fd, u32 mode)
{
	struct iattr a = { .valid = ATTR_MODE, .mode = mode & 07777 };
	struct path p;
	int err = io_path(fd, &p);

	return err ? err : change_and_put(&p, &a);
}

long sys_fchmodat2(int dirfd, const char __user *name, u32 mode, int flags)
{
	struct iattr a = { .valid = ATTR_MODE, .mode = mode & 07777 };
	struct path p;
	int err;

	if (flags & ~(AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH))
		return -EINVAL;
	err = lookup_at(dirfd, name, flags, &p);
	if (err)
		return err;
	if (S_ISLNK(p.dentry->inode->mode)) {
		path_put(&p);
		return -EOPNOTSUPP;
	}
	return change_and_put(&p, &a);
}

long sys_fchmodat(int dirfd, const char __user *name, u32 mode)
{
	return sys_fchmodat2(dirfd, name, mode, 0);
}

/* --- chown --------------------------------------------------------------------------------- */

static struct iattr owner_attr(u32 uid, u32 gid)
{
	struct iattr a = { .uid = uid, .gid = gid };

	if (uid != UINT32_MAX)
		a.valid |= ATTR_UID;
	if (gid != UINT32_MAX)
		a.valid |= ATTR_GID;
	return a;
}

long sys_fchown(int fd, u32 uid, u32 gid)
{
	struct iattr a = owner_attr(uid, gid);
	struct path p;
	int err = io_path(fd, &p);

	return err ? err : change_and_put(&p, &a);
}

long sys_fchownat(int dirfd, const char __user *name, u32 uid, u32 gid, int flags)
{
	struct iattr a = owner_attr(uid, gid);
	struct path p;
	int err;

	if (flags & ~(AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH))
		return -EINVAL;
	err = lookup_at(dirfd, name, flags, &p);
	return err ? err : change_and_put(&p, &a);
}

/* --- times --------------------------------------------------------------------------------- */

static bool valid_nsec(s64 n)
{
	return n == UTIME_NOW || n == UTIME_OMIT || (u64)n < NSEC_PER_SEC;
}

static void set_time(struct iattr *a, u32 which, s64 *slot, const struct timespec64 *t, s64 now)
{
	if (t->tv_nsec == UTIME_OMIT)
		return;
	a->valid |= which;
	if (t->tv_nsec == UTIME_NOW)
		*slot = now;
	else if (__builtin_mul_overflow(t->tv_sec, NSEC_PER_SEC, slot) ||
		 __builtin_add_overflow(*slot, t->tv_nsec, slot))
		*slot = t->tv_sec < 0 ? INT64_MIN : INT64_MAX;
}

/* "Now" for both may be said by anybody who may write; other times are the owner's business. */
static int may_set_times(struct inode *i, const struct timespec64 *t)
{
	if (inode_owner_or_capable(i))
		return 0;
	if (t[0].tv_nsec == UTIME_NOW && t[1].tv_nsec == UTIME_NOW)
		return inode_permission(i, MAY_WRITE);
	return -EPERM;
}

static int set_times(struct path *p, const struct timespec64 *t)
{
	struct iattr a = { 0 };
	s64 now = fs_now();
	int err;

	set_time(&a, ATTR_ATIME, &a.atime, &t[0], now);
	set_time(&a, ATTR_MTIME, &a.mtime, &t[1], now);
	if (!a.valid)
		return 0;
	err = may_set_times(p->dentry->inode, t);
	return err ? err : change(p, &a);
}

long sys_utimensat(int dirfd, const char __user *name, const struct timespec64 __user *ut,
		   int flags)
{
	struct timespec64 t[2] = { { 0, UTIME_NOW }, { 0, UTIME_NOW } };
	struct path p;
	int err;

	if (flags & ~(AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH))
		return -EINVAL;
	if (ut && copy_from_user(t, ut, sizeof(t)))
		return -EFAULT;
	if (!valid_nsec(t[0].tv_nsec) || !valid_nsec(t[1].tv_nsec))
		return -EINVAL;
	if (t[0].tv_nsec == UTIME_OMIT && t[1].tv_nsec == UTIME_OMIT)
		return 0;
	if (!name && dirfd != AT_FDCWD)
		err = flags ? -EINVAL : io_path(dirfd, &p);
	else
		err = lookup_at(dirfd, name, flags, &p);
	if (err)
		return err;
	err = set_times(&p, t);
	path_put(&p);
	return err;
}

/* --- extended attributes ------------------------------------------------------------------- */

static bool known_namespace(const char *name)
{
	static const char *const prefixes[] = { "user.", "trusted.", "security.",
					       "system.posix_acl_" };

	for (size_t i = 0; i < ARRAY_SIZE(prefixes); i++)
		if (!strncmp(name, prefixes[i], strlen(prefixes[i])))
			return true;
	return false;
}

/* absent: the answer for an attribute that could exist. */
static long xattr_named(struct path *p, const char __user *uname, long absent)
{
	char name[256];
	long n = strncpy_from_user(name, uname, sizeof(name));

	if (n < 0)
		return n;
	if (!n || n == sizeof(name))
		return -ERANGE;
	if (p->dentry->sb->magic != TMPFS_MAGIC || !known_namespace(name))
		return -EOPNOTSUPP;
	return absent;
}

static long xattr_at(const char __user *path, u32 lookup, const char __user *name, long absent)
{
	struct path p;
	long err = user_path(AT_FDCWD, path, lookup, &p);

	if (err)
		return err;
	err = name ? xattr_named(&p, name, absent) : absent;
	path_put(&p);
	return err;
}

static long xattr_fd(int fd, const char __user *name, long absent)
{
	struct path p;
	long err = io_path(fd, &p);

	if (err)
		return err;
	err = name ? xattr_named(&p, name, absent) : absent;
	path_put(&p);
	return err;
}

static long check_set(size_t size, u32 flags)
{
	if (flags & ~3U)
		return -EINVAL;
	return size > 65536 ? -E2BIG : 0;
}

long sys_setxattr(const char __user *path, const char __user *name, uaddr value, size_t size,
		  u32 flags)
{
	long err = check_set(size, flags);

	return err ? err : xattr_at(path, LOOKUP_FOLLOW, name, -EOPNOTSUPP);
}

long sys_lsetxattr(const char __user *path, const char __user *name, uaddr value, size_t size,
		   u32 flags)
{
	long err = check_set(size, flags);

	return err ? err : xattr_at(path, 0, name, -EOPNOTSUPP);
}

long sys_fsetxattr(int fd, const char __user *name, uaddr value, size_t size, u32 flags)
{
	long err = check_set(size, flags);

	return err ? err : xattr_fd(fd, name, -EOPNOTSUPP);
}

long sys_getxattr(const char __user *path, const char __user *name, uaddr value, size_t size)
{
	return xattr_at(path, LOOKUP_FOLLOW, name, -ENODATA);
}

long sys_lgetxattr(const char __user *path, const char __user *name, uaddr value, size_t size)
{
	return xattr_at(path, 0, name, -ENODATA);
}

long sys_fgetxattr(int fd, const char __user *name, uaddr value, size_t size)
{
	return xattr_fd(fd, name, -ENODATA);
}

long sys_listxattr(const char __user *path, uaddr list, size_t size)
{
	return xattr_at(path, LOOKUP_FOLLOW, NULL, 0);
}

long sys_llistxattr(const char __user *path, uaddr list, size_t size)
{
	return xattr_at(path, 0, NULL, 0);
}

long sys_flistxattr(int fd, uaddr list, size_t size)
{
	return xattr_fd(fd, NULL, 0);
}

long sys_removexattr(const char __user *path, const char __user *name)
{
	return xattr_at(path, LOOKUP_FOLLOW, name, -ENODATA);
}

long sys_lremovexattr(const char __user *path, const char __user *name)
{
	return xattr_at(path, 0, name, -ENODATA);
}

long sys_fremovexattr(int fd, const char __user *name)
{
	return xattr_fd(fd, name, -ENODATA);
}
