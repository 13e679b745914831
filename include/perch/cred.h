/* SPDX-License-Identifier: MIT */
/* Who a task is. Credentials are values inside the task: only the task itself changes them (but no_new_privs: seccomp's
 * TSYNC sets it for other threads, under task_lock). */
#ifndef PERCH_CRED_H
#define PERCH_CRED_H

#include <perch/atomic.h>
#include <perch/list.h>
#include <perch/types.h>

#define NGROUPS_MAX 32		/* supplementary groups we keep; more is EINVAL */

struct cred {
	u32 uid, euid, suid, fsuid;
	u32 gid, egid, sgid, fsgid;
	u32 ngroups;
	u32 groups[NGROUPS_MAX];
	u64 cap_effective, cap_permitted, cap_inheritable, cap_bounding, cap_ambient;
	u32 securebits;
	bool no_new_privs;
};

#define CAP_CHOWN		0
#define CAP_DAC_OVERRIDE	1
#define CAP_DAC_READ_SEARCH	2
#define CAP_FOWNER		3
#define CAP_FSETID		4
#define CAP_KILL		5
#define CAP_SETGID		6
#define CAP_SETUID		7
#define CAP_SETPCAP		8
#define CAP_NET_ADMIN		12
#define CAP_IPC_LOCK		14
#define CAP_SYS_RAWIO		17
#define CAP_SYS_CHROOT		18
#define CAP_SYS_PTRACE		19
#define CAP_SYS_ADMIN		21
#define CAP_SYS_BOOT		22
#define CAP_SYS_NICE		23
#define CAP_SYS_RESOURCE	24
#define CAP_SYS_TIME		25
#define CAP_SYS_TTY_CONFIG	26
#define CAP_MKNOD		27
#define CAP_SYSLOG		34
#define CAP_WAKE_ALARM		35
#define CAP_PERFMON		38
#define CAP_LAST		40
#define CAP_FULL		0x1ffffffffffULL

/* What all tasks of one real uid use together. Found by uid; lives while referenced. */
struct user {
	refcount refs;
	u32 uid;
	u64 nproc;		/* tasks; atomic */
	u64 sigpending;		/* queued signals; atomic */
	s64 locked_pages;	/* of perf rings; atomic, perf's */
	struct list node;	/* kernel/task/user.c */
};
struct user *user_get(u32 uid);	/* NULL on OOM. Any context */
void user_put(struct user *u);	/* any context */

struct task;
/* Does the current task hold the capability (effective)? */
bool capable(int cap);
bool task_capable(struct task *t, int cap);
bool in_group(u32 gid);		/* current: fsgid or supplementary */
/* May current observe target as ptrace would allow (same ids and dumpable, or CAP_SYS_PTRACE)? */
bool ptrace_may_access(struct task *target);

#endif
