/* SPDX-License-Identifier: MIT */
/* Processes: fork, exec, exit, wait, groups and sessions, credentials, limits. */
#include "check.h"
#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/times.h>
#include <sys/wait.h>

CHECK(exit_and_wait)
{
	int status;
	pid_t pid = fork();

	if (pid == 0)
		_exit(300);
	reap("exit 300", pid);
	ok("no children", wait(&status));
	pid = fork();
	if (pid == 0) {
		kill(getpid(), SIGKILL);
		_exit(0);
	}
	reap("killed", pid);
	pid = fork();
	if (pid == 0)
		abort();
	reap("aborted", pid);
	pid = fork();
	if (pid == 0) {
		sleep_ms(100);
		_exit(1);
	}
	val("nohang", waitpid(pid, &status, WNOHANG));
	reap("later", pid);
	ok("not mine", waitpid(1, &status, 0));
	ok("bad options", waitpid(-1, &status, 0x10000));
}

CHECK(wait_order_and_any)
{
	int seen = 0, status;

	for (int i = 1; i <= 5; i++)
		if (fork() == 0) {
			sleep_ms(i * 10);
			_exit(i);
		}
	for (int i = 0; i < 5; i++) {
		need("wait", wait(&status));
		seen |= 1 << WEXITSTATUS(status);
	}
	say("seen %x", seen);
	ok("no more", wait(&status));
}

CHECK(waitid_info)
{
	siginfo_t si = {0};
	pid_t pid = fork();

	if (pid == 0)
		_exit(7);
	ok("nowait", waitid(P_PID, pid, &si, WEXITED | WNOWAIT));
	say("code %d status %d signo %d pid %d", si.si_code, si.si_status, si.si_signo, si.si_pid == pid);
	ok("again", waitid(P_ALL, 0, &si, WEXITED));
	ok("gone", waitid(P_PID, pid, &si, WEXITED));
	pid = fork();
	if (pid == 0) {
		raise(SIGSTOP);
		for (;;)
			pause();
	}
	ok("stopped", waitid(P_PID, pid, &si, WSTOPPED));
	say("code %d status %d", si.si_code, si.si_status);
	kill(pid, SIGCONT);
	ok("continued", waitid(P_PID, pid, &si, WCONTINUED));
	say("code %d status %d", si.si_code, si.si_status);
	kill(pid, SIGTERM);
	ok("killed", waitid(P_PID, pid, &si, WEXITED));
	say("code %d status %d", si.si_code, si.si_status);
	ok("no options", waitid(P_ALL, 0, &si, 0));
}

CHECK(stop_continue_wait)
{
	int status;
	pid_t pid = fork();

	if (pid == 0)
		for (;;)
			pause();
	kill(pid, SIGSTOP);
	need("wait", waitpid(pid, &status, WUNTRACED));
	say("stopped %d by %d", WIFSTOPPED(status), WSTOPSIG(status));
	val("once", waitpid(pid, &status, WUNTRACED | WNOHANG));
	kill(pid, SIGCONT);
	need("wait", waitpid(pid, &status, WCONTINUED));
	say("continued %d", WIFCONTINUED(status));
	kill(pid, SIGSTOP);
	need("wait", waitpid(pid, &status, WUNTRACED));
	kill(pid, SIGKILL);
	reap("killed while stopped", pid);
}

CHECK(orphans_and_parents)
{
	int p[2];
	pid_t me = getpid();

	need("pipe", pipe(p));
	pid_t pid = fork();
	if (pid == 0) {
		is("parent known", getppid() == me);
		if (fork() == 0) {
			sleep_ms(100);
			int ppid = getppid();
			need("write", write(p[1], &ppid, sizeof(ppid)));
			_exit(0);
		}
		_exit(0);
	}
	reap("child", pid);
	int ppid = -1;
	need("read", read(p[0], &ppid, sizeof(ppid)));
	val("orphan's parent", ppid);
}

