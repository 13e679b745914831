/* SPDX-License-Identifier: MIT */
/* Counting: times, enable and disable, reset, exclusion, widths, multiplexing. */
#include "ptest.h"

TEST("count/times", "attr.read_format ioctl.ENABLE ioctl.DISABLE", "perf_event_open(2)")
{
	int fd = open_with(RAW_CYCLES, RF_TIMES, true, false);
	struct times t = read_times(fd);

	EXPECT_EQ(t.value | t.enabled | t.running, 0);
	spin_ms(10);
	t = read_times(fd);
	EXPECT_EQ(t.value | t.enabled | t.running, 0);
	NEED(ioctl(fd, PERF_EVENT_IOC_ENABLE, 0));
	spin_ms(30);
	NEED(ioctl(fd, PERF_EVENT_IOC_DISABLE, 0));
	struct times a = read_times(fd);

	EXPECT(a.value > 1000000, "cycles %ld in 30 ms", (long)a.value);
	EXPECT(a.enabled >= 25000000 && a.running == a.enabled, "enabled %ld running %ld", (long)a.enabled,
	       (long)a.running);
	spin_ms(10);
	t = read_times(fd);
	EXPECT_EQ(t.value, a.value);
	EXPECT_EQ(t.enabled, a.enabled);
}

TEST("count/sleep_is_not_counted", "attr.read_format", "per-task contexts")
{
	int fd = open_with(RAW_CYCLES, RF_TIMES, false, false);
	struct times a = read_times(fd);

	nap_ms(100);
	struct times b = read_times(fd);

	EXPECT(b.enabled - a.enabled < 50000000, "a sleeping task's event was enabled for %ld ns",
	       (long)(b.enabled - a.enabled));
}

TEST("count/cpu_clock", "sw.CPU_CLOCK", "PB-46")
{
	int fd = open_self(CPU_CLOCK);

	spin_ms(50);
	u64 live = read_u64(fd);

	EXPECT_IN(live, 45000000, 400000000);
	NEED(ioctl(fd, PERF_EVENT_IOC_DISABLE, 0));
	u64 off = read_u64(fd);

	spin_ms(5);
	EXPECT_EQ(read_u64(fd), off);
	NEED(ioctl(fd, PERF_EVENT_IOC_ENABLE, 0));
	nap_ms(50);
	EXPECT_IN(read_u64(fd) - off, 0, 20000000);
}

TEST("count/task_clock", "sw.TASK_CLOCK", "perf stat")
{
	int fd = open_self(TASK_CLOCK);
	u64 a = thread_cpu_ns(), before = read_u64(fd);

	spin_ms(50);
	u64 used = thread_cpu_ns() - a, counted = read_u64(fd) - before;

	EXPECT_IN(counted, used * 9 / 10, used * 11 / 10 + 2000000);
}

TEST("count/faults", "sw.PAGE_FAULTS sw.PAGE_FAULTS_MIN sw.PAGE_FAULTS_MAJ", "issue 3")
{
	int all = open_self(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS);
	int minor = open_self(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MIN);
	int major = open_self(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MAJ);
	size_t len = 64 * 4096;
	char *p = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	madvise(p, len, 15);	/* MADV_NOHUGEPAGE */
	u64 a = read_u64(all), m = read_u64(minor);

	for (size_t i = 0; i < len; i += 4096)
		p[i] = 1;
	EXPECT_IN(read_u64(all) - a, 64, 66);
	EXPECT_IN(read_u64(minor) - m, 64, 66);
	EXPECT_EQ(read_u64(major), 0);
}

TEST("count/switches", "sw.CONTEXT_SWITCHES sw.CPU_MIGRATIONS", "issue 3")
{
	int cs = open_self(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES);
	int mig = open_self(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS);

	pin(0);
	u64 a = read_u64(cs);

	for (int i = 0; i < 20; i++)
		nap_ms(1);
	EXPECT_IN(read_u64(cs) - a, 20, 60);
	if (nr_cpus() < 2)
		return;
	u64 m = read_u64(mig);

	for (int i = 0; i < 10; i++)
		pin(1 - i % 2);
	EXPECT_IN(read_u64(mig) - m, 9, 11);
}

