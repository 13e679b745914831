/* SPDX-License-Identifier: MIT */
/*
 * CPU-time clocks: of the own process and thread (ids 2 and 3), and of any by number. SCHED clocks
 * read the exec clock; PROF and VIRT the user and system times that rusage reports.
 */
#include <perch/errno.h>
#include <perch/sched.h>
#include <perch/task.h>

#include "time.h"

bool clock_is_cpu(int id)
{
	return id < 0 || id == CLOCK_PROCESS_CPUTIME_ID || id == CLOCK_THREAD_CPUTIME_ID;
}

u64 process_exec_ns(struct process *p)
{
	u64 flags = spin_lock_irqsave(&task_lock);
	u64 ns = p->dead_threads.utime_ns + p->dead_threads.stime_ns;
	struct task *t;

	list_for_each(t, &p->threads, thread_node)
		ns += task_exec_ns(t);
	spin_unlock_irqrestore(&task_lock, flags);
	return ns;
}

static s64 pick(int which, u64 exec, const struct rusage_counts *ru)
{
	if (which == CPUCLOCK_SCHED)
		return exec;
	return which == CPUCLOCK_VIRT ? ru->utime_ns : ru->utime_ns + ru->stime_ns;
}

static s64 process_clock(struct process *p, int which)
{
	struct rusage_counts ru;

	process_times(p, &ru);
	return pick(which, process_exec_ns(p), &ru);
}

/* A thread's clock may be read within its process only; a process's by anybody. */
static s64 clock_by_number(u32 id, int which, bool thread)
{
	struct task *t;
	s64 ns = -EINVAL;

	if (which > CPUCLOCK_SCHED)
		return -EINVAL;
	if (!id && !thread)
		return process_clock(current->proc, which);
	t = id ? task_find_get(id) : current;
	if (!t)
		return -EINVAL;
	task_account(t);
	if (thread && t->proc == current->proc)
		ns = pick(which, task_exec_ns(t), &t->ru);
	else if (!thread && (t->pid == t->tgid || t == current))
		ns = process_clock(t->proc, which);
	if (id)
		task_put(t);
	return ns;
}

s64 cpuclock_ns(int id)
{
	if (id == CLOCK_PROCESS_CPUTIME_ID)
		return process_exec_ns(current->proc);
	if (id == CLOCK_THREAD_CPUTIME_ID)
		return task_exec_ns(current);
	return clock_by_number(~id >> 3, id & 3, id & CPUCLOCK_THREAD);
}
