/* SPDX-License-Identifier: MIT */
/* What kernel/perf/host.h wants from Perch as types and inline functions. See there. */
#ifndef PERCH_PERF_HOST_TYPES_H
#define PERCH_PERF_HOST_TYPES_H

#include <asm/ptrace.h>
#include <perch/clock.h>
#include <perch/cpu.h>
#include <perch/debug.h>
#include <perch/errno.h>
#include <perch/fs.h>
#include <perch/page.h>
#include <perch/smp.h>
#include <perch/spinlock.h>
#include <perch/task.h>
#include <perch/time.h>
#include <perch/uaccess.h>
#include <perch/wait.h>

#define HOST_MAX_CPUS	NR_CPUS
#define HOST_ASSERT(c)	ASSERT(c)
#define HOST_ASSERT_HOT(c) ASSERT_DEBUG(c)
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

/* The kernel's own do as they are. */
#define host_timer	timer
#define host_irq_work	irq_work

static inline bool host_irq_work_queue(struct host_irq_work *w) { return irq_work_queue(w); }
static inline void host_irq_work_init(struct host_irq_work *w, void (*fn)(struct host_irq_work *))
{
	*w = (struct irq_work){ .fn = fn };
}
static inline void *host_zalloc(size_t size) { return kzalloc(size); }
static inline void host_free(void *p) { kfree(p); }
static inline u32 host_nr_cpus(void) { return nr_cpus; }
static inline bool host_cpu_online(u32 cpu) { return cpu_is_online(cpu); }
static inline int host_copy_from_user(void *dst, u64 src, size_t n)
{
	return copy_from_user(dst, (const void __user *)src, n) ? -EFAULT : 0;
}
static inline int host_copy_to_user(u64 dst, const void *src, size_t n)
{
	return copy_to_user((void __user *)dst, src, n) ? -EFAULT : 0;
}
static inline size_t host_copy_from_user_nofault(void *dst, u64 src, size_t n)
{
	return n - copy_from_user_nofault(dst, (const void __user *)src, n);
}
static inline bool host_waitq_active(const host_waitq *q) { return waitq_active(q); }
static inline u64 host_irq_save(void) { return irq_save(); }
static inline void host_irq_restore(u64 flags) { irq_restore(flags); }
static inline bool host_irqs_off(void) { return irqs_off(); }
static inline u32 host_cpu(void) { return cpu_id(); }
static inline u64 host_now(void) { return (u64)clock_now(); }
static inline struct task *host_current(void) { return current; }
static inline bool host_regs_user(const struct pt_regs *r) { return user_mode(r); }
static inline u64 host_regs_pc(const struct pt_regs *r) { return r->pc; }
static inline u64 host_regs_sp(const struct pt_regs *r) { return r->sp; }
/* Numbers of PERF_SAMPLE_REGS_* on arm64: x0..x29 = 0..29, lr = 30, sp = 31, pc = 32 (measured with
 * perf record --user-regs=?): the order of struct pt_regs. */
#define HOST_NR_REGS 33
_Static_assert(offsetof(struct pt_regs, sp) == 31 * 8 && offsetof(struct pt_regs, pc) == 32 * 8,
	       "registers in perf's order");
static inline u64 host_regs_get(const struct pt_regs *r, u32 nr)
{
	return nr < HOST_NR_REGS ? ((const u64 *)r)[nr] : 0;
}
static inline const u64 *host_regs_array(const struct pt_regs *r, u32 *nr)
{
	*nr = HOST_NR_REGS;
	return (const u64 *)r;
}
static inline u64 host_regs_mask(void) { return BIT(HOST_NR_REGS) - 1; }
static inline u32 host_task_tid(const struct task *t) { return t->pid; }	/* idle tasks never get any: 0 */
static inline u32 host_task_tgid(const struct task *t) { return t->tgid; }
static inline bool host_task_is_kernel(const struct task *t) { return t->flags & (TF_KTHREAD | TF_IDLE); }
static inline struct perf_task **host_task_slot(struct task *t) { return &t->perf; }
struct host_file;
static inline bool host_file_async(const struct host_file *f)
{
	return READ_ONCE(((const struct file *)f)->flags) & O_ASYNC;
}

#endif
