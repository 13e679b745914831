/* SPDX-License-Identifier: MIT */
/*
 * timerfd: a timer whose expirations are read as a count. The timer is one-shot; a periodic one is
 * started again when somebody looks (read, gettime, settime), which also counts what passed
 * meanwhile: so a short period nobody reads costs one interrupt, not one per period.
 */
#include "internal.h"

#define CLOCK_REALTIME		0
#define CLOCK_MONOTONIC		1
#define CLOCK_BOOTTIME		7
#define CLOCK_REALTIME_ALARM	8
#define CLOCK_BOOTTIME_ALARM	9
#define CAP_WAKE_ALARM		35
#define TFD_ABSTIME		1
#define TFD_CANCEL_ON_SET	2

struct itimerspec_abi { struct timespec64 interval, value; };

struct timerfd {
	struct timer timer;
	struct waitq wq;
	spinlock lock;		/* irqsave; everything below */
	int clock;
	ktime next, interval;	/* monotonic; next 0: disarmed */
	u64 ticks;		/* expirations not read yet */
	bool expired;		/* fired, periodic, and not started again */
};

static bool is_realtime(const struct timerfd *t)
{
	return t->clock == CLOCK_REALTIME || t->clock == CLOCK_REALTIME_ALARM;
}

static void timerfd_fire(struct timer *timer)
{
	struct timerfd *t = container_of(timer, struct timerfd, timer);
	u64 flags = spin_lock_irqsave(&t->lock);

	t->ticks++;
	t->expired = t->interval != 0;
	if (!t->interval)
		t->next = 0;
	spin_unlock_irqrestore(&t->lock, flags);
	wake_up_poll(&t->wq, POLLIN);
}

/* Count the periods that have passed and start the timer for the next one. lock held. */
static void catch_up_locked(struct timerfd *t)
{
	ktime now = ktime_now();
	u64 missed;

	if (!t->expired)
		return;
	missed = now > t->next ? (now - t->next) / t->interval : 0;
	t->ticks += missed;
	t->next += (missed + 1) * t->interval;
	t->expired = false;
	timer_start(&t->timer, t->next);
}

static u64 take_ticks(struct timerfd *t)
{
	u64 flags = spin_lock_irqsave(&t->lock), n;

	if (t->ticks)
		catch_up_locked(t);
	n = t->ticks;
	t->ticks = 0;
	spin_unlock_irqrestore(&t->lock, flags);
	return n;
}

static ssize_t timerfd_read(struct file *f, struct uio *u, loff *pos)
{
	struct timerfd *t = f->priv;
	u64 n = 0;
	long err;

	if (u->left < sizeof(n))
		return -EINVAL;
	n = take_ticks(t);
	if (!n) {
		if (f->flags & O_NONBLOCK)
			return -EAGAIN;
		err = wait_event_interruptible(&t->wq, (n = take_ticks(t)));
		if (err)
			return err;
	}
	return uio_write(u, &n, sizeof(n)) == sizeof(n) ? (ssize_t)sizeof(n) : -EFAULT;
}

static u32 timerfd_poll(struct file *f, struct poll_table *pt)
{
	struct timerfd *t = f->priv;

	poll_wait(f, &t->wq, pt);
	return READ_ONCE(t->ticks) ? POLLIN : 0;
}

static void timerfd_release(struct file *f)
{
	struct timerfd *t = f->priv;

	timer_cancel_sync(&t->timer);
	kfree(t);
}

static const struct file_ops timerfd_ops = {
	.read = timerfd_read, .poll = timerfd_poll, .release = timerfd_release,
};

