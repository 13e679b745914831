/* SPDX-License-Identifier: MIT */
/*
 * clock_gettime, gettimeofday and clock_getres in user mode: the virtual counter and the kernel's
 * data page. Clocks that need the kernel (CPU time, unknown ones) become the system call. Runs in
 * EL0: no kernel function may be called; the page is read under its sequence count.
 */
#include "../vdso.h"

#define EXPORT __attribute__((visibility("default")))
#define NR_CLOCK_GETTIME	113
#define NR_CLOCK_GETRES		114
#define COARSE_RES		TICK_NSEC

enum { REALTIME, MONOTONIC, PROCESS_CPUTIME, THREAD_CPUTIME, MONOTONIC_RAW, REALTIME_COARSE,
	MONOTONIC_COARSE, BOOTTIME, TAI = 11 };

struct timespec { s64 sec, nsec; };
struct timeval { s64 sec, usec; };
struct timezone { int minutes_west, dst; };

extern const struct vdso_data vdso_data_page __attribute__((visibility("hidden")));

int __kernel_clock_gettime(int clock, struct timespec *ts);
int __kernel_gettimeofday(struct timeval *tv, struct timezone *tz);
int __kernel_clock_getres(int clock, struct timespec *res);

static long syscall2(long nr, long a, void *b)
{
	register long x8 __asm__("x8") = nr;
	register long x0 __asm__("x0") = a;
	register void *x1 __asm__("x1") = b;

	__asm__ volatile("svc #0" : "+r"(x0) : "r"(x8), "r"(x1) : "memory");
	return x0;
}

/* Nanoseconds since boot, and the offset of real time that belongs to the same moment. */
static u64 read_clock(s64 *realtime)
{
	const struct vdso_data *d = &vdso_data_page;
	u64 ns, cnt;
	u32 seq;

	do {
		while ((seq = __atomic_load_n(&d->seq, __ATOMIC_ACQUIRE)) & 1)
			;
		__asm__ volatile("isb\n\tmrs %0, cntvct_el0" : "=r"(cnt) :: "memory");
		ns = (u64)((unsigned __int128)cnt * d->mult >> d->shift);
		*realtime = d->realtime;
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
	} while (__atomic_load_n(&d->seq, __ATOMIC_RELAXED) != seq);
	return ns;
}

EXPORT int __kernel_clock_gettime(int clock, struct timespec *ts)
{
	s64 realtime;
	u64 ns;

	switch (clock) {
	case REALTIME:
	case REALTIME_COARSE:
	case TAI:
		ns = read_clock(&realtime);
		ns += (u64)realtime;
		break;
	case MONOTONIC:
	case MONOTONIC_RAW:
	case MONOTONIC_COARSE:
	case BOOTTIME:
		ns = read_clock(&realtime);
		break;
	default:
		return (int)syscall2(NR_CLOCK_GETTIME, clock, ts);
	}
	ts->sec = (s64)(ns / (u64)NSEC_PER_SEC);
	ts->nsec = (s64)(ns % (u64)NSEC_PER_SEC);
	return 0;
}

EXPORT int __kernel_gettimeofday(struct timeval *tv, struct timezone *tz)
{
	if (tv) {
		s64 realtime;
		u64 ns = read_clock(&realtime) + (u64)realtime;

		tv->sec = (s64)(ns / (u64)NSEC_PER_SEC);
		tv->usec = (s64)(ns % (u64)NSEC_PER_SEC) / NSEC_PER_USEC;
	}
	if (tz)
		tz->minutes_west = tz->dst = 0;
	return 0;
}

EXPORT int __kernel_clock_getres(int clock, struct timespec *res)
{
	s64 ns;

	switch (clock) {
	case REALTIME:
	case MONOTONIC:
	case MONOTONIC_RAW:
	case BOOTTIME:
	case TAI:
		ns = 1;
		break;
	case REALTIME_COARSE:
	case MONOTONIC_COARSE:
		ns = COARSE_RES;
		break;
	default:
		return (int)syscall2(NR_CLOCK_GETRES, clock, res);
	}
	if (res) {
		res->sec = 0;
		res->nsec = ns;
	}
	return 0;
}
