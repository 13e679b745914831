/* SPDX-License-Identifier: MIT */
/* Signals: handlers, masks, queues, stacks, restarts. */
#include "check.h"
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <ucontext.h>

static volatile sig_atomic_t count, last, code, value, nested;
static volatile pid_t from;

static void handler(int sig, siginfo_t *si, void *uc)
{
	count++;
	last = sig;
	code = si->si_code;
	value = si->si_value.sival_int;
	from = si->si_pid;
}

static void handle(int sig, int flags)
{
	struct sigaction sa = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO | flags};

	need("sigaction", sigaction(sig, &sa, NULL));
}

static void block(int how, int sig)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, sig);
	need("sigprocmask", sigprocmask(how, &set, NULL));
}

CHECK(sigaction_calls)
{
	struct sigaction sa = {.sa_handler = SIG_IGN}, old;

	ok("install", sigaction(SIGUSR1, &sa, NULL));
	ok("query", sigaction(SIGUSR1, NULL, &old));
	is("ignored", old.sa_handler == SIG_IGN);
	ok("kill", sigaction(SIGKILL, &sa, NULL));
	ok("query kill", sigaction(SIGKILL, NULL, &old));
	ok("stop", sigaction(SIGSTOP, &sa, NULL));
	ok("zero", sigaction(0, &sa, NULL));
	ok("65", sigaction(65, &sa, NULL));
	ok("raw size", syscall(SYS_rt_sigaction, SIGUSR1, &sa, NULL, 4));
	ok("bad pointer", syscall(SYS_rt_sigaction, SIGUSR1, 8, NULL, 8));
}

CHECK(kill_and_siginfo)
{
	handle(SIGUSR1, 0);
	ok("kill", kill(getpid(), SIGUSR1));
	say("count %d signal %d code %d self %d", count, last, code, from == getpid());
	ok("raise", raise(SIGUSR1));
	say("code %d", code);
	ok("sigqueue", sigqueue(getpid(), SIGUSR1, (union sigval){.sival_int = 42}));
	say("code %d value %d", code, value);
	ok("signal 0", kill(getpid(), 0));
	ok("nobody", kill(99999, 0));
	ok("bad signal", kill(getpid(), 65));
	ok("own group", (handle(SIGUSR2, 0), setpgid(0, 0), kill(0, SIGUSR2)));
	say("signal %d", last);
	ok("negative", kill(-getpid(), SIGUSR1));
	ok("no such group", kill(-99999, 0));
	ok("tgkill", syscall(SYS_tgkill, getpid(), getpid(), SIGUSR1));
	say("code %d", code);
	ok("tgkill of another group", syscall(SYS_tgkill, 1, getpid(), SIGUSR1));
	siginfo_t si = {.si_code = SI_USER};
	ok("forged siginfo", syscall(SYS_rt_sigqueueinfo, 1, SIGUSR1, &si));
}

CHECK(pending_and_blocked)
{
	sigset_t set;

	handle(SIGUSR1, 0);
	block(SIG_BLOCK, SIGUSR1);
	raise(SIGUSR1);
	raise(SIGUSR1);
	val("not yet", count);
	sigpending(&set);
	is("pending", sigismember(&set, SIGUSR1));
	block(SIG_UNBLOCK, SIGUSR1);
	val("once", count);
	sigpending(&set);
	is("pending", sigismember(&set, SIGUSR1));
	sigfillset(&set);
	ok("block all", sigprocmask(SIG_SETMASK, &set, NULL));
	sigprocmask(SIG_BLOCK, NULL, &set);
	is("kill is blocked", sigismember(&set, SIGKILL));
	is("term is blocked", sigismember(&set, SIGTERM));
	ok("bad how", sigprocmask(77, &set, NULL));
}

static int order[16], orders;

static void record(int sig, siginfo_t *si, void *uc)
{
	if (orders < 16)
		order[orders++] = si->si_value.sival_int;
}

CHECK(realtime_queue)
{
	struct sigaction sa = {.sa_sigaction = record, .sa_flags = SA_SIGINFO};

	for (int s = SIGRTMIN; s <= SIGRTMIN + 2; s++) {
		sigaction(s, &sa, NULL);
		block(SIG_BLOCK, s);
	}
	for (int i = 0; i < 3; i++) {
		need("queue", sigqueue(getpid(), SIGRTMIN + 2, (union sigval){.sival_int = 20 + i}));
		need("queue", sigqueue(getpid(), SIGRTMIN, (union sigval){.sival_int = 10 + i}));
	}
	sigset_t set;
	siginfo_t si;
	sigemptyset(&set);
	sigaddset(&set, SIGRTMIN + 2);
	val("sigwaitinfo takes", sigwaitinfo(&set, &si) - SIGRTMIN);
	val("value", si.si_value.sival_int);
	block(SIG_UNBLOCK, SIGRTMIN);
	block(SIG_UNBLOCK, SIGRTMIN + 2);
	for (int i = 0; i < orders; i++)
		say("%d", order[i]);
}

