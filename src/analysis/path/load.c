/* SPDX-License-Identifier: MIT */
/* GPU work of the trace, and what records say that streams and calls wait for. */
#include "analysis/path/path_impl.h"

#include "base/search.h"
#include "events/args.h"
#include "store/argtext.h"
#include "store/query.h"
#include "store/texts.h"

/* What a span needs of which all of the arguments are to be read. */
#define SYNC_COLUMNS                                                           \
	(PF_COLBIT(PF_COL_START) | PF_COLBIT(PF_COL_DUR) |                     \
	 PF_COLBIT(PF_COL_NAME) | PF_COLBIT(PF_COL_TYPE) |                     \
	 PF_COLBIT(PF_COL_ARGS) | PF_COLBIT(PF_COL_INLINE) |                   \
	 (PF_COLBIT(PF_COL_COUNT) - PF_COLBIT(PF_COL_SLOT)))

int path_check_time(int64_t start_ns, int64_t end_ns, struct pf_err *err)
{
	if (start_ns > -PF_PATH_TIME_MAX_NS && end_ns < PF_PATH_TIME_MAX_NS)
		return 0;
	return pf_fail(err, PF_EDATA,
		       "the times of the trace are too far apart for a path");
}

/* ---- work ---- */

static uint32_t stream_of(struct path *p, struct pf_map *at,
			  const struct pf_gpu_event *ev)
{
	uint64_t key = (uint64_t)ev->device << 32 ^ (uint64_t)ev->stream;
	uint64_t *place = pf_map_at(at, key);
	uint32_t i;

	if (*place != UINT64_MAX && p->streams[*place].device == ev->device &&
	    p->streams[*place].stream == ev->stream)
		return (uint32_t)*place;
	/* numbers beyond 32 bits may share a key */
	for (i = 0; i < p->stream_count; i++)
		if (p->streams[i].device == ev->device &&
		    p->streams[i].stream == ev->stream)
			return i;
	p->streams = pf_realloc(p->streams, (size_t)i + 1, sizeof(*p->streams));
	p->streams[i] = (struct path_stream){ .device = ev->device,
					      .stream = ev->stream,
					      .orphan = PF_PATH_NONE };
	p->stream_count++;
	*place = i;
	return i;
}

static void add_launched(struct path *p, int64_t launch_id)
{
	if (!launch_id)
		return;
	p->launched = pf_grow(p->launched, &p->launched_cap,
			      (size_t)p->with_call + 1, sizeof(*p->launched));
	p->launched[p->with_call++] =
		(struct path_launched){ launch_id, p->work_count };
}

/* Works of a call come in the order of its graph's nodes. */
static void add_node(struct path *p, int64_t launch_id, size_t *cap)
{
	p->nodes = pf_grow(p->nodes, cap, (size_t)p->work_count + 1,
			   sizeof(*p->nodes));
	p->nodes[p->work_count] =
		launch_id ? pf_graphs_next(p->args->graphs, launch_id) : NULL;
}

int path_load_works(struct path *p, struct pf_err *err)
{
	struct pf_window_trace whole = *p->trace;
	struct pf_window window = { .traces = &whole,
				    .count = 1,
				    .device = p->args->window.device };
	const struct pf_gpu_event *ev;
	struct pf_gpu *gpu;
	struct pf_map at;
	size_t cap = 0, node_cap = 0;
	int rc;

	whole.from_ns = INT64_MIN;
	whole.to_ns = INT64_MAX;
	gpu = pf_gpu_new(p->db, &window, PF_GPU_CALLS, err);
	if (!gpu)
		return -1;
	pf_map_init(&at);
	while ((rc = pf_gpu_next(gpu, &ev, err)) == 1) {
		uint32_t stream = stream_of(p, &at, ev);

		if ((rc = path_check_time(ev->start_ns, ev->end_ns, err)) < 0)
			break;
		if (p->work_count >= PATH_WORKS_MAX ||
		    stream >= PATH_STREAMS_MAX) {
			rc = pf_fail(err, PF_EDATA, "too much GPU work");
			break;
		}
		p->works = pf_grow(p->works, &cap, (size_t)p->work_count + 1,
				   sizeof(*p->works));
		p->works[p->work_count] = (struct path_work){
			.start_ns = ev->start_ns,
			.end_ns = ev->end_ns,
			.name = ev->name,
			.call = PF_PATH_NONE,
			.prev = PF_PATH_NONE,
			.stream = stream & (PATH_STREAMS_MAX - 1),
			.class = ev->class & 3,
		};
		add_launched(p, ev->launch_id);
		if (p->args->graphs)
			add_node(p, ev->launch_id, &node_cap);
		p->work_count++;
	}
	pf_map_release(&at);
	pf_gpu_free(gpu);
	return rc;
}

