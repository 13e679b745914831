/* SPDX-License-Identifier: MIT */
/*
 * Rows of the hazard table (kernel/perf/REVIEW.md) that want a counter, an overflow or a state put just so. The random
 * programs come by here as well; these say by name what broke.
 */
#include "tape.h"

#define P (100 * US)

/* This CPU takes no interrupt for so long: what overflows stays pending. */
static void masked(u64 ns)
{
	u32 cpu = sim.cpu;

	sim.irq_off[cpu] = true;
	sim_advance(ns);
	sim.irq_off[cpu] = false;
}

static int sampler(u64 period, struct tape *t)
{
	struct perf_event_attr a = attr(RAW, period, PERF_SAMPLE_IP);
	int fd;

	a.read_format = TET;
	fd = self(a);
	*t = map(fd, 9);
	return fd;
}

TEST(late_interrupt)	/* H9: what it is late counts for the next period; more than a period late: afresh */
{
	struct tape t;
	int fd;

	begin(32);
	fd = sampler(P, &t);
	masked(P + 10 * US);
	adv(US);
	CHECK_EQ(drain_type(&t, PERF_RECORD_SAMPLE), 1);
	CHECK_EQ(get(fd).v, P + 11 * US);
	adv(P - 12 * US);
	CHECK_EQ(drain_type(&t, PERF_RECORD_SAMPLE), 0);
	adv(US);		/* 2 P in all */
	CHECK_EQ(drain_type(&t, PERF_RECORD_SAMPLE), 1);
	masked(2 * P + 30 * US);
	adv(US);
	CHECK_EQ(drain_type(&t, PERF_RECORD_SAMPLE), 1);
	adv(P - US);
	CHECK_EQ(drain_type(&t, PERF_RECORD_SAMPLE), 0);
	adv(US);
	CHECK_EQ(drain_type(&t, PERF_RECORD_SAMPLE), 1);
	CHECK_EQ(get(fd).v, 5 * P + 31 * US);
	unmap(&t);
	sim_end();
}

TEST(rest_table)	/* H14: every rest of a period says by itself when the next sample comes */
{
	static const struct { s64 rest; u64 first; } row[] = {
		{ P, P }, { US, US }, { 60 * US, 60 * US }, { 0, P }, { -US, P - US }, { -(s64)P + (s64)US, US },
		{ -(s64)P, P }, { -3 * (s64)P, P },
	};
	struct tape t;
	int fd;

	begin(32);
	fd = sampler(P, &t);
	for (u32 i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		off(fd);
		drain_type(&t, PERF_RECORD_SAMPLE);
		sim_event(fd)->period_left = row[i].rest;
		on(fd);
		adv(row[i].first - US);
		CHECK_EQ(drain_type(&t, PERF_RECORD_SAMPLE), row[i].first < US);
		adv(US);
		CHECK_EQ(drain_type(&t, PERF_RECORD_SAMPLE), 1);
	}
	unmap(&t);
	sim_end();
}

/* crowd: more events than counters, so that the task's end finds some of them off their counters. */
static void dead_rest(int crowd)
{
	struct perf_event_attr a = attr(RAW, P, PERF_SAMPLE_IP);
	struct task *p = begin(32), *c;
	struct tape t;
	int fd;

	a.inherit = 1;
	fd = open_on(a, 0, 0, -1);
	t = map(fd, 9);
	for (int i = 0; i < crowd; i++)
		open_on(a, 0, 0, -1);
	adv(50 * US);
	for (int i = 0; i < 5; i++) {
		c = sim_fork(false);
		sim_switch(0, c);
		adv(60 * US);		/* of 100 */
		sim_exit(0);
		sim_switch(0, p);
	}
	CHECK_EQ(drain_type(&t, PERF_RECORD_SAMPLE), 0);
	CHECK_EQ(sim_event(fd)->period_left, P - 50 * US);
	unmap(&t);
	sim_end();
}
TEST(rest_dies_with_its_thread) { dead_rest(0); dead_rest(9); }	/* H13: the next thread starts with a whole period */

TEST(rotation_after_removal)	/* H18: whoever goes, at whatever place of the queue, the others share as before */
{
	enum { N = 10 };

	for (int gone = 0; gone < N; gone++) {
		u64 was[N], want = 800 * MS * 7 / (N - 1);
		int fd[N];

		begin(32);
		for (int i = 0; i < N; i++)
			fd[i] = self(raw(CYC));
		sim_advance((13 + (u64)gone) * MS);
		sim_close(fd[gone]);
		for (int i = 0; i < N; i++)
			was[i] = i == gone ? 0 : get(fd[i]).run;
		sim_advance(800 * MS);
		for (int i = 0; i < N; i++) {
			u64 ran = i == gone ? want : get(fd[i]).run - was[i];

			if (ran < want * 95 / 100 || ran > want * 105 / 100)
				fail("%d closed: event %d ran %lu of %lu", gone, i, ran, want);
		}
		sim_end();
	}
}

