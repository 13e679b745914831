/* SPDX-License-Identifier: MIT */
/* Side-band: COMM, FORK, EXIT, MMAP2, SWITCH. */
#include "ring.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/prctl.h>

static union record rec;

/* A dummy event that only carries side-band records; everything off but the trailer TID|TIME. */
static struct perf_event_attr sideband(void)
{
	struct perf_event_attr a = attr_of(DUMMY);

	a.disabled = 1;
	a.sample_id_all = 1;
	a.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME;
	return a;
}

static struct ring tape(struct perf_event_attr *a, int *fd)
{
	struct ring r;

	pin(0);
	NEED(*fd = perf_open(a, 0, a->inherit ? 0 : -1, -1, 0));
	r = ring_map(*fd, 16, PROT_READ | PROT_WRITE);
	ioc(*fd, PERF_EVENT_IOC_ENABLE, 0);
	return r;
}

TEST("sideband/comm", "PERF_RECORD_COMM attr.comm", "PB-42 PB-57")
{
	struct perf_event_attr a = sideband();
	char name[17] = "";
	struct ring r;
	int fd;

	a.comm = 1;
	r = tape(&a, &fd);
	for (unsigned n = 0; n < 16; n++) {
		u32 size = 16 + ((n + 1 + 7) & ~7u) + 16;

		memset(name, 'x', n);
		prctl(PR_SET_NAME, name);
		EXPECT(ring_next(&r, &rec), "no record for a name of %u", n);
		EXPECT_EQ(rec.h.type, PERF_RECORD_COMM);
		EXPECT_EQ(rec.h.misc, 0);
		EXPECT_EQ(rec.h.size, size);
		EXPECT_EQ(rec.u32[2], getpid());
		EXPECT_EQ(rec.u32[3], getpid());
		EXPECT_EQ(strcmp(rec.bytes + 16, name), 0);
		for (u32 i = 16 + n; i < size - 16; i++)
			EXPECT_EQ(rec.bytes[i], 0);
		EXPECT_EQ(*(u32 *)(rec.bytes + size - 16), getpid());
	}
}

#ifdef __aarch64__
/* The present by perf's clock, as the control page says. */
static u64 page_clock(const volatile struct perf_event_mmap_page *p)
{
	u64 cycles, seq, zero, mult, shift;

	do {
		seq = p->lock;
		__asm__ volatile("dmb ishld" ::: "memory");
		zero = p->time_zero, mult = p->time_mult, shift = p->time_shift;
		__asm__ volatile("dmb ishld" ::: "memory");
	} while (p->lock != seq);
	__asm__ volatile("isb\n\tmrs %0, cntvct_el0" : "=r"(cycles) :: "memory");
	return zero + (u64)((unsigned __int128)cycles * mult >> shift);
}

TEST("sideband/user_clock", "PERF_SAMPLE_TIME page.time_zero", "perf test: Convert perf time to TSC")
{
	struct perf_event_attr a = sideband();
	u64 before, after, time;
	struct ring r;
	int fd;

	a.comm = 1;
	r = tape(&a, &fd);
	EXPECT(r.page->cap_user_time_zero, "no cap_user_time_zero");
	for (unsigned n = 0; n < 50; n++) {
		before = page_clock(r.page);
		prctl(PR_SET_NAME, "clock");
		after = page_clock(r.page);
		EXPECT(ring_next(&r, &rec), "no record %u", n);
		time = *(u64 *)(rec.bytes + rec.h.size - 8);
		EXPECT(before < time && time < after, "%u: %lu is not between %lu and %lu", n, (long)time, (long)before,
		       (long)after);
	}
}
#endif

struct task_rec { struct perf_event_header h; u32 pid, ppid, tid, ptid; u64 time; u32 tpid, ttid; u64 ttime; };

