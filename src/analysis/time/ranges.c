/* SPDX-License-Identifier: MIT */
/*
 * Each host thread is walked once, with the ranges that are open on it.  GPU
 * work comes in order of its launch calls and goes to every range that is open
 * at its call, as a record of a sort: so that memory does not grow with what a
 * range launches.
 */
#include "config.h"

#include "analysis/time/ranges.h"

#include <inttypes.h>
#include <math.h>

#include "analysis/time/steps.h"
#include "base/intern.h"
#include "base/num.h"
#include "base/mem.h"
#include "base/order.h"
#include "base/sat.h"
#include "events/ask.h"
#include "events/gpu.h"
#include "events/hints.h"
#include "events/interval.h"
#include "events/names.h"
#include "events/nest.h"
#include "events/step.h"
#include "events/traces.h"
#include "events/trust.h"
#include "formats/event.h"
#include "store/cursor.h"
#include "store/query.h"

/*
 * The whole steps of a trace, met by one of its threads in order of time: how
 * much of what a thread does lies in them.
 *
 * A step lasts on the host from its start to its end there.  Its own time ends
 * with the last of its GPU work and begins where that of the step before has
 * ended (events/step.h): the host's part of it is what is left of its time on
 * the host, and behind its end on the host there is only GPU work.
 */

struct pf_step_walk {
	const struct pf_step_time *at, *end; /* steps, partial ones too */
};

/* Steps of a trace do not overlap on the host: the first that ends later
 * than an instant is the first that matters. */

/* The steps of a trace; none if it has none. */
static struct pf_step_walk step_walk_begin(const struct pf_step_times *all,
					   int64_t trace_id)
{
	struct pf_step_walk w = { .at = all->steps, .end = all->steps };

	w.end += all->count;
	while (w.at < w.end && w.at->trace_id != trace_id)
		w.at++;
	for (const struct pf_step_time *s = w.at; s < w.end; s++)
		if (s->trace_id != trace_id)
			w.end = s;
	return w;
}

static int64_t overlap(int64_t from_a, int64_t to_a, int64_t from_b,
		       int64_t to_b)
{
	int64_t from = from_a > from_b ? from_a : from_b;
	int64_t to = to_a < to_b ? to_a : to_b;

	return to > from ? pf_sat_sub(to, from) : 0;
}

/* Instants never go back: the next call may forget what is before this one. */
static void step_walk_forget(struct pf_step_walk *w, int64_t before_ns)
{
	while (w->at < w->end && w->at->host_end_ns <= before_ns)
		w->at++;
}

/*
 * Add to two sums what of a span lies in whole steps: of their time on the
 * host, and of the host's part of their own time.
 */
static void step_walk_add(struct pf_step_walk *w, int64_t from_ns,
			  int64_t to_ns, int64_t *host_ns, int64_t *own_ns)
{
	step_walk_forget(w, from_ns);
	for (const struct pf_step_time *s = w->at;
	     s < w->end && s->host_start_ns < to_ns; s++) {
		if (s->is_partial)
			continue;
		pf_sat_sum(host_ns, overlap(from_ns, to_ns, s->host_start_ns,
					    s->host_end_ns));
		pf_sat_sum(own_ns, overlap(from_ns, to_ns, s->start_ns,
					   s->host_end_ns));
	}
}

/* The whole step on the host in which an instant lies, or NULL. */
static const struct pf_step_time *step_walk_at(struct pf_step_walk *w,
					       int64_t at_ns)
{
	const struct pf_step_time *s;

	step_walk_forget(w, at_ns);
	s = w->at;
	return s < w->end && s->host_start_ns <= at_ns && !s->is_partial ? s
									 : NULL;
}

#define NOT_COUNTED (-1)
#define STEP_NAME   (PF_ID_INLINE - 1) /* stands for all steps */

/*
 * Each piece of GPU work is kept for so many ranges that it was launched in,
 * the outermost; names of ranges inside of them have no figures of GPU work.
 */
#define LAUNCHED_DEPTH 256

struct open {
	int64_t end_ns;
	int64_t range, instance; /* range: a row, or NOT_COUNTED */
	bool is_counted;         /* not only its time */
};

static const struct open outermost = { .range = NOT_COUNTED };

/* GPU work of a range; sorted by the first two. */
struct work {
	int64_t instance, start_ns, end_ns, range;
};

