/* SPDX-License-Identifier: MIT */
/* ktime_now as an inline function, for paths on which a call is much. */
#ifndef PERCH_CLOCK_H
#define PERCH_CLOCK_H

#include <asm/counter.h>
#include <perch/types.h>

/* ns = counter * mult >> shift, with a product of 128 bits; 0 < shift < 64. Set once, at boot. */
struct clock_scale {
	u32 mult, shift;
};
extern struct clock_scale clock_scale;

static inline ktime clock_now(void)
{
	u64 counter = read_counter(), mult = clock_scale.mult;
	u32 shift = clock_scale.shift;
	u64 high = (u64)((__uint128_t)counter * mult >> 64);

	return (ktime)(high << (64 - shift) | counter * mult >> shift);
}

#endif
