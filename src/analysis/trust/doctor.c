/* SPDX-License-Identifier: MIT */
/*
 * Three sources: what ingest counted (tables trace, trace_fact, repair), GPU
 * work, and the threads and streams.  Each check is a row of the table below;
 * its verdict follows from its share alone.
 */
#include "config.h"

#define XXH_INLINE_ALL
#include "analysis/trust/doctor.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <xxhash.h>

#include "base/heap.h"
#include "base/num.h"
#include "base/order.h"
#include "base/sat.h"
#include "base/spool.h"
#include "base/stats.h"
#include "events/ask.h"
#include "events/gpu.h"
#include "events/hints.h"
#include "events/interval.h"
#include "events/names.h"
#include "events/step.h"
#include "events/trust.h"
#include "formats/event.h"
#include "store/cursor.h"
#include "store/query.h"

struct pf_tally {
	int64_t count, ns;
};

/* What GPU work says. */
struct pf_doctor_gpu {
	struct pf_tally work, head, migrated, orphan, no_op, early, clock,
		overlap, zero;
	int64_t most_early_ns;   /* the longest time before a launch call */
	struct pf_tally backlog; /* of traces where all work waited so long */
	int64_t least_delay_ns;  /* the shortest wait of it */
};
#define PF_DOCTOR_BACKLOG_NS 1000000

/* Samples of a log's clocks while GPUs worked. */
struct pf_doctor_clocks {
	int64_t count, low_count;
	double least_mhz, most_mhz;
};

/* What the threads and streams say. */
struct pf_doctor_tracks {
	int64_t range_count; /* host ranges that take time */
	int64_t crossing_count;
	bool is_crossing_least; /* more ranges were open than are kept */
	int64_t event_count;    /* looked at for duplicates */
	struct pf_tally duplicate;
	struct pf_tally overhead; /* host time, summed over threads */
	int64_t overhead_of_ns;   /* how long these threads were recorded */
	int64_t unknown_count;    /* host events of no known category, and
				     work of devices that are not known */
	int64_t tpu_count;        /* events of TPUs, which are */
	/* Calls, and those of them without GPU work. */
	int64_t launch_count, idle_launch_count;
	int64_t captured_count; /* launches into graphs, which are none yet */
	int64_t copy_count, idle_copy_count; /* fills too */
	int64_t crowded_count;      /* work of calls that launch but one */
	int64_t silent_trace_count; /* launches, but no GPU work at all */
	int64_t step_count, empty_step_count; /* events/step.h */
	int64_t lone_step_count;              /* pf_steps_alone() */
};

/*
 * One pass over GPU work in order of time, trace by trace.  Launch calls are
 * then read in the order of their ids.
 */

struct launched {
	int64_t launch_id, start_ns, dur_ns, trace_id;
	int64_t migrated_ns; /* when the migrations before it had ended */
};

/* The launches of one trace so far. */
struct queue {
	int64_t trace_id, least_ns;
	int64_t end_ns; /* of the work so far */
	struct pf_tally work;
};

struct scan {
	struct pf_doctor_gpu *out;
	struct pf_by_event *launched;
	struct pf_keyed streams;             /* struct pf_union, by track */
	int64_t migrated_trace, migrated_ns; /* the latest end of them */
};

static void tally(struct pf_tally *t, int64_t ns)
{
	t->count++;
	pf_sat_sum(&t->ns, ns);
}

static void take_linked(struct scan *s, const struct pf_gpu_event *ev)
{
	int64_t trace_id = ev->trace->trace_id;
	struct launched l = { ev->launch_id, ev->start_ns, ev->dur_ns, trace_id,
			      s->migrated_trace == trace_id ? s->migrated_ns
							    : INT64_MIN };

	if (!ev->op_id)
		tally(&s->out->no_op, ev->dur_ns);
	pf_by_event_add(s->launched, &l);
}

static void note_migration(struct scan *s, const struct pf_gpu_event *ev)
{
	if (s->migrated_trace != ev->trace->trace_id)
		s->migrated_ns = INT64_MIN;
	s->migrated_trace = ev->trace->trace_id;
	PF_AT_LEAST(s->migrated_ns, ev->end_ns);
}

static void take(struct scan *s, const struct pf_gpu_event *ev)
{
	size_t n = pf_keyed_at(&s->streams, (uint64_t)ev->event_id >> 32);
	struct pf_union *stream = PF_KEYED_ROW(&s->streams, struct pf_union, n);
	int64_t covered = stream->covered_ns;

	tally(&s->out->work, ev->dur_ns);
	if (ev->dur_ns <= 0)
		tally(&s->out->zero, 0);
	pf_union_add(stream, ev->start_ns, ev->end_ns);
	covered = stream->covered_ns - covered;
	if (covered < ev->end_ns - ev->start_ns)
		tally(&s->out->overlap, ev->end_ns - ev->start_ns - covered);
	if (ev->origin == PF_GPU_LAUNCHED) {
		take_linked(s, ev);
		return;
	}
	tally(ev->origin == PF_GPU_BEFORE     ? &s->out->head
	      : ev->origin == PF_GPU_MIGRATED ? &s->out->migrated
					      : &s->out->orphan,
	      ev->dur_ns);
	if (ev->origin == PF_GPU_MIGRATED)
		note_migration(s, ev);
}

static void compare(struct pf_doctor_gpu *out, const struct launched *l,
		    int64_t call_start_ns)
{
	int64_t lead;

	if (l->start_ns >= call_start_ns)
		return;
	tally(&out->early, l->dur_ns);
	lead = pf_sat_sub(call_start_ns, l->start_ns);
	PF_AT_LEAST(out->most_early_ns, lead);
	if (pf_span_end(l->start_ns, l->dur_ns) < call_start_ns)
		tally(&out->clock, l->dur_ns);
}

/* Did no work of the trace begin soon after its call? */
static void end_queue(struct pf_doctor_gpu *out, const struct queue *q)
{
	if (q->least_ns == INT64_MAX || q->least_ns <= PF_DOCTOR_BACKLOG_NS)
		return;
	out->backlog.count += q->work.count;
	pf_sat_sum(&out->backlog.ns, q->work.ns);
	if (!out->least_delay_ns || q->least_ns < out->least_delay_ns)
		out->least_delay_ns = q->least_ns;
}

/* Calls of one trace follow each other: ids begin with tracks. */
static void queue_up(struct pf_doctor_gpu *out, struct queue *q,
		     const struct launched *l, int64_t call_end_ns)
{
	int64_t delay_ns = pf_sat_sub(l->start_ns, call_end_ns);

	if (l->trace_id != q->trace_id) {
		end_queue(out, q);
		*q = (struct queue){ l->trace_id, INT64_MAX, INT64_MAX, { 0 } };
	}
	/* the queue was empty: what is late waits for nothing of before */
	if (q->end_ns <= call_end_ns)
		q->least_ns = 0;
	if (q->end_ns == INT64_MAX ||
	    pf_span_end(l->start_ns, l->dur_ns) > q->end_ns)
		q->end_ns = pf_span_end(l->start_ns, l->dur_ns);
	/* what waited for pages says nothing of other work */
	if (l->migrated_ns < call_end_ns && delay_ns < q->least_ns)
		q->least_ns = delay_ns;
	tally(&q->work, l->dur_ns);
}

static void read_calls(struct scan *s)
{
	struct queue queue = { 0 };
	const struct launched *l;
	const struct pf_block *b;
	uint32_t i;

	while ((l = pf_by_event_next(s->launched, &b, &i))) {
		if (!b)
			continue;
		compare(s->out, l, b->start_ns[i]);
		queue_up(s->out, &queue, l,
			 pf_span_end(b->start_ns[i], b->dur_ns[i]));
	}
	end_queue(s->out, &queue);
}

