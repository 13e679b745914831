/* SPDX-License-Identifier: MIT */
/*
 * /proc/sys/kernel. Variables that do something are writable as on Linux; those that describe a
 * fact of this kernel are read only.
 */
#include "internal.h"
#include <perch/cred.h>
#include <perch/mm.h>
#include <perch/page.h>
#include <perch/perf.h>
#include <perch/printk.h>
#include <perch/random.h>
#include <perch/task.h>
#include <perch/uts.h>
#include <stdio.h>
#include <string.h>

extern int dmesg_restrict;		/* kernel/syslog.c */

/* --- names ---------------------------------------------------------------------------------- */

enum uts_field { UTS_TYPE, UTS_RELEASE, UTS_VERSION, UTS_MACHINE, UTS_HOST, UTS_DOMAIN };

static int uts_show(struct textbuf *b, void *arg)
{
	struct utsname u;

	uts_read(&u);
	switch ((enum uts_field)(u64)arg) {
	case UTS_TYPE: text_puts(b, u.sysname); break;
	case UTS_RELEASE: text_puts(b, u.release); break;
	case UTS_VERSION: text_puts(b, u.version); break;
	case UTS_MACHINE: text_puts(b, u.machine); break;
	case UTS_HOST: text_puts(b, u.nodename); break;
	case UTS_DOMAIN: text_puts(b, u.domainname); break;
	}
	text_puts(b, "\n");
	return 0;
}

/* The first line, cut to what fits. */
static ssize_t uts_store(const char *buf, size_t len, void *arg)
{
	size_t n = min_t(size_t, strcspn(buf, "\n"), UTS_LEN - 1);
	int err = uts_set((u64)arg == UTS_DOMAIN, buf, n);

	return err ? err : (ssize_t)len;
}

static const struct knode_ops uts_ops = { .show = uts_show };
static const struct knode_ops uts_rw_ops = { .show = uts_show, .store = uts_store };

static void add_names(void)
{
	static const struct { const char *path; enum uts_field field; } fixed[] = {
		{ "kernel/ostype", UTS_TYPE }, { "kernel/osrelease", UTS_RELEASE },
		{ "kernel/version", UTS_VERSION }, { "kernel/arch", UTS_MACHINE },
	};

	for (size_t k = 0; k < ARRAY_SIZE(fixed); k++)
		knode_file(proc_sys_root, fixed[k].path, 0444, &uts_ops,
			   (void *)(u64)fixed[k].field);
	knode_file(proc_sys_root, "kernel/hostname", 0644, &uts_rw_ops, (void *)(u64)UTS_HOST);
	knode_file(proc_sys_root, "kernel/domainname", 0644, &uts_rw_ops, (void *)(u64)UTS_DOMAIN);
}

/* --- perf_x --------------------------------------------------------------------------------- */

static int perf_show(struct textbuf *b, void *arg)
{
	const struct perf_sysctl *s = arg;

	text_printf(b, "%d\n", READ_ONCE(s->value));
	return 0;
}

static ssize_t perf_store(const char *buf, size_t len, void *arg)
{
	long v;
	int err = sysctl_parse_int(buf, &v);

	if (!err)
		err = perf_sysctl_set(arg, (int)v);
	return err ? err : (ssize_t)len;
}

static void add_perf(void)
{
	static const struct knode_ops ops = { .show = perf_show, .store = perf_store };
	char path[64];

	for (struct perf_sysctl *s = perf_sysctls; s->name; s++) {
		snprintf(path, sizeof(path), "kernel/%s", s->name);
		knode_file(proc_sys_root, path, 0644, &ops, s);
	}
}

/* --- random --------------------------------------------------------------------------------- */

static void put_uuid(struct textbuf *b, const u8 *u)
{
	for (int k = 0; k < 16; k++)
		text_printf(b, "%s%02x", k == 4 || k == 6 || k == 8 || k == 10 ? "-" : "", u[k]);
	text_puts(b, "\n");
}

static void make_uuid(u8 *u)
{
	random_bytes(u, 16);
	u[6] = (u8)((u[6] & 0x0f) | 0x40);	/* version 4: random */
	u[8] = (u8)((u[8] & 0x3f) | 0x80);
}

static int uuid_show(struct textbuf *b, void *arg)
{
	u8 u[16];

	make_uuid(u);
	put_uuid(b, u);
	return 0;
}

static u8 boot_id[16];

