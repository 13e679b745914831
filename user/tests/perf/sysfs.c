/* SPDX-License-Identifier: MIT */
/* What tools read about the PMUs below /sys. */
#include "ptest.h"

#include <dirent.h>

#define SOURCES "/sys/bus/event_source/devices/"

/* The one line of the PMU's file must be this. */
static void line_is(const char *name, const char *right)
{
	char text[64] = "";
	FILE *f = fopen(pmu_file(name), "r");

	if (!f || !fgets(text, sizeof(text), f))
		test_fail(__FILE__, __LINE__, "%s: %s", name, strerror(errno));
	text[strcspn(text, "\n")] = 0;
	EXPECT(!strcmp(text, right), "%s says '%s', right is '%s'", name, text, right);
	if (f)
		fclose(f);
}

TEST("sysfs/pmu", "sysfs.type sysfs.cpus sysfs.format", "PB-52")
{
	char cpus[16];
	long type = read_long(pmu_file("type"));

	if (type < 0)
		test_skip("no PMU in sysfs");
	EXPECT(type > PERF_TYPE_BREAKPOINT, "type is %ld", type);
	snprintf(cpus, sizeof(cpus), nr_cpus() > 1 ? "0-%d" : "%d", nr_cpus() - 1);
	line_is("cpus", cpus);
	line_is("format/event", "config:0-15");
	line_is("format/long", "config1:0");
	line_is("format/rdpmc", "config1:1");
	line_is("format/threshold", "config1:5-16");
	line_is("format/threshold_compare", "config1:3-4");
	line_is("format/threshold_count", "config1:2");
	line_is("events/cpu_cycles", "event=0x0011");
}

TEST("sysfs/caps", "sysfs.caps", "PB-52")
{
	static const char *const names[] = { "caps/slots", "caps/bus_slots", "caps/bus_width", "caps/threshold_max" };

	if (access(pmu_file("type"), R_OK))
		test_skip("no PMU in sysfs");
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		FILE *f = fopen(pmu_file(names[i]), "r");
		unsigned v;
		char end;

		EXPECT(f && fscanf(f, "0x%8x%c", &v, &end) == 2 && end == '\n', "%s is not one number", names[i]);
		if (f)
			fclose(f);
	}
}

TEST("sysfs/software", "sysfs.type", "PB-52")
{
	EXPECT_EQ(read_long(SOURCES "software/type"), PERF_TYPE_SOFTWARE);
}

/* Each event that is listed opens by its number, and is the same event as its number. */
TEST("sysfs/events", "sysfs.events", "PB-52 PB-39")
{
	long type = read_long(pmu_file("type"));
	DIR *d = opendir(pmu_file("events"));
	struct dirent *e;
	int n = 0;

	if (!d)
		test_skip("no PMU in sysfs");
	while ((e = readdir(d))) {
		char name[300];
		unsigned long number;
		FILE *f;

		if (e->d_name[0] == '.')
			continue;
		snprintf(name, sizeof(name), "events/%s", e->d_name);
		f = fopen(pmu_file(name), "r");
		if (!f || fscanf(f, "event=0x%lx", &number) != 1)
			test_fail(__FILE__, __LINE__, "%s has no number", name);
		else
			EXPECT(has_event((u32)type, number), "%s: event %#lx must open", name, number);
		if (f)
			fclose(f);
		n++;
	}
	closedir(d);
	EXPECT(n > 0, "no events");
}

TEST("sysfs/mux_interval", "sysfs.perf_event_mux_interval_ms", "Linux 6.12")
{
	const char *f = pmu_file("perf_event_mux_interval_ms");
	long before = read_long(f);

	if (before < 0)
		test_skip("no PMU in sysfs");
	EXPECT_EQ(before, 4);
	EXPECT_EQ(write_long(f, 0), -1);
	EXPECT_EQ(errno, EINVAL);
	EXPECT_EQ(write_long(f, -1), -1);
	EXPECT_EQ(write_long(f, 8), 0);
	EXPECT_EQ(read_long(f), 8);
	EXPECT_EQ(write_long(f, before), 0);
}

TEST("sysfs/midr", "sysfs.midr_el1", "PB-52")
{
	FILE *f = fopen("/sys/devices/system/cpu/cpu0/regs/identification/midr_el1", "r");
	unsigned long midr = 0;

	NEED(f ? 0 : -1);
	EXPECT_EQ(fscanf(f, "0x%16lx", &midr), 1);
	EXPECT((midr >> 16 & 0xf) == 0xf && midr >> 32 == 0, "midr_el1 is %#lx", midr);
	fclose(f);
}

TEST("sysfs/perf_list", "sysfs.events", "PB-52")
{
	static char out[1 << 20];

	if (access("/bin/perf", X_OK))
		test_skip("no perf here");
	EXPECT_EQ(run_program(out, sizeof(out), "/bin/perf", "list", "--no-desc", NULL), 0);
	EXPECT(strstr(out, "cpu_cycles"), "perf list does not name cpu_cycles");
	EXPECT(strstr(out, "task-clock"), "perf list does not name task-clock");
}

TEST("sysfs/perf_stat", "sysfs.format sysfs.events", "PB-52")
{
	static char out[4096];
	const char *pmu = pmu_file("events/cpu_cycles");
	char event[64];
	unsigned long n = 0;

	if (access("/bin/perf", X_OK) || access(pmu, R_OK))
		test_skip("no perf or no PMU here");
	pmu += strlen(SOURCES);
	snprintf(event, sizeof(event), "%.*s/cpu_cycles/", (int)strcspn(pmu, "/"), pmu);
	EXPECT_EQ(run_program(out, sizeof(out), "/bin/perf", "stat", "-x,", "-e", event, "true", NULL), 0);
	EXPECT(sscanf(out, "%lu,", &n) == 1 && n > 1000, "perf stat -e %s: %s", event, out);
}
