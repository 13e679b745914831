/* SPDX-License-Identifier: MIT */
/*
 * The perf_event user ABI of Linux 6.12, written from its documented numbers and layouts
 * (perf_event_open(2) and the attribute sizes that the perf tool announces). Numbers and
 * layouts are fixed for ever: the asserts at the end guard them.
 */
#ifndef PERCH_UAPI_LINUX_PERF_EVENT_H
#define PERCH_UAPI_LINUX_PERF_EVENT_H

#include <stddef.h>
#include <stdint.h>

/* attr.type */
enum perf_type_id {
	PERF_TYPE_HARDWARE = 0,
	PERF_TYPE_SOFTWARE = 1,
	PERF_TYPE_TRACEPOINT = 2,
	PERF_TYPE_HW_CACHE = 3,
	PERF_TYPE_RAW = 4,
	PERF_TYPE_BREAKPOINT = 5,
	PERF_TYPE_MAX,
};

/* HARDWARE and HW_CACHE may name a PMU in config[63:32]. */
#define PERF_PMU_TYPE_SHIFT	32
#define PERF_HW_EVENT_MASK	0xffffffffu

enum perf_hw_id {
	PERF_COUNT_HW_CPU_CYCLES = 0,
	PERF_COUNT_HW_INSTRUCTIONS = 1,
	PERF_COUNT_HW_CACHE_REFERENCES = 2,
	PERF_COUNT_HW_CACHE_MISSES = 3,
	PERF_COUNT_HW_BRANCH_INSTRUCTIONS = 4,
	PERF_COUNT_HW_BRANCH_MISSES = 5,
	PERF_COUNT_HW_BUS_CYCLES = 6,
	PERF_COUNT_HW_STALLED_CYCLES_FRONTEND = 7,
	PERF_COUNT_HW_STALLED_CYCLES_BACKEND = 8,
	PERF_COUNT_HW_REF_CPU_CYCLES = 9,
	PERF_COUNT_HW_MAX,
};

/* HW_CACHE: config = cache | op << 8 | result << 16 */
enum perf_hw_cache_id {
	PERF_COUNT_HW_CACHE_L1D = 0,
	PERF_COUNT_HW_CACHE_L1I = 1,
	PERF_COUNT_HW_CACHE_LL = 2,
	PERF_COUNT_HW_CACHE_DTLB = 3,
	PERF_COUNT_HW_CACHE_ITLB = 4,
	PERF_COUNT_HW_CACHE_BPU = 5,
	PERF_COUNT_HW_CACHE_NODE = 6,
	PERF_COUNT_HW_CACHE_MAX,
};

enum perf_hw_cache_op_id {
	PERF_COUNT_HW_CACHE_OP_READ = 0,
	PERF_COUNT_HW_CACHE_OP_WRITE = 1,
	PERF_COUNT_HW_CACHE_OP_PREFETCH = 2,
	PERF_COUNT_HW_CACHE_OP_MAX,
};

enum perf_hw_cache_op_result_id {
	PERF_COUNT_HW_CACHE_RESULT_ACCESS = 0,
	PERF_COUNT_HW_CACHE_RESULT_MISS = 1,
	PERF_COUNT_HW_CACHE_RESULT_MAX,
};

enum perf_sw_ids {
	PERF_COUNT_SW_CPU_CLOCK = 0,
	PERF_COUNT_SW_TASK_CLOCK = 1,
	PERF_COUNT_SW_PAGE_FAULTS = 2,
	PERF_COUNT_SW_CONTEXT_SWITCHES = 3,
	PERF_COUNT_SW_CPU_MIGRATIONS = 4,
	PERF_COUNT_SW_PAGE_FAULTS_MIN = 5,
	PERF_COUNT_SW_PAGE_FAULTS_MAJ = 6,
	PERF_COUNT_SW_ALIGNMENT_FAULTS = 7,
	PERF_COUNT_SW_EMULATION_FAULTS = 8,
	PERF_COUNT_SW_DUMMY = 9,
	PERF_COUNT_SW_BPF_OUTPUT = 10,
	PERF_COUNT_SW_CGROUP_SWITCHES = 11,
	PERF_COUNT_SW_MAX,
};

