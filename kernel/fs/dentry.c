/* SPDX-License-Identifier: MIT */
/*
 * Dentries: names in a tree. One hash table over (parent, name) finds a child without asking the
 * file system. Only positive dentries are ever in it, so a lookup that misses in tmpfs (whose tree
 * is the dentry tree) is one probe; file systems with a lookup op are asked, and a "no" costs one
 * short-lived dentry.
 *
 * A dentry holds its parent and its inode. tmpfs pins its dentries with a reference of the tree;
 * others live as long as somebody uses them. dcache_lock guards all tree and hash pointers. A
 * reference count may reach zero outside the lock, so finding uses ref_get_unless_zero.
 */
#include "internal.h"

#include <stdio.h>
#include <string.h>

#define HASH_BITS 11
static struct list hash_table[1 << HASH_BITS];	/* dcache_lock */
static u64 next_cookie = 3;			/* dcache_lock; 0-2: start, ".", ".." */
spinlock dcache_lock = SPINLOCK_INIT;

void name_set(struct name *n, const char *s, u32 len)
{
	u32 h = 2166136261U;	/* FNV-1a */

	for (u32 i = 0; i < len; i++)
		h = (h ^ (u8)s[i]) * 16777619U;
	*n = (struct name){ s, len, h };
}

static struct list *hash_bucket(const struct dentry *parent, u32 hash)
{
	u64 k = ((u64)parent >> 6) ^ ((u64)hash * 0x9e3779b1ULL);
	struct list *b = &hash_table[(k ^ (k >> HASH_BITS)) & (ARRAY_SIZE(hash_table) - 1)];

	if (unlikely(!b->next))
		list_init(b);
	return b;
}

static struct dentry *dentry_make(struct super *sb, const char *s, u32 len, u32 hash)
{
	struct dentry *d = kzalloc(sizeof(*d) + len + 1);

	if (!d)
		return NULL;
	ref_init(&d->refs, 1);
	d->parent = d;
	d->name = (char *)(d + 1);
	memcpy(d->name, s, len);
	d->name_len = len;
	d->name_hash = hash;
	d->sb = sb;
	d->unhashed = true;
	list_init(&d->child_node);
	list_init(&d->children);
	list_init(&d->hash_node);
	return d;
}

struct dentry *dentry_alloc(struct dentry *parent, const struct name *n)
{
	struct dentry *d = dentry_make(parent->sb, n->s, n->len, n->hash);

	if (d)
		d->parent = dentry_get(parent);
	return d;
}

struct dentry *dentry_alloc_pseudo(struct super *sb, const char *name, struct inode *i)
{
	struct dentry *d = dentry_make(sb, name ? name : "", name ? strlen(name) : 0, 0);

	if (d)
		d->inode = i;
	return d;
}

struct dentry *dentry_alloc_tmpfile(struct dentry *dir, struct inode *i)
{
	char text[24];
	struct name n;
	struct dentry *d;

	name_set(&n, text, snprintf(text, sizeof(text), "#%lu", i->ino));
	d = dentry_alloc(dir, &n);
	if (d)
		d->inode = i;
	return d;
}

struct dentry *dentry_root(struct super *sb, struct inode *i)
{
	struct dentry *d = dentry_make(sb, "/", 1, 0);

	if (!d) {
		inode_put(i);
		return NULL;
	}
	d->inode = i;
	d->unhashed = false;
	return d;
}

struct dentry *dentry_get(struct dentry *d)
{
	ref_get(&d->refs);
	return d;
}

static void unhash_locked(struct dentry *d)
{
	d->unhashed = true;
	list_del(&d->hash_node);
	list_del(&d->child_node);
}

static void free_name(struct dentry *d)
{
	if (d->name != (char *)(d + 1))
		kfree(d->name);
}

/* Freeing a dentry drops its parent, and so on up: a loop, because trees can be deep. */
void dentry_put(struct dentry *d)
{
	while (d && ref_put(&d->refs)) {
		struct dentry *parent;

		spin_lock(&dcache_lock);
		ASSERT(list_empty(&d->children));
		unhash_locked(d);
		parent = d->parent == d ? NULL : d->parent;
		spin_unlock(&dcache_lock);
		inode_put(d->inode);
		free_name(d);
		kfree(d);
		d = parent;
	}
}

void dentry_attach(struct dentry *d, struct inode *i)
{
	ASSERT(!d->inode);
	spin_lock(&dcache_lock);
	d->inode = i;
	d->unhashed = false;
	d->cookie = next_cookie++;
	list_add_tail(&d->child_node, &d->parent->children);
	list_add(&d->hash_node, hash_bucket(d->parent, d->name_hash));
	spin_unlock(&dcache_lock);
}

/* --- finding ------------------------------------------------------------------------------- */

