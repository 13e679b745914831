/* SPDX-License-Identifier: MIT */
/*
 * The perf core's own structures. Private to kernel/perf. Theory: README.md.
 *
 * Letters on members say who may touch them:
 *   I  immutable after creation
 *   m  perf_mutex
 *   c  the context: if it is in on a CPU, that CPU with IRQs off; if it is out, ctx->lock
 *   mc written under both, so either is enough to read
 *   o  the CPU that owns the structure, IRQs off
 *   a  atomic
 *   !  after a letter: others look at it as well, with nothing held. They use READ_ONCE, every write
 *      after the event or context can be found is a WRITE_ONCE, and what was seen is a hint that is
 *      looked at again under the lock, or a value that may be a moment old.
 * tests/host/threads holds the code against these letters.
 */
#ifndef PERF_CORE_H
#define PERF_CORE_H

#include "host.h"
#include "pmu.h"
#include "ring.h"

#include <perch/perf.h>

#define ASSERT_PERF(cond)	HOST_ASSERT(cond)
/* On paths of a hundred instructions: the switch, a read, an overflow. The simulator and DEBUG builds of the
 * kernel check these as well. */
#define ASSERT_HOT(cond)	HOST_ASSERT_HOT(cond)

extern host_mutex perf_mutex;	/* README "Locks": who exists, who belongs to whom */

/* What an event is, ordered so that "on or active" is >= PERF_ON. */
enum perf_state {
	PERF_GONE = -3,		/* no context any more (task exited, remove_on_exec); counts stay */
	PERF_ERROR = -2,	/* pinned, and once found no counter */
	PERF_OFF = -1,
	PERF_ON = 0,
};

enum perf_kind {
	PERF_KIND_HW,		/* needs a counter of event->pmu */
	PERF_KIND_CLOCK,	/* cpu-clock, task-clock: the count is the running time */
	PERF_KIND_COUNT,	/* software id that perf_sw_event counts */
	PERF_KIND_NONE,		/* dummy, bpf-output, cgroup-switches: nothing counts it */
};

/* A group is its leader: every event carries the group of one it would be. */
struct perf_group {
	struct list members;	/* siblings, by group_node, without the leader (mc) */
	u32 nr;			/* members + 1 (mc) */
	u32 generation;		/* changes whenever the set of members does (mc) */
	struct pmu *pmu;	/* hardware PMU of any member, NULL: software only (mc) */
	u32 demand;		/* the members' event_demand (mc!) */
	bool listed;		/* node is on a list (c) */
	bool placed;		/* all members that are on have counters, or are parked (c) */
	struct list node;	/* bucket's pinned or flexible list when it may run (c) */
	u64 order;		/* place in the queue: smaller goes first (c) */
	struct list active;	/* perf_seats.active when placed (o of that CPU) */
};

struct perf_event {
	struct perf_event_attr attr;	/* I, but sample_period and sample_freq (c) */
	int cpu;		/* filter, -1: any (I) */
	enum perf_kind kind;	/* I */
	u64 id;			/* I */
	struct pmu *pmu;	/* NULL for software (I) */
	struct perf_event *root;	/* the event with the file; itself for that one (I) */

	/* family and file */
	union {
		struct list children;	/* of a root: live copies, by child_node (m) */
		struct list child_node;	/* of a copy (m) */
	};
	struct list owner_node;	/* in perf_task.owned of who opened it (m) */
	u64 child_count;	/* what exited copies left: of a root (m!) */
	u64 child_enabled, child_running;
	u64 lost;		/* PERF_FORMAT_LOST: of a root (a) */
	/* output: output.c, overflow.c */
	struct perf_ring *ring;	/* where records go: of a root (m writes, read with IRQs off) */
	struct list ring_node;	/* ring->events (ring->lock) */
	struct perf_ring *map;	/* what its file has mapped (m) */
	void *page;		/* control page of its own ring while mapped (mc) */
	u64 target;		/* id of the task it was opened on, 0: a CPU (I) */
	struct host_file *file;	/* of a root (I) */
	host_waitq waitq;	/* pollers of the file */
	struct host_irq_work work;	/* does what is in pending */
	u32 nr_maps;		/* m */
	u32 pending;		/* overflow.c (a) */
	bool noted;		/* work has been queued at least once (a) */
	bool accounted, sideband;	/* the hooks of sw.c, sideband.c know of it (P) */
	bool chains;		/* callchain.c knows of it (m) */
	bool trap_owed;		/* sigtrap: its task has yet to get it (c) */
	u64 trap_addr;		/* and the data address of that overflow (c) */

