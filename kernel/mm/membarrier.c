/* SPDX-License-Identifier: MIT */
/*
 * membarrier(2): a memory barrier on every CPU that runs user code of the address space (or of
 * anybody), by an interrupt to each.
 *
 * rseq does not exist here, so its commands are not offered.
 */
#include <perch/cpu.h>
#include <perch/errno.h>
#include <perch/mm.h>
#include <perch/smp.h>
#include <perch/syscall.h>
#include "internal.h"

#define QUERY			0
#define GLOBAL			(1 << 0)
#define GLOBAL_EXPEDITED	(1 << 1)
#define REGISTER_GLOBAL		(1 << 2)
#define PRIVATE_EXPEDITED	(1 << 3)
#define REGISTER_PRIVATE	(1 << 4)
#define PRIVATE_SYNC_CORE	(1 << 5)
#define REGISTER_SYNC_CORE	(1 << 6)
#define GET_REGISTRATIONS	(1 << 9)
#define ALL (GLOBAL | GLOBAL_EXPEDITED | REGISTER_GLOBAL | PRIVATE_EXPEDITED | REGISTER_PRIVATE | \
	     PRIVATE_SYNC_CORE | REGISTER_SYNC_CORE | GET_REGISTRATIONS)

/* Taking and leaving an interrupt synchronises the instruction stream as well. */
static void barrier_here(void *unused)
{
	smp_mb();
}

/* Who runs on another CPU cannot be looked up from here: its task may be gone while we look. So all are asked. */
static void barrier_on_others(void)
{
	smp_mb();
	for_each_online_cpu(c)
		if (c != cpu_id())
			(void)call_on_cpu(c, barrier_here, NULL);
	smp_mb();
}

static long expedited(u32 registration)
{
	if (!(atomic_read(&current->mm->membarrier) & registration))
		return -EPERM;
	barrier_on_others();
	return 0;
}

long sys_membarrier(int cmd, u32 flags, int cpu)
{
	if (flags)
		return -EINVAL;
	switch (cmd) {
	case QUERY:
		return ALL;
	case GLOBAL:
	case GLOBAL_EXPEDITED:
		barrier_on_others();
		return 0;
	case PRIVATE_EXPEDITED:
		return expedited(REGISTER_PRIVATE);
	case PRIVATE_SYNC_CORE:
		return expedited(REGISTER_SYNC_CORE);
	case REGISTER_GLOBAL:
	case REGISTER_PRIVATE:
	case REGISTER_SYNC_CORE:
		atomic_or(&current->mm->membarrier, cmd);
		return 0;
	case GET_REGISTRATIONS:
		return atomic_read(&current->mm->membarrier);
	default:
		return -EINVAL;
	}
}
