/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/buf.h"

void pf_buf_release(struct pf_buf *b)
{
	free(b->data);
	memset(b, 0, sizeof(*b));
}

void pf_buf_reserve(struct pf_buf *b, size_t extra)
{
	if (b->cap - b->len <= extra)
		b->data = pf_grow(b->data, &b->cap, b->len + extra + 1, 1);
}

void pf_buf_add(struct pf_buf *b, const void *p, size_t len)
{
	pf_buf_reserve(b, len);
	if (len)
		memcpy(b->data + b->len, p, len);
	b->len += len;
	b->data[b->len] = '\0';
}

void pf_buf_adds(struct pf_buf *b, const char *s)
{
	pf_buf_add(b, s, strlen(s));
}

void pf_buf_addc(struct pf_buf *b, char c)
{
	pf_buf_add(b, &c, 1);
}

void pf_buf_addf(struct pf_buf *b, const char *fmt, ...)
{
	va_list ap;
	int len;

	va_start(ap, fmt);
	len = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	pf_buf_reserve(b, (size_t)len);
	va_start(ap, fmt);
	vsnprintf(b->data + b->len, (size_t)len + 1, fmt, ap);
	va_end(ap);
	b->len += (size_t)len;
}

void pf_buf_addu(struct pf_buf *b, uint64_t value)
{
	char text[24], *p = text + sizeof(text);

	do
		*--p = (char)('0' + value % 10);
	while (value /= 10);
	pf_buf_add(b, p, (size_t)(text + sizeof(text) - p));
}

void pf_buf_addi(struct pf_buf *b, int64_t value)
{
	if (value < 0)
		pf_buf_addc(b, '-');
	pf_buf_addu(b, value < 0 ? -(uint64_t)value : (uint64_t)value);
}

void pf_shell_word(struct pf_buf *out, const char *word)
{
	static const char harmless[] = "abcdefghijklmnopqrstuvwxyz"
				       "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				       "0123456789._-/+=:,@%";

	if (*word && *word != '-' && strspn(word, harmless) == strlen(word)) {
		pf_buf_adds(out, word);
		return;
	}
	pf_buf_addc(out, '\'');
	for (; *word; word++)
		if (*word == '\'')
			pf_buf_adds(out, "'\\''");
		else
			pf_buf_addc(out, *word);
	pf_buf_addc(out, '\'');
}

const char *pf_printed(char *out, size_t room_bytes, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(out, room_bytes, fmt, ap);
	va_end(ap);
	return out;
}
