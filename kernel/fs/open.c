/* SPDX-License-Identifier: MIT */
/*
 * open(2) and its kin. Three steps: find (or create) the object under the name; check that this
 * task may open it this way; make the file and let the object's own open have its say.
 *
 * Creating needs the directory's lock between "is it there?" and "make it", so the loop that
 * follows symbolic links at the end of the path is here and not in namei.c.
 */
#include "internal.h"

#define VALID_OPEN_FLAGS (O_ACCMODE | O_CREAT | O_EXCL | O_NOCTTY | O_TRUNC | O_APPEND | \
	O_NONBLOCK | O_SYNC | O_DSYNC | O_ASYNC | O_DIRECT | O_LARGEFILE | O_DIRECTORY | \
	O_NOFOLLOW | O_NOATIME | O_CLOEXEC | O_PATH | O_TMPFILE)
#define PATH_OPEN_FLAGS	(O_DIRECTORY | O_NOFOLLOW | O_PATH | O_CLOEXEC)
#define TMPFILE_BIT	(O_TMPFILE & ~O_DIRECTORY)

struct open_how_abi { u64 flags, mode, resolve; };

/* MAY_x that the access mode asks for; mode 3 means both (and then neither read nor write work). */
static int open_mask(u32 flags)
{
	static const u8 mask[4] = { MAY_READ, MAY_WRITE, MAY_READ | MAY_WRITE,
				   MAY_READ | MAY_WRITE };

	return mask[flags & O_ACCMODE] | (flags & O_TRUNC ? MAY_WRITE : 0);
}

/* --- may it be opened? --------------------------------------------------------------------- */

static int check_type(const struct path *p, u32 flags)
{
	struct inode *i = p->dentry->inode;
	int mask = open_mask(flags);

	if (S_ISLNK(i->mode))
		return -ELOOP;
	if ((flags & O_DIRECTORY) && !S_ISDIR(i->mode))
		return -ENOTDIR;
	if (S_ISDIR(i->mode) && ((mask & MAY_WRITE) || (flags & O_CREAT)))
		return -EISDIR;
	if ((S_ISCHR(i->mode) || S_ISBLK(i->mode)) && (p->mnt->flags & MS_NODEV))
		return -EACCES;
	if (S_ISREG(i->mode) && (mask & MAY_WRITE) && mount_readonly(p->mnt))
		return -EROFS;
	return 0;
}

static int check_open(const struct path *p, u32 flags)
{
	int err = check_type(p, flags);

	if (!err)
		err = inode_permission(p->dentry->inode, open_mask(flags));
	if (!err && (flags & O_NOATIME) && !inode_owner_or_capable(p->dentry->inode))
		err = -EPERM;
	return err;
}

/* --- the file ------------------------------------------------------------------------------ */

static const struct file_ops path_ops, no_ops;

static const struct file_ops *ops_of(const struct inode *i)
{
	if (S_ISCHR(i->mode))
		return chrdev_find(i->rdev);
	if (S_ISFIFO(i->mode))
		return &fifo_ops;
	if (S_ISBLK(i->mode) || S_ISSOCK(i->mode))
		return NULL;
	return i->fops ? i->fops : &no_ops;
}

/* Neither file nor path is wanted any more. */
static struct file *open_failed(struct file *f, struct path *p, int err)
{
	path_put(p);
	kfree(f);
	return ERR_PTR(err);
}

static struct file *open_o_path(struct file *f, struct path *p, u32 flags)
{
	if ((flags & O_DIRECTORY) && !S_ISDIR(p->dentry->inode->mode))
		return open_failed(f, p, -ENOTDIR);
	file_fill(f, p, flags, &path_ops);
	f->mode = FMODE_PATH | FMODE_NOPOS;
	return f;
}

/* Let the object open itself; an error undoes what was counted. */
static int run_open(struct file *f, bool writes)
{
	int err = 0;

	if (writes)
		err = file_begin_write(f);
	if (!err && f->ops->open) {
		err = f->ops->open(f->inode, f);
		if (err && writes)
			file_end_write(f);
	}
	return err;
}

/* Consumes f and p. Permissions have been checked. */
static struct file *open_checked(struct file *f, struct path *p, u32 flags)
{
	struct inode *i = p->dentry->inode;
	const struct file_ops *ops = ops_of(i);
	int err;

	if (!ops)
		return open_failed(f, p, -ENXIO);
	file_fill(f, p, flags, ops);
	f->flags |= flags & O_NOCTTY;	/* only a terminal's open wants to know */
	err = run_open(f, (f->mode & FMODE_WRITE) && S_ISREG(i->mode));
	f->flags &= ~O_NOCTTY;
	if (err)
		return open_failed(f, &f->path, err);
	if (!f->ops->llseek)
		f->mode |= FMODE_NOPOS;
	else
		f->mode &= ~FMODE_NOPOS;
	return f;
}

