/* SPDX-License-Identifier: MIT */
/* perf_event_open: targets, flags, groups at open. */
#include "ptest.h"

#include <fcntl.h>
#include <sys/resource.h>

TEST("open/targets", "open.pid open.cpu", "perf_event_open(2)")
{
	struct perf_event_attr a = attr_of(TASK_CLOCK);
	int fd;

	EXPECT_ERR(perf_open(&a, -1, -1, -1, 0), EINVAL);
	EXPECT_ERR(perf_open(&a, 0, 100000, -1, 0), EINVAL);
	EXPECT_ERR(perf_open(&a, -1, 100000, -1, 0), EINVAL);
	EXPECT_ERR(perf_open(&a, 4000000, -1, -1, 0), ESRCH);
	EXPECT_ERR(perf_open(&a, -5, 0, -1, 0), ESRCH);
	fd = perf_open(&a, -1, 0, -1, 0);
	EXPECT(fd >= 0, "CPU 0: %s", strerror(errno));
	fd = perf_open(&a, getppid(), 0, -1, 0);
	EXPECT(fd >= 0, "the parent on CPU 0: %s", strerror(errno));
}

TEST("open/offline_cpu", "open.cpu", "perf_event_open(2)")
{
	/* Needs a CPU that exists and is not online: boot with maxcpus= below the machine's number. */
	struct perf_event_attr a = attr_of(RAW_CYCLES);
	long off = read_long("/sys/devices/system/cpu/offline");

	EXPECT_ERR(perf_open(&a, -1, 500, -1, 0), EINVAL);	/* beyond the possible ones */
	if (off < 0)
		test_skip("all CPUs are online");
	EXPECT_ERR(perf_open(&a, -1, (int)off, -1, 0), ENODEV);
	EXPECT(perf_open(&a, 0, (int)off, -1, 0) >= 0, "a task's event may wait for the CPU: %s", strerror(errno));
}

TEST("open/flags", "open.FD_CLOEXEC open.PID_CGROUP", "PB-60")
{
	struct perf_event_attr a = attr_of(TASK_CLOCK);
	int fd = perf_open(&a, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);

	NEED(fd);
	EXPECT_EQ(fcntl(fd, F_GETFD), FD_CLOEXEC);
	fd = perf_open(&a, 0, -1, -1, 0);
	EXPECT_EQ(fcntl(fd, F_GETFD), 0);
	EXPECT_ERR(perf_open(&a, 0, -1, -1, 1 << 10), EINVAL);
	EXPECT_ERR(perf_open(&a, -1, -1, -1, PERF_FLAG_PID_CGROUP), EINVAL);
}

TEST("open/group_fd", "open.group_fd", "perf_event_open(2)")
{
	struct perf_event_attr a = attr_of(TASK_CLOCK);
	int null = open("/dev/null", O_RDONLY);

	EXPECT_ERR(perf_open(&a, 0, -1, 999, 0), EBADF);
	EXPECT_ERR(perf_open(&a, 0, -1, null, 0), EBADF);
	int leader = perf_open(&a, 0, -1, -1, 0);
	int member = perf_open(&a, 0, -1, leader, 0);

	NEED(member);
	EXPECT_ERR(perf_open(&a, 0, -1, member, 0), EINVAL);	/* a member cannot lead */
	EXPECT_ERR(perf_open(&a, 0, 0, leader, 0), EINVAL);	/* another CPU filter */
	EXPECT_ERR(perf_open(&a, -1, 0, leader, 0), EINVAL);	/* another context */
	EXPECT_ERR(perf_open(&a, getppid(), -1, leader, 0), EINVAL);
	a.pinned = 1;
	EXPECT_ERR(perf_open(&a, 0, -1, leader, 0), EINVAL);	/* only leaders are pinned */
	a.pinned = 0;
	a.exclusive = 1;
	EXPECT_ERR(perf_open(&a, 0, -1, leader, 0), EINVAL);
}

