/* SPDX-License-Identifier: MIT */
/* The kernel's <stdio.h>: formatting into buffers. Integers, strings, %p and %c; no floating point, no FILE. */
#ifndef PERCH_LIBC_STDIO_H
#define PERCH_LIBC_STDIO_H

#include <stdarg.h>
#include <stddef.h>

/* Both write at most n bytes with the NUL and return the length that the whole text has. */
int snprintf(char *restrict s, size_t n, const char *restrict fmt, ...)
	__attribute__((format(printf, 3, 4)));
int vsnprintf(char *restrict s, size_t n, const char *restrict fmt, va_list ap)
	__attribute__((format(printf, 3, 0)));

#endif
