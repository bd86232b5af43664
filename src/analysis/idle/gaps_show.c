/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <string.h>

#include "base/buf.h"
#include "base/num.h"
#include "base/sat.h"
#include "analysis/idle/gaps.h"
#include "show/rows.h"

/* ---- tables ---- */

#define FIELD(member, key, title, kind)                                        \
	PF_FIELD(struct pf_gap_cause, member, key, title, kind)
static const struct pf_field cause_fields[] = {
	FIELD(name, "cause", "Cause", PF_TEXT | PF_OURS),
	FIELD(ns, "ns", "Idle", PF_NS),
	FIELD(idle_share, "idle_share", "Of idle", PF_RATIO),
	FIELD(window_share, "window_share", "Of time", PF_RATIO),
	FIELD(count, "count", "Gaps", PF_COUNT),
	FIELD(longest_ns, "longest_ns", "Longest", PF_NS),
	FIELD(recoverable_ns, "recoverable_ns", "Recoverable", PF_NS | PF_FULL),
};
#undef FIELD

#define FIELD(member, key, title, kind)                                        \
	PF_FIELD(struct pf_gap_culprit, member, key, title, kind)
static const struct pf_field culprit_fields[] = {
	FIELD(ns, "ns", "Idle", PF_NS),
	FIELD(idle_share, "idle_share", "Of idle", PF_RATIO),
	FIELD(count, "count", "Gaps", PF_COUNT),
	FIELD(cause, "cause", "Cause", PF_TEXT | PF_OURS),
	FIELD(name, "culprit", "Culprit", PF_TEXT | PF_FULL),
	FIELD(short_name, "short_culprit", "Culprit", PF_TEXT | PF_BRIEF),
	FIELD(frame, "frame", "Line or annotation", PF_PATH),
	FIELD(op, "op", "Op", PF_TEXT | PF_FULL),
	FIELD(longest_ns, "longest_ns", "Longest", PF_NS | PF_FULL),
};
#undef FIELD

#define FIELD(member, key, title, kind)                                        \
	PF_FIELD(struct pf_gap_item, member, key, title, kind)
static const struct pf_field gap_fields[] = {
	FIELD(device, "device", "GPU", PF_INT | PF_KNOWN),
	FIELD(start_ns, "start_ns", "From", PF_NS),
	FIELD(ns, "ns", "Idle", PF_NS),
	FIELD(cause, "cause", "Main cause", PF_TEXT | PF_OURS),
	FIELD(culprit, "culprit", "Culprit", PF_TEXT | PF_FULL),
	FIELD(short_culprit, "short_culprit", "Culprit", PF_TEXT | PF_BRIEF),
	FIELD(frame, "frame", "Line or annotation", PF_PATH),
	FIELD(drained_by, "drained_by", "Drained by", PF_TEXT | PF_FULL),
	FIELD(short_before, "short_before", "Work before",
	      PF_TEXT | PF_FULL | PF_BRIEF),
	FIELD(short_after, "short_after", "Work after",
	      PF_TEXT | PF_FULL | PF_BRIEF),
	FIELD(before, "before", "Work before", PF_TEXT | PF_FULL),
	FIELD(after, "after", "Work after", PF_TEXT | PF_FULL),
	FIELD(cause_ns, "cause_ns", "Part of cause", PF_NS | PF_FULL),
	FIELD(rank, "rank", "Rank", PF_INT | PF_FULL | PF_KNOWN),
	FIELD(trace_id, "trace_id", "Trace", PF_INT | PF_FULL),
};
#undef FIELD

#define FIELD(member, key, title, kind)                                        \
	PF_FIELD(struct pf_gap_length, member, key, title, kind)
static const struct pf_field length_fields[] = {
	FIELD(from_ns, "from_ns", "From", PF_NS),
	FIELD(below_ns, "below_ns", "Below", PF_NS | PF_KNOWN),
	FIELD(count, "count", "Gaps", PF_COUNT),
	FIELD(ns, "ns", "Idle", PF_NS),
	FIELD(idle_share, "idle_share", "Of idle", PF_RATIO),
};
#undef FIELD

