/* SPDX-License-Identifier: MIT */
/*
 * GPU work is put in order of its launch calls, which are then read in one
 * walk over their threads.  A call with several pieces of GPU work (a graph)
 * has the delay of the first and the duration of all.  Delays and queue
 * lengths go through sorts of fixed memory.
 */
#include "config.h"

#include "analysis/time/launches.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/intern.h"
#include "base/mem.h"
#include "base/num.h"
#include "base/order.h"
#include "base/sat.h"
#include "base/spool.h"
#include "base/stats.h"
#include "events/gpu.h"
#include "events/interval.h"
#include "events/names.h"
#include "events/nest.h"
#include "events/traces.h"
#include "events/trust.h"
#include "formats/event.h"
#include "show/doc.h"
#include "store/cursor.h"

/*
 * Each host thread is walked once, with the ranges that are open on it.  Time
 * is given to the innermost call as it passes; see events/nest.h.  Memory
 * grows with the number of different names.
 */

#define NO_CALL INT64_MAX

struct open {
	int64_t end_ns;
	int64_t call; /* the innermost, in calls; NO_CALL, also: not counted */
	uint32_t inside; /* name of the innermost op or range */
};

static const struct open outermost = { .call = NO_CALL, .inside = PF_ID_NONE };

struct group {
	uint32_t name, inside;
	struct pf_stats stats;
	int64_t self_ns;
};

struct calls {
	struct pf_db *db;
	struct pf_names *names;
	int by;
	struct pf_map by_key; /* name and inside -> group */
	struct group *groups;
	size_t count, cap;
	struct pf_nest nest; /* struct open */
	struct pf_sorter *values;
	const struct pf_window_trace *trace;
};

static size_t find_group(struct calls *c, uint32_t name, uint32_t inside)
{
	uint64_t *at = pf_map_at(&c->by_key, (uint64_t)inside << 32 | name);

	if (*at == UINT64_MAX) {
		*at = c->count++;
		c->groups = pf_grow(c->groups, &c->cap, c->count,
				    sizeof(*c->groups));
		c->groups[*at] =
			(struct group){ .name = name, .inside = inside };
	}
	return (size_t)*at;
}

/* Up to here: ranges end, and the innermost call gets the time. */
static void go_to(struct calls *c, int64_t at_ns)
{
	const struct open *o;
	int64_t from_ns, to_ns;

	while ((o = pf_nest_pass(&c->nest, at_ns, &from_ns, &to_ns)))
		if (o->call != NO_CALL)
			pf_sat_sum(&c->groups[o->call].self_ns,
				   to_ns - from_ns);
}

static int add_call(struct calls *c, struct open *o, uint32_t name,
		    int64_t dur_ns)
{
	size_t n = find_group(c, name, o ? o->inside : PF_ID_NONE);

	pf_stats_add(&c->groups[n].stats, dur_ns);
	if (o)
		o->call = (int64_t)n;
	return pf_medians_add(c->values, (int64_t)n, dur_ns, c->db->err);
}

static int take(void *context, const struct pf_block *b, uint32_t i,
		int64_t event_id, struct pf_err *err)
{
	struct calls *c = context;
	unsigned kind = pf_names_kind(c->names, b->type[i]);
	bool is_call = kind == PF_KIND_RUNTIME || kind == PF_KIND_DRIVER;
	int64_t start_ns = b->start_ns[i];
	struct open *o;

	(void)err;
	(void)event_id;
	if (!is_call &&
	    (c->by == PF_CALLS_BY_NAME ||
	     kind != (c->by == PF_CALLS_BY_OP ? PF_KIND_CPU_OP
					      : PF_KIND_ANNOTATION)))
		return 0;
	go_to(c, start_ns);
	o = pf_nest_push(&c->nest, pf_span_end(start_ns, b->dur_ns[i]));
	if (!is_call) {
		if (o)
			o->inside = b->name[i];
		return 0;
	}
	if (o)
		o->call = NO_CALL;
	if (start_ns < c->trace->from_ns || start_ns >= c->trace->to_ns)
		return 0;
	return add_call(c, o, b->name[i], b->dur_ns[i]);
}

static int read_track(struct calls *c, const struct pf_track *t)
{
	static const struct pf_track_reader reader = { .event = take };
	int rc;

	pf_nest_clear(&c->nest);
	rc = pf_track_read(c->db, t, &reader, c);
	go_to(c, INT64_MAX);
	return rc;
}

static int read_trace(struct calls *c)
{
	struct pf_track *tracks;
	size_t count;
	int rc = pf_tracks_load(c->db, c->trace->trace_id, &tracks, &count,
				c->db->err);

	for (size_t i = 0; !rc && i < count; i++)
		if (!strcmp(tracks[i].class_name, "host"))
			rc = read_track(c, &tracks[i]);
	pf_tracks_free(tracks, count);
	return rc;
}

