/* SPDX-License-Identifier: MIT */
/*
 * Races, made to happen. A DEBUG kernel lets whoever comes to a named place wait there (/proc/perch/pausepoints) until
 * the test has done what must not matter. The hazards are those of the perf core's README. Other kernels: skipped.
 */
#include "ptest.h"
#include "ring.h"
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>

static int pause_fd;

static void need_pauses(void)
{
	pause_fd = open("/proc/perch/pausepoints", O_RDWR | O_CLOEXEC);
	if (pause_fd < 0)
		test_skip("needs a DEBUG kernel");
}

static void order(const char *text)
{
	NEED(pwrite(pause_fd, text, strlen(text), 0));
}

/* Whoever (pid 0: anybody) comes to that place next waits. spin: without giving up the CPU. */
static void arm(const char *where, pid_t pid, bool spin)
{
	char b[64];

	snprintf(b, sizeof(b), "%s %d%s", where, pid, spin ? " spin" : "");
	order(b);
}

static void let_go(void)
{
	order("release");
}

static int state(const char *what)
{
	char b[160] = "", *at;

	NEED(pread(pause_fd, b, sizeof(b) - 1, 0));
	at = strstr(b, what);
	return at ? atoi(at + strlen(what)) : -1;
}

/* Somebody waits there. */
static void await(const char *where)
{
	for (int i = 0; i < 1500 && !state("waiting "); i++)
		nap_ms(1);
	EXPECT(state("waiting ") == 1, "nobody came to %s (hits %d)", where, state("hits "));
}

/* It was the test that ended the wait, not the time limit. */
static void in_time(void)
{
	EXPECT_EQ(state("timeouts "), 0);
}

/* A call on a thread of its own. */
struct call {
	const char *where;	/* it stops there; NULL: it runs through */
	bool spin;
	int cpu;		/* where it is to run, if not 0 */
	long (*fn)(long);
	long arg, result;
	int err;
	atomic_bool go, done;
	pthread_t thread;
};

static void *call_thread(void *p)
{
	struct call *c = p;

	if (c->cpu)
		pin(c->cpu);
	while (!c->go)
		nap_ms(1);
	if (c->where)
		arm(c->where, (pid_t)syscall(SYS_gettid), c->spin);
	c->result = c->fn(c->arg);
	c->err = errno;
	c->done = true;
	return NULL;
}

/* Make the thread: while another one stands in the middle of a call, that might have to wait for it. */
static void ready(struct call *c, const char *where, long (*fn)(long), long arg)
{
	c->where = where;
	c->fn = fn;
	c->arg = arg;
	c->go = c->done = false;
	NEED(-pthread_create(&c->thread, NULL, call_thread, c));
}

static void start(struct call *c)
{
	c->go = true;
	if (c->where)
		await(c->where);
}

static void begin(struct call *c, const char *where, long (*fn)(long), long arg)
{
	ready(c, where, fn, arg);
	start(c);
}

static void end(struct call *c)
{
	pthread_join(c->thread, NULL);
}

static long live_objects(void)
{
	FILE *f = fopen("/proc/perch/perf_stats", "r");
	char name[64];
	long v, sum = 0;

	/* tasks stay until somebody forks: not counted */
	while (f && fscanf(f, "%63s %ld", name, &v) == 2)
		if (!strncmp(name, "live_", 5) && strcmp(name, "live_tasks"))
			sum += v;
	if (f)
		fclose(f);
	return sum;
}

static void spinner(void *unused)
{
	for (;;)
		spin_loops(1000);
}

static void sleeper(void *unused)
{
	for (;;)
		pause();
}

