/* SPDX-License-Identifier: MIT */
/* Numbers that assembly shares with C. arch/arm64/offsets.c checks each against the real layout. */
#ifndef ASM_OFFSETS_H
#define ASM_OFFSETS_H

/* struct pt_regs */
#define S_X(n)		((n) * 8)
#define S_LR		240	/* x30, then sp */
#define S_PC		256	/* pc, then pstate */
#define S_ORIG_X0	272	/* orig_x0, then syscallno */
#define S_SIZE		288
/* An exception from EL1 keeps a frame record (fp, pc) above the registers, for the unwinder. */
#define S_RECORD	S_SIZE
#define S_EL1_SIZE	(S_SIZE + 16)

/* struct task */
#define TASK_FLAGS	0
#define TASK_STACK	8
#define TASK_SYSCALLS	16
#define TASK_THREAD	32	/* x19_x28, fp, sp, pc in this order */
#define THREAD_FP	80
#define THREAD_PC	96
/* What sends a returning task to exit_to_user_work: TIF_WORK | TF_RESTORE_SIGMASK */
#define EXIT_WORK_FLAGS	0x0f

#define SYSCALL_SLOTS	512	/* of syscall_table */

/* struct cpu */
#define CPU_MPIDR	16
#define CPU_IDLE	24
#define CPU_CURR	32
#define CPU_SIZE	128

#define KERNEL_STACK	16384
#define KERNEL_STACK_SHIFT 14

/* Where things are mapped; see README.md. */
#define KIMAGE_VADDR	0xffff800080000000
#define FDT_VADDR	0xffff8000c0000000	/* two 2 MiB blocks, early boot only */

#endif
