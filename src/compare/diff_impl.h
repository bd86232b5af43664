/* SPDX-License-Identifier: MIT */
/* What the files of pf_diff() share.  Not for others. */
#pragma once

#include <math.h>

#include "compare/diff.h"
#include "compare/diff_capture.h"
#include "show/doc.h"

/* A pair with its means, which add up over all pairs. */
struct pf_diff_row {
	const struct pf_pair *pair;
	int64_t a_ns, b_ns, delta_ns;
};

/*
 * What both sides do as often, ns per step, and of it the one that changed most:
 * a program changes in one place, a machine in all.  Larger tensors change all
 * that is large, but not what is small: so the ratio of each counts, too.
 */
struct pf_alike_sums {
	double a_ns, b_ns, most_a_ns, most_b_ns;
	double *ratios; /* of B to A, of those that take time in both */
	size_t count, cap;
};

static inline void pf_alike_add(struct pf_alike_sums *s, double a_ns,
				double b_ns)
{
	if (a_ns <= 0 || b_ns <= 0)
		return;
	s->a_ns += a_ns;
	s->b_ns += b_ns;
	*PF_ONE_MORE(s->ratios, s->count, s->cap) = b_ns / a_ns;
	if (fabs(b_ns - a_ns) <= fabs(s->most_b_ns - s->most_a_ns))
		return;
	s->most_a_ns = a_ns;
	s->most_b_ns = b_ns;
}

struct pf_diff_run {
	const struct pf_diff_args *args;
	struct pf_diff *out;
	struct pf_intern texts;
	const char **kept; /* those of them that "out" has; by number */
	size_t kept_cap;
	struct pf_capture a, b;
	int64_t op_ns, op_shape_ns; /* self time of ops; with other shapes */
	struct pf_alike_sums host_alike, gpu_alike;
	struct pf_alike alike;      /* of the step, by their sums */
	const char *reshaped;       /* of these the one that has most of it */
	struct pf_pairs pairs, ops; /* GPU work; operators, calls, functions */
	uint32_t *op_uses;          /* how many of "ops" have a name; by text */
	struct pf_diff_row *rows;   /* largest difference first */
	const char **names;         /* of rows, for people: all differ */
	struct pf_judge judge;
	struct pf_judged classes[PF_STEP_CLASSES];
	bool has_same_ops; /* per step, with their shapes */
	bool is_by_class;  /* steps overlap, a class of them does not */
	bool is_other;     /* not comparable because of what both sides are */
	bool has_cut;      /* one is cut off or damaged, and not the other's */
};

/* ---- texts ---- */

static inline const char *pf_diff_text(const struct pf_diff_run *d, uint32_t n)
{
	return pf_intern_text(&d->texts, n, NULL);
}

/* Of any text, of one that is freed then; NULL stays. */
static inline const char *pf_diff_keep_text(struct pf_diff_run *d,
					    const char *text)
{
	return pf_arena_string(&d->out->texts, text);
}

/* What figures are per: captures without steps are one of their own. */
static inline const char *pf_diff_unit(const struct pf_diff *diff)
{
	return pf_diff_is_of_captures(diff) ? "capture" : "step";
}

/* Where the work of a pair is in A, or else in B. */
static inline const struct pf_work_key *pf_diff_work_key(
	const struct pf_diff_run *d, const struct pf_pair *p)
{
	return p->a_row == PF_NO_ROW ? &pf_work_at(&d->b, p->b_row)->key
				     : &pf_work_at(&d->a, p->a_row)->key;
}

/* Of a Python function: "train.py:9 step", "<built-in ...> in train.py:9 step". */
static inline char *pf_diff_code_take(const struct pf_diff_run *d,
				      const struct pf_op_key *key)
{
	struct pf_buf out = { 0 };

	pf_buf_adds(&out, pf_diff_text(d, key->name));
	if (*pf_diff_text(d, key->shapes))
		pf_buf_addf(&out, " in %s", pf_diff_text(d, key->shapes));
	return out.data;
}

/* ---- columns of both sides ---- */

static inline struct pf_both pf_both(int64_t a, int64_t b)
{
	return (struct pf_both){ a, b, b - a, pf_ratio((double)(b - a), a) };
}

/* Calls of each side per step. */
static inline struct pf_both_real pf_both_counts(const struct pf_diff_run *d,
						 int64_t a, int64_t b)
{
	return (struct pf_both_real){ pf_ratio((double)a, d->a.steps),
				      pf_ratio((double)b, d->b.steps) };
}

/* ---- what fills in the result ---- */

/* diff_show.c */
void pf_diff_show(const struct pf_diff *diff, struct pf_doc *doc);
