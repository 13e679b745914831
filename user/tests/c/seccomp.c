/* SPDX-License-Identifier: MIT */
/* Filters of system calls: seccomp(2). Each case runs in a child, because a filter stays. */
#include "check.h"
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/perf_event.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#define NR	offsetof(struct seccomp_data, nr)
#define ARG(n)	(offsetof(struct seccomp_data, args) + 8 * (n))
#define LOAD(k)	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, k)
#define RET(k)	BPF_STMT(BPF_RET | BPF_K, k)
#define RETERR(e) RET(SECCOMP_RET_ERRNO | (e))
/* The next instruction is for this call only; other calls are allowed. */
#define ONLY(nr) LOAD(NR), BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, nr, 1, 0), RET(SECCOMP_RET_ALLOW)
#define LEN(a)	(sizeof(a) / sizeof((a)[0]))

static long seccomp(unsigned op, unsigned flags, void *arg)
{
	return syscall(SYS_seccomp, op, flags, arg);
}

static long install(unsigned flags, struct sock_filter *f, size_t n)
{
	struct sock_fprog p = {n, f};

	return seccomp(SECCOMP_SET_MODE_FILTER, flags, &p);
}

#define INSTALL(flags, ...) ({ \
	struct sock_filter _f[] = {__VA_ARGS__}; \
	install(flags, _f, LEN(_f)); })

static void show_status(const char *who)
{
	char line[256];
	FILE *f = fopen("/proc/thread-self/status", "r");

	while (f && fgets(line, sizeof(line), f))
		if (!strncmp(line, "Seccomp", 7) || !strncmp(line, "NoNewPrivs", 10)) {
			line[strcspn(line, "\n")] = 0;
			say("%s %s", who, line);
		}
	if (f)
		fclose(f);
}

static void arguments(void)
{
	struct sock_filter allow[] = {RET(SECCOMP_RET_ALLOW)};
	struct sock_fprog none = {1, NULL}, bad = {1, (void *)8}, empty = {0, allow}, one = {1, allow};
	unsigned action[] = {SECCOMP_RET_KILL_PROCESS, SECCOMP_RET_KILL_THREAD, SECCOMP_RET_TRAP,
			     SECCOMP_RET_ERRNO, SECCOMP_RET_TRACE, SECCOMP_RET_LOG, SECCOMP_RET_ALLOW,
			     0x12345678};

	ok("operation", seccomp(99, 0, NULL));
	ok("strict with flags", seccomp(SECCOMP_SET_MODE_STRICT, 1, NULL));
	ok("strict with argument", seccomp(SECCOMP_SET_MODE_STRICT, 0, &one));
	ok("flags", seccomp(SECCOMP_SET_MODE_FILTER, 1 << 20, &one));
	ok("program at NULL", seccomp(SECCOMP_SET_MODE_FILTER, 0, NULL));
	ok("instructions at NULL", seccomp(SECCOMP_SET_MODE_FILTER, 0, &none));
	ok("instructions nowhere", seccomp(SECCOMP_SET_MODE_FILTER, 0, &bad));
	ok("no instructions", seccomp(SECCOMP_SET_MODE_FILTER, 0, &empty));
	ok("wait killable without listener", seccomp(SECCOMP_SET_MODE_FILTER, 1 << 5, &one));
	for (size_t i = 0; i < LEN(action); i++)
		ok("action", seccomp(SECCOMP_GET_ACTION_AVAIL, 0, &action[i]));
	ok("action with flags", seccomp(SECCOMP_GET_ACTION_AVAIL, 1, action));
	ok("action at NULL", seccomp(SECCOMP_GET_ACTION_AVAIL, 0, NULL));
	val("prctl get", prctl(PR_GET_SECCOMP));
	ok("prctl mode", prctl(PR_SET_SECCOMP, 3, &one));
	ok("prctl no mode", prctl(PR_SET_SECCOMP, 0, &one));
	ok("prctl at NULL", prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, NULL));
	ok("prctl", prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &one));
	val("prctl get", prctl(PR_GET_SECCOMP));
	ok("strict after filter", seccomp(SECCOMP_SET_MODE_STRICT, 0, NULL));
	ok("speculation, log", seccomp(SECCOMP_SET_MODE_FILTER, 2 | 4, &one));
	show_status("now");
}

CHECK(seccomp_arguments) { in_child("child", arguments); }

