/* SPDX-License-Identifier: MIT */
/* The machine of tests/host-pmu: system registers by name. */
#ifndef HOST_PMU_CPU_H
#define HOST_PMU_CPU_H

#include <perch/types.h>

struct cpu;
u64 reg_read(const char *name);
void reg_write(const char *name, u64 v);
struct cpu *this_cpu(void);

#define read_sysreg(r) reg_read(#r)
#define write_sysreg(v, r) reg_write(#r, v)
#define isb() ((void)0)

#endif
