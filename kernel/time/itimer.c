/* SPDX-License-Identifier: MIT */
/*
 * setitimer and getitimer, and the limit on CPU time.
 *
 * The real timer is a timer of kernel/time; the other two compare with the process's CPU time at
 * each tick of its threads. An expiry handler that lost a race with setitimer (it was taken off the
 * queue before the timer was set again) sees that the timer is armed, or off, and does nothing.
 */
#include <perch/errno.h>
#include <perch/page.h>
#include <perch/sched.h>
#include <perch/syscall.h>
#include <perch/uaccess.h>

#include "itimer.h"

#define ITIMER_REAL	0
#define ITIMER_VIRTUAL	1
#define ITIMER_PROF	2
#define USEC_PER_SEC	1000000

struct itimerval_abi { struct timeval64 interval, value; };

ktime timer_forward(ktime last, ktime interval, ktime now, u64 *missed)
{
	u64 n = 1;

	if (now + TIMER_MIN_STEP > last + interval)
		n = (now + TIMER_MIN_STEP - last + interval - 1) / interval;
	*missed = n - 1;
	return last + n * interval;
}

static void real_expired(struct timer *t)
{
	struct itimer *it = container_of(t, struct itimer, real);
	u64 missed;

	spin_lock(&it->lock);
	if (timer_armed(t) || t->expires > ktime_now()) {
		spin_unlock(&it->lock);
		return;
	}
	if (it->real_interval)
		timer_start(t, timer_forward(t->expires, it->real_interval, ktime_now(), &missed));
	spin_unlock(&it->lock);
	send_signal_process(it->proc, SIGALRM, NULL);
}

static struct itimer *make_itimer(struct process *p)
{
	struct itimer *it = kzalloc(sizeof(*it));

	if (!it)
		return NULL;
	spin_init(&it->lock);
	it->proc = p;
	timer_setup(&it->real, real_expired);
	list_init(&it->timers);
	return it;
}

struct itimer *itimer_of(struct process *p)
{
	struct itimer *it = load_acquire(&p->itimers);

	if (it)
		return it;
	it = make_itimer(p);
	if (it && !atomic_cas(&p->itimers, NULL, it)) {
		kfree(it);
		it = load_acquire(&p->itimers);
	}
	return it;
}

static u64 cpu_now(const struct rusage_counts *ru, int which)
{
	return which == ITIMER_VIRTUAL ? ru->utime_ns : ru->utime_ns + ru->stime_ns;
}

/* A CPU itimer's remaining time; one that is due but not yet seen by a tick has a moment left. */
static u64 cpu_left(const struct cpu_itimer *c, u64 now)
{
	if (!c->expires)
		return 0;
	return c->expires > now ? c->expires - now : TICK_NSEC;
}

struct setting { u64 value, interval; };	/* ns; value 0: off */

static void swap_cpu(struct itimer *it, int which, const struct setting *set, struct setting *old)
{
	struct cpu_itimer *c = which == ITIMER_VIRTUAL ? &it->virt : &it->prof;
	struct rusage_counts ru;
	u64 flags, now;

	process_times(it->proc, &ru);
	now = cpu_now(&ru, which);
	flags = spin_lock_irqsave(&it->lock);
	*old = (struct setting){ cpu_left(c, now), c->interval };
	if (set) {
		c->expires = set->value ? now + set->value : 0;
		c->interval = set->interval;
		if (set->value)
			WRITE_ONCE(it->cpu_work, true);
	}
	spin_unlock_irqrestore(&it->lock, flags);
}

static void swap_real(struct itimer *it, const struct setting *set, struct setting *old)
{
	u64 flags = spin_lock_irqsave(&it->lock);

	*old = (struct setting){ 0, it->real_interval };
	if (timer_armed(&it->real))
		old->value = max_t(s64, it->real.expires - ktime_now(), NSEC_PER_USEC);
	if (set) {
		it->real_interval = set->value ? set->interval : 0;
		if (set->value) {
			timer_start(&it->real, clock_deadline(CLOCK_MONOTONIC, set->value, false));
		} else {
			timer_cancel(&it->real);
			it->real.expires = KTIME_MAX;	/* for a handler that is on its way */
		}
	}
	spin_unlock_irqrestore(&it->lock, flags);
}

static void swap_setting(struct itimer *it, int which, const struct setting *set,
			 struct setting *old)
{
	if (which == ITIMER_REAL)
		swap_real(it, set, old);
	else
		swap_cpu(it, which, set, old);
}

