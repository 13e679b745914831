/* SPDX-License-Identifier: MIT */
/*
 * perffuzz [SECONDS [SEED [PROCESSES [ROUND]]]]: perf system calls with near-valid random arguments, by several processes.
 *
 * Rounds of ROUND_MS. In each, every process (half of them as uid 1000) has two threads that draw operations from one table of
 * descriptors, rings and children: open, group, ioctl, read, poll, mmap, munmap of parts, mprotect, mremap, scribbling into ring
 * pages, dup, passing descriptors over a socket, fork, exec, threads, kill, affinity, signals, and work that makes events. What
 * one thread closes or unmaps, the other is using. At the end of a round everything is killed and must go.
 *
 * The seed is printed; the same seed (and round to begin with) draws the same operations in each thread; their
 * interleaving is the machine's. After each round the live objects of /proc/perch/perf_stats must be as many as before.
 * Exits 0 if so and nothing hung.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define ROUND_MS 800
#define GONE_MS 60000 /* after SIGKILL; generous, for an emulator on a busy machine */
#define NR_FDS 24
#define NR_RINGS 8
#define NR_CHILDREN 4
#define PAGE 4096UL

typedef uint64_t u64;

struct shared {
	u64 calls, opened, mapped, refused;
};

static struct shared *stats;
static int pmu_type = 4;

/* The tables that both threads of a process use. Races on them are wanted. */
static int fds[NR_FDS];
static struct { char *p; size_t len; } rings[NR_RINGS];
static pid_t children[NR_CHILDREN];
static int sock[2];
static long end_ms;

static u64 next(u64 *s)
{
	*s ^= *s << 13;
	*s ^= *s >> 7;
	*s ^= *s << 17;
	return *s * 0x2545f4914f6cdd1d;
}

static unsigned int below(u64 *s, unsigned int n)
{
	return (unsigned int)((next(s) >> 33) % n);
}

static int chance(u64 *s, unsigned int percent)
{
	return below(s, 100) < percent;
}

static long now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

/* --- attributes: by offset, so that fields this C library does not know are there, too -------------------------- */

#define ATTR_WORDS 17 /* 136 bytes */

static void put32(u64 *a, int byte, uint32_t v)
{
	memcpy((char *)a + byte, &v, 4);
}

static u64 random_config(u64 *s, uint32_t type)
{
	static const u64 raw[] = {0x11, 0x08, 0x04, 0x12, 0x1b, 0x21, 0x1e, 0x03, 0x13, 0x3c};

	switch (type) {
	case 0:
		return below(s, 12);
	case 1:
		return below(s, 14);
	case 3:
		return below(s, 8) | below(s, 4) << 8 | below(s, 3) << 16;
	case 2:
	case 5:
		return below(s, 3);
	default:
		return raw[below(s, sizeof(raw) / sizeof(*raw))];
	}
}

static uint32_t random_type(u64 *s)
{
	static const uint32_t types[] = {0, 0, 1, 1, 1, 1, 3, 4, 4, 4};

	if (chance(s, 30))
		return (uint32_t)pmu_type;
	return chance(s, 3) ? below(s, 64) : types[below(s, 10)];
}

static void random_sampling(u64 *s, u64 *a)
{
	static const u64 periods[] = {1, 2, 100, 1000, 10000, 100000, 1000000, 10000000, 0x7fffffff, 0xffffffff, 1ULL << 40, ~0ULL};

	if (chance(s, 40))
		return;
	if (chance(s, 30)) {
		a[2] = chance(s, 90) ? below(s, 5000) : next(s);
		a[5] |= 1 << 10; /* freq */
	} else {
		a[2] = periods[below(s, 12)];
	}
	for (int b = 0; b < 25; b++)
		if (chance(s, 30))
			a[3] |= 1ULL << b;
	if (chance(s, 92))
		a[3] &= ~(1ULL << 11 | 1ULL << 20 | 1ULL << 21); /* branch stack, aux, cgroup: always refused */
}

