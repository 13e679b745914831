/* SPDX-License-Identifier: MIT */
/*
 * Loading ELF programs: static (ET_EXEC), static-PIE (ET_DYN without PT_INTERP) and dynamic ones, whose
 * interpreter (ld.so) is loaded beside them and started instead.
 *
 * elf_prepare() reads and judges all headers while the old program can still get an error; elf_load()
 * runs in the new address space, where a failure only leaves a signal. The file's pages are mapped,
 * not read. Where a segment's memory is longer than its file part, the rest of the last
 * file page is cleared and the remaining pages are anonymous: that is the bss.
 */
#include <perch/boot.h>
#include <perch/errno.h>
#include <perch/fs.h>
#include <perch/mm.h>
#include <perch/printk.h>
#include <perch/uaccess.h>
#include <string.h>

#include "exec.h"
#include "internal.h"

#define ELIBBAD 80
#define MAX_PHDR_BYTES 65536

/* --- judging */

static bool header_ok(const struct elf64_ehdr *eh)
{
	static const u8 magic[6] = { 0x7f, 'E', 'L', 'F', 2 /* 64 bit */, 1 /* little endian */ };

	return !memcmp(eh->ident, magic, sizeof(magic)) && eh->machine == EM_AARCH64 &&
	       (eh->type == ET_EXEC || eh->type == ET_DYN) &&
	       eh->phentsize == sizeof(struct elf64_phdr) && eh->phnum > 0 &&
	       eh->phnum * sizeof(struct elf64_phdr) <= MAX_PHDR_BYTES;
}

static bool segment_ok(const struct elf64_phdr *ph)
{
	if (ph->type != PT_LOAD)
		return true;
	return ph->filesz <= ph->memsz && ph->memsz <= USER_MAX && ph->vaddr <= USER_MAX - ph->memsz &&
	       (ph->vaddr - ph->offset) % PAGE_SIZE == 0 && ph->offset <= INT64_MAX - ph->filesz;
}

/* Takes a reference to f. head: the file's first EXEC_HEAD bytes. */
static int read_image(struct elf_image *e, struct file *f, const char *head)
{
	size_t bytes;
	bool loads = false;

	memcpy(&e->eh, head, sizeof(e->eh));
	if (!header_ok(&e->eh) || !f->ops->mmap)
		return -ENOEXEC;
	bytes = e->eh.phnum * sizeof(*e->ph);
	e->ph = kmalloc(bytes);
	if (!e->ph)
		return -ENOMEM;
	e->file = file_get(f);
	if (file_read_kernel(f, e->ph, bytes, (loff)e->eh.phoff) != (ssize_t)bytes)
		return -ENOEXEC;
	for (u32 i = 0; i < e->eh.phnum; i++) {
		if (!segment_ok(&e->ph[i]))
			return -ENOEXEC;
		loads |= e->ph[i].type == PT_LOAD && e->ph[i].memsz;
	}
	return loads ? 0 : -ENOEXEC;
}

void elf_free(struct elf_image *e)
{
	kfree(e->ph);
	if (e->file)
		file_put(e->file);
	memset(e, 0, sizeof(*e));
}

static int read_interp(struct exec *x, const struct elf64_phdr *ph)
{
	char head[EXEC_HEAD] = { 0 };
	struct file *f;
	char *path;
	int err;

	if (ph->filesz < 2 || ph->filesz > PATH_MAX)
		return -ENOEXEC;
	path = kmalloc(ph->filesz);
	if (!path)
		return -ENOMEM;
	err = -EIO;
	if (file_read_kernel(x->file, path, ph->filesz, (loff)ph->offset) != (ssize_t)ph->filesz)
		goto out;
	err = -ENOEXEC;
	if (path[ph->filesz - 1])
		goto out;
	f = exec_open(AT_FDCWD, path, 0);
	err = IS_ERR(f) ? (int)PTR_ERR(f) : 0;
	if (err)
		goto out;
	if (file_read_kernel(f, head, sizeof(head), 0) < (ssize_t)sizeof(struct elf64_ehdr))
		err = -ELIBBAD;
	else
		err = read_image(&x->interp, f, head);
	if (err == -ENOEXEC)
		err = -ELIBBAD;
	file_put(f);
out:
	kfree(path);
	return err;
}

