/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <string.h>

#include "base/utf8.h"
#include "show/escape.h"

/* Where the longest ending that is at most "columns" wide begins. */
static size_t fitting_tail(const char *s, size_t len, size_t columns)
{
	size_t rest = pf_utf8_columns(s, len), at = 0;
	uint32_t code;

	while (at < len && rest > columns) {
		at += pf_utf8_next(s + at, len - at, &code);
		rest -= (size_t)pf_utf8_width(code);
	}
	return at;
}

void pf_escape_text(struct pf_buf *out, const char *s, size_t len,
		    size_t columns, bool is_path)
{
	PF_AUTO(pf_buf_release) struct pf_buf masked = { 0 };
	size_t head, tail;

	pf_utf8_mask(&masked, s, len);
	if (!columns || pf_utf8_columns(masked.data, masked.len) <= columns) {
		pf_buf_add(out, masked.data, masked.len);
	} else if (columns <= 8) {
		head = pf_utf8_fitting(masked.data, masked.len, columns);
		pf_buf_add(out, masked.data, head);
	} else {
		tail = is_path ? columns - 3 : (columns - 3) / 3;
		head = pf_utf8_fitting(masked.data, masked.len,
				       columns - 3 - tail);
		tail = fitting_tail(masked.data, masked.len, tail);
		pf_buf_add(out, masked.data, head);
		pf_buf_adds(out, "...");
		pf_buf_add(out, masked.data + tail, masked.len - tail);
	}
}

void pf_escape_lines(struct pf_buf *out, const char *s, size_t len)
{
	while (len > 0) {
		const char *end = memchr(s, '\n', len);
		size_t n = end ? (size_t)(end - s) : len;

		pf_utf8_mask(out, s, n);
		if (end)
			pf_buf_addc(out, '\n');
		n += end != NULL;
		s += n;
		len -= n;
	}
}

static size_t longest_run(const char *s, size_t len, char c)
{
	size_t longest = 0, run = 0;

	for (size_t i = 0; i < len; i++) {
		run = s[i] == c ? run + 1 : 0;
		PF_AT_LEAST(longest, run);
	}
	return longest;
}

static void add_times(struct pf_buf *out, char c, size_t count)
{
	while (count-- > 0)
		pf_buf_addc(out, c);
}

/*
 * GitHub splits the line at bars before it looks for code spans, and takes
 * "\|" for a bar that does not split.  After a backslash it would be read as
 * an escaped backslash and a bar that does, so that bar is masked.
 */
static void add_span_text(struct pf_buf *out, const char *s, size_t len,
			  bool is_cell)
{
	for (size_t i = 0; i < len; i++) {
		if (s[i] != '|' || !is_cell)
			pf_buf_addc(out, s[i]);
		else if (i > 0 && s[i - 1] == '\\')
			pf_buf_adds(out, "x7c");
		else
			pf_buf_adds(out, "\\|");
	}
}

static void add_span(struct pf_buf *out, const char *s, size_t len,
		     bool is_cell)
{
	PF_AUTO(pf_buf_release) struct pf_buf masked = { 0 };
	size_t fence;
	bool is_padded;

	if (!len)
		return;
	pf_utf8_mask(&masked, s, len);
	s = masked.data;
	len = masked.len;
	fence = longest_run(s, len, '`') + 1;
	is_padded = s[0] == '`' || s[0] == ' ' || s[len - 1] == '`' ||
		    s[len - 1] == ' ';
	add_times(out, '`', fence);
	add_times(out, ' ', is_padded);
	add_span_text(out, s, len, is_cell);
	add_times(out, ' ', is_padded);
	add_times(out, '`', fence);
}

void pf_escape_md(struct pf_buf *out, const char *s, size_t len)
{
	add_span(out, s, len, true);
}

void pf_escape_md_line(struct pf_buf *out, const char *s, size_t len)
{
	add_span(out, s, len, false);
}

