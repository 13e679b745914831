/* SPDX-License-Identifier: MIT */
/* Groups: read formats, leaders, mixed clocks. */
#include "ptest.h"

struct entry { u64 value, id; };

TEST("group/read_format", "read.GROUP read.ID read.LOST ioctl.ID", "perf_event_open(2)")
{
	struct perf_event_attr a = attr_of(RAW_CYCLES);
	int fd[3];
	u64 id[3], buf[3 + 3 * 3], lone[5];

	a.read_format = RF_TIMES | PERF_FORMAT_GROUP | PERF_FORMAT_ID | PERF_FORMAT_LOST;
	for (int i = 0; i < 3; i++) {
		fd[i] = perf_open(&a, 0, -1, i ? fd[0] : -1, 0);
		NEED(fd[i]);
		NEED(ioctl(fd[i], PERF_EVENT_IOC_ID, &id[i]));
	}
	spin_ms(10);
	EXPECT_EQ(read(fd[0], buf, sizeof(buf)), sizeof(buf));
	EXPECT_EQ(buf[0], 3);
	EXPECT(buf[1] > 0 && buf[1] == buf[2], "enabled %ld running %ld", (long)buf[1], (long)buf[2]);
	for (int i = 0; i < 3; i++) {
		EXPECT(buf[3 + 3 * i] > 0, "member %d counted nothing", i);
		EXPECT_EQ(buf[3 + 3 * i + 1], id[i]);
		EXPECT_EQ(buf[3 + 3 * i + 2], 0);
	}
	EXPECT_ERR(read(fd[0], buf, sizeof(buf) - 8), ENOSPC);
	EXPECT_EQ(read(fd[1], buf, sizeof(buf)), sizeof(buf));	/* through a member: the whole group */
	EXPECT_EQ(buf[0], 3);
	EXPECT_EQ(buf[3 + 1], id[0]);
	a.read_format = RF_TIMES | PERF_FORMAT_ID | PERF_FORMAT_LOST;
	int one = perf_open(&a, 0, -1, -1, 0);

	NEED(one);
	EXPECT_EQ(read(one, lone, sizeof(lone)), 5 * 8);
	EXPECT_ERR(read(one, lone, 8), ENOSPC);
}

TEST("group/members_equal", "open.group_fd", "hazard 16")
{
	struct perf_event_attr a = attr_of(RAW_CYCLES);
	u64 buf[3];

	a.disabled = 1;
	a.exclude_kernel = 1;
	a.read_format = PERF_FORMAT_GROUP;
	int leader = perf_open(&a, 0, -1, -1, 0);

	a.disabled = 0;
	NEED(perf_open(&a, 0, -1, leader, 0));
	NEED(ioctl(leader, PERF_EVENT_IOC_ENABLE, 0));
	spin_ms(50);
	NEED(ioctl(leader, PERF_EVENT_IOC_DISABLE, 0));
	EXPECT_EQ(read(leader, buf, sizeof(buf)), sizeof(buf));
	EXPECT_IN(buf[2], buf[1] * (100 - skew_percent()) / 100, buf[1] * (100 + skew_percent()) / 100);
}

TEST("group/leader_off", "attr.disabled open.group_fd", "hazard 22")
{
	struct perf_event_attr a = attr_of(RAW_CYCLES);

	a.read_format = RF_TIMES;
	a.disabled = 1;
	int leader = perf_open(&a, 0, -1, -1, 0);

	a.disabled = 0;
	int member = perf_open(&a, 0, -1, leader, 0);

	NEED(member);
	spin_ms(10);
	struct times t = read_times(member);

	EXPECT_EQ(t.value | t.enabled | t.running, 0);
	NEED(ioctl(leader, PERF_EVENT_IOC_ENABLE, 0));
	spin_ms(10);
	t = read_times(member);
	EXPECT(t.value && t.enabled, "the member does not follow its leader");
}

TEST("group/member_off", "ioctl.DISABLE open.group_fd", "S17")
{
	struct perf_event_attr a = attr_of(RAW_CYCLES);

	a.read_format = RF_TIMES;
	int leader = perf_open(&a, 0, -1, -1, 0);
	int member = perf_open(&a, 0, -1, leader, 0);

	NEED(member);
	NEED(ioctl(member, PERF_EVENT_IOC_DISABLE, 0));
	struct times m = read_times(member), l = read_times(leader);

	spin_ms(10);
	EXPECT_EQ(read_times(member).value, m.value);
	EXPECT(read_times(leader).value > l.value, "the leader stands still");
	NEED(ioctl(member, PERF_EVENT_IOC_ENABLE, 0));
	spin_ms(5);
	EXPECT(read_times(member).value > m.value, "the member does not come back");
}

