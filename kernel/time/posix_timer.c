/* SPDX-License-Identifier: MIT */
/*
 * timer_create and its family.
 *
 * Each timer has at most one signal queued: expiries while it is pending are counted in that
 * signal's si_overrun, which is what the program reads when it takes the signal. Timers on CPU-time
 * clocks are looked at by the tick of the process's threads (itimer.c); absolute timers on
 * CLOCK_REALTIME are armed again when that clock is set.
 *
 * Locks: wall_lock -> itimer.lock -> task_lock and what it contains. itimer.lock guards the list
 * and every timer's setting and is held while a signal is sent, so a timer that the tick found due
 * cannot be deleted under it. A deleted timer leaves the list first and is freed after its handler.
 */
#include <perch/errno.h>
#include <perch/page.h>
#include <perch/sched.h>
#include <perch/syscall.h>
#include <perch/uaccess.h>
#include <string.h>

#include "itimer.h"

#define MAX_TIMERS	4096	/* per process; Linux: RLIMIT_SIGPENDING */

struct sigevent_abi {
	u64 value;
	s32 signo, notify;
	s32 tid, pad[11];
};
_Static_assert(sizeof(struct sigevent_abi) == 64, "sigevent is 64 bytes");
struct itimerspec_abi { struct timespec64 interval, value; };

struct posix_timer {
	struct list node;	/* itimer.timers; itimer.lock */
	struct list wall_node;	/* wall_timers; wall_lock */
	struct itimer *owner;	/* I */
	int id, clockid;	/* I */
	int notify, signo;	/* I */
	u64 value;		/* I: si_value */
	struct task *target;	/* I: SIGEV_THREAD_ID, with a reference; else NULL */
	struct task *clock_task; /* I: whose CPU time, with a reference; NULL: the process's */
	struct timer timer;	/* not for CPU clocks; itimer.lock */
	ktime interval;		/* itimer.lock */
	ktime wall_expires;	/* absolute time on a wall clock, or 0; itimer.lock */
	s64 cpu_expires;	/* CPU clocks: due at, 0 off; itimer.lock */
	int overrun;		/* of the last signal (atomic) */
};

static LIST_HEAD(wall_timers);
static spinlock wall_lock;	/* irqsave; itimer.lock may be taken inside */

/* --- the signal */

static bool is_ours(const struct siginfo_abi *info, const struct posix_timer *pt)
{
	return info->code == SI_TIMER && info->timer.tid == pt->id;
}

/* If pt's signal still waits in pend, add to its overrun count. sighand->lock held. */
static bool add_overrun(struct sigpending *pend, struct posix_timer *pt, u64 n)
{
	struct sigqueue *q;

	list_for_each(q, &pend->queue, node) {
		if (!is_ours(&q->info, pt))
			continue;
		pt->overrun = min_t(u64, (u64)pt->overrun + n, INT32_MAX);
		q->info.timer.overrun = pt->overrun;
		return true;
	}
	return false;
}

static bool still_pending(struct posix_timer *pt, u64 n)
{
	struct process *p = pt->owner->proc;
	struct task *t = pt->target ? pt->target : p->leader;
	struct sigpending *pend = pt->target ? &t->pending : &p->shared_pending;
	u64 flags = spin_lock_irqsave(&task_lock);
	bool pending = false;

	if (t->sighand && t->exit_state != 2) {
		spin_lock(&t->sighand->lock);
		pending = add_overrun(pend, pt, n);
		spin_unlock(&t->sighand->lock);
	}
	spin_unlock_irqrestore(&task_lock, flags);
	return pending;
}

/* missed: expiries beside this one. itimer.lock held. */
static void notify(struct posix_timer *pt, u64 missed)
{
	struct siginfo_abi info;

	if (pt->notify == SIGEV_NONE || still_pending(pt, missed + 1))
		return;
	memset(&info, 0, sizeof(info));
	info.signo = pt->signo;
	info.code = SI_TIMER;
	info.timer.tid = pt->id;
	info.timer.value = pt->value;
	info.timer.overrun = pt->overrun = min_t(u64, missed, INT32_MAX);
	if (pt->target)
		send_signal_task(pt->target, pt->signo, &info);
	else
		send_signal_process(pt->owner->proc, pt->signo, &info);
}

