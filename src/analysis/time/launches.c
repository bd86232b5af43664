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

#include "base/num.h"
#include "base/order.h"
#include "base/sat.h"
#include "base/spool.h"
#include "base/stats.h"
#include "events/host.h"
#include "events/interval.h"
#include "events/names.h"
#include "events/nest.h"
#include "events/traces.h"
#include "formats/event.h"
#include "store/cursor.h"

/*
 * Each host thread is walked once, with the ranges that are open on it.  Time
 * is given to the innermost call as it passes; see events/nest.h.  Memory
 * grows with the number of different names.
 */

#define NO_CALL INT64_MAX

struct open {
	int64_t end_ns;
	int64_t call;    /* the innermost, a row; NO_CALL, also: not counted */
	uint32_t inside; /* name of the innermost op or range */
};

static const struct open outermost = { .call = NO_CALL, .inside = PF_ID_NONE };

struct api_call {
	struct pf_spread ns;
	int64_t self_ns;
	uint32_t name_id, inside_id;
	const char *name, *inside; /* op or range; NULL: none */
};

struct calls {
	struct pf_ask ask;
	const struct pf_window_trace *trace; /* whose thread is read */
	int by;
	struct pf_keyed by_key; /* struct api_call */
	struct pf_nest nest;    /* struct open */
	int64_t self_ns;
	struct pf_recorded recorded;
};

static struct api_call *api_call_at(const struct calls *c, size_t i)
{
	return PF_KEYED_ROW(&c->by_key, struct api_call, i);
}

/* Up to here: ranges end, and the innermost call gets the time. */
static void go_to(struct calls *c, int64_t at_ns)
{
	const struct open *o;
	int64_t from_ns, to_ns;

	while ((o = pf_nest_pass(&c->nest, at_ns, &from_ns, &to_ns)))
		if (o->call != NO_CALL)
			pf_sat_sum(&api_call_at(c, (size_t)o->call)->self_ns,
				   to_ns - from_ns);
}

static void add_call(struct calls *c, struct open *o, uint32_t name,
		     int64_t dur_ns)
{
	uint32_t inside = o ? o->inside : PF_ID_NONE;
	size_t n = pf_keyed_at(&c->by_key, (uint64_t)inside << 32 | name);

	api_call_at(c, n)->name_id = name;
	api_call_at(c, n)->inside_id = inside;
	pf_keyed_add(&c->by_key, &c->ask, n, dur_ns);
	if (o)
		o->call = (int64_t)n;
}

static int take(void *context, const struct pf_block *b, uint32_t i,
		int64_t event_id)
{
	struct calls *c = context;
	const struct pf_window_trace *trace = c->trace;
	unsigned kind = pf_names_kind(c->ask.names, b->type[i]);
	bool is_call = kind == PF_KIND_RUNTIME || kind == PF_KIND_DRIVER;
	int64_t start_ns = b->start_ns[i];
	struct open *o;

	(void)event_id;
	if (!is_call &&
	    (c->by == PF_CALLS_BY_NAME ||
	     kind != (c->by == PF_CALLS_BY_OP ? PF_KIND_CPU_OP
					      : PF_KIND_ANNOTATION)))
		return 0;
	go_to(c, start_ns);
	o = pf_nest_push(&c->nest, pf_span_end(start_ns, b->dur_ns[i]));
	if (o && is_call)
		o->call = NO_CALL;
	else if (o)
		o->inside = b->name[i];
	if (is_call && start_ns >= trace->from_ns && start_ns < trace->to_ns)
		add_call(c, o, b->name[i], b->dur_ns[i]);
	return c->ask.err->code ? -1 : 0;
}

static int read_thread(void *context, const struct pf_track *t)
{
	static const struct pf_track_reader reader = { .event = take };
	struct calls *c = context;
	int rc;

	pf_nest_clear(&c->nest);
	rc = pf_track_read(c->ask.db, t, &reader, c);
	go_to(c, INT64_MAX);
	return rc;
}

PF_ORDER(by_total, struct api_call,
	 PF_DOWN(ns.of.sum) PF_ALPHA(name) PF_ALPHA(inside))

static void find_calls(struct calls *c)
{
	for (size_t i = 0; i < c->ask.window.count && pf_ask_names(&c->ask);
	     i++) {
		c->trace = &c->ask.window.traces[i];
		pf_host_tracks(c->ask.db, c->trace->trace_id, read_thread, c);
	}
	pf_keyed_finish(&c->by_key, &c->ask);
	for (size_t i = 0; i < c->by_key.count; i++) {
		struct api_call *call = api_call_at(c, i);

		call->name = pf_ask_text(&c->ask, call->name_id);
		call->inside = pf_ask_text(&c->ask, call->inside_id);
		pf_sat_sum(&c->self_ns, call->self_ns);
	}
	pf_keyed_sort(&c->by_key, by_total);
}

/* ---- how calls are said ---- */

static void add_finding(const struct calls *c, struct pf_doc *doc)
{
	const struct api_call *most = api_call_at(c, 0);
	const char *scope = pf_window_scope(&c->ask.window);
	const struct pf_recorded *r = &c->recorded;

	doc->is_nothing = !c->by_key.count;
	if (doc->is_nothing && c->ask.window.has_unread)
		pf_doc_finding(doc, "No calls could be read");
	else if (doc->is_nothing)
		pf_doc_finding(
			doc,
			"There are no calls of a GPU's runtime or driver%s%s",
			r->has_calls ? scope : "; ",
			r->has_calls ? ""
				     : pf_hint(r->producer, PF_HINT_CALLS));
	else if (!c->by_key.sum)
		pf_doc_finding(doc, "Calls take no time%s", scope);
	else
		pf_doc_finding(
			doc, "%s takes %s of the time in calls%s (%s of %s)",
			most->name, PF_SHOW_RATIO(most->ns.share), scope,
			PF_SHOW_NS(most->ns.of.sum), PF_SHOW_NS(c->by_key.sum));
}