static int doctor_gpu(struct pf_db *db, struct pf_doctor_gpu *out)
{
	static const struct pf_window_args all = PF_WINDOW_DEFAULTS;
	struct scan s = { .out = out };
	const struct pf_gpu_event *ev;
	struct pf_ask ask;

	*out = (struct pf_doctor_gpu){ 0 };
	pf_keyed_begin(&s.streams, sizeof(struct pf_union), PF_KEYED_SUMS);
	s.launched = pf_by_event_new(db, sizeof(struct launched),
				     PF_COLBIT(PF_COL_START) |
					     PF_COLBIT(PF_COL_DUR));
	if (!pf_ask_begin(&ask, db, &all)) {
		while ((ev = pf_ask_gpu(&ask, PF_GPU_LINKS)))
			take(&s, ev);
		read_calls(&s);
	}
	pf_by_event_free(s.launched);
	pf_keyed_end(&s.streams);
	return pf_ask_end(&ask);
}

/* ---- clocks ---- */

static int read_samples(struct pf_db *db, struct pf_doctor_clocks *out)
{
	PF_STMT(st) = pf_named_prepare(db, "doctor_clocks", db->err);
	int rc = pf_db_step(db, st, db->err);

	if (rc == 1)
		*out = (struct pf_doctor_clocks){
			sqlite3_column_int64(st, 0),
			sqlite3_column_int64(st, 1),
			sqlite3_column_double(st, 3),
			sqlite3_column_double(st, 2),
		};
	return rc < 0 ? -1 : 0;
}

/* Their table is another connection's, which is made where there is a log. */
static int doctor_clocks(struct pf_db *db, struct pf_doctor_clocks *out)
{
	PF_AUTO(pf_db_close) struct pf_db other = { 0 };
	int64_t logs = 0;
	int rc = pf_db_number(db,
			      "SELECT count(*) FROM trace WHERE base_ns IS NOT "
			      "NULL AND format IN ('smi', 'dmon', 'dcgmi')",
			      &logs, db->err);

	*out = (struct pf_doctor_clocks){ 0 };
	if (!rc && logs)
		rc = pf_db_open(&other, db->path, true, db->err);
	if (!rc && logs)
		rc = read_samples(&other, out);
	return rc;
}

/*
 * One walk over every host thread and GPU stream.  Ranges come in order of
 * their start, longest first, so a range crosses an earlier one if the
 * earliest end of those that are still open lies before its own: ends of what
 * nests are a stack, the others a heap.  Events that equal each other have the same start and
 * length, so they are neighbours; all that an event is, is only read where
 * they are equal in that.
 */

#define OPEN_RANGES_MAX 65536 /* ranges of one thread at one instant */
#define TWINS_MAX       65536 /* events of one start and length */

/* That every event is looked at by. */
#define COLUMNS                                                                \
	(PF_COLBIT(PF_COL_START) | PF_COLBIT(PF_COL_DUR) |                     \
	 PF_COLBIT(PF_COL_NAME) | PF_COLBIT(PF_COL_TYPE) |                     \
	 PF_COLBIT(PF_COL_MASK) |                                              \
	 PF_COLBIT(PF_COL_SLOT + PF_SLOT_CORRELATION))

struct twin {
	uint64_t low, high; /* of a hash over all that an event is */
};

/*
 * A range of the program's own begins and ends within the functions that make it,
 * if those are recorded: it may cross those.
 */
enum { RANGE_CALL, RANGE_FUNCTION, RANGE_OWN, RANGE_KINDS };

/* Ends of those of a kind: a stack of what nests, and a heap of the others. */
struct ends {
	int64_t *nested, *open;
	size_t nested_count, nested_cap, open_count, open_cap;
};

/* GPU work comes before calls: its tracks come first, and sorting is stable. */
struct link {
	int64_t trace_id, correlation;
	uint8_t launches; /* enum pf_launch_kind; NONE: work */
	bool is_graph;    /* which launches several at once */
};

struct walk {
	struct pf_db *db;
	struct pf_doctor_tracks *out;
	struct pf_names *names;
	struct pf_sorter *links;
	/* the track at hand */
	const struct pf_track *track;
	sqlite3_stmt *ask_categories;
	bool has_categories; /* the events of the track being walked */
	bool is_host;
	bool is_capturing; /* a graph, on this thread */
	struct ends ends[RANGE_KINDS];
	struct pf_union overhead;
	/* Events of one start and length: hashes, once there are two. */
	struct twin *twins;
	size_t twin_count, twin_cap;
	uint32_t first_seq, same_count; /* how many there are */
	int64_t twin_start_ns, twin_dur_ns;
	bool is_work;            /* of the twins */
	struct pf_cursor *whole; /* all columns; NULL: not needed so far */
	uint32_t next_seq;       /* of the event that it gives next */
};

/* ---- crossing ---- */

static bool ends_earlier(const void *a, const void *b)
{
	return *(const int64_t *)a < *(const int64_t *)b;
}

static void pop_end(struct ends *e)
{
	e->open[0] = e->open[--e->open_count];
	pf_heap_sink(e->open, sizeof(*e->open), e->open_count, 0, ends_earlier);
}

/* The earliest end of those that are still open then. */
static int64_t least_end(struct ends *e, int64_t at_ns)
{
	int64_t least = INT64_MAX;

	while (e->nested_count && e->nested[e->nested_count - 1] <= at_ns)
		e->nested_count--;
	while (e->open_count && e->open[0] <= at_ns)
		pop_end(e);
	if (e->open_count)
		least = e->open[0];
	if (e->nested_count && e->nested[e->nested_count - 1] < least)
		least = e->nested[e->nested_count - 1];
	return least;
}

static void check_crossing(struct walk *w, unsigned kind, int64_t start,
			   int64_t end)
{
	const int range = kind == PF_KIND_PYTHON       ? RANGE_FUNCTION
			  : kind == PF_KIND_ANNOTATION ? RANGE_OWN
						       : RANGE_CALL;
	struct ends *own = &w->ends[range];
	int64_t least = INT64_MAX;
	size_t count = 0;

	if (end <= start)
		return;
	w->out->range_count++;
	for (int i = 0; i < RANGE_KINDS; i++) {
		const int64_t at = least_end(&w->ends[i], start);

		/* not of a function and an own range, either way */
		if (i + range != RANGE_FUNCTION + RANGE_OWN)
			PF_AT_MOST(least, at);
		count += w->ends[i].nested_count + w->ends[i].open_count;
	}
	w->out->crossing_count += least < end;
	if (count >= OPEN_RANGES_MAX) {
		w->out->is_crossing_least = true;
	} else if (!own->nested_count ||
		   end <= own->nested[own->nested_count - 1]) {
		*PF_ONE_MORE(own->nested, own->nested_count, own->nested_cap) =
			end;
	} else {
		*PF_ONE_MORE(own->open, own->open_count, own->open_cap) = end;
		pf_heap_rise(own->open, sizeof(end), own->open_count - 1,
			     ends_earlier);
	}
}

/* ---- duplicates ---- */

PF_ORDER(compare_twins, struct twin, PF_UP(low) PF_UP(high))

static void settle_twins(struct walk *w)
{
	int64_t count = 0;

	pf_sort(w->twins, w->twin_count, sizeof(*w->twins), compare_twins);
	for (size_t i = 1; i < w->twin_count; i++)
		count += !compare_twins(&w->twins[i - 1], &w->twins[i]);
	w->out->duplicate.count += count;
	for (; w->is_work && count; count--)
		pf_sat_sum(&w->out->duplicate.ns, w->twin_dur_ns);
	w->twin_count = w->same_count = 0;
}

static struct twin hash_event(const struct pf_span *s)
{
	struct {
		uint64_t ids[2], args_mask, inline_hash[2];
		int64_t slot[PF_SLOT_COUNT];
	} key;
	size_t count = 0;
	XXH128_hash_t h;

	key.ids[0] = s->name;
	key.ids[1] = s->type;
	key.args_mask = (uint64_t)s->args << 32 | s->mask;
	key.inline_hash[0] = key.inline_hash[1] = 0;
	if (s->name == PF_ID_INLINE)
		key.inline_hash[0] =
			XXH3_64bits(s->inline_name, s->inline_name_len);
	if (s->args == PF_ID_INLINE)
		key.inline_hash[1] =
			XXH3_64bits(s->inline_args, s->inline_args_len);
	for (uint32_t mask = s->mask; mask; mask &= mask - 1) {
		int slot = __builtin_ctz(mask);

		if (slot < PF_SLOT_COUNT)
			key.slot[count++] = s->slot[slot];
	}
	h = XXH3_128bits(&key, offsetof(__typeof__(key), slot) +
				       count * sizeof(*key.slot));
	return (struct twin){ h.low64, h.high64 };
}

