/* SPDX-License-Identifier: MIT */
/*
 * A gap is explained when the first event that starts after the one that
 * ended it is known: of several that start together, the lowest stream and
 * then the lowest correlation ended it.  It is a node of a graph if its launch
 * owns work before the gap, too.
 */
#include "config.h"

#include "analysis/idle/gaps.h"
#include "base/err.h"
#include "base/heap.h"
#include "base/intern.h"
#include "base/mem.h"
#include "base/sat.h"
#include "events/args.h"
#include "events/traces.h"
#include "events/gpu.h"
#include "events/interval.h"
#include "events/names.h"
#include "formats/event.h"
#include "store/argtext.h"
#include "store/cursor.h"
#include "store/db.h"
#include "store/query.h"
#include "store/texts.h"

/* ---- calls of TPUs ---- */

/*
 * Which event of the host brought a program to a TPU.  The profiler of XLA
 * gives both one number, with a type: "_p" and "_pt" where it is given away,
 * "_c" and "_ct" of the program on the device's line.  What has neither, or a
 * number that nobody gave away, or that two did, has no call.
 */

/* Columns that an event of the device's line is read with. */
#define PF_TPU_CALL_COLUMNS                                                    \
	(PF_COLBIT(PF_COL_ARGS) | PF_COLBIT(PF_COL_MASK) |                     \
	 PF_COLBIT(PF_COL_INLINE) |                                            \
	 ((UINT64_C(1) << PF_SLOT_GENERIC_COUNT) - 1)                          \
		 << (PF_COL_SLOT + PF_SLOT_GENERIC))

struct pf_tpu_calls {
	struct pf_map of; /* number and type -> id of the host's event */
	struct pf_texts texts;
};

#define TYPES 64 /* of numbers: below it */
#define READ  (((1u << PF_SLOT_GENERIC_COUNT) - 1) << PF_SLOT_GENERIC)

/* What a text of arguments says of an event. */
enum said { SAYS_NOTHING, SAYS_NUMBER };

/* The text of an event's arguments, without what is in its slots. */
static int text_of(struct pf_tpu_calls *c, const struct pf_span *s,
		   struct pf_json *out, struct pf_err *err)
{
	*out = (struct pf_json){ "", 0 };
	if (s->args == PF_ID_INLINE)
		*out = (struct pf_json){ s->inline_args, s->inline_args_len };
	else if (s->args != PF_ID_NONE)
		return pf_texts_get(&c->texts, PF_TEXT_ARGS, s->args, &out->p,
				    &out->len, err) < 0
			       ? -1
			       : 0;
	return 0;
}

/* The number and its type as one; false: it says none. */
static bool number_of(struct pf_json text, const struct pf_span *s,
		      const char *key, const char *type_key, uint64_t *out)
{
	PF_AUTO(pf_buf_release) struct pf_buf whole = { 0 };
	struct pf_json args;
	int64_t number, type;
	bool is_said;

	pf_argtext_build(text.p, text.len, s->mask & READ, s->slot, &whole);
	args = (struct pf_json){ whole.data, whole.len };
	is_said = pf_json_int(pf_json_get(args, key), &number) &&
		  pf_json_int(pf_json_get(args, type_key), &type) &&
		  type >= 0 && type < TYPES;
	if (is_said)
		*out = (uint64_t)number * TYPES + (uint64_t)type;
	return is_said;
}

/* Of one thread: texts that say nothing are looked at once. */
static int load_track(struct pf_tpu_calls *c, struct pf_db *db,
		      uint32_t track_id, struct pf_map *said)
{
	PF_AUTO(pf_cursor_freed)
	struct pf_cursor *cursor =
		pf_cursor_new(db, track_id, PF_TPU_CALL_COLUMNS);
	struct pf_span s;
	int rc = 0;

	while (!rc && (rc = pf_cursor_next(cursor, &s, db->err)) == 1) {
		uint64_t *seen = NULL, *call, key;
		struct pf_json text;

		rc = 0;
		if (s.args < PF_ID_INLINE)
			seen = pf_map_at(said, s.args);
		if (s.args == PF_ID_NONE || (seen && *seen == SAYS_NOTHING))
			continue;
		if (text_of(c, &s, &text, db->err)) {
			rc = -1;
			continue;
		}
		if (seen)
			*seen = memmem(text.p, text.len, "\"_p\":", 5)
					? SAYS_NUMBER
					: SAYS_NOTHING;
		if ((seen && *seen == SAYS_NOTHING) ||
		    !number_of(text, &s, "_p", "_pt", &key))
			continue;
		call = pf_map_at(&c->of, key);
		/* given away twice, it is nobody's */
		*call = *call == UINT64_MAX ? (uint64_t)track_id << 32 | s.seq
					    : 0;
	}
	return rc;
}

static void tpu_calls_release(struct pf_tpu_calls *c);

/* Read what the host gave away, of the tracks of a trace. */
static int tpu_calls_load(struct pf_tpu_calls *c, struct pf_db *db,
			  const struct pf_track *tracks, size_t count)
{
	PF_AUTO(pf_map_release) struct pf_map said = { 0 };
	int rc = 0;

	tpu_calls_release(c);
	c->texts.db = db;
	for (size_t i = 0; !rc && i < count; i++)
		if (!strcmp(tracks[i].class_name, "host"))
			rc = load_track(c, db, tracks[i].id, &said);
	return rc;
}

/* Also of a struct that is all zero. */
static void tpu_calls_release(struct pf_tpu_calls *c)
{
	if (!c->texts.db)
		return;
	pf_map_release(&c->of);
	pf_texts_release(&c->texts);
	*c = (struct pf_tpu_calls){ 0 };
}

