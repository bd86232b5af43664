/* SPDX-License-Identifier: MIT */
/*
 * Sums are kept by cause and by (cause, culprit); of the gaps themselves only
 * the longest.
 */
#include "config.h"

#include <stdlib.h>

#include <string.h>

#include "base/buf.h"
#include "base/heap.h"
#include "base/intern.h"
#include "base/mem.h"
#include "base/num.h"
#include "base/order.h"
#include "base/sat.h"
#include "events/hints.h"
#include "events/kernel_name.h"
#include "events/trust.h"
#include "analysis/idle/gap_streams.h"
#include "analysis/idle/gaps.h"
#include "store/query.h"
#include "show/rows.h"

#define HEAD_WAIT 0.9  /* of a capture: it began in the middle of a wait */
#define BEFORE    0.1  /* of a capture, before GPU work: worth a word */
#define WAITS     0.05 /* of the window that no record explains: the same */

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
	s->ns += ns;
	s->gap_ns += ns;
	if (s->gap_ns > s->longest_ns)
		s->longest_ns = s->gap_ns;
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
		c->items = pf_grow(c->items, &c->cap, n + (size_t)1,
				   sizeof(*c->items));
	if (c->keys.count != known)
		c->items[n] = (struct culprit){ .place = *key };
	add_sum(&c->items[n].sum, gap, ns);
}

