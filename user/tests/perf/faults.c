/* SPDX-License-Identifier: MIT */
/*
 * Every fallible step fails once. A DEBUG kernel lets the n-th step of the caller's next system call fail
 * (/proc/perch/failpoints); each test here loops over n until nothing is left to fail. Each time the call must say
 * what is right for the step that failed, and leave nothing behind. Other kernels: skipped.
 */
#include "ptest.h"
#include "../failpoint.h"
#include <fcntl.h>
#include <signal.h>

#define MAX_STEPS 400

static int fail_fd;

static void need_failpoints(void)
{
	fail_fd = open("/proc/perch/failpoints", O_RDWR | O_CLOEXEC);
	if (fail_fd < 0)
		test_skip("needs a DEBUG kernel");
}

/* What a call must answer when a step of this kind fails. */
static bool right_errno(const struct fired *f, int err)
{
	if (!strcmp(f->kind, "memory"))
		return err == ENOMEM || err == EAGAIN;
	if (!strcmp(f->kind, "copy"))
		return err == EFAULT;
	if (!strcmp(f->kind, "fd"))
		return err == EMFILE;
	return err == EINTR;
}

#define NR_LIVE 8
struct live {
	int n;
	long value[NR_LIVE];
};

static struct live live(void)
{
	FILE *f = fopen("/proc/perch/perf_stats", "r");
	struct live l = { 0 };
	char name[64];
	long v;

	while (f && fscanf(f, "%63s %ld", name, &v) == 2)
		if (!strncmp(name, "live_", 5) && l.n < NR_LIVE)
			l.value[l.n++] = v;
	if (f)
		fclose(f);
	return l;
}

/* A dead task's part goes when somebody forks or waits. */
static bool live_is(const struct live *want)
{
	for (int i = 0; i < 100; i++) {
		struct live l = live();
		pid_t pid;

		if (!memcmp(&l, want, sizeof(l)))
			return true;
		pid = fork();
		if (!pid)
			_exit(0);
		waitpid(pid, NULL, 0);
		nap_ms(2);
	}
	return false;
}

/* op: the call, once; below 0 with errno when it fails. undo: what takes a success back. quiet: a step may fail without
 * the call failing (it has another way). */
static void each_step(int nr, long (*op)(void), void (*undo)(long), bool quiet)
{
	struct live before;
	int n;

	undo(op());		/* what is made once and stays */
	before = live();
	for (n = 1; n < MAX_STEPS; n++) {
		struct fired f;
		long r;
		int err;

		failpoint_arm(fail_fd, n, nr);
		r = op();
		err = errno;
		f = failpoint_fired(fail_fd);
		if (r >= 0)
			undo(r);
		EXPECT(live_is(&before), "step %d (%s in %s) left objects behind", n, f.kind, f.where);
		if (!f.fired)
			break;
		EXPECT(quiet || r < 0, "step %d (%s in %s) failed, the call did not", n, f.kind, f.where);
		EXPECT(r >= 0 || right_errno(&f, err), "step %d (%s in %s): errno %d", n, f.kind, f.where, err);
	}
	failpoint_arm(fail_fd, 0, 0);
	EXPECT_IN(n, 3, MAX_STEPS - 1);
	printf("  # %d steps\n", n - 1);
}

static void close_it(long fd)
{
	if (fd >= 0)
		close((int)fd);
}

static long open_hw(void)
{
	struct perf_event_attr a = attr_of(RAW_CYCLES);

	a.sample_period = 100000;
	a.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_CALLCHAIN;
	return perf_open(&a, 0, -1, -1, 0);
}

TEST("fault/open", "perf_event_open", "hazard 27")
{
	need_failpoints();
	each_step(SYS_perf_event_open, open_hw, close_it, false);
}

static int leader;

static long open_member(void)
{
	struct perf_event_attr a = attr_of(TASK_CLOCK);

	a.disabled = 0;
	return perf_open(&a, 0, nr_cpus() - 1, leader, PERF_FLAG_FD_CLOEXEC);
}

TEST("fault/open_member", "perf_event_open group_fd", "hazard 27")
{
	struct perf_event_attr a = attr_of(RAW_CYCLES);

	need_failpoints();
	leader = perf_open(&a, 0, nr_cpus() - 1, -1, 0);
	NEED(leader);
	each_step(SYS_perf_event_open, open_member, close_it, false);
}

static pid_t other;

