/* SPDX-License-Identifier: MIT */
/*
 * GICv2 (IHI 0048B; GIC-400): distributor and CPU interface in memory. Works in either security
 * state, because the bits used have the same place in both views. Nothing is believed of what the
 * boot loader left: lines may be enabled, active or edge-triggered.
 *
 * Barriers. The interface is memory, so nothing orders its acknowledge register against other
 * loads: a handler could otherwise work on data that it loaded before the acknowledge, while the
 * sender of a second SGI, which this acknowledge takes, had already stored newer. And "BCM2711 ARM
 * Peripherals" 1.3 asks for a barrier wherever accesses to one peripheral are followed by those to
 * another, with interrupt handlers named as such places.
 */
#include <asm/cpu.h>
#include <asm/dt.h>
#include <asm/io.h>
#include <asm/pgtable.h>
#include <perch/cpu.h>

#include "gic.h"

#define GICD_CTLR	0x000
#define GICD_TYPER	0x004
#define GICD_ISENABLER	0x100
#define GICD_ICENABLER	0x180
#define GICD_ICACTIVER	0x380
#define GICD_IPRIORITYR	0x400
#define GICD_ITARGETSR	0x800
#define GICD_ICFGR	0xc00
#define GICD_SGIR	0xf00
#define GICC_CTLR	0x000
#define GICC_CTLR_BYPASS 0x1e0	/* what happens to the lines while the interface is off: keep */
#define GICC_PMR	0x004
#define GICC_IAR	0x00c
#define GICC_EOIR	0x010
#define GICC_APR	0xd0	/* active priorities, four words */

static void *dist, *cpuif;
static u8 cpu_mask[NR_CPUS];	/* each CPU's interface bit, which only itself can read */

static u32 prio_word(void)
{
	return GIC_PRIO * 0x01010101u;
}

static bool v2_init(void)
{
	static const char *const names[] = {
		"arm,gic-400", "arm,cortex-a15-gic", "arm,cortex-a9-gic",
	};
	int node = -1;
	paddr d, c;
	u64 dsize, csize;

	for (size_t i = 0; node < 0 && i < ARRAY_SIZE(names); i++)
		node = dt_find(names[i], -1);
	if (node < 0 || !dt_reg(node, 0, &d, &dsize) || !dt_reg(node, 1, &c, &csize))
		return false;
	dist = ioremap(d, dsize);
	cpuif = ioremap(c, csize);
	if (!dist || !cpuif)
		return false;
	mmio_write(dist, GICD_CTLR, 0);
	gicv2_ops.nr_intids = min(32 * ((mmio_read(dist, GICD_TYPER) & 31) + 1), 1020u);
	for (u32 i = 32; i < gicv2_ops.nr_intids; i += 32) {
		mmio_write(dist, GICD_ICENABLER + i / 8, ~0u);
		mmio_write(dist, GICD_ICACTIVER + i / 8, ~0u);
	}
	for (u32 i = 32; i < gicv2_ops.nr_intids; i += 16)
		mmio_write(dist, GICD_ICFGR + i / 4, 0);	/* levels: all that we drive */
	for (u32 i = 32; i < gicv2_ops.nr_intids; i += 4)
		mmio_write(dist, GICD_IPRIORITYR + i, prio_word());
	mmio_write(dist, GICD_CTLR, 1);
	return true;
}

static void v2_init_cpu(void)
{
	u32 targets = mmio_read(dist, GICD_ITARGETSR);

	cpu_mask[cpu_id()] = (u8)(targets | targets >> 8 | targets >> 16 | targets >> 24);
	if (!cpu_mask[cpu_id()])
		cpu_mask[cpu_id()] = 1;		/* a uniprocessor GIC reads as 0 */
	mmio_write(dist, GICD_ICENABLER, 0xffff0000);
	mmio_write(dist, GICD_ICACTIVER, ~0u);
	for (u32 i = 0; i < 32; i += 4)
		mmio_write(dist, GICD_IPRIORITYR + i, prio_word());
	mmio_write(dist, GICD_ISENABLER, 0xffff);
	for (u32 i = 0; i < 4; i++)
		mmio_write(cpuif, GICC_APR + 4 * i, 0);
	mmio_write(cpuif, GICC_PMR, 0xf0);
	mmio_write(cpuif, GICC_CTLR, (mmio_read(cpuif, GICC_CTLR) & GICC_CTLR_BYPASS) | 1);
}

static u64 v2_ack(void)
{
	u32 ack;

	dmb(oshld);	/* whatever the interrupted code was reading */
	ack = mmio_read(cpuif, GICC_IAR);
	dmb(oshld);	/* the handler's loads come after */
	return ack;
}

static void v2_eoi(u64 ack)
{
	dmb(oshst);	/* the handler has quietened its device */
	mmio_write(cpuif, GICC_EOIR, (u32)ack);
}

static void v2_enable(u32 intid)
{
	mmio_write(dist, GICD_ISENABLER + intid / 32 * 4, 1u << intid % 32);
}

static void v2_disable(u32 intid)
{
	mmio_write(dist, GICD_ICENABLER + intid / 32 * 4, 1u << intid % 32);
}

static void v2_route(u32 intid, u32 cpu)
{
	u32 off = GICD_ITARGETSR + (intid & ~3u), shift = intid % 4 * 8;
	u32 v = mmio_read(dist, off) & ~(0xffu << shift);

	mmio_write(dist, off, v | (u32)cpu_mask[cpu] << shift);
}

static void v2_send(u32 cpu, u32 sgi)
{
	dsb(ishst);
	mmio_write(dist, GICD_SGIR, (u32)cpu_mask[cpu] << 16 | sgi);
}

struct gic_ops gicv2_ops = {
	.init = v2_init,
	.init_cpu = v2_init_cpu,
	.ack = v2_ack,
	.eoi = v2_eoi,
	.enable = v2_enable,
	.disable = v2_disable,
	.route = v2_route,
	.send = v2_send,
};