/* attr.sample_type */
enum perf_event_sample_format {
	PERF_SAMPLE_IP = 1u << 0,
	PERF_SAMPLE_TID = 1u << 1,
	PERF_SAMPLE_TIME = 1u << 2,
	PERF_SAMPLE_ADDR = 1u << 3,
	PERF_SAMPLE_READ = 1u << 4,
	PERF_SAMPLE_CALLCHAIN = 1u << 5,
	PERF_SAMPLE_ID = 1u << 6,
	PERF_SAMPLE_CPU = 1u << 7,
	PERF_SAMPLE_PERIOD = 1u << 8,
	PERF_SAMPLE_STREAM_ID = 1u << 9,
	PERF_SAMPLE_RAW = 1u << 10,
	PERF_SAMPLE_BRANCH_STACK = 1u << 11,
	PERF_SAMPLE_REGS_USER = 1u << 12,
	PERF_SAMPLE_STACK_USER = 1u << 13,
	PERF_SAMPLE_WEIGHT = 1u << 14,
	PERF_SAMPLE_DATA_SRC = 1u << 15,
	PERF_SAMPLE_IDENTIFIER = 1u << 16,
	PERF_SAMPLE_TRANSACTION = 1u << 17,
	PERF_SAMPLE_REGS_INTR = 1u << 18,
	PERF_SAMPLE_PHYS_ADDR = 1u << 19,
	PERF_SAMPLE_AUX = 1u << 20,
	PERF_SAMPLE_CGROUP = 1u << 21,
	PERF_SAMPLE_DATA_PAGE_SIZE = 1u << 22,
	PERF_SAMPLE_CODE_PAGE_SIZE = 1u << 23,
	PERF_SAMPLE_WEIGHT_STRUCT = 1u << 24,
	PERF_SAMPLE_MAX = 1u << 25,
};

/* attr.branch_sample_type: privilege bits first, then filters */
#define PERF_SAMPLE_BRANCH_USER		(1u << 0)
#define PERF_SAMPLE_BRANCH_KERNEL	(1u << 1)
#define PERF_SAMPLE_BRANCH_HV		(1u << 2)
#define PERF_SAMPLE_BRANCH_PLM_ALL	7u
#define PERF_SAMPLE_BRANCH_MAX		(1u << 20)

/* First word of REGS_USER / REGS_INTR data */
#define PERF_SAMPLE_REGS_ABI_NONE	0
#define PERF_SAMPLE_REGS_ABI_32		1
#define PERF_SAMPLE_REGS_ABI_64		2

/*
 * attr.read_format. What read() returns, every item a u64:
 *   without GROUP: value [enabled] [running] [id] [lost]
 *   with GROUP:    nr [enabled] [running] then nr times { value [id] [lost] }
 */
enum perf_event_read_format {
	PERF_FORMAT_TOTAL_TIME_ENABLED = 1u << 0,
	PERF_FORMAT_TOTAL_TIME_RUNNING = 1u << 1,
	PERF_FORMAT_ID = 1u << 2,
	PERF_FORMAT_GROUP = 1u << 3,
	PERF_FORMAT_LOST = 1u << 4,
	PERF_FORMAT_MAX = 1u << 5,
};

#define PERF_ATTR_SIZE_VER0	64	/* up to config1 */
#define PERF_ATTR_SIZE_VER1	72	/* config2 */
#define PERF_ATTR_SIZE_VER2	80	/* branch_sample_type */
#define PERF_ATTR_SIZE_VER3	96	/* sample_regs_user, sample_stack_user, clockid */
#define PERF_ATTR_SIZE_VER4	104	/* sample_regs_intr */
#define PERF_ATTR_SIZE_VER5	112	/* aux_watermark, sample_max_stack */
#define PERF_ATTR_SIZE_VER6	120	/* aux_sample_size */
#define PERF_ATTR_SIZE_VER7	128	/* sig_data */
#define PERF_ATTR_SIZE_VER8	136	/* config3 */

