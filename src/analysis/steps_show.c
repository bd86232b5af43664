/* SPDX-License-Identifier: MIT */
/* Means are over whole steps; the list has all of them. */
#include "config.h"

#include <stdlib.h>

#include "base/stats.h"
#include "analysis/steps_impl.h"
#include "base/buf.h"
#include "base/mem.h"
#include "base/num.h"
#include "base/sat.h"

static const struct {
	const char *name, *words;
} classes[CLASSES] = {
	[KERNEL] = { "kernel", "in kernels" },
	[COPY] = { "copy", "in copies" },
	[MEMSET] = { "memset", "in memsets" },
	[COMM] = { "comm", "in exposed communication" },
	[RUNTIME] = { "runtime", "in calls of the runtime" },
	[DATA] = { "data", "loading data" },
	[CPU] = { "cpu", "in operators and ranges on the CPU" },
	[OTHER] = { "other", "outside of operators and calls" },
};

struct totals {
	struct pf_stats dur, class[CLASSES];
	int64_t *durs, *class_durs[CLASSES];
	size_t count, partial;
	int64_t busy_ns, window_ns; /* from first to last whole step */
};

/* From the first to the last whole step of each trace, as in all commands. */
static int64_t add_windows(const struct steps *s)
{
	int64_t sum_ns = 0, last_ns = 0;

	for (size_t i = 0; i < s->count; i++) {
		const struct row *row = &s->rows[i];

		if (!i || row[-1].trace_id != row->trace_id)
			last_ns = row->start_ns;
		if (!row->is_partial) {
			pf_sat_sum(&sum_ns, row->end_ns - last_ns);
			last_ns = row->end_ns;
		}
	}
	return sum_ns;
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
	}
	t->busy_ns += s->between.busy_ns;
	t->window_ns = add_windows(s);
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

static int64_t percentile(const int64_t *sorted, size_t count, unsigned percent)
{
	return count ? sorted[pf_stats_rank(count, percent)] : 0;
}

/* In one trace: time in which any of them is busy is not that of each. */
static bool has_many_gpus(const struct steps *s)
{
	for (size_t i = 1; i < s->device_count; i++)
		if (s->devices[i].trace_id == s->devices[i - 1].trace_id)
			return true;
	return false;
}

/* "A step takes 8 ms" */
static void say_window(const struct steps *s, const struct totals *t,
		       struct pf_buf *out)
{
	char mean[PF_NUM_MAX];

	pf_num_show_ns(mean, pf_stats_mean(&t->dur));
	if (s->rows->step >= 0)
		pf_buf_addf(out, "A step takes %s", mean);
	else
		pf_buf_addf(out, "%sn %s%s",
			    s->window.is_whole ? "I"
					       : "Without profiler steps, i",
			    mean,
			    s->window.is_restricted || !s->device_count
				    ? ""
				    : " from first to last GPU work");
}

static void add_finding(const struct steps *s, const struct totals *t,
			struct pf_doc *doc)
{
	char busy[PF_NUM_MAX], most[PF_NUM_MAX];
	struct pf_buf text = { 0 };
	size_t top = CPU;

	if (!t->count) {
		pf_doc_finding(doc, "There are no complete steps");
		return;
	}
	for (size_t c = 0; c < CLASSES; c++)
		if (t->class[c].sum > t->class[top].sum)
			top = c;
	say_window(s, t, &text);
	if (s->device_count)
		pf_buf_addf(
			&text, ": %s busy %s, and",
			has_many_gpus(s) ? "any GPU" : "GPU",
			pf_num_show_ratio(
				busy, pf_num_share(t->busy_ns, t->window_ns)));
	else
		pf_buf_addf(&text, ":");
	pf_num_show_ratio(most, pf_num_share(t->class[top].sum, t->dur.sum));
	pf_doc_finding(doc, "%.*s most of the time, %s, %s", (int)text.len,
		       text.data, most, classes[top].words);
	pf_buf_release(&text);
}

/* Of no use unless it is known of every kernel. */
static void put_efficiency(struct pf_table *t, const struct pf_sm_sums *sums,
			   int64_t window_ns)
{
	if (sums->sized_ns == sums->kernel_ns && sums->sized_ns)
		pf_table_ratio(t, sums->efficiency_ns, window_ns);
	else
		pf_table_null(t);
}

/* What GPUs did from the first to the last whole step, and for how long. */
static int64_t sum_devices(const struct steps *s, struct pf_sm_sums *sums)
{
	int64_t window_ns = 0;

	*sums = (struct pf_sm_sums){ 0 };
	for (size_t i = 0; i < s->device_count; i++) {
		pf_sm_sums_add(sums, &s->devices[i].sums);
		pf_sat_sum(&window_ns, s->devices[i].window_ns);
	}
	return window_ns;
}

