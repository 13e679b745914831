/* SPDX-License-Identifier: MIT */
/* Many of everything, for about a second each: nothing is lost, nothing stays behind. */
#include "ptest.h"

#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>

/* Opened and closed again, in every order that a seed gives; the last ones must work as the first. */
TEST("stress/open_close", "open close", "leaks")
{
	struct perf_event_attr a = attr_of(RAW_CYCLES);
	int fd[64];
	u32 rng = 1;

	for (int i = 0; i < 64; i++)
		fd[i] = -1;
	for (int n = 0; n < 2000; n++) {
		int i = (int)((rng = rng * 1103515245 + 12345) >> 16) & 63;

		if (fd[i] >= 0) {
			NEED(close(fd[i]));
			fd[i] = -1;
			continue;
		}
		a.type = n & 1 ? PERF_TYPE_RAW : PERF_TYPE_SOFTWARE;
		a.config = n & 1 ? 0x11 : (u64)(n >> 1) % 9;
		a.disabled = n >> 2 & 1;
		a.pinned = 0;
		NEED(fd[i] = perf_open(&a, 0, n & 8 ? 0 : -1, -1, 0));
	}
	for (int i = 0; i < 64; i++)
		if (fd[i] >= 0)
			close(fd[i]);
	spin_ms(1);
	int last = open_self(RAW_CYCLES);

	spin_ms(5);
	EXPECT(read_u64(last) > 0, "an event counts nothing after 2000 others");
}

/* As many events as there are descriptors: EMFILE, and all of them work. */
TEST("stress/many_events", "open", "no limit below RLIMIT_NOFILE")
{
	struct rlimit r = { 300, 300 };
	int fd[300], n = 0;
	struct perf_event_attr a = attr_of(TASK_CLOCK);

	NEED(setrlimit(RLIMIT_NOFILE, &r));
	while (n < 300 && (fd[n] = perf_open(&a, 0, -1, -1, 0)) >= 0)
		n++;
	EXPECT_EQ(errno, EMFILE);
	EXPECT_IN(n, 280, 299);
	spin_ms(2);
	for (int i = 0; i < n; i++)
		EXPECT(read_u64(fd[i]) > 1000000, "event %d counts nothing", i);
}

static void counted(void *loops)
{
	spin_loops(*(u64 *)loops);
}

/* A family of short-lived tasks: two equal events agree on what they did. */
TEST("stress/family", "attr.inherit", "issue 3: conservation")
{
	int a = open_with(RAW_CYCLES, RF_TIMES, false, true), b = open_with(RAW_CYCLES, RF_TIMES, false, true);
	u64 loops = 20000;

	for (int round = 0; round < 20; round++) {
		pid_t pid[8];

		for (int i = 0; i < 8; i++)
			pid[i] = run_child(counted, &loops);
		for (int i = 0; i < 8; i++)
			reap(pid[i]);
	}
	NEED(ioctl(a, PERF_EVENT_IOC_DISABLE, 0));
	NEED(ioctl(b, PERF_EVENT_IOC_DISABLE, 0));
	struct times x = read_times(a), y = read_times(b);

	EXPECT(x.value > 160 * loops, "%lu cycles for 160 tasks", (long)x.value);
	EXPECT_IN(y.value, x.value * (100 - skew_percent()) / 100, x.value * (100 + skew_percent()) / 100);
	EXPECT_EQ(x.running, x.enabled);
}

static volatile bool stop;
static int shared[8];

static void *toggler(void *arg)
{
	u32 rng = (u32)(uintptr_t)arg;

	while (!stop) {
		rng = rng * 1103515245 + 12345;
		int fd = shared[rng >> 16 & 7];

		switch (rng >> 24 & 3) {
		case 0:
			ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
			break;
		case 1:
			ioctl(fd, PERF_EVENT_IOC_ENABLE, rng >> 28 & 1);
			break;
		case 2:
			read_times(fd);
			break;
		default:
			ioctl(fd, PERF_EVENT_IOC_RESET, 0);
		}
	}
	return NULL;
}

static void pin_to(int cpu)
{
	cpu_set_t s;

	CPU_ZERO(&s);
	CPU_SET(cpu % nr_cpus(), &s);
	NEED(sched_setaffinity(0, sizeof(s), &s));
}

/* Threads enable, disable, reset and read the events of one that moves between the CPUs. */
TEST("stress/toggle", "ioctl.ENABLE ioctl.DISABLE ioctl.RESET", "hazards 17-20")
{
	pthread_t t[3];

	for (int i = 0; i < 8; i++) {
		struct perf_event_attr a = attr_of(RAW_CYCLES);

		a.read_format = RF_TIMES;
		NEED(shared[i] = perf_open(&a, 0, -1, i & 3 ? shared[i & ~3] : -1, 0));
	}
	for (long i = 0; i < 3; i++)
		NEED(pthread_create(&t[i], NULL, toggler, (void *)(i + 1)) ? -1 : 0);
	for (int i = 0; i < 100; i++) {
		pin_to(i);
		spin_ms(3);
	}
	stop = true;
	for (int i = 0; i < 3; i++)
		pthread_join(t[i], NULL);
	for (int i = 0; i < 8; i++)
		NEED(ioctl(shared[i], PERF_EVENT_IOC_ENABLE, 0));
	struct times before[8], after;

	for (int i = 0; i < 8; i++)
		before[i] = read_times(shared[i]);
	spin_ms(40);
	for (int i = 0; i < 8; i++) {
		after = read_times(shared[i]);
		EXPECT(after.value > before[i].value && after.running <= after.enabled,
		       "event %d: %lu after %lu, running %lu of %lu", i, (long)after.value, (long)before[i].value,
		       (long)after.running, (long)after.enabled);
	}
}

/* Rings mapped and unmapped while their event writes records. */
TEST("stress/map_unmap", "mmap munmap", "hazard 38")
{
	struct perf_event_attr a = attr_of(CPU_CLOCK);

	a.sample_period = 100000;
	a.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TIME;
	int fd = perf_open(&a, 0, -1, -1, 0);

	NEED(fd);
	for (int i = 0; i < 300; i++) {
		void *p = mmap(NULL, (1 + (1u << i % 4)) * 4096ul, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

		NEED(p == MAP_FAILED ? -1 : 0);
		spin_loops(20000);
		NEED(munmap(p, (1 + (1u << i % 4)) * 4096ul));
	}
	struct perf_event_mmap_page *p = mmap(NULL, 3 * 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	NEED(p == MAP_FAILED ? -1 : 0);
	spin_ms(5);
	EXPECT(p->data_head > 0, "the last ring stays empty");
}
