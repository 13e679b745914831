/* SPDX-License-Identifier: MIT */
/* Families: fork, threads, exec, exit, and the sums that must come out. */
#include "ptest.h"
#include "ring.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>

static void spin_40(void *unused)
{
	spin_ms(40);
}

TEST("inherit/child_counts", "attr.inherit", "perf stat")
{
	int fd = open_with(TASK_CLOCK, RF_TIMES, false, true);
	int alone = open_with(TASK_CLOCK, RF_TIMES, false, false);

	reap(run_child(spin_40, NULL));
	struct times t = read_times(fd), u = read_times(alone);

	EXPECT(t.value >= 38000000, "with inherit %ld", (long)t.value);
	EXPECT(u.value < t.value - 30000000, "without inherit %ld", (long)u.value);
	EXPECT(t.enabled >= 38000000, "enabled %ld", (long)t.enabled);
}

static void *thread_spin(void *arg)
{
	spin_ms(40);
	return NULL;
}

TEST("inherit/threads", "attr.inherit attr.inherit_thread", "perf stat")
{
	int fd = open_with(TASK_CLOCK, 0, false, true);
	struct perf_event_attr a = attr_of(TASK_CLOCK);
	pthread_t t;

	a.inherit = a.inherit_thread = 1;
	int only_threads = perf_open(&a, 0, -1, -1, 0);

	NEED(only_threads);
	pthread_create(&t, NULL, thread_spin, NULL);
	pthread_join(t, NULL);
	u64 all = read_u64(fd), thr = read_u64(only_threads);

	EXPECT(all >= 38000000 && thr >= 38000000, "inherit %ld inherit_thread %ld", (long)all, (long)thr);
	reap(run_child(spin_40, NULL));
	EXPECT(read_u64(fd) >= all + 38000000, "a process must be inherited by inherit");
	EXPECT(read_u64(only_threads) < thr + 35000000, "inherit_thread must not reach processes");
}

TEST("inherit/existing_threads", "open.pid attr.inherit", "PB-31")
{
	int fd[2];
	pthread_t t;

	pthread_create(&t, NULL, thread_spin, NULL);
	for (int i = 0; i < 2; i++)
		fd[i] = open_with(TASK_CLOCK, 0, false, i);
	pthread_join(t, NULL);
	for (int i = 0; i < 2; i++)
		EXPECT(read_u64(fd[i]) < 30000000, "an existing thread was counted (inherit %d): %ld", i,
		       (long)read_u64(fd[i]));
}

static int twelve[12];
static void enable_and_spin(void *unused)
{
	for (int i = 0; i < 12; i++)
		ioctl(twelve[i], PERF_EVENT_IOC_ENABLE, 0);
	spin_ms(200);
}

TEST("inherit/enabled_time_of_exited", "attr.inherit read.TOTAL_TIME_ENABLED", "PB-04")
{
	struct times t[12];
	u64 most = 0;

	for (int i = 0; i < 12; i++)
		twelve[i] = open_with(RAW_CYCLES, RF_TIMES, true, true);
	reap(run_child(enable_and_spin, NULL));
	for (int i = 0; i < 12; i++) {
		ioctl(twelve[i], PERF_EVENT_IOC_DISABLE, 0);
		t[i] = read_times(twelve[i]);
		most = t[i].enabled > most ? t[i].enabled : most;
	}
	EXPECT(most >= 150000000, "enabled %ld", (long)most);
	for (int i = 0; i < 12; i++) {
		/* it has spun for 200 ms since the last one was enabled */
		EXPECT(t[i].enabled >= 195000000, "event %d: enabled %ld of %ld", i, (long)t[i].enabled, (long)most);
		EXPECT(t[i].running < t[i].enabled && t[i].running > 0, "event %d: running %ld of %ld", i,
		       (long)t[i].running, (long)t[i].enabled);
	}
}

