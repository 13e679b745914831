/* SPDX-License-Identifier: MIT */
/*
 * The 4 ms tick: time slices, samples of user and system time, balancing, CPU-time timers and
 * perf's periodic work. It runs while a CPU is busy and while somebody holds it (sched_tick_get).
 * Going idle does not stop it: the next tick finds the CPU idle and does not arm itself again, so a
 * CPU that is idle for short times only pays nothing for starting and stopping.
 */
#include "rq.h"
#include <perch/perf.h>

/* CPUs tick at different moments, so that their ticks do not meet on the locks. */
static ktime next_tick(u32 cpu)
{
	ktime skew = (ktime)cpu * (TICK_NSEC / NR_CPUS);

	return ((ktime_now() - skew) / TICK_NSEC + 1) * TICK_NSEC + skew;
}

void tick_start(struct rq *rq)
{
	if (!timer_armed(&rq->tick))
		timer_start(&rq->tick, next_tick(rq->cpu));
}

static void tick_timer(struct timer *t)
{
	struct rq *rq = container_of(t, struct rq, tick);

	if (rq_idle(rq) && !rq->tick_holds)
		return;
	sched_tick();
	tick_start(rq);
}

void tick_setup(struct rq *rq)
{
	timer_setup(&rq->tick, tick_timer);
}

/* Has curr had enough? rq->lock held. */
static bool slice_over(struct rq *rq, struct task *curr)
{
	if (rt_task(curr))
		return rt_tick(rq, curr);
	if (rq->rt.nr) {
		rt_charge(rq, 0, rq->stamp);
		if (!rq->rt_throttled)
			return true;
	}
	return fair_tick(rq, curr);
}

void sched_tick(void)
{
	struct rq *rq = this_rq();
	struct task *curr = current;

	ASSERT(irqs_off());
	rq_lock(rq);
	update_curr(rq, ktime_now());
	if (curr != rq->idle) {
		acct_tick(rq, curr);
		if (rq->nr_queued && slice_over(rq, curr)) {
			rq->to_tail = true;
			resched(rq);
		}
		balance_tick(rq);
	}
	rq_unlock(rq);
	if (curr != rq->idle)
		itimers_tick(curr);
	perf_tick(rq->cpu);
}

void sched_tick_get(void)
{
	struct rq *rq = this_rq();

	ASSERT(irqs_off());
	rq->tick_holds++;
	tick_start(rq);
}

void sched_tick_put(void)
{
	struct rq *rq = this_rq();

	ASSERT(irqs_off() && rq->tick_holds > 0);
	rq->tick_holds--;
}
