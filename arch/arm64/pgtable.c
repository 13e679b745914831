/* SPDX-License-Identifier: MIT */
/*
 * User page tables. Four levels of 512 entries; a table, once made, stays until pgt_free, so a walk
 * needs no lock against removal and an invalidation of one address need only drop the last level
 * (TLBI VALE1IS).
 *
 * Ordering (Arm ARM D8.2.3, D8.16): a new entry is visible to the table walkers after DSB ISHST; an
 * entry that replaces or restricts another needs TLBI and DSB ISH, both inner shareable, so no
 * interrupts to other CPUs. An entry may not change its address directly while valid (break before
 * make): write 0, flush, write the new one.
 *
 * Tables are nearly empty: a stack, a few pages of a program. So the struct page of a table has a bit for
 * each group of eight entries, set before one of them is used and never cleared; a walk looks only into
 * those groups. Whoever is given a place to write an entry to has had it marked (pgt_entry, pgt_mark).
 */
#include <asm/cpu.h>
#include <asm/pgtable.h>
#include <asm/sysreg.h>
#include <perch/atomic.h>
#include <perch/errno.h>
#include <perch/mm.h>
#include <perch/page.h>
#include <perch/sched.h>

#include "arch.h"

#define LEVELS		4
#define ENTRIES		512
#define GROUP		(ENTRIES / 64)	/* entries for each bit of page.used */
#define level_shift(l)	(PAGE_SHIFT + 9 * (LEVELS - 1 - (l)))
#define FLUSH_ALL_PAGES	128	/* from here on one TLBI by ASID is cheaper than one per page */

/* --- address space identifiers: one bit for each, 0 is the kernel's ---------------------- */

#define MAX_ASIDS 65536
static spinlock asid_lock;			/* irqsave */
static u64 asid_used[MAX_ASIDS / 64] = { 1 };	/* asid_lock */
static u32 asid_next = 1;			/* asid_lock: where to look first */

static int asid_alloc(void)
{
	u32 n = 1u << asid_bits();
	u64 flags = spin_lock_irqsave(&asid_lock);
	int asid = -1;

	for (u32 i = 0; i < n && asid < 0; i += 64) {
		u32 word = (asid_next / 64 + i / 64) % (n / 64);

		if (~asid_used[word])
			asid = (int)(word * 64) + __builtin_ctzll(~asid_used[word]);
	}
	if (asid >= 0) {
		asid_used[asid / 64] |= BIT(asid % 64);
		asid_next = ((u32)asid + 64) % n;
	}
	spin_unlock_irqrestore(&asid_lock, flags);
	return asid;
}

static void asid_free(u32 asid)
{
	u64 flags = spin_lock_irqsave(&asid_lock);

	ASSERT(asid && (asid_used[asid / 64] & BIT(asid % 64)));
	asid_used[asid / 64] &= ~BIT(asid % 64);
	spin_unlock_irqrestore(&asid_lock, flags);
}

/* --- entries ----------------------------------------------------------------------------- */

pte pte_make(paddr pa, u32 prot)
{
	pte p = (pa & PTE_ADDR) | PTE_PAGE | PTE_USER | PTE_AF | PTE_NG | PTE_PXN |
		MT_NORMAL << 2 | 3 << 8;	/* inner shareable */

	ASSERT(prot & (VM_READ | VM_WRITE | VM_EXEC));
	if (!(prot & VM_WRITE))
		p |= PTE_RDONLY;
	if (!(prot & VM_EXEC))
		p |= PTE_UXN;
	return p;
}

void pte_set(pte *p, pte v)
{
	WRITE_ONCE(*p, v);
	if (pte_present(v))
		dsb(ishst);
}

void pgt_publish(void)
{
	dsb(ishst);
}

static u64 *new_table(struct pgtable *t)
{
	struct page *p = alloc_zpage();

	if (!p)
		return NULL;
	list_add(&p->node, &t->tables);
	atomic_inc(&t->nr_tables);
	atomic_inc(&mem_stats.pagetable_pages);
	return page_address(p);
}

static u64 *table_of(u64 entry)
{
	return phys_to_virt(entry & PTE_ADDR);
}

