/* SPDX-License-Identifier: MIT */
/*
 * seccomp(2): a process gives up system calls.
 *
 * A filter is a program (bpf.h) that looks at a call's number and arguments and returns a verdict. Filters are
 * immutable and form a chain to the older ones; fork shares the chain, and nothing but the end of the task takes a filter
 * away. All filters of the chain are asked, and the strictest verdict counts.
 *
 * The entry code jumps through current->syscalls. As long as a task has no filter that is syscall_table; with one it
 * is a table whose every entry leads to seccomp_permits. So the switch is one store, and what is checked
 * cannot be passed by (numbers outside the table ask, too: syscall_unknown).
 *
 * TSYNC changes other threads while they run. It only replaces a filter by one that has it in its chain, so who
 * is just walking the old chain can finish. Filter, mode, table are stored in this order.
 */
#include <perch/atomic.h>
#include <perch/errno.h>
#include <perch/page.h>
#include <perch/printk.h>
#include <perch/seccomp.h>
#include <perch/syscall.h>
#include <perch/task.h>
#include <perch/uaccess.h>
#include <asm/ptrace.h>
#include <string.h>

#include "bpf.h"
#include "internal.h"

/* Operations and flags. */
#define SECCOMP_SET_MODE_STRICT		0
#define SECCOMP_SET_MODE_FILTER		1
#define SECCOMP_GET_ACTION_AVAIL	2
#define FLAG_TSYNC		BIT(0)
#define FLAG_LOG		BIT(1)
#define FLAG_SPEC_ALLOW		BIT(2)	/* we never mitigate */
#define FLAG_TSYNC_ESRCH	BIT(4)
#define FLAGS_KNOWN	(FLAG_TSYNC | FLAG_LOG | FLAG_SPEC_ALLOW | FLAG_TSYNC_ESRCH)

/* Verdicts: an action, as a signed number the smaller the stricter, and 16 bits of data. */
#define ACTION		0xffff0000U
#define DATA		0x0000ffffU
#define KILL_PROCESS	0x80000000U
#define KILL_THREAD	0x00000000U
#define TRAP		0x00030000U
#define ERRNO		0x00050000U
#define USER_NOTIF	0x7fc00000U
#define TRACE		0x7ff00000U
#define LOG		0x7ffc0000U
#define ALLOW		0x7fff0000U

#define SYS_SECCOMP	1	/* si_code of SIGSYS */
#define MAX_ERRNO	4095

/* A chain is at most so long; each filter counts so many instructions more than it has. */
#define CHAIN_INSNS	32768
#define CHAIN_EACH	4

#define NR_READ		63
#define NR_WRITE	64
#define NR_EXIT		93
#define NR_RT_SIGRETURN	139

/* All members are immutable but the count. */
struct seccomp_filter {
	refcount refs;			/* tasks whose newest it is, and the next newer filter */
	struct seccomp_filter *older;	/* with a reference, or NULL */
	bool log;			/* tell refused calls to the kernel log */
	u32 n;
	struct bpf_insn prog[];
};

/* What a filter looks at. */
struct seccomp_data {
	s32 nr;
	u32 arch;
	u64 pc;
	u64 args[6];
};

/* --- the check of a call */

static u32 ask_filters(const struct seccomp_data *d, const struct seccomp_filter **who)
{
	u32 verdict = ALLOW;

	for (const struct seccomp_filter *f = READ_ONCE(current->seccomp.filter); f; f = f->older) {
		u32 v = bpf_run(f->prog, (const u32 *)d, sizeof(*d));

		if ((s32)(v & ACTION) < (s32)(verdict & ACTION)) {
			verdict = v;
			*who = f;
		}
	}
	return verdict;
}

static struct seccomp_data describe(const struct pt_regs *r)
{
	struct seccomp_data d = { .nr = (s32)r->syscallno, .arch = SYSCALL_ARCH, .pc = r->pc };

	d.args[0] = r->orig_x0;
	memcpy(&d.args[1], &r->regs[1], 5 * sizeof(u64));
	return d;
}

/* One line in half a second at most: whoever is filtered must not fill the log. */
static void tell(u32 verdict, const struct pt_regs *r)
{
	static ktime last;	/* atomic */
	ktime now = ktime_now(), old = atomic_read(&last);

	if (now - old > NSEC_PER_SEC / 2 && atomic_cas(&last, old, now))
		pr_info("seccomp: %s[%u]: system call %d at %llx: %08x\n", current->comm,
			current->pid, (int)r->syscallno, (unsigned long long)r->pc, verdict);
}

/* SIGSYS, which cannot be ignored; the registers are as before the call, for the handler to emulate it. */
static long trap(struct pt_regs *r, u32 data)
{
	struct siginfo_abi info;

	memset(&info, 0, sizeof(info));
	info.signo = SIGSYS;
	info.code = SYS_SECCOMP;
	info.error = (s32)data;
	info.sys.call_addr = r->pc;
	info.sys.syscall = (s32)r->syscallno;
	info.sys.arch = SYSCALL_ARCH;
	force_signal_info(&info);
	r->syscallno = -1;	/* x0 is the program's: never taken for a restart code */
	return (long)r->orig_x0;
}

