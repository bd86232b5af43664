/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/num.h"
#include "base/sat.h"
#include "analysis/roofline/sums.h"
#include "show/rows.h"

double pf_roof_time(const struct pf_gpu_peaks *peaks,
		    const struct pf_roof_call *call, enum pf_roof_bound *by)
{
	const struct pf_op_work *w = call->work;
	enum pf_peak at = w->precision;
	double compute, memory = (double)w->bytes / peaks->rate[PF_PEAK_BYTES];

	*by = call->is_host ? PF_ROOF_HOST : PF_ROOF_UNKNOWN;
	if (call->is_host)
		return NAN;
	if (call->is_tf32 && !isnan(peaks->rate[PF_PEAK_TF32]))
		at = PF_PEAK_TF32;
	if (w->matrix)
		compute = (double)w->matrix / pf_gpu_peaks_matrix(peaks, at);
	else if (w->vector)
		compute = (double)w->vector / pf_gpu_peaks_vector(peaks, at);
	else
		compute = 0;
	if (isnan(compute) || isnan(memory))
		return NAN;
	*by = compute >= memory ? PF_ROOF_COMPUTE : PF_ROOF_MEMORY;
	return compute >= memory ? compute : memory;
}

/* A sum that does not fit is not known, and stays so. */
static void add_up(int64_t *sum, uint64_t part)
{
	if (*sum == PF_NO_INT || part > INT64_MAX ||
	    __builtin_add_overflow(*sum, (int64_t)part, sum))
		*sum = PF_NO_INT;
}

static void add_sum(int64_t *sum, int64_t part)
{
	if (part == PF_NO_INT)
		*sum = PF_NO_INT;
	else
		add_up(sum, (uint64_t)part);
}

void pf_roof_add(struct pf_roof_sums *s, const struct pf_gpu_peaks *peaks,
		 const struct pf_roof_call *call)
{
	enum pf_roof_bound bound = PF_ROOF_UNKNOWN;
	double roof = pf_roof_time(peaks, call, &bound), ns = (double)call->ns;

	if (isnan(roof))
		; /* nothing says what could be */
	else if (roof > ns * PF_ROOF_SLACK)
		bound = PF_ROOF_OVER;
	else if (roof < PF_ROOF_LATENCY_NS * (double)call->works)
		bound = PF_ROOF_LATENCY;
	if (!s->calls || call->ns < s->min_ns)
		s->min_ns = call->ns;
	if (call->ns > s->max_ns)
		s->max_ns = call->ns;
	s->calls++;
	s->replayed += call->is_replayed;
	s->works += call->works;
	pf_sat_sum(&s->kernel_ns, call->ns);
	pf_sat_sum(&s->bound_ns[bound], call->ns);
	add_up(&s->matrix, call->work->matrix);
	add_up(&s->vector, call->work->vector);
	add_up(&s->bytes, call->work->bytes);
	if (isnan(roof))
		return;
	/* What passed its roof is at it, so that the two add up. */
	if (roof > ns)
		roof = ns;
	s->roof_ns += roof;
	s->roofed_ns += ns;
	s->above_ns += ns - roof;
}

void pf_roof_merge(struct pf_roof_sums *to, const struct pf_roof_sums *more)
{
	if (!more->calls)
		return;
	if (!to->calls || more->min_ns < to->min_ns)
		to->min_ns = more->min_ns;
	if (more->max_ns > to->max_ns)
		to->max_ns = more->max_ns;
	to->calls += more->calls;
	to->replayed += more->replayed;
	to->works += more->works;
	pf_sat_sum(&to->kernel_ns, more->kernel_ns);
	for (size_t i = 0; i < PF_ROOF_BOUNDS; i++)
		pf_sat_sum(&to->bound_ns[i], more->bound_ns[i]);
	add_sum(&to->matrix, more->matrix);
	add_sum(&to->vector, more->vector);
	add_sum(&to->bytes, more->bytes);
	to->roof_ns += more->roof_ns;
	to->roofed_ns += more->roofed_ns;
	to->above_ns += more->above_ns;
}

/* What bounds most of the time. */
static enum pf_roof_bound bound_of(const struct pf_roof_sums *s)
{
	size_t most = PF_ROOF_UNKNOWN;

	for (size_t i = 0; i < PF_ROOF_BOUNDS; i++)
		if (s->bound_ns[i] > s->bound_ns[most])
			most = i;
	return (enum pf_roof_bound)most;
}

/* In 1e12 a second; a sum that is not known, or no time: not a number. */
static double rate(int64_t sum, int64_t ns, double unit)
{
	return sum == PF_NO_INT ? NAN : pf_ratio((double)sum / unit, ns);
}

static double three_digits(double d)
{
	char text[PF_NUM_MAX];

	snprintf(text, sizeof(text), "%.3g", d);
	return strtod(text, NULL);
}

void pf_roof_rate(struct pf_roofline_row *row, int64_t gpu_ns)
{
	const struct pf_roof_sums *s = &row->s;
	int64_t all = s->matrix;
	bool has_roof = s->roofed_ns > 0 && !s->bound_ns[PF_ROOF_UNKNOWN];

	add_sum(&all, s->vector);
	row->tflops = rate(all, s->kernel_ns, 1e3);
	row->gbps = rate(s->bytes, s->kernel_ns, 1);
	row->intensity = all == PF_NO_INT || s->bytes == PF_NO_INT
				 ? NAN
				 : pf_ratio((double)all, s->bytes);
	row->roof_ns = has_roof ? llround(s->roof_ns) : PF_NO_INT;
	row->above_ns = has_roof ? llround(s->above_ns) : PF_NO_INT;
	row->share = has_roof ? s->roof_ns / s->roofed_ns : NAN;
	row->bound = pf_roof_bound_word(bound_of(s));
	if (bound_of(s) == PF_ROOF_OVER)
		row->share = NAN;
	row->short_tflops = three_digits(row->tflops);
	row->short_gbps = three_digits(row->gbps);
	row->time_share = pf_ratio((double)s->kernel_ns, gpu_ns);
}
