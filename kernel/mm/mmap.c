/* SPDX-License-Identifier: MIT */
/* The system calls mmap, munmap, brk and remap_file_pages: checks and flags, then map.c does the work. */
#include <perch/errno.h>
#include <perch/fs.h>
#include <perch/mm.h>
#include <perch/syscall.h>
#include "internal.h"

#define READ_IMPLIES_EXEC	0x0400000	/* personality(2) */
#define MS_NOEXEC		8

/* What MAP_SHARED_VALIDATE knows: everything that MAP_SHARED does, plus nothing. */
#define KNOWN_MAP_FLAGS	(MAP_TYPE | MAP_FIXED | MAP_ANONYMOUS | 0x0800 /* DENYWRITE */ | 0x1000 /* EXECUTABLE */ | \
			 MAP_GROWSDOWN | MAP_LOCKED | MAP_NORESERVE | MAP_POPULATE | MAP_NONBLOCK | \
			 0x20000 /* STACK */ | MAP_HUGETLB | MAP_FIXED_NOREPLACE)

static int file_flags(struct file *f, u32 prot, u32 mapflags, u32 *flags)
{
	u32 type = mapflags & MAP_TYPE;

	if (type == MAP_SHARED_VALIDATE && (mapflags & ~KNOWN_MAP_FLAGS))
		return -EOPNOTSUPP;
	if (type == MAP_SHARED || type == MAP_SHARED_VALIDATE) {
		if ((prot & VM_WRITE) && !(f->mode & FMODE_WRITE))
			return -EACCES;
		*flags |= VM_SHARED;
		if (!(f->mode & FMODE_WRITE))
			*flags &= ~VM_MAYWRITE;
	} else if (type != MAP_PRIVATE) {
		return -EINVAL;
	}
	if (!(f->mode & FMODE_READ))
		return -EACCES;
	if (f->path.mnt && (f->path.mnt->flags & MS_NOEXEC)) {
		if (prot & VM_EXEC)
			return -EPERM;
		*flags &= ~VM_MAYEXEC;
	}
	if (!f->ops->mmap)
		return -ENODEV;
	return mapflags & MAP_GROWSDOWN ? -EINVAL : 0;
}

static int anon_flags(u32 mapflags, u32 *flags)
{
	switch (mapflags & MAP_TYPE) {
	case MAP_SHARED:
		if (mapflags & MAP_GROWSDOWN)
			return -EINVAL;
		*flags |= VM_SHARED;
		return 0;
	case MAP_PRIVATE:
		return 0;
	default:
		return -EINVAL;
	}
}

/* The VM_ flags for a user's request, or -errno. f NULL: anonymous. Without MAP_LOCKED. */
static long request_flags(struct file *f, u32 prot, u32 mapflags)
{
	u32 flags = VM_MAYREAD | VM_MAYWRITE | VM_MAYEXEC;
	int err;

	prot &= VM_PROT;
	if ((prot & VM_READ) && (current->personality & READ_IMPLIES_EXEC) &&
	    !(f && f->path.mnt && (f->path.mnt->flags & MS_NOEXEC)))
		prot |= VM_EXEC;
	flags |= prot;
	err = f ? file_flags(f, prot, mapflags, &flags) : anon_flags(mapflags, &flags);
	if (err)
		return err;
	if (mapflags & MAP_GROWSDOWN)
		flags |= VM_GROWSDOWN;
	if (mapflags & MAP_NORESERVE)
		flags |= VM_NORESERVE;
	return flags;
}

static int add_locked(struct mm *mm, u32 mapflags, u64 pages, u32 *flags)
{
	*flags |= mm->def_flags;
	if (mapflags & MAP_LOCKED) {
		if (!can_mlock())
			return -EPERM;
		*flags |= VM_LOCKED;
	}
	return *flags & VM_LOCKED ? mm_may_lock(mm, pages) : 0;
}

static long map_request(struct file *f, uaddr addr, u64 len, u32 prot, u32 mapflags, u64 pgoff)
{
	struct mm *mm = current->mm;
	long ret = request_flags(f, prot, mapflags);
	u32 flags = ret;
	struct file *shm = NULL;

	if (ret < 0)
		return ret;
	if (!f && (flags & VM_SHARED)) {
		shm = shmem_file("dev/zero", len);
		if (IS_ERR(shm))
			return PTR_ERR(shm);
		pgoff = 0;
	}
	if ((mapflags & (MAP_POPULATE | MAP_NONBLOCK)) != MAP_POPULATE)
		mapflags &= ~MAP_POPULATE;
	mutex_lock(&mm->lock);
	ret = add_locked(mm, mapflags, len >> PAGE_SHIFT, &flags);
	if (!ret)
		ret = mm_map(mm, addr, len, flags, mapflags, shm ? shm : f, pgoff);
	mm_unlock(mm);
	if (shm)
		file_put(shm);
	return ret;
}

