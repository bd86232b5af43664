/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "analysis/idle/syncs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/idle/gaps.h"
#include "base/inside.h"
#include "base/intern.h"
#include "base/num.h"
#include "base/order.h"
#include "base/sat.h"
#include "base/search.h"
#include "base/spool.h"
#include "base/stats.h"
#include "base/tempfile.h"
#include "events/interval.h"
#include "events/step.h"
#include "events/trust.h"
#include "store/cursor.h"
#include "store/query.h"

/*
 * Do calls that launch GPU work return only when it is done?  Names of calls
 * say who waits where runtimes are known; of others their times do.  What
 * decides it is in events/gpu.h: the path asks it of its own window.
 */
static int held_find(struct pf_db *db, const struct pf_window *window,
		     struct pf_held *out)
{
	struct pf_by_event *works = pf_by_event_work(
		db, window, PF_COLBIT(PF_COL_START) | PF_COLBIT(PF_COL_DUR));
	const struct pf_event_work *w;
	const struct pf_block *b;
	int64_t last = 0;
	uint32_t place;

	*out = (struct pf_held){ 0 };
	PF_TRY(!works);
	while ((w = pf_by_event_next(works, &b, &place))) {
		if (!b)
			continue;
		if (w->launch_id != last) {
			out->call_count++;
			pf_sat_sum(&out->call_ns, b->dur_ns[place]);
		}
		last = w->launch_id;
		pf_held_add(out, w->end_ns - w->dur_ns, w->end_ns,
			    b->start_ns[place],
			    pf_span_end(b->start_ns[place], b->dur_ns[place]));
	}
	pf_by_event_free(works);
	return db->err->code ? -1 : 0;
}

/* The sentence of a trace in which no call waits by its name. */
static void held_say(const struct pf_held *h, struct pf_buf *out)
{
	if (!pf_held_is(h)) {
		pf_buf_adds(out, "No call waits for a GPU");
		return;
	}
	pf_buf_adds(out, "No call waits for a GPU by its name, but the calls "
			 "that launch work hold the host until it is done. ");
	pf_held_say(h, out);
	pf_buf_addf(out, " (%s calls, %s)", PF_SHOW_COUNT(h->call_count),
		    PF_SHOW_NS(h->call_ns));
}

/*
 * The sites of blocking calls and their sums.  Memory grows with the number
 * of sites, calls (24 bytes each) and gaps (24 bytes each).
 */

struct pf_site {
	struct pf_place place; /* name: the call */
	int64_t count, blocked_ns, max_ns, median_ns;
	int64_t useful_ns;                 /* a device was busy meanwhile */
	int64_t idle_ns;                   /* of GPUs, in the call */
	int64_t drained_ns, drained_count; /* gaps that it drained, whole */
	int64_t step_count;                /* steps that have it */
	size_t last_step;
	bool is_stream_wait; /* streams wait there, not the host */
	bool is_allowed, is_new;
};

struct pf_site_call {
	uint32_t site;
	size_t step; /* in steps.items; steps.count: in none */
	int64_t ns;
};

struct pf_sites {
	struct pf_names *names;
	struct pf_intern keys; /* bytes of a place -> site */
	struct pf_site *items;
	size_t cap;
	struct pf_steps steps;
	int64_t step_count;         /* of them in the window */
	struct pf_site_call *calls; /* by site, then ns */
	size_t call_count, call_cap;
	int64_t outside_count; /* blocking calls that the window leaves out */
	int64_t allocator_count, allocator_ns;
	size_t thread_count; /* that have such calls */
	struct first_uses {
		int64_t count, ns, max_ns;
		struct pf_place place; /* of the longest */
	} firsts;
	int64_t window_ns; /* of all devices */
	int64_t device_count, work_count;
	int64_t captured_count; /* launches into graphs */
};

static inline size_t pf_sites_count(const struct pf_sites *s)
{
	return s->keys.count;
}

/*
 * First the gaps, which say what each site let run dry and when devices were
 * busy; then every host thread, call by call.
 */

struct idle {
	int64_t start_ns;
	int64_t before_ns; /* idle time of the gaps before it */
};

#define GAPS_BYTES (1 << 20) /* of a device, in memory */

struct device {
	int64_t trace_id, device;
	struct pf_spool *gaps; /* struct idle, in order; NULL: there are none */
	int64_t idle_ns;
	int64_t first_ns, last_ns; /* of its work */
};

struct loader {
	struct pf_gap_sink sink;
	struct pf_sites *out;
	struct pf_db *db;
	const struct pf_pageable *pageable;
	const struct pf_window_trace *trace; /* whose threads are walked */
	int64_t thread_calls;                /* that block, of the thread */
	struct device *devices;
	size_t device_count, device_cap;
};

static struct pf_site *site_of(struct pf_sites *s, const struct pf_place *place,
			       uint32_t *number)
{
	struct pf_place key = *place;
	uint32_t known = s->keys.count, n;

	if (key.frame != PF_ID_NONE)
		key.note = PF_ID_NONE;
	n = pf_intern_add(&s->keys, (const char *)&key, sizeof(key));
	if (s->keys.count != known) {
		PF_ROOM(s->items, s->cap, n + (size_t)1);
		s->items[n] =
			(struct pf_site){ .place = key, .last_step = SIZE_MAX };
	}
	if (number)
		*number = n;
	return &s->items[n];
}

/* ---- gaps ---- */

