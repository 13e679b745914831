/* SPDX-License-Identifier: MIT */
/*
 * The system call table. It is made from kernel/syscall_list.h by weak references, so a call is
 * implemented by defining sys_<name> in the file of its subject, and nothing else. What nobody
 * defines is ENOSYS; such calls are counted with their last caller, so that a missing one is
 * found by reading /proc/perch/unknown_syscalls instead of by guessing.
 */
#include <asm/ptrace.h>
#include <perch/fs.h>
#include <perch/lockcheck.h>
#include <perch/syscall.h>
#include <perch/task.h>
#include <string.h>

typedef long (*syscall_fn)(u64, u64, u64, u64, u64, u64);

#define SYS(nr, name) extern long sys_##name() __weak;
#include "syscall_list.h"
#undef SYS

#define SYS(nr, name) [nr] = (syscall_fn)sys_##name,
static const syscall_fn table[] = {
#include "syscall_list.h"
};
#undef SYS

#define SYS(nr, name) [nr] = #name,
static const char *const names[] = {
#include "syscall_list.h"
};
#undef SYS

#define NR_SYSCALLS ARRAY_SIZE(table)

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

static noinline long syscall_unknown(u64 nr)
{
	struct unknown *u = &unknown[nr < NR_SYSCALLS ? nr : NR_SYSCALLS];

	atomic_inc(&u->count);
	u->nr = (u32)nr;
	u->pid = current->pid;
	memcpy(u->comm, current->comm, sizeof(u->comm));
	return -ENOSYS;
}

void syscall_dispatch(struct pt_regs *regs)
{
	u64 nr = (u32)regs->syscallno;
	u64 *a = regs->regs;

	if (likely(nr < NR_SYSCALLS && table[nr]))
		a[0] = table[nr](a[0], a[1], a[2], a[3], a[4], a[5]);
	else
		a[0] = syscall_unknown(nr);
	lockcheck_user_return(nr);
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
