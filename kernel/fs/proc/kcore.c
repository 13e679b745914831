/* SPDX-License-Identifier: MIT */
/*
 * /proc/kcore: the running kernel as an ELF core file. It has one segment, the kernel's text,
 * which is what a profiler disassembles. Layout: the headers in the first page, then the text.
 */
#include "internal.h"
#include <perch/cred.h>
#include <perch/page.h>
#include <perch/printk.h>
#include <string.h>

struct elf64_header {
	u8 ident[16];
	u16 type, machine;
	u32 version;
	u64 entry, phoff, shoff;
	u32 flags;
	u16 ehsize, phentsize, phnum, shentsize, shnum, shstrndx;
};
_Static_assert(sizeof(struct elf64_header) == 64, "ELF header");
struct elf64_phdr { u32 type, flags; u64 offset, vaddr, paddr, filesz, memsz, align; };
_Static_assert(sizeof(struct elf64_phdr) == 56, "ELF program header");

#define ET_CORE		4
#define EM_AARCH64	183
#define PT_LOAD		1
#define PT_NOTE		4
#define TEXT_OFFSET	PAGE_SIZE

extern char _text[], _etext[];

static size_t text_size(void)
{
	return (size_t)(_etext - _text);
}

struct headers { struct elf64_header ehdr; struct elf64_phdr note, load; };

static void make_headers(struct headers *h)
{
	*h = (struct headers){
		.ehdr = {
			.ident = { 0x7f, 'E', 'L', 'F', 2, 1, 1 },	/* 64 bits, little endian */
			.type = ET_CORE, .machine = EM_AARCH64, .version = 1,
			.phoff = offsetof(struct headers, note),
			.ehsize = sizeof(struct elf64_header),
			.phentsize = sizeof(struct elf64_phdr), .phnum = 2,
		},
		.note = { .type = PT_NOTE, .offset = sizeof(struct headers) },
		.load = {
			.type = PT_LOAD, .flags = 7, .offset = TEXT_OFFSET, .vaddr = (u64)_text,
			.paddr = (u64)-1, .filesz = text_size(), .memsz = text_size(),
			.align = PAGE_SIZE,
		},
	};
}

static int kcore_open(struct inode *i, struct file *f)
{
	return capable(CAP_SYS_RAWIO) ? 0 : -EPERM;
}

static ssize_t kcore_read(struct file *f, struct uio *u, loff *pos)
{
	u8 *page;
	ssize_t ret;
	loff in_text = *pos - (loff)TEXT_OFFSET;

	if (in_text >= 0) {
		ret = text_serve(u, &in_text, _text, text_size());
		if (ret > 0)
			*pos += ret;
		return ret;
	}
	page = kzalloc(PAGE_SIZE);
	if (!page)
		return -ENOMEM;
	make_headers((struct headers *)page);
	ret = text_serve(u, pos, page, TEXT_OFFSET);
	kfree(page);
	return ret;
}

static loff kcore_llseek(struct file *f, loff off, int whence)
{
	if (whence == SEEK_END)
		return f->pos = f->inode->size + off;
	return text_llseek(f, off, whence);
}

static const struct file_ops kcore_fops = {
	.open = kcore_open,
	.read = kcore_read,
	.llseek = kcore_llseek,
};

void proc_kcore_init(void)
{
	static const struct knode_ops ops = { .fops = &kcore_fops };
	struct knode *n = knode_file(proc_root, "kcore", 0400, &ops, NULL);

	if (n)
		knode_set_size(n, (loff)(TEXT_OFFSET + text_size()));
}