/* The host's event of a program, or 0. */
static int tpu_calls_find(struct pf_tpu_calls *c, const struct pf_span *program,
			  int64_t *event_id, struct pf_err *err)
{
	struct pf_json text;
	uint64_t key;

	*event_id = 0;
	PF_TRY(text_of(c, program, &text, err));
	if (number_of(text, program, "_c", "_ct", &key) &&
	    pf_map_has(&c->of, key))
		*event_id = (int64_t)*pf_map_at(&c->of, key);
	return 0;
}

/*
 * What explains the gaps of one device, which come in order of time: the
 * launch call of the work that ended a gap says whether the GPU waited for
 * the host or the work for something else; the host's time is split by what
 * the launching thread did.  Launching ends soon after the call has returned:
 * what is queued by then and does not begin waits on the GPU.
 *
 * Where nothing is recorded on that thread (autograd's threads sleep between
 * two backward passes), or it waits for another one, the thread that launched
 * the work before the gap says what went on, and then the main thread if it
 * launches work there; in XLA's runtime any other.  Time in which the driver
 * loaded code, or the profiler worked, is recorded apart from threads: it
 * explains what is otherwise only time of operators, Python and launches.
 */

/* A kernel, copy or fill. */
struct pf_gap_work {
	const struct pf_window_trace *trace;
	int64_t event_id, start_ns, end_ns, device, stream, correlation;
	int64_t launch_id; /* 0: none */
	uint32_t name;     /* PF_ID_NONE: there is no such work */
	unsigned kind;
};

/* What is around a gap. */
struct pf_gap_ends {
	struct pf_gap_work before; /* that ended last before it */
	struct pf_gap_work next;   /* that ended it */
	bool launched_before; /* next's call launched work before the gap, too */
	bool any_launched;    /* of what came before next some had a call */
	/* Launched the work before next on its stream; 0: none is known. */
	int64_t stream_launch_id;
	bool is_stream_first; /* there was none */
	/* Of another device, what ended last as the gap did. */
	uint32_t other_name; /* PF_ID_NONE: nothing */
	int64_t other_end_ns;
};

/* What all devices of a trace share; borrowed. */
struct pf_explain_in {
	struct pf_db *db;
	struct pf_names *names;
	const struct pf_pageable *pageable;
	struct pf_gap_sink *sink;
	const struct pf_track *tracks; /* of the trace */
	size_t track_count;
	int64_t trace_id;
	uint32_t main_track; /* or 0 */
	struct pf_overheads overheads;
};

struct pf_explain;

/*
 * Gaps of a device do not overlap and come in order, so a walk over a thread
 * only goes forward: to a gap's start, then piece by piece inside the gap.  A
 * launch call that the walk has passed when it stands at the gap's start had
 * begun by then.
 */

#define DRAIN_SLACK_NS 20000 /* a call may return before its work ends */
#define AFTER_NS       30000 /* work that waited for an event begins by then */
#define WAIT_MAX       64    /* streams whose last wait is known */
/*
 * Work on an idle GPU begins this long after its launch call has returned, at
 * most: 2 to 6 us are usual with CUDA, 5 to 25 us with ROCm.
 */
#define SOON_NS    50000
#define CHAIN_MAX  3
#define INSIDE_MAX 256 /* of a stack of operators and functions */

struct pf_explain {
	const struct pf_explain_in *in;
	struct pf_gap_work waits[WAIT_MAX];
	size_t wait_count;
	int64_t drained_by; /* the last call that drained the device */
	struct pf_walk **walks;
	size_t walk_count, walk_cap;
	struct pf_map walk_at; /* by track */
	/* of the gap at hand: the threads to ask, in this order */
	struct pf_walk *chain[CHAIN_MAX];
	size_t chain_count;
	struct pf_others *others; /* or NULL: not asked, or not yet */
	const struct pf_walk *at; /* on whose thread a piece is, or NULL */
	bool has_main;            /* the main thread launches work here */
	bool has_launched;        /* some thread does */
};

/* ---- a trace ---- */

/* The thread of the steps; without them, that with most events. */
static int find_main(struct pf_explain_in *in)
{
	sqlite3_stmt *stmt =
		pf_named_prepare(in->db, "step_track", in->db->err);
	const struct pf_track *tracks = in->tracks;
	int64_t most = 0;
	int rc;

	in->main_track = 0;
	PF_TRY(!stmt);
	sqlite3_bind_int64(stmt, 1, in->trace_id);
	rc = pf_db_step(in->db, stmt, in->db->err);
	if (rc == 1)
		in->main_track = (uint32_t)sqlite3_column_int64(stmt, 0);
	sqlite3_finalize(stmt);
	for (size_t i = 0; rc == 0 && i < in->track_count; i++) {
		if (strcmp(tracks[i].class_name, "host") != 0 ||
		    tracks[i].event_count <= most)
			continue;
		most = tracks[i].event_count;
		in->main_track = tracks[i].id;
	}
	return rc < 0 ? -1 : 0;
}

/* The main thread and overheads of a trace among its tracks. */
static int explain_open(struct pf_explain_in *in, int64_t trace_id)
{
	in->overheads.count = 0;
	in->trace_id = trace_id;
	PF_TRY(find_main(in));
	return pf_overheads_load(&in->overheads, in->db, in->names, trace_id,
				 in->tracks, in->track_count);
}

/* ---- a device ---- */

static struct pf_explain *explain_new(const struct pf_explain_in *in)
{
	struct pf_explain *x = pf_calloc(1, sizeof(*x));

	x->in = in;
	return x;
}

static void explain_free(struct pf_explain *x)
{
	if (!x)
		return;
	for (size_t i = 0; i < x->walk_count; i++)
		pf_walk_free(x->walks[i]);
	pf_others_free(x->others);
	free(x->walks);
	pf_map_release(&x->walk_at);
	free(x);
}

