/* SPDX-License-Identifier: MIT */
/* Clocks, sleeping and timers. */
#include "check.h"
#include <fcntl.h>
#include <signal.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>

CHECK(clocks)
{
	static const int id[] = {CLOCK_REALTIME, CLOCK_MONOTONIC, CLOCK_PROCESS_CPUTIME_ID, CLOCK_THREAD_CPUTIME_ID,
		CLOCK_MONOTONIC_RAW, CLOCK_REALTIME_COARSE, CLOCK_MONOTONIC_COARSE, CLOCK_BOOTTIME, 10, 11, 12, 99, -1};
	struct timespec ts;

	for (int i = 0; i < sizeof(id) / sizeof(*id); i++) {
		char what[32];
		snprintf(what, sizeof(what), "clock %d", id[i]);
		ok(what, syscall(SYS_clock_gettime, id[i], &ts));
	}
	ok("resolution", clock_getres(CLOCK_MONOTONIC, &ts));
	say("%ld ns", ts.tv_nsec);
	ok("bad pointer", syscall(SYS_clock_gettime, CLOCK_MONOTONIC, 8));
	ok("gettimeofday", gettimeofday(&(struct timeval){0}, NULL));
	is("after 2020", time(NULL) > 1577836800 || time(NULL) < 1577836800);
	is("vdso", getauxval(AT_SYSINFO_EHDR) != 0);
}

CHECK(clocks_agree)
{
	struct timespec a, b, raw;
	long back = 0;

	clock_gettime(CLOCK_MONOTONIC, &a);
	for (int i = 0; i < 100000; i++) {
		clock_gettime(CLOCK_MONOTONIC, &b);
		back += b.tv_sec < a.tv_sec || (b.tv_sec == a.tv_sec && b.tv_nsec < a.tv_nsec);
		a = b;
	}
	val("steps back", back);
	syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &raw);
	clock_gettime(CLOCK_MONOTONIC, &b);
	long d = (b.tv_sec - raw.tv_sec) * 1000 + (b.tv_nsec - raw.tv_nsec) / 1000000;
	is("call and vdso agree", d >= 0 && d < 100);
}

CHECK(cpu_clocks)
{
	struct timespec a, b;
	clockid_t id;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &a);
	sleep_ms(200);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &b);
	long ms = (b.tv_sec - a.tv_sec) * 1000 + (b.tv_nsec - a.tv_nsec) / 1000000;
	is("sleeping costs nothing", ms < 100);
	a = b;
	do
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &b);
	while ((b.tv_sec - a.tv_sec) * 1000 + (b.tv_nsec - a.tv_nsec) / 1000000 < 50);
	is("working does", 1);
	ok("of another process", clock_getcpuclockid(1, &id) ? -1 : 0);
	ok("read it", clock_gettime(id, &a));
}

CHECK(sleeping)
{
	struct timespec ts = {0, 50000000};
	long t0 = now_ms();

	ok("nanosleep", nanosleep(&ts, NULL));
	is("slept", now_ms() - t0 >= 50);
	ts.tv_nsec = 1000000000;
	ok("bad nanoseconds", nanosleep(&ts, NULL));
	ts = (struct timespec){-1, 0};
	ok("negative", nanosleep(&ts, NULL));
	ok("bad pointer", syscall(SYS_nanosleep, 8, NULL));
	clock_gettime(CLOCK_MONOTONIC, &ts);
	ok("absolute past", clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL) ? -1 : 0);
	ts.tv_sec += 0;
	ts.tv_nsec += 30000000;
	if (ts.tv_nsec >= 1000000000) {
		ts.tv_sec++;
		ts.tv_nsec -= 1000000000;
	}
	ok("absolute", clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL) ? -1 : 0);
	val("bad clock", clock_nanosleep(77, 0, &ts, NULL));
	val("thread clock", clock_nanosleep(CLOCK_THREAD_CPUTIME_ID, 0, &ts, NULL));
}

CHECK(short_sleeps_are_short)
{
	struct timespec ts = {0, 100000};
	long t0 = now_ms();

	for (int i = 0; i < 100; i++)
		nanosleep(&ts, NULL);
	long ms = now_ms() - t0;
	is("at least 10 ms", ms >= 10);
	is("below 400 ms: no tick", ms < 400);
}

