/* SPDX-License-Identifier: MIT */
/*
 * Named tests: one behaviour or hazard each. Comments name the row of the hazard table (H n) or of the
 * collection of public bugs (PB-n) that the test stands for. Time is in ns; every event counts
 * sim_rate() per ns, cycles 1.
 */
#include "sim.h"

#include <stdio.h>
#include <string.h>

#define MS 1000000ULL
#define TET (PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING)
#define CYC 0x11

static struct perf_event_attr raw(u64 config)
{
	return (struct perf_event_attr){ .type = PERF_TYPE_RAW, .size = sizeof(struct perf_event_attr),
					 .config = config, .read_format = TET };
}

static struct perf_event_attr sw(u64 config)
{
	struct perf_event_attr a = raw(config);

	a.type = PERF_TYPE_SOFTWARE;
	return a;
}

/* Start with one task that runs on CPU 0, where we are. */
static struct task *begin(u32 width)
{
	struct task *t;

	sim_start(7, width);
	t = sim_task();
	sim_switch(0, t);
	return t;
}

static int open_on(struct perf_event_attr a, int pid, int cpu, int group)
{
	long fd = sim_open(&a, pid, cpu, group, 0);

	if (fd < 0)
		fail("open of type %u config %lu: %ld", a.type, (unsigned long)a.config, fd);
	return (int)fd;
}
static int self(struct perf_event_attr a) { return open_on(a, 0, -1, -1); }
static int member(struct perf_event_attr a, int group) { return open_on(a, 0, -1, group); }
static long try_open(struct perf_event_attr a, int pid, int cpu, int group)
{
	return sim_open(&a, pid, cpu, group, 0);
}

struct val { u64 v, en, run; };
static struct val get(int fd)
{
	u64 b[3];

	CHECK_EQ(sim_read(fd, b, sizeof(b)), 24);
	return (struct val){ b[0], b[1], b[2] };
}
static void on(int fd) { CHECK_EQ(sim_ioctl(fd, PERF_EVENT_IOC_ENABLE, 0), 0); }
static void off(int fd) { CHECK_EQ(sim_ioctl(fd, PERF_EVENT_IOC_DISABLE, 0), 0); }

/* --- attributes, permission, targets ------------------------------------------------------------- */

static void attr_sizes(void)	/* PB-37 */
{
	static const u32 good[] = { 0, 64, 72, 80, 96, 104, 112, 120, 128, 136, 144, 4096 };
	static const u32 bad[] = { 1, 63, 4097 };
	union { struct perf_event_attr a; u8 raw[8192]; } u;
	long fd;

	begin(32);
	for (u32 i = 0; i < ARRAY_SIZE(good); i++) {
		memset(&u, 0, sizeof(u));
		u.a = raw(CYC);
		u.a.size = good[i];
		fd = sim_open(&u.a, 0, -1, -1, 0);
		CHECK(fd >= 0);
		CHECK_EQ(sim_event((int)fd)->attr.size, good[i] ? good[i] : 64);
		sim_close((int)fd);
	}
	for (u32 i = 0; i < ARRAY_SIZE(bad); i++) {
		memset(&u, 0, sizeof(u));
		u.a = raw(CYC);
		u.a.size = bad[i];
		CHECK_EQ(sim_open(&u.a, 0, -1, -1, 0), -E2BIG);
		CHECK_EQ(u.a.size, 136);
	}
	memset(&u, 0, sizeof(u));
	u.a = raw(CYC);
	u.a.size = 200;
	u.raw[199] = 1;
	CHECK_EQ(sim_open(&u.a, 0, -1, -1, 0), -E2BIG);
	CHECK_EQ(u.a.size, 136);
	u.a.size = 199;
	fd = sim_open(&u.a, 0, -1, -1, 0);
	CHECK(fd >= 0);
	/* What an old program did not give is 0, whatever lies behind it in memory. */
	u.a = raw(CYC);
	u.a.size = 64;
	u.a.branch_sample_type = 1;
	fd = sim_open(&u.a, 0, -1, -1, 0);
	CHECK_EQ(sim_event((int)fd)->attr.branch_sample_type, 0);
	CHECK_EQ(sys_perf_event_open(8, 0, -1, -1, 0), -EFAULT);
	sim_end();
}

