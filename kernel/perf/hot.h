/* SPDX-License-Identifier: MIT */
/*
 * What a read, an operation of a program on its own events, a switch and an overflow are made of, inline: each is a few
 * instructions, and a call would be as many again. Part of core.h. The theory is where it was: clocks in
 * context.c, times in event.c, counts in count.c.
 */
#ifndef PERF_HOT_H
#define PERF_HOT_H

/* Bring the clock up to now, not before the last time it was. c, in. */
static inline void ctx_clock_at(struct perf_ctx *ctx, u64 now)
{
	u64 passed = now - ctx->stamp;

	ctx->time += passed;
	ctx->any.time = ctx->time;
	if (ctx->here)
		ctx->here->time += passed;
	ctx->stamp = now;
}

/* Bring the clock up to the present. c. */
static inline void ctx_clock(struct perf_ctx *ctx)
{
	ASSERT_HOT(ctx_owned(ctx));
	if (ctx->oncpu >= 0)
		ctx_clock_at(ctx, host_now());
}

/*
 * Run fn(ctx, arg) as the owner of ctx: IRQs off, on the CPU it is in on, or with it kept out. The
 * caller's mutex keeps ctx alive. P, m.
 */
static inline void ctx_call(struct perf_ctx *ctx, void (*fn)(struct perf_ctx *, void *), void *arg)
{
	u64 flags = host_irq_save();
	bool here = READ_ONCE(ctx->oncpu) == (int)host_cpu();

	ASSERT_HOT(host_mutex_held(&perf_mutex));
	if (likely(here))
		fn(ctx, arg);
	host_irq_restore(flags);
	if (unlikely(!here))
		ctx_call_elsewhere(ctx, fn, arg);
}

/* The bucket for events with this filter, made if need be; a CPU's context has nothing to filter. NULL: no memory. P, m. */
static inline struct perf_bucket *ctx_bucket(struct perf_ctx *ctx, int cpu)
{
	return cpu < 0 || !is_tasks(ctx) ? &ctx->any : ctx_bucket_of(ctx, (u32)cpu);
}

/* The clock that says how long e could have run. */
static inline u64 event_run_clock(const struct perf_event *e)
{
	return e->leader->group.pmu ? e->ctx->time : e->bucket->time;
}

/* Forget the time since the stamps (when it has been settled, or the clock changes). */
static inline void event_restamp(struct perf_event *e)
{
	e->estamp = e->ctx->time;
	e->rstamp = event_run_clock(e);
}

/* Bring the totals up to the context's clock. c, after ctx_clock. */
static inline void event_settle(struct perf_event *e)
{
	u64 now = e->ctx->time, run = event_run_clock(e);

	ASSERT_HOT(ctx_owned(e->ctx));
	if (is_enabled(e))
		e->enabled += now - e->estamp;
	if (is_running(e)) {
		e->running += run - e->rstamp;
		if (e->kind == PERF_KIND_CLOCK)
			e->count += run - e->rstamp;
	}
	ASSERT_HOT(e->running <= e->enabled);
	e->estamp = now;
	e->rstamp = run;
}

/* From the last look to raw, of which the bits above the width mean nothing. */
static inline u64 count_since(const struct perf_event *e, u64 raw)
{
	u32 above = -(u32)e->hw.width & 63;

	return (raw - e->hw.prev) << above >> above;
}

/* Add what came since the last look. */
static inline void count_fold(struct perf_event *e, u64 raw)
{
	u64 delta = count_since(e, raw);

	e->hw.prev = raw;
	e->count += delta;
	if (is_sampling(e))
		e->period_left -= (s64)delta;
}

/* Half the range of its counter. */
static inline u64 half_range(const struct perf_event *e)
{
	return 1ULL << (e->hw.width - 1);
}