static bool name_equal(const struct dentry *d, const struct dentry *parent, const struct name *n)
{
	return d->name_hash == n->hash && d->parent == parent && d->name_len == n->len &&
	       !memcmp(d->name, n->s, n->len);
}

struct dentry *dentry_find(struct dentry *parent, const struct name *n)
{
	struct dentry *d, *found = NULL;
	struct list *b;

	spin_lock(&dcache_lock);
	b = hash_bucket(parent, n->hash);
	list_for_each(d, b, hash_node) {
		if (name_equal(d, parent, n) && ref_get_unless_zero(&d->refs)) {
			found = d;
			break;
		}
	}
	spin_unlock(&dcache_lock);
	return found;
}

static struct dentry *ask_fs(struct dentry *parent, const struct name *n)
{
	struct inode *dir = parent->inode;
	struct dentry *d = dentry_find(parent, n);	/* somebody may have been faster */
	int err;

	if (d)
		return d;
	if (parent->unhashed)
		return NULL;
	d = dentry_alloc(parent, n);
	if (!d)
		return ERR_PTR(-ENOMEM);
	err = dir->ops->lookup(dir, d);
	if (!err && d->inode)
		return d;
	dentry_put(d);
	return ERR_PTR(err);	/* 0 is NULL: there is no such name */
}

struct dentry *dentry_lookup(struct dentry *parent, const struct name *n, bool locked)
{
	struct inode *dir = parent->inode;
	struct dentry *d = dentry_find(parent, n);

	if (d && d->inode->ops && d->inode->ops->revalidate && !d->inode->ops->revalidate(d)) {
		dentry_drop(d);
		dentry_put(d);
		d = NULL;
	}
	if (d || !dir->ops || !dir->ops->lookup)
		return d;
	if (!locked)
		mutex_lock(&dir->lock);
	d = ask_fs(parent, n);
	if (!locked)
		mutex_unlock(&dir->lock);
	return d;
}

/* --- changing the tree --------------------------------------------------------------------- */

void dentry_drop(struct dentry *d)
{
	bool pinned;

	spin_lock(&dcache_lock);
	unhash_locked(d);
	pinned = d->pinned;
	d->pinned = false;
	spin_unlock(&dcache_lock);
	if (pinned)
		dentry_put(d);
}

static void rehash_locked(struct dentry *d)
{
	list_del(&d->hash_node);
	list_add(&d->hash_node, hash_bucket(d->parent, d->name_hash));
	list_del(&d->child_node);
	d->cookie = next_cookie++;
	list_add_tail(&d->child_node, &d->parent->children);
}

char *dentry_move_prepare(const struct name *n)
{
	char *s = kmalloc(n->len + 1);

	if (s) {
		memcpy(s, n->s, n->len);
		s[n->len] = '\0';
	}
	return s;
}

void dentry_move(struct dentry *d, struct dentry *parent, char *name, const struct name *n)
{
	struct dentry *old_parent;

	dentry_get(parent);
	spin_lock(&dcache_lock);
	free_name(d);
	old_parent = d->parent;
	d->parent = parent;
	d->name = name;
	d->name_len = n->len;
	d->name_hash = n->hash;
	rehash_locked(d);
	spin_unlock(&dcache_lock);
	dentry_put(old_parent);
}

static char *name_detach(const struct dentry *d)
{
	char *s = kmalloc(d->name_len + 1);

	if (s)
		memcpy(s, d->name, d->name_len + 1);
	return s;
}

static void name_take(struct dentry *d, char *name, u32 len, u32 hash)
{
	d->name = name;
	d->name_len = len;
	d->name_hash = hash;
}

/* Both change places in the tree. The caller holds both directories' locks and the rename lock. */
int dentry_exchange(struct dentry *a, struct dentry *b)
{
	char *an = name_detach(a), *bn = name_detach(b);
	struct dentry *p = a->parent;
	u32 len = a->name_len, hash = a->name_hash;

	if (!an || !bn) {
		kfree(an);
		kfree(bn);
		return -ENOMEM;
	}
	spin_lock(&dcache_lock);
	free_name(a);
	free_name(b);
	name_take(a, bn, b->name_len, b->name_hash);
	name_take(b, an, len, hash);
	a->parent = b->parent;
	b->parent = p;
	rehash_locked(a);
	rehash_locked(b);
	spin_unlock(&dcache_lock);
	return 0;
}

bool dentry_is_ancestor(const struct dentry *a, const struct dentry *d)
{
	bool yes = false;

	spin_lock(&dcache_lock);
	for (; !yes; d = d->parent) {
		yes = d == a;
		if (d->parent == d)
			break;
	}
	spin_unlock(&dcache_lock);
	return yes;
}

struct dentry *dentry_parent(struct dentry *d)
{
	struct dentry *p;

	spin_lock(&dcache_lock);
	p = dentry_get(d->parent);
	spin_unlock(&dcache_lock);
	return p;
}