/* The last thread takes the process with it. */
static void __noreturn kill(bool process)
{
	if (process || READ_ONCE(current->proc->nr_live) == 1)
		do_group_exit(SIGSYS);
	do_exit(SIGSYS);
}

static bool strict_permits(u32 nr)
{
	if (nr == NR_READ || nr == NR_WRITE || nr == NR_EXIT || nr == NR_RT_SIGRETURN)
		return true;
	do_exit(SIGKILL);
}

/* The result of a call with this verdict, which is none of those that permit it. */
static long refuse(u32 verdict, struct pt_regs *r)
{
	switch (verdict & ACTION) {
	case TRAP:
		return trap(r, verdict & DATA);
	case ERRNO:
		return -(long)min(verdict & DATA, (u32)MAX_ERRNO);
	case TRACE:		/* nobody traces */
	case USER_NOTIF:	/* nobody listens */
		return -ENOSYS;
	}
	kill((verdict & ACTION) != KILL_THREAD);
}

bool seccomp_permits(long *ret)
{
	struct pt_regs *r = task_pt_regs(current);
	const struct seccomp_filter *who = NULL;
	struct seccomp_data d = describe(r);
	u32 verdict, action;

	smp_rmb();	/* whoever led us here was stored last: set_held */
	if (READ_ONCE(current->seccomp.mode) == SECCOMP_MODE_STRICT)
		return strict_permits((u32)d.nr);
	verdict = ask_filters(&d, &who);
	action = verdict & ACTION;
	if (action == ALLOW)
		return true;
	if ((s32)action <= (s32)KILL_THREAD || action == LOG || who->log)
		tell(verdict, r);
	if (action == LOG)
		return true;
	*ret = refuse(verdict, r);
	return false;
}

static long syscall_checked(u64 a, u64 b, u64 c, u64 d, u64 e, u64 f)
{
	u32 nr = (u32)task_pt_regs(current)->syscallno;
	long ret;

	if (!seccomp_permits(&ret))
		return ret;
	return syscall_table[nr] ? syscall_table[nr](a, b, c, d, e, f) : syscall_count_unknown(nr);
}

static const syscall_fn checked_table[NR_SYSCALLS] = {
	[0 ... NR_SYSCALLS - 1] = syscall_checked,
};

/* --- filters */

static void filter_put(struct seccomp_filter *f)
{
	while (f && ref_put(&f->refs)) {
		struct seccomp_filter *older = f->older;

		kfree(f);
		f = older;
	}
}

void seccomp_free(struct task *t)
{
	filter_put(t->seccomp.filter);
}

void seccomp_fork_locked(struct task *child)
{
	ASSERT(spin_is_locked(&task_lock));
	child->seccomp = current->seccomp;
	if (child->seccomp.filter)
		ref_get(&child->seccomp.filter->refs);
	child->syscalls = current->syscalls;
	child->cred.no_new_privs = current->cred.no_new_privs;
}

/* A filter that nobody has yet. */
static struct seccomp_filter *filter_new(u32 n, const struct bpf_insn __user *uprog)
{
	struct seccomp_filter *f = kmalloc(sizeof(*f) + n * sizeof(f->prog[0]));
	int err;

	if (!f)
		return ERR_PTR(-ENOMEM);
	ref_init(&f->refs, 1);
	f->older = NULL;
	f->log = false;
	f->n = n;
	err = copy_from_user(f->prog, uprog, n * sizeof(f->prog[0])) ? -EFAULT :
	      bpf_check(f->prog, n, sizeof(struct seccomp_data));
	if (!err)
		return f;
	kfree(f);
	return ERR_PTR(err);
}

/* struct sock_fprog */
struct fprog {
	u16 n;
	const struct bpf_insn __user *prog;
};

static struct seccomp_filter *filter_from_user(const struct fprog __user *u)
{
	struct fprog p;

	if (copy_from_user(&p, u, sizeof(p)))
		return ERR_PTR(-EFAULT);
	if (p.n == 0 || p.n > BPF_MAX_INSNS)
		return ERR_PTR(-EINVAL);
	/* Who may gain privileges by exec must not choose what a privileged program can do. */
	if (!current->cred.no_new_privs && !capable(CAP_SYS_ADMIN))
		return ERR_PTR(-EACCES);
	return p.prog ? filter_new(p.n, p.prog) : ERR_PTR(-EINVAL);
}

static u32 chain_insns(const struct seccomp_filter *f)
{
	u32 n = 0;

	for (; f; f = f->older)
		n += f->n + CHAIN_EACH;
	return n;
}

