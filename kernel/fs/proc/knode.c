/* SPDX-License-Identifier: MIT */
/*
 * Trees of named files that the kernel builds, not the user: the top level of /proc, /proc/sys,
 * /sys, and the still empty debugfs and tracefs. A node is a directory, a file with a show and a
 * store function, or a symbolic link. knode_fs.c makes inodes of nodes when somebody looks them
 * up.
 *
 * knode_lock guards the shape of all trees. A node has one reference for being in its tree and one
 * for each inode; a removed node is marked dead, so that cached names are dropped.
 */
#include "internal.h"
#include <perch/page.h>
#include <perch/printk.h>
#include <string.h>

/* The roots exist before anything is initialised, so that files can be registered at any time. */
static struct knode proc_root_node, proc_sys_node;

static struct knode proc_root_node = {
	.refs = { 1 }, .name = "proc", .mode = S_IFDIR | 0555, .ino = 1,
	.children = { &proc_sys_node.node, &proc_sys_node.node },
	.node = LIST_INIT(proc_root_node.node),
};
static struct knode proc_sys_node = {
	.refs = { 1 }, .name = "sys", .mode = S_IFDIR | 0555, .ino = 2,
	.parent = &proc_root_node,
	.children = LIST_INIT(proc_sys_node.children),
	.node = { &proc_root_node.children, &proc_root_node.children },
};
static struct knode sysfs_root_node = {
	.refs = { 1 }, .name = "sysfs", .mode = S_IFDIR | 0555, .ino = 1,
	.children = LIST_INIT(sysfs_root_node.children),
	.node = LIST_INIT(sysfs_root_node.node),
};
struct knode *proc_root = &proc_root_node;
struct knode *proc_sys_root = &proc_sys_node;
struct knode *sysfs_root = &sysfs_root_node;

static spinlock knode_lock;
static u64 knode_next_ino = 0xf0000000UL;	/* atomic; above the numbers of process files */

static struct knode *knode_alloc(const char *name, size_t len, u32 mode)
{
	struct knode *n = kzalloc(sizeof(*n) + len + 1);
	char *copy = (char *)(n + 1);

	if (!n)
		return NULL;
	memcpy(copy, name, len);
	ref_init(&n->refs, 1);
	list_init(&n->children);
	list_init(&n->node);
	n->name = copy;
	n->mode = mode;
	n->ino = atomic_add_return(&knode_next_ino, 1);
	return n;
}

void knode_put(struct knode *n)
{
	if (!ref_put(&n->refs))
		return;
	ASSERT(n->dead && list_empty(&n->children));
	kfree(n->target);
	kfree(n);
}

/* knode_lock held. */
static struct knode *child_named(struct knode *dir, const char *name, size_t len)
{
	struct knode *c;

	list_for_each(c, &dir->children, node)
		if (c->name[0] == name[0] && strlen(c->name) == len && !memcmp(c->name, name, len))
			return c;
	return NULL;
}

struct knode *knode_find(struct knode *dir, const char *name, size_t len)
{
	struct knode *c;

	spin_lock(&knode_lock);
	c = child_named(dir, name, len);
	if (c)
		ref_get(&c->refs);
	spin_unlock(&knode_lock);
	return c;
}

struct knode *knode_nth(struct knode *dir, u32 n)
{
	struct knode *c, *found = NULL;

	spin_lock(&knode_lock);
	list_for_each(c, &dir->children, node)
		if (!n--) {
			found = c;
			ref_get(&c->refs);
			break;
		}
	spin_unlock(&knode_lock);
	return found;
}

/* Put n (consumed) below dir unless the name exists; the node that is there now. */
static struct knode *knode_insert(struct knode *dir, struct knode *n)
{
	struct knode *old;

	spin_lock(&knode_lock);
	old = child_named(dir, n->name, strlen(n->name));
	if (!old) {
		n->parent = dir;
		list_add_tail(&n->node, &dir->children);
		dir->nr_dirs += S_ISDIR(n->mode);
	}
	spin_unlock(&knode_lock);
	if (!old)
		return n;
	n->dead = true;
	knode_put(n);
	return old;
}

/* Linux's sysfs has directories that their owner could write to, and shows a page as each file's
 * size. */
static bool in_sysfs(const struct knode *n)
{
	while (n->parent)
		n = n->parent;
	return n == sysfs_root;
}

/* The directory called name below dir, made if need be. NULL: OOM, or the name is not a
 * directory's. */
static struct knode *dir_step(struct knode *dir, const char *name, size_t len)
{
	struct knode *n;

	spin_lock(&knode_lock);
	n = child_named(dir, name, len);
	spin_unlock(&knode_lock);
	if (!n) {
		n = knode_alloc(name, len, S_IFDIR | (in_sysfs(dir) ? 0755 : 0555));
		if (n)
			n = knode_insert(dir, n);
	}
	return n && S_ISDIR(n->mode) ? n : NULL;
}

/* Walk to the directory that holds the last component of path; *last is set to that component. */
static struct knode *walk_to_parent(struct knode *dir, const char *path, const char **last)
{
	const char *slash;

	while (dir && (slash = strchr(path, '/'))) {
		if (slash != path)
			dir = dir_step(dir, path, (size_t)(slash - path));
		path = slash + 1;
	}
	*last = path;
	return dir;
}

struct knode *knode_dir(struct knode *parent, const char *path)
{
	const char *last;

	parent = walk_to_parent(parent, path, &last);
	if (!parent || !*last)
		return parent;
	return dir_step(parent, last, strlen(last));
}

struct knode *knode_file(struct knode *parent, const char *path, u32 mode,
			 const struct knode_ops *ops, void *arg)
{
	const char *last;
	struct knode *n;

	ASSERT(ops);
	parent = walk_to_parent(parent, path, &last);
	if (!parent)
		return NULL;
	n = knode_alloc(last, strlen(last), S_IFREG | (mode & 07777));
	if (!n)
		return NULL;
	n->ops = ops;
	n->arg = arg;
	if (in_sysfs(parent))
		n->size = PAGE_SIZE;
	return knode_insert(parent, n);
}

struct knode *knode_link(struct knode *parent, const char *path, const char *target)
{
	const char *last;
	struct knode *n;

	parent = walk_to_parent(parent, path, &last);
	if (!parent)
		return NULL;
	n = knode_alloc(last, strlen(last), S_IFLNK | 0777);
	if (!n)
		return NULL;
	n->target = kstrdup(target);
	if (!n->target) {
		n->dead = true;
		knode_put(n);
		return NULL;
	}
	n->size = in_sysfs(parent) ? 0 : (loff)strlen(target);
	return knode_insert(parent, n);
}

void knode_set_size(struct knode *n, loff size)
{
	n->size = size;
}

/* Any node of the subtree without children, taken out of it, or NULL when n is alone. */
static struct knode *detach_leaf(struct knode *n)
{
	struct knode *leaf = n;

	spin_lock(&knode_lock);
	while (!list_empty(&leaf->children))
		leaf = list_first(&leaf->children, struct knode, node);
	list_del(&leaf->node);
	leaf->parent->nr_dirs -= S_ISDIR(leaf->mode);
	leaf->dead = true;
	spin_unlock(&knode_lock);
	return leaf;
}

void knode_remove(struct knode *n)
{
	struct knode *leaf;

	ASSERT(n->parent);
	do {
		leaf = detach_leaf(n);
		knode_put(leaf);
	} while (leaf != n);
}