/* Take note of work of the device. */
static void explain_work(struct pf_explain *x, const struct pf_gap_work *work)
{
	x->has_launched |= work->launch_id != 0;
	x->has_main |= work->launch_id &&
		       pf_track_of(work->launch_id) == x->in->main_track;
}

/* A stream of the device waited, as cuda_sync records say. */
static void explain_wait(struct pf_explain *x, const struct pf_gap_work *wait)
{
	size_t i = 0;

	while (i < x->wait_count && x->waits[i].stream != wait->stream)
		i++;
	if (i == WAIT_MAX)
		return;
	if (i == x->wait_count)
		x->wait_count++;
	x->waits[i] = *wait;
}

/* ---- pieces ---- */

static void emit(const struct pf_explain *x, const struct pf_gap *gap,
		 struct pf_place place, int64_t ns)
{
	uint32_t names[INSIDE_MAX];

	if (ns <= 0)
		return;
	if (x->in->sink->piece)
		x->in->sink->piece(x->in->sink, gap, &place, ns);
	if (x->in->sink->inside && x->at && place.cause != PF_CAUSE_PROFILER)
		x->in->sink->inside(x->in->sink, names,
				    pf_walk_open(x->at, names, INSIDE_MAX), ns);
}

static struct pf_place gpu_place(enum pf_cause cause, uint32_t name)
{
	return (struct pf_place){ cause,      name,       PF_ID_NONE,
				  PF_ID_NONE, PF_ID_NONE, PF_ID_NONE };
}

/* The whole gap is one piece. */
static void explain_whole(struct pf_explain *x, const struct pf_gap *gap,
			  enum pf_cause cause, uint32_t name)
{
	emit(x, gap, gpu_place(cause, name), gap->end_ns - gap->start_ns);
}

/* A piece of host time, in which the driver or the profiler may have worked. */
static void emit_host(struct pf_explain *x, const struct pf_gap *gap,
		      const struct pf_place *place, int64_t from, int64_t to)
{
	while (from < to) {
		struct pf_place part = *place;
		int64_t end =
			pf_overheads_part(&x->in->overheads, from, to, &part);

		emit(x, gap, part, end - from);
		from = end;
	}
}

/* What none of the threads that launch work explains. */
static int emit_silent(struct pf_explain *x, const struct pf_gap *gap,
		       const struct pf_place *place, int64_t from, int64_t to)
{
	const struct pf_explain_in *in = x->in;
	int64_t end = to;

	if (gap->trace->is_pooled && !x->others) {
		x->others = pf_others_new(in->db, in->names, in->tracks,
					  in->track_count);
		PF_TRY(!x->others);
	}
	for (; from < to; from = end) {
		struct pf_place other = *place;

		PF_TRY(x->others &&
		       pf_others_piece(x->others, false, from, to, &x->at,
				       &other, &end, in->db->err) < 0);
		emit_host(x, gap, &other, from, end);
	}
	return 0;
}

/* A thread that waits for another one, which the next of the chain may be. */
struct sleeper {
	const struct pf_walk *walk; /* NULL: none does */
	struct pf_place place;
};

static int emit_own(struct pf_explain *x, const struct pf_gap *gap,
		    const struct pf_walk *w, const struct sleeper *sleeper,
		    const struct pf_place *place, int64_t from, int64_t to)
{
	int rc = 0;

	x->at = w;
	if (place->cause != PF_CAUSE_UNRECORDED) {
		emit_host(x, gap, place, from, to);
	} else if (sleeper->walk) {
		x->at = sleeper->walk;
		emit_host(x, gap, &sleeper->place, from, to);
	} else {
		rc = emit_silent(x, gap, place, from, to);
	}
	x->at = NULL;
	return rc;
}

/* Host time up to stop_seq of the first thread of the chain, or to limit. */
static int split(struct pf_explain *x, const struct pf_gap *gap, size_t level,
		 uint32_t stop, const struct sleeper *sleeper, int64_t *at,
		 int64_t limit, struct pf_place *place)
{
	struct pf_walk *w = x->chain[level];
	/* the count is no more than CHAIN_MAX: said for compilers */
	bool is_last = level + 1 == x->chain_count || level + 1 == CHAIN_MAX;
	int64_t end;
	int rc;

	PF_TRY(level && pf_walk_to(w, *at, x->in->db->err) < 0);
	while (*at < limit && (rc = pf_walk_piece(w, *at, stop, limit, place,
						  &end, x->in->db->err))) {
		struct sleeper inner = { w, *place };
		int says = 1;

		if (rc > 0 && place->cause == PF_CAUSE_PYTHON)
			says = pf_walk_says(w, place);
		PF_TRY(rc < 0 || says < 0);
		if (is_last || (says && place->cause != PF_CAUSE_UNRECORDED))
			rc = emit_own(x, gap, w, sleeper, place, *at, end);
		else
			rc = split(x, gap, level + 1, UINT32_MAX,
				   says ? sleeper : &inner, at, end,
				   &(struct pf_place){ 0 });
		PF_TRY(rc < 0);
		*at = end;
	}
	return 0;
}

static struct pf_walk *walk_of(struct pf_explain *x, uint32_t track)
{
	const struct pf_explain_in *in = x->in;
	uint64_t *at = pf_map_at(&x->walk_at, track);
	struct pf_walk *w;

	if (*at != UINT64_MAX)
		return x->walks[*at];
	w = pf_walk_new(in->db, in->names, in->pageable, track);
	if (!w)
		return NULL;
	*at = x->walk_count;
	x->walks = pf_grow(x->walks, &x->walk_cap, x->walk_count + 1,
			   sizeof(struct pf_walk *));
	x->walks[x->walk_count++] = w;
	return w;
}

