/* SPDX-License-Identifier: MIT */
/*
 * /proc/PID/status, stat and statm: what ps and top live on. Values of another task are read
 * without stopping it; what must fit together (ids, links, signals) is copied under the lock that
 * owns it.
 */
#include "internal.h"
#include <perch/cred.h>
#include <perch/mm.h>
#include <perch/page.h>
#include <perch/sched.h>
#include <perch/tty.h>
#include <string.h>

/* Linux's PF_ flags that stat shows (include/linux/sched.h is where their numbers are fixed). */
#define PF_EXITING	0x00000004U
#define PF_FORKNOEXEC	0x00000040U
#define PF_KTHREAD	0x00200000U
#define PF_RANDOMIZE	0x00400000U
#define ADDR_NO_RANDOMIZE 0x0040000UL	/* of personality(2) */

u64 ns_to_ticks(u64 ns)
{
	return ns / (NSEC_PER_SEC / USER_HZ);
}

char task_state_char(struct task *t)
{
	u32 exit_state = READ_ONCE(t->exit_state);

	if (exit_state)
		return exit_state == 1 ? 'Z' : 'X';
	switch (READ_ONCE(t->state)) {
	case TASK_RUNNING:
		return 'R';
	case TASK_INTERRUPTIBLE:
		return t->flags & TF_KTHREAD ? 'I' : 'S';
	case TASK_STOPPED:
		return 'T';
	case TASK_DEAD:
		return 'X';
	default:
		return 'D';
	}
}

static const char *state_text(char c)
{
	switch (c) {
	case 'R': return "R (running)";
	case 'S': return "S (sleeping)";
	case 'I': return "I (idle)";
	case 'T': return "T (stopped)";
	case 'Z': return "Z (zombie)";
	case 'X': return "X (dead)";
	default: return "D (disk sleep)";
	}
}

/* --- copies of what locks protect ----------------------------------------------------------- */

u32 process_parent_pid(struct process *p)
{
	u64 flags = spin_lock_irqsave(&task_lock);
	u32 pid = p->parent ? p->parent->pid : 0;

	spin_unlock_irqrestore(&task_lock, flags);
	return pid;
}

struct links {
	u32 ppid, pgid, sid, nr_threads;
	int exit_signal, exit_code;
	struct rusage_counts children;
};

static void copy_links(struct task *t, struct links *l)
{
	u64 flags = spin_lock_irqsave(&task_lock);
	struct process *p = t->proc;

	l->ppid = p->parent ? p->parent->pid : 0;
	l->pgid = p->pgid;
	l->sid = p->sid;
	l->nr_threads = p->nr_threads;
	l->exit_signal = t->exit_signal;
	l->exit_code = t->exit_code;
	l->children = p->children_ru;
	spin_unlock_irqrestore(&task_lock, flags);
}

struct signals { sigset pending, shared, blocked, ignored, caught; u32 queued; };

static u32 queue_length(const struct sigpending *p)
{
	struct sigqueue *q;
	u32 n = 0;

	list_for_each(q, &p->queue, node)
		n++;
	return n;
}

static void copy_actions(const struct sighand *h, struct signals *s)
{
	for (int sig = 1; sig <= NSIG; sig++) {
		u64 handler = h->action[sig - 1].handler;

		if (handler == SIG_IGN)
			s->ignored |= sigmask(sig);
		else if (handler != SIG_DFL)
			s->caught |= sigmask(sig);
	}
}

static void copy_signals(struct task *t, struct signals *s)
{
	u64 flags = spin_lock_irqsave(&task_lock);
	struct sighand *h = t->sighand;

	memset(s, 0, sizeof(*s));
	if (h && !t->exit_state) {
		spin_lock(&h->lock);
		s->pending = t->pending.set;
		s->shared = t->proc->shared_pending.set;
		s->blocked = t->blocked;
		s->queued = queue_length(&t->pending) + queue_length(&t->proc->shared_pending);
		copy_actions(h, s);
		spin_unlock(&h->lock);
	}
	spin_unlock_irqrestore(&task_lock, flags);
}

void pid_times(struct task *t, bool thread, struct rusage_counts *out)
{
	if (thread) {
		task_account(t);
		*out = t->ru;
	} else {
		process_times(t->proc, out);
	}
}

static u64 rss_pages(const struct mm *mm)
{
	s64 n = mm->rss_anon + mm->rss_file + mm->rss_shmem;

	return n > 0 ? (u64)n : 0;
}

static u64 text_pages(const struct mm *mm)
{
	return (ALIGN_UP(mm->end_code, PAGE_SIZE) - ALIGN_DOWN(mm->start_code, PAGE_SIZE)) >>
	       PAGE_SHIFT;
}

/* --- status --------------------------------------------------------------------------------- */

static void show_name(struct textbuf *b, struct task *t)
{
	text_puts(b, "Name:\t");
	text_comm(b, t, true);
	text_puts(b, "\n");
}

