/* SPDX-License-Identifier: MIT */
/*
 * Idle tasks: one for each possible CPU, made on the boot CPU before the others start, because a
 * CPU starts on its idle task's stack. They are in no queue; a CPU runs its own when it has nothing
 * else.
 */
#include "rq.h"
#include <perch/mm.h>
#include <perch/page.h>
#include <stdio.h>

static struct task *make_idle(u32 cpu)
{
	struct task *t = kzalloc(sizeof(*t));

	if (t)
		t->stack = kstack_alloc();
	if (!t || !t->stack)
		panic("no memory for the idle task of CPU %u", cpu);
	t->flags = TF_KTHREAD | TF_IDLE;
	t->state = TASK_RUNNING;
	ref_init(&t->refs, 1);
	snprintf(t->comm, sizeof(t->comm), "swapper/%u", cpu);
	list_init(&t->thread_node);
	list_init(&t->pid_node);
	list_init(&t->timer_list);
	list_init(&t->se.node);
	spin_init(&t->alloc_lock);
	sigpending_init(&t->pending);
	t->cred.cap_effective = t->cred.cap_permitted = t->cred.cap_bounding = CAP_FULL;
	t->cpu = t->se.last_cpu = cpu;
	t->cpus_allowed = BIT(nr_cpus) - 1;	/* what the first threads inherit */
	t->se.weight = NICE0_WEIGHT;
	t->slack_ns = 50 * NSEC_PER_USEC;
	t->exit_signal = -1;
	return t;
}

static void rq_init(u32 cpu)
{
	struct rq *rq = &rqs[cpu];

	spin_init(&rq->lock);
	rq->cpu = cpu;
	rt_queue_init(&rq->rt);
	rq->idle = rq->curr = make_idle(cpu);
	tick_setup(rq);
	cpus[cpu].rq = rq;
	cpus[cpu].idle = cpus[cpu].curr = rq->idle;
}

void sched_init(void)
{
	for (u32 c = 0; c < nr_cpus; c++)
		rq_init(c);
	set_current(this_cpu()->idle);
	atomic_or(&cpu_online_mask, BIT(cpu_id()));
	this_cpu()->online = true;
}

void sched_init_cpu(void)
{
	struct rq *rq = this_rq();

	ASSERT(irqs_off());
	set_current(rq->idle);
	rq->idle->on_cpu = true;
	acct_start(rq, ktime_now());
	if (cpu_online_mask == BIT(cpu_id()))
		loadavg_start();
}

/* With IRQs masked, WFI still ends at an interrupt: none slips in between the test and the wait. */
void cpu_idle(void)
{
	struct cpu *c = this_cpu();

	for (;;) {
		irq_disable();
		while (!READ_ONCE(c->need_resched)) {
			wfi();
			irq_enable();
			isb();
			irq_disable();
		}
		irq_enable();
		schedule();
	}
}
