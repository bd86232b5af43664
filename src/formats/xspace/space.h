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

#include "base/buf.h"
#include "base/spool.h"
#include "formats/planes.h"
#include "formats/repair.h"
#include "formats/xspace/bytes.h"

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
int pf_xs_defs_read(struct pf_xs_defs *d, struct pf_xs_space *s,
		    const struct pf_xs_plane *plane, struct pf_err *err);
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
int pf_xs_def_name(struct pf_xs_bytes *b, const struct pf_xs_def *def,
		   unsigned field, size_t max, struct pf_buf *out,
		   struct pf_err *err);

/* Call "take" for each statistic of a plane with its name. */
typedef void pf_xs_take_fn(void *arg, const char *name,
			   const struct pf_xs_stat *stat, const char *text,
			   size_t len);
int pf_xs_plane_stats(struct pf_xs_defs *d, struct pf_xs_space *s,
		      pf_xs_take_fn *take, void *arg, struct pf_err *err);

#endif
