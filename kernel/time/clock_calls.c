/* SPDX-License-Identifier: MIT */
/* System calls that read and set clocks. */
#include <perch/cred.h>
#include <perch/errno.h>
#include <perch/sched.h>
#include <perch/syscall.h>
#include <perch/task.h>
#include <perch/uaccess.h>

#include "time.h"

long sys_clock_gettime(int id, struct timespec64 __user *tp)
{
	s64 ns = clock_ns(id);

	if (ns < 0)
		return ns;
	return put_user(ktime_to_timespec(ns), tp);
}

static s64 clock_resolution(int id)
{
	if (clock_is_coarse(id))
		return TICK_NSEC;
	if (id < 0) {
		s64 now = clock_ns(id);

		if (now < 0)
			return now;
		return (id & 3) == CPUCLOCK_SCHED ? 1 : TICK_NSEC;
	}
	return clock_is_running(id) || clock_is_cpu(id) ? 1 : -EINVAL;
}

long sys_clock_getres(int id, struct timespec64 __user *tp)
{
	s64 res = clock_resolution(id);

	if (res < 0)
		return res;
	return tp ? put_user(ktime_to_timespec(res), tp) : 0;
}

/* Beyond this (year 2262 less some room) a 64-bit count of ns overflows. */
#define WALL_SEC_MAX	(KTIME_MAX / NSEC_PER_SEC - 30LL * 365 * 24 * 3600)

static long set_wall(const struct timespec64 *t)
{
	if (!timespec_valid(t) || t->tv_sec >= WALL_SEC_MAX)
		return -EINVAL;
	if (!capable(CAP_SYS_TIME))
		return -EPERM;
	/* monotonic time may not come out ahead of the wall clock */
	if (timespec_to_ktime(t) < ktime_now())
		return -EINVAL;
	realtime_set(timespec_to_ktime(t));
	return 0;
}

long sys_clock_settime(int id, const struct timespec64 __user *tp)
{
	struct timespec64 t;

	if (id != CLOCK_REALTIME && id >= 0)
		return -EINVAL;
	if (get_user(t, tp))
		return -EFAULT;
	if (id < 0)
		return clock_ns(id) < 0 ? -EINVAL : -EPERM;
	return set_wall(&t);
}

#define USEC_PER_SEC	1000000

struct timezone_abi { s32 minuteswest, dsttime; };
static struct timezone_abi timezone;

long sys_gettimeofday(struct timeval64 __user *tv, struct timezone_abi __user *tz)
{
	struct timespec64 t = ktime_to_timespec(clock_ns(CLOCK_REALTIME));
	struct timeval64 v = { t.tv_sec, t.tv_nsec / NSEC_PER_USEC };

	if (tv && put_user(v, tv))
		return -EFAULT;
	if (tz && put_user(timezone, tz))
		return -EFAULT;
	return 0;
}

static long set_timezone(const struct timezone_abi *tz)
{
	if (tz->minuteswest > 15 * 60 || tz->minuteswest < -15 * 60)
		return -EINVAL;
	timezone = *tz;
	return 0;
}

long sys_settimeofday(const struct timeval64 __user *tv, const struct timezone_abi __user *tz)
{
	struct timespec64 t = { 0, 0 };
	struct timezone_abi z;
	struct timeval64 v;
	long err = 0;

	if (tv) {
		if (get_user(v, tv))
			return -EFAULT;
		if ((u64)v.tv_usec >= USEC_PER_SEC)
			return -EINVAL;
		t = (struct timespec64){ v.tv_sec, v.tv_usec * NSEC_PER_USEC };
	}
	if (tz && get_user(z, tz))
		return -EFAULT;
	if (tv && !timespec_valid(&t))
		return -EINVAL;
	if (!capable(CAP_SYS_TIME))
		return -EPERM;
	if (tz)
		err = set_timezone(&z);
	return !err && tv ? set_wall(&t) : err;
}

struct tms_abi { s64 utime, stime, cutime, cstime; };

static s64 to_ticks(u64 ns)
{
	return ns / (NSEC_PER_SEC / USER_HZ);
}

/* Value: 1/100 s since boot (Linux adds a constant; only differences mean something). */
long sys_times(struct tms_abi __user *buf)
{
	struct rusage_counts ru;
	struct tms_abi t;
	u64 flags;

	if (buf) {
		process_times(current->proc, &ru);
		t.utime = to_ticks(ru.utime_ns);
		t.stime = to_ticks(ru.stime_ns);
		flags = spin_lock_irqsave(&task_lock);
		t.cutime = to_ticks(current->proc->children_ru.utime_ns);
		t.cstime = to_ticks(current->proc->children_ru.stime_ns);
		spin_unlock_irqrestore(&task_lock, flags);
		if (put_user(t, buf))
			return -EFAULT;
	}
	return to_ticks(ktime_now());
}
