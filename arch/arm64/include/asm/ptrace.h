/* SPDX-License-Identifier: MIT */
/* The registers of an interrupted context, as the entry code saves them on the kernel stack. */
#ifndef ASM_PTRACE_H
#define ASM_PTRACE_H

#include <perch/types.h>

struct pt_regs {
	u64 regs[31];		/* x0..x30 */
	u64 sp;			/* SP_EL0, or the kernel SP before the exception */
	u64 pc;			/* ELR_EL1 */
	u64 pstate;		/* SPSR_EL1 */
	u64 orig_x0;		/* first argument of the system call, for restart */
	s64 syscallno;		/* -1 when not in a system call */
};
_Static_assert(sizeof(struct pt_regs) % 16 == 0, "the stack pointer must stay aligned");

#define PSR_MODE_MASK	0x1f
#define PSR_MODE_EL0t	0x0
#define PSR_MODE_EL1h	0x5
#define PSR_I		0x80
#define user_mode(r)	(((r)->pstate & PSR_MODE_MASK) == PSR_MODE_EL0t)

/* What the generic signal code does to a system call that a signal interrupted. */
static inline s64 syscall_result(const struct pt_regs *r) { return (s64)r->regs[0]; }
static inline void syscall_set_result(struct pt_regs *r, s64 v) { r->regs[0] = (u64)v; }
/* Back to the SVC instruction with the first argument as it was / undo that. */
static inline void syscall_rewind(struct pt_regs *r) { r->regs[0] = r->orig_x0; r->pc -= 4; }
static inline void syscall_unwind(struct pt_regs *r) { r->pc += 4; }
/* In what a seccomp filter and SIGSYS tell: AUDIT_ARCH_AARCH64. */
#define SYSCALL_ARCH	0xc00000b7U
/* The repeated SVC is to be this call. */
static inline void syscall_set_number(struct pt_regs *r, u32 nr) { r->regs[8] = nr; }

#endif