static void show_umask(struct textbuf *b, struct task *t)
{
	s64 umask = -1;

	spin_lock(&t->alloc_lock);
	if (t->fs)
		umask = t->fs->umask;
	spin_unlock(&t->alloc_lock);
	if (umask >= 0)
		text_printf(b, "Umask:\t%#04o\n", (u32)umask);
}

static void show_ids(struct textbuf *b, struct task *t)
{
	const struct cred *c = &t->cred;
	struct links l;

	copy_links(t, &l);
	text_printf(b, "State:\t%s\nTgid:\t%u\nNgid:\t0\nPid:\t%u\nPPid:\t%u\nTracerPid:\t0\n",
		    state_text(task_state_char(t)), t->tgid, t->pid, l.ppid);
	text_printf(b, "Uid:\t%u\t%u\t%u\t%u\n", c->uid, c->euid, c->suid, c->fsuid);
	text_printf(b, "Gid:\t%u\t%u\t%u\t%u\n", c->gid, c->egid, c->sgid, c->fsgid);
	text_printf(b, "FDSize:\t%u\nGroups:\t", files_size(t));
	for (u32 k = 0; k < min_t(u32, c->ngroups, NGROUPS_MAX); k++)
		text_printf(b, "%u ", c->groups[k]);
	text_printf(b, "%s\nNStgid:\t%u\nNSpid:\t%u\nNSpgid:\t%u\nNSsid:\t%u\nKthread:\t%c\n",
		    c->ngroups ? "" : " ", t->tgid, t->pid, l.pgid, l.sid,
		    t->flags & TF_KTHREAD ? '1' : '0');
}

static void show_kb(struct textbuf *b, const char *name, u64 pages)
{
	text_printf(b, "%s\t%8lu kB\n", name, pages << (PAGE_SHIFT - 10));
}

static void show_mm(struct textbuf *b, const struct mm *mm)
{
	u64 text = min(text_pages(mm), mm->exec_vm), rss = rss_pages(mm);

	show_kb(b, "VmPeak:", max(mm->hiwater_vm, mm->total_vm));
	show_kb(b, "VmSize:", mm->total_vm);
	show_kb(b, "VmLck:", mm->locked_vm);
	show_kb(b, "VmPin:", 0);
	show_kb(b, "VmHWM:", max(mm->hiwater_rss, rss));
	show_kb(b, "VmRSS:", rss);
	show_kb(b, "RssAnon:", (u64)max(mm->rss_anon, (s64)0));
	show_kb(b, "RssFile:", (u64)max(mm->rss_file, (s64)0));
	show_kb(b, "RssShmem:", (u64)max(mm->rss_shmem, (s64)0));
	show_kb(b, "VmData:", mm->data_vm);
	show_kb(b, "VmStk:", mm->stack_vm);
	show_kb(b, "VmExe:", text);
	show_kb(b, "VmLib:", mm->exec_vm - text);
	show_kb(b, "VmPTE:", (u64)mm->pgt.nr_tables);
	show_kb(b, "VmSwap:", 0);
	show_kb(b, "HugetlbPages:", 0);
	text_puts(b, "CoreDumping:\t0\nTHP_enabled:\t0\nuntag_mask:\t0xffffffffffffff\n");
}

static void show_signals(struct textbuf *b, struct task *t)
{
	struct signals s;
	struct links l;

	copy_signals(t, &s);
	copy_links(t, &l);
	text_printf(b, "Threads:\t%u\nSigQ:\t%u/%lu\n", l.nr_threads, s.queued,
		    t->proc->rlim[RLIMIT_SIGPENDING].cur);
	text_printf(b, "SigPnd:\t%016lx\nShdPnd:\t%016lx\nSigBlk:\t%016lx\nSigIgn:\t%016lx\n"
		    "SigCgt:\t%016lx\n", s.pending, s.shared, s.blocked, s.ignored, s.caught);
}

static void show_rest(struct textbuf *b, struct task *t)
{
	const struct cred *c = &t->cred;
	u64 cpus_mask = t->cpus_allowed & (BIT(nr_cpus) - 1);

	text_printf(b, "CapInh:\t%016lx\nCapPrm:\t%016lx\nCapEff:\t%016lx\nCapBnd:\t%016lx\n"
		    "CapAmb:\t%016lx\nNoNewPrivs:\t%d\n", c->cap_inheritable, c->cap_permitted,
		    c->cap_effective, c->cap_bounding, c->cap_ambient, c->no_new_privs);
	text_printf(b, "Seccomp:\t%u\nSeccomp_filters:\t%u\nSpeculation_Store_Bypass:\tvulnerable\n"
		    "SpeculationIndirectBranch:\tunknown\n", t->seccomp.mode, t->seccomp.nr_filters);
	text_puts(b, "Cpus_allowed:\t");
	text_cpumask(b, cpus_mask);
	text_puts(b, "\nCpus_allowed_list:\t");
	text_cpulist(b, cpus_mask);
	text_puts(b, "\nMems_allowed:\t0001\nMems_allowed_list:\t0\n");
	text_printf(b, "voluntary_ctxt_switches:\t%lu\nnonvoluntary_ctxt_switches:\t%lu\n",
		    t->ru.nvcsw, t->ru.nivcsw);
}