#define REFUSED(errno, set) do { struct perf_event_attr a = raw(CYC); set;			\
	CHECK_EQ(try_open(a, 0, -1, -1), -(errno)); } while (0)
#define ACCEPTED(set) do { struct perf_event_attr a = raw(CYC); set;				\
	long _fd = try_open(a, 0, -1, -1); CHECK(_fd >= 0); sim_close((int)_fd); } while (0)

static void attr_bits(void)
{
	begin(32);
	REFUSED(EINVAL, a.__reserved_1 = 1);
	REFUSED(EINVAL, a.__reserved_2 = 1);
	REFUSED(EINVAL, a.__reserved_3 = 1);
	REFUSED(EINVAL, a.sample_type = 1u << 25);
	REFUSED(EINVAL, a.read_format = 1u << 5);
	REFUSED(EINVAL, a.inherit_thread = 1);
	REFUSED(EINVAL, (a.remove_on_exec = 1, a.enable_on_exec = 1));
	REFUSED(EINVAL, a.sigtrap = 1);
	REFUSED(EINVAL, a.sample_period = 1ULL << 63);
	REFUSED(EINVAL, (a.freq = 1, a.sample_freq = 100001));
	REFUSED(EINVAL, (a.inherit = 1, a.sample_type = PERF_SAMPLE_READ));
	REFUSED(EINVAL, (a.sample_type = PERF_SAMPLE_STACK_USER, a.sample_stack_user = 12));
	REFUSED(EINVAL, a.sample_type = PERF_SAMPLE_REGS_USER);
	REFUSED(EOVERFLOW, (a.sample_type = PERF_SAMPLE_CALLCHAIN, a.sample_max_stack = 200));
	REFUSED(EINVAL, (a.use_clockid = 1, a.clockid = 0));
	REFUSED(EINVAL, (a.type = PERF_TYPE_SOFTWARE, a.config = 0, a.use_clockid = 1, a.clockid = 2));
	ACCEPTED((a.type = PERF_TYPE_SOFTWARE, a.config = 0, a.use_clockid = 1, a.clockid = 11));
	ACCEPTED((a.use_clockid = 1, a.clockid = 4));
	ACCEPTED((a.ksymbol = 1, a.bpf_event = 1, a.comm_exec = 1, a.precise_ip = 3, a.mmap2 = 1));
	ACCEPTED((a.inherit = 1, a.sample_type = PERF_SAMPLE_READ | PERF_SAMPLE_TID));
	REFUSED(ENOENT, (a.type = PERF_TYPE_HARDWARE, a.config = 1));	/* PB-39 */
	REFUSED(ENOENT, (a.type = PERF_TYPE_SOFTWARE, a.config = 12));
	REFUSED(ENOENT, a.type = PERF_TYPE_TRACEPOINT);
	REFUSED(ENOENT, a.type = 77);
	CHECK_EQ(sim_open(&(struct perf_event_attr){ .size = 64 }, 0, -1, -1, 1ul << 4), -EINVAL);
	sim_end();
}

static void permission(void)	/* PB-48 */
{
	struct task *t = begin(32), *other;
	struct perf_event_attr k = raw(CYC), u = raw(CYC), cc = raw(CYC);
	struct perf_sysctl *paranoid = perf_sysctls;

	u.exclude_kernel = 1;
	cc.exclude_kernel = 1;
	cc.sample_type = PERF_SAMPLE_CALLCHAIN;
	other = sim_task();
	other->uid = 7;
	sim.capable = false;
	CHECK_EQ(try_open(u, 0, -1, -1), -EACCES);	/* 3 */
	perf_sysctl_set(paranoid, 2);
	sim_close((int)try_open(u, 0, -1, -1));
	CHECK_EQ(try_open(k, 0, -1, -1), -EACCES);
	CHECK_EQ(try_open(cc, 0, -1, -1), -EACCES);
	cc.exclude_callchain_kernel = 1;
	sim_close((int)try_open(cc, 0, -1, -1));
	perf_sysctl_set(paranoid, 1);
	sim_close((int)try_open(k, 0, -1, -1));
	CHECK_EQ(try_open(k, -1, 0, -1), -EACCES);
	perf_sysctl_set(paranoid, 0);
	sim_close((int)try_open(k, -1, 0, -1));
	perf_sysctl_set(paranoid, -1);
	CHECK_EQ(try_open(k, (int)other->tid, -1, -1), -EACCES);
	sim.capable = true;
	perf_sysctl_set(paranoid, 3);
	sim_close((int)try_open(k, (int)other->tid, -1, -1));
	sim_close((int)try_open(k, -1, 1, -1));
	(void)t;
	sim_end();
}

