/* SPDX-License-Identifier: MIT */
/* The small files of /proc/PID: limits, comm, out-of-memory scores, accounting, ids and maps of
 * ids. */
#include "internal.h"
#include <asm/ptrace.h>
#include <perch/boot.h>
#include <perch/cred.h>
#include <perch/kallsyms.h>
#include <perch/mm.h>
#include <perch/page.h>
#include <perch/perf.h>
#include <perch/sched.h>
#include <stdlib.h>
#include <string.h>

/* --- comm ----------------------------------------------------------------------------------- */

PID_SHOW(pid_comm_show)
{
	text_comm(b, t, false);
	text_puts(b, "\n");
	return 0;
}

/* Only threads of the same process may rename each other; what is too long is cut. */
PID_STORE(pid_comm_store)
{
	char comm[TASK_COMM_LEN] = { 0 };

	if (t->proc != current->proc)
		return -EINVAL;
	memcpy(comm, buf, min_t(size_t, len, TASK_COMM_LEN - 1));
	task_set_comm(t, comm);
	return (ssize_t)len;
}

/* --- limits --------------------------------------------------------------------------------- */

static void put_limit(struct textbuf *b, u64 v)
{
	if (v == UINT64_MAX)
		text_printf(b, "%-20s ", "unlimited");
	else
		text_printf(b, "%-20lu ", v);
}

PID_SHOW(pid_limits_show)
{
	/* In the order of their numbers. */
	static const struct { const char *name, *unit; } names[RLIM_NLIMITS] = {
		{ "Max cpu time", "seconds" }, { "Max file size", "bytes" },
		{ "Max data size", "bytes" },
		{ "Max stack size", "bytes" }, { "Max core file size", "bytes" },
		{ "Max resident set", "bytes" }, { "Max processes", "processes" },
		{ "Max open files", "files" }, { "Max locked memory", "bytes" },
		{ "Max address space", "bytes" }, { "Max file locks", "locks" },
		{ "Max pending signals", "signals" }, { "Max msgqueue size", "bytes" },
		{ "Max nice priority", "" }, { "Max realtime priority", "" },
		{ "Max realtime timeout", "us" },
	};
	struct rlimit64 lim[RLIM_NLIMITS];
	u64 flags = spin_lock_irqsave(&task_lock);

	memcpy(lim, t->proc->rlim, sizeof(lim));
	spin_unlock_irqrestore(&task_lock, flags);
	text_printf(b, "%-25s %-20s %-20s %-10s\n", "Limit", "Soft Limit", "Hard Limit", "Units");
	for (int k = 0; k < RLIM_NLIMITS; k++) {
		text_printf(b, "%-25s ", names[k].name);
		put_limit(b, lim[k].cur);
		put_limit(b, lim[k].max);
		text_printf(b, "%-10s\n", names[k].unit);
	}
	return 0;
}

/* --- out of memory -------------------------------------------------------------------------- */

#define OOM_ADJ_MAX		15
#define OOM_DISABLE		(-17)
#define OOM_SCORE_ADJ_MAX	1000

static s64 score_adj(struct task *t)
{
	return (s64)READ_ONCE(t->proc->oom_score_adj);
}

PID_SHOW(pid_oom_score_adj_show)
{
	text_printf(b, "%ld\n", score_adj(t));
	return 0;
}

/* The old scale of -17..15, for programs that still use it. */
PID_SHOW(pid_oom_adj_show)
{
	s64 v = score_adj(t);

	text_printf(b, "%ld\n", v == OOM_SCORE_ADJ_MAX ? OOM_ADJ_MAX :
		    v * -OOM_DISABLE / OOM_SCORE_ADJ_MAX);
	return 0;
}

/* Share of memory in thousandths, moved by the adjustment and scaled to 0..1333 as Linux shows it.
 * */
PID_SHOW(pid_oom_score_show)
{
	struct mm *mm = task_get_mm(t);
	s64 points, total = (s64)mem_stats.total_pages;
	s64 adj = score_adj(t);

	if (!mm) {
		text_puts(b, "0\n");
		return 0;
	}
	points = mm->rss_anon + mm->rss_file + mm->rss_shmem + mm->pgt.nr_tables;
	points += adj * total / 1000;
	mm_put(mm);
	if (adj == -OOM_SCORE_ADJ_MAX)
		text_puts(b, "0\n");
	else
		text_printf(b, "%ld\n",
			    max((1000 + points * 1000 / max(total, (s64)1)) * 2 / 3, (s64)0));
	return 0;
}

