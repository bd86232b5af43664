/* SPDX-License-Identifier: MIT */
/*
 * GPU work and host spans, both in order of time, are merged into one sweep
 * whose places are emptied at every border of a step.
 */
#include "config.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "events/host.h"
#include "events/step.h"
#include "analysis/steps_impl.h"
#include "events/trust.h"
#include "base/mem.h"
#include "base/sat.h"
#include "trace/event.h"

#define GPU_BITS (BIT(KERNEL) | BIT(COPY) | BIT(MEMSET) | BIT(COMM))

/* ---- which steps ---- */

static void add_row(struct steps *s, const struct pf_window_trace *trace,
		    const struct pf_step *step)
{
	struct row *row;
	int64_t start = step ? step->start_ns : trace->lo_ns;
	int64_t end = step ? step->end_ns : trace->hi_ns;

	if (step && (start < trace->from_ns || start >= trace->to_ns))
		return;
	s->rows = pf_grow(s->rows, &s->cap, s->count + 1, sizeof(*s->rows));
	row = &s->rows[s->count++];
	*row = (struct row){ .trace_id = trace->trace_id,
			     .rank = trace->rank,
			     .step = step ? step->step : -1,
			     .start_ns = start,
			     .end_ns = end,
			     .is_partial = step && step->is_partial };
}

static bool has_steps(const struct steps *s, const struct pf_steps *all,
		      int64_t trace_id)
{
	for (size_t i = 0; !s->window.is_whole && i < all->count; i++)
		if (all->items[i].trace_id == trace_id)
			return true;
	return false;
}

static int choose_rows(struct steps *s, struct pf_err *err)
{
	struct pf_steps all = { 0 };
	int rc = pf_window_steps(s->db, &s->window, &all, err);

	for (size_t i = 0; !rc && i < s->window.count; i++)
		if (!has_steps(s, &all, s->window.traces[i].trace_id)) {
			rc = pf_window_settle(s->db, &s->window, err);
			break;
		}
	for (size_t i = 0; !rc && i < s->window.count; i++) {
		const struct pf_window_trace *trace = &s->window.traces[i];
		if (!has_steps(s, &all, trace->trace_id)) {
			add_row(s, trace, NULL);
			continue;
		}
		for (size_t k = 0; k < all.count; k++)
			if (all.items[k].trace_id == trace->trace_id)
				add_row(s, trace, &all.items[k]);
	}
	pf_steps_release(&all);
	return rc;
}

/* ---- the sweep ---- */

