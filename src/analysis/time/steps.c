/* SPDX-License-Identifier: MIT */
/*
 * GPU work and host spans, both in order of time, are merged into one sweep
 * whose places are emptied at every border of a step.
 */
#include "config.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/time/step_ranges.h"
#include "analysis/time/steps.h"
#include "base/mem.h"
#include "base/num.h"
#include "base/order.h"
#include "base/sat.h"
#include "base/stats.h"
#include "events/gpu.h"
#include "events/hints.h"
#include "events/host.h"
#include "events/interval.h"
#include "events/step.h"
#include "events/trust.h"
#include "show/rows.h"
#include "formats/event.h"

/* Sets of the sweep are the classes without "other", and one more: */
#define ANY_KERNEL 7 /* kernels of every class; of TPUs: around others */
#define BIT(set)   (1u << (set))
#define GPU_BITS                                                               \
	(BIT(PF_STEP_KERNEL) | BIT(PF_STEP_COPY) | BIT(PF_STEP_MEMSET) |       \
	 BIT(PF_STEP_COMM))

struct steps {
	struct pf_db *db;
	struct pf_step_times *out;
	size_t at, end; /* steps of the trace being swept */
	bool is_begun;  /* the sweep has come to the start of "at" */
	struct pf_sweep sweep;
	struct pf_step_time between; /* what was swept between whole steps */
	struct pf_step_time outside; /* and around them; not used */
	struct pf_sm *sms;           /* one for each device */
	size_t sm_cap;
	size_t first_device, first_step; /* of the trace being swept */
	size_t host_at;                  /* the step that the host is in */
	struct pf_gpu *gpu;
	bool has_gpu; /* the trace being swept has GPU work */
	bool is_tpu;  /* and that is a TPU's */
};

/* ---- which steps ---- */

static void add_step(struct pf_step_times *s,
		     const struct pf_window_trace *trace,
		     const struct pf_step *step)
{
	int64_t start = step ? step->start_ns : trace->lo_ns;
	int64_t end = step ? step->end_ns : trace->hi_ns;

	if (step && (start < trace->from_ns || start >= trace->to_ns))
		return;
	s->steps = pf_grow(s->steps, &s->cap, s->count + 1, sizeof(*s->steps));
	s->has_steps |= step != NULL;
	s->steps[s->count++] = (struct pf_step_time){
		.trace_id = trace->trace_id,
		.rank = trace->rank,
		.step = step ? step->step : -1,
		.track_id = step ? step->track_id : 0,
		.host_start_ns = step ? step->host_start_ns : start,
		.host_end_ns = step ? step->host_end_ns : end,
		.start_ns = start,
		.end_ns = end,
		.dur_ns = pf_sat_sub(end, start),
		.is_partial = step && step->is_partial,
		.is_empty = step && step->is_empty,
	};
}

static bool has_steps(const struct pf_step_times *s, const struct pf_steps *all,
		      int64_t trace_id)
{
	return !s->window.is_whole &&
	       pf_steps_first(all, trace_id) < all->count;
}

static int choose_steps(struct pf_db *db, struct pf_step_times *s,
			struct pf_err *err)
{
	struct pf_steps all = { 0 };
	int rc = pf_window_steps(db, &s->window, &all, err);

	if (!rc)
		pf_window_note_steps(&s->window, &all);
	for (size_t i = 0; !rc && i < s->window.count; i++)
		if (!has_steps(s, &all, s->window.traces[i].trace_id)) {
			rc = pf_window_settle(db, &s->window, err);
			break;
		}
	for (size_t i = 0; !rc && i < s->window.count; i++) {
		const struct pf_window_trace *trace = &s->window.traces[i];

		if (!has_steps(s, &all, trace->trace_id)) {
			if (s->is_untimed || trace->is_side)
				continue;
			/* of no time there are no shares */
			if (trace->hi_ns > trace->lo_ns)
				add_step(s, trace, NULL);
			else
				s->is_instant |= !trace->is_empty;
			continue;
		}
		for (size_t k = 0; k < all.count; k++)
			if (all.items[k].trace_id == trace->trace_id)
				add_step(s, trace, &all.items[k]);
	}
	pf_steps_release(&all);
	return rc;
}

