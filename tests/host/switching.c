/* SPDX-License-Identifier: MIT */
/*
 * The context switch: what it costs, contexts that swap, groups that keep their counters over a stay outside.
 */
#include "testlib.h"

TEST(filtered_cost_nothing)	/* perf record PROG: one inherited event per CPU */
{
	struct task *t = begin(32), *u = sim_task();
	u64 n[2];

	for (int round = 0; round < 2; round++) {
		for (int i = 0; i < (round ? 30 : 1); i++)
			for (u32 c = 0; c < SIM_CPUS; c++)
				if (c || !round)
					open_on(raw(CYC), 0, (int)c, -1);
		sim.reg_writes = 0;
		for (int i = 0; i < 10; i++) {
			sim_switch(0, u);
			sim_switch(0, t);
		}
		n[round] = sim.reg_writes;
	}
	CHECK_EQ(n[0], n[1]);
	sim_end();
}

TEST(switch_cost_flat)	/* DESIGN 1.4 */
{
	struct task *t, *u;
	u64 n[2];

	for (int round = 0; round < 2; round++) {
		t = begin(32);
		u = sim_task();
		for (int i = 0; i < (round ? 100 : 8); i++)
			self(raw(CYC));
		sim.reg_writes = 0;
		for (int i = 0; i < 10; i++) {
			sim_switch(0, u);
			sim_switch(0, t);
		}
		n[round] = sim.reg_writes;
		sim_end();
	}
	CHECK(n[1] * 100 <= n[0] * 115);
}

TEST(family_switch)
{
	struct perf_event_attr a = raw(CYC);
	struct task *p = begin(32), *c;
	int fd;

	a.inherit = 1;
	fd = self(a);
	c = sim_fork(false);
	sim.reg_writes = 0;
	for (int i = 0; i < 10; i++) {
		sim_switch(0, c);
		sim_advance(100);
		sim_switch(0, p);
		sim_advance(100);
	}
	CHECK_EQ(perf_stats.family_switches, 20);
	CHECK_EQ(sim.reg_writes, 0);
	CHECK_EQ(get(fd).v, 2000);
	/* A remote operation on an event that has moved to another task in the meantime. */
	sim_switch(0, c);
	sim.cpu = 1;
	sim_switch(1, p);
	off(fd);
	sim_advance(100);
	CHECK_EQ(get(fd).v, 2000);
	sim_end();
}

TEST(no_family_switch)	/* inherit_stat: the counts stay with their tasks */
{
	struct perf_event_attr a = raw(CYC);
	struct task *p = begin(32), *c;
	int fd;

	a.inherit = a.inherit_stat = 1;
	fd = self(a);
	c = sim_fork(false);
	sim_switch(0, c);
	sim_advance(100);
	sim_switch(0, p);
	CHECK_EQ(perf_stats.family_switches, 0);
	CHECK_EQ(sim_event(fd)->count, 0);
	CHECK_EQ(get(fd).v, 100);
	/* and contexts that differ are not swapped */
	sim_close(fd);
	a.inherit_stat = 0;
	fd = self(a);
	c = sim_fork(false);
	open_on(raw(CYC), 0, -1, -1);
	sim_switch(0, c);
	CHECK_EQ(perf_stats.family_switches, 0);
	sim_end();
}

TEST(used_up_flag_is_a_difference)
{
	struct perf_event_attr a = raw(CYC);
	struct task *p = begin(32), *c, *g;
	int fd;

	a.inherit = a.enable_on_exec = 1;
	fd = self(a);
	c = sim_fork(false);
	sim_switch(0, NULL);
	sim_switch(1, c);	/* another CPU: no family switch yet */
	sim.cpu = 1;
	perf_exec(false);	/* c's copy has used its flag up; it is on anyway */
	g = sim_fork(false);	/* g's is the root's: not used up */
	off(fd);
	sim_switch(1, g);
	CHECK_EQ(perf_stats.family_switches, 0);
	sim_switch(1, c);
	perf_exec(false);
	sim_advance(100);
	CHECK_EQ(get(fd).en, 0);
	sim_switch(1, g);
	perf_exec(false);
	sim_advance(100);
	CHECK_EQ(get(fd).en, 100);
	sim_switch(1, NULL);
	sim_switch(0, p);
	sim.cpu = 0;
	perf_exec(false);
	sim_advance(100);
	CHECK_EQ(get(fd).en, 200);
	sim_end();
}