static struct device *device_of(struct loader *l, int64_t trace_id,
				int64_t device)
{
	struct device *d;

	for (size_t i = l->device_count;
	     i-- > 0 && l->devices[i].trace_id == trace_id;)
		if (l->devices[i].device == device)
			return &l->devices[i];
	d = PF_ONE_MORE(l->devices, l->device_count, l->device_cap);
	*d = (struct device){ .trace_id = trace_id, .device = device };
	return d;
}

/* Is the place a blocking call, and no range that holds one? */
static bool is_blocking_call(struct loader *l, const struct pf_place *place)
{
	const struct pf_name_class *class;

	if ((place->cause != PF_CAUSE_SYNC && place->cause != PF_CAUSE_COPY &&
	     place->cause != PF_CAUSE_ALLOCATOR) ||
	    place->name == PF_ID_NONE || l->db->err->code)
		return false;
	class = pf_names_class(l->out->names, place->name);
	return class && (class->is_blocking || class->waits_by_memory);
}

static void on_piece(struct pf_gap_sink *sink, const struct pf_gap *gap,
		     const struct pf_place *place, int64_t ns)
{
	struct loader *l = (struct loader *)sink;

	(void)gap;
	if (is_blocking_call(l, place))
		pf_sat_sum(&site_of(l->out, place, NULL)->idle_ns, ns);
}

static void on_gap(struct pf_gap_sink *sink, const struct pf_gap *gap)
{
	struct loader *l = (struct loader *)sink;
	struct device *d = device_of(l, gap->trace->trace_id, gap->device);
	const struct idle idle = { gap->start_ns, d->idle_ns };
	int64_t ns = gap->end_ns - gap->start_ns;
	struct pf_site *site;

	if (!d->gaps)
		d->gaps = pf_spool_new(sizeof(idle), GAPS_BYTES, pf_temp_dir());
	/* an error is met where gaps have been found */
	(void)!pf_spool_add(d->gaps, &idle, l->db->err);
	d->idle_ns += ns;
	if (gap->drained.end_ns == INT64_MIN)
		return;
	site = site_of(l->out, &gap->drained.place, NULL);
	site->drained_ns += ns;
	site->drained_count++;
}

static void on_device(struct pf_gap_sink *sink, const struct pf_gap_device *d)
{
	struct loader *l = (struct loader *)sink;

	struct device *own = device_of(l, d->trace->trace_id, d->device);

	own->first_ns = d->first_ns;
	own->last_ns = d->last_ns;
	pf_sat_sum(&l->out->window_ns, d->window_ns);
	l->out->device_count++;
	l->out->work_count += d->event_count;
}

/* Idle time of a device before an instant; an error is that of the database. */
static int64_t idle_before(const struct loader *l, const struct device *d,
			   int64_t at_ns)
{
	uint64_t behind =
		d->gaps ? pf_spool_lower_bound(d->gaps, pf_sat_add(at_ns, 1),
					       l->db->err)
			: 0;
	const struct idle *g;
	int64_t ns, most_ns = d->idle_ns;

	if (!behind || behind == UINT64_MAX)
		return 0;
	g = pf_spool_at(d->gaps, behind - 1, l->db->err);
	if (!g)
		return 0;
	ns = g->before_ns + at_ns - g->start_ns;
	if (behind < pf_spool_count(d->gaps)) {
		g = pf_spool_at(d->gaps, behind, l->db->err);
		most_ns = g ? g->before_ns : 0;
	}
	return ns < most_ns ? ns : most_ns;
}

/* Time of a call in which the device that was busy longest was busy. */
static int64_t useful_time(const struct loader *l, int64_t trace_id,
			   int64_t start_ns, int64_t end_ns)
{
	const struct device *all = l->devices;
	size_t at = PF_SEARCH(i, l->device_count, all[i].trace_id < trace_id);
	int64_t most = 0;

	for (; at < l->device_count && all[at].trace_id == trace_id; at++) {
		const struct device *d = &all[at];
		int64_t from = start_ns, to = end_ns, busy;

		PF_AT_LEAST(from, d->first_ns);
		PF_AT_MOST(to, d->last_ns);
		if (from >= to)
			continue;
		busy = to - from - idle_before(l, d, to) +
		       idle_before(l, d, from);
		PF_AT_LEAST(most, busy);
	}
	return most;
}

/* ---- calls ---- */

static void add_first_use(struct first_uses *f, const struct pf_block_call *b,
			  int64_t ns)
{
	f->count++;
	pf_sat_sum(&f->ns, ns);
	if (ns <= f->max_ns)
		return;
	f->max_ns = ns;
	f->place = b->place;
}

static void add_call(struct loader *l, const struct pf_window_trace *t,
		     const struct pf_block_call *b)
{
	struct pf_sites *s = l->out;
	int64_t ns = b->end_ns - b->start_ns;
	struct pf_site *site;
	uint32_t number;
	size_t step;

	if (b->start_ns < t->from_ns || b->start_ns >= t->to_ns) {
		s->outside_count += !b->is_stream_wait && !b->is_first_use;
		return;
	}
	if (b->is_first_use) {
		add_first_use(&s->firsts, b, ns);
		return;
	}
	site = site_of(s, &b->place, &number);
	site->is_stream_wait = b->is_stream_wait;
	step = pf_steps_at(&s->steps, t->trace_id, b->start_ns);
	site->count++;
	site->blocked_ns += ns;
	PF_AT_LEAST(site->max_ns, ns);
	site->useful_ns += useful_time(l, t->trace_id, b->start_ns, b->end_ns);
	l->thread_calls += !b->is_stream_wait;
	if (b->place.cause == PF_CAUSE_ALLOCATOR) {
		s->allocator_count++;
		pf_sat_sum(&s->allocator_ns, ns);
	}
	if (step != s->steps.count && step != site->last_step) {
		site->step_count++;
		site->last_step = step;
	}
	*PF_ONE_MORE(s->calls, s->call_count, s->call_cap) =
		(struct pf_site_call){ number, step, ns };
}

