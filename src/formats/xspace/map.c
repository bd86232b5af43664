/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "formats/xspace/map.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "base/intern.h"
#include "base/mem.h"
#include "base/num.h"
#include "base/tempfile.h"
#include "formats/event.h"

/* ---- fields ---- */

enum pf_xs_wire { PF_XS_VARINT = 0, PF_XS_FIXED = 1, PF_XS_LENGTH = 2 };

enum pf_xs_got {
	PF_XS_END,
	PF_XS_FIELD,
	PF_XS_CUT, /* a length runs past the end: the rest is its content */
	PF_XS_BAD, /* no field can be read here or behind it */
};

/* A field that is in memory. */
struct pf_xs_field {
	uint64_t number;
	unsigned wire;
	uint64_t value; /* PF_XS_VARINT, PF_XS_FIXED */
	struct pf_wire text;
};

/* PF_XS_FIELD, PF_XS_END or PF_XS_BAD: what is cut is bad, too. */
static enum pf_xs_got xs_next(struct pf_wire *w, struct pf_xs_field *f)
{
	uint64_t tag, len;

	if (w->p == w->end)
		return PF_XS_END;
	if (!pf_wire_varint(w, &tag) || !(tag >> 3))
		return PF_XS_BAD;
	f->number = tag >> 3;
	f->wire = tag & 7;
	switch (f->wire) {
	case PF_XS_VARINT:
		return pf_wire_varint(w, &f->value) ? PF_XS_FIELD : PF_XS_BAD;
	case PF_XS_FIXED:
		if (w->end - w->p < 8)
			return PF_XS_BAD;
		f->value = pf_wire_u64(w->p);
		w->p += 8;
		return PF_XS_FIELD;
	case PF_XS_LENGTH:
		if (!pf_wire_varint(w, &len) || len > (size_t)(w->end - w->p))
			return PF_XS_BAD;
		f->value = 0;
		f->text = (struct pf_wire){ w->p, w->p + len };
		w->p += len;
		return PF_XS_FIELD;
	case 5:
		if (w->end - w->p < 4)
			return PF_XS_BAD;
		f->value = pf_wire_u32(w->p);
		w->p += 4;
		return PF_XS_FIELD;
	default: /* groups, and what is none */
		return PF_XS_BAD;
	}
}

/* A message that need not be in memory. */
struct pf_xs_cursor {
	struct pf_xs_bytes *bytes;
	int64_t at, end;
};

/* A field of it; at and end of the content of a PF_XS_LENGTH. */
struct pf_xs_span {
	uint64_t number;
	unsigned wire;
	uint64_t value;
	int64_t at, end;
};

/* A statistic as it stands there. */
struct pf_xs_stat {
	int64_t id;
	unsigned kind; /* field that has the value, 0: none */
	uint64_t value;
	struct pf_wire text;
};

#define HEAD_BYTES 20 /* a tag and a length, or a tag and a number */

void pf_xs_bytes_init(struct pf_xs_bytes *b, int fd, int64_t size,
		      size_t window)
{
	*b = (struct pf_xs_bytes){ .fd = fd, .size = size, .window = window };
	b->own = pf_alloc(PF_XS_PIECE_MAX);
	b->data = b->own;
}

static void xs_bytes_of_memory(struct pf_xs_bytes *b, const void *data,
			       size_t len)
{
	*b = (struct pf_xs_bytes){
		.fd = -1, .size = (int64_t)len, .data = data, .have = len
	};
}

void pf_xs_bytes_release(struct pf_xs_bytes *b)
{
	free(b->own);
	*b = (struct pf_xs_bytes){ .fd = -1 };
}

/*
 * The bytes [at, at + len), which must be in the file and no more than
 * PF_XS_PIECE_MAX; valid until the next call.  NULL: a read error; from then on
 * there are no bytes, and every message is at its end.
 */
static const unsigned char *xs_bytes_at(struct pf_xs_bytes *b, int64_t at,
					size_t len, struct pf_err *err)
{
	size_t want = len > b->window ? len : b->window;

	if (at >= b->at && (size_t)(at - b->at) <= b->have &&
	    len <= b->have - (size_t)(at - b->at))
		return b->data + (at - b->at);
	if (want > (uint64_t)(b->size - at))
		want = (size_t)(b->size - at);
	b->have = 0;
	if (err->code ||
	    pf_tempfile_read(b->fd, b->own, want, (uint64_t)at, err))
		return NULL;
	b->at = at;
	b->have = want;
	return b->data;
}

static enum pf_xs_got xs_step(struct pf_xs_cursor *c, struct pf_xs_span *f,
			      struct pf_err *err)
{
	int64_t left = c->end - c->at;
	size_t n = left < HEAD_BYTES ? (size_t)left : HEAD_BYTES;
	const unsigned char *p;
	struct pf_wire w;
	uint64_t tag;

	p = n ? xs_bytes_at(c->bytes, c->at, n, err) : NULL;
	if (!p)
		return PF_XS_END;
	w = (struct pf_wire){ p, p + n };
	if (!pf_wire_varint(&w, &tag) || !(tag >> 3))
		return PF_XS_BAD;
	f->number = tag >> 3;
	f->wire = tag & 7;
	if (f->wire != PF_XS_LENGTH) {
		struct pf_xs_field small = { 0 };

		w.p = p;
		if (xs_next(&w, &small) != PF_XS_FIELD)
			return PF_XS_BAD;
		f->value = small.value;
		c->at += w.p - p;
		f->at = f->end = c->at;
		return PF_XS_FIELD;
	}
	if (!pf_wire_varint(&w, &f->value))
		return PF_XS_BAD;
	f->at = c->at + (w.p - p);
	c->at = c->end;
	f->end = c->end;
	if (f->value > (uint64_t)(c->end - f->at))
		return PF_XS_CUT;
	f->end = c->at = f->at + (int64_t)f->value;
	return PF_XS_FIELD;
}

/* What a plane defines: places in the file, sorted by id. */

#define LINES_BYTES (1u << 20)
#define SORT_BYTES  (4u << 20)
#define MAP_BYTES   (8u << 20)

struct reading {
	struct pf_xs_space *space;
	struct pf_xs_defs *defs;
	struct pf_sorter *sorters[PF_XS_MAPS];
	int64_t order;
};

static void note_bad(struct pf_xs_space *s, int64_t at)
{
	pf_repair_note(&s->repairs, PF_REPAIR_BAD_MESSAGE, 1, at);
}

/* An entry of a map: key and message. */
static void add_entry(struct reading *r, enum pf_xs_def_map map,
		      const struct pf_xs_span *entry)
{
	struct pf_xs_cursor c = { r->space->bytes, entry->at, entry->end };
	struct pf_xs_def def = { .order = -r->order++ };
	struct pf_xs_span f;
	enum pf_xs_got got;

	while ((got = xs_step(&c, &f, r->space->err)) == PF_XS_FIELD) {
		if (f.number == 1 && f.wire == PF_XS_VARINT)
			def.id = (int64_t)f.value;
		if (f.number == 2 && f.wire == PF_XS_LENGTH) {
			def.at = f.at;
			def.end = f.end;
		}
	}
	if (got != PF_XS_END)
		note_bad(r->space, entry->at);
	else
		pf_sorter_add(r->sorters[map], &def, r->space->err);
}

static void add_field(struct reading *r, const struct pf_xs_span *f)
{
	struct pf_xs_piece piece = { f->at, f->end };
	struct pf_xs_defs *d = r->defs;

	if (f->wire != PF_XS_LENGTH)
		return;
	if (f->number == 3)
		pf_spool_add(d->lines, &piece, r->space->err);
	else if (f->number == 4)
		add_entry(r, PF_XS_EVENTS, f);
	else if (f->number == 5)
		add_entry(r, PF_XS_STATS, f);
	else if (f->number == 6 && d->stat_count < PF_XS_STATS_MAX)
		d->stats[d->stat_count++] = piece;
}

static void read_fields(struct reading *r, const struct pf_xs_plane *plane)
{
	struct pf_xs_cursor c = { r->space->bytes, plane->at, plane->end };
	struct pf_xs_span f;
	enum pf_xs_got got;
	bool ends_the_file = plane->end == r->space->bytes->size;

	while ((got = xs_step(&c, &f, r->space->err)) == PF_XS_FIELD)
		add_field(r, &f);
	/* Of a line that is cut off its first events are good. */
	if (got == PF_XS_CUT && ends_the_file && f.number == 3)
		add_field(r, &f);
	else if (got != PF_XS_END &&
		 !(ends_the_file &&
		   r->space->repairs.of[PF_REPAIR_CUT_OFF].count))
		note_bad(r->space, c.at);
}

/* The last definition of an id is the one that counts, and sorted first. */
static void settle(struct reading *r, enum pf_xs_def_map map)
{
	struct pf_spool *out = r->defs->maps[map];
	const struct pf_xs_def *def;
	bool has_last = false;
	int64_t last = 0;

	if (r->space->err->code ||
	    pf_sorter_finish(r->sorters[map], r->space->err))
		return;
	while ((def = pf_sorter_next(r->sorters[map], r->space->err))) {
		if (has_last && def->id == last)
			continue;
		has_last = true;
		last = def->id;
		if (pf_spool_add(out, def, r->space->err))
			return;
	}
}

/* Damage is noted in the space's repairs. */
static void xs_defs_read(struct pf_xs_defs *d, struct pf_xs_space *s,
			 const struct pf_xs_plane *plane)
{
	struct reading r = { .space = s, .defs = d };

	memset(d, 0, sizeof(*d));
	d->lines =
		pf_spool_new(sizeof(struct pf_xs_piece), LINES_BYTES, s->dir);
	for (int i = 0; i < PF_XS_MAPS; i++) {
		d->maps[i] = pf_spool_new(sizeof(struct pf_xs_def), MAP_BYTES,
					  s->dir);
		r.sorters[i] = pf_sorter_new(sizeof(struct pf_xs_def),
					     SORT_BYTES, s->dir);
	}
	read_fields(&r, plane);
	for (int i = 0; i < PF_XS_MAPS; i++) {
		settle(&r, (enum pf_xs_def_map)i);
		pf_sorter_free(r.sorters[i]);
	}
}

