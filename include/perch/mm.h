/* SPDX-License-Identifier: MIT */
/*
 * User address spaces. A struct mm is a sorted set of areas (struct vma) plus a page table that
 * caches what the areas say. Pages appear on faults: zero pages on first touch, copies on the
 * first write to a shared private page, file pages from the inode's page cache.
 *
 * Lock order: inode->lock (mutex) -> mm->lock (mutex) -> inode->pages_lock (spin) -> mm->pt_lock (spin).
 * Code that holds mm->lock must not take inode->lock and must not touch user memory.
 */
#ifndef PERCH_MM_H
#define PERCH_MM_H

#include <asm/pgtable.h>
#include <perch/page.h>
#include <perch/types.h>
#include <perch/wait.h>

#define USER_MIN	0x10000UL		/* mmap_min_addr */
#define USER_MAX	0x0001000000000000UL	/* 48-bit user space: TTBR0 */

struct file;
struct inode;
struct task;
struct vma;
struct pt_regs;

/* vma.flags: protection as PROT_*, then what mmap and exec decide. */
#define VM_READ		0x0001
#define VM_WRITE	0x0002
#define VM_EXEC		0x0004
#define VM_SHARED	0x0008
#define VM_GROWSDOWN	0x0010
#define VM_MAYREAD	0x0020	/* mprotect may add these */
#define VM_MAYWRITE	0x0040
#define VM_MAYEXEC	0x0080
#define VM_DONTCOPY	0x0100	/* fork leaves it out (perf rings) */
#define VM_PFNMAP	0x0200	/* pages are the kernel's: no copy on write, no anon accounting */
#define VM_DONTEXPAND	0x0400	/* no mremap growth, no merge, no split (perf rings) */
#define VM_LOCKED	0x0800
#define VM_HEAP		0x1000	/* brk area, for /proc maps */
#define VM_STACK	0x2000
#define VM_NORESERVE	0x4000
#define VM_WIPEONFORK	0x8000
#define VM_ANON		0x10000	/* private pages were made here: fork must look at the page table */
#define VM_LOCKONFAULT	0x20000
#define VM_SEALED	0x40000	/* mseal */
#define VM_DONTDUMP	0x80000
#define VM_PROT		(VM_READ | VM_WRITE | VM_EXEC)

#define MAP_SHARED		0x01
#define MAP_PRIVATE		0x02
#define MAP_SHARED_VALIDATE	0x03
#define MAP_TYPE		0x0f
#define MAP_FIXED		0x10
#define MAP_ANONYMOUS		0x20
#define MAP_GROWSDOWN		0x0100
#define MAP_LOCKED		0x2000
#define MAP_NORESERVE		0x4000
#define MAP_POPULATE		0x8000
#define MAP_NONBLOCK		0x10000
#define MAP_HUGETLB		0x40000
#define MAP_FIXED_NOREPLACE	0x100000

struct vma_ops {
	/* Optional. The area was duplicated (fork, split, mremap) / is going away. mm->lock held. */
	void (*open)(struct vma *v);
	void (*close)(struct vma *v);
	/* Page for file page pgoff (units of PAGE_SIZE), with a reference for the caller; write: it
	 * will be mapped writable in a shared area. ERR_PTR(-EFAULT) gives SIGBUS, -ENOMEM the OOM
	 * path. mm->lock held: may sleep, for memory or a device, but takes no sleeping lock. NULL ops->fault: anonymous memory. */
	struct page *(*fault)(struct vma *v, u64 pgoff, bool write);
	/* Optional. Shows fn the pages that exist already among pgoff..pgoff+n-1. Never allocates. With it a
	 * read fault maps the pages around it as well, as Linux does. */
	void (*cached)(struct vma *v, u64 pgoff, u32 n, page_run_fn *fn, void *arg);
	const char *(*name)(struct vma *v);	/* for /proc/PID/maps, e.g. "[vdso]"; optional */
};