static int parse_long(const char *s, long *out)
{
	char *end;

	while (*s == ' ' || *s == '\t')
		s++;
	*out = strtol(s, &end, 0);
	if (end == s)
		return -EINVAL;
	while (*end == '\n' || *end == ' ' || *end == '\t')
		end++;
	return *end ? -EINVAL : 0;
}

/* Making oneself less likely to be killed takes a capability. */
static ssize_t set_score_adj(struct task *t, s64 v, size_t len)
{
	if (!ptrace_may_access(t) && current->cred.euid != t->cred.uid)
		return -EACCES;
	if (v < score_adj(t) && !capable(CAP_SYS_RESOURCE))
		return -EACCES;
	WRITE_ONCE(t->proc->oom_score_adj, (u64)v);
	return (ssize_t)len;
}

PID_STORE(pid_oom_score_adj_store)
{
	long v;
	int err = parse_long(buf, &v);

	if (err || v < -OOM_SCORE_ADJ_MAX || v > OOM_SCORE_ADJ_MAX)
		return -EINVAL;
	return set_score_adj(t, v, len);
}

PID_STORE(pid_oom_adj_store)
{
	long v;
	int err = parse_long(buf, &v);

	if (err || ((v < -16 || v > OOM_ADJ_MAX) && v != OOM_DISABLE))
		return -EINVAL;
	return set_score_adj(t, v == OOM_ADJ_MAX ? OOM_SCORE_ADJ_MAX :
			     v * OOM_SCORE_ADJ_MAX / -OOM_DISABLE, len);
}

/* --- scheduling ----------------------------------------------------------------------------- */

static void put_sched_time(struct textbuf *b, const char *name, u64 ns)
{
	text_printf(b, "%-45s:%14lu.%06lu\n", name, ns / 1000000, ns % 1000000);
}

static void put_sched_count(struct textbuf *b, const char *name, s64 v)
{
	text_printf(b, "%-45s:%21ld\n", name, v);
}

PID_SHOW(pid_sched_show)
{
	bool rt = t->policy == SCHED_FIFO || t->policy == SCHED_RR;

	text_printf(b, "%.16s (%u, #threads: %u)\n", t->comm, t->pid, t->proc->nr_threads);
	text_puts(b, "-------------------------------------------------------------------\n");
	put_sched_time(b, "se.sum_exec_runtime", task_exec_ns(t));
	put_sched_count(b, "se.nr_migrations", t->nr_migrations);
	put_sched_count(b, "nr_switches", (s64)(t->ru.nvcsw + t->ru.nivcsw));
	put_sched_count(b, "nr_voluntary_switches", (s64)t->ru.nvcsw);
	put_sched_count(b, "nr_involuntary_switches", (s64)t->ru.nivcsw);
	put_sched_count(b, "se.load.weight", (s64)t->se.weight << 10);
	put_sched_count(b, "policy", t->policy);
	put_sched_count(b, "prio", rt ? 99 - t->rt_prio : 120 + t->nice);
	return 0;
}

/* Time on the CPU, time waiting for it (not measured: 0), number of times it ran. */
PID_SHOW(pid_schedstat_show)
{
	text_printf(b, "%lu 0 %lu\n", task_exec_ns(t), t->ru.nvcsw + t->ru.nivcsw + 1);
	return 0;
}

/* The call chain of a task in the kernel. */
PID_SHOW(pid_stack_show)
{
	u64 pcs[32];
	char name[128];
	u32 n;

	if (!capable(CAP_SYS_ADMIN))
		return -EACCES;
	if (t != current && (task_running(t) || t->exit_state))
		return 0;
	n = arch_stack_trace(t, pcs, ARRAY_SIZE(pcs));
	for (u32 k = 0; k < n; k++)
		text_printf(b, "[<0>] %s\n", ksym_format(pcs[k], name, sizeof(name)));
	return 0;
}

/* What everything sleeps through: it does not say why. */
static bool is_sleep_function(const char *name)
{
	static const char *const names[] = { "schedule", "sleep_until", "mutex_lock",
					     "wait_for_completion" };

	for (size_t k = 0; k < ARRAY_SIZE(names); k++)
		if (!strncmp(name, names[k], strlen(names[k])))
			return true;
	return false;
}

/* The function in which a task sleeps; 0 if it runs, or for those who may not know. */
PID_SHOW(pid_wchan_show)
{
	u64 pcs[8], start, size;
	const char *name = NULL;
	u32 n = 0;

	if (ptrace_may_access(t) && READ_ONCE(t->state) != TASK_RUNNING && !t->exit_state)
		n = arch_stack_trace(t, pcs, ARRAY_SIZE(pcs));
	for (u32 k = 0; k < n; k++) {
		name = kallsyms_lookup(pcs[k], &start, &size);
		if (name && !is_sleep_function(name))
			break;
	}
	text_puts(b, name ? name : "0");
	return 0;
}