	/* place */
	struct perf_ctx *ctx;	/* NULL when GONE (mc!) */
	struct perf_bucket *bucket;	/* of its cpu in ctx (mc) */
	struct list ctx_node;	/* ctx->events (mc) */
	struct perf_event *leader;	/* mc */
	struct list group_node;	/* leader's group.members (mc) */
	struct perf_group group;
	struct list map_node;	/* ctx->mapped (c) */
	union {			/* c */
		struct list soft_node;	/* of kind COUNT: bucket->soft */
		struct {		/* of kind CLOCK, with a period */
			struct list clock_node;		/* bucket->clocks */
			struct host_timer timer;
			u64 period_end;			/* when it fires */
		};
	};

	/* state, time, count (c) */
	enum perf_state state;	/* c! */
	bool on_exec;		/* enable_on_exec, not yet used up */
	bool soft_listed, clock_listed;
	u64 count;
	u64 enabled, running;
	u64 estamp;		/* ctx clock at the last settlement of enabled */
	u64 rstamp;		/* bucket or ctx clock at the last settlement of running */
	struct perf_hw hw;
	u16 sample_fixed;	/* sample_fixed_size (I) */
	u8 sample_kind;		/* sample_kind (I) */
	u8 nr_uregs, nr_iregs;	/* registers in sample_regs_user, sample_regs_intr (I) */
	bool sampling;		/* it has a period; PERIOD may change it, but never to or from 0 (I) */
	u64 sample_period;	/* events from sample to sample; 0: counting */
	u64 last_period;
	s64 period_left;	/* until the next sample; kept while off a counter */
	union {
		struct {
			u32 budget;	/* REFRESH: overflows left, 0: no limit */
			bool disarmed;	/* its budget is used up: no more overflows, it is about to be off */
			bool more;	/* frequency mode, sigtrap (I) */
		};
		u64 uncommon;		/* all of these; 0: an overflow is a sample, and no more */
	};
	bool throttled;		/* stopped until the next tick */
	bool ticks;		/* on a counter, it needs the tick */
	u64 int_end;		/* end of the tick for which this is: */
	u32 int_left;		/* interrupts that it may still have */
	u64 freq_time, freq_count;	/* of the last adaption */
};

/*
 * The events of a context with the same CPU filter. Groups that cannot run here are in another
 * bucket and cost a switch nothing.
 */
struct perf_bucket {
	int cpu;		/* -1: any (I) */
	u64 time;		/* ns that the context was in on this CPU (c) */
	struct list soft;	/* enabled events of kind COUNT (c) */
	struct list clocks;	/* enabled sampling events of kind CLOCK (c) */
	struct {
		struct list pinned;	/* groups that want to run: leader on, not ERROR (c) */
		struct list flexible;	/* by order (c) */
	} pmu[PMU_MAX];
};

/*
 * Who has the counters of a PMU. Every context has a set of seats for each PMU, and a CPU uses its own context's or the
 * running task's: park.c. Those in use are the CPU's (o), those of a context that is out the context's (c).
 */
struct perf_seats {
	struct list active;	/* placed groups, by group.active */
	u32 nr_active;
	u32 foreign;		/* of these, the ones that are not a task's */
	u64 used;		/* counters taken */
	u64 pinned;		/* of these, by pinned groups */
	struct perf_event *exclusive;	/* the placed exclusive group, if any */
	u64 interrupts;		/* while parked: run.interrupts of the CPU */
	u32 cpu;		/* and which CPU that was */
	struct perf_event *slot[64];	/* who is on the counter */
};

