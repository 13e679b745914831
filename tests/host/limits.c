/* SPDX-License-Identifier: MIT */
/* When samples come and when they stop: periods, frequencies, throttling, budgets, sigtrap. */
#include "tape.h"

/* Throttle and unthrottle come in turn; so many samples per tick. */
static void throttle_run(struct perf_event_attr a, u32 per_tick)
{
	u32 n = 0, on = 0, off = 0;
	static struct rec r;
	struct tape t;
	int fd;

	begin(32);
	a.sample_id_all = 1;
	fd = self(a);
	t = map(fd, 65);
	adv(100 * MS);
	while (take(&t, &r)) {
		n += r.type == PERF_RECORD_SAMPLE;
		if (r.type == PERF_RECORD_THROTTLE)
			CHECK_EQ(on++, off);
		if (r.type == PERF_RECORD_UNTHROTTLE)
			CHECK_EQ(++off, on);
		if (r.type != PERF_RECORD_SAMPLE) {
			decode_other(&r, &a);
			CHECK_EQ(r.w[2], sim_event(fd)->id);
			CHECK_EQ(r.w[3], sim_event(fd)->id);
		}
	}
	CHECK(on >= 24 && on <= 26);
	CHECK(n >= 24 * per_tick && n <= 26 * per_tick);
	ioc(fd, PERF_EVENT_IOC_DISABLE, 0);
	CHECK_EQ(perf_cpus[0].throttled, 0);
	CHECK_EQ(perf_tick_users[0], 0);
	unmap(&t);
	sim_end();
}

static struct perf_sysctl *rate(void)
{
	for (struct perf_sysctl *s = perf_sysctls;; s++)
		if (!strcmp(s->name, "perf_event_max_sample_rate"))
			return s;
}

TEST(sampling_throttle)	/* PB-45 */
{
	CHECK_EQ(perf_sysctl_set(rate(), 1000), 0);
	throttle_run(attr(CLOCK, 20 * US, PERF_SAMPLE_TIME), 4);
	throttle_run(attr(RAW, 20 * US, PERF_SAMPLE_TIME), 4);
	CHECK_EQ(perf_sysctl_set(rate(), 250), 0);
	throttle_run(attr(RAW, 20 * US, PERF_SAMPLE_TIME), 1);
}

TEST(sampling_never_throttled)	/* one sample of a happening is always allowed */
{
	struct perf_event_attr a = attr(ALIGN, 1, PERF_SAMPLE_TID);
	struct tape t;
	int fd;

	begin(32);
	CHECK_EQ(perf_sysctl_set(rate(), 250), 0);
	fd = self(a);
	t = map(fd, 9);
	happen(500);
	CHECK_EQ(drain_type(&t, PERF_RECORD_SAMPLE), 500);
	unmap(&t);
	sim_end();
}

TEST(sampling_budget)	/* PB-12 */
{
	static const u64 types[2][2] = { { CLOCK }, { RAW } };

	for (int i = 0; i < 2; i++) {
		struct perf_event_attr a = attr((u32)types[i][0], types[i][1], 100 * US, PERF_SAMPLE_IP);
		struct tape t;
		u64 v;
		int fd;

		begin(32);
		a.disabled = 1;
		fd = self(a);
		sim.fds[fd]->async = true;
		t = map(fd, 2);
		ioc(fd, PERF_EVENT_IOC_REFRESH, 4);
		adv(10 * MS);
		CHECK_EQ(drain_type(&t, PERF_RECORD_SAMPLE), 4);
		CHECK_EQ(sim.fds[fd]->signals[0], 3);
		CHECK_EQ(sim.fds[fd]->signals[1], 1);
		CHECK_EQ(sim_event(fd)->state, PERF_OFF);
		sim_read(fd, &v, sizeof(v));
		CHECK(v >= 400 * US && v < 450 * US);
		ioc(fd, PERF_EVENT_IOC_REFRESH, 1);
		ioc(fd, PERF_EVENT_IOC_REFRESH, 2);
		adv(10 * MS);
		CHECK_EQ(drain_type(&t, PERF_RECORD_SAMPLE), 3);
		CHECK_EQ(sim.fds[fd]->signals[1], 2);
		ioc(fd, PERF_EVENT_IOC_ENABLE, 0);	/* no limit */
		adv(2 * MS);
		CHECK_EQ(drain_type(&t, PERF_RECORD_SAMPLE), 20);
		CHECK_EQ(sim.fds[fd]->signals[1], 2);
		unmap(&t);
		sim_end();
	}
}

TEST(sampling_new_period)	/* PERIOD takes effect at once */
{
	static const u64 types[2][2] = { { CLOCK }, { RAW } };
	u64 v = 100 * US;

	for (int i = 0; i < 2; i++) {
		struct tape t;
		int fd;

		begin(32);
		fd = self(attr((u32)types[i][0], types[i][1], 1ULL << 40, PERF_SAMPLE_PERIOD));
		t = map(fd, 2);
		adv(MS);
		ioc(fd, PERF_EVENT_IOC_PERIOD, (u64)&v);
		adv(MS);
		CHECK_EQ(drain_type(&t, PERF_RECORD_SAMPLE), 10);
		unmap(&t);
		sim_end();
	}
}