/* Go to the block of an event, but not from within it. */
static void open_whole(struct walk *w, uint32_t seq, int64_t start_ns)
{
	static const uint64_t columns =
		COLUMNS | PF_COLBIT(PF_COL_ARGS) | PF_COLBIT(PF_COL_INLINE) |
		((uint64_t)((UINT32_C(1) << PF_SLOT_COUNT) - 1) << PF_COL_SLOT);

	if (w->whole && seq - w->next_seq < PF_BLOCK_EVENTS)
		return;
	if (!w->whole)
		w->whole = pf_cursor_new(w->db, w->track->id, columns);
	pf_cursor_seek(w->whole, start_ns);
}

static void add_twin(struct walk *w, uint32_t seq)
{
	struct pf_span span;
	int rc;

	open_whole(w, seq, w->twin_start_ns);
	if (w->db->err->code)
		return;
	do
		rc = pf_cursor_next(w->whole, &span, w->db->err);
	while (rc == 1 && span.seq != seq);
	if (!rc)
		pf_fail(w->db->err, PF_EDB, "a block has changed");
	if (rc != 1)
		return;
	w->next_seq = seq + 1;
	*PF_ONE_MORE(w->twins, w->twin_count, w->twin_cap) = hash_event(&span);
}

static void check_twin(struct walk *w, uint32_t seq, int64_t start_ns,
		       int64_t dur_ns, bool is_work)
{
	if (!w->same_count || start_ns != w->twin_start_ns ||
	    dur_ns != w->twin_dur_ns || w->same_count == TWINS_MAX ||
	    w->is_work != is_work) {
		if (w->same_count > 1)
			settle_twins(w);
		w->same_count = 0;
		w->first_seq = seq;
		w->twin_start_ns = start_ns;
		w->twin_dur_ns = dur_ns;
		w->is_work = is_work;
	}
	if (++w->same_count == 1)
		return;
	if (!w->twin_count)
		add_twin(w, w->first_seq);
	add_twin(w, seq);
}

/* ---- launches ---- */

/* An event that may belong to others, by its correlation. */
static void check_link(struct walk *w, unsigned kind, uint32_t name,
		       int64_t correlation)
{
	struct link l = { w->track->trace_id, correlation, 0, false };
	const struct pf_name_class *class;

	if (correlation <= 0)
		return;
	if (w->is_host) {
		if (kind != PF_KIND_RUNTIME && kind != PF_KIND_DRIVER)
			return;
		class = pf_names_class(w->names, name);
		if (!class)
			return;
		if (class->capture)
			w->is_capturing = class->capture == 1;
		l.launches = class->launches;
		l.is_graph = class->is_graph;
		if (w->is_capturing && l.launches != PF_LAUNCHES_NONE) {
			w->out->captured_count++;
			return;
		}
	}
	if (w->is_host ? l.launches != 0 : pf_kind_is_gpu_work(kind))
		pf_sorter_add(w->links, &l, w->db->err);
}

static void count_call(struct pf_doctor_tracks *out, int64_t call, bool is_idle)
{
	if (call == PF_LAUNCHES_KERNEL) {
		out->launch_count++;
		out->idle_launch_count += is_idle;
	} else {
		out->copy_count++;
		out->idle_copy_count += is_idle;
	}
}

/* Work and calls of one id. */
struct group {
	int64_t trace_id, correlation, work_count, call_count;
	bool has_graph;
};

static void add_to_group(struct pf_doctor_tracks *out, struct group *g,
			 const struct link *l)
{
	if (!l || l->trace_id != g->trace_id ||
	    l->correlation != g->correlation) {
		if (g->call_count && g->work_count > g->call_count &&
		    !g->has_graph)
			out->crowded_count += g->work_count;
		*g = (struct group){ 0 };
	}
	if (!l)
		return;
	g->trace_id = l->trace_id;
	g->correlation = l->correlation;
	g->work_count += l->launches == PF_LAUNCHES_NONE;
	g->call_count += l->launches != PF_LAUNCHES_NONE;
	g->has_graph |= l->is_graph;
}

static void count_idle(struct walk *w)
{
	struct group group = { 0 };
	const struct link *l;
	int64_t trace_id = -1, correlation = -1; /* of work */
	int64_t silent_id = -1; /* the last trace that was found silent */

	if (pf_sorter_finish(w->links, w->db->err) < 0)
		return;
	while ((l = pf_sorter_next(w->links, w->db->err))) {
		add_to_group(w->out, &group, l);
		if (l->launches == PF_LAUNCHES_NONE) {
			w->out->silent_trace_count -= silent_id == l->trace_id;
			silent_id = -1;
			trace_id = l->trace_id;
			correlation = l->correlation;
			continue;
		}
		count_call(w->out, l->launches,
			   l->trace_id != trace_id ||
				   l->correlation != correlation);
		if (l->trace_id != trace_id && l->trace_id != silent_id &&
		    l->launches == PF_LAUNCHES_KERNEL) {
			silent_id = l->trace_id;
			w->out->silent_trace_count++;
		}
	}
	add_to_group(w->out, &group, NULL);
}

/* ---- the walk ---- */

static void take_event(struct walk *w, const struct pf_block *b, uint32_t i,
		       uint32_t seq)
{
	unsigned kind = pf_names_kind(w->names, b->type[i]);
	int64_t start_ns = b->start_ns[i], dur_ns = b->dur_ns[i];
	int64_t end_ns = pf_span_end(start_ns, dur_ns);

	w->out->unknown_count +=
		w->has_categories &&
		(kind == PF_KIND_HOST || kind == PF_KIND_GPU_OTHER);
	if (w->is_host)
		check_crossing(w, kind, start_ns, end_ns);
	if (w->is_host && kind == PF_KIND_OVERHEAD) {
		w->out->overhead.count++;
		pf_union_add(&w->overhead, start_ns, end_ns);
	}
	w->out->event_count++;
	/* a function that calls itself may begin and end with its caller */
	if (!pf_names_is_paired(w->names, b->type[i]))
		check_twin(w, seq, start_ns, dur_ns, pf_kind_is_gpu_work(kind));
}

static void take_block(struct walk *w, const struct pf_block *b, uint32_t first)
{
	const int64_t *correlation = b->slot[PF_SLOT_CORRELATION];
	uint32_t at = 0;

	for (uint32_t i = 0; i < b->count && !w->db->err->code; i++) {
		take_event(w, b, i, first + i);
		if (b->mask[i] >> PF_SLOT_CORRELATION & 1)
			check_link(w, pf_names_kind(w->names, b->type[i]),
				   b->name[i], correlation[at++]);
	}
}

/* A thread has as long as its trace; several have that each. */
static void add_overhead(struct walk *w)
{
	char sql[96];
	int64_t span_ns = 0;

	if (!w->overhead.covered_ns)
		return;
	pf_sat_sum(&w->out->overhead.ns, w->overhead.covered_ns);
	snprintf(sql, sizeof(sql),
		 "SELECT last_ns - first_ns FROM trace WHERE id = %" PRId64,
		 w->track->trace_id);
	pf_db_number(w->db, sql, &span_ns, w->db->err);
	pf_sat_sum(&w->out->overhead_of_ns, span_ns);
}

static void walk_track(struct walk *w, const struct pf_track *track)
{
	struct pf_cursor *c = pf_cursor_new(w->db, track->id, COLUMNS);
	const struct pf_block *b;
	uint32_t first;

	w->track = track;
	w->is_capturing = false;
	for (int i = 0; i < RANGE_KINDS; i++)
		w->ends[i].nested_count = w->ends[i].open_count = 0;
	w->same_count = 0;
	w->overhead = (struct pf_union){ 0 };
	while (!w->db->err->code &&
	       pf_cursor_block(c, &b, &first, w->db->err) == 1)
		take_block(w, b, first);
	settle_twins(w);
	if (!w->db->err->code)
		add_overhead(w);
	pf_cursor_free(w->whole);
	w->whole = NULL;
	pf_cursor_free(c);
}

