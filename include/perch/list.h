/* SPDX-License-Identifier: MIT */
/*
 * Circular doubly linked lists with the node inside the element. A list has no lock of its own:
 * the owner of the head says which lock guards it.
 */
#ifndef PERCH_LIST_H
#define PERCH_LIST_H

#include <perch/types.h>

struct list {
	struct list *next, *prev;
};

#define LIST_INIT(name) { &(name), &(name) }
#define LIST_HEAD(name) struct list name = LIST_INIT(name)

static inline void list_init(struct list *l)
{
	l->next = l->prev = l;
}

static inline bool list_empty(const struct list *l)
{
	return READ_ONCE(l->next) == l;
}

/* Insert n between a and its successor. */
static inline void list_add(struct list *n, struct list *a)
{
	n->next = a->next;
	n->prev = a;
	a->next->prev = n;
	a->next = n;
}

/* Insert n at the end of the list headed by h (that is, before h). */
static inline void list_add_tail(struct list *n, struct list *h)
{
	list_add(n, h->prev);
}

/* Take n out and leave it as an empty list, so a second list_del is harmless. */
static inline void list_del(struct list *n)
{
	n->prev->next = n->next;
	n->next->prev = n->prev;
	list_init(n);
}

static inline void list_move_tail(struct list *n, struct list *h)
{
	list_del(n);
	list_add_tail(n, h);
}

/* Append all of from to the end of to, leaving from empty. */
static inline void list_splice_tail(struct list *from, struct list *to)
{
	if (list_empty(from))
		return;
	from->next->prev = to->prev;
	to->prev->next = from->next;
	from->prev->next = to;
	to->prev = from->prev;
	list_init(from);
}

#define list_entry(p, type, member)	container_of(p, type, member)
#define list_first(h, type, member)	list_entry((h)->next, type, member)
#define list_last(h, type, member)	list_entry((h)->prev, type, member)
#define list_next(e, member)		list_entry((e)->member.next, __typeof__(*(e)), member)

#define list_for_each(e, h, member)						\
	for (e = list_first(h, __typeof__(*e), member); &e->member != (h);	\
	     e = list_next(e, member))

/* Safe against removal of e inside the body (and of nothing else). */
#define list_for_each_safe(e, t, h, member)					\
	for (e = list_first(h, __typeof__(*e), member), t = list_next(e, member);	\
	     &e->member != (h); e = t, t = list_next(t, member))

#endif
