/* SPDX-License-Identifier: MIT */
/* The window, then the parts one after the other. */
#include "config.h"

#include "analysis/path/path.h"

#include <ctype.h>

#include "analysis/graphs/graphs.h"
#include "analysis/path/impl.h"
#include "base/num.h"
#include "base/order.h"
#include "base/sat.h"
#include "events/gpu.h"
#include "show/escape.h"

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

static int choose_trace(struct path *p)
{
	struct pf_window *w = &p->out->window;

	if (pf_path_check(w, p->db->err) < 0)
		return -1;
	p->trace = &w->traces[0];
	p->out->trace_id = p->trace->trace_id;
	p->out->rank = p->trace->rank;
	return path_check_time(p->trace->first_ns, p->trace->last_ns,
			       p->db->err);
}

/* The steps of the trace that the window holds. */
static int find_steps(struct path *p)
{
	struct pf_steps steps = { 0 };
	struct pf_window_trace t = *p->trace;
	struct pf_window *w = &p->out->window;
	const struct pf_window_args *a = &p->args->window;

	if (pf_window_steps(p->db, w, &steps) < 0)
		return -1;
	if (!w->is_restricted && !w->is_whole)
		pf_window_to_whole_steps(w, &t, &steps);
	pf_window_note_steps(w, &steps);
	p->steps = steps.items;
	for (size_t i = 0; i < steps.count; i++) {
		struct pf_step s = steps.items[i];

		if (s.trace_id != t.trace_id)
			continue;
		p->main_track = (uint32_t)s.track_id;
		/* one that holds nothing only where it is asked for */
		if (s.is_empty && !a->step)
			continue;
		if (s.start_ns >= t.from_ns && s.end_ns <= t.to_ns)
			p->steps[p->step_count++] = s;
	}
	if (a->from_ns >= 0 || a->to_ns >= 0 || a->whole)
		p->step_count = 0;
	return 0;
}

