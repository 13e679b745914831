/* SPDX-License-Identifier: MIT */
/*
 * The newer futex calls: waiting on several words at once, and wait, wake and requeue with size
 * flags. Only 32-bit words exist.
 */
#include "futex.h"
#include "../time/time.h"
#include <perch/errno.h>
#include <perch/page.h>
#include <perch/sched.h>
#include <perch/syscall.h>
#include <perch/uaccess.h>

#define FUTEX2_SIZE_MASK	3
#define FUTEX2_SIZE_U32		2
#define FUTEX2_KNOWN		(FUTEX2_SIZE_MASK | FUTEX_PRIVATE_FLAG)
#define WAITV_MAX		128

struct waitv_abi {
	u64 val, uaddr;
	u32 flags, reserved;
};

static bool flags_ok(u32 flags)
{
	return !(flags & ~FUTEX2_KNOWN) && (flags & FUTEX2_SIZE_MASK) == FUTEX2_SIZE_U32;
}

static bool is_shared(u32 flags)
{
	return !(flags & FUTEX_PRIVATE_FLAG);
}

/* Timeouts are absolute. */
static int get_deadline(const struct timespec64 __user *ut, int clockid, ktime *deadline)
{
	struct timespec64 t;

	*deadline = KTIME_MAX;
	if (!ut)
		return 0;
	if (clockid != CLOCK_REALTIME && clockid != CLOCK_MONOTONIC)
		return -EINVAL;
	if (get_user(t, ut))
		return -EFAULT;
	if (!timespec_valid(&t))
		return -EINVAL;
	*deadline = clock_deadline(clockid, timespec_to_ktime(&t), true);
	return 0;
}

struct waitv {
	struct waitv_abi abi;
	struct futex_waiter w;
};

/* Leave the first n queues. The index of a word that was woken, or -1. */
static int leave_all(struct waitv *v, u32 n)
{
	int woken = -1;

	while (n--)
		if (waiter_leave(&v[n].w))
			woken = n;
	return woken;
}

static bool any_woken(struct waitv *v, u32 n)
{
	for (u32 i = 0; i < n; i++)
		if (READ_ONCE(v[i].w.woken))
			return true;
	return false;
}

/* In all n queues. An index, or -EINTR, -ETIMEDOUT. */
static long sleep_all(struct waitv *v, u32 n, ktime deadline)
{
	long err = 0;
	int woken;

	for (;;) {
		WRITE_ONCE(current->state, TASK_INTERRUPTIBLE);
		smp_mb();
		if (any_woken(v, n))
			break;
		if (signal_pending(current)) {
			err = -EINTR;
			break;
		}
		if (!schedule_until(deadline)) {
			err = -ETIMEDOUT;
			break;
		}
	}
	WRITE_ONCE(current->state, TASK_RUNNING);
	woken = leave_all(v, n);
	return woken >= 0 ? woken : err;
}

static long wait_all(struct waitv *v, u32 n, ktime deadline)
{
	long ret;

	for (u32 i = 0; i < n; i++) {
		struct waitv_abi *a = &v[i].abi;
		u32 __user *p = (u32 __user *)a->uaddr;
		int err, woken;

		v[i].w.task = current;
		v[i].w.bitset = FUTEX_BITSET_ANY;
		err = futex_wait_setup(p, is_shared(a->flags), a->val, &v[i].w);
		/* the next set-up may sleep; sleep_all looks again */
		WRITE_ONCE(current->state, TASK_RUNNING);
		if (!err)
			continue;
		woken = leave_all(v, i);
		return woken >= 0 ? woken : err;
	}
	ret = sleep_all(v, n, deadline);
	return ret == -EINTR ? -ERESTARTSYS : ret;
}

static long copy_waitv(struct waitv *v, const struct waitv_abi __user *u, u32 n)
{
	for (u32 i = 0; i < n; i++) {
		if (get_user(v[i].abi, u + i))
			return -EFAULT;
		if (!flags_ok(v[i].abi.flags) || v[i].abi.reserved || v[i].abi.val > UINT32_MAX)
			return -EINVAL;
	}
	return 0;
}

long sys_futex_waitv(const struct waitv_abi __user *u, u32 n, u32 flags,
		     const struct timespec64 __user *timeout, int clockid)
{
	struct waitv *v;
	ktime deadline;
	long ret;

	if (flags || !n || n > WAITV_MAX || !u)
		return -EINVAL;
	ret = get_deadline(timeout, clockid, &deadline);
	if (ret)
		return ret;
	v = kcalloc(n, sizeof(*v));
	if (!v)
		return -ENOMEM;
	ret = copy_waitv(v, u, n);
	if (!ret)
		ret = wait_all(v, n, deadline);
	kfree(v);
	return ret;
}

long sys_futex_wake(u32 __user *p, u64 mask, int nr, u32 flags)
{
	if (!flags_ok(flags) || mask > UINT32_MAX)
		return -EINVAL;
	if (!nr)
		return 0;
	return futex_wake(p, is_shared(flags), nr, mask);
}

long sys_futex_wait(u32 __user *p, u64 val, u64 mask, u32 flags,
		    const struct timespec64 __user *timeout, int clockid)
{
	ktime deadline;
	long err;

	if (!flags_ok(flags) || val > UINT32_MAX || mask > UINT32_MAX)
		return -EINVAL;
	err = get_deadline(timeout, clockid, &deadline);
	return err ? err : futex_wait(p, is_shared(flags), val, deadline, mask);
}

/* Both words must agree in being private or shared: a mixture is refused, Linux would take it. */
long sys_futex_requeue(const struct waitv_abi __user *u, u32 flags, int nr_wake, int nr_requeue)
{
	struct waitv_abi a[2];
	u32 expected;

	if (flags || !u)
		return -EINVAL;
	if (copy_from_user(a, u, sizeof(a)))
		return -EFAULT;
	for (int i = 0; i < 2; i++)
		if (!flags_ok(a[i].flags) || a[i].reserved || a[i].val > UINT32_MAX)
			return -EINVAL;
	if (a[0].flags != a[1].flags)
		return -EINVAL;
	expected = a[0].val;
	return futex_requeue((u32 __user *)a[0].uaddr, (u32 __user *)a[1].uaddr,
			     is_shared(a[0].flags), nr_wake, nr_requeue, &expected);
}