/* Cycles on a leader, then members; how many open? */
static int group_capacity(u64 config1, bool leader_off, bool members_off)
{
	struct perf_event_attr a = attr_of(RAW_CYCLES);
	int leader, n = 1;

	a.config1 = config1;
	a.disabled = leader_off;
	leader = perf_open(&a, 0, -1, -1, 0);
	NEED(leader);
	a.disabled = members_off;
	while (n < 20 && perf_open(&a, 0, -1, leader, 0) >= 0)
		n++;
	if (n < 20)
		EXPECT_EQ(errno, EINVAL);
	return n;
}

TEST("open/group_fits", "open.group_fd attr.disabled", "PB-15")
{
	EXPECT_EQ(group_capacity(0, false, false), 7);
	EXPECT_EQ(group_capacity(0, true, false), 8);	/* what is off is not counted */
	EXPECT_EQ(group_capacity(0, true, true), 20);
}

TEST("open/group_fits_long", "attr.config1", "PB-15")
{
	int n = group_capacity(1, false, false);

	/* The cycle counter and three pairs; or seven, where the counters have 64 bits (PMUv3p5). */
	EXPECT(n == 4 || n == 7, "%d 64-bit events fit, right is 4 or 7", n);
}

TEST("open/software_sibling_is_free", "open.group_fd", "PB-15")
{
	struct perf_event_attr a = attr_of(RAW_CYCLES), sw = attr_of(TASK_CLOCK);
	int leader = perf_open(&a, 0, -1, -1, 0);

	NEED(leader);
	for (int i = 0; i < 6; i++)
		NEED(perf_open(&a, 0, -1, leader, 0));
	NEED(perf_open(&sw, 0, -1, leader, 0));
	EXPECT_ERR(perf_open(&a, 0, -1, leader, 0), EINVAL);
}

TEST("open/precise_and_branch", "attr.precise_ip attr.branch_sample_type", "PB-39")
{
	struct perf_event_attr a = attr_of(RAW_CYCLES);

	a.precise_ip = 3;
	EXPECT(perf_open(&a, 0, -1, -1, 0) >= 0, "precise_ip 3 must open: %s", strerror(errno));
	a.precise_ip = 0;
	a.sample_type = PERF_SAMPLE_BRANCH_STACK;
	a.branch_sample_type = PERF_SAMPLE_BRANCH_ANY;
	a.sample_period = 100000;
	EXPECT_ERR(perf_open(&a, 0, -1, -1, 0), EOPNOTSUPP);
}

TEST("open/exclude_bits", "attr.exclude_user attr.exclude_kernel attr.exclude_idle", "arm_pmuv3 filter")
{
	struct perf_event_attr a = attr_of(RAW_CYCLES);

	a.exclude_idle = 1;
	EXPECT_ERR(perf_open(&a, 0, -1, -1, 0), EOPNOTSUPP);
	a = attr_of(RAW_CYCLES);
	a.exclude_user = a.exclude_kernel = 1;
	a.read_format = RF_TIMES;
	int fd = perf_open(&a, 0, -1, -1, 0);

	NEED(fd);
	spin_ms(20);
	struct times t = read_times(fd);

	EXPECT_EQ(t.value, 0);
	EXPECT(t.running > 10000000 && t.running == t.enabled, "it runs all the same: %lu of %lu",
	       (long)t.running, (long)t.enabled);
}

/* Only PMUs with an interrupt have a line of this name. */
static bool pmu_interrupts(void)
{
	FILE *f = fopen("/proc/interrupts", "r");
	char line[512];
	bool found = false;

	while (f && fgets(line, sizeof(line), f))
		found |= strstr(line, "arm-pmu") != NULL;
	if (f)
		fclose(f);
	return found;
}

TEST("open/pmu_interrupt", "attr.sample_period attr.freq", "PB-40")
{
	struct perf_event_attr a = attr_of(RAW_CYCLES);
	int fd = open_self(RAW_CYCLES);
	bool irq = pmu_interrupts();

	spin_ms(5);
	EXPECT(read_u64(fd) > 0, "the event counts nothing");
	for (int freq = 0; freq < 2; freq++) {
		a.freq = freq;
		a.sample_period = freq ? 100 : 1000000;
		if (irq)
			EXPECT(perf_open(&a, 0, -1, -1, 0) >= 0, "freq %d: %s", freq, strerror(errno));
		else
			EXPECT_ERR(perf_open(&a, 0, -1, -1, 0), EOPNOTSUPP);
	}
	a = attr_of(CPU_CLOCK);
	a.sample_period = 1000000;
	EXPECT(perf_open(&a, 0, -1, -1, 0) >= 0, "cpu-clock needs no PMU: %s", strerror(errno));
}

