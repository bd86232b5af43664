/* SPDX-License-Identifier: MIT */
/*
 * The document around the events, and the slow path.  Invariant: parsing
 * stops only between elements, so state and the bytes used say all that a
 * successor needs.
 */
#include "config.h"

#define PF_SCAN_SIMD 1
#include "base/json.h"
#include "base/mem.h"
#include "formats/category.h"
#include "formats/json/chrome.h"
#include "formats/json/mend.h"
#include "formats/refusal.h"
#include "formats/json/scan.h"
#include "formats/json/shape.h"

/* ---- what is decided once per distinct text ---- */

static void classify_string(struct pf_dict *d, struct pf_dict_entry *e,
			    const char *raw, struct pf_buf *text)
{
	PF_AUTO(pf_buf_release) struct pf_buf quoted = { 0 }, clean = { 0 };
	struct pf_mend m = { 0 };

	(void)d;
	pf_buf_addc(&quoted, '"');
	pf_buf_add(&quoted, raw, e->raw_len);
	pf_buf_addc(&quoted, '"');
	m.p = quoted.data;
	m.end = quoted.data + quoted.len;
	if (pf_mend_value(&m, &clean) != PF_MEND_OK || m.p != m.end ||
	    !pf_json_unescape(raw, e->raw_len, text))
		e->flags |= PF_DICT_BAD;
}

static void classify_category(struct pf_dict *d, struct pf_dict_entry *e,
			      const char *raw, struct pf_buf *text)
{
	classify_string(d, e, raw, text);
	e->kind = (uint8_t)pf_category_kind(text->data + e->text_at,
					    text->len - e->text_at);
}

static const struct {
	const char *key, *in_text;
} fact_keys[PF_FACT_KEYS] = {
	[PF_FACT_EV_IDX] = { "key_ev_idx", "\"Ev Idx\":" },
	[PF_FACT_PROFILER_EVENT_INDEX] = { "key_profiler_event_index",
					   "\"Profiler Event Index\":" },
	[PF_FACT_RECORD_FUNCTION_ID] = { "key_record_function_id",
					 "\"Record function id\":" },
	[PF_FACT_INPUT_STRIDES] = { "key_input_strides", "\"Input Strides\":" },
	[PF_FACT_TRACE_NAME] = { "key_trace_name", "\"Trace name\":" },
	[PF_FACT_CALL_STACK] = { "key_call_stack", "\"Call stack\":" },
	[PF_FACT_CONCRETE_INPUTS] = { "key_concrete_inputs",
				      "\"Concrete Inputs\":" },
	[PF_FACT_FINISHED] = { "key_finished", "\"finished\":" },
	[PF_FACT_FINISHED_TRUE] = { "key_finished_true", "\"finished\":true" },
	[PF_FACT_CALL_FROM] = { "key_call_from", "\"CallFrom\":" },
	[PF_FACT_SCOPE] = { "key_scope", "\"scope\":\"user_scope\"" },
	[PF_FACT_PRIORITY] = { "key_priority", "\"priority\":" },
	[PF_FACT_EXT_LOWER] = { "ext_lower", "\"external id\":" },
};

const char *pf_fact_key(enum pf_fact fact)
{
	return fact_keys[fact].key;
}

static bool has_text(const char *p, size_t len, const char *what)
{
	return memmem(p, len, what, strlen(what)) != NULL;
}

static void classify_args(struct pf_dict *d, struct pf_dict_entry *e,
			  const char *raw, struct pf_buf *text)
{
	struct pf_mend m = { .p = raw,
			     .end = raw + e->raw_len,
			     .placeholders = true };
	const char *p;
	size_t len;

	(void)d;
	if (pf_mend_value(&m, text) != PF_MEND_OK || m.p != m.end || m.twice ||
	    m.mask != e->salt)
		e->flags |= PF_DICT_BAD;
	p = text->data + e->text_at;
	len = text->len - e->text_at;
	if (has_text(p, len, "\"device\":") && has_text(p, len, "\"stream\":"))
		e->flags |= PF_DICT_ON_DEVICE;
	for (int i = 0; i < PF_FACT_KEYS; i++)
		if (has_text(p, len, fact_keys[i].in_text))
			e->facts |= UINT32_C(1) << i;
}