PF_ORDER(by_total, struct pf_call,
	 PF_DOWN(total_ns) PF_ALPHA(name) PF_ALPHA(inside))

/* NULL: none, or an error. */
static const char *text_of(struct calls *c, struct pf_calls *out, uint32_t name)
{
	const char *kept;
	char *text;

	if (name == PF_ID_NONE)
		return NULL;
	text = pf_names_text_take(c->names, name);
	kept = text ? pf_arena_string(&out->texts, text) : NULL;
	free(text);
	return kept;
}

static int take_items(struct calls *c, struct pf_calls *out)
{
	int64_t *counts = pf_calloc(c->count + 1, sizeof(*counts));
	int64_t *medians = pf_calloc(c->count + 1, sizeof(*medians));
	int rc;

	for (size_t i = 0; i < c->count; i++) {
		counts[i] = c->groups[i].stats.count;
		out->count += counts[i];
		pf_sat_sum(&out->total_ns, c->groups[i].stats.sum);
		pf_sat_sum(&out->self_ns, c->groups[i].self_ns);
	}
	rc = pf_medians_find(c->values, counts, medians, c->db->err);
	out->items = pf_calloc(c->count + 1, sizeof(*out->items));
	for (size_t i = 0; !rc && i < c->count; i++) {
		const struct group *g = &c->groups[i];

		out->items[out->item_count++] = (struct pf_call){
			.name = text_of(c, out, g->name),
			.inside = text_of(c, out, g->inside),
			.count = g->stats.count,
			.total_ns = g->stats.sum,
			.self_ns = g->self_ns,
			.median_ns = medians[i],
			.min_ns = g->stats.min,
			.max_ns = g->stats.max,
			.mean_ns = pf_stats_mean(&g->stats),
			.sd_ns = pf_stats_sd(&g->stats),
			.share = pf_ratio((double)g->stats.sum, out->total_ns),
		};
		rc = c->db->err->code ? -1 : 0;
	}
	if (!rc)
		pf_sort(out->items, out->item_count, sizeof(*out->items),
			by_total);
	free(counts);
	free(medians);
	return rc;
}

int pf_calls_find(struct pf_db *db, const struct pf_calls_args *args,
		  struct pf_calls *out)
{
	struct calls c = { .db = db,
			   .by = args->by,
			   .nest = { .width = sizeof(outermost),
				     .outermost = &outermost } };
	int rc = pf_window_resolve(db, &args->window, &out->window);

	if (rc)
		return -1;
	pf_map_init(&c.by_key);
	c.values = pf_sorter_temp(sizeof(struct pf_group_value));
	c.names = pf_names_new(db);
	rc = c.names ? 0 : -1;
	for (size_t i = 0; !rc && i < out->window.count; i++) {
		c.trace = &out->window.traces[i];
		rc = read_trace(&c);
	}
	if (!rc)
		rc = take_items(&c, out);
	pf_names_free(c.names);
	pf_sorter_free(c.values);
	pf_map_release(&c.by_key);
	pf_nest_release(&c.nest);
	free(c.groups);
	return rc;
}

void pf_calls_release(struct pf_calls *c)
{
	pf_arena_release(&c->texts);
	pf_window_release(&c->window);
	free(c->items);
	*c = (struct pf_calls){ 0 };
}

/* ---- how it is said ---- */

#define FIELD(member, key, title, kind)                                        \
	PF_FIELD(struct pf_call, member, key, title, kind)
static const struct pf_field fields[] = {
	FIELD(name, "call", "Call", PF_TEXT),
	FIELD(inside, "inside", "Inside", PF_TEXT),
	FIELD(share, "share", "Share", PF_RATIO),
	FIELD(count, "count", "Calls", PF_COUNT),
	FIELD(total_ns, "total_ns", "Total", PF_NS),
	FIELD(self_ns, "self_ns", "Self", PF_NS | PF_FULL),
	FIELD(mean_ns, "mean_ns", "Mean", PF_NS),
	FIELD(median_ns, "median_ns", "Median", PF_NS),
	FIELD(min_ns, "min_ns", "Min", PF_NS | PF_FULL),
	FIELD(max_ns, "max_ns", "Max", PF_NS),
	FIELD(sd_ns, "sd_ns", "StdDev", PF_REAL | PF_FULL),
};
#undef FIELD
#define FIELD_COUNT  (sizeof(fields) / sizeof(*fields))
#define FIELD_INSIDE 1 /* places in fields */
#define FIELD_MEAN   6

#define FIELD(member, key, title, kind)                                        \
	PF_FIELD(struct pf_calls, member, key, title, kind)
static const struct pf_field figures[] = {
	FIELD(count, "call_count", "Calls", PF_COUNT),
	FIELD(total_ns, "total_ns", "Their time", PF_NS),
	FIELD(self_ns, "self_ns", "  counted once where calls are nested",
	      PF_NS),
};
#undef FIELD

