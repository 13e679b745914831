/* SPDX-License-Identifier: MIT */
/*
 * Creating and removing areas: what is behind mmap, munmap and exec.
 *
 * Addresses are given out downwards from mm->mmap_base (which lies below the stack's maximum),
 * and above it only when there is no room left below.
 */
#include <perch/errno.h>
#include <perch/fs.h>
#include <perch/mm.h>
#include <perch/perf.h>
#include "internal.h"

int sysctl_overcommit_memory;
int sysctl_max_map_count = 65530;

int range_check(uaddr addr, u64 *len)
{
	u64 n = ALIGN_UP(*len, PAGE_SIZE);

	if (!IS_ALIGNED(addr, PAGE_SIZE) || (*len && !n) || addr > USER_MAX || n > USER_MAX - addr)
		return -EINVAL;
	*len = n;
	return 0;
}

/* --- accounting ------------------------------------------------------------------------------------- */

static bool is_stack(u32 flags)
{
	return flags & VM_GROWSDOWN;
}

static bool is_data(u32 flags)
{
	return (flags & (VM_WRITE | VM_SHARED | VM_GROWSDOWN)) == VM_WRITE;
}

static bool is_exec(u32 flags)
{
	return (flags & (VM_EXEC | VM_WRITE | VM_GROWSDOWN)) == VM_EXEC;
}

void mm_account(struct mm *mm, u32 flags, s64 pages)
{
	mm->total_vm += pages;
	if (is_exec(flags))
		mm->exec_vm += pages;
	else if (is_stack(flags))
		mm->stack_vm += pages;
	else if (is_data(flags))
		mm->data_vm += pages;
	if (flags & VM_LOCKED)
		mm->locked_vm += pages;
	if (mm->total_vm > mm->hiwater_vm)
		mm->hiwater_vm = mm->total_vm;
}

int mm_may_expand(struct mm *mm, u32 flags, u64 pages)
{
	bool data = is_data(flags);

	if (mm->total_vm + pages > rlimit_pages(RLIMIT_AS))
		return -ENOMEM;
	if (data && mm->data_vm + pages > rlimit_pages(RLIMIT_DATA))
		return -ENOMEM;
	/* Linux's heuristic: only what could never fit is refused. */
	if (data && !(flags & VM_NORESERVE) && sysctl_overcommit_memory != 1 &&
	    pages > mem_stats.total_pages)
		return -ENOMEM;
	return 0;
}

bool can_mlock(void)
{
	return rlimit(RLIMIT_MEMLOCK) != 0 || capable(CAP_IPC_LOCK);
}

int mm_may_lock(struct mm *mm, u64 pages)
{
	if (mm->locked_vm + pages > rlimit_pages(RLIMIT_MEMLOCK) && !capable(CAP_IPC_LOCK))
		return -EAGAIN;
	return 0;
}

/* --- perf's view -------------------------------------------------------------------------------------- */

static const char *perf_name(struct vma *v, char *buf, struct perf_mapping *m)
{
	const char *name;

	if (v->file) {
		u64 dev = v->file->inode->sb->dev;

		m->dev_major = dev >> 20;
		m->dev_minor = dev & 0xfffff;
		m->ino = v->file->inode->ino;
		name = path_name(&v->file->path, buf, PATH_MAX);
		return IS_ERR(name) ? "//toolong" : name;
	}
	name = v->ops && v->ops->name ? v->ops->name(v) : NULL;
	if (name)
		return name;
	/* The first brk has no name yet: it ends where the heap is said to end behind it. So on Linux. */
	if (v->flags & VM_HEAP && v->start < v->mm->brk)
		return "[heap]";
	if (v->flags & VM_STACK)
		return "[stack]";
	return "//anon";
}