#define FIGURE(...) PF_FIELD(struct calls, __VA_ARGS__)
#define FIELD(...)  PF_FIELD(struct api_call, __VA_ARGS__)
static void show_calls(const struct calls *c, struct pf_doc *doc)
{
	static const struct pf_field figures[] = {
		FIGURE(by_key.all, "call_count", "Calls", PF_COUNT),
		FIGURE(by_key.sum, "total_ns", "Their time", PF_NS),
		FIGURE(self_ns, "  counted once where calls are nested", PF_NS),
	};
	bool is_by_name = c->by == PF_CALLS_BY_NAME;
	const struct pf_field fields[] = {
		FIELD(name, "call", "Call", PF_TEXT),
		FIELD(inside, c->by == PF_CALLS_BY_OP ? "Operator" : "Range",
		      is_by_name ? PF_TEXT | PF_ABSENT : PF_TEXT),
		FIELD(ns.share, "share", "Share", PF_RATIO),
		FIELD(ns.of.count, "count", "Calls", PF_COUNT),
		FIELD(ns.of.sum, "total_ns", "Total", PF_NS),
		FIELD(self_ns, "Self", PF_NS | PF_FULL),
		/* text has no room for both */
		FIELD(ns.mean, "mean_ns", "Mean",
		      is_by_name ? PF_NS : PF_NS | PF_FULL),
		FIELD(ns.median, "median_ns", "Median", PF_NS),
		FIELD(ns.of.min, "min_ns", "Shortest", PF_NS | PF_FULL),
		FIELD(ns.of.max, "max_ns", "Longest", PF_NS),
		FIELD(ns.sd, "sd_ns", "StdDev", PF_REAL | PF_FULL),
	};

	add_finding(c, doc);
	PF_SCALARS(doc, figures, *c);
	PF_ROWS(doc, "calls", "Calls of the runtime and the driver", fields,
		api_call_at(c, 0), c->by_key.count);
}
#undef FIELD
#undef FIGURE

int pf_calls(struct pf_db *db, const struct pf_calls_args *args,
	     struct pf_doc *doc)
{
	struct calls c = { .by = args->by,
			   .nest = { .width = sizeof(outermost),
				     .outermost = &outermost } };

	pf_keyed_begin(&c.by_key, sizeof(struct api_call), PF_KEYED_MEDIANS);
	if (!pf_ask_begin(&c.ask, db, &args->window))
		find_calls(&c);
	if (!db->err->code &&
	    !pf_trust_recorded(db, &c.ask.window, &c.recorded) &&
	    !pf_trust_versions(db, &c.ask.window, doc))
		show_calls(&c, doc);
	pf_keyed_end(&c.by_key);
	pf_nest_release(&c.nest);
	return pf_ask_end(&c.ask);
}

#define SLOW_CALL_NS  50000
#define LONG_DELAY_NS 100000
#define AHEAD         1.0  /* others are in the queue: the CPU runs ahead, */
#define AT_TIMES      0.5  /* or at times; so, too, where launched work waits */
#define AHEAD_TIME    0.9  /* in less of the time than that, */
#define AT_TIMES_TIME 0.1  /* or in less than that hardly */
#define LATE          0.5  /* of the launches: worth a word */
#define QUEUE_FULL    1000 /* launches on a stream: CUDA takes 1,022 to 1,024 */

struct work {
	int64_t launch_id, start_ns, dur_ns, stream, op_id;
};

/* A call and its work: when the first began and how long all of it took. */
struct launch {
	int64_t id, start_ns, cpu_ns, work_ns, gpu_ns, stream, op_id;
	uint32_t name;
	struct pf_held held;
};

/* A slow call or, without one, a short kernel, on its way to its operator. */
struct caused {
	int64_t op_id, launch_id;
	int64_t gpu_ns, start_ns, cpu_ns, delay_ns;
	uint32_t stream, name;
};

/*
 * A change of the number of launched pieces that have not begun: from the
 * start of the call on, as HTA counts, and from its end on, as before the work
 * waits for the call.
 */
enum change_kind {
	CHANGE_BEGINS,
	CHANGE_LEAVES, /* it begins, and has waited */
	CHANGE_LAUNCH,
	CHANGE_LAUNCH_SLOW,
	CHANGE_WAITS,
};
struct change {
	int64_t time_ns;
	int64_t what; /* stream, above which: enum change_kind */
};

/* Of a device: how long launched work waited. */
struct queue {
	int64_t waiting, since_ns, filled_ns;
	int64_t first_ns, last_ns; /* of launches, and of work that begins */
	bool has_any;
};

/* From this delay to that of the next; the first has what is negative. */
static const int64_t delay_from_ns[] = {
	0,      1000,   2000,   5000,    10000,    20000,     50000,
	100000, 200000, 500000, 1000000, 10000000, 100000000,
};
_Static_assert(PF_LEN(delay_from_ns) == PF_LAUNCH_DELAYS, "PF_LAUNCH_DELAYS");