CHECK(subreaper)
{
	ok("prctl", prctl(PR_SET_CHILD_SUBREAPER, 1));
	pid_t pid = fork();
	if (pid == 0) {
		if (fork() == 0) {
			sleep_ms(50);
			_exit(9);
		}
		_exit(0);
	}
	reap("child", pid);
	reap("grandchild", -1);
}

CHECK(parent_death_signal)
{
	int p[2];
	char c;

	need("pipe", pipe(p));
	pid_t pid = fork();
	if (pid == 0) {
		if (fork() == 0) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			need("write", write(p[1], "r", 1));
			for (;;)
				pause();
		}
		need("read", read(p[0], &c, 1));
		_exit(0);
	}
	close(p[1]);
	reap("child", pid);
	val("grandchild died too", read(p[0], &c, 1));
}

static char *const env[] = {"A=1", "B=two", NULL};

static void exec_script(const char *name, const char *text, int mode)
{
	int fd = open(name, O_CREAT | O_WRONLY | O_TRUNC, 0700);

	need("write", write(fd, text, strlen(text)));
	fchmod(fd, mode);
	close(fd);
}

CHECK(exec_arguments)
{
	pid_t pid = fork();

	if (pid == 0) {
		execve("/bin/busybox", (char *[]){"sh", "-c", "echo $0 $1 $# $A $B", "zero", "one two", NULL}, env);
		_exit(99);
	}
	reap("sh", pid);
	exec_script("s1", "#!/bin/sh\necho script $0 $1\n", 0700);
	exec_script("s2", "#!./s1 opt\n", 0700);
	exec_script("s3", "#!/no/such/interpreter\n", 0700);
	exec_script("s4", "neither elf nor script\n", 0700);
	exec_script("s5", "#!/bin/sh\n", 0600);
	exec_script("s6", "", 0700);
	pid = fork();
	if (pid == 0) {
		execl("./s1", "ignored", "arg", NULL);
		_exit(98);
	}
	reap("script", pid);
	pid = fork();
	if (pid == 0) {
		execl("./s2", "x", "arg", NULL);
		_exit(98);
	}
	reap("script of a script", pid);
	ok("missing interpreter", execl("./s3", "x", NULL));
	ok("no format", execl("./s4", "x", NULL));
	ok("not executable", execl("./s5", "x", NULL));
	ok("empty file", execl("./s6", "x", NULL));
	ok("missing", execl("./nope", "x", NULL));
	ok("directory", execl("/tmp", "x", NULL));
	ok("bad argv", syscall(SYS_execve, "/bin/busybox", 8, 0));
	ok("bad string", execve("/bin/busybox", (char *[]){(char *)8, NULL}, env));
	ok("empty path", execve("", (char *[]){"x", NULL}, env));
}

CHECK(exec_big_arguments)
{
	size_t n = 100000;
	char *big = malloc(n + 1);
	char **argv = calloc(12, sizeof(*argv));

	memset(big, 'x', n);
	big[n] = 0;
	pid_t pid = fork();
	if (pid == 0) {
		execl("/bin/sh", "sh", "-c", "echo ${#1}", "sh", big, NULL);
		_exit(99);
	}
	reap("100000 bytes", pid);
	big = realloc(big, 200001);
	memset(big, 'x', 200000);
	big[200000] = 0;
	ok("one string too long", execl("/bin/true", "true", big, NULL));
	char **many = calloc(100001, sizeof(*many));
	memset(big + 60, 0, 1);
	for (int i = 0; i < 100000; i++)
		many[i] = big;
	ok("all too long", execv("/bin/true", many));
	free(argv);
}

CHECK(exec_resets)
{
	signal(SIGUSR1, SIG_IGN);
	signal(SIGUSR2, (void (*)(int))exit);
	sigset_t set;
	sigemptyset(&set);
	sigaddset(&set, SIGHUP);
	sigprocmask(SIG_BLOCK, &set, NULL);
	int a = open("/dev/null", O_RDONLY), b = open("/dev/null", O_RDONLY | O_CLOEXEC);
	dup2(a, 10);
	dup3(b, 11, O_CLOEXEC);
	execl("/bin/sh", "sh", "-c",
		"[ -e /proc/self/fd/10 ] && echo 10 open; [ -e /proc/self/fd/11 ] || echo 11 closed;"
		"grep -E '^Sig(Blk|Ign|Cgt)' /proc/$$/status | head -2 | sed 's/.*000/000/'", NULL);
	say("exec: %s", strerrorname_np(errno));
}