TEST("inherit/reset_keeps_exited", "ioctl.RESET attr.inherit", "PB-27")
{
	/* With an event that is not inherited the two tasks' contexts are no copies of each other, so the kernel
	 * never swaps them: the child's time is in the child's event, and then in what exited children left. */
	open_self(TASK_CLOCK);
	int fd = open_with(TASK_CLOCK, 0, false, true);

	reap(run_child(spin_40, NULL));
	NEED(ioctl(fd, PERF_EVENT_IOC_DISABLE, 0));
	u64 before = read_u64(fd);

	NEED(ioctl(fd, PERF_EVENT_IOC_RESET, 0));
	u64 after = read_u64(fd);

	EXPECT_IN(after, 36000000, before - 1);
}

static void spin_until_told(void *arg)
{
	int *p = arg;
	char c;

	spin_ms(20);
	if (read(p[0], &c, 1) < 0)
		_exit(1);
}

TEST("inherit/group_changed_echild", "read.GROUP attr.inherit", "PB-03")
{
	struct perf_event_attr a = attr_of(RAW_CYCLES);
	u64 buf[8];
	int p[2];

	NEED(pipe(p));
	a.inherit = 1;
	a.read_format = RF_TIMES | PERF_FORMAT_GROUP;
	int leader = perf_open(&a, 0, -1, -1, 0);

	NEED(perf_open(&a, 0, -1, leader, 0));
	pid_t pid = run_child(spin_until_told, p);

	EXPECT_EQ(read(leader, buf, sizeof(buf)), 40);
	EXPECT_EQ(buf[0], 2);
	NEED(perf_open(&a, 0, -1, leader, 0));
	EXPECT_ERR(read(leader, buf, sizeof(buf)), ECHILD);
	EXPECT_EQ(write(p[1], "x", 1), 1);
	reap(pid);
	EXPECT_EQ(read(leader, buf, sizeof(buf)), 48);
	EXPECT_EQ(buf[0], 3);
}

/* A tree of processes and threads, each doing a fixed amount of work on any CPU. */
#define WORK 300000ull
static void *leaf_thread(void *arg)
{
	spin_loops(WORK);
	return NULL;
}

static void tree(int depth)
{
	pthread_t t[2];
	pid_t pid[2];

	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, leaf_thread, NULL);
	for (int i = 0; i < 2 && depth; i++) {
		pid[i] = fork();
		if (!pid[i]) {
			tree(depth - 1);
			_exit(0);
		}
	}
	spin_loops(WORK);
	sched_yield();
	for (int i = 0; i < 2 && depth; i++)
		waitpid(pid[i], NULL, 0);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
}

TEST("inherit/conserved", "attr.inherit", "issue 3.3, DESIGN 1.2")
{
	/* Two equal events and their halves: what one family member counts, the other event must count too. */
	struct perf_event_attr a = attr_of(RAW_CYCLES);
	u64 buf[3 + 4];

	a.inherit = 1;
	a.exclude_kernel = 1;
	a.disabled = 1;
	a.read_format = RF_TIMES | PERF_FORMAT_GROUP;
	int leader = perf_open(&a, 0, -1, -1, 0);

	a.disabled = 0;
	for (int i = 1; i < 4; i++)
		NEED(perf_open(&a, 0, -1, leader, 0));
	int clock = open_with(TASK_CLOCK, RF_TIMES, false, true);

	NEED(ioctl(leader, PERF_EVENT_IOC_ENABLE, PERF_IOC_FLAG_GROUP));
	tree(3);
	NEED(ioctl(leader, PERF_EVENT_IOC_DISABLE, PERF_IOC_FLAG_GROUP));
	NEED(ioctl(clock, PERF_EVENT_IOC_DISABLE, 0));
	EXPECT_EQ(read(leader, buf, sizeof(buf)), sizeof(buf));
	EXPECT_EQ(buf[1], buf[2]);
	u64 slack = skew_percent();

	for (int i = 1; i < 4; i++)
		EXPECT_IN(buf[3 + i], buf[3] * (100 - slack) / 100, buf[3] * (100 + slack) / 100);
	struct times t = read_times(clock);

	EXPECT_IN(buf[1], t.value * 90 / 100, t.value * 110 / 100 + 5000000);
}

