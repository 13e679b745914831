/* SPDX-License-Identifier: MIT */
/* What the files of the scheduler share: the run queue and the steps on it. Theory: README.md. */
#ifndef KERNEL_SCHED_RQ_H
#define KERNEL_SCHED_RQ_H

#include <perch/clock.h>
#include <perch/cpu.h>
#include <perch/heap.h>
#include <perch/sched.h>
#include <perch/spinlock.h>
#include <perch/time.h>

#define TASK_NEW	32	/* forked, not yet given to wake_up_new_task: nothing wakes it */

#define MAX_RT_PRIO	99	/* real-time priorities are 1..99, higher wins */
#define RR_SLICE	(100 * NSEC_PER_MSEC)
#define NICE0_WEIGHT	1024
#define IDLE_WEIGHT	3	/* SCHED_IDLE */
#define SLEEPER_CREDIT	(3 * NSEC_PER_MSEC)	/* how far a sleeper may lag behind when it wakes */
#define WAKEUP_GRAN	(1 * NSEC_PER_MSEC)	/* lead that a wake-up must have to preempt */

/* Kinds of CPU time, by what a tick interrupts. */
enum cpu_time { CT_USER, CT_NICE, CT_SYSTEM, NR_CPU_TIMES };

struct rt_queue {
	u64 bitmap[2];			/* bit prio: list not empty */
	struct list list[MAX_RT_PRIO + 1];
	u32 nr;
};

/*
 * One per CPU. Every member is under lock unless it says otherwise. The running task is in no
 * queue: runnable tasks of a CPU are curr (unless idle) and the queued ones. The size is a power of two:
 * a CPU's number is shifted, not multiplied.
 */
struct rq {
	spinlock lock;			/* irqsave; a second one only by trylock */
	u32 cpu;			/* immutable */
	u32 nr_queued;			/* peeked without lock */
	struct task *curr;		/* compared, never followed, without the lock: it may be freed meanwhile */
	u32 curr_prio;			/* its rt_prio; peeked without lock */
	struct task *idle;		/* immutable */
	struct heap fair;		/* by virtual runtime */
	s64 min_vruntime;		/* never falls; where newcomers are placed */
	struct rt_queue rt;
	struct task *push;		/* left this CPU runnable: it may not run here */
	s32 nr_blocked;			/* uninterruptible sleepers; only their sum counts */
	ktime stamp;			/* until when this CPU's time is accounted */
	u64 time[NR_CPU_TIMES], idle_time;	/* ns */
	u64 sampled;			/* of stamp - idle_time, ns busy: as much is of a kind (acct.c) */
	u64 rt_used;			/* ns of real-time tasks in this throttle period */
	ktime rt_period_end;
	bool rt_throttled;
	bool to_tail;			/* curr goes behind its equals (yield, end of RR slice) */

	/* own CPU, IRQs off */
	struct timer tick;
	u32 tick_holds;
	u32 ticks;			/* since boot, for periodic work */
	u64 switches;			/* others look at it, too */
} __aligned(2048);

extern struct rq rqs[NR_CPUS];

static inline struct rq *this_rq(void)
{
	return this_cpu()->rq;
}

static inline bool rt_task(const struct task *t)
{
	return t->rt_prio > 0;
}

static inline bool task_allowed(const struct task *t, u32 cpu)
{
	return READ_ONCE(t->cpus_allowed) & BIT(cpu);
}

/* Nothing runs or waits there (racy without the lock: a hint). */
static inline bool rq_idle(const struct rq *rq)
{
	return READ_ONCE(rq->curr) == rq->idle && !READ_ONCE(rq->nr_queued);
}

/* IRQs off. */
static inline void rq_lock(struct rq *rq)
{
	spin_lock_uncounted(&rq->lock, 0);
}
static inline void rq_unlock(struct rq *rq)
{
	spin_unlock_uncounted(&rq->lock);
}

/* Lock the queue of the CPU that t belongs to; it stays that one while the lock is held. */
static inline struct rq *task_rq_lock(struct task *t, u64 *flags)
{
	for (;;) {
		struct rq *rq;
		u32 cpu;

		*flags = irq_save();
		cpu = READ_ONCE(t->cpu);
		rq = &rqs[cpu];
		rq_lock(rq);
		if (likely(t->cpu == cpu))
			return rq;
		rq_unlock(rq);
		irq_restore(*flags);
	}
}

