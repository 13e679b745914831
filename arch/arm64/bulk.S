/* SPDX-License-Identifier: MIT */
/*
 * Copies of a page and the like, with borrowed registers.
 *
 * The kernel's own code uses general registers only, and the SIMD registers hold the user's values all the time. A
 * SIMD register has twice the width, and a copy needs only four: so it stores q0-q3 on its stack, uses them, and loads
 * them again. That is four instructions, and every 64 bytes after that cost four instead of eight.
 *
 * Why nobody sees them while they are borrowed:
 *   - Nothing sleeps here, so there is no switch (the kernel is not preemptible) that could save them as the user's, and
 *     no stop, signal or fork. For that reason no access here is allowed to have a page brought in: one that faults ends
 *     the copy. The caller has its own registers back then, and goes on by an ordinary copy.
 *   - An interrupt may come, and its handler may borrow the same registers; it gives back what it has found.
 *   - Idle and kernel threads have no values of their own in them: they give back the ones of whoever comes next.
 * FPSR and FPCR play no part in loads and stores. Access is open at EL1 from the start (head.S: CPACR_EL1).
 *
 * scripts/check-simd knows that functions named bulk_ do this. The contract is in asm/bulk.h.
 */
#include <asm/bulk.h>

/* Loaded before it is stored; what moves x1, and then x0, is the last that can fault. */
.macro	block from, to
	.if	\from
	user	EX_NOFAULT, 8f, ldp q2, q3, [x1, #32]
	user	EX_NOFAULT, 8f, ldp q0, q1, [x1], #64
	.else
	ldp	q2, q3, [x1, #32]
	ldp	q0, q1, [x1], #64
	.endif
	.if	\to
	user	EX_NOFAULT, 7f, stp q2, q3, [x0, #32]
	user	EX_NOFAULT, 7f, stp q0, q1, [x0], #64
	.else
	stp	q2, q3, [x0, #32]
	stp	q0, q1, [x0], #64
	.endif
.endm

.macro	bulk_function name, from, to
	.globl	\name
	.type	\name, %function
\name:
	stp	q0, q1, [sp, #-64]!
	stp	q2, q3, [sp, #32]
	add	x4, x1, x2			/* the end */
	lsr	x3, x2, #8
1:	.rept	4
	block	\from, \to
	.endr
	subs	x3, x3, #1
	b.ne	1b
	tbz	x2, #7, 2f
	block	\from, \to
	block	\from, \to
2:	tbz	x2, #6, 3f
	block	\from, \to
3:	and	x2, x2, #63
4:	ldp	q2, q3, [sp, #32]
	ldp	q0, q1, [sp], #64
	ret
	.if	\from || \to
7:	sub	x1, x1, #64			/* loaded, but not stored */
8:	sub	x2, x4, x1
	mov	x3, #1
	b	4b
	.endif
	.size	\name, . - \name
.endm

	.text
	.arch_extension fp
	.arch_extension simd
	bulk_function bulk_copy, 0, 0
	bulk_function bulk_from_user, 1, 0
	bulk_function bulk_to_user, 0, 1
