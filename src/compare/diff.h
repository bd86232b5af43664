/* SPDX-License-Identifier: MIT */
/*
 * Before and after: is it comparable, how much, why, and what changed in
 * structure.
 *
 * Figures are means over the full steps of each side.  They are kept as sums
 * of ns and numbers of steps; where a mean is printed in whole ns, the means
 * of the parts of a whole are rounded so that they add up to the mean of the
 * whole (largest remainders).  So in every table "a_ns" adds up to A,
 * "b_ns" to B and "delta_ns" = b_ns - a_ns to the difference, exactly.
 *
 * Of a pair of rows the difference is split into "more of it",
 * (n_B - n_A) * m_A, and "slower each", n_B * (m_B - m_A), with n the number
 * per step and m the mean duration; a row without a partner is all "more".
 */
#pragma once

#include "base/mem.h"
#include "base/opt.h"
#include "compare/diff_capture.h"
#include "show/doc.h"

struct pf_diff_args {
	struct pf_window_args window; /* for both sides */
	int by;                       /* enum pf_diff_by, or -1: all */
	int64_t min_delta_ns;         /* smaller rows are one */
	bool force;                   /* judge times that are not comparable */
	bool path;                    /* captures were loaded with it */
	bool advice;                  /* and with it, one a side */
	bool wide;                    /* also what did not change */
	struct pf_opt_list fail_on;
	const char *columns; /* of key_averages(), with a comma, or NULL */
	/* the same, as pf_diff_columns() reads them */
	int column[PF_AVERAGE_VALUES];
	size_t column_count;
};

#define PF_DIFF_DEFAULTS                                                       \
	{                                                                      \
		.window = PF_WINDOW_DEFAULTS, .by = -1                         \
	}

/* Lists, for pf_doc.lists. */
#define PF_DIFF_LISTS "rows changes idle_sites sync_sites ops averages ranks"
/* Tables that say most: the rest may be folded away. */
#define PF_DIFF_MAIN_TABLES 2

/* ---- what is found ---- */

/* A figure of both sides; means are per step. */
struct pf_both {
	int64_t a, b, delta;
	double share; /* of A that delta is; not a number: A is 0 */
};
struct pf_both_real {
	double a, b;
};

enum pf_verdict {
	PF_SAME,        /* nothing differs at all */
	PF_UNKNOWN,     /* one step: nothing is known of noise */
	PF_NO_CLAIM,    /* steps overlap */
	PF_AS_CAPTURES, /* they do not, but captures differ by as much */
	PF_LIKELY_FASTER,
	PF_LIKELY_SLOWER,
	PF_PARTLY_FASTER, /* a class is, and the interval of the step holds 0 */
	PF_PARTLY_SLOWER,
	PF_FASTER, /* tested over captures */
	PF_SLOWER,
	PF_WITHHELD, /* not comparable */
};

/* A class of a step's time.  Verdict NULL: there is nothing to say. */
struct pf_diff_class {
	const char *name, *verdict;
	struct pf_both ns, sum_ns, median_ns;
	int64_t shift_ns;
};

/* Any text of a row may be NULL: there is none. */
struct pf_diff_work {
	const char *name, *key; /* for people all names differ */
	const char *match, *op, *path;
	const char *class_word; /* NULL also: not put together by it */
	const char *a_kernel, *b_kernel, *a_shapes, *b_shapes;
	struct pf_both_real count;
	struct pf_both ns, calls, sum_ns, rows;
	struct pf_both each_ns;                      /* PF_NO_INT: unknown */
	int64_t count_effect_ns, duration_effect_ns; /* add up to ns.delta */
	int64_t each_delta_ns;
	double step_share; /* of A's; not a number: it has none */
};

/* How often something happens. */
struct pf_diff_count {
	const char *key, *title;
	double a, b, delta, share;     /* not a number: unknown */
	const char *a_range, *b_range; /* NULL: all steps alike */
	int64_t a_sum, b_sum;          /* PF_NO_INT: unknown */
};

struct pf_diff_change {
	const char *change, *what;
	double a, b;
};

/* Idle time by cause. */
struct pf_diff_time {
	const char *name;
	struct pf_both ns, sum_ns;
};

/* A holder of idle time, or a blocking call. */
struct pf_diff_wait {
	enum pf_cause why;
	const char *cause; /* its name */
	const char *name, *where, *frame, *op, *match;
	struct pf_both_real count;
	struct pf_both ns, idle_ns, calls, sum_ns;
};

/* An operator, an annotation or a call on the CPU. */
struct pf_diff_op {
	const char *shown, *name, *kind, *match, *a_shapes, *b_shapes;
	bool is_call; /* of the runtime or driver */
	struct pf_both_real count;
	struct pf_both self_ns; /* without has_self no change, PF_NO_INT */
	struct pf_both ns, calls, sum_ns;
};

/* A row of key_averages(); the mean of the captures of a side. */
struct pf_diff_average {
	const char *name, *device;
	int64_t a[PF_AVERAGE_VALUES], b[PF_AVERAGE_VALUES];
};

/* Advice that a side is given; figures per step of its window. */
struct pf_diff_advice {
	const char *change; /* "done", "new", "open", "not judged" */
	const char *id, *title;
	int64_t a_at_most_ns, b_at_most_ns; /* PF_NO_INT: not given, no bound */
	double a_share, b_share;            /* of its window */
	const char *reason; /* why it is not given in the one; or NULL */
};

