/* SPDX-License-Identifier: MIT */
/*
 * PMUs and CPUs: registration, start, and which PMU an event belongs to.
 */
#include "core.h"

#define FIRST_TYPE 10		/* as on Linux 6.12: 6 and 7 are the clocks, kprobe and uprobe have 8 and 9 */
#define MUX_MS 4		/* 1000 / HZ */

host_mutex perf_mutex;
struct perf_cpu perf_cpus[HOST_MAX_CPUS];
struct pmu *perf_pmus[PMU_MAX];
u32 perf_nr_pmus;
u32 perf_tick_users[HOST_MAX_CPUS];

static bool started;

static void pmu_online(struct perf_cpu *pc, u32 i)
{
	struct perf_cpu_pmu *pp = &pc->pmu[i];

	if (pp->online)
		return;
	pp->pmu = perf_pmus[i];
	pp->cpu = pc;
	pp->seats = pp->own = &pc->ctx.seats[i];
	seats_init(pp->own);
	rotate_init(pp);
	if (!(pp->pmu->cpus & BIT(pc->id)))
		return;
	pp->pmu->ops->cpu_online(pp->pmu);
	pp->paused = true;
	pp->online = true;
}

static void pmu_online_here(void *arg)
{
	struct perf_cpu *pc = this_perf_cpu();

	if (pc->online)
		pmu_online(pc, *(u32 *)arg);
}

static bool ops_complete(const struct pmu_ops *o)
{
	return o && o->event_init && o->choose && o->width && o->program && o->stop && o->read && o->read_paused &&
	       o->write && o->pause && o->resume && o->cpu_online &&
	       (!o->user_access || (o->user_index && o->user_width));
}

int pmu_register(struct pmu *pmu)
{
	u32 i = perf_nr_pmus;

	if (!pmu->name || !pmu->counters || !ops_complete(pmu->ops))
		return -EINVAL;
	if (i == PMU_MAX)
		return -ENOSPC;
	if (__atomic_load_n(&perf_stats.tasks, __ATOMIC_RELAXED))
		return -EBUSY;		/* their contexts, in use or at rest, have no room for it: ctx_alloc */
	ASSERT_PERF(!perf_stats.contexts);
	pmu->index = i;
	pmu->type = FIRST_TYPE + i;
	pmu->mux_interval_ms = MUX_MS;
	perf_pmus[i] = pmu;
	if (started)
		for (u32 c = 0; c < host_nr_cpus(); c++)
			if (READ_ONCE(perf_cpus[c].online))
				(void)host_call_on_cpu(c, pmu_online_here, &i);
	__atomic_store_n(&perf_nr_pmus, i + 1, __ATOMIC_RELEASE);
	return 0;
}

struct perf_cpu_pmu *perf_pmu_here(struct pmu *pmu)
{
	return &this_perf_cpu()->pmu[pmu->index];
}

/* This CPU's own context comes in, and its PMUs start. O. */
void perf_cpu_online(void)
{
	struct perf_cpu *pc = this_perf_cpu();
	struct perf_ctx *ctx = &pc->ctx;

	ASSERT_PERF(host_irqs_off() && !pc->online);
	pc->id = host_cpu();
	ctx_init(ctx, NULL);
	ctx->oncpu = (int)pc->id;
	ctx->stamp = host_now();
	for (u32 i = 0; i < perf_nr_pmus; i++)
		pmu_online(pc, i);
	WRITE_ONCE(pc->online, true);
}

void perf_init(void)
{
	u64 flags;

	host_mutex_init(&perf_mutex);
	started = true;
	flags = host_irq_save();
	perf_cpu_online();
	host_irq_restore(flags);
}

/* Registers beyond the general ones, which only some PMUs can sample; asked for or not by sample_type. */
int pmu_refuse_regs(const struct perf_event_attr *a, struct perf_why *why)
{
	u64 regs = (a->sample_regs_user | a->sample_regs_intr) & host_regs_extended();

	return regs ? perf_refuse(why, -EOPNOTSUPP, "sample_regs", regs, "the PMU cannot sample them") : 0;
}