static void xs_defs_release(struct pf_xs_defs *d)
{
	pf_spool_free(d->lines);
	for (int i = 0; i < PF_XS_MAPS; i++)
		pf_spool_free(d->maps[i]);
}

/* The definition of an id, NULL if there is none (or on an error: err). */
static const struct pf_xs_def *xs_def_find(struct pf_xs_defs *d,
					   enum pf_xs_def_map map, int64_t id,
					   struct pf_err *err)
{
	uint64_t i = pf_spool_lower_bound(d->maps[map], id, err);
	const struct pf_xs_def *def;

	if (i == UINT64_MAX || i == pf_spool_count(d->maps[map]))
		return NULL;
	def = pf_spool_at(d->maps[map], i, err);
	return def && def->id == id ? def : NULL;
}

/* False: it cannot be read. */
static bool xs_stat_read(struct pf_wire message, struct pf_xs_stat *out)
{
	struct pf_xs_field f;
	enum pf_xs_got got;

	*out = (struct pf_xs_stat){ 0 };
	while ((got = xs_next(&message, &f)) == PF_XS_FIELD) {
		if (f.number == 1 && f.wire == PF_XS_VARINT)
			out->id = (int64_t)f.value;
		else if (f.number >= 2 && f.number <= 8) {
			static const unsigned wires[] = {
				[2] = PF_XS_FIXED,  [3] = PF_XS_VARINT,
				[4] = PF_XS_VARINT, [5] = PF_XS_LENGTH,
				[6] = PF_XS_LENGTH, [7] = PF_XS_VARINT,
				[8] = PF_XS_LENGTH,
			};

			if (f.wire != wires[f.number])
				return false;
			out->kind = (unsigned)f.number;
			out->value = f.value;
			if (f.wire == PF_XS_LENGTH)
				out->text = f.text;
		}
	}
	return got == PF_XS_END;
}

/* ---- statistics of the plane itself ---- */

/* Append the bytes [at, end), at most "max" of them. */
static void add_text(struct pf_xs_bytes *b, int64_t at, int64_t end, size_t max,
		     struct pf_buf *out, struct pf_err *err)
{
	size_t n = (uint64_t)(end - at) < max ? (size_t)(end - at) : max;
	const unsigned char *p = xs_bytes_at(b, at, n, err);

	if (p)
		pf_buf_add(out, p, n);
}

/*
 * The name of a definition (field 2), cut to "max" bytes, appended.  An
 * event's may have another to show (field 4) and a place of statistics that
 * all events of it have (field 5): how many, and the message they are in.
 */
static void xs_def_name(struct pf_xs_bytes *b, const struct pf_xs_def *def,
			unsigned field, size_t max, struct pf_buf *out,
			struct pf_err *err)
{
	struct pf_xs_cursor c = { b, def->at, def->end };
	struct pf_xs_span f;

	while (xs_step(&c, &f, err) == PF_XS_FIELD)
		if (f.number == field && f.wire == PF_XS_LENGTH) {
			add_text(b, f.at, f.end, max, out, err);
			return;
		}
}

/* False: it is none that can be read. */
static bool one_plane_stat(struct pf_xs_defs *d, struct pf_xs_space *s,
			   const struct pf_xs_piece *piece,
			   struct pf_buf name[2], struct pf_xs_stat *stat)
{
	size_t len = (size_t)(piece->end - piece->at);
	const struct pf_xs_def *def;
	const unsigned char *p = NULL;

	pf_buf_clear(&name[0]);
	pf_buf_clear(&name[1]);
	if (len <= PF_XS_PIECE_MAX)
		p = xs_bytes_at(s->bytes, piece->at, len, s->err);
	if (!p)
		return false;
	if (!xs_stat_read((struct pf_wire){ p, p + len }, stat)) {
		note_bad(s, piece->at);
		return false;
	}
	if (stat->kind == 5)
		pf_buf_add(&name[1], stat->text.p,
			   (size_t)(stat->text.end - stat->text.p));
	def = xs_def_find(d, PF_XS_STATS, stat->id, s->err);
	if (def)
		xs_def_name(s->bytes, def, 2, PF_XS_NAME_MAX, &name[0], s->err);
	def = stat->kind == 7 ? xs_def_find(d, PF_XS_STATS,
					    (int64_t)stat->value, s->err)
			      : NULL;
	if (def)
		xs_def_name(s->bytes, def, 2, PF_XS_NAME_MAX, &name[1], s->err);
	return !s->err->code;
}

/* Call "take" for each statistic of a plane with its name. */
typedef void pf_xs_take_fn(void *arg, const char *name,
			   const struct pf_xs_stat *stat, const char *text,
			   size_t len);
static void xs_plane_stats(struct pf_xs_defs *d, struct pf_xs_space *s,
			   pf_xs_take_fn *take, void *arg)
{
	struct pf_buf name[2] = { { 0 }, { 0 } };
	struct pf_xs_stat stat;

	for (size_t i = 0; i < d->stat_count; i++)
		if (one_plane_stat(d, s, &d->stats[i], name, &stat) &&
		    name[0].len)
			take(arg, name[0].data, &stat,
			     name[1].data ? name[1].data : "", name[1].len);
	pf_buf_release(&name[0]);
	pf_buf_release(&name[1]);
}

#define LOOKED_AT_BYTES  4096 /* where bytes that were replaced are looked for */
#define FIELDS_LOOKED_AT 8
#define ENVIRONMENT      "Task Environment"
#define REPLACEMENT      "\xef\xbf\xbd"

/* ---- is it one? ---- */

/* Fields 1 to 6 of XPlane in their wire types. */
static bool begins_plane(unsigned char tag)
{
	return tag == 0x08 || tag == 0x12 || tag == 0x1a || tag == 0x22 ||
	       tag == 0x2a || tag == 0x32;
}

/* TracePacket of Perfetto: timestamp, trusted_packet_sequence_id. */
static bool begins_packet(unsigned char tag)
{
	return tag == 0x40 || tag == 0x50;
}

/*
 * Text may begin with a line feed, too; but behind that no text of JSON has a
 * control character or a byte over 7F.
 */
bool pf_xs_claims(const char *head, size_t len)
{
	const unsigned char *p = (const unsigned char *)head;

	if (len < 2 || p[0] != 0x0a)
		return false;
	if (p[1] >= 0x80 ||
	    (p[1] < 0x20 && p[1] != '\t' && p[1] != '\n' && p[1] != '\r'))
		return true;
	return len > 2 && p[1] != ' ' && p[1] != '{' && p[1] != '[' &&
	       (begins_packet(p[2]) || begins_plane(p[2]));
}

static bool went_through_a_filter(struct pf_xs_space *s)
{
	size_t n = s->bytes->size < LOOKED_AT_BYTES ? (size_t)s->bytes->size
						    : LOOKED_AT_BYTES;
	const unsigned char *p = xs_bytes_at(s->bytes, 0, n, s->err);

	return p && memmem(p, n, REPLACEMENT, 3);
}

static int refuse(struct pf_xs_space *s, int64_t at, const char *what)
{
	if (went_through_a_filter(s))
		return pf_fail(s->err, PF_EDATA,
			       "is a profile in which bytes were replaced: the "
			       "file went through a text filter (autocrlf of "
			       "git, download as text); copy it again as "
			       "binary data");
	return s->err->code ? -1
			    : pf_fail(s->err, PF_EDATA,
				      "%s at byte %lld, and nothing before it",
				      what, (long long)at);
}

/*
 * Are the fields that a plane has those of XPlane, an id and then lengths?
 * "is_value": no, it is a ValueType of pprof, two numbers.
 */
static void check_plane(struct pf_xs_space *s, const struct pf_xs_span *plane,
			bool *is_plane, bool *is_value)
{
	struct pf_xs_cursor c = { s->bytes, plane->at, plane->end };
	struct pf_xs_span f;

	*is_plane = true;
	*is_value = false;
	for (int i = 0; i < FIELDS_LOOKED_AT && *is_plane; i++) {
		if (xs_step(&c, &f, s->err) != PF_XS_FIELD)
			break;
		*is_plane =
			f.number > 6 ||
			f.wire == (f.number == 1 ? PF_XS_VARINT : PF_XS_LENGTH);
		*is_value = i == 1 && f.number == 2 && f.wire == PF_XS_VARINT;
	}
}

/* A profile of pprof: the first text of its table (field 6) is empty. */
static bool is_pprof(struct pf_xs_space *s)
{
	struct pf_xs_cursor c = { s->bytes, 0, s->bytes->size };
	struct pf_xs_span f;

	while (xs_step(&c, &f, s->err) == PF_XS_FIELD)
		if (f.number == 6)
			return f.wire == PF_XS_LENGTH && f.at == f.end;
	return false;
}

/* The first field decides. */
static int check_first(struct pf_xs_space *s, const struct pf_xs_span *f)
{
	bool is_plane = true, is_value = false;
	const unsigned char *p;
	unsigned char tag = 0x12; /* an empty plane is one */

	if (f->at < f->end) {
		p = xs_bytes_at(s->bytes, f->at, 1, s->err);
		PF_TRY(!p);
		tag = *p;
	}
	if (f->number == 1 && f->wire == PF_XS_LENGTH && begins_packet(tag))
		return pf_fail(s->err, PF_EDATA,
			       "is a trace of Perfetto (protobuf packets), "
			       "which profan does not read");
	if (f->number == 1 && f->wire == PF_XS_LENGTH)
		check_plane(s, f, &is_plane, &is_value);
	if (is_value && is_pprof(s))
		return pf_fail(s->err, PF_EDATA,
			       "is a pprof profile (of memory or processor "
			       "time): read it with pprof");
	PF_TRY(s->err->code);
	if (f->number > 4 || f->wire != PF_XS_LENGTH || !is_plane ||
	    (f->number == 1 && !begins_plane(tag)))
		return pf_fail(s->err, PF_EDATA,
			       "is a protobuf message, but no XSpace: its "
			       "first field is no plane");
	return 0;
}

