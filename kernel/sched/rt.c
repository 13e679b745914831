/* SPDX-License-Identifier: MIT */
/*
 * Real-time tasks: one list for each priority, the highest non-empty one runs first. FIFO tasks
 * keep the CPU until they sleep or somebody higher comes (then they stay first of their priority);
 * RR tasks go to the end of their list after 100 ms.
 *
 * A real-time task that never sleeps would shut out everything else: as on Linux, in each second
 * real-time tasks get at most 950 ms of a CPU while others wait for it.
 */
#include "rq.h"

#define RT_PERIOD	(1000 * NSEC_PER_MSEC)
#define RT_RUNTIME	(950 * NSEC_PER_MSEC)

void rt_queue_init(struct rt_queue *q)
{
	for (int i = 0; i <= MAX_RT_PRIO; i++)
		list_init(&q->list[i]);
}

void rt_enqueue(struct rq *rq, struct task *t, bool head)
{
	struct rt_queue *q = &rq->rt;
	u32 p = t->rt_prio;

	ASSERT(p >= 1 && p <= MAX_RT_PRIO);
	if (head)
		list_add(&t->se.node, &q->list[p]);
	else
		list_add_tail(&t->se.node, &q->list[p]);
	q->bitmap[p / 64] |= BIT(p % 64);
	q->nr++;
}

void rt_dequeue(struct rq *rq, struct task *t)
{
	struct rt_queue *q = &rq->rt;
	u32 p = t->rt_prio;

	list_del(&t->se.node);
	if (list_empty(&q->list[p]))
		q->bitmap[p / 64] &= ~BIT(p % 64);
	q->nr--;
}

struct task *rt_first(struct rq *rq)
{
	struct rt_queue *q = &rq->rt;
	u32 p;

	if (q->bitmap[1])
		p = 127 - __builtin_clzll(q->bitmap[1]);
	else if (q->bitmap[0])
		p = 63 - __builtin_clzll(q->bitmap[0]);
	else
		return NULL;
	return list_first(&q->list[p], struct task, se.node);
}

/* Count real-time CPU time; a throttled queue serves others until its period ends. */
void rt_charge(struct rq *rq, u64 ns, ktime now)
{
	if (now >= rq->rt_period_end) {
		rq->rt_period_end = now + RT_PERIOD;
		rq->rt_used = 0;
		rq->rt_throttled = false;
	}
	rq->rt_used += ns;
	if (rq->rt_used > RT_RUNTIME)
		rq->rt_throttled = true;
}

bool rt_tick(struct rq *rq, struct task *curr)
{
	if (rq->rt_throttled && heap_first(&rq->fair))
		return true;
	if (curr->policy != SCHED_RR)
		return false;
	if (curr->se.slice_left > TICK_NSEC) {
		curr->se.slice_left -= TICK_NSEC;
		return false;
	}
	curr->se.slice_left = RR_SLICE;
	return !list_empty(&rq->rt.list[curr->rt_prio]);
}