static void as_user(void)
{
	need("setuid", setuid(1000));
	ok("without no_new_privs", INSTALL(0, RET(SECCOMP_RET_ALLOW)));
	ok("bad program", INSTALL(0, LOAD(1)));
	ok("bad address", seccomp(SECCOMP_SET_MODE_FILTER, 0, (void *)8));
	ok("no_new_privs", prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
	ok("with", INSTALL(0, RET(SECCOMP_RET_ALLOW)));
	show_status("user");
}

CHECK(seccomp_privilege) { in_child("user", as_user); }

/* One program each; whatever is accepted must allow everything. */
static void try(const char *what, struct sock_filter *f, size_t n)
{
	pid_t pid = fork();

	if (pid == 0) {
		ok(what, install(0, f, n));
		_exit(0);
	}
	waitpid(pid, NULL, 0);
}
#define TRY(what, ...) do { \
	struct sock_filter _f[] = {__VA_ARGS__}; \
	try(what, _f, LEN(_f)); } while (0)
#define END RET(SECCOMP_RET_ALLOW)
#define I(code, k) BPF_STMT(code, k)
#define J(code, k, t, f) BPF_JUMP(code, k, t, f)

CHECK(seccomp_accepts)
{
	static struct sock_filter many[4097];

	TRY("last word", LOAD(60), END);
	TRY("behind the data", LOAD(64), END);
	TRY("unaligned", LOAD(2), END);
	TRY("ancillary", LOAD(SKF_AD_OFF + SKF_AD_CPU), END);
	TRY("byte", I(BPF_LD | BPF_B | BPF_ABS, 0), END);
	TRY("half", I(BPF_LD | BPF_H | BPF_ABS, 0), END);
	TRY("indirect", I(BPF_LD | BPF_W | BPF_IND, 0), END);
	TRY("length", I(BPF_LD | BPF_W | BPF_LEN, 0), I(BPF_LDX | BPF_W | BPF_LEN, 0), END);
	TRY("nibble", I(BPF_LDX | BPF_B | BPF_MSH, 0), END);
	TRY("unwritten", I(BPF_LD | BPF_MEM, 0), END);
	TRY("unwritten x", I(BPF_LDX | BPF_MEM, 0), END);
	TRY("written", I(BPF_ST, 15), I(BPF_LD | BPF_MEM, 15), END);
	TRY("store outside", I(BPF_ST, 16), END);
	TRY("storex outside", I(BPF_STX, 16), END);
	TRY("written on one way", J(BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 1), I(BPF_ST, 0), I(BPF_LD | BPF_MEM, 0), END);
	TRY("on both ways", J(BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 2), I(BPF_ST, 0), J(BPF_JMP | BPF_JA, 1, 0, 0),
	    I(BPF_STX, 0), I(BPF_LD | BPF_MEM, 0), END);
	TRY("behind a return", END, I(BPF_LD | BPF_MEM, 0), END);
	TRY("behind a jump", J(BPF_JMP | BPF_JA, 1, 0, 0), I(BPF_LD | BPF_MEM, 0), END);
	TRY("divide by 0", I(BPF_ALU | BPF_DIV | BPF_K, 0), END);
	TRY("modulo", I(BPF_ALU | BPF_MOD | BPF_K, 3), END);
	TRY("shift 31", I(BPF_ALU | BPF_LSH | BPF_K, 31), END);
	TRY("shift 32", I(BPF_ALU | BPF_RSH | BPF_K, 32), END);
	TRY("jump to the end", J(BPF_JMP | BPF_JA, 1, 0, 0), END);
	TRY("jump back", J(BPF_JMP | BPF_JA, -1, 0, 0), END);
	TRY("true too far", J(BPF_JMP | BPF_JEQ | BPF_K, 0, 1, 0), END);
	TRY("false too far", J(BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 255), END);
	TRY("no return", LOAD(0));
	TRY("return a", I(BPF_LD | BPF_IMM, SECCOMP_RET_ALLOW), I(BPF_RET | BPF_A, 0));
	TRY("return x", I(BPF_RET | BPF_X, 0));
	TRY("code", I(0xffff, 0), END);
	for (size_t i = 0; i < LEN(many); i++)
		many[i] = (struct sock_filter)END;
	try("4096", many, 4096);
	try("4097", many, 4097);
}

