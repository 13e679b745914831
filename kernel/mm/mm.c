/* SPDX-License-Identifier: MIT */
/*
 * Life of an address space, and where its parts go.
 *
 * users counts tasks (and whoever looks at it through task_get_mm); when it reaches zero all areas
 * go. count keeps the page table itself: one for all users together, one for each CPU that still
 * has the table loaded while it runs a kernel thread.
 */
#include <perch/fs.h>
#include <perch/mm.h>
#include <perch/random.h>
#include <perch/task.h>
#include "internal.h"

#define ADDR_NO_RANDOMIZE	0x0040000	/* personality(2) */

int randomize_va_space = 2;

/* --- layout: Linux's arm64 numbers for 4 KiB pages and 48 bits --------------------------------------- */

#define MMAP_RND_PAGES	(1UL << 18)	/* vm.mmap_rnd_bits = 18 */
#define STACK_RND_PAGES	(1UL << 18)
#define BRK_RND		(1UL << 30)
#define PIE_BASE	(2 * (USER_MAX / 3))
#define MIN_STACK_ROOM	(128UL << 20)

static bool randomize(int level)
{
	return randomize_va_space >= level && !(current->personality & ADDR_NO_RANDOMIZE);
}

static u64 random_offset(u64 pages)
{
	return (random_u64() & (pages - 1)) << PAGE_SHIFT;
}

uaddr mm_random_stack_top(void)
{
	return USER_MAX - (randomize(1) ? random_offset(STACK_RND_PAGES) : 0);
}

uaddr mm_random_pie_base(void)
{
	return ALIGN_DOWN(PIE_BASE, PAGE_SIZE) + (randomize(1) ? random_offset(MMAP_RND_PAGES) : 0);
}

uaddr mm_random_brk(uaddr end_data)
{
	uaddr brk = ALIGN_UP(end_data, PAGE_SIZE);

	return brk + (randomize(2) ? random_offset(BRK_RND >> PAGE_SHIFT) : 0);
}

/* Below the largest stack that the limit allows, wherever that starts. */
static uaddr choose_mmap_base(void)
{
	u64 room = rlimit(RLIMIT_STACK), pad = STACK_GAP, rnd = 0;

	if (randomize(1)) {
		pad += STACK_RND_PAGES << PAGE_SHIFT;
		rnd = random_offset(MMAP_RND_PAGES);
	}
	room = room + pad > room ? room + pad : ~0UL;
	room = clamp_t(u64, room, MIN_STACK_ROOM, USER_MAX / 6 * 5);
	return ALIGN_DOWN(USER_MAX - room - rnd, PAGE_SIZE);
}

/* --- life ------------------------------------------------------------------------------------------------ */

struct mm *mm_alloc(void)
{
	struct mm *mm = kzalloc(sizeof(*mm));

	if (!mm)
		return NULL;
	if (pgt_init(&mm->pgt)) {
		kfree(mm);
		return NULL;
	}
	ref_init(&mm->users, 1);
	ref_init(&mm->count, 1);
	mutex_init(&mm->lock);
	spin_init(&mm->pt_lock);
	list_init(&mm->vmas);
	list_init(&mm->dead);
	mm->dumpable = 1;
	return mm;
}

struct mm *mm_create(void)
{
	struct mm *mm = mm_alloc();

	if (mm)
		mm->mmap_base = choose_mmap_base();
	return mm;
}

void mm_get(struct mm *mm)
{
	ref_get(&mm->users);
}

void mm_drop(struct mm *mm)
{
	if (!ref_put(&mm->count))
		return;
	ASSERT(list_empty(&mm->vmas) && list_empty(&mm->dead));
	pgt_free(&mm->pgt);
	kfree(mm);
}

static void unmap_everything(struct mm *mm)
{
	struct vma *v, *next;

	mutex_lock(&mm->lock);
	mm_note_peak(mm);
	mm_zap_all(mm);
	mm->rb_root = mm->last = NULL;
	list_for_each_safe(v, next, &mm->vmas, node) {
		if (v->file)
			rmap_del(v);
		list_del(&v->node);
		vma_discard(mm, v);
	}
	mm->nr_vmas = 0;
	mm_unlock(mm);
}

void mm_put(struct mm *mm)
{
	if (!ref_put(&mm->users))
		return;
	unmap_everything(mm);
	(void)mm_set_exe(mm, NULL);
	oom_mm_gone(mm);
	mm_drop(mm);
}

struct mm *task_get_mm(struct task *t)
{
	struct mm *mm;

	spin_lock(&t->alloc_lock);
	mm = t->mm;
	if (mm && !ref_get_unless_zero(&mm->users))
		mm = NULL;
	spin_unlock(&t->alloc_lock);
	return mm;
}

int mm_set_exe(struct mm *mm, struct file *f)
{
	struct file *old;
	int err = f ? deny_write_access(f) : 0;

	if (err)
		return err;
	if (f)
		file_get(f);
	mutex_lock(&mm->lock);
	old = mm->exe;
	mm->exe = f;
	mutex_unlock(&mm->lock);
	if (old) {
		allow_write_access(old);
		file_put(old);
	}
	return 0;
}
