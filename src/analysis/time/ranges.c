/* SPDX-License-Identifier: MIT */
/*
 * Each host thread is walked once, with the ranges that are open on it.  GPU
 * work comes in order of its launch calls and goes to every range that is open
 * at its call, as a record of a sort: so that memory does not grow with what a
 * range launches.
 */
#include "config.h"

#include "analysis/time/ranges.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/time/steps.h"
#include "base/intern.h"
#include "base/num.h"
#include "base/order.h"
#include "base/sat.h"
#include "base/stats.h"
#include "events/gpu.h"
#include "events/interval.h"
#include "events/names.h"
#include "events/nest.h"
#include "events/step.h"
#include "events/traces.h"
#include "formats/event.h"
#include "show/doc.h"
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

static void step_walk_forget(struct pf_step_walk *w, int64_t before_ns);

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

/* Instants never go back: the next call may forget what is before this one. */
static void step_walk_forget(struct pf_step_walk *w, int64_t before_ns)
{
	while (w->at < w->end && w->at->host_end_ns <= before_ns)
		w->at++;
}

#define NOT_COUNTED (-1)
#define STEP_NAME   (PF_ID_INLINE - 1) /* stands for all steps */

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

struct ranges {
	struct pf_ask ask;
	struct pf_ranges *out;
	struct pf_keyed projected; /* struct projected */
	int64_t instances;
	struct pf_nest nest; /* struct open */
	struct pf_by_event *works;
	struct pf_sorter *launched;
	const struct pf_window_trace *trace; /* NULL: no range counts */
	sqlite3_stmt *ask_plain;
	bool is_plain; /* the trace: all ranges are the user's */
	/* Or NULL, all of them; and those of the trace being read. */
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

static struct pf_range *range_at(const struct ranges *r, size_t i)
{
	return PF_KEYED_ROW(&r->out->items, struct pf_range, i);
}

static size_t find_range(struct ranges *r, uint32_t name)
{
	size_t n = pf_keyed_at(&r->out->items, name);

	range_at(r, n)->name_id = name;
	return n;
}

/* Up to here: ranges end, and the innermost gets the time. */
static void go_to(struct ranges *r, int64_t at_ns)
{
	const struct open *o;
	int64_t from_ns, to_ns;

	while ((o = pf_nest_pass(&r->nest, at_ns, &from_ns, &to_ns))) {
		struct pf_range *g;

		if (o->range == NOT_COUNTED)
			continue;
		g = range_at(r, (size_t)o->range);
		if (r->steps)
			step_walk_add(&r->walk, from_ns, to_ns, &g->self_ns,
				      &g->step_ns);
		else
			pf_sat_sum(&g->self_ns, to_ns - from_ns);
	}
}

/* Is it a range of the user?  Before torch 1.11 labels were operators. */
static int is_range(struct ranges *r, const struct pf_block *b, uint32_t i,
		    uint32_t *name)
{
	unsigned kind = pf_names_kind(r->ask.names, b->type[i]);
	const struct pf_name_class *class;

	if (kind != PF_KIND_ANNOTATION && kind != PF_KIND_CPU_OP &&
	    !(r->is_plain && kind == PF_KIND_HOST))
		return 0;
	class = pf_names_class(r->ask.names, b->name[i]);
	if (!class)
		return -1;
	*name = class->is_step ? STEP_NAME : b->name[i];
	return kind != PF_KIND_CPU_OP || class->is_step ||
	       pf_names_is_nvtx(r->ask.names, b->type[i]) ||
	       class->is_optimizer || class->range == PF_CAUSE_DATA;
}

/* Is it the step itself, where steps are split by what is in them? */
static int is_step(struct ranges *r, const struct pf_block *b, uint32_t i,
		   uint32_t name)
{
	const struct pf_step_time *s;
	char *text;
	int rc;

	if (!r->steps || name == STEP_NAME)
		return r->steps != NULL;
	s = r->step_names ? step_walk_at(&r->walk, b->start_ns[i]) : NULL;
	if (!s || s->host_start_ns != b->start_ns[i] ||
	    s->host_end_ns != pf_span_end(b->start_ns[i], b->dur_ns[i]))
		return 0;
	text = pf_names_text_take(r->ask.names, name);
	if (!text)
		return -1;
	rc = pf_step_regex_matches(r->step_names, text, strlen(text));
	free(text);
	return rc;
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

static int take(struct ranges *r, const struct pf_block *b, uint32_t i)
{
	int64_t start_ns = b->start_ns[i];
	struct open now = { .end_ns = pf_span_end(start_ns, b->dur_ns[i]) };
	uint32_t name;
	struct open *o;
	int rc = is_range(r, b, i, &name);

	if (rc <= 0)
		return rc;
	go_to(r, start_ns);
	rc = r->trace ? is_step(r, b, i, name) : 0;
	if (rc)
		return rc < 0 ? -1 : 0;
	o = pf_nest_push(&r->nest, now.end_ns);
	now.range = NOT_COUNTED;
	now.is_counted = is_counted(r, start_ns);
	if (now.is_counted || (r->steps && r->trace))
		now.range = (int64_t)find_range(r, name);
	if (now.is_counted) {
		now.instance = r->instances++;
		r->out->has_plain |= r->is_plain;
		pf_keyed_add(&r->out->items, &r->ask, (size_t)now.range,
			     b->dur_ns[i]);
	}
	if (o)
		*o = now;
	return r->ask.db->err->code ? -1 : 0;
}

/* ---- GPU work ---- */

/* All work that this call launched, for each range that is open. */
static int add_launched(struct ranges *r, int64_t event_id, int64_t start_ns)
{
	const struct pf_event_work *w;
	const struct pf_block *none;
	uint32_t ignored;

	while ((w = pf_by_event_peek(r->works)) && w->launch_id == event_id) {
		struct work work = { .start_ns = w->end_ns - w->dur_ns,
				     .end_ns = w->end_ns };

		for (size_t i = 0; event_id && i < r->nest.depth; i++) {
			const struct open *o = pf_nest_at(&r->nest, i);

			work.instance = o->instance;
			work.range = o->range;
			if (o->is_counted && o->end_ns > start_ns &&
			    pf_sorter_add(r->launched, &work, r->ask.db->err) <
				    0)
				return -1;
		}
		pf_by_event_next(r->works, &none, &ignored);
	}
	return r->ask.db->err->code ? -1 : 0;
}

/* One range, all of its work known. */
struct projection {
	int64_t instance, range, from_ns, to_ns, busy_ns, count;
};

static void end_projection(struct ranges *r, const struct projection *p)
{
	struct pf_range *range;
	size_t n;

	if (!p->count)
		return;
	range = range_at(r, (size_t)p->range);
	pf_sat_sum(&range->busy_ns, p->busy_ns);
	range->work_count += p->count;
	n = pf_keyed_at(&r->projected, (uint64_t)p->range);
	PF_KEYED_ROW(&r->projected, struct projected, n)->range = p->range;
	pf_keyed_add(&r->projected, &r->ask, n, p->to_ns - p->from_ns);
}

static int project(struct ranges *r)
{
	struct projection p = { 0 };
	const struct work *w;

	if (pf_sorter_finish(r->launched, r->ask.db->err) < 0)
		return -1;
	while ((w = pf_sorter_next(r->launched, r->ask.db->err))) {
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
	return r->ask.db->err->code ? -1 : 0;
}

/* ---- the whole ---- */

static int take_event(void *context, const struct pf_block *b, uint32_t i,
		      int64_t event_id)
{
	if (take(context, b, i) < 0)
		return -1;
	return add_launched(context, event_id, b->start_ns[i]);
}

static int read_track(struct ranges *r, const struct pf_track *t)
{
	static const struct pf_track_reader reader = { .event = take_event };
	int rc;

	pf_nest_clear(&r->nest);
	rc = pf_track_read(r->ask.db, t, &reader, r);
	go_to(r, INT64_MAX);
	return rc;
}

static int find_plain(struct ranges *r, int64_t trace_id)
{
	int rc;

	sqlite3_bind_int64(r->ask_plain, 1, trace_id);
	rc = pf_db_step(r->ask.db, r->ask_plain, r->ask.db->err);
	r->is_plain = rc == 1;
	sqlite3_reset(r->ask_plain);
	return rc < 0 ? -1 : 0;
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
	int rc = is_range(o->r, b, i, &name);

	(void)event_id;
	if (rc <= 0)
		return rc;
	if (from_ns < o->end_ns)
		from_ns = o->end_ns;
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
static int find_thread(struct ranges *r, const struct pf_track *tracks,
		       const struct pf_track *end)
{
	static const struct pf_track_reader reader = { .event = add_opened };
	int64_t trace_id = tracks->trace_id, most_ns = 0;

	r->thread = 0;
	if (!r->steps)
		return 0;
	r->walk = step_walk_begin(r->steps, trace_id);
	if (r->walk.at == r->walk.end)
		return 0;
	r->thread = r->walk.at->track_id;
	for (; !r->walk.at->track_id && tracks < end; tracks++) {
		struct opened o = { .r = r, .end_ns = INT64_MIN };

		if (tracks->trace_id != trace_id ||
		    strcmp(tracks->class_name, "host") != 0)
			continue;
		if (pf_track_read(r->ask.db, tracks, &reader, &o) < 0)
			return -1;
		r->walk = step_walk_begin(r->steps, trace_id);
		if (o.own_ns <= most_ns)
			continue;
		most_ns = o.own_ns;
		r->thread = tracks->id;
	}
	return 0;
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

static int read_tracks(struct ranges *r)
{
	struct pf_track *tracks = NULL;
	size_t count = 0;
	int rc;

	r->ask_plain =
		pf_named_prepare(r->ask.db, "trace_is_plain", r->ask.db->err);
	rc = r->ask_plain ? pf_tracks_load(r->ask.db, 0, &tracks, &count,
					   r->ask.db->err)
			  : -1;

	if (!rc) /* what nothing launched */
		rc = add_launched(r, 0, 0);
	for (size_t i = 0; !rc && i < count; i++) {
		rc = find_plain(r, tracks[i].trace_id);
		if (!rc && (!i || tracks[i].trace_id != tracks[i - 1].trace_id))
			rc = find_thread(r, &tracks[i], &tracks[count]);
		r->trace = counted(r, &tracks[i]);
		if (!rc &&
		    (r->trace || pf_by_event_is_on(r->works, tracks[i].id)))
			rc = read_track(r, &tracks[i]);
	}
	pf_tracks_free(tracks, count);
	return rc;
}

/* All work there is, whichever time the ranges are asked for of. */
static int find_works(struct ranges *r, const struct pf_window_args *args)
{
	struct pf_window_args all = PF_WINDOW_DEFAULTS;
	struct pf_window window = { 0 };
	int rc;

	all.rank = args->rank;
	all.trace = args->trace;
	all.device = args->device;
	all.whole = true;
	rc = pf_window_resolve(r->ask.db, &all, &window);
	if (!rc)
		r->works = pf_by_event_work(r->ask.db, &window, 0);
	pf_window_release(&window);
	return r->works ? 0 : -1;
}

PF_ORDER(by_total, struct pf_range, PF_DOWN(ns.of.sum) PF_ALPHA(name))

PF_ORDER(by_projection, struct pf_range,
	 PF_DOWN(projected_ns.of.sum) PF_ALPHA(name))

static void take_projections(struct ranges *r)
{
	const struct projected *p = r->projected.rows;

	pf_keyed_finish(&r->projected, &r->ask);
	for (size_t i = 0; i < r->projected.count; i++)
		range_at(r, (size_t)p[i].range)->projected_ns = p[i].ns;
}

static void take_items(struct ranges *r, struct pf_ranges *out)
{
	pf_keyed_finish(&out->items, &r->ask);
	take_projections(r);
	for (size_t i = 0; i < out->items.count; i++) {
		struct pf_range *range = range_at(r, i);
		bool is_step = range->name_id == STEP_NAME;

		range->name = is_step ? "ProfilerStep*"
				      : pf_ask_text(&r->ask, range->name_id);
		pf_sat_sum(&out->self_ns, range->self_ns);
		out->has_user_self |= !is_step && range->self_ns;
	}
	out->gpu = pf_calloc(r->projected.count + 1, sizeof(*out->gpu));
	for (size_t i = 0; i < out->items.count; i++) {
		struct pf_range *range = range_at(r, i);

		range->self_share = pf_num_share(range->self_ns, out->self_ns);
		if (range->projected_ns.of.count)
			out->gpu[out->gpu_count++] = *range;
	}
	pf_keyed_sort(&out->items, by_total);
	pf_sort(out->gpu, out->gpu_count, sizeof(*out->gpu), by_projection);
}

/* ---- ranges of no thread ---- */

/* A step that is such a range itself is not in itself. */
static bool is_step_span(struct ranges *r, const struct pf_async_range *a)
{
	const struct pf_step_time *s =
		r->step_names ? step_walk_at(&r->walk, a->start_ns) : NULL;

	return s && s->host_start_ns == a->start_ns &&
	       s->host_end_ns == pf_span_end(a->start_ns, a->dur_ns) &&
	       pf_step_regex_matches(r->step_names, a->name, strlen(a->name));
}

static void add_span(struct ranges *r, const struct pf_async_range *a)
{
	struct pf_keyed *spans = &r->out->spans;

	if (is_counted(r, a->start_ns) && !is_step_span(r, a))
		pf_keyed_add(spans, &r->ask,
			     pf_keyed_at_text(spans, a->name, strlen(a->name)),
			     a->dur_ns);
}

static void read_spans(struct ranges *r)
{
	struct pf_async_range a;
	struct pf_async all;
	uint32_t lane = 0;
	int rc = pf_async_open(&all, r->ask.db, r->trace->trace_id);

	while (!rc && pf_async_next(&all, &a) == 1) {
		if (r->steps && a.track_id != lane)
			r->walk = step_walk_begin(r->steps, r->trace->trace_id);
		lane = a.track_id;
		add_span(r, &a);
		rc = r->ask.db->err->code;
	}
	r->out->half_count += all.half_count;
	pf_async_close(&all);
}

static void find_spans(struct ranges *r, struct pf_keyed *spans)
{
	const struct pf_window *w = &r->ask.window;

	for (size_t i = 0; i < w->count && !r->ask.err->code; i++) {
		r->trace = &w->traces[i];
		read_spans(r);
	}
	pf_keyed_finish(spans, &r->ask);
	for (uint32_t i = 0; i < spans->count; i++) {
		struct pf_range *s = PF_KEYED_ROW(spans, struct pf_range, i);

		s->name = pf_arena_string(
			&r->ask.memory, pf_intern_text(&spans->texts, i, NULL));
		if (!spans->sum)
			s->ns.share = 0;
	}
	pf_keyed_sort(spans, by_total);
}

static int find(struct ranges *r, const struct pf_ranges_args *args)
{
	if (!pf_ask_names(&r->ask) || find_works(r, &args->window) ||
	    (r->steps && args->window.steps &&
	     !(r->step_names = pf_step_regex_new(args->window.steps,
						 r->ask.db->err))) ||
	    read_tracks(r) || project(r))
		return -1;
	take_items(r, r->out);
	find_spans(r, &r->out->spans);
	return 0;
}

int pf_ranges_find(struct pf_db *db, const struct pf_ranges_args *args,
		   struct pf_ranges *out)
{
	struct ranges r = { .out = out,
			    .steps = args->steps,
			    .nest = { .width = sizeof(outermost),
				      .outermost = &outermost } };

	pf_keyed_begin(&out->items, sizeof(struct pf_range), PF_KEYED_MEDIANS);
	pf_keyed_begin(&out->spans, sizeof(struct pf_range), PF_KEYED_MEDIANS);
	pf_keyed_begin(&r.projected, sizeof(struct projected),
		       PF_KEYED_MEDIANS);
	r.launched = pf_sorter_temp(sizeof(struct work));
	if (!pf_ask_begin(&r.ask, db, &args->window))
		find(&r, args);
	pf_by_event_free(r.works);
	sqlite3_finalize(r.ask_plain);
	pf_step_regex_free(r.step_names);
	pf_sorter_free(r.launched);
	pf_keyed_end(&r.projected);
	pf_nest_release(&r.nest);
	return pf_ask_keep(&r.ask, &out->window, &out->texts);
}

void pf_ranges_release(struct pf_ranges *r)
{
	pf_arena_release(&r->texts);
	pf_window_release(&r->window);
	pf_keyed_end(&r->items);
	pf_keyed_end(&r->spans);
	free(r->gpu);
	*r = (struct pf_ranges){ 0 };
}
