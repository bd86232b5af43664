/* SPDX-License-Identifier: MIT */
/*
 * GPU work and host spans, both in order of time, are merged into one sweep
 * whose places are emptied at every border of a step.
 */
#include "config.h"

#include "analysis/time/steps.h"

#include <inttypes.h>
#include <math.h>

#include "analysis/time/ranges.h"
#include "base/buf.h"
#include "base/heap.h"
#include "base/intern.h"
#include "base/mem.h"
#include "base/num.h"
#include "base/order.h"
#include "base/sat.h"
#include "base/stats.h"
#include "events/hints.h"
#include "events/host.h"
#include "events/interval.h"
#include "events/step.h"
#include "formats/event.h"

/*
 * The kernels that run are a heap by end.  Sums over them are in fixed point,
 * so that taking a kernel out leaves exactly what was there before it.
 */

#define UNIT 1000000 /* of fixed point: traces have six digits */

struct sm_kernel {
	int64_t end_ns;
	int64_t blocks, occupancy; /* times UNIT; -1: unknown */
};

struct sm {
	struct sm_kernel *heap; /* those that run, by end */
	size_t count, cap;
	int64_t at_ns;
	/* Of those that run; blocks and occupancy in fixed point. */
	int64_t blocks, occupancy, sized, occupied;
	struct pf_sm_sums sums;
};

static void sm_sums_add(struct pf_sm_sums *to, const struct pf_sm_sums *more)
{
	pf_sat_sum(&to->covered_ns, more->covered_ns);
	pf_sat_sum(&to->kernel_ns, more->kernel_ns);
	pf_sat_sum(&to->sized_ns, more->sized_ns);
	pf_sat_sum(&to->occupied_ns, more->occupied_ns);
	to->efficiency_ns += more->efficiency_ns;
	to->occupancy_ns += more->occupancy_ns;
}

/* count * ns, held at the largest number there is. */
static int64_t times(int64_t count, int64_t ns)
{
	int64_t product;

	return __builtin_mul_overflow(count, ns, &product) ? INT64_MAX
							   : product;
}

static void go_to(struct sm *s, int64_t ns)
{
	int64_t blocks = s->blocks < UNIT ? s->blocks : UNIT, len;
	struct pf_sm_sums more;

	if (ns <= s->at_ns)
		return;
	len = pf_sat_sub(ns, s->at_ns);
	s->at_ns = ns;
	if (!s->count)
		return;
	more = (struct pf_sm_sums){
		.covered_ns = len,
		.kernel_ns = times((int64_t)s->count, len),
		.sized_ns = times(s->sized, len),
		.occupied_ns = times(s->occupied, len),
		.efficiency_ns = (double)blocks / UNIT * (double)len,
		.occupancy_ns = (double)s->occupancy / UNIT * (double)len,
	};
	sm_sums_add(&s->sums, &more);
}

/* Count a kernel in (1) or out (-1). */
static void count(struct sm *s, const struct sm_kernel *k, int sign)
{
	if (k->blocks >= 0) {
		s->blocks += sign * k->blocks;
		s->sized += sign;
	}
	if (k->occupancy >= 0) {
		s->occupancy += sign * k->occupancy;
		s->occupied += sign;
	}
}

static bool ends_earlier(const void *a, const void *b)
{
	const struct sm_kernel *x = a, *y = b;

	return x->end_ns < y->end_ns;
}

/* Let kernels end that end up to a time, and go there. */
static void advance(struct sm *s, int64_t ns)
{
	while (s->count && s->heap[0].end_ns <= ns) {
		go_to(s, s->heap[0].end_ns);
		count(s, &s->heap[0], -1);
		s->heap[0] = s->heap[--s->count];
		pf_heap_sink(s->heap, sizeof(*s->heap), s->count, 0,
			     ends_earlier);
	}
	go_to(s, ns);
}

/* At most "most": more than fills a GPU changes nothing. */
static int64_t fixed(double value, double most)
{
	if (!(value >= 0))
		return -1;
	return llround((value < most ? value : most) * UNIT);
}

/* A kernel; blocks per SM and occupancy (percent) negative: unknown. */
static void sm_add(struct sm *s, int64_t start_ns, int64_t end_ns,
		   double blocks_per_sm, double occupancy)
{
	struct sm_kernel kernel = { end_ns, fixed(blocks_per_sm, 1),
				    fixed(occupancy, 100) };

	advance(s, start_ns);
	if (end_ns <= s->at_ns)
		return;
	s->heap = pf_grow(s->heap, &s->cap, s->count + 1, sizeof(kernel));
	s->heap[s->count] = kernel;
	pf_heap_rise(s->heap, sizeof(kernel), s->count++, ends_earlier);
	count(s, &kernel, 1);
}

/* Go on to a time, then take the sums since the last call of this. */
static struct pf_sm_sums sm_take(struct sm *s, int64_t at_ns)
{
	struct pf_sm_sums sums;

	advance(s, at_ns);
	sums = s->sums;
	s->sums = (struct pf_sm_sums){ 0 };
	return sums;
}

/* A row's key is its direction, then its kinds of memory. */

struct copy {
	struct pf_spread ns;
	enum pf_copy_way way;
	const char *direction;
	const char *memory;      /* "Pageable -> Device", or NULL */
	int64_t bytes, sized_ns; /* of copies of known size; -1: none */
	double rate;             /* bytes/ns, once all are known */
};

static struct copy *copy_at(const struct pf_step_times *s, size_t i)
{
	return PF_KEYED_ROW(&s->copies, struct copy, i);
}

