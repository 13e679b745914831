/* SPDX-License-Identifier: MIT */
/*
 * What happens when a period is over: throttling, the new period in frequency mode, REFRESH's
 * budget, the sample, and the signal.
 *
 * Called wherever an event can overflow: in the PMU's interrupt, in a clock's timer, or at a
 * software event under whatever lock the kernel holds there. So nothing is woken or stopped here: what
 * has to be done is noted in event->pending and an irq work of the event does it as soon as interrupts are
 * on again.
 *
 * Throttling. An event may interrupt max_sample_rate / HZ times per 4 ms tick; then it is stopped until the
 * next tick. THROTTLE and UNTHROTTLE records say so.
 *
 * sigtrap: the task that is monitored gets SIGTRAP right before it goes on in user mode (perf_user_return), wherever it
 * overflowed. So the signal never ends a system call that sleeps, and an exec, which removes the event, takes along a
 * signal that it still owed. One is owed at most; what overflows meanwhile adds nothing, as on Linux.
 */
#include "sample.h"

#define PEND_SIGIO	1u	/* O_ASYNC: something happened */
#define PEND_HUP	2u	/* the budget is used up */
#define PEND_DISABLE	4u
#define PEND_WAKE	8u	/* pollers have to look again */

static void note(struct perf_event *e, u32 what)
{
	__atomic_fetch_or(&e->pending, what, __ATOMIC_ACQ_REL);
	WRITE_ONCE(e->noted, true);
	host_irq_work_queue(&e->work);
}

static void log_throttle(struct perf_event *e, bool on)
{
	struct { u64 time, id, stream; } body = { record_time(e), e->root->id, e->id };

	record_output(e, on ? PERF_RECORD_UNTHROTTLE : PERF_RECORD_THROTTLE, 0, &body, sizeof(body));
}

/* A new tick: so many interrupts before the one that is too many. */
static noinline void new_tick(struct perf_event *e, u64 now)
{
	u32 most = ((u32)sysctl_max_sample_rate() + HZ - 1) / HZ;

	e->int_end = (now / TICK_NSEC + 1) * TICK_NSEC;
	e->int_left = most ? most - 1 : 0;
}

/* Count the interrupt; true if it was one too many for this tick. */
static inline bool account_interrupt(struct perf_event *e, u64 now)
{
	if (unlikely(now >= e->int_end))
		new_tick(e, now);
	if (unlikely(!e->int_left))
		return true;
	e->int_left--;
	return false;
}

/* The tick has to come for its sake. */
static void hold_tick(bool on)
{
	struct perf_cpu *pc = this_perf_cpu();

	pc->throttled += on ? 1 : -1u;
	perf_tick_users[pc->id] += on ? 1 : -1u;
	on ? host_tick_hold() : host_tick_release();
}

/* Stop counting where it stands. o. */
static void throttle(struct perf_event *e)
{
	STAT_INC(throttles);
	e->throttled = true;
	hold_tick(true);
	if (is_placed(e))
		count_pause(e);
	else
		clock_update(e);
}

/* At each tick, and when it leaves the CPU: e may count again. o. */
void overflow_unthrottle(struct perf_event *e)
{
	if (likely(!e->throttled))
		return;
	e->throttled = false;
	e->int_end = 0;		/* it starts counting them afresh */
	hold_tick(false);
	log_throttle(e, true);
	if (is_placed(e))
		count_resume(e);
	else
		clock_update(e);
}

static void unthrottle_bucket(struct perf_bucket *b)
{
	struct perf_event *e;

	list_for_each(e, &b->soft, soft_node)
		overflow_unthrottle(e);
	list_for_each(e, &b->clocks, clock_node)
		overflow_unthrottle(e);
}

/* The software events of ctx, which is in here. o. */
void overflow_unthrottle_soft(struct perf_cpu *pc, struct perf_ctx *ctx)
{
	if (!pc->throttled)
		return;
	unthrottle_bucket(&ctx->any);
	if (ctx->here)
		unthrottle_bucket(ctx->here);
}

/* e's task is to get a SIGTRAP. o, or its switch. */
static void owe_trap(struct perf_event *e, u64 addr)
{
	if (e->trap_owed)
		return;
	e->trap_owed = true;
	e->trap_addr = addr;
	e->ctx->traps_owed++;
	host_user_return(e->ctx->task);
}

void overflow_forget_trap(struct perf_event *e)
{
	if (!e->trap_owed)
		return;
	e->trap_owed = false;
	e->ctx->traps_owed--;
}

void perf_user_return(void)
{
	u64 flags = host_irq_save();
	struct perf_ctx *ctx = this_perf_cpu()->task_ctx;
	struct perf_event *e;

	if (ctx && ctx->traps_owed)
		list_for_each(e, &ctx->events, ctx_node)
			if (e->trap_owed) {
				overflow_forget_trap(e);
				host_sigtrap(e->trap_addr, e->attr.type, e->attr.sig_data);
			}
	host_irq_restore(flags);
}

/* Do what was noted. Interrupt context, IRQs off, no locks held. */
void overflow_pending(struct host_irq_work *w)
{
	struct perf_event *e = container_of(w, struct perf_event, work);
	u32 todo = __atomic_exchange_n(&e->pending, 0, __ATOMIC_ACQ_REL);

	if (todo & PEND_DISABLE)
		event_disable_here(e);
	if (todo & PEND_WAKE)
		host_waitq_wake(&e->root->waitq, HOST_POLLIN | HOST_POLLHUP);
	if (todo & (PEND_SIGIO | PEND_HUP))
		host_file_sigio(e->root->file, todo & PEND_HUP);
}

/* Wake the pollers of root soon. O. */
void overflow_wake(struct perf_event *root)
{
	note(root, PEND_WAKE);
}

/* A record of root has passed a watermark, and its file asks for signals. O. */
void overflow_signal(struct perf_event *root)
{
	note(root, PEND_SIGIO);
}

/* An overflow that is more than a sample, or the last one for now. */
static noinline void overflow_uncommon(struct perf_event *e, const struct pt_regs *regs, struct task *task, u64 addr,
				       u64 period, u64 now, bool too_many)
{
	bool last = false;

	if (e->disarmed) {	/* its end is on the way; once more, if the way was missed */
		note(e, PEND_DISABLE);
		return;
	}
	too_many = too_many && !e->throttled;
	if (too_many)
		log_throttle(e, false);
	if (e->attr.freq)
		freq_overflow(e);
	if (e->budget && !--e->budget) {
		last = true;
		e->disarmed = true;
	}
	sample_output(e, regs, task, addr, period, now);
	if (last)
		note(e, PEND_HUP | PEND_DISABLE);
	else if (host_file_async(e->root->file))
		note(e, PEND_SIGIO);
	if (e->attr.sigtrap)
		owe_trap(e, addr);
	if (too_many)
		throttle(e);
}

/*
 * e has overflowed at regs. IRQs off, owner. may_throttle: not for those that cannot be stopped.
 */
void event_overflow(struct perf_event *e, const struct pt_regs *regs, struct task *task, u64 addr, u64 period,
		    bool may_throttle, u64 now)
{
	bool too_many = account_interrupt(e, now) && may_throttle;

	if (likely(!too_many && !e->uncommon && !host_file_async(e->root->file)))
		sample_output(e, regs, task, addr, period, now);
	else
		overflow_uncommon(e, regs, task, addr, period, now, too_many);
}
