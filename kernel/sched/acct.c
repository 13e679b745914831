/* SPDX-License-Identifier: MIT */
/*
 * Where CPU time went. The exec clock (sum_exec, exact) says how much a task or a CPU used; the
 * tick samples whether that was in user or system mode. Each read splits the exact sum in the ratio
 * of the samples, and never lets a part go backwards: the sum is right even for a program that
 * lived between two ticks. Reading a clock at each kernel entry would be exact, but costs every
 * system call.
 */
#include "rq.h"
#include <asm/ptrace.h>
#include <perch/irq.h>

/* All that passed on this CPU was busy or idle; rq->lock held, after update_curr. */
static u64 busy(const struct rq *rq)
{
	return rq->stamp - rq->idle_time;
}

static u64 unsampled(const struct rq *rq)
{
	return busy(rq) - rq->sampled;
}

void acct_start(struct rq *rq, ktime now)
{
	rq->stamp = now;
	rq->sampled = busy(rq);
}

void acct_tick(struct rq *rq, struct task *curr)
{
	struct pt_regs *regs = timer_regs();
	enum cpu_time kind = CT_SYSTEM;

	if (regs && user_mode(regs)) {
		curr->se.user_ticks++;
		kind = curr->nice > 0 ? CT_NICE : CT_USER;
	} else {
		curr->se.system_ticks++;
	}
	rq->time[kind] += unsampled(rq);
	rq->sampled = busy(rq);
}

/* rq->lock of t held. */
static u64 exec_locked(struct rq *rq, struct task *t)
{
	s64 running = 0;

	if (rq->curr == t)
		running = max_t(s64, ktime_now() - rq->stamp, 0);
	return t->se.sum_exec + running;
}

u64 task_exec_ns(struct task *t)
{
	u64 flags, ns;
	struct rq *rq = task_rq_lock(t, &flags);

	ns = exec_locked(rq, t);
	task_rq_unlock(rq, flags);
	return ns;
}

static u64 system_part(const struct sched_entity *se, u64 total)
{
	if (!se->system_ticks)
		return 0;
	if (!se->user_ticks)
		return total;
	return (u64)((__uint128_t)total * se->system_ticks / (se->system_ticks + se->user_ticks));
}

void task_account(struct task *t)
{
	u64 flags, total, sys;
	struct rq *rq = task_rq_lock(t, &flags);

	total = exec_locked(rq, t);
	sys = max(system_part(&t->se, total), t->ru.stime_ns);
	if (total >= t->ru.utime_ns + t->ru.stime_ns) {
		if (sys > total - t->ru.utime_ns)
			sys = total - t->ru.utime_ns;
		t->ru.stime_ns = sys;
		t->ru.utime_ns = total - sys;
	}
	task_rq_unlock(rq, flags);
}

/* Busy time that no tick has seen yet is shown as user time. */
void cpu_times(u32 cpu, struct cpu_times *out)
{
	struct rq *rq = &rqs[cpu];
	u64 flags = spin_lock_irqsave(&rq->lock);

	if (cpu_is_online(cpu))
		update_curr(rq, ktime_now());
	*out = (struct cpu_times){
		.user = rq->time[CT_USER] + unsampled(rq),
		.nice = rq->time[CT_NICE],
		.system = rq->time[CT_SYSTEM],
		.idle = rq->idle_time,
	};
	spin_unlock_irqrestore(&rq->lock, flags);
}

u32 nr_running(void)
{
	u32 n = 0;

	for_each_online_cpu(c)
		n += READ_ONCE(rqs[c].nr_queued) + (READ_ONCE(rqs[c].curr) != rqs[c].idle);
	return n;
}

/* A task may sleep on one CPU and be woken from another's queue: only the sum is not negative. */
u32 nr_blocked(void)
{
	s32 n = 0;

	for_each_online_cpu(c)
		n += READ_ONCE(rqs[c].nr_blocked);
	return n > 0 ? n : 0;
}

/* e^(-5 s / (1, 5, 15 min)) in 1/65536. */
static const u32 decay[3] = { 60296, 64453, 65173 };
static u64 averages[3];
static struct timer load_timer;
#define LOAD_INTERVAL	(5 * NSEC_PER_SEC)

static void load_sample(struct timer *t)
{
	u64 n = (u64)(nr_running() + nr_blocked()) << 16;

	for (int i = 0; i < 3; i++)
		averages[i] = (averages[i] * decay[i] + n * (65536 - decay[i])) >> 16;
	timer_start(t, t->expires + LOAD_INTERVAL);
}

void loadavg_start(void)
{
	timer_setup(&load_timer, load_sample);
	timer_start(&load_timer, ktime_now() + LOAD_INTERVAL);
}

void loadavg(u64 out[3])
{
	for (int i = 0; i < 3; i++)
		out[i] = READ_ONCE(averages[i]);
}