static struct timeval64 to_timeval(u64 ns)
{
	return (struct timeval64){ ns / NSEC_PER_SEC, ns % NSEC_PER_SEC / NSEC_PER_USEC };
}

static int from_timeval(const struct timeval64 *tv, u64 *ns)
{
	struct timespec64 ts = { .tv_sec = tv->tv_sec };

	if ((u64)tv->tv_usec >= USEC_PER_SEC || tv->tv_sec < 0)
		return -EINVAL;
	ts.tv_nsec = tv->tv_usec * NSEC_PER_USEC;
	*ns = timespec_to_ktime(&ts);
	return 0;
}

static long put_setting(struct itimerval_abi __user *p, const struct setting *s)
{
	struct itimerval_abi v = { to_timeval(s->interval), to_timeval(s->value) };

	return put_user(v, p);
}

long sys_getitimer(int which, struct itimerval_abi __user *value)
{
	struct setting s = { 0, 0 };

	if (which < ITIMER_REAL || which > ITIMER_PROF)
		return -EINVAL;
	if (current->proc->itimers)
		swap_setting(current->proc->itimers, which, NULL, &s);
	return put_setting(value, &s);
}

/* A missing new value turns the timer off, as Linux still does. */
long sys_setitimer(int which, const struct itimerval_abi __user *value,
		   struct itimerval_abi __user *old)
{
	struct setting set = { 0, 0 }, was;
	struct itimerval_abi v = { 0 };
	struct itimer *it;

	if (value && get_user(v, value))
		return -EFAULT;
	if (from_timeval(&v.value, &set.value) || from_timeval(&v.interval, &set.interval))
		return -EINVAL;
	if (which < ITIMER_REAL || which > ITIMER_PROF)
		return -EINVAL;
	it = itimer_of(current->proc);
	if (!it)
		return -ENOMEM;
	swap_setting(it, which, &set, &was);
	return old ? put_setting(old, &was) : 0;
}

/* True if c is due now; sets its next expiry. it->lock held. */
static bool cpu_due(struct cpu_itimer *c, u64 now)
{
	u64 missed;

	if (!c->expires || now < c->expires)
		return false;
	c->expires = c->interval ? timer_forward(c->expires, c->interval, now, &missed) : 0;
	return true;
}

static void check_cpu_itimers(struct itimer *it)
{
	struct rusage_counts ru;
	bool virt, prof, more;

	process_times(it->proc, &ru);
	spin_lock(&it->lock);
	virt = cpu_due(&it->virt, cpu_now(&ru, ITIMER_VIRTUAL));
	prof = cpu_due(&it->prof, cpu_now(&ru, ITIMER_PROF));
	more = it->virt.expires || it->prof.expires;
	WRITE_ONCE(it->cpu_work, more);
	spin_unlock(&it->lock);
	if (posix_cpu_timers_check(it))
		WRITE_ONCE(it->cpu_work, true);
	if (virt)
		send_signal_process(it->proc, SIGVTALRM, NULL);
	if (prof)
		send_signal_process(it->proc, SIGPROF, NULL);
}

/* RLIMIT_CPU: SIGXCPU at the soft limit and each second after it, SIGKILL at the hard one. */
static void check_cpu_limit(struct process *p)
{
	struct rlimit64 *lim = &p->rlim[RLIMIT_CPU];
	struct rusage_counts ru;
	u64 sec;

	process_times(p, &ru);
	sec = (ru.utime_ns + ru.stime_ns) / NSEC_PER_SEC;
	if (sec >= lim->max) {
		send_signal_process(p, SIGKILL, NULL);
	} else if (sec >= lim->cur) {
		lim->cur = sec + 1;
		send_signal_process(p, SIGXCPU, NULL);
	}
}

void itimers_tick(struct task *t)
{
	struct process *p = t->proc;
	struct itimer *it;

	if (t->flags & (TF_KTHREAD | TF_IDLE | TF_EXITING))
		return;
	it = READ_ONCE(p->itimers);
	if (it && READ_ONCE(it->cpu_work))
		check_cpu_itimers(it);
	if (unlikely(p->rlim[RLIMIT_CPU].cur != UINT64_MAX))
		check_cpu_limit(p);
}

void itimers_exec(struct process *p)
{
	if (p->itimers)
		posix_timers_free(p->itimers);
}

/* No other thread is left, so no tick looks at the structure. */
void itimers_exit(struct process *p)
{
	struct itimer *it = p->itimers;

	if (!it)
		return;
	posix_timers_free(it);
	timer_cancel_sync(&it->real);
	p->itimers = NULL;
	kfree(it);
}
