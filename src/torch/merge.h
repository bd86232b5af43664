/* SPDX-License-Identifier: MIT */
/*
 * All events of several tracks in the order torch gives its function events:
 * start, then longest first, then CPU events by "Ev Idx" before the others in
 * file order.  Memory is one decoded block per track.
 */
#ifndef PF_ANALYSIS_MERGE_H
#define PF_ANALYSIS_MERGE_H

#include <stdbool.h>
#include <stdint.h>

#include "torch/facts.h"
#include "base/err.h"
#include "store/cursor.h"

/* One event as the analyses need it. */
struct pf_fe {
	int64_t start_ns, end_ns;
	int64_t position; /* Ev Idx or file order, by is_late */
	int64_t external_id, correlation, bytes; /* 0 when absent */
	int64_t sequence, forward_thread;        /* likewise */
	int64_t python_id, python_parent;
	struct pf_text_ref name, args;
	uint32_t mask;
	uint32_t track; /* index in the array given */
	uint8_t kind;
	bool is_late; /* torch learns of it after the CPU events */
};

struct pf_merge;

struct pf_merge_args {
	const struct pf_track *tracks;
	size_t count;
	uint32_t kinds; /* bit per enum pf_kind: others are skipped */
	/*
	 * Beside start, dur, type and order.  Without the slot Ev Idx, CPU
	 * events that tie are in file order; names without ARGS come without
	 * the texts of inline ones (as if they were empty).
	 */
	uint64_t columns;
	int64_t first_ns; /* events before may be skipped; INT64_MIN: none */
	const bool *use;  /* per track; NULL: all */
};

/* NULL on error. */
struct pf_merge *pf_merge_new(struct pf_db *db, struct pf_facts *facts,
			      const struct pf_merge_args *args,
			      struct pf_err *err);
void pf_merge_free(struct pf_merge *m);

/* The next event, borrowed until the next call; NULL at the end or on an
 * error (err->code set). */
const struct pf_fe *pf_merge_next(struct pf_merge *m, struct pf_err *err);

#endif
