/* SPDX-License-Identifier: MIT */
/*
 * The areas of an address space: a sorted list for walking and a treap for finding.
 *
 * A treap is a search tree by address that is also a heap by random priorities, which keeps it
 * balanced on average whatever the order of insertion. Every node also knows the largest free gap
 * directly below any area of its subtree (rb_gap), so the highest free range of a given length is
 * found without walking the areas. A stack counts STACK_GAP below its start as its own.
 *
 * Invariants: list order = tree order; areas do not overlap; rb_gap(v) = max(own gap, children's).
 */
#include <perch/fs.h>
#include <perch/mm.h>
#include <perch/random.h>
#include "internal.h"

struct vma *vma_prev(struct mm *mm, struct vma *v)
{
	return v->node.prev == &mm->vmas ? NULL : list_entry(v->node.prev, struct vma, node);
}

struct vma *vma_next(struct mm *mm, struct vma *v)
{
	return v->node.next == &mm->vmas ? NULL : list_entry(v->node.next, struct vma, node);
}

uaddr vma_low_end(const struct vma *v)
{
	if (!(v->flags & VM_GROWSDOWN))
		return v->start;
	return v->start > STACK_GAP ? v->start - STACK_GAP : 0;
}

/* --- the treap ------------------------------------------------------------------------------------ */

static uaddr gap_start(const struct vma *v)
{
	const struct vma *prev = vma_prev(v->mm, (struct vma *)v);

	return prev ? prev->end : USER_MIN;
}

static u64 own_gap(const struct vma *v)
{
	uaddr from = gap_start(v), to = vma_low_end(v);

	return to > from ? to - from : 0;
}

/* True if it has changed. */
static bool gap_update(struct vma *v)
{
	u64 g = own_gap(v), old = v->rb_gap;

	if (v->rb_left)
		g = max(g, v->rb_left->rb_gap);
	if (v->rb_right)
		g = max(g, v->rb_right->rb_gap);
	v->rb_gap = g;
	return g != old;
}

/* v's own gap or its children have changed: so may its gap and those above, up to one that stays. */
static void gap_propagate(struct vma *v)
{
	while (v && gap_update(v))
		v = v->rb_parent;
}

static struct vma **slot_of(struct mm *mm, struct vma *v)
{
	struct vma *p = v->rb_parent;

	return !p ? &mm->rb_root : p->rb_left == v ? &p->rb_left : &p->rb_right;
}

/* Exchange v with its parent, keeping the order. */
static void rotate_up(struct mm *mm, struct vma *v)
{
	struct vma *p = v->rb_parent, *moved;

	*slot_of(mm, p) = v;
	v->rb_parent = p->rb_parent;
	p->rb_parent = v;
	if (p->rb_left == v) {
		moved = p->rb_left = v->rb_right;
		v->rb_right = p;
	} else {
		moved = p->rb_right = v->rb_left;
		v->rb_left = p;
	}
	if (moved)
		moved->rb_parent = p;
	gap_update(p);
	gap_update(v);
}

/* Unpredictable, so that no order of mmap calls can build a deep tree. */
static u32 priority(void)
{
	static u64 state;	/* races only mix it further */
	u64 s = READ_ONCE(state);

	if (!s)
		s = random_u64() | 1;
	s ^= s << 13;
	s ^= s >> 7;
	s ^= s << 17;
	WRITE_ONCE(state, s);
	return s >> 16;
}

void vma_insert(struct mm *mm, struct vma *v)
{
	struct vma **slot = &mm->rb_root, *parent = NULL, *prev = NULL, *next;

	while (*slot) {
		parent = *slot;
		if (v->start < parent->start) {
			ASSERT(v->end <= parent->start);
			slot = &parent->rb_left;
		} else {
			ASSERT(v->start >= parent->end);
			prev = parent;
			slot = &parent->rb_right;
		}
	}
	list_add(&v->node, prev ? &prev->node : &mm->vmas);
	v->rb_left = v->rb_right = NULL;
	v->rb_parent = parent;
	v->rb_color = priority();
	*slot = v;
	gap_update(v);
	gap_propagate(parent);
	next = vma_next(mm, v);
	if (next)
		gap_propagate(next);
	while (v->rb_parent && v->rb_parent->rb_color < v->rb_color)
		rotate_up(mm, v);
	mm->nr_vmas++;
	if (v->file && list_empty(&v->rmap_node))
		rmap_add(v);
}

void vma_erase(struct mm *mm, struct vma *v)
{
	struct vma *next = vma_next(mm, v), *l, *r;

	if (v->file)
		rmap_del(v);
	while ((l = v->rb_left, r = v->rb_right, l || r))
		rotate_up(mm, !r || (l && l->rb_color > r->rb_color) ? l : r);
	*slot_of(mm, v) = NULL;
	list_del(&v->node);
	gap_propagate(v->rb_parent);
	if (next)
		gap_propagate(next);
	if (mm->last == v)
		mm->last = NULL;
	mm->nr_vmas--;
}

void vma_resize(struct mm *mm, struct vma *v, uaddr start, uaddr end)
{
	struct vma *next = vma_next(mm, v);

	rmap_resize(v, start, end);
	gap_propagate(v);
	if (next)
		gap_propagate(next);
}

/* --- finding ------------------------------------------------------------------------------------------ */

struct vma *vma_find(struct mm *mm, uaddr addr)
{
	struct vma *v = mm->last, *best = NULL;

	if (v && addr >= v->start && addr < v->end)
		return v;
	for (v = mm->rb_root; v; ) {
		if (addr < v->end) {
			best = v;
			if (addr >= v->start)
				break;
			v = v->rb_left;
		} else {
			v = v->rb_right;
		}
	}
	if (best)
		mm->last = best;
	return best;
}