/* TPUs' lines are known by their names, and XSpaces have no categories. */
static void find_categories(struct walk *w, const struct pf_track *t)
{
	sqlite3_bind_int64(w->ask_categories, 1, t->trace_id);
	w->has_categories = !pf_db_step(w->db, w->ask_categories, w->db->err);
	if (!strncmp(t->pid, "TPU ", 4)) {
		w->has_categories = false;
		w->out->tpu_count += t->event_count;
	}
	sqlite3_reset(w->ask_categories);
}

static void walk_tracks(struct walk *w)
{
	struct pf_track *tracks = NULL;
	size_t count = 0;

	pf_tracks_load(w->db, 0, &tracks, &count, w->db->err);
	for (int is_host = 0; is_host < 2; is_host++) {
		w->is_host = is_host;
		for (size_t i = 0; !w->db->err->code && i < count; i++)
			if (!strcmp(tracks[i].class_name,
				    is_host ? "host" : "gpu")) {
				find_categories(w, &tracks[i]);
				walk_track(w, &tracks[i]);
			}
	}
	pf_tracks_free(tracks, count);
}

static void count_steps(struct pf_db *db, struct pf_doctor_tracks *out)
{
	struct pf_steps steps = { 0 };

	pf_steps_load(db, NULL, &steps);
	out->step_count = (int64_t)steps.count;
	for (size_t i = 0; i < steps.count; i++)
		out->empty_step_count += steps.items[i].is_empty;
	pf_steps_release(&steps);
	out->lone_step_count = pf_steps_alone(db);
}

static int doctor_tracks(struct pf_db *db, struct pf_doctor_tracks *out)
{
	struct walk w = { .db = db, .out = out };

	*out = (struct pf_doctor_tracks){ 0 };
	w.names = pf_names_new(db);
	w.links = pf_sorter_temp(sizeof(struct link));
	w.ask_categories =
		pf_named_prepare(db, "trace_has_no_categories", db->err);
	if (!db->err->code)
		walk_tracks(&w);
	if (!db->err->code)
		count_idle(&w);
	if (!db->err->code)
		count_steps(db, out);
	pf_sorter_free(w.links);
	sqlite3_finalize(w.ask_categories);
	pf_names_free(w.names);
	for (int i = 0; i < RANGE_KINDS; i++) {
		free(w.ends[i].nested);
		free(w.ends[i].open);
	}
	free(w.twins);
	return db->err->code ? -1 : 0;
}

#define EVENT_CAP 1000000 /* of TensorFlow's trace viewer */

enum check_id {
	CUT_OFF,
	LOST,
	CAPTURE,
	SKIPPED,
	NO_TIME,
	REPAIRED,
	DISAGREES,
	NEGATIVE,
	LEFT_OUT,
	UNREAD,
	EVENT_LIMIT,
	UNKNOWN,
	COUNTERS,
	TOO_DEEP,
	NO_EVENTS,
	RANKS,
	MERGED,
	SHARED_IDS,
	CROWDED,
	NO_GPU,
	NO_CALLS,
	NO_STACKS,
	NO_SHAPES,
	NO_MEMORY,
	NO_STEPS,
	EMPTY_STEPS,
	LONE_STEPS,
	HEAD,
	MIGRATED,
	ORPHAN,
	IDLE_LAUNCHES,
	IDLE_COPIES,
	CAPTURED,
	NO_OP,
	NOT_IN_TABLE,
	BACKLOG,
	GRAPHS,
	EARLY,
	CLOCK,
	SLOW,
	COARSE,
	OVERLAP,
	ZERO,
	CROSSING,
	DUPLICATE,
	OVERHEAD,
	DENSE,
	CHECKS
};

_Static_assert((int)CHECKS == PF_DOCTOR_CHECKS, "PF_DOCTOR_CHECKS");

static const char *const verdicts[] = { "ok", "note", "warn", "bad" };

#define NEVER 2.0 /* shares are at most 1 */

/*
 * The verdict of a check that found something: bad or warn from these shares
 * on, else note.  A check without a share has a share of 1.
 */