int pgt_init(struct pgtable *t)
{
	int asid = asid_alloc();

	if (asid < 0)
		return -ENOMEM;
	t->nr_tables = 0;
	list_init(&t->tables);
	t->root = new_table(t);
	if (!t->root) {
		asid_free((u32)asid);
		return -ENOMEM;
	}
	t->asid = (u16)asid;
	dsb(ishst);
	return 0;
}

/* What was used is zeroed again, which costs less than to zero a whole page for the next table. */
static void free_table(struct page *p)
{
	u64 *table = page_address(p);

	for (u64 used = p->used; used; used &= used - 1) {
		u64 *e = table + (u64)__builtin_ctzll(used) * GROUP;

		e[0] = e[1] = e[2] = e[3] = e[4] = e[5] = e[6] = e[7] = 0;
	}
	free_zpage(p);
}

void pgt_free(struct pgtable *t)
{
	struct page *p, *next;

	/* Walk caches may hold the tables themselves: they must be gone before the pages are
	 * reused. */
	tlb_flush_all(t);
	list_for_each_safe(p, next, &t->tables, node)
		free_table(p);
	atomic_sub(&mem_stats.pagetable_pages, t->nr_tables);
	asid_free(t->asid);
	t->root = NULL;
}

/* Entries [first, last] of a table: the bits of their groups. */
static u64 groups(u64 first, u64 last)
{
	return ~0UL << first / GROUP & ~0UL >> (63 - last / GROUP);
}

static void mark(u64 *e, u64 bits)
{
	struct page *p = virt_to_page(e);

	WRITE_ONCE(p->used, p->used | bits);
}

static u64 place(const pte *p)
{
	return ((u64)p & ~PAGE_MASK) / sizeof(*p);
}

void pgt_mark(pte *first, u32 n)
{
	ASSERT(n && place(first) + n <= ENTRIES);
	mark(first, groups(place(first), place(first) + n - 1));
}

pte *pgt_entry(struct pgtable *t, uaddr va, bool alloc)
{
	u64 *table = t->root, *e;

#pragma GCC unroll 3
	for (int level = 0; level < LEVELS - 1; level++) {
		e = &table[va >> level_shift(level) & (ENTRIES - 1)];
		if (unlikely(!(*e & PTE_VALID))) {
			u64 *next = alloc ? new_table(t) : NULL;

			if (!next)
				return NULL;
			mark(e, BIT(place(e) / GROUP));
			dsb(ishst);	/* the zeroes before the pointer to them */
			WRITE_ONCE(*e, virt_to_phys(next) | PTE_TABLE_BITS);
		}
		table = table_of(*e);
	}
	e = &table[va >> PAGE_SHIFT & (ENTRIES - 1)];
	if (alloc)
		mark(e, BIT(place(e) / GROUP));
	return e;
}

struct walk {
	uaddr start, end;
	pgt_run_fn *fn;
	void *arg;
};

static void walk_table(const struct walk *w, u64 *table, int level, uaddr base);

static void walk_tables(const struct walk *w, u64 *e, u64 *end, int level, uaddr va)
{
	for (; e < end; e++, va += 1UL << level_shift(level))
		if (*e)
			walk_table(w, table_of(*e), level + 1, va);
}

/* One table, which covers addresses from base on: its groups that are in use and touch [start, end), neighbours
 * together. */
static void walk_table(const struct walk *w, u64 *table, int level, uaddr base)
{
	u32 shift = level_shift(level);
	u64 first = w->start > base ? (w->start - base) >> shift : 0;
	u64 last = min((w->end - 1 - base) >> shift, (u64)ENTRIES - 1);
	u64 used = READ_ONCE(virt_to_page(table)->used) & groups(first, last);

	while (used) {
		u64 above = used & (used + (used & -used));	/* all but the lowest run of ones */
		u64 from = max((u64)__builtin_ctzll(used) * GROUP, first);
		u64 to = min((64 - (u64)__builtin_clzll(used ^ above)) * GROUP, last + 1);

		if (level == LEVELS - 1)
			w->fn(table + from, table + to, base + (from << shift), w->arg);
		else
			walk_tables(w, table + from, table + to, level, base + (from << shift));
		used = above;
	}
}

