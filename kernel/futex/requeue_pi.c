/* SPDX-License-Identifier: MIT */
/*
 * Condition variables whose mutex is a PI futex.
 *
 * A thread waits on the condition's word and says which PI lock it needs next (WAIT_REQUEUE_PI). Who
 * signals does not wake it to fight for the lock: CMP_REQUEUE_PI tries to get the lock in the name of
 * the first waiter, and those who must wait are moved to the lock's queue, where pi.c's unlock hands it
 * to them one by one. A waiter that is woken therefore owns the lock, unless the owner died: then it
 * takes the lock over like any waiter of pi.c.
 *
 * Word and lock must be different, each waiter must have named the lock it is moved to, and both kinds
 * of waiters must not meet on one word: all else is -EINVAL, as on Linux.
 */
#include "futex.h"
#include <perch/errno.h>
#include <perch/sched.h>
#include <perch/uaccess.h>

/* --- the waiter */

/* Woken because the lock's owner died. The wait cannot be restarted: the word has changed. */
static long take_over(u32 __user *lock, bool shared, ktime deadline)
{
	long ret = pi_lock(lock, shared, deadline, false, true);

	return ret == -ERESTARTNOINTR ? -EAGAIN : ret;
}

/* A signal or the deadline came first. Moved waiters are not restarted, for the same reason. */
static long early_end(const struct futex_waiter *w, int err)
{
	if (err != -EINTR)
		return err;
	return w->pi_owner ? -EAGAIN : -ERESTARTNOINTR;
}

static long wait_and_own(u32 __user *p, bool shared, u32 val, ktime deadline, u32 __user *lock,
			 struct futex_waiter *w)
{
	int err = futex_wait_setup(p, shared, val, w);

	if (err)
		return err;
	err = waiter_sleep(w, deadline);
	if (err)
		return early_end(w, err);
	return w->owner_died ? take_over(lock, shared, deadline) : 0;
}

long futex_wait_requeue_pi(u32 __user *p, bool shared, u32 val, ktime deadline, u32 __user *p2)
{
	struct futex_waiter w = { .task = current, .bitset = FUTEX_BITSET_ANY };
	struct two_keys t;
	long ret;

	if (p == p2)
		return -EINVAL;
	ret = get_two(p, p2, shared, &t);
	if (ret)
		return ret;
	if (key_equal(&t.k[0], &t.k[1]))
		return -EINVAL;
	w.target = &t.k[1];
	pi_waiters_enter();
	ret = wait_and_own(p, shared, val, deadline, p2, &w);
	pi_waiters_leave();
	return ret;
}

/* --- who signals */

static bool may_move(const struct futex_waiter *w, const struct two_keys *t)
{
	return w->target && !w->pi_owner && key_equal(w->target, &t->k[1]);
}

/* Give w the lock, or let it wait there. 0 or an error of pi_try. Both buckets locked. */
static int move_or_own(struct futex_waiter *w, struct two_keys *t, struct pi_attempt *a)
{
	int ret;

	a->task = w->task;
	smp_mb();	/* its pi_waiters_enter, before the look at whether the owner exits */
	ret = pi_try(a);
	if (ret < 0)
		return ret;
	if (!ret) {
		waiter_wake(w);
		return 0;
	}
	move_waiter(w, t);
	w->pi_owner = a->word & FUTEX_TID_MASK;
	return 0;
}

/* Until limit waiters have left the first word; *n counts them. */
static int move_waiters(struct two_keys *t, struct pi_attempt *a, long limit, long *n)
{
	struct futex_waiter *w, *next;

	list_for_each_safe(w, next, &t->b[0]->waiters, node) {
		int err;

		if (*n >= limit)
			break;
		if (!key_equal(&w->key, &t->k[0]))
			continue;
		err = may_move(w, t) ? move_or_own(w, t, a) : -EINVAL;
		if (err)
			return err;
		++*n;
	}
	return 0;
}

/* One round under the locks. -EFAULT: a page of one of the words is absent. */
static int requeue_round(u32 __user *p, struct two_keys *t, struct pi_attempt *a, u32 expected,
			 long limit, long *n)
{
	u32 cur;
	int ret;

	lock_two(t->b[0], t->b[1]);
	ret = read_locked(p, &cur);
	if (!ret && cur != expected && !*n)
		ret = -EAGAIN;
	if (!ret)
		ret = move_waiters(t, a, limit, n);
	unlock_two(t->b[0], t->b[1]);
	return ret;
}

/* After a round: 0 done, 1 once more, or an error. */
static int settle(int ret, u32 __user *p, u32 __user *lock)
{
	u32 cur;

	if (ret == -EFAULT)
		return get_user(cur, p) || fault_in_writeable(lock, sizeof(*lock)) ? -EFAULT : 1;
	if (ret == -EBUSY)
		return pi_wait_for_exit() ?: 1;
	return ret;
}

long futex_cmp_requeue_pi(u32 __user *p, u32 __user *p2, bool shared, int nr_wake, int nr_requeue,
			  u32 expected)
{
	struct pi_attempt a = { .p = p2, .bits = nr_requeue ? FUTEX_WAITERS : 0 };
	struct two_keys t;
	long n = 0;
	int ret;

	if (nr_requeue < 0 || p == p2 || nr_wake != 1)
		return -EINVAL;
	do {
		ret = get_two(p, p2, shared, &t);
		if (ret)
			return ret;
		if (key_equal(&t.k[0], &t.k[1]))
			return -EINVAL;
		a.bucket = t.b[1];
		a.key = &t.k[1];
		ret = settle(requeue_round(p, &t, &a, expected, 1L + nr_requeue, &n), p, p2);
	} while (ret == 1);
	return ret ? ret : n;
}