CHECK(vfork_shares)
{
	volatile int x = 1;
	pid_t pid = vfork();

	if (pid == 0) {
		x = 2;
		_exit(5);
	}
	reap("vfork child", pid);
	val("x", x);
	pid = vfork();
	if (pid == 0) {
		execl("/bin/true", "true", NULL);
		_exit(9);
	}
	reap("vfork exec", pid);
}

CHECK(groups_and_sessions)
{
	pid_t pid = fork();

	if (pid == 0) {
		is("group of the parent", getpgrp() == getpgid(getppid()));
		ok("setpgid", setpgid(0, 0));
		is("leader", getpgrp() == getpid());
		ok("setsid as a leader", setsid());
		ok("unknown group", setpgid(0, 99999));
		ok("negative", setpgid(0, -1));
		ok("init's", setpgid(1, 0));
		_exit(0);
	}
	reap("child", pid);
	pid = fork();
	if (pid == 0) {
		is("setsid", setsid() == getpid());
		is("session", getsid(0) == getpid());
		is("group", getpgrp() == getpid());
		ok("setpgid as a session leader", setpgid(0, 0));
		ok("no terminal", open("/dev/tty", O_RDWR));
		_exit(0);
	}
	reap("child", pid);
	ok("getsid of nobody", getsid(99999));
	ok("getpgid of nobody", getpgid(99999));
}

CHECK(credentials)
{
	uid_t r, e, s;
	gid_t groups[4] = {7, 8, 9};

	ok("setgroups", setgroups(3, groups));
	val("getgroups", getgroups(4, groups));
	val("too small", getgroups(1, groups));
	ok("setresgid", setresgid(100, 101, 102));
	ok("setresuid", setresuid(1000, 1001, 0));
	getresuid(&r, &e, &s);
	say("%d %d %d", r, e, s);
	ok("to a foreign id", setresuid(-1, 5, -1));
	ok("to the saved id", seteuid(0));
	ok("setuid", setuid(1000));
	getresuid(&r, &e, &s);
	say("%d %d %d", r, e, s);
	ok("back", setuid(0));
	ok("setgroups", setgroups(0, NULL));
	ok("kill init", kill(1, 0));
	ok("nice up", setpriority(PRIO_PROCESS, 0, -5));
	ok("raise a limit", setrlimit(RLIMIT_NOFILE, &(struct rlimit){1 << 20, 1 << 20}));
	ok("hostname", sethostname("x", 1));
	ok("chroot", chroot("/"));
}

CHECK(capabilities)
{
	struct {
		unsigned int version;
		int pid;
	} head = {0x20080522, 0};
	struct {
		unsigned int eff, perm, inh;
	} data[2] = {0};

	ok("capget", syscall(SYS_capget, &head, data));
	say("root %08x %08x", data[0].eff, data[0].perm);
	setuid(1000);
	ok("capget", syscall(SYS_capget, &head, data));
	say("user %08x %08x", data[0].eff, data[0].perm);
	head.version = 1;
	ok("bad version", syscall(SYS_capget, &head, data));
	say("wants %x", head.version);
}

