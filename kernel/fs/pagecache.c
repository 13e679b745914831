/* SPDX-License-Identifier: MIT */
/*
 * The page cache of tmpfs files: a radix tree from page index to page, 64 slots per node. For tmpfs
 * the cache is the file; a page that is not there is a hole and reads as zeros.
 *
 * inode->pages is a tagged pointer: NULL (nothing), a struct page (only index 0 exists: most small
 * files), or a node with its height in the low bits. Nodes are 512 bytes and so aligned to 512.
 * pages_lock guards the tree; a page found gets a reference before the lock is dropped, so
 * truncation cannot free it under a reader or a mapping.
 */
#include "internal.h"

#include <perch/mm.h>
#include <string.h>

#define SLOT_BITS 6
#define SLOTS (1 << SLOT_BITS)
#define MAX_HEIGHT 9		/* 64^9 pages: more than INT64_MAX bytes */

struct node { void *slot[SLOTS]; };
_Static_assert(sizeof(struct node) == 512, "the tag needs the low bits of a node's address");

/* The root word: bit 0 marks a node, bits 1-4 its height (levels of nodes). */
static bool root_is_node(const void *root)
{
	return (u64)root & 1;
}

static u32 root_height(const void *root)
{
	return root_is_node(root) ? (u64)root >> 1 & 15 : 0;
}

static struct node *root_node(void *root)
{
	return (struct node *)((u64)root & ~511UL);
}

static void *root_make(struct node *n, u32 height)
{
	return (void *)((u64)n | height << 1 | 1);
}

static u64 capacity(u32 height)
{
	return height * SLOT_BITS >= 64 ? UINT64_MAX : BIT(height * SLOT_BITS);
}

/* --- lookup and insertion ------------------------------------------------------------------ */

/* The slot of index, followed by those of the other pages of its node; NULL: no page of the node exists. */
static void **find_slot(struct inode *i, u64 index)
{
	u32 h = root_height(i->pages);
	void **slot = &i->pages;

	if (index >= capacity(h))
		return NULL;
	for (struct node *node = root_node(i->pages); h; node = *slot) {
		if (!node)
			return NULL;
		slot = &node->slot[index >> (--h * SLOT_BITS) & (SLOTS - 1)];
	}
	return slot;
}

static struct page *find_locked(struct inode *i, u64 index)
{
	void **slot = find_slot(i, index);

	return slot ? *slot : NULL;
}

static struct page *find_get(struct inode *i, u64 index)
{
	struct page *p;

	spin_lock(&i->pages_lock);
	p = find_locked(i, index);
	if (p)
		page_get(p);
	spin_unlock(&i->pages_lock);
	return p;
}

/* Make the tree high enough for index. False: out of memory. */
static bool grow_locked(struct inode *i, u64 index)
{
	while (index >= capacity(root_height(i->pages))) {
		u32 h = root_height(i->pages);
		struct node *n = kzalloc(sizeof(*n));

		if (!n)
			return false;
		n->slot[0] = h ? (void *)root_node(i->pages) : i->pages;
		i->pages = root_make(n, h + 1);
	}
	return true;
}

static void **slot_locked(struct inode *i, u64 index)
{
	void **slot = &i->pages;
	struct node *n;
	u32 h;

	if (!grow_locked(i, index))
		return NULL;
	h = root_height(i->pages);
	if (!h)
		return slot;
	n = root_node(i->pages);
	for (;;) {
		slot = &n->slot[index >> (--h * SLOT_BITS) & (SLOTS - 1)];
		if (!h)
			return slot;
		if (!*slot)
			*slot = kzalloc(sizeof(*n));
		if (!*slot)
			return NULL;
		n = *slot;
	}
}

static bool charge(struct super *sb)
{
	if (atomic_add_return(&sb->used_pages, 1) <= sb->max_pages || !sb->max_pages)
		return true;
	atomic_dec(&sb->used_pages);
	return false;
}

/* -EEXIST when somebody was faster; p then stays the caller's. */
static int insert(struct inode *i, u64 index, struct page *p)
{
	void **slot;
	int err = 0;

	spin_lock(&i->pages_lock);
	slot = slot_locked(i, index);
	if (!slot) {
		err = -ENOMEM;
	} else if (*slot) {
		err = -EEXIST;
	} else {
		*slot = p;
		i->nr_pages++;
		i->blocks += PAGE_SIZE / 512;
	}
	spin_unlock(&i->pages_lock);
	if (!err)
		atomic_inc(&mem_stats.shmem_pages);
	return err;
}

int pagecache_insert(struct inode *i, u64 index, struct page *p)
{
	int err = charge(i->sb) ? 0 : -ENOSPC;

	if (!err) {
		p->flags |= PG_CACHE;
		err = insert(i, index, p);
		if (err)
			atomic_dec(&i->sb->used_pages);
	}
	if (err)
		page_put(p);
	return err;
}

struct page *pagecache_get(struct inode *i, u64 index, bool create, bool zero, int *err)
{
	struct page *p = find_get(i, index);

	*err = 0;
	while (!p && create && !*err) {
		p = alloc_page_user();
		if (!p) {
			*err = -ENOMEM;
			break;
		}
		if (zero)
			memset(page_address(p), 0, PAGE_SIZE);
		page_get(p);	/* one for the cache, one for the caller */
		*err = pagecache_insert(i, index, p);
		if (!*err)
			break;
		page_put(p);
		p = NULL;
		if (*err == -EEXIST) {
			p = find_get(i, index);
			*err = 0;
		}
	}
	return p;
}

