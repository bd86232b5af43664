/* SPDX-License-Identifier: MIT */
/*
 * A track of a thread becomes two: what Python does, and everything else.
 * Depths are found with a stack of end times: what is on it encloses (or, for
 * work that overlaps on a stream, at least blocks) the new event, so a depth
 * is used again only after the end of what had it.
 */
#include "config.h"

#include "page/slices.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/intern.h"
#include "base/mem.h"
#include "base/num.h"
#include "base/order.h"
#include "base/sat.h"
#include "base/search.h"
#include "base/utf8.h"
#include "events/gpu.h"
#include "events/names.h"
#include "events/nest.h"
#include "events/traces.h"
#include "formats/event.h"
#include "show/escape.h"
#include "store/cursor.h"
#include "store/query.h"
#include "store/texts.h"

#define NAME_MAX_CHARS 2000
#define MOSTLY         0.95 /* of a thread's time: it only waits */
#define LEAST_PART     0.02 /* of a group: less is not worth showing */
#define NO_SLICE       UINT32_MAX

const char *pf_slice_group_key(enum pf_slice_group g)
{
	static const char *const keys[] = { "gpu", "path", "ops", "python" };

	return keys[g];
}

const char *pf_slice_cat_name(enum pf_slice_cat cat)
{
	static const char *const names[PF_CATS] = {
		"kernel",       "communication", "copy",   "wait",
		"CPU operator", "runtime call",  "Python", "other"
	};

	return names[cat];
}

/* Where the events of a track of the database went: slice by seq. */
struct placed {
	uint32_t track_id;
	size_t count, cap;
	uint32_t *slice; /* of each event of the track that was read */
};

struct loader {
	struct pf_db *db;
	struct pf_timeline *t;
	const struct pf_redact *redact;
	struct pf_names *classes;
	struct pf_intern texts; /* visible names -> number */
	struct pf_map names;    /* string.id and kind -> number << 8 | sort */
	struct pf_texts table;
	struct placed *placed;
	size_t placed_count, placed_cap;
	struct pf_err *err;
};

struct open {
	int64_t end_ns, start_ns, child_ns;
	bool waits;
};

static const struct open outermost;

/* What is open on one track. */
struct depths {
	struct pf_nest nest; /* struct open */
	int64_t self_ns, waiting_ns;
};

/* ---- names ---- */

/* Append a name as slices show it. */
static void timeline_show_name(const struct pf_redact *redact, const char *s,
			       size_t len, struct pf_buf *out)
{
	struct pf_buf text = { 0 };
	size_t cut;

	pf_buf_reserve(&text, len);
	pf_redact_text(redact, s, len, &text);
	cut = pf_utf8_head(text.data, text.len, NAME_MAX_CHARS);
	pf_buf_reserve(out, cut);
	pf_escape_visible(out, text.data, cut);
	if (cut < text.len)
		pf_buf_addf(out, "… (%zu bytes)", text.len);
	pf_buf_release(&text);
}

static uint32_t add_name(struct loader *l, const char *s, size_t len)
{
	struct pf_buf shown = { 0 };
	uint32_t n;

	timeline_show_name(l->redact, s, len, &shown);
	n = pf_intern_add(&l->texts, shown.data, shown.len);
	pf_buf_release(&shown);
	return n;
}

static enum pf_slice_cat gpu_cat(unsigned kind, const char *name)
{
	static const enum pf_slice_cat cats[PF_GPU_CLASSES] = {
		[PF_GPU_COMPUTE] = PF_CAT_KERNEL,
		[PF_GPU_COMM] = PF_CAT_COMM,
		[PF_GPU_COPY] = PF_CAT_COPY,
		[PF_GPU_MEMSET] = PF_CAT_COPY,
	};

	if (kind == PF_KIND_GPU_SYNC)
		return PF_CAT_WAIT;
	if (!pf_kind_is_gpu_work(kind))
		return PF_CAT_OTHER;
	return cats[pf_gpu_classify(kind, name)];
}