static void add_finding(const struct pf_calls *c, struct pf_doc *doc)
{
	char part[PF_NUM_MAX], time[PF_NUM_MAX], all[PF_NUM_MAX];
	const struct pf_call *most = c->items;

	doc->is_nothing = !c->item_count;
	if (!c->item_count && c->window.has_unread) {
		pf_doc_finding(doc, "No calls could be read");
		return;
	}
	if (!c->item_count) {
		pf_doc_finding(
			doc,
			"There are no calls of a GPU's runtime or "
			"driver%s%s",
			c->recorded.has_calls ? pf_window_scope(&c->window)
					      : "; ",
			c->recorded.has_calls
				? ""
				: pf_hint(c->recorded.producer, PF_HINT_CALLS));
		return;
	}
	if (!c->total_ns) {
		pf_doc_finding(doc, "Calls take no time%s",
			       pf_window_scope(&c->window));
		return;
	}
	pf_doc_finding(doc, "%s takes %s of the time in calls%s (%s of %s)",
		       most->name, pf_num_show_ratio(part, most->share),
		       pf_window_scope(&c->window),
		       pf_num_show_ns(time, most->total_ns),
		       pf_num_show_ns(all, c->total_ns));
}

void pf_calls_show(const struct pf_calls *c, int by, struct pf_doc *doc)
{
	struct pf_field shown[FIELD_COUNT];

	memcpy(shown, fields, sizeof(fields));
	if (by == PF_CALLS_BY_NAME)
		shown[FIELD_INSIDE].col.kind |= PF_ABSENT;
	else
		/* text has no room for both */
		shown[FIELD_MEAN].col.kind |= PF_FULL;
	if (by == PF_CALLS_BY_OP)
		shown[FIELD_INSIDE].col.title = "Operator";
	else
		shown[FIELD_INSIDE].col.title = "Range";
	add_finding(c, doc);
	PF_SCALARS(doc, figures, *c);
	PF_ROWS(doc, "calls", "Calls of the runtime and the driver", shown,
		c->items, c->item_count);
}

#define SLOW_CALL_NS  50000
#define LONG_DELAY_NS 100000
#define AT_TIMES      0.1 /* of the launches are delayed */

struct work {
	int64_t launch_id, start_ns, dur_ns, stream, op_id;
};

/* A call and its work: when the first began and how long all of it took. */
struct launch {
	int64_t id, start_ns, cpu_ns, work_ns, gpu_ns, stream, op_id;
	uint32_t name;
};

/* A slow call or, without one, a short kernel, on its way to its operator. */
struct caused {
	int64_t op_id, launch_id;
	int64_t gpu_ns, start_ns, cpu_ns, delay_ns;
	uint32_t stream, name;
};

/* A change of the number of launched pieces that have not begun. */
struct change {
	int64_t time_ns;
	int64_t what; /* stream, above which: is it a launch? */
};

struct delay {
	int64_t call, delay_ns;
};

struct stream {
	int64_t trace_id, rank, device, stream;
	int64_t first_ns; /* of the trace */
	int64_t waiting;
	struct pf_stats length;
};

struct call {
	uint32_t name;
	struct pf_stats cpu, gpu, delay;
	int64_t median_delay, short_work, slow, delayed, early;
};

/* Short kernels of operators of one name; PF_ID_NONE: of none. */
struct op {
	uint32_t name;
	int64_t count, gpu_ns;
};

/* From this delay to that of the next; the first has what is negative. */
static const int64_t delay_from_ns[] = {
	0,      1000,   2000,   5000,    10000,    20000,     50000,
	100000, 200000, 500000, 1000000, 10000000, 100000000,
};
_Static_assert(sizeof(delay_from_ns) / sizeof(*delay_from_ns) ==
		       PF_LAUNCH_DELAYS,
	       "PF_LAUNCH_DELAYS");

struct launches {
	struct pf_db *db;
	struct pf_gpu *gpu;
	bool only_counts, no_causes;
	struct pf_map by_name, op_by_name;
	struct op *ops;
	size_t op_count, op_cap;
	struct pf_launches *out;
	int64_t delay_counts[PF_LAUNCH_DELAYS];
	int64_t kernel_ns, brief_ns;
	struct call *calls;
	size_t call_count, call_cap;
	struct stream *streams;
	size_t stream_count, stream_cap;
	uint32_t last_stream; /* that was asked for */
	struct pf_intern stream_keys;
	struct pf_by_event *works, *caused;
	struct pf_sorter *changes, *delays;
};

