/* SPDX-License-Identifier: MIT */
/*
 * GPU work and host spans, both in order of time, are merged into one sweep
 * whose places are emptied at every border of a step.
 */
#include "config.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/copies.h"
#include "analysis/gpu.h"
#include "analysis/host.h"
#include "analysis/interval.h"
#include "analysis/sm.h"
#include "analysis/stats.h"
#include "analysis/step.h"
#include "analysis/steps.h"
#include "analysis/trust.h"
#include "base/mem.h"
#include "base/num.h"
#include "trace/event.h"

/* In order of precedence; sets of the sweep, and "other" is none of them. */
enum { KERNEL, COPY, MEMSET, COMM, RUNTIME, DATA, CPU, OTHER, CLASSES };
#define ANY_KERNEL 7 /* one more set: kernels of every class */
#define BIT(class) (1u << (class))
#define GPU_BITS   (BIT(KERNEL) | BIT(COPY) | BIT(MEMSET) | BIT(COMM))

static const struct {
	const char *name, *words;
} classes[CLASSES] = {
	[KERNEL] = { "kernel", "in kernels" },
	[COPY] = { "copy", "in copies" },
	[MEMSET] = { "memset", "in memsets" },
	[COMM] = { "comm", "in exposed communication" },
	[RUNTIME] = { "runtime", "in calls of the runtime" },
	[DATA] = { "data", "loading data" },
	[CPU] = { "cpu", "in operators on the CPU" },
	[OTHER] = { "other", "in nothing that was recorded" },
};

struct row {
	int64_t trace_id, rank, step; /* step -1: the whole trace */
	int64_t start_ns, end_ns;
	int64_t class_ns[CLASSES], busy_ns, kernel_union_ns;
	int64_t before_kernel_ns; /* kernels since the step before */
	int64_t kernels, copies, memsets, launches, syncs;
	struct {
		int64_t count, bytes, ns;
	} ways[PF_COPY_WAYS];
	struct pf_sm_sums sm; /* of all GPUs */
	int64_t gpu_ns;       /* its duration times the number of GPUs */
	bool is_partial;
	bool is_begun; /* the sweep has come to its start */
};

struct device {
	int64_t trace_id, rank, device;
	int64_t window_ns; /* from the first to the last whole step */
	struct pf_sm sm;
	struct pf_sm_sums sums;
};

struct steps {
	struct pf_db *db;
	struct pf_window window;
	struct row *rows;
	size_t count, cap;
	size_t at, end; /* rows of the trace being swept */
	struct pf_sweep sweep;
	struct row before; /* what was swept since the last step */
	struct device *devices;
	size_t device_count, device_cap;
	size_t first_device, first_row; /* of the trace being swept */
	struct pf_copies *copies;
	struct pf_gpu *gpu;
};

/* ---- which steps ---- */