TEST("count/dummy", "sw.DUMMY sw.BPF_OUTPUT sw.CGROUP_SWITCHES", "issue 3")
{
	for (u64 id = 9; id < 12; id++) {
		int fd = open_with(PERF_TYPE_SOFTWARE, id, RF_TIMES, false, false);

		spin_ms(5);
		struct times t = read_times(fd);

		EXPECT_EQ(t.value, 0);
		EXPECT(t.enabled > 0 && t.running == t.enabled, "software id %d: enabled %ld running %ld", (int)id,
		       (long)t.enabled, (long)t.running);
	}
}

TEST("count/exclude", "attr.exclude_user attr.exclude_kernel", "perf stat cycles:u cycles:k")
{
	struct perf_event_attr a = attr_of(RAW_CYCLES);

	a.disabled = 1;		/* until all three are there */
	int both = perf_open(&a, 0, -1, -1, 0);

	a.disabled = 0;
	a.exclude_kernel = 1;
	int user = perf_open(&a, 0, -1, both, 0);

	a.exclude_kernel = 0;
	a.exclude_user = 1;
	int kernel = perf_open(&a, 0, -1, both, 0);

	NEED(kernel);
	NEED(ioctl(both, PERF_EVENT_IOC_ENABLE, 0));
	for (int i = 0; i < 2000; i++)
		getppid();
	NEED(ioctl(both, PERF_EVENT_IOC_DISABLE, PERF_IOC_FLAG_GROUP));
	u64 b = read_u64(both), u = read_u64(user), k = read_u64(kernel);

	EXPECT(u > 0 && k > 0, "user %ld kernel %ld", (long)u, (long)k);
	EXPECT_IN(u + k, b * (100 - skew_percent()) / 100, b * (100 + skew_percent()) / 100);
}

static void wraps(unsigned ms)
{
	int a = open_with(RAW_CYCLES, RF_TIMES, true, false);
	int b = open_with(RAW_CYCLES, RF_TIMES, true, false);

	NEED(ioctl(a, PERF_EVENT_IOC_ENABLE, 0));
	NEED(ioctl(b, PERF_EVENT_IOC_ENABLE, 0));
	spin_ms(ms);
	struct times ta = read_times(a), tb = read_times(b);

	/* b wraps, a is on the cycle counter. Without icount QEMU can lose all that a counter has: when the
	 * overflow of another falls between its two hooks of an exception. b has next to nothing then. */
	if (exact_time())
		EXPECT_IN(ta.value, tb.value * 99 / 100, tb.value * 101 / 100);
	EXPECT_IN(tb.value, tb.running * 9 / 10, tb.running * 11 / 10);	/* QEMU: 1 GHz */
}

TEST("count/half_range", "count.width", "PB-06")
{
	wraps(2600);
}

TEST("count/full_range", "count.width", "PB-06")
{
	wraps(4600);
}

TEST("count/reset", "ioctl.RESET", "perf_event_open(2)")
{
	int fd = open_with(RAW_CYCLES, RF_TIMES, false, false);

	spin_ms(20);
	NEED(ioctl(fd, PERF_EVENT_IOC_DISABLE, 0));
	struct times a = read_times(fd);

	NEED(ioctl(fd, PERF_EVENT_IOC_RESET, 0));
	struct times b = read_times(fd);

	EXPECT_EQ(b.value, 0);
	EXPECT_EQ(b.enabled, a.enabled);
	EXPECT_EQ(b.running, a.running);
}

