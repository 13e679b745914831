/* SPDX-License-Identifier: MIT */
/* What a sample says: order and contents of its fields. */
#include "ring.h"

static union record rec;

/* The first sample of the ring; ends the test if there is none. */
static bool first_sample(struct ring *r)
{
	while (ring_next(r, &rec))
		if (rec.h.type == PERF_RECORD_SAMPLE)
			return true;
	test_fail(__FILE__, __LINE__, "no sample");
	_exit(1);
}

static struct ring run_sampled(const struct perf_event_attr *a, int *fd)
{
	struct ring r;

	*fd = open_attr(a);
	r = ring_map(*fd, 8, PROT_READ | PROT_WRITE);
	ioc(*fd, PERF_EVENT_IOC_ENABLE, 0);
	spin_ms(20);
	spin_filled(&r, 5 * 16);
	ioc(*fd, PERF_EVENT_IOC_DISABLE, 0);
	return r;
}

TEST("records/order", "sample_type sample.IDENTIFIER sample.IP sample.TID sample.TIME sample.ADDR sample.ID sample.STREAM_ID "
     "sample.CPU sample.PERIOD sample.READ sample.CALLCHAIN", "PB-16")
{
	struct perf_event_attr a = sampling(CPU_CLOCK, 1000000, PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP |
		PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR | PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID |
		PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD | PERF_SAMPLE_READ | PERF_SAMPLE_CALLCHAIN);
	struct perf_event_attr b = attr_of(RAW_CYCLES);
	u64 id, id2, *w = rec.u64 + 1, nr;
	struct ring r;
	int fd, member, cpu = 0;

	pin(cpu);
	a.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_ID | PERF_FORMAT_LOST | RF_TIMES;
	b.read_format = a.read_format;
	fd = open_attr(&a);
	member = perf_open(&b, 0, -1, fd, 0);
	NEED(member);
	r = ring_map(fd, 8, PROT_READ | PROT_WRITE);
	ioc(fd, PERF_EVENT_IOC_ENABLE, 0);
	spin_ms(20);
	ioc(fd, PERF_EVENT_IOC_DISABLE, 0);
	id = event_id(fd);
	id2 = event_id(member);
	first_sample(&r);
	EXPECT_EQ(*w++, id);			/* IDENTIFIER */
	EXPECT(*w++ != 0, "ip is 0");
	EXPECT_EQ(*w & 0xffffffff, getpid());
	EXPECT_EQ(*w++ >> 32, getpid());
	EXPECT(*w++ != 0, "time is 0");
	EXPECT_EQ(*w++, 0);			/* ADDR */
	EXPECT_EQ(*w++, id);
	EXPECT_EQ(*w++, id);			/* STREAM_ID */
	EXPECT_EQ(*w++, cpu);
	EXPECT_EQ(*w++, 1000000);
	EXPECT_EQ(*w++, 2);			/* READ: nr */
	EXPECT(w[0] >= w[1] && w[1], "enabled %ld running %ld", (long)w[0], (long)w[1]);
	w += 2;
	EXPECT(*w++ > 0, "value is 0");
	EXPECT_EQ(*w++, id);
	EXPECT_EQ(*w++, 0);			/* lost */
	EXPECT(*w++ > 0, "the member's value is 0");
	EXPECT_EQ(*w++, id2);
	EXPECT_EQ(*w++, 0);
	nr = *w++;
	EXPECT_IN(nr, 2, 128);
	w += nr;
	EXPECT_EQ((char *)w - rec.bytes, rec.h.size);
}

