/* SPDX-License-Identifier: MIT */
/*
 * Streams are a heap by the next event of each.  The rows of gpu_event are in
 * the same order within a trace (start, position in the file), so that links
 * are read beside the columns, one row for each event of a GPU track.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "events/args.h"
#include "events/device_work.h"
#include "events/gpu.h"
#include "events/interval.h"
#include "events/kinds.h"
#include "events/words.h"
#include "base/intern.h"
#include "base/mem.h"
#include "base/sat.h"
#include "store/cursor.h"
#include "store/texts.h"
#include "store/query.h"

#define AHEAD_EVENTS 65536 /* a thread for their rows costs as much */
/* What is kept of a name: its way, whether it is a migration, its class. */
#define WAY_BITS   3
#define MIGRATION  (1u << WAY_BITS)
#define CLASS_FROM (WAY_BITS + 1)

struct stream {
	uint32_t track_id;
	int64_t device, stream; /* as the track says */
	enum pf_work_row row;
	/* Of a TPU: the same track, read up to the event after the last. */
	struct pf_cursor *ahead;
	struct pf_span next;
	bool has_next;
};

struct pf_gpu {
	struct pf_db *db;
	const struct pf_window *window;
	unsigned want;
	size_t next_trace;
	const struct pf_window_trace *trace;
	bool is_first;
	struct pf_cursors tracks; /* of the trace; tag: place in streams */
	struct stream *streams;
	size_t stream_count, stream_cap;
	struct pf_gpu_configs configs;
	struct pf_kinds kinds;
	struct pf_map classes; /* name and kind -> class and way */
	struct pf_map ways;    /* arguments -> way */
	struct pf_map ops;     /* a TPU's name and arguments -> class */
	struct pf_texts texts;
	struct pf_ints *links;
	/* Work with launch calls, read as far as was needed to know origins. */
	sqlite3_stmt *linked;
	bool has_linked;         /* a row of it is at hand */
	struct pf_map linked_at; /* track, or trace -> first row with a call */
	struct pf_comm *comm;
	struct pf_gpu_event event;
};

/* ---- classes ---- */

enum pf_gpu_class pf_gpu_classify(unsigned kind, const char *name)
{
	if (pf_word(PF_WORD_COMM_KERNEL, name))
		return PF_GPU_COMM;
	if (kind == PF_KIND_MEMSET)
		return PF_GPU_MEMSET;
	if (kind == PF_KIND_MEMCPY || pf_word(PF_WORD_COPY_KERNEL, name))
		return PF_GPU_COPY;
	return PF_GPU_COMPUTE;
}

enum pf_gpu_class pf_gpu_classify_op(const char *name, const char *category)
{
	if (pf_word(PF_WORD_COMM_HLO, category) ||
	    pf_word(PF_WORD_COMM_HLO, name))
		return PF_GPU_COMM;
	if (pf_word(PF_WORD_COPY_HLO, category) ||
	    pf_word(PF_WORD_COPY_HLO, name))
		return PF_GPU_COPY;
	return PF_GPU_COMPUTE;
}

enum pf_copy_way pf_gpu_copy_way(const char *name)
{
	unsigned way = PF_COPY_HTOD;

	while (way < PF_COPY_OTHER && !pf_word(PF_WORD_HTOD + way, name))
		way++;
	return (enum pf_copy_way)way;
}

const char *pf_copy_way_name(enum pf_copy_way way)
{
	static const char *const names[] = { "HtoD", "DtoH", "DtoD", "PtoP",
					     "other" };

	return names[way];
}

const char *pf_gpu_class_name(enum pf_gpu_class class)
{
	static const char *const names[] = { "computation", "communication",
					     "copy", "memset" };

	return names[class];
}

const char *pf_gpu_name(struct pf_gpu *g, uint32_t name, struct pf_err *err)
{
	const char *text;

	if (pf_texts_get(&g->texts, PF_TEXT_NAME, name, &text, NULL, err) < 0)
		return NULL;
	return text;
}

static uint64_t judge(unsigned kind, const char *name)
{
	enum pf_gpu_class cls = pf_gpu_classify(kind, name);
	enum pf_copy_way way =
		cls == PF_GPU_COPY ? pf_gpu_copy_way(name) : PF_COPY_OTHER;
	unsigned is_migration = 0;

	if (kind == PF_KIND_MEMCPY && pf_word(PF_WORD_MIGRATION, name))
		is_migration = MIGRATION;
	return (uint64_t)cls << CLASS_FROM | is_migration | way;
}