/* Ask this thread too; walked to the gap's start if it is to be asked. */
static int chain(struct pf_explain *x, uint32_t track)
{
	struct pf_walk *w;

	if (!track)
		return 0;
	w = walk_of(x, track);
	PF_TRY(!w);
	for (size_t i = 0; i < x->chain_count; i++)
		if (x->chain[i] == w)
			return 0;
	x->chain[x->chain_count++] = w;
	return 0;
}

/* ---- what drained it ---- */

/*
 * The last blocking call of a thread that stands at the gap's start; not one
 * that had returned when the last work before the gap was launched, or that
 * drained the device before.
 */
static void look_for_drain(struct pf_explain *x, struct pf_gap *gap,
			   const struct pf_walk *w, int64_t launch_id)
{
	const struct pf_block_call *b = pf_walk_last_block(w);
	int64_t earliest = pf_sat_sub(gap->start_ns, DRAIN_SLACK_NS);

	if (b->end_ns < gap->start_ns &&
	    (b->event_id == x->drained_by ||
	     (launch_id > b->event_id &&
	      pf_track_of(launch_id) == pf_track_of(b->event_id))))
		return;
	if (gap->drained.end_ns != INT64_MIN || b->end_ns == INT64_MIN ||
	    b->end_ns > gap->end_ns || b->end_ns < earliest)
		return;
	gap->drained = *b;
	x->drained_by = b->event_id;
}

/* ---- what a gap is ---- */

/* A call that made next's stream wait, since work was last launched on it. */
static bool find_wait_call(const struct pf_explain *x,
			   const struct pf_gap_ends *ends, struct pf_place *out)
{
	int64_t launch = ends->next.launch_id, before = ends->stream_launch_id;

	if (pf_track_of(before) != pf_track_of(launch) &&
	    !ends->is_stream_first)
		return false;
	return pf_walk_stream_wait(x->chain[0], (uint32_t)before,
				   (uint32_t)launch, out);
}

/* The launch call has returned: what did the GPU wait for? */
static struct pf_place queued_place(const struct pf_explain *x,
				    const struct pf_gap *gap,
				    const struct pf_gap_ends *ends)
{
	bool is_soon = gap->end_ns - gap->start_ns <= AFTER_NS;
	struct pf_place place;

	for (size_t i = 0; i < x->wait_count; i++) {
		const struct pf_gap_work *w = &x->waits[i];

		if (w->stream == ends->next.stream &&
		    w->start_ns < gap->end_ns && w->end_ns >= gap->start_ns)
			return gpu_place(PF_CAUSE_DEPENDENCY, w->name);
	}
	/* other calls whose id is that of several works launched but one */
	if (ends->launched_before &&
	    pf_walk_graph(x->chain[0], (uint32_t)ends->next.launch_id,
			  &place)) {
		place.cause = PF_CAUSE_GRAPH;
		return place;
	}
	if (ends->before.name != PF_ID_NONE && is_soon &&
	    ends->before.stream != ends->next.stream)
		return gpu_place(PF_CAUSE_DEPENDENCY, gap->before);
	if (ends->other_name != PF_ID_NONE &&
	    ends->other_end_ns > gap->start_ns &&
	    gap->end_ns - ends->other_end_ns <= AFTER_NS)
		return gpu_place(PF_CAUSE_DEPENDENCY, ends->other_name);
	/* what a stream's first work waits for so long was not recorded */
	if (!(ends->is_stream_first &&
	      gap->end_ns - gap->start_ns > PF_GPU_QUEUED_NS) &&
	    find_wait_call(x, ends, &place)) {
		place.cause = PF_CAUSE_DEPENDENCY;
		return place;
	}
	return gpu_place(PF_CAUSE_DEVICE, gap->after);
}

/*
 * Time of the launch call: of what lies inside it, what loads code and what the
 * profiler does; else its own.  One that blocks does so before its copy begins,
 * too.
 */
static int emit_call(struct pf_explain *x, const struct pf_gap *gap,
		     int64_t launch_id, struct pf_place place, int64_t at,
		     int64_t to)
{
	const struct pf_explain_in *in = x->in;
	const struct pf_first_uses *firsts = pf_first_uses(in->db, true);
	const struct pf_name_class *class =
		pf_names_class(in->names, place.name);
	struct pf_walk *w = x->chain[0];
	struct pf_call_way way;
	struct pf_place inner;
	int64_t end;
	int rc = 1;

	PF_TRY(!firsts || !class);
	way = pf_call_way(in->pageable, firsts, class, launch_id);
	if (way.is_blocking && !way.is_first_use)
		place.cause = way.cause;
	for (; at < to; at = end) {
		rc = pf_walk_piece(w, at, UINT32_MAX, to, &inner, &end,
				   x->in->db->err);
		if (rc <= 0)
			break;
		if (inner.cause != PF_CAUSE_MODULE &&
		    inner.cause != PF_CAUSE_PROFILER)
			inner = place;
		emit_host(x, gap, &inner, at, end);
	}
	return rc < 0 ? -1 : 0;
}

/* What is left of a gap from "at" on, when the call has begun. */
static int emit_launch(struct pf_explain *x, const struct pf_gap *gap,
		       const struct pf_gap_ends *ends, struct pf_place place,
		       int64_t at, int64_t call_end)
{
	int64_t end = call_end < gap->end_ns ? call_end : gap->end_ns;
	int64_t soon = pf_sat_add(call_end, SOON_NS);
	int rc;

	x->at = x->chain[0];
	place.cause = PF_CAUSE_LAUNCH;
	PF_AT_MOST(soon, gap->end_ns);
	rc = emit_call(x, gap, ends->next.launch_id, place, at, end);
	emit_host(x, gap, &place, at > end ? at : end, soon);
	x->at = NULL;
	emit(x, gap, queued_place(x, gap, ends), gap->end_ns - soon);
	return rc < 0 ? -1 : 0;
}

