/* SPDX-License-Identifier: MIT */
/*
 * Memory snapshots in a row, as dumps of one process: what was allocated,
 * reserved and free between blocks in each, and how much more that is than in
 * the one before.
 */
#ifndef PF_COMPARE_SNAP_TREND_H
#define PF_COMPARE_SNAP_TREND_H

#include "events/window.h"
#include "show/doc.h"

/*
 * Databases of snapshots alone, by path and as they are called, in the order
 * given; of one with several each, in the order of its traces.
 */
int pf_snap_trend(const char *const *paths, char *const *names, size_t count,
		  const struct pf_window_args *window, struct pf_doc *doc,
		  struct pf_err *err);

#endif
