/* SPDX-License-Identifier: MIT */
/*
 * Making and removing names: mkdirat, mknodat, symlinkat, linkat, unlinkat. All have one shape:
 * resolve the parent, lock the directory, look at the last component, check, call the file system.
 * parent_op is that shape; rename needs two of them and lives in rename.c.
 */
#include "internal.h"

#include <string.h>

/* --- who may --------------------------------------------------------------------------------- */

int may_create(struct inode *dir, struct dentry *parent)
{
	if (parent->unhashed)
		return -ENOENT;		/* the directory itself has been removed */
	return inode_permission(dir, MAY_WRITE | MAY_EXEC);
}

static bool sticky_forbids(const struct inode *dir, const struct inode *victim)
{
	u32 uid = current->cred.fsuid;

	return (dir->mode & S_ISVTX) && victim->uid != uid && dir->uid != uid &&
	       !capable(CAP_FOWNER);
}

int may_delete(struct inode *dir, struct dentry *victim, bool isdir)
{
	int err = inode_permission(dir, MAY_WRITE | MAY_EXEC);

	if (err)
		return err;
	if (sticky_forbids(dir, victim->inode))
		return -EPERM;
	if (isdir && !S_ISDIR(victim->inode->mode))
		return -ENOTDIR;
	if (!isdir && S_ISDIR(victim->inode->mode))
		return -EISDIR;
	if (isdir && (READ_ONCE(victim->mounted) || victim->parent == victim))
		return -EBUSY;
	return 0;
}

/* --- the shape ------------------------------------------------------------------------------- */

/* What the special last components ("." ".." "/") answer. */
static int special_error(enum parent_kind kind, enum last_type t)
{
	if (kind == PARENT_CREATE || kind == PARENT_MKDIR)
		return -EEXIST;
	if (kind == PARENT_UNLINK)
		return -EISDIR;
	return t == LAST_DOT ? -EINVAL : t == LAST_DOTDOT ? -ENOTEMPTY : -EBUSY;
}

static int prepare_create(struct parent_op *op, struct dentry *d, bool want_dir)
{
	struct dentry *parent = op->w.path.dentry;
	int err;

	if (d) {
		dentry_put(d);
		return -EEXIST;
	}
	if (op->w.trailing && !want_dir)
		return -ENOENT;
	if (mount_readonly(op->w.path.mnt))
		return -EROFS;
	err = may_create(op->dir, parent);
	if (err)
		return err;
	op->d = dentry_alloc(parent, &op->w.last);
	return op->d ? 0 : -ENOMEM;
}

static int prepare_remove(struct parent_op *op, struct dentry *d, bool isdir)
{
	int err = 0;

	if (!d)
		return -ENOENT;
	op->d = d;
	if (op->w.trailing && !isdir)
		err = S_ISDIR(d->inode->mode) ? -EISDIR : -ENOTDIR;
	else if (mount_readonly(op->w.path.mnt))
		err = -EROFS;
	else
		err = may_delete(op->dir, d, isdir);
	if (err)
		dentry_put(d);
	return err;
}

int parent_op_begin(struct parent_op *op, int dirfd, const char *name, enum parent_kind kind)
{
	struct dentry *d;
	int err;

	if (!name[0])
		return -ENOENT;
	err = walk_start(&op->w, dirfd, name, 0);
	if (err)
		return err;
	err = walk_parent(&op->w);
	if (!err && op->w.type != LAST_NORM)
		err = special_error(kind, op->w.type);
	if (err)
		goto out;
	op->dir = op->w.path.dentry->inode;
	mutex_lock(&op->dir->lock);
	d = dentry_lookup(op->w.path.dentry, &op->w.last, true);
	if (IS_ERR(d))
		err = PTR_ERR(d);
	else if (kind == PARENT_CREATE || kind == PARENT_MKDIR)
		err = prepare_create(op, d, kind == PARENT_MKDIR);
	else
		err = prepare_remove(op, d, kind == PARENT_RMDIR);
	if (!err)
		return 0;
	mutex_unlock(&op->dir->lock);
out:
	walk_end(&op->w);
	return err;
}

void parent_op_end(struct parent_op *op)
{
	mutex_unlock(&op->dir->lock);
	dentry_put(op->d);
	walk_end(&op->w);
}

static u32 apply_umask(u32 mode)
{
	return current->fs ? mode & ~current->fs->umask : mode;
}

/* --- mkdir, mknod ---------------------------------------------------------------------------- */

int vfs_mkdir(int dirfd, const char *name, u32 mode)
{
	struct parent_op op;
	int err = parent_op_begin(&op, dirfd, name, PARENT_MKDIR);

	if (err)
		return err;
	err = -EPERM;
	if (op.dir->ops->mkdir)
		err = op.dir->ops->mkdir(op.dir, op.d, S_IFDIR | (apply_umask(mode) & 01777));
	parent_op_end(&op);
	return err;
}

static int do_mknod(struct parent_op *op, u32 mode, u64 rdev)
{
	const struct inode_ops *ops = op->dir->ops;

	if (S_ISREG(mode))
		return ops->create ? ops->create(op->dir, op->d, mode) : -EACCES;
	return ops->mknod ? ops->mknod(op->dir, op->d, mode, rdev) : -EPERM;
}

