/* SPDX-License-Identifier: MIT */
/* Parts of the ABI that come as long lists, each entry by itself: flags, branch types, event numbers, records. */
#include "ring.h"

#include <stddef.h>

#define FLAGS(a) ((u64 *)((char *)(a) + offsetof(struct perf_event_attr, read_format) + 8))

/* Each flag of the attribute alone, on a software and on a hardware event: 0 or the errno. */
static const struct { const char *name; int software, hardware; } flags[] = {
	{ "disabled", 0, 0 }, { "inherit", 0, 0 }, { "pinned", 0, 0 }, { "exclusive", 0, 0 }, { "exclude_user", 0, 0 },
	{ "exclude_kernel", 0, 0 }, { "exclude_hv", 0, 0 }, { "exclude_idle", 0, EOPNOTSUPP }, { "mmap", 0, 0 },
	{ "comm", 0, 0 }, { "freq", 0, 0 }, { "inherit_stat", 0, 0 }, { "enable_on_exec", 0, 0 }, { "task", 0, 0 },
	{ "watermark", 0, 0 }, { "precise_ip 1", 0, 0 }, { "precise_ip 2", 0, 0 }, { "mmap_data", 0, 0 },
	{ "sample_id_all", 0, 0 }, { "exclude_host", 0, 0 }, { "exclude_guest", 0, 0 }, { "exclude_callchain_kernel", 0, 0 },
	{ "exclude_callchain_user", 0, 0 }, { "mmap2", 0, 0 }, { "comm_exec", 0, 0 }, { "use_clockid", 0, EINVAL },
	{ "context_switch", 0, 0 }, { "write_backward", 0, 0 }, { "namespaces", 0, 0 }, { "ksymbol", 0, 0 },
	{ "bpf_event", 0, 0 }, { "aux_output", EOPNOTSUPP, EOPNOTSUPP }, { "cgroup", 0, 0 }, { "text_poke", 0, 0 },
	{ "build_id", 0, 0 }, { "inherit_thread", EINVAL, EINVAL }, { "remove_on_exec", 0, 0 }, { "sigtrap", EINVAL, EINVAL },
	{ "__reserved_1", EINVAL, EINVAL },
};

static void flag_is(struct perf_event_attr a, unsigned bit, int right, const char *kind)
{
	int fd, got;

	*FLAGS(&a) |= 1ull << bit;
	fd = perf_open(&a, 0, -1, -1, 0);
	got = fd < 0 ? errno : 0;
	EXPECT(got == right, "%s on a %s event: errno %d, right is %d", flags[bit].name, kind, got, right);
	if (fd >= 0)
		close(fd);
}

TEST("attr/every_flag", "attr.disabled attr.inherit attr.pinned attr.exclusive attr.exclude_user attr.exclude_kernel "
     "attr.exclude_hv attr.exclude_idle attr.mmap attr.comm attr.freq attr.inherit_stat attr.enable_on_exec attr.task "
     "attr.watermark attr.precise_ip attr.mmap_data attr.sample_id_all attr.exclude_host attr.exclude_guest "
     "attr.exclude_callchain_kernel attr.exclude_callchain_user attr.mmap2 attr.comm_exec attr.use_clockid "
     "attr.context_switch attr.write_backward attr.namespaces attr.ksymbol attr.bpf_event attr.aux_output attr.cgroup "
     "attr.text_poke attr.build_id attr.inherit_thread attr.remove_on_exec attr.sigtrap attr.__reserved_1", "Linux 6.12")
{
	for (unsigned bit = 0; bit < sizeof(flags) / sizeof(flags[0]); bit++) {
		flag_is(attr_of(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY), bit, flags[bit].software, "software");
		flag_is(attr_of(RAW_CYCLES), bit, flags[bit].hardware, "hardware");
	}
}

/* No CPU here records branches: the mask is checked, then the PMU says so. */
TEST("attr/branch_types", "branch.USER branch.KERNEL branch.HV branch.ANY branch.ANY_CALL branch.ANY_RETURN branch.IND_CALL "
     "branch.ABORT_TX branch.IN_TX branch.NO_TX branch.COND branch.CALL_STACK branch.IND_JUMP branch.CALL branch.NO_FLAGS "
     "branch.NO_CYCLES branch.TYPE_SAVE branch.HW_INDEX branch.PRIV_SAVE branch.COUNTERS", "Linux 6.12 on a cortex-a72")
{
	struct perf_event_attr a = sampling(RAW_CYCLES, 1000000, PERF_SAMPLE_BRANCH_STACK);

	for (unsigned bit = 0; bit < 22; bit++) {
		a.branch_sample_type = 1ull << bit;
		EXPECT_ERR(perf_open(&a, 0, -1, -1, 0), bit < 3 || bit > 19 ? EINVAL : EOPNOTSUPP);
		if (bit < 3) {
			a.branch_sample_type |= PERF_SAMPLE_BRANCH_ANY;
			EXPECT_ERR(perf_open(&a, 0, -1, -1, 0), EOPNOTSUPP);
		}
	}
	a.branch_sample_type = 0;
	EXPECT_ERR(perf_open(&a, 0, -1, -1, 0), EINVAL);
}

