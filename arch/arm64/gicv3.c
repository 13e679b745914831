/* SPDX-License-Identifier: MIT */
/* GICv3 and v4 (IHI 0069): distributor and one redistributor per CPU in memory, the CPU interface
 * in system registers. All interrupts are group 1. No LPIs. */
#include <asm/cpu.h>
#include <asm/dt.h>
#include <asm/io.h>
#include <asm/pgtable.h>
#include <perch/cpu.h>
#include <perch/printk.h>

#include "gic.h"

#define GICD_CTLR	0x0000
#define GICD_TYPER	0x0004
#define GICD_IGROUPR	0x0080
#define GICD_ISENABLER	0x0100
#define GICD_ICENABLER	0x0180
#define GICD_IPRIORITYR	0x0400
#define GICD_IROUTER	0x6000
#define GICD_CTLR_RWP	BIT(31)
#define GICD_CTLR_ON	0x13	/* affinity routing, group 1 (in both security views) */
#define GICR_TYPER	0x0008
#define GICR_WAKER	0x0014
#define WAKER_SLEEP	BIT(1)
#define WAKER_ASLEEP	BIT(2)
#define GICR_SGI	0x10000	/* the frame with SGI and PPI registers */
#define GICR_STRIDE	0x20000
#define TYPER_VLPIS	BIT(1)
#define TYPER_LAST	BIT(4)
#define MAX_REGIONS	4

static void *dist;
static struct { char *base; u64 size; } region[MAX_REGIONS];
static u32 nr_regions;
static char *redist[NR_CPUS];

static void wait_dist(void)
{
	while (mmio_read(dist, GICD_CTLR) & GICD_CTLR_RWP)
		cpu_relax();
}

static void init_dist(void)
{
	mmio_write(dist, GICD_CTLR, 0);
	wait_dist();
	gicv3_ops.nr_intids = min(32 * ((mmio_read(dist, GICD_TYPER) & 31) + 1), 1020u);
	for (u32 i = 32; i < gicv3_ops.nr_intids; i += 32) {
		mmio_write(dist, GICD_ICENABLER + i / 8, ~0u);
		mmio_write(dist, GICD_IGROUPR + i / 8, ~0u);
	}
	for (u32 i = 32; i < gicv3_ops.nr_intids; i += 4)
		mmio_write(dist, GICD_IPRIORITYR + i, GIC_PRIO * 0x01010101u);
	wait_dist();
	mmio_write(dist, GICD_CTLR, GICD_CTLR_ON);
	wait_dist();
}

static bool v3_init(void)
{
	int node = dt_find("arm,gic-v3", -1);
	paddr base;
	u64 size;
	u32 n;

	if (node < 0 || !dt_reg(node, 0, &base, &size))
		return false;
	dist = ioremap(base, size);
	n = min(dt_u32(node, "#redistributor-regions", 1), (u32)MAX_REGIONS);
	for (u32 i = 0; i < n && dt_reg(node, 1 + i, &base, &size); i++) {
		region[i].base = ioremap(base, size);
		region[i].size = size;
		nr_regions += region[i].base != NULL;
	}
	if (!dist || !nr_regions)
		return false;
	init_dist();
	return true;
}

/* Affinity as GICR_TYPER[63:32] has it. */
static u32 own_affinity(void)
{
	u64 m = this_cpu()->mpidr;

	return (u32)(m & 0xffffff) | (u32)(m >> 8 & 0xff000000);
}

static char *find_redist(void)
{
	for (u32 r = 0; r < nr_regions; r++) {
		char *p = region[r].base, *end = p + region[r].size;

		while (p < end) {
			u64 typer = mmio_read64(p, GICR_TYPER);

			if (typer >> 32 == own_affinity())
				return p;
			if (typer & TYPER_LAST)
				break;
			p += GICR_STRIDE * (typer & TYPER_VLPIS ? 2 : 1);
		}
	}
	panic("gicv3: no redistributor for CPU %u", cpu_id());
}

static void wake_redist(char *r)
{
	mmio_write(r, GICR_WAKER, mmio_read(r, GICR_WAKER) & ~(u32)WAKER_SLEEP);
	while (mmio_read(r, GICR_WAKER) & WAKER_ASLEEP)
		cpu_relax();
}

static void v3_init_cpu(void)
{
	char *r = find_redist();

	redist[cpu_id()] = r;
	wake_redist(r);
	mmio_write(r, GICR_SGI + GICD_ICENABLER, 0xffff0000);
	mmio_write(r, GICR_SGI + GICD_IGROUPR, ~0u);
	for (u32 i = 0; i < 32; i += 4)
		mmio_write(r, GICR_SGI + GICD_IPRIORITYR + i, GIC_PRIO * 0x01010101u);
	mmio_write(r, GICR_SGI + GICD_ISENABLER, 0xffff);
	set_reg(get_reg(ICC_SRE) | 1, ICC_SRE);
	isb();
	set_reg(0xf0, ICC_PMR);
	set_reg(0, ICC_BPR1);
	set_reg(0, ICC_CTLR);
	set_reg(1, ICC_IGRPEN1);
	isb();
}

static void v3_enable(u32 intid)
{
	if (intid < 32)
		mmio_write(redist[cpu_id()], GICR_SGI + GICD_ISENABLER, 1u << intid);
	else
		mmio_write(dist, GICD_ISENABLER + intid / 32 * 4, 1u << intid % 32);
}

static void v3_disable(u32 intid)
{
	if (intid < 32)
		mmio_write(redist[cpu_id()], GICR_SGI + GICD_ICENABLER, 1u << intid);
	else
		mmio_write(dist, GICD_ICENABLER + intid / 32 * 4, 1u << intid % 32);
}

static void v3_route(u32 intid, u32 cpu)
{
	mmio_write64(dist, GICD_IROUTER + intid * 8, cpus[cpu].mpidr & 0xff00ffffffUL);
}

static void v3_send(u32 cpu, u32 sgi)
{
	u64 m = cpus[cpu].mpidr, aff0 = m & 0xff;
	u64 v = (m >> 32 & 0xff) << 48 | (m >> 16 & 0xff) << 32 | (m >> 8 & 0xff) << 16;

	dsb(ishst);
	set_reg(v | (aff0 >> 4) << 44 | (u64)sgi << 24 | 1UL << (aff0 & 15), ICC_SGI1R);
	isb();
}

struct gic_ops gicv3_ops = {
	.init = v3_init,
	.init_cpu = v3_init_cpu,
	.ack = gicv3_ack,
	.eoi = gicv3_eoi,
	.enable = v3_enable,
	.disable = v3_disable,
	.route = v3_route,
	.send = v3_send,
};
