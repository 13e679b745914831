/* SPDX-License-Identifier: MIT */
/*
 * The address checker: use after free, double free and use outside of what was allocated.
 *
 * Each 8 bytes of RAM have a shadow byte: 0 all usable, 1..7 so many from the start, else the reason why
 * none is. The compiler (-fsanitize=kernel-address) calls a function here before every load and store;
 * addresses outside of the linear map (the image, devices) pass. kmalloc and the page allocator keep
 * the shadow right:
 *
 *   a slot of kmalloc	[object ... size][redzone, at its end struct note: who allocated, who freed]
 *   freed objects	wait in a quarantine of each CPU until QUARANTINE more were freed there
 *   freed memory	is filled with POISON and looked at when it is given out again: what the compiler
 *			does not see (assembly, user pages behind a stale TLB entry) shows up then
 *
 * mem*() of the C library are wrapped by the linker (--wrap), because the library is not compiled so.
 * This file, the allocators and the lock checker are not instrumented.
 */
#include <perch/boot.h>
#include <perch/cpu.h>
#include <perch/kasan.h>
#include <perch/page.h>
#include <perch/printk.h>
#include <string.h>

#include "debug.h"

#define REDZONE		0xfa
#define FREED		0xfb
#define FREE_PAGE	0xfc	/* and filled with POISON */
#define FRESH_PAGE	0xfd	/* never given out yet: not filled, which would cost the whole memory */
#define POISON		0x6b
#define POISON_WORD	0x6b6b6b6b6b6b6b6bUL
#define QUARANTINE	128	/* objects, each CPU */
#define NOTE_TRACE	6

struct note {
	u64 allocated[NOTE_TRACE], freed[NOTE_TRACE];
};
_Static_assert(sizeof(struct note) == KASAN_REDZONE, "the note is the redzone");

static u8 *shadow;		/* immutable after boot; NULL: not yet, or a panic is on */
static u64 base, span;		/* linear addresses that have a shadow; immutable */

static struct {
	void *obj[QUARANTINE];	/* own CPU, IRQs off */
	u32 next;
} quarantine[NR_CPUS];

u64 kasan_shadow_pages(u64 start_pfn, u64 end_pfn)
{
	return DIV_ROUND_UP(end_pfn - start_pfn, 8);
}

void kasan_init(u64 start_pfn, u64 end_pfn, void *mem)
{
	base = PAGE_OFFSET + (start_pfn << PAGE_SHIFT);
	span = (end_pfn - start_pfn) << PAGE_SHIFT;
	memset(mem, 0, span / 8);
	shadow = mem;
}

/* --- reports ----------------------------------------------------------------------------------------- */

static const char *reason(u8 s)
{
	switch (s) {
	case FREED:
		return "use after free";
	case FREE_PAGE:
	case FRESH_PAGE:
		return "use of a free page";
	default:
		return "out of bounds";
	}
}

static void show_trace(const char *what, const u64 *pc)
{
	char where[128];

	pr_err(" %s\n", what);
	for (u32 i = 0; i < NOTE_TRACE && pc[i]; i++)
		pr_err("      %s\n", ksym_format(pc[i], where, sizeof(where)));
}

static struct note *note_of(void *obj, u32 slot)
{
	return (struct note *)((char *)obj + slot - sizeof(struct note));
}

static void show_object(u64 addr)
{
	struct page *p = virt_to_page((void *)addr);
	u32 slot, offset;
	char *obj;

	if (!(p->flags & PG_SLAB)) {
		pr_err(" page %p flags %#x order %u refs %d\n", page_address(p), p->flags, p->order,
		       ref_read(&p->refs));
		return;
	}
	obj = kmalloc_slot((void *)addr, &slot);
	offset = (u32)(addr - (u64)obj);
	pr_err(" byte %u of the slot at %p of %u bytes, %zu of them usable\n", offset, obj, slot,
	       kasan_usable(obj, slot));
	show_trace("allocated by", note_of(obj, slot)->allocated);
	show_trace("freed by", note_of(obj, slot)->freed);
}