static int walk_track(void *context, const struct pf_track *track)
{
	struct loader *l = context;
	struct pf_walk *w =
		pf_walk_new(l->db, l->out->names, l->pageable, track->id);
	struct pf_block_call call;
	int rc;

	PF_TRY(!w);
	l->thread_calls = 0;
	while ((rc = pf_walk_next_call(w, &call, l->db->err)) == 1)
		add_call(l, l->trace, &call);
	l->out->thread_count += l->thread_calls > 0;
	pf_walk_free(w);
	return l->db->err->code ? -1 : rc;
}

static void count_steps(struct pf_sites *s, const struct pf_window_trace *t)
{
	size_t i = pf_steps_first(&s->steps, t->trace_id);

	for (; pf_steps_is_of(&s->steps, i, t->trace_id); i++) {
		const struct pf_step *step = &s->steps.items[i];

		s->step_count += step->host_end_ns > t->from_ns &&
				 step->host_start_ns < t->to_ns;
	}
}

PF_ORDER(by_site, struct pf_site_call, PF_UP(site) PF_UP(ns))

static void find_medians(struct pf_sites *s)
{
	pf_sort(s->calls, s->call_count, sizeof(*s->calls), by_site);
	for (size_t i = 0; i < s->call_count;) {
		struct pf_site *site = &s->items[s->calls[i].site];
		size_t count = (size_t)site->count;
		unsigned rest;
		size_t at = i + pf_stats_place(count, 50, &rest);

		site->median_ns = s->calls[at].ns;
		if (rest)
			site->median_ns = pf_stats_between(
				site->median_ns, s->calls[at + 1].ns, rest);
		i += count;
	}
}

/* ---- all sites ---- */

static int find_gaps(const struct pf_window *window,
		     const struct pf_gap_source *gaps, struct loader *l)
{
	if (gaps)
		return gaps->find(l->db, &l->sink, gaps->context);
	return pf_gap_find(l->db, window, l->out->names, l->pageable,
			   PF_GAPS_MICRO_NS, &l->sink);
}

/*
 * With_idle: what the gaps of GPUs say, too; gaps, or NULL, finds them for
 * others as well.  The steps, which were loaded, become part of *out and are
 * empty then.
 */
static int sites_load(struct pf_db *db, const struct pf_window *window,
		      struct pf_steps *steps, bool with_idle,
		      const struct pf_gap_source *gaps, struct pf_sites *out)
{
	struct loader l = { .sink = { .piece = on_piece,
				      .gap = on_gap,
				      .device = on_device },
			    .out = out,
			    .db = db,
			    .pageable = pf_pageable(db) };
	int rc;

	*out = (struct pf_sites){ .steps = *steps };
	*steps = (struct pf_steps){ 0 };
	out->names = pf_names_new(db);
	rc = out->names && l.pageable ? 0 : -1;
	if (!rc && with_idle)
		rc = find_gaps(window, gaps, &l);
	if (db->err->code)
		rc = -1;
	for (size_t i = 0; !rc && i < window->count; i++) {
		l.trace = &window->traces[i];
		rc = pf_host_tracks(db, l.trace->trace_id, walk_track, &l);
	}
	for (size_t i = 0; !rc && i < window->count; i++)
		count_steps(out, &window->traces[i]);
	if (!rc && with_idle)
		rc = pf_captured_find(db, window, out->names,
				      &out->captured_count);
	if (!rc)
		find_medians(out);
	for (size_t i = 0; i < l.device_count; i++)
		pf_spool_free(l.devices[i].gaps);
	free(l.devices);
	return rc;
}

static void sites_release(struct pf_sites *s)
{
	pf_names_free(s->names);
	pf_intern_release(&s->keys);
	pf_steps_release(&s->steps);
	free(s->items);
	free(s->calls);
	*s = (struct pf_sites){ 0 };
}

#define ALLOW_BYTES (1u << 20)

struct syncs {
	const struct pf_syncs_args *args;
	struct pf_syncs *out;
	struct pf_sites sites;
	struct pf_buf allow_text; /* of the file; its lines end with NUL */
	struct pf_opt_list allow;
};

static struct pf_sync_site shown_site(const struct pf_sites *sites,
				      const struct pf_site *s)
{
	const struct pf_place *p = &s->place;
	uint32_t frame = p->frame != PF_ID_NONE ? p->frame : p->note;
	int64_t steps = sites->step_count;

	return (struct pf_sync_site){
		.call = pf_names_frame(sites->names, p->name),
		.op = pf_names_frame(sites->names, p->op),
		.outer_op = pf_names_frame(sites->names, p->outer_op),
		.frame = pf_names_frame(sites->names, frame),
		.kind = pf_cause_name((enum pf_cause)p->cause),
		.source = "call",
		.count = s->count,
		.blocked_ns = s->blocked_ns,
		.median_ns = s->median_ns,
		.max_ns = s->max_ns,
		.useful_ns = s->useful_ns,
		.idle_ns = s->idle_ns,
		.drained_count = s->drained_count,
		.drained_ns = s->drained_ns,
		.step_count = steps ? s->step_count : -1,
		.is_every_step = steps ? s->step_count >= steps : -1,
		.per_step = pf_ratio((double)s->count, steps),
		.idle_share = pf_num_share(s->idle_ns, sites->window_ns),
		.is_new = -1,
		.is_stream_wait = s->is_stream_wait,
	};
}

