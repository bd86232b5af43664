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
#include <math.h>

#include "analysis/idle/gaps.h"
#include "analysis/memory/usage.h"
#include "analysis/time/counters.h"
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
#include "events/step.h"
#include "events/traces.h"
#include "formats/event.h"
#include "show/escape.h"
#include "store/cursor.h"
#include "store/kept.h"
#include "store/query.h"
#include "store/texts.h"

#define NAME_MAX_CHARS 2000
#define MOSTLY         0.95 /* of a thread's time: it only waits */
#define LEAST_PART     0.02 /* of a group: less is not worth showing */
#define NO_SLICE       UINT32_MAX

const char *const pf_slice_cats[PF_CATS] = { "kernel",       "communication",
					     "copy",         "wait",
					     "CPU operator", "runtime call",
					     "Python",       "other" };

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

static const struct depths no_depths = { .nest = { .width = sizeof(outermost),
						   .outermost = &outermost } };

/* ---- names ---- */

/* Append a name as slices show it; redact: NULL for all of it. */
static void timeline_show_name(const struct pf_redact *redact, const char *s,
			       size_t len, struct pf_buf *out)
{
	PF_AUTO(pf_buf_release) struct pf_buf text = { 0 };
	size_t cut;

	pf_buf_reserve(&text, len);
	if (redact)
		pf_redact_text(redact, s, len, &text);
	else
		pf_buf_add(&text, s, len);
	cut = pf_utf8_head(text.data, text.len, NAME_MAX_CHARS);
	pf_buf_reserve(out, cut);
	pf_escape_visible(out, text.data, cut);
	if (cut < text.len)
		pf_buf_addf(out, "… (%zu bytes)", text.len);
}

