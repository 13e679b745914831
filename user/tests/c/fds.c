/* SPDX-License-Identifier: MIT */
/* Descriptors: dup, pipes, poll, select, epoll, eventfd, timerfd, signalfd, socketpair. */
#include "check.h"
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/wait.h>

CHECK(dup_family)
{
	int p[2];

	need("pipe", pipe(p));
	val("dup", dup(p[0]));
	val("dup2", dup2(p[0], 20));
	val("dup2 to itself", dup2(20, 20));
	val("dup2 of a closed fd to itself", dup2(33, 33));
	val("dup3 to itself", dup3(20, 20, 0));
	val("dup3 cloexec", dup3(20, 21, O_CLOEXEC));
	val("flags", fcntl(21, F_GETFD));
	val("dup3 bad flag", dup3(20, 22, 1));
	val("dup2 too high", dup2(p[0], 100000000));
	ok("close", close(20));
	ok("close again", close(20));
	val("lowest is reused", dup(p[0]));
	ok("close_range", close_range(3, ~0u, 0));
	ok("all closed", fcntl(p[0], F_GETFD));
}

CHECK(fd_limit)
{
	struct rlimit rl = {16, 16};
	int n = 0, fd;

	need("setrlimit", setrlimit(RLIMIT_NOFILE, &rl));
	while ((fd = open("/dev/null", O_RDONLY)) >= 0)
		n = fd;
	say("last fd %d, then %s", n, strerrorname_np(errno));
	ok("pipe", pipe((int[2]){0}));
	ok("dup2 above", dup2(0, 16));
}

CHECK(pipe_basics)
{
	int p[2];
	char buf[32] = {0};

	need("pipe", pipe(p));
	val("write", write(p[1], "hello", 5));
	int avail = 0;
	ok("FIONREAD", ioctl(p[0], FIONREAD, &avail));
	val("available", avail);
	val("read", read(p[0], buf, 3));
	val("rest", read(p[0], buf, 30));
	val("seek", lseek(p[0], 0, SEEK_SET));
	val("read the write end", read(p[1], buf, 1));
	val("write the read end", write(p[0], buf, 1));
	close(p[1]);
	val("end of file", read(p[0], buf, 1));
	need("pipe", pipe2(p, O_NONBLOCK));
	val("would block", read(p[0], buf, 1));
	signal(SIGPIPE, SIG_IGN);
	close(p[0]);
	val("broken", write(p[1], "x", 1));
	signal(SIGPIPE, SIG_DFL);
	pid_t pid = fork();
	if (pid == 0) {
		if (write(p[1], "x", 1))
			_exit(1);
		_exit(0);
	}
	reap("writer", pid);
	ok("bad flags", pipe2(p, 0x40));
	ok("bad pointer", syscall(SYS_pipe2, 8, 0));
}

CHECK(pipe_capacity)
{
	int p[2];
	long total = 0, n;
	static char buf[8192];

	need("pipe", pipe2(p, O_NONBLOCK));
	while ((n = write(p[1], buf, sizeof(buf))) > 0)
		total += n;
	val("capacity", total);
	val("size", fcntl(p[0], F_GETPIPE_SZ));
	val("set size", fcntl(p[0], F_SETPIPE_SZ, 131072));
	val("more fits", write(p[1], buf, sizeof(buf)));
	val("read", read(p[0], buf, sizeof(buf)));
	struct pollfd pf = {p[1], POLLOUT, 0};
	val("poll out", poll(&pf, 1, 0));
}

CHECK(pipe_atomic_writes)
{
	int p[2], bad = 0, blocks = 0;
	char buf[1000];

	need("pipe", pipe(p));
	for (int k = 0; k < 4; k++)
		if (fork() == 0) {
			memset(buf, 'a' + k, sizeof(buf));
			for (int i = 0; i < 100; i++)
				need("write", write(p[1], buf, sizeof(buf)));
			_exit(0);
		}
	close(p[1]);
	for (;;) {
		size_t got = 0;
		ssize_t n;
		while (got < sizeof(buf) && (n = read(p[0], buf + got, sizeof(buf) - got)) > 0)
			got += n;
		if (got < sizeof(buf))
			break;
		blocks++;
		for (size_t i = 1; i < got; i++)
			bad += buf[i] != buf[0];
	}
	val("blocks", blocks);
	val("mixed bytes", bad);
}