/* Most bits seldom, and those that are mostly refused only in a few attributes. */
static u64 random_flags(u64 *s)
{
	u64 flags = 0;

	for (int b = 0; b < 38; b++)
		if (b != 10 && chance(s, 10))
			flags |= 1ULL << b;
	if (chance(s, 90))
		flags &= ~(1ULL << 4 | 3ULL << 15 | 1ULL << 32);
	if (chance(s, 50))
		flags &= ~(1ULL << 3 | 1ULL << 25 | 1ULL << 2); /* exclusive, use_clockid, pinned */
	if (flags >> 37 & 1 && chance(s, 80))
		flags |= 1ULL << 36; /* sigtrap wants remove_on_exec */
	if (getuid() && chance(s, 60))
		flags |= 3ULL << 5; /* not the kernel */
	if (chance(s, 80))
		flags &= ~(1ULL << 35 | 3ULL << 19 | 1ULL << 7); /* inherit_thread, exclude_host and _guest, _idle */
	return flags;
}

static void random_attr(u64 *s, u64 *a)
{
	uint32_t type = random_type(s);
	static const int sizes[] = {64, 72, 80, 96, 104, 112, 120, 128, 136};

	memset(a, 0, ATTR_WORDS * 8);
	put32(a, 0, type);
	put32(a, 4, chance(s, 80) ? 136 : sizes[below(s, 9)]);
	a[1] = random_config(s, type);
	random_sampling(s, a);
	a[4] = chance(s, 60) ? below(s, 32) : 0;
	a[5] |= random_flags(s);
	put32(a, 48, chance(s, 50) ? below(s, 2000) : 0); /* wakeup */
	if (chance(s, 10))
		a[7] = below(s, 4); /* bp_addr or config1 */
	if (a[3] & 1 << 12)
		a[10] = chance(s, 80) ? next(s) & 0x1ffffffff : next(s); /* registers */
	put32(a, 88, chance(s, 90) ? 8 + 8 * below(s, 512) : (uint32_t)next(s)); /* stack */
	if (a[5] >> 25 & 1)
		put32(a, 92, chance(s, 80) ? below(s, 2) : below(s, 12)); /* clockid */
	if (a[3] & 1 << 18)
		a[12] = next(s) & 0x1ffffffff;
	if (chance(s, 5))
		put32(a, 108, below(s, 200)); /* max_stack */
	if (a[5] >> 37 & 1)
		a[16] = next(s);
	if (chance(s, 6))
		a[below(s, ATTR_WORDS)] = next(s); /* junk */
}

/* --- operations ---------------------------------------------------------------------------------------------------- */

static int any_fd(u64 *s)
{
	return chance(s, 97) ? fds[below(s, NR_FDS)] : (int)below(s, 40) - 2;
}

static pid_t any_child(u64 *s)
{
	return children[below(s, NR_CHILDREN)];
}

static void keep_fd(u64 *s, int fd)
{
	int i = below(s, NR_FDS), old;

	if (fd < 0)
		return;
	old = __atomic_exchange_n(&fds[i], fd, __ATOMIC_RELAXED);
	if (old > 2)
		close(old);
}

static pid_t random_pid(u64 *s)
{
	switch (below(s, 8)) {
	case 0:
		return -1;
	case 1:
		return getpid();
	case 2:
	case 3:
		return any_child(s);
	case 4:
		return chance(s, 20) ? 1 : gettid();
	default:
		return 0;
	}
}

static void op_open(u64 *s)
{
	u64 a[ATTR_WORDS];
	pid_t pid;
	int cpu, group, fd;
	unsigned long flags;

	random_attr(s, a);
	pid = random_pid(s);
	cpu = pid == -1 || chance(s, 25) ? (int)below(s, 5) : -1;
	group = chance(s, 40) ? any_fd(s) : -1;
	flags = chance(s, 30) ? below(s, 16) : 0;
	fd = (int)syscall(SYS_perf_event_open, a, pid, cpu, group, flags);
	__atomic_add_fetch(fd >= 0 ? &stats->opened : &stats->refused, 1, __ATOMIC_RELAXED);
	keep_fd(s, fd);
}

static void op_close(u64 *s)
{
	int fd = __atomic_exchange_n(&fds[below(s, NR_FDS)], -1, __ATOMIC_RELAXED);

	if (fd > 2)
		close(fd);
}

