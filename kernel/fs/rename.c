/* SPDX-License-Identifier: MIT */
/*
 * renameat2. Renaming changes the shape of the tree, so it is the one operation that locks two
 * directories. fs_rename_lock makes renames across directories take turns: while it is held nobody
 * else can change who is whose ancestor, so "lock the ancestor first, else by address" is a total
 * order and "is the target below the source" stays true while we act on it.
 */
#include "internal.h"

#define RENAME_NOREPLACE	1
#define RENAME_EXCHANGE		2
#define RENAME_WHITEOUT		4

static struct mutex fs_rename_lock = MUTEX_INIT(fs_rename_lock);

static void lock_two(struct dentry *a, struct dentry *b)
{
	struct inode *first = a->inode, *second = b->inode;

	if (first == second) {
		mutex_lock(&first->lock);
		return;
	}
	if (dentry_is_ancestor(b, a) || (!dentry_is_ancestor(a, b) && second < first)) {
		first = b->inode;
		second = a->inode;
	}
	mutex_lock(&first->lock);
	mutex_lock_nested(&second->lock, 1);
}

static void unlock_two(struct dentry *a, struct dentry *b)
{
	mutex_unlock(&a->inode->lock);
	if (a->inode != b->inode)
		mutex_unlock(&b->inode->lock);
}

/* Two directories and the names in them; o exists, n may be NULL. Both directories are locked. */
struct rename_op {
	struct walk ow, nw;
	struct dentry *op, *np;		/* parents; owned by the walks */
	struct dentry *o, *n;		/* references */
	u32 flags;
};

static int check_slashes(struct rename_op *r)
{
	bool exchange = r->flags & RENAME_EXCHANGE;

	if (!S_ISDIR(r->o->inode->mode) && (r->ow.trailing || (!exchange && r->nw.trailing)))
		return -ENOTDIR;
	if (exchange && r->nw.trailing && !S_ISDIR(r->n->inode->mode))
		return -ENOTDIR;
	return 0;
}

static int check_loops(struct rename_op *r)
{
	/* A directory cannot move below itself, nor take the place of one of its ancestors. */
	if (dentry_is_ancestor(r->o, r->np))
		return -EINVAL;
	if (r->n && dentry_is_ancestor(r->n, r->op))
		return r->flags & RENAME_EXCHANGE ? -EINVAL : -ENOTEMPTY;
	return 0;
}

static int check_permissions(struct rename_op *r)
{
	struct inode *o = r->o->inode, *od = r->op->inode, *nd = r->np->inode;
	bool isdir = S_ISDIR(o->mode);
	int err = may_delete(od, r->o, isdir);

	if (err)
		return err;
	if (!r->n)
		err = may_create(nd, r->np);
	else if (r->flags & RENAME_EXCHANGE)
		err = may_delete(nd, r->n, S_ISDIR(r->n->inode->mode));
	else
		err = may_delete(nd, r->n, isdir);
	if (err)
		return err;
	/* ".." of a moved directory changes: that is a write to it. */
	if (isdir && od != nd)
		err = inode_permission(o, MAY_WRITE);
	return err;
}

static int find_names(struct rename_op *r)
{
	struct dentry *d = dentry_lookup(r->op, &r->ow.last, true);

	if (IS_ERR_OR_NULL(d))
		return d ? PTR_ERR(d) : -ENOENT;
	r->o = d;
	d = dentry_lookup(r->np, &r->nw.last, true);
	if (IS_ERR(d))
		return PTR_ERR(d);
	r->n = d;
	if (d && (r->flags & RENAME_NOREPLACE))
		return -EEXIST;
	if (!d && (r->flags & RENAME_EXCHANGE))
		return -ENOENT;
	return 0;
}

static int apply_exchange(struct rename_op *r)
{
	const struct inode_ops *ops = r->op->inode->ops;
	int err = ops->rename(r->op->inode, r->o, r->np->inode, r->n, r->flags);

	return err ? err : dentry_exchange(r->o, r->n);
}