struct range {
	struct pf_spread ns;
	const char *name;
	int64_t self_ns;
	double self_share; /* of the self times of all */
	/* Of those ranges that launched GPU work. */
	struct pf_spread projected_ns;
	int64_t work_count, busy_ns;
	int64_t step_ns;  /* self in the steps' own time */
	uint32_t name_id; /* of a name; of all steps another */
	bool is_deep;     /* one of them lies in LAUNCHED_DEPTH others */
};

struct ranges {
	struct pf_ask ask;
	struct pf_keyed items;       /* struct range, the longest first */
	struct pf_keyed spans;       /* struct range, of no thread */
	struct pf_keyed projected;   /* struct projected */
	int64_t half_count;          /* begins or ends without the other */
	int64_t self_ns;             /* of all: each instant of a thread once */
	bool has_user_self;          /* of others than ProfilerStep* */
	bool has_plain;              /* of a trace whose ranges all count */
	int64_t passed_ns;           /* the same as self_ns, as it grows */
	int64_t threads;             /* that have ranges; the one with most: */
	int64_t most_ns, most_of_ns; /* in ranges, of its trace's window */
	int64_t instances;
	int64_t deep_count;  /* works launched in more than LAUNCHED_DEPTH */
	struct pf_nest nest; /* struct open */
	struct pf_by_event *works;
	struct pf_sorter *launched;
	const struct pf_window_trace *trace; /* NULL: no range counts */
	bool is_plain; /* the trace: all ranges are the user's */
	/*
	 * Or NULL: only of the thread of these steps; ranges count if they
	 * begin in a whole one, and their self time is that in whole ones.
	 */
	const struct pf_step_times *steps;
	struct pf_step_walk walk;
	int64_t thread; /* its track whose ranges count; 0: none */
	struct pf_step_regex *step_names; /* or NULL: ProfilerStep#N */
};

/* What the ranges of a name launched. */
struct projected {
	struct pf_spread ns;
	int64_t range; /* a row */
};

static struct range *range_at(const struct ranges *r, size_t i)
{
	return PF_KEYED_ROW(&r->items, struct range, i);
}

static size_t find_range(struct ranges *r, uint32_t name)
{
	size_t n = pf_keyed_at(&r->items, name);

	range_at(r, n)->name_id = name;
	return n;
}

/* Up to here: ranges end, and the innermost gets the time. */
static void go_to(struct ranges *r, int64_t at_ns)
{
	const struct open *o;
	int64_t from_ns, to_ns;

	while ((o = pf_nest_pass(&r->nest, at_ns, &from_ns, &to_ns))) {
		struct range *g;

		if (o->range == NOT_COUNTED)
			continue;
		g = range_at(r, (size_t)o->range);
		if (r->steps)
			step_walk_add(&r->walk, from_ns, to_ns, &g->self_ns,
				      &g->step_ns);
		else
			pf_sat_sum(&g->self_ns, to_ns - from_ns);
		pf_sat_sum(&r->passed_ns, to_ns - from_ns);
	}
}

/* Is it a range of the user?  Before torch 1.11 labels were operators. */
static bool is_range(struct ranges *r, const struct pf_block *b, uint32_t i,
		     uint32_t *name)
{
	unsigned kind = pf_names_kind(r->ask.names, b->type[i]);
	const struct pf_name_class *class;

	if (kind != PF_KIND_ANNOTATION && kind != PF_KIND_CPU_OP &&
	    !(r->is_plain && kind == PF_KIND_HOST))
		return false;
	class = pf_names_class(r->ask.names, b->name[i]);
	if (!class)
		return false;
	*name = class->is_numbered ? STEP_NAME : b->name[i];
	return kind != PF_KIND_CPU_OP || class->is_numbered ||
	       pf_names_is_nvtx(r->ask.names, b->type[i]) ||
	       class->is_optimizer || class->range == PF_CAUSE_DATA;
}

/* Is it the step itself, where steps are split by what is in them? */
static bool is_step(struct ranges *r, int64_t start_ns, int64_t dur_ns,
		    const char *name)
{
	const struct pf_step_time *s =
		r->step_names ? step_walk_at(&r->walk, start_ns) : NULL;

	return s && s->host_start_ns == start_ns &&
	       s->host_end_ns == pf_span_end(start_ns, dur_ns) &&
	       pf_step_regex_matches(r->step_names, name, strlen(name));
}