static void op_mmap(u64 *s)
{
	size_t len = chance(s, 90) ? (1 + (1UL << below(s, 5)) * !chance(s, 15)) * PAGE : below(s, 40) * PAGE;
	int i = below(s, NR_RINGS);
	int prot = PROT_READ | (chance(s, 80) ? PROT_WRITE : 0);
	char *p = mmap(NULL, len, prot, chance(s, 95) ? MAP_SHARED : MAP_PRIVATE, any_fd(s), chance(s, 95) ? 0 : PAGE);

	if (p == MAP_FAILED)
		return;
	__atomic_add_fetch(&stats->mapped, 1, __ATOMIC_RELAXED);
	if (rings[i].p)
		munmap(rings[i].p, rings[i].len);
	rings[i].len = len;
	rings[i].p = p;
}

static void op_munmap(u64 *s)
{
	int i = below(s, NR_RINGS);
	char *p = rings[i].p;
	size_t len = rings[i].len;

	if (!p)
		return;
	if (chance(s, 20)) {
		munmap(p + below(s, 4) * PAGE, PAGE);
		return;
	}
	rings[i].p = NULL;
	munmap(p, len);
}

/* getrandom writes where it is told, or fails: no SIGSEGV when the other thread has unmapped it. */
static void op_scribble(u64 *s)
{
	int i = below(s, NR_RINGS);
	char *p = rings[i].p;
	size_t len = rings[i].len;

	if (!p || len < PAGE)
		return;
	switch (below(s, 4)) {
	case 0:
		getrandom(p + 1032, 8, 0); /* data_tail */
		break;
	case 1:
		getrandom(p + 1024 + 8 * below(s, 8), 8, 0); /* head, offset, size */
		break;
	case 2:
		getrandom(p + below(s, (unsigned int)len - 64), 1 + below(s, 63), 0);
		break;
	default: { /* a reader that takes all: tail = head, by a pipe, which can fail */
		int q[2];

		if (pipe(q))
			return;
		if (write(q[1], p + 1024, 8) == 8)
			(void)!read(q[0], p + 1032, 8);
		close(q[0]);
		close(q[1]);
	}
	}
}

static void op_protect(u64 *s)
{
	int i = below(s, NR_RINGS);
	char *p = rings[i].p;

	if (!p)
		return;
	switch (below(s, 5)) {
	case 0:
		mprotect(p, rings[i].len, below(s, 8));
		break;
	case 1:
		mprotect(p + PAGE * below(s, 4), PAGE, below(s, 4));
		break;
	case 2:
		madvise(p, rings[i].len, (int)below(s, 24));
		break;
	case 3:
		p = mremap(p, rings[i].len, rings[i].len + PAGE * below(s, 2), MREMAP_MAYMOVE);
		if (p != MAP_FAILED)
			rings[i].p = p;
		break;
	default:
		msync(p, rings[i].len, MS_SYNC);
		mincore(p, PAGE, (void *)(uintptr_t)next(s));
	}
}

static void op_ioctl(u64 *s)
{
	static const unsigned int cmds[] = {0x2400, 0x2400, 0x2400, 0x2401, 0x2402, 0x2402, 0x2403, 0x40082404, 0x40082404, 0x2405, 0x2405,
		0x40082406, 0x80082407, 0x40042408, 0x40042409, 0xc008240a, 0x4008240b};
	unsigned int cmd = cmds[below(s, sizeof(cmds) / sizeof(*cmds))];
	u64 word[ATTR_WORDS];
	unsigned long arg = below(s, 2);

	random_attr(s, word);
	if (cmd == 0x40082404 || cmd == 0x80082407 || cmd == 0x4008240b) {
		if (cmd == 0x40082404)
			word[0] = chance(s, 80) ? 1 + (next(s) >> below(s, 64)) : 0;
		arg = (unsigned long)word;
	} else if (cmd == 0x2405) {
		arg = chance(s, 80) ? (unsigned long)any_fd(s) : -1UL;
	} else if (cmd == 0x2402) {
		arg = below(s, 5);
	}
	if (chance(s, 3))
		arg = next(s);
	ioctl(any_fd(s), cmd, arg);
}

static void op_read(u64 *s)
{
	char buf[1024];
	struct pollfd p[4];

	if (chance(s, 70)) {
		(void)!read(any_fd(s), chance(s, 95) ? buf : (char *)8, chance(s, 80) ? sizeof(buf) : below(s, 64));
		return;
	}
	for (int i = 0; i < 4; i++)
		p[i] = (struct pollfd){any_fd(s), (short)next(s), 0};
	poll(p, 4, (int)below(s, 3));
}

