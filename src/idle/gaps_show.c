/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "idle/gaps_impl.h"
#include "base/buf.h"
#include "base/mem.h"
#include "base/num.h"
#include "base/sat.h"

/* ---- tables ---- */

#define COLS(c) c, sizeof(c) / sizeof(*(c))

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
		pf_table_real(t, pf_num_share(s->ns, g->all.idle_ns));
		pf_table_real(t, pf_num_share(s->ns, g->all.window_ns));
		pf_table_int(t, s->count);
		pf_table_int(t, s->longest_ns);
		/* what is not known to have a cause cannot be won */
		pf_table_int(t, order[i] == PF_CAUSE_NO_LAUNCH ? 0 : s->ns);
	}
}

int pf_gaps_by_time(const void *a, const void *b)
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
	size_t count = g->culprits.keys.count;

	if (count)
		qsort(g->culprits.items, count, sizeof(*g->culprits.items),
		      pf_gaps_by_time);
	for (size_t i = 0; i < count; i++) {
		const struct culprit *c = &g->culprits.items[i];

		pf_table_int(t, c->sum.ns);
		pf_table_real(t, pf_num_share(c->sum.ns, g->all.idle_ns));
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
	pf_table_int(t, gap->end_ns - gap->start_ns);
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
		qsort(g->list, g->listed, sizeof(*g->list), pf_gaps_by_length);
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
			pf_table_real(
				t, pf_num_share(g->bin_ns[i], g->all.idle_ns));
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
		pf_table_real(t, pf_num_share(d->idle_ns, d->window_ns));
		pf_table_int(t, d->gap_count);
		pf_table_int(t, d->event_count);
		pf_table_int(t, d->trace->trace_id);
	}
}

/* ---- the whole ---- */

/* Is it torch's loader, or another one (TensorFlow's)? */
static bool is_loader(struct gaps *g, const struct pf_place *p)
{
	struct pf_err err = { 0 };
	char *text = NULL;
	bool is;

	if (p->name != PF_ID_NONE)
		text = pf_names_text_take(g->names, p->name, &err);
	is = text && (strstr(text, "DataLoader") || strstr(text, "dataloader"));
	free(text);
	return is;
}

/* What idle time is in, as a sentence says it. */
static const char *phrase(enum pf_cause cause)
{
	static const char *const phrases[] = {
		[PF_CAUSE_SYNC] = "in calls that wait for the GPU",
		[PF_CAUSE_COPY] = "in copies that block the host",
		[PF_CAUSE_ALLOCATOR] = "in the allocator",
		[PF_CAUSE_MODULE] = "loading GPU code",
		[PF_CAUSE_COMPILE] = "compiling",
		[PF_CAUSE_DATA] = "loading data",
		[PF_CAUSE_GC] = "in garbage collection",
		[PF_CAUSE_PROFILER] = "the profiler's own work",
		[PF_CAUSE_COMM] = "waiting for other processes",
		[PF_CAUSE_RUNTIME] = "in calls of the runtime",
		[PF_CAUSE_OP] = "in operators on the CPU",
		[PF_CAUSE_PYTHON] = "in Python",
		[PF_CAUSE_ANNOTATION] = "in code without operators",
		[PF_CAUSE_UNRECORDED] = "time without records",
		[PF_CAUSE_LAUNCH] = "launching",
		[PF_CAUSE_DEPENDENCY] = "waiting for other GPU work",
		[PF_CAUSE_GRAPH] = "between kernels of graphs",
		[PF_CAUSE_DEVICE] = "with work already queued",
		[PF_CAUSE_NO_LAUNCH] = "before work without a launch call",
	};

	return phrases[cause];
}

static const struct culprit *find_most(const struct culprits *c, int cause)
{
	const struct culprit *most = NULL;

	for (size_t i = 0; i < culprits_count(c); i++)
		if ((cause < 0 || c->items[i].place.cause == (uint32_t)cause) &&
		    (!most || pf_gaps_by_time(&c->items[i], most) < 0))
			most = &c->items[i];
	return most;
}

