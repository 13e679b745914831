/* SPDX-License-Identifier: MIT */
/*
 * Physical pages: one struct page for each page frame of RAM, a buddy allocator over them and
 * kmalloc above it. All RAM is in the linear map, so a page always has a kernel address.
 */
#ifndef PERCH_PAGE_H
#define PERCH_PAGE_H

#include <perch/atomic.h>
#include <perch/list.h>
#include <perch/types.h>
#include <string.h>

struct inode;
struct page {
	union {
		struct {
			refcount refs;	/* 0: free. Mappings and page caches each hold one */
			union {
				u32 mapcount;	/* user page-table entries that map it (atomic) */
				u32 slab_used;	/* kmalloc private: objects not on slab_free */
			};
		};
		u64 owners;	/* both as one number, for page_map */
	};
	u8 order;		/* of the block this page heads (free or allocated) */
	u8 flags;		/* PG_x; atomic_or/atomic_and once others know the page */
	u16 slab_class;		/* kmalloc private */
	struct list node;	/* free lists, kmalloc's partial lists, owner's lists */
	union {
		void *priv;	/* owner's */
		void *slab_free; /* kmalloc private */
		u64 used;	/* page tables: groups of entries that may be in use */
	};
};
_Static_assert(sizeof(struct page) == 40, "mem_map costs 1 % of memory");
#define PG_FREE		0x01	/* in a buddy free list */
#define PG_SLAB		0x02
#define PG_RESERVED	0x04	/* kernel image, firmware: never freed */
#define PG_CACHE	0x08	/* belongs to a file: accounted as shmem, not anonymous */
#define PG_KERNEL	0x10	/* kernel owns it and maps it to users (perf rings, vvar) */
#define PG_ANON		0x20	/* private memory of user processes */
#define PG_ISYNC	0x40	/* the instruction cache agrees with it: whoever writes into a page that may
				 * be mapped executable clears it (atomic_and) */
#define PG_PREPARED	0x80	/* a file's page that fallocate made: it may go again if nobody has used it */

/* What a page that a program maps is counted as. */
enum page_kind { PAGE_FILE, PAGE_SHMEM, PAGE_ANON, NR_PAGE_KINDS };
static inline enum page_kind page_kind(const struct page *p)
{
	return p->flags & PG_ANON ? PAGE_ANON : p->flags & PG_CACHE ? PAGE_SHMEM : PAGE_FILE;
}

extern struct page *mem_map;	/* index: pfn - min_pfn */
extern u64 page_zero;		/* where the struct page of frame 0 is, or would be */
extern u64 min_pfn, max_pfn;

#ifndef PAGE_OFFSET	/* tests/host-mm has its own */
#define PAGE_OFFSET 0xffff000000000000UL	/* linear map: virt = phys + PAGE_OFFSET */
#endif
static inline void *phys_to_virt(paddr p) { return (void *)(p + PAGE_OFFSET); }
static inline paddr virt_to_phys(const void *v) { return (u64)v - PAGE_OFFSET; } /* linear map only */
static inline struct page *pfn_to_page(u64 pfn) { return (struct page *)(page_zero + pfn * sizeof(struct page)); }
static inline u64 page_to_pfn(const struct page *p) { return ((u64)p - page_zero) / sizeof(*p); }
static inline paddr page_to_phys(const struct page *p) { return page_to_pfn(p) << PAGE_SHIFT; }
static inline struct page *phys_to_page(paddr p) { return pfn_to_page(p >> PAGE_SHIFT); }
static inline void *page_address(const struct page *p) { return phys_to_virt(page_to_phys(p)); }
static inline struct page *virt_to_page(const void *v) { return phys_to_page(virt_to_phys(v)); }
static inline bool phys_is_ram(paddr p)
{
	return (p >> PAGE_SHIFT) >= min_pfn && (p >> PAGE_SHIFT) < max_pfn;
}

/* Allocate 2^order pages, refs 1 in the first. Contents undefined; the z form zeroes. NULL when
 * memory is out. Any context (spinlock with IRQs off inside). The _user form fails earlier, to
 * keep a reserve for the kernel, and may run the OOM killer (process context, may sleep, no
 * spinlock held): for everything a user program can pile up: its own pages, file contents. */
struct page *alloc_pages(unsigned order);
struct page *alloc_zpages(unsigned order);
struct page *alloc_page_user(void);	/* one page, not zeroed */
void free_pages(struct page *p, unsigned order);	/* ignores refs */
void free_zpage(struct page *p);	/* one page that contains only zeros: alloc_zpage is glad to have it */
static inline struct page *alloc_page(void) { return alloc_pages(0); }
struct page *alloc_zpage(void);
/* Reference-counted single pages: the last put frees. */
static inline void page_get(struct page *p) { ref_get(&p->refs); }
void page_free_last(struct page *p);
static inline void page_put(struct page *p)
{
	if (ref_put(&p->refs))
		page_free_last(p);
}

/* An entry of a page table and the reference it holds come and go together: one atomic step for both counts. */
#define PAGE_MAPPING	(1UL << 32 | 1)
/* The page has an owner who stays while this runs. */
static inline void page_map(struct page *p)
{
	u32 refs = (u32)__atomic_fetch_add(&p->owners, PAGE_MAPPING, __ATOMIC_RELAXED);

	if (unlikely(refs - 1 >= REF_MAX))
		panic("page %p: mapped with %d references", (void *)p, (int)refs);
}
static inline void page_unmap(struct page *p)
{
	int refs = (int)atomic_sub_return(&p->owners, PAGE_MAPPING);

	if (unlikely(refs < 0))
		panic("page %p: unmapped once too often", (void *)p);
	if (unlikely(!refs))
		page_free_last(p);
}

/* Small objects, 16-byte aligned (power-of-two sizes >= 16 are size-aligned). Sizes above half a
 * page come from whole pages. Any context. kfree(NULL) is fine. */
void *kmalloc(size_t size);
static inline void *kzalloc(size_t size)
{
	void *p = kmalloc(size);

	if (likely(p))
		memset(p, 0, size);
	return p;
}
void *kcalloc(size_t n, size_t size);	/* NULL also when n*size overflows */
void *krealloc(void *p, size_t size);
void kfree(void *p);
size_t ksize(const void *p);
void *kmalloc_slot(const void *p, u32 *size);	/* for reports: the slot of a PG_SLAB page that p points into */
char *kstrdup(const char *s);
__printf(1, 2) char *kasprintf(const char *fmt, ...);

/*
 * Looks at pages of a file: pages[0..n) are those first, first + 1... behind the index that was asked for, NULL where
 * there is none. A spinlock of the file is held, so they stay; fn does not sleep and takes no lock but pt_lock.
 */
typedef void page_run_fn(void *arg, u32 first, struct page *const *pages, u32 n);

struct mem_stats {
	u64 total_pages, free_pages, slab_pages, anon_pages, shmem_pages, pagetable_pages, stack_pages;
};
extern struct mem_stats mem_stats;	/* atomic counters */

struct mem_range { paddr base; u64 size; };
/* Boot: hand ranges of RAM to the allocator; called by arch with the device tree's memory and
 * everything in use (image, initrd, dtb) excluded. */
void mem_init(const struct mem_range *ram, int nr_ram, const struct mem_range *used, int nr_used);
void mem_free_range(paddr base, u64 size);	/* give back a reserved range (initrd, init text) */

/* Less than the reserve is left: what can fail for a user's sake (fork, new pipes) should. */
bool mem_low(void);

/* Failure injection for tests: fail the n-th allocation from now (0: never). */
void alloc_fail_after(u32 n);

#endif
