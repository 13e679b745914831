/* SPDX-License-Identifier: MIT */
/* perf_event_attr: sizes, tails, reserved bits and flags. */
#include "ptest.h"

/* An attr in a page of its own, followed by zeros. */
static unsigned char buf[8192];

static int open_size(u32 size, int tail_at)
{
	struct perf_event_attr a = attr_of(TASK_CLOCK);

	memset(buf, 0, sizeof(buf));
	memcpy(buf, &a, sizeof(a) < size && size ? sizeof(a) : size ? size : 64);
	((struct perf_event_attr *)buf)->size = size;
	if (tail_at >= 0)
		buf[tail_at] = 1;
	int fd = perf_open((void *)buf, 0, -1, -1, 0);

	if (fd >= 0)
		close(fd);
	return fd < 0 ? -errno : 0;
}

#define KERNEL_SIZE 136		/* 6.12 */
static u32 size_now(void)
{
	return ((struct perf_event_attr *)buf)->size;
}

TEST("attr/sizes", "attr.size", "PB-37")
{
	static const u32 good[] = { 0, 64, 72, 80, 96, 104, 112, 120, 128, 136, 144, 4096 };
	static const u32 bad[] = { 1, 8, 63, 4097, 8192, 0xffffffff };

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		EXPECT(open_size(good[i], -1) == 0, "size %u: error %d, right is success", good[i],
		       -open_size(good[i], -1));
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		EXPECT(open_size(bad[i], -1) == -E2BIG, "size %u: %d, right is E2BIG", bad[i],
		       open_size(bad[i], -1));
		EXPECT_EQ(size_now(), KERNEL_SIZE);
	}
}

TEST("attr/tail", "attr.size", "PB-37")
{
	EXPECT_EQ(open_size(144, 140), -E2BIG);
	EXPECT_EQ(size_now(), KERNEL_SIZE);
	EXPECT_EQ(open_size(4096, 4095), -E2BIG);
	EXPECT_EQ(open_size(136, 140), 0);	/* behind the given size: not looked at */
	EXPECT_EQ(open_size(64, 72), 0);
}

TEST("attr/fault", "attr.size", "perf_event_open(2)")
{
	EXPECT_ERR(perf_open((void *)1, 0, -1, -1, 0), EFAULT);
	EXPECT_ERR(perf_open(NULL, 0, -1, -1, 0), EFAULT);
}

TEST("attr/reserved", "attr.sample_type attr.read_format attr.__reserved_1 attr.__reserved_2", "perf_event_open(2)")
{
	struct perf_event_attr a = attr_of(TASK_CLOCK);

	a.sample_type = 1ull << 40;
	EXPECT_ERR(perf_open(&a, 0, -1, -1, 0), EINVAL);
	a = attr_of(TASK_CLOCK);
	a.read_format = 1ull << 10;
	EXPECT_ERR(perf_open(&a, 0, -1, -1, 0), EINVAL);
	a = attr_of(TASK_CLOCK);
	a.__reserved_1 = 1;
	EXPECT_ERR(perf_open(&a, 0, -1, -1, 0), EINVAL);
	a = attr_of(TASK_CLOCK);
	a.__reserved_2 = 1;
	EXPECT_ERR(perf_open(&a, 0, -1, -1, 0), EINVAL);
	a = attr_of(TASK_CLOCK);
	a.remove_on_exec = a.enable_on_exec = a.disabled = 1;
	EXPECT_ERR(perf_open(&a, 0, -1, -1, 0), EINVAL);
}

TEST("attr/perf_defaults", "attr.ksymbol attr.bpf_event attr.comm_exec attr.precise_ip attr.mmap2", "issue 3")
{
	struct perf_event_attr a = attr_of(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES);

	a.disabled = a.inherit = a.enable_on_exec = a.mmap = a.mmap2 = a.comm = a.comm_exec = 1;
	a.task = a.sample_id_all = a.ksymbol = a.bpf_event = a.exclude_guest = a.freq = 1;
	a.sample_freq = 4000;
	a.build_id = a.namespaces = a.context_switch = 1;
	a.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_PERIOD;
	for (int p = 0; p <= 3; p++) {
		a.precise_ip = (unsigned)p & 3;
		int fd = perf_open(&a, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);

		EXPECT(fd >= 0, "precise_ip %d: %s", p, strerror(errno));
		close(fd);
	}
}

