/* SPDX-License-Identifier: MIT */
/*
 * Streams are a heap by the next event of each.  The rows of gpu_event are in
 * the same order within a trace (start, position in the file), so that links
 * are read beside the columns, one row for each event of a GPU track.
 */
#include "config.h"

#include "events/gpu.h"

#include <stdatomic.h>

#include "base/intern.h"
#include "base/num.h"
#include "base/sat.h"
#include "base/search.h"
#include "base/spool.h"
#include "events/args.h"
#include "events/interval.h"
#include "events/names.h"
#include "formats/event.h"
#include "store/cursor.h"
#include "store/kept.h"
#include "store/query.h"
#include "store/texts.h"

/*
 * The rows of comm_event are in the order of gpu_event: one of them is held,
 * and the event it is about will be asked about.  Those of traces that nobody
 * asks about are leapt over, so that a trace of many costs what it has.
 */

struct comm {
	struct pf_db *db;
	sqlite3_stmt *rows; /* NULL: a database of before comm_event */
	bool has_row;
	int64_t id, trace_id, event_id;
	struct pf_comm_op op;
};

static const struct pf_comm_op no_op = { .record_args = PF_ID_NONE,
					 .name = PF_ID_NONE };

const char *pf_comm_rule_words(enum pf_comm_rule rule)
{
	static const char *const words[PF_COMM_RULES] = {
		[PF_COMM_NONE] = "",
		[PF_COMM_NAME] = "name of the kernel",
		[PF_COMM_RECORD] = "launched in record_param_comms",
		[PF_COMM_C10D] = "launched in c10d::",
		[PF_COMM_NCCL] = "launched in nccl:",
		[PF_COMM_GLOO] = "launched in gloo:",
		[PF_COMM_MPI] = "launched in mpi:",
		[PF_COMM_UCC] = "launched in ucc:",
		[PF_COMM_XCCL] = "launched in xccl:",
		[PF_COMM_HCCL] = "launched in hccl:",
	};

	return words[rule];
}

static uint32_t id_or_none(sqlite3_stmt *stmt, int column)
{
	return sqlite3_column_type(stmt, column) == SQLITE_NULL
		       ? PF_ID_NONE
		       : (uint32_t)sqlite3_column_int64(stmt, column);
}

static int next_row(struct comm *c)
{
	int rc = pf_db_step(c->db, c->rows, c->db->err), rule;

	c->has_row = rc == 1;
	if (rc != 1)
		return rc;
	c->op = no_op;
	c->trace_id = sqlite3_column_int64(c->rows, 0);
	c->event_id = sqlite3_column_int64(c->rows, 1);
	rule = sqlite3_column_int(c->rows, 2);
	if (rule > PF_COMM_NAME && rule < PF_COMM_RULES)
		c->op.rule = (enum pf_comm_rule)rule;
	c->op.record_id = sqlite3_column_int64(c->rows, 3);
	c->op.record_args = id_or_none(c->rows, 4);
	c->op.name = id_or_none(c->rows, 5);
	c->id = sqlite3_column_int64(c->rows, 6);
	return 0;
}

/* 1: *id is of the first row from a number on, and what its trace is. */
static int row_from(struct comm *c, sqlite3_stmt *st, int64_t number,
		    int64_t *id, int64_t *trace_id)
{
	int rc;

	sqlite3_reset(st);
	sqlite3_bind_int64(st, 1, number);
	rc = pf_db_step(c->db, st, c->db->err);
	if (rc == 1) {
		*id = sqlite3_column_int64(st, 0);
		*trace_id = sqlite3_column_int64(st, 1);
	}
	return rc;
}

/* The row that is held is of a trace before this one: go to its first. */
static int leap(struct comm *c, int64_t trace_id)
{
	sqlite3_stmt *last = pf_named_prepare(c->db, "comm_last", c->db->err);
	sqlite3_stmt *place =
		last ? pf_named_prepare(c->db, "comm_place", c->db->err) : NULL;
	int64_t low = c->id, high = pf_sat_add(low, 1), id, trace;
	int rc = place ? pf_db_step(c->db, last, c->db->err) : -1;

	if (rc == 1)
		high = sqlite3_column_int64(last, 0);
	/* rows up to low are before it, those from high + 1 on are not */
	while (rc >= 0 && high > low) {
		int64_t middle = low + (high - low) / 2 + 1;

		rc = row_from(c, place, middle, &id, &trace);
		if (rc == 1 && trace < trace_id)
			low = id;
		else
			high = middle - 1;
	}
	sqlite3_finalize(last);
	sqlite3_finalize(place);
	PF_TRY(rc < 0);
	sqlite3_reset(c->rows);
	sqlite3_bind_int64(c->rows, 1, pf_sat_add(low, 1));
	return next_row(c);
}

