/* SPDX-License-Identifier: MIT */
/*
 * Counting: exact values over enable, disable, migration, wraps; read formats; software events; CPU
 * filters; several PMUs.
 */
#include "testlib.h"

#include <string.h>

TEST(exact)
{
	struct task *t = begin(32);
	int cyc = self(raw(CYC)), two = self(raw(0x100)), clk = self(sw(PERF_COUNT_SW_TASK_CLOCK));
	int later;
	struct perf_event_attr a = raw(CYC);

	a.disabled = 1;
	later = self(a);
	sim_advance(1000);
	on(later);
	sim_advance(500);
	off(cyc);
	sim_advance(100);
	sim_switch(0, NULL);
	sim_advance(5000);
	sim_switch(2, t);
	sim_advance(10);
	sim.cpu = 2;
	CHECK_EQ(get(cyc).v, 1500);
	CHECK_EQ(get(cyc).en, 1500);
	CHECK_EQ(get(two).v, 1610 * sim_rate(0x100));
	CHECK_EQ(get(clk).v, 1610);
	CHECK_EQ(get(later).v, 610);
	CHECK_EQ(get(later).run, 610);
	sim_end();
}

TEST(one_look_at_the_clock)	/* what is enabled and placed in one step has run all the time */
{
	struct perf_event_attr a = raw(CYC), d = raw(CYC);
	struct task *t = begin(32), *u = sim_task();
	int fd[4];

	sim.drift = true;
	d.disabled = 1;
	d.enable_on_exec = 1;
	a.pinned = 1;
	fd[0] = self(raw(CYC));
	fd[1] = self(a);
	fd[2] = self(d);
	fd[3] = open_on(raw(CYC), -1, 0, -1);
	perf_exec(false);
	for (int i = 0; i < 10; i++) {
		off(fd[i & 3]);
		on(fd[i & 3]);
		sim_switch(0, u);
		sim_switch(0, t);
	}
	for (int i = 0; i < 4; i++) {
		struct val v = get(fd[i]);

		CHECK(v.en > 10);
		CHECK_EQ(v.run, v.en);
	}
	sim.drift = false;
	sim_end();
}

TEST(wrap)	/* PB-06, H8 */
{
	int a, b;

	begin(32);
	a = self(raw(CYC));
	b = self(raw(CYC));
	sim_advance(3ULL << 31);
	CHECK_EQ(get(b).v, 3ULL << 31);
	sim_advance(9ULL << 32);
	CHECK_EQ(get(a).v, (3ULL << 31) + (9ULL << 32));
	CHECK_EQ(get(b).v, get(a).v);
	CHECK(stats_overflows() > 0);
	sim_end();
}

TEST(wrap_pending_at_stop)	/* H7, H10, PB-10: the flag is up, nobody has looked */
{
	struct task *t = begin(18);
	int fd = self(raw(0x101)), next;

	sim.irq_off[0] = true;
	sim_advance((1 << 17) / sim_rate(0x101) + 1000);	/* past the half: flag up, masked */
	sim.irq_off[0] = false;
	sim.cpu = 1;	/* keep the pending interrupt away from the stop */
	sim.cpu = 0;
	sim_switch(0, NULL);
	CHECK_EQ(stats_overflows(), 0);
	sim_switch(1, t);
	sim.cpu = 1;
	u64 so_far = get(fd).v;

	CHECK_EQ(so_far, ((1 << 17) / sim_rate(0x101) + 1000) * sim_rate(0x101));
	/* The next one on CPU 0 must not inherit the flag. */
	t = sim_task();
	sim_switch(0, t);
	sim.cpu = 0;
	next = self(raw(0x101));
	sim_advance(10);
	CHECK_EQ(get(next).v, 10 * sim_rate(0x101));
	CHECK_EQ(stats_overflows(), 0);
	sim_end();
}

TEST(spurious)	/* H6, H46 */
{
	int fd;

	begin(32);
	fd = self(raw(CYC));
	sim_spurious(0, 3);
	sim_spurious(0, 31);	/* its own, but it has not wrapped */
	sim_advance(1000);
	CHECK_EQ(perf_stats.spurious, 1);
	CHECK_EQ(get(fd).v, 1000);
	sim_end();
}

