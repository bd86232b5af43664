/* SPDX-License-Identifier: MIT */
/*
 * Gaps of a device do not overlap and come in order, so a walk over a thread
 * only goes forward: to a gap's start, then piece by piece inside the gap.  A
 * launch call that the walk has passed when it stands at the gap's start had
 * begun by then.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/idle/gap_explain.h"
#include "analysis/idle/launch_usual.h"
#include "events/interval.h"
#include "base/intern.h"
#include "base/mem.h"
#include "base/sat.h"
#include "store/cursor.h"
#include "store/query.h"

#define DRAIN_SLACK_NS 20000 /* a call may return before its work ends */
#define AFTER_NS       30000 /* work that waited for an event begins by then */
#define WAIT_MAX       64    /* streams whose last wait is known */
/*
 * Work on an idle GPU begins this long after its launch call has returned, at
 * most: 2 to 6 us are usual with CUDA, 5 to 25 us with ROCm.
 */
#define SOON_NS 50000
/* A launch that loads code takes longer than others: at least this, ... */
#define LOAD_MIN_NS 100000
#define LOAD_FACTOR 10 /* ... and so many times the usual */
#define CHAIN_MAX   3
#define INSIDE_MAX  256 /* of a stack of operators and functions */

struct pf_explain {
	const struct pf_explain_in *in;
	struct pf_gap_work waits[WAIT_MAX];
	size_t wait_count;
	struct pf_map names; /* of work that ran */
	int64_t usual_ns;    /* of a launch call; -1: not looked for yet */
	int64_t drained_by;  /* the last call that drained the device */
	size_t overhead;     /* none before this one matters any more */
	struct pf_walk **walks;
	uint32_t *tracks; /* of each walk */
	size_t walk_count, walk_cap, track_cap;
	/* of the gap at hand: the threads to ask, in this order */
	struct pf_walk *chain[CHAIN_MAX];
	size_t chain_count;
	const struct pf_walk *at; /* on whose thread a piece is, or NULL */
	bool has_main;            /* the main thread launches work here */
};

/* ---- a trace ---- */

static int add_overheads(struct pf_explain_in *in, uint32_t track,
			 struct pf_err *err)
{
	struct pf_cursor *c = pf_cursor_new(
		in->db, track,
		PF_COLBIT(PF_COL_START) | PF_COLBIT(PF_COL_DUR) |
			PF_COLBIT(PF_COL_NAME) | PF_COLBIT(PF_COL_TYPE),
		err);
	struct pf_overheads *o = &in->overheads;
	struct pf_span s;
	int rc = c ? 0 : -1;

	while (!rc && (rc = pf_cursor_next(c, &s, err)) == 1) {
		int64_t end = pf_span_end(s.start_ns, s.dur_ns), start;
		const struct pf_name_class *class;

		rc = 0;
		start = o->count && o->items[o->count - 1].end_ns > s.start_ns
				? o->items[o->count - 1].end_ns
				: s.start_ns;
		if (pf_names_kind(in->names, s.type) != PF_KIND_OVERHEAD ||
		    start >= end)
			continue;
		class = pf_names_class(in->names, s.name, err);
		if (!class)
			rc = -1;
		else if (class->overhead != PF_CAUSE_UNRECORDED) {
			o->items = pf_grow(o->items, &o->cap, o->count + 1,
					   sizeof(*o->items));
			o->items[o->count++] =
				(struct pf_overhead){ start, end, s.name,
						      class->overhead };
		}
	}
	pf_cursor_free(c);
	return rc;
}

/* The thread of the steps; without them, that with most events. */
static int find_main(struct pf_explain_in *in, struct pf_err *err)
{
	sqlite3_stmt *stmt = pf_named_prepare(in->db, "step_track", err);
	const struct pf_track *tracks = in->tracks;
	int64_t most = 0;
	int rc;

	in->main_track = 0;
	if (!stmt)
		return -1;
	sqlite3_bind_int64(stmt, 1, in->trace_id);
	rc = pf_db_step(in->db, stmt, err);
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

int pf_explain_open(struct pf_explain_in *in, int64_t trace_id,
		    struct pf_err *err)
{
	const struct pf_track *tracks = in->tracks;

	in->overheads.count = 0;
	in->trace_id = trace_id;
	if (find_main(in, err) < 0)
		return -1;
	/* Kineto gives them the process -1 */
	for (size_t i = 0; i < in->track_count; i++)
		if (!strcmp(tracks[i].class_name, "host") &&
		    !strcmp(tracks[i].pid, "-1") &&
		    add_overheads(in, tracks[i].id, err) < 0)
			return -1;
	return 0;
}

void pf_explain_close(struct pf_explain_in *in)
{
	free(in->overheads.items);
	in->overheads = (struct pf_overheads){ 0 };
}

/* ---- a device ---- */

struct pf_explain *pf_explain_new(const struct pf_explain_in *in)
{
	struct pf_explain *x = pf_calloc(1, sizeof(*x));

	x->in = in;
	x->usual_ns = -1;
	pf_map_init(&x->names);
	return x;
}

void pf_explain_free(struct pf_explain *x)
{
	if (!x)
		return;
	for (size_t i = 0; i < x->walk_count; i++)
		pf_walk_free(x->walks[i]);
	pf_map_release(&x->names);
	free(x->walks);
	free(x->tracks);
	free(x);
}

bool pf_explain_work(struct pf_explain *x, const struct pf_gap_work *work)
{
	uint64_t *seen = pf_map_at(&x->names, work->name);
	bool is_first = *seen == UINT64_MAX && work->name != PF_ID_INLINE;

	*seen = 0;
	x->has_main |= work->launch_id &&
		       pf_track_of(work->launch_id) == x->in->main_track;
	return is_first;
}

void pf_explain_wait(struct pf_explain *x, const struct pf_gap_work *wait)
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
	if (x->in->sink->inside && x->at)
		x->in->sink->inside(x->in->sink, names,
				    pf_walk_open(x->at, names, INSIDE_MAX), ns);
}

