/* SPDX-License-Identifier: MIT */
/*
 * The core on threads: what the simulated machine cannot show, where all CPUs are one thread.
 *
 * Each CPU is a thread. Spinlocks, the mutex, IPIs and task switches are real, so ThreadSanitizer
 * sees every access that two CPUs make without an order between them. A thread "has interrupts off"
 * while it is between host_irq_save and host_irq_restore; IPIs, timers, overflows and irq work wait
 * until they are on again. Counters of a CPU move only when its thread says so (user code), so the
 * truth is known: one pinned, inherited event is on from the first task on, and what it says at the
 * end must be what all tasks have run (until an exec with other credentials), to the last one.
 *
 * Every call and every hook that can come from two CPUs at once belongs into step(): a member of a structure that
 * no two threads touch here is one whose letter in core.h nobody checks.
 *
 *   perf-threads [-n STEPS] [-s SEED]     STEPS for each CPU
 */
#include "../../../kernel/perf/core.h"

#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define CPUS 4
#define TASKS 32
#define FDS 48
#define MAPS 24
#define COUNTERS 6
#define WIDTH 24
#define CYC 0x11

struct task {
	struct perf_task *perf;
	u32 tid;
	u32 refs;		/* a */
	bool used, listed;	/* table_lock */
	bool idle;
	bool user_return;	/* host_user_return (a) */
	bool uncounted;		/* its copy of the event that is checked was taken away */
	int last_cpu;
	struct task *next;	/* runnable list */
};

struct host_file {
	const struct host_file_ops *ops;
	void *priv;
	u32 refs;		/* a */
	bool async;
};

struct call {
	void (*fn)(void *);
	void *arg;
	bool done;		/* a */
	struct call *next;
};

struct counter {
	struct perf_hw *hw;
	u64 value;
};

static struct cpu {
	pthread_t thread;
	u32 id, seed;
	bool irq_off, serving;
	struct task *curr;
	struct task idle;
	struct call *calls;		/* a: stack */
	struct host_irq_work *works;
	struct host_timer *timers;
	u64 tick;
	struct counter c[COUNTERS];
	struct pmu_run run;
	bool running;
	u64 overflow;
	bool user_open;			/* user code may read the counters */
	u64 user_ran;			/* of all tasks that are counted, here */
} cpus[CPUS];
static __thread struct cpu *me;

static struct task tasks[TASKS];
static struct task *runnable;
static struct host_file *fds[FDS], reserved;
static struct mapping { struct host_file *f; struct host_map_req req; } maps[MAPS];
static pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER;	/* tasks, runnable, fds, maps */
static u32 last_tid = 100, finished;
static long allocs;
static s64 pages;		/* charged for rings (a) */
static u32 steps = 4000;

void assert_failed(const char *what, const char *file, int line)
{
	printf("  assertion failed: %s (%s:%d)\n", what, file, line);
	fflush(stdout);
	_exit(1);
}
#define CHECK(c) HOST_ASSERT(c)

#ifndef NO_TSAN
/*
 * gcc calls these for volatile accesses (READ_ONCE, WRITE_ONCE). They are like relaxed atomics: no race with each
 * other, but one with a plain access on the other side. Adding 0 is how a write looks that changes nothing yet.
 */
#define VOLATILE(n, type)									\
	void __tsan_volatile_read##n(void *p) { (void)__atomic_load_n((type *)p, __ATOMIC_RELAXED); } \
	void __tsan_volatile_write##n(void *p) { __atomic_fetch_add((type *)p, 0, __ATOMIC_RELAXED); }
VOLATILE(1, u8) VOLATILE(2, u16) VOLATILE(4, u32) VOLATILE(8, u64)
#endif

static u32 rnd(u32 n)
{
	me->seed ^= me->seed << 13;
	me->seed ^= me->seed >> 17;
	me->seed ^= me->seed << 5;
	return me->seed % n;
}

/* --- interrupts ---------------------------------------------------------------------------- */

