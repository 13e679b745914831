/* SPDX-License-Identifier: MIT */
/* The kernel's <stdlib.h>: numbers, sorting and searching. There is no malloc here. */
#ifndef PERCH_LIBC_STDLIB_H
#define PERCH_LIBC_STDLIB_H

#include <stddef.h>

long strtol(const char *restrict s, char **restrict end, int base);
long long strtoll(const char *restrict s, char **restrict end, int base);
unsigned long strtoul(const char *restrict s, char **restrict end, int base);
unsigned long long strtoull(const char *restrict s, char **restrict end, int base);
int atoi(const char *s);

/* qsort sorts in place without allocating; its stack use is bounded by log2(n). */
void qsort(void *base, size_t n, size_t size, int (*cmp)(const void *, const void *));
void *bsearch(const void *key, const void *base, size_t n, size_t size,
	int (*cmp)(const void *, const void *));

static inline int abs(int i)
{
	return i < 0 ? -i : i;
}

#endif