/*
 * A plane without a name says nothing of what it is, and other messages have
 * fields of the same numbers.
 */
static int check_names(const struct pf_xs_space *s)
{
	for (size_t i = 0; i < s->plane_count; i++)
		if (*s->planes[i].name)
			return 0;
	return s->repairs.of[PF_REPAIR_CUT_OFF].count
		       ? 0
		       : pf_fail(s->err, PF_EDATA,
				 "is a protobuf message, but no XSpace: it has "
				 "no plane with a name");
}

/* ---- the space ---- */

static void add_plane(struct pf_xs_space *s, const struct pf_xs_span *f)
{
	const struct pf_xs_def message = { .at = f->at, .end = f->end };
	struct pf_buf name = { 0 };

	if (s->plane_count == PF_XS_PLANES_MAX) {
		pf_repair_note(&s->repairs, PF_REPAIR_BAD_MESSAGE, 1, f->at);
		return;
	}
	/* The name of a plane stands before its lines. */
	xs_def_name(s->bytes, &message, 2, PF_XS_NAME_MAX, &name, s->err);
	pf_buf_adds(&name, "");
	*PF_ONE_MORE(s->planes, s->plane_count, s->planes_cap) =
		(struct pf_xs_plane){
			.at = f->at,
			.end = f->end,
			.name = name.data,
			.what = pf_plane_of(name.data, name.len),
		};
}

static void add_space_field(struct pf_xs_space *s, const struct pf_xs_span *f)
{
	struct pf_buf name = { 0 };

	if (f->wire != PF_XS_LENGTH)
		return;
	if (f->number == 1)
		add_plane(s, f);
	if (f->number == 4 && !*s->host && f->end > f->at) {
		add_text(s->bytes, f->at, f->end, PF_XS_NAME_MAX, &name,
			 s->err);
		memcpy(s->host, name.len ? name.data : "", name.len);
		pf_buf_release(&name);
	}
}

static void take_base(void *arg, const char *name,
		      const struct pf_xs_stat *stat, const char *text,
		      size_t len)
{
	struct pf_xs_space *s = arg;

	(void)text, (void)len;
	if (strcmp(name, "profile_start_time") != 0 || stat->value > INT64_MAX)
		return;
	s->has_base = true;
	s->base_ns = (int64_t)stat->value;
}

static void read_environment(struct pf_xs_space *s)
{
	for (size_t i = 0; i < s->plane_count; i++) {
		struct pf_repairs before = s->repairs;
		struct pf_xs_defs d;

		if (strcmp(s->planes[i].name, ENVIRONMENT) != 0)
			continue;
		xs_defs_read(&d, s, &s->planes[i]);
		xs_plane_stats(&d, s, take_base, s);
		xs_defs_release(&d);
		s->repairs = before; /* it is read once more with the others */
	}
}

static int read_planes(struct pf_xs_space *s)
{
	struct pf_xs_cursor c = { s->bytes, 0, s->bytes->size };
	bool is_first = true;
	struct pf_xs_span f;
	enum pf_xs_got got;

	while ((got = xs_step(&c, &f, s->err)) == PF_XS_FIELD ||
	       got == PF_XS_CUT) {
		if (got == PF_XS_CUT && went_through_a_filter(s))
			return refuse(s, f.at, "");
		PF_TRY(is_first && check_first(s, &f));
		is_first = false;
		if (got == PF_XS_CUT)
			pf_repair_note(&s->repairs, PF_REPAIR_CUT_OFF, 1,
				       s->bytes->size);
		s->whole += got == PF_XS_FIELD && f.number == 1;
		add_space_field(s, &f);
	}
	if (got == PF_XS_BAD && is_first)
		return refuse(s, c.at, "has a field that cannot be read");
	if (got == PF_XS_BAD)
		pf_repair_note(&s->repairs, PF_REPAIR_BAD_MESSAGE, 1, c.at);
	return 0;
}

int pf_xs_space_read(struct pf_xs_space *s, struct pf_xs_bytes *bytes,
		     const char *dir, struct pf_err *err)
{
	*s = (struct pf_xs_space){ .err = err, .bytes = bytes, .dir = dir };
	PF_TRY(read_planes(s) || err->code || check_names(s));
	read_environment(s);
	return err->code ? -1 : 0;
}

void pf_xs_space_release(struct pf_xs_space *s)
{
	for (size_t i = 0; i < s->plane_count; i++)
		free(s->planes[i].name);
	free(s->planes);
}

/*
 * What the ids of a plane stand for, read from the file when they are first
 * met.  Fixed memory: an id takes the place of another, and texts are dropped
 * all at once when they are too many.
 */

/* Statistics that mean more than an argument. */
enum pf_xs_role {
	PF_XS_PLAIN,
	PF_XS_CORRELATION,
	PF_XS_RUNTIME, /* what only the runtime writes */
	PF_XS_STEP,
	PF_XS_OPERATOR, /* tf_op, kernel_name, hlo_op */
	PF_XS_KERNEL_DETAILS,
	PF_XS_COPY_DETAILS,
	PF_XS_FILL_DETAILS,
	PF_XS_ALLOCATOR,
	PF_XS_ALLOCATOR_INDEX,
	PF_XS_ALLOCATED, /* allocation_bytes: of this one */
	PF_XS_IN_USE,    /* bytes_allocated: of all */
	PF_XS_ADDRESS,
};

/* A statistic's metadata: its name in quotes, as JSON. */
struct pf_xs_key {
	uint32_t at, len; /* in memos->text; len 0: not defined */
	enum pf_xs_role role;
};

/* An event's metadata. */
struct pf_xs_name {
	uint32_t entry; /* of parsed.names */
	enum pf_kind host_kind;
	bool is_known, is_hip, is_freed, is_copy, is_fill, is_operator;
	bool is_tf_data;
	bool has_number; /* the name is one: of a step */
	int64_t number;
	uint32_t stats_at, stats_len; /* its statistics: see pf_xs_more */
};

/* A statistic of an event's metadata: head, then ,"key":value. */
struct pf_xs_more {
	int64_t id;
	uint32_t len, spare;
};

struct pf_xs_memos {
	struct pf_buf text;
	uint32_t text_generation;
	struct pf_xs_key_slot {
		int64_t id;
		uint32_t generation;
		struct pf_xs_key key;
	} * keys;
	struct pf_xs_name_slot {
		int64_t id;
		uint32_t generation, text_generation;
		struct pf_xs_name name;
	} * names;
	struct pf_xs_shape *shapes;
	size_t mask; /* of the place in each of the three */
	struct pf_buf raw, extra, pieces;
};

/* Statistics as arguments: the text of an event and its slots. */

#define PF_XS_TEXT_MAX   4096 /* a longer one is cut and ends with "..." */
#define PF_XS_SLOT_LIMIT (INT64_C(1) << 58) /* of a number with its digits */

/*
 * Arguments as they were before.  Events of one line repeat all of their
 * statistics but a few small numbers, and those are slots: the text of the
 * arguments is made of the first event of a shape, and of the others only the
 * numbers are read.  Fixed memory: a shape takes the place of another.
 */

/* What an event's statistics make of it. */
struct pf_xs_made {
	bool has_kernel, has_copy, has_fill, is_operator, has_step, is_freed;
	bool is_call, is_of_runtime; /* by a statistic */
};

struct pf_xs_shape {
	uint64_t low, high;  /* digest of its key */
	uint32_t generation; /* of the map; 0: there is none */
	uint32_t args, mask;
	struct pf_xs_made made;
	uint8_t slots[PF_SLOT_COUNT]; /* of the numbers, in their order */
};

#define PF_XS_KEY_MAX 1024u

/* All that text, kind and slots of an event depend on, and its numbers. */
struct pf_xs_shape_key {
	unsigned char bytes[PF_XS_KEY_MAX];
	size_t len;
	uint64_t numbers, decimals; /* statistics that are such; bits */
	unsigned count;
	int64_t values[PF_SLOT_COUNT];
};

#define DECIMALS_MAX  15
#define NO_ID         INT64_MIN
#define REGISTERS_MAX 1024 /* no GPU has more for a thread */

/* ---- writing ---- */

/* Begin: no slots.  The prefix has no closing brace, or is "". */
static void xs_open_args(struct pf_xs_map *m, const struct pf_buf *prefix)
{
	pf_argline_open(&m->args);
	m->filled = 0;
	if (prefix->len)
		pf_buf_add(&m->args.text, prefix->data, prefix->len);
}

static void add_key(struct pf_xs_map *m, const struct pf_xs_key *key)
{
	pf_buf_addc(&m->args.text, m->args.text.len ? ',' : '{');
	pf_buf_add(&m->args.text, m->memos->text.data + key->at, key->len);
	pf_buf_addc(&m->args.text, ':');
}

static void xs_arg_slot(struct pf_xs_map *m, const char *name,
			enum pf_slot slot, int64_t value)
{
	pf_argline_slot(&m->args, name, slot, value);
	m->filled++;
}