static int boot_id_show(struct textbuf *b, void *arg)
{
	put_uuid(b, boot_id);
	return 0;
}

static void add_random(void)
{
	static const struct knode_ops uuid_ops = { .show = uuid_show };
	static const struct knode_ops boot_ops = { .show = boot_id_show };

	make_uuid(boot_id);
	knode_file(proc_sys_root, "kernel/random/uuid", 0444, &uuid_ops, NULL);
	knode_file(proc_sys_root, "kernel/random/boot_id", 0444, &boot_ops, NULL);
	/* the generator is seeded once and then never short */
	sysctl_text_file("kernel/random/entropy_avail", "256");
	sysctl_text_file("kernel/random/poolsize", "256");
}

/* --- printk: four levels, of which the first is used ---------------------------------------- */

static int printk_show(struct textbuf *b, void *arg)
{
	text_printf(b, "%d\t4\t1\t7\n", READ_ONCE(console_loglevel));
	return 0;
}

static ssize_t printk_store(const char *buf, size_t len, void *arg)
{
	char first[16];
	long v;

	buf += strspn(buf, " \t\n");
	strlcpy(first, buf, min_t(size_t, sizeof(first), strcspn(buf, " \t\n") + 1));
	if (sysctl_parse_int(first, &v))
		return -EINVAL;
	WRITE_ONCE(console_loglevel, (int)v);
	return (ssize_t)len;
}

static int number_show(struct textbuf *b, void *arg)
{
	text_printf(b, "%u\n", READ_ONCE(*(u32 *)arg));
	return 0;
}

/* --- the rest ------------------------------------------------------------------------------- */

static const struct { const char *path; struct sysctl_int s; } ints[] = {
	{ "kernel/randomize_va_space", { &randomize_va_space, 0, 2, NULL, -1 } },
	{ "kernel/kptr_restrict", { &sysctl_kptr_restrict, 0, 2, NULL, CAP_SYS_ADMIN } },
	{ "kernel/dmesg_restrict", { &dmesg_restrict, 0, 1, NULL, CAP_SYS_ADMIN } },
	{ "kernel/threads-max", { (int *)&max_threads, 20, INT32_MAX, NULL, -1 } },
};

static const struct { const char *path, *text; } facts[] = {
	{ "kernel/cap_last_cap", "40" }, { "kernel/pid_max", "32768" },
	{ "kernel/overflowuid", "65534" }, { "kernel/overflowgid", "65534" },
	{ "kernel/tainted", "0" }, { "kernel/core_pattern", "core" },
	{ "kernel/core_uses_pid", "0" }, { "kernel/sysctl_writes_strict", "1" },
	/* the machine ends at once */
	{ "kernel/panic", "0" }, { "kernel/panic_on_oops", "1" },
	{ "kernel/nmi_watchdog", "0" }, { "kernel/watchdog", "0" }, { "kernel/soft_watchdog", "0" },
	{ "kernel/numa_balancing", "0" }, { "kernel/sched_rr_timeslice_ms", "100" },
	{ "kernel/sched_rt_period_us", "1000000" }, { "kernel/sched_rt_runtime_us", "-1" },
	{ "kernel/sched_schedstats", "0" }, { "kernel/modules_disabled", "1" },
	{ "kernel/kexec_load_disabled", "1" }, { "kernel/io_uring_disabled", "2" },
	{ "kernel/unprivileged_bpf_disabled", "2" }, { "kernel/sysrq", "1" },
};

_Static_assert(CAP_LAST == 40, "cap_last_cap");

void proc_sysctl_init(void)
{
	static const struct knode_ops printk_ops = { .show = printk_show, .store = printk_store };
	static const struct knode_ops number_ops = { .show = number_show };
	static char ngroups[8];

	add_names();
	add_perf();
	add_random();
	knode_file(proc_sys_root, "kernel/printk", 0644, &printk_ops, NULL);
	knode_file(proc_sys_root, "kernel/ns_last_pid", 0444, &number_ops, &last_pid);
	snprintf(ngroups, sizeof(ngroups), "%u", NGROUPS_MAX);
	sysctl_text_file("kernel/ngroups_max", ngroups);
	for (size_t k = 0; k < ARRAY_SIZE(ints); k++)
		sysctl_int_file(ints[k].path, 0644, &ints[k].s);
	for (size_t k = 0; k < ARRAY_SIZE(facts); k++)
		sysctl_text_file(facts[k].path, facts[k].text);
}