static void targets(void)
{
	begin(32);
	CHECK_EQ(try_open(raw(CYC), -1, -1, -1), -EINVAL);
	CHECK_EQ(try_open(raw(CYC), -1, SIM_CPUS, -1), -EINVAL);
	CHECK_EQ(try_open(raw(CYC), 0, SIM_CPUS, -1), -EINVAL);
	CHECK_EQ(try_open(raw(CYC), 9999, -1, -1), -ESRCH);
	CHECK_EQ(try_open(raw(CYC), -2, -1, -1), -ESRCH);
	CHECK_EQ(try_open(raw(CYC), 0, -1, 77), -EBADF);
	sim.cpus_online = 7;
	CHECK_EQ(try_open(raw(CYC), -1, 3, -1), -ENODEV);
	sim.cpus_online = 15;
	sim_close((int)try_open(raw(CYC), 0, 3, -1));
	sim_end();
}

static void refusal(void)
{
	struct task *t = begin(32);
	char buf[128];

	CHECK_EQ(perf_refusal_text(t, buf, sizeof(buf)), 0);
	REFUSED(EINVAL, a.inherit_thread = 1);
	CHECK(perf_refusal_text(t, buf, sizeof(buf)) > 0);
	CHECK(strstr(buf, "22 inherit_thread 0x1 needs inherit"));
	sim_end();
}

static void ioctls(void)
{
	u64 v = 0;
	int fd, s;

	begin(32);
	fd = self(raw(CYC));
	CHECK_EQ(sim_ioctl(fd, PERF_EVENT_IOC_ID, (u64)&v), 0);
	CHECK_EQ(v, sim_event(fd)->id);
	CHECK_EQ(sim_ioctl(fd, PERF_EVENT_IOC_ID, 8), -EFAULT);
	CHECK_EQ(sim_ioctl(fd, 0x1234, 0), -ENOTTY);
	CHECK_EQ(sim_ioctl(fd, PERF_EVENT_IOC_PERIOD, (u64)&v), -EINVAL);
	CHECK_EQ(sim_ioctl(fd, PERF_EVENT_IOC_REFRESH, 1), -EINVAL);
	CHECK_EQ(sim_ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, (u64)-1), 0);
	struct perf_event_attr a = raw(CYC);

	CHECK_EQ(sim_ioctl(fd, PERF_EVENT_IOC_MODIFY_ATTRIBUTES, (u64)&a), -EOPNOTSUPP);
	a.type = PERF_TYPE_SOFTWARE;
	CHECK_EQ(sim_ioctl(fd, PERF_EVENT_IOC_MODIFY_ATTRIBUTES, (u64)&a), -EINVAL);
	a = raw(CYC);
	a.sample_period = 5000;
	s = self(a);
	v = 70000;
	CHECK_EQ(sim_ioctl(s, PERF_EVENT_IOC_PERIOD, (u64)&v), 0);
	CHECK_EQ(sim_event(s)->sample_period, 70000);
	v = 0;
	CHECK_EQ(sim_ioctl(s, PERF_EVENT_IOC_PERIOD, (u64)&v), -EINVAL);
	CHECK_EQ(sim.fds[fd]->ops->poll(sim.fds[fd]->priv, NULL), HOST_POLLHUP);
	sim_end();
}

/* --- counting --------------------------------------------------------------------------------------- */

static void exact(void)
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

static void one_look_at_the_clock(void)	/* what is enabled and placed in one step has run all the time */
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