long sys_timerfd_create(int clock, u32 flags)
{
	struct timerfd *t;
	struct file *f;

	if (flags & ~(O_CLOEXEC | O_NONBLOCK))
		return -EINVAL;
	if (clock != CLOCK_REALTIME && clock != CLOCK_MONOTONIC && clock != CLOCK_BOOTTIME &&
	    clock != CLOCK_REALTIME_ALARM && clock != CLOCK_BOOTTIME_ALARM)
		return -EINVAL;
	if (clock >= CLOCK_REALTIME_ALARM && !capable(CAP_WAKE_ALARM))
		return -EPERM;
	t = kzalloc(sizeof(*t));
	if (!t)
		return -ENOMEM;
	timer_setup(&t->timer, timerfd_fire);
	waitq_init(&t->wq);
	spin_init(&t->lock);
	t->clock = clock;
	f = anon_file("anon_inode:[timerfd]", &timerfd_ops, t, O_RDWR | (flags & O_NONBLOCK));
	if (IS_ERR(f))
		kfree(t);
	return fd_new(f, flags);
}

/* What gettime and settime report: time left (0: disarmed) and period. lock held. */
static struct itimerspec_abi current_locked(struct timerfd *t)
{
	ktime left = 0;

	catch_up_locked(t);
	if (t->next)
		left = max_t(ktime, t->next - ktime_now(), 1);
	return (struct itimerspec_abi){ ktime_to_timespec(t->interval), ktime_to_timespec(left) };
}

static struct timerfd *timerfd_get(int fd, struct file **f)
{
	*f = fd_get_io(fd);
	if (!*f)
		return ERR_PTR(-EBADF);
	if ((*f)->ops == &timerfd_ops)
		return (*f)->priv;
	file_put(*f);
	return ERR_PTR(-EINVAL);
}

static ktime monotonic_start(const struct timerfd *t, ktime value, int flags)
{
	ktime at = value;

	if (!(flags & TFD_ABSTIME))
		return __builtin_add_overflow(value, ktime_now(), &at) ? KTIME_MAX - 1 : at;
	if (is_realtime(t))
		at -= realtime_offset();
	return max_t(ktime, at, 1);
}

static struct itimerspec_abi set(struct timerfd *t, const struct itimerspec_abi *new, int flags)
{
	ktime value = timespec_to_ktime(&new->value);
	struct itimerspec_abi old;
	u64 irq;

	timer_cancel_sync(&t->timer);
	irq = spin_lock_irqsave(&t->lock);
	old = current_locked(t);
	timer_cancel(&t->timer);
	t->ticks = 0;
	t->expired = false;
	t->interval = value ? timespec_to_ktime(&new->interval) : 0;
	t->next = value ? monotonic_start(t, value, flags) : 0;
	if (t->next)
		timer_start(&t->timer, t->next);
	spin_unlock_irqrestore(&t->lock, irq);
	return old;
}

long sys_timerfd_settime(int fd, int flags, const struct itimerspec_abi __user *unew,
			 struct itimerspec_abi __user *uold)
{
	struct itimerspec_abi new, old;
	struct timerfd *t;
	struct file *f;

	if (copy_from_user(&new, unew, sizeof(new)))
		return -EFAULT;
	if ((flags & ~(TFD_ABSTIME | TFD_CANCEL_ON_SET)) || !timespec_valid(&new.value) ||
	    !timespec_valid(&new.interval))
		return -EINVAL;
	t = timerfd_get(fd, &f);
	if (IS_ERR(t))
		return PTR_ERR(t);
	old = set(t, &new, flags);
	file_put(f);
	return uold && copy_to_user(uold, &old, sizeof(old)) ? -EFAULT : 0;
}

long sys_timerfd_gettime(int fd, struct itimerspec_abi __user *ucur)
{
	struct itimerspec_abi now;
	struct timerfd *t;
	struct file *f;
	u64 irq;

	t = timerfd_get(fd, &f);
	if (IS_ERR(t))
		return PTR_ERR(t);
	irq = spin_lock_irqsave(&t->lock);
	now = current_locked(t);
	spin_unlock_irqrestore(&t->lock, irq);
	file_put(f);
	return copy_to_user(ucur, &now, sizeof(now)) ? -EFAULT : 0;
}
