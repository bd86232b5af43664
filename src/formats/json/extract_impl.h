/* SPDX-License-Identifier: MIT */
/*
 * The extractor: one pass over one event, no allocation, every field and
 * argument.  Included by extract_plain.c and extract_simd.c, which differ in
 * PF_SCAN_SIMD and PF_EXTRACT only.
 *
 * It takes the well-trodden path alone: whatever is unusual (odd numbers,
 * duplicate keys, text that is not strictly JSON) is PF_EXTRACT_SLOW, and the
 * event comes back mended.  Text between values is checked once per distinct
 * text by the dictionaries, not per event.
 *
 * Invariant: until commit() nothing but dictionaries and scratch buffers has
 * changed, so giving up at any point is free.
 */
#include "config.h"

#include "base/mem.h"
#include "formats/category.h"
#include "formats/json/chrome.h"
#include "formats/number.h"
#include "formats/json/scan.h"
#include "formats/json/shape.h"

struct text {
	const char *p;
	uint32_t len;
};

/* The fields of one event as they are collected. */
struct fields {
	struct text pid, tid, name, category;
	int64_t start_ns, dur_ns;
	unsigned fraction_digits;
	bool has_start, has_dur, rounded, bad_time, has_args;
	/* not what the event before of the same shape had */
	bool is_other_category, is_other_name, is_other_track, are_other_args;
	char ph;
	uint32_t mask;
};

/* Member by member: faster than all of it at once. */
static inline void clear(struct fields *f, bool is_other)
{
	f->pid.p = f->tid.p = f->name.p = f->category.p = NULL;
	f->pid.len = f->tid.len = f->name.len = f->category.len = 0;
	f->start_ns = f->dur_ns = 0;
	f->fraction_digits = f->mask = 0;
	f->has_start = f->has_dur = f->rounded = f->bad_time = false;
	f->has_args = false;
	f->is_other_category = f->is_other_name = is_other;
	f->is_other_track = f->are_other_args = is_other;
	f->ph = '\0';
}

/* Up to eight bytes at p as a number, for comparing short keys at once. */
static inline uint64_t load8(const char *p)
{
	uint64_t v;

	memcpy(&v, p, 8);
	return v;
}

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#error "keys are compared as little-endian numbers"
#endif
#define B(c, i)          ((uint64_t)(unsigned char)(c) << (8 * (i)))
#define LOW_BYTES(n)     (((uint64_t)1 << (8 * (n))) - 1)
#define KEY2(a, b)       (B(a, 0) | B(b, 1) | B('"', 2))
#define KEY3(a, b, c)    (B(a, 0) | B(b, 1) | B(c, 2) | B('"', 3))
#define KEY4(a, b, c, d) (B(a, 0) | B(b, 1) | B(c, 2) | B(d, 3) | B('"', 4))

/* ---- scalars ---- */

/* p is behind a key's closing quote: the value, or NULL without a colon. */
static inline const char *value_start(const char *p, const char *end)
{
	if (*p != ':') {
		p = pf_skip_blanks(p, end);
		if (*p != ':')
			return NULL;
	}
	return pf_skip_blanks(p + 1, end);
}

static const char *value_end(const char *p, const char *end);

/*
 * A time: number or string.  NULL: not plain.  In mended text whatever is no
 * number counts as absent.
 */
static const char *read_time(struct pf_chrome *c, const char *p,
			     const char *end, struct fields *f, bool *has,
			     int64_t *ns)
{
	bool quoted = *p == '"';
	struct pf_time t;
	const char *q;

	if (*has)
		return NULL;
	q = pf_number_time(p + quoted, &t);
	if (!q || (quoted && *q++ != '"'))
		return c->mended ? value_end(p, end) : NULL;
	p = q;
	*has = true;
	*ns = t.ns;
	f->rounded |= t.rounded;
	f->bad_time |= t.overflow;
	PF_AT_LEAST(f->fraction_digits, t.fraction_digits);
	return p;
}

/* A string without its quotes, escapes left alone. */
static const char *read_string(const char *p, const char *end, struct text *t)
{
	const char *q;

	if (*p != '"')
		return NULL;
	q = pf_string_end(p + 1, end);
	if (!q || q - p > (ptrdiff_t)PF_JSON_MAX_STRING)
		return NULL;
	t->p = p + 1;
	t->len = (uint32_t)(q - p - 1);
	return q + 1;
}