int pagecache_prepare(struct inode *i, u64 index)
{
	struct page *p = find_get(i, index);
	int err;

	if (p) {
		page_put(p);
		return 0;
	}
	p = alloc_page_user();
	if (!p)
		return -ENOMEM;
	memset(page_address(p), 0, PAGE_SIZE);
	p->flags |= PG_PREPARED;
	err = pagecache_insert(i, index, p);
	return err == -EEXIST ? 0 : err;
}

struct page *tmpfs_page(struct inode *i, u64 index, bool create)
{
	int err;
	struct page *p = pagecache_get(i, index, create, true, &err);

	return p || !err ? p : ERR_PTR(err);
}

void tmpfs_runs(struct inode *i, u64 index, u32 n, page_run_fn *fn, void *arg)
{
	u32 here;

	spin_lock(&i->pages_lock);
	for (u32 k = 0; k < n; k += here) {
		void **slot = find_slot(i, index + k);

		here = root_is_node(i->pages) ? min(n - k, (u32)(SLOTS - ((index + k) & (SLOTS - 1)))) : 1;
		if (slot)
			fn(arg, k, (struct page *const *)slot, here);
	}
	spin_unlock(&i->pages_lock);
}

/* --- removal ------------------------------------------------------------------------------- */

struct removal { struct inode *i; u64 first, last; bool unused_only; struct list pages; u64 n; };

/* Made by fallocate, and nobody has it or has written to it. pages_lock held: nobody gets it meanwhile. */
static bool unused(const struct page *p)
{
	const u64 *w = page_address(p);
	u32 k = 0;

	if (!(p->flags & PG_PREPARED) || ref_read(&p->refs) > 1)
		return false;
	while (k < PAGE_SIZE / sizeof(*w) && !w[k])
		k++;
	return k == PAGE_SIZE / sizeof(*w);
}

static void remove_page(struct removal *r, void **slot)
{
	struct page *p = *slot;

	if (r->unused_only && !unused(p))
		return;
	*slot = NULL;
	r->n++;
	list_add_tail(&p->node, &r->pages);
}

/* Take pages [first, last] out below n, whose first index is base. True when n is empty now. */
static bool prune(struct removal *r, struct node *n, u32 height, u64 base)
{
	u64 span = capacity(height - 1);
	bool empty = true;

	for (u32 k = 0; k < SLOTS; k++) {
		u64 start = base + k * span;

		if (!n->slot[k])
			continue;
		if (start <= r->last && start + span - 1 >= r->first) {
			if (height == 1) {
				remove_page(r, &n->slot[k]);
			} else if (prune(r, n->slot[k], height - 1, start)) {
				kfree(n->slot[k]);
				n->slot[k] = NULL;
			}
		}
		empty &= !n->slot[k];
	}
	return empty;
}

static void take_out(struct inode *i, u64 first, u64 last, bool unused_only)
{
	struct removal r = { .i = i, .first = first, .last = last, .unused_only = unused_only };
	struct page *p, *tmp;

	list_init(&r.pages);
	spin_lock(&i->pages_lock);
	if (root_is_node(i->pages)) {
		if (prune(&r, root_node(i->pages), root_height(i->pages), 0)) {
			kfree(root_node(i->pages));
			i->pages = NULL;
		}
	} else if (i->pages && first == 0) {
		remove_page(&r, &i->pages);
	}
	i->nr_pages -= r.n;
	i->blocks -= r.n * (PAGE_SIZE / 512);
	spin_unlock(&i->pages_lock);
	atomic_sub(&i->sb->used_pages, r.n);
	atomic_sub(&mem_stats.shmem_pages, r.n);
	list_for_each_safe(p, tmp, &r.pages, node) {
		list_del(&p->node);
		page_put(p);
	}
}

void pagecache_remove(struct inode *i, u64 first, u64 last)
{
	take_out(i, first, last, false);
}

void pagecache_unprepare(struct inode *i, u64 first, u64 last)
{
	take_out(i, first, last, true);
}

void pagecache_truncate(struct inode *i, u64 from)
{
	pagecache_remove(i, from, UINT64_MAX);
}

/* --- holes --------------------------------------------------------------------------------- */

/* The first index >= from below n that has a page; UINT64_MAX if none. */
static u64 next_page(struct node *n, u32 height, u64 base, u64 from)
{
	u64 span = capacity(height - 1);

	for (u32 k = 0; k < SLOTS; k++) {
		u64 start = base + k * span, found;

		if (!n->slot[k] || start + span - 1 < from)
			continue;
		if (height == 1)
			return start;
		found = next_page(n->slot[k], height - 1, start, from);
		if (found != UINT64_MAX)
			return found;
	}
	return UINT64_MAX;
}

static u64 next_data_locked(struct inode *i, u64 from)
{
	if (root_is_node(i->pages))
		return next_page(root_node(i->pages), root_height(i->pages), 0, from);
	return i->pages && !from ? 0 : UINT64_MAX;
}

/* The next index >= from with (or, hole, without) a page; UINT64_MAX: no more data. */
u64 pagecache_next(struct inode *i, u64 from, bool hole)
{
	u64 ret = from;

	spin_lock(&i->pages_lock);
	if (!hole)
		ret = next_data_locked(i, from);
	else
		while (find_locked(i, ret))
			ret++;
	spin_unlock(&i->pages_lock);
	return ret;
}
