/* SPDX-License-Identifier: MIT */
/*
 * The build id of an ELF file: the contents of the note of type NT_GNU_BUILD_ID (3) and name "GNU" in one of
 * its PT_NOTE segments. Only files that are programs for this machine are looked at, and only so much of
 * them: a profiler asks for it at every mapping, and whoever maps chooses the file.
 */
#include <kernel/task/elf.h>
#include <perch/fs.h>
#include <perch/mm.h>
#include <string.h>
#include "internal.h"

#define PT_NOTE		4
#define NT_GNU_BUILD_ID	3
#define PHDRS_MAX	32
#define NOTES_MAX	1024u

struct note {
	u32 namesz, descsz, type;
	char name[4];
};

static bool read_all(struct file *f, void *buf, size_t n, u64 pos)
{
	return pos < INT64_MAX - n && file_read_kernel(f, buf, n, (loff)pos) == (ssize_t)n;
}

/* In n bytes of notes. */
static u32 find_id(const u8 *p, u32 n, u8 id[BUILD_ID_MAX])
{
	u32 at = 0;

	while (n - at >= sizeof(struct note)) {
		const struct note *x = (const struct note *)(p + at);
		u64 desc = at + 12 + ALIGN_UP((u64)x->namesz, 4), end = desc + ALIGN_UP((u64)x->descsz, 4);

		if (end > n)
			return 0;
		if (x->type == NT_GNU_BUILD_ID && x->namesz == 4 && !memcmp(x->name, "GNU", 4) &&
		    x->descsz && x->descsz <= BUILD_ID_MAX) {
			memcpy(id, p + desc, x->descsz);
			return x->descsz;
		}
		at = (u32)end;
	}
	return 0;
}

static u32 in_segment(struct file *f, const struct elf64_phdr *ph, u8 id[BUILD_ID_MAX])
{
	u32 n = (u32)min_t(u64, ph->filesz, NOTES_MAX), found = 0;
	u8 *notes = kmalloc(NOTES_MAX);

	if (notes && read_all(f, notes, n, ph->offset))
		found = find_id(notes, n, id);
	kfree(notes);
	return found;
}

u32 file_build_id(struct file *f, u8 id[BUILD_ID_MAX])
{
	static const u8 magic[6] = { 0x7f, 'E', 'L', 'F', 2, 1 };	/* 64 bit, little endian */
	struct elf64_ehdr eh;
	struct elf64_phdr ph;
	u32 n = 0;

	if ((f->inode->mode & S_IFMT) != S_IFREG || !read_all(f, &eh, sizeof(eh), 0) ||
	    memcmp(eh.ident, magic, sizeof(magic)) || eh.phentsize != sizeof(ph))
		return 0;
	for (u32 i = 0; !n && i < min_t(u32, eh.phnum, PHDRS_MAX); i++)
		if (read_all(f, &ph, sizeof(ph), eh.phoff + i * sizeof(ph)) && ph.type == PT_NOTE)
			n = in_segment(f, &ph, id);
	return n;
}
