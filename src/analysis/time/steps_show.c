/* SPDX-License-Identifier: MIT */
/* Means are over whole steps; the list has all of them. */
#include "config.h"

#include <stdlib.h>

#include "analysis/time/steps.h"
#include "base/buf.h"
#include "base/mem.h"
#include "base/num.h"
#include "show/rows.h"

static const struct {
	const char *name, *words;
} classes[PF_STEP_CLASSES] = {
	[PF_STEP_KERNEL] = { "kernel", "in kernels" },
	[PF_STEP_COPY] = { "copy", "in copies" },
	[PF_STEP_MEMSET] = { "memset", "in memsets" },
	[PF_STEP_COMM] = { "comm", "in communication alone" },
	[PF_STEP_RUNTIME] = { "runtime", "in calls of the runtime" },
	[PF_STEP_DATA] = { "data", "loading data" },
	[PF_STEP_CPU] = { "cpu", "in operators and ranges on the CPU" },
	[PF_STEP_OTHER] = { "other", "outside of operators and calls" },
};

const char *pf_step_class_name(enum pf_step_class c)
{
	return classes[c].name;
}

/* "A step takes 8 ms" */
static void say_window(const struct pf_step_times *s, struct pf_buf *out)
{
	char mean[PF_NUM_MAX];

	pf_num_show_ns(mean, s->dur.mean_ns);
	if (s->steps->step >= 0)
		pf_buf_addf(out, "A step takes %s", mean);
	else
		pf_buf_addf(
			out, "%sn %s%s",
			s->window.is_whole ? "I" : "Without profiler steps, i",
			mean,
			s->window.is_restricted || !s->device_count ? ""
			: s->window.is_tpu ? " from first to last TPU work"
					   : " from first to last GPU work");
}

/* Nobody did anything in them, so that they are no measure of a step. */
static void say_empty(const struct pf_step_times *s, struct pf_buf *out)
{
	char count[PF_NUM_MAX];

	if (s->empty_count)
		pf_buf_addf(out, "; %s %s left out",
			    pf_num_show_count(count, s->empty_count),
			    s->empty_count == 1
				    ? "step that holds nothing is"
				    : "steps that hold nothing are");
}

/* Has any trace of the window an event? */
static bool has_events(const struct pf_step_times *s)
{
	for (size_t i = 0; i < s->window.count; i++)
		if (!s->window.traces[i].is_empty)
			return true;
	return false;
}

static const char *why_none(const struct pf_step_times *s)
{
	if (s->is_untimed && !s->count)
		return "There are no steps: a memory snapshot says what was "
		       "allocated, not what took time; 'profan memory' shows "
		       "it";
	if (s->recorded.producer == PF_FROM_TABLES && !s->count)
		return "There are no steps: there is no trace, only what "
		       "stands beside one";
	if (!has_events(s))
		return "There are no events";
	if (!s->count && s->is_instant)
		return "There are no steps, and no time that could be divided: "
		       "all that was recorded is at one instant";
	if (s->count && s->empty_count == (int64_t)s->count)
		return "There are no steps that hold anything: no operator and "
		       "no GPU work";
	return "There are no complete steps";
}

/* What is in none of the classes is outside of what was recorded. */
static const char *outside(const struct pf_step_times *s)
{
	const struct pf_recorded *r = &s->recorded;

	if (r->has_ops && r->has_calls)
		return classes[PF_STEP_OTHER].words;
	if (r->has_ops)
		return "outside of operators and ranges";
	if (r->has_calls)
		return "outside of calls of the runtime; operators are not "
		       "recorded";
	if (s->device_count && s->window.is_tpu)
		return "without TPU work; what the host did is not recorded "
		       "by kind";
	return s->device_count
		       ? "without GPU work; what the host did is not recorded "
			 "by kind"
		       : "in what has no kind that profan knows";
}

