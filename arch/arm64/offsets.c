/* SPDX-License-Identifier: MIT */
/* No code: the constants of asm/offsets.h against what the compiler makes of the structures. */
#include <asm/offsets.h>
#include <asm/ptrace.h>
#include <perch/cpu.h>
#include <perch/mm.h>
#include <perch/syscall.h>
#include <perch/task.h>

#define SAME(a, b) _Static_assert((a) == (b), #a " in asm/offsets.h")

SAME(S_LR, offsetof(struct pt_regs, regs[30]));
SAME(S_LR + 8, offsetof(struct pt_regs, sp));
SAME(S_PC, offsetof(struct pt_regs, pc));
SAME(S_PC + 8, offsetof(struct pt_regs, pstate));
SAME(S_ORIG_X0, offsetof(struct pt_regs, orig_x0));
SAME(S_ORIG_X0 + 8, offsetof(struct pt_regs, syscallno));
SAME(S_SIZE, sizeof(struct pt_regs));

SAME(TASK_FLAGS, offsetof(struct task, flags));
SAME(TASK_STACK, offsetof(struct task, stack));
SAME(TASK_SYSCALLS, offsetof(struct task, syscalls));
SAME(TASK_THREAD, offsetof(struct task, thread));
SAME(0, offsetof(struct thread, x19_x28));
SAME(THREAD_FP, offsetof(struct thread, fp));
SAME(THREAD_FP + 8, offsetof(struct thread, sp));
SAME(THREAD_PC, offsetof(struct thread, pc));
SAME(EXIT_WORK_FLAGS, TIF_WORK | TF_RESTORE_SIGMASK);

SAME(CPU_MPIDR, offsetof(struct cpu, mpidr));
SAME(CPU_IDLE, offsetof(struct cpu, idle));
SAME(CPU_CURR, offsetof(struct cpu, curr));
SAME(CPU_SIZE, sizeof(struct cpu));
SAME(SYSCALL_SLOTS, ARRAY_SIZE(syscall_table));
SAME(KERNEL_STACK, KSTACK_SIZE);