static int64_t find_stream(struct launches *l, const struct pf_gpu_event *ev)
{
	int64_t key[3] = { ev->trace->trace_id, ev->device, ev->stream };
	const struct stream *last;
	uint32_t n;

	if (l->stream_count) {
		last = &l->streams[l->last_stream];
		if (last->trace_id == key[0] && last->device == key[1] &&
		    last->stream == key[2])
			return l->last_stream;
	}
	n = pf_intern_add(&l->stream_keys, (const char *)key, sizeof(key));
	l->last_stream = n;
	if (n < l->stream_count)
		return n;
	l->streams = pf_grow(l->streams, &l->stream_cap, n + 1u,
			     sizeof(*l->streams));
	l->streams[n] = (struct stream){ .trace_id = key[0],
					 .rank = ev->trace->rank,
					 .device = key[1],
					 .stream = key[2],
					 .first_ns = ev->trace->first_ns };
	l->stream_count = n + 1u;
	return n;
}

/* A kernel that is short goes to its operator. */
static int note_kernel(struct launches *l, const struct pf_gpu_event *ev)
{
	struct caused brief = { .op_id = ev->op_id, .gpu_ns = ev->dur_ns };

	l->out->kernel_count++;
	pf_sat_sum(&l->kernel_ns, ev->dur_ns);
	if (ev->dur_ns >= PF_LAUNCH_SHORT_NS)
		return 0;
	l->out->short_kernel_count++;
	pf_sat_sum(&l->brief_ns, ev->dur_ns);
	if (l->no_causes)
		return 0;
	return pf_by_event_add(l->caused, &brief);
}

static int gather(struct launches *l)
{
	const struct pf_gpu_event *ev;
	int rc;

	while ((rc = pf_gpu_next(l->gpu, &ev)) == 1) {
		struct work w = { ev->launch_id, ev->start_ns, ev->dur_ns,
				  find_stream(l, ev), ev->op_id };

		if (ev->kind == PF_KIND_KERNEL && note_kernel(l, ev) < 0)
			return -1;
		if (!ev->launch_id) {
			l->out->orphan_count++;
		} else if (pf_by_event_add(l->works, &w) < 0) {
			return -1;
		}
	}
	return rc;
}

static size_t find_call(struct launches *l, uint32_t name)
{
	uint64_t *place = pf_map_at(&l->by_name, name);

	if (*place == UINT64_MAX) {
		l->calls = pf_grow(l->calls, &l->call_cap, l->call_count + 1,
				   sizeof(*l->calls));
		l->calls[l->call_count] =
			(struct call){ .name = name,
				       .median_delay = PF_NO_INT };
		*place = l->call_count++;
	}
	return (size_t)*place;
}

static int put_change(struct launches *l, int64_t time, bool is_launch,
		      int64_t stream)
{
	struct change c = { time, (int64_t)is_launch << 32 | stream };

	return pf_sorter_add(l->changes, &c, l->db->err);
}

static void note_delay(struct launches *l, int64_t delay_ns)
{
	size_t i = PF_LAUNCH_DELAYS - 1;

	while (i && delay_ns < delay_from_ns[i])
		i--;
	l->delay_counts[i]++;
}

struct slow {
	const char *call, *op;
	int64_t at_ns; /* after the first event */
	int64_t start_ns, cpu_ns, delay_ns, gpu_ns;
	int64_t rank, trace_id;
};

#define FIELD(member, key, title, kind)                                        \
	PF_FIELD(struct slow, member, key, title, kind)
static const struct pf_field slow_fields[] = {
	FIELD(call, "call", "Call", PF_TEXT),
	FIELD(at_ns, "at_ns", "From", PF_NS),
	FIELD(start_ns, "start_ns", "Start", PF_INT | PF_FULL),
	FIELD(cpu_ns, "cpu_ns", "CPU", PF_NS),
	FIELD(delay_ns, "delay_ns", "Delay", PF_NS),
	FIELD(gpu_ns, "gpu_ns", "GPU", PF_NS),
	FIELD(op, "op", "Operator", PF_TEXT),
	FIELD(rank, "rank", "Rank", PF_INT | PF_FULL | PF_KNOWN),
	FIELD(trace_id, "trace_id", "Trace", PF_INT | PF_FULL),
};
#undef FIELD

/* A call, all of whose work has been met. */
static int end_call(struct launches *l, const struct launch *at)
{
	struct delay d = { .call = (int64_t)find_call(l, at->name) };
	struct call *c = &l->calls[d.call];

	d.delay_ns =
		pf_sat_sub(at->work_ns, pf_span_end(at->start_ns, at->cpu_ns));
	pf_stats_add(&c->cpu, at->cpu_ns);
	pf_stats_add(&c->gpu, at->gpu_ns);
	c->early += d.delay_ns < 0;
	c->slow += at->cpu_ns > SLOW_CALL_NS;
	c->delayed += d.delay_ns > LONG_DELAY_NS;
	c->short_work += at->gpu_ns < at->cpu_ns;
	pf_stats_add(&c->delay, d.delay_ns);
	note_delay(l, d.delay_ns);
	if (l->only_counts)
		return 0;
	if (at->cpu_ns > SLOW_CALL_NS && !l->no_causes) {
		struct caused slow = { at->op_id,
				       at->id,
				       at->gpu_ns,
				       at->start_ns,
				       at->cpu_ns,
				       d.delay_ns,
				       (uint32_t)at->stream,
				       at->name };

		if (pf_by_event_add(l->caused, &slow) < 0)
			return -1;
	}
	if (put_change(l, at->start_ns, true, at->stream) < 0 ||
	    put_change(l, at->work_ns, false, at->stream) < 0)
		return -1;
	return pf_sorter_add(l->delays, &d, l->db->err);
}