static void *late_writer(void *arg)
{
	sleep_ms(100);
	need("write", write(*(int *)arg, "x", 1));
	return NULL;
}

CHECK(poll_events)
{
	int p[2], q[2];
	pthread_t t;

	need("pipe", pipe(p));
	need("pipe", pipe(q));
	struct pollfd pf[3] = {{p[0], POLLIN, 0}, {p[1], POLLOUT, 0}, {-1, POLLIN, 0}};
	val("poll", poll(pf, 3, 0));
	say("%x %x %x", pf[0].revents, pf[1].revents, pf[2].revents);
	val("timeout", poll(pf, 1, 30));
	pthread_create(&t, NULL, late_writer, &p[1]);
	long t0 = now_ms();
	val("wakes", poll(pf, 1, 5000));
	is("before the timeout", now_ms() - t0 < 4000);
	pthread_join(t, NULL);
	close(p[1]);
	val("hang up", poll(pf, 1, 0));
	say("%x", pf[0].revents);
	struct pollfd w = {q[1], POLLOUT, 0};
	close(q[0]);
	val("no reader", poll(&w, 1, 0));
	say("%x", w.revents);
	w.fd = 77;
	val("bad fd", poll(&w, 1, 0));
	say("%x", w.revents);
	val("nothing", poll(NULL, 0, 10));
	val("bad pointer", poll((void *)8, 1, 0));
	val("too many", syscall(SYS_ppoll, pf, 10000000, NULL, NULL, 8));
	struct timespec bad = {0, -1};
	val("bad time", ppoll(pf, 1, &bad, NULL));
}

static void on_signal(int sig)
{
}

CHECK(ppoll_mask)
{
	sigset_t block, none;
	struct sigaction sa = {.sa_handler = on_signal};

	sigemptyset(&none);
	sigemptyset(&block);
	sigaddset(&block, SIGUSR1);
	sigaction(SIGUSR1, &sa, NULL);
	sigprocmask(SIG_BLOCK, &block, NULL);
	raise(SIGUSR1);
	val("mask lets it in", ppoll(NULL, 0, &(struct timespec){5, 0}, &none));
	raise(SIGUSR1);
	val("blocked", ppoll(NULL, 0, &(struct timespec){0, 20000000}, NULL));
}

CHECK(select_sets)
{
	int p[2];
	fd_set r, w;
	struct timeval tv = {0, 20000};

	need("pipe", pipe(p));
	FD_ZERO(&r);
	FD_ZERO(&w);
	FD_SET(p[0], &r);
	FD_SET(p[1], &w);
	val("select", select(p[1] + 1, &r, &w, NULL, &tv));
	say("%d %d", !!FD_ISSET(p[0], &r), !!FD_ISSET(p[1], &w));
	FD_ZERO(&r);
	FD_SET(p[0], &r);
	val("timeout", select(p[1] + 1, &r, NULL, NULL, &tv));
	FD_SET(60, &r);
	val("bad fd", select(61, &r, NULL, NULL, &tv));
	val("negative", select(-1, NULL, NULL, NULL, &tv));
	tv = (struct timeval){0, 10000};
	val("as sleep", select(0, NULL, NULL, NULL, &tv));
}

/* A pipe below instances that watch each other. */
CHECK(epoll_nested)
{
	struct epoll_event ev = {EPOLLIN, {.u64 = 1}}, got[4];
	int ep[7], p[2], made = 0;
	char c;

	ok("pipe", pipe(p));
	for (int i = 0; i < 7; i++) {
		ep[i] = epoll_create1(0);
		if (val("add", epoll_ctl(ep[i], EPOLL_CTL_ADD, i ? ep[i - 1] : p[0], &ev)) == 0 && made == i)
			made++;
	}
	val("itself", epoll_ctl(ep[0], EPOLL_CTL_ADD, ep[0], &ev));
	val("a circle", epoll_ctl(ep[0], EPOLL_CTL_ADD, ep[2], &ev));
	val("empty", epoll_wait(ep[made - 1], got, 4, 0));
	pid_t pid = fork();
	if (pid == 0) {
		sleep_ms(50);
		_exit(write(p[1], "x", 1) != 1);
	}
	val("woken through all", epoll_wait(ep[made - 1], got, 4, 5000));
	val("ready", epoll_wait(ep[made - 1], got, 4, 0));
	val("in the middle", epoll_wait(ep[1], got, 4, 0));
	reap("writer", pid);
	ok("read", read(p[0], &c, 1));
	val("empty again", epoll_wait(ep[made - 1], got, 4, 0));
	close(ep[1]);
	write(p[1], "x", 1);
	val("cut", epoll_wait(ep[made - 1], got, 4, 0));
	val("below the cut", epoll_wait(ep[0], got, 4, 0));
}