/* --- expiry */

static void expired(struct timer *t)
{
	struct posix_timer *pt = container_of(t, struct posix_timer, timer);
	u64 missed = 0;

	spin_lock(&pt->owner->lock);
	if (timer_armed(t) || t->expires > ktime_now()) {	/* set again meanwhile */
		spin_unlock(&pt->owner->lock);
		return;
	}
	pt->wall_expires = 0;
	if (pt->interval)
		timer_start(t, timer_forward(t->expires, pt->interval, ktime_now(), &missed));
	notify(pt, missed);
	spin_unlock(&pt->owner->lock);
}

static s64 cpu_value(const struct posix_timer *pt)
{
	if (!clock_is_cpu(pt->clockid))
		return 0;
	return pt->clock_task ? task_exec_ns(pt->clock_task) : process_exec_ns(pt->owner->proc);
}

/* True if pt is on and stays on. itimer.lock held. */
static bool check_cpu_timer(struct posix_timer *pt)
{
	u64 missed = 0;
	s64 now;

	if (!pt->cpu_expires)
		return false;
	now = cpu_value(pt);
	if (now < pt->cpu_expires)
		return true;
	pt->cpu_expires = pt->interval ?
		timer_forward(pt->cpu_expires, pt->interval, now, &missed) : 0;
	notify(pt, missed);
	return pt->cpu_expires;
}

bool posix_cpu_timers_check(struct itimer *it)
{
	struct posix_timer *pt;
	bool more = false;

	spin_lock(&it->lock);
	list_for_each(pt, &it->timers, node)
		more |= check_cpu_timer(pt);
	spin_unlock(&it->lock);
	return more;
}

/* CLOCK_REALTIME was set: absolute expiry times stay, so their monotonic deadlines move. */
void posix_timers_clock_set(void)
{
	u64 flags = spin_lock_irqsave(&wall_lock);
	struct posix_timer *pt;

	list_for_each(pt, &wall_timers, wall_node) {
		spin_lock(&pt->owner->lock);
		if (pt->wall_expires && timer_armed(&pt->timer))
			timer_start(&pt->timer,
				    clock_deadline(CLOCK_REALTIME, pt->wall_expires, true));
		spin_unlock(&pt->owner->lock);
	}
	spin_unlock_irqrestore(&wall_lock, flags);
}

/* --- create and delete */

static void free_timer(struct posix_timer *pt)
{
	u64 flags = spin_lock_irqsave(&wall_lock);

	list_del(&pt->wall_node);
	spin_unlock_irqrestore(&wall_lock, flags);
	timer_cancel_sync(&pt->timer);
	if (pt->target)
		task_put(pt->target);
	if (pt->clock_task)
		task_put(pt->clock_task);
	kfree(pt);
}

static struct posix_timer *unlink_first(struct itimer *it)
{
	u64 flags = spin_lock_irqsave(&it->lock);
	struct posix_timer *pt = NULL;

	if (!list_empty(&it->timers)) {
		pt = list_first(&it->timers, struct posix_timer, node);
		list_del(&pt->node);
		it->nr_timers--;
	}
	spin_unlock_irqrestore(&it->lock, flags);
	return pt;
}

void posix_timers_free(struct itimer *it)
{
	struct posix_timer *pt;

	while ((pt = unlink_first(it)))
		free_timer(pt);
}

static long check_clock(int id)
{
	if (id == CLOCK_MONOTONIC_RAW || clock_is_coarse(id))
		return -EOPNOTSUPP;
	if (id < 0)
		return clock_ns(id) < 0 ? -EINVAL : 0;
	return clock_is_running(id) || clock_is_cpu(id) ? clock_alarm_allowed(id) : -EINVAL;
}

/* A CPU clock that names another process's time cannot be watched by our own ticks. */
static bool foreign_cpu_clock(int id)
{
	u32 n = (u32)~id >> 3;

	if (id >= 0 || !n)
		return false;
	return id & CPUCLOCK_THREAD ? n != current->pid : n != current->tgid;
}