/*
 * What launched an event of a GPU track.  Every event of the GPU tracks of a
 * trace must be asked about, in the order of time.  0 or -1.
 */
static int comm_at(struct comm *c, int64_t trace_id, int64_t event_id,
		   struct pf_comm_op *out)
{
	*out = no_op;
	PF_TRY(c->has_row && c->trace_id < trace_id && leap(c, trace_id) < 0);
	if (!c->has_row || c->event_id != event_id)
		return 0;
	*out = c->op;
	return next_row(c);
}

static int comm_open(struct comm *c, struct pf_db *db)
{
	sqlite3_stmt *st = pf_named_prepare(db, "comm_stored", db->err);
	int rc = pf_db_step(db, st, db->err);
	bool has_table = rc == 1 && sqlite3_column_int64(st, 0) > 0;

	pf_db_keep(db, st);
	c->db = db;
	if (!has_table)
		return rc < 0 ? -1 : 0;
	c->rows = pf_named_prepare(db, "comm_events", db->err);
	PF_TRY(!c->rows);
	sqlite3_bind_int64(c->rows, 1, INT64_MIN);
	return next_row(c);
}

/* ---- GPU work ---- */

#define AHEAD_EVENTS 65536 /* a thread for their rows costs as much */
/* What is kept of a name: its way, what it is, its class; never 0. */
#define WAY_BITS   3
#define MIGRATION  (1u << WAY_BITS)
#define ATEN       (2u << WAY_BITS)
#define IS_JUDGED  (4u << WAY_BITS)
#define CLASS_FROM (WAY_BITS + 3)

/* By name, of kernels, copies and fills: whoever reads work asks for them. */
struct judged {
	size_t count;
	_Atomic uint8_t (*of)[3];
};
_Static_assert(PF_GPU_CLASSES << CLASS_FROM <= 1 << 8, "a byte holds a class");
_Static_assert(PF_KIND_MEMSET == PF_KIND_KERNEL + 2, "three kinds of work");

struct stream {
	uint32_t track_id;
	int64_t device, stream; /* as the track says */
	enum pf_device_row row;
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
	const struct pf_gpu_configs *configs;
	struct pf_kinds kinds;
	const struct judged *judged;
	struct pf_map ways; /* arguments -> way */
	struct pf_map ops;  /* a TPU's name and arguments -> class */
	struct pf_texts texts;
	struct pf_ints *links;
	/* Work with launch calls, read as far as was needed to know origins. */
	sqlite3_stmt *linked;
	bool has_linked;         /* a row of it is at hand */
	struct pf_map linked_at; /* track, or trace -> first row with a call */
	struct comm comm;
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

static enum pf_copy_way gpu_copy_way(const char *name)
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

const char *pf_gpu_name(struct pf_gpu *g, uint32_t name)
{
	const char *text;

	if (pf_texts_get(&g->texts, PF_TEXT_NAME, name, &text, NULL,
			 g->db->err) < 0)
		return NULL;
	return text;
}

static uint8_t judge(unsigned kind, const char *name)
{
	enum pf_gpu_class cls = pf_gpu_classify(kind, name);
	enum pf_copy_way way =
		cls == PF_GPU_COPY ? gpu_copy_way(name) : PF_COPY_OTHER;
	unsigned is = 0;

	if (kind == PF_KIND_MEMCPY && pf_word(PF_WORD_MIGRATION, name))
		is = MIGRATION;
	else if (kind == PF_KIND_KERNEL && pf_word(PF_WORD_ATEN_KERNEL, name))
		is = ATEN;
	return (uint8_t)(cls << CLASS_FROM | IS_JUDGED | is | way);
}

static void *make_judged(struct pf_db *db, const char *ignored)
{
	struct pf_names *names = pf_names_new(db);
	struct judged *j = pf_calloc(1, sizeof(*j));

	(void)ignored;
	j->count = names ? pf_names_count(names) : 0;
	j->of = pf_calloc(j->count + 1, sizeof(*j->of));
	pf_names_free(names);
	if (names)
		return j;
	free(j->of);
	free(j);
	return NULL;
}

static void free_judged(void *p)
{
	free(((struct judged *)p)->of);
	free(p);
}

/* Its class and way by its name. */
static int judge_event(struct pf_gpu *g, const struct pf_span *s, unsigned kind,
		       unsigned *out)
{
	_Atomic uint8_t *place = NULL;
	const char *text;

	if (s->name < g->judged->count) {
		place = &g->judged->of[s->name][kind - PF_KIND_KERNEL];
		*out = atomic_load_explicit(place, memory_order_relaxed);
		if (*out)
			return 0;
	}
	if (s->name == PF_ID_INLINE) {
		PF_OWN char *copy =
			pf_memdup0(s->inline_name, s->inline_name_len);

		*out = judge(kind, copy);
		return 0;
	}
	text = pf_gpu_name(g, s->name);
	PF_TRY(!text);
	*out = judge(kind, text);
	if (place)
		atomic_store_explicit(place, (uint8_t)*out,
				      memory_order_relaxed);
	return 0;
}

/* The way of a copy whose name does not say it, as its arguments do. */
static int judge_args(struct pf_gpu *g, const struct pf_span *s,
		      enum pf_copy_way *way)
{
	uint64_t *place = pf_map_at(&g->ways, s->args);
	struct pf_buf said = { 0 };
	struct pf_json args;

