/* SPDX-License-Identifier: MIT */
/*
 * Events of PMUv3. The CPU says in PMCEID0/1_EL0 which of the common events (0x00-0x3f and
 * 0x4000-0x403f) it implements; a generic perf event whose number is missing there does not exist, so
 * that perf prints <not supported> instead of counting zeros. Raw numbers are not checked: CPUs have
 * events of their own beyond the common ones.
 *
 * Numbers and names: Arm ARM D13.12 "PMU events and event numbers"; the choice for each generic event
 * is the one Linux documents in its event tables (observed through perf list and perf stat -v).
 */
#include "events.h"
#include "regs.h"

#include <perch/errno.h>
#include <stdio.h>

struct named_event {
	u16 number;
	const char *name;
};

static const struct named_event common_events[] = {
	{ 0x01, "l1i_cache_refill" }, { 0x02, "l1i_tlb_refill" }, { 0x03, "l1d_cache_refill" },
	{ 0x04, "l1d_cache" }, { 0x05, "l1d_tlb_refill" }, { 0x06, "ld_retired" },
	{ 0x07, "st_retired" }, { 0x08, "inst_retired" }, { 0x09, "exc_taken" },
	{ 0x0a, "exc_return" }, { 0x0b, "cid_write_retired" }, { 0x0c, "pc_write_retired" },
	{ 0x0d, "br_immed_retired" }, { 0x0e, "br_return_retired" },
	{ 0x0f, "unaligned_ldst_retired" }, { 0x10, "br_mis_pred" }, { 0x11, "cpu_cycles" },
	{ 0x12, "br_pred" }, { 0x13, "mem_access" }, { 0x14, "l1i_cache" },
	{ 0x15, "l1d_cache_wb" }, { 0x16, "l2d_cache" }, { 0x17, "l2d_cache_refill" },
	{ 0x18, "l2d_cache_wb" }, { 0x19, "bus_access" }, { 0x1a, "memory_error" },
	{ 0x1b, "inst_spec" }, { 0x1c, "ttbr_write_retired" }, { 0x1d, "bus_cycles" },
	{ 0x1f, "l1d_cache_allocate" }, { 0x20, "l2d_cache_allocate" }, { 0x21, "br_retired" },
	{ 0x22, "br_mis_pred_retired" }, { 0x23, "stall_frontend" }, { 0x24, "stall_backend" },
	{ 0x25, "l1d_tlb" }, { 0x26, "l1i_tlb" }, { 0x27, "l2i_cache" },
	{ 0x28, "l2i_cache_refill" }, { 0x29, "l3d_cache_allocate" }, { 0x2a, "l3d_cache_refill" },
	{ 0x2b, "l3d_cache" }, { 0x2c, "l3d_cache_wb" }, { 0x2d, "l2d_tlb_refill" },
	{ 0x2e, "l2i_tlb_refill" }, { 0x2f, "l2d_tlb" }, { 0x30, "l2i_tlb" },
	{ 0x31, "remote_access" }, { 0x32, "ll_cache" }, { 0x33, "ll_cache_miss" },
	{ 0x34, "dtlb_walk" }, { 0x35, "itlb_walk" }, { 0x36, "ll_cache_rd" },
	{ 0x37, "ll_cache_miss_rd" }, { 0x38, "remote_access_rd" },
	{ 0x39, "l1d_cache_lmiss_rd" }, { 0x3a, "op_retired" }, { 0x3b, "op_spec" },
	{ 0x3c, "stall" }, { 0x3d, "stall_slot_backend" }, { 0x3e, "stall_slot_frontend" },
	{ 0x3f, "stall_slot" },
	{ 0x4000, "sample_pop" }, { 0x4001, "sample_feed" }, { 0x4002, "sample_filtrate" },
	{ 0x4003, "sample_collision" }, { 0x4004, "cnt_cycles" }, { 0x4005, "stall_backend_mem" },
	{ 0x4006, "l1i_cache_lmiss" }, { 0x4009, "l2d_cache_lmiss_rd" },
	{ 0x400a, "l2i_cache_lmiss" }, { 0x400b, "l3d_cache_lmiss_rd" }, { 0x400c, "trb_wrap" },
	{ 0x4010, "trcextout0" }, { 0x4011, "trcextout1" }, { 0x4012, "trcextout2" },
	{ 0x4013, "trcextout3" }, { 0x4018, "cti_trigout4" }, { 0x4019, "cti_trigout5" },
	{ 0x401a, "cti_trigout6" }, { 0x401b, "cti_trigout7" }, { 0x4020, "ldst_align_lat" },
	{ 0x4021, "ld_align_lat" }, { 0x4022, "st_align_lat" }, { 0x4024, "mem_access_checked" },
	{ 0x4025, "mem_access_checked_rd" }, { 0x4026, "mem_access_checked_wr" },
};