TEST("sideband/fork_exit", "PERF_RECORD_FORK PERF_RECORD_EXIT attr.task", "PB-57")
{
	struct perf_event_attr a = sideband();
	struct task_rec *t = (void *)&rec;
	int fd, kid, step = 0;
	struct ring r;

	a.task = a.comm = 1;
	a.inherit = 1;
	r = tape(&a, &fd);
	kid = fork();
	if (!kid) {
		prctl(PR_SET_NAME, "kid");
		_exit(0);
	}
	reap(kid);
	while (ring_next(&r, &rec)) {
		switch (step++) {
		case 0:
			EXPECT_EQ(rec.h.type, PERF_RECORD_FORK);
			EXPECT_EQ(rec.h.size, 48);
			EXPECT_EQ(t->pid, kid);
			EXPECT_EQ(t->tid, kid);
			EXPECT_EQ(t->ppid, getpid());
			EXPECT_EQ(t->ptid, getpid());
			EXPECT_EQ(t->tpid, getpid());
			EXPECT(t->time && llabs((long long)(t->ttime - t->time)) < 1000000000, "times %ld %ld",
			       (long)t->time, (long)t->ttime);
			break;
		case 1:
			EXPECT_EQ(rec.h.type, PERF_RECORD_COMM);
			EXPECT_EQ(rec.h.size, 40);
			EXPECT_EQ(rec.u32[2], kid);
			EXPECT_EQ(strcmp(rec.bytes + 16, "kid"), 0);
			break;
		case 2:
			EXPECT_EQ(rec.h.type, PERF_RECORD_EXIT);
			EXPECT_EQ(rec.h.size, 48);
			EXPECT_EQ(t->pid, kid);
			EXPECT_EQ(t->tid, kid);
			EXPECT_EQ(t->ppid, getpid());
			EXPECT_EQ(t->ptid, getpid());
			EXPECT_EQ(t->tpid, kid);
			break;
		}
	}
	EXPECT_EQ(step, 3);
}

static void *thread_body(void *p) { *(pid_t *)p = (pid_t)syscall(SYS_gettid); return NULL; }

TEST("sideband/thread", "PERF_RECORD_FORK PERF_RECORD_EXIT", "PB-57")
{
	struct perf_event_attr a = sideband();
	struct task_rec *t = (void *)&rec;
	int fd, forks = 0, exits = 0;
	pthread_t th;
	struct ring r;
	pid_t tid;

	a.task = 1;
	a.inherit = 1;
	r = tape(&a, &fd);
	NEED(-pthread_create(&th, NULL, thread_body, &tid));
	pthread_join(th, NULL);
	nap_ms(20);
	while (ring_next(&r, &rec)) {
		EXPECT_EQ(t->pid, getpid());
		EXPECT_EQ(t->tid, tid);
		/* the parent of a thread is at FORK its maker, at EXIT the parent of the process */
		EXPECT_EQ(t->ppid, rec.h.type == PERF_RECORD_FORK ? getpid() : getppid());
		EXPECT_EQ(t->ptid, rec.h.type == PERF_RECORD_FORK ? getpid() : getppid());
		forks += rec.h.type == PERF_RECORD_FORK;
		exits += rec.h.type == PERF_RECORD_EXIT;
	}
	EXPECT_EQ(forks, 1);
	EXPECT_EQ(exits, 1);
}

/* No sample of the child before its FORK or behind its EXIT. */
TEST("sideband/samples_between", "PERF_RECORD_FORK PERF_RECORD_EXIT", "PB-57")
{
	struct perf_event_attr a = sampling(CPU_CLOCK, 200000, PERF_SAMPLE_TID);
	bool alive = false;
	int fd, kid, n = 0, outside = 0;
	struct ring r;

	a.task = a.inherit = 1;
	r = tape(&a, &fd);
	kid = fork();
	if (!kid) {
		spin_ms(20);
		_exit(0);
	}
	reap(kid);
	while (ring_next(&r, &rec)) {
		if (rec.h.type == PERF_RECORD_FORK)
			alive = true;
		if (rec.h.type == PERF_RECORD_EXIT)
			alive = false;
		if (rec.h.type != PERF_RECORD_SAMPLE || rec.u32[3] != kid)
			continue;
		n++;
		outside += !alive;
	}
	EXPECT(n > 1, "%d samples of the child", n);
	EXPECT_EQ(outside, 0);
}

struct mmap2 {
	struct perf_event_header h;
	u32 pid, tid;
	u64 addr, len, pgoff;
	u32 maj, min;
	u64 ino, gen;
	u32 prot, flags;
	char name[];
};

