/* SPDX-License-Identifier: MIT */
/*
 * The benchmark of perf's system calls and of what open events cost everything else. The same
 * binary runs on Perch and on Linux; scripts/bench boots both and prints the tables.
 *
 *	BENCH("read", 30)
 *	{
 *		int fd = event_open(...);
 *		report(ROW_PERF, "read.hw1", LEAST(time_of_reads(fd)));
 *	}
 *
 * Each BENCH runs in a process of its own, pinned to CPU 0, in the order of the number. A row is
 * one line:
 *
 *	bench <kind> <name> <value> <unit>
 *
 * with tabs between; if the value is "NA", the unit is the reason.
 *
 * Under `-icount shift=0 -smp 1` a nanosecond of the counter is one instruction (or idle time), so
 * the numbers are exact: the least of several rounds is what the operation costs once caches of
 * the kernel's allocators are warm.
 */
#ifndef PBENCH_H
#define PBENCH_H

#define _GNU_SOURCE
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/types.h>

enum row_kind {
	ROW_PERF,	/* an operation of perf, or another one while events are open */
	ROW_BASE,	/* the same operation while nobody uses perf, or no perf at all */
	ROW_USER,	/* user code: the same instructions on both kernels */
	ROW_WAIT,	/* an operation of perf that waits: idle time counts as instructions */
	ROW_INFO,	/* a size, or a check of the other rows */
};

struct bench {
	const char *name;
	int order;
	void (*run)(void);
};

#define PASTE2(a, b) a##b
#define PASTE(a, b) PASTE2(a, b)
#define BENCH(name, order)							\
	static void PASTE(run_, __LINE__)(void);				\
	static const struct bench PASTE(b_, __LINE__) =				\
		{ name, order, PASTE(run_, __LINE__) };				\
	static const struct bench *const PASTE(p_, __LINE__)			\
		__attribute__((used, section("benches"))) = &PASTE(b_, __LINE__);	\
	static void PASTE(run_, __LINE__)(void)

#define ROUNDS 5
/* The least of ROUNDS values of the expression, after one that only warms up. */
#define LEAST(expr) ({								\
	double least_ = (expr);							\
	least_ = (expr);							\
	for (int r_ = 1; r_ < ROUNDS; r_++) {					\
		double v_ = (expr);						\
										\
		least_ = v_ < least_ ? v_ : least_;				\
	}									\
	least_; })

/* main.c */
void report(enum row_kind kind, const char *name, double ns);
void report_unit(enum row_kind kind, const char *name, double value, const char *unit);
/* The row cannot be had here; errno says why if what failed is a system call. */
void report_none(const char *name, const char *why);

/* util.c */
/* Nanoseconds of the counter that user code reads: no system call, on both kernels. */
double now(void);
struct perf_event_attr attr_of(uint32_t type, uint64_t config);
int perf_open(const struct perf_event_attr *a, pid_t pid, int cpu, int group);
/* The same, but it ends the program with a row "NA" called name if it fails. */
int must_open(const char *name, const struct perf_event_attr *a, pid_t pid, int cpu, int group);
void must(const char *name, const char *what, long result);
/*
 * n events on pid (alternating between two that QEMU's counters have; inherited if told), fds into
 * fd.
 */
void open_many(const char *name, int *fd, int n, pid_t pid, bool inherit, bool group);
void close_many(const int *fd, int n);
/* Map a ring of that many data pages of event fd. */
void *map_ring(const char *name, int fd, unsigned int pages);
void unmap_ring(void *ring, unsigned int pages);
void pin(pid_t pid, int cpu);
/* Computes, and never enters the kernel. */
void spin(long rounds);
/* A process that runs fn(arg) pinned to cpu until end_child. */
pid_t start_child(int cpu, void (*fn)(void *), void *arg);
void end_child(pid_t pid);
/* At least two CPUs; else says so in the row. */
bool need_two_cpus(const char *name);

#define RAW_CYCLES 0x11		/* events of the Arm PMU that QEMU counts */
#define RAW_INSTRUCTIONS 0x08

#endif
