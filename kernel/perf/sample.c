/* SPDX-License-Identifier: MIT */
/*
 * PERF_RECORD_SAMPLE.
 *
 * One table says for each field of a sample, in the order of the ABI, how long it is and how it is
 * written; size and encoder are both made from it and cannot disagree. The compiler makes straight code of
 * it: a test of one bit for a field that is not wanted, a store for one that is. The size of the fields
 * with a fixed length is known when the event is opened.
 *
 * Everything that can be long or can fail (call chain, user stack) is prepared or bounded first, then the ring is reserved
 * and the fields are written in place. Where the ring allows it (ring.c, "the straight way") a sample of the common fields, with
 * or without a call chain, is a row of stores in one page.
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
typedef struct ring_at W;

/* --- READ: as read(2), but of this task's copy, and without waiting for anybody ------------------------ */

static u64 two_u32s(u32 first, u32 second)
{
	return (u64)second << 32 | first;
}

static u32 size_read(const S *s)
{
	return (u32)read_size_for(s->e->attr.read_format, s->e->leader->group.nr);
}

/* A copy that inherits reports its own values, a family without samples per task the sum so far. */
static bool own_values(const struct perf_event *e)
{
	return e->attr.inherit;
}

/* What the format wants to know of each event beside its count. All losses are the root's: a copy has none of its own. */
static W put_identity(W w, const struct perf_event *e, u64 rf)
{
	if (rf & PERF_FORMAT_ID)
		w = ring_word(w, e->root->id);
	if (rf & PERF_FORMAT_LOST)
		w = ring_word(w, __atomic_load_n(&e->lost, __ATOMIC_RELAXED));
	return w;
}

static W put_value(W w, struct perf_event *e)
{
	u64 rf = e->attr.read_format;

	w = ring_word(w, e->count + (own_values(e) ? 0 : READ_ONCE(e->child_count)));
	if (rf & PERF_FORMAT_TOTAL_TIME_ENABLED)
		w = ring_word(w, e->enabled + READ_ONCE(e->child_enabled));
	if (rf & PERF_FORMAT_TOTAL_TIME_RUNNING)
		w = ring_word(w, e->running + READ_ONCE(e->child_running));
	return put_identity(w, e, rf);
}

static W put_group(W w, const S *s)
{
	struct perf_event *leader = s->e->leader, *m;
	u64 rf = s->e->attr.read_format;

	w = ring_word(w, leader->group.nr);
	for_each_member(m, leader)
		event_update(m);
	if (rf & PERF_FORMAT_TOTAL_TIME_ENABLED)
		w = ring_word(w, s->e->enabled);
	if (rf & PERF_FORMAT_TOTAL_TIME_RUNNING)
		w = ring_word(w, s->e->running);
	for_each_member(m, leader) {
		w = ring_word(w, m->count + (own_values(m) ? 0 : READ_ONCE(m->child_count)));
		w = put_identity(w, m, rf);
	}
	return w;
}

static noinline W put_read(W w, const S *s)
{
	ctx_clock(s->e->ctx);
	if (s->e->attr.read_format & PERF_FORMAT_GROUP)
		return put_group(w, s);
	event_update(s->e);
	return put_value(w, s->e);
}

/* --- chains, registers, stack ---------------------------------------------------------------------------- */

static u32 size_chain(const S *s)
{
	return 8 + 8 * s->nr_chain;
}

static W put_chain(W w, const S *s)
{
	return ring_words(ring_word(w, s->nr_chain), s->chain, s->nr_chain);
}

static u32 size_regs(const struct pt_regs *regs, u32 nr)
{
	return 8 + (regs ? 8 * nr : 0);
}

static noinline W put_some_regs(W w, const struct pt_regs *regs, u64 mask)
{
	for (; mask; mask &= mask - 1)
		w = ring_word(w, host_regs_get(regs, (u32)__builtin_ctzll(mask)));
	return w;
}

static inline W put_regs(W w, const struct pt_regs *regs, u64 mask)
{
	const u64 *all;
	u32 nr;

	w = ring_word(w, regs ? REGS_ABI_64 : REGS_ABI_NONE);
	if (!regs)
		return w;
	all = host_regs_array(regs, &nr);
	if (all && mask == (1ULL << nr) - 1)	/* what perf asks for to unwind a stack */
		return ring_words(w, all, nr);
	return put_some_regs(w, regs, mask);
}

static u32 size_uregs(const S *s) { return size_regs(s->uregs, s->e->nr_uregs); }
static u32 size_iregs(const S *s) { return size_regs(s->regs, s->e->nr_iregs); }

static u32 size_stack(const S *s)
{
	return s->stack_size ? 8 + s->stack_size + 8 : 8;
}

