/* SPDX-License-Identifier: MIT */
/*
 * The kernel's symbol table. The build links once without it, makes the table from that link's
 * symbols and links again until the addresses are stable; the references are weak so that the
 * first link has none.
 */
#include <perch/kallsyms.h>
#include <perch/printk.h>
#include <stdio.h>
#include <string.h>

extern const u32 kallsyms_count __weak;
extern const u64 kallsyms_addr[] __weak;
extern const u32 kallsyms_name_off[] __weak;
extern const char kallsyms_type[] __weak;
extern const char kallsyms_names[] __weak;
extern char _text[], _etext[];

static u32 symbol_count(void)
{
	return &kallsyms_count ? kallsyms_count : 0;
}

bool kallsyms_get(u32 i, u64 *addr, char *type, const char **name)
{
	if (i >= symbol_count())
		return false;
	*addr = kallsyms_addr[i];
	*type = kallsyms_type[i];
	*name = kallsyms_names + kallsyms_name_off[i];
	return true;
}

/* Index of the last symbol at or below addr; the caller knows that there is one. */
static u32 find_symbol(u64 addr)
{
	u32 lo = 0, hi = symbol_count();

	while (hi - lo > 1) {
		u32 mid = lo + (hi - lo) / 2;

		if (kallsyms_addr[mid] <= addr)
			lo = mid;
		else
			hi = mid;
	}
	return lo;
}

const char *kallsyms_lookup(u64 addr, u64 *start, u64 *size)
{
	u32 n = symbol_count(), i;

	if (!n || addr < (u64)_text || addr >= (u64)_etext || addr < kallsyms_addr[0])
		return NULL;
	i = find_symbol(addr);
	*start = kallsyms_addr[i];
	*size = (i + 1 < n ? kallsyms_addr[i + 1] : (u64)_etext) - *start;
	return kallsyms_names + kallsyms_name_off[i];
}

const char *ksym_format(u64 addr, char *buf, size_t size)
{
	u64 start, len;
	const char *name = kallsyms_lookup(addr, &start, &len);

	if (name)
		snprintf(buf, size, "%s+0x%lx/0x%lx", name, (long)(addr - start), (long)len);
	else
		snprintf(buf, size, "0x%lx", (long)addr);
	return buf;
}
