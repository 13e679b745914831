/* SPDX-License-Identifier: MIT */
/*
 * Call chains and addresses for the perf core (kernel/perf/host.h). Frame records are pairs of (previous
 * frame pointer, return address), AAPCS64 section 6.4.6; a chain is believed as long as it rises.
 *
 * All of this runs with IRQs off, so current and its stack do not change under it.
 */
#include <asm/cpu.h>
#include <asm/ptrace.h>
#include <kernel/perf/host.h>
#include <perch/cpu.h>
#include <perch/mm.h>
#include <perch/task.h>
#include <perch/uaccess.h>

extern char _text[], _etext[];

static bool is_kernel_text(u64 pc)
{
	return pc >= (u64)_text && pc < (u64)_etext;
}

u32 host_callchain_kernel(const struct pt_regs *regs, u64 *ips, u32 max)
{
	u64 lo = (u64)current->stack, hi = lo + KSTACK_SIZE, fp = regs->regs[29];
	u32 n = 0;

	if (max)
		ips[n++] = regs->pc;
	while (n < max && fp >= lo && fp <= hi - 16 && !(fp & 7)) {
		const u64 *record = (const u64 *)fp;

		if (!is_kernel_text(record[1]))
			break;		/* the entry from user space */
		ips[n++] = record[1];
		if (record[0] <= fp)
			break;
		fp = record[0];
	}
	return n;
}

u32 user_frames(u64 fp, u64 *to, u32 max);	/* uaccess.S */

u32 host_callchain_user(const struct pt_regs *regs, u64 *ips, u32 max)
{
	if (!max)
		return 0;
	ips[0] = regs->pc;
	return 1 + user_frames(regs->regs[29], ips + 1, max - 1);
}

/* Own CPU, IRQs off; what host_here_regs does not set stays 0. Of a size that is a power of two: an address is one shift. */
static struct {
	struct pt_regs regs;
} __aligned(512) here[NR_CPUS];

/* As if the caller of the hook had been interrupted right behind its call. */
noinline const struct pt_regs *host_here_regs(void)
{
	const u64 *own = __builtin_frame_address(0), *hook = (const u64 *)own[0];
	struct pt_regs *r = &here[cpu_id()].regs;

	r->regs[29] = r->sp = hook[0];
	r->regs[30] = r->pc = hook[1];
	r->pstate = PSR_MODE_EL1h;
	r->syscallno = -1;
	return r;
}

/* The MMU answers: AT translates without faulting, PAR_EL1 holds the result (Arm ARM D17.2). */
static u64 translate(u64 addr)
{
	u64 par;

	if (addr < USER_MAX)
		__asm__ volatile("at s1e0r, %0" :: "r"(addr) : "memory");
	else
		__asm__ volatile("at s1e1r, %0" :: "r"(addr) : "memory");
	isb();
	par = read_sysreg(par_el1);
	return par & 1 ? 0 : (par & 0x0000fffffffff000ULL) | (addr & (PAGE_SIZE - 1));
}

void host_page_of(u64 addr, u64 *phys, u64 *size)
{
	u64 pa = addr ? translate(addr) : 0;

	if (phys)
		*phys = pa;
	*size = pa ? PAGE_SIZE : 0;
}