static long set_event(struct posix_timer *pt, const struct sigevent_abi *ev)
{
	int how = ev->notify;
	struct task *t;

	if (how == (SIGEV_SIGNAL | SIGEV_THREAD_ID)) {
		t = task_find_get(ev->tid);
		if (!t || t->proc != current->proc) {
			if (t)
				task_put(t);
			return -EINVAL;
		}
		pt->target = t;
	} else if (how != SIGEV_SIGNAL && how != SIGEV_THREAD && how != SIGEV_NONE) {
		return -EINVAL;
	}
	if (how != SIGEV_NONE && (ev->signo < 1 || ev->signo > NSIG))
		return -EINVAL;
	pt->notify = how;
	pt->signo = ev->signo;
	pt->value = ev->value;
	return 0;
}

/* Give pt an id that is free and put it on the list; from then on another thread may delete it. The id, or -EAGAIN.
 * own_id: that is its value, too. */
static int link_timer(struct itimer *it, struct posix_timer *pt, bool own_id)
{
	u64 flags = spin_lock_irqsave(&it->lock);
	int id = -EAGAIN;

	if (it->nr_timers < MAX_TIMERS) {
		id = pt->id = it->next_id;
		if (own_id)
			pt->value = id;
		it->next_id = it->next_id == INT32_MAX ? 0 : it->next_id + 1;
		it->nr_timers++;
		list_add_tail(&pt->node, &it->timers);
	}
	spin_unlock_irqrestore(&it->lock, flags);
	return id;
}

/* Timers that have to follow the wall clock are on a list of their own. */
static void watch_wall(struct posix_timer *pt)
{
	u64 flags = spin_lock_irqsave(&wall_lock);

	if (list_empty(&pt->wall_node))
		list_add_tail(&pt->wall_node, &wall_timers);
	spin_unlock_irqrestore(&wall_lock, flags);
}

static bool is_thread_clock(int id)
{
	return id == CLOCK_THREAD_CPUTIME_ID || (id < 0 && (id & CPUCLOCK_THREAD));
}

static struct posix_timer *make_timer(struct itimer *it, int clockid)
{
	struct posix_timer *pt = kzalloc(sizeof(*pt));

	if (!pt)
		return NULL;
	list_init(&pt->node);
	list_init(&pt->wall_node);
	timer_setup(&pt->timer, expired);
	pt->owner = it;
	pt->clockid = clockid;
	if (is_thread_clock(clockid)) {
		task_get(current);
		pt->clock_task = current;
	}
	if (clock_is_wall(clockid))
		watch_wall(pt);
	return pt;
}

static struct posix_timer *find_locked(struct itimer *it, int id)
{
	struct posix_timer *pt;

	list_for_each(pt, &it->timers, node)
		if (pt->id == id)
			return pt;
	return NULL;
}

/* current's timer with its lock held, or NULL without. */
static struct posix_timer *find_lock(int id, u64 *flags)
{
	struct itimer *it = current->proc->itimers;
	struct posix_timer *pt;

	if (!it)
		return NULL;
	*flags = spin_lock_irqsave(&it->lock);
	pt = find_locked(it, id);
	if (!pt)
		spin_unlock_irqrestore(&it->lock, *flags);
	return pt;
}

long sys_timer_delete(int id)
{
	struct posix_timer *pt;
	u64 flags;

	pt = find_lock(id, &flags);
	if (!pt)
		return -EINVAL;
	list_del(&pt->node);
	pt->owner->nr_timers--;
	spin_unlock_irqrestore(&pt->owner->lock, flags);
	free_timer(pt);
	return 0;
}

/* ev NULL: SIGALRM with the id as value. */
static long create(struct itimer *it, int clockid, const struct sigevent_abi *ev, int __user *id)
{
	struct posix_timer *pt = make_timer(it, clockid);
	long ret;

	if (!pt)
		return -EAGAIN;
	if (!ev)
		pt->signo = SIGALRM;
	ret = ev ? set_event(pt, ev) : 0;
	if (!ret)
		ret = link_timer(it, pt, !ev);
	if (ret < 0) {
		free_timer(pt);
		return ret;
	}
	if (put_user((int)ret, id)) {
		sys_timer_delete((int)ret);
		return -EFAULT;
	}
	return 0;
}