/* ---- records ---- */

static int64_t number_of(struct pf_json args, const char *key)
{
	int64_t value;

	return pf_json_int(pf_json_get(args, key), &value) ? value : -1;
}

struct sync_reader {
	struct path *p;
	struct pf_texts texts;
	struct pf_buf text;
};

static int add_sync(struct sync_reader *r, const struct pf_span *s,
		    struct pf_err *err)
{
	struct path *p = r->p;
	const struct pf_name_class *class;
	const char *text = s->inline_args;
	size_t len = s->inline_args_len;
	struct pf_json args;

	if (s->args != PF_ID_INLINE &&
	    pf_texts_get(&r->texts, PF_TEXT_ARGS, s->args, &text, &len, err) <
		    0)
		return -1;
	class = pf_names_class(p->names, s->name, err);
	if (!class)
		return -1;
	r->text.len = 0;
	if (s->args != PF_ID_NONE)
		pf_argtext_build(text, len, s->mask, s->slot, &r->text);
	args = (struct pf_json){ r->text.len ? r->text.data : "", r->text.len };
	p->syncs = pf_grow(p->syncs, &p->sync_cap, p->sync_count + 1,
			   sizeof(*p->syncs));
	p->syncs[p->sync_count] = (struct path_sync){
		.correlation = number_of(args, "correlation"),
		.device = number_of(args, "device"),
		.stream = number_of(args, "stream"),
		.on_stream = number_of(args, "wait_on_stream"),
		.on_record =
			number_of(args, "wait_on_cuda_event_record_corr_id"),
		.is_stream_wait = class->is_wait,
	};
	*pf_map_at(&p->sync_at, (uint64_t)p->syncs[p->sync_count].correlation) =
		p->sync_count;
	p->sync_count++;
	return 0;
}

static int read_track(struct sync_reader *r, uint32_t track_id,
		      struct pf_err *err)
{
	struct path *p = r->p;
	struct pf_cursor *c = pf_cursor_new(p->db, track_id, SYNC_COLUMNS, err);
	struct pf_span s;
	int rc = c ? 0 : -1;

	while (!rc && (rc = pf_cursor_next(c, &s, err)) == 1) {
		rc = 0;
		if (pf_names_kind(p->names, s.type) == PF_KIND_GPU_SYNC)
			rc = add_sync(r, &s, err);
	}
	pf_cursor_free(c);
	return rc;
}

int path_load_syncs(struct path *p, struct pf_err *err)
{
	struct sync_reader r = { .p = p, .texts = { .db = p->db } };
	sqlite3_stmt *stmt = pf_named_prepare(p->db, "path_sync_tracks", err);
	int rc = stmt ? 0 : -1;

	if (!rc)
		sqlite3_bind_int64(stmt, 1, p->trace->trace_id);
	while (!rc && (rc = pf_db_step(p->db, stmt, err)) == 1)
		rc = read_track(&r, (uint32_t)sqlite3_column_int64(stmt, 0),
				err);
	sqlite3_finalize(stmt);
	pf_texts_release(&r.texts);
	pf_buf_release(&r.text);
	return rc;
}