/* As many filters as a chain holds; how many that is depends on what the kernel makes of them. */
static void long_chain(void)
{
	static struct sock_filter many[4096];
	int n = 0;

	for (size_t i = 0; i < LEN(many); i++)
		many[i] = (struct sock_filter)END;
	while (n < 100 && !install(0, many, 4000))
		n++;
	say("%s filters, then %s", n >= 4 && n <= 8 ? "some" : "too few or many", strerrorname_np(errno));
	ok("a short one", install(0, many, 100));
	ok("calls work", syscall(__NR_getppid));
}

CHECK(seccomp_long_chain) { in_child("child", long_chain); }

/* --- random programs: what they answer */

static unsigned seed;

static unsigned rnd(unsigned n)
{
	seed = seed * 1664525 + 1013904223;
	return (seed >> 8) % n;
}

/* left: instructions that follow. Valid, given that scratch words 0 to 2 are written. */
static struct sock_filter random_insn(int left)
{
	static const unsigned char alu[] = {BPF_ADD, BPF_SUB, BPF_MUL, BPF_DIV, BPF_OR, BPF_AND, BPF_LSH, BPF_RSH,
					    BPF_NEG, BPF_XOR};
	static const unsigned char jmp[] = {BPF_JA, BPF_JEQ, BPF_JGT, BPF_JGE, BPF_JSET};
	unsigned op = alu[rnd(10)], src = op != BPF_NEG && rnd(2) ? BPF_X : BPF_K;
	unsigned k = rnd(4) || op == BPF_LSH || op == BPF_RSH ? 1 + rnd(31) : 1 + rnd(1 << 24) * 253;
	unsigned j = jmp[rnd(5)], word = rnd(14);

	switch (rnd(13)) {
	case 0: case 1: return (struct sock_filter)LOAD(4 * (word < 2 ? word : word + 2));	/* not the pc */
	case 2: return (struct sock_filter)I((rnd(2) ? BPF_LD : BPF_LDX) | BPF_IMM, k);
	case 3: return (struct sock_filter)I((rnd(2) ? BPF_LD : BPF_LDX) | BPF_MEM, rnd(3));
	case 4: case 5: return (struct sock_filter)I(rnd(2) ? BPF_ST : BPF_STX, rnd(3));
	case 6: return (struct sock_filter)I(BPF_MISC | (rnd(2) ? BPF_TAX : BPF_TXA), 0);
	case 7: case 8: return (struct sock_filter)J(BPF_JMP | j | (j == BPF_JA || rnd(2) ? BPF_K : BPF_X),
						      j == BPF_JA || !rnd(3) ? rnd(left + 1) : k,
						      rnd(left + 1), rnd(left + 1));
	}
	return (struct sock_filter)I(BPF_ALU | op | src, k);
}

/* For calls whose sixth argument is id; what is in A at the end becomes an errno. Returns the length. */
static int random_body(struct sock_filter *f, unsigned id)
{
	struct sock_filter tail[] = {
		I(BPF_MISC | BPF_TAX, 0), I(BPF_ALU | BPF_RSH | BPF_K, 12), I(BPF_ALU | BPF_XOR | BPF_X, 0),
		I(BPF_ALU | BPF_AND | BPF_K, 0xfff), I(BPF_ALU | BPF_OR | BPF_K, SECCOMP_RET_ERRNO),
		I(BPF_RET | BPF_A, 0)};
	int n = 1 + rnd(20), at = 5;
	struct sock_filter head[] = {
		LOAD(ARG(5)), J(BPF_JMP | BPF_JEQ | BPF_K, id, 0, 3 + n + LEN(tail)),
		I(BPF_ST, 0), I(BPF_STX, 1), I(BPF_ST, 2)};

	memcpy(f, head, sizeof(head));
	for (int i = 0; i < n; i++)
		f[at++] = random_insn(n - i - 1);
	memcpy(f + at, tail, sizeof(tail));
	return at + LEN(tail);
}

#define BODIES 40

/* In a child: all bodies are asked, each by a process of its own, since some kill. */
static void ask_bodies(struct sock_filter *f, int n, unsigned *answers)
{
	need("filter", install(0, f, n));
	for (int i = 0; i < BODIES; i++)
		if (fork() == 0) {
			answers[i] = syscall(__NR_getppid, 3, 0x1234567800000005, -1L, 1L << 40, 4000000000, i) < 0 ?
				     errno : 0;
			_exit(0);
		}
	while (wait(NULL) > 0)
		;
	_exit(0);
}

