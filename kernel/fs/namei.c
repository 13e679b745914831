/* SPDX-License-Identifier: MIT */
/*
 * From a path string to a (mount, dentry) pair.
 *
 * A walk keeps one string at a time. When a symbolic link is met in the middle, the rest of the
 * current string is put on a stack and the link's text becomes the string; a link at the very end
 * simply replaces the string. So nesting costs no recursion, and the total number of links is
 * bounded (40, then ELOOP). Magic links (/proc/PID/exe, fd/N) have no text: their follow op hands
 * over the target itself.
 *
 * walk_parent stops in front of the last component, because what happens to it is the caller's
 * business: look it up, create it, remove it. Mounts are crossed downwards after each step and
 * upwards at "..", never above the task's root.
 */
#include "internal.h"

#include <string.h>

void path_get(struct path *p)
{
	mount_get(p->mnt);
	dentry_get(p->dentry);
}

void path_put(struct path *p)
{
	struct mount *m = p->mnt;
	struct dentry *d = p->dentry;

	*p = (struct path){ NULL, NULL };
	dentry_put(d);
	if (m)
		mount_put(m);
}

static bool path_equal(const struct path *a, const struct path *b)
{
	return a->mnt == b->mnt && a->dentry == b->dentry;
}

static struct inode *path_inode(const struct path *p)
{
	return p->dentry->inode;
}

/* --- start and end ------------------------------------------------------------------------- */

static int start_at_fd(int dirfd, bool want_dir, struct path *out)
{
	struct file *f = fd_get(dirfd);
	int err = 0;

	if (!f)
		return -EBADF;
	if (want_dir && !S_ISDIR(f->inode->mode)) {
		err = -ENOTDIR;
	} else {
		*out = f->path;
		path_get(out);
	}
	file_put(f);
	return err;
}

static int start_at(int dirfd, bool want_dir, struct path *out)
{
	if (dirfd != AT_FDCWD)
		return start_at_fd(dirfd, want_dir, out);
	get_fs_cwd(out);
	return 0;
}

int walk_start(struct walk *w, int dirfd, const char *name, u32 resolve)
{
	bool absolute = name[0] == '/';
	int err;

	w->rest = name;
	w->buf = NULL;
	w->trailing = false;
	w->resolve = resolve;
	w->nlinks = w->depth = 0;
	if (absolute && (resolve & RESOLVE_BENEATH))
		return -EXDEV;
	if (absolute && !(resolve & RESOLVE_IN_ROOT)) {
		get_fs_root(&w->root);
		w->path = w->root;
		path_get(&w->path);
		return 0;
	}
	err = start_at(dirfd, name[0] != '\0', &w->path);
	if (err)
		return err;
	if (resolve & (RESOLVE_IN_ROOT | RESOLVE_BENEATH)) {
		w->root = w->path;
		path_get(&w->root);
	} else {
		get_fs_root(&w->root);
	}
	return 0;
}

void walk_end(struct walk *w)
{
	path_put(&w->path);
	path_put(&w->root);
	kfree(w->buf);
	while (w->depth)
		kfree(w->stack[--w->depth].buf);
}

/* --- single steps -------------------------------------------------------------------------- */

void walk_cross_mounts(struct path *p)
{
	while (unlikely(READ_ONCE(p->dentry->mounted))) {
		struct mount *m = mount_covering(p->mnt, p->dentry);
		struct path old = *p;

		if (!m)
			return;
		p->mnt = m;
		p->dentry = dentry_get(m->root);
		path_put(&old);
	}
}

static int cross_down(struct walk *w, struct path *p)
{
	struct mount *before = p->mnt;

	walk_cross_mounts(p);
	return (w->resolve & RESOLVE_NO_XDEV) && p->mnt != before ? -EXDEV : 0;
}

static int step_dotdot(struct walk *w)
{
	struct mount *before = w->path.mnt;

	if (path_equal(&w->path, &w->root))
		return w->resolve & RESOLVE_BENEATH ? -EXDEV : 0;
	while (w->path.dentry == w->path.mnt->root)
		if (!mount_up(&w->path))
			return 0;
	struct dentry *up = dentry_parent(w->path.dentry);

	dentry_put(w->path.dentry);
	w->path.dentry = up;
	if ((w->resolve & RESOLVE_NO_XDEV) && w->path.mnt != before)
		return -EXDEV;
	return cross_down(w, &w->path);
}

static int jump_to_root(struct walk *w)
{
	if (w->resolve & RESOLVE_BENEATH)
		return -EXDEV;
	path_get(&w->root);
	path_put(&w->path);
	w->path = w->root;
	return 0;
}

static int follow_magic(struct walk *w, struct path *link)
{
	struct inode *i = path_inode(link);
	struct path target;
	int err;

	if (w->resolve & RESOLVE_NO_MAGICLINKS)
		return -ELOOP;
	if (w->resolve & (RESOLVE_BENEATH | RESOLVE_IN_ROOT))
		return -EXDEV;
	err = i->ops->follow(i, link->dentry, &target);
	if (err)
		return err;
	path_put(&w->path);
	w->path = target;
	return 0;
}

static int follow_text(struct walk *w, struct path *link)
{
	struct inode *i = path_inode(link);
	char *buf = kmalloc(PATH_MAX);
	int n;

	if (!buf)
		return -ENOMEM;
	n = i->ops->readlink(i, link->dentry, buf, PATH_MAX - 1);
	if (n <= 0) {
		kfree(buf);
		return n ? n : -ENOENT;
	}
	buf[n] = '\0';
	while (*w->rest == '/')
		w->rest++;
	if (*w->rest)
		w->stack[w->depth++] = (struct walk_link){ w->buf, w->rest };
	else
		kfree(w->buf);
	w->buf = buf;
	w->rest = buf;
	return buf[0] == '/' ? jump_to_root(w) : 0;
}

