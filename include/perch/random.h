/* SPDX-License-Identifier: MIT */
/* Random bytes: seeded at boot from the device tree (rng-seed, kaslr-seed), RNDR and timers. */
#ifndef PERCH_RANDOM_H
#define PERCH_RANDOM_H
#include <perch/types.h>
void random_bytes(void *buf, size_t n);		/* any context */
u64 random_u64(void);
void random_add(const void *seed, size_t n);
#endif