static const struct rule {
	const char *name;
	const char *says, *whole; /* in a sentence; NULL: it never warns, or
				     nothing is the whole */
	double warn, bad;
	const char *advice; /* or NULL */
	enum pf_hint hint;  /* said behind it, or NONE */
} rules[CHECKS] = {
	[CUT_OFF] = { "truncated", "the file is cut off", NULL, 0, 0,
		      "what follows in the file is missing; let the program "
		      "that writes the trace end by itself",
		      PF_HINT_NONE },
	[LOST] = { "lost events",
		   "counts of the database contradict each other", NULL, 0, 0,
		   "the counts of the database contradict each other; ingest "
		   "the trace again",
		   PF_HINT_NONE },
	[CAPTURE] = { "capture incomplete", "events were lost while capturing",
		      NULL, 0, NEVER,
		      "frames of the capture are damaged or missing, or events "
		      "were dropped while capturing; 'profan info' says "
		      "which",
		      PF_HINT_NONE },
	[SKIPPED] = { "skipped events", "events could not be read", "events", 0,
		      0.01,
		      "they could not be read and are in no figure; "
		      "'profan info' lists them by kind",
		      PF_HINT_NONE },
	[NO_TIME] = { "events without a time", "events have no time", "events",
		      0, 0.01,
		      "they have none, or 0 or one of another clock far from "
		      "all others: they are in no figure",
		      PF_HINT_NONE },
	[REPAIRED] = { "repairs", NULL, NULL, NEVER, NEVER,
		       "the text of the trace was mended; 'profan info' lists "
		       "how, and where first",
		       PF_HINT_NONE },
	[DISAGREES] = { "snapshot disagrees", "the snapshot contradicts itself",
			NULL, 0, NEVER,
			"figures of the snapshot contradict each other: its "
			"history and its final state, or a segment's size and "
			"its blocks; 'profan info' says which",
			PF_HINT_NONE },
	[NEGATIVE] = { "negative durations", "events have no duration",
		       "events", 0, 0.01,
		       "events without a duration or with a negative one count "
		       "as 0",
		       PF_HINT_NONE },
	[LEFT_OUT] = { "left out on request", NULL, NULL, NEVER, NEVER,
		       "ingest without --no-python-functions keeps them",
		       PF_HINT_NONE },
	[UNREAD] = { "tables not read", "tables were not read", "events", NEVER,
		     NEVER, "they are in no figure", PF_HINT_NONE },
	[EVENT_LIMIT] = { "event cap", "TensorFlow stopped at 1,000,000 events",
			  "traces", 0, 0,
			  "exactly 1,000,000 events: TensorFlow's trace viewer "
			  "drops what comes later",
			  PF_HINT_NONE },
	[UNKNOWN] = { "unknown categories", "events are of no known category",
		      "events", NEVER, NEVER,
		      "they count as ranges of the host; GPU work among them "
		      "is not recognised",
		      PF_HINT_NONE },
	[COUNTERS] = { "counters kernel by kernel",
		       "counters were read kernel by kernel, so times are not "
		       "the program's",
		       NULL, 0, 0,
		       "the GPU was stopped around each kernel to read them. "
		       "Times are those of the reading: record counters and "
		       "times apart",
		       PF_HINT_NONE },
	[TOO_DEEP] = { "nested too deep",
		       "events are nested too deep for a table", "events", 0,
		       0.01, "'profan table' leaves them out", PF_HINT_NONE },
	[NO_EVENTS] = { "no events", "there are no events", NULL, 0, 0,
			"none was recorded, or all were skipped",
			PF_HINT_NONE },
	[RANKS] = { "ranks missing", "traces cannot be told apart by rank",
		    NULL, NEVER, NEVER,
		    "ingest the traces of all ranks into one database; --rank "
		    "numbers files that do not say",
		    PF_HINT_NONE },
	[MERGED] = { "several processes", NULL, NULL, NEVER, NEVER,
		     "their traces were made into one file, and each is a "
		     "trace again; ranks are what labels of pids say, else "
		     "numbers in the order of the file",
		     PF_HINT_NONE },
	[SHARED_IDS] = { "ids of several calls",
			 "several calls have the id of GPU work", "GPU work",
			 0.01, NEVER,
			 "GPU work whose id several calls of its process have; "
			 "each is held to be launched by the last of them that "
			 "began before it",
			 PF_HINT_NONE },
	[CROWDED] = { "ids of several works", NULL, NULL, NEVER, NEVER,
		      "GPU work of one id and a call that launches no graph: "
		      "all of it counts as launched by that call",
		      PF_HINT_NONE },
	[NO_GPU] = { "no GPU activity", "launches left no GPU work", "traces",
		     0, 0, NULL, PF_HINT_WORK },
	[NO_CALLS] = { "no runtime calls", "GPU work has no launch calls",
		       "traces", 0, NEVER, "GPU work has no launch calls",
		       PF_HINT_CALLS },
	[NO_STACKS] = { "no stacks", NULL, NULL, NEVER, NEVER, NULL,
			PF_HINT_STACKS },
	[NO_SHAPES] = { "no shapes", NULL, NULL, NEVER, NEVER, NULL,
			PF_HINT_SHAPES },
	[NO_MEMORY] = { "no memory", NULL, NULL, NEVER, NEVER, NULL,
			PF_HINT_MEMORY },
	[NO_STEPS] = { "no steps", NULL, NULL, NEVER, NEVER, NULL,
		       PF_HINT_STEPS },
	[EMPTY_STEPS] = { "empty steps", NULL, NULL, NEVER, NEVER,
			  "no operator, no GPU work, and below 1/100 of the "
			  "others' median, as after a last prof.step(): in no "
			  "mean",
			  PF_HINT_NONE },
	[LONE_STEPS] = { "steps beyond the work",
			 "steps say how long the profiler was on, not what a "
			 "step takes",
			 "steps", 0, NEVER,
			 "nothing else is on their thread, and they last ten "
			 "times as long as all other events together. They say "
			 "how long the profiler was on, not what a step takes",
			 PF_HINT_NONE },
	[HEAD] = { "launched before capture",
		   "GPU work was launched before the capture", "GPU time", 0.01,
		   0.1,
		   PF_GPU_BEFORE_WORDS
		   " began, summed over streams; it counts as busy, without a "
		   "call, operator or step",
		   PF_HINT_HEAD },
	[MIGRATED] = { "unified memory", NULL, NULL, NEVER, NEVER,
		       "GPU work that moves its pages: no call launches that, "
		       "and it has no operator and no step",
		       PF_HINT_NONE },
	[ORPHAN] = { "no launch call", "GPU work has no launch call",
		     "GPU time", 0.01, 0.1,
		     "GPU work whose call was not recorded has an operator and "
		     "a "
		     "step only where the trace itself leads to it from one",
		     PF_HINT_NONE },
	[IDLE_LAUNCHES] = { "launches without GPU work",
			    "launches have no GPU work", "launches", 0.01, 0.1,
			    "their work was dropped, or ran after the capture",
			    PF_HINT_NONE },
	[IDLE_COPIES] = { "copies without GPU work", NULL, NULL, NEVER, NEVER,
			  "calls that copy or fill and left no record; those "
			  "of no bytes leave none",
			  PF_HINT_NONE },
	[CAPTURED] = { "launches into graphs", NULL, NULL, NEVER, NEVER,
		       "graphs are captured here: their work runs when they "
		       "are replayed, and profan graphs --capture names it by "
		       "this",
		       PF_HINT_NONE },
	[NO_OP] = { "no operator", NULL, NULL, NEVER, NEVER,
		    "the call of this GPU work is in no operator",
		    PF_HINT_NO_OP },
	[NOT_IN_TABLE] = { "not in key_averages",
			   "GPU work is not in torch's own table", "GPU time",
			   0.01, NEVER,
			   "torch's own table gives this GPU work to no "
			   "operator",
			   PF_HINT_NONE },
	[BACKLOG] = { "backlog before the capture",
		      "the GPU was busy with work from before the capture",
		      "GPU time", 0, NEVER,
		      "the work of every launch begins later than that after "
		      "its call. The GPU was still at work from before the "
		      "capture: it was busy while no work is shown",
		      PF_HINT_HEAD },
	[GRAPHS] = { "whole graphs", NULL, NULL, NEVER, NEVER,
		     "each is one event of GPU work", PF_HINT_GRAPHS },
	[EARLY] = { "work before its launch",
		    "GPU work begins before its launch", "GPU time", 0, 0.01,
		    "the clocks of host and GPU differ: delays and gaps are "
		    "off by as much",
		    PF_HINT_NONE },
	[CLOCK] = { "clock problems", "GPU work ends before its launch",
		    "GPU time", 0, 0,
		    "GPU work ends before its call begins: times of the host "
		    "and the GPU cannot be compared",
		    PF_HINT_NONE },
	[SLOW] = { "slow clocks", "clocks of the GPU were low",
		   "samples of a log", 0.1, NEVER,
		   "below 90 % of the clock's maximum a GPU takes longer for "
		   "the "
		   "same work: heat, its power limit, or a clock that somebody "
		   "set",
		   PF_HINT_NONE },
	[COARSE] = { "whole microseconds", NULL, NULL, NEVER, NEVER,
		     "the trace has no digits after the point",
		     PF_HINT_COARSE },
	[OVERLAP] = { "overlaps on one stream", "work of one stream overlaps",
		      "GPU time", 0.01, NEVER,
		      "sums of durations count this time twice, unions do "
		      "not; dependent launches do this, and clocks",
		      PF_HINT_NONE },
	[ZERO] = { "GPU work of no length", "GPU work has no length",
		   "all GPU work", 0.01, 0.1,
		   "it counts as an event, but takes no time", PF_HINT_NONE },
	[CROSSING] = { "crossing ranges", "ranges of a thread cross each other",
		       "host ranges", 0.001, 0.1,
		       "ranges of a thread that overlap without nesting: own "
		       "times and parents are uncertain there",
		       PF_HINT_NONE },
	[DUPLICATE] = { "duplicates", "events are there twice", "events", 0,
			0.01, "events that equal an earlier one count twice",
			PF_HINT_NONE },
	[OVERHEAD] = { "profiler overhead", "the profiler itself took time",
		       "the threads' time", 0.05, NEVER,
		       "time of the threads that the profiler took itself",
		       PF_HINT_NONE },
	[DENSE] = { "slowed host", "recording so much slowed the host", NULL, 0,
		    NEVER, "look at that before changing what the host does",
		    PF_HINT_NONE },
};

struct result {
	int64_t count, gpu_ns; /* gpu_ns -1: makes no sense */
	double share;          /* -1: there is no whole */
	bool is_least;         /* count is a lower bound */
};

struct doctor {
	struct pf_db *db;
	enum pf_producer producer;
	struct result results[CHECKS];
	struct pf_doctor_gpu gpu;
	struct pf_doctor_tracks tracks;
	int64_t trace_count, event_count, stored_count, span_ns;
	int64_t worker_count; /* traces, of several of one process the first */
	int64_t no_rank, same_rank, absent_ranks; /* of RANKS */
	int64_t world;                            /* ranks there were */
	struct pf_buf cut;                        /* CUT_OFF: where */
	struct pf_buf unread;                     /* UNREAD: which */
	bool has_shapes;                          /* an operator */
	bool has_versions;   /* some in a version that is not known */
	bool is_rank_unsure; /* several traces, not told apart */
	struct pf_doctor_clocks clocks; /* of SLOW */
	struct pf_recorded recorded;    /* of DENSE */
};

static double part(int64_t count, int64_t whole)
{
	return whole > 0 ? (double)count / (double)whole : count > 0 ? 1 : 0;
}

static void set(struct doctor *d, enum check_id id, int64_t count, int64_t of)
{
	d->results[id] = (struct result){ count, -1, part(count, of), false };
}

static void set_alone(struct doctor *d, enum check_id id, int64_t count)
{
	d->results[id] = (struct result){ count, -1, -1, false };
}

static void set_gpu(struct doctor *d, enum check_id id,
		    const struct pf_tally *t)
{
	d->results[id] = (struct result){ t->count, t->ns,
					  part(t->ns, d->gpu.work.ns), false };
}

static enum pf_doctor_verdict judge(const struct doctor *d, enum check_id id)
{
	const struct result *r = &d->results[id];
	double share = r->share < 0 ? 1 : r->share;