static long open_other(void)
{
	struct perf_event_attr a = attr_of(CPU_CLOCK);

	a.inherit = 1;
	return perf_open(&a, other, 0, -1, 0);
}

static void sleeper(void *unused)
{
	for (;;)
		pause();
}

TEST("fault/attach", "perf_event_open pid", "hazard 27")
{
	need_failpoints();
	other = run_child(sleeper, NULL);
	each_step(SYS_perf_event_open, open_other, close_it, false);
	kill(other, SIGKILL);
	waitpid(other, NULL, 0);
}

static long fork_once(void)
{
	pid_t pid = fork();

	if (!pid)
		_exit(0);
	return pid;
}

static void reap_it(long pid)
{
	if (pid > 0)
		waitpid((pid_t)pid, NULL, 0);
}

TEST("fault/inherit", "attr.inherit fork", "hazard 27")
{
	struct perf_event_attr a = attr_of(RAW_CYCLES), b = attr_of(TASK_CLOCK);
	int lead, fd;

	need_failpoints();
	a.inherit = b.inherit = 1;
	lead = perf_open(&a, 0, -1, -1, 0);
	NEED(lead);
	NEED(perf_open(&b, 0, -1, lead, 0));
	fd = perf_open(&b, 0, nr_cpus() - 1, -1, 0);
	NEED(fd);
	each_step(SYS_clone, fork_once, reap_it, false);
	EXPECT(read_u64(lead) > 0, "the parent's event stopped");
}

static int ring_fd;

static long map_ring(void)
{
	void *p = mmap(NULL, 9 * 4096, PROT_READ | PROT_WRITE, MAP_SHARED, ring_fd, 0);

	return p == MAP_FAILED ? -1 : (long)p;
}

static void unmap_ring(long p)
{
	if (p > 0)
		munmap((void *)p, 9 * 4096);
}

TEST("fault/mmap", "mmap", "hazard 27")
{
	need_failpoints();
	ring_fd = (int)open_hw();
	NEED(ring_fd);
	each_step(SYS_mmap, map_ring, unmap_ring, false);
}

static long read_group(void)
{
	u64 buf[512];

	return read(leader, buf, sizeof(buf));
}

static void nothing(long unused)
{
}

TEST("fault/read", "read PERF_FORMAT_GROUP", "hazard 27")
{
	struct perf_event_attr a = attr_of(TASK_CLOCK);

	need_failpoints();
	a.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_ID | PERF_FORMAT_LOST;
	leader = perf_open(&a, 0, -1, -1, 0);
	NEED(leader);
	for (int i = 0; i < 20; i++)
		NEED(perf_open(&a, 0, -1, leader, 0));
	each_step(SYS_read, read_group, nothing, false);
}

/* In a child: exec fails with an errno, or, behind the point of no return, by SIGKILL; or it works. */
static int exec_once(int n)
{
	pid_t pid = fork();
	int st;

	if (!pid) {
		char *argv[] = { "true", NULL };

		failpoint_arm(fail_fd, n, SYS_execve);
		execve("/bin/true", argv, NULL);
		_exit(errno);
	}
	NEED(pid);
	waitpid(pid, &st, 0);
	if (WIFSIGNALED(st))
		return WTERMSIG(st) == SIGKILL || WTERMSIG(st) == SIGSEGV ? EFAULT : -WTERMSIG(st);
	return WEXITSTATUS(st);
}

TEST("fault/exec", "attr.enable_on_exec attr.inherit", "hazard 27")
{
	struct perf_event_attr a = attr_of(TASK_CLOCK);
	struct live before;
	int n, good = 0;

	need_failpoints();
	a.inherit = a.enable_on_exec = a.disabled = 1;
	NEED(perf_open(&a, 0, -1, -1, 0));
	EXPECT_EQ(exec_once(0), 0);
	before = live();
	/* The new program cannot tell whether a step has failed unnoticed: several good ends in a row are the end. */
	for (n = 1; n < MAX_STEPS && good < 10; n++) {
		int r = exec_once(n);

		good = r ? 0 : good + 1;
		EXPECT(!r || r == ENOMEM || r == EAGAIN || r == EFAULT || r == EINTR || r == EMFILE,
		       "step %d: errno or -signal %d", n, r);
		EXPECT(live_is(&before), "step %d left objects behind", n);
	}
	EXPECT_IN(n, 10, MAX_STEPS - 1);
	printf("  # %d steps\n", n - 1);
}
