/* SPDX-License-Identifier: MIT */
/*
 * Sampling by cpu-clock and task-clock: a timer per event that runs while the event does.
 *
 * The events are on the "clocks" list of their bucket; the timers of a task's start and stop with its
 * context. What is left of a period when it stops is kept in period_left and waited for next time.
 */
#include "sample.h"

#define SHORTEST 10000	/* ns; shorter periods would only measure the timer */

static u64 period_of(const struct perf_event *e)
{
	return max_t(u64, e->sample_period, SHORTEST);
}

static void on_timer(struct host_timer *t)
{
	struct perf_event *e = container_of(t, struct perf_event, timer);
	const struct pt_regs *regs = host_timer_regs();
	u64 period = period_of(e);

	e->period_end += period;
	if (e->period_end <= host_now())	/* late by more than a period: skip what was missed */
		e->period_end = host_now() + period;
	host_timer_start(t, e->period_end);
	if (e->attr.exclude_idle && host_task_tid(host_current()) == 0)
		return;
	if (host_regs_user(regs) ? e->attr.exclude_user : e->attr.exclude_kernel)
		return;
	event_overflow(e, regs, host_current(), 0, period, true, host_now());
}

void clock_init(struct perf_event *e)
{
	host_timer_init(&e->timer, on_timer);
}

static bool should_run(const struct perf_event *e)
{
	return is_running(e) && !e->throttled && !e->disarmed;
}

/* o: its bucket is in here. */
static void clock_start(struct perf_event *e)
{
	if (!should_run(e) || host_timer_armed(&e->timer))
		return;
	if (e->period_left <= 0 || e->period_left > (s64)period_of(e))
		e->period_left = (s64)period_of(e);
	e->period_end = host_now() + (u64)e->period_left;
	host_timer_start(&e->timer, e->period_end);
}

/* o: on the CPU where it was started. */
static void clock_stop(struct perf_event *e)
{
	u64 now = host_now();

	if (!host_timer_armed(&e->timer))
		return;
	host_timer_cancel(&e->timer);
	e->period_left = e->period_end > now ? (s64)(e->period_end - now) : (s64)period_of(e);
}

/* e started or stopped to run, or was (un)throttled. c; on the CPU where its context is in, if it is. */
void clock_update(struct perf_event *e)
{
	struct perf_ctx *ctx = e->ctx;

	if (e->kind != PERF_KIND_CLOCK || !is_sampling(e))
		return;
	if (ctx && ctx->oncpu >= 0 && (e->bucket == &ctx->any || e->bucket == ctx->here) && should_run(e))
		clock_start(e);
	else
		clock_stop(e);
}

void clock_restart(struct perf_event *e)
{
	if (e->kind != PERF_KIND_CLOCK)
		return;
	clock_stop(e);
	e->period_left = 0;
	clock_update(e);
}

static void for_bucket(struct perf_bucket *b, void (*fn)(struct perf_event *))
{
	struct perf_event *e;

	list_for_each(e, &b->clocks, clock_node)
		fn(e);
}

void clocks_in(struct perf_ctx *ctx)
{
	for_bucket(&ctx->any, clock_start);
	if (ctx->here)
		for_bucket(ctx->here, clock_start);
}

void clocks_out(struct perf_ctx *ctx)
{
	for_bucket(&ctx->any, clock_stop);
	if (ctx->here)
		for_bucket(ctx->here, clock_stop);
}
