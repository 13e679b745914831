/* SPDX-License-Identifier: MIT */
/* Where records go and who is woken: redirection, munmap, poll, signals. */
#include "tape.h"

TEST(sampling_redirected)	/* PB-18, H 38, 39 */
{
	struct perf_event_attr a = attr(ALIGN, 1, PERF_SAMPLE_IDENTIFIER);
	struct tape t, u;
	int x, y, z;

	begin(32);
	x = self(a);
	y = self(a);
	z = self(a);
	t = map(x, 3);
	CHECK_EQ(sim_ioctl(y, PERF_EVENT_IOC_SET_OUTPUT, (u64)z), -EINVAL);
	CHECK_EQ(sim_ioctl(x, PERF_EVENT_IOC_SET_OUTPUT, (u64)x), -EINVAL);
	CHECK_EQ(sim_ioctl(y, PERF_EVENT_IOC_SET_OUTPUT, 0xffffffff), -EBADF);
	ioc(y, PERF_EVENT_IOC_SET_OUTPUT, (u64)x);
	ioc(z, PERF_EVENT_IOC_SET_OUTPUT, (u64)y);	/* the ring of y is that of x */
	happen(3);
	CHECK_EQ(drain_type(&t, PERF_RECORD_SAMPLE), 9);
	ioc(z, PERF_EVENT_IOC_SET_OUTPUT, (u64)-1);
	happen(3);
	CHECK_EQ(drain_type(&t, PERF_RECORD_SAMPLE), 6);
	CHECK_EQ(map_try(y, 2, true, &u), -EINVAL);	/* another size */
	CHECK_EQ(map_try(y, 3, true, &u), 0);		/* the same ring */
	u.tail = t.tail;
	happen(2);
	CHECK_EQ(drain_type(&u, PERF_RECORD_SAMPLE), 4);
	unmap(&t);
	CHECK_EQ(perf_stats.rings, 1);			/* u has it still */
	happen(1);
	CHECK_EQ(drain_type(&u, PERF_RECORD_SAMPLE), 1);	/* of y; x has left with its mapping */
	ioc(z, PERF_EVENT_IOC_SET_OUTPUT, (u64)y);
	unmap(&u);
	CHECK_EQ(perf_stats.rings, 0);
	CHECK(!sim_event(z)->ring && !sim_event(y)->ring);
	happen(1);
	t = map(z, 2);
	happen(1);
	CHECK_EQ(drain_type(&t, PERF_RECORD_SAMPLE), 1);
	sim_close(z);				/* the mapping keeps the event */
	happen(1);
	CHECK_EQ(drain_type(&t, PERF_RECORD_SAMPLE), 1);
	unmap(&t);
	CHECK_EQ(perf_stats.rings, 0);
	CHECK_EQ(perf_stats.pages, 0);
	sim_end();
}

TEST(sampling_wakeups)	/* PB-24 */
{
	struct perf_event_attr a = attr(ALIGN, 1, PERF_SAMPLE_TID);
	struct tape t;
	int fd;

	begin(32);
	fd = self(a);
	CHECK_EQ(sim.fds[fd]->ops->poll(sim.fds[fd]->priv, NULL), HOST_POLLHUP);
	t = map(fd, 2);
	for (u32 i = 1; i <= 129; i++) {
		happen(1);
		CHECK_EQ(sim.fds[fd]->ops->poll(sim.fds[fd]->priv, NULL), i == 129 ? HOST_POLLIN : 0);
	}
	unmap(&t);
	a.wakeup_events = 3;
	fd = self(a);
	t = map(fd, 2);
	for (u32 i = 1; i <= 12; i++) {
		happen(1);
		CHECK_EQ(sim.fds[fd]->ops->poll(sim.fds[fd]->priv, NULL), i % 3 ? 0 : HOST_POLLIN);
	}
	unmap(&t);
	a.watermark = 1;
	a.wakeup_watermark = 1000;
	fd = self(a);
	t = map(fd, 2);
	for (u32 i = 1; i <= 63; i++) {
		happen(1);
		CHECK_EQ(sim.fds[fd]->ops->poll(sim.fds[fd]->priv, NULL), i == 63 ? HOST_POLLIN : 0);
	}
	unmap(&t);
	sim_end();
}

TEST(sampling_watermark_signal)	/* side-band signals, too */
{
	struct perf_event_attr a = attr(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY, 1, PERF_SAMPLE_TID);
	struct tape t;
	int fd;

	begin(32);
	a.comm = a.watermark = 1;
	a.wakeup_watermark = 200;
	fd = self(a);
	sim.fds[fd]->async = true;
	t = map(fd, 2);
	for (int i = 0; i < 50; i++)
		perf_comm(host_current());
	CHECK(sim.fds[fd]->signals[0] >= 4);
	unmap(&t);
	sim_end();
}

static host_spinlock *turn;
static u32 turns;

static void count_turns(host_spinlock *l)
{
	turns += l == turn;
}

TEST(sampling_crowded)	/* H 35: copies on several CPUs take turns, and only they have to */
{
	struct perf_event_attr a = attr(ALIGN, 1, PERF_SAMPLE_TID);
	struct task *kid;
	struct tape t;
	int x, y;

	begin(32);
	x = self(a);
	t = map(x, 2);
	turn = &sim_event(x)->ring->turn;
	turns = 0;
	sim.before_lock = count_turns;
	happen(3);
	CHECK_EQ(turns, 0);
	a.inherit = 1;
	y = self(a);
	ioc(y, PERF_EVENT_IOC_SET_OUTPUT, (u64)x);
	kid = sim_fork(false);
	sim_switch(1, kid);
	happen(2);
	ONCPU(1)
		happen(5);
	CHECK_EQ(turns, 2 * 2 + 5);
	CHECK_EQ(drain_type(&t, PERF_RECORD_SAMPLE), 3 + 2 * 2 + 5);
	CHECK(!sim_event(x)->ring->turn.held);
	sim.before_lock = NULL;
	unmap(&t);
	sim_end();
}