static enum pf_slice_cat host_cat(unsigned kind, struct pf_name_class class)
{
	switch (kind) {
	case PF_KIND_RUNTIME:
	case PF_KIND_DRIVER:
		return class.is_blocking ? PF_CAT_WAIT : PF_CAT_RUNTIME;
	case PF_KIND_PYTHON:
		return PF_CAT_PYTHON;
	case PF_KIND_CPU_OP:
	case PF_KIND_ANNOTATION:
		if (class.range == PF_CAUSE_DATA)
			return PF_CAT_WAIT;
		if (class.range == PF_CAUSE_COMM)
			return PF_CAT_COMM;
		if (class.is_step)
			return PF_CAT_OTHER;
		return kind == PF_KIND_CPU_OP ? PF_CAT_OP : PF_CAT_OTHER;
	default:
		return PF_CAT_OTHER;
	}
}

static enum pf_slice_cat find_cat(unsigned kind, const char *name)
{
	if (pf_kind_is_gpu_track(kind))
		return gpu_cat(kind, name);
	return host_cat(kind, pf_name_classify(name));
}

#define WAITS 0x80 /* beside enum pf_slice_cat */

/* The category of a name that is shown so, and whether Python waits in it. */
static uint8_t sort_of(struct loader *l, unsigned kind, const char *name,
		       uint32_t number)
{
	enum pf_slice_cat cat = find_cat(kind, name);
	bool waits = cat == PF_CAT_PYTHON &&
		     pf_word(PF_WORD_WAITING,
			     pf_intern_text(&l->texts, number, NULL));

	return (uint8_t)(cat | (waits ? WAITS : 0));
}

/* Number and sort of an event's name. */
static int find_name(struct loader *l, const struct pf_span *s, unsigned kind,
		     uint32_t *name, uint8_t *sort)
{
	uint64_t *known;
	const char *text;

	if (s->name == PF_ID_INLINE) {
		char *copy = pf_memdup0(s->inline_name, s->inline_name_len);

		*name = add_name(l, copy, s->inline_name_len);
		*sort = sort_of(l, kind, copy, *name);
		free(copy);
		return 0;
	}
	known = pf_map_at(&l->names, (uint64_t)s->name << 8 | kind);
	if (*known == UINT64_MAX) {
		if (pf_texts_get(&l->table, PF_TEXT_NAME, s->name, &text, NULL,
				 l->err) < 0)
			return -1;
		*name = add_name(l, text, strlen(text));
		*known = (uint64_t)*name << 8 | sort_of(l, kind, text, *name);
	}
	*name = (uint32_t)(*known >> 8);
	*sort = (uint8_t)*known;
	return 0;
}

/* ---- depths ---- */

static void close_range(struct depths *d, const struct open *o)
{
	struct open *around = pf_nest_top(&d->nest);
	int64_t ns = o->end_ns - o->start_ns, self = ns - o->child_ns;

	if (self > 0) {
		pf_sat_sum(&d->self_ns, self);
		if (o->waits)
			pf_sat_sum(&d->waiting_ns, self);
	}
	if (around)
		pf_sat_sum(&around->child_ns, ns);
}

static void close_ended(struct depths *d, int64_t at_ns)
{
	const struct open *o;

	while ((o = pf_nest_ended(&d->nest, at_ns)))
		close_range(d, o);
}

/* The depth of an event, -1 if there is none left. */
static int push(struct depths *d, int64_t start_ns, int64_t end_ns, bool waits)
{
	struct open *o;

	close_ended(d, start_ns);
	if (d->nest.depth == PF_SLICE_DEPTHS)
		return -1;
	o = pf_nest_push(&d->nest, end_ns);
	*o = (struct open){ end_ns, start_ns, 0, waits };
	return (int)d->nest.depth - 1;
}

/* ---- events ---- */

static void add_slice(struct pf_slices *g, const struct pf_span *s,
		      int64_t first_ns, uint32_t name, uint8_t cat, int depth)
{
	size_t need = (size_t)g->count + 1;

	g->start_ns = pf_grow(g->start_ns, &g->start_cap, need, 8);
	g->dur_ns = pf_grow(g->dur_ns, &g->dur_cap, need, 8);
	g->name = pf_grow(g->name, &g->name_cap, need, 4);
	g->depth = pf_grow(g->depth, &g->depth_cap, need, 1);
	g->cat = pf_grow(g->cat, &g->cat_cap, need, 1);
	g->start_ns[g->count] = s->start_ns - first_ns;
	g->dur_ns[g->count] = s->dur_ns;
	g->name[g->count] = name;
	g->depth[g->count] = (uint8_t)depth;
	g->cat[g->count] = cat;
	g->count++;
}