struct launches {
	struct pf_ask ask;
	bool only_counts, no_causes;
	struct pf_launches *out;
	struct pf_keyed cpu_ns; /* of all calls: one row */
	struct pf_keyed queues; /* struct queue */
	int64_t delay_counts[PF_LAUNCH_DELAYS];
	int64_t kernel_ns, brief_ns;
	size_t last_stream; /* that was asked for */
	struct pf_by_event *works, *caused;
	struct pf_sorter *changes;
};

static struct pf_launch_stream *stream_at(const struct launches *l, size_t i)
{
	return PF_KEYED_ROW(&l->out->streams, struct pf_launch_stream, i);
}

static int64_t find_stream(struct launches *l, const struct pf_gpu_event *ev)
{
	int64_t key[3] = { ev->trace->trace_id, ev->device, ev->stream };
	struct pf_keyed *streams = &l->out->streams;
	struct pf_launch_stream *s;

	if (streams->count) {
		s = stream_at(l, l->last_stream);
		if (s->trace_id == key[0] && s->device == key[1] &&
		    s->stream == key[2])
			return (int64_t)l->last_stream;
	}
	l->last_stream =
		pf_keyed_at_text(streams, (const char *)key, sizeof(key));
	s = stream_at(l, l->last_stream);
	s->trace_id = key[0];
	s->rank = ev->trace->rank;
	s->device = key[1];
	s->stream = key[2];
	s->queue = pf_keyed_at_text(&l->queues, (const char *)key,
				    2 * sizeof(*key));
	s->first_ns = ev->trace->first_ns;
	return (int64_t)l->last_stream;
}

/* A kernel that is short goes to its operator. */
static void note_kernel(struct launches *l, const struct pf_gpu_event *ev)
{
	struct caused brief = { .op_id = ev->op_id, .gpu_ns = ev->dur_ns };

	l->out->kernel_count++;
	pf_sat_sum(&l->kernel_ns, ev->dur_ns);
	if (ev->dur_ns >= PF_LAUNCH_SHORT_NS)
		return;
	l->out->short_kernel_count++;
	pf_sat_sum(&l->brief_ns, ev->dur_ns);
	if (!l->no_causes)
		pf_by_event_add(l->caused, &brief);
}

static void gather(struct launches *l)
{
	const struct pf_gpu_event *ev;

	while ((ev = pf_ask_gpu(&l->ask, PF_GPU_STARTS | PF_GPU_LINKS))) {
		struct work w = { ev->launch_id, ev->start_ns, ev->dur_ns,
				  find_stream(l, ev), ev->op_id };

		if (ev->kind == PF_KIND_KERNEL)
			note_kernel(l, ev);
		if (ev->launch_id)
			pf_by_event_add(l->works, &w);
		else
			l->out->orphan_count++;
	}
}

static void put_change(struct launches *l, int64_t time, enum change_kind kind,
		       int64_t stream)
{
	struct change c = { time, (int64_t)kind << 32 | stream };

	pf_sorter_add(l->changes, &c, l->ask.db->err);
}

struct slow {
	const char *call, *op;
	int64_t at_ns; /* after the first event */
	int64_t start_ns, cpu_ns, delay_ns, gpu_ns;
	int64_t rank, trace_id;
};

#define FIELD(...) PF_FIELD(struct slow, __VA_ARGS__)
static const struct pf_field slow_fields[] = {
	FIELD(call, "Call", PF_TEXT),
	FIELD(at_ns, "From", PF_NS),
	FIELD(start_ns, "Start", PF_INT | PF_FULL),
	FIELD(cpu_ns, "CPU", PF_NS),
	FIELD(delay_ns, "Delay", PF_NS),
	FIELD(gpu_ns, "GPU", PF_NS),
	FIELD(op, "Operator", PF_TEXT),
	FIELD(rank, "Rank", PF_INT | PF_FULL | PF_KNOWN),
	FIELD(trace_id, "Trace", PF_INT | PF_FULL),
};
#undef FIELD

/*
 * Why a call takes so long, as far as it shows: waits are no launching.  True:
 * it is launching.
 */
static bool add_slow_call(struct launches *l, const struct launch *at)
{
	struct pf_launch_sums *all = &l->out->all;
	const struct pf_pageable *pageable = pf_pageable(l->ask.db);
	static const struct pf_first_uses none;
	const struct pf_first_uses *firsts =
		at->cpu_ns < PF_FIRST_LEAST_NS
			? &none
			: pf_first_uses(l->ask.db, false);
	struct pf_names *names = pf_ask_names(&l->ask);
	const struct pf_name_class *class =
		names ? pf_names_class(names, at->name) : NULL;
	struct pf_call_way way;

	if (!pageable || !firsts || !class)
		return false;
	way = pf_call_way(pageable, firsts, class, at->id);
	if (way.is_first_use)
		pf_sat_sum(&all->slow_first_ns, at->cpu_ns);
	else if (way.is_blocking)
		pf_sat_sum(&all->slow_wait_ns, at->cpu_ns);
	return !way.is_first_use && !way.is_blocking;
}

static void join_held(struct pf_held *h, const struct pf_held *others)
{
	pf_sat_sum(&h->work_ns, others->work_ns);
	pf_sat_sum(&h->inside_ns, others->inside_ns);
	h->count += others->count;
	h->inside_count += others->inside_count;
}