/* Nothing came after the gap: it ends where the window ends. */
static int explain_tail(struct pf_explain *x, const struct pf_gap *gap)
{
	int64_t at = gap->start_ns;
	struct pf_place place;

	if (!x->chain_count) {
		explain_whole(x, gap, PF_CAUSE_UNRECORDED, PF_ID_NONE);
		return 0;
	}
	return split(x, gap, 0, UINT32_MAX, &(struct sleeper){ 0 }, &at,
		     gap->end_ns, &place);
}

/*
 * What ended it has no launch call.  It may wait on the GPU since before the
 * capture, or for a moment; else the host did not come to it: what it did says
 * why.  A page moves as soon as it is touched.
 */
static int explain_orphan(struct pf_explain *x, const struct pf_gap *gap,
			  const struct pf_gap_ends *ends)
{
	const char *name = pf_names_frame(x->in->names, gap->after);
	int64_t ns = gap->end_ns - gap->start_ns;

	PF_TRY(x->in->db->err->code || chain(x, x->in->main_track) < 0);
	if (x->chain_count && ((ns > SOON_NS && ends->any_launched) ||
			       (name && pf_word(PF_WORD_MIGRATION, name))))
		return explain_tail(x, gap);
	explain_whole(x, gap,
		      x->chain_count && ns > PF_GPU_QUEUED_NS
			      ? PF_CAUSE_DEVICE
			      : PF_CAUSE_NO_LAUNCH,
		      gap->after);
	return 0;
}

static int explain_host(struct pf_explain *x, const struct pf_gap *gap,
			const struct pf_gap_ends *ends)
{
	int64_t at = gap->start_ns;
	struct pf_place place = gpu_place(PF_CAUSE_LAUNCH, PF_ID_NONE);

	if (split(x, gap, 0, (uint32_t)ends->next.launch_id,
		  &(struct sleeper){ 0 }, &at, gap->end_ns, &place) < 0)
		return -1;
	if (at >= gap->end_ns)
		return 0;
	/* what is left began with the launch call */
	return emit_launch(x, gap, ends, place, at,
			   pf_walk_stop_end(x->chain[0]));
}

static int make_chain(struct pf_explain *x, struct pf_gap *gap,
		      const struct pf_gap_ends *ends)
{
	int64_t before = ends->before.launch_id;

	x->chain_count = 0;
	PF_TRY(chain(x, pf_track_of(ends->next.launch_id)));
	PF_TRY(chain(x, pf_track_of(before)));
	for (size_t i = 0; i < x->chain_count; i++) {
		PF_TRY(pf_walk_to(x->chain[i], gap->start_ns, x->in->db->err));
		look_for_drain(x, gap, x->chain[i], before);
	}
	return x->has_main ? chain(x, x->in->main_track) : 0;
}

/* Give the sink the pieces of a gap and find out what drained the GPU. */
static int explain_gap(struct pf_explain *x, struct pf_gap *gap,
		       const struct pf_gap_ends *ends)
{
	int64_t launch = ends->next.launch_id;
	uint32_t seq = (uint32_t)launch;
	struct pf_place place;
	int64_t call_end;
	int rc = 0;

	PF_TRY(make_chain(x, gap, ends));
	if (ends->next.name != PF_ID_NONE && !launch)
		return explain_orphan(x, gap, ends);
	if (!launch)
		return explain_tail(x, gap);
	if (!pf_walk_is_past(x->chain[0], seq)) {
		rc = explain_host(x, gap, ends);
	} else if (pf_walk_is_open(x->chain[0], seq, gap->start_ns, &place,
				   &call_end)) {
		/* it has not returned and has not queued anything in time */
		rc = emit_launch(x, gap, ends, place, gap->start_ns, call_end);
	} else {
		place = queued_place(x, gap, ends);
		emit(x, gap, place, gap->end_ns - gap->start_ns);
	}
	if (ends->is_stream_first && find_wait_call(x, ends, &place))
		gap->stream_wait = place.name;
	return rc;
}

#define RECENT 64 /* pieces of work of a device that are remembered */

/* Work that runs at once in a trace; of hostile ones more is not waited for. */
#define RUNNING_MAX 16384

/* Work of any device that may end before a gap does. */
struct running {
	int64_t end_ns;
	size_t device; /* a place among the finder's */
	uint32_t name;
};

struct device {
	struct pf_gap_device sum;
	int64_t lo, hi; /* the window */
	struct pf_union all;
	struct pf_union cut;     /* inside the window */
	struct pf_gap_work last; /* that ended last */
	bool is_hidden; /* not asked for: only what others waited for */
	bool is_done;   /* no gap of the window is to come */
	bool is_pending;
	int64_t started_ns;      /* the work that came last */
	int64_t from_ns;         /* the pending gap's start */
	struct pf_gap_ends ends; /* what is around it */
	struct recent {
		int64_t start_ns, stream, launch_id;
	} recent[RECENT];
	size_t recent_at;
	/* Of a TPU: the program that began last, and the call that brought it. */
	struct program {
		int64_t start_ns, end_ns, call;
	} program;
	struct pf_explain *explain;
};

struct finder {
	struct pf_explain_in in;
	const struct pf_window *window;
	int64_t micro_ns;
	struct pf_track *tracks; /* of the trace: in.track_count of them */
	const struct pf_gpu_configs *configs;
	struct pf_ints *links;
	struct pf_tpu_calls tpu_calls; /* of the current trace, as are: */
	struct device *devices;
	size_t count, cap;
	struct pf_map device_at; /* of a number: its place */
	struct running *running; /* a heap: what ends first */
	size_t running_count, running_cap;
	/* That ended last, and that of another device than the first's. */
	struct running ended[2];
	const struct pf_window_trace *trace;
	size_t done_count; /* see is_done() */
};

