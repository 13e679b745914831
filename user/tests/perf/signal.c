/* SPDX-License-Identifier: MIT */
/* Overflow signals: SIGIO, F_SETSIG, REFRESH, sigtrap. */
#include "ring.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>

static volatile int ins, hups, others, wrong_fd, the_fd, tid_seen;
static volatile int rearm;

static void on_signal(int sig, siginfo_t *si, void *ctx)
{
	(void)sig;
	(void)ctx;
	if (si->si_code == POLL_IN)
		ins++;
	else if (si->si_code == POLL_HUP)
		hups++;
	else
		others++;
	wrong_fd += si->si_fd != the_fd;
	tid_seen = (int)syscall(SYS_gettid);
	if (si->si_code == POLL_HUP && rearm-- > 0)
		ioctl(the_fd, PERF_EVENT_IOC_REFRESH, 1);
}

static void with_signal(int fd, int sig)
{
	struct sigaction sa = { .sa_sigaction = on_signal, .sa_flags = SA_SIGINFO };

	the_fd = fd;
	NEED(sigaction(sig ? sig : SIGIO, &sa, NULL));
	NEED(fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_ASYNC));
	if (sig)
		NEED(fcntl(fd, F_SETSIG, sig));
	NEED(fcntl(fd, F_SETOWN, getpid()));
}

static void spin_until(volatile int *what, int n)
{
	for (int i = 0; i < 400 && *what < n; i++)
		spin_ms(5);
}

TEST("signal/each_overflow", "F_SETSIG O_ASYNC", "PB-54")
{
	struct perf_event_attr a = sampling(CPU_CLOCK, 2000000, PERF_SAMPLE_IP);
	int fd = open_attr(&a);

	with_signal(fd, SIGRTMIN + 1);		/* no ring needed */
	ioc(fd, PERF_EVENT_IOC_ENABLE, 0);
	spin_ms(40);
	spin_until(&ins, 3);
	ioc(fd, PERF_EVENT_IOC_DISABLE, 0);
	EXPECT_IN(ins, 3, 22);
	EXPECT_EQ(hups + others, 0);
	EXPECT_EQ(wrong_fd, 0);
}

static volatile int plain;
static void on_plain(int sig) { (void)sig; plain++; }

TEST("signal/plain_sigio", "O_ASYNC", "fcntl(2)")
{
	struct perf_event_attr a = sampling(CPU_CLOCK, 2000000, PERF_SAMPLE_IP);
	int fd = open_attr(&a);

	signal(SIGIO, on_plain);
	NEED(fcntl(fd, F_SETFL, O_RDWR | O_ASYNC));
	NEED(fcntl(fd, F_SETOWN, getpid()));
	ioc(fd, PERF_EVENT_IOC_ENABLE, 0);
	spin_ms(20);
	spin_until(&plain, 2);
	EXPECT_IN(plain, 2, 12);
}

TEST("signal/hardware", "F_SETSIG O_ASYNC", "PB-54")
{
	struct perf_event_attr a = sampling(RAW_CYCLES, 2000000, PERF_SAMPLE_IP);
	int fd = open_attr(&a);
	u64 count;

	with_signal(fd, SIGRTMIN + 1);
	ioc(fd, PERF_EVENT_IOC_ENABLE, 0);
	spin_ms(40);
	ioc(fd, PERF_EVENT_IOC_DISABLE, 0);
	count = read_u64(fd);
	EXPECT_IN(ins, least_interrupts(count / 2000000), (long)(count / 2000000 + 1));
	EXPECT_EQ(wrong_fd, 0);
}

/* An emulator's interrupts may be late: spin until n have come, at most 2 s. */
static void refresh_budget(u32 type, u64 config)
{
	struct perf_event_attr a = sampling(type, config, 1000000, PERF_SAMPLE_IP);
	int fd = open_attr(&a);
	u64 v;

	with_signal(fd, SIGRTMIN + 1);
	ioc(fd, PERF_EVENT_IOC_REFRESH, 4);
	spin_until(&hups, 1);
	EXPECT_EQ(ins, 3);
	EXPECT_EQ(hups, 1);
	v = read_u64(fd);
	spin_ms(5);
	EXPECT_EQ(read_u64(fd), v);	/* it is off */
	ins = hups = 0;
	rearm = 20;
	ioc(fd, PERF_EVENT_IOC_REFRESH, 1);
	spin_until(&hups, 21);
	EXPECT_EQ(hups, 21);
	EXPECT_EQ(ins, 0);
	EXPECT_EQ(wrong_fd, 0);
}

TEST("signal/refresh_clock", "ioctl.REFRESH", "PB-12")
{
	refresh_budget(CPU_CLOCK);
}

TEST("signal/refresh_hardware", "ioctl.REFRESH", "PB-12")
{
	refresh_budget(RAW_CYCLES);
}

