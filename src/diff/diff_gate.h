/* SPDX-License-Identifier: MIT */
/*
 * Checks of a difference for use in CI: "step_time>5%", "syncs>0",
 * "kernels>+3", "peak_memory>2%", "copy>100us".  What is compared is the
 * change per step from A to B, in the figure's own unit or, with "%", of A's
 * figure; exactly, nothing is rounded.
 */
#ifndef PF_ANALYSIS_DIFF_GATE_H
#define PF_ANALYSIS_DIFF_GATE_H

#include <stdbool.h>

#include "diff/diff_side.h"
#include "table/doc.h"

/* A figure of both sides: sums, and the numbers of steps to divide by. */
struct pf_gate_figure {
	const char *key, *title;
	enum pf_col_kind kind; /* PF_NS, PF_COUNT, PF_BYTES */
	int64_t a, b;
	int64_t a_steps, b_steps; /* 0: not known */
};

/* PF_EUSAGE if the expression is none. */
int pf_gate_parse(const char *expression, struct pf_err *err);

/*
 * Does the check hold?  Then *is_failed is set and a note says by how much.
 * Times that cannot be compared fail.
 */
int pf_gate_check(const char *expression, const struct pf_side *a,
		  const struct pf_side *b, bool is_comparable,
		  struct pf_doc *doc, bool *is_failed, struct pf_err *err);

#endif