TEST(no_interrupt)	/* PB-40 */
{
	struct perf_event_attr a = raw(0x101);
	int fd;

	sim_start_caps(1, 26, PMU_NO_INTERRUPT);
	sim_switch(0, sim_task());
	fd = self(a);
	sim_advance(200 * MS);
	CHECK_EQ(get(fd).v, 200 * MS * sim_rate(0x101));
	a.sample_period = 1000;
	CHECK_EQ(try_open(a, 0, -1, -1), -EOPNOTSUPP);
	sim_switch(0, NULL);
	CHECK_EQ(perf_tick_users[0], 0);
	sim_end();
}

TEST(cycle_counter_first)	/* S1 */
{
	int fd[8];

	begin(32);
	for (int i = 0; i < 7; i++)
		fd[i] = self(raw(CYC));
	sim_advance(20 * MS);
	for (int i = 0; i < 7; i++) {
		CHECK_EQ(get(fd[i]).run, get(fd[i]).en);
		CHECK_EQ(get(fd[i]).v, 20 * MS);
	}
	fd[7] = self(raw(CYC));
	sim_advance(40 * MS);
	CHECK(get(fd[7]).run && get(fd[7]).run < get(fd[7]).en);
	sim_end();
}

TEST(read_formats)
{
	struct perf_event_attr a = raw(CYC);
	u64 b[16];
	int l, m;

	begin(32);
	for (u32 rf = 0; rf < 32; rf++) {
		a.read_format = rf;
		l = self(a);
		m = member(raw(0x100), l);
		sim_advance(100);
		size_t want = read_size_for(rf, 2);

		CHECK_EQ(sim_read(l, b, sizeof(b)), want);
		CHECK_EQ(sim_read(l, b, want), want);
		CHECK_EQ(sim_read(l, b, want - 1), -ENOSPC);
		u32 n = 0;

		if (rf & PERF_FORMAT_GROUP) {
			CHECK_EQ(b[n++], 2);
			n += !!(rf & 1) + !!(rf & 2);
			CHECK_EQ(b[n++], 100);
			if (rf & PERF_FORMAT_ID)
				CHECK_EQ(b[n++], sim_event(l)->id);
			n += !!(rf & PERF_FORMAT_LOST);
			CHECK_EQ(b[n++], 100 * sim_rate(0x100));
			if (rf & PERF_FORMAT_ID)
				CHECK_EQ(b[n++], sim_event(m)->id);
		} else {
			CHECK_EQ(b[n++], 100);
		}
		sim_close(m);
		sim_close(l);
	}
	sim_end();
}

/* The counts of clocks are times, which a read of the group brings up to the present; the leader's are shown. */
TEST(read_group_with_a_clock)
{
	struct perf_event_attr a = raw(CYC);
	u64 b[6];
	int l;

	begin(32);
	a.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	l = self(a);
	member(sw(PERF_COUNT_SW_TASK_CLOCK), l);
	for (u64 n = 1; n <= 3; n++) {
		sim_advance(100);
		CHECK_EQ(sim_read(l, b, sizeof(b)), 5 * 8);
		CHECK_EQ(b[0], 2);
		CHECK_EQ(b[1], 100 * n);
		CHECK_EQ(b[2], 100 * n);
		CHECK_EQ(b[3], 100 * n);
		CHECK_EQ(b[4], 100 * n);
	}
	sim_end();
}

