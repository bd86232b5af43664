/* SPDX-License-Identifier: MIT */
/*
 * How ranges are shown, alone and as parts of steps, where what is in no range
 * is the rest.  What they hold is found in ranges.c.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/time/ranges.h"
#include "analysis/time/step_ranges.h"
#include "base/mem.h"
#include "base/num.h"
#include "base/order.h"
#include "base/sat.h"
#include "show/rows.h"

#define NOT_KNOWN (-1)

struct part {
	const char *name, *kind;
	int64_t count; /* of ranges; or NOT_KNOWN: it is none */
	int64_t host_ns, step_ns;
	int64_t work_count, projected_ns, busy_ns; /* or NOT_KNOWN: no work */
	double share;
	/* for people, of one step */
	double mean_count;
	int64_t mean_ns, mean_host_ns, mean_busy_ns;
};

#define FIELD(member, key, title, kind)                                        \
	PF_FIELD(struct part, member, key, title, kind)
static const struct pf_field fields[] = {
	FIELD(name, "range", "Range", PF_TEXT),
	FIELD(kind, "part", "Part", PF_TEXT | PF_FULL | PF_OURS),
	FIELD(count, "count", "Count", PF_COUNT | PF_KNOWN | PF_FULL),
	FIELD(mean_count, "mean_count", "Count", PF_REAL | PF_BRIEF),
	FIELD(mean_ns, "mean_ns", "Time", PF_NS | PF_BRIEF),
	FIELD(step_ns, "step_ns", "Time of steps", PF_NS | PF_FULL),
	FIELD(share, "share", "Share", PF_RATIO),
	FIELD(mean_host_ns, "mean_host_ns", "On the host",
	      PF_NS | PF_KNOWN | PF_BRIEF),
	FIELD(host_ns, "host_ns", "On the host", PF_NS | PF_KNOWN | PF_FULL),
	FIELD(mean_busy_ns, "mean_busy_ns", "GPU busy",
	      PF_NS | PF_KNOWN | PF_BRIEF),
	FIELD(work_count, "work_count", "GPU work",
	      PF_COUNT | PF_KNOWN | PF_FULL),
	FIELD(projected_ns, "projected_ns", "First to last",
	      PF_NS | PF_KNOWN | PF_FULL),
	FIELD(busy_ns, "busy_ns", "GPU busy", PF_NS | PF_KNOWN | PF_FULL),
};
#undef FIELD

/* Columns that say nothing without a GPU. */
static const char *const of_gpu[] = { "mean_busy_ns", "work_count",
				      "projected_ns", "busy_ns" };

PF_ORDER(by_step_time, struct part,
	 PF_DOWN(step_ns) PF_DOWN(host_ns) PF_ALPHA(kind) PF_ALPHA(name))

static struct part part_of(const struct pf_range *r)
{
	bool has_work = r->gpu_count > 0;

	return (struct part){
		.name = r->name,
		.kind = "range",
		.count = r->count,
		.host_ns = r->self_ns,
		.step_ns = r->step_ns,
		.work_count = has_work ? r->work_count : NOT_KNOWN,
		.projected_ns = has_work ? r->projected_ns : NOT_KNOWN,
		.busy_ns = has_work ? r->busy_ns : NOT_KNOWN,
	};
}

/* The two parts that are no range, of nothing but the steps' times yet. */
static void find_rest(const struct pf_step_times *steps, struct part *outside,
		      struct part *after)
{
	const struct part none = { .count = NOT_KNOWN,
				   .work_count = NOT_KNOWN,
				   .projected_ns = NOT_KNOWN,
				   .busy_ns = NOT_KNOWN };

	*outside = *after = none;
	outside->name = "(outside of ranges)";
	outside->kind = "outside";
	after->name = "(after the step on the host)";
	after->kind = "after";
	after->host_ns = NOT_KNOWN;
	for (size_t i = 0; i < steps->count; i++) {
		const struct pf_step_time *s = &steps->steps[i];
		int64_t left_ns = s->host_end_ns;

		if (s->is_partial)
			continue;
		if (left_ns < s->start_ns)
			left_ns = s->start_ns;
		pf_sat_sum(&outside->host_ns,
			   pf_sat_sub(s->host_end_ns, s->host_start_ns));
		pf_sat_sum(&outside->step_ns, pf_sat_sub(left_ns, s->start_ns));
		pf_sat_sum(&after->step_ns, pf_sat_sub(s->end_ns, left_ns));
	}
}

