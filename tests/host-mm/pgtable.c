/* SPDX-License-Identifier: MIT */
/*
 * Page tables and a TLB that is as lazy as hardware may be: it keeps every translation that was ever
 * used until it is flushed. After each operation tlb_check demands that what it remembers is still
 * allowed: the same page, no more rights than the entry has now.
 */
#include "host.h"
#include "kernel/mm/internal.h"

#define TLB_MAX 65536

static struct tlb { u16 asid; uaddr va; pte e; } tlb[TLB_MAX];
static u32 tlb_n;
static u16 next_asid;
static struct pgtable *tables[65536];

static u64 *new_table(struct pgtable *t)
{
	struct page *p = alloc_zpage();

	if (!p)
		return NULL;
	t->nr_tables++;
	return page_address(p);
}

int pgt_init(struct pgtable *t)
{
	t->nr_tables = 0;
	t->root = new_table(t);
	t->asid = ++next_asid;
	tables[t->asid] = t;
	return t->root ? 0 : -ENOMEM;
}

static void free_level(u64 *table, int level)
{
	for (int i = 0; i < 512; i++) {
		CHECK(level < 3 || !table[i]);
		if (level < 3 && table[i])
			free_level((u64 *)table[i], level + 1);
		table[i] = 0;
	}
	free_zpage(virt_to_page(table));
}

void pgt_free(struct pgtable *t)
{
	tlb_flush_all(t);
	free_level(t->root, 0);
	tables[t->asid] = NULL;
}

pte *pgt_entry(struct pgtable *t, uaddr va, bool alloc)
{
	u64 *table = t->root;

	CHECK(va < USER_MAX);
	for (int level = 0; level < 3; level++) {
		u64 *e = &table[va >> (39 - 9 * level) & 511];

		if (!*e && alloc)
			*e = (u64)new_table(t);
		if (!*e)
			return NULL;
		table = (u64 *)*e;
	}
	if (alloc)
		pgt_mark(&table[va >> 12 & 511], 1);
	return &table[va >> 12 & 511];
}

/* Real walks look only at groups of eight entries that were announced. */
void pgt_mark(pte *first, u32 n)
{
	u64 at = ((u64)first & ~PAGE_MASK) / sizeof(pte);

	CHECK(n && at + n <= 512);
	for (u64 i = at; i < at + n; i++)
		virt_to_page(first)->used |= BIT(i / 8);
}

static void walk(u64 *table, int level, uaddr base, uaddr start, uaddr end, pgt_run_fn *fn, void *arg)
{
	u64 span = 1UL << (39 - 9 * level);

	for (u64 i = 0; i < 512; i++, base += span) {
		if (base + span <= start || base >= end)
			continue;
		if (level < 3 && table[i])
			walk((u64 *)table[i], level + 1, base, start, end, fn, arg);
		else if (level == 3 && virt_to_page(table)->used & BIT(i / 8))
			fn(&table[i], &table[i + 1], base, arg);
	}
}

void pgt_walk_runs(struct pgtable *t, uaddr start, uaddr end, pgt_run_fn *fn, void *arg)
{
	walk(t->root, 0, 0, start, end, fn, arg);
}

struct each { void (*fn)(pte *p, uaddr va, void *arg); void *arg; };

static void each_present(pte *p, pte *end, uaddr va, void *arg)
{
	struct each *e = arg;

	if (pte_present(*p))
		e->fn(p, va, e->arg);
}

void pgt_walk(struct pgtable *t, uaddr start, uaddr end, void (*fn)(pte *p, uaddr va, void *arg), void *arg)
{
	struct each e = { fn, arg };

	pgt_walk_runs(t, start, end, each_present, &e);
}

pte pte_make(paddr pa, u32 prot)
{
	CHECK(prot);
	return pa | PTE_VALID | (prot & VM_WRITE ? 0 : PTE_RDONLY) | (prot & VM_EXEC ? 0 : PTE_UXN);
}

void pte_set(pte *p, pte v) { *p = v; }
void pgt_publish(void) { }
void icache_sync(void *p, size_t n) { }

/* --- the TLB --------------------------------------------------------------------------------------- */

void tlb_flush_range(struct pgtable *t, uaddr start, uaddr end)
{
	for (u32 i = 0; i < tlb_n; )
		if (tlb[i].asid == t->asid && tlb[i].va >= start && tlb[i].va < end)
			tlb[i] = tlb[--tlb_n];
		else
			i++;
}

