/* SPDX-License-Identifier: MIT */
/*
 * System calls. A call named foo is `long sys_foo(args...)` anywhere in the kernel with its natural argument
 * types (at most six, integers or pointers); kernel/syscall_table.c lists it under its number. One that no
 * file defines is ENOSYS and counted. The result is a value or -errno.
 */
#ifndef PERCH_SYSCALL_H
#define PERCH_SYSCALL_H

#include <perch/errno.h>
#include <perch/types.h>

struct pt_regs;
struct textbuf;

/* arch calls this with IRQs on, after saving regs: number in regs->syscallno, arguments in x0-x5; the result
 * goes to regs->regs[0]. */
void syscall_dispatch(struct pt_regs *regs);
const char *syscall_name(u32 nr);	/* NULL if no such number */
void syscall_unknown_show(struct textbuf *b);	/* /proc/perch/unknown_syscalls */

#endif
