/* SPDX-License-Identifier: MIT */
/*
 * The strings of execve: copied from the old address space before it goes, laid out in the new one.
 *
 * Top of the new stack, downwards (what ld.so, libc and ps expect):
 *
 *	8 zero bytes
 *	file name			AT_EXECFN
 *	environment strings		env_start .. env_end
 *	argument strings		arg_start .. arg_end
 *	"aarch64", 16 random bytes	AT_PLATFORM, AT_RANDOM
 *	auxv pairs, ending AT_NULL
 *	envp pointers, NULL
 *	argv pointers, NULL
 *	argc				<- sp, 16-byte aligned
 */
#include <perch/boot.h>
#include <perch/errno.h>
#include <perch/mm.h>
#include <perch/printk.h>
#include <perch/random.h>
#include <perch/uaccess.h>
#include <string.h>

#include "exec.h"
#include "internal.h"

#define MAX_STRING	(32 * PAGE_SIZE)	/* one string, as on Linux */
#define LIMIT_MIN	(128UL << 10)
#define LIMIT_MAX	(6UL << 20)

/* A quarter of the stack limit, within bounds. */
u64 exec_arg_limit(void)
{
	return max_t(u64, min_t(u64, rlimit(RLIMIT_STACK) / 4, LIMIT_MAX), LIMIT_MIN);
}

static u64 bytes_used(const struct exec *x)
{
	return x->args.len + x->envs.len + 8ULL * (x->args.count + x->envs.count);
}

/* --- building */

static int grow(struct strings *s)
{
	char **pages = krealloc(s->pages, (s->nr_pages + 1) * sizeof(*pages));
	struct page *p;

	if (!pages)
		return -ENOMEM;
	s->pages = pages;
	p = alloc_page();
	if (!p)
		return -ENOMEM;
	s->pages[s->nr_pages++] = page_address(p);
	return 0;
}

void strings_free(struct strings *s)
{
	for (u32 i = 0; i < s->nr_pages; i++)
		free_pages(virt_to_page(s->pages[i]), 0);
	kfree(s->pages);
	memset(s, 0, sizeof(*s));
}

/* One piece of at most n bytes up to and with the NUL: bytes copied, *end if the NUL was there. */
static long copy_piece(char *dst, const char *src, bool kernel, size_t n, bool *end)
{
	long len = kernel ? (long)strnlen(src, n) : strncpy_from_user(dst, src, n);

	if (len < 0)
		return len;
	if (kernel)
		memcpy(dst, src, (size_t)len);
	*end = (size_t)len < n;
	if (*end)
		dst[len++] = '\0';
	return len;
}

static int add_string(struct exec *x, struct strings *s, const char *src, bool kernel)
{
	size_t start = s->len;
	bool end = false;

	s->count++;
	while (!end) {
		size_t off = s->len % PAGE_SIZE;
		long n;

		if (s->len == s->nr_pages * PAGE_SIZE && grow(s))
			return -ENOMEM;
		n = copy_piece(s->pages[s->len / PAGE_SIZE] + off, src, kernel, PAGE_SIZE - off, &end);
		if (n < 0)
			return (int)n;
		s->len += (size_t)n;
		src += n;
		if (s->len - start > MAX_STRING || bytes_used(x) > x->limit)
			return -E2BIG;
	}
	return 0;
}

int strings_add(struct exec *x, struct strings *s, const char *kernel_string)
{
	return add_string(x, s, kernel_string, true);
}

int strings_add_vec(struct exec *x, struct strings *s, struct strvec v)
{
	const char *p;
	int err;

	if (!v.ptr)
		return 0;	/* Linux takes NULL for an empty vector */
	for (u64 i = 0;; i++) {
		if (v.kernel)
			p = ((const char *const *)v.ptr)[i];
		else if (copy_from_user(&p, (const char __user *const __user *)v.ptr + i, sizeof(p)))
			return -EFAULT;
		if (!p)
			return 0;
		err = add_string(x, s, p, v.kernel);
		if (err)
			return err;
		if (fatal_signal_pending(current))
			return -ERESTARTNOHAND;
		cond_resched();
	}
}