CHECK(seccomp_random)
{
	static struct sock_filter f[4096];
	unsigned *answers = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	for (int block = 0; block < 8; block++) {
		struct sock_filter head[] = {ONLY(__NR_getppid)}, tail[] = {END};
		unsigned hash = 0, killed = 0, n = LEN(head);

		seed = block;
		memcpy(f, head, sizeof(head));
		for (int i = 0; i < BODIES; i++)
			n += random_body(f + n, i);
		memcpy(f + n, tail, sizeof(tail));
		for (int i = 0; i < BODIES; i++)
			answers[i] = 9999;
		if (fork() == 0)
			ask_bodies(f, n + 1, answers);
		wait(NULL);
		for (int i = 0; i < BODIES; i++) {
			killed += answers[i] == 9999;
			hash = hash * 31 + answers[i];
		}
		say("%d: %08x, %u killed", block, hash, killed);
	}
}

/* --- verdicts */

static void errnos(void)
{
	need("filter", INSTALL(0, ONLY(__NR_getppid), RETERR(EXDEV)));
	ok("one", syscall(__NR_getppid));
	ok("another", syscall(__NR_getpid));
	need("filter", INSTALL(0, ONLY(__NR_getppid), RETERR(0)));
	val("the newer of equals", syscall(__NR_getppid));
	need("filter", INSTALL(0, ONLY(__NR_getppid), RETERR(5000)));
	errno = 0;
	is("at most 4095", syscall(__NR_getppid) == -1 && errno == 4095);
	need("filter", INSTALL(0, ONLY(__NR_getppid), RET(SECCOMP_RET_LOG)));
	errno = 0;
	is("the stricter", syscall(__NR_getppid) == -1 && errno == 4095);
}

CHECK(seccomp_errno) { in_child("child", errnos); }

static void each_argument(void)
{
	for (int i = 0; i < 12; i++)
		need("filter", INSTALL(0, ONLY(__NR_getppid), LOAD(ARG(0) + 4 * i),
				       BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 100 + i, 0, 1), RETERR(100 + i),
				       RET(SECCOMP_RET_ALLOW)));
	for (int i = 0; i < 12; i++) {
		long a[6] = {0};

		a[i / 2] = (100L + i) << (i % 2 * 32);
		errno = 0;
		say("%ld %d", syscall(__NR_getppid, a[0], a[1], a[2], a[3], a[4], a[5]) < 0 ? -1L : 0L, errno);
	}
}

CHECK(seccomp_each_argument) { in_child("child", each_argument); }

static void no_such_call(void)
{
	need("filter", INSTALL(0, LOAD(NR), BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 500, 0, 1), RETERR(EXDEV),
			       RET(SECCOMP_RET_ALLOW)));
	ok("500", syscall(500));
	ok("511", syscall(511));
	ok("512", syscall(512));
	ok("100000", syscall(100000));
	ok("-1", syscall(-1));
	ok("upper half", syscall((1L << 40) | 511));
}

CHECK(seccomp_no_such_call) { in_child("child", no_such_call); }

static siginfo_t seen;
static unsigned long seen_x0, seen_pc;

static void on_sys(int sig, siginfo_t *si, void *uc)
{
	ucontext_t *u = uc;

	seen = *si;
	seen_x0 = u->uc_mcontext.regs[0];
	seen_pc = u->uc_mcontext.pc;
	u->uc_mcontext.regs[0] = 77;
}

static void traps(void)
{
	struct sigaction sa = {.sa_sigaction = on_sys, .sa_flags = SA_SIGINFO};

	need("sigaction", sigaction(SIGSYS, &sa, NULL));
	need("filter", INSTALL(0, ONLY(__NR_getppid), RET(SECCOMP_RET_TRAP | 13)));
	val("emulated", syscall(__NR_getppid, 555));
	say("signo %d code %d errno %d nr %d arch %x", seen.si_signo, seen.si_code, seen.si_errno,
	    seen.si_syscall == __NR_getppid, seen.si_arch);
	is("address", seen.si_call_addr == (void *)seen_pc && *(unsigned *)(seen_pc - 4) == 0xd4000001);
	val("x0", seen_x0);
}

