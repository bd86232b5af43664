/* SPDX-License-Identifier: MIT */
/*
 * How long calls that launch kernels usually take.  The first launch of a
 * kernel may load its code, which takes milliseconds to seconds; told by that
 * from launching, which takes microseconds (but more on slow hosts, and where
 * a profiler is slow).
 */
#ifndef PF_ANALYSIS_LAUNCH_USUAL_H
#define PF_ANALYSIS_LAUNCH_USUAL_H

#include "events/names.h"
#include "base/err.h"
#include "store/cursor.h"

/*
 * The median of a trace's launch calls (without those of graphs), exact to an
 * eighth; 0 if there are none.  -1: error.
 */
int64_t pf_launch_usual(struct pf_db *db, struct pf_names *names,
			const struct pf_track *tracks, size_t track_count,
			struct pf_err *err);

#endif
