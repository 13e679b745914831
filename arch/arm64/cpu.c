/* SPDX-License-Identifier: MIT */
/* Control registers of a CPU beyond those of head.S, and what /proc and sysfs say about it. */
#include <asm/cpu.h>
#include <asm/sysreg.h>
#include <perch/boot.h>
#include <perch/cpu.h>
#include <perch/fs.h>
#include <perch/time.h>

#include "arch.h"

#define CNTKCTL_EL0VCTEN (1UL << 1)	/* EL0 reads CNTVCT and CNTFRQ */
#define CNTKCTL_EVNTEN	(1UL << 2)
#define CNTKCTL_EVNTI	4

#define xstr(x) #x
#define str(x) xstr(x)

static struct { u64 midr, revidr; } ident[NR_CPUS];	/* own CPU writes at its start */
bool cpu_has_pan;					/* read by uaccess.S */

/* The event stream wakes WFE at about 10 kHz: HWCAP_EVTSTRM promises that to code that polls. */
static u64 event_stream_bits(void)
{
	u32 log = 63 - (u32)__builtin_clzll(timer_freq() / 10000 | 1);

	return CNTKCTL_EVNTEN | (u64)(log > 15 ? 15 : log ? log - 1 : 0) << CNTKCTL_EVNTI;
}

void cpu_init_local(void)
{
	u32 id = cpu_id(), pmu_version = read_sysreg(id_aa64dfr0_el1) >> 8 & 15;

	ident[id].midr = read_sysreg(midr_el1);
	ident[id].revidr = read_sysreg(revidr_el1);
	cpu_has_pan = read_sysreg(id_aa64mmfr1_el1) >> 20 & 15;
	write_sysreg(CNTKCTL_EL0VCTEN | event_stream_bits(), cntkctl_el1);
	write_sysreg(0, mdscr_el1);
	write_sysreg(0, oslar_el1);	/* locked at reset, and then no debug exception is taken */
	write_sysreg(0, tpidr_el0);
	write_sysreg(0, tpidrro_el0);
	write_sysreg(0, contextidr_el1);
	if (pmu_version && pmu_version != 15)
		write_sysreg(0, pmuserenr_el0);
	if (read_sysreg(id_aa64pfr0_el1) >> 44 & 15)
		__asm__ volatile("msr " str(AMUSERENR_EL0) ", xzr");
	isb();
}

u64 arch_cpu_midr(u32 cpu)
{
	return cpu < nr_cpus ? ident[cpu].midr : 0;
}

u64 arch_cpu_revidr(u32 cpu)
{
	return cpu < nr_cpus ? ident[cpu].revidr : 0;
}

const char *arch_platform(void)
{
	return "aarch64";
}

/* One CPU's paragraph, as Linux words it. */
void arch_cpuinfo(struct textbuf *b, u32 cpu)
{
	u32 midr = (u32)arch_cpu_midr(cpu);
	u64 lpj = timer_freq() / HZ;

	text_printf(b, "processor\t: %u\n", cpu);
	text_printf(b, "BogoMIPS\t: %lu.%02lu\n", (unsigned long)(lpj / (500000 / HZ)),
		    (unsigned long)(lpj / (5000 / HZ) % 100));
	text_puts(b, "Features\t:");
	features_show(b);
	text_printf(b, "\nCPU implementer\t: 0x%02x\n", midr >> 24);
	text_puts(b, "CPU architecture: 8\n");
	text_printf(b, "CPU variant\t: 0x%x\n", midr >> 20 & 15);
	text_printf(b, "CPU part\t: 0x%03x\n", midr >> 4 & 0xfff);
	text_printf(b, "CPU revision\t: %u\n\n", midr & 15);
}
