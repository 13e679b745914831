/* SPDX-License-Identifier: MIT */
/*
 * Sleeping mutexes with hand-off: unlock gives the lock to the first waiter, so nobody can overtake
 * a queue and no wake-up is for nothing. Waiter entries live on the waiters' stacks; a waiter
 * learns that it owns the mutex only under m->lock, under which it was woken, so its stack outlives
 * the waker's interest in it.
 *
 * Without contention a mutex is one word: taken by exchanging 0 for the task, released by exchanging
 * the task for 0. Who finds it taken sets bit 0 (under m->lock) before it queues, and then the exchange at
 * release fails and the queue is looked at. The bit is set exactly while somebody is queued, apart from a
 * waiter that a signal took away.
 */
#include <perch/errno.h>
#include <perch/sched.h>
#include <perch/wait.h>

#define HAS_WAITERS 1ULL

struct mutex_waiter {
	struct list node;	/* mutex.waiters; mutex.lock */
	struct task *task;
};

#define CALLER	((u64)__builtin_return_address(0))

#ifdef PERCH_LOCKCHECK
void mutex_init_class(struct mutex *m, struct lock_class *class)
{
	m->class = class;
	spin_init(&m->lock);
	m->owner = 0;
	list_init(&m->waiters);
}
#endif

static void assert_may_sleep(void)
{
	might_sleep();
	ASSERT(this_cpu()->depth == 0);
}

static u64 me(void)
{
	return (u64)current;
}

bool mutex_held(const struct mutex *m)
{
	return (READ_ONCE(m->owner) & ~HAS_WAITERS) == me();
}

static inline bool try_exchange(struct mutex *m)
{
	return atomic_cas(&m->owner, 0, me());
}

/* Called and returns with m->lock held. True when the mutex is ours. */
static bool wait_for_owner(struct mutex *m, struct mutex_waiter *w, int state)
{
	while (!mutex_held(m)) {
		WRITE_ONCE(current->state, state);
		spin_unlock(&m->lock);
		smp_mb();	/* state before signals: pairs with kick_task */
		if (wait_interrupted(state))
			WRITE_ONCE(current->state, TASK_RUNNING);
		else
			schedule();
		spin_lock(&m->lock);
		if (!mutex_held(m) && wait_interrupted(state)) {
			list_del(&w->node);
			break;
		}
	}
	WRITE_ONCE(current->state, TASK_RUNNING);
	return mutex_held(m);
}

/* Take it, or announce a waiter. m->lock held. True: it is ours. */
static bool take_or_announce(struct mutex *m)
{
	u64 owner = atomic_read(&m->owner);

	for (;;) {
		u64 next = owner ? owner | HAS_WAITERS : me();

		if (__atomic_compare_exchange_n(&m->owner, &owner, next, false, __ATOMIC_ACQ_REL,
						__ATOMIC_RELAXED))
			return !owner;
	}
}

static noinline int lock_slow(struct mutex *m, int state)
{
	struct mutex_waiter w = { .task = current };
	bool mine;

	ASSERT(!mutex_held(m));
	spin_lock(&m->lock);
	mine = take_or_announce(m);
	if (!mine) {
		list_add_tail(&w.node, &m->waiters);
		mine = wait_for_owner(m, &w, state);
	}
	spin_unlock(&m->lock);
	return mine ? 0 : -EINTR;
}

/* Slow without a way to fail, called last: mutex_lock needs no frame of its own. */
static noinline void lock_slow_surely(struct mutex *m)
{
	int err = lock_slow(m, TASK_UNINTERRUPTIBLE);

	ASSERT(!err);
}

static inline void lock_surely(struct mutex *m, u32 sub, u64 caller)
{
	assert_may_sleep();
	lockcheck_mutex_order(m, sub, caller);
	if (unlikely(!try_exchange(m)))
		lock_slow_surely(m);
	lockcheck_mutex_got(m, sub, caller);
}

void mutex_lock(struct mutex *m)
{
	lock_surely(m, 0, CALLER);
}

#ifdef PERCH_LOCKCHECK
void mutex_lock_nested(struct mutex *m, u32 sub)
{
	lock_surely(m, sub, CALLER);
}
#endif

int mutex_lock_killable(struct mutex *m)
{
	int err = 0;

	assert_may_sleep();
	lockcheck_mutex_order(m, 0, CALLER);
	if (unlikely(!try_exchange(m)))
		err = lock_slow(m, TASK_KILLABLE);
	if (!err)
		lockcheck_mutex_got(m, 0, CALLER);
	return err;
}

bool mutex_trylock(struct mutex *m)
{
	bool mine = try_exchange(m);

	if (mine)
		lockcheck_mutex_got(m, 0, CALLER);
	return mine;
}

/* Hand it to the first waiter, if it is still there. */
static noinline void unlock_slow(struct mutex *m)
{
	struct mutex_waiter *w;

	ASSERT(mutex_held(m));
	spin_lock(&m->lock);
	if (list_empty(&m->waiters)) {
		store_release(&m->owner, 0);
	} else {
		w = list_first(&m->waiters, struct mutex_waiter, node);
		list_del(&w->node);
		store_release(&m->owner, (u64)w->task | (list_empty(&m->waiters) ? 0 : HAS_WAITERS));
		wake_up_task(w->task);
	}
	spin_unlock(&m->lock);
}

void mutex_unlock(struct mutex *m)
{
	lockcheck_mutex_drop(m);
	if (unlikely(!atomic_cas(&m->owner, me(), 0)))
		unlock_slow(m);
}