static void op_fd(u64 *s)
{
	struct {
		int type, pid;
	} owner = {(int)below(s, 3), gettid()};
	int fd = any_fd(s);

	switch (below(s, 9)) {
	case 0:
		keep_fd(s, dup(fd));
		break;
	case 1:
		keep_fd(s, fcntl(fd, F_DUPFD_CLOEXEC, 10));
		break;
	case 2:
		fcntl(fd, F_SETFL, chance(s, 50) ? O_ASYNC : O_NONBLOCK);
		break;
	case 3:
		fcntl(fd, F_SETSIG, chance(s, 50) ? SIGRTMIN : SIGIO);
		break;
	case 4:
		fcntl(fd, F_SETOWN_EX, &owner);
		break;
	case 5:
		(void)!write(fd, "x", 1);
		lseek(fd, 0, SEEK_SET);
		break;
	case 6:
		fcntl(fd, F_SETFD, below(s, 2));
		break;
	case 7:
		(void)!ftruncate(fd, 0);
		fsync(fd);
		break;
	default:
		prctl(chance(s, 50) ? PR_TASK_PERF_EVENTS_DISABLE : PR_TASK_PERF_EVENTS_ENABLE);
	}
}

/* A descriptor into the socket, or one out of it. */
static void op_pass(u64 *s)
{
	union {
		struct cmsghdr h;
		char b[CMSG_SPACE(sizeof(int))];
	} c;
	char x = 'x';
	struct iovec v = {&x, 1};
	struct msghdr m = {.msg_iov = &v, .msg_iovlen = 1, .msg_control = &c, .msg_controllen = sizeof(c)};

	memset(&c, 0, sizeof(c));
	if (chance(s, 50)) {
		c.h.cmsg_level = SOL_SOCKET;
		c.h.cmsg_type = SCM_RIGHTS;
		c.h.cmsg_len = CMSG_LEN(sizeof(int));
		*(int *)CMSG_DATA(&c.h) = any_fd(s);
		sendmsg(sock[0], &m, MSG_DONTWAIT);
	} else if (recvmsg(sock[1], &m, MSG_DONTWAIT) > 0 && m.msg_controllen >= CMSG_LEN(sizeof(int))) {
		keep_fd(s, *(int *)CMSG_DATA(&c.h));
	}
}

