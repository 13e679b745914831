/* SPDX-License-Identifier: MIT */
/*
 * Spinlocks. The kernel is not preemptible: a task in the kernel runs until it sleeps, calls
 * cond_resched() or returns to user space. So a plain spin_lock is enough for data that no
 * interrupt touches; data shared with an interrupt handler needs the _irqsave form everywhere.
 * Sleeping with a spinlock held is a bug: schedule() asserts this_cpu()->spin_depth == 0.
 *
 * Ticket lock: fair, so a CPU that spins gets its turn.
 */
#ifndef PERCH_SPINLOCK_H
#define PERCH_SPINLOCK_H

#include <perch/atomic.h>
#include <perch/cpu.h>

typedef struct {
	u32 owner;	/* ticket being served */
	u32 next;	/* next ticket to hand out */
} spinlock;

#define SPINLOCK_INIT { 0, 0 }

static inline void spin_init(spinlock *l)
{
	l->owner = l->next = 0;
}

static inline bool spin_is_locked(const spinlock *l)
{
	return atomic_read(&l->owner) != atomic_read(&l->next);
}

static inline void spin_lock(spinlock *l)
{
	u32 t = __atomic_fetch_add(&l->next, 1, __ATOMIC_RELAXED);

	while (load_acquire(&l->owner) != t)
		cpu_relax();
	this_cpu()->spin_depth++;
}

static inline bool spin_trylock(spinlock *l)
{
	u32 t = atomic_read(&l->owner);

	if (!atomic_cas(&l->next, t, t + 1))
		return false;
	this_cpu()->spin_depth++;
	return true;
}

static inline void spin_unlock(spinlock *l)
{
	this_cpu()->spin_depth--;
	store_release(&l->owner, l->owner + 1);
}

static inline u64 __must_check spin_lock_irqsave(spinlock *l)
{
	u64 flags = irq_save();

	spin_lock(l);
	return flags;
}

static inline void spin_unlock_irqrestore(spinlock *l, u64 flags)
{
	spin_unlock(l);
	irq_restore(flags);
}

static inline void spin_lock_irq(spinlock *l)
{
	irq_disable();
	spin_lock(l);
}

static inline void spin_unlock_irq(spinlock *l)
{
	spin_unlock(l);
	irq_enable();
}

#endif
