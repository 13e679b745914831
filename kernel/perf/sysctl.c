/* SPDX-License-Identifier: MIT */
/*
 * The variables below /proc/sys/kernel. Names, ranges and defaults are Linux 6.12's; paranoid 3
 * at boot is Debian's. Our own are perf_debug: log every refused open; and perf_mux_jitter: see rotate.c.
 */
#include "sample.h"

enum { PARANOID = SYSCTL_PARANOID, RATE, MLOCK, CPU_TIME, STACK, CONTEXTS, USER_ACCESS, JITTER, DEBUG, NR };

struct perf_sysctl perf_sysctls[NR + 1] = {
	[PARANOID] = { "perf_event_paranoid", 3, INT32_MIN, INT32_MAX },
	[RATE] = { "perf_event_max_sample_rate", 100000, 1, INT32_MAX },
	[MLOCK] = { "perf_event_mlock_kb", 516, INT32_MIN, INT32_MAX },
	[CPU_TIME] = { "perf_cpu_time_max_percent", 25, 0, 100 },
	[STACK] = { "perf_event_max_stack", PERF_MAX_STACK_DEPTH, 0, 640 * 1024 },
	[CONTEXTS] = { "perf_event_max_contexts_per_stack", PERF_MAX_CONTEXTS_PER_STACK, 0, 1000 },
	[USER_ACCESS] = { "perf_user_access", 0, 0, 1 },
	[JITTER] = { "perf_mux_jitter", 0, 0, INT32_MAX },
	[DEBUG] = { "perf_debug", 0, 0, 1 },
	[NR] = { NULL, 0, 0, 0 },
};

/* How long call chains can be: fixed while somebody makes some. */
static int set_chain_limit(struct perf_sysctl *s, int value)
{
	int err = -EBUSY;

	host_mutex_lock(&perf_mutex);
	if (!callchain_in_use()) {
		WRITE_ONCE(s->value, value);
		err = 0;
	}
	host_mutex_unlock(&perf_mutex);
	return err;
}

int perf_sysctl_set(struct perf_sysctl *s, int value)
{
	if (value < s->min || value > s->max)
		return -EINVAL;
	/* Linux: with 0 or 100 nobody watches the rate, so it cannot be changed by hand either. */
	if (s == &perf_sysctls[RATE] &&
	    (sysctl_cpu_time() == 0 || sysctl_cpu_time() == 100))
		return -EINVAL;
	if (s == &perf_sysctls[STACK] || s == &perf_sysctls[CONTEXTS])
		return set_chain_limit(s, value);
	WRITE_ONCE(s->value, value);
	if (s == &perf_sysctls[RATE] || s == &perf_sysctls[CPU_TIME])
		cputime_rate_set();
	if (s == &perf_sysctls[USER_ACCESS])
		userpage_access_changed();
	return 0;
}

int sysctl_max_sample_rate(void) { return READ_ONCE(perf_sysctls[RATE].value); }
void sysctl_lower_sample_rate(int rate) { WRITE_ONCE(perf_sysctls[RATE].value, rate); }
int sysctl_cpu_time(void) { return READ_ONCE(perf_sysctls[CPU_TIME].value); }
int sysctl_mlock_kb(void) { return READ_ONCE(perf_sysctls[MLOCK].value); }
int sysctl_max_stack(void) { return READ_ONCE(perf_sysctls[STACK].value); }
int sysctl_max_contexts(void) { return READ_ONCE(perf_sysctls[CONTEXTS].value); }
int sysctl_user_access(void) { return READ_ONCE(perf_sysctls[USER_ACCESS].value); }
u32 sysctl_jitter(void) { return (u32)READ_ONCE(perf_sysctls[JITTER].value); }
int sysctl_debug(void) { return READ_ONCE(perf_sysctls[DEBUG].value); }
