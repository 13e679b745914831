/* SPDX-License-Identifier: MIT */
/*
 * ppoll and pselect6. One pass over the files asks each for its state and, while nothing is ready,
 * queues an entry on each wait queue the file names. A wake-up sets "triggered" and wakes the task,
 * which then asks all files again, without queueing. Entries hold a reference to their file if other tasks
 * have the table that it is in (fd_use), so the queue they are on outlives them.
 *
 * A lost wake-up is impossible: the task publishes its sleeping state before it tests "triggered",
 * the waker sets "triggered" before it looks at the state.
 */
#include "fdtable.h"

#include <perch/signal.h>
#include <string.h>

struct poller;
struct poll_entry {
	struct wait_entry w;
	struct waitq *q;
	struct file *f;		/* a reference, or NULL */
	struct poller *p;
	u32 events;		/* wake-ups for other events leave us asleep */
};

#define INLINE_ENTRIES 6
struct poll_chunk { struct poll_chunk *next; u32 n; struct poll_entry e[40]; };
struct poller {
	struct poll_table pt;
	struct task *task;
	bool triggered;		/* atomic */
	bool counted;		/* of the file that is asked: fd_use */
	int err;
	u32 events, n;
	struct poll_chunk *chunks;
	struct poll_entry fast[INLINE_ENTRIES];
};

void poll_wait(struct file *f, struct waitq *q, struct poll_table *pt)
{
	if (pt && pt->queue)
		pt->queue(pt, f, q);
}

static bool poll_wake(struct wait_entry *w, void *key)
{
	struct poll_entry *e = container_of(w, struct poll_entry, w);
	struct poller *p = e->p;

	if (key && !((unsigned long)key & e->events))
		return false;
	atomic_set(&p->triggered, true);
	smp_mb();
	return wake_up_task(p->task);
}

static struct poll_entry *new_entry(struct poller *p)
{
	struct poll_chunk *c = p->chunks;

	if (p->n < INLINE_ENTRIES)
		return &p->fast[p->n++];
	if (!c || c->n == ARRAY_SIZE(c->e)) {
		c = kmalloc(sizeof(*c));
		if (!c)
			return NULL;
		c->n = 0;
		c->next = p->chunks;
		p->chunks = c;
	}
	return &c->e[c->n++];
}

static void poll_queue(struct poll_table *pt, struct file *f, struct waitq *q)
{
	struct poller *p = container_of(pt, struct poller, pt);
	struct poll_entry *e = new_entry(p);

	if (!e) {
		p->err = -ENOMEM;
		return;
	}
	e->q = q;
	e->f = p->counted ? file_get(f) : NULL;
	e->p = p;
	e->events = p->events;
	e->w.func = poll_wake;
	e->w.task = p->task;
	e->w.exclusive = false;
	waitq_add(q, &e->w);
}

static void poller_init(struct poller *p)
{
	p->pt.queue = poll_queue;
	p->task = current;
	p->triggered = false;
	p->err = 0;
	p->n = 0;
	p->chunks = NULL;
}

static void end_entry(struct poll_entry *e)
{
	waitq_remove(e->q, &e->w);
	if (unlikely(e->f))
		file_put(e->f);
}

static void poller_end(struct poller *p)
{
	for (u32 i = 0; i < p->n; i++)
		end_entry(&p->fast[i]);
	while (p->chunks) {
		struct poll_chunk *c = p->chunks;

		for (u32 i = 0; i < c->n; i++)
			end_entry(&c->e[i]);
		p->chunks = c->next;
		kfree(c);
	}
}

/* Sleep until triggered, a signal, or the deadline. False at the deadline. */
static bool poller_sleep(struct poller *p, ktime deadline)
{
	bool in_time = true;

	WRITE_ONCE(current->state, TASK_INTERRUPTIBLE);
	smp_mb();
	if (!atomic_read(&p->triggered) && !signal_pending(current))
		in_time = schedule_until(deadline);
	WRITE_ONCE(current->state, TASK_RUNNING);
	atomic_set(&p->triggered, false);
	smp_mb();
	return in_time;
}

/* Ask again and again until scan finds something. scan(arg, pt) counts what is ready. */
static long poll_loop(struct poller *p, long (*scan)(void *, struct poll_table *), void *arg,
		      ktime deadline)
{
	struct poll_table *pt = deadline ? &p->pt : NULL;
	bool in_time = deadline != 0;

	for (;;) {
		long n = scan(arg, pt);

		pt = NULL;
		if (n)
			return n;
		if (p->err)
			return p->err;
		if (!in_time)
			return 0;
		if (signal_pending(current))
			return -ERESTARTNOHAND;
		in_time = poller_sleep(p, deadline);
	}
}

