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
#ifndef PF_ANALYSIS_DIFF_H
#define PF_ANALYSIS_DIFF_H

#include "diff/diff_side.h"
#include "base/opt.h"
#include "table/doc.h"

struct pf_diff_args {
	struct pf_window_args window; /* for both sides */
	int by;                       /* enum pf_diff_by, or -1: all */
	int64_t min_delta_ns;         /* smaller rows are one */
	bool force;                   /* judge times that are not comparable */
	bool wide;                    /* also what did not change */
	struct pf_opt_list fail_on;
	const char *columns; /* of key_averages(), with a comma, or NULL */
};

#define PF_DIFF_DEFAULTS                                                       \
	{                                                                      \
		.window = PF_WINDOW_DEFAULTS, .by = -1                         \
	}

/* Lists, for pf_doc.lists. */
#define PF_DIFF_LISTS "rows changes idle_sites sync_sites ops averages"
/* Tables that say most: the rest may be folded away. */
#define PF_DIFF_MAIN_TABLES 2

/*
 * Compare captures that were loaded with PF_CAPTURE_ALL (for columns also
 * PF_CAPTURE_AVERAGES).  *is_failed: a check
 * of fail_on holds.  PF_EDATA if only one side has GPU work or a side has no
 * full step; PF_EUSAGE if a check or column makes no sense.
 */
int pf_diff(const struct pf_capture *const *a, size_t a_count,
	    const struct pf_capture *const *b, size_t b_count,
	    const struct pf_diff_args *args, struct pf_doc *doc,
	    bool *is_failed, struct pf_err *err);

/* Are they columns of key_averages()?  PF_EUSAGE if not. */
int pf_diff_columns(const char *words, struct pf_err *err);

/* Is it a check? PF_EUSAGE if not. */
int pf_diff_check(const char *check, struct pf_err *err);

/*
 * Load captures from databases, two at a time; a file that is given twice is
 * loaded once.  Each is called by its name (the trace that it was made of),
 * by its path if names is NULL.
 */
struct pf_captures {
	struct pf_text_filter filter; /* set before */
	struct pf_capture *own;
	const struct pf_capture **items;
	size_t count;
};
int pf_captures_load(const char *const *paths, char *const *names, size_t count,
		     const struct pf_window_args *window, unsigned want,
		     struct pf_captures *out, struct pf_err *err);
void pf_captures_release(struct pf_captures *c);

#endif