/* "Pageable -> Device" of "Memcpy HtoD (Pageable -> Device)". */
static const char *take_memory(struct pf_step_times *s, const char *name)
{
	const char *open = strchr(name, '(');
	const char *close = open ? strrchr(open, ')') : NULL;

	if (!close || strncmp(name, "Memcpy", 6) != 0 || !strstr(open, " -> "))
		return NULL;
	return pf_arena_text(&s->texts, open + 1, (size_t)(close - open - 1));
}

static size_t find_copy(struct pf_step_times *s, const char *name,
			enum pf_copy_way way)
{
	const char *memory = take_memory(s, name);
	PF_AUTO(pf_buf_release) struct pf_buf key = { 0 };
	size_t known = s->copies.count, n;

	pf_buf_addf(&key, "%s %s", pf_copy_way_name(way), memory ? memory : "");
	n = pf_keyed_at_text(&s->copies, key.data, key.len);
	if (n == known)
		*copy_at(s, n) =
			(struct copy){ .way = way,
				       .direction = pf_copy_way_name(way),
				       .memory = memory,
				       .bytes = -1 };
	return n;
}

PF_ORDER(by_time, struct copy, PF_DOWN(ns.of.sum) PF_UP(way) PF_ALPHA(memory))

#define FIELD(...) PF_FIELD(struct copy, __VA_ARGS__)
static const struct pf_field copy_fields[] = {
	FIELD(direction, "Copies", PF_TEXT),
	FIELD(memory, "Memory", PF_TEXT),
	FIELD(ns.of.count, "count", "Count", PF_COUNT),
	FIELD(ns.of.sum, "total_ns", "Time", PF_NS),
	FIELD(bytes, "Data", PF_BYTES | PF_KNOWN),
	FIELD(rate, "gb_per_s", "GB/s", PF_REAL),
};
#undef FIELD

/* Means are over whole steps; the list has all of them. */

/* With Python: where functions are recorded, they are what runs there. */
static const struct {
	const char *phrase, *with_python;
} classes[PF_STEP_CLASSES] = {
	[PF_STEP_KERNEL] = { .phrase = "in kernels" },
	[PF_STEP_COPY] = { .phrase = "in copies alone" },
	[PF_STEP_MEMSET] = { .phrase = "in memsets alone" },
	[PF_STEP_COMM] = { .phrase = "in communication alone" },
	[PF_STEP_RUNTIME] = { .phrase = "in calls of the runtime" },
	[PF_STEP_DATA] = { .phrase = "loading data" },
	[PF_STEP_CPU] = { "in operators and ranges on the CPU",
			  "in operators and ranges on the CPU, and Python in "
			  "them" },
	[PF_STEP_OTHER] = { "outside of operators and calls",
			    "in Python and all else outside of operators and "
			    "calls" },
};

const char *pf_step_class_phrase(enum pf_step_class c)
{
	return classes[c].phrase;
}

#define BACKLOG 0.05

/* Is so much of it work launched before the capture that it is no measure? */
static bool has_backlog(const struct pf_step_time *s)
{
	return (double)s->before_ns >= BACKLOG * (double)s->dur_ns &&
	       s->before_ns;
}

int64_t pf_step_own_ns(const struct pf_step_time *s)
{
	return s->dur_ns - (has_backlog(s) ? s->before_ns : 0);
}

/* Behind a step's time: by the clock, and not summed over streams. */
static void say_backlog(const struct pf_step_times *s, struct pf_buf *out)
{
	int64_t count = s->backlog_count;

	if (!count)
		return;
	const char *ns = PF_SHOW_NS(s->backlog_ns /
				    (s->settled_mean_ns < 0 ? count : 1));
	if (s->settled_mean_ns < 0)
		pf_buf_addf(out,
			    " (%s of it pass with " PF_GPU_BEFORE_WORDS ")",
			    ns);
	else if (count == 1)
		pf_buf_addf(out,
			    " without the one that is held up %s "
			    "by " PF_GPU_BEFORE_WORDS,
			    ns);
	else
		pf_buf_addf(out,
			    " without the %s that are held up %s "
			    "by " PF_GPU_BEFORE_WORDS,
			    PF_SHOW_COUNT(count), ns);
}

#define SKEWED 0.1 /* so far apart, the mean is no usual step */

/* "A step takes 8 ms", "in the mean, 6 ms in the median" */
static void say_window(const struct pf_step_times *s, struct pf_buf *out)
{
	const double apart = (double)(s->dur.mean_ns - s->dur.p50_ns);
	const char *mean = PF_SHOW_NS(
		s->settled_mean_ns < 0 ? s->dur.mean_ns : s->settled_mean_ns);

	if (s->steps->step >= 0 && s->is_alone)
		pf_buf_addf(out,
			    "The profiler was on for %s, which is not what a "
			    "step takes",
			    mean);
	else if (s->steps->step >= 0)
		pf_buf_addf(out, "A step takes %s", mean);
	else
		pf_buf_addf(
			out, "%sn %s%s",
			s->window.is_whole ? "I" : "Without profiler steps, i",
			mean,
			s->window.is_restricted || !s->device_count ? ""
			: s->window.is_tpu ? " from first to last TPU work"
					   : " from first to last GPU work");
	if (s->steps->step >= 0 && s->settled_mean_ns < 0 &&
	    s->full_count > 2 && fabs(apart) > SKEWED * (double)s->dur.p50_ns)
		pf_buf_addf(out, " in the mean, %s in the median",
			    PF_SHOW_NS(s->dur.p50_ns));
	say_backlog(s, out);
}

#define LONGEST 2.0 /* times the median, and no warm-up: it has a name */

