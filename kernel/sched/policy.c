/* SPDX-License-Identifier: MIT */
/*
 * Scheduling policies: changing one, who may, and the system calls. All calls boil down to a
 * struct change; the permission rules are those of sched(7).
 */
#include "rq.h"
#include "policy.h"
#include <perch/cred.h>
#include <perch/errno.h>
#include <perch/syscall.h>
#include <perch/uaccess.h>
#include <string.h>

static u32 policy_weight(int policy, int nice)
{
	return policy == SCHED_IDLE ? IDLE_WEIGHT : nice_weight(nice);
}

static void apply(struct task *t, int policy, int prio, int nice)
{
	t->policy = policy;
	t->rt_prio = prio;
	t->nice = nice;
	t->se.weight = policy_weight(policy, nice);
	t->se.slice_left = RR_SLICE;
}

int set_policy(struct task *t, int policy, int prio, int nice)
{
	u64 flags;
	struct rq *rq = task_rq_lock(t, &flags);
	bool queued = t->se.queued;

	update_curr(rq, ktime_now());
	if (queued)
		dequeue(rq, t);
	apply(t, policy, prio, nice);
	if (queued) {
		fair_place(rq, t);
		enqueue(rq, t, false);
		check_preempt(rq, t);
	} else if (rq->curr == t) {
		WRITE_ONCE(rq->curr_prio, t->rt_prio);
		fair_place(rq, t);
		if (rq->nr_queued)
			resched(rq);
	}
	task_rq_unlock(rq, flags);
	return 0;
}

struct change {
	int policy;		/* -1: keep */
	int prio;
	int nice;
	bool set_nice;		/* else keep */
	bool reset_on_fork;
};

static bool policy_known(int policy)
{
	return policy == SCHED_OTHER || policy == SCHED_FIFO || policy == SCHED_RR ||
	       policy == SCHED_BATCH || policy == SCHED_IDLE;
}

/* Policies that cannot be set, but whose (empty) priority range Linux tells. */
static bool policy_foreign(int policy)
{
	return policy == SCHED_DEADLINE || policy == SCHED_EXT;
}

static bool policy_rt(int policy)
{
	return policy == SCHED_FIFO || policy == SCHED_RR;
}

/* RLIMIT_NICE counts from 1 (nice 19) to 40 (nice -20). */
bool nice_allowed(struct task *t, int nice)
{
	return (u64)(20 - nice) <= t->proc->rlim[RLIMIT_NICE].cur;
}

static bool rt_change_allowed(struct task *t, const struct change *c)
{
	u64 limit = t->proc->rlim[RLIMIT_RTPRIO].cur;

	if (c->policy != t->policy && !limit)
		return false;
	return c->prio <= t->rt_prio || (u64)c->prio <= limit;
}

/* What a task without CAP_SYS_NICE may do: nothing that makes t more important. */
static bool change_allowed(struct task *t, const struct change *c)
{
	if (capable(CAP_SYS_NICE))
		return true;
	if (!policy_rt(c->policy) && c->set_nice && c->nice < t->nice && !nice_allowed(t, c->nice))
		return false;
	if (policy_rt(c->policy) && !rt_change_allowed(t, c))
		return false;
	if (t->policy == SCHED_IDLE && c->policy != SCHED_IDLE && !nice_allowed(t, t->nice))
		return false;
	if (!sched_same_owner(t))
		return false;
	return !t->reset_on_fork || c->reset_on_fork;
}

static long change(struct task *t, struct change *c)
{
	if (c->policy < 0) {
		c->policy = t->policy;
		c->reset_on_fork |= t->reset_on_fork;
	} else if (!policy_known(c->policy)) {
		return -EINVAL;
	}
	if (c->prio < 0 || c->prio > MAX_RT_PRIO || policy_rt(c->policy) != (c->prio != 0))
		return -EINVAL;
	if (!change_allowed(t, c))
		return -EPERM;
	t->reset_on_fork = c->reset_on_fork;
	return set_policy(t, c->policy, c->prio, c->set_nice ? c->nice : t->nice);
}

struct task *sched_find(int pid)
{
	if (pid)
		return task_find_get(pid);
	task_get(current);
	return current;
}

static long change_pid(int pid, struct change *c)
{
	struct task *t = sched_find(pid);
	long ret;

	if (!t)
		return -ESRCH;
	ret = change(t, c);
	task_put(t);
	return ret;
}

long sys_sched_setscheduler(int pid, int policy, const int __user *param)
{
	struct change c = { 0 };

	if (policy < 0 || pid < 0 || !param)
		return -EINVAL;
	if (get_user(c.prio, param))
		return -EFAULT;
	c.reset_on_fork = policy & SCHED_RESET_ON_FORK;
	c.policy = policy & ~SCHED_RESET_ON_FORK;
	return change_pid(pid, &c);
}

long sys_sched_setparam(int pid, const int __user *param)
{
	struct change c = { .policy = -1 };

	if (pid < 0 || !param)
		return -EINVAL;
	if (get_user(c.prio, param))
		return -EFAULT;
	return change_pid(pid, &c);
}

long sys_sched_getscheduler(int pid)
{
	struct task *t;
	long ret;

	if (pid < 0)
		return -EINVAL;
	t = sched_find(pid);
	if (!t)
		return -ESRCH;
	ret = t->policy | (t->reset_on_fork ? SCHED_RESET_ON_FORK : 0);
	task_put(t);
	return ret;
}