/* ---- checks ---- */

static bool has(const char *text, const char *part)
{
	return text && strstr(text, part);
}

static bool is_listed(const struct pf_opt_list *allow,
		      const struct pf_sync_site *t)
{
	for (size_t i = 0; i < allow->count; i++)
		if (has(t->call, allow->items[i]) ||
		    has(t->op, allow->items[i]) ||
		    has(t->outer_op, allow->items[i]) ||
		    has(t->frame, allow->items[i]))
			return true;
	return false;
}

static int read_all(FILE *f, struct pf_buf *out)
{
	char part[4096];
	size_t got;

	while ((got = fread(part, 1, sizeof(part), f)) > 0) {
		if (out->len > ALLOW_BYTES)
			return -1;
		pf_buf_add(out, part, got);
	}
	pf_buf_add(out, "", 1);
	return ferror(f) ? -1 : 0;
}

/* One part of a name a line; '#' begins a comment. */
static int load_allowed(struct syncs *s, struct pf_err *err)
{
	const char *path = s->args->allow_file;
	size_t cap = 0;
	FILE *f;
	int rc;

	if (!path)
		return 0;
	f = pf_inside_fopen(path);
	if (!f)
		return pf_fail_errno(err, "'%s'", path);
	rc = read_all(f, &s->allow_text);
	fclose(f);
	if (rc)
		return pf_fail(err, PF_EDATA, "'%s' cannot be read", path);
	for (char *line = s->allow_text.data, *next; line; line = next) {
		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		line[strcspn(line, "#\r")] = '\0';
		line += strspn(line, " \t");
		for (size_t n = strlen(line);
		     n && (line[n - 1] == ' ' || line[n - 1] == '\t'); n--)
			line[n - 1] = '\0';
		if (!*line)
			continue;
		*PF_ONE_MORE(s->allow.items, s->allow.count, cap) = line;
	}
	return 0;
}

/* What a site is called in every trace: lines move, so no line number. */
static void add_key(struct pf_buf *key, const struct pf_sync_site *t)
{
	const char *frame = t->frame ? t->frame : "";
	const char *parts[] = { t->call, t->op, t->outer_op };
	const char *colon = strrchr(frame, ':');

	for (size_t i = 0; i < 3; i++) {
		if (parts[i])
			pf_buf_add(key, parts[i], strlen(parts[i]));
		pf_buf_add(key, "\n", 1);
	}
	if (colon) {
		pf_buf_add(key, frame, (size_t)(colon - frame));
		frame = colon + 1 + strspn(colon + 1, "0123456789");
	}
	pf_buf_add(key, frame, strlen(frame));
}

static uint32_t intern_site(struct pf_intern *known,
			    const struct pf_sync_site *t)
{
	PF_AUTO(pf_buf_release) struct pf_buf key = { 0 };
	uint32_t n;

	add_key(&key, t);
	n = pf_intern_add(known, key.data, key.len);
	return n;
}

/* Every site of the other database, by its text. */
static int load_baseline(const char *path, struct pf_intern *known,
			 struct pf_err *err)
{
	static const struct pf_window_args all = PF_WINDOW_DEFAULTS;
	struct pf_window window = { 0 };
	struct pf_sites sites = { 0 };
	struct pf_steps none = { 0 };
	struct pf_db db = { 0 };
	int rc = pf_db_open(&db, path, false, err);

	if (!rc)
		rc = pf_window_resolve(&db, &all, &window);
	if (!rc)
		rc = sites_load(&db, &window, &none, false, NULL, &sites);
	for (size_t i = 0; !rc && i < pf_sites_count(&sites); i++) {
		struct pf_sync_site s = shown_site(&sites, &sites.items[i]);

		rc = err->code ? -1 : 0;
		intern_site(known, &s);
	}
	sites_release(&sites);
	pf_window_release(&window);
	pf_db_close(&db);
	return rc < 0 ? pf_while(err, "'%s'", path) : 0;
}

/* The sites with texts, and what was asked of them. */
static int take_sites(struct syncs *s, struct pf_err *err)
{
	struct pf_syncs *out = s->out;
	size_t count = pf_sites_count(&s->sites);
	PF_AUTO(pf_intern_release) struct pf_intern known = { 0 };
	uint32_t listed;
	int rc = 0;

	if (s->args->baseline)
		rc = load_baseline(s->args->baseline, &known, err);
	listed = known.count;
	out->all = pf_calloc(count + 1, sizeof(*out->all));
	for (size_t i = 0; !rc && i < count; i++) {
		struct pf_sync_site *t = &out->all[i];

		*t = shown_site(&s->sites, &s->sites.items[i]);
		rc = err->code ? -1 : 0;
		t->is_allowed = is_listed(&s->args->allow, t) ||
				is_listed(&s->allow, t);
		out->allowed_count += t->is_allowed;
		if (!s->args->baseline)
			continue;
		t->is_new = t->count && !t->is_stream_wait &&
			    intern_site(&known, t) >= listed;
		out->new_count += t->is_new && !t->is_allowed;
	}
	return rc;
}

