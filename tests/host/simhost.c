/* SPDX-License-Identifier: MIT */
/* What rings and samples want from a host: users, clocks, call chains. Plain answers that tests can predict. */
#include "sim.h"

#include <string.h>

struct host_user { s64 locked; };
struct host_mm { s64 pinned; };

u32 sim_traps;

static struct host_user user;
static struct host_mm mm;

u64 host_memlock_limit(void) { return 64 << 10; }
struct host_user *host_user_get(void) { return &user; }
void host_user_put(struct host_user *u) { (void)u; }
s64 *host_user_locked_pages(struct host_user *u) { return &u->locked; }
struct host_mm *host_mm_get(void) { return &mm; }
void host_mm_put(struct host_mm *m) { (void)m; }
s64 *host_mm_pinned_pages(struct host_mm *m) { return &m->pinned; }

/* A stack of the simulator's programs (host_regs_sp) has bytes that say where they are; the rest is real. */
size_t host_copy_from_user_nofault(void *dst, u64 src, size_t n)
{
	if (src < 4096)
		return 0;
	if (src < 1 << 20)
		memset(dst, (int)src, n);
	else
		memcpy(dst, (const void *)src, n);
	return n;
}

u64 host_clock(int clockid) { return sim.now + ((u64)clockid << 40); }
u64 host_regs_pc(const struct pt_regs *regs) { HOST_ASSERT(regs); return 0x1000; }
u64 host_regs_sp(const struct pt_regs *regs) { (void)regs; return 0x2000; }
u64 host_regs_get(const struct pt_regs *regs, u32 nr) { (void)regs; return 0x100 + nr; }
const u64 *host_regs_array(const struct pt_regs *regs, u32 *nr)
{
	static const u64 first[] = { 0x100, 0x101 };

	(void)regs;
	*nr = 2;
	return first;
}

u32 host_callchain_kernel(const struct pt_regs *regs, u64 *ips, u32 max)
{
	(void)regs;
	for (u32 i = 0; i < 3 && i < max; i++)
		ips[i] = 0xffff0000 + i;
	return max < 3 ? max : 3;
}
u32 host_callchain_user(const struct pt_regs *regs, u64 *ips, u32 max)
{
	u32 n = min_t(u32, max, sim.user_frames ? sim.user_frames : 2);

	(void)regs;
	for (u32 i = 0; i < n; i++)
		ips[i] = 0x400000 + i;
	return n;
}
void host_page_of(u64 addr, u64 *phys, u64 *size)
{
	if (phys)
		*phys = addr ? addr + 0x40000000 : 0;
	*size = addr ? 4096 : 0;
}

void host_poll_wait(struct host_poll *p, host_waitq *q) { (void)p; (void)q; }
bool host_waitq_active(const host_waitq *q) { (void)q; return true; }
void host_waitq_wake(host_waitq *q, u32 mask) { (void)mask; q->wakes++; }
void host_file_sigio(struct host_file *f, bool hup) { f->signals[hup]++; }
void host_user_return(struct task *t) { t->user_return = true; }
void host_sigtrap(u64 addr, u32 type, u64 data) { sim_traps++; (void)addr; (void)type; (void)data; }
void host_task_ns(struct host_ns ns[HOST_NR_NS])
{
	for (u32 i = 0; i < HOST_NR_NS; i++)
		ns[i] = (struct host_ns){ 4, 100 + i };
}
bool host_file_async(const struct host_file *f) { return f->async; }