/* Its class and way by its name. */
static int judge_event(struct pf_gpu *g, const struct pf_span *s, unsigned kind,
		       uint64_t *out, struct pf_err *err)
{
	uint64_t *place;
	const char *text;

	if (s->name == PF_ID_INLINE) {
		char *copy = pf_memdup0(s->inline_name, s->inline_name_len);

		*out = judge(kind, copy);
		free(copy);
		return 0;
	}
	place = pf_map_at(&g->classes, (uint64_t)s->name << 8 | kind);
	if (*place == UINT64_MAX) {
		text = pf_gpu_name(g, s->name, err);
		if (!text)
			return -1;
		*place = judge(kind, text);
	}
	*out = *place;
	return 0;
}

/* The way of a copy whose name does not say it, as its arguments do. */
static int judge_args(struct pf_gpu *g, const struct pf_span *s,
		      enum pf_copy_way *way, struct pf_err *err)
{
	uint64_t *place = pf_map_at(&g->ways, s->args);
	struct pf_buf said = { 0 };
	struct pf_json args;

	if (*place == UINT64_MAX) {
		if (pf_texts_get(&g->texts, PF_TEXT_ARGS, s->args, &args.p,
				 &args.len, err) < 0)
			return -1;
		pf_json_text(pf_json_get(args, "direction"), &said);
		*place = pf_gpu_copy_way(said.len ? said.data : "");
		pf_buf_release(&said);
	}
	*way = (enum pf_copy_way) * place;
	return 0;
}

/* ---- operations of TPUs ---- */

/* Of an event whose texts are in the dictionaries. */
static int judge_texts(struct pf_gpu *g, const struct pf_span *s, uint64_t *out,
		       struct pf_err *err)
{
	char *name = NULL;
	const char *text = "";
	struct pf_buf category = { 0 };
	struct pf_json args = { NULL, 0 };
	int rc = 0;

	if (s->name == PF_ID_INLINE)
		name = pf_memdup0(s->inline_name, s->inline_name_len);
	else if ((text = pf_gpu_name(g, s->name, err)))
		name = pf_strdup(text);
	else
		return -1;
	if (s->args < PF_ID_INLINE)
		rc = pf_texts_get(&g->texts, PF_TEXT_ARGS, s->args, &args.p,
				  &args.len, err);
	else if (s->args == PF_ID_INLINE)
		args = (struct pf_json){ s->inline_args, s->inline_args_len };
	if (rc >= 0 && args.p)
		pf_json_text(pf_json_get(args, "hlo_category"), &category);
	*out = pf_gpu_classify_op(name, category.len ? category.data : "");
	pf_buf_release(&category);
	free(name);
	return rc < 0 ? -1 : 0;
}

static int judge_op(struct pf_gpu *g, const struct pf_span *s,
		    struct pf_err *err)
{
	bool is_kept = s->name < PF_ID_INLINE && s->args != PF_ID_INLINE;
	uint64_t found, *place = NULL;

	if (is_kept) {
		place = pf_map_at(&g->ops, (uint64_t)s->name << 32 | s->args);
		found = *place;
	}
	if (!is_kept || found == UINT64_MAX) {
		if (judge_texts(g, s, &found, err) < 0)
			return -1;
		if (place)
			*place = found;
	}
	g->event.class = (enum pf_gpu_class)found;
	g->event.way = PF_COPY_OTHER;
	if (g->event.class == PF_GPU_COMM)
		g->event.comm.rule = PF_COMM_NAME;
	return 0;
}

/* Tracks are in nesting order: what is inside of an event follows it. */
static int look_ahead(struct stream *on, const struct pf_span *s,
		      bool *is_around, struct pf_err *err)
{
	const struct pf_span *next = &on->next;

	while (on->has_next && next->seq <= s->seq) {
		int rc = pf_cursor_next(on->ahead, &on->next, err);

		if (rc < 0)
			return -1;
		on->has_next = rc == 1;
	}
	*is_around = on->has_next &&
		     next->start_ns < pf_span_end(s->start_ns, s->dur_ns) &&
		     pf_span_end(next->start_ns, next->dur_ns) <=
			     pf_span_end(s->start_ns, s->dur_ns);
	return 0;
}

