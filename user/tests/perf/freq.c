/* SPDX-License-Identifier: MIT */
/* Frequency mode and throttling. */
#include "ring.h"

static union record rec;

TEST("freq/converges", "attr.freq attr.sample_freq", "PB-28")
{
	struct perf_event_attr a = sampling(RAW_CYCLES, 0, PERF_SAMPLE_PERIOD | PERF_SAMPLE_TIME);
	u64 sum = 0, last = 0, n = 0, count, start, right;
	struct ring r;
	int fd;

	a.freq = 1;
	a.sample_freq = 500;
	fd = open_attr(&a);
	r = ring_map(fd, 8, PROT_READ | PROT_WRITE);
	start = thread_cpu_ns();
	ioc(fd, PERF_EVENT_IOC_ENABLE, 0);
	spin_ms(1000);
	ioc(fd, PERF_EVENT_IOC_DISABLE, 0);
	start = thread_cpu_ns() - start;
	count = read_u64(fd);
	while (ring_next(&r, &rec))
		if (rec.h.type == PERF_RECORD_SAMPLE) {
			last = rec.u64[2];
			sum += last;
			n++;
		}
	right = count / (start / 1000000) * 1000 / 500;
	/* an interrupt that comes late, because the emulator stood still, makes one sample of many periods */
	EXPECT_IN(n, exact_time() ? 150 : 20, 700);
	EXPECT_IN(sum, count / 100 * (exact_time() ? 40 : 5), count / 100 * 115);
	EXPECT_IN(last, right / (exact_time() ? 3 : 20), right * (exact_time() ? 3 : 20));
}

TEST("freq/inherit", "attr.freq attr.inherit", "PB-28")
{
	struct perf_event_attr a = sampling(RAW_CYCLES, 0, PERF_SAMPLE_TID | PERF_SAMPLE_PERIOD);
	u64 first = 0, settled = 0;
	struct ring r;
	int fd, kid;

	pin(0);
	a.freq = 1;
	a.sample_freq = 500;
	a.inherit = 1;
	NEED(fd = perf_open(&a, 0, 0, -1, 0));
	r = ring_map(fd, 16, PROT_READ | PROT_WRITE);
	ioc(fd, PERF_EVENT_IOC_ENABLE, 0);
	spin_ms(300);
	kid = fork();
	if (!kid) {
		spin_ms(50);
		_exit(0);
	}
	reap(kid);
	while (ring_next(&r, &rec)) {
		if (rec.h.type != PERF_RECORD_SAMPLE)
			continue;
		if (rec.u32[2] != kid)
			settled = rec.u64[2];
		else if (!first)
			first = rec.u64[2];
	}
	EXPECT(first >= settled / 8, "the child's first period is %ld, the parent's %ld", (long)first, (long)settled);
}

TEST("freq/limit", "attr.sample_freq sysctl.perf_event_max_sample_rate", "PB-45")
{
	struct perf_event_attr a = sampling(RAW_CYCLES, 0, PERF_SAMPLE_IP);
	long rate = read_long(MAX_RATE);
	int fd;
	u64 v = 0;

	a.freq = 1;
	a.sample_freq = (u64)rate + 1;
	EXPECT_ERR(perf_open(&a, 0, -1, -1, 0), EINVAL);
	a.sample_freq = (u64)rate;
	NEED(fd = perf_open(&a, 0, -1, -1, 0));
	v = (u64)rate + 1;
	EXPECT_ERR(ioctl(fd, PERF_EVENT_IOC_PERIOD, &v), EINVAL);
	a.sample_freq = 0;
	NEED(fd = perf_open(&a, 0, -1, -1, 0));
	v = 100;
	EXPECT_ERR(ioctl(fd, PERF_EVENT_IOC_PERIOD, &v), EINVAL);	/* it only counts */
}

/* samples, THROTTLE and UNTHROTTLE of a run of 100 ms, longer if there are few of them */
struct storm { unsigned samples, on, off, bad; int throttled; };