#define FIELD(member, key, title, kind)                                        \
	PF_FIELD(struct pf_gap_device, member, key, title, kind)
static const struct pf_field device_fields[] = {
	FIELD(rank, "rank", "Rank", PF_INT | PF_KNOWN),
	FIELD(device, "device", "GPU", PF_INT | PF_KNOWN),
	FIELD(window_ns, "window_ns", "Time", PF_NS),
	FIELD(busy_ns, "busy_ns", "Busy", PF_NS),
	FIELD(idle_ns, "idle_ns", "Idle", PF_NS),
	FIELD(idle_share, "idle_share", "Idle share", PF_RATIO),
	FIELD(gap_count, "gap_count", "Gaps", PF_COUNT),
	FIELD(event_count, "event_count", "GPU events", PF_COUNT),
	FIELD(trace_id, "trace_id", "Trace", PF_INT),
};
#undef FIELD

#define FIELD(member, key, title, kind)                                        \
	PF_FIELD(struct pf_gaps, member, key, title, kind)
static const struct pf_field figures[] = {
	FIELD(all.window_ns, "window_ns", "Time", PF_NS),
	FIELD(all.busy_ns, "busy_ns", "Busy", PF_NS),
	FIELD(all.idle_ns, "idle_ns", "Idle", PF_NS),
	FIELD(all.idle_share, "idle_share", "Idle share", PF_RATIO),
	FIELD(all.gap_count, "gap_count", "Gaps", PF_COUNT),
};

/* Not known where no call was recorded. */
static const struct pf_field drained[] = {
	FIELD(drained_count, "drained_count", "Gaps after a blocking call",
	      PF_COUNT | PF_KNOWN),
	FIELD(drained_ns, "drained_ns", "Idle in them", PF_NS | PF_KNOWN),
};

#undef FIELD

#define FIELD(member, key, title, kind)                                        \
	PF_FIELD(struct pf_gaps, member, key, title, kind)
static const struct pf_field head_wait[] = {
	FIELD(head_wait_ns, "head_wait_ns", "Waiting as the capture began",
	      PF_NS),
	FIELD(head_wait_end_ns, "head_wait_end_ns", "  until", PF_NS),
};
#undef FIELD

/* Of the time before the first GPU work: all, and what holds most of it. */
static const struct pf_field before_figures[] = {
	PF_FIELD(struct pf_gap_device, window_ns, "before_ns",
		 "Before the first GPU work", PF_NS),
};

#define FIELD(member, key, title, kind)                                        \
	PF_FIELD(struct pf_gap_culprit, member, key, title, kind)
static const struct pf_field before_most[] = {
	FIELD(ns, "before_most_ns", "  most of it", PF_NS),
	FIELD(cause, "before_cause", "  cause", PF_TEXT),
	FIELD(name, "before_culprit", "  culprit", PF_TEXT),
	FIELD(op, "before_op", "  op", PF_TEXT),
	FIELD(frame, "before_frame", "  line or annotation", PF_PATH),
};
#undef FIELD

/* ---- the finding ---- */

#define LARGE        0.1   /* of idle time: a piece worth its name */
#define LONG_WAIT_NS 50000 /* queued work may begin as late on an idle GPU */

/* Is it torch's loader, or another one (TensorFlow's)? */
static bool is_loader(const char *name)
{
	return name &&
	       (strstr(name, "DataLoader") || strstr(name, "dataloader"));
}

const char *pf_gap_phrase(enum pf_cause cause)
{
	static const char *const phrases[] = {
		[PF_CAUSE_SYNC] = "in calls that wait for the GPU",
		[PF_CAUSE_COPY] = "in copies that block the host",
		[PF_CAUSE_ALLOCATOR] = "in the allocator",
		[PF_CAUSE_MODULE] = "loading GPU code (warm up before "
				    "profiling)",
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
		[PF_CAUSE_DEPENDENCY] = "waiting for another stream",
		[PF_CAUSE_GRAPH] = "between kernels of graphs",
		[PF_CAUSE_DEVICE] = "queued work waiting for what is not "
				    "recorded",
		[PF_CAUSE_NO_LAUNCH] = "before work without a launch call",
		[PF_CAUSE_MICRO] = "in short gaps",
	};

	return phrases[cause];
}

