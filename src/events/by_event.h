/* SPDX-License-Identifier: MIT */
/*
 * Host events (launch calls, operators) and what belongs to them: GPU work
 * comes in order of time, the events that caused it lie on many threads.  So
 * records that begin with the id of an event are sorted by it (beyond a
 * budget on disk) and met with the events in one walk over their blocks.
 */
#ifndef PF_EVENTS_BY_EVENT_H
#define PF_EVENTS_BY_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "events/window.h"
#include "store/block.h"
#include "store/db.h"

struct pf_by_event;

/*
 * A record begins with two int64_t: the id of an event, 0 for none, and what
 * orders the records of one; equal ones stay in order.  Columns of the events
 * that are wanted: PF_COLBIT(...) of store/block.h, no slots; 0: none.
 */
struct pf_by_event *pf_by_event_new(struct pf_db *db, size_t record_bytes,
				    uint64_t columns);
void pf_by_event_free(struct pf_by_event *e);
int pf_by_event_add(struct pf_by_event *e, const void *record,
		    struct pf_err *err);

/*
 * The next record, valid until the next call, with its event in *block
 * (borrowed as long) at *place; *block is NULL if there is no such event or
 * no column is wanted.  NULL: the end, or err says what failed.
 */
const void *pf_by_event_next(struct pf_by_event *e,
			     const struct pf_block **block, uint32_t *place,
			     struct pf_err *err);

/* What the next call of _next() will return, without its event. */
const void *pf_by_event_peek(struct pf_by_event *e, struct pf_err *err);

/* Is the event of the next record one of this track?  False also on an error. */
bool pf_by_event_is_on(struct pf_by_event *e, uint32_t track_id,
		       struct pf_err *err);

/* GPU work by its launch call, in order of time; what has none comes first. */
struct pf_event_work {
	int64_t launch_id, start_ns;
	int64_t event_id, trace_id, end_ns, dur_ns; /* in the window */
	uint32_t name, zero;
};

/* All GPU work of a window as such records; NULL on an error. */
struct pf_by_event *pf_by_event_work(struct pf_db *db,
				     const struct pf_window *window,
				     uint64_t columns, struct pf_err *err);

/* ---- do calls that launch GPU work return only when it is done? ---- */

struct pf_held {
	int64_t call_count, call_ns; /* that launched work of the window */
	int64_t work_ns;             /* their work, summed up */
	int64_t inside_ns; /* of it while the call that launched it ran */
};

/* Work, and the call that launched it. */
void pf_held_add(struct pf_held *h, int64_t start_ns, int64_t end_ns,
		 int64_t call_start_ns, int64_t call_end_ns);
/* They do.  Ask it only where no call waits by its name. */
bool pf_held_is(const struct pf_held *h);

#endif
