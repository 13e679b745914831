/* SPDX-License-Identifier: MIT */
/*
 * PMUv3 operations for the perf core: each function touches the counters of the CPU it runs on,
 * with IRQs off, and keeps nothing but what stands in struct perf_hw.
 *
 * A 64-bit event takes the cycle counter (64 bits wide), any event counter where those have 64 bits
 * (PMUv3p5), or else a pair: the event on an even counter, CHAIN on the odd one above it, which counts
 * the even one's overflows. The pair is named by its odd counter.
 *
 * Register writes become visible to counting at the next context synchronisation (Arm ARM D23.1): an
 * ISB stands where the order matters, that is after pausing and before reading a running counter.
 *
 * The PMU is paused while counters are programmed and stopped, so their enable bits may be written all
 * together by resume, and only where they differ from what the registers hold: a switch between tasks that
 * use the same counters writes none of them.
 */
#include "events.h"
#include "pmuv3.h"

#include <perch/cpu.h>
#include <perch/errno.h>
#include <perch/printk.h>

#define CFG1_LONG	BIT(0)		/* config1 format bits, see events.c */
#define CFG1_RDPMC	BIT(1)
#define CFG1_THRESHOLD(c) ((c) >> 5 & 0xfff)
#define CFG1_THRESHOLD_COUNT(c) ((c) >> 2 & 1)
#define CFG1_THRESHOLD_COMPARE(c) ((c) >> 3 & 3)

static u32 nr_counters;			/* event counters, without the cycle counter */
static bool long_counters;		/* event counters are 64 bits wide */
static u64 event_counter_mask;		/* the bits that they have */
u64 pmuv3_pmcr;

/* What the registers of each CPU hold; only that CPU uses it, IRQs off. */
static struct enabled {
	u64 counters, interrupts;
	u64 type[32];
} enabled[NR_CPUS];
#define NO_TYPE UINT64_MAX

void pmuv3_set_hardware(u32 nr_event_counters, bool is_long)
{
	nr_counters = nr_event_counters;
	long_counters = is_long;
	event_counter_mask = is_long ? UINT64_MAX : UINT32_MAX;
}

static bool is_chained(const struct perf_hw *hw, u32 counter)
{
	return (hw->flags & PERF_HW_WIDE) && !long_counters && counter != PMU_CYCLE_COUNTER;
}

/* Exception levels to leave out. EL2 is never ours, but counting it is what not excluding it means. */
static int filter_bits(const struct perf_event_attr *attr, u64 *bits, struct perf_why *why)
{
	*bits = 0;
	if (attr->exclude_idle)
		return perf_refuse(why, -EOPNOTSUPP, "exclude_idle", 1, "the PMU has no such filter");
	if (!attr->exclude_hv && !attr->exclude_host)
		*bits |= PMEVTYPER_NSH;
	if (attr->exclude_kernel)
		*bits |= PMEVTYPER_P;
	if (attr->exclude_user)
		*bits |= PMEVTYPER_U;
	return 0;
}

static int wide_and_user(struct perf_hw *hw, u32 event, const struct perf_event_attr *attr,
			 const struct perf_hw_target *target, struct perf_why *why)
{
	if (attr->config1 & CFG1_LONG)
		hw->flags |= PERF_HW_WIDE;
	if (!(attr->config1 & CFG1_RDPMC))
		return 0;
	if (!target->task)
		return perf_refuse(why, -EINVAL, "config1", attr->config1,
				   "user-space reads need an event of a task");
	if ((hw->flags & PERF_HW_WIDE) && event != EVT_CPU_CYCLES && !long_counters)
		return perf_refuse(why, -EOPNOTSUPP, "config1", attr->config1,
				   "user space cannot read a chained pair");
	hw->flags |= PERF_HW_USER_READ;
	return 0;
}

/* PMEVTYPER's TH and TC: the low bit of TC says whether to count events or the times that it is true. */
static u64 threshold_bits(u64 config1)
{
	u64 control = CFG1_THRESHOLD_COMPARE(config1) << 1 | CFG1_THRESHOLD_COUNT(config1);

	if (!CFG1_THRESHOLD(config1))
		return 0;
	return CFG1_THRESHOLD(config1) << 32 | control << 61;
}

static bool threshold_fits(u64 config1)
{
	return !CFG1_THRESHOLD(config1) || CFG1_THRESHOLD(config1) <= pmu_threshold_max();
}

/* It counts cycles only, and knows no threshold. */
static bool fits_cycle_counter(const struct perf_hw *hw)
{
	return (hw->config & (PMEVTYPER_EVENT | PMEVTYPER_TH)) == EVT_CPU_CYCLES;
}

