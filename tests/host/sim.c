/* SPDX-License-Identifier: MIT */
/* The simulated machine: CPUs, tasks, time, files, memory. The PMU is in simpmu.c. */
#include "sim.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct sim sim;
void (*sim_on_advance)(u64 ns);
void simpmu_reset(void);
void simpmu_advance(u64 ns);
u64 simpmu_step(void);
bool simpmu_interrupt(u32 cpu, bool force);
void simpmu_register(void);

u32 sim_rand(u32 n)
{
	sim.seed ^= sim.seed << 13;
	sim.seed ^= sim.seed >> 7;
	sim.seed ^= sim.seed << 17;
	return n ? (u32)((sim.seed >> 20) % n) : 0;
}

/* --- chaos ------------------------------------------------------------------------------------ */

static struct task *random_waiter(void)
{
	for (int tries = 0; tries < 8; tries++) {
		struct task *t = &sim.tasks[sim_rand(SIM_TASKS)];

		if (t->used && !t->dead && !t->embryo && t->cpu < 0)
			return t;
	}
	return NULL;
}

static void other_cpus_switch(void)
{
	u32 me = sim.cpu;

	for (u32 c = 0; c < SIM_CPUS; c++)
		if (c != me && !sim.irq_off[c] && sim_rand(2))
			sim_switch(c, random_waiter());
	sim.cpu = me;
}

static void move_caller(void)
{
	struct task *me = sim.curr[sim.cpu];
	u32 to = sim_rand(SIM_CPUS);

	if (me->idle || to == sim.cpu || sim.irq_off[to] || sim.irq_off[sim.cpu])
		return;
	sim_switch(sim.cpu, NULL);
	sim_switch(to, me);
	sim.cpu = to;
	sim.migrations++;
}

/* A point where the world may change under the caller. can_sleep: the caller may be moved and
 * others may do whole system calls. */
static void chaos(bool can_sleep)
{
	if (!sim.chaos || sim.in_chaos || sim.irq_off[sim.cpu] || sim_rand(100) >= sim.chaos)
		return;
	sim.in_chaos = true;
	other_cpus_switch();
	if (can_sleep) {
		move_caller();
		if (sim.chaos_call && !perf_mutex.held)
			sim.chaos_call();
	}
	sim.in_chaos = false;
}

/* --- locks, interrupts, memory -------------------------------------------------------------------- */

void host_spin_init(host_spinlock *l) { l->held = false; }
void host_spin_lock(host_spinlock *l)
{
	if (sim.before_lock)
		sim.before_lock(l);
	HOST_ASSERT(host_irqs_off() && !l->held);	/* one thread: held means deadlock */
	l->held = true;
}
void host_spin_unlock(host_spinlock *l) { HOST_ASSERT(l->held); l->held = false; }
bool host_spin_held(const host_spinlock *l) { return l->held; }

void host_mutex_init(host_mutex *m) { *m = (host_mutex){ 0 }; }
void host_mutex_lock(host_mutex *m)
{
	HOST_ASSERT(!host_irqs_off());
	if (!m->held)
		chaos(true);
	HOST_ASSERT(!m->held);
	m->held = true;
	m->owner = host_current();
}
void host_mutex_unlock(host_mutex *m)
{
	HOST_ASSERT(m->held && m->owner == host_current());
	m->held = false;
}
bool host_mutex_held(const host_mutex *m) { return m->held; }
void host_waitq_init(host_waitq *q) { q->wakes = 0; }

u64 host_irq_save(void)
{
	u64 was = sim.irq_off[sim.cpu];

	sim.irq_off[sim.cpu] = true;
	return was;
}
static void run_works(u32 cpu)
{
	u32 me = sim.cpu;
	bool off = sim.irq_off[cpu];
	struct host_irq_work *w;

	sim.cpu = cpu;
	sim.irq_off[cpu] = true;
	while ((w = sim.works[cpu])) {
		sim.works[cpu] = w->next;
		w->queued = false;
		w->fn(w);
	}
	sim.irq_off[cpu] = off;
	sim.cpu = me;
}