TEST(overflow_after_stop)	/* H6: the flag is up when it leaves; the next owner of the counter gets no sample of it */
{
	struct task *t = begin(32), *u = sim_task();
	struct tape a, b;
	int first, next;

	first = sampler(P, &a);
	masked(P + 10 * US);
	sim_switch(0, u);	/* before the interrupt */
	next = sampler(P, &b);
	adv(P - US);
	CHECK_EQ(drain_type(&a, PERF_RECORD_SAMPLE), 0);
	CHECK_EQ(drain_type(&b, PERF_RECORD_SAMPLE), 0);
	CHECK_EQ(get(next).v, P - US);
	CHECK_EQ(get(first).v, P + 10 * US);
	adv(US);
	CHECK_EQ(drain_type(&b, PERF_RECORD_SAMPLE), 1);
	sim_switch(0, t);	/* 10 us of the next period are over */
	adv(P - 10 * US);
	CHECK_EQ(drain_type(&a, PERF_RECORD_SAMPLE), 1);
	unmap(&a);
	unmap(&b);
	sim_end();
}

TEST(flag_before_start)	/* H7: a flag that is up when a counter is programmed says nothing */
{
	struct tape t;
	int fd;

	begin(32);
	fd = sampler(P, &t);
	off(fd);
	for (u32 c = 0; c < 32; c++)
		sim_spurious(0, c);
	on(fd);
	adv(10 * US);
	CHECK_EQ(stats_overflows(), 0);
	CHECK_EQ(drain_type(&t, PERF_RECORD_SAMPLE), 0);
	CHECK_EQ(get(fd).v, 10 * US);
	unmap(&t);
	sim_end();
}

TEST(wrap_between_looks)	/* H8: read while the interrupt of the wrap is pending, again and again */
{
	struct perf_event *e;
	u64 last = 0, n = 0;

	begin(18);
	e = sim_event(self(raw(0x100)));
	sim.irq_off[0] = true;
	while (n < (1 << 18) + (1 << 16)) {	/* from half the range on the flag may be up at any time */
		sim_advance(US);
		n += 1000 * sim_rate(0x100);
		count_read(e);
		CHECK(e->count > last);
		CHECK_EQ(e->count, n);
		last = e->count;
	}
	sim.irq_off[0] = false;
	CHECK_EQ(stats_overflows(), 0);
	adv(US);
	CHECK_EQ(stats_overflows(), 1);
	host_irq_restore(host_irq_save());
	CHECK_EQ(e->count, n + 1000 * sim_rate(0x100));
	sim_end();
}

TEST(period_of_all_bits)	/* H10: 2^32 - 1 on 32 bits: only the last of its chunks is an overflow of the event */
{
	u64 period = UINT32_MAX, step = MS;
	struct perf_event_attr a = attr(PERF_TYPE_RAW, 0x102, period, PERF_SAMPLE_IP);
	u32 rate = sim_rate(a.config);
	struct tape t;
	int fd;

	begin(32);
	fd = self(a);
	t = map(fd, 2);
	CHECK(sim_event(fd)->hw.width == 32);
	for (u64 n = 0; (n + step) * rate < period; n += step) {
		sim_advance(step);
		CHECK_EQ(drain_type(&t, PERF_RECORD_SAMPLE), 0);
	}
	CHECK_EQ(stats_overflows(), 1);	/* half the range: no sample */
	sim_advance(step);
	CHECK_EQ(drain_type(&t, PERF_RECORD_SAMPLE), 1);
	unmap(&t);
	sim_end();
}

TEST(members_equal_in_samples)	/* H16: while time goes on with every look at the clock */
{
	struct perf_event_attr a = attr(RAW, 997, PERF_SAMPLE_READ);
	static struct rec r;
	struct tape t;
	u32 n = 0;
	int fd;

	begin(32);
	a.read_format = PERF_FORMAT_GROUP;
	fd = self(a);
	a.sample_period = 0;
	member(a, fd);
	member(a, fd);
	t = map(fd, 65);
	set_sysctl("perf_event_max_sample_rate", 10000000);
	sim.drift = true;
	for (int i = 0; i < 40; i++) {
		adv(7 * US);
		sim_switch(0, NULL);
		sim_switch(0, &sim.tasks[0]);
	}
	sim.drift = false;
	while (take(&t, &r)) {
		if (r.type != PERF_RECORD_SAMPLE)
			continue;
		n++;
		CHECK_EQ(r.w[1], 3);
		CHECK_EQ(r.w[2], r.w[3]);
		CHECK_EQ(r.w[2], r.w[4]);
	}
	CHECK(n > 100);
	unmap(&t);
	sim_end();
}

static struct task *victim;
static int victim_fd;
static bool done;

static void exit_victim(void)
{
	if (done || victim->cpu < 0)
		return;
	done = true;
	sim_exit((u32)victim->cpu);
}

static void close_victim(void)
{
	if (done)
		return;
	done = true;
	ONCPU(3)
		sim_close(victim_fd);
}

static void meet(u32 seed, bool exit_first)
{
	begin(32);
	sim.seed += seed * 7919;
	victim = sim_task();
	sim_switch(2, victim);
	sim_switch(3, sim_task());
	victim_fd = open_on(raw(CYC), (int)victim->tid, -1, -1);
	sim_advance(1000);
	done = false;
	sim.chaos = 100;
	sim.chaos_call = exit_first ? close_victim : exit_victim;
	if (exit_first)
		sim_exit((u32)victim->cpu);
	else
		sim_close(victim_fd);
	sim.chaos = 0;
	exit_first ? close_victim() : exit_victim();
	CHECK_EQ(perf_stats.events, 0);
	CHECK_EQ(perf_stats.contexts, 0);
	sim_end();
}

TEST(close_meets_exit)	/* H1: each in the middle of the other, and one behind the other */
{
	for (u32 seed = 1; seed < 40; seed++) {
		meet(seed, false);
		meet(seed, true);
	}
}
