/* SPDX-License-Identifier: MIT */
/*
 * rocprofv3's JSON: one object whose one member is a list of tools, each with
 * what it defines (agents, strings, kernels) and then its records, in lists by
 * domain.  It is read once, in one pass; a name whose definition came later is
 * lost, and counted.
 */
#include "config.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/json.h"
#include "base/mem.h"
#include "formats/rocm/map.h"
#include "formats/rocm/rocm.h"
#include "formats/sqlite/foreign.h"

/*
 * JSON token by token, from a stream, in a window that grows only for a long
 * string.  Nothing is built and nothing recurs; commas and colons are taken
 * for granted.  For documents that are no list of trace events (those are
 * formats/json/chrome.h's).
 */

enum pf_token {
	PF_TOKEN_END, /* of the document, or of what there is of it */
	PF_TOKEN_OBJECT,
	PF_TOKEN_OBJECT_END,
	PF_TOKEN_LIST,
	PF_TOKEN_LIST_END,
	PF_TOKEN_KEY,
	PF_TOKEN_TEXT,
	PF_TOKEN_NUMBER,
	PF_TOKEN_WORD,   /* true, false, null */
	PF_TOKEN_FAILURE /* and err */
};

#define PF_TOKENS_DEPTH 64

struct pf_tokens {
	/* as read(2): fewer bytes only at the end */
	int64_t (*read)(void *arg, void *buf, size_t len, struct pf_err *err);
	void *arg;
	char *window;
	size_t at, len, cap;
	int64_t offset; /* of the window in the stream */
	bool is_end;
	unsigned depth;
	uint64_t objects; /* bit d: what is open at depth d is an object */
	bool after_key;
	/* of the token found last, borrowed until the next */
	const char *text;
	size_t text_len;
	struct pf_buf unescaped;
};

#define WINDOW_BYTES     (256u << 10)
#define STRING_BYTES_MAX (16u << 20)

static void tokens_release(struct pf_tokens *t)
{
	free(t->window);
	pf_buf_release(&t->unescaped);
}

/* Bytes of the stream that have been understood. */
static int64_t tokens_offset(const struct pf_tokens *t)
{
	return t->offset + (int64_t)t->at;
}

static enum pf_token fail(struct pf_tokens *t, const char *what,
			  struct pf_err *err)
{
	pf_fail(err, PF_EDATA, "is no JSON: %s at byte %" PRId64, what,
		tokens_offset(t));
	return PF_TOKEN_FAILURE;
}

/* More bytes behind those that are not understood yet: 1, 0 none, -1. */
static int refill(struct pf_tokens *t, struct pf_err *err)
{
	int64_t n;

	if (t->is_end)
		return 0;
	if (t->at)
		memmove(t->window, t->window + t->at, t->len - t->at);
	t->offset += (int64_t)t->at;
	t->len -= t->at;
	t->at = 0;
	if (t->cap - t->len < WINDOW_BYTES / 2) {
		if (t->cap > STRING_BYTES_MAX)
			return pf_fail(err, PF_EDATA,
				       "has a string of more than %u MB at "
				       "byte %" PRId64,
				       STRING_BYTES_MAX >> 20, t->offset);
		t->cap = t->cap ? t->cap * 2 : WINDOW_BYTES;
		t->window = pf_realloc(t->window, t->cap, 1);
	}
	n = t->read(t->arg, t->window + t->len, t->cap - t->len, err);
	if (n < 0)
		return -1;
	t->is_end = n < (int64_t)(t->cap - t->len);
	t->len += (size_t)n;
	return n > 0;
}

static bool is_gap(char c)
{
	return c == ' ' || c == ',' || c == ':' || c == '\n' || c == '\r' ||
	       c == '\t';
}

/* The byte at hand behind gaps: 1, 0 the end, -1. */
static int skip_gaps(struct pf_tokens *t, struct pf_err *err)
{
	for (;;) {
		while (t->at < t->len && is_gap(t->window[t->at]))
			t->at++;
		if (t->at < t->len)
			return 1;
		switch (refill(t, err)) {
		case 0:
			return 0;
		case -1:
			return -1;
		}
	}
}

/* ---- strings and words ---- */

/* Behind the string's last quote, from "from" on; 0: not in the window. */
static size_t string_end(const struct pf_tokens *t, size_t from)
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

static enum pf_token next_string(struct pf_tokens *t, struct pf_err *err)
{
	bool is_key =
		!t->after_key && t->depth && t->objects >> (t->depth - 1) & 1;
	size_t end, seen = 1;

