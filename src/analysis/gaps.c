/* SPDX-License-Identifier: MIT */
/*
 * Sums are kept by cause and by (cause, culprit); of the gaps themselves only
 * the longest.  "Count" is the number of gaps in which a cause has a part and
 * "longest" its largest part of one gap.
 */
#include "config.h"

#include <stdlib.h>

#include "analysis/gap_find.h"
#include "analysis/gaps.h"
#include "analysis/intern.h"
#include "base/mem.h"
#include "base/num.h"

struct sum {
	int64_t ns, count, longest_ns;
	int64_t gap, gap_ns; /* the gap that was added to last; its part */
};

struct culprit {
	struct pf_place place;
	struct sum sum;
};

struct listed {
	struct pf_gap gap;
	struct pf_place place;
	int64_t cause_ns;
};

#define BINS 10

struct gaps {
	struct pf_gap_sink sink;
	struct pf_names *names;
	struct sum causes[PF_CAUSE_COUNT];
	struct pf_intern keys; /* bytes of a struct pf_place -> culprit */
	struct culprit *culprits;
	size_t culprit_cap;
	/* of the gap whose pieces come in */
	int64_t at;
	int64_t here_ns[PF_CAUSE_COUNT];
	struct pf_place largest[PF_CAUSE_COUNT];
	int64_t largest_ns[PF_CAUSE_COUNT];
	/* the longest: a heap, the least of them first */
	struct listed *list;
	size_t listed, limit, list_cap;
	int64_t bin_count[BINS], bin_ns[BINS];
	int64_t drained_ns, drained_count;
	struct pf_gap_device *devices;
	size_t device_count, device_cap;
	struct pf_gap_device all;
};

/* ---- sums ---- */

static void add_sum(struct sum *s, int64_t gap, int64_t ns)
{
	if (s->gap != gap) {
		s->gap = gap;
		s->gap_ns = 0;
		s->count++;
	}
	s->ns += ns;
	s->gap_ns += ns;
	if (s->gap_ns > s->longest_ns)
		s->longest_ns = s->gap_ns;
}

static void on_piece(struct pf_gap_sink *sink, const struct pf_gap *gap,
		     const struct pf_place *place, int64_t ns)
{
	struct gaps *g = (struct gaps *)sink;
	struct pf_place key = *place;
	uint32_t n, known = g->keys.count;

	(void)gap;
	key.outer_op = PF_ID_NONE;
	add_sum(&g->causes[key.cause], g->at, ns);
	g->here_ns[key.cause] += ns;
	if (ns > g->largest_ns[key.cause]) {
		g->largest_ns[key.cause] = ns;
		g->largest[key.cause] = key;
	}
	n = pf_intern_add(&g->keys, (const char *)&key, sizeof(key));
	if (n + (size_t)1 > g->culprit_cap)
		g->culprits = pf_grow(g->culprits, &g->culprit_cap,
				      n + (size_t)1, sizeof(*g->culprits));
	if (g->keys.count != known)
		g->culprits[n] = (struct culprit){ .place = key };
	add_sum(&g->culprits[n].sum, g->at, ns);
}

/* ---- the longest gaps ---- */

static int64_t length(const struct pf_gap *g)
{
	return g->end_ns - g->start_ns;
}

/* In the order of the table: longest first. */
static int by_length(const void *a, const void *b)
{
	const struct pf_gap *x = &((const struct listed *)a)->gap;
	const struct pf_gap *y = &((const struct listed *)b)->gap;

	if (length(x) != length(y))
		return length(x) > length(y) ? -1 : 1;
	if (x->trace->trace_id != y->trace->trace_id)
		return x->trace->trace_id < y->trace->trace_id ? -1 : 1;
	if (x->start_ns != y->start_ns)
		return x->start_ns < y->start_ns ? -1 : 1;
	return (x->device > y->device) - (x->device < y->device);
}

static void swap(struct listed *a, struct listed *b)
{
	struct listed held = *a;

	*a = *b;
	*b = held;
}

static void sift_down(struct listed *list, size_t count)
{
	size_t i = 0;

	for (;;) {
		size_t last = i;

		for (size_t k = 2 * i + 1; k < 2 * i + 3 && k < count; k++)
			if (by_length(&list[k], &list[last]) > 0)
				last = k;
		if (last == i)
			return;
		swap(&list[i], &list[last]);
		i = last;
	}
}