static bool is_step_event(struct ranges *r, const struct pf_block *b,
			  uint32_t i, uint32_t name)
{
	PF_OWN char *text = NULL;

	if (!r->trace || !r->steps || name == STEP_NAME)
		return r->trace && r->steps;
	text = r->step_names ? pf_names_text_take(r->ask.names, name) : NULL;
	return text && is_step(r, b->start_ns[i], b->dur_ns[i], text);
}

/* Does a range that begins now count, with all of its length? */
static bool is_counted(struct ranges *r, int64_t start_ns)
{
	if (!r->trace)
		return false;
	if (r->steps)
		return step_walk_at(&r->walk, start_ns) != NULL;
	return start_ns >= r->trace->from_ns && start_ns < r->trace->to_ns;
}

static void take(struct ranges *r, const struct pf_block *b, uint32_t i)
{
	int64_t start_ns = b->start_ns[i];
	struct open now = { .end_ns = pf_span_end(start_ns, b->dur_ns[i]),
			    .range = NOT_COUNTED };
	uint32_t name;
	struct open *o;

	if (!is_range(r, b, i, &name))
		return;
	go_to(r, start_ns);
	if (is_step_event(r, b, i, name))
		return;
	o = pf_nest_push(&r->nest, now.end_ns);
	now.is_counted = is_counted(r, start_ns);
	if (now.is_counted || (r->steps && r->trace))
		now.range = (int64_t)find_range(r, name);
	if (now.is_counted) {
		now.instance = r->instances++;
		r->has_plain |= r->is_plain;
		if (r->nest.depth > LAUNCHED_DEPTH)
			range_at(r, (size_t)now.range)->is_deep = true;
		pf_keyed_add(&r->items, &r->ask, (size_t)now.range,
			     b->dur_ns[i]);
	}
	if (o)
		*o = now;
}

/* ---- GPU work ---- */

/* All work that this call launched, for each range that is open. */
static void add_launched(struct ranges *r, int64_t event_id, int64_t start_ns)
{
	const size_t depth = r->nest.depth;
	const struct pf_event_work *w;
	const struct pf_block *none;
	uint32_t ignored;

	while ((w = pf_by_event_peek(r->works)) && w->launch_id == event_id) {
		struct work work = { .start_ns = w->end_ns - w->dur_ns,
				     .end_ns = w->end_ns };

		r->deep_count += event_id && depth > LAUNCHED_DEPTH;
		for (size_t i = 0; event_id && i < depth && i < LAUNCHED_DEPTH;
		     i++) {
			const struct open *o = pf_nest_at(&r->nest, i);

			work.instance = o->instance;
			work.range = o->range;
			if (o->is_counted && o->end_ns > start_ns)
				pf_sorter_add(r->launched, &work, r->ask.err);
		}
		pf_by_event_next(r->works, &none, &ignored);
	}
}

/* One range, all of its work known. */
struct projection {
	int64_t instance, range, from_ns, to_ns, busy_ns, count;
};

static void end_projection(struct ranges *r, const struct projection *p)
{
	struct range *range;
	size_t n;

	if (!p->count)
		return;
	range = range_at(r, (size_t)p->range);
	if (range->is_deep)
		return;
	pf_sat_sum(&range->busy_ns, p->busy_ns);
	range->work_count += p->count;
	n = pf_keyed_at(&r->projected, (uint64_t)p->range);
	PF_KEYED_ROW(&r->projected, struct projected, n)->range = p->range;
	pf_keyed_add(&r->projected, &r->ask, n, p->to_ns - p->from_ns);
}

static void project(struct ranges *r)
{
	struct projection p = { 0 };
	const struct work *w;

	if (r->ask.err->code || pf_sorter_finish(r->launched, r->ask.err) < 0)
		return;
	while ((w = pf_sorter_next(r->launched, r->ask.err))) {
		if (!p.count || w->instance != p.instance) {
			end_projection(r, &p);
			p = (struct projection){ .instance = w->instance,
						 .range = w->range,
						 .from_ns = w->start_ns,
						 .to_ns = w->start_ns };
		}
		p.count++;
		if (w->end_ns <= p.to_ns)
			continue;
		p.busy_ns += w->end_ns -
			     (w->start_ns > p.to_ns ? w->start_ns : p.to_ns);
		p.to_ns = w->end_ns;
	}
	end_projection(r, &p);
}