bool host_irqs_off(void) { return me->irq_off; }
u32 host_cpu(void) { return me->id; }
struct task *host_current(void) { return me->curr; }
struct perf_task **host_task_slot(struct task *t) { return &t->perf; }
u64 host_now(void)
{
	static u64 latest;	/* a: the clocks of a machine's CPUs agree */
	struct timespec ts;
	u64 now, was = __atomic_load_n(&latest, __ATOMIC_RELAXED);

	clock_gettime(CLOCK_MONOTONIC, &ts);
	now = (u64)ts.tv_sec * 1000000000 + (u64)ts.tv_nsec;
	while (now > was && !__atomic_compare_exchange_n(&latest, &was, now, false,
							 __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		;
	return now > was ? now : was;
}

static void serve_calls(void)
{
	struct call *c = __atomic_exchange_n(&me->calls, NULL, __ATOMIC_ACQ_REL), *next;

	for (; c; c = next) {
		next = c->next;
		c->fn(c->arg);
		__atomic_store_n(&c->done, true, __ATOMIC_RELEASE);
	}
}

static void serve_works(void)
{
	struct host_irq_work *w;

	while ((w = me->works)) {
		me->works = w->next;
		__atomic_store_n(&w->state, 2, __ATOMIC_RELEASE);
		w->fn(w);
		u32 two = 2;
		__atomic_compare_exchange_n(&w->state, &two, 0, false, __ATOMIC_ACQ_REL,
					    __ATOMIC_ACQUIRE);
	}
}

static void serve_timers(void)
{
	u64 now = host_now();

	for (struct host_timer *t = me->timers; t; t = t->next)
		if (t->when <= now) {
			host_timer_cancel(t);
			t->fn(t);
			return;
		}
}

static void serve_pmu(void)
{
	u64 set = me->overflow & me->run.interrupts;

	me->overflow = 0;
	if (!set)
		return;
	me->running = false;
	if (perf_pmu_overflow(perf_pmu_here(perf_pmus[0]), set, (struct pt_regs *)1))
		me->running = true;
}

static void serve_tick(void)
{
	u64 tick = host_now() / TICK_NSEC;

	if (tick == me->tick)
		return;
	me->tick = tick;
	perf_tick(me->id);
}

/* What the interrupt controller has to deliver. */
static void serve(void)
{
	if (me->irq_off || me->serving)
		return;
	me->irq_off = me->serving = true;
	serve_calls();
	serve_pmu();
	serve_timers();
	serve_tick();
	serve_works();
	me->irq_off = me->serving = false;
}

u64 host_irq_save(void)
{
	u64 was = me->irq_off;

	me->irq_off = true;
	return was;
}
void host_irq_restore(u64 flags)
{
	CHECK(me->irq_off);
	me->irq_off = flags;
	serve();
}

int host_call_on_cpu(u32 cpu, void (*fn)(void *), void *arg)
{
	struct call c = { fn, arg, false, NULL };

	CHECK(!me->irq_off);
	if (cpu >= CPUS)
		return -ENXIO;
	if (cpu == me->id) {
		u64 flags = host_irq_save();

		fn(arg);
		host_irq_restore(flags);
		return 0;
	}
	c.next = __atomic_load_n(&cpus[cpu].calls, __ATOMIC_RELAXED);
	while (!__atomic_compare_exchange_n(&cpus[cpu].calls, &c.next, &c, false,
					    __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
		;
	while (!__atomic_load_n(&c.done, __ATOMIC_ACQUIRE)) {
		serve();
		sched_yield();
	}
	return 0;
}

/* --- locks --------------------------------------------------------------------------------- */

void host_spin_init(host_spinlock *l) { __atomic_store_n(&l->owner, 0, __ATOMIC_RELAXED); }
void host_spin_lock(host_spinlock *l)
{
	u32 none = 0;

	CHECK(me->irq_off);
	while (!__atomic_compare_exchange_n(&l->owner, &none, me->id + 1, false, __ATOMIC_ACQUIRE,
					    __ATOMIC_RELAXED)) {
		CHECK(none != me->id + 1);
		none = 0;
		sched_yield();
	}
}
void host_spin_unlock(host_spinlock *l)
{
	CHECK(__atomic_load_n(&l->owner, __ATOMIC_RELAXED) == me->id + 1);
	__atomic_store_n(&l->owner, 0, __ATOMIC_RELEASE);
}
bool host_spin_held(const host_spinlock *l)
{
	return __atomic_load_n(&l->owner, __ATOMIC_RELAXED) == me->id + 1;
}
void host_mutex_init(host_mutex *m) { m->owner = NULL; }
void host_mutex_lock(host_mutex *m)
{
	struct task *none = NULL;

	CHECK(!me->irq_off);
	while (!__atomic_compare_exchange_n(&m->owner, &none, me->curr, false, __ATOMIC_ACQUIRE,
					    __ATOMIC_RELAXED)) {
		none = NULL;
		serve();
		sched_yield();
	}
}
void host_mutex_unlock(host_mutex *m)
{
	CHECK(__atomic_load_n(&m->owner, __ATOMIC_RELAXED) == me->curr);
	__atomic_store_n(&m->owner, NULL, __ATOMIC_RELEASE);
}
bool host_mutex_held(const host_mutex *m)
{
	return __atomic_load_n(&m->owner, __ATOMIC_RELAXED) != NULL;
}

/* --- timers, irq work, memory -------------------------------------------------------------- */

void host_timer_init(struct host_timer *t, void (*fn)(struct host_timer *))
{
	*t = (struct host_timer){ .fn = fn };
}
void host_timer_cancel(struct host_timer *t)
{
	for (struct host_timer **p = &me->timers; t->armed && *p; p = &(*p)->next)
		if (*p == t) {
			*p = t->next;
			break;
		}
	t->armed = false;
}
void host_timer_start(struct host_timer *t, u64 when)
{
	CHECK(me->irq_off);
	host_timer_cancel(t);
	t->when = when;
	t->armed = true;
	t->next = me->timers;
	me->timers = t;
}
bool host_timer_armed(const struct host_timer *t) { return t->armed; }

void host_irq_work_init(struct host_irq_work *w, void (*fn)(struct host_irq_work *))
{
	*w = (struct host_irq_work){ .fn = fn };
}
bool host_irq_work_queue(struct host_irq_work *w)
{
	CHECK(me->irq_off);
	if (__atomic_exchange_n(&w->state, 1, __ATOMIC_ACQ_REL) == 1)
		return false;
	w->next = me->works;
	me->works = w;
	return true;
}
void host_irq_work_sync(struct host_irq_work *w)
{
	while (__atomic_load_n(&w->state, __ATOMIC_ACQUIRE)) {
		serve();
		sched_yield();
	}
}

void *host_zalloc(size_t size)
{
	CHECK(!me->irq_off);
	if (!rnd(300))
		return NULL;
	__atomic_fetch_add(&allocs, 1, __ATOMIC_RELAXED);
	return calloc(1, size);
}
void host_free(void *p)
{
	if (p)
		__atomic_fetch_sub(&allocs, 1, __ATOMIC_RELAXED);
	free(p);
}
void *host_page_alloc(void)
{
	void *p = rnd(300) ? aligned_alloc(4096, 4096) : NULL;

	if (p)
		__atomic_fetch_add(&allocs, 1, __ATOMIC_RELAXED);
	return p ? memset(p, 0, 4096) : NULL;
}
void host_page_free(void *p) { host_free(p); }

/* --- tasks and files ----------------------------------------------------------------------- */

static struct task *new_task(void)
{
	struct task *t = NULL;

	pthread_mutex_lock(&table_lock);
	for (u32 i = 0; i < TASKS && !t; i++)
		if (!tasks[i].used) {
			t = &tasks[i];
			*t = (struct task){ .used = true, .refs = 1, .last_cpu = -1 };
			t->tid = ++last_tid;
		}
	pthread_mutex_unlock(&table_lock);
	return t;
}

static void make_runnable(struct task *t)
{
	pthread_mutex_lock(&table_lock);
	t->listed = true;
	t->next = runnable;
	runnable = t;
	pthread_mutex_unlock(&table_lock);
}

/* Not always the one that came last. */
static struct task *take_runnable(void)
{
	struct task **p = &runnable, *t;

	pthread_mutex_lock(&table_lock);
	for (u32 n = rnd(4); n && *p && (*p)->next; n--)
		p = &(*p)->next;
	t = *p;
	if (t)
		*p = t->next;
	pthread_mutex_unlock(&table_lock);
	return t;
}

struct task *host_task_find(int tid)
{
	struct task *t = NULL;

	if (!tid) {
		host_task_get(me->curr);
		return me->curr;
	}
	pthread_mutex_lock(&table_lock);
	for (u32 i = 0; i < TASKS && !t; i++)
		if (tasks[i].used && tasks[i].listed && (int)tasks[i].tid == tid)
			t = &tasks[i];
	if (t)
		host_task_get(t);
	pthread_mutex_unlock(&table_lock);
	return t;
}
void host_task_get(struct task *t) { __atomic_fetch_add(&t->refs, 1, __ATOMIC_RELAXED); }
void host_task_put(struct task *t)
{
	if (__atomic_sub_fetch(&t->refs, 1, __ATOMIC_ACQ_REL))
		return;
	perf_task_free(t);
	pthread_mutex_lock(&table_lock);
	t->used = false;
	pthread_mutex_unlock(&table_lock);
}
u32 host_task_tid(const struct task *t) { return t->tid; }
u32 host_task_tgid(const struct task *t) { return t->tid; }
bool host_task_is_kernel(const struct task *t) { return t->idle; }

int host_fd_reserve(bool cloexec)
{
	int fd = -EMFILE;

	(void)cloexec;
	pthread_mutex_lock(&table_lock);
	for (int i = 0; i < FDS && fd < 0; i++)
		if (!fds[i]) {
			fds[i] = &reserved;
			fd = i;
		}
	pthread_mutex_unlock(&table_lock);
	return fd;
}
static struct host_file *set_fd(int fd, struct host_file *f)
{
	struct host_file *old;

	pthread_mutex_lock(&table_lock);
	old = fds[fd];
	fds[fd] = f;
	pthread_mutex_unlock(&table_lock);
	return old;
}
void host_fd_unreserve(int fd) { set_fd(fd, NULL); }
struct host_file *host_file_new(const struct host_file_ops *ops, void *priv)
{
	struct host_file *f = host_zalloc(sizeof(*f));

	if (f)
		*f = (struct host_file){ ops, priv, 1, !rnd(4) };
	return f;
}
void host_fd_install(int fd, struct host_file *f) { set_fd(fd, f); }
struct host_fd host_fd_get(int fd, const struct host_file_ops *ops, void **priv)
{
	struct host_file *f = NULL;

	pthread_mutex_lock(&table_lock);
	if (fd >= 0 && fd < FDS && fds[fd] && fds[fd] != &reserved && fds[fd]->ops == ops) {
		f = fds[fd];
		*priv = f->priv;
		__atomic_fetch_add(&f->refs, 1, __ATOMIC_RELAXED);
	}
	pthread_mutex_unlock(&table_lock);
	return (struct host_fd){ f, f != NULL };
}
bool host_fd_open(int fd) { return fd >= 0 && fd < FDS; }
static void host_file_put(struct host_file *f)
{
	if (__atomic_sub_fetch(&f->refs, 1, __ATOMIC_ACQ_REL))
		return;
	f->ops->release(f->priv);
	host_free(f);
}
void host_fd_put(struct host_fd f) { host_file_put(f.file); }

/* --- a PMU: six equal counters ------------------------------------------------------------- */

static int p_init(struct pmu *pmu, struct perf_hw *hw, const struct perf_event_attr *a,
		  const struct perf_hw_target *t, struct perf_why *why)
{
	(void)pmu;
	if (a->type != PERF_TYPE_RAW)
		return perf_refuse(why, -ENOENT, "type", a->type, "not here");
	if (a->config1 && !t->task)
		return perf_refuse(why, -EINVAL, "config1", a->config1, "user reads are for tasks");
	hw->flags = a->config1 ? PERF_HW_USER_READ : 0;
	hw->config = a->config;
	hw->counters = BIT(COUNTERS) - 1;
	return 0;
}
static int p_choose(const struct pmu *pmu, const struct perf_hw *hw, u64 free_ones, u64 *taken)
{
	int c = free_ones ? __builtin_ctzll(free_ones) : -1;

	(void)pmu, (void)hw;
	*taken = c < 0 ? 0 : BIT(c);
	return c;
}
static u8 p_width(const struct pmu *pmu, const struct perf_hw *hw, int c)
{
	(void)pmu, (void)hw, (void)c;
	return WIDTH;
}
static struct counter *at(const struct perf_hw *hw)
{
	CHECK(me->irq_off);
	return &me->c[hw->counter];
}
static void p_program(struct pmu *pmu, struct perf_hw *hw, u64 start)
{
	(void)pmu;
	CHECK(!at(hw)->hw && !me->running);
	*at(hw) = (struct counter){ hw, start };
}
static u64 p_stop(struct pmu *pmu, struct perf_hw *hw)
{
	(void)pmu;
	CHECK(at(hw)->hw == hw && !me->running);
	at(hw)->hw = NULL;
	return at(hw)->value;
}
static u64 p_read(struct pmu *pmu, struct perf_hw *hw)
{
	(void)pmu;
	CHECK(at(hw)->hw == hw);
	return at(hw)->value;
}
static void p_write(struct pmu *pmu, struct perf_hw *hw, u64 v)
{
	(void)pmu;
	CHECK(at(hw)->hw == hw && !me->running);
	at(hw)->value = v;
}
static void p_pause(struct pmu *pmu) { (void)pmu; CHECK(me->running); me->running = false; }
static void p_resume(struct pmu *pmu, const struct pmu_run *run)
{
	(void)pmu;
	CHECK(!me->running);
	me->run = *run;
	me->overflow &= ~run->forget;
	me->running = run->counters != 0;
}
static void p_online(struct pmu *pmu) { (void)pmu; }
static void p_user_access(struct pmu *pmu, bool open, u64 used)
{
	(void)pmu;
	CHECK(me->irq_off);
	for (u32 i = 0; i < COUNTERS; i++)
		CHECK(!open || !(used & BIT(i)) || me->c[i].hw);
	me->user_open = open;
}
static u32 p_user_index(const struct pmu *pmu, const struct perf_hw *hw)
{
	(void)pmu;
	return (u32)hw->counter + 1;
}
static u8 p_user_width(const struct pmu *pmu, const struct perf_hw *hw)
{
	(void)pmu, (void)hw;
	return WIDTH;
}
static const struct pmu_ops pmu_ops = {
	.event_init = p_init, .choose = p_choose, .width = p_width, .program = p_program,
	.stop = p_stop, .read = p_read, .read_paused = p_read, .write = p_write, .pause = p_pause, .resume = p_resume,
	.cpu_online = p_online, .user_access = p_user_access, .user_index = p_user_index,
	.user_width = p_user_width,
};
static struct pmu pmu = { .name = "threads", .ops = &pmu_ops, .cpus = BIT(CPUS + 1) - 1,
			  .counters = BIT(COUNTERS) - 1, .plain = COUNTERS };

/* User code of the running task. */
static void run_user(u32 n)
{
	if (__atomic_exchange_n(&me->curr->user_return, false, __ATOMIC_RELAXED))
		perf_user_return();
	if (!me->curr->idle && !me->curr->uncounted)
		me->user_ran += n;
	CHECK(!me->curr->idle || !me->user_open);
	for (u32 i = 0; me->running && i < COUNTERS; i++)
		if (me->run.counters & BIT(i)) {
			me->c[i].value += n;
			if (me->c[i].value >> WIDTH)
				me->overflow |= BIT(i);
			me->c[i].value &= BIT(WIDTH) - 1;
		}
	serve();
}

/* --- what the tasks do --------------------------------------------------------------------- */

static void switch_to(struct task *next)
{
	struct task *prev = me->curr;
	u64 flags = host_irq_save();
	bool moved = next->last_cpu >= 0 && next->last_cpu != (int)me->id;

	perf_sched_switch(prev, next, true, moved && !next->idle);
	next->last_cpu = (int)me->id;
	me->curr = next;
	host_irq_restore(flags);
}

static void op_switch(void)
{
	struct task *prev = me->curr, *next = take_runnable();

	if (!next && (prev->idle || rnd(2)))
		return;
	switch_to(next ? next : &me->idle);
	if (!prev->idle)
		make_runnable(prev);
}

static void op_fork(void)
{
	struct task *t = new_task();

	if (!t)
		return;
	t->uncounted = me->curr->uncounted;
	if (perf_fork(t, rnd(4))) {
		host_task_put(t);
		return;
	}
	if (!rnd(8)) {
		perf_fork_undo(t);
		host_task_put(t);
		return;
	}
	perf_forked(t);
	make_runnable(t);
}

static void exit_now(void)
{
	struct task *t = me->curr;

	perf_exit(t);
	pthread_mutex_lock(&table_lock);
	t->listed = false;
	pthread_mutex_unlock(&table_lock);
	switch_to(&me->idle);
	host_task_put(t);
}

static struct host_file *random_file(void)
{
	void *unused;

	/* 0 is the event whose sum is checked */
	return host_fd_get(1 + (int)rnd(FDS - 1), &perf_file_ops, &unused).file;
}

/* One that lives, or has just ended. */
static int random_tid(void)
{
	int tid = 0;

	pthread_mutex_lock(&table_lock);
	for (int n = 0; n < 8 && !tid; n++) {
		const struct task *t = &tasks[rnd(TASKS)];

		tid = t->used ? (int)t->tid : 0;
	}
	pthread_mutex_unlock(&table_lock);
	return tid;
}

static void choose_sampling(struct perf_event_attr *a)
{
	static const u64 fields[] = {
		PERF_SAMPLE_IP, PERF_SAMPLE_TID, PERF_SAMPLE_TIME, PERF_SAMPLE_READ | PERF_SAMPLE_TID,
		PERF_SAMPLE_ID, PERF_SAMPLE_CPU, PERF_SAMPLE_PERIOD, PERF_SAMPLE_CALLCHAIN,
	};

	for (u32 i = 0; i < ARRAY_SIZE(fields); i++)
		a->sample_type |= rnd(2) ? fields[i] : 0;
	a->sample_id_all = rnd(2);
	a->freq = !rnd(3);
	a->sample_period = a->freq ? 1 + rnd(5000) : 1000 + rnd(100000);
	a->watermark = rnd(2);
	a->wakeup_events = rnd(3);
	a->sigtrap = a->remove_on_exec && !rnd(2);
}

static void choose_records(struct perf_event_attr *a)
{
	a->mmap = !rnd(4);
	a->mmap2 = !rnd(4);
	a->comm = !rnd(4);
	a->task = !rnd(4);
	a->namespaces = !rnd(8);
	a->context_switch = !rnd(10);
	a->write_backward = !rnd(10);
}

static struct perf_event_attr random_attr(bool wide)
{
	struct perf_event_attr a = { .size = sizeof(a), .type = PERF_TYPE_RAW, .config = CYC };

	if (!rnd(3)) {
		a.type = PERF_TYPE_SOFTWARE;
		a.config = rnd(5);
	} else {
		a.config1 = !rnd(6);
	}
	a.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	a.read_format |= rnd(4) ? 0 : PERF_FORMAT_GROUP | PERF_FORMAT_ID | PERF_FORMAT_LOST;
	a.disabled = rnd(2);
	a.inherit = !wide && rnd(2);
	a.inherit_thread = a.inherit && !rnd(4);
	a.enable_on_exec = !rnd(4);
	a.remove_on_exec = !a.enable_on_exec && !rnd(6);
	a.inherit_stat = !rnd(10);
	a.pinned = !wide && !rnd(12);	/* a CPU's would push out the event that is checked */
	a.exclusive = !a.pinned && !rnd(20);
	choose_records(&a);
	if (!rnd(3))
		choose_sampling(&a);
	return a;
}

static void op_open(void)
{
	bool wide = !rnd(6);
	int group = !rnd(3) ? 1 + (int)rnd(FDS - 1) : -1;
	struct perf_event_attr a = random_attr(wide);
	u64 flags = group < 0 || rnd(6) ? 0 : PERF_FLAG_FD_OUTPUT | PERF_FLAG_FD_NO_GROUP;

	/* The last CPU exists and is off: ENODEV for its own events, a task's may wait for it. */
	(void)sys_perf_event_open((u64)&a, wide ? -1 : rnd(2) ? 0 : random_tid(),
				  wide || !rnd(3) ? (int)rnd(CPUS + 1) : -1, group, flags);
}

static void op_close(void)
{
	struct host_file *f = NULL;
	int fd = 1 + (int)rnd(FDS - 1);

	pthread_mutex_lock(&table_lock);
	if (fds[fd] && fds[fd] != &reserved) {
		f = fds[fd];
		fds[fd] = NULL;
	}
	pthread_mutex_unlock(&table_lock);
	if (f)
		host_file_put(f);
}

static void op_ioctl(void)
{
	static const u32 cmd[] = {
		PERF_EVENT_IOC_ENABLE, PERF_EVENT_IOC_DISABLE, PERF_EVENT_IOC_ENABLE, PERF_EVENT_IOC_RESET,
		PERF_EVENT_IOC_PERIOD, PERF_EVENT_IOC_REFRESH, PERF_EVENT_IOC_SET_OUTPUT,
		PERF_EVENT_IOC_PAUSE_OUTPUT, PERF_EVENT_IOC_MODIFY_ATTRIBUTES, PERF_EVENT_IOC_ID,
	};
	struct perf_event_attr a = { .size = sizeof(a), .type = PERF_TYPE_RAW };
	struct host_file *f = random_file();
	u32 which = cmd[rnd(ARRAY_SIZE(cmd))];
	u64 value = 1000 + rnd(50000), arg = rnd(2);

	if (!f)
		return;
	if (which == PERF_EVENT_IOC_PERIOD || which == PERF_EVENT_IOC_ID)
		arg = (u64)&value;
	else if (which == PERF_EVENT_IOC_REFRESH)
		arg = 3;
	else if (which == PERF_EVENT_IOC_SET_OUTPUT)
		arg = rnd(4) ? 1 + rnd(FDS - 1) : UINT64_MAX;
	else if (which == PERF_EVENT_IOC_MODIFY_ATTRIBUTES)
		arg = (u64)&a;
	(void)f->ops->ioctl(f->priv, which, arg);
	host_file_put(f);
}

static void op_read(void)
{
	struct host_file *f = random_file();
	u64 b[3 + 3 * FDS];

	if (!f)
		return;
	/* one: value, enabled, running; a group: number, enabled, running */
	if (f->ops->read(f->priv, (u64)b, sizeof(b)) >= 24)
		CHECK(b[2] <= b[1]);
	host_file_put(f);
}

/* --- mappings: their reader moves the tail and believes nothing else ------------------------- */

static struct mapping swap_map(u32 i, struct mapping m)
{
	struct mapping old;

	pthread_mutex_lock(&table_lock);
	old = maps[i];
	maps[i] = m;
	pthread_mutex_unlock(&table_lock);
	return old;
}

static void unmap(struct mapping m)
{
	if (!m.f)
		return;
	m.f->ops->munmap(m.f->priv, &m.req);
	host_file_put(m.f);
}

static void op_map(void)
{
	static const u32 size[] = { 1, 2, 3, 5, 9 };
	struct mapping m = { random_file(), { 0, size[rnd(ARRAY_SIZE(size))], true, rnd(4) } };
	void *const *pages;

	if (!m.f)
		return;
	if (m.f->ops->mmap(m.f->priv, &m.req, &pages)) {
		host_file_put(m.f);
		return;
	}
	if (m.req.writable) {
		struct perf_event_mmap_page *p = pages[0];

		__atomic_store_n(&p->data_tail, rnd(2) ? __atomic_load_n(&p->data_head, __ATOMIC_ACQUIRE) : rnd(9999),
				 __ATOMIC_RELEASE);
	}
	unmap(swap_map(rnd(MAPS), m));
}

/* --- what is not about one event -------------------------------------------------------------- */

static void op_sysctl(void)
{
	static const struct { const char *name; int value[3]; } row[] = {
		{ "perf_user_access", { 0, 1, 1 } }, { "perf_mux_jitter", { 0, 5, 77 } },
		{ "perf_event_max_sample_rate", { 4000, 100000, 100000 } },
		{ "perf_cpu_time_max_percent", { 25, 100, 50 } }, { "perf_event_mlock_kb", { 0, 516, 516 } },
		{ "perf_event_paranoid", { -1, 2, 3 } }, { "perf_event_max_stack", { 10, 127, 127 } },
	};
	u32 i = rnd(ARRAY_SIZE(row));
	char text[1024];

	for (struct perf_sysctl *s = perf_sysctls; s->name; s++)
		if (!strcmp(s->name, row[i].name))
			(void)perf_sysctl_set(s, row[i].value[rnd(3)]);
	if (!rnd(4))
		(void)perf_sysfs_write(1, 1, rnd(2) ? "1" : "2");
	(void)perf_sysfs_read(1, rnd(3), text, sizeof(text));
	(void)perf_stats_text(text, sizeof(text));
	(void)perf_refusal_text(me->curr, text, sizeof(text));
}

static void op_hooks(void)
{
	struct perf_mapping m = { .start = 4096, .len = 4096, .prot = 5, .path = "a.out" };

	perf_comm(me->curr);
	if (perf_wants_mmap())
		perf_mmap(&m);
	(void)perf_user_read_trap();
	for (u32 id = PERF_COUNT_SW_PAGE_FAULTS; id < PERF_COUNT_SW_MAX; id++)
		perf_sw_event(id, 1, rnd(2) ? (struct pt_regs *)1 : NULL, 0);
}

static void op_exec(void)
{
	bool other_rights = !rnd(4) && me->curr->tid != 101;

	perf_exec(other_rights);
	me->curr->uncounted |= other_rights;
}

static void op_poll(void)
{
	struct host_file *f = random_file();

	if (!f)
		return;
	(void)f->ops->poll(f->priv, NULL);
	host_file_put(f);
}

static void step(void)
{
	run_user(1 + rnd(20000));
	if (me->curr->idle || rnd(3) == 0) {
		op_switch();
		return;
	}
	perf_sw_event(PERF_COUNT_SW_PAGE_FAULTS, 1, (struct pt_regs *)1, 0);
	switch (rnd(20)) {
	case 0: case 1: case 2: op_open(); break;
	case 3: case 4: op_close(); break;
	case 5: case 6: case 7: op_ioctl(); break;
	case 8: case 9: op_read(); break;
	case 10: op_poll(); break;
	case 11: case 12: op_fork(); break;
	case 13: op_exec(); break;
	case 14:
		if (me->curr->tid != 101)	/* it would switch off the one that is checked */
			perf_prctl(rnd(2));
		break;
	case 15: case 16: op_map(); break;
	case 17: unmap(swap_map(rnd(MAPS), (struct mapping){ NULL })); break;
	case 18: rnd(2) ? op_sysctl() : op_hooks(); break;
	default:
		if (rnd(2) && me->curr->tid != 101)
			exit_now();
	}
}

static void all_here(u32 *count)
{
	__atomic_fetch_add(count, 1, __ATOMIC_ACQ_REL);
	while (__atomic_load_n(count, __ATOMIC_ACQUIRE) < CPUS) {
		serve();
		sched_yield();
	}
}

/* After the others have stopped: the sum, then everything is closed and all tasks end. */
static void finish(void)
{
	u64 b[3], ran = 0;
	struct host_file *f;

	for (u32 c = 0; c < CPUS; c++)
		ran += cpus[c].user_ran;
	CHECK(fds[0]->ops->read(fds[0]->priv, (u64)b, sizeof(b)) == sizeof(b));
	if (b[0] != ran)
		printf("  counted %lu, ran %lu\n", b[0], ran);
	CHECK(b[0] == ran);
	CHECK(b[1] == b[2]);
	for (u32 m = 0; m < MAPS; m++)
		unmap(swap_map(m, (struct mapping){ NULL }));
	for (int fd = 0; fd < FDS; fd++)
		if ((f = set_fd(fd, NULL)))
			host_file_put(f);
}

static void end_all_tasks(void)
{
	struct task *t;

	if (!me->curr->idle)
		exit_now();
	while ((t = take_runnable())) {
		switch_to(t);
		exit_now();
	}
}

static void *cpu_main(void *arg)
{
	static u32 online, stopped, closed, ended;

	me = arg;
	me->irq_off = true;
	if (me->id)
		perf_cpu_online();
	me->irq_off = false;
	all_here(&online);
	for (u32 n = 0; n < steps; n++)
		step();
	all_here(&stopped);
	if (!me->id) {
		if (me->curr->idle)
			switch_to(take_runnable());
		finish();
	}
	all_here(&closed);
	end_all_tasks();
	all_here(&ended);
	__atomic_fetch_add(&finished, 1, __ATOMIC_RELAXED);
	return NULL;
}

/* The first task, and the event that it and all that come from it count into. */
static void first_task(void)
{
	struct perf_event_attr a = { .size = sizeof(a), .type = PERF_TYPE_RAW, .config = CYC,
				     .pinned = 1, .inherit = 1 };

	a.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	switch_to(new_task());
	make_runnable(me->curr);	/* so that it can be found; it is not to be taken */
	CHECK(take_runnable() == me->curr);
	CHECK(sys_perf_event_open((u64)&a, 0, -1, -1, 0) == 0);
}

int main(int argc, char **argv)
{
	u32 seed = 1;
	int c;

	while ((c = getopt(argc, argv, "n:s:")) != -1)
		if (c == 'n')
			steps = (u32)atol(optarg);
		else if (c == 's')
			seed = (u32)atol(optarg);
		else
			return 2;
	alarm(300);
	for (u32 i = 0; i < CPUS; i++) {
		cpus[i].id = i;
		cpus[i].seed = seed * 2654435761u + 97 * i + 1;
		cpus[i].idle = (struct task){ .used = true, .idle = true, .refs = 1 };
		cpus[i].curr = &cpus[i].idle;
	}
	me = &cpus[0];
	CHECK(!pmu_register(&pmu));
	perf_init();
	pmu.mux_interval_ms = 1;
	while (!me->curr->tid)
		first_task();
	for (u32 i = 0; i < CPUS; i++)
		pthread_create(&cpus[i].thread, NULL, cpu_main, &cpus[i]);
	for (u32 i = 0; i < CPUS; i++)
		pthread_join(cpus[i].thread, NULL);
	CHECK(finished == CPUS && !perf_stats.events && !perf_stats.contexts && !perf_stats.tasks);
	CHECK(!perf_stats.buckets && !perf_stats.rings && !perf_stats.pages && !pages && !allocs);
	CHECK(!perf_switch_users && !perf_mmap_users);
	for (u32 i = 0; i < CPUS; i++)
		CHECK(!perf_tick_users[i] && !perf_cpus[i].throttled && !perf_cpus[i].tick_events);
	printf("perf-threads: seed %u passed: %lu switches (%lu of families), %lu remote calls\n",
	       seed, perf_stats.switches, perf_stats.family_switches, perf_stats.remote_calls);
	return 0;
}

/* --- the rest of the host: plain answers --------------------------------------------------- */

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
u32 host_nr_cpus(void) { return CPUS + 1; }	/* the last is off for ever */
bool host_cpu_online(u32 cpu) { return cpu < CPUS; }
void host_tick_hold(void) {}
void host_tick_release(void) {}
void host_waitq_init(host_waitq *q) { q->wakes = 0; }
bool host_waitq_active(const host_waitq *q) { (void)q; return true; }
void host_waitq_wake(host_waitq *q, u32 mask)
{
	(void)mask;
	__atomic_fetch_add(&q->wakes, 1, __ATOMIC_RELAXED);
}
void host_poll_wait(struct host_poll *p, host_waitq *q) { (void)p, (void)q; }
void host_file_sigio(struct host_file *f, bool hup) { (void)f, (void)hup; }
bool host_file_async(const struct host_file *f) { return f->async; }
void host_user_return(struct task *t) { __atomic_store_n(&t->user_return, true, __ATOMIC_RELAXED); }
void host_sigtrap(u64 addr, u32 type, u64 data) { (void)addr, (void)type, (void)data; }
bool host_capable(enum host_cap cap) { (void)cap; return true; }
bool host_may_observe(struct task *t) { (void)t; return true; }
int host_exec_guard(struct task *t) { (void)t; return 0; }
void host_exec_unguard(struct task *t) { (void)t; }
u64 host_memlock_limit(void) { return 0; }
struct host_user *host_user_get(void) { return (struct host_user *)&pages; }
void host_user_put(struct host_user *u) { (void)u; }
s64 *host_user_locked_pages(struct host_user *u) { (void)u; return &pages; }
struct host_mm *host_mm_get(void) { return (struct host_mm *)&pages; }
void host_mm_put(struct host_mm *m) { (void)m; }
s64 *host_mm_pinned_pages(struct host_mm *m) { (void)m; return &pages; }
int host_copy_from_user(void *dst, u64 src, size_t n) { memcpy(dst, (void *)src, n); return 0; }
int host_copy_to_user(u64 dst, const void *src, size_t n) { memcpy((void *)dst, src, n); return 0; }
size_t host_copy_from_user_nofault(void *dst, u64 src, size_t n)
{
	(void)dst, (void)src, (void)n;
	return 0;
}
bool host_regs_user(const struct pt_regs *regs) { return regs != NULL; }
u64 host_regs_pc(const struct pt_regs *regs) { (void)regs; return 0; }
u64 host_regs_sp(const struct pt_regs *regs) { (void)regs; return 0; }
u64 host_regs_get(const struct pt_regs *regs, u32 nr) { (void)regs; return nr; }
const u64 *host_regs_array(const struct pt_regs *regs, u32 *nr) { (void)regs; *nr = 0; return NULL; }
u64 host_regs_mask(void) { return BIT(33) - 1; }
u64 host_regs_extended(void) { return 1ULL << 46; }
const struct pt_regs *host_timer_regs(void) { return me->curr->idle ? NULL : (struct pt_regs *)1; }
const struct pt_regs *host_here_regs(void) { return NULL; }
struct pt_regs *host_task_user_regs(struct task *t) { (void)t; return NULL; }
u32 host_callchain_kernel(const struct pt_regs *regs, u64 *ips, u32 max)
{
	(void)regs, (void)ips, (void)max;
	return 0;
}
u32 host_callchain_user(const struct pt_regs *regs, u64 *ips, u32 max)
{
	return host_callchain_kernel(regs, ips, max);
}
void host_page_of(u64 addr, u64 *phys, u64 *size)
{
	if (phys)
		*phys = addr;
	*size = 4096;
}
void host_task_comm(const struct task *t, char comm[16]) { snprintf(comm, 16, "t%u", t->tid); }
void host_task_parent(const struct task *t, u32 *tgid, u32 *tid) { (void)t; *tgid = *tid = 1; }
void host_task_ns(struct host_ns ns[HOST_NR_NS]) { memset(ns, 0, HOST_NR_NS * sizeof(ns[0])); }
bool host_user_clock(u32 *mult, u32 *shift, u64 *counter)
{
	*mult = 1;
	*shift = 0;
	*counter = host_now();
	return true;
}
u64 host_clock(int clockid) { (void)clockid; return host_now(); }