static volatile sig_atomic_t ticks;

static void tick(int sig)
{
	ticks++;
}

CHECK(itimer_real)
{
	struct itimerval it = {{0, 10000}, {0, 10000}}, old;

	signal(SIGALRM, tick);
	ok("set", setitimer(ITIMER_REAL, &it, NULL));
	while (ticks < 5)
		pause();
	is("ticks", ticks >= 5);
	ok("get", getitimer(ITIMER_REAL, &old));
	val("interval", old.it_interval.tv_usec);
	ok("clear", setitimer(ITIMER_REAL, &(struct itimerval){0}, &old));
	int n = ticks;
	sleep_ms(50);
	is("quiet", ticks == n);
	it.it_value.tv_usec = 1000000;
	ok("bad", setitimer(ITIMER_REAL, &it, NULL));
	ok("bad which", setitimer(9, &it, NULL));
	val("alarm", alarm(100));
	val("alarm again", alarm(0));
}

CHECK(itimer_cpu)
{
	struct itimerval it = {{0, 20000}, {0, 20000}};

	signal(SIGVTALRM, tick);
	signal(SIGPROF, tick);
	ok("virtual", setitimer(ITIMER_VIRTUAL, &it, NULL));
	long end = now_ms() + 5000;
	while (ticks < 3 && now_ms() < end)
		;
	is("virtual ticks", ticks >= 3);
	setitimer(ITIMER_VIRTUAL, &(struct itimerval){0}, NULL);
	ticks = 0;
	ok("prof", setitimer(ITIMER_PROF, &it, NULL));
	while (ticks < 3 && now_ms() < end)
		;
	is("prof ticks", ticks >= 3);
}

CHECK(posix_timers)
{
	timer_t t;
	struct sigevent ev = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGRTMIN, .sigev_value.sival_int = 5};
	struct itimerspec it = {{0, 10000000}, {0, 10000000}}, old;

	signal(SIGRTMIN, tick);
	ok("create", timer_create(CLOCK_MONOTONIC, &ev, &t));
	ok("set", timer_settime(t, 0, &it, NULL));
	while (ticks < 3)
		pause();
	is("ticks", ticks >= 3);
	ok("get", timer_gettime(t, &old));
	val("interval", old.it_interval.tv_nsec);
	sigset_t set;
	sigemptyset(&set);
	sigaddset(&set, SIGRTMIN);
	sigprocmask(SIG_BLOCK, &set, NULL);
	sleep_ms(100);
	siginfo_t si;
	sigwaitinfo(&set, &si);
	say("code %d value %d", si.si_code, si.si_value.sival_int);
	is("overrun", timer_getoverrun(t) >= 3);
	ok("delete", timer_delete(t));
	ok("delete again", timer_delete(t));
	ev.sigev_signo = 99;
	ok("bad signal", timer_create(CLOCK_MONOTONIC, &ev, &t));
	ok("bad clock", timer_create(77, NULL, &t));
}

CHECK(posix_timer_thread)
{
	timer_t t;
	struct sigevent ev = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGUSR1};
	struct itimerspec it = {{0, 0}, {0, 10000000}};

	signal(SIGUSR1, tick);
	ev._sigev_un._tid = gettid();
	ok("create", timer_create(CLOCK_REALTIME, &ev, &t));
	ok("set", timer_settime(t, 0, &it, NULL));
	while (!ticks)
		pause();
	val("once", ticks);
	ev.sigev_notify = SIGEV_NONE;
	ok("none", timer_create(CLOCK_MONOTONIC, &ev, &t));
}

CHECK(settime)
{
	struct timespec ts = {1700000000, 0}, now;

	ok("set", clock_settime(CLOCK_REALTIME, &ts));
	clock_gettime(CLOCK_REALTIME, &now);
	is("set", now.tv_sec - 1700000000 < 5);
	ok("monotonic", clock_settime(CLOCK_MONOTONIC, &ts));
	setuid(1000);
	ok("as user", clock_settime(CLOCK_REALTIME, &ts));
}