struct vma {
	struct mm *mm;
	uaddr start, end;	/* page aligned, [start, end); mm->lock */
	u32 flags;		/* VM_x; mm->lock */
	u32 rb_color;		/* treap priority */
	struct file *file;	/* holds a reference; NULL: anonymous */
	u64 pgoff;		/* file page of start (anonymous: start >> PAGE_SHIFT at creation) */
	const struct vma_ops *ops;
	void *priv;		/* ops' */
	struct list node;	/* mm->vmas, sorted; mm->lock */
	struct vma *rb_left, *rb_right, *rb_parent;	/* kernel/mm private lookup tree */
	u64 rb_gap;		/* largest free gap below an area of this subtree, bytes */
	struct list rmap_node;	/* of areas that map files: kernel/mm/rmap.c */
};

struct mm {
	refcount users;		/* tasks; the last one tears the areas down */
	refcount count;		/* users together, plus who keeps an account in it (perf) */
	struct mutex lock;	/* areas, brk */
	spinlock pt_lock;	/* page-table entries */
	struct pgtable pgt;	/* arch: root and ASID */
	struct list vmas;	/* lock */
	struct vma *rb_root;	/* lock */
	struct vma *last;	/* last one looked up; lock */
	struct list dead;	/* unmapped areas whose file reference mm_unlock drops; lock */
	u32 def_flags;		/* VM_LOCKED | VM_LOCKONFAULT of mlockall(MCL_FUTURE); lock */
	u32 membarrier;		/* registrations of membarrier(2), bits; atomic */
	s64 pinned_vm;		/* pages of perf rings beyond the user's allowance; atomic */
	u32 nr_vmas;		/* lock */
	u64 total_vm, locked_vm, data_vm, stack_vm, exec_vm;	/* pages; lock */
	union {				/* mapped pages; atomic */
		s64 rss[NR_PAGE_KINDS];
		struct { s64 rss_file, rss_shmem, rss_anon; };	/* in the order of the kinds */
	};
	u64 hiwater_rss, hiwater_vm;		/* pages; as of the last mm_note_peak */
	uaddr mmap_base;	/* top of the mmap region, grows down; immutable after exec */
	uaddr start_code, end_code, start_data, end_data;	/* set by exec */
	uaddr start_brk, brk;	/* lock */
	uaddr start_stack, arg_start, arg_end, env_start, env_end;
	uaddr vdso;		/* base of the vDSO text, 0 if none */
	u64 auxv[64];		/* as given to the program, for /proc/PID/auxv */
	u32 auxv_len;		/* u64 words used */
	struct file *exe;	/* /proc/PID/exe; reference */
	u64 dumpable;
	bool oom_victim;
};

/* Life. mm_create returns NULL on OOM. mm_put drops a user. mm_fork copies for fork (ERR_PTR). */
struct mm *mm_create(void);
struct mm *mm_fork(struct mm *old);
void mm_get(struct mm *mm);
void mm_put(struct mm *mm);		/* process context, may sleep */
struct mm *task_get_mm(struct task *t);	/* another task's mm with a user reference, or NULL */
/* Drop a reference to count (taken with ref_get), which keeps only the page table and the accounts. Any context; the table
 * must not be loaded on this CPU when it is the last one. */
void mm_drop(struct mm *mm);
/* Bring the hiwater marks up to date: before pages go and before somebody reads the marks. */
void mm_note_peak(struct mm *mm);
/* Unlock mm->lock and drop what was unmapped meanwhile (files, may sleep). A plain mutex_unlock is
 * right, too: the next mm_unlock or the end of the mm does the rest. */
void mm_unlock(struct mm *mm);
/* Give the mm its executable (/proc/PID/exe): takes a reference of its own and denies writing to
 * the file until the mm ends or gets another one. NULL allowed. 0 or -ETXTBSY. */
int mm_set_exe(struct mm *mm, struct file *f);

/* Where exec puts things; random unless randomize_va_space or personality say no. mm_create has
 * chosen mmap_base already. Page aligned. */
