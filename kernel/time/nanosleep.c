/* SPDX-License-Identifier: MIT */
/*
 * nanosleep and clock_nanosleep. A relative sleep that a signal interrupts goes on, when no handler
 * ran, until its first deadline (restart block); with a handler it is EINTR and the rest is
 * reported. An absolute one is simply called again. Sleeps until a wall-clock time watch for that
 * clock being set.
 */
#include <perch/errno.h>
#include <perch/sched.h>
#include <perch/syscall.h>
#include <perch/task.h>
#include <perch/uaccess.h>

#include "time.h"

struct waitq realtime_wq = WAITQ_INIT(realtime_wq);

static s64 remaining(ktime deadline)
{
	return max_t(s64, deadline - ktime_now(), 0);
}

/* Absolute wall-clock sleep: each change of the clock moves the monotonic deadline. */
static long sleep_wall(int id, ktime t)
{
	for (;;) {
		s64 offset = realtime_offset();
		long ret = wait_event_interruptible_until(&realtime_wq, realtime_offset() != offset,
							  clock_deadline(id, t, true));

		if (ret == -ETIMEDOUT)
			return 0;
		if (ret)
			return ret;
	}
}

static long sleep_restart(struct task *t);

static long sleep_relative(ktime deadline, struct timespec64 __user *rem)
{
	s64 left;

	if (!sleep_until_interruptible(deadline))
		return 0;
	left = remaining(deadline);
	if (!left)
		return 0;
	if (rem && put_user(ktime_to_timespec(left), rem))
		return -EFAULT;
	current->restart.fn = sleep_restart;
	current->restart.arg[0] = deadline;
	current->restart.arg[1] = (u64)rem;
	return -ERESTART_RESTARTBLOCK;
}

static long sleep_restart(struct task *t)
{
	return sleep_relative(t->restart.arg[0], (struct timespec64 __user *)t->restart.arg[1]);
}

/* A thread cannot wait for its own CPU time. */
static bool own_thread_clock(int id)
{
	return id < 0 && (id & CPUCLOCK_THREAD) && (!(~id >> 3) || (u32)(~id >> 3) == current->pid);
}

/* CPU time of a process passes while its threads run: looked at with tick resolution. */
static long sleep_cpu(int id, ktime t, bool absolute, struct timespec64 __user *rem)
{
	s64 now = clock_ns(id), end;

	if (now < 0)
		return now;
	if (own_thread_clock(id))
		return -EINVAL;
	end = absolute ? t : now + min_t(s64, t, KTIME_MAX - now);
	for (; now >= 0 && now < end; now = clock_ns(id)) {
		s64 step = max_t(s64, TICK_NSEC, (end - now) / NR_CPUS);

		if (sleep_until_interruptible(ktime_now() + step))
			break;
	}
	if (now < 0 || now >= end)
		return 0;
	if (absolute)
		return -ERESTARTNOHAND;
	if (rem && put_user(ktime_to_timespec(end - now), rem))
		return -EFAULT;
	return -EINTR;
}

static bool can_sleep_on(int id)
{
	return clock_is_running(id) && id != CLOCK_MONOTONIC_RAW && !clock_is_coarse(id);
}

static long sleep_on(int id, ktime t, bool absolute, struct timespec64 __user *rem)
{
	if (!absolute)
		return sleep_relative(clock_deadline(id, t, false), rem);
	if (clock_is_wall(id))
		return sleep_wall(id, t) ? -ERESTARTNOHAND : 0;
	return sleep_until_interruptible(t) ? -ERESTARTNOHAND : 0;
}

/* Known clocks that cannot be slept on, as Linux answers. */
static long refuse(int id)
{
	if (id == CLOCK_THREAD_CPUTIME_ID)
		return -EOPNOTSUPP;
	if (clock_is_cpu(id) || can_sleep_on(id))
		return 0;
	return clock_is_running(id) ? -EOPNOTSUPP : -EINVAL;
}

long sys_clock_nanosleep(int id, int flags, const struct timespec64 __user *req,
			 struct timespec64 __user *rem)
{
	bool absolute = flags & TIMER_ABSTIME;
	struct timespec64 t;
	long err = refuse(id);

	if (err)
		return err;
	if (get_user(t, req))
		return -EFAULT;
	if (!timespec_valid(&t))
		return -EINVAL;
	err = clock_alarm_allowed(id);
	if (err)
		return err;
	if (clock_is_cpu(id))
		return sleep_cpu(id, timespec_to_ktime(&t), absolute, rem);
	return sleep_on(id, timespec_to_ktime(&t), absolute, absolute ? NULL : rem);
}

long sys_nanosleep(const struct timespec64 __user *req, struct timespec64 __user *rem)
{
	struct timespec64 t;

	if (get_user(t, req))
		return -EFAULT;
	if (!timespec_valid(&t))
		return -EINVAL;
	return sleep_on(CLOCK_MONOTONIC, timespec_to_ktime(&t), false, rem);
}