/* ---- the sweep ---- */

/* A TPU's operation around others computes where none of them runs. */
static unsigned settle_tpu(unsigned mask)
{
	const unsigned kernels = BIT(PF_STEP_KERNEL) | BIT(PF_STEP_COMM);
	unsigned own = mask & ~BIT(ANY_KERNEL);

	if (mask & kernels)
		return own | BIT(ANY_KERNEL);
	return own != mask && !(mask & GPU_BITS) ? own | BIT(PF_STEP_KERNEL)
						 : own;
}

static void harvest(struct steps *s, struct pf_step_time *row)
{
	struct pf_sweep *sweep = &s->sweep;

	for (unsigned swept = 0; swept < 1u << PF_SWEEP_SETS; swept++) {
		unsigned mask = s->is_tpu ? settle_tpu(swept) : swept;
		int64_t ns = sweep->by_mask[swept];
		unsigned c = PF_STEP_KERNEL;

		if (!ns)
			continue;
		while (c < PF_STEP_OTHER && !(mask & BIT(c)))
			c++;
		row->class_ns[c] += ns;
		if (mask & GPU_BITS && s->has_gpu)
			row->busy_ns += ns;
		if (mask & BIT(ANY_KERNEL))
			row->kernel_union_ns += ns;
	}
	memset(sweep->by_mask, 0, sizeof(sweep->by_mask));
}

/*
 * What GPUs did up to a border: the end of a row, or its start.  The window
 * begins with the first step and ends with the last that is whole.
 */
static void harvest_devices(struct steps *s, struct pf_step_time *row,
			    bool is_end)
{
	bool is_first = s->at == s->first_step;
	int64_t border = is_end ? row->end_ns : row->start_ns;

	for (size_t i = s->first_device; i < s->out->device_count; i++) {
		struct pf_sm_sums sums = pf_sm_take(&s->sms[i], border);

		if (is_end)
			pf_sm_sums_add(&row->sm, &sums);
		if (!row->is_partial && (is_end || !is_first))
			pf_sm_sums_add(&s->out->devices[i].sm, &sums);
	}
}

/* Sweep to a time, giving what was swept to the steps it belongs to. */
static void sweep_to(struct steps *s, int64_t ns)
{
	struct pf_step_time *row = &s->out->steps[s->at];

	if (!s->sweep.any && s->at < s->end)
		pf_sweep_begin(&s->sweep,
			       ns < row->start_ns ? ns : row->start_ns);
	for (; s->at < s->end; row++) {
		if (s->sweep.at_ns < row->start_ns) {
			pf_sweep_to(&s->sweep,
				    ns < row->start_ns ? ns : row->start_ns);
			harvest(s, s->at > s->first_step && !row->is_partial
					   ? &s->between
					   : &s->outside);
			if (ns < row->start_ns)
				return;
		}
		if (s->sweep.at_ns == row->start_ns && !s->is_begun) {
			harvest_devices(s, row, false);
			s->is_begun = true;
		}
		pf_sweep_to(&s->sweep, ns < row->end_ns ? ns : row->end_ns);
		if (ns < row->end_ns)
			return;
		harvest(s, row);
		harvest_devices(s, row, true);
		s->is_begun = false;
		s->at++;
	}
}

static void add_span(struct steps *s, unsigned set, int64_t start, int64_t end)
{
	sweep_to(s, start);
	if (s->at < s->end)
		pf_sweep_add(&s->sweep, set, start, end);
}

/* The GPU of an event; a new one has done nothing up to now. */
static size_t find_device(struct steps *s, const struct pf_gpu_event *ev)
{
	struct pf_step_times *out = s->out;
	size_t n = out->device_count;

	for (size_t i = s->first_device; i < n; i++)
		if (out->devices[i].device == ev->device)
			return i;
	out->devices = pf_grow(out->devices, &out->device_cap, n + 1,
			       sizeof(*out->devices));
	s->sms = pf_grow(s->sms, &s->sm_cap, n + 1, sizeof(*s->sms));
	out->devices[n] =
		(struct pf_step_device){ .trace_id = ev->trace->trace_id,
					 .rank = ev->trace->rank,
					 .device = ev->device };
	pf_sm_init(&s->sms[n]);
	return out->device_count++;
}

