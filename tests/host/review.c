/* SPDX-License-Identifier: MIT */
/*
 * Tests of what a reading of the core against the hazard table found or asked for (kernel/perf/REVIEW.md),
 * and of user-space reads, parking and jitter. H n: row of the table, PB-n: public bug.
 */
#include "sim.h"

#include <string.h>
#include <ucontext.h>

#define MS 1000000ULL
#define CYC 0x11
#define TET (PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING)

static struct perf_event_attr raw(u64 config)
{
	return (struct perf_event_attr){ .type = PERF_TYPE_RAW, .size = sizeof(struct perf_event_attr),
					 .config = config, .read_format = TET };
}

static struct perf_event_attr user(u64 config)
{
	struct perf_event_attr a = raw(config);

	a.config1 = 2;
	return a;
}

static struct task *begin(u32 width)
{
	struct task *t;

	sim_start(11, width);
	t = sim_task();
	sim_switch(0, t);
	return t;
}

static int open_on(struct perf_event_attr a, int pid, int cpu)
{
	long fd = sim_open(&a, pid, cpu, -1, 0);

	if (fd < 0)
		fail("open: %ld", fd);
	return (int)fd;
}
static int self(struct perf_event_attr a) { return open_on(a, 0, -1); }

struct val { u64 v, en, run; };
static struct val get(int fd)
{
	u64 b[3];

	CHECK_EQ(sim_read(fd, b, sizeof(b)), 24);
	return (struct val){ b[0], b[1], b[2] };
}

static const struct host_map_req one_page = { 0, 1, true, true };

static struct perf_event_mmap_page *map(int fd)
{
	void *const *pages;

	CHECK_EQ(perf_file_ops.mmap(sim_event(fd), &one_page, &pages), 0);
	return pages[0];
}
static void unmap(int fd) { perf_file_ops.munmap(sim_event(fd), &one_page); }
static void allow(int v)
{
	for (struct perf_sysctl *s = perf_sysctls; s->name; s++)
		if (!strcmp(s->name, "perf_user_access"))
			CHECK_EQ(perf_sysctl_set(s, v), 0);
}

/* --- a context is let go while another CPU switches to its task (H1, H49) --------------------------------- */

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