/* A call, all of whose work has been met. */
static void end_call(struct launches *l, const struct launch *at)
{
	struct pf_keyed *calls = &l->out->calls;
	int64_t delay_ns =
		pf_sat_sub(at->work_ns, pf_span_end(at->start_ns, at->cpu_ns));
	size_t n = pf_keyed_at(calls, at->name), place = PF_LAUNCH_DELAYS - 1;
	bool is_slow = at->cpu_ns > SLOW_CALL_NS;
	bool is_slow_launch = is_slow &&
			      (!l->only_counts || l->ask.window.count > 1) &&
			      add_slow_call(l, at);
	struct pf_launch_call *c =
		PF_KEYED_ROW(calls, struct pf_launch_call, n);

	c->name_id = at->name;
	pf_stats_add(&c->cpu_ns, at->cpu_ns);
	pf_stats_add(&c->gpu_ns, at->gpu_ns);
	c->early_count += delay_ns < 0;
	pf_keyed_add(&l->cpu_ns, &l->ask, pf_keyed_at(&l->cpu_ns, 0),
		     at->cpu_ns);
	if (is_slow) {
		c->slow_count++;
		pf_sat_sum(&c->slow_ns, at->cpu_ns);
	}
	c->delayed_count += delay_ns > LONG_DELAY_NS;
	c->short_count += at->gpu_ns < at->cpu_ns;
	join_held(&c->held, &at->held);
	pf_keyed_add(calls, &l->ask, n, delay_ns);
	while (place && delay_ns < delay_from_ns[place])
		place--;
	l->delay_counts[place]++;
	if (l->only_counts)
		return;
	if (is_slow && !l->no_causes) {
		struct caused slow = { at->op_id,
				       at->id,
				       at->gpu_ns,
				       at->start_ns,
				       at->cpu_ns,
				       delay_ns,
				       (uint32_t)at->stream,
				       at->name };

		pf_by_event_add(l->caused, &slow);
	}
	put_change(l, at->start_ns,
		   is_slow_launch ? CHANGE_LAUNCH_SLOW : CHANGE_LAUNCH,
		   at->stream);
	put_change(l, at->work_ns, delay_ns > 0 ? CHANGE_LEAVES : CHANGE_BEGINS,
		   at->stream);
	if (delay_ns > 0)
		put_change(l, at->work_ns - delay_ns, CHANGE_WAITS, at->stream);
}

static void hold(struct launch *at, const struct work *w)
{
	if (at->id)
		pf_held_add(&at->held, w->start_ns,
			    pf_span_end(w->start_ns, w->dur_ns), at->start_ns,
			    pf_span_end(at->start_ns, at->cpu_ns));
}

static void read_calls(struct launches *l)
{
	const struct pf_block *b;
	const struct work *w;
	struct launch at = { 0 };
	uint32_t i;

	while ((w = pf_by_event_next(l->works, &b, &i))) {
		if (w->launch_id == at.id) {
			pf_sat_sum(&at.gpu_ns, w->dur_ns);
			hold(&at, w);
			continue;
		}
		if (at.id)
			end_call(l, &at);
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
		hold(&at, w);
	}
	if (at.id)
		end_call(l, &at);
}

/* Op: the name of its operator, or PF_ID_NONE. */
static void list_slow(struct launches *l, const struct caused *s, uint32_t op)
{
	const struct pf_launch_stream *stream = stream_at(l, s->stream);
	PF_AUTO(pf_buf_release) struct pf_buf call = { 0 };
	struct slow slow = {
		.at_ns = s->start_ns - stream->first_ns,
		.start_ns = s->start_ns,
		.cpu_ns = s->cpu_ns,
		.delay_ns = s->delay_ns,
		.gpu_ns = s->gpu_ns,
		.rank = stream->rank,
		.trace_id = stream->trace_id,
	};

	if (!(slow.call = pf_gpu_name(l->ask.gpu, s->name)))
		return;
	pf_buf_adds(&call, slow.call);
	slow.call = call.data;
	if (op != PF_ID_NONE)
		slow.op = pf_gpu_name(l->ask.gpu, op);
	if (!l->ask.db->err->code)
		PF_PUT(l->out->slow, slow_fields, slow);
}

/* Short kernels and slow calls in order of their operators. */
static void find_ops(struct launches *l)
{
	const struct pf_block *block;
	const struct caused *c;
	uint32_t place;

	while ((c = pf_by_event_next(l->caused, &block, &place))) {
		uint32_t op = block ? block->name[place] : PF_ID_NONE;
		struct pf_keyed *ops = &l->out->ops;
		size_t n;

		if (c->launch_id) {
			list_slow(l, c, op);
			continue;
		}
		n = pf_keyed_at(ops, op);
		PF_KEYED_ROW(ops, struct pf_launch_op, n)->name_id = op;
		pf_keyed_add(ops, &l->ask, n, c->gpu_ns);
	}
}

static void take_change(struct launches *l, struct pf_launch_stream *s,
			enum change_kind kind)
{
	if (kind < CHANGE_LAUNCH) {
		s->waiting--;
		return;
	}
	s->waiting++;
	pf_stats_add(&s->length.of, s->waiting);
	l->out->all.full_count +=
		kind == CHANGE_LAUNCH_SLOW && s->waiting >= QUEUE_FULL;
}

static void take_wait(struct queue *q, int64_t at_ns, bool is_one_more)
{
	if (is_one_more && !q->waiting++)
		q->since_ns = at_ns;
	else if (!is_one_more && !--q->waiting)
		pf_sat_sum(&q->filled_ns, pf_sat_sub(at_ns, q->since_ns));
}