static noinline void tell_perf(struct vma *v)
{
	struct perf_mapping m = {
		.start = v->start,
		.len = v->end - v->start,
		.pgoff = v->pgoff << PAGE_SHIFT,
		.prot = v->flags & VM_PROT,	/* the same bits as PROT_x */
		.flags = (v->flags & VM_SHARED ? MAP_SHARED : MAP_PRIVATE) |
			 (v->flags & VM_LOCKED ? MAP_LOCKED : 0),
	};
	char *buf = kmalloc(PATH_MAX);

	m.path = buf ? perf_name(v, buf, &m) : "//enomem";
	if (v->file && perf_wants_build_id())
		m.build_id_size = file_build_id(v->file, m.build_id);
	perf_mmap(&m);
	kfree(buf);
}

void mm_perf_mmap(struct vma *v)
{
	if (perf_wants_mmap())
		tell_perf(v);
}

/* --- free addresses -------------------------------------------------------------------------------------- */

uaddr mm_unmapped_area(struct mm *mm, uaddr hint, u64 len)
{
	uaddr addr;

	len = ALIGN_UP(len, PAGE_SIZE);
	if (!len || len > USER_MAX - USER_MIN)
		return -ENOMEM;
	hint = ALIGN_UP(hint, PAGE_SIZE);
	if (hint >= USER_MIN && hint <= USER_MAX - len && vma_range_free(mm, hint, len)) {
		struct vma *next = vma_find(mm, hint), *prev;

		prev = next ? vma_prev(mm, next) :
			list_empty(&mm->vmas) ? NULL : list_last(&mm->vmas, struct vma, node);
		if (!prev || hint >= prev->end)
			return hint;
	}
	addr = vma_gap_top(mm, len, mm->mmap_base);
	if (!addr)
		addr = vma_gap_top(mm, len, USER_MAX);
	return addr ? addr : (uaddr)-ENOMEM;
}

static uaddr choose_address(struct mm *mm, uaddr addr, u64 len, u32 mapflags)
{
	if (!(mapflags & (MAP_FIXED | MAP_FIXED_NOREPLACE)))
		return mm_unmapped_area(mm, addr && addr < USER_MIN ? USER_MIN : addr, len);
	if (!IS_ALIGNED(addr, PAGE_SIZE))
		return -EINVAL;
	if (len > USER_MAX || addr > USER_MAX - len)
		return -ENOMEM;
	if (addr < USER_MIN && !capable(CAP_SYS_RAWIO))
		return -EPERM;
	if (mapflags & MAP_FIXED_NOREPLACE) {
		struct vma *v = vma_find(mm, addr);

		if (v && v->start < addr + len)
			return -EEXIST;
	}
	return addr;
}

/* --- mapping ------------------------------------------------------------------------------------------------- */

/* 0 or -errno; v->file is not set yet on error. */
static int attach_file(struct vma *v, struct file *file, u64 pgoff)
{
	int err;

	if (!file->ops->mmap)
		return -ENODEV;
	v->file = file;
	v->pgoff = pgoff;
	err = file->ops->mmap(file, v);
	if (err) {
		v->file = NULL;
		return err;
	}
	file_get(file);
	return 0;
}

/* The area below could simply become longer: no new one, no allocation. */
static struct vma *try_extend(struct mm *mm, uaddr addr, u64 len, u32 flags)
{
	struct vma *next = vma_find(mm, addr), *prev;

	prev = next ? vma_prev(mm, next) :
		list_empty(&mm->vmas) ? NULL : list_last(&mm->vmas, struct vma, node);
	if (!prev || !vma_extends_anon(prev, addr, flags))
		return NULL;
	vma_resize(mm, prev, prev->start, addr + len);
	return vma_merge(mm, prev);
}

static struct vma *new_area(struct mm *mm, uaddr addr, u64 len, u32 flags, struct file *file,
			    u64 pgoff, const struct vma_ops *ops, void *priv)
{
	struct vma *v;
	int err;

	if (!file && !ops && (v = try_extend(mm, addr, len, flags)))
		return v;
	if (mm->nr_vmas >= sysctl_max_map_count)
		return ERR_PTR(-ENOMEM);
	v = vma_alloc(mm, addr, addr + len, flags);
	if (!v)
		return ERR_PTR(-ENOMEM);
	v->ops = ops;
	v->priv = priv;
	if (ops)
		v->pgoff = pgoff;
	err = file ? attach_file(v, file, pgoff) : 0;
	if (err) {
		kfree(v);
		return ERR_PTR(err);
	}
	vma_insert(mm, v);
	return vma_merge(mm, v);
}

