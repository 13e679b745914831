/* SPDX-License-Identifier: MIT */
/* Classic BPF programs over a small block of words: seccomp's filters. kernel/task/bpf.c has the theory. */
#ifndef TASK_BPF_H
#define TASK_BPF_H

#include <perch/types.h>

#define BPF_MAX_INSNS	4096

/* As user space gives it: struct sock_filter. */
struct bpf_insn {
	u16 code;
	u8 jt, jf;	/* instructions to skip if the condition holds / does not */
	u32 k;
};

/*
 * May this program of n > 0 instructions run over size bytes of data? 0, -EINVAL, or -ENOMEM (it needs
 * memory for the time of the call). Process context.
 */
int bpf_check(const struct bpf_insn *prog, u32 n, u32 size);
/* Runs a program that bpf_check has passed with this size. Any context; at most n steps. */
u32 bpf_run(const struct bpf_insn *prog, const u32 *data, u32 size);

#endif
