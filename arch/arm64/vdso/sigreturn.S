/* SPDX-License-Identifier: MIT */
/*
 * Where a signal handler returns to. gdb and libgcc recognise the two instructions; other unwinders
 * follow the frame record that the kernel put on the stack (signal.c): x29 points at it. The nop
 * gives the address before the trampoline, which unwinders look up as the caller's, a place in the
 * same description.
 */
	.text
	.cfi_startproc
	.cfi_def_cfa x29, 0
	.cfi_offset x29, 0
	.cfi_offset x30, 8
	nop
	.globl	__kernel_rt_sigreturn
	.type	__kernel_rt_sigreturn, %function
__kernel_rt_sigreturn:
	mov	x8, #139
	svc	#0
	.cfi_endproc
	.size	__kernel_rt_sigreturn, . - __kernel_rt_sigreturn
	.section .note.GNU-stack, "", %progbits