PID_SHOW(pid_status_show)
{
	struct mm *mm = task_get_mm(t);

	show_name(b, t);
	show_umask(b, t);
	show_ids(b, t);
	if (mm) {
		show_mm(b, mm);
		mm_put(mm);
	}
	show_signals(b, t);
	show_rest(b, t);
	return 0;
}

/* --- stat ----------------------------------------------------------------------------------- */

static u32 linux_flags(const struct task *t)
{
	u32 f = 0;

	if (t->flags & TF_EXITING)
		f |= PF_EXITING;
	if (t->flags & TF_FORKNOEXEC)
		f |= PF_FORKNOEXEC;
	if (t->flags & TF_KTHREAD)
		f |= PF_KTHREAD;
	else if (randomize_va_space && !(t->personality & ADDR_NO_RANDOMIZE))
		f |= PF_RANDOMIZE;
	return f;
}

static bool real_time(const struct task *t)
{
	return t->policy == SCHED_FIFO || t->policy == SCHED_RR;
}

static int linux_priority(const struct task *t)
{
	return real_time(t) ? -1 - t->rt_prio : 20 + t->nice;
}

/* Fields 1-22: identity and accounting. */
static void stat_task(struct textbuf *b, struct task *t, bool thread, const struct links *l)
{
	struct rusage_counts ru;

	pid_times(t, thread, &ru);
	text_printf(b, "%u (", t->pid);
	text_comm(b, t, false);
	text_printf(b, ") %c %u %u %u %u %d %u", task_state_char(t), l->ppid, l->pgid, l->sid,
		    tty_number(t->proc), tty_foreground(t->proc), linux_flags(t));
	text_printf(b, " %lu %lu %lu %lu %lu %lu %lu %lu", ru.minflt, l->children.minflt, ru.majflt,
		    l->children.majflt, ns_to_ticks(ru.utime_ns), ns_to_ticks(ru.stime_ns),
		    ns_to_ticks(l->children.utime_ns), ns_to_ticks(l->children.stime_ns));
	text_printf(b, " %d %d %u 0 %lu", linux_priority(t), t->nice, l->nr_threads,
		    ns_to_ticks((u64)t->start_time));
}

/* Fields 23-28: memory; addresses only for who may trace it. */
static void stat_mm(struct textbuf *b, const struct mm *mm, u64 rlim_rss, bool permitted)
{
	if (!mm) {
		text_printf(b, " 0 0 %lu 0 0 0", rlim_rss);
		return;
	}
	text_printf(b, " %lu %lu %lu", mm->total_vm << PAGE_SHIFT, rss_pages(mm), rlim_rss);
	if (permitted)
		text_printf(b, " %lu %lu %lu", mm->start_code, mm->end_code, mm->start_stack);
	else
		text_puts(b, " 1 1 0");
}

/* Fields 45-51 */
static void stat_mm_tail(struct textbuf *b, const struct mm *mm, bool permitted)
{
	if (!mm || !permitted) {
		text_puts(b, " 0 0 0 0 0 0 0");
		return;
	}
	text_printf(b, " %lu %lu %lu %lu %lu %lu %lu", mm->start_data, mm->end_data, mm->start_brk,
		    mm->arg_start, mm->arg_end, mm->env_start, mm->env_end);
}

PID_SHOW(pid_stat_show)
{
	bool permitted = ptrace_may_access(t);
	struct mm *mm = task_get_mm(t);
	struct signals s;
	struct links l;

	copy_links(t, &l);
	copy_signals(t, &s);
	stat_task(b, t, thread, &l);
	stat_mm(b, mm, t->proc->rlim[RLIMIT_RSS].cur, permitted);
	/* 29-34: sp, pc (only of an exiting task), the old 31-bit signal sets */
	text_printf(b, " 0 0 %lu %lu %lu %lu", s.pending & 0x7fffffff, s.blocked & 0x7fffffff,
		    s.ignored & 0x7fffffff, s.caught & 0x7fffffff);
	text_printf(b, " %d 0 0 %d %u %d %d 0 0 0", permitted && task_state_char(t) != 'R',
		    l.exit_signal, t->cpu, real_time(t) ? t->rt_prio : 0, t->policy);
	stat_mm_tail(b, mm, permitted);
	text_printf(b, " %d\n", permitted ? l.exit_code : 0);
	if (mm)
		mm_put(mm);
	return 0;
}

PID_SHOW(pid_statm_show)
{
	struct mm *mm = task_get_mm(t);

	if (!mm) {
		text_puts(b, "0 0 0 0 0 0 0\n");
		return 0;
	}
	text_printf(b, "%lu %lu %lu %lu 0 %lu 0\n", mm->total_vm, rss_pages(mm),
		    (u64)max(mm->rss_file + mm->rss_shmem, (s64)0), text_pages(mm),
		    mm->data_vm + mm->stack_vm);
	mm_put(mm);
	return 0;
}
