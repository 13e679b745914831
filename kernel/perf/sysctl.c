/* SPDX-License-Identifier: MIT */
/*
 * The variables below /proc/sys/kernel. Names, ranges and defaults are Linux 6.12's; paranoid 3
 * at boot is Debian's. Our own are perf_debug: log every refused open; and perf_mux_jitter: see rotate.c.
 */
#include "sample.h"

struct perf_sysctl perf_sysctls[NR_SYSCTLS + 1] = {
	[SYSCTL_PARANOID] = { "perf_event_paranoid", 3, INT32_MIN, INT32_MAX },
	[SYSCTL_RATE] = { "perf_event_max_sample_rate", 100000, 1, INT32_MAX },
	[SYSCTL_MLOCK] = { "perf_event_mlock_kb", 516, INT32_MIN, INT32_MAX },
	[SYSCTL_CPU_TIME] = { "perf_cpu_time_max_percent", 25, 0, 100 },
	[SYSCTL_STACK] = { "perf_event_max_stack", PERF_MAX_STACK_DEPTH, 0, 640 * 1024 },
	[SYSCTL_CONTEXTS] = { "perf_event_max_contexts_per_stack", PERF_MAX_CONTEXTS_PER_STACK, 0, 1000 },
	[SYSCTL_USER_ACCESS] = { "perf_user_access", 0, 0, 1 },
	[SYSCTL_JITTER] = { "perf_mux_jitter", 0, 0, INT32_MAX },
	[SYSCTL_DEBUG] = { "perf_debug", 0, 0, 1 },
	[NR_SYSCTLS] = { NULL, 0, 0, 0 },
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
	if (s == &perf_sysctls[SYSCTL_RATE] &&
	    (sysctl_cpu_time() == 0 || sysctl_cpu_time() == 100))
		return -EINVAL;
	if (s == &perf_sysctls[SYSCTL_STACK] || s == &perf_sysctls[SYSCTL_CONTEXTS])
		return set_chain_limit(s, value);
	WRITE_ONCE(s->value, value);
	if (s == &perf_sysctls[SYSCTL_RATE] || s == &perf_sysctls[SYSCTL_CPU_TIME])
		cputime_rate_set();
	if (s == &perf_sysctls[SYSCTL_USER_ACCESS])
		userpage_access_changed();
	return 0;
}

void sysctl_lower_sample_rate(int rate) { WRITE_ONCE(perf_sysctls[SYSCTL_RATE].value, rate); }
int sysctl_cpu_time(void) { return READ_ONCE(perf_sysctls[SYSCTL_CPU_TIME].value); }
int sysctl_mlock_kb(void) { return READ_ONCE(perf_sysctls[SYSCTL_MLOCK].value); }
int sysctl_max_stack(void) { return READ_ONCE(perf_sysctls[SYSCTL_STACK].value); }
int sysctl_user_access(void) { return READ_ONCE(perf_sysctls[SYSCTL_USER_ACCESS].value); }
u32 sysctl_jitter(void) { return (u32)READ_ONCE(perf_sysctls[SYSCTL_JITTER].value); }
int sysctl_debug(void) { return READ_ONCE(perf_sysctls[SYSCTL_DEBUG].value); }
