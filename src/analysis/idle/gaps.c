/* SPDX-License-Identifier: MIT */
/*
 * Sums are kept by cause and by (cause, culprit); of the gaps themselves only
 * the longest.
 */
#include "config.h"

#include "analysis/idle/gaps.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/heap.h"
#include "base/intern.h"
#include "base/num.h"
#include "base/order.h"
#include "base/sat.h"
#include "events/gpu.h"
#include "events/hints.h"
#include "events/interval.h"
#include "events/step.h"
#include "store/query.h"

/*
 * Idle time stream by stream.  While one stream idles another may work, so
 * such times are never added up and are no saving.
 *
 * By HTA's rule (facebookresearch/HolisticTraceAnalysis, idle time breakdown):
 * time from the end of the event before on the stream to the start of the next
 * is host_wait if the next one's launch call began after that end, else
 * kernel_wait if it is shorter than 30 us, else other.  Events that overlap
 * count as negative time, and events without a launch call not at all in a
 * trace of several profiler steps, as they do there.
 */

/*
 * One pass over the work of all streams; for HTA's rule each gap goes through
 * a sort by launch call, so that the calls are read in one walk.
 */

#define KERNEL_WAIT_NS 30000

enum hta_wait { HOST_WAIT, KERNEL_WAIT, OTHER, WAITS };

struct stream {
	const struct pf_window_trace *trace;
	int64_t device, stream;
	struct pf_union busy;
	int64_t gap_count, longest_ns, event_count;
	bool has_last;  /* an event that counts in HTA's rule came before */
	int64_t end_ns; /* of it */
	int64_t wait_ns[WAITS];
};

struct gap {
	int64_t launch_id, end_ns; /* of the event before */
	int64_t ns, stream;
};

struct streams {
	struct pf_gpu *gpu;
	struct pf_by_event *gaps; /* NULL: without HTA's rule */
	struct pf_steps steps;
	struct stream *items;
	size_t count, cap;
};

static size_t find_stream(struct streams *s, const struct pf_gpu_event *ev)
{
	/* those of a trace are the last ones: work comes trace by trace */
	for (size_t i = s->count; i-- > 0 && s->items[i].trace == ev->trace;)
		if (s->items[i].device == ev->device &&
		    s->items[i].stream == ev->stream)
			return i;
	PF_ROOM(s->items, s->cap, s->count + 1);
	s->items[s->count] = (struct stream){ .trace = ev->trace,
					      .device = ev->device,
					      .stream = ev->stream };
	return s->count++;
}

/* HTA drops what it cannot assign to one of several steps. */
static bool counts(const struct streams *s, const struct pf_gpu_event *ev)
{
	int64_t id = ev->trace->trace_id;

	return ev->launch_id ||
	       !pf_steps_is_of(&s->steps, pf_steps_first(&s->steps, id) + 1,
			       id);
}

static int put_gap(struct streams *s, size_t number,
		   const struct pf_gpu_event *ev)
{
	struct stream *stream = &s->items[number];
	struct gap gap = { ev->launch_id, stream->end_ns,
			   ev->start_ns - stream->end_ns, (int64_t)number };
	bool has_last = stream->has_last;

	if (!counts(s, ev))
		return 0;
	stream->has_last = true;
	stream->end_ns = ev->end_ns;
	return has_last ? pf_by_event_add(s->gaps, &gap) : 0;
}

static int gather(struct streams *s)
{
	const struct pf_gpu_event *ev;
	int rc;

	while ((rc = pf_gpu_next(s->gpu, &ev)) == 1) {
		size_t number = find_stream(s, ev);
		struct stream *stream = &s->items[number];
		int64_t gap;

		PF_TRY(s->gaps && put_gap(s, number, ev) < 0);
		gap = pf_union_add(&stream->busy, ev->start_ns, ev->end_ns);
		stream->gap_count += gap > 0;
		PF_AT_LEAST(stream->longest_ns, gap);
		stream->event_count++;
	}
	return rc;
}

/* Now that gaps are in order of their launch calls: when did those begin? */
static int judge(struct streams *s, struct pf_err *err)
{
	const struct gap *gap;
	const struct pf_block *b;
	uint32_t i;

	while ((gap = pf_by_event_next(s->gaps, &b, &i))) {
		enum hta_wait wait =
			gap->ns < KERNEL_WAIT_NS ? KERNEL_WAIT : OTHER;

		if (b && b->start_ns[i] > gap->end_ns)
			wait = HOST_WAIT;
		pf_sat_sum(&s->items[gap->stream].wait_ns[wait], gap->ns);
	}
	return err->code ? -1 : 0;
}

PF_ORDER(by_place, struct stream,
	 PF_UP(trace->trace_id) PF_UP(device) PF_UP(stream))