static void on_piece(struct pf_gap_sink *sink, const struct pf_gap *gap,
		     const struct pf_place *place, int64_t ns)
{
	struct gaps *g = (struct gaps *)sink;
	struct pf_place key = key_of(place);

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

static void on_inside(struct pf_gap_sink *sink, const uint32_t *names,
		      size_t count, int64_t ns)
{
	struct insides *in = &((struct gaps *)sink)->insides;

	in->piece++;
	for (size_t i = 0; i < count; i++) {
		uint64_t *id = pf_map_at(&in->ids, names[i]);
		struct inside *item;

		if (*id == UINT64_MAX) {
			*id = in->count++;
			in->items = pf_grow(in->items, &in->cap, in->count,
					    sizeof(*in->items));
			in->items[*id] =
				(struct inside){ .name = names[i], .depth = i };
		}
		item = &in->items[*id];
		if (item->piece == in->piece)
			continue; /* it calls itself */
		item->piece = in->piece;
		item->ns += ns;
		if (i < item->depth)
			item->depth = i;
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
	g->out->drained_ns += gap->end_ns - gap->start_ns;
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
		g->list = pf_grow(g->list, &g->list_cap, g->listed + 1,
				  sizeof(*g->list));
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
}

static void add_launching(struct gaps *g, const struct pf_gap *gap)
{
	const struct pf_block_call *drained = &gap->drained;

	if (drained->end_ns != INT64_MIN &&
	    drained->place.cause != PF_CAUSE_COPY)
		return;
	g->out->launching_ns += g->here_ns[PF_CAUSE_LAUNCH];
	if (length(gap) <= PF_GAPS_LAUNCHING_NS)
		g->out->launching_ns += g->here_ns[PF_CAUSE_RUNTIME] +
					g->here_ns[PF_CAUSE_OP] +
					g->here_ns[PF_CAUSE_MICRO];
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
	g->bin_ns[bin] += length(gap);
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
	out->devices = pf_grow(out->devices, &g->device_cap,
			       out->device_count + 1, sizeof(*out->devices));
	pf_gpu_set_add(&out->gpus, d->trace, d->device);
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

static void take_devices(struct pf_gaps *out)
{
	pf_sort(out->devices, out->device_count, sizeof(*out->devices),
		by_device);
}

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
static const char *frame_of(struct pf_gaps *out, const struct pf_place *p,
			    struct pf_err *err)
{
	uint32_t name = p->frame != PF_ID_NONE ? p->frame : p->note;

	return pf_names_frame(out->names, name, err);
}

static struct pf_gap_culprit culprit_of(struct pf_gaps *out,
					const struct culprit *c,
					struct pf_err *err)
{
	const char *name = pf_names_frame(out->names, c->place.name, err);

	return (struct pf_gap_culprit){
		.place = c->place,
		.cause = pf_cause_name((enum pf_cause)c->place.cause),
		.name = name,
		.short_name = short_culprit(out, &c->place, name),
		.frame = frame_of(out, &c->place, err),
		.op = pf_names_frame(out->names, c->place.op, err),
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
		out->culprits[out->culprit_count] = culprit_of(
			out, &g->culprits.items[out->culprit_count], err);
	if (drains) {
		pf_sort(g->drains.items, drains, sizeof(*g->drains.items),
			by_culprit_ns);
		out->drain = culprit_of(out, g->drains.items, err);
	}
}

static void take_inside(const struct gaps *g, struct pf_gaps *out,
			struct pf_err *err)
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
	out->inside.name = pf_names_frame(out->names, best->name, err);
	out->inside.ns = best->ns;
	out->inside.idle_share = pf_num_share(best->ns, out->all.idle_ns);
}

static struct pf_gap_item item_of(struct pf_gaps *out, const struct listed *l,
				  struct pf_err *err)
{
	const struct pf_gap *gap = &l->gap;
	uint32_t drained = gap->drained.end_ns == INT64_MIN
				   ? PF_ID_NONE
				   : gap->drained.place.name;

	const char *culprit = pf_names_frame(out->names, l->place.name, err);
	const char *before = pf_names_frame(out->names, gap->before, err);
	const char *after = pf_names_frame(out->names, gap->after, err);

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
		.frame = frame_of(out, &l->place, err),
		.drained_by = pf_names_frame(out->names, drained, err),
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
			item_of(out, &g->list[out->gap_count], err);
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

static int find(struct gaps *g, struct pf_db *db, struct pf_err *err)
{
	struct pf_gaps *out = g->out;
	const struct pf_pageable *pageable = pf_pageable(db, err);
	int rc = pageable ? 0 : -1;

	if (!rc && !(out->names = pf_names_new(db, err)))
		rc = -1;
	if (!rc)
		rc = pf_gap_find(db, &out->window, out->names, pageable,
				 out->micro_ns, &g->sink, err);
	if (!rc) {
		take_causes(g, out);
		take_culprits(g, out, err);
		take_inside(g, out, err);
		take_gaps(g, out, err);
		take_lengths(g, out);
		take_devices(out);
	}
	return rc || err->code ? -1 : 0;
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

/* What went on before the first GPU work, where that is much of a capture. */
static int find_before(struct pf_db *db, const struct pf_gaps_args *args,
		       struct pf_gaps *out, struct pf_err *err)
{
	const struct pf_window_trace *t = &out->window.traces[0];
	int64_t before_ns = t->lo_ns - t->first_ns;
	struct pf_gaps_args its = *args;

	if (!out->is_default || out->step_count || out->window.count > 1 ||
	    !out->all.event_count ||
	    (double)before_ns <= BEFORE * (double)(t->hi_ns - t->first_ns))
		return 0;
	its.window.from_ns = 0;
	its.window.to_ns = before_ns;
	its.window.device = first_at_work(out);
	its.limit = 0;
	its.also = NULL;
	out->before = pf_calloc(1, sizeof(*out->before));
	return pf_gaps_find(db, &its, out->before, err);
}

int pf_gaps_find(struct pf_db *db, const struct pf_gaps_args *args,
		 struct pf_gaps *out, struct pf_err *err)
{
	struct gaps g = { .sink = { on_piece, on_gap, on_device, on_inside },
			  .also = args->also,
			  .out = out,
			  .limit = args->limit < 0 ? SIZE_MAX
						   : (size_t)args->limit,
			  .at = 1 };
	int rc = pf_window_resolve(db, &args->window, &out->window, err);

	out->micro_ns = args->micro_ns;
	out->is_default = !out->window.is_restricted;
	pf_intern_init(&g.culprits.keys);
	pf_intern_init(&g.drains.keys);
	pf_map_init(&g.insides.ids);
	if (!rc)
		rc = pf_window_to_steps(db, &out->window, &out->step_count,
					NULL, err);
	if (!rc)
		rc = find(&g, db, err);
	if (!rc)
		rc = find_before(db, args, out, err);
	pf_intern_release(&g.culprits.keys);
	pf_intern_release(&g.drains.keys);
	free(g.culprits.items);
	free(g.drains.items);
	pf_map_release(&g.insides.ids);
	free(g.insides.items);
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
		      struct pf_doc *doc, struct pf_err *err)
{
	enum pf_producer producer;
	int64_t ns = 0;
	sqlite3_stmt *st;
	int rc;

	for (size_t i = 0; i < g->cause_count; i++)
		if (g->causes[i].cause == PF_CAUSE_DEVICE ||
		    g->causes[i].cause == PF_CAUSE_DEPENDENCY)
			ns += g->causes[i].ns;
	if ((double)ns < WAITS * (double)g->all.window_ns || !ns ||
	    g->window.is_tpu)
		return 0;
	st = pf_named_prepare(db, "wait_records", err);
	rc = st ? pf_db_step(db, st, err) : -1;
	if (rc == 1)
		rc = pf_hint_producer(db, &producer, err);
	if (!rc && sqlite3_column_int(st, 1))
		pf_doc_note(doc, "ROCm does not record what streams wait for");
	else if (!rc && !sqlite3_column_int(st, 0))
		pf_doc_note(doc, "%s", pf_hint(producer, PF_HINT_WAITS));
	sqlite3_finalize(st);
	return rc;
}

int pf_gaps(struct pf_db *db, const struct pf_gaps_args *args,
	    struct pf_gaps *kept, struct pf_doc *doc, struct pf_err *err)
{
	struct pf_gaps own = { 0 }, *g = kept ? kept : &own;
	int rc = pf_gaps_find(db, args, g, err);

	if (!rc)
		rc = pf_trust_recorded(db, &g->window, &g->recorded, err);
	if (!rc)
		pf_gaps_show(g, doc);
	if (!rc && (args->per_stream || args->hta))
		rc = pf_gap_streams(db, &g->window, args->hta, doc, err);
	if (!rc)
		rc = note_waits(db, g, doc, err);
	if (!rc)
		rc = pf_trust_note(db, &g->window,
				   PF_TRUST_WORK | PF_TRUST_LINKS |
					   PF_TRUST_STACKS | PF_TRUST_TPUS,
				   doc, err);
	pf_gaps_release(&own);
	return rc;
}