static void find_filled(struct launches *l)
{
	int64_t filled_ns = 0, all_ns = 0;

	for (size_t i = 0; i < l->queues.count; i++) {
		const struct queue *q =
			PF_KEYED_ROW(&l->queues, struct queue, i);

		pf_sat_sum(&filled_ns, q->filled_ns);
		pf_sat_sum(&all_ns, pf_sat_sub(q->last_ns, q->first_ns));
	}
	l->out->all.queued_share = pf_num_share(filled_ns, all_ns);
}

/* Starts come before launches of the same time. */
static void find_lengths(struct launches *l)
{
	const struct change *c;

	if (pf_sorter_finish(l->changes, l->ask.db->err) < 0)
		return;
	while ((c = pf_sorter_next(l->changes, l->ask.db->err))) {
		struct pf_launch_stream *s = stream_at(l, (uint32_t)c->what);
		enum change_kind kind = (enum change_kind)(c->what >> 32);
		struct queue *q =
			PF_KEYED_ROW(&l->queues, struct queue, s->queue);

		if (!q->has_any)
			q->first_ns = c->time_ns;
		q->has_any = true;
		q->last_ns = c->time_ns;
		if (kind != CHANGE_WAITS)
			take_change(l, s, kind);
		if (kind == CHANGE_WAITS || kind == CHANGE_LEAVES)
			take_wait(q, c->time_ns, kind == CHANGE_WAITS);
	}
	find_filled(l);
}

/* ---- what was found, in order ---- */

static const char *call_text(struct launches *l, uint32_t name)
{
	struct pf_err *err = l->ask.err;

	return err->code ? NULL
			 : pf_arena_string(&l->ask.memory,
					   pf_gpu_name(l->ask.gpu, name));
}

PF_ORDER(by_cpu_time, struct pf_launch_call, PF_DOWN(cpu_ns.sum) PF_UP(name_id))

static void take_calls(struct launches *l, struct pf_launches *out)
{
	struct pf_launch_sums *all = &out->all;
	int64_t most_ns = 0;

	pf_keyed_finish(&out->calls, &l->ask);
	pf_keyed_finish(&l->cpu_ns, &l->ask);
	all->median_cpu_ns = PF_NO_INT;
	if (l->cpu_ns.count)
		all->median_cpu_ns =
			PF_KEYED_ROW(&l->cpu_ns, struct pf_spread, 0)->median;
	for (size_t i = 0; i < out->calls.count; i++) {
		struct pf_launch_call *c =
			PF_KEYED_ROW(&out->calls, struct pf_launch_call, i);

		c->name = call_text(l, c->name_id);
		all->count += c->cpu_ns.count;
		pf_sat_sum(&all->cpu_ns, c->cpu_ns.sum);
		all->short_count += c->short_count;
		all->slow_count += c->slow_count;
		pf_sat_sum(&all->slow_ns, c->slow_ns);
		if (c->slow_ns > most_ns) {
			most_ns = c->slow_ns;
			all->slow = c->name;
		}
		all->delayed_count += c->delayed_count;
		all->early_count += c->early_count;
		pf_sat_sum(&all->gpu_ns, c->gpu_ns.sum);
		if (c->name && pf_word(PF_WORD_CALL_GRAPH, c->name)) {
			all->graph_count += c->cpu_ns.count;
			pf_sat_sum(&all->graph_ns, c->gpu_ns.sum);
		}
		if (!c->name || pf_word(PF_WORD_CALL_COPIES, c->name))
			continue;
		join_held(&all->held, &c->held);
	}
	pf_keyed_sort(&out->calls, by_cpu_time);
	out->short_share =
		all->count ? pf_num_share(all->short_count, all->count) : NAN;
	out->short_kernel_share = pf_num_share(l->brief_ns, l->kernel_ns);
}

/* Streams without a launch last: they are left out. */
PF_ORDER(by_place, struct pf_launch_stream,
	 PF_UP(length.of.count == 0) PF_UP(trace_id) PF_UP(device)
		 PF_UP(stream))

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

PF_ORDER(by_count, struct pf_launch_op, PF_DOWN(gpu_ns.of.count) PF_UP(name_id))

static void take_ops(struct launches *l, struct pf_launches *out)
{
	pf_keyed_sort(&out->ops, by_count);
	for (size_t i = 0; i < out->ops.count; i++) {
		struct pf_launch_op *op =
			PF_KEYED_ROW(&out->ops, struct pf_launch_op, i);
		int64_t count = op->gpu_ns.of.count;

		op->name = op->name_id == PF_ID_NONE
				   ? "(none)"
				   : call_text(l, op->name_id);
		op->share = pf_num_share(count, out->kernel_count);
		op->mean_ns = op->gpu_ns.of.sum / count;
	}
}

static void find_launches(struct launches *l)
{
	struct pf_keyed *streams = &l->out->streams;

	l->caused = pf_by_event_new(l->ask.db, sizeof(struct caused),
				    PF_COLBIT(PF_COL_NAME));
	l->works = pf_by_event_new(l->ask.db, sizeof(struct work),
				   PF_COLBIT(PF_COL_START) |
					   PF_COLBIT(PF_COL_DUR) |
					   PF_COLBIT(PF_COL_NAME));
	l->changes = pf_sorter_temp(sizeof(struct change));
	gather(l);
	if (!l->ask.db->err->code)
		read_calls(l);
	if (!l->ask.db->err->code)
		find_lengths(l);
	if (!l->ask.db->err->code)
		find_ops(l);
	if (!l->ask.db->err->code && !l->only_counts)
		pf_captured_find(l->ask.db, &l->ask.window,
				 pf_ask_names(&l->ask),
				 &l->out->captured_count);
	take_calls(l, l->out);
	pf_keyed_sort(streams, by_place);
	while (streams->count &&
	       !stream_at(l, streams->count - 1)->length.of.count)
		streams->count--;
	take_delays(l, l->out);
	take_ops(l, l->out);
	pf_by_event_free(l->works);
	pf_by_event_free(l->caused);
	pf_sorter_free(l->changes);
}

