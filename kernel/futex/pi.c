/* SPDX-License-Identifier: MIT */
/*
 * PI futexes: a lock whose word holds the owner's thread id, so that the kernel knows whom a waiter
 * waits for. unlock hands the word to the first waiter (real-time waiters come first); the death
 * of an owner wakes a waiter, which takes the word over with FUTEX_OWNER_DIED set.
 *
 * Not done: the owner does not inherit the priority of its waiters. Programs work, but a real-time
 * waiter can be held up by tasks of middle priority.
 */
#include "futex.h"
#include <perch/errno.h>
#include <perch/sched.h>
#include <perch/task.h>
#include <perch/uaccess.h>

static u32 nr_pi_waiters;	/* atomic: exit need not look while it is 0 */

/* The first PI waiter for key other than except; NULL if there is none. Bucket locked. */
static struct futex_waiter *first_waiter(struct bucket *b, const struct futex_key *key,
					 const struct futex_waiter *except)
{
	struct futex_waiter *w;

	list_for_each(w, &b->waiters, node)
		if (w != except && w->pi_owner && key_equal(&w->key, key))
			return w;
	return NULL;
}

enum owner_state { OWNER_GONE, OWNER_EXITING, OWNER_ALIVE };

static enum owner_state owner_state(u32 tid)
{
	struct task *t = task_find_get(tid);
	enum owner_state s;

	if (!t)
		return OWNER_GONE;
	s = READ_ONCE(t->flags) & TF_EXITING ? OWNER_EXITING : OWNER_ALIVE;
	task_put(t);
	return s;
}

/* cmpxchg under the lock: 0 done, -EAGAIN the word changed (in *word), -EFAULT. */
static int change_word(u32 __user *p, u32 *word, u32 new)
{
	u32 seen;
	int err = cmpxchg_user32(p, &seen, *word, new);

	if (err || seen == *word)
		return err;
	*word = seen;
	return -EAGAIN;
}

/* Nobody owns the lock (died: because its owner died): take it. */
static int take_free(struct pi_attempt *a, bool died)
{
	u32 new = a->task->pid | (a->word & FUTEX_OWNER_DIED) | a->bits;

	if (died)
		new |= FUTEX_OWNER_DIED;
	if (a->orphan || first_waiter(a->bucket, a->key, NULL))
		new |= FUTEX_WAITERS;	/* orphan: not needed, but Linux does it */
	return change_word(a->p, &a->word, new);
}

/* One try with the word as it was last seen; -EAGAIN: it has changed. Else as pi_try. */
static int try_word(struct pi_attempt *a)
{
	u32 owner = a->word & FUTEX_TID_MASK;
	enum owner_state s;

	if (owner == a->task->pid)
		return -EDEADLK;
	if (!owner)
		return take_free(a, false);
	s = owner_state(owner);
	if (s != OWNER_ALIVE && a->orphan)
		return take_free(a, true);
	if (!(a->word & FUTEX_WAITERS)) {	/* also if nobody will answer, as on Linux */
		int err = change_word(a->p, &a->word, a->word | FUTEX_WAITERS);

		if (err)
			return err;
	}
	if (s == OWNER_GONE)
		return -ESRCH;
	return s == OWNER_EXITING ? -EBUSY : 1;
}

int pi_try(struct pi_attempt *a)
{
	int ret = read_locked(a->p, &a->word);

	if (ret)
		return ret;
	do
		ret = try_word(a);
	while (ret == -EAGAIN);
	return ret;
}

/* As pi_try for the caller; w is queued when the answer is 1 and try is false. */
static int lock_or_queue(u32 __user *p, struct futex_waiter *w, bool orphan, bool try)
{
	struct pi_attempt a = { .p = p, .bucket = bucket_of(&w->key), .key = &w->key,
				.task = current, .orphan = orphan };
	int ret;

	spin_lock(&a.bucket->lock);
	ret = pi_try(&a);
	if (ret == 1 && !try) {
		w->pi_owner = a.word & FUTEX_TID_MASK;
		WRITE_ONCE(current->state, TASK_INTERRUPTIBLE);
		waiter_enqueue(a.bucket, w);
	}
	spin_unlock(&a.bucket->lock);
	return ret;
}

void pi_waiters_enter(void)
{
	atomic_inc(&nr_pi_waiters);
	smp_mb();	/* either we see that the owner exits, or it sees the count */
}

