/* SPDX-License-Identifier: MIT */
/* Invariant: window[at, len) has been read and belongs to no token yet. */
#include "config.h"

#include "formats/json/lexer.h"

#include <inttypes.h>
#include <math.h>

#include "base/json.h"
#include "base/mem.h"

#define DEPTH_MAX        64
#define WORD_MAX         64 /* a number or word is shorter */
#define WINDOW_BYTES     (256u << 10)
#define STRING_BYTES_MAX (16u << 20)

void pf_lexer_release(struct pf_lexer *t)
{
	free(t->window);
	pf_buf_release(&t->unescaped);
}

static enum pf_lexer_kind fail(struct pf_lexer *t, const char *what)
{
	pf_fail(t->err, PF_EDATA, "is no JSON: %s at byte %" PRId64, what,
		pf_lexer_offset(t));
	t->is_over = true;
	return PF_LEXER_END;
}

/* More bytes behind those that are not understood yet; false: none. */
static bool refill(struct pf_lexer *t)
{
	int64_t n;

	if (t->is_end)
		return false;
	if (t->at)
		memmove(t->window, t->window + t->at, t->len - t->at);
	t->offset += (int64_t)t->at;
	t->len -= t->at;
	t->at = 0;
	if (t->cap > STRING_BYTES_MAX && t->cap - t->len < WINDOW_BYTES / 2) {
		pf_fail(t->err, PF_EDATA,
			"has a string of more than %u MB at byte %" PRId64,
			STRING_BYTES_MAX >> 20, t->offset);
		t->is_end = true;
		return false;
	}
	if (t->cap - t->len < WINDOW_BYTES / 2) {
		t->cap = t->cap ? t->cap * 2 : WINDOW_BYTES;
		t->window = pf_realloc(t->window, t->cap, 1);
	}
	n = t->read(t->arg, t->window + t->len, t->cap - t->len, t->err);
	t->is_end = n < (int64_t)(t->cap - t->len);
	t->len += n > 0 ? (size_t)n : 0;
	return n > 0;
}