TEST("signal/refresh_ring", "ioctl.REFRESH", "PB-12")
{
	struct perf_event_attr a = sampling(CPU_CLOCK, 1000000, PERF_SAMPLE_IP);
	int fd = open_attr(&a);
	struct ring r = ring_map(fd, 1, PROT_READ | PROT_WRITE);
	struct pollfd p = { fd, POLLIN, 0 };

	ioc(fd, PERF_EVENT_IOC_REFRESH, 3);
	spin_filled(&r, 3 * 16);
	spin_ms(5);
	EXPECT_EQ(ring_count(&r, PERF_RECORD_SAMPLE), 3);
	poll(&p, 1, 0);
	EXPECT(!(p.revents & POLLHUP), "POLLHUP at the end of the budget");
	ioc(fd, PERF_EVENT_IOC_REFRESH, 2);
	ioc(fd, PERF_EVENT_IOC_REFRESH, 2);
	spin_filled(&r, 4 * 16);
	spin_ms(5);
	EXPECT_EQ(ring_count(&r, PERF_RECORD_SAMPLE), 4);
}

TEST("signal/refresh_refused", "ioctl.REFRESH", "PB-12")
{
	struct perf_event_attr a = sampling(CPU_CLOCK, 1000000, PERF_SAMPLE_IP);
	int counting = open_self(CPU_CLOCK);

	EXPECT_ERR(ioctl(counting, PERF_EVENT_IOC_REFRESH, 1), EINVAL);
	a.inherit = 1;
	EXPECT_ERR(ioctl(open_attr(&a), PERF_EVENT_IOC_REFRESH, 1), EINVAL);
}

static void *second_thread(void *unused)
{
	struct perf_event_attr a = sampling(CPU_CLOCK, 1000000, PERF_SAMPLE_IP);
	struct f_owner_ex own = { F_OWNER_TID, (pid_t)syscall(SYS_gettid) };
	int fd = open_attr(&a);

	(void)unused;
	with_signal(fd, SIGRTMIN + 1);
	NEED(fcntl(fd, F_SETOWN_EX, &own));
	ioc(fd, PERF_EVENT_IOC_ENABLE, 0);
	for (int i = 0; i < 20 || (i < 2000 && ins <= 5); i++) {
		spin_ms(1);
		EXPECT(!tid_seen || tid_seen == own.pid, "handler ran in %d, not in %d", tid_seen, own.pid);
	}
	EXPECT(ins > 5, "%d signals", ins);
	return NULL;
}

TEST("signal/owner_tid", "F_SETOWN_EX", "PB-54")
{
	pthread_t t;

	NEED(-pthread_create(&t, NULL, second_thread, NULL));
	pthread_join(t, NULL);
}

