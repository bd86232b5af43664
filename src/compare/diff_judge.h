/* SPDX-License-Identifier: MIT */
/*
 * Is the change of a time per step more than noise?
 *
 * Steps of one capture are not independent samples of a program: captures of
 * one program differ, too, by as much as 15 % of a step.  So with one capture
 * a side nothing is ever called significant, and there are three grades:
 *
 *	steps overlap                 no clear change
 *	apart, but less than a floor  as captures of one program differ
 *	apart, and more               likely
 *
 * Apart are sides if the interval of the shift (diff_rank.h) leaves out 0,
 * or if no step of one reaches the other's and the space between them is more
 * than twice what steps of a side vary by: so few steps can be apart, too.
 * The floor is a part of the longer step, so that both directions agree.
 *
 * With several captures a side the values are the medians of captures.  If
 * there are enough for a test, it alone decides.
 */
#ifndef PF_ANALYSIS_DIFF_JUDGE_H
#define PF_ANALYSIS_DIFF_JUDGE_H

#include <stdbool.h>

#include "compare/diff_rank.h"
#include "compare/diff_side.h"

/* Of the longer step: what captures of one program may differ by. */
#define PF_CAPTURES_DIFFER 0.15

#define PF_TEST_MIN 4 /* captures a side that a test needs */

enum pf_grade {
	PF_GRADE_UNKNOWN,     /* a side has one step: its noise is not known */
	PF_GRADE_NONE,        /* sides overlap */
	PF_GRADE_AS_CAPTURES, /* apart, but captures differ by as much */
	PF_GRADE_LIKELY,      /* apart by more */
	PF_GRADE_TESTED,      /* significant over captures */
};

/* A time of a step: the value of a function, or a part of it by number. */
struct pf_step_figure {
	int64_t (*value)(const struct pf_capture_step *step, size_t n);
	size_t n;
};
int64_t pf_step_total(const struct pf_capture_step *step, size_t unused);
int64_t pf_step_busy(const struct pf_capture_step *step, size_t unused);
int64_t pf_step_idle(const struct pf_capture_step *step, size_t unused);
int64_t pf_step_class(const struct pf_capture_step *step, size_t n);
int64_t pf_step_counted(const struct pf_capture_step *step, size_t n);

struct pf_judged {
	int64_t a_ns, b_ns;      /* medians */
	size_t a_count, b_count; /* values: steps, or captures */
	struct pf_rank rank;     /* of them; zero if a side has none */
	bool is_tested;          /* over captures */
	bool is_above, is_below; /* no value of b, of a reaches the other's */
	bool is_wide;            /* and there is much between them */
	enum pf_grade grade;
};

/* What both sides' figures are judged by. */
struct pf_judge {
	const struct pf_side *a, *b;
	size_t warm_up;  /* leading steps of each trace that are left out */
	int64_t step_ns; /* the longer median step, which floors are of */
};

/*
 * Leading steps to leave out on both sides: as many as any trace has that are
 * warm-up (analysis/time/steps.h), but each trace keeps two steps.  None if the
 * window says which steps.
 */
size_t pf_judge_warm_up(const struct pf_window_args *window,
			const struct pf_side *a, const struct pf_side *b);

/* "; the first step of each is left out (warm-up)", or nothing. */
void pf_judge_say_warm_up(struct pf_buf *out, size_t steps);

/* The median of a figure in a capture without its warm-up; 0 for no step. */
int64_t pf_judge_median(const struct pf_capture *c, size_t warm_up,
			const struct pf_step_figure *figure);

/* step_ns 0: floors are of the figure itself. */
void pf_judge_figure(const struct pf_judge *by,
		     const struct pf_step_figure *figure,
		     struct pf_judged *out);

/* Is the shift at least what captures of one program may differ by? */
bool pf_judge_is_large(const struct pf_judge *by, const struct pf_judged *j);

/* Enough captures on both sides for a test over them? */
static inline bool pf_judge_can_test(const struct pf_side *a,
				     const struct pf_side *b)
{
	return a->capture_count >= PF_TEST_MIN &&
	       b->capture_count >= PF_TEST_MIN;
}

#endif
