/* SPDX-License-Identifier: MIT */
/*
 * A task's machine state: how it is born, switched and leaves for user mode.
 *
 * FP/SIMD registers belong to user mode alone (bulk.S gives back what it borrows, and never sleeps).
 * They are saved at each switch away from a user task and loaded at each switch to one, except when
 * this CPU still holds them: fp_owner[cpu] names the task whose state the registers of that CPU are,
 * thread.fp_cpu the CPU that a task's state was last loaded on. Both must agree. Kernel threads have no such state, so user -> idle -> same user
 * task loads nothing.
 */
#include <asm/offsets.h>
#include <asm/ptrace.h>
#include <perch/cpu.h>
#include <perch/mm.h>
#include <perch/sched.h>
#include <perch/signal.h>
#include <perch/task.h>
#include <string.h>

#include "arch.h"

static struct task *fp_owner[NR_CPUS];	/* own CPU */

struct pt_regs *task_pt_regs(struct task *t)
{
	return (struct pt_regs *)((char *)t->stack + KSTACK_SIZE) - 1;
}

static bool has_fp_state(const struct task *t)
{
	return !(t->flags & (TF_KTHREAD | TF_IDLE));
}

static inline struct fpsimd_state *fp_to_save(struct task *prev)
{
	return has_fp_state(prev) ? &prev->thread.fpsimd : NULL;
}

/* What has to be loaded when next comes: then this CPU's registers are its own. */
static inline struct fpsimd_state *fp_to_load(struct task *next, u32 cpu)
{
	if (!has_fp_state(next) || (fp_owner[cpu] == next && next->thread.fp_cpu == cpu))
		return NULL;
	fp_owner[cpu] = next;
	next->thread.fp_cpu = cpu;
	return &next->thread.fpsimd;
}

/* current's registers were changed in memory (exec, sigreturn): make them real. IRQs on. */
void fpsimd_reload_current(void)
{
	u64 flags = irq_save();
	u32 cpu = cpu_id();

	fpsimd_load(&current->thread.fpsimd);
	fp_owner[cpu] = current;
	current->thread.fp_cpu = cpu;
	irq_restore(flags);
}

/* A task's memory may be reused for another one: no CPU may take its registers for the new task's.
 * A new task's fp_cpu is NR_CPUS, so its first switch-in always loads. */
static void fpsimd_forget(struct task *t)
{
	t->thread.fp_cpu = NR_CPUS;
}

struct task *arch_switch_to(struct task *prev, struct task *next)
{
	struct cpu *c = this_cpu();

	prev->thread.tpidr_el0 = read_sysreg(tpidr_el0);
	write_sysreg(next->thread.tpidr_el0, tpidr_el0);
	c->curr = next;
	/*
	 * prev may go on elsewhere: cache and TLB maintenance that it began here (EL0 may maintain
	 * caches) is completed only by a DSB of this CPU. And membarrier wants a full barrier
	 * between the store to curr and what next does in user mode.
	 */
	dsb(ish);
	return cpu_switch(prev, next, fp_to_save(prev), fp_to_load(next, c->id));
}

static void prepare_switch_in(struct task *t, u64 fn, u64 arg)
{
	struct thread *th = &t->thread;

	memset(th->x19_x28, 0, sizeof(th->x19_x28));
	th->x19_x28[0] = fn;
	th->x19_x28[1] = arg;
	th->fp = 0;
	th->sp = (u64)task_pt_regs(t);
	th->pc = (u64)ret_from_fork;
	th->fault_address = th->fault_esr = 0;
	fpsimd_forget(t);
}

void arch_fork_thread(struct task *child, const struct pt_regs *regs, uaddr stack, uaddr tls,
		      bool settls)
{
	struct pt_regs *r = task_pt_regs(child);
	u64 flags = irq_save();

	*r = *regs;
	r->regs[0] = 0;
	r->syscallno = -1;
	if (stack)
		r->sp = stack;
	if (has_fp_state(current))
		fpsimd_save(&current->thread.fpsimd);
	child->thread.fpsimd = current->thread.fpsimd;
	child->thread.tpidr_el0 = settls ? tls : read_sysreg(tpidr_el0);
	child->thread.tpidrro_el0 = 0;
	irq_restore(flags);
	prepare_switch_in(child, 0, 0);
}

void arch_kthread_thread(struct task *child, int (*fn)(void *), void *arg)
{
	struct pt_regs *r = task_pt_regs(child);

	memset(r, 0, sizeof(*r));
	r->syscallno = -1;
	memset(&child->thread, 0, sizeof(child->thread));
	prepare_switch_in(child, (u64)fn, (u64)arg);
}

/* ret_from_fork calls this when a kernel thread's function returns: after kernel_execve that leads
 * to the new program, else the thread ends here. */
void kthread_returned(int ret)
{
	(void)ret;
	if (!current->mm)
		do_exit(0);
}

void arch_exec_thread(struct pt_regs *regs, uaddr entry, uaddr sp)
{
	memset(regs, 0, sizeof(*regs));
	regs->pc = entry;
	regs->sp = sp;
	regs->pstate = PSR_MODE_EL0t;
	regs->syscallno = -1;
}

void arch_flush_thread(struct task *t)
{
	ASSERT(t == current);
	memset(&t->thread.fpsimd, 0, sizeof(t->thread.fpsimd));
	t->thread.tpidr_el0 = 0;
	t->thread.fault_address = t->thread.fault_esr = 0;
	write_sysreg(0, tpidr_el0);
	fpsimd_reload_current();
}

void exit_to_user_work(struct pt_regs *regs)
{
	u32 flags;

	ASSERT(irqs_off());
	while ((flags = READ_ONCE(current->flags)) & EXIT_WORK_FLAGS) {
		irq_enable();
		if (flags & TIF_NEED_RESCHED)
			schedule();		/* clears it */
		if (flags & (TIF_SIGPENDING | TF_RESTORE_SIGMASK))
			do_signal(regs);
		if (flags & TIF_NOTIFY)
			task_notify();
		irq_disable();
	}
}
