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

enum token {
	TOKEN_END, /* of the document, or of what there is of it; or err */
	TOKEN_OBJECT,
	TOKEN_OBJECT_END,
	TOKEN_LIST,
	TOKEN_LIST_END,
	TOKEN_KEY,
	TOKEN_TEXT,
	TOKEN_NUMBER,
	TOKEN_WORD /* true, false, null */
};

#define TOKENS_DEPTH 64

struct tokens {
	/* as read(2): fewer bytes only at the end */
	int64_t (*read)(void *arg, void *buf, size_t len, struct pf_err *err);
	void *arg;
	struct pf_err *err; /* of who asks */
	char *window;
	size_t at, len, cap;
	int64_t offset; /* of the window in the stream */
	bool is_end;
	bool is_over; /* it is no JSON: there are no more tokens */
	unsigned depth;
	uint64_t objects; /* bit d: what is open at depth d is an object */
	bool after_key;
	/* the token found last; its text is borrowed until the next */
	enum token token;
	const char *text;
	size_t text_len;
	struct pf_buf unescaped;
};

#define WINDOW_BYTES     (256u << 10)
#define STRING_BYTES_MAX (16u << 20)

static void tokens_release(struct tokens *t)
{
	free(t->window);
	pf_buf_release(&t->unescaped);
}

/* Bytes of the stream that have been understood. */
static int64_t tokens_offset(const struct tokens *t)
{
	return t->offset + (int64_t)t->at;
}

static enum token fail(struct tokens *t, const char *what)
{
	pf_fail(t->err, PF_EDATA, "is no JSON: %s at byte %" PRId64, what,
		tokens_offset(t));
	t->is_over = true;
	return TOKEN_END;
}

/* More bytes behind those that are not understood yet; false: none. */
static bool refill(struct tokens *t)
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
	return c == ' ' || c == ',' || c == ':' || c == '\n' || c == '\r' ||
	       c == '\t';
}

/* Go to the byte behind gaps; false: there is none. */
static bool skip_gaps(struct tokens *t)
{
	do {
		while (t->at < t->len && is_gap(t->window[t->at]))
			t->at++;
	} while (t->at == t->len && refill(t));
	return t->at < t->len;
}

/* ---- strings and words ---- */

/* Behind the string's last quote, from "from" on; 0: not in the window. */
static size_t string_end(const struct tokens *t, size_t from)
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

static enum token next_string(struct tokens *t)
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
			return TOKEN_END;
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
	return is_key ? TOKEN_KEY : TOKEN_TEXT;
}

static bool is_word_byte(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
	       (c >= 'A' && c <= 'Z') || c == '-' || c == '+' || c == '.';
}

static enum token next_word(struct tokens *t)
{
	size_t n = 0;
	char c;

	do {
		while (t->at + n < t->len && n < 64 &&
		       is_word_byte(t->window[t->at + n]))
			n++;
	} while (t->at + n == t->len && n < 64 && refill(t));
	if (t->at + n == t->len && n < 64) {
		t->at = t->len;
		return TOKEN_END; /* it may be cut */
	}
	if (!n || n == 64)
		return fail(t, "no value");
	t->text = t->window + t->at;
	t->text_len = n;
	t->at += n;
	t->after_key = false;
	c = *t->text;
	return c == '-' || (c >= '0' && c <= '9') ? TOKEN_NUMBER : TOKEN_WORD;
}

/* ---- tokens ---- */

static enum token open_value(struct tokens *t, bool is_object)
{
	if (t->depth == TOKENS_DEPTH)
		return fail(t, "too deep");
	t->objects &= ~(UINT64_C(1) << t->depth);
	t->objects |= (uint64_t)is_object << t->depth;
	t->depth++;
	t->at++;
	t->after_key = false;
	return is_object ? TOKEN_OBJECT : TOKEN_LIST;
}

static enum token close_value(struct tokens *t, bool is_object)
{
	if (!t->depth || (t->objects >> (t->depth - 1) & 1) != is_object)
		return fail(t, "a bracket that none opened");
	t->depth--;
	t->at++;
	t->after_key = false;
	return is_object ? TOKEN_OBJECT_END : TOKEN_LIST_END;
}

