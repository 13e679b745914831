/* SPDX-License-Identifier: MIT */
/*
 * Families: fork, exec, exit, and the sums that must come out.
 */
#include "testlib.h"

TEST(three_levels)	/* issue 3: sum over three levels, four CPUs, migration */
{
	struct perf_event_attr a = raw(CYC);
	struct task *p = begin(24), *c, *g;
	u64 want = 0;
	int fd;

	a.inherit = 1;
	fd = self(a);
	for (int round = 0; round < 20; round++) {
		c = sim_fork(round & 1);
		sim_switch(1, c);
		sim.cpu = 1;
		g = sim_fork(false);
		sim_switch(2, g);
		sim_advance(MS);
		want += 3 * MS;
		sim_switch(1, NULL);	/* c to CPU 3 */
		sim_switch(3, c);
		sim_advance(MS / 2);
		want += 3 * (MS / 2);
		sim_exit(2);
		sim_advance(100);
		want += 200;
		sim_exit(3);
		sim.cpu = 0;
		CHECK_EQ(get(fd).v, want);
		CHECK_EQ(get(fd).en, want);
	}
	CHECK_EQ(perf_stats.folded, 40);
	(void)p;
	sim_end();
}

TEST(grandchild_of_exec)	/* root off, child on by its exec: the grandchild counts */
{
	struct perf_event_attr a = raw(CYC);
	struct task *c, *g;
	int fd;

	begin(32);
	a.inherit = a.disabled = a.enable_on_exec = 1;
	fd = self(a);
	c = sim_fork(false);
	sim_switch(1, c);
	sim_advance(100);
	sim.cpu = 1;
	perf_exec(false);
	sim_advance(10);
	g = sim_fork(false);
	sim_switch(2, g);
	sim_advance(1000);
	sim.cpu = 0;
	CHECK_EQ(get(fd).v, 2010);
	CHECK_EQ(get(fd).en, 2010);
	CHECK_EQ(sim_event(fd)->state, PERF_OFF);
	sim_end();
}

TEST(reset_and_children)	/* PB-27, H30 */
{
	struct perf_event_attr a = raw(CYC);
	struct task *c;
	struct val v;
	int fd;

	begin(32);
	a.inherit = 1;
	fd = self(a);
	c = sim_fork(false);
	sim_switch(1, c);
	sim_advance(100);
	sim_exit(1);
	c = sim_fork(false);
	sim_switch(1, c);
	sim_advance(10);
	v = get(fd);
	CHECK_EQ(v.v, 220);
	CHECK_EQ(sim_ioctl(fd, PERF_EVENT_IOC_RESET, 0), 0);
	CHECK_EQ(get(fd).v, 100);
	CHECK_EQ(get(fd).en, v.en);
	sim_end();
}

TEST(exit_unscheduled)	/* PB-04: enabled time of a copy that waited is not lost */
{
	struct perf_event_attr a = raw(CYC);
	struct task *c;
	int fd[12];

	begin(32);
	a.inherit = 1;
	for (int i = 0; i < 12; i++)
		fd[i] = self(a);
	sim_advance(10);
	c = sim_fork(false);
	sim_switch(0, NULL);
	sim_switch(1, c);
	sim_advance(50 * MS);
	sim_exit(1);
	for (int i = 0; i < 12; i++) {
		CHECK_EQ(get(fd[i]).en, 50 * MS + 10);
		CHECK_EQ(get(fd[i]).v, get(fd[i]).run);
	}
	sim_end();
}

TEST(root_task_exits_first)	/* F21 */
{
	struct perf_event_attr a = raw(CYC);
	struct task *mon = begin(32), *p = sim_task(), *c;
	int fd;

	sim_switch(1, p);
	a.inherit = 1;
	a.read_format |= PERF_FORMAT_GROUP;
	fd = open_on(a, (int)p->tid, -1, -1);
	sim.cpu = 1;
	c = sim_fork(false);
	sim_switch(2, c);
	sim_advance(100);
	sim_exit(1);
	sim_advance(50);
	sim.cpu = 0;
	u64 b[8];

	CHECK_EQ(sim_read(fd, b, sizeof(b)), 32);
	CHECK_EQ(b[3], 250);
	sim_exit(2);
	CHECK_EQ(sim_read(fd, b, sizeof(b)), 32);
	CHECK_EQ(b[3], 250);
	(void)mon;
	sim_end();
}

TEST(group_read_after_exit)	/* perf stat's way: the group outlives its task */
{
	struct perf_event_attr a = raw(CYC);
	struct task *mon = begin(32), *p = sim_task();
	int l, m;
	u64 b[8];

	sim_switch(1, p);
	a.read_format |= PERF_FORMAT_GROUP | PERF_FORMAT_ID;
	l = open_on(a, (int)p->tid, -1, -1);
	m = open_on(raw(0x100), (int)p->tid, -1, l);
	sim_advance(100);
	sim_exit(1);
	CHECK_EQ(sim_read(l, b, sizeof(b)), 56);
	CHECK_EQ(b[0], 2);
	CHECK_EQ(b[1], 100);
	CHECK_EQ(b[5], 100 * sim_rate(0x100));
	on(l);		/* too late: no effect, no error */
	CHECK_EQ(try_open(raw(CYC), (int)p->tid, -1, l), -ENODEV);
	sim_close(l);
	CHECK_EQ(get(m).v, 100 * sim_rate(0x100));
	(void)mon;
	sim_end();
}