CHECK(epoll_level_and_edge)
{
	int ep = epoll_create1(0), p[2];
	struct epoll_event ev = {EPOLLIN, {.u64 = 7}}, got[4];

	need("epoll", ep);
	need("pipe", pipe(p));
	ok("add", epoll_ctl(ep, EPOLL_CTL_ADD, p[0], &ev));
	ok("add again", epoll_ctl(ep, EPOLL_CTL_ADD, p[0], &ev));
	val("empty", epoll_wait(ep, got, 4, 0));
	need("write", write(p[1], "ab", 2));
	val("ready", epoll_wait(ep, got, 4, 1000));
	say("events %x data %d", got[0].events, (int)got[0].data.u64);
	val("still ready", epoll_wait(ep, got, 4, 0));
	ev.events = EPOLLIN | EPOLLET;
	ok("edge", epoll_ctl(ep, EPOLL_CTL_MOD, p[0], &ev));
	val("once", epoll_wait(ep, got, 4, 0));
	val("not again", epoll_wait(ep, got, 4, 0));
	need("write", write(p[1], "c", 1));
	val("new data", epoll_wait(ep, got, 4, 0));
	ev.events = EPOLLIN | EPOLLONESHOT;
	ok("oneshot", epoll_ctl(ep, EPOLL_CTL_MOD, p[0], &ev));
	val("fires", epoll_wait(ep, got, 4, 0));
	val("then not", epoll_wait(ep, got, 4, 0));
	ok("delete", epoll_ctl(ep, EPOLL_CTL_DEL, p[0], NULL));
	ok("delete again", epoll_ctl(ep, EPOLL_CTL_DEL, p[0], NULL));
	ok("a file", epoll_ctl(ep, EPOLL_CTL_ADD, open("/etc/passwd", O_RDONLY), &ev));
	ok("itself", epoll_ctl(ep, EPOLL_CTL_ADD, ep, &ev));
	ok("no room", epoll_wait(ep, got, 0, 0));
	ok("not an epoll", epoll_wait(p[0], got, 1, 0));
	val("timeout", epoll_wait(ep, got, 4, 20));
}

static void *ask_often(void *ep)
{
	struct epoll_event got[4];
	long missed = 0;

	for (int i = 0; i < 20000; i++)
		missed += epoll_wait(*(int *)ep, got, 4, 0) == 0;
	return (void *)missed;
}

/* While one thread looks what is ready, another one that asks does not hear that nothing is. */
CHECK(epoll_two_threads)
{
	int ep = epoll_create1(0), p[2];
	struct epoll_event ev = {EPOLLIN, {.u64 = 7}};
	pthread_t t;
	void *theirs;
	long ours;

	need("epoll", ep);
	need("pipe", pipe(p));
	need("add", epoll_ctl(ep, EPOLL_CTL_ADD, p[0], &ev));
	need("write", write(p[1], "x", 1));
	need("thread", -pthread_create(&t, NULL, ask_often, &ep));
	ours = (long)ask_often(&ep);
	pthread_join(t, &theirs);
	/* Linux looks without a lock when it is not to wait, and may miss one. */
	is("seldom missed", ours + (long)theirs < 10);
}

CHECK(epoll_closed_fd_leaves)
{
	int ep = epoll_create1(0), p[2];
	struct epoll_event ev = {EPOLLIN, {.u64 = 1}}, got[2];

	need("pipe", pipe(p));
	need("add", epoll_ctl(ep, EPOLL_CTL_ADD, p[0], &ev));
	need("write", write(p[1], "x", 1));
	int keep = dup(p[0]);
	close(p[0]);
	val("duplicate keeps it", epoll_wait(ep, got, 2, 0));
	close(keep);
	val("gone", epoll_wait(ep, got, 2, 0));
}

