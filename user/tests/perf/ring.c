/* SPDX-License-Identifier: MIT */
/* Rings: geometry, mapping, loss, pausing, overwriting, redirection. */
#include "ring.h"

static union record rec;

TEST("ring/sizes", "mmap", "PB-34")
{
	static const unsigned good[] = { 1, 2, 3, 5, 9 }, bad[] = { 4, 6, 7, 8, 10 };
	struct perf_event_attr a = sampling(CPU_CLOCK, 1000000, PERF_SAMPLE_IP);

	for (unsigned i = 0; i < 5; i++) {
		int x = open_attr(&a), y = open_attr(&a);

		EXPECT(map_pages(x, good[i], PROT_READ | PROT_WRITE) != MAP_FAILED, "%u pages: %s", good[i],
		       strerror(errno));
		errno = 0;
		EXPECT(map_pages(y, bad[i], PROT_READ | PROT_WRITE) == MAP_FAILED && errno == EINVAL,
		       "%u pages: errno %d", bad[i], errno);
		close(x);
		close(y);
	}
}

TEST("ring/map_refused", "mmap", "perf_event_open(2)")
{
	struct perf_event_attr a = sampling(CPU_CLOCK, 1000000, PERF_SAMPLE_IP);
	int fd = open_attr(&a);

	errno = 0;
	EXPECT(mmap(NULL, 2 * PAGE, PROT_READ, MAP_PRIVATE, fd, 0) == MAP_FAILED && errno == EINVAL,
	       "private: errno %d", errno);
	errno = 0;
	EXPECT(mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, PAGE) == MAP_FAILED && errno == EINVAL,
	       "offset: errno %d", errno);
	EXPECT(map_pages(fd, 2, PROT_READ | PROT_WRITE) != MAP_FAILED, "writable: %s", strerror(errno));
}

TEST("ring/inherit_any_cpu", "mmap attr.inherit", "PB-33")
{
	struct perf_event_attr a = sampling(CPU_CLOCK, 1000000, PERF_SAMPLE_IP);
	int fd;

	a.inherit = 1;
	fd = open_attr(&a);
	errno = 0;
	EXPECT(map_pages(fd, 2, PROT_READ | PROT_WRITE) == MAP_FAILED && errno == EINVAL, "any CPU: errno %d", errno);
	fd = perf_open(&a, 0, 0, -1, 0);
	NEED(fd);
	EXPECT(map_pages(fd, 2, PROT_READ | PROT_WRITE) != MAP_FAILED, "CPU 0: %s", strerror(errno));
}

TEST("ring/second_map", "mmap", "kernel selftest perf_events/mmap")
{
	struct perf_event_attr a = sampling(SWITCHES, 1, PERF_SAMPLE_TID);
	int fd = open_attr(&a);
	struct ring r = ring_map(fd, 1, PROT_READ | PROT_WRITE), s;

	errno = 0;
	EXPECT(map_pages(fd, 3, PROT_READ | PROT_WRITE) == MAP_FAILED && errno == EINVAL, "other size: errno %d", errno);
	s = ring_map(fd, 1, PROT_READ | PROT_WRITE);
	NEED(munmap(r.page, 2 * PAGE));
	ioc(fd, PERF_EVENT_IOC_ENABLE, 0);
	yields(20);
	EXPECT_IN(ring_count(&s, PERF_RECORD_SAMPLE), 20, 60);
	NEED(munmap(s.page, 2 * PAGE));
	r = ring_map(fd, 2, PROT_READ | PROT_WRITE);	/* nobody has it: a new ring of another size */
	yields(5);
	EXPECT_IN(ring_count(&r, PERF_RECORD_SAMPLE), 5, 60);
}

