/* SPDX-License-Identifier: MIT */
/*
 * Finding the PMU and believing nothing about it. The ID register says what the PMU is, the device
 * tree what it is called and how its overflow interrupt is wired (lines.c); the self-test says what
 * of that is true. Without an interrupt Perch counts and does not sample; without advance there is
 * no PMU.
 *
 * One PMU is registered for all CPUs. With pmu_clusters=2 on the command line there are two of the
 * same kind, one for each half of the CPUs, so that what concerns systems with two kinds of cores
 * (events that a task takes to a CPU whose PMU is another, cpu masks, types) can be tried on a
 * machine that has one kind.
 *
 * Context: boot, process context, all CPUs up, before any event exists.
 */
#include "events.h"
#include "lines.h"
#include "pmuv3.h"
#include "regs.h"
#include "selftest.h"

#include <asm/dt.h>
#include <libfdt.h>
#include <perch/boot.h>
#include <perch/cpu.h>
#include <perch/printk.h>
#include <stdio.h>

#define PRETENDED_NAME "armv8_pretended"

static struct pmu pmus[2];

/* The names that Linux gives. Later entries are more general: many trees list both in one node. */
static const struct { const char *compatible, *name; } known[] = {
	{ "arm,cortex-a35-pmu", "armv8_cortex_a35" },
	{ "arm,cortex-a53-pmu", "armv8_cortex_a53" },
	{ "arm,cortex-a55-pmu", "armv8_cortex_a55" },
	{ "arm,cortex-a57-pmu", "armv8_cortex_a57" },
	{ "arm,cortex-a72-pmu", "armv8_cortex_a72" },
	{ "arm,cortex-a73-pmu", "armv8_cortex_a73" },
	{ "arm,cortex-a76-pmu", "armv8_cortex_a76" },
	{ "arm,neoverse-n1-pmu", "armv8_neoverse_n1" },
	{ "arm,armv8-pmuv3", "armv8_pmuv3" },
};

static int find_node(const char **name)
{
	for (size_t i = 0; i < ARRAY_SIZE(known); i++) {
		int node = dt_find(known[i].compatible, -1);

		*name = known[i].name;
		if (node >= 0)
			return node;
	}
	return -1;
}

/* The tree's lines first; if they stay silent, the convention's. */
static struct pmu_findings test(int node)
{
	struct pmu_findings f = pmu_selftest(pmu_lines_of_tree(node));

	if (f.counts && !f.interrupts && pmu_lines_of_convention(node))
		f = pmu_selftest(true);
	return f;
}

static void describe(struct pmu *pmu, const char *name, u64 cpus, u32 nr, bool irq)
{
	pmu->name = name;
	pmu->ops = &pmuv3_ops;
	pmu->cpus = cpus;
	pmu->counters = (BIT(nr) - 1) | BIT(PMU_CYCLE_COUNTER);
	pmu->plain = nr;
	pmu->caps = PMU_EXTENDED_TYPE | PMU_EXTENDED_REGS | (irq ? 0 : PMU_NO_INTERRUPT);
	pmu->attrs = pmu_sysfs_attrs(&pmu->nr_attrs);
}

static void announce(struct pmu *pmu)
{
	int err = pmu_register(pmu);

	if (err)
		pr_err("pmu: cannot register %s: error %d\n", pmu->name, -err);
	else
		pmu_lines_give(pmu);
}

static u64 upper_half(void)
{
	u64 upper = 0;

	for_each_online_cpu(c)
		if (c >= (nr_cpus + 1) / 2)
			upper |= BIT(c);
	return upper;
}

static void announce_all(const char *name, u32 nr, bool irq)
{
	u64 second = cmdline_int("pmu_clusters", 1) == 2 ? upper_half() : 0;

	describe(&pmus[0], name, cpu_online_mask & ~second, nr, irq);
	announce(&pmus[0]);
	if (!second)
		return;
	describe(&pmus[1], PRETENDED_NAME, second, nr, irq);
	announce(&pmus[1]);
	pr_info("pmu: CPUs %#llx have %s, as pmu_clusters=2 says\n", (unsigned long long)second,
		PRETENDED_NAME);
}

/* " 48 49 50 51", or one number if all CPUs have the same. */
static const char *lines_text(char *buf, size_t size)
{
	size_t n = 0;
	u32 last = 0;

	buf[0] = '\0';
	for_each_online_cpu(c) {
		u32 line = pmu_selftest_line(c);

		if (line != last && n < size)
			n += (size_t)snprintf(buf + n, size - n, " %u", line);
		last = line;
	}
	return buf;
}

static void report(const char *name, u32 nr, bool wide, const struct pmu_findings *f)
{
	const char *filters = f->filters ? "not when it is excluded" : "even when it is excluded";
	char lines[64], irq[80];

	if (f->interrupts)
		snprintf(irq, sizeof(irq), "overflow interrupt%s",
			 lines_text(lines, sizeof(lines)));
	else
		snprintf(irq, sizeof(irq), "no overflow interrupt: sampling is refused");
	printk("%spmu: %s: %u %u-bit counters and the cycle counter, counting at EL1, %s; %s\n",
	       f->interrupts && f->filters ? KERN_INFO : KERN_WARN, name, nr, wide ? 64 : 32,
	       filters, irq);
}

void pmuv3_init(void)
{
	u32 version = read_sysreg(id_aa64dfr0_el1) >> 8 & 0xf;
	bool wide = version >= 6 && version != 0xf;	/* PMUv3p5 */
	u32 nr = PMCR_N(read_sysreg(pmcr_el0));
	struct pmu_findings f;
	const char *name;
	int node = find_node(&name);

	if (!version || version == 0xf || node < 0) {
		pr_warn("pmu: none found: hardware events are not supported\n");
		return;
	}
	pmuv3_set_hardware(nr, wide);
	pmu_events_init(version);
	pmu_core_select(name);
	f = test(node);
	if (!f.counts) {
		pr_warn("pmu: %s does not count: hardware events are not supported\n", name);
		return;
	}
	announce_all(name, nr, f.interrupts);
	report(name, nr, wide, &f);
}
