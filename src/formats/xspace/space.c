/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "formats/xspace/space.h"

#define HEAD_BYTES       4096 /* where bytes that were replaced are looked for */
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

static bool went_through_a_filter(struct pf_xs_space *s, struct pf_err *err)
{
	size_t n = s->bytes->size < HEAD_BYTES ? (size_t)s->bytes->size
					       : HEAD_BYTES;
	const unsigned char *p = pf_xs_bytes_at(s->bytes, 0, n, err);

	return p && memmem(p, n, REPLACEMENT, 3);
}

static int refuse(struct pf_xs_space *s, int64_t at, const char *what,
		  struct pf_err *err)
{
	if (went_through_a_filter(s, err))
		return pf_fail(err, PF_EDATA,
			       "is a profile in which bytes were replaced: the "
			       "file went through a text filter (autocrlf of "
			       "git, download as text); copy it again as "
			       "binary data");
	return err->code ? -1
			 : pf_fail(err, PF_EDATA,
				   "%s at byte %lld, and nothing before it",
				   what, (long long)at);
}

/*
 * Are the fields that a plane has those of XPlane, an id and then lengths?
 * "is_value": no, it is a ValueType of pprof, two numbers.
 */
static int check_plane(struct pf_xs_space *s, const struct pf_xs_span *plane,
		       bool *is_plane, bool *is_value, struct pf_err *err)
{
	struct pf_xs_cursor c = { s->bytes, plane->at, plane->end };
	struct pf_xs_span f;
	enum pf_xs_got got;

	*is_plane = true;
	*is_value = false;
	for (int i = 0; i < FIELDS_LOOKED_AT && *is_plane; i++) {
		got = pf_xs_step(&c, &f, err);
		if (got == PF_XS_ERROR)
			return -1;
		if (got != PF_XS_FIELD)
			break;
		*is_plane =
			f.number > 6 ||
			f.wire == (f.number == 1 ? PF_XS_VARINT : PF_XS_LENGTH);
		*is_value = i == 1 && f.number == 2 && f.wire == PF_XS_VARINT;
	}
	return 0;
}

/* A profile of pprof: the first text of its table (field 6) is empty. */
static int is_pprof(struct pf_xs_space *s, struct pf_err *err)
{
	struct pf_xs_cursor c = { s->bytes, 0, s->bytes->size };
	struct pf_xs_span f;
	enum pf_xs_got got;

	while ((got = pf_xs_step(&c, &f, err)) == PF_XS_FIELD)
		if (f.number == 6)
			return f.wire == PF_XS_LENGTH && f.at == f.end;
	return got == PF_XS_ERROR ? -1 : 0;
}

/* The first field decides. */
static int check_first(struct pf_xs_space *s, const struct pf_xs_span *f,
		       struct pf_err *err)
{
	bool is_plane = true, is_value = false;
	const unsigned char *p;
	unsigned char tag = 0x12; /* an empty plane is one */
	int rc = 0;

	if (f->at < f->end) {
		p = pf_xs_bytes_at(s->bytes, f->at, 1, err);
		if (!p)
			return -1;
		tag = *p;
	}
	if (f->number == 1 && f->wire == PF_XS_LENGTH && begins_packet(tag))
		return pf_fail(err, PF_EDATA,
			       "is a trace of Perfetto (protobuf packets), "
			       "which profan does not read");
	if (f->number == 1 && f->wire == PF_XS_LENGTH &&
	    check_plane(s, f, &is_plane, &is_value, err))
		return -1;
	if (is_value)
		rc = is_pprof(s, err);
	if (rc < 0)
		return -1;
	if (rc)
		return pf_fail(err, PF_EDATA,
			       "is a pprof profile (of memory or processor "
			       "time): read it with pprof");
	if (f->number > 4 || f->wire != PF_XS_LENGTH || !is_plane ||
	    (f->number == 1 && !begins_plane(tag)))
		return pf_fail(err, PF_EDATA,
			       "is a protobuf message, but no XSpace: its "
			       "first field is no plane");
	return 0;
}

/*
 * A plane without a name says nothing of what it is, and other messages have
 * fields of the same numbers.
 */
static int check_names(const struct pf_xs_space *s, struct pf_err *err)
{
	for (size_t i = 0; i < s->plane_count; i++)
		if (*s->planes[i].name)
			return 0;
	return s->repairs.of[PF_REPAIR_CUT_OFF].count
		       ? 0
		       : pf_fail(err, PF_EDATA,
				 "is a protobuf message, but no XSpace: it has "
				 "no plane with a name");
}

/* ---- names ---- */

/* Append the bytes [at, end), at most "max" of them. */
static int add_text(struct pf_xs_bytes *b, int64_t at, int64_t end, size_t max,
		    struct pf_buf *out, struct pf_err *err)
{
	size_t n = (uint64_t)(end - at) < max ? (size_t)(end - at) : max;
	const unsigned char *p = pf_xs_bytes_at(b, at, n, err);

