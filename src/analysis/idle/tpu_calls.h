/* SPDX-License-Identifier: MIT */
/*
 * Which event of the host brought a program to a TPU.  The profiler of XLA
 * gives both one number, with a type: "_p" and "_pt" where it is given away,
 * "_c" and "_ct" of the program on the device's line.  What has neither, or a
 * number that nobody gave away, or that two did, has no call.
 */
#ifndef PF_ANALYSIS_IDLE_TPU_CALLS_H
#define PF_ANALYSIS_IDLE_TPU_CALLS_H

#include "base/err.h"
#include "base/intern.h"
#include "store/cursor.h"
#include "store/db.h"
#include "store/texts.h"

/* Columns that an event of the device's line is read with. */
#define PF_TPU_CALL_COLUMNS                                                    \
	(PF_COLBIT(PF_COL_ARGS) | PF_COLBIT(PF_COL_MASK) |                     \
	 PF_COLBIT(PF_COL_INLINE) |                                            \
	 ((UINT64_C(1) << PF_SLOT_GENERIC_COUNT) - 1)                          \
		 << (PF_COL_SLOT + PF_SLOT_GENERIC))

struct pf_tpu_calls {
	struct pf_map of; /* number and type -> id of the host's event */
	struct pf_texts texts;
};

/* Read what the host gave away, of the tracks of a trace. */
int pf_tpu_calls_load(struct pf_tpu_calls *c, struct pf_db *db,
		      const struct pf_track *tracks, size_t count,
		      struct pf_err *err);
/* Also of a struct that is all zero. */
void pf_tpu_calls_release(struct pf_tpu_calls *c);

/* The host's event of a program, or 0. */
int pf_tpu_calls_find(struct pf_tpu_calls *c, const struct pf_span *program,
		      int64_t *event_id, struct pf_err *err);

#endif