static long do_map(struct mm *mm, uaddr addr, u64 len, u32 flags, u32 mapflags, struct file *file,
		   u64 pgoff, const struct vma_ops *ops, void *priv)
{
	struct vma *v;
	u64 n = ALIGN_UP(len, PAGE_SIZE), replaced = 0;
	int err;

	ASSERT(mutex_held(&mm->lock));
	if (!len)
		return -EINVAL;
	if (!n || n > USER_MAX)
		return -ENOMEM;
	addr = choose_address(mm, addr, n, mapflags);
	if (IS_ERR((void *)addr))
		return addr;
	if (mapflags & MAP_FIXED)
		for (v = vma_find(mm, addr); v && v->start < addr + n; v = vma_next(mm, v))
			replaced += (min(v->end, addr + n) - max(v->start, addr)) >> PAGE_SHIFT;
	/* Before anything is taken away: a refusal leaves what was there. */
	err = mm_may_expand(mm, flags, (n >> PAGE_SHIFT) - replaced);
	if (!err && replaced)
		err = mm_unmap(mm, addr, n);
	if (err)
		return err;
	v = new_area(mm, addr, n, flags, file, pgoff, ops, priv);
	if (IS_ERR(v))
		return PTR_ERR(v);
	mm_account(mm, v->flags & ~VM_ANON, n >> PAGE_SHIFT);
	mm_perf_mmap(v);
	if ((mapflags & MAP_POPULATE) ||
	    (v->flags & (VM_LOCKED | VM_LOCKONFAULT)) == VM_LOCKED)
		(void)mm_populate(mm, addr, addr + n);	/* best effort, as on Linux */
	return addr;
}

long mm_map(struct mm *mm, uaddr addr, u64 len, u32 flags, u32 mapflags, struct file *file, u64 pgoff)
{
	return do_map(mm, addr, len, flags, mapflags, file, pgoff, NULL, NULL);
}

long mm_map_special(struct mm *mm, uaddr addr, u64 len, u32 flags, const struct vma_ops *ops, void *priv)
{
	return do_map(mm, addr, len, flags, addr ? MAP_FIXED : 0, NULL, 0, ops, priv);
}

/* --- unmapping -------------------------------------------------------------------------------------------------- */

/* Kernel-made areas that must stay whole, cut by [start, end)? Asked before anything is changed. */
static bool cuts_whole_area(struct mm *mm, uaddr start, uaddr end)
{
	struct vma *a = vma_at(mm, start), *b = vma_at(mm, end - 1);

	return (a && (a->flags & VM_DONTEXPAND) && a->start < start) ||
	       (a && (a->flags & VM_DONTEXPAND) && a->end > end) ||
	       (b && (b->flags & VM_DONTEXPAND) && b->end > end);
}

long mm_unmap(struct mm *mm, uaddr addr, u64 len)
{
	struct vma *v, *next;
	uaddr end;
	int err = range_check(addr, &len);

	ASSERT(mutex_held(&mm->lock));
	if (err || !len)
		return -EINVAL;
	end = addr + len;
	v = vma_find(mm, addr);
	if (!v || v->start >= end)
		return 0;
	if (cuts_whole_area(mm, addr, end))
		return -EINVAL;
	for (struct vma *s = v; s && s->start < end; s = vma_next(mm, s))
		if (s->flags & VM_SEALED)
			return -EPERM;
	err = vma_cut(mm, addr, end);
	if (err)
		return err;
	mm_note_peak(mm);
	for (v = vma_find(mm, addr); v && v->start < end; v = next) {
		next = vma_next(mm, v);
		mm_zap(mm, v->start, v->end);
		mm_account(mm, v->flags, -(s64)vma_pages(v));
		vma_erase(mm, v);
		vma_discard(mm, v);
	}
	return 0;
}
