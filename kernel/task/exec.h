/* SPDX-License-Identifier: MIT */
/* What the files of execve share: the program being started, its strings, its image. */
#ifndef KERNEL_TASK_EXEC_H
#define KERNEL_TASK_EXEC_H

#include <perch/cred.h>
#include <perch/types.h>

#include "elf.h"

struct file;
struct mm;

#define EXEC_HEAD	256	/* bytes of a file that tell its format; a #! line is cut there */
#define EXEC_MAX_SCRIPTS 5	/* interpreters of interpreters; then ELOOP */

/* Strings one after the other, each with its NUL, in pages of their own. */
struct strings {
	char **pages;
	u32 nr_pages;
	size_t len;		/* bytes used */
	u32 count;		/* strings */
};

/* An ELF file that has been looked at. */
struct elf_image {
	struct file *file;	/* reference */
	struct elf64_ehdr eh;
	struct elf64_phdr *ph;	/* eh.phnum of them; kmalloc */
	uaddr bias;		/* what loading added to its addresses */
	uaddr entry;
	uaddr phdr_addr;	/* where its program headers are in memory, 0 if nowhere */
};

struct exec {
	struct file *file;	/* the ELF file in the end; reference */
	char *filename;		/* as the caller named it: AT_EXECFN, comm */
	char head[EXEC_HEAD];
	struct strings args, envs;
	u64 limit;		/* bytes that strings and pointers may take together */
	struct elf_image prog, interp;
	bool has_interp;
	bool exec_stack;
	struct mm *mm;		/* the new one, until current has it */
	struct cred cred;	/* the new one */
	bool secure, privileged;
	uaddr stack_top;
};

/* A vector of strings in user or kernel memory. */
struct strvec { bool kernel; const void *ptr; };

/* exec_args.c. All 0 or -errno (E2BIG, EFAULT, ENOMEM). */
int strings_add(struct exec *x, struct strings *s, const char *kernel_string);
int strings_add_vec(struct exec *x, struct strings *s, struct strvec v);
/* Put n strings (the blocks of text one after the other) in front, instead of the first one. */
int strings_replace_first(struct exec *x, struct strings *s, const char *const *front, u32 n);
void strings_free(struct strings *s);
u64 exec_arg_limit(void);
/* Copy the strings to the top of current's new stack and lay out argc, argv, envp and auxv below
 * them. Returns the stack pointer or -errno. */
long exec_build_stack(struct exec *x);
/* Size of the area that the strings and vectors need, bytes. */
u64 exec_stack_bytes(const struct exec *x);

/* elf.c */
int elf_prepare(struct exec *x);	/* reads and checks headers, also of PT_INTERP. ENOEXEC and more */
int elf_load(struct exec *x);		/* into current's new mm */
void elf_free(struct elf_image *e);

/* dethread.c: make current the only thread and the leader of its process. 0 or -EAGAIN. */
int exec_dethread(void);
int exec_own_sighand(void);		/* 0 or -ENOMEM */

struct file *exec_open(int dirfd, const char *name, int flags);	/* ERR_PTR */

#endif
