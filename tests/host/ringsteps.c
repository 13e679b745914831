/* SPDX-License-Identifier: MIT */
/*
 * A record interrupted by another one, at each of its instructions: samples, which go the straight way where they can, and
 * records of the other way.
 *
 * On x86 the processor itself can stop after every instruction (the trap flag): the handler counts, and at the
 * wanted instruction it writes a record of its own, as an interrupt would, perhaps to be interrupted in turn.
 * Where that does not work (another processor, a machine that hides the flag) only a few places are left: the
 * test says so, and writers.c has the random ones.
 *
 * ring.c, record.c and sample.c are compiled here once more, under other names and without the sanitizers, which would
 * multiply the instructions by four.
 */
#define _GNU_SOURCE
#define ring_alloc	step_ring_alloc
#define ring_put	step_ring_put
#define ring_reserve	step_ring_reserve
#define ring_wake	step_ring_wake
#define ring_bytes	step_ring_bytes
#define ring_next_page	step_ring_next_page
#define ring_words_over_pages step_ring_words_over_pages
#define ring_put_user	step_ring_put_user
#define ring_look_ahead	step_ring_look_ahead
#define ring_publish_head step_ring_publish_head
#define trailer_size	step_trailer_size
#define trailer_put	step_trailer_put
#define record_begin	step_record_begin
#define record_end	step_record_end
#define record_wake	step_record_wake
#define record_output	step_record_output
#define sample_fixed_size step_sample_fixed_size
#define sample_kind	step_sample_kind
#define sample_output	step_sample_output
#define sample_read_output step_sample_read_output
#include "tape.h"
#include "sample.h"

#include <signal.h>
#include <stdio.h>
#include <ucontext.h>

#include "ring.c"
#include "record.c"
#include "sample.c"

#define DEPTH 3
#define SIZE 32u		/* of a record, and of a LOST record */
#define FITS (4095 / SIZE)	/* into one page */

static struct {
	struct perf_event *e[DEPTH];	/* who writes at which depth; one ring */
	struct tape t;
	u64 made, seen, told;		/* records written; found in the ring; LOST by LOST records */
	u32 at[DEPTH];			/* the instruction at which depth n is interrupted, 0: not */
	u32 left[DEPTH];
	bool fired[DEPTH];
	bool sample[DEPTH];		/* depth n writes a sample */
	bool chain;			/* those of depth 0 have a call chain, of no frames */
	u32 depth;
} g;

static void trap_flag(bool on)
{
#ifdef __x86_64__
	if (on)
		__asm__ volatile("lea -128(%%rsp), %%rsp; pushfq; orq $0x100, (%%rsp); popfq; lea 128(%%rsp), %%rsp"
				 ::: "memory", "cc");
	else
		__asm__ volatile("lea -128(%%rsp), %%rsp; pushfq; andq $~0x100, (%%rsp); popfq; lea 128(%%rsp), %%rsp"
				 ::: "memory", "cc");
#endif
}

static void write_one(u32 depth)
{
	u64 body[2] = { ++g.made, g.made * 0x9e3779b97f4a7c15ULL >> 8 };	/* ends with a 0 byte, as a name */

	g.depth = depth;
	g.left[depth] = g.at[depth];
	g.fired[depth] = false;
	if (g.at[depth])
		trap_flag(true);
	if (g.sample[depth])
		sample_output(g.e[depth], USER_REGS, host_current(), body[0], body[1], 0);
	else
		record_output(g.e[depth], PERF_RECORD_COMM, 0, body, sizeof(body));
	if (g.at[depth])
		trap_flag(false);
}

static void on_trap(int sig, siginfo_t *info, void *context)
{
	u32 d = g.depth;

	if (--g.left[d])
		return;
#ifdef __x86_64__
	((ucontext_t *)context)->uc_mcontext.gregs[REG_EFL] &= ~0x100;
#endif
	g.fired[d] = true;
	if (d + 1 < DEPTH)
		write_one(d + 1);
	g.depth = d;
}

static void read_all(void)
{
	static struct rec r;

	while (take(&g.t, &r)) {
		if (r.type == PERF_RECORD_SAMPLE) {
			CHECK_EQ(r.size, SIZE);
			CHECK(r.w[3] == r.w[2] * 0x9e3779b97f4a7c15ULL >> 8 || (g.chain && !r.w[3]));
			g.seen++;
			continue;
		}
		decode_other(&r, &g.e[0]->attr);
		if (r.type == PERF_RECORD_LOST) {
			g.told += r.w[2];
			continue;
		}
		CHECK_EQ(r.type, PERF_RECORD_COMM);
		CHECK_EQ(r.w[2], r.w[1] * 0x9e3779b97f4a7c15ULL >> 8);
		g.seen++;
	}
}

