/* SPDX-License-Identifier: MIT */
/*
 * Groups: who may join, who counts with whom, what happens when one leaves.
 */
#include "testlib.h"

TEST(group_limits)	/* PB-15, H15 */
{
	struct perf_event_attr a = raw(CYC), w = raw(CYC), d = raw(CYC);
	int l;

	begin(32);
	l = self(a);
	for (int i = 1; i < 7; i++)
		member(a, l);
	CHECK_EQ(try_open(a, 0, -1, l), -EINVAL);
	member(sw(PERF_COUNT_SW_PAGE_FAULTS), l);
	w.config1 = 1;
	l = self(w);
	for (int i = 1; i < 4; i++)
		member(w, l);
	CHECK_EQ(try_open(w, 0, -1, l), -EINVAL);
	d.disabled = 1;
	l = self(d);
	for (int i = 1; i < 8; i++)
		member(a, l);
	CHECK_EQ(try_open(a, 0, -1, l), -EINVAL);
	member(d, l);
	sim_end();
}

TEST(group_rules)	/* S18, H33 */
{
	struct perf_event_attr a = raw(CYC), p = raw(CYC), c = raw(CYC);
	struct task *t = begin(32), *u = sim_task();
	int l = self(a), m = member(a, l), other = open_on(a, (int)u->tid, -1, -1);

	CHECK_EQ(try_open(a, 0, -1, m), -EINVAL);
	CHECK_EQ(try_open(a, 0, -1, other), -EINVAL);
	CHECK_EQ(try_open(a, 0, 0, l), -EINVAL);
	p.pinned = 1;
	CHECK_EQ(try_open(p, 0, -1, l), -EINVAL);
	p = raw(CYC);
	p.exclusive = 1;
	CHECK_EQ(try_open(p, 0, -1, l), -EINVAL);
	c.use_clockid = 1;
	c.clockid = 1;
	CHECK_EQ(try_open(c, 0, -1, l), -EINVAL);
	a.inherit = 1;
	CHECK_EQ(try_open(a, 0, -1, l), -EINVAL);
	CHECK(sim_open(&a, 0, -1, l, PERF_FLAG_FD_NO_GROUP) == -EINVAL ||
	      sim_event(6)->leader == sim_event(6));
	(void)t;
	sim_end();
}

TEST(group_big_read)	/* 16 KiB */
{
	struct perf_event_attr a = sw(PERF_COUNT_SW_DUMMY);
	int l, n = 1;
	long fd;

	begin(32);
	a.read_format = 31;
	l = self(a);
	while ((fd = try_open(a, 0, -1, l)) >= 0)
		n++;
	CHECK_EQ(fd, n < 120 ? -E2BIG : -EMFILE);
	static u64 b[2048];

	CHECK_EQ(sim_read(l, b, sizeof(b)), 24 + 24 * n);
	CHECK_EQ(b[0], n);
	sim_end();
}

TEST(group_counts_together)	/* S17, H16 */
{
	struct perf_event_attr a = raw(CYC);
	int g[2][5], solo;

	begin(32);
	for (int k = 0; k < 2; k++) {
		g[k][0] = self(a);
		for (int i = 1; i < 5; i++)
			g[k][i] = member(a, g[k][0]);
	}
	solo = self(raw(CYC));
	sim_advance(50 * MS + 123);
	for (int k = 0; k < 2; k++) {
		CHECK(get(g[k][0]).run > 15 * MS);
		for (int i = 1; i < 5; i++) {
			CHECK_EQ(get(g[k][i]).v, get(g[k][0]).v);
			CHECK_EQ(get(g[k][i]).run, get(g[k][0]).run);
		}
	}
	CHECK(get(solo).run > 20 * MS);
	sim_end();
}

TEST(leader_off)	/* H22 */
{
	struct perf_event_attr a = raw(CYC);
	int l, m;

	begin(32);
	a.disabled = 1;
	l = self(a);
	m = member(a, l);
	on(m);
	sim_advance(100);
	CHECK_EQ(get(m).en, 0);
	CHECK_EQ(get(m).v, 0);
	on(l);
	sim_advance(10);
	CHECK_EQ(get(m).v, 10);
	off(l);
	sim_advance(10);
	CHECK_EQ(get(m).en, 10);
	sim_end();
}

