/* SPDX-License-Identifier: MIT */
/*
 * Reading counters from user space through the control page: kernel.perf_user_access and config1 bit 1 (the
 * PMU's "rdpmc" format).
 */
#include "ptest.h"

#include <sched.h>
#include <setjmp.h>
#include <signal.h>

#ifdef __aarch64__

#define CFG_RDPMC 2
#define CFG_LONG 1
#define barrier() __asm__ volatile("dmb ishld" : : : "memory")

static sigjmp_buf trapped;
static void on_sigill(int sig)
{
	siglongjmp(trapped, sig);
}

static u64 read_cycles(void)
{
	u64 v;

	__asm__ volatile("isb; mrs %0, pmccntr_el0" : "=r"(v));
	return v;
}

static u64 read_counter(u32 index)
{
	u64 v;

	if (index == 32)
		return read_cycles();
	__asm__ volatile("msr pmselr_el0, %1; isb; mrs %0, pmxevcntr_el0" : "=r"(v) : "r"((u64)index - 1));
	return v;
}

/* Does this thread's read of the cycle counter trap? */
static bool cycles_trap(void)
{
	bool t = true;

	signal(SIGILL, on_sigill);
	if (!sigsetjmp(trapped, 1)) {
		read_cycles();
		t = false;
	}
	signal(SIGILL, SIG_DFL);
	return t;
}

static bool is_perch(void)
{
	return !access("/proc/perch", F_OK);
}

static int open_user(u64 config1, bool disabled)
{
	struct perf_event_attr a = attr_of(RAW_CYCLES);
	int fd;

	a.config1 = config1;
	a.disabled = disabled;
	a.read_format = RF_TIMES;
	NEED(fd = perf_open(&a, 0, -1, -1, 0));
	return fd;
}

static volatile struct perf_event_mmap_page *map_page(int fd)
{
	void *p = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);

	NEED(p == MAP_FAILED ? -1 : 0);
	return p;
}

struct seen { bool counter; u64 count, enabled, running; u32 index; };

/* The protocol of perf_event_mmap_page. */
static struct seen look(volatile struct perf_event_mmap_page *p)
{
	struct seen s;
	u32 seq, width;

	do {
		seq = p->lock;
		barrier();
		s.index = p->index;
		width = p->pmc_width;
		s.enabled = p->time_enabled;
		s.running = p->time_running;
		s.count = (u64)p->offset;
		s.counter = p->cap_user_rdpmc && s.index;
		if (s.counter)
			s.count += (u64)((s64)(read_counter(s.index) << (64 - width)) >> (64 - width));
		barrier();
	} while (p->lock != seq || seq & 1);
	return s;
}

static void need_user_access(void)
{
	if (geteuid() || read_long(USER_ACCESS) < 0)
		test_skip("no perf_user_access");
	NEED(write_long(PARANOID, -1));
	NEED(write_long(USER_ACCESS, 1));
}

TEST("rdpmc/basic", "sysctl.perf_user_access config1.rdpmc page.index page.offset page.pmc_width", "PB-30 S39")
{
	need_user_access();
	int fd = open_user(CFG_RDPMC, false);
	volatile struct perf_event_mmap_page *p = map_page(fd);

	EXPECT(p->cap_user_rdpmc, "cap_user_rdpmc is not set");
	EXPECT_EQ(p->pmc_width, 32);
	EXPECT(p->index, "no index although the event counts");
	struct seen a = look(p);
	spin_ms(5);
	struct seen b = look(p);
	struct times t = read_times(fd);
	struct seen c = look(p);

	EXPECT(b.count > a.count + 1000000, "5 ms made only %llu cycles", (unsigned long long)(b.count - a.count));
	EXPECT(b.count <= t.value && t.value <= c.count, "read() is not between two looks");
	write_long(USER_ACCESS, 0);
}

TEST("rdpmc/wide", "config1.long config1.rdpmc page.pmc_width", "PB-30")
{
	need_user_access();
	int fd = open_user(CFG_RDPMC | CFG_LONG, false);
	volatile struct perf_event_mmap_page *p = map_page(fd);

	EXPECT_EQ(p->pmc_width, 64);
	EXPECT_EQ(p->index, 32);
	struct seen a = look(p);
	EXPECT(look(p).count > a.count, "the counter stands");
	write_long(USER_ACCESS, 0);
}

TEST("rdpmc/monotonic", "page.lock page.offset", "PB-30 H43")
{
	need_user_access();
	int fd = open_user(CFG_RDPMC, false);
	volatile struct perf_event_mmap_page *p = map_page(fd);
	u64 last = 0, end = now_ns() + 2600000000ull, back = 0, far = 0;

	for (u32 n = 0; now_ns() < end; n++) {		/* past 2^31 cycles at 1 GHz */
		struct seen s = look(p);

		back += s.count < last;
		last = s.count;
		if (n % 1000 == 0) {
			u64 v = read_times(fd).value;

			far += v < s.count || v - s.count > v / 50 + 20000000;
		}
	}
	EXPECT_EQ(back, 0);
	EXPECT(far <= 2, "%llu looks differ from the read after them", (unsigned long long)far);
	write_long(USER_ACCESS, 0);
}

