/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/num.h"
#include "formats/pfr/lines.h"
#include "base/search.h"

#define LINES_MAX 16384u
#define BYTES_MAX (8u << 20)

void pf_pfr_lines_release(struct pf_pfr_lines *l)
{
	for (size_t i = 0; i < l->count; i++) {
		free(l->items[i].key);
		free(l->items[i].value);
	}
	free(l->items);
	memset(l, 0, sizeof(*l));
}

/* Where a key is, or where it would be. */
static size_t place_of(const struct pf_pfr_lines *l, const char *key,
		       bool *is_there)
{
	size_t at = PF_SEARCH(i, l->count, strcmp(l->items[i].key, key) < 0);

	*is_there = at < l->count && !strcmp(l->items[at].key, key);
	return at;
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

/* A value without its %XX; what is no such code stays. */
static char *decode_take(const char *p, size_t len, size_t *out_len)
{
	char *out = pf_alloc(len + 1);
	size_t n = 0;

	for (size_t i = 0; i < len; i++) {
		if (p[i] == '%' && len - i > 2 && hex_digit(p[i + 1]) >= 0 &&
		    hex_digit(p[i + 2]) >= 0) {
			out[n++] = (char)(hex_digit(p[i + 1]) << 4 |
					  hex_digit(p[i + 2]));
			i += 2;
		} else {
			out[n++] = p[i];
		}
	}
	out[n] = '\0';
	*out_len = n;
	return out;
}

static void put(struct pf_pfr_lines *l, const char *key, size_t key_len,
		const char *value, size_t value_len)
{
	char *name = pf_memdup0(key, key_len);
	struct pf_pfr_line *line;
	bool is_there;
	size_t at = place_of(l, name, &is_there);
	size_t had = is_there ? l->items[at].value_len : 0;

	/* A value that comes again may be longer: it has a limit, too. */
	if ((!is_there && l->count >= LINES_MAX) ||
	    l->bytes - had + key_len + value_len > BYTES_MAX) {
		l->left_out++;
		free(name);
		return;
	}
	if (is_there) {
		line = &l->items[at];
		l->bytes -= had;
		free(line->value);
		free(name);
	} else {
		l->items = pf_grow(l->items, &l->cap, l->count + 1,
				   sizeof(*l->items));
		line = &l->items[at];
		memmove(line + 1, line, (l->count++ - at) * sizeof(*line));
		line->key = name;
		l->bytes += key_len;
	}
	line->value = decode_take(value, value_len, &line->value_len);
	l->bytes += line->value_len;
}

/* Letters, digits, '.' and '_': other keys are of no format we know. */
static bool is_key(const char *p, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (!((p[i] >= 'a' && p[i] <= 'z') ||
		      (p[i] >= 'A' && p[i] <= 'Z') ||
		      (p[i] >= '0' && p[i] <= '9') || p[i] == '.' ||
		      p[i] == '_'))
			return false;
	return len > 0 && len <= 256;
}

void pf_pfr_lines_add(struct pf_pfr_lines *l, const unsigned char *p,
		      size_t len)
{
	const char *at = (const char *)p, *end = at + len;

	while (at < end) {
		const char *stop = memchr(at, '\n', (size_t)(end - at));
		const char *equals;

		if (!stop)
			stop = end;
		equals = memchr(at, '=', (size_t)(stop - at));
		if (equals && is_key(at, (size_t)(equals - at)))
			put(l, at, (size_t)(equals - at), equals + 1,
			    (size_t)(stop - equals - 1));
		at = stop + 1;
	}
}

const struct pf_pfr_line *pf_pfr_line_of(const struct pf_pfr_lines *l,
					 const char *key)
{
	bool is_there;
	size_t at = place_of(l, key, &is_there);

	return is_there ? &l->items[at] : NULL;
}

bool pf_pfr_line_int(const struct pf_pfr_lines *l, const char *key,
		     int64_t *out)
{
	const struct pf_pfr_line *line = pf_pfr_line_of(l, key);

	return line && line->value_len == strlen(line->value) &&
	       line->value_len && line->value_len <= 18 &&
	       line->value[0] != '-' && !pf_num_int(line->value, out);
}
