/* SPDX-License-Identifier: MIT */
/*
 * A priority queue whose nodes live inside the elements: smallest key first. No lock of its own.
 * Insert and remove (of any node, not only the first) are O(log n); first is one load.
 */
#ifndef PERCH_HEAP_H
#define PERCH_HEAP_H

#include <perch/types.h>

struct heap_node {
	struct heap_node *left, *right, *parent;
	s64 key;		/* must not change while the node is in a heap */
	u32 rank;
};

struct heap {
	struct heap_node *root;
};

/* The node with the smallest key, or NULL. Of equal keys, any. */
static inline struct heap_node *heap_first(const struct heap *h)
{
	return h->root;
}

/* The node after n in some order that starts with the first and visits all; NULL at the end. */
struct heap_node *heap_next(const struct heap_node *n);

void heap_insert_among(struct heap *h, struct heap_node *n);	/* others: h is not empty */
void heap_remove_among(struct heap *h, struct heap_node *n);	/* n is not alone */

/* n->key is set; n is in no heap. */
static inline void heap_insert(struct heap *h, struct heap_node *n)
{
	n->left = n->right = n->parent = NULL;
	n->rank = 1;
	if (h->root)
		heap_insert_among(h, n);
	else
		h->root = n;
}

/* n is in h. */
static inline void heap_remove(struct heap *h, struct heap_node *n)
{
	if (h->root == n && !n->left)
		h->root = NULL;
	else
		heap_remove_among(h, n);
}

#endif