/* A step behind the warm-up that takes much longer than others do. */
static void say_longest(const struct pf_step_times *s, struct pf_buf *out)
{
	const size_t warm_up = pf_step_times_warm_up(s).most;
	const struct pf_step_time *longest = NULL;

	for (size_t i = 0, first = 0; i < s->count; i++) {
		const struct pf_step_time *row = &s->steps[i];

		if (row->trace_id != s->steps[first].trace_id)
			first = i;
		if (!row->is_partial && row->step >= 0 &&
		    i - first >= warm_up &&
		    (!longest || pf_step_own_ns(row) > pf_step_own_ns(longest)))
			longest = row;
	}
	if (!longest || s->full_count < 3 || s->dur.p50_ns <= 0 ||
	    (double)pf_step_own_ns(longest) < LONGEST * (double)s->dur.p50_ns)
		return;
	pf_buf_addf(out, ". Step %" PRId64, longest->step);
	if (s->window.count > 1 && longest->rank >= 0)
		pf_buf_addf(out, " of rank %" PRId64, longest->rank);
	pf_buf_addf(out, " takes %s, %.1f times the median",
		    PF_SHOW_NS(pf_step_own_ns(longest)),
		    (double)pf_step_own_ns(longest) / (double)s->dur.p50_ns);
}

/* The path goes back to where the host begins. */
static void say_ahead(const struct pf_step_times *s, struct pf_buf *out)
{
	PF_AUTO(pf_buf_release) struct pf_buf text = { 0 };
	const struct pf_step_time *first = s->steps, *last = first;

	if (s->window.count != 1 || !s->has_steps)
		return;
	for (size_t i = 0; i < s->count; i++)
		if (!first[i].is_partial && !first[i].is_empty)
			last = &first[i];
	pf_step_say_ahead(s->full_count,
			  pf_sat_sub(first->start_ns, first->host_start_ns),
			  pf_sat_sub(last->end_ns, first->host_start_ns),
			  &text);
	if (text.len)
		pf_buf_addf(out, ". %s", text.data);
}

/* Such as are no measure of a step: cut off, or nobody did anything in them. */
static void say_left_out(const struct pf_step_times *s, struct pf_buf *out)
{
	if (s->partial_count)
		pf_buf_adds(out, ". ");
	pf_window_say_cut(s->partial_count, out);
	if (s->empty_count)
		pf_buf_addf(
			out, ". %s %s left out", PF_SHOW_COUNT(s->empty_count),
			s->empty_count == 1 ? "step that holds nothing is"
					    : "steps that hold nothing are");
}

static const char *why_none(const struct pf_step_times *s)
{
	bool has_events = false;

	for (size_t i = 0; i < s->window.count; i++)
		has_events |= !s->window.traces[i].is_empty;
	if (s->is_untimed && !s->count)
		return "There are no steps: a memory snapshot says what was "
		       "allocated, not what took time; 'profan memory' shows "
		       "it";
	if (s->recorded.producer == PF_FROM_TABLES && !s->count)
		return "There are no steps: there is no trace, only what "
		       "stands beside one";
	if (!has_events)
		return "There are no events";
	if (!s->count && s->is_instant)
		return "There are no steps, and no time that could be divided: "
		       "all that was recorded is at one instant";
	if (s->count && s->empty_count == (int64_t)s->count)
		return "There are no steps that hold anything: no operator and "
		       "no GPU work";
	return "There are no complete steps";
}

bool pf_step_times_is_divided(const struct pf_step_times *s)
{
	return s->device_count || s->recorded.has_ops || s->recorded.has_calls;
}

static bool is_undivided(const struct pf_step_times *s)
{
	return s->full_count && !s->has_steps && !pf_step_times_is_divided(s);
}

/* What is in none of the classes is outside of what was recorded. */
static const char *outside(const struct pf_step_times *s)
{
	const struct pf_recorded *r = &s->recorded;

	if (r->has_ops && r->has_calls)
		return r->has_stacks ? classes[PF_STEP_OTHER].with_python
				     : classes[PF_STEP_OTHER].phrase;
	if (r->has_ops)
		return r->has_ranges && !r->has_stacks
			       ? "in ranges of no kind that is known, or in "
				 "none"
			       : "outside of operators and ranges";
	if (r->has_calls)
		return "outside of calls of the runtime; operators are not "
		       "recorded";
	if (s->device_count && s->window.is_tpu)
		return "without TPU work; what the host did is not recorded "
		       "by kind";
	return s->device_count
		       ? "without GPU work; what the host did is not recorded "
			 "by kind"
		       : "in the program's own time: no record has a kind "
			 "that divides it";
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
	pf_buf_addf(out,
		    ". %s of the time from the first step to the last is "
		    "between them",
		    PF_SHOW_RATIO(s->window.between_share));
	if (s->device_count)
		pf_buf_addf(out, ", and %s%s is busy %s of it all",
			    s->has_many_gpus ? "any " : "the ",
			    pf_window_device(&s->window),
			    PF_SHOW_RATIO(s->busy_share));
}

/* The host's own threads may do the rest. */
bool pf_step_times_only_start(const struct pf_step_times *s)
{
	return s->behind_ns > s->dur.sum_ns;
}

static void say_behind(const struct pf_step_times *s, struct pf_buf *out)
{
	if (pf_step_times_only_start(s))
		pf_buf_addf(out,
			    ". Operators and ranges on the CPU take %s behind "
			    "the last step: steps that only start them do not "
			    "hold that, --whole-capture does",
			    PF_SHOW_NS(s->behind_ns));
}

