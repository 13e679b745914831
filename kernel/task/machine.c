/* SPDX-License-Identifier: MIT */
/* Calls about the machine as a whole: reboot(2), sysinfo(2). */
#include <perch/boot.h>
#include <perch/cred.h>
#include <perch/errno.h>
#include <perch/page.h>
#include <perch/printk.h>
#include <perch/syscall.h>
#include <perch/uaccess.h>
#include <string.h>

#include "internal.h"

#define REBOOT_MAGIC1	0xfee1deadu
#define REBOOT_RESTART	0x01234567u
#define REBOOT_HALT	0xcdef0123u
#define REBOOT_POWER_OFF 0x4321fedcu
#define REBOOT_RESTART2	0xa1b2c3d4u
#define REBOOT_CAD_ON	0x89abcdefu
#define REBOOT_CAD_OFF	0x00000000u

static bool magic_ok(u32 magic1, u32 magic2)
{
	/* The second one is the birthday of Linus Torvalds or one of his daughters. */
	return magic1 == REBOOT_MAGIC1 && (magic2 == 0x28121969 || magic2 == 0x05121996 ||
					   magic2 == 0x16041998 || magic2 == 0x20112000);
}

long sys_reboot(u32 magic1, u32 magic2, u32 cmd, void __user *arg)
{
	if (!capable(CAP_SYS_BOOT))
		return -EPERM;
	if (!magic_ok(magic1, magic2))
		return -EINVAL;
	switch (cmd) {
	case REBOOT_RESTART:
	case REBOOT_RESTART2:
		pr_info("reboot: Restarting system\n");
		arch_reboot();
	case REBOOT_HALT:
		pr_info("reboot: System halted\n");
		arch_poweroff();	/* a halted virtual machine would only burn time */
	case REBOOT_POWER_OFF:
		pr_info("reboot: Power down\n");
		arch_poweroff();
	case REBOOT_CAD_ON:
	case REBOOT_CAD_OFF:
		return 0;	/* there is no Ctrl-Alt-Del here */
	}
	return -EINVAL;
}

struct sysinfo_abi {
	s64 uptime;
	u64 loads[3];
	u64 totalram, freeram, sharedram, bufferram, totalswap, freeswap;
	u16 procs, pad;
	u64 totalhigh, freehigh;
	u32 mem_unit;
};
_Static_assert(sizeof(struct sysinfo_abi) == 112, "struct sysinfo");

long sys_sysinfo(struct sysinfo_abi __user *out)
{
	struct sysinfo_abi si;

	memset(&si, 0, sizeof(si));
	si.uptime = DIV_ROUND_UP(ktime_now(), NSEC_PER_SEC);
	loadavg(si.loads);
	si.totalram = mem_stats.total_pages << PAGE_SHIFT;
	si.freeram = mem_stats.free_pages << PAGE_SHIFT;
	si.sharedram = mem_stats.shmem_pages << PAGE_SHIFT;
	si.procs = (u16)nr_tasks;
	si.mem_unit = 1;
	return copy_to_user(out, &si, sizeof(si)) ? -EFAULT : 0;
}
