/* SPDX-License-Identifier: MIT */
/*
 * Spinlocks. The kernel is not preemptible: a task in the kernel runs until it sleeps, calls
 * cond_resched() or returns to user space. So a plain spin_lock is enough for data that no
 * interrupt touches; data shared with an interrupt handler needs the _irqsave form everywhere.
 * Sleeping with a spinlock held is a bug: schedule() asserts this_cpu()->spin_depth == 0.
 *
 * One word, taken by whoever comes first. Not a ticket lock: fairness is worth little here, sections
 * being short, but a ticket can only be served when its CPU runs. Under an emulator or hypervisor with
 * fewer real CPUs than ours, each hand-over then waits for the host's scheduler, and one contended
 * lock slows the machine a hundredfold (50 shells at once on 2 host CPUs: 0.2 s instead of minutes).
 */
#ifndef PERCH_SPINLOCK_H
#define PERCH_SPINLOCK_H

#include <perch/atomic.h>
#include <perch/cpu.h>
#include <perch/lockcheck.h>

#ifdef PERCH_LOCKCHECK	/* kernel/debug/lockcheck.c */

typedef struct {
	u32 locked;
	u32 owner;			/* CPU + 1 while locked */
	struct lock_class *class;	/* NULL: static, not met yet */
} spinlock;

#define SPINLOCK_INIT { 0, 0, NULL }
#define spin_init(l)	spin_init_class(l, LOCK_CLASS(#l))
static inline void spin_init_class(spinlock *l, struct lock_class *class)
{
	l->locked = l->owner = 0;
	l->class = class;
}

bool spin_trylock(spinlock *l);
void spin_lock(spinlock *l);
/* The second lock of a class, where the callers have an order (say which at the call). sub: 1 to
 * LOCK_SUBCLASSES - 1. */
void spin_lock_nested(spinlock *l, u32 sub);
void spin_unlock(spinlock *l);
#define spin_lock_uncounted(l, sub)	spin_lock_nested(l, sub)
#define spin_unlock_uncounted(l)	spin_unlock(l)
void irq_state_bad(const char *what) __noreturn;
#define IRQ_ASSERT(c, what)	do { if (unlikely(!(c))) irq_state_bad(what); } while (0)

#else

typedef struct { u32 locked; } spinlock;

#define SPINLOCK_INIT { 0 }

static inline void spin_init(spinlock *l)
{
	l->locked = 0;
}

/*
 * Not counted in spin_depth: for a few lines of code with IRQs off, where the count would be half the
 * cost, that neither sleep nor touch user memory. DEBUG builds count all. sub: as for spin_lock_nested, or 0.
 */
static inline void spin_lock_uncounted(spinlock *l, u32 sub)
{
	while (unlikely(!atomic_cas(&l->locked, 0u, 1u)))
		while (atomic_read(&l->locked))
			cpu_relax();
}

static inline void spin_unlock_uncounted(spinlock *l)
{
	store_release(&l->locked, 0);
}

static inline bool spin_trylock(spinlock *l)
{
	if (!atomic_cas(&l->locked, 0u, 1u))
		return false;
	this_cpu()->spin_depth++;
	return true;
}

static inline void spin_lock(spinlock *l)
{
	spin_lock_uncounted(l, 0);
	this_cpu()->spin_depth++;
}
#define spin_lock_nested(l, sub) spin_lock(l)

static inline void spin_unlock(spinlock *l)
{
	this_cpu()->spin_depth--;
	spin_unlock_uncounted(l);
}
#define IRQ_ASSERT(c, what)	((void)0)

#endif

static inline bool spin_is_locked(const spinlock *l)
{
	return atomic_read(&l->locked);
}

static inline u64 __must_check spin_lock_irqsave(spinlock *l)
{
	u64 flags = irq_save();

	spin_lock(l);
	return flags;
}

static inline void spin_unlock_irqrestore(spinlock *l, u64 flags)
{
	IRQ_ASSERT(irqs_off(), "spin_unlock_irqrestore with IRQs on");
	spin_unlock(l);
	irq_restore(flags);
}

static inline void spin_lock_irq(spinlock *l)
{
	IRQ_ASSERT(!irqs_off(), "spin_lock_irq with IRQs off: use spin_lock_irqsave");
	irq_disable();
	spin_lock(l);
}

static inline void spin_unlock_irq(spinlock *l)
{
	spin_unlock(l);
	irq_enable();
}

#endif
