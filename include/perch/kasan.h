/* SPDX-License-Identifier: MIT */
/*
 * The address checker of DEBUG builds (kernel/debug/kasan.c has the theory): what kmalloc and the page
 * allocator tell it. In other builds everything here is nothing.
 */
#ifndef PERCH_KASAN_H
#define PERCH_KASAN_H

#include <perch/types.h>

struct page;
#ifdef PERCH_KASAN

/* At the end of every kmalloc slot: not the user's, who allocated and who freed it. */
#define KASAN_REDZONE	96

/* Boot: shadow bytes for [start, end) page frames, in npages zeroed pages at shadow. */
u64 kasan_shadow_pages(u64 start_pfn, u64 end_pfn);
void kasan_init(u64 start_pfn, u64 end_pfn, void *shadow);

/* 2^order pages were given out; may be used. Panics if somebody wrote into them since. */
void kasan_pages_alloc(struct page *p, unsigned order);
void kasan_pages_free(struct page *p, unsigned order);
void kasan_pages_boot(struct page *p, unsigned order);	/* free, never used before */
/* A new page of free slots of a class. */
void kasan_slab_new(void *base, u32 slot);
/* A slot of slot bytes becomes an object of size bytes. */
void kasan_slab_alloc(void *obj, size_t size, u32 slot);
/* It ends (panics if it is none). The slot to free now in its place, the oldest of the quarantine, or NULL. */
void *kasan_slab_free(void *obj, u32 slot);
/* A large object of size bytes in a block of pages. */
void kasan_large_alloc(void *obj, size_t size, size_t block);
void kasan_large_free(void *obj);
/* Bytes from p on that may be used, at most max. */
size_t kasan_usable(const void *p, size_t max);

/* Panic unless [p, p + n) may be read / written: for code that the compiler does not check. */
void kasan_check(const void *p, size_t n, bool write);

#else

#define KASAN_REDZONE	0
static inline void kasan_pages_alloc(struct page *p, unsigned order) { }
static inline void kasan_pages_free(struct page *p, unsigned order) { }
static inline void kasan_pages_boot(struct page *p, unsigned order) { }
static inline void kasan_slab_new(void *base, u32 slot) { }
static inline void kasan_slab_alloc(void *obj, size_t size, u32 slot) { }
static inline void *kasan_slab_free(void *obj, u32 slot) { return obj; }
static inline void kasan_large_alloc(void *obj, size_t size, size_t block) { }
static inline void kasan_large_free(void *obj) { }
static inline void kasan_check(const void *p, size_t n, bool write) { }

#endif
#endif
