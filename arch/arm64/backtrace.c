/* SPDX-License-Identifier: MIT */
/*
 * Registers and call chains for panic. The walk follows frame records (fp, lr) as AAPCS64 lays them
 * out, and believes a frame pointer only if it lies in the stack it started on and above the one
 * before, so it ends and cannot fault.
 */
#include <asm/ptrace.h>
#include <perch/boot.h>
#include <perch/cpu.h>
#include <perch/mm.h>
#include <perch/printk.h>
#include <perch/task.h>

#include "arch.h"

#define MAX_FRAMES 32

typedef unsigned long long ull;

void arch_show_regs(struct pt_regs *regs)
{
	char name[128];

	printk(KERN_ERR "pc %016llx %s\n", (ull)regs->pc,
	       user_mode(regs) ? "(user)" : ksym_format(regs->pc, name, sizeof(name)));
	printk(KERN_ERR "lr %016llx sp %016llx pstate %08llx syscall %lld\n", (ull)regs->regs[30],
	       (ull)regs->sp, (ull)regs->pstate, (long long)regs->syscallno);
	for (int i = 0; i < 30; i += 3)
		printk(KERN_ERR "x%-2d %016llx x%-2d %016llx x%-2d %016llx\n",
		       i, (ull)regs->regs[i], i + 1, (ull)regs->regs[i + 1],
		       i + 2, (ull)regs->regs[i + 2]);
}

/* The stack that contains sp: current's or the one of early boot. False if it is neither. */
static bool stack_bounds(u64 sp, u64 *lo, u64 *hi)
{
	u64 boot = (u64)boot_stack, own = current ? (u64)current->stack : boot;

	*lo = sp - own < KSTACK_SIZE ? own : boot;
	*hi = *lo + KSTACK_SIZE;
	return sp - *lo < KSTACK_SIZE;
}

static void show_entry(u64 pc)
{
	char name[128];

	if (pc >= (u64)_text && pc < (u64)_etext)
		printk(KERN_ERR "  %016llx %s\n", (ull)pc, ksym_format(pc, name, sizeof(name)));
}

static void walk(u64 fp)
{
	u64 lo, hi;

	if (!stack_bounds(fp, &lo, &hi))
		return;
	for (int i = 0; i < MAX_FRAMES && fp >= lo && fp <= hi - 16 && !(fp & 7); i++) {
		const u64 *record = (const u64 *)fp;

		show_entry(record[1]);
		if (record[0] <= fp)
			return;
		fp = record[0];
	}
}

void arch_backtrace(struct pt_regs *regs)
{
	printk(KERN_ERR "call trace:\n");
	if (!regs) {
		walk(*(u64 *)__builtin_frame_address(0));	/* ours may be gone: a tail call */
		return;
	}
	if (user_mode(regs))
		return;
	show_entry(regs->pc);
	show_entry(regs->regs[30]);
	walk(regs->regs[29]);
}

/* t may start to run meanwhile: then the records are stale, but they stay in its stack. */
u32 arch_stack_trace(struct task *t, u64 *pcs, u32 max)
{
	u64 lo = (u64)t->stack, hi = lo + KSTACK_SIZE;
	u64 fp = t == current ? (u64)__builtin_frame_address(0) : READ_ONCE(t->thread.fp);
	u32 n = 0;

	if (t != current && n < max)
		pcs[n++] = READ_ONCE(t->thread.pc);
	while (n < max && fp >= lo && fp <= hi - 16 && !(fp & 7)) {
		const u64 *record = (const u64 *)fp;
		u64 next = READ_ONCE(record[0]), pc = READ_ONCE(record[1]);

		if (pc < (u64)_text || pc >= (u64)_etext)
			break;
		pcs[n++] = pc;
		if (next <= fp)
			break;
		fp = next;
	}
	return n;
}