static void add_row(struct steps *s, const struct pf_window_trace *trace,
		    const struct pf_step *step)
{
	struct row *row;
	int64_t start = step ? step->start_ns : trace->first_ns;
	int64_t end = step ? step->end_ns : trace->last_ns;

	if (step && (start < trace->from_ns || start >= trace->to_ns))
		return;
	if (!step && !pf_window_cut(trace, &start, &end))
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

static int choose_rows(struct steps *s, struct pf_err *err)
{
	struct pf_steps all = { 0 };
	int rc = pf_window_steps(s->db, &s->window, &all, err);

	for (size_t i = 0; !rc && i < s->window.count; i++) {
		const struct pf_window_trace *trace = &s->window.traces[i];
		bool any = false;

		for (size_t k = 0; k < all.count; k++) {
			if (all.items[k].trace_id != trace->trace_id)
				continue;
			any = true;
			add_row(s, trace, &all.items[k]);
		}
		if (!any)
			add_row(s, trace, NULL);
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
			harvest(&s->sweep, &s->before);
			if (ns < row->start_ns)
				return;
		}
		if (s->sweep.at_ns == row->start_ns && !row->is_begun) {
			row->before_kernel_ns = s->before.kernel_union_ns;
			s->before = (struct row){ 0 };
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
	row->ways[way].ns = pf_span_end(row->ways[way].ns, ev->dur_ns);
	if (ev->bytes >= 0)
		row->ways[way].bytes =
			pf_span_end(row->ways[way].bytes, ev->bytes);
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

/* ---- the answer ---- */

struct totals {
	struct pf_stats dur, class[CLASSES];
	int64_t *durs, *class_durs[CLASSES];
	size_t count, partial;
	int64_t busy_ns;
	int64_t kernel_ns, window_ns; /* first start to last end, by trace */
};

/* Kernels between two steps of a trace are within the window. */
static void add_window(const struct steps *s, size_t i, struct totals *t)
{
	const struct row *row = &s->rows[i];

	t->kernel_ns += row->kernel_union_ns;
	t->window_ns += row->end_ns - row->start_ns;
	if (!i || row[-1].trace_id != row->trace_id)
		return;
	t->kernel_ns += row->before_kernel_ns;
	t->window_ns += row->start_ns - row[-1].end_ns;
}

static void add_up(const struct steps *s, struct totals *t)
{
	t->durs = pf_calloc(s->count + 1, sizeof(*t->durs));
	for (size_t c = 0; c < CLASSES; c++)
		t->class_durs[c] = pf_calloc(s->count + 1, sizeof(*t->durs));
	for (size_t i = 0; i < s->count; i++) {
		const struct row *row = &s->rows[i];

		if (row->is_partial) {
			t->partial++;
			continue;
		}
		for (size_t c = 0; c < CLASSES; c++) {
			t->class_durs[c][t->count] = row->class_ns[c];
			pf_stats_add(&t->class[c], row -> class_ns[c]);
		}
		t->durs[t->count++] = row->end_ns - row->start_ns;
		pf_stats_add(&t->dur, row->end_ns - row->start_ns);
		t->busy_ns += row->busy_ns;
		add_window(s, i, t);
	}
	if (!t->count)
		return;
	qsort(t->durs, t->count, sizeof(*t->durs), pf_stats_compare);
	for (size_t c = 0; c < CLASSES; c++)
		qsort(t->class_durs[c], t->count, sizeof(*t->durs),
		      pf_stats_compare);
}

static void release(struct totals *t)
{
	free(t->durs);
	for (size_t c = 0; c < CLASSES; c++)
		free(t->class_durs[c]);
}

static double share(int64_t part, int64_t whole)
{
	return whole > 0 ? (double)part / (double)whole : 0;
}

static int64_t percentile(const int64_t *sorted, size_t count, unsigned percent)
{
	return count ? sorted[pf_stats_rank(count, percent)] : 0;
}

static void add_finding(const struct steps *s, const struct totals *t,
			struct pf_doc *doc)
{
	char mean[PF_NUM_MAX], busy[PF_NUM_MAX], most[PF_NUM_MAX];
	size_t top = CPU;

	if (!t->count) {
		pf_doc_finding(doc, "There are no complete steps");
		return;
	}
	for (size_t c = 0; c < CLASSES; c++)
		if (t->class[c].sum > t->class[top].sum)
			top = c;
	pf_num_show_ns(mean, pf_stats_mean(&t->dur));
	pf_num_show_ratio(busy, share(t->busy_ns, t->dur.sum));
	pf_num_show_ratio(most, share(t->class[top].sum, t->dur.sum));
	if (s->rows->step < 0)
		pf_doc_finding(doc,
			       "Without profiler steps the trace is one of %s: "
			       "GPU busy %s, and most of the time, %s, %s",
			       mean, busy, most, classes[top].words);
	else
		pf_doc_finding(doc,
			       "A step takes %s: GPU busy %s, and most of the "
			       "time, %s, %s",
			       mean, busy, most, classes[top].words);
}

static void add_number(struct pf_table *t, int64_t n)
{
	if (n >= 0)
		pf_table_int(t, n);
	else
		pf_table_null(t);
}

static void put_share(struct pf_table *t, double part, int64_t whole)
{
	if (whole > 0)
		pf_table_real(t, part / (double)whole);
	else
		pf_table_null(t);
}

/* Of no use unless it is known of every kernel. */
static void put_efficiency(struct pf_table *t, const struct pf_sm_sums *sums,
			   int64_t window_ns)
{
	if (sums->sized_ns == sums->kernel_ns && sums->sized_ns)
		put_share(t, sums->efficiency_ns, window_ns);
	else
		pf_table_null(t);
}

static void add_usage(const struct steps *s, struct pf_doc *doc)
{
	static const char key[] = "sm_efficiency_share";
	static const char title[] = "SM efficiency, estimated";
	static const char occupancy[] = "occupancy_percent";
	static const char occupied[] = "Achieved occupancy, estimated, %";
	struct pf_sm_sums sums = { 0 };
	int64_t window_ns = 0;

	for (size_t i = 0; i < s->device_count; i++) {
		pf_sm_sums_add(&sums, &s->devices[i].sums);
		window_ns = pf_span_end(window_ns, s->devices[i].window_ns);
	}
	if (!sums.kernel_ns)
		return;
	if (sums.sized_ns == sums.kernel_ns && window_ns > 0)
		pf_doc_real(doc, key, title, PF_RATIO,
			    sums.efficiency_ns / (double)window_ns);
	else
		pf_doc_null(doc, key, title, PF_RATIO);
	if (sums.occupied_ns)
		pf_doc_real(doc, occupancy, occupied, PF_REAL,
			    sums.occupancy_ns / (double)sums.occupied_ns);
	else
		pf_doc_null(doc, occupancy, occupied, PF_REAL);
	pf_doc_real(doc, "occupancy_known_share", "  known of kernel time",
		    PF_RATIO, share(sums.occupied_ns, sums.kernel_ns));
}

static void add_devices(const struct steps *s, struct pf_doc *doc)
{
	static const struct pf_col cols[] = {
		{ "rank", "Rank", PF_INT },
		{ "device", "GPU", PF_INT },
		{ "window_ns", "Time", PF_NS },
		{ "utilization_share", "Kernels", PF_RATIO },
		{ "sm_efficiency_share", "SM efficiency", PF_RATIO },
		{ "occupancy_percent", "Occupancy %", PF_REAL },
		{ "occupancy_known_share", "Known", PF_RATIO },
		{ "kernel_ns", "Kernels, summed", PF_NS | PF_FULL },
		{ "kernel_union_ns", "GPU in kernels", PF_NS | PF_FULL },
		{ "trace_id", "Trace", PF_INT | PF_FULL },
	};
	struct pf_table *t = pf_doc_table(doc, "devices", "GPUs", cols,
					  sizeof(cols) / sizeof(*cols));

	for (size_t i = 0; i < s->device_count; i++) {
		const struct device *d = &s->devices[i];

		add_number(t, d->rank);
		add_number(t, d->device);
		pf_table_int(t, d->window_ns);
		put_share(t, (double)d->sums.covered_ns, d->window_ns);
		put_efficiency(t, &d->sums, d->window_ns);
		put_share(t, d->sums.occupancy_ns, d->sums.occupied_ns);
		put_share(t, (double)d->sums.occupied_ns, d->sums.kernel_ns);
		pf_table_int(t, d->sums.kernel_ns);
		pf_table_int(t, d->sums.covered_ns);
		pf_table_int(t, d->trace_id);
	}
}

static void add_scalars(const struct steps *s, const struct totals *t,
			const struct pf_steps_args *args, struct pf_doc *doc)
{
	static const struct {
		unsigned percent;
		const char *key, *title;
	} ranks[] = {
		{ 50, "p50_ns", "Median" },
		{ 90, "p90_ns", "90th percentile" },
		{ 95, "p95_ns", "95th percentile" },
		{ 99, "p99_ns", "99th percentile" },
		{ 100, "max_ns", "Longest" },
	};
	double seconds = (double)t->dur.sum / 1e9;

	add_finding(s, t, doc);
	pf_doc_int(doc, "step_count", "Steps", PF_COUNT, (int64_t)t->count);
	pf_doc_int(doc, "mean_ns", "Mean", PF_NS, pf_stats_mean(&t->dur));
	for (size_t i = 0; i < sizeof(ranks) / sizeof(*ranks); i++)
		pf_doc_int(doc, ranks[i].key, ranks[i].title, PF_NS,
			   percentile(t->durs, t->count, ranks[i].percent));
	pf_doc_real(doc, "busy_share", "GPU busy", PF_RATIO,
		    share(t->busy_ns, t->dur.sum));
	pf_doc_real(doc, "utilization_share", "GPU in kernels", PF_RATIO,
		    share(t->kernel_ns, t->window_ns));
	pf_doc_real(doc, "steps_per_second", "Steps per second", PF_REAL,
		    seconds > 0 ? (double)t->count / seconds : 0);
	add_usage(s, doc);
	if (args->samples_per_step)
		pf_doc_real(doc, "samples_per_second", "Samples per second",
			    PF_REAL,
			    seconds > 0
				    ? (double)t->count *
					      (double)args->samples_per_step /
					      seconds
				    : 0);
}

static void add_classes(const struct totals *t, struct pf_doc *doc)
{
	static const struct pf_col cols[] = {
		{ "class", "Class", PF_TEXT },
		{ "mean_ns", "Mean", PF_NS },
		{ "share", "Share", PF_RATIO },
		{ "p50_ns", "Median", PF_NS },
		{ "p90_ns", "90th", PF_NS },
		{ "max_ns", "Longest", PF_NS },
		{ "p95_ns", "95th", PF_NS | PF_FULL },
		{ "p99_ns", "99th", PF_NS | PF_FULL },
		{ "min_ns", "Shortest", PF_NS | PF_FULL },
	};
	struct pf_table *table =
		pf_doc_table(doc, "classes", "Where the time of a step goes",
			     cols, sizeof(cols) / sizeof(*cols));

	for (size_t c = 0; c < CLASSES; c++) {
		pf_table_string(table, classes[c].name);
		pf_table_int(table, pf_stats_mean(&t->class[c]));
		pf_table_real(table, share(t->class[c].sum, t->dur.sum));
		pf_table_int(table, percentile(t->class_durs[c], t->count, 50));
		pf_table_int(table, percentile(t->class_durs[c], t->count, 90));
		pf_table_int(table, t->class[c].max);
		pf_table_int(table, percentile(t->class_durs[c], t->count, 95));
		pf_table_int(table, percentile(t->class_durs[c], t->count, 99));
		pf_table_int(table, t->class[c].min);
	}
}

static void add_step(struct pf_table *t, const struct row *row)
{
	int64_t dur = row->end_ns - row->start_ns;

	add_number(t, row->step);
	pf_table_int(t, row->start_ns);
	pf_table_int(t, dur);
	for (size_t c = 0; c < CLASSES; c++)
		pf_table_int(t, row->class_ns[c]);
	pf_table_int(t, row->busy_ns);
	pf_table_int(t, row->kernel_union_ns);
	pf_table_real(t, share(row->kernel_union_ns, dur));
	pf_table_int(t, row->kernels);
	pf_table_int(t, row->copies);
	pf_table_int(t, row->memsets);
	pf_table_int(t, row->launches);
	pf_table_int(t, row->syncs);
	put_efficiency(t, &row->sm, row->gpu_ns);
	put_share(t, row->sm.occupancy_ns, row->sm.occupied_ns);
	put_share(t, (double)row->sm.occupied_ns, row->sm.kernel_ns);
	for (int way = 0; way < PF_COPY_OTHER; way++) {
		pf_table_int(t, row->ways[way].count);
		pf_table_int(t, row->ways[way].bytes);
		pf_table_int(t, row->ways[way].ns);
	}
	pf_table_int(t, row->is_partial);
	add_number(t, row->rank);
	pf_table_int(t, row->trace_id);
	for (size_t c = 0; c < CLASSES; c++)
		if (c != MEMSET)
			pf_table_real(t, share(row->class_ns[c], dur));
}

static void add_rows(const struct steps *s, struct pf_doc *doc)
{
	static const struct pf_col cols[] = {
		{ "step", "Step", PF_INT },
		{ "start_ns", "Start", PF_INT | PF_FULL },
		{ "dur_ns", "Duration", PF_NS },
		{ "kernel_ns", "Kernel", PF_NS | PF_FULL },
		{ "copy_ns", "Copy", PF_NS | PF_FULL },
		{ "memset_ns", "Memset", PF_NS | PF_FULL },
		{ "comm_ns", "Comm", PF_NS | PF_FULL },
		{ "runtime_ns", "Runtime", PF_NS | PF_FULL },
		{ "data_ns", "Data", PF_NS | PF_FULL },
		{ "cpu_ns", "CPU", PF_NS | PF_FULL },
		{ "other_ns", "Other", PF_NS | PF_FULL },
		{ "busy_ns", "GPU busy", PF_NS | PF_FULL },
		{ "kernel_union_ns", "GPU in kernels", PF_NS | PF_FULL },
		{ "utilization_share", "Utilization", PF_RATIO | PF_FULL },
		{ "kernel_count", "Kernels", PF_COUNT | PF_FULL },
		{ "copy_count", "Copies", PF_COUNT | PF_FULL },
		{ "memset_count", "Memsets", PF_COUNT | PF_FULL },
		{ "launch_count", "Launches", PF_COUNT | PF_FULL },
		{ "sync_count", "Syncs", PF_COUNT | PF_FULL },
		{ "sm_efficiency_share", "SM efficiency", PF_RATIO | PF_FULL },
		{ "occupancy_percent", "Occupancy %", PF_REAL | PF_FULL },
		{ "occupancy_known_share", "Known", PF_RATIO | PF_FULL },
		{ "htod_count", "HtoD", PF_COUNT | PF_FULL },
		{ "htod_bytes", "HtoD", PF_BYTES | PF_FULL },
		{ "htod_ns", "HtoD", PF_NS | PF_FULL },
		{ "dtoh_count", "DtoH", PF_COUNT | PF_FULL },
		{ "dtoh_bytes", "DtoH", PF_BYTES | PF_FULL },
		{ "dtoh_ns", "DtoH", PF_NS | PF_FULL },
		{ "dtod_count", "DtoD", PF_COUNT | PF_FULL },
		{ "dtod_bytes", "DtoD", PF_BYTES | PF_FULL },
		{ "dtod_ns", "DtoD", PF_NS | PF_FULL },
		{ "ptop_count", "PtoP", PF_COUNT | PF_FULL },
		{ "ptop_bytes", "PtoP", PF_BYTES | PF_FULL },
		{ "ptop_ns", "PtoP", PF_NS | PF_FULL },
		{ "is_partial", "Partial", PF_INT | PF_FULL },
		{ "rank", "Rank", PF_INT | PF_FULL },
		{ "trace_id", "Trace", PF_INT | PF_FULL },
		{ "kernel_share", "Kernel", PF_RATIO | PF_BRIEF },
		{ "copy_share", "Copy", PF_RATIO | PF_BRIEF },
		{ "comm_share", "Comm", PF_RATIO | PF_BRIEF },
		{ "runtime_share", "Runtime", PF_RATIO | PF_BRIEF },
		{ "data_share", "Data", PF_RATIO | PF_BRIEF },
		{ "cpu_share", "CPU", PF_RATIO | PF_BRIEF },
		{ "other_share", "Other", PF_RATIO | PF_BRIEF },
	};
	struct pf_table *t = pf_doc_table(doc, "steps", "Steps", cols,
					  sizeof(cols) / sizeof(*cols));

	for (size_t i = 0; i < s->count; i++)
		add_step(t, &s->rows[i]);
}

int pf_steps_answer(struct pf_db *db, const struct pf_steps_args *args,
		    struct pf_doc *doc, struct pf_err *err)
{
	struct steps s = { .db = db };
	struct totals t = { 0 };
	int rc = pf_window_resolve(db, &args->window, &s.window, err);

	s.copies = pf_copies_new();
	if (!rc && (choose_rows(&s, err) < 0 || sweep_all(&s, err) < 0))
		rc = -1;
	if (!rc) {
		add_up(&s, &t);
		add_scalars(&s, &t, args, doc);
		add_classes(&t, doc);
		add_rows(&s, doc);
		pf_copies_show(s.copies, doc);
		add_devices(&s, doc);
		if (t.partial)
			pf_doc_note(doc,
				    "%zu steps at the end of their trace are "
				    "cut off and not in the means",
				    t.partial);
		rc = pf_trust_note(db, &s.window,
				   PF_TRUST_WORK | PF_TRUST_LINKS |
					   (s.count && s.rows->step < 0
						    ? PF_TRUST_STEPS
						    : 0),
				   doc, err);
	}
	release(&t);
	for (size_t i = 0; i < s.device_count; i++)
		pf_sm_release(&s.devices[i].sm);
	pf_copies_free(s.copies);
	free(s.devices);
	free(s.rows);
	pf_window_release(&s.window);
	return rc;
}