CHECK(limits)
{
	struct rlimit rl, old;

	need("get", getrlimit(RLIMIT_NOFILE, &rl));
	say("nofile %ld", (long)rl.rlim_cur);
	need("get", getrlimit(RLIMIT_STACK, &rl));
	say("stack %ld", (long)rl.rlim_cur);
	rl = (struct rlimit){100, 50};
	ok("soft over hard", setrlimit(RLIMIT_NOFILE, &rl));
	ok("bad resource", setrlimit(99, &rl));
	rl = (struct rlimit){50, 60};
	ok("prlimit", prlimit(0, RLIMIT_NOFILE, &rl, &old));
	need("get", getrlimit(RLIMIT_NOFILE, &rl));
	say("%ld %ld", (long)rl.rlim_cur, (long)rl.rlim_max);
	rl = (struct rlimit){1000, 1000};
	int fd = open("f", O_CREAT | O_WRONLY, 0600);
	need("fsize", setrlimit(RLIMIT_FSIZE, &rl));
	char buf[800] = {0};
	signal(SIGXFSZ, SIG_IGN);
	val("write", write(fd, buf, 800));
	val("cut", write(fd, buf, 800));
	val("over", write(fd, buf, 800));
	rl = (struct rlimit){1, 1};
	need("nproc", setrlimit(RLIMIT_NPROC, &rl));
	setuid(1000);
	pid_t pid = fork();
	if (pid == 0) {
		pid_t more = fork();
		_exit(more < 0 ? 50 : 51);
	}
	say("fork over RLIMIT_NPROC: %s", pid < 0 ? strerrorname_np(errno) : "ok");
}

CHECK(cpu_limit)
{
	pid_t pid = fork();

	if (pid == 0) {
		struct rlimit rl = {1, 2};
		setrlimit(RLIMIT_CPU, &rl);
		for (volatile long i = 0;; i++)
			;
	}
	reap("spins over RLIMIT_CPU", pid);
}

CHECK(usage_and_times)
{
	struct rusage ru;
	struct tms t;
	pid_t pid = fork();

	if (pid == 0) {
		long end = now_ms() + 300;
		while (now_ms() < end)
			;
		_exit(0);
	}
	need("wait4", wait4(pid, NULL, 0, &ru));
	long ms = (ru.ru_utime.tv_sec + ru.ru_stime.tv_sec) * 1000 + (ru.ru_utime.tv_usec + ru.ru_stime.tv_usec) / 1000;
	is("child's cpu time", ms >= 100 && ms < 2000);
	need("children", getrusage(RUSAGE_CHILDREN, &ru));
	ms = (ru.ru_utime.tv_sec + ru.ru_stime.tv_sec) * 1000 + (ru.ru_utime.tv_usec + ru.ru_stime.tv_usec) / 1000;
	is("children's cpu time", ms >= 100 && ms < 2000);
	need("self", getrusage(RUSAGE_SELF, &ru));
	is("maxrss", ru.ru_maxrss > 100);
	is("faults", ru.ru_minflt > 5);
	is("times", times(&t) > 0 && t.tms_cutime + t.tms_cstime >= 10);
	ok("bad who", getrusage(77, &ru));
}

CHECK(clone_flags)
{
	int ptid = 0;

	pid_t pid = syscall(SYS_clone, SIGCHLD | CLONE_PARENT_SETTID, 0, &ptid, 0, 0);
	if (pid == 0)
		_exit(3);
	is("parent tid", ptid == pid);
	reap("clone", pid);
	pid = syscall(SYS_clone, 0, 0, 0, 0, 0);
	if (pid == 0)
		_exit(4);
	ok("no signal, not waited for", waitpid(pid, NULL, 0));
	int status;
	is("with __WALL", waitpid(pid, &status, __WALL) == pid && WEXITSTATUS(status) == 4);
	ok("thread without sighand", syscall(SYS_clone, CLONE_THREAD | SIGCHLD, 0, 0, 0, 0));
	ok("sighand without vm", syscall(SYS_clone, CLONE_SIGHAND | SIGCHLD, 0, 0, 0, 0));
	ok("clone3 small", syscall(SYS_clone3, (char[64]){0}, 8));
	ok("clone3 bad pointer", syscall(SYS_clone3, 8, 64));
	unsigned long args[11] = {0, 0, 0, 0, SIGCHLD};
	pid = syscall(SYS_clone3, args, 88);
	if (pid == 0)
		_exit(6);
	reap("clone3", pid);
}

