/* SPDX-License-Identifier: MIT */
/*
 * User page tables: 4 levels, 4 KiB pages, 48-bit addresses, an ASID per table for its whole life.
 * Entries are changed under mm->pt_lock; the caller flushes the TLB after it took rights away
 * (broadcast TLBI: no IPI). Bits: Arm ARM D8.3.
 */
#ifndef ASM_PGTABLE_H
#define ASM_PGTABLE_H

#include <perch/list.h>
#include <perch/types.h>

typedef u64 pte;

struct pgtable {
	u64 *root;	/* level 0 table, linear map */
	u16 asid;	/* unique among live tables */
	s64 nr_tables;	/* pages used by tables; atomic */
	struct list tables;	/* all of them, by page.node; whoever adds entries holds mm->lock */
};

#define PTE_VALID	BIT(0)
#define PTE_PAGE	3UL
#define PTE_USER	BIT(6)
#define PTE_RDONLY	BIT(7)
#define PTE_AF		BIT(10)
#define PTE_NG		BIT(11)
#define PTE_PXN		BIT(53)
#define PTE_UXN		BIT(54)
#define PTE_SPECIAL	BIT(56)	/* software: no struct page accounting (VM_PFNMAP) */
#define PTE_PROTNONE	BIT(58)	/* software: a page under PROT_NONE; not valid for the MMU */
#define PTE_ADDR	0x0000fffffffff000UL

static inline bool pte_present(pte p) { return p & (PTE_VALID | PTE_PROTNONE); }
static inline paddr pte_phys(pte p) { return p & PTE_ADDR; }
static inline bool pte_writable(pte p) { return pte_present(p) && !(p & PTE_RDONLY); }
static inline bool pte_special(pte p) { return p & PTE_SPECIAL; }

/* Build an entry: prot as VM_READ|VM_WRITE|VM_EXEC; none of them: 0, see also pte_none_make. */
pte pte_make(paddr pa, u32 prot);
/* The entry of a page in an area that was made PROT_NONE: present, never valid. */
static inline pte pte_none_make(paddr pa) { return pa | PTE_PROTNONE | PTE_RDONLY; }
static inline pte pte_wrprotect(pte p) { return p | PTE_RDONLY; }

/* 0 or -ENOMEM. */
int pgt_init(struct pgtable *t);
/* Free the tables; every entry has been unmapped, is 0. Flushes the ASID. */
void pgt_free(struct pgtable *t);
/* The entry for va, or NULL: with alloc, missing tables are made (NULL: out of memory). */
pte *pgt_entry(struct pgtable *t, uaddr va, bool alloc);
/* Entries [first, first + n), all of one table, will be written, too: walks look where pgt_entry (alloc) or
 * this has been asked. mm->lock held. */
void pgt_mark(pte *first, u32 n);
/* Entries that were stored with WRITE_ONCE so far are seen by the table walkers from here on. */
void pgt_publish(void);
/* Store an entry and order it before later accesses (DSB ISHST + ISB where needed). After writing
 * an executable page's contents the caller must have used icache_sync. */
void pte_set(pte *p, pte v);
/* Call fn for each present entry in [start, end), skipping absent tables quickly. */
void pgt_walk(struct pgtable *t, uaddr start, uaddr end,
	      void (*fn)(pte *p, uaddr va, void *arg), void *arg);
/* The same for who looks at entries itself: fn gets [p, end), the first of which is va's; any may be absent. */
typedef void pgt_run_fn(pte *p, pte *end, uaddr va, void *arg);
void pgt_walk_runs(struct pgtable *t, uaddr start, uaddr end, pgt_run_fn *fn, void *arg);

void tlb_flush_page(struct pgtable *t, uaddr va);
void tlb_flush_range(struct pgtable *t, uaddr start, uaddr end);
void tlb_flush_all(struct pgtable *t);
/* Make instructions written through the linear map visible to execution. */
void icache_sync(void *kaddr, size_t len);

/*
 * Kernel mappings outside the linear map, for kernel stacks with guard pages and the like.
 * kernel_va_reserve gives out address space from a region of its own (page aligned; size and align
 * in bytes; NULL when used up; never given back). kernel_map maps one page read-write, never
 * executable: 0 or -ENOMEM. kernel_unmap removes it and flushes the TLB everywhere. Any context;
 * the caller makes sure that nobody else maps the same page at the same time.
 */
void *kernel_va_reserve(u64 size, u64 align);
int kernel_map(void *va, paddr pa);
void kernel_unmap(void *va);

/* Map device memory: nGnRE, kernel only. NULL on failure. Never undone. */
void *ioremap(paddr pa, u64 size);

#endif
