/* SPDX-License-Identifier: MIT */
/*
 * One walk over every host thread and GPU stream.  Ranges come in order of
 * their start, longest first, so a range crosses an earlier one if the
 * earliest end of those that are still open lies before its own: the open
 * ends are a heap.  Events that equal each other have the same start and
 * length, so they are neighbours; all that an event is, is only read where
 * they are equal in that.
 */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "analysis/trust/doctor_impl.h"
#include "base/intern.h"
#include "base/order.h"
#include "events/interval.h"
#include "events/names.h"
#include "events/step.h"
#include "base/heap.h"
#include "base/mem.h"
#include "base/sat.h"
#include "base/spool.h"
#include "store/cursor.h"
#include "store/query.h"
#include "formats/event.h"

#define OPEN_MAX  65536 /* ranges of one thread at one instant */
#define TWINS_MAX 65536 /* events of one start and length */

/* That every event is looked at by. */
#define COLUMNS                                                                \
	(PF_COLBIT(PF_COL_START) | PF_COLBIT(PF_COL_DUR) |                     \
	 PF_COLBIT(PF_COL_NAME) | PF_COLBIT(PF_COL_TYPE) |                     \
	 PF_COLBIT(PF_COL_MASK) |                                              \
	 PF_COLBIT(PF_COL_SLOT + PF_SLOT_CORRELATION))

struct twin {
	uint64_t low, high; /* of a hash over all that an event is */
};