/* A TPU has operations in place of kernels, also such that copy. */
static bool is_op_copy(const struct pf_gpu_event *ev)
{
	return ev->kind == PF_KIND_GPU_OTHER && ev->class == PF_GPU_COPY;
}

static bool is_kernel(const struct pf_gpu_event *ev)
{
	return ev->kind == PF_KIND_KERNEL ||
	       (ev->kind == PF_KIND_GPU_OTHER && ev->class != PF_GPU_COPY);
}

/* Work that starts in a step is counted there, whole. */
static int count_gpu(struct steps *s, struct pf_step_time *row,
		     const struct pf_gpu_event *ev, struct pf_err *err)
{
	row->kernels += is_kernel(ev);
	row->copies += ev->kind == PF_KIND_MEMCPY || is_op_copy(ev);
	row->memsets += ev->kind == PF_KIND_MEMSET;
	if (ev->class != PF_GPU_COPY || row->is_partial)
		return 0;
	if (pf_copies_add(s->out->copies, s->gpu, ev, err) < 0)
		return -1;
	row->ways[ev->way].count++;
	pf_sat_sum(&row->ways[ev->way].ns, ev->dur_ns);
	if (ev->bytes >= 0)
		pf_sat_sum(&row->ways[ev->way].bytes, ev->bytes);
	return 0;
}

static int add_gpu(struct steps *s, const struct pf_gpu_event *ev,
		   struct pf_err *err)
{
	static const unsigned sets[PF_GPU_CLASSES] = {
		[PF_GPU_COMPUTE] = PF_STEP_KERNEL,
		[PF_GPU_COMM] = PF_STEP_COMM,
		[PF_GPU_COPY] = PF_STEP_COPY,
		[PF_GPU_MEMSET] = PF_STEP_MEMSET,
	};
	const struct pf_gpu_config *c = ev->launch;
	size_t device = find_device(s, ev);
	struct pf_step_time *row;

	if (ev->is_in_flight)
		return 0;
	add_span(s, ev->is_around ? ANY_KERNEL : sets[ev->class], ev->start_ns,
		 ev->end_ns);
	if (s->at == s->end)
		return 0;
	if (is_kernel(ev) && !ev->is_around) {
		if (!s->is_tpu)
			add_span(s, ANY_KERNEL, ev->start_ns, ev->end_ns);
		pf_sm_add(&s->sms[device], ev->start_ns, ev->end_ns,
			  c ? c->blocks_per_sm : -1, c ? c->occupancy : -1);
	}
	row = &s->out->steps[s->at];
	return ev->start_ns < row->start_ns ? 0 : count_gpu(s, row, ev, err);
}

/* Communication of the host is part of what it does where a GPU works. */
static unsigned host_set(const struct steps *s, enum pf_host_class class)
{
	static const unsigned sets[PF_HOST_CLASSES] = {
		[PF_HOST_RUNTIME] = PF_STEP_RUNTIME,
		[PF_HOST_DATA] = PF_STEP_DATA,
		[PF_HOST_COMM] = PF_STEP_COMM,
		[PF_HOST_CPU] = PF_STEP_CPU,
	};

	return class == PF_HOST_COMM && s->has_gpu ? PF_STEP_CPU : sets[class];
}

/* The step on the host in which an instant lies; they only go on. */
static struct pf_step_time *host_step(struct steps *s, int64_t at_ns)
{
	struct pf_step_time *all = s->out->steps;

	/* a window that is no step holds its last instant, too */
	while (s->host_at < s->end &&
	       (all[s->host_at].step < 0
			? all[s->host_at].host_end_ns < at_ns
			: all[s->host_at].host_end_ns <= at_ns))
		s->host_at++;
	if (s->host_at == s->end || all[s->host_at].host_start_ns > at_ns)
		return NULL;
	return &all[s->host_at];
}

