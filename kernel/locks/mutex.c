/* SPDX-License-Identifier: MIT */
/*
 * Sleeping mutexes with hand-off: unlock gives the lock to the first waiter, so nobody can overtake
 * a queue and no wake-up is for nothing. Waiter entries live on the waiters' stacks; a waiter
 * learns that it owns the mutex only under m->lock, under which it was woken, so its stack outlives
 * the waker's interest in it.
 */
#include <perch/errno.h>
#include <perch/sched.h>
#include <perch/wait.h>

struct mutex_waiter {
	struct list node;	/* mutex.waiters; mutex.lock */
	struct task *task;
};

#define CALLER	((u64)__builtin_return_address(0))

static void init(struct mutex *m)
{
	spin_init(&m->lock);
	m->owner = NULL;
	list_init(&m->waiters);
}

#ifdef PERCH_LOCKCHECK
void mutex_init_class(struct mutex *m, struct lock_class *class)
{
	m->class = class;
	init(m);
}
#else
void mutex_init(struct mutex *m)
{
	init(m);
}
#endif

static void assert_may_sleep(void)
{
	might_sleep();
	ASSERT(!in_irq());
	ASSERT(this_cpu()->spin_depth == 0);
}

/* Called and returns with m->lock held. True when the mutex is ours. */
static bool wait_for_owner(struct mutex *m, struct mutex_waiter *w, int state)
{
	while (m->owner != current) {
		WRITE_ONCE(current->state, state);
		spin_unlock(&m->lock);
		if (wait_interrupted(state))
			WRITE_ONCE(current->state, TASK_RUNNING);
		else
			schedule();
		spin_lock(&m->lock);
		if (m->owner != current && wait_interrupted(state)) {
			list_del(&w->node);
			break;
		}
	}
	WRITE_ONCE(current->state, TASK_RUNNING);
	return m->owner == current;
}

static int lock_state(struct mutex *m, int state, u32 sub, u64 caller)
{
	struct mutex_waiter w = { .task = current };
	bool mine;

	assert_may_sleep();
	ASSERT(m->owner != current);
	lockcheck_mutex_order(m, sub, caller);
	spin_lock(&m->lock);
	if (likely(!m->owner)) {
		m->owner = current;
		spin_unlock(&m->lock);
		lockcheck_mutex_got(m, sub, caller);
		return 0;
	}
	list_add_tail(&w.node, &m->waiters);
	mine = wait_for_owner(m, &w, state);
	spin_unlock(&m->lock);
	if (mine)
		lockcheck_mutex_got(m, sub, caller);
	return mine ? 0 : -EINTR;
}

void mutex_lock(struct mutex *m)
{
	int err = lock_state(m, TASK_UNINTERRUPTIBLE, 0, CALLER);

	ASSERT(!err);
}

#ifdef PERCH_LOCKCHECK
void mutex_lock_nested(struct mutex *m, u32 sub)
{
	int err = lock_state(m, TASK_UNINTERRUPTIBLE, sub, CALLER);

	ASSERT(!err);
}
#endif

int mutex_lock_killable(struct mutex *m)
{
	return lock_state(m, TASK_KILLABLE, 0, CALLER);
}

bool mutex_trylock(struct mutex *m)
{
	bool mine;

	spin_lock(&m->lock);
	mine = !m->owner;
	if (mine)
		m->owner = current;
	spin_unlock(&m->lock);
	if (mine)
		lockcheck_mutex_got(m, 0, CALLER);
	return mine;
}

void mutex_unlock(struct mutex *m)
{
	struct mutex_waiter *w;

	ASSERT(m->owner == current);
	lockcheck_mutex_drop(m);
	spin_lock(&m->lock);
	if (likely(list_empty(&m->waiters))) {
		m->owner = NULL;
	} else {
		w = list_first(&m->waiters, struct mutex_waiter, node);
		list_del(&w->node);
		m->owner = w->task;
		wake_up_task(w->task);
	}
	spin_unlock(&m->lock);
}

bool mutex_held(const struct mutex *m)
{
	return READ_ONCE(m->owner) == current;
}
