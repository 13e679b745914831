/* SPDX-License-Identifier: MIT */
/*
 * The vDSO: code that the kernel lends to every program, for system calls that need no kernel. At
 * boot the image is copied to pages of its own, because user mappings count references; every
 * program maps the same pages. Below them lies the data page with the clock's parameters, written
 * under a sequence count.
 */
#include <perch/atomic.h>
#include <perch/boot.h>
#include <perch/errno.h>
#include <perch/mm.h>
#include <perch/page.h>
#include <perch/printk.h>
#include <perch/time.h>
#include <string.h>

#include "arch.h"
#include "vdso.h"

#define MAX_PAGES 8

extern const char vdso_image[], vdso_image_end[];

static struct page *code[MAX_PAGES];	/* immutable after vdso_init */
static u32 nr_code;
static struct page *data_page;
static u64 sigreturn_offset;
static spinlock update_lock;		/* irqsave: writers of the data page */

const void *arch_vdso_image(size_t *size)
{
	*size = (size_t)(vdso_image_end - vdso_image);
	return vdso_image;
}

u64 vdso_sigreturn_offset(void)
{
	return sigreturn_offset;
}

/* --- the image --------------------------------------------------------------------------- */

struct elf_header {
	u8 ident[16];
	u16 type, machine;
	u32 version;
	u64 entry, phoff, shoff;
	u32 flags;
	u16 ehsize, phentsize, phnum, shentsize, shnum, shstrndx;
};
struct elf_section {
	u32 name, type;
	u64 flags, addr, offset, size;
	u32 link, info;
	u64 align, entsize;
};
struct elf_symbol {
	u32 name;
	u8 info, other;
	u16 shndx;
	u64 value, size;
};
#define SHT_DYNSYM 11

static u64 symbol_value(const char *name)
{
	const struct elf_header *eh = (const void *)vdso_image;
	const struct elf_section *sh = (const void *)(vdso_image + eh->shoff);

	for (int i = 0; i < eh->shnum; i++) {
		const struct elf_symbol *sym = (const void *)(vdso_image + sh[i].offset);
		const char *names;

		if (sh[i].type != SHT_DYNSYM)
			continue;
		names = vdso_image + sh[sh[i].link].offset;
		for (u64 n = 0; n < sh[i].size / sizeof(*sym); n++)
			if (!strcmp(names + sym[n].name, name))
				return sym[n].value;
	}
	panic("vdso: no %s", name);
}

static struct page *kernel_page(const void *contents)
{
	struct page *p = alloc_zpage();

	if (!p)
		panic("vdso: no memory");
	p->flags |= PG_KERNEL;
	if (contents) {
		memcpy(page_address(p), contents, PAGE_SIZE);
		icache_sync(page_address(p), PAGE_SIZE);
	}
	return p;
}

void vdso_init(void)
{
	nr_code = (u32)((vdso_image_end - vdso_image) / PAGE_SIZE);
	ASSERT(nr_code <= MAX_PAGES);
	for (u32 i = 0; i < nr_code; i++)
		code[i] = kernel_page(vdso_image + i * PAGE_SIZE);
	sigreturn_offset = symbol_value("__kernel_rt_sigreturn");
	store_release(&data_page, kernel_page(NULL));
	vdso_update();
}

/* --- the data ---------------------------------------------------------------------------- */

void vdso_update(void)
{
	struct page *p = load_acquire(&data_page);
	struct vdso_data *d = p ? page_address(p) : NULL;
	u64 flags;

	if (!d)
		return;		/* vdso_init calls again */
	flags = spin_lock_irqsave(&update_lock);
	WRITE_ONCE(d->seq, d->seq + 1);
	smp_wmb();
	ktime_params(&d->mult, &d->shift);
	d->realtime = realtime_offset();
	smp_wmb();
	WRITE_ONCE(d->seq, d->seq + 1);
	spin_unlock_irqrestore(&update_lock, flags);
}

/* --- mappings ---------------------------------------------------------------------------- */

static struct page *code_fault(struct vma *v, u64 pgoff, bool write)
{
	u64 i = pgoff;

	if (i >= nr_code)
		return ERR_PTR(-EFAULT);
	page_get(code[i]);
	return code[i];
}

static const char *code_name(struct vma *v)
{
	return "[vdso]";
}

static struct page *data_fault(struct vma *v, u64 pgoff, bool write)
{
	page_get(data_page);
	return data_page;
}

static const char *data_name(struct vma *v)
{
	return "[vvar]";
}

static const struct vma_ops code_ops = { .fault = code_fault, .name = code_name };
static const struct vma_ops data_ops = { .fault = data_fault, .name = data_name };

#define DATA_FLAGS	(VM_READ | VM_MAYREAD | VM_PFNMAP | VM_DONTEXPAND)
/* Writable for a debugger after mprotect: it gets a copy. */
#define CODE_FLAGS	(VM_READ | VM_EXEC | VM_MAYREAD | VM_MAYWRITE | VM_MAYEXEC)

int arch_map_vdso(struct mm *mm)
{
	u64 code_size = nr_code * PAGE_SIZE;
	uaddr base = mm_unmapped_area(mm, 0, code_size + PAGE_SIZE);
	long ret;

	if (base >= USER_MAX)
		return -ENOMEM;
	ret = mm_map_special(mm, base, PAGE_SIZE, DATA_FLAGS, &data_ops, NULL);
	if (ret < 0)
		return (int)ret;
	ret = mm_map_special(mm, base + PAGE_SIZE, code_size, CODE_FLAGS, &code_ops, NULL);
	if (ret < 0) {
		mm_unmap(mm, base, PAGE_SIZE);
		return (int)ret;
	}
	mm->vdso = base + PAGE_SIZE;
	return 0;
}