/* In whole steps on the host, as "diff" and "trend" count them. */
static void count_in_steps(struct syncs *s)
{
	const struct pf_steps *steps = &s->sites.steps;
	struct pf_syncs *out = s->out;

	if (!steps->count)
		out->in_steps_count = out->in_steps_ns = PF_NO_INT;
	for (size_t i = 0; steps->count && i < s->sites.call_count; i++) {
		const struct pf_site_call *c = &s->sites.calls[i];
		struct pf_sync_site *site = &out->all[c->site];

		if (c->step == steps->count ||
		    steps->items[c->step].is_partial || site->is_stream_wait)
			continue;
		site->in_steps_count++;
		pf_sat_sum(&site->in_steps_ns, c->ns);
		out->in_steps_count++;
		pf_sat_sum(&out->in_steps_ns, c->ns);
	}
}

/* The most calls in one step; without steps the whole is one. */
static void count_per_step(struct syncs *s)
{
	size_t steps = s->sites.steps.count;
	PF_OWN int64_t *count = pf_calloc(steps + 1, sizeof(*count));

	for (size_t i = 0; i < s->sites.call_count; i++) {
		const struct pf_site_call *c = &s->sites.calls[i];
		const struct pf_sync_site *site = &s->out->all[c->site];

		if (!site->is_allowed && !site->is_stream_wait)
			count[c->step]++;
	}
	for (size_t i = 0; i < (steps ? steps : 1); i++)
		PF_AT_LEAST(s->out->max_per_step, count[i]);
}

/* Where the host waits comes first, the dearest of it at the front. */
static int by_cost(const void *a, const void *b)
{
	const struct pf_sync_site *x = a, *y = b;

	if (x->is_stream_wait != y->is_stream_wait)
		return x->is_stream_wait ? 1 : -1;
	if (x->is_stream_wait && x->count != y->count)
		return x->count > y->count ? -1 : 1;
	if (!x->is_stream_wait && x->idle_ns != y->idle_ns)
		return x->idle_ns > y->idle_ns ? -1 : 1;
	if (!x->is_stream_wait && x->blocked_ns != y->blocked_ns)
		return x->blocked_ns > y->blocked_ns ? -1 : 1;
	return x->n < y->n ? -1 : x->n > y->n;
}

static void take_first_uses(const struct pf_sites *s, struct pf_syncs *out)
{
	const struct first_uses *f = &s->firsts;

	out->first_use_count = f->count;
	out->first_use_ns = f->ns;
	out->first_use_max_ns = f->max_ns;
	if (!f->max_ns)
		return;
	out->first_use_call = pf_names_frame(s->names, f->place.name);
	out->first_use_op = pf_names_frame(s->names, f->place.op);
}

/* Sites that were called in the window, in order, and their sums. */
static void settle(struct pf_syncs *s, size_t all)
{
	size_t count = 0;

	for (size_t i = 0; i < all; i++) {
		struct pf_sync_site site = s->all[i];

		if (!site.is_stream_wait && !site.count &&
		    !site.drained_count && !site.idle_ns)
			continue;
		site.n = i;
		s->all[count++] = site;
		if (site.is_stream_wait)
			continue;
		s->site_count++;
		s->count += site.count;
		s->blocked_ns += site.blocked_ns;
		s->useful_ns += site.useful_ns;
		s->idle_ns += site.idle_ns;
		s->drained_ns += site.drained_ns;
	}
	pf_sort(s->all, count, sizeof(*s->all), by_cost);
	s->waits = s->all + s->site_count;
	s->wait_count = count - s->site_count;
}

/* What cuda_sync records say of waits. */
static int load_records(struct pf_db *db, struct pf_syncs *s)
{
	PF_STMT(stmt) = pf_named_prepare(db, "sync_waits", db->err);
	size_t cap = 0;
	int rc = stmt ? 0 : -1;

	for (size_t i = 0; !rc && i < s->window.count; i++) {
		const struct pf_window_trace *w = &s->window.traces[i];

		sqlite3_reset(stmt);
		sqlite3_bind_int64(stmt, 1, w->trace_id);
		sqlite3_bind_int64(stmt, 2, w->from_ns);
		sqlite3_bind_int64(stmt, 3, w->to_ns);
		while ((rc = pf_db_step(db, stmt, db->err)) == 1) {
			const char *name = pf_sqlite_text(stmt, 0);

			*PF_ONE_MORE(s->records, s->record_count,
				     cap) = (struct pf_sync_site){
				.call = pf_arena_string(&s->texts, name),
				.source = "record",
				.count = sqlite3_column_int64(stmt, 2),
				.blocked_ns = sqlite3_column_int64(stmt, 3),
			};
		}
	}
	return rc;
}

/* ---- output ---- */