struct perf_event_attr {
	uint32_t type;
	uint32_t size;
	uint64_t config;
	union {
		uint64_t sample_period;
		uint64_t sample_freq;
	};
	uint64_t sample_type;
	uint64_t read_format;

	uint64_t disabled : 1;
	uint64_t inherit : 1;
	uint64_t pinned : 1;
	uint64_t exclusive : 1;
	uint64_t exclude_user : 1;
	uint64_t exclude_kernel : 1;
	uint64_t exclude_hv : 1;
	uint64_t exclude_idle : 1;
	uint64_t mmap : 1;
	uint64_t comm : 1;
	uint64_t freq : 1;
	uint64_t inherit_stat : 1;
	uint64_t enable_on_exec : 1;
	uint64_t task : 1;
	uint64_t watermark : 1;
	uint64_t precise_ip : 2;
	uint64_t mmap_data : 1;
	uint64_t sample_id_all : 1;
	uint64_t exclude_host : 1;
	uint64_t exclude_guest : 1;
	uint64_t exclude_callchain_kernel : 1;
	uint64_t exclude_callchain_user : 1;
	uint64_t mmap2 : 1;
	uint64_t comm_exec : 1;
	uint64_t use_clockid : 1;
	uint64_t context_switch : 1;
	uint64_t write_backward : 1;
	uint64_t namespaces : 1;
	uint64_t ksymbol : 1;
	uint64_t bpf_event : 1;
	uint64_t aux_output : 1;
	uint64_t cgroup : 1;
	uint64_t text_poke : 1;
	uint64_t build_id : 1;
	uint64_t inherit_thread : 1;
	uint64_t remove_on_exec : 1;
	uint64_t sigtrap : 1;
	uint64_t __reserved_1 : 26;

	union {
		uint32_t wakeup_events;
		uint32_t wakeup_watermark;
	};
	uint32_t bp_type;
	union {
		uint64_t bp_addr;
		uint64_t kprobe_func;
		uint64_t uprobe_path;
		uint64_t config1;
	};
	union {
		uint64_t bp_len;
		uint64_t kprobe_addr;
		uint64_t probe_offset;
		uint64_t config2;
	};
	uint64_t branch_sample_type;
	uint64_t sample_regs_user;
	uint32_t sample_stack_user;
	int32_t clockid;
	uint64_t sample_regs_intr;
	uint32_t aux_watermark;
	uint16_t sample_max_stack;
	uint16_t __reserved_2;
	uint32_t aux_sample_size;
	uint32_t aux_action;	/* PERF_AUX_x: Linux 6.13, and seen on 6.12.117 */
	uint64_t sig_data;
	uint64_t config3;
};

/* ioctl numbers: _IO/_IOW/_IOR('$', nr, type) in the generic encoding */
#define PERF_EVENT_IOC_ENABLE			0x2400u
#define PERF_EVENT_IOC_DISABLE			0x2401u
#define PERF_EVENT_IOC_REFRESH			0x2402u
#define PERF_EVENT_IOC_RESET			0x2403u
#define PERF_EVENT_IOC_PERIOD			0x40082404u
#define PERF_EVENT_IOC_SET_OUTPUT		0x2405u
#define PERF_EVENT_IOC_SET_FILTER		0x40082406u
#define PERF_EVENT_IOC_ID			0x80082407u
#define PERF_EVENT_IOC_SET_BPF			0x40042408u
#define PERF_EVENT_IOC_PAUSE_OUTPUT		0x40042409u
#define PERF_EVENT_IOC_QUERY_BPF		0xc008240au
#define PERF_EVENT_IOC_MODIFY_ATTRIBUTES	0x4008240bu
#define PERF_IOC_FLAG_GROUP			1u

