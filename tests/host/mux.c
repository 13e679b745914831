/* SPDX-License-Identifier: MIT */
/*
 * More groups than counters: precedence, equal shares, nobody starves, rotation stops and starts
 * by itself.
 */
#include "testlib.h"

#include <string.h>

TEST(pinned_error)	/* S49 */
{
	struct perf_event_attr p = raw(CYC);
	int fd[7], bad;
	u64 b[3];

	begin(32);
	p.pinned = 1;
	for (int i = 0; i < 7; i++)
		fd[i] = self(p);
	bad = self(p);
	CHECK_EQ(sim_read(bad, b, sizeof(b)), 0);
	sim_close(fd[0]);
	CHECK_EQ(sim_read(bad, b, sizeof(b)), 0);
	on(bad);
	sim_advance(10);
	CHECK_EQ(get(bad).v, 10);
	CHECK_EQ(get(fd[1]).v, 10);
	sim_end();
}

TEST(precedence)
{
	struct perf_event_attr p = raw(CYC), f = raw(CYC);
	struct task *t = begin(32);
	int flex[7], pin, cpin;

	for (int i = 0; i < 7; i++)
		flex[i] = open_on(f, -1, 0, -1);
	p.pinned = 1;
	pin = self(p);		/* pushes out a CPU's flexible one */
	sim_advance(100 * MS);
	CHECK_EQ(get(pin).run, 100 * MS);
	u64 sum = 0;

	for (int i = 0; i < 7; i++)
		sum += get(flex[i]).run;
	CHECK_EQ(sum, 600 * MS);
	/* A CPU's pinned group of 7 beats the task's pinned one, which becomes ERROR. */
	for (int i = 0; i < 7; i++)
		sim_close(flex[i]);
	cpin = open_on(p, -1, 0, -1);
	f.pinned = 0;
	for (int i = 1; i < 7; i++)
		open_on(f, -1, 0, cpin);
	sim_advance(MS);
	CHECK_EQ(get(cpin).run, MS);
	CHECK_EQ(sim_read(pin, (u64[3]){ 0 }, 24), 0);
	(void)t;
	sim_end();
}

TEST(exclusive)
{
	struct perf_event_attr x = raw(CYC);
	int a, b;

	begin(32);
	a = self(raw(CYC));
	x.exclusive = 1;
	b = self(x);
	for (int i = 0; i < 80; i++) {
		sim_advance(MS);
		CHECK(!(sim_event(a)->group.placed && sim_event(b)->group.placed));
	}
	CHECK_EQ(get(a).run + get(b).run, 80 * MS);
	CHECK(get(a).run > 30 * MS && get(b).run > 30 * MS);
	sim_end();
}

static void share(int n, u64 ms)
{
	int fd[20];
	struct task *t = begin(32);
	u64 want = ms * MS * 7 / (u64)n;

	for (int i = 0; i < n; i++)
		fd[i] = self(raw(CYC));
	sim_advance(ms * MS);
	for (int i = 0; i < n; i++) {
		struct val v = get(fd[i]);

		CHECK_EQ(v.en, ms * MS);
		CHECK_EQ(v.v, v.run);
		if (v.run < want * 95 / 100 || v.run > want * 105 / 100)
			fail("event %d of %d ran %lu of %lu", i, n, v.run, want);
	}
	(void)t;
	sim_end();
}

/* PB-01: over 200 intervals each of n equal events on 7 counters gets 7/n, within 5 %. */
TEST(equal_shares_8_on_7) { share(8, 800); }
TEST(equal_shares_12_on_7) { share(12, 800); }
TEST(equal_shares_20_on_7) { share(20, 800); }

TEST(sizes_3_3_4)	/* H17 */
{
	static const int size[] = { 3, 3, 4, 7 };
	int l[4];

	begin(32);
	for (int g = 0; g < 4; g++) {
		l[g] = self(raw(CYC));
		for (int i = 1; i < size[g]; i++)
			member(raw(CYC), l[g]);
	}
	sim_advance(4 * 4 * MS);	/* within as many turns as there are groups, everyone has run */
	for (int g = 0; g < 4; g++)
		CHECK(get(l[g]).run > 0);
	sim_advance(400 * MS);
	for (int g = 0; g < 4; g++)
		CHECK(get(l[g]).run > 80 * MS);
	sim_end();
}

TEST(unsatisfiable)	/* F4, H17: waiting for what pinned groups hold costs nobody anything */
{
	struct perf_event_attr p = raw(0x100);
	int res, big, pin;

	begin(32);
	p.pinned = 1;
	for (int i = 0; i < 5; i++)
		pin = self(p);
	big = self(raw(0x100));		/* before the resident, and can never run: 2 of 1 left */
	member(raw(0x100), big);
	res = self(raw(0x100));
	sim_advance(100 * MS);
	CHECK_EQ(get(big).run, 0);
	CHECK_EQ(get(res).run, 100 * MS);
	CHECK_EQ(get(pin).run, 100 * MS);
	CHECK_EQ(perf_stats.rotations, 0);
	sim_close(pin);		/* the same group can run now, in turns with the resident */
	off(res);
	on(res);
	self(raw(0x100));
	sim_advance(100 * MS);
	CHECK(get(big).run > 30 * MS && get(res).run > 100 * MS);
	sim_end();
}

