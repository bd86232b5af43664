/* SPDX-License-Identifier: MIT */
/*
 * Idle time stream by stream.  While one stream idles another may work, so
 * such times are never added up and are no saving.
 *
 * By HTA's rule (facebookresearch/HolisticTraceAnalysis, idle time breakdown):
 * time from the end of the event before on the stream to the start of the next
 * is host_wait if the next one's launch call began after that end, else
 * kernel_wait if it is shorter than 30 us, else other.  Events that overlap
 * count as negative time, and events without a launch call not at all in a
 * trace of several profiler steps, as they do there.
 */
#ifndef PF_ANALYSIS_GAP_STREAMS_H
#define PF_ANALYSIS_GAP_STREAMS_H

#include <stdbool.h>

#include "events/window.h"
#include "base/err.h"
#include "store/db.h"
#include "show/doc.h"

/* Add the table "streams", and with_hta the columns of HTA's rule to it. */
int pf_gap_streams(struct pf_db *db, const struct pf_window *window,
		   bool with_hta, struct pf_doc *doc, struct pf_err *err);

#endif
