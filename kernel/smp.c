/* SPDX-License-Identifier: MIT */
/*
 * Work for another CPU, and work for this CPU in a moment.
 *
 * Both are per-CPU lists: call requests come from other CPUs, have a waiter, and are drained by the CALL interrupt;
 * irq work comes from the own CPU, from places that hold locks under which it may not run, and is drained at the end
 * of every interrupt: of the one in which it was queued, else of a CALL that the CPU sends to itself. Requests are
 * pushed without a lock, so they work from anywhere. The caller of
 * call_on_cpu waits with interrupts on: requests that others send to it meanwhile are served by its
 * interrupt, so no cycle of waiters can form.
 */
#include <asm/smp.h>
#include <perch/atomic.h>
#include <perch/boot.h>
#include <perch/cpu.h>
#include <perch/errno.h>
#include <perch/sched.h>
#include <perch/smp.h>

struct call_request {
	struct call_request *next;
	void (*fn)(void *);
	void *arg;
	bool done;		/* release: after it the request is the caller's again */
};

static struct call_queue {
	struct call_request *calls;	/* pushed by any CPU */
	struct irq_work *running;	/* own CPU writes, others wait for it to change */
} __aligned(64) queues[NR_CPUS];

static void push_call(struct call_queue *q, struct call_request *r)
{
	do
		r->next = atomic_read(&q->calls);
	while (!atomic_cas(&q->calls, r->next, r));
}

int call_on_cpu(u32 cpu, void (*fn)(void *), void *arg)
{
	struct call_request rq = { .fn = fn, .arg = arg };

	ASSERT(!irqs_off() && !in_irq() && this_cpu()->spin_depth == 0);
	if (!cpu_is_online(cpu))
		return -ENXIO;
	if (cpu == cpu_id()) {
		irq_disable();
		fn(arg);
		irq_enable();
		return 0;
	}
	push_call(&queues[cpu], &rq);
	arch_send_ipi(cpu, IPI_CALL);
	while (!load_acquire(&rq.done))
		cpu_relax();
	return 0;
}

/* Oldest first: requests were pushed on the front. */
static struct call_request *reverse(struct call_request *r)
{
	struct call_request *out = NULL;

	while (r) {
		struct call_request *next = r->next;

		r->next = out;
		out = r;
		r = next;
	}
	return out;
}

static void run_calls(struct call_queue *q)
{
	struct call_request *r = reverse(atomic_xchg(&q->calls, NULL));

	while (r) {
		struct call_request *next = r->next;

		r->fn(r->arg);
		store_release(&r->done, true);
		r = next;
	}
}

bool irq_work_queue(struct irq_work *w)
{
	struct cpu *c;
	u64 flags;

	if (atomic_xchg(&w->queued, true))
		return false;
	flags = irq_save();
	c = this_cpu();
	w->next = c->irq_work;
	c->irq_work = w;
	if (!c->irq_depth)
		arch_send_ipi(c->id, IPI_CALL);
	irq_restore(flags);
	return true;
}

static struct irq_work *take_work(struct cpu *c)
{
	struct irq_work *w = c->irq_work, *out = NULL;

	c->irq_work = NULL;
	while (w) {
		struct irq_work *next = w->next;

		w->next = out;
		out = w;
		w = next;
	}
	return out;
}

void irq_work_run(void)
{
	struct cpu *c = this_cpu();
	struct call_queue *q = &queues[c->id];
	struct irq_work *w = take_work(c);

	ASSERT(irqs_off() && c->irq_depth);

	while (w) {
		struct irq_work *next = w->next;

		atomic_set(&q->running, w);
		(void)atomic_xchg(&w->queued, false);	/* fn may queue it again */
		w->fn(w);
		store_release(&q->running, NULL);
		w = next;
	}
	if (c->irq_work)	/* queued by those: not for ever in this interrupt */
		arch_send_ipi(c->id, IPI_CALL);
}

static bool work_runs(struct irq_work *w)
{
	for (u32 c = 0; c < nr_cpus; c++)
		if (load_acquire(&queues[c].running) == w)
			return true;
	return false;
}

/* running is set before queued is cleared, so a work item is never invisible in between. */
void irq_work_sync(struct irq_work *w)
{
	ASSERT(!irqs_off() && !in_irq());
	while (load_acquire(&w->queued) || work_runs(w))
		cpu_relax();
}

void smp_handle_call(void)
{
	ASSERT(irqs_off());
	run_calls(&queues[cpu_id()]);
}

void smp_send_resched(u32 cpu)
{
	if (cpu != cpu_id())
		arch_send_ipi(cpu, IPI_RESCHED);
}

void smp_stop_others(void)
{
	for_each_online_cpu(c)
		if (c != cpu_id())
			arch_send_ipi(c, IPI_STOP);
}

/* A CPU that does not come up within this time is left out. */
#define START_TIMEOUT (1 * NSEC_PER_SEC)

static void start_cpu(u32 cpu)
{
	ktime end = ktime_now() + START_TIMEOUT;
	int err = arch_cpu_start(cpu);

	if (err) {
		pr_warn("smp: CPU %u cannot be started: error %d\n", cpu, -err);
		return;
	}
	while (!load_acquire(&cpus[cpu].online)) {
		if (ktime_now() > end) {
			pr_warn("smp: CPU %u does not answer\n", cpu);
			return;
		}
		cpu_relax();
	}
}

/* maxcpus=N starts fewer CPUs than there are; they stay possible. 0 and 1: the boot CPU alone. */
void smp_init(void)
{
	long max = cmdline_int("maxcpus", nr_cpus);

	for (u32 c = 0; c < nr_cpus && (long)__builtin_popcountll(cpu_online_mask) < max; c++)
		if (!cpu_is_online(c))
			start_cpu(c);
}
