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

/* Without an interrupt, somebody has to look in time; a frequency has to be adapted. */
static bool wants_tick(const struct perf_cpu_pmu *pp, const struct perf_event *e)
{
	return pp->pmu->caps & PMU_NO_INTERRUPT || (is_sampling(e) && e->attr.freq);
}

static void need_tick(struct perf_cpu *pc, struct perf_event *e, int n)
{
	e->ticks = n > 0;
	e->freq_count = e->count;
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

	ASSERT_HOT(hw->counter >= 0 && !pp->seats->slot[hw->counter] && !(pp->seats->used & hw->taken));
	if (unlikely(hw->width_on != hw->counter)) {
		hw->width_on = (s8)hw->counter;
		hw->width = pp->pmu->ops->width(pp->pmu, hw, hw->counter);
	}
	hw->prev = start_value(e);
	pp->seats->used |= hw->taken;
	pp->seats->slot[hw->counter] = e;
	pp->run.counters |= hw->taken;
	pp->run.interrupts |= 1ULL << hw->counter;
	pp->run.forget |= hw->taken;
	pp->pmu->ops->program(pp->pmu, hw, hw->prev);
	if (unlikely(wants_tick(pp, e)))
		need_tick(pp->cpu, e, 1);
}

/* Take e off its counter, with everything it counted. o. */
void count_stop(struct perf_cpu_pmu *pp, struct perf_event *e)
{
	struct perf_hw *hw = &e->hw;

	ASSERT_HOT(pp->seats->slot[hw->counter] == e);
	count_fold(e, pp->pmu->ops->stop(pp->pmu, hw));
	pp->seats->slot[hw->counter] = NULL;
	pp->seats->used &= ~hw->taken;
	pp->seats->pinned &= ~hw->taken;
	pp->run.counters &= ~hw->taken;
	pp->run.interrupts &= ~hw->taken;
	pp->run.forget |= hw->taken;
	hw->counter = -1;
	hw->taken = 0;
	if (unlikely(e->ticks))
		need_tick(pp->cpu, e, -1);
	if (unlikely(e->throttled))
		overflow_unthrottle(e);	/* it starts afresh the next time */
}

/* The rest of the period has changed: load it. o, PMU paused. */
void count_reload(struct perf_event *e)
{
	ASSERT_HOT(this_perf_cpu()->pmu[e->pmu->index].paused);
	e->hw.prev = start_value(e);
	e->pmu->ops->write(e->pmu, &e->hw, e->hw.prev);
}

/* It stays programmed but does not run. PMU paused. */
void count_pause(struct perf_event *e)
{
	struct perf_cpu_pmu *pp = &this_perf_cpu()->pmu[e->pmu->index];

	ASSERT_HOT(pp->paused);
	count_read(e);
	pp->run.counters &= ~e->hw.taken;
	pp->run.interrupts &= ~e->hw.taken;
	pp->run.forget |= e->hw.taken;
}

void count_resume(struct perf_event *e)
{
	struct perf_cpu_pmu *pp = &this_perf_cpu()->pmu[e->pmu->index];

	count_reload(e);
	pp->run.counters |= e->hw.taken;
	pp->run.interrupts |= 1ULL << e->hw.counter;
	pp->run.forget |= e->hw.taken;
}

/* The end of a period, or of half the range of its counter, on the lowest of these counters. o, PMU paused. */
static inline __attribute__((always_inline)) void overflowed(struct perf_cpu_pmu *pp, u64 counters,
							      const struct pt_regs *regs, u64 now)
{
	struct perf_event *e = pp->seats->slot[__builtin_ctzll(counters)];
	const struct pmu_ops *ops = pp->pmu->ops;
	u64 period;
	bool due;

	if (unlikely(!e)) {	/* spurious, or the counter was freed before its interrupt */
		STAT_INC(spurious);
		return;
	}
	period = e->last_period;
	WRITE_ONCE(pp->overflows, pp->overflows + 1);
	count_fold(e, ops->read_paused(pp->pmu, &e->hw));
	due = is_sampling(e) && e->period_left <= 0;
	e->hw.prev = start_value(e);
	ops->write(pp->pmu, &e->hw, e->hw.prev);
	if (due)
		event_overflow(e, regs, host_current(), 0, period, true, now);
	/* A program that reads the counter itself has to add it to something else now. */
	if (unlikely(e->hw.flags & PERF_HW_USER_READ && !list_empty(&e->map_node))) {
		ctx_clock(e->ctx);
		userpage_update(e);
	}
}

static noinline void others_overflowed(struct perf_cpu_pmu *pp, u64 counters, const struct pt_regs *regs)
{
	for (; counters; counters &= counters - 1)
		overflowed(pp, counters, regs, host_now());
}

/* Something has been stopped or started: the long end of an operation. */
static noinline bool commit_overflow(struct perf_cpu_pmu *pp)
{
	pp->cpu->touched |= 1u << pp->pmu->index;
	cpu_commit(pp->cpu);
	return false;
}

bool perf_pmu_overflow(struct perf_cpu_pmu *pp, u64 counters, const struct pt_regs *regs)
{
	u64 now = host_now();

	ASSERT_HOT(host_irqs_off() && counters);
	pp->paused = true;
	overflowed(pp, counters, regs, now);
	counters &= counters - 1;
	if (unlikely(counters))
		others_overflowed(pp, counters, regs);
	if (READ_ONCE(cputime_allowed))
		cputime_took(now);
	if (unlikely(pp->run.forget || !pp->run.counters))
		return commit_overflow(pp);
	pp->paused = false;
	return true;
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

		if (!pp->seats->used)
			continue;
		count_touch(pp);
		for (u64 used = pp->seats->used; used; used &= used - 1) {
			u32 c = (u32)__builtin_ctzll(used);

			if (pp->seats->slot[c])	/* not the other half of a pair */
				tick_event(pp, pp->seats->slot[c]);
		}
	}
	overflow_unthrottle_soft(pc, &pc->ctx);
	if (pc->task_ctx)
		overflow_unthrottle_soft(pc, pc->task_ctx);
	cpu_commit(pc);
}
