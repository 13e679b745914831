/* SPDX-License-Identifier: MIT */
/* What the kernel has of this and that: devices, file systems, interrupts, locks; and what it has
 * none of. */
#include "internal.h"
#include <perch/cpu.h>
#include <perch/irq.h>
#include <perch/tty.h>
#include <stdio.h>

static int devices_show(struct textbuf *b, void *arg)
{
	chrdevs_show(b);
	return 0;
}

static int filesystems_show(struct textbuf *b, void *arg)
{
	fs_types_show(b);
	return 0;
}

static int file_locks_show(struct textbuf *b, void *arg)
{
	locks_show(b);
	return 0;
}

static int interrupts_show(struct textbuf *b, void *arg)
{
	u64 counts[NR_CPUS];
	const char *name;
	u32 intid;

	text_puts(b, "     ");
	for_each_online_cpu(c)
		text_printf(b, "      CPU%-2u", c);
	text_puts(b, "\n");
	for (u32 k = 0; irq_describe(k, &intid, &name, counts); k++) {
		text_printf(b, "%3u: ", k);
		for_each_online_cpu(c)
			text_printf(b, "%10lu ", counts[c]);
		text_printf(b, "GIC-0 %3u %-8s  %s\n", intid, "Level", name);
	}
	text_puts(b, "Err:          0\n");
	return 0;
}

/* Perch has no soft interrupts: the table is there, and all of it is 0. */
static int softirqs_show(struct textbuf *b, void *arg)
{
	static const char *const names[] = { "HI", "TIMER", "NET_TX", "NET_RX", "BLOCK", "IRQ_POLL",
					     "TASKLET", "SCHED", "HRTIMER", "RCU" };

	text_puts(b, "                    ");
	for_each_online_cpu(c)
		text_printf(b, "CPU%-8u", c);
	text_puts(b, "\n");
	for (size_t k = 0; k < ARRAY_SIZE(names); k++) {
		text_printf(b, "%12s:", names[k]);
		for_each_online_cpu(c)
			text_printf(b, " %10u", 0);
		text_puts(b, "\n");
	}
	return 0;
}

static int nothing_show(struct textbuf *b, void *arg)
{
	return 0;
}

/* A line that is always the same. */
static int constant_show(struct textbuf *b, void *arg)
{
	text_puts(b, arg);
	return 0;
}

static int consoles_show(struct textbuf *b, void *arg)
{
	const struct uart_ops *u = console_uart();

	char name[24];

	if (!u)
		return 0;
	snprintf(name, sizeof(name), "%s0", u->name);
	text_printf(b, "%-21s-W- (EC  p a) %4u:%u\n", name, u->major, u->minor);
	return 0;
}

static const struct knode_ops constant_ops = { .show = constant_show };
static const struct { const char *name; struct knode_ops ops; } files[] = {
	{ "devices", { .show = devices_show } }, { "filesystems", { .show = filesystems_show } },
	{ "locks", { .show = file_locks_show } }, { "interrupts", { .show = interrupts_show } },
	{ "softirqs", { .show = softirqs_show } }, { "consoles", { .show = consoles_show } },
	/* no modules, disks, or devices on the misc major */
	{ "modules", { .show = nothing_show } }, { "diskstats", { .show = nothing_show } },
	{ "misc", { .show = nothing_show } }, { "partitions", { .show = nothing_show } },
};
static const struct { const char *name, *text; } constants[] = {
	{ "execdomains", "0-0\tLinux           \t[kernel]\n" },
	{ "tty/ldiscs", "n_tty       0\n" },
};

void proc_tables_init(void)
{
	for (size_t k = 0; k < ARRAY_SIZE(files); k++)
		knode_file(proc_root, files[k].name, 0444, &files[k].ops, NULL);
	for (size_t k = 0; k < ARRAY_SIZE(constants); k++)
		knode_file(proc_root, constants[k].name, 0444, &constant_ops,
			   (void *)constants[k].text);
}
