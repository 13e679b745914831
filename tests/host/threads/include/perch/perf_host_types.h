/* SPDX-License-Identifier: MIT */
/* Threads as CPUs: a host of the perf core with real locks. See threads.c. */
#ifndef THREADS_PERF_HOST_TYPES_H
#define THREADS_PERF_HOST_TYPES_H

#include <perch/types.h>

#define HOST_MAX_CPUS 8
#define HOST_ASSERT(c) ((c) ? (void)0 : assert_failed(#c, __FILE__, __LINE__))
#define HOST_ASSERT_HOT(c) HOST_ASSERT(c)
#define HOST_PAUSE(name) ((void)0)
void assert_failed(const char *what, const char *file, int line) __attribute__((noreturn));

struct task;
struct perf_task;

typedef struct { u32 owner; } host_spinlock;	/* CPU + 1, 0: free */
#define HOST_SPIN_INIT { 0 }
typedef struct { struct task *owner; } host_mutex;
typedef struct { u32 wakes; } host_waitq;
struct host_timer {
	void (*fn)(struct host_timer *);
	u64 when;
	bool armed;
	struct host_timer *next;	/* of its CPU */
};
struct host_irq_work {
	void (*fn)(struct host_irq_work *);
	struct host_irq_work *next;
	u32 state;		/* 0 idle, 1 queued, 2 running */
};

void host_spin_init(host_spinlock *l);
void host_spin_lock(host_spinlock *l);
#define host_spin_lock_nested(l) host_spin_lock(l)	/* this lane has no order to check */
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