/* ---- the whole ---- */

static int take_event(void *context, const struct pf_block *b, uint32_t i,
		      int64_t event_id)
{
	struct ranges *r = context;

	take(r, b, i);
	add_launched(r, event_id, b->start_ns[i]);
	return r->ask.err->code ? -1 : 0;
}

/* So much time of a thread is in ranges. */
static void note_thread(struct ranges *r, int64_t ns)
{
	const struct pf_window_trace *t = r->trace;
	int64_t from_ns, to_ns;

	r->threads += ns > 0;
	if (!t || ns <= r->most_ns)
		return;
	from_ns = t->from_ns > t->program_ns ? t->from_ns : t->program_ns;
	to_ns = t->to_ns < t->last_ns ? t->to_ns : t->last_ns;
	r->most_ns = ns;
	r->most_of_ns = pf_sat_sub(to_ns, from_ns);
}

static void read_track(struct ranges *r, const struct pf_track *t)
{
	static const struct pf_track_reader reader = { .event = take_event };
	int64_t before_ns = r->passed_ns;

	pf_nest_clear(&r->nest);
	pf_track_read(r->ask.db, t, &reader, r);
	go_to(r, INT64_MAX);
	note_thread(r, pf_sat_sub(r->passed_ns, before_ns));
}

/* The time in which any range of a thread is open in a step. */
struct opened {
	struct ranges *r;
	int64_t end_ns; /* of all ranges so far */
	int64_t host_ns, own_ns;
};

static int add_opened(void *context, const struct pf_block *b, uint32_t i,
		      int64_t event_id)
{
	struct opened *o = context;
	int64_t from_ns = b->start_ns[i];
	int64_t to_ns = pf_span_end(from_ns, b->dur_ns[i]);
	uint32_t name;

	(void)event_id;
	if (!is_range(o->r, b, i, &name))
		return o->r->ask.err->code ? -1 : 0;
	PF_AT_LEAST(from_ns, o->end_ns);
	if (to_ns <= from_ns)
		return 0;
	o->end_ns = to_ns;
	step_walk_add(&o->r->walk, from_ns, to_ns, &o->host_ns, &o->own_ns);
	return 0;
}

/*
 * The thread that the steps of a trace are split on; tracks: from its first
 * on.  Where there are no steps, the one on which ranges are open longest.
 */
static void find_thread(struct ranges *r, const struct pf_track *tracks,
			const struct pf_track *end)
{
	static const struct pf_track_reader reader = { .event = add_opened };
	int64_t trace_id = tracks->trace_id, most_ns = 0;

	r->walk = step_walk_begin(r->steps, trace_id);
	r->thread = r->walk.at < r->walk.end ? r->walk.at->track_id : 0;
	if (r->thread || r->walk.at == r->walk.end)
		return;
	for (; tracks < end; tracks++) {
		struct opened o = { .r = r, .end_ns = INT64_MIN };

		if (tracks->trace_id != trace_id ||
		    strcmp(tracks->class_name, "host") != 0)
			continue;
		pf_track_read(r->ask.db, tracks, &reader, &o);
		r->walk = step_walk_begin(r->steps, trace_id);
		if (o.own_ns <= most_ns)
			continue;
		most_ns = o.own_ns;
		r->thread = tracks->id;
	}
}

/* The trace of a thread whose ranges count, or NULL. */
static const struct pf_window_trace *counted(const struct ranges *r,
					     const struct pf_track *t)
{
	if (strcmp(t->class_name, "host") != 0 ||
	    (r->steps && t->id != r->thread))
		return NULL;
	return pf_window_find(&r->ask.window, t->trace_id);
}

static void read_tracks(struct ranges *r)
{
	struct pf_err *err = r->ask.err;
	sqlite3_stmt *st = pf_named_prepare(r->ask.db, "trace_is_plain", err);
	struct pf_track *tracks = NULL;
	size_t count = 0;

	if (!err->code && !pf_tracks_load(r->ask.db, 0, &tracks, &count, err))
		add_launched(r, 0, 0); /* what nothing launched */
	for (size_t i = 0; !err->code && i < count; i++) {
		const struct pf_track *t = &tracks[i];

		sqlite3_bind_int64(st, 1, t->trace_id);
		r->is_plain = pf_db_step(r->ask.db, st, err) == 1;
		sqlite3_reset(st);
		if (r->steps && (!i || t->trace_id != t[-1].trace_id))
			find_thread(r, t, &tracks[count]);
		r->trace = counted(r, t);
		if (!err->code &&
		    (r->trace || pf_by_event_is_on(r->works, t->id)))
			read_track(r, t);
	}
	sqlite3_finalize(st);
	pf_tracks_free(tracks, count);
}

