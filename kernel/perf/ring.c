/* SPDX-License-Identifier: MIT */
/*
 * The producer's side of a ring.
 *
 * Positions only ever grow (or, in a backward ring, shrink); a position modulo the size is a place.
 * The program owns [tail, head), the kernel the rest. One byte stays free, so that head == tail means
 * empty.
 *
 *	kernel                                  program
 *	A  read data_tail                       C  read data_head
 *	   (control dependency: no write            barrier
 *	    before the test of the room)         read records
 *	   write the record                         barrier
 *	B  data_head = head (release)           D  data_tail = its position
 *
 * B pairs with C: whoever sees the head sees the record. D pairs with A: the kernel writes only what the
 * program has finished with. The geometry is the kernel's own: of the page that the program can
 * write only data_tail is read, and any value of it is safe (it can only make room appear or vanish).
 *
 * Nesting. A record can be interrupted by one of an interrupt on the same CPU. The inner one reserves
 * behind the outer one and finishes first; only the outermost publishes head, so the program never sees
 * a record that is not finished. An outermost that found no room still publishes what inner ones wrote. Writers end in the
 * opposite order of their beginnings, so one bit says whether somebody is at work: an inner writer leaves it set.
 * Several CPUs write one ring only in turns: see output.c.
 *
 * The straight way. Nearly all samples are short. One position, the limit, says how far records go without a question:
 * to the end of head's page, of the room that there was when the tail was last read, or to the next watermark, whatever
 * comes first (0: a record was lost, and the next one has to say so). Up to there a writer needs one comparison and one
 * addition to know its place, and no look at the end of the page while it writes: the page that the program writes, the
 * array of pages and the watermark are looked at once for many records. An inner writer always goes the other way.
 */
#include "core.h"

/* --- life --------------------------------------------------------------------------------------- */

static void free_pages_of(struct perf_ring *r)
{
	for (u32 i = 0; r->pages && i <= r->nr_pages; i++)
		if (r->pages[i]) {
			host_page_free(r->pages[i]);
			STAT_DEC(pages);
		}
	host_free(r->pages);
}

/* Behind the last page stands where the first one is found: a writer needs no more than its place in
 * the array to go round. */
#define WAY_BACK 1ULL

static bool get_pages(struct perf_ring *r)
{
	r->pages = host_zalloc((r->nr_pages + 2) * sizeof(void *));
	for (u32 i = 0; r->pages && i <= r->nr_pages; i++) {
		r->pages[i] = host_page_alloc();
		if (!r->pages[i])
			return false;
		STAT_INC(pages);
	}
	if (r->pages)
		r->pages[r->nr_pages + 1] = (void *)((u64)&r->pages[1] | WAY_BACK);
	return r->pages;
}

static void wake_work(struct host_irq_work *w)
{
	struct perf_ring *r = container_of(w, struct perf_ring, work);
	struct perf_event *e;

	host_spin_lock(&r->lock);
	list_for_each(e, &r->events, ring_node)
		host_waitq_wake(&e->waitq, HOST_POLLIN);
	host_spin_unlock(&r->lock);
}

struct perf_ring *ring_alloc(u32 nr_pages, bool overwrite, bool backward, u64 watermark)
{
	struct perf_ring *r = host_zalloc(sizeof(*r));

	if (!r)
		return NULL;
	r->nr_pages = nr_pages;
	r->size = (u64)nr_pages << 12;
	r->dataless = !nr_pages;
	r->overwrite = overwrite;
	r->backward = backward;
	r->watermark = min_t(u64, watermark ? watermark : r->size / 2, r->size);
	r->refs = 1;
	host_spin_init(&r->lock);
	host_spin_init(&r->turn);
	list_init(&r->events);
	host_irq_work_init(&r->work, wake_work);
	if (!get_pages(r)) {
		free_pages_of(r);
		host_free(r);
		return NULL;
	}
	r->control = r->pages[0];
	STAT_INC(rings);
	return r;
}

void ring_put(struct perf_ring *r)
{
	ASSERT_PERF(host_mutex_held(&perf_mutex) && r->refs);
	if (--r->refs)
		return;
	ASSERT_PERF(list_empty(&r->events) && !r->maps && !r->nest);
	host_irq_work_sync(&r->work);
	free_pages_of(r);
	host_free(r);
	STAT_DEC(rings);
}

/* --- writing -------------------------------------------------------------------------------------- */

struct ring_at ring_next_page(struct ring_at a)
{
	void **page = a.page + 1;

	if ((u64)*page & WAY_BACK)
		page = (void **)((u64)*page & ~WAY_BACK);
	return (struct ring_at){ *page, page };
}

/* Room for size bytes between two positions, tail behind head, while one stays free? */
static u64 room_between(const struct perf_ring *r, u64 head, u64 tail)
{
	return (tail - head - 1) & (r->size - 1);
}

