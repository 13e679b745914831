/* SPDX-License-Identifier: MIT */
/*
 * Races and failures: two operations at once, in every order; every allocation fails once.
 */
#include "testlib.h"

#include <ucontext.h>

static struct task *victim;
static int victim_fd;
static bool done;

static void exit_victim(void)
{
	if (!done && victim->cpu >= 0) {
		done = true;
		sim_exit((u32)victim->cpu);
	}
}

static void close_victim(void)
{
	if (!done) {
		done = true;
		ONCPU(3)
			sim_close(victim_fd);
	}
}

static void start_chaos(void (*fn)(void))
{
	done = false;
	sim.chaos = 100;
	sim.chaos_call = fn;
}

TEST(open_vs_exit)	/* H2 */
{
	struct task *t, *v;
	long r;

	for (u32 seed = 1; seed < 40; seed++) {
		t = begin(32);
		sim.seed += seed * 77777;
		v = sim_task();
		v->refs++;
		sim_switch(2, v);
		if (seed & 1)	/* with and without something of perf there already */
			open_on(raw(CYC), (int)v->tid, -1, -1);
		victim = v;
		start_chaos(exit_victim);
		r = try_open(raw(CYC), (int)v->tid, -1, -1);
		sim.chaos = 0;
		CHECK(done || r >= 0);
		CHECK(r >= 0 || r == -ESRCH);
		host_task_put(v);
		(void)t;
		sim_end();
	}
}

TEST(fork_vs_close)	/* H3: no copy survives its root */
{
	struct perf_event_attr a = raw(CYC);
	struct task *t, *c;

	for (u32 seed = 1; seed < 40; seed++) {
		t = begin(32);
		sim.seed += seed * 99991;
		sim_switch(3, sim_task());
		a.inherit = 1;
		victim_fd = self(a);
		self(a);
		start_chaos(close_victim);
		c = sim_fork(false);
		sim.chaos = 0;
		CHECK(c);
		if (!done)
			close_victim();
		CHECK_EQ(perf_stats.events, 2);
		(void)t;
		sim_end();
	}
}

TEST(close_vs_fork_undone)	/* H3, H27: a fork fails late, when its events are closed already */
{
	struct perf_event_attr a = raw(CYC);
	struct task *c;
	int fd;

	begin(32);
	a.inherit = 1;
	fd = self(a);
	c = sim_fork(false);
	CHECK(c);
	sim_close(fd);
	perf_fork_undo(c);
	host_task_put(c);
	sim_end();
}

TEST(remote_vs_migration)	/* H4, H23: the target moves before every IPI arrives */
{
	struct task *t = begin(32), *v = sim_task();
	u64 want = 0;
	int fd;

	sim_switch(1, v);
	fd = open_on(raw(CYC), (int)v->tid, -1, -1);
	sim.chaos_call = NULL;
	for (int i = 0; i < 200; i++) {
		sim.chaos = 100;
		i & 1 ? on(fd) : off(fd);
		sim.chaos = 0;
		int cpu = v->cpu;
		sim_advance(100);
		want += (i & 1) && cpu >= 0 ? 100 : 0;
		CHECK_EQ(get(fd).v, want);
	}
	CHECK(perf_stats.remote_calls > 20);
	(void)t;
	sim_end();
}

static struct task *leaver;
static int its_fds[7];
/* CPU 0 is between "prev is out" and "place what waits": somebody switches off all events of prev. */
static void off_now(host_spinlock *l)
{
	if (sim.cpu != 0 || !leaver->perf || l == &leaver->perf->ctx->lock)
		return;
	sim.before_lock = NULL;
	ONCPU(1)
		for (int i = 0; i < 7; i++)
			off(its_fds[i]);
}

TEST(counters_of_who_left)	/* the CPU's groups get them at once, whatever happens to prev's context */
{
	struct task *t = begin(32), *u = sim_task();
	int wide;

	sim_switch(1, sim_task());
	for (int i = 0; i < 7; i++)
		its_fds[i] = self(raw(CYC));
	wide = open_on(raw(CYC), -1, 0, -1);
	open_on(sw(PERF_COUNT_SW_PAGE_FAULTS), (int)u->tid, -1, -1);
	CHECK(!sim_event(wide)->group.placed);
	leaver = t;
	sim.before_lock = off_now;
	sim_switch(0, u);
	CHECK(!sim.before_lock);
	CHECK(sim_event(wide)->group.placed);
	sim_end();
}