static int group_of(unsigned kind, bool is_gpu)
{
	switch (kind) {
	case PF_KIND_MEMORY:
	case PF_KIND_OOM:
	case PF_KIND_INSTANT:
	case PF_KIND_COUNTER:
	case PF_KIND_FLOW:
	case PF_KIND_ASYNC:
	case PF_KIND_TRACE_SPAN:
		return -1;
	case PF_KIND_PYTHON:
		return PF_SLICES_PYTHON;
	default:
		return is_gpu ? PF_SLICES_GPU : PF_SLICES_OPS;
	}
}

struct track_state {
	struct pf_slice_track *track[PF_SLICE_GROUPS];
	struct depths depths[PF_SLICE_GROUPS];
};

static void place(struct placed *p, uint32_t seq, uint32_t slice)
{
	p->slice =
		pf_grow(p->slice, &p->cap, (size_t)seq + 1, sizeof(*p->slice));
	while (p->count <= seq)
		p->slice[p->count++] = NO_SLICE;
	p->slice[seq] = slice;
}

/* Does it end, and begin where slices of the group do?  Where it ends. */
static bool is_inside(const struct loader *l, const struct pf_slices *g,
		      int64_t start_ns, int64_t dur_ns, int64_t *end_ns)
{
	int64_t at;

	return !__builtin_sub_overflow(start_ns, l->t->first_ns, &at) &&
	       at >= 0 && at < g->until_ns && dur_ns >= 0 &&
	       !__builtin_add_overflow(start_ns, dur_ns, end_ns);
}

static int add_event(struct loader *l, const struct pf_span *s, bool is_gpu,
		     struct track_state *state, struct placed *placed)
{
	unsigned kind = pf_names_kind(l->classes, s->type);
	int group = group_of(kind, is_gpu), depth;
	struct pf_slices *g;
	struct pf_slice_track *track;
	int64_t end;
	uint32_t name;
	uint8_t sort;

	if (group < 0 || !l->t->is_wanted[group])
		return 0;
	g = &l->t->group[group];
	if (!is_inside(l, g, s->start_ns, s->dur_ns, &end))
		return 0;
	if (find_name(l, s, kind, &name, &sort))
		return -1;
	depth = push(&state->depths[group], s->start_ns, end, sort & WAITS);
	if (depth < 0) {
		g->too_deep++;
		return 0;
	}
	track = state->track[group];
	track->count++;
	if ((uint32_t)depth + 1 > track->depths)
		track->depths = (uint32_t)depth + 1;
	track->launches += kind == PF_KIND_RUNTIME || kind == PF_KIND_DRIVER;
	place(placed, s->seq, g->count);
	add_slice(g, s, l->t->first_ns, name, (uint8_t)(sort & ~WAITS), depth);
	return 0;
}

static struct placed *add_placed(struct loader *l, const struct pf_track *track)
{
	struct placed *p;

	l->placed = pf_grow(l->placed, &l->placed_cap, l->placed_count + 1,
			    sizeof(*l->placed));
	p = &l->placed[l->placed_count++];
	*p = (struct placed){ .track_id = track->id };
	return p;
}

/* A device's or a stream's number, not a process's or a name. */
static bool is_small(const char *s)
{
	if (!strncmp(s, "stream ", 7))
		s += 7;
	return strlen(s) <= 3 && strspn(s, "0123456789") == strlen(s);
}

/* Strict: "number" counts threads, and tells nothing of what they are. */
static void add_label(struct pf_slice_track *out, const struct pf_track *track,
		      bool is_gpu, size_t number)
{
	struct pf_buf *b = &out->label;

	if (is_gpu && number &&
	    (!is_small(track->pid) || !is_small(track->tid)))
		pf_buf_addf(b, "GPU, stream %zu of the file", number);
	else if (is_gpu)
		pf_buf_addf(b, "GPU %s, %s%s", track->pid,
			    strncmp(track->tid, "stream", 6) ? "stream " : "",
			    track->tid);
	else if (number)
		pf_buf_addf(b, "thread %zu", number);
	else if (track->thread_name && *track->thread_name)
		pf_buf_addf(b, "%s", track->thread_name);
	else
		pf_buf_addf(b, "thread %s", track->tid);
}