static void sift_up(struct listed *list, size_t i)
{
	while (i && by_length(&list[i], &list[(i - 1) / 2]) > 0) {
		swap(&list[i], &list[(i - 1) / 2]);
		i = (i - 1) / 2;
	}
}

static void list_gap(struct gaps *g, const struct listed *item)
{
	if (g->listed < g->limit) {
		g->list = pf_grow(g->list, &g->list_cap, g->listed + 1,
				  sizeof(*g->list));
		g->list[g->listed] = *item;
		sift_up(g->list, g->listed++);
	} else if (g->limit && by_length(item, &g->list[0]) < 0) {
		g->list[0] = *item;
		sift_down(g->list, g->listed);
	}
}

static size_t bin_of(int64_t ns)
{
	size_t bin = 0;

	for (int64_t top = 1000; bin + 1 < BINS && ns >= top; bin++)
		top *= 10;
	return bin;
}

static void on_gap(struct pf_gap_sink *sink, const struct pf_gap *gap)
{
	struct gaps *g = (struct gaps *)sink;
	struct listed item = { .gap = *gap };
	size_t cause = 0, bin = bin_of(length(gap));

	for (size_t c = 1; c < PF_CAUSE_COUNT; c++)
		if (g->here_ns[c] > g->here_ns[cause])
			cause = c;
	item.place = g->largest[cause];
	item.cause_ns = g->here_ns[cause];
	list_gap(g, &item);
	g->bin_count[bin]++;
	g->bin_ns[bin] += length(gap);
	if (gap->drained.end_ns != INT64_MIN) {
		g->drained_count++;
		g->drained_ns += length(gap);
	}
	for (size_t c = 0; c < PF_CAUSE_COUNT; c++)
		g->here_ns[c] = g->largest_ns[c] = 0;
	g->at++;
}

static void on_device(struct pf_gap_sink *sink, const struct pf_gap_device *d)
{
	struct gaps *g = (struct gaps *)sink;

	g->devices = pf_grow(g->devices, &g->device_cap, g->device_count + 1,
			     sizeof(*g->devices));
	g->devices[g->device_count++] = *d;
	g->all.window_ns += d->window_ns;
	g->all.busy_ns += d->busy_ns;
	g->all.idle_ns += d->idle_ns;
	g->all.gap_count += d->gap_count;
	g->all.event_count += d->event_count;
	g->all.orphan_count += d->orphan_count;
	g->all.orphan_ns += d->orphan_ns;
	g->all.work_ns += d->work_ns;
}

/* ---- tables ---- */

#define COLS(c) c, sizeof(c) / sizeof(*(c))

static double share(int64_t part, int64_t whole)
{
	return whole > 0 ? (double)part / (double)whole : 0;
}

static void put_int(struct pf_table *t, int64_t n, int64_t none)
{
	if (n == none)
		pf_table_null(t);
	else
		pf_table_int(t, n);
}

static int put_name(struct gaps *g, struct pf_table *t, uint32_t name,
		    struct pf_err *err)
{
	char *text = NULL;

	if (name != PF_ID_NONE) {
		text = pf_names_frame_take(g->names, name, err);
		if (!text)
			return -1;
	}
	pf_table_string(t, text);
	free(text);
	return 0;
}

/* Without stacks an annotation is the nearest thing to a line. */
static uint32_t frame_of(const struct pf_place *p)
{
	return p->frame != PF_ID_NONE ? p->frame : p->note;
}

static int by_ns(const struct sum *a, const struct sum *b)
{
	return (a->ns < b->ns) - (a->ns > b->ns);
}

static void order_causes(const struct gaps *g, size_t order[PF_CAUSE_COUNT])
{
	for (size_t i = 0; i < PF_CAUSE_COUNT; i++) {
		size_t k = i;

		while (k && by_ns(&g->causes[order[k - 1]], &g->causes[i]) > 0)
			k--;
		for (size_t j = i; j > k; j--)
			order[j] = order[j - 1];
		order[k] = i;
	}
}

