/* SPDX-License-Identifier: MIT */
/*
 * Two memory snapshots of one program: what is allocated in the second and not
 * in the first, by GPU and by line of the program (analysis/memory/snap_state.h), as
 * torch's _memory_viz.compare() by stack.  Bytes are what was asked for, of
 * blocks that are in use, so the lines of a GPU add up to its change.  The same
 * of what was alive at the peak of each, where both have a history.
 */
#pragma once

#include "events/window.h"
#include "show/doc.h"
#include "store/db.h"

int pf_snap_diff(struct pf_db *a, struct pf_db *b,
		 const struct pf_window_args *window, struct pf_doc *doc);

/*
 * Memory snapshots in a row, as dumps of one process: what was allocated,
 * reserved and free between blocks in each, and how much more that is than in
 * the one before.
 */

/*
 * Databases of snapshots alone, by path and as they are called, in the order
 * given; of one with several each, in the order of its traces.
 */
int pf_snap_trend(const char *const *paths, char *const *names, size_t count,
		  const struct pf_window_args *window, struct pf_doc *doc,
		  struct pf_err *err);