TEST(parked)
{
	struct task *t = begin(24), *u = sim_task();
	int fd[9], clk;
	u64 ran = 0;

	sim_switch(3, sim_task());	/* who does the rest */
	for (int i = 0; i < 6; i++)
		fd[i] = self(raw(0x100 + (u64)i % 3));
	clk = self((struct perf_event_attr){ .type = PERF_TYPE_SOFTWARE, .size = 136, .config = 1,
					     .read_format = TET });
	for (int i = 0; i < 300; i++) {
		u32 cpu = i % 3 ? 0 : 1;

		sim_switch((u32)t->cpu, NULL);
		sim.cpu = 3;
		switch (i % 8) {
		case 1:	/* somebody looks */
			CHECK_EQ(get(fd[1]).en, ran);
			break;
		case 2:	/* somebody else's take a place */
			open_on(raw(CYC), (int)u->tid, -1, -1);
			sim_switch(cpu, u);
			sim_advance(77);
			sim_switch(cpu, NULL);
			break;
		case 3:
			CHECK_EQ(sim_ioctl(fd[0], PERF_EVENT_IOC_DISABLE, 0), 0);
			CHECK_EQ(sim_ioctl(fd[0], PERF_EVENT_IOC_ENABLE, 0), 0);
			break;
		case 5:	/* a CPU-wide event wants a counter, and goes again */
			fd[8] = open_on(raw(CYC), -1, (int)cpu, -1);
			sim_switch(cpu, t);
			sim_advance(1000);
			ran += 1000;
			sim_switch(cpu, NULL);
			sim_close(fd[8]);
			break;
		case 6:
			fd[7] = open_on(raw(0x101), (int)t->tid, -1, -1);	/* the set changes */
			sim_close(fd[7]);
			break;
		}
		sim_switch(cpu, t);
		sim_advance(40000);
		ran += 40000;
	}
	for (int i = 0; i < 6; i++) {
		CHECK_EQ(get(fd[i]).en, ran);
		CHECK_EQ(get(fd[i]).run, ran);
		CHECK_EQ(get(fd[i]).v, ran * sim_rate(0x100 + (u64)i % 3));
	}
	CHECK_EQ(get(clk).v, ran);
	sim_end();
}

TEST(parked_rotation)	/* it goes on after a stay outside in which the timer has stopped */
{
	struct task *t = begin(32);
	int fd[10];

	for (int i = 0; i < 10; i++)
		fd[i] = self(raw(CYC));
	sim_advance(MS);
	sim_switch(0, NULL);
	sim_advance(20 * MS);
	CHECK(!sim.timers);
	u64 before = perf_stats.rotations;

	sim_switch(0, t);
	sim_advance(40 * MS);
	CHECK(perf_stats.rotations >= before + 9);
	for (int i = 0; i < 10; i++)
		CHECK(get(fd[i]).run > 20 * MS);
	sim_end();
}

TEST(parked_overflow)	/* H6, H7: a pending overflow does not outlive the stay */
{
	struct task *t = begin(18);
	int fd = self(raw(0x101));
	u64 ran = (1 << 17) / sim_rate(0x101) + 500;

	sim.irq_off[0] = true;
	sim_advance(ran);
	sim.irq_off[0] = false;
	sim_switch(0, NULL);
	sim_advance(1000);
	CHECK_EQ(perf_stats.spurious, 0);
	CHECK_EQ(stats_overflows(), 0);
	sim_switch(0, t);
	sim_advance(10);
	CHECK_EQ(get(fd).v, (ran + 10) * sim_rate(0x101));
	CHECK_EQ(stats_overflows(), 0);
	sim_end();
}

TEST(switch_register_accesses)	/* a counter costs its value out, event and value in; no more */
{
	struct task *t, *u;
	u64 n[2];

	for (int round = 0; round < 2; round++) {
		t = begin(32);
		u = sim_task();
		for (int i = 0; i < (round ? 6 : 1); i++) {
			self(raw(0x100));
			open_on(raw(0x100), (int)u->tid, -1, -1);
		}
		sim.reg_writes = 0;
		for (int i = 0; i < 10; i++) {
			sim_switch(0, u);
			sim_switch(0, t);
		}
		n[round] = sim.reg_writes;
		sim_end();
	}
	CHECK(n[1] - n[0] <= 5 * 20 * 2);
}

