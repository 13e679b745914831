/* SPDX-License-Identifier: MIT */
/* Events of tasks that run somewhere else, while they run, move, fork and end. */
#include "ptest.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>

/* A task that never leaves CPU 1 by itself and that nobody there can push aside. */
static pid_t fifo_spinner(void)
{
	pid_t pid = fork();

	NEED(pid);
	if (!pid) {
		struct sched_param p = { .sched_priority = 50 };

		pin(1);
		if (sched_setscheduler(0, SCHED_FIFO, &p))
			_exit(1);
		alarm(15);
		for (;;)
			spin_loops(1000);
	}
	return pid;
}

TEST("remote/fifo_spinner", "open.pid open.cpu ioctl.ENABLE ioctl.DISABLE close", "hazard 5")
{
	if (nr_cpus() < 2)
		test_skip("one CPU");
	pin(0);
	pid_t pid = fifo_spinner();

	nap_ms(100);
	u64 start = now_ns();

	for (int round = 0; round < 6; round++) {
		struct perf_event_attr a = attr_of(RAW_CYCLES);
		int cycles, clock, wide, member;
		u64 v;

		NEED(cycles = perf_open(&a, pid, -1, -1, 0));
		NEED(member = perf_open(&a, pid, -1, cycles, 0));
		NEED(wide = perf_open(&a, -1, 1, -1, 0));
		a = attr_of(TASK_CLOCK);
		NEED(clock = perf_open(&a, pid, -1, -1, 0));
		nap_ms(2);
		EXPECT(read_u64(cycles) > 0 && read_u64(clock) > 0 && read_u64(wide) > 0, "not counting");
		NEED(ioctl(cycles, PERF_EVENT_IOC_DISABLE, 0));
		v = read_u64(cycles);
		nap_ms(2);
		EXPECT_EQ(read_u64(cycles), v);
		NEED(ioctl(cycles, PERF_EVENT_IOC_RESET, 0));
		NEED(ioctl(cycles, PERF_EVENT_IOC_ENABLE, 0));
		close(cycles);
		close(member);
		close(clock);
		close(wide);
	}
	EXPECT(now_ns() - start < 10000000000, "a task at real-time priority held it up for %ld ms",
	       (long)((now_ns() - start) / 1000000));
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/* --- everything at once ------------------------------------------------------------------------------ */

#define WORKERS 4
static volatile bool stop;
static pid_t tids[WORKERS];

static u32 next(u32 *x)
{
	*x ^= *x << 13;
	*x ^= *x >> 17;
	return *x ^= *x << 5;
}

static void nothing(void *unused)
{
}

/* Moves from CPU to CPU, yields, and has children that do nothing. */
static void *wanderer(void *arg)
{
	u32 seed = 12345 + 77 * (u32)(long)arg;
	int cpus = nr_cpus();

	tids[(long)arg] = gettid();
	while (!stop) {
		pin((int)(next(&seed) % (u32)cpus));
		spin_loops(next(&seed) % 20000);
		if (next(&seed) % 4 == 0)
			sched_yield();
		if (next(&seed) % 64 == 0)
			waitpid(run_child(nothing, NULL), NULL, 0);
	}
	return NULL;
}

struct watched {
	int fd;
	u64 opened, value;
	bool reset;
};

/* What must hold of one reading, whatever happens around it. */
static void check(struct watched *w)
{
	struct times t = read_times(w->fd);
	u64 wall = now_ns() - w->opened;

	EXPECT(t.running <= t.enabled, "running %ld enabled %ld", (long)t.running, (long)t.enabled);
	EXPECT(t.enabled <= wall * WORKERS, "enabled %ld of %ld", (long)t.enabled, (long)wall);
	EXPECT(w->reset || t.value >= w->value, "value went from %ld to %ld", (long)w->value,
	       (long)t.value);
	w->value = t.value;
	w->reset = false;
}

static int open_watched(u32 *seed, int group)
{
	struct perf_event_attr a = attr_of(RAW_CYCLES);

	if (group < 0 && next(seed) % 4 == 0)
		a = attr_of(TASK_CLOCK);
	a.read_format = RF_TIMES;
	a.disabled = next(seed) % 2;
	if (group < 0)
		a.pinned = next(seed) % 8 == 0;
	return perf_open(&a, tids[next(seed) % WORKERS], -1, group, 0);
}

static void one_step(struct watched *w, u32 *seed)
{
	static const unsigned long cmd[] = { PERF_EVENT_IOC_ENABLE, PERF_EVENT_IOC_DISABLE,
					     PERF_EVENT_IOC_RESET };
	u32 what = next(seed) % 8;

	if (w->fd < 0) {
		w->opened = now_ns();
		w->value = 0;
		w->reset = false;
		w->fd = open_watched(seed, -1);
		EXPECT(w->fd >= 0, "open: %s", strerror(errno));
	} else if (what < 3) {
		EXPECT_EQ(ioctl(w->fd, cmd[what], 0), 0);
		w->reset |= what == 2;
	} else if (what == 3) {
		close(w->fd);
		w->fd = -1;
	} else if (what == 4) {
		int m = open_watched(seed, w->fd);	/* mostly EINVAL: another thread's, or full */

		if (m >= 0)
			close(m);
	} else {
		struct times t;

		if (read(w->fd, &t, 0) < 0)	/* a pinned event in error reads 0 bytes */
			check(w);
	}
}

TEST("remote/migrating", "open.pid ioctl.ENABLE ioctl.DISABLE ioctl.RESET read close", "hazards 1-4, 23, 24")
{
	struct watched w[12];
	pthread_t t[WORKERS];
	u32 seed = 0x9e3779b9;
	u64 end;

	for (long i = 0; i < WORKERS; i++)
		pthread_create(&t[i], NULL, wanderer, (void *)i);
	for (int i = 0; i < WORKERS; i++)
		while (!*(volatile pid_t *)&tids[i])
			sched_yield();
	for (int i = 0; i < 12; i++)
		w[i].fd = -1;
	end = now_ns() + 1500000000;
	for (int n = 0; n < 20000 && now_ns() < end; n++)
		one_step(&w[next(&seed) % 12], &seed);
	stop = true;
	for (int i = 0; i < WORKERS; i++)
		pthread_join(t[i], NULL);
}
