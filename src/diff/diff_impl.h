/* SPDX-License-Identifier: MIT */
/* What the files of pf_diff() share.  Not for others. */
#ifndef PF_ANALYSIS_DIFF_IMPL_H
#define PF_ANALYSIS_DIFF_IMPL_H

#include <stdio.h>

#include "diff/diff.h"
#include "diff/diff_gate.h"
#include "diff/diff_judge.h"
#include "diff/diff_match.h"
#include "diff/diff_mean.h"
#include "table/rows.h"

/* A pair with its means, which add up over all pairs. */
struct pf_diff_row {
	const struct pf_pair *pair;
	int64_t a_ns, b_ns;
};

enum pf_verdict {
	PF_SAME,        /* nothing differs at all */
	PF_UNKNOWN,     /* one step: nothing is known of noise */
	PF_NO_CLAIM,    /* steps overlap */
	PF_AS_CAPTURES, /* they do not, but captures differ by as much */
	PF_LIKELY_FASTER,
	PF_LIKELY_SLOWER,
	PF_FASTER, /* tested over captures */
	PF_SLOWER,
	PF_WITHHELD, /* not comparable */
};

struct pf_diff {
	const struct pf_diff_args *args;
	struct pf_intern texts;
	struct pf_side a, b;
	struct pf_pairs pairs;
	struct pf_diff_row *rows; /* largest difference first */
	char **names;             /* of rows, for people: all differ */
	int64_t a_class_ns[PF_STEP_CLASSES], b_class_ns[PF_STEP_CLASSES];
	int64_t a_cause_ns[PF_CAUSE_COUNT], b_cause_ns[PF_CAUSE_COUNT];
	int64_t a_ns, b_ns; /* the mean step */
	struct pf_judge judge;
	struct pf_judged total, classes[PF_STEP_CLASSES];
	bool is_by_class;     /* steps overlap, a class of them does not */
	bool has_each;        /* both sides have the same GPU work, and */
	double each_share;    /* how much longer a call of it takes in B */
	char title[64];       /* pf_diff_title() */
	bool is_comparable;   /* in time */
	const char *obstacle; /* why it is not; or NULL */
	bool is_other;        /* because of what both sides are */
	enum pf_verdict verdict;
};

static inline const char *pf_diff_text(const struct pf_diff *d, uint32_t n)
{
	return pf_intern_text(&d->texts, n, NULL);
}

/* NULL if it is empty. */
static inline const char *pf_diff_text_or_null(const struct pf_diff *d,
					       uint32_t n)
{
	const char *text = pf_diff_text(d, n);

	return *text ? text : NULL;
}

/* What figures are per: captures without steps are one of their own. */
static inline const char *pf_diff_unit(const struct pf_diff *d)
{
	return d->a.has_steps || d->b.has_steps ? "step" : "capture";
}

/* "WHAT per step"; until the next call. */
static inline const char *pf_diff_title(struct pf_diff *d, const char *what)
{
	snprintf(d->title, sizeof(d->title), "%s per %s", what,
		 pf_diff_unit(d));
	return d->title;
}

static inline int64_t pf_diff_delta(const struct pf_diff_row *r)
{
	return r->b_ns - r->a_ns;
}

/* What a row is about, for people; the caller frees it. */
char *pf_diff_key_take(const struct pf_diff *d, const struct pf_pair *pair);

/* ---- columns of both sides ---- */

struct pf_both {
	int64_t a, b, delta;
};
struct pf_both_real {
	double a, b;
};

static inline struct pf_both pf_both(int64_t a, int64_t b)
{
	return (struct pf_both){ a, b, b - a };
}

/* Calls of each side per step. */
static inline struct pf_both_real pf_both_counts(const struct pf_diff *d,
						 int64_t a, int64_t b)
{
	return (struct pf_both_real){ pf_ratio((double)a, d->a.steps),
				      pf_ratio((double)b, d->b.steps) };
}

/* The columns "a_KEY" and "b_KEY"; "delta_KEY". */
#define PF_BOTH(row, member, key, title, kind)                                 \
	PF_FIELD(row, member.a, "a_" key, "A" title, kind),                    \
		PF_FIELD(row, member.b, "b_" key, "B" title, kind)
#define PF_DELTA(row, member, key, title, kind)                                \
	PF_FIELD(row, member.delta, "delta_" key, title, kind)

/* Means per step and sums. */
struct pf_diff_times {
	const char *name;
	struct pf_both ns, sum_ns;
};
/* Add a table of them, named by a column. */
struct pf_table *pf_diff_times_table(struct pf_doc *doc, const char *name,
				     const char *title, const char *key,
				     const char *key_title,
				     const struct pf_diff_times *rows,
				     size_t count);

/* diff_tables.c */
void pf_diff_add_waterfall(struct pf_diff *d, struct pf_doc *doc);
/* " 32x64x56x56 64x64x3x3": the first inputs that have dimensions. */
void pf_diff_add_dims(struct pf_buf *out, const char *shapes);
/* Fills in names. */
void pf_diff_name_rows(struct pf_diff *d);
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
const char *pf_diff_verdict_word(enum pf_verdict verdict);
/* "not clear", "clear, 0.3 % of step"; NULL: there is nothing to say. */
char *pf_diff_class_take(const struct pf_diff *d, const struct pf_judged *c);
void pf_diff_add_notes(struct pf_diff *d, struct pf_doc *doc);

/* diff_compare.c */
/* Sets obstacle and is_comparable. */
void pf_diff_find_obstacle(struct pf_diff *d);
void pf_diff_add_comparability(struct pf_diff *d, struct pf_doc *doc);

#endif