static void enter(struct perf_ring *r, struct ring_write *w)
{
	w->ring = r;
	w->inner = READ_ONCE(r->nest);
	WRITE_ONCE(r->nest, true);
	barrier();	/* an interrupt from here on is an inner writer */
}

void ring_publish_head(struct perf_ring *r)
{
	do {
		WRITE_ONCE(r->nest, true);
		barrier();
	} while (!ring_leave(r, READ_ONCE(r->head)));
}

/* How far a writer has come, if that passed a watermark: for one writer only, an interrupting one may have seen
 * it first. */
static bool watermark_passed(struct perf_ring *r, u64 progress)
{
	u64 woken = READ_ONCE(r->woken);

	return unlikely(progress - woken > r->watermark) &&
	       __atomic_compare_exchange_n(&r->woken, &woken, woken + r->watermark, false,
					   __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

static struct ring_at at_position(const struct perf_ring *r, u64 pos)
{
	u64 place = pos & (r->size - 1);
	void **page = &r->pages[1 + (place >> 12)];

	return (struct ring_at){ (u64 *)((char *)*page + (place & (RING_PAGE - 1))), page };
}

/* In a backward ring everything is mirrored. */
static inline __attribute__((always_inline)) bool reserve(struct perf_ring *r, struct ring_write *w, u32 size,
							  bool overwrite, bool backward)
{
	u64 head, next, tail, room;

	enter(r, w);
	head = READ_ONCE(r->head);
	do {
		tail = READ_ONCE(r->control->data_tail);	/* A */
		room = backward ? room_between(r, tail, head) : room_between(r, head, tail);
		if (unlikely((overwrite ? r->size : room) < size)) {
			ring_publish(w);
			return false;
		}
		next = backward ? head - size : head + size;
	} while (!ring_move_head(r, &head, next));
	w->to = at_position(r, backward ? next : head);
	w->wake = watermark_passed(r, backward ? -next : next);
	return true;
}

bool ring_reserve(struct perf_ring *r, struct ring_write *w, u32 size)
{
	ASSERT_HOT(host_irqs_off() && !(size & 7) && size && !r->dataless);
	w->turn = false;
	if (likely(!READ_ONCE(r->odd)))
		return reserve(r, w, size, false, false);
	if (READ_ONCE(r->paused))
		return false;
	w->turn = READ_ONCE(r->crowded);
	if (w->turn)
		host_spin_lock(&r->turn);
	return reserve(r, w, size, r->overwrite, r->backward);
}

/* Inner writers do not come here, nor does one that goes the straight way come in between. A limit that an
 * inner writer has overtaken is behind head, and not used. */
void ring_look_ahead(struct perf_ring *r)
{
	u64 head = READ_ONCE(r->head), limit = (head | (RING_PAGE - 1)) + 1;

	if (READ_ONCE(r->unusual))
		return;
	WRITE_ONCE(r->nest, true);
	barrier();
	limit = min_t(u64, limit, head + room_between(r, head, READ_ONCE(r->control->data_tail)));	/* A */
	limit = min_t(u64, limit, READ_ONCE(r->woken) + r->watermark);
	WRITE_ONCE(r->base, (u64)at_position(r, head).at - head);
	WRITE_ONCE(r->limit, limit);
	barrier();
	if (READ_ONCE(r->lost))
		WRITE_ONCE(r->limit, 0);
	ring_publish_head(r);
}

void ring_wake(struct perf_ring *r)
{
	__atomic_store_n(&r->ready, 1, __ATOMIC_RELEASE);
	host_irq_work_queue(&r->work);
}

/* Bytes up to the end of a's page, at most n. */
static u32 in_page(struct ring_at a, u32 n)
{
	return min_t(u32, n, 4096 - ((u64)a.at & 4095));
}

/* Behind n bytes of a's page. */
static struct ring_at advance(struct ring_at a, u32 n)
{
	a.at += n / 8;
	return (u64)a.at & 4095 ? a : ring_next_page(a);
}

struct ring_at ring_words_over_pages(struct ring_at a, const u64 *from, u32 n)
{
	for (n *= 8; n;) {
		u32 chunk = in_page(a, n);

		__builtin_memcpy(a.at, from, chunk);
		a = advance(a, chunk);
		from += chunk / 8;
		n -= chunk;
	}
	return a;
}

void ring_bytes(struct ring_write *w, const void *p, u32 n)
{
	ASSERT_HOT(!(n & 7));
	if (n)
		w->to = ring_words(w->to, p, n / 8);
}

struct ring_at ring_put_user(struct ring_at a, u64 addr, u32 n, u32 *got)
{
	u32 chunk, before = 0, read = 0;

	for (; n; n -= chunk, before += chunk) {
		chunk = in_page(a, n);
		if (likely(read == before))
			read += (u32)host_copy_from_user_nofault(a.at, addr + read, chunk);
		a = advance(a, chunk);
	}
	*got = read;
	return a;
}
