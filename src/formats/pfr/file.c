/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "formats/pfr/file.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/num.h"
#include "base/order.h"
#include "base/search.h"
#include "formats/sink.h"

#define LINES_MAX 16384u
#define BYTES_MAX (8u << 20)

static void lines_release(struct pf_pfr_lines *l)
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
		PF_ROOM(l->items, l->cap, l->count + 1);
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

static void lines_add(struct pf_pfr_lines *l, const unsigned char *p,
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

/* ---- clock ---- */

#define PAIRS_MAX (1u << 20) /* twelve days of one a second */

static void clock_release(struct pf_pfr_clock *c)
{
	free(c->pairs);
	memset(c, 0, sizeof(*c));
}

/* The payload of a CLOCK frame; what is too short is passed over. */
static void clock_add(struct pf_pfr_clock *c, const unsigned char *p,
		      size_t len)
{
	uint64_t before, real, after;

	if (len < 24 || c->count == PAIRS_MAX)
		return;
	before = pf_wire_u64(p);
	real = pf_wire_u64(p + 8);
	after = pf_wire_u64(p + 16);
	if (before > INT64_MAX || real > INT64_MAX || after > INT64_MAX)
		return;
	PF_ROOM(c->pairs, c->cap, c->count + 1);
	if (c->count && (int64_t)real < c->pairs[c->count - 1].realtime_ns)
		c->goes_back = true;
	c->pairs[c->count++] = (struct pf_pfr_clock_pair){
		.monotonic_ns = (int64_t)((before + after) / 2),
		.realtime_ns = (int64_t)real,
	};
}

/* Realtime at monotonic 0 by the first pair: false if there is none. */
static bool clock_base(const struct pf_pfr_clock *c, int64_t *base_ns)
{
	if (!c->count)
		return false;
	*base_ns = c->pairs[0].realtime_ns - c->pairs[0].monotonic_ns;
	return true;
}

#define NEAR 64

static size_t find_pair(const struct pf_pfr_clock *c, int64_t ns)
{
	size_t low = PF_SEARCH(i, c->count, c->pairs[i].realtime_ns <= ns);

	return low ? low - 1 : 0;
}

static bool is_near(const struct pf_pfr_clock *c, int64_t ns)
{
	size_t low = c->last > NEAR ? c->last - NEAR : 0;
	size_t high = c->count - c->last > NEAR ? c->last + NEAR : c->count - 1;

	return c->pairs[low].realtime_ns <= ns &&
	       ns <= c->pairs[high].realtime_ns;
}

/* The pair before a time: nearly always the one used last, or the next. */
static size_t pair_before(struct pf_pfr_clock *c, int64_t ns)
{
	size_t i = c->last;

	if (!c->goes_back && !is_near(c, ns))
		return c->last = find_pair(c, ns);
	while (i && c->pairs[i].realtime_ns > ns)
		i--;
	while (i + 1 < c->count && c->pairs[i + 1].realtime_ns <= ns)
		i++;
	return c->last = i;
}

/* Wraps on hostile times, so that it is defined. */
static int64_t shifted(const struct pf_pfr_clock_pair *p, int64_t ns)
{
	return (int64_t)((uint64_t)ns - (uint64_t)p->realtime_ns +
			 (uint64_t)p->monotonic_ns);
}

int64_t pf_pfr_clock_monotonic(struct pf_pfr_clock *c, int64_t ns)
{
	const struct pf_pfr_clock_pair *a, *b;
	__int128 run, rise, over;

	if (!c->count)
		return ns;
	a = &c->pairs[pair_before(c, ns)];
	b = a + 1;
	if (ns < a->realtime_ns || b == c->pairs + c->count ||
	    b->realtime_ns <= a->realtime_ns)
		return shifted(a, ns);
	run = (__int128)b->realtime_ns - a->realtime_ns;
	rise = (__int128)b->monotonic_ns - a->monotonic_ns;
	over = (__int128)ns - a->realtime_ns;
	return (int64_t)(a->monotonic_ns + (over * rise + run / 2) / run);
}

/* ---- defs ---- */

/* Several times what a writer may define (agent/FORMAT.md, section 8). */
#define TEXT_MAX     (64u << 20)
#define STRINGS_MAX  (1u << 20)
#define LAUNCHES_MAX (1u << 20)
#define KEYED_MAX    (1u << 18)

static void defs_release(struct pf_pfr_defs *d)
{
	pf_buf_release(&d->text);
	free(d->strings);
	free(d->launches);
	free(d->keyed);
	memset(d, 0, sizeof(*d));
}

/* A name, and the fields of a LAUNCH behind the id, from a body. */
static bool pfr_read_name(struct pf_wire *w, struct pf_pfr_name *name)
{
	uint64_t v;

	*name = (struct pf_pfr_name){ 0 };
	if (!pf_wire_varint(w, &v))
		return false;
	name->id = v / 2;
	if (!(v & 1))
		return true;
	if (v / 2 > (uint64_t)(w->end - w->p))
		return false;
	name->id = 0;
	name->text = (const char *)w->p;
	name->len = (size_t)(v / 2);
	w->p += name->len;
	return true;
}

static bool pfr_read_launch(struct pf_wire *w, bool whole,
			    struct pf_pfr_launch *launch)
{
	struct pf_work_launch *l = &launch->how;
	uint32_t *const fields[] = {
		&l->grid[0],     &l->grid[1],      &l->grid[2],
		&l->block[0],    &l->block[1],     &l->block[2],
		&l->registers,   &l->static_bytes, &l->dynamic_bytes,
		&l->local_bytes, &l->cluster[0],   &l->cluster[1],
		&l->cluster[2],  &l->launch_type,
	};
	const size_t count = PF_LEN(fields);

	memset(l, 0, sizeof(*l));
	if (!pfr_read_name(w, &launch->name))
		return false;
	for (size_t i = 0; i < count; i++) {
		uint64_t v;

		/* The cluster and launch type may be left out of a LAUNCH. */
		if (i == count - 4 && !whole && w->p == w->end)
			return true;
		if (!pf_wire_varint(w, &v))
			return false;
		*fields[i] = v > UINT32_MAX ? UINT32_MAX : (uint32_t)v;
	}
	return true;
}

/* Copy a text; false: past the limit. */
static bool keep(struct pf_pfr_defs *d, const void *p, size_t len, size_t *at)
{
	if (len > PF_PFR_TEXT_MAX || len > TEXT_MAX - d->text.len) {
		d->past_cap++;
		return false;
	}
	*at = d->text.len;
	pf_buf_add(&d->text, p, len);
	return true;
}

static bool same_text(const struct pf_pfr_defs *d, size_t at, size_t old_len,
		      const struct pf_wire *w)
{
	size_t len = (size_t)(w->end - w->p);

	return old_len == len && !memcmp(d->text.data + at, w->p, len);
}

static bool add_string(struct pf_pfr_defs *d, struct pf_wire *w)
{
	struct pf_pfr_def *def;
	uint64_t id;

	if (!pf_wire_varint(w, &id) || !id)
		return false;
	if (id >= STRINGS_MAX) {
		d->past_cap++;
		return true;
	}
	PF_ROOM_ZERO(d->strings, d->string_cap, (size_t)id + 1);
	def = &d->strings[id];
	/* The recap says again what is known. */
	if (def->known && same_text(d, def->at, def->len, w))
		return true;
	if (!keep(d, w->p, (size_t)(w->end - w->p), &def->at))
		return true;
	def->len = (uint32_t)(w->end - w->p);
	def->known = true;
	return true;
}

static bool add_launch(struct pf_pfr_defs *d, struct pf_wire *w)
{
	struct pf_pfr_launch_def def = { .known = true };
	uint64_t id;

	if (!pf_wire_varint(w, &id) || !id ||
	    !pfr_read_launch(w, false, &def.launch))
		return false;
	if (id >= LAUNCHES_MAX) {
		d->past_cap++;
		return true;
	}
	if (id < d->launch_cap && d->launches[id].known)
		return true; /* defined once with one meaning */
	if (def.launch.name.text &&
	    !keep(d, def.launch.name.text, def.launch.name.len, &def.text_at))
		return true;
	PF_ROOM_ZERO(d->launches, d->launch_cap, (size_t)id + 1);
	d->launches[id] = def;
	return true;
}

static bool read_key(struct pf_wire *w, unsigned table, uint64_t *key)
{
	uint64_t low;

	if (!pf_wire_varint(w, key))
		return false;
	if (table == PF_PFR_THREAD || table == PF_PFR_DOMAIN)
		return true;
	if (!pf_wire_varint(w, &low))
		return false;
	*key = table == PF_PFR_CBID ? low << 1 | (*key == 1)
				    : *key << 32 | (uint32_t)low;
	return true;
}

static bool add_keyed(struct pf_pfr_defs *d, unsigned table, struct pf_wire *w)
{
	struct pf_pfr_keyed k = { .table = (uint8_t)table,
				  .order = d->keyed_count };

	if (!read_key(w, table, &k.key))
		return false;
	if (d->keyed_count >= KEYED_MAX && !d->is_keyed_full) {
		pf_pfr_defs_seal(d); /* forgets what came again */
		k.order = d->keyed_count;
		/* or sorting is all that would be done from here on */
		d->is_keyed_full = d->keyed_count > KEYED_MAX / 8 * 7;
	}
	if (d->keyed_count >= KEYED_MAX || d->is_keyed_full) {
		d->past_cap++;
		return true;
	}
	k.len = (uint32_t)(w->end - w->p);
	if (!keep(d, w->p, k.len, &k.at))
		return true;
	*PF_ONE_MORE(d->keyed, d->keyed_count, d->keyed_cap) = k;
	return true;
}

static bool add_entry(struct pf_pfr_defs *d, unsigned table, struct pf_wire *w)
{
	switch (table) {
	case PF_PFR_STR:
		return add_string(d, w);
	case PF_PFR_LAUNCH:
		return add_launch(d, w);
	case PF_PFR_CBID:
	case PF_PFR_THREAD:
	case PF_PFR_DOMAIN:
	case PF_PFR_CATEGORY:
		return add_keyed(d, table, w);
	default:
		return true; /* of a later minor version */
	}
}

/* Take in the payload of a DEF frame. */
static void defs_add(struct pf_pfr_defs *d, const unsigned char *p, size_t len)
{
	struct pf_wire w = { p, p + len };

	while (w.p < w.end) {
		unsigned table = *w.p++;
		struct pf_wire body;
		uint64_t n;

		if (!pf_wire_varint(&w, &n) || n > (uint64_t)(w.end - w.p)) {
			d->bad++;
			return;
		}
		body = (struct pf_wire){ w.p, w.p + n };
		w.p += n;
		if (!add_entry(d, table, &body))
			d->bad++;
	}
}

static int compare_keys(const struct pf_pfr_keyed *x,
			const struct pf_pfr_keyed *y)
{
	if (x->table != y->table)
		return x->table < y->table ? -1 : 1;
	return (x->key > y->key) - (x->key < y->key);
}

PF_ORDER(compare, struct pf_pfr_keyed, PF_UP(table) PF_UP(key) PF_UP(order))

/* Sorted, and only the last one of each key. */
void pf_pfr_defs_seal(struct pf_pfr_defs *d)
{
	size_t kept = 0;

	pf_sort(d->keyed, d->keyed_count, sizeof(*d->keyed), compare);
	for (size_t i = 0; i < d->keyed_count; i++)
		if (i + 1 == d->keyed_count ||
		    compare_keys(&d->keyed[i], &d->keyed[i + 1]))
			d->keyed[kept++] = d->keyed[i];
	d->keyed_count = kept;
	for (size_t i = 0; i < kept; i++)
		d->keyed[i].order = i;
	for (size_t i = 0; i < d->launch_cap; i++)
		if (d->launches[i].launch.name.text)
			d->launches[i].launch.name.text =
				d->text.data + d->launches[i].text_at;
}

struct pf_pfr_text pf_pfr_string(const struct pf_pfr_defs *d, uint64_t id)
{
	if (id >= d->string_cap || !d->strings[id].known)
		return (struct pf_pfr_text){ NULL, 0 };
	return (struct pf_pfr_text){ d->text.data + d->strings[id].at,
				     d->strings[id].len };
}

const struct pf_pfr_launch *pf_pfr_launch_of(const struct pf_pfr_defs *d,
					     uint64_t id)
{
	return id < d->launch_cap && d->launches[id].known
		       ? &d->launches[id].launch
		       : NULL;
}

struct pf_pfr_text pf_pfr_keyed_text(const struct pf_pfr_defs *d,
				     enum pf_pfr_table table, uint64_t key)
{
	const struct pf_pfr_keyed want = { .table = (uint8_t)table,
					   .key = key };
	size_t at = PF_SEARCH(i, d->keyed_count,
			      compare_keys(&d->keyed[i], &want) < 0);

	if (at == d->keyed_count || compare_keys(&d->keyed[at], &want))
		return (struct pf_pfr_text){ NULL, 0 };
	return (struct pf_pfr_text){ d->text.data + d->keyed[at].at,
				     d->keyed[at].len };
}

/* ---- body ---- */

/*
 * The fields of each type, a letter each: t d c as in the format, l the
 * fields of a launch, n a name, v a varint, b a byte, p a payload if the
 * field before it is not 0.  What follows a '?' may be left out.
 */
static const char *const layouts[PF_PFR_EVENT_TYPES] = {
	[PF_PFR_KERNEL] = "tdcvvvvvv?vvv",
	[PF_PFR_KERNEL_INLINE] = "tdclvvvvv?vvv",
	[PF_PFR_MEMCPY] = "tdcvvbvvvvv?vvv",
	[PF_PFR_MEMSET] = "tdcvvvvvvv?v",
	[PF_PFR_API] = "tdcvvv",
	[PF_PFR_SYNC] = "tdcvvvvvv",
	[PF_PFR_CUDA_EVENT] = "tdcvvvvv",
	[PF_PFR_OVERHEAD] = "tdcvvvvv",
	[PF_PFR_MEMORY] = "tdcvvvvvvvvvvvn",
	[PF_PFR_GRAPH] = "tdcvvvvvv",
	[PF_PFR_JIT] = "tdcvvvv",
	[PF_PFR_INTERNAL] = "tdcvvv",
	[PF_PFR_UVM] = "tdvvvvv",
	[PF_PFR_ENV] = "tvvvvvv",
	[PF_PFR_EXTCORR] = "cvv",
	[PF_PFR_PUSH] = "tvnvvvvvp",
	[PF_PFR_POP] = "tvnvvvvvp",
	[PF_PFR_MARK] = "tvnvvvvvp",
	[PF_PFR_RSTART] = "tvnvvvvvp",
	[PF_PFR_REND] = "tvnvvvvvp",
};

bool pf_pfr_body_init(struct pf_pfr_body *b, const unsigned char *p, size_t len)
{
	b->w = (struct pf_wire){ p, p + len };
	b->correlation = 0;
	return pf_wire_varint(&b->w, &b->start_ns);
}

static bool read_start(struct pf_pfr_body *b, struct pf_wire *w,
		       struct pf_pfr_event *ev)
{
	uint64_t v;

	if (!pf_wire_varint(w, &v))
		return false;
	if (ev->untimed)
		return true;
	b->start_ns += (uint64_t)pf_wire_unzigzag(v);
	ev->start_ns = ev->end_ns = (int64_t)b->start_ns;
	return true;
}

static bool read_end(struct pf_wire *w, struct pf_pfr_event *ev)
{
	uint64_t v;

	if (!pf_wire_varint(w, &v))
		return false;
	if (!ev->untimed)
		ev->end_ns = (int64_t)((uint64_t)ev->start_ns +
				       (uint64_t)pf_wire_unzigzag(v));
	return true;
}

static bool read_correlation(struct pf_pfr_body *b, struct pf_wire *w,
			     struct pf_pfr_event *ev)
{
	uint64_t v;

	if (!pf_wire_varint(w, &v))
		return false;
	b->correlation += (uint64_t)pf_wire_unzigzag(v);
	ev->correlation = b->correlation;
	return true;
}

static bool read_payload(struct pf_wire *w, struct pf_pfr_event *ev)
{
	if (!ev->v[ev->count - 1])
		return true;
	if (w->end - w->p < 8)
		return false;
	ev->payload = pf_wire_u64(w->p);
	w->p += 8;
	return true;
}

static bool read_field(struct pf_pfr_body *b, char letter, struct pf_wire *w,
		       struct pf_pfr_event *ev)
{
	switch (letter) {
	case 'v':
		return pf_wire_varint(w, &ev->v[ev->count++]);
	case 't':
		return read_start(b, w, ev);
	case 'd':
		return read_end(w, ev);
	case 'c':
		return read_correlation(b, w, ev);
	case 'b':
		if (w->p == w->end)
			return false;
		ev->v[ev->count++] = *w->p++;
		return true;
	case 'n':
		return pfr_read_name(w, &ev->name);
	case 'l':
		return pfr_read_launch(w, true, &ev->launch);
	default:
		return read_payload(w, ev);
	}
}

static enum pf_pfr_got read_fields(struct pf_pfr_body *b, struct pf_wire *w,
				   struct pf_pfr_event *ev)
{
	bool optional = false;

	for (const char *f = layouts[ev->type]; *f; f++) {
		if (*f == '?') {
			optional = true;
			continue;
		}
		if (optional && w->p == w->end)
			break;
		if (!read_field(b, *f, w, ev))
			return PF_PFR_GOT_BAD;
	}
	return PF_PFR_GOT_EVENT;
}

enum pf_pfr_got pf_pfr_body_next(struct pf_pfr_body *b, struct pf_pfr_event *ev)
{
	struct pf_wire body;
	unsigned head;
	uint64_t len;

	if (b->w.p == b->w.end)
		return PF_PFR_GOT_END;
	head = *b->w.p++;
	if (b->w.p == b->w.end)
		return PF_PFR_GOT_CUT;
	len = *b->w.p++;
	if ((len == 255 && !pf_wire_varint(&b->w, &len)) ||
	    len > (uint64_t)(b->w.end - b->w.p)) {
		b->w.p = b->w.end;
		return PF_PFR_GOT_CUT;
	}
	body = (struct pf_wire){ b->w.p, b->w.p + len };
	b->w.p += len;
	ev->type = head & 0x7f;
	if (ev->type >= PF_PFR_EVENT_TYPES || !layouts[ev->type])
		return PF_PFR_GOT_UNKNOWN;
	memset(ev->v, 0, sizeof(ev->v));
	ev->untimed = head >> 7;
	ev->start_ns = ev->end_ns = 0;
	ev->correlation = ev->payload = 0;
	ev->count = 0;
	return read_fields(b, &body, ev);
}

void pf_pfr_file_release(struct pf_pfr_file *f)
{
	lines_release(&f->meta);
	lines_release(&f->info);
	lines_release(&f->stat);
	defs_release(&f->defs);
	clock_release(&f->clock);
}

void pf_pfr_file_add(struct pf_pfr_file *f, const struct pf_pfr_frame *frame)
{
	switch (frame->type) {
	case PF_PFR_META:
		lines_add(&f->meta, frame->payload, frame->len);
		break;
	case PF_PFR_INFO:
		lines_add(&f->info, frame->payload, frame->len);
		break;
	case PF_PFR_STAT:
		lines_add(&f->stat, frame->payload, frame->len);
		break;
	case PF_PFR_DEF:
		defs_add(&f->defs, frame->payload, frame->len);
		break;
	case PF_PFR_CLOCK:
		clock_add(&f->clock, frame->payload, frame->len);
		break;
	}
}

int64_t pf_pfr_info_int(const struct pf_pfr_file *f, const char *what,
			uint64_t id, const char *field)
{
	int64_t v;

	return pf_pfr_line_int(
		       &f->info,
		       PF_PRINTED(96, "%s.%" PRIu64 ".%s", what, id, field), &v)
		       ? v
		       : -1;
}

void pf_pfr_file_find_base(struct pf_pfr_file *f)
{
	f->has_base = clock_base(&f->clock, &f->base_ns);
}

/* ---- as Kineto says it ---- */

/* Global numbers before that of one machine. */
static void put_rank(const struct pf_pfr_file *f, struct pf_batch *out)
{
	static const char *const keys[] = { "RANK", "SLURM_PROCID",
					    "OMPI_COMM_WORLD_RANK", "PMI_RANK",
					    "LOCAL_RANK" };
	PF_AUTO(pf_buf_release) struct pf_buf text = { 0 };
	int64_t rank, size;

	for (size_t i = 0; i < PF_LEN(keys); i++) {
		if (!pf_pfr_line_int(&f->meta, keys[i], &rank))
			continue;
		pf_buf_addf(&text, "{\"rank\":%" PRId64, rank);
		if (pf_pfr_line_int(&f->meta, "WORLD_SIZE", &size))
			pf_buf_addf(&text, ",\"world_size\":%" PRId64, size);
		pf_buf_addc(&text, '}');
		pf_batch_member(out, "distributedInfo", &text);
		break;
	}
}

/* Arguments end with NUL each: show them with blanks between. */
static void put_text(struct pf_buf *out, const struct pf_pfr_line *line)
{
	size_t len = line->value_len;
	PF_AUTO(pf_buf_release) struct pf_buf copy = { 0 };

	while (len && !line->value[len - 1])
		len--;
	pf_buf_add(&copy, line->value, len);
	for (size_t i = 0; i < len; i++)
		if (!copy.data[i])
			copy.data[i] = ' ';
	pf_jsonw_quote(out, copy.data ? copy.data : "", len, false);
}

static void put_meta(const struct pf_pfr_file *f, struct pf_batch *out)
{
	PF_AUTO(pf_buf_release) struct pf_buf text = { 0 };

	for (size_t i = 0; i < f->meta.count; i++) {
		int64_t v;

		pf_buf_clear(&text);
		if (pf_pfr_line_int(&f->meta, f->meta.items[i].key, &v))
			pf_buf_addf(&text, "%" PRId64, v);
		else
			put_text(&text, &f->meta.items[i]);
		pf_batch_member(out, f->meta.items[i].key, &text);
	}
}

/* All lines of INFO or STAT as one object, so that none is lost. */
static void put_lines(const struct pf_pfr_lines *l, const char *name,
		      struct pf_batch *out)
{
	PF_AUTO(pf_buf_release) struct pf_buf text = { 0 };
	int64_t v;

	for (size_t i = 0; i < l->count; i++) {
		const struct pf_pfr_line *line = &l->items[i];

		pf_buf_adds(&text, i ? ",\"" : "{\"");
		pf_buf_adds(&text, line->key);
		pf_buf_adds(&text, "\":");
		if (pf_pfr_line_int(l, line->key, &v))
			pf_buf_addf(&text, "%" PRId64, v);
		else
			put_text(&text, line);
	}
	if (!l->count)
		return;
	pf_buf_addc(&text, '}');
	pf_batch_member(out, name, &text);
}

/* ---- devices ---- */

static void put_device(const struct pf_pfr_file *f, uint64_t id,
		       struct pf_sink *out)
{
	static const char *const fields[PF_GPU_BANDWIDTH] = {
		"memSize", "ccMajor",   "ccMinor", "regsPerSM",
		"warp",    "smemPerSM", "SMs",     "warpsPerSM",
	};
	struct pf_sink_gpu gpu = { .id = (int64_t)id };
	const struct pf_pfr_line *name;

	const char *key = PF_PRINTED(64, "device.%" PRIu64 ".name", id);
	name = pf_pfr_line_of(&f->info, key);
	if (name) {
		gpu.name = name->value;
		gpu.name_len = name->value_len;
	}
	gpu.numbers[PF_GPU_BANDWIDTH] = -1;
	for (size_t i = 0; i < PF_GPU_BANDWIDTH; i++)
		gpu.numbers[i] = pf_pfr_info_int(f, "device", id, fields[i]);
	pf_sink_add_gpu(out, &gpu);
}

PF_ORDER(compare_ids, uint64_t, PF_UP_VALUE)

static void put_devices(const struct pf_pfr_file *f, struct pf_sink *out)
{
	uint64_t ids[256];
	size_t count = 0;

	for (size_t i = 0; i < f->info.count && count < 256; i++) {
		uint64_t id;
		int end = 0;

		if (sscanf(f->info.items[i].key, "device.%9" SCNu64 ".%n", &id,
			   &end) != 1 ||
		    !end || strchr(f->info.items[i].key, '-'))
			continue;
		for (size_t k = 0; k < count; k++)
			if (ids[k] == id)
				end = 0;
		if (end)
			ids[count++] = id;
	}
	pf_sort(ids, count, sizeof(*ids), compare_ids);
	for (size_t i = 0; i < count; i++)
		put_device(f, ids[i], out);
	pf_sink_put_gpus(out);
}

/* ---- names of process and threads ---- */

static void put_names(const struct pf_pfr_file *f, struct pf_batch *out)
{
	const struct pf_pfr_line *exe = pf_pfr_line_of(&f->meta, "exe");
	const char *slash;
	int64_t pid;

	if (!pf_pfr_line_int(&f->meta, "pid", &pid))
		return;
	if (exe && *exe->value) {
		slash = strrchr(exe->value, '/');
		slash = slash ? slash + 1 : exe->value;
		pf_batch_name(out, "process_name", pid, 0, slash,
			      strlen(slash));
	}
	for (size_t i = 0; i < f->defs.keyed_count; i++) {
		const struct pf_pfr_keyed *k = &f->defs.keyed[i];

		if (k->table == PF_PFR_THREAD && k->key <= INT64_MAX)
			pf_batch_name(out, "thread_name", pid, k->key,
				      f->defs.text.data + k->at, k->len);
	}
}

void pf_pfr_file_describe(const struct pf_pfr_file *f, struct pf_sink *s)
{
	struct pf_batch *out = &s->parsed.batch;

	if (f->has_base)
		pf_batch_base(out, f->base_ns);
	put_rank(f, out);
	put_devices(f, s);
	put_meta(f, out);
	put_lines(&f->info, "captureInfo", out);
	put_lines(&f->stat, "captureCounts", out);
	put_names(f, out);
}
