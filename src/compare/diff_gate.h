/* SPDX-License-Identifier: MIT */
/*
 * Checks of a difference for use in CI: "step_time>5%", "syncs>0",
 * "kernels>+3", "peak_memory>2%", "copy>100us".  What is compared is the
 * change per step from A to B, in the figure's own unit or, with "%", of A's
 * figure; of counts and sizes exactly, nothing is rounded.
 */
#ifndef PF_ANALYSIS_DIFF_GATE_H
#define PF_ANALYSIS_DIFF_GATE_H

#include <stdbool.h>

#include "base/buf.h"
#include "compare/diff_judge.h"
#include "show/doc.h"

/* A figure of both sides: sums, and the numbers of steps to divide by. */
struct pf_gate_figure {
	const char *key;
	enum pf_col_kind kind; /* PF_NS, PF_COUNT, PF_BYTES */
	int64_t a, b;
	int64_t a_steps, b_steps; /* 0: not known */
	struct pf_step_figure of; /* of times: in each step */
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