int pf_launches_find(struct pf_db *db, const struct pf_launches_args *args,
		     int64_t limit, struct pf_launches *out)
{
	const struct pf_order order = { "cpu_ns", limit };
	struct launches l = { .out = out,
			      .only_counts = args->only_counts,
			      .no_causes =
				      args->only_counts || args->no_causes };

	pf_keyed_begin(&out->calls, sizeof(struct pf_launch_call),
		       l.only_counts ? PF_KEYED_SUMS : PF_KEYED_MEDIANS);
	pf_keyed_begin(&l.cpu_ns, sizeof(struct pf_spread),
		       l.only_counts ? PF_KEYED_SUMS : PF_KEYED_MEDIANS);
	pf_keyed_begin(&l.queues, sizeof(struct queue), PF_KEYED_SUMS);
	pf_keyed_begin(&out->streams, sizeof(struct pf_launch_stream),
		       PF_KEYED_SUMS);
	pf_keyed_begin(&out->ops, sizeof(struct pf_launch_op), PF_KEYED_SUMS);
	out->slow = pf_fields_table("slow_calls", NULL, PF_FIELDS(slow_fields));
	pf_table_order(out->slow, &order);
	if (!pf_ask_begin(&l.ask, db, &args->window))
		find_launches(&l);
	pf_keyed_end(&l.cpu_ns);
	pf_keyed_end(&l.queues);
	return pf_ask_keep(&l.ask, &out->window, &out->texts);
}

void pf_launches_release(struct pf_launches *l)
{
	pf_table_free(l->slow);
	pf_arena_release(&l->texts);
	pf_keyed_end(&l->calls);
	pf_keyed_end(&l->streams);
	pf_keyed_end(&l->ops);
	pf_window_release(&l->window);
	*l = (struct pf_launches){ 0 };
}

/* ---- how launches are said ---- */

#define FIELD(...) PF_FIELD(struct pf_launch_call, __VA_ARGS__)
static const struct pf_field call_fields[] = {
	FIELD(name, "call", "Call", PF_TEXT),
	FIELD(cpu_ns.count, "count", "Calls", PF_COUNT),
	FIELD(cpu_ns.sum, "cpu_ns", "CPU", PF_NS),
	FIELD(gpu_ns.sum, "gpu_ns", "GPU", PF_NS),
	FIELD(delay_ns.median, "median_delay_ns", "Delay", PF_NS),
	FIELD(delay_ns.of.max, "max_delay_ns", "Longest", PF_NS),
	FIELD(short_count, "Shorter", PF_COUNT),
	FIELD(slow_count, "Over 50 us", PF_COUNT | PF_FULL),
	FIELD(slow_ns, "  their time", PF_NS | PF_FULL),
	FIELD(delayed_count, "Delayed", PF_COUNT | PF_FULL),
	FIELD(early_count, "Early", PF_COUNT | PF_FULL),
	FIELD(cpu_ns.max, "max_cpu_ns", "Longest call", PF_NS | PF_FULL),
};
#undef FIELD

#define FIELD(...) PF_FIELD(struct pf_launch_stream, __VA_ARGS__)
static const struct pf_field stream_fields[] = {
	FIELD(trace_id, "Trace", PF_INT),
	FIELD(device, "GPU", PF_INT),
	FIELD(stream, "Stream", PF_INT),
	FIELD(length.of.count, "launch_count", "Launches", PF_COUNT),
	FIELD(length.of.mean, "mean_length", "Mean queue", PF_REAL),
	FIELD(length.of.max, "max_length", "Longest", PF_COUNT),
};
#undef FIELD

#define FIELD(...) PF_FIELD(struct pf_launch_delay, __VA_ARGS__)
static const struct pf_field delay_fields[] = {
	FIELD(from_ns, "From", PF_NS),
	FIELD(to_ns, "To", PF_NS | PF_KNOWN),
	FIELD(count, "Launches", PF_COUNT),
	FIELD(share, "Share", PF_RATIO),
	FIELD(negative_count, "of them negative", PF_COUNT),
};
#undef FIELD

#define FIELD(...) PF_FIELD(struct pf_launch_op, __VA_ARGS__)
static const struct pf_field op_fields[] = {
	FIELD(name, "op", "Operator", PF_TEXT),
	FIELD(gpu_ns.of.count, "count", "Kernels", PF_COUNT),
	FIELD(share, "Share", PF_RATIO),
	FIELD(gpu_ns.of.sum, "gpu_ns", "GPU", PF_NS),
	FIELD(mean_ns, "Mean", PF_NS),
};
#undef FIELD