TEST(software)
{
	struct task *t, *u;
	int f, fu, cs, mig, cpu_cs, dummy, maj;
	struct perf_event_attr a = sw(PERF_COUNT_SW_PAGE_FAULTS);
	struct pt_regs *user = (struct pt_regs *)1;

	t = begin(32);
	f = self(a);
	a.exclude_user = 1;
	fu = self(a);
	cs = self(sw(PERF_COUNT_SW_CONTEXT_SWITCHES));
	mig = self(sw(PERF_COUNT_SW_CPU_MIGRATIONS));
	dummy = self(sw(PERF_COUNT_SW_DUMMY));
	maj = self(sw(PERF_COUNT_SW_PAGE_FAULTS_MAJ));
	cpu_cs = open_on(sw(PERF_COUNT_SW_CONTEXT_SWITCHES), -1, 0, -1);
	for (int i = 0; i < 5; i++)
		perf_page_fault_any(user, 0x1000);
	perf_page_fault(PERF_FAULT_MAJOR, user, 0);
	perf_page_fault_any(NULL, 0);	/* in the kernel */
	u = sim_task();
	sim_switch(0, u);	/* t out: 1 */
	perf_page_fault_any(user, 0);	/* u's */
	sim_switch(1, t);	/* t moved */
	sim_switch(0, NULL);
	sim.cpu = 1;
	CHECK_EQ(get(f).v, 6);
	CHECK_EQ(get(fu).v, 1);
	CHECK_EQ(get(maj).v, 1);
	CHECK_EQ(get(cs).v, 1);
	CHECK_EQ(get(mig).v, 1);
	CHECK_EQ(get(cpu_cs).v, 2);
	CHECK_EQ(get(dummy).v, 0);
	sim_end();
}

TEST(cpu_filter)	/* S21: enabled goes on on the wrong CPU, running does not */
{
	struct task *t = begin(32);
	int hw0 = open_on(raw(CYC), 0, 0, -1), clk1 = open_on(sw(1), 0, 1, -1);

	sim_advance(100);
	sim_switch(0, NULL);
	sim_switch(1, t);
	sim_advance(30);
	sim.cpu = 1;
	CHECK_EQ(get(hw0).v, 100);
	CHECK_EQ(get(hw0).en, 130);
	CHECK_EQ(get(hw0).run, 100);
	CHECK_EQ(get(clk1).v, 30);
	CHECK_EQ(get(clk1).en, 130);
	CHECK_EQ(get(clk1).run, 30);
	sim_end();
}

TEST(two_pmus)	/* S22 */
{
	static struct pmu third;
	struct perf_event_attr a = raw(CYC);
	struct task *t;
	int big, little;
	char buf[64];

	t = begin(32);
	sim_second_pmu(BIT(2) | BIT(3));
	a.type = 11;
	little = self(a);
	a.type = 10;
	big = self(a);
	CHECK_EQ(try_open((a.type = 11, a), -1, 0, -1), -ENOENT);
	third = *perf_pmus[0];
	CHECK_EQ(pmu_register(&third), -EBUSY);	/* the task's context has no room for it */
	CHECK_EQ(try_open(a, 0, -1, big), -EINVAL);	/* group over two PMUs */
	a.pinned = 1;
	int pin = self(a);

	sim_advance(100);
	sim_switch(0, NULL);
	sim_switch(3, t);
	sim_advance(20);
	sim.cpu = 3;
	CHECK_EQ(get(little).v, 20);
	CHECK_EQ(get(little).en, 120);
	CHECK_EQ(get(big).v, 120);
	CHECK_EQ(get(pin).v, 20);	/* waiting on CPU 0 was no error */
	/* the extended type names a PMU */
	a = raw(0);
	a.type = PERF_TYPE_HARDWARE;
	a.config = 11ULL << 32;
	CHECK_EQ(sim_event(self(a))->pmu->type, 11);
	a.config = 99ULL << 32;	/* nobody's: as if none were named */
	CHECK_EQ(sim_event(self(a))->pmu->type, 10);
	a.config = 1ULL << 32;	/* the software PMU has no hardware events */
	CHECK_EQ(try_open(a, 0, -1, -1), -ENOENT);
	CHECK_EQ(perf_sysfs_read(2, 2, buf, sizeof(buf)), 4);
	CHECK(!strcmp(buf, "2-3\n"));
	sim_end();
}

/* --- 64-bit events (config1 bit 0) ------------------------------------------------------------ */

static struct perf_event_attr wide(u64 config)
{
	struct perf_event_attr a = raw(config);

	a.config1 = 1;
	return a;
}

