/* SPDX-License-Identifier: MIT */
/* read(2) of an event: sizes, layouts, errors, and what never goes back. */
#include "ptest.h"

#include <pthread.h>
#include <sys/uio.h>

/* Every read_format of a single event: size and order. */
TEST("read/layouts", "read.TOTAL_TIME_ENABLED read.TOTAL_TIME_RUNNING read.ID read.LOST", "perf_event_open(2)")
{
	for (u64 rf = 0; rf < 32; rf++) {
		struct perf_event_attr a = attr_of(RAW_CYCLES);
		u64 w[8], id, want = 1;
		int fd, i = 0;

		a.read_format = rf;
		fd = perf_open(&a, 0, -1, -1, 0);
		NEED(fd);
		NEED(ioctl(fd, PERF_EVENT_IOC_ID, &id));
		for (u64 b = rf; b; b &= b - 1)
			want++;
		memset(w, 0xff, sizeof(w));
		EXPECT_EQ(read(fd, w, sizeof(w)), want * 8);
		if (rf & PERF_FORMAT_GROUP)
			EXPECT_EQ(w[i++], 1);
		else
			i++;	/* the value */
		u64 enabled = rf & PERF_FORMAT_TOTAL_TIME_ENABLED ? w[i++] : 1;
		u64 running = rf & PERF_FORMAT_TOTAL_TIME_RUNNING ? w[i++] : 1;

		EXPECT(enabled && running && enabled < 1ull << 60 && running < 1ull << 60, "format %#lx: times", (long)rf);
		if (rf & PERF_FORMAT_GROUP)
			i++;
		if (rf & PERF_FORMAT_ID)
			EXPECT_EQ(w[i++], id);
		if (rf & PERF_FORMAT_LOST)
			EXPECT_EQ(w[i++], 0);
		EXPECT_EQ(i, want);
		EXPECT_EQ(w[want], ~0ull);
		close(fd);
	}
}

TEST("read/short_buffer", "read.size", "perf_event_open(2)")
{
	int fd = open_with(TASK_CLOCK, RF_TIMES, false, false);
	char buf[64];

	for (size_t n = 0; n < 24; n++)
		EXPECT_ERR(read(fd, buf, n), ENOSPC);
	EXPECT_EQ(read(fd, buf, 24), 24);
	EXPECT_EQ(read(fd, buf, 64), 24);
	EXPECT_ERR(read(fd, (void *)8, 24), EFAULT);
	EXPECT_ERR(pread(fd, buf, 24, 0), ESPIPE);
	EXPECT_ERR(lseek(fd, 0, SEEK_SET), ESPIPE);
	EXPECT_ERR(write(fd, buf, 8), EINVAL);
}

/* Each buffer of a vector is a read of its own, until one is not filled. */
TEST("read/vector", "read.size", "readv(2)")
{
	int fd = open_with(TASK_CLOCK, RF_TIMES, false, false);
	u64 w[9];
	struct iovec v[3] = { { w, 24 }, { w + 3, 24 }, { w + 6, 24 } };

	EXPECT_EQ(readv(fd, v, 3), 72);
	EXPECT(w[0] <= w[3] && w[3] <= w[6], "%ld %ld %ld", (long)w[0], (long)w[3], (long)w[6]);
	v[1].iov_len = 16;
	EXPECT_EQ(readv(fd, v, 3), 24);		/* the second has no room */
	v[0].iov_len = 32;
	EXPECT_EQ(readv(fd, v, 3), 24);		/* the first is not filled */
	v[0].iov_len = 16;
	EXPECT_ERR(readv(fd, v, 3), ENOSPC);
	v[0].iov_len = 0;
	v[1].iov_len = 24;
	EXPECT_ERR(readv(fd, v, 2), ENOSPC);
	v[0].iov_len = 24;
	v[1].iov_base = (void *)8;
	EXPECT_EQ(readv(fd, v, 2), 24);
}

/* A pinned event that finds no counter: end of file. */
TEST("read/error_state", "attr.pinned", "perf_event_open(2)")
{
	struct perf_event_attr a = attr_of(RAW_CYCLES);
	u64 v;
	int fd = -1;

	a.pinned = 1;
	for (int i = 0; i < 8; i++)
		NEED(fd = perf_open(&a, 0, -1, -1, 0));
	spin_ms(2);
	EXPECT_EQ(read(fd, &v, sizeof(v)), 0);
}

