/* SPDX-License-Identifier: MIT */
/*
 * Kernel stacks, each with unmapped memory below it: running over the end faults at once instead of
 * writing into somebody's page.
 *
 * A region of address space is divided into slots of twice a stack's size. The upper half of a slot
 * is the stack, the lower half is never mapped. So an address within a stack has the bit KSTACK_SIZE
 * set and one just below it has not: the exception entry tests this bit of SP, because it cannot
 * push registers onto a stack that has run over.
 *
 *	slot n  | guard (KSTACK_SIZE) | stack (KSTACK_SIZE) | guard of slot n + 1 ...
 *
 * Mapping costs a little and unmapping a TLB flush on all CPUs, so some free stacks stay mapped for
 * the next fork. Free slots form two lists (mapped, not mapped) by their numbers.
 */
#include <asm/pgtable.h>
#include <perch/mm.h>
#include <perch/spinlock.h>
#include "internal.h"

#define KSTACK_ORDER	2
#define NR_SLOTS	16384u
#define SLOT_SIZE	(2 * KSTACK_SIZE)
#ifdef PERCH_DEBUG
#define KEPT		0u		/* each fork makes one, which may fail, and each exit unmaps it */
#else
#define KEPT		32u		/* free stacks that stay mapped: 512 KiB */
#endif
#define NONE		0xffff
_Static_assert(KSTACK_SIZE == PAGE_SIZE << KSTACK_ORDER, "a kernel stack is one block");

static spinlock lock = SPINLOCK_INIT;
static char *region;			/* first slot; set once by the boot CPU */
static u32 nr_used;			/* slots that were ever used; lock */
static u16 next[NR_SLOTS];		/* links of the free lists; lock */
static u16 mapped = NONE, unmapped = NONE;	/* their heads; lock */
static u32 nr_kept;			/* length of the mapped one; lock */
static u32 pfn[NR_SLOTS];		/* of a mapped slot's memory; whoever owns the slot */

static char *stack_of(u32 slot)
{
	return region + slot * SLOT_SIZE + KSTACK_SIZE;
}

static u32 pop_locked(u16 *head)
{
	u32 slot = *head;

	if (slot != NONE)
		*head = next[slot];
	return slot;
}

static void push_locked(u16 *head, u32 slot)
{
	next[slot] = *head;
	*head = slot;
}

/* A mapped one if there is one. NONE: all are in use. */
static u32 take_slot(bool *is_mapped)
{
	u64 flags = spin_lock_irqsave(&lock);
	u32 slot = pop_locked(&mapped);

	*is_mapped = slot != NONE;
	if (*is_mapped)
		nr_kept--;
	else
		slot = pop_locked(&unmapped);
	if (slot == NONE && nr_used < NR_SLOTS)
		slot = nr_used++;
	spin_unlock_irqrestore(&lock, flags);
	return slot;
}

static void give_slot(u32 slot)
{
	u64 flags = spin_lock_irqsave(&lock);

	push_locked(&unmapped, slot);
	spin_unlock_irqrestore(&lock, flags);
}

/* False: enough are kept already, or memory is low. */
static bool keep_mapped(u32 slot)
{
	u64 flags = spin_lock_irqsave(&lock);
	bool keep = nr_kept + 1 <= KEPT && !mem_low();

	if (keep) {
		push_locked(&mapped, slot);
		nr_kept++;
	}
	spin_unlock_irqrestore(&lock, flags);
	return keep;
}

static void unmap_pages(u32 slot, u32 n)
{
	while (n)
		kernel_unmap(stack_of(slot) + --n * PAGE_SIZE);
	free_pages(pfn_to_page(pfn[slot]), KSTACK_ORDER);
}

static bool map_stack(u32 slot)
{
	struct page *p = mem_low() ? NULL : alloc_pages(KSTACK_ORDER);

	if (!p)
		return false;
	pfn[slot] = page_to_pfn(p);
	for (u32 i = 0; i < 1 << KSTACK_ORDER; i++) {
		u64 offset = i * PAGE_SIZE;

		if (kernel_map(stack_of(slot) + offset, page_to_phys(p) + offset)) {
			unmap_pages(slot, i);
			return false;
		}
	}
	return true;
}

/* The first call is the boot CPU's, for the idle tasks. */
static bool have_region(void)
{
	if (!region)
		region = kernel_va_reserve(NR_SLOTS * SLOT_SIZE, SLOT_SIZE);
	return region;
}

void *kstack_alloc(void)
{
	bool is_mapped;
	u32 slot = have_region() ? take_slot(&is_mapped) : NONE;

	if (slot == NONE)
		return NULL;
	if (!is_mapped && !map_stack(slot)) {
		give_slot(slot);
		return NULL;
	}
	atomic_add(&mem_stats.stack_pages, 1 << KSTACK_ORDER);
	*(u64 *)stack_of(slot) = KSTACK_CANARY;
	return stack_of(slot);
}

void kstack_free(void *stack)
{
	u32 slot = ((char *)stack - region) / SLOT_SIZE;

	ASSERT(slot < NR_SLOTS && stack == stack_of(slot) && kstack_intact(stack));
	atomic_sub(&mem_stats.stack_pages, 1 << KSTACK_ORDER);
	if (keep_mapped(slot))
		return;
	unmap_pages(slot, 1 << KSTACK_ORDER);
	give_slot(slot);
}
