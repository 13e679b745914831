/* SPDX-License-Identifier: MIT */
/* The rare part of the registers of kernel/perf/host.h; the rest is inline, <perch/perf_host_types.h>. */
#include <kernel/perf/host.h>

#define PERF_REG_VG 46		/* the length of SVE vectors */

u64 host_regs_extended(void)
{
	return BIT(PERF_REG_VG);
}
