/* SPDX-License-Identifier: MIT */
/* Nobody reads the counter here: the models have a clock of their own. */
#ifndef ASM_COUNTER_H
#define ASM_COUNTER_H

#include <perch/types.h>

u64 read_counter(void);

#endif