TEST("attr/hardware_ids", "hw.CPU_CYCLES hw.INSTRUCTIONS hw.CACHE_REFERENCES hw.CACHE_MISSES hw.BRANCH_INSTRUCTIONS "
     "hw.BRANCH_MISSES hw.BUS_CYCLES hw.STALLED_CYCLES_FRONTEND hw.STALLED_CYCLES_BACKEND hw.REF_CPU_CYCLES", "PB-39")
{
	for (u64 id = 0; id < PERF_COUNT_HW_MAX; id++) {
		struct perf_event_attr a = attr_of(PERF_TYPE_HARDWARE, id);
		int fd = perf_open(&a, 0, -1, -1, 0);

		EXPECT(fd >= 0 || errno == ENOENT, "event %d: %s, right is to open or ENOENT", (int)id, strerror(errno));
		if (fd < 0)
			continue;
		/* What the CPU has counts, or is an event that this program does not cause. */
		spin_ms(2);
		if (id == PERF_COUNT_HW_CPU_CYCLES || id == PERF_COUNT_HW_INSTRUCTIONS)
			EXPECT(read_u64(fd) > 1000, "event %d counts nothing", (int)id);
		close(fd);
	}
}

TEST("attr/cache_ids", "cache.L1D cache.L1I cache.LL cache.DTLB cache.ITLB cache.BPU cache.NODE", "PB-39")
{
	for (u64 id = 0; id < 8; id++)
		for (u64 op = 0; op < 4; op++)
			for (u64 result = 0; result < 3; result++) {
				struct perf_event_attr a = attr_of(PERF_TYPE_HW_CACHE, id | op << 8 | result << 16);
				int fd = perf_open(&a, 0, -1, -1, 0);

				if (id > 6 || op > 2 || result > 1)
					EXPECT(fd < 0 && errno == EINVAL, "cache %#lx: errno %d, right is EINVAL",
					       (long)a.config, errno);
				else
					EXPECT(fd >= 0 || errno == ENOENT, "cache %#lx: %s", (long)a.config, strerror(errno));
				if (fd >= 0)
					close(fd);
			}
}

TEST("attr/absent_types", "type.TRACEPOINT type.BREAKPOINT", "CAVEATS.md")
{
	/* No such tracepoint, no breakpoint of length 0: EINVAL where there are others, ENOENT where there are none. */
	for (u32 type = PERF_TYPE_TRACEPOINT; type <= PERF_TYPE_BREAKPOINT; type += 3) {
		struct perf_event_attr a = attr_of(type, ~0u);
		int fd = perf_open(&a, 0, -1, -1, 0);

		EXPECT(fd < 0 && (errno == ENOENT || errno == EINVAL), "type %u: errno %d", type, errno);
	}
}

TEST("attr/ignored", "attr.bp_type attr.bp_addr attr.bp_len attr.kprobe_func attr.kprobe_addr attr.uprobe_path "
     "attr.probe_offset attr.config2 attr.config3 attr.sample_regs_user attr.sample_stack_user attr.sample_regs_intr "
     "attr.branch_sample_type attr.sig_data attr.wakeup_events attr.wakeup_watermark", "Linux 6.12")
{
	/* Fields of which a software event has no use are not looked at. */
	struct perf_event_attr a = attr_of(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY);

	a.bp_type = 7;
	a.bp_addr = a.bp_len = 0x123456789;
	a.sample_regs_user = 0xff;
	a.sample_regs_intr = 0xff;
	a.sample_stack_user = 12345;
	a.branch_sample_type = 1;
	a.sig_data = 5;
	a.wakeup_events = 100;
	EXPECT(perf_open(&a, 0, -1, -1, 0) >= 0, "%s", strerror(errno));
	a.sample_regs_user = 1ull << 46;	/* VG: only a PMU that samples it takes the mask at all */
	EXPECT_ERR(perf_open(&a, 0, -1, -1, 0), EOPNOTSUPP);
}

/* The word behind aux_sample_size; headers before Linux 6.13 call it reserved. */
TEST("attr/aux_action", "attr.aux_action", "Linux 6.12.117")
{
	static const int right[] = { 0, EOPNOTSUPP, EINVAL, EOPNOTSUPP, EINVAL, EOPNOTSUPP, EINVAL, EINVAL, EINVAL };
	struct perf_event_attr a = attr_of(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY);
	u32 *action = (u32 *)((char *)&a + offsetof(struct perf_event_attr, aux_sample_size) + 4);

	for (u32 bits = 0; bits < 9; bits++) {
		*action = bits;
		if (right[bits])
			EXPECT_ERR(perf_open(&a, 0, -1, -1, 0), right[bits]);
		else
			EXPECT(perf_open(&a, 0, -1, -1, 0) >= 0, "%s", strerror(errno));
	}
}

/* A program that execs, forks, maps and is counted: these records never come, whatever is asked for. */
TEST("records/absent", "record.AUX record.ITRACE_START record.LOST_SAMPLES record.KSYMBOL record.BPF_EVENT record.CGROUP "
     "record.TEXT_POKE record.AUX_OUTPUT_HW_ID", "no AUX data, modules, BPF, cgroups made")
{
	struct perf_event_attr a = sampling(CPU_CLOCK, 1000000, PERF_SAMPLE_IP);
	static const u32 never = 1u << 11 | 1u << 12 | 1u << 13 | 1u << 17 | 1u << 18 | 1u << 19 | 1u << 20 | 1u << 21;
	static union record rec;
	struct ring r;
	int fd;

	a.mmap = a.mmap2 = a.mmap_data = a.comm = a.task = a.context_switch = a.namespaces = 1;
	a.ksymbol = a.bpf_event = a.cgroup = a.text_poke = 1;
	fd = open_attr(&a);
	r = ring_map(fd, 16, PROT_READ | PROT_WRITE);
	ioc(fd, PERF_EVENT_IOC_ENABLE, 0);
	spin_ms(5);
	yields(5);
	ioc(fd, PERF_EVENT_IOC_DISABLE, 0);
	unsigned n = 0;

	while (ring_next(&r, &rec)) {
		EXPECT(rec.h.type < 22 && !(1u << rec.h.type & never), "a record of type %u", rec.h.type);
		n++;
	}
	EXPECT(n > 0, "no records at all");
}