static void add_finding(const struct pf_step_times *s, struct pf_doc *doc)
{
	PF_AUTO(pf_buf_release) struct pf_buf text = { 0 };
	size_t top = PF_STEP_CPU;
	const char *words, *what;
	bool says_busy;

	if (!s->full_count) {
		pf_doc_finding(doc, "%s", why_none(s));
		return;
	}
	if (is_undivided(s)) {
		pf_doc_finding(
			doc,
			"Nothing%s divides the %s of this trace: neither "
			"operators, calls nor GPU work are recorded",
			s->recorded.has_ranges ? " but ranges" : "",
			PF_SHOW_NS(s->dur.sum_ns));
		return;
	}
	for (size_t c = 0; c < PF_STEP_CLASSES; c++)
		if (s->classes[c].sum_ns > s->classes[top].sum_ns)
			top = c;
	say_window(s, &text);
	says_busy = s->device_count && !has_pauses(s);
	if (says_busy)
		pf_buf_addf(&text, "%s %s%s busy %s",
			    s->settled_mean_ns < 0 ? ":" : ". Of all steps:",
			    s->has_many_gpus ? "any " : "",
			    pf_window_device(&s->window),
			    PF_SHOW_RATIO(s->busy_share));
	words = !s->device_count && top == PF_STEP_COMM ? "in communication"
		: top == PF_STEP_OTHER                  ? outside(s)
		: s->recorded.has_stacks && classes[top].with_python
			? classes[top].with_python
			: classes[top].phrase;
	/* "In 5 ms" alone is no sentence */
	what = s->steps->step < 0 && !says_busy ? s->classes[top].share < 0.5
							  ? " the largest part"
							  : " most of the time"
	       : s->classes[top].share < 0.5    ? ". The largest part"
						: ". Most of the time";
	pf_buf_addf(&text, "%s%s, %s, is %s", what,
		    s->settled_mean_ns < 0 ? "" : " of all steps",
		    PF_SHOW_RATIO(s->classes[top].share), words);
	/* each of them alone has its own time of it, as overlap says */
	if (s->has_many_gpus && top < PF_STEP_RUNTIME)
		pf_buf_addf(&text,
			    top == PF_STEP_KERNEL ? " on any %s"
						  : ", while no %s computes",
			    pf_window_device(&s->window));
	if (has_pauses(s))
		say_pauses(s, &text);
	say_behind(s, &text);
	say_ahead(s, &text);
	say_longest(s, &text);
	say_left_out(s, &text);
	pf_doc_finding(doc, "%s", text.data);
}

#define FIELD(...) PF_FIELD(struct pf_step_times, __VA_ARGS__)

static void add_scalars(const struct pf_step_times *s, struct pf_doc *doc)
{
	const int of_gpu = s->device_count ? 0 : PF_ABSENT;
	const int of_any = s->full_count ? 0 : PF_ABSENT;
	const int between = s->full_count < 1 || !s->has_steps ? PF_ABSENT
			    : has_pauses(s)                    ? 0
							       : PF_FULL;
	const int of_many = s->full_count > 1 ? 0 : PF_FULL | of_any;
	/* nobody takes a whole capture for a step that has a rate */
	const int of_steps = of_any | (s->has_steps ? 0 : PF_FULL);
	const struct pf_field fields[] = {
		FIELD(full_count, "step_count", "Steps", PF_COUNT),
		FIELD(dur.mean_ns, "mean_ns", "Mean", PF_NS | of_any),
		FIELD(settled_mean_ns,
		      "  without a backlog of before the capture",
		      PF_NS | (s->settled_mean_ns < 0 ? PF_ABSENT : 0)),
		FIELD(backlog_ns, "Time with GPU work of before the capture",
		      PF_NS | (s->backlog_count ? 0 : PF_ABSENT)),
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
		FIELD(busy_share,
		      s->has_many_gpus ? "Any GPU busy" : "GPU busy",
		      PF_RATIO | of_gpu),
		FIELD(use.utilization_share, "utilization_share",
		      "GPU in kernels", PF_RATIO | of_gpu),
		FIELD(steps_per_second,
		      has_pauses(s) ? "Steps per second of steps"
				    : "Steps per second",
		      PF_REAL | of_steps),
		FIELD(use.sm_efficiency_share, "sm_efficiency_share",
		      "SM efficiency, estimated", PF_RATIO | of_gpu),
		FIELD(use.occupancy_percent, "occupancy_percent",
		      "Achieved occupancy, estimated, %", PF_REAL | of_gpu),
		FIELD(use.occupancy_known_share, "occupancy_known_share",
		      "  known of kernel time", PF_RATIO | of_gpu),
		FIELD(samples_per_second,
		      has_pauses(s) ? "Samples per second of steps"
				    : "Samples per second",
		      isnan(s->samples_per_second) ? PF_ABSENT : PF_REAL),
	};

	PF_WINDOW_SCALARS(&s->window, doc, fields, *s);
}
#undef FIELD

#define FIELD(...) PF_FIELD(struct pf_step_device, __VA_ARGS__)
static const struct pf_field device_fields[] = {
	FIELD(rank, "Rank", PF_INT | PF_KNOWN),
	FIELD(device, "GPU", PF_INT | PF_KNOWN),
	FIELD(window_ns, "Time", PF_NS),
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
	FIELD(trace_id, "Trace", PF_INT | PF_FULL),
};
#undef FIELD