static enum token find_token(struct tokens *t)
{
	if (t->is_over || !skip_gaps(t))
		return TOKEN_END;
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

/* After the end there are no others. */
static enum token tokens_next(struct tokens *t)
{
	return t->token = find_token(t);
}

/* Read past the value that the token at hand begins. */
static void tokens_skip(struct tokens *t)
{
	unsigned depth = t->depth;

	if (t->token == TOKEN_OBJECT || t->token == TOKEN_LIST)
		while (t->depth >= depth && tokens_next(t) != TOKEN_END)
			;
}

/* Read past the value that comes. */
static void tokens_pass(struct tokens *t)
{
	tokens_next(t);
	tokens_skip(t);
}

/* Is the value that comes such a one?  Else it is read past. */
static bool tokens_open(struct tokens *t, enum token kind)
{
	if (tokens_next(t) == kind)
		return true;
	tokens_skip(t);
	return false;
}

/* The next of a list that is of a kind, past all others; false: its end. */
static bool tokens_element(struct tokens *t, enum token kind)
{
	while (tokens_next(t) != kind) {
		if (t->token == TOKEN_LIST_END || t->token == TOKEN_END)
			return false;
		tokens_skip(t);
	}
	return true;
}

/* The next key of an object; false: its end. */
static bool tokens_key(struct tokens *t)
{
	if (tokens_next(t) != TOKEN_KEY && t->token != TOKEN_OBJECT_END)
		t->is_over = true;
	if (t->is_over)
		t->token = TOKEN_END;
	return t->token == TOKEN_KEY;
}

/* The whole number of a number token; false: it is none. */
static bool tokens_int(const struct tokens *t, int64_t *value)
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

#define FIELDS_MAX 32

/* A member, or that of the object under a key. */
struct field {
	const char *under; /* or NULL */
	const char *key;
};

struct fields {
	const struct field *list;
	unsigned count;
	uint8_t key_len[FIELDS_MAX];
	/* what the object read last had */
	struct value {
		enum { VALUE_NONE, VALUE_INT, VALUE_TEXT, VALUE_OTHER } is;
		int64_t number;
		size_t at, len; /* in texts */
	} values[FIELDS_MAX];
	struct pf_buf texts;
	/* which member came behind which, last time */
	uint8_t behind[FIELDS_MAX + 1];
};

/* ---- fields ---- */

#define KEY_MAX   32
#define DEPTH_MAX 8

static void json_fields_init(struct fields *f, const struct field *list,
			     unsigned count)
{
	*f = (struct fields){ .list = list, .count = count };
	for (unsigned i = 0; i < count; i++)
		f->key_len[i] = (uint8_t)strlen(list[i].key);
}

static void json_fields_release(struct fields *f)
{
	pf_buf_release(&f->texts);
}

static bool is_field(const struct fields *f, unsigned i, const char *under,
		     const char *key, size_t len)
{
	const struct field *field = &f->list[i];

	return f->key_len[i] == len && !memcmp(field->key, key, len) &&
	       !strcmp(field->under ? field->under : "", under);
}

/* Its number, or count; records repeat the order of their members. */
static unsigned find_field(struct fields *f, unsigned last, const char *under,
			   const char *key, size_t len)
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

static void take_field(struct fields *f, unsigned i, const struct tokens *t)
{
	struct value *v = &f->values[i];

	if (t->token == TOKEN_TEXT) {
		v->is = VALUE_TEXT;
		v->at = f->texts.len;
		v->len = t->text_len;
		pf_buf_add(&f->texts, t->text, t->text_len);
	} else {
		v->is = t->token == TOKEN_NUMBER && tokens_int(t, &v->number)
				? VALUE_INT
				: VALUE_OTHER;
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
static void read_value(struct fields *f, struct tokens *t, struct where *w,
		       const char *key, size_t key_len)
{
	if (tokens_next(t) == TOKEN_OBJECT && w->depth + 1 < DEPTH_MAX) {
		enter(w, key, key_len);
		return;
	}
	if (w->now < f->count && t->token != TOKEN_END) {
		take_field(f, w->now, t);
		w->last = w->now + 1;
	}
	tokens_skip(t);
}

/* The rest of an object that has been opened; false: it has no end. */
static bool json_fields_read(struct fields *f, struct tokens *t)
{
	struct where w = { .last = 0 };
	char key[KEY_MAX];
	size_t len;

	memset(f->values, 0, f->count * sizeof(*f->values));
	pf_buf_clear(&f->texts);
	while (tokens_next(t) != TOKEN_END) {
		if (t->token == TOKEN_OBJECT_END && !w.depth--)
			return true;
		if (t->token == TOKEN_OBJECT_END)
			continue;
		if (t->token != TOKEN_KEY) {
			tokens_skip(t);
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

static int64_t json_field_int(const struct fields *f, unsigned field,
			      int64_t instead)
{
	const struct value *v = &f->values[field];

	return v->is == VALUE_INT ? v->number : instead;
}

/* Borrowed until the next object is read; false: no text. */
static bool json_field_text(const struct fields *f, unsigned field,
			    const char **text, size_t *len)
{
	const struct value *v = &f->values[field];

	if (v->is != VALUE_TEXT)
		return false;
	*text = f->texts.data ? f->texts.data + v->at : "";
	*len = v->len;
	return true;
}

#define KINDS_MAX 256u
#define LISTS_MAX 64u

enum state { AT_TOP, IN_TOP, IN_TOOLS, IN_TOOL, IN_LISTS, IN_LIST, AT_END };

/* What becomes of the records of a list. */
enum list { KERNELS, COPIES, MEMORY, SCRATCH, CALLS, UNREAD };

struct v3 {
	struct pf_reader base;
	struct pf_rocm map;
	struct tokens tokens;
	enum state state;
	enum list list;
	char list_name[40];
	int64_t tool; /* from 0 */
	int64_t pid, process;
	struct pf_intern texts; /* names of kinds, operations, kernels */
	uint32_t kind_name[KINDS_MAX];
	size_t kind_first[KINDS_MAX], kind_ops[KINDS_MAX];
	size_t kind_count;
	uint32_t *ops; /* names */
	size_t op_count, ops_cap;
	struct pf_map kernels; /* of this tool: registers << 32 | name */
	struct pf_keys marks;  /* of this tool: a range's text, by its link */
	const char *dir;
	struct fields record, agent, symbol, mark, metadata;
	struct rest {
		char name[40];
		int64_t rows;
	} rest[LISTS_MAX];
	size_t rest_count;
	const struct pf_rocm_agent *last_agent;
};

/* What a tool of rocprofv3's JSON defines: agents, strings, kernels. */

#define OPERATIONS_MAX 65536u
#define TEXTS_MAX      (1u << 19)
#define TEXT_BYTES_MAX (64u << 20)

/* Names are kept in memory, up to a limit; past it they are lost. */
static bool has_room(const struct v3 *r)
{
	return r->texts.count < TEXTS_MAX &&
	       r->texts.bytes_len < TEXT_BYTES_MAX;
}

/* ---- definitions ---- */

enum { HANDLE, TYPE, ORDINAL, NODE, PRODUCT, ARCHITECTURE, UNITS, WAVE, WAVES };
static const struct field agent_fields[] = {
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

static void take_agent(struct v3 *r)
{
	const struct fields *f = &r->agent;
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
static const struct field symbol_fields[] = {
	[KERNEL_ID] = { NULL, "kernel_id" },
	[SHOWN] = { NULL, "formatted_kernel_name" },
	[DEMANGLED] = { NULL, "demangled_kernel_name" },
	[MANGLED] = { NULL, "kernel_name" },
	[OWN] = { NULL, "arch_vgpr_count" },
	[MORE] = { NULL, "accum_vgpr_count" },
};

static void take_symbol(struct v3 *r)
{
	const struct fields *f = &r->symbol;
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
static void read_objects(struct v3 *r, struct fields *f,
			 void (*take)(struct v3 *))
{
	if (tokens_open(&r->tokens, TOKEN_LIST))
		while (tokens_element(&r->tokens, TOKEN_OBJECT) &&
		       json_fields_read(f, &r->tokens))
			take(r);
}

static bool is_text(const struct tokens *t, const char *word)
{
	return pf_rocm_is(t->text, t->text_len, word);
}

/* A list of texts, which become the operations of a kind. */
static void read_operations(struct v3 *r, size_t kind)
{
	if (!tokens_open(&r->tokens, TOKEN_LIST))
		return;
	r->kind_first[kind] = r->op_count;
	while (tokens_element(&r->tokens, TOKEN_TEXT)) {
		if (r->op_count == OPERATIONS_MAX)
			continue;
		*PF_ONE_MORE(r->ops, r->op_count, r->ops_cap) = pf_intern_add(
			&r->texts, r->tokens.text, r->tokens.text_len);
		r->kind_ops[kind]++;
	}
}

/* {"kind": "HIP_RUNTIME_API", "operations": [...]} */
static void read_kind(struct v3 *r)
{
	size_t kind =
		r->kind_count < KINDS_MAX ? r->kind_count++ : KINDS_MAX - 1;
	struct tokens *t = &r->tokens;

	r->kind_name[kind] = pf_intern_add(&r->texts, "", 0);
	r->kind_ops[kind] = 0;
	while (tokens_key(t)) {
		bool is_kind = is_text(t, "kind");

		if (is_text(t, "operations"))
			read_operations(r, kind);
		else if (tokens_open(t, TOKEN_TEXT) && is_kind)
			r->kind_name[kind] =
				pf_intern_add(&r->texts, t->text, t->text_len);
	}
}

static void read_kinds(struct v3 *r)
{
	if (!tokens_open(&r->tokens, TOKEN_LIST))
		return;
	r->kind_count = r->op_count = 0;
	while (tokens_element(&r->tokens, TOKEN_OBJECT))
		read_kind(r);
}

/* [{"key": link, "value": "a range's text"}] */
enum { MARK_KEY, MARK_TEXT };
static const struct field mark_fields[] = {
	[MARK_KEY] = { NULL, "key" },
	[MARK_TEXT] = { NULL, "value" },
};

static void take_mark(struct v3 *r)
{
	const char *text;
	size_t len;

	if (!r->marks.is_sealed && has_room(r) &&
	    json_field_text(&r->mark, MARK_TEXT, &text, &len))
		pf_keys_add(&r->marks, json_field_int(&r->mark, MARK_KEY, 0),
			    pf_intern_add(&r->texts, text, len), r->tokens.err);
}

static void read_strings(struct v3 *r)
{
	struct tokens *t = &r->tokens;

	if (!tokens_open(t, TOKEN_OBJECT))
		return;
	while (tokens_key(t)) {
		if (is_text(t, "buffer_records"))
			read_kinds(r);
		else if (is_text(t, "marker_api"))
			read_objects(r, &r->mark, take_mark);
		else
			tokens_pass(t);
	}
}

/* Of what the tool says of its run: the process, and no command line. */
static const struct field metadata_fields[] = { { NULL, "pid" } };

static void read_metadata(struct v3 *r)
{
	if (tokens_open(&r->tokens, TOKEN_OBJECT) &&
	    json_fields_read(&r->metadata, &r->tokens))
		r->pid = json_field_int(&r->metadata, 0, 0);
}

#define FIELDS(list) list, sizeof(list) / sizeof(*(list))

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
static const struct field record_fields[] = {
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

static int64_t number(const struct v3 *r, unsigned field)
{
	int64_t v = json_field_int(&r->record, field, -1);

	return v < 0 ? -1 : v;
}

static bool read_times(struct v3 *r, struct pf_sink_put *put)
{
	const struct fields *f = &r->record;

	if (f->values[START].is == VALUE_NONE) {
		pf_sink_note(&r->map.sink, PF_SKIP_NO_TIME);
		return false;
	}
	if (f->values[START].is != VALUE_INT ||
	    (f->values[END].is && f->values[END].is != VALUE_INT)) {
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

static const char *kind_text(const struct v3 *r, size_t *len)
{
	int64_t kind = number(r, KIND);

	*len = 0;
	if (kind < 0 || kind >= (int64_t)r->kind_count)
		return "";
	return pf_intern_text(&r->texts, r->kind_name[kind], len);
}

/* "HIP_RUNTIME_API 17" where there is no such operation. */
static const char *operation_text(struct v3 *r, char own[64], size_t *len)
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

static const struct pf_rocm_agent *agent_of(struct v3 *r, unsigned field)
{
	int64_t id = number(r, field);

	if (id < 0)
		return NULL;
	if (r->last_agent && r->last_agent->id == id &&
	    r->last_agent->set == r->tool)
		return r->last_agent;
	return r->last_agent = pf_rocm_agent(&r->map, r->tool, id);
}

static int64_t device_of(struct v3 *r, unsigned field)
{
	const struct pf_rocm_agent *a = agent_of(r, field);

	return a ? a->device : -1;
}

static struct pf_rocm_work work_of(struct v3 *r)
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

static void put_kernel(struct v3 *r, struct pf_sink_put *put)
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

static void put_copy(struct v3 *r, struct pf_sink_put *put)
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

static struct pf_rocm_call call_of(struct v3 *r)
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

static void put_memory(struct v3 *r, struct pf_sink_put *put)
{
	static const char prefix[] = "MEMORY_ALLOCATION_";
	struct pf_rocm_call c = call_of(r);
	struct pf_rocm_memory m = { .is_scratch = r->list == SCRATCH };
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

static void put_call(struct v3 *r, struct pf_sink_put *put)
{
	struct pf_rocm_call c = call_of(r);
	int64_t text = 0;
	char own[64];

	c.name = operation_text(r, own, &c.name_len);
	if (c.domain->category == PF_CAT_RANGE) {
		c.function = c.name;
		c.function_len = c.name_len;
		if (pf_keys_find(&r->marks, c.id, &text, r->tokens.err))
			c.name = pf_intern_text(&r->texts, (uint32_t)text,
						&c.name_len);
	}
	pf_rocm_put_call(&r->map, &c, put);
}

static void put_record(struct v3 *r)
{
	struct pf_sink_put put = { 0 };

	if (read_times(r, &put)) {
		if (r->list == KERNELS)
			put_kernel(r, &put);
		else if (r->list == COPIES)
			put_copy(r, &put);
		else if (r->list == CALLS)
			put_call(r, &put);
		else
			put_memory(r, &put);
	}
	r->map.sink.parsed.batch.event_count++;
}

/* Records of a list that is not read, by its name. */
static void count_unread(struct v3 *r)
{
	struct pf_batch *b = &r->map.sink.parsed.batch;
	size_t i = 0;

	b->event_count++;
	pf_repair_note(&b->repairs, PF_SKIP_TABLE, 1,
		       tokens_offset(&r->tokens));
	while (i < r->rest_count && strcmp(r->rest[i].name, r->list_name) != 0)
		i++;
	if (i == LISTS_MAX)
		return;
	if (i == r->rest_count) {
		snprintf(r->rest[i].name, sizeof(r->rest[i].name), "%s",
			 r->list_name);
		r->rest_count++;
	}
	r->rest[i].rows++;
}

/* ---- places ---- */

static enum list list_of(const struct tokens *t)
{
	static const struct {
		const char *name;
		enum list list;
	} lists[] = {
		{ "kernel_dispatch", KERNELS },
		{ "memory_copy", COPIES },
		{ "memory_allocation", MEMORY },
		{ "scratch_memory", SCRATCH },
	};
	static const char api[] = "_api";
	size_t n = sizeof(api) - 1;

	for (size_t i = 0; i < PF_LEN(lists); i++)
		if (is_text(t, lists[i].name))
			return lists[i].list;
	return t->text_len > n && !memcmp(t->text + t->text_len - n, api, n)
		       ? CALLS
		       : UNREAD;
}

/* A member of a tool, whose key is at hand. */
static void read_member(struct v3 *r)
{
	struct tokens *t = &r->tokens;

	if (is_text(t, "metadata")) {
		read_metadata(r);
	} else if (is_text(t, "agents")) {
		read_objects(r, &r->agent, take_agent);
	} else if (is_text(t, "kernel_symbols")) {
		read_objects(r, &r->symbol, take_symbol);
	} else if (is_text(t, "strings")) {
		read_strings(r);
	} else if (!is_text(t, "buffer_records") &&
		   !is_text(t, "callback_records")) {
		tokens_pass(t);
	} else if (tokens_open(t, TOKEN_OBJECT)) {
		r->process = pf_rocm_process(&r->map, (uint64_t)r->tool);
		pf_keys_seal(&r->marks, t->err);
		r->state = IN_LISTS;
	}
}

static void read_element(struct v3 *r)
{
	struct tokens *t = &r->tokens;

	if (r->list == UNREAD) {
		count_unread(r);
		tokens_skip(t);
	} else if (t->token != TOKEN_OBJECT) {
		r->map.sink.parsed.batch.event_count++;
		pf_sink_note(&r->map.sink, PF_SKIP_NOT_AN_EVENT);
		tokens_skip(t);
	} else if (json_fields_read(&r->record, t)) {
		put_record(r);
	}
}

static void begin_tool(struct v3 *r)
{
	r->tool++;
	r->pid = 0;
	r->last_agent = NULL;
	pf_map_release(&r->kernels);
	pf_keys_release(&r->marks);
	pf_keys_init(&r->marks, r->dir);
	r->state = IN_TOOL;
}

/* ---- one token, by where the reader is ---- */

static void in_lists(struct v3 *r)
{
	struct tokens *t = &r->tokens;

	if (t->token != TOKEN_KEY) {
		tokens_skip(t);
		return;
	}
	r->list = list_of(t);
	snprintf(r->list_name, sizeof(r->list_name), "%.*s",
		 (int)(t->text_len < 39 ? t->text_len : 39), t->text);
	if (tokens_open(t, TOKEN_LIST))
		r->state = IN_LIST;
}

static void step(struct v3 *r)
{
	static const struct {
		enum token end; /* of where it is, */
		enum state outside;
	} ends[] = {
		[IN_TOP] = { TOKEN_OBJECT_END, AT_END },
		[IN_TOOLS] = { TOKEN_LIST_END, IN_TOP },
		[IN_TOOL] = { TOKEN_OBJECT_END, IN_TOOLS },
		[IN_LISTS] = { TOKEN_OBJECT_END, IN_TOOL },
		[IN_LIST] = { TOKEN_LIST_END, IN_LISTS },
	};
	struct tokens *t = &r->tokens;
	enum token token = tokens_next(t);

	if (token == TOKEN_END)
		return;
	if (r->state != AT_TOP && token == ends[r->state].end) {
		r->state = ends[r->state].outside;
		return;
	}
	switch (r->state) {
	case AT_TOP:
		if (token == TOKEN_OBJECT)
			r->state = IN_TOP;
		else
			t->token = TOKEN_END;
		break;
	case IN_TOP:
		if (token == TOKEN_KEY && is_text(t, "rocprofiler-sdk-tool"))
			r->state = IN_TOOLS;
		else
			tokens_skip(t);
		break;
	case IN_TOOLS:
		if (token == TOKEN_OBJECT)
			begin_tool(r);
		else if (token != TOKEN_LIST)
			tokens_skip(t);
		break;
	case IN_TOOL:
		if (token == TOKEN_KEY)
			read_member(r);
		break;
	case IN_LISTS:
		in_lists(r);
		break;
	case IN_LIST:
		read_element(r);
		break;
	case AT_END:
		break;
	}
}

/* ---- the reader ---- */

static int fill(struct pf_reader *base, size_t most, struct pf_err *err)
{
	struct v3 *r = (struct v3 *)base;

	r->tokens.err = err;
	pf_sink_begin(&r->map.sink);
	while (r->state != AT_END && !pf_sink_is_full(&r->map.sink, most)) {
		step(r);
		if (err->code)
			return -1;
		if (r->tokens.token == TOKEN_END) {
			pf_repair_note(&r->map.sink.parsed.batch.repairs,
				       PF_REPAIR_CUT_OFF, 1,
				       tokens_offset(&r->tokens));
			r->state = AT_END;
		}
	}
	if (r->state != AT_END)
		return 1;
	pf_rocm_put_devices(&r->map);
	return 0;
}

static bool fact(struct pf_reader *base, size_t i, char *key, size_t key_size,
		 int64_t *value)
{
	struct v3 *r = (struct v3 *)base;

	if (i >= r->rest_count)
		return false;
	snprintf(key, key_size, "rocprofv3_unread_%s", r->rest[i].name);
	*value = r->rest[i].rows;
	return true;
}

static void free_reader(struct pf_reader *base)
{
	PF_OWN struct v3 *r = (struct v3 *)base;

	pf_rocm_release(&r->map);
	tokens_release(&r->tokens);
	pf_intern_release(&r->texts);
	pf_map_release(&r->kernels);
	pf_keys_release(&r->marks);
	json_fields_release(&r->record);
	json_fields_release(&r->agent);
	json_fields_release(&r->symbol);
	json_fields_release(&r->mark);
	json_fields_release(&r->metadata);
	free(r->ops);
}

struct pf_reader *pf_rocprofv3_new(const struct pf_rocm_stream *from,
				   const struct pf_reader_options *options)
{
	struct v3 *r = pf_calloc(1, sizeof(*r));

	r->base = (struct pf_reader){ &r->map.sink.parsed, fill, fact,
				      free_reader };
	pf_rocm_init(&r->map);
	r->tokens.read = from->read;
	r->tokens.arg = from->arg;
	r->dir = options->dir;
	r->tool = -1;
	pf_keys_init(&r->marks, r->dir);
	json_fields_init(&r->record, FIELDS(record_fields));
	json_fields_init(&r->agent, FIELDS(agent_fields));
	json_fields_init(&r->symbol, FIELDS(symbol_fields));
	json_fields_init(&r->mark, FIELDS(mark_fields));
	json_fields_init(&r->metadata, FIELDS(metadata_fields));
	return &r->base;
}
