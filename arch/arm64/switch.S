/* SPDX-License-Identifier: MIT */
/* What only assembly can do at a context switch: the callee-saved registers, and FP/SIMD state. */
#include <asm/offsets.h>

	.arch_extension fp
	.arch_extension simd

/* A struct fpsimd_state at xB: 32 vectors, FPSR, FPCR. Both change xB and x8, x9. */
	.macro	simd_save, xB
	stp	q0, q1, [\xB, #0]
	stp	q2, q3, [\xB, #32]
	stp	q4, q5, [\xB, #64]
	stp	q6, q7, [\xB, #96]
	stp	q8, q9, [\xB, #128]
	stp	q10, q11, [\xB, #160]
	stp	q12, q13, [\xB, #192]
	stp	q14, q15, [\xB, #224]
	stp	q16, q17, [\xB, #256]
	stp	q18, q19, [\xB, #288]
	stp	q20, q21, [\xB, #320]
	stp	q22, q23, [\xB, #352]
	stp	q24, q25, [\xB, #384]
	stp	q26, q27, [\xB, #416]
	stp	q28, q29, [\xB, #448]
	stp	q30, q31, [\xB, #480]
	mrs	x8, fpsr
	mrs	x9, fpcr
	add	\xB, \xB, #512
	stp	w8, w9, [\xB]
	.endm

	.macro	simd_load, xB
	ldp	q0, q1, [\xB, #0]
	ldp	q2, q3, [\xB, #32]
	ldp	q4, q5, [\xB, #64]
	ldp	q6, q7, [\xB, #96]
	ldp	q8, q9, [\xB, #128]
	ldp	q10, q11, [\xB, #160]
	ldp	q12, q13, [\xB, #192]
	ldp	q14, q15, [\xB, #224]
	ldp	q16, q17, [\xB, #256]
	ldp	q18, q19, [\xB, #288]
	ldp	q20, q21, [\xB, #320]
	ldp	q22, q23, [\xB, #352]
	ldp	q24, q25, [\xB, #384]
	ldp	q26, q27, [\xB, #416]
	ldp	q28, q29, [\xB, #448]
	ldp	q30, q31, [\xB, #480]
	add	\xB, \xB, #512
	ldp	w8, w9, [\xB]
	msr	fpsr, x8
	mrs	\xB, fpcr
	cmp	\xB, x9			/* writing FPCR is slow: only when it differs */
	b.eq	.Lsame\@
	msr	fpcr, x9
.Lsame\@:
	.endm

/*
 * struct task *cpu_switch(struct task *prev, struct task *next, struct fpsimd_state *save,
 * const struct fpsimd_state *load): leaves prev's stack and continues on next's. Returns prev, in next's
 * context. IRQs off. save, load: where prev's FP/SIMD registers go, where next's are; or NULL. A new task
 * continues at thread.pc (ret_from_fork).
 */
	.text
	.globl	cpu_switch
	.type	cpu_switch, %function
cpu_switch:
	cbz	x2, 1f
	simd_save x2
1:	cbz	x3, 2f
	simd_load x3
2:	add	x8, x0, #TASK_THREAD
	mov	x9, sp
	stp	x19, x20, [x8], #16
	stp	x21, x22, [x8], #16
	stp	x23, x24, [x8], #16
	stp	x25, x26, [x8], #16
	stp	x27, x28, [x8], #16
	stp	x29, x9, [x8], #16
	str	x30, [x8]
	add	x8, x1, #TASK_THREAD
	ldp	x19, x20, [x8], #16
	ldp	x21, x22, [x8], #16
	ldp	x23, x24, [x8], #16
	ldp	x25, x26, [x8], #16
	ldp	x27, x28, [x8], #16
	ldp	x29, x9, [x8], #16
	ldr	x30, [x8]
	mov	sp, x9
	msr	sp_el0, x1
	ret
	.size	cpu_switch, . - cpu_switch

/* void fpsimd_save(struct fpsimd_state *), fpsimd_load(const struct fpsimd_state *) */
	.globl	fpsimd_save
	.type	fpsimd_save, %function
fpsimd_save:
	simd_save x0
	ret
	.size	fpsimd_save, . - fpsimd_save

	.globl	fpsimd_load
	.type	fpsimd_load, %function
fpsimd_load:
	simd_load x0
	ret
	.size	fpsimd_load, . - fpsimd_load