TEST("inherit/many_short_children", "attr.inherit", "S42")
{
	int fd = open_with(TASK_CLOCK, RF_TIMES, false, true);
	u64 last = 0;

	for (int i = 0; i < 100; i++) {
		pid_t pid = fork();

		if (!pid)
			_exit(0);
		waitpid(pid, NULL, 0);
		struct times t = read_times(fd);

		EXPECT(t.value >= last, "the sum went back at child %d", i);
		last = t.value;
	}
}

static void exec_self_spin(const char *how)
{
	char *const argv[] = { "ptest-helper", (char *)how, NULL };
	extern char **environ;

	execve("/proc/self/exe", argv, environ);
	_exit(1);
}

/* `ptest` run under the name ptest-helper burns 20 ms: see the constructor below. */
__attribute__((constructor)) static void helper(int argc, char **argv)
{
	if (argc > 1 && !strcmp(argv[0], "ptest-helper")) {
		spin_ms((unsigned)atoi(argv[1]));
		_exit(0);
	}
}

static int wait_fd[2];
static pid_t stopped_child(void (*fn)(void))
{
	NEED(pipe(wait_fd));
	pid_t pid = fork();

	if (!pid) {
		char c;

		if (read(wait_fd[0], &c, 1) != 1)
			_exit(1);
		fn();
		_exit(0);
	}
	return pid;
}

static void fail_then_exec(void)
{
	char *const argv[] = { "x", NULL };

	spin_ms(150);
	execve("/nonexistent", argv, NULL);
	spin_ms(150);
	exec_self_spin("20");
}

TEST("inherit/enable_on_exec", "attr.enable_on_exec", "PB-19")
{
	struct perf_event_attr a = attr_of(TASK_CLOCK);
	pid_t pid = stopped_child(fail_then_exec);

	a.disabled = a.enable_on_exec = 1;
	a.read_format = RF_TIMES;
	int fd = perf_open(&a, pid, -1, -1, 0);

	NEED(fd);
	EXPECT_EQ(write(wait_fd[1], "x", 1), 1);
	waitpid(pid, NULL, 0);
	struct times t = read_times(fd);

	/* 20 ms of spinning and the start of a program, which takes long on a busy host; not the 150 ms since the failed one */
	EXPECT_IN(t.value, 15000000, 145000000);
	EXPECT_IN(t.enabled, 15000000, 145000000);
	EXPECT_EQ(t.enabled, t.running);
}

static void spin_then_exec(void)
{
	spin_ms(20);
	exec_self_spin("30");
}

TEST("inherit/remove_on_exec", "attr.remove_on_exec", "PB-51")
{
	struct perf_event_attr a = attr_of(TASK_CLOCK);
	pid_t pid = stopped_child(spin_then_exec);

	a.remove_on_exec = 1;
	int fd = perf_open(&a, pid, -1, -1, 0), sibling = perf_open(&a, pid, -1, fd, 0);

	NEED(sibling);
	EXPECT_EQ(write(wait_fd[1], "x", 1), 1);
	waitpid(pid, NULL, 0);
	u64 v = read_u64(fd);

	EXPECT_IN(v, 18000000, 40000000);
	EXPECT_EQ(read_u64(fd), v);
	EXPECT_IN(read_u64(sibling), 18000000, 40000000);
}

static void grandchild(void)
{
	pid_t pid = fork();

	if (!pid)
		exec_self_spin("30");
	waitpid(pid, NULL, 0);
}