static struct pf_slice_track *open_track(struct pf_slices *g,
					 const struct pf_track *track,
					 bool is_gpu, size_t number)
{
	struct pf_slice_track *t;

	g->tracks = pf_grow(g->tracks, &g->track_cap, g->track_count + 1,
			    sizeof(*g->tracks));
	t = &g->tracks[g->track_count];
	*t = (struct pf_slice_track){ .track_id = track->id };
	add_label(t, track, is_gpu, number);
	return t;
}

/* Keep the track if anything came. */
static void close_track(struct pf_slices *g, struct depths *d, bool is_python)
{
	struct pf_slice_track *t = &g->tracks[g->track_count];

	close_ended(d, INT64_MAX);
	pf_nest_release(&d->nest);
	t->is_python = is_python;
	t->is_waiting = d->self_ns > 0 &&
			(double)d->waiting_ns > MOSTLY * (double)d->self_ns;
	if (t->count)
		g->track_count++;
	else
		pf_buf_release(&t->label);
}

static int load_track(struct loader *l, const struct pf_track *track)
{
	bool is_gpu = !strcmp(track->class_name, "gpu");
	struct track_state state = { 0 };
	struct placed *placed = add_placed(l, track);
	struct pf_cursor *c = pf_cursor_new(
		l->db, track->id,
		PF_COLBIT(PF_COL_START) | PF_COLBIT(PF_COL_DUR) |
			PF_COLBIT(PF_COL_NAME) | PF_COLBIT(PF_COL_TYPE) |
			PF_COLBIT(PF_COL_INLINE),
		l->err);
	struct pf_span span;
	int rc = c ? 0 : -1;

	for (int g = 0; g < PF_SLICE_GROUPS; g++) {
		state.track[g] = open_track(
			&l->t->group[g], track, is_gpu,
			pf_redact_is_strict(l->redact) ? l->placed_count : 0);
		state.depths[g] =
			(struct depths){ .nest = { .width = sizeof(outermost),
						   .outermost = &outermost } };
	}
	while (!rc && (rc = pf_cursor_next(c, &span, l->err)) == 1)
		rc = add_event(l, &span, is_gpu, &state, placed);
	for (int g = 0; g < PF_SLICE_GROUPS; g++)
		close_track(&l->t->group[g], &state.depths[g],
			    g == PF_SLICES_PYTHON);
	pf_cursor_free(c);
	return rc;
}

/* ---- ranges of no thread ---- */

static const struct pf_track *track_of(const struct pf_track *tracks,
				       size_t count, uint32_t id)
{
	return &tracks[PF_SEARCH(i, count, tracks[i].id < id)];
}

/* A lane of them, whose ranges may cross: each has a row until it ends. */
static void open_lane(struct loader *l, const struct pf_track *track,
		      struct depths *d)
{
	struct pf_slices *g = &l->t->group[PF_SLICES_OPS];
	struct pf_slice_track *t;

	g->tracks = pf_grow(g->tracks, &g->track_cap, g->track_count + 1,
			    sizeof(*g->tracks));
	t = &g->tracks[g->track_count];
	*t = (struct pf_slice_track){ .track_id = track->id };
	if (pf_redact_is_strict(l->redact))
		pf_buf_addf(&t->label, "start/end ranges %u", track->id);
	else
		pf_buf_addf(&t->label, "start/end ranges of process %s",
			    track->pid);
	*d = (struct depths){ .nest = { .width = sizeof(outermost),
					.outermost = &outermost } };
}

