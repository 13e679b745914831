/* SPDX-License-Identifier: MIT */
/* Files below /proc that belong to perf, and perf itself on a system that has little else. */
#include "ptest.h"

#include <fcntl.h>
#include <sys/stat.h>

#define KPTR "/proc/sys/kernel/kptr_restrict"
#define KERNEL "/proc/sys/kernel/"

/* The address of a symbol in /proc/kallsyms; ~0: not there. */
static u64 symbol(const char *want)
{
	FILE *f = fopen("/proc/kallsyms", "r");
	char line[512], name[256], type;
	unsigned long addr;
	u64 found = ~0ull;

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "%lx %c %255s", &addr, &type, name) == 3 && !strcmp(name, want)) {
			found = addr;
			break;
		}
	if (f)
		fclose(f);
	return found;
}

static void as_user(void (*fn)(void))
{
	bool before = test_failed();
	pid_t pid = fork();
	int st;

	NEED(pid);
	if (!pid) {
		NEED(setgid(1000));
		NEED(setuid(1000));
		fn();
		fflush(stdout);
		_exit(test_failed() && !before);
	}
	NEED(waitpid(pid, &st, 0));
	EXPECT(!st, "the part as uid 1000 failed");
}

static void sees_zero(void)
{
	EXPECT_EQ(symbol("_stext"), 0);
}

TEST("proc/kallsyms", "proc.kallsyms sysctl.kptr_restrict", "PB-49")
{
	long before = read_long(KPTR), paranoid = read_long(PARANOID);

	NEED(write_long(KPTR, 0));
	EXPECT(symbol("_stext") >> 48 == 0xffff, "_stext at %#lx for root", (long)symbol("_stext"));
	EXPECT(symbol("_text") >> 48 == 0xffff || symbol("_text") == ~0ull, "_text at %#lx", (long)symbol("_text"));
	NEED(write_long(KPTR, 1));
	EXPECT(symbol("_stext") >> 48 == 0xffff, "_stext at %#lx for root at 1", (long)symbol("_stext"));
	as_user(sees_zero);
	NEED(write_long(KPTR, 2));
	EXPECT_EQ(symbol("_stext"), 0);
	/* At 0 the level of perf decides for users: above 1 they get zeros. */
	NEED(write_long(KPTR, 0));
	NEED(write_long(PARANOID, 2));
	as_user(sees_zero);
	NEED(write_long(PARANOID, paranoid));
	NEED(write_long(KPTR, before));
}

TEST("proc/kernel_symbols", "proc.kallsyms", "PB-49")
{
	static char out[1 << 20];
	const char *data = "/tmp/ptest.kernel.data";
	long before = read_long(KPTR);

	if (access("/bin/perf", X_OK))
		test_skip("no perf here");
	NEED(write_long(KPTR, 0));
	EXPECT_EQ(run_program(out, sizeof(out), "/bin/perf", "record", "-q", "-c", "1000000", "-e", "cpu-clock:k", "-o",
			      data, "dd", "if=/dev/zero", "of=/dev/null", "bs=16", "count=20000", NULL), 0);
	EXPECT_EQ(run_program(out, sizeof(out), "/bin/perf", "script", "-i", data, "-F", "ip,sym", NULL), 0);
	unlink(data);
	NEED(write_long(KPTR, before));
	unsigned named = 0, all = 0;

	for (char *l = strtok(out, "\n"); l; l = strtok(NULL, "\n"), all++)
		named += !strstr(l, "[unknown]");
	EXPECT(all > 0 && named >= all / 2, "%u of %u kernel samples have a name", named, all);
}

/* name: its range, and what may not be written */
static const struct { const char *name; long bad[3]; } sysctls[] = {
	{ "perf_event_max_sample_rate", { 0, -1, -5 } },
	{ "perf_cpu_time_max_percent", { 101, -1, 1000 } },
	{ "perf_event_max_stack", { 640 * 1024 + 1, -1, 1l << 31 } },
	{ "perf_event_max_contexts_per_stack", { 1001, -1, 100000 } },
	{ "perf_user_access", { 2, -1, 100 } },
	{ "perf_event_paranoid", { 1l << 31, 1l << 40, -(1l << 40) } },
	{ "perf_event_mlock_kb", { 1l << 31, 1l << 40, -(1l << 40) } },
};

#define NR_SYSCTLS (sizeof(sysctls) / sizeof(sysctls[0]))

static void cannot_write(void)
{
	char path[96];

	for (size_t i = 0; i < NR_SYSCTLS; i++) {
		snprintf(path, sizeof(path), KERNEL "%s", sysctls[i].name);
		EXPECT(read_long(path) != -1 || !strcmp(sysctls[i].name, "perf_event_paranoid"), "%s", path);
		EXPECT_ERR(open(path, O_WRONLY), EACCES);
	}
}

