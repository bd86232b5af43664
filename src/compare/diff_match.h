/* SPDX-License-Identifier: MIT */
/* The sides of a comparison, and which GPU work of one is which of the other. */
#ifndef PF_COMPARE_DIFF_MATCH_H
#define PF_COMPARE_DIFF_MATCH_H

#include "base/buf.h"
#include "base/data.h"
#include "base/err.h"
#include "compare/diff_capture.h"

/*
 * Which GPU work of one side is which of the other.  Every row is in exactly
 * one pair, so sums over pairs are sums over rows.  The first rule that fits
 * counts:
 *
 *	exact		same place, operator, shapes, kernel, role of stream
 *	stream		the same on another stream
 *	shape		the same with other shapes
 *	position	another kernel at the same place in the order of
 *			launches under the same path
 *	family		kernels that compute the same (pf_family_name) of
 *			one path, else operator, module or annotation, else
 *			anywhere
 *	group		all that is left under one path, else one module or
 *			annotation: so many kernels became so many
 *	added, removed	the rest
 */

/* What GPU work is put together by; the words of --by. */
enum pf_diff_by {
	PF_BY_OP,
	PF_BY_KERNEL,
	PF_BY_MODULE,
	PF_BY_ANNOTATION,
	PF_BY_STACK,
	PF_BY_CLASS,
	PF_BY_SHAPE,
	PF_BY_CATEGORY,
	PF_BY_ALL, /* by everything that is known of it */
};
#define PF_DIFF_BY_WORDS                                                       \
	"op|kernel|module|annotation|stack|class|shape|category"

/*
 * One side of a comparison: the sums of all its captures; of what has none,
 * that of the first, or the most.  Texts are added to "texts", which numbers
 * them for both sides.
 */
void pf_side_pool(struct pf_capture *out, struct pf_intern *texts,
		  const struct pf_capture *const *captures, size_t count,
		  enum pf_diff_by by);

/*
 * Is a figure known of a side?  Where only the other has GPU work, its own was
 * not recorded, and calls were if there is any.
 */
bool pf_side_knows(const struct pf_capture *s, const struct pf_capture *other,
		   enum pf_step_figure figure);

/*
 * The family of a kernel: what stays the same of its name when the library,
 * its release or the GPU changes.  data/families.csv says what vendors'
 * kernels compute; any other name is its short form without template
 * arguments, architectures, tile sizes and counters.
 */

struct pf_data *pf_families_new(struct pf_err *err); /* NULL on error */

/* Add the family of a kernel's name; of copies and fills too. */
void pf_family_name(const struct pf_data *f, const char *kernel,
		    struct pf_buf *out);

enum pf_match {
	PF_MATCH_EXACT,
	PF_MATCH_STREAM,
	PF_MATCH_SHAPE,
	PF_MATCH_POSITION,
	PF_MATCH_FAMILY,
	PF_MATCH_GROUP,
	PF_MATCH_ADDED,
	PF_MATCH_REMOVED,
};

extern const char *const pf_match_names[]; /* "exact", ... */

struct pf_pair {
	enum pf_match match;
	uint32_t a_row, b_row;   /* PF_NO_ROW: none; see pf_pairs.by_time */
	uint32_t a_rows, b_rows; /* how many */
	struct pf_row_sums a, b;
	int64_t weight; /* for who orders them, the largest first */
};

struct pf_pairs {
	struct pf_pair *items;
	size_t count, cap;
	const struct pf_keyed *rows[2];
	uint32_t *of[2]; /* the pair of each row */
	bool by_time; /* of its rows a pair names the longest, not the first */
};

/*
 * Every row is in exactly one pair: rows whose keys have the same part are,
 * rule after rule, and the rest is alone.
 */
#define PF_PART_MAX 9
/* The part of a row's key that is asked for; 0: the rule is not for it. */
typedef size_t pf_part_fn(void *context, const void *row,
			  uint32_t out[PF_PART_MAX]);
void pf_pairs_begin(struct pf_pairs *p, const struct pf_keyed *a,
		    const struct pf_keyed *b);
void pf_pairs_join(struct pf_pairs *p, enum pf_match match, pf_part_fn *part,
		   void *context);
void pf_pairs_rest(struct pf_pairs *p);

/* By: what the sides were pooled by. */
int pf_match(struct pf_intern *texts, const struct pf_capture *a,
	     const struct pf_capture *b, enum pf_diff_by by,
	     struct pf_pairs *out, struct pf_err *err);
void pf_pairs_release(struct pf_pairs *p);

#endif