/* perf 6.12 does not fall back to cpu-clock by itself then; it says what is missing. */
TEST("open/pmu_interrupt_perf", "perf record", "PB-40")
{
	static char out[65536];
	const char *data = "/tmp/ptest.noirq";

	if (pmu_interrupts() || access("/bin/perf", X_OK))
		test_skip("the PMU has an interrupt, or there is no perf");
	EXPECT_EQ(run_program(out, sizeof(out), "/bin/perf", "record", "-o", data, "true", NULL), 255);
	EXPECT(strstr(out, "PMU Hardware doesn't support sampling"), "perf record says: %s", out);
	EXPECT_EQ(run_program(out, sizeof(out), "/bin/perf", "record", "-e", "cpu-clock", "-o", data, "true", NULL), 0);
	unlink(data);
}

/* As many members as a read of 16 KiB can show, whatever the format of the others. */
TEST("open/group_read_limit", "open.group_fd attr.read_format", "Linux: perf_event_validate_size")
{
	struct perf_event_attr a = attr_of(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY);
	struct rlimit lim = { 4096, 4096 };
	static u64 buf[2048 + 8];
	int leader, n = 1;

	if (setrlimit(RLIMIT_NOFILE, &lim))
		test_skip("RLIMIT_NOFILE cannot be raised");
	a.read_format = RF_TIMES | PERF_FORMAT_GROUP | PERF_FORMAT_ID | PERF_FORMAT_LOST;
	NEED(leader = perf_open(&a, 0, -1, -1, 0));
	while (n < 1000 && perf_open(&a, 0, -1, leader, 0) >= 0)
		n++;
	EXPECT_EQ(errno, E2BIG);
	EXPECT_EQ(n, (16384 - 24) / 24);
	a.read_format = 0;	/* it is the leader's read that would be too long */
	EXPECT_ERR(perf_open(&a, 0, -1, leader, 0), E2BIG);
	EXPECT_EQ(read(leader, buf, sizeof(buf)), 24 + 24 * n);
	EXPECT_EQ(buf[0], n);
}

TEST("open/group_clock", "open.group_fd attr.use_clockid attr.clockid", "perf_event_open(2)")
{
	struct perf_event_attr a = attr_of(TASK_CLOCK), b = a, c = a;
	int plain, mono;

	b.use_clockid = c.use_clockid = 1;
	b.clockid = 1;		/* MONOTONIC */
	c.clockid = 7;		/* BOOTTIME */
	NEED(plain = perf_open(&a, 0, -1, -1, 0));
	NEED(mono = perf_open(&b, 0, -1, -1, 0));
	EXPECT_ERR(perf_open(&b, 0, -1, plain, 0), EINVAL);
	EXPECT_ERR(perf_open(&a, 0, -1, mono, 0), EINVAL);
	EXPECT_ERR(perf_open(&c, 0, -1, mono, 0), EINVAL);
	EXPECT(perf_open(&b, 0, -1, mono, 0) >= 0, "the same clock: %s", strerror(errno));
}

TEST("open/zombie", "open.pid", "Linux: a task that has exited is ESRCH")
{
	struct perf_event_attr a = attr_of(TASK_CLOCK);
	siginfo_t si;
	pid_t pid = fork();

	if (!pid)
		_exit(0);
	NEED(waitid(P_PID, (id_t)pid, &si, WEXITED | WNOWAIT));
	EXPECT_ERR(perf_open(&a, pid, -1, -1, 0), ESRCH);
	waitpid(pid, NULL, 0);
	EXPECT_ERR(perf_open(&a, pid, -1, -1, 0), ESRCH);
}
