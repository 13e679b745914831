/* SPDX-License-Identifier: MIT */
/* Waiting on a futex word, waking, moving waiters to another word, and wake with an operation. */
#include "futex.h"
#include <perch/errno.h>
#include <perch/futex.h>
#include <perch/sched.h>
#include <perch/uaccess.h>

int futex_wait_setup(u32 __user *p, bool shared, u32 val, struct futex_waiter *w)
{
	for (;;) {
		int err = futex_key(p, shared, &w->key);
		struct bucket *b;
		u32 cur;

		if (err)
			return err;
		b = bucket_of(&w->key);
		spin_lock(&b->lock);
		smp_mb();	/* lock, then word: futex_wake looks without the lock */
		err = read_locked(p, &cur);
		if (!err && cur == val) {
			WRITE_ONCE(current->state, TASK_INTERRUPTIBLE);
			waiter_enqueue(b, w);
			spin_unlock(&b->lock);
			return 0;
		}
		spin_unlock(&b->lock);
		if (!err)
			return -EAGAIN;
		if (get_user(cur, p))
			return -EFAULT;
	}
}

static long wait_restart(struct task *t)
{
	u64 *a = t->restart.arg;

	return futex_wait((u32 __user *)a[0], a[1], a[2], a[3], a[4]);
}

long futex_wait(u32 __user *p, bool shared, u32 val, ktime deadline, u32 bitset)
{
	struct futex_waiter w = { .task = current, .bitset = bitset };
	u64 *a = current->restart.arg;
	int err;

	if (!bitset)
		return -EINVAL;
	err = futex_wait_setup(p, shared, val, &w);
	if (!err)
		err = waiter_sleep(&w, deadline);
	if (err != -EINTR)
		return err;
	if (deadline == KTIME_MAX)
		return -ERESTARTSYS;
	current->restart.fn = wait_restart;
	a[0] = (u64)p;
	a[1] = shared;
	a[2] = val;
	a[3] = deadline;
	a[4] = bitset;
	return -ERESTART_RESTARTBLOCK;
}

/* Wake up to nr (at least one, as Linux does) plain waiters for key. Lock held. -EINVAL: a PI
 * waiter is there. */
static long wake_locked(struct bucket *b, const struct futex_key *key, int nr, u32 bitset)
{
	struct futex_waiter *w, *next;
	long n = 0;

	list_for_each_safe(w, next, &b->waiters, node) {
		if (!key_equal(&w->key, key))
			continue;
		if (w->pi_owner || w->target)
			return -EINVAL;
		if (!(w->bitset & bitset))
			continue;
		waiter_wake(w);
		if (++n >= nr)
			break;
	}
	return n;
}

/* Nobody is queued, or about to be with the word as it was before the caller's barrier. The lock first: who holds it has perhaps
 * read the word and comes on the list next; who takes it later reads the new word. */
static bool nobody_waits(const struct bucket *b)
{
	return !load_acquire(&b->lock.locked) && list_empty(&b->waiters);
}

long futex_wake(u32 __user *p, bool shared, int nr, u32 bitset)
{
	struct futex_key key;
	struct bucket *b;
	long ret;

	if (!bitset)
		return -EINVAL;
	ret = futex_key(p, shared, &key);
	if (ret)
		return ret;
	b = bucket_of(&key);
	smp_mb();	/* the caller's change of the word, before the test for waiters */
	if (nobody_waits(b))
		return 0;
	spin_lock(&b->lock);
	ret = wake_locked(b, &key, nr, bitset);
	spin_unlock(&b->lock);
	return ret;
}

int futex_wake_user(u32 __user *p, int nr)
{
	return futex_wake(p, true, nr, FUTEX_BITSET_ANY);
}

/* --- requeue */

int get_two(u32 __user *p, u32 __user *p2, bool shared, struct two_keys *t)
{
	int err = futex_key(p, shared, &t->k[0]);

	if (!err)
		err = futex_key(p2, shared, &t->k[1]);
	if (err)
		return err;
	t->b[0] = bucket_of(&t->k[0]);
	t->b[1] = bucket_of(&t->k[1]);
	return 0;
}

void move_waiter(struct futex_waiter *w, struct two_keys *t)
{
	w->key = t->k[1];
	if (t->b[0] == t->b[1])
		return;
	list_del(&w->node);
	waiter_enqueue(t->b[1], w);
}

