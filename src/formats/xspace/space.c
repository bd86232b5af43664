/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "formats/xspace/space.h"

#include "base/mem.h"
#include "base/tempfile.h"

#define HEAD_BYTES 20 /* a tag and a length, or a tag and a number */

void pf_xs_bytes_init(struct pf_xs_bytes *b, int fd, int64_t size,
		      size_t window)
{
	*b = (struct pf_xs_bytes){ .fd = fd, .size = size, .window = window };
	b->own = pf_alloc(PF_XS_PIECE_MAX);
	b->data = b->own;
}

void pf_xs_bytes_of_memory(struct pf_xs_bytes *b, const void *data, size_t len)
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

const unsigned char *pf_xs_bytes_at(struct pf_xs_bytes *b, int64_t at,
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

enum pf_xs_got pf_xs_step(struct pf_xs_cursor *c, struct pf_xs_span *f,
			  struct pf_err *err)
{
	int64_t left = c->end - c->at;
	size_t n = left < HEAD_BYTES ? (size_t)left : HEAD_BYTES;
	const unsigned char *p;
	struct pf_wire w;
	uint64_t tag;

	p = n ? pf_xs_bytes_at(c->bytes, c->at, n, err) : NULL;
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
		if (pf_xs_next(&w, &small) != PF_XS_FIELD)
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

static void note(struct pf_xs_space *s, int64_t at)
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

	while ((got = pf_xs_step(&c, &f, r->space->err)) == PF_XS_FIELD) {
		if (f.number == 1 && f.wire == PF_XS_VARINT)
			def.id = (int64_t)f.value;
		if (f.number == 2 && f.wire == PF_XS_LENGTH) {
			def.at = f.at;
			def.end = f.end;
		}
	}
	if (got != PF_XS_END)
		note(r->space, entry->at);
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

	while ((got = pf_xs_step(&c, &f, r->space->err)) == PF_XS_FIELD)
		add_field(r, &f);
	/* Of a line that is cut off its first events are good. */
	if (got == PF_XS_CUT && ends_the_file && f.number == 3)
		add_field(r, &f);
	else if (got != PF_XS_END &&
		 !(ends_the_file &&
		   r->space->repairs.of[PF_REPAIR_CUT_OFF].count))
		note(r->space, c.at);
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

void pf_xs_defs_read(struct pf_xs_defs *d, struct pf_xs_space *s,
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

void pf_xs_defs_release(struct pf_xs_defs *d)
{
	pf_spool_free(d->lines);
	for (int i = 0; i < PF_XS_MAPS; i++)
		pf_spool_free(d->maps[i]);
}

const struct pf_xs_def *pf_xs_def_find(struct pf_xs_defs *d,
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

bool pf_xs_stat_read(struct pf_wire message, struct pf_xs_stat *out)
{
	struct pf_xs_field f;
	enum pf_xs_got got;

	*out = (struct pf_xs_stat){ 0 };
	while ((got = pf_xs_next(&message, &f)) == PF_XS_FIELD) {
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

/* False: it is none that can be read. */
static bool one_stat(struct pf_xs_defs *d, struct pf_xs_space *s,
		     const struct pf_xs_piece *piece, struct pf_buf name[2],
		     struct pf_xs_stat *stat)
{
	size_t len = (size_t)(piece->end - piece->at);
	const struct pf_xs_def *def;
	const unsigned char *p = NULL;

	pf_buf_clear(&name[0]);
	pf_buf_clear(&name[1]);
	if (len <= PF_XS_PIECE_MAX)
		p = pf_xs_bytes_at(s->bytes, piece->at, len, s->err);
	if (!p)
		return false;
	if (!pf_xs_stat_read((struct pf_wire){ p, p + len }, stat)) {
		note(s, piece->at);
		return false;
	}
	if (stat->kind == 5)
		pf_buf_add(&name[1], stat->text.p,
			   (size_t)(stat->text.end - stat->text.p));
	def = pf_xs_def_find(d, PF_XS_STATS, stat->id, s->err);
	if (def)
		pf_xs_def_name(s->bytes, def, 2, PF_XS_NAME_MAX, &name[0],
			       s->err);
	def = stat->kind == 7 ? pf_xs_def_find(d, PF_XS_STATS,
					       (int64_t)stat->value, s->err)
			      : NULL;
	if (def)
		pf_xs_def_name(s->bytes, def, 2, PF_XS_NAME_MAX, &name[1],
			       s->err);
	return !s->err->code;
}

void pf_xs_plane_stats(struct pf_xs_defs *d, struct pf_xs_space *s,
		       pf_xs_take_fn *take, void *arg)
{
	struct pf_buf name[2] = { { 0 }, { 0 } };
	struct pf_xs_stat stat;

	for (size_t i = 0; i < d->stat_count; i++)
		if (one_stat(d, s, &d->stats[i], name, &stat) && name[0].len)
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
	const unsigned char *p = pf_xs_bytes_at(s->bytes, 0, n, s->err);

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
		if (pf_xs_step(&c, &f, s->err) != PF_XS_FIELD)
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

	while (pf_xs_step(&c, &f, s->err) == PF_XS_FIELD)
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
		p = pf_xs_bytes_at(s->bytes, f->at, 1, s->err);
		if (!p)
			return -1;
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
	if (s->err->code)
		return -1;
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

/* ---- names ---- */

/* Append the bytes [at, end), at most "max" of them. */
static void add_text(struct pf_xs_bytes *b, int64_t at, int64_t end, size_t max,
		     struct pf_buf *out, struct pf_err *err)
{
	size_t n = (uint64_t)(end - at) < max ? (size_t)(end - at) : max;
	const unsigned char *p = pf_xs_bytes_at(b, at, n, err);

	if (p)
		pf_buf_add(out, p, n);
}

void pf_xs_def_name(struct pf_xs_bytes *b, const struct pf_xs_def *def,
		    unsigned field, size_t max, struct pf_buf *out,
		    struct pf_err *err)
{
	struct pf_xs_cursor c = { b, def->at, def->end };
	struct pf_xs_span f;

	while (pf_xs_step(&c, &f, err) == PF_XS_FIELD)
		if (f.number == field && f.wire == PF_XS_LENGTH) {
			add_text(b, f.at, f.end, max, out, err);
			return;
		}
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
	pf_xs_def_name(s->bytes, &message, 2, PF_XS_NAME_MAX, &name, s->err);
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
		pf_xs_defs_read(&d, s, &s->planes[i]);
		pf_xs_plane_stats(&d, s, take_base, s);
		pf_xs_defs_release(&d);
		s->repairs = before; /* it is read once more with the others */
	}
}

static int read_planes(struct pf_xs_space *s)
{
	struct pf_xs_cursor c = { s->bytes, 0, s->bytes->size };
	bool is_first = true;
	struct pf_xs_span f;
	enum pf_xs_got got;

	while ((got = pf_xs_step(&c, &f, s->err)) == PF_XS_FIELD ||
	       got == PF_XS_CUT) {
		if (got == PF_XS_CUT && went_through_a_filter(s))
			return refuse(s, f.at, "");
		if (is_first && check_first(s, &f))
			return -1;
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
	if (read_planes(s) || err->code || check_names(s))
		return -1;
	read_environment(s);
	return err->code ? -1 : 0;
}

void pf_xs_space_release(struct pf_xs_space *s)
{
	for (size_t i = 0; i < s->plane_count; i++)
		free(s->planes[i].name);
	free(s->planes);
}
