/* SPDX-License-Identifier: MIT */
/*
 * From a (mount, dentry) pair back to text: getcwd, /proc/PID/fd/N, maps, mount tables. The string
 * is built from its end while walking up to the task's root, under dcache_lock and mount_lock, so a
 * rename cannot change it half way.
 */
#include "internal.h"

#include <stdio.h>
#include <string.h>

struct text_end { char *start, *p; bool overflow; };

static void prepend(struct text_end *t, const char *s, size_t n)
{
	if (t->p - t->start < n) {
		t->overflow = true;
		return;
	}
	t->p -= n;
	memcpy(t->p, s, n);
}

/* False when the top of the mount tree was reached without meeting root. */
static bool climb(struct text_end *t, const struct path *p, const struct path *root)
{
	struct mount *m = p->mnt;
	struct dentry *d = p->dentry;

	while (m != root->mnt || d != root->dentry) {
		if (d == m->root || d == d->parent) {
			if (!m->parent)
				return false;
			d = m->point;
			m = m->parent;
			continue;
		}
		prepend(t, d->name, d->name_len);
		prepend(t, "/", 1);
		d = d->parent;
	}
	return true;
}

static char *pseudo_name(const struct path *p, char *buf, size_t size)
{
	struct dentry *d = p->dentry;
	struct super *sb = d->sb;
	char text[NAME_MAX + 16];
	int n;

	if (!d->name_len)
		n = snprintf(text, sizeof(text), "%s:[%lu]", sb->source, d->inode->ino);
	else if (sb->magic == TMPFS_MAGIC)
		n = snprintf(text, sizeof(text), "/%s (deleted)", d->name);
	else
		n = snprintf(text, sizeof(text), "%s", d->name);
	if (n >= sizeof(text) || n + 1 > size)
		return ERR_PTR(-ENAMETOOLONG);
	return memcpy(buf + size - n - 1, text, n + 1);
}

static bool is_deleted(const struct dentry *d)
{
	return d->unhashed && d->parent != d;
}

/* mark_deleted: append " (deleted)". *reachable: whether root was met on the way up. */
static char *render(const struct path *p, const struct path *root, char *buf, size_t size,
		    bool mark_deleted, bool *reachable)
{
	struct text_end t = { buf, buf + size, false };
	char *end;

	prepend(&t, "", 1);
	spin_lock(&dcache_lock);
	spin_lock(&mount_lock);
	if (mark_deleted && is_deleted(p->dentry))
		prepend(&t, " (deleted)", 10);
	end = t.p;
	*reachable = climb(&t, p, root);
	if (t.p == end)
		prepend(&t, "/", 1);
	spin_unlock(&mount_lock);
	spin_unlock(&dcache_lock);
	return t.overflow ? ERR_PTR(-ENAMETOOLONG) : t.p;
}

char *path_name(const struct path *p, char *buf, size_t size)
{
	struct path root;
	bool reachable;
	char *s;

	if (p->dentry->sb->pseudo)
		return pseudo_name(p, buf, size);
	get_fs_root(&root);
	s = render(p, &root, buf, size, true, &reachable);
	path_put(&root);
	return s;
}

long sys_getcwd(char __user *ubuf, size_t size)
{
	static const char away[] = "(unreachable)";
	char *buf = kmalloc(PATH_MAX), *s;
	struct path root, cwd;
	bool reachable, deleted;
	long ret;

	if (!buf)
		return -ENOMEM;
	get_fs_root(&root);
	get_fs_cwd(&cwd);
	s = render(&cwd, &root, buf, PATH_MAX, false, &reachable);
	deleted = is_deleted(cwd.dentry);
	if (!IS_ERR(s) && !reachable && s - buf >= sizeof(away) - 1)
		s = memcpy(s - (sizeof(away) - 1), away, sizeof(away) - 1);
	if (IS_ERR(s))
		ret = PTR_ERR(s);
	else if (deleted)
		ret = -ENOENT;
	else
		ret = buf + PATH_MAX - s;
	if (ret > 0 && ret > size)
		ret = -ERANGE;
	if (ret > 0 && copy_to_user(ubuf, s, ret))
		ret = -EFAULT;
	path_put(&cwd);
	path_put(&root);
	kfree(buf);
	return ret;
}