static void storm_count(struct storm *s, struct ring *r, u64 id)
{
	while (ring_next(r, &rec)) {
		s->samples += rec.h.type == PERF_RECORD_SAMPLE;
		s->on += rec.h.type == PERF_RECORD_THROTTLE;
		s->off += rec.h.type == PERF_RECORD_UNTHROTTLE;
		if (rec.h.type == PERF_RECORD_THROTTLE)
			s->bad += s->throttled++ != 0;
		if (rec.h.type == PERF_RECORD_UNTHROTTLE)
			s->bad += s->throttled-- != 1;
		if (rec.h.type == PERF_RECORD_THROTTLE || rec.h.type == PERF_RECORD_UNTHROTTLE)
			s->bad += rec.h.size != 40 || rec.u64[2] != id || rec.u64[3] != id || !rec.u64[1];
	}
}

static struct storm storm(u32 type, u64 config, u64 period)
{
	struct perf_event_attr a = sampling(type, config, period, PERF_SAMPLE_TIME);
	struct storm s = { 0 };
	int fd;
	struct ring r;
	u64 id;

	a.sample_id_all = 1;
	fd = open_attr(&a);
	id = event_id(fd);
	r = ring_map(fd, 16, PROT_READ | PROT_WRITE);
	ioc(fd, PERF_EVENT_IOC_ENABLE, 0);
	for (int i = 0; i < 20 && s.on < 3; i++) {
		spin_ms(100);
		storm_count(&s, &r, id);
	}
	ioc(fd, PERF_EVENT_IOC_DISABLE, 0);
	storm_count(&s, &r, id);
	close(fd);
	return s;
}

static void throttled(u32 type, u64 config, u64 period)
{
	long rate = read_long(MAX_RATE);
	struct storm s;

	if (write_long(MAX_RATE, 1000))
		test_skip("the rate cannot be set");
	s = storm(type, config, period);
	write_long(MAX_RATE, rate);
	EXPECT_IN(s.samples, 10, 200);
	EXPECT_IN(s.on, 3, 50);
	EXPECT_IN(s.off, s.on - 1, s.on);
	EXPECT_EQ(s.bad, 0);
}

TEST("freq/throttle_clock", "PERF_RECORD_THROTTLE PERF_RECORD_UNTHROTTLE", "PB-45")
{
	throttled(CPU_CLOCK, 20000);
}

TEST("freq/throttle_hardware", "PERF_RECORD_THROTTLE PERF_RECORD_UNTHROTTLE", "PB-45")
{
	throttled(RAW_CYCLES, 20000);
}

TEST("freq/period_one", "sample_period", "hazard 45")
{
	struct perf_event_attr a = sampling(RAW_CYCLES, 1, PERF_SAMPLE_IP);
	u64 start = now_ns();
	struct ring r;
	int fd = open_attr(&a);

	r = ring_map(fd, 8, PROT_READ | PROT_WRITE);
	ioc(fd, PERF_EVENT_IOC_ENABLE, 0);
	spin_loops(100000);
	ioc(fd, PERF_EVENT_IOC_DISABLE, 0);
	EXPECT(now_ns() - start < 5000000000, "the machine crawls");
	EXPECT(ring_count(&r, PERF_RECORD_SAMPLE) > 0, "no sample");
}

TEST("freq/set_period", "ioctl.PERIOD", "perf_event_open(2)")
{
	struct perf_event_attr a = sampling(RAW_CYCLES, 1ull << 40, PERF_SAMPLE_PERIOD);
	u64 v = 1000000, n = 0;
	int fd = open_attr(&a);
	struct ring r = ring_map(fd, 8, PROT_READ | PROT_WRITE);

	ioc(fd, PERF_EVENT_IOC_ENABLE, 0);
	spin_ms(5);
	EXPECT_EQ(r.page->data_head, 0);
	NEED(ioctl(fd, PERF_EVENT_IOC_PERIOD, &v));
	spin_ms(30);
	ioc(fd, PERF_EVENT_IOC_DISABLE, 0);
	while (ring_next(&r, &rec))
		n += rec.h.type == PERF_RECORD_SAMPLE && rec.u64[1] == 1000000;
	EXPECT(n >= 5, "%ld samples with the new period", (long)n);
}