/* A number with so many digits behind the point, which differs by event. */
static bool add_generic(struct pf_xs_map *m, int64_t digits, int decimals)
{
	char holder[2] = { '$',
			   (char)('a' + PF_SLOT_GENERIC + m->args.generic) };

	if (m->args.generic == PF_SLOT_GENERIC_COUNT ||
	    digits >= PF_XS_SLOT_LIMIT || digits <= -PF_XS_SLOT_LIMIT)
		return false;
	pf_buf_add(&m->args.text, holder, 2);
	pf_argline_set(&m->args,
		       (enum pf_slot)(PF_SLOT_GENERIC + m->args.generic++),
		       digits * 16 + decimals);
	m->filled++;
	return true;
}

static void add_int(struct pf_xs_map *m, uint64_t value, bool is_signed)
{
	int64_t number = (int64_t)value;

	if ((is_signed || number >= 0) && add_generic(m, number, 0))
		return;
	if (is_signed)
		pf_buf_addi(&m->args.text, number);
	else
		pf_buf_addu(&m->args.text, value);
}

/* "0.0899415" as 899415 and 7; false: it is no such number. */
static bool split_decimal(const char *text, int64_t *digits, int *decimals)
{
	bool is_negative = *text == '-', has_point = false;

	*digits = 0;
	*decimals = 0;
	for (text += is_negative; *text; text++) {
		if (*text == '.' && !has_point) {
			has_point = true;
			continue;
		}
		if (*text < '0' || *text > '9' ||
		    *digits >= PF_XS_SLOT_LIMIT / 10)
			return false;
		*digits = *digits * 10 + (*text - '0');
		*decimals += has_point;
	}
	/* "-0" would lose its sign. */
	if (*decimals > DECIMALS_MAX || (is_negative && !*digits))
		return false;
	if (is_negative)
		*digits = -*digits;
	return true;
}

/* Many are whole. */
static bool is_whole(double d)
{
	return d >= 0 && d < (double)PF_XS_SLOT_LIMIT &&
	       d == (double)(int64_t)d && !signbit(d);
}

/* A real number (its bits) as a slot has it; false: it is none of those. */
static bool xs_decimal(uint64_t bits, int64_t *value)
{
	char text[PF_NUM_MAX];
	int decimals;
	double d;

	memcpy(&d, &bits, sizeof(d));
	if (is_whole(d)) {
		*value = (int64_t)d * 16;
		return true;
	}
	if (!isfinite(d) ||
	    !split_decimal(pf_num_exact(text, d), value, &decimals))
		return false;
	if (*value >= PF_XS_SLOT_LIMIT || *value <= -PF_XS_SLOT_LIMIT)
		return false;
	*value = *value * 16 + decimals;
	return true;
}

static void add_real(struct pf_xs_map *m, uint64_t bits)
{
	char text[PF_NUM_MAX];
	int64_t value;
	double d;

	memcpy(&d, &bits, sizeof(d));
	if (!isfinite(d))
		pf_buf_adds(&m->args.text, "null");
	else if (!xs_decimal(bits, &value) ||
		 !add_generic(m, value >> 4, (int)(value & 15)))
		pf_buf_adds(&m->args.text, pf_num_exact(text, d));
}

/* ---- statistics ---- */

static struct pf_xs_key xs_find_key(struct pf_xs_map *m, int64_t id);

/* The text of a statistic, in place or by reference; "" if it has none. */
static void xs_stat_text(struct pf_xs_map *m, const struct pf_xs_stat *stat,
			 const char **text, size_t *len)
{
	struct pf_xs_key key;

	*text = "";
	*len = 0;
	if (stat->kind == 5) {
		*text = (const char *)stat->text.p;
		*len = (size_t)(stat->text.end - stat->text.p);
	} else if (stat->kind == 7) {
		key = xs_find_key(m, (int64_t)stat->value);
		if (key.len) {
			*text = m->memos->text.data + key.at + 1;
			*len = key.len - 2;
		}
	}
}

static void add_reference(struct pf_xs_map *m, uint64_t id)
{
	const struct pf_xs_key key = xs_find_key(m, (int64_t)id);

	if (key.len)
		pf_buf_add(&m->args.text, m->memos->text.data + key.at,
			   key.len);
	else /* a text that nothing defines */
		pf_buf_addf(&m->args.text, "\"unknown %" PRId64 "\"",
			    (int64_t)id);
}

/* Any statistic; bytes and compressed texts are no arguments. */
static void xs_arg_stat(struct pf_xs_map *m, const struct pf_xs_key *key,
			const struct pf_xs_stat *stat)
{
	char unknown[48];

	if (stat->kind == 6 || stat->kind == 8)
		return;
	if (key->len) {
		add_key(m, key);
	} else {
		snprintf(unknown, sizeof(unknown), "unknown %" PRId64,
			 stat->id);
		pf_argline_key(&m->args, unknown);
	}
	switch (stat->kind) {
	case 2:
		add_real(m, stat->value);
		return;
	case 3:
	case 4:
		add_int(m, stat->value, stat->kind == 4);
		return;
	case 5:
		pf_argline_quote(&m->args.text, (const char *)stat->text.p,
				 (size_t)(stat->text.end - stat->text.p));
		return;
	case 7:
		add_reference(m, stat->value);
		return;
	default:
		pf_buf_adds(&m->args.text, "null");
	}
}

/* ---- details: words "key:value" with blanks between ---- */

struct word {
	const char *key, *value, *end;
	size_t key_len;
};

static bool next_word(const char **p, const char *end, struct word *w)
{
	const char *colon;

	while (*p < end && **p == ' ')
		++*p;
	w->key = *p;
	w->end = *p < end ? memchr(*p, ' ', (size_t)(end - *p)) : NULL;
	if (!w->end)
		w->end = end;
	*p = w->end;
	colon = memchr(w->key, ':', (size_t)(w->end - w->key));
	if (w->key == w->end)
		return false;
	w->value = colon ? colon + 1 : w->end;
	w->key_len = (size_t)((colon ? colon : w->end) - w->key);
	return true;
}

/* A number up to 2^58 that ends where the word does or at a comma. */
static bool take_number(const char **p, const char *end, int64_t *out)
{
	const char *from = *p;

	*out = 0;
	for (; *p < end && **p >= '0' && **p <= '9'; ++*p) {
		if (*out >= PF_XS_SLOT_LIMIT / 10)
			return false;
		*out = *out * 10 + (**p - '0');
	}
	return *p > from && (*p == end || **p == ',');
}

static bool take_triple(const struct word *w, int64_t out[3])
{
	const char *p = w->value;

	for (int i = 0; i < 3; i++) {
		if (!take_number(&p, w->end, &out[i]) || out[i] > UINT32_MAX)
			return false;
		p += p < w->end && i < 2;
	}
	return p == w->end;
}

static void arg_triple(struct pf_xs_map *m, const char *key,
		       const struct word *w)
{
	int64_t v[3];

	if (!take_triple(w, v))
		return;
	pf_argline_key(&m->args, key);
	pf_buf_addf(&m->args.text, "[%" PRId64 ",%" PRId64 ",%" PRId64 "]",
		    v[0], v[1], v[2]);
}

/*
 * Registers and shared memory are what the profiler was given: where there
 * are more registers than any GPU has, neither was.
 */
/* "regs:38 shm:0 grid:160,1,1 block:1024,1,1", in several forms. */
static void xs_arg_kernel(struct pf_xs_map *m, const char *text, size_t len)
{
	static const char *const shared[] = { "shm", "static_shared",
					      "dynamic_shared", "group_mem" };
	const char *p = text, *end = text + len;
	int64_t registers = -1, bytes = -1, n;
	struct word w;

	while (next_word(&p, end, &w)) {
		const char *value = w.value;

		if (pf_is(w.key, w.key_len, "grid"))
			arg_triple(m, "grid", &w);
		else if (pf_is(w.key, w.key_len, "block"))
			arg_triple(m, "block", &w);
		else if (pf_is(w.key, w.key_len, "regs") &&
			 take_number(&value, w.end, &n))
			registers = n;
		for (size_t i = 0; i < PF_LEN(shared); i++)
			if (pf_is(w.key, w.key_len, shared[i]) &&
			    take_number(&value, w.end, &n))
				bytes = (bytes < 0 ? 0 : bytes) + n;
	}
	if (registers > REGISTERS_MAX)
		return;
	if (registers >= 0)
		pf_argline_fixed(&m->args, "registers per thread", registers);
	if (bytes >= 0)
		pf_argline_fixed(&m->args, "shared memory", bytes);
}

/* "kind:Pinned size:112 dest:4 async:0" */
static void xs_arg_copy(struct pf_xs_map *m, const char *text, size_t len)
{
	const char *p = text, *end = text + len;
	struct word w;
	int64_t n;

	while (next_word(&p, end, &w)) {
		const char *value = w.value;

		if (!pf_is(w.key, w.key_len, "size") ||
		    !take_number(&value, w.end, &n))
			continue;
		if (!(m->args.mask >> PF_SLOT_BYTES & 1))
			xs_arg_slot(m, "bytes", PF_SLOT_BYTES, n);
	}
}

/* ---- statistics of metadata ---- */

static void xs_keep_stat(struct pf_buf *out, struct pf_wire stat)
{
	uint32_t len = (uint32_t)(stat.end - stat.p);

	pf_buf_add(out, &len, sizeof(len));
	pf_buf_add(out, stat.p, len);
}

/* What is in m->args.text, as a piece without slots. */
static void keep_piece(struct pf_xs_map *m, int64_t id)
{
	struct pf_xs_more more = { .id = id,
				   .len = (uint32_t)m->args.text.len };

	if (!m->args.text.len)
		return;
	m->args.text.data[0] = ',';
	pf_buf_add(&m->memos->pieces, &more, sizeof(more));
	pf_buf_add(&m->memos->pieces, m->args.text.data, m->args.text.len);
}

