/* SPDX-License-Identifier: MIT */
/* Invariant: buf[at, len) has been read and not been given out. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "formats/lines.h"

#define BUFFER_BYTES (2u * PF_LINES_MAX)

static int fill(struct pf_lines *l, struct pf_err *err)
{
	int64_t n;

	if (!l->buf)
		l->buf = pf_alloc(BUFFER_BYTES);
	memmove(l->buf, l->buf + l->at, l->len - l->at);
	l->offset += (int64_t)l->at;
	l->len -= l->at;
	l->at = 0;
	n = l->read(l->arg, l->buf + l->len, BUFFER_BYTES - l->len, err);
	if (n < 0)
		return -1;
	l->is_end = (size_t)n < BUFFER_BYTES - l->len;
	l->len += (size_t)n;
	return 0;
}

static void give(struct pf_lines *l, size_t len, size_t used,
		 struct pf_text_line *out)
{
	out->text = l->buf + l->at;
	out->len = len;
	out->offset = l->offset + (int64_t)l->at;
	out->is_too_long = len < used && used - len > 1;
	l->at += used;
	if (len && out->text[len - 1] == '\r')
		out->len--;
}

/* Of a line that is too long: its beginning now, the rest is passed over. */
static int cut(struct pf_lines *l, struct pf_text_line *out)
{
	bool is_first = !l->is_in_rest;

	l->is_in_rest = true;
	give(l, PF_LINES_MAX, l->len - l->at, out);
	out->is_too_long = true;
	return is_first;
}

int pf_lines_next(struct pf_lines *l, struct pf_text_line *out,
		  struct pf_err *err)
{
	for (;;) {
		size_t have = l->len - l->at;
		char *end = have ? memchr(l->buf + l->at, '\n', have) : NULL;
		size_t len = end ? (size_t)(end - l->buf) - l->at : have;

		if (l->is_in_rest && (end || l->is_end)) {
			l->at += len + (end != NULL);
			l->is_in_rest = false;
		} else if (end || (l->is_end && have)) {
			give(l, len < PF_LINES_MAX ? len : PF_LINES_MAX,
			     len + (end != NULL), out);
			return 1;
		} else if (l->is_end) {
			return 0;
		} else if (have >= PF_LINES_MAX) {
			if (cut(l, out))
				return 1;
		} else if (fill(l, err)) {
			return -1;
		}
	}
}

void pf_lines_release(struct pf_lines *l)
{
	free(l->buf);
	l->buf = NULL;
}