int walk_push_link(struct walk *w, struct path *link)
{
	struct inode *i = path_inode(link);
	int err;

	if ((w->resolve & RESOLVE_NO_SYMLINKS) || (link->mnt->flags & MS_NOSYMFOLLOW) ||
	    ++w->nlinks > MAX_SYMLINKS)
		err = -ELOOP;
	else if (i->ops->follow)
		err = follow_magic(w, link);
	else if (i->ops->readlink)
		err = follow_text(w, link);
	else
		err = -EINVAL;
	path_put(link);
	return err;
}

/* A component in the middle of the path. */
static int step_into(struct walk *w)
{
	struct dentry *d = dentry_lookup(w->path.dentry, &w->last, false);

	if (IS_ERR_OR_NULL(d))
		return d ? PTR_ERR(d) : -ENOENT;
	if (S_ISLNK(d->inode->mode)) {
		struct path link = { mount_get(w->path.mnt), d };

		return walk_push_link(w, &link);
	}
	dentry_put(w->path.dentry);
	w->path.dentry = d;
	return cross_down(w, &w->path);
}

static enum last_type classify(const char *s, u32 len)
{
	if (s[0] != '.' || len > 2)
		return LAST_NORM;
	if (len == 1)
		return LAST_DOT;
	return s[1] == '.' ? LAST_DOTDOT : LAST_NORM;
}

/* Take the next component off w->rest into w->last and w->type. False when nothing is left. */
static bool next_component(struct walk *w)
{
	const char *s;
	u32 len;

	for (;;) {
		while (*w->rest == '/')
			w->rest++;
		if (*w->rest)
			break;
		if (!w->depth)
			return false;
		kfree(w->buf);
		w->depth--;
		w->buf = w->stack[w->depth].buf;
		w->rest = w->stack[w->depth].rest;
	}
	s = w->rest;
	len = strchrnul(s, '/') - s;
	w->type = classify(s, len);
	name_set(&w->last, s, len);
	w->rest = s + len;
	return true;
}

int walk_parent(struct walk *w)
{
	for (;;) {
		struct inode *dir = path_inode(&w->path);
		const char *p;
		int err;

		if (!next_component(w)) {
			w->type = LAST_ROOT;
			return 0;
		}
		if (!S_ISDIR(dir->mode))
			return -ENOTDIR;
		err = inode_permission(dir, MAY_EXEC);
		if (err)
			return err;
		if (w->last.len > NAME_MAX)
			return -ENAMETOOLONG;
		for (p = w->rest; *p == '/'; p++)
			;
		if (!*p && !w->depth) {
			w->trailing |= p != w->rest;
			return 0;
		}
		w->rest = p;
		if (w->type == LAST_DOTDOT)
			err = step_dotdot(w);
		else if (w->type == LAST_NORM)
			err = step_into(w);
		if (err)
			return err;
	}
}

static int last_is_dir(struct walk *w, struct path *out)
{
	*out = w->path;
	path_get(out);
	if (!w->trailing || S_ISDIR(path_inode(out)->mode))
		return 0;
	path_put(out);
	return -ENOTDIR;
}

int walk_last(struct walk *w, bool follow, struct path *out, bool *again)
{
	struct dentry *d;
	int err = 0;

	*again = false;
	if (w->type == LAST_DOTDOT)
		err = step_dotdot(w);
	if (err)
		return err;
	if (w->type != LAST_NORM)
		return last_is_dir(w, out);
	d = dentry_lookup(w->path.dentry, &w->last, false);
	if (IS_ERR_OR_NULL(d))
		return d ? PTR_ERR(d) : -ENOENT;
	*out = (struct path){ mount_get(w->path.mnt), d };
	if (S_ISLNK(d->inode->mode) && (follow || w->trailing)) {
		*again = true;
		return walk_push_link(w, out);
	}
	err = cross_down(w, out);
	if (!err && w->trailing && !S_ISDIR(path_inode(out)->mode))
		err = -ENOTDIR;
	if (err)
		path_put(out);
	return err;
}

/* --- whole lookups ------------------------------------------------------------------------- */

int path_lookup(int dirfd, const char *name, u32 flags, struct path *out)
{
	struct walk w;
	bool again = true;
	int err;

	if (!name[0])
		return flags & LOOKUP_EMPTY ? start_at(dirfd, false, out) : -ENOENT;
	err = walk_start(&w, dirfd, name, 0);
	if (err)
		return err;
	while (!err && again) {
		err = walk_parent(&w);
		if (!err)
			err = walk_last(&w, flags & LOOKUP_FOLLOW, out, &again);
	}
	walk_end(&w);
	if (!err && (flags & LOOKUP_DIRECTORY) && !S_ISDIR(path_inode(out)->mode)) {
		path_put(out);
		err = -ENOTDIR;
	}
	return err;
}

char *getname(const char __user *name, bool empty_ok)
{
	char *buf = kmalloc(PATH_MAX);
	long n;

	if (!buf)
		return ERR_PTR(-ENOMEM);
	n = strncpy_from_user(buf, name, PATH_MAX);
	if (n >= PATH_MAX)
		n = -ENAMETOOLONG;
	else if (!n && !empty_ok)
		n = -ENOENT;
	if (n >= 0)
		return buf;
	kfree(buf);
	return ERR_PTR(n);
}

int user_path(int dirfd, const char __user *name, u32 flags, struct path *out)
{
	char *s = getname(name, flags & LOOKUP_EMPTY);
	int err;

	if (IS_ERR(s))
		return PTR_ERR(s);
	err = path_lookup(dirfd, s, flags, out);
	kfree(s);
	return err;
}