static int open_ahead(struct pf_gpu *g, struct stream *on, struct pf_err *err)
{
	int rc;

	if (on->row != PF_WORK_OPS)
		return 0;
	on->ahead = pf_cursor_new(
		g->db, on->track_id,
		PF_COLBIT(PF_COL_START) | PF_COLBIT(PF_COL_DUR), err);
	rc = on->ahead ? pf_cursor_next(on->ahead, &on->next, err) : -1;
	on->has_next = rc == 1;
	return rc < 0 ? -1 : 0;
}

static void close_streams(struct pf_gpu *g)
{
	for (size_t i = 0; i < g->stream_count; i++)
		pf_cursor_free(g->streams[i].ahead);
	g->stream_count = 0;
	pf_cursors_release(&g->tracks);
}

const struct pf_gpu_config *pf_gpu_find_config(const struct pf_gpu *g,
					       int64_t id)
{
	return pf_gpu_configs_find(&g->configs, id);
}

/* ---- streams in order of time ---- */

static int open_stream(struct pf_gpu *g, const struct pf_track *track,
		       struct pf_err *err)
{
	uint64_t columns = PF_COLBIT(PF_COL_START) | PF_COLBIT(PF_COL_DUR) |
			   PF_COLBIT(PF_COL_ORDER) | PF_COLBIT(PF_COL_NAME) |
			   PF_COLBIT(PF_COL_TYPE) | PF_COLBIT(PF_COL_ARGS) |
			   PF_COLBIT(PF_COL_INLINE);

	if (g->want & PF_GPU_BYTES)
		columns |= PF_COLBIT(PF_COL_SLOT + PF_SLOT_BYTES);
	g->streams = pf_grow(g->streams, &g->stream_cap, g->stream_count + 1,
			     sizeof(*g->streams));
	g->streams[g->stream_count] = (struct stream){
		.track_id = track->id,
		.device = pf_work_device(track),
		.stream = pf_work_stream(track),
		.row = pf_work_row(track, g->trace->is_tpu),
	};
	if (g->streams[g->stream_count].row != PF_WORK_GPU &&
	    !(g->want & PF_GPU_TPUS))
		g->streams[g->stream_count].row = PF_WORK_NONE;
	g->stream_count++;
	if (open_ahead(g, &g->streams[g->stream_count - 1], err))
		return -1;
	return pf_cursors_add(&g->tracks, g->db, track->id, columns,
			      g->stream_count - 1, err);
}

static int open_trace(struct pf_gpu *g, const struct pf_window_trace *trace,
		      struct pf_err *err)
{
	struct pf_track *tracks = NULL;
	const bool is_first = !g->trace;
	int64_t events = 0;
	size_t count = 0;
	int rc = pf_tracks_load(g->db, trace->trace_id, &tracks, &count, err);

	g->trace = trace;
	g->is_first = true;
	close_streams(g);
	for (size_t i = 0; !rc && i < count; i++) {
		if (strcmp(tracks[i].class_name, "gpu") != 0)
			continue;
		rc = open_stream(g, &tracks[i], err);
		events = pf_sat_add(events, tracks[i].event_count);
	}
	if (is_first && g->links && events >= AHEAD_EVENTS)
		pf_ints_ahead(g->links);
	pf_tracks_free(tracks, count);
	return rc;
}

/* ---- links ---- */

static uint64_t trace_key(int64_t trace_id)
{
	return UINT64_C(1) << 32 | (uint64_t)trace_id;
}

static int next_linked(struct pf_gpu *g, struct pf_err *err)
{
	int rc = pf_db_step(g->db, g->linked, err);

	g->has_linked = rc == 1;
	return rc < 0 ? -1 : 0;
}

/* Read on until there is a first row of a track or a trace. */
static int find_linked(struct pf_gpu *g, uint64_t key, int64_t *row,
		       struct pf_err *err)
{
	if (!g->linked) {
		g->linked = pf_named_prepare(g->db, "gpu_linked", err);
		if (!g->linked || next_linked(g, err) < 0)
			return -1;
	}
	while (*pf_map_at(&g->linked_at, key) == UINT64_MAX && g->has_linked &&
	       sqlite3_column_int64(g->linked, 1) <= g->trace->trace_id) {
		uint64_t id = (uint64_t)sqlite3_column_int64(g->linked, 0);
		const uint64_t keys[] = {
			trace_key(sqlite3_column_int64(g->linked, 1)),
			(uint32_t)sqlite3_column_int64(g->linked, 2)
		};

		for (size_t i = 0; i < 2; i++) {
			uint64_t *first = pf_map_at(&g->linked_at, keys[i]);

			if (*first == UINT64_MAX)
				*first = id;
		}
		if (next_linked(g, err) < 0)
			return -1;
	}
	*row = (int64_t)*pf_map_at(&g->linked_at, key);
	return 0;
}