#define FIELD(...) PF_FIELD(struct pf_sync_site, __VA_ARGS__)
static const struct pf_field site_fields[] = {
	FIELD(idle_ns, "Idle due", PF_NS),
	FIELD(blocked_ns, "Blocked", PF_NS),
	FIELD(count, "Calls", PF_COUNT),
	FIELD(call, "Call", PF_TEXT),
	FIELD(op, "Op", PF_TEXT),
	FIELD(frame, "Line or range", PF_PATH | PF_FRAME),
	FIELD(outer_op, "Outermost op", PF_TEXT | PF_FULL),
	FIELD(kind, "Kind", PF_TEXT | PF_OURS | PF_FULL),
	FIELD(per_step, "Per step", PF_REAL | PF_FULL),
	FIELD(step_count, "In steps", PF_COUNT | PF_FULL | PF_KNOWN),
	FIELD(is_every_step, "In every step", PF_INT | PF_FULL | PF_KNOWN),
	FIELD(median_ns, "Median", PF_NS | PF_FULL),
	FIELD(max_ns, "Longest", PF_NS | PF_FULL),
	FIELD(useful_ns, "GPU busy", PF_NS | PF_FULL),
	FIELD(drained_count, "Gaps", PF_COUNT | PF_FULL),
	FIELD(drained_ns, "In them", PF_NS | PF_FULL),
	FIELD(idle_share, "Of time", PF_RATIO | PF_FULL),
	FIELD(is_allowed, "Allowed", PF_INT | PF_FULL),
	FIELD(is_new, "New", PF_INT | PF_FULL | PF_KNOWN),
};

static const struct pf_field wait_fields[] = {
	FIELD(call, "name", "Wait", PF_TEXT),
	FIELD(source, "Said by", PF_TEXT | PF_OURS),
	FIELD(count, "Times", PF_COUNT),
	FIELD(blocked_ns, "ns", "Time", PF_NS),
	FIELD(op, "Op", PF_TEXT | PF_FULL),
	FIELD(frame, "Line or range", PF_PATH | PF_FRAME),
	FIELD(outer_op, "Outermost op", PF_TEXT | PF_FULL),
};
#undef FIELD

/* "CALL in OP, LINE" as far as it is known. */
static void add_site(const struct pf_sync_site *t, struct pf_buf *out)
{
	pf_buf_addf(out, "%s%s%s%s%s", t->call, t->op ? " in " : "",
		    t->op ? t->op : "", t->frame ? ", " : "",
		    t->frame ? t->frame : "");
}

static const char *part_word(int64_t part, int64_t whole)
{
	return part == whole      ? "all of it"
	       : part > whole / 2 ? "most of it"
				  : "the largest part";
}

/* "5 calls block the host for 3 ms, 2 of them the allocator's (1 ms)" */
static void add_calls(const struct pf_syncs *s, struct pf_buf *out)
{
	const bool is_one = s->count == 1,
		   is_alone = s->allocator_count == s->count && !s->useful_ns;
	const char *s_of = is_one ? "s" : "";
	const char *calls = PF_SHOW_COUNT(s->count);

	if (is_alone)
		pf_buf_addf(out,
			    "No call waits for a GPU, but %s of the allocator",
			    calls);
	else
		pf_buf_addf(out, "%s call%s", calls, is_one ? "" : "s");
	if (!s->allocator_count)
		pf_buf_addf(out, " wait%s for a GPU and", s_of);
	pf_buf_addf(out, " block%s the host for %s", s_of,
		    PF_SHOW_NS(s->blocked_ns));
	if (s->thread_count > 1)
		pf_buf_addf(out, ", summed over %zu threads", s->thread_count);
	if (is_alone || !s->allocator_count)
		return;
	if (s->allocator_count == s->count)
		pf_buf_addf(out, ", %s the allocator's",
			    is_one ? "which is" : "all of them");
	else
		pf_buf_addf(out, ", %s of them the allocator's (%s)",
			    PF_SHOW_COUNT(s->allocator_count),
			    PF_SHOW_NS(s->allocator_ns));
}

/* ". No GPU work is recorded for 1 ms of that", in the calls themselves */
static void add_meanwhile(const struct pf_syncs *s, struct pf_buf *out)
{
	const int64_t no_work_ns = s->blocked_ns - s->useful_ns;

	if (!s->device_count)
		return;
	if (!no_work_ns)
		pf_buf_adds(out, ". A GPU works all the while");
	else if (!s->useful_ns)
		pf_buf_adds(out, ". No GPU work is recorded meanwhile");
	else
		pf_buf_addf(out, ". No GPU work is recorded for %s of that",
			    PF_SHOW_NS(no_work_ns));
}

/* ". 1 ms of idle time (2 % of the GPU's time) is due to them, most of it ..."
 */
static void add_idle(const struct pf_syncs *s, struct pf_buf *out)
{
	pf_buf_addf(out, "%s of idle time (%s of the GPU's time) is due to %s",
		    PF_SHOW_NS(s->idle_ns),
		    PF_SHOW_SHARE(s->idle_ns, s->window_ns),
		    !s->count       ? "one that began before"
		    : s->count == 1 ? "it"
				    : "them");
}

/* What holds most of the idle time, else of the time that is blocked. */
static void add_largest(const struct pf_syncs *s, struct pf_buf *out)
{
	const struct pf_sync_site *t = &s->all[0];

	if (s->idle_ns) {
		pf_buf_adds(out, ". ");
		add_idle(s, out);
		pf_buf_addf(out, ", %s in ", part_word(t->idle_ns, s->idle_ns));
	} else if (s->count == 1) {
		pf_buf_adds(out, ". It is ");
	} else {
		pf_buf_addf(out, ". The largest part, %s, is in ",
			    PF_SHOW_NS(t->blocked_ns));
	}
	add_site(t, out);
}