TEST("rdpmc/off", "page.index ioctl.DISABLE", "PB-07")
{
	need_user_access();
	int fd = open_user(CFG_RDPMC, true);
	volatile struct perf_event_mmap_page *p = map_page(fd);

	EXPECT_EQ(p->index, 0);
	NEED(ioctl(fd, PERF_EVENT_IOC_ENABLE, 0));
	EXPECT(p->index, "no index after ENABLE");
	spin_ms(2);
	NEED(ioctl(fd, PERF_EVENT_IOC_DISABLE, 0));
	EXPECT_EQ(p->index, 0);
	EXPECT_EQ(look(p).count, read_times(fd).value);
	for (int i = 0; i < 50; i++) {
		NEED(ioctl(fd, i & 1 ? PERF_EVENT_IOC_DISABLE : PERF_EVENT_IOC_ENABLE, 0));
		EXPECT_EQ(p->index != 0, !(i & 1));
	}
	write_long(USER_ACCESS, 0);
}

TEST("rdpmc/sysctl", "sysctl.perf_user_access", "S39")
{
	need_user_access();
	write_long(USER_ACCESS, 0);
	int fd = open_user(CFG_RDPMC, false);
	volatile struct perf_event_mmap_page *p = map_page(fd);

	EXPECT_EQ(p->index, 0);
	EXPECT(cycles_trap(), "EL0 may read the counter although perf_user_access is 0");
}

TEST("rdpmc/refused", "config1.rdpmc", "S39")
{
	struct perf_event_attr a = attr_of(RAW_CYCLES);

	NEED(write_long(PARANOID, -1));
	a.config1 = CFG_RDPMC;
	EXPECT_ERR(perf_open(&a, -1, 0, -1, 0), EINVAL);	/* not of a task */
	a.config = 0x8;
	a.config1 = CFG_RDPMC | CFG_LONG;			/* a pair cannot be read */
	if (perf_open(&a, 0, -1, -1, 0) >= 0)
		test_skip("counters of 64 bits");
	EXPECT_ERR(perf_open(&a, 0, -1, -1, 0), EOPNOTSUPP);
}

TEST("rdpmc/not_asked", "page.cap_user_rdpmc", "PB-13")
{
	need_user_access();
	int fd = open_user(0, false);
	volatile struct perf_event_mmap_page *p = map_page(fd);

	EXPECT_EQ(p->index, 0);
	EXPECT_EQ(p->cap_user_rdpmc, 0);
	EXPECT(p->cap_user_time, "cap_user_time is not set");
	write_long(USER_ACCESS, 0);
}

/* Other tasks read nothing of ours. On Linux a task without events may find EL0 access open. */
TEST("rdpmc/isolation", "sysctl.perf_user_access", "H44")
{
	need_user_access();
	pin(0);
	int fd = open_user(CFG_RDPMC, false), st;
	volatile struct perf_event_mmap_page *p = map_page(fd);

	spin_ms(2);
	pid_t pid = fork();
	if (!pid) {
		bool open = false;

		for (int i = 0; i < 50 && !open; i++) {
			open = !cycles_trap();
			sched_yield();
		}
		_exit(open);
	}
	for (int i = 0; i < 50; i++) {
		(void)look(p);
		sched_yield();
	}
	waitpid(pid, &st, 0);
	EXPECT(!st || !is_perch(), "a task without events may read the counters");
	write_long(USER_ACCESS, 0);
}

/* More events than counters: whoever has an index can be read, the others have 0. */
TEST("rdpmc/multiplexed", "page.index page.time_enabled page.time_running", "PB-13 H43")
{
	volatile struct perf_event_mmap_page *p[10];
	int fd[10], with = 0;
	u64 last[10] = { 0 };

	need_user_access();
	for (int i = 0; i < 10; i++) {
		fd[i] = open_user(CFG_RDPMC, false);
		p[i] = map_page(fd[i]);
	}
	for (int n = 0; n < 60; n++) {
		spin_ms(2);
		for (int i = 0; i < 10; i++) {
			struct seen s = look(p[i]);

			EXPECT(s.count >= last[i], "event %d went back", i);
			EXPECT(s.running <= s.enabled, "event %d: running above enabled", i);
			last[i] = s.count;
			with |= s.counter << i;
		}
	}
	EXPECT_EQ(with, 0x3ff);
	for (int i = 0; i < 10; i++) {
		struct times t = read_times(fd[i]);

		EXPECT(t.value >= last[i], "event %d: read is below the page", i);
		EXPECT_IN(look(p[i]).enabled, t.enabled * 3 / 4, t.enabled + 50000000);
	}
	write_long(USER_ACCESS, 0);
}