static int add_text(struct gaps *g, struct pf_buf *b, const char *before,
		    uint32_t name, struct pf_err *err)
{
	char *text;

	if (name == PF_ID_NONE)
		return 0;
	text = pf_names_frame_take(g->names, name, err);
	if (!text)
		return -1;
	if (b->len)
		pf_buf_add(b, before, strlen(before));
	pf_buf_add(b, text, strlen(text));
	free(text);
	return 0;
}

/* "CALL in OP, FILE:LINE FUNCTION" as far as it is known; '\0' ends it. */
static int add_where(struct gaps *g, const struct pf_place *p, struct pf_buf *b,
		     struct pf_err *err)
{
	uint32_t frame = frame_of(p);
	bool is_call =
		p->cause <= PF_CAUSE_MODULE || p->cause == PF_CAUSE_COMM ||
		p->cause == PF_CAUSE_RUNTIME || p->cause == PF_CAUSE_LAUNCH;
	int rc = 0;

	if (is_call || p->cause == PF_CAUSE_OP || frame == PF_ID_NONE)
		rc = add_text(g, b, "", p->name, err);
	if (!rc && is_call)
		rc = add_text(g, b, " in ", p->op, err);
	if (!rc && frame != p->name)
		rc = add_text(g, b, ", ", frame, err);
	else if (!rc && !b->len)
		rc = add_text(g, b, "", frame, err);
	pf_buf_add(b, "", 1);
	return rc;
}

/* "; 82.57 % of that idle is in the DataLoader, FILE:LINE FUNCTION" */
static int add_reason(struct gaps *g, struct pf_buf *out, struct pf_err *err)
{
	char part[PF_NUM_MAX], most_part[PF_NUM_MAX];
	size_t order[PF_CAUSE_COUNT];
	const struct culprit *most, *drain = find_most(&g->drains, -1);
	struct pf_buf where = { 0 };
	enum pf_cause cause;
	const char *what;
	int64_t ns;
	int rc;

	order_causes(g, order);
	cause = (enum pf_cause)order[0];
	ns = g->causes[cause].ns;
	most = find_most(&g->culprits, (int)cause);
	if (drain && drain->sum.ns > ns) {
		rc = add_where(g, &drain->place, &where, err);
		pf_num_show_ratio(part,
				  pf_num_share(drain->sum.ns, g->all.idle_ns));
		pf_buf_addf(out, "; %s of that idle is in or after %s", part,
			    rc ? "" : where.data);
		pf_buf_release(&where);
		return rc;
	}
	pf_num_show_ratio(part, pf_num_share(ns, g->all.idle_ns));
	if (cause == PF_CAUSE_MICRO) {
		pf_num_show_ns(most_part, g->args->micro_ns);
		pf_buf_addf(out, "; %s of that idle is in gaps below %s", part,
			    most_part);
		return 0;
	}
	what = cause == PF_CAUSE_DATA && is_loader(g, &most->place)
		       ? "in the DataLoader"
		       : phrase(cause);
	rc = add_where(g, &most->place, &where, err);
	if (rc || where.len <= 1 || cause > PF_CAUSE_GRAPH ||
	    cause == PF_CAUSE_PROFILER) {
		pf_buf_addf(out, "; %s of that idle is %s", part, what);
	} else if (most->sum.ns >= ns / 2) {
		pf_num_show_ratio(part,
				  pf_num_share(most->sum.ns, g->all.idle_ns));
		pf_buf_addf(out, "; %s of that idle is %s, %s", part, what,
			    where.data);
	} else {
		pf_num_show_ratio(most_part,
				  pf_num_share(most->sum.ns, g->all.idle_ns));
		pf_buf_addf(out,
			    "; %s of that idle is %s, the largest part (%s) "
			    "in %s",
			    part, what, most_part, where.data);
	}
	pf_buf_release(&where);
	return rc;
}

