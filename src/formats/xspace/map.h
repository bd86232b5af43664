/* SPDX-License-Identifier: MIT */
/*
 * The events of an XSpace as events of the one model (formats/event.h), by what
 * formats/planes.h says of names: work on the track of its device and stream,
 * threads under the host's name, statistics as arguments.
 *
 * Names of events and of statistics follow the lines in every file, so a plane
 * is gone through once before its lines are read.  What it defines stays in the
 * file; only places are kept, in fixed memory.
 *
 *	XSpace { 1 planes*  2 errors*  3 warnings*  4 hostnames* }
 *	XPlane { 1 id  2 name  3 lines*  4 map of event metadata
 *		 5 map of stat metadata  6 stats* }
 *	XLine { 1 id  2 name  3 timestamp_ns  4 events*  11 display_name }
 *	XEvent { 1 metadata_id  2 offset_ps | 5 num_occurrences
 *		 3 duration_ps  4 stats* }
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/spool.h"
#include "formats/planes.h"
#include "formats/repair.h"
#include "formats/sink.h"
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
void pf_xs_bytes_release(struct pf_xs_bytes *b);

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

struct pf_xs_defs {
	struct pf_spool *lines;            /* struct pf_xs_piece */
	struct pf_spool *maps[PF_XS_MAPS]; /* struct pf_xs_def by id */
	struct pf_xs_piece {
		int64_t at, end;
	} stats[PF_XS_STATS_MAX];
	size_t stat_count;
};

struct pf_xs_memos; /* what ids of the plane at hand stand for */

/* A line as it is read. */
struct pf_xs_line {
	struct pf_line what;
	int64_t serial; /* of the file's lines */
	int64_t id, timestamp_ns;
	bool has_steps, is_pool;
	int64_t runtime_end_ns; /* of the runtime's range that is open */
	struct pf_buf name;     /* of the track */
	struct pf_buf prefix;   /* arguments that all its events have */
	char tpu_category[PF_XS_NAME_MAX + 1];
};

struct pf_xs_map {
	struct pf_parsed parsed; /* what events became */
	/* When the batch is full: take it, begin anew; the error is the space's. */
	void (*settle)(void *arg);
	void *settle_arg;
	size_t batch_events;
	/* the rest is private to src/xspace */
	struct pf_xs_space *space;
	const struct pf_xs_plane *plane;
	struct pf_xs_defs defs;
	struct pf_xs_bytes names; /* the file once more, for definitions */
	struct pf_xs_memos *memos;
	struct pf_map *line_ids; /* names of threads that were met -> line */
	struct pf_xs_line line;
	uint32_t generation, track, track_generation;
	struct pf_xs_category {
		const char *word;
		uint32_t entry;
	} categories[16];
	size_t category_count;
	struct pf_argline args;
	int filled; /* slots, one that is filled twice counts twice */
	struct pf_buf track_text;
};

/* "names" reads the same file as the space, with its own window. */
void pf_xs_map_init(struct pf_xs_map *m, struct pf_xs_space *space);
void pf_xs_map_release(struct pf_xs_map *m);

/* What the file says of itself: base, devices.  Into the first batch. */
void pf_xs_map_describe(struct pf_xs_map *m);
/* Empty the batch. */
void pf_xs_map_begin(struct pf_xs_map *m);
/* All events of a plane, in batches; what is left is for the caller. */
void pf_xs_map_plane(struct pf_xs_map *m, const struct pf_xs_plane *plane);
