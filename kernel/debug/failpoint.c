/* SPDX-License-Identifier: MIT */
/*
 * Fail points: /proc/perch/failpoints.
 *
 * Writing "N NR" arms the calling task: in its calls of system call NR the N-th fallible step from now
 * fails (an allocation, a copy from or to user memory, a descriptor number, a wait that a signal may
 * end). Reading tells whether it has: "armed N seen M fired F kind K at FUNCTION". A test loops over N
 * until nothing fires: then every step has failed once, each with its own way back.
 */
#include <asm/ptrace.h>
#include <perch/debug.h>
#include <perch/errno.h>
#include <perch/procfs.h>
#include <perch/task.h>
#include <stdlib.h>

#include "debug.h"

static const char *const kind_name[NR_FAIL_KINDS] = { "memory", "copy", "fd", "wait" };

static bool counts(const struct failpoint *f)
{
	return f->left && !in_irq() && (u32)task_pt_regs(current)->syscallno == f->syscall;
}

bool fail_step(enum fail_kind kind, u64 pc)
{
	struct failpoint *f;

	if (!current || (current->flags & (TF_KTHREAD | TF_IDLE)))
		return false;
	f = &current->fail;
	if (likely(!counts(f)))
		return false;
	f->seen++;
	if (--f->left)
		return false;
	f->fired = true;
	f->kind = kind;
	f->pc = pc;
	return true;
}

static ssize_t store(const char *buf, size_t len, void *arg)
{
	struct failpoint *f = &current->fail;
	char *end;
	u32 n = (u32)strtoul(buf, &end, 10);

	*f = (struct failpoint){ .left = n, .syscall = (u32)strtoul(end, NULL, 10) };
	return (ssize_t)len;
}

static int show(struct textbuf *b, void *arg)
{
	const struct failpoint *f = &current->fail;
	char where[128];

	text_printf(b, "left %u seen %u fired %d kind %s at %s\n", f->left, f->seen, f->fired,
		    f->fired ? kind_name[f->kind] : "-",
		    f->fired ? ksym_format(f->pc, where, sizeof(where)) : "-");
	return 0;
}

static const struct knode_ops ops = { .show = show, .store = store };

void failpoint_init(void)
{
	knode_file(proc_root, "perch/failpoints", 0600, &ops, NULL);
}
