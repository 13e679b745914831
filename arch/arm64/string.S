/* SPDX-License-Identifier: MIT */
/*
 * memcpy and memset with general registers: blocks of 64 bytes, then what is left by the bits of its
 * length; what is large is copied by bulk.S. Accesses need not be aligned in normal memory, which is all that
 * these are called for. The C library's versions for this case are loops of bytes and words.
 *
 * Zeros: DC ZVA clears a block of a cache at once. It is used for 256 bytes or more, and only where the
 * block has 64 bytes (DCZID_EL0 is 4: allowed, and 4 << 2^4), as on every CPU that we know.
 */
#include <asm/bulk.h>

	.text

/* void *memcpy(void *dst, const void *src, size_t n) */
	.globl	memcpy
	.type	memcpy, %function
memcpy:
	mov	x3, x0
	subs	x2, x2, #64
	b.lo	2f
	cmp	x2, #BULK_MIN - 64
	b.hs	9f
1:	ldp	x6, x7, [x1, #16]
	ldp	x8, x9, [x1, #32]
	ldp	x10, x11, [x1, #48]
	ldp	x4, x5, [x1], #64
	stp	x6, x7, [x3, #16]
	stp	x8, x9, [x3, #32]
	stp	x10, x11, [x3, #48]
	stp	x4, x5, [x3], #64
	subs	x2, x2, #64
	b.hs	1b
2:	tbz	x2, #5, 3f		/* the low six bits are those of what is left */
	ldp	x4, x5, [x1]
	ldp	x6, x7, [x1, #16]
	add	x1, x1, #32
	stp	x4, x5, [x3]
	stp	x6, x7, [x3, #16]
	add	x3, x3, #32
3:	tbz	x2, #4, 4f
	ldp	x4, x5, [x1], #16
	stp	x4, x5, [x3], #16
4:	tbz	x2, #3, 5f
	ldr	x4, [x1], #8
	str	x4, [x3], #8
5:	tbz	x2, #2, 6f
	ldr	w4, [x1], #4
	str	w4, [x3], #4
6:	tbz	x2, #1, 7f
	ldrh	w4, [x1], #2
	strh	w4, [x3], #2
7:	tbz	x2, #0, 8f
	ldrb	w4, [x1]
	strb	w4, [x3]
8:	ret
9:	add	x2, x2, #64
	mov	x16, x30
	mov	x17, x0
	bl	bulk_copy
	mov	x30, x16
	mov	x3, x0
	mov	x0, x17
	b	2b
	.size	memcpy, . - memcpy

/* void *memset(void *dst, int byte, size_t n) */
	.globl	memset
	.type	memset, %function
memset:
	mov	x3, x0
	ands	w1, w1, #0xff
	b.eq	9f
	orr	w1, w1, w1, lsl #8
	orr	w1, w1, w1, lsl #16
	orr	x1, x1, x1, lsl #32
0:	subs	x2, x2, #64
	b.lo	2f
1:	stp	x1, x1, [x3, #16]
	stp	x1, x1, [x3, #32]
	stp	x1, x1, [x3, #48]
	stp	x1, x1, [x3], #64
	subs	x2, x2, #64
	b.hs	1b
2:	tbz	x2, #5, 3f
	stp	x1, x1, [x3]
	stp	x1, x1, [x3, #16]
	add	x3, x3, #32
3:	tbz	x2, #4, 4f
	stp	x1, x1, [x3], #16
4:	tbz	x2, #3, 5f
	str	x1, [x3], #8
5:	tbz	x2, #2, 6f
	str	w1, [x3], #4
6:	tbz	x2, #1, 7f
	strh	w1, [x3], #2
7:	tbz	x2, #0, 8f
	strb	w1, [x3]
8:	ret

	/* Zeros: the part before the first whole block by stores, then the blocks. */
9:	cmp	x2, #256
	b.lo	0b
	mrs	x4, dczid_el0
	cmp	x4, #4
	b.ne	0b
	stp	xzr, xzr, [x3]
	stp	xzr, xzr, [x3, #16]
	stp	xzr, xzr, [x3, #32]
	stp	xzr, xzr, [x3, #48]
	add	x2, x2, x3
	add	x3, x3, #64
	and	x3, x3, #~63
	sub	x2, x2, x3
	subs	x2, x2, #128
10:	dc	zva, x3
	add	x3, x3, #64
	dc	zva, x3
	add	x3, x3, #64
	subs	x2, x2, #128
	b.hs	10b
	tbz	x2, #6, 2b
	dc	zva, x3
	add	x3, x3, #64
	b	2b
	.size	memset, . - memset
