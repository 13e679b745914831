/* SPDX-License-Identifier: MIT */
/* What __builtin_popcount becomes on CPUs without an integer instruction for it. libgcc's version
 * uses SIMD registers, which hold user state. */
#include <perch/types.h>

int __popcountdi2(s64 v);

int __popcountdi2(s64 v)
{
	u64 x = (u64)v;

	x -= x >> 1 & 0x5555555555555555UL;
	x = (x & 0x3333333333333333UL) + (x >> 2 & 0x3333333333333333UL);
	x = (x + (x >> 4)) & 0x0f0f0f0f0f0f0f0fUL;
	return (int)(x * 0x0101010101010101UL >> 56);
}