	if (!p)
		return -1;
	pf_buf_add(out, p, n);
	return 0;
}

int pf_xs_def_name(struct pf_xs_bytes *b, const struct pf_xs_def *def,
		   unsigned field, size_t max, struct pf_buf *out,
		   struct pf_err *err)
{
	struct pf_xs_cursor c = { b, def->at, def->end };
	struct pf_xs_span f;
	enum pf_xs_got got;

	while ((got = pf_xs_step(&c, &f, err)) == PF_XS_FIELD)
		if (f.number == field && f.wire == PF_XS_LENGTH)
			return add_text(b, f.at, f.end, max, out, err);
	return got == PF_XS_ERROR ? -1 : 0;
}

/* The name of a plane, which stands before its lines. */
static int name_plane(struct pf_xs_space *s, struct pf_xs_plane *p,
		      struct pf_err *err)
{
	const struct pf_xs_def message = { .at = p->at, .end = p->end };
	struct pf_buf name = { 0 };

	if (pf_xs_def_name(s->bytes, &message, 2, PF_XS_NAME_MAX, &name, err))
		return -1;
	if (!name.data)
		pf_buf_adds(&name, "");
	p->name = name.data;
	p->what = pf_plane_of(name.data, name.len);
	return 0;
}

/* ---- the space ---- */

static int add_plane(struct pf_xs_space *s, const struct pf_xs_span *f,
		     struct pf_err *err)
{
	if (s->plane_count == PF_XS_PLANES_MAX) {
		pf_repair_note(&s->repairs, PF_REPAIR_BAD_MESSAGE, 1, f->at);
		return 0;
	}
	s->planes = pf_grow(s->planes, &s->planes_cap, s->plane_count + 1,
			    sizeof(*s->planes));
	s->planes[s->plane_count] =
		(struct pf_xs_plane){ .at = f->at, .end = f->end };
	return name_plane(s, &s->planes[s->plane_count++], err);
}

static int add_field(struct pf_xs_space *s, const struct pf_xs_span *f,
		     struct pf_err *err)
{
	struct pf_buf name = { 0 };
	int rc = 0;

	if (f->wire != PF_XS_LENGTH)
		return 0;
	if (f->number == 1)
		return add_plane(s, f, err);
	if (f->number == 4 && !*s->host && f->end > f->at) {
		rc = add_text(s->bytes, f->at, f->end, PF_XS_NAME_MAX, &name,
			      err);
		if (!rc)
			memcpy(s->host, name.data, name.len);
		pf_buf_release(&name);
	}
	return rc;
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

static int read_environment(struct pf_xs_space *s, struct pf_err *err)
{
	for (size_t i = 0; i < s->plane_count; i++) {
		struct pf_repairs before = s->repairs;
		struct pf_xs_defs d;
		int rc;

		if (strcmp(s->planes[i].name, ENVIRONMENT) != 0)
			continue;
		rc = pf_xs_defs_read(&d, s, &s->planes[i], err);
		if (!rc)
			rc = pf_xs_plane_stats(&d, s, take_base, s, err);
		pf_xs_defs_release(&d);
		s->repairs = before; /* it is read once more with the others */
		if (rc)
			return -1;
	}
	return 0;
}

static int read_planes(struct pf_xs_space *s, struct pf_err *err)
{
	struct pf_xs_cursor c = { s->bytes, 0, s->bytes->size };
	bool is_first = true;
	struct pf_xs_span f;
	enum pf_xs_got got;

	while ((got = pf_xs_step(&c, &f, err)) == PF_XS_FIELD ||
	       got == PF_XS_CUT) {
		if (got == PF_XS_CUT && went_through_a_filter(s, err))
			return refuse(s, f.at, "", err);
		if (is_first && check_first(s, &f, err))
			return -1;
		is_first = false;
		if (got == PF_XS_CUT)
			pf_repair_note(&s->repairs, PF_REPAIR_CUT_OFF, 1,
				       s->bytes->size);
		s->whole += got == PF_XS_FIELD && f.number == 1;
		if (add_field(s, &f, err))
			return -1;
	}
	if (got == PF_XS_ERROR)
		return -1;
	if (got == PF_XS_BAD && is_first)
		return refuse(s, c.at, "has a field that cannot be read", err);
	if (got == PF_XS_BAD)
		pf_repair_note(&s->repairs, PF_REPAIR_BAD_MESSAGE, 1, c.at);
	return 0;
}

int pf_xs_space_read(struct pf_xs_space *s, struct pf_xs_bytes *bytes,
		     const char *dir, struct pf_err *err)
{
	*s = (struct pf_xs_space){ .bytes = bytes, .dir = dir };
	if (read_planes(s, err) || check_names(s, err))
		return -1;
	return read_environment(s, err);
}

void pf_xs_space_release(struct pf_xs_space *s)
{
	for (size_t i = 0; i < s->plane_count; i++)
		free(s->planes[i].name);
	free(s->planes);
}