/* raw: class letter, u32 pid length, pid, tid */
static void classify_track(struct pf_dict *d, struct pf_dict_entry *e,
			   const char *raw, struct pf_buf *text)
{
	struct pf_dict_entry part = { 0 };
	PF_AUTO(pf_buf_release) struct pf_buf pid = { 0 }, tid = { 0 };
	uint32_t pid_len;

	memcpy(&pid_len, raw + 1, sizeof(pid_len));
	part.raw_len = pid_len;
	classify_string(d, &part, raw + 5, &pid);
	part.raw_len = e->raw_len - 5 - pid_len;
	classify_string(d, &part, raw + 5 + pid_len, &tid);
	e->flags |= part.flags;
	pf_buf_addf(text, "%c%08zx", raw[0], pid.len);
	pf_buf_add(text, pid.data, pid.len);
	pf_buf_add(text, tid.data, tid.len);
}

/* ---- life cycle ---- */

void pf_chrome_init(struct pf_chrome *c, enum pf_scanner scanner)
{
	memset(c, 0, sizeof(*c));
	c->scanner = scanner;
	c->shapes = pf_calloc(1, sizeof(*c->shapes));
	pf_dict_init(&c->out.names, classify_string);
	pf_dict_init(&c->out.args, classify_args);
	pf_dict_init(&c->out.tracks, classify_track);
	pf_dict_init(&c->out.categories, classify_category);
}

void pf_chrome_release(struct pf_chrome *c)
{
	pf_parsed_release(&c->out);
	pf_buf_release(&c->args_text);
	pf_buf_release(&c->extra_text);
	pf_buf_release(&c->key_text);
	pf_buf_release(&c->clean);
	free(c->shapes);
}

/* ---- the parse ---- */

struct parse {
	struct pf_chrome *c;
	struct pf_doc_state *state;
	const char *text, *p, *end;
	int64_t offset;
	bool final, stop;
	struct pf_err *err;
};

static int64_t offset_of(const struct parse *x, const char *p)
{
	return x->offset + (p - x->text);
}

static void note(struct parse *x, enum pf_repair_kind kind, const char *at)
{
	pf_repair_note(&x->c->out.batch.repairs, kind, 1, offset_of(x, at));
}

/* The text ends inside something: wait for more, or count it as cut off. */
static void incomplete(struct parse *x, const char *at)
{
	if (x->final) {
		note(x, PF_REPAIR_CUT_OFF, at);
		x->p = x->end;
		x->state->place = PF_DOC_DONE;
	} else {
		x->p = at;
	}
	x->stop = true;
}

static bool starts_event(const char *p, const char *end)
{
	static const char *const keys[] = { "\"ph\"",   "\"name\"", "\"cat\"",
					    "\"pid\"",  "\"tid\"",  "\"ts\"",
					    "\"args\"", "\"dur\"",  "\"id\"" };

	p = pf_skip_blanks(p + 1, end);
	for (size_t i = 0; i < PF_LEN(keys); i++)
		if ((size_t)(end - p) > strlen(keys[i]) &&
		    !memcmp(p, keys[i], strlen(keys[i])))
			return true;
	return false;
}

/*
 * The next thing behind x->p that looks like an event behind a comma, or NULL.
 * Looks no further than the text, and leaves enough for a start that the end
 * may have cut.
 */
