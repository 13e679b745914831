/* SPDX-License-Identifier: MIT */
/* Events whose task has ended: the file lives on, and every call on it has an answer. */
#include "ptest.h"
#include "ring.h"

static void wait_spin_exit(void *p)
{
	char c;

	if (read(((int *)p)[0], &c, 1) == 1)
		spin_ms(5);
}

static int go[2];

static pid_t waiting_child(void)
{
	NEED(pipe(go));
	return run_child(wait_spin_exit, go);
}

static void let_it_end(pid_t pid)
{
	NEED(write(go[1], "", 1));
	reap(pid);
}

TEST("gone/page", "page.offset page.time_enabled page.time_running ioctl.RESET", "Linux 6.12")
{
	struct perf_event_attr a = attr_of(RAW_CYCLES);
	pid_t pid = waiting_child();
	int fd;

	a.read_format = RF_TIMES;
	NEED(fd = perf_open(&a, pid, -1, -1, 0));
	volatile struct perf_event_mmap_page *p = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, fd, 0);

	NEED(p == MAP_FAILED ? -1 : 0);
	let_it_end(pid);
	struct times t = read_times(fd);

	EXPECT(t.value > 0 && t.enabled > 0, "nothing was counted");
	EXPECT_EQ(p->index, 0);
	EXPECT_EQ(p->offset, t.value);
	EXPECT_EQ(p->time_enabled, t.enabled);
	EXPECT_EQ(p->time_running, t.running);
	NEED(ioctl(fd, PERF_EVENT_IOC_RESET, 0));
	EXPECT_EQ(read_times(fd).value, 0);
	EXPECT_EQ(p->offset, 0);
	EXPECT_EQ(p->time_enabled, t.enabled);
}

TEST("gone/calls", "ioctl.ENABLE ioctl.DISABLE ioctl.PERIOD ioctl.SET_OUTPUT ioctl.PAUSE_OUTPUT open.group_fd mmap", "Linux 6.12")
{
	struct perf_event_attr a = sampling(RAW_CYCLES, 100000, PERF_SAMPLE_IP);
	pid_t pid = waiting_child();
	int fd, other, mine;
	u64 period = 1000;

	a.disabled = 0;
	NEED(fd = perf_open(&a, pid, -1, -1, 0));
	NEED(other = perf_open(&a, pid, -1, -1, 0));
	NEED(mine = open_self(RAW_CYCLES));
	ring_map(fd, 1, PROT_READ | PROT_WRITE);
	let_it_end(pid);
	u64 v = read_u64(fd);

	for (unsigned long group = 0; group < 2; group++) {
		NEED(ioctl(fd, PERF_EVENT_IOC_DISABLE, group));
		NEED(ioctl(fd, PERF_EVENT_IOC_ENABLE, group));
	}
	EXPECT_EQ(read_u64(fd), v);
	NEED(ioctl(fd, PERF_EVENT_IOC_PERIOD, &period));
	NEED(ioctl(fd, PERF_EVENT_IOC_REFRESH, 1));
	NEED(ioctl(fd, PERF_EVENT_IOC_PAUSE_OUTPUT, 1));
	NEED(ioctl(other, PERF_EVENT_IOC_SET_OUTPUT, fd));
	NEED(ioctl(other, PERF_EVENT_IOC_SET_OUTPUT, -1L));
	EXPECT_ERR(ioctl(mine, PERF_EVENT_IOC_SET_OUTPUT, fd), EINVAL);
	EXPECT_ERR(perf_open(&a, 0, -1, fd, 0), ENODEV);
	EXPECT_ERR(perf_open(&a, 0, -1, fd, PERF_FLAG_FD_OUTPUT | PERF_FLAG_FD_NO_GROUP), ENODEV);
	ring_map(other, 1, PROT_READ | PROT_WRITE);
	EXPECT_EQ(read_u64(other) > 0, 1);
}