static void add_lane_slice(struct loader *l, struct depths *d,
			   const struct pf_async_range *a)
{
	struct pf_slices *g = &l->t->group[PF_SLICES_OPS];
	struct pf_slice_track *track = &g->tracks[g->track_count];
	const struct pf_span s = { .start_ns = a->start_ns,
				   .dur_ns = a->dur_ns };
	int64_t end_ns;
	int depth;

	if (!is_inside(l, g, a->start_ns, a->dur_ns, &end_ns))
		return;
	depth = push(d, a->start_ns, end_ns, false);
	if (depth < 0) {
		g->too_deep++;
		return;
	}
	track->count++;
	if ((uint32_t)depth + 1 > track->depths)
		track->depths = (uint32_t)depth + 1;
	add_slice(g, &s, l->t->first_ns, add_name(l, a->name, strlen(a->name)),
		  PF_CAT_OTHER, depth);
}

static int load_lanes(struct loader *l, const struct pf_track *tracks,
		      size_t count)
{
	struct pf_slices *g = &l->t->group[PF_SLICES_OPS];
	struct pf_async_range a;
	struct pf_async all;
	struct depths d = { 0 };
	uint32_t lane = 0;
	int rc;

	if (!l->t->is_wanted[PF_SLICES_OPS])
		return 0;
	rc = pf_async_open(&all, l->db, l->t->trace_id);
	while (!rc && (rc = pf_async_next(&all, &a)) == 1) {
		if (lane && a.track_id != lane)
			close_track(g, &d, false);
		if (a.track_id != lane)
			open_lane(l, track_of(tracks, count, a.track_id), &d);
		lane = a.track_id;
		add_lane_slice(l, &d, &a);
		rc = 0;
	}
	if (lane)
		close_track(g, &d, false);
	pf_async_close(&all);
	return rc;
}

/* ---- links ---- */

PF_ORDER(by_track_id, struct placed, PF_UP(track_id))

static uint32_t find_slice(const struct loader *l, int64_t event_id)
{
	struct placed key = { .track_id = (uint32_t)(event_id >> 32) };
	const struct placed *p =
		l->placed_count ? bsearch(&key, l->placed, l->placed_count,
					  sizeof(key), by_track_id)
				: NULL;
	uint32_t seq = (uint32_t)event_id;

	return p && seq < p->count ? p->slice[seq] : NO_SLICE;
}

/* From GPU work to the call that launched it, where both are shown. */
static int add_links(struct loader *l)
{
	struct pf_slices *g = &l->t->group[PF_SLICES_GPU];
	struct pf_ints *links;
	const int64_t *row;
	int rc;

	if (!g->count || !l->t->group[PF_SLICES_OPS].count)
		return 0;
	links = pf_ints_new(l->db, "gpu_links", l->err);
	if (!links)
		return -1;
	g->link = pf_alloc((size_t)g->count * 4 + 1);
	memset(g->link, 0xff, (size_t)g->count * 4);
	while ((rc = pf_ints_next(links, &row, l->err)) == 1) {
		uint32_t work = find_slice(l, row[0]);
		uint32_t call = find_slice(l, row[1]);

		if (work < g->count && call < l->t->group[PF_SLICES_OPS].count)
			g->link[work] = g->count + call;
	}
	pf_ints_free(links);
	return rc;
}

/* GPU work is communication also by what launched it. */
static int mark_comm(struct loader *l)
{
	struct pf_slices *g = &l->t->group[PF_SLICES_GPU];
	sqlite3_stmt *st;
	int rc;

	if (!g->count)
		return 0;
	st = pf_named_prepare(l->db, "timeline_comm", l->err);
	if (!st)
		return -1;
	sqlite3_bind_int64(st, 1, l->t->trace_id);
	while ((rc = pf_db_step(l->db, st, l->err)) == 1) {
		uint32_t work = find_slice(l, sqlite3_column_int64(st, 0));

		if (work < g->count && (g->cat[work] == PF_CAT_KERNEL ||
					g->cat[work] == PF_CAT_COPY))
			g->cat[work] = PF_CAT_COMM;
	}
	sqlite3_finalize(st);
	return rc;
}

/* ---- how much ---- */