static void add_causes(struct gaps *g, struct pf_doc *doc)
{
	static const struct pf_col cols[] = {
		{ "cause", "Cause", PF_TEXT },
		{ "ns", "Idle", PF_NS },
		{ "idle_share", "Of idle", PF_RATIO },
		{ "window_share", "Of time", PF_RATIO },
		{ "count", "Gaps", PF_COUNT },
		{ "longest_ns", "Longest", PF_NS },
		{ "recoverable_ns", "Recoverable", PF_NS | PF_FULL },
	};
	struct pf_table *t =
		pf_doc_table(doc, "causes", "Idle time by cause", COLS(cols));
	size_t order[PF_CAUSE_COUNT];

	order_causes(g, order);
	for (size_t i = 0; i < PF_CAUSE_COUNT; i++) {
		const struct sum *s = &g->causes[order[i]];

		if (!s->ns)
			continue;
		pf_table_string(t, pf_cause_name((enum pf_cause)order[i]));
		pf_table_int(t, s->ns);
		pf_table_real(t, share(s->ns, g->all.idle_ns));
		pf_table_real(t, share(s->ns, g->all.window_ns));
		pf_table_int(t, s->count);
		pf_table_int(t, s->longest_ns);
		/* what is not known to have a cause cannot be won */
		pf_table_int(t, order[i] == PF_CAUSE_NO_LAUNCH ? 0 : s->ns);
	}
}

static int by_time(const void *a, const void *b)
{
	const struct culprit *x = a, *y = b;
	const uint32_t *p = &x->place.cause, *q = &y->place.cause;

	if (x->sum.ns != y->sum.ns)
		return x->sum.ns > y->sum.ns ? -1 : 1;
	for (size_t i = 0; i < sizeof(x->place) / sizeof(*p); i++)
		if (p[i] != q[i])
			return p[i] < q[i] ? -1 : 1;
	return 0;
}

static int add_culprits(struct gaps *g, struct pf_doc *doc, struct pf_err *err)
{
	static const struct pf_col cols[] = {
		{ "ns", "Idle", PF_NS },
		{ "idle_share", "Of idle", PF_RATIO },
		{ "count", "Gaps", PF_COUNT },
		{ "cause", "Cause", PF_TEXT },
		{ "culprit", "Culprit", PF_TEXT },
		{ "frame", "Line or annotation", PF_PATH },
		{ "op", "Op", PF_TEXT | PF_FULL },
		{ "longest_ns", "Longest", PF_NS | PF_FULL },
	};
	struct pf_table *t = pf_doc_table(doc, "culprits",
					  "What holds most of it", COLS(cols));
	size_t count = g->keys.count;

	if (count)
		qsort(g->culprits, count, sizeof(*g->culprits), by_time);
	for (size_t i = 0; i < count; i++) {
		const struct culprit *c = &g->culprits[i];

		pf_table_int(t, c->sum.ns);
		pf_table_real(t, share(c->sum.ns, g->all.idle_ns));
		pf_table_int(t, c->sum.count);
		pf_table_string(t,
				pf_cause_name((enum pf_cause)c->place.cause));
		if (put_name(g, t, c->place.name, err) < 0 ||
		    put_name(g, t, frame_of(&c->place), err) < 0)
			return -1;
		if (put_name(g, t, c->place.op, err) < 0)
			return -1;
		pf_table_int(t, c->sum.longest_ns);
	}
	return 0;
}

static int put_gap(struct gaps *g, struct pf_table *t, const struct listed *l,
		   struct pf_err *err)
{
	const struct pf_gap *gap = &l->gap;
	uint32_t drained = gap->drained.end_ns == INT64_MIN
				   ? PF_ID_NONE
				   : gap->drained.place.name;

	put_int(t, gap->device, -1);
	pf_table_int(t, gap->start_ns - gap->trace->first_ns);
	pf_table_int(t, length(gap));
	pf_table_string(t, pf_cause_name((enum pf_cause)l->place.cause));
	if (put_name(g, t, l->place.name, err) < 0 ||
	    put_name(g, t, frame_of(&l->place), err) < 0)
		return -1;
	if (put_name(g, t, drained, err) < 0 ||
	    put_name(g, t, gap->before, err) < 0 ||
	    put_name(g, t, gap->after, err) < 0)
		return -1;
	pf_table_int(t, l->cause_ns);
	put_int(t, gap->trace->rank, -1);
	pf_table_int(t, gap->trace->trace_id);
	return 0;
}