static void wrap(void)	/* PB-06, H8 */
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
	CHECK(perf_stats.overflows > 0);
	sim_end();
}

static void wrap_pending_at_stop(void)	/* H7, H10, PB-10: the flag is up, nobody has looked */
{
	struct task *t = begin(18);
	int fd = self(raw(0x101)), next;

	sim.irq_off[0] = true;
	sim_advance((1 << 17) / sim_rate(0x101) + 1000);	/* past the half: flag up, masked */
	sim.irq_off[0] = false;
	sim.cpu = 1;	/* keep the pending interrupt away from the stop */
	sim.cpu = 0;
	sim_switch(0, NULL);
	CHECK_EQ(perf_stats.overflows, 0);
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
	CHECK_EQ(perf_stats.overflows, 0);
	sim_end();
}

static void spurious(void)	/* H6, H46 */
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

static void no_interrupt(void)	/* PB-40 */
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

static void cycle_counter_first(void)	/* S1 */
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

static void read_formats(void)
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

static void software(void)
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

static void cpu_filter(void)	/* S21: enabled goes on on the wrong CPU, running does not */
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

static void two_pmus(void)	/* S22 */
{
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

static void sysfs(void)
{
	const char *dir, *name;
	char buf[64];
	u32 mode;

	begin(32);
	CHECK(!strcmp(perf_sysfs_pmu(0), "software") && !strcmp(perf_sysfs_pmu(1), "sim_pmu"));
	CHECK(!perf_sysfs_pmu(2));
	CHECK(perf_sysfs_file(1, 0, &dir, &name, &mode) && !dir && !strcmp(name, "type"));
	CHECK(perf_sysfs_read(1, 0, buf, sizeof(buf)) == 3 && !strcmp(buf, "10\n"));
	CHECK(perf_sysfs_file(1, 3, &dir, &name, &mode) && !strcmp(dir, "format"));
	CHECK(perf_sysfs_file(0, 1, &dir, &name, &mode) && mode == 0644);
	CHECK(!perf_sysfs_file(0, 2, &dir, &name, &mode) && !perf_sysfs_file(1, 5, &dir, &name, &mode));
	CHECK_EQ(perf_sysfs_write(1, 1, "10\n"), 0);
	CHECK_EQ(perf_pmus[0]->mux_interval_ms, 10);
	CHECK_EQ(perf_sysfs_write(1, 1, "0"), -EINVAL);
	CHECK_EQ(perf_sysfs_write(1, 1, "x"), -EINVAL);
	CHECK_EQ(perf_sysfs_write(1, 0, "1"), -EACCES);
	CHECK(perf_sysfs_read(1, 2, buf, sizeof(buf)) == 4 && !strcmp(buf, "0-3\n"));
	sim_end();
}

static void control_page(void)	/* PB-07, PB-13 */
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

/* --- groups ------------------------------------------------------------------------------------------ */

static void group_limits(void)	/* PB-15, H15 */
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

static void group_rules(void)	/* S18, H33 */
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

static void group_big_read(void)	/* 16 KiB */
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

static void group_counts_together(void)	/* S17, H16 */
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

static void leader_off(void)	/* H22 */
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

static void leader_closed(void)	/* H32 */
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

static void member_joins_running(void)
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

static void software_leader(void)	/* PB-43 */
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

static void group_changed_after_fork(void)	/* PB-03, H31 */
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

/* --- precedence and rotation ---------------------------------------------------------------------------- */

static void pinned_error(void)	/* S49 */
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

static void precedence(void)
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

static void exclusive(void)
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

static void fair_8(void) { share(8, 800); }	/* PB-01; 200 intervals */
static void fair_12(void) { share(12, 960); }
static void fair_20(void) { share(20, 1600); }

static void sizes_3_3_4(void)	/* H17 */
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

static void unsatisfiable(void)	/* F4, H17: waiting for what pinned groups hold costs nobody anything */
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

static void rotation_stops(void)	/* F10 */
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

static void backfill(void)	/* F13 */
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

static void cpu_and_task_share(void)	/* nobody's flexible groups keep the other's out */
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

static void phase_locked(void)	/* H19: slices that always miss the timer */
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

static void filtered_cost_nothing(void)	/* perf record PROG: one inherited event per CPU */
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

static void switch_cost_flat(void)	/* DESIGN 1.4 */
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

/* --- families ------------------------------------------------------------------------------------------- */

static void three_levels(void)	/* issue 3: sum over three levels, four CPUs, migration */
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

static void grandchild_of_exec(void)	/* root off, child on by its exec: the grandchild counts */
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

static void reset_and_children(void)	/* PB-27, H30 */
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

static void exit_unscheduled(void)	/* PB-04: enabled time of a copy that waited is not lost */
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

static void root_task_exits_first(void)	/* F21 */
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

static void group_read_after_exit(void)	/* perf stat's way: the group outlives its task */
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
	CHECK_EQ(try_open(raw(CYC), (int)p->tid, -1, l), -ESRCH);
	sim_close(l);
	CHECK_EQ(get(m).v, 100 * sim_rate(0x100));
	(void)mon;
	sim_end();
}