TEST(leader_closed)	/* H32 */
{
	int l, m, n;

	begin(32);
	l = self(raw(CYC));
	m = member(raw(CYC), l);
	n = member(sw(PERF_COUNT_SW_TASK_CLOCK), l);
	sim_advance(100);
	sim_close(l);
	sim_advance(100);
	CHECK_EQ(get(m).v, 200);
	CHECK_EQ(get(m).run, 200);
	CHECK_EQ(get(n).v, 200);
	CHECK(sim_event(m)->leader == sim_event(m) && sim_event(m)->group.nr == 1);
	/* a leader that was off leaves members that are on */
	struct perf_event_attr d = raw(CYC);

	d.disabled = 1;
	l = self(d);
	m = member(raw(CYC), l);
	sim_advance(100);
	CHECK_EQ(get(m).v, 0);
	sim_close(l);
	sim_advance(50);
	CHECK_EQ(get(m).v, 50);
	sim_end();
}

TEST(member_joins_running)
{
	int l, m;

	begin(32);
	l = self(raw(CYC));
	sim_advance(100);
	m = member(raw(0x102), l);
	sim_advance(100);
	CHECK_EQ(get(l).v, 200);
	CHECK_EQ(get(l).run, 200);
	CHECK_EQ(get(m).v, 100 * sim_rate(0x102));
	off(m);
	sim_advance(100);
	CHECK_EQ(get(l).v, 300);
	CHECK_EQ(get(m).run, 100);
	sim_end();
}

TEST(software_leader)	/* PB-43 */
{
	struct task *t = begin(32);
	int l = open_on(sw(PERF_COUNT_SW_TASK_CLOCK), 0, 0, -1), m;

	sim_advance(100);
	sim_switch(0, NULL);
	sim_switch(1, t);	/* enabled goes on, the bucket's clock does not */
	sim_advance(40);
	sim.cpu = 1;
	m = open_on(raw(CYC), 0, 0, l);
	sim_advance(7);
	sim_switch(1, NULL);
	sim_switch(0, t);
	sim_advance(10);
	sim.cpu = 0;
	CHECK_EQ(get(l).v, 110);
	CHECK_EQ(get(l).run, 110);
	CHECK_EQ(get(l).en, 157);
	CHECK_EQ(get(m).v, 10);
	CHECK_EQ(get(m).en, 17);
	sim_close(m);
	sim_advance(5);
	CHECK_EQ(get(l).v, 115);
	sim_end();
}

TEST(group_changed_after_fork)	/* PB-03, H31 */
{
	struct perf_event_attr a = raw(CYC), m = raw(CYC);
	struct task *t, *child;
	u64 b[16];
	int l, m2;

	t = begin(32);
	a.inherit = m.inherit = 1;
	a.read_format |= PERF_FORMAT_GROUP;
	l = self(a);
	m2 = member(m, l);
	child = sim_fork(false);
	sim_switch(1, child);
	sim_advance(100);
	CHECK_EQ(sim_read(l, b, sizeof(b)), 40);
	CHECK_EQ(b[3], 200);
	CHECK_EQ(b[4], 200);
	member(m, l);
	CHECK_EQ(sim_read(l, b, sizeof(b)), -ECHILD);
	sim_exit(1);
	CHECK_EQ(sim_read(l, b, sizeof(b)), 48);
	CHECK_EQ(b[0], 3);
	/* A group that had changed before the fork is the same on both sides. */
	sim_close(m2);
	m2 = member(m, l);
	child = sim_fork(false);
	CHECK_EQ(sim_read(l, b, sizeof(b)), 48);
	/* One that lost a member and gained another since is not, though as large. */
	sim_close(m2);
	member(m, l);
	CHECK_EQ(sim_read(l, b, sizeof(b)), -ECHILD);
	(void)t;
	sim_end();
}
