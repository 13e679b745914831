/* SPDX-License-Identifier: MIT */
/* Firmware calls of the Power State Coordination Interface (DEN0022): CPU on, system off, reset. */
#include <asm/dt.h>
#include <perch/types.h>
#include <string.h>

#include "arch.h"

#define PSCI_SYSTEM_OFF		0x84000008UL
#define PSCI_SYSTEM_RESET	0x84000009UL
#define PSCI_CPU_ON_64		0xc4000003UL

static enum { NONE, HVC, SMC } method;

static long call(u64 fn, u64 a, u64 b, u64 c)
{
	register u64 x0 __asm__("x0") = fn;
	register u64 x1 __asm__("x1") = a;
	register u64 x2 __asm__("x2") = b;
	register u64 x3 __asm__("x3") = c;

#define CLOBBERS "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12", "x13", "x14", "x15", \
	"x16", "x17", "memory"
	if (method == HVC)
		__asm__ volatile("hvc #0" : "+r"(x0), "+r"(x1), "+r"(x2), "+r"(x3) :: CLOBBERS);
	else
		__asm__ volatile("smc #0" : "+r"(x0), "+r"(x1), "+r"(x2), "+r"(x3) :: CLOBBERS);
	return (long)x0;
}

void psci_init(void)
{
	static const char *const names[] = { "arm,psci-1.0", "arm,psci-0.2" };
	const char *how = NULL;

	for (size_t i = 0; !how && i < ARRAY_SIZE(names); i++) {
		int node = dt_find(names[i], -1);

		how = node < 0 ? NULL : dt_string(node, "method");
	}
	if (how)
		method = strcmp(how, "hvc") ? SMC : HVC;
}

bool psci_present(void)
{
	return method != NONE;
}

long psci_cpu_on(u64 mpidr, paddr entry)
{
	return call(PSCI_CPU_ON_64, mpidr, entry, 0);
}

void psci_off(void)
{
	if (method != NONE)
		call(PSCI_SYSTEM_OFF, 0, 0, 0);
}

void psci_reset(void)
{
	if (method != NONE)
		call(PSCI_SYSTEM_RESET, 0, 0, 0);
}
