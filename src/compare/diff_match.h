/* SPDX-License-Identifier: MIT */
/* The sides of a comparison, and which GPU work of one is which of the other. */
#ifndef PF_COMPARE_DIFF_MATCH_H
#define PF_COMPARE_DIFF_MATCH_H

#include "base/buf.h"
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

/*
 * One side of a comparison: the sums of all its captures, with texts that
 * both sides number alike.
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

struct pf_side {
	const struct pf_capture *const *captures; /* borrowed */
	size_t capture_count;
	int64_t steps; /* full ones, of all captures */
	int64_t step_ns, busy_ns, class_ns[PF_STEP_CLASSES];
	int64_t count[PF_COUNT_COUNTS], cause_ns[PF_CAUSE_COUNT];
	int64_t path_ns[PF_PATH_CATEGORIES], path_window_ns, path_steps;
	int64_t gpu_events, before_count, migrated_count, without_launch;
	int64_t outside_count;
	int64_t device_count, world_size, trace_count; /* of the first */
	int64_t peak_bytes, reserved_bytes; /* the most; -1 unknown */
	struct pf_trust_lost lost;          /* of all */
	bool has_steps, has_shapes;
	uint32_t device_name, hardware, platform, versions, options;
	struct pf_work_row *work;
	struct pf_op_row *ops;
	struct pf_wait_row *idle, *sites;
	size_t work_count, op_count, idle_count, site_count;
};

/* Texts are added to "texts", which numbers them for both sides. */
void pf_side_pool(struct pf_side *out, struct pf_intern *texts,
		  const struct pf_capture *const *captures, size_t count,
		  enum pf_diff_by by);
void pf_side_release(struct pf_side *s);

/*
 * Is a count known of a side?  Where only the other has GPU work, its own was
 * not recorded, and calls were if there is any.
 */
bool pf_side_knows(const struct pf_side *s, const struct pf_side *other,
		   enum pf_step_count count);

/*
 * The family of a kernel: what stays the same of its name when the library,
 * its release or the GPU changes.  data/families.csv says what vendors'
 * kernels compute; any other name is its short form without template
 * arguments, architectures, tile sizes and counters.
 */

struct pf_families;
struct pf_families *pf_families_new(struct pf_err *err); /* NULL on error */
void pf_families_free(struct pf_families *f);

/* Add the family of a kernel's name; of copies and fills too. */
void pf_family_name(const struct pf_families *f, const char *kernel,
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

/* "exact", ... */
const char *pf_match_name(enum pf_match match);

#define PF_NO_ROW UINT32_MAX

struct pf_pair {
	enum pf_match match;
	uint32_t a_row, b_row;   /* with most time, or PF_NO_ROW */
	uint32_t a_rows, b_rows; /* how many */
	int64_t a_count, b_count, a_ns, b_ns;
};

struct pf_pairs {
	struct pf_pair *items;
	size_t count, cap;
	uint32_t *of_a, *of_b; /* the pair of each row */
};

/* By: what the sides were pooled by. */
int pf_match(struct pf_intern *texts, const struct pf_side *a,
	     const struct pf_side *b, enum pf_diff_by by, struct pf_pairs *out,
	     struct pf_err *err);
void pf_pairs_release(struct pf_pairs *p);

#endif