/* The value to load so that the counter of a sampling event overflows when it should. */
static inline u64 sampling_start(struct perf_event *e)
{
	s64 period = (s64)e->sample_period;

	if (e->period_left <= -period)		/* more than a period late: start afresh */
		e->period_left = period;
	else if (e->period_left <= 0)		/* the overshoot counts for the next one */
		e->period_left += period;
	e->last_period = e->sample_period;
	return -min_t(u64, (u64)e->period_left, half_range(e));
}

/* The same for any event: minus what is left (pmu.h). 64 bits never overflow; from 0, because a program that reads
 * the counter itself adds an offset to it, which may not overflow either. */
static inline u64 start_value(struct perf_event *e)
{
	if (unlikely(is_sampling(e)))
		return sampling_start(e);
	return e->hw.width >= 64 ? 0 : -half_range(e);
}

/* Add what a running counter has counted so far. o, on its CPU. */
static inline void count_read(struct perf_event *e)
{
	ASSERT_HOT(this_perf_cpu()->pmu[e->pmu->index].seats->slot[e->hw.counter] == e);
	count_fold(e, e->pmu->ops->read(e->pmu, &e->hw));
}

/* Add what the events on s have counted, which all leave their counters. o, PMU paused. */
static inline void count_unload(struct perf_cpu_pmu *pp, struct perf_seats *s)
{
	u64 (*stop)(struct pmu *, struct perf_hw *) = pp->pmu->ops->stop;

	for (u64 c = pp->run.interrupts; c; c &= c - 1) {
		struct perf_event *e = s->slot[__builtin_ctzll(c)];

		count_fold(e, stop(pp->pmu, &e->hw));
	}
}

/* They come back to the counters that they had. o, PMU paused. */
static inline void count_load(struct perf_cpu_pmu *pp, struct perf_seats *s)
{
	void (*program)(struct pmu *, struct perf_hw *, u64) = pp->pmu->ops->program;

	for (u64 c = s->interrupts; c; c &= c - 1) {
		struct perf_event *e = s->slot[__builtin_ctzll(c)];
		u64 start = start_value(e);

		e->hw.prev = start;
		program(pp->pmu, &e->hw, start);
	}
}

/* Times and count up to the present. c, after ctx_clock. */
static inline void event_update(struct perf_event *e)
{
	event_settle(e);
	if (is_placed(e))
		count_read(e);
}

/*
 * What e has by now, as a reader sees it: nothing is changed. What is on a counter is enabled and runs by the
 * context's clock. c, after ctx_clock; m, without a context.
 */
static inline void event_times_now(const struct perf_event *e, u64 *enabled, u64 *running)
{
	*enabled = e->enabled;
	*running = e->running;
	if (likely(is_placed(e))) {
		ASSERT_HOT(is_running(e) && event_run_clock(e) == e->ctx->time);
		*enabled += e->ctx->time - e->estamp;
		*running += e->ctx->time - e->rstamp;
	} else if (is_enabled(e)) {
		*enabled += e->ctx->time - e->estamp;
		*running += is_running(e) ? event_run_clock(e) - e->rstamp : 0;
	}
}

static inline u64 event_count_now(struct perf_event *e)
{
	if (likely(is_placed(e)))
		return e->count + count_since(e, e->pmu->ops->read(e->pmu, &e->hw));
	if (e->kind == PERF_KIND_CLOCK && is_running(e))
		return e->count + event_run_clock(e) - e->rstamp;
	return e->count;
}

/* Whoever wants to change the context, to move e or to free either has to come to this CPU first, by an
 * interrupt. Copies are another matter: they are in the contexts of other tasks. */
static inline bool event_try_here(struct perf_event *e, event_fn *fn, void *arg)
{
	u64 flags = host_irq_save();
	struct perf_ctx *ctx = READ_ONCE(e->ctx);
	bool here = !e->attr.inherit && ctx_is_here(this_perf_cpu(), ctx);

	if (likely(here))
		fn(ctx, arg);
	host_irq_restore(flags);
	return here;
}

#endif