/* What events count: time, faults, mappings, switches, names. */
static void op_work(u64 *s)
{
	volatile unsigned int n = 1000 * (1 + below(s, 60));
	char *p;

	switch (below(s, 6)) {
	case 0:
		while (n--)
			;
		break;
	case 1:
		p = mmap(NULL, 8 * PAGE, below(s, 8), MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (p != MAP_FAILED) {
			getrandom(p, 100, 0);
			munmap(p, 8 * PAGE);
		}
		break;
	case 2:
		prctl(PR_SET_NAME, below(s, 2) ? "fuzz" : "a-longer-name-here");
		break;
	case 3:
		usleep(below(s, 3) * 500);
		break;
	case 4:
		syscall(SYS_getppid);
		sched_yield();
		break;
	default:
		raise(SIGUSR1);
	}
}

static void *short_thread(void *arg)
{
	u64 s = (u64)(uintptr_t)arg | 1;

	for (int i = 0; i < 4; i++)
		op_work(&s);
	return NULL;
}

static void random_op(u64 *s);

static void child_life(u64 seed)
{
	u64 s = seed | 1;
	int n = 1 + below(&s, 40);

	for (int i = 0; i < n; i++)
		chance(&s, 60) ? op_work(&s) : random_op(&s);
	if (chance(&s, 40)) {
		char *argv[] = {"perffuzz", "-w", NULL};

		execv("/proc/self/exe", argv);
	}
	if (chance(&s, 20))
		kill(getpid(), SIGSEGV);
	_exit(0);
}

static void op_task(u64 *s)
{
	pthread_t t;
	cpu_set_t set;
	int i = below(s, NR_CHILDREN);
	pid_t pid;
	u64 seed;

	switch (below(s, 4)) {
	case 0:
		seed = next(s);
		if (children[i] > 0)
			kill(children[i], SIGKILL);
		pid = fork();
		if (pid == 0)
			child_life(seed);
		children[i] = pid > 0 ? pid : 0;
		break;
	case 1:
		if (children[i] > 0)
			kill(children[i], chance(s, 50) ? SIGKILL : chance(s, 50) ? SIGSTOP : SIGCONT);
		while (waitpid(-1, NULL, WNOHANG) > 0)
			;
		break;
	case 2:
		if (!pthread_create(&t, NULL, short_thread, (void *)(uintptr_t)next(s)))
			pthread_detach(t);
		break;
	default:
		CPU_ZERO(&set);
		for (int c = 0; c < 4; c++)
			if (chance(s, 60))
				CPU_SET(c, &set);
		sched_setaffinity(chance(s, 70) ? 0 : any_child(s), sizeof(set), &set);
	}
}

static void random_op(u64 *s)
{
	unsigned int n = below(s, 100);

	__atomic_add_fetch(&stats->calls, 1, __ATOMIC_RELAXED);
	n < 30 ? op_open(s) : n < 35 ? op_close(s) : n < 43 ? op_mmap(s) : n < 47 ? op_munmap(s) : n < 53 ? op_scribble(s) :
	n < 56 ? op_protect(s) : n < 70 ? op_ioctl(s) : n < 80 ? op_read(s) : n < 85 ? op_fd(s) : n < 88 ? op_pass(s) :
	n < 96 ? op_work(s) : op_task(s);
}

/* --- processes ------------------------------------------------------------------------------------------------------- */

static void *work(void *arg)
{
	u64 s = *(u64 *)arg | 1;

	while (now_ms() < end_ms)
		random_op(&s);
	return NULL;
}

static void nothing(int sig)
{
}

static void worker(u64 seed, int user)
{
	struct sigaction sa = {.sa_handler = nothing, .sa_flags = SA_RESTART};
	struct rlimit as = {256 << 20, 256 << 20}, np = {200, 200}, core = {0, 0};
	u64 seeds[2] = {seed, seed ^ 0x9e3779b97f4a7c15};
	pthread_t t;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	sigaction(SIGTRAP, &sa, NULL);
	sigaction(SIGIO, &sa, NULL);
	sigaction(SIGUSR1, &sa, NULL);
	for (int sig = SIGRTMIN; sig < SIGRTMIN + 4; sig++)
		sigaction(sig, &sa, NULL);
	signal(SIGPIPE, SIG_IGN);
	setrlimit(RLIMIT_AS, &as);
	setrlimit(RLIMIT_NPROC, &np);
	setrlimit(RLIMIT_CORE, &core);
	memset(fds, -1, sizeof(fds));
	if (socketpair(AF_UNIX, SOCK_DGRAM, 0, sock))
		_exit(1);
	if (user && (setgid(1000) || setuid(1000)))
		_exit(1);
	end_ms = now_ms() + ROUND_MS;
	if (!pthread_create(&t, NULL, work, &seeds[1]))
		pthread_detach(t);
	work(&seeds[0]);
	_exit(0);
}

/* Everything below us, also what was orphaned, is gone; else after a while 0. */
static int all_gone(void)
{
	long limit = now_ms() + GONE_MS;

	for (;;) {
		pid_t pid = waitpid(-1, NULL, WNOHANG);

		if (pid < 0 && errno == ECHILD)
			return 1;
		if (pid > 0)
			continue;
		if (now_ms() > limit)
			return 0;
		usleep(2000);
	}
}

static int round_of(u64 seed, int processes)
{
	pid_t pid[16];

	for (int i = 0; i < processes; i++) {
		pid[i] = fork();
		if (pid[i] == 0) {
			setpgid(0, 0);
			worker(seed + (u64)i * 1000003, i & 1);
		}
		setpgid(pid[i], pid[i]);
	}
	usleep(ROUND_MS * 1000);
	for (int i = 0; i < processes; i++)
		kill(-pid[i], SIGKILL);
	return all_gone();
}

/* --- live objects ------------------------------------------------------------------------------------------------------ */

#define NR_LIVE 16
struct live {
	int n;
	char name[NR_LIVE][24];
	long value[NR_LIVE];
};

static void read_live(struct live *l)
{
	FILE *f = fopen("/proc/perch/perf_stats", "r");
	char name[24];
	long v;

	l->n = 0;
	while (f && l->n < NR_LIVE && fscanf(f, "%23s %ld", name, &v) == 2)
		if (!strncmp(name, "live_", 5)) {
			memcpy(l->name[l->n], name, sizeof(name));
			l->value[l->n++] = v;
		}
	if (f)
		fclose(f);
}

static int same_live(const struct live *a, const struct live *b)
{
	return a->n == b->n && !memcmp(a->value, b->value, a->n * sizeof(a->value[0]));
}

/* A socket that was sent through itself keeps what lies in its queue, an event perhaps, until some other socket is closed
 * (measured on Linux 6.12). */
static void collect_sockets(void)
{
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair))
		return;
	close(pair[0]);
	close(pair[1]);
}

