/* SPDX-License-Identifier: MIT */
/*
 * From records to the graph: GPU work and its streams, what calls waited for,
 * threads of the host, then the edges to work and to points of threads.
 */
#include "config.h"

#include "analysis/path/impl.h"
#include "base/heap.h"
#include "base/order.h"
#include "base/sat.h"
#include "base/search.h"
#include "base/stats.h"
#include "events/args.h"
#include "events/interval.h"
#include "events/nest.h"
#include "store/argtext.h"
#include "store/query.h"
#include "store/texts.h"

/* GPU work of the trace, and what records say that streams and calls wait for. */

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

#define ROOM_MAX (1 << 25)

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
	i = *place == UINT64_MAX ? p->stream_count : 0;
	for (; i < p->stream_count; i++)
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

/*
 * Room for so many at once, if that is not too much to believe: an array that
 * grows is there twice meanwhile, and memory of a page never gets less.
 */
static void *with_room(size_t *cap, int64_t count, size_t bytes)
{
	*cap = count > 0 && count < ROOM_MAX ? (size_t)count : 0;
	return pf_realloc(NULL, *cap, bytes);
}

/* Is one before the other?  Of neither they stay as they are. */
typedef bool is_before(const void *context, uint32_t a, uint32_t b);

/* Numbers that are in order take no memory, others as much as they are. */
static void sort_numbers(uint32_t *items, size_t count, is_before *before,
			 const void *context)
{
	PF_OWN uint32_t *left = NULL;

	for (size_t width = 1; width < count; width *= 2)
		for (size_t at = 0; at + width < count; at += 2 * width) {
			const size_t end =
				at + 2 * width < count ? at + 2 * width : count;
			size_t to = at, from = at + width;

			if (!before(context, items[from], items[from - 1]))
				continue;
			left = left ? left : pf_alloc(count * sizeof(*left));
			memcpy(left, items + at, width * sizeof(*left));
			for (size_t i = 0; i < width;)
				items[to++] = from < end && before(context,
								   items[from],
								   left[i])
						      ? items[from++]
						      : left[i++];
		}
}

/* Works of a call come in the order of its graph's nodes. */
static void add_node(struct path *p, int64_t launch_id, size_t *cap)
{
	p->nodes = pf_grow(p->nodes, cap, (size_t)p->work_count + 1,
			   sizeof(*p->nodes));
	p->nodes[p->work_count] =
		launch_id ? pf_graphs_next(p->args->graphs, launch_id) : NULL;
}