/* Of the event in a row: a first row of -1 is none. */
static int find_origin(struct pf_gpu *g, int64_t row, struct pf_err *err)
{
	struct pf_gpu_event *ev = &g->event;
	int64_t of_trace, of_track;

	ev->origin = PF_GPU_LAUNCHED;
	if (ev->launch_id)
		return 0;
	if (find_linked(g, trace_key(g->trace->trace_id), &of_trace, err) < 0 ||
	    find_linked(g, (uint64_t)ev->event_id >> 32, &of_track, err) < 0)
		return -1;
	/* What has an operator all the same began in the capture. */
	ev->origin = !ev->op_id && (of_trace > row || of_track > row)
			     ? PF_GPU_BEFORE
			     : PF_GPU_NO_CALL;
	return 0;
}

/* Rows that are kept are read by many, so that one kind of them is enough. */
struct pf_ints *pf_gpu_links_new(struct pf_db *db, bool with_all,
				 struct pf_err *err)
{
	return pf_ints_new(db, with_all || db->kept ? "gpu_links" : "gpu_calls",
			   err);
}

int pf_gpu_links_keep(struct pf_db *db, struct pf_err *err)
{
	struct pf_ints *links = pf_gpu_links_new(db, true, err);

	pf_ints_free(links);
	return links ? 0 : -1;
}

int pf_gpu_links_next(struct pf_ints *links, int64_t event_id,
		      const int64_t **row, struct pf_err *err)
{
	int rc;

	do {
		rc = pf_ints_next(links, row, err);
	} while (rc == 1 && (*row)[0] != event_id);
	if (rc == 0)
		return pf_fail(err, PF_EDB,
			       "gpu_event has no row of event %lld in its "
			       "place",
			       (long long)event_id);
	return rc < 0 ? -1 : 0;
}

int64_t pf_gpu_links_call(const int64_t *row)
{
	return row[1] == PF_INTS_NULL ? 0 : row[1];
}

static int read_links(struct pf_gpu *g, int64_t event_id, struct pf_err *err)
{
	struct pf_gpu_event *ev = &g->event;
	const int64_t *row;

	if (pf_gpu_links_next(g->links, event_id, &row, err) < 0)
		return -1;
	ev->launch_id = pf_gpu_links_call(row);
	if (!(g->want & PF_GPU_LINKS))
		return 0;
	ev->op_id = row[2] == PF_INTS_NULL ? 0 : row[2];
	return find_origin(g, row[3], err);
}

/* ---- events ---- */

static void place_event(struct pf_gpu *g, const struct stream *on,
			const struct pf_span *s)
{
	struct pf_gpu_event *ev = &g->event;
	const struct pf_gpu_config *c = NULL;

	if (s->args < PF_ID_INLINE)
		c = pf_gpu_find_config(g, s->args);
	ev->launch = c;
	ev->config = c ? s->args : PF_ID_NONE;
	ev->device = c && c->device >= 0 ? c->device : on->device;
	ev->stream = c && c->stream >= 0 ? c->stream : on->stream;
	ev->bytes = -1;
	if ((g->want & PF_GPU_BYTES) && (s->mask >> PF_SLOT_BYTES & 1))
		ev->bytes = s->slot[PF_SLOT_BYTES];
}

/* The name comes first, then what launched it; of ways the arguments. */
static int place_class(struct pf_gpu *g, const struct pf_span *s,
		       struct pf_err *err)
{
	struct pf_gpu_event *ev = &g->event;
	uint64_t found;

	if (judge_event(g, s, ev->kind, &found, err) < 0)
		return -1;
	if (found & MIGRATION && ev->origin != PF_GPU_LAUNCHED)
		ev->origin = PF_GPU_MIGRATED;
	ev->class = (enum pf_gpu_class)(found >> CLASS_FROM);
	ev->way = (enum pf_copy_way)(found & ((1u << WAY_BITS) - 1));
	if (ev->class == PF_GPU_COMM) {
		ev->comm.rule = PF_COMM_NAME;
	} else if (ev->comm.rule) {
		ev->class = PF_GPU_COMM;
		ev->way = PF_COPY_OTHER;
	} else if (ev->class == PF_GPU_COPY && ev->way == PF_COPY_OTHER &&
		   s->args < PF_ID_INLINE) {
		return judge_args(g, s, &ev->way, err);
	}
	return 0;
}

