/* SPDX-License-Identifier: MIT */
/*
 * PERF_RECORD_SAMPLE.
 *
 * One table says for each field of a sample, in the order of the ABI, how long it is and how it is
 * written; size and encoder cannot disagree. A field with fixed length has no size function.
 * Everything that can be long or can fail (call chain, user stack) is prepared or bounded first,
 * then the ring is reserved and the fields are written in place.
 *
 * Order, from perf_event_open(2): IDENTIFIER IP TID TIME ADDR ID STREAM_ID CPU PERIOD READ CALLCHAIN RAW
 * (BRANCH_STACK: refused at open) REGS_USER STACK_USER WEIGHT DATA_SRC TRANSACTION REGS_INTR PHYS_ADDR
 * CGROUP DATA_PAGE_SIZE CODE_PAGE_SIZE AUX (always empty: no PMU traces).
 */
#include "sample.h"

#define REGS_ABI_NONE	0
#define REGS_ABI_64	2
#define MEM_NA		0x1e05080021ULL	/* PERF_MEM_x_NA of op, lvl, snoop, lock, tlb and lvl_num */
#define ROOT_CGROUP	1		/* there is one cgroup */
#define RECORD_MAX	65528u

typedef struct perf_sample S;
typedef struct ring_write W;

static void put_id(W *w, const S *s) { ring_u64(w, s->e->root->id); }
static void put_stream(W *w, const S *s) { ring_u64(w, s->e->id); }
static void put_ip(W *w, const S *s) { ring_u64(w, s->ip); }
static void put_tid(W *w, const S *s) { ring_u32s(w, s->pid, s->tid); }
static void put_time(W *w, const S *s) { ring_u64(w, s->time); }
static void put_addr(W *w, const S *s) { ring_u64(w, s->addr); }
static void put_cpu(W *w, const S *s) { ring_u32s(w, s->cpu, 0); }
static void put_period(W *w, const S *s) { ring_u64(w, s->period); }
static void put_zero(W *w, const S *s) { ring_u64(w, 0); }
static void put_src(W *w, const S *s) { ring_u64(w, MEM_NA); }
static void put_phys(W *w, const S *s) { ring_u64(w, s->phys); }
static void put_cgroup(W *w, const S *s) { ring_u64(w, ROOT_CGROUP); }
static void put_dpage(W *w, const S *s) { ring_u64(w, s->data_page); }
static void put_cpage(W *w, const S *s) { ring_u64(w, s->code_page); }

/* A raw part of 4 bytes: its length and a zero. Software events have nothing else to say. */
static void put_raw(W *w, const S *s)
{
	ring_u32s(w, 4, 0);
}

/* --- READ: as read(2), but of this task's copy, and without waiting for anybody ------------------------ */

static u32 size_read(const S *s)
{
	return (u32)read_size_for(s->e->attr.read_format, s->e->leader->group.nr);
}

static void refresh(struct perf_event *e)
{
	event_settle(e);
	if (is_placed(e))
		count_read(e);
}

/* A copy that inherits reports its own values, a family without samples per task the sum so far. */
static bool own_values(const struct perf_event *e)
{
	return e->attr.inherit;
}

static void put_value(W *w, struct perf_event *e)
{
	u64 rf = e->attr.read_format;

	ring_u64(w, e->count + (own_values(e) ? 0 : e->child_count));
	if (!(rf & PERF_FORMAT_GROUP)) {
		if (rf & PERF_FORMAT_TOTAL_TIME_ENABLED)
			ring_u64(w, e->enabled + e->child_enabled);
		if (rf & PERF_FORMAT_TOTAL_TIME_RUNNING)
			ring_u64(w, e->running + e->child_running);
	}
	if (rf & PERF_FORMAT_ID)
		ring_u64(w, e->root->id);
	if (rf & PERF_FORMAT_LOST)
		ring_u64(w, __atomic_load_n(&e->root->lost, __ATOMIC_RELAXED));
}

