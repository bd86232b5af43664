/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "base/json.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "base/utf8.h"

#define REPLACEMENT 0xfffd

int pf_json_hex4(const char *p, const char *end)
{
	int v = 0;

	if (end - p < 4)
		return -1;
	for (int i = 0; i < 4; i++) {
		char c = p[i];

		v <<= 4;
		if (c >= '0' && c <= '9')
			v |= c - '0';
		else if ((c | 32) >= 'a' && (c | 32) <= 'f')
			v |= (c | 32) - 'a' + 10;
		else
			return -1;
	}
	return v;
}

/* *p is behind "\u" and moves behind what was used. */
static bool add_unicode(const char **p, const char *end, struct pf_buf *out)
{
	const char *at = *p;
	int c = pf_json_hex4(at, end), low = -1;

	if (c < 0) {
		pf_utf8_add(out, REPLACEMENT);
		return false;
	}
	*p = at + 4;
	if (c < 0xd800 || c > 0xdfff) {
		pf_utf8_add(out, c ? (uint32_t)c : REPLACEMENT);
		return true;
	}
	if (c < 0xdc00 && end - at >= 10 && at[4] == '\\' && at[5] == 'u')
		low = pf_json_hex4(at + 6, end);
	if (low < 0xdc00 || low > 0xdfff) {
		pf_utf8_add(out, REPLACEMENT);
		return false;
	}
	*p = at + 10;
	pf_utf8_add(out, 0x10000 + ((uint32_t)(c - 0xd800) << 10) +
				 (uint32_t)(low - 0xdc00));
	return true;
}

bool pf_json_unescape(const char *p, size_t len, struct pf_buf *out)
{
	static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
	const char *end = p + len;
	bool good = true;

	while (p < end) {
		const char *stop = memchr(p, '\\', (size_t)(end - p)), *which;

		if (!stop || stop + 1 == end) {
			pf_buf_add(out, p, (size_t)(end - p));
			return good && !stop;
		}
		pf_buf_add(out, p, (size_t)(stop - p));
		p = stop + 2;
		if (stop[1] == 'u') {
			good &= add_unicode(&p, end, out);
			continue;
		}
		which = stop[1] ? strchr(from, stop[1]) : NULL;
		good &= which != NULL;
		pf_buf_addc(out, which ? to[which - from] : stop[1]);
	}
	return good;
}

/* ---- jsonw ---- */

static void line_break(struct pf_jsonw *w)
{
	if (w->depth > w->indent_depth)
		return;
	pf_buf_addc(w->out, '\n');
	for (int i = 0; i < w->depth; i++)
		pf_buf_addc(w->out, '\t');
}

/* What comes before a value or a key. */
static void separate(struct pf_jsonw *w)
{
	if (w->after_key) {
		w->after_key = false;
		return;
	}
	if (w->depth == 0)
		return;
	if (w->has_items[w->depth - 1])
		pf_buf_adds(w->out, w->depth > w->indent_depth ? ", " : ",");
	w->has_items[w->depth - 1] = true;
	line_break(w);
}

static void open_level(struct pf_jsonw *w, char opener, char closer)
{
	separate(w);
	if (w->depth >= PF_JSONW_DEPTH)
		abort();
	pf_buf_addc(w->out, opener);
	w->has_items[w->depth] = false;
	w->closer[w->depth++] = closer;
}

void pf_jsonw_object(struct pf_jsonw *w)
{
	open_level(w, '{', '}');
}

void pf_jsonw_array(struct pf_jsonw *w)
{
	open_level(w, '[', ']');
}

void pf_jsonw_end(struct pf_jsonw *w)
{
	bool is_indented = w->depth <= w->indent_depth;

	w->depth--;
	if (w->has_items[w->depth] && is_indented)
		line_break(w);
	pf_buf_addc(w->out, w->closer[w->depth]);
	if (w->depth == 0 && w->indent_depth > 0)
		pf_buf_addc(w->out, '\n');
}

void pf_jsonw_key(struct pf_jsonw *w, const char *key)
{
	separate(w);
	pf_jsonw_quote(w->out, key, strlen(key), w->escape_markup);
	pf_buf_adds(w->out, ": ");
	w->after_key = true;
}

void pf_jsonw_key_again(struct pf_jsonw *w, const char *text, size_t len)
{
	separate(w);
	pf_buf_add(w->out, text, len);
	w->after_key = true;
}

static bool is_markup(uint32_t code)
{
	return code == '<' || code == '>' || code == '&';
}

static void add_escaped(struct pf_buf *out, uint32_t code)
{
	switch (code) {
	case '"':
		pf_buf_adds(out, "\\\"");
		break;
	case '\\':
		pf_buf_adds(out, "\\\\");
		break;
	case '\n':
		pf_buf_adds(out, "\\n");
		break;
	case '\t':
		pf_buf_adds(out, "\\t");
		break;
	case '\r':
		pf_buf_adds(out, "\\r");
		break;
	default:
		if (code > 0xffff) {
			pf_buf_addf(out, "\\u%04" PRIx32,
				    0xd7c0 + (code >> 10));
			code = 0xdc00 | (code & 0x3ff);
		}
		pf_buf_addf(out, "\\u%04" PRIx32, code);
	}
}

/* How many letters from here on need no escape in any place. */
static size_t plain_run(const char *s, size_t len)
{
	size_t n = 0;

	while (n < len && s[n] >= 0x20 && s[n] < 0x7f && s[n] != '"' &&
	       s[n] != '\\' && !is_markup((unsigned char)s[n]))
		n++;
	return n;
}

void pf_jsonw_quote(struct pf_buf *out, const char *s, size_t len,
		    bool escape_markup)
{
	uint32_t code;

	pf_buf_addc(out, '"');
	while (len > 0) {
		size_t n = plain_run(s, len);

		if (n > 0) {
			pf_buf_add(out, s, n);
			s += n;
			len -= n;
			continue;
		}
		n = pf_utf8_next(s, len, &code);
		if (code == PF_UTF8_BAD)
			pf_buf_adds(out, "\xef\xbf\xbd");
		else if (pf_utf8_is_control(code) || code == '"' ||
			 code == '\\' || (escape_markup && is_markup(code)))
			add_escaped(out, code);
		else
			pf_buf_add(out, s, n);
		s += n;
		len -= n;
	}
	pf_buf_addc(out, '"');
}

void pf_jsonw_string(struct pf_jsonw *w, const char *s, size_t len)
{
	separate(w);
	pf_jsonw_quote(w->out, s, len, w->escape_markup);
}

void pf_jsonw_int(struct pf_jsonw *w, int64_t n)
{
	separate(w);
	pf_buf_addi(w->out, n);
}

void pf_jsonw_digits(struct pf_jsonw *w, const char *digits)
{
	separate(w);
	pf_buf_adds(w->out, digits);
}

void pf_jsonw_real(struct pf_jsonw *w, double d)
{
	char text[PF_NUM_MAX];

	separate(w);
	pf_buf_adds(w->out, isfinite(d) ? pf_num_exact(text, d) : "null");
}

void pf_jsonw_bool(struct pf_jsonw *w, bool is_true)
{
	separate(w);
	pf_buf_adds(w->out, is_true ? "true" : "false");
}

void pf_jsonw_null(struct pf_jsonw *w)
{
	separate(w);
	pf_buf_adds(w->out, "null");
}
