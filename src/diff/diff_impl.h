/* SPDX-License-Identifier: MIT */
/* What the files of pf_diff() share.  Not for others. */
#ifndef PF_ANALYSIS_DIFF_IMPL_H
#define PF_ANALYSIS_DIFF_IMPL_H

#include "diff/diff.h"
#include "diff/diff_gate.h"
#include "diff/diff_match.h"
#include "diff/diff_mean.h"

/* A pair with its means, which add up over all pairs. */
struct pf_diff_row {
	const struct pf_pair *pair;
	int64_t a_ns, b_ns;
};

enum pf_verdict {
	PF_SAME,     /* nothing differs at all */
	PF_NO_CLAIM, /* not more than noise may be */
	PF_FASTER,
	PF_SLOWER,
	PF_WITHHELD, /* not comparable */
};

struct pf_diff {
	const struct pf_diff_args *args;
	struct pf_intern texts;
	struct pf_side a, b;
	struct pf_pairs pairs;
	struct pf_diff_row *rows; /* largest difference first */
	int64_t a_class_ns[PF_STEP_CLASSES], b_class_ns[PF_STEP_CLASSES];
	int64_t a_cause_ns[PF_CAUSE_COUNT], b_cause_ns[PF_CAUSE_COUNT];
	int64_t a_ns, b_ns;   /* the mean step */
	int64_t noise_ns;     /* a smaller change is none; -1: tested */
	bool is_comparable;   /* in time */
	const char *obstacle; /* why it is not; or NULL */
	enum pf_verdict verdict;
};

static inline const char *pf_diff_text(const struct pf_diff *d, uint32_t n)
{
	return pf_intern_text(&d->texts, n, NULL);
}

static inline int64_t pf_diff_delta(const struct pf_diff_row *r)
{
	return r->b_ns - r->a_ns;
}

/* What a row is about, for people; the caller frees it. */
char *pf_diff_key_take(const struct pf_diff *d, const struct pf_pair *pair);

/* diff_tables.c */
/* The cells a_ns, b_ns, delta_ns, a_sum_ns, b_sum_ns. */
void pf_diff_put_times(struct pf_table *t, int64_t a, int64_t b, int64_t a_sum,
		       int64_t b_sum);
void pf_diff_add_waterfall(struct pf_diff *d, struct pf_doc *doc);
void pf_diff_add_rows(struct pf_diff *d, struct pf_doc *doc);
void pf_diff_add_structure(struct pf_diff *d, struct pf_doc *doc);
void pf_diff_add_memory(struct pf_diff *d, struct pf_doc *doc);
void pf_diff_add_captures(struct pf_diff *d, struct pf_doc *doc);

/* diff_lists.c */
void pf_diff_add_changes(struct pf_diff *d, struct pf_doc *doc);
void pf_diff_add_idle(struct pf_diff *d, struct pf_doc *doc);
void pf_diff_add_ops(struct pf_diff *d, struct pf_doc *doc);
/* Are the operators and their shapes per step equal? */
bool pf_diff_same_ops(const struct pf_diff *d);

/* diff_averages.c */
void pf_diff_add_averages(struct pf_diff *d, struct pf_doc *doc);

/* diff_verdict.c */
void pf_diff_judge(struct pf_diff *d, struct pf_doc *doc);
void pf_diff_add_comparability(struct pf_diff *d, struct pf_doc *doc);
void pf_diff_add_notes(struct pf_diff *d, struct pf_doc *doc);

#endif