/* A watermark passed by side-band records signals, too. */
TEST("signal/watermark", "attr.watermark O_ASYNC", "kernel selftest perf_events/watermark_signal")
{
	struct perf_event_attr a = attr_of(DUMMY);
	pid_t kid;
	int fd, go[2];
	char c = 0;

	NEED(pipe(go));
	kid = fork();
	if (!kid) {
		if (read(go[0], &c, 1) != 1)
			_exit(1);
		for (int i = 0; i < 200; i++) {
			void *p = mmap(NULL, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

			munmap(p, PAGE);
		}
		_exit(0);
	}
	a.mmap = 1;
	a.sample_type = PERF_SAMPLE_TID;
	a.sample_period = 1;
	a.watermark = 1;
	a.wakeup_watermark = 256;
	NEED(fd = perf_open(&a, kid, -1, -1, 0));
	ring_map(fd, 1, PROT_READ | PROT_WRITE);
	with_signal(fd, SIGRTMIN + 1);
	NEED(write(go[1], &c, 1));
	while (waitpid(kid, NULL, 0) < 0 && errno == EINTR)
		;
	EXPECT(ins > 2, "%d signals", ins);
	EXPECT_EQ(wrong_fd, 0);
}

/* --- sigtrap ---------------------------------------------------------------------------------------------- */

#ifndef TRAP_PERF
#define TRAP_PERF 6
#endif
/* siginfo of TRAP_PERF on 64 bit: addr, data, type, flags */
struct trap_info { int signo, err, code, pad; u64 addr, data; u32 type, flags; };

static volatile int traps, traps_at_wanted, sync_traps;
static volatile u64 wanted_addr;
static volatile struct trap_info last_trap;

static void on_trap(int sig, siginfo_t *si, void *ctx)
{
	(void)sig;
	(void)ctx;
	memcpy((void *)&last_trap, si, sizeof(last_trap));
	sync_traps += !last_trap.flags;
	traps++;
	traps_at_wanted += last_trap.addr == wanted_addr;
}

static struct perf_event_attr trap_attr(u32 type, u64 config, u64 period)
{
	struct perf_event_attr a = sampling(type, config, period, 0);

	a.sigtrap = 1;
	a.remove_on_exec = 1;
	a.exclude_kernel = 1;
	a.exclude_hv = 1;
	a.sig_data = 0x1234567890;
	return a;
}

static void catch_trap(void)
{
	struct sigaction sa = { .sa_sigaction = on_trap, .sa_flags = SA_SIGINFO };

	NEED(sigaction(SIGTRAP, &sa, NULL));
}

TEST("signal/sigtrap_clock", "attr.sigtrap attr.sig_data", "kernel selftest perf_events/sigtrap_threads")
{
	struct perf_event_attr a = trap_attr(CPU_CLOCK, 2000000);
	int fd = open_attr(&a);

	catch_trap();
	ioc(fd, PERF_EVENT_IOC_ENABLE, 0);
	spin_ms(40);
	spin_until(&traps, 2);
	ioc(fd, PERF_EVENT_IOC_DISABLE, 0);
	EXPECT_IN(traps, 2, 22);
	EXPECT_EQ(last_trap.code, TRAP_PERF);
	EXPECT_EQ(last_trap.data, a.sig_data);
	EXPECT_EQ(last_trap.type, PERF_TYPE_SOFTWARE);
	EXPECT(sync_traps > 0, "all are asynchronous");	/* the handler's own are */
}

TEST("signal/sigtrap_hardware", "attr.sigtrap", "kernel selftest perf_events/sigtrap_threads")
{
	struct perf_event_attr a = trap_attr(RAW_CYCLES, 2000000);
	int fd = open_attr(&a);
	u64 n;

	catch_trap();
	ioc(fd, PERF_EVENT_IOC_ENABLE, 0);
	spin_ms(40);
	ioc(fd, PERF_EVENT_IOC_DISABLE, 0);
	n = read_u64(fd) / 2000000;
	EXPECT_IN(traps, least_interrupts(n), (long)n + 1);
	EXPECT_EQ(last_trap.type, PERF_TYPE_RAW);
}

TEST("signal/sigtrap_fault_addr", "attr.sigtrap", "Linux 6.12")
{
	struct perf_event_attr a = trap_attr(FAULTS, 1);
	char *p = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int fd;

	a.sample_type = PERF_SAMPLE_ADDR;
	fd = open_attr(&a);
	catch_trap();
	wanted_addr = (u64)p + 16;
	ioc(fd, PERF_EVENT_IOC_ENABLE, 0);
	p[16] = 1;
	ioc(fd, PERF_EVENT_IOC_DISABLE, 0);
	EXPECT_EQ(traps_at_wanted, 1);	/* the handler faults, too */
}

TEST("signal/sigtrap_refused", "attr.sigtrap", "Linux 6.12")
{
	struct perf_event_attr a = trap_attr(CPU_CLOCK, 2000000);

	EXPECT_ERR(perf_open(&a, -1, 0, -1, 0), EINVAL);	/* needs a task */
	a.remove_on_exec = 0;
	EXPECT_ERR(perf_open(&a, 0, -1, -1, 0), EINVAL);
}

#ifndef CLONE_CLEAR_SIGHAND
#define CLONE_CLEAR_SIGHAND 0x100000000ull
#endif

/* A child that spins: how it ended. flags: of clone3. */
static int spinning_child(u64 flags)
{
	u64 args[8] = { flags, 0, 0, 0, SIGCHLD };
	int status;
	pid_t kid = (pid_t)syscall(SYS_clone3, args, sizeof(args));

	NEED(kid);
	if (!kid) {
		traps = 0;
		spin_ms(20);
		_exit(traps ? 42 : 0);
	}
	NEED(waitpid(kid, &status, 0));
	return status;
}

TEST("signal/sigtrap_inherit", "attr.sigtrap attr.inherit", "kernel selftest perf_events/remove_on_exec")
{
	struct perf_event_attr a = trap_attr(CPU_CLOCK, 2000000);
	int status, fd;

	a.inherit = 1;
	fd = open_attr(&a);
	catch_trap();
	ioc(fd, PERF_EVENT_IOC_ENABLE, 0);
	status = spinning_child(0);
	EXPECT(WIFEXITED(status) && WEXITSTATUS(status) == 42, "with the handler: status %x", status);
	status = spinning_child(CLONE_CLEAR_SIGHAND);	/* it would die of the first one */
	EXPECT(WIFEXITED(status) && WEXITSTATUS(status) == 0, "without: status %x", status);
}

TEST("signal/sigtrap_threads", "attr.sigtrap attr.inherit_thread", "kernel selftest perf_events/sigtrap_threads")
{
	struct perf_event_attr a = trap_attr(CPU_CLOCK, 1000000);
	pid_t kid;
	int fd;

	a.inherit = 1;
	a.inherit_thread = 1;
	fd = open_attr(&a);
	catch_trap();
	ioc(fd, PERF_EVENT_IOC_ENABLE, 0);
	kid = fork();		/* not inherited by a process */
	if (!kid) {
		traps = 0;
		spin_ms(10);
		_exit(traps != 0);
	}
	reap(kid);
	ioc(fd, PERF_EVENT_IOC_DISABLE, 0);
}
