/* SPDX-License-Identifier: MIT */
/*
 * Pause points: /proc/perch/pausepoints.
 *
 * A pause point is a place in the middle of something where a test wants others to act. Writing
 * "NAME PID" or "NAME PID spin" arms one (PID 0: whoever comes by); the next to reach it waits there, and only that one.
 * Writing "release" lets it go; so does the end of MAX_WAIT, because a test may die. Reading tells
 * "NAME hits H waiting W released R timeouts T".
 *
 * Who may sleep sleeps; under a spinlock, with IRQs off or if "spin" was asked for the CPU spins, as if it were very
 * slow there: with IRQs on, its interrupts happen in the middle of what the code does.
 */
#include <perch/debug.h>
#include <perch/errno.h>
#include <perch/procfs.h>
#include <perch/sched.h>
#include <perch/spinlock.h>
#include <perch/time.h>
#include <stdlib.h>
#include <string.h>

#include "debug.h"

#define MAX_WAIT (2 * NSEC_PER_SEC)

static struct {
	char name[32];		/* lock */
	u32 pid;		/* lock */
	bool spin;		/* lock */
	bool armed, waiting;	/* atomic */
	bool release;		/* atomic */
	u32 hits, timeouts;	/* the one that waits */
} point;
static spinlock lock = SPINLOCK_INIT;	/* irqsave */
static struct waitq wq = WAITQ_INIT(wq);

static bool is_mine(const char *name)
{
	u64 flags = spin_lock_irqsave(&lock);
	bool mine = point.armed && !strcmp(point.name, name) &&
		    (!point.pid || (current && current->pid == point.pid));

	if (mine) {
		point.armed = false;
		point.waiting = true;
		point.hits++;
	}
	spin_unlock_irqrestore(&lock, flags);
	return mine;
}

static bool released(void)
{
	return atomic_read(&point.release);
}

static void wait_here(ktime end)
{
	if (!point.spin && !in_irq() && !irqs_off() && !this_cpu()->spin_depth) {
		(void)__wait_event(&wq, released(), TASK_UNINTERRUPTIBLE, false, end);
		return;
	}
	while (!released() && ktime_now() < end)
		cpu_relax();
}

void pause_point(const char *name)
{
	if (likely(!atomic_read(&point.armed)) || !is_mine(name))
		return;
	wait_here(ktime_now() + MAX_WAIT);
	if (!released())
		point.timeouts++;
	atomic_set(&point.waiting, false);
}

static ssize_t arm(const char *buf, size_t len)
{
	size_t n = strcspn(buf, " \n");
	u64 flags;

	if (n >= sizeof(point.name))
		return -EINVAL;
	flags = spin_lock_irqsave(&lock);
	memcpy(point.name, buf, n);
	point.name[n] = 0;
	point.pid = (u32)strtoul(buf + n, NULL, 10);
	point.spin = strstr(buf + n, "spin");
	point.hits = point.timeouts = 0;
	atomic_set(&point.release, false);
	atomic_set(&point.armed, true);
	spin_unlock_irqrestore(&lock, flags);
	return (ssize_t)len;
}

static ssize_t store(const char *buf, size_t len, void *arg)
{
	if (strncmp(buf, "release", 7))
		return atomic_read(&point.waiting) ? -EBUSY : arm(buf, len);
	atomic_set(&point.armed, false);
	atomic_set(&point.release, true);
	wake_up_all(&wq);
	return (ssize_t)len;
}

static int show(struct textbuf *b, void *arg)
{
	text_printf(b, "%s hits %u waiting %d released %d timeouts %u\n",
		    point.name[0] ? point.name : "-", point.hits, atomic_read(&point.waiting),
		    released(), point.timeouts);
	return 0;
}

static const struct knode_ops ops = { .show = show, .store = store };

void pause_init(void)
{
	knode_file(proc_root, "perch/pausepoints", 0600, &ops, NULL);
}