long sys_sched_getparam(int pid, int __user *param)
{
	struct task *t;
	int prio;

	if (pid < 0 || !param)
		return -EINVAL;
	t = sched_find(pid);
	if (!t)
		return -ESRCH;
	prio = t->rt_prio;
	task_put(t);
	return put_user(prio, param);
}

/* sched_setattr's structure, versions of 48 and 56 bytes (sched_setattr(2)). */
struct sched_attr_abi {
	u32 size, policy;
	u64 flags;
	s32 nice;
	u32 priority;
	u64 runtime, deadline, period;
	u32 util_min, util_max;
};
_Static_assert(sizeof(struct sched_attr_abi) == 56, "sched_attr, second version");
#define SCHED_ATTR_SIZE_MIN	48
#define SCHED_FLAG_RESET_ON_FORK 0x01
#define SCHED_FLAG_KEEP_POLICY	0x08
#define SCHED_FLAG_KEEP_PARAMS	0x10
#define SCHED_FLAG_KNOWN	0x7f
#define SCHED_FLAG_UTIL_CLAMP	0x60

/* Bytes behind what we know must be 0. */
static long tail_is_zero(const char __user *p, u32 from, u32 to)
{
	for (; from < to; from++) {
		char c;

		if (get_user(c, p + from))
			return -EFAULT;
		if (c)
			return -E2BIG;
	}
	return 0;
}

static long copy_attr(struct sched_attr_abi *a, struct sched_attr_abi __user *uattr)
{
	u32 size, known = sizeof(*a);
	long err = -E2BIG;

	memset(a, 0, sizeof(*a));
	if (get_user(size, &uattr->size))
		return -EFAULT;
	if (!size)
		size = SCHED_ATTR_SIZE_MIN;
	if (size >= SCHED_ATTR_SIZE_MIN && size <= PAGE_SIZE)
		err = tail_is_zero((const char __user *)uattr, known, size);
	if (err == -E2BIG && put_user(known, &uattr->size))
		return -EFAULT;
	if (err)
		return err;
	if (copy_from_user(a, uattr, min(size, known)))
		return -EFAULT;
	if ((a->flags & SCHED_FLAG_UTIL_CLAMP) && size < known)
		return -EINVAL;
	a->nice = clamp_t(s32, a->nice, -20, 19);
	return 0;
}

long sys_sched_setattr(int pid, struct sched_attr_abi __user *uattr, u32 flags)
{
	struct sched_attr_abi a;
	struct change c;
	long err;

	if (!uattr || pid < 0 || flags)
		return -EINVAL;
	err = copy_attr(&a, uattr);
	if (err)
		return err;
	if ((s32)a.policy < 0 || (a.flags & ~(u64)SCHED_FLAG_KNOWN))
		return -EINVAL;
	if (a.flags & SCHED_FLAG_UTIL_CLAMP)
		return -EOPNOTSUPP;	/* as a kernel without utilisation clamping */
	c = (struct change){
		.policy = a.flags & SCHED_FLAG_KEEP_POLICY ? -1 : (int)a.policy,
		.prio = a.priority,
		.nice = a.nice,
		.set_nice = !policy_rt(a.policy) && !(a.flags & SCHED_FLAG_KEEP_PARAMS),
		.reset_on_fork = a.flags & SCHED_FLAG_RESET_ON_FORK,
	};
	if (a.flags & SCHED_FLAG_KEEP_PARAMS) {
		struct task *t = sched_find(pid);

		if (!t)
			return -ESRCH;
		c.prio = t->rt_prio;
		task_put(t);
	}
	return change_pid(pid, &c);
}

long sys_sched_getattr(int pid, struct sched_attr_abi __user *uattr, u32 size, u32 flags)
{
	struct sched_attr_abi a = { 0 };
	struct task *t;

	if (!uattr || pid < 0 || size > PAGE_SIZE || size < SCHED_ATTR_SIZE_MIN || flags)
		return -EINVAL;
	t = sched_find(pid);
	if (!t)
		return -ESRCH;
	a.size = min_t(u32, size, sizeof(a));
	a.policy = t->policy;
	a.flags = t->reset_on_fork ? SCHED_FLAG_RESET_ON_FORK : 0;
	a.priority = t->rt_prio;
	a.nice = rt_task(t) ? 0 : t->nice;
	task_put(t);
	return copy_to_user(uattr, &a, a.size) ? -EFAULT : 0;
}

long sys_sched_get_priority_max(int policy)
{
	if (policy_rt(policy))
		return MAX_RT_PRIO;
	return policy_known(policy) || policy_foreign(policy) ? 0 : -EINVAL;
}

long sys_sched_get_priority_min(int policy)
{
	if (policy_rt(policy))
		return 1;
	return policy_known(policy) || policy_foreign(policy) ? 0 : -EINVAL;
}

/* Linux rounds a fair task's slice down to ticks, which leaves 0 at 250 Hz. */
long sys_sched_rr_get_interval(int pid, struct timespec64 __user *interval)
{
	struct timespec64 ts = { 0, 0 };
	struct task *t;

	if (pid < 0)
		return -EINVAL;
	t = sched_find(pid);
	if (!t)
		return -ESRCH;
	if (t->policy == SCHED_RR)
		ts.tv_nsec = RR_SLICE;
	task_put(t);
	return put_user(ts, interval);
}

long sys_sched_yield(void)
{
	u64 flags = irq_save();
	struct rq *rq = this_rq();

	rq_lock(rq);
	update_curr(rq, ktime_now());
	if (rt_task(current))
		rq->to_tail = true;
	else
		fair_yield(rq, current);
	rq_unlock(rq);
	irq_restore(flags);
	schedule();
	return 0;
}