static void add_table(struct streams *s, struct pf_doc *doc)
{
	static const struct pf_col cols[] = {
		{ "device", "GPU", PF_INT },
		{ "stream", "Stream", PF_INT },
		{ "busy_ns", "Busy", PF_NS },
		{ "idle_ns", "Idle", PF_NS },
		{ "gap_count", "Gaps", PF_COUNT },
		{ "longest_ns", "Longest", PF_NS },
		{ "event_count", "GPU events", PF_COUNT | PF_FULL },
		{ "window_ns", "First to last", PF_NS | PF_FULL },
		{ "rank", "Rank", PF_INT | PF_FULL },
		{ "trace_id", "Trace", PF_INT | PF_FULL },
		{ "host_wait_ns", "host_wait", PF_NS },
		{ "kernel_wait_ns", "kernel_wait", PF_NS },
		{ "other_ns", "other", PF_NS },
	};
	size_t count = sizeof(cols) / sizeof(*cols);
	struct pf_table *t = pf_doc_table(
		doc, "streams",
		"Idle time of each stream, while others may work: no saving",
		cols, s->gaps ? count : count - WAITS);

	pf_sort(s->items, s->count, sizeof(*s->items), by_place);
	for (size_t i = 0; i < s->count; i++) {
		const struct stream *x = &s->items[i];

		pf_table_known(t, x->device);
		pf_table_known(t, x->stream);
		pf_table_int(t, x->busy.covered_ns);
		pf_table_int(t, pf_union_idle(&x->busy));
		pf_table_int(t, x->gap_count);
		pf_table_int(t, x->longest_ns);
		pf_table_int(t, x->event_count);
		pf_table_int(t, pf_union_total(&x->busy));
		pf_table_known(t, x->trace->rank);
		pf_table_int(t, x->trace->trace_id);
		for (size_t w = 0; s->gaps && w < WAITS; w++)
			pf_table_int(t, x->wait_ns[w]);
	}
}

/* Add the table "streams", and with_hta the columns of HTA's rule to it. */
static int gap_streams(struct pf_db *db, const struct pf_window *window,
		       bool with_hta, struct pf_doc *doc)
{
	struct streams s = { 0 };
	int rc;

	s.gpu = pf_gpu_new(db, window, with_hta ? PF_GPU_CALLS : 0);
	if (with_hta)
		s.gaps = pf_by_event_new(db, sizeof(struct gap),
					 PF_COLBIT(PF_COL_START));
	rc = s.gpu ? 0 : -1;
	if (!rc && with_hta)
		rc = pf_window_steps(db, window, &s.steps);
	if (!rc)
		rc = gather(&s);
	if (!rc && with_hta)
		rc = judge(&s, db->err);
	if (!rc)
		add_table(&s, doc);
	pf_gpu_free(s.gpu);
	pf_by_event_free(s.gaps);
	pf_steps_release(&s.steps);
	free(s.items);
	return rc;
}

#define HEAD_WAIT  0.9  /* of a capture: it is a wait */
#define BEFORE     0.1  /* of a capture, before GPU work: worth a word */
#define GAPS_WAITS 0.05 /* of the window that no record explains: the same */

struct sum {
	int64_t ns, count, longest_ns;
	int64_t gap, gap_ns; /* the gap that was added to last; its part */
};

struct culprit {
	struct pf_place place;
	struct sum sum;
};

/* Sums by place. */
struct culprits {
	struct pf_intern keys; /* bytes of a struct pf_place -> culprit */
	struct culprit *items;
	size_t cap;
};

/* Idle time inside whatever is open: of a name, however deep below it. */
struct insides {
	struct pf_map ids; /* name -> place in items */
	struct inside {
		uint32_t name;
		int64_t ns, piece; /* the piece that was added last */
		size_t depth;      /* the least */
	} * items;
	size_t count, cap;
	int64_t piece;
	size_t *open; /* places of what the last piece was in, outermost first */
	size_t open_count, open_cap;
};

struct listed {
	struct pf_gap gap;
	struct pf_place place;
	int64_t cause_ns;
};

struct gaps {
	struct pf_gap_sink sink;
	struct pf_gap_sink *also; /* or NULL */
	struct pf_gaps *out;
	struct sum causes[PF_CAUSE_COUNT];
	struct culprits culprits;
	struct insides insides;
	struct culprits drains; /* by blocking call, of time that it explains */
	bool is_begun;          /* has anything but the profiler come in? */
	/* of the gap whose pieces come in */
	int64_t at;
	int64_t here_ns[PF_CAUSE_COUNT];
	struct pf_place largest[PF_CAUSE_COUNT];
	int64_t largest_ns[PF_CAUSE_COUNT];
	/* the longest: a heap, the least of them first */
	struct listed *list;
	size_t listed, limit, list_cap, device_cap;
	int64_t bin_count[PF_GAP_LENGTHS], bin_ns[PF_GAP_LENGTHS];
};

/* ---- sums ---- */

static void add_sum(struct sum *s, int64_t gap, int64_t ns)
{
	if (s->gap != gap) {
		s->gap = gap;
		s->gap_ns = 0;
		s->count++;
	}
	pf_sat_sum(&s->ns, ns);
	s->gap_ns += ns;
	PF_AT_LEAST(s->longest_ns, s->gap_ns);
}

/*
 * What is one culprit.  Ranges that explain all inside them are one whatever
 * operator runs there, and an annotation only matters without a line.
 */
static struct pf_place key_of(const struct pf_place *place)
{
	struct pf_place key = *place;

	key.outer_op = PF_ID_NONE;
	if (key.frame != PF_ID_NONE)
		key.note = PF_ID_NONE;
	switch (key.cause) {
	case PF_CAUSE_COMPILE:
	case PF_CAUSE_DATA:
	case PF_CAUSE_GC:
	case PF_CAUSE_COMM:
	case PF_CAUSE_PYTHON:
		key.op = PF_ID_NONE;
	}
	return key;
}

static void add_culprit(struct culprits *c, const struct pf_place *key,
			int64_t gap, int64_t ns)
{
	uint32_t known = c->keys.count;
	uint32_t n = pf_intern_add(&c->keys, (const char *)key, sizeof(*key));

	if (n + (size_t)1 > c->cap)
		PF_ROOM(c->items, c->cap, n + (size_t)1);
	if (c->keys.count != known)
		c->items[n] = (struct culprit){ .place = *key };
	add_sum(&c->items[n].sum, gap, ns);
}