/* The last references go a moment after the last process, and dead tasks are freed when somebody forks. */
static int live_is_back(const struct live *before)
{
	struct live now;

	for (int i = 0; i < 100; i++) {
		pid_t pid = fork();

		if (pid == 0)
			_exit(0);
		waitpid(pid, NULL, 0);
		collect_sockets();
		read_live(&now);
		if (same_live(before, &now))
			return 1;
		usleep(20000);
	}
	for (int i = 0; i < now.n; i++)
		if (now.value[i] != before->value[i])
			printf("perffuzz: leak: %s was %ld, is %ld\n", now.name[i], before->value[i], now.value[i]);
	return 0;
}

/* What perf keeps for a task stays until that dies: for init, which is among the targets, for ever. */
static void touch_init(void)
{
	u64 a[ATTR_WORDS] = {1, 0};

	put32(a, 4, ATTR_WORDS * 8);
	int fd = (int)syscall(SYS_perf_event_open, a, 1, -1, -1, 0);
	if (fd >= 0)
		close(fd);
}

static void find_pmu(void)
{
	FILE *f = fopen("/sys/bus/event_source/devices/armv8_cortex_a72/type", "r");

	if (!f)
		f = fopen("/sys/bus/event_source/devices/armv8_pmuv3/type", "r");
	if (!f)
		f = fopen("/sys/bus/event_source/devices/armv8_pmuv3_0/type", "r");
	if (f) {
		if (fscanf(f, "%d", &pmu_type) != 1)
			pmu_type = 4;
		fclose(f);
	}
}

/* What may be opened, from round to round: -1 everything ... 2 own user code only. */
static void set_paranoid(int level)
{
	FILE *f = fopen("/proc/sys/kernel/perf_event_paranoid", "w");

	if (f) {
		fprintf(f, "%d\n", level);
		fclose(f);
	}
}

/* What a worker execs. */
static int exec_life(void)
{
	u64 s = 12345;

	for (int i = 0; i < 10; i++)
		op_work(&s);
	return 0;
}

int main(int argc, char **argv)
{
	long seconds = argc > 1 ? atol(argv[1]) : 10, end, minute;
	u64 seed = argc > 2 ? strtoull(argv[2], NULL, 0) : 1;
	int processes = argc > 3 ? atoi(argv[3]) : 4, rounds = 0, first = argc > 4 ? atoi(argv[4]) : 0, bad = 0;
	struct live before;

	signal(SIGUSR1, nothing);
	if (argc > 1 && !strcmp(argv[1], "-w"))
		return exec_life();
	if (processes < 1 || processes > 16)
		return 2;
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	find_pmu();
	stats = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	printf("perffuzz: seed %lu, %d processes, %ld s\n", (unsigned long)seed, processes, seconds);
	fflush(stdout);
	touch_init();
	read_live(&before);
	minute = now_ms();
	for (end = now_ms() + seconds * 1000; now_ms() < end && !bad; rounds++) {
		set_paranoid((first + rounds) % 4 - 1);
		if (!round_of(seed * 7919 + (u64)(first + rounds), processes)) {
			printf("perffuzz: round %d: a process does not die\n", first + rounds);
			bad = 1;
		} else if (!live_is_back(&before)) {
			printf("perffuzz: round %d left objects behind\n", first + rounds);
			bad = 1;
		} else if (now_ms() - minute >= 60000) {
			minute += 60000;
			printf("perffuzz: round %d, %lu operations\n", first + rounds, (unsigned long)stats->calls);
			fflush(stdout);
		}
	}
	set_paranoid(2);
	printf("perffuzz: %d rounds, %lu operations, %lu events opened, %lu refused, %lu rings\n", rounds, (unsigned long)stats->calls,
		(unsigned long)stats->opened, (unsigned long)stats->refused, (unsigned long)stats->mapped);
	return bad || stats->opened < 10;
}
