/* SPDX-License-Identifier: MIT */
/*
 * Random programs of memory calls on a few address spaces and files, each page of a window compared
 * with a model that is as plain as can be: per page one record of what it should be.
 */
#include "host.h"
#include <perch/random.h>
#include "kernel/mm/internal.h"

#define WINDOW	0x101f0000UL	/* crosses a boundary between page tables */
#define PAGES	96
#define MMS	4
#define FILES	3

#define SIGBUS_	7
#define SIGSEGV_ 11

enum kind { ANON, PRIVATE, SHARED };

struct mpage {
	bool mapped, own, wipe, nofork;
	enum kind kind;
	u32 prot, file, index;
	u64 value;			/* if own */
};

static struct mm *mms[MMS];
static struct mpage model[MMS][PAGES];
static struct host_file *files[FILES];
static u64 content[FILES][FILE_PAGES], size[FILES];

long sys_munmap(uaddr addr, u64 len);
long sys_mprotect(uaddr start, u64 len, u64 prot);
long sys_mremap(uaddr old, u64 old_len, u64 new_len, u64 flags, uaddr new_addr);
long sys_madvise(uaddr start, u64 len, int advice);
long sys_mlock(uaddr start, u64 len);
long sys_munlock(uaddr start, u64 len);
long sys_munlockall(void);

struct range { u32 m, first, n; };

static uaddr va_of(u32 page)
{
	return WINDOW + ((u64)page << PAGE_SHIFT);
}

static struct range pick_range(u32 m)
{
	struct range r = { m, rnd(PAGES), 0 };

	r.n = 1 + rnd(min_t(u64, 12, PAGES - r.first));
	return r;
}

/* Shorten to what one area covers; false if nothing is mapped at its start. */
static bool clip_to_area(struct range *r)
{
	struct vma *v = vma_at(mms[r->m], va_of(r->first));

	if (!v)
		return false;
	r->n = min_t(u64, r->n, (v->end - va_of(r->first)) >> PAGE_SHIFT);
	return true;
}

static u32 pick_prot(void)
{
	static const u32 prots[] = { 0, 1, 3, 3, 3, 5, 7 };

	return prots[rnd(ARRAY_SIZE(prots))];
}

/* --- operations ------------------------------------------------------------------------------------ */

static void op_map(struct range r)
{
	struct mm *mm = mms[r.m];
	enum kind kind = rnd(3);
	u32 prot = pick_prot(), file = rnd(FILES), index = rnd(FILE_PAGES - 12);
	u32 flags = prot | VM_MAYREAD | VM_MAYWRITE | VM_MAYEXEC | (kind == SHARED ? VM_SHARED : 0);
	long ret;

	mutex_lock(&mm->lock);
	ret = mm_map(mm, va_of(r.first), (u64)r.n << PAGE_SHIFT, flags,
		     MAP_FIXED | (rnd(4) ? 0 : MAP_POPULATE), kind == ANON ? NULL : &files[file]->f, index);
	mm_unlock(mm);
	CHECK(ret == (long)va_of(r.first));
	for (u32 i = 0; i < r.n; i++)
		model[r.m][r.first + i] = (struct mpage){ .mapped = true, .kind = kind, .prot = prot,
							   .file = file, .index = index + i };
}

static void op_unmap(struct range r)
{
	long ret = sys_munmap(va_of(r.first), (u64)r.n << PAGE_SHIFT);

	if (ret == -ENOMEM)
		return;			/* an allocation was made to fail */
	CHECK(!ret);
	for (u32 i = 0; i < r.n; i++)
		model[r.m][r.first + i].mapped = false;
}

static void op_protect(struct range r)
{
	u32 prot = pick_prot(), i;
	long ret = sys_mprotect(va_of(r.first), (u64)r.n << PAGE_SHIFT, prot);

	for (i = 0; i < r.n && model[r.m][r.first + i].mapped; i++)
		model[r.m][r.first + i].prot = prot;
	CHECK(ret == (i == r.n ? 0 : -ENOMEM));
}

static void op_advise(struct range r, int advice)
{
	long ret;

	if (!clip_to_area(&r))
		return;
	if (advice == 8 && model[r.m][r.first].kind != ANON)
		return;
	ret = sys_madvise(va_of(r.first), (u64)r.n << PAGE_SHIFT, advice);
	if (advice == 18 && model[r.m][r.first].kind != ANON) {
		CHECK(ret == -EINVAL);
		return;
	}
	CHECK(!ret);
	for (u32 i = 0; i < r.n; i++) {
		struct mpage *p = &model[r.m][r.first + i];

		if (advice == 4 || advice == 8)
			p->own = false;
		else if (advice == 18)
			p->wipe = true;
		else if (advice == 19)
			p->wipe = false;
		else
			p->nofork = advice == 10;
	}
}