/* --- time-outs and masks --------------------------------------------------------------------- */

/* Absolute deadline of a user timespec (NULL: never; 0: do not wait). */
int poll_deadline(const struct timespec64 __user *uts, ktime *deadline)
{
	struct timespec64 ts;
	ktime t;

	*deadline = KTIME_MAX;
	if (!uts)
		return 0;
	if (copy_from_user(&ts, uts, sizeof(ts)))
		return -EFAULT;
	if (!timespec_valid(&ts))
		return -EINVAL;
	t = timespec_to_ktime(&ts);
	if (!t)
		*deadline = 0;
	else if (__builtin_add_overflow(t, ktime_now(), deadline))
		*deadline = KTIME_MAX;
	return 0;
}

/* What is left goes back to the user; a time-out in read-only memory stays as it is. */
static void put_remaining(struct timespec64 __user *uts, ktime deadline)
{
	struct timespec64 ts;
	ktime left;

	if (!uts || deadline == KTIME_MAX)
		return;
	left = deadline ? deadline - ktime_now() : 0;
	ts = ktime_to_timespec(max_t(ktime, left, 0));
	if (copy_to_user(uts, &ts, sizeof(ts)))
		return;
}

int sigmask_enter(uaddr mask, size_t size)
{
	sigset set;

	if (!mask)
		return 0;
	if (size != sizeof(set))
		return -EINVAL;
	if (copy_from_user(&set, (void __user *)mask, sizeof(set)))
		return -EFAULT;
	current->saved_sigmask = current->blocked;
	set_blocked(set & ~SIG_KERNEL_ONLY);
	return 0;
}

/* With an interruption the handler must still see the temporary mask: do_signal puts the old one
 * back. */
void sigmask_leave(uaddr mask, long ret)
{
	if (!mask)
		return;
	if (ret == -EINTR || ret == -ERESTARTNOHAND)
		set_task_flag(current, TF_RESTORE_SIGMASK);
	else
		set_blocked(current->saved_sigmask);
}

/* --- ppoll ----------------------------------------------------------------------------------- */

struct pollfd_abi { s32 fd; s16 events, revents; };
struct poll_args { struct pollfd_abi *fds; u32 n; struct poller *p; };

static u32 ask(struct poller *p, struct fd_use u, u32 want, struct poll_table *pt)
{
	u32 mask;

	p->events = want;
	p->counted = u.counted;
	mask = file_poll(u.f, pt);
	fd_unuse(u);
	return mask;
}

static u32 poll_one(struct pollfd_abi *pf, struct poller *p, struct poll_table *pt)
{
	u32 want = (u16)pf->events | POLLERR | POLLHUP;
	struct fd_use u;

	if (pf->fd < 0)
		return 0;
	u = fd_use(pf->fd);
	return u.f ? ask(p, u, want, pt) & want : POLLNVAL;
}

static long scan_pollfds(void *arg, struct poll_table *pt)
{
	struct poll_args *a = arg;
	long ready = 0;

	for (u32 i = 0; i < a->n; i++) {
		u32 mask = poll_one(&a->fds[i], a->p, pt);

		a->fds[i].revents = mask;
		if (mask) {
			ready++;
			pt = NULL;
		}
	}
	return ready;
}

static long copy_revents(const struct pollfd_abi *fds, uaddr ufds, u32 n)
{
	for (u32 i = 0; i < n; i++)
		if (put_user(fds[i].revents, &((struct pollfd_abi __user *)ufds)[i].revents))
			return -EFAULT;
	return 0;
}

static long do_poll(uaddr ufds, u32 n, ktime deadline)
{
	struct pollfd_abi few[8], *fds = few;
	struct poller p;
	struct poll_args a;
	long ret;

	if (n > fd_limit())
		return -EINVAL;
	if (n > ARRAY_SIZE(few)) {
		fds = kcalloc(n, sizeof(*fds));
		if (!fds)
			return -ENOMEM;
	}
	ret = -EFAULT;
	if (!copy_from_user(fds, (void __user *)ufds, n * sizeof(*fds))) {
		a = (struct poll_args){ fds, n, &p };
		poller_init(&p);
		ret = poll_loop(&p, scan_pollfds, &a, deadline);
		poller_end(&p);
		if (copy_revents(fds, ufds, n))
			ret = -EFAULT;
	}
	if (fds != few)
		kfree(fds);
	return ret;
}

