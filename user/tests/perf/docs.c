/* SPDX-License-Identifier: MIT */
/* The programs that docs/USING.md shows, as the build took them out of the page. */
#include "ptest.h"

static char out[1 << 18];

TEST("docs/count", "attr.type attr.config", "docs/USING.md")
{
	unsigned long n = 0;

	EXPECT_EQ(run_program(out, sizeof(out), "/bin/using_count", NULL), 0);
	EXPECT(sscanf(out, "%lu cycles\n", &n) == 1 && n > 1000000, "it prints: %s", out);
}

TEST("docs/sample", "attr.sample_period PERF_SAMPLE_IP mmap", "docs/USING.md")
{
	unsigned long ip = 0;
	unsigned lines = 0;

	EXPECT_EQ(run_program(out, sizeof(out), "/bin/using_sample", NULL), 0);
	for (char *p = out; (p = strchr(p, '\n')); p++)
		lines++;
	EXPECT(sscanf(out, "%lx\n", &ip) == 1 && ip >= 0x400000 && lines > 10, "%u lines, the first: %.20s", lines, out);
}

TEST("docs/rdpmc", "attr.config1 page.index page.offset page.lock", "docs/USING.md")
{
	long before = read_long(USER_ACCESS);
	unsigned long n = 0;

	NEED(write_long(USER_ACCESS, 1));
	EXPECT_EQ(run_program(out, sizeof(out), "/bin/using_rdpmc", NULL), 0);
	NEED(write_long(USER_ACCESS, before));
	EXPECT(sscanf(out, "%lu cycles\n", &n) == 1 && n > 1000 && n < 1ull << 40, "it prints: %s", out);
}

TEST("docs/perf", "perf", "docs/USING.md")
{
	if (access("/bin/perf", X_OK))
		test_skip("no perf here");
	EXPECT_EQ(run_program(out, sizeof(out), "/bin/using_perf", NULL), 0);
	EXPECT(strstr(out, "task-clock") && strstr(out, "Overhead") && strstr(out, "main"), "it prints: %.3000s", out);
}