static void op_move(struct range r)
{
	u32 to = rnd(PAGES - r.n + 1);
	struct mpage copy[PAGES];
	long ret;

	if (!clip_to_area(&r) || (to < r.first + r.n && r.first < to + r.n))
		return;
	ret = sys_mremap(va_of(r.first), (u64)r.n << PAGE_SHIFT, (u64)r.n << PAGE_SHIFT, 3, va_of(to));
	if (ret == -ENOMEM) {
		/* Made to fail: the target is gone or not, the source must be whole. */
		for (u32 i = 0; i < r.n; i++)
			if (!vma_at(mms[r.m], va_of(to + i)))
				model[r.m][to + i].mapped = false;
		return;
	}
	CHECK(ret == (long)va_of(to));
	memcpy(copy, model[r.m], sizeof(copy));
	for (u32 i = 0; i < r.n; i++)
		model[r.m][r.first + i].mapped = false;
	for (u32 i = 0; i < r.n; i++)
		model[r.m][to + i] = copy[r.first + i];
}

/* In place only. The model follows what the kernel says it did. */
static void op_resize(struct range r)
{
	u32 n = 1 + rnd(12);
	struct mpage last;
	long ret;

	if (!clip_to_area(&r) || r.first + n > PAGES)
		return;
	last = model[r.m][r.first + r.n - 1];
	if (last.kind != ANON && last.index + n >= FILE_PAGES)
		return;
	ret = sys_mremap(va_of(r.first), (u64)r.n << PAGE_SHIFT, (u64)n << PAGE_SHIFT, 0, 0);
	if (ret == -ENOMEM)
		return;
	CHECK(ret == (long)va_of(r.first));
	for (u32 i = r.n; i < n; i++) {
		CHECK(!model[r.m][r.first + i].mapped);
		model[r.m][r.first + i] = last;
		model[r.m][r.first + i].own = false;
		model[r.m][r.first + i].index = last.index + 1 + i - r.n;
	}
	for (u32 i = n; i < r.n; i++)
		model[r.m][r.first + i].mapped = false;
}

static void op_fork(u32 m)
{
	u32 to = rnd(MMS);
	struct mm *mm;

	if (mms[to])
		return;
	mm = mm_fork(mms[m]);
	if (IS_ERR(mm))
		return;
	mms[to] = mm;
	memcpy(model[to], model[m], sizeof(model[m]));
	for (u32 i = 0; i < PAGES; i++) {
		struct mpage *p = &model[to][i];

		if (p->nofork)
			p->mapped = false;
		if (p->wipe)
			p->own = false;
	}
}

static void op_exit(u32 m)
{
	mm_put(mms[m]);
	mms[m] = NULL;
}

static void op_lock(struct range r)
{
	(void)sys_mlock(va_of(r.first), (u64)r.n << PAGE_SHIFT);
	if (rnd(2))
		(void)sys_munlock(va_of(r.first), (u64)r.n << PAGE_SHIFT);
	CHECK(!sys_munlockall());
	CHECK(!mms[r.m]->locked_vm);
}

static void op_truncate(void)
{
	u32 f = rnd(FILES), n = rnd(FILE_PAGES + 1);

	host_file_truncate(files[f], n);
	size[f] = n;
	for (u32 k = n; k < FILE_PAGES; k++)
		content[f][k] = 0;
	for (u32 m = 0; m < MMS; m++)
		for (u32 i = 0; i < PAGES; i++)
			if (model[m][i].kind == PRIVATE && model[m][i].file == f && model[m][i].index >= n)
				model[m][i].own = false;
}

static void op_punch(void)
{
	u32 f = rnd(FILES), first = rnd(FILE_PAGES), n = 1 + rnd(8);

	n = min_t(u32, n, FILE_PAGES - first);
	host_file_punch(files[f], first, n);
	memset(&content[f][first], 0, n * sizeof(u64));
}

/* --- loads and stores -------------------------------------------------------------------------------- */