CHECK(eventfd_counts)
{
	int fd = eventfd(3, EFD_NONBLOCK);
	unsigned long v = 4;

	need("eventfd", fd);
	val("write", write(fd, &v, 8));
	val("read", read(fd, &v, 8));
	val("sum", v);
	val("empty", read(fd, &v, 8));
	v = -1;
	val("too large", write(fd, &v, 8));
	val("short", read(fd, &v, 4));
	fd = eventfd(2, EFD_SEMAPHORE | EFD_NONBLOCK);
	val("semaphore", read(fd, &v, 8));
	val("one", v);
	val("two", read(fd, &v, 8));
	val("none", read(fd, &v, 8));
	ok("bad flag", eventfd(0, 1 << 20));
}

CHECK(timerfd_fires)
{
	int fd = timerfd_create(CLOCK_MONOTONIC, 0);
	struct itimerspec it = {{0, 20000000}, {0, 20000000}}, old;
	unsigned long n = 0;

	need("timerfd", fd);
	ok("arm", timerfd_settime(fd, 0, &it, NULL));
	val("read", read(fd, &n, 8));
	is("fired", n >= 1);
	sleep_ms(100);
	need("read", read(fd, &n, 8));
	is("several", n >= 3);
	ok("gettime", timerfd_gettime(fd, &old));
	val("interval", old.it_interval.tv_nsec);
	it.it_value.tv_nsec = 0;
	ok("disarm", timerfd_settime(fd, 0, &it, NULL));
	struct pollfd pf = {fd, POLLIN, 0};
	val("quiet", poll(&pf, 1, 60));
	ok("bad clock", timerfd_create(77, 0));
}

CHECK(signalfd_reads)
{
	sigset_t set;
	struct signalfd_siginfo si;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, NULL);
	int fd = signalfd(-1, &set, SFD_NONBLOCK);
	need("signalfd", fd);
	val("empty", read(fd, &si, sizeof(si)));
	kill(getpid(), SIGUSR1);
	val("read", read(fd, &si, sizeof(si)));
	say("signal %d code %d from self %d", si.ssi_signo, si.ssi_code, si.ssi_pid == (unsigned)getpid());
	val("taken", read(fd, &si, sizeof(si)));
}

CHECK(socketpair_stream)
{
	int s[2];
	char buf[16] = {0};

	need("socketpair", socketpair(AF_UNIX, SOCK_STREAM, 0, s));
	val("write", write(s[0], "ping", 4));
	val("read", read(s[1], buf, 16));
	say("%s", buf);
	val("send back", send(s[1], "pong", 4, 0));
	val("peek", recv(s[0], buf, 2, MSG_PEEK));
	val("recv", recv(s[0], buf, 16, 0));
	val("dontwait", recv(s[0], buf, 16, MSG_DONTWAIT));
	ok("shutdown", shutdown(s[0], SHUT_WR));
	val("end", read(s[1], buf, 1));
	val("broken", send(s[0], "x", 1, MSG_NOSIGNAL));
	close(s[1]);
}

/* A message over socket with fd beside it. */
static ssize_t pass_fd(int socket, int fd)
{
	char c = 'x', ctl[CMSG_SPACE(sizeof(int))] = {0};
	struct iovec io = {&c, 1};
	struct msghdr m = {.msg_iov = &io, .msg_iovlen = 1, .msg_control = ctl, .msg_controllen = sizeof(ctl)};
	struct cmsghdr *h = CMSG_FIRSTHDR(&m);

	h->cmsg_level = SOL_SOCKET;
	h->cmsg_type = SCM_RIGHTS;
	h->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(h), &fd, sizeof(int));
	return sendmsg(socket, &m, 0);
}

CHECK(socketpair_fd_passing)
{
	int s[2], p[2], fd = -1;
	char c, ctl[CMSG_SPACE(sizeof(int))] = {0}, buf[4] = {0};
	struct iovec io = {&c, 1};
	struct msghdr m = {.msg_iov = &io, .msg_iovlen = 1, .msg_control = ctl, .msg_controllen = sizeof(ctl)};
	struct cmsghdr *h;

	need("socketpair", socketpair(AF_UNIX, SOCK_STREAM, 0, s));
	need("pipe", pipe(p));
	val("sendmsg", pass_fd(s[0], p[1]));
	close(p[1]);
	val("recvmsg", recvmsg(s[1], &m, 0));
	if ((h = CMSG_FIRSTHDR(&m)))
		memcpy(&fd, CMSG_DATA(h), sizeof(int));
	val("write the passed fd", write(fd, "hi", 2));
	val("read", read(p[0], buf, 3));
	say("%s", buf);
}