TEST("group/ioctl_flag", "ioctl.FLAG_GROUP", "S50")
{
	struct perf_event_attr a = attr_of(RAW_CYCLES);

	a.disabled = 1;
	int leader = perf_open(&a, 0, -1, -1, 0), member = perf_open(&a, 0, -1, leader, 0);

	NEED(member);
	NEED(ioctl(leader, PERF_EVENT_IOC_ENABLE, 0));
	spin_ms(5);
	EXPECT(read_u64(leader) > 0, "leader");
	EXPECT_EQ(read_u64(member), 0);
	NEED(ioctl(member, PERF_EVENT_IOC_ENABLE, PERF_IOC_FLAG_GROUP));	/* through a member */
	spin_ms(5);
	EXPECT(read_u64(member) > 0, "the group was not enabled");
	NEED(ioctl(leader, PERF_EVENT_IOC_RESET, PERF_IOC_FLAG_GROUP));
	NEED(ioctl(leader, PERF_EVENT_IOC_DISABLE, PERF_IOC_FLAG_GROUP));
	u64 m = read_u64(member);

	spin_ms(5);
	EXPECT_EQ(read_u64(member), m);
}

TEST("group/leader_closed", "close", "hazard 32")
{
	struct perf_event_attr a = attr_of(RAW_CYCLES);

	a.read_format = RF_TIMES;
	int leader = perf_open(&a, 0, -1, -1, 0), m1 = perf_open(&a, 0, -1, leader, 0),
	    m2 = perf_open(&a, 0, -1, leader, 0);

	NEED(m2);
	spin_ms(5);
	struct times b = read_times(m1);

	close(leader);
	spin_ms(10);
	struct times t = read_times(m1);

	EXPECT(t.value > b.value && t.running > b.running, "a member stands still without its leader");
	EXPECT(read_times(m2).value > 0, "the other member");
	NEED(ioctl(m1, PERF_EVENT_IOC_DISABLE, 0));
	b = read_times(m2);
	spin_ms(5);
	EXPECT(read_times(m2).value > b.value, "they must be groups of one now");
}

TEST("group/software_leader", "open.group_fd", "PB-43")
{
	struct perf_event_attr sw = attr_of(TASK_CLOCK), hw = attr_of(RAW_CYCLES);
	u64 buf[5];

	sw.read_format = hw.read_format = RF_TIMES | PERF_FORMAT_GROUP;
	int leader = perf_open(&sw, 0, -1, -1, 0);

	NEED(leader);
	spin_ms(20);
	NEED(perf_open(&hw, 0, -1, leader, 0));
	spin_ms(20);
	EXPECT_EQ(read(leader, buf, sizeof(buf)), sizeof(buf));
	EXPECT_EQ(buf[0], 2);
	EXPECT(buf[1] >= 38000000, "enabled %ld", (long)buf[1]);
	EXPECT_IN(buf[2], buf[1] * 9 / 10, buf[1]);
	EXPECT_IN(buf[3], 38000000, 300000000);
	EXPECT_IN(buf[4], 15000000, buf[3] * 8 / 10);
}

/* An exclusive group has the PMU alone, and takes turns with the others. */
TEST("group/exclusive", "attr.exclusive", "perf_event_open(2)")
{
	struct perf_event_attr a = attr_of(RAW_CYCLES);
	struct times t[3];
	int fd[3];

	a.read_format = RF_TIMES;
	a.disabled = 1;
	for (int i = 0; i < 3; i++) {
		a.exclusive = i == 0;
		NEED(fd[i] = perf_open(&a, 0, -1, -1, 0));
	}
	u64 all = thread_cpu_ns();

	for (int i = 0; i < 3; i++)
		NEED(ioctl(fd[i], PERF_EVENT_IOC_ENABLE, 0));
	spin_ms(200);
	for (int i = 0; i < 3; i++) {
		NEED(ioctl(fd[i], PERF_EVENT_IOC_DISABLE, 0));
		t[i] = read_times(fd[i]);
		EXPECT(t[i].running > 0, "event %d never ran", i);
	}
	all = thread_cpu_ns() - all;
	for (int i = 1; i < 3; i++)
		EXPECT(t[0].running + t[i].running <= all + all / 50,
		       "event %d ran beside the exclusive one: %ld and %ld of %ld", i, (long)t[i].running,
		       (long)t[0].running, (long)all);
}

/* The hardware member, for which there was no counter, goes: the others need none and run. */
TEST("group/hardware_member_closed", "close open.group_fd", "PB-43")
{
	struct perf_event_attr sw = attr_of(TASK_CLOCK), hw = attr_of(RAW_CYCLES);
	int leader, h, member;
	struct times l, m;

	hw.pinned = 1;
	for (int i = 0; i < 7; i++)
		NEED(perf_open(&hw, 0, -1, -1, 0));
	hw.pinned = 0;
	sw.read_format = hw.read_format = RF_TIMES;
	sw.disabled = 1;
	NEED(leader = perf_open(&sw, 0, -1, -1, 0));
	sw.disabled = 0;
	NEED(h = perf_open(&hw, 0, -1, leader, 0));
	NEED(member = perf_open(&sw, 0, -1, leader, 0));
	NEED(ioctl(leader, PERF_EVENT_IOC_ENABLE, 0));
	spin_ms(10);
	EXPECT_EQ(read_times(leader).running | read_times(member).running | read_times(h).running, 0);
	close(h);
	spin_ms(30);
	l = read_times(leader);
	m = read_times(member);
	EXPECT(l.value >= 20000000 && m.value >= 20000000, "%ld and %ld of 30 ms", (long)l.value, (long)m.value);
	EXPECT(l.running >= 20000000 && l.running < l.enabled, "running %ld of %ld", (long)l.running, (long)l.enabled);
}
