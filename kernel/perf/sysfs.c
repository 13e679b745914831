/* SPDX-License-Identifier: MIT */
/*
 * The attribute files of the PMUs below /sys/bus/event_source/devices. PMU 0 is "software"; the
 * hardware PMUs follow. The core knows type, cpus and perf_event_mux_interval_ms, everything else
 * is a table of the driver.
 */
#include "core.h"

static u32 software_mux_ms = 4;

enum { FILE_TYPE, FILE_MUX, FILE_CPUS, NR_OWN };

static struct pmu *hw_pmu(u32 i)
{
	return i >= 1 && i <= perf_nr_pmus ? perf_pmus[i - 1] : NULL;
}

/* How many files the core itself has in PMU i: "software" has no cpus. */
static u32 nr_own(u32 i)
{
	return i ? NR_OWN : FILE_CPUS;
}

const char *perf_sysfs_pmu(u32 i)
{
	if (!i)
		return "software";
	return hw_pmu(i) ? hw_pmu(i)->name : NULL;
}

bool perf_sysfs_file(u32 i, u32 j, const char **dir, const char **name, u32 *mode)
{
	static const char *const own[NR_OWN] = { "type", "perf_event_mux_interval_ms", "cpus" };
	struct pmu *pmu = hw_pmu(i);

	*mode = 0444;
	if (j < nr_own(i)) {
		*dir = NULL;
		*name = own[j];
		if (j == FILE_MUX)
			*mode = 0644;
		return !i || pmu;
	}
	j -= nr_own(i);
	if (!pmu || j >= pmu->nr_attrs)
		return false;
	*dir = pmu->attrs[j].dir;
	*name = pmu->attrs[j].name;
	return true;
}

/* "0-3,5\n" */
static long print_cpus(char *buf, size_t size, u64 cpus)
{
	long n = 0;
	u32 c = 0;

	while (c < 64) {
		u32 end = c;

		if (!(cpus & BIT(c))) {
			c++;
			continue;
		}
		while (end + 1 < 64 && cpus & BIT(end + 1))
			end++;
		n += host_snprintf(buf + n, size - (size_t)n, end > c ? "%s%u-%u" : "%s%u",
				   n ? "," : "", c, end);
		if ((size_t)n >= size)
			return -EINVAL;
		c = end + 1;
	}
	return n + host_snprintf(buf + n, size - (size_t)n, "\n");
}

static u64 online_cpus(void)
{
	u64 m = 0;

	for (u32 c = 0; c < host_nr_cpus(); c++)
		m |= host_cpu_online(c) ? BIT(c) : 0;
	return m;
}

long perf_sysfs_read(u32 i, u32 j, char *buf, size_t size)
{
	struct pmu *pmu = hw_pmu(i);

	if (!size || (i && !pmu))
		return -EINVAL;
	if (j >= nr_own(i)) {
		j -= nr_own(i);
		return j < pmu->nr_attrs ? host_snprintf(buf, size, "%s", pmu->attrs[j].text) : -EINVAL;
	}
	if (j == FILE_TYPE)
		return host_snprintf(buf, size, "%u\n", pmu ? pmu->type : PERF_TYPE_SOFTWARE);
	if (j == FILE_MUX)
		return host_snprintf(buf, size, "%u\n", READ_ONCE(*(pmu ? &pmu->mux_interval_ms : &software_mux_ms)));
	return print_cpus(buf, size, pmu->cpus & online_cpus());
}

static int parse_ms(const char *text, u32 *value)
{
	u64 v = 0;

	if (*text < '0' || *text > '9')
		return -EINVAL;
	for (; *text >= '0' && *text <= '9'; text++) {
		v = v * 10 + (u64)(*text - '0');
		if (v > INT32_MAX)
			return -EINVAL;
	}
	if ((*text && *text != '\n') || v < 1)
		return -EINVAL;
	*value = (u32)v;
	return 0;
}

int perf_sysfs_write(u32 i, u32 j, const char *text)
{
	struct pmu *pmu = hw_pmu(i);
	u32 ms;
	int err;

	if (j != FILE_MUX || (i && !pmu))
		return -EACCES;
	err = parse_ms(text, &ms);
	if (!err)
		WRITE_ONCE(*(pmu ? &pmu->mux_interval_ms : &software_mux_ms), ms);
	return err;
}
