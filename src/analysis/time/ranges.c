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
	int64_t group, instance; /* group: or NOT_COUNTED */
	bool is_counted;         /* not only its time */
};

static const struct open outermost = { .group = NOT_COUNTED };

struct group {
	uint32_t name;
	struct pf_stats stats, projected;
	int64_t self_ns, step_ns, work_count, busy_ns;
};

/* GPU work of a range; sorted by the first two. */
struct work {
	int64_t instance, start_ns, end_ns, group;
};

struct ranges {
	struct pf_db *db;
	struct pf_ranges *out;
	struct pf_names *names;
	struct pf_map by_name;
	struct group *groups;
	size_t count, cap;
	int64_t instances;
	struct pf_nest nest; /* struct open */
	struct pf_by_event *works;
	struct pf_sorter *values, *projections, *launched;
	const struct pf_window *window;
	const struct pf_window_trace *trace; /* NULL: no range counts */
	sqlite3_stmt *ask_plain;
	bool is_plain; /* the trace: all ranges are the user's */
	/* Or NULL, all of them; and those of the trace being read. */
	const struct pf_step_times *steps;
	struct pf_step_walk walk;
	int64_t thread; /* its track whose ranges count; 0: none */
	struct pf_step_regex *step_names; /* or NULL: ProfilerStep#N */
};

static size_t find_group(struct ranges *r, uint32_t name)
{
	uint64_t *at = pf_map_at(&r->by_name, name);

	if (*at == UINT64_MAX) {
		*at = r->count++;
		r->groups = pf_grow(r->groups, &r->cap, r->count,
				    sizeof(*r->groups));
		r->groups[*at] = (struct group){ .name = name };
	}
	return (size_t)*at;
}

/* Up to here: ranges end, and the innermost gets the time. */
static void go_to(struct ranges *r, int64_t at_ns)
{
	const struct open *o;
	int64_t from_ns, to_ns;

	while ((o = pf_nest_pass(&r->nest, at_ns, &from_ns, &to_ns))) {
		struct group *g;

		if (o->group == NOT_COUNTED)
			continue;
		g = &r->groups[o->group];
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
	unsigned kind = pf_names_kind(r->names, b->type[i]);
	const struct pf_name_class *class;

	if (kind != PF_KIND_ANNOTATION && kind != PF_KIND_CPU_OP &&
	    !(r->is_plain && kind == PF_KIND_HOST))
		return 0;
	class = pf_names_class(r->names, b->name[i]);
	if (!class)
		return -1;
	*name = class->is_step ? STEP_NAME : b->name[i];
	return kind != PF_KIND_CPU_OP || class->is_step ||
	       pf_names_is_nvtx(r->names, b->type[i]) || class->is_optimizer ||
	       class->range == PF_CAUSE_DATA;
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
	text = pf_names_text_take(r->names, name);
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

static int count_range(struct ranges *r, int64_t group, int64_t dur_ns)
{
	r->out->has_plain |= r->is_plain;
	pf_stats_add(&r->groups[group].stats, dur_ns);
	return pf_medians_add(r->values, group, dur_ns, r->db->err);
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
	now.group = NOT_COUNTED;
	now.is_counted = is_counted(r, start_ns);
	if (now.is_counted || (r->steps && r->trace))
		now.group = (int64_t)find_group(r, name);
	if (now.is_counted)
		now.instance = r->instances++;
	if (o)
		*o = now;
	return now.is_counted ? count_range(r, now.group, b->dur_ns[i]) : 0;
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
			work.group = o->group;
			if (o->is_counted && o->end_ns > start_ns &&
			    pf_sorter_add(r->launched, &work, r->db->err) < 0)
				return -1;
		}
		pf_by_event_next(r->works, &none, &ignored);
	}
	return r->db->err->code ? -1 : 0;
}

/* One range, all of its work known. */
struct projection {
	int64_t instance, group, from_ns, to_ns, busy_ns, count;
};

