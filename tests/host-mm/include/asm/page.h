/* SPDX-License-Identifier: MIT */
#ifndef ASM_PAGE_H
#define ASM_PAGE_H

#include <perch/types.h>
#include <string.h>

static inline void clear_page(void *p) { memset(p, 0, PAGE_SIZE); }
static inline void copy_page(void *d, const void *s) { memcpy(d, s, PAGE_SIZE); }

#endif
