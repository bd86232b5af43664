/* SPDX-License-Identifier: MIT */
/*
 * What a difference is worth: means that add up, ranks of values, change
 * points of a series, what is more than noise, and checks of a difference.
 */
#ifndef PF_COMPARE_DIFF_JUDGE_H
#define PF_COMPARE_DIFF_JUDGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "compare/diff_match.h"
#include "show/doc.h"

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
 * Apart are sides if the interval of the shift (above) leaves out 0,
 * or if no step of one reaches the other's and the space between them is more
 * than twice what steps of a side vary by: so few steps can be apart, too.
 * The floor is a part of the longer step, so that both directions agree.
 *
 * Captures of a busy machine differ by far more, and by the same factor in all
 * that they do.  So what both sides do alike says what the machines explain,
 * and only what is beyond is held against the floor, for the median and for the
 * mean.  Such a factor is known to a fourth of itself.
 *
 * With several captures a side the values are the medians of captures.  If
 * there are enough for a test, it alone decides.
 */

/*
 * Means of sums over steps, in whole units, without losing any: exact
 * integers throughout.
 */

/* sum / steps, rounded half up; 0 for no steps. */
int64_t pf_mean(int64_t sum, int64_t steps);

/*
 * The means of the parts of a whole: out[i] is sums[i] / steps rounded down
 * or up, so that they add up to pf_mean() of the sum of all.  The parts with
 * the largest remainders are rounded up, the first of equal ones.
 */
void pf_mean_parts(const int64_t *sums, size_t count, int64_t steps,
		   int64_t *out);

/*
 * (n_B - n_A) * m_A in ns, rounded half away from zero: the part of a
 * difference that is "more of it".  Counts and times are sums over steps.
 */
int64_t pf_mean_more(int64_t a_count, int64_t a_ns, int64_t a_steps,
		     int64_t b_count, int64_t b_steps);

/* -1, 0, 1: how b / b_steps compares to a / a_steps. */
int pf_mean_compare(int64_t a, int64_t a_steps, int64_t b, int64_t b_steps);

/*
 * Are the values of one side larger than those of the other?  Rank statistics
 * of a few values per side; nothing is assumed of how they are distributed.
 *
 * The shift is that of Hodges and Lehmann, the median of all differences
 * b - a; its interval goes from the k-th smallest to the k-th largest of them,
 * with k from the distribution of Mann and Whitney's U (Moses; Hollander,
 * Wolfe: Nonparametric Statistical Methods, 1999, sections 4.2 and 4.3).
 */

/*
 * Up to so many values per side U's distribution is exact, and where one side
 * has few up to so many pairs; beyond it is taken as normal.
 */
#define PF_RANK_MAX   24
#define PF_RANK_FEW   8
#define PF_RANK_PAIRS 4096

#define PF_RANK_SIGNIFICANT 0.05

struct pf_rank {
	double p;                      /* two-sided, Mann-Whitney */
	int64_t shift;                 /* Hodges-Lehmann: median of b - a */
	int64_t shift_low, shift_high; /* its interval */
	double confidence;             /* of the interval: 0.95 and more, or
					  what the numbers of values allow */
};

/* At least one value on both sides, in any order; each less than 2^62. */
void pf_rank_compare(const int64_t *a, size_t a_count, const int64_t *b,
		     size_t b_count, struct pf_rank *out);

/* The least p that so many values can have: when no value of a is above b. */
double pf_rank_least_p(size_t a_count, size_t b_count);

/*
 * Since when is a figure another?  Change points of a series, a value a
 * capture in order of time: the place whose two sides differ the most by Mann
 * and Whitney's test (above), then the same in each part.
 *
 * A rank test, so neither one bad night nor how values are distributed
 * matters.  A place is a change if its p, times the places there were to
 * choose from, is at most "rate": that is the chance, at most, that a series
 * whose values vary independently about one level is said to have changed.
 * Whoever looks at many series divides the rate by their number.
 */

/* Of all that is looked at together. */
#define PF_CHANGE_RATE 0.01

struct pf_change {
	size_t from, at, to;   /* values [from, at) against [at, to) */
	int64_t before, after; /* their medians */
	struct pf_rank rank;   /* and how they differ */
};

/* In order; the sides of a change end where the next changes are. */
struct pf_changes {
	struct pf_change *items;
	size_t count;
};

/* Each value less than 2^62. */
void pf_changes_find(const int64_t *values, size_t count, double rate,
		     struct pf_changes *out);
void pf_changes_release(struct pf_changes *c);

/* So many values it takes before any change can be told from chance. */
size_t pf_changes_least(double rate);

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

