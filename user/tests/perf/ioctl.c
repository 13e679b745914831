/* SPDX-License-Identifier: MIT */
/* ioctl: the calls beside ENABLE, DISABLE and RESET, and what is refused. */
#include "ptest.h"

TEST("ioctl/id_unique", "ioctl.ID", "perf_event_open(2)")
{
	int a = open_self(TASK_CLOCK), b = open_self(TASK_CLOCK);
	u64 x = 0, y = 0;

	NEED(ioctl(a, PERF_EVENT_IOC_ID, &x));
	NEED(ioctl(b, PERF_EVENT_IOC_ID, &y));
	EXPECT(x && y && x != y, "ids %ld and %ld", (long)x, (long)y);
	EXPECT_ERR(ioctl(a, PERF_EVENT_IOC_ID, 1), EFAULT);
}

TEST("ioctl/period", "ioctl.PERIOD", "perf_event_open(2)")
{
	struct perf_event_attr a = attr_of(RAW_CYCLES);
	u64 v = 100000;
	int counting = open_self(RAW_CYCLES);

	EXPECT_ERR(ioctl(counting, PERF_EVENT_IOC_PERIOD, &v), EINVAL);
	a.sample_period = 1000000;
	int fd = perf_open(&a, 0, -1, -1, 0);

	NEED(fd);
	NEED(ioctl(fd, PERF_EVENT_IOC_PERIOD, &v));
	v = 0;
	EXPECT_ERR(ioctl(fd, PERF_EVENT_IOC_PERIOD, &v), EINVAL);
	v = 1ull << 63;
	EXPECT_ERR(ioctl(fd, PERF_EVENT_IOC_PERIOD, &v), EINVAL);
	EXPECT_ERR(ioctl(fd, PERF_EVENT_IOC_PERIOD, 1), EFAULT);
}

TEST("ioctl/refused", "ioctl.SET_FILTER ioctl.SET_BPF ioctl.QUERY_BPF ioctl.unknown", "Linux 6.12")
{
	int fd = open_self(RAW_CYCLES);

	EXPECT_ERR(ioctl(fd, PERF_EVENT_IOC_SET_FILTER, "x"), EINVAL);
	EXPECT_ERR(ioctl(fd, PERF_EVENT_IOC_SET_FILTER, ""), EINVAL);
	EXPECT_ERR(ioctl(fd, PERF_EVENT_IOC_SET_FILTER, NULL), EFAULT);
	EXPECT_ERR(ioctl(fd, PERF_EVENT_IOC_SET_BPF, -1), EBADF);
	EXPECT_ERR(ioctl(fd, PERF_EVENT_IOC_SET_BPF, fd), EINVAL);
	EXPECT_ERR(ioctl(fd, PERF_EVENT_IOC_QUERY_BPF, NULL), EINVAL);
	EXPECT_ERR(ioctl(fd, PERF_EVENT_IOC_PAUSE_OUTPUT, 1), EINVAL);
	EXPECT_ERR(ioctl(fd, 0x2477, 0), ENOTTY);
	EXPECT_ERR(ioctl(fd, 0x5401, 0), ENOTTY);	/* TCGETS */
}

TEST("ioctl/refresh_counting", "ioctl.REFRESH", "PB-12")
{
	EXPECT_ERR(ioctl(open_self(RAW_CYCLES), PERF_EVENT_IOC_REFRESH, 1), EINVAL);
}

TEST("ioctl/modify_attributes", "ioctl.MODIFY_ATTRIBUTES", "Linux 6.12: breakpoints only")
{
	struct perf_event_attr a = attr_of(RAW_CYCLES);
	int fd = open_self(RAW_CYCLES);

	EXPECT_ERR(ioctl(fd, PERF_EVENT_IOC_MODIFY_ATTRIBUTES, &a), EOPNOTSUPP);
	a.type = PERF_TYPE_SOFTWARE;
	EXPECT_ERR(ioctl(fd, PERF_EVENT_IOC_MODIFY_ATTRIBUTES, &a), EINVAL);
	a.size = 13;
	EXPECT_ERR(ioctl(fd, PERF_EVENT_IOC_MODIFY_ATTRIBUTES, &a), E2BIG);
	EXPECT_ERR(ioctl(fd, PERF_EVENT_IOC_MODIFY_ATTRIBUTES, NULL), EFAULT);
}

TEST("ioctl/period_frequency", "ioctl.PERIOD attr.freq sysctl.perf_event_max_sample_rate", "Linux 6.12")
{
	struct perf_event_attr a = attr_of(RAW_CYCLES);
	u64 v = 10000000;	/* above the highest rate */
	int fd;

	a.freq = 1;
	a.sample_freq = 100;
	NEED(fd = perf_open(&a, 0, -1, -1, 0));
	EXPECT_ERR(ioctl(fd, PERF_EVENT_IOC_PERIOD, &v), EINVAL);
	v = 1000;
	NEED(ioctl(fd, PERF_EVENT_IOC_PERIOD, &v));
	a = attr_of(CPU_CLOCK);		/* a clock has a period, whatever was asked for */
	a.freq = 1;
	a.sample_freq = 100;
	NEED(fd = perf_open(&a, 0, -1, -1, 0));
	v = 10000000;
	NEED(ioctl(fd, PERF_EVENT_IOC_PERIOD, &v));
	a = attr_of(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS);
	a.sample_period = 10;
	NEED(fd = perf_open(&a, 0, -1, -1, 0));
	v = 5;
	NEED(ioctl(fd, PERF_EVENT_IOC_PERIOD, &v));
}

/* With a filter, a BPF program or its ids: what a caller without rights gets. */
TEST("ioctl/query_bpf_user", "ioctl.QUERY_BPF ioctl.SET_BPF", "Linux 6.12")
{
	int fd = open_self(RAW_CYCLES), st;
	pid_t pid = fork();

	if (!pid) {
		NEED(setuid(1000));
		EXPECT_ERR(ioctl(fd, PERF_EVENT_IOC_QUERY_BPF, NULL), EPERM);
		EXPECT_ERR(ioctl(fd, PERF_EVENT_IOC_SET_BPF, -1), EBADF);
		_exit(test_failed());
	}
	waitpid(pid, &st, 0);
	EXPECT_EQ(st, 0);
}