static void add_host(struct steps *s, const struct pf_host_span *span)
{
	struct pf_step_time *row = host_step(s, span->start_ns);

	add_span(s, host_set(s, span->class), span->start_ns, span->end_ns);
	if (!row)
		return;
	row->launches += span->is_launch;
	row->kernel_launches += span->is_kernel_launch;
	row->syncs += span->is_sync;
}

static int sweep_trace(struct steps *s, struct pf_window *window,
		       struct pf_err *err)
{
	struct pf_host *host = NULL;
	struct pf_gpu *gpu =
		pf_gpu_new(s->db, window, PF_GPU_BYTES | PF_GPU_TPUS, err);
	const struct pf_gpu_event *ev = NULL;
	struct pf_host_span span;
	int more_gpu = -1, more_host = -1;

	s->gpu = gpu;
	s->is_tpu = window->traces->is_tpu;
	if (gpu)
		host = pf_host_new(s->db, window->traces->trace_id,
				   s->out->window.steps, err);
	pf_sweep_init(&s->sweep);
	if (host) {
		more_gpu = pf_gpu_next(gpu, &ev, err);
		more_host = pf_host_next(host, &span, err);
		s->has_gpu = more_gpu == 1;
	}
	while ((more_gpu == 1 || more_host == 1) && more_gpu >= 0 &&
	       more_host >= 0 && s->at < s->end) {
		if (more_gpu == 1 &&
		    (more_host != 1 || ev->start_ns <= span.start_ns)) {
			more_gpu = add_gpu(s, ev, err);
			if (!more_gpu)
				more_gpu = pf_gpu_next(gpu, &ev, err);
		} else {
			add_host(s, &span);
			more_host = pf_host_next(host, &span, err);
		}
	}
	sweep_to(s, INT64_MAX);
	/* GPUs that idle in all steps are GPUs, as for others */
	while (more_gpu == 1 && more_host >= 0) {
		find_device(s, ev);
		more_gpu = pf_gpu_next(gpu, &ev, err);
	}
	pf_gpu_free(gpu);
	pf_host_free(host);
	return more_gpu < 0 || more_host < 0 ? -1 : 0;
}

static struct pf_step_use use_of(const struct pf_sm_sums *sums, int64_t time_ns)
{
	/* of no use unless it is known of every kernel */
	bool is_sized = sums->sized_ns && sums->sized_ns == sums->kernel_ns;

	return (struct pf_step_use){
		pf_ratio((double)sums->covered_ns, time_ns),
		pf_ratio(sums->efficiency_ns, is_sized ? time_ns : 0),
		pf_ratio(sums->occupancy_ns, sums->occupied_ns),
		pf_ratio((double)sums->occupied_ns, sums->kernel_ns),
	};
}

/* The window of its GPUs, and their time in each step. */
static void end_trace(struct steps *s)
{
	struct pf_step_times *out = s->out;
	size_t gpus = out->device_count - s->first_device;
	int64_t start_ns = out->steps[s->first_step].start_ns, end_ns = 0;

	for (size_t i = s->first_step; i < s->end; i++) {
		struct pf_step_time *row = &out->steps[i];

		if (!row->is_partial)
			end_ns = row->end_ns;
		if (__builtin_mul_overflow(row->dur_ns, (int64_t)gpus,
					   &row->gpu_ns))
			row->gpu_ns = INT64_MAX;
		row->use = use_of(&row->sm, row->gpu_ns);
		row->use.utilization_share =
			pf_num_share(row->sm.covered_ns, row->gpu_ns);
		for (size_t c = 0; c < PF_STEP_CLASSES; c++)
			row->class_share[c] =
				pf_num_share(row->class_ns[c], row->dur_ns);
	}
	for (size_t i = s->first_device; i < out->device_count; i++) {
		struct pf_step_device *d = &out->devices[i];

		if (end_ns > start_ns)
			d->window_ns = end_ns - start_ns;
		d->use = use_of(&d->sm, d->window_ns);
	}
	out->has_many_gpus |= gpus > 1;
}

