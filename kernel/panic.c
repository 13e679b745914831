/* SPDX-License-Identifier: MIT */
/*
 * The end of the machine: why, where, and then off. The marker line PERCH-PANIC is for whoever
 * watches the console (scripts/qemu-run fails a test run on it at once).
 */
#include <perch/atomic.h>
#include <perch/boot.h>
#include <perch/cpu.h>
#include <perch/lockcheck.h>
#include <perch/printk.h>
#include <perch/smp.h>
#include <perch/task.h>
#include <stdarg.h>
#include <stdio.h>

void printk_panic_mode(void);

static int panicking;

/* Only the first CPU reports; a second panic (also of the same CPU) just stops. */
static bool enter_panic(void)
{
	irq_disable();
	if (atomic_xchg(&panicking, 1))
		return false;
	lockcheck_off();
	smp_stop_others();
	printk_panic_mode();
	return true;
}

static void __noreturn vpanic(struct pt_regs *regs, const char *fmt, va_list ap)
{
	char reason[256];

	if (!enter_panic())
		for (;;)
			wfi();
	vsnprintf(reason, sizeof(reason), fmt, ap);
	pr_err("Kernel panic: %s\n", reason);
	pr_err("CPU %u, task %s[%u]\n", cpu_id(), current ? current->comm : "none",
	       current ? current->pid : 0);
	if (regs)
		arch_show_regs(regs);
	arch_backtrace(regs);
	pr_err("PERCH-PANIC\n");
	arch_poweroff();
}

void panic(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vpanic(NULL, fmt, ap);
}

void panic_regs(struct pt_regs *regs, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vpanic(regs, fmt, ap);
}