struct perf_ctx {
	host_spinlock lock;
	struct task *task;	/* whose events these are now, NULL: a CPU's (c!); see is_tasks */
	int oncpu;		/* CPU it is in on, -1: out; comes in under the lock, leaves by a release (a) */
	u32 pins;		/* > 0: must stay with its task (mc up, m! down) */
	u32 noswap;		/* events that forbid the family switch (mc) */
	u32 nr_switch;		/* events that want SWITCH records (mc) */
	u32 traps_owed;		/* events that owe their task a SIGTRAP (c) */
	u64 clone_id;		/* equal and not 0: contexts are copies of each other (c!) */
	u64 time, stamp;	/* clock: ns in, and host_now() when last added up (c) */
	struct list events;	/* all, by ctx_node (mc) */
	u32 nr_events;		/* mc */
	struct perf_bucket any;
	struct perf_bucket **bycpu;	/* by CPU number; made for the first filtered event, and filled, under the
					 * mutex while the context may be in elsewhere: ctx_bucket, bucket_here */
	struct perf_bucket *here;	/* bucket of oncpu, or NULL (c) */
	u32 nr_groups[PMU_MAX];	/* groups listed, all buckets (c) */
	u32 wanted;		/* bit per PMU: it has some (c) */
	u32 nr_clocks;		/* events on the buckets' clocks lists (c) */
	bool unmet[PMU_MAX];	/* a group that could run did not fit the last time (c) */
	u64 rotated[PMU_MAX];	/* ctx time of the last rotation (c) */
	bool parked;		/* its seats may be taken; only while out (c) */
	struct list mapped;	/* events with a control page (c) */
	u32 nr_user;		/* of these, the ones that ask for user-space reads (c) */
	bool dead;		/* parted from its task: about to be freed (c) */
	struct perf_seats seats[PMU_MAX];	/* of a task: as many as there are PMUs, at the end of the memory */
};
#define STALE_TASK	1u	/* pages of the running task's context */
#define STALE_CPU	2u	/* of the CPU's */

/* One PMU on one CPU. All (o). */
struct perf_cpu_pmu {
	struct pmu *pmu;
	struct perf_cpu *cpu;
	struct perf_seats *seats;	/* those in use: own, or cpu->task_ctx's */
	struct perf_seats *own;		/* cpu->ctx's (I) */
	struct pmu_run run;	/* what the next resume says */
	u64 overflows;		/* for stats.c (o!) */
	struct perf_ctx *user;	/* the task's context to which the counters are open (rdpmc), or NULL */
	bool paused;		/* by the core, or not yet started */
	bool online;
	u32 jitter_seed, jitter;	/* rotate.c */
	struct host_timer timer;	/* rotation */
};

struct __attribute__((aligned(4096))) perf_cpu {	/* a multiplication less wherever one is looked up */
	u32 id;			/* I */
	bool online;
	struct perf_ctx ctx;	/* the CPU's own context: in for ever */
	struct perf_ctx *task_ctx;	/* of the running task, or NULL (o) */
	struct perf_cpu_pmu pmu[PMU_MAX];
	u32 touched;		/* PMUs paused by the running operation (o) */
	u32 stale;		/* STALE_x: control pages that the end of the operation rewrites (o) */
	bool user;		/* some pmu[].user is set (o) */
	u32 tick_events;	/* placed events that need the tick (o) */
	u32 throttled;		/* throttled events here (o) */
	struct task *as;	/* records made now speak of this task instead of current (o) */
} __aligned(4096);	/* its size is a power of two, so that its address is one shift */

/* What a task has of perf. Made at the first need, freed with the task. */
struct perf_task {
	struct task *task;	/* I */
	u64 id;			/* never used again, unlike tids and addresses (I) */
	struct perf_ctx *ctx;	/* written on the CPU where the task runs, or under perf_mutex before
				 * the task can run; see ctx_of_task */
	struct perf_ctx *spare;	/* memory for the next one; NULL while it has one (m) */
	bool dead;		/* exited: no context may be made any more (m) */
	struct list owned;	/* events it opened, by owner_node (m) */
	struct perf_why why;	/* last refusal (m) */
};

struct perf_stats {		/* a */
	u64 events, contexts, buckets, tasks, rings, pages;	/* live objects */
	u64 opens, refusals, switches, family_switches, rotations, remote_calls, spurious;
	u64 inherited, folded, pinned_errors;
	u64 lost, throttles;
};
extern struct perf_stats perf_stats;
u64 stats_overflows(void);	/* of all CPUs */
#define STAT_ADD(name, n)	((void)__atomic_fetch_add(&perf_stats.name, (u64)(n), __ATOMIC_RELAXED))
#define STAT_INC(name)		STAT_ADD(name, 1)
#define STAT_DEC(name)		STAT_ADD(name, -1)