static noinline void report(u64 addr, size_t n, bool write, u8 s)
{
	u8 *sh = shadow;

	shadow = NULL;
	pr_err("KASAN: %s: %s of %zu bytes at %#lx\n", reason(s), write ? "write" : "read", n,
	       (unsigned long)addr);
	shadow = sh;
	show_object(addr);
	shadow = NULL;
	panic("KASAN: %s", reason(s));
}

/* --- checks ------------------------------------------------------------------------------------------- */

/* The first byte of [off, off + n) that may not be used, or n. */
static u64 first_bad(u64 off, size_t n)
{
	for (u64 i = 0; i < n; i = ALIGN_DOWN(off + i, 8) + 8 - off) {
		u8 s = shadow[(off + i) >> 3];
		u64 here = (off + i) & 7, last = min(here + (n - i) - 1, 7UL);

		if (s && (s >= 8 || last >= s))
			return s >= 8 || here >= s ? i : i + (s - here);
	}
	return n;
}

static inline void check(u64 addr, size_t n, bool write)
{
	u64 off = addr - base, bad;

	if (off >= span || !shadow)
		return;
	if (n <= 8 && likely(!shadow[off >> 3] && !shadow[(off + n - 1) >> 3]))
		return;
	bad = first_bad(off, n);
	if (unlikely(bad < n))
		report(addr + bad, n, write, shadow[(off + bad) >> 3]);
}

void kasan_check(const void *p, size_t n, bool write)
{
	if (n)
		check((u64)p, n, write);
}

#define SIZED(n)								\
	void __asan_load##n##_noabort(u64 a); void __asan_store##n##_noabort(u64 a);	\
	void __asan_load##n##_noabort(u64 a) { check(a, n, false); }		\
	void __asan_store##n##_noabort(u64 a) { check(a, n, true); }
SIZED(1)
SIZED(2)
SIZED(4)
SIZED(8)
SIZED(16)
void __asan_loadN_noabort(u64 a, size_t n);
void __asan_storeN_noabort(u64 a, size_t n);
void __asan_handle_no_return(void);
void __asan_loadN_noabort(u64 a, size_t n) { kasan_check((void *)a, n, false); }
void __asan_storeN_noabort(u64 a, size_t n) { kasan_check((void *)a, n, true); }
void __asan_handle_no_return(void) { }

void *__real_memcpy(void *d, const void *s, size_t n);
void *__real_memmove(void *d, const void *s, size_t n);
void *__real_memset(void *d, int c, size_t n);
void *__wrap_memcpy(void *d, const void *s, size_t n);
void *__wrap_memmove(void *d, const void *s, size_t n);
void *__wrap_memset(void *d, int c, size_t n);

void *__wrap_memcpy(void *d, const void *s, size_t n)
{
	kasan_check(s, n, false);
	kasan_check(d, n, true);
	return __real_memcpy(d, s, n);
}

void *__wrap_memmove(void *d, const void *s, size_t n)
{
	kasan_check(s, n, false);
	kasan_check(d, n, true);
	return __real_memmove(d, s, n);
}

void *__wrap_memset(void *d, int c, size_t n)
{
	kasan_check(d, n, true);
	return __real_memset(d, c, n);
}

/* --- the shadow ----------------------------------------------------------------------------------------- */

/* p is 8-byte aligned; n may be anything. */
static void set_shadow(const void *p, size_t n, u8 s)
{
	u64 off = (u64)p - base;

	if (shadow && off < span)
		__real_memset(&shadow[off >> 3], s, DIV_ROUND_UP(n, 8));
}

static void allow(const void *p, size_t n)
{
	set_shadow(p, n, 0);
	if (n & 7)
		set_shadow((const char *)p + (n & ~7UL), 8, n & 7);
}

size_t kasan_usable(const void *p, size_t max)
{
	return shadow ? first_bad((u64)p - base, max) : max;
}

static void fill(void *p, size_t n)
{
	__real_memset(p, POISON, n);
}

