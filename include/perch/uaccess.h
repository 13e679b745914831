/* SPDX-License-Identifier: MIT */
/*
 * The only way to user memory. Each call checks the range against USER_MAX and recovers from
 * faults through the exception table. Process context with no spinlock held and mm->lock not
 * held, because a fault may sleep; except the _nofault form, which fails instead of handling a
 * fault and may be used with IRQs off and in interrupts.
 */
#ifndef PERCH_UACCESS_H
#define PERCH_UACCESS_H

#include <perch/errno.h>
#include <perch/types.h>

/* Number of bytes NOT copied (0: all). */
size_t __must_check copy_from_user(void *dst, const void __user *src, size_t n);
size_t __must_check copy_to_user(void __user *dst, const void *src, size_t n);
size_t __must_check clear_user(void __user *dst, size_t n);
/* Length without the NUL, or -EFAULT; n if there is no NUL within n bytes. */
long strncpy_from_user(char *dst, const char __user *src, size_t n);
long strnlen_user(const char __user *s, size_t n);
size_t __must_check copy_from_user_nofault(void *dst, const void __user *src, size_t n);
/* Atomic compare and exchange on a user word; 0 or -EFAULT; *old is what was there. */
int cmpxchg_user32(u32 __user *p, u32 *old, u32 expected, u32 new);
/* Make sure a page of user memory can be written before taking locks: 0 or -EFAULT. */
int fault_in_writeable(void __user *p, size_t n);

#ifdef PERCH_LOCKCHECK	/* each call checks that it may sleep, and the kernel's side of the copy */
#include <perch/debug.h>
#include <perch/kasan.h>
#include <perch/lockcheck.h>
#define user_copy_pc()	({ u64 _pc; __asm__("adr %0, ." : "=r"(_pc)); _pc; })
#define copy_from_user(d, s, n) ({						\
	void *_d = (d);								\
	size_t _n = (n);							\
	might_fault();								\
	kasan_check(_d, _n, true);						\
	_n && fail_step(FAIL_USER_COPY, user_copy_pc()) ? _n : (copy_from_user)(_d, s, _n); })
#define copy_to_user(d, s, n) ({						\
	const void *_s = (s);							\
	size_t _n = (n);							\
	might_fault();								\
	kasan_check(_s, _n, false);						\
	_n && fail_step(FAIL_USER_COPY, user_copy_pc()) ? _n : (copy_to_user)(d, _s, _n); })
#define clear_user(d, n) ({							\
	size_t _n = (n);							\
	might_fault();								\
	_n && fail_step(FAIL_USER_COPY, user_copy_pc()) ? _n : (clear_user)(d, _n); })
#define strncpy_from_user(d, s, n) ({						\
	char *_d = (d);								\
	size_t _n = (n);							\
	might_fault();								\
	kasan_check(_d, _n, true);						\
	fail_step(FAIL_USER_COPY, user_copy_pc()) ? -EFAULT : (strncpy_from_user)(_d, s, _n); })
#define strnlen_user(s, n)		({ might_fault(); (strnlen_user)(s, n); })
#endif

#define get_user(x, p)	(copy_from_user(&(x), (p), sizeof(*(p))) ? -EFAULT : 0)
#define put_user(x, p) ({							\
	__typeof__(*(p)) _v = (x);						\
	copy_to_user((p), &_v, sizeof(_v)) ? -EFAULT : 0; })

static inline bool access_ok(const void __user *p, size_t n)
{
	return n <= 0x0001000000000000UL && (u64)p <= 0x0001000000000000UL - n;
}

#endif
