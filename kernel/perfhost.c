/* SPDX-License-Identifier: MIT */
/*
 * Perch as the host of the perf core: kernel/perf/host.h implemented with the kernel's own services.
 * Each function is a few lines; what they promise stands in host.h. Files are in kernel/perfhost_file.c,
 * call chains in arch (perf_chain.c).
 */
#include <kernel/perf/host.h>
#include <perch/fs.h>
#include <perch/irq.h>
#include <perch/mm.h>
#include <perch/page.h>
#include <perch/printk.h>
#include <perch/procfs.h>
#include <perch/sched.h>
#include <perch/smp.h>
#include <perch/task.h>
#include <perch/uaccess.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* --- memory and log */

void *host_page_alloc(void)
{
	/* Rings can grow as far as a user's allowance goes, root's without end: the kernel's reserve is not for them. */
	struct page *p = mem_low() ? NULL : alloc_zpage();

	if (!p)
		return NULL;
	p->flags |= PG_KERNEL;
	return page_address(p);
}

void host_page_free(void *page)
{
	struct page *p = virt_to_page(page);

	p->flags &= (u8)~PG_KERNEL;
	page_put(p);
}

void host_log(const char *fmt, ...)
{
	char line[192];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	printk("%s", line);
}

int host_snprintf(char *buf, size_t size, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(buf, size, fmt, ap);
	va_end(ap);
	return n;
}

/* --- CPUs */

int host_call_on_cpu(u32 cpu, void (*fn)(void *), void *arg)
{
	return call_on_cpu(cpu, fn, arg);
}

void host_tick_hold(void)
{
	sched_tick_get();
}

void host_tick_release(void)
{
	sched_tick_put();
}

/* --- timers and irq work: the kernel's own objects */

void host_timer_init(struct host_timer *t, void (*fn)(struct host_timer *))
{
	timer_setup(t, fn);
}

void host_timer_start(struct host_timer *t, u64 when)
{
	timer_start(t, (ktime)when);
}

void host_timer_cancel(struct host_timer *t)
{
	timer_cancel(t);
}

bool host_timer_armed(const struct host_timer *t)
{
	return timer_armed(t);
}

void host_irq_work_sync(struct host_irq_work *w)
{
	irq_work_sync(w);
}

/* --- tasks */

struct task *host_task_find(int tid)
{
	if (!tid) {
		task_get(current);
		return current;
	}
	return tid > 0 ? task_find_get((u32)tid) : NULL;
}

void host_task_get(struct task *t)
{
	task_get(t);
}

void host_task_put(struct task *t)
{
	task_put(t);
}

void host_task_comm(const struct task *t, char comm[16])
{
	memset(comm, 0, 16);
	strncpy(comm, t->comm, 15);
}

void host_task_parent(const struct task *t, u32 *tgid, u32 *tid)
{
	u64 flags = spin_lock_irqsave(&task_lock);
	struct process *parent = t->proc ? t->proc->parent : NULL;

	*tgid = *tid = parent ? parent->pid : 0;
	spin_unlock_irqrestore(&task_lock, flags);
}

void host_task_ns(struct host_ns ns[HOST_NR_NS])
{
	static const char *const names[HOST_NR_NS] = { "net", "uts", "ipc", "pid", "user", "mnt", "cgroup" };

	for (u32 i = 0; i < HOST_NR_NS; i++)
		ns_number(names[i], &ns[i].dev, &ns[i].ino);
}

void host_user_return(struct task *t)
{
	set_task_flag(t, TIF_NOTIFY);
}

void host_sigtrap(u64 addr, u32 type, u64 data)
{
	struct siginfo_abi info = { .signo = SIGTRAP, .code = TRAP_PERF };

	info.fault.addr = addr;
	info.fault.perf_data = data;
	info.fault.perf_type = type;
	info.fault.perf_flags = current->blocked & sigmask(SIGTRAP) ? 1 : 0;	/* TRAP_PERF_FLAG_ASYNC */
	send_signal_task(current, SIGTRAP, &info);
}

const struct pt_regs *host_timer_regs(void)
{
	return timer_regs();
}

struct pt_regs *host_task_user_regs(struct task *t)
{
	return host_task_is_kernel(t) ? NULL : task_pt_regs(t);
}

/* --- permission */

bool host_capable(enum host_cap cap)
{
	switch (cap) {
	case HOST_CAP_PERFMON:
		return capable(CAP_PERFMON);
	case HOST_CAP_SYS_ADMIN:
		return capable(CAP_SYS_ADMIN);
	case HOST_CAP_IPC_LOCK:
		return capable(CAP_IPC_LOCK);
	case HOST_CAP_KILL:
		return capable(CAP_KILL);
	}
	return false;
}

bool host_may_observe(struct task *t)
{
	return ptrace_may_access(t);
}

int host_exec_guard(struct task *t)
{
	if (FAIL_STEP(FAIL_WAIT))
		return -EINTR;
	return mutex_lock_killable(&t->proc->exec_lock);
}

void host_exec_unguard(struct task *t)
{
	mutex_unlock(&t->proc->exec_lock);
}

u64 host_memlock_limit(void)
{
	return READ_ONCE(current->proc->rlim[RLIMIT_MEMLOCK].cur);
}

/* Accounts of locked pages, one per user id; they live while somebody holds them. */
struct host_user {
	struct list node;	/* users_lock */
	u32 uid;
	u32 refs;		/* users_lock */
	s64 locked;		/* atomic */
};
static struct mutex users_lock = MUTEX_INIT(users_lock);
static LIST_HEAD(users);	/* users_lock */

static struct host_user *find_user(u32 uid)
{
	struct host_user *u;

	list_for_each(u, &users, node)
		if (u->uid == uid)
			return u;
	return NULL;
}

struct host_user *host_user_get(void)
{
	struct host_user *u;

	mutex_lock(&users_lock);
	u = find_user(current->cred.uid);
	if (!u) {
		u = kzalloc(sizeof(*u));
		if (u) {
			u->uid = current->cred.uid;
			list_add_tail(&u->node, &users);
		}
	}
	if (u)
		u->refs++;
	mutex_unlock(&users_lock);
	return u;
}

void host_user_put(struct host_user *u)
{
	mutex_lock(&users_lock);
	if (!--u->refs) {
		list_del(&u->node);
		kfree(u);
	}
	mutex_unlock(&users_lock);
}

s64 *host_user_locked_pages(struct host_user *u)
{
	return &u->locked;
}

struct host_mm *host_mm_get(void)
{
	ref_get(&current->mm->count);
	return (struct host_mm *)current->mm;
}

void host_mm_put(struct host_mm *mm)
{
	mm_drop((struct mm *)mm);
}

s64 *host_mm_pinned_pages(struct host_mm *mm)
{
	return &((struct mm *)mm)->pinned_vm;
}

/* --- user memory */


/* --- clocks */

bool host_user_clock(u32 *mult, u32 *shift, u64 *counter)
{
	ktime_params(mult, shift);
	*counter = timer_counter();
	return true;
}

#define CLOCK_REALTIME	0
#define CLOCK_TAI	11	/* no leap seconds are known here: TAI is REALTIME */

u64 host_clock(int clockid)
{
	u64 now = (u64)ktime_now();

	if (clockid == CLOCK_REALTIME || clockid == CLOCK_TAI)
		return now + (u64)realtime_offset();
	return now;
}