/* The one at "at" of memos->extra as a piece; moves on. */
static void xs_add_more(struct pf_xs_map *m, size_t *at)
{
	static const struct pf_buf nothing;
	const char *p = m->memos->extra.data + *at;
	struct pf_xs_key key;
	struct pf_xs_stat stat;
	struct pf_wire message;
	uint32_t len;

	memcpy(&len, p, sizeof(len));
	p += sizeof(len);
	*at += sizeof(len) + len;
	message.p = (const unsigned char *)p;
	message.end = message.p + len;
	if (!xs_stat_read(message, &stat))
		return;
	key = xs_find_key(m, stat.id);
	xs_open_args(m, &nothing);
	m->args.generic = PF_SLOT_GENERIC_COUNT; /* it repeats: no slots */
	xs_arg_stat(m, &key, &stat);
	keep_piece(m, stat.id);
}

static void xs_add_long_name(struct pf_xs_map *m, const struct pf_buf *name)
{
	static const struct pf_buf nothing;

	xs_open_args(m, &nothing);
	pf_argline_key(&m->args, "long_name");
	pf_argline_quote(&m->args.text, name->data, name->len);
	keep_piece(m, NO_ID);
}

/*
 * Invariant: of two events with one key the text of the arguments, the slots
 * that they have and what they are is the same.  A number that is too large
 * for a slot, or negative, is part of the key.
 */

static bool add(struct pf_xs_shape_key *key, const void *p, size_t len)
{
	if (len > PF_XS_KEY_MAX - key->len)
		return false;
	memcpy(key->bytes + key->len, p, len);
	key->len += len;
	return true;
}

/* Is it one that only its slot tells from others?  Then its value, too. */
static bool is_number(const struct pf_xs_stat *stat, int64_t *value)
{
	*value = (int64_t)stat->value;
	if (stat->kind == 2)
		return xs_decimal(stat->value, value);
	return (stat->kind == 3 || stat->kind == 4) &&
	       stat->value < (uint64_t)PF_XS_SLOT_LIMIT;
}

static bool add_stat(struct pf_xs_shape_key *key, const struct pf_xs_stat *stat,
		     size_t i)
{
	size_t len = (size_t)(stat->text.end - stat->text.p);
	int64_t value;
	bool is_slot = is_number(stat, &value);
	const uint64_t head[2] = { (uint64_t)stat->id,
				   stat->kind | (uint64_t)is_slot << 8 |
					   (uint64_t)len << 32 };

	if (!add(key, head, sizeof(head)))
		return false;
	if (stat->kind == 5)
		return add(key, stat->text.p, len);
	if (!is_slot)
		return add(key, &stat->value, sizeof(stat->value));
	if (key->count == PF_SLOT_COUNT)
		return false;
	key->values[key->count++] = value;
	key->numbers |= UINT64_C(1) << i;
	if (stat->kind == 2)
		key->decimals |= UINT64_C(1) << (key->count - 1);
	return true;
}

/* False: the event is not like others, and has none. */
static bool xs_shape_key(const struct pf_xs_map *m,
			 const struct pf_xs_name *name, int64_t meta,
			 const struct pf_xs_stat *stats, size_t count,
			 struct pf_xs_shape_key *key)
{
	const int64_t head[] = { m->line.serial, name->host_kind,
				 name->is_freed, name->stats_len ? meta : 0 };

	key->len = key->count = 0;
	key->numbers = key->decimals = 0;
	/* This one has its number from its name. */
	if (m->line.has_steps && name->has_number)
		return false;
	add(key, head, sizeof(head));
	for (size_t i = 0; i < count; i++)
		if (!add_stat(key, &stats[i], i))
			return false;
	return true;
}

/* Its place: is it known?  If not, it is once its generation is set. */
static struct pf_xs_shape *xs_shape_find(const struct pf_xs_map *m,
					 const struct pf_xs_shape_key *key,
					 bool *is_known)
{
	struct pf_dict_hash d = pf_dict_hash(key->bytes, key->len, 0);
	struct pf_xs_shape *s = &m->memos->shapes[d.low & m->memos->mask];

	*is_known = s->low == d.low && s->high == d.high &&
		    s->generation == m->generation;
	if (!*is_known)
		*s = (struct pf_xs_shape){ .low = d.low, .high = d.high };
	return s;
}

/* The slots of an event of a shape. */
static void xs_shape_slots(struct pf_xs_map *m, const struct pf_xs_shape *s,
			   const struct pf_xs_shape_key *key)
{
	m->args.mask = s->mask;
	for (unsigned i = 0; i < key->count; i++) {
		unsigned slot = s->slots[i];
		int64_t value = key->values[i];

		if (slot >= PF_SLOT_FRACTION && !(key->decimals >> i & 1))
			value *= 16;
		if (slot == PF_SLOT_BYTES && s->made.is_freed)
			value = -value;
		m->args.slots[slot] = value;
	}
}

/* ---- memo ---- */

#define SLOTS         (1u << 15)
#define TEXT_MAX      (12u << 20)
#define LONG_NAME_MAX (64u << 10)
#define META_MAX      (256u << 10)

/* Of a file of so many bytes, which has no more to remember than it has room. */
static struct pf_xs_memos *xs_memos_new(int64_t bytes)
{
	struct pf_xs_memos *t = pf_calloc(1, sizeof(*t));
	size_t slots = 64;

	while (slots < SLOTS && (int64_t)slots < bytes / 8)
		slots *= 2;
	t->mask = slots - 1;
	t->keys = pf_calloc(slots, sizeof(*t->keys));
	t->names = pf_calloc(slots, sizeof(*t->names));
	t->shapes = pf_calloc(slots, sizeof(*t->shapes));
	t->text_generation = 1;
	return t;
}

static void xs_memos_free(struct pf_xs_memos *t)
{
	free(t->keys);
	free(t->names);
	free(t->shapes);
	pf_buf_release(&t->text);
	pf_buf_release(&t->raw);
	pf_buf_release(&t->extra);
	pf_buf_release(&t->pieces);
	free(t);
}

/* Another plane: ids mean something else. */
static void xs_memos_forget(struct pf_xs_memos *t)
{
	pf_buf_clear(&t->text);
	t->text_generation++;
}

/* ---- what statistics mean ---- */

static enum pf_xs_role find_role(const char *name)
{
	static const struct {
		const char *name;
		enum pf_xs_role role;
	} roles[] = {
		{ "correlation_id", PF_XS_CORRELATION },
		{ "step_num", PF_XS_STEP },
		{ "tf_op", PF_XS_OPERATOR },
		{ "kernel_name", PF_XS_OPERATOR },
		{ "hlo_op", PF_XS_OPERATOR },
		{ "kernel_details", PF_XS_KERNEL_DETAILS },
		{ "memcpy_details", PF_XS_COPY_DETAILS },
		{ "memset_details", PF_XS_FILL_DETAILS },
		{ "Memset_details", PF_XS_FILL_DETAILS },
		{ "allocator_name", PF_XS_ALLOCATOR },
		{ "index_on_host", PF_XS_ALLOCATOR_INDEX },
		{ "allocation_bytes", PF_XS_ALLOCATED },
		{ "bytes_allocated", PF_XS_IN_USE },
		{ "addr", PF_XS_ADDRESS },
	};

	for (size_t i = 0; i < PF_LEN(roles); i++)
		if (!strcmp(roles[i].name, name))
			return roles[i].role;
	return pf_is_runtime_stat(name, strlen(name)) ? PF_XS_RUNTIME
						      : PF_XS_PLAIN;
}

static struct pf_xs_key read_key(struct pf_xs_map *m, int64_t id)
{
	struct pf_xs_memos *t = m->memos;
	struct pf_xs_key key = { .at = (uint32_t)t->text.len };
	const struct pf_xs_def *def =
		xs_def_find(&m->defs, PF_XS_STATS, id, m->space->err);

	if (!def)
		return key;
	pf_buf_clear(&t->raw);
	xs_def_name(&m->names, def, 2, PF_XS_TEXT_MAX + 1, &t->raw,
		    m->space->err);
	if (!t->raw.len)
		return key;
	key.role = find_role(t->raw.data);
	pf_argline_quote(&t->text, t->raw.data, t->raw.len);
	key.len = (uint32_t)(t->text.len - key.at);
	return key;
}

static struct pf_xs_key xs_find_key(struct pf_xs_map *m, int64_t id)
{
	struct pf_xs_memos *t = m->memos;
	struct pf_xs_key_slot *slot = &t->keys[(uint64_t)id & t->mask];

	if (slot->id != id || slot->generation != t->text_generation)
		*slot = (struct pf_xs_key_slot){ id, t->text_generation,
						 read_key(m, id) };
	return slot->key;
}

/* ---- events ---- */

static void classify(struct pf_xs_name *out, const struct pf_buf *name,
		     const struct pf_buf *shown)
{
	enum pf_kind work =
		pf_work_kind(name->data, name->len, false, false, false);

	out->host_kind = pf_host_kind(name->data, name->len);
	out->is_hip = name->len > 3 && !memcmp(name->data, "hip", 3);
	out->is_freed = out->host_kind == PF_KIND_MEMORY &&
			memmem(name->data, name->len, "Deallocation", 12);
	out->is_tf_data = pf_is_tf_data(name->data, name->len);
	out->is_copy = work == PF_KIND_MEMCPY;
	out->is_fill = work == PF_KIND_MEMSET;
	out->is_operator =
		pf_is_operator(name->data, name->len, shown->data, shown->len);
	out->has_number = pf_step_of(name->data, name->len, &out->number);
}

