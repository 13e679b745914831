/* SPDX-License-Identifier: MIT */
/*
 * The lock checker of DEBUG builds (kernel/debug/lockcheck.c has the theory). In other builds
 * everything here is nothing.
 *
 * Locks are sorted into classes: all locks that one line of code initialises are one class, and each
 * static lock is a class of its own. Taking lock B while A is held teaches the checker "A before B";
 * whatever contradicts what it has learnt is a panic that shows both chains, whether or not the two
 * would have met this time.
 */
#ifndef PERCH_LOCKCHECK_H
#define PERCH_LOCKCHECK_H

#include <perch/types.h>

struct mutex;
#ifdef PERCH_LOCKCHECK

#define LOCK_SUBCLASSES	6

struct lock_class {
	const char *name;	/* as written where it is initialised; NULL: a static lock */
	const char *file;
	u16 id[LOCK_SUBCLASSES];	/* the checker's numbers; 0: not met yet */
};

struct held_lock {
	const void *lock;
	u64 pc;			/* who took it */
	u16 id;
};

/* What a CPU (spinlocks) or a task (mutexes) holds, in the order in which it was taken. */
#define LOCK_MAX_HELD	16
struct held_locks {
	u32 n;
	struct held_lock h[LOCK_MAX_HELD];
};

/* A class for the place where this macro stands. */
#define LOCK_CLASS(nm) ({ static struct lock_class _class = { .name = (nm), .file = __FILE__ }; &_class; })

/* A mutex: before waiting for it (panics on a wrong order), once it is owned, before it is given up.
 * Process context. */
void lockcheck_mutex_order(struct mutex *m, u32 sub, u64 pc);
void lockcheck_mutex_got(struct mutex *m, u32 sub, u64 pc);
void lockcheck_mutex_drop(struct mutex *m);

/* Panic unless this code may sleep: not in an interrupt, no spinlock held, interrupts on. */
void might_sleep_at(const char *what);
#define might_sleep()	might_sleep_at(__func__)
/* Before user memory is touched by what may fault it in. */
void might_fault(void);
/* Leaving for user mode: nothing may be held. */
void lockcheck_user_return(u64 syscall);
/* A handler is about to run, and has run: the locks of what it interrupted, and what it left. */
u32 lockcheck_irq_enter(void);
void lockcheck_irq_exit(u32 held);
/* From now on say nothing: the machine panics. */
void lockcheck_off(void);
/* The locks that this CPU and its task hold, into the log. */
void lockcheck_show_held(void);

#else

static inline void lockcheck_mutex_order(struct mutex *m, u32 sub, u64 pc) { }
static inline void lockcheck_mutex_got(struct mutex *m, u32 sub, u64 pc) { }
static inline void lockcheck_mutex_drop(struct mutex *m) { }
static inline void might_sleep(void) { }
static inline void might_fault(void) { }
static inline void lockcheck_user_return(u64 syscall) { }
static inline u32 lockcheck_irq_enter(void) { return 0; }
static inline void lockcheck_irq_exit(u32 held) { }
static inline void lockcheck_off(void) { }
static inline void lockcheck_show_held(void) { }

#endif
#endif