/* GPU work comes before calls: its tracks come first, and sorting is stable. */
struct link {
	int64_t trace_id, correlation;
	int64_t launches; /* enum pf_launch_kind; NONE: work */
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
	int64_t *open;
	size_t open_count, open_cap;
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

static void push_end(struct walk *w, int64_t end)
{
	w->open =
		pf_grow(w->open, &w->open_cap, w->open_count + 1, sizeof(end));
	w->open[w->open_count] = end;
	pf_heap_rise(w->open, sizeof(end), w->open_count++, ends_earlier);
}

static void pop_end(struct walk *w)
{
	w->open[0] = w->open[--w->open_count];
	pf_heap_sink(w->open, sizeof(*w->open), w->open_count, 0, ends_earlier);
}

static void check_crossing(struct walk *w, int64_t start, int64_t end)
{
	if (end <= start)
		return;
	w->out->range_count++;
	while (w->open_count && w->open[0] <= start)
		pop_end(w);
	if (w->open_count && w->open[0] < end)
		w->out->crossing_count++;
	if (w->open_count < OPEN_MAX)
		push_end(w, end);
	else
		w->out->is_crossing_least = true;
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
static int open_whole(struct walk *w, uint32_t seq, int64_t start_ns,
		      struct pf_err *err)
{
	static const uint64_t columns =
		COLUMNS | PF_COLBIT(PF_COL_ARGS) | PF_COLBIT(PF_COL_INLINE) |
		((uint64_t)((UINT32_C(1) << PF_SLOT_COUNT) - 1) << PF_COL_SLOT);

	if (w->whole && seq - w->next_seq < PF_BLOCK_EVENTS)
		return 0;
	if (!w->whole)
		w->whole = pf_cursor_new(w->db, w->track->id, columns, err);
	if (!w->whole)
		return -1;
	pf_cursor_seek(w->whole, start_ns);
	return 0;
}

static int add_twin(struct walk *w, uint32_t seq, struct pf_err *err)
{
	struct pf_span span;
	int rc;

	if (open_whole(w, seq, w->twin_start_ns, err) < 0)
		return -1;
	do
		rc = pf_cursor_next(w->whole, &span, err);
	while (rc == 1 && span.seq != seq);
	if (rc != 1)
		return rc ? rc : pf_fail(err, PF_EDB, "a block has changed");
	w->next_seq = seq + 1;
	w->twins = pf_grow(w->twins, &w->twin_cap, w->twin_count + 1,
			   sizeof(*w->twins));
	w->twins[w->twin_count++] = hash_event(&span);
	return 0;
}

static int check_twin(struct walk *w, uint32_t seq, int64_t start_ns,
		      int64_t dur_ns, bool is_work, struct pf_err *err)
{
	w->out->event_count++;
	if (!w->same_count || start_ns != w->twin_start_ns ||
	    dur_ns != w->twin_dur_ns || w->same_count == TWINS_MAX ||
	    w->is_work != is_work) {
		settle_twins(w);
		w->first_seq = seq;
		w->twin_start_ns = start_ns;
		w->twin_dur_ns = dur_ns;
		w->is_work = is_work;
	}
	if (++w->same_count == 1)
		return 0;
	if (!w->twin_count && add_twin(w, w->first_seq, err) < 0)
		return -1;
	return add_twin(w, seq, err);
}

/* ---- launches ---- */

/* An event that may belong to others, by its correlation. */
static int check_link(struct walk *w, unsigned kind, uint32_t name,
		      int64_t correlation, struct pf_err *err)
{
	struct link l = { w->track->trace_id, correlation, 0, false };
	const struct pf_name_class *class;

	if (correlation <= 0)
		return 0;
	if (!w->is_host)
		return pf_kind_is_gpu_work(kind)
			       ? pf_sorter_add(w->links, &l, err)
			       : 0;
	if (kind != PF_KIND_RUNTIME && kind != PF_KIND_DRIVER)
		return 0;
	class = pf_names_class(w->names, name, err);
	if (!class)
		return -1;
	l.launches = class->launches;
	l.is_graph = class->is_graph;
	return l.launches ? pf_sorter_add(w->links, &l, err) : 0;
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

static int count_idle(struct walk *w, struct pf_err *err)
{
	struct group group = { 0 };
	const struct link *l;
	int64_t trace_id = -1, correlation = -1; /* of work */
	int64_t silent_id = -1; /* the last trace that was found silent */

	if (pf_sorter_finish(w->links, err) < 0)
		return -1;
	while ((l = pf_sorter_next(w->links, err))) {
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
	return err->code ? -1 : 0;
}

/* ---- the walk ---- */

static int take(struct walk *w, const struct pf_block *b, uint32_t i,
		uint32_t seq, struct pf_err *err)
{
	unsigned kind = pf_names_kind(w->names, b->type[i]);
	int64_t start_ns = b->start_ns[i], dur_ns = b->dur_ns[i];
	int64_t end_ns = pf_span_end(start_ns, dur_ns);

	w->out->unknown_count +=
		w->has_categories &&
		(kind == PF_KIND_HOST || kind == PF_KIND_GPU_OTHER);
	if (w->is_host)
		check_crossing(w, start_ns, end_ns);
	if (w->is_host && kind == PF_KIND_OVERHEAD) {
		w->out->overhead.count++;
		pf_union_add(&w->overhead, start_ns, end_ns);
	}
	return check_twin(w, seq, start_ns, dur_ns, pf_kind_is_gpu_work(kind),
			  err);
}

static int take_block(struct walk *w, const struct pf_block *b, uint32_t first,
		      struct pf_err *err)
{
	const int64_t *correlation = b->slot[PF_SLOT_CORRELATION];
	uint32_t at = 0;

	for (uint32_t i = 0; i < b->count; i++) {
		if (take(w, b, i, first + i, err) < 0)
			return -1;
		if ((b->mask[i] >> PF_SLOT_CORRELATION & 1) &&
		    check_link(w, pf_names_kind(w->names, b->type[i]),
			       b->name[i], correlation[at++], err) < 0)
			return -1;
	}
	return 0;
}

/* A thread has as long as its trace; several have that each. */
static int add_overhead(struct walk *w, struct pf_err *err)
{
	char sql[96];
	int64_t span_ns = 0;

	if (!w->overhead.covered_ns)
		return 0;
	pf_sat_sum(&w->out->overhead.ns, w->overhead.covered_ns);
	snprintf(sql, sizeof(sql),
		 "SELECT last_ns - first_ns FROM trace WHERE id = %" PRId64,
		 w->track->trace_id);
	if (pf_db_number(w->db, sql, &span_ns, err))
		return -1;
	pf_sat_sum(&w->out->overhead_of_ns, span_ns);
	return 0;
}

static int walk_track(struct walk *w, const struct pf_track *track,
		      struct pf_err *err)
{
	struct pf_cursor *c = pf_cursor_new(w->db, track->id, COLUMNS, err);
	const struct pf_block *b;
	uint32_t first;
	int rc = c ? 0 : -1;

	w->track = track;
	w->open_count = w->same_count = 0;
	w->overhead = (struct pf_union){ 0 };
	while (!rc && (rc = pf_cursor_block(c, &b, &first, err)) == 1)
		rc = take_block(w, b, first, err);
	settle_twins(w);
	if (!rc)
		rc = add_overhead(w, err);
	pf_cursor_free(w->whole);
	w->whole = NULL;
	pf_cursor_free(c);
	return rc;
}

/* TPUs' lines are known by their names, and XSpaces have no categories. */
static int find_categories(struct walk *w, const struct pf_track *t,
			   struct pf_err *err)
{
	int rc;

	sqlite3_bind_int64(w->ask_categories, 1, t->trace_id);
	rc = pf_db_step(w->db, w->ask_categories, err);
	w->has_categories = !rc;
	if (!strncmp(t->pid, "TPU ", 4)) {
		w->has_categories = false;
		w->out->tpu_count += t->event_count;
	}
	sqlite3_reset(w->ask_categories);
	return rc < 0 ? -1 : 0;
}

static int walk_tracks(struct walk *w, struct pf_err *err)
{
	struct pf_track *tracks = NULL;
	size_t count = 0;
	int rc = pf_tracks_load(w->db, 0, &tracks, &count, err);

	for (int is_host = 0; is_host < 2; is_host++) {
		w->is_host = is_host;
		for (size_t i = 0; !rc && i < count; i++)
			if (!strcmp(tracks[i].class_name,
				    is_host ? "host" : "gpu")) {
				rc = find_categories(w, &tracks[i], err);
				if (!rc)
					rc = walk_track(w, &tracks[i], err);
			}
	}
	pf_tracks_free(tracks, count);
	return rc;
}

static int count_steps(struct pf_db *db, struct pf_doctor_tracks *out,
		       struct pf_err *err)
{
	struct pf_steps steps = { 0 };
	int rc = pf_steps_load(db, NULL, &steps, err);

	out->step_count = (int64_t)steps.count;
	for (size_t i = 0; i < steps.count; i++)
		out->empty_step_count += steps.items[i].is_empty;
	pf_steps_release(&steps);
	return rc;
}

int pf_doctor_tracks(struct pf_db *db, struct pf_doctor_tracks *out,
		     struct pf_err *err)
{
	struct walk w = { .db = db, .out = out };
	int rc = -1;

	*out = (struct pf_doctor_tracks){ 0 };
	w.names = pf_names_new(db, err);
	w.links = pf_sorter_temp(sizeof(struct link));
	w.ask_categories = pf_named_prepare(db, "trace_has_no_categories", err);
	if (w.names && w.ask_categories && !walk_tracks(&w, err))
		rc = count_idle(&w, err);
	if (!rc)
		rc = count_steps(db, out, err);
	pf_sorter_free(w.links);
	sqlite3_finalize(w.ask_categories);
	pf_names_free(w.names);
	free(w.open);
	free(w.twins);
	return rc;
}