static int read_calls(struct launches *l)
{
	const struct pf_block *b;
	const struct work *w;
	struct launch at = { 0 };
	uint32_t i;

	while ((w = pf_by_event_next(l->works, &b, &i))) {
		if (w->launch_id == at.id) {
			pf_sat_sum(&at.gpu_ns, w->dur_ns);
			continue;
		}
		if (at.id && end_call(l, &at) < 0)
			return -1;
		at = (struct launch){ 0 };
		if (b)
			at = (struct launch){
				.id = w->launch_id,
				.name = b->name[i],
				.start_ns = b->start_ns[i],
				.cpu_ns = b->dur_ns[i],
				.work_ns = w->start_ns,
				.gpu_ns = w->dur_ns,
				.stream = w->stream,
				.op_id = w->op_id,
			};
	}
	if (l->db->err->code)
		return -1;
	return at.id ? end_call(l, &at) : 0;
}

static int find_medians(struct launches *l)
{
	const struct delay *d;
	int64_t call = -1;
	size_t seen = 0, at;
	unsigned rest;

	if (pf_sorter_finish(l->delays, l->db->err) < 0)
		return -1;
	while ((d = pf_sorter_next(l->delays, l->db->err))) {
		struct call *c = &l->calls[d->call];

		seen = d->call == call ? seen + 1 : 0;
		call = d->call;
		at = pf_stats_place((size_t)c->delay.count, 50, &rest);
		if (seen == at)
			c->median_delay = d->delay_ns;
		else if (rest && seen == at + 1)
			c->median_delay = pf_stats_between(c->median_delay,
							   d->delay_ns, rest);
	}
	return l->db->err->code ? -1 : 0;
}

/* Op: the name of its operator, or PF_ID_NONE. */
static int list_slow(struct launches *l, const struct caused *s, uint32_t op)
{
	const struct stream *stream = &l->streams[s->stream];
	struct pf_buf call = { 0 };
	struct slow slow = {
		.at_ns = s->start_ns - stream->first_ns,
		.start_ns = s->start_ns,
		.cpu_ns = s->cpu_ns,
		.delay_ns = s->delay_ns,
		.gpu_ns = s->gpu_ns,
		.rank = stream->rank,
		.trace_id = stream->trace_id,
	};

	if (!(slow.call = pf_gpu_name(l->gpu, s->name)))
		return -1;
	pf_buf_adds(&call, slow.call);
	slow.call = call.data;
	if (op != PF_ID_NONE)
		slow.op = pf_gpu_name(l->gpu, op);
	if (!l->db->err->code)
		PF_PUT(l->out->slow, slow_fields, slow);
	pf_buf_release(&call);
	return l->db->err->code ? -1 : 0;
}

static void add_short(struct launches *l, uint32_t op, int64_t ns)
{
	uint64_t *n = pf_map_at(&l->op_by_name, op);

	if (*n == UINT64_MAX) {
		*n = l->op_count++;
		l->ops = pf_grow(l->ops, &l->op_cap, l->op_count,
				 sizeof(*l->ops));
		l->ops[*n] = (struct op){ .name = op };
	}
	l->ops[*n].count++;
	pf_sat_sum(&l->ops[*n].gpu_ns, ns);
}

/* Short kernels and slow calls in order of their operators. */
static int find_ops(struct launches *l)
{
	const struct pf_block *block;
	const struct caused *c;
	uint32_t place;

	while ((c = pf_by_event_next(l->caused, &block, &place))) {
		uint32_t op = block ? block->name[place] : PF_ID_NONE;

		if (!c->launch_id)
			add_short(l, op, c->gpu_ns);
		else if (list_slow(l, c, op) < 0)
			return -1;
	}
	return l->db->err->code ? -1 : 0;
}

/* Starts come before launches of the same time. */
static int find_lengths(struct launches *l)
{
	const struct change *c;

	if (pf_sorter_finish(l->changes, l->db->err) < 0)
		return -1;
	while ((c = pf_sorter_next(l->changes, l->db->err))) {
		struct stream *s = &l->streams[(uint32_t)c->what];
		bool is_launch = c->what >> 32;

		s->waiting += is_launch ? 1 : -1;
		if (is_launch)
			pf_stats_add(&s->length, s->waiting);
	}
	return l->db->err->code ? -1 : 0;
}

/* ---- what was found, in order ---- */

