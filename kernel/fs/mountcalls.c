/* SPDX-License-Identifier: MIT */
/*
 * mount(2) and umount2(2): new mounts, bind, move, remount; taking mounts off, at once or lazily.
 * Propagation flags are accepted and mean nothing: there is one tree, without peers.
 */
#include "mount.h"

#include <string.h>

#define MNT_FORCE	1
#define MNT_DETACH	2
#define MNT_EXPIRE	4
#define UMOUNT_NOFOLLOW	8
#define PROPAGATION (MS_UNBINDABLE | MS_PRIVATE | MS_SLAVE | MS_SHARED)

/* --- mounting ------------------------------------------------------------------------------ */

static int check_target(const struct mount *m, const struct path *at)
{
	if (at->dentry->unhashed && at->dentry->parent != at->dentry)
		return -ENOENT;
	if (S_ISDIR(m->root->inode->mode) != S_ISDIR(at->dentry->inode->mode))
		return -ENOTDIR;
	/* The same thing is on top already. (Each mount of proc is its own file system on
	 * Linux.) */
	if (at->mnt->sb == m->sb && at->dentry == at->mnt->root && at->mnt->root == m->root &&
	    m->sb->magic != PROC_MAGIC)
		return -EBUSY;
	return 0;
}

static int graft(struct mount *m, const struct path *at)
{
	int err = check_target(m, at);

	if (err)
		mount_put(m);
	else
		mount_attach(m, at);
	return err;
}

static int mount_new(const struct path *at, const char *source, const char *type, u32 flags,
		     const char *data)
{
	struct fs_type *t = fs_type_find(type);
	struct super *sb;
	struct mount *m;

	if (!t || !t->mount)
		return -ENODEV;
	sb = super_get(t, source, data);
	if (IS_ERR(sb))
		return PTR_ERR(sb);
	m = mount_alloc(sb, sb->root, source, flags);
	return m ? graft(m, at) : -ENOMEM;
}

/* MS_BIND: the tree at source appears at the target, too. With MS_REC mounts below are not copied
 * unless there are none: said with EINVAL rather than half done. */
static int mount_bind(const struct path *at, const char *source, u32 flags)
{
	struct path from;
	struct mount *m = NULL;
	int err = path_lookup(AT_FDCWD, source, LOOKUP_FOLLOW, &from);

	if (err)
		return err;
	if (from.dentry->sb->pseudo) {
		err = -EINVAL;
	} else {
		ref_get(&from.mnt->sb->refs);
		m = mount_alloc(from.mnt->sb, from.dentry, from.mnt->source, from.mnt->flags);
		err = m ? graft(m, at) : -ENOMEM;
	}
	path_put(&from);
	return err;
}

static int mount_move(const struct path *at, const char *source)
{
	struct path from;
	struct dentry *old_point = NULL;
	struct mount *old_parent = NULL, *m;
	int err = path_lookup(AT_FDCWD, source, LOOKUP_FOLLOW, &from);

	if (err)
		return err;
	m = from.mnt;
	if (from.dentry != m->root || !m->parent) {
		err = -EINVAL;
	} else {
		err = check_target(m, at);
		for (struct mount *p = at->mnt; p && !err; p = p->parent)
			if (p == m)
				err = -ELOOP;
	}
	if (!err) {
		spin_lock(&mount_lock);
		mount_detach_locked(m);
		old_parent = m->parent;
		old_point = m->point;
		spin_unlock(&mount_lock);
		mount_attach(m, at);
	}
	path_put(&from);
	dentry_put(old_point);
	mount_put(old_parent);
	return err;
}

static bool has_writers(const struct super *sb)
{
	struct mount *m;
	bool yes = false;

	spin_lock(&mount_lock);
	list_for_each(m, &mounts, node)
		yes |= m->sb == sb && atomic_read(&m->writers);
	spin_unlock(&mount_lock);
	return yes;
}

static int remount(const struct path *at, u32 flags, const char *data)
{
	if (at->dentry != at->mnt->root)
		return -EINVAL;
	if ((flags & MS_RDONLY) && has_writers(at->mnt->sb))
		return -EBUSY;
	if (!(flags & (MS_NOATIME | MS_STRICTATIME)))
		flags |= MS_RELATIME;
	WRITE_ONCE(at->mnt->flags, flags & KEPT_FLAGS);
	return 0;
}

static int do_mount(const struct path *at, const char *source, const char *type, u32 flags,
		    const char *data)
{
	if (flags & MS_REMOUNT)
		return remount(at, flags, data);
	if (flags & MS_BIND)
		return source && *source ? mount_bind(at, source, flags) : -EINVAL;
	if (flags & PROPAGATION)	/* one mount tree without peers: nothing can propagate */
		return at->dentry == at->mnt->root ? 0 : -EINVAL;
	if (flags & MS_MOVE)
		return source && *source ? mount_move(at, source) : -EINVAL;
	if (!type)
		return -EINVAL;
	if (!(flags & (MS_NOATIME | MS_STRICTATIME)))
		flags |= MS_RELATIME;
	return mount_new(at, source, type, flags, data);
}