static long requeue_locked(struct two_keys *t, int nr_wake, int nr_requeue)
{
	struct futex_waiter *w, *next;
	long n = 0;

	list_for_each_safe(w, next, &t->b[0]->waiters, node) {
		if (n - nr_wake >= nr_requeue)
			break;
		if (!key_equal(&w->key, &t->k[0]))
			continue;
		if (w->pi_owner || w->target)
			return -EINVAL;
		if (++n <= nr_wake)
			waiter_wake(w);
		else
			move_waiter(w, t);
	}
	return n;
}

long futex_requeue(u32 __user *p, u32 __user *p2, bool shared, int nr_wake, int nr_requeue,
		   const u32 *expected)
{
	struct two_keys t;
	long ret;
	u32 cur;

	if (nr_wake < 0 || nr_requeue < 0)
		return -EINVAL;
	for (;;) {
		ret = get_two(p, p2, shared, &t);
		if (ret)
			return ret;
		lock_two(t.b[0], t.b[1]);
		ret = expected ? read_locked(p, &cur) : 0;
		if (!ret)
			break;
		unlock_two(t.b[0], t.b[1]);
		if (get_user(cur, p))
			return -EFAULT;
	}
	if (expected && cur != *expected)
		ret = -EAGAIN;
	else if (!key_equal(&t.k[0], &t.k[1]) || !nr_requeue)
		ret = requeue_locked(&t, nr_wake, nr_requeue);
	else
		ret = wake_locked(t.b[0], &t.k[0], nr_wake, FUTEX_BITSET_ANY);
	unlock_two(t.b[0], t.b[1]);
	return ret;
}

/* --- wake with an operation on the second word: see futex(2) for the encoding */

static int op_argument(u32 op, u32 shift)
{
	return (int)(op << (20 - shift)) >> 20;	/* 12 bits with sign */
}

static int op_result(u32 op, u32 old, u32 *new)
{
	u32 arg = op_argument(op, 12);

	if (op >> 28 & 8)
		arg = 1u << (arg & 31);
	switch (op >> 28 & 7) {
	case 0:
		*new = arg;
		return 0;
	case 1:
		*new = old + arg;
		return 0;
	case 2:
		*new = old | arg;
		return 0;
	case 3:
		*new = old & ~arg;
		return 0;
	case 4:
		*new = old ^ arg;
		return 0;
	default:
		return -ENOSYS;
	}
}

static int op_compare(u32 op, int old)
{
	int arg = op_argument(op, 0);

	switch (op >> 24 & 15) {
	case 0:
		return old == arg;
	case 1:
		return old != arg;
	case 2:
		return old < arg;
	case 3:
		return old <= arg;
	case 4:
		return old > arg;
	case 5:
		return old >= arg;
	default:
		return -ENOSYS;
	}
}

/* Apply the operation atomically, locks held. 0 or -errno; *old: the value before. */
static int op_apply(u32 __user *p, u32 op, u32 *old)
{
	u32 cur, new, seen;
	int err = read_locked(p, &cur);

	while (!err) {
		err = op_result(op, cur, &new);
		if (!err)
			err = cmpxchg_user32(p, &seen, cur, new);
		if (!err && seen == cur)
			break;
		if (!err)
			cur = seen;
	}
	*old = cur;
	return err;
}

static long wake_both(struct two_keys *t, int nr, int nr2, u32 op, u32 old)
{
	int second = op_compare(op, old);
	long n, m = 0;

	if (second < 0)
		return second;
	n = wake_locked(t->b[0], &t->k[0], nr, FUTEX_BITSET_ANY);
	if (n >= 0 && second)
		m = wake_locked(t->b[1], &t->k[1], nr2, FUTEX_BITSET_ANY);
	if (n < 0)
		return n;
	return m < 0 ? m : n + m;
}

long futex_wake_op(u32 __user *p, u32 __user *p2, bool shared, int nr, int nr2, u32 op)
{
	struct two_keys t;
	long ret;
	u32 old;

	for (;;) {
		ret = get_two(p, p2, shared, &t);
		if (ret)
			return ret;
		lock_two(t.b[0], t.b[1]);
		ret = op_apply(p2, op, &old);
		if (!ret)
			break;
		unlock_two(t.b[0], t.b[1]);
		if (ret != -EFAULT || fault_in_writeable(p2, sizeof(*p2)))
			return ret;
	}
	ret = wake_both(&t, nr, nr2, op, old);
	unlock_two(t.b[0], t.b[1]);
	return ret;
}