#define NONE 0xffff
static const u16 hardware_events[PERF_COUNT_HW_MAX] = {
	[PERF_COUNT_HW_CPU_CYCLES] = EVT_CPU_CYCLES,
	[PERF_COUNT_HW_INSTRUCTIONS] = EVT_INST_RETIRED,
	[PERF_COUNT_HW_CACHE_REFERENCES] = 0x04,
	[PERF_COUNT_HW_CACHE_MISSES] = 0x03,
	[PERF_COUNT_HW_BRANCH_INSTRUCTIONS] = 0x21,	/* else 0x0c, see map_hardware */
	[PERF_COUNT_HW_BRANCH_MISSES] = 0x10,
	[PERF_COUNT_HW_BUS_CYCLES] = 0x1d,
	[PERF_COUNT_HW_STALLED_CYCLES_FRONTEND] = 0x23,
	[PERF_COUNT_HW_STALLED_CYCLES_BACKEND] = 0x24,
	[PERF_COUNT_HW_REF_CPU_CYCLES] = NONE,
};

/* Reads only: accesses and misses. Writes and prefetches have no common event; see cores.c. */
static const u16 cache_read_events[PERF_COUNT_HW_CACHE_MAX][PERF_COUNT_HW_CACHE_RESULT_MAX] = {
	[PERF_COUNT_HW_CACHE_L1D] = { 0x04, 0x03 },
	[PERF_COUNT_HW_CACHE_L1I] = { 0x14, 0x01 },
	[PERF_COUNT_HW_CACHE_LL] = { 0x36, 0x37 },
	[PERF_COUNT_HW_CACHE_DTLB] = { 0x25, 0x05 },
	[PERF_COUNT_HW_CACHE_ITLB] = { 0x26, 0x02 },
	[PERF_COUNT_HW_CACHE_BPU] = { 0x12, 0x10 },
	[PERF_COUNT_HW_CACHE_NODE] = { NONE, NONE },
};

static u64 common_mask, extended_mask;	/* bit n: event n, event 0x4000 + n; set at boot */
static u32 mmir;			/* PMMIR_EL1 */

#define MAX_ATTRS (ARRAY_SIZE(common_events) + 16)
static struct pmu_attr attrs[MAX_ATTRS];
static u32 nr_attrs;
static char event_text[ARRAY_SIZE(common_events)][16];
static char caps_text[4][16];

bool pmu_event_exists(u32 event)
{
	if (event < 64)
		return common_mask & BIT(event);
	return event >= 0x4000 && event < 0x4040 && (extended_mask & BIT(event - 0x4000));
}

static int map_hardware(u64 config, struct perf_why *why)
{
	u32 event;

	if (config >= PERF_COUNT_HW_MAX)
		return perf_refuse(why, -EINVAL, "config", config, "no such generic event");
	event = hardware_events[config];
	if (config == PERF_COUNT_HW_BRANCH_INSTRUCTIONS && !pmu_event_exists(event))
		event = 0x0c;	/* PC_WRITE_RETIRED: older CPUs count branches so */
	if (!pmu_event_exists(event))
		return perf_refuse(why, -ENOENT, "config", config, "the CPU does not implement it");
	return (int)event;
}