int elf_prepare(struct exec *x)
{
	int err = read_image(&x->prog, x->file, x->head);

	for (u32 i = 0; i < x->prog.eh.phnum && !err; i++) {
		const struct elf64_phdr *ph = &x->prog.ph[i];

		if (ph->type == PT_GNU_STACK)
			x->exec_stack = ph->flags & PF_X;
		if (ph->type != PT_INTERP || x->has_interp)
			continue;
		x->has_interp = true;
		err = read_interp(x, ph);
	}
	return err;
}

/* --- mapping. mm->lock held */

static u32 segment_flags(const struct elf64_phdr *ph)
{
	u32 flags = VM_MAYREAD | VM_MAYWRITE | VM_MAYEXEC;

	if (ph->flags & PF_R)
		flags |= VM_READ;
	if (ph->flags & PF_W)
		flags |= VM_WRITE;
	if (ph->flags & PF_X)
		flags |= VM_EXEC;
	return flags;
}

static int map_segment(struct elf_image *e, const struct elf64_phdr *ph)
{
	struct mm *mm = current->mm;
	u32 flags = segment_flags(ph);
	uaddr start = e->bias + ph->vaddr, page = ALIGN_DOWN(start, PAGE_SIZE);
	uaddr file_end = ph->filesz ? ALIGN_UP(start + ph->filesz, PAGE_SIZE) : page;
	uaddr mem_end = ALIGN_UP(start + ph->memsz, PAGE_SIZE);
	long ret = 0;

	if (file_end > page)
		ret = mm_map(mm, page, file_end - page, flags, MAP_PRIVATE | MAP_FIXED_NOREPLACE, e->file,
			     (ph->offset - (start - page)) >> PAGE_SHIFT);
	if (ret >= 0 && mem_end > file_end)
		ret = mm_map(mm, file_end, mem_end - file_end, flags, MAP_PRIVATE | MAP_FIXED_NOREPLACE,
			     NULL, 0);
	return ret < 0 ? (int)ret : 0;
}

struct span { uaddr start, end; u64 align; };

static struct span image_span(const struct elf_image *e)
{
	struct span s = { USER_MAX, 0, PAGE_SIZE };

	for (u32 i = 0; i < e->eh.phnum; i++) {
		const struct elf64_phdr *ph = &e->ph[i];

		if (ph->type != PT_LOAD || !ph->memsz)
			continue;
		s.start = min(s.start, ALIGN_DOWN(ph->vaddr, PAGE_SIZE));
		s.end = max(s.end, ALIGN_UP(ph->vaddr + ph->memsz, PAGE_SIZE));
		if (ph->align > s.align && !(ph->align & (ph->align - 1)) && ph->align <= (1UL << 30))
			s.align = ph->align;
	}
	return s;
}

/*
 * Where an ET_DYN image goes: a program with an interpreter into the region that is its own, others
 * (ld.so, static-PIE) among the mappings, as Linux does.
 */
static int place_image(struct elf_image *e, bool own_region)
{
	struct span s = image_span(e);
	uaddr base;

	if (e->eh.type == ET_EXEC) {
		e->bias = 0;
		return 0;
	}
	if (own_region) {
		base = ALIGN_DOWN(mm_random_pie_base(), s.align);
	} else {
		base = mm_unmapped_area(current->mm, 0, s.end - s.start + s.align - PAGE_SIZE);
		if (IS_ERR((void *)base))
			return -ENOMEM;
		base = ALIGN_UP(base, s.align);
	}
	if (base > USER_MAX - (s.end - s.start))
		return -ENOMEM;
	e->bias = base - s.start;
	return 0;
}

