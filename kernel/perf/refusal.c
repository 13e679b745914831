/* SPDX-License-Identifier: MIT */
/*
 * Refusals explain themselves. errno alone says little: EINVAL has some forty causes in
 * perf_event_open. Every check names the field and the reason; the last one of each task is kept
 * for /proc/PID/perf_refusal, and goes to the log with the sysctl perf_debug.
 */
#include "core.h"

void perf_note_refusal(struct perf_why *why, int err, const char *field, u64 value, const char *reason)
{
	ASSERT_PERF(err < 0);
	if (why)
		*why = (struct perf_why){ err, field, value, reason };
}

/* Remember why current's open failed. Best effort: without memory it is not kept. P, no mutex. */
void refusal_note(const struct perf_why *why)
{
	struct perf_task *pt;

	STAT_INC(refusals);
	if (sysctl_debug())
		host_log("perf: open by %u refused: %d %s 0x%lx: %s\n", host_task_tid(host_current()),
			 why->err, why->field, (unsigned long)why->value, why->reason);
	host_mutex_lock(&perf_mutex);
	pt = perf_task_get(host_current());
	if (pt)
		pt->why = *why;
	host_mutex_unlock(&perf_mutex);
}

long perf_refusal_text(struct task *t, char *buf, size_t size)
{
	struct perf_task *pt;
	long n = 0;

	host_mutex_lock(&perf_mutex);
	pt = __atomic_load_n(host_task_slot(t), __ATOMIC_ACQUIRE);
	if (pt && pt->why.err)
		n = host_snprintf(buf, size, "%d %s 0x%lx %s\n", -pt->why.err, pt->why.field,
				  (unsigned long)pt->why.value, pt->why.reason);
	host_mutex_unlock(&perf_mutex);
	return min_t(long, n, (long)size);
}