static int add_gaps(struct gaps *g, struct pf_doc *doc, struct pf_err *err)
{
	static const struct pf_col cols[] = {
		{ "device", "GPU", PF_INT },
		{ "start_ns", "From", PF_NS },
		{ "ns", "Idle", PF_NS },
		{ "cause", "Main cause", PF_TEXT },
		{ "culprit", "Culprit", PF_TEXT },
		{ "frame", "Line or annotation", PF_PATH },
		{ "drained_by", "Drained by", PF_TEXT | PF_FULL },
		{ "before", "Work before", PF_TEXT | PF_FULL },
		{ "after", "Work after", PF_TEXT | PF_FULL },
		{ "cause_ns", "Part of cause", PF_NS | PF_FULL },
		{ "rank", "Rank", PF_INT | PF_FULL },
		{ "trace_id", "Trace", PF_INT | PF_FULL },
	};
	struct pf_table *t =
		pf_doc_table(doc, "gaps", "The longest gaps", COLS(cols));
	int rc = 0;

	if (g->listed)
		qsort(g->list, g->listed, sizeof(*g->list), by_length);
	for (size_t i = 0; !rc && i < g->listed; i++)
		rc = put_gap(g, t, &g->list[i], err);
	return rc;
}

static void add_lengths(struct gaps *g, struct pf_doc *doc)
{
	static const struct pf_col cols[] = {
		{ "from_ns", "From", PF_NS },
		{ "below_ns", "Below", PF_NS },
		{ "count", "Gaps", PF_COUNT },
		{ "ns", "Idle", PF_NS },
		{ "idle_share", "Of idle", PF_RATIO },
	};
	struct pf_table *t = pf_doc_table(doc, "lengths", "Gaps by length",
					  cols, sizeof(cols) / sizeof(*cols));
	int64_t from = 0, below = 1000;

	for (size_t i = 0; i < BINS; i++) {
		if (g->bin_count[i]) {
			pf_table_int(t, from);
			if (i + 1 < BINS)
				pf_table_int(t, below);
			else
				pf_table_null(t);
			pf_table_int(t, g->bin_count[i]);
			pf_table_int(t, g->bin_ns[i]);
			pf_table_real(t, share(g->bin_ns[i], g->all.idle_ns));
		}
		from = below;
		below *= 10;
	}
}

static void add_devices(struct gaps *g, struct pf_doc *doc)
{
	static const struct pf_col cols[] = {
		{ "rank", "Rank", PF_INT },
		{ "device", "GPU", PF_INT },
		{ "window_ns", "Time", PF_NS },
		{ "busy_ns", "Busy", PF_NS },
		{ "idle_ns", "Idle", PF_NS },
		{ "idle_share", "Idle share", PF_RATIO },
		{ "gap_count", "Gaps", PF_COUNT },
		{ "event_count", "GPU events", PF_COUNT },
		{ "trace_id", "Trace", PF_INT },
	};
	struct pf_table *t = pf_doc_table(doc, "devices", "By GPU", cols,
					  sizeof(cols) / sizeof(*cols));

	for (size_t i = 0; i < g->device_count; i++) {
		const struct pf_gap_device *d = &g->devices[i];

		put_int(t, d->trace->rank, -1);
		put_int(t, d->device, -1);
		pf_table_int(t, d->window_ns);
		pf_table_int(t, d->busy_ns);
		pf_table_int(t, d->idle_ns);
		pf_table_real(t, share(d->idle_ns, d->window_ns));
		pf_table_int(t, d->gap_count);
		pf_table_int(t, d->event_count);
		pf_table_int(t, d->trace->trace_id);
	}
}

/* ---- the whole ---- */

/* ", in FILE:LINE FUNCTION" of the culprit that holds most of the cause. */
static char *culprit_take(struct gaps *g, size_t cause, struct pf_err *err)
{
	const struct culprit *most = NULL;
	uint32_t name;

	/* what ran next is no culprit */
	if (cause > PF_CAUSE_LAUNCH)
		return pf_strdup("");
	for (size_t i = 0; i < g->keys.count; i++)
		if (g->culprits[i].place.cause == cause &&
		    (!most || by_time(&g->culprits[i], most) < 0))
			most = &g->culprits[i];
	if (!most)
		return pf_strdup("");
	name = most->place.frame != PF_ID_NONE  ? most->place.frame
	       : most->place.name != PF_ID_NONE ? most->place.name
						: most->place.note;
	if (name == PF_ID_NONE)
		return pf_strdup("");
	return pf_names_frame_take(g->names, name, err);
}