static void wait_spin_exit(void *p)
{
	char c;

	if (read(((int *)p)[0], &c, 1) == 1)
		spin_ms(10);
}

/* Counts stay when the task is gone, and stand still. */
TEST("read/after_exit", "open.pid", "perf stat -p")
{
	struct perf_event_attr a = attr_of(TASK_CLOCK);
	int p[2], fd;
	pid_t pid;
	u64 v;

	NEED(pipe(p));
	pid = run_child(wait_spin_exit, p);
	NEED(fd = perf_open(&a, pid, -1, -1, 0));
	NEED(write(p[1], "", 1));
	reap(pid);
	v = read_u64(fd);
	EXPECT_IN(v, 1000000, 2000000000);
	EXPECT_EQ(read_u64(fd), v);
	NEED(ioctl(fd, PERF_EVENT_IOC_ENABLE, 0));
	EXPECT_EQ(read_u64(fd), v);
}

/* Another thread reads all the time; nothing it sees goes back, and running never passes enabled. */
static volatile bool stop;

static void *reader(void *arg)
{
	int fd = *(int *)arg;
	struct times last = { 0 };

	while (!stop) {
		struct times t = read_times(fd);

		if (t.value < last.value || t.enabled < last.enabled || t.running < last.running || t.running > t.enabled) {
			test_fail(__FILE__, __LINE__, "went back: %lu %lu %lu after %lu %lu %lu", (long)t.value,
				  (long)t.enabled, (long)t.running, (long)last.value, (long)last.enabled, (long)last.running);
			break;
		}
		last = t;
	}
	return NULL;
}

TEST("read/never_back", "read.TOTAL_TIME_ENABLED read.TOTAL_TIME_RUNNING", "PB-01")
{
	pthread_t t[2];
	int fd[9];

	for (int i = 0; i < 9; i++)
		fd[i] = open_with(RAW_CYCLES, RF_TIMES, false, false);
	for (int i = 0; i < 2; i++)
		NEED(pthread_create(&t[i], NULL, reader, &fd[i * 8]) ? -1 : 0);
	for (int i = 0; i < 20; i++) {
		spin_ms(5);
		NEED(ioctl(fd[0], PERF_EVENT_IOC_DISABLE, 0));
		NEED(ioctl(fd[0], PERF_EVENT_IOC_ENABLE, 0));
		nap_ms(1);
	}
	stop = true;
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
}

/* Out of ERROR: only by ENABLE, and only when there is a counter. Until then nothing of the group counts. */
TEST("read/error_and_back", "attr.pinned ioctl.ENABLE ioctl.DISABLE", "Linux 6.12")
{
	struct perf_event_attr a = attr_of(RAW_CYCLES);
	int fd[8], member;
	struct times t;

	a.read_format = RF_TIMES;
	for (int i = 0; i < 8; i++) {
		a.pinned = 1;
		NEED(fd[i] = perf_open(&a, 0, -1, -1, 0));
	}
	a.pinned = 0;
	NEED(member = perf_open(&a, 0, -1, fd[7], 0));
	spin_ms(2);
	EXPECT_EQ(read(fd[7], &t, sizeof(t)), 0);
	t = read_times(member);
	EXPECT_EQ(t.value | t.enabled | t.running, 0);
	for (int i = 0; i < 2; i++)
		close(fd[i]);
	spin_ms(2);
	EXPECT_EQ(read(fd[7], &t, sizeof(t)), 0);
	NEED(ioctl(fd[7], PERF_EVENT_IOC_DISABLE, 0));
	EXPECT_EQ(read(fd[7], &t, sizeof(t)), 0);
	NEED(ioctl(fd[7], PERF_EVENT_IOC_ENABLE, 0));
	spin_ms(2);
	t = read_times(fd[7]);
	EXPECT(t.value > 0 && t.running > 0, "enabled again: value %ld", (long)t.value);
	t = read_times(member);
	EXPECT(t.value > 0 && t.running > 0, "its member: value %ld", (long)t.value);
}