uaddr mm_random_stack_top(void);
uaddr mm_random_pie_base(void);			/* for ET_DYN programs */
uaddr mm_random_brk(uaddr end_data);		/* start_brk for a program that ends there */
extern int randomize_va_space;			/* 0, 1: all but brk, 2 */
extern int sysctl_overcommit_memory;		/* 0 heuristic, 1 always, 2 as 0 here */
extern int sysctl_max_map_count;		/* 65530 */

/* Areas. All want mm->lock held. */
struct vma *vma_find(struct mm *mm, uaddr addr);	/* first with end > addr, or NULL */
struct vma *vma_at(struct mm *mm, uaddr addr);		/* the one containing addr, or NULL */
/*
 * Map [addr, addr+len) or, with addr 0 / without MAP_FIXED, a free range near it. flags: VM_x;
 * mapflags: MAP_FIXED, MAP_FIXED_NOREPLACE, MAP_POPULATE... file may be NULL. Calls file->ops->mmap,
 * tells perf (perf_mmap hook). Returns the address or -errno.
 */
long mm_map(struct mm *mm, uaddr addr, u64 len, u32 flags, u32 mapflags, struct file *file, u64 pgoff);
/* A kernel-provided area (vDSO, stack). Takes ops and priv as given. */
long mm_map_special(struct mm *mm, uaddr addr, u64 len, u32 flags, const struct vma_ops *ops, void *priv);
long mm_unmap(struct mm *mm, uaddr addr, u64 len);
uaddr mm_unmapped_area(struct mm *mm, uaddr hint, u64 len);	/* or -ENOMEM as a large value */

/*
 * Pages [first, first+nr) of inode have left its page cache (truncate, hole punch; the cache and i->size
 * say so already): take them out of all mappings. cows: private copies, too (truncate). inode->lock held
 * or not, no spinlock held. Any process context.
 */
void mm_unmap_file(struct inode *i, u64 first, u64 nr, bool cows);
/* Is there a shared mapping of it that is or may become writable (F_SEAL_WRITE: EBUSY)? Process context. */
bool mm_file_mapped_writable(struct inode *i);

/* Data or instruction abort at addr from user mode or from uaccess. Takes mm->lock. Returns 0 when
 * resolved, else a signal to send: SIGSEGV/SIGBUS with *code the si_code; -ENOMEM after OOM kill. */
#define FAULT_WRITE 1
#define FAULT_EXEC  2
#define FAULT_USER  4	/* taken in EL0 */
int mm_fault(struct mm *mm, uaddr addr, unsigned flags, int *code);

/* Read or write another mm's memory (ptrace style, /proc/PID/mem, cmdline). Faults pages in; ignores
 * protection on force. Returns bytes done or -errno. Process context. */
long mm_access(struct mm *mm, uaddr addr, void *buf, size_t len, bool write, bool force);
/* The page at addr with a reference, faulted in (write: made private and writable). ERR_PTR. Used by
 * futex keys and the like. Takes mm->lock. */
struct page *mm_get_user_page(struct mm *mm, uaddr addr, bool write);
/* For futex: the identity of a shared page: file pages give (inode, index), private ones (mm, addr). */
int mm_futex_key(struct mm *mm, uaddr addr, bool shared, u64 key[2]);

/* Kill the process that uses most memory. From alloc_page_user; process context. */
void oom_kill(void);

/* Memory for kernel stacks: 16 KiB, aligned so, with as much unmapped below: kernel/mm/kstack.c. Process
 * context. An address of a stack has the bit KSTACK_SIZE set, one that ran over its end has not. */
#define KSTACK_SIZE 16384UL
void *kstack_alloc(void);	/* NULL also when memory is low */
void kstack_free(void *stack);
/* The lowest word of a stack that kstack_alloc made; on the way out of a task schedule() asserts it. */
#define KSTACK_CANARY 0x57ac6e9d0bad57acUL
static inline bool kstack_intact(const void *stack)
{
	return *(const u64 *)stack == KSTACK_CANARY;
}

#endif
