/* SPDX-License-Identifier: MIT */
/* The rule about what kernels are made of. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "report/rules.h"
#include "report/say.h"

#define UNKNOWN_MAX  0.2 /* of the time in products */
#define TENSOR_MAJOR 7   /* of compute capability: with tensor cores */

/* The lowest of all GPUs; -1: not of every GPU, 0: of none. */
static int64_t find_architecture(const struct pf_parts *p)
{
	int64_t lowest = 0;

	for (size_t i = 0; i < p->info.device_count; i++) {
		const char *s = p->info.devices[i].compute;
		int64_t major = s ? strtol(s, NULL, 10) : 0;

		if (major <= 0)
			return -1;
		if (!lowest || major < lowest)
			lowest = major;
	}
	return lowest;
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
	int64_t major = find_architecture(p);
	double share = all > 0 ? (double)unknown / (double)all : 0;

	if (major <= 0) {
		pf_rule_withhold(v,
				 "the trace does not say what GPU it is from");
	} else if (major < TENSOR_MAJOR) {
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