/* Is the time in a class known, if it is 0? */
static bool is_known(const struct pf_step_times *s, enum pf_step_class c)
{
	const struct pf_recorded *r = &s->recorded;

	switch (c) {
	case PF_STEP_RUNTIME:
		return r->has_calls;
	case PF_STEP_DATA:
	case PF_STEP_CPU:
		return r->has_ops;
	case PF_STEP_COMM:
		return s->device_count || r->has_ops;
	case PF_STEP_OTHER:
		return true;
	default:
		return s->device_count > 0;
	}
}

static bool has_pauses(const struct pf_step_times *s)
{
	return s->window.between_share >= PF_WINDOW_BETWEEN;
}

/* What is between steps is in no class; a GPU may work there. */
static void say_pauses(const struct pf_step_times *s, struct pf_buf *out)
{
	char between[PF_NUM_MAX], busy[PF_NUM_MAX];

	pf_num_show_ratio(between, s->window.between_share);
	pf_buf_addf(out,
		    "; %s of the time from the first step to the last is "
		    "between them",
		    between);
	if (s->device_count)
		pf_buf_addf(out, ", and %s%s is busy %s of it all",
			    s->has_many_gpus ? "any " : "the ",
			    pf_window_device(&s->window),
			    pf_num_show_ratio(busy, s->busy_share));
}

static void add_finding(const struct pf_step_times *s, struct pf_doc *doc)
{
	char busy[PF_NUM_MAX], most[PF_NUM_MAX];
	struct pf_buf text = { 0 };
	size_t top = PF_STEP_CPU;
	const char *words;

	if (!s->full_count) {
		pf_doc_finding(doc, "%s", why_none(s));
		return;
	}
	for (size_t c = 0; c < PF_STEP_CLASSES; c++)
		if (s->classes[c].sum_ns > s->classes[top].sum_ns)
			top = c;
	say_window(s, &text);
	if (s->device_count && !has_pauses(s))
		pf_buf_addf(&text, ": %s%s busy %s, and",
			    s->has_many_gpus ? "any " : "",
			    pf_window_device(&s->window),
			    pf_num_show_ratio(busy, s->busy_share));
	else
		pf_buf_addf(&text, ":");
	pf_num_show_ratio(most, s->classes[top].share);
	words = !s->device_count && top == PF_STEP_COMM ? "in communication"
		: top == PF_STEP_OTHER                  ? outside(s)
							: classes[top].words;
	pf_buf_addf(&text, " %s, %s, %s",
		    s->classes[top].share < 0.5 ? "the largest part"
						: "most of the time",
		    most, words);
	if (has_pauses(s))
		say_pauses(s, &text);
	say_empty(s, &text);
	pf_doc_finding(doc, "%s", text.data);
	pf_buf_release(&text);
}

#define FIELD(member, key, title, kind)                                        \
	PF_FIELD(struct pf_step_times, member, key, title, kind)