static void put_read(W *w, const S *s)
{
	struct perf_event *leader = s->e->leader, *m;
	u64 rf = s->e->attr.read_format;

	ctx_clock(s->e->ctx);
	if (!(rf & PERF_FORMAT_GROUP)) {
		refresh(s->e);
		put_value(w, s->e);
		return;
	}
	ring_u64(w, leader->group.nr);
	for_each_member(m, leader)
		refresh(m);
	if (rf & PERF_FORMAT_TOTAL_TIME_ENABLED)
		ring_u64(w, s->e->enabled);
	if (rf & PERF_FORMAT_TOTAL_TIME_RUNNING)
		ring_u64(w, s->e->running);
	for_each_member(m, leader) {
		u64 own = m->count + (own_values(m) ? 0 : m->child_count);

		ring_u64(w, own);
		if (rf & PERF_FORMAT_ID)
			ring_u64(w, m->root->id);
		if (rf & PERF_FORMAT_LOST)
			ring_u64(w, __atomic_load_n(&m->root->lost, __ATOMIC_RELAXED));
	}
}

/* --- chains, registers, stack ---------------------------------------------------------------------------- */

static u32 size_chain(const S *s)
{
	return 8 + 8 * s->nr_chain;
}

static void put_chain(W *w, const S *s)
{
	ring_u64(w, s->nr_chain);
	for (u32 i = 0; i < s->nr_chain; i++)
		ring_u64(w, s->chain[i]);
}

static u32 size_regs(const struct pt_regs *regs, u64 mask)
{
	return 8 + (regs ? 8 * (u32)__builtin_popcountll(mask) : 0);
}

static void put_regs(W *w, const struct pt_regs *regs, u64 mask)
{
	ring_u64(w, regs ? REGS_ABI_64 : REGS_ABI_NONE);
	for (; regs && mask; mask &= mask - 1)
		ring_u64(w, host_regs_get(regs, (u32)__builtin_ctzll(mask)));
}

static u32 size_uregs(const S *s) { return size_regs(s->uregs, s->e->attr.sample_regs_user); }
static void put_uregs(W *w, const S *s) { put_regs(w, s->uregs, s->e->attr.sample_regs_user); }
static u32 size_iregs(const S *s) { return size_regs(s->regs, s->e->attr.sample_regs_intr); }
static void put_iregs(W *w, const S *s) { put_regs(w, s->regs, s->e->attr.sample_regs_intr); }

static u32 size_stack(const S *s)
{
	return s->stack_size ? 8 + s->stack_size + 8 : 8;
}

static void put_stack(W *w, const S *s)
{
	u32 got;

	ring_u64(w, s->stack_size);
	if (!s->stack_size)
		return;
	got = ring_user_bytes(w, host_regs_sp(s->uregs), s->stack_size);
	ring_u64(w, got);
}

/* --- the table --------------------------------------------------------------------------------------------- */

static const struct {
	u64 bit;
	u32 (*size)(const S *s);	/* NULL: 8 */
	void (*put)(W *w, const S *s);
} fields[] = {
	{ PERF_SAMPLE_IDENTIFIER, NULL, put_id },
	{ PERF_SAMPLE_IP, NULL, put_ip },
	{ PERF_SAMPLE_TID, NULL, put_tid },
	{ PERF_SAMPLE_TIME, NULL, put_time },
	{ PERF_SAMPLE_ADDR, NULL, put_addr },
	{ PERF_SAMPLE_ID, NULL, put_id },
	{ PERF_SAMPLE_STREAM_ID, NULL, put_stream },
	{ PERF_SAMPLE_CPU, NULL, put_cpu },
	{ PERF_SAMPLE_PERIOD, NULL, put_period },
	{ PERF_SAMPLE_READ, size_read, put_read },
	{ PERF_SAMPLE_CALLCHAIN, size_chain, put_chain },
	{ PERF_SAMPLE_RAW, NULL, put_raw },
	{ PERF_SAMPLE_REGS_USER, size_uregs, put_uregs },
	{ PERF_SAMPLE_STACK_USER, size_stack, put_stack },
	{ PERF_SAMPLE_WEIGHT, NULL, put_zero },
	{ PERF_SAMPLE_WEIGHT_STRUCT, NULL, put_zero },
	{ PERF_SAMPLE_DATA_SRC, NULL, put_src },
	{ PERF_SAMPLE_TRANSACTION, NULL, put_zero },
	{ PERF_SAMPLE_REGS_INTR, size_iregs, put_iregs },
	{ PERF_SAMPLE_PHYS_ADDR, NULL, put_phys },
	{ PERF_SAMPLE_CGROUP, NULL, put_cgroup },
	{ PERF_SAMPLE_DATA_PAGE_SIZE, NULL, put_dpage },
	{ PERF_SAMPLE_CODE_PAGE_SIZE, NULL, put_cpage },
	{ PERF_SAMPLE_AUX, NULL, put_zero },
};