/* The file system has its say first; then the victim's name goes and the name moves. */
static int apply_move(struct rename_op *r)
{
	const struct inode_ops *ops = r->op->inode->ops;
	struct inode *victim = r->n && S_ISDIR(r->n->inode->mode) ? r->n->inode : NULL;
	struct dentry *target = r->n ? dentry_get(r->n) : dentry_alloc(r->np, &r->nw.last);
	char *name;
	int err;

	if (!target)
		return -ENOMEM;
	name = dentry_move_prepare(&r->nw.last);
	if (victim)
		mutex_lock_nested(&victim->lock, 2);	/* below the directories */
	err = name ? ops->rename(r->op->inode, r->o, r->np->inode, target, r->flags) : -ENOMEM;
	if (!err && r->n)
		dentry_drop(r->n);
	if (!err)
		dentry_move(r->o, r->np, name, &r->nw.last);
	else
		kfree(name);
	if (victim)
		mutex_unlock(&victim->lock);
	dentry_put(target);
	return err;
}

static int rename_locked(struct rename_op *r)
{
	int err = find_names(r);

	if (!err)
		err = check_slashes(r);
	if (!err)
		err = check_loops(r);
	if (err)
		return err;
	if (r->n && r->o->inode == r->n->inode)
		return 0;	/* two links of one file: nothing to do */
	err = check_permissions(r);
	if (err)
		return err;
	if (READ_ONCE(r->o->mounted) || (r->n && READ_ONCE(r->n->mounted)))
		return -EBUSY;
	if (!r->op->inode->ops->rename)
		return -EPERM;
	return r->flags & RENAME_EXCHANGE ? apply_exchange(r) : apply_move(r);
}

static int rename_walked(struct rename_op *r)
{
	int err;

	if (r->ow.path.mnt != r->nw.path.mnt)
		return -EXDEV;
	if (r->ow.type != LAST_NORM)
		return -EBUSY;
	if (r->nw.type != LAST_NORM)
		return r->flags & RENAME_NOREPLACE ? -EEXIST : -EBUSY;
	if (mount_readonly(r->ow.path.mnt))
		return -EROFS;
	r->op = r->ow.path.dentry;
	r->np = r->nw.path.dentry;
	mutex_lock(&fs_rename_lock);
	lock_two(r->op, r->np);
	err = rename_locked(r);
	unlock_two(r->op, r->np);
	mutex_unlock(&fs_rename_lock);
	dentry_put(r->o);
	dentry_put(r->n);
	return err;
}

static int vfs_rename(int odfd, const char *old, int ndfd, const char *new, u32 flags)
{
	struct rename_op *r = kzalloc(sizeof(*r));
	int err;

	if (!r)
		return -ENOMEM;
	r->flags = flags;
	err = walk_start(&r->ow, odfd, old, 0);
	if (err)
		goto free;
	err = walk_parent(&r->ow);
	if (err)
		goto end_old;
	err = walk_start(&r->nw, ndfd, new, 0);
	if (err)
		goto end_old;
	err = walk_parent(&r->nw);
	if (!err)
		err = rename_walked(r);
	walk_end(&r->nw);
end_old:
	walk_end(&r->ow);
free:
	kfree(r);
	return err;
}

long sys_renameat2(int odfd, const char __user *uold, int ndfd, const char __user *unew, u32 flags)
{
	char *old, *new;
	long err;

	if (flags & ~(RENAME_NOREPLACE | RENAME_EXCHANGE | RENAME_WHITEOUT))
		return -EINVAL;
	if ((flags & RENAME_EXCHANGE) && (flags & (RENAME_NOREPLACE | RENAME_WHITEOUT)))
		return -EINVAL;
	if (flags & RENAME_WHITEOUT)
		return -EINVAL;		/* only overlay file systems want it */
	old = getname(uold, false);
	if (IS_ERR(old))
		return PTR_ERR(old);
	new = getname(unew, false);
	if (IS_ERR(new)) {
		err = PTR_ERR(new);
	} else {
		err = vfs_rename(odfd, old, ndfd, new, flags);
		kfree(new);
	}
	kfree(old);
	return err;
}

long sys_renameat(int odfd, const char __user *old, int ndfd, const char __user *new)
{
	return sys_renameat2(odfd, old, ndfd, new, 0);
}