static int expect(const struct mpage *p, bool write, u64 *value)
{
	if (!p->mapped || !p->prot || (write && !(p->prot & VM_WRITE)))
		return SIGSEGV_;
	if (p->kind == ANON || p->own) {
		*value = p->own ? p->value : 0;
		return 0;
	}
	if (p->index >= size[p->file])
		return SIGBUS_;
	*value = content[p->file][p->index];
	return 0;
}

static void load_one(u32 m, u32 i)
{
	u64 want = 0, got = 0;
	int sig = expect(&model[m][i], false, &want), ret = user_load(mms[m], va_of(i), &got);

	if (ret == -ENOMEM)
		return;
	CHECK(ret == sig && (ret || got == want));
}

static void store_one(u32 m, u32 i)
{
	struct mpage *p = &model[m][i];
	u64 unused, value = random_u64();
	int sig = expect(p, true, &unused), ret = user_store(mms[m], va_of(i), value);

	if (ret == -ENOMEM)
		return;
	CHECK(ret == sig);
	if (ret)
		return;
	if (p->kind == SHARED) {
		content[p->file][p->index] = value;
	} else {
		p->own = true;
		p->value = value;
	}
}

static void poke_one(u32 m, u32 i)
{
	struct mpage *p = &model[m][i];
	u64 value = random_u64(), old = 0;
	long ret = mm_access(mms[m], va_of(i), &value, 8, true, true);

	if (ret == -ENOMEM)
		return;
	if (!p->mapped || (p->kind == SHARED && !(p->prot & VM_WRITE))) {
		CHECK(ret == -EFAULT);
		return;
	}
	if (p->kind != ANON && !p->own && p->index >= size[p->file]) {
		CHECK(ret == -EFAULT);
		return;
	}
	CHECK(ret == 8);
	if (p->kind == SHARED) {
		content[p->file][p->index] = value;
	} else {
		p->own = true;
		p->value = value;
	}
	CHECK(mm_access(mms[m], va_of(i), &old, 8, false, true) == 8 && old == value);
}

/* --- the random program ------------------------------------------------------------------------------------ */

/* Not for mmap and mprotect: half a success is legal there, and the model does not know which half. */
static void maybe_fail(void)
{
	if (rnd(8) == 0)
		alloc_fail_after(1 + rnd(6));
}

static void step(u32 m)
{
	struct range r = pick_range(m);

	host_task->mm = mms[m];
	switch (rnd(24)) {
	case 0: case 1: case 2: op_map(r); break;
	case 3: maybe_fail(); op_unmap(r); break;
	case 4: case 5: op_protect(r); break;
	case 6: op_advise(r, rnd(2) ? 4 : 8); break;
	case 7: op_advise(r, rnd(2) ? 18 : 19); break;
	case 8: op_advise(r, rnd(3) ? 11 : 10); break;
	case 9: maybe_fail(); op_move(r); break;
	case 10: maybe_fail(); op_resize(r); break;
	case 11: maybe_fail(); op_fork(m); break;
	case 12: if (m) op_exit(m); break;
	case 13: op_lock(r); break;
	case 14: op_truncate(); break;
	case 15: op_punch(); break;
	case 16: maybe_fail(); poke_one(m, r.first); break;
	default:
		maybe_fail();
		for (u32 i = 0; i < r.n; i++)
			if (rnd(2))
				store_one(m, r.first + i);
			else
				load_one(m, r.first + i);
	}
	alloc_fail_after(0);
}

static void compare_all(void)
{
	for (u32 m = 0; m < MMS; m++) {
		if (!mms[m])
			continue;
		page_table_check(mms[m]);
		host_task->mm = mms[m];
		for (u32 i = 0; i < PAGES; i++)
			load_one(m, i);
	}
	tlb_check();
}

void test_model(u64 seed, u32 steps)
{
	rnd_seed(seed);
	for (u32 f = 0; f < FILES; f++) {
		size[f] = FILE_PAGES / 2;
		files[f] = host_file_new(size[f]);
		memset(content[f], 0, sizeof(content[f]));
	}
	memset(model, 0, sizeof(model));
	mms[0] = mm_create();
	for (u32 n = 0; n < steps; n++) {
		u32 m = rnd(MMS);

		step(mms[m] ? m : 0);
		tlb_check();
		if (n % 64 == 0)
			compare_all();
	}
	compare_all();
	for (u32 m = 0; m < MMS; m++)
		if (mms[m])
			op_exit(m);
	host_task->mm = NULL;
	for (u32 f = 0; f < FILES; f++)
		host_file_free(files[f]);
}