/* The next event: 1 if it is asked for. */
static int take(struct pf_gpu *g, struct stream *on, const struct pf_span *s,
		struct pf_err *err)
{
	struct pf_gpu_event *ev = &g->event;
	unsigned kind = pf_kinds_at(&g->kinds, s->type);
	bool is_outside;

	ev->event_id = (int64_t)((uint64_t)on->track_id << 32 | s->seq);
	if (pf_comm_at(g->comm, g->trace->trace_id, ev->event_id, &ev->comm,
		       err) < 0)
		return -1;
	ev->is_in_flight =
		on->row == PF_WORK_FLIGHT && kind == PF_KIND_GPU_OTHER;
	if (!pf_is_work(on->row, kind) && !ev->is_in_flight)
		return 0;
	ev->is_around = false;
	if (on->ahead && look_ahead(on, s, &ev->is_around, err) < 0)
		return -1;
	ev->trace = g->trace;
	ev->kind = kind;
	ev->name = s->name;
	ev->start_ns = s->start_ns;
	ev->dur_ns = s->dur_ns;
	ev->end_ns = pf_span_end(ev->start_ns, ev->dur_ns);
	if (g->want & PF_GPU_STARTS)
		is_outside = ev->start_ns < g->trace->from_ns ||
			     ev->start_ns >= g->trace->to_ns;
	else
		is_outside =
			!pf_window_cut(g->trace, &ev->start_ns, &ev->end_ns);
	if (is_outside && !(g->want & PF_GPU_OUTSIDE))
		return 0;
	ev->is_outside = is_outside;
	place_event(g, on, s);
	if (g->window->device >= 0 && ev->device != g->window->device)
		return 0;
	if (g->links && read_links(g, ev->event_id, err) < 0)
		return -1;
	if (on->row == PF_WORK_GPU ? place_class(g, s, err)
				   : judge_op(g, s, err))
		return -1;
	if (ev->is_in_flight && ev->class == PF_GPU_COMPUTE)
		return 0;
	/* what waits for a copy does that, whatever else its time holds */
	ev->is_around &= ev->class == PF_GPU_COMPUTE;
	ev->is_first_of_trace = g->is_first;
	g->is_first = false;
	return 1;
}

int pf_gpu_next(struct pf_gpu *g, const struct pf_gpu_event **out,
		struct pf_err *err)
{
	for (;;) {
		const struct pf_span *s;
		size_t stream;
		int rc = pf_cursors_next(&g->tracks, &stream, &s, err);

		if (rc == 1)
			rc = take(g, &g->streams[stream], s, err);
		else if (rc == 0 && g->next_trace == g->window->count)
			return 0;
		else if (rc == 0)
			rc = open_trace(g, &g->window->traces[g->next_trace++],
					err);
		if (rc < 0)
			return -1;
		if (rc) {
			*out = &g->event;
			return 1;
		}
	}
}

struct pf_gpu *pf_gpu_new(struct pf_db *db, const struct pf_window *window,
			  unsigned want, struct pf_err *err)
{
	struct pf_gpu *g = pf_calloc(1, sizeof(*g));

	g->db = db;
	g->window = window;
	g->want = want;
	pf_map_init(&g->classes);
	pf_map_init(&g->ways);
	pf_map_init(&g->ops);
	pf_map_init(&g->linked_at);
	g->texts.db = db;
	if (want & (PF_GPU_LINKS | PF_GPU_CALLS))
		g->links = pf_gpu_links_new(db, want & PF_GPU_LINKS, err);
	if ((g->links || !(want & (PF_GPU_LINKS | PF_GPU_CALLS))) &&
	    !pf_gpu_configs_load(&g->configs, db, err) &&
	    !pf_kinds_load(&g->kinds, db, err) &&
	    (g->comm = pf_comm_new(db, err)))
		return g;
	pf_gpu_free(g);
	return NULL;
}

void pf_gpu_free(struct pf_gpu *g)
{
	if (!g)
		return;
	close_streams(g);
	pf_texts_release(&g->texts);
	pf_ints_free(g->links);
	sqlite3_finalize(g->linked);
	pf_comm_free(g->comm);
	pf_map_release(&g->classes);
	pf_map_release(&g->ways);
	pf_map_release(&g->ops);
	pf_map_release(&g->linked_at);
	pf_gpu_configs_release(&g->configs);
	pf_kinds_release(&g->kinds);
	free(g->streams);
	free(g);
}