void host_irq_restore(u64 flags)
{
	HOST_ASSERT(sim.irq_off[sim.cpu]);
	sim.irq_off[sim.cpu] = flags;
	if (flags)
		return;
	run_works(sim.cpu);
	simpmu_interrupt(sim.cpu, false);
}
bool host_irqs_off(void) { return sim.irq_off[sim.cpu]; }
u32 host_cpu(void) { return sim.cpu; }
u64 host_now(void)
{
	if (sim.drift) {
		simpmu_advance(1);
		sim.now++;
	}
	return sim.now;
}
struct task *host_current(void) { return sim.curr[sim.cpu]; }
struct perf_task **host_task_slot(struct task *t) { return &t->perf; }

static bool may_fail(void)
{
	return sim.fail_after && !--sim.fail_after;
}
void *host_zalloc(size_t size)
{
	HOST_ASSERT(!host_irqs_off());
	chaos(true);
	if (may_fail())
		return NULL;
	sim.allocs++;
	return calloc(1, size);
}
void host_free(void *p)
{
	if (p)
		sim.allocs--;
	free(p);
}
void *host_page_alloc(void)
{
	if (may_fail())
		return NULL;
	sim.allocs++;
	return memset(aligned_alloc(4096, 4096), 0, 4096);
}
void host_page_free(void *page) { sim.allocs--; free(page); }
void host_log(const char *fmt, ...) { (void)fmt; }
int host_snprintf(char *buf, size_t size, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(buf, size, fmt, ap);
	va_end(ap);
	return n;
}

u32 host_nr_cpus(void) { return SIM_CPUS; }
bool host_cpu_online(u32 cpu) { return cpu < SIM_CPUS && sim.cpus_online & BIT(cpu); }
int host_call_on_cpu(u32 cpu, void (*fn)(void *), void *arg)
{
	HOST_ASSERT(!host_irqs_off());
	if (!host_cpu_online(cpu))
		return -ENXIO;
	chaos(false);
	while (sim.ipi_waits && cpu != sim.cpu && sim.irq_off[cpu])
		sim.ipi_waits(cpu);
	ONCPU(cpu) {
		u64 flags = host_irq_save();

		fn(arg);
		host_irq_restore(flags);
	}
	return 0;
}
void host_tick_hold(void) {}
void host_tick_release(void) {}

/* --- timers ------------------------------------------------------------------------------------------ */

void host_timer_init(struct host_timer *t, void (*fn)(struct host_timer *))
{
	*t = (struct host_timer){ .fn = fn, .cpu = -1 };
}
void host_timer_cancel(struct host_timer *t)
{
	for (struct host_timer **p = &sim.timers; *p; p = &(*p)->next)
		if (*p == t) {
			*p = t->next;
			break;
		}
	t->cpu = -1;
}
void host_timer_start(struct host_timer *t, u64 when)
{
	HOST_ASSERT(host_irqs_off() && (t->cpu < 0 || t->cpu == (int)sim.cpu));
	host_timer_cancel(t);
	t->when = when;
	t->cpu = (int)sim.cpu;
	t->next = sim.timers;
	sim.timers = t;
}
bool host_timer_armed(const struct host_timer *t) { return t->cpu >= 0; }

static struct host_timer *earliest(void)
{
	struct host_timer *best = sim.timers;

	for (struct host_timer *t = best; t; t = t->next)
		if (t->when < best->when)
			best = t;
	return best;
}

static void run_timers(void)
{
	struct host_timer *t;

	while ((t = earliest()) && t->when <= sim.now)
		ONCPU((u32)t->cpu) {
			host_timer_cancel(t);
			u64 flags = host_irq_save();

			t->fn(t);
			host_irq_restore(flags);
		}
}

static void run_ticks(void)
{
	if (sim.now / TICK_NSEC == sim.ticks)
		return;
	sim.ticks = sim.now / TICK_NSEC;
	for (u32 c = 0; c < SIM_CPUS; c++)
		ONCPU(c) {
			u64 flags = host_irq_save();

			perf_tick(c);
			host_irq_restore(flags);
		}
}