static const char *launches_text_of(struct launches *l, uint32_t name)
{
	return pf_arena_string(&l->out->texts, pf_gpu_name(l->gpu, name));
}

PF_ORDER(launches_by_total, struct call, PF_DOWN(cpu.sum) PF_UP(name))

static void take_calls(struct launches *l, struct pf_launches *out)
{
	struct pf_launch_call *all = &out->all;

	pf_sort(l->calls, l->call_count, sizeof(*l->calls), launches_by_total);
	out->calls = pf_calloc(l->call_count + 1, sizeof(*out->calls));
	for (size_t i = 0; i < l->call_count; i++) {
		const struct call *c = &l->calls[i];

		out->calls[out->call_count++] =
			(struct pf_launch_call){ launches_text_of(l, c->name),
						 c->cpu.count,
						 c->cpu.sum,
						 c->cpu.max,
						 c->gpu.sum,
						 c->median_delay,
						 c->delay.max,
						 c->short_work,
						 c->slow,
						 c->delayed,
						 c->early };
		all->count += c->cpu.count;
		pf_sat_sum(&all->cpu_ns, c->cpu.sum);
		all->short_count += c->short_work;
		all->slow_count += c->slow;
		all->delayed_count += c->delayed;
		all->early_count += c->early;
	}
	out->short_share =
		all->count ? pf_num_share(all->short_count, all->count) : NAN;
	out->short_kernel_share = pf_num_share(l->brief_ns, l->kernel_ns);
}

PF_ORDER(by_place, struct pf_launch_stream,
	 PF_UP(trace_id) PF_UP(device) PF_UP(stream))

static void take_streams(const struct launches *l, struct pf_launches *out)
{
	out->streams = pf_calloc(l->stream_count + 1, sizeof(*out->streams));
	for (size_t i = 0; i < l->stream_count; i++) {
		const struct stream *s = &l->streams[i];

		if (s->length.count)
			out->streams[out->stream_count++] =
				(struct pf_launch_stream){
					s->trace_id,   s->device,
					s->stream,     s->length.count,
					s->length.max, s->length.mean,
				};
	}
	pf_sort(out->streams, out->stream_count, sizeof(*out->streams),
		by_place);
}

/* From the first to the last that is not empty. */
static void take_delays(const struct launches *l, struct pf_launches *out)
{
	size_t first = 0, end = PF_LAUNCH_DELAYS;

	while (first < end && !l->delay_counts[first])
		first++;
	while (end > first && !l->delay_counts[end - 1])
		end--;
	for (size_t i = first; i < end; i++)
		out->delays[out->delay_count++] = (struct pf_launch_delay){
			.from_ns = delay_from_ns[i],
			.to_ns = i + 1 < PF_LAUNCH_DELAYS ? delay_from_ns[i + 1]
							  : -1,
			.count = l->delay_counts[i],
			.share = pf_num_share(l->delay_counts[i],
					      out->all.count),
			.negative_count = i ? 0 : out->all.early_count,
		};
}

PF_ORDER(by_count, struct op, PF_DOWN(count) PF_UP(name))

static void take_ops(struct launches *l, struct pf_launches *out)
{
	pf_sort(l->ops, l->op_count, sizeof(*l->ops), by_count);
	out->ops = pf_calloc(l->op_count + 1, sizeof(*out->ops));
	for (size_t i = 0; i < l->op_count; i++) {
		const struct op *op = &l->ops[i];

		out->ops[out->op_count++] = (struct pf_launch_op){
			.name = op->name == PF_ID_NONE
					? "(none)"
					: launches_text_of(l, op->name),
			.count = op->count,
			.share = pf_num_share(op->count, out->kernel_count),
			.gpu_ns = op->gpu_ns,
			.mean_ns = op->gpu_ns / op->count,
		};
	}
}

static int set_up(struct launches *l, const struct pf_window *window)
{
	pf_map_init(&l->by_name);
	pf_map_init(&l->op_by_name);
	pf_intern_init(&l->stream_keys);
	l->caused = pf_by_event_new(l->db, sizeof(struct caused),
				    PF_COLBIT(PF_COL_NAME));
	l->works = pf_by_event_new(l->db, sizeof(struct work),
				   PF_COLBIT(PF_COL_START) |
					   PF_COLBIT(PF_COL_DUR) |
					   PF_COLBIT(PF_COL_NAME));
	l->changes = pf_sorter_temp(sizeof(struct change));
	l->delays = pf_sorter_temp(sizeof(struct delay));
	l->gpu = pf_gpu_new(l->db, window, PF_GPU_STARTS | PF_GPU_LINKS);
	return l->gpu ? 0 : -1;
}

static void tear_down(struct launches *l)
{
	pf_gpu_free(l->gpu);
	pf_by_event_free(l->works);
	pf_sorter_free(l->changes);
	pf_sorter_free(l->delays);
	pf_by_event_free(l->caused);
	pf_map_release(&l->by_name);
	pf_map_release(&l->op_by_name);
	pf_intern_release(&l->stream_keys);
	free(l->ops);
	free(l->calls);
	free(l->streams);
}