	if (!r->count)
		return PF_DOCTOR_OK;
	/* what was not read says nothing of what is missing */
	if (d->has_versions &&
	    (id == UNREAD || id == NO_GPU || id == NO_CALLS ||
	     (id >= HEAD && id <= IDLE_COPIES)))
		return id == UNREAD ? PF_DOCTOR_WARN : PF_DOCTOR_NOTE;
	if (id == NO_GPU)
		return d->tracks.silent_trace_count ? PF_DOCTOR_BAD
						    : PF_DOCTOR_NOTE;
	if (id == UNKNOWN && d->producer == PF_FROM_LEGACY)
		return PF_DOCTOR_WARN;
	if (id == RANKS)
		return d->is_rank_unsure ? PF_DOCTOR_WARN : PF_DOCTOR_NOTE;
	if (share >= rules[id].bad)
		return PF_DOCTOR_BAD;
	return share >= rules[id].warn ? PF_DOCTOR_WARN : PF_DOCTOR_NOTE;
}

/* ---- what ingest counted ---- */

enum trace_column {
	T_ID,
	T_RANK,
	T_WORLD,
	T_EVENTS,
	T_STORED,
	T_LOST,
	T_SPAN,
	T_WORK,
	T_CALLS,
	T_STACKS,
	T_MEMORY,
	T_DIGITS,
	T_UNLINKED,
	T_UNLINKED_NS,
	T_DEEP,
	T_STEPS,
	T_FIRST_SPAN,
	T_BESIDE,
	T_TIMELESS,
	T_MERGED,
	T_SHARED,
	T_EMPTY,
	T_COUNTERS,
	T_COUNT
};

struct ranks {
	int64_t *items;
	size_t count, cap;
	int64_t world;
};

/* What a trace does not have; of what stands beside one none is expected. */
static void add_lacks(struct result *r, const int64_t *v)
{
	r[NO_GPU].count += !v[T_WORK];
	r[NO_CALLS].count += v[T_WORK] && !v[T_CALLS];
	r[NO_STACKS].count += !v[T_STACKS];
	r[NO_MEMORY].count += !v[T_MEMORY];
	r[NO_STEPS].count += !v[T_STEPS];
	r[COARSE].count += !v[T_DIGITS] && !v[T_TIMELESS];
}

static void add_trace(struct doctor *d, sqlite3_stmt *st, struct ranks *ranks)
{
	int64_t v[T_COUNT];
	struct result *r = d->results;

	for (int i = 0; i < T_COUNT; i++)
		v[i] = sqlite3_column_int64(st, i);
	if (v[T_LOST] < 0)
		v[T_LOST] = v[T_LOST] == INT64_MIN ? INT64_MAX : -v[T_LOST];
	d->trace_count += !v[T_BESIDE];
	pf_sat_sum(&d->event_count, v[T_EVENTS]);
	pf_sat_sum(&d->stored_count, v[T_STORED]);
	pf_sat_sum(&d->span_ns, v[T_SPAN]);
	pf_sat_sum(&r[LOST].count, v[T_LOST]);
	r[EVENT_LIMIT].count += v[T_STORED] == EVENT_CAP;
	pf_sat_sum(&r[TOO_DEEP].count, v[T_DEEP]);
	r[NO_EVENTS].count += !v[T_BESIDE] && v[T_EMPTY];
	if (!v[T_BESIDE] && !v[T_EMPTY])
		add_lacks(r, v);
	r[MERGED].count += v[T_MERGED] > 0;
	pf_sat_sum(&r[SHARED_IDS].count, v[T_SHARED]);
	/* one range around many kernels stops none of them */
	pf_sat_sum(&r[COUNTERS].count, v[T_COUNTERS] > 1 ? v[T_COUNTERS] : 0);
	pf_sat_sum(&r[NOT_IN_TABLE].count, v[T_UNLINKED]);
	pf_sat_sum(&r[NOT_IN_TABLE].gpu_ns, v[T_UNLINKED_NS]);
	PF_AT_LEAST(ranks->world, v[T_WORLD]);
	if (!v[T_FIRST_SPAN])
		return; /* another capture of a rank that has been counted */
	d->worker_count++;
	if (sqlite3_column_type(st, T_RANK) == SQLITE_NULL) {
		d->no_rank++;
		return;
	}
	*PF_ONE_MORE(ranks->items, ranks->count, ranks->cap) = v[T_RANK];
}

static void judge_ranks(struct doctor *d, const struct ranks *ranks)
{
	int64_t known;

	pf_sort(ranks->items, ranks->count, sizeof(*ranks->items),
		pf_stats_compare);
	for (size_t i = 1; i < ranks->count; i++)
		d->same_rank += ranks->items[i] == ranks->items[i - 1];
	d->world = ranks->world;
	known = (int64_t)ranks->count - d->same_rank;
	if (ranks->world > known + d->no_rank)
		d->absent_ranks = ranks->world - known - d->no_rank;
	if (d->worker_count < 2)
		d->no_rank = 0;
	d->is_rank_unsure = d->no_rank || d->same_rank;
	known = d->no_rank + d->same_rank;
	pf_sat_sum(&known, d->absent_ranks);
	set_alone(d, RANKS, known);
}

static int read_traces(struct doctor *d)
{
	sqlite3_stmt *st = pf_named_prepare(d->db, "doctor_traces", d->db->err);
	struct ranks ranks = { 0 };
	int rc;

	while ((rc = pf_db_step(d->db, st, d->db->err)) == 1)
		add_trace(d, st, &ranks);
	sqlite3_finalize(st);
	judge_ranks(d, &ranks);
	free(ranks.items);
	return rc;
}

/* Which check a kind of repair belongs to; else SKIPPED or REPAIRED. */
static const struct {
	const char *kind;
	enum check_id id;
} repair_checks[] = {
	{ "cut_off", CUT_OFF },         { "compression", CUT_OFF },
	{ "no_duration", NEGATIVE },    { "negative_duration", NEGATIVE },
	{ "python", LEFT_OUT },         { "no_end", CUT_OFF },
	{ "bad_frame", CAPTURE },       { "missing_frames", CAPTURE },
	{ "stopped", CAPTURE },         { "not_recorded", CAPTURE },
	{ "torn_range", CAPTURE },      { "skipped_bytes", CHECKS },
	{ "lost_events", CAPTURE },     { "untimed", CAPTURE },
	{ "history", DISAGREES },       { "sums", DISAGREES },
	{ "empty", REPAIRED },          { "rounded_time", CHECKS },
	{ "unread_table", UNREAD },     { "cut_snapshot", CUT_OFF },
	{ "no_time", NO_TIME },         { "time_range", NO_TIME },
	{ "untimed_skipped", NO_TIME }, { "state", CHECKS },
};

static enum check_id repair_check(const char *kind, const char *action)
{
	for (size_t i = 0; i < PF_LEN(repair_checks); i++)
		if (!strcmp(repair_checks[i].kind, kind))
			return repair_checks[i].id;
	return !strcmp(action, "skipped") ? SKIPPED : REPAIRED;
}

static const char *column_or_empty(sqlite3_stmt *st, int i)
{
	const char *text = pf_sqlite_text(st, i);

	return text ? text : "";
}

static void note_cut(struct doctor *d, sqlite3_stmt *st)
{
	if (d->cut.len > 200)
		return;
	pf_buf_addf(&d->cut, "%strace %lld", d->cut.len ? ", " : "",
		    (long long)sqlite3_column_int64(st, 0));
	if (sqlite3_column_type(st, 4) != SQLITE_NULL)
		pf_buf_addf(&d->cut, " ends at byte %lld",
			    (long long)sqlite3_column_int64(st, 4));
}

static int read_repairs(struct doctor *d)
{
	PF_STMT(st) = pf_named_prepare(d->db, "info_repairs", d->db->err);
	int rc;

	while ((rc = pf_db_step(d->db, st, d->db->err)) == 1) {
		enum check_id id = repair_check(column_or_empty(st, 1),
						column_or_empty(st, 2));

		/* Bytes are no events: their frames are counted.
		   Times below 1 ns are rounded, which mends nothing. */
		if (id == CHECKS)
			continue;
		pf_sat_sum(&d->results[id].count, sqlite3_column_int64(st, 3));
		if (id == CUT_OFF)
			note_cut(d, st);
	}
	return rc;
}