/* "GPU idle 12 % of 6 steps (1 ms of 8 ms)" */
static void add_window(const struct gaps *g, struct pf_buf *out)
{
	if (g->device_count > 1)
		pf_buf_addf(out, "%zu GPUs idle ", g->device_count);
	else
		pf_buf_addf(out, "GPU idle ");
	pf_window_say_part(out, g->all.idle_ns, g->all.window_ns,
			   g->step_count);
}

/* Of several the GPU that idles most: ", GPU 3 of rank 1 most (45.00 %)" */
static void add_idlest(const struct gaps *g, struct pf_buf *out)
{
	const struct pf_gap_device *most = &g->devices[0];
	char text[PF_NUM_MAX];

	if (g->device_count < 2)
		return;
	for (size_t i = 1; i < g->device_count; i++)
		if (pf_num_share(g->devices[i].idle_ns,
				 g->devices[i].window_ns) >
		    pf_num_share(most->idle_ns, most->window_ns))
			most = &g->devices[i];
	pf_buf_addf(out, ", GPU %lld", (long long)most->device);
	if (most->trace->rank >= 0)
		pf_buf_addf(out, " of rank %lld", (long long)most->trace->rank);
	pf_num_show_ratio(text, pf_num_share(most->idle_ns, most->window_ns));
	pf_buf_addf(out, " most (%s)", text);
}

static int add_finding(struct gaps *g, struct pf_doc *doc, struct pf_err *err)
{
	char time[PF_NUM_MAX];
	struct pf_buf text = { 0 };
	int rc;

	if (!g->all.event_count && !g->all.idle_ns) {
		pf_doc_finding(doc, "There is no GPU work, so no gaps in it");
		doc->is_nothing = true;
		return 0;
	}
	if (!g->all.idle_ns) {
		pf_num_show_ns(time, g->all.window_ns);
		pf_doc_finding(doc, "GPU never idle in %s", time);
		return 0;
	}
	add_window(g, &text);
	add_idlest(g, &text);
	rc = add_reason(g, &text, err);
	if (!rc)
		pf_doc_finding(doc, "%.*s", (int)text.len, text.data);
	pf_buf_release(&text);
	return rc;
}

static void add_scalars(struct gaps *g, struct pf_doc *doc)
{
	pf_doc_int(doc, "window_ns", "Time", PF_NS, g->all.window_ns);
	pf_doc_int(doc, "busy_ns", "Busy", PF_NS, g->all.busy_ns);
	pf_doc_int(doc, "idle_ns", "Idle", PF_NS, g->all.idle_ns);
	pf_doc_real(doc, "idle_share", "Idle share", PF_RATIO,
		    pf_num_share(g->all.idle_ns, g->all.window_ns));
	pf_doc_int(doc, "gap_count", "Gaps", PF_COUNT, g->all.gap_count);
	pf_doc_int(doc, "drained_count", "Gaps after a blocking call", PF_COUNT,
		   g->drained_count);
	pf_doc_int(doc, "drained_ns", "Idle in them", PF_NS, g->drained_ns);
}

static void add_notes(struct gaps *g, struct pf_doc *doc)
{
	char percent[PF_NUM_MAX];

	if (g->all.outside_count && g->is_default)
		pf_doc_note(
			doc,
			"%lld GPU events (%s of GPU time) lie outside "
			"of the steps",
			(long long)g->all.outside_count,
			pf_num_show_ratio(
				percent,
				pf_num_share(g->all.outside_ns,
					     pf_sat_add(g->all.work_ns,
							g->all.outside_ns))));
	if (g->device_count > 1)
		pf_doc_note(doc, "times are sums over %zu GPUs",
			    g->device_count);
}

int pf_gaps_show(struct gaps *g, struct pf_doc *doc, struct pf_err *err)
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
