/* SPDX-License-Identifier: MIT */
/*
 * What operators achieved against what the GPU allows: operations and bytes
 * of each call from its recorded shapes (analysis/roofline/walk.h), the time
 * of its GPU work, and the time that the GPU needs for them at least.
 *
 *	roof = max(matrix / peak, vector / peak if matrix is 0, bytes / rate)
 *
 * A call counts where its first work starts in the window, with all of it.
 * Each work belongs to one call, to communication, or to what is not
 * modelled: the three add up to the GPU time.  A figure that is not known is
 * null: a peak that the table of GPUs has not, a roof that was passed.
 */
#pragma once

#include "events/window.h"
#include "analysis/roofline/gpus.h"
#include "analysis/roofline/walk.h"
#include "show/doc.h"

enum pf_roofline_group {
	PF_ROOFLINE_BY_OP,
	PF_ROOFLINE_BY_SHAPE,
	PF_ROOFLINE_BY_KERNEL,
};
#define PF_ROOFLINE_GROUPS "op|op,shape|kernel"

struct pf_roofline_args {
	struct pf_window_args window;
	int group;        /* enum pf_roofline_group */
	const char *gpu;  /* a name of data/gpus.csv, or NULL */
	const char *peak; /* "bf16=989.4,gbps=3352", or NULL */
	bool is_dense;    /* causal attention counts as a whole */
	bool has_links;   /* collectives against the link, too */
	/*
	 * What graphs replay, of all time of the traces, explained, with
	 * arguments: it has the operators that they name.  Or NULL.
	 */
	struct pf_graphs *graphs;
};

/* What keeps a call from being faster. */
enum pf_roof_bound {
	PF_ROOF_COMPUTE,
	PF_ROOF_MEMORY,
	PF_ROOF_LATENCY, /* too small for a roof to say anything */
	PF_ROOF_OVER,    /* faster than the roof: it is not the right one */
	PF_ROOF_HOST,    /* copies from or to the host: not by its memory */
	PF_ROOF_UNKNOWN, /* there is no roof */
	PF_ROOF_BOUNDS
};

/* Sums over calls. */
struct pf_roof_sums {
	int64_t calls, replayed, works, kernel_ns, min_ns, max_ns;
	int64_t matrix, vector, bytes;    /* PF_NO_INT: too large */
	int64_t bound_ns[PF_ROOF_BOUNDS]; /* of kernel_ns */
	/* Of calls that have a roof: the first is the sum of the others. */
	double roofed_ns, roof_ns, above_ns;
};

struct pf_roofline_row {
	const char *op, *family, *shapes, *types, *values, *kernel;
	const char *short_kernel, *precision, *bound;
	const struct pf_op_work *work; /* of one call; of calls alike only */
	struct pf_roof_sums s;
	int64_t roof_ns, above_ns;             /* PF_NO_INT: unknown */
	double tflops, gbps, intensity, share; /* of the roof */
	double short_tflops, short_gbps;       /* three digits */
	double time_share;                     /* of all GPU time */
};

/* Of a step, or of the steps of a trace. */
struct pf_roofline_use {
	int64_t trace_id, rank, step, device_count, time_ns;
	int64_t matrix, recomputed;
	double mfu, hfu;
};

struct pf_roof_link; /* roofline.c */

struct pf_roofline {
	struct pf_roof_walk walk;
	struct pf_gpu_peaks peaks;
	const char *device; /* what the trace calls it, or NULL */
	bool has_several;   /* kinds of GPUs: no roofs */
	bool has_tf32;      /* products that kernels round to it */
	enum pf_roofline_group group;
	struct pf_roof_sums all;
	int64_t gpu_ns, modelled_ns, comm_ns, rest_ns;
	int64_t recomputed;     /* operations of products, done again */
	enum pf_peak precision; /* that most products have */
	struct pf_roofline_row *rows, *families;
	size_t row_count, family_count;
	struct pf_roofline_row *shapes; /* whatever the rows are: calls alike */
	size_t shape_count;
	struct pf_roofline_use *steps, *traces;
	size_t step_count, trace_count;
	int64_t use_ns; /* time of steps, or of GPU activity, times GPUs */
	double mfu, hfu;
	struct pf_roof_link *links; /* of collectives, if asked for */
	size_t link_count;
	int64_t fast_links; /* that are faster than the link */
	struct pf_gpus *gpus;
	struct pf_arena texts;
};

int pf_roofline_find(struct pf_db *db, const struct pf_roofline_args *args,
		     struct pf_roofline *out);
void pf_roofline_release(struct pf_roofline *r);

/*
 * Both, and what of the trace is not to be trusted; what was found stays in
 * *out, which is released also after an error.
 */
int pf_roofline_answer(struct pf_db *db, const struct pf_roofline_args *args,
		       struct pf_roofline *out, struct pf_doc *doc);
/* The same, and nothing is kept. */
int pf_roofline(struct pf_db *db, const struct pf_roofline_args *args,
		struct pf_doc *doc);

/* "compute", "memory", ...; NULL of PF_ROOF_UNKNOWN. */
const char *pf_roof_bound_word(enum pf_roof_bound bound);
