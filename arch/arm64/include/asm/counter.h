/* SPDX-License-Identifier: MIT */
/* The counter that all clocks are made from. */
#ifndef ASM_COUNTER_H
#define ASM_COUNTER_H

#include <asm/cpu.h>

static inline u64 read_counter(void)
{
	isb();		/* not earlier than what comes before it */
	return read_sysreg(cntvct_el0);
}

#endif
