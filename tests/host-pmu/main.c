/* SPDX-License-Identifier: MIT */
/*
 * The PMUv3 driver (arch/arm64/pmu) over a register file in memory. QEMU has neither the CHAIN event nor thresholds,
 * and its counters never move between two reads of the driver, so these parts run nowhere else. The counters below do
 * what the Arm ARM says (D13 and the events' descriptions), written from that alone.
 */
#include "../../arch/arm64/pmu/events.h"
#include "../../arch/arm64/pmu/pmuv3.h"

#include <perch/cpu.h>
#include <perch/errno.h>

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(c) do { if (!(c)) fail("%d: %s", __LINE__, #c); } while (0)
#define CHECK_EQ(a, b) do { u64 a_ = (u64)(a), b_ = (u64)(b);					\
	if (a_ != b_) fail("%d: %s is %#lx, not %#lx", __LINE__, #a, (long)a_, (long)b_); } while (0)

static void fail(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	printf("  main.c:");
	vprintf(fmt, ap);
	va_end(ap);
	printf("\nnot ok - the PMUv3 driver\n0 passed, 1 failed\n");
	exit(1);
}

/* --- the machine ---------------------------------------------------------------------------------------- */

#define CYCLES 31
#define EL1 (1ULL << 31)	/* the bits of PMEVTYPER that leave a level out */
#define EL0 (1ULL << 30)

static struct {
	u64 pmcr, enabled, interrupts, overflow, user, select, mmir, ceid[2];
	u64 value[32], type[32];
	u32 writes;
} m;
static void (*between_reads)(void);	/* another event comes while the driver reads */
static struct cpu the_cpu;

struct cpu *this_cpu(void) { return &the_cpu; }

static int indexed(const char *name, const char *what)
{
	size_t n = strlen(what);

	return strncmp(name, what, n) ? -1 : atoi(name + n);
}

/* In place of counters.S. */
u64 pmu_read_counter(u32 n)
{
	u64 v = m.value[n];

	if (between_reads)
		between_reads();
	return v;
}

void pmu_write_counter(u32 n, u64 v)
{
	m.writes++;
	m.value[n] = n == CYCLES || m.pmcr & 0x80 ? v : v & 0xffffffff;	/* LP: 64 bits */
}

u64 reg_read(const char *name)
{
	if (!strcmp(name, "pmceid0_el0"))
		return m.ceid[0];
	if (!strcmp(name, "pmceid1_el0"))
		return m.ceid[1];
	if (!strcmp(name, "S3_0_C9_C14_6"))
		return m.mmir;
	if (!strcmp(name, "pmccntr_el0"))
		return pmu_read_counter(CYCLES);
	fail("read of %s", name);
	return 0;
}

void reg_write(const char *name, u64 v)
{
	int n;

	m.writes++;
	if ((n = indexed(name, "pmevtyper")) >= 0)
		m.type[n] = v;
	else if (!strcmp(name, "pmccfiltr_el0"))
		m.type[CYCLES] = v | EVT_CPU_CYCLES;
	else if (!strcmp(name, "pmcr_el0"))
		m.pmcr = v;
	else if (!strcmp(name, "pmcntenset_el0"))
		m.enabled |= v;
	else if (!strcmp(name, "pmcntenclr_el0"))
		m.enabled &= ~v;
	else if (!strcmp(name, "pmintenset_el1"))
		m.interrupts |= v;
	else if (!strcmp(name, "pmintenclr_el1"))
		m.interrupts &= ~v;
	else if (!strcmp(name, "pmovsclr_el0"))
		m.overflow &= ~v;
	else if (!strcmp(name, "pmuserenr_el0"))
		m.user = v;
	else if (!strcmp(name, "pmselr_el0"))
		m.select = v;
	else if (!strcmp(name, "pmccntr_el0"))
		m.value[CYCLES] = v;
	else
		fail("write of %s", name);
}

static bool counts(int n)
{
	return m.pmcr & 1 && m.enabled & BIT(n);
}

/* One more on counter n: does it go round? The odd one above follows if it counts CHAIN. */
static void one_more(int n)
{
	u64 mask = n == CYCLES || m.pmcr & 0x80 ? ~0ULL : 0xffffffff;

	m.value[n] = (m.value[n] + 1) & mask;
	if (m.value[n])
		return;
	m.overflow |= BIT(n);
	if (n < CYCLES && !(n & 1) && counts(n + 1) && (m.type[n + 1] & 0xffff) == EVT_CHAIN)
		one_more(n + 1);
}

/* times: how often. many: how many of them in one cycle, for thresholds. */
static void happens(u32 event, u64 level, u32 times, u32 many)
{
	while (times--)
		for (int n = 0; n < 32; n++) {
			u64 th = m.type[n] >> 32 & 0xfff;

			if (!counts(n) || (m.type[n] & 0xffff) != event || m.type[n] & level)
				continue;
			if (!th)
				for (u32 i = 0; i < many; i++)
					one_more(n);
			else if (m.type[n] >> 62 == 2 && many >= th)	/* TC 0b10x: at or above */
				for (u32 i = m.type[n] >> 61 & 1 ? 1 : many; i; i--)
					one_more(n);
		}
}

/* --- what the core does ----------------------------------------------------------------------------------- */

static struct pmu pmu;
static const struct pmu_ops *ops = &pmuv3_ops;

void perf_note_refusal(struct perf_why *why, int err, const char *field, u64 value, const char *reason)
{
	if (why)
		*why = (struct perf_why){ err, field, value, reason };
}
bool perf_pmu_overflow(struct perf_cpu_pmu *pp, u64 counters, const struct pt_regs *regs) { return true; }
struct perf_cpu_pmu *perf_pmu_here(struct pmu *p) { return (struct perf_cpu_pmu *)p; }

static u32 booted;

static void machine(u32 counters, bool longs, u32 pmuver, u64 mmir)
{
	memset(&m, 0, sizeof(m));
	m.ceid[0] = BIT(EVT_INST_RETIRED) | BIT(EVT_CPU_CYCLES) | BIT(EVT_CHAIN);
	m.mmir = mmir;
	pmu = (struct pmu){ .name = "armv8_pmuv3", .type = 10, .counters = (BIT(counters) - 1) | BIT(CYCLES) };
	pmuv3_set_hardware(counters, longs);
	if (pmuver != booted) {	/* once for each kind of CPU */
		pmu_events_init(pmuver);
		booted = pmuver;
	}
	m.enabled = m.interrupts = m.overflow = m.user = UINT32_MAX;	/* what firmware leaves */
	ops->cpu_online(&pmu);
	CHECK_EQ(m.enabled | m.interrupts | m.overflow, 0);
	CHECK_EQ(m.user, 0);
}

static int init_event(struct perf_hw *hw, u64 config, u64 config1)
{
	struct perf_event_attr a = { .type = PERF_TYPE_RAW, .config = config, .config1 = config1, .exclude_kernel = 1 };
	struct perf_hw_target task = { true, -1 };

	*hw = (struct perf_hw){ .counter = -1, .width_on = -1 };
	return ops->event_init(&pmu, hw, &a, &task, NULL);
}

static void place(struct perf_hw *hw, u64 *free, u64 start)
{
	int n = ops->choose(&pmu, hw, *free, &hw->taken);

	CHECK(n >= 0 && hw->taken & BIT(n) && !(hw->taken & ~*free));
	*free &= ~hw->taken;
	hw->counter = (s16)n;
	hw->width = ops->width(&pmu, hw, n);
	ops->program(&pmu, hw, start);
}

static void go(u64 counters, u64 interrupts, u64 forget)
{
	ops->resume(&pmu, &(struct pmu_run){ counters, interrupts, forget });
}

/* --- tests -------------------------------------------------------------------------------------------------- */

static void test_pairs(void)
{
	struct perf_hw a, b, c;
	u64 free, unused;

	machine(6, false, 4, 0);
	free = pmu.counters;
	CHECK_EQ(init_event(&a, EVT_INST_RETIRED, 1), 0);
	CHECK_EQ(init_event(&b, EVT_INST_RETIRED, 1), 0);
	place(&a, &free, 0xfffffffdULL);
	CHECK_EQ(a.counter, 1);
	CHECK_EQ(a.taken, 3);
	CHECK_EQ(a.width, 64);
	place(&b, &free, ~0ULL - 2);
	CHECK_EQ(b.taken, 3 << 2);
	m.overflow = 0xf;		/* stale */
	go(0xf, BIT(1) | BIT(3), 0xf);
	CHECK_EQ(m.overflow, 0);
	CHECK_EQ(m.interrupts, BIT(1) | BIT(3));
	happens(EVT_INST_RETIRED, EL1, 5, 1);	/* excluded */
	CHECK_EQ(ops->read(&pmu, &a), 0xfffffffdULL);
	happens(EVT_INST_RETIRED, EL0, 5, 1);
	CHECK_EQ(ops->read(&pmu, &a), 0x100000002ULL);
	CHECK_EQ(ops->read(&pmu, &b), 2);	/* gone round: its interrupt is the upper half's */
	CHECK_EQ(m.overflow & m.interrupts, BIT(3));
	ops->pause(&pmu);
	happens(EVT_INST_RETIRED, EL0, 5, 1);
	CHECK_EQ(ops->stop(&pmu, &a), 0x100000002ULL);
	/* Only whole pairs: 0-1 and 4-5 are free, then 4 alone with 0. */
	CHECK_EQ(init_event(&c, EVT_INST_RETIRED, 1), 0);
	CHECK_EQ(ops->choose(&pmu, &c, BIT(1) | BIT(2) | BIT(4) | BIT(CYCLES), &unused), (u64)-1);
	CHECK_EQ(ops->choose(&pmu, &c, BIT(1) | BIT(2) | BIT(4) | BIT(5), &unused), 5);
	/* Cycles have a counter of 64 bits. Nobody can read a pair in user space. */
	CHECK_EQ(init_event(&c, EVT_CPU_CYCLES, 1), 0);
	CHECK_EQ(ops->choose(&pmu, &c, pmu.counters, &unused), CYCLES);
	CHECK_EQ(init_event(&c, EVT_INST_RETIRED, 3), (u64)-EOPNOTSUPP);
	CHECK_EQ(init_event(&c, EVT_CHAIN, 0), (u64)-EINVAL);
}

static int wraps_left;
static void low_half_wraps(void)
{
	if (wraps_left-- > 0)
		happens(EVT_INST_RETIRED, EL0, 1, 1);
}

/* The lower half wraps between the reads of the two: at each place once. */
static void test_pair_read_while_it_wraps(void)
{
	for (u32 before = 0; before < 4; before++) {
		struct perf_hw a;
		u64 free, v;

		machine(6, false, 4, 0);
		free = pmu.counters;
		CHECK_EQ(init_event(&a, EVT_INST_RETIRED, 1), 0);
		place(&a, &free, 0x5ffffffffULL - before);
		go(3, BIT(1), 3);
		wraps_left = 4;
		between_reads = low_half_wraps;
		v = ops->read(&pmu, &a);
		between_reads = NULL;
		CHECK(v >= 0x5ffffffffULL - before && v <= 0x5ffffffffULL - before + 4);
	}
}

static void test_thresholds(void)
{
	struct perf_hw a, b;
	u64 free, unused;

	machine(6, false, 4, 0);	/* no PMMIR */
	CHECK_EQ(pmu_threshold_max(), 0);
	CHECK_EQ(init_event(&a, EVT_INST_RETIRED, 1 << 5), (u64)-EINVAL);
	machine(6, false, 8, 4 << 20);	/* THWIDTH 4 */
	CHECK_EQ(pmu_threshold_max(), 15);
	CHECK_EQ(init_event(&a, EVT_INST_RETIRED, 16 << 5), (u64)-EINVAL);
	CHECK_EQ(init_event(&a, EVT_INST_RETIRED, 3 << 5 | 2 << 3), 0);		/* 3 or more: count them */
	CHECK_EQ(init_event(&b, EVT_INST_RETIRED, 3 << 5 | 2 << 3 | 1 << 2), 0);	/* count the cycles */
	free = pmu.counters;
	place(&a, &free, 0);
	place(&b, &free, 0);
	go(a.taken | b.taken, a.taken | b.taken, 0);
	happens(EVT_INST_RETIRED, EL0, 10, 2);
	CHECK_EQ(ops->read(&pmu, &a), 0);
	happens(EVT_INST_RETIRED, EL0, 10, 3);
	CHECK_EQ(ops->read(&pmu, &a), 30);
	CHECK_EQ(ops->read(&pmu, &b), 10);
	ops->pause(&pmu);
	/* The cycle counter has no threshold; compare and count bits without one mean nothing. */
	CHECK_EQ(init_event(&a, EVT_CPU_CYCLES, 1 << 5), 0);
	CHECK(ops->choose(&pmu, &a, pmu.counters, &unused) != CYCLES);
	CHECK_EQ(ops->choose(&pmu, &a, BIT(CYCLES), &unused), (u64)-1);
	CHECK_EQ(init_event(&a, EVT_CPU_CYCLES, 3 << 3 | 1 << 2), 0);
	CHECK_EQ(a.config >> 32, 0);
	CHECK_EQ(ops->choose(&pmu, &a, pmu.counters, &unused), CYCLES);
	/* CHAIN counts overflows, not what is above a threshold. */
	CHECK_EQ(init_event(&a, EVT_INST_RETIRED, 3 << 5 | 2 << 3 | 1), 0);
	free = BIT(4) | BIT(5);
	place(&a, &free, 0xffffffffULL);
	CHECK_EQ(m.type[5] >> 32, 0);
	go(3 << 4, BIT(5), 3 << 4);
	happens(EVT_INST_RETIRED, EL0, 1, 3);
	CHECK_EQ(ops->read(&pmu, &a), 0x100000002ULL);
	ops->pause(&pmu);
}

static void test_long_counters(void)
{
	struct perf_hw a, b;
	u64 free;

	machine(6, true, 6, 0);
	CHECK(m.pmcr & 0x80);
	free = pmu.counters;
	CHECK_EQ(init_event(&a, EVT_INST_RETIRED, 1), 0);
	place(&a, &free, 0xffffffffULL);
	CHECK_EQ(a.taken, 1);
	CHECK_EQ(a.width, 64);
	CHECK_EQ(init_event(&b, EVT_INST_RETIRED, 2), 0);	/* user reads: 32 bits are shown */
	place(&b, &free, -1ULL);		/* minus what is left, in all 64 bits */
	CHECK_EQ(b.width, 32);
	go(3, 3, 3);
	happens(EVT_INST_RETIRED, EL0, 2, 1);
	CHECK_EQ(ops->read(&pmu, &a), 0x100000001ULL);
	CHECK_EQ(ops->read(&pmu, &b), 1);
	CHECK_EQ(m.overflow, BIT(1));		/* it overflows with the part that is shown */
	ops->pause(&pmu);
}

/* The same events again: a switch writes no register that holds the right thing already. */
static void test_writes(void)
{
	struct perf_hw hw[7];
	u64 free;

	machine(6, false, 4, 0);
	for (int round = 0; round < 2; round++) {
		m.writes = 0;
		free = pmu.counters;
		for (int i = 0; i < 7; i++) {
			CHECK_EQ(init_event(&hw[i], i ? EVT_INST_RETIRED : EVT_CPU_CYCLES, 0), 0);
			place(&hw[i], &free, 1000);
		}
		go(pmu.counters, pmu.counters, pmu.counters);
		happens(EVT_CPU_CYCLES, EL0, 3, 1);
		CHECK_EQ(ops->read(&pmu, &hw[0]), 1003);
		if (round)
			CHECK_EQ(m.writes, 7 + 2);	/* values; flags, and go */
		ops->pause(&pmu);
	}
	/* Fewer now: the others must not go on. */
	free = pmu.counters;
	place(&hw[0], &free, 0);
	go(hw[0].taken, hw[0].taken, hw[0].taken);
	CHECK_EQ(m.enabled, hw[0].taken);
	CHECK_EQ(m.interrupts, hw[0].taken);
	ops->pause(&pmu);
}

static void test_user_access(void)
{
	struct perf_hw a;
	u64 free;

	machine(6, false, 4, 0);
	for (int i = 0; i < 6; i++)
		m.value[i] = 77;
	free = BIT(2);
	CHECK_EQ(init_event(&a, EVT_INST_RETIRED, 2), 0);
	place(&a, &free, 5);
	go(BIT(2), BIT(2), BIT(2));
	m.select = 9;
	ops->user_access(&pmu, true, BIT(2));
	for (int i = 0; i < 6; i++)
		CHECK_EQ(m.value[i], i == 2 ? 5 : 0);
	CHECK_EQ(m.user, 0xc);
	CHECK_EQ(m.select, 0);
	CHECK_EQ(ops->user_index(&pmu, &a), 3);
	CHECK_EQ(ops->user_width(&pmu, &a), 32);
	ops->user_access(&pmu, false, 0);
	CHECK_EQ(m.user, 0);
}

int main(void)
{
	test_pairs();
	test_pair_read_while_it_wraps();
	test_thresholds();
	test_long_counters();
	test_writes();
	test_user_access();
	printf("ok - the PMUv3 driver: pairs, thresholds, long counters, writes, user access\n1 passed, 0 failed\n");
	return 0;
}
