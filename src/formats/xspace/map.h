/* SPDX-License-Identifier: MIT */
/*
 * The events of an XSpace as events of the one model (formats/event.h), by what
 * formats/planes.h says of names: work on the track of its device and stream,
 * threads under the host's name, statistics as arguments.
 *
 *	XLine { 1 id  2 name  3 timestamp_ns  4 events*  11 display_name }
 *	XEvent { 1 metadata_id  2 offset_ps | 5 num_occurrences
 *		 3 duration_ps  4 stats* }
 */
#ifndef PF_FORMATS_XSPACE_MAP_H
#define PF_FORMATS_XSPACE_MAP_H

#include "formats/sink.h"
#include "formats/xspace/space.h"

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

#endif