/* Whose a context is may change at any moment on another CPU (family switch), that it is a task's never does. */
static inline bool is_tasks(const struct perf_ctx *ctx) { return READ_ONCE(ctx->task) != NULL; }

extern struct perf_cpu perf_cpus[HOST_MAX_CPUS];
extern struct pmu *perf_pmus[PMU_MAX];
extern u32 perf_nr_pmus;

static inline struct perf_cpu *this_perf_cpu(void)
{
	return &perf_cpus[host_cpu()];
}

/* Pause the PMU for the rest of this operation (cpu_commit ends it): members of a group start and
 * stop together. o. */
static inline void count_touch(struct perf_cpu_pmu *pp)
{
	pp->cpu->touched |= 1u << pp->pmu->index;
	if (pp->paused)
		return;
	pp->pmu->ops->pause(pp->pmu);
	pp->paused = true;
}

/* The leader, then its members. */
#define for_each_member(e, leader)						\
	for (e = (leader); e; e = group_next(leader, e))
static inline struct perf_event *group_next(struct perf_event *leader, struct perf_event *e)
{
	struct list *n = e == leader ? leader->group.members.next : e->group_node.next;

	return n == &leader->group.members ? NULL : list_entry(n, struct perf_event, group_node);
}

/* One in a group of one: most of them. */
static inline bool is_alone(const struct perf_event *e) { return e->group.nr == 1; }
static inline bool is_leader(const struct perf_event *e) { return e->leader == e; }
static inline bool is_sampling(const struct perf_event *e) { return e->sampling; }
static inline bool is_placed(const struct perf_event *e) { return e->hw.counter >= 0; }
/* Counters that it takes, of those that any event may have; if it takes others, or may not have each of them: more than
 * there are. */
static inline u32 event_demand(const struct perf_event *e)
{
	return e->kind != PERF_KIND_HW ? 0 : e->hw.flags ? 1u << 16 : 1;
}
/* Is there room for e beside all of leader's group (NULL: none), whichever of them are on and whatever they count? If
 * not, it may still fit: group_could_open knows. */
static inline bool group_surely_fits(const struct perf_event *leader, const struct perf_event *e)
{
	return (leader ? READ_ONCE(leader->group.demand) : 0) + event_demand(e) <= e->pmu->plain;
}
/* Time counts for it: itself and its leader are on. */
static inline bool is_enabled(const struct perf_event *e)
{
	return e->state >= PERF_ON && e->leader->state >= PERF_ON;
}
/* If it is enabled, it counts whenever its bucket's clock runs (software group) or right now (hardware group). */
static inline bool group_runs(const struct perf_event *leader)
{
	return !leader->group.pmu || leader->group.placed;
}
static inline bool is_running(const struct perf_event *e)
{
	return is_enabled(e) && group_runs(e->leader);
}

/* May this code touch the (c) members of ctx? */
static inline bool ctx_owned(const struct perf_ctx *ctx)
{
	return host_irqs_off() && (ctx->oncpu == (int)host_cpu() ||
				   (ctx->oncpu < 0 && host_spin_held(&ctx->lock)));
}

/* Is ctx, which may be a dead pointer or NULL, in on this CPU? O. */
static inline bool ctx_is_here(const struct perf_cpu *pc, const struct perf_ctx *ctx)
{
	return ctx && (ctx == pc->task_ctx || ctx == &pc->ctx);
}

/* attr.c */
int attr_copy_in(u64 uattr, struct perf_event_attr *attr, struct perf_why *why);
int attr_validate(struct perf_event_attr *attr, struct perf_why *why);
/*
 * It only counts: what is counted, for whom, and how it is read is all that it says. Then no check but those of the event, of
 * what is excluded and of the group has anything to look at, and no hook has to know of it.
 */
