/* SPDX-License-Identifier: MIT */
/*
 * kmalloc: objects of a few sizes ("classes"), cut from single pages.
 *
 * A slab is one page of objects of one class; what describes it is in its struct page, so the
 * objects fill the page and power-of-two sizes are aligned to themselves. Free objects of a slab
 * are chained through their first word (page.slab_free). Slabs with free objects are on the
 * class's partial list; full ones are on none; empty ones go back to the page allocator.
 *
 * In front of that each CPU has a magazine per class: a chain of free objects that it alone uses
 * with interrupts off. Allocation and freeing touch nothing else as long as the magazine is
 * neither empty nor full; then half of it is exchanged with the slabs under the class's lock.
 *
 * Sizes above half a page are blocks of the page allocator.
 */
#include <perch/kasan.h>
#include <perch/page.h>
#include <perch/printk.h>
#include <perch/spinlock.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "internal.h"

#define MAX_SMALL	(PAGE_SIZE / 2)

static const u16 class_size[] = {
	16, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024, 1360, 2048
};
#define NR_CLASSES	ARRAY_SIZE(class_size)

static struct slab_class {
	spinlock lock;			/* irqsave */
	struct list partial;		/* slabs with free objects; lock */
} classes[NR_CLASSES];

static struct magazine {
	void *head;		/* own CPU, IRQs off */
	u32 n;			/* objects in it; the same */
	u32 limit;		/* immutable */
} magazines[NR_CPUS][16] __aligned(64);
_Static_assert(NR_CLASSES <= 16, "a power of two, for cheap indexing");

static u8 class_of[MAX_SMALL / 16 + 1];	/* by size in units of 16 bytes, rounded up; immutable */

void slab_init(void)
{
	u32 c = 0;

	for (u32 i = 0; i < NR_CLASSES; i++) {
		spin_init(&classes[i].lock);
		list_init(&classes[i].partial);
		for (u32 cpu = 0; cpu < NR_CPUS; cpu++)
			magazines[cpu][i].limit = clamp_t(u32, 8192 / class_size[i], 4, 64);
	}
	for (u32 i = 0; i < ARRAY_SIZE(class_of); i++) {
		if (i * 16 > class_size[c])
			c++;
		class_of[i] = c;
	}
}

static void **link_of(void *obj)
{
	return obj;
}

/* --- slabs: class lock held -------------------------------------------------------------------- */

static struct page *slab_new(u32 cls)
{
	struct page *p = page_alloc_raw(0);
	char *base;
	u32 size = class_size[cls];

	if (!p)
		return NULL;
	base = page_address(p);
	kasan_slab_new(base, size);
	p->slab_free = NULL;
	for (s32 off = (PAGE_SIZE / size - 1) * size; off >= 0; off -= size) {
		*link_of(base + off) = p->slab_free;
		p->slab_free = base + off;
	}
	p->slab_class = cls;
	p->slab_used = 0;
	p->flags = PG_SLAB;
	atomic_inc(&mem_stats.slab_pages);
	list_add(&p->node, &classes[cls].partial);
	return p;
}

static void *slab_take(u32 cls)
{
	struct slab_class *k = &classes[cls];
	struct page *p;
	void *obj;

	if (!list_empty(&k->partial))
		p = list_first(&k->partial, struct page, node);
	else if (!(p = slab_new(cls)))
		return NULL;
	obj = p->slab_free;
	p->slab_free = *link_of(obj);
	p->slab_used++;
	if (!p->slab_free)
		list_del(&p->node);
	return obj;
}

static void slab_give(u32 cls, void *obj)
{
	struct page *p = virt_to_page(obj);

	ASSERT(p->slab_used > 0);
	if (!p->slab_free)
		list_add(&p->node, &classes[cls].partial);
	*link_of(obj) = p->slab_free;
	p->slab_free = obj;
	if (--p->slab_used)
		return;
	list_del(&p->node);
	p->mapcount = 0;
	atomic_dec(&mem_stats.slab_pages);
	free_pages(p, 0);
}

/* --- magazines: IRQs off -------------------------------------------------------------------------- */

static inline struct magazine *my_magazine(u32 cls)
{
	return &magazines[cpu_id()][cls];
}

static inline void *magazine_take(struct magazine *m)
{
	void *obj = m->head;

	if (likely(obj)) {
		m->head = *link_of(obj);
		m->n--;
	}
	return obj;
}

static inline void magazine_put(struct magazine *m, void *obj)
{
	*link_of(obj) = m->head;
	m->head = obj;
	m->n++;
}

/* The slow ways, from and to the slabs: with interrupts as they are. */
static noinline void *take_filling(u32 cls)
{
	struct slab_class *k = &classes[cls];
	u64 flags = spin_lock_irqsave(&k->lock);
	struct magazine *m = my_magazine(cls);
	void *obj;

	while (m->n < (m->limit + 1) / 2 && (obj = slab_take(cls)))
		magazine_put(m, obj);
	obj = magazine_take(m);
	spin_unlock_irqrestore(&k->lock, flags);
	return obj;
}

