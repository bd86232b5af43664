/* SPDX-License-Identifier: MIT */
/* The window, then the parts one after the other. */
#include "analysis/path/change_impl.h"

#include "base/num.h"
#include "events/by_event.h"
#include "events/trust.h"
#include "store/query.h"

/* ---- the window ---- */

int pf_path_check(const struct pf_window *window, struct pf_err *err)
{
	if (window->count == 1)
		return 0;
	return pf_fail(err, PF_EUSAGE,
		       "a path is one trace's, and there are %zu: choose one "
		       "with --rank or --trace",
		       window->count);
}

static int choose_trace(struct path *p, struct pf_err *err)
{
	struct pf_window *w = &p->out->window;

	if (pf_path_check(w, err) < 0)
		return -1;
	p->trace = &w->traces[0];
	p->out->trace_id = p->trace->trace_id;
	p->out->rank = p->trace->rank;
	return path_check_time(p->trace->first_ns, p->trace->last_ns, err);
}

/* The steps of the trace that the window holds. */
static int find_steps(struct path *p, struct pf_err *err)
{
	struct pf_steps steps = { 0 };
	const struct pf_window_trace *t = p->trace;
	const struct pf_window_args *a = &p->args->window;

	if (pf_window_steps(p->db, &p->out->window, &steps, err) < 0)
		return -1;
	pf_window_note_steps(&p->out->window, &steps);
	p->steps = steps.items;
	for (size_t i = 0; i < steps.count; i++) {
		struct pf_step s = steps.items[i];

		if (s.trace_id != t->trace_id)
			continue;
		p->main_track = (uint32_t)s.track_id;
		/* one that holds nothing only where it is asked for */
		if (s.is_empty && !a->step)
			continue;
		if (s.start_ns >= t->from_ns && s.end_ns <= t->to_ns)
			p->steps[p->step_count++] = s;
	}
	if (a->from_ns >= 0 || a->to_ns >= 0 || a->whole)
		p->step_count = 0;
	return 0;
}

static void bound_by_steps(struct path *p)
{
	p->w0_ns = p->steps[0].host_start_ns;
	p->h_ns = p->steps[p->step_count - 1].host_end_ns;
	p->has_bounds = true;
	for (size_t i = 0; i < p->step_count; i++)
		p->out->step_count += !p->steps[i].is_empty;
	if (!p->out->step_count)
		p->out->step_count = (int64_t)p->step_count;
}

static int64_t held(int64_t ns)
{
	if (ns < -PF_PATH_TIME_MAX_NS)
		return -PF_PATH_TIME_MAX_NS;
	return ns > PF_PATH_TIME_MAX_NS ? PF_PATH_TIME_MAX_NS : ns;
}

/* What was asked for; what was not is as far as there is something. */
static void bound_by_events(struct path *p)
{
	int64_t first = INT64_MAX, last = INT64_MIN;
	const struct pf_window_args *a = &p->args->window;

	for (uint32_t i = 0; i < p->thread_count; i++) {
		const struct path_thread *t = &p->threads[i];

		if (!path_is_compute(p, t) || t->last_ns == INT64_MIN)
			continue;
		first = t->first_ns < first ? t->first_ns : first;
		last = t->last_ns > last ? t->last_ns : last;
	}
	for (uint32_t i = 0; i < p->work_count; i++) {
		const struct path_work *w = &p->works[i];

		first = w->start_ns < first ? w->start_ns : first;
		if (!p->thread_count || last == INT64_MIN)
			last = w->start_ns;
	}
	p->w0_ns = first;
	p->h_ns = last;
	if (first > last)
		p->w0_ns = p->h_ns = p->trace->first_ns;
	if (a->from_ns >= 0)
		p->w0_ns = p->trace->from_ns;
	if (a->to_ns >= 0)
		p->h_ns = p->trace->to_ns;
	p->has_bounds = a->from_ns >= 0 || a->to_ns >= 0;
	p->w0_ns = held(p->w0_ns);
	p->h_ns = held(p->h_ns);
	if (p->h_ns < p->w0_ns)
		p->h_ns = p->w0_ns;
}

