/* SPDX-License-Identifier: MIT */
/*
 * The registers part of kernel/perf/host.h: PERF_SAMPLE_REGS_* numbers of arm64 are x0..x29 = 0..29,
 * lr = 30, sp = 31, pc = 32 (perf_regs(3) of perf's sources; measured with perf record --user-regs=?).
 */
#include <asm/ptrace.h>
#include <kernel/perf/host.h>

#define PERF_REG_SP 31
#define PERF_REG_PC 32
#define PERF_REG_VG 46		/* the length of SVE vectors */

bool host_regs_user(const struct pt_regs *regs)
{
	return user_mode(regs);
}

u64 host_regs_pc(const struct pt_regs *regs)
{
	return regs->pc;
}

u64 host_regs_sp(const struct pt_regs *regs)
{
	return regs->sp;
}

u64 host_regs_get(const struct pt_regs *regs, u32 nr)
{
	if (nr < PERF_REG_SP)
		return regs->regs[nr];
	if (nr == PERF_REG_SP)
		return regs->sp;
	return nr == PERF_REG_PC ? regs->pc : 0;
}

u64 host_regs_extended(void)
{
	return BIT(PERF_REG_VG);
}

u64 host_regs_mask(void)
{
	return BIT(PERF_REG_PC + 1) - 1;
}
