/* SPDX-License-Identifier: MIT */
/*
 * DEBUG builds: faults on purpose. In other builds everything here is nothing. Theory: kernel/debug.
 *
 * Fail points: /proc/perch/failpoints makes the n-th fallible step of the calling task's next call of
 * one number fail. Pause points: /proc/perch/pausepoints makes a task or CPU wait at a named place, a
 * bounded time, until it is released.
 */
#ifndef PERCH_DEBUG_H
#define PERCH_DEBUG_H

#include <perch/types.h>

/* What a step would fail with. */
enum fail_kind { FAIL_MEMORY, FAIL_USER_COPY, FAIL_FD, FAIL_WAIT, NR_FAIL_KINDS };

#ifdef PERCH_DEBUG

struct failpoint {
	u32 left;		/* steps until the one that fails; 0: off */
	u32 syscall;		/* counted only there */
	u32 seen;		/* steps passed since it was set */
	bool fired;
	u8 kind;		/* of the step that failed */
	u64 pc;			/* its place */
};

/* Shall this step of current fail? Any context; steps in interrupts are nobody's. */
bool fail_step(enum fail_kind kind, u64 pc);
#define FAIL_STEP(kind)		fail_step(kind, (u64)__builtin_return_address(0))

/* Wait here if somebody asked for it. name: a literal. Any context: with IRQs off or a spinlock held the
 * CPU spins, else the task sleeps. At most two seconds. */
void pause_point(const char *name);

void debug_init(void);		/* process context, before the first program */
void stack_canary_init(void);	/* its caller must not return */

#else

#define FAIL_STEP(kind)		false
static inline void pause_point(const char *name) { }
static inline void debug_init(void) { }
static inline void stack_canary_init(void) { }

#endif
#endif
