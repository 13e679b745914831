/* SPDX-License-Identifier: MIT */
/*
 * Filters of system calls: seccomp(2). A task without any pays nothing: what distinguishes the others is the
 * table of system calls that their task points to (perch/syscall.h), where every number leads to the filter first.
 */
#ifndef PERCH_SECCOMP_H
#define PERCH_SECCOMP_H

#include <perch/types.h>

struct seccomp_filter;
struct task;

#define SECCOMP_MODE_DISABLED	0
#define SECCOMP_MODE_STRICT	1
#define SECCOMP_MODE_FILTER	2

/* A task's share. Written under task_lock: by the task itself, or by another thread of its process (TSYNC). */
struct seccomp {
	u32 mode;
	u32 nr_filters;
	struct seccomp_filter *filter;	/* the newest, with a reference, or NULL */
};

/*
 * May current, whose mode is not DISABLED, make the system call that its saved registers describe? If not, what it
 * returns is in *ret, a signal may be on its way, or the call does not return. Process context, IRQs on, no locks.
 */
bool seccomp_permits(long *ret);

/* prctl(PR_SET_SECCOMP, mode, filter): 0, -EINVAL, -EACCES, -EFAULT, -ENOMEM. Process context. */
long seccomp_prctl(u64 mode, const void __user *filter);

/* The child of current inherits filters and no_new_privs. task_lock held: TSYNC is before or after. Cannot fail. */
void seccomp_fork_locked(struct task *child);
/* When the task is freed. Process context. */
void seccomp_free(struct task *t);

#endif
