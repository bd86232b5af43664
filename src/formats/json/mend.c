/* SPDX-License-Identifier: MIT */
/*
 * State of the value reader: what may come next at the current depth.
 *
 *   VALUE          a value                          -> AFTER, or opens
 *   FIRST_KEY      a key or '}' (just behind '{')   -> VALUE
 *   FIRST_VALUE    a value or ']' (behind '[')      -> AFTER, or opens
 *   AFTER          ',' or the closer
 *   KEY            a key (behind ','), '}' if tolerant
 *   NEXT_VALUE     a value (behind ','), ']' if tolerant
 */
#include "config.h"
#include "formats/json/mend.h"

#include <string.h>
#include <strings.h>

#define PF_SCAN_SIMD 0
#include "base/json.h"
#include "formats/json/scan.h"

enum state { VALUE, FIRST_KEY, FIRST_VALUE, AFTER, KEY, NEXT_VALUE };

/*
 * Members of the outer objects, to find duplicate keys: those of arguments,
 * which are read alone once the event that holds them is mended, at a depth
 * less than there.
 */
#define MEMBERS_MAX 128
#define ARGS_DEPTH  2
struct members {
	size_t count, begin[MEMBERS_MAX], key_end[MEMBERS_MAX];
};

struct work {
	struct pf_mend *m;
	struct pf_buf *out;
	const char *start;
	int depth;
	char closer[PF_JSON_MAX_DEPTH];
	struct members members[ARGS_DEPTH + 1];
};

static bool tolerate(struct work *w, enum pf_repair_kind kind, const char *at)
{
	if (!w->m->repairs)
		return false;
	pf_repair_note(w->m->repairs, kind, 1, w->m->offset + (at - w->start));
	return true;
}

/* ---- strings ---- */

/* Length of a valid UTF-8 sequence at p, or 0. */
static size_t utf8_len(const unsigned char *p, const unsigned char *end)
{
	static const struct {
		unsigned char first_lo, first_hi, second_lo, second_hi, len;
	} forms[] = {
		{ 0xc2, 0xdf, 0x80, 0xbf, 2 }, { 0xe0, 0xe0, 0xa0, 0xbf, 3 },
		{ 0xe1, 0xec, 0x80, 0xbf, 3 }, { 0xed, 0xed, 0x80, 0x9f, 3 },
		{ 0xee, 0xef, 0x80, 0xbf, 3 }, { 0xf0, 0xf0, 0x90, 0xbf, 4 },
		{ 0xf1, 0xf3, 0x80, 0xbf, 4 }, { 0xf4, 0xf4, 0x80, 0x8f, 4 },
	};

	for (size_t i = 0; i < PF_LEN(forms); i++) {
		if (*p < forms[i].first_lo || *p > forms[i].first_hi)
			continue;
		if (end - p < forms[i].len || p[1] < forms[i].second_lo ||
		    p[1] > forms[i].second_hi)
			return 0;
		for (int k = 2; k < forms[i].len; k++)
			if ((p[k] & 0xc0) != 0x80)
				return 0;
		return forms[i].len;
	}
	return 0;
}

/*
 * p is at a backslash inside a string whose closing quote is at end.  Copies
 * one escape (or its repair) and returns the place behind it; NULL is bad.
 */
static const char *mend_escape(struct work *w, const char *p, const char *end)
{
	int high, low;

	if (end - p >= 2 && p[1] != 'u' && p[1] && strchr("\"\\/bfnrt", p[1])) {
		pf_buf_add(w->out, p, 2);
		return p + 2;
	}
	high = end - p >= 2 && p[1] == 'u' ? pf_json_hex4(p + 2, end) : -1;
	if (high < 0) {
		if (!tolerate(w, PF_REPAIR_BAD_ESCAPE, p))
			return NULL;
		pf_buf_adds(w->out, "\\\\");
		return p + 1;
	}
	if (high < 0xd800 || high > 0xdfff) {
		pf_buf_add(w->out, p, 6);
		return p + 6;
	}
	low = end - p >= 12 && p[6] == '\\' && p[7] == 'u'
		      ? pf_json_hex4(p + 8, end)
		      : -1;
	if (high < 0xdc00 && low >= 0xdc00 && low <= 0xdfff) {
		pf_buf_add(w->out, p, 12);
		return p + 12;
	}
	if (!tolerate(w, PF_REPAIR_LONE_SURROGATE, p))
		return NULL;
	pf_buf_adds(w->out, "\\ufffd");
	return p + 6;
}