static struct pf_place gpu_place(enum pf_cause cause, uint32_t name)
{
	return (struct pf_place){ cause,      name,       PF_ID_NONE,
				  PF_ID_NONE, PF_ID_NONE, PF_ID_NONE };
}

void pf_explain_whole(struct pf_explain *x, const struct pf_gap *gap,
		      enum pf_cause cause, uint32_t name)
{
	emit(x, gap, gpu_place(cause, name), gap->end_ns - gap->start_ns);
}

/* Does an overhead explain more than what the thread was in? */
static bool is_vague(uint32_t cause)
{
	return cause >= PF_CAUSE_RUNTIME && cause <= PF_CAUSE_LAUNCH;
}

/* A piece of host time, in which the driver or the profiler may have worked. */
static void emit_host(struct pf_explain *x, const struct pf_gap *gap,
		      const struct pf_place *place, int64_t from, int64_t to)
{
	const struct pf_overheads *o = &x->in->overheads;

	while (x->overhead < o->count && o->items[x->overhead].end_ns <= from)
		x->overhead++;
	for (size_t i = x->overhead; is_vague(place->cause) && i < o->count &&
				     o->items[i].start_ns < to;
	     i++) {
		const struct pf_overhead *item = &o->items[i];
		int64_t end = item->end_ns < to ? item->end_ns : to;
		struct pf_place own = *place;

		if (item->start_ns > from) {
			emit(x, gap, *place, item->start_ns - from);
			from = item->start_ns;
		}
		own.cause = item->cause;
		own.name = item->name;
		emit(x, gap, own, end - from);
		from = end;
	}
	emit(x, gap, *place, to - from);
}

/* Host time up to stop_seq of the first thread of the chain, or to limit. */
static int split(struct pf_explain *x, const struct pf_gap *gap, size_t level,
		 uint32_t stop, int64_t *at, int64_t limit,
		 struct pf_place *place, struct pf_err *err)
{
	struct pf_walk *w = x->chain[level];
	int64_t end;
	int rc;

	if (level && pf_walk_to(w, *at, err) < 0)
		return -1;
	while (*at < limit &&
	       (rc = pf_walk_piece(w, *at, stop, limit, place, &end, err))) {
		struct pf_place inner;

		if (rc < 0)
			return -1;
		/* the count is no more than CHAIN_MAX: said for compilers */
		if (place->cause != PF_CAUSE_UNRECORDED ||
		    level + 1 == x->chain_count || level + 1 == CHAIN_MAX) {
			x->at = w;
			emit_host(x, gap, place, *at, end);
			x->at = NULL;
		} else if (split(x, gap, level + 1, UINT32_MAX, at, end, &inner,
				 err) < 0)
			return -1;
		*at = end;
	}
	return 0;
}

static struct pf_walk *walk_of(struct pf_explain *x, uint32_t track,
			       struct pf_err *err)
{
	const struct pf_explain_in *in = x->in;
	struct pf_walk *w;

	for (size_t i = x->walk_count; i-- > 0;)
		if (x->tracks[i] == track)
			return x->walks[i];
	w = pf_walk_new(in->db, in->names, in->pageable, track, err);
	if (!w)
		return NULL;
	x->walks = pf_grow(x->walks, &x->walk_cap, x->walk_count + 1,
			   sizeof(struct pf_walk *));
	x->tracks = pf_grow(x->tracks, &x->track_cap, x->walk_count + 1,
			    sizeof(*x->tracks));
	x->tracks[x->walk_count] = track;
	x->walks[x->walk_count++] = w;
	return w;
}

/* Ask this thread too; walked to the gap's start if it is to be asked. */
static int chain(struct pf_explain *x, uint32_t track, struct pf_err *err)
{
	struct pf_walk *w;

	if (!track)
		return 0;
	w = walk_of(x, track, err);
	if (!w)
		return -1;
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

/* ---- gaps ---- */

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
	if (ends->other.name != PF_ID_NONE &&
	    ends->other.end_ns > gap->start_ns &&
	    gap->end_ns - ends->other.end_ns <= AFTER_NS)
		return gpu_place(PF_CAUSE_DEPENDENCY, ends->other.name);
	if (find_wait_call(x, ends, &place)) {
		place.cause = PF_CAUSE_DEPENDENCY;
		return place;
	}
	return gpu_place(PF_CAUSE_DEVICE, gap->after);
}

