/* SPDX-License-Identifier: MIT */
/*
 * Reading column blocks: one cursor walks one track in stored order.  Opaque;
 * memory is one decoded block, as large as the track needs, so that thousands
 * of small tracks can be open at once.  Pure reader: never writes.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "store/block.h"
#include "store/db.h"

struct pf_cursor;

/* One row of the table "track" (strings live as long as the list). */
struct pf_track {
	uint32_t id;
	int64_t trace_id;
	const char *pid, *tid;   /* as text, "" when absent */
	const char *class_name;  /* "host", "gpu", "counter", "async", "mark" */
	const char *thread_name; /* or NULL */
	int64_t event_count, first_ns, last_ns;
};

/* The id of the track that an event is on. */
static inline uint32_t pf_track_of(int64_t event_id)
{
	return (uint32_t)((uint64_t)event_id >> 32);
}

/* All tracks of a trace (0 = all traces) by id; caller frees the list. */
int pf_tracks_load(struct pf_db *db, int64_t trace_id, struct pf_track **out,
		   size_t *count, struct pf_err *err);
void pf_tracks_free(struct pf_track *tracks, size_t count);

/*
 * A cursor over one track that decodes "columns" (bits PF_COLBIT(...)).
 * Slot columns imply MASK.  A damaged database shows with the first block.
 */
struct pf_cursor *pf_cursor_new(struct pf_db *db, uint32_t track_id,
				uint64_t columns);
void pf_cursor_free(struct pf_cursor *c);
PF_FREED(pf_cursor_free, struct pf_cursor)

/* Skip blocks whose events all start before start_ns: exact to a block. */
void pf_cursor_seek(struct pf_cursor *c, int64_t start_ns);

/*
 * Only blocks with an event that overlaps [from, to): events that began long
 * before and are still open are found without reading what is between.
 */
void pf_cursor_overlap(struct pf_cursor *c, int64_t from_ns, int64_t to_ns);

/*
 * The track will be read to its end: if it is long, another thread decodes
 * blocks ahead of who reads them, where there is one.  No seek after that.
 */
void pf_cursor_ahead(struct pf_cursor *c);

/*
 * Decode the next block: 1 and *out borrowed until the next call, 0 at the
 * end, -1 on error.  *first_seq is the seq of its first event.
 */
int pf_cursor_block(struct pf_cursor *c, const struct pf_block **out,
		    uint32_t *first_seq, struct pf_err *err);

/* One event, for code that wants rows.  Slots absent from it are 0. */
struct pf_span {
	uint32_t seq;
	int64_t start_ns, dur_ns, order;
	uint32_t name, type, args, parent, mask;
	int64_t slot[PF_SLOT_COUNT]; /* only those asked for are set */
	const char *inline_name, *inline_args; /* when name/args is INLINE */
	uint32_t inline_name_len, inline_args_len;
};

/* The next event: 1, 0 at the end, -1 on error. Built on pf_cursor_block. */
int pf_cursor_next(struct pf_cursor *c, struct pf_span *out,
		   struct pf_err *err);

/*
 * Cursors over several tracks, read as one: in order of start, then of the
 * file.  A track that has been read to its end is closed.
 */
struct pf_cursors {
	struct pf_cursors_track **open; /* a heap, the earliest first */
	size_t count, cap;
	bool is_started; /* the first has been given out and must go on */
};

/* Add a track before the first _next(); "tag" comes with its events. */
int pf_cursors_add(struct pf_cursors *c, struct pf_db *db, uint32_t track_id,
		   uint64_t columns, size_t tag, struct pf_err *err);

/* The next event, valid until the next call: 1, 0 at the end, -1. */
int pf_cursors_next(struct pf_cursors *c, size_t *tag,
		    const struct pf_span **out, struct pf_err *err);

/* Also before the end; then it is as zero-initialised. */
void pf_cursors_release(struct pf_cursors *c);
