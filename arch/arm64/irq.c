/* SPDX-License-Identifier: MIT */
/*
 * Interrupts: from the vector to the handler, registration, and interrupts between CPUs (SGIs,
 * asm/smp.h).
 *
 * An interrupt is acknowledged, handled and ended with IRQs masked throughout: no nesting. If more
 * are pending, the CPU takes the next one right after the return.
 */
#include <asm/cpu.h>
#include <asm/ptrace.h>
#include <asm/smp.h>
#include <perch/atomic.h>
#include <perch/cpu.h>
#include <perch/errno.h>
#include <perch/irq.h>
#include <perch/lockcheck.h>
#include <perch/page.h>
#include <perch/printk.h>
#include <perch/sched.h>
#include <perch/smp.h>
#include <perch/spinlock.h>

#include "arch.h"
#include "gic.h"

#define NR_INTIDS	1024	/* with those that are none, and have no line */

struct irq_line {
	u32 intid;		/* immutable */
	irq_handler fn;		/* immutable */
	void *arg;		/* immutable */
	const char *name;	/* immutable */
	u64 counts[NR_CPUS];	/* own CPU */
};

static struct gic_ops *gic;
static bool sysreg_gic;				/* gic is GICv3 */
static spinlock irq_lock;			/* irqsave: registration and routing */
static struct irq_line *lines[NR_INTIDS];	/* irq_lock to change; set once */
static struct irq_line *in_order[64];		/* irq_lock to change; for irq_describe */
static u32 nr_lines;

void gic_init(void)
{
	sysreg_gic = gicv3_ops.init();
	if (sysreg_gic)
		gic = &gicv3_ops;
	else if (gicv2_ops.init())
		gic = &gicv2_ops;
	else
		panic("no interrupt controller in the device tree");
	gic_init_cpu();
}

void gic_init_cpu(void)
{
	gic->init_cpu();
}

/* --- registration ------------------------------------------------------------------------ */

static int add_line(struct irq_line *l)
{
	u64 flags = spin_lock_irqsave(&irq_lock);
	int err = lines[l->intid] ? -EBUSY : nr_lines == ARRAY_SIZE(in_order) ? -ENOSPC : 0;

	if (!err) {
		in_order[nr_lines] = l;
		store_release(&nr_lines, nr_lines + 1);
		store_release(&lines[l->intid], l);
		if (l->intid >= 32) {
			gic->route(l->intid, 0);
			gic->enable(l->intid);
		}
	}
	spin_unlock_irqrestore(&irq_lock, flags);
	return err;
}

int irq_request(u32 intid, irq_handler fn, void *arg, const char *name)
{
	struct irq_line *l;
	int err;

	if (intid < 16 || intid >= gic->nr_intids)
		return -EINVAL;
	l = kzalloc(sizeof(*l));
	if (!l)
		return -ENOMEM;
	l->intid = intid;
	l->fn = fn;
	l->arg = arg;
	l->name = name;
	err = add_line(l);
	if (err)
		kfree(l);
	return err;
}

void irq_enable_percpu(u32 intid)
{
	ASSERT(intid >= 16 && intid < 32);
	gic->enable(intid);
}

void irq_mask(u32 intid)
{
	ASSERT(intid >= 16 && intid < gic->nr_intids);
	gic->disable(intid);
}

int irq_set_affinity(u32 intid, u32 cpu)
{
	u64 flags;

	if (intid < 32 || intid >= gic->nr_intids || !cpu_is_online(cpu))
		return -EINVAL;
	flags = spin_lock_irqsave(&irq_lock);
	gic->route(intid, cpu);
	spin_unlock_irqrestore(&irq_lock, flags);
	return 0;
}

bool irq_describe(u32 index, u32 *intid, const char **name, u64 counts[NR_CPUS])
{
	if (index >= load_acquire(&nr_lines))
		return false;
	*intid = in_order[index]->intid;
	*name = in_order[index]->name;
	for (int i = 0; i < NR_CPUS; i++)
		counts[i] = READ_ONCE(in_order[index]->counts[i]);
	return true;
}

/* --- interrupts between CPUs ------------------------------------------------------------- */

void arch_send_ipi(u32 cpu, int kind)
{
	ASSERT(cpu < nr_cpus && kind < NR_IPIS);
	if (gic && cpu_is_online(cpu))
		gic->send(cpu, (u32)kind);
}

static void __noreturn stop_this_cpu(void)
{
	irq_disable();
	for (;;)
		wfi();
}

/* RESCHED does nothing more: the interrupt itself ends WFI or user mode, and the way back looks at
 * the flags. A CPU that was in the kernel carries need_resched over to its task's flags, for when
 * it returns to user mode. */
static void handle_ipi(u32 kind)
{
	switch (kind) {
	case IPI_RESCHED:
		if (READ_ONCE(this_cpu()->need_resched) && current)
			set_task_flag(current, TIF_NEED_RESCHED);
		break;
	case IPI_CALL:
		smp_handle_call();
		break;
	case IPI_STOP:
		stop_this_cpu();
	}
}

/* --- the way in -------------------------------------------------------------------------- */

typedef u64 gic_ack_fn(void);
typedef void gic_eoi_fn(u64 ack);

static inline u32 enter(struct cpu *c)
{
	u32 held = lockcheck_irq_enter();

	c->irq_depth = 1;
	return held;
}

static inline void leave(struct cpu *c, u32 held)
{
	if (unlikely(c->irq_work))
		irq_work_run();
	c->irq_depth = 0;
	lockcheck_irq_exit(held);
}

/* Of another CPU, or of nobody that we know. */
static noinline void handle_other(struct cpu *c, u64 ack, gic_eoi_fn *eoi)
{
	u32 intid = (u32)ack & 0x3ff, held;

	if (unlikely(intid >= GIC_SPURIOUS))
		return;
	held = enter(c);
	eoi(ack);		/* first: a stopped CPU does not come back */
	if (intid < 16) {
		c->ipi_count++;
		handle_ipi(intid);
	} else {
		WARN_ONCE(true, "interrupt %u without a handler\n", intid);
	}
	leave(c, held);
}

static inline __attribute__((always_inline)) void handle(struct pt_regs *regs, gic_ack_fn *take, gic_eoi_fn *eoi)
{
	struct cpu *c = this_cpu();
	u64 ack = take();
	struct irq_line *l = READ_ONCE(lines[ack & (NR_INTIDS - 1)]);	/* enabled after it was set */
	u32 held;

	if (unlikely(!l)) {
		handle_other(c, ack, eoi);
		return;
	}
	held = enter(c);
	l->counts[c->id]++;
	l->fn(l->intid, regs, l->arg);
	eoi(ack);
	leave(c, held);
}

static noinline void dispatch_gicv2(struct pt_regs *regs)
{
	handle(regs, gic->ack, gic->eoi);
}

/* For GICv3 the two ends are a few instructions, and inline. */
void irq_dispatch(struct pt_regs *regs)
{
	if (likely(sysreg_gic))
		handle(regs, gicv3_ack, gicv3_eoi);
	else
		dispatch_gicv2(regs);
}