static int end_projection(struct ranges *r, const struct projection *p)
{
	struct group *g;

	if (!p->count)
		return 0;
	g = &r->groups[p->group];
	pf_stats_add(&g->projected, p->to_ns - p->from_ns);
	pf_sat_sum(&g->busy_ns, p->busy_ns);
	g->work_count += p->count;
	return pf_medians_add(r->projections, p->group, p->to_ns - p->from_ns,
			      r->db->err);
}

static int project(struct ranges *r)
{
	struct projection p = { 0 };
	const struct work *w;

	if (pf_sorter_finish(r->launched, r->db->err) < 0)
		return -1;
	while ((w = pf_sorter_next(r->launched, r->db->err))) {
		if (!p.count || w->instance != p.instance) {
			if (end_projection(r, &p) < 0)
				return -1;
			p = (struct projection){ .instance = w->instance,
						 .group = w->group,
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
	return r->db->err->code ? -1 : end_projection(r, &p);
}

/* ---- the whole ---- */

static int take_event(void *context, const struct pf_block *b, uint32_t i,
		      int64_t event_id, struct pf_err *err)
{
	(void)err;
	if (take(context, b, i) < 0)
		return -1;
	return add_launched(context, event_id, b->start_ns[i]);
}

static int read_track(struct ranges *r, const struct pf_track *t)
{
	static const struct pf_track_reader reader = { .event = take_event };
	int rc;

	pf_nest_clear(&r->nest);
	rc = pf_track_read(r->db, t, &reader, r);
	go_to(r, INT64_MAX);
	return rc;
}

static int find_plain(struct ranges *r, int64_t trace_id)
{
	int rc;

	sqlite3_bind_int64(r->ask_plain, 1, trace_id);
	rc = pf_db_step(r->db, r->ask_plain, r->db->err);
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
		      int64_t event_id, struct pf_err *err)
{
	struct opened *o = context;
	int64_t from_ns = b->start_ns[i];
	int64_t to_ns = pf_span_end(from_ns, b->dur_ns[i]);
	uint32_t name;
	int rc = is_range(o->r, b, i, &name);

	(void)err;
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
		if (pf_track_read(r->db, tracks, &reader, &o) < 0)
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
	return pf_window_find(r->window, t->trace_id);
}

static int read_tracks(struct ranges *r)
{
	struct pf_track *tracks = NULL;
	size_t count = 0;
	int rc;

	r->ask_plain = pf_named_prepare(r->db, "trace_is_plain", r->db->err);
	rc = r->ask_plain
		     ? pf_tracks_load(r->db, 0, &tracks, &count, r->db->err)
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
	rc = pf_window_resolve(r->db, &all, &window);
	if (!rc)
		r->works = pf_by_event_work(r->db, &window, 0);
	pf_window_release(&window);
	return r->works ? 0 : -1;
}

PF_ORDER(by_total, struct pf_range, PF_DOWN(total_ns) PF_ALPHA(name))

PF_ORDER(by_projection, struct pf_range, PF_DOWN(projected_ns) PF_ALPHA(name))

/* NULL on an error. */
static const char *text_of(struct ranges *r, struct pf_ranges *out,
			   uint32_t name)
{
	const char *kept;
	char *text;

	if (name == STEP_NAME)
		return "ProfilerStep*";
	text = pf_names_text_take(r->names, name);
	kept = text ? pf_arena_string(&out->texts, text) : NULL;
	free(text);
	return kept;
}

/* The medians of all groups of one kind; to free.  NULL on an error. */
static int64_t *find_medians(const struct ranges *r, bool projected)
{
	int64_t *counts = pf_calloc(r->count + 1, sizeof(*counts));
	int64_t *medians = pf_calloc(r->count + 1, sizeof(*medians));

	for (size_t i = 0; i < r->count; i++)
		counts[i] = projected ? r->groups[i].projected.count
				      : r->groups[i].stats.count;
	if (pf_medians_find(projected ? r->projections : r->values, counts,
			    medians, r->db->err) < 0) {
		free(medians);
		medians = NULL;
	}
	free(counts);
	return medians;
}

static void sum_up(const struct ranges *r, struct pf_ranges *out)
{
	for (size_t i = 0; i < r->count; i++) {
		out->count += r->groups[i].stats.count;
		pf_sat_sum(&out->self_ns, r->groups[i].self_ns);
		out->has_user_self |=
			r->groups[i].name != STEP_NAME && r->groups[i].self_ns;
	}
}

static int take_items(struct ranges *r, struct pf_ranges *out)
{
	int64_t *medians = find_medians(r, false);
	int64_t *projected = medians ? find_medians(r, true) : NULL;

	sum_up(r, out);
	out->items = pf_calloc(r->count + 1, sizeof(*out->items));
	out->gpu = pf_calloc(r->count + 1, sizeof(*out->gpu));
	for (size_t i = 0; projected && !r->db->err->code && i < r->count;
	     i++) {
		const struct group *g = &r->groups[i];
		struct pf_range *item = &out->items[out->item_count++];

		*item = (struct pf_range){
			.name = text_of(r, out, g->name),
			.count = g->stats.count,
			.total_ns = g->stats.sum,
			.self_ns = g->self_ns,
			.median_ns = medians[i],
			.min_ns = g->stats.min,
			.max_ns = g->stats.max,
			.share = pf_num_share(g->self_ns, out->self_ns),
			.gpu_count = g->projected.count,
			.work_count = g->work_count,
			.projected_ns = g->projected.sum,
			.projected_median_ns = projected[i],
			.busy_ns = g->busy_ns,
			.step_ns = g->step_ns,
		};
		if (item->gpu_count)
			out->gpu[out->gpu_count++] = *item;
	}
	free(medians);
	free(projected);
	if (r->db->err->code)
		return -1;
	pf_sort(out->items, out->item_count, sizeof(*out->items), by_total);
	pf_sort(out->gpu, out->gpu_count, sizeof(*out->gpu), by_projection);
	return 0;
}

/* ---- ranges of no thread ---- */

struct spans {
	struct ranges *r;
	struct pf_intern names;
	struct pf_stats *stats; /* by name, whose values are a group */
	size_t cap;
};

/* A step that is such a range itself is not in itself. */
static bool is_step_span(struct ranges *r, const struct pf_async_range *a)
{
	const struct pf_step_time *s =
		r->step_names ? step_walk_at(&r->walk, a->start_ns) : NULL;

	return s && s->host_start_ns == a->start_ns &&
	       s->host_end_ns == pf_span_end(a->start_ns, a->dur_ns) &&
	       pf_step_regex_matches(r->step_names, a->name, strlen(a->name));
}

static int add_span(struct spans *s, const struct pf_async_range *a,
		    struct pf_err *err)
{
	uint32_t known = s->names.count, n;

	if (!is_counted(s->r, a->start_ns) || is_step_span(s->r, a))
		return 0;
	n = pf_intern_add(&s->names, a->name, strlen(a->name));
	s->stats = pf_grow(s->stats, &s->cap, (size_t)n + 1, sizeof(*s->stats));
	if (n == known)
		s->stats[n] = (struct pf_stats){ 0 };
	pf_stats_add(&s->stats[n], a->dur_ns);
	return pf_medians_add(s->r->values, n, a->dur_ns, err);
}

static int read_spans(struct spans *s, struct pf_err *err)
{
	struct ranges *r = s->r;
	struct pf_async_range a;
	struct pf_async all;
	uint32_t lane = 0;
	int rc = pf_async_open(&all, r->db, r->trace->trace_id);

	while (!rc && (rc = pf_async_next(&all, &a)) == 1) {
		if (r->steps && a.track_id != lane)
			r->walk = step_walk_begin(r->steps, r->trace->trace_id);
		lane = a.track_id;
		rc = add_span(s, &a, err);
	}
	r->out->half_count += all.half_count;
	pf_async_close(&all);
	return rc;
}

static int take_spans(struct spans *s, struct pf_ranges *out,
		      struct pf_err *err)
{
	uint32_t count = s->names.count;
	int64_t *counts = pf_calloc(count + 1, sizeof(*counts));
	int64_t *medians = pf_calloc(count + 1, sizeof(*medians));
	int rc;

	for (uint32_t i = 0; i < count; i++)
		counts[i] = s->stats[i].count;
	rc = pf_medians_find(s->r->values, counts, medians, err);
	out->spans = pf_calloc(count + 1, sizeof(*out->spans));
	for (uint32_t i = 0; i < count && !rc; i++) {
		const struct pf_stats *v = &s->stats[i];

		out->spans[out->span_count++] = (struct pf_range){
			.name = pf_arena_string(
				&out->texts,
				pf_intern_text(&s->names, i, NULL)),
			.count = v->count,
			.total_ns = v->sum,
			.median_ns = medians[i],
			.min_ns = v->min,
			.max_ns = v->max,
		};
		pf_sat_sum(&out->span_ns, v->sum);
		out->spans_all += v->count;
	}
	for (size_t i = 0; i < out->span_count; i++)
		out->spans[i].share =
			pf_num_share(out->spans[i].total_ns, out->span_ns);
	free(counts);
	free(medians);
	return rc;
}

static int find_spans(struct ranges *r)
{
	struct spans s = { .r = r };
	int rc = 0;

	pf_sorter_free(r->values);
	r->values = pf_sorter_temp(sizeof(struct pf_group_value));
	pf_intern_init(&s.names);
	for (size_t i = 0; !rc && i < r->window->count; i++) {
		r->trace = &r->window->traces[i];
		rc = read_spans(&s, r->db->err);
	}
	if (!rc)
		rc = take_spans(&s, r->out, r->db->err);
	if (!rc)
		pf_sort(r->out->spans, r->out->span_count,
			sizeof(*r->out->spans), by_total);
	free(s.stats);
	pf_intern_release(&s.names);
	return rc;
}

static void tear_down(struct ranges *r)
{
	pf_by_event_free(r->works);
	sqlite3_finalize(r->ask_plain);
	pf_names_free(r->names);
	pf_step_regex_free(r->step_names);
	pf_sorter_free(r->values);
	pf_sorter_free(r->projections);
	pf_sorter_free(r->launched);
	pf_map_release(&r->by_name);
	pf_nest_release(&r->nest);
	free(r->groups);
}

int pf_ranges_find(struct pf_db *db, const struct pf_ranges_args *args,
		   struct pf_ranges *out)
{
	struct ranges r = { .db = db,
			    .out = out,
			    .window = &out->window,
			    .steps = args->steps,
			    .nest = { .width = sizeof(outermost),
				      .outermost = &outermost } };
	int rc = pf_window_resolve(db, &args->window, &out->window);

	if (rc)
		return -1;
	pf_map_init(&r.by_name);
	r.values = pf_sorter_temp(sizeof(struct pf_group_value));
	r.projections = pf_sorter_temp(sizeof(struct pf_group_value));
	r.launched = pf_sorter_temp(sizeof(struct work));
	r.names = pf_names_new(db);
	rc = r.names ? find_works(&r, &args->window) : -1;
	if (!rc && r.steps && args->window.steps &&
	    !(r.step_names = pf_step_regex_new(args->window.steps, db->err)))
		rc = -1;
	if (!rc)
		rc = read_tracks(&r);
	if (!rc)
		rc = project(&r);
	if (!rc)
		rc = take_items(&r, out);
	if (!rc)
		rc = find_spans(&r);
	tear_down(&r);
	return rc;
}

void pf_ranges_release(struct pf_ranges *r)
{
	pf_arena_release(&r->texts);
	pf_window_release(&r->window);
	free(r->items);
	free(r->gpu);
	free(r->spans);
	*r = (struct pf_ranges){ 0 };
}
