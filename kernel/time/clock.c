/* SPDX-License-Identifier: MIT */
/*
 * Clocks. The generic timer's counter runs at a fixed rate on all CPUs and starts near 0 at power
 * on, so monotonic time is one multiplication: ns = (counter * mult) >> shift, with 128 bits in
 * between. User space (vDSO, perf's pages) computes the same from the same numbers.
 */
#include <perch/atomic.h>
#include <perch/boot.h>
#include <perch/clock.h>
#include <perch/printk.h>
#include <perch/time.h>

#include "time.h"

struct clock_scale clock_scale;
static s64 wall_offset;

ktime ktime_now(void)
{
	return clock_now();
}

void ktime_params(u32 *mult, u32 *shift)
{
	*mult = clock_scale.mult;
	*shift = clock_scale.shift;
}

s64 realtime_offset(void)
{
	return atomic_read(&wall_offset);
}

void realtime_set(s64 ns)
{
	atomic_set(&wall_offset, ns - ktime_now());
	vdso_update();
	wake_up_all(&realtime_wq);
	posix_timers_clock_set();
}

/* The largest shift with which mult still has 32 bits: an error below 2^-31. */
void time_init(void)
{
	u64 freq = timer_freq(), mult;
	u32 shift = 32;

	if (!freq)
		panic("the timer has no frequency");
	do {
		shift--;
		mult = (((u64)NSEC_PER_SEC << shift) + freq / 2) / freq;
	} while (mult > UINT32_MAX);
	clock_scale = (struct clock_scale){ mult << 32, 32 - shift, (u32)mult, shift };
	vdso_update();
	pr_info("clock: %lu Hz, mult %u shift %u\n", (unsigned long)freq, clock_scale.mult, clock_scale.shift);
}