/* Without a call that waits by its name: do those that launch wait? */
static bool is_held(const struct path *p)
{
	struct pf_held held = { 0 };

	for (uint32_t i = 0; i < p->call_count; i++) {
		const struct path_call *c = &p->calls[i];

		if (c->start_ns < p->w0_ns || c->start_ns >= p->h_ns)
			continue;
		if (c->waits)
			return false;
		for (uint32_t k = 0; k < c->work_count; k++) {
			const struct path_work *w =
				&p->works[p->by_call[c->first_work + k]];

			pf_held_add(&held, w->start_ns, w->end_ns, c->start_ns,
				    c->end_ns);
		}
	}
	return pf_held_is(&held);
}

/*
 * Work that ends in the window, and was launched before that ends.  Where
 * calls hold the host, what none of them launched is nobody's cause: a GPU
 * that asks for news again and again would hold up all that is asked about.
 */
static void choose_works(struct path *p)
{
	p->is_held = is_held(p);
	for (uint32_t i = 0; i < p->work_count; i++) {
		struct path_work *w = &p->works[i];
		int64_t launched = w->call == PF_PATH_NONE
					   ? w->start_ns
					   : path_launched_ns(p, w);

		w->is_in = w->end_ns > p->w0_ns &&
			   (launched < p->h_ns || !p->has_bounds) &&
			   !(p->is_held && w->call == PF_PATH_NONE);
		p->out->work_count += w->is_in;
	}
}

/* ---- all of it ---- */

static int load(struct path *p, struct pf_err *err)
{
	if (choose_trace(p, err) < 0 || find_steps(p, err) < 0 ||
	    path_load_works(p, err) < 0 || path_load_syncs(p, err) < 0 ||
	    pf_tracks_load(p->db, p->trace->trace_id, &p->tracks,
			   &p->track_count, err) < 0)
		return -1;
	if (p->step_count)
		bound_by_steps(p);
	if (path_load_host(p, err) < 0)
		return -1;
	if (!p->step_count)
		bound_by_events(p);
	choose_works(p);
	return 0;
}

static void build(struct path *p)
{
	path_order_streams(p);
	path_measure_floors(p);
	path_find_waits(p);
	path_find_queue(p);
	path_build(p);
}

/* Steps may go on where nothing that is known leads to their end. */
static void tell_end(const struct path *p)
{
	const int64_t end_ns = path_at(p, p->graph.sink);
	struct pf_path *out = p->out;

	if (!p->step_count || end_ns >= p->h_ns)
		return;
	out->behind_ns = p->h_ns - end_ns;
	if (pf_num_share(out->behind_ns, p->h_ns - p->w0_ns) >=
	    PF_WINDOW_BETWEEN)
		out->step_count = 0;
}

#define MUCH 0.1 /* of the window */

static void tell_begin(const struct path *p)
{
	struct pf_path *out = p->out;
	int64_t first_ns = INT64_MAX;

	for (uint32_t i = 0; i < p->work_count; i++)
		if (p->works[i].is_in && p->works[i].start_ns < first_ns)
			first_ns = p->works[i].start_ns;
	out->begins_cold =
		!p->step_count && out->work_count &&
		pf_num_share(first_ns - p->w0_ns, out->window_ns) >= MUCH;
}

static void tell(const struct path *p)
{
	struct pf_path *out = p->out;

	tell_end(p);

	out->start_ns = p->w0_ns - p->trace->first_ns;
	out->window_ns = path_at(p, p->graph.sink) - p->w0_ns;
	tell_begin(p);
	out->launch_floor_ns = out->work_count ? p->launch_floor_ns : PF_NO_INT;
	out->gap_floor_ns = out->work_count ? p->gap_floor_ns : PF_NO_INT;
	out->queue_length = p->queue_length ? p->queue_length : PF_NO_INT;
	out->queue_floor_ns = p->queue_length ? p->queue_floor_ns : PF_NO_INT;
}

static void release(struct path *p)
{
	path_graph_release(&p->graph);
	pf_map_release(&p->sync_at);
	pf_map_release(&p->record_at);
	pf_map_release(&p->wait_at);
	pf_tracks_free(p->tracks, p->track_count);
	free(p->steps);
	free(p->works);
	free(p->nodes);
	free(p->launched);
	free(p->by_call);
	free(p->streams);
	free(p->orders);
	free(p->syncs);
	free(p->threads);
	free(p->calls);
	free(p->correlations);
	pf_intern_release(&p->arounds);
	free(p->busy);
	free(p->comms);
	free(p->phi);
	free(p->chain);
}

