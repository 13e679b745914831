/* SPDX-License-Identifier: MIT */
/*
 * Aborts: accesses that the MMU (or the memory) refused. From user mode they fill in a page or
 * become a signal. From the kernel they are legal only at an instruction listed in __ex_table, that
 * is in uaccess.S: the page is filled in if the context may sleep, and otherwise, or if that fails,
 * execution goes on at the entry's fixup.
 */
#include <asm/extable.h>
#include <asm/ptrace.h>
#include <perch/atomic.h>
#include <perch/cpu.h>
#include <perch/mm.h>
#include <perch/printk.h>
#include <perch/signal.h>
#include <perch/task.h>
#include <perch/uaccess.h>

#include "arch.h"
#include "esr.h"

struct ex_entry {
	s32 insn, fixup;	/* relative to themselves; fixup with the flag in its lowest bit */
};

extern const struct ex_entry __start_ex_table[], __stop_ex_table[];

static u64 entry_insn(const struct ex_entry *e)
{
	return (u64)&e->insn + (s64)e->insn;
}

/* The linker puts the table and the code in the same order: sorted without sorting. Checked once. */
void extable_init(void)
{
	for (const struct ex_entry *e = __start_ex_table + 1; e < __stop_ex_table; e++)
		ASSERT(entry_insn(e - 1) < entry_insn(e));
}

static u64 entry_fixup(const struct ex_entry *e)
{
	return (u64)&e->fixup + (s64)(e->fixup & ~EX_NOFAULT);
}

/* The last one that is not behind pc. */
static const struct ex_entry *find_entry(u64 pc)
{
	const struct ex_entry *e = __start_ex_table;

	for (size_t n = (size_t)(__stop_ex_table - e); n > 1; n -= n / 2)
		if (entry_insn(e + n / 2) <= pc)
			e += n / 2;
	return entry_insn(e) == pc ? e : NULL;
}

/* What FAR holds of a user address may carry a tag in its top byte. */
static uaddr untag(u64 far)
{
	return far & BIT(55) ? far : far & 0x00ffffffffffffffUL;
}

enum fault_class { FC_MM, FC_ALIGN, FC_BUS, FC_CONFLICT };

/* Fault status codes: Arm ARM, ISS encoding for an exception from a Data Abort. */
static enum fault_class classify(u64 esr)
{
	u32 fsc = esr & ESR_FSC;

	if (fsc >= 0x04 && fsc <= 0x0f)		/* translation, access flag, permission */
		return FC_MM;
	if (fsc <= 0x03)			/* address size: as if nothing were mapped */
		return FC_MM;
	if (fsc == 0x21)
		return FC_ALIGN;
	if (fsc == 0x30)
		return FC_CONFLICT;
	return FC_BUS;
}

static unsigned access_flags(u64 esr)
{
	u32 ec = esr >> ESR_EC_SHIFT;

	if (ec == EC_IABT_EL0 || ec == EC_IABT_EL1)
		return FAULT_EXEC;
	return (esr & ESR_WNR) && !(esr & ESR_CM) ? FAULT_WRITE : 0;
}

static void fault_signal(int sig, int code, uaddr addr, u64 esr)
{
	current->thread.fault_address = addr;
	current->thread.fault_esr = esr;
	force_signal(sig, code, addr);
}

/* A user access to addr needs a page. */
static void user_page_fault(u64 esr, uaddr addr)
{
	int code = SEGV_MAPERR;
	int sig = mm_fault(current->mm, addr, access_flags(esr) | FAULT_USER, &code);

	if (addr >= USER_MAX)		/* tell nothing of kernel mappings: level 0 translation */
		esr = (esr & ~(u64)ESR_FSC) | 4;
	if (sig > 0)
		fault_signal(sig, code, addr, esr);
}

/* IRQs off on entry (FAR has been read), on afterwards. */
void user_abort(struct pt_regs *regs, u64 esr, u64 far)
{
	irq_enable();
	switch (classify(esr)) {
	case FC_MM:
		user_page_fault(esr, untag(far));
		break;
	case FC_ALIGN:
		fault_signal(SIGBUS, BUS_ADRALN, untag(far), esr);
		break;
	case FC_CONFLICT:
		__asm__ volatile("tlbi vmalle1; dsb nsh; isb" ::: "memory");
		break;
	case FC_BUS:
		fault_signal(SIGBUS, 3 /* BUS_OBJERR */, untag(far), esr);
		break;
	}
}

/* May this context sleep for a page? The interrupted code had IRQs on and holds nothing. */
static bool may_fault_in(const struct pt_regs *regs, const struct ex_entry *e)
{
	return !(e->fixup & EX_NOFAULT) && !(regs->pstate & PSR_I) && !in_irq() &&
	       !this_cpu()->spin_depth && current && current->mm;
}

static bool fault_in(u64 esr, uaddr addr)
{
	int code, sig;

	irq_enable();
	sig = mm_fault(current->mm, addr, access_flags(esr), &code);
	irq_disable();
	return !sig;
}

void kernel_abort(struct pt_regs *regs, u64 esr, u64 far)
{
	const struct ex_entry *e = find_entry(regs->pc);

	if (!e)
		panic_regs(regs, "unexpected kernel access to %#llx (esr %#llx)",
			   (unsigned long long)far, (unsigned long long)esr);
	if (may_fault_in(regs, e) && classify(esr) == FC_MM && far < USER_MAX && fault_in(esr, far))
		return;
	regs->pc = entry_fixup(e);
}

/* Would EL0 be allowed to write here now? Asks the MMU (AT S1E0W) without a fault. */
static bool user_writeable_now(uaddr addr)
{
	u64 flags = irq_save(), par;

	__asm__ volatile("at s1e0w, %1; isb; mrs %0, par_el1" : "=r"(par) : "r"(addr) : "memory");
	irq_restore(flags);
	return !(par & 1);
}

int fault_in_writeable(void __user *p, size_t n)
{
	uaddr a = (uaddr)p, end = a + n;
	int code;

	if (!access_ok(p, n) || !current->mm)
		return -EFAULT;
	for (; n && a < end; a = ALIGN_DOWN(a, PAGE_SIZE) + PAGE_SIZE)
		if (!user_writeable_now(a) && mm_fault(current->mm, a, FAULT_WRITE, &code))
			return -EFAULT;
	return 0;
}
