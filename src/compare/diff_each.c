/* SPDX-License-Identifier: MIT */
/* What each call of the same GPU work takes on both sides. */
#include "config.h"

#include <math.h>
#include <stdlib.h>

#include "compare/diff_impl.h"
#include "base/mem.h"
#include "base/order.h"
#include "events/gpu.h"

#define UNIFORM_LEAST  0.02 /* a smaller change may be noise */
#define UNIFORM_SPREAD 0.5  /* of the change: what kernels may differ by */
#define UNIFORM_COVERS 0.9  /* of the time of kernels on both sides */
#define UNIFORM_COUNT  5    /* kernels at least, and none of most time */

/*
 * What the work of A, as often as A does it, would take at the mean duration
 * that each has in B: of pairs of the same kernel.
 */
static void find_share(struct pf_diff_run *d)
{
	double a = 0, b = 0;

	for (size_t i = 0; i < d->pairs.count; i++) {
		const struct pf_pair *p = &d->pairs.items[i];

		if (p->match > PF_MATCH_STREAM || !p->a_count || !p->b_count)
			continue;
		a += (double)p->a_ns;
		b += (double)p->b_ns * (double)p->a_count / (double)p->b_count;
	}
	d->out->has_each = a > 0;
	d->out->each_share = a > 0 ? b / a - 1 : 0;
}

/* ---- all by one factor? ---- */

/* A kernel that both launch as often per step. */
struct same {
	double change, a_ns; /* of each; of all of them */
};

struct kernels {
	struct same *items;
	size_t count;
	double a_ns, b_ns;           /* of all kernels, per step */
	double same_a_ns, same_b_ns; /* of the same */
	double most_ns;              /* of one of them */
};

static bool is_kernel(const struct pf_diff_run *d, const struct pf_pair *p)
{
	const struct pf_work_key *k = p->a_row == PF_NO_ROW
					      ? &d->b.work[p->b_row].key
					      : &d->a.work[p->a_row].key;

	return k->class == PF_GPU_COMPUTE;
}

static void add_pair(const struct pf_diff_run *d, const struct pf_pair *p,
		     struct kernels *k)
{
	double a_ns = (double)p->a_ns / (double)d->a.steps;
	double b_ns = (double)p->b_ns / (double)d->b.steps;

	k->a_ns += a_ns;
	k->b_ns += b_ns;
	if (p->match > PF_MATCH_STREAM || p->a_ns <= 0 || p->b_ns <= 0 ||
	    pf_mean_compare(p->a_count, d->a.steps, p->b_count, d->b.steps))
		return;
	k->same_a_ns += a_ns;
	k->same_b_ns += b_ns;
	if (a_ns > k->most_ns)
		k->most_ns = a_ns;
	k->items[k->count++] = (struct same){ b_ns / a_ns - 1, a_ns };
}

PF_ORDER(by_change, struct same, PF_UP(change) PF_UP(a_ns))

/* The change below which kernels of such a part of the time are. */
static double quantile(const struct kernels *k, double part)
{
	double ns = 0;

	for (size_t i = 0; i < k->count; i++) {
		ns += k->items[i].a_ns;
		if (ns >= part * k->same_a_ns)
			return k->items[i].change;
	}
	return k->items[k->count - 1].change;
}

/* Another model of GPU explains it better. */
static bool has_other_gpu(const struct pf_diff *out)
{
	return out->checks[PF_CHECK_GPU].is == PF_DIFF_DIFFERENT ||
	       out->checks[PF_CHECK_HARDWARE].is == PF_DIFF_DIFFERENT ||
	       out->checks[PF_CHECK_PLATFORM].is == PF_DIFF_DIFFERENT;
}

static void judge_uniform(struct kernels *k, struct pf_diff *out)
{
	double size;

	if (k->count < UNIFORM_COUNT || k->most_ns > k->same_a_ns / 2 ||
	    k->same_a_ns < UNIFORM_COVERS * k->a_ns ||
	    k->same_b_ns < UNIFORM_COVERS * k->b_ns || has_other_gpu(out))
		return;
	pf_sort(k->items, k->count, sizeof(*k->items), by_change);
	out->kernels_share = k->same_b_ns / k->same_a_ns - 1;
	out->kernels_low = quantile(k, 0.05);
	out->kernels_high = quantile(k, 0.95);
	size = fabs(out->kernels_share);
	out->is_uniform =
		size >= UNIFORM_LEAST &&
		out->kernels_high - out->kernels_low <= UNIFORM_SPREAD * size;
}

void pf_diff_find_each(struct pf_diff_run *d)
{
	struct kernels k = { .items = pf_calloc(d->pairs.count + 1,
						sizeof(*k.items)) };

	find_share(d);
	for (size_t i = 0; i < d->pairs.count; i++)
		if (is_kernel(d, &d->pairs.items[i]))
			add_pair(d, &d->pairs.items[i], &k);
	judge_uniform(&k, d->out);
	free(k.items);
}