/* pid or tid: the text of a number, a string's inside, "" for null. */
static const char *read_label(struct pf_chrome *c, const char *p,
			      const char *end, struct text *t)
{
	const char *q = p;

	if (t->p)
		return NULL;

	if (*p == '"')
		return read_string(p, end, t);
	if (*p == 'n' && load8(p) << 32 == load8("null\0\0\0") << 32) {
		t->p = p;
		t->len = 0;
		return p + 4;
	}
	if (*q == '-')
		q++;
	while ((*q >= '0' && *q <= '9') || *q == '.')
		q++;
	if (q == p || (*q != ',' && *q != '}' && !pf_is_blank(*q)))
		q = c->mended ? value_end(p, end) : NULL;
	if (!q)
		return NULL;
	t->p = p;
	t->len = (uint32_t)(q - p);
	return q;
}

/* Name or category; in mended text anything else than a string is "". */
static const char *read_text(struct pf_chrome *c, const char *p,
			     const char *end, struct text *t)
{
	if (t->p)
		return NULL;
	if (*p == '"' || !c->mended)
		return read_string(p, end, t);
	return value_end(p, end);
}

/* Any value; only its end is looked for. */
static const char *value_end(const char *p, const char *end)
{
	if (*p == '"') {
		const char *q = pf_string_end(p + 1, end);

		return q ? q + 1 : NULL;
	}
	if (*p == '{' || *p == '[')
		return pf_nested_end(p, end);
	while (p < end && *p != ',' && *p != '}' && *p != ']' &&
	       !pf_is_blank(*p))
		p++;
	return p;
}

/* ---- arguments ---- */

/* pf_buf_add() for short pieces, inlined; no NUL behind. */
static inline void put(struct pf_buf *out, const char *p, size_t len)
{
	if (out->cap - out->len <= len + 16) {
		pf_buf_add(out, p, len);
		pf_buf_reserve(out, 64);
		return;
	}
	/* Sources are followed by PF_SCAN_PAD readable bytes. */
	if (len <= 16)
		memcpy(out->data + out->len, p, 16);
	else
		memcpy(out->data + out->len, p, len);
	out->len += len;
}

static inline void put_slot(struct pf_buf *out, int slot)
{
	const char text[16] = { '$', (char)('a' + slot) };

	put(out, text, 2);
}

static inline bool set_slot(struct pf_chrome *c, struct fields *f,
			    unsigned slot, int64_t value)
{
	if (f->mask >> slot & 1)
		return false;
	f->mask |= UINT32_C(1) << slot;
	c->slot_values[slot] = value;
	return true;
}

