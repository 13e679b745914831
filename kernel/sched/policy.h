/* SPDX-License-Identifier: MIT */
/* Permission and lookup helpers of the policy, affinity and priority calls. Process context. */
#ifndef KERNEL_SCHED_POLICY_H
#define KERNEL_SCHED_POLICY_H

#include <perch/types.h>

#define SCHED_DEADLINE	6	/* these two are not supported */
#define SCHED_EXT	7

struct task;

struct task *sched_find(int pid);	/* pid 0: current. With a reference, or NULL */
bool sched_same_owner(struct task *t);	/* current's effective id is one of t's */
bool nice_allowed(struct task *t, int nice);	/* by RLIMIT_NICE */

#endif