#define FIELD(...) PF_FIELD(struct pf_launches, __VA_ARGS__)
static const struct pf_field launch_figures[] = {
	FIELD(all.count, "launch_count", "Calls with GPU work", PF_COUNT),
	FIELD(all.cpu_ns, "cpu_ns", "CPU time of the calls", PF_NS | PF_KNOWN),
	FIELD(all.median_cpu_ns, "median_cpu_ns", "  of the median call",
	      PF_NS | PF_MAYBE | PF_FULL),
	FIELD(all.slow_ns, "slow_ns", "  of calls over 50 us",
	      PF_NS | PF_KNOWN | PF_FULL),
	FIELD(all.slow_wait_ns, "slow_wait_ns", "    that wait for the GPU",
	      PF_NS | PF_KNOWN | PF_FULL),
	FIELD(all.slow_first_ns, "slow_first_ns", "    of first use",
	      PF_NS | PF_KNOWN | PF_FULL),
	FIELD(all.queued_share, "queued_share",
	      "Time with launched work that waits", PF_RATIO | PF_FULL),
	FIELD(short_share, "GPU work shorter than call", PF_RATIO),
	FIELD(all.slow_count, "slow_count", "Calls over 50 us",
	      PF_COUNT | PF_KNOWN),
	FIELD(all.delayed_count, "delayed_count", "Delays over 100 us",
	      PF_COUNT | PF_KNOWN),
	FIELD(kernel_count, "Kernels", PF_COUNT),
	FIELD(short_kernel_count, "Kernels under 10 us", PF_COUNT),
	FIELD(short_kernel_share, "  their share of kernel time",
	      PF_RATIO | PF_QUIET),
	FIELD(all.early_count, "early_count", "GPU work before the call's end",
	      PF_COUNT | PF_KNOWN),
	FIELD(orphan_count, "GPU events without a call", PF_COUNT),
	FIELD(captured_count, "Launches into graphs", PF_COUNT | PF_FULL),
};

/* What a launch finds in the queue on average, itself not. */
static double waiting_of(const struct pf_launches *l)
{
	double waiting = 0;

	for (size_t i = 0; i < l->streams.count; i++) {
		const struct pf_stats *length =
			&PF_KEYED_ROW(&l->streams, struct pf_launch_stream, i)
				 ->length.of;
		/* it is in the queue itself, as HTA counts; work that begins
		 * with its launch, or before it, is in none */
		double others = length->mean - 1;

		if (others > 0)
			waiting += others * (double)length->count;
	}
	if (!l->all.count)
		return 0;
	/* as it is said, so that no word is about what nobody sees */
	return rint(100 * waiting / (double)l->all.count) / 100;
}

/* ". Of that, waits for the GPU take ... and first uses ..." */
static void say_slow(const struct pf_launches *l, struct pf_buf *out)
{
	const struct pf_launch_sums *all = &l->all;

	if (all->slow_wait_ns || all->slow_first_ns)
		pf_buf_adds(out, ". Of that, ");
	if (all->slow_wait_ns)
		pf_buf_addf(out, "waits for the GPU take %s",
			    PF_SHOW_NS(all->slow_wait_ns));
	if (all->slow_first_ns)
		pf_buf_addf(out, "%sfirst uses%s %s",
			    all->slow_wait_ns ? " and " : "",
			    all->slow_wait_ns ? "" : " take",
			    PF_SHOW_NS(all->slow_first_ns));
	if (all->full_count)
		pf_buf_addf(out,
			    ". %s of them find%s the queue full, with over "
			    "%s launches in it",
			    PF_SHOW_COUNT(all->full_count),
			    all->full_count == 1 ? "s" : "",
			    PF_SHOW_COUNT(QUEUE_FULL));
}

/* ". The median call takes ...": those that wait or load code stand apart. */
static void say_calls(const struct pf_launches *l, struct pf_buf *out)
{
	const struct pf_launch_sums *all = &l->all;

	if (all->median_cpu_ns == PF_NO_INT)
		return;
	pf_buf_addf(out, ". The median call takes %s",
		    PF_SHOW_NS(all->median_cpu_ns));
	const char *of = PF_SHOW_NS(all->cpu_ns);
	if (!all->slow) {
		pf_buf_addf(out, ", all together %s", of);
		return;
	}
	pf_buf_addf(out, "; %s over 50 us take%s %s of %s in all%s %s",
		    PF_SHOW_COUNT(all->slow_count),
		    all->slow_count == 1 ? "s" : "", PF_SHOW_NS(all->slow_ns),
		    of, all->slow_count == 1 ? ":" : ", above all", all->slow);
	say_slow(l, out);
}

/* Where graphs are most of the work, a launch is not a kernel. */
static void say_graphs(const struct pf_launch_sums *all, struct pf_buf *out)
{
	if (all->graph_ns <= all->gpu_ns / 2)
		return;
	pf_buf_addf(out,
		    "%s of %s launch%s replay%s a graph, and %s of the "
		    "time of GPU work is in them. ",
		    PF_SHOW_COUNT(all->graph_count), PF_SHOW_COUNT(all->count),
		    all->count == 1 ? "" : "es",
		    all->graph_count == 1 ? "s" : "",
		    PF_SHOW_SHARE(all->graph_ns, all->gpu_ns));
}

/* What is recorded into graphs has no work of its own yet. */
static void say_captured(const struct pf_launches *l, struct pf_buf *out)
{
	if (pf_captured_say(l->captured_count, l->all.count, out) &&
	    l->all.count)
		pf_buf_addf(out, "What follows is of the other %s. ",
			    PF_SHOW_COUNT(l->all.count));
}