void pgt_walk_runs(struct pgtable *t, uaddr start, uaddr end, pgt_run_fn *fn, void *arg)
{
	struct walk w = { start, end, fn, arg };
	u64 *e;

	ASSERT(start < end);
	if ((start ^ (end - 1)) >> level_shift(LEVELS - 2)) {
		walk_table(&w, t->root, 0, 0);
		return;
	}
	/* Most areas lie within one table of the last level. */
	e = pgt_entry(t, start, false);
	if (e)
		walk_table(&w, (u64 *)((u64)e & PAGE_MASK), LEVELS - 1, ALIGN_DOWN(start, 1UL << level_shift(LEVELS - 2)));
}

struct each {
	void (*fn)(pte *p, uaddr va, void *arg);
	void *arg;
};

static void each_present(pte *p, pte *end, uaddr va, void *arg)
{
	const struct each *each = arg;

	for (; p < end; p++, va += PAGE_SIZE)
		if (pte_present(*p))
			each->fn(p, va, each->arg);
}

void pgt_walk(struct pgtable *t, uaddr start, uaddr end,
	      void (*fn)(pte *p, uaddr va, void *arg), void *arg)
{
	struct each each = { fn, arg };

	pgt_walk_runs(t, start, end, each_present, &each);
}

/* --- TLB and caches ---------------------------------------------------------------------- */

static u64 tlbi_arg(const struct pgtable *t, uaddr va)
{
	return (u64)t->asid << 48 | (va >> PAGE_SHIFT & 0xfffffffffffUL);
}

void tlb_flush_page(struct pgtable *t, uaddr va)
{
	dsb(ishst);
	__asm__ volatile("tlbi vale1is, %0" :: "r"(tlbi_arg(t, va)) : "memory");
	dsb(ish);
}

void tlb_flush_all(struct pgtable *t)
{
	dsb(ishst);
	__asm__ volatile("tlbi aside1is, %0" :: "r"((u64)t->asid << 48) : "memory");
	dsb(ish);
}

void tlb_flush_range(struct pgtable *t, uaddr start, uaddr end)
{
	if ((end - start) >> PAGE_SHIFT > FLUSH_ALL_PAGES) {
		tlb_flush_all(t);
		return;
	}
	dsb(ishst);
	for (uaddr va = start; va < end; va += PAGE_SIZE)
		__asm__ volatile("tlbi vale1is, %0" :: "r"(tlbi_arg(t, va)) : "memory");
	dsb(ish);
}

/* CTR_EL0: DIC (29) and IDC (28) say that the steps are not needed; the line sizes are log2 of
 * words. */
void icache_sync(void *kaddr, size_t len)
{
	u64 ctr = read_sysreg(ctr_el0), start = (u64)kaddr, end = start + len;
	u64 dline = 4UL << (ctr >> 16 & 15), iline = 4UL << (ctr & 15);

	if (!(ctr & BIT(28)))
		for (u64 a = ALIGN_DOWN(start, dline); a < end; a += dline)
			__asm__ volatile("dc cvau, %0" :: "r"(a) : "memory");
	dsb(ish);
	if (ctr & BIT(29)) {
		isb();		/* not even then may what was fetched before be kept */
		return;
	}
	/* A PIPT cache (L1Ip 3) can be told by address; a VIPT one may hold the line under the
	 * user's address. */
	if ((ctr >> 14 & 3) == 3)
		for (u64 a = ALIGN_DOWN(start, iline); a < end; a += iline)
			__asm__ volatile("ic ivau, %0" :: "r"(a) : "memory");
	else
		__asm__ volatile("ic ialluis" ::: "memory");
	dsb(ish);
	isb();
}

/* --- which table is loaded --------------------------------------------------------------- */

void arch_mm_switch(struct mm *mm)
{
	u64 ttbr = mm ? virt_to_phys(mm->pgt.root) | (u64)mm->pgt.asid << 48
		      : image_phys(empty_pg_dir);

	write_sysreg(ttbr, ttbr0_el1);
	isb();
}
