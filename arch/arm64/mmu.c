/* SPDX-License-Identifier: MIT */
/*
 * The kernel's own page tables: the linear map of all RAM, the image with W^X, device mappings.
 *
 *   0xffff000000000000  linear map: virt = phys + PAGE_OFFSET, 1 GiB and 2 MiB blocks, never
 *                       executable; the image's text and read-only data are read-only here, too
 *   0xffff800080000000  the image: text r-x, rodata r--, data rw-
 *   0xffff8000c0000000  device tree (early boot)
 *   0xffff800100000000  device registers (ioremap), then kernel_va_reserve
 *
 * Tables come from a pool in the image until mem_init has run; all of them are reached through the
 * linear map, except while that is being built: then through the image.
 */
#include <asm/cpu.h>
#include <asm/offsets.h>
#include <asm/pgtable.h>
#include <asm/sysreg.h>
#include <perch/errno.h>
#include <perch/page.h>
#include <perch/printk.h>
#include <perch/spinlock.h>
#include <string.h>

#include "arch.h"

#define IO_START	0xffff800100000000UL
#define IO_END		0xffff804000000000UL
#define VMAP_START	IO_END
#define VMAP_END	0xffff808000000000UL

#define PROT_NORMAL	(PTE_AF | 3UL << 8 | MT_NORMAL << 2 | PTE_UXN)
#define PROT_TEXT	(PROT_NORMAL | PTE_RDONLY)
#define PROT_RO		(PROT_NORMAL | PTE_RDONLY | PTE_PXN)
#define PROT_RW		(PROT_NORMAL | PTE_PXN)
#define PROT_DEVICE	(PTE_AF | MT_DEVICE << 2 | PTE_UXN | PTE_PXN)

static paddr image_base;		/* physical address of _text */
static bool linear_ready;		/* tables are reached through the linear map */
static char *pool_next = pt_pool;	/* map_lock */
static spinlock map_lock;		/* irqsave: kernel tables and the two allocation marks */
static u64 io_next = IO_START;		/* map_lock */
static u64 vmap_next = VMAP_START;	/* map_lock */

paddr image_phys(const void *p)
{
	return (u64)p - KIMAGE_VADDR + image_base;
}

static u64 *table_virt(paddr pa)
{
	if (linear_ready)
		return phys_to_virt(pa);
	return (u64 *)(pa - image_base + KIMAGE_VADDR);
}

/* A zeroed table's physical address, 0 when there is no memory. */
static paddr new_table(void)
{
	struct page *p;

	if (pool_next < pt_pool_end) {
		char *t = pool_next;

		pool_next += PAGE_SIZE;
		memset(t, 0, PAGE_SIZE);
		return image_phys(t);
	}
	p = mem_map ? alloc_zpage() : NULL;
	return p ? page_to_phys(p) : 0;
}

/* The entry for va in the table of a level (1: 1 GiB ... 3: 4 KiB), or NULL without memory. */
static u64 *entry_at(u64 va, int level)
{
	u64 *table = table_virt(image_phys(kernel_pg_dir));

	for (int l = 0; l < level; l++) {
		u64 *e = &table[va >> (39 - 9 * l) & 511];

		if (!(*e & PTE_VALID)) {
			paddr pa = new_table();

			if (!pa)
				return NULL;
			dsb(ishst);
			WRITE_ONCE(*e, pa | PTE_TABLE_BITS);
		}
		ASSERT((*e & 3) == PTE_TABLE_BITS);
		table = table_virt(*e & PTE_ADDR);
	}
	return &table[va >> (39 - 9 * level) & 511];
}

/* The largest level whose block fits at va, pa. */
static int block_level(u64 va, paddr pa, u64 left)
{
	for (int level = 1; level < 3; level++) {
		u64 size = 1UL << (39 - 9 * level);

		if (IS_ALIGNED(va | pa, size) && left >= size)
			return level;
	}
	return 3;
}

static int map_range(u64 va, paddr pa, u64 size, u64 prot)
{
	while (size) {
		int level = block_level(va, pa, size);
		u64 step = 1UL << (39 - 9 * level);
		u64 *e = entry_at(va, level);

		if (!e)
			return -1;
		ASSERT(!(*e & PTE_VALID));
		WRITE_ONCE(*e, pa | prot | (level == 3 ? 3 : 1));
		va += step;
		pa += step;
		size -= step;
	}
	dsb(ishst);
	isb();
	return 0;
}