/* One word for how far the CPU is ahead, by the launches and by the time. */
static enum ahead {
	AHEAD_HARDLY,
	AHEAD_AT_TIMES,
	AHEAD_ALWAYS,
} ahead_of(const struct pf_launches *l, double waiting)
{
	double share = l->all.queued_share;

	if (waiting < AT_TIMES || share < AT_TIMES_TIME)
		return AHEAD_HARDLY;
	return waiting < AHEAD || share < AHEAD_TIME ? AHEAD_AT_TIMES
						     : AHEAD_ALWAYS;
}

/* "The CPU runs ahead: ... in 90 % of the time ... A launch finds 2 others" */
static void say_queue(const struct pf_launches *l, double waiting,
		      struct pf_buf *out)
{
	static const char *const words[] = {
		[AHEAD_HARDLY] = "hardly runs ahead",
		[AHEAD_AT_TIMES] = "runs ahead at times",
		[AHEAD_ALWAYS] = "runs ahead",
	};

	pf_buf_addf(out,
		    "The CPU %s: launched work waits in %s of the time from "
		    "the first launch on. A launch finds ",
		    words[ahead_of(l, waiting)],
		    PF_SHOW_RATIO(l->all.queued_share));
	if (waiting > 0)
		pf_buf_addf(out, "%s other%s", PF_SHOW_REAL(waiting),
			    waiting <= 1 && waiting >= 1 ? "" : "s");
	else
		pf_buf_adds(out, "no other");
	pf_buf_adds(out, " in the queue on average. ");
}

/*
 * In one voice with the queue: who hardly runs ahead has no work that waits for
 * other launches.
 */
static void say_delays(const struct pf_launches *l, double waiting,
		       struct pf_buf *out)
{
	const char *scope = pf_window_scope(&l->window);
	double late = pf_num_share(l->all.delayed_count, l->all.count);
	bool is_odd = ahead_of(l, waiting) == AHEAD_HARDLY && late >= LATE;

	if (late <= 0) {
		pf_buf_addf(out,
			    "No work of the launches%s begins over 100 us "
			    "after the call",
			    scope);
		return;
	}
	/* no more launches find another than others are found */
	pf_buf_addf(out,
		    "%she work of %s of the launches%s begins over 100 us "
		    "after the call%s",
		    is_odd ? "Yet t" : "T", PF_SHOW_RATIO(late), scope,
		    is_odd && waiting <= late / 2
			    ? ", most with no other launch queued before it"
			    : "");
}

static void say_launches(const struct pf_launches *l, struct pf_doc *doc)
{
	double waiting = waiting_of(l);
	PF_AUTO(pf_buf_release) struct pf_buf text = { 0 };

	say_captured(l, &text);
	if (!l->all.count) {
		if (text.len)
			pf_doc_finding(doc, "%s", text.data);
		else if (l->orphan_count)
			pf_doc_finding(doc, "No GPU work has a launch call");
		else
			pf_doc_finding(doc, "%s%s",
				       pf_window_no_work(&l->window),
				       l->window.tpu_count
					       ? ""
					       : ", so of no call is known "
						 "what it launched");
		doc->is_nothing = !l->orphan_count && !text.len;
		return;
	}
	/* one that takes far longer than its work does something else */
	if (pf_held_is(&l->all.held) &&
	    l->all.held.work_ns > l->all.cpu_ns / 2) {
		pf_buf_adds(&text, "Launches are synchronous: ");
		pf_held_say(&l->all.held, &text);
		say_calls(l, &text);
		pf_doc_finding(doc, "%s", text.data);
		return;
	}
	say_graphs(&l->all, &text);
	say_queue(l, waiting, &text);
	say_delays(l, waiting, &text);
	say_calls(l, &text);
	pf_doc_finding(doc, "%s", text.data);
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
		shown.all.cpu_ns = shown.all.slow_ns = shown.all.slow_wait_ns =
			shown.all.slow_first_ns = shown.all.slow_count =
				shown.all.delayed_count =
					shown.all.early_count = -1;
	PF_SCALARS(doc, launch_figures, shown);
}

static void launches_show(const struct pf_launches *l, struct pf_doc *doc)
{
	say_launches(l, doc);
	add_figures(l, doc);
	PF_ROWS(doc, "calls", "Launch calls", call_fields,
		PF_KEYED_ROW(&l->calls, struct pf_launch_call, 0),
		l->calls.count);
	PF_ROWS(doc, "delays", "Delay from call to GPU work", delay_fields,
		l->delays, l->delay_count);
	PF_ROWS(doc, "short_kernels", "Kernels under 10 us", op_fields,
		PF_KEYED_ROW(&l->ops, struct pf_launch_op, 0), l->ops.count);
	add_slow(l, doc);
	PF_ROWS(doc, "streams", "Queue length at the launch, itself included",
		stream_fields,
		PF_KEYED_ROW(&l->streams, struct pf_launch_stream, 0),
		l->streams.count);
}

int pf_launches(struct pf_db *db, const struct pf_launches_args *args,
		struct pf_launches *kept, struct pf_doc *doc)
{
	int64_t limit = doc->lists ? doc->order.limit : -1;
	PF_AUTO(pf_launches_release) struct pf_launches own = { 0 };
	struct pf_launches *l = kept ? kept : &own;

	PF_TRY(pf_launches_find(db, args, limit, l));
	launches_show(l, doc);
	return pf_trust_note(db, &l->window, PF_TRUST_WORK | PF_TRUST_LINKS,
			     doc);
}

#undef FIELD