/* ". Left out: 2 calls of first use, which take 3 ms, the longest ..." */
static void add_first_uses(const struct pf_syncs *s, struct pf_buf *out)
{
	const bool is_one = s->first_use_count == 1;

	if (!s->first_use_count)
		return;
	pf_buf_addf(out,
		    ". %s call%s of first use %s left out, which take%s %s",
		    PF_SHOW_COUNT(s->first_use_count), is_one ? "" : "s",
		    is_one ? "is" : "are", is_one ? "s" : "",
		    PF_SHOW_NS(s->first_use_ns));
	if (!s->first_use_call)
		return;
	pf_buf_adds(out, is_one ? ": " : ", the longest ");
	if (!is_one)
		pf_buf_addf(out, "%s in ", PF_SHOW_NS(s->first_use_max_ns));
	pf_buf_addf(out, "%s%s%s", s->first_use_call,
		    s->first_use_op ? " in " : "",
		    s->first_use_op ? s->first_use_op : "");
}

/* No call blocks that begins in the window. */
static void add_none(const struct pf_syncs *s, struct pf_buf *out)
{
	if (s->site_count) {
		pf_buf_adds(out, "No call that blocks the host begins here, "
				 "but ");
		add_idle(s, out);
		pf_buf_adds(out, ", ");
		add_site(&s->all[0], out);
	} else if (s->device_count && !s->has_calls) {
		pf_buf_adds(out, "There are no runtime calls: what waits for a "
				 "GPU is not known");
	} else if (s->device_count && !s->window.is_tpu) {
		held_say(&s->held, out);
	} else {
		pf_buf_addf(out, "%s, and no call waits for a GPU",
			    pf_window_no_work(&s->window));
	}
}

static void add_finding(const struct pf_syncs *s, struct pf_doc *doc)
{
	PF_AUTO(pf_buf_release) struct pf_buf text = { 0 };

	pf_captured_say(s->captured_count, s->work_count, &text);
	if (s->count) {
		add_calls(s, &text);
		add_meanwhile(s, &text);
		add_largest(s, &text);
	} else {
		add_none(s, &text);
	}
	add_first_uses(s, &text);
	pf_doc_finding(doc, "%s", text.data);
}

static void add_scalars(const struct pf_syncs *s,
			const struct pf_syncs_args *args, struct pf_doc *doc)
{
#define FIELD(...) PF_FIELD(struct pf_syncs, __VA_ARGS__)
	const int of_calls = s->has_calls ? 0 : PF_ABSENT;
	const int of_gpu = of_calls | (s->device_count ? PF_NS : PF_ABSENT);
	/* where there are none, they are programs' */
	const int of_first = of_calls | (s->first_use_count ? 0 : PF_FULL);
	const int of_steps = s->in_steps_count == PF_NO_INT ? PF_FULL : 0;
	const struct pf_field fields[] = {
		FIELD(count, "Blocking calls", PF_COUNT | of_calls),
		FIELD(blocked_ns, "Host blocked", PF_NS | of_calls),
		FIELD(useful_ns, "GPU busy meanwhile", of_gpu),
		FIELD(idle_ns, "GPU idle due to them", of_gpu),
		FIELD(drained_ns, "Gaps that they began", of_gpu),
		FIELD(in_steps_count, "Calls in whole steps",
		      PF_COUNT | PF_FULL | PF_MAYBE | of_calls),
		FIELD(in_steps_ns, "  host blocked",
		      PF_NS | PF_FULL | PF_MAYBE | of_calls),
		FIELD(first_use_count, "Calls of first use, left out",
		      PF_COUNT | of_first),
		FIELD(first_use_ns, "  their time", PF_NS | of_first),
		FIELD(max_per_step, "Most in one step",
		      PF_COUNT | of_calls | of_steps),
		FIELD(new_count, "Sites not in the baseline",
		      args->baseline ? PF_COUNT : PF_ABSENT),
	};
#undef FIELD

	PF_SCALARS(doc, fields, *s);
}

static void add_sites(const struct pf_syncs *s, struct pf_doc *doc)
{
	/* without a GPU what it did meanwhile is not known, and not 0 */
	static const char *const of_gpu[] = { "idle_ns", "useful_ns",
					      "drained_count", "drained_ns",
					      "idle_share" };
	struct pf_field fields[sizeof(site_fields) / sizeof(*site_fields)];

	memcpy(fields, site_fields, sizeof(fields));
	for (size_t i = 0;
	     !s->device_count && i < sizeof(of_gpu) / sizeof(*of_gpu); i++)
		for (size_t f = 0; f < sizeof(fields) / sizeof(*fields); f++)
			if (!strcmp(fields[f].col.key, of_gpu[i]))
				fields[f].col.kind |= PF_ABSENT;
	PF_ROWS(doc, "sites", "Calls that block the host", fields, s->all,
		s->site_count);
}

static void add_waits(const struct pf_syncs *s, struct pf_doc *doc)
{
	struct pf_table *t =
		PF_ROWS(doc, "waits", "Waits of streams, and recorded waits",
			wait_fields, s->waits, s->wait_count);

	for (size_t i = 0; i < s->record_count; i++)
		PF_PUT(t, wait_fields, s->records[i]);
}

#define MUCH 0.5 /* of the time in which calls block */

/* Gaps say of which cause the idle time is that calls only met. */
static void tell_other_idle(const struct pf_syncs *s, struct pf_doc *doc)
{
	const int64_t rest = s->blocked_ns - s->useful_ns - s->idle_ns;

	if (s->device_count && pf_num_share(rest, s->blocked_ns) >= MUCH)
		pf_doc_note(doc, "idle time is due to a call where profan gaps "
				 "gives it to that: time before the first GPU "
				 "work and after the last, and what others "
				 "caused, is not");
}

