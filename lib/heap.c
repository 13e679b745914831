/* SPDX-License-Identifier: MIT */
/*
 * A leftist heap: each node's key is not above its children's, and of two siblings the left one has
 * at least the rank of the right one, where rank is the length of the path that always goes right.
 * So a right path in a heap of n nodes has at most log2(n + 1) nodes, and everything is built from
 * merging two heaps along their right paths. Removing from the middle puts the merged children in
 * the node's place and repairs ranks upwards until one is already right: also O(log n), because a
 * rank that changes lies on a right path of its ancestor.
 */
#include <perch/heap.h>

static u32 rank(const struct heap_node *n)
{
	return n ? n->rank : 0;
}

/* Restore the order of n's children and n's rank. */
static void settle(struct heap_node *n)
{
	if (rank(n->left) < rank(n->right)) {
		struct heap_node *l = n->left;

		n->left = n->right;
		n->right = l;
	}
	n->rank = rank(n->right) + 1;
}

/* The recursion is as deep as the two right paths: 2 * log2(n). */
static struct heap_node *merge(struct heap_node *a, struct heap_node *b)
{
	if (!a)
		return b;
	if (!b)
		return a;
	if (b->key < a->key) {
		struct heap_node *t = a;

		a = b;
		b = t;
	}
	a->right = merge(a->right, b);
	a->right->parent = a;
	settle(a);
	return a;
}

void heap_insert_among(struct heap *h, struct heap_node *n)
{
	h->root = merge(h->root, n);
	h->root->parent = NULL;
}

void heap_remove_among(struct heap *h, struct heap_node *n)
{
	struct heap_node *sub = merge(n->left, n->right), *p = n->parent;

	if (sub)
		sub->parent = p;
	if (!p)
		h->root = sub;
	else if (p->left == n)
		p->left = sub;
	else
		p->right = sub;
	for (; p; p = p->parent) {
		u32 old = p->rank;

		settle(p);
		if (p->rank == old)
			break;
	}
	n->left = n->right = n->parent = NULL;
}

/* Parent, then left, then right subtree; nodes with only one child have it on the left. */
struct heap_node *heap_next(const struct heap_node *n)
{
	if (n->left)
		return n->left;
	for (; n->parent; n = n->parent)
		if (n->parent->left == n && n->parent->right)
			return n->parent->right;
	return NULL;
}
