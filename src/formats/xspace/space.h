/* SPDX-License-Identifier: MIT */
/*
 * The planes of an XSpace, and what a plane says before its events can be
 * understood: names of events and of statistics follow the lines in every
 * file, so a plane is gone through once before its lines are read.  What it
 * defines stays in the file; only places are kept, in fixed memory.
 *
 *	XSpace { 1 planes*  2 errors*  3 warnings*  4 hostnames* }
 *	XPlane { 1 id  2 name  3 lines*  4 map of event metadata
 *		 5 map of stat metadata  6 stats* }
 */
#ifndef PF_FORMATS_XSPACE_SPACE_H
#define PF_FORMATS_XSPACE_SPACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/spool.h"
#include "formats/planes.h"
#include "formats/repair.h"
#include "formats/wire.h"

/*
 * The bytes of an XSpace file, read anywhere in a window of fixed size, and
 * the fields of a protobuf message in them.  Lengths are never believed: a
 * message ends where what holds it ends.
 */

/* A text or message that is larger is left out, and counted. */
#define PF_XS_PIECE_MAX (1u << 20)

struct pf_xs_bytes {
	int fd; /* -1: all of it is in memory */
	int64_t size;
	const unsigned char *data; /* of [at, at + have) */
	unsigned char *own;
	size_t window; /* of which at most so much is read at once */
	size_t have;
	int64_t at;
};

/* "window" is what is read at once when something is not there. */
void pf_xs_bytes_init(struct pf_xs_bytes *b, int fd, int64_t size,
		      size_t window);
void pf_xs_bytes_of_memory(struct pf_xs_bytes *b, const void *data, size_t len);
void pf_xs_bytes_release(struct pf_xs_bytes *b);

/*
 * The bytes [at, at + len), which must be in the file and no more than
 * PF_XS_PIECE_MAX; valid until the next call.  NULL: a read error; from then on
 * there are no bytes, and every message is at its end.
 */
const unsigned char *pf_xs_bytes_at(struct pf_xs_bytes *b, int64_t at,
				    size_t len, struct pf_err *err);

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
static inline enum pf_xs_got pf_xs_next(struct pf_wire *w,
					struct pf_xs_field *f)
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

enum pf_xs_got pf_xs_step(struct pf_xs_cursor *c, struct pf_xs_span *f,
			  struct pf_err *err);

#define PF_XS_PLANES_MAX 65536u
#define PF_XS_NAME_MAX   255u /* bytes of names of planes and hosts kept */
#define PF_XS_STATS_MAX  64u

/* Does a file begin as one, or as one that a text filter went through? */
bool pf_xs_claims(const char *head, size_t len);

struct pf_xs_plane {
	int64_t at, end; /* of its content */
	struct pf_plane what;
	char *name;
};

struct pf_xs_space {
	struct pf_err *err; /* of who reads it */
	struct pf_xs_bytes *bytes;
	const char *dir; /* for what does not fit in memory */
	struct pf_xs_plane *planes;
	size_t plane_count, planes_cap;
	size_t whole; /* planes of which nothing is cut off */
	char host[PF_XS_NAME_MAX + 1];
	struct pf_repairs repairs;
	/* of the plane "Task Environment" */
	bool has_base;
	int64_t base_ns;
};

/* Find the planes; PF_EDATA if it is something else than an XSpace. */
int pf_xs_space_read(struct pf_xs_space *s, struct pf_xs_bytes *bytes,
		     const char *dir, struct pf_err *err);
void pf_xs_space_release(struct pf_xs_space *s);

/* ---- one plane ---- */

/* An entry of a map, by its key. */
struct pf_xs_def {
	int64_t id, order;
	int64_t at, end; /* of the metadata's message */
};

enum pf_xs_def_map { PF_XS_EVENTS, PF_XS_STATS, PF_XS_MAPS };

/* A statistic as it stands there. */
struct pf_xs_stat {
	int64_t id;
	unsigned kind; /* field that has the value, 0: none */
	uint64_t value;
	struct pf_wire text;
};

struct pf_xs_defs {
	struct pf_spool *lines;            /* struct pf_xs_piece */
	struct pf_spool *maps[PF_XS_MAPS]; /* struct pf_xs_def by id */
	struct pf_xs_piece {
		int64_t at, end;
	} stats[PF_XS_STATS_MAX];
	size_t stat_count;
};

/* Damage is noted in the space's repairs. */
void pf_xs_defs_read(struct pf_xs_defs *d, struct pf_xs_space *s,
		     const struct pf_xs_plane *plane);
void pf_xs_defs_release(struct pf_xs_defs *d);

/* The definition of an id, NULL if there is none (or on an error: err). */
const struct pf_xs_def *pf_xs_def_find(struct pf_xs_defs *d,
				       enum pf_xs_def_map map, int64_t id,
				       struct pf_err *err);

/* False: it cannot be read. */
bool pf_xs_stat_read(struct pf_wire message, struct pf_xs_stat *out);

/*
 * The name of a definition (field 2), cut to "max" bytes, appended.  An
 * event's may have another to show (field 4) and a place of statistics that
 * all events of it have (field 5): how many, and the message they are in.
 */
void pf_xs_def_name(struct pf_xs_bytes *b, const struct pf_xs_def *def,
		    unsigned field, size_t max, struct pf_buf *out,
		    struct pf_err *err);

/* Call "take" for each statistic of a plane with its name. */
typedef void pf_xs_take_fn(void *arg, const char *name,
			   const struct pf_xs_stat *stat, const char *text,
			   size_t len);
void pf_xs_plane_stats(struct pf_xs_defs *d, struct pf_xs_space *s,
		       pf_xs_take_fn *take, void *arg);

#endif
