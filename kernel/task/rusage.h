/* SPDX-License-Identifier: MIT */
/* struct rusage of the ABI (getrusage(2)) and how the kernel's counts become one. */
#ifndef KERNEL_TASK_RUSAGE_H
#define KERNEL_TASK_RUSAGE_H

#include <perch/task.h>
#include <perch/time.h>

struct rusage_abi {
	struct timeval64 utime, stime;
	s64 maxrss;		/* KiB */
	s64 ixrss, idrss, isrss;
	s64 minflt, majflt, nswap, inblock, oublock, msgsnd, msgrcv, nsignals;
	s64 nvcsw, nivcsw;
};
_Static_assert(sizeof(struct rusage_abi) == 144, "struct rusage");

void rusage_to_abi(const struct rusage_counts *c, struct rusage_abi *out);

#endif