/* Consumes f, which is empty, and p. */
static struct file *open_found(struct file *f, struct path *p, u32 flags, bool created)
{
	struct inode *i = p->dentry->inode;
	int err;

	if (flags & O_PATH)
		return open_o_path(f, p, flags);
	err = created ? 0 : check_open(p, flags);
	if (err)
		return open_failed(f, p, err);
	f = open_checked(f, p, flags);
	if (IS_ERR(f) || !(flags & O_TRUNC) || created || !S_ISREG(i->mode))
		return f;
	err = do_truncate(f, i, 0);
	if (!err)
		return f;
	file_put(f);
	return ERR_PTR(err);
}

struct file *path_open(const struct path *p, u32 flags)
{
	struct file *f = file_alloc();
	struct path copy = *p;

	if (!f)
		return ERR_PTR(-ENOMEM);
	path_get(&copy);
	return open_found(f, &copy, flags, false);
}

/* --- finding or creating ------------------------------------------------------------------- */

static int create_locked(struct walk *w, u32 mode, struct path *out)
{
	struct dentry *parent = w->path.dentry, *d;
	struct inode *dir = parent->inode;
	int err;

	if (mount_readonly(w->path.mnt))
		return -EROFS;
	err = may_create(dir, parent);
	if (err)
		return err;
	if (!dir->ops->create)
		return -EACCES;
	d = dentry_alloc(parent, &w->last);
	if (!d)
		return -ENOMEM;
	err = dir->ops->create(dir, d, mode);
	if (err) {
		dentry_put(d);
		return err;
	}
	*out = (struct path){ mount_get(w->path.mnt), d };
	return 0;
}

/* The last component of an O_CREAT open. *again: a link was followed, walk on. */
static int last_or_create(struct walk *w, u32 flags, u32 mode, struct path *out, bool *created,
			  bool *again)
{
	struct inode *dir = w->path.dentry->inode;
	struct dentry *d;
	int err = 0;

	*again = false;
	if (w->type != LAST_NORM)	/* "." "/" "..", or what a magic link led to */
		return walk_last(w, false, out, again);
	if (w->trailing)
		return -EISDIR;
	mutex_lock(&dir->lock);
	d = dentry_lookup(w->path.dentry, &w->last, true);
	if (IS_ERR(d))
		err = PTR_ERR(d);
	else if (!d) {
		err = create_locked(w, mode, out);
		*created = !err;
	}
	mutex_unlock(&dir->lock);
	if (err || !d)
		return err;
	*out = (struct path){ mount_get(w->path.mnt), d };
	if (flags & O_EXCL)
		err = -EEXIST;
	else if (S_ISLNK(d->inode->mode) && !(flags & O_NOFOLLOW)) {
		*again = true;
		return walk_push_link(w, out);
	} else {
		walk_cross_mounts(out);
	}
	if (err)
		path_put(out);
	return err;
}

static int find_or_create(struct walk *w, u32 flags, u32 mode, struct path *out, bool *created)
{
	bool again = true;
	int err = 0;

	*created = false;
	while (!err && again) {
		err = walk_parent(w);
		if (err)
			break;
		if (flags & O_CREAT)
			err = last_or_create(w, flags, mode, out, created, &again);
		else
			err = walk_last(w, !(flags & O_NOFOLLOW), out, &again);
	}
	return err;
}

/* O_TMPFILE: a new file in *dir that has no name (unless linkat gives it one). */
static int make_tmpfile(struct path *dir, u32 flags, u32 mode, struct path *out)
{
	struct inode *i = dir->dentry->inode, *n;
	int err = 0;

	if (!S_ISDIR(i->mode))
		err = -ENOTDIR;
	else if (mount_readonly(dir->mnt))
		err = -EROFS;
	else
		err = inode_permission(i, MAY_WRITE | MAY_EXEC);
	if (!err && i->sb->type != &tmpfs_type)
		err = -EOPNOTSUPP;
	if (err)
		return err;
	n = tmpfs_inode(i->sb, i, S_IFREG | mode, 0);
	if (!n)
		return -ENOSPC;
	n->nlink = 0;
	n->flags |= flags & O_EXCL ? 0 : IF_TMPFILE;
	*out = (struct path){ dir->mnt, dentry_alloc_tmpfile(dir->dentry, n) };
	if (!out->dentry) {
		inode_put(n);
		return -ENOMEM;
	}
	mount_get(out->mnt);
	return 0;
}

/* The object under the name, made if the flags say so. */
static int find_object(int dirfd, const char *name, u32 flags, u32 mode, u32 resolve, struct path *out,
		       bool *created)
{
	struct path p;
	struct walk w;
	int err;

	if (!name[0])
		return -ENOENT;
	err = walk_start(&w, dirfd, name, resolve);
	if (err)
		return err;
	if (current->fs)
		mode &= ~current->fs->umask;
	err = find_or_create(&w, flags, S_IFREG | mode, &p, created);
	walk_end(&w);
	if (err || !(flags & TMPFILE_BIT)) {
		*out = p;
		return err;
	}
	err = make_tmpfile(&p, flags, mode, out);
	path_put(&p);
	*created = true;
	return err;
}

