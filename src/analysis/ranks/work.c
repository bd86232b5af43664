/* SPDX-License-Identifier: MIT */
/*
 * Kernels of computation of each rank against those of a middle one.  The
 * middle rank has of each name the (lower) median count, and a kernel of the
 * median mean length.  What a rank takes more is what its counts make of those
 * lengths; what is left is that its kernels are longer: all by a factor, the
 * median of their own by time, and then some.
 */
#include "config.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/order.h"
#include "base/sat.h"
#include "analysis/ranks/ranks_impl.h"

#define LONGER 0.01   /* of the middle rank's; below, ranks are alike */
#define NS_MAX 0x1p60 /* of sums; beyond, nothing is said */

const char *pf_rank_work_name(enum pf_rank_work work)
{
	static const char *const names[] = {
		[PF_WORK_ALIKE] = "as others",
		[PF_WORK_MORE] = "more or other kernels",
		[PF_WORK_SLOWER] = "same kernels slower",
		[PF_WORK_SOME] = "some kernels slower",
	};

	return names[work];
}

/* Kernels of a name on a rank. */
struct kernels {
	uint64_t name_hash;
	uint32_t rank;
	int64_t count, ns;
	double like_ns; /* so many, each as on the middle rank */
};

struct pf_ranks_works {
	struct kernels *items;
	size_t count, cap;
	double middle_ns; /* of all names */
	int64_t step_count;
	bool is_unlike; /* captures are of unlike numbers of steps */
};

struct pf_ranks_works *pf_ranks_works_new(void)
{
	struct pf_ranks_works *w = pf_calloc(1, sizeof(*w));

	w->step_count = -1;
	return w;
}

void pf_ranks_works_free(struct pf_ranks_works *w)
{
	if (w)
		free(w->items);
	free(w);
}

void pf_ranks_works_take(struct pf_ranks_works *w, size_t rank,
			 const struct pf_digest *d)
{
	int64_t steps = (int64_t)d->step_count;

	w->is_unlike |= w->step_count >= 0 && w->step_count != steps;
	w->step_count = steps;
	for (size_t i = 0; i < d->kernel_count; i++) {
		if (d->kernels[i].count <= 0 || d->kernels[i].ns < 0)
			continue;
		w->items = pf_grow(w->items, &w->cap, w->count + 1,
				   sizeof(*w->items));
		w->items[w->count++] =
			(struct kernels){ .name_hash = d->kernels[i].name_hash,
					  .rank = (uint32_t)rank,
					  .count = d->kernels[i].count,
					  .ns = d->kernels[i].ns };
	}
}

PF_ORDER(by_name, struct kernels, PF_UP(name_hash) PF_UP(rank))

PF_ORDER(by_value, double, PF_UP_VALUE)

/* The lower one: of two ranks it is a rank's own. */
static double lower_median(double *values, size_t count)
{
	pf_sort(values, count, sizeof(*values), by_value);
	return values[(count - 1) / 2];
}

/* One name on all its ranks; on others there is none of it. */
static void compare_name(struct pf_ranks_works *w, struct kernels *of,
			 size_t count, size_t rank_count, double *values)
{
	size_t all = count > rank_count ? count : rank_count;
	double each_ns, middle;

	for (size_t i = 0; i < count; i++)
		values[i] = (double)of[i].ns / (double)of[i].count;
	each_ns = lower_median(values, count);
	for (size_t i = 0; i < all; i++)
		values[i] = i < count ? (double)of[i].count : 0;
	middle = lower_median(values, all);
	w->middle_ns += middle * each_ns;
	for (size_t i = 0; i < count; i++)
		of[i].like_ns = (double)of[i].count * each_ns;
}

/* ---- a rank ---- */

static double ratio(const struct kernels *k)
{
	return k->like_ns > 0 ? (double)k->ns / k->like_ns : 1;
}

static int by_ratio(const void *a, const void *b)
{
	const struct kernels *x = a, *y = b;
	double p = ratio(x), q = ratio(y);

	if (p != q)
		return p < q ? -1 : 1;
	return (x->name_hash > y->name_hash) - (x->name_hash < y->name_hash);
}

PF_ORDER(by_rank, struct kernels, PF_UP(rank) PF_THEN(by_ratio))

/* Half of the time is in kernels that are longer by no more than this. */
static double common_factor(const struct kernels *of, size_t count, double all)
{
	double below = 0;

	for (size_t i = 0; i < count; i++) {
		below += of[i].like_ns;
		if (below >= all / 2)
			return ratio(&of[i]);
	}
	return 1;
}

static bool is_sum(double ns)
{
	return ns > -NS_MAX && ns < NS_MAX;
}

static enum pf_rank_work name_work(const struct pf_ranks_rank *r)
{
	double longer = (double)(r->kernel_ns - r->middle_ns);

	if (longer <= LONGER * (double)r->middle_ns)
		return PF_WORK_ALIKE;
	if (r->slower_ns > r->more_ns && r->slower_ns >= r->some_ns)
		return PF_WORK_SLOWER;
	return r->some_ns > r->more_ns ? PF_WORK_SOME : PF_WORK_MORE;
}

/* The parts and the middle rank's time add up to its own. */
static void compare_rank(const struct pf_ranks_works *w,
			 const struct kernels *of, size_t count,
			 struct pf_ranks_rank *out)
{
	double like_ns = 0, ns = 0, factor, slower_ns;

	for (size_t i = 0; i < count; i++) {
		ns += (double)of[i].ns;
		like_ns += of[i].like_ns;
	}
	factor = common_factor(of, count, like_ns);
	slower_ns = (factor - 1) * like_ns;
	if (!is_sum(w->middle_ns) || !is_sum(like_ns) || !is_sum(ns) ||
	    !is_sum(slower_ns))
		return;
	out->kernel_ns = 0;
	for (size_t i = 0; i < count; i++)
		out->kernel_ns += of[i].ns;
	out->middle_ns = llround(w->middle_ns);
	out->more_ns = llround(like_ns) - out->middle_ns;
	out->slower_ns = llround(slower_ns);
	out->some_ns =
		out->kernel_ns - out->middle_ns - out->more_ns - out->slower_ns;
	out->factor = factor;
	out->work = name_work(out);
	out->why_longer = pf_rank_work_name(out->work);
}

static void compare_all(struct pf_ranks_works *w, struct pf_ranks *out)
{
	double *values =
		pf_calloc(w->count + out->rank_count + 1, sizeof(*values));

	pf_sort(w->items, w->count, sizeof(*w->items), by_name);
	for (size_t i = 0, end; i < w->count; i = end) {
		for (end = i + 1;
		     end < w->count &&
		     w->items[end].name_hash == w->items[i].name_hash;)
			end++;
		compare_name(w, &w->items[i], end - i, out->rank_count, values);
	}
	pf_sort(w->items, w->count, sizeof(*w->items), by_rank);
	for (size_t i = 0, end; i < w->count; i = end) {
		for (end = i + 1;
		     end < w->count && w->items[end].rank == w->items[i].rank;)
			end++;
		compare_rank(w, &w->items[i], end - i,
			     &out->ranks[w->items[i].rank]);
	}
	free(values);
}

/* Captures of unlike lengths hold unlike work. */
void pf_ranks_works_find(struct pf_ranks_works *w,
			 const struct pf_ranks_job *job, struct pf_ranks *out)
{
	if (w->count && !w->is_unlike && !job->left_count)
		compare_all(w, out);
}