static const char *next_event(const struct parse *x)
{
	const char *q = x->p + 1, *comma;

	for (; (comma = memchr(q, ',', (size_t)(x->end - q))); q = comma + 1) {
		const char *brace = pf_skip_blanks(comma + 1, x->end);

		if (x->end - brace < 64 && !x->final)
			break;
		if (brace < x->end && *brace == '{' &&
		    starts_event(brace, x->end))
			return brace;
	}
	return NULL;
}

/* After something that cannot be read at x->p: go on at the next event. */
static void resync(struct parse *x, const char *next)
{
	if (next || x->final) {
		note(x, PF_SKIP_MALFORMED, x->p);
		x->c->out.batch.event_count++;
	}
	if (!next) {
		incomplete(x, x->p);
		return;
	}
	x->p = next;
	x->state->want_comma = false;
}

/* ---- events ---- */

static void keep_metadata(struct parse *x, const struct pf_buf *clean)
{
	struct pf_batch *b = &x->c->out.batch;
	uint32_t head[2] = { (uint32_t)b->event_count++, (uint32_t)clean->len };

	pf_buf_add(&b->metadata, head, sizeof(head));
	pf_buf_add(&b->metadata, clean->data, clean->len);
	b->metadata_count++;
}

/* Its own phase counts, not that of an object in its arguments. */
static bool is_metadata(const struct pf_buf *clean)
{
	const char *p = clean->data, *end = p + clean->len, *key, *value;
	size_t key_len;

	while ((p = pf_next_member(p, end, &key, &key_len, &value)))
		if (key_len == 2 && !memcmp(key, "ph", 2))
			return p - value == 3 && !memcmp(value, "\"M\"", 3);
	return false;
}

static enum pf_mend_result mend(struct parse *x, struct pf_mend m,
				const char **next, struct pf_repairs *repairs)
{
	struct pf_buf *clean = &x->c->clean;
	enum pf_mend_result r;

	m.p = x->p;
	m.repairs = repairs;
	m.offset = offset_of(x, x->p);
	pf_buf_clear(clean);
	r = pf_mend_value(&m, clean);
	pf_buf_reserve(clean, PF_SCAN_PAD);
	memset(clean->data + clean->len, 0, PF_SCAN_PAD);
	*next = m.p;
	return r;
}

/* The event as canonical text in c->clean, padded for scanning. */
static enum pf_mend_result mend_event(struct parse *x, const char **next,
				      struct pf_repairs *repairs)
{
	const struct pf_mend m = { .end = x->end };

	return mend(x, m, next, repairs);
}

/*
 * The same where that was bad: with quotes in its strings that nobody escaped
 * it is whole before "end", behind which the next thing begins (NULL: that is
 * not known yet).  So what is mended does not depend on how the text is cut,
 * and nothing is looked at twice.
 */
static bool mend_quotes(struct parse *x, const char *end, const char **next,
			struct pf_repairs *repairs)
{
	const struct pf_mend m = { .end = end, .bare_quotes = true };
	struct pf_repairs mended = { 0 };
	const char *p, *behind;

	if (!end || mend(x, m, &p, &mended) != PF_MEND_OK)
		return false;
	behind = pf_skip_blanks(p, end);
	if (behind < end && *behind != ',' && *behind != ']' && *behind != '}')
		return false;
	*next = p;
	*repairs = mended;
	return true;
}

static void slow_event(struct parse *x)
{
	struct pf_buf *clean = &x->c->clean;
	struct pf_repairs repairs = { 0 };
	enum pf_extract_result r;
	const char *next, *ignored, *other;

	switch (mend_event(x, &next, &repairs)) {
	case PF_MEND_INCOMPLETE:
		incomplete(x, x->p);
		return;
	case PF_MEND_BAD:
		other = next_event(x);
		if (!mend_quotes(x, other || !x->final ? other : x->end, &next,
				 &repairs)) {
			resync(x, other);
			return;
		}
		break;
	case PF_MEND_OK:
		break;
	}
	pf_repairs_add(&x->c->out.batch.repairs, &repairs);
	if (is_metadata(clean)) {
		keep_metadata(x, clean);
	} else {
		x->c->mended = true;
		r = pf_extract_plain(x->c, clean->data,
				     clean->data + clean->len,
				     offset_of(x, x->p), &ignored);
		x->c->mended = false;
		if (r == PF_EXTRACT_SLOW) {
			note(x, PF_SKIP_MALFORMED, x->p);
			x->c->out.batch.event_count++;
		}
	}
	x->p = next;
	x->state->want_comma = true;
}