CHECK(sigtimedwait_waits)
{
	sigset_t set;
	struct timespec ts = {0, 20000000};

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	block(SIG_BLOCK, SIGUSR1);
	val("timeout", sigtimedwait(&set, NULL, &ts));
	raise(SIGUSR1);
	val("pending", sigtimedwait(&set, NULL, &ts));
	pid_t pid = fork();
	if (pid == 0) {
		sleep_ms(50);
		kill(getppid(), SIGUSR1);
		_exit(0);
	}
	ts.tv_sec = 10;
	val("wakes", sigtimedwait(&set, NULL, &ts));
	reap("child", pid);
	ts.tv_nsec = -1;
	val("bad time", sigtimedwait(&set, NULL, &ts));
}

static void later_signal(int sig, long ms)
{
	struct itimerval it = {.it_value = {ms / 1000, ms % 1000 * 1000}};

	handle(sig, 0);
	setitimer(ITIMER_REAL, &it, NULL);
}

CHECK(interrupted_calls)
{
	int p[2];
	char c;
	struct timespec left, ts = {5, 0};

	need("pipe", pipe(p));
	later_signal(SIGALRM, 50);
	val("read", read(p[0], &c, 1));
	later_signal(SIGALRM, 50);
	val("pause", pause());
	later_signal(SIGALRM, 50);
	val("nanosleep", nanosleep(&ts, &left));
	is("time left", left.tv_sec == 4);
	later_signal(SIGALRM, 50);
	val("wait", (fork() == 0 ? (sleep(1), _exit(0), 0) : wait(NULL)));
	val("count", count);
}

CHECK(restarted_calls)
{
	int p[2];
	char c = 0;

	need("pipe", pipe(p));
	handle(SIGALRM, SA_RESTART);
	pid_t pid = fork();
	if (pid == 0) {
		sleep_ms(300);
		need("write", write(p[1], "x", 1));
		_exit(5);
	}
	setitimer(ITIMER_REAL, &(struct itimerval){.it_value = {0, 50000}}, NULL);
	val("read", read(p[0], &c, 1));
	say("%c count %d", c, count);
	setitimer(ITIMER_REAL, &(struct itimerval){.it_value = {0, 10000}}, NULL);
	reap("wait", pid);
	setitimer(ITIMER_REAL, &(struct itimerval){.it_value = {0, 50000}}, NULL);
	val("pause is not restarted", pause());
}

CHECK(stop_does_not_interrupt)
{
	int p[2];
	char c;

	need("pipe", pipe(p));
	pid_t pid = fork();
	if (pid == 0) {
		_exit(read(p[0], &c, 1) == 1 ? 0 : 1);
	}
	sleep_ms(50);
	kill(pid, SIGSTOP);
	waitpid(pid, NULL, WUNTRACED);
	kill(pid, SIGCONT);
	sleep_ms(50);
	need("write", write(p[1], "x", 1));
	reap("reader", pid);
}

static void tick(int sig)
{
	count++;
}

static void nest(int sig)
{
	static volatile int depth;

	depth++;
	if (depth > nested)
		nested = depth;
	count++;
	if (count < 3)
		raise(sig);
	depth--;
}

CHECK(nodefer_and_resethand)
{
	struct sigaction sa = {.sa_handler = nest};

	sigaction(SIGUSR1, &sa, NULL);
	raise(SIGUSR1);
	say("blocked while handled: depth %d count %d", nested, count);
	count = nested = 0;
	sa.sa_flags = SA_NODEFER;
	sigaction(SIGUSR1, &sa, NULL);
	raise(SIGUSR1);
	say("nodefer: depth %d count %d", nested, count);
	sa.sa_flags = SA_RESETHAND;
	sa.sa_handler = tick;
	sigaction(SIGUSR2, &sa, NULL);
	pid_t pid = fork();
	if (pid == 0) {
		raise(SIGUSR2);
		raise(SIGUSR2);
		_exit(0);
	}
	reap("resethand", pid);
}

static void mask_seen(int sig)
{
	sigset_t set;

	sigprocmask(SIG_BLOCK, NULL, &set);
	say("in handler: USR1 %d USR2 %d HUP %d", sigismember(&set, SIGUSR1), sigismember(&set, SIGUSR2), sigismember(&set, SIGHUP));
}