TEST(wide_pairs)	/* two counters each, no overflow on the way, turns when there are too few */
{
	struct task *t = begin(32);
	int fd[4], one, cycles;

	fd[0] = self(wide(0x101));
	CHECK_EQ(sim_event(fd[0])->hw.width, 64);
	CHECK_EQ(__builtin_popcountll(sim_event(fd[0])->hw.taken), 2);
	cycles = self(wide(CYC));
	CHECK_EQ(__builtin_popcountll(sim_event(cycles)->hw.taken), 1);
	sim_advance(3ULL << 31);
	CHECK_EQ(get(fd[0]).v, (3ULL << 31) * sim_rate(0x101));
	CHECK_EQ(get(cycles).v, 3ULL << 31);
	CHECK_EQ(stats_overflows(), 0);
	one = self(raw(0x100));		/* takes half of a pair: two pairs are left */
	fd[1] = self(wide(0x101));
	fd[2] = self(wide(0x102));
	CHECK(sim_event(fd[1])->group.placed && !sim_event(fd[2])->group.placed);
	for (int i = 0; i < 100; i++) {
		sim_advance(4 * MS + 77);
		sim_switch(0, NULL);
		sim_switch((u32)i % 4, t);
		sim.cpu = (u32)i % 4;
		sim_switch(sim.cpu, NULL);
		sim_switch(0, t);
		sim.cpu = 0;
	}
	fd[3] = self(wide(0x102));
	sim_advance(400 * MS);
	for (int i = 0; i < 4; i++) {
		struct val v = get(fd[i]);

		CHECK_EQ(v.v, v.run * sim_rate(i < 2 ? 0x101 : 0x102));
		CHECK(v.run > 100 * MS);
	}
	CHECK_EQ(get(one).v, get(one).run * sim_rate(0x100));
	CHECK_EQ(get(cycles).v, get(cycles).run);
	sim_end();
}

TEST(long_periods)	/* H10: in one go on a pair, in chunks of half the range on one counter */
{
	struct perf_event_attr a = wide(0x101);
	u64 period = 1ULL << 36, chunks;
	int fd;

	for (int pair = 1; pair >= 0; pair--) {
		begin(32);
		a.config1 = (u64)pair;
		a.sample_period = period;
		fd = self(a);
		sim_advance(period / sim_rate(0x101) - MS);
		chunks = stats_overflows();
		if (pair ? chunks : chunks < 20)
			fail("%lu overflows before the period was over", chunks);
		CHECK(sim_event(fd)->period_left > 0 || !pair);
		sim_advance(2 * MS);
		CHECK_EQ(stats_overflows(), pair ? 1 : chunks + 1);
		CHECK_EQ(get(fd).v, (period / sim_rate(0x101) + MS) * sim_rate(0x101));
		sim_end();
	}
}

TEST(count_goes_round)	/* H11: 64 bits wrap, as on Linux */
{
	int fd;

	begin(32);
	fd = self(raw(CYC));
	sim_event(fd)->count = UINT64_MAX - 49;
	sim_advance(100);
	CHECK_EQ(get(fd).v, 50);
	sim_end();
}

TEST(two_clusters)	/* S22: its counters exist on CPUs 2 and 3 only; the task goes round all four */
{
	struct perf_event_attr a = raw(CYC), p;
	struct task *t = begin(24);
	u64 there = 0, all = 0;
	int fd[9], pin;

	sim_second_pmu(BIT(2) | BIT(3));
	a.type = 11;
	a.inherit = 1;
	p = a;
	p.pinned = 1;
	pin = self(p);
	for (int i = 0; i < 9; i++)
		fd[i] = self(i < 6 ? a : raw(0x100));	/* six of that kind, three of the other */
	for (u32 i = 0; i < 200; i++) {
		u32 cpu = (i * 7 + i / 3) % 4;

		sim_switch((u32)t->cpu, NULL);
		sim_switch(cpu, t);
		sim.cpu = cpu;
		sim_advance(10000 + i);
		all += 10000 + i;
		there += cpu >= 2 ? 10000 + i : 0;
	}
	CHECK_EQ(get(pin).v, there);
	for (int i = 0; i < 9; i++) {
		u64 run = i < 6 ? there : all;

		CHECK_EQ(get(fd[i]).run, run);
		CHECK_EQ(get(fd[i]).en, all);
		CHECK_EQ(get(fd[i]).v, run * sim_rate(i < 6 ? CYC : 0x100));
	}
	sim_end();
}