static void one_event(struct parse *x)
{
	enum pf_extract_result r;
	const char *next;

	r = x->c->scanner == PF_SCANNER_PLAIN
		    ? pf_extract_plain(x->c, x->p, x->end, offset_of(x, x->p),
				       &next)
		    : pf_extract_simd(x->c, x->p, x->end, offset_of(x, x->p),
				      &next);
	if (r == PF_EXTRACT_SLOW) {
		slow_event(x);
		return;
	}
	x->p = next;
	x->state->want_comma = true;
}

/* Something in the list that is no object. */
static void odd_element(struct parse *x)
{
	struct pf_repairs repairs = { 0 };
	const char *next;

	if (x->state->want_comma) {
		resync(x, next_event(x));
		return;
	}
	switch (mend_event(x, &next, &repairs)) {
	case PF_MEND_INCOMPLETE:
		incomplete(x, x->p);
		return;
	case PF_MEND_BAD:
		resync(x, next_event(x));
		return;
	case PF_MEND_OK:
		break;
	}
	if (next == x->p || next == x->end) {
		incomplete(x, x->p);
		return;
	}
	note(x, PF_SKIP_NOT_AN_EVENT, x->p);
	x->c->out.batch.event_count++;
	x->p = next;
	x->state->want_comma = true;
}

/* A list or object ends here: was there a comma too many? */
static void end_list(struct parse *x)
{
	if (x->state->after_comma && !x->state->want_comma)
		note(x, PF_REPAIR_TRAILING_COMMA, x->p);
	x->state->after_comma = false;
}

static void end_document(struct parse *x)
{
	x->state->place = PF_DOC_DONE;
	x->state->documents++;
}

static void step_events(struct parse *x)
{
	struct pf_doc_state *s = x->state;
	const char *at = x->p;
	bool missing;

	switch (*x->p) {
	case '{':
		missing = s->want_comma;
		one_event(x);
		/* not again when the event comes whole with the next chunk */
		if (missing && x->p != at)
			note(x, PF_REPAIR_MISSING_COMMA, at);
		return;
	case ',':
		if (!s->want_comma)
			note(x, PF_REPAIR_TRAILING_COMMA, x->p);
		s->want_comma = false;
		s->after_comma = true;
		x->p++;
		return;
	case ']':
		end_list(x);
		x->p++;
		if (s->in_object) {
			s->place = PF_DOC_OBJECT;
			s->want_comma = true;
			s->after_comma = false;
		} else {
			end_document(x);
		}
		return;
	default:
		odd_element(x);
	}
}

/* ---- the top object ---- */

#define LIST "\"traceEvents\""

static const char *next_list(const struct parse *x)
{
	return memmem(x->p + 1, (size_t)(x->end - x->p - 1), LIST,
		      sizeof(LIST) - 1);
}

/* Where the member at x->p must have ended; NULL: that is not known yet. */
static const char *member_limit(const struct parse *x)
{
	const char *q = next_list(x);

	if (q)
		q = pf_skip_blanks(q + sizeof(LIST) - 1, x->end);
	if (q && q < x->end)
		return q + 1;
	return x->final ? x->end : NULL;
}

/* A member that cannot be read: the event list is what matters. */
static void resync_object(struct parse *x)
{
	const char *q = next_list(x);

	if (!q) {
		incomplete(x, x->p);
		return;
	}
	note(x, PF_REPAIR_BAD_MEMBER, x->p);
	x->p = q;
}