/* --- giving them to tasks */

static void set_held(struct task *t, u32 mode, struct seccomp_filter *f, u32 nr_filters)
{
	ASSERT(spin_is_locked(&task_lock));
	t->seccomp.nr_filters = nr_filters;
	WRITE_ONCE(t->seccomp.filter, f);
	store_release(&t->seccomp.mode, mode);
	store_release(&t->syscalls, checked_table);
}

static bool in_chain(const struct seccomp_filter *f, const struct seccomp_filter *chain)
{
	while (chain && chain != f)
		chain = chain->older;
	return chain == f;	/* also of none at all */
}

/* Another thread that TSYNC concerns. */
static bool to_sync(const struct task *t)
{
	return t != current && !(READ_ONCE(t->flags) & TF_EXITING);
}

/* A thread whose filters are not among ours, or NULL. */
static struct task *stranger_held(void)
{
	struct task *t;

	list_for_each(t, &current->proc->threads, thread_node)
		if (to_sync(t) && (t->seccomp.mode == SECCOMP_MODE_STRICT ||
				   !in_chain(t->seccomp.filter, current->seccomp.filter)))
			return t;
	return NULL;
}

static void sync_threads_held(void)
{
	const struct seccomp *s = &current->seccomp;
	struct task *t;

	list_for_each(t, &current->proc->threads, thread_node) {
		struct seccomp_filter *old = t->seccomp.filter;

		if (!to_sync(t))
			continue;
		ref_get(&s->filter->refs);
		set_held(t, s->mode, s->filter, s->nr_filters);
		filter_put(old);	/* never the last one: it is in our chain */
		if (current->cred.no_new_privs)
			t->cred.no_new_privs = true;
	}
}

static long attach_held(struct seccomp_filter *f, u32 flags)
{
	const struct seccomp *s = &current->seccomp;
	struct task *t = flags & FLAG_TSYNC ? stranger_held() : NULL;

	if (chain_insns(s->filter) + f->n > CHAIN_INSNS)
		return -ENOMEM;
	if (t)
		return flags & FLAG_TSYNC_ESRCH ? -ESRCH : (long)t->pid;
	f->log = flags & FLAG_LOG;
	f->older = s->filter;
	set_held(current, SECCOMP_MODE_FILTER, f, s->nr_filters + 1);
	if (flags & FLAG_TSYNC)
		sync_threads_held();
	return 0;
}

/* With the filter's reference, which becomes the task's if 0 is returned. */
static long attach(struct seccomp_filter *f, u32 flags)
{
	/* An exec that is about to decide about privileges must see no_new_privs as all threads have it. */
	struct mutex *exec = flags & FLAG_TSYNC ? &current->proc->exec_lock : NULL;
	u64 irq;
	long ret;

	if (exec && mutex_lock_killable(exec))
		return -EINTR;
	irq = spin_lock_irqsave(&task_lock);
	ret = attach_held(f, flags);
	spin_unlock_irqrestore(&task_lock, irq);
	if (exec)
		mutex_unlock(exec);
	return ret;
}

/* --- the calls */

static long set_strict(void)
{
	u64 flags;

	if (current->seccomp.mode == SECCOMP_MODE_FILTER)
		return -EINVAL;
	flags = spin_lock_irqsave(&task_lock);
	set_held(current, SECCOMP_MODE_STRICT, NULL, 0);
	spin_unlock_irqrestore(&task_lock, flags);
	return 0;
}

static long set_filter(u32 flags, const void __user *u)
{
	struct seccomp_filter *f;
	long ret;

	if (flags & ~FLAGS_KNOWN)
		return -EINVAL;
	f = filter_from_user(u);
	if (IS_ERR(f))
		return PTR_ERR(f);
	ret = attach(f, flags);
	if (ret)
		filter_put(f);
	return ret;
}

static long action_available(const u32 __user *u)
{
	u32 action;

	if (get_user(action, u))
		return -EFAULT;
	switch (action) {
	case KILL_PROCESS: case KILL_THREAD: case TRAP: case ERRNO: case TRACE: case LOG: case ALLOW:
		return 0;
	}
	return -EOPNOTSUPP;
}

long sys_seccomp(u32 op, u32 flags, void __user *arg)
{
	switch (op) {
	case SECCOMP_SET_MODE_STRICT:
		return flags || arg ? -EINVAL : set_strict();
	case SECCOMP_SET_MODE_FILTER:
		return set_filter(flags, arg);
	case SECCOMP_GET_ACTION_AVAIL:
		return flags ? -EINVAL : action_available(arg);
	}
	return -EINVAL;
}

long seccomp_prctl(u64 mode, const void __user *filter)
{
	switch (mode) {
	case SECCOMP_MODE_STRICT:
		return set_strict();
	case SECCOMP_MODE_FILTER:
		return set_filter(0, filter);
	}
	return -EINVAL;
}
