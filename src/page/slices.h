/* SPDX-License-Identifier: MIT */
/*
 * The events of one trace as rows of a timeline: three groups of tracks (GPU,
 * operators and calls, Python), each event with a depth such that events of
 * one depth never overlap.  Memory is about 30 bytes an event, and no more
 * events are taken than were asked for.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "analysis/path/path.h"
#include "base/buf.h"
#include "events/window.h"
#include "page/redact.h"
#include "store/db.h"

/* What goes into the timeline, the most first. */
enum pf_timeline_want {
	PF_TIMELINE_FULL,
	PF_TIMELINE_OPS, /* "gpu+ops" */
	PF_TIMELINE_GPU,
	PF_TIMELINE_NONE,
};
#define PF_TIMELINE_WORDS "full|gpu+ops|gpu|none"

enum pf_slice_group {
	PF_SLICES_GPU,
	PF_SLICES_PATH, /* not of the trace: see below */
	PF_SLICES_OPS,
	PF_SLICES_PYTHON,
	PF_SLICE_GROUPS
};

enum pf_slice_cat {
	PF_CAT_KERNEL,
	PF_CAT_COMM,
	PF_CAT_COPY,
	PF_CAT_WAIT,
	PF_CAT_OP,
	PF_CAT_RUNTIME,
	PF_CAT_PYTHON,
	PF_CAT_OTHER,
	PF_CATS
};
extern const char *const pf_slice_cats[PF_CATS]; /* their names */

#define PF_SLICE_DEPTHS 255

struct pf_slice_track {
	uint32_t track_id;
	struct pf_buf label;
	uint32_t count, depths;
	int64_t launches; /* calls of the runtime or driver */
	bool is_waiting;  /* nearly all of its time */
	bool is_python;
};

struct pf_slices {
	struct pf_slice_track *tracks;
	size_t track_count, track_cap;
	uint32_t count;
	size_t start_cap, dur_cap, name_cap, depth_cap, cat_cap;
	int64_t *start_ns, *dur_ns; /* after the first event of the trace */
	uint32_t *name, *link;
	uint8_t *depth, *cat;
	int64_t all;      /* events that the trace has */
	int64_t until_ns; /* only events that start before; INT64_MAX */
	int64_t too_deep; /* left out for their depth */
};

struct pf_slice_name {
	uint32_t len;
	size_t at;       /* in texts */
	int64_t time_ns; /* of all that have it */
};

struct pf_timeline {
	int64_t trace_id, first_ns, last_ns;
	struct pf_slices group[PF_SLICE_GROUPS];
	bool is_wanted[PF_SLICE_GROUPS];
	struct pf_buf texts; /* names, in the form that can be shown */
	struct pf_slice_name *names;
	size_t name_count, name_cap;
};

/*
 * At most "slices" events: the GPU's come first, then operators, then Python;
 * what does not fit is cut in time and said so in until_ns.
 */
int pf_timeline_load(struct pf_db *db, const struct pf_window_trace *trace,
		     const struct pf_redact *redact, enum pf_timeline_want want,
		     int64_t slices, struct pf_timeline *out);
void pf_timeline_release(struct pf_timeline *t);
/* The events of a group, but not how many there are: they are most of it. */
static inline void pf_slices_drop(struct pf_slices *g)
{
	free(g->start_ns);
	free(g->dur_ns);
	free(g->name);
	free(g->link);
	free(g->depth);
	free(g->cat);
	g->start_ns = g->dur_ns = NULL;
	g->name = g->link = NULL;
	g->depth = g->cat = NULL;
}

/*
 * What a timeline shows of a window at a resolution: of each depth of each
 * track, in each column of pixels, the event that covers most of it, and how
 * many have begun there.  Reads the blocks that the window touches; memory is
 * that of what is shown.  Of counters: in each column the least and the most,
 * and the last, which holds until the next; they are read from the start.
 *
 * Of a database that stays open for other windows, long tracks are read once:
 * what windows and columns show whose ends are multiples of a power of two of
 * ns, if it is not too small, is kept.  It is the same to the byte.
 */

enum pf_drawn_tracks {
	PF_DRAWN_ALL, /* the next two */
	PF_DRAWN_GPU,
	PF_DRAWN_HOST,
	PF_DRAWN_IDLE,
	PF_DRAWN_PATH,
	PF_DRAWN_COUNTERS, /* and what is allocated */
};
#define PF_DRAWN_WORDS "all|gpu|host|idle|path|counters"

#define PF_DRAWN_PIXELS 100000 /* at most */

struct pf_drawn_args {
	struct pf_window_args window;
	int64_t pixels;    /* of the longest trace in the window */
	int64_t column_ns; /* or how long each is; 0: as many as pixels */
	int tracks;        /* enum pf_drawn_tracks */
};

int pf_timeline_draw(struct pf_db *db, const struct pf_drawn_args *args,
		     bool stays, struct pf_doc *doc);

/*
 * The critical path as a track of the timeline: its pieces, one behind the
 * other, each in the colour that such time has on the other tracks.  They are
 * taken while the path is read, 16 bytes each.
 */

struct pf_path_piece {
	int64_t start_ns; /* where the one before it ends */
	uint32_t name;    /* string.id, or PF_ID_NONE: that of its category */
	uint8_t cat;      /* enum pf_slice_cat */
	uint8_t category; /* enum pf_path_category */
};

struct pf_path_track {
	struct pf_path_sink sink; /* first */
	struct pf_path_sink *next;
	struct pf_path_piece *pieces;
	size_t count, cap;
	size_t most;    /* pieces; later ones are but counted, in: */
	int64_t end_ns; /* of the last that was taken */
	int64_t all;
};

/*
 * Take the first "most" pieces, which is set, of a path that is about to be
 * read, and tell them to who asked for them before.
 */
void pf_path_track_begin(struct pf_path_track *t, struct pf_path_args *args);

/*
 * The track, as a group of its own, and its pieces are gone; "names" are those
 * of the path.
 */
int pf_path_track_put(struct pf_path_track *t, struct pf_names *names,
		      const struct pf_redact *redact, struct pf_timeline *out);

/*
 * Read the path of the trace of a timeline, and put it: at most so many
 * pieces.  Of times that it cannot count there is none.
 */
int pf_path_track_add(struct pf_db *db, const struct pf_window_args *window,
		      int64_t most, const struct pf_redact *redact,
		      struct pf_timeline *out);

void pf_path_track_release(struct pf_path_track *t);
