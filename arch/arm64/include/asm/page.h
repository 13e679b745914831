/* SPDX-License-Identifier: MIT */
/* Zeroing and copying whole pages: the inner loops of page faults. Kernel addresses, page aligned. */
#ifndef ASM_PAGE_H
#define ASM_PAGE_H

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
	char *d = dst, *end = d + PAGE_SIZE;
	const char *s = src;
	u64 a, b, c, e, f, g, h, i;

	for (; d < end; d += 64, s += 64)
		__asm__ volatile("ldp %0, %1, [%8]\n\tldp %2, %3, [%8, #16]\n\t"
				 "ldp %4, %5, [%8, #32]\n\tldp %6, %7, [%8, #48]\n\t"
				 "stp %0, %1, [%9]\n\tstp %2, %3, [%9, #16]\n\t"
				 "stp %4, %5, [%9, #32]\n\tstp %6, %7, [%9, #48]"
				 : "=&r"(a), "=&r"(b), "=&r"(c), "=&r"(e), "=&r"(f), "=&r"(g),
				   "=&r"(h), "=&r"(i)
				 : "r"(s), "r"(d) : "memory");
}

#endif
