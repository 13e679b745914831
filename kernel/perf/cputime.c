/* SPDX-License-Identifier: MIT */
/*
 * The part of a CPU that sampling may cost: perf_cpu_time_max_percent.
 *
 * perf_event_max_sample_rate says how many interrupts may come per second; times their average length that is
 * the share of the CPU they take. When the average shows that the share would be above the limit, the
 * rate is lowered until it fits, with a line in the log. It is not raised again: nobody can tell whether
 * the load was an exception. Without this, a machine whose interrupt takes longer than the time between two
 * of them would do nothing else.
 *
 * The average is over about the last 128 interrupts of the CPU, and starts low.
 */
#include "core.h"

#define SAMPLES 128

static u64 running[HOST_MAX_CPUS];	/* SAMPLES times the average, ns; own CPU (o) */
u64 cputime_allowed = NSEC_PER_SEC / 100000 * 25 / 100;

/* Rate or percent has been written by hand: what an interrupt may take follows from them. P. */
void cputime_rate_set(void)
{
	u32 percent = (u32)sysctl_cpu_time();
	u64 ns = NSEC_PER_SEC / (u64)sysctl_max_sample_rate() * percent / 100;

	if (percent == 0 || percent == 100) {
		host_log("perf: Dynamic interrupt throttling disabled, can hang your system!\n");
		ns = 0;
	} else if (!ns) {
		ns = 1;
	}
	__atomic_store_n(&cputime_allowed, ns, __ATOMIC_RELAXED);
}

static void lower_rate(u64 average, u64 limit)
{
	u64 share = TICK_NSEC / 100 * (u64)sysctl_cpu_time(), per_tick;

	average += average / 4;		/* some room, or it would be lowered again and again */
	per_tick = average < share ? share / average : 1;
	__atomic_store_n(&cputime_allowed, average, __ATOMIC_RELAXED);
	sysctl_lower_sample_rate((int)per_tick * HZ);
	host_log("perf: interrupt took too long (%lu > %lu), lowering kernel.perf_event_max_sample_rate to %d\n",
		 (unsigned long)(average - average / 5), (unsigned long)limit, (int)per_tick * HZ);
}

/* An interrupt with overflows ends that began then. O. */
void cputime_took(u64 start)
{
	u64 limit = READ_ONCE(cputime_allowed), *sum = &running[host_cpu()], ns = host_now() - start;

	if (!limit)
		return;
	*sum += ns - *sum / SAMPLES;
	if (unlikely(*sum / SAMPLES > limit))
		lower_rate(*sum / SAMPLES, limit);
}