static inline bool attr_is_plain(const struct perf_event_attr *a)
{
	bool rare = a->mmap || a->comm || a->freq || a->task || a->mmap_data || a->mmap2 || a->use_clockid ||
		    a->context_switch || a->namespaces || a->aux_output || a->text_poke || a->inherit_thread ||
		    a->remove_on_exec || a->sigtrap || a->__reserved_1;

	return !rare && a->read_format < PERF_FORMAT_MAX &&
	       !(a->sample_period | (a->sample_type & ~(u64)PERF_SAMPLE_IDENTIFIER) | a->sample_regs_user |
		 a->sample_regs_intr | a->__reserved_2 | a->aux_sample_size | a->aux_action);
}

/* access.c */
int access_rare(const struct perf_event_attr *attr, struct perf_why *why);
int access_task(const struct perf_event_attr *attr, struct task *t, struct perf_why *why);
bool access_privileged(void);

/* refusal.c */
void refusal_note(const struct perf_why *why);

/* sysctl.c */
enum {
	SYSCTL_PARANOID, SYSCTL_RATE, SYSCTL_MLOCK, SYSCTL_CPU_TIME, SYSCTL_STACK, SYSCTL_CONTEXTS, SYSCTL_USER_ACCESS,
	SYSCTL_JITTER, SYSCTL_DEBUG, NR_SYSCTLS
};
static inline int sysctl_paranoid(void) { return READ_ONCE(perf_sysctls[SYSCTL_PARANOID].value); }
static inline int sysctl_max_sample_rate(void) { return READ_ONCE(perf_sysctls[SYSCTL_RATE].value); }
static inline int sysctl_max_contexts(void) { return READ_ONCE(perf_sysctls[SYSCTL_CONTEXTS].value); }
/* What needs no more than this level of perf_event_paranoid, or a privilege. P. */
static inline bool access_allowed(int level) { return sysctl_paranoid() <= level || access_privileged(); }
/* To current, whatever it asks for: Debian's level 3 and above. P. */
static inline bool access_closed(void) { return sysctl_paranoid() > 2 && !host_capable(HOST_CAP_SYS_ADMIN); }
void sysctl_lower_sample_rate(int rate);	/* A */
int sysctl_cpu_time(void);
int sysctl_mlock_kb(void);
int sysctl_max_stack(void);
int sysctl_user_access(void);
u32 sysctl_jitter(void);
int sysctl_debug(void);

/* task.c: t's, made if need be; look at ->dead. NULL: out of memory. P, perf_mutex held. */
struct perf_task *perf_task_make(struct task *t);
static inline struct perf_task *perf_task_get(struct task *t)
{
	struct perf_task *pt = __atomic_load_n(host_task_slot(t), __ATOMIC_ACQUIRE);

	return likely(pt) ? pt : perf_task_make(t);
}

/* event.c */
/* Zeroed, NULL: no memory. Its attr is to be filled in; event_init makes it an event, with the state from
 * attr.disabled; with root: a copy that inherits. event_free is for both. P. */
static inline struct perf_event *event_alloc(void) { return host_zalloc(sizeof(struct perf_event)); }
void event_init(struct perf_event *e, int cpu, struct perf_event *root);
void event_free(struct perf_event *e);
void group_settle(struct perf_event *leader);
void event_set_state(struct perf_event *e, enum perf_state state);
void event_relist(struct perf_event *e);
/*
 * fn(ctx, arg) as the owner of e's context ctx. _do: wherever the context is, ctx NULL if e has none (P, m).
 * _try_here: only if the context is in on this CPU and e has no copies, for then the CPU owns all of it and
 * no lock is needed; false: fn has not run (P, e is kept by its file).
 */
typedef void event_fn(struct perf_ctx *ctx, void *arg);
void event_do(struct perf_event *e, event_fn *fn, void *arg);
/* What they can do to an event, which is the argument. An event without a context keeps its state. c. */
event_fn event_enable, event_disable, event_reset;
void event_set_period(struct perf_event *e, u64 period);
void event_refresh(struct perf_event *e, u32 n);
void event_disable_here(struct perf_event *e);	/* interrupt, O */

/* group.c */
/* e is, or becomes again, a group of one. */
static inline void group_alone(struct perf_event *e)
{
	e->leader = e;
	e->group.nr = 1;
	e->group.pmu = e->pmu;
	WRITE_ONCE(e->group.demand, event_demand(e));
}
void group_join(struct perf_event *leader, struct perf_event *e);	/* mc, or m without a context */
void group_leave(struct perf_event *e);	/* mc, or m when GONE; promotes the members of a leader */
int group_check(struct perf_event *leader, const struct perf_event *e, struct perf_why *why);
void group_relist(struct perf_event *leader);	/* c */
void group_requeue(struct perf_event *leader);	/* c: to the end of its queue */