int vfs_mount(const char *source, const char *target, const char *type, u32 flags, const char *data)
{
	struct path at;
	int err = path_lookup(AT_FDCWD, target, LOOKUP_FOLLOW, &at);

	if (err)
		return err;
	mutex_lock(&mount_mutex);
	err = do_mount(&at, source, type, flags, data);
	mutex_unlock(&mount_mutex);
	path_put(&at);
	return err;
}

/* --- unmounting ---------------------------------------------------------------------------- */

/* The tree and our own path are the only users? */
static bool is_idle_locked(const struct mount *m)
{
	return ref_read(&m->refs) == 2 && !mount_has_children_locked(m);
}

/* Deepest first. A detached mount has no way up: ".." ends at its root. */
static void detach_all(struct mount *top)
{
	struct mount *m, *parent;
	struct dentry *point;

	do {
		spin_lock(&mount_lock);
		m = mount_last_locked(top);
		mount_detach_locked(m);
		parent = m->parent;
		point = m->point;
		m->parent = NULL;
		m->point = NULL;
		spin_unlock(&mount_lock);
		mount_put(m);
		dentry_put(point);
		mount_put(parent);
	} while (m != top);
}

static int do_umount(struct mount *m, int flags)
{
	bool idle;

	if (!m->parent || list_empty(&m->node))
		return -EINVAL;
	spin_lock(&mount_lock);
	idle = is_idle_locked(m);
	spin_unlock(&mount_lock);
	if (!idle && !(flags & MNT_DETACH))
		return -EBUSY;
	if (flags & MNT_EXPIRE)
		return -EAGAIN;	/* a first call only marks it; nothing expires here */
	detach_all(m);
	return 0;
}

long sys_umount2(const char __user *name, int flags)
{
	struct path p;
	int err;

	if (flags & ~(MNT_FORCE | MNT_DETACH | MNT_EXPIRE | UMOUNT_NOFOLLOW))
		return -EINVAL;
	if ((flags & MNT_EXPIRE) && (flags & (MNT_FORCE | MNT_DETACH)))
		return -EINVAL;
	if (!capable(CAP_SYS_ADMIN))
		return -EPERM;
	err = user_path(AT_FDCWD, name, flags & UMOUNT_NOFOLLOW ? 0 : LOOKUP_FOLLOW, &p);
	if (err)
		return err;
	mutex_lock(&mount_mutex);
	err = p.dentry == p.mnt->root ? do_umount(p.mnt, flags) : -EINVAL;
	mutex_unlock(&mount_mutex);
	path_put(&p);
	return err;
}

/* --- mount(2) ------------------------------------------------------------------------------ */

/* A string argument that may be NULL: a copy of at most a page, NULL, or ERR_PTR. */
static char *copy_arg(const char __user *u)
{
	char *buf;
	long n;

	if (!u)
		return NULL;
	buf = kmalloc(PAGE_SIZE);
	if (!buf)
		return ERR_PTR(-ENOMEM);
	n = strncpy_from_user(buf, u, PAGE_SIZE);
	if (n >= 0 && n < PAGE_SIZE)
		return buf;
	kfree(buf);
	return ERR_PTR(n < 0 ? n : -EINVAL);
}

static long mount_copied(const char *source, const char *target, const char *type, u32 flags,
			 const char *data)
{
	if ((flags & 0xffff0000) == 0xc0ed0000)	/* the magic number of very old programs */
		flags &= 0xffff;
	return vfs_mount(source, target, type, flags, data);
}

long sys_mount(const char __user *usource, const char __user *utarget, const char __user *utype,
	       u64 flags, const char __user *udata)
{
	char *type = copy_arg(utype), *source = copy_arg(usource), *data = copy_arg(udata);
	char *target = getname(utarget, false);
	long err = 0;

	if (IS_ERR(type))
		err = PTR_ERR(type);
	else if (IS_ERR(source))
		err = PTR_ERR(source);
	else if (IS_ERR(data))
		err = PTR_ERR(data);
	else if (IS_ERR(target))
		err = PTR_ERR(target);
	else if (!capable(CAP_SYS_ADMIN))
		err = -EPERM;
	else
		err = mount_copied(source, target, type, flags, data);
	kfree(IS_ERR(type) ? NULL : type);
	kfree(IS_ERR(source) ? NULL : source);
	kfree(IS_ERR(data) ? NULL : data);
	kfree(IS_ERR(target) ? NULL : target);
	return err;
}