TEST("inherit/state_from_forker", "attr.inherit attr.enable_on_exec", "issue 3.3")
{
	/* The root event is off; the child's copy is enabled by its exec; its child must count too. */
	struct perf_event_attr a = attr_of(TASK_CLOCK);
	int fd;

	a.inherit = a.disabled = a.enable_on_exec = 1;
	fd = perf_open(&a, 0, -1, -1, 0);
	NEED(fd);
	pid_t pid = fork();

	if (!pid) {
		char *const argv[] = { "ptest-grandchild", NULL };
		extern char **environ;

		execve("/proc/self/exe", argv, environ);
		_exit(1);
	}
	reap(pid);
	spin_ms(10);
	u64 v = read_u64(fd);

	EXPECT_IN(v, 28000000, 2000000000);	/* loading a program can take its time */
}

__attribute__((constructor)) static void grandchild_helper(int argc, char **argv)
{
	if (argc == 1 && !strcmp(argv[0], "ptest-grandchild")) {
		grandchild();
		_exit(0);
	}
}

TEST("inherit/parent_exits_first", "attr.inherit", "F21")
{
	/* The task that was opened exits; its child goes on counting into the same event. */
	int fds[2];
	struct perf_event_attr a = attr_of(TASK_CLOCK);

	NEED(pipe(fds));
	NEED(pipe(wait_fd));
	pid_t pid = fork();

	if (!pid) {
		char c;

		if (read(wait_fd[0], &c, 1) != 1)
			_exit(1);
		if (!fork()) {
			nap_ms(20);
			spin_ms(40);
			if (write(fds[1], "x", 1) != 1)
				_exit(1);
			pause();
		}
		_exit(0);
	}
	a.inherit = 1;
	int fd = perf_open(&a, pid, -1, -1, 0);

	NEED(fd);
	EXPECT_EQ(write(wait_fd[1], "x", 1), 1);
	waitpid(pid, NULL, 0);
	char c;

	EXPECT_EQ(read(fds[0], &c, 1), 1);
	EXPECT(read_u64(fd) >= 38000000, "after the parent's end only %ld", (long)read_u64(fd));
}

static void wait_then_spin(void)
{
	spin_ms(20);
}

TEST("inherit/switched_after_fork", "attr.inherit ioctl.ENABLE ioctl.DISABLE ioctl.RESET", "perf_event_open(2)")
{
	int fd = open_with(TASK_CLOCK, RF_TIMES, true, true);
	pid_t pid = stopped_child(wait_then_spin);
	struct times t, u;

	NEED(ioctl(fd, PERF_EVENT_IOC_ENABLE, 0));	/* the child's copy, too */
	EXPECT_EQ(write(wait_fd[1], "x", 1), 1);
	reap(pid);
	NEED(ioctl(fd, PERF_EVENT_IOC_DISABLE, 0));
	t = read_times(fd);
	EXPECT(t.value >= 19000000, "the child that was there: %ld", (long)t.value);
	pid = stopped_child(wait_then_spin);		/* a copy of one that is off is off */
	EXPECT_EQ(write(wait_fd[1], "x", 1), 1);
	reap(pid);
	u = read_times(fd);
	EXPECT_EQ(u.value, t.value);
	EXPECT_EQ(u.enabled, t.enabled);
}

static void exec_and_spin(void)
{
	exec_self_spin("20");
}

