/* SPDX-License-Identifier: MIT */
/* What only assembly can do at a context switch: the callee-saved registers, and FP/SIMD state. */
#include <asm/offsets.h>

/*
 * struct task *cpu_switch(struct task *prev, struct task *next): leaves prev's stack and continues
 * on next's. Returns prev, in next's context. IRQs off. A new task continues at thread.pc
 * (ret_from_fork).
 */
	.text
	.globl	cpu_switch
	.type	cpu_switch, %function
cpu_switch:
	add	x8, x0, #TASK_THREAD
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

	.arch_extension fp
	.arch_extension simd

/* void fpsimd_save(struct fpsimd_state *), fpsimd_load(const struct fpsimd_state *): 32 vectors,
 * FPSR, FPCR. */
	.globl	fpsimd_save
	.type	fpsimd_save, %function
fpsimd_save:
	stp	q0, q1, [x0, #0]
	stp	q2, q3, [x0, #32]
	stp	q4, q5, [x0, #64]
	stp	q6, q7, [x0, #96]
	stp	q8, q9, [x0, #128]
	stp	q10, q11, [x0, #160]
	stp	q12, q13, [x0, #192]
	stp	q14, q15, [x0, #224]
	stp	q16, q17, [x0, #256]
	stp	q18, q19, [x0, #288]
	stp	q20, q21, [x0, #320]
	stp	q22, q23, [x0, #352]
	stp	q24, q25, [x0, #384]
	stp	q26, q27, [x0, #416]
	stp	q28, q29, [x0, #448]
	stp	q30, q31, [x0, #480]
	mrs	x1, fpsr
	mrs	x2, fpcr
	add	x0, x0, #512
	stp	w1, w2, [x0]
	ret
	.size	fpsimd_save, . - fpsimd_save

	.globl	fpsimd_load
	.type	fpsimd_load, %function
fpsimd_load:
	ldp	q0, q1, [x0, #0]
	ldp	q2, q3, [x0, #32]
	ldp	q4, q5, [x0, #64]
	ldp	q6, q7, [x0, #96]
	ldp	q8, q9, [x0, #128]
	ldp	q10, q11, [x0, #160]
	ldp	q12, q13, [x0, #192]
	ldp	q14, q15, [x0, #224]
	ldp	q16, q17, [x0, #256]
	ldp	q18, q19, [x0, #288]
	ldp	q20, q21, [x0, #320]
	ldp	q22, q23, [x0, #352]
	ldp	q24, q25, [x0, #384]
	ldp	q26, q27, [x0, #416]
	ldp	q28, q29, [x0, #448]
	ldp	q30, q31, [x0, #480]
	add	x0, x0, #512
	ldp	w1, w2, [x0]
	msr	fpsr, x1
	mrs	x3, fpcr
	cmp	x3, x2			/* writing FPCR is slow: only when it differs */
	b.eq	1f
	msr	fpcr, x2
1:	ret
	.size	fpsimd_load, . - fpsimd_load