TEST(fork_fails)	/* H27 */
{
	struct perf_event_attr a = raw(CYC);
	u64 events;
	int l, n;

	begin(32);
	a.inherit = 1;
	for (u32 c = 0; c < 3; c++) {
		l = open_on(a, 0, (int)c, -1);
		open_on(a, 0, (int)c, l);
	}
	events = perf_stats.events;
	for (n = 1; ; n++) {
		long allocs = sim.allocs;

		sim.fail_after = n;
		if (sim_fork(false))
			break;
		CHECK_EQ(perf_stats.events, events);
		CHECK_EQ(perf_stats.contexts, 1);
		CHECK_EQ(sim.allocs, allocs);
	}
	CHECK(n > 9);	/* task, context, array, buckets, events: each has failed once */
	sim_end();
}

TEST(open_fails)	/* S15 */
{
	int n, l;

	begin(32);
	l = open_on(raw(CYC), 0, -1, -1);
	sim_close(l);
	for (n = 1; ; n++) {
		long allocs = sim.allocs, fd;

		sim.fail_after = n;
		fd = try_open(raw(CYC), 0, 2, -1);
		if (fd >= 0)
			break;
		CHECK_EQ(fd, -ENOMEM);
		CHECK_EQ(perf_stats.events, 0);
		CHECK_EQ(perf_stats.contexts, 0);
		CHECK_EQ(sim.allocs, allocs);
	}
	CHECK(n > 4);
	sim_end();
}

TEST(close_while_running)	/* H1, S47: root's close stops every copy, everywhere */
{
	struct perf_event_attr a = raw(CYC);
	struct task *t = begin(32);
	int fd;

	a.inherit = 1;
	fd = self(a);
	for (u32 c = 1; c < SIM_CPUS; c++)
		sim_switch(c, sim_fork(false));
	sim_fork(false);	/* one that never ran */
	sim_advance(100);
	CHECK_EQ(get(fd).v, 400);
	sim_close(fd);
	CHECK_EQ(perf_stats.events, 0);
	CHECK_EQ(perf_stats.contexts, 0);
	CHECK_EQ(perf_switch_users, 0);
	for (u32 c = 0; c < SIM_CPUS; c++)
		CHECK(!perf_cpus[c].pmu[0].seats->used);
	(void)t;
	sim_end();
}

TEST(soak)	/* 1000 perf stat runs */
{
	struct perf_event_attr a = raw(CYC);
	struct task *t = begin(24), *c;
	long allocs = 0;

	a.inherit = a.disabled = a.enable_on_exec = 1;
	for (int i = 0; i < 1000; i++) {
		int fd[9];

		sim.cpu = 0;
		c = sim_fork(false);
		for (int k = 0; k < 9; k++)
			fd[k] = open_on(a, (int)c->tid, -1, -1);
		sim_switch(1 + i % 3, c);
		sim.cpu = 1 + (u32)i % 3;
		perf_exec(false);
		sim_advance(9000);
		struct task *g = sim_fork(false);

		sim_switch(sim.cpu, g);
		sim_advance(1000);
		sim_exit(sim.cpu);
		sim_switch(sim.cpu, c);
		sim_exit(sim.cpu);
		sim.cpu = 0;
		CHECK_EQ(get(fd[i % 9]).en, 10000);
		for (int k = 0; k < 9; k++)
			sim_close(fd[k]);
		if (!i)
			allocs = sim.allocs;
		CHECK_EQ(sim.allocs, allocs);
	}
	(void)t;
	sim_end();
}

static ucontext_t switcher, closer;
static char closer_stack[256 << 10];
static struct perf_ctx *contested;
static int closing_fd;
static bool closed, waited;

static void close_it(void)
{
	sim_close(closing_fd);
	closed = true;
}

