/* SPDX-License-Identifier: MIT */
/*
 * Contexts: the events of a task, or of a CPU.
 *
 * A context is in on a CPU or out. A CPU's own context is in for ever; a task's is in while the task
 * runs. That decides who owns the state of its events: in - the CPU it is in on, with IRQs off; out -
 * whoever holds ctx->lock. Only the CPU that a context is in on takes it out, so what is in here stays
 * while IRQs are off, and needs no lock. Else ctx_call decides under the lock where to work: here, or by an
 * IPI on the CPU that has it, and again if it has moved meanwhile.
 *
 * The clock. time advances while the context is in. A bucket (events of one CPU filter) has its
 * own, which advances while the context is in on that CPU.
 */
#include "core.h"

static void bucket_init(struct perf_bucket *b, int cpu)
{
	b->cpu = cpu;
	list_init(&b->soft);
	list_init(&b->clocks);
	for (u32 i = 0; i < PMU_MAX; i++) {
		list_init(&b->pmu[i].pinned);
		list_init(&b->pmu[i].flexible);
	}
}

/* Its memory is zero. */
void ctx_init(struct perf_ctx *ctx, struct task *t)
{
	host_spin_init(&ctx->lock);
	ctx->task = t;
	ctx->oncpu = -1;
	list_init(&ctx->events);
	list_init(&ctx->mapped);
	for (u32 i = 0; i < perf_nr_pmus; i++)
		list_init(&ctx->seats[i].active);
	bucket_init(&ctx->any, -1);
}

/* A task's context is a user of the switch hook. */
static void in_use(int n)
{
	STAT_ADD(contexts, n);
	__atomic_fetch_add(&perf_switch_users, (u32)n, __ATOMIC_SEQ_CST);
}

/* For a task, in use. NULL: no memory. P, m. */
struct perf_ctx *ctx_alloc(struct task *t)
{
	struct perf_ctx *ctx = host_zalloc(offsetof(struct perf_ctx, seats[perf_nr_pmus]));

	if (!ctx)
		return NULL;
	ctx_init(ctx, t);
	in_use(1);
	return ctx;
}

static void free_buckets(struct perf_ctx *ctx)
{
	for (u32 c = 0; c < host_nr_cpus(); c++) {
		if (ctx->bycpu[c])
			STAT_DEC(buckets);
		host_free(ctx->bycpu[c]);
	}
	host_free(ctx->bycpu);
	ctx->bycpu = NULL;
}

/* No task has it any more and it is out: only its memory is left, for ctx_reuse or host_free. P, m. */
void ctx_rest(struct perf_ctx *ctx)
{
	ASSERT_PERF(ctx->oncpu < 0 && !ctx->nr_events && list_empty(&ctx->events) && !ctx->parked &&
		    !ctx->traps_owed);
	if (unlikely(ctx->bycpu))
		free_buckets(ctx);
	in_use(-1);
}

/* As if it came from ctx_alloc, for the same task; but its clock goes on. P, m. */
void ctx_reuse(struct perf_ctx *ctx)
{
	ctx->dead = false;
	for (u32 i = 0; i < perf_nr_pmus; i++) {
		ctx->unmet[i] = false;
		ctx->rotated[i] = ctx->time;
	}
	in_use(1);
}

void ctx_free(struct perf_ctx *ctx)
{
	ctx_rest(ctx);
	host_free(ctx);
}

struct ctx_request {
	struct perf_ctx *ctx;
	void (*fn)(struct perf_ctx *, void *);
	void *arg;
	int elsewhere;		/* CPU to try, -1: done */
};

/* Run the request if the context can be worked on from here. IRQs off. */
static void try_call(void *arg)
{
	struct ctx_request *r = arg;
	struct perf_ctx *ctx = r->ctx;

	host_spin_lock(&ctx->lock);
	r->elsewhere = __atomic_load_n(&ctx->oncpu, __ATOMIC_ACQUIRE);	/* ctx_out */
	if (r->elsewhere == (int)host_cpu())
		r->elsewhere = -1;
	if (r->elsewhere < 0) {
		if (ctx->parked)
			unpark_all(ctx);
		r->fn(ctx, r->arg);
	}
	host_spin_unlock(&ctx->lock);
}

/* ctx is out, or was in elsewhere when we looked. */
void ctx_call_elsewhere(struct perf_ctx *ctx, void (*fn)(struct perf_ctx *, void *), void *arg)
{
	struct ctx_request r = { ctx, fn, arg, -1 };
	u64 flags = host_irq_save();

	try_call(&r);
	host_irq_restore(flags);
	while (r.elsewhere >= 0) {
		STAT_INC(remote_calls);
		HOST_PAUSE("remote");
		if (host_call_on_cpu((u32)r.elsewhere, try_call, &r))
			ASSERT_PERF(!"context in on a CPU that is off");
	}
}

/* The bucket of a task's context for the events of one CPU. NULL: no memory. P, m. */
struct perf_bucket *ctx_bucket_of(struct perf_ctx *ctx, u32 cpu)
{
	struct perf_bucket *b;