static void check_fill(void *p, size_t from, size_t n, const char *what)
{
	u64 *w = p;

	for (size_t i = from / 8; i < n / 8; i++)
		if (unlikely(w[i] != POISON_WORD)) {
			pr_err("KASAN: %s at %p: word %zu is %#lx\n", what, p, i, (unsigned long)w[i]);
			show_object((u64)p);
			panic("KASAN: %s was written to while it was free", what);
		}
}

/* --- the allocators --------------------------------------------------------------------------------------- */

static u8 shadow_of(const void *p)
{
	return shadow[((u64)p - base) >> 3];
}

static void bad_free(void *obj)
{
	u8 s = shadow_of(obj);

	pr_err("KASAN: free of %p, which is no object\n", obj);
	show_object((u64)obj);
	shadow = NULL;
	panic(s >= FREED ? "KASAN: double free" : "KASAN: bad free");
}

void kasan_pages_alloc(struct page *p, unsigned order)
{
	char *mem = page_address(p);

	live_pages(1 << order);
	if (!shadow)
		return;
	for (u64 off = 0; off < PAGE_SIZE << order; off += PAGE_SIZE)
		if (shadow_of(mem + off) == FREE_PAGE)
			check_fill(mem + off, 0, PAGE_SIZE, "a page");
	allow(mem, PAGE_SIZE << order);
}

void kasan_pages_free(struct page *p, unsigned order)
{
	void *mem = page_address(p);

	live_pages(-(1 << order));
	if (!shadow)
		return;
	if (unlikely(shadow_of(mem) >= FREE_PAGE))
		bad_free(mem);
	fill(mem, PAGE_SIZE << order);
	set_shadow(mem, PAGE_SIZE << order, FREE_PAGE);
}

void kasan_pages_boot(struct page *p, unsigned order)
{
	set_shadow(page_address(p), PAGE_SIZE << order, FRESH_PAGE);
}

void kasan_slab_new(void *mem, u32 slot)
{
	fill(mem, PAGE_SIZE);
	set_shadow(mem, PAGE_SIZE, REDZONE);
	for (u32 off = 0; off + slot <= PAGE_SIZE; off += slot)
		__real_memset(note_of((char *)mem + off, slot), 0, sizeof(struct note));
}

static void note_trace(u64 *pc)
{
	u64 all[NOTE_TRACE + 2] = { 0 };

	if (current)
		arch_stack_trace(current, all, NOTE_TRACE + 2);
	__real_memcpy(pc, all + 2, NOTE_TRACE * sizeof(*pc));
}

void kasan_slab_alloc(void *obj, size_t size, u32 slot)
{
	struct note *n = note_of(obj, slot);

	live_object(1);
	/* The first word was the allocator's chain. */
	check_fill(obj, 8, slot - sizeof(*n), "an object");
	note_trace(n->allocated);
	n->freed[0] = 0;
	allow(obj, size);
	set_shadow((char *)obj + ALIGN_UP(size, 8), slot - ALIGN_UP(size, 8), REDZONE);
}

void *kasan_slab_free(void *obj, u32 slot)
{
	u64 flags;
	void *old;

	live_object(-1);
	if (!shadow)
		return obj;
	if (unlikely(!kasan_usable(obj, 1)))
		bad_free(obj);
	note_trace(note_of(obj, slot)->freed);
	set_shadow(obj, slot, FREED);
	fill(obj, slot - sizeof(struct note));
	flags = irq_save();
	old = quarantine[cpu_id()].obj[quarantine[cpu_id()].next % QUARANTINE];
	quarantine[cpu_id()].obj[quarantine[cpu_id()].next++ % QUARANTINE] = obj;
	irq_restore(flags);
	return old;
}

void kasan_large_alloc(void *obj, size_t size, size_t block)
{
	allow(obj, size);
	set_shadow((char *)obj + ALIGN_UP(size, 8), block - ALIGN_UP(size, 8), REDZONE);
}

void kasan_large_free(void *obj)
{
	if (shadow && unlikely(!kasan_usable(obj, 1)))
		bad_free(obj);
}
