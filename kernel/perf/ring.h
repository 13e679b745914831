/* SPDX-License-Identifier: MIT */
/*
 * Rings: pages that the kernel fills with records and a program reads. Theory: ring.c.
 *
 * Letters as in core.h; w: whoever writes a record, IRQs off, one CPU at a time (or with ring->turn).
 * A writer may interrupt another one.
 */
#ifndef PERF_RING_H
#define PERF_RING_H

#include "host.h"

#include <linux/perf_event.h>

#define RING_PAGE 4096u

struct perf_event;

struct perf_ring {
	void **pages;		/* control page, data pages, and the way back: see ring.c (I) */
	u32 nr_pages;		/* data pages: a power of two, or 0: control page alone (I) */
	struct perf_event_mmap_page *control;	/* pages[0] (I) */
	u64 size;		/* bytes of data (I) */
	u64 watermark;		/* bytes between wake-ups (I) */
	union {
		struct {
			union {
				struct {
					bool overwrite;	/* the reader cannot write: old records are overwritten (I) */
					bool backward;	/* filled from high to low positions (I) */
					bool paused;	/* PAUSE_OUTPUT (a) */
					bool crowded;	/* several CPUs may write: they take turns, see output.c (m, a) */
				};
				u32 odd;	/* 0: a ring as most are */
			};
			bool nest;	/* a record is being written: who finds this set is an inner writer (w) */
		};
		u64 unusual;	/* 0: not odd, and nobody writes */
	};
	bool dataless;		/* nr_pages is 0 (I) */
	host_spinlock turn;

	u64 head;		/* where the next record goes: private, the page has a copy (w) */
	u64 limit;		/* records that end here or before go the straight way (w) */
	u64 base;		/* address of a position in head's page, less that position (w) */
	u64 woken;		/* head at the last wake-up, in steps of watermark (w) */
	u32 samples;		/* since the last wake-up by wakeup_events (w) */
	u64 lost;		/* dropped since the last LOST record (w, a) */

	u32 ready;		/* poll has something to report; poll takes it (a) */
	host_spinlock lock;
	struct list events;	/* roots whose records come here, by ring_node (lock) */
	u32 maps;		/* mappings (m) */
	u32 refs;		/* mappings and events (m) */
	struct host_irq_work work;	/* wakes the pollers of all events */

	struct host_user *user;	/* who pays for the pages (m) */
	struct host_mm *mm;
	u64 user_pages, mm_pages;	/* charged to each (m) */
};

/* Where the next word of a record goes. A small value, so that a writer keeps it in registers. */
struct ring_at {
	u64 *at;
	void **page;		/* in ring->pages: the page of at */
};

/* One record on its way. Lives on the writer's stack. */
struct ring_write {
	struct ring_at to;
	struct perf_ring *ring;
	bool inner;		/* it interrupted another writer, who will publish */
	bool wake;		/* a watermark was passed */
	bool turn;		/* it holds ring->turn */
	struct perf_event *root;	/* whose record it is, see record.c */
};

/* 1 + nr_pages pages, one reference. NULL: no memory. P. */
struct perf_ring *ring_alloc(u32 nr_pages, bool overwrite, bool backward, u64 watermark);
/* Drop a reference (m); the last one frees. No writer may be left (output.c sees to it). P. */
void ring_put(struct perf_ring *r);

/*
 * Reserve size bytes (a multiple of 8, at most 65528) for a record. False if there is no room (the
 * caller accounts for the loss) or the ring is paused. Between begin and end: IRQs off, nothing
 * that sleeps or faults. w.
 */
bool ring_reserve(struct perf_ring *r, struct ring_write *w, u32 size);
/* Publish, or leave it to the writer that was interrupted. w. */
static inline void ring_publish(const struct ring_write *w);

/*
 * The straight way (theory: ring.c): ring_ahead says where a record would lie, and how long it may be, in one page. ring_take
 * reserves the bytes from ahead.head to next (a multiple of 8) for it; false: an interrupt has just been quicker. In both cases
 * ring_leave or ring_publish_head has to follow. Where this way ends, ring_look_ahead says how far it goes from here. w.
 */
