/* SPDX-License-Identifier: MIT */
/*
 * The critical path as a track of the timeline: its pieces, one behind the
 * other, each in the colour that such time has on the other tracks.  They are
 * taken while the path is read, 24 bytes each.
 */
#ifndef PF_PAGE_PATH_TRACK_H
#define PF_PAGE_PATH_TRACK_H

#include <stddef.h>
#include <stdint.h>

#include "analysis/path/path.h"
#include "page/slices.h"

struct pf_path_piece {
	int64_t start_ns, end_ns;
	uint32_t name;    /* string.id, or PF_ID_NONE: that of its category */
	uint8_t cat;      /* enum pf_slice_cat */
	uint8_t category; /* enum pf_path_category */
};

struct pf_path_track {
	struct pf_path_sink sink; /* first */
	struct pf_path_sink *next;
	struct pf_path_piece *pieces;
	size_t count, cap;
	size_t most; /* pieces; later ones are but counted, in: */
	int64_t all;
};

/*
 * Take the first "most" pieces, which is set, of a path that is about to be
 * read, and tell them to who asked for them before.
 */
void pf_path_track_begin(struct pf_path_track *t, struct pf_path_args *args);

/* The track, as a group of its own; "names" are those of the path. */
int pf_path_track_put(const struct pf_path_track *t, struct pf_names *names,
		      const struct pf_redact *redact, struct pf_timeline *out,
		      struct pf_err *err);

/*
 * Read the path of the trace of a timeline, and put it: at most so many
 * pieces.  Of times that it cannot count there is none.
 */
int pf_path_track_add(struct pf_db *db, const struct pf_window_args *window,
		      int64_t most, const struct pf_redact *redact,
		      struct pf_timeline *out, struct pf_err *err);

void pf_path_track_release(struct pf_path_track *t);

#endif