static void end_child(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static int open_on(pid_t pid, u32 type, u64 config, bool inherit)
{
	struct perf_event_attr a = attr_of(type, config);
	int fd;

	a.inherit = inherit;
	fd = perf_open(&a, pid, -1, -1, 0);
	NEED(fd);
	return fd;
}

static long do_close(long fd)
{
	return close((int)fd);
}

/* The task exits while the close of its event has begun, before and under the lock. */
static void close_against_exit(const char *where)
{
	long before = live_objects();
	pid_t pid = run_child(spinner, NULL);
	int fd = open_on(pid, RAW_CYCLES, true);
	struct call c = { 0 };

	begin(&c, where, do_close, fd);
	kill(pid, SIGKILL);
	nap_ms(20);		/* it exits, or waits for the lock */
	let_go();
	end(&c);
	waitpid(pid, NULL, 0);
	EXPECT_EQ(c.result, 0);
	EXPECT_EQ(live_objects(), before);
	in_time();
}

TEST("pause/close_exit", "close", "hazard 1")
{
	need_pauses();
	close_against_exit("close");
	close_against_exit("close_locked");
}

/* The event is closed and opened while its task, which still counts, is about to exit. */
TEST("pause/exit_close", "close exit", "hazard 1 hazard 13")
{
	long before;
	pid_t pid;
	int fd;

	need_pauses();
	before = live_objects();
	pid = run_child(spinner, NULL);
	fd = open_on(pid, RAW_CYCLES, true);
	arm("exit", pid, false);
	kill(pid, SIGKILL);
	await("exit");
	EXPECT(read_u64(fd) > 0, "nothing was counted");
	close(fd);
	fd = open_on(pid, RAW_CYCLES, false);
	let_go();
	waitpid(pid, NULL, 0);
	read_u64(fd);
	close(fd);
	EXPECT_EQ(live_objects(), before);
	in_time();
}

static long do_open(long pid)
{
	struct perf_event_attr a = attr_of(RAW_CYCLES);

	return perf_open(&a, (pid_t)pid, -1, -1, 0);
}

/* known: perf has had something to do with the task before. */
static void open_against_exit(bool known)
{
	long before = live_objects();
	pid_t pid = run_child(sleeper, NULL);
	struct call c = { 0 };

	if (known)
		close(open_on(pid, RAW_CYCLES, false));
	begin(&c, "attach", do_open, pid);
	kill(pid, SIGKILL);
	waitid(P_PID, (id_t)pid, NULL, WEXITED | WNOWAIT);
	let_go();
	end(&c);
	EXPECT_EQ(c.result, -1);
	EXPECT_EQ(c.err, ESRCH);
	waitpid(pid, NULL, 0);
	EXPECT_EQ(live_objects(), before);
	in_time();
}

TEST("pause/open_exit", "perf_event_open", "hazard 2")
{
	need_pauses();
	open_against_exit(false);
	open_against_exit(true);
}

static int family[3];

/* On the thread that forks: its events are copied. */
static long do_fork(long unused)
{
	pid_t pid;

	for (int i = 0; i < 3; i++)
		family[i] = open_on(0, RAW_CYCLES, true);
	/* Without the C library's locks; with one table of descriptors, so that a close is the last one. */
	pid = (pid_t)syscall(SYS_clone, CLONE_FILES | SIGCHLD, 0, 0, 0, 0);

	if (!pid) {
		spin_ms(5);
		_exit(0);
	}
	return pid;
}

static long close_second(long unused)
{
	return close(family[1]);
}

/* A close that comes in the middle of a fork waits for it, and then takes the copies, too. */
static void fork_against(bool spin)
{
	struct call f = { .spin = spin }, c = { 0 };
	long before = live_objects();

	ready(&c, NULL, close_second, 0);
	begin(&f, "inherit", do_fork, 0);
	start(&c);
	nap_ms(20);		/* with spin: rotation and ticks in the middle of the walk */
	EXPECT(!c.done, "the close did not wait for the fork");
	let_go();
	end(&f);
	end(&c);
	EXPECT(f.result > 0, "fork failed");
	waitpid((pid_t)f.result, NULL, 0);
	EXPECT(read_u64(family[0]) > 0 && read_u64(family[2]) > 0, "the others stopped");
	close(family[0]);
	close(family[2]);
	EXPECT_EQ(live_objects(), before);
	in_time();
}

TEST("pause/fork_close", "attr.inherit close", "hazard 3")
{
	need_pauses();
	fork_against(false);
}

TEST("pause/fork_rotate", "attr.inherit", "hazard 20")
{
	int extra[12];

	need_pauses();
	for (int i = 0; i < 12; i++) {		/* more than there are counters, on every CPU: rotation is on */
		struct perf_event_attr a = attr_of(RAW_CYCLES);

		extra[i] = perf_open(&a, -1, i % nr_cpus(), -1, 0);
	}
	fork_against(true);
	for (int i = 0; i < 12; i++)
		close(extra[i]);
}

static long do_disable(long fd)
{
	return ioctl((int)fd, PERF_EVENT_IOC_DISABLE, 0);
}

/* The task leaves the CPU between the decision to ask that CPU and the question. */
TEST("pause/remote_switch", "ioctl.DISABLE", "hazard 4")
{
	cpu_set_t set;
	pid_t pid;
	u64 v;
	int fd;
	struct call c = { 0 };

	need_pauses();
	if (nr_cpus() < 3)
		test_skip("needs 3 CPUs");
	pid = run_child(spinner, NULL);
	for (int round = 0; round < 4; round++) {
		CPU_ZERO(&set);
		CPU_SET(1, &set);
		sched_setaffinity(pid, sizeof(set), &set);
		fd = open_on(pid, RAW_CYCLES, false);
		pin(0);
		begin(&c, "remote", do_disable, fd);
		CPU_ZERO(&set);
		CPU_SET(2, &set);
		sched_setaffinity(pid, sizeof(set), &set);
		nap_ms(5);
		let_go();
		end(&c);
		EXPECT_EQ(c.result, 0);
		v = read_u64(fd);
		nap_ms(5);
		EXPECT_EQ(read_u64(fd), v);	/* it is off */
		close(fd);
	}
	end_child(pid);
	in_time();
}

static long do_reset(long fd)
{
	return ioctl((int)fd, PERF_EVENT_IOC_RESET, 0);
}

static long do_move(long pid)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(2, &set);
	return sched_setaffinity((pid_t)pid, sizeof(set), &set);
}