int vfs_mknod(int dirfd, const char *name, u32 mode, u64 rdev)
{
	struct parent_op op;
	int err;

	if (!(mode & S_IFMT))
		mode |= S_IFREG;
	if (S_ISDIR(mode))
		return -EPERM;
	if (!S_ISREG(mode) && !S_ISCHR(mode) && !S_ISBLK(mode) && !S_ISFIFO(mode) &&
	    !S_ISSOCK(mode))
		return -EINVAL;
	err = parent_op_begin(&op, dirfd, name, PARENT_CREATE);
	if (err)
		return err;
	if ((S_ISCHR(mode) || S_ISBLK(mode)) && !capable(CAP_MKNOD))
		err = -EPERM;
	else
		err = do_mknod(&op, (mode & S_IFMT) | apply_umask(mode & 07777), rdev);
	parent_op_end(&op);
	return err;
}

long sys_mkdirat(int dirfd, const char __user *name, u32 mode)
{
	char *s = getname(name, false);
	long err;

	if (IS_ERR(s))
		return PTR_ERR(s);
	err = vfs_mkdir(dirfd, s, mode);
	kfree(s);
	return err;
}

long sys_mknodat(int dirfd, const char __user *name, u32 mode, u32 dev)
{
	char *s = getname(name, false);
	long err;

	if (IS_ERR(s))
		return PTR_ERR(s);
	err = vfs_mknod(dirfd, s, mode & 0xffff, dev_decode(dev));
	kfree(s);
	return err;
}

/* --- symlink, link --------------------------------------------------------------------------- */

int vfs_symlink(const char *target, int dirfd, const char *name)
{
	struct parent_op op;
	int err = parent_op_begin(&op, dirfd, name, PARENT_CREATE);

	if (err)
		return err;
	err = op.dir->ops->symlink ? op.dir->ops->symlink(op.dir, op.d, target) : -EPERM;
	parent_op_end(&op);
	return err;
}

long sys_symlinkat(const char __user *utarget, int dirfd, const char __user *uname)
{
	char *target = getname(utarget, false), *name;
	long err;

	if (IS_ERR(target))
		return PTR_ERR(target);
	name = getname(uname, false);
	if (IS_ERR(name)) {
		err = PTR_ERR(name);
	} else {
		err = vfs_symlink(target, dirfd, name);
		kfree(name);
	}
	kfree(target);
	return err;
}

static int do_link(struct parent_op *op, struct path *old)
{
	struct inode *target = old->dentry->inode;
	int err;

	if (old->mnt != op->w.path.mnt)
		return -EXDEV;
	if (S_ISDIR(target->mode) || !op->dir->ops->link)
		return -EPERM;
	mutex_lock_nested(&target->lock, 2);	/* below its directory */
	if (!target->nlink && !(target->flags & IF_TMPFILE))
		err = -ENOENT;
	else
		err = op->dir->ops->link(op->dir, op->d, target);
	mutex_unlock(&target->lock);
	return err;
}

int vfs_link_paths(int odfd, const char *old, int ndfd, const char *new, u32 flags)
{
	struct parent_op op;
	struct path target;
	int err = path_lookup(odfd, old, flags, &target);

	if (err)
		return err;
	err = parent_op_begin(&op, ndfd, new, PARENT_CREATE);
	if (!err) {
		err = do_link(&op, &target);
		parent_op_end(&op);
	}
	path_put(&target);
	return err;
}

long sys_linkat(int odfd, const char __user *uold, int ndfd, const char __user *unew, int flags)
{
	u32 lookup = flags & AT_SYMLINK_FOLLOW ? LOOKUP_FOLLOW : 0;
	char *old, *new;
	long err;

	if (flags & ~(AT_SYMLINK_FOLLOW | AT_EMPTY_PATH))
		return -EINVAL;
	if (flags & AT_EMPTY_PATH) {
		if (!capable(CAP_DAC_READ_SEARCH))
			return -ENOENT;
		lookup |= LOOKUP_EMPTY;
	}
	old = getname(uold, flags & AT_EMPTY_PATH);
	if (IS_ERR(old))
		return PTR_ERR(old);
	new = getname(unew, false);
	if (IS_ERR(new)) {
		err = PTR_ERR(new);
	} else {
		err = vfs_link_paths(odfd, old, ndfd, new, lookup);
		kfree(new);
	}
	kfree(old);
	return err;
}

/* --- unlink, rmdir --------------------------------------------------------------------------- */

int vfs_unlink(int dirfd, const char *name)
{
	struct parent_op op;
	int err = parent_op_begin(&op, dirfd, name, PARENT_UNLINK);

	if (err)
		return err;
	if (READ_ONCE(op.d->mounted))
		err = -EBUSY;
	else
		err = op.dir->ops->unlink ? op.dir->ops->unlink(op.dir, op.d) : -EPERM;
	if (!err)
		dentry_drop(op.d);
	parent_op_end(&op);
	return err;
}

/* The victim's lock keeps others from adding a name between the check for emptiness and the end. */
static int vfs_rmdir(int dirfd, const char *name)
{
	struct parent_op op;
	int err = parent_op_begin(&op, dirfd, name, PARENT_RMDIR);
	struct inode *victim;

	if (err)
		return err;
	victim = op.d->inode;
	mutex_lock_nested(&victim->lock, 2);	/* below its directory */
	err = op.dir->ops->rmdir ? op.dir->ops->rmdir(op.dir, op.d) : -EPERM;
	if (!err)
		dentry_drop(op.d);
	mutex_unlock(&victim->lock);
	parent_op_end(&op);
	return err;
}

long sys_unlinkat(int dirfd, const char __user *name, int flags)
{
	char *s;
	long err;

	if (flags & ~AT_REMOVEDIR)
		return -EINVAL;
	s = getname(name, false);
	if (IS_ERR(s))
		return PTR_ERR(s);
	err = flags & AT_REMOVEDIR ? vfs_rmdir(dirfd, s) : vfs_unlink(dirfd, s);
	kfree(s);
	return err;
}
