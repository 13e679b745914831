/* SPDX-License-Identifier: MIT */
#ifndef PERCH_LIBC_LIMITS_H
#define PERCH_LIBC_LIMITS_H

#define CHAR_BIT  8
#define SCHAR_MAX 127
#define SCHAR_MIN (-128)
#define UCHAR_MAX 255
#define CHAR_MIN  0 /* char is unsigned on arm64 */
#define CHAR_MAX  255
#define SHRT_MAX  0x7fff
#define SHRT_MIN  (-SHRT_MAX - 1)
#define USHRT_MAX 0xffff
#define INT_MAX	  __INT_MAX__
#define INT_MIN	  (-INT_MAX - 1)
#define UINT_MAX  (INT_MAX * 2U + 1U)
#define LONG_MAX  __LONG_MAX__
#define LONG_MIN  (-LONG_MAX - 1L)
#define ULONG_MAX (LONG_MAX * 2UL + 1UL)
#define LLONG_MAX __LONG_LONG_MAX__
#define LLONG_MIN (-LLONG_MAX - 1LL)
#define ULLONG_MAX (LLONG_MAX * 2ULL + 1ULL)

#endif