static void close_vs_switch_in(void)
{
	struct task *t = begin(32), *mon = sim_task();

	sim_switch(1, mon);
	sim.cpu = 1;
	closing_fd = open_on(raw(CYC), (int)t->tid, -1);
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

/* --- user-space reads ------------------------------------------------------------------------------------- */

/* What a program does with the page; width bits of the counter, sign-extended. False: no counter to read. */
static bool page_count(u32 cpu, const struct perf_event_mmap_page *p, u64 *count)
{
	u64 raw_value;

	CHECK(!(p->lock & 1));
	if (!p->cap_user_rdpmc || !p->index)
		return false;
	if (!sim_user_read(cpu, p->index - 1, &raw_value))
		fail("index %u is shown but the counter traps", p->index);
	*count = (u64)p->offset + (u64)((s64)(raw_value << (64 - p->pmc_width)) >> (64 - p->pmc_width));
	return true;
}

static bool traps(u32 cpu)
{
	u64 v;

	return !sim_user_read(cpu, 0, &v);
}

static void user_read(void)	/* S39, PB-07, PB-30, H43 */
{
	struct task *t = begin(18), *other = sim_task();
	struct perf_event_mmap_page *p, *q;
	int fd, fq;
	u64 c;

	fd = self(user(CYC));
	fq = self(user(0x101));
	CHECK(traps(0));
	p = map(fd);
	q = map(fq);
	CHECK(p->cap_user_rdpmc && !p->index && p->pmc_width == 18);	/* the sysctl is off */
	CHECK(traps(0));
	allow(1);
	CHECK_EQ(p->index, 32);
	CHECK_EQ(q->index, 1);
	for (int i = 0; i < 200; i++) {		/* over several preloads */
		sim_advance(5003);
		CHECK(page_count(0, p, &c));
		CHECK_EQ(c, get(fd).v);
		CHECK(page_count(0, p, &c));	/* a look of the kernel changes nothing */
		CHECK_EQ(c, (u64)(i + 1) * 5003);
		CHECK(page_count(0, q, &c));
		CHECK_EQ(c, get(fq).v);
	}
	CHECK(perf_stats.overflows > 10);
	sim_switch(0, other);
	CHECK(traps(0) && !p->index && (u64)p->offset == 200 * 5003);
	sim_advance(1000);
	sim_switch(0, NULL);
	sim_switch(2, t);
	sim.cpu = 2;
	sim_advance(10);
	CHECK(page_count(2, p, &c));
	CHECK_EQ(c, 200 * 5003 + 10);
	CHECK_EQ(sim_ioctl(fd, PERF_EVENT_IOC_DISABLE, 0), 0);
	CHECK(!p->index && p->offset == 200 * 5003 + 10);
	CHECK(!traps(2));		/* fq is still there */
	CHECK_EQ(sim_ioctl(fd, PERF_EVENT_IOC_ENABLE, 0), 0);
	CHECK_EQ(sim_ioctl(fd, PERF_EVENT_IOC_RESET, 0), 0);
	sim_advance(7);
	CHECK(page_count(2, p, &c));
	CHECK_EQ(c, 7);
	allow(0);
	CHECK(traps(2) && !p->index && p->offset == 7);
	allow(1);
	unmap(fd);
	unmap(fq);
	CHECK(traps(2));
	sim_end();
}

static void user_read_refused(void)
{
	struct perf_event_attr a = user(CYC);

	begin(32);
	CHECK_EQ(sim_open(&a, -1, 0, -1, 0), -EINVAL);
	allow(1);
	int fd = self(raw(CYC));
	struct perf_event_mmap_page *p = map(fd);

	CHECK(!p->index && !p->cap_user_rdpmc && traps(0));	/* did not ask */
	unmap(fd);
	sim_end();
}

static void user_read_isolation(void)	/* H44: nothing of others can be read */
{
	struct task *t = begin(32), *rich = sim_task(), *inner;
	struct perf_event_mmap_page *p;
	u64 v;
	int fd, wide;

	allow(1);
	fd = self(user(CYC));
	p = map(fd);
	for (int i = 0; i < 4; i++)
		open_on(raw(0x101), (int)rich->tid, -1);
	sim_switch(0, rich);
	CHECK(traps(0));
	sim_advance(12345);
	sim_switch(0, t);
	for (u32 i = 0; i < 6; i++)
		CHECK(sim_user_read(0, i, &v) && v == 0);
	/* A CPU-wide event is somebody else's. */
	wide = open_on(raw(0x102), -1, 0);
	CHECK(traps(0) && !p->index && perf_user_read_trap());
	sim_advance(999);
	sim_close(wide);
	CHECK(!traps(0) && p->index);
	for (u32 i = 0; i < 6; i++)
		CHECK(sim_user_read(0, i, &v) && v == 0);
	/* A thread shares the page, not the counters. */
	inner = sim_fork(true);
	sim_switch(0, inner);
	CHECK(traps(0) && !p->index && !perf_user_read_trap());
	sim_switch(0, t);
	CHECK(!traps(0) && p->index);
	unmap(fd);
	sim_end();
}

static void user_read_multiplexed(void)
{
	struct task *t = begin(24), *u = sim_task();
	struct perf_event_mmap_page *p[10];
	u32 shown, ever = 0;
	int fd[10];
	u64 c;

	allow(1);
	for (int i = 0; i < 10; i++) {
		fd[i] = self(user(i ? 0x100 + (u64)i % 3 : CYC));
		p[i] = map(fd[i]);
	}
	for (int n = 0; n < 60; n++) {
		sim_advance(MS + 17);
		shown = 0;
		for (int i = 0; i < 10; i++) {
			CHECK_EQ(p[i]->index != 0, sim_event(fd[i])->hw.counter >= 0);
			if (!page_count(0, p[i], &c))
				c = (u64)p[i]->offset;
			else
				shown++, ever |= 1u << i;
			CHECK_EQ(c, get(fd[i]).v);
		}
		CHECK(shown == 7 || shown == 6);
		if (n % 7 == 0) {
			sim_switch(0, u);
			sim_advance(1000);
			sim_switch(0, t);
		}
	}
	CHECK_EQ(ever, 0x3ff);
	for (int i = 0; i < 10; i++)
		unmap(fd[i]);
	sim_end();
}

static void user_read_inherited(void)	/* the page is the root's; its task keeps its own counter */
{
	struct task *t = begin(32), *c;
	struct perf_event_attr a = user(CYC);
	struct perf_event_mmap_page *p;
	u64 count;
	int fd;

	allow(1);
	a.inherit = 1;
	fd = open_on(a, 0, 0);
	p = map(fd);
	c = sim_fork(true);
	sim_switch(0, c);
	CHECK_EQ(perf_stats.family_switches, 0);
	sim_advance(50);
	CHECK(!p->index);
	sim_switch(0, t);
	sim_advance(30);
	CHECK(page_count(0, p, &count));
	CHECK_EQ(count, 30);
	CHECK_EQ(get(fd).v, 80);
	unmap(fd);
	sim_end();
}

static void page_times(void)	/* PB-13: times of events that wait are right, and of those that run */
{
	struct perf_event_mmap_page *p[10];
	int fd[10];

	begin(32);
	for (int i = 0; i < 10; i++) {
		fd[i] = self(raw(CYC));
		p[i] = map(fd[i]);
	}
	sim_advance(80 * MS);
	for (int i = 0; i < 10; i++) {
		u64 now = p[i]->time_zero + sim.now;		/* what a program computes */
		u64 since = p[i]->time_offset + sim.now;
		u64 en = p[i]->time_enabled + since;
		u64 run = p[i]->time_running + (is_placed(sim_event(fd[i])) ? since : 0);

		CHECK_EQ(now, sim.now);
		CHECK(since <= 4 * MS);				/* a turn refreshes */
		CHECK_EQ(en, get(fd[i]).en);
		CHECK_EQ(run, get(fd[i]).run);
		CHECK(p[i]->cap_user_time && p[i]->cap_user_time_zero && p[i]->cap_user_time_short);
		unmap(fd[i]);
	}
	sim_end();
}

/* --- parking ---------------------------------------------------------------------------------------------- */

static void parked(void)
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
			open_on(raw(CYC), (int)u->tid, -1);
			sim_switch(cpu, u);
			sim_advance(77);
			sim_switch(cpu, NULL);
			break;
		case 3:
			CHECK_EQ(sim_ioctl(fd[0], PERF_EVENT_IOC_DISABLE, 0), 0);
			CHECK_EQ(sim_ioctl(fd[0], PERF_EVENT_IOC_ENABLE, 0), 0);
			break;
		case 5:	/* a CPU-wide event wants a counter, and goes again */
			fd[8] = open_on(raw(CYC), -1, (int)cpu);
			sim_switch(cpu, t);
			sim_advance(1000);
			ran += 1000;
			sim_switch(cpu, NULL);
			sim_close(fd[8]);
			break;
		case 6:
			fd[7] = open_on(raw(0x101), (int)t->tid, -1);	/* the set changes */
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

static void parked_rotation(void)	/* it goes on after a stay outside in which the timer has stopped */
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

static void parked_overflow(void)	/* H6, H7: a pending overflow does not outlive the stay */
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
	CHECK_EQ(perf_stats.overflows, 0);
	sim_switch(0, t);
	sim_advance(10);
	CHECK_EQ(get(fd).v, (ran + 10) * sim_rate(0x101));
	CHECK_EQ(perf_stats.overflows, 0);
	sim_end();
}

static void switch_register_accesses(void)	/* a counter costs its value out, event and value in; no more */
{
	struct task *t, *u;
	u64 n[2];

	for (int round = 0; round < 2; round++) {
		t = begin(32);
		u = sim_task();
		for (int i = 0; i < (round ? 6 : 1); i++) {
			self(raw(0x100));
			open_on(raw(0x100), (int)u->tid, -1);
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

/* --- jitter ----------------------------------------------------------------------------------------------- */

/* Ends of the first n turns. */
static void turns(int seed, u64 *end, u32 n)
{
	u64 seen = 0;

	begin(32);
	for (struct perf_sysctl *s = perf_sysctls; s->name; s++)
		if (!strcmp(s->name, "perf_mux_jitter"))
			CHECK_EQ(perf_sysctl_set(s, seed), 0);
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

static void jitter(void)	/* F12: off by default; else the seed says it all */
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

#define T(f) { #f, f }
const struct test review_tests[] = {
	T(close_vs_switch_in), T(user_read), T(user_read_refused), T(user_read_isolation),
	T(user_read_multiplexed), T(user_read_inherited), T(page_times), T(parked),
	T(parked_rotation), T(parked_overflow), T(switch_register_accesses), T(jitter),
	{ NULL, NULL },
};