/* ---- the sweep ---- */

/* Of several that end together the device that was met first. */
static bool ends_later(const struct running *a, const struct running *b)
{
	return a->end_ns != b->end_ns ? a->end_ns > b->end_ns
				      : a->device < b->device;
}

static bool ends_earlier(const void *a, const void *b)
{
	return ends_later(b, a);
}

static void take_ended(struct finder *f, const struct running *w)
{
	struct running *last = &f->ended[0], *other = &f->ended[1];

	if (last->name == PF_ID_NONE || ends_later(w, last)) {
		if (last->device != w->device)
			*other = *last;
		*last = *w;
	} else if (last->device != w->device &&
		   (other->name == PF_ID_NONE || ends_later(w, other))) {
		*other = *w;
	}
}

/* What has ended by an instant in the window, which never goes back. */
static void end_running(struct finder *f, int64_t at_ns)
{
	struct running *all = f->running;

	PF_AT_MOST(at_ns, f->trace->hi_ns);
	while (f->running_count && all->end_ns <= at_ns) {
		take_ended(f, all);
		*all = all[--f->running_count];
		pf_heap_sink(all, sizeof(*all), f->running_count, 0,
			     ends_earlier);
	}
}

static void add_running(struct finder *f, const struct device *d,
			const struct pf_gap_work *e)
{
	if (f->running_count == RUNNING_MAX)
		return;
	PF_ROOM(f->running, f->running_cap, f->running_count + 1);
	f->running[f->running_count] =
		(struct running){ .end_ns = e->end_ns,
				  .device = (size_t)(d - f->devices),
				  .name = e->name };
	pf_heap_rise(f->running, sizeof(*f->running), f->running_count++,
		     ends_earlier);
}

/* The work of another device that ended last, as a gap of d ends. */
static void find_other(const struct finder *f, struct device *d)
{
	const struct running *last = &f->ended[0];

	if (last->device == (size_t)(d - f->devices))
		last++;
	d->ends.other_name = last->name;
	d->ends.other_end_ns = last->end_ns;
}

/* [from, to) of a device, which d->ends.next ended, cut to the window. */
static int end_gap(struct finder *f, struct device *d, int64_t from_ns,
		   int64_t to_ns)
{
	struct pf_gap gap = {
		.trace = d->sum.trace,
		.device = d->sum.device,
		.start_ns = from_ns > d->lo ? from_ns : d->lo,
		.end_ns = to_ns < d->hi ? to_ns : d->hi,
		.before = d->ends.before.name,
		.after = d->ends.next.name,
		.is_inside_call =
			d->ends.next.launch_id &&
			d->ends.next.launch_id == d->ends.before.launch_id,
		.drained = { .end_ns = INT64_MIN },
		.stream_wait = PF_ID_NONE,
	};

	if (gap.start_ns >= gap.end_ns)
		return 0;
	d->sum.gap_count++;
	if (gap.end_ns - gap.start_ns < f->micro_ns)
		explain_whole(d->explain, &gap, PF_CAUSE_MICRO, PF_ID_NONE);
	else if (d->sum.is_unexplained)
		explain_whole(d->explain, &gap, PF_CAUSE_UNRECORDED,
			      PF_ID_NONE);
	else if (explain_gap(d->explain, &gap, &d->ends) < 0)
		return -1;
	if (f->in.sink->gap)
		f->in.sink->gap(f->in.sink, &gap);
	return 0;
}

static int end_pending(struct finder *f, struct device *d)
{
	if (!d->is_pending)
		return 0;
	d->is_pending = false;
	return end_gap(f, d, d->from_ns, d->ends.next.start_ns);
}

/* Does the pending gap end with this event rather than with d->ends.next? */
static bool comes_first(const struct pf_gap_work *a,
			const struct pf_gap_work *b)
{
	if (a->stream != b->stream)
		return a->stream < b->stream;
	return a->correlation < b->correlation;
}

/*
 * What is known of the work that is about to end a gap: did its call launch
 * work before, and what was launched last on its stream?
 */
static void look_back(struct device *d, const struct pf_gap_work *e,
		      int64_t micro_ns)
{
	size_t known = d->recent_at < RECENT ? d->recent_at : RECENT;
	bool has_stream = false;

	if (pf_sat_sub(e->start_ns, d->from_ns) < micro_ns)
		return; /* nothing will ask */
	d->ends.launched_before = false;
	d->ends.stream_launch_id = 0;
	d->ends.is_stream_first = known == d->recent_at;
	for (size_t i = 1; i <= known; i++) {
		const struct recent *r =
			&d->recent[(d->recent_at - i) % RECENT];

		if (r->start_ns == e->start_ns)
			continue;
		d->ends.launched_before |= r->launch_id == e->launch_id;
		if (r->stream != e->stream || has_stream)
			continue;
		has_stream = true;
		d->ends.is_stream_first = false;
		d->ends.stream_launch_id = r->launch_id;
	}
}