CHECK(handler_mask)
{
	struct sigaction sa = {.sa_handler = mask_seen};
	sigset_t set;

	sigaddset(&sa.sa_mask, SIGUSR2);
	sigaction(SIGUSR1, &sa, NULL);
	raise(SIGUSR1);
	sigprocmask(SIG_BLOCK, NULL, &set);
	say("after: USR1 %d USR2 %d", sigismember(&set, SIGUSR1), sigismember(&set, SIGUSR2));
}

CHECK(sigsuspend_waits)
{
	sigset_t none;

	handle(SIGUSR1, 0);
	block(SIG_BLOCK, SIGUSR1);
	sigemptyset(&none);
	raise(SIGUSR1);
	val("before", count);
	val("sigsuspend", sigsuspend(&none));
	val("after", count);
	raise(SIGUSR1);
	val("blocked again", count);
}

static char alt[65536] __attribute__((aligned(16)));
static volatile int on_alt;

static void where(int sig)
{
	char c;
	stack_t ss;

	on_alt = &c >= alt && &c < alt + sizeof(alt);
	sigaltstack(NULL, &ss);
	say("on the alternate stack: %d flags %d", on_alt, ss.ss_flags);
	ok("change it from within", sigaltstack(&(stack_t){.ss_flags = SS_DISABLE}, NULL));
}

CHECK(alternate_stack)
{
	struct sigaction sa = {.sa_handler = where, .sa_flags = SA_ONSTACK};
	stack_t ss = {.ss_sp = alt, .ss_size = sizeof(alt)}, old;

	sigaction(SIGUSR1, &sa, NULL);
	raise(SIGUSR1);
	ok("sigaltstack", sigaltstack(&ss, NULL));
	raise(SIGUSR1);
	ok("query", sigaltstack(NULL, &old));
	say("flags %d size %ld", old.ss_flags, (long)old.ss_size);
	ss.ss_size = 100;
	ok("too small", sigaltstack(&ss, NULL));
	ss.ss_flags = 77;
	ok("bad flags", sigaltstack(&ss, NULL));
}

static sigjmp_buf out;

static void overflow(int sig)
{
	siglongjmp(out, 1);
}

static int deep(int n)
{
	volatile char frame[4096];

	frame[0] = n;
	return deep(n + 1) + frame[0];
}

CHECK(stack_overflow_caught)
{
	struct sigaction sa = {.sa_handler = overflow, .sa_flags = SA_ONSTACK};

	sigaltstack(&(stack_t){.ss_sp = alt, .ss_size = sizeof(alt)}, NULL);
	sigaction(SIGSEGV, &sa, NULL);
	if (sigsetjmp(out, 1) == 0)
		deep(0);
	say("caught");
	pid_t pid = fork();
	if (pid == 0) {
		sa.sa_flags = 0;
		sigaction(SIGSEGV, &sa, NULL);
		if (sigsetjmp(out, 1) == 0)
			deep(0);
		_exit(1);
	}
	reap("no room for the frame", pid);
}

static void skip(int sig, siginfo_t *si, void *ctx)
{
	ucontext_t *uc = ctx;

	code = si->si_code;
	last = sig;
	uc->uc_mcontext.pc += 4;
	uc->uc_mcontext.regs[0] = 77;
}

CHECK(context_is_written_back)
{
	struct sigaction sa = {.sa_sigaction = skip, .sa_flags = SA_SIGINFO};
	register long x0 __asm__("x0") = 1;

	sigaction(SIGILL, &sa, NULL);
	sigaction(SIGTRAP, &sa, NULL);
	__asm__ volatile(".inst 0x00000000" : "+r"(x0));
	long a = x0;
	say("undefined instruction: signal %d code %d x0 %ld", last, code, a);
	register long y0 __asm__("x0") = 1;
	__asm__ volatile("brk #0" : "+r"(y0));
	a = y0;
	say("breakpoint: signal %d code %d x0 %ld", last, code, a);
}

static void clobber(int sig)
{
	__asm__ volatile("movi v0.16b, #0xff\n movi v8.16b, #0xff\n movi v31.16b, #0xff\n mov x9, #-1\n" ::: "v0", "v8", "v31", "x9");
	volatile double d = 3.0;

	d = d * 2.5;
	count++;
}

