/* SPDX-License-Identifier: MIT */
/* Zeroing and copying whole pages: the inner loops of page faults. Kernel addresses, page aligned. */
#ifndef ASM_PAGE_H
#define ASM_PAGE_H

#include <asm/bulk.h>
#include <asm/cpu.h>
#include <perch/types.h>
#include <string.h>

/* DC ZVA zeroes a block; 64 bytes wherever we run (DCZID_EL0.BS = 4), else the plain way. */
static inline void clear_page(void *page)
{
	char *p = page, *end = p + PAGE_SIZE, *q;

	if (unlikely((read_sysreg(dczid_el0) & 0x1f) != 4)) {
		memset(page, 0, PAGE_SIZE);
		return;
	}
	for (; p < end; p += 512)
		__asm__ volatile(".rept 7\n\tdc zva, %0\n\tadd %0, %0, #64\n\t.endr\n\tdc zva, %0"
				 : "=&r"(q) : "0"(p) : "memory");
}

static inline void copy_page(void *dst, const void *src)
{
	bulk_copy(dst, src, PAGE_SIZE);
}

#endif