	if (!ctx->bycpu) {
		struct perf_bucket **all = host_zalloc(host_nr_cpus() * sizeof(struct perf_bucket *));

		if (!all)
			return NULL;
		__atomic_store_n(&ctx->bycpu, all, __ATOMIC_RELEASE);	/* zeros first: bucket_here */
	}
	b = ctx->bycpu[cpu];
	if (b)
		return b;
	b = host_zalloc(sizeof(*b));
	if (!b)
		return NULL;
	bucket_init(b, (int)cpu);
	STAT_INC(buckets);
	__atomic_store_n(&ctx->bycpu[cpu], b, __ATOMIC_RELEASE);
	return b;
}

/* By ctx_in, while another CPU makes the array or a bucket: pairs with the releases of ctx_bucket. */
static struct perf_bucket *bucket_here(struct perf_ctx *ctx, u32 cpu)
{
	struct perf_bucket **all = __atomic_load_n(&ctx->bycpu, __ATOMIC_ACQUIRE);

	return all && is_tasks(ctx) ? __atomic_load_n(&all[cpu], __ATOMIC_ACQUIRE) : NULL;
}

/* Link e into ctx. mc, after ctx_clock. */
void ctx_add_event(struct perf_ctx *ctx, struct perf_event *e, struct perf_bucket *b)
{
	ASSERT_HOT(ctx_owned(ctx) && !e->ctx);
	if (unlikely(b != &ctx->any) && !ctx->here && ctx->oncpu >= 0)
		ctx->here = bucket_here(ctx, (u32)ctx->oncpu);
	WRITE_ONCE(e->ctx, ctx);	/* event_try_here looks at it from anywhere */
	e->bucket = b;
	list_add_tail(&e->ctx_node, &ctx->events);
	ctx->nr_events++;
	/* Copies with a value of their own per task stay with their task. */
	if (e->attr.inherit_stat || (e->attr.inherit && e->attr.sample_type & PERF_SAMPLE_READ))
		ctx->noswap++;
	ctx->nr_switch += e->attr.context_switch;
	WRITE_ONCE(ctx->clone_id, 0);
	event_restamp(e);
}

/* e is alone in its group, not listed, not placed. mc. */
void ctx_del_event(struct perf_event *e)
{
	struct perf_ctx *ctx = e->ctx;

	ASSERT_HOT(ctx_owned(ctx) && !is_placed(e) && !e->group.listed);
	ASSERT_HOT(!e->soft_listed && !e->clock_listed && !e->throttled);
	list_del(&e->ctx_node);
	userpage_forget(e);
	ctx->nr_events--;
	if (e->attr.inherit_stat || (e->attr.inherit && e->attr.sample_type & PERF_SAMPLE_READ))
		ctx->noswap--;
	ctx->nr_switch -= e->attr.context_switch;
	overflow_forget_trap(e);
	WRITE_ONCE(ctx->clone_id, 0);
	e->bucket = NULL;
	WRITE_ONCE(e->ctx, NULL);
}

static void update_pages(struct perf_ctx *ctx)
{
	struct perf_event *e;

	list_for_each(e, &ctx->mapped, map_node)
		userpage_update(e);
}

/*
 * ctx's task starts to run on this CPU. Places nothing. False if ctx has parted from the task while we came
 * (somebody closed its last event on another CPU). o.
 */
bool ctx_in(struct perf_ctx *ctx, struct perf_cpu *pc, u64 now)
{
	bool dead;

	host_spin_lock(&ctx->lock);
	ASSERT_PERF(__atomic_load_n(&ctx->oncpu, __ATOMIC_ACQUIRE) < 0);
	dead = ctx->dead;
	if (likely(!dead)) {
		WRITE_ONCE(ctx->oncpu, (int)pc->id);
		ctx->stamp = now;
		ctx->here = bucket_here(ctx, pc->id);
		ctx->parked = false;	/* place_after_switch sees to what is */
	}
	host_spin_unlock(&ctx->lock);
	if (unlikely(dead))
		return false;
	pc->task_ctx = ctx;
	if (unlikely(ctx->nr_clocks))
		clocks_in(ctx);
	if (unlikely(!list_empty(&ctx->mapped)))
		pc->stale |= STALE_TASK;
	return true;
}

/*
 * It stops: everything of it leaves the counters of this CPU. o. Whoever finds it out owns it from then on, and needs what
 * was written here: the release.
 */
void ctx_out(struct perf_ctx *ctx, struct perf_cpu *pc, u64 now)
{
	ASSERT_HOT(pc->task_ctx == ctx && ctx->oncpu == (int)pc->id && host_irqs_off());
	ctx_clock_at(ctx, now);
	for (u32 i = 0; i < perf_nr_pmus; i++) {
		struct perf_cpu_pmu *pp = &pc->pmu[i];

		if (pp->seats->nr_active && !park_out(pp, ctx))
			evict_ctx(pp, ctx);
		if (pp->seats != pp->own)
			seats_return(pp);
	}
	if (unlikely(pc->throttled))
		overflow_unthrottle_soft(pc, ctx);
	if (unlikely(ctx->nr_clocks))
		clocks_out(ctx);
	if (unlikely(!list_empty(&ctx->mapped)))
		update_pages(ctx);
	pc->stale &= ~STALE_TASK;
	pc->task_ctx = NULL;
	ctx->here = NULL;
	__atomic_store_n(&ctx->oncpu, -1, __ATOMIC_RELEASE);
}