CHECK(fp_registers_survive)
{
	unsigned long a, b, c, fpsr = 0;
	struct sigaction sa = {.sa_handler = clobber};
	struct itimerval it = {{0, 1000}, {0, 1000}};
	int bad = 0;

	sigaction(SIGALRM, &sa, NULL);
	setitimer(ITIMER_REAL, &it, NULL);
	while (count < 50) {
		__asm__ volatile("movi v0.16b, #0x11\n movi v8.16b, #0x22\n movi v31.16b, #0x33\n"
				 "mov x9, #2000\n1: subs x9, x9, #1\n b.ne 1b\n"
				 "umov %0, v0.d[1]\n umov %1, v8.d[0]\n umov %2, v31.d[1]\n"
				 : "=r"(a), "=r"(b), "=r"(c) : : "v0", "v8", "v31", "x9", "cc");
		bad += a != 0x1111111111111111 || b != 0x2222222222222222 || c != 0x3333333333333333;
	}
	val("wrong registers", bad + fpsr);
}

CHECK(sigchld)
{
	handle(SIGCHLD, 0);
	pid_t pid = fork();
	if (pid == 0)
		_exit(9);
	while (!count)
		sleep_ms(1);
	say("code %d from child %d", code, from == pid);
	reap("child", pid);
	signal(SIGCHLD, SIG_IGN);
	pid = fork();
	if (pid == 0)
		_exit(0);
	ok("ignored: no zombie", waitpid(pid, NULL, 0));
	struct sigaction sa = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO | SA_NOCLDSTOP};
	sigaction(SIGCHLD, &sa, NULL);
	count = 0;
	pid = fork();
	if (pid == 0)
		for (;;)
			pause();
	kill(pid, SIGSTOP);
	waitpid(pid, NULL, WUNTRACED);
	sleep_ms(30);
	val("nocldstop", count);
	kill(pid, SIGKILL);
	reap("child", pid);
}

CHECK(permission_to_kill)
{
	int p[2];

	need("pipe", pipe(p));
	pid_t root = fork();
	if (root == 0)
		for (;;)
			pause();
	pid_t user = fork();
	if (user == 0) {
		setuid(1000);
		ok("root's process", kill(root, SIGTERM));
		ok("probe", kill(root, 0));
		ok("own", kill(getpid(), 0));
		_exit(0);
	}
	reap("user", user);
	kill(root, SIGKILL);
	reap("root", root);
}

CHECK(default_actions)
{
	static const int sigs[] = {SIGHUP, SIGINT, SIGQUIT, SIGPIPE, SIGALRM, SIGTERM, SIGUSR1, SIGXCPU, SIGSYS, SIGIO,
		SIGCHLD, SIGURG, SIGWINCH, SIGCONT};

	for (int i = 0; i < sizeof(sigs) / sizeof(*sigs); i++) {
		char what[32];
		pid_t pid = fork();
		if (pid == 0) {
			setpgid(0, 0);
			raise(sigs[i]);
			_exit(0);
		}
		snprintf(what, sizeof(what), "signal %d", sigs[i]);
		reap(what, pid);
	}
}

CHECK(sigio_on_a_pipe)
{
	int p[2];

	need("pipe", pipe(p));
	handle(SIGIO, 0);
	handle(SIGRTMIN, 0);
	ok("owner", fcntl(p[0], F_SETOWN, getpid()));
	ok("async", fcntl(p[0], F_SETFL, O_ASYNC | O_NONBLOCK));
	need("write", write(p[1], "x", 1));
	say("count %d signal %d", count, last);
	ok("setsig", fcntl(p[0], F_SETSIG, SIGRTMIN));
	need("write", write(p[1], "x", 1));
	say("realtime %d code %d", last == SIGRTMIN, code);
	struct f_owner_ex ox = {F_OWNER_TID, getpid()};
	ok("setown_ex", fcntl(p[0], F_SETOWN_EX, &ox));
	ok("getown_ex", fcntl(p[0], F_GETOWN_EX, &ox));
	say("type %d self %d", ox.type, ox.pid == getpid());
}

CHECK(eintr_storm)
{
	int p[2], eintr = 0, done = 0;
	char c;

	need("pipe", pipe(p));
	handle(SIGALRM, 0);
	pid_t pid = fork();
	if (pid == 0) {
		for (int i = 0; i < 20; i++) {
			sleep_ms(10);
			need("write", write(p[1], "x", 1));
		}
		_exit(0);
	}
	setitimer(ITIMER_REAL, &(struct itimerval){{0, 2000}, {0, 2000}}, NULL);
	while (done < 20) {
		ssize_t n = read(p[0], &c, 1);
		if (n == 1)
			done++;
		else if (n < 0 && errno == EINTR)
			eintr++;
		else
			break;
	}
	val("bytes", done);
	is("interrupted", eintr > 0);
	setitimer(ITIMER_REAL, &(struct itimerval){0}, NULL);
	reap("writer", pid);
}
