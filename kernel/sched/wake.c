/* SPDX-License-Identifier: MIT */
/*
 * Waking: from "asleep" to "in the queue of the best CPU".
 *
 * A sleeping task belongs to the CPU where it last ran; that queue's lock serialises all who want
 * to wake it and its own way into sleep. When another CPU shall run it, it changes hands without
 * two locks: under the old one it becomes TASK_RUNNING and gets the new CPU number (now it is in
 * transit: in no queue, and nobody else will put it into one), then the waker alone takes the new
 * queue's lock and inserts it. If its affinity was changed in between, the waker sees that under
 * the new lock and moves on.
 */
#include "rq.h"
#include <perch/smp.h>

static bool may_use(struct task *t, u32 cpu)
{
	return cpu_is_online(cpu) && task_allowed(t, cpu);
}

/* An idle CPU for t, the one it ran on if possible; -1 if there is none. */
static int idle_cpu_for(struct task *t)
{
	u32 c = t->cpu;

	for (u32 i = 0; i < nr_cpus; i++, c = c + 1 < nr_cpus ? c + 1 : 0)
		if (rq_idle(&rqs[c]) && may_use(t, c))
			return c;
	return -1;
}

/* How unwelcome t would be on a CPU: real-time tasks mind the priority there, others the crowd. */
static u32 cost_on(struct task *t, struct rq *rq)
{
	u32 prio = READ_ONCE(rq->curr_prio);

	if (rt_task(t))
		return prio;
	return 2 * READ_ONCE(rq->nr_queued) + (prio ? 2 : 0);
}

/* The old CPU is worth one queued task: caches are warm there. */
static u32 least_loaded(struct task *t)
{
	u32 best = t->cpu, best_cost = UINT32_MAX;

	if (may_use(t, t->cpu)) {
		best_cost = cost_on(t, &rqs[t->cpu]);
		best_cost -= min_t(u32, best_cost, 2);
	}
	for (u32 c = 0; c < nr_cpus; c++) {
		u32 cost;

		if (!may_use(t, c))
			continue;
		cost = cost_on(t, &rqs[c]);
		if (cost < best_cost) {
			best = c;
			best_cost = cost;
		}
	}
	return best;
}

u32 select_cpu(struct task *t)
{
	u64 may = READ_ONCE(t->cpus_allowed) & READ_ONCE(cpu_online_mask);
	int idle;

	if (may && !(may & (may - 1)))
		return (u32)__builtin_ctzll(may);	/* no choice */
	idle = idle_cpu_for(t);
	return idle >= 0 ? (u32)idle : least_loaded(t);
}

/* rq->lock held: t joins rq, to which it belongs. The running task is not charged for that: min_vruntime may be
 * behind by a tick, and with it the bound of t's credit. */
static inline void join(struct rq *rq, struct task *t)
{
	fair_place(rq, t);
	enqueue(rq, t, false);
	check_preempt(rq, t);
}

void activate(struct task *t)
{
	u64 flags = irq_save();
	struct rq *rq;

	for (;;) {
		rq = &rqs[t->cpu];
		rq_lock(rq);
		if (likely(task_allowed(t, rq->cpu)))
			break;
		t->cpu = select_cpu(t);
		rq_unlock(rq);
	}
	t->se.fair.key += rq->min_vruntime;
	join(rq, t);
	rq_unlock(rq);
	irq_restore(flags);
}

static inline bool no_choice(const struct rq *rq, const struct task *t)
{
	return (READ_ONCE(t->cpus_allowed) & READ_ONCE(cpu_online_mask)) == BIT(rq->cpu);
}

/* rq->lock of t held, t matched: unlocks. */
static inline void wake_and_unlock(struct rq *rq, struct task *t, u64 flags)
{
	u32 old = t->state, cpu;

	WRITE_ONCE(t->state, TASK_RUNNING);
	if (rq->curr == t || t->se.queued) {	/* it had not gone to sleep yet */
		task_rq_unlock(rq, flags);
		return;
	}
	if (old & (TASK_UNINTERRUPTIBLE | TASK_KILLABLE))
		rq->nr_blocked--;
	if (no_choice(rq, t) || (cpu = select_cpu(t)) == rq->cpu) {
		join(rq, t);
		task_rq_unlock(rq, flags);
		return;
	}
	t->se.fair.key -= rq->min_vruntime;
	t->cpu = cpu;
	rq_unlock(rq);
	activate(t);
	irq_restore(flags);
}

bool wake_up_state(struct task *t, u32 mask)
{
	struct rq *rq;
	u64 flags;

	smp_mb();	/* what the caller changed, before the state: pairs with prepare_to_wait */
	if (!(READ_ONCE(t->state) & mask))
		return false;
	rq = task_rq_lock(t, &flags);
	if (!(t->state & mask)) {
		task_rq_unlock(rq, flags);
		return false;
	}
	wake_and_unlock(rq, t, flags);
	return true;
}

/*
 * A task that is neither woken nor running will pass exit_to_user_work before it sees user mode,
 * and so see its flags. One that runs in user mode, or is about to, takes the interrupt there.
 */
void kick_task(struct task *t, u32 mask)
{
	struct rq *rq;
	u64 flags;

	smp_mb();
	rq = task_rq_lock(t, &flags);
	if (t->state & mask) {
		wake_and_unlock(rq, t, flags);
		return;
	}
	if (rq->curr == t)
		smp_send_resched(rq->cpu);
	task_rq_unlock(rq, flags);
}

void sched_fork(struct task *child)
{
	struct task *t = current;
	bool reset = t->reset_on_fork;

	child->state = TASK_NEW;
	child->on_cpu = false;
	child->cpu = cpu_id();
	child->cpus_allowed = t->cpus_allowed;
	child->nr_migrations = 0;
	child->reset_on_fork = false;
	child->policy = t->policy;
	child->rt_prio = t->rt_prio;
	child->nice = t->nice;
	if (reset && rt_task(t)) {
		child->policy = SCHED_OTHER;
		child->rt_prio = 0;
	}
	if (reset && child->nice < 0)
		child->nice = 0;
	child->se = (struct sched_entity){
		.fair.key = WAKEUP_GRAN,	/* in transit: relative. A little behind */
		.slice_left = RR_SLICE,
		.last_cpu = -1,
		.weight = child->policy == SCHED_IDLE ? IDLE_WEIGHT : nice_weight(child->nice),
	};
	list_init(&child->se.node);
}

void wake_up_new_task(struct task *t)
{
	struct rq *rq;
	u64 flags;

	rq = task_rq_lock(t, &flags);
	ASSERT(t->state == TASK_NEW);
	WRITE_ONCE(t->state, TASK_RUNNING);
	t->cpu = select_cpu(t);
	rq_unlock(rq);
	activate(t);
	irq_restore(flags);
}