static int add_event(struct finder *f, struct device *d,
		     const struct pf_gap_work *e)
{
	int64_t start = e->start_ns, end = e->end_ns, gap;
	int64_t out_ns = end - start; /* of it, outside of the window */

	if (d->is_pending && e->start_ns == d->ends.next.start_ns) {
		if (comes_first(e, &d->ends.next)) {
			d->ends.next = *e;
			look_back(d, e, f->micro_ns);
		}
	} else if (end_pending(f, d) < 0) {
		return -1;
	} else { /* what began behind the window has ended its last gap */
		d->is_done |= d->all.any && d->started_ns > d->hi;
	}
	d->started_ns = e->start_ns;
	gap = pf_union_add(&d->all, e->start_ns, e->end_ns);
	if (d->last.name == PF_ID_NONE && e->start_ns > d->lo) {
		gap = e->start_ns - d->lo;
		d->from_ns = d->lo;
	} else if (gap > 0) {
		d->from_ns = e->start_ns - gap;
	}
	if (gap > 0) {
		d->is_pending = true;
		d->ends.before = d->last;
		d->ends.next = *e;
		d->ends.any_launched = d->explain->has_launched;
		find_other(f, d);
		look_back(d, e, f->micro_ns);
	}
	if (d->last.name == PF_ID_NONE || e->end_ns >= d->last.end_ns)
		d->last = *e;
	if (pf_window_cut(d->sum.trace, &start, &end)) {
		pf_union_add(&d->cut, start, end);
		d->sum.event_count++;
		pf_sat_sum(&d->sum.work_ns, end - start);
		out_ns -= end - start;
	} else {
		d->sum.outside_count++;
	}
	pf_sat_sum(&d->sum.outside_ns, out_ns);
	return 0;
}

static int end_device(struct finder *f, struct device *d)
{
	static const struct pf_gap_work none = { .name = PF_ID_NONE };
	int64_t from;

	PF_TRY(end_pending(f, d));
	from = d->all.any ? d->all.end_ns : d->lo;
	if (from < d->hi) {
		d->ends.before = d->last;
		d->ends.next = none;
		find_other(f, d);
		PF_TRY(end_gap(f, d, from, d->hi));
	}
	d->sum.window_ns = d->hi - d->lo;
	d->sum.first_ns = d->cut.first_ns;
	d->sum.last_ns = d->cut.end_ns;
	d->sum.busy_ns = d->cut.covered_ns;
	d->sum.idle_ns = d->sum.window_ns - d->sum.busy_ns;
	if (f->in.sink->device)
		f->in.sink->device(f->in.sink, &d->sum);
	return 0;
}

/* ---- events ---- */

static int end_trace(struct finder *f)
{
	int rc = 0;

	if (f->count)
		end_running(f, INT64_MAX);
	for (size_t i = 0; i < f->count; i++) {
		/* of a GPU without work there are records of waits alone */
		if (!rc && !f->devices[i].is_hidden && f->devices[i].all.any)
			rc = end_device(f, &f->devices[i]);
		explain_free(f->devices[i].explain);
	}
	f->count = f->running_count = 0;
	pf_map_release(&f->device_at);
	return rc;
}

static int begin_trace(struct finder *f, const struct pf_window_trace *trace)
{
	PF_TRY(end_trace(f) < 0);
	pf_tracks_free(f->tracks, f->in.track_count);
	f->trace = trace;
	f->done_count = 0;
	f->ended[0] = f->ended[1] =
		(struct running){ .device = SIZE_MAX, .name = PF_ID_NONE };
	PF_TRY(pf_tracks_load(f->in.db, trace->trace_id, &f->tracks,
			      &f->in.track_count, f->in.db->err) < 0);
	f->in.tracks = f->tracks;
	PF_TRY(trace->is_tpu && tpu_calls_load(&f->tpu_calls, f->in.db,
					       f->tracks, f->in.track_count));
	return explain_open(&f->in, trace->trace_id);
}

static struct device *find_device(struct finder *f, int64_t device)
{
	const struct pf_window_trace *t = f->trace;
	uint64_t *at = pf_map_at(&f->device_at, (uint64_t)device);
	struct device *d;

	if (*at < f->count)
		return &f->devices[*at];
	*at = f->count;
	d = PF_ONE_MORE(f->devices, f->count, f->cap);
	memset(d, 0, sizeof(*d));
	d->sum.trace = t;
	d->sum.trace_id = t->trace_id;
	d->sum.rank = t->rank;
	d->sum.device = device;
	d->sum.is_unexplained = f->count > PF_GAPS_DEVICES;
	d->lo = t->lo_ns;
	d->hi = t->hi_ns;
	d->last.name = d->ends.before.name = d->ends.next.name = PF_ID_NONE;
	d->explain = explain_new(&f->in);
	d->is_hidden = f->window->device >= 0 && device != f->window->device;
	d->is_done = d->is_hidden;
	return d;
}

static void place(const struct finder *f, const struct pf_track *on,
		  const struct pf_span *s, struct pf_gap_work *e)
{
	const struct pf_gpu_config *c = NULL;

	if (s->args < PF_ID_INLINE)
		c = pf_gpu_configs_find(f->configs, s->args);
	e->device = c ? c->device : -1;
	e->stream = c ? c->stream : -1;
	/* where the configuration does not say it, the track does */
	if (e->device < 0)
		e->device = pf_work_device(on);
	if (e->stream < 0)
		e->stream = pf_work_stream(on);
}

static int read_work(const struct finder *f, const struct pf_track *on,
		     const struct pf_span *s, struct pf_gap_work *e)
{
	const int64_t *row;

	e->trace = f->trace;
	e->event_id = (int64_t)((uint64_t)on->id << 32 | s->seq);
	e->start_ns = s->start_ns;
	e->end_ns = pf_span_end(s->start_ns, s->dur_ns);
	e->name = s->name == PF_ID_NONE ? PF_ID_INLINE : s->name;
	e->correlation = -1;
	if (s->mask >> PF_SLOT_CORRELATION & 1)
		e->correlation = s->slot[PF_SLOT_CORRELATION];
	place(f, on, s, e);
	PF_TRY(pf_gpu_links_next(f->links, e->event_id, &row, f->in.db->err));
	e->launch_id = pf_gpu_links_call(row);
	if (!pf_track_of(e->launch_id))
		e->launch_id = 0; /* there is no such track */
	return 0;
}