const char *pf_gap_queued(enum pf_cause cause)
{
	if (cause != PF_CAUSE_DEVICE && cause != PF_CAUSE_DEPENDENCY)
		return NULL;
	return "with work already queued, likely behind work from before the "
	       "capture";
}

static void add_text(struct pf_buf *b, const char *before, const char *text)
{
	if (text)
		pf_buf_addf(b, "%s%s", b->len ? before : "", text);
}

/* "CALL in OP, FILE:LINE FUNCTION" as far as it is known. */
static void add_where(const struct pf_gap_culprit *c, struct pf_buf *b)
{
	uint32_t cause = c->place.cause;
	bool is_call = cause <= PF_CAUSE_MODULE || cause == PF_CAUSE_COMM ||
		       cause == PF_CAUSE_RUNTIME || cause == PF_CAUSE_LAUNCH ||
		       cause == PF_CAUSE_DEPENDENCY;

	if (is_call || cause == PF_CAUSE_OP || !c->frame)
		add_text(b, "", c->short_name);
	if (is_call)
		add_text(b, " in ", c->op);
	if (c->frame != c->name)
		add_text(b, ", ", c->frame);
	else if (!b->len)
		add_text(b, "", c->frame);
}

static const struct pf_gap_culprit *find_most(const struct pf_gaps *g,
					      enum pf_cause cause)
{
	size_t i = 0;

	while (g->culprits[i].place.cause != cause)
		i++;
	return &g->culprits[i];
}

/*
 * "; 50.00 % of that idle is in Python, the largest piece (12.00 %) in f", and
 * what holds the pieces together, if they are in something.
 */
static void add_largest(const struct pf_gaps *g,
			const struct pf_gap_culprit *most, const char *part,
			const char *what, struct pf_buf *out)
{
	const struct pf_gap_culprit *largest = &g->culprits[0];
	char share[PF_NUM_MAX];
	struct pf_buf where = { 0 };

	if (largest->ns < 2 * most->ns || largest->place.cause > PF_CAUSE_GRAPH)
		largest = most;
	add_where(largest, &where);
	pf_num_show_ratio(share, largest->idle_share);
	pf_buf_addf(out, "; %s of that idle is %s", part, what);
	if (largest->idle_share < LARGE)
		pf_buf_addf(out, ", in no piece above %s", share);
	else if (largest == most)
		pf_buf_addf(out, ", the largest piece (%s) in %s", share,
			    where.data);
	else
		pf_buf_addf(out, "; the largest piece (%s) is %s%s%s", share,
			    pf_gap_phrase((enum pf_cause)largest->place.cause),
			    where.len ? ", " : "", where.len ? where.data : "");
	if (g->inside.name) {
		pf_num_show_ratio(share, g->inside.idle_share);
		pf_buf_addf(out, "; %s of it is inside %s", share,
			    g->inside.name);
	}
	pf_buf_release(&where);
}

/*
 * Is what comes after the call that let the GPU run dry for the most part
 * another blocking call?  That one is to be named then.
 */
static bool is_other_call(const struct pf_gaps *g,
			  const struct pf_gap_culprit *most)
{
	enum pf_cause cause = (enum pf_cause)most->place.cause;

	return (cause == PF_CAUSE_SYNC || cause == PF_CAUSE_COPY ||
		cause == PF_CAUSE_ALLOCATOR) &&
	       most->ns > g->drain.ns / 2 &&
	       most->place.name != g->drain.place.name;
}

