/* SPDX-License-Identifier: MIT */
/*
 * Wait queues.
 *
 * The order that makes sleeping safe: a sleeper queues itself and sets its state under the queue's
 * lock *before* it tests its condition; a waker makes the condition true *before* it takes the
 * queue's lock. Whoever comes second under the lock sees what the other did: either the waker finds
 * the entry with its state set, or the sleeper's test sees the condition.
 *
 * Only the sleeper takes its entry off, always under the lock, so a waker that is still looking at
 * an entry (which lies on the sleeper's stack) keeps the sleeper from leaving.
 */
#include <perch/sched.h>
#include <perch/wait.h>

#ifdef PERCH_LOCKCHECK
void waitq_init_class(struct waitq *q, struct lock_class *class)
{
	spin_init_class(&q->lock, class);
	list_init(&q->list);
}
#endif

static inline u64 wq_lock(spinlock *l, u32 sub)
{
	u64 flags = irq_save();

	spin_lock_uncounted(l, sub);
	return flags;
}

static inline void wq_unlock(spinlock *l, u64 flags)
{
	spin_unlock_uncounted(l);
	irq_restore(flags);
}

bool default_wake(struct wait_entry *w, void *key)
{
	return wake_up_task(w->task);
}

/* Non-exclusive entries first: a wake-up passes all of them before it counts exclusive ones. */
static void waitq_link(struct waitq *q, struct wait_entry *w)
{
	if (w->exclusive)
		list_add_tail(&w->node, &q->list);
	else
		list_add(&w->node, &q->list);
}

void waitq_add(struct waitq *q, struct wait_entry *w)
{
	u64 flags = wq_lock(&q->lock, 0);

	waitq_link(q, w);
	wq_unlock(&q->lock, flags);
}

static inline void unlink(struct waitq *q, struct wait_entry *w)
{
	u64 flags = wq_lock(&q->lock, 0);

	list_del(&w->node);
	wq_unlock(&q->lock, flags);
}

void waitq_remove(struct waitq *q, struct wait_entry *w)
{
	unlink(q, w);
}

static inline void wake_locked(struct waitq *q, int nr, void *key)
{
	struct wait_entry *w, *next;

	list_for_each_safe(w, next, &q->list, node) {
		bool exclusive = w->exclusive;

		if (w->func(w, key) && exclusive && --nr == 0)
			break;
	}
}

void wake_up_nested(struct waitq *q, int nr, void *key, u32 sub)
{
	u64 flags = wq_lock(&q->lock, sub);

	wake_locked(q, nr, key);
	wq_unlock(&q->lock, flags);
}

void prepare_to_wait(struct waitq *q, struct wait_entry *w, int state, bool exclusive)
{
	u64 flags;

	might_sleep();
	flags = wq_lock(&q->lock, 0);

	if (!w->task) {
		w->task = current;
		w->func = default_wake;
		w->exclusive = exclusive;
		waitq_link(q, w);
	}
	WRITE_ONCE(current->state, state);
	wq_unlock(&q->lock, flags);
	smp_mb();	/* state before the caller's condition, also for wakers without the lock */
}

void finish_wait(struct waitq *q, struct wait_entry *w)
{
	WRITE_ONCE(current->state, TASK_RUNNING);
	unlink(q, w);
	w->task = NULL;
}

bool wait_interrupted(int state)
{
	if (state == TASK_INTERRUPTIBLE)
		return signal_pending(current);
	if (state == TASK_KILLABLE)
		return fatal_signal_pending(current);
	return false;
}

/*
 * Completions are often on the waiter's stack: the waiter may only leave once complete() is
 * through with the structure, so both sides do everything under wq.lock.
 */
void completion_init(struct completion *c)
{
	waitq_init(&c->wq);
	c->done = false;
}

void complete(struct completion *c)
{
	u64 flags = wq_lock(&c->wq.lock, 0);

	c->done = true;
	wake_locked(&c->wq, 0, NULL);
	wq_unlock(&c->wq.lock, flags);
}

void wait_for_completion(struct completion *c)
{
	u64 flags;

	wait_event(&c->wq, READ_ONCE(c->done));
	flags = wq_lock(&c->wq.lock, 0);
	ASSERT(c->done);
	wq_unlock(&c->wq.lock, flags);
}