static int count_groups(struct loader *l)
{
	sqlite3_stmt *st = pf_named_prepare(l->db, "timeline_kinds", l->err);
	int rc;

	if (!st)
		return -1;
	sqlite3_bind_int64(st, 1, l->t->trace_id);
	while ((rc = pf_db_step(l->db, st, l->err)) == 1) {
		const char *key = (const char *)sqlite3_column_text(st, 0);
		int64_t kind;
		int group;

		if (!key || pf_num_int(key + strlen("kind_"), &kind) ||
		    kind < 0 || kind >= PF_KIND_COUNT)
			continue;
		/* of those that are halves there are fewer slices */
		group = kind == PF_KIND_ASYNC
				? PF_SLICES_OPS
				: group_of(
					  (unsigned)kind,
					  pf_kind_is_gpu_track((unsigned)kind));
		if (group >= 0)
			l->t->group[group].all += sqlite3_column_int64(st, 1);
	}
	sqlite3_finalize(st);
	return rc;
}

/* Cut groups in time until what is left of them fits. */
static void choose(struct pf_timeline *t, enum pf_timeline_want want,
		   int64_t slices)
{
	int64_t span = t->last_ns - t->first_ns;

	for (int g = 0; g < PF_SLICE_GROUPS; g++) {
		struct pf_slices *group = &t->group[g];
		double part = group->all > 0
				      ? (double)slices / (double)group->all
				      : 1;

		group->until_ns = INT64_MAX;
		t->is_wanted[g] =
			g == PF_SLICES_GPU || want == PF_TIMELINE_FULL ||
			(want == PF_TIMELINE_OPS && g == PF_SLICES_OPS);
		if (want == PF_TIMELINE_NONE || part < LEAST_PART)
			t->is_wanted[g] = false;
		if (!t->is_wanted[g])
			continue;
		if (part < 1)
			group->until_ns = (int64_t)((double)span * part);
		slices = part < 1 ? 0 : slices - group->all;
	}
}

static int load_tracks(struct loader *l)
{
	struct pf_track *tracks = NULL;
	size_t count = 0;
	int rc = pf_tracks_load(l->db, l->t->trace_id, &tracks, &count, l->err);

	for (size_t i = 0; i < count && !rc; i++)
		if (!strcmp(tracks[i].class_name, "host") ||
		    !strcmp(tracks[i].class_name, "gpu"))
			rc = load_track(l, &tracks[i]);
	if (!rc)
		rc = load_lanes(l, tracks, count);
	pf_tracks_free(tracks, count);
	pf_sort(l->placed, l->placed_count, sizeof(*l->placed), by_track_id);
	if (!rc)
		rc = mark_comm(l);
	if (!rc)
		rc = add_links(l);
	return rc;
}

static void keep_names(struct loader *l)
{
	struct pf_timeline *t = l->t;

	t->name_count = l->texts.count;
	t->names = pf_calloc(t->name_count + 1, sizeof(*t->names));
	for (uint32_t i = 0; i < l->texts.count; i++) {
		size_t len;
		const char *s = pf_intern_text(&l->texts, i, &len);

		t->names[i].at = t->texts.len;
		t->names[i].len = (uint32_t)len;
		pf_buf_add(&t->texts, s, len);
	}
	for (int g = 0; g < PF_SLICE_GROUPS; g++)
		for (uint32_t i = 0; i < t->group[g].count; i++) {
			int64_t *sum = &t->names[t->group[g].name[i]].time_ns;

			pf_sat_sum(sum, t->group[g].dur_ns[i]);
		}
}

int pf_timeline_load(struct pf_db *db, const struct pf_window_trace *trace,
		     const struct pf_redact *redact, enum pf_timeline_want want,
		     int64_t slices, struct pf_timeline *out)
{
	struct loader l = { .db = db,
			    .t = out,
			    .redact = redact,
			    .table = { .db = db },
			    .err = db->err };
	int rc = -1;

	*out = (struct pf_timeline){ .trace_id = trace->trace_id,
				     .first_ns = trace->first_ns,
				     .last_ns = trace->last_ns };
	pf_intern_init(&l.texts);
	pf_map_init(&l.names);
	l.classes = pf_names_new(db);
	if (l.classes)
		rc = count_groups(&l);
	if (!rc) {
		choose(out, want, slices);
		rc = load_tracks(&l);
	}
	if (!rc)
		keep_names(&l);
	for (size_t i = 0; i < l.placed_count; i++)
		free(l.placed[i].slice);
	free(l.placed);
	pf_texts_release(&l.table);
	pf_names_free(l.classes);
	pf_map_release(&l.names);
	pf_intern_release(&l.texts);
	return rc;
}