int path_load_works(struct path *p)
{
	struct pf_window_trace whole = *p->trace;
	struct pf_window window = { .traces = &whole,
				    .count = 1,
				    .device = p->args->window.device };
	const struct pf_gpu_event *ev;
	struct pf_gpu *gpu;
	struct pf_map at = { 0 };
	size_t cap, node_cap = 0;
	int64_t most = 0;
	int rc;

	whole.from_ns = INT64_MIN;
	whole.to_ns = INT64_MAX;
	gpu = pf_gpu_new(p->db, &window, PF_GPU_CALLS);
	if (!gpu)
		return -1;
	for (size_t i = 0; i < p->track_count; i++)
		if (!strcmp(p->tracks[i].class_name, "gpu"))
			pf_sat_sum(&most, p->tracks[i].event_count);
	p->works = with_room(&cap, most, sizeof(*p->works));
	while ((rc = pf_gpu_next(gpu, &ev)) == 1) {
		const uint32_t known = p->stream_count;
		uint32_t stream = stream_of(p, &at, ev);

		if ((rc = path_check_time(ev->start_ns, ev->end_ns,
					  p->db->err)) < 0)
			break;
		if (p->work_count >= PATH_WORKS_MAX ||
		    stream >= PATH_STREAMS_MAX) {
			rc = pf_fail(p->db->err, PF_EDATA, "too much GPU work");
			break;
		}
		PF_ROOM(p->works, cap, (size_t)p->work_count + 1);
		p->works[p->work_count] = (struct path_work){
			.start_ns = ev->start_ns,
			.end_ns = ev->end_ns,
			.name = ev->name,
			.call = ev->launch_id ? (uint32_t)ev->launch_id
					      : PF_PATH_NONE,
			.prev = ev->launch_id ? pf_track_of(ev->launch_id)
					      : PF_PATH_NONE,
			.stream = stream & (PATH_STREAMS_MAX - 1),
			.class = ev->class & 3,
			.is_queued = stream == known,
		};
		p->with_call += p->works[p->work_count].prev != PF_PATH_NONE;
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

static int add_sync(struct sync_reader *r, const struct pf_span *s)
{
	struct path *p = r->p;
	const struct pf_name_class *class;
	const char *text = s->inline_args;
	size_t len = s->inline_args_len;
	struct pf_json args;

	if (s->args != PF_ID_INLINE &&
	    pf_texts_get(&r->texts, PF_TEXT_ARGS, s->args, &text, &len,
			 r->p->db->err) < 0)
		return -1;
	class = pf_names_class(p->names, s->name);
	if (!class)
		return -1;
	r->text.len = 0;
	if (s->args != PF_ID_NONE)
		pf_argtext_build(text, len, s->mask, s->slot, &r->text);
	args = (struct pf_json){ r->text.len ? r->text.data : "", r->text.len };
	PF_ROOM(p->syncs, p->sync_cap, p->sync_count + 1);
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

static int read_track(struct sync_reader *r, uint32_t track_id)
{
	struct path *p = r->p;
	PF_AUTO(pf_cursor_freed)
	struct pf_cursor *c = pf_cursor_new(p->db, track_id, SYNC_COLUMNS);
	struct pf_span s;
	int rc = 0;

	while (!rc && (rc = pf_cursor_next(c, &s, r->p->db->err)) == 1) {
		rc = 0;
		if (pf_names_kind(p->names, s.type) == PF_KIND_GPU_SYNC)
			rc = add_sync(r, &s);
	}
	return rc;
}

int path_load_syncs(struct path *p)
{
	struct sync_reader r = { .p = p, .texts = { .db = p->db } };
	sqlite3_stmt *stmt =
		pf_named_prepare(p->db, "path_sync_tracks", p->db->err);
	int rc = stmt ? 0 : -1;

	if (!rc)
		sqlite3_bind_int64(stmt, 1, p->trace->trace_id);
	while (!rc && (rc = pf_db_step(p->db, stmt, p->db->err)) == 1)
		rc = read_track(&r, (uint32_t)sqlite3_column_int64(stmt, 0));
	sqlite3_finalize(stmt);
	pf_texts_release(&r.texts);
	pf_buf_release(&r.text);
	return rc;
}

/*
 * When threads of a process communicate: gloo has threads of its own, and of
 * the one that waits for them nothing but its step is recorded.  By process
 * and time, cut so that no two of one process overlap.
 */

static void path_comms_add(struct path *p, const char *pid, uint32_t name,
			   int64_t start_ns, int64_t end_ns)
{
	*PF_ONE_MORE(p->comms, p->comm_count, p->comm_cap) =
		(struct path_comm){ start_ns, end_ns, pid, name };
}

PF_ORDER(by_start, struct path_comm,
	 PF_ALPHA(pid) PF_UP(start_ns) PF_DOWN(end_ns) PF_UP(name))

/* What reaches behind the last one: of its name it is one with it. */
static void add_behind(struct path *p, size_t *n, struct path_comm c)
{
	struct path_comm *last = &p->comms[*n - 1];

	c.start_ns = last->end_ns;
	if (last->name == c.name)
		last->end_ns = c.end_ns;
	else
		p->comms[(*n)++] = c;
}

static void path_comms_settle(struct path *p)
{
	size_t n = 0;

	path_sort(p->comms, p->comm_count, sizeof(*p->comms), by_start);
	for (size_t i = 0; i < p->comm_count; i++) {
		const struct path_comm *c = &p->comms[i];
		struct path_comm *last = n ? &p->comms[n - 1] : NULL;

		if (!last || strcmp(last->pid, c->pid) != 0 ||
		    c->start_ns > last->end_ns)
			p->comms[n++] = *c;
		else if (c->end_ns > last->end_ns)
			add_behind(p, &n, *c);
	}
	p->comm_count = n;
}

const struct path_comm *path_comm_after(const struct path *p, const char *pid,
					int64_t at_ns)
{
	size_t lo = 0, hi = p->comm_count;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		int order = strcmp(p->comms[mid].pid, pid);

		if (order < 0 || (!order && p->comms[mid].end_ns <= at_ns))
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < p->comm_count && !strcmp(p->comms[lo].pid, pid)
		       ? &p->comms[lo]
		       : NULL;
}

/*
 * What each call that blocks waited for: one piece of work, or nothing.  What
 * such a call takes when it waits for nothing is the least that it takes.
 */

/* The stream of the thread's last launch so far. */
struct turn {
	struct path *p;
	const struct path_stream *last;
	uint32_t call, best;
	bool has_own; /* work of its own that the call waits for */
};

/* Could the call have waited for it?  Of several, what ends last. */
static void offer(struct turn *t, uint32_t work)
{
	struct path *p = t->p;
	const struct path_call *c = &p->calls[t->call];
	const struct path_work *w;

	if (!path_is_in(p, work))
		return;
	w = &p->works[work];
	if (w->end_ns > c->end_ns + PF_PATH_CLOCK_NS ||
	    w->start_ns >= c->end_ns ||
	    (w->end_ns <= c->start_ns && !t->has_own))
		return;
	if (t->best == PF_PATH_NONE || w->end_ns > p->works[t->best].end_ns)
		t->best = work;
}

static bool find_own(struct turn *t)
{
	struct path *p = t->p;
	const struct path_call *c = &p->calls[t->call];

	for (uint32_t k = c->first_work; k < c->first_work + c->work_count;
	     k++) {
		uint32_t i = p->by_call[k];
		const struct path_work *w = &p->works[i];

		if ((w->class != PF_GPU_COPY && !p->is_held) || !w->is_in ||
		    w->end_ns > c->end_ns + PF_PATH_CLOCK_NS)
			continue;
		t->has_own = true;
		offer(t, i);
	}
	return t->has_own;
}

const struct path_sync *path_record_of(const struct path *p,
				       const struct path_call *c)
{
	int64_t key = p->correlations ? p->correlations[c - p->calls] : -1;

	if (key < 0 || !pf_map_has(&p->sync_at, (uint64_t)key))
		return NULL;
	return &p->syncs[*pf_map_at((struct pf_map *)&p->sync_at,
				    (uint64_t)key)];
}

static uint32_t path_last_launched(const struct path *p,
				   const struct path_stream *s, int64_t at_ns);

static void of_all(struct turn *t)
{
	struct path *p = t->p;

	for (uint32_t i = 0; i < p->stream_count; i++)
		if (p->streams[i].count)
			offer(t,
			      path_last_launched(p, &p->streams[i],
						 p->calls[t->call].start_ns));
}

static const struct path_stream *path_find_stream(const struct path *p,
						  int64_t device,
						  int64_t stream);

/* Without a record, if the thread's stream does not fit, those that do. */
static void of_stream(struct turn *t)
{
	struct path *p = t->p;
	const struct path_call *c = &p->calls[t->call];
	const struct path_sync *s = path_record_of(p, c);
	const struct path_stream *on =
		s ? path_find_stream(p, s->device, s->stream) : NULL;
	uint32_t w = PF_PATH_NONE;

	on = on ? on : t->last;
	if (on)
		w = path_last_launched(p, on, c->start_ns);
	if (s || (w != PF_PATH_NONE &&
		  p->works[w].end_ns <= c->end_ns + PF_PATH_CLOCK_NS)) {
		offer(t, w);
		return;
	}
	for (uint32_t i = 0; i < p->stream_count; i++) {
		if (!p->streams[i].count)
			continue;
		w = path_last_launched(p, &p->streams[i], c->start_ns);
		if (w != PF_PATH_NONE && p->works[w].end_ns <= c->end_ns)
			offer(t, w);
	}
}

static uint32_t path_last_ended(const struct path *p,
				const struct path_stream *s, int64_t at_ns);

static void of_event(struct turn *t)
{
	struct path *p = t->p;
	const struct path_call *c = &p->calls[t->call];
	const struct path_sync *s = path_record_of(p, c);
	const struct path_stream *on;

	if (s && pf_map_has(&p->record_at, (uint64_t)s->on_record)) {
		const struct path_call *r = &p->calls[*pf_map_at(
			&p->record_at, (uint64_t)s->on_record)];

		on = path_find_stream(p, s->device, s->on_stream);
		if (on)
			offer(t, path_last_launched(p, on, r->start_ns));
		return;
	}
	for (uint32_t i = 0; i < p->stream_count; i++) {
		uint32_t w = path_last_ended(p, &p->streams[i], c->end_ns);

		if (w != PF_PATH_NONE &&
		    (p->works[w].call == PF_PATH_NONE ||
		     path_launched_ns(p, &p->works[w]) < c->start_ns))
			offer(t, w);
	}
}

/* ---- what a call takes that waits for nothing ---- */

struct short_call {
	uint32_t name;
	int64_t ns;
};

PF_ORDER(by_name, struct short_call, PF_UP(name) PF_UP(ns))

static void measure_phi(struct path *p, struct short_call *all, size_t count)
{
	pf_sort(all, count, sizeof(*all), by_name);
	for (size_t i = 0, end; i < count; i = end) {
		for (end = i; end < count && all[end].name == all[i].name;)
			end++;
		*PF_ONE_MORE(p->phi, p->phi_count,
			     p->phi_cap) = (struct path_phi){
			all[i].name, all[i + ((end - i) * 10 + 99) / 100 - 1].ns
		};
	}
}

int64_t path_phi(const struct path *p, uint32_t name)
{
	size_t i = PF_SEARCH(k, p->phi_count, p->phi[k].name < name);

	return i < p->phi_count && p->phi[i].name == name ? p->phi[i].ns : 0;
}

/* ---- calls ---- */

static void (*const waits_of[])(struct turn *t) = {
	[PF_WAITS_ALL] = of_all,
	[PF_WAITS_STREAM] = of_stream,
	[PF_WAITS_EVENT] = of_event,
};

static void find(struct turn *t)
{
	struct path_call *c = &t->p->calls[t->call];

	t->best = PF_PATH_NONE;
	t->has_own = false;
	if (!find_own(t) && c->waits)
		waits_of[c->waits](t);
	c->needs = t->best;
}

void path_find_waits(struct path *p)
{
	PF_OWN struct short_call *shorts = NULL;
	size_t count = 0, cap = 0;

	for (uint32_t i = 0; i < p->thread_count; i++) {
		const struct path_thread *th = &p->threads[i];
		struct turn t = { .p = p, .call = th->first_call };

		for (; t.call < th->first_call + th->call_count; t.call++) {
			struct path_call *c = &p->calls[t.call];

			if (c->work_count)
				t.last =
					&p->streams
						 [p->works[p->by_call
								   [c->first_work]]
							  .stream];
			if (c->start_ns < p->w0_ns || c->start_ns >= p->h_ns)
				continue;
			find(&t);
			if (t.best != PF_PATH_NONE || t.has_own || !c->waits)
				continue;
			*PF_ONE_MORE(shorts, count, cap) =
				(struct short_call){ path_around(p, c).name,
						     c->end_ns - c->start_ns };
		}
	}
	measure_phi(p, shorts, count);
}

/*
 * Threads of the host in one pass: the calls that the graph is made of, each
 * with the operator, line and module around it, and when a thread works.
 */

/* What is open. */
struct frame {
	struct pf_nest_range range;
	uint32_t name, op, frame, module;
	bool is_user; /* frame is the user's */
	bool is_asleep, is_range;
	uint8_t slept; /* enum path_slept: of the innermost function */
};

static const struct frame outermost = { .name = PF_ID_NONE,
					.op = PF_ID_NONE,
					.frame = PF_ID_NONE,
					.module = PF_ID_NONE,
					.slept = PATH_SLEPT_SOMEHOW };

struct reader {
	struct path *p;
	struct path_thread *thread;
	uint32_t number;  /* of the thread */
	uint32_t by_call; /* the next of p->by_call */
	struct pf_nest open;
	int64_t at_ns;   /* of the last event; INT64_MIN: there was none */
	int64_t past_ns; /* of the last begin or end */
	uint8_t slept;   /* enum path_slept: just before that instant */
	bool is_napping; /* nothing has begun in the last of p->naps */
	bool is_on;      /* of pf_name_bounds() */
	/* since it worked: how long functions waited for autograd */
	int64_t waited_ns, wait_end_ns;
	bool has_around;
	struct path_around around; /* of the last call, and its number */
	uint32_t around_number;
	bool has_correlation;
	const struct pf_block *block;
	uint32_t corr_at, corr_event; /* in the dense column, and its event */
};

/* Until the call is known. */
static int64_t launch_id(const struct path *p, uint32_t work)
{
	const struct path_work *w = &p->works[work];

	return (int64_t)((uint64_t)w->prev << 32 | w->call);
}

/* Calls that launched, by_call, are in the order of events. */
static uint32_t works_of(struct reader *r, int64_t event_id, uint32_t *first)
{
	struct path *p = r->p;
	uint32_t i = r->by_call;

	while (i < p->with_call && launch_id(p, p->by_call[i]) < event_id)
		i++;
	*first = i;
	while (i < p->with_call && launch_id(p, p->by_call[i]) == event_id)
		i++;
	r->by_call = i;
	return i - *first;
}

static int64_t correlation_of(struct reader *r, const struct pf_block *b,
			      uint32_t i)
{
	const uint32_t bit = 1u << PF_SLOT_CORRELATION;

	if (r->block != b || r->corr_event > i) {
		r->block = b;
		r->corr_at = r->corr_event = 0;
	}
	for (; r->corr_event < i; r->corr_event++)
		r->corr_at += (b->mask[r->corr_event] & bit) != 0;
	return b->mask[i] & bit ? b->slot[PF_SLOT_CORRELATION][r->corr_at] : -1;
}

/* Places are few, and calls of one follow each other. */
static uint32_t around_of(struct reader *r, uint32_t name,
			  const struct frame *f)
{
	const struct path_around around = { name, r->number, f->op, f->frame,
					    f->module };

	if (!r->has_around || memcmp(&around, &r->around, sizeof(around)) != 0)
		r->around_number = pf_intern_add(
			&r->p->arounds, (const char *)&around, sizeof(around));
	r->has_around = true;
	r->around = around;
	return r->around_number;
}

static void add_correlation(struct reader *r, int64_t correlation,
			    const struct path_call *c)
{
	struct path *p = r->p;

	PF_ROOM(p->correlations, p->correlation_cap, (size_t)p->call_count + 1);
	p->correlations[p->call_count] = correlation;
	if (c->is_record)
		*pf_map_at(&p->record_at, (uint64_t)correlation) =
			p->call_count;
	if (c->is_stream_wait)
		*pf_map_at(&p->wait_at, (uint64_t)correlation) = p->call_count;
}

static int add_call(struct reader *r, const struct pf_block *b, uint32_t i,
		    int64_t event_id, const struct pf_name_class *class)
{
	struct path *p = r->p;
	const struct frame *f = pf_nest_top(&r->open);
	uint32_t first, count = works_of(r, event_id, &first);
	bool is_first = pf_is_first_use(p->firsts, event_id);
	struct path_call *c;

	if (!count && !class->waits &&
	    !(r->has_correlation &&
	      (class->is_record || class->is_stream_wait)))
		return 0;
	if (count > PATH_OF_CALL_MAX)
		return pf_fail(r->p->db->err, PF_EDATA,
			       "too much GPU work of one call");
	f = f ? f : &outermost;
	PF_ROOM(p->calls, p->call_cap, (size_t)p->call_count + 1);
	c = &p->calls[p->call_count];
	*c = (struct path_call){
		.start_ns = b->start_ns[i],
		.end_ns = pf_span_end(b->start_ns[i], b->dur_ns[i]),
		.around = around_of(r, b->name[i], f),
		.first_work = first,
		.needs = PF_PATH_NONE,
		.work_count = count & PATH_OF_CALL_MAX,
		.waits = is_first ? PF_WAITS_NOT : class->waits & 7,
		.is_record = class->is_record,
		.is_stream_wait = class->is_stream_wait,
		.is_allocation = class->call == PF_CAUSE_ALLOCATOR,
		.is_first = is_first,
	};
	if (r->has_correlation)
		add_correlation(r, correlation_of(r, b, i), c);
	for (uint32_t k = first; k < first + count; k++) {
		p->works[p->by_call[k]].call = p->call_count;
		p->works[p->by_call[k]].prev = PF_PATH_NONE;
	}
	r->thread->launch_count += count > 0;
	p->call_count++;
	return 0;
}

/*
 * How did the thread sleep before it went on?  As what was open at that instant
 * says; or a function waited for most of the time in which it did nothing: it
 * may have returned before the next call.
 */
static enum path_slept slept(const struct reader *r, int64_t since_ns,
			     int64_t at_ns)
{
	int64_t beyond = r->wait_end_ns > at_ns ? r->wait_end_ns - at_ns : 0;

	return r->waited_ns > beyond &&
			       r->waited_ns - beyond >= (at_ns - since_ns) / 2
		       ? PATH_SLEPT_ENGINE
		       : (enum path_slept)r->slept;
}

/* It works up to then: only what waits still counts. */
static void forget_waits(struct reader *r, int64_t at_ns)
{
	r->waited_ns = r->wait_end_ns > at_ns ? r->wait_end_ns - at_ns : 0;
}

/* Time in which the thread works; what is close is one. */
static void add_busy(struct reader *r, int64_t start_ns, int64_t end_ns)
{
	struct path *p = r->p;
	struct path_busy *b = p->busy_count > r->thread->first_busy
				      ? &p->busy[p->busy_count - 1]
				      : NULL;
	const int64_t since_ns = b ? b->end_ns : start_ns;

	if (b && start_ns - b->end_ns < PF_PATH_HANDOFF_NS) {
		if (end_ns > b->end_ns)
			b->end_ns = end_ns;
		forget_waits(r, b->end_ns);
		return;
	}
	*PF_ONE_MORE(p->busy, p->busy_count, p->busy_cap) = (struct path_busy){
		start_ns, end_ns, (uint8_t)slept(r, since_ns, start_ns), false
	};
	forget_waits(r, end_ns);
}

static void add_range(struct frame *f, unsigned kind, uint32_t name,
		      const struct pf_name_class *class)
{
	f->is_asleep = kind == PF_KIND_PYTHON && class->is_asleep;
	f->is_range = kind == PF_KIND_ANNOTATION;
	f->name = name;
	if (kind == PF_KIND_CPU_OP && !class->is_step)
		f->op = name;
	if (kind != PF_KIND_PYTHON)
		return;
	f->slept = class->woken_by == PF_WOKEN_ENGINE ? PATH_SLEPT_ENGINE
						      : PATH_AWAKE;
	if (class->is_module)
		f->module = name;
	if (class->is_user_python || !f->is_user)
		f->frame = name;
	f->is_user |= class->is_user_python;
}

/* Something begins or ends: up to then the innermost was alone. */
static void end_hole(struct reader *r, const struct frame *f, int64_t at_ns)
{
	struct path *p = r->p;

	if (f && f->is_range && at_ns - r->past_ns >= PF_PATH_HOLE_NS)
		*PF_ONE_MORE(p->holes, p->hole_count, p->hole_cap) =
			(struct path_hole){ r->past_ns, at_ns, r->number };
	r->past_ns = at_ns > r->past_ns ? at_ns : r->past_ns;
}

/* A new instant: what was open just before it? */
static void go_to(struct reader *r, int64_t at_ns)
{
	const struct frame *f;

	if (at_ns > r->at_ns) {
		while ((f = pf_nest_ended(&r->open, at_ns - 1)))
			end_hole(r, f, f->range.end_ns);
		f = pf_nest_top(&r->open);
		end_hole(r, f, at_ns);
		r->slept = f ? f->slept : PATH_SLEPT_SOMEHOW;
		r->at_ns = at_ns;
	}
	pf_nest_drop(&r->open, at_ns);
}

/* As steps count it: by its name, where no GPU works. */
static bool is_comm(const struct path *p, unsigned kind,
		    const struct pf_name_class *class)
{
	return !p->work_count && class->range == PF_CAUSE_COMM &&
	       (kind == PF_KIND_CPU_OP || kind == PF_KIND_ANNOTATION);
}

/* A function sleeps in which nothing begins; of short ones nothing is known. */
static void take_function(struct reader *r, const struct pf_name_class *class,
			  int64_t start_ns, int64_t end_ns)
{
	struct path *p = r->p;
	const struct frame *in = pf_nest_top(&r->open);

	r->thread->has_python = true;
	if ((class->woken_by == PF_WOKEN_LOCK ||
	     class->woken_by == PF_WOKEN_ENGINE) &&
	    end_ns - start_ns >= PF_PATH_HANDOFF_NS) {
		*PF_ONE_MORE(p->naps, p->nap_count, p->nap_cap) =
			(struct path_nap){ start_ns, end_ns, r->number,
					   class->woken_by };
		r->is_napping = true;
	}
	/* who sleeps on a condition lets go of its lock to do so */
	if (class->wakes && !(in && in->is_asleep))
		*PF_ONE_MORE(p->wakes, p->wake_count, p->wake_cap) =
			(struct path_wake){ start_ns, r->number, 0 };
	if (class->woken_by == PF_WOKEN_ENGINE && end_ns > r->wait_end_ns) {
		r->waited_ns +=
			end_ns -
			(start_ns > r->wait_end_ns ? start_ns : r->wait_end_ns);
		r->wait_end_ns = end_ns;
	}
}

/* Autograd's threads begin with an operator of it, as no other does. */
static void take_op(struct path_thread *t, const struct pf_name_class *class)
{
	t->is_engine |= !t->has_op && !t->has_call && class->is_node;
	t->has_node |= class->is_node;
}

static int event(void *context, const struct pf_block *b, uint32_t i,
		 int64_t event_id, struct pf_err *err)
{
	struct reader *r = context;
	struct path *p = r->p;
	struct path_thread *t = r->thread;
	unsigned kind = pf_names_kind(p->names, b->type[i]);
	int64_t start = b->start_ns[i], end = pf_span_end(start, b->dur_ns[i]);
	bool is_call = kind == PF_KIND_RUNTIME || kind == PF_KIND_DRIVER;
	const struct pf_name_class *class;
	struct frame *f;

	if (kind > PF_KIND_OVERHEAD)
		return 0;
	class = pf_names_class(p->names, b->name[i]);
	if (!class || path_check_time(start, end, err) < 0)
		return -1;
	go_to(r, start);
	if (r->is_napping && start < p->naps[p->nap_count - 1].to_ns)
		p->nap_count--;
	r->is_napping = false;
	if (kind == PF_KIND_CPU_OP)
		take_op(t, class);
	if (is_call && add_call(r, b, i, event_id, class) < 0)
		return -1;
	if (is_call || kind == PF_KIND_CPU_OP ||
	    (!p->work_count && pf_name_bounds(kind, class, &r->is_on))) {
		if (t->last_ns == INT64_MIN)
			t->first_ns = start;
		t->has_op |= kind == PF_KIND_CPU_OP;
		t->has_call |= is_call;
		t->last_ns = end > t->last_ns ? end : t->last_ns;
	}
	if ((is_call || (kind == PF_KIND_CPU_OP &&
			 (!class->is_wrapper || p->trace->is_pooled))) &&
	    (!p->has_bounds || end > p->w0_ns)) {
		add_busy(r, start, end);
		p->busy[p->busy_count - 1].waits |= class->waits != 0;
	}
	if (is_comm(p, kind, class))
		path_comms_add(p, t->pid, b->name[i], start, end);
	if (kind == PF_KIND_PYTHON)
		take_function(r, class, start, end);
	PF_NEST_OF(&r->open, struct frame);
	f = pf_nest_enter(&r->open,
			  (struct pf_nest_range){ end, kind == PF_KIND_PYTHON },
			  false);
	if (f)
		add_range(f, kind, b->name[i], class);
	return 0;
}

/* As pf_track_read(), with correlations where records ask for them. */
static int read_host_track(struct reader *r, const struct pf_track *t)
{
	uint64_t columns = PF_COLBIT(PF_COL_START) | PF_COLBIT(PF_COL_DUR) |
			   PF_COLBIT(PF_COL_NAME) | PF_COLBIT(PF_COL_TYPE);
	struct pf_cursor *c;
	const struct pf_block *b;
	uint32_t first;
	int rc = 0;

	if (r->has_correlation)
		columns |= PF_COLBIT(PF_COL_SLOT + PF_SLOT_CORRELATION);
	c = pf_cursor_new(r->p->db, t->id, columns);
	pf_cursor_ahead(c);
	while (!rc &&
	       (rc = pf_cursor_block(c, &b, &first, r->p->db->err)) == 1) {
		rc = 0;
		r->block = NULL;
		for (uint32_t i = 0; !rc && i < b->count; i++)
			rc = event(
				r, b, i,
				(int64_t)((uint64_t)t->id << 32 | (first + i)),
				r->p->db->err);
	}
	pf_cursor_free(c);
	return rc;
}

static int read_thread(struct reader *r, const struct pf_track *t)
{
	struct path *p = r->p;
	int rc;

	r->number = p->thread_count++;
	r->thread = &p->threads[r->number];
	*r->thread = (struct path_thread){
		.track_id = t->id,
		.pid = t->pid,
		.last_ns = INT64_MIN,
		.first_call = p->call_count,
		.first_busy = p->busy_count,
		.first_point = PF_PATH_NONE,
	};
	r->at_ns = r->wait_end_ns = INT64_MIN;
	r->is_on = false;
	r->past_ns = INT64_MIN;
	r->waited_ns = 0;
	r->is_napping = false;
	pf_nest_clear(&r->open);
	rc = read_host_track(r, t);
	r->thread->call_count = p->call_count - r->thread->first_call;
	r->thread->busy_count = p->busy_count - r->thread->first_busy;
	return rc;
}

static size_t track_at(const struct path *p, uint32_t track_id)
{
	return PF_SEARCH(k, p->track_count, p->tracks[k].id < track_id);
}

static bool called_before(const void *context, uint32_t a, uint32_t b)
{
	return launch_id(context, a) < launch_id(context, b);
}

/* Those of one track beside each other: there they are nearly in order. */
static void order_by_call(struct path *p)
{
	uint32_t *at = pf_calloc(p->track_count + 2, sizeof(*at));

	p->by_call = pf_alloc(((size_t)p->with_call + 1) * sizeof(*p->by_call));
	for (uint32_t i = 0; i < p->work_count; i++)
		if (p->works[i].prev != PF_PATH_NONE)
			at[track_at(p, p->works[i].prev) + 1]++;
	for (size_t k = 0; k < p->track_count; k++)
		at[k + 1] += at[k];
	for (uint32_t i = 0; i < p->work_count; i++)
		if (p->works[i].prev != PF_PATH_NONE)
			p->by_call[at[track_at(p, p->works[i].prev)]++] = i;
	free(at);
	sort_numbers(p->by_call, p->with_call, called_before, p);
}

/* What launched it was not recorded. */
static void forget_launches(struct path *p)
{
	for (uint32_t i = 0; i < p->work_count; i++)
		if (p->works[i].prev != PF_PATH_NONE)
			p->works[i].call = p->works[i].prev = PF_PATH_NONE;
}

int path_load_host(struct path *p)
{
	struct reader r = { .p = p,
			    .open = { .width = sizeof(struct frame),
				      .outermost = &outermost },
			    .has_correlation = p->sync_count > 0 };
	struct pf_intern processes = { 0 };
	int rc;

	p->firsts = pf_first_uses(p->db, true);
	rc = p->firsts ? 0 : -1;
	order_by_call(p);
	p->calls = with_room(&p->call_cap, p->with_call + p->with_call / 4,
			     sizeof(*p->calls));
	p->threads = pf_calloc(p->track_count + 1, sizeof(*p->threads));
	for (size_t i = 0; !rc && i < p->track_count; i++)
		if (!strcmp(p->tracks[i].class_name, "host"))
			rc = read_thread(&r, &p->tracks[i]);
	pf_nest_release(&r.open);
	path_comms_settle(p);
	p->is_served = p->work_count && !p->step_count;
	for (uint32_t i = 0; i < p->thread_count; i++) {
		struct path_thread *t = &p->threads[i];

		p->has_ops |= t->has_op;
		p->is_served &= !t->has_python;
		t->process = pf_intern_add(&processes, t->pid, strlen(t->pid));
	}
	for (size_t i = 0; i < p->wake_count; i++)
		p->wakes[i].process = p->threads[p->wakes[i].thread].process;
	pf_intern_release(&processes);
	forget_launches(p);
	p->calls = pf_realloc(p->calls, (size_t)p->call_count + 1,
			      sizeof(*p->calls));
	return rc;
}

bool path_is_compute(const struct path *p, const struct path_thread *t)
{
	return p->has_ops ? t->has_op
			  : t->has_call || t->track_id == p->main_track;
}

/* Work that is in, stream by stream, and the least that edges between take. */

#define SORT_ITEM_MAX 64 /* bytes */

/* By insertion, as long as that takes few moves; what is left is the same. */
static bool sort_nearly(char *items, size_t count, size_t bytes,
			int (*compare)(const void *a, const void *b))
{
	size_t left = 4 * count;
	char item[SORT_ITEM_MAX];

	for (size_t i = 1; i < count; i++) {
		char *at = items + i * bytes, *to = at;

		if (compare(at - bytes, at) <= 0)
			continue;
		memcpy(item, at, bytes);
		for (; to > items && compare(to - bytes, item) > 0; to -= bytes)
			if (!left--)
				return false;
		memmove(to + bytes, to, (size_t)(at - to));
		memcpy(to, item, bytes);
	}
	return true;
}

void path_sort(void *items, size_t count, size_t bytes,
	       int (*compare)(const void *a, const void *b))
{
	if (count > 1 && (bytes > SORT_ITEM_MAX ||
			  !sort_nearly(items, count, bytes, compare)))
		pf_sort(items, count, bytes, compare);
}

static bool starts_before(const void *context, uint32_t a, uint32_t b)
{
	const struct path *p = context;
	const struct path_work *x = &p->works[a], *y = &p->works[b];

	return x->start_ns != y->start_ns ? x->start_ns < y->start_ns
					  : x->end_ns < y->end_ns;
}

static bool ends_before(const void *context, uint32_t a, uint32_t b)
{
	const struct path *p = context;

	return p->works[a].end_ns < p->works[b].end_ns;
}

static bool launched_before(const void *context, uint32_t a, uint32_t b)
{
	const struct path *p = context;

	return path_launched_ns(p, &p->works[a]) <
	       path_launched_ns(p, &p->works[b]);
}

/* The order of "items", or that of by_start itself where it is the same. */
static uint32_t *take_order(const struct path *p, const struct path_stream *s,
			    uint32_t *items, uint32_t count, is_before *before)
{
	sort_numbers(items, count, before, p);
	if (count != s->count ||
	    memcmp(items, s->by_start, count * sizeof(*items)) != 0)
		return items;
	free(items);
	return s->by_start;
}

/* The second and third order keep the first where times are equal. */
static void order_stream(struct path *p, struct path_stream *s)
{
	const size_t bytes = (size_t)s->count * sizeof(*s->by_start);
	uint32_t *items;

	sort_numbers(s->by_start, s->count, starts_before, p);
	for (uint32_t i = 0; i < s->count; i++)
		p->works[s->by_start[i]].prev =
			i ? s->by_start[i - 1] : PF_PATH_NONE;
	items = pf_alloc(bytes + 1);
	memcpy(items, s->by_start, bytes);
	s->by_end = take_order(p, s, items, s->count, ends_before);
	items = pf_alloc(bytes + 1);
	for (uint32_t i = 0; i < s->count; i++) {
		uint32_t w = s->by_start[i];

		if (p->works[w].call == PF_PATH_NONE)
			s->orphan = w;
		else
			items[s->launched_count++] = w;
	}
	s->by_launch =
		take_order(p, s, items, s->launched_count, launched_before);
}

void path_order_streams(struct path *p)
{
	uint32_t *at;

	for (uint32_t i = 0; i < p->work_count; i++)
		p->streams[p->works[i].stream].count += p->works[i].is_in;
	p->orders = pf_alloc(((size_t)p->work_count + 1) * sizeof(*p->orders));
	at = p->orders;
	for (uint32_t i = 0; i < p->stream_count; i++) {
		struct path_stream *s = &p->streams[i];

		s->by_start = at;
		at += s->count;
		s->count = 0;
	}
	for (uint32_t i = 0; i < p->work_count; i++) {
		struct path_stream *s = &p->streams[p->works[i].stream];

		if (p->works[i].is_in)
			s->by_start[s->count++] = i;
	}
	for (uint32_t i = 0; i < p->stream_count; i++)
		order_stream(p, &p->streams[i]);
}

static void free_orders(struct path *p)
{
	for (uint32_t i = 0; i < p->stream_count; i++) {
		struct path_stream *s = &p->streams[i];

		if (s->by_end != s->by_start)
			free(s->by_end);
		if (s->by_launch != s->by_start)
			free(s->by_launch);
	}
	free(p->orders);
	p->orders = NULL;
}

/* ---- look-ups ---- */

/* The last work of a stream that was launched before an instant, or none. */
static uint32_t path_last_launched(const struct path *p,
				   const struct path_stream *s, int64_t at_ns)
{
	size_t n = PF_SEARCH(i, s->launched_count,
			     path_launched_ns(p, &p->works[s->by_launch[i]]) <
				     at_ns);

	return n ? s->by_launch[n - 1] : s->orphan;
}

/* The work of a stream that ended last at or before an instant, or none. */
static uint32_t path_last_ended(const struct path *p,
				const struct path_stream *s, int64_t at_ns)
{
	size_t n =
		PF_SEARCH(i, s->count, p->works[s->by_end[i]].end_ns <= at_ns);

	return n ? s->by_end[n - 1] : PF_PATH_NONE;
}

/* The stream of these numbers that has work, or NULL; device -1: any. */
static const struct path_stream *path_find_stream(const struct path *p,
						  int64_t device,
						  int64_t stream)
{
	for (uint32_t i = 0; i < p->stream_count; i++)
		if (p->streams[i].count && p->streams[i].stream == stream &&
		    (device == -1 || p->streams[i].device == device))
			return &p->streams[i];
	return NULL;
}

/* ---- floors ---- */

/* Everything before items[place] is at most, all behind at least it. */
static void put_in_place(int64_t *items, size_t count, size_t place)
{
	size_t low = 0, high = count, turns = 0;

	while (high - low > 16 && turns++ < 64) {
		int64_t mid = items[low + (high - low) / 2];
		size_t i = low, k = high - 1;

		for (;; i++, k--) {
			int64_t swap;

			while (items[i] < mid)
				i++;
			while (items[k] > mid)
				k--;
			if (i >= k)
				break;
			swap = items[i];
			items[i] = items[k];
			items[k] = swap;
		}
		if (place <= k)
			high = k + 1;
		else
			low = k + 1;
	}
	pf_sort(items + low, high - low, sizeof(*items), pf_stats_compare);
}

/* Nearest rank; the values are moved about.  0 of none. */
static int64_t path_quantile(int64_t *values, size_t count, unsigned percent)
{
	size_t place = (count * percent + 99) / 100;

	if (!count)
		return 0;
	place = place ? place - 1 : 0;
	put_in_place(values, count, place);
	return values[place];
}

/* From the call's begin to the work's, where the stream had nothing to do. */
static void measure_launches(struct path *p, int64_t *ns)
{
	int64_t least = INT64_MAX;
	size_t count = 0;

	for (uint32_t i = 0; i < p->work_count; i++) {
		const struct path_work *w = &p->works[i];
		const struct path_call *c;

		if (!w->is_in || w->call == PF_PATH_NONE)
			continue;
		c = &p->calls[w->call];
		if (w->start_ns - c->start_ns < least)
			least = w->start_ns - c->start_ns;
		if (c->work_count == 1 &&
		    (w->prev == PF_PATH_NONE ||
		     p->works[w->prev].end_ns <= c->start_ns))
			ns[count++] = w->start_ns - c->start_ns;
	}
	if (count < 5) {
		count = least != INT64_MAX;
		ns[0] = least;
	}
	p->launch_floor_ns = path_quantile(ns, count, 10);
	if (p->launch_floor_ns > PF_PATH_LAUNCH_NS)
		p->launch_floor_ns = PF_PATH_LAUNCH_NS;
}

/* From work to the next of its stream that had long been launched. */
static void measure_gaps(struct path *p, int64_t *ns)
{
	size_t count = 0;

	for (uint32_t i = 0; i < p->work_count; i++) {
		const struct path_work *w = &p->works[i];
		const struct path_work *prev;

		if (!w->is_in || w->call == PF_PATH_NONE ||
		    w->prev == PF_PATH_NONE)
			continue;
		prev = &p->works[w->prev];
		if (p->calls[w->call].end_ns <= prev->start_ns &&
		    w->start_ns >= prev->end_ns)
			ns[count++] = w->start_ns - prev->end_ns;
	}
	p->gap_floor_ns = path_quantile(ns, count, 10);
}

void path_measure_floors(struct path *p)
{
	PF_OWN int64_t *ns =
		pf_alloc(((size_t)p->work_count + 1) * sizeof(*ns));

	measure_launches(p, ns);
	measure_gaps(p, ns);
}

/*
 * A host far ahead of the device blocks in launch calls, because the launch
 * queue is full: the n-th call of a stream returns when the work of the
 * (n - Q)-th has ended.  Q is what most calls that are long, and have so many
 * before them, say.
 */

#define DEEP    1000 /* a queue of so many calls may be full */
#define LONG_NS (2 * (int64_t)PF_PATH_HANDOFF_NS)

struct queue {
	struct path *p;
	uint32_t *last; /* by call of a stream, in order: of its works the one
			   that ends last */
	uint32_t *ends; /* places in it, in order of time */
	struct full {
		uint32_t at, distance;
	} * full;
	uint32_t count;
	size_t full_count, full_cap;
	uint32_t *queued; /* by call: the work whose end lets it return */
};

static uint32_t ends_last(const struct path *p, const struct path_call *c)
{
	uint32_t best = p->by_call[c->first_work];

	for (uint32_t k = 1; k < c->work_count; k++) {
		uint32_t w = p->by_call[c->first_work + k];

		if (p->works[w].end_ns > p->works[best].end_ns)
			best = w;
	}
	return best;
}

static uint32_t call_of(const struct queue *q, uint32_t at)
{
	return q->p->works[q->last[at]].call;
}

static int64_t end_of(const struct queue *q, uint32_t at)
{
	return q->p->works[q->last[at]].end_ns;
}

static bool call_ends_before(const void *context, uint32_t a, uint32_t b)
{
	return end_of(context, a) < end_of(context, b);
}

static void list_calls(struct queue *q, const struct path_stream *s)
{
	struct path *p = q->p;

	q->count = 0;
	q->full_count = 0;
	for (uint32_t i = 0; i < s->launched_count; i++) {
		uint32_t call = p->works[s->by_launch[i]].call;

		if (q->count && call_of(q, q->count - 1) == call)
			continue;
		q->ends[q->count] = q->count;
		q->last[q->count++] = ends_last(p, &p->calls[call]);
	}
	sort_numbers(q->ends, q->count, call_ends_before, q);
}

static size_t ended(const struct queue *q, int64_t at_ns)
{
	return PF_SEARCH(i, q->count, end_of(q, q->ends[i]) <= at_ns);
}

static int64_t dur_of(const struct path_call *c)
{
	return c->end_ns - c->start_ns;
}

static void find_full(struct queue *q)
{
	for (uint32_t i = 0; i < q->count; i++) {
		const struct path_call *c = &q->p->calls[call_of(q, i)];
		size_t before, done;
		uint32_t at;

		if (dur_of(c) <= LONG_NS)
			continue;
		before = ended(q, c->start_ns);
		done = ended(q, c->end_ns);
		at = done ? q->ends[done - 1] : 0;
		if (before + DEEP > i || !done || at > i ||
		    end_of(q, at) <= c->start_ns)
			continue;
		*PF_ONE_MORE(q->full, q->full_count, q->full_cap) =
			(struct full){ i, i - at };
	}
}

/* The distance that most have; of equals the first. */
static uint32_t length_of(const struct queue *q)
{
	/* nobody asks again what ended when */
	uint32_t *count = q->ends;
	uint32_t best = q->full[0].distance;

	memset(count, 0, q->count * sizeof(*count));
	for (size_t i = 0; i < q->full_count; i++)
		count[q->full[i].distance]++;
	for (size_t i = 0; i < q->full_count; i++)
		if (count[q->full[i].distance] > count[best])
			best = q->full[i].distance;
	return best;
}

static void take_stream(struct queue *q, const struct path_stream *s)
{
	struct path *p = q->p;
	int64_t *returns;
	uint32_t length;
	size_t n = 0;

	list_calls(q, s);
	find_full(q);
	if (!q->full_count)
		return;
	length = length_of(q);
	for (uint32_t i = length; i < q->count; i++)
		q->queued[call_of(q, i)] = q->last[i - length];
	returns = pf_calloc(q->full_count, sizeof(*returns));
	for (size_t i = 0; i < q->full_count; i++) {
		const uint32_t call = call_of(q, q->full[i].at);
		const struct path_call *c = &p->calls[call];
		int64_t end;

		if (q->queued[call] == PF_PATH_NONE)
			continue;
		end = p->works[q->queued[call]].end_ns;
		if (c->start_ns < end && end <= c->end_ns)
			returns[n++] = c->end_ns - end;
	}
	p->queue_floor_ns = path_quantile(returns, n, 10);
	p->queue_length = length;
	free(returns);
}

/* What launch calls of such streams usually take. */
static void measure_calls(const struct queue *q)
{
	struct path *p = q->p;
	PF_OWN int64_t *ns = pf_calloc((size_t)p->call_count + 1, sizeof(*ns));
	size_t n = 0;

	for (uint32_t i = 0; i < p->call_count; i++)
		if (q->queued[i] != PF_PATH_NONE)
			ns[n++] = dur_of(&p->calls[i]);
	p->queue_call_ns = path_quantile(ns, n, 50);
}

static uint32_t longest(const struct path *p)
{
	uint32_t most = 0;

	for (uint32_t i = 0; i < p->stream_count; i++)
		if (p->streams[i].launched_count > most)
			most = p->streams[i].launched_count;
	return most;
}

void path_find_queue(struct path *p)
{
	const uint32_t most = longest(p);
	struct queue q = { .p = p };

	if (most < DEEP)
		return;
	q.last = pf_alloc(most * sizeof(*q.last));
	q.ends = pf_alloc(most * sizeof(*q.ends));
	q.queued = pf_alloc(((size_t)p->call_count + 1) * sizeof(*q.queued));
	memset(q.queued, 0xff, p->call_count * sizeof(*q.queued));
	for (uint32_t i = 0; i < p->stream_count; i++)
		if (p->streams[i].launched_count >= DEEP)
			take_stream(&q, &p->streams[i]);
	free(q.last);
	free(q.ends);
	free(q.full);
	if (p->queue_length)
		measure_calls(&q);
	for (uint32_t i = 0; i < p->call_count; i++) {
		struct path_call *c = &p->calls[i];

		c->is_queued =
			c->needs == PF_PATH_NONE && q.queued[i] != PF_PATH_NONE;
		c->needs = c->is_queued ? q.queued[i] : c->needs;
	}
	free(q.queued);
}

/*
 * The edges to the start of each piece of GPU work, and which of them bound
 * it: the one with the largest sum of source and floor; of equals the later
 * source.  Without any, the window's begin.
 */

#define LATE_NS      5000  /* later than its known causes: there is another */
#define STREAMS_MAX  256   /* of more the order is not followed */
#define LOOK_MAX     64    /* pieces of work that are looked back at */
#define LOOK_STREAMS 512   /* of hostile ones: so many are looked at */
#define INFER_NS     10000 /* what ended so long before may be that; */
#define INFER_HIP_NS 25000 /* ... on AMD's GPUs: 15 to 19 us were seen */

/* A wait of a stream that a record tells of. */
struct stream_wait {
	uint32_t work, on;
};

struct adder {
	struct path *p;
	struct stream_wait *waits; /* by work */
	size_t wait_count, wait_cap;
	uint32_t *seen; /* by stream and other stream: what ended before */
};

/* ---- waits of streams ---- */

/* The first work of a stream that was launched after an instant. */
static uint32_t first_launched(const struct path *p,
			       const struct path_stream *s, int64_t after_ns)
{
	for (uint32_t low = 0, high = s->launched_count;;) {
		uint32_t i = low + (high - low) / 2;

		if (low == high)
			return i < s->launched_count ? s->by_launch[i]
						     : PF_PATH_NONE;
		if (path_launched_ns(p, &p->works[s->by_launch[i]]) <= after_ns)
			low = i + 1;
		else
			high = i;
	}
}

static const struct path_call *call_at(struct path *p, struct pf_map *at,
				       int64_t correlation)
{
	if (!pf_map_has(at, (uint64_t)correlation))
		return NULL;
	return &p->calls[*pf_map_at(at, (uint64_t)correlation)];
}

static void add_wait(struct adder *a, const struct path_sync *s)
{
	struct path *p = a->p;
	const struct path_call *c = call_at(p, &p->wait_at, s->correlation);
	const struct path_call *r = call_at(p, &p->record_at, s->on_record);
	const struct path_stream *on, *of;
	uint32_t from, to;

	if (!s->is_stream_wait || !c || !r)
		return;
	on = path_find_stream(p, s->device, s->on_stream);
	if (!on)
		on = path_find_stream(p, -1, s->on_stream);
	of = path_find_stream(p, s->device, s->stream);
	if (!on || !of)
		return;
	from = path_last_launched(p, on, r->start_ns);
	to = first_launched(p, of, c->start_ns);
	if (from == PF_PATH_NONE || to == PF_PATH_NONE)
		return;
	*PF_ONE_MORE(a->waits, a->wait_count, a->wait_cap) =
		(struct stream_wait){ to, from };
}

PF_ORDER(by_work, struct stream_wait, PF_UP(work) PF_UP(on))

/* ---- edges ---- */

static void add(struct path *p, uint32_t work, uint32_t from,
		enum path_kind kind)
{
	struct path_graph *g = &p->graph;

	if (!g->first_extra) {
		g->first_extra = pf_alloc(((size_t)p->work_count + 1) *
					  sizeof(*g->first_extra));
		memset(g->first_extra, 0,
		       ((size_t)work + 1) * sizeof(*g->first_extra));
	}
	*PF_ONE_MORE(g->extras, g->extra_count, g->extra_cap) =
		(struct path_extra){ .from = from, .kind = (uint8_t)kind };
	g->order_edges += kind == PATH_ORDER;
}

static void add_waits(struct adder *a, uint32_t i, size_t *wait)
{
	struct path *p = a->p;

	while (*wait < a->wait_count && a->waits[*wait].work < i)
		(*wait)++;
	for (; *wait < a->wait_count && a->waits[*wait].work == i; (*wait)++)
		if (p->works[a->waits[*wait].on].end_ns <= p->works[i].start_ns)
			add(p, i, PATH_END_OF(a->waits[*wait].on), PATH_WAIT);
}

/* Those of its launch and its stream. */
struct own_edges {
	struct path_edge items[2];
	unsigned count;
};

/* All edges to the start of work so far, one after the other; n from 0. */
static bool edge(const struct path *p, uint32_t i, const struct own_edges *own,
		 uint32_t n, struct path_edge *out)
{
	const struct path_graph *g = &p->graph;

	if (n < own->count) {
		*out = own->items[n];
		return true;
	}
	n -= own->count;
	if (!g->first_extra || n >= g->extra_count - g->first_extra[i])
		return false;
	*out = path_extra_edge(p, i, g->first_extra[i] + n);
	return true;
}

/* When the known causes would have let it start; false: there is none. */
static bool known_ns(const struct path *p, uint32_t i,
		     const struct own_edges *own, int64_t *out)
{
	struct path_edge e;
	uint32_t n = 0;

	for (; edge(p, i, own, n, &e); n++) {
		int64_t at = path_at(p, e.from) + e.floor_ns;

		if (!n || at > *out)
			*out = at;
	}
	return n > 0;
}

/*
 * The work of a stream that ended last before the start of another, and was
 * launched before it; what ended before "since" does not matter.
 */
static uint32_t ended_before(const struct path *p, const struct path_stream *s,
			     const struct path_work *w, int64_t since_ns)
{
	size_t low = 0, high = s->count;

	while (low < high) {
		size_t i = (low + high) / 2;

		if (p->works[s->by_end[i]].end_ns <= w->start_ns)
			low = i + 1;
		else
			high = i;
	}
	for (size_t n = 0; n < LOOK_MAX && low-- > 0; n++) {
		const struct path_work *x = &p->works[s->by_end[low]];

		if (x->end_ns < since_ns)
			break;
		if (x->call == PF_PATH_NONE || w->call == PF_PATH_NONE ||
		    path_launched_ns(p, x) < path_launched_ns(p, w))
			return s->by_end[low];
	}
	return PF_PATH_NONE;
}

/* The streams that are looked at for what is of one: those around it. */
static void look_around(const struct path *p, uint32_t stream, uint32_t *from,
			uint32_t *to)
{
	*to = stream + LOOK_STREAMS / 2;
	if (*to < LOOK_STREAMS)
		*to = LOOK_STREAMS;
	if (*to > p->stream_count)
		*to = p->stream_count;
	*from = *to > LOOK_STREAMS ? *to - LOOK_STREAMS : 0;
}

/* The last work of a stream that began before another, if it runs then. */
static uint32_t running_at(const struct path *p, const struct path_stream *s,
			   int64_t at_ns)
{
	uint32_t low = 0, high = s->count, w;

	while (low < high) {
		uint32_t i = low + (high - low) / 2;

		if (p->works[s->by_start[i]].start_ns < at_ns)
			low = i + 1;
		else
			high = i;
	}
	if (!low)
		return PF_PATH_NONE;
	w = s->by_start[low - 1];
	return p->works[w].end_ns > at_ns ? w : PF_PATH_NONE;
}

/*
 * It starts so much later than it had to: what of other streams let it go?
 * What it waited long for may have ended a while before.  Where no work has a
 * call it may have ended whenever.
 */
static void add_inferred(struct path *p, uint32_t i, int64_t late_ns)
{
	const struct path_work *w = &p->works[i];
	const struct path_stream *own = &p->streams[w->stream];
	int64_t since_ns = late_ns / PF_PATH_HOLE_PARTS;
	uint32_t ended = PF_PATH_NONE, running = PF_PATH_NONE;
	uint32_t k, end;

	if (since_ns > PF_PATH_LAUNCH_NS)
		since_ns = PF_PATH_LAUNCH_NS;
	since_ns =
		w->start_ns - (since_ns > p->infer_ns ? since_ns : p->infer_ns);
	for (look_around(p, w->stream, &k, &end); k < end; k++) {
		const struct path_stream *s = &p->streams[k];
		uint32_t x;

		if (s == own || s->device != own->device || !s->count)
			continue;
		x = ended_before(p, s, w, p->with_call ? since_ns : INT64_MIN);
		if (x != PF_PATH_NONE &&
		    (ended == PF_PATH_NONE ||
		     p->works[x].end_ns > p->works[ended].end_ns))
			ended = x;
		x = running_at(p, s, w->start_ns);
		if (x != PF_PATH_NONE &&
		    (running == PF_PATH_NONE ||
		     p->works[x].end_ns < p->works[running].end_ns))
			running = x;
	}
	if (ended != PF_PATH_NONE &&
	    (running == PF_PATH_NONE || p->works[ended].end_ns >= since_ns))
		add(p, i, PATH_END_OF(ended), PATH_INFERRED);
	else if (running != PF_PATH_NONE)
		add(p, i, PATH_START_OF(running), PATH_CONTENDED);
}

/* Of equals the later source, of these the one that was added first. */
static void bind(struct path *p, uint32_t i, const struct own_edges *own)
{
	struct path_graph *g = &p->graph;
	struct path_work *w = &p->works[i];
	struct path_edge e, best = { .kind = PATH_START };
	uint32_t best_n = 0;
	int64_t best_ns = 0, best_from = 0;

	for (uint32_t n = 0; edge(p, i, own, n, &e); n++) {
		int64_t from = path_at(p, e.from);
		int64_t ns = from + e.floor_ns;

		ns = ns < w->start_ns ? ns : w->start_ns;
		if (n && (ns < best_ns || (ns == best_ns && from <= best_from)))
			continue;
		best = e;
		best_n = n;
		best_ns = ns;
		best_from = from;
	}
	w->bound = best.kind & 15;
	if (best.kind == PATH_WAIT || best.kind == PATH_INFERRED ||
	    best.kind == PATH_CONTENDED)
		g->extras[g->first_extra[i] + best_n - own->count].is_binding =
			true;
}

/*
 * Of its stream nothing was recorded before, and the device is idle for long
 * after the call has returned: what holds it up was not recorded either.
 */
static bool is_queued(const struct path *p, const struct path_work *w)
{
	uint32_t k, end;
	int64_t called;

	if (!w->is_queued || w->bound != PATH_LAUNCH)
		return false;
	called = p->calls[w->call].end_ns;
	if (w->start_ns - called <= PF_GPU_QUEUED_NS)
		return false;
	for (look_around(p, w->stream, &k, &end); k < end; k++) {
		const struct path_stream *s = &p->streams[k];
		uint32_t x;

		if (s->device != p->streams[w->stream].device || !s->count)
			continue;
		x = path_last_ended(p, s, w->start_ns);
		if ((x != PF_PATH_NONE && p->works[x].end_ns > called) ||
		    running_at(p, s, w->start_ns) != PF_PATH_NONE)
			return false;
	}
	return true;
}

/*
 * Pessimistic: order across streams stays as it was seen.  What the work
 * before on the stream waited for need not be said again, unless that
 * communicates: it may be taken out.
 */
static void add_order(struct adder *a, uint32_t i)
{
	struct path *p = a->p;
	const struct path_work *w = &p->works[i];
	const struct path_stream *own = &p->streams[w->stream];
	bool is_said = w->prev != PF_PATH_NONE &&
		       p->works[w->prev].class != PF_GPU_COMM;

	for (uint32_t k = 0; k < p->stream_count; k++) {
		const struct path_stream *s = &p->streams[k];
		uint32_t *last = &a->seen[w->stream * p->stream_count + k], x;

		if (s == own || s->device != own->device || !s->count)
			continue;
		x = ended_before(p, s, w, INT64_MIN);
		if (x != PF_PATH_NONE && (x != *last || !is_said))
			add(p, i, PATH_END_OF(x), PATH_ORDER);
		*last = x;
	}
}

/* By whose calls launch. */
static int64_t infer_ns(const struct path *p)
{
	bool is_hip = false;

	for (uint32_t i = 0; i < p->call_count; i++) {
		char *name;

		if (!p->calls[i].work_count)
			continue;
		name = pf_names_text_take(p->names,
					  path_around(p, &p->calls[i]).name);
		is_hip = name && !strncmp(name, "hip", 3);
		free(name);
		break;
	}
	return is_hip ? INFER_HIP_NS : INFER_NS;
}

static void add_work(struct adder *a, uint32_t i, size_t *wait)
{
	struct path *p = a->p;
	struct own_edges own;
	int64_t known = 0;

	own.count = path_work_edges(p, i, own.items);
	add_waits(a, i, wait);
	if (!known_ns(p, i, &own, &known))
		known = p->with_call ? p->works[i].start_ns : p->w0_ns;
	if (p->works[i].start_ns - known > (p->with_call ? LATE_NS : 0))
		add_inferred(p, i, p->works[i].start_ns - known);
	bind(p, i, &own);
	p->works[i].is_queued = is_queued(p, &p->works[i]);
	if (a->seen)
		add_order(a, i);
}

static void path_add_works(struct path *p)
{
	struct path_graph *g = &p->graph;
	struct adder a = { .p = p };
	size_t wait = 0;

	p->with_order = p->with_order && p->stream_count <= STREAMS_MAX;
	if (p->with_order)
		a.seen = pf_alloc((size_t)p->stream_count * p->stream_count *
					  sizeof(*a.seen) +
				  1);
	for (uint32_t i = 0; a.seen && i < p->stream_count * p->stream_count;
	     i++)
		a.seen[i] = PF_PATH_NONE;
	for (size_t i = 0; i < p->sync_count; i++)
		add_wait(&a, &p->syncs[i]);
	pf_sort(a.waits, a.wait_count, sizeof(*a.waits), by_work);
	for (uint32_t i = 0; i < p->work_count; i++) {
		if (g->first_extra)
			g->first_extra[i] = g->extra_count;
		if (p->works[i].is_in)
			add_work(&a, i, &wait);
	}
	if (g->first_extra)
		g->first_extra[p->work_count] = g->extra_count;
	free(a.waits);
	free(a.seen);
}

/*
 * The host's part of the graph: on each thread, in order of time, where calls
 * begin, where those end that may have waited, and both ends of hand-offs.
 * All other time of the thread is weight between two of these.
 */

struct point_at {
	int64_t at_ns;
	uint32_t what; /* hand-off or call */
	uint32_t turn; /* of equals, the order of finding */
	uint8_t kind;  /* enum path_point_kind */
};

struct builder {
	struct path *p;
	struct point_at *points;
	uint32_t point_count;
	size_t point_cap;
	int64_t last_ns; /* of the graph's last point */
	/* hand-offs by thread that wakes, and by thread that is woken */
	uint32_t *first_of[2], *next_of[2];
};

/* ---- hand-offs ---- */

/* A time in which a thread works. */
struct stretch {
	int64_t start_ns, end_ns;
	uint32_t process, thread, busy;
};

PF_ORDER(by_process, struct stretch,
	 PF_UP(process) PF_UP(start_ns) PF_UP(thread))

static bool ends_first(const void *a, const void *b)
{
	const struct stretch *x = a, *y = b;

	return x->end_ns != y->end_ns ? x->end_ns < y->end_ns
				      : x->thread < y->thread;
}

static bool is_of_lower(const void *a, const void *b)
{
	return ((const struct stretch *)a)->thread <
	       ((const struct stretch *)b)->thread;
}

/*
 * The threads of one process in order of time.  What goes on is in both heaps,
 * by end and by thread; what is over leaves "low" when it comes to its top.
 * "over" are the last two threads that stopped, the later first, of equals the
 * lower; "silent" is the last of those that may be autograd's, as no function
 * of theirs is recorded; of those that are, "engine" works longest.
 */
struct sweep {
	const struct path *p;
	const struct stretch *all; /* by process and time */
	size_t count;
	struct stretch *ending, *low, over[2], engine, silent;
	size_t ending_count, low_count;
};

static void put_low(struct sweep *w, const struct stretch *s)
{
	w->low[w->low_count] = *s;
	pf_heap_rise(w->low, sizeof(*s), w->low_count++, is_of_lower);
}

static void begin(struct sweep *w, const struct stretch *s)
{
	w->ending[w->ending_count] = *s;
	pf_heap_rise(w->ending, sizeof(*s), w->ending_count++, ends_first);
	put_low(w, s);
}

static void end_before(struct sweep *w, int64_t at_ns)
{
	while (w->ending_count && w->ending[0].end_ns < at_ns) {
		struct stretch s = w->ending[0];

		w->ending[0] = w->ending[--w->ending_count];
		pf_heap_sink(w->ending, sizeof(s), w->ending_count, 0,
			     ends_first);
		if (!w->p->threads[s.thread].has_python &&
		    s.end_ns > w->silent.end_ns)
			w->silent = s;
		if (w->over[0].end_ns < s.end_ns) {
			if (w->over[0].thread != s.thread)
				w->over[1] = w->over[0];
			w->over[0] = s;
		} else if (w->over[1].end_ns < s.end_ns) {
			w->over[1] = s;
		}
	}
}

static void drop_low(struct sweep *w)
{
	w->low[0] = w->low[--w->low_count];
	pf_heap_sink(w->low, sizeof(*w->low), w->low_count, 0, is_of_lower);
}

/* The lowest thread but its own that works when it begins, or PF_PATH_NONE. */
static uint32_t working(struct sweep *w, const struct stretch *own)
{
	uint32_t found = PF_PATH_NONE;
	bool is_out = false;

	while (w->low_count && found == PF_PATH_NONE) {
		if (w->low[0].thread != own->thread &&
		    w->low[0].end_ns >= own->start_ns) {
			found = w->low[0].thread;
		} else {
			is_out |= w->low[0].end_ns >= own->start_ns;
			drop_low(w);
		}
	}
	if (is_out)
		put_low(w, own);
	return found;
}

static void add_handoff(struct path *p, uint32_t from, int64_t from_ns,
			uint32_t to, int64_t at_ns, int64_t idle_ns)
{
	struct path_graph *g = &p->graph;

	*PF_ONE_MORE(g->handoffs, g->handoff_count, g->handoff_cap) =
		(struct path_handoff){ .to = to,
				       .from = from,
				       .at_ns = at_ns,
				       .from_ns = from_ns,
				       .idle_ns = idle_ns,
				       .from_point = PF_PATH_NONE,
				       .to_point = PF_PATH_NONE };
}

/* When a thread stopped before it began that: of the window. */
static int64_t idle_since(const struct path *p, const struct stretch *s)
{
	const int64_t last = s->busy > p->threads[s->thread].first_busy
				     ? p->busy[s->busy - 1].end_ns
				     : INT64_MIN;

	return last > p->w0_ns ? last : p->w0_ns;
}

/* How far from where a thread sleeps another may begin, or end, to be why. */
static int64_t off_by(int64_t slept_ns)
{
	return PF_PATH_LAUNCH_NS + slept_ns / PF_PATH_HOLE_PARTS;
}

/* The last time in which a thread begins to work before an instant: it has one. */
static const struct path_busy *busy_before(const struct path *p,
					   const struct path_thread *t,
					   int64_t at_ns)
{
	const struct path_busy *own = &p->busy[t->first_busy];

	return &own[PF_SEARCH(k, t->busy_count, own[k].start_ns < at_ns) - 1];
}

/*
 * A thread sleeps, and nothing says why.  Another, which did nothing before,
 * works from then on until it goes on: it works for that.  Of several the one
 * that ends last; of those whose functions are recorded none, these would say.
 */
static void find_helper(struct path *p, const struct sweep *w, uint32_t thread,
			int64_t from_ns, int64_t to_ns)
{
	const int64_t off = off_by(to_ns - from_ns);
	const uint32_t process = p->threads[thread].process;
	const struct stretch *first = NULL;
	const struct path_busy *last = NULL;
	size_t i = PF_SEARCH(k, w->count,
			     w->all[k].process < process ||
				     (w->all[k].process == process &&
				      w->all[k].start_ns < from_ns - off));

	for (size_t n = 0;
	     n < LOOK_MAX && i < w->count && w->all[i].process == process &&
	     w->all[i].start_ns <= from_ns + off;
	     n++, i++) {
		const struct stretch *s = &w->all[i];
		const struct path_thread *t = &p->threads[s->thread];
		const struct path_busy *z;

		if (s->thread == thread || t->has_python ||
		    s->start_ns >= to_ns || idle_since(p, s) > from_ns)
			continue;
		z = busy_before(p, t, to_ns);
		if (z->end_ns > to_ns || z->end_ns < to_ns - off ||
		    (last && z->end_ns <= last->end_ns))
			continue;
		first = s;
		last = z;
	}
	if (!last)
		return;
	add_handoff(p, thread,
		    first->start_ns < from_ns ? first->start_ns : from_ns,
		    first->thread, first->start_ns, idle_since(p, first));
	add_handoff(p, first->thread, last->end_ns, thread, to_ns, from_ns);
}

/* Not so long ago that this explains less than half of the time. */
static void wake(struct path *p, const struct stretch *from,
		 const struct stretch *own, int64_t since_ns)
{
	if (from->end_ns > since_ns &&
	    own->start_ns - from->end_ns <=
		    PF_PATH_LAUNCH_NS + (own->start_ns - since_ns) / 2)
		add_handoff(p, from->thread, from->end_ns, own->thread,
			    own->start_ns, since_ns);
}

/*
 * A thread of autograd, of a pool or of a server works on with what another has
 * done, that of the same process that stopped last, after "since".  All others
 * go on when autograd's stops, or hands them a node while it works on; or when
 * what their functions wait for does, which are recorded; or when another has
 * worked for them all the while.
 */
static void find_waker(struct path *p, struct sweep *w,
		       const struct stretch *own, int64_t since_ns)
{
	const struct path_thread *t = &p->threads[own->thread];
	const bool slept_in_engine =
		p->busy[own->busy].slept == PATH_SLEPT_ENGINE;
	struct stretch from = { .end_ns = own->start_ns };

	if (t->is_engine || p->trace->is_pooled || p->is_served) {
		from.thread = working(w, own);
		if (from.thread == PF_PATH_NONE ||
		    !(p->threads[from.thread].is_engine || p->trace->is_pooled))
			from = w->over[w->over[0].thread == own->thread];
		wake(p, &from, own, since_ns);
	} else if (w->engine.end_ns > since_ns) {
		from.thread = w->engine.thread;
		if (w->engine.end_ns < own->start_ns)
			from.end_ns = w->engine.end_ns;
		wake(p, &from, own, since_ns);
	} else if (slept_in_engine && !t->has_node) {
		wake(p, &w->silent, own, since_ns);
	} else if (!slept_in_engine) {
		find_helper(p, w, own->thread, since_ns, own->start_ns);
	}
}

/* Is it woken?  After all that begins with it. */
static void look_at(struct path *p, struct sweep *w, const struct stretch *s)
{
	const struct path_busy *b = &p->busy[s->busy];
	const int64_t last = idle_since(p, s);

	if (b->start_ns - last >= PF_PATH_HANDOFF_NS && b->start_ns < p->h_ns &&
	    b->slept != PATH_AWAKE)
		find_waker(p, w, s, last);
}

static size_t list_stretches(const struct path *p, struct stretch *all)
{
	size_t count = 0;

	for (uint32_t i = 0; i < p->thread_count; i++) {
		const struct path_thread *t = &p->threads[i];

		if (!path_is_compute(p, t))
			continue;
		for (uint32_t k = 0; k < t->busy_count; k++) {
			const struct path_busy *b = &p->busy[t->first_busy + k];

			all[count++] = (struct stretch){ b->start_ns, b->end_ns,
							 t->process, i,
							 t->first_busy + k };
		}
	}
	path_sort(all, count, sizeof(*all), by_process);
	return count;
}

/*
 * Whose work with a wait in it begins and ends with a hole of a thread: that
 * thread waits for it.  Of several the one that ends last.
 */
static const struct stretch *served_by(const struct path *p,
				       const struct path_hole *h,
				       const struct stretch *all, size_t count)
{
	const int64_t off = (h->to_ns - h->from_ns) / PF_PATH_HOLE_PARTS;
	const uint32_t process = p->threads[h->thread].process;
	const struct stretch *best = NULL;

	for (size_t i = PF_SEARCH(k, count,
				  all[k].process < process ||
					  (all[k].process == process &&
					   all[k].start_ns < h->from_ns));
	     i < count && all[i].process == process &&
	     all[i].start_ns <= h->from_ns + off;
	     i++)
		if (p->busy[all[i].busy].waits && all[i].thread != h->thread &&
		    all[i].end_ns <= h->to_ns &&
		    all[i].end_ns >= h->to_ns - off &&
		    (!best || all[i].end_ns > best->end_ns))
			best = &all[i];
	return best;
}

/* In a hole in which another works for it a thread does not. */
static void cut_busy(struct path *p)
{
	PF_OWN struct path_busy *busy = p->busy;
	uint32_t hole = 0, count = 0;

	p->busy = pf_alloc(((size_t)p->busy_count + p->hole_count + 1) *
			   sizeof(*busy));
	for (uint32_t i = 0; i < p->thread_count; i++) {
		struct path_thread *t = &p->threads[i];
		const uint32_t end = t->first_busy + t->busy_count;
		uint32_t k = t->first_busy;

		t->first_busy = count;
		for (; k < end; k++) {
			struct path_busy b = busy[k];

			for (; hole < p->hole_count &&
			       p->holes[hole].thread == i &&
			       p->holes[hole].from_ns < b.end_ns;
			     hole++) {
				const struct path_hole *h = &p->holes[hole];

				if (h->from_ns > b.start_ns) {
					p->busy[count] = b;
					p->busy[count++].end_ns = h->from_ns;
				}
				if (h->from_ns > b.start_ns ||
				    b.start_ns - h->to_ns < PF_PATH_HOLE_NS) {
					b.start_ns = h->to_ns;
					b.slept = PATH_AWAKE;
				}
			}
			p->busy[count++] = b;
		}
		while (hole < p->hole_count && p->holes[hole].thread == i)
			hole++;
		t->busy_count = count - t->first_busy;
	}
	p->busy_count = count;
}

/* A thread is in a range while another works for it. */
static void find_served(struct path *p)
{
	PF_OWN struct stretch *all =
		pf_alloc(((size_t)p->busy_count + 1) * sizeof(*all));
	size_t count = list_stretches(p, all);
	uint32_t served = 0;

	for (uint32_t i = 0; i < p->hole_count; i++) {
		const struct path_hole h = p->holes[i];
		const struct stretch *by =
			h.from_ns < p->w0_ns || h.to_ns >= p->h_ns
				? NULL
				: served_by(p, &h, all, count);
		int64_t since_ns;

		if (!by)
			continue;
		p->holes[served++] = h;
		since_ns = idle_since(p, by);
		add_handoff(p, by->thread, by->end_ns, h.thread, h.to_ns,
			    h.from_ns);
		if (since_ns < h.from_ns)
			add_handoff(p, h.thread, h.from_ns, by->thread,
				    by->start_ns, since_ns);
		p->busy[by->busy].slept = PATH_AWAKE;
	}
	p->hole_count = served;
}

PF_ORDER(by_thread, struct path_hole, PF_UP(thread) PF_UP(from_ns))

/* Who is in a call that waits wakes nobody. */
static void find_waiting(struct path *p)
{
	for (uint32_t i = 0; i < p->thread_count; i++) {
		const struct path_thread *t = &p->threads[i];

		for (uint32_t k = 0; k < t->call_count; k++) {
			const struct path_call *c =
				&p->calls[t->first_call + k];

			if (path_waits_for(c) != PF_PATH_NONE &&
			    c->end_ns - c->start_ns >= PF_PATH_HOLE_NS)
				*PF_ONE_MORE(p->holes, p->hole_count,
					     p->hole_cap) =
					(struct path_hole){ c->start_ns,
							    c->end_ns, i };
		}
	}
	pf_sort(p->holes, p->hole_count, sizeof(*p->holes), by_thread);
}

PF_ORDER(by_process_wake, struct path_wake,
	 PF_UP(process) PF_UP(at_ns) PF_UP(thread))

/*
 * A thread has autograd work: who did nothing before, and does from then on.
 * Those that begin with an operator of it are known anyway.
 */
static void begin_engine(struct path *p, const struct sweep *w,
			 const struct path_nap *nap)
{
	const uint32_t process = p->threads[nap->thread].process;

	for (size_t n = 0,
		    i = PF_SEARCH(k, w->count,
				  w->all[k].process < process ||
					  (w->all[k].process == process &&
					   w->all[k].start_ns < nap->from_ns));
	     n < LOOK_MAX && i < w->count && w->all[i].process == process &&
	     w->all[i].start_ns < nap->to_ns;
	     n++, i++) {
		const struct stretch *s = &w->all[i];
		const struct path_thread *t = &p->threads[s->thread];

		if (!t->has_python && !t->is_engine &&
		    idle_since(p, s) <= nap->from_ns)
			add_handoff(p, nap->thread, nap->from_ns, s->thread,
				    s->start_ns, idle_since(p, s));
	}
}

/* A thread slept until another let go of a lock: the last that did before. */
static void end_nap(struct path *p, const struct sweep *w,
		    const struct path_nap *nap)
{
	const uint32_t process = p->threads[nap->thread].process;
	size_t i = PF_SEARCH(k, p->wake_count,
			     p->wakes[k].process < process ||
				     (p->wakes[k].process == process &&
				      p->wakes[k].at_ns < nap->to_ns));

	/* none of its own is in it */
	if (i-- && p->wakes[i].process == process &&
	    p->wakes[i].at_ns > nap->from_ns)
		add_handoff(p, p->wakes[i].thread, p->wakes[i].at_ns,
			    nap->thread, nap->to_ns, nap->from_ns);
	else
		find_helper(p, w, nap->thread, nap->from_ns, nap->to_ns);
}

PF_ORDER(by_woken, struct path_handoff, PF_UP(to) PF_UP(at_ns))

static void find_handoffs(struct path *p)
{
	struct stretch *all;
	struct sweep w;
	size_t count;

	find_served(p);
	find_waiting(p);
	cut_busy(p);
	all = pf_alloc(3 * ((size_t)p->busy_count + 1) * sizeof(*all));
	count = list_stretches(p, all);
	w = (struct sweep){ .p = p,
			    .all = all,
			    .count = count,
			    .ending = all + count,
			    .low = all + 2 * count };
	for (size_t i = 0, next; i < count; i = next) {
		if (!i || all[i].process != all[i - 1].process) {
			w.ending_count = w.low_count = 0;
			w.over[0].end_ns = w.over[1].end_ns = INT64_MIN;
			w.over[0].thread = w.over[1].thread = PF_PATH_NONE;
			w.engine = w.silent = w.over[0];
		}
		for (next = i;
		     next < count && all[next].process == all[i].process &&
		     all[next].start_ns == all[i].start_ns;
		     next++)
			begin(&w, &all[next]);
		end_before(&w, all[i].start_ns);
		for (size_t k = i; k < next; k++)
			look_at(p, &w, &all[k]);
		/* what begins with another has not woken it */
		for (size_t k = i; k < next; k++)
			if (p->threads[all[k].thread].is_engine &&
			    all[k].end_ns > w.engine.end_ns)
				w.engine = all[k];
	}
	pf_sort(p->wakes, p->wake_count, sizeof(*p->wakes), by_process_wake);
	for (size_t i = 0; i < p->nap_count; i++)
		if (p->naps[i].to_ns > p->w0_ns && p->naps[i].to_ns < p->h_ns)
			(p->naps[i].woken_by == PF_WOKEN_LOCK
				 ? end_nap
				 : begin_engine)(p, &w, &p->naps[i]);
	free(all);
	pf_sort(p->graph.handoffs, p->graph.handoff_count,
		sizeof(*p->graph.handoffs), by_woken);
}

/* The hand-offs of each thread, as lists in the order of finding. */
static void list_handoffs(struct builder *x)
{
	const struct path *p = x->p;
	const struct path_graph *g = &p->graph;

	for (unsigned k = 0; k < 2; k++) {
		x->first_of[k] = pf_alloc(((size_t)p->thread_count + 1) * 4);
		x->next_of[k] = pf_alloc(((size_t)g->handoff_count + 1) * 4);
		memset(x->first_of[k], 0xff, (size_t)p->thread_count * 4);
		for (uint32_t i = g->handoff_count; i-- > 0;) {
			const struct path_handoff *h = &g->handoffs[i];
			uint32_t *first = &x->first_of[k][k ? h->to : h->from];

			x->next_of[k][i] = *first;
			*first = i;
		}
	}
}

/* ---- points ---- */

static void add_point(struct builder *x, int64_t at_ns,
		      enum path_point_kind kind, uint32_t what)
{
	PF_ROOM(x->points, x->point_cap, (size_t)x->point_count + 1);
	x->points[x->point_count] =
		(struct point_at){ at_ns, what, x->point_count, (uint8_t)kind };
	x->point_count++;
}

PF_ORDER(by_instant, struct point_at, PF_UP(at_ns) PF_UP(kind) PF_UP(turn))

/* Of hand-offs: calls are in order. */
static void find_points(struct builder *x, uint32_t thread)
{
	const struct path_graph *g = &x->p->graph;

	x->point_count = 0;
	for (uint32_t i = x->first_of[0][thread]; i != PF_PATH_NONE;
	     i = x->next_of[0][i])
		add_point(x, g->handoffs[i].from_ns, PATH_AT_FROM, i);
	for (uint32_t i = x->first_of[1][thread]; i != PF_PATH_NONE;
	     i = x->next_of[1][i])
		add_point(x, g->handoffs[i].at_ns, PATH_AT_WAKE, i);
	path_sort(x->points, x->point_count, sizeof(*x->points), by_instant);
}

/* A point of a thread, not before the one before it. */
static uint32_t step_to(struct builder *x, int64_t at_ns,
			enum path_point_kind kind, uint32_t what)
{
	struct path_graph *g = &x->p->graph;
	const bool is_late = kind != PATH_AT_FIRST && at_ns < x->last_ns;

	if (is_late) {
		*PF_ONE_MORE(g->lates, g->late_count, g->late_cap) =
			(struct path_late){ g->point_count, x->last_ns };
	} else {
		x->last_ns = at_ns;
	}
	PF_ROOM(g->points, g->point_cap, (size_t)g->point_count + 1);
	g->points[g->point_count] = (struct path_point){ .what = what,
							 .kind = kind & 7,
							 .is_late = is_late };
	return g->point_count++;
}

static void step_to_call(struct builder *x, uint32_t call)
{
	struct path_call *c = &x->p->calls[call];

	if (c->is_late) {
		c->point = step_to(x, c->end_ns, PATH_AT_RETURN, call);
		return;
	}
	c->point = step_to(x, c->start_ns, PATH_AT_CALL, call);
	if (c->needs != PF_PATH_NONE)
		step_to(x, c->end_ns, PATH_AT_RETURN, call);
}

static void step_to_handoff(struct builder *x, const struct point_at *pt)
{
	struct path_graph *g = &x->p->graph;
	uint32_t at =
		step_to(x, pt->at_ns, (enum path_point_kind)pt->kind, pt->what);

	if (pt->kind == PATH_AT_WAKE)
		g->handoffs[pt->what].to_point = at;
	else if (!g->points[at].is_late)
		g->handoffs[pt->what].from_point = at;
}

/* Does a call of the window launch, or wait? */
static bool has_point(const struct path *p, const struct path_call *c)
{
	return c->start_ns >= p->w0_ns && c->start_ns < p->h_ns &&
	       (c->work_count || path_waits_for(c) != PF_PATH_NONE);
}

/* Calls that launch or wait, and between them, before equals, hand-offs. */
static void step_to_all(struct builder *x, const struct path_thread *t)
{
	struct path *p = x->p;
	uint32_t next = 0;

	for (uint32_t i = t->first_call; i < t->first_call + t->call_count;
	     i++) {
		const struct path_call *c = &p->calls[i];

		if (!has_point(p, c))
			continue;
		while (next < x->point_count &&
		       x->points[next].at_ns <= c->start_ns)
			step_to_handoff(x, &x->points[next++]);
		step_to_call(x, i);
	}
	while (next < x->point_count)
		step_to_handoff(x, &x->points[next++]);
}

/*
 * May the window end with this thread?  Not if its steps are not the host's,
 * nor where the GPU was used and what it did is not known.
 */
static bool is_end(const struct path *p, const struct path_thread *t)
{
	const struct pf_recorded *r = &p->out->recorded;

	if (!r->has_work && r->has_calls)
		return false;
	if (t->track_id == p->main_track)
		return !r->has_work || path_is_compute(p, t);
	return !(p->step_count && p->main_track) && path_is_compute(p, t);
}

static void add_thread(struct builder *x, uint32_t thread)
{
	struct path *p = x->p;
	struct path_graph *g = &p->graph;
	struct path_thread *t = &p->threads[thread];

	if (!t->has_op && !t->has_call && t->track_id != p->main_track &&
	    x->first_of[0][thread] == PF_PATH_NONE)
		return;
	find_points(x, thread);
	t->first_point = step_to(x, p->w0_ns, PATH_AT_FIRST, thread);
	step_to_all(x, t);
	if (thread == p->main && is_end(p, t) && x->last_ns <= p->h_ns)
		g->tail = step_to(x, p->h_ns, PATH_AT_LAST, PF_PATH_NONE);
	t->end_point = g->point_count;
}

/* ---- what else than the thread's own time leads to points ---- */

static void bind_handoffs(struct path *p)
{
	struct path_graph *g = &p->graph;

	for (uint32_t i = 0; i < g->handoff_count; i++) {
		const struct path_handoff *h = &g->handoffs[i];
		struct path_point *to;

		if (h->from_point == PF_PATH_NONE ||
		    h->to_point == PF_PATH_NONE)
			continue;
		to = &g->points[h->to_point];
		to->has_other = to->is_bound =
			path_point_ns(p, h->from_point) <=
			path_point_ns(p, h->to_point);
	}
}

static void bind_wait(struct path *p, uint32_t point)
{
	struct path_point *end = &p->graph.points[point];
	const struct path_call *c = &p->calls[end->what];
	const struct path_work *w = &p->works[c->needs];
	int64_t from =
		w->end_ns <= path_point_ns(p, point) ? w->end_ns : w->start_ns;

	if (from > path_point_ns(p, point - 1) || w->call == end->what)
		end->has_other = end->is_bound = true;
}

static void bind_queued(struct path *p, uint32_t point)
{
	struct path_point *end = &p->graph.points[point];
	const struct path_call *c = &p->calls[end->what];
	const struct path_work *w = &p->works[c->needs];

	if (!w->is_in || w->end_ns > path_point_ns(p, point))
		return;
	end->has_other = true;
	end->is_bound =
		w->end_ns > c->start_ns &&
		c->end_ns - c->start_ns > 2 * (int64_t)PF_PATH_HANDOFF_NS;
}

static void bind_returns(struct path *p)
{
	struct path_graph *g = &p->graph;

	for (uint32_t i = 0; i < g->point_count; i++) {
		const struct path_point *end = &g->points[i];

		if (end->kind != PATH_AT_RETURN ||
		    p->calls[end->what].needs == PF_PATH_NONE)
			continue;
		if (p->calls[end->what].is_queued)
			bind_queued(p, i);
		else
			bind_wait(p, i);
	}
}

/* ---- the end ---- */

static void find_main(struct path *p)
{
	uint32_t most = 0;

	p->main = PF_PATH_NONE;
	for (uint32_t i = 0; i < p->thread_count; i++) {
		const struct path_thread *t = &p->threads[i];

		if (t->track_id == p->main_track) {
			p->main = i;
			return;
		}
		if (path_is_compute(p, t) &&
		    (p->main == PF_PATH_NONE || t->launch_count > most)) {
			p->main = i;
			most = t->launch_count;
		}
	}
}

/* What ends last is the sink's cause; of equals the host. */
static void add_sink(struct path *p)
{
	struct path_graph *g = &p->graph;
	uint32_t last = PATH_ORIGIN;
	int64_t last_ns = p->w0_ns;

	if (g->tail != PF_PATH_NONE) {
		last = g->host_first + g->tail;
		last_ns = path_point_ns(p, g->tail);
	}
	for (uint32_t i = 0; i < p->work_count; i++)
		if (p->works[i].is_in && p->works[i].end_ns > last_ns) {
			last = PATH_END_OF(i);
			last_ns = p->works[i].end_ns;
		}
	g->last = last;
	g->sink = g->host_first + g->point_count;
}

static void make_room(struct path *p)
{
	struct path_graph *g = &p->graph;
	int64_t most =
		2 * (int64_t)p->thread_count + 2 * (int64_t)g->handoff_count;

	for (uint32_t i = 0; i < p->call_count; i++)
		if (has_point(p, &p->calls[i]))
			most += 1 + (p->calls[i].needs != PF_PATH_NONE);
	g->points = with_room(&g->point_cap, most, sizeof(*g->points));
}

static void add_host(struct path *p)
{
	struct builder x = { .p = p };

	find_handoffs(p);
	make_room(p);
	list_handoffs(&x);
	find_main(p);
	for (uint32_t i = 0; i < p->thread_count; i++)
		add_thread(&x, i);
	bind_handoffs(p);
	bind_returns(p);
	for (unsigned k = 0; k < 2; k++) {
		free(x.first_of[k]);
		free(x.next_of[k]);
	}
	free(x.points);
}

/*
 * Work may begin while its call goes on.  Where a call takes longer than any
 * launch and none did, as when it loads code, it is its end that launches.
 */
static bool launches_late(const struct path *p, const struct path_call *c)
{
	if (c->needs != PF_PATH_NONE ||
	    c->end_ns - c->start_ns <= PF_PATH_LAUNCH_NS)
		return false;
	for (uint32_t k = 0; k < c->work_count; k++)
		if (p->works[p->by_call[c->first_work + k]].start_ns <
		    c->end_ns)
			return false;
	return true;
}

void path_build(struct path *p)
{
	struct path_graph *g = &p->graph;

	g->host_first = 1 + 2 * p->work_count;
	g->tail = PF_PATH_NONE;
	for (uint32_t i = 0; i < p->call_count; i++) {
		p->calls[i].is_late = launches_late(p, &p->calls[i]);
		p->calls[i].point = PF_PATH_NONE;
	}
	free(p->by_call);
	p->by_call = NULL;
	p->infer_ns = infer_ns(p);
	add_host(p);
	path_add_works(p);
	add_sink(p);
	free_orders(p);
	path_settle(p);
}
