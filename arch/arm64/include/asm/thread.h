/* SPDX-License-Identifier: MIT */
/* What a context switch saves of a task (AAPCS64 callee-saved set) and its FP/SIMD state. */
#ifndef ASM_THREAD_H
#define ASM_THREAD_H

#include <perch/types.h>

struct fpsimd_state {
	__uint128_t v[32];
	u32 fpsr, fpcr;
	u64 pad;
};

struct thread {
	u64 x19_x28[10];
	u64 fp, sp, pc;		/* offsets known to switch.S: asm/offsets.h */
	u64 tpidr_el0, tpidrro_el0;
	u64 fault_address, fault_esr;	/* of the last user fault, for signal frames */
	u32 fp_cpu;		/* whose registers last held fpsimd: see thread.c */
	struct fpsimd_state fpsimd __aligned(16);
};

#endif