TEST(sampling_aux_area)	/* refused, but what is asked has to make sense */
{
	struct host_map_req q = { 3, 2, true, false };
	void *const *pages;
	struct tape t;
	int fd;

	begin(32);
	fd = self(attr(ALIGN, 1, PERF_SAMPLE_TID));
	t = map(fd, 3);
	CHECK_EQ(t.file->ops->mmap(t.file->priv, &q, &pages), -EINVAL);
	head_page(&t)->aux_offset = 3 * PAGE;
	head_page(&t)->aux_size = 2 * PAGE;
	CHECK_EQ(t.file->ops->mmap(t.file->priv, &q, &pages), -EOPNOTSUPP);
	q.pgoff = 4;
	CHECK_EQ(t.file->ops->mmap(t.file->priv, &q, &pages), -EINVAL);
	q.pgoff = 3;
	q.npages = 1;
	CHECK_EQ(t.file->ops->mmap(t.file->priv, &q, &pages), -EINVAL);
	unmap(&t);
	sim_end();
}

/* PB-18: who may write to whose ring; PB-33: and who may have one at all. */
TEST(sampling_redirect_rules)
{
	struct perf_event_attr a = attr(ALIGN, 1, PERF_SAMPLE_TID), b = a;
	struct task *t = begin(32), *kid = sim_fork(false);
	struct tape tape, no;
	int x, on0, on1;

	x = self(a);
	tape = map(x, 2);
	on0 = open_on(a, 0, 0, -1);
	on1 = open_on(a, 0, 1, -1);
	CHECK_EQ(sim_ioctl(on0, PERF_EVENT_IOC_SET_OUTPUT, (u64)x), -EINVAL);
	CHECK_EQ(sim_ioctl(open_on(a, (int)kid->tid, -1, -1), PERF_EVENT_IOC_SET_OUTPUT, (u64)x), -EINVAL);
	b.use_clockid = 1;
	b.clockid = 1;
	CHECK_EQ(sim_ioctl(self(b), PERF_EVENT_IOC_SET_OUTPUT, (u64)x), -EINVAL);
	b = a;
	b.write_backward = 1;
	CHECK_EQ(sim_ioctl(self(b), PERF_EVENT_IOC_SET_OUTPUT, (u64)x), -EINVAL);
	ioc(self(a), PERF_EVENT_IOC_SET_OUTPUT, (u64)x);
	unmap(&tape);
	tape = map(on1, 2);
	ioc(open_on(a, (int)kid->tid, 1, -1), PERF_EVENT_IOC_SET_OUTPUT, (u64)on1);
	CHECK_EQ(sim_ioctl(on0, PERF_EVENT_IOC_SET_OUTPUT, (u64)on1), -EINVAL);
	unmap(&tape);
	b = a;
	b.inherit = 1;
	CHECK_EQ(map_try(self(b), 2, true, &no), -EINVAL);
	CHECK_EQ(map_try(open_on(b, 0, 0, -1), 4, true, &no), -EINVAL);	/* 3 data pages */
	sim_switch(1, kid);
	ONCPU(1)
		sim_exit(1);
	CHECK(t);
	sim_end();
}

TEST(sampling_poll_end)		/* HUP when the task has gone and left no copies */
{
	struct perf_event_attr a = attr(ALIGN, 1, PERF_SAMPLE_TID);
	struct task *t = begin(32), *kid = sim_fork(false);
	struct host_file *f;
	struct tape tape;
	int fd;

	fd = open_on(a, (int)kid->tid, 0, -1);
	f = sim.fds[fd];
	tape = map(fd, 2);
	CHECK_EQ(f->ops->poll(f->priv, NULL), 0);
	sim_switch(0, kid);
	sim_exit(0);
	sim_switch(0, t);
	CHECK_EQ(f->ops->poll(f->priv, NULL), HOST_POLLHUP);
	unmap(&tape);
	sim_end();
}

TEST(sampling_pages_paid)	/* PB-36: as long as somebody maps them */
{
	s64 *paid = host_user_locked_pages(host_user_get()), before = *paid;
	struct tape t;

	begin(32);
	t = map(self(attr(ALIGN, 1, PERF_SAMPLE_TID)), 5);
	CHECK_EQ(*paid, before + 5);
	unmap(&t);
	CHECK_EQ(*paid, before);
	sim_end();
}

TEST(sampling_pages_over_the_limit)	/* the process has more than it may: not even what the user's allowance pays */
{
	struct host_map_req r = { 0, 2, true, true };
	s64 *pinned = host_mm_pinned_pages(host_mm_get());
	void *const *pages;
	struct tape t;
	int fd;

	begin(32);
	set_sysctl("perf_event_paranoid", 1);
	fd = self(attr(ALIGN, 1, PERF_SAMPLE_TID));
	sim.capable = false;
	*pinned += 17;
	CHECK_EQ(perf_file_ops.mmap(sim_event(fd), &r, &pages), -EPERM);
	*pinned -= 1;		/* 64 KiB: the limit */
	t = map(fd, 2);
	unmap(&t);
	*pinned -= 16;
	sim_end();
}
