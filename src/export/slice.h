/* SPDX-License-Identifier: MIT */
/*
 * Part of a trace as a Chrome trace of its own, for Perfetto and its like.
 *
 * It has every event that overlaps the window: ranges are cut to it (the whole
 * span is an argument then) or kept whole; other events are those that begin
 * in it.  Arrows (flows) are those whose beginning and end are in it.  Names,
 * arguments, ids, threads and what the trace says about itself are kept.
 *
 * Viewers drop a range that overlaps another of its thread without nesting,
 * so such a range goes to a thread "TID overlap N", and its arrows with it.
 * Times are written from the trace's first event on, so that readers that
 * hold microseconds in a double get every ns; one that they would cut to the
 * ns before has 1 ps more ("0.289001"), which profan reads without rounding.
 *
 * The critical path is that of the window that was asked for, without gap and
 * margin: a process "critical path", of events that the trace does not have.
 *
 * Memory does not grow with the trace, but with ranges that were moved, and
 * threads, and with the path where that is asked for.  Only blocks that overlap the window are read.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "events/window.h"
#include "store/db.h"

struct pf_slice_args {
	struct pf_window_args window; /* must leave one trace */
	int64_t gap;                  /* the n-th longest gap, from 1; or 0 */
	int64_t margin_ns;            /* around the window; -1: by itself */
	bool whole;                   /* do not cut ranges */
	bool path;                    /* the critical path as a track, too */
	bool force;                   /* replace what is there */
	const char *out;              /* FILE, FILE.gz or "-" */
};

struct pf_slice_result {
	int64_t event_count;    /* written, without metadata */
	int64_t cut_count;      /* of them, cut to the window */
	int64_t moved_count;    /* of them, put on a thread of their own */
	int64_t arrow_count;    /* flow events without a partner: left out */
	int64_t tile_count;     /* pieces of the critical path, beside events */
	int64_t from_ns, to_ns; /* after the trace's first event */
	bool is_untimed;        /* these are numbers of entries */
};

int pf_slice(struct pf_db *db, const struct pf_slice_args *args, FILE *out,
	     struct pf_slice_result *result);
