/* SPDX-License-Identifier: MIT */
/*
 * The context switch and what leads to it.
 *
 * The queue's lock is held over the whole switch: taken by the task that leaves, released by the
 * one that arrives (finish_switch, on the new stack). So whoever holds the lock of a task's queue
 * and finds the task neither queued nor running knows that its registers are saved: a wake-up never
 * has to wait for a switch in progress, and a dead task is off its stack when it is put.
 */
#include "rq.h"
#include <perch/mm.h>
#include <perch/perf.h>
#include <perch/smp.h>
#include <perch/uaccess.h>

struct rq rqs[NR_CPUS];

static inline void charge_curr(struct rq *rq, ktime now)
{
	struct task *t = rq->curr;
	s64 ns = now - rq->stamp;

	if (unlikely(ns <= 0))
		return;
	rq->stamp = now;
	if (t == rq->idle) {
		rq->idle_time += ns;
		return;
	}
	t->se.sum_exec += ns;
	if (unlikely(rt_task(t)))
		rt_charge(rq, ns, now);
	else
		fair_charge(rq, t, ns);
}

void update_curr(struct rq *rq, ktime now)
{
	charge_curr(rq, now);
}

void enqueue(struct rq *rq, struct task *t, bool head)
{
	ASSERT_DEBUG(!t->se.queued && t->cpu == rq->cpu);
	t->se.queued = true;
	rq->nr_queued++;
	if (unlikely(rt_task(t)))
		rt_enqueue(rq, t, head);
	else
		fair_enqueue(rq, t);
}

void dequeue(struct rq *rq, struct task *t)
{
	ASSERT_DEBUG(t->se.queued);
	t->se.queued = false;
	rq->nr_queued--;
	if (unlikely(rt_task(t)))
		rt_dequeue(rq, t);
	else
		fair_dequeue(rq, t);
}

/* Both flags are set and cleared together, under the lock: the CPU's for idle and cond_resched,
 * the task's for the way to user mode. */
void resched(struct rq *rq)
{
	if (rq->curr->flags & TIF_NEED_RESCHED)
		return;
	atomic_or(&rq->curr->flags, TIF_NEED_RESCHED);
	WRITE_ONCE(cpus[rq->cpu].need_resched, true);
	smp_send_resched(rq->cpu);
}

void check_preempt(struct rq *rq, struct task *woken)
{
	struct task *curr = rq->curr;

	if (curr == rq->idle || woken->rt_prio > curr->rt_prio)
		resched(rq);
	else if (!rt_task(curr) && fair_preempts(rq, woken))
		resched(rq);
}

static struct task *pick_next(struct rq *rq)
{
	struct task *t;

	if (!rq->nr_queued) {
		t = idle_pull(rq);
		return t ? t : rq->idle;
	}
	if (likely(!rq->rt.nr) || (rq->rt_throttled && heap_first(&rq->fair)))
		t = fair_first(rq);
	else
		t = rt_first(rq);
	dequeue(rq, t);
	return t;
}

/* prev is runnable, and no idle task: back into the queue, or away to another CPU. Where all are time-sharing
 * tasks it enters the queue only if it is not to go on. */
static struct task *pick_after(struct rq *rq, struct task *prev)
{
	struct task *first;

	if (unlikely(!task_allowed(prev, rq->cpu))) {
		rq->push = prev;
		return pick_next(rq);
	}
	if (unlikely(rq->rt.nr || rt_task(prev))) {
		enqueue(rq, prev, !rq->to_tail);
		return pick_next(rq);
	}
	first = fair_first(rq);
	if (!first || prev->se.fair.key < first->se.fair.key)
		return prev;
	dequeue(rq, first);
	enqueue(rq, prev, false);
	return first;
}

/* prev ran on the wrong CPU, or has died. rq->lock held: unlocks. */
static noinline void part_with(struct rq *rq, struct task *prev, bool dead)
{
	struct task *push = rq->push;

	if (push) {
		rq->push = NULL;
		push->se.fair.key -= rq->min_vruntime;
		push->cpu = select_cpu(push);
	}
	rq_unlock(rq);
	if (push)
		activate(push);
	if (dead)
		task_put(prev);
}

/* On the new task's stack, IRQs off: prev is saved, the lock goes. */
static inline void finish_switch(struct task *prev)
{
	struct rq *rq = this_rq();
	bool dead = prev->state == TASK_DEAD;

	store_release(&prev->on_cpu, false);
	if (unlikely(rq->push || dead))
		part_with(rq, prev, dead);
	else
		rq_unlock(rq);
}

static inline void context_switch(struct rq *rq, struct task *prev, struct task *next, bool preempt)
{
	bool migrated = false;

	if (unlikely(next->se.last_cpu != (int)rq->cpu)) {
		migrated = next->se.last_cpu >= 0;
		next->nr_migrations += migrated;
		next->se.last_cpu = rq->cpu;
	}
	if (preempt)
		prev->ru.nivcsw++;
	else
		prev->ru.nvcsw++;
	WRITE_ONCE(rq->switches, rq->switches + 1);
	next->on_cpu = true;
	WRITE_ONCE(rq->curr, next);
	WRITE_ONCE(rq->curr_prio, next->rt_prio);
	if (prev == rq->idle)
		tick_start(rq);
	perf_sched_switch(prev, next, preempt, migrated);
	if (next->mm != prev->mm)
		arch_mm_switch(next->mm);
	finish_switch(arch_switch_to(prev, next));
}

void schedule(void)
{
	struct cpu *c = this_cpu();
	u64 flags = irq_save();
	struct rq *rq = c->rq;
	struct task *prev = current, *next;
	bool preempt;

	ASSERT(c->depth == 0);
	rq_lock(rq);
	charge_curr(rq, clock_now());
	preempt = prev->state == TASK_RUNNING;
	if (prev->state & (TASK_UNINTERRUPTIBLE | TASK_KILLABLE))
		rq->nr_blocked++;
	if (c->need_resched) {
		c->need_resched = false;
		atomic_and(&prev->flags, ~TIF_NEED_RESCHED);
	}
	next = preempt && prev != rq->idle ? pick_after(rq, prev) : pick_next(rq);
	rq->to_tail = false;
	if (likely(next != prev))
		context_switch(rq, prev, next, preempt);
	else
		rq_unlock(rq);
	irq_restore(flags);
}

void cond_resched(void)
{
	/* A task about to sleep is not to be put to sleep here, before it tests its condition. */
	if (unlikely(READ_ONCE(this_cpu()->need_resched)) && current->state == TASK_RUNNING)
		schedule();
}

void schedule_tail(struct task *prev)
{
	ASSERT(irqs_off());
	finish_switch(prev);
	irq_enable();
	if (current->set_child_tid && put_user(current->pid, current->set_child_tid))
		current->set_child_tid = NULL;	/* unmapped: as on Linux, nobody is told */
}

u64 nr_context_switches(void)
{
	u64 n = 0;

	for (u32 c = 0; c < nr_cpus; c++)
		n += READ_ONCE(rqs[c].switches);
	return n;
}

void set_task_flag(struct task *t, u32 tif)
{
	atomic_or(&t->flags, tif);
}

bool task_running(struct task *t)
{
	return READ_ONCE(t->on_cpu);
}