/* A group that cannot run takes no turn of its own: the others still get equal shares, within 5 %. */
TEST(unsatisfiable_takes_no_turn)
{
	struct perf_event_attr p = raw(0x100);
	int fd[4], big;

	begin(32);
	p.pinned = 1;
	for (int i = 0; i < 3; i++)
		self(p);
	big = self(raw(0x100));		/* 4 of the 3 that are left */
	for (int i = 0; i < 3; i++)
		member(raw(0x100), big);
	for (int i = 0; i < 4; i++)
		fd[i] = self(raw(0x101));
	sim_advance(800 * MS);
	CHECK_EQ(get(big).run, 0);
	for (int i = 0; i < 4; i++) {
		u64 run = get(fd[i]).run;

		if (run < 600 * MS * 95 / 100 || run > 600 * MS * 105 / 100)
			fail("event %d ran %lu of %lu", i, (unsigned long)run, (unsigned long)(600 * MS));
	}
	sim_end();
}

TEST(pinned_runs_always)	/* 100 %, whatever takes turns around it */
{
	struct perf_event_attr p = raw(CYC);
	int pin[3], flex[12];
	u64 sum = 0;

	begin(32);
	for (int i = 0; i < 6; i++)
		flex[i] = self(raw(CYC));
	p.pinned = 1;
	for (int i = 0; i < 3; i++)
		pin[i] = self(p);
	for (int i = 6; i < 12; i++)
		flex[i] = self(raw(CYC));
	sim_advance(800 * MS);		/* 200 intervals */
	for (int i = 0; i < 3; i++) {
		CHECK_EQ(get(pin[i]).run, 800 * MS);
		CHECK_EQ(get(pin[i]).en, 800 * MS);
	}
	for (int i = 0; i < 12; i++) {
		u64 run = get(flex[i]).run, want = 800 * MS * 4 / 12;

		sum += run;
		if (run < want * 95 / 100 || run > want * 105 / 100)
			fail("flexible %d ran %lu of %lu", i, run, want);
	}
	CHECK_EQ(sum, 3200 * MS);
	sim_end();
}

/* What leaves the cycle counter is of no use to the next event, but somebody else can move there: one that is alone by
 * itself, else all are placed again. */
static void move_in_a_turn(bool alone)
{
	int first, second, last;

	begin(32);
	first = self(raw(CYC));
	second = self(raw(CYC));
	for (int i = 0; i < 5; i++)
		i || alone ? self(raw(0x100)) : member(raw(0x100), second);
	last = self(raw(0x101));
	sim_advance(5 * MS);
	CHECK_EQ(get(first).run, 4 * MS);
	CHECK_EQ(get(second).run, 5 * MS);
	CHECK_EQ(get(last).run, MS);
	sim_end();
}
TEST(others_move_in_a_turn) { move_in_a_turn(true); move_in_a_turn(false); }

/* The same when the first one goes for good: the last one does not wait for a turn. */
TEST(one_moves_at_once)
{
	int first, second, last;

	begin(32);
	first = self(raw(CYC));
	second = self(raw(CYC));
	for (int i = 0; i < 5; i++)
		self(raw(0x100));
	last = self(raw(0x101));
	sim_advance(MS);
	sim_close(first);
	sim_advance(MS);
	CHECK_EQ(get(second).v, 2 * MS);
	CHECK_EQ(get(second).run, 2 * MS);
	CHECK_EQ(get(last).run, MS);
	sim_end();
}

TEST(rotation_stops)	/* F10 */
{
	int fd[8];

	begin(32);
	for (int i = 0; i < 7; i++)
		fd[i] = self(raw(CYC));
	sim_advance(50 * MS);
	CHECK_EQ(perf_stats.rotations, 0);
	CHECK(!sim.timers);
	fd[7] = self(raw(CYC));
	CHECK(sim.timers);
	sim_advance(50 * MS);
	CHECK(perf_stats.rotations >= 12);
	sim_close(fd[3]);
	u64 n = perf_stats.rotations;

	sim_advance(50 * MS);
	CHECK_EQ(perf_stats.rotations, n);
	CHECK(!sim.timers);
	sim_end();
}