static int pmuv3_event_init(struct pmu *pmu, struct perf_hw *hw, const struct perf_event_attr *attr,
			    const struct perf_hw_target *target, struct perf_why *why)
{
	int event = pmu_map_event(attr, pmu->type, why), err;
	u64 filter;

	if (event == EVT_CHAIN)
		return perf_refuse(why, -EINVAL, "config", attr->config, "CHAIN only works beside another counter");
	/* Its refusals come before "no such event" (seen on Linux 6.12). */
	err = wide_and_user(hw, (u32)event, attr, target, why);
	if (err)
		return err;
	if (event < 0)
		return event;
	err = filter_bits(attr, &filter, why);
	if (err)
		return err;
	if (!threshold_fits(attr->config1))
		return perf_refuse(why, -EINVAL, "config1", attr->config1, "threshold above caps/threshold_max");
	hw->config = (u64)event | filter | threshold_bits(attr->config1);
	hw->counters = pmu->counters;
	if (!fits_cycle_counter(hw))
		hw->counters &= ~BIT(PMU_CYCLE_COUNTER);
	return 0;
}

/* The lowest free pair, or -1. */
static int choose_pair(u64 free, u64 *taken)
{
	u64 event_free = free & (BIT(nr_counters) - 1);
	u64 pairs = event_free & (event_free >> 1) & 0x5555555555555555ULL;
	int even;

	if (!pairs)
		return -1;
	even = __builtin_ctzll(pairs);
	*taken = 3ULL << even;
	return even + 1;
}

static int pmuv3_choose(const struct pmu *pmu, const struct perf_hw *hw, u64 free, u64 *taken)
{
	u64 usable = free & pmu->counters;
	int n;

	if (fits_cycle_counter(hw) && (usable & BIT(PMU_CYCLE_COUNTER))) {
		*taken = BIT(PMU_CYCLE_COUNTER);
		return PMU_CYCLE_COUNTER;
	}
	usable &= ~BIT(PMU_CYCLE_COUNTER);
	if ((hw->flags & PERF_HW_WIDE) && !long_counters)
		return hw->flags & PERF_HW_USER_READ ? -1 : choose_pair(usable, taken);
	if (!usable)
		return -1;
	n = __builtin_ctzll(usable);
	*taken = BIT(n);
	return n;
}

/*
 * A user-space reader is told the width and sign-extends; Linux shows it 32 bits for an ordinary event
 * on any counter, so the cycle counter is used as if it had 32 then.
 */
static bool is_biased(const struct perf_hw *hw, int counter)
{
	return counter == PMU_CYCLE_COUNTER && (hw->flags & PERF_HW_USER_READ) &&
	       !(hw->flags & PERF_HW_WIDE);
}

static u8 pmuv3_width(const struct pmu *pmu, const struct perf_hw *hw, int counter)
{
	if (counter == PMU_CYCLE_COUNTER)
		return is_biased(hw, counter) ? 32 : 64;
	if (long_counters)
		return hw->flags & PERF_HW_USER_READ && !(hw->flags & PERF_HW_WIDE) ? 32 : 64;
	return hw->flags & PERF_HW_WIDE ? 64 : 32;
}

/* The low half may wrap between the two reads of a running pair: read the high half until it agrees. */
static noinline u64 read_pair(u32 odd)
{
	u64 hi, lo;

	do {
		hi = pmu_read_counter(odd);
		lo = pmu_read_counter(odd - 1);
	} while (hi != pmu_read_counter(odd));
	return hi << 32 | (lo & 0xffffffff);
}

/* The cycle counter needs no jump into a row of registers: its number is known. */
static inline u64 read_single(u32 n)
{
	return n == PMU_CYCLE_COUNTER ? read_sysreg(pmccntr_el0) : pmu_read_counter(n);
}

static inline u64 read_value(const struct perf_hw *hw)
{
	u32 n = (u32)hw->counter;

	return unlikely(is_chained(hw, n)) ? read_pair(n) : read_single(n);
}

/* The upper half of a register of 32 bits is to be written as 0. */
static inline void write_single(u32 n, u64 v)
{
	if (n == PMU_CYCLE_COUNTER)
		write_sysreg(v, pmccntr_el0);
	else
		pmu_write_counter(n, v & event_counter_mask);
}

static noinline void write_pair(u32 odd, u64 v)
{
	write_single(odd - 1, v);
	write_single(odd, v >> 32);
}

static inline void write_value(const struct perf_hw *hw, u64 v)
{
	u32 n = (u32)hw->counter;

	if (unlikely(is_chained(hw, n)))
		write_pair(n, v);
	else
		write_single(n, v);
}

static noinline void write_type(u32 n, u64 type)
{
	enabled[cpu_id()].type[n] = type;
	pmu_write_type(n, type);
}

/* Another task's event on this counter is often the same. */
static inline void set_type(u32 n, u64 type)
{
	if (unlikely(enabled[cpu_id()].type[n] != type))
		write_type(n, type);
}

