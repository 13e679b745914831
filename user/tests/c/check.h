/* SPDX-License-Identifier: MIT */
/*
 * Checks: small functions that print what the kernel did. What they print on Linux is recorded in
 * user/tests/expected and must be the same on Perch, so nothing printed may depend on pids, addresses or time.
 *
 *	CHECK(pipe_eof) { ... ok("pipe", pipe(fd)); val("read at end", read(fd[0], buf, 1)); }
 *
 * Each check runs in a process of its own (checks NAME), in an empty directory, with /dev/null as input.
 */
#ifndef PERCH_TESTS_CHECK_H
#define PERCH_TESTS_CHECK_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct check {
	const char *name;
	const char *file;
	int line;
	void (*run)(void);
};

#define CHECK(fn)                                                                                  \
	static void fn(void);                                                                      \
	static const struct check check_##fn = {#fn, __FILE__, __LINE__, fn};                      \
	static const struct check *const check_p_##fn                                              \
		__attribute__((used, section("checks"))) = &check_##fn;                            \
	static void fn(void)

/* Prints "what: ok" for a result >= 0, else the name of errno. Returns the result. */
long ok(const char *what, long result);
/* The same with the value instead of ok. */
long val(const char *what, long result);
/* Prints "what: yes" or "what: no". */
void is(const char *what, int truth);
/* A line of its own. */
void say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* Ends the check when what it stands on does not work. */
void need(const char *what, long result);

/* Waits for the child and prints how it ended: "what: exit 3", "what: signal 9". Returns the status word. */
int reap(const char *what, pid_t pid);
/* Run fn in a child and print how it ended. */
void in_child(const char *what, void (*fn)(void));
/* Milliseconds of the monotonic clock; sleeping. */
long now_ms(void);
void sleep_ms(long ms);
/* Waits (at most 10 s) until *flag is at least n. */
int wait_for(volatile int *flag, int n);

#endif