static inline void task_rq_unlock(struct rq *rq, u64 flags)
{
	rq_unlock(rq);
	irq_restore(flags);
}

/* core.c. rq->lock held. */
void update_curr(struct rq *rq, ktime now);	/* own CPU or not: charges curr */
void enqueue(struct rq *rq, struct task *t, bool head);
void dequeue(struct rq *rq, struct task *t);
void resched(struct rq *rq);			/* make curr give way as soon as it can */
void check_preempt(struct rq *rq, struct task *woken);

/* wake.c */
u32 select_cpu(struct task *t);
/* t is runnable, in no queue, and belongs to t->cpu; no rq lock held. Puts it into a queue. */
void activate(struct task *t);

/* fair.c, rt.c. rq->lock held. */
u32 nice_weight(int nice);
static inline void fair_enqueue(struct rq *rq, struct task *t)
{
	heap_insert(&rq->fair, &t->se.fair);
}
static inline void fair_dequeue(struct rq *rq, struct task *t)
{
	heap_remove(&rq->fair, &t->se.fair);
}
static inline struct task *fair_first(struct rq *rq)
{
	struct heap_node *n = heap_first(&rq->fair);

	return n ? container_of(n, struct task, se.fair) : NULL;
}
/* What ns of CPU time are in t's virtual runtime. */
static inline u64 fair_scale(const struct task *t, u64 ns)
{
	if (unlikely(t->se.weight != NICE0_WEIGHT))
		ns = ns * NICE0_WEIGHT / t->se.weight;
	return ns;
}
/* min_vruntime follows the smallest runtime of the queue and the running task. */
static inline void fair_charge(struct rq *rq, struct task *t, u64 ns)
{
	struct heap_node *first = heap_first(&rq->fair);
	s64 v = t->se.fair.key += fair_scale(t, ns);

	if (first && first->key < v)
		v = first->key;
	if (v > rq->min_vruntime)
		rq->min_vruntime = v;
}
/* A sleeper comes back: bound its credit. */
static inline void fair_place(struct rq *rq, struct task *t)
{
	s64 floor = rq->min_vruntime - SLEEPER_CREDIT;

	if (t->se.fair.key < floor)
		t->se.fair.key = floor;
}
/*
 * Is the running task so much ahead of woken that it has to give way? What it has used since it was last charged
 * counts, but the clock is read only if that matters.
 */
static inline bool fair_preempts(const struct rq *rq, const struct task *woken)
{
	const struct task *curr = rq->curr;
	s64 ahead = curr->se.fair.key - woken->se.fair.key - WAKEUP_GRAN;

	if (curr->policy == SCHED_IDLE)
		return woken->policy != SCHED_IDLE;
	if (woken->policy != SCHED_OTHER)
		return false;
	return ahead > 0 || ahead + (s64)fair_scale(curr, clock_now() - rq->stamp) > 0;
}
void fair_yield(struct rq *rq, struct task *t);
bool fair_tick(struct rq *rq, struct task *curr);	/* true: time is up */
void rt_queue_init(struct rt_queue *q);
void rt_enqueue(struct rq *rq, struct task *t, bool head);
void rt_dequeue(struct rq *rq, struct task *t);
struct task *rt_first(struct rq *rq);
bool rt_tick(struct rq *rq, struct task *curr);
void rt_charge(struct rq *rq, u64 ns, ktime now);

/* balance.c. rq->lock held. idle_pull: a task taken from another CPU, in no queue, or NULL. */
struct task *idle_pull(struct rq *rq);
void balance_tick(struct rq *rq);

/* tick.c, acct.c */
void tick_start(struct rq *rq);			/* own CPU leaves idle; IRQs off */
void tick_setup(struct rq *rq);
void acct_start(struct rq *rq, ktime now);	/* own CPU begins to account its time */
void acct_tick(struct rq *rq, struct task *curr);
void loadavg_start(void);

#endif