static noinline void put_spilling(u32 cls, void *obj)
{
	struct slab_class *k = &classes[cls];
	u64 flags = spin_lock_irqsave(&k->lock);
	struct magazine *m = my_magazine(cls);

	while (m->n > m->limit / 2)
		slab_give(cls, magazine_take(m));
	magazine_put(m, obj);
	spin_unlock_irqrestore(&k->lock, flags);
}

static u32 class_for(size_t size)
{
	u32 cls = class_of[(size + KASAN_REDZONE + 15) / 16];

	/* Without a redzone, powers of two are aligned to themselves by nature. */
	if (KASAN_REDZONE && size && !(size & (size - 1)))
		while (class_size[cls] & (size - 1))
			cls++;
	return cls;
}

static inline void *small_alloc(u32 cls)
{
	u64 flags = irq_save();
	void *obj = magazine_take(my_magazine(cls));

	irq_restore(flags);
	return likely(obj) ? obj : take_filling(cls);
}

static inline void small_free(void *obj, u32 cls)
{
	u64 flags = irq_save();
	struct magazine *m = my_magazine(cls);
	bool room = m->n < m->limit;

	if (likely(room))
		magazine_put(m, obj);
	irq_restore(flags);
	if (unlikely(!room))
		put_spilling(cls, obj);
}

/* --- the interface ---------------------------------------------------------------------------------- */

static noinline void *large_alloc(size_t size)
{
	unsigned order = 0;
	struct page *p;

	while (order < 20 && PAGE_SIZE << order < size)
		order++;
	p = page_alloc_raw(order);
	if (!p)
		return NULL;
	kasan_large_alloc(page_address(p), size, PAGE_SIZE << order);
	return page_address(p);
}

static inline void *alloc(size_t size)
{
	if (likely(size <= MAX_SMALL - KASAN_REDZONE)) {
		u32 cls = class_for(size);
		void *obj = small_alloc(cls);

		if (likely(obj))
			kasan_slab_alloc(obj, size, class_size[cls]);
		return obj;
	}
	return large_alloc(size);
}

static noinline void *alloc_unless_failed(size_t size)
{
	return alloc_should_fail() ? NULL : alloc(size);
}

void *kmalloc(size_t size)
{
	return unlikely(alloc_may_fail()) ? alloc_unless_failed(size) : alloc(size);
}

void *kcalloc(size_t n, size_t size)
{
	size_t total;

	if (__builtin_mul_overflow(n, size, &total))
		return NULL;
	return kzalloc(total);
}

static noinline void large_free(void *ptr, struct page *p)
{
	kasan_large_free(ptr);
	ASSERT(!((u64)ptr & ~PAGE_MASK) && ref_read(&p->refs) == 1);
	free_pages(p, p->order);
}

void kfree(void *ptr)
{
	struct page *p;

	if (!ptr)
		return;
	p = virt_to_page(ptr);
	if (unlikely(!(p->flags & PG_SLAB))) {
		large_free(ptr, p);
		return;
	}
	ASSERT(!((u64)ptr & 15));	/* all sizes are multiples of 16 */
#ifdef PERCH_KASAN
	ASSERT(((u64)ptr & ~PAGE_MASK) % class_size[p->slab_class] == 0);
	ptr = kasan_slab_free(ptr, class_size[p->slab_class]);
	if (!ptr)
		return;
	p = virt_to_page(ptr);	/* another one, from the quarantine */
#endif
	small_free(ptr, p->slab_class);
}

void *kmalloc_slot(const void *ptr, u32 *size)
{
	u64 off = (u64)ptr & ~PAGE_MASK;

	*size = class_size[virt_to_page(ptr)->slab_class];
	return (char *)ptr - off % *size;
}

size_t ksize(const void *ptr)
{
	struct page *p = virt_to_page(ptr);

#ifdef PERCH_KASAN
	return kasan_usable(ptr, p->flags & PG_SLAB ? class_size[p->slab_class] : PAGE_SIZE << p->order);
#endif
	return p->flags & PG_SLAB ? class_size[p->slab_class] : PAGE_SIZE << p->order;
}

void *krealloc(void *ptr, size_t size)
{
	void *new;

	if (ptr && size && size <= ksize(ptr))
		return ptr;
	new = size ? kmalloc(size) : NULL;
	if (ptr && (new || !size)) {
		if (new)
			memcpy(new, ptr, ksize(ptr));
		kfree(ptr);
	}
	return new;
}

char *kstrdup(const char *s)
{
	size_t n = strlen(s) + 1;
	char *copy = kmalloc(n);

	return copy ? memcpy(copy, s, n) : NULL;
}

char *kasprintf(const char *fmt, ...)
{
	va_list ap;
	int n;
	char *s;

	va_start(ap, fmt);
	n = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	s = n < 0 ? NULL : kmalloc(n + 1);
	if (!s)
		return NULL;
	va_start(ap, fmt);
	vsnprintf(s, n + 1, fmt, ap);
	va_end(ap);
	return s;
}