static void add_scalars(const struct pf_step_times *s, struct pf_doc *doc)
{
	const int of_gpu = s->device_count ? 0 : PF_ABSENT;
	const int of_any = s->full_count ? 0 : PF_ABSENT;
	const int between = s->full_count < 1 || !s->has_steps ? PF_ABSENT
			    : has_pauses(s)                    ? 0
							       : PF_FULL;
	const int of_many = s->full_count > 1 ? 0 : PF_FULL | of_any;
	const struct pf_field fields[] = {
		FIELD(full_count, "step_count", "Steps", PF_COUNT),
		FIELD(dur.mean_ns, "mean_ns", "Mean", PF_NS | of_any),
		FIELD(dur.p50_ns, "p50_ns", "Median", PF_NS | of_many),
		FIELD(dur.p90_ns, "p90_ns", "90th percentile",
		      PF_NS | PF_KNOWN | PF_QUIET),
		FIELD(dur.p95_ns, "p95_ns", "95th percentile",
		      PF_NS | PF_KNOWN | PF_QUIET),
		FIELD(dur.p99_ns, "p99_ns", "99th percentile",
		      PF_NS | PF_KNOWN | PF_QUIET),
		FIELD(dur.max_ns, "max_ns", "Longest", PF_NS | of_many),
		FIELD(window.between_share, "between_share", "Between steps",
		      PF_RATIO | between),
		FIELD(busy_share, "busy_share",
		      s->has_many_gpus ? "Any GPU busy" : "GPU busy",
		      PF_RATIO | of_gpu),
		FIELD(use.utilization_share, "utilization_share",
		      "GPU in kernels", PF_RATIO | of_gpu),
		FIELD(steps_per_second, "steps_per_second",
		      has_pauses(s) ? "Steps per second of steps"
				    : "Steps per second",
		      PF_REAL | of_any),
		FIELD(use.sm_efficiency_share, "sm_efficiency_share",
		      "SM efficiency, estimated", PF_RATIO | of_gpu),
		FIELD(use.occupancy_percent, "occupancy_percent",
		      "Achieved occupancy, estimated, %", PF_REAL | of_gpu),
		FIELD(use.occupancy_known_share, "occupancy_known_share",
		      "  known of kernel time", PF_RATIO | of_gpu),
		FIELD(samples_per_second, "samples_per_second",
		      has_pauses(s) ? "Samples per second of steps"
				    : "Samples per second",
		      isnan(s->samples_per_second) ? PF_ABSENT : PF_REAL),
	};

	PF_WINDOW_SCALARS(&s->window, doc, fields, *s);
}
#undef FIELD

#define FIELD(member, key, title, kind)                                        \
	PF_FIELD(struct pf_step_device, member, key, title, kind)
static const struct pf_field device_fields[] = {
	FIELD(rank, "rank", "Rank", PF_INT | PF_KNOWN),
	FIELD(device, "device", "GPU", PF_INT | PF_KNOWN),
	FIELD(window_ns, "window_ns", "Time", PF_NS),
	FIELD(use.utilization_share, "utilization_share", "Kernels", PF_RATIO),
	FIELD(use.sm_efficiency_share, "sm_efficiency_share", "SM efficiency",
	      PF_RATIO),
	FIELD(use.occupancy_percent, "occupancy_percent", "Occupancy %",
	      PF_REAL),
	FIELD(use.occupancy_known_share, "occupancy_known_share", "Known",
	      PF_RATIO),
	FIELD(sm.kernel_ns, "kernel_ns", "Kernels, summed", PF_NS | PF_FULL),
	FIELD(sm.covered_ns, "kernel_union_ns", "GPU in kernels",
	      PF_NS | PF_FULL),
	FIELD(trace_id, "trace_id", "Trace", PF_INT | PF_FULL),
};
#undef FIELD

#define FIELD(member, key, title, kind)                                        \
	PF_FIELD(struct pf_step_spread, member, key, title, kind)
static void add_classes(const struct pf_step_times *s, struct pf_doc *doc)
{
	int of_many = s->full_count > 1 ? 0 : PF_FULL;
	int p90 = PF_KNOWN | (s->dur.p90_ns < 0 ? PF_FULL : 0);
	const struct pf_field fields[] = {
		FIELD(name, "class", "Class", PF_TEXT | PF_OURS),
		FIELD(mean_ns, "mean_ns", of_many ? "Time" : "Mean", PF_NS),
		FIELD(share, "share", "Share", PF_RATIO),
		FIELD(p50_ns, "p50_ns", "Median", PF_NS | of_many),
		FIELD(p90_ns, "p90_ns", "90th", PF_NS | p90),
		FIELD(max_ns, "max_ns", "Longest", PF_NS | PF_QUIET | of_many),
		FIELD(p95_ns, "p95_ns", "95th", PF_NS | PF_KNOWN | PF_FULL),
		FIELD(p99_ns, "p99_ns", "99th", PF_NS | PF_KNOWN | PF_FULL),
		FIELD(min_ns, "min_ns", "Shortest", PF_NS | PF_FULL),
	};

	struct pf_table *t =
		pf_doc_fields(doc, "classes", "Where the time of a step goes",
			      PF_FIELDS(fields));

	/* of what was not recorded there is nothing to say */
	for (size_t c = 0; c < PF_STEP_CLASSES; c++)
		if (s->full_count && (s->classes[c].sum_ns ||
				      is_known(s, (enum pf_step_class)c)))
			PF_PUT(t, fields, s->classes[c]);
}
#undef FIELD