static void add_utilization(const struct steps *s, struct pf_doc *doc)
{
	struct pf_sm_sums sums;
	int64_t window_ns = sum_devices(s, &sums);

	if (s->device_count)
		pf_doc_real(doc, "utilization_share", "GPU in kernels",
			    PF_RATIO, pf_num_share(sums.covered_ns, window_ns));
	else
		pf_doc_null(doc, "utilization_share", "GPU in kernels",
			    PF_RATIO);
}

static void add_usage(const struct steps *s, struct pf_doc *doc)
{
	static const char key[] = "sm_efficiency_share";
	static const char title[] = "SM efficiency, estimated";
	static const char occupancy[] = "occupancy_percent";
	static const char occupied[] = "Achieved occupancy, estimated, %";
	static const char known[] = "occupancy_known_share";
	static const char of_time[] = "  known of kernel time";
	struct pf_sm_sums sums;
	int64_t window_ns = sum_devices(s, &sums);

	if (sums.sized_ns && sums.sized_ns == sums.kernel_ns && window_ns > 0)
		pf_doc_real(doc, key, title, PF_RATIO,
			    sums.efficiency_ns / (double)window_ns);
	else
		pf_doc_null(doc, key, title, PF_RATIO);
	if (sums.occupied_ns)
		pf_doc_real(doc, occupancy, occupied, PF_REAL,
			    sums.occupancy_ns / (double)sums.occupied_ns);
	else
		pf_doc_null(doc, occupancy, occupied, PF_REAL);
	if (sums.kernel_ns)
		pf_doc_real(doc, known, of_time, PF_RATIO,
			    pf_num_share(sums.occupied_ns, sums.kernel_ns));
	else
		pf_doc_null(doc, known, of_time, PF_RATIO);
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

		pf_table_known(t, d->rank);
		pf_table_known(t, d->device);
		pf_table_int(t, d->window_ns);
		pf_table_ratio(t, d->sums.covered_ns, d->window_ns);
		put_efficiency(t, &d->sums, d->window_ns);
		pf_table_ratio(t, d->sums.occupancy_ns, d->sums.occupied_ns);
		pf_table_ratio(t, d->sums.occupied_ns, d->sums.kernel_ns);
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
	if (s->device_count)
		pf_doc_real(doc, "busy_share",
			    has_many_gpus(s) ? "Any GPU busy" : "GPU busy",
			    PF_RATIO, pf_num_share(t->busy_ns, t->window_ns));
	else
		pf_doc_null(doc, "busy_share", "GPU busy", PF_RATIO);
	add_utilization(s, doc);
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
		pf_table_real(table, pf_num_share(t->class[c].sum, t->dur.sum));
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

	pf_table_known(t, row->step);
	pf_table_int(t, row->start_ns);
	pf_table_int(t, dur);
	for (size_t c = 0; c < CLASSES; c++)
		pf_table_int(t, row->class_ns[c]);
	pf_table_int(t, row->busy_ns);
	pf_table_int(t, row->kernel_union_ns);
	pf_table_real(t, pf_num_share(row->sm.covered_ns, row->gpu_ns));
	pf_table_int(t, row->kernels);
	pf_table_int(t, row->copies);
	pf_table_int(t, row->memsets);
	pf_table_int(t, row->launches);
	pf_table_int(t, row->syncs);
	put_efficiency(t, &row->sm, row->gpu_ns);
	pf_table_ratio(t, row->sm.occupancy_ns, row->sm.occupied_ns);
	pf_table_ratio(t, row->sm.occupied_ns, row->sm.kernel_ns);
	for (int way = 0; way < PF_COPY_OTHER; way++) {
		pf_table_int(t, row->ways[way].count);
		pf_table_int(t, row->ways[way].bytes);
		pf_table_int(t, row->ways[way].ns);
	}
	pf_table_int(t, row->is_partial);
	pf_table_known(t, row->rank);
	pf_table_int(t, row->trace_id);
	for (size_t c = 0; c < CLASSES; c++)
		if (c != MEMSET)
			pf_table_real(t, pf_num_share(row->class_ns[c], dur));
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
		{ "synchronize_count", "Synchronize calls",
		  PF_COUNT | PF_FULL },
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

void pf_steps_show(const struct steps *s, const struct pf_steps_args *args,
		   struct pf_doc *doc)
{
	struct totals t = { 0 };

	add_up(s, &t);
	add_scalars(s, &t, args, doc);
	add_classes(&t, doc);
	add_rows(s, doc);
	pf_copies_show(s->copies, doc);
	add_devices(s, doc);
	if (t.partial)
		pf_doc_note(doc,
			    "%zu steps at the end of their trace are cut off "
			    "and not in the means",
			    t.partial);
	release(&t);
}
