/* SPDX-License-Identifier: MIT */
/*
 * When memory runs out: somebody who asked for a user page finds no more than the kernel's reserve.
 *
 * The biggest process (pages mapped + page tables, shifted by oom_score_adj) is killed, together
 * with every process that shares its memory; it may use the reserve on its way out. Whoever needs
 * memory meanwhile waits in short steps; only one victim dies at a time, unless it does not get
 * away within VICTIM_TIME (it may wait for a lock that one of the waiters holds).
 */
#include <perch/mm.h>
#include <perch/sched.h>
#include <perch/signal.h>
#include <perch/smp.h>
#include <perch/task.h>
#include <perch/time.h>
#include "internal.h"

#define STEP		(2 * NSEC_PER_MSEC)
#define VICTIM_TIME	(500 * NSEC_PER_MSEC)
#define MAX_TRIES	2000

static struct mutex oom_lock = MUTEX_INIT(oom_lock);
static u32 victims;		/* address spaces marked and not gone yet; atomic */
static ktime victim_deadline;	/* oom_lock */

static s64 badness(struct process *p, struct mm *mm)
{
	s64 adj = (s32)p->oom_score_adj;
	s64 pages = atomic_read(&mm->rss_anon) + atomic_read(&mm->rss_file) +
		    atomic_read(&mm->rss_shmem) + atomic_read(&mm->pgt.nr_tables);

	if (p->is_init || adj == -1000)
		return 0;
	pages += adj * (s64)(mem_stats.total_pages / 1000);
	return max(pages, (s64)1);
}

/* A thread of p that still has an mm, with a reference; NULL if p has none. task_lock held. */
static struct task *thread_with_mm(struct process *p)
{
	struct task *t;

	list_for_each(t, &p->threads, thread_node)
		if (READ_ONCE(t->mm) && !(READ_ONCE(t->flags) & TF_KTHREAD)) {
			task_get(t);
			return t;
		}
	return NULL;
}

struct mm *process_get_mm(struct process *p)
{
	u64 flags = spin_lock_irqsave(&task_lock);
	struct task *t = thread_with_mm(p);
	struct mm *mm;

	spin_unlock_irqrestore(&task_lock, flags);
	if (!t)
		return NULL;
	mm = task_get_mm(t);
	task_put(t);
	return mm;
}

/* The next process from *pid on that has an mm: a thread and the mm, referenced. False at the end. */
static bool next_candidate(u32 *pid, struct task **thread, struct mm **mm)
{
	for (;;) {
		u64 flags = spin_lock_irqsave(&task_lock);
		struct process *p = process_next(*pid);

		*thread = p ? thread_with_mm(p) : NULL;
		*pid = p ? p->pid + 1 : 0;
		spin_unlock_irqrestore(&task_lock, flags);
		if (!p)
			return false;
		if (!*thread)
			continue;
		*mm = task_get_mm(*thread);
		if (*mm)
			return true;
		task_put(*thread);
	}
}

static void forget(struct task *t, struct mm *mm)
{
	if (mm)
		mm_put(mm);
	if (t)
		task_put(t);
}

/* SIGKILL to all processes that live in mm. */
static void kill_users(struct mm *victim)
{
	struct task *t;
	struct mm *mm;
	u32 pid = 0;

	while (next_candidate(&pid, &t, &mm)) {
		if (mm == victim && !t->proc->is_init)
			(void)send_signal_process(t->proc, SIGKILL, NULL);
		forget(t, mm);
	}
}

/* Pick the worst, with references; false if nobody may be killed. */
static bool select_victim(struct task **worst, struct mm **worst_mm)
{
	struct task *t;
	struct mm *mm;
	u32 pid = 0;
	s64 max_points = 0;

	*worst = NULL;
	*worst_mm = NULL;
	while (next_candidate(&pid, &t, &mm)) {
		s64 points = mm->oom_victim ? 0 : badness(t->proc, mm);

		if (points > max_points) {
			forget(*worst, *worst_mm);
			*worst = t;
			*worst_mm = mm;
			max_points = points;
		} else {
			forget(t, mm);
		}
	}
	return *worst;
}

static bool kill_biggest(void)
{
	struct task *t;
	struct mm *mm;

	if (!select_victim(&t, &mm))
		return false;
	mm->oom_victim = true;
	atomic_inc(&victims);
	victim_deadline = ktime_now() + VICTIM_TIME;
	pr_err("Out of memory: Killed process %u (%s) total-vm:%lukB, anon-rss:%lukB, "
	       "file-rss:%lukB, shmem-rss:%lukB\n", t->tgid, t->comm, mm->total_vm * 4,
	       mm->rss_anon * 4, mm->rss_file * 4, mm->rss_shmem * 4);
	kill_users(mm);
	forget(t, mm);
	return true;
}

/* True if somebody is dying (already or now). */
static bool ensure_victim(void)
{
	bool dying;

	mutex_lock(&oom_lock);
	dying = atomic_read(&victims) && ktime_now() < victim_deadline;
	if (!dying && mem_low())
		dying = kill_biggest();
	mutex_unlock(&oom_lock);
	return dying;
}

void oom_kill(void)
{
	(void)ensure_victim();
}

static void drain(void *unused)
{
	mem_drain();
}

bool oom_wait(u32 try)
{
	if (fatal_signal_pending(current) || try >= MAX_TRIES)
		return false;
	if (try == 0) {
		for_each_online_cpu(c)
			(void)call_on_cpu(c, drain, NULL);
		if (!mem_low())
			return true;
	}
	if (!ensure_victim() && mem_low() && try > 50)
		return false;
	if (!fatal_signal_pending(current))
		sleep_until(ktime_now() + STEP);
	return true;
}

void oom_mm_gone(struct mm *mm)
{
	if (mm->oom_victim)
		atomic_dec(&victims);
}
