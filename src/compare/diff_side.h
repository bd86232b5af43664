/* SPDX-License-Identifier: MIT */
/*
 * One side of a comparison: the sums of all its captures, with texts that
 * both sides number alike.
 */
#ifndef PF_ANALYSIS_DIFF_SIDE_H
#define PF_ANALYSIS_DIFF_SIDE_H

#include "compare/diff_capture.h"

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

#endif