/* queue.c: c */
void queue_insert(struct perf_event *leader, bool keep_order);
void queue_remove(struct perf_event *leader);
struct perf_event *queue_first(struct perf_ctx *ctx, u32 pmu, bool pinned);
struct perf_event *queue_next(struct perf_event *g);

/* context.c */
void ctx_init(struct perf_ctx *ctx, struct task *t);
struct perf_ctx *ctx_alloc(struct task *t);
void ctx_free(struct perf_ctx *ctx);
void ctx_rest(struct perf_ctx *ctx);	/* P, m: nobody has it, its memory stays; and back */
void ctx_reuse(struct perf_ctx *ctx);
/* hot.h has ctx_call, of which this is a part, and ctx_bucket. */
void ctx_call_elsewhere(struct perf_ctx *ctx, void (*fn)(struct perf_ctx *, void *), void *arg);
struct perf_bucket *ctx_bucket_of(struct perf_ctx *ctx, u32 cpu);
void ctx_add_event(struct perf_ctx *ctx, struct perf_event *e, struct perf_bucket *b);	/* mc */
void ctx_del_event(struct perf_event *e);	/* mc; the group is left as it is */
bool ctx_in(struct perf_ctx *ctx, struct perf_cpu *pc, u64 now);
void ctx_out(struct perf_ctx *ctx, struct perf_cpu *pc, u64 now);
struct perf_ctx *ctx_of_task(struct task *t, int *err);	/* P, m: pinned */
struct perf_ctx *ctx_of_self(struct perf_task *pt);	/* the same for current */
void ctx_unpin(struct perf_ctx *ctx);

/* attach.c: P, m */
void event_attach(struct perf_ctx *ctx, struct perf_event *e, struct perf_bucket *b,
		  struct perf_event *leader);
void event_detach(struct perf_event *e);	/* from context and group; state GONE */
void ctx_drop_if_empty(struct perf_ctx *ctx);

/* place.c: o */
bool group_could_open(struct perf_event *leader, const struct perf_event *extra);	/* pure */
#define PLACE_SKIPS 8	/* groups that cannot run now that one walk of a queue passes over */
bool group_satisfiable(const struct perf_cpu_pmu *pp, struct perf_event *leader);
void group_evict(struct perf_event *leader);
void event_evict(struct perf_event *e);
void place_pass(struct perf_cpu *pc, u32 pmu, const struct perf_ctx *fresh);
void place_flexible(struct perf_cpu_pmu *pp, struct perf_ctx *a, struct perf_ctx *b);
void evict_flexible(struct perf_cpu_pmu *pp);
void evict_ctx(struct perf_cpu_pmu *pp, struct perf_ctx *ctx);
void cpu_commit(struct perf_cpu *pc);
void resched_ctx(struct perf_ctx *ctx, struct pmu *pmu);
void resched_group(struct perf_ctx *ctx, struct perf_event *leader);

/* park.c */
void seats_init(struct perf_seats *s);
void seats_return(struct perf_cpu_pmu *pp);			/* o */
bool park_out(struct perf_cpu_pmu *pp, struct perf_ctx *ctx);	/* o */
bool park_in(struct perf_cpu_pmu *pp, struct perf_ctx *ctx, struct perf_seats *s);	/* o; s: ctx's */
void unpark_all(struct perf_ctx *ctx);	/* c */
/* The parent is current's, its child has copies of all its events and will run for the first time. o, c. */
void park_born(const struct perf_ctx *parent, struct perf_ctx *child);

/* switch.c */
void switch_watch(u32 n);	/* n more events (modulo 2^32) count or record every switch. A */

/* rotate.c: o */
void rotate_init(struct perf_cpu_pmu *pp);
void rotate_want(struct perf_cpu_pmu *pp);
void rotate_go_on(struct perf_cpu_pmu *pp, const struct perf_ctx *ctx);
void rotate_now(struct perf_cpu_pmu *pp);