/*
 * Did the call that launched next load its code in this time of it?  1, 0 or
 * -1.  Graphs are no kernels, and copies need no code.
 */
static int has_loaded(struct pf_explain *x, const struct pf_gap_work *next,
		      uint32_t call, int64_t ns, struct pf_err *err)
{
	const struct pf_explain_in *in = x->in;
	const struct pf_name_class *class;

	if (!next->is_first || next->kind != PF_KIND_KERNEL || ns < LOAD_MIN_NS)
		return 0;
	class = pf_names_class(in->names, call, err);
	if (!class)
		return -1;
	if (class->launches != PF_LAUNCHES_KERNEL || class->is_graph)
		return 0;
	if (x->usual_ns < 0) {
		x->usual_ns = pf_launch_usual(in->db, in->names, in->tracks,
					      in->track_count, err);
		if (x->usual_ns < 0)
			return -1;
	}
	return ns / LOAD_FACTOR > x->usual_ns;
}

/* What is left of a gap from "at" on, when the call has begun. */
static int emit_launch(struct pf_explain *x, const struct pf_gap *gap,
		       const struct pf_gap_ends *ends, struct pf_place place,
		       int64_t at, int64_t call_end, struct pf_err *err)
{
	int64_t end = call_end < gap->end_ns ? call_end : gap->end_ns;
	int64_t soon = pf_sat_add(call_end, SOON_NS);
	int rc = has_loaded(x, &ends->next, place.name, end - at, err);

	x->at = x->chain[0];
	if (rc == 1) {
		place.cause = PF_CAUSE_MODULE;
		emit(x, gap, place, end - at);
		at = end;
	}
	place.cause = PF_CAUSE_LAUNCH;
	if (soon > gap->end_ns)
		soon = gap->end_ns;
	emit_host(x, gap, &place, at, soon);
	x->at = NULL;
	emit(x, gap, queued_place(x, gap, ends), gap->end_ns - soon);
	return rc < 0 ? -1 : 0;
}

/* Nothing came after the gap: it ends where the window ends. */
static int explain_tail(struct pf_explain *x, const struct pf_gap *gap,
			struct pf_err *err)
{
	int64_t at = gap->start_ns;
	struct pf_place place;

	if (!x->chain_count) {
		pf_explain_whole(x, gap, PF_CAUSE_UNRECORDED, PF_ID_NONE);
		return 0;
	}
	return split(x, gap, 0, UINT32_MAX, &at, gap->end_ns, &place, err);
}

static int explain_host(struct pf_explain *x, const struct pf_gap *gap,
			const struct pf_gap_ends *ends, struct pf_err *err)
{
	int64_t at = gap->start_ns;
	struct pf_place place = gpu_place(PF_CAUSE_LAUNCH, PF_ID_NONE);

	if (split(x, gap, 0, (uint32_t)ends->next.launch_id, &at, gap->end_ns,
		  &place, err) < 0)
		return -1;
	if (at >= gap->end_ns)
		return 0;
	/* what is left began with the launch call */
	return emit_launch(x, gap, ends, place, at,
			   pf_walk_stop_end(x->chain[0]), err);
}

static int make_chain(struct pf_explain *x, struct pf_gap *gap,
		      const struct pf_gap_ends *ends, struct pf_err *err)
{
	int64_t before = ends->before.launch_id;

	x->chain_count = 0;
	if (chain(x, pf_track_of(ends->next.launch_id), err) < 0 ||
	    chain(x, pf_track_of(before), err) < 0)
		return -1;
	for (size_t i = 0; i < x->chain_count; i++) {
		if (pf_walk_to(x->chain[i], gap->start_ns, err) < 0)
			return -1;
		look_for_drain(x, gap, x->chain[i], before);
	}
	return x->has_main ? chain(x, x->in->main_track, err) : 0;
}

int pf_explain_gap(struct pf_explain *x, struct pf_gap *gap,
		   const struct pf_gap_ends *ends, struct pf_err *err)
{
	int64_t launch = ends->next.launch_id;
	uint32_t seq = (uint32_t)launch;
	struct pf_place place;
	int64_t call_end;

	if (ends->next.name != PF_ID_NONE && !launch) {
		pf_explain_whole(x, gap, PF_CAUSE_NO_LAUNCH, gap->after);
		return 0;
	}
	if (make_chain(x, gap, ends, err) < 0)
		return -1;
	if (!launch)
		return explain_tail(x, gap, err);
	if (!pf_walk_is_past(x->chain[0], seq))
		return explain_host(x, gap, ends, err);
	/* a call that has not returned has not queued anything in time */
	if (pf_walk_is_open(x->chain[0], seq, gap->start_ns, &place, &call_end))
		return emit_launch(x, gap, ends, place, gap->start_ns, call_end,
				   err);
	place = queued_place(x, gap, ends);
	emit(x, gap, place, gap->end_ns - gap->start_ns);
	return 0;
}
