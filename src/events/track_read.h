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

#endif