/* The file comes first: a name that was made and cannot be opened would stay. */
static struct file *do_open(int dirfd, const char *name, u32 flags, u32 mode, u32 resolve)
{
	struct file *f = file_alloc();
	struct path p;
	bool created;
	int err;

	if (!f)
		return ERR_PTR(-ENOMEM);
	err = find_object(dirfd, name, flags, mode, resolve, &p, &created);
	if (err) {
		kfree(f);
		return ERR_PTR(err);
	}
	if (flags & TMPFILE_BIT)
		flags &= ~(O_TMPFILE | O_EXCL);
	return open_found(f, &p, flags, created);
}

static int check_flags(u32 flags, u32 mode)
{
	if ((flags & (O_CREAT | O_DIRECTORY)) == (O_CREAT | O_DIRECTORY) && !(flags & TMPFILE_BIT))
		return -EINVAL;
	if (flags & TMPFILE_BIT) {
		if ((flags & O_TMPFILE) != O_TMPFILE || (flags & O_CREAT) ||
		    !(open_mask(flags) & MAY_WRITE))
			return -EINVAL;
	}
	return 0;
}

struct file *file_open(int dirfd, const char *name, u32 flags, u32 mode)
{
	int err;

	flags &= VALID_OPEN_FLAGS;
	if (flags & O_PATH)
		flags &= PATH_OPEN_FLAGS;
	if (flags & O_EXCL && flags & O_CREAT)
		flags |= O_NOFOLLOW;
	err = check_flags(flags, mode);
	if (err)
		return ERR_PTR(err);
	return do_open(dirfd, name, flags | O_LARGEFILE, mode & 07777, 0);
}

/* --- system calls -------------------------------------------------------------------------- */

static long open_user(int dirfd, const char __user *uname, u32 flags, u32 mode, u32 resolve)
{
	char *name = getname(uname, false);
	struct file *f;
	long ret;

	if (IS_ERR(name))
		return PTR_ERR(name);
	ret = fd_alloc(flags);
	if (ret < 0)
		goto out;
	f = do_open(dirfd, name, flags, mode, resolve);
	if (IS_ERR(f)) {
		fd_release(ret);
		ret = PTR_ERR(f);
	} else {
		fd_install(ret, f);
	}
out:
	kfree(name);
	return ret;
}

long sys_openat(int dirfd, const char __user *name, u32 flags, u32 mode)
{
	int err;

	flags = (flags & VALID_OPEN_FLAGS) | O_LARGEFILE;
	if (flags & O_PATH)
		flags &= PATH_OPEN_FLAGS;
	if (!(flags & (O_CREAT | TMPFILE_BIT)))
		mode = 0;
	err = check_flags(flags, mode);
	return err ? err : open_user(dirfd, name, flags, mode & 07777, 0);
}

/* Copy a struct that may be longer than ours: unknown bytes must be zero (E2BIG). */
static int copy_how(struct open_how_abi *how, const void __user *u, size_t size)
{
	if (size < sizeof(*how))
		return -EINVAL;
	if (size > PAGE_SIZE)
		return -E2BIG;
	if (copy_from_user(how, u, sizeof(*how)))
		return -EFAULT;
	for (size_t i = sizeof(*how); i < size; i++) {
		char c;

		if (get_user(c, (const char __user *)u + i))
			return -EFAULT;
		if (c)
			return -E2BIG;
	}
	return 0;
}

static int check_how(const struct open_how_abi *how)
{
	if (how->flags & ~(u64)VALID_OPEN_FLAGS)
		return -EINVAL;
	if (how->resolve & ~0x3fULL)
		return -EINVAL;
	if ((how->resolve & RESOLVE_BENEATH) && (how->resolve & RESOLVE_IN_ROOT))
		return -EINVAL;
	if ((how->flags & O_PATH) && (how->flags & ~(u64)(PATH_OPEN_FLAGS | O_LARGEFILE)))
		return -EINVAL;
	if (how->flags & (O_CREAT | TMPFILE_BIT)) {
		if (how->mode & ~07777ULL)
			return -EINVAL;
	} else if (how->mode) {
		return -EINVAL;
	}
	if ((how->resolve & RESOLVE_CACHED) && (how->flags & (O_TRUNC | O_CREAT | TMPFILE_BIT)))
		return -EAGAIN;
	return check_flags(how->flags, how->mode);
}

long sys_openat2(int dirfd, const char __user *name, const void __user *uhow, size_t size)
{
	struct open_how_abi how;
	int err = copy_how(&how, uhow, size);

	if (!err)
		err = check_how(&how);
	if (err)
		return err;
	return open_user(dirfd, name, how.flags, how.mode, how.resolve);
}
