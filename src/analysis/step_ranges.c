/* SPDX-License-Identifier: MIT */
/* What is in no range is the rest: what ranges hold is walked in ranges.c. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/ranges.h"
#include "analysis/step_ranges.h"
#include "base/mem.h"
#include "base/num.h"
#include "base/sat.h"
#include "table/rows.h"

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

static int by_step_time(const void *a, const void *b)
{
	const struct part *x = a, *y = b;

	if (x->step_ns != y->step_ns)
		return x->step_ns < y->step_ns ? 1 : -1;
	if (x->host_ns != y->host_ns)
		return x->host_ns < y->host_ns ? 1 : -1;
	return strcmp(x->kind, y->kind) ? strcmp(x->kind, y->kind)
					: strcmp(x->name, y->name);
}

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
	qsort(parts, n, sizeof(*parts), by_step_time);
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
	if (!ranges->count)
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