/* A socket in its own queue, and a pipe behind it: nobody can reach them, and they go when another socket is closed, if
 * not before. */
CHECK(socket_through_itself)
{
	int s[2], other[2], p[2];

	need("socketpair", socketpair(AF_UNIX, SOCK_STREAM, 0, s));
	need("another", socketpair(AF_UNIX, SOCK_STREAM, 0, other));
	need("pipe", pipe(p));
	val("itself", pass_fd(s[0], s[1]));
	val("a pipe's end", pass_fd(s[0], p[1]));
	close(p[1]);
	close(s[0]);
	close(s[1]);
	struct pollfd f = {p[0], POLLIN, 0};
	close(other[0]);
	close(other[1]);
	val("the pipe has ended", poll(&f, 1, 5000));
	say("%#x", f.revents);
}

CHECK(nonblock_ioctl)
{
	int p[2], on = 1;

	need("pipe", pipe(p));
	ok("FIONBIO", ioctl(p[0], FIONBIO, &on));
	val("read", read(p[0], (char[1]){0}, 1));
	ok("FIOCLEX", ioctl(p[0], FIOCLEX));
	val("flags", fcntl(p[0], F_GETFD));
	ok("unknown", ioctl(p[0], 0x12345678, 0));
	ok("not a tty", ioctl(p[0], TIOCGWINSZ, (char[16]){0}));
	is("isatty", isatty(p[0]));
}

CHECK(splice_and_tee)
{
	int a[2], b[2];
	char buf[16] = {0};

	need("pipe", pipe(a));
	need("pipe", pipe(b));
	need("write", write(a[1], "splice", 6));
	val("splice", splice(a[0], NULL, b[1], NULL, 6, 0));
	val("read", read(b[0], buf, 16));
	say("%s", buf);
}

/* A child that waits in fn; it is given the time to get there. It dies of SIGALRM if nobody wakes it. */
static pid_t waiter(void (*fn)(int *p, int *q), int *p, int *q)
{
	pid_t pid = fork();

	if (pid == 0) {
		alarm(5);
		fn(p, q);
		_exit(0);
	}
	sleep_ms(100);
	return pid;
}

static char bytes[65536];

static void read_page(int *p, int *q)
{
	(void)q;
	_exit(read(p[0], bytes, 4096) != 4096);
}

static void write_page(int *p, int *q)
{
	(void)q;
	_exit(write(p[1], bytes, 4096) != 4096);
}

static void splice_page(int *p, int *q)
{
	_exit(splice(p[0], NULL, q[1], NULL, 4096, 0) != 4096);
}

static void tee_page(int *p, int *q)
{
	_exit(tee(p[0], q[1], 4096, 0) != 4096);
}

/* Who moves less than there is leaves the rest to the others that wait. */
CHECK(splice_among_readers)
{
	static void (*const first[])(int *, int *) = { splice_page, tee_page };

	for (int k = 0; k < 2; k++) {
		int p[2], q[2];
		pid_t a, b;

		need("pipe", pipe(p));
		need("pipe", pipe(q));
		a = waiter(first[k], p, q);
		b = waiter(read_page, p, q);
		val("write", write(p[1], bytes, 8192));
		reap("first", a);
		reap("reader", b);
	}
}

/* On the CPU of the test, and only when that sleeps. */
static void write_behind(int *p, int *q)
{
	sched_setscheduler(0, SCHED_IDLE, &(struct sched_param){ 0 });
	write_page(p, q);
}

/* The reader has taken all and sleeps again when a writer that waited for room goes on. */
CHECK(pipe_reader_waits_again)
{
	cpu_set_t one;
	int p[2];
	pid_t a;

	CPU_ZERO(&one);
	CPU_SET(0, &one);
	need("one CPU", sched_setaffinity(0, sizeof(one), &one));
	need("pipe", pipe(p));
	val("fill", write(p[1], bytes, 65536));
	a = waiter(write_behind, p, p);
	val("read", read(p[0], bytes, 65536));
	alarm(5);
	val("read", read(p[0], bytes, 65536));
	reap("writer", a);
}

CHECK(splice_among_writers)
{
	int p[2], q[2];
	pid_t a, b;

	need("pipe", pipe(p));
	need("pipe", pipe(q));
	val("fill", write(p[1], bytes, 65536));
	val("source", write(q[1], bytes, 4096));
	a = waiter(splice_page, q, p);
	b = waiter(write_page, p, q);
	val("read", read(p[0], bytes, 65536));
	reap("first", a);
	reap("writer", b);
}

