/* SPDX-License-Identifier: MIT */
/*
 * Side-band: what happened to tasks and mappings, for whoever reads a ring.
 *
 * These records only ever go to rings. As long as no event can have one, the correct number of
 * records is none: the hooks are here so that the kernel calls them from the first day, and
 * perf_wants_mmap() keeps the expensive one out of the way.
 */
#include "core.h"

u32 perf_mmap_users;

void perf_forked(struct task *child)
{
	(void)child;
}

void perf_comm(struct task *t)
{
	(void)t;
}

void perf_mmap(const struct perf_mapping *m)
{
	(void)m;
}