static noinline void program_pair(const struct perf_hw *hw, u64 start)
{
	u32 odd = (u32)hw->counter;

	set_type(odd - 1, hw->config);
	set_type(odd, (hw->config & ~(PMEVTYPER_EVENT | PMEVTYPER_TH | PMEVTYPER_TC)) | EVT_CHAIN);
	write_pair(odd, start);
}

static void pmuv3_program(struct pmu *pmu, struct perf_hw *hw, u64 start)
{
	u32 n = (u32)hw->counter;

	if (unlikely(is_chained(hw, n))) {
		program_pair(hw, start);
		return;
	}
	set_type(n, hw->config);
	write_single(n, start);
}

static u64 pmuv3_read_paused(struct pmu *pmu, struct perf_hw *hw)
{
	return read_value(hw);
}

static u64 pmuv3_read(struct pmu *pmu, struct perf_hw *hw)
{
	isb();	/* what the program did before the read is counted */
	return read_value(hw);
}

static void pmuv3_write(struct pmu *pmu, struct perf_hw *hw, u64 value)
{
	write_value(hw, value);
}

static void pmuv3_pause(struct pmu *pmu)
{
	pmuv3_hold();
}

static void set_enabled(struct enabled *e, const struct pmu_run *run)
{
	u64 differ = e->counters ^ run->counters;

	if (differ & e->counters)
		write_sysreg(differ & e->counters, pmcntenclr_el0);
	if (differ & run->counters)
		write_sysreg(differ & run->counters, pmcntenset_el0);
	e->counters = run->counters;
	differ = e->interrupts ^ run->interrupts;
	if (differ & e->interrupts)
		write_sysreg(differ & e->interrupts, pmintenclr_el1);
	if (differ & run->interrupts)
		write_sysreg(differ & run->interrupts, pmintenset_el1);
	e->interrupts = run->interrupts;
}

static void pmuv3_resume(struct pmu *pmu, const struct pmu_run *run)
{
	struct enabled *e = &enabled[cpu_id()];

	if (run->forget)
		write_sysreg(run->forget, pmovsclr_el0);
	if (!run->counters)
		return;		/* paused: what is still enabled neither counts nor overflows */
	if (e->counters != run->counters || e->interrupts != run->interrupts)
		set_enabled(e, run);
	pmuv3_go_on();
}

void pmuv3_reset_cpu(void)
{
	write_sysreg(0, pmuserenr_el0);
	write_sysreg(UINT32_MAX, pmcntenclr_el0);
	write_sysreg(UINT32_MAX, pmintenclr_el1);
	write_sysreg(UINT32_MAX, pmovsclr_el0);
	pmuv3_pmcr = PMCR_LC | (long_counters ? PMCR_LP : 0);
	write_sysreg(PMCR_P | PMCR_C | pmuv3_pmcr, pmcr_el0);
	isb();
	enabled[cpu_id()] = (struct enabled){ 0 };
	for (u32 i = 0; i < ARRAY_SIZE(enabled[0].type); i++)
		enabled[cpu_id()].type[i] = NO_TYPE;
}

static void pmuv3_cpu_online(struct pmu *pmu)
{
	pmuv3_reset_cpu();
}

/* Counters that the task does not use are zeroed, so that nothing of others is left in them; and stopped: they may
 * still be enabled from the last time. The selector, which ER lets user code write, starts from 0. */
static void pmuv3_user_access(struct pmu *pmu, bool open, u64 used)
{
	u64 idle = pmu->counters & ~used;

	if (!open) {
		write_sysreg(0, pmuserenr_el0);
		return;
	}
	write_sysreg(idle, pmcntenclr_el0);
	write_sysreg(idle, pmintenclr_el1);
	enabled[cpu_id()].counters &= used;
	enabled[cpu_id()].interrupts &= used;
	isb();
	for (; idle; idle &= idle - 1)
		pmu_write_counter((u32)__builtin_ctzll(idle), 0);
	write_sysreg(0, pmselr_el0);
	write_sysreg(PMUSERENR_ER | PMUSERENR_CR, pmuserenr_el0);
}

static u32 pmuv3_user_index(const struct pmu *pmu, const struct perf_hw *hw)
{
	return (u32)hw->counter + 1;
}

static u8 pmuv3_user_width(const struct pmu *pmu, const struct perf_hw *hw)
{
	return hw->flags & PERF_HW_WIDE ? 64 : 32;
}

const struct pmu_ops pmuv3_ops = {
	.event_init = pmuv3_event_init,
	.choose = pmuv3_choose,
	.width = pmuv3_width,
	.program = pmuv3_program,
	.stop = pmuv3_read_paused,
	.read = pmuv3_read,
	.read_paused = pmuv3_read_paused,
	.write = pmuv3_write,
	.pause = pmuv3_pause,
	.resume = pmuv3_resume,
	.cpu_online = pmuv3_cpu_online,
	.user_access = pmuv3_user_access,
	.user_index = pmuv3_user_index,
	.user_width = pmuv3_user_width,
};