#define UNREAD_SHOWN 200 /* bytes, about */

static int read_unread(struct doctor *d)
{
	PF_STMT(st) = pf_named_prepare(d->db, "doctor_unread", d->db->err);
	int rc;

	while ((rc = pf_db_step(d->db, st, d->db->err)) == 1) {
		const char *table = pf_sqlite_text(st, 0);
		int64_t count = sqlite3_column_int64(st, 1);

		d->has_versions |= sqlite3_column_int(st, 2);
		if (!table)
			set_alone(d, GRAPHS, count);
		else if (d->unread.len < UNREAD_SHOWN)
			pf_buf_addf(&d->unread, "%s%s %s",
				    d->unread.len ? ", " : "", table,
				    PF_SHOW_COUNT(count));
	}
	return rc;
}

/* ---- all results ---- */

static void settle(struct doctor *d)
{
	static const enum check_id of_events[] = { SKIPPED, NO_TIME, LEFT_OUT,
						   UNREAD, NEGATIVE };
	static const enum check_id of_traces[] = {
		EVENT_LIMIT, NO_EVENTS, NO_GPU,   NO_CALLS, NO_STACKS,
		NO_SHAPES,   NO_MEMORY, NO_STEPS, COARSE
	};
	const struct pf_doctor_gpu *g = &d->gpu;
	const struct pf_doctor_tracks *t = &d->tracks;
	struct result *r = d->results;

	if (!d->has_shapes)
		r[NO_SHAPES].count = d->trace_count - r[NO_EVENTS].count;
	for (size_t i = 0; i < PF_LEN(of_events); i++)
		set(d, of_events[i], r[of_events[i]].count, d->event_count);
	for (size_t i = 0; i < PF_LEN(of_traces); i++)
		set(d, of_traces[i], r[of_traces[i]].count, d->trace_count);
	set(d, UNKNOWN, t->unknown_count, d->stored_count);
	set(d, TOO_DEEP, r[TOO_DEEP].count, d->stored_count);
	set(d, EMPTY_STEPS, t->empty_step_count, t->step_count);
	set(d, LONE_STEPS, t->lone_step_count, t->step_count);
	set_alone(d, COUNTERS, r[COUNTERS].count);
	set_alone(d, CUT_OFF, r[CUT_OFF].count);
	set_alone(d, LOST, r[LOST].count);
	set_alone(d, CAPTURE, r[CAPTURE].count);
	set_alone(d, REPAIRED, r[REPAIRED].count);
	set_alone(d, DISAGREES, r[DISAGREES].count);
	set_alone(d, MERGED, r[MERGED].count);
	set(d, SHARED_IDS, r[SHARED_IDS].count, g->work.count);
	set(d, CROWDED, t->crowded_count, g->work.count);
	set_gpu(d, HEAD, &g->head);
	set_gpu(d, MIGRATED, &g->migrated);
	set_gpu(d, ORPHAN, &g->orphan);
	set_gpu(d, NO_OP, &g->no_op);
	set_gpu(d, BACKLOG, &g->backlog);
	set_gpu(d, EARLY, &g->early);
	set_gpu(d, CLOCK, &g->clock);
	set(d, SLOW, d->clocks.low_count, d->clocks.count);
	set_gpu(d, OVERLAP, &g->overlap);
	/* others have no table from which something could be missing */
	if (pf_producer_is_torch(d->producer))
		set_gpu(d, NOT_IN_TABLE,
			&(struct pf_tally){ r[NOT_IN_TABLE].count,
					    r[NOT_IN_TABLE].gpu_ns });
	set(d, ZERO, g->zero.count, g->work.count);
	r[ZERO].gpu_ns = 0;
	set(d, IDLE_LAUNCHES, t->idle_launch_count, t->launch_count);
	set(d, IDLE_COPIES, t->idle_copy_count, t->copy_count);
	set(d, CAPTURED, t->captured_count,
	    t->captured_count + t->launch_count + t->copy_count);
	set(d, CROSSING, t->crossing_count, t->range_count);
	r[CROSSING].is_least = t->is_crossing_least;
	set(d, DUPLICATE, t->duplicate.count, t->event_count);
	r[DUPLICATE].gpu_ns = t->duplicate.ns;
	set(d, OVERHEAD, t->overhead.count, 0);
	r[OVERHEAD].share = part(t->overhead.ns, t->overhead_of_ns);
	set_alone(d, DENSE, d->recorded.dense_count);
}

/* ---- what is said of them ---- */

