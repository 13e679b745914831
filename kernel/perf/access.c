/* SPDX-License-Identifier: MIT */
/*
 * Who may measure what: perf_event_paranoid and capabilities.
 *
 *   -1  everything      0  no raw tracepoint data     1  no CPU-wide events
 *    2  no kernel mode  3  nothing at all (Debian's extension)
 *
 * CAP_PERFMON or CAP_SYS_ADMIN lifts every level but 3, which only CAP_SYS_ADMIN lifts. exclude_kernel
 * is never forced silently: the answer is EACCES, and perf retries with :u by itself.
 */
#include "core.h"

bool access_privileged(void)
{
	return host_capable(HOST_CAP_PERFMON) || host_capable(HOST_CAP_SYS_ADMIN);
}

/* Kernel data by other ways than its events. */
static int check_kernel(const struct perf_event_attr *attr, struct perf_why *why)
{
	if (attr->sample_type & PERF_SAMPLE_CALLCHAIN && !attr->exclude_callchain_kernel && !access_allowed(1))
		return perf_refuse(why, -EACCES, "exclude_callchain_kernel", 0,
				   "kernel callchains need perf_event_paranoid < 2 or CAP_PERFMON");
	if (attr->text_poke && !access_allowed(1))
		return perf_refuse(why, -EACCES, "text_poke", 1,
				   "kernel code needs perf_event_paranoid < 2 or CAP_PERFMON");
	return 0;
}

/* Checks that need only the attribute, of one that is not plain, in Linux's order. 0 or -errno. P. */
int access_rare(const struct perf_event_attr *attr, struct perf_why *why)
{
	int err = check_kernel(attr, why);

	if (err)
		return err;
	if (attr->namespaces && !access_privileged())
		return perf_refuse(why, -EACCES, "namespaces", 1, "needs CAP_PERFMON");
	if (attr->freq) {
		if (attr->sample_freq > (u64)sysctl_max_sample_rate())
			return perf_refuse(why, -EINVAL, "sample_freq", attr->sample_freq,
					   "above perf_event_max_sample_rate");
	} else if (attr->sample_period >> 63) {
		return perf_refuse(why, -EINVAL, "sample_period", attr->sample_period,
				   "has more than 63 bits");
	}
	if (attr->sample_type & PERF_SAMPLE_PHYS_ADDR && !access_allowed(1))
		return perf_refuse(why, -EACCES, "sample_type", attr->sample_type,
				   "physical addresses need CAP_PERFMON");
	return 0;
}

/* May current measure t? sigtrap also sends it signals. */
int access_task(const struct perf_event_attr *attr, struct task *t, struct perf_why *why)
{
	if (!host_may_observe(t) &&
	    !(access_privileged() && (!attr->sigtrap || host_capable(HOST_CAP_KILL))))
		return perf_refuse(why, -EACCES, "pid", host_task_tid(t), "not allowed to observe it");
	return 0;
}