/* Who counts in a group after an exec: the members that are on, if the leader is. */
TEST("inherit/enable_on_exec_group", "attr.enable_on_exec open.group_fd", "Linux 6.12")
{
	struct perf_event_attr a = attr_of(RAW_CYCLES);
	int leader, on, off, on_exec;
	struct times t;

	a.read_format = RF_TIMES;
	for (int leader_too = 0; leader_too < 2; leader_too++) {
		pid_t pid = stopped_child(exec_and_spin);

		a.disabled = 1;
		a.enable_on_exec = leader_too;
		NEED(leader = perf_open(&a, pid, -1, -1, 0));
		a.enable_on_exec = 1;
		NEED(on_exec = perf_open(&a, pid, -1, leader, 0));
		a.enable_on_exec = 0;
		NEED(off = perf_open(&a, pid, -1, leader, 0));
		a.disabled = 0;
		NEED(on = perf_open(&a, pid, -1, leader, 0));
		EXPECT_EQ(write(wait_fd[1], "x", 1), 1);
		reap(pid);
		EXPECT_EQ(read_times(leader).value != 0, leader_too);
		for (int i = 0; i < 2; i++) {
			t = read_times(i ? on_exec : on);
			EXPECT_EQ(t.value != 0, leader_too);
			EXPECT_EQ(t.enabled != 0, leader_too);
		}
		t = read_times(off);
		EXPECT_EQ(t.value | t.enabled | t.running, 0);
	}
	a.enable_on_exec = a.remove_on_exec = 1;
	EXPECT_ERR(perf_open(&a, 0, -1, -1, 0), EINVAL);
}

/* --- sums that must be exact ------------------------------------------------------------------------- */

#define LEVELS 3
#define PAGES 16