static void keep_member(struct parse *x, const char *key, size_t key_len,
			const struct pf_buf *clean)
{
	struct pf_buf *out = &x->c->out.batch.members;
	PF_AUTO(pf_buf_release) struct pf_buf text = { 0 }, value = { 0 };
	uint32_t lens[2];

	pf_json_unescape(key, key_len, &text);
	if ((*clean->data == '{' || *clean->data == '[') &&
	    pf_redact_is_environment(text.data, text.len))
		pf_buf_adds(&value, *clean->data == '{' ? "{}" : "[]");
	else
		pf_redact_environment(clean->data, clean->len, &value);
	lens[0] = (uint32_t)text.len;
	lens[1] = (uint32_t)value.len;
	pf_buf_add(out, lens, sizeof(lens));
	pf_buf_add(out, text.data, text.len);
	pf_buf_add(out, value.data, value.len);
}

/* At the '[' of the events, or at the '{' of an object around them. */
static void enter_list(struct parse *x, const char *value)
{
	struct pf_doc_state *s = x->state;

	s->want_comma = s->after_comma = false;
	x->p = value + 1;
	if (*value == '{') {
		note(x, PF_REPAIR_NESTED_LIST, value);
		s->nested++;
		return;
	}
	s->place = PF_DOC_EVENTS;
	s->in_object = s->found_list = true;
}

/* A member's value is behind us: is what follows as it should be? */
static bool is_followed(const struct parse *x, const char *p)
{
	p = pf_skip_blanks(p, x->end);
	return p < x->end && (*p == ',' || *p == '}');
}

static void step_member(struct parse *x)
{
	const char *start = x->p, *key_end, *value, *next;
	struct pf_repairs repairs = { 0 };
	enum pf_mend_result r;

	key_end = pf_string_end(start + 1, x->end);
	value = key_end ? pf_skip_blanks(key_end + 1, x->end) : x->end;
	if (value < x->end && *value == ':')
		value = pf_skip_blanks(value + 1, x->end);
	else if (value < x->end) {
		resync_object(x);
		return;
	}
	if (value == x->end) {
		incomplete(x, start);
		return;
	}
	if (key_end - start - 1 == 11 &&
	    !memcmp(start + 1, "traceEvents", 11) &&
	    (*value == '[' || *value == '{')) {
		enter_list(x, value);
		return;
	}
	x->p = value;
	r = mend_event(x, &next, &repairs);
	if (r == PF_MEND_BAD || (r == PF_MEND_OK && !is_followed(x, next))) {
		const char *limit = member_limit(x);

		if (mend_quotes(x, limit, &next, &repairs))
			r = PF_MEND_OK;
		else if (!limit)
			r = PF_MEND_INCOMPLETE;
	}
	x->p = start;
	if (r == PF_MEND_INCOMPLETE || next == x->end) {
		incomplete(x, start);
		return;
	}
	if (r == PF_MEND_BAD) {
		resync_object(x);
		return;
	}
	pf_repairs_add(&x->c->out.batch.repairs, &repairs);
	keep_member(x, start + 1, (size_t)(key_end - start - 1), &x->c->clean);
	x->p = next;
	x->state->want_comma = true;
}

static void step_object(struct parse *x)
{
	switch (*x->p) {
	case '"':
		step_member(x);
		return;
	case ',':
		if (!x->state->want_comma)
			note(x, PF_REPAIR_TRAILING_COMMA, x->p);
		x->state->want_comma = false;
		x->state->after_comma = true;
		x->p++;
		return;
	case '}':
		end_list(x);
		x->p++;
		if (x->state->nested) {
			x->state->nested--;
			x->state->want_comma = true;
		} else {
			end_document(x);
		}
		return;
	default:
		resync_object(x);
	}
}

/* ---- before and behind the document ---- */

