/* SPDX-License-Identifier: MIT */
/* Which caches a CPU has, for sysfs. CLIDR_EL1 (Arm ARM D23.2) has three bits for each level. */
#include <asm/cpu.h>
#include <perch/boot.h>

enum { CTYPE_NONE, CTYPE_INSTRUCTION, CTYPE_DATA, CTYPE_SEPARATE, CTYPE_UNIFIED };

bool arch_cpu_cache(u32 index, u32 *level, const char **type)
{
	static const char *const names[] = { "", "Instruction", "Data", "", "Unified" };
	u64 clidr = read_sysreg(clidr_el1);

	for (u32 l = 1; l <= 7; l++, clidr >>= 3) {
		u32 ctype = clidr & 7, n = ctype == CTYPE_SEPARATE ? 2 : 1;

		if (ctype == CTYPE_NONE || ctype > CTYPE_UNIFIED)
			return false;
		if (index < n) {
			*level = l;
			*type = n == 2 ? names[index ? CTYPE_INSTRUCTION : CTYPE_DATA] : names[ctype];
			return true;
		}
		index -= n;
	}
	return false;
}