void pf_timeline_release(struct pf_timeline *t)
{
	for (int i = 0; i < PF_SLICE_GROUPS; i++) {
		struct pf_slices *g = &t->group[i];

		for (size_t k = 0; k < g->track_count; k++)
			pf_buf_release(&g->tracks[k].label);
		free(g->tracks);
		free(g->start_ns);
		free(g->dur_ns);
		free(g->name);
		free(g->link);
		free(g->depth);
		free(g->cat);
	}
	free(t->names);
	pf_buf_release(&t->texts);
	memset(t, 0, sizeof(*t));
}

/*
 * What runs is named and coloured as on its own track.  What lies between, as
 * a delay or a wait, is named by what it is: the works that it lies between
 * are its neighbours.
 */

#define LABEL "critical path"

static uint8_t path_host_cat(const char *kind)
{
	static const struct {
		const char *kind;
		enum pf_slice_cat cat;
	} cats[] = {
		{ "op", PF_CAT_OP },
		{ "runtime", PF_CAT_RUNTIME },
		{ "python", PF_CAT_PYTHON },
		{ "sync call", PF_CAT_WAIT },
		{ "data loading", PF_CAT_WAIT },
	};

	for (size_t i = 0; i < sizeof(cats) / sizeof(*cats); i++)
		if (!strcmp(cats[i].kind, kind))
			return (uint8_t)cats[i].cat;
	return PF_CAT_OTHER;
}

static uint8_t cat_of(const struct pf_path_tile *tile)
{
	switch ((unsigned)tile->category) {
	case PF_PATH_KERNEL:
		return PF_CAT_KERNEL;
	case PF_PATH_COMM:
		return PF_CAT_COMM;
	case PF_PATH_COPY:
	case PF_PATH_MEMSET:
		return PF_CAT_COPY;
	case PF_PATH_LAUNCH_CALL:
		return PF_CAT_RUNTIME;
	case PF_PATH_RETURN:
	case PF_PATH_QUEUE:
	case PF_PATH_WAIT:
	case PF_PATH_INFERRED:
		return PF_CAT_WAIT;
	case PF_CAUSE_COMM:
		return PF_CAT_COMM;
	default:
		return tile->category < PF_PATH_KERNEL
			       ? path_host_cat(tile->kind)
			       : PF_CAT_OTHER;
	}
}

static int take(struct pf_path_sink *sink, const struct pf_path_tile *tile,
		struct pf_err *err)
{
	struct pf_path_track *t = (struct pf_path_track *)sink;
	bool runs = tile->category <= PF_PATH_LAUNCH_CALL;

	if (t->count < t->most) {
		t->pieces = pf_grow(t->pieces, &t->cap, t->count + 1,
				    sizeof(*t->pieces));
		t->pieces[t->count++] =
			(struct pf_path_piece){ tile->start_ns, tile->end_ns,
						runs ? tile->name : PF_ID_NONE,
						cat_of(tile),
						(uint8_t)tile->category };
	}
	t->all++;
	return t->next ? t->next->tile(t->next, tile, err) : 0;
}

void pf_path_track_begin(struct pf_path_track *t, struct pf_path_args *args)
{
	t->sink.tile = take;
	t->next = args->also;
	args->also = &t->sink;
}

void pf_path_track_release(struct pf_path_track *t)
{
	free(t->pieces);
	*t = (struct pf_path_track){ 0 };
}

/* ---- the names of the path ---- */

/* Those of the track, behind those of the timeline. */
struct namer {
	struct pf_timeline *out;
	struct pf_names *names;
	const struct pf_redact *redact;
	struct pf_intern texts;
	struct pf_map known; /* string.id, or a category above -> number */
};

static void put_name(struct namer *n, const char *text, size_t len,
		     uint64_t *number)
{
	struct pf_timeline *out = n->out;
	uint32_t known = n->texts.count;

	*number = pf_intern_add(&n->texts, text, len);
	if (*number < known)
		return;
	out->names = pf_grow(out->names, &out->name_cap, out->name_count + 1,
			     sizeof(*out->names));
	out->names[out->name_count++] =
		(struct pf_slice_name){ (uint32_t)len, out->texts.len, 0 };
	pf_buf_add(&out->texts, text, len);
}

