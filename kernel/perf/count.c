/* SPDX-License-Identifier: MIT */
/*
 * Counting: 64-bit counts over counters of any width.
 *
 * hw.prev is the raw value at the last look; every look adds (raw - prev) modulo the width. That is
 * right as long as the counter advances by less than its range between two looks, so a counter is
 * loaded such that it overflows after at most half of it, and the interrupt looks (wraps are folded
 * exactly once: a pending overflow bit carries no information of its own and is just forgotten). The
 * other half is the slack for the interrupt's latency.
 *
 * Sampling uses the same: period_left says how far it is to the next sample. It is an ordinary
 * signed number that stays with the event over slices, eviction and migration: <= 0 means due.
 * A period longer than half the range is walked in chunks; only the last one is an overflow of the
 * event.
 */
#include "core.h"

static u64 width_mask(const struct perf_event *e)
{
	return e->hw.width >= 64 ? UINT64_MAX : (1ULL << e->hw.width) - 1;
}

/* The value to load so that the counter overflows when it should. */
static u64 start_value(struct perf_event *e)
{
	u64 mask = width_mask(e), half = mask >> 1;
	s64 period = (s64)e->sample_period;

	if (!is_sampling(e))
		return e->hw.width >= 64 ? 0 : -half & mask;
	if (e->period_left <= -period)		/* more than a period late: start afresh */
		e->period_left = period;
	else if (e->period_left <= 0)		/* the overshoot counts for the next one */
		e->period_left += period;
	e->last_period = e->sample_period;
	return -min_t(u64, (u64)e->period_left, half) & mask;
}

/* Pause the PMU for the rest of this operation (cpu_commit ends it): members of a group start and
 * stop together. */
void count_touch(struct perf_cpu_pmu *pp)
{
	pp->cpu->touched |= 1u << pp->pmu->index;
	if (pp->paused)
		return;
	pp->pmu->ops->pause(pp->pmu);
	pp->paused = true;
}

static void fold(struct perf_event *e, u64 raw)
{
	u64 delta = (raw - e->hw.prev) & width_mask(e);

	e->hw.prev = raw & width_mask(e);
	e->count += delta;
	if (is_sampling(e))
		e->period_left -= (s64)delta;
}

/* Without an interrupt, somebody has to look in time; a frequency has to be adapted. */
static bool wants_tick(const struct perf_cpu_pmu *pp, const struct perf_event *e)
{
	return pp->pmu->caps & PMU_NO_INTERRUPT || (is_sampling(e) && e->attr.freq);
}

static void need_tick(struct perf_cpu *pc, int n)
{
	pc->tick_events += (u32)n;
	perf_tick_users[pc->id] += (u32)n;
	if (n > 0)
		host_tick_hold();
	else
		host_tick_release();
}

/* e has a counter (hw.counter, hw.taken): load and start it. o. */
void count_start(struct perf_cpu_pmu *pp, struct perf_event *e)
{
	struct perf_hw *hw = &e->hw;

	ASSERT_PERF(hw->counter >= 0 && !pp->slot[hw->counter] && !(pp->used & hw->taken));
	hw->width = pp->pmu->ops->width(pp->pmu, hw, hw->counter);
	hw->prev = start_value(e);
	pp->used |= hw->taken;
	pp->slot[hw->counter] = e;
	pp->pmu->ops->program(pp->pmu, hw, hw->prev);
	e->freq_count = e->count;
	if (wants_tick(pp, e))
		need_tick(pp->cpu, 1);
}

/* Take e off its counter, with everything it counted. o. */
void count_stop(struct perf_cpu_pmu *pp, struct perf_event *e)
{
	struct perf_hw *hw = &e->hw;

	ASSERT_PERF(pp->slot[hw->counter] == e);
	fold(e, pp->pmu->ops->stop(pp->pmu, hw));
	pp->slot[hw->counter] = NULL;
	pp->used &= ~hw->taken;
	pp->pinned &= ~hw->taken;
	hw->counter = -1;
	hw->taken = 0;
	if (wants_tick(pp, e))
		need_tick(pp->cpu, -1);
	overflow_unthrottle(e);	/* it starts afresh the next time */
}

/* Add what a running counter has counted so far. o, on its CPU. */
void count_read(struct perf_event *e)
{
	ASSERT_PERF(this_perf_cpu()->pmu[e->pmu->index].slot[e->hw.counter] == e);
	fold(e, e->pmu->ops->read(e->pmu, &e->hw));
}

/* The rest of the period has changed: load it. o, PMU paused. */
void count_reload(struct perf_event *e)
{
	e->hw.prev = start_value(e);
	e->pmu->ops->write(e->pmu, &e->hw, e->hw.prev);
}

/* A second stop of a counter, when it is taken off, reads the same value: nothing is counted twice. */
void count_pause(struct perf_event *e)
{
	fold(e, e->pmu->ops->stop(e->pmu, &e->hw));
}

void count_resume(struct perf_event *e)
{
	e->hw.prev = start_value(e);
	e->pmu->ops->program(e->pmu, &e->hw, e->hw.prev);
}

static void overflowed(struct perf_cpu_pmu *pp, u32 counter, const struct pt_regs *regs)
{
	struct perf_event *e = pp->slot[counter];
	u64 period;
	bool due;

	if (!e) {	/* it was taken off between the overflow and its interrupt */
		STAT_INC(spurious);
		return;
	}
	STAT_INC(overflows);
	count_read(e);
	due = is_sampling(e) && e->period_left <= 0;
	period = e->last_period;
	count_reload(e);
	if (due)
		event_overflow(e, regs, 0, period, true);
	if (!list_empty(&e->map_node)) {
		ctx_clock(e->ctx);
		event_settle(e);
		userpage_update(e);
	}
}

void perf_pmu_overflow(struct pmu *pmu, u64 counters, struct pt_regs *regs)
{
	struct perf_cpu_pmu *pp = &this_perf_cpu()->pmu[pmu->index];

	ASSERT_PERF(host_irqs_off());
	for (; counters; counters &= counters - 1)
		overflowed(pp, (u32)__builtin_ctzll(counters), regs);
}

static void tick_event(struct perf_cpu_pmu *pp, struct perf_event *e)
{
	if (e->throttled)
		overflow_unthrottle(e);
	else if (e->attr.freq && is_sampling(e))
		freq_tick(e);
	else if (pp->pmu->caps & PMU_NO_INTERRUPT)
		count_read(e);
}

/* Every tick of a CPU that has events which need it. o. */
void perf_tick_slow(void)
{
	struct perf_cpu *pc = this_perf_cpu();

	for (u32 i = 0; i < perf_nr_pmus; i++) {
		struct perf_cpu_pmu *pp = &pc->pmu[i];

		if (!pp->used)
			continue;
		count_touch(pp);
		for (u32 c = 0; c < ARRAY_SIZE(pp->slot); c++)
			if (pp->slot[c])
				tick_event(pp, pp->slot[c]);
	}
	overflow_unthrottle_soft(pc, &pc->ctx);
	if (pc->task_ctx)
		overflow_unthrottle_soft(pc, pc->task_ctx);
	cpu_commit(pc);
}