static int take_program(struct finder *f, const struct pf_track *on,
			const struct pf_span *s)
{
	struct program *p = &find_device(f, pf_work_device(on))->program;

	p->start_ns = s->start_ns;
	p->end_ns = pf_span_end(s->start_ns, s->dur_ns);
	return tpu_calls_find(&f->tpu_calls, s, &p->call, f->in.db->err);
}

/* All operations of a program came with it. */
static int64_t call_of(const struct device *d, const struct pf_gap_work *e)
{
	const struct program *p = &d->program;

	return e->start_ns >= p->start_ns && e->start_ns < p->end_ns ? p->call
								     : 0;
}

/* What ran on a GPU, or a record of what its streams waited for. */
static int take(struct finder *f, const struct pf_track *on,
		const struct pf_span *s)
{
	const struct pf_name_class *class;
	struct pf_gap_work e = { .kind = pf_names_kind(f->in.names, s->type) };
	enum pf_device_row row =
		f->trace->is_tpu ? pf_work_row(on, true) : PF_WORK_GPU;
	bool is_work = pf_is_work(row, e.kind);

	if (row == PF_WORK_PROGRAMS)
		return take_program(f, on, s);
	if (!is_work && e.kind != PF_KIND_GPU_SYNC)
		return 0;
	PF_TRY(read_work(f, on, s, &e));
	if (is_work) {
		struct device *d = find_device(f, e.device);

		if (row == PF_WORK_OPS)
			e.launch_id = call_of(d, &e);
		explain_work(d->explain, &e);
		end_running(f, e.start_ns);
		PF_TRY(!d->is_hidden && add_event(f, d, &e) < 0);
		d->recent[d->recent_at++ % RECENT] =
			(struct recent){ e.start_ns, e.stream, e.launch_id };
		add_running(f, d, &e);
		return 0;
	}
	class = pf_names_class(f->in.names, e.name);
	if (class && class->is_wait)
		explain_wait(find_device(f, e.device)->explain, &e);
	return class ? 0 : -1;
}

static int open_streams(struct finder *f, struct pf_cursors *streams)
{
	static const uint64_t usual =
		PF_COLBIT(PF_COL_START) | PF_COLBIT(PF_COL_DUR) |
		PF_COLBIT(PF_COL_ORDER) | PF_COLBIT(PF_COL_NAME) |
		PF_COLBIT(PF_COL_TYPE) | PF_COLBIT(PF_COL_ARGS) |
		PF_COLBIT(PF_COL_SLOT + PF_SLOT_CORRELATION);

	for (size_t i = 0; i < f->in.track_count; i++) {
		uint64_t columns = usual;

		if (strcmp(f->tracks[i].class_name, "gpu") != 0)
			continue;
		if (f->trace->is_tpu &&
		    pf_work_row(&f->tracks[i], true) == PF_WORK_PROGRAMS)
			columns |= PF_TPU_CALL_COLUMNS;
		PF_TRY(pf_cursors_add(streams, f->in.db, f->tracks[i].id,
				      columns, i, f->in.db->err) < 0);
	}
	return 0;
}

/* Is this a device that was met, and whose gaps were all found? */
static bool is_device_done(struct finder *f, int64_t device)
{
	return pf_map_has(&f->device_at, (uint64_t)device) &&
	       find_device(f, device)->is_done;
}

/*
 * Does the rest of a trace add nothing but work outside of the window, which
 * nobody asks for of one that was asked for?  Every device that a configuration
 * or a track names must have come, as one that works later is idle now.
 */
static bool is_done(struct finder *f)
{
	size_t *n = &f->done_count;

	for (; *n < f->configs->count; ++*n)
		if (f->configs->items[*n].device >= 0 &&
		    !is_device_done(f, f->configs->items[*n].device))
			return false;
	for (; *n < f->configs->count + f->in.track_count; ++*n) {
		const struct pf_track *t = &f->tracks[*n - f->configs->count];

		if (!strcmp(t->class_name, "gpu") &&
		    !is_device_done(f, pf_work_device(t)))
			return false;
	}
	return true;
}

static int find_in_trace(struct finder *f, const struct pf_window_trace *trace)
{
	PF_AUTO(pf_cursors_release) struct pf_cursors streams = { 0 };
	const struct pf_span *s;
	size_t track;
	int rc = begin_trace(f, trace);

	if (!rc)
		rc = open_streams(f, &streams);
	while (!rc &&
	       (rc = pf_cursors_next(&streams, &track, &s, f->in.db->err)) ==
		       1 &&
	       !(f->window->is_asked && s->start_ns > trace->hi_ns &&
		 is_done(f)))
		rc = take(f, &f->tracks[track], s);
	return rc < 0 ? -1 : 0;
}

int pf_gap_find(struct pf_db *db, const struct pf_window *window,
		struct pf_names *names, const struct pf_pageable *pageable,
		int64_t micro_ns, struct pf_gap_sink *sink)
{
	struct finder f = { .in = { .db = db,
				    .names = names,
				    .pageable = pageable,
				    .sink = sink },
			    .window = window,
			    .micro_ns = micro_ns };
	int rc = -1;

	f.links = pf_gpu_links_new(db, false);
	f.configs = f.links ? pf_gpu_configs(db) : NULL;
	if (f.configs)
		rc = 0;
	for (size_t i = 0; !rc && i < window->count; i++)
		rc = find_in_trace(&f, &window->traces[i]);
	if (!rc)
		rc = end_trace(&f);
	for (size_t i = 0; i < f.count; i++)
		explain_free(f.devices[i].explain);
	free(f.devices);
	free(f.running);
	pf_map_release(&f.device_at);
	pf_overheads_release(&f.in.overheads);
	pf_tracks_free(f.tracks, f.in.track_count);
	pf_ints_free(f.links);
	tpu_calls_release(&f.tpu_calls);
	return rc;
}