long sys_timer_create(int clockid, const struct sigevent_abi __user *uev, int __user *id)
{
	struct sigevent_abi ev;
	struct itimer *it;
	long err;

	if (uev && get_user(ev, uev))
		return -EFAULT;
	err = check_clock(clockid);
	if (err)
		return err;
	if (foreign_cpu_clock(clockid))
		return -EOPNOTSUPP;
	it = itimer_of(current->proc);
	if (!it)
		return -EAGAIN;
	return create(it, clockid, uev ? &ev : NULL, id);
}

/* --- set and get. itimer.lock held */

/* An armed timer that is due but has not fired yet shows 1 ns, if it fires at all. */
static void get_setting(struct posix_timer *pt, struct itimerspec_abi *out)
{
	s64 left = 0, least = pt->notify == SIGEV_NONE ? 0 : 1;

	if (pt->cpu_expires)
		left = max_t(s64, pt->cpu_expires - cpu_value(pt), least);
	else if (timer_armed(&pt->timer))
		left = max_t(s64, pt->timer.expires - ktime_now(), least);
	out->interval = ktime_to_timespec(pt->interval);
	out->value = ktime_to_timespec(left);
}

static void disarm(struct posix_timer *pt)
{
	timer_cancel(&pt->timer);
	pt->timer.expires = KTIME_MAX;	/* for a handler that is on its way */
	pt->wall_expires = 0;
	pt->cpu_expires = 0;
}

static void arm(struct posix_timer *pt, ktime t, bool absolute)
{
	s64 now = cpu_value(pt);

	if (clock_is_cpu(pt->clockid)) {
		if (!absolute)
			t = now + min_t(s64, t, KTIME_MAX - now);
		pt->cpu_expires = max_t(s64, t, 1);
		WRITE_ONCE(pt->owner->cpu_work, true);
		return;
	}
	if (absolute && clock_is_wall(pt->clockid))
		pt->wall_expires = t;
	timer_start(&pt->timer, clock_deadline(pt->clockid, t, absolute));
}

static long settime(int id, bool absolute, const struct itimerspec_abi *new,
		    struct itimerspec_abi *old)
{
	struct posix_timer *pt;
	u64 flags;

	pt = find_lock(id, &flags);
	if (!pt)
		return -EINVAL;
	get_setting(pt, old);
	disarm(pt);
	pt->interval = 0;
	pt->overrun = 0;
	if (new->value.tv_sec || new->value.tv_nsec) {
		pt->interval = timespec_to_ktime(&new->interval);
		arm(pt, timespec_to_ktime(&new->value), absolute);
	}
	spin_unlock_irqrestore(&pt->owner->lock, flags);
	return 0;
}

long sys_timer_settime(int id, int flags, const struct itimerspec_abi __user *unew,
		       struct itimerspec_abi __user *uold)
{
	struct itimerspec_abi new, old;
	long err;

	if (!unew)
		return -EINVAL;
	if (get_user(new, unew))
		return -EFAULT;
	if (!timespec_valid(&new.interval) || !timespec_valid(&new.value))
		return -EINVAL;
	err = settime(id, flags & TIMER_ABSTIME, &new, &old);
	return !err && uold ? put_user(old, uold) : err;
}

long sys_timer_gettime(int id, struct itimerspec_abi __user *cur)
{
	struct itimerspec_abi v;
	struct posix_timer *pt;
	u64 flags;

	pt = find_lock(id, &flags);
	if (!pt)
		return -EINVAL;
	get_setting(pt, &v);
	spin_unlock_irqrestore(&pt->owner->lock, flags);
	return put_user(v, cur);
}

long sys_timer_getoverrun(int id)
{
	struct posix_timer *pt;
	u64 flags;
	int n;

	pt = find_lock(id, &flags);
	if (!pt)
		return -EINVAL;
	n = pt->overrun;
	spin_unlock_irqrestore(&pt->owner->lock, flags);
	return n;
}