static noinline W put_stack(W w, const S *s)
{
	u32 got;

	w = ring_word(w, s->stack_size);
	if (!s->stack_size)
		return w;
	w = ring_put_user(w, host_regs_sp(s->uregs), s->stack_size, &got);
	return ring_word(w, got);
}

/* --- the table --------------------------------------------------------------------------------------------- */

/* F(bit, word) for a field of one word; G(bit, size, how it is written to w from s) for others. RAW has a part
 * of 4 bytes: its length and a zero. Software events have nothing else to say. */
#define COMMON_FIELDS(F)							\
	F(IDENTIFIER, s->e->root->id)						\
	F(IP, host_regs_pc(s->regs))						\
	F(TID, two_u32s(host_task_tgid(s->task), host_task_tid(s->task)))	\
	F(TIME, s->time)							\
	F(ADDR, s->addr)							\
	F(ID, s->e->root->id)							\
	F(STREAM_ID, s->e->id)							\
	F(CPU, host_cpu())							\
	F(PERIOD, s->period)
#define LONG_FIELDS(F, G)							\
	G(READ, size_read(s), put_read(w, s))					\
	G(CALLCHAIN, size_chain(s), put_chain(w, s))				\
	F(RAW, 4)								\
	G(REGS_USER, size_uregs(s), put_regs(w, s->uregs, s->e->attr.sample_regs_user))	\
	G(STACK_USER, size_stack(s), put_stack(w, s))
#define LAST_FIELDS(F, G)							\
	F(WEIGHT, 0)								\
	F(WEIGHT_STRUCT, 0)							\
	F(DATA_SRC, MEM_NA)							\
	F(TRANSACTION, 0)							\
	G(REGS_INTR, size_iregs(s), put_regs(w, s->regs, s->e->attr.sample_regs_intr))	\
	F(PHYS_ADDR, s->phys)							\
	F(CGROUP, ROOT_CGROUP)							\
	F(DATA_PAGE_SIZE, s->data_page)						\
	F(CODE_PAGE_SIZE, s->code_page)						\
	F(AUX, 0)
#define SAMPLE_FIELDS(F, G) COMMON_FIELDS(F) LONG_FIELDS(F, G) LAST_FIELDS(F, G)

#define NOTHING(...)
#define WORD_BIT(bit, put) | PERF_SAMPLE_##bit
#define LONG_BIT(bit, size, put) | PERF_SAMPLE_##bit
#define WORDS	(0ULL SAMPLE_FIELDS(WORD_BIT, NOTHING))
#define LONGS	(0ULL SAMPLE_FIELDS(NOTHING, LONG_BIT))
#define LAST	(0ULL LAST_FIELDS(WORD_BIT, LONG_BIT))
#define OTHERS	(LAST LONG_FIELDS(WORD_BIT, LONG_BIT))

u16 sample_fixed_size(const struct perf_event_attr *attr)
{
	return (u16)(8 + 8 * __builtin_popcountll(attr->sample_type & WORDS));
}