/* perf_event_open() flags */
#define PERF_FLAG_FD_NO_GROUP	(1ul << 0)
#define PERF_FLAG_FD_OUTPUT	(1ul << 1)
#define PERF_FLAG_PID_CGROUP	(1ul << 2)
#define PERF_FLAG_FD_CLOEXEC	(1ul << 3)

/* First page of a mapping. The user writes data_tail and aux_tail only. */
struct perf_event_mmap_page {
	uint32_t version;
	uint32_t compat_version;
	uint32_t lock;			/* seqlock: odd while being written */
	uint32_t index;			/* 0: not on a counter, else counter + 1 */
	int64_t offset;			/* add to the counter's value */
	uint64_t time_enabled;
	uint64_t time_running;
	union {
		uint64_t capabilities;
		struct {
			uint64_t cap_bit0 : 1;
			uint64_t cap_bit0_is_deprecated : 1;
			uint64_t cap_user_rdpmc : 1;
			uint64_t cap_user_time : 1;
			uint64_t cap_user_time_zero : 1;
			uint64_t cap_user_time_short : 1;
			uint64_t cap_____res : 58;
		};
	};
	uint16_t pmc_width;
	uint16_t time_shift;
	uint32_t time_mult;
	uint64_t time_offset;
	uint64_t time_zero;
	uint32_t size;			/* of this header up to __reserved */
	uint32_t __reserved_1;
	uint64_t time_cycles;
	uint64_t time_mask;
	uint8_t __reserved[116 * 8];	/* fills up to 1 KiB */
	uint64_t data_head;
	uint64_t data_tail;
	uint64_t data_offset;
	uint64_t data_size;
	uint64_t aux_head;
	uint64_t aux_tail;
	uint64_t aux_offset;
	uint64_t aux_size;
};

struct perf_event_header {
	uint32_t type;
	uint16_t misc;
	uint16_t size;
};

/* header.misc */
#define PERF_RECORD_MISC_CPUMODE_MASK		7u
#define PERF_RECORD_MISC_CPUMODE_UNKNOWN	0u
#define PERF_RECORD_MISC_KERNEL			1u
#define PERF_RECORD_MISC_USER			2u
#define PERF_RECORD_MISC_HYPERVISOR		3u
#define PERF_RECORD_MISC_GUEST_KERNEL		4u
#define PERF_RECORD_MISC_GUEST_USER		5u
#define PERF_RECORD_MISC_PROC_MAP_PARSE_TIMEOUT	(1u << 12)
#define PERF_RECORD_MISC_MMAP_DATA		(1u << 13)
#define PERF_RECORD_MISC_COMM_EXEC		(1u << 13)
#define PERF_RECORD_MISC_FORK_EXEC		(1u << 13)
#define PERF_RECORD_MISC_SWITCH_OUT		(1u << 13)
#define PERF_RECORD_MISC_EXACT_IP		(1u << 14)
#define PERF_RECORD_MISC_SWITCH_OUT_PREEMPT	(1u << 14)
#define PERF_RECORD_MISC_MMAP_BUILD_ID		(1u << 14)
#define PERF_RECORD_MISC_EXT_RESERVED		(1u << 15)