static bool check(const struct pf_syncs *s, const struct pf_syncs_args *a,
		  struct pf_doc *doc)
{
	static const char most[] = "--max-per-step", new[] = "--fail-on new";
	bool is_failed = false;

	if (a->max_per_step >= 0 && s->max_per_step > a->max_per_step) {
		is_failed = true;
		pf_doc_failed(doc, most,
			      "%lld blocking call%s in one step %s more "
			      "than %lld",
			      (long long)s->max_per_step,
			      pf_plural(s->max_per_step),
			      s->max_per_step == 1 ? "is" : "are",
			      (long long)a->max_per_step);
	} else if (a->max_per_step >= 0) {
		pf_doc_passed(doc, most);
	}
	if (a->fail_on >= 0 && s->new_count) {
		is_failed = true;
		pf_doc_failed(doc, new, "%lld %s not in '%s'",
			      (long long)s->new_count,
			      s->new_count == 1 ? "site is" : "sites are",
			      a->baseline);
	} else if (a->fail_on >= 0) {
		pf_doc_passed(doc, new);
	}
	if (s->allowed_count)
		pf_doc_note(doc, "%lld %s allowed", (long long)s->allowed_count,
			    s->allowed_count == 1 ? "site is" : "sites are");
	if (s->outside_count && s->is_default)
		pf_doc_note(doc,
			    "calls that wait for a GPU before the first step "
			    "or behind the last: %lld",
			    (long long)s->outside_count);
	tell_other_idle(s, doc);
	if (!s->device_count && s->count)
		pf_doc_note(doc, "there is no GPU work: what the calls cost "
				 "a GPU is not known");
	return is_failed;
}

/* *is_failed: a check that was asked for failed. */
static void syncs_show(const struct pf_syncs *s,
		       const struct pf_syncs_args *args, struct pf_doc *doc,
		       bool *is_failed)
{
	add_finding(s, doc);
	add_scalars(s, args, doc);
	add_sites(s, doc);
	add_waits(s, doc);
	*is_failed = check(s, args, doc);
}

/* ---- the whole ---- */

/* Is there anything that could have waited? */
static int look_for_calls(struct pf_db *db, struct pf_syncs *s)
{
	PF_AUTO(pf_kinds_release) struct pf_kinds kinds = { 0 };
	int rc = pf_kinds_load(&kinds, db, db->err);

	s->has_calls = s->site_count || s->record_count;
	for (uint32_t i = 0; !rc && i < kinds.count; i++) {
		unsigned kind = pf_kinds_at(&kinds, i);

		s->has_calls |=
			kind == PF_KIND_RUNTIME || kind == PF_KIND_DRIVER;
	}
	return rc;
}

static int syncs_find(struct pf_db *db, const struct pf_syncs_args *args,
		      struct pf_syncs *out)
{
	struct syncs s = { .args = args, .out = out };
	PF_AUTO(pf_steps_release) struct pf_steps steps = { 0 };
	int rc;

	if (args->fail_on >= 0 && !args->baseline)
		return pf_fail(db->err, PF_EUSAGE,
			       "--fail-on new needs --baseline");
	rc = pf_window_resolve(db, &args->window, &out->window);
	out->is_default = !out->window.is_restricted;
	if (!rc)
		rc = pf_window_to_steps(db, &out->window, &out->step_count,
					&steps);
	if (!rc)
		rc = load_allowed(&s, db->err);
	if (!rc)
		rc = sites_load(db, &out->window, &steps, true, args->gaps,
				&s.sites);
	if (!rc)
		rc = take_sites(&s, db->err);
	if (!rc) {
		count_per_step(&s);
		count_in_steps(&s);
		settle(out, pf_sites_count(&s.sites));
		out->outside_count = s.sites.outside_count;
		out->allocator_count = s.sites.allocator_count;
		out->allocator_ns = s.sites.allocator_ns;
		out->thread_count = s.sites.thread_count;
		out->captured_count = s.sites.captured_count;
		out->work_count = s.sites.work_count;
		take_first_uses(&s.sites, out);
		out->window_ns = s.sites.window_ns;
		out->device_count = s.sites.device_count;
		rc = load_records(db, out);
	}
	if (!rc)
		rc = look_for_calls(db, out);
	if (!rc && !out->site_count && out->device_count)
		rc = held_find(db, &out->window, &out->held);
	out->names = s.sites.names;
	s.sites.names = NULL;
	free(s.allow.items);
	pf_buf_release(&s.allow_text);
	sites_release(&s.sites);
	return rc;
}

void pf_syncs_release(struct pf_syncs *s)
{
	pf_names_free(s->names);
	pf_arena_release(&s->texts);
	free(s->all);
	free(s->records);
	pf_window_release(&s->window);
	*s = (struct pf_syncs){ 0 };
}

int pf_syncs(struct pf_db *db, const struct pf_syncs_args *args,
	     struct pf_syncs *kept, struct pf_doc *doc, bool *is_failed)
{
	PF_AUTO(pf_syncs_release) struct pf_syncs own = { 0 };
	struct pf_syncs *s = kept ? kept : &own;

	PF_TRY(syncs_find(db, args, s));
	syncs_show(s, args, doc, is_failed);
	return pf_trust_note(db, &s->window,
			     PF_TRUST_WORK | PF_TRUST_LINKS | PF_TRUST_STACKS,
			     doc);
}