/* Somebody moves the task to another CPU while its count is being zeroed. */
TEST("pause/reset_migrate", "ioctl.RESET", "hazard 24")
{
	cpu_set_t set;
	pid_t pid;
	u64 before, v;
	int fd;
	struct call c = { 0 }, m = { 0 };

	need_pauses();
	if (nr_cpus() < 3)
		test_skip("needs 3 CPUs");
	pid = run_child(spinner, NULL);
	CPU_ZERO(&set);
	CPU_SET(1, &set);
	sched_setaffinity(pid, sizeof(set), &set);
	fd = open_on(pid, TASK_CLOCK, false);
	nap_ms(300);
	before = read_u64(fd);
	ready(&m, NULL, do_move, pid);
	arm("reset", 0, false);
	begin(&c, NULL, do_reset, fd);
	await("reset");
	start(&m);
	nap_ms(2);
	let_go();
	end(&c);
	end(&m);
	v = read_u64(fd);
	EXPECT_EQ(c.result, 0);
	EXPECT_EQ(m.result, 0);
	EXPECT(v < before / 2, "not zeroed: %llu of %llu", (unsigned long long)v, (unsigned long long)before);
	nap_ms(20);
	EXPECT(read_u64(fd) > v, "it stopped");
	end_child(pid);
	in_time();
}

static u64 pair[2];

static long do_read(long fd)
{
	pair[0] = read_u64((int)fd);
	return 0;
}