TEST("proc/sysctls", "sysctl.perf_event_paranoid sysctl.perf_event_max_sample_rate sysctl.perf_event_mlock_kb "
     "sysctl.perf_cpu_time_max_percent sysctl.perf_event_max_stack sysctl.perf_event_max_contexts_per_stack "
     "sysctl.perf_user_access", "perf_event_open(2)")
{
	char path[96];

	for (size_t i = 0; i < NR_SYSCTLS; i++) {
		struct stat st;
		long before;

		snprintf(path, sizeof(path), KERNEL "%s", sysctls[i].name);
		NEED(stat(path, &st));
		EXPECT_EQ(st.st_mode, S_IFREG | 0644);
		before = read_long(path);
		for (int b = 0; b < 3; b++) {
			errno = 0;
			EXPECT(write_long(path, sysctls[i].bad[b]) == -1 && errno == EINVAL,
			       "%s takes %ld: errno %d, right is EINVAL", path, sysctls[i].bad[b], errno);
		}
		EXPECT_EQ(read_long(path), before);
		EXPECT_EQ(write_long(path, before), 0);
	}
	as_user(cannot_write);
}

TEST("proc/fd_link", "proc.fd", "Linux 6.12")
{
	char path[64], text[64] = "";

	snprintf(path, sizeof(path), "/proc/self/fd/%d", open_self(TASK_CLOCK));
	NEED(readlink(path, text, sizeof(text) - 1));
	EXPECT(!strcmp(text, "anon_inode:[perf_event]"), "the link says %s", text);
}

TEST("proc/missing", "proc sysfs", "PB-58")
{
	static const char *const none[] = { "/proc/sys/kernel/perf_no_such", "/sys/bus/event_source/devices/none/type",
		"/proc/self/none", "/sys/bus/event_source/devices/software/events/none" };

	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++)
		EXPECT_ERR(open(none[i], O_RDONLY), ENOENT);
}

TEST("proc/refusal", "proc.perf_refusal", "Perch's own: CAVEATS.md")
{
	struct perf_event_attr a = attr_of(TASK_CLOCK);
	char text[128] = "";
	FILE *f;

	if (access("/proc/self/perf_refusal", R_OK))
		test_skip("only Perch has it");
	a.sample_type = 1ull << 40;
	EXPECT_ERR(perf_open(&a, 0, -1, -1, 0), EINVAL);
	f = fopen("/proc/self/perf_refusal", "r");
	EXPECT(f && fgets(text, sizeof(text), f) && !strncmp(text, "22 sample_type 0x10000000000 ", 29),
	       "it says: %s", text);
}

TEST("proc/own_sysctls", "sysctl.perf_debug sysctl.perf_mux_jitter", "Perch's own: CAVEATS.md")
{
	if (access(KERNEL "perf_debug", F_OK))
		test_skip("only Perch has them");
	EXPECT_EQ(read_long(KERNEL "perf_debug"), 0);
	EXPECT_EQ(write_long(KERNEL "perf_debug", 2), -1);
	EXPECT_EQ(read_long(KERNEL "perf_mux_jitter"), 0);
	EXPECT_EQ(write_long(KERNEL "perf_mux_jitter", -1), -1);
	EXPECT_EQ(write_long(KERNEL "perf_mux_jitter", 1000), 0);
	EXPECT_EQ(read_long(KERNEL "perf_mux_jitter"), 1000);
	EXPECT_EQ(write_long(KERNEL "perf_mux_jitter", 0), 0);
}

static char out[1 << 20];

TEST("proc/bare_perf", "perf stat, perf record, perf report", "PB-58")
{
	const char *data = "/tmp/ptest.bare.data";

	if (access("/bin/perf", X_OK))
		test_skip("no perf here");
	EXPECT_EQ(run_program(out, sizeof(out), "/bin/perf", "stat", "true", NULL), 0);
	EXPECT(strstr(out, "task-clock"), "perf stat says: %.200s", out);
	EXPECT_EQ(run_program(out, sizeof(out), "/bin/perf", "record", "-o", data, "true", NULL), 0);
	EXPECT_EQ(run_program(out, sizeof(out), "/bin/perf", "report", "--stdio", "-i", data, NULL), 0);
	EXPECT(strstr(out, "Total Lost Samples: 0"), "perf report says: %.200s", out);
	unlink(data);
}

/* With tracefs it works; without it perf says so and ends with an error, at once. */
TEST("proc/bare_trace", "tracepoints", "PB-58")
{
	int st;

	if (access("/bin/perf", X_OK))
		test_skip("no perf here");
	st = run_program(out, sizeof(out), "/bin/perf", "trace", "true", NULL);
	if (!access("/sys/kernel/tracing/events/raw_syscalls/sys_enter/id", R_OK))
		EXPECT_EQ(st, 0);
	else
		EXPECT(st > 0 && strstr(out, "not found"), "status %d: %.200s", st, out);
}
