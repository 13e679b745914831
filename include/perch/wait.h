/* SPDX-License-Identifier: MIT */
/*
 * Wait queues, sleeping mutexes and completions.
 *
 * wake_up may be called from any context (it takes wq->lock and then a run-queue lock, both
 * with IRQs off). An entry's func decides what waking means: the default wakes a task; poll
 * and epoll put their own.
 */
#ifndef PERCH_WAIT_H
#define PERCH_WAIT_H

#include <perch/list.h>
#include <perch/spinlock.h>
#include <perch/time.h>

struct task;
struct waitq {
	spinlock lock;
	struct list list;	/* of wait_entry; lock */
};

struct wait_entry {
	struct list node;	/* waitq.lock */
	struct task *task;
	/* Called under waitq.lock, IRQs off. key: poll event mask or NULL for "everything". Returns
	 * true if it woke somebody (counts against exclusive wake-ups). */
	bool (*func)(struct wait_entry *, void *key);
	bool exclusive;
};

#define WAITQ_INIT(name) { SPINLOCK_INIT, LIST_INIT((name).list) }
#ifdef PERCH_LOCKCHECK
#define waitq_init(q)	waitq_init_class(q, LOCK_CLASS(#q))
void waitq_init_class(struct waitq *q, struct lock_class *class);
#else
static inline void waitq_init(struct waitq *q)
{
	spin_init(&q->lock);
	list_init(&q->list);
}
#endif
static inline bool waitq_active(const struct waitq *q) { return !list_empty(&q->list); }
bool default_wake(struct wait_entry *w, void *key);
void waitq_add(struct waitq *q, struct wait_entry *w);
void waitq_remove(struct waitq *q, struct wait_entry *w);
/* Wake all non-exclusive waiters and up to nr exclusive ones (0: all). Any context. _nested: under another
 * queue's lock, from its wait_entry.func; sub as in spin_lock_nested. */
void wake_up_nested(struct waitq *q, int nr, void *key, u32 sub);
static inline void wake_up_nr(struct waitq *q, int nr, void *key) { wake_up_nested(q, nr, key, 0); }
static inline void wake_up_all(struct waitq *q) { wake_up_nr(q, 0, NULL); }
static inline void wake_up_one(struct waitq *q) { wake_up_nr(q, 1, NULL); }
/* With a poll mask as key: waiters that asked for other events are left asleep. */
static inline void wake_up_poll(struct waitq *q, unsigned mask)
{
	wake_up_nr(q, 1, (void *)(unsigned long)mask);
}

/* Queue the current task and set its state; the caller then tests its condition and sleeps. */
void prepare_to_wait(struct waitq *q, struct wait_entry *w, int state, bool exclusive);
void finish_wait(struct waitq *q, struct wait_entry *w);
/* schedule() that also ends at the monotonic deadline (KTIME_MAX: never). False at timeout. */
bool schedule_until(ktime deadline);
void schedule(void);		/* sched.h */
#define __sleep(deadline)							\
	(__builtin_constant_p(deadline) && (deadline) == KTIME_MAX ?		\
	 (schedule(), true) : schedule_until(deadline))

/* States for prepare_to_wait (also struct task.state). */
#define TASK_RUNNING		0
#define TASK_INTERRUPTIBLE	1	/* any signal wakes it */
#define TASK_UNINTERRUPTIBLE	2	/* only wake_up */
#define TASK_KILLABLE		4	/* wake_up or SIGKILL */
#define TASK_STOPPED		8	/* job control: SIGCONT or SIGKILL */
#define TASK_DEAD		16	/* zombie or gone: never runs again */

/*
 * Sleep until cond holds. Value: 0, or -ERESTARTSYS when a signal (for KILLABLE: a fatal one)
 * is pending, or -ETIMEDOUT at the deadline; cond is tested once more before either error.
 */
#define __wait_event(q, cond, st, excl, deadline) ({				\
	long _r = 0;								\
	if (!(cond)) {								\
		struct wait_entry _w;						\
										\
		_w.task = NULL;							\
		for (;;) {							\
			prepare_to_wait(q, &_w, st, excl);			\
			if (cond)						\
				break;						\
			if (wait_interrupted(st)) {				\
				_r = -512;					\
				break;						\
			}							\
			if (!__sleep(deadline)) {			\
				_r = (cond) ? 0 : -110;				\
				break;						\
			}							\
			if (cond)						\
				break;						\
		}								\
		finish_wait(q, &_w);						\
	}									\
	_r; })
/* Does a pending signal end a sleep of this kind? Own task. */
bool wait_interrupted(int state);

#define wait_event(q, cond)		((void)__wait_event(q, cond, TASK_UNINTERRUPTIBLE, false, KTIME_MAX))
#define wait_event_killable(q, cond)	__wait_event(q, cond, TASK_KILLABLE, false, KTIME_MAX)
#define wait_event_interruptible(q, cond) __wait_event(q, cond, TASK_INTERRUPTIBLE, false, KTIME_MAX)
#define wait_event_interruptible_excl(q, cond) __wait_event(q, cond, TASK_INTERRUPTIBLE, true, KTIME_MAX)
#define wait_event_interruptible_until(q, cond, t) __wait_event(q, cond, TASK_INTERRUPTIBLE, false, t)

/* Sleeping lock. Process context only; not recursive (asserted). Fair enough: FIFO hand-off. */
struct mutex {
	spinlock lock;		/* of the queue */
	u64 owner;		/* the task, bit 0: there are waiters; 0: free (a) */
	struct list waiters;	/* lock */
#ifdef PERCH_LOCKCHECK
	struct lock_class *class;	/* NULL: static, not met yet */
#endif
};
#define MUTEX_INIT(name) { .lock = SPINLOCK_INIT, .waiters = LIST_INIT((name).waiters) }
#ifdef PERCH_LOCKCHECK
#define mutex_init(m)	mutex_init_class(m, LOCK_CLASS(#m))
void mutex_init_class(struct mutex *m, struct lock_class *class);
/* The second mutex of a class, where the callers have an order (say which at the call). sub: 1 to
 * LOCK_SUBCLASSES - 1. */
void mutex_lock_nested(struct mutex *m, u32 sub);
#else
static inline void mutex_init(struct mutex *m)
{
	spin_init(&m->lock);
	m->owner = 0;
	list_init(&m->waiters);
}
#define mutex_lock_nested(m, sub) mutex_lock(m)
#endif
void mutex_lock(struct mutex *m);
int __must_check mutex_lock_killable(struct mutex *m);	/* 0 or -EINTR */
bool mutex_trylock(struct mutex *m);
void mutex_unlock(struct mutex *m);
bool mutex_held(const struct mutex *m);	/* by the current task */

struct completion {
	struct waitq wq;
	bool done;
};
void completion_init(struct completion *c);
void complete(struct completion *c);		/* any context */
void wait_for_completion(struct completion *c);	/* process context */

#endif