/* A child exits between the reader's look at the parent and at the children. */
TEST("pause/read_exit", "read attr.inherit", "hazard 29")
{
	int fd, stop[2];
	u64 alive;
	pid_t pid;
	struct call c = { 0 };

	need_pauses();
	fd = open_on(0, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES, true);
	NEED(pipe(stop));
	pid = fork();
	if (!pid) {
		char x;

		for (int i = 0; i < 50; i++)
			nap_ms(1);
		(void)!read(stop[0], &x, 1);
		_exit(0);
	}
	for (int i = 0; i < 100 && read_u64(fd) < 50; i++)
		nap_ms(50);
	nap_ms(50);
	alive = read_u64(fd);
	EXPECT(alive >= 50, "the child's switches are not counted");
	begin(&c, "read", do_read, fd);
	NEED(write(stop[1], "x", 1));
	nap_ms(20);
	let_go();
	end(&c);
	waitpid(pid, NULL, 0);
	EXPECT_IN(pair[0], alive, alive + 60);		/* counted twice it would be 50 more */
	pair[1] = read_u64(fd);
	EXPECT_IN(pair[1], pair[0], pair[0] + 40);
	in_time();
}

static struct ring ring;

static long do_unmap(long unused)
{
	return munmap(ring.page, ring.size + PAGE);
}

/* A task on CPU 1 writes into the ring of an event that is nowhere, so that nobody but the writer is in the way. */
static void writer_begin(pid_t pid[2], int fd[2])
{
	struct perf_event_attr a = attr_of(CPU_CLOCK);

	a.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_CALLCHAIN;
	a.sample_period = 1000000;
	pid[0] = run_child(sleeper, NULL);
	pid[1] = fork();
	if (!pid[1]) {
		pin(1);
		spinner(NULL);
	}
	nap_ms(20);
	for (int i = 0; i < 2; i++) {
		fd[i] = perf_open(&a, pid[i], 1, -1, 0);
		NEED(fd[i]);
	}
	ring = ring_map(fd[0], 2, PROT_READ | PROT_WRITE);
	ioc(fd[1], PERF_EVENT_IOC_SET_OUTPUT, fd[0]);
}

/* A writer is in the ring when its last mapping goes: the pages stay until it is out. */
TEST("pause/output_unmap", "munmap ioctl.SET_OUTPUT", "hazard 38")
{
	struct call c = { .cpu = 2 };	/* it waits without giving up the CPU */
	long before;
	pid_t pid[2];
	int fd[2];

	need_pauses();
	if (nr_cpus() < 3)
		test_skip("needs 3 CPUs");
	before = live_objects();
	pin(0);
	writer_begin(pid, fd);
	ready(&c, NULL, do_unmap, 0);
	nap_ms(20);
	arm("output", 0, false);
	await("output");
	start(&c);
	nap_ms(20);
	EXPECT(!c.done, "munmap did not wait for the writer");
	let_go();
	end(&c);
	EXPECT_EQ(c.result, 0);
	for (int i = 0; i < 2; i++) {
		close(fd[i]);
		end_child(pid[i]);
	}
	EXPECT_EQ(live_objects(), before);
	in_time();
}

static int from_fd;

static long do_redirect(long fd)
{
	return ioctl(from_fd, PERF_EVENT_IOC_SET_OUTPUT, fd);
}

/* The ring goes while somebody is about to be sent to it. */
TEST("pause/redirect_unmap", "ioctl.SET_OUTPUT munmap", "hazard 39")
{
	struct perf_event_attr a = attr_of(CPU_CLOCK);
	struct call r = { 0 }, u = { 0 };
	long before;
	int to;

	need_pauses();
	before = live_objects();
	a.sample_period = 1000000;
	a.sample_type = PERF_SAMPLE_IP;
	to = perf_open(&a, 0, 0, -1, 0);
	from_fd = perf_open(&a, 0, 0, -1, 0);
	NEED(to);
	NEED(from_fd);
	ring = ring_map(to, 2, PROT_READ | PROT_WRITE);
	ready(&u, NULL, do_unmap, 0);
	begin(&r, "redirect", do_redirect, to);
	start(&u);
	nap_ms(20);
	let_go();
	end(&r);
	end(&u);
	EXPECT_EQ(r.result, 0);
	EXPECT_EQ(u.result, 0);
	spin_ms(5);		/* samples to nowhere */
	EXPECT_ERR(ioctl(from_fd, PERF_EVENT_IOC_SET_OUTPUT, to), EINVAL);
	close(from_fd);
	close(to);
	EXPECT_EQ(live_objects(), before);
	in_time();
}
