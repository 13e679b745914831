/* SPDX-License-Identifier: MIT */
/*
 * Call chains by frame pointers: the kernel's part behind PERF_CONTEXT_KERNEL, the user's behind
 * PERF_CONTEXT_USER, together at most sample_max_stack addresses. The host walks; it never faults and never
 * leaves the running task's stack.
 *
 * One buffer per CPU is enough: samples are made with IRQs off and do not nest.
 */
#include "sample.h"

#define CONTEXTS	2
#define CHAIN_MAX	640	/* deeper ones are cut off, whatever perf_event_max_stack allows (CAVEATS.md) */

static u64 buffer[HOST_MAX_CPUS][CHAIN_MAX + CONTEXTS];	/* o */

u32 callchain_get(const struct perf_event *e, const struct pt_regs *regs, const u64 **chain)
{
	u32 max = min_t(u32, e->attr.sample_max_stack, CHAIN_MAX), n = 0, used = 0, k;
	u64 *out = buffer[host_cpu()];
	struct task *t = host_current();

	*chain = out;
	if (!host_regs_user(regs) && !e->attr.exclude_callchain_kernel && max) {
		out[n++] = PERF_CONTEXT_KERNEL;
		k = host_callchain_kernel(regs, out + n, max);
		n += k;
		used += k;
	}
	if (e->attr.exclude_callchain_user || host_task_is_kernel(t) || used == max)
		return n;
	if (!host_regs_user(regs))
		regs = host_task_user_regs(t);
	out[n++] = PERF_CONTEXT_USER;
	return n + host_callchain_user(regs, out + n, max - used);
}