TEST("records/rest", "sample.RAW sample.WEIGHT sample.DATA_SRC sample.TRANSACTION sample.PHYS_ADDR sample.CGROUP "
     "sample.DATA_PAGE_SIZE sample.CODE_PAGE_SIZE", "perf_event_open(2)")
{
	struct perf_event_attr a = sampling(CPU_CLOCK, 1000000, PERF_SAMPLE_RAW | PERF_SAMPLE_WEIGHT |
		PERF_SAMPLE_DATA_SRC | PERF_SAMPLE_TRANSACTION | PERF_SAMPLE_PHYS_ADDR | PERF_SAMPLE_CGROUP |
		PERF_SAMPLE_DATA_PAGE_SIZE | PERF_SAMPLE_CODE_PAGE_SIZE);
	u64 *w = rec.u64 + 1;
	struct ring r;
	int fd;

	a.exclude_kernel = 1;
	r = run_sampled(&a, &fd);
	first_sample(&r);
	EXPECT_EQ(rec.h.size, 72);
	EXPECT_EQ(*w++, 4);		/* RAW: 4 bytes of 0 */
	EXPECT_EQ(*w++, 0);		/* WEIGHT */
	EXPECT_EQ(*w++, 0x1e05080021);	/* DATA_SRC: nothing available */
	EXPECT_EQ(*w++, 0);		/* TRANSACTION */
	EXPECT_EQ(*w++, 0);		/* PHYS_ADDR */
	EXPECT_EQ(*w++, 1);		/* CGROUP: the root */
	EXPECT_EQ(*w++, 0);		/* DATA_PAGE_SIZE */
	EXPECT_EQ(*w++, 4096);		/* CODE_PAGE_SIZE */
}

TEST("records/misc_user", "PERF_RECORD_SAMPLE", "perf_event_open(2)")
{
	struct perf_event_attr a = sampling(CPU_CLOCK, 1000000, PERF_SAMPLE_IP);
	struct ring r;
	unsigned user = 0;
	int fd;

	a.exclude_kernel = 1;
	r = run_sampled(&a, &fd);
	while (ring_next(&r, &rec)) {
		if (rec.h.type != PERF_RECORD_SAMPLE)
			continue;
		EXPECT_EQ(rec.h.misc, PERF_RECORD_MISC_USER);
		EXPECT(rec.u64[1] < 1ull << 48, "ip %#lx", (long)rec.u64[1]);
		user++;
	}
	EXPECT_IN(user, 3, 22);
}

TEST("records/read_single", "PERF_SAMPLE_READ read_format", "perf_event_open(2)")
{
	struct perf_event_attr a = sampling(RAW_CYCLES, 1000000, PERF_SAMPLE_READ);
	u64 last = 0, n = 0;
	struct ring r;
	int fd;

	a.read_format = RF_TIMES | PERF_FORMAT_ID;
	r = run_sampled(&a, &fd);
	while (ring_next(&r, &rec)) {
		if (rec.h.type != PERF_RECORD_SAMPLE)
			continue;
		EXPECT_EQ(rec.h.size, 40);
		EXPECT(rec.u64[1] > last, "value %ld after %ld", (long)rec.u64[1], (long)last);
		EXPECT(rec.u64[3] <= rec.u64[2], "running > enabled");
		EXPECT_EQ(rec.u64[4], event_id(fd));
		last = rec.u64[1];
		n++;
	}
	EXPECT(n > 2, "%ld samples", (long)n);
	EXPECT(last >= 1000000 * (n - 1), "value %ld of %ld samples", (long)last, (long)n);
}

/* Samples of a child in an inherited family: its own values, the root's id, another STREAM_ID. */
TEST("records/read_inherit", "PERF_SAMPLE_READ attr.inherit", "Linux 6.12 perf_event.c")
{
	struct perf_event_attr a = sampling(CPU_CLOCK, 1000000, PERF_SAMPLE_TID | PERF_SAMPLE_READ |
					    PERF_SAMPLE_STREAM_ID);
	u64 child_max = 0, n = 0, streams = 0;
	struct ring r;
	int fd, kid, kids = 0;

	pin(0);
	a.inherit = 1;
	a.read_format = PERF_FORMAT_ID;
	NEED(fd = perf_open(&a, 0, 0, -1, 0));
	r = ring_map(fd, 8, PROT_READ | PROT_WRITE);
	ioc(fd, PERF_EVENT_IOC_ENABLE, 0);
	spin_ms(40);
	for (; n < 3 && kids < 50; kids++) {
		kid = fork();
		if (!kid) {
			spin_ms(10);
			_exit(0);
		}
		reap(kid);
		while (ring_next(&r, &rec)) {
			if (rec.h.type != PERF_RECORD_SAMPLE || rec.u32[2] != kid)
				continue;
			n++;
			EXPECT_EQ(rec.u64[4], event_id(fd));
			streams += rec.u64[2] != event_id(fd);
			if (rec.u64[3] > child_max)
				child_max = rec.u64[3];
		}
	}
	EXPECT(n >= 3, "%ld samples of %d children", (long)n, kids);
	EXPECT_EQ(streams, n);
	EXPECT(child_max >= 1000000, "value %ld", (long)child_max);	/* whose: readsample/own_values */
}

