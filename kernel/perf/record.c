/* SPDX-License-Identifier: MIT */
/*
 * Records in general: a header, a body, and with sample_id_all a trailer that says who, when and
 * which event, so that a reader can sort records of several events.
 *
 * Nothing gets lost silently: a record that finds no room is counted in the ring and in its event
 * (PERF_FORMAT_LOST), and the next record that fits is preceded by a LOST record with the ring's count.
 */
#include "sample.h"

u32 trailer_size(const struct perf_event *e)
{
	if (!e->attr.sample_id_all)
		return 0;
	return 8 * (u32)__builtin_popcountll(e->attr.sample_type & SAMPLE_IDS);
}

/* In the order of the ABI, which is not the order of the bits. */
void trailer_put(struct ring_write *w, const struct perf_event *e)
{
	u64 type = e->attr.sample_id_all ? e->attr.sample_type : 0;

	if (type & PERF_SAMPLE_TID)
		ring_u32s(w, host_task_tgid(record_subject()), host_task_tid(record_subject()));
	if (type & PERF_SAMPLE_TIME)
		ring_u64(w, record_time(e));
	if (type & PERF_SAMPLE_ID)
		ring_u64(w, e->root->id);
	if (type & PERF_SAMPLE_STREAM_ID)
		ring_u64(w, e->id);
	if (type & PERF_SAMPLE_CPU)
		ring_u32s(w, host_cpu(), 0);
	if (type & PERF_SAMPLE_IDENTIFIER)
		ring_u64(w, e->root->id);
}

static void put_lost(struct ring_write *w, const struct perf_event *e, u64 lost, u32 size)
{
	ring_header(w, PERF_RECORD_LOST, 0, size);
	ring_u64(w, e->root->id);
	ring_u64(w, lost);
	trailer_put(w, e);
}

/* unsaid: taken from r->lost for a record that was not written. The next one has to ask: see ring.c. */
static void lose(struct perf_event *e, struct perf_ring *r, u64 unsaid)
{
	__atomic_fetch_add(&r->lost, unsaid + 1, __ATOMIC_RELAXED);
	__atomic_fetch_add(&e->root->lost, 1, __ATOMIC_RELAXED);
	WRITE_ONCE(r->limit, 0);
	STAT_INC(lost);
}

bool record_begin(struct perf_event *e, struct ring_write *w, u32 size)
{
	struct perf_ring *r = __atomic_load_n(&e->root->ring, __ATOMIC_ACQUIRE);
	u32 lost_size;
	u64 lost;

	if (!r || r->dataless)
		return false;
	/* Taken before the reservation: an interrupting writer cannot report the same losses. */
	lost = unlikely(READ_ONCE(r->lost)) ? __atomic_exchange_n(&r->lost, 0, __ATOMIC_RELAXED) : 0;
	lost_size = unlikely(lost) ? 24 + trailer_size(e) : 0;
	w->root = e->root;
	if (unlikely(!ring_reserve(r, w, lost_size + size))) {
		lose(e, r, lost);
		return false;
	}
	if (unlikely(lost))
		put_lost(w, e, lost, lost_size);
	HOST_PAUSE("output");
	return true;
}

void record_end(const struct ring_write *w)
{
	ring_publish(w);
	if (unlikely(w->wake))
		record_wake(w->ring, w->root);
}

void record_wake(struct perf_ring *r, struct perf_event *root)
{
	if (unlikely(host_file_async(root->file)))
		overflow_signal(root);
	ring_wake(r);
}

void record_output(struct perf_event *e, u32 type, u16 misc, const void *body, u32 n)
{
	u32 size = 8 + n + trailer_size(e);
	struct ring_write w;

	if (!record_begin(e, &w, size))
		return;
	ring_header(&w, type, misc, size);
	ring_bytes(&w, body, n);
	trailer_put(&w, e);
	record_end(&w);
}