static int64_t mean_of(int64_t sum, int64_t count)
{
	return sum < 0 || !count ? NOT_KNOWN : sum / count;
}

static void find_means(struct part *p, const struct pf_step_times *steps)
{
	int64_t n = steps->full_count;

	p->share = pf_num_share(p->step_ns, steps->dur.sum_ns);
	p->mean_count = p->count < 0 ? NAN : pf_ratio((double)p->count, n);
	p->mean_ns = mean_of(p->step_ns, n);
	p->mean_host_ns = mean_of(p->host_ns, n);
	p->mean_busy_ns = mean_of(p->busy_ns, n);
}

/* All parts that there are; to free. */
static struct part *find_parts(const struct pf_ranges *ranges,
			       const struct pf_step_times *steps, size_t *count)
{
	struct part *parts = pf_calloc(ranges->item_count + 2, sizeof(*parts));
	struct part outside, after;
	size_t n = 0;

	find_rest(steps, &outside, &after);
	for (size_t i = 0; i < ranges->item_count; i++) {
		struct part p = part_of(&ranges->items[i]);

		outside.host_ns -= p.host_ns;
		outside.step_ns -= p.step_ns;
		if (p.count || p.host_ns)
			parts[n++] = p;
	}
	if (outside.host_ns)
		parts[n++] = outside;
	if (after.step_ns)
		parts[n++] = after;
	for (size_t i = 0; i < n; i++)
		find_means(&parts[i], steps);
	pf_sort(parts, n, sizeof(*parts), by_step_time);
	*count = n;
	return parts;
}

static void show(const struct pf_ranges *ranges,
		 const struct pf_step_times *steps, struct pf_doc *doc)
{
	struct pf_field own[sizeof(fields) / sizeof(*fields)];
	struct part *parts;
	size_t count;

	memcpy(own, fields, sizeof(own));
	for (size_t i = 0; i < sizeof(of_gpu) / sizeof(*of_gpu); i++)
		for (size_t f = 0;
		     !steps->device_count && f < sizeof(own) / sizeof(*own);
		     f++)
			if (!strcmp(own[f].col.key, of_gpu[i]))
				own[f].col.kind |= PF_ABSENT;
	parts = find_parts(ranges, steps, &count);
	PF_ROWS(doc, "ranges", "Where the time of a step goes, by range", own,
		parts, count);
	free(parts);
	pf_ranges_show_spans(ranges, doc);
	if (!ranges->count && !ranges->span_count)
		pf_doc_note(doc, "no range begins in the steps on their "
				 "thread; mark parts of the program with "
				 "record_function or NVTX");
	if (ranges->has_plain)
		pf_doc_note(doc, "without operators and annotations all ranges "
				 "of threads count");
}

int pf_step_ranges(struct pf_db *db, const struct pf_window_args *args,
		   const struct pf_step_times *steps, struct pf_doc *doc,
		   struct pf_err *err)
{
	struct pf_ranges_args own = { .window = *args, .steps = steps };
	struct pf_ranges ranges = { 0 };
	int rc = 0;

	if (steps->full_count) {
		rc = pf_ranges_find(db, &own, &ranges, err);
		if (!rc)
			show(&ranges, steps, doc);
	}
	pf_ranges_release(&ranges);
	return rc;
}

/* ---- ranges alone ---- */

#define FIELD(member, key, title, kind)                                        \
	PF_FIELD(struct pf_range, member, key, title, kind)