	while (!(end = string_end(t, t->at + seen))) {
		/* What has been looked at has no last quote; a backslash may
		 * stand right before one. */
		seen = t->len - t->at;
		switch (refill(t, err)) {
		case 0:
			t->at = t->len;
			return PF_TOKEN_END;
		case -1:
			return PF_TOKEN_FAILURE;
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
	return is_key ? PF_TOKEN_KEY : PF_TOKEN_TEXT;
}

static bool is_word_byte(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
	       (c >= 'A' && c <= 'Z') || c == '-' || c == '+' || c == '.';
}

static enum pf_token next_word(struct pf_tokens *t, struct pf_err *err)
{
	size_t n = 0;
	char c;

	for (;;) {
		while (t->at + n < t->len && n < 64 &&
		       is_word_byte(t->window[t->at + n]))
			n++;
		if (t->at + n < t->len || n == 64)
			break;
		switch (refill(t, err)) {
		case 0:
			t->at = t->len;
			return PF_TOKEN_END; /* it may be cut */
		case -1:
			return PF_TOKEN_FAILURE;
		}
	}
	if (!n || n == 64)
		return fail(t, "no value", err);
	t->text = t->window + t->at;
	t->text_len = n;
	t->at += n;
	t->after_key = false;
	c = *t->text;
	return c == '-' || (c >= '0' && c <= '9') ? PF_TOKEN_NUMBER
						  : PF_TOKEN_WORD;
}

/* ---- tokens ---- */

static enum pf_token open_value(struct pf_tokens *t, bool is_object,
				struct pf_err *err)
{
	if (t->depth == PF_TOKENS_DEPTH)
		return fail(t, "too deep", err);
	t->objects &= ~(UINT64_C(1) << t->depth);
	t->objects |= (uint64_t)is_object << t->depth;
	t->depth++;
	t->at++;
	t->after_key = false;
	return is_object ? PF_TOKEN_OBJECT : PF_TOKEN_LIST;
}

static enum pf_token close_value(struct pf_tokens *t, bool is_object,
				 struct pf_err *err)
{
	if (!t->depth || (t->objects >> (t->depth - 1) & 1) != is_object)
		return fail(t, "a bracket that none opened", err);
	t->depth--;
	t->at++;
	t->after_key = false;
	return is_object ? PF_TOKEN_OBJECT_END : PF_TOKEN_LIST_END;
}

static enum pf_token tokens_next(struct pf_tokens *t, struct pf_err *err)
{
	int rc = skip_gaps(t, err);

	if (rc <= 0)
		return rc ? PF_TOKEN_FAILURE : PF_TOKEN_END;
	switch (t->window[t->at]) {
	case '{':
		return open_value(t, true, err);
	case '}':
		return close_value(t, true, err);
	case '[':
		return open_value(t, false, err);
	case ']':
		return close_value(t, false, err);
	case '"':
		return next_string(t, err);
	default:
		return next_word(t, err);
	}
}

/* Read past the value that a token begins; false at the end or a failure. */
static bool tokens_skip(struct pf_tokens *t, enum pf_token begun,
			struct pf_err *err)
{
	unsigned depth = t->depth;

	if (begun != PF_TOKEN_OBJECT && begun != PF_TOKEN_LIST)
		return begun != PF_TOKEN_END && begun != PF_TOKEN_FAILURE;
	while (t->depth >= depth) {
		enum pf_token token = tokens_next(t, err);

		if (token == PF_TOKEN_END || token == PF_TOKEN_FAILURE)
			return false;
	}
	return true;
}

/* The whole number of a number token; false: it is none. */
static bool tokens_int(const struct pf_tokens *t, int64_t *value)
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

/*
 * Members of objects by name, for records that all have the same: numbers and
 * texts of a list, whatever the order; all others are read past.
 */

#define PF_FIELDS_MAX 32

/* A member, or that of the object under a key. */
struct pf_json_field {
	const char *under; /* or NULL */
	const char *key;
};

struct pf_json_fields {
	const struct pf_json_field *list;
	unsigned count;
	uint8_t key_len[PF_FIELDS_MAX];
	/* what the object read last had */
	struct pf_json_value {
		enum {
			PF_JSON_NONE,
			PF_JSON_INT,
			PF_JSON_TEXT,
			PF_JSON_OTHER
		} is;
		int64_t number;
		size_t at, len; /* in texts */
	} values[PF_FIELDS_MAX];
	struct pf_buf texts;
	/* which member came behind which, last time */
	uint8_t behind[PF_FIELDS_MAX + 1];
};

/* ---- fields ---- */

#define KEY_MAX   32
#define DEPTH_MAX 8

static void json_fields_init(struct pf_json_fields *f,
			     const struct pf_json_field *list, unsigned count)
{
	*f = (struct pf_json_fields){ .list = list, .count = count };
	for (unsigned i = 0; i < count; i++)
		f->key_len[i] = (uint8_t)strlen(list[i].key);
}

static void json_fields_release(struct pf_json_fields *f)
{
	pf_buf_release(&f->texts);
}

static bool is_field(const struct pf_json_fields *f, unsigned i,
		     const char *under, const char *key, size_t len)
{
	const struct pf_json_field *field = &f->list[i];

	return f->key_len[i] == len && !memcmp(field->key, key, len) &&
	       !strcmp(field->under ? field->under : "", under);
}

/* Its number, or count; records repeat the order of their members. */
static unsigned find_field(struct pf_json_fields *f, unsigned last,
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

static void take_field(struct pf_json_fields *f, unsigned i,
		       enum pf_token token, const struct pf_tokens *t)
{
	struct pf_json_value *v = &f->values[i];

	if (token == PF_TOKEN_TEXT) {
		v->is = PF_JSON_TEXT;
		v->at = f->texts.len;
		v->len = t->text_len;
		pf_buf_add(&f->texts, t->text, t->text_len);
	} else {
		v->is = token == PF_TOKEN_NUMBER && tokens_int(t, &v->number)
				? PF_JSON_INT
				: PF_JSON_OTHER;
	}
}

struct where {
	char under[DEPTH_MAX][KEY_MAX]; /* keys of what is open */
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
static bool read_value(struct pf_json_fields *f, struct pf_tokens *t,
		       struct where *w, const char *key, size_t key_len,
		       struct pf_err *err)
{
	enum pf_token token = tokens_next(t, err);

	if (token == PF_TOKEN_OBJECT && w->depth + 1 < DEPTH_MAX) {
		enter(w, key, key_len);
		return true;
	}
	if (w->now < f->count && token != PF_TOKEN_END &&
	    token != PF_TOKEN_FAILURE) {
		take_field(f, w->now, token, t);
		w->last = w->now + 1;
	}
	return tokens_skip(t, token, err);
}

/* The rest of an object that has been opened; false: END or a failure. */
static bool json_fields_read(struct pf_json_fields *f, struct pf_tokens *t,
			     struct pf_err *err)
{
	struct where w = { .last = 0 };
	char key[KEY_MAX];
	size_t len;

	memset(f->values, 0, f->count * sizeof(*f->values));
	pf_buf_clear(&f->texts);
	for (;;) {
		enum pf_token token = tokens_next(t, err);

		if (token == PF_TOKEN_OBJECT_END) {
			if (!w.depth--)
				return true;
			continue;
		}
		if (token != PF_TOKEN_KEY) {
			if (!tokens_skip(t, token, err))
				return false;
			continue;
		}
		len = t->text_len < KEY_MAX ? t->text_len : KEY_MAX - 1;
		memcpy(key, t->text, len);
		w.now = t->text_len < KEY_MAX
				? find_field(f, w.last, w.under[w.depth], key,
					     len)
				: f->count;
		if (!read_value(f, t, &w, key, len, err))
			return false;
	}
}

static int64_t json_field_int(const struct pf_json_fields *f, unsigned field,
			      int64_t instead)
{
	const struct pf_json_value *v = &f->values[field];

	return v->is == PF_JSON_INT ? v->number : instead;
}

/* Borrowed until the next object is read; false: no text. */
static bool json_field_text(const struct pf_json_fields *f, unsigned field,
			    const char **text, size_t *len)
{
	const struct pf_json_value *v = &f->values[field];

	if (v->is != PF_JSON_TEXT)
		return false;
	*text = f->texts.data ? f->texts.data + v->at : "";
	*len = v->len;
	return true;
}

/* What the parts of the reader of rocprofv3's JSON share.  Not for others. */

#define PF_V3_KINDS_MAX 256u
#define PF_V3_LISTS_MAX 64u

enum pf_v3_state {
	PF_V3_AT_TOP,
	PF_V3_IN_TOP,
	PF_V3_IN_TOOLS,
	PF_V3_IN_TOOL,
	PF_V3_IN_LISTS,
	PF_V3_IN_LIST,
	PF_V3_AT_END
};

/* What becomes of the records of a list. */
enum pf_v3_list {
	PF_V3_KERNELS,
	PF_V3_COPIES,
	PF_V3_MEMORY,
	PF_V3_SCRATCH,
	PF_V3_CALLS,
	PF_V3_UNREAD
};

struct pf_v3 {
	struct pf_reader base;
	struct pf_rocm map;
	struct pf_tokens tokens;
	enum pf_v3_state state;
	enum pf_v3_list list;
	char list_name[40];
	int64_t tool; /* from 0 */
	int64_t pid, process;
	struct pf_intern texts; /* names of kinds, operations, kernels */
	uint32_t kind_name[PF_V3_KINDS_MAX];
	size_t kind_first[PF_V3_KINDS_MAX], kind_ops[PF_V3_KINDS_MAX];
	size_t kind_count;
	uint32_t *ops; /* names */
	size_t op_count, ops_cap;
	struct pf_map kernels; /* of this tool: registers << 32 | name */
	struct pf_keys marks;  /* of this tool: a range's text, by its link */
	const char *dir;
	struct pf_json_fields record, agent, symbol;
	struct pf_v3_rest {
		char name[40];
		int64_t rows;
	} rest[PF_V3_LISTS_MAX];
	size_t rest_count;
	const struct pf_rocm_agent *last_agent;
};

/* What a tool of rocprofv3's JSON defines: agents, strings, kernels. */

#define OPERATIONS_MAX 65536u
#define TEXTS_MAX      (1u << 19)
#define TEXT_BYTES_MAX (64u << 20)

/* Names are kept in memory, up to a limit; past it they are lost. */
static bool has_room(const struct pf_v3 *r)
{
	return r->texts.count < TEXTS_MAX &&
	       r->texts.bytes_len < TEXT_BYTES_MAX;
}

/* ---- definitions ---- */

enum { HANDLE, TYPE, ORDINAL, NODE, PRODUCT, ARCHITECTURE, UNITS, WAVE, WAVES };
static const struct pf_json_field agent_fields[] = {
	[HANDLE] = { "id", "handle" },
	[TYPE] = { NULL, "type" },
	[ORDINAL] = { NULL, "logical_node_type_id" },
	[NODE] = { NULL, "node_id" },
	[PRODUCT] = { NULL, "product_name" },
	[ARCHITECTURE] = { NULL, "name" },
	[UNITS] = { NULL, "cu_count" },
	[WAVE] = { NULL, "wave_front_size" },
	[WAVES] = { NULL, "max_waves_per_cu" },
};
#define TYPE_GPU 2

static void take_agent(struct pf_v3 *r)
{
	const struct pf_json_fields *f = &r->agent;
	struct pf_rocm_agent a = {
		.set = r->tool,
		.id = json_field_int(f, HANDLE, -1),
		.ordinal = -1,
	};
	struct pf_rocm_gpu gpu = {
		.units = json_field_int(f, UNITS, 0),
		.wave = json_field_int(f, WAVE, 0),
		.waves_per_unit = json_field_int(f, WAVES, 0),
	};

	if (json_field_int(f, TYPE, 0) == TYPE_GPU)
		a.ordinal =
			json_field_int(f, ORDINAL, json_field_int(f, NODE, -1));
	if (!json_field_text(f, PRODUCT, &gpu.name, &gpu.name_len) ||
	    !gpu.name_len)
		json_field_text(f, ARCHITECTURE, &gpu.name, &gpu.name_len);
	pf_rocm_add_agent(&r->map, &a, &gpu);
}

enum { KERNEL_ID, SHOWN, DEMANGLED, MANGLED, OWN, MORE };
static const struct pf_json_field symbol_fields[] = {
	[KERNEL_ID] = { NULL, "kernel_id" },
	[SHOWN] = { NULL, "formatted_kernel_name" },
	[DEMANGLED] = { NULL, "demangled_kernel_name" },
	[MANGLED] = { NULL, "kernel_name" },
	[OWN] = { NULL, "arch_vgpr_count" },
	[MORE] = { NULL, "accum_vgpr_count" },
};

static void take_symbol(struct pf_v3 *r)
{
	const struct pf_json_fields *f = &r->symbol;
	int64_t id = json_field_int(f, KERNEL_ID, -1);
	int64_t own = json_field_int(f, OWN, -1);
	int64_t more = json_field_int(f, MORE, -1);
	uint32_t registers = PF_KINETO_UNKNOWN;
	const char *text;
	size_t len;
	unsigned i = SHOWN;

	if (own >= 0 && more >= 0 && own < 1 << 20 && more < 1 << 20)
		registers = (uint32_t)(own + more);
	while (i <= MANGLED && !json_field_text(f, i, &text, &len))
		i++;
	if (id < 0 || i > MANGLED || !has_room(r))
		return;
	*pf_map_at(&r->kernels, (uint64_t)id) =
		(uint64_t)registers << 32 | pf_intern_add(&r->texts, text, len);
}

/* Each object of a list, of which a field table is read. */
static bool read_objects(struct pf_v3 *r, struct pf_json_fields *f,
			 void (*take)(struct pf_v3 *), struct pf_err *err)
{
	enum pf_token token = tokens_next(&r->tokens, err);

	if (token != PF_TOKEN_LIST)
		return tokens_skip(&r->tokens, token, err);
	while ((token = tokens_next(&r->tokens, err)) != PF_TOKEN_LIST_END) {
		if (token != PF_TOKEN_OBJECT) {
			if (!tokens_skip(&r->tokens, token, err))
				return false;
			continue;
		}
		if (!json_fields_read(f, &r->tokens, err))
			return false;
		take(r);
	}
	return true;
}

static bool v3_is_text(const struct pf_tokens *t, const char *word)
{
	return t->text_len == strlen(word) &&
	       !memcmp(t->text, word, t->text_len);
}

/* A list of texts, which become the operations of a kind. */
static bool read_operations(struct pf_v3 *r, size_t kind, struct pf_err *err)
{
	enum pf_token token = tokens_next(&r->tokens, err);

	if (token != PF_TOKEN_LIST)
		return tokens_skip(&r->tokens, token, err);
	r->kind_first[kind] = r->op_count;
	while ((token = tokens_next(&r->tokens, err)) != PF_TOKEN_LIST_END) {
		if (token != PF_TOKEN_TEXT) {
			if (!tokens_skip(&r->tokens, token, err))
				return false;
			continue;
		}
		if (r->op_count == OPERATIONS_MAX)
			continue;
		r->ops = pf_grow(r->ops, &r->ops_cap, r->op_count + 1,
				 sizeof(*r->ops));
		r->ops[r->op_count++] = pf_intern_add(&r->texts, r->tokens.text,
						      r->tokens.text_len);
		r->kind_ops[kind]++;
	}
	return true;
}

/* {"kind": "HIP_RUNTIME_API", "operations": [...]} */
static bool read_kind(struct pf_v3 *r, struct pf_err *err)
{
	size_t kind = r->kind_count < PF_V3_KINDS_MAX ? r->kind_count++
						      : PF_V3_KINDS_MAX - 1;
	enum pf_token token;

	r->kind_name[kind] = pf_intern_add(&r->texts, "", 0);
	r->kind_ops[kind] = 0;
	while ((token = tokens_next(&r->tokens, err)) != PF_TOKEN_OBJECT_END) {
		bool is_kind;

		if (token != PF_TOKEN_KEY)
			return false;
		is_kind = v3_is_text(&r->tokens, "kind");
		if (!is_kind && v3_is_text(&r->tokens, "operations")) {
			if (!read_operations(r, kind, err))
				return false;
			continue;
		}
		token = tokens_next(&r->tokens, err);
		if (is_kind && token == PF_TOKEN_TEXT)
			r->kind_name[kind] = pf_intern_add(
				&r->texts, r->tokens.text, r->tokens.text_len);
		if (!tokens_skip(&r->tokens, token, err))
			return false;
	}
	return true;
}

static bool read_kinds(struct pf_v3 *r, struct pf_err *err)
{
	enum pf_token token = tokens_next(&r->tokens, err);

	if (token != PF_TOKEN_LIST)
		return tokens_skip(&r->tokens, token, err);
	r->kind_count = r->op_count = 0;
	while ((token = tokens_next(&r->tokens, err)) != PF_TOKEN_LIST_END)
		if (token == PF_TOKEN_OBJECT
			    ? !read_kind(r, err)
			    : !tokens_skip(&r->tokens, token, err))
			return false;
	return true;
}

/* [{"key": link, "value": "a range's text"}] */
enum { MARK_KEY, MARK_TEXT };
static const struct pf_json_field mark_fields[] = {
	[MARK_KEY] = { NULL, "key" },
	[MARK_TEXT] = { NULL, "value" },
};

static bool read_marks(struct pf_v3 *r, struct pf_err *err)
{
	struct pf_json_fields f;
	enum pf_token token = tokens_next(&r->tokens, err);
	bool good = true;

	if (token != PF_TOKEN_LIST)
		return tokens_skip(&r->tokens, token, err);
	json_fields_init(&f, mark_fields, 2);
	while (good &&
	       (token = tokens_next(&r->tokens, err)) != PF_TOKEN_LIST_END) {
		const char *text;
		size_t len;

		if (token != PF_TOKEN_OBJECT) {
			good = tokens_skip(&r->tokens, token, err);
			continue;
		}
		good = json_fields_read(&f, &r->tokens, err);
		if (good && !r->marks.is_sealed && has_room(r) &&
		    json_field_text(&f, MARK_TEXT, &text, &len))
			pf_keys_add(&r->marks, json_field_int(&f, MARK_KEY, 0),
				    pf_intern_add(&r->texts, text, len), err);
		good &= !err->code;
	}
	json_fields_release(&f);
	return good;
}

static bool v3_read_strings(struct pf_v3 *r, struct pf_err *err)
{
	enum pf_token token = tokens_next(&r->tokens, err);
	bool good = true;

	if (token != PF_TOKEN_OBJECT)
		return tokens_skip(&r->tokens, token, err);
	while (good &&
	       (token = tokens_next(&r->tokens, err)) != PF_TOKEN_OBJECT_END) {
		if (token != PF_TOKEN_KEY)
			return false;
		if (v3_is_text(&r->tokens, "buffer_records"))
			good = read_kinds(r, err);
		else if (v3_is_text(&r->tokens, "marker_api"))
			good = read_marks(r, err);
		else
			good = tokens_skip(&r->tokens,
					   tokens_next(&r->tokens, err), err);
	}
	return good;
}

/* Of what the tool says of its run: the process, and no command line. */
static bool v3_read_metadata(struct pf_v3 *r, struct pf_err *err)
{
	static const struct pf_json_field fields[] = { { NULL, "pid" } };
	struct pf_json_fields f;
	enum pf_token token = tokens_next(&r->tokens, err);
	bool good;

	if (token != PF_TOKEN_OBJECT)
		return tokens_skip(&r->tokens, token, err);
	json_fields_init(&f, fields, 1);
	good = json_fields_read(&f, &r->tokens, err);
	if (good)
		r->pid = json_field_int(&f, 0, 0);
	json_fields_release(&f);
	return good;
}

/*
 * The value behind a key that is at hand: what a tool defines.  False: the
 * end, or a failure and err.
 */
static bool v3_read_agents(struct pf_v3 *r, struct pf_err *err)
{
	return read_objects(r, &r->agent, take_agent, err);
}

static bool v3_read_symbols(struct pf_v3 *r, struct pf_err *err)
{
	return read_objects(r, &r->symbol, take_symbol, err);
}

#define FIELDS(list) list, sizeof(list) / sizeof(*(list))

static void v3_init_fields(struct pf_v3 *r)
{
	json_fields_init(&r->agent, FIELDS(agent_fields));
	json_fields_init(&r->symbol, FIELDS(symbol_fields));
}

/* ---- records ---- */

enum {
	KIND,
	OPERATION,
	THREAD,
	LINK,
	START,
	END,
	AGENT,
	QUEUE,
	STREAM,
	KERNEL,
	SHAPE,
	FROM = SHAPE + PF_ROCM_SHAPE,
	TO,
	BYTES,
	SIZE,
	ADDRESS,
	ADDRESS_HANDLE,
	OWNER,
	RECORD_FIELDS
};
static const struct pf_json_field record_fields[] = {
	[KIND] = { NULL, "kind" },
	[OPERATION] = { NULL, "operation" },
	[THREAD] = { NULL, "thread_id" },
	[LINK] = { "correlation_id", "internal" },
	[START] = { NULL, "start_timestamp" },
	[END] = { NULL, "end_timestamp" },
	[AGENT] = { "agent_id", "handle" },
	[QUEUE] = { "queue_id", "handle" },
	[STREAM] = { "stream_id", "handle" },
	[KERNEL] = { "dispatch_info", "kernel_id" },
	[SHAPE] = { "dispatch_info", "private_segment_size" },
	[SHAPE + 1] = { "dispatch_info", "group_segment_size" },
	[SHAPE + 2] = { "workgroup_size", "x" },
	[SHAPE + 3] = { "workgroup_size", "y" },
	[SHAPE + 4] = { "workgroup_size", "z" },
	[SHAPE + 5] = { "grid_size", "x" },
	[SHAPE + 6] = { "grid_size", "y" },
	[SHAPE + 7] = { "grid_size", "z" },
	[FROM] = { "src_agent_id", "handle" },
	[TO] = { "dst_agent_id", "handle" },
	[BYTES] = { NULL, "bytes" },
	[SIZE] = { NULL, "allocation_size" },
	[ADDRESS] = { NULL, "address" },
	[ADDRESS_HANDLE] = { "address", "handle" },
	[OWNER] = { NULL, "size" }, /* of the record: told apart, not used */
};

static int64_t number(const struct pf_v3 *r, unsigned field)
{
	int64_t v = json_field_int(&r->record, field, -1);

	return v < 0 ? -1 : v;
}

static bool read_times(struct pf_v3 *r, struct pf_sink_put *put)
{
	const struct pf_json_fields *f = &r->record;

	if (f->values[START].is == PF_JSON_NONE) {
		pf_sink_note(&r->map.sink, PF_SKIP_NO_TIME);
		return false;
	}
	if (f->values[START].is != PF_JSON_INT ||
	    (f->values[END].is && f->values[END].is != PF_JSON_INT)) {
		pf_sink_note(&r->map.sink, PF_SKIP_MALFORMED);
		return false;
	}
	if (!f->values[END].is)
		pf_sink_note(&r->map.sink, PF_REPAIR_NO_DURATION);
	return pf_sink_times(&r->map.sink, f->values[START].number,
			     f->values[END].is ? f->values[END].number
					       : f->values[START].number,
			     put);
}

static const char *kind_text(const struct pf_v3 *r, size_t *len)
{
	int64_t kind = number(r, KIND);

	*len = 0;
	if (kind < 0 || kind >= (int64_t)r->kind_count)
		return "";
	return pf_intern_text(&r->texts, r->kind_name[kind], len);
}

/* "HIP_RUNTIME_API 17" where there is no such operation. */
static const char *operation_text(struct pf_v3 *r, char own[64], size_t *len)
{
	int64_t kind = number(r, KIND), op = number(r, OPERATION);

	if (kind >= 0 && kind < (int64_t)r->kind_count && op >= 0 &&
	    op < (int64_t)r->kind_ops[kind])
		return pf_intern_text(&r->texts,
				      r->ops[r->kind_first[kind] + (size_t)op],
				      len);
	pf_sink_note(&r->map.sink, PF_REPAIR_LOST_NAME);
	snprintf(own, 64, "operation %" PRId64 " of kind %" PRId64, op, kind);
	*len = strlen(own);
	return own;
}

static const struct pf_rocm_agent *agent_of(struct pf_v3 *r, unsigned field)
{
	int64_t id = number(r, field);

	if (id < 0)
		return NULL;
	if (r->last_agent && r->last_agent->id == id &&
	    r->last_agent->set == r->tool)
		return r->last_agent;
	return r->last_agent = pf_rocm_agent(&r->map, r->tool, id);
}

static int64_t device_of(struct pf_v3 *r, unsigned field)
{
	const struct pf_rocm_agent *a = agent_of(r, field);

	return a ? a->device : -1;
}

static struct pf_rocm_work work_of(struct pf_v3 *r)
{
	return (struct pf_rocm_work){
		.process = r->process,
		.pid = r->pid,
		.device = -1,
		.queue = number(r, QUEUE),
		.stream = number(r, STREAM),
		.id = number(r, LINK),
	};
}

static void put_kernel(struct pf_v3 *r, struct pf_sink_put *put)
{
	struct pf_rocm_work work = work_of(r);
	int64_t id = number(r, KERNEL), shape[PF_ROCM_SHAPE];
	struct pf_pfr_launch l;
	uint64_t found = UINT64_MAX;
	const char *text;
	char own[48];
	size_t len;

	for (unsigned i = 0; i < PF_ROCM_SHAPE; i++)
		shape[i] = number(r, SHAPE + i);
	l = pf_rocm_launch(shape);
	if (id >= 0 && pf_map_has(&r->kernels, (uint64_t)id))
		found = *pf_map_at(&r->kernels, (uint64_t)id);
	if (found != UINT64_MAX) {
		l.registers = (uint32_t)(found >> 32);
		text = pf_intern_text(&r->texts, (uint32_t)found, &len);
		put->name = pf_sink_text(&r->map.sink, text, len);
	} else {
		pf_sink_note(&r->map.sink, PF_REPAIR_LOST_NAME);
		snprintf(own, sizeof(own), "kernel %" PRId64, id);
		put->name = pf_sink_word(&r->map.sink, own);
	}
	work.agent = agent_of(r, AGENT);
	if (work.agent)
		work.device = work.agent->device;
	pf_rocm_put_kernel(&r->map, &work, &l, put);
}

static void put_copy(struct pf_v3 *r, struct pf_sink_put *put)
{
	struct pf_rocm_work work = work_of(r);
	struct pf_rocm_copy copy = { 0 };
	char own[64];

	copy.name = operation_text(r, own, &copy.name_len);
	copy.bytes = number(r, BYTES);
	copy.from = device_of(r, FROM);
	copy.to = device_of(r, TO);
	work.device = copy.from >= 0 ? copy.from : copy.to;
	pf_rocm_put_copy(&r->map, &work, &copy, put);
}

static struct pf_rocm_call call_of(struct pf_v3 *r)
{
	struct pf_rocm_call c = {
		.process = r->process,
		.pid = r->pid,
		.tid = json_field_int(&r->record, THREAD, 0),
		.id = number(r, LINK),
	};
	const char *text;
	size_t len;

	text = kind_text(r, &len);
	c.domain = pf_rocm_domain(text, len);
	return c;
}

static void put_memory(struct pf_v3 *r, struct pf_sink_put *put)
{
	static const char prefix[] = "MEMORY_ALLOCATION_";
	struct pf_rocm_call c = call_of(r);
	struct pf_rocm_memory m = { .is_scratch = r->list == PF_V3_SCRATCH };
	int64_t address = number(r, ADDRESS_HANDLE);
	char own[64];

	if (address < 0)
		address = number(r, ADDRESS);
	m.what = operation_text(r, own, &m.what_len);
	if (m.what_len > sizeof(prefix) - 1 &&
	    !memcmp(m.what, prefix, sizeof(prefix) - 1)) {
		m.what += sizeof(prefix) - 1;
		m.what_len -= sizeof(prefix) - 1;
	}
	m.device = device_of(r, AGENT);
	m.bytes = number(r, SIZE);
	m.address = address < 0 ? 0 : (uint64_t)address;
	pf_rocm_put_memory(&r->map, &c, &m, put);
}

static void put_call(struct pf_v3 *r, struct pf_sink_put *put,
		     struct pf_err *err)
{
	struct pf_rocm_call c = call_of(r);
	int64_t text = 0;
	char own[64];

	c.name = operation_text(r, own, &c.name_len);
	if (c.domain->category == PF_CAT_RANGE) {
		c.function = c.name;
		c.function_len = c.name_len;
		if (pf_keys_find(&r->marks, c.id, &text, err))
			c.name = pf_intern_text(&r->texts, (uint32_t)text,
						&c.name_len);
	}
	pf_rocm_put_call(&r->map, &c, put);
}

static void put_record(struct pf_v3 *r, struct pf_err *err)
{
	struct pf_sink_put put = { 0 };

	if (read_times(r, &put)) {
		if (r->list == PF_V3_KERNELS)
			put_kernel(r, &put);
		else if (r->list == PF_V3_COPIES)
			put_copy(r, &put);
		else if (r->list == PF_V3_CALLS)
			put_call(r, &put, err);
		else
			put_memory(r, &put);
	}
	r->map.sink.parsed.batch.event_count++;
}

/* Records of a list that is not read, by its name. */
static void count_unread(struct pf_v3 *r)
{
	struct pf_batch *b = &r->map.sink.parsed.batch;
	size_t i = 0;

	b->event_count++;
	pf_repair_note(&b->repairs, PF_SKIP_TABLE, 1,
		       tokens_offset(&r->tokens));
	while (i < r->rest_count && strcmp(r->rest[i].name, r->list_name) != 0)
		i++;
	if (i == PF_V3_LISTS_MAX)
		return;
	if (i == r->rest_count) {
		snprintf(r->rest[i].name, sizeof(r->rest[i].name), "%s",
			 r->list_name);
		r->rest_count++;
	}
	r->rest[i].rows++;
}

/* ---- places ---- */

static void note_cut(struct pf_v3 *r)
{
	pf_repair_note(&r->map.sink.parsed.batch.repairs, PF_REPAIR_CUT_OFF, 1,
		       tokens_offset(&r->tokens));
	r->state = PF_V3_AT_END;
}

static enum pf_v3_list list_of(const struct pf_tokens *t)
{
	static const struct {
		const char *name;
		enum pf_v3_list list;
	} lists[] = {
		{ "kernel_dispatch", PF_V3_KERNELS },
		{ "memory_copy", PF_V3_COPIES },
		{ "memory_allocation", PF_V3_MEMORY },
		{ "scratch_memory", PF_V3_SCRATCH },
	};
	static const char api[] = "_api";
	size_t n = sizeof(api) - 1;

	for (size_t i = 0; i < sizeof(lists) / sizeof(*lists); i++)
		if (v3_is_text(t, lists[i].name))
			return lists[i].list;
	return t->text_len > n && !memcmp(t->text + t->text_len - n, api, n)
		       ? PF_V3_CALLS
		       : PF_V3_UNREAD;
}

/* A member of a tool, whose key is at hand. */
static bool read_member(struct pf_v3 *r, struct pf_err *err)
{
	struct pf_tokens *t = &r->tokens;
	enum pf_token token;

	if (v3_is_text(t, "metadata"))
		return v3_read_metadata(r, err);
	if (v3_is_text(t, "agents"))
		return v3_read_agents(r, err);
	if (v3_is_text(t, "kernel_symbols"))
		return v3_read_symbols(r, err);
	if (v3_is_text(t, "strings"))
		return v3_read_strings(r, err);
	if (!v3_is_text(t, "buffer_records") &&
	    !v3_is_text(t, "callback_records"))
		return tokens_skip(t, tokens_next(t, err), err);
	token = tokens_next(t, err);
	if (token != PF_TOKEN_OBJECT)
		return tokens_skip(t, token, err);
	r->process = pf_rocm_process(&r->map, (uint64_t)r->tool);
	pf_keys_seal(&r->marks, err);
	r->state = PF_V3_IN_LISTS;
	return !err->code;
}

static bool read_element(struct pf_v3 *r, enum pf_token token,
			 struct pf_err *err)
{
	if (r->list == PF_V3_UNREAD) {
		count_unread(r);
		return tokens_skip(&r->tokens, token, err);
	}
	if (token != PF_TOKEN_OBJECT) {
		r->map.sink.parsed.batch.event_count++;
		pf_sink_note(&r->map.sink, PF_SKIP_NOT_AN_EVENT);
		return tokens_skip(&r->tokens, token, err);
	}
	if (!json_fields_read(&r->record, &r->tokens, err))
		return false;
	put_record(r, err);
	return !err->code;
}

static void begin_tool(struct pf_v3 *r)
{
	r->tool++;
	r->pid = 0;
	r->last_agent = NULL;
	pf_map_release(&r->kernels);
	pf_map_init(&r->kernels);
	pf_keys_release(&r->marks);
	pf_keys_init(&r->marks, r->dir);
	r->state = PF_V3_IN_TOOL;
}

/* ---- one token, by where the reader is; false: END or a failure ---- */

static bool at_top(struct pf_v3 *r, enum pf_token token, struct pf_err *err)
{
	(void)err;
	r->state = PF_V3_IN_TOP;
	return token == PF_TOKEN_OBJECT;
}

static bool in_top(struct pf_v3 *r, enum pf_token token, struct pf_err *err)
{
	if (token == PF_TOKEN_OBJECT_END)
		r->state = PF_V3_AT_END;
	else if (token == PF_TOKEN_KEY &&
		 v3_is_text(&r->tokens, "rocprofiler-sdk-tool"))
		r->state = PF_V3_IN_TOOLS;
	else
		return tokens_skip(&r->tokens, token, err);
	return true;
}

static bool in_tools(struct pf_v3 *r, enum pf_token token, struct pf_err *err)
{
	if (token == PF_TOKEN_LIST_END)
		r->state = PF_V3_IN_TOP;
	else if (token == PF_TOKEN_OBJECT)
		begin_tool(r);
	else if (token != PF_TOKEN_LIST)
		return tokens_skip(&r->tokens, token, err);
	return true;
}

static bool in_tool(struct pf_v3 *r, enum pf_token token, struct pf_err *err)
{
	if (token == PF_TOKEN_OBJECT_END)
		r->state = PF_V3_IN_TOOLS;
	else if (token == PF_TOKEN_KEY)
		return read_member(r, err);
	return true;
}

static bool in_lists(struct pf_v3 *r, enum pf_token token, struct pf_err *err)
{
	struct pf_tokens *t = &r->tokens;

	if (token == PF_TOKEN_OBJECT_END) {
		r->state = PF_V3_IN_TOOL;
		return true;
	}
	if (token != PF_TOKEN_KEY)
		return tokens_skip(t, token, err);
	r->list = list_of(t);
	snprintf(r->list_name, sizeof(r->list_name), "%.*s",
		 (int)(t->text_len < 39 ? t->text_len : 39), t->text);
	token = tokens_next(t, err);
	if (token != PF_TOKEN_LIST)
		return tokens_skip(t, token, err);
	r->state = PF_V3_IN_LIST;
	return true;
}

static bool in_list(struct pf_v3 *r, enum pf_token token, struct pf_err *err)
{
	if (token != PF_TOKEN_LIST_END)
		return read_element(r, token, err);
	r->state = PF_V3_IN_LISTS;
	return true;
}

static bool step(struct pf_v3 *r, struct pf_err *err)
{
	static bool (*const steps[])(struct pf_v3 *, enum pf_token,
				     struct pf_err *) = {
		[PF_V3_AT_TOP] = at_top,     [PF_V3_IN_TOP] = in_top,
		[PF_V3_IN_TOOLS] = in_tools, [PF_V3_IN_TOOL] = in_tool,
		[PF_V3_IN_LISTS] = in_lists, [PF_V3_IN_LIST] = in_list,
	};
	enum pf_token token = tokens_next(&r->tokens, err);

	return token != PF_TOKEN_END && token != PF_TOKEN_FAILURE &&
	       steps[r->state](r, token, err);
}

/* ---- the reader ---- */

static int fill(struct pf_reader *base, size_t most, struct pf_err *err)
{
	struct pf_v3 *r = (struct pf_v3 *)base;

	pf_sink_begin(&r->map.sink);
	while (r->state != PF_V3_AT_END &&
	       !pf_sink_is_full(&r->map.sink, most)) {
		if (step(r, err))
			continue;
		if (err->code)
			return -1;
		note_cut(r);
	}
	if (r->state != PF_V3_AT_END)
		return 1;
	pf_rocm_put_devices(&r->map);
	return 0;
}

static bool fact(struct pf_reader *base, size_t i, char *key, size_t key_size,
		 int64_t *value)
{
	struct pf_v3 *r = (struct pf_v3 *)base;

	if (i >= r->rest_count)
		return false;
	snprintf(key, key_size, "rocprofv3_unread_%s", r->rest[i].name);
	*value = r->rest[i].rows;
	return true;
}

static void free_reader(struct pf_reader *base)
{
	struct pf_v3 *r = (struct pf_v3 *)base;

	pf_rocm_release(&r->map);
	tokens_release(&r->tokens);
	pf_intern_release(&r->texts);
	pf_map_release(&r->kernels);
	pf_keys_release(&r->marks);
	json_fields_release(&r->record);
	json_fields_release(&r->agent);
	json_fields_release(&r->symbol);
	free(r->ops);
	free(r);
}

struct pf_reader *pf_rocprofv3_new(const struct pf_rocm_stream *from,
				   const struct pf_reader_options *options)
{
	struct pf_v3 *r = pf_calloc(1, sizeof(*r));

	r->base = (struct pf_reader){ &r->map.sink.parsed, fill, fact,
				      free_reader };
	pf_rocm_init(&r->map);
	r->tokens.read = from->read;
	r->tokens.arg = from->arg;
	r->dir = options->dir;
	r->tool = -1;
	pf_intern_init(&r->texts);
	pf_map_init(&r->kernels);
	pf_keys_init(&r->marks, r->dir);
	json_fields_init(&r->record, FIELDS(record_fields));
	v3_init_fields(r);
	return &r->base;
}
