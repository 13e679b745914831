/* SPDX-License-Identifier: MIT */
/*
 * Synchronous exceptions other than system calls: sorted by ESR_EL1.EC. What user mode does wrong
 * is its signal; what the kernel does wrong is the end (panic_regs). Signals and codes are those of
 * Linux.
 */
#include <asm/ptrace.h>
#include <perch/cpu.h>
#include <perch/mm.h>
#include <perch/perf.h>
#include <perch/printk.h>
#include <perch/signal.h>
#include <perch/task.h>
#include <perch/uaccess.h>

#include "arch.h"
#include "esr.h"

#define FPE_FLTUNK	14

static const char *const vector_name[] = {
	"EL1t sync", "EL1t IRQ", "EL1t FIQ", "EL1t SError",
	"EL1 sync", "EL1 IRQ", "EL1 FIQ", "EL1 SError",
	"EL0 sync", "EL0 IRQ", "EL0 FIQ", "EL0 SError",
	"EL0-32 sync", "EL0-32 IRQ", "EL0-32 FIQ", "EL0-32 SError",
};

void bad_exception(struct pt_regs *regs, u64 reason, u64 esr)
{
	panic_regs(regs, "%s exception, esr %#llx", vector_name[reason], (unsigned long long)esr);
}

/* esr: shown in the signal frame, 0 if Linux shows none for this trap. */
static void trap_signal(int sig, int code, uaddr addr, u64 esr)
{
	current->thread.fault_address = 0;
	current->thread.fault_esr = esr;
	force_signal(sig, code, addr);
}

/* An instruction that does not exist at EL0: perhaps a read of an ID register that we answer. */
static void undefined(struct pt_regs *regs)
{
	u32 insn;

	if (!get_user(insn, (const u32 __user *)regs->pc) && emulate_mrs(regs, insn)) {
		regs->pc += 4;
		return;
	}
	trap_signal(SIGILL, ILL_ILLOPC, regs->pc, 0);
}

/*
 * PMCCNTR (9, 13, op2 0), PMXEVCNTR (9, 13, 2), PMEVCNTRn (14, 8..11) read as 0 and PMSELR (9, 12, 5) is
 * ignored for a task from which perf has just taken the counters; see perf_user_read_trap.
 */
static bool pmu_read_trap(struct pt_regs *regs, u32 iss)
{
	u32 op0 = iss >> 20 & 3, op2 = iss >> 17 & 7, op1 = iss >> 14 & 7;
	u32 crn = iss >> 10 & 15, rt = iss >> 5 & 31, crm = iss >> 1 & 15;
	bool read = iss & 1;
	bool counter = (crn == 9 && crm == 13 && (op2 == 0 || op2 == 2)) ||
		       (crn == 14 && crm >= 8 && crm <= 11);
	bool selector = crn == 9 && crm == 12 && op2 == 5;

	if (op0 != 3 || op1 != 3 || !((counter && read) || selector) || !perf_user_read_trap())
		return false;
	if (read && rt < 31)
		regs->regs[rt] = 0;
	regs->pc += 4;
	return true;
}

void el0_exception(struct pt_regs *regs, u64 esr)
{
	u64 far = read_sysreg(far_el1);

	switch (esr >> ESR_EC_SHIFT & 0x3f) {
	case EC_DABT_EL0:
	case EC_IABT_EL0:
		user_abort(regs, esr, far);
		return;
	}
	irq_enable();
	switch (esr >> ESR_EC_SHIFT & 0x3f) {
	case EC_PC_ALIGN:
		trap_signal(SIGBUS, BUS_ADRALN, far, esr);
		break;
	case EC_SP_ALIGN:
		trap_signal(SIGBUS, BUS_ADRALN, regs->sp, esr);
		break;
	case EC_FP_EXC:
		trap_signal(SIGFPE, FPE_FLTUNK, regs->pc, 0);
		break;
	case EC_BRK:
		trap_signal(SIGTRAP, TRAP_BRKPT, regs->pc, 0);
		break;
	case EC_STEP_EL0:
		trap_signal(SIGTRAP, TRAP_TRACE, regs->pc, 0);
		break;
	case EC_BREAK_EL0:
	case EC_WATCH_EL0:
		trap_signal(SIGTRAP, TRAP_HWBKPT, regs->pc, 0);
		break;
	case EC_SYSREG:
		if (pmu_read_trap(regs, (u32)esr))
			break;
		undefined(regs);
		break;
	case EC_UNKNOWN:
		undefined(regs);
		break;
	default:	/* state that we do not offer (SVE, SME ...), illegal state */
		trap_signal(SIGILL, ILL_ILLOPC, regs->pc, 0);
		break;
	}
}

/* From the entry code, on a stack of its own: SP had left the current one. */
void kernel_stack_overflow(struct pt_regs *regs, u64 esr, u64 far)
{
	panic_regs(regs, "kernel stack overflow: sp %#llx, stack %#llx-%#llx (esr %#llx far %#llx)",
		   (unsigned long long)regs->sp, (unsigned long long)(u64)current->stack,
		   (unsigned long long)(u64)current->stack + KSTACK_SIZE, (unsigned long long)esr,
		   (unsigned long long)far);
}

void el1_exception(struct pt_regs *regs, u64 esr)
{
	u64 far = read_sysreg(far_el1);

	switch (esr >> ESR_EC_SHIFT & 0x3f) {
	case EC_DABT_EL1:
		kernel_abort(regs, esr, far);
		return;
	case EC_IABT_EL1:
		panic_regs(regs, "kernel jumped to %#llx (esr %#llx)", (unsigned long long)far,
			   (unsigned long long)esr);
	case EC_BRK:
		panic_regs(regs, "BRK %#llx in the kernel", (unsigned long long)(esr & 0xffff));
	default:
		panic_regs(regs, "exception in the kernel, esr %#llx far %#llx",
			   (unsigned long long)esr, (unsigned long long)far);
	}
}
