/* SPDX-License-Identifier: MIT */
/*
 * access(2): what could the real user do? The answer is found by asking the ordinary permission
 * check with the real ids in the place of the file system ids for a moment. Credentials are the
 * task's own value, so nobody else acts on them meanwhile.
 */
#include "internal.h"

struct saved_ids { u32 fsuid, fsgid; u64 caps; };

static struct saved_ids use_real_ids(void)
{
	struct cred *c = &current->cred;
	struct saved_ids s = { c->fsuid, c->fsgid, c->cap_effective };

	c->fsuid = c->uid;
	c->fsgid = c->gid;
	c->cap_effective = c->uid ? 0 : c->cap_permitted;
	return s;
}

static void restore_ids(struct saved_ids s)
{
	current->cred.fsuid = s.fsuid;
	current->cred.fsgid = s.fsgid;
	current->cred.cap_effective = s.caps;
}

static int check_access(const struct path *p, int mode)
{
	struct inode *i = p->dentry->inode;
	int err;

	if ((mode & MAY_EXEC) && S_ISREG(i->mode) && (p->mnt->flags & MS_NOEXEC))
		return -EACCES;
	err = inode_permission(i, mode);
	if (err || !(mode & MAY_WRITE))
		return err;
	if ((S_ISREG(i->mode) || S_ISDIR(i->mode) || S_ISLNK(i->mode)) && mount_readonly(p->mnt))
		return -EROFS;
	return 0;
}

long sys_faccessat2(int dirfd, const char __user *name, int mode, int flags)
{
	u32 lookup = flags & AT_SYMLINK_NOFOLLOW ? 0 : LOOKUP_FOLLOW;
	struct saved_ids saved;
	struct path p;
	long err;

	if ((mode & ~7) || (flags & ~(AT_EACCESS | AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH)))
		return -EINVAL;
	if (flags & AT_EMPTY_PATH)
		lookup |= LOOKUP_EMPTY;
	if (!(flags & AT_EACCESS))
		saved = use_real_ids();
	err = user_path(dirfd, name, lookup, &p);
	if (!err) {
		err = mode ? check_access(&p, mode) : 0;
		path_put(&p);
	}
	if (!(flags & AT_EACCESS))
		restore_ids(saved);
	return err;
}

long sys_faccessat(int dirfd, const char __user *name, int mode)
{
	return sys_faccessat2(dirfd, name, mode, 0);
}