/* room for so many records; lost: some have been lost and nobody has said so. */
static void prepare(u32 room, bool lost)
{
	static struct rec r;
	u32 at[DEPTH];

	memcpy(at, g.at, sizeof(at));
	memset(g.at, 0, sizeof(g.at));
	write_one(0);
	read_all();
	for (u32 i = 0; i < FITS - (lost ? 0 : room); i++)
		write_one(0);
	if (lost) {
		write_one(0);
		for (u32 i = 0; i < room; i++, g.seen++)
			CHECK(take(&g.t, &r));
	}
	memcpy(g.at, at, sizeof(at));
}

static void check(void)
{
	struct perf_ring *r = g.e[0]->ring;
	u64 lost = 0;

	for (u32 i = 0; i < DEPTH; i++)
		lost += g.e[i]->lost;
	CHECK_EQ(r->nest, 0);
	CHECK_EQ(head_page(&g.t)->data_head, r->head);
	read_all();
	CHECK_EQ(g.seen + lost, g.made);
	CHECK_EQ(g.told + r->lost, lost);
	CHECK(!r->lost || !r->limit);	/* the next one has to say so */
}

static void start(bool chain)
{
	struct perf_event_attr a = attr(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY, 1, PERF_SAMPLE_TID | PERF_SAMPLE_ADDR);
	struct sigaction sa = { .sa_sigaction = on_trap, .sa_flags = SA_SIGINFO | SA_NODEFER };
	int fd[DEPTH];

	begin(32);
	memset(&g, 0, sizeof(g));
	a.sample_id_all = a.watermark = 1;
	a.wakeup_watermark = UINT32_MAX;
	a.exclude_callchain_user = a.exclude_callchain_kernel = 1;
	g.chain = chain;
	for (u32 i = 0; i < DEPTH; i++) {
		a.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_ADDR |
				(chain && !i ? PERF_SAMPLE_CALLCHAIN : PERF_SAMPLE_PERIOD);
		fd[i] = self(a);
		g.e[i] = sim_event(fd[i]);
	}
	g.t = map(fd[0], 2);
	for (u32 i = 1; i < DEPTH; i++)
		ioc(fd[i], PERF_EVENT_IOC_SET_OUTPUT, (u64)fd[0]);
	sigaction(SIGTRAP, &sa, NULL);
}

static bool can_step(void)
{
	g.at[0] = 1;
	write_one(0);
	read_all();
	if (!g.fired[0])
		printf("# ring steps: this machine cannot stop after each instruction\n");
	return g.fired[0];
}

static void each_step(bool chain)
{
	u32 steps = 0;
	u64 flags;

	start(chain);
	flags = host_irq_save();
	for (u32 variant = 0; variant < 12 && can_step(); variant++)
		for (g.at[0] = 1;; g.at[0] += 1 + sim_rand(5), steps++) {	/* all of them, in one variant or another */
			g.sample[0] = variant & 1;
			g.sample[1] = sim_rand(2);
			prepare(variant / 4, variant & 2);
			write_one(0);
			check();
			if (!g.fired[0])
				break;
		}
	CHECK(!can_step() || steps > 12 * 40);
	host_irq_restore(flags);
	unmap(&g.t);
	sim_end();
}

TEST(sampling_ring_each_step)	/* H 34 */
{
	each_step(false);
}

TEST(sampling_chain_each_step)
{
	each_step(true);
}

TEST(sampling_ring_step_in_step)	/* H 34: the interrupt is interrupted */
{
	u64 flags;

	start(sim_rand(2));
	flags = host_irq_save();
	for (u32 i = 0; i < 800 && can_step(); i++) {
		g.at[0] = 1 + sim_rand(400);
		g.at[1] = 1 + sim_rand(400);
		for (u32 d = 0; d < DEPTH; d++)
			g.sample[d] = sim_rand(2);
		prepare(sim_rand(6), sim_rand(2));
		write_one(0);
		check();
		g.at[1] = 0;
	}
	host_irq_restore(flags);
	unmap(&g.t);
	sim_end();
}
