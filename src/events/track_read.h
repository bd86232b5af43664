/* SPDX-License-Identifier: MIT */
/*
 * The events of a thread, one after the other in the order of tracks: by
 * start, and of one start the longest first.  Who follows what is open on the
 * thread (events/nest.h), and what its events launched (events/by_event.h),
 * reads it so.
 */
#ifndef PF_EVENTS_TRACK_READ_H
#define PF_EVENTS_TRACK_READ_H

#include "base/err.h"
#include "events/window.h"
#include "store/block.h"
#include "store/cursor.h"
#include "store/db.h"

struct pf_track_reader {
	/* Event "i" of the block, which has START, DUR, NAME and TYPE; or -1. */
	int (*event)(void *context, const struct pf_block *b, uint32_t i,
		     int64_t event_id, struct pf_err *err);
	/* Asked before each block: is there more to do?  NULL: there is. */
	bool (*wants_more)(void *context, const struct pf_track *t,
			   struct pf_err *err);
	const struct pf_window_trace *within; /* what overlaps it; NULL: all */
	uint64_t columns;                     /* more of them: PF_COLBIT(...) */
};

int pf_track_read(struct pf_db *db, const struct pf_track *t,
		  const struct pf_track_reader *reader, void *context,
		  struct pf_err *err);

/* ---- ranges of no thread ---- */

/*
 * Ranges that are no thread's: start/end ranges of NVTX and roctx, and paired
 * asynchronous events of Chrome traces (schema/load/async_ranges.sql says how).
 * They may begin on one thread and end on another, overlap and cross: none is
 * inside of another, and none has a time of its own.
 */
struct pf_async_range {
	uint32_t track_id; /* of its lane, no thread's */
	const char *name;  /* until the next one */
	int64_t start_ns, dur_ns;
};

struct pf_async {
	struct pf_db db;
	sqlite3_stmt *st;
	int64_t half_count; /* begins and ends without the other, so far */
};

/* Those of a trace, by lane and start.  Close it after an error, too. */
int pf_async_open(struct pf_async *a, struct pf_db *db, int64_t trace_id,
		  struct pf_err *err);
/* 1, 0 at the end, -1 on an error. */
int pf_async_next(struct pf_async *a, struct pf_async_range *out,
		  struct pf_err *err);
void pf_async_close(struct pf_async *a);

#endif
