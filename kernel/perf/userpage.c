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
 * and offset is the count. Else the count is offset + the counter, sign-extended from pmc_width bits: the
 * kernel's look at a counter moves count and hw.prev by the same amount, so offset does not depend on it.
 *
 * User access (rdpmc). The counters are open to a task while it runs, has mapped an event that asks for it
 * (config1), perf_user_access is 1, and no counter of this CPU belongs to anybody but the task. The last is
 * Perch's own: on Linux they stay open for whoever runs next, with whatever they count then. All other
 * counters read as 0. userpage_access, at the end of every operation on a CPU, decides. A program that has
 * read an index just before the counters were closed traps; the kernel reads 0 for it (perf_user_read_trap),
 * and the sequence lock tells it to look again.
 *
 * Times are those of ctx->time, that is of the moment ctx->stamp; user space adds what has passed since.
 */
#include "core.h"

#define PAGE_4K 4096u

static bool asks_user_read(const struct perf_event *e)
{
	return e->hw.flags & PERF_HW_USER_READ;
}

/* The counter as user space gets it from its low width bits. */
static s64 sign_extend(u64 raw, u32 width)
{
	return (s64)(raw << (64 - width)) >> (64 - width);
}

/* What the user has to read, and what to add to it. */
static void fill_count(struct perf_event *e, struct perf_event_mmap_page *p)
{
	u32 width, index = 0;
	s64 part = 0;

	if (unlikely(asks_user_read(e))) {
		width = e->pmu->ops->user_width(e->pmu, &e->hw);
		p->cap_user_rdpmc = 1;
		p->pmc_width = (u16)width;
		if (is_placed(e) && this_perf_cpu()->pmu[e->pmu->index].user == e->ctx) {
			index = e->pmu->ops->user_index(e->pmu, &e->hw);
			part = sign_extend(e->hw.prev, width);
		} else if (is_placed(e)) {
			count_read(e);	/* the user cannot: let it have what there is */
		}
	}
	p->index = index;
	p->offset = (s64)(e->count + READ_ONCE(e->child_count)) - part;
}

static void fill_times(struct perf_event *e, struct perf_event_mmap_page *p)
{
	const struct perf_ctx *ctx = e->ctx;
	u64 enabled, running;

	event_times_now(e, &enabled, &running);
	p->time_enabled = enabled + READ_ONCE(e->child_enabled);
	p->time_running = running + READ_ONCE(e->child_running);
	p->time_offset = -(ctx && ctx->oncpu >= 0 ? ctx->stamp : host_now());
}

/* Rewrite the page, if there is one, from the event; its context's clock says what time it is. c, or m
 * without a context. */
void userpage_update(struct perf_event *e)
{
	struct perf_event_mmap_page *p = e->page;
	u32 seq;

	if (likely(!p))
		return;
	seq = READ_ONCE(p->lock) | 1;	/* the user may have written anything there */
	WRITE_ONCE(p->lock, seq);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	fill_count(e, p);
	fill_times(e, p);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	WRITE_ONCE(p->lock, seq + 1);
}

static void update_all(struct perf_ctx *ctx)
{
	struct perf_event *e;

	list_for_each(e, &ctx->mapped, map_node)
		userpage_update(e);
}

/* Open or close the counters of one PMU for ctx (NULL: for nobody). */
static void set_access(struct perf_cpu_pmu *pp, struct perf_ctx *ctx)
{
	if (!pp->online || !pp->pmu->ops->user_access)
		return;
	if (pp->seats->foreign)
		ctx = NULL;
	if (pp->user != ctx) {
		pp->pmu->ops->user_access(pp->pmu, ctx, pp->seats->used);
		pp->user = ctx;
		pp->cpu->stale |= STALE_TASK;
	}
	pp->cpu->user |= ctx != NULL;
}

/* The end of an operation on this CPU: who may read the counters. o. */
void userpage_access(struct perf_cpu *pc)
{
	struct perf_ctx *task = pc->task_ctx;

	pc->user = false;
	for (u32 i = 0; i < perf_nr_pmus; i++)
		set_access(&pc->pmu[i], task && task->nr_user && sysctl_user_access() ? task : NULL);
}

/* Then: what the pages say. o. */
void userpage_commit(struct perf_cpu *pc)
{
	const u32 stale = pc->stale;
	struct perf_ctx *task = pc->task_ctx;

	pc->stale = 0;
	if (stale & STALE_TASK && task)
		update_all(task);
	if (stale & STALE_CPU)
		update_all(&pc->ctx);
}

static void look_again(void *unused)
{
	struct perf_cpu *pc = this_perf_cpu();

	(void)unused;
	if (pc->online)
		cpu_commit(pc);
}

/* perf_user_access has been written: what is open and should not be is closed on return. P. */
void userpage_access_changed(void)
{
	for (u32 c = 0; c < host_nr_cpus(); c++)
		if (host_cpu_online(c))
			(void)host_call_on_cpu(c, look_again, NULL);
}

bool perf_user_read_trap(void)
{
	u64 flags = host_irq_save();
	const struct perf_ctx *ctx = this_perf_cpu()->task_ctx;
	bool ours = ctx && ctx->nr_user && sysctl_user_access();

	host_irq_restore(flags);
	return ours;
}

/*
 * How user space computes the present: time_zero + (counter * mult >> shift), which is host_now() with a
 * zero of 0 (host_user_clock); time_offset takes it back to what has passed since the moment of the times.
 */
static void fill_clock(struct perf_event_mmap_page *p)
{
	u64 counter;
	u32 mult, shift;

	if (!host_user_clock(&mult, &shift, &counter))
		return;
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

/* What never changes in the page of a new ring. */
void userpage_init(struct perf_ring *r)
{
	struct perf_event_mmap_page *p = r->pages[0];

	fill_clock(p);
	p->cap_bit0_is_deprecated = 1;
	p->size = offsetof(struct perf_event_mmap_page, __reserved);
	p->data_offset = PAGE_4K;
	p->data_size = r->size;
}

static void show_in_ctx(struct perf_ctx *ctx, void *arg)
{
	struct perf_event *e = arg;

	e->page = e->ring->pages[0];
	if (!ctx) {
		userpage_update(e);
		return;
	}
	ctx_clock(ctx);
	if (is_placed(e))
		count_read(e);
	list_add_tail(&e->map_node, &ctx->mapped);
	ctx->nr_user += asks_user_read(e);
	if (ctx->oncpu >= 0)
		cpu_commit(this_perf_cpu());	/* index is there when mmap returns */
	userpage_update(e);
}

/* e's page is no longer its context's business. c. */
void userpage_forget(struct perf_event *e)
{
	if (list_empty(&e->map_node))
		return;
	list_del(&e->map_node);
	e->ctx->nr_user -= asks_user_read(e);
}

static void hide_in_ctx(struct perf_ctx *ctx, void *arg)
{
	struct perf_event *e = arg;

	e->page = NULL;
	if (!ctx)
		return;
	userpage_forget(e);
	if (ctx->oncpu >= 0)
		cpu_commit(this_perf_cpu());
}

/* The first page of its ring is e's from now on. P, m. */
void userpage_show(struct perf_event *e)
{
	event_do(e, show_in_ctx, e);
}

void userpage_hide(struct perf_event *e)
{
	event_do(e, hide_in_ctx, e);
}