static const struct pf_field host_fields[] = {
	FIELD(name, "range", "Range", PF_TEXT),
	FIELD(count, "count", "Count", PF_COUNT),
	FIELD(total_ns, "total_ns", "Total", PF_NS),
	FIELD(self_ns, "self_ns", "Self", PF_NS),
	FIELD(share, "self_share", "Share", PF_RATIO),
	FIELD(median_ns, "median_ns", "Median", PF_NS),
	FIELD(min_ns, "min_ns", "Min", PF_NS | PF_FULL),
	FIELD(max_ns, "max_ns", "Max", PF_NS),
};
static const struct pf_field gpu_fields[] = {
	FIELD(name, "range", "Range", PF_TEXT),
	FIELD(gpu_count, "count", "Count", PF_COUNT),
	FIELD(work_count, "work_count", "GPU work", PF_COUNT),
	FIELD(projected_ns, "projected_ns", "First to last", PF_NS),
	FIELD(projected_median_ns, "projected_median_ns", "Median", PF_NS),
	FIELD(busy_ns, "busy_ns", "Busy", PF_NS),
};
static const struct pf_field span_fields[] = {
	FIELD(name, "range", "Range", PF_TEXT),
	FIELD(count, "count", "Count", PF_COUNT),
	FIELD(total_ns, "total_ns", "Total", PF_NS),
	FIELD(share, "share", "Share", PF_RATIO),
	FIELD(median_ns, "median_ns", "Median", PF_NS),
	FIELD(min_ns, "min_ns", "Min", PF_NS | PF_FULL),
	FIELD(max_ns, "max_ns", "Max", PF_NS),
};
#undef FIELD

static void find_no_thread(const struct pf_ranges *r, struct pf_doc *doc)
{
	char text[PF_NUM_MAX], all[PF_NUM_MAX], time[PF_NUM_MAX];
	const struct pf_range *most = &r->spans[0];

	pf_num_show_ns(time, most->total_ns);
	if (r->spans_all == 1)
		pf_doc_finding(doc, "The one start/end range%s, %s, lasts %s",
			       pf_window_scope(&r->window), most->name, time);
	else
		pf_doc_finding(doc,
			       "Of %s start/end ranges%s those of %s last "
			       "longest: %s in all, %s of them",
			       pf_num_show_count(all, r->spans_all),
			       pf_window_scope(&r->window), most->name, time,
			       pf_num_show_count(text, most->count));
}

static void add_finding(const struct pf_ranges *r, struct pf_doc *doc)
{
	char part[PF_NUM_MAX], time[PF_NUM_MAX], all[PF_NUM_MAX];
	const struct pf_range *most = NULL;

	doc->is_nothing = !r->item_count && !r->span_count;
	if (!r->item_count && r->span_count) {
		find_no_thread(r, doc);
		return;
	}
	if (!r->item_count && r->window.has_unread) {
		pf_doc_finding(doc, "No ranges could be read");
		return;
	}
	if (!r->item_count) {
		pf_doc_finding(doc, "There are no ranges; %s",
			       pf_hint(r->producer, PF_HINT_RANGES));
		return;
	}
	for (size_t i = 0; i < r->item_count; i++) {
		const struct pf_range *item = &r->items[i];

		if (r->has_user_self && !strcmp(item->name, "ProfilerStep*"))
			continue;
		if (!most || item->self_ns > most->self_ns)
			most = item;
	}
	pf_doc_finding(doc,
		       "%s itself takes %s of the time in ranges%s (%s of %s)",
		       most->name, pf_num_show_ratio(part, most->share),
		       pf_window_scope(&r->window),
		       pf_num_show_ns(time, most->self_ns),
		       pf_num_show_ns(all, r->self_ns));
}

void pf_ranges_show_spans(const struct pf_ranges *r, struct pf_doc *doc)
{
	char text[PF_NUM_MAX];

	PF_ROWS(doc, "spans", "Start/end ranges, of no thread", span_fields,
		r->spans, r->span_count);
	if (r->span_count)
		pf_doc_note(doc,
			    "start/end ranges may overlap, cross and end on "
			    "another thread: none is inside of another, and "
			    "their times do not add up to any other");
	if (r->half_count)
		pf_doc_note(doc,
			    "%s asynchronous events begin or end a range whose "
			    "other end is not there",
			    pf_num_show_count(text, r->half_count));
}

void pf_ranges_show(const struct pf_ranges *r, struct pf_doc *doc)
{
	add_finding(r, doc);
	pf_doc_int(doc, "range_count", "Ranges", PF_COUNT, r->count);
	pf_doc_int(doc, "self_ns", "Time in ranges", PF_NS, r->self_ns);
	PF_ROWS(doc, "ranges", "On the host", host_fields, r->items,
		r->item_count);
	if (r->has_plain)
		pf_doc_note(doc, "without operators and annotations all ranges "
				 "of threads count");
	PF_ROWS(doc, "gpu", "GPU work that they launched", gpu_fields, r->gpu,
		r->gpu_count);
	pf_ranges_show_spans(r, doc);
}