/* A byte below 0x20 or above 0x7f, or a quote. */
static const char *mend_byte(struct work *w, const char *p, const char *end)
{
	size_t len;

	if (*p == '"') {
		if (!tolerate(w, PF_REPAIR_BARE_QUOTE, p))
			return NULL;
		pf_buf_adds(w->out, "\\\"");
		return p + 1;
	}
	if ((unsigned char)*p < 0x20) {
		if (!tolerate(w, PF_REPAIR_CONTROL_BYTE, p))
			return NULL;
		pf_buf_addf(w->out, "\\u%04x", (unsigned)(unsigned char)*p);
		return p + 1;
	}
	len = utf8_len((const unsigned char *)p, (const unsigned char *)end);
	if (len) {
		pf_buf_add(w->out, p, len);
		return p + len;
	}
	if (!tolerate(w, PF_REPAIR_BAD_UTF8, p))
		return NULL;
	pf_buf_adds(w->out, "\\ufffd");
	return p + 1;
}

/* Behind a quote: is what follows the next member, or does its object end? */
static bool ends_member(const char *p, const char *end)
{
	p = pf_skip_blanks(p, end);
	if (p < end && *p == '}') {
		p = pf_skip_blanks(p + 1, end);
		return p == end || *p == ',' || *p == '}' || *p == ']';
	}
	if (p == end || *p != ',')
		return false;
	p = pf_skip_blanks(p + 1, end);
	if (p == end || *p != '"')
		return false;
	p = pf_string_end(p + 1, end);
	p = p ? pf_skip_blanks(p + 1, end) : end;
	return p < end && *p == ':';
}

/*
 * The closing quote of a member's string that may hold bare ones.  Linear:
 * what is looked at behind a quote has two quotes at most.
 */
static const char *bare_end(const char *p, const char *end)
{
	for (; (p = pf_string_end(p, end)); p++)
		if (ends_member(p + 1, end))
			return p;
	return NULL;
}

static bool is_member(const struct work *w)
{
	return !w->depth || w->closer[w->depth - 1] == '}';
}

/* m->p is at the opening quote. */
static enum pf_mend_result mend_string(struct work *w, bool is_key)
{
	const size_t limit = is_key ? PF_JSON_MAX_KEY : PF_JSON_MAX_STRING;
	const char *p = w->m->p + 1;
	const char *end = w->m->bare_quotes && !is_key && is_member(w)
				  ? bare_end(p, w->m->end)
				  : pf_string_end(p, w->m->end);

	if (!end)
		return (size_t)(w->m->end - p) > limit ? PF_MEND_BAD
						       : PF_MEND_INCOMPLETE;
	if ((size_t)(end - p) > limit)
		return PF_MEND_BAD;
	pf_buf_addc(w->out, '"');
	while (p < end) {
		const char *run = p;

		while (p < end && *p != '\\' && *p != '"' &&
		       (signed char)*p >= 0x20)
			p++;
		pf_buf_add(w->out, run, (size_t)(p - run));
		if (p < end)
			p = *p == '\\' ? mend_escape(w, p, end)
				       : mend_byte(w, p, end);
		if (!p)
			return PF_MEND_BAD;
	}
	pf_buf_addc(w->out, '"');
	w->m->p = end + 1;
	return PF_MEND_OK;
}

/* ---- scalars ---- */

static const char *digits(const char *p, const char *end)
{
	while (p < end && *p >= '0' && *p <= '9')
		p++;
	return p;
}

static bool is_number(const char *p, const char *end)
{
	const char *q;

	if ((size_t)(end - p) > PF_JSON_MAX_NUMBER)
		return false;
	if (p < end && *p == '-')
		p++;
	q = digits(p, end);
	if (q == p || (*p == '0' && q - p > 1))
		return false;
	p = q;
	if (p < end && *p == '.') {
		q = digits(p + 1, end);
		if (q == p + 1)
			return false;
		p = q;
	}
	if (p < end && (*p | 32) == 'e') {
		p++;
		if (p < end && (*p == '+' || *p == '-'))
			p++;
		q = digits(p, end);
		if (q == p)
			return false;
		p = q;
	}
	return p == end;
}

static bool is_word(const char *p, const char *end, const char *word)
{
	size_t len = strlen(word);

	return (size_t)(end - p) == len && !memcmp(p, word, len);
}

static bool looks_numeric(const char *p, const char *end)
{
	for (; p < end; p++)
		if (!strchr("0123456789+-.eE", *p) || !*p)
			return false;
	return true;
}