struct pf_judged {
	int64_t a_ns, b_ns; /* medians */
	double a_mean_ns, b_mean_ns;
	size_t a_count, b_count; /* values: steps, or captures */
	struct pf_rank rank;     /* of them; zero if a side has none */
	bool is_tested;          /* over captures */
	bool is_above, is_below; /* no value of b, of a reaches the other's */
	bool is_wide;            /* and there is much between them */
	bool is_alike;           /* likely, but for what both do alike */
	enum pf_grade grade;
};

/*
 * How much longer what both sides do alike takes in B: at least "low", which is
 * at most 0, and at most "high".  Zero: not known.
 */
struct pf_alike {
	double low, high;
};

/* What both sides' figures are judged by. */
struct pf_judge {
	const struct pf_capture *a, *b;
	size_t warm_up;  /* leading steps of each trace that are left out */
	int64_t step_ns; /* the longer median step, which floors are of */
	struct pf_alike alike;
};

/*
 * Leading steps to leave out on both sides: as many as any trace has that are
 * warm-up (analysis/time/steps.h), but each trace keeps two steps.  None if the
 * window says which steps.
 */
size_t pf_judge_warm_up(const struct pf_window_args *window,
			const struct pf_capture *a, const struct pf_capture *b);

/* "; the first step of each is left out (warm-up)", or nothing. */
void pf_judge_say_warm_up(struct pf_buf *out, size_t steps);

/* The median of a figure in a capture without its warm-up; 0 for no step. */
int64_t pf_judge_median(const struct pf_capture *c, size_t warm_up,
			enum pf_step_figure figure);

/* step_ns 0: floors are of the figure itself. */
void pf_judge_figure(const struct pf_judge *by, enum pf_step_figure figure,
		     struct pf_judged *out);

/*
 * Is the shift, beyond what both sides do alike explains of it, at least what
 * captures of one program may differ by?
 */
bool pf_judge_is_large(const struct pf_judge *by, const struct pf_judged *j);

/* Enough captures on both sides for a test over them? */
static inline bool pf_judge_can_test(const struct pf_capture *a,
				     const struct pf_capture *b)
{
	return a->capture_count >= PF_TEST_MIN &&
	       b->capture_count >= PF_TEST_MIN;
}

/*
 * Checks of a difference for use in CI: "step_time>5%", "syncs>0",
 * "kernels>+3", "peak_memory>2%", "copy>100us".  What is compared is the
 * change per step from A to B, in the figure's own unit or, with "%", of A's
 * figure; of counts and sizes exactly, nothing is rounded.
 */

/* A figure of both sides: sums, and the numbers of steps to divide by. */
struct pf_gate_figure {
	const char *key;
	enum pf_col_kind kind; /* PF_NS, PF_COUNT, PF_BYTES */
	int64_t a, b;
	int64_t a_steps, b_steps; /* 0: not known */
	enum pf_step_figure of;
};

/* How times are judged. */
struct pf_gate_times {
	const struct pf_judge *judge;
	const struct pf_judged *total; /* of steps */
};

struct pf_gate_sides {
	const struct pf_capture *a, *b;
	const struct pf_gate_times *times; /* NULL: not comparable */
	bool is_cut;                       /* nothing is */
};

/* A check that was read: what it is of, and the limit. */
struct pf_gate {
	char name[32];
	bool is_less, or_equal, is_percent;
	int64_t limit; /* in units of 1 / scale */
	int64_t scale;
};

/* Figures that a check may be of, in order. */
struct pf_gate_figures {
	/* false past the last */
	bool (*at)(const void *of, size_t n, struct pf_gate_figure *out);
	const void *of;
};

/*
 * Read a check of one of these figures; PF_EUSAGE if it is none.  "figure" is
 * what "at" says of it.
 */
int pf_gate_read(const char *expression, const struct pf_gate_figures *figures,
		 struct pf_gate *gate, struct pf_gate_figure *figure,
		 struct pf_err *err);

/* Is the change from a to b beyond the limit? */
bool pf_gate_holds(const struct pf_gate *gate, const struct pf_gate_figure *f);

/* "step_time was 4 ms and is 5 ms per step (+25 %)" */
void pf_gate_say_change(struct pf_buf *out, const struct pf_gate_figure *f);

/* PF_EUSAGE if the expression is none. */
int pf_gate_parse(const char *expression, struct pf_err *err);

/*
 * Does the check hold?  Then *is_failed is set and the document says by how
 * much.  A time is its median and shift, and fails only if its change is at
 * least likely; else a note says that it is not.  Times that cannot be
 * compared fail, and all figures of which one is not known of a side.
 */
int pf_gate_check(const char *expression, const struct pf_gate_sides *sides,
		  struct pf_doc *doc, bool *is_failed, struct pf_err *err);

#endif
