/* SPDX-License-Identifier: MIT */
/* Who may open what: perf_event_paranoid and capabilities. */
#include "ptest.h"

#include <sys/prctl.h>

#define EUSER 1000

/* As an ordinary user: errno of the open, 0 for success. */
static int try_as_user(int paranoid, const struct perf_event_attr *a, pid_t pid, int cpu)
{
	int st;

	NEED(write_long(PARANOID, paranoid));
	pid_t child = fork();

	if (!child) {
		if (setgid(EUSER) || setuid(EUSER))
			_exit(255);
		_exit(perf_open(a, pid, cpu, -1, 0) < 0 ? errno : 0);
	}
	waitpid(child, &st, 0);
	NEED(write_long(PARANOID, -1));
	return WEXITSTATUS(st);
}

TEST("access/paranoid", "sysctl.perf_event_paranoid", "PB-48")
{
	struct perf_event_attr all = attr_of(RAW_CYCLES), user = all, chain;

	if (geteuid())
		test_skip("not root");
	user.exclude_kernel = 1;
	EXPECT_EQ(try_as_user(2, &user, 0, -1), 0);
	EXPECT_EQ(try_as_user(2, &all, 0, -1), EACCES);
	EXPECT_EQ(try_as_user(1, &all, 0, -1), 0);
	EXPECT_EQ(try_as_user(0, &all, 0, -1), 0);
	chain = user;
	chain.sample_period = 1000000;
	chain.sample_type = PERF_SAMPLE_CALLCHAIN;
	EXPECT_EQ(try_as_user(2, &chain, 0, -1), EACCES);
	chain.exclude_callchain_kernel = 1;
	EXPECT_EQ(try_as_user(2, &chain, 0, -1), 0);
}

TEST("access/cpu_wide", "sysctl.perf_event_paranoid open.cpu", "PB-48")
{
	struct perf_event_attr user = attr_of(RAW_CYCLES);

	if (geteuid())
		test_skip("not root");
	user.exclude_kernel = 1;
	EXPECT_EQ(try_as_user(2, &user, -1, 0), EACCES);
	EXPECT_EQ(try_as_user(1, &user, -1, 0), EACCES);
	EXPECT_EQ(try_as_user(0, &user, -1, 0), 0);
	EXPECT_EQ(try_as_user(-1, &user, -1, 0), 0);
}

TEST("access/other_user", "open.pid", "PB-48")
{
	struct perf_event_attr user = attr_of(RAW_CYCLES);

	if (geteuid())
		test_skip("not root");
	user.exclude_kernel = 1;
	for (int p = -1; p <= 2; p++)
		EXPECT_EQ(try_as_user(p, &user, getpid(), -1), EACCES);
}

TEST("access/debian_3", "sysctl.perf_event_paranoid", "Debian's extension")
{
	struct perf_event_attr user = attr_of(RAW_CYCLES);

	if (geteuid())
		test_skip("not root");
	user.exclude_kernel = 1;
	EXPECT_EQ(try_as_user(3, &user, 0, -1), EACCES);
}
