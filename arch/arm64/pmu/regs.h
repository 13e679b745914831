/* SPDX-License-Identifier: MIT */
/*
 * The PMUv3 registers of the running CPU (Arm ARM D13 and D23; bit positions below are its). Counter
 * numbers are the bit numbers of PMCNTENSET_EL0: event counters 0..30, the cycle counter 31.
 */
#ifndef PMU_REGS_H
#define PMU_REGS_H

#include <asm/cpu.h>

#define PMU_CYCLE_COUNTER	31

#define PMCR_E		BIT(0)	/* count at all */
#define PMCR_P		BIT(1)	/* zero the event counters */
#define PMCR_C		BIT(2)	/* zero the cycle counter */
#define PMCR_LC		BIT(6)	/* cycle counter overflows at 64 bits */
#define PMCR_LP		BIT(7)	/* event counters overflow at 64 bits (PMUv3p5) */
#define PMCR_N(r)	(((r) >> 11) & 0x1f)

#define PMEVTYPER_P	BIT(31)	/* do not count at EL1 */
#define PMEVTYPER_U	BIT(30)	/* do not count at EL0 */
#define PMEVTYPER_NSH	BIT(27)	/* count at EL2 */
#define PMEVTYPER_EVENT	0xffffULL
#define PMEVTYPER_TH	(0xfffULL << 32)	/* FEAT_PMUv3_TH: threshold, 0: none */
#define PMEVTYPER_TC	(7ULL << 61)	/* what is compared, and how it counts */

#define PMUSERENR_CR	BIT(2)	/* EL0 may read the cycle counter */
#define PMUSERENR_ER	BIT(3)	/* EL0 may read the event counters */

/* PMMIR_EL1, from PMUv3p4 on; older assemblers do not know its name. */
#define SYS_PMMIR_EL1	S3_0_C9_C14_6

u64 pmu_read_counter(u32 n);		/* counters.S. n: at most 31 */
void pmu_write_counter(u32 n, u64 value);

#define EACH_EVENT_COUNTER(X)							\
	X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11) X(12) X(13) X(14) X(15)	\
	X(16) X(17) X(18) X(19) X(20) X(21) X(22) X(23) X(24) X(25) X(26) X(27) X(28) X(29) X(30)

static inline void pmu_write_type(u32 n, u64 v)
{
	switch (n) {
#define X(i) case i: write_sysreg(v, pmevtyper##i##_el0); break;
	EACH_EVENT_COUNTER(X)
#undef X
	/* PMCCFILTR has no event field: those bits are reserved */
	default: write_sysreg(v & ~PMEVTYPER_EVENT, pmccfiltr_el0);
	}
}

#endif