static void map_boot(u64 va, paddr pa, u64 size, u64 prot)
{
	if (map_range(va, pa, size, prot))
		panic("no page tables for the kernel's mappings");
}

static void map_section(const char *start, const char *end, u64 prot)
{
	map_boot((u64)start, image_phys(start), (u64)(end - start), prot);
}

static void map_image(void)
{
	map_section(_text, __start_rodata, PROT_TEXT);
	map_section(__start_rodata, _sdata, PROT_RO);
	map_section(_sdata, _end, PROT_RW);
}

static void map_linear(paddr start, paddr end, u64 prot)
{
	if (start < end)
		map_boot(start + PAGE_OFFSET, start, end - start, prot);
}

/* One range of RAM; the image's part that nobody writes gets no writable alias. */
static void map_ram(paddr start, paddr end)
{
	paddr ro = image_phys(_text), rw = image_phys(_sdata);

	map_linear(start, min(end, ro), PROT_RW);
	map_linear(max(start, ro), min(end, rw), PROT_RO);
	map_linear(max(start, rw), end, PROT_RW);
}

void mmu_init(paddr image, const struct mem_range *ram, int nr_ram)
{
	void (*replace)(u64);

	image_base = image;
	map_image();
	for (int i = 0; i < nr_ram; i++)
		map_ram(ALIGN_UP(ram[i].base, PAGE_SIZE),
			ALIGN_DOWN(ram[i].base + ram[i].size, PAGE_SIZE));
	replace = (void (*)(u64))image_phys(idmap_replace_ttbr1);
	replace(image_phys(kernel_pg_dir));
	linear_ready = true;
	write_sysreg(image_phys(empty_pg_dir), ttbr0_el1);
	isb();
	__asm__ volatile("tlbi vmalle1; dsb nsh; isb" ::: "memory");
}

/* --- after boot -------------------------------------------------------------------------- */

void *ioremap(paddr pa, u64 size)
{
	paddr first = ALIGN_DOWN(pa, PAGE_SIZE);
	u64 len = ALIGN_UP(pa + size, PAGE_SIZE) - first, flags = spin_lock_irqsave(&map_lock), va;
	int err;

	/* The same offset in 2 MiB on both sides, so that large devices take blocks. */
	va = ALIGN_UP(io_next, 0x200000UL) + (first & 0x1fffff);
	if (len < 0x200000)
		va = io_next;
	err = va + len > IO_END ? -1 : map_range(va, first, len, PROT_DEVICE);
	if (!err)
		io_next = va + len + PAGE_SIZE;
	spin_unlock_irqrestore(&map_lock, flags);
	return err ? NULL : (void *)(va + (pa - first));
}

void *kernel_va_reserve(u64 size, u64 align)
{
	u64 flags = spin_lock_irqsave(&map_lock);
	u64 va = ALIGN_UP(vmap_next, max(align, PAGE_SIZE));
	bool ok = size <= VMAP_END - va;

	if (ok)
		vmap_next = va + ALIGN_UP(size, PAGE_SIZE);
	spin_unlock_irqrestore(&map_lock, flags);
	return ok ? (void *)va : NULL;
}

int kernel_map(void *va, paddr pa)
{
	u64 flags = spin_lock_irqsave(&map_lock);
	int err = map_range((u64)va, pa, PAGE_SIZE, PROT_RW);

	spin_unlock_irqrestore(&map_lock, flags);
	return err ? -ENOMEM : 0;
}

void kernel_unmap(void *va)
{
	u64 flags = spin_lock_irqsave(&map_lock);
	u64 *e = entry_at((u64)va, 3);

	ASSERT(e && (*e & PTE_VALID));
	WRITE_ONCE(*e, 0);
	dsb(ishst);
	__asm__ volatile("tlbi vaale1is, %0" :: "r"((u64)va << 8 >> 20) : "memory");
	dsb(ish);
	isb();
	spin_unlock_irqrestore(&map_lock, flags);
}