static int map_cache(u64 config, struct perf_why *why)
{
	u32 cache = config & 0xff, op = config >> 8 & 0xff, result = config >> 16 & 0xff;
	int event;

	if (cache >= PERF_COUNT_HW_CACHE_MAX || op >= PERF_COUNT_HW_CACHE_OP_MAX ||
	    result >= PERF_COUNT_HW_CACHE_RESULT_MAX)
		return perf_refuse(why, -EINVAL, "config", config, "no such cache event");
	event = op == PERF_COUNT_HW_CACHE_OP_READ ? cache_read_events[cache][result] : NONE;
	if (!pmu_event_exists((u32)event))
		event = pmu_core_cache_event(cache, op, result);
	if (event < 0)
		return perf_refuse(why, -ENOENT, "config", config, "the CPU does not implement it");
	return event;
}

int pmu_map_event(const struct perf_event_attr *attr, u32 own_type, struct perf_why *why)
{
	int event;

	if (attr->type == PERF_TYPE_HARDWARE)
		event = map_hardware(attr->config, why);
	else if (attr->type == PERF_TYPE_HW_CACHE)
		event = map_cache(attr->config, why);
	else if (attr->type == PERF_TYPE_RAW || attr->type == own_type)
		event = (int)(attr->config & PMEVTYPER_EVENT);
	else
		event = perf_refuse(why, -ENOENT, "type", attr->type, "not of this PMU");
	return event;
}

static void add_attr(const char *dir, const char *name, const char *text)
{
	attrs[nr_attrs++] = (struct pmu_attr){ dir, name, text };
}

static void add_caps(void)
{
	const char *const names[4] = { "bus_slots", "bus_width", "slots", "threshold_max" };
	u32 width = mmir >> 16 & 0xf;
	u32 values[4] = { mmir >> 8 & 0xff, width ? 1U << (width - 1) : 0, mmir & 0xff,
			  pmu_threshold_max() };

	for (int i = 0; i < 4; i++) {
		snprintf(caps_text[i], sizeof(caps_text[i]), "0x%08x\n", values[i]);
		add_attr("caps", names[i], caps_text[i]);
	}
}

static void add_events(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(common_events); i++) {
		const struct named_event *e = &common_events[i];

		if (!pmu_event_exists(e->number))
			continue;
		snprintf(event_text[i], sizeof(event_text[i]), "event=0x%04x\n", e->number);
		add_attr("events", e->name, event_text[i]);
	}
}

static void add_formats(void)
{
	add_attr("format", "event", "config:0-15\n");
	add_attr("format", "long", "config1:0\n");
	add_attr("format", "rdpmc", "config1:1\n");
	add_attr("format", "threshold", "config1:5-16\n");
	add_attr("format", "threshold_compare", "config1:3-4\n");
	add_attr("format", "threshold_count", "config1:2\n");
}

void pmu_events_init(u32 pmuver)
{
	u64 id0 = read_sysreg(pmceid0_el0), id1 = read_sysreg(pmceid1_el0);

	common_mask = (u32)id0 | id1 << 32;
	if (pmuver >= 4)	/* PMUv3p1: the upper halves describe 0x4000-0x403f */
		extended_mask = id0 >> 32 | (id1 >> 32) << 32;
	if (pmuver >= 5)	/* PMUv3p4 */
		mmir = (u32)read_sysreg(S3_0_C9_C14_6);
	add_caps();
	add_events();
	add_formats();
}

const struct pmu_attr *pmu_sysfs_attrs(u32 *nr)
{
	*nr = nr_attrs;
	return attrs;
}

/* With FEAT_PMUv3_TH a threshold has PMMIR.THWIDTH bits (Arm ARM, PMMIR_EL1); 0 without. */
u32 pmu_threshold_max(void)
{
	return (1u << (mmir >> 20 & 0xf)) - 1;
}