TEST("records/inherit_read_needs_tid", "PERF_SAMPLE_READ attr.inherit", "Linux 6.12")
{
	struct perf_event_attr a = sampling(CPU_CLOCK, 1000000, PERF_SAMPLE_READ);

	a.inherit = 1;
	EXPECT_ERR(perf_open(&a, 0, -1, -1, 0), EINVAL);
	a.sample_type |= PERF_SAMPLE_TID;
	EXPECT(perf_open(&a, 0, -1, -1, 0) >= 0, "with TID: %s", strerror(errno));
}

TEST("records/fault_addr", "PERF_COUNT_SW_PAGE_FAULTS PERF_SAMPLE_ADDR", "issue 5")
{
	struct perf_event_attr a = sampling(FAULTS, 1, PERF_SAMPLE_IP | PERF_SAMPLE_ADDR);
	int fd = open_attr(&a), hits = 0;
	struct ring r = ring_map(fd, 8, PROT_READ | PROT_WRITE);
	char *p = mmap(NULL, 16 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	NEED(madvise(p, 16 * PAGE, MADV_NOHUGEPAGE) && errno != EINVAL ? -1 : 0);
	ioc(fd, PERF_EVENT_IOC_ENABLE, 0);
	for (int i = 0; i < 16; i++)
		p[i * PAGE + 24] = 1;
	ioc(fd, PERF_EVENT_IOC_DISABLE, 0);
	while (ring_next(&r, &rec))
		if (rec.h.type == PERF_RECORD_SAMPLE && rec.u64[2] == (u64)p + hits * PAGE + 24) {
			EXPECT_EQ(rec.h.misc & 7, PERF_RECORD_MISC_USER);
			hits++;
		}
	EXPECT_EQ(hits, 16);
}

TEST("records/switch_event", "PERF_COUNT_SW_CONTEXT_SWITCHES", "issue 5")
{
	struct perf_event_attr a = sampling(SWITCHES, 1, PERF_SAMPLE_TID | PERF_SAMPLE_IP | PERF_SAMPLE_PERIOD);
	int fd = open_attr(&a), n = 0;
	struct ring r = ring_map(fd, 8, PROT_READ | PROT_WRITE);

	ioc(fd, PERF_EVENT_IOC_ENABLE, 0);
	yields(100);
	ioc(fd, PERF_EVENT_IOC_DISABLE, 0);
	while (ring_next(&r, &rec)) {
		EXPECT_EQ(rec.h.type, PERF_RECORD_SAMPLE);	/* such samples are never throttled */
		EXPECT_EQ(rec.h.misc & 7, PERF_RECORD_MISC_KERNEL);
		EXPECT_EQ(rec.u32[4], getpid());
		EXPECT_EQ(rec.u64[3], 1);
		n++;
	}
	EXPECT_EQ(n, read_u64(fd));
}

TEST("records/switch_event_rate", "PERF_COUNT_SW_CONTEXT_SWITCHES", "Linux: no throttling of single software overflows")
{
	struct perf_event_attr a = sampling(SWITCHES, 1, PERF_SAMPLE_TID);
	long rate = read_long(MAX_RATE);
	struct ring r;
	int fd;

	if (write_long(MAX_RATE, 1000))
		test_skip("the rate cannot be set");
	fd = open_attr(&a);
	r = ring_map(fd, 64, PROT_READ | PROT_WRITE);
	ioc(fd, PERF_EVENT_IOC_ENABLE, 0);
	yields(2000);
	ioc(fd, PERF_EVENT_IOC_DISABLE, 0);
	write_long(MAX_RATE, rate);
	EXPECT_EQ(ring_count(&r, PERF_RECORD_SAMPLE), read_u64(fd));
}

TEST("records/switch_period", "PERF_COUNT_SW_CONTEXT_SWITCHES", "Linux perf_swevent_event")
{
	struct perf_event_attr a = sampling(SWITCHES, 10, PERF_SAMPLE_TID);
	int fd = open_attr(&a);
	struct ring r = ring_map(fd, 8, PROT_READ | PROT_WRITE);

	ioc(fd, PERF_EVENT_IOC_ENABLE, 0);
	yields(100);
	ioc(fd, PERF_EVENT_IOC_DISABLE, 0);
	EXPECT_EQ(ring_count(&r, PERF_RECORD_SAMPLE), read_u64(fd) / 10);
}

TEST("records/switch_period_in_sample", "PERF_SAMPLE_PERIOD", "Linux perf_swevent_event")
{
	struct perf_event_attr a = sampling(SWITCHES, 10, PERF_SAMPLE_PERIOD);
	int fd = open_attr(&a);
	struct ring r = ring_map(fd, 8, PROT_READ | PROT_WRITE);

	ioc(fd, PERF_EVENT_IOC_ENABLE, 0);
	yields(100);
	ioc(fd, PERF_EVENT_IOC_DISABLE, 0);
	EXPECT_EQ(ring_count(&r, PERF_RECORD_SAMPLE), read_u64(fd));
}

TEST("records/cpu_clock", "PERF_COUNT_SW_CPU_CLOCK sample_period", "PB-46")
{
	struct perf_event_attr a = sampling(CPU_CLOCK, 1000000, PERF_SAMPLE_TIME);
	struct ring r;
	int fd;

	r = run_sampled(&a, &fd);
	EXPECT_IN(ring_count(&r, PERF_RECORD_SAMPLE), 5, 22);
}

TEST("records/periods", "sample_period", "perf_event_open(2)")
{
	struct perf_event_attr a = sampling(RAW_CYCLES, 1000000, PERF_SAMPLE_IP);
	struct ring r;
	u64 count;
	int fd;

	r = run_sampled(&a, &fd);
	count = read_u64(fd);
	EXPECT_IN(ring_count(&r, PERF_RECORD_SAMPLE), least_interrupts(count / 1000000), count / 1000000 + 1);
}

TEST("records/clockid", "attr.use_clockid attr.clockid", "PB-55")
{
	static const int good[] = { 0, 1, 4, 7, 11 }, bad[] = { 2, 3, 5, 6, 8, 9, 12, 15, 16, -1 };
	struct perf_event_attr a = sampling(CPU_CLOCK, 1000000, PERF_SAMPLE_TIME), hw = sampling(RAW_CYCLES, 1000000,
		PERF_SAMPLE_TIME);

	a.use_clockid = hw.use_clockid = 1;
	for (int i = 0; i < 10; i++) {
		a.clockid = bad[i];
		EXPECT_ERR(perf_open(&a, 0, -1, -1, 0), EINVAL);
	}
	for (int i = 0; i < 5; i++) {
		struct ring r;
		u64 from, to;
		int fd;

		a.clockid = good[i];
		from = clock_of(good[i]);
		r = run_sampled(&a, &fd);
		to = clock_of(good[i]);
		first_sample(&r);
		EXPECT_IN(rec.u64[1], from, to);
		close(fd);
		hw.clockid = good[i];
		fd = perf_open(&hw, 0, -1, -1, 0);
		EXPECT_EQ(fd >= 0, i == 1 || i == 2);
	}
}

TEST("records/default_clock", "PERF_SAMPLE_TIME", "perf_event_open(2): sched_clock order")
{
	struct perf_event_attr a = sampling(CPU_CLOCK, 1000000, PERF_SAMPLE_TIME);
	u64 last = 0;
	struct ring r;
	int fd;

	r = run_sampled(&a, &fd);
	while (ring_next(&r, &rec)) {
		EXPECT(rec.u64[1] > last, "time goes back");
		last = rec.u64[1];
	}
}

TEST("records/regs_user", "PERF_SAMPLE_REGS_USER PERF_SAMPLE_STACK_USER", "PB-21")
{
	struct perf_event_attr a = sampling(CPU_CLOCK, 1000000, PERF_SAMPLE_IP | PERF_SAMPLE_REGS_USER |
					    PERF_SAMPLE_STACK_USER);
	char here[64] = "on the stack";
	struct ring r;
	int fd;

	__asm__ volatile("" : : "r"(here) : "memory");
	a.sample_regs_user = 1ull << 30 | 1ull << 31 | 1ull << 32;
	a.sample_stack_user = 1024;
	a.exclude_kernel = 1;
	r = run_sampled(&a, &fd);
	first_sample(&r);
	EXPECT_EQ(rec.h.size, 8 + 8 + 32 + 8 + 1024 + 8);
	EXPECT_EQ(rec.u64[2], 2);			/* 64 bit */
	EXPECT(rec.u64[4] >= (u64)here - 8192 && rec.u64[4] <= (u64)here, "sp %#lx", (long)rec.u64[4]);
	EXPECT_EQ(rec.u64[5], rec.u64[1]);		/* pc == ip */
	EXPECT_EQ(rec.u64[6], 1024);
	EXPECT_IN(rec.u64[7 + 128], 8, 1024);	/* the stack may end before */
}

TEST("records/regs_user_in_kernel", "PERF_SAMPLE_REGS_USER", "PB-21")
{
	struct perf_event_attr a = sampling(SWITCHES, 1, PERF_SAMPLE_IP | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER);
	int fd, n = 0;
	struct ring r;

	a.sample_regs_user = 1ull << 32;
	a.sample_stack_user = 64;
	fd = open_attr(&a);
	r = ring_map(fd, 8, PROT_READ | PROT_WRITE);
	ioc(fd, PERF_EVENT_IOC_ENABLE, 0);
	yields(3);
	ioc(fd, PERF_EVENT_IOC_DISABLE, 0);
	while (ring_next(&r, &rec)) {
		EXPECT_EQ(rec.u64[2], 2);
		EXPECT(rec.u64[3] < 1ull << 48 && rec.u64[3] > 4096, "user pc %#lx", (long)rec.u64[3]);
		EXPECT_EQ(rec.u64[4], 64);
		EXPECT_EQ(rec.u64[13], 64);
		n++;
	}
	EXPECT(n >= 3, "%d samples", n);
}

TEST("records/regs_user_idle", "PERF_SAMPLE_REGS_USER", "PB-21")
{
	struct perf_event_attr a = sampling(CPU_CLOCK, 1000000, PERF_SAMPLE_TID | PERF_SAMPLE_REGS_USER |
					    PERF_SAMPLE_STACK_USER);
	int fd, idle = 0;
	struct ring r;

	a.sample_regs_user = 7ull << 30;
	a.sample_stack_user = 1024;
	NEED(fd = perf_open(&a, -1, nr_cpus() - 1, -1, 0));
	r = ring_map(fd, 8, PROT_READ | PROT_WRITE);
	ioc(fd, PERF_EVENT_IOC_ENABLE, 0);
	nap_ms(100);
	ioc(fd, PERF_EVENT_IOC_DISABLE, 0);
	while (ring_next(&r, &rec)) {
		if (rec.h.type != PERF_RECORD_SAMPLE || rec.u32[2])
			continue;
		EXPECT_EQ(rec.h.size, 32);
		EXPECT_EQ(rec.u64[2], 0);
		EXPECT_EQ(rec.u64[3], 0);
		idle++;
	}
	EXPECT(idle > 0 || nr_cpus() == 1, "no idle samples");
}

TEST("records/regs_intr", "PERF_SAMPLE_REGS_INTR", "perf_event_open(2)")
{
	struct perf_event_attr a = sampling(CPU_CLOCK, 1000000, PERF_SAMPLE_IP | PERF_SAMPLE_REGS_INTR);
	struct ring r;
	int fd;

	a.sample_regs_intr = 1ull << 32;
	r = run_sampled(&a, &fd);
	first_sample(&r);
	EXPECT_EQ(rec.h.size, 32);
	EXPECT_EQ(rec.u64[2], 2);
	EXPECT_EQ(rec.u64[3], rec.u64[1]);
}

TEST("records/stack_large", "PERF_SAMPLE_STACK_USER", "Linux: a record stays below 64 KiB")
{
	struct perf_event_attr a = sampling(CPU_CLOCK, 1000000, PERF_SAMPLE_IP | PERF_SAMPLE_REGS_USER |
					    PERF_SAMPLE_STACK_USER);
	struct ring r;
	u64 size;
	int fd;

	a.sample_regs_user = 1ull << 31;
	a.sample_stack_user = 65528;
	a.exclude_kernel = 1;
	fd = open_attr(&a);
	r = ring_map(fd, 64, PROT_READ | PROT_WRITE);
	ioc(fd, PERF_EVENT_IOC_ENABLE, 0);
	spin_ms(60);
	ioc(fd, PERF_EVENT_IOC_DISABLE, 0);
	first_sample(&r);
	size = rec.u64[4];
	EXPECT_EQ(rec.h.size, 8 + 8 + 16 + 8 + size + 8);
	EXPECT(rec.u64[5 + size / 8] <= size, "dyn_size %ld of %ld", (long)rec.u64[5 + size / 8], (long)size);
	EXPECT_IN(size, 1, 65528);
}

TEST("records/refused", "sample_type", "perf_event_open(2)")
{
	struct perf_event_attr a = sampling(CPU_CLOCK, 1000000, PERF_SAMPLE_REGS_USER);

	EXPECT_ERR(perf_open(&a, 0, -1, -1, 0), EINVAL);	/* no registers */
	a.sample_regs_user = 1ull << 40;
	EXPECT_ERR(perf_open(&a, 0, -1, -1, 0), EINVAL);
	a = sampling(CPU_CLOCK, 1000000, PERF_SAMPLE_STACK_USER);
	a.sample_stack_user = 65535;
	EXPECT_ERR(perf_open(&a, 0, -1, -1, 0), EINVAL);
	a.sample_stack_user = 12;
	EXPECT_ERR(perf_open(&a, 0, -1, -1, 0), EINVAL);
	a = sampling(CPU_CLOCK, 1000000, PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT);
	EXPECT_ERR(perf_open(&a, 0, -1, -1, 0), EINVAL);
	a = sampling(CPU_CLOCK, 1000000, 1ull << 30);
	EXPECT_ERR(perf_open(&a, 0, -1, -1, 0), EINVAL);
	a = sampling(CPU_CLOCK, 1ull << 63, PERF_SAMPLE_IP);
	EXPECT_ERR(perf_open(&a, 0, -1, -1, 0), EINVAL);
}

TEST("records/weight_struct", "PERF_SAMPLE_WEIGHT_STRUCT", "perf_event_open(2)")
{
	struct perf_event_attr a = sampling(CPU_CLOCK, 1000000, PERF_SAMPLE_IP | PERF_SAMPLE_WEIGHT_STRUCT);
	struct ring r;
	int fd;

	r = run_sampled(&a, &fd);
	first_sample(&r);
	EXPECT_EQ(rec.h.size, 24);
	EXPECT_EQ(rec.u64[2], 0);
}

TEST("records/aux", "PERF_SAMPLE_AUX attr.aux_output attr.aux_sample_size attr.aux_watermark", "Linux: no PMU here traces")
{
	struct perf_event_attr a = sampling(CPU_CLOCK, 1000000, PERF_SAMPLE_IP | PERF_SAMPLE_AUX);
	struct perf_event_attr h = sampling(RAW_CYCLES, 1000000, PERF_SAMPLE_IP | PERF_SAMPLE_AUX);
	struct ring r;
	int fd, leader;

	a.aux_watermark = 4096;			/* accepted; there is nothing to measure */
	r = run_sampled(&a, &fd);
	first_sample(&r);
	EXPECT_EQ(rec.h.size, 24);		/* 0 bytes of it */
	EXPECT_EQ(rec.u64[2], 0);
	r = run_sampled(&h, &leader);
	first_sample(&r);
	EXPECT_EQ(rec.h.size, 24);
	a.aux_sample_size = h.aux_sample_size = 4096;
	EXPECT_ERR(perf_open(&a, 0, -1, -1, 0), EINVAL);
	EXPECT_ERR(perf_open(&h, 0, -1, -1, 0), EINVAL);
	EXPECT_ERR(perf_open(&h, 0, -1, leader, 0), EINVAL);
	a.aux_sample_size = h.aux_sample_size = 0;
	a.aux_output = h.aux_output = 1;
	EXPECT_ERR(perf_open(&a, 0, -1, -1, 0), EOPNOTSUPP);
	EXPECT_ERR(perf_open(&h, 0, -1, leader, 0), EOPNOTSUPP);
}

TEST("records/no_branches", "PERF_SAMPLE_BRANCH_STACK", "Linux: no BRBE here")
{
	struct perf_event_attr a = sampling(RAW_CYCLES, 1000000, PERF_SAMPLE_BRANCH_STACK);

	EXPECT_ERR(perf_open(&a, 0, -1, -1, 0), EINVAL);	/* no type of branch */
	a.branch_sample_type = PERF_SAMPLE_BRANCH_ANY;
	EXPECT_ERR(perf_open(&a, 0, -1, -1, 0), EOPNOTSUPP);
}
