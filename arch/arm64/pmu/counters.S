/* SPDX-License-Identifier: MIT */
/*
 * Counters by number. Each is a register of its own, so a number becomes a jump into a row of pairs "mrs, ret".
 * The way by PMSELR_EL0 would be shorter, but costs a barrier, and user code that reads counters uses that
 * register.
 */

/* Counter 0 to 30, then the cycle counter: the numbers of PMCNTENSET_EL0. */
#define COUNTERS 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15,		\
	16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30

	.text
/* u64 pmu_read_counter(u32 n), n at most 31. */
	.globl	pmu_read_counter
	.type	pmu_read_counter, %function
pmu_read_counter:
	adr	x1, 1f
	add	x1, x1, w0, uxtw #3
	br	x1
1:	.irp	n, COUNTERS
	mrs	x0, pmevcntr\n\()_el0
	ret
	.endr
	mrs	x0, pmccntr_el0
	ret
	.size	pmu_read_counter, . - pmu_read_counter

/* void pmu_write_counter(u32 n, u64 value), n at most 31. */
	.globl	pmu_write_counter
	.type	pmu_write_counter, %function
pmu_write_counter:
	adr	x2, 1f
	add	x2, x2, w0, uxtw #3
	br	x2
1:	.irp	n, COUNTERS
	msr	pmevcntr\n\()_el0, x1
	ret
	.endr
	msr	pmccntr_el0, x1
	ret
	.size	pmu_write_counter, . - pmu_write_counter