/* Page times: of events on a counter and of those that wait, without asking for user reads. */
TEST("rdpmc/times", "page.time_enabled page.time_running page.cap_user_time", "PB-13")
{
	volatile struct perf_event_mmap_page *p[10];
	u64 lo = ~0ull;
	int fd[10];

	NEED(write_long(PARANOID, -1));
	for (int i = 0; i < 10; i++) {
		fd[i] = open_user(0, false);
		p[i] = map_page(fd[i]);
	}
	spin_ms(80);
	for (int i = 0; i < 10; i++) {
		struct seen s = look(p[i]);

		EXPECT(s.running <= s.enabled, "running above enabled");
		EXPECT(s.running > 0, "event %d never ran", i);
		EXPECT(s.enabled <= read_times(fd[i]).enabled, "event %d: the page is ahead of read()", i);
		lo = s.enabled < lo ? s.enabled : lo;
	}
	EXPECT(lo > 60000000, "time_enabled is %llu after 80 ms", (unsigned long long)lo);
}

/* The present from the page alone (perf_event_mmap_page: cap_user_time, cap_user_time_short). */
static u64 passed_since(volatile struct perf_event_mmap_page *p)
{
	u64 cyc, quot, rem;

	__asm__ volatile("isb; mrs %0, cntvct_el0" : "=r"(cyc));
	if (p->cap_user_time_short)
		cyc = p->time_cycles + ((cyc - p->time_cycles) & p->time_mask);
	quot = cyc >> p->time_shift;
	rem = cyc & ((1ull << p->time_shift) - 1);
	return p->time_offset + quot * p->time_mult + (rem * p->time_mult >> p->time_shift);
}

static u64 enabled_now(volatile struct perf_event_mmap_page *p)
{
	u64 t;
	u32 seq;

	do {
		seq = p->lock;
		barrier();
		t = p->time_enabled + passed_since(p);
		barrier();
	} while (p->lock != seq || seq & 1);
	return t;
}

TEST("rdpmc/time_of_now", "page.cap_user_time page.time_enabled", "perf_event_mmap_page")
{
	volatile struct perf_event_mmap_page *p;
	int fd = open_user(0, false);

	p = map_page(fd);
	EXPECT(p->cap_user_time && p->cap_user_time_zero && p->cap_user_time_short, "capabilities %lx",
	       (long)p->capabilities);
	EXPECT(p->time_mask + 1 == 0 || !(p->time_mask & (p->time_mask + 1)), "time_mask %lx", (long)p->time_mask);
	EXPECT(p->time_cycles, "time_cycles is 0");
	for (int i = 0; i < 200; i++) {
		u64 a = enabled_now(p), b, c;

		b = read_times(fd).enabled;
		c = enabled_now(p);
		EXPECT(a <= b + 1000 && b <= c + 1000, "page %ld, read %ld, page %ld", (long)a, (long)b, (long)c);
		spin_loops(20000);
		if (i % 20 == 0)
			nap_ms(1);
	}
}

/* A family on one CPU: the page is the root's and shows only what its own task does. */
TEST("rdpmc/inherited", "attr.inherit page.index", "S39")
{
	struct perf_event_attr a = attr_of(RAW_CYCLES);
	int fd, st;

	need_user_access();
	pin(0);
	a.config1 = CFG_RDPMC;
	a.inherit = 1;
	a.read_format = RF_TIMES;
	NEED(fd = perf_open(&a, 0, 0, -1, 0));
	volatile struct perf_event_mmap_page *p = map_page(fd);
	pid_t pid = fork();

	if (!pid) {
		spin_ms(30);
		_exit(0);
	}
	struct seen s = look(p);
	EXPECT(s.counter, "no index in the parent");
	waitpid(pid, &st, 0);
	EXPECT(look(p).count < read_times(fd).value + 1, "page above the family's sum");
	/* Linux's family switch may have left the root's own event with the child: then there is none. */
	EXPECT(look(p).counter || !is_perch(), "no index after the child");
	write_long(USER_ACCESS, 0);
}

/* System-wide events come and go while a task reads its own: it must not be killed. */
TEST("rdpmc/beside_cpu_wide", "page.index", "H44")
{
	need_user_access();
	pin(0);
	int fd = open_user(CFG_RDPMC, false), st;
	volatile struct perf_event_mmap_page *p = map_page(fd);
	struct perf_event_attr a = attr_of(RAW_CYCLES);
	pid_t pid = fork();

	if (!pid) {
		if (nr_cpus() > 1)
			pin(1);
		for (int i = 0; i < 100; i++) {
			int wide = perf_open(&a, -1, 0, -1, 0);

			spin_loops(20000);
			close(wide);
			if (i % 50 == 0)
				nap_ms(1);
		}
		_exit(0);
	}
	u64 last = 0, back = 0;

	while (!waitpid(pid, &st, WNOHANG)) {
		u64 now = look(p).count;

		back += now < last;
		last = now;
		spin_loops(200);
	}
	EXPECT_EQ(back, 0);
	EXPECT(look(p).counter, "no index after the last CPU-wide event has gone");
	write_long(USER_ACCESS, 0);
}

#endif