TEST(family_switch_slow_paths)	/* what keeps its values with its task is not swapped; nothing is lost either */
{
	for (int what = 0; what < 4; what++) {
		struct perf_event_attr a = raw(CYC);
		struct task *p = begin(24), *c;
		int fd[9], n = what == 3 ? 9 : 1;

		a.inherit = 1;
		a.inherit_stat = what == 1;
		a.sample_type = what == 2 ? PERF_SAMPLE_READ | PERF_SAMPLE_TID : 0;
		a.sample_period = what == 2 ? 1 << 20 : 0;
		for (int i = 0; i < n; i++)
			fd[i] = self(a);
		c = sim_fork(false);
		for (int i = 0; i < 100; i++) {
			sim_switch(0, c);
			sim_advance(MS / 2);
			if (i == 50)	/* somebody reads, somebody comes back elsewhere */
				CHECK(get(fd[0]).en > 0);
			sim_switch(0, p);
			sim_advance(MS / 4);
		}
		CHECK_EQ(perf_stats.family_switches, what == 1 || what == 2 ? 0 : 200);
		for (int i = 0; i < n; i++) {
			CHECK_EQ(get(fd[i]).en, 75 * MS);
			CHECK_EQ(get(fd[i]).v, get(fd[i]).run);
			CHECK(get(fd[i]).run > (n > 7 ? 40 : 74) * MS);	/* turns go on through swaps */
		}
		sim_switch(0, NULL);	/* a read changes nothing */
		if (what == 1 || what == 2)
			CHECK_EQ(sim_event(fd[0])->count, 25 * MS);
		sim_end();
	}
}

static struct perf_ctx *ctx_of(struct task *t)
{
	return (*host_task_slot(t))->ctx;
}

TEST(parked_from_birth)	/* a child's copies find their parent's counters, unless something comes between */
{
	for (int what = 0; what < 6; what++) {
		struct perf_event_attr a = raw(CYC);
		struct task *p = begin(40 + what), *c;
		int lone, leader, member, clk = -1, other = -1;

		a.inherit = a.inherit_stat = 1;		/* no family switch: each has its own */
		lone = self(a);
		leader = self(a);
		a.disabled = 1;
		member = open_on(a, 0, -1, leader);
		a.disabled = 0;
		if (what == 1)	/* not all are seated */
			for (int i = 0; i < 8; i++)
				other = self(a);
		c = sim_fork(false);
		CHECK_EQ(ctx_of(c)->parked, what != 1);
		sim_advance(MS);
		if (what == 2)	/* copies, too, before they ever ran */
			CHECK_EQ(sim_ioctl(leader, PERF_EVENT_IOC_ENABLE, 0) | sim_ioctl(member, PERF_EVENT_IOC_ENABLE, 0), 0);
		if (what == 3)	/* somebody looks */
			CHECK_EQ(get(lone).v, MS);
		if (what == 4)	/* somebody else has a say there */
			clk = open_on(raw(CYC), -1, 1, -1);
		if (what == 5)
			sim_close(leader);
		sim_switch(1, c);
		sim_advance(MS);
		sim_switch(1, NULL);
		sim_switch(0, NULL);
		sim_switch(0, c);	/* and once more, elsewhere */
		sim_advance(MS);
		sim_switch(0, p);
		CHECK_EQ(get(lone).en, 4 * MS);		/* p: 2, c: 2 */
		if (what != 1)
			CHECK_EQ(get(lone).v, 4 * MS);
		CHECK_EQ(get(lone).v, get(lone).run);
		if (what != 5)
			CHECK_EQ(get(leader).v, get(leader).run);
		CHECK_EQ(get(member).v, what == 2 ? 3 * MS : what == 5 ? get(member).run : 0);
		if (what == 4)
			CHECK_EQ(get(clk).v, 2 * MS);
		(void)other;
		sim_end();
	}
}