static void on_piece(struct pf_gap_sink *sink, const struct pf_gap *gap,
		     const struct pf_place *place, int64_t ns)
{
	struct gaps *g = (struct gaps *)sink;
	struct pf_place key = key_of(place);

	g->is_begun |= key.cause != PF_CAUSE_PROFILER &&
		       key.cause != PF_CAUSE_UNRECORDED;
	pf_sat_sum(&g->out->lead_ns, g->is_begun ? 0 : ns);
	if (g->also)
		g->also->piece(g->also, gap, place, ns);
	add_sum(&g->causes[key.cause], g->at, ns);
	g->here_ns[key.cause] += ns;
	if (ns > g->largest_ns[key.cause]) {
		g->largest_ns[key.cause] = ns;
		g->largest[key.cause] = key;
	}
	add_culprit(&g->culprits, &key, g->at, ns);
}

static size_t find_inside(struct insides *in, uint32_t name, size_t depth)
{
	uint64_t *id = pf_map_at(&in->ids, name);

	if (*id == UINT64_MAX) {
		*id = in->count;
		*PF_ONE_MORE(in->items, in->count, in->cap) =
			(struct inside){ .name = name, .depth = depth };
	}
	return *id;
}

static void on_inside(struct pf_gap_sink *sink, const uint32_t *names,
		      size_t count, int64_t ns)
{
	struct insides *in = &((struct gaps *)sink)->insides;
	struct inside *item;
	size_t same = 0;

	while (same < count && same < in->open_count &&
	       in->items[in->open[same]].name == names[same])
		same++;
	PF_ROOM(in->open, in->open_cap, count);
	in->open_count = count;
	in->piece++;
	for (size_t i = 0; i < count; i++) {
		if (i >= same)
			in->open[i] = find_inside(in, names[i], i);
		item = &in->items[in->open[i]];
		if (item->piece == in->piece)
			continue; /* it calls itself */
		item->piece = in->piece;
		item->ns += ns;
		PF_AT_MOST(item->depth, i);
	}
}

