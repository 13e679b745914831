/* SPDX-License-Identifier: MIT */
/*
 * The control page of counting events and user-space reads (rdpmc).
 */
#include "testlib.h"

static const struct host_map_req one_page = { 0, 1, true, true };

static struct perf_event_attr user(u64 config)
{
	struct perf_event_attr a = raw(config);

	a.config1 = 2;
	return a;
}

static struct perf_event_mmap_page *map(int fd)
{
	void *const *pages;

	CHECK_EQ(perf_file_ops.mmap(sim_event(fd), &one_page, &pages), 0);
	return pages[0];
}

static void unmap(int fd)
{
	perf_file_ops.munmap(sim_event(fd), &one_page);
}

static void allow(int v)
{
	set_sysctl("perf_user_access", v);
}

TEST(control_page)	/* PB-07, PB-13 */
{
	struct host_map_req r = { 0, 1, true, true };
	struct perf_event_mmap_page *p;
	void *const *pages;
	struct task *t;
	int fd;

	t = begin(32);
	fd = self(raw(CYC));
	CHECK_EQ(perf_file_ops.mmap(sim_event(fd), &(struct host_map_req){ 0, 1, false, 0 }, &pages),
		 -EINVAL);
	CHECK_EQ(perf_file_ops.mmap(sim_event(fd), &(struct host_map_req){ 1, 1, true, 0 }, &pages),
		 -EINVAL);
	CHECK_EQ(perf_file_ops.mmap(sim_event(fd), &r, &pages), 0);
	p = pages[0];
	sim_advance(100);
	off(fd);
	CHECK_EQ(p->index, 0);
	CHECK_EQ(p->offset, 100);
	CHECK_EQ(p->time_enabled, 100);
	CHECK(!(p->lock & 1) && p->cap_user_time && p->cap_user_time_zero && p->size == 96);
	on(fd);
	sim_advance(50);
	sim_switch(0, NULL);
	CHECK_EQ(p->offset, 150);
	CHECK_EQ(p->time_running, 150);
	sim_switch(0, t);
	perf_file_ops.munmap(sim_event(fd), &r);
	struct perf_event_attr a = raw(CYC);

	a.inherit = 1;
	fd = self(a);
	CHECK_EQ(perf_file_ops.mmap(sim_event(fd), &r, &pages), -EINVAL);	/* PB-33 */
	sim_end();
}

TEST(page_of_the_gone)	/* RESET shows in the page also when the task has ended */
{
	struct host_map_req r = { 0, 1, true, true };
	struct task *mon, *t = begin(32);
	struct perf_event_mmap_page *p;
	void *const *pages;
	int fd;

	mon = sim_task();
	sim_switch(1, mon);
	sim.cpu = 1;
	fd = open_on(raw(CYC), (int)t->tid, -1, -1);
	CHECK_EQ(perf_file_ops.mmap(sim_event(fd), &r, &pages), 0);
	p = pages[0];
	sim_advance(100);
	sim_exit(0);
	CHECK_EQ(p->offset, 100);
	CHECK_EQ(sim_ioctl(fd, PERF_EVENT_IOC_RESET, 0), 0);
	CHECK_EQ(get(fd).v, 0);
	CHECK_EQ(p->offset, 0);
	CHECK_EQ(p->time_enabled, 100);
	perf_file_ops.munmap(sim_event(fd), &r);
	sim_end();
}

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

TEST(user_read)	/* S39, PB-07, PB-30, H43 */
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
	CHECK(stats_overflows() > 10);
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

TEST(user_read_refused)
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

TEST(user_read_isolation)	/* H44: nothing of others can be read */
{
	struct task *t = begin(32), *rich = sim_task(), *inner;
	struct perf_event_mmap_page *p;
	u64 v;
	int fd, wide;

	allow(1);
	fd = self(user(CYC));
	p = map(fd);
	for (int i = 0; i < 4; i++)
		open_on(raw(0x101), (int)rich->tid, -1, -1);
	sim_switch(0, rich);
	CHECK(traps(0));
	sim_advance(12345);
	sim_switch(0, t);
	for (u32 i = 0; i < 6; i++)
		CHECK(sim_user_read(0, i, &v) && v == 0);
	/* A CPU-wide event is somebody else's. */
	wide = open_on(raw(0x102), -1, 0, -1);
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

TEST(user_read_multiplexed)
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

TEST(user_read_inherited)	/* the page is the root's; its task keeps its own counter */
{
	struct task *t = begin(32), *c;
	struct perf_event_attr a = user(CYC);
	struct perf_event_mmap_page *p;
	u64 count;
	int fd;

	allow(1);
	a.inherit = 1;
	fd = open_on(a, 0, 0, -1);
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

TEST(page_times)	/* PB-13: times of events that wait are right, and of those that run */
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