TEST("sideband/mmap_anon", "PERF_RECORD_MMAP2 attr.mmap_data", "PB-25")
{
	struct perf_event_attr a = sideband();
	struct mmap2 *m = (void *)&rec;
	struct ring r;
	char *x, *d;
	int fd;

	a.mmap = a.mmap2 = a.mmap_data = 1;
	r = tape(&a, &fd);
	x = mmap(NULL, 3 * PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	EXPECT(ring_next(&r, &rec), "no record of an executable mapping");
	EXPECT_EQ(rec.h.type, PERF_RECORD_MMAP2);
	EXPECT_EQ(rec.h.misc, PERF_RECORD_MISC_USER);
	EXPECT_EQ(m->pid, getpid());
	EXPECT_EQ(m->addr, (u64)x);
	EXPECT_EQ(m->len, 3 * PAGE);
	EXPECT_EQ(m->pgoff, (u64)x);		/* of an anonymous mapping: its address */
	EXPECT_EQ(m->ino, 0);
	EXPECT_EQ(m->prot, PROT_READ | PROT_EXEC);
	EXPECT_EQ(m->flags, MAP_PRIVATE);
	EXPECT_EQ(strcmp(m->name, "//anon"), 0);
	EXPECT_EQ(rec.h.size, 72 + 8 + 16);
	d = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	EXPECT(ring_next(&r, &rec), "no record of a data mapping");
	EXPECT(m->addr <= (u64)d && m->addr + m->len > (u64)d, "addr %#lx, mapped %p", (long)m->addr, d);
	EXPECT_EQ(rec.h.misc, PERF_RECORD_MISC_USER | PERF_RECORD_MISC_MMAP_DATA);
	EXPECT_EQ(m->prot, PROT_READ | PROT_WRITE);
}

TEST("sideband/mmap_file", "PERF_RECORD_MMAP2 PERF_RECORD_MMAP", "PB-25 PB-42")
{
	struct perf_event_attr a = sideband();
	struct mmap2 *m = (void *)&rec;
	struct ring r;
	int fd, f;

	a.mmap = a.mmap2 = 1;
	r = tape(&a, &fd);
	for (int n = 1; n <= 16; n++) {
		char path[64];
		u32 size;
		void *p;

		snprintf(path, sizeof(path), "/tmp/%.*s", n, "abcdefghijklmnop");
		f = open(path, O_RDWR | O_CREAT, 0755);
		NEED(f);
		NEED(ftruncate(f, 4 * PAGE));
		p = mmap(NULL, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE, f, 2 * PAGE);
		size = 72 + ((strlen(path) + 8) & ~7u) + 16;
		EXPECT(ring_next(&r, &rec), "no record");
		EXPECT_EQ(rec.h.size, size);
		EXPECT_EQ(m->addr, (u64)p);
		EXPECT_EQ(m->pgoff, 2 * PAGE);
		EXPECT(m->ino, "no inode");
		EXPECT_EQ(strcmp(m->name, path), 0);
		for (u32 i = 72 + (u32)strlen(path); i < size - 16; i++)
			EXPECT_EQ(rec.bytes[i], 0);
		munmap(p, PAGE);
		/* not executable: not without mmap_data */
		p = mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE, f, 0);
		EXPECT(!ring_next(&r, &rec), "a record of a data mapping");
		munmap(p, PAGE);
		close(f);
		unlink(path);
	}
}

