/* SPDX-License-Identifier: MIT */
/*
 * Large copies in blocks of 64 bytes. Any context. bulk.S says how and why.
 */
#ifndef ASM_BULK_H
#define ASM_BULK_H

#define BULK_MIN	256	/* bytes; less is not worth the saving of registers */

#ifndef __ASSEMBLY__
#include <perch/types.h>

/* n bytes from src to dst, which do not overlap. n: a multiple of 64, BULK_MIN or more. */
void bulk_copy(void *dst, const void *src, size_t n);

#else
#include <asm/extable.h>
/*
 * For assembly: bulk_copy, bulk_from_user, bulk_to_user, with x0 = dst, x1 = src, x2 = n >= BULK_MIN. Afterwards
 * x0 and x1 are behind what was copied, and x2 is what is left: less than 64 with x3 = 0, else x3 = 1, and the next
 * 64 bytes reach into user memory that does not answer now. They keep all registers but x0-x4 (and the flags). The
 * range of the user's side has been checked, and PAN is open (uaccess.S). No page is brought in.
 */
#endif
#endif
