/* SPDX-License-Identifier: MIT */
/*
 * What the shapes of operators say of the time that stays.  A change takes
 * from each call no more than what it is above its least time; so what is
 * saved on the path is no more than what all calls of the operator are above
 * theirs, on the path or not.  Calls that are not modelled may vanish.
 */
#include "analysis/advise/advise_impl.h"

#include "base/sat.h"
#include "analysis/roofline/roofline.h"

/* Operations in a nanosecond, the most of some precisions; or NAN. */
static double fastest(const struct pf_gpu_peaks *peaks, const enum pf_peak *of,
		      size_t count)
{
	double best = NAN;

	for (size_t i = 0; i < count; i++) {
		double rate = pf_gpu_peaks_matrix(peaks, of[i]);

		if (!isnan(rate) && !(rate <= best))
			best = rate;
	}
	return best;
}

static double product_rate(const struct pf_gpu_peaks *peaks, enum pf_peak own,
			   enum advise_least least)
{
	static const enum pf_peak single[] = { PF_PEAK_FP32, PF_PEAK_TF32 };
	static const enum pf_peak reduced[] = { PF_PEAK_FP32, PF_PEAK_TF32,
						PF_PEAK_BF16, PF_PEAK_FP16 };

	if (own == PF_PEAK_NONE)
		return NAN;
	if (own != PF_PEAK_FP32)
		return pf_gpu_peaks_matrix(peaks, own);
	return least == ADVISE_LEAST_REDUCED
		       ? fastest(peaks, reduced,
				 sizeof(reduced) / sizeof(*reduced))
		       : fastest(peaks, single,
				 sizeof(single) / sizeof(*single));
}

/* What calls alike take at least; 0 where nothing says so. */
static double least_ns(const struct pf_roofline *r,
		       const struct pf_roofline_row *row,
		       enum advise_least least)
{
	const struct pf_op_work *w = row->work;
	double compute, memory = 0, calls = (double)row->s.calls;

	if (least == ADVISE_LEAST_ROOF)
		return row->s.roof_ns;
	compute = calls * (double)w->matrix /
		  product_rate(&r->peaks, w->precision, least);
	/* in reduced precision all is half as large */
	if (least == ADVISE_LEAST_REDUCED)
		memory = calls * (double)w->bytes / 2 /
			 r->peaks.rate[PF_PEAK_BYTES];
	if (isnan(compute) || !w->matrix)
		compute = 0;
	return memory > compute ? memory : compute;
}

struct room {
	int64_t ns, all_ns;
	bool is_modelled;
};

/* All calls of an operator. */
static struct room room_of(const struct pf_roofline *r, const char *op,
			   enum advise_least least)
{
	struct room room = { 0 };

	for (size_t i = 0; i < r->shape_count; i++) {
		const struct pf_roofline_row *row = &r->shapes[i];
		double ns;

		if (strcmp(row->op, op) != 0)
			continue;
		ns = least_ns(r, row, least);
		pf_sat_sum(&room.all_ns, row->s.kernel_ns);
		room.is_modelled = true;
		if (ns < (double)row->s.kernel_ns)
			pf_sat_sum(&room.ns, row->s.kernel_ns - (int64_t)ns);
	}
	for (size_t i = 0; i < r->walk.rest_count; i++) {
		const struct pf_roof_rest *rest = &r->walk.rest[i];

		if (!rest->op || strcmp(rest->op, op) != 0)
			continue;
		pf_sat_sum(&room.all_ns, rest->ns);
		pf_sat_sum(&room.ns, rest->ns);
	}
	return room;
}

/* On the path, of an operator. */
struct held {
	const char *op;
	int64_t ns;
};

static struct held *hold(const struct pf_advise *a,
			 bool (*owns)(const struct advise_row *r),
			 size_t *count)
{
	const struct advise_tiles *t = a->tiles;
	struct held *all = pf_calloc(t->row_count + 1, sizeof(*all));
	struct pf_intern ops;

	pf_intern_init(&ops);
	for (size_t i = 0; i < t->row_count; i++) {
		const struct advise_row *r = &t->rows[i];
		uint32_t n;

		if (!owns(r) || r->category != PF_PATH_KERNEL || !*r->op)
			continue;
		n = pf_intern_add(&ops, r->op, strlen(r->op));
		all[n].op = r->op;
		all[n].ns += r->ns;
	}
	*count = ops.count;
	pf_intern_release(&ops);
	return all;
}

void advise_bound(const struct pf_advise *a, const struct pf_advise_from *from,
		  bool (*owns)(const struct advise_row *r),
		  enum advise_least least, struct pf_advice *out)
{
	const struct pf_roofline *r = from->roofline;
	char stays[PF_NUM_MAX];
	struct held *all;
	int64_t ns = 0;
	size_t count;

	if (!r || !r->shape_count)
		return;
	all = hold(a, owns, &count);
	for (size_t i = 0; i < count; i++) {
		const struct room room = room_of(r, all[i].op, least);

		/* what is not of this window bounds nothing */
		if (room.is_modelled && room.all_ns >= all[i].ns &&
		    room.ns < all[i].ns)
			ns += all[i].ns - room.ns;
	}
	free(all);
	if (!ns)
		return;
	out->at_most_ns -= ns;
	out->measured = pf_num_share(out->at_most_ns, a->window_ns);
	out->confidence = "model";
	pf_buf_addf(&out->sentence,
		    "; of it at least %s stay, by shapes and peak rates",
		    pf_num_show_ns(stays, ns));
}