/* count.c: o */
void count_start(struct perf_cpu_pmu *pp, struct perf_event *e);
void count_stop(struct perf_cpu_pmu *pp, struct perf_event *e);
void count_reload(struct perf_event *e);
void count_pause(struct perf_event *e);		/* o: stop counting, keep the counter; and go on */
void count_resume(struct perf_event *e);

/* inherit.c */
int inherit_ctx(struct perf_ctx *parent, struct perf_task *child, u32 flags);	/* P, m */
void family_do(struct perf_event *root, event_fn *fn);	/* P, m: fn(ctx, e) for e = root and each live copy */
void family_fold(struct perf_event *child);	/* m: child is detached; frees it */
void family_kill(struct perf_event *root);	/* m: detaches and frees all copies */

/* read.c */
size_t read_size_for(u64 read_format, u32 nr);
long read_event(struct perf_event *e, u64 buf, size_t n);

/* file.c */
extern const struct host_file_ops perf_file_ops;

/* sw.c */
int sw_event_init(struct perf_event *e, struct perf_why *why);
/* Linux's numbers for the PMUs of the two clocks, which may be asked for as well. */
#define PERF_TYPE_CPU_CLOCK	6u
#define PERF_TYPE_TASK_CLOCK	7u
void sw_event_born(struct perf_event *e);
void sw_event_dies(struct perf_event *e);

/* userpage.c */
void userpage_init(struct perf_ring *r);
void userpage_show(struct perf_event *e);	/* P, m */
void userpage_hide(struct perf_event *e);		/* P, m */
void userpage_update(struct perf_event *e);	/* c */
void userpage_forget(struct perf_event *e);	/* c: e leaves its context */
void userpage_access(struct perf_cpu *pc);	/* o */
void userpage_commit(struct perf_cpu *pc);	/* o */
void userpage_access_changed(void);		/* P */

/* output.c: P, m */
void output_set(struct perf_event *root, struct perf_ring *r);
int output_redirect(struct perf_event *e, struct perf_event *to);
int output_pause(struct perf_event *e, bool pause);
int output_map(struct perf_event *e, const struct host_map_req *req, void *const **pages);
void output_unmap(struct perf_event *e);
u32 output_poll(struct perf_event *e, struct host_poll *p);	/* P, without m */

/* overflow.c: O, owner */
void overflow_pending(struct host_irq_work *w);	/* of an event's work */
void overflow_wake(struct perf_event *root);
void overflow_signal(struct perf_event *root);
void overflow_forget_trap(struct perf_event *e);	/* c: no SIGTRAP for what it has overflowed so far */
extern u64 cputime_allowed;			/* ns of an interrupt, 0: nobody cares (a) */
void cputime_took(u64 start);			/* one interrupt, O */
void cputime_rate_set(void);			/* after a sysctl has been written */
/* task: record_subject(); now: host_now() */
void event_overflow(struct perf_event *e, const struct pt_regs *regs, struct task *task, u64 addr, u64 period,
		    bool may_throttle, u64 now);
void overflow_unthrottle(struct perf_event *e);
void overflow_unthrottle_soft(struct perf_cpu *pc, struct perf_ctx *ctx);

/* freq.c: o */
void freq_overflow(struct perf_event *e);
void freq_tick(struct perf_event *e);

/* clock.c: o */
void clock_init(struct perf_event *e);		/* P */
void clock_update(struct perf_event *e);
void clock_restart(struct perf_event *e);	/* c: with a whole new period */
void clocks_in(struct perf_ctx *ctx);
void clocks_out(struct perf_ctx *ctx);

/* sideband.c */
void sideband_born(struct perf_event *e);	/* P */
void sideband_dies(struct perf_event *e);
void sideband_switch(struct perf_cpu *pc, struct task *prev, struct task *next, bool out, bool preempt); /* o */
void sideband_exec(void);			/* P */
void sideband_exit(struct task *t, struct perf_ctx *ctx);	/* P; ctx: left behind by t, or NULL */

/* pmu.c */
int pmu_event_init(struct perf_event *e, bool task, struct perf_why *why);
/* -EOPNOTSUPP if a names registers that only PMUs with PMU_EXTENDED_REGS sample. A */
int pmu_refuse_regs(const struct perf_event_attr *a, struct perf_why *why);

#include "hot.h"

#endif
