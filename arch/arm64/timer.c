/* SPDX-License-Identifier: MIT */
/*
 * The generic timer (Arm ARM D11): the virtual counter is the clock, the virtual timer of each CPU
 * its one-shot comparator. Its interrupt is a level: it stays up until the comparator is moved into
 * the future or switched off.
 */
#include <asm/counter.h>
#include <asm/cpu.h>
#include <asm/dt.h>
#include <perch/cpu.h>
#include <perch/irq.h>
#include <perch/printk.h>
#include <perch/time.h>

#include "arch.h"

#define VIRTUAL_TIMER	2	/* index of its interrupt: secure, non-secure, virtual, hyp */
#define DEFAULT_INTID	27
#define TICK_SHIFT	56	/* ticks = ns * tick_mult >> TICK_SHIFT */

static u32 intid = DEFAULT_INTID;
static u64 tick_mult;		/* rounded up, so that no timer fires early by rounding */

u64 timer_counter(void)
{
	return read_counter();
}

u64 timer_freq(void)
{
	return read_sysreg(cntfrq_el0);
}

void arch_timer_program(ktime expires)
{
	u64 ticks;

	if (expires == KTIME_MAX) {
		write_sysreg(0, cntv_ctl_el0);
		return;
	}
	ticks = (u64)((unsigned __int128)(u64)expires * tick_mult >> TICK_SHIFT) + 1;
	write_sysreg(ticks, cntv_cval_el0);
	write_sysreg(1, cntv_ctl_el0);
	isb();
}

static void timer_irq(u32 id, struct pt_regs *regs, void *arg)
{
	struct cpu *c = this_cpu();

	c->timer_regs = regs;
	timer_interrupt();
	c->timer_regs = NULL;
}

struct pt_regs *timer_regs(void)
{
	return this_cpu()->timer_regs;
}

void arch_timer_init(void)
{
	int node = dt_find("arm,armv8-timer", -1);
	u64 freq = timer_freq();

	if (!freq)
		panic("CNTFRQ_EL0 is 0: the firmware did not set the timer's frequency");
	tick_mult = (u64)((((unsigned __int128)freq << TICK_SHIFT) + NSEC_PER_SEC - 1) /
			  NSEC_PER_SEC);
	if (node >= 0)
		dt_irq(node, VIRTUAL_TIMER, &intid);
	if (irq_request(intid, timer_irq, NULL, "arch_timer"))
		panic("cannot have the timer's interrupt %u", intid);
}

void arch_timer_init_cpu(void)
{
	write_sysreg(0, cntv_ctl_el0);
	isb();
	irq_enable_percpu(intid);
}
