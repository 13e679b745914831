/* SPDX-License-Identifier: MIT */
/*
 * The system call table. It is made from kernel/syscall_list.h by weak references, so a call is
 * implemented by defining sys_<name> in the file of its subject, and nothing else. What nobody
 * defines is ENOSYS; such calls are counted with their last caller, so that a missing one is
 * found by reading /proc/perch/unknown_syscalls instead of by guessing.
 */
#include <perch/fs.h>
#include <perch/seccomp.h>
#include <perch/syscall.h>
#include <perch/task.h>
#include <string.h>

#define SYS(nr, name) extern long sys_##name() __weak;
#include "syscall_list.h"
#undef SYS

#define SYS(nr, name) [nr] = (syscall_fn)sys_##name,
const syscall_fn syscall_table[NR_SYSCALLS] = {
#include "syscall_list.h"
};
#undef SYS

#define SYS(nr, name) [nr] = #name,
static const char *const names[NR_SYSCALLS] = {
#include "syscall_list.h"
};
#undef SYS

/* One slot per number, and the last one for all numbers beyond the table. */
static struct unknown {
	u64 count;			/* atomic */
	u32 nr;
	u32 pid;			/* of the last caller; may tear */
	char comm[TASK_COMM_LEN];
} unknown[NR_SYSCALLS + 1];

const char *syscall_name(u32 nr)
{
	return nr < NR_SYSCALLS ? names[nr] : NULL;
}

long syscall_unknown(u32 nr)
{
	long ret;

	if (READ_ONCE(current->seccomp.mode) != SECCOMP_MODE_DISABLED && !seccomp_permits(&ret))
		return ret;
	return syscall_count_unknown(nr);
}

long syscall_count_unknown(u32 nr)
{
	struct unknown *u = &unknown[nr < NR_SYSCALLS ? nr : NR_SYSCALLS];

	atomic_inc(&u->count);
	u->nr = nr;
	u->pid = current->pid;
	memcpy(u->comm, current->comm, sizeof(u->comm));
	return -ENOSYS;
}

void syscall_unknown_show(struct textbuf *b)
{
	for (u32 i = 0; i <= NR_SYSCALLS; i++) {
		struct unknown *u = &unknown[i];
		u64 n = atomic_read(&u->count);

		if (!n)
			continue;
		text_printf(b, "%u %s count %llu last %.*s[%u]\n", u->nr,
			    syscall_name(u->nr) ? syscall_name(u->nr) : "-",
			    (unsigned long long)n, TASK_COMM_LEN, u->comm, u->pid);
	}
}
