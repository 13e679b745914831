/* SPDX-License-Identifier: MIT */
/*
 * The two interrupt controllers behind irq.c. Numbers are INTIDs: 0-15 SGI, 16-31 PPI (per CPU),
 * 32.. SPI.
 *
 * init: boot CPU, once: distributor, all SPIs off.
 * init_cpu: each CPU: its interface on, SGIs on.
 * ack: the pending interrupt, to be given to eoi; its low ten bits are the INTID, 1020.. is none. For GICv3 these two are
 * inline: a few instructions that each interrupt needs.
 * enable, disable: a PPI or SGI on the own CPU, or an SPI.
 * route: an SPI to one CPU.
 * send: SGI n to a CPU; earlier stores of this CPU are visible to its handler.
 */
#ifndef GIC_H
#define GIC_H

#include <asm/cpu.h>
#include <asm/sysreg.h>
#include <perch/types.h>

#define GIC_SPURIOUS	1020	/* and up to 1023 */
#define GIC_PRIO	0xa0	/* the one priority that is used */

struct gic_ops {
	bool (*init)(void);	/* false: not in the device tree */
	void (*init_cpu)(void);
	u64 (*ack)(void);
	void (*eoi)(u64 ack);
	void (*enable)(u32 intid);
	void (*disable)(u32 intid);
	void (*route)(u32 intid, u32 cpu);
	void (*send)(u32 cpu, u32 sgi);
	u32 nr_intids;		/* set by init */
};
extern struct gic_ops gicv2_ops, gicv3_ops;

/* One level of macros more than read_sysreg, so that the names of sysreg.h are expanded before it
 * makes a string. */
#define get_reg(r) read_sysreg(r)
#define set_reg(v, r) write_sysreg(v, r)

static inline u64 gicv3_ack(void)
{
	u64 ack = get_reg(ICC_IAR1);

	dsb(sy);	/* what the sender of an SGI stored before is visible to us from here on */
	return ack;
}

static inline void gicv3_eoi(u64 ack)
{
	set_reg(ack, ICC_EOIR1);
	isb();
}

#endif
