/* SPDX-License-Identifier: MIT */
/* The futex system call: decoding its operations. */
#include "futex.h"
#include "../time/time.h"
#include <perch/errno.h>
#include <perch/syscall.h>
#include <perch/uaccess.h>

static bool has_timeout(int cmd)
{
	return cmd == FUTEX_WAIT || cmd == FUTEX_WAIT_BITSET || cmd == FUTEX_WAIT_REQUEUE_PI ||
	       cmd == FUTEX_LOCK_PI || cmd == FUTEX_LOCK_PI2;
}

/* What may say FUTEX_CLOCK_REALTIME. */
static bool has_clock(int cmd)
{
	return cmd == FUTEX_WAIT_BITSET || cmd == FUTEX_WAIT_REQUEUE_PI || cmd == FUTEX_LOCK_PI2;
}

/* FUTEX_WAIT's timeout is relative, the others' are absolute; LOCK_PI's is always wall-clock. */
static int get_deadline(int op, int cmd, const struct timespec64 __user *ut, ktime *deadline)
{
	bool wall = (op & FUTEX_CLOCK_REALTIME) || cmd == FUTEX_LOCK_PI;
	struct timespec64 t;

	*deadline = KTIME_MAX;
	if (!ut || !has_timeout(cmd))
		return 0;
	if (get_user(t, ut))
		return -EFAULT;
	if (!timespec_valid(&t))
		return -EINVAL;
	*deadline = clock_deadline(wall ? CLOCK_REALTIME : CLOCK_MONOTONIC, timespec_to_ktime(&t),
				   cmd != FUTEX_WAIT);
	return 0;
}

static long do_futex(int cmd, u32 __user *p, bool shared, u32 val, ktime deadline, u32 val2,
		     u32 __user *p2, u32 val3)
{
	switch (cmd) {
	case FUTEX_WAIT:
		return futex_wait(p, shared, val, deadline, FUTEX_BITSET_ANY);
	case FUTEX_WAIT_BITSET:
		return futex_wait(p, shared, val, deadline, val3);
	case FUTEX_WAKE:
		return futex_wake(p, shared, val, FUTEX_BITSET_ANY);
	case FUTEX_WAKE_BITSET:
		return futex_wake(p, shared, val, val3);
	case FUTEX_REQUEUE:
		return futex_requeue(p, p2, shared, val, val2, NULL);
	case FUTEX_CMP_REQUEUE:
		return futex_requeue(p, p2, shared, val, val2, &val3);
	case FUTEX_WAKE_OP:
		return futex_wake_op(p, p2, shared, val, val2, val3);
	case FUTEX_WAIT_REQUEUE_PI:
		return futex_wait_requeue_pi(p, shared, val, deadline, p2);
	case FUTEX_CMP_REQUEUE_PI:
		return futex_cmp_requeue_pi(p, p2, shared, val, val2, val3);
	case FUTEX_LOCK_PI:
	case FUTEX_LOCK_PI2:
		return futex_lock_pi(p, shared, deadline, false);
	case FUTEX_TRYLOCK_PI:
		return futex_lock_pi(p, shared, KTIME_MAX, true);
	case FUTEX_UNLOCK_PI:
		return futex_unlock_pi(p, shared);
	default:
		return -ENOSYS;
	}
}

/* utime doubles as a number for the operations that have no timeout. */
long sys_futex(u32 __user *p, int op, u32 val, const struct timespec64 __user *utime,
	       u32 __user *p2, u32 val3)
{
	int cmd = op & ~(FUTEX_PRIVATE_FLAG | FUTEX_CLOCK_REALTIME);
	ktime deadline;
	long err = get_deadline(op, cmd, utime, &deadline);

	if (err)
		return err;
	if ((op & FUTEX_CLOCK_REALTIME) && !has_clock(cmd))
		return -ENOSYS;
	return do_futex(cmd, p, !(op & FUTEX_PRIVATE_FLAG), val, deadline, (u32)(u64)utime, p2,
			val3);
}