	if (*place == UINT64_MAX) {
		PF_TRY(pf_texts_get(&g->texts, PF_TEXT_ARGS, s->args, &args.p,
				    &args.len, g->db->err) < 0);
		pf_json_text(pf_json_get(args, "direction"), &said);
		*place = gpu_copy_way(said.len ? said.data : "");
		pf_buf_release(&said);
	}
	*way = (enum pf_copy_way) * place;
	return 0;
}

/* ---- operations of TPUs ---- */

/* Of an event whose texts are in the dictionaries. */
static int judge_texts(struct pf_gpu *g, const struct pf_span *s, uint64_t *out)
{
	PF_OWN char *name = NULL;
	const char *text = "";
	PF_AUTO(pf_buf_release) struct pf_buf category = { 0 };
	struct pf_json args = { NULL, 0 };
	int rc = 0;

	if (s->name == PF_ID_INLINE)
		name = pf_memdup0(s->inline_name, s->inline_name_len);
	else if ((text = pf_gpu_name(g, s->name)))
		name = pf_strdup(text);
	else
		return -1;
	if (s->args < PF_ID_INLINE)
		rc = pf_texts_get(&g->texts, PF_TEXT_ARGS, s->args, &args.p,
				  &args.len, g->db->err);
	else if (s->args == PF_ID_INLINE)
		args = (struct pf_json){ s->inline_args, s->inline_args_len };
	if (rc >= 0 && args.p)
		pf_json_text(pf_json_get(args, "hlo_category"), &category);
	*out = pf_gpu_classify_op(name, category.len ? category.data : "");
	return rc < 0 ? -1 : 0;
}

static int judge_op(struct pf_gpu *g, const struct pf_span *s)
{
	bool is_kept = s->name < PF_ID_INLINE && s->args != PF_ID_INLINE;
	uint64_t found, *place = NULL;

	if (is_kept) {
		place = pf_map_at(&g->ops, (uint64_t)s->name << 32 | s->args);
		found = *place;
	}
	if (!is_kept || found == UINT64_MAX) {
		PF_TRY(judge_texts(g, s, &found));
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

		PF_TRY(rc < 0);
		on->has_next = rc == 1;
	}
	*is_around = on->has_next &&
		     next->start_ns < pf_span_end(s->start_ns, s->dur_ns) &&
		     pf_span_end(next->start_ns, next->dur_ns) <=
			     pf_span_end(s->start_ns, s->dur_ns);
	return 0;
}

static int open_ahead(struct pf_gpu *g, struct stream *on)
{
	int rc;

	if (on->row != PF_WORK_OPS)
		return 0;
	on->ahead =
		pf_cursor_new(g->db, on->track_id,
			      PF_COLBIT(PF_COL_START) | PF_COLBIT(PF_COL_DUR));
	rc = pf_cursor_next(on->ahead, &on->next, g->db->err);
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
	return pf_gpu_configs_find(g->configs, id);
}

/* ---- streams in order of time ---- */

static int open_stream(struct pf_gpu *g, const struct pf_track *track)
{
	uint64_t columns = PF_COLBIT(PF_COL_START) | PF_COLBIT(PF_COL_DUR) |
			   PF_COLBIT(PF_COL_ORDER) | PF_COLBIT(PF_COL_NAME) |
			   PF_COLBIT(PF_COL_TYPE) | PF_COLBIT(PF_COL_ARGS) |
			   PF_COLBIT(PF_COL_INLINE);

	if (g->want & PF_GPU_BYTES)
		columns |= PF_COLBIT(PF_COL_SLOT + PF_SLOT_BYTES);
	PF_ROOM(g->streams, g->stream_cap, g->stream_count + 1);
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
	PF_TRY(open_ahead(g, &g->streams[g->stream_count - 1]));
	return pf_cursors_add(&g->tracks, g->db, track->id, columns,
			      g->stream_count - 1, g->db->err);
}

static int open_trace(struct pf_gpu *g, const struct pf_window_trace *trace)
{
	struct pf_track *tracks = NULL;
	const bool is_first = !g->trace;
	int64_t events = 0;
	size_t count = 0;
	int rc = pf_tracks_load(g->db, trace->trace_id, &tracks, &count,
				g->db->err);

	g->trace = trace;
	g->is_first = true;
	close_streams(g);
	for (size_t i = 0; !rc && i < count; i++) {
		if (strcmp(tracks[i].class_name, "gpu") != 0)
			continue;
		rc = open_stream(g, &tracks[i]);
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

static int next_linked(struct pf_gpu *g)
{
	int rc = pf_db_step(g->db, g->linked, g->db->err);

	g->has_linked = rc == 1;
	return rc < 0 ? -1 : 0;
}

/* Read on until there is a first row of a track or a trace. */
static int find_linked(struct pf_gpu *g, uint64_t key, int64_t *row)
{
	if (!g->linked) {
		g->linked = pf_named_prepare(g->db, "gpu_linked", g->db->err);
		PF_TRY(!g->linked || next_linked(g) < 0);
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
		PF_TRY(next_linked(g));
	}
	*row = (int64_t)*pf_map_at(&g->linked_at, key);
	return 0;
}

/* Of the event in a row: a first row of -1 is none. */
static int find_origin(struct pf_gpu *g, int64_t row)
{
	struct pf_gpu_event *ev = &g->event;
	int64_t of_trace, of_track;

	ev->origin = PF_GPU_LAUNCHED;
	if (ev->launch_id)
		return 0;
	PF_TRY(find_linked(g, trace_key(g->trace->trace_id), &of_trace));
	PF_TRY(find_linked(g, (uint64_t)ev->event_id >> 32, &of_track));
	/* What has an operator all the same began in the capture. */
	ev->origin = !ev->op_id && (of_trace > row || of_track > row)
			     ? PF_GPU_BEFORE
			     : PF_GPU_NO_CALL;
	return 0;
}

/* Rows that are kept are read by many, so that one kind of them is enough. */
struct pf_ints *pf_gpu_links_new(struct pf_db *db, bool with_all)
{
	return pf_ints_new(db,
			   with_all || db->kept ? "gpu_links" : "gpu_calls");
}

int pf_gpu_links_keep(struct pf_db *db)
{
	PF_AUTO(pf_ints_freed)
	struct pf_ints *links = pf_gpu_links_new(db, true);

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

static int read_links(struct pf_gpu *g, int64_t event_id)
{
	struct pf_gpu_event *ev = &g->event;
	const int64_t *row;

	PF_TRY(pf_gpu_links_next(g->links, event_id, &row, g->db->err));
	ev->launch_id = pf_gpu_links_call(row);
	if (!(g->want & PF_GPU_LINKS))
		return 0;
	ev->op_id = row[2] == PF_INTS_NULL ? 0 : row[2];
	return find_origin(g, row[3]);
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
static int place_class(struct pf_gpu *g, const struct pf_span *s)
{
	struct pf_gpu_event *ev = &g->event;
	unsigned found;

	PF_TRY(judge_event(g, s, ev->kind, &found));
	if (found & MIGRATION && ev->origin != PF_GPU_LAUNCHED)
		ev->origin = PF_GPU_MIGRATED;
	ev->class = (enum pf_gpu_class)(found >> CLASS_FROM);
	ev->way = (enum pf_copy_way)(found & ((1u << WAY_BITS) - 1));
	if (ev->class == PF_GPU_COMM) {
		ev->comm.rule = PF_COMM_NAME;
	} else if (ev->comm.rule && found & ATEN) {
		/* tensors of a collective are filled, split, divided */
		ev->comm = (struct pf_comm_op){ .record_args = PF_ID_NONE,
						.name = PF_ID_NONE };
	} else if (ev->comm.rule) {
		ev->class = PF_GPU_COMM;
		ev->way = PF_COPY_OTHER;
	} else if (ev->class == PF_GPU_COPY && ev->way == PF_COPY_OTHER &&
		   s->args < PF_ID_INLINE) {
		return judge_args(g, s, &ev->way);
	}
	return 0;
}

/* The next event: 1 if it is asked for. */
static int take(struct pf_gpu *g, struct stream *on, const struct pf_span *s)
{
	struct pf_gpu_event *ev = &g->event;
	unsigned kind = pf_kinds_at(&g->kinds, s->type);
	bool is_outside;

	ev->event_id = (int64_t)((uint64_t)on->track_id << 32 | s->seq);
	PF_TRY(comm_at(&g->comm, g->trace->trace_id, ev->event_id, &ev->comm));
	ev->is_in_flight =
		on->row == PF_WORK_FLIGHT && kind == PF_KIND_GPU_OTHER;
	if (!pf_is_work(on->row, kind) && !ev->is_in_flight)
		return 0;
	ev->is_around = false;
	PF_TRY(on->ahead && look_ahead(on, s, &ev->is_around, g->db->err) < 0);
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
	PF_TRY(g->links && read_links(g, ev->event_id) < 0);
	PF_TRY(on->row == PF_WORK_GPU ? place_class(g, s) : judge_op(g, s));
	if (ev->is_in_flight && ev->class == PF_GPU_COMPUTE)
		return 0;
	/* what waits for a copy does that, whatever else its time holds */
	ev->is_around &= ev->class == PF_GPU_COMPUTE;
	ev->is_first_of_trace = g->is_first;
	g->is_first = false;
	return 1;
}

int pf_gpu_next(struct pf_gpu *g, const struct pf_gpu_event **out)
{
	for (;;) {
		const struct pf_span *s;
		size_t stream;
		int rc = pf_cursors_next(&g->tracks, &stream, &s, g->db->err);

		if (rc == 1)
			rc = take(g, &g->streams[stream], s);
		else if (rc == 0 && g->next_trace == g->window->count)
			return 0;
		else if (rc == 0)
			rc = open_trace(g, &g->window->traces[g->next_trace++]);
		PF_TRY(rc < 0);
		if (rc) {
			*out = &g->event;
			return 1;
		}
	}
}

struct pf_gpu *pf_gpu_new(struct pf_db *db, const struct pf_window *window,
			  unsigned want)
{
	struct pf_gpu *g = pf_calloc(1, sizeof(*g));

	g->db = db;
	g->window = window;
	g->want = want;
	g->texts.db = db;
	if (want & (PF_GPU_LINKS | PF_GPU_CALLS))
		g->links = pf_gpu_links_new(db, want & PF_GPU_LINKS);
	g->configs = pf_gpu_configs(db);
	g->judged = g->configs ? pf_memo_get(db, make_judged, free_judged, NULL)
			       : NULL;
	if ((g->links || !(want & (PF_GPU_LINKS | PF_GPU_CALLS))) &&
	    g->judged && !pf_kinds_load(&g->kinds, db, db->err) &&
	    !comm_open(&g->comm, db))
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
	pf_db_keep(g->db, g->linked);
	pf_db_keep(g->db, g->comm.rows);
	pf_map_release(&g->ways);
	pf_map_release(&g->ops);
	pf_map_release(&g->linked_at);
	pf_kinds_release(&g->kinds);
	free(g->streams);
	free(g);
}

/* ---- launch configurations ---- */

#define GAPS_MOST      16    /* ids a configuration, in a table of them */
#define DEFAULT_SHARED 49152 /* bytes a block may have without asking */

/* -1 also for what no device reports. */
static double real_or_none(sqlite3_stmt *stmt, int column)
{
	double d = sqlite3_column_type(stmt, column) == SQLITE_NULL
			   ? -1
			   : sqlite3_column_double(stmt, column);

	return d >= 0 && d <= 1e12 ? d : -1;
}

static void read_row(sqlite3_stmt *stmt, struct pf_gpu_config *c)
{
	c->id = sqlite3_column_int64(stmt, 0);
	c->device = pf_db_int_or(stmt, 1, -1);
	c->stream = pf_db_int_or(stmt, 2, -1);
	for (int i = 0; i < 3; i++) {
		c->grid[i] = pf_db_int_or(stmt, 3 + i, -1);
		c->block[i] = pf_db_int_or(stmt, 6 + i, -1);
	}
	c->registers = pf_db_int_or(stmt, 9, -1);
	c->shared_bytes = pf_db_int_or(stmt, 10, -1);
	c->blocks_per_sm = real_or_none(stmt, 11);
	c->occupancy = real_or_none(stmt, 12);
	if (c->occupancy == 0 && c->shared_bytes > DEFAULT_SHARED)
		c->occupancy = -1;
}

/*
 * Ids ascend with few gaps: a table of them is small.  One is looked up for
 * each event, and no processor foresees which way a search goes.
 */
static void list_places(struct pf_gpu_configs *c)
{
	const int64_t first = c->count ? c->items[0].id : 0;
	const int64_t last = c->count ? c->items[c->count - 1].id : -1;
	const int64_t range = pf_sat_sub(last, first);

	if (range < 0 || range / GAPS_MOST > (int64_t)c->count)
		return;
	c->places = pf_alloc(((size_t)range + 1) * sizeof(*c->places));
	memset(c->places, 0xff, ((size_t)range + 1) * sizeof(*c->places));
	for (size_t i = 0; i < c->count; i++)
		if (c->items[i].id >= first && c->items[i].id <= last)
			c->places[c->items[i].id - first] = (uint32_t)i;
}

static void free_configs(void *p)
{
	PF_OWN struct pf_gpu_configs *c = p;

	free(c->items);
	free(c->places);
	pf_arena_release(&c->texts);
}

static void *read_configs(struct pf_db *db, const char *ignored)
{
	struct pf_gpu_configs *c = pf_calloc(1, sizeof(*c));
	sqlite3_stmt *stmt = pf_named_prepare(db, "gpu_configs", db->err);
	size_t cap = 0;
	int rc;

	(void)ignored;
	while ((rc = pf_db_step(db, stmt, db->err)) == 1) {
		PF_ROOM(c->items, cap, c->count + 1);
		read_row(stmt, &c->items[c->count]);
		c->items[c->count++].op_name =
			pf_arena_string(&c->texts, pf_sqlite_text(stmt, 13));
	}
	pf_db_keep(db, stmt);
	if (!rc) {
		list_places(c);
		return c;
	}
	free_configs(c);
	return NULL;
}

const struct pf_gpu_configs *pf_gpu_configs(struct pf_db *db)
{
	return pf_memo_get(db, read_configs, free_configs, NULL);
}

const struct pf_gpu_config *pf_gpu_configs_find(const struct pf_gpu_configs *c,
						int64_t id)
{
	const struct pf_gpu_config *items = c->items;
	size_t at, top = c->count - 1;

	if (!c->count || id < items[0].id || id > items[top].id)
		return NULL;
	if (c->places) {
		at = c->places[id - items[0].id];
		return at < c->count ? &items[at] : NULL;
	}
	at = PF_SEARCH(i, top, items[i].id < id);
	return items[at].id == id ? &items[at] : NULL;
}

/* ---- by the event that it is of ---- */

struct pf_by_event {
	struct pf_db *db;
	uint64_t columns;
	struct pf_sorter *records;
	bool is_sorted;
	const void *next;         /* that was looked at, or NULL */
	struct pf_cursor *cursor; /* over this track, or NULL */
	uint32_t track_id;
	const struct pf_block *block; /* or NULL: before the first, or end */
	uint32_t first_seq;
};

struct pf_by_event *pf_by_event_new(struct pf_db *db, size_t record_bytes,
				    uint64_t columns)
{
	struct pf_by_event *e = pf_calloc(1, sizeof(*e));

	e->db = db;
	e->columns = columns;
	e->records = pf_sorter_temp(record_bytes);
	return e;
}

void pf_by_event_free(struct pf_by_event *e)
{
	if (!e)
		return;
	pf_sorter_free(e->records);
	pf_cursor_free(e->cursor);
	free(e);
}

int pf_by_event_add(struct pf_by_event *e, const void *record)
{
	return pf_sorter_add(e->records, record, e->db->err);
}

static void open_track(struct pf_by_event *e, uint32_t track_id)
{
	pf_cursor_free(e->cursor);
	e->block = NULL;
	e->first_seq = 0;
	e->track_id = track_id;
	e->cursor = pf_cursor_new(e->db, track_id, e->columns);
}

/* Ids ascend: 1 if the event is there, 0, -1. */
static int go_to(struct pf_by_event *e, int64_t event_id, uint32_t *place)
{
	uint32_t track_id = pf_track_of(event_id);
	uint32_t seq = (uint32_t)((uint64_t)event_id & UINT32_MAX);

	if (!e->cursor || e->track_id != track_id)
		open_track(e, track_id);
	while (!e->block || seq >= e->first_seq + e->block->count) {
		int rc = pf_cursor_block(e->cursor, &e->block, &e->first_seq,
					 e->db->err);

		if (rc <= 0) {
			e->block = NULL;
			return rc;
		}
	}
	*place = seq - e->first_seq;
	return seq >= e->first_seq;
}

const void *pf_by_event_peek(struct pf_by_event *e)
{
	if (e->next)
		return e->next;
	if (!e->is_sorted && pf_sorter_finish(e->records, e->db->err) < 0)
		return NULL;
	e->is_sorted = true;
	e->next = pf_sorter_next(e->records, e->db->err);
	return e->next;
}

const void *pf_by_event_next(struct pf_by_event *e,
			     const struct pf_block **block, uint32_t *place)
{
	const int64_t *record = pf_by_event_peek(e);
	int rc = 0;

	e->next = NULL;
	if (record && *record && e->columns)
		rc = go_to(e, *record, place);
	*block = rc == 1 ? e->block : NULL;
	return rc < 0 ? NULL : record;
}

bool pf_by_event_is_on(struct pf_by_event *e, uint32_t track_id)
{
	const int64_t *event_id = pf_by_event_peek(e);

	return event_id && *event_id && pf_track_of(*event_id) == track_id;
}

struct pf_by_event *pf_by_event_work(struct pf_db *db,
				     const struct pf_window *window,
				     uint64_t columns)
{
	struct pf_by_event *e =
		pf_by_event_new(db, sizeof(struct pf_event_work), columns);
	struct pf_gpu *gpu = pf_gpu_new(db, window, PF_GPU_CALLS);
	const struct pf_gpu_event *ev;

	while (gpu && !db->err->code && pf_gpu_next(gpu, &ev) == 1) {
		struct pf_event_work w = {
			ev->launch_id, ev->start_ns,
			ev->event_id,  ev->trace->trace_id,
			ev->end_ns,    ev->end_ns - ev->start_ns,
			ev->name,      0
		};

		pf_by_event_add(e, &w);
	}
	pf_gpu_free(gpu);
	if (!db->err->code)
		return e;
	pf_by_event_free(e);
	return NULL;
}

void pf_held_add(struct pf_held *h, int64_t start_ns, int64_t end_ns,
		 int64_t call_start_ns, int64_t call_end_ns)
{
	const int64_t ns = pf_sat_sub(end_ns, start_ns);

	pf_sat_sum(&h->work_ns, ns);
	h->count++;
	PF_AT_LEAST(start_ns, call_start_ns);
	PF_AT_MOST(end_ns, call_end_ns);
	if (start_ns >= end_ns)
		return;
	pf_sat_sum(&h->inside_ns, pf_sat_sub(end_ns, start_ns));
	h->inside_count += pf_sat_sub(end_ns, start_ns) > ns / 2;
}

bool pf_held_is(const struct pf_held *h)
{
	return h->inside_ns > h->work_ns / 2 && h->inside_count > h->count / 2;
}

void pf_held_say(const struct pf_held *h, struct pf_buf *out)
{
	pf_buf_addf(out,
		    "%s of the time of GPU work lies inside the call that "
		    "launched it",
		    PF_SHOW_SHARE(h->inside_ns, h->work_ns));
}
