/* SPDX-License-Identifier: MIT */
/*
 * Moving queued tasks between CPUs. Wake-ups already choose idle CPUs, so what is left is: a CPU
 * that runs out of work pulls one task from the longest queue; a busy CPU's tick pokes an idle one
 * if something waits that could run there; and every 64 ms a CPU whose queue is shorter than
 * another's by two takes one. The second queue's lock is only tried: missing a chance is better
 * than waiting.
 */
#include "rq.h"
#include <perch/smp.h>

#define BALANCE_TICKS	16
#define SCAN_LIMIT	32	/* tasks looked at under a lock */

/* A queued task of src that may run on cpu, real-time ones first; NULL if none is found quickly. */
static struct task *pullable(struct rq *src, u32 cpu)
{
	struct heap_node *n = heap_first(&src->fair);
	struct task *t = rt_first(src);

	if (t && task_allowed(t, cpu))
		return t;
	for (int i = 0; n && i < SCAN_LIMIT; i++, n = heap_next(n)) {
		t = container_of(n, struct task, se.fair);
		if (task_allowed(t, cpu))
			return t;
	}
	return NULL;
}

/* Both locks held: t leaves src and belongs to dst, in no queue. */
static void take(struct rq *dst, struct rq *src, struct task *t)
{
	dequeue(src, t);
	t->se.fair.key += dst->min_vruntime - src->min_vruntime;
	t->cpu = dst->cpu;
}

static struct task *try_pull(struct rq *dst, struct rq *src)
{
	struct task *t;

	if (!spin_trylock(&src->lock))
		return NULL;
	t = pullable(src, dst->cpu);
	if (t)
		take(dst, src, t);
	spin_unlock(&src->lock);
	return t;
}

/* The queue with most waiting tasks, at least so many; a CPU about to leave idle serves its own. */
static struct rq *busiest(struct rq *self, u32 at_least)
{
	struct rq *best = NULL;

	for (u32 c = 0; c < nr_cpus; c++) {
		struct rq *rq = &rqs[c];
		u32 n = READ_ONCE(rq->nr_queued);

		if (rq == self || n < at_least || READ_ONCE(rq->curr) == rq->idle)
			continue;
		best = rq;
		at_least = n + 1;
	}
	return best;
}

struct task *idle_pull(struct rq *rq)
{
	struct rq *src = busiest(rq, 1);

	return src ? try_pull(rq, src) : NULL;
}

static void even_out(struct rq *rq)
{
	struct rq *src = busiest(rq, rq->nr_queued + 2);
	struct task *t = src ? try_pull(rq, src) : NULL;

	if (!t)
		return;
	enqueue(rq, t, false);
	check_preempt(rq, t);
}

/* Wake an idle CPU that could run one of our waiting tasks: it will pull. */
static void poke_idle(struct rq *rq)
{
	for_each_online_cpu(c) {
		if (c == rq->cpu || !rq_idle(&rqs[c]) || !pullable(rq, c))
			continue;
		WRITE_ONCE(cpus[c].need_resched, true);
		smp_send_resched(c);
		return;
	}
}

void balance_tick(struct rq *rq)
{
	if (rq->nr_queued)
		poke_idle(rq);
	if (++rq->ticks % BALANCE_TICKS == 0)
		even_out(rq);
}
