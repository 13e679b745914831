/* SPDX-License-Identifier: MIT */
/*
 * Two kinds of cores, each with a PMU of its own (on Perch: boot with pmu_clusters=2). An event belongs to one
 * PMU; on CPUs of the other its task goes on, the event does not.
 */
#include "ptest.h"

#include <dirent.h>
#include <sched.h>

static struct core { u32 type; u64 cpus; int cpu; } core[2];	/* cpu: one of them */

/* "0-1,4" */
static u64 parse_cpus(const char *s)
{
	u64 mask = 0;
	int from, to, n;

	while (sscanf(s, "%d%n", &from, &n) == 1) {
		s += n;
		to = from;
		if (*s == '-' && sscanf(s, "-%d%n", &to, &n) == 1)
			s += n;
		for (; from <= to; from++)
			mask |= 1ull << from;
		s += *s == ',';
	}
	return mask;
}

static u64 read_cpus(const char *dir)
{
	char path[400], text[256] = "";
	FILE *f;

	snprintf(path, sizeof(path), "/sys/bus/event_source/devices/%s/cpus", dir);
	f = fopen(path, "r");
	if (!f)
		return 0;
	if (!fgets(text, sizeof(text), f))
		text[0] = '\0';
	fclose(f);
	return parse_cpus(text);
}

/* Fill core[]: the PMUs that have a list of CPUs. Ends the test where there are not two. */
static void need_two(void)
{
	DIR *d = opendir("/sys/bus/event_source/devices");
	struct dirent *e;
	int n = 0;

	while (d && (e = readdir(d))) {
		char path[400];
		u64 cpus = read_cpus(e->d_name);

		if (!cpus)
			continue;
		snprintf(path, sizeof(path), "/sys/bus/event_source/devices/%s/type", e->d_name);
		if (n < 2)
			core[n] = (struct core){ (u32)read_long(path), cpus, __builtin_ctzll(cpus) };
		n++;
	}
	if (d)
		closedir(d);
	if (n != 2)
		test_skip("%d PMUs of CPUs", n);
}

static int open_times(int which)
{
	return open_with(core[which].type, 0x11, RF_TIMES, false, false);
}

TEST("clusters/masks", "attr.type", "issue 4")
{
	need_two();
	EXPECT_EQ(core[0].cpus & core[1].cpus, 0);
	EXPECT_EQ(core[0].cpus | core[1].cpus, (1ull << nr_cpus()) - 1);
	EXPECT(core[0].type != core[1].type, "two PMUs of one type");
}

TEST("clusters/own_cpus_only", "attr.type attr.read_format", "issue 4")
{
	need_two();
	for (int here = 0; here < 2; here++) {
		struct times mine, other;

		pin(core[here].cpu);
		int a = open_times(here), b = open_times(!here);

		spin_ms(20);
		mine = read_times(a);
		other = read_times(b);
		EXPECT(mine.value > 0, "its own CPU");
		EXPECT_EQ(mine.running, mine.enabled);
		EXPECT_EQ(other.value, 0);
		EXPECT_EQ(other.running, 0);
		EXPECT(other.enabled > 0, "an event that cannot run is still enabled");
	}
}

TEST("clusters/follows_task", "attr.type attr.read_format", "issue 4")
{
	struct times t[2];
	int fd[2];

	need_two();
	pin(core[0].cpu);
	for (int i = 0; i < 2; i++)
		fd[i] = open_times(i);
	for (int i = 0; i < 20; i++) {
		pin(core[i & 1].cpu);
		spin_ms(2);
	}
	for (int i = 0; i < 2; i++)
		t[i] = read_times(fd[i]);
	for (int i = 0; i < 2; i++) {
		EXPECT(t[i].value > 0, "PMU %d", i);
		EXPECT_IN(t[i].running, t[i].enabled * 20 / 100, t[i].enabled * 80 / 100);
	}
	EXPECT_IN(t[0].running + t[1].running, t[0].enabled * 95 / 100, t[0].enabled * 105 / 100);
}

TEST("clusters/cpu_event", "open.cpu attr.type", "drivers/perf: an event for a CPU that the PMU lacks is ENOENT")
{
	struct perf_event_attr a;

	need_two();
	for (int i = 0; i < 2; i++) {
		a = attr_of(core[i].type, 0x11);
		EXPECT_ERR(perf_open(&a, -1, core[!i].cpu, -1, 0), ENOENT);
		a = attr_of(PERF_TYPE_HARDWARE, (u64)core[i].type << 32 | PERF_COUNT_HW_CPU_CYCLES);
		EXPECT_ERR(perf_open(&a, -1, core[!i].cpu, -1, 0), ENOENT);
		a = attr_of(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES);	/* whichever PMU that CPU has */
		int fd = perf_open(&a, -1, core[i].cpu, -1, 0);

		NEED(fd);
		pin(core[i].cpu);
		spin_ms(5);
		EXPECT(read_u64(fd) > 0, "cycles of CPU %d", core[i].cpu);
	}
}

TEST("clusters/group", "open.group_fd", "perf_event_open: one PMU for a group")
{
	struct perf_event_attr a;

	need_two();
	int leader = open_self(core[0].type, 0x11);

	a = attr_of(core[1].type, 0x11);
	EXPECT_ERR(perf_open(&a, 0, -1, leader, 0), EINVAL);
	a = attr_of(core[0].type, 0x11);
	NEED(perf_open(&a, 0, -1, leader, 0));
}

TEST("clusters/multiplexed", "attr.read_format", "PB-01 on each PMU")
{
	enum { N = 10 };

	need_two();
	for (int here = 0; here < 2; here++) {
		pin(core[here].cpu);
		int fd[N], other = open_times(!here);

		for (int i = 0; i < N; i++)
			fd[i] = open_times(here);
		spin_ms(200);
		for (int i = 0; i < N; i++) {
			struct times t = read_times(fd[i]);

			EXPECT(t.value > 0 && t.running < t.enabled, "PMU %d event %d: %ld of %ld", here, i,
			       (long)t.running, (long)t.enabled);
			close(fd[i]);
		}
		EXPECT_EQ(read_times(other).running, 0);
		close(other);
	}
}