TEST(inherit_thread)
{
	struct perf_event_attr a = raw(CYC);
	struct task *c;
	int fd;

	begin(32);
	a.inherit = a.inherit_thread = 1;
	fd = self(a);
	c = sim_fork(false);
	sim_switch(1, c);
	sim_advance(10);
	CHECK_EQ(get(fd).v, 10);
	c = sim_fork(true);
	sim_switch(2, c);
	sim_advance(10);
	CHECK_EQ(get(fd).v, 30);
	sim_end();
}

TEST(existing_thread_not_inherited)	/* PB-31 */
{
	struct perf_event_attr a = raw(CYC);
	struct task *c;
	int fd;

	begin(32);
	c = sim_fork(true);
	a.inherit = 1;
	fd = self(a);
	sim_switch(1, c);
	sim_advance(10);
	CHECK_EQ(get(fd).v, 10);
	sim_end();
}

TEST(exec_flags)	/* PB-19, PB-51 */
{
	struct perf_event_attr e = raw(CYC), r = raw(CYC);
	int l, m, rem, sib;

	begin(32);
	e.disabled = e.enable_on_exec = 1;
	l = self(e);
	e.enable_on_exec = e.disabled = 0;
	m = member(e, l);
	r.remove_on_exec = 1;
	rem = self(r);
	sib = member(raw(CYC), rem);
	sim_advance(100);
	CHECK_EQ(get(m).en, 0);
	u32 wakes = sim_event(rem)->waitq.wakes;

	perf_exec(false);
	CHECK(sim_event(rem)->waitq.wakes > wakes);	/* its pollers learn that it is over */
	sim_advance(10);
	CHECK_EQ(get(l).v, 10);
	CHECK_EQ(get(m).v, 10);
	CHECK_EQ(get(rem).v, 100);
	CHECK_EQ(get(sib).v, 110);
	off(l);
	perf_exec(false);	/* used once */
	sim_advance(10);
	CHECK_EQ(get(l).v, 10);
	int other = open_on(raw(CYC), (int)sim_fork(false)->tid, -1, -1);

	perf_exec(true);	/* set-id: everything goes */
	CHECK_EQ(sim_event(other)->state, PERF_ON);
	perf_prctl(false);	/* and what it opened on others is out of its reach */
	CHECK_EQ(sim_event(other)->state, PERF_ON);
	sim_advance(10);
	CHECK_EQ(get(sib).v, 120);
	sim_advance(10);
	CHECK_EQ(get(sib).v, 120);
	sim_end();
}

TEST(prctl)
{
	struct perf_event_attr a = raw(CYC);
	struct task *c;
	int fd;

	begin(32);
	a.inherit = 1;
	fd = self(a);
	c = sim_fork(false);
	sim_switch(1, c);
	perf_prctl(false);
	sim_advance(100);
	CHECK_EQ(get(fd).v, 0);
	sim.cpu = 1;
	perf_prctl(true);	/* c has opened nothing */
	sim.cpu = 0;
	sim_advance(100);
	CHECK_EQ(get(fd).v, 0);
	perf_prctl(true);
	sim_advance(100);
	CHECK_EQ(get(fd).v, 200);
	sim_end();
}

TEST(event_per_cpu_family)	/* perf record's way: an inherited event for each CPU; each counts its CPU only */
{
	struct perf_event_attr a = raw(CYC);
	struct task *t = begin(24), *kid[3];
	u64 want[SIM_CPUS] = { 0 }, all = 0;
	int fd[SIM_CPUS];

	a.inherit = 1;
	for (u32 c = 0; c < SIM_CPUS; c++)
		fd[c] = open_on(a, 0, (int)c, -1);
	for (int k = 0; k < 3; k++)
		kid[k] = sim_fork(k & 1);
	for (u32 i = 0; i < 120; i++) {
		sim_switch((u32)t->cpu, NULL);
		for (int k = 0; k < 3; k++)
			if (kid[k]->cpu >= 0)
				sim_switch((u32)kid[k]->cpu, NULL);
		for (u32 k = 0; k < 4; k++)
			sim_switch((i + k * 3) % 4, k < 3 ? kid[k] : t);
		sim_advance(1000 + i);
		for (u32 c = 0; c < SIM_CPUS; c++)
			want[c] += 1000 + i;
		all += 4 * (1000 + i);
	}
	sim.cpu = (u32)t->cpu;
	for (u32 c = 0; c < SIM_CPUS; c++) {
		CHECK_EQ(get(fd[c]).v, want[c]);
		CHECK_EQ(get(fd[c]).run, want[c]);
		CHECK_EQ(get(fd[c]).en, all);
	}
	sim_end();
}
