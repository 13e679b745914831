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

struct textbuf;

/* arch calls the function of a number in current->syscalls with IRQs on, after saving the registers, and puts the
 * result where the program finds it; NULL and numbers from NR_SYSCALLS on: syscall_unknown(number). */
#define NR_SYSCALLS 512
typedef long (*syscall_fn)(u64, u64, u64, u64, u64, u64);
extern const syscall_fn syscall_table[NR_SYSCALLS];
long syscall_unknown(u32 nr);	/* a filter (perch/seccomp.h) may have its say; else as the next */
long syscall_count_unknown(u32 nr);	/* -ENOSYS */
const char *syscall_name(u32 nr);	/* NULL if no such number */
void syscall_unknown_show(struct textbuf *b);	/* /proc/perch/unknown_syscalls */

#endif
