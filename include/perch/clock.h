/* SPDX-License-Identifier: MIT */
/* ktime_now as an inline function, for paths on which a call is much. */
#ifndef PERCH_CLOCK_H
#define PERCH_CLOCK_H

#include <asm/counter.h>
#include <perch/types.h>

/*
 * ns = counter * mult >> shift, with a product of 128 bits; 0 < shift < 32. Of the same product, made with
 * factor = mult << 32 and the counter << lift = 32 - shift, it is the upper half: one multiplication less (the
 * counter's upper bits are lost after 2^63 ticks or 2^63 ns, whatever comes first). Set once, at boot.
 */
struct clock_scale {
	u64 factor, lift;
	u32 mult, shift;
};
extern struct clock_scale clock_scale;

static inline ktime clock_now(void)
{
	u64 lifted = read_counter() << clock_scale.lift;

	return (ktime)((__uint128_t)lifted * clock_scale.factor >> 64);
}

#endif
