/* SPDX-License-Identifier: MIT */
/*
 * The regression suite of the perf system calls: one behaviour each, judged by the test itself, the same on
 * Linux and on Perch (Linux is the referee: a test that Linux fails is wrong).
 *
 *	TEST("mux/all_run", "attr.type ioctl.ENABLE", "PB-01")
 *	{
 *		int fd = open_self(RAW_CYCLES);
 *		spin_ms(300);
 *		EXPECT(read_u64(fd) > 0, "the event counts nothing");
 *	}
 *
 * The second string names what of the ABI it shows (COVERAGE.md is made from these), the third where the
 * behaviour comes from. Each test runs in a process of its own with a time limit; `ptest` runs all,
 * `ptest mux` an area, `ptest mux/all_run` one, `ptest -l` lists.
 */
#ifndef PTEST_H
#define PTEST_H

#define _GNU_SOURCE
#include <errno.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

typedef uint64_t u64;
typedef int64_t s64;
typedef uint32_t u32;

struct ptest {
	const char *name, *covers, *source;
	void (*run)(void);
};

#define PASTE2(a, b) a##b
#define PASTE(a, b) PASTE2(a, b)
#define TEST(name, covers, source)						\
	static void PASTE(run_, __LINE__)(void);				\
	static const struct ptest PASTE(t_, __LINE__) =				\
		{ name, covers, source, PASTE(run_, __LINE__) };		\
	static const struct ptest *const PASTE(p_, __LINE__)			\
		__attribute__((used, section("ptests"))) = &PASTE(t_, __LINE__);	\
	static void PASTE(run_, __LINE__)(void)

/* In a child: has anything failed here? For its exit status. */
bool test_failed(void);
/* Say what was got and what is right, and go on; the test fails. */
void test_fail(const char *file, int line, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* End the test: something it stands on is missing here (say what). */
void test_skip(const char *fmt, ...) __attribute__((format(printf, 1, 2), noreturn));
#define EXPECT(cond, ...) ((cond) ? (void)0 : test_fail(__FILE__, __LINE__, __VA_ARGS__))
/* Two integers must be equal. */
#define EXPECT_EQ(got, right) do {						\
	long long g_ = (long long)(got), r_ = (long long)(right);		\
	if (g_ != r_)								\
		test_fail(__FILE__, __LINE__, "%s is %lld, right is %lld", #got, g_, r_);	\
	} while (0)
/* got within lo..hi. */
#define EXPECT_IN(got, lo, hi) do {						\
	long long g_ = (long long)(got), l_ = (long long)(lo), h_ = (long long)(hi);	\
	if (g_ < l_ || g_ > h_)							\
		test_fail(__FILE__, __LINE__, "%s is %lld, right is %lld..%lld", #got, g_, l_, h_);	\
	} while (0)
/* A call must fail with this errno. */
#define EXPECT_ERR(call, err) do {						\
	errno = 0;								\
	long r_ = (call);							\
	int e_ = errno;								\
	if (r_ != -1 || e_ != (err))						\
		test_fail(__FILE__, __LINE__, "%s: result %ld errno %d (%s), right is -1 errno %d",	\
			  #call, r_, e_, strerror(e_), err);			\
	} while (0)
/* What the rest of the test stands on. */
void need_(const char *file, int line, const char *what, long result);
#define NEED(call) need_(__FILE__, __LINE__, #call, (long)(call))

/* CPU cycles by raw number: the one hardware event that counts in QEMU without icount. */
#define RAW_CYCLES	PERF_TYPE_RAW, 0x11
#define TASK_CLOCK	PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK
#define CPU_CLOCK	PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK

struct perf_event_attr attr_of(u32 type, u64 config);
int perf_open(const struct perf_event_attr *a, pid_t pid, int cpu, int group, unsigned long flags);
int open_self(u32 type, u64 config);	/* pid 0, any cpu, enabled; ends the test if refused */
/* attr_of + disabled, inherit and a read format */
int open_with(u32 type, u64 config, u64 read_format, bool disabled, bool inherit);

struct times { u64 value, enabled, running; };
#define RF_TIMES (PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING)
u64 read_u64(int fd);			/* read_format 0 */
struct times read_times(int fd);	/* read_format RF_TIMES */

u64 now_ns(void);			/* CLOCK_MONOTONIC */
u64 thread_cpu_ns(void);		/* CLOCK_THREAD_CPUTIME_ID */
void spin_ms(unsigned ms);		/* burns CPU time of this thread, not wall time */
void spin_loops(u64 n);			/* a fixed number of instructions without a system call */
void nap_ms(unsigned ms);
int run_child(void (*fn)(void *), void *arg);	/* fork, run, exit 0: its pid */
void reap(pid_t pid);
/* Run a program, arguments up to NULL: its exit status (-1: it ended otherwise), what it printed in out. */
int run_program(char *out, size_t size, const char *path, ...) __attribute__((sentinel));
int nr_cpus(void);
void pin(int cpu);
long read_long(const char *path);	/* -1 if it cannot be read */
int write_long(const char *path, long v);
/* A file of the CPU's PMU in sysfs, whatever the PMU is called; of several PMUs the first, which has the generic
 * events. Static; "" if there is none. */
const char *pmu_file(const char *name);
bool has_event(u32 type, u64 config);	/* can be opened */

/* QEMU runs with -icount: a virtual nanosecond is an instruction, and only then there is an instructions event. */
bool exact_time(void);
/*
 * Percent by which equal members of a group may differ. With icount (then instructions count) virtual time
 * stands still between two register accesses; without it QEMU's clock runs on while a busy host has the
 * virtual CPU wait between them.
 */
u64 skew_percent(void);
/* Of so many overflows that are due, how many interrupts must have come: without icount a busy host may let a virtual CPU stand
 * still, and then one interrupt stands for many periods. */
u64 least_interrupts(u64 due);

#define PARANOID "/proc/sys/kernel/perf_event_paranoid"
#define USER_ACCESS "/proc/sys/kernel/perf_user_access"

#endif