/* All work there is, whichever time the ranges are asked for of. */
static void find_works(struct ranges *r, const struct pf_window_args *args)
{
	struct pf_window_args all = PF_WINDOW_DEFAULTS;
	PF_AUTO(pf_window_release) struct pf_window window = { 0 };

	all.rank = args->rank;
	all.trace = args->trace;
	all.device = args->device;
	all.whole = true;
	if (!pf_window_resolve(r->ask.db, &all, &window))
		r->works = pf_by_event_work(r->ask.db, &window, 0);
}

PF_ORDER(by_total, struct range, PF_DOWN(ns.of.sum) PF_ALPHA(name))

/* Those without GPU work last. */
PF_ORDER(by_projection, struct range,
	 PF_DOWN(projected_ns.of.count != 0) PF_DOWN(projected_ns.of.sum)
		 PF_ALPHA(name))

static void take_items(struct ranges *r)
{
	const struct projected *p = r->projected.rows;

	pf_keyed_finish(&r->items, &r->ask);
	pf_keyed_finish(&r->projected, &r->ask);
	for (size_t i = 0; i < r->projected.count; i++)
		range_at(r, (size_t)p[i].range)->projected_ns = p[i].ns;
	for (size_t i = 0; i < r->items.count; i++) {
		struct range *range = range_at(r, i);
		bool is_steps = range->name_id == STEP_NAME;

		range->name = is_steps ? "ProfilerStep*"
				       : pf_ask_text(&r->ask, range->name_id);
		pf_sat_sum(&r->self_ns, range->self_ns);
		r->has_user_self |= !is_steps && range->self_ns;
	}
	for (size_t i = 0; i < r->items.count; i++)
		range_at(r, i)->self_share =
			pf_num_share(range_at(r, i)->self_ns, r->self_ns);
	pf_keyed_sort(&r->items, by_total);
}

/* ---- ranges of no thread ---- */

/* A step that is such a range itself is not in itself. */
static void add_span(struct ranges *r, const struct pf_async_range *a)
{
	struct pf_keyed *spans = &r->spans;

	if (is_counted(r, a->start_ns) &&
	    !is_step(r, a->start_ns, a->dur_ns, a->name))
		pf_keyed_add(spans, &r->ask,
			     pf_keyed_at_text(spans, a->name, strlen(a->name)),
			     a->dur_ns);
}

static void read_spans(struct ranges *r)
{
	struct pf_async_range a;
	struct pf_async all;
	uint32_t lane = 0;

	pf_async_open(&all, r->ask.db, r->trace->trace_id);
	while (!r->ask.err->code && pf_async_next(&all, &a) == 1) {
		if (r->steps && a.track_id != lane)
			r->walk = step_walk_begin(r->steps, r->trace->trace_id);
		lane = a.track_id;
		add_span(r, &a);
	}
	r->half_count += all.half_count;
	pf_async_close(&all);
}

static void find_spans(struct ranges *r)
{
	const struct pf_window *w = &r->ask.window;
	struct pf_keyed *spans = &r->spans;

	for (size_t i = 0; i < w->count && !r->ask.err->code; i++) {
		r->trace = &w->traces[i];
		read_spans(r);
	}
	pf_keyed_finish(spans, &r->ask);
	for (uint32_t i = 0; i < spans->count; i++) {
		struct range *s = PF_KEYED_ROW(spans, struct range, i);

		s->name = pf_arena_string(
			&r->ask.memory, pf_intern_text(&spans->texts, i, NULL));
		if (!spans->sum)
			s->ns.share = 0;
	}
	pf_keyed_sort(spans, by_total);
}

static void find(struct ranges *r, const struct pf_window_args *args)
{
	struct pf_err *err = r->ask.err;

	find_works(r, args);
	if (r->steps && args->steps)
		r->step_names = pf_step_regex_new(args->steps, err);
	if (pf_ask_names(&r->ask))
		read_tracks(r);
	project(r);
	take_items(r);
	find_spans(r);
}

