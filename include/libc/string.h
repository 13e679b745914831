/* SPDX-License-Identifier: MIT */
/*
 * The part of <string.h> that the kernel links (picolibc, built without SIMD registers).
 * These headers are the project's own so that no C library type or errno number leaks into kernel code.
 */
#ifndef PERCH_LIBC_STRING_H
#define PERCH_LIBC_STRING_H

#include <stddef.h>

void *memcpy(void *restrict dst, const void *restrict src, size_t n);
void *memmove(void *dst, const void *src, size_t n);
void *memset(void *dst, int c, size_t n);
int memcmp(const void *a, const void *b, size_t n);
void *memchr(const void *s, int c, size_t n);
void *memrchr(const void *s, int c, size_t n);
void *memmem(const void *hay, size_t hlen, const void *needle, size_t nlen);
void *mempcpy(void *restrict dst, const void *restrict src, size_t n);

size_t strlen(const char *s);
size_t strnlen(const char *s, size_t max);
int strcmp(const char *a, const char *b);
int strncmp(const char *a, const char *b, size_t n);
int strcasecmp(const char *a, const char *b);
int strncasecmp(const char *a, const char *b, size_t n);
char *strcpy(char *restrict dst, const char *restrict src);
char *strncpy(char *restrict dst, const char *restrict src, size_t n);
char *stpcpy(char *restrict dst, const char *restrict src);
char *strcat(char *restrict dst, const char *restrict src);
char *strncat(char *restrict dst, const char *restrict src, size_t n);
size_t strlcpy(char *restrict dst, const char *restrict src, size_t size);
size_t strlcat(char *restrict dst, const char *restrict src, size_t size);
char *strchr(const char *s, int c);
char *strrchr(const char *s, int c);
char *strchrnul(const char *s, int c);
char *strstr(const char *hay, const char *needle);
size_t strspn(const char *s, const char *accept);
size_t strcspn(const char *s, const char *reject);
char *strpbrk(const char *s, const char *accept);
char *strsep(char **restrict s, const char *restrict delim);
char *strtok_r(char *restrict s, const char *restrict delim, char **restrict save);

/* -ffreestanding takes these names' meaning from the compiler. With it, short ones of known length need no
 * call. */
#define memcpy(dst, src, n)	__builtin_memcpy(dst, src, n)
#define memset(dst, c, n)	__builtin_memset(dst, c, n)
#define memcmp(a, b, n)		__builtin_memcmp(a, b, n)
#define strlen(s)		__builtin_strlen(s)

#endif