struct vma *vma_at(struct mm *mm, uaddr addr)
{
	struct vma *v = vma_find(mm, addr);

	return v && v->start <= addr ? v : NULL;
}

/* The highest range of len bytes that ends at or below high in a gap of v's subtree; 0 if none. The depth
 * of recursion is that of the tree. */
static uaddr subtree_top(struct vma *v, u64 len, uaddr high)
{
	while (v && v->rb_gap >= len) {
		uaddr from = gap_start(v), to;

		if (from < high) {
			uaddr found = subtree_top(v->rb_right, len, high);

			if (found)
				return found;
			to = min(vma_low_end(v), high);
			if (to > from && to - from >= len)
				return to - len;
		}
		v = v->rb_left;
	}
	return 0;
}

uaddr vma_gap_top(struct mm *mm, u64 len, uaddr high)
{
	uaddr from = list_empty(&mm->vmas) ? USER_MIN : list_last(&mm->vmas, struct vma, node)->end;

	if (high > from && high - from >= len)
		return high - len;
	return subtree_top(mm->rb_root, len, high);
}

bool vma_range_free(struct mm *mm, uaddr addr, u64 len)
{
	struct vma *v = vma_find(mm, addr);

	return !v || addr + len <= vma_low_end(v);
}

/* --- cutting and joining --------------------------------------------------------------------------------- */

struct vma *vma_alloc(struct mm *mm, uaddr start, uaddr end, u32 flags)
{
	struct vma *v = kzalloc(sizeof(*v));

	if (!v)
		return NULL;
	v->mm = mm;
	v->start = start;
	v->end = end;
	v->flags = flags;
	v->pgoff = start >> PAGE_SHIFT;
	list_init(&v->node);
	list_init(&v->rmap_node);
	return v;
}

struct vma *vma_copy(const struct vma *v)
{
	struct vma *n = kmalloc(sizeof(*n));

	if (!n)
		return NULL;
	*n = *v;
	list_init(&n->node);
	list_init(&n->rmap_node);
	if (n->file)
		file_get(n->file);
	return n;
}

struct vma *vma_split(struct mm *mm, struct vma *v, uaddr addr)
{
	struct vma *upper;

	ASSERT(addr > v->start && addr < v->end && IS_ALIGNED(addr, PAGE_SIZE));
	if (v->flags & VM_DONTEXPAND)
		return ERR_PTR(-EINVAL);
	if (mm->nr_vmas >= sysctl_max_map_count)
		return ERR_PTR(-ENOMEM);
	upper = vma_copy(v);
	if (!upper)
		return ERR_PTR(-ENOMEM);
	upper->start = addr;
	upper->pgoff = vma_pgoff(v, addr);
	if (upper->ops && upper->ops->open)
		upper->ops->open(upper);
	if (upper->file)
		rmap_add(upper);	/* before v shrinks: truncation must not miss a page */
	vma_resize(mm, v, v->start, addr);
	vma_insert(mm, upper);
	return upper;
}

int vma_cut(struct mm *mm, uaddr start, uaddr end)
{
	struct vma *v = vma_at(mm, start), *r;

	if (v && v->start < start) {
		r = vma_split(mm, v, start);
		if (IS_ERR(r))
			return PTR_ERR(r);
	}
	v = vma_at(mm, end);
	if (v && v->start < end) {
		r = vma_split(mm, v, end);
		if (IS_ERR(r))
			return PTR_ERR(r);
	}
	return 0;
}

static bool same_kind(const struct vma *a, const struct vma *b)
{
	return a->end == b->start && !((a->flags ^ b->flags) & ~VM_ANON) &&
	       !(a->flags & (VM_DONTEXPAND | VM_PFNMAP)) && a->file == b->file &&
	       a->ops == b->ops && a->priv == b->priv && !(a->ops && a->ops->close) &&
	       a->pgoff + vma_pages(a) == b->pgoff;
}

bool vma_extends_anon(const struct vma *v, uaddr start, u32 flags)
{
	return v->end == start && !((v->flags ^ flags) & ~VM_ANON) && !v->file && !v->ops &&
	       !(flags & (VM_DONTEXPAND | VM_PFNMAP | VM_SHARED)) &&
	       v->pgoff + vma_pages(v) == start >> PAGE_SHIFT;
}

/* low grows over high, which goes away. */
static void absorb(struct mm *mm, struct vma *low, struct vma *high)
{
	low->flags |= high->flags & VM_ANON;
	vma_resize(mm, low, low->start, high->end);	/* first: see vma_split */
	vma_erase(mm, high);
	list_add_tail(&high->node, &mm->dead);
}

struct vma *vma_merge(struct mm *mm, struct vma *v)
{
	struct vma *o = vma_prev(mm, v);

	if (o && same_kind(o, v)) {
		absorb(mm, o, v);
		v = o;
	}
	o = vma_next(mm, v);
	if (o && same_kind(v, o))
		absorb(mm, v, o);
	return v;
}

/* --- the end of an area ------------------------------------------------------------------------------------ */

void vma_discard(struct mm *mm, struct vma *v)
{
	if (v->ops && v->ops->close)
		v->ops->close(v);
	list_add_tail(&v->node, &mm->dead);
}

static noinline void unlock_and_bury(struct mm *mm)
{
	LIST_HEAD(dead);
	struct vma *v, *next;

	list_splice_tail(&mm->dead, &dead);
	mutex_unlock(&mm->lock);
	list_for_each_safe(v, next, &dead, node) {
		if (v->file)
			file_put(v->file);
		kfree(v);
	}
}

void mm_unlock(struct mm *mm)
{
	if (unlikely(!list_empty(&mm->dead)))
		unlock_and_bury(mm);
	else
		mutex_unlock(&mm->lock);
}
