/* SPDX-License-Identifier: MIT */
/*
 * Atomic integers and reference counts over the compiler's __atomic builtins. Names say the
 * ordering: plain ones are relaxed, _acq, _rel and _acqrel order as C11 does.
 */
#ifndef PERCH_ATOMIC_H
#define PERCH_ATOMIC_H

#include <perch/printk.h>
#include <perch/types.h>

#define load_acquire(p)		__atomic_load_n(p, __ATOMIC_ACQUIRE)
#define store_release(p, v)	__atomic_store_n(p, v, __ATOMIC_RELEASE)
#define smp_mb()		__atomic_thread_fence(__ATOMIC_SEQ_CST)
#ifdef __aarch64__
#define smp_rmb()		__asm__ volatile("dmb ishld" ::: "memory")
#define smp_wmb()		__asm__ volatile("dmb ishst" ::: "memory")
#else	/* tests on the build machine */
#define smp_rmb()		__atomic_thread_fence(__ATOMIC_ACQUIRE)
#define smp_wmb()		__atomic_thread_fence(__ATOMIC_RELEASE)
#endif

#define atomic_read(p)		__atomic_load_n(p, __ATOMIC_RELAXED)
#define atomic_set(p, v)	__atomic_store_n(p, v, __ATOMIC_RELAXED)
#define atomic_add(p, v)	((void)__atomic_fetch_add(p, v, __ATOMIC_RELAXED))
#define atomic_sub(p, v)	((void)__atomic_fetch_sub(p, v, __ATOMIC_RELAXED))
#define atomic_inc(p)		atomic_add(p, 1)
#define atomic_dec(p)		atomic_sub(p, 1)
/*
 * Return the new value (xchg: the old one). Ordered as acquire and release together, which is less
 * than a full barrier: a store before one of these and a load after it may pass each other on real
 * CPUs (never in QEMU on x86). Where that matters, smp_mb() stands beside it.
 */
#define atomic_add_return(p, v)	__atomic_add_fetch(p, v, __ATOMIC_ACQ_REL)
#define atomic_sub_return(p, v)	__atomic_sub_fetch(p, v, __ATOMIC_ACQ_REL)
#define atomic_xchg(p, v)	__atomic_exchange_n(p, v, __ATOMIC_ACQ_REL)
#define atomic_or(p, v)		((void)__atomic_fetch_or(p, v, __ATOMIC_ACQ_REL))
#define atomic_and(p, v)	((void)__atomic_fetch_and(p, v, __ATOMIC_ACQ_REL))
/* True if *p was old and is now new. */
#define atomic_cas(p, old, new) ({						\
	__typeof__(*(p)) _o = (old);						\
	__atomic_compare_exchange_n(p, &_o, new, false, __ATOMIC_ACQ_REL,	\
				    __ATOMIC_ACQUIRE); })

/*
 * A count of owners. Starts at 1; reaching 0 gives the object to whoever saw it. A count near the end of
 * its range is a leak or an attack: it must not wrap to 0 while owners exist, so it ends the machine.
 */
typedef struct { int n; } refcount;
#define REF_MAX	0x3fffffff

static inline void ref_init(refcount *r, int n)
{
	atomic_set(&r->n, n);
}

static inline int ref_read(const refcount *r)
{
	return atomic_read(&r->n);
}

/* The caller already owns a reference. */
static inline void ref_get(refcount *r)
{
	int old = __atomic_fetch_add(&r->n, 1, __ATOMIC_RELAXED);

	if (unlikely(old <= 0 || old > REF_MAX))
		panic(old <= 0 ? "refcount %p: taken from %d, nobody owned it"
			       : "refcount %p: %d references are too many", (void *)r, old);
}

/* The caller found the object in a table: fails if its last owner has gone. */
static inline bool __must_check ref_get_unless_zero(refcount *r)
{
	int n = atomic_read(&r->n);

	while (n > 0)
		if (__atomic_compare_exchange_n(&r->n, &n, n + 1, false, __ATOMIC_ACQUIRE,
						__ATOMIC_RELAXED))
			return true;
	return false;
}

/* True if this was the last reference: the caller frees the object. */
static inline bool __must_check ref_put(refcount *r)
{
	int n = atomic_sub_return(&r->n, 1);

	if (unlikely(n < 0))
		panic("refcount %p: put once too often (%d)", (void *)r, n);
	return n == 0;
}

#endif