static void trap_blocked(void)
{
	sigset_t s;

	sigemptyset(&s);
	sigaddset(&s, SIGSYS);
	signal(SIGSYS, SIG_IGN);
	sigprocmask(SIG_BLOCK, &s, NULL);
	need("filter", INSTALL(0, ONLY(__NR_getppid), RET(SECCOMP_RET_TRAP)));
	syscall(__NR_getppid);
	say("lives");
}

CHECK(seccomp_trap)
{
	in_child("trap", traps);
	in_child("blocked and ignored", trap_blocked);
}

static void without_listener(void)
{
	need("filter", INSTALL(0, ONLY(__NR_getppid), RET(SECCOMP_RET_TRACE)));
	need("filter", INSTALL(0, ONLY(__NR_gettid), RET(SECCOMP_RET_USER_NOTIF)));
	need("filter", INSTALL(0, ONLY(__NR_getuid), RET(SECCOMP_RET_LOG)));
	ok("trace", syscall(__NR_getppid));
	ok("notify", syscall(__NR_gettid));
	ok("log", syscall(__NR_getuid));
}

CHECK(seccomp_other_actions) { in_child("child", without_listener); }

static unsigned verdict;
static volatile int thread_id;

static void *forbidden(void *arg)
{
	thread_id = syscall(__NR_gettid);
	need("filter", INSTALL(0, ONLY(__NR_getppid), RET(verdict)));
	syscall(__NR_getppid);
	say("lives");
	return NULL;
}

/* Waits until a thread that tells its number in thread_id is gone. A join would wait for ever for one that was killed. */
static void await_end(void)
{
	char path[64];
	long end = now_ms() + 10000;

	wait_for(&thread_id, 1);
	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", thread_id);
	for (int fd; (fd = open(path, O_RDONLY)) >= 0 && now_ms() < end; close(fd)) {
		char line[256] = "", *p;

		if (read(fd, line, sizeof(line) - 1) <= 0 || ((p = strrchr(line, ')')) && p[2] == 'Z'))
			break;
		sleep_ms(1);
	}
}

static void alone(void)
{
	signal(SIGSYS, SIG_IGN);
	forbidden(NULL);
}

static void in_thread(void)
{
	pthread_t t;

	pthread_create(&t, NULL, forbidden, NULL);
	await_end();
	say("the process lives");
}

static void *outlive_leader(void *arg)
{
	await_end();
	say("a thread lives");
	syscall(__NR_exit, 5);
	return NULL;
}

static void leader(void)
{
	pthread_t t;

	pthread_create(&t, NULL, outlive_leader, NULL);
	forbidden(NULL);
}

CHECK(seccomp_kill)
{
	static const unsigned v[] = {SECCOMP_RET_KILL_PROCESS, SECCOMP_RET_KILL_THREAD, 0x00020000, 0x80010000};

	for (size_t i = 0; i < LEN(v); i++) {
		verdict = v[i];
		say("%x", v[i]);
		in_child("alone", alone);
		in_child("in a thread", in_thread);
		in_child("leader", leader);
	}
}

static void strict(void)
{
	char c;
	int p[2];

	need("pipe", pipe(p));
	need("strict", prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT));
	val("write", write(p[1], "x", 1));
	val("read", read(p[0], &c, 1));
	syscall(__NR_exit, 3);
}

static void strict_other(void)
{
	need("strict", seccomp(SECCOMP_SET_MODE_STRICT, 0, NULL));
	syscall(__NR_getpid);
	write(1, "lives\n", 6);
}

static void strict_unknown(void)
{
	need("strict", seccomp(SECCOMP_SET_MODE_STRICT, 0, NULL));
	syscall(100000);
	write(1, "lives\n", 6);
}

static void *strict_thread(void *arg)
{
	thread_id = syscall(__NR_gettid);
	strict_other();
	return NULL;
}

static void strict_in_thread(void)
{
	pthread_t t;

	pthread_create(&t, NULL, strict_thread, NULL);
	await_end();
	ok("the others are free", syscall(__NR_getpid));
}

CHECK(seccomp_strict)
{
	in_child("strict", strict);
	in_child("another call", strict_other);
	in_child("no such call", strict_unknown);
	in_child("exit_group", strict_other);
	in_child("thread", strict_in_thread);
}

/* --- who has it */

