/* SPDX-License-Identifier: MIT */
/* The boot command line: words separated by blanks; a value may be quoted to hold blanks. */
#include <perch/boot.h>
#include <stdlib.h>
#include <string.h>

char boot_cmdline[2048];

/* One word from *p (advanced past it): start and length. False at the end of the line. */
static bool next_word(const char **p, const char **word, size_t *len)
{
	const char *s = *p;
	bool quoted = false;

	while (*s == ' ')
		s++;
	if (!*s)
		return false;
	*word = s;
	for (; *s && (quoted || *s != ' '); s++)
		if (*s == '"')
			quoted = !quoted;
	*len = (size_t)(s - *word);
	*p = s;
	return true;
}

/* Copy without the quotes, cut to fit. */
static void copy_value(char *buf, size_t size, const char *s, size_t len)
{
	size_t n = 0;

	if (!size)
		return;
	for (size_t i = 0; i < len && n + 1 < size; i++)
		if (s[i] != '"')
			buf[n++] = s[i];
	buf[n] = 0;
}

/* The last setting of a name wins, as on Linux. */
bool cmdline_get(const char *name, char *buf, size_t size)
{
	const char *p = boot_cmdline, *w;
	size_t n = strlen(name), len;
	bool found = false;

	while (next_word(&p, &w, &len)) {
		if (len < n || strncmp(w, name, n) || (len > n && w[n] != '='))
			continue;
		copy_value(buf, size, w + n + 1, len > n ? len - n - 1 : 0);
		found = true;
	}
	return found;
}

long cmdline_int(const char *name, long fallback)
{
	char v[32], *end;
	long n;

	if (!cmdline_get(name, v, sizeof(v)) || !v[0])
		return fallback;
	n = strtol(v, &end, 0);
	return *end ? fallback : n;
}