static bool is_gap(char c)
{
	return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

/* Go to the byte behind gaps; false: there is none. */
static bool skip_gaps(struct pf_lexer *t)
{
	do {
		while (t->at < t->len && is_gap(t->window[t->at]))
			t->at++;
	} while (t->at == t->len && refill(t));
	return t->at < t->len;
}

static bool is_closing(char c)
{
	return c == ']' || c == '}';
}

/* Go to the next token, past the comma or colon that has to be before it. */
static bool find_start(struct pf_lexer *t)
{
	bool after_key = t->after_key;

	if (!skip_gaps(t))
		return false;
	if (!after_key &&
	    (!t->after_value || !t->depth || is_closing(t->window[t->at])))
		return true;
	if (t->window[t->at] != (after_key ? ':' : ',')) {
		fail(t, after_key ? "no colon" : "no comma");
		return false;
	}
	t->at++;
	if (!skip_gaps(t))
		return false;
	if (is_closing(t->window[t->at])) {
		fail(t, "no value");
		return false;
	}
	return true;
}

/* ---- strings and words ---- */

/* Behind the string's last quote, from "from" on; 0: not in the window. */
static size_t string_end(const struct pf_lexer *t, size_t from)
{
	const char *p = t->window + from, *end = t->window + t->len;

	while ((p = memchr(p, '"', (size_t)(end - p)))) {
		const char *q = p;

		while (q > t->window + t->at + 1 && q[-1] == '\\')
			q--;
		p++;
		if (!((size_t)(p - 1 - q) & 1))
			return (size_t)(p - t->window);
	}
	return 0;
}

static enum pf_lexer_kind next_string(struct pf_lexer *t)
{
	bool is_key =
		!t->after_key && t->depth && t->objects >> (t->depth - 1) & 1;
	size_t end, seen = 1;

	while (!(end = string_end(t, t->at + seen))) {
		/* What has been looked at has no last quote; a backslash may
		 * stand right before one. */
		seen = t->len - t->at;
		if (!refill(t)) {
			t->at = t->len;
			return PF_LEXER_END;
		}
	}
	t->text = t->window + t->at + 1;
	t->text_len = end - 1 - (t->at + 1);
	t->at = end;
	if (memchr(t->text, '\\', t->text_len)) {
		pf_buf_clear(&t->unescaped);
		pf_json_unescape(t->text, t->text_len, &t->unescaped);
		t->text = t->unescaped.data ? t->unescaped.data : "";
		t->text_len = t->unescaped.len;
	}
	t->after_key = is_key;
	t->after_value = !is_key;
	return is_key ? PF_LEXER_KEY : PF_LEXER_TEXT;
}

static bool is_word_byte(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
	       (c >= 'A' && c <= 'Z') || c == '-' || c == '+' || c == '.';
}

static enum pf_lexer_kind next_word(struct pf_lexer *t)
{
	size_t n = 0;
	char c;

	do {
		while (t->at + n < t->len && n < WORD_MAX &&
		       is_word_byte(t->window[t->at + n]))
			n++;
	} while (t->at + n == t->len && n < WORD_MAX && refill(t));
	if (t->at + n == t->len && n < WORD_MAX) {
		t->at = t->len;
		return PF_LEXER_END; /* it may be cut */
	}
	if (!n || n == WORD_MAX)
		return fail(t, "no value");
	t->text = t->window + t->at;
	t->text_len = n;
	t->at += n;
	t->after_key = false;
	t->after_value = true;
	c = *t->text;
	return c == '-' || (c >= '0' && c <= '9') ? PF_LEXER_NUMBER
						  : PF_LEXER_WORD;
}

/* ---- tokens ---- */

static enum pf_lexer_kind open_value(struct pf_lexer *t, bool is_object)
{
	if (t->depth == DEPTH_MAX)
		return fail(t, "too deep");
	t->objects &= ~(UINT64_C(1) << t->depth);
	t->objects |= (uint64_t)is_object << t->depth;
	t->depth++;
	t->at++;
	t->after_key = t->after_value = false;
	return is_object ? PF_LEXER_OBJECT : PF_LEXER_LIST;
}

static enum pf_lexer_kind close_value(struct pf_lexer *t, bool is_object)
{
	if (!t->depth || (t->objects >> (t->depth - 1) & 1) != is_object)
		return fail(t, "a bracket that none opened");
	t->depth--;
	t->at++;
	t->after_key = false;
	t->after_value = true;
	return is_object ? PF_LEXER_OBJECT_END : PF_LEXER_LIST_END;
}

static enum pf_lexer_kind find_token(struct pf_lexer *t)
{
	if (t->is_over || !find_start(t))
		return PF_LEXER_END;
	switch (t->window[t->at]) {
	case '{':
		return open_value(t, true);
	case '}':
		return close_value(t, true);
	case '[':
		return open_value(t, false);
	case ']':
		return close_value(t, false);
	case '"':
		return next_string(t);
	default:
		return next_word(t);
	}
}

enum pf_lexer_kind pf_lexer_next(struct pf_lexer *t)
{
	return t->kind = find_token(t);
}

void pf_lexer_skip(struct pf_lexer *t)
{
	unsigned depth = t->depth;

	if (t->kind == PF_LEXER_OBJECT || t->kind == PF_LEXER_LIST)
		while (t->depth >= depth && pf_lexer_next(t) != PF_LEXER_END)
			;
}

void pf_lexer_pass(struct pf_lexer *t)
{
	pf_lexer_next(t);
	pf_lexer_skip(t);
}

bool pf_lexer_open(struct pf_lexer *t, enum pf_lexer_kind kind)
{
	if (pf_lexer_next(t) == kind)
		return true;
	pf_lexer_skip(t);
	return false;
}

bool pf_lexer_element(struct pf_lexer *t, enum pf_lexer_kind kind)
{
	while (pf_lexer_next(t) != kind) {
		if (t->kind == PF_LEXER_LIST_END || t->kind == PF_LEXER_END)
			return false;
		pf_lexer_skip(t);
	}
	return true;
}

bool pf_lexer_key(struct pf_lexer *t)
{
	if (pf_lexer_next(t) != PF_LEXER_KEY && t->kind != PF_LEXER_OBJECT_END)
		t->is_over = true;
	if (t->is_over)
		t->kind = PF_LEXER_END;
	return t->kind == PF_LEXER_KEY;
}

int64_t pf_lexer_start(const struct pf_lexer *t)
{
	return pf_lexer_offset(t) -
	       (t->kind >= PF_LEXER_KEY ? (int64_t)t->text_len : t->kind > 0);
}

static inline bool whole(const struct pf_lexer *t, int64_t *value)
{
	const char *p = t->text, *end = p + t->text_len;
	bool negative = p < end && *p == '-';
	int64_t v = 0;

	p += negative;
	if (p == end)
		return false;
	for (; p < end; p++)
		if (*p < '0' || *p > '9' || __builtin_mul_overflow(v, 10, &v) ||
		    __builtin_add_overflow(v, *p - '0', &v))
			return false;
	*value = negative ? -v : v;
	return true;
}

bool pf_lexer_int(const struct pf_lexer *t, int64_t *value)
{
	return t->kind == PF_LEXER_NUMBER && whole(t, value);
}

bool pf_lexer_real(const struct pf_lexer *t, double *value)
{
	char text[WORD_MAX + 1], *end;

	if (t->kind != PF_LEXER_NUMBER)
		return false;
	memcpy(text, t->text, t->text_len);
	text[t->text_len] = '\0';
	*value = strtod(text, &end);
	return !*end && isfinite(*value);
}

/* ---- fields ---- */

#define KEY_MAX   32
#define UNDER_MAX 8

void pf_members_init(struct pf_members *f, const struct pf_member *list,
		     unsigned count)
{
	*f = (struct pf_members){ .list = list, .count = count };
	for (unsigned i = 0; i < count; i++)
		f->key_len[i] = (uint8_t)strlen(list[i].key);
}

void pf_members_release(struct pf_members *f)
{
	pf_buf_release(&f->texts);
}

static bool is_field(const struct pf_members *f, unsigned i, const char *under,
		     const char *key, size_t len)
{
	const struct pf_member *field = &f->list[i];

	return f->key_len[i] == len && !memcmp(field->key, key, len) &&
	       !strcmp(field->under ? field->under : "", under);
}

/* Its number, or count; records repeat the order of their members. */
static unsigned find_field(struct pf_members *f, unsigned last,
			   const char *under, const char *key, size_t len)
{
	unsigned i = f->behind[last];

	if (i < f->count && is_field(f, i, under, key, len))
		return i;
	for (i = 0; i < f->count; i++)
		if (is_field(f, i, under, key, len)) {
			f->behind[last] = (uint8_t)i;
			return i;
		}
	return f->count;
}

static void take_field(struct pf_members *f, unsigned i,
		       const struct pf_lexer *t)
{
	struct pf_member_value *v = &f->values[i];

	if (t->kind == PF_LEXER_TEXT) {
		v->is = PF_MEMBER_TEXT;
		v->at = f->texts.len;
		v->len = t->text_len;
		pf_buf_add(&f->texts, t->text, t->text_len);
	} else if (t->kind == PF_LEXER_NUMBER && whole(t, &v->number)) {
		v->is = PF_MEMBER_INT;
	} else {
		v->is = pf_lexer_real(t, &v->real) ? PF_MEMBER_REAL
						   : PF_MEMBER_OTHER;
	}
}

struct where {
	char under[UNDER_MAX][KEY_MAX]; /* keys of what is open */
	unsigned depth;
	unsigned last; /* field + 1 */
	unsigned now;
};

static void enter(struct where *w, const char *key, size_t len)
{
	char *under = w->under[++w->depth];

	if (len >= KEY_MAX)
		len = KEY_MAX - 1;
	memcpy(under, key, len);
	under[len] = '\0';
}

/* The value behind a key. */
static void read_value(struct pf_members *f, struct pf_lexer *t,
		       struct where *w, const char *key, size_t key_len)
{
	if (pf_lexer_next(t) == PF_LEXER_OBJECT && w->depth + 1 < UNDER_MAX) {
		enter(w, key, key_len);
		return;
	}
	if (w->now < f->count && t->kind != PF_LEXER_END) {
		take_field(f, w->now, t);
		w->last = w->now + 1;
	}
	pf_lexer_skip(t);
}

bool pf_members_read(struct pf_members *f, struct pf_lexer *t)
{
	struct where w = { .last = 0 };
	char key[KEY_MAX];
	size_t len;

	memset(f->values, 0, f->count * sizeof(*f->values));
	pf_buf_clear(&f->texts);
	while (pf_lexer_next(t) != PF_LEXER_END) {
		if (t->kind == PF_LEXER_OBJECT_END && !w.depth--)
			return true;
		if (t->kind == PF_LEXER_OBJECT_END)
			continue;
		if (t->kind != PF_LEXER_KEY) {
			pf_lexer_skip(t);
			continue;
		}
		len = t->text_len < KEY_MAX ? t->text_len : KEY_MAX - 1;
		memcpy(key, t->text, len);
		w.now = t->text_len < KEY_MAX
				? find_field(f, w.last, w.under[w.depth], key,
					     len)
				: f->count;
		read_value(f, t, &w, key, len);
	}
	return false;
}

int64_t pf_member_int(const struct pf_members *f, unsigned field,
		      int64_t instead)
{
	const struct pf_member_value *v = &f->values[field];

	return v->is == PF_MEMBER_INT ? v->number : instead;
}

bool pf_member_text(const struct pf_members *f, unsigned field,
		    const char **text, size_t *len)
{
	const struct pf_member_value *v = &f->values[field];

	if (v->is != PF_MEMBER_TEXT)
		return false;
	*text = f->texts.data ? f->texts.data + v->at : "";
	*len = v->len;
	return true;
}

double pf_member_real(const struct pf_members *f, unsigned field)
{
	const struct pf_member_value *v = &f->values[field];

	return v->is == PF_MEMBER_INT    ? (double)v->number
	       : v->is == PF_MEMBER_REAL ? v->real
					 : NAN;
}