static void put_extra_key(struct pf_buf *out, const char *key, size_t len)
{
	put(out, ",\"@\0\0\0\0\0\0\0\0\0\0\0\0\0", 3);
	put(out, key, len);
	put(out, "\":\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 2);
}

/*
 * Learning and fitting shapes (shape.h), for the fast variant only: the plain
 * one is what it is compared with.
 */

/* ---- learning ---- */

/* The next event is to be learned, in the place of the oldest shape. */
static void learn(struct pf_chrome *c, const char *start)
{
	struct pf_shapes *all = c->shapes;
	struct pf_shape *s = &all->shape[all->oldest];

	s->count = s->next = 0; /* none until it is whole */
	all->holes = 0;
	s->has_args = false;
	s->args_from = s->args_to = (struct pf_shape_place){ 0, 0 };
	all->learning = s;
	all->learned_to = start;
}

static void learn_hole(struct pf_chrome *c, enum pf_hole_kind kind, int slot,
		       const char *p, const char *end)
{
	struct pf_shapes *all = c->shapes;
	struct pf_shape *s = all->learning;

	if (!s || !end)
		return;
	if (all->holes == PF_SHAPE_HOLES) {
		all->learning = NULL;
		return;
	}
	s->hole[all->holes++] = (struct pf_hole){
		.literal = all->learned_to,
		.literal_len = (uint32_t)(p - all->learned_to),
		.kind = (uint8_t)kind,
		.slot = (int8_t)slot,
		.at = p,
		.len = (uint32_t)(end - p),
	};
	all->learned_to = end;
}

/* The hole learned last is that of an extra member. */
static void learn_extra(struct pf_chrome *c, const char *key, size_t len)
{
	struct pf_shapes *all = c->shapes;
	struct pf_shape *s = all->learning;

	if (!s)
		return;
	s->hole[all->holes - 1].is_extra = true;
	s->hole[all->holes - 1].key = key;
	s->hole[all->holes - 1].key_len = (uint32_t)len;
}

/* The arguments begin, or end, at p: in front of the next hole. */
static void learn_args(struct pf_chrome *c, const char *p, bool is_end)
{
	struct pf_shape *s = c->shapes->learning;
	struct pf_shape_place place;

	if (!s)
		return;
	place.hole = c->shapes->holes;
	place.offset = (uint32_t)(p - c->shapes->learned_to);
	s->has_args = true;
	*(is_end ? &s->args_to : &s->args_from) = place;
}

/* The event was read to its end: its shape, or NULL if it cannot be one. */
static struct pf_shape *learned(struct pf_chrome *c, const struct fields *f,
				const char *end)
{
	struct pf_shapes *all = c->shapes;
	struct pf_shape *s;

	learn_hole(c, PF_HOLE_END, -1, end, end);
	s = all->learning;
	if (!s)
		return NULL;
	all->learning = NULL;
	s->count = all->holes;
	s->is_stale = true;
	s->ph = f->ph;
	s->category_text = f->category.p;
	s->category_len = f->category.len;
	if (all->count)
		all->shape[all->last].next = (uint32_t)(s - all->shape);
	all->last = all->oldest;
	all->count += all->count < PF_SHAPES;
	all->oldest = (all->oldest + 1) % PF_SHAPES;
	return s;
}

/* ---- fitting ---- */

/* Does the text of the event before stand here, too?  Then it ends alike. */
static inline bool repeats(const struct pf_hole *h, const char *p,
			   const char *end)
{
	return (size_t)(end - p) > h->len && p[h->len] == h[1].literal[0] &&
	       pf_same_bytes(p, h->at, h->len);
}

static inline const char *read_number(int slot, const char *p, int64_t *value)
{
	return slot < PF_SLOT_FRACTION ? pf_number_integer(p, value)
				       : pf_number_decimal(p, value);
}

static const char *fit_value(const struct pf_hole *h, const char *p,
			     const char *end)
{
	int64_t ignored;
	const char *q;

	if (h->slot >= 0 && read_number(h->slot, p, &ignored))
		return NULL;
	q = value_end(p, end);
	return q == p ? NULL : q;
}

/* A value that nearly every event has its own of. */
static inline const char *read_value(struct pf_chrome *c, struct fields *f,
				     enum pf_hole_kind kind, const char *p,
				     const char *end)
{
	switch (kind) {
	case PF_HOLE_START:
		return read_time(c, p, end, f, &f->has_start, &f->start_ns);
	case PF_HOLE_DUR:
		return read_time(c, p, end, f, &f->has_dur, &f->dur_ns);
	case PF_HOLE_PID:
		f->is_other_track = true;
		return read_label(c, p, end, &f->pid);
	case PF_HOLE_TID:
		f->is_other_track = true;
		return read_label(c, p, end, &f->tid);
	default:
		f->is_other_name = true;
		return read_text(c, p, end, &f->name);
	}
}

/* What read_label() or read_text() would make of it. */
static inline void borrow(struct text *t, const struct pf_hole *h,
			  const char *p)
{
	bool quoted = *p == '"';

	t->p = p + quoted;
	t->len = *p == 'n' ? 0 : h->len - 2 * (uint32_t)quoted;
}

/* The value of a hole at p: where it ends; NULL: it does not fit. */
static inline const char *fit_hole(struct pf_chrome *c, struct fields *f,
				   const struct pf_hole *h, const char *p,
				   const char *end)
{
	int64_t value;
	const char *q;

	switch (h->kind) {
	case PF_HOLE_SLOT:
		q = read_number(h->slot, p, &value);
		if (q)
			set_slot(c, f, (unsigned)h->slot, value);
		return q;
	case PF_HOLE_VALUE:
		if (repeats(h, p, end))
			return p + h->len;
		f->are_other_args = true;
		return fit_value(h, p, end);
	case PF_HOLE_PID:
	case PF_HOLE_TID:
	case PF_HOLE_NAME:
		if (!repeats(h, p, end))
			break;
		borrow(h->kind == PF_HOLE_PID   ? &f->pid
		       : h->kind == PF_HOLE_TID ? &f->tid
						: &f->name,
		       h, p);
		return p + h->len;
	}
	return read_value(c, f, (enum pf_hole_kind)h->kind, p, end);
}

static inline bool fits_literal(const struct pf_hole *h, const char *p,
				const char *end)
{
	return (size_t)(end - p) >= h->literal_len &&
	       pf_same_bytes(p, h->literal, h->literal_len);
}

static const char *fit(struct pf_chrome *c, struct pf_shape *s,
		       struct fields *f, const char *p, const char *end)
{
	struct pf_hole *h = s->hole;
	const char *q;

	if (!s->count || !fits_literal(h, p, end))
		return NULL;
	clear(f, s->is_stale);
	f->ph = s->ph;
	f->has_args = s->has_args;
	f->category.p = s->category_text;
	f->category.len = s->category_len;
	s->is_stale = true; /* its holes are another event's from here on */
	for (;; h++) {
		p += h->literal_len;
		if (h->kind == PF_HOLE_END) {
			h->at = p;
			return p;
		}
		q = fit_hole(c, f, h, p, end);
		if (!q || q >= end || !fits_literal(h + 1, q, end))
			return NULL;
		h->at = p;
		h->len = (uint32_t)(q - p);
		p = q;
	}
}

/* The shape that fits; *next is behind the event then. */
static struct pf_shape *fit_any(struct pf_chrome *c, struct fields *f,
				const char *p, const char *end,
				const char **next)
{
	struct pf_shapes *all = c->shapes;
	uint32_t likely = all->shape[all->last].next, i = likely;

	for (uint32_t n = 0; n < all->count; n++) {
		const char *q = fit(c, &all->shape[i], f, p, end);

		if (q) {
			all->shape[all->last].next = i;
			all->last = i;
			*next = q;
			return &all->shape[i];
		}
		i = i + 1 < all->count ? i + 1 : 0;
	}
	return NULL;
}

/* ---- the text of the arguments ---- */

static const char *place_of(const struct pf_shape *s,
			    struct pf_shape_place place)
{
	const struct pf_hole *h = &s->hole[place.hole];

	return h->at - h->literal_len + place.offset;
}

/* As read_args() and read_extra() would have left it. */
static void compose(struct pf_chrome *c, const struct pf_shape *s)
{
	struct pf_buf *out = &c->args_text, *extra = &c->extra_text;
	const char *copied = place_of(s, s->args_from);

	out->len = 0;
	for (const struct pf_hole *h = s->hole; h->kind != PF_HOLE_END; h++) {
		if (h->is_extra) {
			put_extra_key(extra, h->key, h->key_len);
			if (h->kind == PF_HOLE_SLOT)
				put_slot(extra, h->slot);
			else
				put(extra, h->at, h->len);
		} else if (h->kind == PF_HOLE_SLOT) {
			put(out, copied, (size_t)(h->at - copied));
			put_slot(out, h->slot);
			copied = h->at + h->len;
		}
	}
	if (s->has_args)
		put(out, copied, (size_t)(place_of(s, s->args_to) - copied));
}

/* The slot that a number under this key would go to, or -1. */
static int free_slot(const struct fields *f, const char *key, size_t len)
{
	int slot = pf_number_slot(key, len);
	int last = slot;

	if (slot < 0)
		return -1;
	if (slot == PF_SLOT_GENERIC)
		last += PF_SLOT_GENERIC_COUNT - 1;
	while (slot <= last && f->mask >> slot & 1)
		slot++;
	return slot <= last ? slot : -1;
}

/* A number that is plain enough for the slot (-1: none is). */
static const char *read_slot(struct pf_chrome *c, struct fields *f, int slot,
			     const char *p)
{
	const char *q;
	int64_t value;

	if (slot < 0 || !((*p >= '0' && *p <= '9') || *p == '-'))
		return NULL;
	q = read_number(slot, p, &value);
	if (q)
		set_slot(c, f, (unsigned)slot, value);
	learn_hole(c, PF_HOLE_SLOT, slot, p, q);
	return q;
}

/*
 * The args object at p.  Its text goes to c->args_text without the closing
 * brace, numbers that have a slot replaced by $a, $b, ...
 */
static const char *read_args(struct pf_chrome *c, struct fields *f,
			     const char *p, const char *end)
{
	struct pf_buf *out = &c->args_text;
	const char *copied = p, *key, *key_end, *value, *q;
	int slot;

	out->len = 0;
	learn_args(c, p, false);
	p = pf_skip_blanks(p + 1, end);
	if (*p == '}') {
		put(out, "{\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 1);
		learn_args(c, copied + 1, true);
		return p + 1;
	}
	for (;;) {
		if (*p != '"')
			return NULL;
		key = p + 1;
		key_end = pf_string_end(key, end);
		if (!key_end)
			return NULL;
		value = value_start(key_end + 1, end);
		if (!value)
			return NULL;
		slot = free_slot(f, key, (size_t)(key_end - key));
		q = read_slot(c, f, slot, value);
		if (q) {
			put(out, copied, (size_t)(value - copied));
			put_slot(out, slot);
			copied = q;
		} else {
			q = value_end(value, end);
			if (!q || q == value)
				return NULL;
			learn_hole(c, PF_HOLE_VALUE, slot, value, q);
		}
		p = pf_skip_blanks(q, end);
		if (*p == '}')
			break;
		if (*p != ',')
			return NULL;
		p = pf_skip_blanks(p + 1, end);
	}
	put(out, copied, (size_t)(p - copied));
	learn_args(c, p, true);
	return p + 1;
}

/* A member of the event itself that has no column: kept as argument "@key". */
static const char *read_extra(struct pf_chrome *c, struct fields *f,
			      const char *key, size_t key_len, const char *p,
			      const char *end)
{
	struct pf_buf *out = &c->extra_text;
	bool is_id = key_len == 2 && !memcmp(key, "id", 2);
	int slot = !is_id                           ? free_slot(f, key, key_len)
		   : f->mask >> PF_SLOT_FLOW_ID & 1 ? -1
						    : PF_SLOT_FLOW_ID;
	const char *q = read_slot(c, f, slot, p);

	put_extra_key(out, key, key_len);
	if (q) {
		put_slot(out, slot);
	} else {
		q = value_end(p, end);
		if (!q || q == p)
			return NULL;
		put(out, p, (size_t)(q - p));
		learn_hole(c, PF_HOLE_VALUE, slot, p, q);
	}
	learn_extra(c, key, key_len);
	return q;
}

/* ---- the event ---- */

static const char *read_phase(struct pf_chrome *c, const char *p,
			      const char *end, struct fields *f)
{
	if (f->ph)
		return NULL;
	if (p[0] == '"' && p[2] == '"' && p[1] != '\\') {
		f->ph = p[1];
		return p + 3;
	}
	f->ph = '?';
	return c->mended ? value_end(p, end) : NULL;
}

static const char *read_hole(struct pf_chrome *c, struct fields *f,
			     enum pf_hole_kind kind, const char *p,
			     const char *end)
{
	const char *q = read_value(c, f, kind, p, end);

	learn_hole(c, kind, -1, p, q);
	return q;
}

static const char *read_other(struct pf_chrome *c, struct fields *f,
			      const char *key, const char *end)
{
	const char *key_end = pf_string_end(key, end), *p;

	p = key_end ? value_start(key_end + 1, end) : NULL;
	return p ? read_extra(c, f, key, (size_t)(key_end - key), p, end)
		 : NULL;
}

/*
 * One member; key is behind its opening quote.  The known keys are told by
 * their first bytes, closing quote included, without looking for their end.
 */
static const char *read_member(struct pf_chrome *c, struct fields *f,
			       const char *key, const char *end)
{
	uint64_t k = load8(key);
	const char *p;

	switch (k & LOW_BYTES(3)) {
	case KEY2('p', 'h'):
		p = value_start(key + 3, end);
		return p ? read_phase(c, p, end, f) : NULL;
	case KEY2('t', 's'):
		p = value_start(key + 3, end);
		return p ? read_hole(c, f, PF_HOLE_START, p, end) : NULL;
	}
	switch (k & LOW_BYTES(4)) {
	case KEY3('d', 'u', 'r'):
		p = value_start(key + 4, end);
		return p ? read_hole(c, f, PF_HOLE_DUR, p, end) : NULL;
	case KEY3('p', 'i', 'd'):
		p = value_start(key + 4, end);
		return p ? read_hole(c, f, PF_HOLE_PID, p, end) : NULL;
	case KEY3('t', 'i', 'd'):
		p = value_start(key + 4, end);
		return p ? read_hole(c, f, PF_HOLE_TID, p, end) : NULL;
	case KEY3('c', 'a', 't'):
		p = value_start(key + 4, end);
		return p ? read_text(c, p, end, &f->category) : NULL;
	}
	switch (k & LOW_BYTES(5)) {
	case KEY4('n', 'a', 'm', 'e'):
		p = value_start(key + 5, end);
		return p ? read_hole(c, f, PF_HOLE_NAME, p, end) : NULL;
	case KEY4('a', 'r', 'g', 's'):
		p = value_start(key + 5, end);
		if (!p || *p != '{') {
			c->shapes->learning = NULL; /* the next may be one */
			break;
		}
		if (f->has_args)
			return NULL;
		f->has_args = true;
		return read_args(c, f, p, end);
	}
	return read_other(c, f, key, end);
}

static const char *read_event(struct pf_chrome *c, struct fields *f,
			      const char *p, const char *end)
{
	p = pf_skip_blanks(p + 1, end);
	if (*p == '}')
		return p + 1;
	for (;;) {
		if (*p != '"')
			return NULL;
		p = read_member(c, f, p + 1, end);
		if (!p || p >= end)
			return NULL;
		p = pf_skip_blanks(p, end);
		if (*p == '}')
			return p + 1;
		if (*p != ',')
			return NULL;
		p = pf_skip_blanks(p + 1, end);
	}
}

/* Entry of the args dictionary, or PF_ID_NONE; false: not strictly valid. */
static bool find_args(struct pf_chrome *c, const struct fields *f,
		      uint32_t *entry)
{
	struct pf_buf *text = &c->args_text;

	*entry = PF_ID_NONE;
	if (!f->has_args && !c->extra_text.len)
		return true;
	if (!f->has_args) {
		text->len = 0;
		pf_buf_addc(text, '{');
	}
	if (c->extra_text.len) {
		bool first = text->len == 1;

		pf_buf_add(text, c->extra_text.data + first,
			   c->extra_text.len - first);
	}
	pf_buf_addc(text, '}');
	*entry = pf_dict_find(&c->out.args, text->data, text->len, f->mask);
	return !(c->out.args.entries[*entry].flags & PF_DICT_BAD);
}

/* Is dictionary entry e of d these bytes?  Neighbours often repeat. */
static inline bool is_entry(const struct pf_dict *d, uint32_t e, const char *p,
			    size_t len)
{
	return e < d->count && d->entries[e].raw_len == len &&
	       !memcmp(d->raw.data + d->entries[e].raw_at, p, len);
}

static uint32_t find_category(struct pf_chrome *c, const struct fields *f)
{
	const char *p = f->category.len ? f->category.p : "";
	struct pf_dict *d = &c->out.categories;

	for (unsigned i = 0; i < PF_MEMO; i++)
		if (is_entry(d, c->category_memo[i], p, f->category.len))
			return c->category_memo[i];
	c->memo_turn = (c->memo_turn + 1) % PF_MEMO;
	return c->category_memo[c->memo_turn] =
		       pf_dict_find(d, p, f->category.len, 0);
}

static bool find_track(struct pf_chrome *c, const struct fields *f,
		       enum pf_kind kind, uint32_t *entry)
{
	static const char nothing[16]; /* put() reads so much at least */
	char letter = pf_track_class_letter(kind);
	struct pf_buf *key = &c->key_text;
	uint32_t *memo = &c->track_memo[kind];

	key->len = 0;
	pf_buf_reserve(key, 64 + (size_t)f->pid.len + f->tid.len);
	key->data[0] = letter;
	memcpy(key->data + 1, &f->pid.len, sizeof(f->pid.len));
	key->len = 1 + sizeof(f->pid.len);
	put(key, f->pid.len ? f->pid.p : nothing, f->pid.len);
	put(key, f->tid.len ? f->tid.p : nothing, f->tid.len);
	*entry = *memo;
	if (!is_entry(&c->out.tracks, *memo, key->data, key->len))
		*entry = *memo =
			pf_dict_find(&c->out.tracks, key->data, key->len, 0);
	return !(c->out.tracks.entries[*entry].flags & PF_DICT_BAD);
}

static void count_facts(struct pf_chrome *c, const struct fields *f,
			enum pf_kind kind, uint32_t args)
{
	struct pf_batch *b = &c->out.batch;
	uint32_t facts =
		args == PF_ID_NONE ? 0 : c->out.args.entries[args].facts;

	b->facts |= facts;
	b->ext_lower += facts >> PF_FACT_EXT_LOWER & 1;
	b->kind_count[kind]++;
	PF_AT_LEAST(b->ts_fraction_digits, f->fraction_digits);
	if (!(f->mask >> PF_SLOT_CORRELATION & 1) ||
	    !(pf_kind_is_gpu_work(kind) || kind == PF_KIND_RUNTIME ||
	      kind == PF_KIND_DRIVER))
		return;
	if (!(f->mask >> PF_SLOT_EXTERNAL_ID & 1))
		b->link_absent++;
	else if (c->slot_values[PF_SLOT_EXTERNAL_ID] ==
		 c->slot_values[PF_SLOT_CORRELATION])
		b->link_equal++;
	else
		b->link_differ++;
}

static void commit(struct pf_chrome *c, const struct fields *f,
		   struct pf_event *ev)
{
	struct pf_batch *b = &c->out.batch;

	ev->order = (int32_t)b->event_count++;
	pf_batch_put(b, ev, f->mask, c->slot_values);
}

/* Only what is strictly valid is skipped, so that cuts change nothing. */
static enum pf_extract_result skip(struct pf_chrome *c,
				   enum pf_repair_kind kind, int64_t offset)
{
	if (!c->mended && kind != PF_SKIP_PYTHON)
		return PF_EXTRACT_SLOW;
	pf_repair_note(&c->out.batch.repairs, kind, 1, offset);
	c->out.batch.event_count++;
	return PF_EXTRACT_SKIP;
}

/* Times as they are stored; each oddity is counted. */
static void settle_times(struct pf_chrome *c, struct fields *f, int64_t offset)
{
	struct pf_repairs *r = &c->out.batch.repairs;

	if (f->ph == 'X' && !f->has_dur)
		pf_repair_note(r, PF_REPAIR_NO_DURATION, 1, offset);
	if (f->ph != 'X')
		f->dur_ns = 0;
	if (f->dur_ns < 0) {
		pf_repair_note(r, PF_REPAIR_NEGATIVE_DURATION, 1, offset);
		f->dur_ns = 0;
	}
	if (f->rounded)
		pf_repair_note(r, PF_REPAIR_ROUNDED_TIME, 1, offset);
}

/* "{}", with which TensorFlow and JAX end their lists. */
static bool is_empty_object(const char *p, const char *end)
{
	p = pf_skip_blanks(p + 1, end);
	return p + 1 == end;
}

/* Perhaps: one of them may be "ph". */
static bool has_escaped_keys(const char *p, const char *end)
{
	return memmem(p, (size_t)(end - p), "\\u", 2);
}

/*
 * What the event's texts are in the dictionaries, into s, where what the event
 * before came to is still true unless f says otherwise.  False: not plain.
 */
static bool look_up(struct pf_chrome *c, struct fields *f, struct pf_shape *s)
{
	struct pf_parsed *out = &c->out;
	const struct pf_dict_entry *name, *category;
	bool is_on_device;

	if (f->is_other_category)
		s->category = find_category(c, f);
	if (f->is_other_name)
		s->name =
			pf_dict_find(&out->names, f->name.len ? f->name.p : "",
				     f->name.len, 0);
	category = &out->categories.entries[s->category];
	name = &out->names.entries[s->name];
	if (((category->flags | name->flags) & PF_DICT_BAD) ||
	    (f->are_other_args && !find_args(c, f, &s->args)))
		return false;
	is_on_device = s->args != PF_ID_NONE &&
		       out->args.entries[s->args].flags & PF_DICT_ON_DEVICE;
	if (f->is_other_name || f->are_other_args)
		s->kind = pf_event_kind(f->ph, category->kind,
					out->names.text.data + name->text_at,
					name->text_len, is_on_device);
	return true;
}

static enum pf_extract_result keep(struct pf_chrome *c, struct fields *f,
				   struct pf_shape *s, int64_t offset)
{
	struct pf_event ev = { 0 };
	uint32_t kind = s->kind;

	if (f->bad_time || !pf_time_fits(f->start_ns, f->dur_ns))
		return skip(c, PF_SKIP_TIME_RANGE, offset);
	if (!look_up(c, f, s))
		return PF_EXTRACT_SLOW;
	if (s->kind == PF_KIND_PYTHON && c->skip_python)
		return skip(c, PF_SKIP_PYTHON, offset);
	f->is_other_track |= kind != s->kind;
	if (f->is_other_track &&
	    !find_track(c, f, (enum pf_kind)s->kind, &s->track))
		return PF_EXTRACT_SLOW;
	settle_times(c, f, offset);
	if (f->is_other_category || kind != s->kind)
		s->type = pf_batch_type(&c->out.batch, s->category, f->ph,
					(enum pf_kind)s->kind);
	s->is_stale = false;
	ev.name = s->name;
	ev.args = s->args;
	ev.track = s->track;
	ev.type = s->type;
	ev.ph = (uint8_t)f->ph;
	ev.kind = (uint8_t)s->kind;
	ev.start_ns = f->start_ns;
	ev.dur_ns = f->dur_ns;
	count_facts(c, f, (enum pf_kind)s->kind, s->args);
	commit(c, f, &ev);
	return PF_EXTRACT_EVENT;
}

/* The event at p into *f, and its shape or *none; NULL: it is not plain. */
static struct pf_shape *read_any(struct pf_chrome *c, struct fields *f,
				 const char *p, const char *end,
				 struct pf_shape *none, const char **next)
{
	struct pf_shape *s =
		PF_SCAN_SIMD && !c->mended ? fit_any(c, f, p, end, next) : NULL;

	if (s) {
		if (f->are_other_args)
			compose(c, s);
		return s;
	}
	clear(f, true);
	if (PF_SCAN_SIMD && !c->mended)
		learn(c, p);
	*next = read_event(c, f, p, end);
	if (*next && f->ph && f->ph != 'M')
		s = learned(c, f, *next);
	c->shapes->learning = NULL;
	return !*next ? NULL : s ? s : none;
}

enum pf_extract_result PF_EXTRACT(struct pf_chrome *c, const char *p,
				  const char *end, int64_t offset,
				  const char **next)
{
	struct pf_shape none, *s;
	struct fields f;
	const char *q;

	none.kind = PF_KIND_COUNT;
	c->extra_text.len = 0;
	s = read_any(c, &f, p, end, &none, &q);
	if (!s || f.ph == 'M')
		return PF_EXTRACT_SLOW;
	*next = q;
	if (!f.ph && is_empty_object(p, q))
		return skip(c, PF_SKIP_EMPTY, offset);
	if (!pf_phase_of(f.ph)) {
		c->out.batch.no_phase_count +=
			c->mended && !f.ph && !has_escaped_keys(p, q);
		return skip(c, PF_SKIP_PHASE, offset);
	}
	if (pf_phase_of(f.ph) == PF_PHASE_STATE)
		return skip(c, PF_SKIP_STATE, offset);
	if (!f.has_start)
		return skip(c, PF_SKIP_NO_TIME, offset);
	return keep(c, &f, s, offset);
}
