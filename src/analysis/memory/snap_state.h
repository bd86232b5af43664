/* SPDX-License-Identifier: MIT */
/*
 * What a memory snapshot says of the allocator at the time it was taken, and
 * how its history agrees with that.  Allocated is what was asked for; reserved
 * are the segments.  Free memory is in wholly free segments, which
 * empty_cache() gives back, or in blocks between others.
 */
#pragma once

#include "base/buf.h"
#include "base/intern.h"
#include "base/mem.h"
#include "events/window.h"
#include "show/doc.h"
#include "store/db.h"
#include "store/texts.h"

/*
 * Call stacks of memory snapshots (tables stack and stack_frame) in words.  The line
 * of a stack is the innermost one of the user's own Python: a .py file outside
 * torch; where there is none, the innermost of torch's, the node of the backward
 * pass or the operator of C++, or the innermost that is not the allocator's.
 */

/* A zero-initialised struct but for db is ready. */
struct pf_stack_lines {
	struct pf_db *db;
	struct pf_texts texts;
	struct pf_arena arena;
	struct pf_map known; /* stack.id -> text */
	sqlite3_stmt *frames;
};

/* "train.py:12:step" by its whole path; NULL on an error. */
const char *pf_stack_line(struct pf_stack_lines *l, int64_t stack);
void pf_stack_lines_release(struct pf_stack_lines *l);

/*
 * All lines of one stack, the innermost first, and what it holds when the
 * snapshot was taken, into a document.  PF_EUSAGE: there is no such stack.
 */
int pf_stack_show(struct pf_db *db, int64_t stack, struct pf_doc *doc);

struct pf_snap_now {
	int64_t trace_id, device;
	int64_t segment_count, reserved;
	int64_t large_count, small_count, expandable_count;
	int64_t allocated, active, rounding;
	int64_t free_count, free, whole_count, whole;
	int64_t split_count, split, split_largest, largest;
	double free_share, external_share, viz_share;
	const char *name; /* "GPU 0"; of several traces "rank 1 GPU 0" */
};

struct pf_snap_past {
	int64_t trace_id, device, entry_count;
	int64_t before, before_count, early_count, end, in_use;
	int64_t odd_count, late_count, fits_reserved;
	int64_t is_untimed; /* entries have no times, only an order */
};

/* A zero-initialised struct is an empty result. */
struct pf_snap_state {
	struct pf_snap_now *now; /* by trace and device */
	size_t now_count;
	struct pf_snap_past *past;
	size_t past_count;
	int64_t lost_segments, lost_entries; /* could not be read */
	struct pf_arena texts;
};

/* Of the window's traces and device.  Nothing of a database without any. */
int pf_snap_state_find(struct pf_db *db, const struct pf_window *window,
		       struct pf_snap_state *out);
void pf_snap_state_release(struct pf_snap_state *s);

/* Is there any snapshot?  It has a row of now or of past, or all is lost. */
static inline bool pf_snap_state_is(const struct pf_snap_state *s)
{
	return s->now_count || s->past_count || s->lost_segments;
}

/* Is there a history?  torch writes one entry even if none were asked for. */
static inline bool pf_snap_has_history(const struct pf_snap_state *s)
{
	for (size_t i = 0; i < s->past_count; i++)
		if (s->past[i].entry_count > 1)
			return true;
	return false;
}

/* The row of the GPU with the most reserved, or NULL. */
const struct pf_snap_now *pf_snap_fullest(const struct pf_snap_state *s);

/* The row of a device, or NULL. */
const struct pf_snap_now *pf_snap_now_of(const struct pf_snap_state *s,
					 int64_t trace_id, int64_t device);

/* Of a snapshot or several: why figures of segments are too low, or none. */
#define PF_SNAP_ALL_LOST                                                       \
	"No segment could be read: what was reserved is not known"
void pf_snap_note_lost(int64_t segment_count, struct pf_doc *doc);

void pf_snap_state_show(const struct pf_snap_state *s, struct pf_doc *doc);
