/* SPDX-License-Identifier: MIT */
/* A ring by itself: several writers that interrupt each other, a reader that looks at any time, a hostile page. */
#include "tape.h"

static u64 pattern(u64 seq, u32 i) { return (seq * 0x9e3779b97f4a7c15ULL) ^ (i * 0x100000001b3ULL); }

struct ring_game {
	struct perf_ring *r;
	struct tape t;
	u64 seq, written, straight, lost, seen;
	bool hostile;
};

/* Everything up to data_head is whole records, whenever one looks. */
static void read_some(struct ring_game *g, u32 most)
{
	static struct rec r;

	while (most-- && take(&g->t, &r)) {
		CHECK(r.type < g->seq + 1);
		for (u32 i = 1; i < r.size / 8; i++)
			CHECK_EQ(r.w[i], pattern(r.type, i));
		g->seen++;
	}
}

static void write_one(struct ring_game *g, u32 depth);

/* Time passes between two words of a record. */
static void pause(struct ring_game *g, u32 depth)
{
	if (depth < 3 && !sim_rand(8))
		write_one(g, depth + 1);	/* an interrupt */
	if (!g->hostile && !sim_rand(20))
		read_some(g, sim_rand(3));
}

/* The straight way. False: this record cannot go it. */
static bool straight(struct ring_game *g, u32 depth, u64 seq, u32 size)
{
	struct ring_ahead a = ring_ahead(g->r);
	u64 next = a.head + size;

	if (a.room < (s64)size)
		return false;
	if (depth < 3 && !sim_rand(8))
		write_one(g, depth + 1);
	if (!ring_take(g->r, a.head, next)) {
		ring_publish_head(g->r);
		return false;
	}
	a.at[0] = ring_header_word((u32)seq, 0, size);
	for (u32 i = 1; i < size / 8; i++) {
		pause(g, depth);
		a.at[i] = pattern(seq, i);
	}
	if (!ring_leave(g->r, next))
		ring_publish_head(g->r);
	g->written++;
	g->straight++;
	return true;
}

static void write_one(struct ring_game *g, u32 depth)
{
	u32 size = 8 * (1 + sim_rand(sim_rand(10) ? 12 : 120));
	u64 seq = ++g->seq, room;
	struct ring_write w = { 0 };

	if (sim_rand(2)) {
		if (straight(g, depth, seq, size))
			return;
		ring_look_ahead(g->r);
	}
	room = g->r->size - 1 - (g->r->head - head_page(&g->t)->data_tail);
	if (!ring_reserve(g->r, &w, size)) {
		CHECK(g->hostile || room < size);
		g->lost++;
		return;
	}
	CHECK(g->hostile || room >= size);
	g->written++;
	ring_header(&w, (u32)seq, 0, size);
	for (u32 i = 1; i < size / 8; i++) {
		pause(g, depth);
		ring_u64(&w, pattern(seq, i));
	}
	ring_publish(&w);
}

TEST(sampling_ring_nested)	/* H 34, 36 */
{
	for (u32 pages = 1; pages <= 4; pages *= 2) {
		struct ring_game g = { 0 };
		u64 flags;

		sim_start(pages, 32);
		g.r = ring_alloc(pages, false, false, 0);
		CHECK(g.r);
		g.t = (struct tape){ .pages = g.r->pages, .size = g.r->size };
		flags = host_irq_save();
		for (int i = 0; i < 20000; i++) {
			write_one(&g, 0);
			CHECK_EQ(g.r->nest, 0);
			CHECK_EQ(head_page(&g.t)->data_head, g.r->head);
			if (!sim_rand(3))
				read_some(&g, sim_rand(40));
		}
		read_some(&g, UINT32_MAX);
		host_irq_restore(flags);
		CHECK_EQ(g.seen, g.written);
		CHECK(g.lost > 100 && g.written > 5000 && g.straight > 1000);
		CHECK_EQ(g.written + g.lost, g.seq);
		host_mutex_lock(&perf_mutex);
		ring_put(g.r);
		host_mutex_unlock(&perf_mutex);
		CHECK_EQ(perf_stats.rings, 0);
		sim_end();
	}
}

TEST(sampling_ring_hostile)	/* H 36, 37: the writable page holds anything */
{
	struct ring_game g = { .hostile = true };
	u64 flags;

	sim_start(3, 32);
	g.r = ring_alloc(2, false, false, 0);
	g.t = (struct tape){ .pages = g.r->pages, .size = g.r->size };
	flags = host_irq_save();
	for (int i = 0; i < 20000; i++) {
		u64 *page = g.r->pages[0];

		page[sim_rand(512)] = (u64)sim_rand(1u << 31) << sim_rand(34);
		head_page(&g.t)->data_tail = (u64)sim_rand(1u << 31) << sim_rand(34);
		write_one(&g, 0);
		CHECK_EQ(g.r->nest, 0);
	}
	host_irq_restore(flags);
	host_mutex_lock(&perf_mutex);
	ring_put(g.r);
	host_mutex_unlock(&perf_mutex);
	sim_end();
}

TEST(sampling_ring_backward)	/* the newest records, newest first, whole */
{
	struct perf_ring *r;
	u64 flags, seq = 0, pos, n = 0;

	sim_start(5, 32);
	r = ring_alloc(1, true, true, 0);
	flags = host_irq_save();
	for (int i = 0; i < 5000; i++) {
		u32 size = 8 * (1 + sim_rand(30));
		struct ring_write w = { 0 };

		CHECK(ring_reserve(r, &w, size));
		ring_header(&w, (u32)++seq, 0, size);
		for (u32 k = 1; k < size / 8; k++)
			ring_u64(&w, pattern(seq, k));
		ring_publish(&w);
	}
	host_irq_restore(flags);
	pos = ((struct perf_event_mmap_page *)r->pages[0])->data_head;
	for (u64 end = pos + r->size; pos < end;) {
		u64 *at = r->pages[1], h = at[pos % PAGE / 8];
		u32 size = (u32)(h >> 48);

		if (pos + size > end)
			break;	/* half overwritten */
		CHECK_EQ((u32)h, seq - n++);
		for (u32 k = 1; k < size / 8; k++)
			CHECK_EQ(at[(pos + 8 * k) % PAGE / 8], pattern((u32)h, k));
		pos += size;
	}
	CHECK(n > 15);
	host_mutex_lock(&perf_mutex);
	ring_put(r);
	host_mutex_unlock(&perf_mutex);
	sim_end();
}