#define FIELD(member, key, title, kind)                                        \
	PF_FIELD(struct pf_step_time, member, key, title, (kind) | PF_FULL)
#define CLASS_NS(c, key, title)                                                \
	FIELD(class_ns[c], key "_ns", title, PF_NS | PF_KNOWN)
#define CLASS_SHARE(c, key, title)                                             \
	PF_FIELD(struct pf_step_time, class_share[c], key "_share", title,     \
		 PF_RATIO | PF_BRIEF)
#define COPIES(way, key, title)                                                \
	FIELD(ways[way].count, key "_count", title, PF_COUNT | PF_KNOWN),      \
		FIELD(ways[way].bytes, key "_bytes", title,                    \
		      PF_BYTES | PF_KNOWN),                                    \
		FIELD(ways[way].ns, key "_ns", title, PF_NS | PF_KNOWN)
static const struct pf_field step_fields[] = {
	PF_FIELD(struct pf_step_time, step, "step", "Step", PF_INT | PF_KNOWN),
	FIELD(start_ns, "start_ns", "Start", PF_INT),
	PF_FIELD(struct pf_step_time, dur_ns, "dur_ns", "Duration", PF_NS),
	CLASS_NS(PF_STEP_KERNEL, "kernel", "Kernel"),
	CLASS_NS(PF_STEP_COPY, "copy", "Copy"),
	CLASS_NS(PF_STEP_MEMSET, "memset", "Memset"),
	CLASS_NS(PF_STEP_COMM, "comm", "Comm"),
	CLASS_NS(PF_STEP_RUNTIME, "runtime", "Runtime"),
	CLASS_NS(PF_STEP_DATA, "data", "Data"),
	CLASS_NS(PF_STEP_CPU, "cpu", "CPU"),
	CLASS_NS(PF_STEP_OTHER, "other", "Other"),
	FIELD(busy_ns, "busy_ns", "GPU busy", PF_NS | PF_KNOWN),
	FIELD(kernel_union_ns, "kernel_union_ns", "GPU in kernels",
	      PF_NS | PF_KNOWN),
	FIELD(use.utilization_share, "utilization_share", "Utilization",
	      PF_RATIO),
	FIELD(kernels, "kernel_count", "Kernels", PF_COUNT | PF_KNOWN),
	FIELD(copies, "copy_count", "Copies", PF_COUNT | PF_KNOWN),
	FIELD(memsets, "memset_count", "Memsets", PF_COUNT | PF_KNOWN),
	FIELD(launches, "launch_count", "Calls that launch",
	      PF_COUNT | PF_KNOWN),
	FIELD(kernel_launches, "kernel_launch_count",
	      "Calls that launch kernels", PF_COUNT | PF_KNOWN),
	FIELD(syncs, "synchronize_count", "Synchronize calls",
	      PF_COUNT | PF_KNOWN),
	FIELD(use.sm_efficiency_share, "sm_efficiency_share", "SM efficiency",
	      PF_RATIO),
	FIELD(use.occupancy_percent, "occupancy_percent", "Occupancy %",
	      PF_REAL),
	FIELD(use.occupancy_known_share, "occupancy_known_share", "Known",
	      PF_RATIO),
	COPIES(PF_COPY_HTOD, "htod", "HtoD"),
	COPIES(PF_COPY_DTOH, "dtoh", "DtoH"),
	COPIES(PF_COPY_DTOD, "dtod", "DtoD"),
	COPIES(PF_COPY_PTOP, "ptop", "PtoP"),
	FIELD(is_partial, "is_partial", "Partial", PF_INT),
	FIELD(is_empty, "is_empty", "Empty", PF_INT),
	FIELD(rank, "rank", "Rank", PF_INT | PF_KNOWN),
	FIELD(trace_id, "trace_id", "Trace", PF_INT),
	CLASS_SHARE(PF_STEP_KERNEL, "kernel", "Kernel"),
	CLASS_SHARE(PF_STEP_COPY, "copy", "Copy"),
	CLASS_SHARE(PF_STEP_COMM, "comm", "Comm"),
	CLASS_SHARE(PF_STEP_RUNTIME, "runtime", "Runtime"),
	CLASS_SHARE(PF_STEP_DATA, "data", "Data"),
	CLASS_SHARE(PF_STEP_CPU, "cpu", "CPU"),
	CLASS_SHARE(PF_STEP_OTHER, "other", "Other"),
};

