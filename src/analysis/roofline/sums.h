/* SPDX-License-Identifier: MIT */
/* One call against its roof, and sums of such. */
#ifndef PF_ANALYSIS_ROOFLINE_SUMS_H
#define PF_ANALYSIS_ROOFLINE_SUMS_H

#include "analysis/roofline/roofline.h"

/* Roofs below this for each work are those of launches. */
#define PF_ROOF_LATENCY_NS 3000
/* Passed by more than this, a roof is not the right one. */
#define PF_ROOF_SLACK 1.02

struct pf_roof_call {
	const struct pf_op_work *work;
	int64_t ns, works;
	bool is_tf32;     /* its kernels round to it */
	bool is_host;     /* it copies from or to the host */
	bool is_replayed; /* by a graph */
};

/* The time that it needs at least, or NAN; *by: compute or memory. */
double pf_roof_time(const struct pf_gpu_peaks *peaks,
		    const struct pf_roof_call *call, enum pf_roof_bound *by);
void pf_roof_add(struct pf_roof_sums *s, const struct pf_gpu_peaks *peaks,
		 const struct pf_roof_call *call);
void pf_roof_merge(struct pf_roof_sums *to, const struct pf_roof_sums *more);
/* Fill in what a row shows of its sums. */
void pf_roof_rate(struct pf_roofline_row *row, int64_t gpu_ns);

#endif