/* ---- as parts of steps, where what is in no range is the rest ---- */

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

PF_ORDER(by_step_time, struct part,
	 PF_DOWN(step_ns) PF_DOWN(host_ns) PF_ALPHA(kind) PF_ALPHA(name))

static struct part part_of(const struct range *r)
{
	bool has_work = r->projected_ns.of.count > 0;

	return (struct part){
		.name = r->name,
		.kind = "range",
		.count = r->ns.of.count,
		.host_ns = r->self_ns,
		.step_ns = r->step_ns,
		.work_count = has_work ? r->work_count : NOT_KNOWN,
		.projected_ns = has_work ? r->projected_ns.of.sum : NOT_KNOWN,
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
		PF_AT_LEAST(left_ns, s->start_ns);
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
static struct part *find_parts(const struct ranges *r, size_t *count)
{
	struct part *parts = pf_calloc(r->items.count + 2, sizeof(*parts));
	struct part outside, after;
	size_t n = 0;

	find_rest(r->steps, &outside, &after);
	for (size_t i = 0; i < r->items.count; i++) {
		struct part p = part_of(range_at(r, i));

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
		find_means(&parts[i], r->steps);
	pf_sort(parts, n, sizeof(*parts), by_step_time);
	*count = n;
	return parts;
}

#define FIELD(...) PF_FIELD(struct part, __VA_ARGS__)
static void show_parts(const struct ranges *r, struct pf_doc *doc)
{
	/* without a GPU there is nothing to say */
	const int of_gpu = PF_KNOWN | (r->steps->device_count ? 0 : PF_ABSENT);
	const struct pf_field part_fields[] = {
		FIELD(name, "range", "Range", PF_TEXT),
		FIELD(kind, "part", "Part", PF_TEXT | PF_FULL | PF_OURS),
		FIELD(count, "Count", PF_COUNT | PF_KNOWN | PF_FULL),
		FIELD(mean_count, "Count", PF_REAL | PF_BRIEF),
		FIELD(mean_ns, "Time", PF_NS | PF_BRIEF),
		FIELD(step_ns, "Time of steps", PF_NS | PF_FULL),
		FIELD(share, "Share", PF_RATIO),
		FIELD(mean_host_ns, "On the host", PF_NS | PF_KNOWN | PF_BRIEF),
		FIELD(host_ns, "On the host", PF_NS | PF_KNOWN | PF_FULL),
		FIELD(mean_busy_ns, "GPU busy", PF_NS | PF_BRIEF | of_gpu),
		FIELD(work_count, "GPU work", PF_COUNT | PF_FULL | of_gpu),
		FIELD(projected_ns, "First to last", PF_NS | PF_FULL | of_gpu),
		FIELD(busy_ns, "GPU busy", PF_NS | PF_FULL | of_gpu),
	};
	size_t count;
	PF_OWN struct part *parts = find_parts(r, &count);

	PF_ROWS(doc, "ranges", "Where the time of a step goes, by range",
		part_fields, parts, count);
}
#undef FIELD

/* ---- ranges on their own ---- */

#define FIELD(...) PF_FIELD(struct range, __VA_ARGS__)
static const struct pf_field host_fields[] = {
	FIELD(name, "range", "Range", PF_TEXT),
	FIELD(ns.of.count, "count", "Count", PF_COUNT),
	FIELD(ns.of.sum, "total_ns", "Total", PF_NS),
	FIELD(self_ns, "Self", PF_NS),
	FIELD(self_share, "Share", PF_RATIO),
	FIELD(ns.median, "median_ns", "Median", PF_NS),
	FIELD(ns.of.min, "min_ns", "Shortest", PF_NS | PF_FULL),
	FIELD(ns.of.max, "max_ns", "Longest", PF_NS),
};
static const struct pf_field gpu_fields[] = {
	FIELD(name, "range", "Range", PF_TEXT),
	FIELD(projected_ns.of.count, "count", "Count", PF_COUNT),
	FIELD(work_count, "GPU work", PF_COUNT),
	FIELD(projected_ns.of.sum, "projected_ns", "First to last", PF_NS),
	FIELD(projected_ns.median, "projected_median_ns", "Median", PF_NS),
	FIELD(busy_ns, "Busy", PF_NS),
};
static const struct pf_field span_fields[] = {
	FIELD(name, "range", "Range", PF_TEXT),
	FIELD(ns.of.count, "count", "Count", PF_COUNT),
	FIELD(ns.of.sum, "total_ns", "Total", PF_NS),
	FIELD(ns.share, "share", "Share", PF_RATIO),
	FIELD(ns.median, "median_ns", "Median", PF_NS),
	FIELD(ns.of.min, "min_ns", "Shortest", PF_NS | PF_FULL),
	FIELD(ns.of.max, "max_ns", "Longest", PF_NS),
};
#undef FIELD

static void find_no_thread(const struct ranges *r, struct pf_doc *doc)
{
	const struct range *most = r->spans.rows;
	const char *time = PF_SHOW_NS(most->ns.of.sum);

	if (r->spans.all == 1)
		pf_doc_finding(doc, "The one start/end range%s, %s, lasts %s",
			       pf_window_scope(&r->ask.window), most->name,
			       time);
	else
		pf_doc_finding(doc,
			       "Of %s start/end ranges%s those of %s last "
			       "longest: %s in all, %s of them",
			       PF_SHOW_COUNT(r->spans.all),
			       pf_window_scope(&r->ask.window), most->name,
			       time, PF_SHOW_COUNT(most->ns.of.count));
}

static void say_steps(const struct ranges *r, const struct range *steps,
		      const struct range *most, struct pf_buf *out)
{
	pf_buf_addf(out,
		    "%s of the time in steps and ranges%s is in no range but a "
		    "step (%s of %s",
		    PF_SHOW_RATIO(steps->self_share),
		    pf_window_scope(&r->ask.window), PF_SHOW_NS(steps->self_ns),
		    PF_SHOW_NS(r->self_ns));
	if (r->threads > 1)
		pf_buf_addf(out, ", summed over %" PRId64 " threads",
			    r->threads);
	pf_buf_addc(out, ')');
	pf_buf_addf(out, ". Of ranges %s itself takes most: %s (%s)",
		    most->name, PF_SHOW_NS(most->self_ns),
		    PF_SHOW_RATIO(most->self_share));
}

/* The range with most time, and how much of the whole they all cover. */
static void say_most(const struct ranges *r, const struct range *most,
		     struct pf_buf *out)
{
	const char *where = "On their thread they cover";
	const char *time = PF_SHOW_NS(most->self_ns);
	const bool has_spans = r->spans.count > 0;

	if (r->items.all == 1) {
		pf_buf_addf(out, "The only range%s is %s: %s",
			    has_spans ? " of a thread" : "", most->name, time);
		where = "On its thread it covers";
	} else if (most->self_ns == r->self_ns) {
		pf_buf_addf(out, "All ranges%s with time are %s: %s",
			    has_spans ? " of threads" : "", most->name, time);
	} else {
		pf_buf_addf(out, "%s itself takes %s (%s) of %s in ranges%s",
			    most->name, time, PF_SHOW_RATIO(most->self_share),
			    PF_SHOW_NS(r->self_ns),
			    has_spans && r->threads == 1 ? " of threads" : "");
	}
	if (r->threads > 1) {
		pf_buf_addf(out, ", summed over %" PRId64 " threads",
			    r->threads);
		where = "On the thread with most of them ranges cover";
	}
	pf_buf_addf(out, ". %s %s of %s%s", where,
		    PF_SHOW_SHARE(r->most_ns, r->most_of_ns),
		    PF_SHOW_NS(r->most_of_ns), pf_window_scope(&r->ask.window));
}

static void add_finding(const struct ranges *r, enum pf_producer producer,
			struct pf_doc *doc)
{
	const struct range *most = NULL, *steps = NULL;
	PF_AUTO(pf_buf_release) struct pf_buf text = { 0 };

	doc->is_nothing = !r->items.count && !r->spans.count;
	if (!r->items.count && r->spans.count) {
		find_no_thread(r, doc);
		return;
	}
	if (!r->items.count && r->ask.window.has_unread) {
		pf_doc_finding(doc, "No ranges could be read");
		return;
	}
	if (!r->items.count) {
		pf_doc_finding(doc, "There are no ranges; %s",
			       pf_hint(producer, PF_HINT_RANGES));
		return;
	}
	for (size_t i = 0; i < r->items.count; i++) {
		const struct range *item = range_at(r, i);

		if (!strcmp(item->name, "ProfilerStep*"))
			steps = item;
		else if (!most || item->self_ns > most->self_ns)
			most = item;
	}
	if (!most || (steps && !r->has_user_self)) {
		pf_doc_finding(
			doc,
			"There are no ranges but the profiler's steps%s; "
			"%s",
			most ? " that take time" : "",
			pf_hint(producer, PF_HINT_RANGES));
		return;
	}
	if (steps && steps->self_ns > most->self_ns)
		say_steps(r, steps, most, &text);
	else
		say_most(r, most, &text);
	pf_doc_finding(doc, "%s", text.data);
}

/* Those of no thread, and what must be known of all. */
static void show_spans(const struct ranges *r, struct pf_doc *doc)
{
	PF_ROWS(doc, "spans", "Start/end ranges, of no thread", span_fields,
		PF_KEYED_ROW(&r->spans, struct range, 0), r->spans.count);
	if (r->spans.count)
		pf_doc_note(doc,
			    "start/end ranges may overlap, cross and end on "
			    "another thread: none is inside of another, and "
			    "their times do not add up to any other");
	if (r->half_count)
		pf_doc_note(doc,
			    "%s asynchronous events begin or end a range whose "
			    "other end is not there",
			    PF_SHOW_COUNT(r->half_count));
}

static void add_notes(const struct ranges *r, struct pf_doc *doc)
{
	if (r->deep_count)
		pf_doc_note(doc,
			    "%s pieces of GPU work were launched in more than "
			    "%d ranges at once: ranges of names that lie so "
			    "deep have no figures of GPU work",
			    PF_SHOW_COUNT(r->deep_count), LAUNCHED_DEPTH);
	if (r->has_plain)
		pf_doc_note(doc, "without operators and ranges of the user all "
				 "ranges of threads count");
}

/* Of steps. */
static void show_in_steps(const struct ranges *r, struct pf_doc *doc)
{
	show_parts(r, doc);
	show_spans(r, doc);
	if (!r->items.all && !r->spans.count)
		pf_doc_note(doc, "no range begins in the steps on their "
				 "thread; mark parts of the program with "
				 "record_function or NVTX");
	add_notes(r, doc);
}

static void show(struct ranges *r, struct pf_doc *doc)
{
	enum pf_producer producer;

	if (pf_hint_producer(r->ask.db, &producer) ||
	    pf_trust_versions(r->ask.db, &r->ask.window, doc))
		return;
	add_finding(r, producer, doc);
	pf_doc_int(doc, "range_count", "Ranges", PF_COUNT, r->items.all);
	pf_doc_int(doc, "self_ns", "Time in ranges", PF_NS, r->self_ns);
	PF_ROWS(doc, "ranges", "On the host", host_fields, range_at(r, 0),
		r->items.count);
	add_notes(r, doc);
	pf_keyed_sort(&r->items, by_projection);
	PF_ROWS(doc, "gpu", "GPU work that they launched", gpu_fields,
		range_at(r, 0), r->projected.count);
	show_spans(r, doc);
}

int pf_ranges(struct pf_db *db, const struct pf_ranges_args *args,
	      struct pf_doc *doc)
{
	struct ranges r = { .steps = args->steps,
			    .nest = { .width = sizeof(outermost),
				      .outermost = &outermost } };

	pf_keyed_begin(&r.items, sizeof(struct range), PF_KEYED_MEDIANS);
	pf_keyed_begin(&r.spans, sizeof(struct range), PF_KEYED_MEDIANS);
	pf_keyed_begin(&r.projected, sizeof(struct projected),
		       PF_KEYED_MEDIANS);
	r.launched = pf_sorter_temp(sizeof(struct work));
	if (!pf_ask_begin(&r.ask, db, &args->window))
		find(&r, &args->window);
	if (!db->err->code && args->steps)
		show_in_steps(&r, doc);
	else if (!db->err->code)
		show(&r, doc);
	pf_by_event_free(r.works);
	pf_step_regex_free(r.step_names);
	pf_sorter_free(r.launched);
	pf_keyed_end(&r.items);
	pf_keyed_end(&r.spans);
	pf_keyed_end(&r.projected);
	pf_nest_release(&r.nest);
	return pf_ask_end(&r.ask);
}
