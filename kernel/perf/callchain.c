/* SPDX-License-Identifier: MIT */
/*
 * Call chains by frame pointers: the kernel's part behind PERF_CONTEXT_KERNEL, the user's behind
 * PERF_CONTEXT_USER, together at most sample_max_stack addresses. The host walks; it never faults and never
 * leaves the running task's stack.
 *
 * Buffers. A chain is walked before there is a place for it in the ring, because its length decides how much is reserved. One
 * per CPU is enough: samples are made with IRQs off and do not nest. They come with the first event that has call chains and
 * go with the last one, so an interrupt finds them or has no use for them. Meanwhile the two variables that say how long
 * a chain can be stay as they are (EBUSY, as on Linux).
 *
 * A record is shorter than 64 KiB: a chain for which there is no room is cut off. (Linux lets its length overflow.)
 */
#include "sample.h"

#define RECORD_WORDS 8192u	/* more than any record has */

static u32 chain_events;	/* roots with call chains (m) */
static u64 *buffer[HOST_MAX_CPUS];	/* m, while there is no such event; contents: o */

static void free_buffers(void)
{
	for (u32 c = 0; c < host_nr_cpus(); c++) {
		host_free(buffer[c]);
		buffer[c] = NULL;
	}
}

static int get_buffers(void)
{
	u32 addresses = min_t(u32, (u32)sysctl_max_stack(), RECORD_WORDS);
	u32 marks = min_t(u32, (u32)sysctl_max_contexts(), CHAIN_CONTEXTS);

	for (u32 c = 0; c < host_nr_cpus(); c++) {
		buffer[c] = host_zalloc((addresses + marks + 1) * sizeof(u64));
		if (!buffer[c]) {
			free_buffers();
			return -ENOMEM;
		}
	}
	return 0;
}

int callchain_born(struct perf_event *e)
{
	int err;

	ASSERT_PERF(host_mutex_held(&perf_mutex));
	if (!(e->attr.sample_type & PERF_SAMPLE_CALLCHAIN))
		return 0;
	if (e->attr.sample_max_stack > sysctl_max_stack())
		return -EOVERFLOW;
	err = chain_events ? 0 : get_buffers();
	if (err)
		return err;
	chain_events++;
	e->chains = true;
	return 0;
}

void callchain_dies(struct perf_event *e)
{
	if (!e->chains)
		return;
	ASSERT_PERF(host_mutex_held(&perf_mutex) && chain_events);
	if (!--chain_events)
		free_buffers();
}

bool callchain_in_use(void)
{
	ASSERT_PERF(host_mutex_held(&perf_mutex));
	return chain_events;
}

/* The chain as it grows. */
struct chain {
	u64 *at;
	u32 nr;
	u32 addresses, marks;	/* that may still come */
};

/* One part: its mark, and the addresses behind it. Without a mark it would be taken for another part. Inline: then walk is a
 * call like any other, and c is in registers. */
static inline __attribute__((always_inline)) void add_part(struct chain *c, u64 mark,
							u32 (*walk)(const struct pt_regs *, u64 *, u32),
							const struct pt_regs *regs)
{
	u32 got;

	if (!c->marks)
		return;
	c->marks--;
	c->at[c->nr++] = mark;
	got = walk(regs, c->at + c->nr, c->addresses);
	c->addresses -= got;
	c->nr += got;
}

u64 *callchain_buffer(void)
{
	ASSERT_PERF(buffer[host_cpu()]);
	return buffer[host_cpu()];
}

u32 callchain_get(const struct perf_event *e, const struct pt_regs *regs, u64 *to, u32 room)
{
	struct chain c = { .at = to, .addresses = e->attr.sample_max_stack, .marks = (u32)sysctl_max_contexts() };
	bool user = host_regs_user(regs);
	struct task *t = host_current();

	ASSERT_PERF(room >= CHAIN_CONTEXTS);
	c.addresses = min_t(u32, c.addresses, room - CHAIN_CONTEXTS);
	if (!user && !e->attr.exclude_callchain_kernel)
		add_part(&c, PERF_CONTEXT_KERNEL, host_callchain_kernel, regs);
	if (!e->attr.exclude_callchain_user && !host_task_is_kernel(t))
		add_part(&c, PERF_CONTEXT_USER, host_callchain_user, user ? regs : host_task_user_regs(t));
	return c.nr;
}
