/* SPDX-License-Identifier: MIT */
/*
 * adjtimex and clock_adjtime: reading the state of the clock, stepping it, and keeping the values
 * that are only kept. The clock's rate is fixed here, so requests to slew or to change frequency or
 * tick are refused with EOPNOTSUPP instead of being accepted without effect.
 */
#include <perch/cred.h>
#include <perch/errno.h>
#include <perch/syscall.h>
#include <perch/uaccess.h>
#include <string.h>

#include "time.h"

#define ADJ_MAXERROR	0x0004
#define ADJ_ESTERROR	0x0008
#define ADJ_STATUS	0x0010
#define ADJ_TIMECONST	0x0020
#define ADJ_SETOFFSET	0x0100
#define ADJ_MICRO	0x1000
#define ADJ_NANO	0x2000
#define ADJ_OFFSET_SS_READ 0xa001	/* what is left of a slew: always nothing */
#define ADJ_SUPPORTED	(ADJ_MAXERROR | ADJ_ESTERROR | ADJ_STATUS | ADJ_TIMECONST | \
			 ADJ_SETOFFSET | ADJ_MICRO | ADJ_NANO)
#define STA_UNSYNC	0x0040
#define STA_NANO	0x2000
#define STA_SETTABLE	0x00ff
#define TIME_OK		0
#define TIME_ERROR	5

/* struct timex of the 64-bit ABI, adjtimex(2). */
struct timex_abi {
	u32 modes, pad0;
	s64 offset, freq, maxerror, esterror;
	s32 status, pad1;
	s64 constant, precision, tolerance;
	struct timeval64 time;
	s64 tick, ppsfreq, jitter;
	s32 shift, pad2;
	s64 stabil, jitcnt, calcnt, errcnt, stbcnt;
	s32 tai, pad3[11];
};
_Static_assert(sizeof(struct timex_abi) == 208, "struct timex is 208 bytes");

/* An unsynchronised kernel starts with 16 s of error, 500 ppm. The last writer wins. */
static struct { s64 maxerror, esterror, constant; s32 status; } state = {
	.maxerror = 16000000, .esterror = 16000000, .constant = 2, .status = STA_UNSYNC,
};

static long step(const struct timex_abi *t)
{
	s64 unit = t->modes & ADJ_NANO ? 1 : NSEC_PER_USEC;
	s64 ns;

	if (t->time.tv_usec < 0 || t->time.tv_usec >= NSEC_PER_SEC / unit)
		return -EINVAL;
	if (__builtin_mul_overflow(t->time.tv_sec, NSEC_PER_SEC, &ns) ||
	    __builtin_add_overflow(ns, t->time.tv_usec * unit, &ns) ||
	    __builtin_add_overflow(ns, clock_ns(CLOCK_REALTIME), &ns) || ns < ktime_now())
		return -EINVAL;
	realtime_set(ns);
	return 0;
}

static void store(const struct timex_abi *t)
{
	if (t->modes & ADJ_MAXERROR)
		state.maxerror = t->maxerror;
	if (t->modes & ADJ_ESTERROR)
		state.esterror = t->esterror;
	if (t->modes & ADJ_TIMECONST)
		state.constant = t->constant;
	if (t->modes & ADJ_STATUS)
		state.status = (state.status & STA_NANO) | (t->status & STA_SETTABLE);
	if (t->modes & ADJ_NANO)
		state.status |= STA_NANO;
	if (t->modes & ADJ_MICRO)
		state.status &= ~STA_NANO;
}

static void fill(struct timex_abi *t)
{
	struct timespec64 now = ktime_to_timespec(clock_ns(CLOCK_REALTIME));
	bool nano = state.status & STA_NANO;
	u32 modes = t->modes;

	memset(t, 0, sizeof(*t));
	t->modes = modes;
	t->maxerror = state.maxerror;
	t->esterror = state.esterror;
	t->status = state.status;
	t->constant = state.constant;
	t->precision = 1;
	t->tolerance = 500 << 16;
	t->tick = 1000000 / USER_HZ;
	t->time.tv_sec = now.tv_sec;
	t->time.tv_usec = nano ? now.tv_nsec : now.tv_nsec / NSEC_PER_USEC;
}

static long adjust(struct timex_abi *t)
{
	long err;

	if (t->modes != ADJ_OFFSET_SS_READ) {
		if (t->modes && !capable(CAP_SYS_TIME))
			return -EPERM;
		if (t->modes & ~ADJ_SUPPORTED)
			return -EOPNOTSUPP;
		err = t->modes & ADJ_SETOFFSET ? step(t) : 0;
		if (err)
			return err;
		store(t);
	}
	fill(t);
	return state.status & STA_UNSYNC ? TIME_ERROR : TIME_OK;
}

long sys_adjtimex(struct timex_abi __user *u)
{
	struct timex_abi t;
	long ret;

	if (get_user(t, u))
		return -EFAULT;
	ret = adjust(&t);
	if (ret < 0)
		return ret;
	return put_user(t, u) ? -EFAULT : ret;
}

long sys_clock_adjtime(int id, struct timex_abi __user *u)
{
	if (id == CLOCK_REALTIME)
		return sys_adjtimex(u);
	return clock_ns(id) < 0 ? -EINVAL : -EOPNOTSUPP;
}