/* CPU 0 is in its switch with IRQs off: the closer on CPU 1 has to wait for it. */
static void wait_for_cpu(u32 cpu)
{
	(void)cpu;
	waited = true;
	sim.cpu = 0;
	swapcontext(&closer, &switcher);
	sim.cpu = 1;
}

/* CPU 0 has found the context of the task it switches to, and is about to lock it. */
static void close_now(host_spinlock *l)
{
	if (sim.cpu != 0 || l != &contested->lock)
		return;
	sim.before_lock = NULL;
	getcontext(&closer);
	closer.uc_stack.ss_sp = closer_stack;
	closer.uc_stack.ss_size = sizeof(closer_stack);
	closer.uc_link = &switcher;
	makecontext(&closer, close_it, 0);
	sim.cpu = 1;
	swapcontext(&switcher, &closer);
	sim.cpu = 0;
}

TEST(close_vs_switch_in)
{
	struct task *t = begin(32), *mon = sim_task();

	sim_switch(1, mon);
	sim.cpu = 1;
	closing_fd = open_on(raw(CYC), (int)t->tid, -1, -1);
	contested = sim_event(closing_fd)->ctx;
	sim_switch(0, NULL);
	sim.before_lock = close_now;
	sim.ipi_waits = wait_for_cpu;
	closed = waited = false;
	sim_switch(0, t);
	CHECK(!sim.before_lock && waited && !closed);
	CHECK(!perf_cpus[0].task_ctx);
	sim.cpu = 1;
	swapcontext(&switcher, &closer);	/* IRQs are on again on CPU 0 */
	CHECK(closed);
	CHECK_EQ(perf_stats.contexts, 0);
	sim.ipi_waits = NULL;
	/* The task can have events again. */
	sim.cpu = 0;
	closing_fd = self(raw(CYC));
	sim_advance(100);
	CHECK_EQ(get(closing_fd).v, 100);
	sim_end();
}

TEST(map_fails)	/* every allocation of mmap fails once: nothing stays, and then it works */
{
	struct perf_event_attr a = raw(CYC);
	struct host_map_req r = { 0, 5, true, true };
	void *const *pages;
	int fd, n, err;

	begin(32);
	a.sample_period = 1000000;
	fd = self(a);
	for (n = 1; ; n++) {
		long allocs = sim.allocs;

		sim.fail_after = n;
		err = perf_file_ops.mmap(sim_event(fd), &r, &pages);
		sim.fail_after = 0;
		if (!err)
			break;
		CHECK_EQ(err, -ENOMEM);
		CHECK_EQ(sim.allocs, allocs);
		CHECK(!sim_event(fd)->ring && !sim_event(fd)->nr_maps);
	}
	CHECK(n > 6);		/* ring, its array, five pages */
	perf_file_ops.munmap(sim_event(fd), &r);
	sim_end();
}

TEST(out_of_descriptors)
{
	int n = 0;
	long fd;

	begin(32);
	while ((fd = try_open(sw(PERF_COUNT_SW_DUMMY), 0, -1, -1)) >= 0)
		n++;
	CHECK_EQ(fd, -EMFILE);
	CHECK_EQ(perf_stats.events, n);
	sim_end();
}

TEST(period_against_throttle)	/* H25: a new period ends the throttling, not the counting */
{
	struct perf_event_attr a = raw(CYC);
	u64 period = 10 * MS;
	struct val v;
	int fd;

	begin(32);
	a.sample_period = 100;
	fd = self(a);
	while (!sim_event(fd)->throttled)
		sim_advance(100);
	v = get(fd);
	sim_advance(1000);
	CHECK_EQ(get(fd).v, v.v);
	CHECK_EQ(sim_ioctl(fd, PERF_EVENT_IOC_PERIOD, (u64)&period), 0);
	CHECK(!sim_event(fd)->throttled && !perf_cpus[0].throttled);
	v = get(fd);
	sim_advance(1000);
	CHECK_EQ(get(fd).v, v.v + 1000);
	CHECK_EQ(sim_event(fd)->sample_period, 10 * MS);
	sim_end();
}
