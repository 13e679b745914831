/* SPDX-License-Identifier: MIT */
/* The simulated machine as a host of the perf core: see kernel/perf/host.h for what this must give. */
#ifndef SIM_PERF_HOST_TYPES_H
#define SIM_PERF_HOST_TYPES_H

#include <perch/types.h>

#define HOST_MAX_CPUS 8
#define HOST_ASSERT(c) ((c) ? (void)0 : sim_assert_failed(#c, __FILE__, __LINE__))
#define HOST_ASSERT_HOT(c) HOST_ASSERT(c)
#define HOST_PAUSE(name) ((void)0)
void sim_assert_failed(const char *what, const char *file, int line) __attribute__((noreturn));

struct task;
struct perf_task;

typedef struct { bool held; } host_spinlock;
#define HOST_SPIN_INIT { false }
typedef struct { struct task *owner; bool held; } host_mutex;
typedef struct { u32 wakes; } host_waitq;
struct host_timer {
	void (*fn)(struct host_timer *);
	u64 when;
	int cpu;	/* -1: not armed */
	struct host_timer *next;
};
struct host_irq_work {
	void (*fn)(struct host_irq_work *);
	struct host_irq_work *next;
	u32 cpu;
	bool queued;
};

void host_spin_init(host_spinlock *l);
void host_spin_lock(host_spinlock *l);
#define host_spin_lock_nested(l) host_spin_lock(l)
void host_spin_unlock(host_spinlock *l);
bool host_spin_held(const host_spinlock *l);
void host_mutex_init(host_mutex *m);
void host_mutex_lock(host_mutex *m);
void host_mutex_unlock(host_mutex *m);
bool host_mutex_held(const host_mutex *m);
void host_waitq_init(host_waitq *q);
u64 host_irq_save(void);
void host_irq_restore(u64 flags);
bool host_irqs_off(void);
u32 host_cpu(void);
u64 host_now(void);
struct task *host_current(void);
struct perf_task **host_task_slot(struct task *t);

#endif
