/* SPDX-License-Identifier: MIT */
/*
 * User memory, by unprivileged loads and stores (LDTR, STTR): the hardware checks them as EL0 would
 * be checked, so a kernel address or a read-only page faults whatever the range check said, and PAN
 * can stay on. There are none for exclusives (cmpxchg_user32) and pairs: what is large (bulk.S) and what samples read
 * with interrupts off, stacks and frames, is copied with PAN open.
 *
 * An instruction that may fault has an entry in __ex_table (fault.c). The wide copies' entries lead
 * to the byte loop at the point where they started; the byte loop's entries lead to the end. So the
 * result counts exactly the bytes that were not copied. EX_NOFAULT in an entry: the page is not
 * faulted in, the entry is taken at once.
 */
#include <asm/bulk.h>
#include <asm/extable.h>
#include <asm/offsets.h>

/* Refuse unless [p, p + n) is below 1 << 48. */
.macro	check_range p, n
	mov	x3, #1 << 48
	subs	x3, x3, \n
	b.lo	90f
	cmp	\p, x3
	b.hi	90f
.endm

.macro	load_user to, reg, size, off
	user	0, \to, ldtr\size \reg, [x1, #\off]
.endm
.macro	store_user to, reg, size, off
	user	0, \to, sttr\size \reg, [x0, #\off]
.endm

.macro	copy_pair from, to, off
	.if	\from
	load_user \to, x3, , \off
	load_user \to, x4, , \off + 8
	stp	x3, x4, [x0, #\off]
	.else
	ldp	x3, x4, [x1, #\off]
	store_user \to, x3, , \off
	store_user \to, x4, , \off + 8
	.endif
.endm
.macro	copy_64 from, to
	.irp	off, 0, 16, 32, 48
	copy_pair \from, \to, \off
	.endr
	add	x0, x0, #64
	add	x1, x1, #64
.endm
.macro	copy_one from, to, reg, size
	.if	\from
	load_user \to, \reg, \size, 0
	str\size	\reg, [x0]
	.else
	ldr\size	\reg, [x1]
	store_user \to, \reg, \size, 0
	.endif
.endm

/* 1 << bit bytes if that bit of x2 is set: the bits below it are what is left to do then. */
.macro	copy_part from, bit, reg, size
	tbz	x2, #\bit, 1f
	.if	\bit == 5
	copy_pair \from, 8\bit\()f, 0
	copy_pair \from, 8\bit\()f, 16
	.elseif	\bit == 4
	copy_pair \from, 8\bit\()f, 0
	.else
	copy_one \from, 8\bit\()f, \reg, \size
	.endif
	.if	\bit
	add	x0, x0, #1 << \bit
	add	x1, x1, #1 << \bit
	.endif
1:
.endm

/*
 * Privileged accesses to user memory, two registers at a time. All that is valid below 1 << 48 is readable by EL0, and
 * what is not read-only is writable (pgtable.c: PTE_USER, and PROT_NONE is not valid), so after the check of the range
 * they see what LDTR and STTR would see. PAN, where there is one, is off for their sake; w17 says whether.
 */
.macro	open_user
	adrp	x17, cpu_has_pan
	ldrb	w17, [x17, #:lo12:cpu_has_pan]
	cbz	w17, 9998f
	.inst	0xd500409f		/* msr pan, #0 */
9998:
.endm
.macro	close_user
	cbz	w17, 9998f
	.inst	0xd500419f		/* msr pan, #1 */
9998:
.endm

/* As much as x2 says by large blocks: bulk.S. Uses x3, x4, x16, x17. */
.macro	copy_bulk from
	open_user
	mov	x16, x30
	.if	\from
	bl	bulk_from_user
	.else
	bl	bulk_to_user
	.endif
	mov	x30, x16
	close_user
.endm

/* size_t name(void *dst, const void *src, size_t n). from 1: src is the user address, 0: dst is. */
.macro	copy_function name, from
	.globl	\name
	.type	\name, %function
\name:
	.if	\from
	check_range x1, x2
	.else
	check_range x0, x2
	.endif
	subs	x2, x2, #64
	b.lo	2f
	cmp	x2, #BULK_MIN - 64
	b.hs	7f
6:	copy_64	\from, 86f
	subs	x2, x2, #64
	b.hs	6b
2:	copy_part \from, 5
	copy_part \from, 4
	copy_part \from, 3, x3
	tst	x2, #7
	b.eq	3f
	copy_part \from, 2, w3
	copy_part \from, 1, w3, h
	copy_part \from, 0, w3, b
3:	mov	x0, #0
	ret
7:	add	x2, x2, #64
	copy_bulk \from
	subs	x2, x2, #64
	b.lo	2b
	copy_64	\from, 86f	/* it met a page that is not there: bring it in */
	subs	x2, x2, #64
	b.lo	2b
	cmp	x2, #BULK_MIN - 64
	b.hs	7b
	b	6b
86:	add	x2, x2, #64
	b	4f
	.irp	bit, 5, 4, 3, 2, 1, 0
8\bit:	and	x2, x2, #(2 << \bit) - 1
	b	4f
	.endr
4:	cbz	x2, 90f
	copy_one \from, 90f, w3, b
	add	x0, x0, #1
	add	x1, x1, #1
	sub	x2, x2, #1
	b	4b
90:	mov	x0, x2
	ret
	.size	\name, . - \name
.endm

	.text
	copy_function copy_from_user, 1
	copy_function copy_to_user, 0

/*
 * size_t copy_from_user_nofault(void *dst, const void *src, size_t n): as copy_from_user, but an address that
 * does not answer ends it. Each block is loaded before it is stored, and the last of its loads moves x1, if it does not
 * fault; so on a fault all before x1 is copied. What there is behind it is in x1's page, if another one does not answer:
 * as with the stack of a program's first thread, which seldom has as much as a sample wants. x1's own page needs no
 * second fault to be known.
 */
.macro	load_64
	user	EX_NOFAULT, 80f, ldp x5, x6, [x1, #16]
	user	EX_NOFAULT, 80f, ldp x7, x8, [x1, #32]
	user	EX_NOFAULT, 80f, ldp x9, x10, [x1, #48]
	user	EX_NOFAULT, 80f, ldp x3, x4, [x1], #64
	stp	x5, x6, [x0, #16]
	stp	x7, x8, [x0, #32]
	stp	x9, x10, [x0, #48]
	stp	x3, x4, [x0], #64
.endm

	.globl	copy_from_user_nofault
	.type	copy_from_user_nofault, %function
copy_from_user_nofault:
	check_range x1, x2
	add	x12, x1, x2			/* the end */
	open_user
	cmp	x2, #BULK_MIN
	b.lo	1f
	mov	x16, x30
	bl	bulk_from_user
	mov	x30, x16
	cbz	x3, 3f
	b	80f
1:	lsr	x11, x2, #6			/* blocks; behind them, a part for each bit of x2 below */
	cbz	x11, 3f
2:	load_64
	subs	x11, x11, #1
	b.ne	2b
3:	tbz	x2, #5, 4f
	user	EX_NOFAULT, 80f, ldp x5, x6, [x1, #16]
	user	EX_NOFAULT, 80f, ldp x3, x4, [x1], #32
	stp	x5, x6, [x0, #16]
	stp	x3, x4, [x0], #32
4:	tbz	x2, #4, 5f
	user	EX_NOFAULT, 80f, ldp x3, x4, [x1], #16
	stp	x3, x4, [x0], #16
5:	tbz	x2, #3, 6f
	user	EX_NOFAULT, 80f, ldr x3, [x1], #8
	str	x3, [x0], #8
6:	mov	x4, x12
	tbz	x2, #2, 8f
	user	EX_NOFAULT, 80f, ldr w3, [x1], #4
	str	w3, [x0], #4
	b	8f
80:	add	x4, x1, #4095			/* up to x4, the end of x1's page or of all */
	and	x4, x4, #~4095
	cmp	x4, x12
	csel	x4, x4, x12, lo
	sub	x2, x4, x1
	cmp	x2, #64				/* no block reached out of this page */
	b.hs	9f
7:	subs	x2, x2, #8
	b.lo	8f
	user	EX_NOFAULT, 9f, ldr x3, [x1], #8
	str	x3, [x0], #8
	b	7b
8:	cmp	x1, x4
	b.eq	9f
	user	EX_NOFAULT, 9f, ldrb w3, [x1], #1
	strb	w3, [x0], #1
	b	8b
9:	sub	x2, x12, x1			/* bytes left */
	close_user
90:	mov	x0, x2
	ret
	.size	copy_from_user_nofault, . - copy_from_user_nofault

/*
 * u32 user_frames(u64 fp, u64 *to, u32 max): return addresses of a chain of frame records (previous frame
 * pointer, return address) in user memory, up to max; their number. Ends where memory is not there or the
 * chain does not rise. Never faults a page in.
 */
	.globl	user_frames
	.type	user_frames, %function
user_frames:
	mov	x3, x1
	cbz	x0, 4f
	cbz	w2, 4f
	add	x6, x1, w2, uxtw #3		/* the end */
	open_user
1:	tst	x0, #0xffff000000000007		/* a user address, aligned */
	b.ne	3f
	user	EX_NOFAULT, 3f, ldp x4, x5, [x0]
	str	x5, [x3], #8
	cmp	x4, x0
	ccmp	x3, x6, #4, hi			/* not higher: as if this were the end */
	mov	x0, x4
	b.ne	1b
3:	close_user
4:	sub	x0, x3, x1
	lsr	x0, x0, #3
	ret
	.size	user_frames, . - user_frames

/* size_t clear_user(void *dst, size_t n) */
	.globl	clear_user
	.type	clear_user, %function
clear_user:
	check_range x0, x1
	subs	x1, x1, #64
	b.lo	2f
1:	.irp	off, 0, 8, 16, 24, 32, 40, 48, 56
	store_user 80f, xzr, , \off
	.endr
	add	x0, x0, #64
	subs	x1, x1, #64
	b.hs	1b
2:	adds	x1, x1, #64
	b.eq	4f
	subs	x1, x1, #8
	b.lo	6f
5:	store_user 81f, xzr, , 0
	add	x0, x0, #8
	subs	x1, x1, #8
	b.hs	5b
6:	add	x1, x1, #8
3:	cbz	x1, 4f
	store_user 4f, wzr, b, 0
	add	x0, x0, #1
	sub	x1, x1, #1
	b	3b
80:	add	x1, x1, #64
	b	3b
81:	add	x1, x1, #8
	b	3b
90:
4:	mov	x0, x1
	ret
	.size	clear_user, . - clear_user

/*
 * long strncpy_from_user(char *dst, const char *src, size_t n), long strnlen_user(const char *s,
 * size_t n). A string that runs into the end of user space faults there.
 */
	.globl	strncpy_from_user
	.type	strncpy_from_user, %function
strncpy_from_user:
	lsr	x3, x1, #48
	cbnz	x3, 3f
	mov	x3, x0
	mov	x7, #0x0101010101010101
	mov	x8, #0x8080808080808080
	cmp	x2, #8
	b.lo	1f
	/*
	 * Words at addresses that are multiples of eight, so that no load reaches into a page where the string
	 * does not. What the first one has in front of the string is shifted out. x6: minus the bytes of the
	 * string in the word x4; x9: their top bits.
	 */
	ands	x6, x1, #7
	b.eq	4f
	bic	x5, x1, #7
	user	0, 3f, ldtr x4, [x5]
	lsl	x10, x6, #3
	lsr	x4, x4, x10
	lsr	x9, x8, x10
	sub	x6, x6, #8
	b	6f
4:	cmp	x2, #8
	b.lo	1f
	user	0, 3f, ldtr x4, [x1]
	mov	x6, #-8
	mov	x9, x8
6:	sub	x5, x4, x7		/* x - 1 & ~x has the top bit of the first byte set that is 0 */
	bic	x5, x5, x4
	ands	x5, x5, x9
	b.ne	5f
	str	x4, [x3]
	sub	x3, x3, x6
	sub	x1, x1, x6
	add	x2, x2, x6
	b	4b
	/* The last word: what is behind the NUL is not the string's. */
5:	rbit	x5, x5
	clz	x5, x5			/* of that byte's highest bit */
	bic	x6, x5, #7
	mov	x9, #-1
	lsl	x9, x9, x6
	bic	x4, x4, x9
	str	x4, [x3]
	add	x3, x3, x5, lsr #3
	b	2f
	/* Too little room for a word. */
1:	cbz	x2, 2f
	load_user 3f, w4, b, 0
	strb	w4, [x3]
	cbz	w4, 2f
	add	x1, x1, #1
	add	x3, x3, #1
	sub	x2, x2, #1
	b	1b
2:	sub	x0, x3, x0
	ret
3:	mov	x0, #-14		/* EFAULT */
	ret
	.size	strncpy_from_user, . - strncpy_from_user

	.globl	strnlen_user
	.type	strnlen_user, %function
strnlen_user:
	mov	x2, x1
	mov	x1, x0
	lsr	x3, x1, #48
	cbnz	x3, 3f
1:	cbz	x2, 2f
	load_user 3f, w4, b, 0
	cbz	w4, 2f
	add	x1, x1, #1
	sub	x2, x2, #1
	b	1b
2:	sub	x0, x1, x0
	ret
3:	mov	x0, #-14
	ret
	.size	strnlen_user, . - strnlen_user

/* int cmpxchg_user32(u32 *p, u32 *old, u32 expected, u32 new): a full barrier when it stores. */
	.globl	cmpxchg_user32
	.type	cmpxchg_user32, %function
cmpxchg_user32:
	mov	x4, #(1 << 48) - 4
	cmp	x0, x4
	b.hi	4f
	tst	x0, #3
	b.ne	4f
	adrp	x5, cpu_has_pan
	ldrb	w5, [x5, #:lo12:cpu_has_pan]
	cbz	w5, 1f
	.inst	0xd500409f		/* msr pan, #0 */
1:
	user	0, 3f, ldxr w4, [x0]
	cmp	w4, w2
	b.ne	2f
	user	0, 3f, stlxr w6, w3, [x0]
	cbnz	w6, 1b
	dmb	ish
2:	mov	w0, #0
	str	w4, [x1]
	b	5f
3:	mov	x0, #-14
5:	cbz	w5, 6f
	.inst	0xd500419f		/* msr pan, #1 */
6:	ret
4:	mov	x0, #-14
	ret
	.size	cmpxchg_user32, . - cmpxchg_user32