static uint32_t add_name(struct loader *l, const char *s, size_t len)
{
	PF_AUTO(pf_buf_release) struct pf_buf shown = { 0 };

	timeline_show_name(l->redact, s, len, &shown);
	return pf_intern_add(&l->texts, shown.data, shown.len);
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

/* Beside the kinds of events: what is named by us, of a category. */
#define KIND_OF(cat) (PF_KIND_COUNT + (unsigned)(cat))

static enum pf_slice_cat find_cat(unsigned kind, const char *name)
{
	if (kind >= PF_KIND_COUNT)
		return (enum pf_slice_cat)(kind - PF_KIND_COUNT);
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
		PF_OWN char *copy =
			pf_memdup0(s->inline_name, s->inline_name_len);

		*name = add_name(l, copy, s->inline_name_len);
		*sort = sort_of(l, kind, copy, *name);
		return 0;
	}
	known = pf_map_at(&l->names, (uint64_t)s->name << 8 | kind);
	if (*known == UINT64_MAX) {
		PF_TRY(pf_texts_get(&l->table, PF_TEXT_NAME, s->name, &text,
				    NULL, l->err) < 0);
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
	PF_ROOM(p->slice, p->cap, (size_t)seq + 1);
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
	PF_TRY(find_name(l, s, kind, &name, &sort));
	depth = push(&state->depths[group], s->start_ns, end, sort & WAITS);
	if (depth < 0) {
		g->too_deep++;
		return 0;
	}
	track = state->track[group];
	track->count++;
	PF_AT_LEAST(track->depths, (uint32_t)depth + 1);
	track->launches += kind == PF_KIND_RUNTIME || kind == PF_KIND_DRIVER;
	place(placed, s->seq, g->count);
	add_slice(g, s, l->t->first_ns, name, (uint8_t)(sort & ~WAITS), depth);
	return 0;
}

static struct placed *add_placed(struct loader *l, const struct pf_track *track)
{
	struct placed *p;

	p = PF_ONE_MORE(l->placed, l->placed_count, l->placed_cap);
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

	PF_ROOM(g->tracks, g->track_cap, g->track_count + 1);
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
	PF_AUTO(pf_cursor_freed)
	struct pf_cursor *c = pf_cursor_new(
		l->db, track->id,
		PF_COLBIT(PF_COL_START) | PF_COLBIT(PF_COL_DUR) |
			PF_COLBIT(PF_COL_NAME) | PF_COLBIT(PF_COL_TYPE) |
			PF_COLBIT(PF_COL_INLINE));
	struct pf_span span;
	int rc = 0;

	for (int g = 0; g < PF_SLICE_GROUPS; g++) {
		state.track[g] = open_track(
			&l->t->group[g], track, is_gpu,
			pf_redact_is_strict(l->redact) ? l->placed_count : 0);
		state.depths[g] = no_depths;
	}
	while (!rc && (rc = pf_cursor_next(c, &span, l->err)) == 1)
		rc = add_event(l, &span, is_gpu, &state, placed);
	for (int g = 0; g < PF_SLICE_GROUPS; g++)
		close_track(&l->t->group[g], &state.depths[g],
			    g == PF_SLICES_PYTHON);
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

	PF_ROOM(g->tracks, g->track_cap, g->track_count + 1);
	t = &g->tracks[g->track_count];
	*t = (struct pf_slice_track){ .track_id = track->id };
	if (pf_redact_is_strict(l->redact))
		pf_buf_addf(&t->label, "start/end ranges %u", track->id);
	else
		pf_buf_addf(&t->label, "start/end ranges of process %s",
			    track->pid);
	*d = no_depths;
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
	PF_AT_LEAST(track->depths, (uint32_t)depth + 1);
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
	PF_AUTO(pf_ints_freed) struct pf_ints *links = NULL;
	const int64_t *row;
	int rc;

	if (!g->count || !l->t->group[PF_SLICES_OPS].count)
		return 0;
	links = pf_ints_new(l->db, "gpu_links");
	PF_TRY(!links);
	g->link = pf_alloc((size_t)g->count * 4 + 1);
	memset(g->link, 0xff, (size_t)g->count * 4);
	while ((rc = pf_ints_next(links, &row, l->err)) == 1) {
		uint32_t work = find_slice(l, row[0]);
		uint32_t call = find_slice(l, row[1]);

		if (work < g->count && call < l->t->group[PF_SLICES_OPS].count)
			g->link[work] = g->count + call;
	}
	return rc;
}

/* GPU work is communication also by what launched it. */
static int mark_comm(struct loader *l)
{
	struct pf_slices *g = &l->t->group[PF_SLICES_GPU];
	PF_STMT(st) = NULL;
	int rc;

	if (!g->count)
		return 0;
	st = pf_named_prepare(l->db, "timeline_comm", l->err);
	sqlite3_bind_int64(st, 1, l->t->trace_id);
	while ((rc = pf_db_step(l->db, st, l->err)) == 1) {
		uint32_t work = find_slice(l, sqlite3_column_int64(st, 0));

		if (work < g->count && (g->cat[work] == PF_CAT_KERNEL ||
					g->cat[work] == PF_CAT_COPY))
			g->cat[work] = PF_CAT_COMM;
	}
	return rc;
}

/* ---- how much ---- */

static int count_groups(struct loader *l)
{
	PF_STMT(st) = pf_named_prepare(l->db, "timeline_kinds", l->err);
	int rc;

	sqlite3_bind_int64(st, 1, l->t->trace_id);
	while ((rc = pf_db_step(l->db, st, l->err)) == 1) {
		const char *key = pf_sqlite_text(st, 0);
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
			pf_sat_sum(&l->t->group[group].all,
				   sqlite3_column_int64(st, 1));
	}
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
	return rc || mark_comm(l) || add_links(l) ? -1 : 0;
}

static void release_loader(struct loader *l)
{
	for (size_t i = 0; i < l->placed_count; i++)
		free(l->placed[i].slice);
	free(l->placed);
	pf_texts_release(&l->table);
	pf_names_free(l->classes);
	pf_map_release(&l->names);
	pf_intern_release(&l->texts);
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
	PF_AUTO(release_loader)
	struct loader l = { .db = db,
			    .t = out,
			    .redact = redact,
			    .table = { .db = db },
			    .err = db->err };

	*out = (struct pf_timeline){ .trace_id = trace->trace_id,
				     .first_ns = trace->first_ns,
				     .last_ns = trace->last_ns };
	l.classes = pf_names_new(db);
	PF_TRY(!l.classes || count_groups(&l));
	choose(out, want, slices);
	PF_TRY(load_tracks(&l));
	keep_names(&l);
	return 0;
}

void pf_timeline_release(struct pf_timeline *t)
{
	for (int i = 0; i < PF_SLICE_GROUPS; i++) {
		struct pf_slices *g = &t->group[i];

		for (size_t k = 0; k < g->track_count; k++)
			pf_buf_release(&g->tracks[k].label);
		free(g->tracks);
		pf_slices_drop(g);
	}
	free(t->names);
	pf_buf_release(&t->texts);
	memset(t, 0, sizeof(*t));
}

/* ---- the critical path ---- */

/*
 * What runs is named and coloured as on its own track.  What lies between, as
 * a delay or a wait, is named by what it is: the works that it lies between
 * are its neighbours.
 */

#define PATH_LABEL "critical path"

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

	for (size_t i = 0; i < PF_LEN(cats); i++)
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

static bool runs(const struct pf_path_tile *tile)
{
	return tile->category <= PF_PATH_LAUNCH_CALL;
}

/* 1; 0: of times that a path cannot count there is none. */
static int find_path(struct pf_db *db, const struct pf_path_args *args,
		     struct pf_path *path)
{
	if (!pf_path_find(db, args, path))
		return 1;
	if (db->err->code != PF_EDATA)
		return -1;
	*db->err = (struct pf_err){ 0 };
	return 0;
}

/* ---- at a resolution ---- */

struct drawn_track {
	int64_t trace_id, rank, track_id;
	const char *group, *pid, *label;
	int64_t depths, events;
	/* Of counters, over all time: not numbers, and NULL, of others. */
	double least, most;
	const char *unit;
};

struct drawn_step {
	int64_t trace_id, rank, step, from_ns, to_ns;
};

struct drawn_slice {
	int64_t track, depth, start_ns, dur_ns, event_id, events, name;
	const char *class;
	int64_t order; /* of its track in the document */
};

/* What a counter was in a column; events 0: before it, and since. */
struct drawn_sample {
	int64_t track, start_ns, events;
	double least, most, last;
	int64_t order; /* of its track in the document */
};

struct drawn_name {
	int64_t name;
	const char *text;
};

struct drawn_class {
	const char *class;
};

struct drawn_figures {
	int64_t pixels, from_ns, to_ns, events, slices, without_length,
		too_deep;
};

static const struct pf_field drawn_figures[] = {
	PF_FIELD(struct drawn_figures, pixels, "Columns", PF_COUNT),
	PF_FIELD(struct drawn_figures, from_ns, "From", PF_NS),
	PF_FIELD(struct drawn_figures, to_ns, "To", PF_NS),
	PF_FIELD(struct drawn_figures, events, "Events", PF_COUNT),
	PF_FIELD(struct drawn_figures, slices, "Drawn", PF_COUNT),
	PF_FIELD(struct drawn_figures, without_length,
		 "Beside them without a length", PF_COUNT),
	PF_FIELD(struct drawn_figures, too_deep, "Left out: nested too deep",
		 PF_COUNT),
};

static const struct pf_field drawn_tracks[] = {
	PF_FIELD(struct drawn_track, trace_id, "Trace", PF_INT),
	PF_FIELD(struct drawn_track, rank, "Rank", PF_INT | PF_KNOWN),
	PF_FIELD(struct drawn_track, track_id, "track", "Number", PF_INT),
	PF_FIELD(struct drawn_track, group, "Of", PF_TEXT | PF_OURS),
	PF_FIELD(struct drawn_track, pid, "Process", PF_TEXT),
	PF_FIELD(struct drawn_track, label, "Track", PF_TEXT),
	PF_FIELD(struct drawn_track, depths, "Depths", PF_COUNT),
	PF_FIELD(struct drawn_track, events, "Events", PF_COUNT),
	PF_FIELD(struct drawn_track, least, "Least", PF_REAL | PF_FULL),
	PF_FIELD(struct drawn_track, most, "Most", PF_REAL | PF_FULL),
	PF_FIELD(struct drawn_track, unit, "Unit", PF_TEXT | PF_FULL),
};

static const struct pf_field drawn_steps[] = {
	PF_FIELD(struct drawn_step, trace_id, "Trace", PF_INT),
	PF_FIELD(struct drawn_step, rank, "Rank", PF_INT | PF_KNOWN),
	PF_FIELD(struct drawn_step, step, "Step", PF_INT),
	PF_FIELD(struct drawn_step, from_ns, "From", PF_NS),
	PF_FIELD(struct drawn_step, to_ns, "To", PF_NS),
};

static const struct pf_field drawn_slices[] = {
	PF_FIELD(struct drawn_slice, track, "Track", PF_INT),
	PF_FIELD(struct drawn_slice, depth, "Depth", PF_INT),
	PF_FIELD(struct drawn_slice, start_ns, "Start", PF_NS),
	PF_FIELD(struct drawn_slice, dur_ns, "Time", PF_NS),
	PF_FIELD(struct drawn_slice, events, "Events", PF_COUNT),
	PF_FIELD(struct drawn_slice, class, "Class", PF_TEXT | PF_OURS),
	PF_FIELD(struct drawn_slice, name, "Name", PF_INT),
	PF_FIELD(struct drawn_slice, event_id, "Event", PF_INT | PF_KNOWN),
};

static const struct pf_field drawn_samples[] = {
	PF_FIELD(struct drawn_sample, track, "Track", PF_INT),
	PF_FIELD(struct drawn_sample, start_ns, "From", PF_NS),
	PF_FIELD(struct drawn_sample, events, "Samples", PF_COUNT),
	PF_FIELD(struct drawn_sample, least, "Least", PF_REAL),
	PF_FIELD(struct drawn_sample, most, "Most", PF_REAL),
	PF_FIELD(struct drawn_sample, last, "Last", PF_REAL),
};

static const struct pf_field drawn_names[] = {
	PF_FIELD(struct drawn_name, name, "Number", PF_INT),
	PF_FIELD(struct drawn_name, text, "Name", PF_TEXT),
};

static const struct pf_field drawn_classes[] = {
	PF_FIELD(struct drawn_class, class, "Class", PF_TEXT | PF_OURS),
};

PF_ORDER(by_place, struct drawn_slice,
	 PF_UP(order) PF_UP(depth) PF_UP(start_ns) PF_UP(event_id) PF_UP(dur_ns)
		 PF_UP(name))

PF_ORDER(by_track, struct drawn_sample, PF_UP(order) PF_UP(start_ns))

/* What a depth of a track has in the column that is being filled. */
struct drawn_row {
	int64_t from_ns, to_ns; /* of the column, after lo_ns */
	int64_t cover_ns, events;
	int64_t filled_ns; /* of the column, by all events */
	struct drawn_slice best;
	uint8_t cat;
	size_t last; /* its last slice + 1 */
};

struct canvas {
	struct loader l;
	struct drawn_figures figures;
	const struct pf_window_trace *trace;
	int64_t lo_ns, hi_ns, len_ns; /* len: of the pixels, hi <= lo + len */
	int64_t column_ns;            /* or 0 */
	bool stays;                   /* the database, for other windows */
	struct drawn_track *tracks;
	struct drawn_slice *slices;
	struct drawn_step *steps;
	struct drawn_sample *samples;
	struct drawn_name *names;
	size_t name_count;
	size_t track_count, track_cap, slice_count, slice_cap, step_count,
		step_cap, sample_count, sample_cap;
	struct pf_arena texts;
	/* of the track that is drawn */
	struct depths depths;
	bool is_filled; /* columns that are filled less than half stay empty */
	struct drawn_row *rows;
	size_t row_count, row_cap;
};

/* The event that a column was given to becomes a slice, or more of one. */
static void end_column(struct canvas *c, struct drawn_row *r)
{
	struct drawn_slice *last = r->last ? &c->slices[r->last - 1] : NULL;
	int64_t filled_ns = r->filled_ns, cover_ns = r->cover_ns;

	r->filled_ns = 0;
	r->cover_ns = -1;
	if (cover_ns < 0 ||
	    (c->is_filled &&
	     (__int128)filled_ns * 2 * c->figures.pixels < c->len_ns))
		return;
	if (last && last->event_id == r->best.event_id &&
	    last->start_ns == r->best.start_ns &&
	    last->dur_ns == r->best.dur_ns) {
		last->events += r->events;
	} else {
		*PF_ONE_MORE(c->slices, c->slice_count, c->slice_cap) = r->best;
		r->last = c->slice_count;
		c->slices[r->last - 1].events = r->events;
		c->slices[r->last - 1].class = pf_slice_cats[r->cat];
	}
	r->events = 0;
}

/* An event of a depth, which may be the longest in a column. */
static int offer(struct canvas *c, struct drawn_row *r, int64_t cover_ns,
		 const struct pf_span *s, unsigned kind, int64_t event_id)
{
	uint32_t name;

	pf_sat_sum(&r->filled_ns, cover_ns);
	if (cover_ns <= r->cover_ns)
		return 0;
	r->cover_ns = cover_ns;
	PF_TRY(find_name(&c->l, s, kind, &name, &r->cat));
	r->cat &= (uint8_t)~WAITS;
	r->best = (struct drawn_slice){
		.track = c->tracks[c->track_count].track_id,
		.depth = r - c->rows,
		.start_ns = s->start_ns - c->trace->first_ns,
		.dur_ns = s->dur_ns,
		.event_id = event_id,
		.name = name,
		.order = (int64_t)c->track_count,
	};
	return 0;
}

/* (n * by + more) / of, of numbers that are not negative. */
static int64_t scale(int64_t n, int64_t by, int64_t more, int64_t of)
{
	int64_t all;

	if (__builtin_mul_overflow(n, by, &all) ||
	    __builtin_add_overflow(all, more, &all))
		return (int64_t)(((__int128)n * by + more) / of);
	return all / of;
}

static int64_t column_of(const struct canvas *c, int64_t after_lo_ns)
{
	return scale(after_lo_ns, c->figures.pixels, 0, c->len_ns);
}

/* Where a column begins: the first instant that is in it. */
static int64_t column_from(const struct canvas *c, int64_t column)
{
	return scale(column, c->len_ns, c->figures.pixels - 1,
		     c->figures.pixels);
}

/* To the column that an instant is in; most are in the one that is filled. */
static void go_to_column(struct canvas *c, struct drawn_row *r,
			 int64_t after_lo_ns)
{
	int64_t column;

	if (after_lo_ns >= r->from_ns && after_lo_ns < r->to_ns)
		return;
	end_column(c, r);
	column = column_of(c, after_lo_ns);
	r->from_ns = column_from(c, column);
	r->to_ns = column_from(c, column + 1);
}

static struct drawn_row *row_at(struct canvas *c, size_t depth)
{
	while (c->row_count <= depth) {
		*PF_ONE_MORE(c->rows, c->row_count, c->row_cap) =
			(struct drawn_row){ .cover_ns = -1 };
	}
	return &c->rows[depth];
}

static int64_t lesser(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/*
 * An event that overlaps the window, at its depth; "events" have begun with it.
 * The columns between its first and its last are full of it.
 */
static int draw_at(struct canvas *c, size_t depth, const struct pf_span *s,
		   unsigned kind, int64_t event_id, int64_t events)
{
	int64_t from = s->start_ns, to = s->start_ns + s->dur_ns;
	struct drawn_row *r = row_at(c, depth);

	from = (from < c->lo_ns ? c->lo_ns : from) - c->lo_ns;
	to = lesser(to, c->hi_ns) - c->lo_ns;
	go_to_column(c, r, from);
	PF_TRY(offer(c, r, lesser(to, r->to_ns) - from, s, kind, event_id));
	r->events += events;
	if (to > r->to_ns) {
		go_to_column(c, r, r->to_ns);
		PF_TRY(offer(c, r, lesser(to, r->to_ns) - r->from_ns, s, kind,
			     event_id));
	}
	if (to > r->to_ns) {
		go_to_column(c, r, to - 1);
		PF_TRY(offer(c, r, to - r->from_ns, s, kind, event_id));
	}
	c->tracks[c->track_count].events += events;
	return 0;
}

static int draw(struct canvas *c, const struct pf_span *s, unsigned kind,
		int64_t event_id)
{
	int64_t from = s->start_ns, to;
	int depth;

	if (s->dur_ns < 0 || __builtin_add_overflow(from, s->dur_ns, &to) ||
	    from >= c->hi_ns || (to <= c->lo_ns && from < c->lo_ns))
		return 0;
	depth = push(&c->depths, from, to, false);
	if (depth < 0) {
		c->figures.too_deep++;
		return 0;
	}
	return draw_at(c, (size_t)depth, s, kind, event_id, 1);
}

static void begin_track(struct canvas *c, int64_t number, const char *pid,
			const char *group, const char *label)
{
	PF_ROOM(c->tracks, c->track_cap, c->track_count + 1);
	c->tracks[c->track_count] = (struct drawn_track){
		.trace_id = c->trace->trace_id,
		.rank = c->trace->rank,
		.track_id = number,
		.group = group,
		.pid = pf_arena_string(&c->texts, pid),
		.label = pf_arena_string(&c->texts, label),
		.least = NAN,
		.most = NAN,
	};
	c->depths = no_depths;
	c->is_filled = false;
	c->row_count = 0;
}

static void end_track(struct canvas *c)
{
	for (size_t i = 0; i < c->row_count; i++)
		end_column(c, &c->rows[i]);
	pf_nest_release(&c->depths.nest);
	c->tracks[c->track_count].depths = (int64_t)c->row_count;
	c->figures.events += c->tracks[c->track_count].events;
	c->track_count++;
}

/* Does it stand on a track of the timeline? */
static bool is_shown(unsigned kind, bool is_gpu)
{
	return group_of(kind, is_gpu) >= 0 || kind == PF_KIND_INSTANT ||
	       kind == PF_KIND_OOM;
}

/* ---- levels ---- */

/*
 * What stays of a long track while its database is open: of each bucket of
 * time, at each depth, the last event that begins in it, the longest of the
 * others, and how many there are.  It is all that is drawn in columns that
 * begin and end where buckets do: at one depth no two events overlap, so only
 * the last reaches beyond its bucket.
 */
#define LEVEL_EVENTS  65536              /* tracks of fewer are read as fast */
#define LEVEL_SPLIT   131072             /* of the time of a track, at most */
#define LEVEL_BUCKETS (INT64_C(1) << 19) /* of all tracks: 28 MB */
#define LEVEL_LEAST   512                /* of one, more than depths */
#define LEVEL_OTHERS  PF_SLICE_DEPTHS    /* "depth" of what has no length */

struct bucket_event {
	int64_t after_ns, dur_ns; /* after the first event of the trace */
	uint32_t seq;
	uint32_t name_kind; /* name << 8 | kind */
};

struct bucket {
	struct bucket_event longest, last;
	uint32_t events;
};

struct level {
	int64_t first_ns; /* of the trace */
	int shift;        /* a bucket is 1 << shift ns; 0: there is no level */
	struct {
		struct bucket *items; /* those that have an event */
		size_t count, cap;
	} rows[LEVEL_OTHERS + 1];
	/*
	 * Where a bucket begins, does one that has ended still take a depth?
	 * Who begins to read there does not know of it.
	 */
	bool *is_tangled;
	/* while it is made */
	struct pf_names *classes;
	struct depths depths;
	int64_t count, most, steps;
	bool is_gpu, is_none;
};

static void drop_level(struct level *l)
{
	for (size_t i = 0; i <= LEVEL_OTHERS; i++)
		free(l->rows[i].items);
	free(l->is_tangled);
	*l = (struct level){ 0 };
}

static void free_level(void *p)
{
	drop_level(p);
	free(p);
}

static int64_t bucket_of(const struct level *l, const struct bucket *b)
{
	return b->last.after_ns >> l->shift;
}

/* Of equal length the earlier. */
static void join_buckets(struct bucket *a, const struct bucket *b)
{
	if (a->events == 1 || a->last.dur_ns > a->longest.dur_ns)
		a->longest = a->last;
	if (b->events > 1 && b->longest.dur_ns > a->longest.dur_ns)
		a->longest = b->longest;
	a->last = b->last;
	a->events += b->events;
}

/* Buckets of twice the length. */
static void coarsen(struct level *l)
{
	l->shift++;
	l->count = 0;
	for (size_t i = 0; i <= LEVEL_OTHERS; i++) {
		struct bucket *b = l->rows[i].items;
		size_t n = 0;

		for (size_t k = 0; k < l->rows[i].count; k++)
			if (n && bucket_of(l, &b[n - 1]) == bucket_of(l, &b[k]))
				join_buckets(&b[n - 1], &b[k]);
			else
				b[n++] = b[k];
		l->rows[i].count = n;
		l->count += (int64_t)n;
	}
	for (size_t i = 0; i < LEVEL_SPLIT; i++)
		l->is_tangled[i] = 2 * i < LEVEL_SPLIT && l->is_tangled[2 * i];
}

static void add_to_level(struct level *l, size_t depth,
			 const struct bucket *one)
{
	struct bucket *last;

	while (l->count >= l->most)
		coarsen(l);
	last = l->rows[depth].items + l->rows[depth].count;
	if (l->rows[depth].count &&
	    bucket_of(l, last - 1) == bucket_of(l, one)) {
		join_buckets(last - 1, one);
		return;
	}
	*PF_ONE_MORE(l->rows[depth].items, l->rows[depth].count,
		     l->rows[depth].cap) = *one;
	l->count++;
}

/* Below what has just begun is one that ends before: until then it is there. */
static int note_tangle(struct level *l, int64_t from_ns, int64_t to_ns)
{
	int64_t i = ((from_ns - l->first_ns - 1) >> l->shift) + 1;
	int64_t last =
		lesser((to_ns - l->first_ns - 1) >> l->shift, LEVEL_SPLIT - 1);

	for (; i <= last; i++, l->steps++)
		l->is_tangled[i] = true;
	return l->steps > INT64_C(64) * LEVEL_SPLIT ? -1 : 0;
}

/* Depths are those of who reads the whole; -1: there are none. */
static int find_depth(struct level *l, int64_t start_ns, int64_t end_ns)
{
	int depth = push(&l->depths, start_ns, end_ns, false);
	const struct open *under;

	if (depth <= 0)
		return depth;
	under = pf_nest_at(&l->depths.nest, (size_t)depth - 1);
	PF_TRY(under->end_ns < end_ns &&
	       note_tangle(l, under->end_ns, end_ns) < 0);
	return depth;
}

static int take_event(void *context, const struct pf_block *b, uint32_t i,
		      int64_t event_id)
{
	struct level *l = context;
	const unsigned kind = pf_names_kind(l->classes, b->type[i]);
	const int64_t start = b->start_ns[i], dur = b->dur_ns[i];
	struct bucket one = { .events = 1 };
	int depth = LEVEL_OTHERS;
	int64_t after, end, ends_after;

	l->is_none = __builtin_sub_overflow(start, l->first_ns, &after) ||
		     after < 0 || after >> l->shift >= LEVEL_SPLIT ||
		     b->name[i] >> 24;
	if (!l->is_none && is_shown(kind, l->is_gpu)) {
		if (dur < 0 || __builtin_add_overflow(start, dur, &end))
			return 0;
		l->is_none =
			__builtin_sub_overflow(end, l->first_ns, &ends_after) ||
			(depth = find_depth(l, start, end)) < 0;
	}
	if (l->is_none)
		return -1;
	one.last = (struct bucket_event){ after, dur, (uint32_t)event_id,
					  b->name[i] << 8 | kind };
	add_to_level(l, (size_t)depth, &one);
	return 0;
}

static int fill_level(struct pf_db *db, struct level *l,
		      const struct pf_track *track, int64_t events)
{
	const struct pf_track_reader reader = { .event = take_event };
	int64_t most = (int64_t)((__int128)LEVEL_BUCKETS * track->event_count /
				 (events + 1));
	int rc;

	l->most = most > LEVEL_LEAST ? most : LEVEL_LEAST;
	l->is_gpu = !strcmp(track->class_name, "gpu");
	l->is_tangled = pf_calloc(LEVEL_SPLIT, sizeof(*l->is_tangled));
	for (l->shift = 1;
	     (track->last_ns - l->first_ns) >> l->shift >= LEVEL_SPLIT;)
		l->shift++;
	l->depths = no_depths;
	l->classes = pf_names_new(db);
	rc = l->classes ? pf_track_read(db, track, &reader, l) : -1;
	pf_names_free(l->classes);
	pf_nest_release(&l->depths.nest);
	if (!l->is_none)
		return rc;
	drop_level(l);
	return 0;
}

/* Arg: the track, and when its trace begins. */
static void *make_level(struct pf_db *db, const char *arg)
{
	struct level *l = pf_calloc(1, sizeof(*l));
	struct pf_track *tracks = NULL;
	char *end;
	unsigned long id = strtoul(arg, &end, 10);
	int64_t events = 0;
	size_t count = 0;
	int rc = pf_tracks_load(db, 0, &tracks, &count, db->err);

	l->first_ns = strtoll(end, NULL, 10);
	for (size_t i = 0; i < count; i++)
		pf_sat_sum(&events, tracks[i].event_count);
	for (size_t i = 0; i < count && !rc; i++)
		if (tracks[i].id == id)
			rc = fill_level(db, l, &tracks[i], events);
	pf_tracks_free(tracks, count);
	if (!rc)
		return l;
	free_level(l);
	return NULL;
}

/* 1: it has what is to be drawn; 0: the track is to be read; or -1. */
static int find_level(struct canvas *c, const struct pf_track *track,
		      const struct level **out)
{
	const int64_t first = c->trace->first_ns, lo = c->lo_ns - first;
	const struct level *l;
	int64_t in;

	if (!c->stays || track->event_count < LEVEL_EVENTS ||
	    __builtin_sub_overflow(track->last_ns, first, &in) ||
	    c->column_ns < in / LEVEL_SPLIT)
		return 0;
	l = *out = pf_memo_get(
		c->l.db, make_level, free_level,
		PF_PRINTED(64, "%" PRIu32 " %" PRId64, track->id, first));
	PF_TRY(!l);
	in = (INT64_C(1) << l->shift) - 1;
	return l->shift && !(c->column_ns & in) && !(lo & in) &&
	       (!((c->hi_ns - first) & in) || c->hi_ns > c->trace->last_ns) &&
	       lo >> l->shift < LEVEL_SPLIT && !l->is_tangled[lo >> l->shift];
}

static int draw_kept(struct canvas *c, size_t depth, uint32_t track,
		     const struct bucket_event *e, int64_t events)
{
	const struct pf_span s = {
		.start_ns = c->trace->first_ns + e->after_ns,
		.dur_ns = e->dur_ns,
		.name = e->name_kind >> 8,
	};

	return draw_at(c, depth, &s, e->name_kind & 0xff,
		       (int64_t)((uint64_t)track << 32 | e->seq), events);
}

static int draw_level(struct canvas *c, const struct level *l, uint32_t track)
{
	const int64_t lo = c->lo_ns - l->first_ns, hi = c->hi_ns - l->first_ns;

	for (size_t depth = 0; depth <= LEVEL_OTHERS; depth++) {
		const struct bucket *b = l->rows[depth].items;
		const size_t count = l->rows[depth].count;
		size_t i = PF_SEARCH(k, count, b[k].last.after_ns < lo);

		if (depth < LEVEL_OTHERS && i &&
		    b[i - 1].last.after_ns + b[i - 1].last.dur_ns > lo)
			PF_TRY(draw_kept(c, depth, track, &b[i - 1].last, 1));
		for (; i < count && b[i].last.after_ns < hi; i++) {
			if (depth == LEVEL_OTHERS) {
				c->figures.without_length += b[i].events;
				continue;
			}
			if (b[i].events > 1)
				PF_TRY(draw_kept(c, depth, track, &b[i].longest,
						 b[i].events - 1));
			PF_TRY(draw_kept(c, depth, track, &b[i].last, 1));
		}
	}
	return 0;
}

/* ---- tracks ---- */

static int read_track(struct canvas *c, const struct pf_track *track,
		      bool is_gpu)
{
	PF_AUTO(pf_cursor_freed)
	struct pf_cursor *cursor = pf_cursor_new(
		c->l.db, track->id,
		PF_COLBIT(PF_COL_START) | PF_COLBIT(PF_COL_DUR) |
			PF_COLBIT(PF_COL_NAME) | PF_COLBIT(PF_COL_TYPE) |
			PF_COLBIT(PF_COL_INLINE));
	struct pf_span s;
	int rc = 0;

	/* what begins and ends at lo_ns is in, too */
	pf_cursor_overlap(cursor, c->lo_ns - (c->lo_ns > INT64_MIN), c->hi_ns);
	while (!rc && (rc = pf_cursor_next(cursor, &s, c->l.err)) == 1) {
		unsigned kind = pf_names_kind(c->l.classes, s.type);

		if (is_shown(kind, is_gpu)) {
			rc = draw(c, &s, kind,
				  (int64_t)((uint64_t)track->id << 32 | s.seq));
		} else {
			c->figures.without_length +=
				s.start_ns >= c->lo_ns && s.start_ns < c->hi_ns;
			rc = 0;
		}
		if (s.start_ns >= c->hi_ns)
			break;
	}
	return rc;
}

static int draw_track(struct canvas *c, const struct pf_track *track,
		      bool is_gpu)
{
	struct pf_slice_track named = { 0 };
	const struct level *level;
	int rc = find_level(c, track, &level);

	add_label(&named, track, is_gpu, 0);
	begin_track(c, track->id, track->pid, is_gpu ? "gpu" : "host",
		    named.label.data);
	pf_buf_release(&named.label);
	if (rc >= 0)
		rc = rc ? draw_level(c, level, track->id)
			: read_track(c, track, is_gpu);
	end_track(c);
	return rc;
}

static int draw_lanes(struct canvas *c, const struct pf_track *tracks,
		      size_t count)
{
	struct pf_async_range a;
	struct pf_async all;
	uint32_t lane = 0;
	int rc = pf_async_open(&all, c->l.db, c->trace->trace_id);

	while (!rc && (rc = pf_async_next(&all, &a)) == 1) {
		const struct pf_span s = {
			.start_ns = a.start_ns,
			.dur_ns = a.dur_ns,
			.name = PF_ID_INLINE,
			.inline_name = a.name,
			.inline_name_len = (uint32_t)strlen(a.name),
		};

		if (lane != a.track_id && lane)
			end_track(c);
		if (lane != a.track_id)
			begin_track(c, a.track_id,
				    track_of(tracks, count, a.track_id)->pid,
				    "ranges", "start/end ranges");
		lane = a.track_id;
		rc = draw(c, &s, PF_KIND_ANNOTATION, -1);
	}
	if (lane)
		end_track(c);
	pf_async_close(&all);
	return rc;
}

/* Work that operators of communication launched: events, in order. */
struct comm_work {
	int64_t *ids;
	size_t count, cap;
};

PF_ORDER(by_id, int64_t, PF_UP_VALUE)

static void free_comm(void *p)
{
	free(((struct comm_work *)p)->ids);
	free(p);
}

/* Arg: the trace. */
static void *load_comm(struct pf_db *db, const char *arg)
{
	struct comm_work *w = pf_calloc(1, sizeof(*w));
	PF_STMT(st) = pf_named_prepare(db, "timeline_comm", db->err);
	int rc;

	sqlite3_bind_int64(st, 1, strtoll(arg, NULL, 10));
	while ((rc = pf_db_step(db, st, db->err)) == 1)
		*PF_ONE_MORE(w->ids, w->count, w->cap) =
			sqlite3_column_int64(st, 0);
	pf_sort(w->ids, w->count, sizeof(*w->ids), by_id);
	if (!rc)
		return w;
	free_comm(w);
	return NULL;
}

/* Such work is of the colour of communication. */
static int colour_comm(struct canvas *c, size_t from)
{
	static const char *const is[] = { "kernel", "copy" };
	const struct comm_work *w;

	w = pf_memo_get(c->l.db, load_comm, free_comm,
			PF_PRINTED(24, "%" PRId64, c->trace->trace_id));
	for (size_t i = from; w && i < c->slice_count; i++) {
		struct drawn_slice *s = &c->slices[i];
		size_t k;

		if (strcmp(s->class, is[0]) != 0 &&
		    strcmp(s->class, is[1]) != 0)
			continue;
		k = PF_SEARCH(n, w->count, w->ids[n] < s->event_id);
		if (k < w->count && w->ids[k] == s->event_id)
			s->class = pf_slice_cats[PF_CAT_COMM];
	}
	return w ? 0 : -1;
}

/* Of steps that begin in the same column the first. */
static void draw_steps(struct canvas *c, const struct pf_steps *steps)
{
	const int64_t id = c->trace->trace_id, first = c->trace->first_ns;
	int64_t drawn = -1;

	for (size_t i = pf_steps_first(steps, id); pf_steps_is_of(steps, i, id);
	     i++) {
		const struct pf_step *s = &steps->items[i];
		int64_t column;

		if (s->host_start_ns >= c->hi_ns || s->host_end_ns <= c->lo_ns)
			continue;
		column = s->host_start_ns > c->lo_ns
				 ? column_of(c, s->host_start_ns - c->lo_ns)
				 : 0;
		if (column == drawn)
			continue;
		drawn = column;
		*PF_ONE_MORE(c->steps, c->step_count, c->step_cap) =
			(struct drawn_step){ id, c->trace->rank, s->step,
					     s->host_start_ns - first,
					     s->host_end_ns - first };
	}
}

/*
 * Tracks that no trace has: the idle time of a GPU by what most of each gap is
 * due to, and the critical path.  Their numbers are below 0.
 */
static int64_t number_of(const struct canvas *c, int64_t nth)
{
	return -(c->trace->trace_id * 65536 + nth);
}

struct idle_gap {
	int64_t device, start_ns, end_ns;
	enum pf_cause cause;
};
PF_ORDER(by_device, struct idle_gap, PF_UP(device) PF_UP(start_ns))

struct idle {
	struct pf_gap_sink sink; /* first */
	struct idle_gap *gaps;
	size_t count, cap;
	int64_t cause_ns[PF_CAUSE_COUNT]; /* of the gap at hand */
};

static void take_piece(struct pf_gap_sink *sink, const struct pf_gap *gap,
		       const struct pf_place *place, int64_t ns)
{
	(void)gap;
	((struct idle *)sink)->cause_ns[place->cause] += ns;
}

static void take_gap(struct pf_gap_sink *sink, const struct pf_gap *gap)
{
	struct idle *idle = (struct idle *)sink;
	size_t cause = 0;

	for (size_t i = 1; i < PF_CAUSE_COUNT; i++)
		if (idle->cause_ns[i] > idle->cause_ns[cause])
			cause = i;
	memset(idle->cause_ns, 0, sizeof(idle->cause_ns));
	*PF_ONE_MORE(idle->gaps, idle->count, idle->cap) =
		(struct idle_gap){ gap->device, gap->start_ns, gap->end_ns,
				   (enum pf_cause)cause };
}

static enum pf_slice_cat cause_cat(enum pf_cause cause)
{
	switch ((unsigned)cause) {
	case PF_CAUSE_SYNC:
	case PF_CAUSE_DATA:
	case PF_CAUSE_DEPENDENCY:
		return PF_CAT_WAIT;
	case PF_CAUSE_COPY:
		return PF_CAT_COPY;
	case PF_CAUSE_COMM:
		return PF_CAT_COMM;
	case PF_CAUSE_ALLOCATOR:
	case PF_CAUSE_MODULE:
	case PF_CAUSE_RUNTIME:
	case PF_CAUSE_LAUNCH:
		return PF_CAT_RUNTIME;
	case PF_CAUSE_OP:
		return PF_CAT_OP;
	case PF_CAUSE_PYTHON:
	case PF_CAUSE_GC:
		return PF_CAT_PYTHON;
	default:
		return PF_CAT_OTHER;
	}
}

/* What is named by us. */
static int draw_made(struct canvas *c, int64_t start_ns, int64_t end_ns,
		     const char *name, enum pf_slice_cat cat)
{
	const struct pf_span s = {
		.start_ns = start_ns,
		.dur_ns = end_ns - start_ns,
		.name = PF_ID_INLINE,
		.inline_name = name,
		.inline_name_len = (uint32_t)strlen(name),
	};

	return draw(c, &s, KIND_OF(cat), -1);
}

static int draw_idle(struct canvas *c, const struct pf_window *w, size_t trace)
{
	struct idle idle = { .sink = { .piece = take_piece, .gap = take_gap } };
	struct pf_window_trace its = w->traces[trace];
	struct pf_window one = *w;
	const struct pf_pageable *pageable = pf_pageable(c->l.db);
	int64_t step_count;
	int rc;

	one.traces = &its;
	one.count = 1;
	rc = pageable ? pf_window_to_steps(c->l.db, &one, &step_count, NULL)
		      : -1;
	if (!rc)
		rc = pf_gap_find(c->l.db, &one, c->l.classes, pageable,
				 PF_GAPS_MICRO_NS, &idle.sink);
	pf_sort(idle.gaps, idle.count, sizeof(*idle.gaps), by_device);
	for (size_t i = 0; i < idle.count && !rc; i++) {
		const struct idle_gap *g = &idle.gaps[i];

		if (!i || g[-1].device != g->device) {
			if (i)
				end_track(c);
			begin_track(c, number_of(c, g->device + 2), "", "idle",
				    PF_PRINTED(48, "%s %" PRId64 ", idle",
					       pf_window_device(w), g->device));
			c->is_filled = true;
		}
		rc = draw_made(c, g->start_ns, g->end_ns,
			       pf_cause_name(g->cause), cause_cat(g->cause));
	}
	if (idle.count)
		end_track(c);
	free(idle.gaps);
	return rc;
}

/* The path is that of the window. */
struct drawn_path {
	struct pf_path_sink sink; /* first */
	struct canvas *c;
};

static int draw_tile(struct pf_path_sink *sink, const struct pf_path_tile *tile,
		     struct pf_err *err)
{
	struct canvas *c = ((struct drawn_path *)sink)->c;
	const struct pf_span s = { .start_ns = tile->start_ns,
				   .dur_ns = tile->end_ns - tile->start_ns,
				   .name = tile->name };

	(void)err;
	if (runs(tile) && tile->name != PF_ID_NONE)
		return draw(c, &s, KIND_OF(cat_of(tile)), -1);
	return draw_made(c, tile->start_ns, tile->end_ns,
			 pf_path_category_name(tile->category), cat_of(tile));
}

static int draw_path(struct canvas *c, const struct pf_window_args *window)
{
	struct drawn_path drawn = { { .tile = draw_tile }, c };
	struct pf_path_args args = { .window = *window,
				     .is_bare = true,
				     .also = &drawn.sink };
	PF_AUTO(pf_path_release) struct pf_path path = { 0 };
	int rc;

	args.window.trace = c->trace->trace_id;
	args.window.rank = NULL;
	begin_track(c, number_of(c, 0), "", "path", PATH_LABEL);
	rc = find_path(c->l.db, &args, &path);
	end_track(c);
	return rc < 0 ? rc : 0;
}

static bool is_drawn(const struct pf_window *w, enum pf_drawn_tracks which,
		     const struct pf_track *track, bool is_gpu)
{
	if (which != PF_DRAWN_ALL && is_gpu != (which == PF_DRAWN_GPU))
		return false;
	return (is_gpu &&
		(w->device < 0 || pf_work_device(track) == w->device)) ||
	       !strcmp(track->class_name, "host");
}

/* GPU tracks first, each kind in the order of the trace. */
static int draw_trace(struct canvas *c, const struct pf_window *w,
		      enum pf_drawn_tracks which)
{
	struct pf_track *tracks = NULL;
	size_t count = 0, from = c->slice_count;
	int rc = pf_tracks_load(c->l.db, c->trace->trace_id, &tracks, &count,
				c->l.err);

	for (int gpu = 1; gpu >= 0; gpu--)
		for (size_t i = 0; i < count && !rc; i++) {
			bool is_gpu = !strcmp(tracks[i].class_name, "gpu");

			if (is_gpu == gpu &&
			    is_drawn(w, which, &tracks[i], is_gpu))
				rc = draw_track(c, &tracks[i], is_gpu);
		}
	if (!rc)
		rc = colour_comm(c, from);
	if (!rc && which != PF_DRAWN_GPU)
		rc = draw_lanes(c, tracks, count);
	pf_tracks_free(tracks, count);
	return rc;
}

/*
 * The part of a trace that is drawn, which has an event or is empty; times
 * after the first event are no larger than INT64_MAX.
 */
static void set_part(struct canvas *c, const struct pf_window_trace *t)
{
	int64_t end;

	if (__builtin_add_overflow(t->first_ns, INT64_MAX, &end) ||
	    t->last_ns < end)
		end = t->last_ns < INT64_MAX ? t->last_ns + 1 : INT64_MAX;
	c->trace = t;
	c->lo_ns = t->from_ns > t->first_ns ? t->from_ns : t->first_ns;
	c->hi_ns = t->to_ns < end ? t->to_ns : end;
	PF_AT_LEAST(c->hi_ns, c->lo_ns);
}

/* ---- counters ---- */

#define GRAPHS_MAX 1000u /* those of more series are not drawn */
#define GRAPHS_AT  32768 /* behind the GPUs: numbers of tracks */

struct graph {
	size_t track; /* place + 1; 0: nothing was said of it */
	size_t last;  /* its last sample + 1 */
	int64_t column;
	double before; /* the last value before the window; or not a number */
};

struct graphs {
	struct canvas *c;
	const struct pf_window *w;
	struct graph *items;
	size_t count, cap;
	size_t level_count; /* graphs of memory: the first ones */
};

struct levels {
	struct pf_level_sink sink; /* first */
	struct graphs *g;
};
struct samples {
	struct pf_counter_sink sink; /* first */
	struct graphs *g;
};

/* Find a graph; NULL: there are too many, or it is of no trace of the window. */
static struct graph *graph_at(struct graphs *g, size_t n,
			      const struct pf_window_trace *trace)
{
	trace = pf_window_find(g->w, trace->trace_id);
	if (!trace || n >= GRAPHS_MAX)
		return NULL;
	set_part(g->c, trace);
	while (g->count <= n) {
		*PF_ONE_MORE(g->items, g->count, g->cap) =
			(struct graph){ .before = NAN };
	}
	return &g->items[n];
}

static void name_graph(struct graphs *g, struct graph *graph, const char *pid,
		       const char *label, const char *unit)
{
	struct canvas *c = g->c;

	begin_track(c, number_of(c, GRAPHS_AT + (graph - g->items)), pid,
		    "counter", label);
	c->tracks[c->track_count].unit = unit;
	graph->track = ++c->track_count;
}

static struct drawn_sample *add_sample(struct canvas *c, struct graph *graph,
				       int64_t at_ns, double value)
{
	*PF_ONE_MORE(c->samples, c->sample_count, c->sample_cap) =
		(struct drawn_sample){
			.track = c->tracks[graph->track - 1].track_id,
			.start_ns = at_ns - c->trace->first_ns,
			.least = value,
			.most = value,
			.last = value,
			.order = (int64_t)graph->track,
		};
	graph->last = c->sample_count;
	return &c->samples[c->sample_count - 1];
}

/* What was before the window holds from its start. */
static void begin_graph(struct canvas *c, struct graph *graph)
{
	if (!graph->last && !isnan(graph->before))
		add_sample(c, graph, c->lo_ns, graph->before);
}

static void draw_value(struct canvas *c, struct graph *graph, int64_t at_ns,
		       double value)
{
	struct drawn_track *track = &c->tracks[graph->track - 1];
	struct drawn_sample *s;
	int64_t column;

	track->least = fmin(track->least, value);
	track->most = fmax(track->most, value);
	if (at_ns < c->lo_ns)
		graph->before = value;
	if (at_ns < c->lo_ns || at_ns >= c->hi_ns)
		return;
	begin_graph(c, graph);
	column = column_of(c, at_ns - c->lo_ns);
	s = graph->last ? &c->samples[graph->last - 1] : NULL;
	if (!s || !s->events || column != graph->column)
		s = add_sample(c, graph, at_ns, value);
	graph->column = column;
	s->least = fmin(s->least, value);
	s->most = fmax(s->most, value);
	s->last = value;
	s->events++;
	track->events++;
	c->figures.events++;
}

static void take_level(struct pf_level_sink *sink,
		       const struct pf_usage_where *at, uint32_t device,
		       int64_t at_ns, int64_t level, int64_t reserved)
{
	static const char *const of[] = { "allocated", "reserved" };
	const int64_t values[] = { level, reserved };
	struct graphs *g = ((struct levels *)sink)->g;
	const struct pf_window_trace *trace =
		pf_window_find(g->w, at->trace_id);

	for (size_t i = 0; i < 2 && trace && !at->is_untimed; i++) {
		struct graph *graph =
			graph_at(g, 2 * (size_t)device + i, trace);

		if (!graph || values[i] == PF_NO_INT)
			continue;
		const char *label = PF_PRINTED(80, "%s, %s", at->device, of[i]);
		if (!graph->track)
			name_graph(g, graph, "", label, "bytes");
		draw_value(g->c, graph, at_ns, (double)values[i]);
	}
	PF_AT_LEAST(g->level_count, 2 * (size_t)device + 2);
}

static void take_sample(struct pf_counter_sink *sink,
			const struct pf_counter *of, int64_t at_ns,
			double value)
{
	struct graphs *g = ((struct samples *)sink)->g;
	struct graph *graph =
		graph_at(g, g->level_count + of->number, of->trace);
	PF_AUTO(pf_buf_release) struct pf_buf label = { 0 };

	if (!graph)
		return;
	if (!graph->track) {
		pf_buf_addf(&label, "%s%s%s", of->name, *of->key ? ", " : "",
			    of->key);
		name_graph(g, graph, of->track, label.data, NULL);
	}
	draw_value(g->c, graph, at_ns, value);
}

/* Memory first; both are asked of all time, as a value holds until the next. */
static int draw_counters(struct canvas *c, const struct pf_window *w,
			 const struct pf_window_args *window)
{
	struct graphs g = { .c = c, .w = w };
	struct levels levels = { { take_level }, &g };
	struct samples samples = { { take_sample }, &g };
	struct pf_usage_args memory = { .window = *window,
					.no_sites = true,
					.also = &levels.sink };
	struct pf_usage usage = { 0 };
	int rc;

	memory.window.from_ns = memory.window.to_ns = -1;
	memory.window.step = NULL;
	memory.window.skip_first = 0;
	rc = pf_usage_find(c->l.db, &memory, NULL, &usage);
	pf_usage_release(&usage);
	if (!rc)
		rc = pf_counters_tell(c->l.db, &memory.window, &samples.sink);
	for (size_t i = 0; i < g.count; i++) {
		if (!g.items[i].track)
			continue;
		set_part(c,
			 pf_window_find(
				 w, c->tracks[g.items[i].track - 1].trace_id));
		if (c->lo_ns < c->hi_ns)
			begin_graph(c, &g.items[i]);
	}
	free(g.items);
	return rc;
}

/* So many columns of a length that all of the time is in them. */
static int set_columns(struct canvas *c, int64_t column_ns)
{
	const int64_t count = (c->len_ns - 1) / column_ns + 1;

	if (count > PF_DRAWN_PIXELS ||
	    __builtin_mul_overflow(count, column_ns, &c->len_ns))
		return pf_fail(c->l.err, PF_EUSAGE,
			       "--column: more than %d columns",
			       PF_DRAWN_PIXELS);
	c->figures.pixels = count;
	c->column_ns = column_ns;
	return 0;
}

static int draw_all(struct canvas *c, const struct pf_window *w,
		    const struct pf_steps *steps,
		    const struct pf_drawn_args *args)
{
	int rc;

	c->len_ns = 1;
	c->figures.from_ns = INT64_MAX;
	for (size_t i = 0; i < w->count; i++) {
		int64_t from, len;

		set_part(c, &w->traces[i]);
		if (w->traces[i].is_empty ||
		    __builtin_sub_overflow(c->hi_ns, c->lo_ns, &len) ||
		    __builtin_sub_overflow(c->lo_ns, c->trace->first_ns, &from))
			continue;
		PF_AT_LEAST(c->len_ns, len);
		PF_AT_MOST(c->figures.from_ns, from);
		PF_AT_LEAST(c->figures.to_ns, from + len);
	}
	if (c->figures.from_ns == INT64_MAX)
		c->figures.from_ns = 0;
	rc = args->column_ns ? set_columns(c, args->column_ns) : 0;
	for (size_t i = 0; i < w->count && !rc; i++) {
		set_part(c, &w->traces[i]);
		if (w->traces[i].is_empty || c->hi_ns == c->lo_ns)
			continue;
		draw_steps(c, steps);
		if (args->tracks == PF_DRAWN_IDLE)
			rc = draw_idle(c, w, i);
		else if (args->tracks == PF_DRAWN_PATH)
			rc = draw_path(c, &args->window);
		else if (args->tracks != PF_DRAWN_COUNTERS)
			rc = draw_trace(c, w,
					(enum pf_drawn_tracks)args->tracks);
	}
	if (!rc && args->tracks == PF_DRAWN_COUNTERS)
		rc = draw_counters(c, w, &args->window);
	return rc;
}

/* Names get their numbers in the order of the slices. */
static void number_drawn(struct canvas *c)
{
	PF_OWN uint32_t *number =
		pf_calloc(c->l.texts.count + 1, sizeof(*number));

	c->names = pf_calloc(c->l.texts.count + 1, sizeof(*c->names));
	for (size_t i = 0; i < c->slice_count; i++) {
		int64_t *name = &c->slices[i].name;

		if (!number[*name]) {
			number[*name] = (uint32_t)++c->name_count;
			c->names[c->name_count - 1] = (struct drawn_name){
				(int64_t)c->name_count - 1,
				pf_intern_text(&c->l.texts, (uint32_t)*name,
					       NULL)
			};
		}
		*name = number[*name] - 1;
	}
}

static void show_drawn(struct canvas *c, struct pf_doc *doc)
{
	struct pf_table *t;

	c->figures.slices = (int64_t)(c->slice_count + c->sample_count);
	PF_SCALARS(doc, drawn_figures, c->figures);
	PF_ROWS(doc, "tracks", "Tracks", drawn_tracks, c->tracks,
		c->track_count);
	PF_ROWS(doc, "steps", "Steps", drawn_steps, c->steps, c->step_count);
	pf_sort(c->slices, c->slice_count, sizeof(*c->slices), by_place);
	number_drawn(c);
	PF_ROWS(doc, "slices", "What is drawn", drawn_slices, c->slices,
		c->slice_count);
	pf_sort(c->samples, c->sample_count, sizeof(*c->samples), by_track);
	PF_ROWS(doc, "samples", "Counters", drawn_samples, c->samples,
		c->sample_count);
	PF_ROWS(doc, "names", "Names", drawn_names, c->names, c->name_count);
	t = pf_doc_fields(doc, "classes", "Classes in the order of colours",
			  PF_FIELDS(drawn_classes));
	for (int i = 0; i < PF_CATS; i++) {
		const struct drawn_class row = { pf_slice_cats[i] };

		PF_PUT(t, drawn_classes, row);
	}
}

static void release_canvas(struct canvas *c)
{
	release_loader(&c->l);
	pf_arena_release(&c->texts);
	free(c->tracks);
	free(c->slices);
	free(c->steps);
	free(c->samples);
	free(c->names);
	free(c->rows);
}

int pf_timeline_draw(struct pf_db *db, const struct pf_drawn_args *args,
		     bool stays, struct pf_doc *doc)
{
	PF_AUTO(release_canvas)
	struct canvas c = {
		.l = { .db = db, .table = { .db = db }, .err = db->err },
		.figures.pixels = args->pixels,
		.stays = stays,
	};
	PF_AUTO(pf_window_release) struct pf_window w = { 0 };
	PF_AUTO(pf_steps_release) struct pf_steps steps = { 0 };

	PF_TRY(pf_window_resolve(db, &args->window, &w));
	PF_TRY(pf_window_steps(db, &w, &steps));
	c.l.classes = pf_names_new(db);
	PF_TRY(!c.l.classes || draw_all(&c, &w, &steps, args));
	show_drawn(&c, doc);
	return 0;
}

static int take(struct pf_path_sink *sink, const struct pf_path_tile *tile,
		struct pf_err *err)
{
	struct pf_path_track *t = (struct pf_path_track *)sink;
	if (t->count < t->most) {
		*PF_ONE_MORE(t->pieces, t->count,
			     t->cap) = (struct pf_path_piece){
			tile->start_ns, runs(tile) ? tile->name : PF_ID_NONE,
			cat_of(tile), (uint8_t)tile->category
		};
		t->end_ns = tile->end_ns;
	}
	t->all++;
	return t->next ? t->next->tile(t->next, tile, err) : 0;
}

static int pass_wait(struct pf_path_sink *sink, const struct pf_path_tile *tile,
		     struct pf_err *err)
{
	struct pf_path_sink *next = ((struct pf_path_track *)sink)->next;

	return next && next->wait ? next->wait(next, tile, err) : 0;
}

void pf_path_track_begin(struct pf_path_track *t, struct pf_path_args *args)
{
	t->sink.tile = take;
	t->sink.wait = pass_wait;
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
	*PF_ONE_MORE(out->names, out->name_count, out->name_cap) =
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
		PF_AUTO(pf_buf_release) struct pf_buf shown = { 0 };

		text = pf_names_text_take(n->names, p->name);
		PF_TRY(!text);
		timeline_show_name(n->redact, text, strlen(text), &shown);
		put_name(n, shown.data, shown.len, number);
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
	pf_buf_adds(&g->tracks->label, PATH_LABEL);
	g->start_ns = pf_alloc(t->count * sizeof(*g->start_ns));
	g->dur_ns = pf_alloc(t->count * sizeof(*g->dur_ns));
	g->name = pf_alloc(t->count * sizeof(*g->name));
	g->depth = pf_calloc(t->count, 1);
	g->cat = pf_alloc(t->count);
	if (t->all > (int64_t)t->count)
		g->until_ns = t->end_ns - out->first_ns;
	return g;
}

int pf_path_track_put(struct pf_path_track *t, struct pf_names *names,
		      const struct pf_redact *redact, struct pf_timeline *out)
{
	struct namer n = { .out = out, .names = names, .redact = redact };
	uint32_t before = (uint32_t)out->name_count;
	struct pf_slices *g;
	int rc = 0;

	if (!t->count)
		return 0;
	g = open_group(t, out);
	out->name_cap = out->name_count;
	for (size_t i = 0; i < t->count && !rc; i++) {
		const struct pf_path_piece *p = &t->pieces[i];
		int64_t ns = (i + 1 < t->count ? p[1].start_ns : t->end_ns) -
			     p->start_ns;
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
	pf_path_track_release(t);
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
	PF_AUTO(pf_path_release) struct pf_path path = { 0 };
	int rc;

	if (!track.most)
		return 0;
	args.window.trace = out->trace_id;
	args.window.rank = NULL;
	pf_path_track_begin(&track, &args);
	rc = find_path(db, &args, &path);
	if (rc > 0)
		rc = pf_path_track_put(&track, path.names, redact, out);
	pf_path_track_release(&track);
	return rc < 0 ? rc : 0;
}
