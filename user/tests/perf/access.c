/* SPDX-License-Identifier: MIT */
/* Who may open what: perf_event_paranoid and capabilities. */
#include "ptest.h"

#include <linux/capability.h>
#include <signal.h>
#include <sys/prctl.h>

#define EUSER 1000
#ifndef CAP_PERFMON
#define CAP_PERFMON 38
#endif
#define CAP(name) (1ull << CAP_##name)

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

/* As an ordinary user who has kept these capabilities: errno of the open, 0 for success. */
static int try_with(u64 caps, const struct perf_event_attr *a, pid_t pid)
{
	struct __user_cap_header_struct h = { _LINUX_CAPABILITY_VERSION_3, 0 };
	struct __user_cap_data_struct d[2] = { { (u32)caps, (u32)caps, 0 },
					       { (u32)(caps >> 32), (u32)(caps >> 32), 0 } };
	int st;
	pid_t child = fork();

	if (!child) {
		if (prctl(PR_SET_KEEPCAPS, 1) || setgid(EUSER) || setuid(EUSER) || syscall(SYS_capset, &h, d))
			_exit(255);
		prctl(PR_SET_DUMPABLE, 1);
		_exit(perf_open(a, pid, -1, -1, 0) < 0 ? errno : 0);
	}
	waitpid(child, &st, 0);
	return WEXITSTATUS(st);
}

TEST("access/debian_3", "sysctl.perf_event_paranoid", "Debian's extension")
{
	struct perf_event_attr user = attr_of(RAW_CYCLES);

	if (geteuid())
		test_skip("not root");
	user.exclude_kernel = 1;
	EXPECT_EQ(try_as_user(3, &user, 0, -1), EACCES);
	NEED(write_long(PARANOID, 3));
	EXPECT_EQ(try_with(CAP(PERFMON), &user, 0), EACCES);	/* only CAP_SYS_ADMIN helps */
	EXPECT_EQ(try_with(CAP(SYS_ADMIN), &user, 0), 0);
	NEED(write_long(PARANOID, -1));
}

static void sleep_for_ever(void *unused)
{
	for (;;)
		pause();
}

/* What each capability opens to a user who has no other. */
TEST("access/capabilities", "sysctl.perf_event_paranoid open.pid attr.namespaces", "Linux 6.12")
{
	static const struct { u64 caps; int kernel, other, spaces; } row[] = {
		{ 0, EACCES, EACCES, EACCES }, { CAP(PERFMON), 0, 0, 0 }, { CAP(SYS_ADMIN), 0, 0, 0 },
		{ CAP(SYS_PTRACE), EACCES, 0, EACCES }, { CAP(KILL), EACCES, EACCES, EACCES },
	};
	struct perf_event_attr all = attr_of(RAW_CYCLES), user = all, spaces = all;

	if (geteuid())
		test_skip("not root");
	user.exclude_kernel = spaces.exclude_kernel = spaces.namespaces = 1;
	pid_t root = run_child(sleep_for_ever, NULL);

	NEED(write_long(PARANOID, 2));
	for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		EXPECT_EQ(try_with(row[i].caps, &all, 0), row[i].kernel);
		EXPECT_EQ(try_with(row[i].caps, &user, root), row[i].other);
		EXPECT_EQ(try_with(row[i].caps, &spaces, 0), row[i].spaces);
	}
	NEED(write_long(PARANOID, -1));
	kill(root, SIGKILL);
	waitpid(root, NULL, 0);
}

/* sigtrap sends signals to the task: measuring alone is not enough then. */
TEST("access/sigtrap_other", "attr.sigtrap open.pid", "Linux 6.12: perf_check_permission")
{
	struct perf_event_attr a = attr_of(CPU_CLOCK);

	if (geteuid())
		test_skip("not root");
	a.sample_period = 1000000;
	a.sigtrap = a.remove_on_exec = a.exclude_kernel = 1;
	pid_t root = run_child(sleep_for_ever, NULL);

	NEED(write_long(PARANOID, 2));
	EXPECT_EQ(try_with(CAP(PERFMON), &a, root), EACCES);
	EXPECT_EQ(try_with(CAP(SYS_ADMIN), &a, root), EACCES);
	EXPECT_EQ(try_with(CAP(KILL), &a, root), EACCES);
	EXPECT_EQ(try_with(CAP(PERFMON) | CAP(KILL), &a, root), 0);
	EXPECT_EQ(try_with(CAP(SYS_PTRACE), &a, root), 0);
	EXPECT_EQ(try_with(CAP(PERFMON), &a, 0), 0);	/* itself */
	NEED(write_long(PARANOID, -1));
	kill(root, SIGKILL);
	waitpid(root, NULL, 0);
}