CHECK(pidfd)
{
	pid_t pid = fork();

	if (pid == 0) {
		sleep_ms(50);
		_exit(2);
	}
	int fd = syscall(SYS_pidfd_open, pid, 0);
	ok("pidfd_open", fd);
	ok("signal 0", syscall(SYS_pidfd_send_signal, fd, 0, NULL, 0));
	siginfo_t si;
	ok("waitid", waitid(P_PIDFD, fd, &si, WEXITED));
	val("status", si.si_status);
	ok("nobody", syscall(SYS_pidfd_open, 99999, 0));
}

CHECK(scheduling_calls)
{
	struct sched_param sp = {.sched_priority = 0};
	cpu_set_t set;

	val("policy", sched_getscheduler(0));
	val("fifo max", sched_get_priority_max(SCHED_FIFO));
	val("fifo min", sched_get_priority_min(SCHED_FIFO));
	val("other max", sched_get_priority_max(SCHED_OTHER));
	ok("fifo with 0", sched_setscheduler(0, SCHED_FIFO, &sp));
	sp.sched_priority = 10;
	ok("fifo", sched_setscheduler(0, SCHED_FIFO, &sp));
	val("policy", sched_getscheduler(0));
	sp.sched_priority = 0;
	ok("other", sched_setscheduler(0, SCHED_OTHER, &sp));
	ok("bad policy", sched_setscheduler(0, 77, &sp));
	CPU_ZERO(&set);
	CPU_SET(0, &set);
	ok("affinity", sched_setaffinity(0, sizeof(set), &set));
	val("cpu", sched_getcpu());
	need("get", sched_getaffinity(0, sizeof(set), &set));
	val("cpus", CPU_COUNT(&set));
	CPU_ZERO(&set);
	ok("empty", sched_setaffinity(0, sizeof(set), &set));
	ok("short buffer", syscall(SYS_sched_getaffinity, 0, 1, &set));
	val("raw size", syscall(SYS_sched_getaffinity, 0, 128, &set));
	val("nice", nice(5));
	errno = 0;
	val("priority", getpriority(PRIO_PROCESS, 0));
	ok("yield", sched_yield());
	ok("nobody", sched_getscheduler(99999));
}

CHECK(affinity_moves)
{
	cpu_set_t set;
	int wrong = 0;

	for (int i = 0; i < 40; i++) {
		CPU_ZERO(&set);
		CPU_SET(i % 4, &set);
		need("affinity", sched_setaffinity(0, sizeof(set), &set));
		wrong += sched_getcpu() != i % 4;
	}
	val("wrong cpu", wrong);
}

CHECK(names)
{
	char buf[32] = {0}, path[64];

	ok("set", prctl(PR_SET_NAME, "a-name-that-is-too-long"));
	ok("get", prctl(PR_GET_NAME, buf));
	say("%s", buf);
	int fd = open("/proc/self/comm", O_RDWR);
	memset(buf, 0, sizeof(buf));
	val("read", read(fd, buf, 31));
	say("%.*s", (int)strcspn(buf, "\n"), buf);
	val("write", write(fd, "renamed", 7));
	prctl(PR_GET_NAME, buf);
	say("%s", buf);
	snprintf(path, sizeof(path), "/proc/%d/comm", getpid());
	memset(buf, 0, sizeof(buf));
	need("read", read(open(path, O_RDONLY), buf, 31));
	say("%.*s", (int)strcspn(buf, "\n"), buf);
	ok("dumpable", prctl(PR_GET_DUMPABLE));
	ok("unknown", prctl(9999));
}

CHECK(fork_many)
{
	int ok_count = 0, status;

	for (int i = 0; i < 200; i++) {
		pid_t pid = fork();
		if (pid == 0)
			_exit(i & 63);
		need("fork", pid);
	}
	long sum = 0;
	while (wait(&status) > 0) {
		ok_count += WIFEXITED(status);
		sum += WEXITSTATUS(status);
	}
	say("%d children, sum %ld", ok_count, sum);
}
