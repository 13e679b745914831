/* SPDX-License-Identifier: MIT */
/*
 * The hash of wait queues behind futexes, and sleeping in it.
 *
 * A word of user memory is known by its key: (address space, address), or (inode, offset) if it is
 * shared. A waiter locks the bucket, *then* compares the word and queues itself; a waker has
 * changed the word and then looks at the bucket and its lock: one of them sees the other. Reading user memory
 * under the lock does not fault pages in; the caller drops the lock, touches the page and starts
 * over.
 */
#include "futex.h"
#include <perch/errno.h>
#include <perch/futex.h>
#include <perch/mm.h>
#include <perch/sched.h>
#include <perch/uaccess.h>

#define NR_BUCKETS 256

static struct bucket_slot {
	struct bucket b;
} __aligned(64) buckets[NR_BUCKETS];

void futex_init(void)
{
	for (u32 i = 0; i < NR_BUCKETS; i++) {
		spin_init(&buckets[i].b.lock);
		list_init(&buckets[i].b.waiters);
	}
}

struct bucket *bucket_nr(u32 i)
{
	return i < NR_BUCKETS ? &buckets[i].b : NULL;
}

struct bucket *bucket_of(const struct futex_key *key)
{
	u64 h = (key->v[0] ^ (key->v[1] >> 2)) * 0x9e3779b97f4a7c15ULL;

	return &buckets[(h ^ (h >> 32)) >> 24 & (NR_BUCKETS - 1)].b;
}

int futex_key(u32 __user *p, bool shared, struct futex_key *key)
{
	if ((u64)p % sizeof(*p))
		return -EINVAL;
	if (!access_ok(p, sizeof(*p)))
		return -EFAULT;
	return mm_futex_key(current->mm, (uaddr)p, shared, key->v);
}

void lock_two(struct bucket *a, struct bucket *b)
{
	if (a > b)
		lock_two(b, a);
	else {
		spin_lock(&a->lock);
		if (a != b)
			spin_lock_nested(&b->lock, 1);
	}
}

void unlock_two(struct bucket *a, struct bucket *b)
{
	spin_unlock(&a->lock);
	if (a != b)
		spin_unlock(&b->lock);
}

int read_locked(u32 __user *p, u32 *val)
{
	return copy_from_user_nofault(val, p, sizeof(*val)) ? -EFAULT : 0;
}

void waiter_enqueue(struct bucket *b, struct futex_waiter *w)
{
	struct list *head = &b->waiters, *at = head;
	struct futex_waiter *other;

	if (w->task->rt_prio) {
		list_for_each(other, head, node)
			if (other->task->rt_prio < w->task->rt_prio) {
				at = &other->node;
				break;
			}
	}
	list_add_tail(&w->node, at);
	w->bucket = b;
}

/* Under the lock, because the waiter's stack is only safe until it gets the lock. */
void waiter_wake(struct futex_waiter *w)
{
	list_del(&w->node);
	WRITE_ONCE(w->woken, true);
	wake_up_task(w->task);
}

bool waiter_leave(struct futex_waiter *w)
{
	struct bucket *b;
	bool woken;

	for (;;) {
		b = READ_ONCE(w->bucket);
		spin_lock(&b->lock);
		if (b == w->bucket)
			break;
		spin_unlock(&b->lock);
	}
	woken = w->woken;
	if (!woken)
		list_del(&w->node);
	spin_unlock(&b->lock);
	return woken;
}

int waiter_sleep(struct futex_waiter *w, ktime deadline)
{
	int err = 0;

	smp_mb();	/* state, set when w was queued, before signals: pairs with kick_task */
	while (!READ_ONCE(w->woken)) {
		if (signal_pending(current)) {
			err = -EINTR;
			break;
		}
		if (!schedule_until(deadline)) {
			err = -ETIMEDOUT;
			break;
		}
		WRITE_ONCE(current->state, TASK_INTERRUPTIBLE);
		smp_mb();
	}
	WRITE_ONCE(current->state, TASK_RUNNING);
	return waiter_leave(w) ? 0 : err;
}