int pf_launches_find(struct pf_db *db, const struct pf_launches_args *args,
		     int64_t limit, struct pf_launches *out)
{
	const struct pf_order order = { "cpu_ns", limit };
	struct launches l = { .db = db,
			      .out = out,
			      .only_counts = args->only_counts,
			      .no_causes =
				      args->only_counts || args->no_causes };
	int rc = pf_window_resolve(db, &args->window, &out->window);

	if (rc)
		return -1;
	out->slow = pf_fields_table("slow_calls", NULL, PF_FIELDS(slow_fields));
	pf_table_order(out->slow, &order);
	if (set_up(&l, &out->window) < 0 || gather(&l) < 0 ||
	    read_calls(&l) < 0 || find_medians(&l) < 0 ||
	    find_lengths(&l) < 0 || find_ops(&l) < 0) {
		rc = -1;
	} else {
		take_calls(&l, out);
		take_streams(&l, out);
		take_delays(&l, out);
		take_ops(&l, out);
		rc = db->err->code ? -1 : 0;
	}
	tear_down(&l);
	return rc;
}

void pf_launches_release(struct pf_launches *l)
{
	pf_table_free(l->slow);
	pf_arena_release(&l->texts);
	free(l->calls);
	free(l->streams);
	free(l->ops);
	pf_window_release(&l->window);
	*l = (struct pf_launches){ 0 };
}

/* ---- how it is said ---- */

#define FIELD(member, key, title, kind)                                        \
	PF_FIELD(struct pf_launch_call, member, key, title, kind)
static const struct pf_field call_fields[] = {
	FIELD(name, "call", "Call", PF_TEXT),
	FIELD(count, "count", "Calls", PF_COUNT),
	FIELD(cpu_ns, "cpu_ns", "CPU", PF_NS),
	FIELD(gpu_ns, "gpu_ns", "GPU", PF_NS),
	FIELD(median_delay_ns, "median_delay_ns", "Delay", PF_NS),
	FIELD(max_delay_ns, "max_delay_ns", "Longest", PF_NS),
	FIELD(short_count, "short_count", "Shorter", PF_COUNT),
	FIELD(slow_count, "slow_count", "Over 50 us", PF_COUNT | PF_FULL),
	FIELD(delayed_count, "delayed_count", "Delayed", PF_COUNT | PF_FULL),
	FIELD(early_count, "early_count", "Early", PF_COUNT | PF_FULL),
	FIELD(max_cpu_ns, "max_cpu_ns", "Longest call", PF_NS | PF_FULL),
};
#undef FIELD

#define FIELD(member, key, title, kind)                                        \
	PF_FIELD(struct pf_launch_stream, member, key, title, kind)
static const struct pf_field stream_fields[] = {
	FIELD(trace_id, "trace_id", "Trace", PF_INT),
	FIELD(device, "device", "GPU", PF_INT),
	FIELD(stream, "stream", "Stream", PF_INT),
	FIELD(launch_count, "launch_count", "Launches", PF_COUNT),
	FIELD(mean_length, "mean_length", "Mean queue", PF_REAL),
	FIELD(max_length, "max_length", "Longest", PF_COUNT),
};
#undef FIELD

#define FIELD(member, key, title, kind)                                        \
	PF_FIELD(struct pf_launch_delay, member, key, title, kind)
static const struct pf_field delay_fields[] = {
	FIELD(from_ns, "from_ns", "From", PF_NS),
	FIELD(to_ns, "to_ns", "To", PF_NS | PF_KNOWN),
	FIELD(count, "count", "Launches", PF_COUNT),
	FIELD(share, "share", "Share", PF_RATIO),
	FIELD(negative_count, "negative_count", "of them negative", PF_COUNT),
};
#undef FIELD

#define FIELD(member, key, title, kind)                                        \
	PF_FIELD(struct pf_launch_op, member, key, title, kind)
static const struct pf_field op_fields[] = {
	FIELD(name, "op", "Operator", PF_TEXT),
	FIELD(count, "count", "Kernels", PF_COUNT),
	FIELD(share, "share", "Share", PF_RATIO),
	FIELD(gpu_ns, "gpu_ns", "GPU", PF_NS),
	FIELD(mean_ns, "mean_ns", "Mean", PF_NS),
};
#undef FIELD

#define FIELD(member, key, title, kind)                                        \
	PF_FIELD(struct pf_launches, member, key, title, kind)