TEST("ring/move", "mmap munmap", "kernel selftest perf_events/mmap")
{
	struct perf_event_attr a = sampling(SWITCHES, 1, PERF_SAMPLE_TID);
	int fd = open_attr(&a), moving = MREMAP_MAYMOVE | MREMAP_FIXED;
	struct ring r = ring_map(fd, 1, PROT_READ | PROT_WRITE);
	char *from = (char *)r.page;
	char *to = mmap(NULL, 2 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	EXPECT_ERR(munmap(from, PAGE), EINVAL);	/* a ring moves and goes as a whole */
	errno = 0;
	EXPECT(mremap(from + PAGE, PAGE, PAGE, moving, to) == MAP_FAILED && errno == EINVAL, "a part: errno %d", errno);
	errno = 0;
	EXPECT(mremap(from, 2 * PAGE, 3 * PAGE, MREMAP_MAYMOVE) == MAP_FAILED && errno == EFAULT, "grow: errno %d", errno);
	EXPECT(mremap(from, 2 * PAGE, 2 * PAGE, moving, to) == to, "whole: %s", strerror(errno));
	r.page = (void *)to;
	r.data = to + PAGE;
	ioc(fd, PERF_EVENT_IOC_ENABLE, 0);
	yields(20);
	EXPECT_IN(ring_count(&r, PERF_RECORD_SAMPLE), 20, 60);
	NEED(munmap(to, 2 * PAGE));
	ring_map(fd, 2, PROT_READ | PROT_WRITE);	/* nobody has the old one: another size */
}

TEST("ring/page_fields", "mmap", "perf_event_open(2)")
{
	struct perf_event_attr a = sampling(SWITCHES, 1, PERF_SAMPLE_TID);
	struct ring r = ring_map(open_attr(&a), 2, PROT_READ | PROT_WRITE);

	EXPECT_EQ(r.page->data_offset, PAGE);
	EXPECT_EQ(r.page->data_size, 2 * PAGE);
	EXPECT_EQ(r.page->version, 0);
	EXPECT_EQ(r.page->size, offsetof(struct perf_event_mmap_page, __reserved));
}

TEST("ring/lost", "PERF_RECORD_LOST PERF_FORMAT_LOST", "PB-09")
{
	struct perf_event_attr a = sampling(SWITCHES, 1, PERF_SAMPLE_TID | PERF_SAMPLE_TIME);
	struct { u64 value, lost; } v;
	struct ring r;
	unsigned n = 0;
	u64 lost = 0, lost_id = 0;
	int fd;

	a.sample_type = PERF_SAMPLE_TID;
	a.read_format = PERF_FORMAT_LOST;
	a.sample_id_all = 1;
	fd = open_attr(&a);
	r = ring_map(fd, 1, PROT_READ | PROT_WRITE);
	ioc(fd, PERF_EVENT_IOC_ENABLE, 0);
	yields(300);
	ioc(fd, PERF_EVENT_IOC_DISABLE, 0);
	EXPECT_EQ(read(fd, &v, sizeof(v)), sizeof(v));
	EXPECT_EQ(r.page->data_head, 4080);
	EXPECT_EQ(v.value, v.lost + 255);
	EXPECT_EQ(ring_count(&r, PERF_RECORD_SAMPLE), 255);
	ioc(fd, PERF_EVENT_IOC_ENABLE, 0);
	yields(3);
	ioc(fd, PERF_EVENT_IOC_DISABLE, 0);
	for (unsigned i = 0; ring_next(&r, &rec); i++) {
		n += rec.h.type == PERF_RECORD_SAMPLE;
		if (rec.h.type == PERF_RECORD_LOST) {
			EXPECT_EQ(i, 0);
			EXPECT_EQ(rec.h.size, 32);
			lost_id = rec.u64[1];
			lost += rec.u64[2];
			EXPECT_EQ(rec.u32[6], getpid());
		}
	}
	EXPECT_EQ(lost_id, event_id(fd));
	EXPECT_EQ(lost, v.lost);
	EXPECT_EQ(read(fd, &v, sizeof(v)), sizeof(v));
	EXPECT_EQ(v.lost, lost);
	EXPECT_EQ(v.value, 255 + lost + n);
}

TEST("ring/pause", "ioctl.PAUSE_OUTPUT", "perf_event_open(2)")
{
	struct perf_event_attr a = sampling(SWITCHES, 1, PERF_SAMPLE_TID);
	struct { u64 value, lost; } v;
	struct ring r;
	u64 head;
	int fd;

	a.read_format = PERF_FORMAT_LOST;
	fd = open_attr(&a);
	EXPECT_ERR(ioctl(fd, PERF_EVENT_IOC_PAUSE_OUTPUT, 1), EINVAL);
	r = ring_map(fd, 1, PROT_READ | PROT_WRITE);
	ioc(fd, PERF_EVENT_IOC_ENABLE, 0);
	yields(10);
	ioc(fd, PERF_EVENT_IOC_PAUSE_OUTPUT, 1);
	head = r.page->data_head;
	yields(10);
	EXPECT_EQ(r.page->data_head, head);
	EXPECT_EQ(read(fd, &v, sizeof(v)), sizeof(v));
	EXPECT_IN(v.lost, 10, 60);
	ioc(fd, PERF_EVENT_IOC_PAUSE_OUTPUT, 0);
	yields(10);
	EXPECT(r.page->data_head > head, "nothing after the pause");
	EXPECT_EQ(ring_count(&r, PERF_RECORD_LOST), 1);
}

TEST("ring/overwrite", "mmap", "perf record --overwrite")
{
	struct perf_event_attr a = sampling(SWITCHES, 1, PERF_SAMPLE_TID | PERF_SAMPLE_TIME);
	struct { u64 value, lost; } v;
	struct ring r;
	u64 pos, n = 0, last = UINT64_MAX;
	int fd;

	a.write_backward = 1;
	a.read_format = PERF_FORMAT_LOST;
	fd = open_attr(&a);
	r = ring_map(fd, 1, PROT_READ);
	ioc(fd, PERF_EVENT_IOC_ENABLE, 0);
	yields(400);
	ioc(fd, PERF_EVENT_IOC_PAUSE_OUTPUT, 1);
	ioc(fd, PERF_EVENT_IOC_DISABLE, 0);
	EXPECT_EQ(read(fd, &v, sizeof(v)), sizeof(v));
	EXPECT_IN(v.lost, 0, 8);	/* what came between the pause and the end */
	EXPECT_EQ(-r.page->data_head, 24 * (v.value - v.lost));
	/* newest first, back in time, until the ring has been walked around */
	for (pos = r.page->data_head; pos - r.page->data_head + 24 <= r.size; pos += 24, n++) {
		u64 w[3];

		for (int i = 0; i < 3; i++)
			memcpy(&w[i], r.data + (pos + 8 * i) % r.size, 8);
		EXPECT_EQ(w[0], (u64)24 << 48 | (w[0] & 0xffff00000000) | PERF_RECORD_SAMPLE);
		EXPECT_EQ((u32)w[1], getpid());
		EXPECT(w[2] <= last, "sample %ld is younger than the one before", (long)n);
		last = w[2];
	}
	EXPECT_EQ(n, 170);
}

TEST("ring/overwrite_forward", "mmap", "perf_event_open(2)")
{
	struct perf_event_attr a = sampling(SWITCHES, 1, PERF_SAMPLE_TID);
	struct { u64 value, lost; } v;
	struct ring r;
	int fd;

	a.read_format = PERF_FORMAT_LOST;
	fd = open_attr(&a);
	r = ring_map(fd, 1, PROT_READ);
	ioc(fd, PERF_EVENT_IOC_ENABLE, 0);
	yields(400);
	ioc(fd, PERF_EVENT_IOC_DISABLE, 0);
	EXPECT_EQ(read(fd, &v, sizeof(v)), sizeof(v));
	EXPECT_EQ(v.lost, 0);
	EXPECT_EQ(r.page->data_head, 16 * v.value);
}

TEST("ring/backward_writable", "attr.write_backward", "perf_event_open(2)")
{
	struct perf_event_attr a = sampling(SWITCHES, 1, PERF_SAMPLE_TID);
	struct ring r;
	int fd;

	a.write_backward = 1;
	fd = open_attr(&a);
	r = ring_map(fd, 1, PROT_READ | PROT_WRITE);
	ioc(fd, PERF_EVENT_IOC_ENABLE, 0);
	yields(400);
	EXPECT_EQ(-r.page->data_head, 4080);
}

TEST("ring/hostile_tail", "mmap", "hazards 36, 37")
{
	struct perf_event_attr a = sampling(SWITCHES, 1, PERF_SAMPLE_TID | PERF_SAMPLE_CALLCHAIN);
	struct ring r;
	int fd = open_attr(&a);
	u64 x = 88172645463325252ull;

	r = ring_map(fd, 1, PROT_READ | PROT_WRITE);
	ioc(fd, PERF_EVENT_IOC_ENABLE, 0);
	for (int i = 0; i < 20; i++) {
		u64 *w = (u64 *)r.page;

		for (unsigned k = 0; k < PAGE / 8; k++) {
			x ^= x << 13;
			x ^= x >> 7;
			x ^= x << 17;
			w[k] = x;
		}
		yields(20);
	}
	ioc(fd, PERF_EVENT_IOC_DISABLE, 0);
}

static void both_into(int owner, int other, struct ring *r, u64 *a, u64 *b)
{
	u64 id = event_id(owner);

	while (ring_next(r, &rec))
		if (rec.h.type == PERF_RECORD_SAMPLE)
			++*(rec.u64[1] == id ? a : b);
}

/* Until there are so many of each. */
static void spin_both(int owner, int other, struct ring *r, u64 *a, u64 *b, u64 least)
{
	*a = *b = 0;
	for (int i = 0; i < 200 && (*a < least || *b < least); i++) {
		spin_ms(10);
		both_into(owner, other, r, a, b);
	}
}

TEST("ring/set_output", "ioctl.SET_OUTPUT", "PB-18")
{
	struct perf_event_attr a = sampling(CPU_CLOCK, 1000000, PERF_SAMPLE_IDENTIFIER);
	int owner = open_attr(&a), other = open_attr(&a), bare = open_attr(&a), pipefd[2];
	struct ring r = ring_map(owner, 8, PROT_READ | PROT_WRITE);
	u64 x, y;

	EXPECT_ERR(ioctl(other, PERF_EVENT_IOC_SET_OUTPUT, bare), EINVAL);
	EXPECT_ERR(ioctl(owner, PERF_EVENT_IOC_SET_OUTPUT, owner), EINVAL);
	NEED(pipe(pipefd));
	EXPECT_ERR(ioctl(other, PERF_EVENT_IOC_SET_OUTPUT, pipefd[0]), EBADF);
	EXPECT_ERR(ioctl(other, PERF_EVENT_IOC_SET_OUTPUT, 12345), EBADF);
	EXPECT_ERR(ioctl(other, PERF_EVENT_IOC_SET_OUTPUT, 0xfffffffful), EBADF);
	ioc(other, PERF_EVENT_IOC_SET_OUTPUT, owner);
	ioc(other, PERF_EVENT_IOC_SET_OUTPUT, owner);
	EXPECT_ERR(ioctl(owner, PERF_EVENT_IOC_SET_OUTPUT, other), EINVAL);
	EXPECT_ERR(ioctl(other, PERF_EVENT_IOC_SET_OUTPUT, other), EINVAL);	/* though nothing of it is mapped */
	ioc(owner, PERF_EVENT_IOC_ENABLE, 0);
	ioc(other, PERF_EVENT_IOC_ENABLE, 0);
	spin_both(owner, other, &r, &x, &y, 5);
	EXPECT(x >= 5 && y >= 5, "%ld and %ld records", (long)x, (long)y);
	ioc(other, PERF_EVENT_IOC_SET_OUTPUT, -1ul);
	ring_count(&r, 0);
	spin_filled(&r, 5 * 16);
	x = y = 0;
	both_into(owner, other, &r, &x, &y);
	EXPECT(x >= 2 && !y, "%ld and %ld records when detached", (long)x, (long)y);
}

TEST("ring/set_output_rules", "ioctl.SET_OUTPUT", "PB-18")
{
	struct perf_event_attr a = sampling(CPU_CLOCK, 1000000, PERF_SAMPLE_IDENTIFIER), c = a, back = a;
	pid_t kid = fork();
	int task, cpu0, cpu1, kid_any, kid0, task0, clk, bw;

	if (!kid) {
		nap_ms(10000);
		_exit(0);
	}
	if (nr_cpus() < 2)
		test_skip("one CPU");
	c.use_clockid = 1;
	c.clockid = 1;
	back.write_backward = 1;
	NEED(task = perf_open(&a, 0, -1, -1, 0));
	NEED(cpu0 = perf_open(&a, -1, 0, -1, 0));
	NEED(cpu1 = perf_open(&a, -1, 1, -1, 0));
	NEED(kid_any = perf_open(&a, kid, -1, -1, 0));
	NEED(kid0 = perf_open(&a, kid, 0, -1, 0));
	NEED(task0 = perf_open(&a, 0, 0, -1, 0));
	NEED(clk = perf_open(&c, 0, -1, -1, 0));
	NEED(bw = perf_open(&back, 0, -1, -1, 0));
	ring_map(task, 1, PROT_READ | PROT_WRITE);
	ring_map(cpu0, 1, PROT_READ | PROT_WRITE);
	EXPECT_ERR(ioctl(kid_any, PERF_EVENT_IOC_SET_OUTPUT, task), EINVAL);
	EXPECT_ERR(ioctl(cpu0, PERF_EVENT_IOC_SET_OUTPUT, task), EINVAL);
	EXPECT_ERR(ioctl(cpu1, PERF_EVENT_IOC_SET_OUTPUT, cpu0), EINVAL);
	EXPECT_ERR(ioctl(clk, PERF_EVENT_IOC_SET_OUTPUT, task), EINVAL);
	EXPECT_ERR(ioctl(bw, PERF_EVENT_IOC_SET_OUTPUT, task), EINVAL);
	EXPECT_EQ(ioctl(kid0, PERF_EVENT_IOC_SET_OUTPUT, cpu0), 0);
	EXPECT_EQ(ioctl(task0, PERF_EVENT_IOC_SET_OUTPUT, cpu0), 0);
	ring_map(cpu1, 1, PROT_READ | PROT_WRITE);
	EXPECT_ERR(ioctl(cpu1, PERF_EVENT_IOC_SET_OUTPUT, -1ul), EINVAL);	/* has its own mapped */
	kill(kid, 9);
}

TEST("ring/map_redirected", "mmap ioctl.SET_OUTPUT", "perf_event_open(2)")
{
	struct perf_event_attr a = sampling(CPU_CLOCK, 1000000, PERF_SAMPLE_IDENTIFIER);
	int owner = open_attr(&a), other = open_attr(&a);
	struct ring r = ring_map(owner, 1, PROT_READ | PROT_WRITE), s;

	ioc(other, PERF_EVENT_IOC_SET_OUTPUT, owner);
	errno = 0;
	EXPECT(map_pages(other, 3, PROT_READ | PROT_WRITE) == MAP_FAILED && errno == EINVAL, "size: errno %d", errno);
	s = ring_map(other, 1, PROT_READ | PROT_WRITE);	/* the same ring */
	ioc(owner, PERF_EVENT_IOC_ENABLE, 0);
	spin_filled(&r, 16);
	ioc(owner, PERF_EVENT_IOC_DISABLE, 0);
	EXPECT_EQ(r.page->data_head, s.page->data_head);
	EXPECT(s.page->data_head > 0, "nothing in the ring");
}

TEST("ring/unmap_detaches", "munmap ioctl.SET_OUTPUT", "hazard 38")
{
	struct perf_event_attr a = sampling(CPU_CLOCK, 1000000, PERF_SAMPLE_IDENTIFIER);
	int owner = open_attr(&a), other = open_attr(&a);
	struct ring r = ring_map(owner, 1, PROT_READ | PROT_WRITE);

	ioc(other, PERF_EVENT_IOC_SET_OUTPUT, owner);
	NEED(munmap(r.page, 2 * PAGE));
	EXPECT_ERR(ioctl(other, PERF_EVENT_IOC_PAUSE_OUTPUT, 1), EINVAL);	/* it has no ring any more */
	ioc(other, PERF_EVENT_IOC_ENABLE, 0);
	spin_ms(5);
	r = ring_map(other, 2, PROT_READ | PROT_WRITE);
	spin_filled(&r, 2 * 16);
	EXPECT(ring_count(&r, PERF_RECORD_SAMPLE) >= 2, "its own ring stays empty");
}

TEST("ring/close_keeps_ring", "close mmap", "perf_event_open(2)")
{
	struct perf_event_attr a = sampling(CPU_CLOCK, 1000000, PERF_SAMPLE_IDENTIFIER);
	int owner = open_attr(&a), other = open_attr(&a);
	struct ring r = ring_map(owner, 8, PROT_READ | PROT_WRITE);

	ioc(other, PERF_EVENT_IOC_SET_OUTPUT, owner);
	close(owner);	/* the mapping keeps it */
	ioc(other, PERF_EVENT_IOC_ENABLE, 0);
	spin_filled(&r, 2 * 16);
	EXPECT(ring_count(&r, PERF_RECORD_SAMPLE) >= 2, "no records behind the close");
}

TEST("ring/fd_output", "flag.FD_OUTPUT flag.FD_NO_GROUP flag.FD_CLOEXEC", "PB-60")
{
	struct perf_event_attr a = sampling(CPU_CLOCK, 1000000, PERF_SAMPLE_IDENTIFIER), b = a;
	int owner = open_attr(&a), other;
	struct ring r = ring_map(owner, 8, PROT_READ | PROT_WRITE);
	u64 x, y;

	b.config = PERF_COUNT_SW_TASK_CLOCK;
	NEED(other = perf_open(&b, 0, -1, owner, PERF_FLAG_FD_OUTPUT | PERF_FLAG_FD_NO_GROUP));
	ioc(owner, PERF_EVENT_IOC_ENABLE, 0);
	ioc(other, PERF_EVENT_IOC_ENABLE, 0);
	spin_both(owner, other, &r, &x, &y, 5);
	EXPECT(x >= 5 && y >= 5, "%ld and %ld records", (long)x, (long)y);
}

struct mlock_run { int pages; int err; };

TEST("ring/mlock_limit", "mmap sysctl.perf_event_mlock_kb", "PB-36")
{
	struct perf_event_attr a = sampling(TASK_CLOCK, 1000000, PERF_SAMPLE_IP);
	long paranoid = read_long(PARANOID), kb = read_long("/proc/sys/kernel/perf_event_mlock_kb");
	unsigned cpus = (unsigned)nr_cpus(), fits = 1, fd, fd2;
	void *p, *q;
	pid_t pid;

	/* the largest ring within the allowance; the next two do not fit */
	while ((fits * 2 + 1) * 4 <= kb * cpus + 64)
		fits *= 2;
	a.exclude_kernel = 1;
	NEED(write_long(PARANOID, 2));
	pid = fork();
	if (!pid) {
		struct { unsigned long c, m; } lim = { 64 << 10, 64 << 10 };

		NEED(syscall(SYS_prlimit64, 0, 8, &lim, NULL));
		NEED(setuid(1000));
		NEED(fd = open_attr(&a));
		NEED(fd2 = open_attr(&a));
		p = map_pages(fd, 1 + fits, PROT_READ | PROT_WRITE);
		EXPECT(p != MAP_FAILED, "1+%u pages: %s", fits, strerror(errno));
		errno = 0;
		q = map_pages(fd2, 1 + 4 * fits, PROT_READ | PROT_WRITE);
		EXPECT(q == MAP_FAILED && errno == EPERM, "1+%u pages: errno %d", 4 * fits, errno);
		munmap(p, (1 + fits) * PAGE);
		q = map_pages(fd2, 1 + fits, PROT_READ | PROT_WRITE);
		EXPECT(q != MAP_FAILED, "again 1+%u pages: %s", fits, strerror(errno));
		_exit(q == MAP_FAILED);
	}
	reap(pid);
	write_long(PARANOID, paranoid);
}

/* Processes of one user share its allowance, another user has one of its own. */
TEST("ring/mlock_per_user", "mmap sysctl.perf_event_mlock_kb", "Linux: user->locked_vm")
{
	struct perf_event_attr a = sampling(TASK_CLOCK, 1000000, PERF_SAMPLE_IP);
	long paranoid = read_long(PARANOID), kb = read_long("/proc/sys/kernel/perf_event_mlock_kb");
	unsigned fits = 1, uids[3] = { 1000, 1000, 1001 };
	int ready[2], go[2], st[3];
	pid_t pid[3];
	char c = 0;

	while ((fits * 2 + 1) * 4 <= kb * nr_cpus())
		fits *= 2;
	a.exclude_kernel = 1;
	NEED(write_long(PARANOID, 2));
	NEED(pipe(ready));
	NEED(pipe(go));
	for (int i = 0; i < 3; i++) {
		pid[i] = fork();
		if (!pid[i]) {
			struct { unsigned long c, m; } lim = { 0, 0 };
			int fd;

			NEED(syscall(SYS_prlimit64, 0, 8, &lim, NULL));
			NEED(setuid(uids[i]));
			NEED(fd = open_attr(&a));
			errno = 0;
			void *p = map_pages(fd, 1 + fits, PROT_READ | PROT_WRITE);
			int err = p == MAP_FAILED ? errno : 0;

			NEED(write(ready[1], &c, 1));
			NEED(read(go[0], &c, 1));	/* it keeps what it has until all have tried */
			_exit(err);
		}
		NEED(read(ready[0], &c, 1));
	}
	for (int i = 0; i < 3; i++)
		NEED(write(go[1], &c, 1));
	for (int i = 0; i < 3; i++)
		waitpid(pid[i], &st[i], 0);
	write_long(PARANOID, paranoid);
	EXPECT_EQ(WEXITSTATUS(st[0]), 0);
	EXPECT_EQ(WEXITSTATUS(st[1]), EPERM);
	EXPECT_EQ(WEXITSTATUS(st[2]), 0);
}

TEST("ring/family_lost", "PERF_FORMAT_LOST attr.inherit", "issue: sums")
{
	struct perf_event_attr a = sampling(SWITCHES, 1, PERF_SAMPLE_TID);
	struct { u64 value, lost; } v;
	struct ring r;
	u64 lost = 0, n = 0;
	int fd;

	pin(0);
	a.inherit = 1;
	a.read_format = PERF_FORMAT_LOST;
	NEED(fd = perf_open(&a, 0, 0, -1, 0));
	r = ring_map(fd, 1, PROT_READ | PROT_WRITE);
	ioc(fd, PERF_EVENT_IOC_ENABLE, 0);
	for (int round = 0; round < 8; round++) {
		pid_t kids[8];

		for (int i = 0; i < 8; i++) {
			kids[i] = fork();
			if (!kids[i]) {
				for (int k = 0; k < 60; k++)
					nap_ms(1);
				_exit(0);
			}
		}
		for (int i = 0; i < 8; i++)
			reap(kids[i]);
		while (ring_next(&r, &rec)) {
			n += rec.h.type == PERF_RECORD_SAMPLE;
			lost += rec.h.type == PERF_RECORD_LOST ? rec.u64[2] : 0;
		}
	}
	ioc(fd, PERF_EVENT_IOC_DISABLE, 0);
	EXPECT_EQ(read(fd, &v, sizeof(v)), sizeof(v));
	while (ring_next(&r, &rec)) {
		n += rec.h.type == PERF_RECORD_SAMPLE;
		lost += rec.h.type == PERF_RECORD_LOST ? rec.u64[2] : 0;
	}
	EXPECT(v.lost > 100, "too few lost (%ld) for the test to mean something", (long)v.lost);
	EXPECT_EQ(n + v.lost, v.value);
	EXPECT(lost <= v.lost, "LOST records say %ld, read says %ld", (long)lost, (long)v.lost);
}

/* Two events of a group in one ring that is much too small: each one's records and losses add up. */
TEST("ring/group_lost", "PERF_FORMAT_LOST PERF_FORMAT_GROUP ioctl.SET_OUTPUT", "issue: sums")
{
	struct perf_event_attr a = sampling(SWITCHES, 1, PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID);
	struct { u64 nr; struct { u64 value, id, lost; } m[2]; } v;
	char *map = mmap(NULL, 200 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	u64 n[2] = { 0, 0 }, said = 0;
	struct ring r;
	int fd, member;

	a.read_format = PERF_FORMAT_LOST | PERF_FORMAT_GROUP | PERF_FORMAT_ID;
	a.sample_id_all = 1;
	fd = open_attr(&a);
	a.config = PERF_COUNT_SW_PAGE_FAULTS;
	a.disabled = 0;
	NEED(member = perf_open(&a, 0, -1, fd, 0));
	r = ring_map(fd, 1, PROT_READ | PROT_WRITE);
	NEED(ioctl(member, PERF_EVENT_IOC_SET_OUTPUT, fd));
	for (int round = 0; round < 3; round++) {
		ioc(fd, PERF_EVENT_IOC_ENABLE, PERF_IOC_FLAG_GROUP);
		yields(round < 2 ? 200 : 5);
		for (char *p = map, *end = p + (round < 2 ? 200 : 5) * PAGE; p < end; p += PAGE)
			*(volatile char *)p = 1;
		NEED(madvise(map, 200 * PAGE, MADV_DONTNEED));
		ioc(fd, PERF_EVENT_IOC_DISABLE, PERF_IOC_FLAG_GROUP);
		while (ring_next(&r, &rec)) {
			said += rec.h.type == PERF_RECORD_LOST ? rec.u64[2] : 0;
			for (int i = 0; i < 2 && rec.h.type == PERF_RECORD_SAMPLE; i++)
				n[i] += rec.u64[1] == event_id(i ? member : fd);
		}
	}
	EXPECT_EQ(read(fd, &v, sizeof(v)), sizeof(v));
	EXPECT_EQ(v.nr, 2);
	for (int i = 0; i < 2; i++) {
		EXPECT_EQ(v.m[i].id, event_id(i ? member : fd));
		EXPECT_EQ(n[i] + v.m[i].lost, v.m[i].value);
		EXPECT(v.m[i].lost > 20, "only %ld lost", (long)v.m[i].lost);
	}
	EXPECT_EQ(said, v.m[0].lost + v.m[1].lost);
}

/* The limit counts also for a ring that the user's allowance pays. */
TEST("ring/mlock_limit_lowered", "mmap sysctl.perf_event_mlock_kb", "Linux perf_mmap")
{
	static const char *const file = "/proc/sys/kernel/perf_event_mlock_kb";
	struct perf_event_attr a = sampling(TASK_CLOCK, 1000000, PERF_SAMPLE_IP);
	long paranoid = read_long(PARANOID), kb = read_long(file);
	int go[2], back[2], st;
	char c = 0;
	pid_t pid;

	a.exclude_kernel = 1;
	NEED(write_long(PARANOID, 2));
	NEED(write_long(file, 0));	/* all of the first ring is the process's */
	NEED(pipe(go));
	NEED(pipe(back));
	pid = fork();
	if (!pid) {
		struct { unsigned long c, m; } much = { 1 << 20, 1 << 20 }, none = { 0, 0 };
		int one, two;

		NEED(syscall(SYS_prlimit64, 0, 8, &much, NULL));
		NEED(setuid(1000));
		NEED(one = open_attr(&a));
		NEED(two = open_attr(&a));
		void *p = map_pages(one, 5, PROT_READ | PROT_WRITE);

		NEED(p == MAP_FAILED ? -1 : 0);
		NEED(syscall(SYS_prlimit64, 0, 8, &none, NULL));
		NEED(write(back[1], &c, 1));
		NEED(read(go[0], &c, 1));
		errno = 0;
		EXPECT(map_pages(two, 2, PROT_READ | PROT_WRITE) == MAP_FAILED && errno == EPERM,
		       "beside a ring above the limit: errno %d", errno);
		munmap(p, 5 * PAGE);
		EXPECT(map_pages(two, 2, PROT_READ | PROT_WRITE) != MAP_FAILED, "alone: errno %d", errno);
		_exit(test_failed());
	}
	close(back[1]);
	if (read(back[0], &c, 1) != 1)
		EXPECT(false, "the child failed");
	NEED(write_long(file, kb));
	if (write(go[1], &c, 1) != 1)
		EXPECT(false, "the child does not wait");
	waitpid(pid, &st, 0);
	EXPECT_EQ(st, 0);
	write_long(PARANOID, paranoid);
}