void tlb_flush_page(struct pgtable *t, uaddr va) { tlb_flush_range(t, va, va + PAGE_SIZE); }
void tlb_flush_all(struct pgtable *t) { tlb_flush_range(t, 0, ~0UL); }

void tlb_check(void)
{
	for (u32 i = 0; i < tlb_n; i++) {
		struct tlb *e = &tlb[i];
		pte *p = pgt_entry(tables[e->asid], e->va, false);

		CHECK(p && (*p & PTE_VALID) && pte_phys(*p) == pte_phys(e->e));
		CHECK(!pte_writable(e->e) || pte_writable(*p));
	}
}

static struct tlb *tlb_find(struct mm *mm, uaddr va)
{
	for (u32 i = 0; i < tlb_n; i++)
		if (tlb[i].asid == mm->pgt.asid && tlb[i].va == va)
			return &tlb[i];
	return NULL;
}

/* The translation for an access, or 0 and the signal. */
static pte translate(struct mm *mm, uaddr va, bool write, int *sig)
{
	for (int tries = 0; tries < 10; tries++) {
		struct tlb *e = tlb_find(mm, va);
		pte *p = pgt_entry(&mm->pgt, va, false);
		int code;

		if (!e && p && (*p & PTE_VALID)) {
			CHECK(tlb_n < TLB_MAX);
			e = &tlb[tlb_n++];
			*e = (struct tlb){ mm->pgt.asid, va, *p };
		}
		if (e && (!write || pte_writable(e->e)))
			return e->e;
		*sig = mm_fault(mm, va, (write ? FAULT_WRITE : 0) | FAULT_USER, &code);
		if (*sig)
			return 0;
	}
	panic("fault at %lx does not resolve", va);
}

int user_load(struct mm *mm, uaddr va, u64 *value)
{
	int sig;
	pte e = translate(mm, va, false, &sig);

	if (!e)
		return sig;
	*value = *(u64 *)phys_to_virt(pte_phys(e));
	return 0;
}

int user_store(struct mm *mm, uaddr va, u64 value)
{
	int sig;
	pte e = translate(mm, va, true, &sig);

	if (!e)
		return sig;
	*(u64 *)phys_to_virt(pte_phys(e)) = value;
	return 0;
}

/* --- counters ----------------------------------------------------------------------------------------- */

static void count(pte *p, uaddr va, void *arg)
{
	s64 *n = arg;
	struct page *page = phys_to_page(pte_phys(*p));

	if (pte_special(*p))
		return;
	CHECK(page->mapcount > 0 && ref_read(&page->refs) >= (int)page->mapcount);
	if (page->flags & PG_ANON)
		n[0]++;
	else
		n[1]++;
}

/* The tree's invariants; returns the number of areas below v. */
static u32 tree_check(struct mm *mm, struct vma *v, struct vma *parent)
{
	struct vma *prev;
	uaddr from, to;
	u64 gap;
	u32 n = 1;

	if (!v)
		return 0;
	prev = v->node.prev == &mm->vmas ? NULL : list_entry(v->node.prev, struct vma, node);
	from = prev ? prev->end : USER_MIN;
	to = vma_low_end(v);
	gap = to > from ? to - from : 0;
	CHECK(v->rb_parent == parent && (!parent || parent->rb_color >= v->rb_color));
	n += tree_check(mm, v->rb_left, v) + tree_check(mm, v->rb_right, v);
	if (v->rb_left)
		gap = max(gap, v->rb_left->rb_gap);
	if (v->rb_right)
		gap = max(gap, v->rb_right->rb_gap);
	CHECK(v->rb_gap == gap);
	return n;
}

void page_table_check(struct mm *mm)
{
	s64 n[2] = { 0, 0 };
	u64 total = 0;
	struct vma *v, *prev = NULL;
	u32 areas = 0;

	pgt_walk(&mm->pgt, 0, USER_MAX, count, n);
	CHECK(n[0] == mm->rss_anon && n[1] == mm->rss_shmem && !mm->rss_file);
	list_for_each(v, &mm->vmas, node) {
		CHECK(v->start < v->end && (!prev || prev->end <= v->start) && v->mm == mm);
		CHECK(vma_at(mm, v->start) == v && vma_at(mm, v->end - 1) == v);
		total += (v->end - v->start) >> PAGE_SHIFT;
		areas++;
		prev = v;
	}
	CHECK(total == mm->total_vm && areas == mm->nr_vmas);
	CHECK(list_empty(&mm->dead) && tree_check(mm, mm->rb_root, NULL) == areas);
}
