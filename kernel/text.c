/* SPDX-License-Identifier: MIT */
/* Text that grows (struct textbuf of fs.h): what the files of procfs and sysfs are made of. */
#include <perch/fs.h>
#include <perch/page.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define TEXT_MAX (64UL << 20)	/* no proc file is longer; beyond it the text counts as failed */

/* Make room for n more bytes and a NUL. */
static bool text_grow(struct textbuf *b, size_t n)
{
	size_t want = b->size ? b->size : 256;
	char *p;

	if (b->failed)
		return false;
	if (b->len + n + 1 <= b->size)
		return true;
	while (want < b->len + n + 1 && want <= TEXT_MAX)
		want *= 2;
	p = want <= TEXT_MAX ? krealloc(b->buf, want) : NULL;
	if (!p) {
		b->failed = true;
		return false;
	}
	b->buf = p;
	b->size = want;
	return true;
}

void text_write(struct textbuf *b, const void *p, size_t n)
{
	if (!text_grow(b, n))
		return;
	memcpy(b->buf + b->len, p, n);
	b->len += n;
	b->buf[b->len] = 0;
}

void text_puts(struct textbuf *b, const char *s)
{
	text_write(b, s, strlen(s));
}

void text_printf(struct textbuf *b, const char *fmt, ...)
{
	va_list ap;
	int n;

	if (!text_grow(b, 128))
		return;
	va_start(ap, fmt);
	n = vsnprintf(b->buf + b->len, b->size - b->len, fmt, ap);
	va_end(ap);
	if ((size_t)n >= b->size - b->len) {
		if (!text_grow(b, (size_t)n))
			return;
		va_start(ap, fmt);
		n = vsnprintf(b->buf + b->len, b->size - b->len, fmt, ap);
		va_end(ap);
	}
	b->len += (size_t)n;
}

void text_escape(struct textbuf *b, const char *s, const char *chars)
{
	for (; *s; s++) {
		if (*s == '\\' || strchr(chars, *s))
			text_printf(b, "\\%03o", (unsigned char)*s);
		else
			text_write(b, s, 1);
	}
}

void text_free(struct textbuf *b)
{
	kfree(b->buf);
	*b = (struct textbuf){ 0 };
}
