/* SPDX-License-Identifier: MIT */
/*
 * What drivers ask the device tree. Nodes are offsets >= 0 (libfdt); all functions only read
 * boot_fdt and may be called from any context, but cost a walk of the tree: at boot only.
 */
#ifndef ASM_DT_H
#define ASM_DT_H

#include <perch/types.h>

/* The next node after `after` (-1: from the start) that is compatible with name and not disabled,
 * or -1. */
int dt_find(const char *compatible, int after);
/* The node that stdout-path or, without it, the alias serial0 names; -1 if there is none. */
int dt_stdout(void);
/* Physical address and size of the index-th reg entry, translated through the parents' ranges. */
bool dt_reg(int node, u32 index, paddr *base, u64 *size);
/* INTID of the index-th interrupt, or false. Only interrupts that go to the GIC. */
bool dt_irq(int node, u32 index, u32 *intid);
/* The CPU (logical number) of the index-th interrupt-affinity entry, or -1 if it names none of
 * ours. */
int dt_irq_affinity(int node, u32 index);
/* A string or cell property; the string is in the tree. NULL / fallback if absent. */
const char *dt_string(int node, const char *name);
u32 dt_u32(int node, const char *name, u32 fallback);

#endif