static void inherit_by_fork(void)
{
	ok("child", syscall(__NR_getppid));
	show_status("child");
	need("filter", INSTALL(0, ONLY(__NR_gettid), RETERR(ENODEV)));
	ok("its own", syscall(__NR_gettid));
}

static void inherit(void)
{
	need("no_new_privs", prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
	need("filter", INSTALL(0, ONLY(__NR_getppid), RETERR(EXDEV)));
	in_child("fork", inherit_by_fork);
	ok("not the parent's", syscall(__NR_gettid));
	show_status("parent");
	execl("/bin/grep", "grep", "-E", "Seccomp|NoNew", "/proc/self/status", NULL);
}

CHECK(seccomp_inherit) { in_child("exec", inherit); }

static volatile int stage, arrived;
static volatile int lock_out;

static void *bystander(void *arg)
{
	if (lock_out)
		need("filter", INSTALL(0, ONLY(__NR_gettid), RETERR(ENODEV)));
	__atomic_add_fetch(&arrived, 1, __ATOMIC_SEQ_CST);
	while (stage == 0)
		;
	ok("bystander", syscall(__NR_getppid));
	show_status("bystander");
	return NULL;
}

static void sync_with(int others)
{
	pthread_t t;
	long ret;

	lock_out = others;
	need("no_new_privs", prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
	pthread_create(&t, NULL, bystander, NULL);
	wait_for(&arrived, 1);
	need("filter", INSTALL(0, ONLY(__NR_getuid), RETERR(EXDEV)));
	ret = INSTALL(SECCOMP_FILTER_FLAG_TSYNC, ONLY(__NR_getppid), RETERR(EXDEV));
	say("tsync: %s", ret < 0 ? strerrorname_np(errno) : ret == 0 ? "ok" : "a thread");
	if (ret)
		ok("esrch", INSTALL(SECCOMP_FILTER_FLAG_TSYNC | SECCOMP_FILTER_FLAG_TSYNC_ESRCH,
				    ONLY(__NR_getppid), RETERR(EXDEV)));
	stage = 1;
	pthread_join(t, NULL);
	ok("myself", syscall(__NR_getppid));
	show_status("myself");
}

static void sync_free(void) { sync_with(0); }
static void sync_strangers(void) { sync_with(1); }

CHECK(seccomp_tsync)
{
	in_child("free threads", sync_free);
	in_child("strangers", sync_strangers);
}

/* Threads come and go while filters are handed to all: nobody is left out. */
static void *comer(void *arg)
{
	long n = (long)arg;
	pthread_t t;

	if (n && !pthread_create(&t, NULL, comer, (void *)(n - 1)))
		pthread_join(t, NULL);
	return NULL;
}

static void *spawner(void *arg)
{
	while (!stage)
		comer((void *)3);
	if (syscall(__NR_getppid) != -1 || errno != 11)
		say("a thread was left out");
	return NULL;
}

static void sync_storm(void)
{
	pthread_t t[3];
	long bad = 0;

	for (int i = 0; i < 3; i++)
		pthread_create(&t[i], NULL, spawner, NULL);
	for (int i = 0; i < 12; i++)
		bad += INSTALL(SECCOMP_FILTER_FLAG_TSYNC, ONLY(__NR_getppid), RETERR(i)) != 0;
	stage = 1;
	for (int i = 0; i < 3; i++)
		pthread_join(t[i], NULL);
	val("refused", bad);
}

CHECK(seccomp_tsync_storm) { in_child("storm", sync_storm); }

/* --- what a container's profile does to perf */

static long open_event(void)
{
	struct perf_event_attr a = {.size = sizeof(a), .type = PERF_TYPE_SOFTWARE,
				    .config = PERF_COUNT_SW_TASK_CLOCK};

	return syscall(__NR_perf_event_open, &a, 0, -1, -1, 0);
}

static void no_perf(void)
{
	long long n = 0;
	int fd = open_event();

	is("before", fd >= 0);
	need("filter", INSTALL(0, ONLY(__NR_perf_event_open), RETERR(EPERM)));
	ok("after", open_event());
	is("the old one counts", read(fd, &n, sizeof(n)) == 8 && n > 0);
	need("filter", INSTALL(0, ONLY(__NR_perf_event_open), RETERR(ENOSYS)));
	ok("as if it were not there", open_event());
}

CHECK(seccomp_perf) { in_child("child", no_perf); }
