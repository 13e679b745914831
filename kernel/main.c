/* SPDX-License-Identifier: MIT */
/*
 * From the end of the architecture's entry code to the first user program. kernel_main runs once on
 * the boot CPU with interrupts off; everything that may sleep happens in the first task, which then
 * becomes /init. The boot CPU's own context ends up as its idle task.
 */
#include <perch/boot.h>
#include <perch/debug.h>
#include <perch/fs.h>
#include <perch/futex.h>
#include <perch/mm.h>
#include <perch/perf.h>
#include <perch/printk.h>
#include <perch/procfs.h>
#include <perch/sched.h>
#include <perch/smp.h>
#include <perch/task.h>
#include <perch/tty.h>
#include <string.h>

#include "init.h"

paddr initrd_start;
u64 initrd_size;
const void *boot_fdt;

struct cpu cpus[NR_CPUS];
u32 nr_cpus = 1;
u64 cpu_online_mask;

static void set_loglevel(void)
{
	if (cmdline_get("quiet", NULL, 0))
		console_loglevel = 4;
	if (cmdline_get("debug", NULL, 0))
		console_loglevel = 8;
	console_loglevel = (int)cmdline_int("loglevel", console_loglevel);
}

/* The console as the first process's standard files; without one it runs silent, as on Linux. */
static void open_console(void)
{
	for (int i = 0; i < 3; i++) {
		struct file *f = file_open(AT_FDCWD, "/dev/console", O_RDWR, 0);
		int fd = IS_ERR(f) ? -1 : fd_alloc(0);

		if (fd < 0) {
			pr_warn("init: no /dev/console (%ld)\n", IS_ERR(f) ? PTR_ERR(f) : (long)fd);
			return;
		}
		fd_install(fd, f);
	}
}

static const char *const init_env[] = { "HOME=/", "TERM=linux", NULL };

static int try_exec(const char *path)
{
	const char *const argv[] = { path, NULL };
	int err = kernel_execve(path, argv, init_env);

	if (err)
		pr_warn("init: cannot run %s: error %d\n", path, -err);
	return err;
}

/* rdinit= or /init of the initramfs, then the usual places. Returns 0 when one is about to run. */
static int exec_init(void)
{
	static const char *const fallback[] = { "/sbin/init", "/etc/init", "/bin/init", "/bin/sh" };
	static char path[256];

	if (cmdline_get("rdinit", path, sizeof(path)) && path[0])
		return try_exec(path);
	if (!try_exec("/init"))
		return 0;
	for (size_t i = 0; i < ARRAY_SIZE(fallback); i++)
		if (!try_exec(fallback[i]))
			return 0;
	return -ENOENT;
}

static void unpack_initramfs(void)
{
	if (!initrd_size) {
		pr_err("no initramfs: start QEMU with -initrd FILE\n");
		return;
	}
	initramfs_unpack(initrd_start, initrd_size);
}

/* The first task. Order matters: names before devices, devices before the console is opened. */
static int kernel_init(void *unused)
{
	(void)unused;
	perf_init();
	smp_init();
	pr_info("smp: %u of %u CPUs online\n", (u32)__builtin_popcountll(cpu_online_mask), nr_cpus);
	vfs_init();
	proc_init();
	sysfs_init();
	devices_init();
	arch_init_late();
	tty_init();
	debug_init();
	unpack_initramfs();
	open_console();
	pr_info("boot: %lu ms to init\n", (long)(ktime_now() / NSEC_PER_MSEC));
	if (exec_init())
		panic("no init program could be run: the initramfs needs an executable /init");
	return 0;
}

void kernel_main(void)
{
	struct task *t;

	arch_init_early();
	set_loglevel();
	pr_info("Perch %s: %s\n", perch_version, boot_cmdline[0] ? boot_cmdline : "(no command line)");
	pr_info("memory: %lu MiB, %lu MiB free\n", (long)(mem_stats.total_pages >> 8),
		(long)(mem_stats.free_pages >> 8));
	stack_canary_init();
	sched_init();
	arch_init_irq();
	time_init();
	sched_init_cpu();
	timer_init_cpu();
	printk_clock_ready();
	irq_enable();
	task_init();
	futex_init();
	t = kthread_create(kernel_init, NULL, 0, "init");
	if (IS_ERR(t))
		panic("cannot make the first task: error %ld", -PTR_ERR(t));
	wake_up_new_task(t);
	cpu_idle();
}

void secondary_main(void)
{
	sched_init_cpu();
	timer_init_cpu();
	perf_cpu_online();
	atomic_or(&cpu_online_mask, BIT(cpu_id()));
	this_cpu()->online = true;
	irq_enable();
	cpu_idle();
}