/* Letters, digits and marks that mean nothing, and no "www.", a link. */
static bool is_plain(const char *s, size_t len)
{
	static const char harmless[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
		"0123456789 .,;'%()/+-";
	static const char link[] = "www.";

	for (size_t i = 0; i < len; i++)
		if (!s[i] || !strchr(harmless, s[i]))
			return false;
	return !memmem(s, len, link, sizeof(link) - 1);
}

void pf_escape_md_words(struct pf_buf *out, const char *s, size_t len)
{
	if (is_plain(s, len))
		pf_buf_add(out, s, len);
	else
		add_span(out, s, len, true);
}

/* Bytes of the word at s, and whether it may stand as it is. */
static size_t word_at(const char *s, size_t len, bool *plain)
{
	const char *space = memchr(s, ' ', len);
	size_t n = space ? (size_t)(space - s) : len;

	/* a colon at its end begins no address */
	*plain = is_plain(s, n && s[n - 1] == ':' ? n - 1 : n) ||
		 (n == 2 && !memcmp(s, "->", 2));
	return n;
}

/* Words in code spans where they must be, so that the line still wraps. */
void pf_escape_md_sentence(struct pf_buf *out, const char *s, size_t len)
{
	bool plain, next;
	size_t name;

	for (size_t at = 0, n; at < len; at += n) {
		n = word_at(s + at, len - at, &plain);
		while (!plain && at + n < len) {
			size_t more = word_at(s + at + n + 1, len - at - n - 1,
					      &next);

			if (next)
				break;
			n += 1 + more;
		}
		name = plain ? 0 : n;
		while (name > 1 && memchr(".,;", s[at + name - 1], 3))
			name--; /* marks of the sentence, not of a name */
		add_span(out, s + at, name, false);
		pf_buf_add(out, s + at + name, n - name);
		if (at + n < len) {
			pf_buf_addc(out, ' ');
			n++;
		}
	}
}

/* ---- HTML ---- */

static bool acts(uint32_t code)
{
	return (code < 0x20 && code != '\t' && code != '\n') ||
	       (code >= 0x7f && code <= 0x9f) || code == 0x61c ||
	       code == 0x200e || code == 0x200f ||
	       (code >= 0x2028 && code <= 0x202e) ||
	       (code >= 0x2066 && code <= 0x2069) || code == 0xfeff;
}

static const char *entity(uint32_t code)
{
	switch (code) {
	case '&':
		return "&amp;";
	case '<':
		return "&lt;";
	case '>':
		return "&gt;";
	case '"':
		return "&quot;";
	case '\'':
		return "&#39;";
	default:
		return NULL;
	}
}

static void add_visible(struct pf_buf *out, const char *s, size_t len,
			bool is_html)
{
	while (len) {
		uint32_t code;
		size_t n = pf_utf8_next(s, len, &code);
		const char *known = is_html ? entity(code) : NULL;

		if (code == PF_UTF8_BAD)
			pf_buf_adds(out, "\xef\xbf\xbd");
		else if (acts(code))
			pf_buf_addf(out, "\\u{%x}", (unsigned)code);
		else if (known)
			pf_buf_adds(out, known);
		else
			pf_buf_add(out, s, n);
		s += n;
		len -= n;
	}
}

void pf_escape_html(struct pf_buf *out, const char *s, size_t len)
{
	add_visible(out, s, len, true);
}

void pf_escape_visible(struct pf_buf *out, const char *s, size_t len)
{
	add_visible(out, s, len, false);
}

void pf_say_name(struct pf_buf *out, const char *name)
{
	size_t len = strlen(name);
	/* the end of a path says more than that of a kernel's name */
	size_t most = strchr(name, '/') ? 160 : 80;
	size_t cut = len > most ? most - 3 : len;

	while (cut < len && cut > 0 &&
	       ((unsigned char)name[cut] & 0xc0) == 0x80)
		cut--;
	pf_buf_addc(out, PF_SAY_NAME);
	for (size_t i = 0; i < cut; i++)
		pf_buf_addc(out, name[i] == PF_SAY_NAME || name[i] == PF_SAY_END
					 ? ' '
					 : name[i]);
	if (cut < len)
		pf_buf_adds(out, "...");
	pf_buf_addc(out, PF_SAY_END);
}

void pf_say_plain(struct pf_buf *out, const struct pf_buf *sentence)
{
	for (size_t i = 0; i < sentence->len; i++)
		if (sentence->data[i] != PF_SAY_NAME &&
		    sentence->data[i] != PF_SAY_END)
			pf_buf_addc(out, sentence->data[i]);
}
