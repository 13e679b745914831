/* SPDX-License-Identifier: MIT */
/*
 * The control page (struct perf_event_mmap_page): the first page of every mapping of an event.
 *
 * A program may read times and count from it without a system call. The
 * kernel rewrites it under a sequence lock whenever the event is placed, evicted or changed, and when
 * its task is switched in or out. Only the kernel's copy of anything is believed; the user can
 * scribble on the page as it likes.
 *
 * index and offset: while the event is not on a counter that user code may read, index is 0
 * and offset is the count.
 */
#include "core.h"

#define PAGE_4K 4096u

static u64 user_mult_ns(u64 cycles, u32 mult, u32 shift)
{
	return (u64)(((unsigned __int128)cycles * mult) >> shift);
}

/* How user space computes the present: time_zero + (counter * mult >> shift) is host_now(). */
static void fill_clock(struct perf_event_mmap_page *p, u64 now)
{
	u64 counter;
	u32 mult, shift;

	if (!host_user_clock(&mult, &shift, &counter))
		return;
	p->time_zero = now - user_mult_ns(counter, mult, shift);
	p->time_offset = p->time_zero - now;
	if (shift == 32) {
		shift = 31;
		mult >>= 1;
	}
	p->time_mult = mult;
	p->time_shift = (u16)shift;
	p->time_cycles = counter;
	p->time_mask = UINT64_MAX;
	p->cap_user_time = 1;
	p->cap_user_time_zero = 1;
	p->cap_user_time_short = 1;
}

/* Rewrite the page, if there is one, from the settled event. c, or m without a context. */
void userpage_update(struct perf_event *e)
{
	struct perf_event_mmap_page *p = e->page;

	if (likely(!p))
		return;
	p->lock++;
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	p->index = 0;
	p->offset = (s64)(e->count + e->child_count);
	p->time_enabled = e->enabled + e->child_enabled;
	p->time_running = e->running + e->child_running;
	fill_clock(p, host_now());
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	p->lock++;
}

/* What never changes in the page of a new ring. */
void userpage_init(struct perf_ring *r)
{
	struct perf_event_mmap_page *p = r->pages[0];

	p->cap_bit0_is_deprecated = 1;
	p->size = offsetof(struct perf_event_mmap_page, __reserved);
	p->data_offset = PAGE_4K;
	p->data_size = r->size;
}

static void show_in_ctx(struct perf_ctx *ctx, void *arg)
{
	struct perf_event *e = arg;

	if (ctx) {
		ctx_clock(ctx);
		event_settle(e);
		if (is_placed(e))
			count_read(e);
		list_add_tail(&e->map_node, &ctx->mapped);
	}
	userpage_update(e);
}

static void hide_in_ctx(struct perf_ctx *ctx, void *arg)
{
	struct perf_event *e = arg;

	(void)ctx;
	list_del(&e->map_node);
	e->page = NULL;
}

static void in_ctx(struct perf_event *e, void (*fn)(struct perf_ctx *, void *))
{
	if (e->ctx)
		ctx_call(e->ctx, fn, e);
	else
		fn(NULL, e);
}

/* page is e's from now on. P, m. */
void userpage_show(struct perf_event *e, void *page)
{
	e->page = page;
	in_ctx(e, show_in_ctx);
}

void userpage_hide(struct perf_event *e)
{
	in_ctx(e, hide_in_ctx);
}