/* --- a crowd at a pipe ------------------------------------------------------------------------------------ */

#define CROWD 3
#define ROUNDS 50

static struct crowd {
	int p[2], q[2];		/* the pipe, and one from which bytes are spliced into it */
	pthread_barrier_t start, end;
	volatile int left;	/* bytes of this round that nobody has read yet */
	int share[CROWD];	/* what each writer writes */
} crowd;

static unsigned next_number(unsigned *x)
{
	*x = *x * 1103515245 + 12345;
	return *x >> 8;
}

/* Pieces of all sizes, so that the pipe is empty, full and between. */
static int piece(unsigned *x, int most)
{
	static const int sizes[] = { 1, 100, 4096, 5000, 20000, 65536 };
	int n = sizes[next_number(x) % 6];

	return n < most ? n : most;
}

static void *crowd_writer(void *arg)
{
	unsigned seed = 7 + (unsigned)(long)arg;

	for (int r = 0; r < ROUNDS; r++) {
		pthread_barrier_wait(&crowd.start);
		for (int left = crowd.share[(long)arg]; left > 0;) {
			int n = piece(&seed, left), done;

			if (next_number(&seed) % 4)
				done = (int)write(crowd.p[1], bytes, (size_t)n);
			else
				done = (int)splice(crowd.q[0], NULL, crowd.p[1], NULL, (size_t)(n < 4096 ? n : 4096), 0);
			need("give", done);
			left -= done;
		}
		pthread_barrier_wait(&crowd.end);
	}
	return NULL;
}

static void *crowd_reader(void *arg)
{
	static __thread char buf[65536];
	unsigned seed = 99 + (unsigned)(long)arg;
	int own[2];

	need("pipe", pipe(own));
	for (;;) {
		int n = piece(&seed, sizeof(buf)), got;

		if (next_number(&seed) % 4) {
			got = (int)read(crowd.p[0], buf, (size_t)n);
		} else {
			got = (int)splice(crowd.p[0], NULL, own[1], NULL, 4096, 0);
			if (got > 0)
				need("own", read(own[0], buf, sizeof(buf)));
		}
		need("take", got);
		if (!got)
			return NULL;
		__atomic_sub_fetch(&crowd.left, got, __ATOMIC_SEQ_CST);
	}
}

/* Feeds the pipe from which writers splice. */
static void *crowd_feeder(void *arg)
{
	(void)arg;
	while (write(crowd.q[1], bytes, sizeof(bytes)) > 0)
		;
	return NULL;
}

/* Each round ends when all is read: whoever sleeps on for want of a wake-up keeps it from ending. */
static int crowd_round(unsigned *seed)
{
	int sum = 0;
	long end;

	for (int k = 0; k < CROWD; k++)
		sum += crowd.share[k] = (int)(next_number(seed) % 150000);
	crowd.left = sum;
	pthread_barrier_wait(&crowd.start);
	end = now_ms() + 10000;
	while (crowd.left && now_ms() < end)
		sched_yield();
	if (crowd.left)
		return 0;
	pthread_barrier_wait(&crowd.end);
	return 1;
}

CHECK(pipe_crowd)
{
	pthread_t t[2 * CROWD + 1];
	unsigned seed = 1;

	signal(SIGPIPE, SIG_IGN);
	need("pipe", pipe(crowd.p));
	need("pipe", pipe(crowd.q));
	pthread_barrier_init(&crowd.start, NULL, CROWD + 1);
	pthread_barrier_init(&crowd.end, NULL, CROWD + 1);
	for (long k = 0; k < CROWD; k++) {
		need("thread", -pthread_create(&t[k], NULL, crowd_writer, (void *)k));
		need("thread", -pthread_create(&t[CROWD + k], NULL, crowd_reader, (void *)k));
	}
	need("thread", -pthread_create(&t[2 * CROWD], NULL, crowd_feeder, NULL));
	for (int r = 0; r < ROUNDS; r++)
		if (!crowd_round(&seed)) {
			say("nobody reads the rest");
			return;
		}
	say("all is read");
	close(crowd.p[1]);
	close(crowd.q[0]);
	for (int k = 0; k < 2 * CROWD + 1; k++)
		pthread_join(t[k], NULL);
	say("all have ended");
}
