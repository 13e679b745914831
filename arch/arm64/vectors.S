/* SPDX-License-Identifier: MIT */
/*
 * Exceptions: the vector table, saving and restoring registers, the way back to user mode.
 *
 * EL0: SP_EL1 is at the top of the task's kernel stack, so the registers land where task_pt_regs()
 * looks. The frame pointer becomes 0: a kernel backtrace ends there. EL1: the registers go below
 * the interrupted frame with a frame record (fp, pc) above them, so a backtrace continues into the
 * interrupted function.
 *
 * All handlers are entered with D, A, I and F masked; C code enables interrupts when it may. In the
 * kernel SP_EL0 holds the current task, so user mode's SP_EL0 is saved and the task is taken from
 * this CPU's struct cpu. The system call path is as short as we can make it: it is what users
 * measure first.
 */
#include <asm/offsets.h>

/* For debuggers: nobody has called an entry from user mode (el0), and below an interrupted kernel
 * function (el1) a backtrace goes on at its pc. */
	.cfi_sections .debug_frame
#define DWARF_PC 32
.macro	outermost
	.cfi_startproc
	.cfi_undefined x30
.endm

.macro	save_x0_x29
	stp	x0, x1, [sp, #S_X(0)]
	stp	x2, x3, [sp, #S_X(2)]
	stp	x4, x5, [sp, #S_X(4)]
	stp	x6, x7, [sp, #S_X(6)]
	stp	x8, x9, [sp, #S_X(8)]
	stp	x10, x11, [sp, #S_X(10)]
	stp	x12, x13, [sp, #S_X(12)]
	stp	x14, x15, [sp, #S_X(14)]
	stp	x16, x17, [sp, #S_X(16)]
	stp	x18, x19, [sp, #S_X(18)]
	stp	x20, x21, [sp, #S_X(20)]
	stp	x22, x23, [sp, #S_X(22)]
	stp	x24, x25, [sp, #S_X(24)]
	stp	x26, x27, [sp, #S_X(26)]
	stp	x28, x29, [sp, #S_X(28)]
.endm

.macro	restore_x0_x17
	ldp	x0, x1, [sp, #S_X(0)]
	ldp	x2, x3, [sp, #S_X(2)]
	ldp	x4, x5, [sp, #S_X(4)]
	ldp	x6, x7, [sp, #S_X(6)]
	ldp	x8, x9, [sp, #S_X(8)]
	ldp	x10, x11, [sp, #S_X(10)]
	ldp	x12, x13, [sp, #S_X(12)]
	ldp	x14, x15, [sp, #S_X(14)]
	ldp	x16, x17, [sp, #S_X(16)]
.endm

/* Afterwards: x28 current, x24 ESR (for sync). */
.macro	save_el0
	sub	sp, sp, #S_SIZE
	save_x0_x29
	mrs	x21, sp_el0
	mrs	x22, elr_el1
	mrs	x23, spsr_el1
	mrs	x20, tpidr_el1
	stp	x30, x21, [sp, #S_LR]
	stp	x22, x23, [sp, #S_PC]
	ldr	x28, [x20, #CPU_CURR]
	mov	x29, xzr
	msr	sp_el0, x28
.endm

.macro	not_a_syscall
	mov	x9, #-1
	stp	xzr, x9, [sp, #S_ORIG_X0]
.endm

/*
 * SP, as it will be below the registers, must be in a stack (kernel/mm/kstack.c: bit 14). If it has
 * run over the end, pushing would fault for ever. There is no free register: sp and x0 carry their
 * sum and difference for a moment.
 */
.macro	check_stack
	sub	sp, sp, #S_EL1_SIZE
	add	sp, sp, x0		/* s + x */
	sub	x0, sp, x0		/* s */
	tbz	x0, #KERNEL_STACK_SHIFT, stack_overflow
	sub	x0, sp, x0		/* x */
	sub	sp, sp, x0		/* s */
	add	sp, sp, #S_EL1_SIZE
.endm

.macro	save_el1
	sub	sp, sp, #S_EL1_SIZE
	save_x0_x29
	add	x21, sp, #S_EL1_SIZE
	mrs	x22, elr_el1
	mrs	x23, spsr_el1
	stp	x30, x21, [sp, #S_LR]
	stp	x22, x23, [sp, #S_PC]
	not_a_syscall
	stp	x29, x22, [sp, #S_RECORD]
	add	x29, sp, #S_RECORD
	.cfi_def_cfa x29, S_EL1_SIZE - S_RECORD
	.irp	n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29
	.cfi_offset x\n, S_X(\n) - S_EL1_SIZE
	.endr
	.cfi_offset x30, S_LR - S_EL1_SIZE
	.cfi_offset DWARF_PC, S_PC - S_EL1_SIZE
.endm

.macro	vector label
	.balign	128
	b	\label
.endm

/* An exception that cannot happen, or that nobody survives: reason number for bad_exception(). */
.macro	bad_vector reason
	.balign	128
	.cfi_startproc
	.cfi_signal_frame
	save_el1
	mov	x0, sp
	mov	x1, #\reason
	mrs	x2, esr_el1
	bl	bad_exception
	b	.
	.cfi_endproc
.endm

	.section .vectors, "ax"
	.balign	2048
	.globl	vectors
vectors:
	bad_vector 0		/* EL1 with SP_EL0: sync, irq, fiq, serror */
	bad_vector 1
	bad_vector 2
	bad_vector 3
	vector	el1_sync
	vector	el1_irq
	bad_vector 6
	bad_vector 7
	vector	el0_sync
	vector	el0_irq
	vector	el0_fiq
	vector	el0_serror
	bad_vector 12		/* AArch32 EL0: no such program is ever started */
	bad_vector 13
	bad_vector 14
	bad_vector 15

	.text
	.type	el0_other, %function
el0_other:
	outermost
	not_a_syscall
	mov	x0, sp
	mov	x1, x24
	bl	el0_exception
	b	ret_to_user
	.cfi_endproc
	.size	el0_other, . - el0_other

	.type	el0_irq, %function
el0_irq:
	outermost
	save_el0
	not_a_syscall
	mov	x0, sp
	bl	irq_dispatch
	b	ret_to_user
	.cfi_endproc
	.size	el0_irq, . - el0_irq

	.type	el0_fiq, %function
el0_fiq:
	outermost
	save_el0
	not_a_syscall
	mov	x0, sp
	mov	x1, #10
	mrs	x2, esr_el1
	bl	bad_exception
	b	.
	.cfi_endproc
	.size	el0_fiq, . - el0_fiq

	.type	el0_serror, %function
el0_serror:
	outermost
	save_el0
	not_a_syscall
	mov	x0, sp
	mov	x1, #11
	mrs	x2, esr_el1
	bl	bad_exception
	b	.
	.cfi_endproc
	.size	el0_serror, . - el0_serror

/*
 * A system call's function is called from here with the arguments in the registers they came in; what is
 * not in the task's table is syscall_unknown(number). The way back follows without a branch.
 */
	.type	el0_sync, %function
el0_sync:
	outermost
	save_el0
	mrs	x24, esr_el1
	lsr	x25, x24, #26
	cmp	x25, #0x15		/* SVC from AArch64 */
	b.ne	el0_other
	stp	x0, x8, [sp, #S_ORIG_X0]
	msr	daifclr, #6		/* A and I */
	cmp	w8, #SYSCALL_SLOTS
	b.hs	1f
	ldr	x9, [x28, #TASK_SYSCALLS]
	ldr	x9, [x9, w8, uxtw #3]
	cbz	x9, 1f
	blr	x9
2:	str	x0, [sp, #S_X(0)]
#ifdef PERCH_LOCKCHECK
	ldr	w0, [sp, #S_ORIG_X0 + 8]
	bl	lockcheck_user_return
#endif
	.cfi_endproc
	.size	el0_sync, . - el0_sync

/* x28: current. Everything that happened may have left work; the check and the return must not be
 * interrupted. */
	.type	ret_to_user, %function
ret_to_user:
	outermost
	msr	daifset, #0xf
	ldr	w1, [x28, #TASK_FLAGS]
	tst	w1, #EXIT_WORK_FLAGS
	b.ne	exit_work
restore_user:
	ldp	x22, x23, [sp, #S_PC]
	ldp	x30, x21, [sp, #S_LR]
	msr	elr_el1, x22
	msr	spsr_el1, x23
	msr	sp_el0, x21
	restore_x0_x17
	ldp	x18, x19, [sp, #S_X(18)]
	ldp	x20, x21, [sp, #S_X(20)]
	ldp	x22, x23, [sp, #S_X(22)]
	ldp	x24, x25, [sp, #S_X(24)]
	ldp	x26, x27, [sp, #S_X(26)]
	ldp	x28, x29, [sp, #S_X(28)]
	add	sp, sp, #S_SIZE
	eret
	dsb	nsh			/* no speculation past the return */
	isb
exit_work:
	mov	x0, sp
	bl	exit_to_user_work
	b	restore_user
1:	mov	w0, w8
	bl	syscall_unknown
	b	2b
	.cfi_endproc
	.size	ret_to_user, . - ret_to_user

	.type	el1_sync, %function
el1_sync:
	.cfi_startproc
	.cfi_signal_frame
	check_stack
	save_el1
	mov	x0, sp
	mrs	x1, esr_el1
	bl	el1_exception
	b	ret_to_kernel
	.cfi_endproc
	.size	el1_sync, . - el1_sync

	.type	el1_irq, %function
el1_irq:
	.cfi_startproc
	.cfi_signal_frame
	check_stack
	save_el1
	mov	x0, sp
	bl	irq_dispatch
	.size	el1_irq, . - el1_irq

/* C code has kept x19-x29, and a fixup may change only the pc. */
	.type	ret_to_kernel, %function
ret_to_kernel:
	msr	daifset, #0xf
	ldp	x20, x21, [sp, #S_PC]
	msr	elr_el1, x20
	msr	spsr_el1, x21
	restore_x0_x17
	ldr	x18, [sp, #S_X(18)]
	ldp	x20, x21, [sp, #S_X(20)]
	ldp	x22, x23, [sp, #S_X(22)]
	ldp	x28, x29, [sp, #S_X(28)]
	.cfi_def_cfa sp, S_EL1_SIZE
	.cfi_same_value x29
	ldr	x30, [sp, #S_LR]
	add	sp, sp, #S_EL1_SIZE
	eret
	dsb	nsh
	isb
	.cfi_endproc
	.size	ret_to_kernel, . - ret_to_kernel

/*
 * From check_stack, with sp = s + x and x0 = s. The end of this machine: user mode's thread registers
 * are free to hold x0 and the stack pointer, and the report gets a stack of its own.
 */
	.type	stack_overflow, %function
stack_overflow:
	.cfi_startproc
	.cfi_signal_frame
	add	x0, x0, #S_EL1_SIZE
	msr	tpidrro_el0, x0
	sub	x0, x0, #S_EL1_SIZE
	sub	x0, sp, x0
	msr	tpidr_el0, x0
	ldr	x0, =overflow_stack + KERNEL_STACK
	mov	sp, x0
	mrs	x0, tpidr_el0
	save_el1
	mrs	x0, tpidrro_el0
	str	x0, [sp, #S_LR + 8]
	mov	x0, sp
	mrs	x1, esr_el1
	mrs	x2, far_el1
	bl	kernel_stack_overflow
	b	.
	.cfi_endproc
	.size	stack_overflow, . - stack_overflow

/*
 * The first instruction of a new task, from cpu_switch: x0 = task that ran before, x19 = function
 * of a kernel thread (0: a user task), x20 = its argument. A kernel thread that has become a
 * program by kernel_execve returns from its function and goes on to user mode.
 */
	.globl	ret_from_fork
	.type	ret_from_fork, %function
ret_from_fork:
	outermost
	mov	x29, xzr
	bl	schedule_tail
	cbz	x19, 1f
	msr	daifclr, #6
	mov	x0, x20
	blr	x19
	bl	kthread_returned
1:	mrs	x28, sp_el0
	b	ret_to_user
	.cfi_endproc
	.size	ret_from_fork, . - ret_from_fork