void pi_waiters_leave(void)
{
	atomic_dec(&nr_pi_waiters);
}

/* The owner died before it could know of w: the same as being woken by its exit. */
static int leave_orphan(struct futex_waiter *w)
{
	WRITE_ONCE(current->state, TASK_RUNNING);
	if (!waiter_leave(w))
		w->owner_died = true;
	return 0;
}

/* 0: woken (w->owner_died says how), -EINTR, -ETIMEDOUT. */
static int wait_for_lock(struct futex_waiter *w, ktime deadline)
{
	int err;

	pi_waiters_enter();
	if (owner_state(READ_ONCE(w->pi_owner)) == OWNER_ALIVE)
		err = waiter_sleep(w, deadline);
	else
		err = leave_orphan(w);
	pi_waiters_leave();
	return err;
}

int pi_wait_for_exit(void)
{
	return sleep_until_interruptible(ktime_now() + NSEC_PER_MSEC) ? -ERESTARTNOINTR : 0;
}

/* One round. 1: go round again. */
static int lock_round(u32 __user *p, struct futex_waiter *w, ktime deadline, bool orphan, bool try)
{
	int ret = lock_or_queue(p, w, orphan, try);

	if (ret == -EFAULT)
		return fault_in_writeable(p, sizeof(*p)) ? -EFAULT : 1;
	if (ret == -EBUSY)
		return pi_wait_for_exit() ?: 1;
	if (ret != 1)
		return ret;
	if (try)
		return -EAGAIN;
	ret = wait_for_lock(w, deadline);
	if (ret)
		return ret == -EINTR ? -ERESTARTNOINTR : ret;
	return w->owner_died;	/* else the unlocker gave us the word */
}

long pi_lock(u32 __user *p, bool shared, ktime deadline, bool try, bool orphan)
{
	int ret;

	do {
		struct futex_waiter w = { .task = current, .bitset = FUTEX_BITSET_ANY };

		ret = futex_key(p, shared, &w.key);
		if (!ret)
			ret = lock_round(p, &w, deadline, orphan, try);
		orphan |= w.owner_died;
	} while (ret == 1);
	return ret;
}

long futex_lock_pi(u32 __user *p, bool shared, ktime deadline, bool try)
{
	return pi_lock(p, shared, deadline, try, false);
}

/* Give the word to the first waiter, or to nobody. Bucket locked. */
static int hand_over(u32 __user *p, struct bucket *b, const struct futex_key *key, u32 word)
{
	struct futex_waiter *w = first_waiter(b, key, NULL), *other;
	u32 new = 0;
	int err;

	if (w)
		new = w->task->pid | (first_waiter(b, key, w) ? FUTEX_WAITERS : 0);
	err = change_word(p, &word, new);
	if (err || !w)
		return err;
	waiter_wake(w);
	list_for_each(other, &b->waiters, node)
		if (other->pi_owner && key_equal(&other->key, key))
			other->pi_owner = new & FUTEX_TID_MASK;
	return 0;
}

long futex_unlock_pi(u32 __user *p, bool shared)
{
	struct futex_key key;
	struct bucket *b;
	u32 word;
	int ret;

	for (;;) {
		ret = futex_key(p, shared, &key);
		if (ret)
			return ret;
		b = bucket_of(&key);
		spin_lock(&b->lock);
		ret = read_locked(p, &word);
		if (!ret && (word & FUTEX_TID_MASK) != current->pid)
			ret = -EPERM;
		if (!ret)
			ret = hand_over(p, b, &key, word);
		spin_unlock(&b->lock);
		if (ret != -EAGAIN && (ret != -EFAULT || fault_in_writeable(p, sizeof(*p))))
			return ret;
	}
}

/* For each lock that tid owned and others wait for: the first of them takes over. */
static void wake_orphans(struct bucket *b, u32 tid)
{
	struct futex_waiter *w, *next;

	spin_lock(&b->lock);
	list_for_each_safe(w, next, &b->waiters, node) {
		if (w->pi_owner != tid)
			continue;
		w->owner_died = true;
		waiter_wake(w);
	}
	spin_unlock(&b->lock);
}

void futex_pi_exit(u32 tid)
{
	struct bucket *b;

	smp_mb();
	if (!atomic_read(&nr_pi_waiters))
		return;
	for (u32 i = 0; (b = bucket_nr(i)); i++)
		wake_orphans(b, tid);
}
