/* SPDX-License-Identifier: MIT */
/*
 * Software events.
 *
 * The kernel says perf_sw_event(id) where something happens. While no event of that id exists this is
 * one load and a branch. Else the enabled events of the running task and of the CPU are looked
 * through: they are on the "soft" lists of the buckets that are in here. They cost a context switch
 * nothing, because the lists come and go with their context.
 *
 * The clocks need no hook: cpu-clock and task-clock count the time they ran, which event_settle
 * knows. dummy, bpf-output and cgroup-switches (there is one cgroup) never count.
 */
#include "core.h"

u32 perf_sw_users[PERF_COUNT_SW_MAX];
_Static_assert(PERF_COUNT_SW_MAX == 12, "perf.h declares the array with this size");

static enum perf_kind kind_of(u64 id)
{
	switch (id) {
	case PERF_COUNT_SW_CPU_CLOCK:
	case PERF_COUNT_SW_TASK_CLOCK:
		return PERF_KIND_CLOCK;
	case PERF_COUNT_SW_DUMMY:
	case PERF_COUNT_SW_BPF_OUTPUT:
	case PERF_COUNT_SW_CGROUP_SWITCHES:
		return PERF_KIND_NONE;
	default:
		return PERF_KIND_COUNT;
	}
}

/* The clocks' own types name one event each. */
static bool clock_type_refused(const struct perf_event_attr *a)
{
	return a->type != PERF_TYPE_SOFTWARE && a->config != a->type - PERF_TYPE_CPU_CLOCK;
}

/* An event of PERF_TYPE_SOFTWARE or of a clock's type: 0 or -errno. P. */
int sw_event_init(struct perf_event *e, struct perf_why *why)
{
	int err;

	if (e->attr.sample_type & PERF_SAMPLE_BRANCH_STACK)
		return perf_refuse(why, -EOPNOTSUPP, "sample_type", e->attr.sample_type,
				   "software events have no branch stack");
	if (e->attr.config >= PERF_COUNT_SW_MAX || clock_type_refused(&e->attr))
		return perf_refuse(why, -ENOENT, "config", e->attr.config, "no such software event");
	err = pmu_refuse_regs(&e->attr, why);
	if (err)
		return err;
	e->kind = kind_of(e->attr.config);
	if (e->kind == PERF_KIND_CLOCK && e->attr.freq && e->attr.sample_freq) {
		/* A clock needs no adaption: the frequency is a period. */
		e->sample_period = NSEC_PER_SEC / e->attr.sample_freq;
		e->last_period = e->sample_period;
		e->period_left = (s64)e->sample_period;
		e->attr.freq = 0;
		e->attr.sample_period = e->sample_period;
	}
	return 0;
}

static bool by_switch(const struct perf_event *e)
{
	return e->attr.config == PERF_COUNT_SW_CONTEXT_SWITCHES ||
	       e->attr.config == PERF_COUNT_SW_CPU_MIGRATIONS;
}

static void account(struct perf_event *e, int n)
{
	if (e->kind != PERF_KIND_COUNT || !e->accounted)
		return;
	__atomic_fetch_add(&perf_sw_users[e->attr.config], (u32)n, __ATOMIC_SEQ_CST);
	if (by_switch(e))
		switch_watch((u32)n);
}

/* The hooks are needed from here on / no longer. Hardware events pass through. */
void sw_event_born(struct perf_event *e)
{
	e->accounted = true;
	account(e, 1);
}

void sw_event_dies(struct perf_event *e)
{
	account(e, -1);
}

static bool excluded(const struct perf_event *e, bool user)
{
	return user ? e->attr.exclude_user : e->attr.exclude_kernel;
}

struct happening {
	u32 id;
	bool user;
	u64 n, addr;
	const struct pt_regs *regs;
	struct task *task;
};

/*
 * Whole periods that are over. With PERIOD in the sample and a fixed period, Linux gives a sample for every
 * happening, whatever the period: it says itself how much it stands for. One sample of a happening is always
 * allowed; only a burst of them is throttled.
 */
static inline void sample(struct perf_event *e, const struct happening *h)
{
	if (e->attr.sample_type & PERF_SAMPLE_PERIOD && !e->attr.freq) {
		event_overflow(e, h->regs, h->task, h->addr, h->n, false, host_now());
		return;
	}
	e->period_left -= (s64)h->n;
	for (bool more = false; e->period_left <= 0 && !e->throttled; more = true) {
		u64 period = e->last_period;

		e->last_period = e->sample_period;
		e->period_left += (s64)e->sample_period;
		event_overflow(e, h->regs, h->task, h->addr, period, more, host_now());
	}
}

/* Events on a soft list are enabled (event_relist). */
static void count_in(struct list *soft, const struct happening *h)
{
	struct perf_event *e;

	list_for_each(e, soft, soft_node) {
		ASSERT_HOT(is_enabled(e));
		if (e->attr.config != h->id || !group_runs(e->leader) || e->throttled || excluded(e, h->user))
			continue;
		e->count += h->n;
		if (is_sampling(e))
			sample(e, h);
	}
}

static inline void count_in_ctx(struct perf_ctx *ctx, const struct happening *h)
{
	if (!list_empty(&ctx->any.soft))
		count_in(&ctx->any.soft, h);
	if (ctx->here && !list_empty(&ctx->here->soft))
		count_in(&ctx->here->soft, h);
}

void perf_sw_event_slow(u32 id, u64 n, struct pt_regs *regs, u64 addr)
{
	u64 flags = host_irq_save();
	struct perf_cpu *pc = this_perf_cpu();
	struct happening h = { id, regs && host_regs_user(regs), n, addr, regs ? regs : host_here_regs(),
			       pc->as ? pc->as : host_current() };

	if (pc->online) {
		if (pc->task_ctx)
			count_in_ctx(pc->task_ctx, &h);
		count_in_ctx(&pc->ctx, &h);
	}
	host_irq_restore(flags);
}