static inline u32 long_size(const S *s)
{
	u32 n = 0;

#define ADD_SIZE(bit, size, put)						\
	if (s->type & PERF_SAMPLE_##bit)					\
		n += size;
	SAMPLE_FIELDS(NOTHING, ADD_SIZE)
	return n;
}

static u32 sample_size(const S *s)
{
	return s->e->sample_fixed + (s->type & LONGS ? long_size(s) : 0);
}

#define PUT_WORD(bit, word)							\
	if (s->type & PERF_SAMPLE_##bit)					\
		w = ring_word(w, word);
#define PUT_LONG(bit, size, put)						\
	if (s->type & PERF_SAMPLE_##bit)					\
		w = put;

static u64 header(const struct pt_regs *regs, u32 size)
{
	u16 misc = host_regs_user(regs) ? PERF_RECORD_MISC_USER : PERF_RECORD_MISC_KERNEL;

	return ring_header_word(PERF_RECORD_SAMPLE, misc, size);
}

/* Anywhere in the ring. */
static void put_sample(W w, const S *s, u32 size)
{
	w = ring_word(w, header(s->regs, size));
	COMMON_FIELDS(PUT_WORD)
	if (s->type & OTHERS) {
		LONG_FIELDS(PUT_WORD, PUT_LONG)
	}
	if (s->type & LAST) {
		LAST_FIELDS(PUT_WORD, PUT_LONG)
	}
}

/* --- preparation --------------------------------------------------------------------------------------------- */

static void prepare_user(S *s)
{
	struct task *t = host_current();

	if (host_regs_user(s->regs))
		s->uregs = s->regs;
	else if (!host_task_is_kernel(t))
		s->uregs = host_task_user_regs(t);
}

/* As much stack as was asked for and as the record can hold. */
static void prepare_stack(S *s, u32 used)
{
	u32 want = s->e->attr.sample_stack_user;

	if (!(s->type & PERF_SAMPLE_STACK_USER) || !s->uregs)
		return;
	used += 8;	/* the word behind it that says how much there was */
	if (used < RECORD_MAX)
		s->stack_size = min_t(u32, want, RECORD_MAX - used) & ~7u;
}

/* Fields that few samples have. */
#define RARE (PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_PHYS_ADDR | PERF_SAMPLE_DATA_PAGE_SIZE |	\
	      PERF_SAMPLE_CODE_PAGE_SIZE | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER)

/* Returns the size of the record. */
static noinline u32 prepare_rare(S *s)
{
	u32 used;

	s->nr_chain = s->stack_size = 0;
	s->uregs = NULL;
	if (s->type & PERF_SAMPLE_CALLCHAIN)
		s->chain = callchain_buffer();
	if (s->type & (PERF_SAMPLE_PHYS_ADDR | PERF_SAMPLE_DATA_PAGE_SIZE))
		host_page_of(s->addr, &s->phys, &s->data_page);
	if (s->type & PERF_SAMPLE_CODE_PAGE_SIZE)
		host_page_of(host_regs_pc(s->regs), NULL, &s->code_page);
	if (s->type & (PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER))
		prepare_user(s);
	used = sample_size(s);
	if (s->type & PERF_SAMPLE_CALLCHAIN)
		s->nr_chain = callchain_get(s->e, s->regs, s->chain, (RECORD_MAX - used) / 8);
	used += 8 * s->nr_chain;
	prepare_stack(s, used);
	return used + (s->stack_size ? s->stack_size + 8 : 0);
}

/* wakeup_events: every n samples, whatever the watermark says. */
static inline bool counts_for_wakeup(struct perf_ring *r, const struct perf_event *e)
{
	if (e->attr.watermark || !e->attr.wakeup_events)
		return false;
	if (++r->samples < e->attr.wakeup_events)
		return false;
	r->samples -= e->attr.wakeup_events;
	return true;
}

/*
 * The interrupt of a counter may come a little after what was counted, when the CPU is in the kernel already. An event that
 * excludes the kernel tells nothing of it: its sample is of where the task left user mode. (Linux gives the kernel's
 * address.) In a kernel thread there is no such place, and the kernel's is right: only events of a CPU get there, and who
 * may open those may see the kernel.
 */
static inline bool is_visible(const struct perf_event *e, const struct pt_regs *regs)
{
	return likely(host_regs_user(regs)) || !e->attr.exclude_kernel;
}

static const struct pt_regs *visible_regs(const struct perf_event *e, const struct pt_regs *regs)
{
	struct task *t = host_current();

	if (is_visible(e, regs) || host_task_is_kernel(t))
		return regs;
	return host_task_user_regs(t);
}

/* --- in any way ----------------------------------------------------------------------------------------------- */

static inline __attribute__((always_inline)) void put_anywhere(const S *s, u32 size)
{
	struct ring_write w;

	ASSERT_HOT(size <= RECORD_MAX && size == sample_size(s));
	if (!record_begin(s->e, &w, size))
		return;
	put_sample(w.to, s, size);
	w.wake |= counts_for_wakeup(w.ring, s->e);
	record_end(&w);
	if (s->e->sample_kind != SAMPLE_ANY)
		ring_look_ahead(w.ring);
}

static noinline void sample_any(struct perf_event *e, const struct pt_regs *regs, struct task *task, u64 addr,
				u64 period, u64 now)
{
	S s;	/* not an initializer: it would clear what prepare_rare sets if somebody asks for it */

	s.e = e;
	s.task = task;
	s.regs = visible_regs(e, regs);
	s.type = e->attr.sample_type;
	s.addr = addr;
	s.period = period;
	s.time = likely(!e->attr.use_clockid) ? now : record_time(e);
	put_anywhere(&s, s.type & RARE ? prepare_rare(&s) : sample_size(&s));
}

/* --- the straight way ----------------------------------------------------------------------------------------- */

enum sample_kind sample_kind(const struct perf_event_attr *attr)
{
	if (attr->sample_type & OTHERS & ~(u64)PERF_SAMPLE_CALLCHAIN || attr->use_clockid)
		return SAMPLE_ANY;
	return attr->sample_type & PERF_SAMPLE_CALLCHAIN ? SAMPLE_CHAIN : SAMPLE_COMMON;
}

#define STORE_WORD(bit, word)							\
	if (s->type & PERF_SAMPLE_##bit)					\
		*to++ = word;

/* An interrupt was quicker. */
static noinline void sample_again(struct perf_event *e, const struct pt_regs *regs, struct task *task, u64 addr,
				  u64 period, u64 now, struct perf_ring *r)
{
	ring_publish_head(r);
	sample_any(e, regs, task, addr, period, now);
}

/* Samples are counted. */
static noinline void sample_count(struct perf_event *e, struct perf_ring *r)
{
	if (counts_for_wakeup(r, e))
		record_wake(r, e->root);
}

/* An interrupt has written behind it. */
static noinline void sample_overtaken(struct perf_event *e, struct perf_ring *r)
{
	ring_publish_head(r);
	sample_count(e, r);
}

static inline __attribute__((always_inline)) void straight_end(struct perf_event *e, struct perf_ring *r, u64 next)
{
	if (unlikely(!ring_leave(r, next)))
		sample_overtaken(e, r);
	else if (e->attr.wakeup_events)
		sample_count(e, r);
}

static noinline void chain_anywhere(const S *s, u32 size)
{
	put_anywhere(s, size);
}

/* With a call chain. */
static void sample_chain(struct perf_event *e, const struct pt_regs *regs, struct task *task, u64 addr, u64 period,
			 u64 now, struct perf_ring *r)
{
	struct ring_ahead ahead;
	S sample, *s = &sample;
	u64 *to, next;
	u32 size;

	*s = (S){ .e = e, .task = task, .regs = visible_regs(e, regs), .type = e->attr.sample_type, .addr = addr,
		  .period = period, .time = now, .chain = callchain_buffer() };
	s->nr_chain = callchain_get(e, s->regs, s->chain, (RECORD_MAX - e->sample_fixed - 8) / 8);
	size = e->sample_fixed + size_chain(s);
	ahead = ring_ahead(r);
	next = ahead.head + size;
	if (unlikely(ahead.room < (s64)size))
		return chain_anywhere(s, size);
	if (unlikely(!ring_take(r, ahead.head, next))) {
		ring_publish_head(r);
		return chain_anywhere(s, size);
	}
	HOST_PAUSE("output");
	to = ahead.at;
	*to++ = header(s->regs, size);
	COMMON_FIELDS(STORE_WORD)
	*to++ = s->nr_chain;
	__builtin_memcpy(to, s->chain, 8 * s->nr_chain);
	straight_end(e, r, next);
}

static noinline void sample_other(struct perf_event *e, const struct pt_regs *regs, struct task *task, u64 addr,
				  u64 period, u64 now, struct perf_ring *r)
{
	if (e->sample_kind == SAMPLE_CHAIN)
		sample_chain(e, regs, task, addr, period, now, r);
	else
		sample_any(e, regs, task, addr, period, now);
}

/* Nearly all samples. Calls stand at the ends only: so this needs no stack. */
void sample_output(struct perf_event *e, const struct pt_regs *regs, struct task *task, u64 addr, u64 period,
		   u64 now)
{
	const S common = { .e = e, .task = task, .regs = regs, .type = e->attr.sample_type, .addr = addr,
			   .period = period, .time = now }, *s = &common;
	struct perf_ring *r = __atomic_load_n(&e->root->ring, __ATOMIC_ACQUIRE);
	struct ring_ahead ahead;
	u64 *to, next;

	if (!r)
		return;
	if (unlikely(e->sample_kind != SAMPLE_COMMON))
		return sample_other(e, regs, task, addr, period, now, r);
	ahead = ring_ahead(r);
	next = ahead.head + e->sample_fixed;
	if (unlikely(ahead.room < e->sample_fixed || !is_visible(e, regs)))
		return sample_any(e, regs, task, addr, period, now);
	if (unlikely(!ring_take(r, ahead.head, next)))
		return sample_again(e, regs, task, addr, period, now, r);
	HOST_PAUSE("output");
	to = ahead.at;
	*to++ = header(regs, e->sample_fixed);
	COMMON_FIELDS(STORE_WORD)
	straight_end(e, r, next);
}

/* What child, a copy with inherit_stat, has counted so far: its values by read_format. */
void sample_read_output(struct perf_event *child)
{
	S s = { .e = child, .task = child->ctx->task };
	u32 size = 16 + size_read(&s) + trailer_size(child);
	struct ring_write w;

	if (!record_begin(child, &w, size))
		return;
	ring_header(&w, PERF_RECORD_READ, 0, size);
	ring_u32s(&w, host_task_tgid(s.task), host_task_tid(s.task));
	w.to = put_read(w.to, &s);
	trailer_put(&w, child);
	record_end(&w);
}
