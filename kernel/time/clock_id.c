/* SPDX-License-Identifier: MIT */
/*
 * Clock ids. All running clocks are monotonic time plus an offset: suspend does not exist here, so
 * BOOTTIME and MONOTONIC_RAW equal MONOTONIC, and no leap second table is known, so TAI equals
 * REALTIME (as on Linux until somebody sets the offset). The coarse ones show the last tick. The
 * alarm clocks would wake a suspended machine; here they only want their capability.
 */
#include <perch/cred.h>
#include <perch/errno.h>

#include "time.h"

bool clock_is_wall(int id)
{
	return id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE || id == CLOCK_REALTIME_ALARM ||
	       id == CLOCK_TAI;
}

bool clock_is_coarse(int id)
{
	return id == CLOCK_REALTIME_COARSE || id == CLOCK_MONOTONIC_COARSE;
}

bool clock_is_running(int id)
{
	return clock_is_wall(id) || id == CLOCK_MONOTONIC || id == CLOCK_MONOTONIC_RAW ||
	       id == CLOCK_MONOTONIC_COARSE || id == CLOCK_BOOTTIME || id == CLOCK_BOOTTIME_ALARM;
}

long clock_alarm_allowed(int id)
{
	if (id != CLOCK_REALTIME_ALARM && id != CLOCK_BOOTTIME_ALARM)
		return 0;
	return capable(CAP_WAKE_ALARM) ? 0 : -EPERM;
}

s64 clock_offset(int id)
{
	return clock_is_wall(id) ? realtime_offset() : 0;
}

s64 clock_ns(int id)
{
	ktime now;

	if (clock_is_cpu(id))
		return cpuclock_ns(id);
	if (!clock_is_running(id))
		return -EINVAL;
	now = ktime_now();
	if (clock_is_coarse(id))
		now -= now % TICK_NSEC;
	return now + clock_offset(id);
}

static ktime add_saturating(ktime a, ktime b)
{
	ktime sum;

	if (__builtin_add_overflow(a, b, &sum))
		return b < 0 ? 0 : KTIME_MAX;
	return sum;
}

ktime clock_deadline(int id, ktime t, bool absolute)
{
	if (!absolute)
		return add_saturating(ktime_now(), t);
	return t == KTIME_MAX ? KTIME_MAX : add_saturating(t, -clock_offset(id));
}