static enum pf_mend_result replace(struct work *w, enum pf_repair_kind kind,
				   const char *at)
{
	if (!tolerate(w, kind, at))
		return PF_MEND_BAD;
	pf_buf_adds(w->out, "null");
	return PF_MEND_OK;
}

static enum pf_mend_result mend_scalar(struct work *w)
{
	const char *p = w->m->p, *end = p, *q;

	while (end < w->m->end && *end != ',' && *end != ']' && *end != '}')
		end++;
	if (end == w->m->end && w->depth > 0)
		return PF_MEND_INCOMPLETE;
	w->m->p = end;
	q = end;
	while (q > p && pf_is_blank(q[-1]))
		q--;
	if (is_number(p, q) || is_word(p, q, "true") ||
	    is_word(p, q, "false") || is_word(p, q, "null")) {
		pf_buf_add(w->out, p, (size_t)(q - p));
		return PF_MEND_OK;
	}
	if (w->m->placeholders && q - p == 2 && *p == '$' && p[1] >= 'a' &&
	    p[1] <= 'z') {
		uint32_t bit = UINT32_C(1) << (p[1] - 'a');

		w->m->twice |= (w->m->mask & bit) != 0;
		w->m->mask |= bit;
		pf_buf_add(w->out, p, 2);
		return PF_MEND_OK;
	}
	if (is_word(p, q, "NaN") || is_word(p, q, "Infinity") ||
	    is_word(p, q, "-Infinity") || is_word(p, q, "nan") ||
	    is_word(p, q, "inf") || is_word(p, q, "-inf") ||
	    is_word(p, q, "-nan"))
		return replace(w, PF_REPAIR_NOT_A_NUMBER, p);
	if (q > p && looks_numeric(p, q) && !is_word(p, q, "...") &&
	    digits(p, q) != p)
		return replace(w, PF_REPAIR_BAD_NUMBER, p);
	if (w->m->bare_quotes)
		return PF_MEND_BAD;
	return replace(w, PF_REPAIR_UNQUOTED, p);
}

/* ---- members, for duplicate keys ---- */

static struct members *members_at(struct work *w)
{
	int most = w->m->placeholders ? ARGS_DEPTH : ARGS_DEPTH + 1;

	return w->depth >= 1 && w->depth <= most ? &w->members[w->depth - 1]
						 : NULL;
}

/*
 * The key that ends at out->len was written from key_begin on.  If the object
 * had it before, the earlier member is taken out of the text.
 */
static bool note_member(struct work *w, size_t key_begin)
{
	struct members *ms = members_at(w);
	size_t key_len = w->out->len - key_begin, cut_end;

	if (!ms || ms->count == MEMBERS_MAX)
		return true;
	for (size_t i = 0; i < ms->count; i++) {
		if (ms->key_end[i] - ms->begin[i] != key_len ||
		    memcmp(w->out->data + ms->begin[i],
			   w->out->data + key_begin, key_len) != 0)
			continue;
		if (!tolerate(w, PF_REPAIR_DUPLICATE_KEY, w->m->p))
			return false;
		cut_end = i + 1 < ms->count ? ms->begin[i + 1] : key_begin;
		key_len = cut_end - ms->begin[i];
		memmove(w->out->data + ms->begin[i], w->out->data + cut_end,
			w->out->len - cut_end + 1);
		w->out->len -= key_len;
		for (size_t k = i + 1; k < ms->count; k++) {
			ms->begin[k - 1] = ms->begin[k] - key_len;
			ms->key_end[k - 1] = ms->key_end[k] - key_len;
		}
		ms->count--;
		key_begin -= key_len;
		break;
	}
	ms->begin[ms->count] = key_begin;
	ms->key_end[ms->count++] = w->out->len;
	return true;
}

/* ---- the value ---- */

static enum pf_mend_result open_nested(struct work *w, enum state *state)
{
	bool object = *w->m->p == '{';

	if (w->depth == PF_JSON_MAX_DEPTH)
		return PF_MEND_BAD;
	pf_buf_addc(w->out, *w->m->p++);
	w->closer[w->depth++] = object ? '}' : ']';
	if (members_at(w))
		members_at(w)->count = 0;
	*state = object ? FIRST_KEY : FIRST_VALUE;
	return PF_MEND_OK;
}

static void close_nested(struct work *w, enum state *state)
{
	pf_buf_addc(w->out, *w->m->p++);
	w->depth--;
	*state = AFTER;
}

