/* SPDX-License-Identifier: MIT */
/*
 * Captures one after the other, of a fleet or as they are given ("nights"), and since when they are
 * not what they were before: change points (compare/diff_judge.h) of the figures of
 * a step and of each kernel's time per call.
 *
 * Half of PF_CHANGE_RATE is shared by the figures of steps, half by the
 * kernels: of captures that only vary by chance, at most that part shows any
 * change at all.
 */
#ifndef PF_COMPARE_FLEET_TREND_H
#define PF_COMPARE_FLEET_TREND_H

#include "base/mem.h"
#include "compare/diff_judge.h"
#include "compare/fleet.h"
#include "compare/trend.h"
#include "store/db.h"
#include "show/doc.h"

/* A capture.  Means are of whole steps of all ranks; they may be unknown. */
struct pf_night {
	int64_t capture_id;
	const char *taken, *capture, *commit, *labels;
	int64_t rank_count, step_count;
	int64_t name_count; /* distinct kernels */
	/* By figure of pf_fleet_step_figures; in sum while they are read. */
	int64_t ns[PF_FLEET_FIGURES]; /* PF_NO_INT: no whole step */
	double count[PF_FLEET_FIGURES];
};

/* Series are of integers: a thousandth of a ns of a call, of a count. */
#define PF_NIGHT_FINE 1000

enum pf_fleet_what { PF_FLEET_CHANGED, PF_FLEET_NEW, PF_FLEET_GONE };

/*
 * Since a night, a figure or a kernel is another.  Before and after are
 * medians of nights and shift is that of Hodges and Lehmann, all fine; of a
 * kernel that is new or gone one of the first is PF_NO_INT, and nothing was
 * tested.
 */
struct pf_fleet_change {
	enum pf_fleet_what what;
	size_t night;
	size_t figure;      /* of pf_fleet_step_figures, if kernel is NULL */
	const char *kernel; /* as the trace has it */
	int64_t before, after, shift, low, high;
	double p;
	int64_t before_count, after_count; /* nights */
	int64_t weight; /* of kernels: time that it comes to, fine */
};

struct pf_fleet_trend {
	struct pf_night *nights; /* in order of time */
	size_t count, without_steps;
	struct pf_fleet_change *changes; /* of the last night first */
	size_t change_count, change_cap;
	int64_t kernel_count; /* whose times were looked at */
	size_t least;         /* nights that a change of a step takes */
	size_t least_kernels; /* and one of a kernel */
	struct pf_arena texts;
};

int pf_fleet_trend_find(struct pf_db *db, struct pf_fleet_trend *t);
/*
 * The same of captures that are in no fleet, in the order given, by the means
 * of their full steps as "trend" has them, and the kernels in these.
 */
void pf_fleet_trend_of(const struct pf_trend *trend,
		       const struct pf_capture *const *captures,
		       struct pf_fleet_trend *t);
void pf_fleet_trend_release(struct pf_fleet_trend *t);

/* limit: of nights for people, the last ones; -1: all. */
void pf_fleet_trend_show(const struct pf_fleet_trend *t, int64_t limit,
			 struct pf_doc *doc);

/*
 * Only the table of what changed, if captures are enough to tell; at most so
 * many rows, -1: all.
 */
void pf_fleet_changes_show(const struct pf_fleet_trend *t, int64_t limit,
			   struct pf_doc *doc);
/* "2026-10-11 (night 40): step +2 % ..."; nothing if nothing changed. */
void pf_fleet_changes_say(const struct pf_fleet_trend *t, struct pf_buf *out);

/* PF_EUSAGE if the expression is no check of a figure. */
int pf_fleet_gate_parse(const char *expression, struct pf_err *err);
/* The last change of the figure, if it has any. */
int pf_fleet_gate(const char *expression, const struct pf_fleet_trend *t,
		  struct pf_doc *doc, bool *is_failed, struct pf_err *err);

#endif
