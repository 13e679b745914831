/* SPDX-License-Identifier: MIT */
/* What kernel/perf/host.h wants from Perch as types and inline functions. See there. */
#ifndef PERCH_PERF_HOST_TYPES_H
#define PERCH_PERF_HOST_TYPES_H

#include <perch/cpu.h>
#include <perch/debug.h>
#include <perch/smp.h>
#include <perch/spinlock.h>
#include <perch/task.h>
#include <perch/time.h>
#include <perch/wait.h>

#define HOST_MAX_CPUS	NR_CPUS
#define HOST_ASSERT(c)	ASSERT(c)
#define HOST_PAUSE(name) pause_point(name)

typedef spinlock host_spinlock;
#define HOST_SPIN_INIT SPINLOCK_INIT
#define host_spin_init(l) spin_init(l)	/* macros: a lock class for each caller */
static inline void host_spin_lock(host_spinlock *l) { spin_lock(l); }
#define host_spin_lock_nested(l) spin_lock_nested(l, 1)
static inline void host_spin_unlock(host_spinlock *l) { spin_unlock(l); }
static inline bool host_spin_held(const host_spinlock *l) { return spin_is_locked(l); }

typedef struct mutex host_mutex;
#define host_mutex_init(m) mutex_init(m)
static inline void host_mutex_lock(host_mutex *m) { mutex_lock(m); }
static inline void host_mutex_unlock(host_mutex *m) { mutex_unlock(m); }
static inline bool host_mutex_held(const host_mutex *m) { return mutex_held(m); }

typedef struct waitq host_waitq;
#define host_waitq_init(q) waitq_init(q)

struct host_timer {
	struct timer timer;
	void (*fn)(struct host_timer *);
};
struct host_irq_work {
	struct irq_work work;
	void (*fn)(struct host_irq_work *);
};

static inline u64 host_irq_save(void) { return irq_save(); }
static inline void host_irq_restore(u64 flags) { irq_restore(flags); }
static inline bool host_irqs_off(void) { return irqs_off(); }
static inline u32 host_cpu(void) { return cpu_id(); }
static inline u64 host_now(void) { return (u64)ktime_now(); }
static inline struct task *host_current(void) { return current; }
static inline struct perf_task **host_task_slot(struct task *t) { return &t->perf; }

#endif