/* The statistics of the metadata itself, as pieces of arguments. */
static void read_more(struct pf_xs_map *m, const struct pf_xs_def *def)
{
	size_t len = (size_t)(def->end - def->at);
	struct pf_xs_memos *t = m->memos;
	struct pf_wire message;
	struct pf_xs_field f;
	const unsigned char *p;
	size_t at = 0;

	p = len > META_MAX
		    ? NULL
		    : xs_bytes_at(&m->names, def->at, len, m->space->err);
	if (!p)
		return;
	pf_buf_clear(&t->extra);
	for (message = (struct pf_wire){ p, p + len };
	     xs_next(&message, &f) == PF_XS_FIELD;)
		if (f.number == 5 && f.wire == PF_XS_LENGTH &&
		    f.text.end - f.text.p < PF_XS_TEXT_MAX)
			xs_keep_stat(&t->extra, f.text);
	while (at < t->extra.len)
		xs_add_more(m, &at);
}

/* "%add.1 = f32[4] add(...)", the text of an operation, is "add.1". */
static void shorten(const struct pf_buf *text, struct pf_buf *out)
{
	const char *end = text->len ? strstr(text->data, " = ") : NULL;

	if (end && end > text->data + 1 && *text->data == '%')
		pf_buf_add(out, text->data + 1, (size_t)(end - text->data) - 1);
}

static struct pf_xs_name read_name(struct pf_xs_map *m, int64_t id)
{
	bool is_tpu = m->plane->what.kind == PF_PLANE_TPU;
	struct pf_xs_memos *t = m->memos;
	const struct pf_xs_def *def =
		xs_def_find(&m->defs, PF_XS_EVENTS, id, m->space->err);
	struct pf_xs_name out = { .is_known = def };
	PF_AUTO(pf_buf_release) struct pf_buf shown = { 0 }, long_name = { 0 };

	pf_buf_clear(&t->raw);
	if (def) {
		xs_def_name(&m->names, def, 2, LONG_NAME_MAX, &t->raw,
			    m->space->err);
		xs_def_name(&m->names, def, 4, LONG_NAME_MAX, &shown,
			    m->space->err);
	} else {
		pf_buf_addf(&t->raw, "unknown %" PRId64, id);
	}
	if (!t->raw.data)
		pf_buf_adds(&t->raw, "");
	if (is_tpu && !shown.len)
		shorten(&t->raw, &shown);
	classify(&out, &t->raw, &shown);
	pf_buf_clear(&t->pieces);
	/* The name of a TPU's operation is all of its text. */
	if (is_tpu && shown.len) {
		out.entry = pf_dict_find(&m->parsed.names, shown.data,
					 shown.len, 0);
		pf_buf_add(&long_name, t->raw.data, t->raw.len);
	} else {
		out.entry = pf_dict_find(&m->parsed.names, t->raw.data,
					 t->raw.len, 0);
	}
	if (def)
		read_more(m, def);
	if (is_tpu && shown.len)
		xs_add_long_name(m, &long_name);
	out.stats_at = (uint32_t)t->text.len;
	out.stats_len = (uint32_t)t->pieces.len;
	pf_buf_add(&t->text, t->pieces.data, t->pieces.len);
	return out;
}

static const struct pf_xs_name *xs_find_name(struct pf_xs_map *m, int64_t id)
{
	struct pf_xs_memos *t = m->memos;
	struct pf_xs_name_slot *slot = &t->names[(uint64_t)id & t->mask];

	if (slot->id != id || slot->generation != m->generation ||
	    slot->text_generation != t->text_generation)
		*slot = (struct pf_xs_name_slot){ id, m->generation,
						  t->text_generation,
						  read_name(m, id) };
	return &slot->name;
}

#define NAMES_WINDOW    (16u << 10)
#define LINES_NAMED_MAX 65536u
#define EPOCH_NS        INT64_C(1000000000000000)
#define PS              1000

/* An event as it stands there. */
struct raw {
	int64_t meta, offset_ps, duration_ps;
	bool has_offset, has_occurrences;
	struct pf_wire stats[PF_XS_STATS_MAX];
	size_t stat_count;
	int64_t at; /* in the file */
};

/* ---- the batch ---- */

void pf_xs_map_init(struct pf_xs_map *m, struct pf_xs_space *space)
{
	memset(m, 0, sizeof(*m));
	m->space = space;
	pf_parsed_init(&m->parsed);
	m->memos = xs_memos_new((int64_t)space->bytes->size);
	if (space->bytes->fd >= 0)
		pf_xs_bytes_init(&m->names, space->bytes->fd,
				 space->bytes->size, NAMES_WINDOW);
	else
		xs_bytes_of_memory(&m->names, space->bytes->data,
				   (size_t)space->bytes->size);
}

void pf_xs_map_release(struct pf_xs_map *m)
{
	pf_parsed_release(&m->parsed);
	xs_memos_free(m->memos);
	pf_xs_bytes_release(&m->names);
	pf_buf_release(&m->line.name);
	pf_buf_release(&m->line.prefix);
	pf_argline_release(&m->args);
	pf_buf_release(&m->track_text);
}

void pf_xs_map_begin(struct pf_xs_map *m)
{
	if (!pf_parsed_begin(&m->parsed) && m->generation)
		return;
	m->generation++;
	m->category_count = 0;
}

static void note(struct pf_xs_map *m, enum pf_repair_kind kind, int64_t at)
{
	pf_repair_note(&m->parsed.batch.repairs, kind, 1, at);
}

static bool is_full(const struct pf_xs_map *m)
{
	const struct pf_parsed *p = &m->parsed;

	return p->batch.count >= m->batch_events ||
	       pf_dict_is_large(&p->args) || pf_dict_is_large(&p->names);
}

/* The word must live as long as the line. */
static uint32_t find_category(struct pf_xs_map *m, const char *word)
{
	const size_t most = PF_LEN(m->categories);
	uint32_t entry;

	for (size_t i = 0; i < m->category_count; i++)
		if (m->categories[i].word == word)
			return m->categories[i].entry;
	entry = pf_dict_word(&m->parsed.categories, word);
	if (m->category_count < most)
		m->categories[m->category_count++] =
			(struct pf_xs_category){ word, entry };
	return entry;
}

static uint32_t find_track(struct pf_xs_map *m)
{
	if (m->track_generation != m->generation)
		m->track = pf_dict_find(&m->parsed.tracks, m->track_text.data,
					m->track_text.len, 0);
	m->track_generation = m->generation;
	return m->track;
}

/* ---- lines ---- */

/* The text of a track: batch.h. */
static void set_track(struct pf_xs_map *m, char letter, const char *pid,
		      const char *tid, size_t tid_len)
{
	pf_buf_clear(&m->track_text);
	pf_buf_addf(&m->track_text, "%c%08zx%s", letter, strlen(pid), pid);
	pf_buf_add(&m->track_text, tid, tid_len);
	m->track_generation = 0;
}

/*
 * Threads of one name ("python") are told apart by the ids of their lines.
 */
static void set_thread(struct pf_xs_map *m)
{
	const char *host = m->space->host;
	PF_AUTO(pf_buf_release) struct pf_buf name = { 0 };
	uint64_t *first = NULL;

	pf_buf_add(&name, m->line.name.data, m->line.name.len);
	if (m->line_ids->count < LINES_NAMED_MAX)
		first = pf_map_at(m->line_ids,
				  pf_dict_hash(name.data, name.len, 0).low);
	if (first && *first == UINT64_MAX)
		*first = (uint64_t)m->line.id;
	else if (!first || *first != (uint64_t)m->line.id)
		pf_buf_addf(&name, "/%" PRId64, m->line.id);
	set_track(m, 'h', *host ? host : m->plane->name, name.data, name.len);
}

static void set_device(struct pf_xs_map *m)
{
	const struct pf_plane *plane = &m->plane->what;
	struct pf_xs_line *line = &m->line;
	int64_t stream = line->what.stream;
	char pid[PF_XS_NAME_MAX + 1], tid[24];

	if (plane->kind == PF_PLANE_TPU) {
		/* "/device:TPU:0" */
		snprintf(pid, sizeof(pid), "TPU %s", m->plane->name + 12);
		stream = line->id;
	} else {
		snprintf(pid, sizeof(pid), "%" PRId64, plane->device);
	}
	pf_buf_addf(&line->prefix, "{\"device\":%" PRId64, plane->device);
	if (line->what.kind != PF_ROW_AGAIN)
		pf_buf_addf(&line->prefix, ",\"stream\":%" PRId64, stream);
	if (line->what.kind == PF_ROW_STREAM) {
		snprintf(tid, sizeof(tid), "%" PRId64, stream);
		set_track(m, 'g', pid, tid, strlen(tid));
	} else {
		set_track(m, 'g', pid, line->name.data, line->name.len);
	}
	snprintf(line->tpu_category, sizeof(line->tpu_category), "%.*s",
		 (int)line->name.len, line->name.data);
}

static void line_field(struct pf_xs_map *m, const struct pf_xs_span *f)
{
	struct pf_xs_line *line = &m->line;
	size_t len = (size_t)(f->end - f->at);
	const unsigned char *p;

	if (f->wire == PF_XS_VARINT && f->number == 1)
		line->id = (int64_t)f->value;
	if (f->wire == PF_XS_VARINT && f->number == 3)
		line->timestamp_ns = (int64_t)f->value;
	/* The other name is for lines without one. */
	if (f->wire != PF_XS_LENGTH ||
	    !(f->number == 2 || (f->number == 11 && !line->name.len)))
		return;
	PF_AT_MOST(len, PF_XS_NAME_MAX);
	p = xs_bytes_at(m->space->bytes, f->at, len, m->space->err);
	if (!p)
		return;
	pf_buf_clear(&line->name);
	pf_buf_add(&line->name, p, len);
}

/*
 * Name and time stand before the events; if one is not there, it may be behind
 * them.
 */