/* Counted once however many chunks it fills. */
static void ignore_rest(struct parse *x)
{
	if (!x->state->trailing)
		note(x, PF_REPAIR_TRAILING_BYTES, x->p);
	x->state->trailing = true;
	x->p = x->end;
}

static int not_json(struct parse *x)
{
	const char *what =
		x->offset ? NULL
			  : pf_refusal_of_bytes(x->text,
						(size_t)(x->end - x->text));

	if (what)
		return pf_fail(x->err, PF_EDATA, "%s", what);
	return pf_fail(x->err, PF_EDATA,
		       "is neither a profan database nor a trace (no JSON at "
		       "byte %lld)",
		       (long long)offset_of(x, x->p));
}

static int step_start(struct parse *x)
{
	char c = *x->p;

	if (c != '{' && c != '[') {
		if (x->state->documents == 0)
			return not_json(x);
		ignore_rest(x);
		return 0;
	}
	x->p++;
	x->state->place = c == '{' ? PF_DOC_OBJECT : PF_DOC_EVENTS;
	x->state->in_object = c == '{';
	x->state->found_list |= c == '[';
	x->state->want_comma = x->state->after_comma = false;
	return 0;
}

static void step_done(struct parse *x)
{
	if (!x->state->trailing && (*x->p == '{' || *x->p == '[')) {
		note(x, PF_REPAIR_SEVERAL_DOCUMENTS, x->p);
		x->state->place = PF_DOC_START;
		return;
	}
	ignore_rest(x);
}

static int step(struct parse *x)
{
	switch (x->state->place) {
	case PF_DOC_START:
		return step_start(x);
	case PF_DOC_OBJECT:
		step_object(x);
		return 0;
	case PF_DOC_EVENTS:
		step_events(x);
		return 0;
	case PF_DOC_DONE:
		step_done(x);
		return 0;
	}
	return 0;
}

/* At the end of the whole input: is anything still open? */
static void close_input(struct parse *x)
{
	struct pf_doc_state *s = x->state;

	if (s->place == PF_DOC_OBJECT ||
	    (s->place == PF_DOC_EVENTS && s->in_object))
		note(x, PF_REPAIR_CUT_OFF, x->end);
	else if (s->place == PF_DOC_EVENTS)
		end_list(x);
	s->place = PF_DOC_DONE;
}

int pf_chrome_parse(struct pf_chrome *c, struct pf_doc_state *state,
		    const char *text, size_t len, int64_t offset, bool final,
		    size_t *used, struct pf_err *err)
{
	static const char byte_order_mark[] = "\xef\xbb\xbf";
	struct parse x = { .c = c,
			   .state = state,
			   .text = text,
			   .p = text,
			   .end = text + len,
			   .offset = offset,
			   .final = final,
			   .err = err };

	c->shapes->count = c->shapes->last = c->shapes->oldest = 0;
	if (offset == 0 && len && len < 3 && !final &&
	    !memcmp(text, byte_order_mark, len)) {
		*used = 0;
		return 0;
	}
	if (offset == 0 && len >= 3 && !memcmp(text, byte_order_mark, 3))
		x.p += 3;
	while (!x.stop) {
		x.p = pf_skip_blanks(x.p, x.end);
		if (x.p == x.end)
			break;
		PF_TRY(step(&x));
	}
	if (final && !x.stop)
		close_input(&x);
	*used = (size_t)(x.p - text);
	return 0;
}

size_t pf_chrome_cut(const char *text, size_t len)
{
	for (size_t i = len; i-- > 1;) {
		size_t k = i;

		if (text[i] != '{')
			continue;
		while (k > 0 && pf_is_blank(text[k - 1]))
			k--;
		if (k < 2 || text[k - 1] != ',')
			continue;
		for (k--; k > 0 && pf_is_blank(text[k - 1]);)
			k--;
		if (k > 0 && text[k - 1] == '}')
			return i;
	}
	return len;
}