/* header.type */
enum perf_event_type {
	PERF_RECORD_MMAP = 1,
	PERF_RECORD_LOST = 2,
	PERF_RECORD_COMM = 3,
	PERF_RECORD_EXIT = 4,
	PERF_RECORD_THROTTLE = 5,
	PERF_RECORD_UNTHROTTLE = 6,
	PERF_RECORD_FORK = 7,
	PERF_RECORD_READ = 8,
	PERF_RECORD_SAMPLE = 9,
	PERF_RECORD_MMAP2 = 10,
	PERF_RECORD_AUX = 11,
	PERF_RECORD_ITRACE_START = 12,
	PERF_RECORD_LOST_SAMPLES = 13,
	PERF_RECORD_SWITCH = 14,
	PERF_RECORD_SWITCH_CPU_WIDE = 15,
	PERF_RECORD_NAMESPACES = 16,
	PERF_RECORD_KSYMBOL = 17,
	PERF_RECORD_BPF_EVENT = 18,
	PERF_RECORD_CGROUP = 19,
	PERF_RECORD_TEXT_POKE = 20,
	PERF_RECORD_AUX_OUTPUT_HW_ID = 21,
	PERF_RECORD_MAX,
};

/* Markers inside a callchain */
enum perf_callchain_context {
	PERF_CONTEXT_HV = -32,
	PERF_CONTEXT_KERNEL = -128,
	PERF_CONTEXT_USER = -512,
	PERF_CONTEXT_GUEST = -2048,
	PERF_CONTEXT_GUEST_KERNEL = -2176,
	PERF_CONTEXT_GUEST_USER = -2560,
	PERF_CONTEXT_MAX = -4095,
};
#define PERF_MAX_STACK_DEPTH		127
#define PERF_MAX_CONTEXTS_PER_STACK	8

#define PERF_ABI_AT(type, member, off) \
	_Static_assert(offsetof(struct type, member) == (off), #type "." #member)
_Static_assert(sizeof(struct perf_event_attr) == PERF_ATTR_SIZE_VER8, "attr size");
PERF_ABI_AT(perf_event_attr, sample_period, 16);
PERF_ABI_AT(perf_event_attr, read_format, 32);
PERF_ABI_AT(perf_event_attr, wakeup_events, 48);
PERF_ABI_AT(perf_event_attr, config1, 56);
PERF_ABI_AT(perf_event_attr, config2, PERF_ATTR_SIZE_VER0);
PERF_ABI_AT(perf_event_attr, branch_sample_type, PERF_ATTR_SIZE_VER1);
PERF_ABI_AT(perf_event_attr, sample_regs_user, PERF_ATTR_SIZE_VER2);
PERF_ABI_AT(perf_event_attr, clockid, 92);
PERF_ABI_AT(perf_event_attr, sample_regs_intr, PERF_ATTR_SIZE_VER3);
PERF_ABI_AT(perf_event_attr, aux_watermark, PERF_ATTR_SIZE_VER4);
PERF_ABI_AT(perf_event_attr, sample_max_stack, 108);
PERF_ABI_AT(perf_event_attr, aux_sample_size, PERF_ATTR_SIZE_VER5);
#define PERF_AUX_START_PAUSED	1u
#define PERF_AUX_PAUSE		2u
#define PERF_AUX_RESUME		4u
#define PERF_AUX_ALL		7u
PERF_ABI_AT(perf_event_attr, sig_data, PERF_ATTR_SIZE_VER6);
PERF_ABI_AT(perf_event_attr, config3, PERF_ATTR_SIZE_VER7);
PERF_ABI_AT(perf_event_mmap_page, index, 12);
PERF_ABI_AT(perf_event_mmap_page, capabilities, 40);
PERF_ABI_AT(perf_event_mmap_page, pmc_width, 48);
PERF_ABI_AT(perf_event_mmap_page, time_zero, 64);
PERF_ABI_AT(perf_event_mmap_page, size, 72);
PERF_ABI_AT(perf_event_mmap_page, time_cycles, 80);
PERF_ABI_AT(perf_event_mmap_page, __reserved, 96);
PERF_ABI_AT(perf_event_mmap_page, data_head, 1024);
PERF_ABI_AT(perf_event_mmap_page, aux_head, 1056);
_Static_assert(sizeof(struct perf_event_mmap_page) == 1088, "mmap page");
_Static_assert(sizeof(struct perf_event_header) == 8, "record header");
#undef PERF_ABI_AT

#endif