static void read_line_head(struct pf_xs_map *m, const struct pf_xs_piece *piece)
{
	struct pf_xs_cursor c = { m->space->bytes, piece->at, piece->end };
	struct pf_xs_line *line = &m->line;
	struct pf_xs_span f;

	line->serial++;
	line->id = line->timestamp_ns = 0;
	line->runtime_end_ns = INT64_MIN;
	pf_buf_clear(&line->name);
	pf_buf_clear(&line->prefix);
	pf_buf_adds(&line->name, "");
	while (xs_step(&c, &f, m->space->err) == PF_XS_FIELD) {
		if (f.number == 4 && line->name.len && line->timestamp_ns)
			break;
		line_field(m, &f);
	}
	line->what = pf_line_of(m->plane->what.kind, line->name.data,
				line->name.len);
	line->has_steps = line->what.kind == PF_ROW_AGAIN &&
			  pf_line_has_steps(line->name.data, line->name.len);
	line->is_pool = pf_is_pool(line->name.data, line->name.len);
	m->category_count = 0; /* one word is the line's own */
	if (line->what.kind == PF_ROW_HOST)
		set_thread(m);
	else
		set_device(m);
}

/* ---- times ---- */

static __int128 floor_ns(__int128 ps)
{
	return ps >= 0 ? ps / PS : -((PS - 1 - ps) / PS);
}

/* False: it cannot be stored, and has been counted. */
static bool set_times(struct pf_xs_map *m, struct raw *raw, struct pf_event *ev)
{
	int64_t base = m->line.timestamp_ns;
	__int128 start, end;

	if (raw->has_occurrences && !raw->has_offset) {
		note(m, PF_SKIP_UNTIMED, raw->at);
		return false;
	}
	if (base > EPOCH_NS && m->space->has_base)
		base -= m->space->base_ns;
	if (raw->duration_ps < 0) {
		note(m, PF_REPAIR_NEGATIVE_DURATION, raw->at);
		raw->duration_ps = 0;
	}
	start = (__int128)base * PS + raw->offset_ps;
	end = floor_ns(start + raw->duration_ps);
	start = floor_ns(start);
	if (start < -PF_TIME_MAX_NS || end > PF_TIME_MAX_NS) {
		note(m, PF_SKIP_TIME_RANGE, raw->at);
		return false;
	}
	ev->start_ns = (int64_t)start;
	ev->dur_ns = (int64_t)(end - start);
	return true;
}

/* ---- arguments ---- */

/* "GPU_4_bfc" is device 4's; others' memory is the host's. */
static void arg_allocator(struct pf_xs_map *m, const char *text, size_t len)
{
	int64_t device = 0;
	size_t i = 4;

	for (; i < len && i < 13 && text[i] >= '0' && text[i] <= '9'; i++)
		device = device * 10 + (text[i] - '0');
	if (len < 6 || memcmp(text, "GPU_", 4) != 0 || i == 4 || i == len ||
	    text[i] != '_') {
		pf_argline_fixed(&m->args, "Device Type", 0);
		return;
	}
	pf_argline_fixed(&m->args, "Device Type", 1);
	pf_argline_fixed(&m->args, "Device Id", device);
}

static bool is_number_stat(const struct pf_xs_stat *stat)
{
	return stat->kind == 4 || (stat->kind == 3 && stat->value <= INT64_MAX);
}

/* What an allocation says in its own words; false: as any statistic. */
static bool memory_stat(struct pf_xs_map *m, enum pf_xs_role role,
			const struct pf_xs_stat *stat,
			const struct pf_xs_made *made)
{
	int64_t value = (int64_t)stat->value;

	if (!is_number_stat(stat))
		return false;
	switch (role) {
	case PF_XS_ALLOCATED:
		if (value < 0)
			return false;
		xs_arg_slot(m, "Bytes", PF_SLOT_BYTES,
			    made->is_freed ? -value : value);
		return true;
	case PF_XS_IN_USE:
		xs_arg_slot(m, "Total Allocated", PF_SLOT_ALLOCATED, value);
		return true;
	case PF_XS_ADDRESS:
		xs_arg_slot(m, "Addr", PF_SLOT_ADDR, value);
		return true;
	case PF_XS_ALLOCATOR_INDEX:
		pf_argline_fixed(&m->args, "Device Type",
				 9); /* as torch: XLA */
		pf_argline_fixed(&m->args, "Device Id", value);
		return true;
	default:
		return false;
	}
}

static void details(struct pf_xs_map *m, enum pf_xs_role role,
		    const struct pf_xs_stat *stat)
{
	const char *text;
	size_t len;

	xs_stat_text(m, stat, &text, &len);
	if (role == PF_XS_KERNEL_DETAILS)
		xs_arg_kernel(m, text, len);
	else if (role == PF_XS_ALLOCATOR)
		arg_allocator(m, text, len);
	else
		xs_arg_copy(m, text, len);
}

static void one_stat(struct pf_xs_map *m, const struct pf_xs_stat *stat,
		     bool is_memory, struct pf_xs_made *made)
{
	const struct pf_xs_key key = xs_find_key(m, stat->id);

	made->is_operator |= key.role == PF_XS_OPERATOR;
	made->is_of_runtime |= key.role == PF_XS_RUNTIME ||
			       key.role == PF_XS_CORRELATION ||
			       key.role == PF_XS_KERNEL_DETAILS;
	made->is_call |= key.role == PF_XS_CORRELATION;
	made->has_kernel |= key.role == PF_XS_KERNEL_DETAILS;
	made->has_copy |= key.role == PF_XS_COPY_DETAILS;
	made->has_fill |= key.role == PF_XS_FILL_DETAILS;
	if (key.role == PF_XS_CORRELATION && is_number_stat(stat)) {
		xs_arg_slot(m, "correlation_id", PF_SLOT_CORRELATION,
			    (int64_t)stat->value);
		return;
	}
	if (key.role == PF_XS_STEP && is_number_stat(stat) &&
	    (int64_t)stat->value >= 0 && stat->value < UINT64_C(1) << 58) {
		made->has_step = true;
		xs_arg_slot(m, "step_num", PF_SLOT_STEP,
			    (int64_t)stat->value * 16);
		return;
	}
	if (is_memory && memory_stat(m, key.role, stat, made))
		return;
	xs_arg_stat(m, &key, stat);
	if ((is_memory && key.role == PF_XS_ALLOCATOR) ||
	    (key.role >= PF_XS_KERNEL_DETAILS &&
	     key.role <= PF_XS_FILL_DETAILS &&
	     m->line.what.kind == PF_ROW_STREAM))
		details(m, key.role, stat);
}

/* What the metadata says, unless the event says it itself. */
static void add_more(struct pf_xs_map *m, const struct pf_xs_name *name,
		     const int64_t *ids, size_t count)
{
	const char *p = m->memos->text.data + name->stats_at;
	const char *end = p + name->stats_len;
	struct pf_xs_more more;

	while (p < end) {
		bool is_said = false;

		memcpy(&more, p, sizeof(more));
		p += sizeof(more);
		for (size_t i = 0; i < count; i++)
			is_said |= ids[i] == more.id;
		if (!is_said) {
			size_t at = m->args.text.len;

			pf_buf_add(&m->args.text, p, more.len);
			if (!at)
				m->args.text.data[0] = '{';
		}
		p += more.len;
	}
}

/*
 * All arguments as a text.  A shape can be made of them if each number took a
 * slot of its own and nothing else did.
 */
static bool set_args(struct pf_xs_map *m, const struct pf_xs_stat *stats,
		     size_t count, const struct pf_xs_name *name,
		     const struct pf_xs_shape_key *key,
		     struct pf_xs_shape *shape, struct pf_xs_made *made)
{
	bool is_memory = m->line.what.kind == PF_ROW_HOST &&
			 name->host_kind == PF_KIND_MEMORY;
	int64_t ids[PF_XS_STATS_MAX];
	unsigned numbers = 0;
	bool is_plain = true;

	xs_open_args(m, &m->line.prefix);
	for (size_t i = 0; i < count; i++) {
		const int is_number = (int)(key->numbers >> i & 1);
		uint32_t before = m->args.mask, taken;
		int filled = m->filled;

		ids[i] = stats[i].id;
		one_stat(m, &stats[i], is_memory, made);
		taken = m->args.mask & ~before;
		is_plain &= m->filled - filled == is_number &&
			    __builtin_popcount(taken) == is_number;
		if (is_plain && taken)
			shape->slots[numbers++] = (uint8_t)__builtin_ctz(taken);
	}
	if (name->stats_len)
		add_more(m, name, ids, count);
	return is_plain;
}

/* Those that can be read; the others are noted. */
static size_t read_stats(struct pf_xs_map *m, const struct raw *raw,
			 struct pf_xs_stat *stats)
{
	size_t count = 0;

	for (size_t i = 0; i < raw->stat_count; i++)
		if (xs_stat_read(raw->stats[i], &stats[count]))
			count++;
		else
			note(m, PF_REPAIR_BAD_MESSAGE, raw->at);
	return count;
}

static uint32_t find_args(struct pf_xs_map *m, const struct raw *raw,
			  const struct pf_xs_name *name,
			  struct pf_xs_made *made)
{
	struct pf_xs_stat stats[PF_XS_STATS_MAX];
	size_t count = read_stats(m, raw, stats);
	struct pf_xs_shape none, *shape = &none;
	struct pf_xs_shape_key key;
	bool is_known = false, is_plain;

	if (xs_shape_key(m, name, raw->meta, stats, count, &key))
		shape = xs_shape_find(m, &key, &is_known);
	if (is_known) {
		xs_shape_slots(m, shape, &key);
		*made = shape->made;
		return shape->args;
	}
	is_plain = set_args(m, stats, count, name, &key, shape, made);
	if (m->line.has_steps && name->has_number) {
		m->args.mask |= UINT32_C(1) << PF_SLOT_STEP;
		m->args.slots[PF_SLOT_STEP] = name->number * 16;
	}
	shape->args = pf_argline_close(&m->args, &m->parsed.args);
	shape->mask = m->args.mask;
	shape->made = *made;
	shape->generation = is_plain ? m->generation : 0;
	return shape->args;
}

