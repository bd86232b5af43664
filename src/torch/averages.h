/* SPDX-License-Identifier: MIT */
/*
 * torch's key_averages() from a database: what the profiler would have
 * returned in the process that wrote the trace.  A pure function of the
 * database; memory does not grow with the trace, only with the number of
 * groups and open spans.
 *
 * Figures come twice: as exact integers (ns), and as doubles (us) in torch's
 * arithmetic and order of summing, which decides how rows with equal times
 * are sorted.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "torch/groups.h"
#include "torch/rules.h"
#include "base/err.h"
#include "events/traces.h"
#include "store/db.h"
#include "ingest/ingest.h"

struct pf_averages_args {
	int64_t trace_id;
	const struct pf_rule_facts *facts; /* NULL: as they are read now */
	int torch, python;                 /* 0: recognise */
	bool with_flops; /* although the trace does not say so */
	int64_t step;    /* only events that begin in this step; -1: all */
	/* only those that begin in this part of the trace, too; NULL: all */
	const struct pf_window_trace *part;
	size_t groups_max; /* more groups are PF_ELIMIT; 0: no limit */
	/*
	 * One or two groupings, answered in list[0] and list[1]; of two the
	 * first is none, the second by shape alone.
	 */
	struct pf_grouping {
		bool by_shape, by_overload;
		unsigned stack; /* entries, 0: not by stack */
	} grouping[2];
	size_t grouping_count;
};

struct pf_average {
	const char *name, *shapes; /* shapes "" when not grouped by shape */
	const char *stack;         /* entries joined by newlines */
	const char *overload;      /* "" when not grouped by overload */
	bool is_device, is_annotation, is_async, has_parent;
	uint64_t count;
	struct pf_figures sum;
};

/* What the figures leave out or rest on, for one line to the user. */
struct pf_averages_trust {
	int64_t device_ns, unlinked_ns; /* GPU work; of it, without an op */
	uint64_t unlinked_count, too_deep;
	uint64_t flops_unknown_count; /* calls with a formula */
	int64_t skipped, repaired;    /* events, by ingest */
};

struct pf_averages {
	struct pf_rules rules;
	bool has_memory, has_flops; /* the profiler's options */
	bool is_left_out;           /* not to be stored: see averages.c */
	struct pf_averages_trust trust;
	struct pf_average_list {
		struct pf_average *rows;
		size_t count;
	} list[2];
	char *text; /* the strings of the rows */
};

int pf_averages(struct pf_db *db, const struct pf_averages_args *args,
		struct pf_averages *out, struct pf_err *err);
void pf_averages_release(struct pf_averages *a);

/*
 * What ingest does besides: work out the groupings "none" (list[0]) and "by
 * input shape" (list[1]) of a trace, reading only, beside other work; and
 * insert them into the table "average", in the transaction that is open.
 */
extern const struct pf_ingest_extra pf_averages_extra;

/*
 * Read them back into list[0].  1: done; 0: the table has nothing for this
 * trace (or other rules were asked for), use pf_averages(); -1: error.
 */
int pf_averages_load(struct pf_db *db, const struct pf_averages_args *args,
		     struct pf_averages *out, struct pf_err *err);

/* One or the other; after an error there is nothing to release. */
static inline int pf_averages_get(struct pf_db *db,
				  const struct pf_averages_args *args,
				  struct pf_averages *out, struct pf_err *err)
{
	int rc = pf_averages_load(db, args, out, err);

	return rc ? -(rc < 0) : pf_averages(db, args, out, err);
}
