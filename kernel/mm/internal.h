/* SPDX-License-Identifier: MIT */
/* What the files of kernel/mm share and nobody else uses. Theory: README.md. */
#ifndef MM_INTERNAL_H
#define MM_INTERNAL_H

#include <perch/errno.h>
#include <perch/mm.h>
#include <perch/task.h>

/* --- limits -------------------------------------------------------------------------------- */

#define STACK_GAP	(256 * PAGE_SIZE)	/* kept free below a stack */

static inline u64 rlimit_pages(int which)
{
	return rlimit(which) >> PAGE_SHIFT;
}

/* User addresses may carry a tag in the top byte; the calls that take one ignore it, as Linux does. */
static inline uaddr untag(uaddr a)
{
	return (u64)((s64)(a << 8) >> 8);
}

static inline u64 vma_pages(const struct vma *v)
{
	return (v->end - v->start) >> PAGE_SHIFT;
}

static inline u64 vma_pgoff(const struct vma *v, uaddr va)
{
	return v->pgoff + ((va - v->start) >> PAGE_SHIFT);
}

static inline bool vma_is_anon(const struct vma *v)
{
	return !v->ops || !v->ops->fault;
}

/* Page-aligned range inside user space. 0, or -EINVAL. len is rounded up in place. */
int range_check(uaddr addr, u64 *len);

/* --- page.c ---------------------------------------------------------------------------------- */

u64 mem_reserve(void);		/* pages that alloc_page_user leaves alone */
void mem_drain(void);		/* give this CPU's hot pages back. Any context */
extern u32 alloc_fail_countdown;	/* atomic; 0: no injection */
bool alloc_fails_now(void);
/* Is failure injection on? DEBUG builds have fail points beside the countdown. */
static inline bool alloc_may_fail(void)
{
#ifdef PERCH_DEBUG
	return true;
#else
	return atomic_read(&alloc_fail_countdown);
#endif
}
/* Decides for one allocation. */
static inline bool alloc_should_fail(void)
{
	return unlikely(alloc_may_fail()) && alloc_fails_now();
}
struct page *page_alloc_raw(unsigned order);	/* without injection */
void buddy_init(void);
void free_pages_boot(struct page *p, unsigned order);	/* straight to the buddy lists */
void mem_reserve_init(u64 total);	/* size the reserve for a machine with total pages */
void slab_init(void);

/* --- vma.c: the set of areas. All want mm->lock ------------------------------------------------ */

struct vma *vma_alloc(struct mm *mm, uaddr start, uaddr end, u32 flags);	/* NULL: no memory */
/* The same again, in no list, with a file reference of its own; ops->open is the caller's. NULL. */
struct vma *vma_copy(const struct vma *v);
void vma_insert(struct mm *mm, struct vma *v);	/* must not overlap */
void vma_erase(struct mm *mm, struct vma *v);	/* out of the set; the caller owns it */
void vma_resize(struct mm *mm, struct vma *v, uaddr start, uaddr end);	/* pgoff is the caller's */
struct vma *vma_prev(struct mm *mm, struct vma *v);	/* or NULL */
struct vma *vma_next(struct mm *mm, struct vma *v);
/* Cut v at addr (inside it): v keeps the lower part. The upper part or ERR_PTR(-ENOMEM, -EINVAL). */
struct vma *vma_split(struct mm *mm, struct vma *v, uaddr addr);
/* Join v with neighbours that say the same. The area that holds v's range now. */
struct vma *vma_merge(struct mm *mm, struct vma *v);
/* An anonymous area [start, end) with flags could simply extend v upwards (start == v->end). */
bool vma_extends_anon(const struct vma *v, uaddr start, u32 flags);
/* Make the area that contains addr begin / the one that contains end end there. 0 or -errno. */
int vma_cut(struct mm *mm, uaddr start, uaddr end);
void vma_discard(struct mm *mm, struct vma *v);	/* erased: ops->close, then dead list */
uaddr vma_low_end(const struct vma *v);		/* start minus the gap that a stack wants */
uaddr vma_gap_top(struct mm *mm, u64 len, uaddr high);	/* highest free range below high; 0: none */
bool vma_range_free(struct mm *mm, uaddr addr, u64 len);

/* --- map.c ------------------------------------------------------------------------------------- */

/* Book pages of an area with flags in or out of total_vm and its parts. */
void mm_account(struct mm *mm, u32 flags, s64 pages);
/* 0, or -ENOMEM when limits or the machine forbid so many more pages of that kind. */
int mm_may_expand(struct mm *mm, u32 flags, u64 pages);
int mm_may_lock(struct mm *mm, u64 pages);	/* RLIMIT_MEMLOCK: 0 or -EAGAIN */
bool can_mlock(void);				/* may current lock memory at all */
void mm_perf_mmap(struct vma *v);		/* tell perf */

/* --- fault.c ------------------------------------------------------------------------------------ */

#define FAULT_FORCE 0x100	/* for mm_access: VM_MAYx instead of VM_x */
/* Make the page at va present (FAULT_WRITE: writable, or with FORCE private at least). va page
 * aligned, inside v, allowed by its flags. 0, -EFAULT (SIGBUS), -ENOMEM. mm->lock held. */
int fault_in(struct vma *v, uaddr va, unsigned flags);
/* fault_in for all of [start, end) as the areas allow. 0, -ENOMEM (also for holes), -EFAULT. */
int mm_populate(struct mm *mm, uaddr start, uaddr end);
/* Grow a stack so that addr (page aligned) is inside. 0 or -ENOMEM. mm->lock held. */
int stack_grow(struct vma *v, uaddr addr);
void fault_init(void);
extern struct page *zero_page;

/* --- mm.c ---------------------------------------------------------------------------------------- */

struct mm *mm_alloc(void);	/* mm_create without a layout; NULL: no memory */

/* --- zap.c -------------------------------------------------------------------------------------- */

/* Take the pages of [start, end) out of the page table. mm->lock held. */
void mm_zap(struct mm *mm, uaddr start, uaddr end);
/* The same with all pages of an mm that nobody runs on any more: nothing is flushed. */
void mm_zap_all(struct mm *mm);
/* The same, but private copies stay. */
void mm_zap_file_pages(struct mm *mm, uaddr start, uaddr end);

/* --- rmap.c: which areas map a file ---------------------------------------------------------------- */

void rmap_add(struct vma *v);		/* v->file set, not on the list */
void rmap_del(struct vma *v);
void rmap_resize(struct vma *v, uaddr start, uaddr end);	/* any area */
/* Changes whenever pages were taken out of mappings of v's file (and of some others). */
u32 rmap_seq(const struct vma *v);

/* --- madvise.c, remote.c ----------------------------------------------------------------------------- */

/* madvise(2) on any address space; mm->lock not held. */
long mm_madvise(struct mm *mm, uaddr start, u64 len, int advice);
struct mm *process_get_mm(struct process *p);	/* with a user reference, or NULL */

/* --- oom.c ---------------------------------------------------------------------------------------- */

/* Memory is short: kill if nobody is dying yet, wait a moment. False: give up (current is to die,
 * or there is nobody to kill). Process context. */
bool oom_wait(u32 try);
void oom_mm_gone(struct mm *mm);

#define BUILD_ID_MAX 20
/* Of an ELF file: its length, at most BUILD_ID_MAX; 0: it has none or cannot be read. P; mm lock may be held. */
u32 file_build_id(struct file *f, u8 id[BUILD_ID_MAX]);

#endif