static const struct pf_field launches_figures[] = {
	FIELD(all.count, "launch_count", "Calls with GPU work", PF_COUNT),
	FIELD(all.cpu_ns, "cpu_ns", "CPU time of the calls", PF_NS | PF_KNOWN),
	FIELD(short_share, "short_share", "GPU work shorter than call",
	      PF_RATIO),
	FIELD(all.slow_count, "slow_count", "Calls over 50 us",
	      PF_COUNT | PF_KNOWN),
	FIELD(all.delayed_count, "delayed_count", "Delays over 100 us",
	      PF_COUNT | PF_KNOWN),
	FIELD(kernel_count, "kernel_count", "Kernels", PF_COUNT),
	FIELD(short_kernel_count, "short_kernel_count", "Kernels under 10 us",
	      PF_COUNT),
	FIELD(short_kernel_share, "short_kernel_share",
	      "  their share of kernel time", PF_RATIO),
	FIELD(all.early_count, "early_count", "GPU work before the call's end",
	      PF_COUNT | PF_KNOWN),
	FIELD(orphan_count, "orphan_count", "GPU events without a call",
	      PF_COUNT),
};

double pf_launches_late(const struct pf_launches *l)
{
	return pf_num_share(l->all.delayed_count, l->all.count);
}

static void launches_add_finding(const struct pf_launches *l,
				 struct pf_doc *doc)
{
	char part[PF_NUM_MAX], time[PF_NUM_MAX];
	double late = pf_launches_late(l);
	double waiting = 0;

	if (!l->all.count) {
		if (l->orphan_count)
			pf_doc_finding(doc, "No GPU work has a launch call");
		else
			pf_doc_finding(doc, "%s%s",
				       pf_window_no_work(&l->window),
				       l->window.tpu_count
					       ? ""
					       : ", so of no call is known "
						 "what it launched");
		doc->is_nothing = !l->orphan_count;
		return;
	}
	for (size_t i = 0; i < l->stream_count; i++) {
		/* it is in the queue itself, as HTA counts; work that begins
		 * with its launch, or before it, is in none */
		double others = l->streams[i].mean_length - 1;

		if (others > 0)
			waiting += others * (double)l->streams[i].launch_count;
	}
	pf_doc_finding(doc,
		       "The CPU %s: the work of %s of the launches%s begins "
		       "over 100 us after the call, a launch finds %.1f others "
		       "in the queue on average; the calls took %s in all",
		       late >= PF_LAUNCHES_AHEAD ? "runs ahead"
		       : late >= AT_TIMES        ? "runs ahead at times"
						 : "hardly runs ahead",
		       pf_num_show_ratio(part, late),
		       pf_window_scope(&l->window),
		       waiting / (double)l->all.count,
		       pf_num_show_ns(time, l->all.cpu_ns));
}

static void add_slow(const struct pf_launches *l, struct pf_doc *doc)
{
	int64_t dropped = pf_table_settle(l->slow);
	struct pf_table *t = pf_window_rows(
		&l->window, doc, "slow_calls", "Calls over 50 us",
		PF_FIELDS(slow_fields), NULL, 0, sizeof(struct slow));

	for (size_t i = 0; i < pf_table_row_count(l->slow); i++)
		for (size_t c = 0; c < pf_table_col_count(t); c++)
			pf_table_cell(t, &pf_table_row(l->slow, i)[c]);
	if (dropped)
		pf_doc_note(doc,
			    "%" PRId64 " more rows of 'slow_calls'; "
			    "--limit -1 shows all",
			    dropped);
}

/* Where GPU work is, and none has a call, nothing is known of calls. */
static void add_figures(const struct pf_launches *l, struct pf_doc *doc)
{
	struct pf_launches shown = *l;

	if (!l->all.count && l->orphan_count)
		shown.all.cpu_ns = shown.all.slow_count =
			shown.all.delayed_count = shown.all.early_count = -1;
	PF_SCALARS(doc, launches_figures, shown);
}

static void launches_show(const struct pf_launches *l, struct pf_doc *doc)
{
	launches_add_finding(l, doc);
	add_figures(l, doc);
	PF_ROWS(doc, "calls", "Launch calls", call_fields, l->calls,
		l->call_count);
	PF_ROWS(doc, "delays", "Delay from call to GPU work", delay_fields,
		l->delays, l->delay_count);
	PF_ROWS(doc, "short_kernels", "Kernels under 10 us", op_fields, l->ops,
		l->op_count);
	add_slow(l, doc);
	PF_ROWS(doc, "streams", "Queue length at the launch", stream_fields,
		l->streams, l->stream_count);
}

int pf_launches(struct pf_db *db, const struct pf_launches_args *args,
		struct pf_launches *kept, struct pf_doc *doc)
{
	int64_t limit = doc->lists ? doc->order.limit : -1;
	struct pf_launches own = { 0 }, *l = kept ? kept : &own;
	int rc = pf_launches_find(db, args, limit, l);

	if (!rc) {
		launches_show(l, doc);
		rc = pf_trust_note(db, &l->window,
				   PF_TRUST_WORK | PF_TRUST_LINKS, doc);
	}
	pf_launches_release(&own);
	return rc;
}

#undef FIELD