static u32 sample_size(const S *s)
{
	u32 size = 8;

	for (u32 i = 0; i < ARRAY_SIZE(fields); i++)
		if (s->type & fields[i].bit)
			size += fields[i].size ? fields[i].size(s) : 8;
	return size;
}

/* --- preparation --------------------------------------------------------------------------------------------- */

static void prepare_user(S *s)
{
	struct task *t = host_current();

	if (!(s->type & (PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER)))
		return;
	if (host_regs_user(s->regs))
		s->uregs = s->regs;
	else if (!host_task_is_kernel(t))
		s->uregs = host_task_user_regs(t);
}

/* As much stack as was asked for and as the record can hold. */
static void prepare_stack(S *s)
{
	u32 room, want = s->e->attr.sample_stack_user;

	if (!(s->type & PERF_SAMPLE_STACK_USER) || !s->uregs)
		return;
	room = RECORD_MAX - sample_size(s) - 8;
	s->stack_size = min_t(u32, want, room) & ~7u;
}

static void prepare(S *s, struct perf_event *e, const struct pt_regs *regs, u64 addr, u64 period)
{
	struct task *t = record_subject();

	*s = (S){ .e = e, .regs = regs, .type = e->attr.sample_type, .addr = addr, .period = period };
	s->ip = host_regs_pc(regs);
	s->pid = host_task_tgid(t);
	s->tid = host_task_tid(t);
	s->cpu = host_cpu();
	if (s->type & PERF_SAMPLE_TIME)
		s->time = record_time(e);
	if (s->type & PERF_SAMPLE_CALLCHAIN)
		s->nr_chain = callchain_get(e, regs, &s->chain);
	if (s->type & (PERF_SAMPLE_PHYS_ADDR | PERF_SAMPLE_DATA_PAGE_SIZE))
		host_page_of(addr, &s->phys, &s->data_page);
	if (s->type & PERF_SAMPLE_CODE_PAGE_SIZE)
		host_page_of(s->ip, NULL, &s->code_page);
	prepare_user(s);
	prepare_stack(s);
	s->size = sample_size(s);
}

/* wakeup_events: every n samples, whatever the watermark says. */
static void count_for_wakeup(struct ring_write *w, const struct perf_event *e)
{
	struct perf_ring *r = w->ring;

	if (e->attr.watermark || !e->attr.wakeup_events)
		return;
	if (++r->samples < e->attr.wakeup_events)
		return;
	r->samples -= e->attr.wakeup_events;
	w->wake = true;
}

void sample_output(struct perf_event *e, const struct pt_regs *regs, u64 addr, u64 period)
{
	struct ring_write w;
	S s;

	if (!READ_ONCE(e->root->ring))
		return;
	prepare(&s, e, regs, addr, period);
	if (s.size > RECORD_MAX || !record_begin(e, &w, s.size))
		return;
	STAT_INC(samples);
	ring_header(&w, PERF_RECORD_SAMPLE,
		    host_regs_user(regs) ? PERF_RECORD_MISC_USER : PERF_RECORD_MISC_KERNEL, s.size);
	for (u32 i = 0; i < ARRAY_SIZE(fields); i++)
		if (s.type & fields[i].bit)
			fields[i].put(&w, &s);
	count_for_wakeup(&w, e);
	record_end(&w);
}

/* What child, a copy with inherit_stat, has counted so far: its values by read_format. */
void sample_read_output(struct perf_event *child)
{
	S s = { .e = child, .pid = host_task_tgid(child->ctx->task), .tid = host_task_tid(child->ctx->task) };
	u32 size = 16 + size_read(&s) + trailer_size(child);
	struct ring_write w;

	if (!record_begin(child, &w, size))
		return;
	ring_header(&w, PERF_RECORD_READ, 0, size);
	put_tid(&w, &s);
	put_read(&w, &s);
	trailer_put(&w, child);
	record_end(&w);
}
