/* SPDX-License-Identifier: MIT */
#ifndef DT_INTERNAL_H
#define DT_INTERNAL_H

#include <asm/dt.h>

/* n big-endian cells as one number. */
u64 dt_cells(const void *p, u32 n);
/* MPIDR affinity of a /cpus/cpu@N node. */
bool dt_cpu_mpidr(int node, u64 *mpidr);

#endif