/* "; 82.57 % of that idle is in the DataLoader, FILE:LINE FUNCTION" */
static void add_reason(const struct pf_gaps *g, struct pf_buf *out)
{
	const struct pf_gap_cause *top = &g->causes[0];
	const struct pf_gap_culprit *most = find_most(g, top->cause);
	char part[PF_NUM_MAX], most_part[PF_NUM_MAX];
	struct pf_buf where = { 0 };
	const char *what;

	if (g->drain.ns > top->ns && !is_other_call(g, most)) {
		add_where(&g->drain, &where);
		pf_buf_addf(out, "; %s of that idle is in or after %s",
			    pf_num_show_ratio(part, g->drain.idle_share),
			    where.len ? where.data : "");
		pf_buf_release(&where);
		return;
	}
	pf_num_show_ratio(part, top->idle_share);
	pf_num_show_ratio(most_part, most->idle_share);
	if (top->cause == PF_CAUSE_MICRO) {
		pf_buf_addf(out, "; %s of that idle is in gaps below %s", part,
			    pf_num_show_ns(most_part, g->micro_ns));
		return;
	}
	what = top->cause == PF_CAUSE_DATA && is_loader(most->name)
		       ? "in the DataLoader"
	       : top->cause == PF_CAUSE_DEVICE && top->longest_ns < LONG_WAIT_NS
		       ? "between queued work"
		       : pf_gap_phrase(top->cause);
	add_where(most, &where);
	if (!where.len || top->cause > PF_CAUSE_GRAPH ||
	    top->cause == PF_CAUSE_PROFILER)
		pf_buf_addf(out, "; %s of that idle is %s", part, what);
	else if (most->ns >= top->ns - top->ns / 10) /* as good as all */
		pf_buf_addf(out, "; %s of that idle is %s, %s", most_part, what,
			    where.data);
	else
		add_largest(g, most, part, what, out);
	pf_buf_release(&where);
}

/* "GPU idle 12 % of 6 steps (1 ms of 8 ms)" */
static void add_window(const struct pf_gaps *g, struct pf_buf *out)
{
	const char *device = pf_window_device(&g->window);

	if (g->gpus.count > 1)
		pf_buf_addf(out, "%zu %ss idle ", g->gpus.count, device);
	else
		pf_buf_addf(out, "%s idle ", device);
	pf_window_say_part(&g->window, out, g->all.idle_ns, g->all.window_ns,
			   g->step_count);
}

/* Of several the GPU that idles most: ", GPU 3 of rank 1 most (45.00 %)" */
static void add_idlest(const struct pf_gaps *g, struct pf_buf *out)
{
	const struct pf_gap_device *most = &g->devices[0];
	char text[PF_NUM_MAX];

	if (g->gpus.count < 2)
		return;
	for (size_t i = 1; i < g->device_count; i++)
		if (pf_num_share(g->devices[i].idle_ns,
				 g->devices[i].window_ns) >
		    pf_num_share(most->idle_ns, most->window_ns))
			most = &g->devices[i];
	pf_buf_addf(out, ", %s %lld", pf_window_device(&g->window),
		    (long long)most->device);
	if (most->trace->rank >= 0)
		pf_buf_addf(out, " of rank %lld", (long long)most->trace->rank);
	pf_num_show_ratio(text, pf_num_share(most->idle_ns, most->window_ns));
	pf_buf_addf(out, " most (%s)", text);
}

/* "; the capture began in the middle of that wait, which ..." */
static void add_head_wait(const struct pf_gaps *g, struct pf_buf *out)
{
	if (g->head_wait_ns)
		pf_buf_addf(out,
			    "; the capture began in the middle of that wait, "
			    "which --from %lldus leaves out",
			    (long long)g->head_wait_end_ns / 1000);
}

/* "; 30.1 s pass before the first GPU work, 97.00 % of it ..." */
static void add_before(const struct pf_gaps *g, struct pf_buf *out)
{
	const struct pf_gaps *before = g->before;
	char time[PF_NUM_MAX], part[PF_NUM_MAX];
	struct pf_buf where = { 0 };

	if (!before)
		return;
	pf_num_show_ns(time, before->all.window_ns);
	pf_buf_addf(out, "; %s pass before the first %s work", time,
		    pf_window_device(&g->window));
	if (before->culprit_count) {
		const struct pf_gap_culprit *most = &before->culprits[0];
		enum pf_cause cause = (enum pf_cause)most->place.cause;

		const char *queued = pf_gap_queued(cause);

		if (!queued)
			add_where(most, &where);
		pf_num_show_ratio(part, most->idle_share);
		pf_buf_addf(out, ", %s of it %s%s%s", part,
			    queued ? queued : pf_gap_phrase(cause),
			    where.len ? ", " : "", where.len ? where.data : "");
	}
	pf_buf_release(&where);
}

