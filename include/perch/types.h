/* SPDX-License-Identifier: MIT */
/*
 * Basic types and small compile-time helpers. Everything includes this; it includes
 * nothing of the kernel.
 */
#ifndef PERCH_TYPES_H
#define PERCH_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int8_t s8;
typedef int16_t s16;
typedef int32_t s32;
typedef int64_t s64;
#ifndef __ssize_t_defined
#ifndef _SSIZE_T_DECLARED
typedef long ssize_t;
#define _SSIZE_T_DECLARED
#define __ssize_t_defined
#endif
#endif
typedef s64 loff;	/* file offset in bytes */
typedef u64 paddr;	/* physical address */
typedef u64 uaddr;	/* user virtual address, never dereferenced directly */
typedef s64 ktime;	/* nanoseconds of CLOCK_MONOTONIC */

#define __user		/* marks a pointer into user space: only uaccess.h may follow it */
#define __weak		__attribute__((weak))
#define __packed	__attribute__((packed))
#define __aligned(n)	__attribute__((aligned(n)))
#define __noreturn	__attribute__((noreturn))
#define __printf(f, a)	__attribute__((format(printf, f, a)))
#define __section(s)	__attribute__((section(s)))
#define __used		__attribute__((used))
#define __must_check	__attribute__((warn_unused_result))
#define noinline	__attribute__((noinline))
#define likely(x)	__builtin_expect(!!(x), 1)
#define unlikely(x)	__builtin_expect(!!(x), 0)
#define barrier()	__asm__ volatile("" ::: "memory")

#define READ_ONCE(x)		(*(const volatile __typeof__(x) *)&(x))
#define WRITE_ONCE(x, v)	(*(volatile __typeof__(x) *)&(x) = (v))

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))
#define BIT(n)		(1ULL << (n))
#define ALIGN_UP(x, a)	(((x) + ((__typeof__(x))(a) - 1)) & ~((__typeof__(x))(a) - 1))
#define ALIGN_DOWN(x, a) ((x) & ~((__typeof__(x))(a) - 1))
#define IS_ALIGNED(x, a) (((x) & ((__typeof__(x))(a) - 1)) == 0)
#define DIV_ROUND_UP(n, d) (((n) + (d) - 1) / (d))
#define container_of(p, type, member) ((type *)((char *)(p) - offsetof(type, member)))

#define min(a, b) ({ __typeof__(a) _a = (a); __typeof__(b) _b = (b); _a < _b ? _a : _b; })
#define max(a, b) ({ __typeof__(a) _a = (a); __typeof__(b) _b = (b); _a > _b ? _a : _b; })
#define min_t(t, a, b) ({ t _a = (a); t _b = (b); _a < _b ? _a : _b; })
#define max_t(t, a, b) ({ t _a = (a); t _b = (b); _a > _b ? _a : _b; })
#define clamp_t(t, v, lo, hi) min_t(t, max_t(t, v, lo), hi)

/* Errors in pointers: the last 4095 addresses can never be objects. */
#define MAX_ERRNO 4095
static inline void *ERR_PTR(long err) { return (void *)err; }
static inline long PTR_ERR(const void *p) { return (long)p; }
static inline bool IS_ERR(const void *p) { return (unsigned long)p >= (unsigned long)-MAX_ERRNO; }
static inline bool IS_ERR_OR_NULL(const void *p) { return !p || IS_ERR(p); }

#define NSEC_PER_SEC	1000000000LL
#define NSEC_PER_MSEC	1000000LL
#define NSEC_PER_USEC	1000LL

#define HZ		250	/* the tick, an ABI fact for perf (DESIGN 4) */
#define TICK_NSEC	(NSEC_PER_SEC / HZ)
#define USER_HZ		100	/* what times() and /proc report in */

#define NR_CPUS		8

#define PAGE_SHIFT	12
#define PAGE_SIZE	(1UL << PAGE_SHIFT)
#define PAGE_MASK	(~(PAGE_SIZE - 1))

#endif