/* Bytes -1 and change PF_NO_INT: not known. */
struct pf_diff_bytes {
	const char *what;
	struct pf_both bytes;
};

/* A step of a rank, or what a class holds of it: these add up to the step. */
struct pf_diff_rank {
	int64_t rank;
	const char *name;          /* of the class; "step" */
	struct pf_both ns, sum_ns; /* PF_NO_INT: the side has no such rank */
	int64_t a_steps, b_steps;
};

struct pf_diff_capture {
	const char *side, *path, *xxh128; /* NULL: not known */
	int64_t steps, cut_off;
	int64_t mean_ns, sum_ns;
	struct pf_capture_times time;
};

enum pf_diff_result { PF_DIFF_EQUAL, PF_DIFF_DIFFERENT, PF_DIFF_UNKNOWN };

/* What both sides have in common; in this order. */
enum pf_diff_what {
	PF_CHECK_GPU,
	PF_CHECK_HARDWARE,
	PF_CHECK_PLATFORM,
	PF_CHECK_DEVICES,
	PF_CHECK_WORLD,
	PF_CHECK_TRACES,
	PF_CHECK_WHOLE,
	PF_CHECK_HAS_STEPS,
	PF_CHECK_STEPS,
	PF_CHECK_VERSIONS,
	PF_CHECK_OPTIONS,
	PF_CHECK_OPS,
	PF_CHECK_SHAPES,
	PF_CHECKS
};
struct pf_diff_check {
	const char *what, *a, *b; /* a, b NULL: unknown */
	enum pf_diff_result is;
	const char *result;   /* its word */
	const char *obstacle; /* why times cannot be compared, or NULL */
};

/*
 * A zero-initialised struct is an empty result; it owns all it points to.
 * Without args.wide, lists hold what changed only.
 */
struct pf_diff {
	struct pf_diff_args args;
	enum pf_verdict verdict;
	const char *verdict_word;
	bool is_comparable;   /* in time */
	const char *obstacle; /* why it is not; or NULL */
	bool a_has_steps, b_has_steps;
	/* GPU work; of one side only: only what the host does is compared. */
	bool a_has_gpu, b_has_gpu;
	bool is_cut;   /* a side is cut off or damaged: lists lack changes */
	bool has_self; /* calls are recorded on both sides or on neither */
	bool has_code; /* neither has GPU work, both have Python functions */
	int64_t a_steps, b_steps;
	int64_t a_ns, b_ns;     /* the mean step */
	struct pf_judged total; /* the median step, and its shift */
	size_t warm_up;         /* leading steps that are not judged */
	bool has_each;          /* both sides have the same GPU work, and */
	double each_share;      /* how much longer a call of it takes in B */
	/* All kernels are slower or faster alike: by so much each. */
	bool is_uniform;
	double kernels_share;             /* on the whole */
	double kernels_low, kernels_high; /* those of 90 % of their time */
	const char *finding;              /* the answer in a sentence */
	/* Why the parts add up to another number than the shift; or NULL. */
	const char *two_changes;
	/* The last is the whole. */
	struct pf_diff_class classes[PF_STEP_CLASSES + 1];
	struct pf_diff_check checks[PF_CHECKS];
	struct pf_diff_time causes[PF_CAUSE_COUNT]; /* that idle time has */
	size_t cause_count;
	/* The critical path, most change first; the last is its window. */
	struct pf_diff_time path[PF_PATH_CATEGORIES + 1];
	size_t path_count;
	/* "done" first, then "new", in the order of gain. */
	struct pf_diff_advice advice[PF_ADVICE_MAX];
	size_t advice_count;
	/* Those of most change first. */
	struct pf_diff_work *rows;
	struct pf_diff_op *ops;
	struct pf_diff_wait *idle_sites, *sync_sites;
	struct pf_diff_average *averages;
	size_t row_count, op_count, idle_site_count, sync_site_count;
	size_t average_count;
	/* In the order of what they are about. */
	struct pf_diff_count counts[PF_FIGURES];
	struct pf_diff_bytes bytes[PF_FIGURES];
	struct pf_diff_change *changes;
	struct pf_diff_capture *captures;
	struct pf_diff_rank *ranks; /* those that change most first */
	size_t count_count, bytes_count, change_count, capture_count,
		rank_count;
	const char **notes;
	size_t note_count, note_cap;
	struct pf_arena texts; /* owns the above but notes, and their texts */
};

void pf_diff_release(struct pf_diff *diff);

static inline bool pf_diff_is_one_sided(const struct pf_diff *diff)
{
	return diff->a_has_gpu != diff->b_has_gpu;
}

/* Do both sides have no steps?  Then figures are of whole captures. */
static inline bool pf_diff_is_of_captures(const struct pf_diff *diff)
{
	return !diff->a_has_steps && !diff->b_has_steps;
}

/*
 * Compare captures that were loaded with PF_CAPTURE_ALL (for columns also
 * PF_CAPTURE_AVERAGES).  What was found stays in "kept", or NULL.
 * *is_failed: a check of fail_on holds.  PF_EDATA if a side has no full step;
 * PF_EUSAGE if a check or column makes no sense.
 */
int pf_diff(const struct pf_capture *const *a, size_t a_count,
	    const struct pf_capture *const *b, size_t b_count,
	    const struct pf_diff_args *args, struct pf_diff *kept,
	    struct pf_doc *doc, bool *is_failed, struct pf_err *err);

/* Read columns into column[]; PF_EUSAGE if they are none of key_averages(). */
int pf_diff_columns(struct pf_diff_args *args, struct pf_err *err);