TEST("freq/set_clock_period", "ioctl.PERIOD", "perf_event_open(2)")
{
	struct perf_event_attr a = sampling(CPU_CLOCK, 1ull << 40, PERF_SAMPLE_IP);
	u64 v = 1000000;
	int fd = open_attr(&a);
	struct ring r = ring_map(fd, 8, PROT_READ | PROT_WRITE);

	ioc(fd, PERF_EVENT_IOC_ENABLE, 0);
	spin_ms(5);
	NEED(ioctl(fd, PERF_EVENT_IOC_PERIOD, &v));
	spin_ms(30);
	spin_filled(&r, 2 * 16);
	EXPECT_IN(ring_count(&r, PERF_RECORD_SAMPLE), exact_time() ? 25 : 2, 40);
}

/* Slices shorter than the period add up. */
TEST("freq/short_slices", "sample_period", "hazard: residual")
{
	struct perf_event_attr a = sampling(TASK_CLOCK, 10000000, PERF_SAMPLE_IP), b = sampling(RAW_CYCLES, 10000000,
		PERF_SAMPLE_IP);
	int fd = open_attr(&a), hw = open_attr(&b);
	struct ring r = ring_map(fd, 1, PROT_READ | PROT_WRITE), s = ring_map(hw, 1, PROT_READ | PROT_WRITE);

	ioc(fd, PERF_EVENT_IOC_ENABLE, 0);
	ioc(hw, PERF_EVENT_IOC_ENABLE, 0);
	for (int i = 0; i < 50; i++) {
		spin_ms(1);
		nap_ms(1);
	}
	ioc(fd, PERF_EVENT_IOC_DISABLE, 0);
	ioc(hw, PERF_EVENT_IOC_DISABLE, 0);
	/* a timer that fires late makes one sample of many periods */
	EXPECT_IN(ring_count(&r, PERF_RECORD_SAMPLE), exact_time() ? read_u64(fd) / 10000000 - 1 : 1, read_u64(fd) / 10000000);
	/* an overflow whose interrupt comes late, behind the switch, is none */
	EXPECT_IN(ring_count(&s, PERF_RECORD_SAMPLE), exact_time() ? read_u64(hw) / 10000000 / 2 - 1 : 1, read_u64(hw) / 10000000);
}

TEST("freq/migrating", "sample_period sched_setaffinity", "PB-10")
{
	struct perf_event_attr a = sampling(RAW_CYCLES, 3000000, PERF_SAMPLE_CPU);
	int fd = open_attr(&a), cpus[2] = { 0, 0 };
	struct ring r = ring_map(fd, 8, PROT_READ | PROT_WRITE);
	u64 n;

	if (nr_cpus() < 2)
		test_skip("one CPU");
	ioc(fd, PERF_EVENT_IOC_ENABLE, 0);
	for (int i = 0; i < 200; i++) {
		pin(i & 1);
		spin_ms(2);
	}
	ioc(fd, PERF_EVENT_IOC_DISABLE, 0);
	n = read_u64(fd) / 3000000;
	while (ring_next(&r, &rec))
		if (rec.h.type == PERF_RECORD_SAMPLE && rec.u32[2] < 2)
			cpus[rec.u32[2]]++;
	EXPECT_IN(cpus[0] + cpus[1], exact_time() ? n / 2 : 42, n + 1);	/* late interrupts: see short_slices */
	EXPECT(cpus[0] > 20 && cpus[1] > 20, "%d and %d samples", cpus[0], cpus[1]);
}

TEST("freq/cpu_time_percent", "sysctl.perf_cpu_time_max_percent sysctl.perf_event_max_sample_rate", "Linux 6.12")
{
	const char *percent = "/proc/sys/kernel/perf_cpu_time_max_percent";
	long p = read_long(percent), rate = read_long(MAX_RATE);

	EXPECT_EQ(write_long(percent, 101), -1);
	EXPECT_EQ(write_long(percent, -1), -1);
	EXPECT_EQ(write_long(percent, 0), 0);
	EXPECT_EQ(write_long(MAX_RATE, 5000), -1);
	EXPECT_EQ(write_long(percent, 100), 0);
	EXPECT_EQ(write_long(MAX_RATE, 5000), -1);
	EXPECT_EQ(write_long(percent, 50), 0);
	EXPECT_EQ(write_long(MAX_RATE, 5000), 0);
	EXPECT_EQ(read_long(MAX_RATE), 5000);
	EXPECT_EQ(write_long(MAX_RATE, 0), -1);
	write_long(MAX_RATE, rate);
	write_long(percent, p);
}