static void add_drain(struct gaps *g, const struct pf_gap *gap)
{
	struct pf_place key = key_of(&gap->drained.place);
	int64_t ns = 0;

	for (size_t i = 0; i < PF_CAUSE_COUNT; i++)
		if (pf_cause_is_after_call((enum pf_cause)i))
			ns += g->here_ns[i];
	add_culprit(&g->drains, &key, g->at, ns);
	g->out->drained_count++;
	pf_sat_sum(&g->out->drained_ns, gap->end_ns - gap->start_ns);
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

static bool is_shorter(const void *a, const void *b)
{
	return by_length(a, b) > 0;
}

static void list_gap(struct gaps *g, const struct listed *item)
{
	if (g->listed < g->limit) {
		PF_ROOM(g->list, g->list_cap, g->listed + 1);
		g->list[g->listed] = *item;
		pf_heap_rise(g->list, sizeof(*item), g->listed++, is_shorter);
	} else if (g->limit && by_length(item, &g->list[0]) < 0) {
		g->list[0] = *item;
		pf_heap_sink(g->list, sizeof(*item), g->listed, 0, is_shorter);
	}
}

static size_t bin_of(int64_t ns)
{
	size_t bin = 0;

	for (int64_t top = 1000; bin + 1 < PF_GAP_LENGTHS && ns >= top; bin++)
		top *= 10;
	return bin;
}

/* Without steps the window begins with GPU work, not with a step. */
static void note_head_wait(struct gaps *g, const struct listed *item)
{
	const struct pf_gap *gap = &item->gap;
	const struct pf_window_trace *t = gap->trace;
	struct pf_gaps *out = g->out;
	int64_t window = t->hi_ns - t->lo_ns;

	if (!out->is_default || out->step_count ||
	    (item->place.cause != PF_CAUSE_DEPENDENCY &&
	     item->place.cause != PF_CAUSE_DEVICE) ||
	    (double)length(gap) < HEAD_WAIT * (double)window)
		return;
	out->head_wait_ns = length(gap);
	out->head_wait_end_ns = gap->end_ns - t->first_ns;
	out->head_wait_call = pf_names_frame(out->names, gap->stream_wait);
}

static void add_launching(struct gaps *g, const struct pf_gap *gap)
{
	const struct pf_block_call *drained = &gap->drained;

	if (drained->end_ns != INT64_MIN &&
	    drained->place.cause != PF_CAUSE_COPY)
		return;
	pf_sat_sum(&g->out->launching_ns, g->here_ns[PF_CAUSE_LAUNCH]);
	if (length(gap) <= PF_GAPS_LAUNCHING_NS)
		g->out->launching_ns +=
			g->here_ns[PF_CAUSE_RUNTIME] + g->here_ns[PF_CAUSE_OP] +
			/* what one call launched the GPU has already */
			(gap->is_inside_call ? 0 : g->here_ns[PF_CAUSE_MICRO]);
}

static void on_gap(struct pf_gap_sink *sink, const struct pf_gap *gap)
{
	struct gaps *g = (struct gaps *)sink;
	struct listed item = { .gap = *gap };
	size_t cause = 0, bin = bin_of(length(gap));

	if (g->also)
		g->also->gap(g->also, gap);
	for (size_t c = 1; c < PF_CAUSE_COUNT; c++)
		if (g->here_ns[c] > g->here_ns[cause])
			cause = c;
	item.place = g->largest[cause];
	item.cause_ns = g->here_ns[cause];
	note_head_wait(g, &item);
	add_launching(g, gap);
	list_gap(g, &item);
	g->bin_count[bin]++;
	pf_sat_sum(&g->bin_ns[bin], length(gap));
	if (gap->drained.end_ns != INT64_MIN)
		add_drain(g, gap);
	for (size_t c = 0; c < PF_CAUSE_COUNT; c++)
		g->here_ns[c] = g->largest_ns[c] = 0;
	g->at++;
}

static void on_device(struct pf_gap_sink *sink, const struct pf_gap_device *d)
{
	struct gaps *g = (struct gaps *)sink;
	struct pf_gaps *out = g->out;
	struct pf_gap_device *all = &out->all;

	if (g->also)
		g->also->device(g->also, d);
	PF_ROOM(out->devices, g->device_cap, out->device_count + 1);
	pf_gpu_set_add(&out->gpus, d->trace, d->device);
	out->unexplained_count += d->is_unexplained;
	out->devices[out->device_count] = *d;
	out->devices[out->device_count++].idle_share =
		pf_ratio((double)d->idle_ns, d->window_ns);
	pf_sat_sum(&all->window_ns, d->window_ns);
	pf_sat_sum(&all->busy_ns, d->busy_ns);
	pf_sat_sum(&all->idle_ns, d->idle_ns);
	all->idle_share = pf_ratio((double)all->idle_ns, all->window_ns);
	all->gap_count += d->gap_count;
	all->event_count += d->event_count;
	pf_sat_sum(&all->work_ns, d->work_ns);
	all->outside_count += d->outside_count;
	pf_sat_sum(&all->outside_ns, d->outside_ns);
}

/* ---- what was found, in order ---- */

PF_ORDER(by_device, struct pf_gap_device, PF_UP(trace_id) PF_UP(device))

PF_ORDER(by_cause_ns, struct pf_gap_cause, PF_DOWN(ns) PF_UP(cause))

/* What the host does less often or faster is won. */
static bool is_on_host(int cause)
{
	return cause < PF_CAUSE_UNRECORDED || cause == PF_CAUSE_LAUNCH ||
	       cause == PF_CAUSE_MICRO;
}

static void take_causes(const struct gaps *g, struct pf_gaps *out)
{
	for (int c = 0; c < PF_CAUSE_COUNT; c++) {
		const struct sum *s = &g->causes[c];

		if (!s->ns)
			continue;
		out->causes[out->cause_count++] = (struct pf_gap_cause){
			.cause = (enum pf_cause)c,
			.name = pf_cause_name((enum pf_cause)c),
			.ns = s->ns,
			.count = s->count,
			.longest_ns = s->longest_ns,
			/* of what has a cause on the host */
			.recoverable_ns = is_on_host(c) ? s->ns : 0,
			.idle_share = pf_num_share(s->ns, out->all.idle_ns),
			.window_share = pf_num_share(s->ns, out->all.window_ns),
		};
	}
	pf_sort(out->causes, out->cause_count, sizeof(*out->causes),
		by_cause_ns);
}

static int by_culprit_ns(const void *a, const void *b)
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

/* The name of GPU work as people read it; NULL stays. */
static const char *short_of(struct pf_gaps *out, const char *work)
{
	return pf_kernel_short_kept(&out->texts, work);
}

/* The same of what holds idle time, where that can be GPU work. */
static const char *short_culprit(struct pf_gaps *out, const struct pf_place *p,
				 const char *name)
{
	return p->cause > PF_CAUSE_UNRECORDED ? short_of(out, name) : name;
}

/* Without stacks an annotation is the nearest thing to a line. */
static const char *frame_of(struct pf_gaps *out, const struct pf_place *p)
{
	uint32_t name = p->frame != PF_ID_NONE ? p->frame : p->note;

	return pf_names_frame(out->names, name);
}

static struct pf_gap_culprit culprit_of(struct pf_gaps *out,
					const struct culprit *c)
{
	const char *name = pf_names_frame(out->names, c->place.name);

	return (struct pf_gap_culprit){
		.place = c->place,
		.cause = pf_cause_name((enum pf_cause)c->place.cause),
		.name = name,
		.short_name = short_culprit(out, &c->place, name),
		.frame = frame_of(out, &c->place),
		.op = pf_names_frame(out->names, c->place.op),
		.ns = c->sum.ns,
		.count = c->sum.count,
		.longest_ns = c->sum.longest_ns,
		.idle_share = pf_num_share(c->sum.ns, out->all.idle_ns),
	};
}

static void take_culprits(struct gaps *g, struct pf_gaps *out,
			  struct pf_err *err)
{
	size_t count = g->culprits.keys.count, drains = g->drains.keys.count;

	pf_sort(g->culprits.items, count, sizeof(*g->culprits.items),
		by_culprit_ns);
	out->culprits = pf_calloc(count + 1, sizeof(*out->culprits));
	for (; out->culprit_count < count && !err->code; out->culprit_count++)
		out->culprits[out->culprit_count] =
			culprit_of(out, &g->culprits.items[out->culprit_count]);
	if (drains) {
		pf_sort(g->drains.items, drains, sizeof(*g->drains.items),
			by_culprit_ns);
		out->drain = culprit_of(out, g->drains.items);
	}
}

static void take_inside(const struct gaps *g, struct pf_gaps *out)
{
	const struct inside *best = NULL;

	for (size_t i = 0; i < g->insides.count; i++) {
		const struct inside *a = &g->insides.items[i];

		if (a->ns >= out->all.idle_ns / 2 &&
		    (!best || a->ns < best->ns ||
		     (a->ns == best->ns && a->depth > best->depth)))
			best = a;
	}
	if (!best)
		return;
	out->inside.name = pf_names_frame(out->names, best->name);
	out->inside.ns = best->ns;
	out->inside.idle_share = pf_num_share(best->ns, out->all.idle_ns);
}

static struct pf_gap_item item_of(struct pf_gaps *out, const struct listed *l)
{
	const struct pf_gap *gap = &l->gap;
	uint32_t drained = gap->drained.end_ns == INT64_MIN
				   ? PF_ID_NONE
				   : gap->drained.place.name;

	const char *culprit = pf_names_frame(out->names, l->place.name);
	const char *before = pf_names_frame(out->names, gap->before);
	const char *after = pf_names_frame(out->names, gap->after);

	return (struct pf_gap_item){
		.trace_id = gap->trace->trace_id,
		.rank = gap->trace->rank,
		.device = gap->device,
		.start_ns = gap->start_ns - gap->trace->first_ns,
		.ns = length(gap),
		.cause_ns = l->cause_ns,
		.cause = pf_cause_name((enum pf_cause)l->place.cause),
		.culprit = culprit,
		.short_culprit = short_culprit(out, &l->place, culprit),
		.frame = frame_of(out, &l->place),
		.drained_by = pf_names_frame(out->names, drained),
		.before = before,
		.after = after,
		.short_before = short_of(out, before),
		.short_after = short_of(out, after),
	};
}

static void take_gaps(struct gaps *g, struct pf_gaps *out, struct pf_err *err)
{
	pf_sort(g->list, g->listed, sizeof(*g->list), by_length);
	out->gaps = pf_calloc(g->listed + 1, sizeof(*out->gaps));
	for (; out->gap_count < g->listed && !err->code; out->gap_count++)
		out->gaps[out->gap_count] =
			item_of(out, &g->list[out->gap_count]);
}

static void take_lengths(const struct gaps *g, struct pf_gaps *out)
{
	int64_t from = 0, below = 1000;

	for (size_t i = 0; i < PF_GAP_LENGTHS; i++) {
		if (g->bin_count[i])
			out->lengths
				[out->length_count++] = (struct pf_gap_length){
				from,
				i + 1 < PF_GAP_LENGTHS ? below : -1,
				g->bin_count[i],
				g->bin_ns[i],
				pf_num_share(g->bin_ns[i], out->all.idle_ns),
			};
		from = below;
		below *= 10;
	}
}

/* ---- the whole ---- */

static int find(struct gaps *g, struct pf_db *db)
{
	struct pf_gaps *out = g->out;
	const struct pf_pageable *pageable = pf_pageable(db);
	int rc = pageable ? 0 : -1;

	if (!rc && !(out->names = pf_names_new(db)))
		rc = -1;
	if (!rc)
		rc = pf_gap_find(db, &out->window, out->names, pageable,
				 out->micro_ns, &g->sink);
	if (!rc)
		rc = pf_captured_find(db, &out->window, out->names,
				      &out->captured_count);
	if (!rc) {
		take_causes(g, out);
		take_culprits(g, out, db->err);
		take_inside(g, out);
		take_gaps(g, out, db->err);
		take_lengths(g, out);
		pf_sort(out->devices, out->device_count, sizeof(*out->devices),
			by_device);
	}
	return rc || db->err->code ? -1 : 0;
}

/* The GPU that work came to first: time before that is counted once. */
static int64_t first_at_work(const struct pf_gaps *g)
{
	const struct pf_gap_device *first = &g->devices[0];

	for (size_t i = 1; i < g->device_count; i++)
		if (g->devices[i].event_count &&
		    (!first->event_count ||
		     g->devices[i].first_ns < first->first_ns))
			first = &g->devices[i];
	return first->device;
}

/*
 * What went on before the first GPU work, where that is much of a capture: from
 * where the program begins, behind the profiler's own start.
 */
static int find_before(struct pf_db *db, const struct pf_gaps_args *args,
		       struct pf_gaps *out)
{
	const struct pf_window_trace *t = &out->window.traces[0];
	struct pf_gaps_args its = *args;

	if (!out->is_default || out->step_count || out->window.count > 1 ||
	    !out->all.event_count)
		return 0;
	its.window.from_ns = t->program_ns - t->first_ns;
	its.window.to_ns = t->lo_ns - t->first_ns;
	its.window.device = first_at_work(out);
	its.limit = 0;
	its.also = NULL;
	for (;;) {
		int64_t ns = its.window.to_ns - its.window.from_ns;
		struct pf_gaps *before;

		if ((double)ns <= BEFORE * (double)(t->hi_ns - t->lo_ns + ns))
			return 0;
		before = out->before = pf_calloc(1, sizeof(*before));
		PF_TRY(pf_gaps_find(db, &its, before) < 0);
		if (!before->lead_ns)
			return 0;
		its.window.from_ns += before->lead_ns;
		pf_gaps_release(before);
		free(before);
		out->before = NULL;
	}
}

int pf_gaps_find(struct pf_db *db, const struct pf_gaps_args *args,
		 struct pf_gaps *out)
{
	struct gaps g = { .sink = { on_piece, on_gap, on_device, on_inside },
			  .also = args->also,
			  .out = out,
			  .limit = args->limit < 0 ? SIZE_MAX
						   : (size_t)args->limit,
			  .at = 1 };
	int rc = pf_window_resolve(db, &args->window, &out->window);

	out->micro_ns = args->micro_ns;
	out->is_default = !out->window.is_restricted;
	if (!rc)
		rc = pf_window_to_steps(db, &out->window, &out->step_count,
					NULL);
	if (!rc)
		rc = find(&g, db);
	if (!rc)
		rc = find_before(db, args, out);
	pf_intern_release(&g.culprits.keys);
	pf_intern_release(&g.drains.keys);
	free(g.culprits.items);
	free(g.drains.items);
	pf_map_release(&g.insides.ids);
	free(g.insides.items);
	free(g.insides.open);
	free(g.list);
	return rc;
}

void pf_gaps_release(struct pf_gaps *gaps)
{
	pf_names_free(gaps->names);
	pf_arena_release(&gaps->texts);
	free(gaps->devices);
	pf_gpu_set_release(&gaps->gpus);
	free(gaps->culprits);
	free(gaps->gaps);
	if (gaps->before)
		pf_gaps_release(gaps->before);
	free(gaps->before);
	pf_window_release(&gaps->window);
	memset(gaps, 0, sizeof(*gaps));
}

/* Where much is waiting that no record explains: what would. */
static int note_waits(struct pf_db *db, const struct pf_gaps *g,
		      struct pf_doc *doc)
{
	enum pf_producer producer;
	int64_t ns = 0;
	sqlite3_stmt *st;
	int rc;

	for (size_t i = 0; i < g->cause_count; i++)
		if (g->causes[i].cause == PF_CAUSE_DEVICE ||
		    g->causes[i].cause == PF_CAUSE_DEPENDENCY)
			ns += g->causes[i].ns;
	if ((double)ns < GAPS_WAITS * (double)g->all.window_ns || !ns ||
	    g->window.is_tpu)
		return 0;
	st = pf_named_prepare(db, "wait_records", db->err);
	rc = st ? pf_db_step(db, st, db->err) : -1;
	if (rc == 1)
		rc = pf_hint_producer(db, &producer);
	if (!rc && sqlite3_column_int(st, 1))
		pf_doc_note(doc, "ROCm does not record what streams wait for");
	else if (!rc && !sqlite3_column_int(st, 0))
		pf_doc_note(doc, "%s", pf_hint(producer, PF_HINT_WAITS));
	sqlite3_finalize(st);
	return rc;
}

static void gaps_show(const struct pf_gaps *g, struct pf_doc *doc);

int pf_gaps(struct pf_db *db, const struct pf_gaps_args *args,
	    struct pf_gaps *kept, struct pf_doc *doc)
{
	PF_AUTO(pf_gaps_release) struct pf_gaps own = { 0 };
	struct pf_gaps *g = kept ? kept : &own;

	PF_TRY(pf_gaps_find(db, args, g) ||
	       pf_trust_recorded(db, &g->window, &g->recorded));
	gaps_show(g, doc);
	if (args->per_stream || args->hta)
		PF_TRY(gap_streams(db, &g->window, args->hta, doc));
	PF_TRY(note_waits(db, g, doc));
	return pf_trust_note(db, &g->window,
			     PF_TRUST_WORK | PF_TRUST_LINKS | PF_TRUST_STACKS |
				     PF_TRUST_TPUS,
			     doc);
}

/* ---- tables ---- */

#define FIELD(...) PF_FIELD(struct pf_gap_cause, __VA_ARGS__)
static const struct pf_field cause_fields[] = {
	FIELD(name, "cause", "Cause", PF_TEXT | PF_OURS),
	FIELD(ns, "Idle", PF_NS),
	FIELD(idle_share, "Of idle", PF_RATIO | PF_BAR),
	FIELD(window_share, "Of time", PF_RATIO),
	FIELD(count, "Gaps", PF_COUNT),
	FIELD(longest_ns, "Longest", PF_NS),
	FIELD(recoverable_ns, "Recoverable", PF_NS | PF_FULL),
};
#undef FIELD

#define FIELD(...) PF_FIELD(struct pf_gap_culprit, __VA_ARGS__)
static const struct pf_field culprit_fields[] = {
	FIELD(ns, "Idle", PF_NS),
	FIELD(idle_share, "Of idle", PF_RATIO | PF_BAR),
	FIELD(count, "Gaps", PF_COUNT),
	FIELD(cause, "Cause", PF_TEXT | PF_OURS),
	FIELD(name, "culprit", "Culprit", PF_TEXT | PF_FULL),
	FIELD(short_name, "short_culprit", "Culprit", PF_TEXT | PF_BRIEF),
	FIELD(frame, "Line or range", PF_PATH | PF_FRAME),
	FIELD(op, "Op", PF_TEXT | PF_FULL),
	FIELD(longest_ns, "Longest", PF_NS | PF_FULL),
};
#undef FIELD

#define FIELD(...) PF_FIELD(struct pf_gap_item, __VA_ARGS__)
static const struct pf_field gap_fields[] = {
	FIELD(device, "GPU", PF_INT | PF_KNOWN),
	FIELD(start_ns, "From", PF_NS),
	FIELD(ns, "Idle", PF_NS),
	FIELD(cause, "Main cause", PF_TEXT | PF_OURS),
	FIELD(culprit, "Culprit", PF_TEXT | PF_FULL),
	FIELD(short_culprit, "Culprit", PF_TEXT | PF_BRIEF),
	FIELD(frame, "Line or range", PF_PATH | PF_FRAME),
	FIELD(drained_by, "Drained by", PF_TEXT | PF_FULL),
	FIELD(short_before, "Work before", PF_TEXT | PF_FULL | PF_BRIEF),
	FIELD(short_after, "Work after", PF_TEXT | PF_FULL | PF_BRIEF),
	FIELD(before, "Work before", PF_TEXT | PF_SYMBOL | PF_FULL),
	FIELD(after, "Work after", PF_TEXT | PF_SYMBOL | PF_FULL),
	FIELD(cause_ns, "Part of cause", PF_NS | PF_FULL),
	FIELD(rank, "Rank", PF_INT | PF_FULL | PF_KNOWN),
	FIELD(trace_id, "Trace", PF_INT | PF_FULL),
};
#undef FIELD

#define FIELD(...) PF_FIELD(struct pf_gap_length, __VA_ARGS__)
static const struct pf_field length_fields[] = {
	FIELD(from_ns, "From", PF_NS),
	FIELD(below_ns, "Below", PF_NS | PF_KNOWN),
	FIELD(count, "Gaps", PF_COUNT),
	FIELD(ns, "Idle", PF_NS),
	FIELD(idle_share, "Of idle", PF_RATIO),
};
#undef FIELD

#define FIELD(...) PF_FIELD(struct pf_gap_device, __VA_ARGS__)
static const struct pf_field device_fields[] = {
	FIELD(rank, "Rank", PF_INT | PF_KNOWN),
	FIELD(device, "GPU", PF_INT | PF_KNOWN),
	FIELD(window_ns, "Time", PF_NS),
	FIELD(busy_ns, "Busy", PF_NS),
	FIELD(idle_ns, "Idle", PF_NS),
	FIELD(idle_share, "Idle share", PF_RATIO),
	FIELD(gap_count, "Gaps", PF_COUNT),
	FIELD(event_count, "GPU events", PF_COUNT),
	FIELD(trace_id, "Trace", PF_INT),
};
#undef FIELD

#define FIELD(...) PF_FIELD(struct pf_gaps, __VA_ARGS__)
static const struct pf_field figures[] = {
	FIELD(all.window_ns, "window_ns", "Time", PF_NS),
	FIELD(all.busy_ns, "busy_ns", "Busy", PF_NS),
	FIELD(all.idle_ns, "idle_ns", "Idle", PF_NS),
	FIELD(all.idle_share, "idle_share", "Idle share", PF_RATIO),
	FIELD(all.gap_count, "gap_count", "Gaps", PF_COUNT),
};

/* Not known where no call was recorded. */
static const struct pf_field drained_words[] = {
	FIELD(drained_count, "Gaps after a blocking call", PF_COUNT | PF_KNOWN),
	FIELD(drained_ns, "Idle in them", PF_NS | PF_KNOWN),
};

#undef FIELD

#define FIELD(...) PF_FIELD(struct pf_gaps, __VA_ARGS__)
static const struct pf_field head_wait[] = {
	FIELD(head_wait_ns, "Waiting for what began before the capture", PF_NS),
	FIELD(head_wait_end_ns, "  until", PF_NS),
};
#undef FIELD

/* Of the time before the first GPU work: all, and what holds most of it. */
static const struct pf_field before_figures[] = {
	PF_FIELD(struct pf_gap_device, window_ns, "before_ns",
		 "Before the first GPU work", PF_NS),
};

#define FIELD(...) PF_FIELD(struct pf_gap_culprit, __VA_ARGS__)
static const struct pf_field before_most[] = {
	FIELD(ns, "before_most_ns", "  most of it", PF_NS),
	FIELD(cause, "before_cause", "  cause", PF_TEXT),
	FIELD(name, "before_culprit", "  culprit", PF_TEXT),
	FIELD(op, "before_op", "  op", PF_TEXT),
	FIELD(frame, "before_frame", "  line or range", PF_PATH),
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
	if (is_call && c->op != c->name)
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
 * ". 50.00 % of that idle is in Python, the largest piece (12.00 %) in f", and
 * what holds the pieces together, if they are in something.
 */
static void add_largest(const struct pf_gaps *g,
			const struct pf_gap_culprit *most, const char *part,
			const char *what, struct pf_buf *out)
{
	const struct pf_gap_culprit *largest = &g->culprits[0];
	PF_AUTO(pf_buf_release) struct pf_buf where = { 0 };

	if (largest->ns < 2 * most->ns || largest->place.cause > PF_CAUSE_GRAPH)
		largest = most;
	add_where(largest, &where);
	const char *share = PF_SHOW_RATIO(largest->idle_share);
	pf_buf_addf(out, ". %s of that idle is %s", part, what);
	if (largest->idle_share < LARGE)
		pf_buf_addf(out, ", in no piece above %s", share);
	else if (largest == most)
		pf_buf_addf(out, ", the largest piece (%s) in %s", share,
			    where.data);
	else
		pf_buf_addf(
			out, ". The largest piece (%s) is %s%s%s", share,
			pf_cause_phrase((enum pf_cause)largest->place.cause),
			where.len ? ", " : "", where.len ? where.data : "");
	if (g->inside.name) {
		pf_buf_addf(out, ". Of all idle time %s is inside %s",
			    PF_SHOW_RATIO(g->inside.idle_share),
			    g->inside.name);
	}
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

/* ". 82.57 % of that idle is in the DataLoader, FILE:LINE FUNCTION" */
static void add_reason(const struct pf_gaps *g, struct pf_buf *out)
{
	const struct pf_gap_cause *top = &g->causes[0];
	const struct pf_gap_culprit *most = find_most(g, top->cause);
	char most_part[PF_NUM_MAX];
	struct pf_buf where = { 0 };
	const char *what;

	if (g->drain.ns > top->ns && !is_other_call(g, most)) {
		add_where(&g->drain, &where);
		pf_buf_addf(out, ". %s of that idle is in or after %s",
			    PF_SHOW_RATIO(g->drain.idle_share),
			    where.len ? where.data : "");
		pf_buf_release(&where);
		return;
	}
	const char *part = PF_SHOW_RATIO(top->idle_share);
	pf_num_show_ratio(most_part, most->idle_share);
	if (top->cause == PF_CAUSE_MICRO) {
		pf_buf_addf(out, ". %s of that idle is in gaps below %s", part,
			    pf_num_show_ns(most_part, g->micro_ns));
		return;
	}
	what = top->cause == PF_CAUSE_DATA && is_loader(most->name)
		       ? "in the DataLoader"
	       : top->cause == PF_CAUSE_DEVICE && top->longest_ns < LONG_WAIT_NS
		       ? "between queued work"
		       : pf_cause_phrase(top->cause);
	add_where(most, &where);
	if (!where.len || top->cause > PF_CAUSE_GRAPH ||
	    top->cause == PF_CAUSE_PROFILER)
		pf_buf_addf(out, ". %s of that idle is %s", part, what);
	else if (most->ns >= top->ns - top->ns / 10) /* as good as all */
		pf_buf_addf(out, ". %s of that idle is %s, %s", most_part, what,
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
	pf_buf_addf(out, " most (%s)",
		    PF_SHOW_SHARE(most->idle_ns, most->window_ns));
}

/* ". A stream waits for that (cudaStreamWaitEvent), which ..." */
static void add_head_wait(const struct pf_gaps *g, struct pf_buf *out)
{
	const char *call = g->head_wait_call;

	if (g->head_wait_ns)
		pf_buf_addf(out,
			    ". A stream waits there for what began before the "
			    "capture%s%s%s; --from %lldus leaves that out",
			    call ? " (" : "", call ? call : "", call ? ")" : "",
			    (long long)g->head_wait_end_ns / 1000);
}

/* ". 30.1 s pass before the first GPU work, 97.00 % of it ..." */
static void add_before(const struct pf_gaps *g, struct pf_buf *out)
{
	const struct pf_gaps *before = g->before;
	PF_AUTO(pf_buf_release) struct pf_buf where = { 0 };

	if (!before)
		return;
	pf_buf_addf(out, ". %s pass before the first %s work",
		    PF_SHOW_NS(before->all.window_ns),
		    pf_window_device(&g->window));
	if (before->culprit_count) {
		const struct pf_gap_culprit *most = &before->culprits[0];
		enum pf_cause cause = (enum pf_cause)most->place.cause;

		if (cause < PF_CAUSE_DEPENDENCY)
			add_where(most, &where);
		pf_buf_addf(out, ", %s of it %s%s%s",
			    PF_SHOW_RATIO(most->idle_share),
			    pf_cause_phrase(cause), where.len ? ", " : "",
			    where.len ? where.data : "");
	}
}

static void add_finding(const struct pf_gaps *g, struct pf_doc *doc)
{
	PF_AUTO(pf_buf_release) struct pf_buf text = { 0 };

	pf_captured_say(g->captured_count, g->all.event_count, &text);
	if (!g->all.event_count && !g->all.idle_ns) {
		pf_buf_addf(&text, "%s%s", pf_window_no_work(&g->window),
			    g->window.tpu_count ? "" : ", so no gaps in it");
		doc->is_nothing = true;
	} else if (!g->all.window_ns) {
		pf_buf_addf(&text, "%s work takes no time, so no gaps in it",
			    pf_window_device(&g->window));
	} else if (!g->all.idle_ns) {
		pf_buf_addf(&text, "%s never idle in %s",
			    pf_window_device(&g->window),
			    PF_SHOW_NS(g->all.window_ns));
	} else {
		add_window(g, &text);
		add_idlest(g, &text);
		add_reason(g, &text);
		add_head_wait(g, &text);
		add_before(g, &text);
	}
	pf_doc_finding(doc, "%s", text.data);
}

static void add_notes(const struct pf_gaps *g, struct pf_doc *doc)
{
	const char *device = pf_window_device(&g->window);

	if (g->all.outside_count && g->is_default)
		pf_doc_note(doc,
			    "%lld %s events (%s of %s time) lie before the "
			    "first step or behind the last",
			    (long long)g->all.outside_count, device,
			    PF_SHOW_SHARE(g->all.outside_ns,
					  pf_sat_add(g->all.work_ns,
						     g->all.outside_ns)),
			    device);
	if (g->device_count > g->gpus.count)
		pf_doc_note(doc, "times are sums over %zu captures of %zu %s%s",
			    g->window.count, g->gpus.count, device,
			    pf_plural(g->gpus.count));
	else if (g->device_count > 1)
		pf_doc_note(doc, "times are sums over %zu %ss", g->device_count,
			    device);
	if (g->unexplained_count)
		pf_doc_note(doc,
			    "of a trace gaps of %d %ss are explained: those of "
			    "%zu more count as time without records",
			    PF_GAPS_DEVICES, device, g->unexplained_count);
}

static void add_figures(const struct pf_gaps *g, struct pf_doc *doc)
{
	struct pf_gaps shown = *g;

	if (!g->recorded.has_calls && !g->drained_count)
		shown.drained_count = shown.drained_ns = -1;
	PF_SCALARS(doc, figures, shown);
	PF_SCALARS(doc, drained_words, shown);
}

static void gaps_show(const struct pf_gaps *g, struct pf_doc *doc)
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