struct rows_of {
	struct path *p;
	struct path_rows *rows;
};

static int find_rows(void *context, struct path_folder *folder,
		     struct pf_err *err)
{
	const struct rows_of *of = context;

	return path_find_tiles(of->p, path_rows_add, of->rows, folder, err);
}

/* Is the host's part too small for who asks? */
static bool is_brief(const struct path *p)
{
	struct pf_path *out = p->out;
	int64_t host_ns;

	if (p->args->brief_up_to <= 0 || out->window_ns <= 0)
		return false;
	host_ns = path_host_time(p);
	if ((double)host_ns / (double)out->window_ns > p->args->brief_up_to)
		return false;
	out->host_ns = host_ns;
	out->replay_ns = PF_NO_INT;
	return out->is_brief = true;
}

static int follow(struct path *p, struct path_rows *rows,
		  struct path_changes *c, struct path_ledger *ledger,
		  struct pf_err *err)
{
	bool by_op = !p->args->is_bare && !p->args->what_if.count;
	struct rows_of of = { p, rows };

	path_list_nodes(p);
	if (is_brief(p))
		return 0;
	p->pageable = pf_pageable(p->db, err);
	if (!p->pageable || path_ledger_init(ledger, p, c, by_op, err) < 0 ||
	    path_ledger_read(ledger, find_rows, &of, err) < 0 ||
	    path_rows_finish(rows, err) < 0)
		return -1;
	return path_what_if(p, rows, c, ledger, err);
}

static int find(struct path *p, struct pf_err *err)
{
	struct path_changes changes = { 0 };
	struct path_ledger ledger = { 0 };
	struct path_rows *rows;
	int rc = path_ask(p, &changes, err);

	if (!rc)
		rc = load(p, err);
	if (!rc) {
		build(p);
		tell(p);
		rows = path_rows_new(p);
		rc = follow(p, rows, &changes, &ledger, err);
		path_rows_free(rows);
	}
	path_ledger_release(&ledger);
	path_changes_release(&changes);
	return rc;
}

int pf_path_find(struct pf_db *db, const struct pf_path_args *args,
		 struct pf_path *out, struct pf_err *err)
{
	struct path p = {
		.db = db,
		.args = args,
		.out = out,
		.with_order = !args->is_bare || args->beside.count,
	};
	int rc;

	*out = (struct pf_path){ .graphs = args->graphs };
	if (args->graphs)
		out->how_ns = pf_calloc(PF_HOWS, sizeof(*out->how_ns));
	pf_map_init(&p.sync_at);
	pf_map_init(&p.record_at);
	pf_map_init(&p.wait_at);
	pf_intern_init(&p.arounds);
	rc = pf_window_resolve(db, &args->window, &out->window, err);
	if (!rc)
		rc = pf_trust_recorded(db, &out->window, &out->recorded, err);
	if (!rc)
		p.names = out->names = pf_names_new(db, err);
	if (!rc)
		rc = p.names ? find(&p, err) : -1;
	release(&p);
	return rc;
}

void pf_path_release(struct pf_path *path)
{
	pf_window_release(&path->window);
	pf_names_free(path->names);
	pf_arena_release(&path->texts);
	free(path->categories);
	free(path->rows);
	free(path->items);
	free(path->answers);
	free(path->how_ns);
	*path = (struct pf_path){ 0 };
}

int pf_path(struct pf_db *db, const struct pf_path_args *args,
	    struct pf_path *kept, struct pf_doc *doc, struct pf_err *err)
{
	struct pf_path own = { 0 }, *out = kept ? kept : &own;
	int rc = pf_path_find(db, args, out, err);

	if (!rc && !out->is_brief) {
		pf_path_show(out, args, doc);
		rc = pf_trust_note(db, &out->window,
				   PF_TRUST_WORK | PF_TRUST_LINKS, doc, err);
	}
	pf_path_release(&own);
	return rc;
}
