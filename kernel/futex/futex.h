/* SPDX-License-Identifier: MIT */
/* What the files of kernel/futex share: waiters, keys and the hash of buckets. */
#ifndef KERNEL_FUTEX_FUTEX_H
#define KERNEL_FUTEX_FUTEX_H

#include <perch/list.h>
#include <perch/spinlock.h>
#include <perch/time.h>
#include <perch/types.h>

#define FUTEX_WAIT		0
#define FUTEX_WAKE		1
#define FUTEX_REQUEUE		3
#define FUTEX_CMP_REQUEUE	4
#define FUTEX_WAKE_OP		5
#define FUTEX_LOCK_PI		6
#define FUTEX_UNLOCK_PI		7
#define FUTEX_TRYLOCK_PI	8
#define FUTEX_WAIT_BITSET	9
#define FUTEX_WAKE_BITSET	10
#define FUTEX_WAIT_REQUEUE_PI	11
#define FUTEX_CMP_REQUEUE_PI	12
#define FUTEX_LOCK_PI2		13
#define FUTEX_PRIVATE_FLAG	128
#define FUTEX_CLOCK_REALTIME	256

#define FUTEX_WAITERS		0x80000000u
#define FUTEX_OWNER_DIED	0x40000000u
#define FUTEX_TID_MASK		0x3fffffffu
#define FUTEX_BITSET_ANY	0xffffffffu

struct task;

/* The identity of a futex word: see mm_futex_key. */
struct futex_key {
	u64 v[2];
};

struct bucket {
	spinlock lock;		/* no IRQ touches it; two of them in address order */
	struct list waiters;	/* of futex_waiter: by priority, then by arrival */
};

/* One task's wait on one word; on its stack. It leaves after it held bucket->lock again. */
struct futex_waiter {
	struct list node;	/* bucket->waiters while not woken */
	struct task *task;	/* immutable */
	struct futex_key key;	/* changed by requeue, under both buckets' locks */
	struct bucket *bucket;	/* likewise */
	u32 bitset;		/* immutable */
	u32 pi_owner;		/* PI: thread id that it waits for; 0: not a PI waiter */
	const struct futex_key *target;	/* WAIT_REQUEUE_PI: the lock that it may be moved to */
	bool woken;		/* off the list, by a waker */
	bool owner_died;	/* PI: woken because pi_owner is gone */
};

static inline bool key_equal(const struct futex_key *a, const struct futex_key *b)
{
	return a->v[0] == b->v[0] && a->v[1] == b->v[1];
}

/* Process context, may sleep. 0, -EINVAL (alignment), -EFAULT. */
int futex_key(u32 __user *p, bool shared, struct futex_key *key);
struct bucket *bucket_of(const struct futex_key *key);
struct bucket *bucket_nr(u32 i);	/* all of them, NULL behind the last */
void lock_two(struct bucket *a, struct bucket *b);	/* may be the same */
void unlock_two(struct bucket *a, struct bucket *b);

/* Bucket lock held. enqueue: sets w->bucket. wake: takes w off and wakes its task. */
void waiter_enqueue(struct bucket *b, struct futex_waiter *w);
void waiter_wake(struct futex_waiter *w);
/* Off the list if nobody woke w. True if somebody had. Takes the bucket's lock. */
bool waiter_leave(struct futex_waiter *w);
/* Sleep until woken (0), a signal (-EINTR) or the monotonic deadline (-ETIMEDOUT), and leave. The
 * caller set TASK_INTERRUPTIBLE before it enqueued w. */
int waiter_sleep(struct futex_waiter *w, ktime deadline);

/* Read the word with a bucket lock held: 0, or -EFAULT (the page may only be absent). */
int read_locked(u32 __user *p, u32 *val);

/* Compare the word with val and queue w. 0: queued, state TASK_INTERRUPTIBLE; -EAGAIN: it differs;
 * -EINVAL, -EFAULT. */
int futex_wait_setup(u32 __user *p, bool shared, u32 val, struct futex_waiter *w);

/* The operations; -errno or a count. deadline: monotonic, KTIME_MAX for none. */
long futex_wait(u32 __user *p, bool shared, u32 val, ktime deadline, u32 bitset);
long futex_wake(u32 __user *p, bool shared, int nr, u32 bitset);
long futex_requeue(u32 __user *p, u32 __user *p2, bool shared, int nr_wake, int nr_requeue,
		   const u32 *expected);
long futex_wake_op(u32 __user *p, u32 __user *p2, bool shared, int nr, int nr2, u32 op);
long futex_lock_pi(u32 __user *p, bool shared, ktime deadline, bool try);
long futex_unlock_pi(u32 __user *p, bool shared);
long futex_wait_requeue_pi(u32 __user *p, bool shared, u32 val, ktime deadline, u32 __user *p2);
long futex_cmp_requeue_pi(u32 __user *p, u32 __user *p2, bool shared, int nr_wake, int nr_requeue,
			  u32 expected);
void futex_pi_exit(u32 tid);	/* the thread is gone: those who wait for it must look again */

/* The keys and buckets of two words. */
struct two_keys {
	struct futex_key k[2];
	struct bucket *b[2];
};
int get_two(u32 __user *p, u32 __user *p2, bool shared, struct two_keys *t);
/* w waits for the second word from now on, behind those who do already. Both buckets locked. */
void move_waiter(struct futex_waiter *w, struct two_keys *t);

/* --- priority-inheriting locks, for pi.c and requeue_pi.c */

/* An attempt to get such a lock for a task, which need not be the caller. */
struct pi_attempt {
	u32 __user *p;
	struct bucket *bucket;		/* of *key, which is p's */
	const struct futex_key *key;
	struct task *task;		/* for whom */
	bool orphan;			/* the owner is known to have died while we waited */
	u32 bits;			/* also set in the word if it is taken: 0 or FUTEX_WAITERS */
	u32 word;			/* out: the word as last seen */
};

/* Bucket locked. 0: the lock is a->task's; 1: it must wait for the owner in a->word, and the word says
 * so; -EBUSY: the owner is about to exit, see pi_wait_for_exit; -EDEADLK, -ESRCH, -EFAULT. */
int pi_try(struct pi_attempt *a);
/* Sleep a little: the owner runs its exit path, which will mark the word or leave it. 0 or
 * -ERESTARTNOINTR. */
int pi_wait_for_exit(void);
/* futex_lock_pi; orphan as in struct pi_attempt. */
long pi_lock(u32 __user *p, bool shared, ktime deadline, bool try, bool orphan);
/* While the caller is a waiter with pi_owner or may become one, exits look for such waiters. enter is a
 * full barrier. */
void pi_waiters_enter(void);
void pi_waiters_leave(void);

#endif