static int path_name(struct namer *n, const struct pf_path_piece *p,
		     uint32_t *out)
{
	uint64_t key = p->name == PF_ID_NONE ? UINT64_C(1) << 32 | p->category
					     : p->name;
	uint64_t *number = pf_map_at(&n->known, key);
	const char *own =
		pf_path_category_name((enum pf_path_category)p->category);
	char *text;

	if (*number == UINT64_MAX && p->name == PF_ID_NONE) {
		put_name(n, own, strlen(own), number);
	} else if (*number == UINT64_MAX) {
		struct pf_buf shown = { 0 };

		text = pf_names_text_take(n->names, p->name);
		if (!text)
			return -1;
		timeline_show_name(n->redact, text, strlen(text), &shown);
		put_name(n, shown.data, shown.len, number);
		pf_buf_release(&shown);
		free(text);
	}
	*out = (uint32_t)*number;
	return 0;
}

/* ---- the group ---- */

static struct pf_slices *open_group(const struct pf_path_track *t,
				    struct pf_timeline *out)
{
	struct pf_slices *g = &out->group[PF_SLICES_PATH];

	free(g->tracks); /* room for those of threads, of which it has none */
	*g = (struct pf_slices){ .all = t->all, .until_ns = INT64_MAX };
	out->is_wanted[PF_SLICES_PATH] = true;
	g->tracks = pf_calloc(1, sizeof(*g->tracks));
	g->track_count = 1;
	g->tracks->depths = 1;
	pf_buf_adds(&g->tracks->label, LABEL);
	g->start_ns = pf_alloc(t->count * sizeof(*g->start_ns));
	g->dur_ns = pf_alloc(t->count * sizeof(*g->dur_ns));
	g->name = pf_alloc(t->count * sizeof(*g->name));
	g->depth = pf_calloc(t->count, 1);
	g->cat = pf_alloc(t->count);
	if (t->all > (int64_t)t->count)
		g->until_ns = t->pieces[t->count - 1].end_ns - out->first_ns;
	return g;
}

int pf_path_track_put(const struct pf_path_track *t, struct pf_names *names,
		      const struct pf_redact *redact, struct pf_timeline *out)
{
	struct namer n = { .out = out, .names = names, .redact = redact };
	uint32_t before = (uint32_t)out->name_count;
	struct pf_slices *g;
	int rc = 0;

	if (!t->count)
		return 0;
	g = open_group(t, out);
	pf_intern_init(&n.texts);
	pf_map_init(&n.known);
	out->name_cap = out->name_count;
	for (size_t i = 0; i < t->count && !rc; i++) {
		const struct pf_path_piece *p = &t->pieces[i];
		int64_t ns = p->end_ns - p->start_ns;
		uint32_t name;

		rc = path_name(&n, p, &name);
		if (rc)
			break;
		g->start_ns[i] = p->start_ns - out->first_ns;
		g->dur_ns[i] = ns;
		g->name[i] = before + name;
		g->cat[i] = p->cat;
		pf_sat_sum(&out->names[before + name].time_ns, ns);
		g->count++;
	}
	g->tracks->count = g->count;
	pf_intern_release(&n.texts);
	pf_map_release(&n.known);
	return rc;
}

int pf_path_track_add(struct pf_db *db, const struct pf_window_args *window,
		      int64_t most, const struct pf_redact *redact,
		      struct pf_timeline *out)
{
	struct pf_path_track track = { .most = most > 0 ? (size_t)most : 0 };
	struct pf_path_args args = { .window = *window, .is_bare = true };
	struct pf_path path = { 0 };
	int rc;

	if (!track.most)
		return 0;
	args.window.trace = out->trace_id;
	args.window.rank = NULL;
	pf_path_track_begin(&track, &args);
	rc = pf_path_find(db, &args, &path);
	if (!rc)
		rc = pf_path_track_put(&track, path.names, redact, out);
	pf_path_release(&path);
	pf_path_track_release(&track);
	if (rc >= 0 || db->err->code != PF_EDATA)
		return rc;
	*db->err = (struct pf_err){ 0 };
	return 0;
}