/* Let time pass on all CPUs, with interrupts when they are due. */
void sim_user(u32 cpu)
{
	struct task *t = sim.curr[cpu];

	if (!t || !t->user_return)
		return;
	t->user_return = false;
	ONCPU(cpu)
		perf_user_return();
}

void sim_advance(u64 ns)
{
	u64 end = sim.now + ns;
	u32 me = sim.cpu;

	for (u32 c = 0; c < SIM_CPUS; c++)
		sim_user(c);
	while (sim.now < end) {
		u64 step = min_t(u64, end - sim.now, simpmu_step());
		struct host_timer *t = earliest();

		if (t && t->when > sim.now)
			step = min_t(u64, step, t->when - sim.now);
		if (sim_on_advance)
			sim_on_advance(step);
		simpmu_advance(step);
		sim.now += step;
		for (u32 c = 0; c < SIM_CPUS; c++) {
			sim.cpu = c;
			simpmu_interrupt(c, false);
		}
		run_timers();
		run_ticks();
	}
	sim.cpu = me;
}

void host_irq_work_init(struct host_irq_work *w, void (*fn)(struct host_irq_work *)) { w->fn = fn; }
bool host_irq_work_queue(struct host_irq_work *w)
{
	HOST_ASSERT(host_irqs_off());
	if (w->queued)
		return false;
	w->queued = true;
	w->cpu = sim.cpu;
	w->next = sim.works[sim.cpu];
	sim.works[sim.cpu] = w;
	return true;
}
void host_irq_work_sync(struct host_irq_work *w)
{
	HOST_ASSERT(!host_irqs_off());
	if (w->queued)
		run_works(w->cpu);
}

/* --- tasks ----------------------------------------------------------------------------------------- */

struct task *sim_task(void)
{
	for (struct task *t = sim.tasks; t < sim.tasks + SIM_TASKS; t++)
		if (!t->used) {
			*t = (struct task){ .used = true, .refs = 1, .cpu = -1, .last_cpu = -1 };
			t->tid = t->tgid = ++sim.next_tid;
			return t;
		}
	return NULL;
}
void host_task_get(struct task *t) { t->refs++; }
void host_task_put(struct task *t)
{
	if (--t->refs)
		return;
	perf_task_free(t);
	t->used = false;
}
void sim_task_put(struct task *t) { host_task_put(t); }

struct task *host_task_find(int tid)
{
	struct task *found = NULL;

	if (!tid)
		found = host_current();
	for (struct task *t = sim.tasks; !found && t < sim.tasks + SIM_TASKS; t++)
		if (t->used && !t->dead && !t->embryo && (int)t->tid == tid)
			found = t;
	if (found)
		found->refs++;
	return found;
}
u32 host_task_tid(const struct task *t) { return t->tid; }
u32 host_task_tgid(const struct task *t) { return t->tgid; }
bool host_task_is_kernel(const struct task *t) { return t->idle; }
void host_task_comm(const struct task *t, char comm[16]) { snprintf(comm, 16, "t%u", t->tid); }
struct pt_regs *host_task_user_regs(struct task *t) { return t->idle ? NULL : USER_REGS; }
void host_task_parent(const struct task *t, u32 *tgid, u32 *tid) { (void)t; *tgid = *tid = 1; }
const struct pt_regs *host_timer_regs(void) { return KERNEL_REGS; }
const struct pt_regs *host_here_regs(void) { return KERNEL_REGS; }

/* The scheduler's switch on one CPU. */
void sim_switch(u32 cpu, struct task *next)
{
	struct task *prev = sim.curr[cpu];

	next = next ? next : &sim.idle[cpu];
	if (next == prev)
		return;
	HOST_ASSERT(next->idle || next->cpu < 0);
	ONCPU(cpu) {
		u64 flags = host_irq_save();
		bool moved = !next->idle && next->last_cpu >= 0 && next->last_cpu != (int)cpu;

		perf_sched_switch(prev, next, true, moved);
		prev->cpu = -1;
		next->cpu = next->last_cpu = (int)cpu;
		sim.curr[cpu] = next;
		host_irq_restore(flags);
	}
}

