/* SPDX-License-Identifier: MIT */
/*
 * Inodes: the objects behind names. This file has their life, who may do what with them, and the
 * rules of changing owner, mode and times. What an inode contains is its file system's business.
 *
 * An inode is owned by its dentries (one reference each), by open files through their dentry, and
 * by whoever holds inode_get. evict() tells the file system when the last one has gone.
 */
#include "internal.h"

#include <perch/mm.h>

s64 fs_now(void)
{
	return ktime_now() + realtime_offset();
}

struct inode *inode_alloc(struct super *sb, u32 mode)
{
	struct inode *i = kzalloc(sizeof(*i));

	if (!i)
		return NULL;
	ref_init(&i->refs, 1);
	i->sb = sb;
	i->ino = __atomic_fetch_add(&sb->next_ino, 1, __ATOMIC_RELAXED);
	i->mode = mode;
	i->nlink = 1;
	i->atime = i->mtime = i->ctime = i->btime = fs_now();
	mutex_init(&i->lock);
	spin_init(&i->pages_lock);
	list_init(&i->locks);
	waitq_init(&i->wq);
	return i;
}

void inode_get(struct inode *i)
{
	ref_get(&i->refs);
}

void inode_put(struct inode *i)
{
	if (!i || !ref_put(&i->refs))
		return;
	ASSERT(list_empty(&i->locks));
	if (i->ops && i->ops->evict)
		i->ops->evict(i);
	kfree(i);
}

void inode_init_owner(struct inode *i, const struct inode *dir)
{
	i->uid = current->cred.fsuid;
	i->gid = current->cred.fsgid;
	if (!dir || !(dir->mode & S_ISGID))
		return;
	i->gid = dir->gid;
	if (S_ISDIR(i->mode))
		i->mode |= S_ISGID;
}

/* --- permission ---------------------------------------------------------------------------- */

static int mode_allows(const struct inode *i, int mask, u32 uid, u32 gid)
{
	u32 bits = i->mode;

	if (uid == i->uid)
		bits >>= 6;
	else if (gid == i->gid || in_group(i->gid))
		bits >>= 3;
	return (mask & ~bits & 7) ? -EACCES : 0;
}

static bool capability_allows(const struct inode *i, int mask)
{
	if (S_ISDIR(i->mode)) {
		if (!(mask & MAY_WRITE) && capable(CAP_DAC_READ_SEARCH))
			return true;
		return capable(CAP_DAC_OVERRIDE);
	}
	if (mask == MAY_READ && capable(CAP_DAC_READ_SEARCH))
		return true;
	/* Even root may not execute what nobody may execute. */
	return (!(mask & MAY_EXEC) || (i->mode & 0111)) && capable(CAP_DAC_OVERRIDE);
}

int inode_permission(struct inode *i, int mask)
{
	mask &= MAY_EXEC | MAY_WRITE | MAY_READ;
	if (i->ops && i->ops->permission)
		return i->ops->permission(i, mask);
	if (!mode_allows(i, mask, current->cred.fsuid, current->cred.fsgid))
		return 0;
	return capability_allows(i, mask) ? 0 : -EACCES;
}

bool inode_owner_or_capable(const struct inode *i)
{
	return current->cred.fsuid == i->uid || capable(CAP_FOWNER);
}

/* --- attributes ---------------------------------------------------------------------------- */

void generic_getattr(struct inode *i, struct kstat *st)
{
	*st = (struct kstat){
		.dev = i->sb->dev, .ino = i->ino, .rdev = i->rdev,
		.size = READ_ONCE(i->size), .blocks = i->blocks,
		.mode = i->mode, .nlink = i->nlink, .uid = i->uid, .gid = i->gid,
		.blksize = PAGE_SIZE,
		.atime = i->atime, .mtime = i->mtime, .ctime = i->ctime, .btime = i->btime,
	};
}

void inode_strip_suid(struct inode *i)
{
	u32 kill = 0;

	if (!(i->mode & (S_ISUID | S_ISGID)) || !S_ISREG(i->mode) || capable(CAP_FSETID))
		return;
	kill |= i->mode & S_ISUID;
	if ((i->mode & (S_ISGID | 0010)) == (S_ISGID | 0010))
		kill |= S_ISGID;
	i->mode &= ~kill;
}

static int check_chown(const struct inode *i, const struct iattr *a)
{
	if (capable(CAP_CHOWN))
		return 0;
	if (current->cred.fsuid != i->uid)
		return -EPERM;
	if ((a->valid & ATTR_UID) && a->uid != i->uid)
		return -EPERM;
	if ((a->valid & ATTR_GID) && a->gid != i->gid && !in_group(a->gid))
		return -EPERM;
	return 0;
}

int inode_setattr(struct inode *i, const struct iattr *a)
{
	struct iattr n = *a;
	int err;

	ASSERT(mutex_held(&i->lock));
	if (!i->ops || !i->ops->setattr)
		return -EPERM;
	if (n.valid & (ATTR_UID | ATTR_GID)) {
		err = check_chown(i, &n);
		if (err)
			return err;
		/* A new owner does not inherit the powers of the old one's program. */
		if (!(n.valid & ATTR_MODE) && S_ISREG(i->mode) && (i->mode & (S_ISUID | S_ISGID))) {
			n.valid |= ATTR_MODE;
			n.mode = i->mode & ~S_ISUID;
			if (n.mode & 0010)
				n.mode &= ~S_ISGID;
		}
	} else if (n.valid & ATTR_MODE) {
		if (!inode_owner_or_capable(i))
			return -EPERM;
		if (!S_ISDIR(i->mode) && !in_group(i->gid) && !capable(CAP_FSETID))
			n.mode &= ~S_ISGID;
	}
	err = i->ops->setattr(i, &n);
	if (!err)
		i->ctime = fs_now();
	return err;
}

/* --- writers against execution ------------------------------------------------------------- */

int inode_get_write(struct inode *i)
{
	int n = atomic_read(&i->writers);

	while (n >= 0)
		if (__atomic_compare_exchange_n(&i->writers, &n, n + 1, false, __ATOMIC_ACQ_REL,
						__ATOMIC_RELAXED))
			return 0;
	return -ETXTBSY;
}

void inode_put_write(struct inode *i)
{
	int left = atomic_sub_return(&i->writers, 1);

	ASSERT(left >= 0);
}

int deny_write_access(struct file *f)
{
	int n = atomic_read(&f->inode->writers);

	while (n <= 0)
		if (__atomic_compare_exchange_n(&f->inode->writers, &n, n - 1, false,
						__ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
			return 0;
	return -ETXTBSY;
}

void allow_write_access(struct file *f)
{
	int left = atomic_add_return(&f->inode->writers, 1);

	ASSERT(left <= 0);
}