static int sweep_all(struct steps *s, struct pf_err *err)
{
	const struct pf_window *window = &s->out->window;

	for (size_t i = 0; i < window->count; i++) {
		struct pf_window_trace trace = window->traces[i];
		struct pf_window one = { .traces = &trace,
					 .count = 1,
					 .device = window->device };

		s->at = s->end;
		while (s->end < s->out->count &&
		       s->out->steps[s->end].trace_id == trace.trace_id)
			s->end++;
		if (s->at == s->end)
			continue;
		/* Spans that reach into a step are cut by the sweep. */
		trace.from_ns = INT64_MIN;
		trace.to_ns = INT64_MAX;
		s->first_step = s->host_at = s->at;
		s->first_device = s->out->device_count;
		s->is_begun = false;
		if (sweep_trace(s, &one, err) < 0)
			return -1;
		end_trace(s);
	}
	return 0;
}

/* ---- over all ---- */

/* -1: the steps are too few. */
static int64_t carried(const int64_t *values, size_t count, unsigned percent)
{
	return pf_stats_carries(count, percent)
		       ? pf_stats_quantile(values, count, percent)
		       : -1;
}

/* Puts the values in order. */
static struct pf_step_spread spread(int64_t *values, size_t count)
{
	struct pf_stats stats = { 0 };
	struct pf_step_spread s = { .p90_ns = -1, .p95_ns = -1, .p99_ns = -1 };

	if (!count)
		return s;
	pf_sort(values, count, sizeof(*values), pf_stats_compare);
	for (size_t i = 0; i < count; i++)
		pf_stats_add(&stats, values[i]);
	s.sum_ns = stats.sum;
	s.mean_ns = pf_stats_mean(&stats);
	s.min_ns = stats.min;
	s.max_ns = stats.max;
	s.p50_ns = pf_stats_quantile(values, count, 50);
	s.p90_ns = carried(values, count, 90);
	s.p95_ns = carried(values, count, 95);
	s.p99_ns = carried(values, count, 99);
	return s;
}

static void add_up_steps(struct pf_step_times *s)
{
	int64_t *values = pf_calloc(s->count + 1, sizeof(*values));
	int64_t last_ns = 0;
	size_t n;

	for (size_t i = 0; i < s->count; i++) {
		if (!i || s->steps[i - 1].trace_id != s->steps[i].trace_id)
			last_ns = s->steps[i].start_ns;
		if (s->steps[i].is_partial) {
			s->partial_count += !s->steps[i].is_empty;
			s->empty_count += s->steps[i].is_empty;
			continue;
		}
		pf_sat_sum(&s->window_ns, s->steps[i].end_ns - last_ns);
		last_ns = s->steps[i].end_ns;
		s->busy_ns += s->steps[i].busy_ns;
		values[s->full_count++] = s->steps[i].dur_ns;
	}
	s->dur = spread(values, (size_t)s->full_count);
	for (size_t c = 0; c < PF_STEP_CLASSES; c++) {
		n = 0;
		for (size_t i = 0; i < s->count; i++)
			if (!s->steps[i].is_partial)
				values[n++] = s->steps[i].class_ns[c];
		s->classes[c] = spread(values, n);
		s->classes[c].name = pf_step_class_name((enum pf_step_class)c);
		s->classes[c].share =
			pf_num_share(s->classes[c].sum_ns, s->dur.sum_ns);
	}
	free(values);
}

static void add_up(struct pf_step_times *s, int64_t samples_per_step)
{
	struct pf_sm_sums sums = { 0 };
	int64_t window_ns = 0;
	double seconds;

	add_up_steps(s);
	for (size_t i = 0; i < s->device_count; i++) {
		pf_sm_sums_add(&sums, &s->devices[i].sm);
		pf_sat_sum(&window_ns, s->devices[i].window_ns);
	}
	s->use = use_of(&sums, window_ns);
	s->use.utilization_share = s->busy_share = NAN;
	if (s->device_count) {
		s->use.utilization_share =
			pf_num_share(sums.covered_ns, window_ns);
		s->busy_share = pf_num_share(s->busy_ns, s->window_ns);
	}
	seconds = (double)s->dur.sum_ns / 1e9;
	if (seconds > 0)
		s->steps_per_second = (double)s->full_count / seconds;
	s->samples_per_second = NAN;
	if (samples_per_step)
		s->samples_per_second =
			seconds > 0 ? (double)s->full_count *
					      (double)samples_per_step / seconds
				    : 0;
}