struct task *sim_fork(bool thread)
{
	struct task *t = sim_task();

	if (!t)
		return NULL;
	t->uid = host_current()->uid;
	t->embryo = true;
	if (thread)
		t->tgid = host_current()->tgid;
	if (perf_fork(t, thread ? PERF_FORK_THREAD : 0)) {
		HOST_ASSERT(!t->perf);
		host_task_put(t);
		return NULL;
	}
	t->embryo = false;
	return t;
}

void sim_exit(u32 cpu)
{
	ONCPU(cpu) {
		struct task *t = sim.curr[cpu];

		HOST_ASSERT(!t->idle);
		perf_exit(t);
		t->dead = true;
		sim.cpu = (u32)t->cpu;	/* it may have been moved while it slept */
		sim_switch(sim.cpu, NULL);
		host_task_put(t);
	}
}

/* --- permission, user memory, registers --------------------------------------------------------------- */

bool host_capable(enum host_cap cap) { return sim.capable && !(sim.lacks & BIT(cap)); }
bool host_may_observe(struct task *t) { return t->uid == host_current()->uid; }
int host_exec_guard(struct task *t) { (void)t; chaos(true); return 0; }
void host_exec_unguard(struct task *t) { (void)t; }
int host_copy_from_user(void *dst, u64 src, size_t n)
{
	HOST_ASSERT(!perf_mutex.held || perf_mutex.owner != host_current());
	if (src < 4096)
		return n ? -EFAULT : 0;
	memcpy(dst, (const void *)src, n);
	return 0;
}
int host_copy_to_user(u64 dst, const void *src, size_t n)
{
	HOST_ASSERT(!perf_mutex.held || perf_mutex.owner != host_current());
	if (dst < 4096)
		return n ? -EFAULT : 0;
	memcpy((void *)dst, src, n);
	return 0;
}
bool host_regs_user(const struct pt_regs *regs) { return regs == USER_REGS; }
u64 host_regs_mask(void) { return (1ULL << 33) - 1; }
u64 host_regs_extended(void) { return 1ULL << 46; }
bool host_user_clock(u32 *mult, u32 *shift, u64 *counter)
{
	*mult = 1u << 8;
	*shift = 8;
	*counter = sim.now;
	return true;
}

/* --- files -------------------------------------------------------------------------------------------- */

static struct host_file reserved;

int host_fd_reserve(bool cloexec)
{
	(void)cloexec;
	for (int i = 3; i < SIM_FDS; i++)
		if (!sim.fds[i]) {
			sim.fds[i] = &reserved;
			return i;
		}
	return -EMFILE;
}
void host_fd_unreserve(int fd) { HOST_ASSERT(sim.fds[fd] == &reserved); sim.fds[fd] = NULL; }
struct host_file *host_file_new(const struct host_file_ops *ops, void *priv)
{
	struct host_file *f = host_zalloc(sizeof(*f));

	if (f)
		*f = (struct host_file){ .ops = ops, .priv = priv, .refs = 1 };
	return f;
}
void host_fd_install(int fd, struct host_file *f) { sim.fds[fd] = f; }
struct host_fd host_fd_get(int fd, const struct host_file_ops *ops, void **priv)
{
	struct host_file *f = fd >= 0 && fd < SIM_FDS ? sim.fds[fd] : NULL;

