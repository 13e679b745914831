/* SPDX-License-Identifier: MIT */
/* The state of the machine as a whole: stat, uptime, loadavg, cpuinfo, version, cmdline. */
#include "internal.h"
#include <perch/boot.h>
#include <perch/cpu.h>
#include <perch/irq.h>
#include <perch/sched.h>
#include <perch/time.h>
#include <perch/uts.h>

static int cpuinfo_show(struct textbuf *b, void *arg)
{
	for_each_online_cpu(c)
		arch_cpuinfo(b, c);
	return 0;
}

/* --- stat ----------------------------------------------------------------------------------- */

static void add_times(struct cpu_times *sum, const struct cpu_times *t)
{
	sum->user += t->user;
	sum->nice += t->nice;
	sum->system += t->system;
	sum->idle += t->idle;
	sum->iowait += t->iowait;
	sum->irq += t->irq;
	sum->softirq += t->softirq;
}

/* The last three: stolen, guest and niced guest time; there is no hypervisor that tells. */
static void put_times(struct textbuf *b, const struct cpu_times *t)
{
	text_printf(b, " %lu %lu %lu %lu %lu %lu %lu 0 0 0\n", ns_to_ticks(t->user),
		    ns_to_ticks(t->nice), ns_to_ticks(t->system), ns_to_ticks(t->idle),
		    ns_to_ticks(t->iowait), ns_to_ticks(t->irq), ns_to_ticks(t->softirq));
}

static void put_interrupts(struct textbuf *b)
{
	u64 counts[NR_CPUS], total = 0;
	const char *name;
	u32 intid;

	for_each_online_cpu(c)
		total += READ_ONCE(cpus[c].ipi_count);
	for (u32 k = 0; irq_describe(k, &intid, &name, counts); k++)
		for (u32 c = 0; c < nr_cpus; c++)
			total += counts[c];
	text_printf(b, "intr %lu", total);
	for (u32 k = 0; irq_describe(k, &intid, &name, counts); k++) {
		total = 0;
		for (u32 c = 0; c < nr_cpus; c++)
			total += counts[c];
		text_printf(b, " %lu", total);
	}
	text_puts(b, "\n");
}

static int stat_show(struct textbuf *b, void *arg)
{
	struct cpu_times sum = { 0 }, t;

	for_each_online_cpu(c) {
		cpu_times(c, &t);
		add_times(&sum, &t);
	}
	text_puts(b, "cpu ");
	put_times(b, &sum);
	for_each_online_cpu(c) {
		cpu_times(c, &t);
		text_printf(b, "cpu%u", c);
		put_times(b, &t);
	}
	put_interrupts(b);
	text_printf(b, "ctxt %lu\nbtime %ld\nprocesses %u\nprocs_running %u\nprocs_blocked %u\n",
		    nr_context_switches(), (s64)(realtime_offset() / NSEC_PER_SEC), total_forks,
		    nr_running(), nr_blocked());
	text_puts(b, "softirq 0 0 0 0 0 0 0 0 0 0 0\n");	/* Perch has none */
	return 0;
}

/* --- uptime, loadavg ------------------------------------------------------------------------ */

static int uptime_show(struct textbuf *b, void *arg)
{
	u64 up = (u64)ktime_now() / 10000000, idle = 0;	/* hundredths of a second */
	struct cpu_times t;

	for_each_online_cpu(c) {
		cpu_times(c, &t);
		idle += t.idle;
	}
	idle /= 10000000;
	text_printf(b, "%lu.%02lu %lu.%02lu\n", up / 100, up % 100, idle / 100, idle % 100);
	return 0;
}

static int loadavg_show(struct textbuf *b, void *arg)
{
	u64 avg[3];

	loadavg(avg);
	for (int k = 0; k < 3; k++) {
		u64 v = avg[k] + (1 << 16) / 200;	/* to the nearest hundredth */

		text_printf(b, "%lu.%02lu ", v >> 16, ((v & 0xffff) * 100) >> 16);
	}
	text_printf(b, "%u/%u %u\n", nr_running(), nr_tasks, READ_ONCE(last_pid));
	return 0;
}

/* --- names ---------------------------------------------------------------------------------- */

static int version_show(struct textbuf *b, void *arg)
{
	text_printf(b, "%s version %s (perch) (gcc %s) %s\n", uts.sysname, uts.release, __VERSION__,
		    uts.version);
	return 0;
}

static int cmdline_show(struct textbuf *b, void *arg)
{
	text_puts(b, boot_cmdline);
	text_puts(b, "\n");
	return 0;
}

#define SHOW(nm, fn) { nm, { .show = fn } }
static const struct { const char *name; struct knode_ops ops; } files[] = {
	SHOW("cpuinfo", cpuinfo_show), SHOW("stat", stat_show), SHOW("uptime", uptime_show),
	SHOW("loadavg", loadavg_show), SHOW("version", version_show), SHOW("cmdline", cmdline_show),
};

void proc_system_init(void)
{
	for (size_t k = 0; k < ARRAY_SIZE(files); k++)
		knode_file(proc_root, files[k].name, 0444, &files[k].ops, NULL);
}