PF_ORDER(by_device, struct pf_step_device, PF_UP(trace_id) PF_UP(device))

int pf_step_times_find(struct pf_db *db, const struct pf_steps_args *args,
		       struct pf_step_times *out, struct pf_err *err)
{
	struct steps s = { .db = db, .out = out };
	int rc = pf_window_resolve(db, &args->window, &out->window, err);

	out->copies = pf_copies_new();
	out->empty_count = args->empty_count;
	if (!rc)
		rc = pf_trust_recorded(db, &out->window, &out->recorded, err);
	out->is_untimed = out->recorded.producer == PF_FROM_SNAPSHOT;
	if (!rc && (choose_steps(db, out, err) < 0 ||
		    (!args->only_times && sweep_all(&s, err) < 0)))
		rc = -1;
	if (!rc) {
		out->busy_ns = s.between.busy_ns;
		add_up(out, args->samples_per_step);
	}
	for (size_t i = 0; i < out->device_count; i++)
		pf_sm_release(&s.sms[i]);
	free(s.sms);
	pf_sort(out->devices, out->device_count, sizeof(*out->devices),
		by_device);
	return rc;
}

void pf_step_times_release(struct pf_step_times *times)
{
	pf_copies_free(times->copies);
	free(times->devices);
	free(times->steps);
	pf_window_release(&times->window);
	*times = (struct pf_step_times){ 0 };
}

int pf_steps_answer(struct pf_db *db, const struct pf_steps_args *args,
		    struct pf_step_times *kept, struct pf_doc *doc,
		    struct pf_err *err)
{
	struct pf_step_times own = { 0 }, *s = kept ? kept : &own;
	unsigned trust = PF_TRUST_WORK | PF_TRUST_LINKS | PF_TRUST_TPUS;
	int rc = pf_step_times_find(db, args, s, err);

	if (!rc) {
		pf_step_times_show(s, doc);
		if (args->by_range)
			rc = pf_step_ranges(db, &args->window, s, doc, err);
	}
	if (!rc) {
		if (s->count && s->steps->step < 0)
			trust |= PF_TRUST_STEPS;
		rc = pf_trust_note(db, &s->window, trust, doc, err);
	}
	pf_step_times_release(&own);
	return rc;
}

size_t pf_steps_warm_up(const int64_t *durations_ns, size_t count)
{
	int64_t *list = pf_calloc(count + 1, sizeof(*list));
	double limit;
	size_t out = 0;

	memcpy(list, durations_ns, count * sizeof(*list));
	pf_sort(list, count, sizeof(*list), pf_stats_compare);
	limit = PF_WARM_UP_TIMES * (double)pf_stats_quantile(list, count, 50);
	while (out < count && (double)durations_ns[out] > limit)
		out++;
	free(list);
	return out;
}

void pf_steps_find_warm_up(const struct pf_step_time *first,
			   size_t stride_bytes, size_t count,
			   struct pf_steps_warm_up *out)
{
	int64_t *list = pf_calloc(count + 1, sizeof(*list)), trace_id = 0;
	const char *at = (const char *)first;
	size_t listed = 0;

	for (size_t i = 0; i <= count; i++, at += stride_bytes) {
		const struct pf_step_time *s = (const void *)at;

		if (i && (i == count || s->trace_id != trace_id)) {
			size_t found = pf_steps_warm_up(list, listed);

			out->most = found > out->most ? found : out->most;
			out->least = listed < out->least ? listed : out->least;
			listed = 0;
		}
		if (i == count)
			break;
		trace_id = s->trace_id;
		if (!s->is_partial)
			list[listed++] = s->dur_ns;
	}
	free(list);
}
