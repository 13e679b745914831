/* SPDX-License-Identifier: MIT */
/* Sleeping with a deadline: a timer on the sleeper's stack that wakes it. */
#include <perch/errno.h>
#include <perch/sched.h>

#include "time.h"

struct sleeper {
	struct timer timer;
	struct task *task;
	bool expired;		/* before the wake-up, so that the sleeper sees it */
};

static void sleeper_expired(struct timer *t)
{
	struct sleeper *s = container_of(t, struct sleeper, timer);

	WRITE_ONCE(s->expired, true);
	wake_up_task(s->task);
}

static noinline bool sleep_with_timer(ktime deadline)
{
	struct sleeper s = { .task = current };

	if (deadline <= ktime_now()) {
		WRITE_ONCE(current->state, TASK_RUNNING);
		return false;
	}
	timer_setup(&s.timer, sleeper_expired);
	timer_start(&s.timer, deadline);
	schedule();
	timer_cancel_sync(&s.timer);
	return !s.expired;
}

bool schedule_until(ktime deadline)
{
	if (deadline != KTIME_MAX)
		return sleep_with_timer(deadline);
	schedule();
	return true;
}

void sleep_until(ktime t)
{
	do
		WRITE_ONCE(current->state, TASK_UNINTERRUPTIBLE);
	while (schedule_until(t));
}

int sleep_until_interruptible(ktime t)
{
	for (;;) {
		WRITE_ONCE(current->state, TASK_INTERRUPTIBLE);
		smp_mb();
		if (signal_pending(current)) {
			WRITE_ONCE(current->state, TASK_RUNNING);
			return -EINTR;
		}
		if (!schedule_until(t))
			return 0;
	}
}