static inline int try_pmu(struct pmu *pmu, struct perf_event *e, bool task, struct perf_why *why)
{
	struct perf_hw_target target = { task, e->cpu };
	const struct perf_event_attr *a = &e->attr;
	int err;

	if (e->cpu >= 0 && !(pmu->cpus & BIT((u32)e->cpu)))
		return perf_refuse(why, -ENOENT, "cpu", (u64)e->cpu, "the CPU lacks this PMU");
	if (a->sample_type & PERF_SAMPLE_BRANCH_STACK)
		return perf_refuse(why, -EOPNOTSUPP, "sample_type", a->sample_type,
				   "the PMU records no branches");
	err = pmu->ops->event_init(pmu, &e->hw, a, &target, why);
	if (err)
		return err;
	if (!(pmu->caps & PMU_EXTENDED_REGS) && pmu_refuse_regs(a, why))
		return -EOPNOTSUPP;
	if (pmu->caps & PMU_NO_EXCLUDE &&
	    (a->exclude_user || a->exclude_kernel || a->exclude_hv || a->exclude_idle))
		return perf_refuse(why, -EINVAL, "exclude", 1, "the PMU cannot filter");
	e->kind = PERF_KIND_HW;
	e->pmu = pmu;
	group_alone(e);
	return 0;
}

static struct pmu *pmu_by_type(u64 type)
{
	for (u32 i = 0; i < perf_nr_pmus; i++)
		if (perf_pmus[i]->type == type)
			return perf_pmus[i];
	return NULL;
}

/* PMUs that have no generic hardware events: naming one in config[63:32] is refused. */
static bool is_software_type(u64 type)
{
	return type == PERF_TYPE_SOFTWARE || type == PERF_TYPE_TRACEPOINT ||
	       (type >= PERF_TYPE_BREAKPOINT && type < FIRST_TYPE);
}

static int hardware_init(struct perf_event *e, bool task, struct perf_why *why)
{
	u32 type = e->attr.type, i = 0, end = perf_nr_pmus;
	u64 wanted = type;
	struct pmu *pmu;
	int err;

	if (type == PERF_TYPE_HARDWARE || type == PERF_TYPE_HW_CACHE) {
		wanted = e->attr.config >> PERF_PMU_TYPE_SHIFT;
		e->attr.config &= PERF_HW_EVENT_MASK;
	} else if (type == PERF_TYPE_RAW) {
		wanted = 0;
	}
	if (wanted) {
		pmu = pmu_by_type(wanted);
		if (pmu ? type != wanted && !(pmu->caps & PMU_EXTENDED_TYPE) : is_software_type(wanted))
			return perf_refuse(why, -ENOENT, "type", wanted, "no PMU of this type");
		if (pmu) {
			i = pmu->index;
			end = i + 1;
		}
		/* A type that nobody has: every PMU is asked and may have its own reason to refuse (seen on
		 * Linux 6.12). An extended type that nobody has is taken as none. */
	}
	if (i == end)
		return perf_refuse(why, -ENOENT, "type", type, "no PMU");
	do
		err = try_pmu(perf_pmus[i], e, task, why);
	while (err == -ENOENT && ++i < end);
	return err;
}

/* Find e's PMU and fill kind, pmu and hw. 0 or -errno as Linux. P. */
int pmu_event_init(struct perf_event *e, bool task, struct perf_why *why)
{
	switch (e->attr.type) {
	case PERF_TYPE_SOFTWARE:
	case PERF_TYPE_CPU_CLOCK:
	case PERF_TYPE_TASK_CLOCK:
		return sw_event_init(e, why);
	case PERF_TYPE_TRACEPOINT:
		return perf_refuse(why, -ENOENT, "type", e->attr.type, "there are no tracepoints");
	case PERF_TYPE_BREAKPOINT:
		return perf_refuse(why, -ENOENT, "type", e->attr.type, "there are no breakpoints");
	default:
		return hardware_init(e, task, why);
	}
}
