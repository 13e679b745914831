/* SPDX-License-Identifier: MIT */
/* ELF-64 as far as loading needs it (System V gABI, chapters 4 and 5) and the auxiliary vector (getauxval(3)). */
#ifndef KERNEL_TASK_ELF_H
#define KERNEL_TASK_ELF_H

#include <perch/types.h>

struct elf64_ehdr {
	u8 ident[16];
	u16 type, machine;
	u32 version;
	u64 entry, phoff, shoff;
	u32 flags;
	u16 ehsize, phentsize, phnum, shentsize, shnum, shstrndx;
};
_Static_assert(sizeof(struct elf64_ehdr) == 64, "Elf64_Ehdr");

struct elf64_phdr {
	u32 type, flags;
	u64 offset, vaddr, paddr, filesz, memsz, align;
};
_Static_assert(sizeof(struct elf64_phdr) == 56, "Elf64_Phdr");

#define ET_EXEC		2
#define ET_DYN		3
#define EM_AARCH64	183
#define PT_LOAD		1
#define PT_INTERP	3
#define PT_PHDR		6
#define PT_GNU_STACK	0x6474e551
#define PF_X		1
#define PF_W		2
#define PF_R		4

#define AT_NULL		0
#define AT_PHDR		3
#define AT_PHENT	4
#define AT_PHNUM	5
#define AT_PAGESZ	6
#define AT_BASE		7
#define AT_FLAGS	8
#define AT_ENTRY	9
#define AT_UID		11
#define AT_EUID		12
#define AT_GID		13
#define AT_EGID		14
#define AT_PLATFORM	15
#define AT_HWCAP	16
#define AT_CLKTCK	17
#define AT_SECURE	23
#define AT_RANDOM	25
#define AT_HWCAP2	26
#define AT_EXECFN	31
#define AT_SYSINFO_EHDR	33
#define AT_MINSIGSTKSZ	51

#endif
