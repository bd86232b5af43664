/* SPDX-License-Identifier: MIT */
/*
 * One walk over every host thread and GPU stream.  Ranges come in order of
 * their start, longest first, so a range crosses an earlier one if the
 * earliest end of those that are still open lies before its own: the open
 * ends are a heap.  Events that equal each other have the same start and
 * length, so they are neighbours.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "analysis/doctor_impl.h"
#include "base/intern.h"
#include "events/interval.h"
#include "events/names.h"
#include "base/heap.h"
#include "base/mem.h"
#include "base/sat.h"
#include "base/spool.h"
#include "store/cursor.h"
#include "store/named.h"
#include "trace/event.h"

#define OPEN_MAX  65536 /* ranges of one thread at one instant */
#define TWINS_MAX 65536 /* events of one start and length */

struct twin {
	uint64_t low, high; /* of a hash over all that an event is */
};

/* GPU work comes before calls: it is added first, and sorting is stable. */
struct link {
	int64_t trace_id, correlation;
	int64_t launches; /* enum pf_launch_kind; NONE: work */
};

struct walk {
	struct pf_db *db;
	struct pf_doctor_tracks *out;
	struct pf_names *names;
	struct pf_sorter *links;
	int64_t trace_id;
	/* the track at hand */
	int64_t *open;
	size_t open_count, open_cap;
	struct pf_union overhead;
	struct twin *twins;
	size_t twin_count, twin_cap;
	int64_t twin_start_ns, twin_dur_ns;
	bool is_work; /* of the twins */
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

static int compare_twins(const void *a, const void *b)
{
	const struct twin *x = a, *y = b;

	if (x->low != y->low)
		return x->low < y->low ? -1 : 1;
	return (x->high > y->high) - (x->high < y->high);
}

static void settle_twins(struct walk *w)
{
	int64_t count = 0;

	if (w->twin_count > 1)
		qsort(w->twins, w->twin_count, sizeof(*w->twins),
		      compare_twins);
	for (size_t i = 1; i < w->twin_count; i++)
		count += !compare_twins(&w->twins[i - 1], &w->twins[i]);
	w->out->duplicate.count += count;
	for (; w->is_work && count; count--)
		pf_sat_sum(&w->out->duplicate.ns, w->twin_dur_ns);
	w->twin_count = 0;
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

static void check_twin(struct walk *w, const struct pf_span *s, unsigned kind)
{
	w->out->event_count++;
	if (s->start_ns != w->twin_start_ns || s->dur_ns != w->twin_dur_ns ||
	    w->twin_count == TWINS_MAX ||
	    w->is_work != pf_kind_is_gpu_work(kind))
		settle_twins(w);
	w->twin_start_ns = s->start_ns;
	w->twin_dur_ns = s->dur_ns;
	w->is_work = pf_kind_is_gpu_work(kind);
	w->twins = pf_grow(w->twins, &w->twin_cap, w->twin_count + 1,
			   sizeof(*w->twins));
	w->twins[w->twin_count++] = hash_event(s);
}

/* ---- launches ---- */

static int check_call(struct walk *w, const struct pf_span *s,
		      struct pf_err *err)
{
	struct link l = { w->trace_id, s->slot[PF_SLOT_CORRELATION], 0 };
	const struct pf_name_class *class;

	if (!(s->mask >> PF_SLOT_CORRELATION & 1) || l.correlation <= 0)
		return 0;
	class = pf_names_class(w->names, s->name, err);
	if (!class)
		return -1;
	l.launches = class->launches;
	return l.launches ? pf_sorter_add(w->links, &l, err) : 0;
}

static int add_work(struct walk *w, struct pf_err *err)
{
	sqlite3_stmt *stmt =
		pf_named_prepare(w->db, "doctor_correlations", err);
	int rc;

	if (!stmt)
		return -1;
	while ((rc = pf_db_step(w->db, stmt, err)) == 1) {
		struct link l = { sqlite3_column_int64(stmt, 0),
				  sqlite3_column_int64(stmt, 1), 0 };

		rc = pf_sorter_add(w->links, &l, err);
		if (rc < 0)
			break;
	}
	sqlite3_finalize(stmt);
	return rc;
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

static int count_idle(struct walk *w, struct pf_err *err)
{
	const struct link *l;
	int64_t trace_id = -1, correlation = -1; /* of work */
	int64_t silent_id = -1; /* the last trace that was found silent */

	if (pf_sorter_finish(w->links, err) < 0)
		return -1;
	while ((l = pf_sorter_next(w->links, err))) {
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
	return err->code ? -1 : 0;
}

/* ---- the walk ---- */

static int take(struct walk *w, const struct pf_span *s, bool is_host,
		struct pf_err *err)
{
	unsigned kind = pf_names_kind(w->names, s->type);
	int64_t end = pf_span_end(s->start_ns, s->dur_ns);

	check_twin(w, s, kind);
	w->out->unknown_count +=
		kind == PF_KIND_HOST || kind == PF_KIND_GPU_OTHER;
	if (!is_host)
		return 0;
	check_crossing(w, s->start_ns, end);
	if (kind == PF_KIND_OVERHEAD) {
		w->out->overhead.count++;
		pf_union_add(&w->overhead, s->start_ns, end);
	}
	if (kind == PF_KIND_RUNTIME || kind == PF_KIND_DRIVER)
		return check_call(w, s, err);
	return 0;
}

static int walk_track(struct walk *w, const struct pf_track *track,
		      struct pf_err *err)
{
	static const uint64_t columns =
		PF_COLBIT(PF_COL_START) | PF_COLBIT(PF_COL_DUR) |
		PF_COLBIT(PF_COL_NAME) | PF_COLBIT(PF_COL_TYPE) |
		PF_COLBIT(PF_COL_ARGS) | PF_COLBIT(PF_COL_MASK) |
		PF_COLBIT(PF_COL_INLINE) |
		((uint64_t)((UINT32_C(1) << PF_SLOT_COUNT) - 1) << PF_COL_SLOT);
	bool is_host = !strcmp(track->class_name, "host");
	struct pf_cursor *c = pf_cursor_new(w->db, track->id, columns, err);
	struct pf_span span;
	int rc;

	if (!c)
		return -1;
	w->trace_id = track->trace_id;
	w->open_count = w->twin_count = 0;
	w->overhead = (struct pf_union){ 0 };
	while ((rc = pf_cursor_next(c, &span, err)) == 1)
		if ((rc = take(w, &span, is_host, err)) < 0)
			break;
	settle_twins(w);
	pf_sat_sum(&w->out->overhead.ns, w->overhead.covered_ns);
	pf_cursor_free(c);
	return rc;
}

static int walk_tracks(struct walk *w, struct pf_err *err)
{
	struct pf_track *tracks = NULL;
	size_t count = 0;
	int rc = pf_tracks_load(w->db, 0, &tracks, &count, err);

	for (size_t i = 0; !rc && i < count; i++)
		if (!strcmp(tracks[i].class_name, "host") ||
		    !strcmp(tracks[i].class_name, "gpu"))
			rc = walk_track(w, &tracks[i], err);
	pf_tracks_free(tracks, count);
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
	if (w.names && !add_work(&w, err) && !walk_tracks(&w, err))
		rc = count_idle(&w, err);
	pf_sorter_free(w.links);
	pf_names_free(w.names);
	free(w.open);
	free(w.twins);
	return rc;
}
