/* SPDX-License-Identifier: MIT */
/* The device tree by libfdt (Devicetree Specification v0.4): addresses, interrupts, names. */
#include <asm/dt.h>
#include <libfdt.h>
#include <perch/boot.h>
#include <perch/cpu.h>
#include <string.h>

#include "dt_internal.h"

static bool enabled(int node)
{
	const char *s = dt_string(node, "status");

	return !s || !strcmp(s, "okay") || !strcmp(s, "ok");
}

int dt_find(const char *compatible, int after)
{
	int node = after;

	do
		node = fdt_node_offset_by_compatible(boot_fdt, node, compatible);
	while (node >= 0 && !enabled(node));
	return node < 0 ? -1 : node;
}

const char *dt_string(int node, const char *name)
{
	int len;
	const char *s = fdt_getprop(boot_fdt, node, name, &len);

	return s && len > 0 && !s[len - 1] ? s : NULL;
}

u32 dt_u32(int node, const char *name, u32 fallback)
{
	int len;
	const fdt32_t *v = fdt_getprop(boot_fdt, node, name, &len);

	return v && len >= 4 ? fdt32_ld(v) : fallback;
}

int dt_stdout(void)
{
	int chosen = fdt_path_offset(boot_fdt, "/chosen"), len, node;
	const char *path = chosen < 0 ? NULL : dt_string(chosen, "stdout-path");
	const char *options = path ? strchr(path, ':') : NULL;

	if (!path)
		path = "serial0";
	len = (int)(options ? (size_t)(options - path) : strlen(path));
	node = fdt_path_offset_namelen(boot_fdt, path, len);
	return node < 0 ? -1 : node;
}

u64 dt_cells(const void *p, u32 n)
{
	const fdt32_t *c = p;
	u64 v = 0;

	while (n--)
		v = v << 32 | fdt32_ld(c++);
	return v;
}

/* addr on the bus whose children have `cells` address cells, seen from bus's parent. */
static bool translate_one(int bus, int parent, u64 *addr)
{
	u32 ca = (u32)fdt_address_cells(boot_fdt, bus), cs = (u32)fdt_size_cells(boot_fdt, bus);
	u32 pa = (u32)fdt_address_cells(boot_fdt, parent);
	int len;
	const fdt32_t *r = fdt_getprop(boot_fdt, bus, "ranges", &len);
	u32 step = ca + cs + pa;
	bool empty = r && !len;		/* same addresses on both sides */

	if (!r)
		return false;
	for (; len >= (int)(4 * step); len -= 4 * step, r += step) {
		u64 from = dt_cells(r, ca), size = dt_cells(r + ca + pa, cs);

		if (*addr >= from && *addr - from < size) {
			*addr = *addr - from + dt_cells(r + ca, pa);
			return true;
		}
	}
	return empty;
}

bool dt_reg(int node, u32 index, paddr *base, u64 *size)
{
	int bus = fdt_parent_offset(boot_fdt, node), len;
	u32 ca, cs, step;
	const fdt32_t *r = fdt_getprop(boot_fdt, node, "reg", &len);

	if (!r || bus < 0)
		return false;
	ca = (u32)fdt_address_cells(boot_fdt, bus);
	cs = (u32)fdt_size_cells(boot_fdt, bus);
	step = ca + cs;
	if (len < (int)(4 * step * (index + 1)))
		return false;
	*base = dt_cells(r + step * index, ca);
	*size = dt_cells(r + step * index + ca, cs);
	while (bus > 0) {
		int parent = fdt_parent_offset(boot_fdt, bus);

		if (parent < 0 || !translate_one(bus, parent, base))
			return false;
		bus = parent;
	}
	return true;
}

/* GIC interrupt specifiers have three cells: 0 SPI or 1 PPI, number, trigger. */
bool dt_irq(int node, u32 index, u32 *intid)
{
	int len;
	const fdt32_t *v = fdt_getprop(boot_fdt, node, "interrupts", &len);

	if (!v || len < (int)(12 * (index + 1)))
		return false;
	v += 3 * index;
	*intid = fdt32_ld(v + 1) + (fdt32_ld(v) == 1 ? 16 : 32);
	return true;
}

int dt_irq_affinity(int node, u32 index)
{
	int len, cpu;
	const fdt32_t *v = fdt_getprop(boot_fdt, node, "interrupt-affinity", &len);
	u64 mpidr;

	if (!v || len < (int)(4 * (index + 1)))
		return -1;
	cpu = fdt_node_offset_by_phandle(boot_fdt, fdt32_ld(v + index));
	if (cpu < 0 || !dt_cpu_mpidr(cpu, &mpidr))
		return -1;
	for (u32 i = 0; i < nr_cpus; i++)
		if (cpus[i].mpidr == mpidr)
			return (int)i;
	return -1;
}

bool dt_cpu_mpidr(int node, u64 *mpidr)
{
	int len;
	const void *r = fdt_getprop(boot_fdt, node, "reg", &len);

	if (!r || (len != 4 && len != 8))
		return false;
	*mpidr = dt_cells(r, (u32)len / 4);
	return true;
}