struct ring_ahead {
	u64 *at;
	u64 head;
	s64 room;		/* bytes; < 1: not this way */
};
static inline struct ring_ahead ring_ahead(const struct perf_ring *r);
static inline bool ring_take(struct perf_ring *r, u64 head, u64 next);
void ring_look_ahead(struct perf_ring *r);
/* The outermost writer has finished and head is where it thinks: publish. False: an inner one has moved head
 * meanwhile; then ring_publish_head. */
static inline bool ring_leave(struct perf_ring *r, u64 head);
/* Publish where head is, and where inner writers move it until that is done. The outermost writer. */
void ring_publish_head(struct perf_ring *r);

/* w->wake was set: pollers have to look. O. */
void ring_wake(struct perf_ring *r);
/* Fill the reserved bytes in order: pages hold whole words, and records are made of words. */
struct ring_at ring_next_page(struct ring_at a);
static inline struct ring_at ring_word(struct ring_at a, u64 v)
{
	*a.at++ = v;
	return unlikely(!((u64)a.at & 4095)) ? ring_next_page(a) : a;
}
static inline struct ring_at ring_put_u32s(struct ring_at a, u32 first, u32 second)
{
	return ring_word(a, (u64)second << 32 | first);
}
static inline u64 ring_header_word(u32 type, u16 misc, u32 size)
{
	return (u64)size << 48 | (u64)misc << 32 | type;
}
struct ring_at ring_words_over_pages(struct ring_at a, const u64 *from, u32 n);
static inline struct ring_at ring_words(struct ring_at a, const u64 *from, u32 n)
{
	if (unlikely(((u64)a.at & (RING_PAGE - 1)) + 8 * n >= RING_PAGE))
		return ring_words_over_pages(a, from, n);
	__builtin_memcpy(a.at, from, 8 * n);
	return (struct ring_at){ a.at + n, a.page };
}
/* Copy n bytes (a multiple of 8) of user memory at addr. *got: bytes before the first that cannot be
 * read; the rest stays what the ring had there, as on Linux. */
struct ring_at ring_put_user(struct ring_at a, u64 addr, u32 n, u32 *got);

/* The same for a record in the making. */
static inline void ring_u64(struct ring_write *w, u64 v)
{
	w->to = ring_word(w->to, v);
}
static inline void ring_u32s(struct ring_write *w, u32 first, u32 second)
{
	w->to = ring_put_u32s(w->to, first, second);
}
static inline void ring_header(struct ring_write *w, u32 type, u16 misc, u32 size)
{
	w->to = ring_word(w->to, ring_header_word(type, misc, size));
}
/* n is a multiple of 8. */
void ring_bytes(struct ring_write *w, const void *p, u32 n);

/* --- the short ones; theory: ring.c ---------------------------------------------------------------------- */

/* An inner writer may come in between and move head, base and limit; then ring_take fails, before anything is written. */
static inline struct ring_ahead ring_ahead(const struct perf_ring *r)
{
	u64 limit = READ_ONCE(r->limit), base = READ_ONCE(r->base), head = READ_ONCE(r->head);

	return (struct ring_ahead){ (u64 *)(base + head), head, READ_ONCE(r->unusual) ? 0 : (s64)(limit - head) };
}

/* head goes to next, unless an inner writer has moved it: then head says where to. */
static inline bool ring_move_head(struct perf_ring *r, u64 *head, u64 next)
{
	return __atomic_compare_exchange_n(&r->head, head, next, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

static inline bool ring_leave(struct perf_ring *r, u64 head)
{
	__atomic_store_n(&r->control->data_head, head, __ATOMIC_RELEASE);	/* B */
	WRITE_ONCE(r->nest, false);
	barrier();
	return likely(head == READ_ONCE(r->head));
}

static inline bool ring_take(struct perf_ring *r, u64 head, u64 next)
{
	WRITE_ONCE(r->nest, true);
	barrier();	/* an interrupt from here on is an inner writer */
	return likely(ring_move_head(r, &head, next));
}

static inline void ring_publish(const struct ring_write *w)
{
	barrier();
	if (likely(!w->inner) && unlikely(!ring_leave(w->ring, READ_ONCE(w->ring->head))))
		ring_publish_head(w->ring);
	if (unlikely(w->turn))
		host_spin_unlock(&w->ring->turn);
}

#endif