TEST(interval_of_sysfs)	/* each interval one turn; a new one from the next turn on */
{
	u64 n;

	begin(32);
	for (int i = 0; i < 8; i++)
		self(raw(CYC));
	CHECK_EQ(perf_sysfs_write(1, 1, "10"), 0);
	sim_advance(20 * MS);		/* the turn that was due, and the first long one */
	n = perf_stats.rotations;
	sim_advance(200 * MS);
	CHECK_EQ(perf_stats.rotations - n, 20);
	CHECK_EQ(perf_sysfs_write(1, 1, "1"), 0);
	sim_advance(20 * MS);
	n = perf_stats.rotations;
	sim_advance(200 * MS);
	CHECK_EQ(perf_stats.rotations - n, 200);
	sim_end();
}

TEST(backfill)	/* F13 */
{
	int fd[8];
	u64 before;

	begin(32);
	for (int i = 0; i < 8; i++)
		fd[i] = self(raw(CYC));
	CHECK(!sim_event(fd[7])->group.placed);
	before = get(fd[7]).run;
	off(fd[2]);		/* no time passes */
	CHECK(sim_event(fd[7])->group.placed);
	sim_advance(100);
	CHECK_EQ(get(fd[7]).run, before + 100);
	sim_end();
}

TEST(cpu_and_task_share)	/* nobody's flexible groups keep the other's out */
{
	int c[7], t[7];

	begin(32);
	for (int i = 0; i < 7; i++)
		c[i] = open_on(raw(CYC), -1, 0, -1);
	for (int i = 0; i < 7; i++)
		t[i] = self(raw(CYC));
	sim_advance(400 * MS);
	for (int i = 0; i < 7; i++)
		CHECK(get(c[i]).run > 150 * MS && get(t[i]).run > 150 * MS);
	sim_end();
}

TEST(first_in_the_queue_is_next)	/* the CPU's have the counters, and the task's, which came before them, wait */
{
	struct task *t = begin(32);
	u64 most = 0, sum = 0;
	int own[7], wide[7];

	for (int i = 0; i < 7; i++)
		own[i] = self(raw(CYC));
	sim_switch(0, NULL);
	sim_switch(1, sim_task());
	sim.cpu = 1;
	sim_advance(MS);
	for (int i = 0; i < 7; i++)
		wide[i] = open_on(raw(CYC), -1, 0, -1);
	sim_switch(0, t);
	CHECK(!sim_event(own[0])->group.placed);
	sim_advance(8 * MS);	/* two turns */
	for (int i = 0; i < 7; i++)
		CHECK(get(own[i]).run >= 3 * MS);
	sim_advance(400 * MS);
	for (int i = 0; i < 7; i++) {
		sum += get(own[i]).run;
		most = max_t(u64, most, get(wide[i]).run);
	}
	CHECK(sum > 7 * 180 * MS && most < 240 * MS);
	sim_end();
}

TEST(phase_locked)	/* H19: slices that always miss the timer */
{
	struct task *a = begin(32), *b = sim_task();
	int fa[10], fb[10];

	for (int i = 0; i < 10; i++) {
		fa[i] = self(raw(CYC));
		fb[i] = open_on(raw(CYC), (int)b->tid, -1, -1);
	}
	sim_advance(MS / 2);
	for (int i = 0; i < 400; i++) {
		sim_switch(0, b);
		sim_advance(3 * MS + MS / 2);	/* b is on whenever the timer fires */
		sim_switch(0, a);
		sim_advance(MS / 2);
	}
	for (int i = 0; i < 10; i++) {
		if (get(fa[i]).run < 100 * MS)
			fail("event %d of the short task ran %lu", i, get(fa[i]).run);
		CHECK(get(fb[i]).run > 700 * MS);
	}
	sim_end();
}

/* Ends of the first n turns. */
static void turns(int seed, u64 *end, u32 n)
{
	u64 seen = 0;

	begin(32);
	set_sysctl("perf_mux_jitter", seed);
	for (int i = 0; i < 9; i++)
		self(raw(CYC));
	u64 start = sim.now;

	for (u32 i = 0; i < n; sim_advance(1000))
		if (perf_stats.rotations != seen) {
			seen = perf_stats.rotations;
			end[i++] = sim.now - start;
		}
	sim_end();
}

TEST(jitter)	/* F12: off by default; else the seed says it all */
{
	u64 a[50], b[50], none[50], last = 0;
	u32 different = 0;

	turns(0, none, 50);
	turns(77, a, 50);
	turns(77, b, 50);
	for (u32 i = 0; i < 50; i++) {
		u64 turn = a[i] - last;

		CHECK(none[i] - (i ? none[i - 1] : 0) <= 4 * MS + 2000);
		CHECK_EQ(a[i], b[i]);
		CHECK(turn + 2000 >= 4 * MS && turn <= 5 * MS + 2000);
		different += turn > 4 * MS + 100000;
		last = a[i];
	}
	CHECK(different > 30);
	turns(78, b, 50);
	CHECK(memcmp(a, b, sizeof(a)));
}
