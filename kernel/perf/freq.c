/* SPDX-License-Identifier: MIT */
/*
 * Frequency mode: the period is adapted so that sample_freq samples per second come out.
 *
 * The wanted period is what was counted per second divided by sample_freq; each step goes an eighth of the way
 * (rounded away from zero), so that one odd interval does not throw it off. There are two places: at an
 * overflow, if the last one was less than two ticks ago; and at every tick, which also finds events that
 * are far too slow to overflow.
 */
#include "sample.h"

/* count events in ns at this frequency: the period, at least 1. */
static u64 wanted_period(u64 count, u64 ns, u64 freq)
{
	unsigned __int128 per_second = (unsigned __int128)count * NSEC_PER_SEC;
	unsigned __int128 divisor = (unsigned __int128)ns * freq;
	u64 p;

	if (!divisor)
		return 1;
	/* both fit into 64 bits in all real cases; shift what does not */
	while (per_second >> 63 || divisor >> 63) {
		per_second >>= 1;
		divisor >>= 1;
	}
	p = divisor ? (u64)per_second / (u64)divisor : (u64)per_second;
	return p ? p : 1;
}

/* One step towards the period at which count in ns fits. True if what is left of the running period is
 * far too long for the new one. */
static bool adjust(struct perf_event *e, u64 ns, u64 count)
{
	s64 want = (s64)wanted_period(count, ns, e->attr.sample_freq);
	s64 delta = want - (s64)e->sample_period, next;

	delta = delta >= 0 ? (delta + 7) / 8 : (delta - 7) / 8;
	next = (s64)e->sample_period + delta;
	e->sample_period = next > 0 ? (u64)next : 1;
	return e->period_left > 8 * (s64)e->sample_period;
}

/* At an overflow: last_period events have just come. */
void freq_overflow(struct perf_event *e)
{
	u64 now = host_now(), passed = now - e->freq_time;

	e->freq_time = now;
	if (passed && passed < 2 * TICK_NSEC)
		if (adjust(e, passed, e->last_period) && is_placed(e)) {
			e->period_left = 0;	/* the one that was loaded is far too long */
			count_reload(e);
		}
}

/* At the tick: e is on a counter of this CPU, PMU paused. */
void freq_tick(struct perf_event *e)
{
	u64 delta;
	bool restart = false;

	count_read(e);
	delta = e->count - e->freq_count;
	e->freq_count = e->count;
	if (delta)
		restart = adjust(e, TICK_NSEC, delta);
	if (restart) {
		e->period_left = 0;
		count_reload(e);
	}
}