	if (!f || f == &reserved || f->ops != ops)
		return (struct host_fd){ NULL, false };
	*priv = f->priv;
	f->refs++;
	return (struct host_fd){ f, true };
}
void host_fd_put(struct host_fd f) { host_file_put(f.file); }
bool host_fd_open(int fd)
{
	return fd >= 0 && fd < SIM_FDS && sim.fds[fd] && sim.fds[fd] != &reserved;
}
void host_file_put(struct host_file *f)
{
	if (--f->refs)
		return;
	f->ops->release(f->priv);
	host_free(f);
}
long sim_open(struct perf_event_attr *a, int pid, int cpu, int group, u64 flags)
{
	return sys_perf_event_open((u64)a, pid, cpu, group, flags);
}
void sim_close(int fd)
{
	struct host_file *f = sim.fds[fd];

	sim.fds[fd] = NULL;
	host_file_put(f);
}
long sim_read(int fd, u64 *buf, size_t n)
{
	return sim.fds[fd]->ops->read(sim.fds[fd]->priv, (u64)buf, n);
}
long sim_ioctl(int fd, u32 cmd, u64 arg)
{
	return sim.fds[fd]->ops->ioctl(sim.fds[fd]->priv, cmd, arg);
}
struct perf_event *sim_event(int fd) { return sim.fds[fd]->priv; }

/* --- start and end --------------------------------------------------------------------------------------- */

/* Each run starts from nothing: the core's globals are put back to what they are at boot. */
void sim_start_caps(u64 seed, u32 width, u32 caps)
{
	memset(&sim, 0, sizeof(sim));
	sim.pmu_caps = caps;
	sim.seed = seed * 0x9e3779b97f4a7c15ULL + 1;
	sim.width = width;
	sim.now = 1000;
	sim.next_tid = 100;
	sim.cpus_online = (1u << SIM_CPUS) - 1;
	sim.capable = true;
	sim_on_advance = NULL;
	memset(perf_cpus, 0, sizeof(perf_cpus));
	memset(&perf_stats, 0, sizeof(perf_stats));
	perf_nr_pmus = 0;
	HOST_ASSERT(!perf_switch_users);
	for (u32 c = 0; c < SIM_CPUS; c++) {
		sim.idle[c] = (struct task){ .used = true, .idle = true, .cpu = (int)c, .refs = 1 };
		sim.curr[c] = &sim.idle[c];
	}
	simpmu_reset();
	simpmu_register();
	perf_init();
	for (u32 c = 1; c < SIM_CPUS; c++)
		ONCPU(c) {
			sim.irq_off[c] = true;
			perf_cpu_online();
			sim.irq_off[c] = false;
		}
}

void sim_start(u64 seed, u32 width)
{
	sim_start_caps(seed, width, PMU_EXTENDED_TYPE);
}

void sim_end(void)
{
	sim.chaos = 0;
	sim.fail_after = 0;
	sim.cpu = 0;
	if (sim.curr[0]->idle) {	/* closing needs somebody who closes */
		struct task *t = sim_task();

		sim_switch(0, t);
	}
	for (int i = 0; i < SIM_FDS; i++)
		if (sim.fds[i])
			sim_close(i);
	for (struct task *t = sim.tasks; t < sim.tasks + SIM_TASKS; t++)
		if (t->used && !t->dead) {
			if (t->cpu < 0) {
				sim_switch(0, NULL);
				sim_switch(0, t);
			}
			sim_exit((u32)t->cpu);
		}
	sim_advance(20 * 1000 * 1000);	/* rotation timers stop by themselves */
	CHECK(!sim.timers);
	CHECK_EQ(perf_stats.events, 0);
	CHECK_EQ(perf_stats.contexts, 0);
	CHECK_EQ(perf_stats.buckets, 0);
	CHECK_EQ(perf_stats.tasks, 0);
	CHECK_EQ(perf_stats.pages, 0);
	CHECK_EQ(sim.allocs, 0);
	CHECK_EQ(perf_switch_users, 0);
	for (u32 i = 0; i < PERF_COUNT_SW_MAX; i++)
		CHECK_EQ(perf_sw_users[i], 0);
	for (u32 c = 0; c < SIM_CPUS; c++)
		for (u32 i = 0; i < perf_nr_pmus; i++)
			CHECK(!perf_cpus[c].pmu[i].seats->used && list_empty(&perf_cpus[c].pmu[i].seats->active));
}