static int add_finding(struct gaps *g, struct pf_doc *doc, struct pf_err *err)
{
	char idle[PF_NUM_MAX], part[PF_NUM_MAX], time[PF_NUM_MAX];
	size_t order[PF_CAUSE_COUNT];
	char *where;

	if (!g->all.event_count && !g->all.idle_ns) {
		pf_doc_finding(doc, "There is no GPU work, so no gaps in it");
		return 0;
	}
	pf_num_show_ratio(idle, share(g->all.idle_ns, g->all.window_ns));
	pf_num_show_ns(time, g->all.window_ns);
	if (!g->all.idle_ns) {
		pf_doc_finding(doc, "GPU never idle in %s", time);
		return 0;
	}
	order_causes(g, order);
	where = culprit_take(g, order[0], err);
	if (!where)
		return -1;
	pf_num_show_ratio(part, share(g->causes[order[0]].ns, g->all.idle_ns));
	pf_doc_finding(doc, "GPU idle %s of %s; %s of that idle is %s%s%s",
		       idle, time, part, pf_cause_name((enum pf_cause)order[0]),
		       *where ? ", most in " : "", where);
	free(where);
	return 0;
}

static void add_scalars(struct gaps *g, struct pf_doc *doc)
{
	pf_doc_int(doc, "window_ns", "Time", PF_NS, g->all.window_ns);
	pf_doc_int(doc, "busy_ns", "Busy", PF_NS, g->all.busy_ns);
	pf_doc_int(doc, "idle_ns", "Idle", PF_NS, g->all.idle_ns);
	pf_doc_real(doc, "idle_share", "Idle share", PF_RATIO,
		    share(g->all.idle_ns, g->all.window_ns));
	pf_doc_int(doc, "gap_count", "Gaps", PF_COUNT, g->all.gap_count);
	pf_doc_int(doc, "drained_count", "Gaps after a blocking call", PF_COUNT,
		   g->drained_count);
	pf_doc_int(doc, "drained_ns", "Idle in them", PF_NS, g->drained_ns);
}

static void add_notes(struct gaps *g, struct pf_doc *doc)
{
	char percent[PF_NUM_MAX];

	if (!g->device_count)
		pf_doc_note(doc, "record GPU work with "
				 "activities=[ProfilerActivity.CPU, "
				 "ProfilerActivity.CUDA]");
	if (g->all.orphan_count)
		pf_doc_note(doc,
			    "%lld GPU events (%s of GPU time) have no launch "
			    "call",
			    (long long)g->all.orphan_count,
			    pf_num_show_ratio(percent, share(g->all.orphan_ns,
							     g->all.work_ns)));
	if (g->device_count > 1)
		pf_doc_note(doc, "times are sums over %zu GPUs",
			    g->device_count);
}

static int fill(struct gaps *g, struct pf_doc *doc, struct pf_err *err)
{
	if (add_finding(g, doc, err) < 0)
		return -1;
	add_scalars(g, doc);
	add_causes(g, doc);
	if (add_culprits(g, doc, err) < 0 || add_gaps(g, doc, err) < 0)
		return -1;
	add_lengths(g, doc);
	add_devices(g, doc);
	add_notes(g, doc);
	return 0;
}

int pf_gaps(struct pf_db *db, const struct pf_gaps_args *args,
	    struct pf_doc *doc, struct pf_err *err)
{
	struct gaps g = { .sink = { on_piece, on_gap, on_device },
			  .limit = args->limit < 0 ? SIZE_MAX
						   : (size_t)args->limit,
			  .at = 1 };
	struct pf_window window = { 0 };
	struct pf_pageable pageable = { 0 };
	int rc = pf_window_resolve(db, &args->window, &window, err);

	pf_intern_init(&g.keys);
	if (!rc)
		rc = pf_pageable_load(db, &pageable, err);
	if (!rc && !(g.names = pf_names_new(db, err)))
		rc = -1;
	if (!rc)
		rc = pf_gap_find(db, &window, g.names, &pageable,
				 args->micro_ns, &g.sink, err);
	if (!rc)
		rc = fill(&g, doc, err);
	pf_names_free(g.names);
	pf_pageable_release(&pageable);
	pf_intern_release(&g.keys);
	free(g.culprits);
	free(g.list);
	free(g.devices);
	pf_window_release(&window);
	return rc;
}