static int map_image(struct elf_image *e, bool own_region)
{
	int err = place_image(e, own_region);

	for (u32 i = 0; i < e->eh.phnum && !err; i++) {
		const struct elf64_phdr *ph = &e->ph[i];

		if (ph->type == PT_LOAD && ph->memsz)
			err = map_segment(e, ph);
		if (ph->type == PT_LOAD && e->eh.phoff >= ph->offset &&
		    e->eh.phoff < ph->offset + ph->filesz)
			e->phdr_addr = e->eh.phoff - ph->offset + ph->vaddr + e->bias;
	}
	e->entry = e->eh.entry + e->bias;
	return err;
}

static int map_stack(struct exec *x)
{
	u64 size = ALIGN_UP(exec_stack_bytes(x), PAGE_SIZE) + (128UL << 10);
	u32 flags = VM_READ | VM_WRITE | VM_GROWSDOWN | VM_STACK | VM_MAYREAD | VM_MAYWRITE | VM_MAYEXEC;
	long ret;

	if (x->exec_stack)
		flags |= VM_EXEC;
	x->stack_top = mm_random_stack_top();
	ret = mm_map_special(current->mm, x->stack_top - size, size, flags, NULL, NULL);
	return ret < 0 ? (int)ret : 0;
}

/* --- afterwards, mm->lock free */

/* The rest of the last file page of a writable segment belongs to its bss, and to its end: ld.so's first
 * malloc hands out what lies behind its bss and relies on zeros there. */
static int clear_partial_pages(const struct elf_image *e)
{
	for (u32 i = 0; i < e->eh.phnum; i++) {
		const struct elf64_phdr *ph = &e->ph[i];
		uaddr end = e->bias + ph->vaddr + ph->filesz;
		u64 n = ALIGN_UP(end, PAGE_SIZE) - end;

		if (ph->type != PT_LOAD || !ph->filesz || ph->memsz <= ph->filesz || !(ph->flags & PF_W))
			continue;
		if (clear_user((void __user *)end, n))
			return -EFAULT;
	}
	return 0;
}

static void set_bounds(struct exec *x)
{
	const struct elf_image *e = &x->prog;
	struct mm *mm = current->mm;
	uaddr bss_end = 0;

	mm->start_code = USER_MAX;
	for (u32 i = 0; i < e->eh.phnum; i++) {
		const struct elf64_phdr *ph = &e->ph[i];
		uaddr start = e->bias + ph->vaddr;

		if (ph->type != PT_LOAD)
			continue;
		if (ph->flags & PF_X) {
			mm->start_code = min(mm->start_code, start);
			mm->end_code = max(mm->end_code, start + ph->filesz);
		}
		mm->start_data = max(mm->start_data, start);
		mm->end_data = max(mm->end_data, start + ph->filesz);
		bss_end = max(bss_end, start + ph->memsz);
	}
	if (mm->start_code == USER_MAX)
		mm->start_code = mm->end_code = 0;
	/* A static-PIE lies among the mappings: no room to grow behind it. */
	if (e->eh.type == ET_DYN && !x->has_interp)
		bss_end = mm_random_pie_base();
	mm->start_brk = mm->brk = mm_random_brk(bss_end);
}

int elf_load(struct exec *x)
{
	struct mm *mm = current->mm;
	int err;

	mutex_lock(&mm->lock);
	err = map_stack(x);
	if (!err)
		err = map_image(&x->prog, x->has_interp);
	if (!err)
		set_bounds(x);
	if (!err && x->has_interp)
		err = map_image(&x->interp, false);
	if (!err)
		err = arch_map_vdso(mm);
	mm_unlock(mm);
	if (!err)
		err = clear_partial_pages(&x->prog);
	if (!err && x->has_interp)
		err = clear_partial_pages(&x->interp);
	return err;
}