/* Fresh pages, on one CPU after the other. */
static void *touch_pages(void *arg)
{
	int cpus = nr_cpus(), at = (int)(long)arg;

	for (int n = 0; n < 4; n++) {
		char *p = mmap(NULL, PAGES * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		pin((at + n) % cpus);
		for (int i = 0; i < PAGES; i++)
			p[i * 4096] = 1;
		munmap(p, PAGES * 4096);
	}
	return NULL;
}

static void touching_tree(int depth)
{
	pthread_t t[2];
	pid_t pid[2];

	for (long i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, touch_pages, (void *)i);
	for (int i = 0; i < 2 && depth; i++) {
		pid[i] = fork();
		if (!pid[i]) {
			touching_tree(depth - 1);
			_exit(0);
		}
	}
	touch_pages((void *)(long)depth);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	for (int i = 0; i < 2 && depth; i++)
		waitpid(pid[i], NULL, 0);
}

static u64 faults_of_all(void)
{
	struct rusage self, kids;

	NEED(getrusage(RUSAGE_SELF, &self));
	NEED(getrusage(RUSAGE_CHILDREN, &kids));
	return (u64)(self.ru_minflt + self.ru_majflt + kids.ru_minflt + kids.ru_majflt);
}

TEST("inherit/conserved_exactly", "attr.inherit sw.PAGE_FAULTS", "issue 3.3, DESIGN 1.2")
{
	/* Three levels of processes with threads that change CPUs. The kernel counts faults for getrusage()
	 * by itself: both must say the same, to the last one. */
	struct perf_event_attr a = attr_of(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS);
	u64 counted = 0, was, expected = 0;
	int fd;

	a.inherit = a.disabled = 1;
	NEED(fd = perf_open(&a, 0, -1, -1, 0));
	for (int round = 0; round < 2; round++) {	/* the first brings in all code and data */
		NEED(ioctl(fd, PERF_EVENT_IOC_ENABLE, 0));
		was = faults_of_all();
		counted = read_u64(fd);
		touching_tree(LEVELS);
		counted = read_u64(fd) - counted;
		expected = faults_of_all() - was;
		NEED(ioctl(fd, PERF_EVENT_IOC_DISABLE, 0));
	}
	EXPECT(expected > 15 * 3 * 4 * PAGES, "only %ld faults", (long)expected);
	EXPECT_EQ(counted, expected);
}

TEST("inherit/stat", "attr.inherit_stat", "Linux 6.12")
{
	/* Counts stay with their tasks, and the sum is the same. */
	struct perf_event_attr a = attr_of(TASK_CLOCK);
	struct times t;
	u64 mine;
	int fd;

	a.inherit = a.inherit_stat = 1;
	a.read_format = RF_TIMES;
	NEED(fd = perf_open(&a, 0, -1, -1, 0));
	mine = thread_cpu_ns();
	for (int i = 0; i < 3; i++) {
		pid_t pid = run_child(spin_40, NULL);

		spin_ms(20);
		reap(pid);
	}
	t = read_times(fd);
	mine = thread_cpu_ns() - mine;
	EXPECT_IN(t.value, mine + 110000000, mine + 800000000);
	EXPECT_EQ(t.enabled, t.running);
}

/* --- prctl ------------------------------------------------------------------------------------------- */

TEST("inherit/prctl", "prctl.TASK_PERF_EVENTS_DISABLE prctl.TASK_PERF_EVENTS_ENABLE", "prctl(2)")
{
	int fd = open_with(TASK_CLOCK, 0, false, true);
	pid_t pid = fork();

	if (!pid) {	/* it has opened nothing itself */
		NEED(prctl(PR_TASK_PERF_EVENTS_DISABLE));
		spin_ms(20);
		_exit(0);
	}
	reap(pid);
	u64 v = read_u64(fd);

	EXPECT(v >= 19000000, "the child switched off what its parent had opened: %ld", (long)v);
	NEED(prctl(PR_TASK_PERF_EVENTS_DISABLE));
	v = read_u64(fd);
	spin_ms(20);
	EXPECT_EQ(read_u64(fd), v);
	NEED(prctl(PR_TASK_PERF_EVENTS_ENABLE));
	spin_ms(20);
	EXPECT(read_u64(fd) >= v + 19000000, "enabled again: %ld", (long)(read_u64(fd) - v));
	EXPECT_ERR(prctl(PR_TASK_PERF_EVENTS_ENABLE + 100), EINVAL);
}

static void *switch_off(void *arg)
{
	*(int *)arg = prctl(PR_TASK_PERF_EVENTS_DISABLE);
	return NULL;
}

TEST("inherit/prctl_of_thread", "prctl.TASK_PERF_EVENTS_DISABLE", "Linux: the events that the thread opened")
{
	int fd = open_with(TASK_CLOCK, 0, false, true), r = -1;
	pthread_t t;

	pthread_create(&t, NULL, switch_off, &r);
	pthread_join(t, NULL);
	EXPECT_EQ(r, 0);
	u64 v = read_u64(fd);

	spin_ms(20);
	EXPECT(read_u64(fd) >= v + 19000000, "another thread switched off what this one had opened");
}

/* --- exec -------------------------------------------------------------------------------------------- */

static char setid_copy[64];
static void spin_then_setid(void)
{
	char *const argv[] = { "ptest-helper", "600", NULL };
	extern char **environ;

	NEED(setgid(1000));
	NEED(setuid(1000));
	spin_ms(20);
	execve(setid_copy, argv, environ);
	_exit(1);
}

static void copy_with_mode(const char *to, unsigned mode)
{
	int in = open("/proc/self/exe", O_RDONLY), out = open(to, O_WRONLY | O_CREAT | O_TRUNC, 0755);
	static char buf[65536];
	ssize_t n;

	NEED(in);
	NEED(out);
	while ((n = read(in, buf, sizeof(buf))) > 0)
		EXPECT_EQ(write(out, buf, (size_t)n), n);
	close(in);
	NEED(fchmod(out, mode));
	close(out);
}

TEST("inherit/exec_setid", "attr.inherit exec", "Linux: events leave a task that gains privileges")
{
	struct perf_event_attr a = attr_of(TASK_CLOCK);
	u64 v[2];

	if (geteuid())
		test_skip("not root");
	a.inherit = 1;
	snprintf(setid_copy, sizeof(setid_copy), "/ptest-setid-%d", getpid());
	for (int setid = 0; setid < 2; setid++) {
		copy_with_mode(setid_copy, setid ? 04755 : 0755);
		pid_t pid = stopped_child(spin_then_setid);
		int fd = perf_open(&a, pid, -1, -1, 0);

		NEED(fd);
		EXPECT_EQ(write(wait_fd[1], "x", 1), 1);
		reap(pid);
		v[setid] = read_u64(fd);
		unlink(setid_copy);
	}
	EXPECT(v[0] >= 618000000, "the plain program was counted for %ld", (long)v[0]);
	EXPECT_IN(v[1], 19000000, 500000000);
}

/* Of a family the one that gains privileges leaves; what it has counted stays, and the others go on. */
TEST("inherit/exec_setid_of_one", "attr.inherit exec", "Linux: events leave a task that gains privileges")
{
	struct perf_event_attr a = attr_of(TASK_CLOCK);
	int fd;

	if (geteuid())
		test_skip("not root");
	a.inherit = 1;
	snprintf(setid_copy, sizeof(setid_copy), "/ptest-setid-%d", getpid());
	copy_with_mode(setid_copy, 04755);
	open_self(TASK_CLOCK);	/* not inherited: so the kernel does not swap the two tasks' contexts */
	NEED(fd = perf_open(&a, 0, -1, -1, 0));
	u64 mine = thread_cpu_ns();
	pid_t pid = stopped_child(spin_then_setid);

	EXPECT_EQ(write(wait_fd[1], "x", 1), 1);
	reap(pid);
	unlink(setid_copy);
	u64 v = read_u64(fd);

	mine = thread_cpu_ns() - mine;
	EXPECT_IN(v, mine + 19000000, mine + 400000000);
	spin_ms(20);
	EXPECT(read_u64(fd) >= v + 19000000, "the others stand still: %ld", (long)(read_u64(fd) - v));
}

static void add_type(char *types, size_t size, const char *t)
{
	size_t n = strlen(types);

	if (n < strlen(t) || strcmp(types + n - strlen(t), t))	/* several mappings count once */
		strncat(types, t, size - n - 1);
}

/* The types of the records of a child that executes a copy of this program, in the order in which they came. all_of_cpu:
 * the event is the CPU's. */
static void exec_records(unsigned mode, bool all_of_cpu, char *types, size_t size)
{
	struct perf_event_attr a = attr_of(DUMMY);
	static union record rec;

	a.task = a.comm = a.mmap = a.mmap2 = 1;
	copy_with_mode(setid_copy, mode);
	pid_t pid = stopped_child(spin_then_setid);
	int fd = perf_open(&a, all_of_cpu ? -1 : pid, all_of_cpu ? 0 : -1, -1, 0);

	NEED(fd);
	struct ring r = ring_map(fd, 32, PROT_READ | PROT_WRITE);

	EXPECT_EQ(write(wait_fd[1], "x", 1), 1);
	reap(pid);
	close(fd);
	unlink(setid_copy);
	*types = 0;
	while (ring_next(&r, &rec)) {
		if (rec.u32[2] != (u32)pid)	/* all of these begin with it */
			continue;
		add_type(types, size, rec.h.type == PERF_RECORD_COMM ? "comm " : rec.h.type == PERF_RECORD_EXIT ? "exit " :
				      rec.h.type == PERF_RECORD_MMAP2 ? "mmap " : "other ");
	}
}

/* For its events the task ends. For those of the CPU, too, and once more when it does end. */
TEST("sideband/exec_setid", "attr.task record.EXIT exec", "Linux 6.12: begin_new_exec")
{
	static const char *const want[2][2] = { { "comm mmap exit ", "comm exit " },
						{ "comm mmap exit ", "comm exit mmap exit " } };
	char types[256];

	if (geteuid())
		test_skip("not root");
	pin(0);
	snprintf(setid_copy, sizeof(setid_copy), "/ptest-setid-%d", getpid());
	for (int cpu = 0; cpu < 2; cpu++)
		for (int setid = 0; setid < 2; setid++) {
			exec_records(setid ? 04755 : 0755, cpu, types, sizeof(types));
			EXPECT(!strcmp(types, want[cpu][setid]), "%s, %s: \"%s\", right is \"%s\"", cpu ? "CPU" : "task",
			       setid ? "set-user-id" : "plain", types, want[cpu][setid]);
		}
}