static void family_switch(void)
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

static void no_family_switch(void)	/* inherit_stat: the counts stay with their tasks */
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

static void used_up_flag_is_a_difference(void)
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

static void inherit_thread(void)
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

static void existing_thread_not_inherited(void)	/* PB-31 */
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

static void exec_flags(void)	/* PB-19, PB-51 */
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
	perf_exec(false);
	sim_advance(10);
	CHECK_EQ(get(l).v, 10);
	CHECK_EQ(get(m).v, 10);
	CHECK_EQ(get(rem).v, 100);
	CHECK_EQ(get(sib).v, 110);
	off(l);
	perf_exec(false);	/* used once */
	sim_advance(10);
	CHECK_EQ(get(l).v, 10);
	perf_exec(true);	/* set-id: everything goes */
	sim_advance(10);
	CHECK_EQ(get(sib).v, 120);
	sim_advance(10);
	CHECK_EQ(get(sib).v, 120);
	sim_end();
}

static void prctl(void)
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

/* --- races and failures ------------------------------------------------------------------------------------ */

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

static void open_vs_exit(void)	/* H2 */
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

static void fork_vs_close(void)	/* H3: no copy survives its root */
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

static void remote_vs_migration(void)	/* H4, H23: the target moves before every IPI arrives */
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

static void fork_fails(void)	/* H27 */
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

static void open_fails(void)	/* S15 */
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

static void close_while_running(void)	/* H1, S47: root's close stops every copy, everywhere */
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
		CHECK(!perf_cpus[c].pmu[0].used);
	(void)t;
	sim_end();
}

static void soak(void)	/* 1000 perf stat runs */
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

#define T(f) { #f, f }
const struct test named_tests[] = {
	T(attr_sizes), T(attr_bits), T(permission), T(targets), T(refusal), T(ioctls), T(exact),
	T(one_look_at_the_clock), T(wrap),
	T(wrap_pending_at_stop), T(spurious), T(no_interrupt), T(cycle_counter_first), T(read_formats),
	T(software), T(cpu_filter), T(two_pmus), T(sysfs), T(control_page), T(group_limits),
	T(group_rules), T(group_big_read), T(group_counts_together), T(leader_off), T(leader_closed),
	T(member_joins_running), T(software_leader), T(group_changed_after_fork), T(pinned_error),
	T(precedence), T(exclusive), T(fair_8), T(fair_12), T(fair_20), T(sizes_3_3_4), T(unsatisfiable),
	T(rotation_stops), T(backfill), T(cpu_and_task_share), T(phase_locked),
	T(filtered_cost_nothing), T(switch_cost_flat), T(three_levels), T(grandchild_of_exec),
	T(reset_and_children), T(exit_unscheduled), T(root_task_exits_first), T(group_read_after_exit),
	T(family_switch), T(no_family_switch), T(used_up_flag_is_a_difference),
	T(inherit_thread), T(existing_thread_not_inherited),
	T(exec_flags), T(prctl), T(open_vs_exit), T(fork_vs_close), T(remote_vs_migration),
	T(fork_fails), T(open_fails), T(close_while_running), T(soak),
	{ NULL, NULL },
};