static void bound_by_steps(struct path *p)
{
	p->w0_ns = p->steps[0].host_start_ns;
	p->out->ahead_ns = pf_sat_sub(p->steps[0].start_ns, p->w0_ns);
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

/*
 * Do calls that launch wait, those aside that do by their names?  Where there
 * are such, nearly all of many must.
 */
#define HELD_LEAST 16 /* pieces of work */
#define HELD_PARTS 20
static bool is_held(const struct path *p)
{
	struct pf_held held = { 0 };
	bool are_named = false;

	for (uint32_t i = 0; i < p->call_count; i++) {
		const struct path_call *c = &p->calls[i];

		if (c->start_ns < p->w0_ns || c->start_ns >= p->h_ns)
			continue;
		are_named |= c->waits;
		if (c->waits)
			continue;
		for (uint32_t k = 0; k < c->work_count; k++) {
			const struct path_work *w =
				&p->works[p->by_call[c->first_work + k]];

			pf_held_add(&held, w->start_ns, w->end_ns, c->start_ns,
				    c->end_ns);
		}
	}
	return pf_held_is(&held) &&
	       (!are_named ||
		(held.count >= HELD_LEAST &&
		 held.inside_count >= held.count - held.count / HELD_PARTS));
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

static int load(struct path *p)
{
	if (choose_trace(p) < 0 || find_steps(p) < 0 ||
	    pf_tracks_load(p->db, p->trace->trace_id, &p->tracks,
			   &p->track_count, p->db->err) < 0 ||
	    path_load_works(p) < 0 || path_load_syncs(p) < 0 ||
	    pf_overheads_load(&p->overheads, p->db, p->names,
			      p->trace->trace_id, p->tracks,
			      p->track_count) < 0)
		return -1;
	if (p->step_count)
		bound_by_steps(p);
	if (path_load_host(p) < 0)
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
	out->rest_ns = out->window_ns;
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
	pf_overheads_release(&p->overheads);
	free(p->steps);
	free(p->works);
	free(p->nodes);
	free(p->by_call);
	free(p->streams);
	free(p->orders);
	free(p->syncs);
	free(p->threads);
	free(p->calls);
	free(p->correlations);
	pf_intern_release(&p->arounds);
	free(p->busy);
	free(p->holes);
	free(p->naps);
	free(p->wakes);
	free(p->comms);
	free(p->phi);
	free(p->on_path);
}

struct rows_of {
	struct path *p;
	struct path_rows *rows;
};

static int find_rows(void *context, struct path_folder *folder,
		     struct pf_err *err)
{
	const struct rows_of *of = context;

	(void)err;
	return path_find_tiles(of->p, path_rows_add, of->rows, folder);
}

static int follow(struct path *p, struct path_rows *rows,
		  struct path_changes *c, struct path_ledger *ledger)
{
	bool by_op = !p->args->is_bare && !p->args->what_if.count;
	struct rows_of of = { p, rows };

	path_mark_nodes(p);
	p->pageable = pf_pageable(p->db);
	if (!p->pageable || path_ledger_init(ledger, p, c, by_op) < 0 ||
	    path_ledger_read(ledger, find_rows, &of) < 0 ||
	    path_rows_finish(rows) < 0)
		return -1;
	return path_what_if(p, rows, c, ledger);
}

static int find(struct path *p)
{
	PF_AUTO(path_changes_release) struct path_changes changes = { 0 };
	struct path_ledger ledger = { 0 };
	struct path_rows *rows;
	int rc = path_ask(p, &changes);

	if (!rc)
		rc = load(p);
	if (!rc) {
		build(p);
		tell(p);
		rows = path_rows_new(p);
		rc = follow(p, rows, &changes, &ledger);
		path_rows_free(rows);
	}
	path_ledger_release(&ledger);
	return rc;
}

int pf_path_find(struct pf_db *db, const struct pf_path_args *args,
		 struct pf_path *out)
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
	rc = pf_window_resolve(db, &args->window, &out->window);
	if (!rc)
		rc = pf_trust_recorded(db, &out->window, &out->recorded);
	if (!rc)
		p.names = out->names = pf_names_new(db);
	if (!rc)
		rc = p.names ? find(&p) : -1;
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

static void path_show(const struct pf_path *p, const struct pf_path_args *args,
		      struct pf_doc *doc);

int pf_path(struct pf_db *db, const struct pf_path_args *args,
	    struct pf_path *kept, struct pf_doc *doc)
{
	PF_AUTO(pf_path_release) struct pf_path own = { 0 };
	struct pf_path *out = kept ? kept : &own;

	PF_TRY(pf_path_find(db, args, out));
	path_show(out, args, doc);
	return pf_trust_note(db, &out->window, PF_TRUST_WORK | PF_TRUST_LINKS,
			     doc);
}

/* ---- show ---- */

#define ROW(...)  PF_FIELD(struct pf_path_row, __VA_ARGS__)
#define ITEM(...) PF_FIELD(struct pf_path_item, __VA_ARGS__)

/* ---- the sentence ---- */

/* Parts of the path, as sentences name them. */
struct part {
	const char *text;
	int64_t ns;
};

PF_ORDER(by_time, struct part, PF_DOWN(ns) PF_ALPHA(text))

/* But for what was queued before, which is no part of the program's; or NULL. */
static const struct pf_path_row *largest(const struct pf_path_row *rows,
					 size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (rows[i].in != PF_PATH_QUEUED)
			return &rows[i];
	return NULL;
}

static void add_most(const struct pf_path *p, struct pf_buf *out)
{
	const struct pf_path_row *c = largest(p->categories, p->category_count);
	const struct pf_path_row *r = largest(p->rows, p->row_count);
	int64_t bare_ns;

	if (!c)
		return;
	/* of what nothing names, that in steps */
	bare_ns = p->bare_ns - (p->work_count ? 0 : p->unexplained_ns);
	if (c->in == PF_CAUSE_ANNOTATION && bare_ns > c->ns / 2) {
		pf_buf_addf(out, ". %s is in " PF_PATH_BARE_WORDS,
			    PF_SHOW_SHARE(p->bare_ns, p->window_ns));
		return;
	}
	pf_buf_addf(out, ". %s largest part is %s (%s)",
		    c == p->categories ? "The" : "Of the rest the",
		    pf_path_category_phrase((enum pf_path_category)c->in),
		    PF_SHOW_RATIO(c->share));
	if (!r || r->in < 0 || !r->name)
		return;
	pf_buf_adds(out, ", the largest name ");
	if (pf_path_is_before(r->in))
		pf_buf_adds(out, "before ");
	pf_say_name(out, r->short_name);
	pf_buf_adds(out, " (");
	if (r->in != c->in)
		pf_buf_addf(out, "%s, ", r->category);
	pf_buf_addf(out, "%s)", PF_SHOW_RATIO(r->share));
}

#define MOSTLY   0.5 /* of the window: the host decides it */
#define FAR_LESS 0.1

/*
 * The host may be all of the path and yet only just ahead of the GPU: then
 * much less is saved than it holds.
 */
static void add_free_host(const struct pf_path *p, struct pf_buf *out)
{
	const double share = pf_num_share(p->host_ns, p->window_ns);
	const struct pf_path_answer *best = NULL;

	for (size_t i = 0; pf_path_is_linked(p) && i < p->answer_count; i++)
		if (p->answers[i].of_host &&
		    (!best || p->answers[i].saved_ns > best->saved_ns))
			best = &p->answers[i];
	if (share < MOSTLY || !best || strcmp(best->question, PATH_NO_CODE) ||
	    best->saved_share > share - FAR_LESS)
		return;
	pf_buf_addf(out,
		    ". Without the host's " PF_PATH_CODE
		    " at most %s would be saved",
		    PF_SHOW_RATIO(best->saved_share));
}

/* "The host decides 12 % of 6 steps (1 ms of 8 ms), GPU work decides 8 %" */
static void add_parts(const struct pf_path *p, struct pf_buf *out)
{
	const char *host = "the host decides";
	struct part parts[] = {
		{ host, p->host_ns },
		{ "GPU work decides", p->gpu_ns },
		{ "launches and waits decide", p->between_ns },
		{ "the profiler decides", p->profiler_ns },
		{ NULL, p->queued_ns },
		{ "nothing recorded explains", p->unexplained_ns },
	};
	PF_AUTO(pf_buf_release) struct pf_buf queued = { 0 };
	const struct part *first = &parts[0], *then = &parts[1];
	size_t at = out->len;

	pf_buf_addf(&queued, "%s decides", pf_cause_phrase(PF_CAUSE_DEVICE));
	parts[4].text = queued.data;
	pf_sort(parts, sizeof(parts) / sizeof(*parts), sizeof(*parts), by_time);
	/* a GPU that nobody recorded may decide, too */
	if (!p->recorded.has_work) {
		pf_buf_addf(out, "No GPU work %s; the host has ",
			    p->window.has_unread ? "could be read"
						 : "was recorded");
		while (first->text != host)
			first++;
		then = first == parts ? &parts[1] : parts;
	} else {
		pf_buf_addf(out, "%s ", first->text);
		out->data[at] = (char)toupper((unsigned char)out->data[at]);
	}
	pf_window_say_part(&p->window, out, first->ns, p->window_ns,
			   p->step_count);
	if (then->ns)
		pf_buf_addf(out, ", %s %s", then->text,
			    PF_SHOW_SHARE(then->ns, p->window_ns));
}

void pf_path_say_share(const struct pf_path *p, double share,
		       struct pf_buf *out)
{
	pf_buf_addf(out, "%s of the critical path", PF_SHOW_RATIO(share));
	if (!p->step_count)
		pf_buf_addf(out, " of %s", PF_SHOW_NS(p->window_ns));
}

bool pf_path_say_behind(const struct pf_path *p, struct pf_buf *out)
{
	if (p->behind_ns <= p->window_ns)
		return false;
	pf_window_say_part(&p->window, out, p->behind_ns,
			   p->window_ns + p->behind_ns, p->step_count);
	pf_buf_adds(out, " is behind the critical path, where nothing is "
			 "recorded that is waited for");
	return true;
}

static void add_finding(const struct pf_path *p, struct pf_doc *doc)
{
	PF_AUTO(pf_buf_release) struct pf_buf text = { 0 }, plain = { 0 };
	PF_AUTO(pf_buf_release) struct pf_buf ahead = { 0 };

	doc->is_nothing = !p->category_count;
	if (doc->is_nothing) {
		pf_doc_finding(
			doc, "%s",
			p->window.has_unread ? pf_window_no_work(&p->window)
			: !p->recorded.has_work && p->recorded.has_calls
				? "No GPU work was recorded, so what "
				  "decides how long it takes is not known"
			: p->recorded.has_ranges
				? "There is nothing whose end could be "
				  "explained; 'profan ranges' says what ranges "
				  "hold"
				: "There is nothing whose end could be "
				  "explained");
		return;
	}
	if (pf_path_say_behind(p, &text))
		pf_buf_adds(&text, ". ");
	add_parts(p, &text);
	add_most(p, &text);
	add_free_host(p, &text);
	pf_step_say_ahead(p->step_count, p->ahead_ns, p->window_ns, &ahead);
	if (ahead.len)
		pf_buf_addf(&text, ". %s", ahead.data);
	pf_say_plain(&plain, &text);
	pf_doc_finding(doc, "%s", plain.data);
}

/* How sure it is. */
static void add_doubt(const struct pf_path *p, struct pf_doc *doc)
{
	PF_AUTO(pf_buf_release) struct pf_buf slowed = { 0 };

	if (!p->step_count && p->behind_ns)
		pf_doc_note(doc,
			    "the path ends %s before the last step does: "
			    "behind it nothing is recorded that the step "
			    "waits for",
			    PF_SHOW_NS(p->behind_ns));
	pf_doc_note(doc,
		    "%s of the %s links of the path are inferred (%s of its "
		    "time), and %s of its time is unexplained",
		    PF_SHOW_COUNT(p->inferred_count),
		    PF_SHOW_COUNT(p->link_count),
		    PF_SHOW_SHARE(p->inferred_ns - p->others_ns, p->window_ns),
		    PF_SHOW_SHARE(p->unexplained_ns, p->window_ns));
	if (p->others_ns)
		pf_doc_note(doc,
			    "%s of it are taken for a wait for threads that "
			    "communicate: nothing else is recorded of the "
			    "thread then",
			    PF_SHOW_NS(p->others_ns));
	if (p->queue_length != PF_NO_INT)
		pf_doc_note(doc,
			    "the launch queue was full at times: it holds %s "
			    "calls",
			    PF_SHOW_COUNT(p->queue_length));
	if (pf_num_share(p->host_ns, p->window_ns) >= MOSTLY)
		pf_recorded_say(&p->recorded, &slowed);
	if (slowed.len)
		pf_doc_note(doc, "%s", slowed.data);
}

/* Whose operators evidence names, and how sure those are. */
static void add_replayed(const struct pf_path *p, struct pf_doc *doc)
{
	PF_AUTO(pf_buf_release) struct pf_buf parts = { 0 };
	int64_t ns = 0;

	for (size_t h = 0; h < PF_HOWS; h++)
		ns += p->how_ns[h];
	pf_graphs_say_how(p->how_ns, ns, &parts);
	if (ns)
		pf_doc_note(doc,
			    "%s of the path is GPU work that graphs replay: %s",
			    PF_SHOW_SHARE(ns, p->window_ns), parts.data);
	else if (p->category_count)
		pf_doc_note(doc, "no GPU work on the path is replayed by "
				 "graphs");
	if (p->graphs->past_count)
		pf_doc_note(doc,
			    "%s GPU events of graphs are past the limit of "
			    "nodes, and are not looked at",
			    PF_SHOW_COUNT(p->graphs->past_count));
}

/* ---- tables ---- */

#define ANSWER(...) PF_FIELD(struct pf_path_answer, __VA_ARGS__)
static const struct pf_field answer_fields[] = {
	ANSWER(saved_ns, "Saving", PF_NS | PF_MAYBE),
	ANSWER(saved_share, "Of all", PF_RATIO | PF_BAR),
	ANSWER(least_ns, "At least", PF_NS | PF_MAYBE),
	ANSWER(bound_ns, "On path", PF_NS | PF_MAYBE),
	ANSWER(question, "What if", PF_TEXT),
	ANSWER(ns, "Window", PF_NS | PF_MAYBE | PF_FULL),
	ANSWER(pessimistic_ns, "Window at most", PF_NS | PF_MAYBE | PF_FULL),
};

/* Of what was asked also what it is about. */
static const struct pf_field asked_fields[] = {
	ANSWER(saved_ns, "Saving", PF_NS | PF_MAYBE),
	ANSWER(saved_share, "Of all", PF_RATIO | PF_BAR),
	ANSWER(least_ns, "At least", PF_NS | PF_MAYBE),
	ANSWER(bound_ns, "On path", PF_NS | PF_MAYBE | PF_FULL),
	ANSWER(work_count, "GPU work", PF_COUNT | PF_MAYBE),
	ANSWER(work_ns, "Its time", PF_NS | PF_MAYBE),
	ANSWER(changed_host_ns, "Host", PF_NS | PF_MAYBE),
	ANSWER(question, "What if", PF_TEXT),
	ANSWER(ns, "Window", PF_NS | PF_MAYBE | PF_FULL),
	ANSWER(pessimistic_ns, "Window at most", PF_NS | PF_MAYBE | PF_FULL),
};

static const struct pf_field category_fields[] = {
	ROW(category, "On the path", PF_TEXT | PF_OURS),
	ROW(ns, "Time", PF_NS),
	ROW(share, "Of all", PF_RATIO | PF_BAR),
	ROW(count, "Pieces", PF_COUNT),
	ROW(longest_ns, "Longest", PF_NS),
};

static const struct pf_field item_fields[] = {
	ITEM(start_ns, "From", PF_NS),
	ITEM(ns, "Time", PF_NS),
	ITEM(category, "On the path", PF_TEXT | PF_OURS),
	ITEM(short_name, "Name", PF_TEXT | PF_BRIEF),
	ITEM(name, "Name", PF_TEXT | PF_FULL),
	ITEM(kind, "Kind", PF_TEXT | PF_OURS | PF_FULL),
	ITEM(op, "Op", PF_TEXT | PF_FULL),
	ITEM(frame, "Line", PF_PATH | PF_FULL),
	ITEM(module, "Module", PF_TEXT | PF_FULL),
	ITEM(thread, "Thread", PF_TEXT | PF_FULL),
	ITEM(device, "GPU", PF_INT | PF_KNOWN | PF_FULL),
	ITEM(stream, "Stream", PF_INT | PF_KNOWN | PF_FULL),
	ITEM(is_inferred, "Inferred", PF_INT | PF_FULL),
};

static const char *const titles[] = {
	[PF_PATH_BY_NAME] = "What is on the path",
	[PF_PATH_BY_OP] = "The path by operator",
	[PF_PATH_BY_KERNEL] = "The path by kernel",
	[PF_PATH_BY_MODULE] = "The path by module",
	[PF_PATH_BY_LINE] = "The path by line",
	[PF_PATH_BY_STEP] = "The path by step",
};

static void add_rows(const struct pf_path *p, int group, struct pf_doc *doc)
{
	const bool by_step = group == PF_PATH_BY_STEP;
	const bool has_name = !by_step;
	const bool has_category = by_step || group == PF_PATH_BY_NAME ||
				  group == PF_PATH_BY_KERNEL;
	const int name_kind = group == PF_PATH_BY_LINE ? PF_PATH : PF_TEXT;
	const struct pf_field fields[] = {
		ROW(step, "Step", by_step ? PF_INT | PF_MAYBE : PF_ABSENT),
		ROW(ns, "Time", PF_NS),
		ROW(share, "Of all", PF_RATIO | PF_BAR),
		ROW(count, "Pieces", PF_COUNT),
		ROW(longest_ns, "Longest", PF_NS),
		ROW(replayed_ns, "Replayed", p->graphs ? PF_NS : PF_ABSENT),
		ROW(category, "On the path",
		    has_category ? PF_TEXT | PF_OURS : PF_ABSENT),
		ROW(short_name, "Name",
		    has_name ? name_kind | PF_BRIEF : PF_ABSENT),
		ROW(name, "Name",
		    has_name ? name_kind | PF_FULL | PF_SYMBOL : PF_ABSENT),
	};

	if (group == PF_PATH_BY_CATEGORY)
		return;
	PF_ROWS(doc, "rows", titles[group], fields, p->rows, p->row_count);
}

/* Was the host recorded, and what leads from it to the GPU? */
static bool has_host(const struct pf_recorded *r)
{
	return r->has_calls || ((r->has_ops || r->has_ranges) && !r->has_work);
}

static void hide(int64_t *ns, bool is_known)
{
	if (!*ns && !is_known)
		*ns = -1;
}

/* Without a path, and of what nobody recorded, times are not known. */
static void hide_unknown(struct pf_path *p)
{
	const bool has_path = p->category_count;
	const bool is_host = has_path && has_host(&p->recorded);
	const bool is_gpu = has_path && p->recorded.has_work;

	if (!has_path)
		p->window_ns = p->unexplained_ns = -1;
	hide(&p->host_ns, is_host);
	hide(&p->profiler_ns, is_host);
	hide(&p->gpu_ns, is_gpu);
	hide(&p->between_ns, is_gpu);
	hide(&p->queued_ns, is_gpu);
}

static void add_scalars(const struct pf_path *p, struct pf_doc *doc)
{
#define FIELD(...) PF_FIELD(struct pf_path, __VA_ARGS__)
	/* of the profiler, and of before the capture, there mostly is nothing */
	const struct pf_field fields[] = {
		FIELD(window_ns, "Window", PF_NS | PF_KNOWN),
		FIELD(host_ns, "Host", PF_NS | PF_KNOWN),
		FIELD(gpu_ns, "GPU work", PF_NS | PF_KNOWN),
		FIELD(between_ns, "Launches and waits", PF_NS | PF_KNOWN),
		FIELD(profiler_ns, "Profiler",
		      PF_NS | PF_KNOWN | (p->profiler_ns ? 0 : PF_FULL)),
		FIELD(queued_ns, "Queued behind",
		      PF_NS | PF_KNOWN | (p->queued_ns ? 0 : PF_FULL)),
		FIELD(unexplained_ns, "Unrecorded, unexplained",
		      PF_NS | PF_KNOWN),
		FIELD(start_ns, "Begin", PF_NS | PF_FULL),
		FIELD(inferred_ns, "Inferred", PF_NS | PF_FULL),
		FIELD(inferred_count, "Inferred links", PF_COUNT | PF_FULL),
		FIELD(link_count, "Links", PF_COUNT | PF_FULL),
		FIELD(return_count, "Calls that waited", PF_COUNT | PF_FULL),
		FIELD(handoff_count, "Handoffs", PF_COUNT | PF_FULL),
		FIELD(work_count, "GPU work", PF_COUNT | PF_FULL),
		FIELD(launch_floor_ns, "Least launch",
		      PF_NS | PF_MAYBE | PF_FULL),
		FIELD(gap_floor_ns, "Least gap", PF_NS | PF_MAYBE | PF_FULL),
		FIELD(queue_length, "Launch queue",
		      PF_COUNT | PF_MAYBE | PF_FULL),
		FIELD(queue_floor_ns, "Least return of it",
		      PF_NS | PF_MAYBE | PF_FULL),
		FIELD(replay_ns, "Replay less window",
		      PF_NS | PF_SIGNED | PF_FULL),
	};
#undef FIELD
	struct pf_path shown = *p;

	hide_unknown(&shown);
	PF_SCALARS(doc, fields, shown);
}

/* Of a host that nobody recorded, or its calls, it is not known what it would save. */
static void add_answers(const struct pf_path *p, bool is_asked,
			struct pf_doc *doc)
{
	const bool is_known = has_host(&p->recorded);
	const struct pf_field *fields = is_asked ? asked_fields : answer_fields;
	const size_t count =
		is_asked ? sizeof(asked_fields) / sizeof(*asked_fields)
			 : sizeof(answer_fields) / sizeof(*answer_fields);
	struct pf_table *t = pf_doc_fields(doc, "what_if", "What it would save",
					   fields, count);

	for (size_t i = 0; i < p->answer_count; i++) {
		struct pf_path_answer a = p->answers[i];

		if (!is_known && a.of_host && !a.saved_ns) {
			a.ns = a.saved_ns = a.bound_ns = PF_NO_INT;
			a.pessimistic_ns = a.least_ns = PF_NO_INT;
			a.saved_share = NAN;
		}
		pf_table_put(t, fields, count, &a, sizeof(a));
	}
}

static void path_show(const struct pf_path *p, const struct pf_path_args *args,
		      struct pf_doc *doc)
{
	add_finding(p, doc);
	add_scalars(p, doc);
	if (args->list)
		PF_ROWS(doc, "tiles", "The path", item_fields, p->items,
			p->item_count);
	PF_ROWS(doc, "categories", "What the path is made of", category_fields,
		p->categories, p->category_count);
	add_rows(p, args->group, doc);
	if (!args->is_bare)
		add_answers(p, args->what_if.count > 0, doc);
	if (p->category_count)
		add_doubt(p, doc);
	if (p->graphs)
		add_replayed(p, doc);
	if (p->answer_count && p->begins_cold && !args->what_if.count)
		pf_doc_note(doc,
			    "\"as in one GPU graph\" takes with it what "
			    "runs before the first GPU work, which no graph "
			    "makes shorter");
	if (p->answer_count && !pf_path_is_linked(p))
		pf_doc_note(doc, "GPU work has no launch calls here, so that "
				 "it stays where it was: more may be saved "
				 "than is said");
	if (p->answer_count)
		pf_doc_note(doc,
			    "savings do not know of contention for "
			    "multiprocessors, memory and CPU cores, of "
			    "clocks, nor of what other ranks do meanwhile");
}