static enum pf_mend_result step_value(struct work *w, enum state *state)
{
	switch (*w->m->p) {
	case '{':
	case '[':
		return open_nested(w, state);
	case '"':
		*state = AFTER;
		return mend_string(w, false);
	case '}':
	case ']':
	case ',':
		if (w->depth == 0)
			return PF_MEND_BAD;
		break;
	}
	*state = AFTER;
	return mend_scalar(w);
}

static enum pf_mend_result step_key(struct work *w, enum state *state)
{
	size_t begin = w->out->len;
	enum pf_mend_result r;

	if (*w->m->p != '"')
		return PF_MEND_BAD;
	r = mend_string(w, true);
	if (r != PF_MEND_OK)
		return r;
	w->m->p = pf_skip_blanks(w->m->p, w->m->end);
	if (w->m->p == w->m->end)
		return PF_MEND_INCOMPLETE;
	if (*w->m->p != ':')
		return PF_MEND_BAD;
	w->m->p++;
	if (!note_member(w, begin))
		return PF_MEND_BAD;
	pf_buf_addc(w->out, ':');
	*state = VALUE;
	return PF_MEND_OK;
}

static enum pf_mend_result step_after(struct work *w, enum state *state)
{
	char c = *w->m->p, closer = w->closer[w->depth - 1];

	if (c == closer) {
		close_nested(w, state);
		return PF_MEND_OK;
	}
	if (c != ',')
		return PF_MEND_BAD;
	pf_buf_addc(w->out, ',');
	w->m->p++;
	*state = closer == '}' ? KEY : NEXT_VALUE;
	return PF_MEND_OK;
}

/* A stray comma, or the closer behind one. */
static bool step_stray(struct work *w, enum state *state)
{
	bool behind_comma = *state == KEY || *state == NEXT_VALUE;

	if (*w->m->p == ',' && tolerate(w, PF_REPAIR_TRAILING_COMMA, w->m->p)) {
		w->m->p++;
		return true;
	}
	if (*w->m->p != w->closer[w->depth - 1])
		return false;
	if (behind_comma) {
		if (!tolerate(w, PF_REPAIR_TRAILING_COMMA, w->m->p))
			return false;
		w->out->data[--w->out->len] = '\0';
	}
	close_nested(w, state);
	return true;
}

enum pf_mend_result pf_mend_value(struct pf_mend *m, struct pf_buf *out)
{
	struct work w = { .m = m, .out = out, .start = m->p };
	enum pf_mend_result r = PF_MEND_OK;
	enum state state = VALUE;

	do {
		m->p = pf_skip_blanks(m->p, m->end);
		if (m->p == m->end)
			return PF_MEND_INCOMPLETE;
		switch (state) {
		case VALUE:
			r = step_value(&w, &state);
			break;
		case FIRST_KEY:
		case KEY:
			if (!step_stray(&w, &state))
				r = step_key(&w, &state);
			break;
		case FIRST_VALUE:
		case NEXT_VALUE:
			if (!step_stray(&w, &state))
				r = step_value(&w, &state);
			break;
		case AFTER:
			r = step_after(&w, &state);
			break;
		}
	} while (r == PF_MEND_OK && (w.depth > 0 || state != AFTER));
	return r;
}

/* ---- redact ---- */

bool pf_redact_is_environment(const char *key, size_t len)
{
	static const char *const words[] = { "env", "environ", "environment",
					     "env_vars",
					     "environment_variables" };

	for (size_t i = 0; i < PF_LEN(words); i++)
		if (strlen(words[i]) == len && !strncasecmp(key, words[i], len))
			return true;
	return false;
}

void pf_redact_environment(const char *text, size_t len, struct pf_buf *out)
{
	const char *p = text, *end = text + len, *copied = text;

	while ((p = memchr(p, '"', (size_t)(end - p)))) {
		const char *quote = pf_string_end(p + 1, end), *value;

		if (!quote)
			break;
		value = quote + 2;
		if (value >= end || quote[1] != ':' ||
		    (*value != '{' && *value != '[') ||
		    !pf_redact_is_environment(p + 1, (size_t)(quote - p - 1))) {
			p = quote + 1;
			continue;
		}
		p = pf_nested_end(value, end);
		if (!p)
			break;
		pf_buf_add(out, copied, (size_t)(value - copied));
		pf_buf_adds(out, *value == '{' ? "{}" : "[]");
		copied = p;
	}
	pf_buf_add(out, copied, (size_t)(end - copied));
}
