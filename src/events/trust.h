/* SPDX-License-Identifier: MIT */
/*
 * What an answer leaves out because the capture did not record it, or the
 * file lost it: one line under every analysis, and what the profiler must be
 * told to provide what is missing.  "profan doctor" looks closer.
 *
 * Cheap: ingest counted everything of whole traces; only a window in time or
 * a device makes it look at the rows of GPU work in it.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "events/hints.h"
#include "events/window.h"
#include "store/db.h"
#include "show/doc.h"

/* What an analysis builds on; the note speaks of these only. */
enum pf_trust_need {
	PF_TRUST_WORK = 1,    /* GPU work */
	PF_TRUST_LINKS = 2,   /* the launch call of GPU work */
	PF_TRUST_STACKS = 4,  /* Python functions */
	PF_TRUST_STEPS = 8,   /* steps, and there are none */
	PF_TRUST_SHAPES = 16, /* shapes of operators' inputs */
	PF_TRUST_TPUS = 32,   /* what TPUs do is GPU work, too */
};

/*
 * Says of tables in versions that are not known that they were not read; 0 or
 * -1.  pf_trust_note() does so, too.
 */
int pf_trust_versions(struct pf_db *db, const struct pf_window *window,
		      struct pf_doc *doc);

/*
 * Add notes to the document: one with all that is left out (GPU work that
 * starts in the window and has no launch call, events that were skipped, a
 * file that was cut off), then one for each need that no trace of the window
 * meets.  Nothing is added if nothing is missing.
 */
int pf_trust_note(struct pf_db *db, const struct pf_window *window,
		  unsigned needs, struct pf_doc *doc);

/* What the traces of a window lost between the program and the database. */
struct pf_trust_lost {
	int64_t cut_count;     /* traces that are cut off, damaged or capped */
	int64_t dropped_count; /* events, while they were captured */
	int64_t skipped_count; /* events that could not be read */
};
int pf_trust_lost(struct pf_db *db, const struct pf_window *window,
		  struct pf_trust_lost *out);

/*
 * What the traces of a window (NULL: all) recorded at all, anywhere in them:
 * what none of them recorded is not known, and never 0.
 */
struct pf_recorded {
	bool has_work;    /* GPU work */
	bool has_calls;   /* of the runtime or the driver */
	bool has_ops;     /* operators, annotations, Python */
	bool has_ranges;  /* of the host, of no category that is known */
	bool has_stacks;  /* Python */
	bool has_orphans; /* GPU work without a launch call, or not known */
	enum pf_producer producer;
	/*
	 * Ranges of the busiest thread of the host, and its time, of torch's
	 * traces in which it has so many that recording them slows it; else 0.
	 */
	int64_t dense_count, dense_ns;
};
int pf_trust_recorded(struct pf_db *db, const struct pf_window *window,
		      struct pf_recorded *out);
/*
 * "the profiler recorded a range of the host every 5 us, ...", of what the
 * host's time is about, where recording slows it; else nothing.
 */
void pf_recorded_say(const struct pf_recorded *r, struct pf_buf *out);

/* Does any operator name the shapes of its inputs? */
int pf_trust_has_shapes(struct pf_db *db, bool *yes);