#define FIELD(...) PF_FIELD(struct pf_step_spread, __VA_ARGS__)
static void add_classes(const struct pf_step_times *s, struct pf_doc *doc)
{
	int of_many = s->full_count > 1 ? 0 : PF_FULL;
	int p90 = PF_KNOWN | (s->dur.p90_ns < 0 ? PF_FULL : 0);
	const struct pf_field fields[] = {
		FIELD(name, "class", "Class", PF_TEXT | PF_OURS),
		FIELD(mean_ns, of_many ? "Time" : "Mean", PF_NS),
		FIELD(share, "Share", PF_RATIO),
		FIELD(p50_ns, "Median", PF_NS | of_many),
		FIELD(p90_ns, "90th", PF_NS | p90),
		FIELD(max_ns, "Longest", PF_NS | PF_QUIET | of_many),
		FIELD(p95_ns, "95th", PF_NS | PF_KNOWN | PF_FULL),
		FIELD(p99_ns, "99th", PF_NS | PF_KNOWN | PF_FULL),
		FIELD(min_ns, "Shortest", PF_NS | PF_FULL),
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
	row->busy_ns = row->kernel_union_ns = row->before_ns = row->kernels =
		row->copies = row->memsets = -1;
	row->use.utilization_share = NAN;
	for (int w = 0; w < PF_COPY_WAYS; w++)
		row->ways[w].count = row->ways[w].bytes = row->ways[w].ns = -1;
}

#define FIELD(...) PF_FIELD(struct pf_step_time, __VA_ARGS__ | PF_FULL)
#define CLASS_NS(id, name, title)                                              \
	FIELD(class_ns[PF_STEP_##id], name "_ns", title, PF_NS | PF_KNOWN)
#define CLASS_SHARE(c, key, title)                                             \
	PF_FIELD(struct pf_step_time, class_share[c], key "_share", title,     \
		 PF_RATIO | PF_BRIEF | absent[c])
#define COPIES(way, key, title)                                                \
	FIELD(ways[way].count, key "_count", title, PF_COUNT | PF_KNOWN),      \
		FIELD(ways[way].bytes, key "_bytes", title,                    \
		      PF_BYTES | PF_KNOWN),                                    \
		FIELD(ways[way].ns, key "_ns", title, PF_NS | PF_KNOWN)
static void add_rows(const struct pf_step_times *s, struct pf_doc *doc)
{
	PF_OWN struct pf_step_time *rows =
		pf_calloc(s->count + 1, sizeof(*rows));
	int absent[PF_STEP_CLASSES];

	/* where nothing of a kind was recorded its share says nothing */
	for (int c = 0; c < PF_STEP_CLASSES; c++)
		absent[c] = is_known(s, (enum pf_step_class)c) ? 0 : PF_ABSENT;
	for (size_t i = 0; i < s->count; i++)
		for (int c = 0; c < PF_STEP_CLASSES; c++)
			if (s->steps[i].class_ns[c])
				absent[c] = 0;
	const struct pf_field fields[] = {
		PF_FIELD(struct pf_step_time, step, "Step", PF_INT | PF_KNOWN),
		FIELD(start_ns, "Start", PF_INT),
		PF_FIELD(struct pf_step_time, dur_ns, "Duration", PF_NS),
		PF_STEP_CLASSES_OF(CLASS_NS),
		FIELD(busy_ns, "GPU busy", PF_NS | PF_KNOWN),
		FIELD(kernel_union_ns, "GPU in kernels", PF_NS | PF_KNOWN),
		FIELD(before_ns, "Launched before the capture",
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
		FIELD(use.sm_efficiency_share, "sm_efficiency_share",
		      "SM efficiency", PF_RATIO),
		FIELD(use.occupancy_percent, "occupancy_percent", "Occupancy %",
		      PF_REAL),
		FIELD(use.occupancy_known_share, "occupancy_known_share",
		      "Known", PF_RATIO),
		COPIES(PF_COPY_HTOD, "htod", "HtoD"),
		COPIES(PF_COPY_DTOH, "dtoh", "DtoH"),
		COPIES(PF_COPY_DTOD, "dtod", "DtoD"),
		COPIES(PF_COPY_PTOP, "ptop", "PtoP"),
		FIELD(is_partial, "Partial", PF_INT),
		FIELD(is_empty, "Empty", PF_INT),
		FIELD(rank, "Rank", PF_INT | PF_KNOWN),
		FIELD(trace_id, "Trace", PF_INT),
		CLASS_SHARE(PF_STEP_KERNEL, "kernel", "Kernel"),
		CLASS_SHARE(PF_STEP_COPY, "copy", "Copy"),
		CLASS_SHARE(PF_STEP_COMM, "comm", "Comm"),
		CLASS_SHARE(PF_STEP_RUNTIME, "runtime", "Runtime"),
		CLASS_SHARE(PF_STEP_DATA, "data", "Data"),
		CLASS_SHARE(PF_STEP_CPU, "cpu", "CPU"),
		CLASS_SHARE(PF_STEP_OTHER, "other", "Other"),
	};

	for (size_t i = 0; i < s->count; i++) {
		rows[i] = s->steps[i];
		hide_unknown(s, &rows[i]);
	}
	PF_WINDOW_ROWS(&s->window, doc, "steps", "Steps", fields, rows,
		       s->count);
}
#undef FIELD

static void step_times_show(const struct pf_step_times *s, struct pf_doc *doc)
{
	add_finding(s, doc);
	add_scalars(s, doc);
	add_classes(s, doc);
	add_rows(s, doc);
	PF_ROWS(doc, "copies", "Copies by direction", copy_fields,
		copy_at(s, 0), s->copies.count);
	PF_WINDOW_ROWS(&s->window, doc, "devices", "GPUs", device_fields,
		       s->devices, s->device_count);
}

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
	struct sm *sms;              /* one for each device */
	size_t sm_cap;
	size_t first_device, first_step; /* of the trace being swept */
	size_t host_at;                  /* the step that the host is in */
	struct pf_ask ask;               /* of that trace */
	struct pf_map copies;            /* string.id and way -> row */
	struct pf_map devices;           /* of that trace -> of "out" */
	int64_t before_end_ns; /* of work launched before the capture */
	int64_t behind_ns;     /* so far operators behind the last are summed */
	bool is_last;          /* no step of the host is behind those swept */
	bool has_gpu;          /* the trace being swept has GPU work */
	bool is_tpu;           /* and that is a TPU's */
};

/* ---- which steps ---- */

static void add_step(struct pf_step_times *s,
		     const struct pf_window_trace *trace,
		     const struct pf_step *step)
{
	int64_t start = step ? step->start_ns : trace->lo_ns;
	int64_t end = step ? step->end_ns : trace->hi_ns;

	if (step && (start < trace->from_ns || end > trace->to_ns)) {
		s->has_later |= end > trace->to_ns;
		return;
	}
	PF_ROOM(s->steps, s->cap, s->count + 1);
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

static void choose_trace(struct pf_step_times *s,
			 const struct pf_window_trace *trace,
			 const struct pf_steps *all)
{
	size_t i = pf_steps_first(all, trace->trace_id);

	if (has_steps(s, all, trace->trace_id))
		for (; pf_steps_is_of(all, i, trace->trace_id); i++)
			add_step(s, trace, &all->items[i]);
	else if (s->is_untimed || trace->is_side)
		return;
	else if (trace->hi_ns > trace->lo_ns)
		add_step(s, trace, NULL);
	else /* of no time there are no shares */
		s->is_instant |= !trace->is_empty;
}

static int choose_steps(struct pf_db *db, struct pf_step_times *s)
{
	PF_AUTO(pf_steps_release) struct pf_steps all = { 0 };
	bool is_all = true;

	PF_TRY(pf_window_steps(db, &s->window, &all));
	pf_window_note_steps(&s->window, &all);
	/* said of all that are cut off, in the rows or not */
	s->partial_count += s->window.cut_count;
	s->window.cut_count = 0;
	for (size_t i = 0; i < s->window.count; i++)
		is_all &= has_steps(s, &all, s->window.traces[i].trace_id);
	if (is_all)
		PF_TRY(pf_window_to_device(db, &s->window));
	if (is_all || !pf_window_settle(db, &s->window))
		for (size_t i = 0; i < s->window.count; i++)
			choose_trace(s, &s->window.traces[i], &all);
	return db->err->code ? -1 : 0;
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
		struct pf_sm_sums sums = sm_take(&s->sms[i], border);

		if (is_end)
			sm_sums_add(&row->sm, &sums);
		if (!row->is_partial && (is_end || !is_first))
			sm_sums_add(&s->out->devices[i].sm, &sums);
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
	uint64_t *at = pf_map_at(&s->devices, (uint64_t)ev->device);

	if (*at != UINT64_MAX)
		return (size_t)*at;
	*at = n;
	PF_ROOM(out->devices, out->device_cap, n + 1);
	PF_ROOM(s->sms, s->sm_cap, n + 1);
	out->devices[n] =
		(struct pf_step_device){ .trace_id = ev->trace->trace_id,
					 .rank = ev->trace->rank,
					 .device = ev->device };
	s->sms[n] = (struct sm){ .at_ns = INT64_MIN };
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

/* An event of class PF_GPU_COPY. */
static void count_copy(struct steps *s, struct pf_step_time *step,
		       const struct pf_gpu_event *ev)
{
	uint64_t *place =
		pf_map_at(&s->copies, (uint64_t)ev->name << 8 | ev->way);
	const char *name;
	struct copy *row;

	if (*place == UINT64_MAX) {
		name = pf_gpu_name(s->ask.gpu, ev->name);
		*place = find_copy(s->out, name ? name : "", ev->way);
	}
	pf_keyed_add(&s->out->copies, &s->ask, *place, ev->dur_ns);
	row = copy_at(s->out, *place);
	step->ways[ev->way].count++;
	pf_sat_sum(&step->ways[ev->way].ns, ev->dur_ns);
	if (ev->bytes < 0)
		return;
	PF_AT_LEAST(row->bytes, 0);
	pf_sat_sum(&row->bytes, ev->bytes);
	pf_sat_sum(&row->sized_ns, ev->dur_ns);
	pf_sat_sum(&step->ways[ev->way].bytes, ev->bytes);
}

/*
 * Work of before the capture, in the steps in which it runs.  Where it is the
 * first, it has waited all the time before it for what was not recorded.
 */
static void add_before(struct steps *s, const struct pf_gpu_event *ev)
{
	struct pf_step_time *row = &s->out->steps[s->at];
	int64_t from = ev->start_ns, to = ev->end_ns;

	if (s->before_end_ns == INT64_MIN) {
		s->before_end_ns = from;
		PF_AT_MOST(from, row->start_ns);
	} else if (from < s->before_end_ns)
		from = s->before_end_ns;
	if (ev->origin != PF_GPU_BEFORE || to <= from)
		return;
	s->before_end_ns = to;
	for (size_t i = s->at; i < s->end && row->start_ns < to; i++, row++) {
		int64_t start = from > row->start_ns ? from : row->start_ns;
		int64_t end = to < row->end_ns ? to : row->end_ns;

		row->before_ns += end > start ? end - start : 0;
	}
}

static void add_gpu(struct steps *s, const struct pf_gpu_event *ev)
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
		return;
	add_span(s, ev->is_around ? ANY_KERNEL : sets[ev->class], ev->start_ns,
		 ev->end_ns);
	if (s->at == s->end)
		return;
	add_before(s, ev);
	if (is_kernel(ev) && !ev->is_around) {
		if (!s->is_tpu)
			add_span(s, ANY_KERNEL, ev->start_ns, ev->end_ns);
		sm_add(&s->sms[device], ev->start_ns, ev->end_ns,
		       c ? c->blocks_per_sm : -1, c ? c->occupancy : -1);
	}
	row = &s->out->steps[s->at];
	if (ev->start_ns < row->start_ns)
		return;
	/* what starts in a step is counted there, whole */
	row->kernels += is_kernel(ev);
	row->copies += ev->kind == PF_KIND_MEMCPY || is_op_copy(ev);
	row->memsets += ev->kind == PF_KIND_MEMSET;
	if (ev->class == PF_GPU_COPY && !row->is_partial)
		count_copy(s, row, ev);
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

/*
 * Where steps only start work that other threads of the host do, that is not in
 * them; what their own thread does behind the last is not started by them.
 */
static void add_behind(struct steps *s, const struct pf_host_span *span)
{
	const struct pf_step_time *last = &s->out->steps[s->end - 1];

	if (!s->is_last || span->class != PF_HOST_CPU ||
	    span->track_id == last->track_id)
		return;
	PF_AT_LEAST(s->behind_ns, last->end_ns);
	if (span->end_ns <= s->behind_ns)
		return;
	PF_AT_LEAST(s->behind_ns, span->start_ns);
	pf_sat_sum(&s->out->behind_ns, pf_sat_sub(span->end_ns, s->behind_ns));
	s->behind_ns = span->end_ns;
}

static void add_host(struct steps *s, const struct pf_host_span *span)
{
	struct pf_step_time *row = host_step(s, span->start_ns);

	add_span(s, host_set(s, span->class), span->start_ns, span->end_ns);
	add_behind(s, span);
	if (!row)
		return;
	row->launches += span->is_launch;
	row->kernel_launches += span->is_kernel_launch;
	row->syncs += span->is_sync;
}

static void sweep_trace(struct steps *s, const struct pf_window *window)
{
	const unsigned want = PF_GPU_BYTES | PF_GPU_TPUS |
			      (s->out->recorded.has_orphans ? PF_GPU_LINKS : 0);
	const struct pf_gpu_event *ev;
	struct pf_host_span span;
	struct pf_host *host;
	bool has_host;

	pf_ask_begin_in(&s->ask, s->db, window);
	pf_sweep_init(&s->sweep);
	s->is_tpu = window->traces->is_tpu;
	s->before_end_ns = s->behind_ns = INT64_MIN;
	ev = pf_ask_gpu(&s->ask, want);
	s->has_gpu = ev != NULL;
	s->is_last = !ev && s->at < s->end && s->out->has_steps &&
		     !s->out->has_later;
	host = pf_host_new(s->db, window->traces->trace_id,
			   s->out->window.steps);
	has_host = host && pf_host_next(host, &span) == 1;
	while ((ev || has_host) && s->at < s->end) {
		if (ev && (!has_host || ev->start_ns <= span.start_ns)) {
			add_gpu(s, ev);
			ev = pf_ask_gpu(&s->ask, want);
		} else {
			add_host(s, &span);
			has_host = pf_host_next(host, &span) == 1;
		}
	}
	sweep_to(s, INT64_MAX);
	for (; has_host && s->is_last;
	     has_host = pf_host_next(host, &span) == 1)
		add_behind(s, &span);
	/* GPUs that idle in all steps are GPUs, as for others */
	for (; ev; ev = pf_ask_gpu(&s->ask, want))
		find_device(s, ev);
	pf_host_free(host);
	pf_ask_end(&s->ask);
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

static void sweep_all(struct steps *s)
{
	const struct pf_window *window = &s->out->window;

	for (size_t i = 0; i < window->count && !s->db->err->code; i++) {
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
		pf_map_release(&s->devices);
		s->is_begun = false;
		sweep_trace(s, &one);
		end_trace(s);
	}
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

static void add_up_backlog(struct pf_step_times *s)
{
	struct pf_stats settled = { 0 };

	for (size_t i = 0; i < s->count; i++) {
		const struct pf_step_time *row = &s->steps[i];

		if (row->is_partial)
			continue;
		if (!has_backlog(row)) {
			pf_stats_add(&settled, row->dur_ns);
			continue;
		}
		s->backlog_count++;
		pf_sat_sum(&s->backlog_ns, row->before_ns);
	}
	s->settled_mean_ns = s->backlog_count && settled.count
				     ? pf_stats_mean(&settled)
				     : -1;
}

static void add_up_steps(struct pf_step_times *s)
{
#define NAME(id, name, title) [PF_STEP_##id] = name
	static const char *const names[] = { PF_STEP_CLASSES_OF(NAME) };
#undef NAME
	PF_OWN int64_t *values = pf_calloc(s->count + 1, sizeof(*values));
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
	add_up_backlog(s);
	for (size_t c = 0; c < PF_STEP_CLASSES; c++) {
		n = 0;
		for (size_t i = 0; i < s->count; i++)
			if (!s->steps[i].is_partial)
				values[n++] = s->steps[i].class_ns[c];
		s->classes[c] = spread(values, n);
		s->classes[c].name = names[c];
		s->classes[c].share =
			pf_num_share(s->classes[c].sum_ns, s->dur.sum_ns);
	}
}

static void add_up(struct pf_step_times *s, int64_t samples_per_step)
{
	struct pf_sm_sums sums = { 0 };
	int64_t window_ns = 0;
	double seconds;

	add_up_steps(s);
	for (size_t i = 0; i < s->device_count; i++) {
		sm_sums_add(&sums, &s->devices[i].sm);
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

static void settle_copies(struct pf_step_times *s)
{
	for (size_t i = 0; i < s->copies.count; i++) {
		struct copy *c = copy_at(s, i);

		c->rate = pf_ratio((double)c->bytes, c->sized_ns);
	}
	pf_keyed_sort(&s->copies, by_time);
}

int pf_step_times_find(struct pf_db *db, const struct pf_steps_args *args,
		       struct pf_step_times *out)
{
	struct steps s = { .db = db, .out = out };

	pf_keyed_begin(&out->copies, sizeof(struct copy), PF_KEYED_SUMS);
	out->empty_count = args->empty_count;
	out->partial_count = args->cut_count;
	if (!pf_window_resolve(db, &args->window, &out->window))
		pf_trust_recorded(db, &out->window, &out->recorded);
	out->is_untimed = out->recorded.producer == PF_FROM_SNAPSHOT;
	if (!db->err->code && !choose_steps(db, out) && !args->only_times)
		sweep_all(&s);
	if (!db->err->code) {
		out->busy_ns = s.between.busy_ns;
		add_up(out, args->samples_per_step);
		out->is_alone = !args->window.steps && out->full_count > 0 &&
				pf_steps_alone(db) >= out->full_count;
		settle_copies(out);
	}
	for (size_t i = 0; i < out->device_count; i++)
		free(s.sms[i].heap);
	free(s.sms);
	pf_map_release(&s.copies);
	pf_map_release(&s.devices);
	pf_sort(out->devices, out->device_count, sizeof(*out->devices),
		by_device);
	return db->err->code ? -1 : 0;
}

void pf_step_times_release(struct pf_step_times *times)
{
	pf_keyed_end(&times->copies);
	pf_arena_release(&times->texts);
	free(times->devices);
	free(times->steps);
	pf_window_release(&times->window);
	*times = (struct pf_step_times){ 0 };
}

/* Where nothing else divides the time, what ranges hold of it. */
static int add_ranges(struct pf_db *db, const struct pf_step_times *s,
		      const struct pf_ranges_args *args, struct pf_doc *doc)
{
	struct pf_doc ranges = { 0 };
	int rc;

	if (!is_undivided(s) || !s->recorded.has_ranges)
		return 0;
	rc = pf_ranges(db, args, &ranges);
	if (!rc && !ranges.is_nothing)
		pf_doc_finding(doc, "%s. %s", pf_doc_find_finding(&ranges),
			       pf_doc_find_finding(doc));
	pf_doc_release(&ranges);
	return rc;
}

int pf_steps_answer(struct pf_db *db, const struct pf_steps_args *args,
		    struct pf_step_times *kept, struct pf_doc *doc)
{
	PF_AUTO(pf_step_times_release) struct pf_step_times own = { 0 };
	struct pf_step_times *s = kept ? kept : &own;
	unsigned trust = PF_TRUST_WORK | PF_TRUST_LINKS | PF_TRUST_TPUS;

	PF_TRY(pf_step_times_find(db, args, s));
	step_times_show(s, doc);
	PF_TRY(add_ranges(db, s, &(struct pf_ranges_args){ args->window, NULL },
			  doc));
	if (args->by_range && s->full_count)
		PF_TRY(pf_ranges(
			db, &(struct pf_ranges_args){ args->window, s }, doc));
	if (s->count && s->steps->step < 0)
		trust |= PF_TRUST_STEPS;
	return pf_trust_note(db, &s->window, trust, doc);
}

/* Of fewer none is the usual one: the shortest stands for it. */
#define WARM_UP_STEPS 3

/* How many of the durations, in order of time, are warm-up. */
static size_t steps_warm_up(const int64_t *durations_ns, size_t count,
			    int64_t *excess_ns)
{
	PF_OWN int64_t *list = pf_calloc(count + 1, sizeof(*list));
	const bool is_few = count < WARM_UP_STEPS;
	int64_t median_ns, least_ns = INT64_MAX;
	size_t out = 0, as_long = 0;

	memcpy(list, durations_ns, count * sizeof(*list));
	pf_sort(list, count, sizeof(*list), pf_stats_compare);
	median_ns = pf_stats_quantile(list, count, is_few ? 0 : 50);
	while (!is_few && out < count &&
	       (double)durations_ns[out] >
		       PF_WARM_UP_TIMES * (double)median_ns) {
		least_ns = durations_ns[out] < least_ns ? durations_ns[out]
							: least_ns;
		out++;
	}
	/* the profiler may end in the last one */
	for (size_t i = out; i + 1 < count; i++)
		as_long += durations_ns[i] >= least_ns;
	if (as_long * PF_WARM_UP_PARTS > count - out)
		out = 0;
	for (size_t i = 0; i < count && (i < out || !i); i++)
		if (durations_ns[i] > median_ns)
			pf_sat_sum(excess_ns, durations_ns[i] - median_ns);
	return out;
}

void pf_steps_find_warm_up(const struct pf_step_time *first,
			   size_t stride_bytes, size_t count, bool is_own,
			   struct pf_steps_warm_up *out)
{
	PF_OWN int64_t *list = pf_calloc(count + 1, sizeof(*list));
	int64_t trace_id = 0;
	const char *at = (const char *)first;
	size_t listed = 0;

	for (size_t i = 0; i <= count; i++, at += stride_bytes) {
		const struct pf_step_time *s = (const void *)at;

		if (i && (i == count || s->trace_id != trace_id)) {
			size_t found =
				steps_warm_up(list, listed, &out->excess_ns);

			out->most = found > out->most ? found : out->most;
			out->least = listed < out->least ? listed : out->least;
			listed = 0;
		}
		if (i == count)
			break;
		trace_id = s->trace_id;
		if (!s->is_partial)
			list[listed++] = is_own ? pf_step_own_ns(s) : s->dur_ns;
	}
}

struct pf_steps_warm_up pf_step_times_warm_up(const struct pf_step_times *s)
{
	struct pf_steps_warm_up w = { .least = SIZE_MAX };

	if (s->has_steps)
		pf_steps_find_warm_up(s->steps, sizeof(*s->steps), s->count,
				      true, &w);
	/* where it is another trace's, there is nothing to say of the first */
	if (!(s->count && (double)pf_step_own_ns(s->steps) >
				  PF_WARM_UP_TIMES * (double)s->dur.p50_ns))
		w.most = 0;
	return w;
}
