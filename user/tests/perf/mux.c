/* SPDX-License-Identifier: MIT */
/* More events than counters: everybody gets a turn, pinned ones keep theirs. */
#include "ptest.h"

TEST("mux/all_run", "attr.read_format", "PB-01")
{
	enum { N = 12 };
	int fd[N];
	struct times t[N], again;
	u64 scaled[N], lo = ~0ull, hi = 0;

	for (int i = 0; i < N; i++)
		fd[i] = open_with(RAW_CYCLES, RF_TIMES, false, false);
	spin_ms(400);
	for (int i = 0; i < N; i++)
		t[i] = read_times(fd[i]);
	for (int i = 0; i < N; i++) {
		EXPECT(t[i].value > 0, "event %d counted nothing", i);
		EXPECT(t[i].running < t[i].enabled, "event %d: running %ld, enabled %ld", i, (long)t[i].running,
		       (long)t[i].enabled);
		EXPECT_IN(t[i].enabled, t[0].enabled * 95 / 100, t[0].enabled * 105 / 100);
		EXPECT_IN(t[i].running, t[0].running / 2, t[0].running * 2);
		scaled[i] = t[i].running ? (u64)((double)t[i].value * (double)t[i].enabled / (double)t[i].running) : 0;
		lo = scaled[i] < lo ? scaled[i] : lo;
		hi = scaled[i] > hi ? scaled[i] : hi;
	}
	EXPECT(hi <= lo + lo / 2, "scaled counts from %ld to %ld", (long)lo, (long)hi);
	for (int i = 0; i < N; i++) {
		again = read_times(fd[i]);
		EXPECT(again.value >= t[i].value && again.enabled >= t[i].enabled && again.running >= t[i].running,
		       "event %d went back", i);
	}
}

TEST("mux/fit_runs_always", "attr.read_format", "PB-01")
{
	int fd[6];

	for (int i = 0; i < 6; i++)
		fd[i] = open_with(RAW_CYCLES, RF_TIMES, false, false);
	spin_ms(50);
	for (int i = 0; i < 6; i++) {
		struct times t = read_times(fd[i]);

		EXPECT_EQ(t.running, t.enabled);
	}
}

TEST("mux/pinned", "attr.pinned", "PB")
{
	struct perf_event_attr a = attr_of(RAW_CYCLES);
	int fd[7], extra;
	struct times t;

	a.pinned = 1;
	a.read_format = RF_TIMES;
	for (int i = 0; i < 7; i++) {
		fd[i] = perf_open(&a, 0, -1, -1, 0);
		NEED(fd[i]);
	}
	extra = perf_open(&a, 0, -1, -1, 0);
	NEED(extra);
	spin_ms(30);
	EXPECT_EQ(read(extra, &t, sizeof(t)), 0);	/* no counter for it: end of file */
	for (int i = 0; i < 7; i++) {
		t = read_times(fd[i]);
		EXPECT_EQ(t.running, t.enabled);
	}
}

TEST("mux/groups", "open.group_fd", "S17")
{
	struct perf_event_attr a = attr_of(RAW_CYCLES);
	int leader[2];
	u64 buf[3 + 4];

	a.read_format = RF_TIMES | PERF_FORMAT_GROUP;
	a.exclude_kernel = 1;
	for (int g = 0; g < 2; g++) {
		leader[g] = perf_open(&a, 0, -1, -1, 0);
		for (int i = 1; i < 4; i++)
			NEED(perf_open(&a, 0, -1, leader[g], 0));
	}
	spin_ms(200);
	for (int g = 0; g < 2; g++) {
		EXPECT_EQ(read(leader[g], buf, sizeof(buf)), sizeof(buf));
		EXPECT(buf[2] > 0 && buf[2] < buf[1], "group %d: running %ld of %ld", g, (long)buf[2], (long)buf[1]);
		for (int i = 1; i < 4; i++)
			EXPECT_IN(buf[3 + i], buf[3] * (100 - skew_percent()) / 100,
				  buf[3] * (100 + skew_percent()) / 100);
	}
}

/* Pinned events of the CPU go first: a task's pinned ones fail, its others wait. */
TEST("mux/cpu_before_task", "attr.pinned open.cpu", "Linux: ctx_sched_in, the CPU's before the task's")
{
	struct perf_event_attr a = attr_of(RAW_CYCLES);
	int wide[7], pinned, flexible;
	struct times t;

	int cpu = nr_cpus() - 1;

	pin(cpu);
	a.read_format = RF_TIMES;
	a.pinned = 1;
	for (int i = 0; i < 7; i++)
		NEED(wide[i] = perf_open(&a, -1, cpu, -1, 0));
	NEED(pinned = perf_open(&a, 0, -1, -1, 0));
	a.pinned = 0;
	NEED(flexible = perf_open(&a, 0, -1, -1, 0));
	spin_ms(20);
	EXPECT_EQ(read(pinned, &t, sizeof(t)), 0);
	t = read_times(flexible);
	EXPECT_EQ(t.running, 0);
	EXPECT(t.enabled >= 15000000, "enabled %ld", (long)t.enabled);
	for (int i = 0; i < 7; i++) {
		t = read_times(wide[i]);
		EXPECT_EQ(t.running, t.enabled);
		EXPECT(t.value > 0, "CPU event %d counted nothing", i);
		close(wide[i]);
	}
	spin_ms(5);
	EXPECT(read_times(flexible).running > 0, "it waits although there are counters");
}