static void add_finding(const struct pf_gaps *g, struct pf_doc *doc)
{
	char time[PF_NUM_MAX];
	struct pf_buf text = { 0 };

	if (!g->all.event_count && !g->all.idle_ns) {
		pf_doc_finding(doc, "%s%s", pf_window_no_work(&g->window),
			       g->window.tpu_count ? "" : ", so no gaps in it");
		doc->is_nothing = true;
		return;
	}
	if (!g->all.window_ns) {
		pf_doc_finding(doc, "%s work takes no time, so no gaps in it",
			       pf_window_device(&g->window));
		return;
	}
	if (!g->all.idle_ns) {
		pf_num_show_ns(time, g->all.window_ns);
		pf_doc_finding(doc, "%s never idle in %s",
			       pf_window_device(&g->window), time);
		return;
	}
	add_window(g, &text);
	add_idlest(g, &text);
	add_reason(g, &text);
	add_head_wait(g, &text);
	add_before(g, &text);
	pf_doc_finding(doc, "%s", text.data);
	pf_buf_release(&text);
}

static void add_notes(const struct pf_gaps *g, struct pf_doc *doc)
{
	const char *device = pf_window_device(&g->window);
	char percent[PF_NUM_MAX];

	if (g->all.outside_count && g->is_default)
		pf_doc_note(
			doc,
			"%lld %s events (%s of %s time) lie before the "
			"first step or behind the last",
			(long long)g->all.outside_count, device,
			pf_num_show_ratio(
				percent,
				pf_num_share(g->all.outside_ns,
					     pf_sat_add(g->all.work_ns,
							g->all.outside_ns))),
			device);
	if (g->device_count > g->gpus.count)
		pf_doc_note(doc, "times are sums over %zu captures of %zu %s%s",
			    g->window.count, g->gpus.count, device,
			    g->gpus.count == 1 ? "" : "s");
	else if (g->device_count > 1)
		pf_doc_note(doc, "times are sums over %zu %ss", g->device_count,
			    device);
}

static void add_figures(const struct pf_gaps *g, struct pf_doc *doc)
{
	struct pf_gaps shown = *g;

	if (!g->recorded.has_calls && !g->drained_count)
		shown.drained_count = shown.drained_ns = -1;
	PF_SCALARS(doc, figures, shown);
	PF_SCALARS(doc, drained, shown);
}

void pf_gaps_show(const struct pf_gaps *g, struct pf_doc *doc)
{
	add_finding(g, doc);
	add_figures(g, doc);
	if (g->head_wait_ns)
		PF_SCALARS(doc, head_wait, *g);
	if (g->before)
		PF_WINDOW_SCALARS(&g->window, doc, before_figures,
				  g->before->all);
	if (g->before && g->before->culprit_count)
		PF_SCALARS(doc, before_most, g->before->culprits[0]);
	PF_ROWS(doc, "causes", "Idle time by cause", cause_fields, g->causes,
		g->cause_count);
	PF_ROWS(doc, "culprits", "What holds most of it", culprit_fields,
		g->culprits, g->culprit_count);
	PF_WINDOW_ROWS(&g->window, doc, "gaps", "The longest gaps", gap_fields,
		       g->gaps, g->gap_count);
	PF_ROWS(doc, "lengths", "Gaps by length", length_fields, g->lengths,
		g->length_count);
	PF_WINDOW_ROWS(&g->window, doc, "devices", "By GPU", device_fields,
		       g->devices, g->device_count);
	add_notes(g, doc);
}
