/* SPDX-License-Identifier: MIT */
/*
 * Root directory, working directory and umask of tasks (shared by CLONE_FS), and the calls that
 * change them.
 */
#include "internal.h"

static struct fs_context *fs_alloc(void)
{
	struct fs_context *f = kzalloc(sizeof(*f));

	if (f) {
		ref_init(&f->refs, 1);
		spin_init(&f->lock);
		f->umask = 022;
	}
	return f;
}

/* old NULL: a first one, at the root of everything. NULL on OOM. */
struct fs_context *fs_fork(struct fs_context *old)
{
	struct fs_context *f = fs_alloc();

	if (!f)
		return NULL;
	if (!old) {
		f->root = f->cwd = (struct path){ root_mount, root_mount->root };
		path_get(&f->root);
		path_get(&f->cwd);
		return f;
	}
	spin_lock(&old->lock);
	f->root = old->root;
	f->cwd = old->cwd;
	f->umask = old->umask;
	path_get(&f->root);
	path_get(&f->cwd);
	spin_unlock(&old->lock);
	return f;
}

void fs_get(struct fs_context *f)
{
	ref_get(&f->refs);
}

void fs_put(struct fs_context *f)
{
	if (!f || !ref_put(&f->refs))
		return;
	path_put(&f->root);
	path_put(&f->cwd);
	kfree(f);
}

void get_fs_root(struct path *p)
{
	struct fs_context *f = current->fs;

	if (!f) {
		*p = (struct path){ root_mount, root_mount->root };
		path_get(p);
		return;
	}
	spin_lock(&f->lock);
	*p = f->root;
	path_get(p);
	spin_unlock(&f->lock);
}

void get_fs_cwd(struct path *p)
{
	struct fs_context *f = current->fs;

	if (!f) {
		get_fs_root(p);
		return;
	}
	spin_lock(&f->lock);
	*p = f->cwd;
	path_get(p);
	spin_unlock(&f->lock);
}

/* Takes over p's references. */
static void set_path(struct path *slot, struct path *p)
{
	struct path old;

	spin_lock(&current->fs->lock);
	old = *slot;
	*slot = *p;
	spin_unlock(&current->fs->lock);
	path_put(&old);
}

static int enter_dir(struct path *p)
{
	if (!S_ISDIR(p->dentry->inode->mode))
		return -ENOTDIR;
	return inode_permission(p->dentry->inode, MAY_EXEC);
}

static long change_dir(struct path *slot, struct path *p)
{
	int err = enter_dir(p);

	if (err)
		path_put(p);
	else
		set_path(slot, p);
	return err;
}

long sys_chdir(const char __user *name)
{
	struct path p;
	int err = user_path(AT_FDCWD, name, LOOKUP_FOLLOW | LOOKUP_DIRECTORY, &p);

	return err ? err : change_dir(&current->fs->cwd, &p);
}

long sys_fchdir(int fd)
{
	struct file *f = fd_get(fd);
	struct path p;

	if (!f)
		return -EBADF;
	p = f->path;
	path_get(&p);
	file_put(f);
	return change_dir(&current->fs->cwd, &p);
}

long sys_chroot(const char __user *name)
{
	struct path p;
	int err = user_path(AT_FDCWD, name, LOOKUP_FOLLOW | LOOKUP_DIRECTORY, &p);

	if (err)
		return err;
	err = enter_dir(&p);
	if (!err && !capable(CAP_SYS_CHROOT))
		err = -EPERM;
	if (err)
		path_put(&p);
	else
		set_path(&current->fs->root, &p);
	return err;
}

long sys_umask(u32 mask)
{
	return atomic_xchg(&current->fs->umask, mask & 0777);
}