static void add_note(struct pf_doctor *out, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

static void add_note(struct pf_doctor *out, const char *fmt, ...)
{
	char text[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	out->notes[out->note_count++] = pf_arena_string(&out->texts, text);
}

static void take_checks(const struct doctor *d, struct pf_doctor *out)
{
	out->captured_share = d->results[CAPTURED].share;
	for (int i = 0; i < CHECKS; i++) {
		const struct result *r = &d->results[i];
		enum pf_doctor_verdict v = judge(d, (enum check_id)i);

		PF_AT_LEAST(out->worst, v);
		out->checks[i] =
			(struct pf_doctor_check){ rules[i].name,
						  verdicts[v],
						  r->count,
						  r->gpu_ns,
						  r->share < 0 ? NAN : r->share,
						  rules[i].says ? rules[i].says
								: rules[i].name,
						  rules[i].whole };
	}
}

static enum pf_doctor_verdict verdict_of(const struct pf_doctor_check *c)
{
	enum pf_doctor_verdict v = PF_DOCTOR_BAD;

	while (v > PF_DOCTOR_OK &&
	       (!c->verdict || strcmp(c->verdict, verdicts[v]) != 0))
		v--;
	return v;
}

/* A check without a share is about all. */
static double weight(const struct pf_doctor_check *c)
{
	return isnan(c->share) ? 1 : c->share;
}

static bool is_worse(const struct pf_doctor_check *c,
		     const struct pf_doctor_check *than)
{
	if (verdict_of(c) != verdict_of(than))
		return verdict_of(c) > verdict_of(than);
	return weight(c) != weight(than) ? weight(c) > weight(than) : c < than;
}

const struct pf_doctor_check *pf_doctor_next(const struct pf_doctor *d,
					     const struct pf_doctor_check *c)
{
	const struct pf_doctor_check *next = NULL;

	for (size_t i = 0; i < PF_DOCTOR_CHECKS; i++) {
		const struct pf_doctor_check *one = &d->checks[i];

		if (verdict_of(one) >= PF_DOCTOR_WARN &&
		    (!c || is_worse(c, one)) && (!next || is_worse(one, next)))
			next = one;
	}
	return next;
}

/* No check warns; but is all of the program there? */
static void say_nothing(const struct doctor *d, struct pf_buf *out)
{
	pf_buf_adds(out, "Nothing makes the figures doubtful: no check says "
			 "warn or bad");
	if (d->absent_ranks)
		pf_buf_addf(out, ". But %s of %s ranks %s in no trace",
			    PF_SHOW_COUNT(d->absent_ranks),
			    PF_SHOW_COUNT(d->world),
			    d->absent_ranks == 1 ? "is" : "are");
}

/* "Of 46 checks 3 are bad, 1 warns; first: " */
static void say_counts(int bad, int warn, struct pf_buf *out)
{
	pf_buf_addf(out, "Of %d checks ", CHECKS);
	if (bad)
		pf_buf_addf(out, "%d %s bad%s", bad, bad == 1 ? "is" : "are",
			    warn ? ", " : "");
	if (warn)
		pf_buf_addf(out, "%d %s", warn, warn == 1 ? "warns" : "warn");
	pf_buf_adds(out, bad + warn > 1 ? "; first: " : ": ");
}

void pf_doctor_say(const struct pf_doctor_check *c, struct pf_buf *out)
{
	pf_buf_adds(out, c->says);
	if (c->share > 0 && c->whole)
		pf_buf_addf(out, " (%s of %s)", PF_SHOW_RATIO(c->share),
			    c->whole);
}

static void add_finding(const struct doctor *d, struct pf_doctor *out)
{
	const struct pf_doctor_check *worst = pf_doctor_next(out, NULL);
	PF_AUTO(pf_buf_release) struct pf_buf text = { 0 };
	int of[PF_DOCTOR_BAD + 1] = { 0 };

	for (int i = 0; i < CHECKS; i++)
		of[verdict_of(&out->checks[i])]++;
	if (!worst) {
		say_nothing(d, &text);
	} else {
		say_counts(of[PF_DOCTOR_BAD], of[PF_DOCTOR_WARN], &text);
		pf_doctor_say(worst, &text);
	}
	out->finding = pf_arena_string(&out->texts, text.data);
}

static void note_gpu(const struct doctor *d, struct pf_doctor *out)
{
	if (d->has_versions)
		add_note(out, "no GPU activity: it may be in the tables that "
			      "are not read");
	else if (d->tracks.silent_trace_count)
		add_note(out,
			 "no GPU activity: %" PRId64 " %s no record of it: "
			 "another profiler may hold the GPU, or a permission "
			 "is lacking%s",
			 d->tracks.silent_trace_count,
			 d->tracks.silent_trace_count == 1
				 ? "trace launches work, but has"
				 : "traces launch work, but have",
			 d->producer == PF_FROM_NSYS ? ", or it ran under WSL"
						     : "");
	else if (d->tracks.tpu_count)
		add_note(out,
			 "no GPU activity: %" PRId64 " events are of TPUs, "
			 "which only 'profan overlap', 'gaps' and 'steps' look "
			 "into",
			 d->tracks.tpu_count);
	else
		add_note(out, "no GPU activity: %s",
			 pf_hint(d->producer, PF_HINT_WORK));
}

static void note_ranks(const struct doctor *d, struct pf_doctor *out)
{
	PF_AUTO(pf_buf_release) struct pf_buf text = { 0 };

	if (d->no_rank)
		pf_buf_addf(&text, ", %" PRId64 " %s none", d->no_rank,
			    d->no_rank == 1 ? "trace has" : "traces have");
	if (d->same_rank)
		pf_buf_addf(&text, ", %" PRId64 " %s that of another",
			    d->same_rank, d->same_rank == 1 ? "has" : "have");
	if (d->absent_ranks)
		pf_buf_addf(&text, ", %" PRId64 " of the world %s in no trace",
			    d->absent_ranks,
			    d->absent_ranks == 1 ? "is" : "are");
	add_note(out, "%s: %s; %s", rules[RANKS].name, text.data + 2,
		 rules[RANKS].advice);
}

/* What only some checks have to say. */
static void describe(const struct doctor *d, enum check_id id,
		     struct pf_buf *text)
{
	if (id == CUT_OFF && d->cut.len)
		pf_buf_addf(text, "%s; ", d->cut.data);
	if (id == UNREAD && d->unread.len)
		pf_buf_addf(text, "%s; ", d->unread.data);
	if (id == EARLY)
		pf_buf_addf(text, "at most %s; ",
			    PF_SHOW_NS(d->gpu.most_early_ns));
	if (id == BACKLOG)
		pf_buf_addf(text, "%s; ", PF_SHOW_NS(d->gpu.least_delay_ns));
	if (id == SLOW)
		pf_buf_addf(text,
			    "of %s samples that a log has while the GPU "
			    "worked, the least %.0f MHz of at most %.0f; ",
			    PF_SHOW_COUNT(d->clocks.count), d->clocks.least_mhz,
			    d->clocks.most_mhz);
	if (id == DENSE) {
		pf_recorded_say(&d->recorded, text);
		pf_buf_adds(text, "; ");
	}
	if (id == OVERHEAD)
		pf_buf_addf(text, "%s; ", PF_SHOW_NS(d->tracks.overhead.ns));
	if (d->results[id].is_least)
		pf_buf_adds(text, "there are more, not all were counted; ");
}

static void add_advice(const struct doctor *d, enum check_id id,
		       struct pf_buf *text)
{
	const struct rule *r = &rules[id];

	if (r->advice)
		pf_buf_adds(text, r->advice);
	if (id == UNREAD && d->unread.len &&
	    strstr(d->unread.data, "OSRT_API "))
		pf_buf_adds(text, "; ingest --osrt keeps OSRT_API");
	if (r->hint == PF_HINT_NONE)
		return;
	if (r->advice)
		pf_buf_adds(text, "; ");
	pf_buf_adds(text, pf_hint(d->producer, r->hint));
}

static void add_notes(const struct doctor *d, struct pf_doctor *out)
{
	PF_AUTO(pf_buf_release) struct pf_buf text = { 0 };

	for (int v = PF_DOCTOR_BAD; v > PF_DOCTOR_OK; v--)
		for (int i = 0; i < CHECKS; i++) {
			enum check_id id = (enum check_id)i;

			if ((int)judge(d, id) != v)
				continue;
			if (id == NO_GPU) {
				note_gpu(d, out);
				continue;
			}
			if (id == RANKS) {
				note_ranks(d, out);
				continue;
			}
			pf_buf_clear(&text);
			describe(d, id, &text);
			add_advice(d, id, &text);
			add_note(out, "%s: %s", rules[i].name, text.data);
		}
}

int pf_doctor_find(struct pf_db *db, struct pf_doctor *out)
{
	struct doctor d = { .db = db };
	int rc = -1;

	if (!pf_hint_producer(db, &d.producer) && !read_traces(&d) &&
	    !pf_trust_has_shapes(db, &d.has_shapes) && !read_repairs(&d) &&
	    !read_unread(&d) && !doctor_clocks(db, &d.clocks) &&
	    !pf_trust_recorded(db, NULL, &d.recorded) &&
	    !doctor_gpu(db, &d.gpu) && !doctor_tracks(db, &d.tracks)) {
		settle(&d);
		take_checks(&d, out);
		add_finding(&d, out);
		add_notes(&d, out);
		rc = 0;
	}
	pf_buf_release(&d.cut);
	pf_buf_release(&d.unread);
	return rc;
}

void pf_doctor_release(struct pf_doctor *d)
{
	pf_arena_release(&d->texts);
	*d = (struct pf_doctor){ 0 };
}

static void doctor_show(const struct pf_doctor *d,
			const struct pf_doctor_args *args, struct pf_doc *doc)
{
#define FIELD(...) PF_FIELD(struct pf_doctor_check, __VA_ARGS__)
	const struct pf_field fields[] = {
		FIELD(name, "check", "Check", PF_TEXT | PF_OURS),
		FIELD(count, "Count", PF_COUNT | (args->all ? 0 : PF_QUIET)),
		FIELD(gpu_ns, "GPU time", PF_NS | PF_KNOWN),
		FIELD(share, "Share", PF_RATIO),
		FIELD(verdict, "Verdict", PF_TEXT | PF_OURS),
	};
#undef FIELD
	int64_t fine = 0;

	for (size_t i = 0; i < PF_DOCTOR_CHECKS; i++)
		fine += !d->checks[i].count;
	pf_doc_finding(doc, "%s", d->finding);
	pf_doc_int(doc, "fine_count", "Checks that found nothing",
		   (enum pf_col_kind)(PF_COUNT | PF_BRIEF), fine);
	PF_ROWS(doc, "checks", NULL, fields, d->checks, PF_DOCTOR_CHECKS);
	for (size_t i = 0; i < d->note_count; i++)
		pf_doc_note(doc, "%s", d->notes[i]);
}

int pf_doctor(struct pf_db *db, const struct pf_doctor_args *args,
	      struct pf_doctor *kept, struct pf_doc *doc, bool *is_failed)
{
	PF_AUTO(pf_doctor_release) struct pf_doctor own = { 0 };
	struct pf_doctor *d = kept ? kept : &own;
	int rc = pf_doctor_find(db, d);

	if (!rc) {
		doctor_show(d, args, doc);
		*is_failed = args->fail_on >= 0 &&
			     (int)d->worst >= PF_DOCTOR_WARN + args->fail_on;
		if (*is_failed)
			pf_doc_failed(doc, "--fail-on", "%s", d->finding);
		else if (args->fail_on >= 0)
			pf_doc_passed(doc, "--fail-on");
	}
	return rc;
}
