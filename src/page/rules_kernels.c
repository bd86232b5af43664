/* SPDX-License-Identifier: MIT */
/* The rule about what kernels are made of. */
#include "config.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "page/rules.h"
#include "page/say.h"
#include "analysis/roofline/gpus.h"

#define UNKNOWN_MAX  0.2 /* of the time in products */
#define TENSOR_MAJOR 7   /* of compute capability: with tensor cores */

enum cores { NOT_SAID, UNKNOWN_NAME, NO_CORES, HAS_CORES };

/* By its compute capability, else by what the table of GPUs says of its name. */
static enum cores find_cores(const struct pf_gpus *gpus,
			     const struct pf_info_device *d)
{
	const struct pf_gpu_about about = { d->name, d->sm_count,
					    d->memory_bytes };
	int64_t major = d->compute ? strtol(d->compute, NULL, 10) : 0;
	struct pf_gpu_peaks peaks;

	if (major > 0)
		return major < TENSOR_MAJOR ? NO_CORES : HAS_CORES;
	if (!d->name || !*d->name)
		return NOT_SAID;
	if (!gpus || !pf_gpus_match(gpus, &about, &peaks))
		return UNKNOWN_NAME;
	return isnan(peaks.rate[PF_PEAK_FP16]) &&
			       isnan(peaks.rate[PF_PEAK_BF16])
		       ? NO_CORES
		       : HAS_CORES;
}

/* The least that holds of all GPUs. */
static enum cores find_least(const struct pf_parts *p)
{
	enum cores least = p->info.device_count ? HAS_CORES : NOT_SAID;
	struct pf_err ignored = { 0 };
	struct pf_gpus *gpus = pf_gpus_new(&ignored);

	for (size_t i = 0; i < p->info.device_count; i++) {
		enum cores own = find_cores(gpus, &p->info.devices[i]);

		least = own < least ? own : least;
	}
	pf_gpus_free(gpus);
	return least;
}

static bool is_one_of(const char *s, const char *a, const char *b)
{
	return s && (!strcmp(s, a) || !strcmp(s, b));
}

/* The kernel that holds most of the time in single precision. */
static void say_fp32_kernel(const struct pf_parts *p, struct pf_verdict *v)
{
	for (int64_t i = 0; i < p->callers.row_count; i++) {
		const struct pf_kernel_row *k = &p->callers.rows[i];

		if (!is_one_of(k->class_word, "gemm", "conv") ||
		    !is_one_of(k->precision, "fp32", "fp32") ||
		    !k->short_name || is_one_of(k->op_eligible, "no", "no"))
			continue;
		pf_say(v, ", most of all in ");
		pf_say_text(p, v, k->short_name, NULL);
		if (k->second && strcmp(k->second, "(none)") != 0) {
			pf_say(v, " from ");
			pf_say_text(p, v, k->second, &v->place);
		}
		return;
	}
}

static bool is_precision_known(const struct pf_parts *p, struct pf_verdict *v,
			       int64_t all, int64_t unknown)
{
	enum cores cores = find_least(p);
	double share = all > 0 ? (double)unknown / (double)all : 0;

	if (cores == NOT_SAID) {
		pf_rule_withhold(v,
				 "the trace does not say what GPU it is from");
	} else if (cores == UNKNOWN_NAME) {
		pf_rule_withhold(v, "it is not known whether the GPU has "
				    "tensor cores");
	} else if (cores == NO_CORES) {
		pf_rule_withhold(v, "the GPU has no tensor cores");
	} else if (all <= 0) {
		pf_rule_withhold(
			v, "no kernel is known to be a matrix product or a "
			   "convolution");
	} else if (share > UNKNOWN_MAX) {
		pf_rule_withhold(
			v, "the names of kernels do not say the precision "
			   "of ");
		pf_say_ratio(v, share);
		pf_say(v, " of the time in matrix products and convolutions");
	} else {
		return true;
	}
	return false;
}

static void apply_precision(const struct pf_parts *p, struct pf_verdict *v)
{
	int64_t all = p->callers.product_ns;
	int64_t fp32 = p->callers.product_fp32_ns;
	int64_t unknown = p->callers.product_unknown_ns;

	if (!pf_rule_has_gpu(p, v) || !is_precision_known(p, v, all, unknown))
		return;
	v->measured = (double)fp32 / (double)all;
	v->affected_ns = fp32;
	pf_say_ratio(v, v->measured);
	pf_say(v, " of the time in matrix products and convolutions (");
	pf_say_ns(v, fp32);
	pf_say(v, " of ");
	pf_say_ns(v, all);
	pf_say(v, ") runs in fp32 kernels");
	say_fp32_kernel(p, v);
	if (unknown > 0) {
		pf_say(v, "; the precision of ");
		pf_say_ratio(v, (double)unknown / (double)all);
		pf_say(v, " is not known");
	}
}

const struct pf_report_rule pf_rule_precision = {
	"V10", "precision", "kernels", PF_PART_CALLERS, 0.10, 0, apply_precision
};