/* --- reading back */

/* Walk the bytes [from, len) in pieces that do not cross a page. */
static size_t piece(const struct strings *s, size_t from, const char **p)
{
	*p = s->pages[from / PAGE_SIZE] + from % PAGE_SIZE;
	return min_t(size_t, PAGE_SIZE - from % PAGE_SIZE, s->len - from);
}

/* Offset behind the NUL of the string that starts at from. */
static size_t string_end(const struct strings *s, size_t from)
{
	const char *p, *nul;

	while (from < s->len) {
		size_t n = piece(s, from, &p);

		nul = memchr(p, 0, n);
		if (nul)
			return from + (size_t)(nul - p) + 1;
		from += n;
	}
	return from;
}

int strings_replace_first(struct exec *x, struct strings *s, const char *const *front, u32 n)
{
	struct strings old = *s;
	size_t from = old.count ? string_end(&old, 0) : 0;
	int err = 0;

	memset(s, 0, sizeof(*s));
	for (u32 i = 0; i < n && !err; i++)
		if (front[i])
			err = strings_add(x, s, front[i]);
	while (from < old.len && !err) {
		const char *p;
		size_t off = s->len % PAGE_SIZE, len = piece(&old, from, &p);

		if (s->len == s->nr_pages * PAGE_SIZE)
			err = grow(s);
		if (err)
			break;
		len = min(len, (size_t)(PAGE_SIZE - off));
		memcpy(s->pages[s->len / PAGE_SIZE] + off, p, len);
		s->len += len;
		from += len;
	}
	if (old.count)
		s->count += old.count - 1;
	strings_free(&old);
	return !err && bytes_used(x) > x->limit ? -E2BIG : err;
}

/* --- the new stack */

static int copy_out(uaddr dst, const struct strings *s)
{
	size_t from = 0;
	const char *p;

	while (from < s->len) {
		size_t n = piece(s, from, &p);

		if (copy_to_user((void __user *)(dst + from), p, n))
			return -EFAULT;
		from += n;
	}
	return 0;
}

/* The highest bit of each byte of w that is NUL. */
static u64 nul_bytes(u64 w)
{
	u64 low = 0x7f7f7f7f7f7f7f7fUL;

	return ~(((w & low) + low) | w | low);
}

/*
 * The pointers to strings that were copied to base; and the NULL behind them. Returns the next slot. What is behind
 * the last string in its word does not matter.
 */
static long put_pointers(u64 __user *slot, const struct strings *s, uaddr base)
{
	u64 __user *end = slot + s->count;
	size_t start = 0;

	for (size_t off = 0; slot < end; off += 8) {
		u64 nul = nul_bytes(*(const u64 *)(s->pages[off / PAGE_SIZE] + off % PAGE_SIZE));

		for (; nul && slot < end; nul &= nul - 1) {
			if (put_user(base + start, slot++))
				return -EFAULT;
			start = off + (size_t)__builtin_ctzll(nul) / 8 + 1;
		}
	}
	if (put_user(0UL, slot++))
		return -EFAULT;
	return (long)slot;
}

struct auxv { u64 *v; u32 n; };

static void aux(struct auxv *a, u64 type, u64 value)
{
	ASSERT(a->n + 2 <= ARRAY_SIZE(((struct mm *)0)->auxv));
	a->v[a->n++] = type;
	a->v[a->n++] = value;
}