/* ---- events of a line ---- */

static void host_type(struct pf_xs_map *m, const struct pf_xs_name *name,
		      const struct pf_xs_made *made, struct pf_event *ev,
		      const char **category)
{
	enum pf_kind kind = name->host_kind;

	if (kind == PF_KIND_HOST || kind == PF_KIND_ANNOTATION)
		kind = pf_range_kind(kind, name->is_tf_data, made->has_step,
				     made->is_call,
				     made->is_operator || name->is_operator,
				     made->is_of_runtime || m->line.is_pool);
	kind = pf_range_in(kind, name->is_tf_data || made->has_step,
			   ev->start_ns, ev->start_ns + ev->dur_ns,
			   &m->line.runtime_end_ns);
	ev->kind = (uint8_t)kind;
	*category = name->is_hip && kind == PF_KIND_RUNTIME
			    ? "hip_runtime"
			    : pf_host_category(kind, "", 0);
}

/* Sets kind and ph; its category. */
static uint32_t set_type(struct pf_xs_map *m, const struct pf_xs_name *name,
			 const struct pf_xs_made *made, struct pf_event *ev)
{
	static const char *const work[] = { "kernel", "gpu_memcpy",
					    "gpu_memset" };
	const char *category = m->line.tpu_category;

	switch (m->line.what.kind) {
	case PF_ROW_HOST:
		host_type(m, name, made, ev, &category);
		break;
	case PF_ROW_STREAM:
		ev->kind = made->has_kernel                  ? PF_KIND_KERNEL
			   : made->has_copy || name->is_copy ? PF_KIND_MEMCPY
			   : made->has_fill || name->is_fill ? PF_KIND_MEMSET
							     : PF_KIND_KERNEL;
		category = work[ev->kind - PF_KIND_KERNEL];
		break;
	case PF_ROW_AGAIN:
		ev->kind = PF_KIND_GPU_ANNOTATION;
		category = "gpu_user_annotation";
		break;
	default:
		ev->kind = PF_KIND_GPU_OTHER;
	}
	ev->ph = ev->kind == PF_KIND_MEMORY ? 'i' : 'X';
	return find_category(m, category);
}

static void store(struct pf_xs_map *m, struct raw *raw)
{
	struct pf_batch *b = &m->parsed.batch;
	const struct pf_xs_name *name;
	struct pf_xs_made made = { 0 };
	struct pf_event ev = { .order = (int32_t)b->event_count };

	if (!set_times(m, raw, &ev))
		return;
	/* texts found from here on stay until the next event */
	if (m->memos->text.len > TEXT_MAX)
		xs_memos_forget(m->memos);
	name = xs_find_name(m, raw->meta);
	if (!name->is_known)
		note(m, PF_REPAIR_LOST_NAME, raw->at);
	made.is_freed = name->is_freed;
	ev.args = find_args(m, raw, name, &made);
	ev.name = name->entry;
	ev.track = find_track(m);
	pf_batch_store(b, &ev, set_type(m, name, &made, &ev), m->args.mask,
		       m->args.slots);
}

/* False: it is no event that can be read. */
static bool read_event(struct pf_wire message, struct raw *raw)
{
	struct pf_xs_field f;
	enum pf_xs_got got;

	while ((got = xs_next(&message, &f)) == PF_XS_FIELD) {
		if (f.number == 4 && f.wire == PF_XS_LENGTH) {
			if (raw->stat_count < PF_XS_STATS_MAX)
				raw->stats[raw->stat_count++] = f.text;
			continue;
		}
		if (f.wire != PF_XS_VARINT)
			continue;
		if (f.number == 1)
			raw->meta = (int64_t)f.value;
		else if (f.number == 2)
			raw->offset_ps = (int64_t)f.value,
			raw->has_offset = true;
		else if (f.number == 3)
			raw->duration_ps = (int64_t)f.value;
		else if (f.number == 5)
			raw->has_occurrences = true;
	}
	return got == PF_XS_END;
}

static void one_event(struct pf_xs_map *m, const struct pf_xs_span *f)
{
	size_t len = (size_t)(f->end - f->at);
	const unsigned char *p;
	struct raw raw;

	raw.meta = raw.offset_ps = raw.duration_ps = 0;
	raw.has_offset = raw.has_occurrences = false;
	raw.stat_count = 0;
	raw.at = f->at;
	if (len > PF_XS_PIECE_MAX) {
		note(m, PF_SKIP_TOO_LARGE, f->at);
	} else if (m->plane->what.kind == PF_PLANE_OTHER) {
		note(m, PF_SKIP_PLANE, f->at);
	} else {
		p = xs_bytes_at(m->space->bytes, f->at, len, m->space->err);
		if (p && read_event((struct pf_wire){ p, p + len }, &raw))
			store(m, &raw);
		else
			note(m, PF_SKIP_MALFORMED, f->at);
	}
	m->parsed.batch.event_count++;
	m->parsed.batch.ts_fraction_digits = 3; /* nanoseconds */
	if (is_full(m) && !m->space->err->code)
		m->settle(m->settle_arg);
}

/* Is the end here that of a file that was cut off? */
static bool is_cut_here(const struct pf_xs_map *m, int64_t end)
{
	return end == m->space->bytes->size &&
	       m->space->repairs.of[PF_REPAIR_CUT_OFF].count;
}

static void map_line(struct pf_xs_map *m, const struct pf_xs_piece *piece)
{
	struct pf_xs_cursor c = { m->space->bytes, piece->at, piece->end };
	struct pf_xs_span f;
	enum pf_xs_got got;

	read_line_head(m, piece);
	while ((got = xs_step(&c, &f, m->space->err)) == PF_XS_FIELD)
		if (f.number == 4 && f.wire == PF_XS_LENGTH)
			one_event(m, &f);
	if (got != PF_XS_END && !is_cut_here(m, piece->end))
		note(m, PF_REPAIR_BAD_MESSAGE, c.at);
}

void pf_xs_map_plane(struct pf_xs_map *m, const struct pf_xs_plane *plane)
{
	PF_AUTO(pf_map_release) struct pf_map line_ids = { 0 };

	m->plane = plane;
	xs_memos_forget(m->memos);
	m->line_ids = &line_ids;
	xs_defs_read(&m->defs, m->space, plane);
	for (uint64_t i = 0;
	     !m->space->err->code && i < pf_spool_count(m->defs.lines); i++) {
		const struct pf_xs_piece *p =
			pf_spool_at(m->defs.lines, i, m->space->err);
		struct pf_xs_piece piece;

		if (!p)
			break;
		piece = *p;
		map_line(m, &piece);
	}
	xs_defs_release(&m->defs);
}

/* ---- what the file says of itself ---- */

struct device {
	char vendor[64], type[64], name[96];
	struct pf_sink_gpu gpu;
};

static void take_device(void *arg, const char *name,
			const struct pf_xs_stat *stat, const char *text,
			size_t len)
{
	static const struct {
		const char *name;
		int number;
	} numbers[] = {
		{ "core_count", PF_GPU_SMS },
		{ "memory_size", PF_GPU_MEMORY },
		{ "compute_cap_major", PF_GPU_MAJOR },
		{ "compute_cap_minor", PF_GPU_MINOR },
	};
	struct device *d = arg;

	for (size_t i = 0; i < PF_LEN(numbers); i++)
		if (!strcmp(name, numbers[i].name) && is_number_stat(stat))
			d->gpu.numbers[numbers[i].number] =
				(int64_t)stat->value;
	if (!strcmp(name, "device_vendor"))
		snprintf(d->vendor, sizeof(d->vendor), "%.*s", (int)len, text);
	if (!strcmp(name, "gpu_device_name"))
		snprintf(d->name, sizeof(d->name), "%.*s", (int)len, text);
	if (!strcmp(name, "device_type_string"))
		snprintf(d->type, sizeof(d->type), "%.*s", (int)len, text);
}

static void put_device(struct pf_buf *out, struct device *d)
{
	int64_t *n = d->gpu.numbers;
	const char *name = *d->name ? d->name : *d->type ? d->type : d->vendor;

	if (*name) {
		d->gpu.name = name;
		d->gpu.name_len = strlen(name);
	}
	for (int i = 0; i < PF_GPU_NUMBERS; i++)
		if (!n[i] && (i != PF_GPU_MINOR || n[PF_GPU_MAJOR] <= 0))
			n[i] = -1;
	pf_sink_gpu(out, &d->gpu);
}

static void describe_device(struct pf_xs_map *m,
			    const struct pf_xs_plane *plane, struct pf_buf *out)
{
	struct device d = { .gpu.id = plane->what.device };
	struct pf_repairs before = m->space->repairs;

	memset(d.gpu.numbers, 0xff, sizeof(d.gpu.numbers)); /* -1 */
	xs_defs_read(&m->defs, m->space, plane);
	xs_plane_stats(&m->defs, m->space, take_device, &d);
	m->space->repairs = before; /* they are noted with the events */
	xs_defs_release(&m->defs);
	put_device(out, &d);
}

void pf_xs_map_describe(struct pf_xs_map *m)
{
	struct pf_batch *b = &m->parsed.batch;
	PF_AUTO(pf_buf_release) struct pf_buf text = { 0 };

	if (m->space->has_base)
		pf_batch_base(b, m->space->base_ns);
	for (size_t i = 0; i < m->space->plane_count; i++)
		if (m->space->planes[i].what.device >= 0)
			describe_device(m, &m->space->planes[i], &text);
	if (text.len) {
		pf_buf_addc(&text, ']');
		pf_batch_member(b, "deviceProperties", &text);
	}
}