/* The system call that t sleeps in with its arguments, then the user's stack pointer and program
 * counter. */
PID_SHOW(pid_syscall_show)
{
	const struct pt_regs *r;

	if (t->exit_state || (t->flags & TF_KTHREAD)) {
		text_puts(b, t->exit_state ? "" : "0 0x0 0x0 0x0 0x0 0x0 0x0 0x0 0x0\n");
		return t->exit_state ? -ESRCH : 0;
	}
	if (t != current && (task_running(t) || READ_ONCE(t->state) == TASK_RUNNING)) {
		text_puts(b, "running\n");
		return 0;
	}
	r = task_pt_regs(t);
	if (r->syscallno < 0)
		text_printf(b, "-1 0x%lx 0x%lx\n", r->sp, r->pc);
	else
		text_printf(b, "%ld 0x%lx 0x%lx 0x%lx 0x%lx 0x%lx 0x%lx 0x%lx 0x%lx\n",
			    r->syscallno, r->orig_x0, r->regs[1], r->regs[2], r->regs[3], r->regs[4],
			    r->regs[5], r->sp, r->pc);
	return 0;
}

PID_SHOW(pid_timerslack_show)
{
	if (t != current && !capable(CAP_SYS_NICE))
		return -EPERM;
	text_printf(b, "%ld\n", t->slack_ns);
	return 0;
}

PID_STORE(pid_timerslack_store)
{
	u64 v;
	char *end;

	v = strtoull(buf, &end, 10);
	if (end == buf || (*end && *end != '\n'))
		return -EINVAL;
	if (t != current && !capable(CAP_SYS_NICE))
		return -EPERM;
	t->slack_ns = v ? (ktime)v : 50000;
	return (ssize_t)len;
}

/* --- ids ------------------------------------------------------------------------------------ */

/* Audit's login uid and session: never set. */
PID_SHOW(pid_loginuid_show)
{
	text_puts(b, "4294967295");
	return 0;
}

PID_SHOW(pid_sessionid_show)
{
	text_puts(b, "4294967295");
	return 0;
}

PID_SHOW(pid_personality_show)
{
	text_printf(b, "%08x\n", (u32)t->personality);
	return 0;
}

/* One user namespace: every id is itself. */
PID_SHOW(pid_id_map_show)
{
	text_printf(b, "%10u %10u %10u\n", 0, 0, UINT32_MAX);
	return 0;
}

PID_SHOW(pid_setgroups_show)
{
	text_puts(b, "allow\n");
	return 0;
}

/* No control groups are mounted: no lines, and the root cpuset. */
PID_SHOW(pid_cgroup_show)
{
	return 0;
}

PID_SHOW(pid_cpuset_show)
{
	text_puts(b, "/\n");
	return 0;
}

PID_SHOW(pid_coredump_filter_show)
{
	text_puts(b, "00000033\n");
	return 0;
}

/* What read and write moved. Nothing ever comes from or goes to a disk. */
PID_SHOW(pid_io_show)
{
	struct rusage_counts ru, children = { 0 };

	pid_times(t, thread, &ru);
	if (!thread) {
		u64 flags = spin_lock_irqsave(&task_lock);

		children = t->proc->children_ru;
		spin_unlock_irqrestore(&task_lock, flags);
	}
	text_printf(b, "rchar: %lu\nwchar: %lu\n", ru.rchar + children.rchar,
		    ru.wchar + children.wchar);
	text_printf(b, "syscr: %lu\nsyscw: %lu\n", ru.syscr + children.syscr,
		    ru.syscw + children.syscw);
	text_puts(b, "read_bytes: 0\nwrite_bytes: 0\ncancelled_write_bytes: 0\n");
	return 0;
}

PID_SHOW(pid_children_show)
{
	u64 flags = spin_lock_irqsave(&task_lock);
	struct process *c;

	if (t->proc->leader == t)
		list_for_each(c, &t->proc->children, sibling)
			text_printf(b, "%u ", c->pid);
	spin_unlock_irqrestore(&task_lock, flags);
	return 0;
}

PID_SHOW(pid_perf_refusal_show)
{
	char text[256];
	long n = perf_refusal_text(t, text, sizeof(text));

	if (n > 0)
		text_write(b, text, (size_t)min_t(long, n, (long)sizeof(text)));
	return n < 0 ? (int)n : 0;
}