/* In the order in which Linux on arm64 gives them. */
static u32 fill_auxv(struct exec *x, u64 *v, uaddr execfn, uaddr platform, uaddr random)
{
	const struct cred *c = &current->cred;
	struct auxv a = { v, 0 };

	if (current->mm->vdso)
		aux(&a, AT_SYSINFO_EHDR, current->mm->vdso);
	aux(&a, AT_MINSIGSTKSZ, MINSIGSTKSZ);
	aux(&a, AT_HWCAP, arch_hwcap());
	aux(&a, AT_PAGESZ, PAGE_SIZE);
	aux(&a, AT_CLKTCK, USER_HZ);
	aux(&a, AT_PHDR, x->prog.phdr_addr);
	aux(&a, AT_PHENT, sizeof(struct elf64_phdr));
	aux(&a, AT_PHNUM, x->prog.eh.phnum);
	aux(&a, AT_BASE, x->has_interp ? x->interp.bias : 0);
	aux(&a, AT_FLAGS, 0);
	aux(&a, AT_ENTRY, x->prog.entry);
	aux(&a, AT_UID, c->uid);
	aux(&a, AT_EUID, c->euid);
	aux(&a, AT_GID, c->gid);
	aux(&a, AT_EGID, c->egid);
	aux(&a, AT_SECURE, x->secure);
	aux(&a, AT_RANDOM, random);
	aux(&a, AT_HWCAP2, arch_hwcap2());
	aux(&a, AT_EXECFN, execfn);
	aux(&a, AT_PLATFORM, platform);
	aux(&a, AT_NULL, 0);
	return a.n;
}

#define AUXV_MAX	(ARRAY_SIZE(((struct mm *)0)->auxv) * 8)

u64 exec_stack_bytes(const struct exec *x)
{
	/* strings, pointers with two NULLs and argc, auxv, random and platform, alignment */
	return bytes_used(x) + strlen(x->filename) + 1 + 24 + AUXV_MAX + 256;
}

static int copy_small(struct exec *x, uaddr execfn, uaddr platform, uaddr random)
{
	const char *name = arch_platform();
	u8 bytes[16];

	random_bytes(bytes, sizeof(bytes));
	if (copy_to_user((void __user *)execfn, x->filename, strlen(x->filename) + 1) ||
	    copy_to_user((void __user *)platform, name, strlen(name) + 1) ||
	    copy_to_user((void __user *)random, bytes, sizeof(bytes)))
		return -EFAULT;
	return 0;
}

/* argc, the pointers and auxv below limit. Returns sp or -EFAULT. */
static long put_vectors(struct exec *x, uaddr limit)
{
	struct mm *mm = current->mm;
	u64 words = 1 + x->args.count + 1 + x->envs.count + 1 + mm->auxv_len;
	uaddr sp = ALIGN_DOWN(limit - words * 8, 16);
	long slot = (long)sp;

	if (put_user((u64)x->args.count, (u64 __user *)slot))
		return -EFAULT;
	slot = put_pointers((u64 __user *)slot + 1, &x->args, mm->arg_start);
	if (slot > 0)
		slot = put_pointers((u64 __user *)slot, &x->envs, mm->env_start);
	if (slot < 0)
		return slot;
	if (copy_to_user((void __user *)slot, mm->auxv, mm->auxv_len * 8))
		return -EFAULT;
	return (long)sp;
}

long exec_build_stack(struct exec *x)
{
	struct mm *mm = current->mm;
	uaddr p = x->stack_top - 8, execfn, platform, random;
	int err;

	execfn = p -= strlen(x->filename) + 1;
	mm->env_end = p;
	mm->env_start = p -= x->envs.len;
	mm->arg_end = p;
	mm->arg_start = p -= x->args.len;
	platform = p = ALIGN_DOWN(p, 16) - 16;
	random = p -= 16;
	mm->auxv_len = fill_auxv(x, mm->auxv, execfn, platform, random);
	err = copy_out(mm->arg_start, &x->args);
	if (!err)
		err = copy_out(mm->env_start, &x->envs);
	if (!err)
		err = copy_small(x, execfn, platform, random);
	if (err)
		return err;
	mm->start_stack = (uaddr)put_vectors(x, p);
	return (long)mm->start_stack;
}