/* The CPU event behind each generic one, by its name in sysfs; branches have two. */
static const char *const generic[PERF_COUNT_HW_MAX] = {
	"cpu_cycles", "inst_retired", "l1d_cache", "l1d_cache_refill", "br_retired", "br_mis_pred",
	"bus_cycles", "stall_frontend", "stall_backend", "none",
};
static const char *const generic2[PERF_COUNT_HW_MAX] = { [PERF_COUNT_HW_BRANCH_INSTRUCTIONS] = "pc_write_retired" };

static bool cpu_lists(const char *event)
{
	char name[64];

	snprintf(name, sizeof(name), "events/%s", event);
	return access(pmu_file(name), F_OK) == 0;
}

TEST("attr/types", "attr.type attr.config type.HARDWARE type.HW_CACHE type.RAW", "PB-39")
{
	struct perf_event_attr a;

	for (u64 c = 0; c < PERF_COUNT_HW_MAX; c++) {
		a = attr_of(PERF_TYPE_HARDWARE, c);
		if (cpu_lists(generic[c]) || (generic2[c] && cpu_lists(generic2[c])))
			EXPECT(perf_open(&a, 0, -1, -1, 0) >= 0, "generic event %d: %s", (int)c, strerror(errno));
		else
			EXPECT_ERR(perf_open(&a, 0, -1, -1, 0), ENOENT);
	}
	a = attr_of(PERF_TYPE_HARDWARE, PERF_COUNT_HW_MAX);
	EXPECT_ERR(perf_open(&a, 0, -1, -1, 0), EINVAL);
	a = attr_of(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_MAX);
	EXPECT_ERR(perf_open(&a, 0, -1, -1, 0), ENOENT);
	a = attr_of(PERF_TYPE_HW_CACHE, PERF_COUNT_HW_CACHE_ITLB);	/* no core has one of its own */
	EXPECT_ERR(perf_open(&a, 0, -1, -1, 0), ENOENT);
	a = attr_of(PERF_TYPE_HW_CACHE, 0x10001);	/* L1I, op read, result miss */
	EXPECT_ERR(perf_open(&a, 0, -1, -1, 0), ENOENT);
	a = attr_of(PERF_TYPE_HW_CACHE, 0xff);
	EXPECT_ERR(perf_open(&a, 0, -1, -1, 0), EINVAL);
	a = attr_of(999, 0);
	EXPECT_ERR(perf_open(&a, 0, -1, -1, 0), ENOENT);
	EXPECT(has_event(PERF_TYPE_RAW, 0x8), "raw 0x8 must open, the CPU's list is not asked");
	EXPECT(has_event(PERF_TYPE_RAW, 0x3f), "raw 0x3f must open");
	a = attr_of(PERF_TYPE_RAW, 0x1e);
	EXPECT_ERR(perf_open(&a, 0, -1, -1, 0), EINVAL);	/* CHAIN */
}

TEST("attr/raw_unknown_reads_zero", "attr.config", "PB-39")
{
	int fd = open_self(PERF_TYPE_RAW, 0x3f);

	spin_ms(5);
	EXPECT_EQ(read_u64(fd), 0);
}

TEST("attr/extended_type", "attr.config", "sysfs type")
{
	long type = read_long(pmu_file("type"));

	if (type < 0)
		test_skip("no PMU in sysfs");
	EXPECT(has_event((u32)type, 0x11), "the PMU's own type must open");
	EXPECT(has_event(PERF_TYPE_HARDWARE, (u64)type << 32 | PERF_COUNT_HW_CPU_CYCLES),
	       "cycles of the named PMU must open");
	/* A type that no PMU has is taken as if none were named; one without hardware events is refused. */
	EXPECT(has_event(PERF_TYPE_HARDWARE, 0xfffull << 32), "unknown extended type: cycles must open");
	struct perf_event_attr a = attr_of(PERF_TYPE_HARDWARE, 1ull << 32);

	EXPECT_ERR(perf_open(&a, 0, -1, -1, 0), ENOENT);
}

TEST("attr/software_ids", "attr.config type.SOFTWARE sw.ALIGNMENT_FAULTS sw.EMULATION_FAULTS", "issue 3")
{
	static const char *const name[] = { "cpu-clock", "task-clock", "faults", "cs", "migrations", "min-flt",
		"maj-flt", "alignment", "emulation", "dummy", "bpf-output", "cgroup-switches" };

	for (u64 i = 0; i < 12; i++)
		EXPECT(has_event(PERF_TYPE_SOFTWARE, i), "%s must open", name[i]);
	/* The CPU does both itself: nothing to count. */
	for (u64 i = 7; i < 9; i++) {
		int fd = open_self(PERF_TYPE_SOFTWARE, i);

		spin_ms(1);
		EXPECT_EQ(read_u64(fd), 0);
	}
}