/* Columns that say nothing where nothing of their kind was recorded. */
static const struct {
	enum pf_step_class class;
	const char *key;
} shares[] = {
	{ PF_STEP_KERNEL, "kernel_share" },   { PF_STEP_COPY, "copy_share" },
	{ PF_STEP_COMM, "comm_share" },       { PF_STEP_DATA, "data_share" },
	{ PF_STEP_RUNTIME, "runtime_share" }, { PF_STEP_CPU, "cpu_share" },
};

static bool has_any(const struct pf_step_times *s, enum pf_step_class c)
{
	for (size_t i = 0; i < s->count; i++)
		if (s->steps[i].class_ns[c])
			return true;
	return is_known(s, c);
}

static void hide_unknown(const struct pf_step_times *s,
			 struct pf_step_time *row)
{
	for (int c = 0; c < PF_STEP_CLASSES; c++)
		if (!row->class_ns[c] && !is_known(s, (enum pf_step_class)c))
			row->class_ns[c] = -1;
	if (!s->recorded.has_calls)
		row->launches = row->kernel_launches = row->syncs = -1;
	if (s->recorded.has_work || s->device_count)
		return;
	row->busy_ns = row->kernel_union_ns = row->kernels = row->copies =
		row->memsets = -1;
	row->use.utilization_share = NAN;
	for (int w = 0; w < PF_COPY_WAYS; w++)
		row->ways[w].count = row->ways[w].bytes = row->ways[w].ns = -1;
}

static void add_rows(const struct pf_step_times *s, struct pf_doc *doc)
{
	struct pf_field fields[sizeof(step_fields) / sizeof(*step_fields)];
	const size_t count = sizeof(fields) / sizeof(*fields);
	struct pf_step_time *rows = pf_calloc(s->count + 1, sizeof(*rows));

	memcpy(fields, step_fields, sizeof(fields));
	for (size_t i = 0; i < sizeof(shares) / sizeof(*shares); i++)
		for (size_t f = 0; !has_any(s, shares[i].class) && f < count;
		     f++)
			if (!strcmp(fields[f].col.key, shares[i].key))
				fields[f].col.kind |= PF_ABSENT;
	for (size_t i = 0; i < s->count; i++) {
		rows[i] = s->steps[i];
		hide_unknown(s, &rows[i]);
	}
	PF_WINDOW_ROWS(&s->window, doc, "steps", "Steps", fields, rows,
		       s->count);
	free(rows);
}

void pf_step_times_show(const struct pf_step_times *s, struct pf_doc *doc)
{
	add_finding(s, doc);
	add_scalars(s, doc);
	add_classes(s, doc);
	add_rows(s, doc);
	pf_copies_show(s->copies, doc);
	PF_WINDOW_ROWS(&s->window, doc, "devices", "GPUs", device_fields,
		       s->devices, s->device_count);
	if (s->partial_count)
		pf_doc_note(doc, "%lld %s cut off and not in the means",
			    (long long)s->partial_count,
			    s->partial_count == 1
				    ? "step at the end of its trace is"
				    : "steps at the end of their trace are");
}
