/* SPDX-License-Identifier: MIT */
/*
 * Kernel threads: processes of one task without user memory, parent, terminal or signals. The first
 * one gets pid 1: it becomes init when kernel_execve gives it a program.
 */
#include <perch/atomic.h>
#include <perch/errno.h>
#include <perch/fs.h>
#include <perch/printk.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "internal.h"

static const struct cred root_cred = {
	.cap_effective = CAP_FULL,
	.cap_permitted = CAP_FULL,
	.cap_bounding = CAP_FULL,
};

static int build_kthread(struct task *t)
{
	t->cred = root_cred;
	t->flags = TF_KTHREAD | TF_FORKNOEXEC;
	t->slack_ns = 50 * NSEC_PER_USEC;
	t->start_time = ktime_now();
	t->sighand = sighand_create();
	t->proc = process_alloc();
	t->files = files_create();
	if (!t->sighand || !t->proc || !t->files || task_set_user(t, 0))
		return -ENOMEM;
	fork_set_limits(t->proc);
	return pid_alloc();
}

static void link_kthread(struct task *t)
{
	struct process *p = t->proc;
	u64 flags = spin_lock_irqsave(&task_lock);

	if (t->pid == 1) {
		p->is_init = p->unkillable = true;
		init_process = p;
		t->exit_signal = SIGCHLD;
	}
	task_link_locked(t, false, NULL);
	total_forks--;	/* it counts what programs do */
	spin_unlock_irqrestore(&task_lock, flags);
}

struct task *kthread_create(int (*fn)(void *), void *arg, int cpu, const char *fmt, ...)
{
	struct task *t = task_alloc();
	char name[TASK_COMM_LEN];
	va_list ap;
	int pid;

	if (!t)
		return ERR_PTR(-ENOMEM);
	pid = build_kthread(t);
	if (pid < 0) {
		files_put(t->files);
		task_free(t);
		return ERR_PTR(pid);
	}
	va_start(ap, fmt);
	vsnprintf(name, sizeof(name), fmt, ap);
	va_end(ap);
	task_write_comm(t, name);
	t->pid = t->tgid = (u32)pid;
	sched_fork(t);
	/* init starts where it was told to, but its children shall run everywhere. */
	t->cpus_allowed = cpu < 0 || pid == 1 ? ~0ULL : BIT(cpu);
	arch_kthread_thread(t, fn, arg);
	link_kthread(t);
	return t;
}
