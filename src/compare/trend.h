/* SPDX-License-Identifier: MIT */
/*
 * The same figures of several captures, one row each, in the order given:
 * how a program changes over commits, releases or configurations.
 *
 * What is said of steps is their median and shift, found as "diff" finds them
 * (compare/diff_judge.h): of leading warm-up steps as many as any capture has are
 * left out of all.  Sums and the parts of a step are means over full steps, as
 * compare/diff_capture.h has them.
 */
#ifndef PF_ANALYSIS_TREND_H
#define PF_ANALYSIS_TREND_H

#include <stdbool.h>

#include "compare/diff_capture.h"
#include "show/doc.h"

struct pf_trend_args {
	struct pf_window_args window;
	const char *samples_per_step; /* "64", or one each: "32,64"; or NULL */
	bool wide;                    /* for csv and json: no lines of bars */
};

struct pf_trend_row {
	const char *path, *device; /* of the capture */
	int64_t steps, device_count;
	int64_t median_ns; /* of steps that are no warm-up */
	int64_t step_ns;   /* the mean; classes add up to it */
	int64_t busy_ns;   /* of it */
	int64_t idle_ns;   /* the rest */
	int64_t p50_ns, min_ns, max_ns, step_sum_ns; /* of all full steps */
	int64_t peak_bytes, reserved_bytes;          /* -1: unknown */
	double busy_share;                           /* not a number: unknown */
	double between_share; /* of that window, the time between steps */
	double steps_per_second, samples_per_second; /* likewise */
	int64_t class_ns[PF_STEP_CLASSES], cause_ns[PF_CAUSE_COUNT]; /* means */
	double count[PF_COUNT_COUNTS];
	double copies; /* of all ways */
};

/* Zero-initialised it is empty; it owns rows, their texts are the captures'. */
struct pf_trend {
	struct pf_trend_row *rows; /* in the order given */
	size_t count;
	size_t with_steps; /* a capture without is one of its own */
	size_t least;      /* the row with the shortest median step */
	size_t warm_up;    /* leading steps of each that are not judged */
	int64_t shift_ns;  /* from the first to the last */
	bool has_samples, has_other_device;
	bool has_pauses; /* some row's steps do not follow each other */
};

/*
 * Captures loaded with PF_CAPTURE_ALL, each with a full step.  PF_EUSAGE for
 * numbers of samples that make no sense.
 */
int pf_trend_find(const struct pf_capture *const *captures, size_t count,
		  const struct pf_trend_args *args, struct pf_trend *out,
		  struct pf_err *err);
void pf_trend_release(struct pf_trend *trend);
/*
 * Wide: no lines of bars.  "since" is what changed and when, for the finding;
 * "" or NULL: nothing is said.
 */
void pf_trend_show(const struct pf_trend *trend, const char *since, bool wide,
		   struct pf_doc *doc);

#endif