TEST("sideband/build_id", "PERF_RECORD_MMAP2 attr.build_id", "perf_event_open(2)")
{
	struct perf_event_attr a = sideband();
	struct mmap2 *m = (void *)&rec;
	int fd, f, sum = 0;
	struct ring r;
	void *p;

	a.mmap = a.mmap2 = a.build_id = 1;
	r = tape(&a, &fd);
	NEED(f = open("/bin/busybox", O_RDONLY));
	p = mmap(NULL, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE, f, 0);
	EXPECT(ring_next(&r, &rec), "no record");
	EXPECT_EQ(m->addr, (u64)p);
	EXPECT_EQ(rec.h.misc, PERF_RECORD_MISC_USER | PERF_RECORD_MISC_MMAP_BUILD_ID);
	EXPECT_EQ(rec.bytes[40], 20);
	EXPECT_EQ(rec.bytes[41] | rec.bytes[42] | rec.bytes[43], 0);
	for (int i = 0; i < 20; i++)
		sum += !!rec.bytes[44 + i];
	EXPECT(sum > 10, "the id is mostly zero");
	EXPECT_EQ(m->prot, PROT_READ | PROT_EXEC);
	/* an anonymous one has none */
	mmap(NULL, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	EXPECT(ring_next(&r, &rec), "no record");
	EXPECT_EQ(rec.h.misc, PERF_RECORD_MISC_USER);
}

TEST("sideband/mmap_old", "PERF_RECORD_MMAP", "perf_event_open(2)")
{
	struct perf_event_attr a = sideband();
	struct ring r;
	int fd;
	u64 p;

	a.mmap = 1;
	r = tape(&a, &fd);
	p = (u64)mmap(NULL, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	EXPECT(ring_next(&r, &rec), "no record");
	EXPECT_EQ(rec.h.type, PERF_RECORD_MMAP);
	EXPECT_EQ(rec.h.size, 40 + 8 + 16);
	EXPECT_EQ(rec.u64[2], p);
	EXPECT_EQ(strcmp(rec.bytes + 40, "//anon"), 0);
}

TEST("sideband/mprotect", "PERF_RECORD_MMAP2", "Linux: mprotect reports the new mapping")
{
	struct perf_event_attr a = sideband();
	struct mmap2 *m = (void *)&rec;
	struct ring r;
	int fd, n = 0;
	char *p;

	a.mmap = a.mmap2 = 1;
	r = tape(&a, &fd);
	p = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	NEED(mprotect(p, PAGE, PROT_READ | PROT_EXEC));
	while (ring_next(&r, &rec))
		n += m->addr == (u64)p && m->len == PAGE && m->prot == (PROT_READ | PROT_EXEC);
	EXPECT_EQ(n, 1);
}

TEST("sideband/exec", "PERF_RECORD_COMM PERF_RECORD_MMAP2 attr.comm_exec attr.enable_on_exec", "PB-25")
{
	struct perf_event_attr a = sideband();
	struct mmap2 *m = (void *)&rec;
	int fd, go[2], n = 0, heap = 0, stack = 0, vdso = 0, exec = 0, last = 0;
	u64 anon[16] = { 0 }, nr_anon = 0, first_heap = 0;
	struct ring r;
	pid_t kid;
	char c = 0;

	NEED(pipe(go));
	kid = fork();
	if (!kid) {
		if (read(go[0], &c, 1) == 1)
			execl("/proc/self/exe", "ptest", "-l", NULL);
		_exit(1);
	}
	a.comm = a.comm_exec = a.mmap = a.mmap2 = a.mmap_data = a.task = 1;
	a.enable_on_exec = 1;
	NEED(fd = perf_open(&a, kid, -1, -1, 0));
	r = ring_map(fd, 16, PROT_READ | PROT_WRITE);
	NEED(write(go[1], &c, 1));
	NEED(waitpid(kid, NULL, 0));
	for (; ring_next(&r, &rec); n++) {
		last = (int)rec.h.type;
		if (n == 0) {
			EXPECT_EQ(rec.h.type, PERF_RECORD_COMM);
			EXPECT_EQ(rec.h.misc, PERF_RECORD_MISC_COMM_EXEC);
			EXPECT_EQ(rec.u32[2], kid);
		}
		if (rec.h.type != PERF_RECORD_MMAP2)
			continue;
		EXPECT_EQ(m->pid, kid);
		EXPECT_EQ(!(m->prot & PROT_EXEC), !!(rec.h.misc & PERF_RECORD_MISC_MMAP_DATA));
		if (!strcmp(m->name, "//anon"))
			anon[nr_anon++ % 16] = m->addr;
		if (!strcmp(m->name, "[heap]") && !heap++)
			for (int i = 0; i < 16; i++)
				first_heap += anon[i] == m->addr;
		stack += !strcmp(m->name, "[stack]");
		vdso += !strcmp(m->name, "[vdso]") && m->prot & PROT_EXEC;
		exec += m->name[0] == '/' && strcmp(m->name, "//anon") && m->prot & PROT_EXEC && m->ino;
	}
	EXPECT_EQ(last, PERF_RECORD_EXIT);
	EXPECT_EQ(exec, 1);
	EXPECT_EQ(vdso, 1);
	EXPECT_EQ(stack, 1);
	EXPECT(heap >= 1, "no [heap]");
	EXPECT_EQ(first_heap, 1);	/* the first brk is told before the heap has its name */
}

TEST("sideband/switch", "PERF_RECORD_SWITCH attr.context_switch", "perf_event_open(2)")
{
	struct perf_event_attr a = sideband();
	int fd, in = 0, out = 0, wrong = 0, last = 0;
	struct ring r;

	a.context_switch = 1;
	r = tape(&a, &fd);
	yields(20);
	ioc(fd, PERF_EVENT_IOC_DISABLE, 0);
	while (ring_next(&r, &rec)) {
		int is_out = !!(rec.h.misc & PERF_RECORD_MISC_SWITCH_OUT);

		EXPECT_EQ(rec.h.type, PERF_RECORD_SWITCH);
		EXPECT_EQ(rec.h.size, 24);
		EXPECT_EQ(rec.u32[2], getpid());
		wrong += is_out == last;
		last = is_out;
		out += is_out;
		in += !is_out;
	}
	EXPECT(out >= 20, "%d switches", out);
	EXPECT_EQ(in, out);
	EXPECT_EQ(wrong, 0);
}

TEST("sideband/switch_preempt", "PERF_RECORD_MISC_SWITCH_OUT_PREEMPT", "perf_event_open(2)")
{
	struct perf_event_attr a = sideband();
	int fd, preempt = 0;
	struct ring r;
	pid_t kid;

	pin(0);
	kid = fork();
	if (!kid) {
		spin_ms(5000);
		_exit(0);
	}
	a.context_switch = 1;
	r = tape(&a, &fd);
	for (int i = 0; i < 50 && preempt < 3; i++) {
		spin_ms(20);
		while (ring_next(&r, &rec))
			preempt += rec.h.misc == (PERF_RECORD_MISC_SWITCH_OUT | PERF_RECORD_MISC_SWITCH_OUT_PREEMPT);
	}
	EXPECT(preempt > 2, "%d preemptions", preempt);
	kill(kid, 9);
}

TEST("sideband/switch_cpu_wide", "PERF_RECORD_SWITCH_CPU_WIDE", "perf_event_open(2)")
{
	struct perf_event_attr a = sideband();
	int fd, outs = 0, ins = 0, bad = 0;
	struct ring r;
	u32 me = (u32)getpid();

	pin(0);
	a.context_switch = 1;
	NEED(fd = perf_open(&a, -1, 0, -1, 0));
	r = ring_map(fd, 64, PROT_READ | PROT_WRITE);
	ioc(fd, PERF_EVENT_IOC_ENABLE, 0);
	for (int i = 0; i < 20; i++)
		nap_ms(1);
	ioc(fd, PERF_EVENT_IOC_DISABLE, 0);
	while (ring_next(&r, &rec)) {
		EXPECT_EQ(rec.h.type, PERF_RECORD_SWITCH_CPU_WIDE);
		EXPECT_EQ(rec.h.size, 32);
		if (rec.u32[5] != me)		/* the trailer: whose record it is */
			continue;
		outs += !!(rec.h.misc & PERF_RECORD_MISC_SWITCH_OUT);
		ins += !(rec.h.misc & PERF_RECORD_MISC_SWITCH_OUT);
		bad += rec.u32[3] == me;	/* the other one is somebody else */
	}
	EXPECT_EQ(bad, 0);
	EXPECT(outs >= 15 && ins >= 15, "%d out, %d in", outs, ins);
}

/* Side-band records are lost like others and counted. */
TEST("sideband/lost", "PERF_FORMAT_LOST PERF_RECORD_COMM", "PB-09")
{
	struct perf_event_attr a = sideband();
	struct { u64 value, lost; } v;
	struct ring r;
	int fd;

	a.comm = 1;
	a.read_format = PERF_FORMAT_LOST;
	NEED(fd = perf_open(&a, 0, -1, -1, 0));
	r = ring_map(fd, 1, PROT_READ | PROT_WRITE);
	ioc(fd, PERF_EVENT_IOC_ENABLE, 0);
	for (int i = 0; i < 200; i++)
		prctl(PR_SET_NAME, "x");
	EXPECT_EQ(read(fd, &v, sizeof(v)), sizeof(v));
	EXPECT_EQ(r.page->data_head, 4080);
	EXPECT_EQ(v.lost, 200 - 4080 / 40);
}

TEST("sideband/off", "attr.disabled", "Linux: an event that is off gets no records")
{
	struct perf_event_attr a = sideband();
	struct ring r;
	int fd;

	a.comm = 1;
	r = tape(&a, &fd);
	ioc(fd, PERF_EVENT_IOC_DISABLE, 0);
	prctl(PR_SET_NAME, "x");
	EXPECT_EQ(r.page->data_head, 0);
}

TEST("sideband/namespaces", "PERF_RECORD_NAMESPACES attr.namespaces", "perf_event_open(2)")
{
	struct perf_event_attr a = sideband();
	int fd, n = 0, kid;
	struct ring r;

	a.namespaces = 1;
	a.inherit = 1;
	r = tape(&a, &fd);
	kid = fork();
	if (!kid)
		_exit(0);
	reap(kid);
	while (ring_next(&r, &rec)) {
		EXPECT_EQ(rec.h.type, PERF_RECORD_NAMESPACES);
		EXPECT_EQ(rec.u32[2], kid);
		EXPECT_EQ(rec.u64[2], 7);
		EXPECT_EQ(rec.h.size, 24 + 7 * 16 + 16);
		for (int i = 0; i < 7; i++)
			EXPECT(rec.u64[3 + 2 * i] && rec.u64[4 + 2 * i], "namespace %d has no inode", i);
		n++;
	}
	EXPECT_EQ(n, 1);
}

/* The first record of the child that opens nothing and execs; a goes to it. */
static void exec_child(struct perf_event_attr a, struct ring *r)
{
	int fd, go[2];
	pid_t kid;
	char c = 0;

	NEED(pipe(go));
	kid = fork();
	if (!kid) {
		if (read(go[0], &c, 1) == 1)
			execl("/proc/self/exe", "ptest", "-l", NULL);
		_exit(1);
	}
	NEED(fd = perf_open(&a, kid, -1, -1, 0));
	*r = ring_map(fd, 16, PROT_READ | PROT_WRITE);
	NEED(write(go[1], &c, 1));
	NEED(waitpid(kid, NULL, 0));
}

TEST("sideband/exec_flag", "PERF_RECORD_MISC_COMM_EXEC attr.comm_exec", "Linux: comm_exec only says that the kernel knows the flag")
{
	struct perf_event_attr a = sideband();
	struct ring r;

	a.comm = 1;
	a.disabled = 0;
	exec_child(a, &r);
	EXPECT(ring_next(&r, &rec), "no record");
	EXPECT_EQ(rec.h.type, PERF_RECORD_COMM);
	EXPECT_EQ(rec.h.misc, PERF_RECORD_MISC_COMM_EXEC);
}

/* READ records of a child of ours: does it exec, or only exit? */
static unsigned reads_of_child(bool exec, u64 read_format)
{
	struct perf_event_attr a = sampling(TASK_CLOCK, 1 << 30, PERF_SAMPLE_TID);
	unsigned n = 0;
	struct ring r;
	pid_t kid;
	int fd, other;

	pin(0);
	NEED(other = open_self(DUMMY));	/* not inherited: Linux does not let the tasks swap their events */
	a.inherit = a.inherit_stat = a.remove_on_exec = 1;
	a.disabled = 0;
	a.read_format = read_format;
	NEED(fd = perf_open(&a, 0, 0, -1, 0));
	r = ring_map(fd, 16, PROT_READ | PROT_WRITE);
	kid = fork();
	if (!kid) {
		spin_ms(2);
		if (exec)
			execl("/proc/self/exe", "ptest", "-l", NULL);
		_exit(0);
	}
	NEED(waitpid(kid, NULL, 0));
	while (ring_next(&r, &rec)) {
		if (rec.h.type != PERF_RECORD_READ)
			continue;
		n++;
		EXPECT_EQ(rec.h.size, 8 + 8 + 8 * (1 + __builtin_popcountll(read_format)));
		EXPECT_EQ(rec.u32[2], kid);
		EXPECT_EQ(rec.u32[3], kid);
		EXPECT(rec.u64[2] >= 2000000, "value %ld", (long)rec.u64[2]);
		if (read_format & PERF_FORMAT_ID)
			EXPECT_EQ(rec.u64[5], event_id(fd));
	}
	munmap(r.page, 17 * PAGE);
	close(fd);
	close(other);
	return n;
}

TEST("sideband/read", "PERF_RECORD_READ attr.inherit_stat attr.remove_on_exec", "Linux 6.12: at exec, not at exit")
{
	EXPECT_EQ(reads_of_child(true, 0), 1);
	EXPECT_EQ(reads_of_child(true, RF_TIMES | PERF_FORMAT_ID), 1);
	EXPECT_EQ(reads_of_child(false, 0), 0);
}

TEST("sideband/accepted", "attr.text_poke attr.ksymbol attr.bpf_event attr.cgroup", "Linux: accepted; nothing of the kind happens here")
{
	struct perf_event_attr a = sideband();
	struct ring r;
	int fd;

	a.text_poke = a.ksymbol = a.bpf_event = a.cgroup = a.comm = 1;
	fd = open_attr(&a);
	r = ring_map(fd, 2, PROT_READ | PROT_WRITE);
	ioc(fd, PERF_EVENT_IOC_ENABLE, 0);
	NEED(prctl(PR_SET_NAME, "name"));
	while (ring_next(&r, &rec))
		EXPECT_EQ(rec.h.type, PERF_RECORD_COMM);
	EXPECT(r.page->data_head > 0, "no record");
}

/* Events of one task that ask for one kind each: none gets another's. FORK and EXIT come with names and mappings. */
TEST("sideband/only_what_was_asked", "attr.comm attr.task attr.mmap attr.namespaces attr.context_switch", "Linux 6.12 perf_event_task_match")
{
	enum { COMM, TASK, MMAP, NS, SWITCH, KINDS };
	static const u64 own[KINDS] = { 1 << PERF_RECORD_COMM, 1 << PERF_RECORD_FORK, 1 << PERF_RECORD_MMAP,
					1 << PERF_RECORD_NAMESPACES, 1 << PERF_RECORD_SWITCH };
	u64 seen[KINDS] = { 0 }, tasks = 1 << PERF_RECORD_FORK | 1 << PERF_RECORD_EXIT;
	struct ring r[KINDS];
	int fd[KINDS];
	pid_t kid;

	for (int i = 0; i < KINDS; i++) {
		struct perf_event_attr a = sideband();

		a.comm = i == COMM;
		a.task = i == TASK;
		a.mmap = i == MMAP;
		a.namespaces = i == NS;
		a.context_switch = i == SWITCH;
		fd[i] = open_attr(&a);
		r[i] = ring_map(fd[i], 8, PROT_READ | PROT_WRITE);
	}
	for (int i = 0; i < KINDS; i++)
		ioc(fd[i], PERF_EVENT_IOC_ENABLE, 0);
	NEED(prctl(PR_SET_NAME, "name"));
	NEED(mmap(NULL, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED ? -1 : 0);
	kid = fork();
	if (!kid)
		_exit(0);
	reap(kid);
	nap_ms(2);
	for (int i = 0; i < KINDS; i++) {
		u64 more = i == COMM || i == TASK || i == MMAP ? tasks : 0;

		while (ring_next(&r[i], &rec))
			seen[i] |= 1ull << rec.h.type;
		EXPECT(seen[i] & own[i], "kind %d: records %#lx", i, (long)seen[i]);
		EXPECT(!(seen[i] & ~(own[i] | more)), "kind %d: records %#lx", i, (long)seen[i]);
	}
}