TEST(sampling_slices)	/* H: what is left of a period survives slices */
{
	struct task *t = begin(32);
	int fd = self(attr(CLOCK, MS, PERF_SAMPLE_IP)), hw = self(attr(RAW, MS, PERF_SAMPLE_IP));
	struct tape a = map(fd, 2), b = map(hw, 2);

	for (int i = 0; i < 100; i++) {
		adv(300 * US);
		sim_switch(0, NULL);
		adv(500 * US);
		sim_switch(0, t);
	}
	CHECK_EQ(drain_type(&a, PERF_RECORD_SAMPLE), 30);
	CHECK_EQ(drain_type(&b, PERF_RECORD_SAMPLE), 30);
	unmap(&a);
	unmap(&b);
	sim_end();
}

TEST(sampling_frequency)	/* PB-28 */
{
	struct perf_event_attr a = attr(RAW, 0, PERF_SAMPLE_PERIOD);
	u64 last = 0, n = 0;
	static struct rec r;
	struct tape t;
	int fd;

	begin(32);
	a.freq = 1;
	a.sample_freq = 1000;
	fd = self(a);
	t = map(fd, 33);
	adv(400 * MS);
	while (take(&t, &r))
		if (r.type == PERF_RECORD_SAMPLE)
			last = r.w[1];
	CHECK(last > 900 * US && last < 1100 * US);
	adv(1000 * MS);
	n = drain_type(&t, PERF_RECORD_SAMPLE);
	CHECK(n > 900 && n < 1100);
	unmap(&t);
	sim_end();
}

TEST(sampling_frequency_raised)	/* what is left of a period of a second is given up; the count stays right */
{
	struct perf_event_attr a = attr(RAW, 0, PERF_SAMPLE_PERIOD);
	struct tape t;
	u64 freq = 1000;
	struct val v;
	int fd;

	begin(32);
	a.freq = 1;
	a.sample_freq = 1;
	a.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	fd = self(a);
	t = map(fd, 33);
	adv(400 * MS);
	drain_type(&t, PERF_RECORD_SAMPLE);
	ioc(fd, PERF_EVENT_IOC_PERIOD, (u64)&freq);
	adv(400 * MS);
	CHECK(drain_type(&t, PERF_RECORD_SAMPLE) > 100);
	v = get(fd);
	CHECK_EQ(v.v, v.en);
	CHECK_EQ(v.run, v.en);
	unmap(&t);
	sim_end();
}

TEST(sampling_sigtrap)
{
	struct perf_event_attr a = attr(ALIGN, 1, 0);
	struct task *t = begin(32);
	u32 before = sim_traps;
	int fd;

	a.sigtrap = a.remove_on_exec = 1;
	fd = self(a);
	happen(3);
	CHECK_EQ(sim_traps, before);	/* not while it is in the kernel: a system call that sleeps goes on */
	sim_user(0);
	CHECK_EQ(sim_traps - before, 1);
	for (int i = 0; i < 3; i++) {
		happen(1);
		sim_user(0);
	}
	CHECK_EQ(sim_traps - before, 4);
	/* at a switch: told when the task comes back */
	a.config = PERF_COUNT_SW_CONTEXT_SWITCHES;
	fd = self(a);
	before = sim_traps;
	sim_switch(0, NULL);
	sim_user(0);
	CHECK_EQ(sim_traps, before);
	sim_switch(0, t);
	sim_user(0);
	CHECK_EQ(sim_traps - before, 1);
	(void)fd;
	sim_end();
}

TEST(sampling_sigtrap_at_exec)	/* the new program has no handler: what the old one was owed is gone with the event */
{
	struct perf_event_attr a = attr(ALIGN, 1, 0);
	u32 before = sim_traps;

	begin(32);
	a.sigtrap = a.remove_on_exec = 1;
	self(a);
	happen(1);
	perf_exec(false);
	sim_user(0);
	CHECK_EQ(sim_traps, before);
	sim_end();
}

TEST(sampling_cpu_time)	/* the rate goes down until sampling costs 25 % at most */
{
	u64 flags;

	begin(32);
	CHECK_EQ(perf_sysctl_set(rate(), 100000), 0);
	flags = host_irq_save();
	for (int i = 0; i < 2000; i++)
		cputime_took(host_now() - 2000);
	CHECK_EQ(rate()->value, 100000);
	for (int i = 0; i < 2000; i++)
		cputime_took(host_now() - 20000);
	host_irq_restore(flags);
	CHECK(rate()->value <= 12500 && rate()->value >= 8000);
	sim_end();
}

TEST(sampling_sigtrap_of_who_left)	/* a family switch must not hand the signal to the next one */
{
	struct perf_event_attr a = attr(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES, 1, 0);
	struct task *t = begin(32), *c;
	u32 before = sim_traps;

	a.sigtrap = a.remove_on_exec = a.inherit = 1;
	self(a);
	c = sim_fork(true);
	CHECK(t->perf->ctx->clone_id && t->perf->ctx->clone_id == c->perf->ctx->clone_id);
	sim_switch(0, c);
	sim_user(0);
	CHECK_EQ(sim_traps, before);	/* it was t that was switched away */
	sim_switch(0, t);
	sim_user(0);
	CHECK_EQ(sim_traps - before, 1);	/* t's; c's own comes when c is back */
	sim_switch(0, c);
	sim_user(0);
	CHECK_EQ(sim_traps - before, 2);
	sim_end();
}