long sys_ppoll(uaddr ufds, u32 n, struct timespec64 __user *uts, uaddr mask, size_t size)
{
	ktime deadline;
	long ret = poll_deadline(uts, &deadline);

	if (!ret)
		ret = sigmask_enter(mask, size);
	if (ret)
		return ret;
	ret = do_poll(ufds, n, deadline);
	sigmask_leave(mask, ret);
	put_remaining(uts, deadline);
	return ret;
}

/* --- pselect6 -------------------------------------------------------------------------------- */

#define SEL_IN	(POLLRDNORM | POLLRDBAND | POLLIN | POLLHUP | POLLERR)
#define SEL_OUT	(POLLWRBAND | POLLWRNORM | POLLOUT | POLLERR)
#define SEL_EX	POLLPRI

struct select_args {
	u32 n, words;
	u64 *in[3], *out[3];	/* read, write, exceptional */
	struct poller *p;
};
static const u32 sel_events[3] = { SEL_IN, SEL_OUT, SEL_EX };

static u32 wanted(const struct select_args *a, u32 fd)
{
	u32 want = 0;

	for (int k = 0; k < 3; k++)
		if (a->in[k][fd / 64] >> (fd % 64) & 1)
			want |= sel_events[k];
	return want;
}

static long note_ready(struct select_args *a, u32 fd, u32 mask)
{
	long ready = 0;

	for (int k = 0; k < 3; k++) {
		if (!(a->in[k][fd / 64] >> (fd % 64) & 1) || !(mask & sel_events[k]))
			continue;
		a->out[k][fd / 64] |= BIT(fd % 64);
		ready++;
	}
	return ready;
}

static long scan_select(void *arg, struct poll_table *pt)
{
	struct select_args *a = arg;
	long ready = 0;

	for (u32 fd = 0; fd < a->n; fd++) {
		u32 want = wanted(a, fd);
		struct fd_use u;

		if (!want)
			continue;
		u = fd_use(fd);
		if (!u.f)
			return -EBADF;
		ready += note_ready(a, fd, ask(a->p, u, want | POLLERR | POLLHUP, pt));
		if (ready)
			pt = NULL;
	}
	return ready;
}

static long do_select(struct select_args *a, const uaddr uset[3], ktime deadline)
{
	struct poller p;
	long ret;

	for (int k = 0; k < 3; k++)
		if (uset[k] && copy_from_user(a->in[k], (void __user *)uset[k], a->words * 8))
			return -EFAULT;
	a->p = &p;
	poller_init(&p);
	ret = poll_loop(&p, scan_select, a, deadline);
	poller_end(&p);
	if (ret < 0)
		return ret;
	for (int k = 0; k < 3; k++)
		if (uset[k] && copy_to_user((void __user *)uset[k], a->out[k], a->words * 8))
			return -EFAULT;
	return ret;
}

static long select_user(int n, const uaddr uset[3], ktime deadline)
{
	struct select_args a;
	u64 few[6 * 4] = { 0 }, *bits = few;
	long ret;

	if (n < 0)
		return -EINVAL;
	a.n = min_t(u32, n, files_size(current));
	a.words = DIV_ROUND_UP(a.n, 64);
	if (a.words > 4) {
		bits = kcalloc(6, a.words * 8);
		if (!bits)
			return -ENOMEM;
	}
	for (int k = 0; k < 3; k++) {
		a.in[k] = bits + k * a.words;
		a.out[k] = bits + (3 + k) * a.words;
	}
	ret = do_select(&a, uset, deadline);
	if (bits != few)
		kfree(bits);
	return ret;
}

struct sigset_arg { u64 mask, size; };

long sys_pselect6(int n, uaddr in, uaddr out, uaddr ex, struct timespec64 __user *uts, uaddr usig)
{
	const uaddr uset[3] = { in, out, ex };
	struct sigset_arg sig = { 0, 0 };
	ktime deadline;
	long ret;

	if (usig && copy_from_user(&sig, (void __user *)usig, sizeof(sig)))
		return -EFAULT;
	ret = poll_deadline(uts, &deadline);
	if (!ret)
		ret = sigmask_enter(sig.mask, sig.size);
	if (ret)
		return ret;
	ret = select_user(n, uset, deadline);
	sigmask_leave(sig.mask, ret);
	put_remaining(uts, deadline);
	return ret;
}
