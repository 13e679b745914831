/* SPDX-License-Identifier: MIT */
/* Small pieces of text that several files print. */
#include "internal.h"
#include <perch/cpu.h>

void text_cpulist(struct textbuf *b, u64 mask)
{
	const char *sep = "";

	for (u32 c = 0; c < 64; c++) {
		u32 last = c;

		if (!(mask & BIT(c)))
			continue;
		while (last < 63 && (mask & BIT(last + 1)))
			last++;
		if (last == c)
			text_printf(b, "%s%u", sep, c);
		else
			text_printf(b, "%s%u-%u", sep, c, last);
		sep = ",";
		c = last;
	}
}

void text_cpumask(struct textbuf *b, u64 mask)
{
	text_printf(b, "%0*lx", (int)DIV_ROUND_UP(nr_cpus, 4), mask);
}

void text_escape_newline(struct textbuf *b, const char *s)
{
	for (; *s; s++) {
		if (*s == '\n')
			text_puts(b, "\\012");
		else
			text_write(b, s, 1);
	}
}

void text_comm(struct textbuf *b, const struct task *t, bool escape)
{
	for (int k = 0; k < TASK_COMM_LEN && t->comm[k]; k++) {
		char c = t->comm[k];

		if (escape && c == '\n')
			text_puts(b, "\\n");
		else if (escape && c == '\\')
			text_puts(b, "\\\\");
		else
			text_write(b, &c, 1);
	}
}