static void harvest(struct pf_sweep *sweep, struct row *row)
{
	for (unsigned mask = 0; mask < 1u << PF_SWEEP_SETS; mask++) {
		int64_t ns = sweep->by_mask[mask];
		unsigned class = 0;

		if (!ns)
			continue;
		while (class < OTHER && !(mask & BIT(class)))
			class ++;
		row->class_ns[class] += ns;
		if (mask & GPU_BITS)
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
static void harvest_devices(struct steps *s, struct row *row, bool is_end)
{
	bool is_first = s->at == s->first_row;
	int64_t border = is_end ? row->end_ns : row->start_ns;

	for (size_t i = s->first_device; i < s->device_count; i++) {
		struct device *d = &s->devices[i];
		struct pf_sm_sums sums = pf_sm_take(&d->sm, border);

		if (is_end)
			pf_sm_sums_add(&row->sm, &sums);
		if (!row->is_partial && (is_end || !is_first))
			pf_sm_sums_add(&d->sums, &sums);
	}
}

/* Sweep to a time, giving what was swept to the steps it belongs to. */
static void sweep_to(struct steps *s, int64_t ns)
{
	if (!s->sweep.any && s->at < s->end)
		pf_sweep_begin(&s->sweep, ns < s->rows[s->at].start_ns
						  ? ns
						  : s->rows[s->at].start_ns);
	while (s->at < s->end) {
		struct row *row = &s->rows[s->at];

		if (s->sweep.at_ns < row->start_ns) {
			pf_sweep_to(&s->sweep,
				    ns < row->start_ns ? ns : row->start_ns);
			harvest(&s->sweep,
				s->at > s->first_row && !row->is_partial
					? &s->between
					: &s->outside);
			if (ns < row->start_ns)
				return;
		}
		if (s->sweep.at_ns == row->start_ns && !row->is_begun) {
			harvest_devices(s, row, false);
			row->is_begun = true;
		}
		pf_sweep_to(&s->sweep, ns < row->end_ns ? ns : row->end_ns);
		if (ns < row->end_ns)
			return;
		harvest(&s->sweep, row);
		harvest_devices(s, row, true);
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
static struct device *find_device(struct steps *s,
				  const struct pf_gpu_event *ev)
{
	struct device *d;

	for (size_t i = s->first_device; i < s->device_count; i++)
		if (s->devices[i].device == ev->device)
			return &s->devices[i];
	s->devices = pf_grow(s->devices, &s->device_cap, s->device_count + 1,
			     sizeof(*s->devices));
	d = &s->devices[s->device_count++];
	*d = (struct device){ .trace_id = ev->trace->trace_id,
			      .rank = ev->trace->rank,
			      .device = ev->device };
	pf_sm_init(&d->sm);
	return d;
}

/* Work that starts in a step is counted there, whole. */
static int count_gpu(struct steps *s, struct row *row,
		     const struct pf_gpu_event *ev, struct pf_err *err)
{
	enum pf_copy_way way;

	row->kernels += ev->kind == PF_KIND_KERNEL;
	row->copies += ev->kind == PF_KIND_MEMCPY;
	row->memsets += ev->kind == PF_KIND_MEMSET;
	if (ev->class != PF_GPU_COPY || row->is_partial)
		return 0;
	if (pf_copies_add(s->copies, s->gpu, ev, &way, err) < 0)
		return -1;
	row->ways[way].count++;
	pf_sat_sum(&row->ways[way].ns, ev->dur_ns);
	if (ev->bytes >= 0)
		pf_sat_sum(&row->ways[way].bytes, ev->bytes);
	return 0;
}

static int add_gpu(struct steps *s, const struct pf_gpu_event *ev,
		   struct pf_err *err)
{
	static const unsigned sets[PF_GPU_CLASSES] = {
		[PF_GPU_COMPUTE] = KERNEL,
		[PF_GPU_COMM] = COMM,
		[PF_GPU_COPY] = COPY,
		[PF_GPU_MEMSET] = MEMSET,
	};
	const struct pf_gpu_config *c = ev->launch;
	struct device *d;
	struct row *row;

	add_span(s, sets[ev->class], ev->start_ns, ev->end_ns);
	if (s->at == s->end)
		return 0;
	d = find_device(s, ev);
	if (ev->kind == PF_KIND_KERNEL) {
		add_span(s, ANY_KERNEL, ev->start_ns, ev->end_ns);
		pf_sm_add(&d->sm, ev->start_ns, ev->end_ns,
			  c ? c->blocks_per_sm : -1, c ? c->occupancy : -1);
	}
	row = &s->rows[s->at];
	return ev->start_ns < row->start_ns ? 0 : count_gpu(s, row, ev, err);
}

static void add_host(struct steps *s, const struct pf_host_span *span)
{
	struct row *row;

	add_span(s, RUNTIME + span->class, span->start_ns, span->end_ns);
	if (s->at == s->end)
		return;
	row = &s->rows[s->at];
	if (span->start_ns < row->start_ns)
		return;
	row->launches += span->is_launch;
	row->syncs += span->is_sync;
}

static int sweep_trace(struct steps *s, struct pf_window *window,
		       struct pf_err *err)
{
	struct pf_host *host = NULL;
	struct pf_gpu *gpu = pf_gpu_new(s->db, window, PF_GPU_BYTES, err);
	const struct pf_gpu_event *ev = NULL;
	struct pf_host_span span;
	int more_gpu = -1, more_host = -1;

	s->gpu = gpu;
	if (gpu)
		host = pf_host_new(s->db, window->traces->trace_id,
				   s->window.steps, err);
	pf_sweep_init(&s->sweep);
	if (host) {
		more_gpu = pf_gpu_next(gpu, &ev, err);
		more_host = pf_host_next(host, &span, err);
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
	pf_gpu_free(gpu);
	pf_host_free(host);
	return more_gpu < 0 || more_host < 0 ? -1 : 0;
}

/* The window of its GPUs, and their time in each step. */
static void end_trace(struct steps *s)
{
	size_t gpus = s->device_count - s->first_device;
	int64_t end_ns = 0;

	for (size_t i = s->first_row; i < s->end; i++) {
		struct row *row = &s->rows[i];

		if (!row->is_partial)
			end_ns = row->end_ns;
		if (__builtin_mul_overflow(row->end_ns - row->start_ns,
					   (int64_t)gpus, &row->gpu_ns))
			row->gpu_ns = INT64_MAX;
	}
	for (size_t i = s->first_device; i < s->device_count; i++)
		if (end_ns > s->rows[s->first_row].start_ns)
			s->devices[i].window_ns =
				end_ns - s->rows[s->first_row].start_ns;
}

static int sweep_all(struct steps *s, struct pf_err *err)
{
	s->end = 0;
	for (size_t i = 0; i < s->window.count; i++) {
		struct pf_window_trace trace = s->window.traces[i];
		struct pf_window one = { .traces = &trace,
					 .count = 1,
					 .device = s->window.device };

		s->at = s->end;
		while (s->end < s->count &&
		       s->rows[s->end].trace_id == trace.trace_id)
			s->end++;
		/* Spans that reach into a step are cut by the sweep. */
		trace.from_ns = INT64_MIN;
		trace.to_ns = INT64_MAX;
		s->first_row = s->at;
		s->first_device = s->device_count;
		if (s->at < s->end && sweep_trace(s, &one, err) < 0)
			return -1;
		end_trace(s);
	}
	return 0;
}

int pf_steps_answer(struct pf_db *db, const struct pf_steps_args *args,
		    struct pf_doc *doc, struct pf_err *err)
{
	struct steps s = { .db = db };
	int rc = pf_window_resolve(db, &args->window, &s.window, err);

	s.copies = pf_copies_new();
	if (!rc && (choose_rows(&s, err) < 0 || sweep_all(&s, err) < 0))
		rc = -1;
	if (!rc) {
		pf_steps_show(&s, args, doc);
		rc = pf_trust_note(db, &s.window,
				   PF_TRUST_WORK | PF_TRUST_LINKS |
					   (s.count && s.rows->step < 0
						    ? PF_TRUST_STEPS
						    : 0),
				   doc, err);
	}
	for (size_t i = 0; i < s.device_count; i++)
		pf_sm_release(&s.devices[i].sm);
	pf_copies_free(s.copies);
	free(s.devices);
	free(s.rows);
	pf_window_release(&s.window);
	return rc;
}
