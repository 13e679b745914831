/* SPDX-License-Identifier: MIT */
/* The rest of the kernel as kernel/mm sees it: one CPU, one task, nobody to wait for. */
#include "host.h"
#include <perch/perf.h>
#include <perch/random.h>
#include <perch/sched.h>
#include <perch/signal.h>
#include <perch/smp.h>
#include <perch/uaccess.h>
#include <stdarg.h>

extern void *mmap(void *, size_t, int, int, int, long);	/* no <sys/mman.h>: its names are ours */

struct cpu cpus[NR_CPUS], *host_cpu = &cpus[0];
u32 nr_cpus = 1;
u64 cpu_online_mask = 1;
static struct process process;
static struct task task = { .proc = &process, .pid = 1 };
struct task *host_task = &task;
spinlock task_lock;
struct process *init_process;
u32 perf_sw_users[12], perf_mmap_users, perf_build_id_users, perf_switch_users, perf_tick_users[NR_CPUS];
bool host_capable = true;
u64 host_rlimit[16];

void host_start(u64 ram_bytes)
{
	struct mem_range ram[2] = { { RAM_BASE, ram_bytes / 2 },
				    { RAM_BASE + ram_bytes / 2 + 0x100000, ram_bytes / 2 } };
	struct mem_range used[2] = { { RAM_BASE + 0x1000, 0x20345 }, { RAM_BASE + 0x100000, 0x8000 } };
	void *p = mmap(phys_to_virt(RAM_BASE), ram_bytes + 0x100000, 3, 0x22 | 0x100000, -1, 0);

	if (p != phys_to_virt(RAM_BASE))
		panic("no memory for the machine's RAM");
	memset(host_rlimit, 0xff, sizeof(host_rlimit));
	host_rlimit[3] = 8 << 20;
	mem_init(ram, 2, used, 2);
}

static u64 rnd_state = 1;

void rnd_seed(u64 seed)
{
	rnd_state = seed * 0x9e3779b97f4a7c15UL + 1;
}

u64 random_u64(void)
{
	rnd_state ^= rnd_state << 13;
	rnd_state ^= rnd_state >> 7;
	rnd_state ^= rnd_state << 17;
	return rnd_state * 0x2545f4914f6cdd1dUL;
}

u64 rnd(u64 n)
{
	return (random_u64() >> 11) % n;
}

void panic(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	putchar('\n');
	fflush(stdout);
	abort();
}

int printk(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	return 0;
}

/* --- locks and waiting -------------------------------------------------------------------------- */

void mutex_lock(struct mutex *m) { CHECK(!m->owner); m->owner = (u64)current; }
void mutex_unlock(struct mutex *m) { CHECK(mutex_held(m)); m->owner = 0; }
bool mutex_held(const struct mutex *m) { return m->owner == (u64)current; }
void cond_resched(void) { }
void sleep_until(ktime t) { }
ktime ktime_now(void) { return 0; }
int call_on_cpu(u32 cpu, void (*fn)(void *), void *arg) { fn(arg); return 0; }

/* --- tasks ------------------------------------------------------------------------------------------ */

bool capable(int cap) { return host_capable; }
u64 rlimit(u32 which) { return host_rlimit[which]; }
bool fatal_signal_pending(struct task *t) { return true; }	/* out of memory: fail, do not wait */
int send_signal_process(struct process *p, int sig, const struct siginfo_abi *info) { return 0; }
struct process *process_next(u32 pid) { return NULL; }
void task_get(struct task *t) { }
void task_put(struct task *t) { }
struct pt_regs *task_pt_regs(struct task *t) { return NULL; }
void perf_sw_event_slow(u32 id, u64 n, struct pt_regs *regs, u64 addr) { }
void perf_mmap(const struct perf_mapping *m) { }
u32 file_build_id(struct file *f, u8 *id) { return 0; }

/* --- files -------------------------------------------------------------------------------------------- */

static const struct file_ops file_ops = { .mmap = tmpfs_mmap };

struct host_file *host_file_new(u64 pages)
{
	struct host_file *f = calloc(1, sizeof(*f));

	ref_init(&f->f.refs, 1);
	f->f.mode = FMODE_READ | FMODE_WRITE;
	f->f.ops = &file_ops;
	f->f.inode = &f->i;
	f->i.sb = &f->sb;
	f->i.size = pages << PAGE_SHIFT;
	f->f.priv = f;
	return f;
}

struct page *tmpfs_page(struct inode *i, u64 index, bool create)
{
	struct host_file *f = container_of(i, struct host_file, i);

	CHECK(index < FILE_PAGES);
	if (!f->page[index] && create) {
		struct page *p = alloc_page_user();

		if (!p)
			return ERR_PTR(-ENOMEM);
		memset(page_address(p), 0, PAGE_SIZE);
		p->flags |= PG_CACHE;
		f->page[index] = p;
	}
	if (f->page[index])
		page_get(f->page[index]);
	return f->page[index];
}

/* In two runs, as if there were two nodes. */
void tmpfs_runs(struct inode *i, u64 index, u32 n, page_run_fn *fn, void *arg)
{
	struct host_file *f = container_of(i, struct host_file, i);
	u32 some = (u32)rnd(n + 1);

	CHECK(index + n <= FILE_PAGES);
	if (some)
		fn(arg, 0, f->page + index, some);
	if (some < n)
		fn(arg, some, f->page + index + some, n - some);
}

static void drop_pages(struct host_file *f, u64 first, u64 last)
{
	for (u64 k = first; k < last; k++)
		if (f->page[k]) {
			page_put(f->page[k]);
			f->page[k] = NULL;
		}
}

void host_file_truncate(struct host_file *f, u64 pages)
{
	f->i.size = pages << PAGE_SHIFT;
	drop_pages(f, pages, FILE_PAGES);
	mm_unmap_file(&f->i, pages, ~0UL, true);
}

void host_file_punch(struct host_file *f, u64 first, u64 nr)
{
	drop_pages(f, first, first + nr);
	mm_unmap_file(&f->i, first, nr, false);
}

void host_file_free(struct host_file *f)
{
	CHECK(ref_read(&f->f.refs) == 1);
	drop_pages(f, 0, FILE_PAGES);
	free(f);
}

struct file *file_get(struct file *f) { ref_get(&f->refs); return f; }
void file_put(struct file *f) { CHECK(!ref_put(&f->refs)); }
char *path_name(const struct path *p, char *buf, size_t size) { return ERR_PTR(-ENOENT); }
int deny_write_access(struct file *f) { return 0; }
void allow_write_access(struct file *f) { }
struct file *fd_get_io(int fd) { return NULL; }
struct file *shmem_file(const char *name, u64 size) { return ERR_PTR(-ENOMEM); }