long sys_mmap(uaddr addr, u64 len, u64 prot, u64 flags, u64 fd, u64 off)
{
	struct file *f = NULL;
	u64 n = ALIGN_UP(len, PAGE_SIZE);
	long ret;

	if (off & ~PAGE_MASK)
		return -EINVAL;
	if (!(flags & MAP_ANONYMOUS)) {
		f = fd_get_io(fd);
		if (!f)
			return -EBADF;
	}
	if (!len)
		ret = -EINVAL;
	else if (flags & MAP_HUGETLB)
		ret = f ? -EINVAL : -ENOMEM;	/* the pool of huge pages is empty */
	else if (!n || n > USER_MAX)
		ret = -ENOMEM;
	else if ((off >> PAGE_SHIFT) + (n >> PAGE_SHIFT) < off >> PAGE_SHIFT || (f && off + n < off))
		ret = -EOVERFLOW;
	else
		ret = map_request(f, addr, n, prot, flags, off >> PAGE_SHIFT);
	if (f)
		file_put(f);
	return ret;
}

long sys_munmap(uaddr addr, u64 len)
{
	struct mm *mm = current->mm;
	long ret;

	mutex_lock(&mm->lock);
	ret = mm_unmap(mm, untag(addr), len);
	mm_unlock(mm);
	return ret;
}

/* --- brk ------------------------------------------------------------------------------------------------ */

static bool brk_grow(struct mm *mm, uaddr from, uaddr to)
{
	u32 flags = VM_READ | VM_WRITE | VM_MAYREAD | VM_MAYWRITE | VM_MAYEXEC | VM_HEAP | mm->def_flags;
	struct vma *next = vma_find(mm, from);
	long ret;

	/* Linux keeps a page free behind the heap besides a stack's own gap. */
	if (next && vma_low_end(next) < to + PAGE_SIZE)
		return false;
	if ((flags & VM_LOCKED) && mm_may_lock(mm, (to - from) >> PAGE_SHIFT))
		return false;
	ret = mm_map(mm, from, to - from, flags, MAP_FIXED, NULL, 0);
	return !IS_ERR((void *)ret);
}

long sys_brk(uaddr brk)
{
	struct mm *mm = current->mm;
	uaddr old_end, new_end, result;
	bool ok = true;

	mutex_lock(&mm->lock);
	result = mm->brk;
	old_end = ALIGN_UP(mm->brk, PAGE_SIZE);
	new_end = ALIGN_UP(brk, PAGE_SIZE);
	if (brk < mm->start_brk || brk > USER_MAX - PAGE_SIZE ||
	    brk - mm->start_brk + (mm->end_data - mm->start_data) > rlimit(RLIMIT_DATA))
		goto out;
	if (new_end < old_end)
		ok = !mm_unmap(mm, new_end, old_end - new_end);
	else if (new_end > old_end)
		ok = brk_grow(mm, old_end, new_end);
	if (ok)
		result = mm->brk = brk;
out:
	mm_unlock(mm);
	return result;
}

/* --- remap_file_pages: since Linux 4.0 a mapping of its own, so here ---------------------------------- */

long sys_remap_file_pages(uaddr start, u64 size, u64 prot, u64 pgoff, u64 flags)
{
	struct mm *mm = current->mm;
	struct file *f = NULL;
	struct vma *v;
	u32 vflags = 0;
	long ret = -EINVAL;

	start &= PAGE_MASK;
	size &= PAGE_MASK;
	if (prot || !size || start + size <= start || pgoff + (size >> PAGE_SHIFT) < pgoff)
		return -EINVAL;
	mutex_lock(&mm->lock);
	v = vma_at(mm, start);
	if (v && (v->flags & VM_SHARED) && v->file && start + size <= v->end &&
	    !(v->flags & VM_DONTEXPAND)) {
		f = file_get(v->file);
		vflags = v->flags & ~(VM_LOCKED | VM_LOCKONFAULT);
		ret = mm_map(mm, start, size, vflags,
			     MAP_FIXED | (flags & MAP_NONBLOCK ? 0 : MAP_POPULATE), f, pgoff);
	}
	mm_unlock(mm);
	if (f)
		file_put(f);
	return IS_ERR((void *)ret) ? ret : 0;
}