TEST("count/other_task", "open.pid", "perf stat -p")
{
	int fd;
	pid_t pid = fork();

	if (!pid) {
		for (;;)
			spin_ms(10);
	}
	struct perf_event_attr a = attr_of(RAW_CYCLES);

	a.read_format = RF_TIMES;
	fd = perf_open(&a, pid, -1, -1, 0);
	NEED(fd);
	nap_ms(150);
	struct times t = read_times(fd), u;

	EXPECT(t.value > 1000000 && t.running > 1000000, "value %ld running %ld", (long)t.value, (long)t.running);
	nap_ms(50);
	u = read_times(fd);
	EXPECT(u.value > t.value, "a running task's count stands still");
	kill(pid, 9);
	waitpid(pid, NULL, 0);
	t = read_times(fd);
	nap_ms(20);
	u = read_times(fd);
	EXPECT_EQ(t.value, u.value);
	EXPECT(t.value > 0, "the count is gone with the task");
}

TEST("count/other_cpu", "open.cpu", "perf stat -C")
{
	struct perf_event_attr a = attr_of(CPU_CLOCK);
	u64 b;

	a.read_format = RF_TIMES;
	int cpu = nr_cpus() - 1, fd = perf_open(&a, -1, cpu, -1, 0);

	NEED(fd);
	u64 t0 = now_ns();
	struct times s = read_times(fd);

	nap_ms(100);
	struct times t = read_times(fd);

	b = now_ns() - t0;
	EXPECT_IN(t.enabled - s.enabled, 90000000, b + 1000000);
	EXPECT_EQ(t.enabled, t.running);
	EXPECT_IN(t.value - s.value, 90000000, b + 1000000);
}

TEST("count/cpu_filter_enabled", "open.cpu", "S21")
{
	struct perf_event_attr a = attr_of(RAW_CYCLES);

	if (nr_cpus() < 2)
		test_skip("one CPU");
	a.read_format = RF_TIMES;
	pin(1);
	int fd = perf_open(&a, 0, 0, -1, 0);

	NEED(fd);
	spin_ms(30);
	struct times t = read_times(fd);

	EXPECT_EQ(t.value, 0);
	EXPECT_EQ(t.running, 0);
	EXPECT(t.enabled > 20000000, "enabled %ld on the wrong CPU, Linux counts it", (long)t.enabled);
}

/* Software events of a CPU: of every task on it. */
TEST("count/software_of_cpu", "open.cpu sw.PAGE_FAULTS sw.CONTEXT_SWITCHES sw.CPU_MIGRATIONS sw.TASK_CLOCK", "perf stat -C")
{
	static const u64 id[] = { PERF_COUNT_SW_PAGE_FAULTS, PERF_COUNT_SW_CONTEXT_SWITCHES,
				  PERF_COUNT_SW_CPU_MIGRATIONS, PERF_COUNT_SW_TASK_CLOCK };
	size_t len = 64 * 4096;
	u64 was[4], is[4];
	int fd[4];

	pin(0);
	for (int i = 0; i < 4; i++) {
		struct perf_event_attr a = attr_of(PERF_TYPE_SOFTWARE, id[i]);

		NEED(fd[i] = perf_open(&a, -1, 0, -1, 0));
		was[i] = read_u64(fd[i]);
	}
	pid_t pid = fork();

	if (!pid) {
		char *p = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		madvise(p, len, 15);	/* MADV_NOHUGEPAGE */
		for (size_t i = 0; i < len; i += 4096)
			p[i] = 1;
		for (int i = 0; i < 10; i++)
			nap_ms(1);
		for (int i = 0; i < 10 && nr_cpus() > 1; i++)
			pin(1 - i % 2);		/* five times to CPU 0 */
		_exit(0);
	}
	reap(pid);
	for (int i = 0; i < 4; i++)
		is[i] = read_u64(fd[i]) - was[i];
	EXPECT_IN(is[0], 64, 10000);
	EXPECT_IN(is[1], 20, 100000);
	if (nr_cpus() > 1)
		EXPECT_IN(is[2], 4, 10000);
	EXPECT(is[3] > 1000000, "task-clock of the CPU: %ld", (long)is[3]);
}
