/* SPDX-License-Identifier: MIT */
/*
 * The runs of one track, merged.  A run is opened when its first event may be
 * next, so a file that is nearly in order has one or two open at a time; the
 * memory for buffers is shared out when many must be open at once.
 *
 * Invariant: heap[0..open) are readers that stand on an event, the smallest
 * first; runs[next_run..count) begin no earlier than any event given out.
 */
#include "config.h"

#include "base/heap.h"
#include "base/mem.h"
#include "base/order.h"
#include "base/search.h"
#include "events/interval.h"
#include "ingest/impl.h"
#include "store/cursor.h"
#include "store/query.h"
#include "store/threads.h"

/*
 * Tracks that only the names of their process and line tell from those of the
 * host (TensorFlow, JAX, torch_npu) become tracks of GPUs before they are merged: names
 * come with metadata events, which may stand anywhere in the file.  A track
 * has the number of its device and stream then, as profilers with categories
 * write it.
 */

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/intern.h"
#include "base/spool.h"
#include "events/args.h"
#include "events/traces.h"
#include "formats/planes.h"
#include "store/texts.h"

/* ---- tracks ---- */

static struct pf_ingest_track *find_track(struct pf_ingest *in, const char *pid,
					  const char *tid, char class_letter)
{
	for (size_t i = in->first_track; i < in->track_count; i++) {
		struct pf_ingest_track *t = pf_ingest_track(in, i);

		if (t->class_letter == class_letter && !strcmp(t->pid, pid) &&
		    !strcmp(t->tid, tid))
			return t;
	}
	return NULL;
}

static void move_track(struct pf_ingest *in, const char *pid, const char *tid,
		       const char *process, const char *line)
{
	struct pf_device_place place = pf_device_place(process, line);
	struct pf_ingest_track *t = find_track(in, pid, tid, 'h');
	const char *new_tid = *place.tid ? place.tid : line;

	if (t && (place.line == PF_LINE_THREAD || place.line == PF_LINE_POOL)) {
		t->line = (uint8_t)place.line;
		return;
	}
	/* Two of one place stay what the file says. */
	if (!place.line || !t || find_track(in, place.pid, new_tid, 'g'))
		return;
	free(t->pid);
	free(t->tid);
	t->class_letter = 'g';
	t->line = (uint8_t)place.line;
	t->pid = pf_strdup(place.pid);
	t->tid = pf_strdup(new_tid);
	t->name = pf_strdup(line);
}

/*
 * How those write it is no damage: times with 17 digits, and an empty object
 * at the end.
 */
static void take_planes(struct pf_ingest *in)
{
	in->format_name = PF_INGEST_PLANES_NAME;
	in->repairs.of[PF_REPAIR_ROUNDED_TIME].count = 0;
	if (in->repairs.of[PF_SKIP_EMPTY].count == 1) {
		in->repairs.of[PF_SKIP_EMPTY].count = 0;
		in->metadata_count++;
	}
}

/* Streams are numbers; other lines of an NPU are called what they are. */
static void move_npu_track(struct pf_ingest *in, struct pf_ingest_track *t,
			   const char *process, const char *device,
			   const char *line)
{
	enum pf_device_line kind = pf_device_npu_line(process, line);
	char *tid = pf_strdup(kind == PF_LINE_TASKS || !*line ? t->tid : line);
	struct pf_ingest_track *flows;

	if (kind == PF_LINE_CALLS)
		t->line = (uint8_t)kind;
	/* Two of one place stay what the file says. */
	if (!kind || kind == PF_LINE_CALLS ||
	    find_track(in, device, tid, 'g')) {
		free(tid);
		return;
	}
	flows = find_track(in, t->pid, t->tid, 'f');
	if (flows)
		flows->bound =
			(uint32_t)(in->first_track + (size_t)(t - in->tracks)) +
			1;
	free(t->pid);
	free(t->tid);
	t->class_letter = 'g';
	t->line = (uint8_t)kind;
	t->pid = pf_strdup(device);
	t->tid = tid;
	t->name = pf_strdup(line);
}

/* What torch_npu and msprof write, by the names of their processes. */
static int take_npu(struct pf_ingest *in, struct pf_err *err)
{
	PF_STMT(st) = pf_named_prepare(in->db, "npu_lines", err);
	const char *text[5];
	int rc;

	sqlite3_bind_int64(st, 1, in->trace_id);
	while ((rc = pf_db_step(in->db, st, err)) == 1) {
		struct pf_ingest_track *t;

		for (int i = 0; i < 5; i++)
			text[i] = pf_sqlite_text(st, i);
		t = text[1] ? find_track(in, text[0], text[1], 'h') : NULL;
		if (t)
			move_npu_track(in, t, text[2], text[4], text[3]);
		for (size_t i = in->first_track;
		     !text[1] && i < in->track_count; i++) {
			t = pf_ingest_track(in, i);
			if (t->class_letter == 'h' && !t->line &&
			    !strcmp(t->pid, text[0]))
				move_npu_track(in, t, text[2], text[4], "");
		}
	}
	return rc;
}

/* Tracks that their names tell to be lines of devices. */
static int device_tracks(struct pf_ingest *in, struct pf_err *err)
{
	sqlite3_stmt *st = pf_named_prepare(in->db, "device_lines", err);
	const char *text[4];
	bool is_of_planes = false;
	int rc;

	sqlite3_bind_int64(st, 1, in->trace_id);
	while ((rc = pf_db_step(in->db, st, err)) == 1) {
		for (int i = 0; i < 4; i++) {
			text[i] = pf_sqlite_text(st, i);
			text[i] = text[i] ? text[i] : "";
		}
		if (!pf_is_plane(text[2], strlen(text[2])))
			continue;
		move_track(in, text[0], text[1], text[2], text[3]);
		is_of_planes = true;
	}
	sqlite3_finalize(st);
	if (is_of_planes)
		take_planes(in);
	return rc < 0 ? rc : take_npu(in, err);
}

/* ---- kinds ---- */

struct pf_ingest_device {
	struct pf_texts texts;
	struct pf_map places; /* name and arguments -> found, by line */
	struct pf_device_event *found;
	size_t count, cap;
	enum pf_device_line line;
	const struct pf_ingest_track *track; /* of the last event */
	int64_t runtime_end_ns;              /* on it */
	bool has_type[PF_KIND_COUNT];        /* an event has it */
	int64_t slots[PF_SLOT_COUNT];        /* of the last event */
};

static struct pf_ingest_device *ingest_device_new(struct pf_ingest *in)
{
	struct pf_ingest_device *d = pf_calloc(1, sizeof(*d));

	d->texts.db = in->db;
	return d;
}

static void ingest_device_free(struct pf_ingest_device *d)
{
	if (!d)
		return;
	pf_texts_release(&d->texts);
	free(d->found);
	pf_map_release(&d->places);
	free(d);
}

static int judge(struct pf_ingest_device *d, const struct pf_run_event *ev,
		 struct pf_device_event *out, struct pf_err *err)
{
	const char *name = ev->inline_name, *args = ev->inline_args;
	size_t name_len = ev->inline_name_len, args_len = ev->inline_args_len;

	PF_TRY(ev->name != PF_ID_INLINE &&
	       pf_texts_get(&d->texts, PF_TEXT_NAME, ev->name, &name, &name_len,
			    err) < 0);
	if (ev->args == PF_ID_NONE)
		args_len = 0;
	else if (ev->args != PF_ID_INLINE &&
		 pf_texts_get(&d->texts, PF_TEXT_ARGS, ev->args, &args,
			      &args_len, err) < 0)
		return -1;
	*out = pf_device_event(d->line, name, name_len, args_len ? args : "",
			       args_len);
	return 0;
}

static int find(struct pf_ingest_device *d, const struct pf_run_event *ev,
		struct pf_device_event *out, struct pf_err *err)
{
	uint64_t *place;

	if (ev->name == PF_ID_INLINE || ev->args == PF_ID_INLINE)
		return judge(d, ev, out, err);
	place = pf_map_at(&d->places, (uint64_t)ev->name << 32 | ev->args);
	if (*place == UINT64_MAX) {
		PF_ROOM(d->found, d->cap, d->count + 1);
		PF_TRY(judge(d, ev, &d->found[d->count], err));
		*place = d->count++;
	}
	*out = d->found[*place];
	return 0;
}

/* The type of complete events without a category, of a kind. */
static uint32_t find_type(const struct pf_ingest *in,
			  struct pf_ingest_device *d, unsigned kind)
{
	if (kind == PF_KIND_HOST)
		return in->plain_type;
	d->has_type[kind] = true;
	return in->device_type[kind];
}

/* Rows of those that were given; when all blocks are written. */
static int ingest_device_types(struct pf_ingest *in,
			       const struct pf_ingest_device *d,
			       struct pf_err *err)
{
	PF_STMT(st) = NULL;

	if (!d)
		return 0;
	st = pf_db_prepare(in->db,
			   "INSERT OR IGNORE INTO event_type(id, ph, category,"
			   " kind) VALUES(?1, 'X', '', ?2)",
			   err);
	PF_TRY(!st);
	for (int k = 0; k < PF_KIND_COUNT; k++) {
		if (!d->has_type[k])
			continue;
		PF_BIND(st, in->device_type[k], k);
		PF_TRY(pf_db_put(in->db, st, err));
	}
	return 0;
}

/* A number that the arguments say as text becomes a slot, too. */
static void add_slot(struct pf_ingest_device *d, struct pf_run_event *ev,
		     enum pf_slot slot, int64_t value)
{
	const uint32_t bit = UINT32_C(1) << slot;
	const size_t count = (size_t)__builtin_popcount(ev->mask);
	const size_t at = (size_t)__builtin_popcount(ev->mask & (bit - 1));

	if (ev->mask & bit)
		return;
	memmove(d->slots + at + 1, ev->slots + at,
		(count - at) * sizeof(*d->slots));
	if (ev->slots != d->slots)
		memcpy(d->slots, ev->slots, at * sizeof(*d->slots));
	d->slots[at] = value;
	ev->slots = d->slots;
	ev->mask |= bit;
}

static int ingest_device_event(struct pf_ingest *in, struct pf_ingest_device *d,
			       const struct pf_ingest_track *t,
			       struct pf_run_event *ev, struct pf_err *err)
{
	enum pf_device_line line = (enum pf_device_line)t->line;
	struct pf_device_event found;

	if (in->type[ev->type].kind != PF_KIND_HOST ||
	    ev->type != in->plain_type)
		return 0;
	if (line != d->line) {
		pf_map_release(&d->places);
		d->count = 0;
		d->line = line;
	}
	PF_TRY(find(d, ev, &found, err));
	if (t != d->track)
		d->runtime_end_ns = INT64_MIN;
	d->track = t;
	found.kind = pf_range_in((enum pf_kind)found.kind, found.is_sure,
				 ev->start_ns, ev->start_ns + ev->dur_ns,
				 &d->runtime_end_ns);
	ev->type = find_type(in, d, found.kind);
	if (found.correlation)
		add_slot(d, ev, PF_SLOT_CORRELATION, found.correlation);
	if (found.step >= 0)
		add_slot(d, ev, PF_SLOT_STEP, found.step * 16);
	return 0;
}

/*
 * Arrows of torch_npu from operators of the host to the tasks of a NPU: flow
 * events of the category async_npu, bound to what begins there and then.  They
 * are gathered when the tracks of devices are known, find their operator while
 * the host's tracks are merged, and give it to the rows of the tasks.
 */

#define SORT_BYTES  (2u << 20)
#define SPOOL_BYTES (1u << 20)

/* An end of an arrow; of two with one id the order in the file tells. */
struct end {
	int64_t id, order; /* leading: the sorter's keys */
	int64_t start_ns, track;
};

/* Both ends. */
struct arrow {
	int64_t host_track, host_ns; /* leading, likewise */
	int64_t gpu_track, gpu_ns;
};

struct pf_ingest_arrow {
	int64_t gpu_track, gpu_ns; /* leading: the sorter's keys */
	int64_t start_ns, op_id, comm;
};

struct pf_ingest_arrows {
	struct pf_texts texts;
	struct pf_sorter *starts, *ends;
	struct pf_sorter *by_host;  /* struct arrow */
	const struct arrow *next;   /* of those, NULL behind the last */
	struct pf_sorter *resolved; /* struct pf_ingest_arrow */
	struct pf_spool *by_gpu;    /* the same, sorted */
	uint64_t *at;               /* of each track: its next of by_gpu */
	/* types of their two ends */
	uint32_t *types;
	char *phases;
	size_t type_count, types_cap, phases_cap;
};

static int find_types(struct pf_ingest *in, struct pf_ingest_arrows *a,
		      struct pf_err *err)
{
	PF_STMT(st) = pf_db_prepare(
		in->db,
		"SELECT id, ph FROM event_type"
		" WHERE category = 'async_npu' AND ph IN ('s', 'f')",
		err);
	int rc;

	while ((rc = pf_db_step(in->db, st, err)) == 1) {
		PF_ROOM(a->types, a->types_cap, a->type_count + 1);
		PF_ROOM(a->phases, a->phases_cap, a->type_count + 1);
		a->types[a->type_count] = (uint32_t)sqlite3_column_int64(st, 0);
		a->phases[a->type_count++] = *pf_sqlite_text(st, 1);
	}
	return rc;
}

/* An id that is no integer stands in the arguments: 1, 0 without, -1. */
static int id_of(struct pf_ingest_arrows *a, const struct pf_run_event *ev,
		 int64_t *id, struct pf_err *err)
{
	const uint32_t bit = UINT32_C(1) << PF_SLOT_FLOW_ID;
	struct pf_json args = { ev->inline_args, ev->inline_args_len }, text;

	if (ev->mask & bit) {
		*id = ev->slots[__builtin_popcount(ev->mask & (bit - 1))];
		return 1;
	}
	if (ev->args == PF_ID_NONE)
		return 0;
	PF_TRY(ev->args != PF_ID_INLINE &&
	       pf_texts_get(&a->texts, PF_TEXT_ARGS, ev->args, &args.p,
			    &args.len, err) < 0);
	text = pf_json_get(args, "@id");
	if (text.p)
		*id = (int64_t)XXH3_64bits(text.p, text.len);
	return text.p != NULL;
}

static int take_end(struct pf_ingest_arrows *a, const struct pf_run_event *ev,
		    int64_t track, bool is_of_device, struct pf_err *err)
{
	struct end e = { .order = ev->order,
			 .start_ns = ev->start_ns,
			 .track = track };
	size_t i = 0;
	int rc;

	while (i < a->type_count && a->types[i] != ev->type)
		i++;
	if (i == a->type_count || (a->phases[i] == 'f') != is_of_device)
		return 0;
	rc = id_of(a, ev, &e.id, err);
	return rc <= 0 ? rc
		       : pf_sorter_add(is_of_device ? a->ends : a->starts, &e,
				       err);
}

static int read_track(struct pf_ingest *in, struct pf_ingest_arrows *a,
		      const struct pf_ingest_track *t, struct pf_err *err)
{
	size_t bound = t->bound ? t->bound - 1 : in->first_track;
	int rc = 0;

	/* Without one: to the thread of the host that is called the same. */
	while (!t->bound && bound < in->track_count) {
		const struct pf_ingest_track *h = pf_ingest_track(in, bound);

		if (h->class_letter == 'h' && !strcmp(h->pid, t->pid) &&
		    !strcmp(h->tid, t->tid))
			break;
		bound++;
	}
	for (size_t i = 0; bound < in->track_count && i < t->run_count && !rc;
	     i++) {
		struct pf_run_reader r;

		pf_run_open(&r, in->runs, &t->runs[i], 64u << 10);
		while ((rc = pf_run_next(&r, err)) == 1)
			if (take_end(a, &r.event, (int64_t)bound, t->bound,
				     err) < 0) {
				rc = -1;
				break;
			}
		pf_run_close(&r);
	}
	return rc;
}

/*
 * Of an id that is used again only what the file has by turns is certain: its
 * end stands between this start and the next, and the end before in front.
 */
static bool is_certain(const struct end *start, const struct end *end,
		       const struct end *next, int64_t last_order)
{
	bool is_more = next && next->id == start->id;

	if (!is_more && last_order < 0)
		return true;
	return last_order < start->order && start->order < end->order &&
	       (!is_more || end->order < next->order);
}

/* The n-th start of an id goes with its n-th end. */
static int pair(struct pf_ingest_arrows *a, struct pf_err *err)
{
	const struct end *e, *next;
	struct end s;
	int64_t last_order = -1; /* of the last end with the id of s */
	int rc = 0;

	PF_TRY(pf_sorter_finish(a->starts, err));
	PF_TRY(pf_sorter_finish(a->ends, err));
	next = pf_sorter_next(a->starts, err);
	e = pf_sorter_next(a->ends, err);
	while (next && e && !rc) {
		s = *next;
		next = pf_sorter_next(a->starts, err);
		while (e && e->id < s.id)
			e = pf_sorter_next(a->ends, err);
		if (e && e->id == s.id) {
			const struct arrow both = { s.track, s.start_ns,
						    e->track, e->start_ns };

			if (is_certain(&s, e, next, last_order))
				rc = pf_sorter_add(a->by_host, &both, err);
			last_order = e->order;
			e = pf_sorter_next(a->ends, err);
		}
		if (!next || next->id != s.id)
			last_order = -1;
	}
	return err->code ? -1 : rc;
}

void pf_ingest_arrows_free(struct pf_ingest_arrows *a)
{
	if (!a)
		return;
	pf_texts_release(&a->texts);
	pf_sorter_free(a->starts);
	pf_sorter_free(a->ends);
	pf_sorter_free(a->by_host);
	pf_sorter_free(a->resolved);
	pf_spool_free(a->by_gpu);
	free(a->types);
	free(a->phases);
	free(a->at);
	free(a);
}

static int arrows_gather(struct pf_ingest *in, struct pf_err *err)
{
	struct pf_ingest_arrows *a;
	bool is_any = false;
	int rc;

	for (size_t i = in->first_track; i < in->track_count; i++)
		is_any |= pf_ingest_track(in, i)->bound != 0;
	if (!is_any)
		return 0;
	in->arrows = a = pf_calloc(1, sizeof(*a));
	a->texts.db = in->db;
	a->starts =
		pf_sorter_new(sizeof(struct end), SORT_BYTES, in->directory);
	a->ends = pf_sorter_new(sizeof(struct end), SORT_BYTES, in->directory);
	a->by_host =
		pf_sorter_new(sizeof(struct arrow), SORT_BYTES, in->directory);
	a->resolved = pf_sorter_new(sizeof(struct pf_ingest_arrow), SORT_BYTES,
				    in->directory);
	rc = find_types(in, a, err);
	for (size_t i = in->first_track; i < in->track_count && !rc; i++)
		if (pf_ingest_track(in, i)->class_letter == 'f')
			rc = read_track(in, a, pf_ingest_track(in, i), err);
	rc = rc || pair(a, err) || pf_sorter_finish(a->by_host, err) ? -1 : 0;
	if (!rc)
		a->next = pf_sorter_next(a->by_host, err);
	/* Other statements write from here on. */
	pf_texts_release(&a->texts);
	pf_sorter_free(a->starts);
	pf_sorter_free(a->ends);
	a->starts = a->ends = NULL;
	return err->code ? -1 : rc;
}

/* Has the next one its start on this track, before that time? */
static bool ingest_arrow_begins(const struct pf_ingest_arrows *a, size_t track,
				int64_t before_ns, int64_t *start_ns)
{
	if (!a || !a->next || (uint64_t)a->next->host_track != track ||
	    a->next->host_ns >= before_ns)
		return false;
	*start_ns = a->next->host_ns;
	return true;
}

/* The operator around the start of that one; 0: it has none. */
static int ingest_arrow_resolve(struct pf_ingest_arrows *a, int64_t op_id,
				uint32_t comm, struct pf_err *err)
{
	const struct pf_ingest_arrow found = {
		.gpu_track = a->next->gpu_track,
		.gpu_ns = a->next->gpu_ns,
		.start_ns = a->next->host_ns,
		.op_id = op_id,
		.comm = comm,
	};

	PF_TRY(op_id && pf_sorter_add(a->resolved, &found, err));
	a->next = pf_sorter_next(a->by_host, err);
	return err->code ? -1 : 0;
}

static int ingest_arrows_sort(struct pf_ingest *in, struct pf_err *err)
{
	struct pf_ingest_arrows *a = in->arrows;
	const struct pf_ingest_arrow *found;
	int64_t last = -1;

	if (!a)
		return 0;
	a->at = pf_calloc(in->track_count - in->first_track, sizeof(*a->at));
	a->by_gpu = pf_spool_new(sizeof(*found), SPOOL_BYTES, in->directory);
	PF_TRY(pf_sorter_finish(a->resolved, err));
	while ((found = pf_sorter_next(a->resolved, err))) {
		if (found->gpu_track != last)
			a->at[(size_t)found->gpu_track - in->first_track] =
				pf_spool_count(a->by_gpu);
		last = found->gpu_track;
		PF_TRY(pf_spool_add(a->by_gpu, found, err));
	}
	return err->code ? -1 : 0;
}

/* To what begins then: 1, 0 (and NULL) or -1. */
static int ingest_arrow_to(struct pf_ingest *in, size_t track, int64_t start_ns,
			   const struct pf_ingest_arrow **arrow,
			   struct pf_err *err)
{
	struct pf_ingest_arrows *a = in->arrows;
	uint64_t *at = a ? &a->at[track - in->first_track] : NULL;

	while (a && *at < pf_spool_count(a->by_gpu)) {
		*arrow = pf_spool_at(a->by_gpu, *at, err);
		PF_TRY(!*arrow);
		if ((uint64_t)(*arrow)->gpu_track != track ||
		    (*arrow)->gpu_ns > start_ns)
			break;
		++*at;
		if ((*arrow)->gpu_ns == start_ns)
			return 1;
	}
	*arrow = NULL;
	return 0;
}

#define BUFFERS_BYTES (16u << 20)
#define BUFFER_MOST   (256u << 10)
#define BUFFER_LEAST  (4u << 10)

/* All events of a track in order. */
struct pf_run_heap {
	const struct pf_scratch *from;
	struct pf_run *runs;
	size_t count, next_run, buffer_bytes;
	struct pf_run_reader **heap;
	size_t open;
	bool advance; /* heap[0] was given out and must move on */
};

PF_ORDER(compare_runs, struct pf_run, PF_UP(first_start_ns) PF_UP(offset))

/* How many runs may be open at once is not known before; assume all that
 * overlap in time with the widest guess, and never less than a page each. */
static size_t buffer_share(size_t count)
{
	size_t share = BUFFERS_BYTES / (count < 64 ? 64 : count);

	return share > BUFFER_MOST    ? BUFFER_MOST
	       : share < BUFFER_LEAST ? BUFFER_LEAST
				      : share;
}

static struct pf_run_heap *run_heap_new(const struct pf_scratch *from,
					struct pf_run *runs, size_t count)
{
	struct pf_run_heap *m = pf_calloc(1, sizeof(*m));

	m->from = from;
	m->runs = runs;
	m->count = count;
	m->buffer_bytes = buffer_share(count);
	m->heap = pf_alloc((count + 1) * sizeof(struct pf_run_reader *));
	pf_sort(runs, count, sizeof(*runs), compare_runs);
	return m;
}

static void close_reader(struct pf_run_reader *r)
{
	pf_run_close(r);
	free(r);
}

static void run_heap_free(struct pf_run_heap *m)
{
	if (!m)
		return;
	for (size_t i = 0; i < m->open; i++)
		close_reader(m->heap[i]);
	free(m->heap);
	free(m);
}

static bool before(const void *a, const void *b)
{
	const struct pf_run_reader *const *x = a, *const *y = b;

	return pf_run_compare(&(*x)->event, &(*y)->event) < 0;
}

static int open_run(struct pf_run_heap *m, struct pf_err *err)
{
	struct pf_run_reader *r = pf_alloc(sizeof(*r));
	int rc;

	pf_run_open(r, m->from, &m->runs[m->next_run++], m->buffer_bytes);
	rc = pf_run_next(r, err);
	if (rc <= 0) {
		close_reader(r);
		return rc;
	}
	m->heap[m->open] = r;
	pf_heap_rise(m->heap, sizeof(r), m->open++, before);
	return 0;
}

static int advance(struct pf_run_heap *m, struct pf_err *err)
{
	int rc = pf_run_next(m->heap[0], err);

	PF_TRY(rc < 0);
	if (rc == 0) {
		close_reader(m->heap[0]);
		m->heap[0] = m->heap[--m->open];
	}
	pf_heap_sink(m->heap, sizeof(*m->heap), m->open, 0, before);
	return 0;
}

/* 1 and *ev borrowed until the next call, 0 at the end, -1 on an error. */
static int run_heap_next(struct pf_run_heap *m, const struct pf_run_event **ev,
			 struct pf_err *err)
{
	PF_TRY(m->advance && advance(m, err));
	m->advance = false;
	while (m->next_run < m->count &&
	       (!m->open || m->runs[m->next_run].first_start_ns <=
				    m->heap[0]->event.start_ns))
		PF_TRY(open_run(m, err));
	if (!m->open)
		return 0;
	*ev = &m->heap[0]->event;
	m->advance = true;
	return 1;
}

/*
 * Begin and end events (ph B and E) of a track become spans.  In time order a
 * stack holds the open begins; an end closes the top one whatever its name
 * (counted if it differs); an end without a begin is dropped and counted; a
 * begin that stays open ends with the last event of the track.  Arguments of
 * both are kept: the end's are stored as those of the span if the begin has
 * none.  Finished spans come in order of their ends, so they are gathered and
 * written as new sorted runs; other events pass through.
 */

#define GATHER_EVENTS 65536u
#define GATHER_BYTES  (8u << 20)

/* An event that owns its slots and texts, as one piece of memory. */
struct held {
	struct pf_run_event ev;
};

struct pairing {
	struct pf_ingest *in;
	struct held **open;
	size_t open_count, open_cap;
	struct held **done;
	size_t done_count, done_cap, done_bytes;
	struct pf_run *runs; /* new ones */
	size_t run_count, runs_cap;
	int64_t last_ns;
};

static size_t held_bytes(const struct pf_run_event *ev)
{
	return sizeof(struct held) +
	       (size_t)__builtin_popcount(ev->mask) * sizeof(int64_t) +
	       ev->inline_name_len + ev->inline_args_len;
}

static struct held *hold(const struct pf_run_event *ev)
{
	struct held *h = pf_alloc(held_bytes(ev));
	size_t slots = (size_t)__builtin_popcount(ev->mask);
	int64_t *values = (int64_t *)(void *)(h + 1);
	char *text = (char *)(values + slots);

	h->ev = *ev;
	if (slots)
		memcpy(values, ev->slots, slots * sizeof(*values));
	if (ev->inline_name_len)
		memcpy(text, ev->inline_name, ev->inline_name_len);
	if (ev->inline_args_len)
		memcpy(text + ev->inline_name_len, ev->inline_args,
		       ev->inline_args_len);
	h->ev.slots = values;
	h->ev.inline_name = text;
	h->ev.inline_args = text + ev->inline_name_len;
	return h;
}

static int compare_held(const void *a, const void *b)
{
	const struct held *const *x = a, *const *y = b;

	return pf_run_compare(&(*x)->ev, &(*y)->ev);
}

/* Write what was gathered as one sorted run. */
static int flush(struct pairing *p, struct pf_err *err)
{
	struct pf_run_memory memory = { 0 };
	PF_AUTO(pf_buf_release) struct pf_buf bytes = { 0 };
	struct pf_run run = { 0 };
	int rc;

	if (!p->done_count)
		return 0;
	pf_sort(p->done, p->done_count, sizeof(struct held *), compare_held);
	run.first_start_ns = p->done[0]->ev.start_ns;
	run.last_start_ns = p->done[p->done_count - 1]->ev.start_ns;
	run.count = (uint32_t)p->done_count;
	for (size_t i = 0; i < p->done_count; i++) {
		pf_run_put(&memory, &p->done[i]->ev, &bytes);
		free(p->done[i]);
	}
	p->done_count = p->done_bytes = 0;
	run.bytes = (uint32_t)bytes.len;
	rc = pf_scratch_add(p->in->runs, bytes.data, bytes.len, &run.offset,
			    err);
	*PF_ONE_MORE(p->runs, p->run_count, p->runs_cap) = run;
	return rc;
}

static int gather(struct pairing *p, struct held *h, struct pf_err *err)
{
	*PF_ONE_MORE(p->done, p->done_count, p->done_cap) = h;
	p->done_bytes += held_bytes(&h->ev);
	if (p->done_count < GATHER_EVENTS && p->done_bytes < GATHER_BYTES)
		return 0;
	return flush(p, err);
}

static bool same_name(const struct pf_run_event *a,
		      const struct pf_run_event *b)
{
	return a->name == b->name && a->name != PF_ID_INLINE;
}

static int close_top(struct pairing *p, const struct pf_run_event *end,
		     struct pf_err *err)
{
	struct held *h = p->open[--p->open_count], *with_args;

	h->ev.dur_ns = end->start_ns - h->ev.start_ns;
	if (!same_name(&h->ev, end) && end->name != p->in->empty_name)
		pf_repair_note(&p->in->repairs, PF_REPAIR_END_MISMATCH, 1,
			       PF_OFFSET_UNKNOWN);
	p->in->paired_count++;
	if (h->ev.args != PF_ID_NONE || end->args == PF_ID_NONE)
		return gather(p, h, err);
	h->ev.args = end->args;
	h->ev.mask = end->mask;
	h->ev.slots = end->slots;
	h->ev.inline_args = end->inline_args;
	h->ev.inline_args_len = end->inline_args_len;
	with_args = hold(&h->ev);
	free(h);
	return gather(p, with_args, err);
}

static int take(struct pairing *p, const struct pf_run_event *ev,
		struct pf_err *err)
{
	p->last_ns = ev->start_ns + ev->dur_ns > p->last_ns
			     ? ev->start_ns + ev->dur_ns
			     : p->last_ns;
	switch (p->in->type[ev->type].ph) {
	case 'B':
		*PF_ONE_MORE(p->open, p->open_count, p->open_cap) = hold(ev);
		return 0;
	case 'E':
		if (p->open_count)
			return close_top(p, ev, err);
		pf_repair_note(&p->in->repairs, PF_SKIP_LONE_END, 1,
			       PF_OFFSET_UNKNOWN);
		return 0;
	default:
		return gather(p, hold(ev), err);
	}
}

static int close_rest(struct pairing *p, struct pf_err *err)
{
	while (p->open_count) {
		struct held *h = p->open[--p->open_count];

		h->ev.dur_ns = p->last_ns - h->ev.start_ns;
		pf_repair_note(&p->in->repairs, PF_REPAIR_OPEN_BEGIN, 1,
			       PF_OFFSET_UNKNOWN);
		PF_TRY(gather(p, h, err));
	}
	return flush(p, err);
}

/* B and E events of a track become spans in new runs. */
static int ingest_pair(struct pf_ingest *in, struct pf_ingest_track *t,
		       struct pf_err *err)
{
	struct pairing p = { .in = in, .last_ns = INT64_MIN };
	struct pf_run_heap *m = run_heap_new(in->runs, t->runs, t->run_count);
	const struct pf_run_event *ev;
	int rc;

	while ((rc = run_heap_next(m, &ev, err)) > 0)
		if (take(&p, ev, err)) {
			rc = -1;
			break;
		}
	if (!rc)
		rc = close_rest(&p, err);
	run_heap_free(m);
	while (p.open_count)
		free(p.open[--p.open_count]);
	while (p.done_count)
		free(p.done[--p.done_count]);
	free(p.open);
	free(p.done);
	free(t->runs);
	t->runs = p.runs;
	t->run_count = p.run_count;
	t->runs_cap = p.runs_cap;
	return rc;
}

/*
 * GPU work that operators of communication launched.  While threads are
 * merged, every range of such an operator becomes what is known inside it,
 * taken over from the range around it; calls remember the innermost one.
 * Numbers of ranges begin at 1, so that 0 is none.
 */

/*
 * The range of a backend alone may be one of the user's own of that name, or
 * that of a collective which ends when the collective does, long after its
 * thread went on: an operator or a range of the user in it launches work of
 * its own.  Operators of c10d itself hold what they launch.
 */
static bool is_own_work(const struct pf_ingest *in, uint32_t around,
			const struct pf_run_event *ev)
{
	unsigned kind = in->type[ev->type].kind;

	return around && in->comms[around - 1].rule >= PF_COMM_NCCL &&
	       (kind == PF_KIND_CPU_OP || kind == PF_KIND_ANNOTATION);
}

/* Ids grow, so names are in their order. */
static enum pf_comm_rule find_rule(const struct pf_ingest *in, uint32_t name)
{
	size_t low, count = in->comm_name_count;

	if (!count || name < in->comm_names[0].id ||
	    name > in->comm_names[count - 1].id)
		return PF_COMM_NONE;
	low = PF_SEARCH(i, count, in->comm_names[i].id < name);
	return in->comm_names[low].id == name ? in->comm_names[low].rule
					      : PF_COMM_NONE;
}

/*
 * The number of the communication inside a host event, given that around it
 * (0: none).  Operators in a range of a backend alone are not part of it.
 */
static uint32_t ingest_comm_enter(struct pf_ingest *in, uint32_t around,
				  const struct pf_run_event *ev,
				  int64_t event_id)
{
	enum pf_comm_rule rule = find_rule(in, ev->name);
	struct pf_ingest_comm op = { .args = PF_ID_NONE, .name = PF_ID_NONE };

	if (!rule)
		return is_own_work(in, around, ev) ? 0 : around;
	if (in->comm_count == UINT32_MAX)
		return around;
	if (around)
		op = in->comms[around - 1];
	if (!op.rule || rule < op.rule)
		op.rule = rule;
	if (rule == PF_COMM_RECORD) {
		op.record_id = event_id;
		op.args = ev->args < PF_ID_INLINE ? ev->args : PF_ID_NONE;
	} else if (rule != PF_COMM_C10D || !op.is_named) {
		op.name = ev->name;
		op.is_named = rule != PF_COMM_C10D;
	}
	*PF_ONE_MORE(in->comms, in->comm_count, in->comms_cap) = op;
	return (uint32_t)in->comm_count;
}

/* Write that a GPU event was launched inside of one. */
static sqlite3_stmt *ingest_comm_prepare(struct pf_ingest *in,
					 struct pf_err *err)
{
	return pf_db_prepare(
		in->db,
		"INSERT INTO comm_event(trace_id, event_id, rule, record_id,"
		" record_args, name_id)"
		" VALUES(?1, ?2, ?3, nullif(?4, 0), nullif(?5, ?7),"
		" nullif(?6, ?7))",
		err);
}

static int ingest_comm_put(struct pf_ingest *in, sqlite3_stmt *st,
			   int64_t event_id, uint32_t comm, struct pf_err *err)
{
	const struct pf_ingest_comm *op = &in->comms[comm - 1];

	PF_BIND(st, in->trace_id, event_id, (int)op->rule, op->record_id,
		op->args, op->name, PF_ID_NONE);
	return pf_db_put(in->db, st, err);
}

/*
 * Blocks are filled by one thread and encoded and inserted by another, in the
 * order in which they were put, through a ring of a few; without another by
 * the one that fills them.
 */

#define RING 3

/* Handing over costs more than inserting as many events as these. */
#define SMALL_EVENTS 64

struct pf_block_writer {
	struct pf_ingest *in;
	pthread_t thread;
	bool started;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct {
		struct pf_block block;
		uint32_t track_id, block_no;
	} ring[RING];
	uint64_t put, written; /* how many so far */
	bool closing, failed;
	bool after_small; /* the last one put was small */
	bool is_inline;   /* its own thread inserts the one that was put */
	struct pf_err err;
	sqlite3_stmt *put_block, *put_column;
	struct pf_buf bytes;
	uint32_t *names; /* of the block at hand */
	uint8_t *seen;   /* by string id */
	size_t seen_size;
};

/* ---- one block into the database ---- */

PF_ORDER(compare_ids, uint32_t, PF_UP_VALUE)

static void add_varint(struct pf_buf *out, uint32_t v)
{
	for (; v >= 0x80; v >>= 7)
		pf_buf_addc(out, (char)(v | 0x80));
	pf_buf_addc(out, (char)v);
}

/* block.names: the distinct string ids, ascending, as varint differences. */
static void name_list(struct pf_block_writer *w, const struct pf_block *b)
{
	size_t count = 0;
	uint32_t last = 0;
	bool has_inline = false;

	for (uint32_t i = 0; i < b->count; i++) {
		uint32_t id = b->name[i];

		if (id >= w->seen_size)
			has_inline = true;
		else if (!w->seen[id]++)
			w->names[count++] = id;
		else
			w->seen[id] = 1;
	}
	pf_sort(w->names, count, sizeof(*w->names), compare_ids);
	for (size_t i = 0; i < count; i++) {
		add_varint(&w->bytes, w->names[i] - last);
		last = w->names[i];
		w->seen[last] = 0;
	}
	if (has_inline)
		add_varint(&w->bytes, PF_ID_INLINE - last);
}

static int insert_columns(struct pf_block_writer *w, const struct pf_block *b,
			  int64_t block_id, struct pf_err *err)
{
	sqlite3_stmt *st = w->put_column;

	for (int c = 0; c < PF_COL_COUNT; c++) {
		if ((c > PF_COL_INLINE && c < PF_COL_SLOT) ||
		    (c >= PF_COL_SLOT && !b->slot_count[c - PF_COL_SLOT]) ||
		    (c == PF_COL_INLINE && !b->inline_text.len))
			continue;
		pf_buf_clear(&w->bytes);
		pf_column_encode(b, (enum pf_column)c, &w->bytes);
		PF_BIND(st, block_id, c);
		sqlite3_bind_blob(st, 3, w->bytes.data, (int)w->bytes.len,
				  SQLITE_STATIC);
		PF_TRY(pf_db_put(w->in->db, st, err));
	}
	return 0;
}

static int insert_block(struct pf_block_writer *w, const struct pf_block *b,
			uint32_t track_id, uint32_t block_no,
			struct pf_err *err)
{
	int64_t id = (int64_t)track_id << 18 | block_no, end = INT64_MIN;
	sqlite3_stmt *st = w->put_block;

	for (uint32_t i = 0; i < b->count; i++)
		if (b->start_ns[i] + b->dur_ns[i] > end)
			end = b->start_ns[i] + b->dur_ns[i];
	pf_buf_clear(&w->bytes);
	pf_buf_reserve(&w->bytes, 1);
	name_list(w, b);
	PF_BIND(st, id, track_id, block_no, b->count, b->start_ns[0],
		b->start_ns[b->count - 1], end);
	sqlite3_bind_blob(st, 8, w->bytes.data, (int)w->bytes.len,
			  SQLITE_STATIC);
	PF_TRY(pf_db_put(w->in->db, st, err));
	return insert_columns(w, b, id, err);
}

/* ---- the ring ---- */

/* The oldest that waits; the lock is held, and not while it is inserted. */
static void write_next(struct pf_block_writer *w)
{
	size_t at = w->written % RING;
	struct pf_err err = { 0 };

	pthread_mutex_unlock(&w->lock);
	if (!w->failed &&
	    insert_block(w, &w->ring[at].block, w->ring[at].track_id,
			 w->ring[at].block_no, &err))
		w->failed = true;
	pthread_mutex_lock(&w->lock);
	if (w->failed && !w->err.code)
		w->err = err;
	w->written++;
}

static void *write_blocks(void *arg)
{
	struct pf_block_writer *w = arg;

	pthread_mutex_lock(&w->lock);
	for (;;) {
		if (w->written == w->put || w->is_inline) {
			if (w->closing)
				break;
			pthread_cond_wait(&w->changed, &w->lock);
			continue;
		}
		write_next(w);
		pthread_cond_signal(&w->changed);
	}
	pthread_mutex_unlock(&w->lock);
	return NULL;
}

/* Of the track that has most, or as many as a block takes. */
static uint32_t most_events(const struct pf_ingest *in)
{
	uint64_t most = 1;

	for (size_t i = in->first_track; i < in->track_count; i++) {
		const struct pf_ingest_track *t = pf_ingest_track(in, i);
		uint64_t sum = 0;

		for (size_t k = 0; k < t->run_count; k++)
			sum += t->runs[k].count;
		most = sum > most ? sum : most;
	}
	return most < PF_BLOCK_EVENTS ? (uint32_t)most : PF_BLOCK_EVENTS;
}

static struct pf_block_writer *block_writer_new(struct pf_ingest *in)
{
	struct pf_block_writer *w = pf_calloc(1, sizeof(*w));
	const uint32_t most = most_events(in);

	w->in = in;
	for (int i = 0; i < RING; i++)
		pf_block_init(&w->ring[i].block, most);
	pthread_mutex_init(&w->lock, NULL);
	pthread_cond_init(&w->changed, NULL);
	w->names = pf_alloc(most * sizeof(*w->names));
	w->seen_size = in->strings.count;
	w->seen = pf_calloc(w->seen_size + 1, 1);
	w->put_block = pf_db_prepare(
		in->db, "INSERT INTO block VALUES(?1,?2,?3,?4,?5,?6,?7,?8)",
		&w->err);
	w->put_column = pf_db_prepare(
		in->db, "INSERT INTO block_column VALUES(?1,?2,?3)", &w->err);
	if (!w->put_block || !w->put_column)
		w->failed = true;
	else if (!pf_ingest_is_pair(in))
		w->started = !pthread_create(&w->thread, NULL, write_blocks, w);
	return w;
}

/* An empty block to fill (waits for one). NULL after a failure. */
static struct pf_block *block_writer_take(struct pf_block_writer *w)
{
	struct pf_block *b = NULL;

	pthread_mutex_lock(&w->lock);
	while (w->put - w->written == RING)
		pthread_cond_wait(&w->changed, &w->lock);
	if (!w->err.code)
		b = &w->ring[w->put % RING].block;
	pthread_mutex_unlock(&w->lock);
	if (b) {
		b->count = 0;
		memset(b->slot_count, 0, sizeof(b->slot_count));
		pf_buf_clear(&b->inline_text);
	}
	return b;
}

static void block_writer_put(struct pf_block_writer *w, struct pf_block *b,
			     uint32_t track_id, uint32_t block_no)
{
	bool small = b->count < SMALL_EVENTS; /* b: the one taken last */

	pthread_mutex_lock(&w->lock);
	while (small && w->after_small && w->written != w->put)
		pthread_cond_wait(&w->changed, &w->lock);
	w->is_inline = !w->started || (small && w->after_small);
	w->after_small = small;
	w->ring[w->put % RING].track_id = track_id;
	w->ring[w->put % RING].block_no = block_no;
	w->put++;
	if (w->is_inline)
		write_next(w);
	else
		pthread_cond_signal(&w->changed);
	w->is_inline = false;
	pthread_mutex_unlock(&w->lock);
}

/* Wait until all are written; frees the writer. */
static int block_writer_finish(struct pf_block_writer *w, struct pf_err *err)
{
	int rc;

	if (w->started) {
		pthread_mutex_lock(&w->lock);
		w->closing = true;
		pthread_cond_signal(&w->changed);
		pthread_mutex_unlock(&w->lock);
		pthread_join(w->thread, NULL);
	}
	rc = w->err.code ? -1 : 0;
	if (rc && !err->code)
		*err = w->err;
	for (int i = 0; i < RING; i++)
		pf_block_release(&w->ring[i].block);
	sqlite3_finalize(w->put_block);
	sqlite3_finalize(w->put_column);
	pthread_mutex_destroy(&w->lock);
	pthread_cond_destroy(&w->changed);
	pf_buf_release(&w->bytes);
	free(w->names);
	free(w->seen);
	free(w);
	return rc;
}

/*
 * Each track's runs, merged into nesting order, become its blocks.  On the
 * way, with only the open spans in memory: the parent of every host event,
 * the launch calls by correlation with the operator around each, the
 * profiler's steps, and the rows of annotations.
 */

/* A span that is still open, and the innermost operator at or above it. */
struct open_span {
	int64_t end_ns;
	uint32_t seq;
	uint32_t comm; /* innermost communication at or above it, 0 = none */
	int64_t op_id; /* 0 = none (id 0 never exists: tracks begin at 1) */
	bool is_python;
};

struct merging {
	struct pf_ingest *in;
	struct pf_block_writer *writer;
	struct pf_block *block;
	uint32_t track_id, seq, block_no;
	bool host;
	struct open_span *open;
	size_t open_count, open_cap;
	struct pf_later annotations;
	sqlite3_stmt *put_annotation;
	struct pf_ingest_device *device; /* made for the first line of one */
	/* what has a time begins in between; see find_times() */
	int64_t first_ns, last_ns;
	bool is_unset; /* what says 0 has none either */
};

/* ---- events without a time ---- */

/*
 * Who does not know when an event was writes 0 or -1 for it (a torch that lost
 * half of its times did), or a time of another clock; and one such event would
 * make the window hours or decades long.  So 0 is no time where all others are
 * an hour and ten times their own span away; and what is half a year and more
 * from where most events are is on no clock of theirs.  Times that do begin at
 * 0 pass: others follow them, or reach back to them.
 */
#define FAR_NS     (INT64_C(3600) * 1000000000)
#define FAR_TIMES  10
#define ERA_BITS   54 /* 2^54 ns are 208 days */
#define ERAS       ((size_t)1 << (63 - ERA_BITS))
#define READ_BYTES (64u << 10)

struct era {
	int64_t count, first_ns, last_ns;
};

static bool is_unset(int64_t start_ns)
{
	return start_ns == 0 || start_ns == -1 || start_ns == -1000;
}

static size_t era_of(int64_t start_ns)
{
	return (size_t)((start_ns + PF_TIME_MAX_NS + 1) >> ERA_BITS);
}

static void add_to_era(struct era *eras, int64_t count, int64_t first_ns,
		       int64_t last_ns)
{
	struct era *e = &eras[era_of(first_ns)];

	if (!e->count || first_ns < e->first_ns)
		e->first_ns = first_ns;
	if (!e->count || last_ns > e->last_ns)
		e->last_ns = last_ns;
	e->count += count;
}

/* A run is read only if its ends do not say where all of it is. */
static int add_run(const struct pf_ingest *in, const struct pf_run *run,
		   struct era *eras, struct pf_err *err)
{
	struct pf_run_reader r;
	int rc;

	if ((run->first_start_ns > 0 || run->last_start_ns < -1000) &&
	    era_of(run->first_start_ns) == era_of(run->last_start_ns)) {
		add_to_era(eras, run->count, run->first_start_ns,
			   run->last_start_ns);
		return 0;
	}
	pf_run_open(&r, in->runs, run, READ_BYTES);
	while ((rc = pf_run_next(&r, err)) == 1)
		if (!is_unset(r.event.start_ns))
			add_to_era(eras, 1, r.event.start_ns, r.event.start_ns);
	pf_run_close(&r);
	return rc;
}

/* Where most events are, and whether 0 is far from there. */
static void choose_era(struct merging *m, const struct era *eras)
{
	int64_t all = 0, most = 0;

	for (size_t i = 0; i < ERAS; i++) {
		size_t first = i;
		int64_t count = 0;

		for (; i < ERAS && eras[i].count; i++)
			count += eras[i].count;
		all += count;
		if (count <= most)
			continue;
		most = count;
		m->first_ns = eras[first].first_ns;
		m->last_ns = eras[i - 1].last_ns;
	}
	m->is_unset = most && m->first_ns >= FAR_NS &&
		      m->first_ns / FAR_TIMES >= m->last_ns - m->first_ns;
	if (most > all / 2)
		return;
	m->first_ns = INT64_MIN;
	m->last_ns = INT64_MAX;
	m->is_unset = false;
}

static int find_times(struct merging *m, struct pf_err *err)
{
	struct pf_ingest *in = m->in;
	PF_OWN struct era *eras = pf_calloc(ERAS, sizeof(*eras));
	int rc = 0;

	for (size_t i = in->first_track; i < in->track_count && !rc; i++) {
		const struct pf_ingest_track *t = pf_ingest_track(in, i);

		for (size_t k = 0; k < t->run_count && !rc; k++)
			rc = add_run(in, &t->runs[k], eras, err);
	}
	choose_era(m, eras);
	return rc;
}

/* A range may last from 0 to the others; work of a GPU does not take hours. */
static bool has_time(const struct merging *m, const struct pf_ingest_track *t,
		     const struct pf_run_event *ev)
{
	if (!is_unset(ev->start_ns))
		return ev->start_ns >= m->first_ns &&
		       ev->start_ns <= m->last_ns;
	return !m->is_unset || (t->class_letter != 'g' &&
				ev->start_ns + ev->dur_ns >= m->first_ns);
}

static void leave_out(struct merging *m, const struct pf_run_event *ev)
{
	pf_repair_note(&m->in->repairs, PF_SKIP_NO_TIME, 1, PF_OFFSET_UNKNOWN);
	m->in->kind_count[m->in->type[ev->type].kind]--;
}

/* ---- the tree ---- */

/*
 * Real stacks stay far below these; they bound time and memory on a track
 * whose spans overlap without nesting.
 */
#define OPEN_MAX   4096
#define SEARCH_MAX 512

/*
 * Close what has ended, then find the innermost span that contains the event.
 * A span that overlaps without containing it stays open but is no parent.
 */
static const struct open_span *enclosing(struct merging *m, int64_t start_ns,
					 int64_t end_ns)
{
	while (m->open_count && m->open[m->open_count - 1].end_ns <= start_ns &&
	       m->open[m->open_count - 1].end_ns < end_ns)
		m->open_count--;
	for (size_t i = m->open_count, n = 0; i-- > 0 && n < SEARCH_MAX; n++)
		if (m->open[i].end_ns >= end_ns && m->open[i].end_ns > start_ns)
			return &m->open[i];
	return NULL;
}

static void drop_ended(struct merging *m, int64_t start_ns)
{
	size_t kept = 0;

	for (size_t i = 0; i < m->open_count; i++)
		if (m->open[i].end_ns > start_ns)
			m->open[kept++] = m->open[i];
	m->open_count = kept;
}

/*
 * How many open spans hold what begins now before this one does: what outlives
 * a Python function that it began in goes under that (events/nest.h).
 */
static size_t count_over(const struct merging *m, int64_t end_ns)
{
	size_t over = 0;

	for (size_t i = m->open_count, n = 1; i-- > 0 && n <= SEARCH_MAX; n++) {
		if (m->open[i].end_ns >= end_ns)
			break;
		if (m->open[i].is_python)
			over = n;
	}
	return over;
}

static void open_span(struct merging *m, struct open_span span,
		      int64_t start_ns)
{
	size_t over;

	if (m->open_count == OPEN_MAX)
		drop_ended(m, start_ns);
	if (m->open_count == OPEN_MAX)
		return;
	PF_ROOM(m->open, m->open_cap, m->open_count + 1);
	over = count_over(m, span.end_ns);
	if (over) {
		struct open_span *at = &m->open[m->open_count - over];

		memmove(at + 1, at, over * sizeof(*at));
		span.is_python = false; /* as pf_nest_enter() */
	}
	m->open[m->open_count++ - over] = span;
}

/* ---- what falls out ---- */

static int64_t event_id(const struct merging *m)
{
	return (int64_t)m->track_id << 32 | m->seq;
}

/* The value of a slot, "none" if the event has it not. */
static int64_t slot_of(const struct pf_run_event *ev, enum pf_slot slot,
		       int64_t none)
{
	uint32_t bit = UINT32_C(1) << slot;

	return ev->mask & bit
		       ? ev->slots[__builtin_popcount(ev->mask & (bit - 1))]
		       : none;
}

static int note_call(struct merging *m, const struct pf_run_event *ev,
		     int64_t op_id, uint32_t comm, struct pf_err *err)
{
	struct pf_ingest_call call = {
		.start_ns = ev->start_ns,
		.event_id = event_id(m),
		.op_id = op_id,
		.dur_ns = ev->dur_ns,
		.comm = comm,
	};

	call.correlation = slot_of(ev, PF_SLOT_CORRELATION, 0);
	return call.correlation > 0 ? pf_sorter_add(m->in->calls, &call, err)
				    : 0;
}

static int64_t step_number(const struct pf_ingest *in, uint32_t name)
{
	size_t low =
		PF_SEARCH(i, in->step_name_count, in->step_names[i].id < name);

	return low < in->step_name_count && in->step_names[low].id == name
		       ? in->step_names[low].step
		       : -1;
}

/* A step says its number in its name or in an argument. */
static void note_step(struct merging *m, const struct pf_run_event *ev)
{
	struct pf_ingest *in = m->in;
	int64_t step = slot_of(ev, PF_SLOT_STEP, -16) / 16;

	if (step < 0 && m->host)
		step = step_number(in, ev->name);
	if (step < 0)
		return;
	*PF_ONE_MORE(in->steps, in->step_count, in->steps_cap) =
		(struct pf_ingest_step){ .step = step,
					 .start_ns = ev->start_ns,
					 .dur_ns = ev->dur_ns,
					 .event_id = event_id(m),
					 .of_device = !m->host };
}

/* Devices have steps once more: they count where the host has none. */
static void choose_steps(struct pf_ingest *in)
{
	size_t kept = 0;
	bool has_host = false;

	for (size_t i = 0; i < in->step_count; i++)
		has_host |= !in->steps[i].of_device;
	for (size_t i = 0; i < in->step_count; i++)
		if (!has_host || !in->steps[i].of_device)
			in->steps[kept++] = in->steps[i];
	in->step_count = kept;
}

struct annotation {
	int64_t start_ns, dur_ns;
};

/*
 * Rows of annotations wait until all blocks are written: otherwise the two
 * threads would take turns in the file as chance has it.
 */
static int note_annotation(struct merging *m, const struct pf_run_event *ev,
			   struct pf_err *err)
{
	const struct annotation span = { ev->start_ns, ev->dur_ns };
	const struct pf_later_row row = { .a = event_id(m),
					  .b = ev->name,
					  .first = (const char *)&span,
					  .first_len = sizeof(span) };

	return pf_later_put(&m->annotations, m->in->directory, &row, err);
}

static int put_annotation(void *arg, const struct pf_later_row *row,
			  struct pf_err *err)
{
	struct merging *m = arg;
	sqlite3_stmt *st = m->put_annotation;
	struct annotation span;

	memcpy(&span, row->first, sizeof(span));
	PF_BIND(st, row->a, m->in->trace_id, span.start_ns, span.dur_ns,
		row->b);
	return pf_db_put(m->in->db, st, err);
}

static int put_annotations(struct merging *m, struct pf_err *err)
{
	int rc = -1;

	m->put_annotation = pf_db_prepare(
		m->in->db,
		"INSERT INTO annotation(event_id, trace_id, start_ns, dur_ns,"
		" name_id) VALUES(?1, ?2, ?3, ?4, ?5)",
		err);
	if (m->put_annotation)
		rc = pf_later_each(&m->annotations, put_annotation, m, err);
	sqlite3_finalize(m->put_annotation);
	return rc;
}

/* A host event: parent distance in *parent, and the by-products. */
static int host_event(struct merging *m, const struct pf_run_event *ev,
		      uint32_t *parent, struct pf_err *err)
{
	int64_t end_ns = ev->start_ns + ev->dur_ns;
	const struct open_span *p = enclosing(m, ev->start_ns, end_ns);
	int64_t op_id = p ? p->op_id : 0;
	uint32_t comm =
		ingest_comm_enter(m->in, p ? p->comm : 0, ev, event_id(m));
	unsigned kind = m->in->type[ev->type].kind;

	*parent = p ? m->seq - p->seq : 0;
	if (kind == PF_KIND_CPU_OP)
		op_id = event_id(m);
	if (ev->dur_ns > 0)
		open_span(m,
			  (struct open_span){ end_ns, m->seq, comm, op_id,
					      kind == PF_KIND_PYTHON },
			  ev->start_ns);
	if (kind == PF_KIND_RUNTIME || kind == PF_KIND_DRIVER)
		return note_call(m, ev, op_id, comm, err);
	if (kind == PF_KIND_ANNOTATION || kind == PF_KIND_CPU_OP)
		note_step(m, ev);
	return kind == PF_KIND_ANNOTATION ? note_annotation(m, ev, err) : 0;
}

/* ---- blocks ---- */

static void add_inline(struct pf_buf *out, const char *text, uint32_t len)
{
	unsigned char head[4] = { (unsigned char)len, (unsigned char)(len >> 8),
				  (unsigned char)(len >> 16),
				  (unsigned char)(len >> 24) };

	pf_buf_add(out, head, sizeof(head));
	pf_buf_add(out, text, len);
}

static void add_to_block(struct pf_block *b, const struct pf_run_event *ev,
			 uint32_t parent)
{
	uint32_t i = b->count++;
	const int64_t *value = ev->slots;

	b->start_ns[i] = ev->start_ns;
	b->dur_ns[i] = ev->dur_ns;
	b->order[i] = ev->order;
	b->name[i] = ev->name;
	b->type[i] = ev->type;
	b->args[i] = ev->args;
	b->parent[i] = parent;
	b->mask[i] = ev->mask;
	for (uint32_t mask = ev->mask; mask; mask &= mask - 1) {
		int s = __builtin_ctz(mask);

		b->slot[s][b->slot_count[s]++] = *value++;
	}
	if (ev->name == PF_ID_INLINE)
		add_inline(&b->inline_text, ev->inline_name,
			   ev->inline_name_len);
	if (ev->args == PF_ID_INLINE)
		add_inline(&b->inline_text, ev->inline_args,
			   ev->inline_args_len);
}

static void put_block(struct merging *m)
{
	block_writer_put(m->writer, m->block, m->track_id, m->block_no++);
	m->block = NULL;
}

static void note_span(struct pf_ingest_track *t, const struct pf_run_event *ev)
{
	int64_t end_ns = ev->start_ns + ev->dur_ns;

	if (!t->event_count++)
		t->first_ns = ev->start_ns, t->last_ns = end_ns;
	if (end_ns > t->last_ns)
		t->last_ns = end_ns;
}

/* An event on a line of a device, with the type that it has there. */
static int device_event(struct merging *m, const struct pf_ingest_track *t,
			const struct pf_run_event **ev,
			struct pf_run_event *own, struct pf_err *err)
{
	if (!t->line)
		return 0;
	if (!m->device)
		m->device = ingest_device_new(m->in);
	*own = **ev;
	PF_TRY(ingest_device_event(m->in, m->device, t, own, err));
	m->in->kind_count[m->in->type[(*ev)->type].kind]--;
	m->in->kind_count[m->in->type[own->type].kind]++;
	*ev = own;
	return 0;
}

/*
 * Arrows that begin on this track before a time belong to what is innermost
 * where they begin, whatever else begins there.
 */
static int resolve_arrows(struct merging *m, int64_t before_ns,
			  struct pf_err *err)
{
	int64_t ns;

	while (ingest_arrow_begins(m->in->arrows, m->track_id - 1, before_ns,
				   &ns)) {
		const struct open_span *p = enclosing(m, ns, ns);

		PF_TRY(ingest_arrow_resolve(m->in->arrows, p ? p->op_id : 0,
					    p ? p->comm : 0, err));
	}
	return 0;
}

static int one_event(struct merging *m, struct pf_ingest_track *t,
		     const struct pf_run_event *ev, struct pf_err *err)
{
	struct pf_run_event own;
	uint32_t parent = 0;

	PF_TRY(device_event(m, t, &ev, &own, err));
	PF_TRY(m->host &&
	       ((m->in->arrows && resolve_arrows(m, ev->start_ns, err)) ||
		host_event(m, ev, &parent, err)));
	if (m->in->type[ev->type].kind == PF_KIND_GPU_ANNOTATION)
		note_step(m, ev);
	if (!m->block)
		m->block = block_writer_take(m->writer);
	if (!m->block)
		return pf_fail(err, PF_EDB, "cannot write blocks");
	add_to_block(m->block, ev, parent);
	note_span(t, ev);
	if (m->seq == UINT32_MAX)
		return pf_fail(err, PF_ELIMIT,
			       "more events on one track than "
			       "can be numbered");
	m->seq++;
	if (m->block->count == PF_BLOCK_EVENTS)
		put_block(m);
	return 0;
}

static int merge_track(struct merging *m, struct pf_ingest_track *t,
		       struct pf_err *err)
{
	const struct pf_run_event *ev;
	struct pf_run_heap *heap;
	int rc;

	PF_TRY(t->has_begin_end && ingest_pair(m->in, t, err));
	m->track_id =
		(uint32_t)(m->in->first_track + (size_t)(t - m->in->tracks)) +
		1;
	m->seq = m->block_no = 0;
	m->host = t->class_letter == 'h';
	m->open_count = 0;
	heap = run_heap_new(m->in->runs, t->runs, t->run_count);
	while ((rc = run_heap_next(heap, &ev, err)) > 0)
		if (!has_time(m, t, ev)) {
			leave_out(m, ev);
		} else if (one_event(m, t, ev, err)) {
			rc = -1;
			break;
		}
	if (!rc && m->host)
		rc = resolve_arrows(m, INT64_MAX, err);
	run_heap_free(heap);
	free(t->runs);
	t->runs = NULL;
	t->run_count = t->runs_cap = 0;
	if (m->block && !rc)
		put_block(m);
	return rc;
}

static void add_up(struct pf_ingest *in, const struct pf_ingest_track *t)
{
	if (!t->event_count)
		return;
	if (!in->stored_count || t->first_ns < in->first_ns)
		in->first_ns = t->first_ns;
	if (!in->stored_count || t->last_ns > in->last_ns)
		in->last_ns = t->last_ns;
	in->stored_count += t->event_count;
}

static int merge_tracks(struct pf_ingest *in, struct pf_err *err)
{
	struct merging m = { .in = in, .writer = block_writer_new(in) };
	struct pf_err later = { 0 };
	int rc = find_times(&m, err);

	for (size_t i = in->first_track; i < in->track_count && !rc; i++) {
		rc = merge_track(&m, pf_ingest_track(in, i), err);
		add_up(in, pf_ingest_track(in, i));
	}
	/* The writer's own error says more than "cannot write blocks". */
	if (block_writer_finish(m.writer, &later)) {
		*err = later;
		rc = -1;
	}
	choose_steps(in);
	if (!rc)
		rc = ingest_device_types(in, m.device, err);
	if (!rc)
		rc = put_annotations(&m, err);
	pf_later_release(&m.annotations);
	ingest_device_free(m.device);
	free(m.open);
	return rc;
}

int pf_ingest_merge(struct pf_ingest *in, struct pf_err *err)
{
	PF_TRY(device_tracks(in, err));
	PF_TRY(arrows_gather(in, err));
	return merge_tracks(in, err);
}

/*
 * Rows of the events on GPU tracks, in order of their start, each joined to
 * its launch call (same correlation; of several such calls the last that began
 * before it, else the first), to the operator around that call, else that of an
 * arrow, and to the profiler step that holds the whole call, else the arrow's
 * start.
 *
 * One thread makes them and another inserts them: until the last is made, all
 * but "feed", "insert" and "comm" is the maker's.
 */

#define CALLS_BYTES (8u << 20)  /* as they are, and packed: */
#define CALLS_ROOM  (10u << 20) /* in that of the runs, which are gone */

#define BATCHES 4 /* of which one is being inserted */

/* Rows that go in together, and which of them are communication. */
struct batch {
	size_t count, comm_count;
	struct pf_feed_row rows[PF_FEED_ROWS];
	struct {
		int64_t event_id;
		uint32_t comm;
	} comms[PF_FEED_ROWS];
};

struct gpu_rows {
	struct pf_ingest *in;
	struct pf_spool *calls; /* NULL: nothing is made yet */
	struct pf_cursors tracks;
	uint64_t work_count, work_ns, orphan_count, orphan_ns;
	/* calls with another's id, and work that has it */
	uint64_t shared_call_count, shared_work_count;
	struct batch *batches;
	struct pf_feed feed;
	sqlite3_stmt *insert, *comm;
};

static bool has_slot(const struct pf_span *s, int slot)
{
	return s->mask >> slot & 1;
}

/* ---- launch calls ---- */

/*
 * Calls in order of correlation and time.  One inside another (of the driver,
 * in one of the runtime) is no other call.
 */
static int gather_calls(struct gpu_rows *g, struct pf_err *err)
{
	const struct pf_ingest_call *call;
	int64_t last = 0, end_ns = 0;
	bool is_shared = false;

	g->calls = pf_spool_new(sizeof(*call), CALLS_BYTES, g->in->directory);
	pf_spool_keep(g->calls, CALLS_ROOM);
	PF_TRY(pf_sorter_finish(g->in->calls, err));
	while ((call = pf_sorter_next(g->in->calls, err))) {
		bool is_same = call->correlation == last;

		if (is_same && call->start_ns < end_ns)
			continue;
		g->shared_call_count += is_same ? 1 + !is_shared : 0;
		is_shared = is_same;
		last = call->correlation;
		end_ns = pf_span_end(call->start_ns, call->dur_ns);
		PF_TRY(pf_spool_add(g->calls, call, err));
	}
	return err->code ? -1 : 0;
}

/* Is record i a call of this id?  1, 0, or -1. */
static int is_call_at(struct gpu_rows *g, uint64_t i, int64_t correlation,
		      const struct pf_ingest_call **call, struct pf_err *err)
{
	if (i >= pf_spool_count(g->calls))
		return 0;
	*call = pf_spool_at(g->calls, i, err);
	PF_TRY(!*call);
	return (*call)->correlation == correlation;
}

/* Of the calls from i on that have one id: the last that began by then. */
static int choose_call(struct gpu_rows *g, uint64_t i,
		       const struct pf_span *work,
		       const struct pf_ingest_call **call, struct pf_err *err)
{
	const int64_t correlation = work->slot[PF_SLOT_CORRELATION];
	uint64_t low = i + 1, high = pf_spool_count(g->calls);
	int rc = 0;

	g->shared_work_count++;
	while (low < high && rc >= 0) {
		uint64_t mid = low + (high - low) / 2;

		rc = is_call_at(g, mid, correlation, call, err);
		if (rc == 1 && (*call)->start_ns <= work->start_ns)
			low = mid + 1;
		else
			high = mid;
	}
	return rc < 0 ? -1 : is_call_at(g, low - 1, correlation, call, err);
}

static int find_call(struct gpu_rows *g, const struct pf_span *work,
		     const struct pf_ingest_call **call, struct pf_err *err)
{
	const int64_t correlation = work->slot[PF_SLOT_CORRELATION];
	uint64_t i;
	int rc;

	*call = NULL;
	if (!has_slot(work, PF_SLOT_CORRELATION) || correlation <= 0)
		return 0;
	i = pf_spool_lower_bound(g->calls, correlation, err);
	if (i == UINT64_MAX)
		return -1;
	rc = g->shared_call_count ? is_call_at(g, i + 1, correlation, call, err)
				  : 0;
	if (rc == 1)
		rc = choose_call(g, i, work, call, err);
	else if (rc == 0)
		rc = is_call_at(g, i, correlation, call, err);
	if (rc != 1)
		*call = NULL;
	return rc < 0 ? -1 : 0;
}

/* The step that holds all of a call; steps are sorted by start. */
static struct pf_ingest_step *find_step(struct pf_ingest *in,
					const struct pf_ingest_call *call)
{
	int64_t ns = call->start_ns, after;
	size_t low = PF_SEARCH(i, in->step_count, in->steps[i].start_ns <= ns);

	if (!low)
		return NULL;
	/* From the start of the step, so that nothing overflows. */
	after = ns - in->steps[low - 1].start_ns;
	if (after >= in->steps[low - 1].dur_ns ||
	    call->dur_ns > in->steps[low - 1].dur_ns - after)
		return NULL;
	return &in->steps[low - 1];
}

/* ---- rows ---- */

/* All columns in their order: SQLite makes no copy of the cells then. */
static const char insert_rows[] =
	"INSERT INTO gpu_event(id, event_id, trace_id, kind, start_ns, dur_ns,"
	" name_id, config_id, correlation, external_id, launch_id, op_id, step,"
	" bytes)"
	" SELECT NULL, c0, c1, c2, c3, c4, c5, c6, c7, c8, c9, c10, c11, c12"
	" FROM feed";

/* What every answer about GPU work says beside it (events/trust.h). */
static void count_work(struct gpu_rows *g, const struct pf_span *s,
		       bool has_call, struct pf_ingest_step *step)
{
	int64_t end_ns = pf_span_end(s->start_ns, s->dur_ns);

	if (!pf_kind_is_gpu_work(g->in->type[s->type].kind))
		return;
	g->work_count++;
	g->work_ns += (uint64_t)s->dur_ns;
	g->orphan_count += !has_call;
	g->orphan_ns += has_call ? 0 : (uint64_t)s->dur_ns;
	if (!step)
		return;
	if (!step->gpu_count++ || step->gpu_end_ns < end_ns)
		step->gpu_end_ns = end_ns;
}

static int put_facts(struct gpu_rows *g, struct pf_err *err)
{
	const struct {
		const char *key;
		uint64_t value;
	} facts[] = {
		{ "gpu_work_count", g->work_count },
		{ "gpu_work_ns", g->work_ns },
		{ "gpu_orphan_count", g->orphan_count },
		{ "gpu_orphan_ns", g->orphan_ns },
		/* only where there are some: */
		{ "shared_call_count", g->shared_call_count },
		{ "shared_work_count", g->shared_work_count },
	};
	PF_STMT(st) = pf_db_prepare(
		g->in->db, "INSERT INTO trace_fact VALUES(?1, ?2, ?3)", err);

	PF_TRY(!st);
	for (size_t i = 0; i < PF_LEN(facts); i++) {
		if (i > 3 && !facts[i].value)
			continue;
		sqlite3_bind_int64(st, 1, g->in->trace_id);
		sqlite3_bind_text(st, 2, facts[i].key, -1, SQLITE_STATIC);
		sqlite3_bind_int64(st, 3,
				   facts[i].value > INT64_MAX
					   ? INT64_MAX
					   : (int64_t)facts[i].value);
		PF_TRY(pf_db_put(g->in->db, st, err));
	}
	return 0;
}

static void fill_row(const struct gpu_rows *g, struct pf_feed_row *row,
		     int64_t event_id, const struct pf_span *s,
		     const struct pf_ingest_call *launch,
		     const struct pf_ingest_step *step)
{
	row->nulls = 0;
	pf_feed_set(row, 0, true, event_id);
	pf_feed_set(row, 1, true, g->in->trace_id);
	pf_feed_set(row, 2, true, g->in->type[s->type].kind);
	pf_feed_set(row, 3, true, s->start_ns);
	pf_feed_set(row, 4, true, s->dur_ns);
	pf_feed_set(row, 5, true, s->name);
	pf_feed_set(row, 6, s->args < PF_ID_INLINE, s->args);
	pf_feed_set(row, 7, has_slot(s, PF_SLOT_CORRELATION),
		    s->slot[PF_SLOT_CORRELATION]);
	pf_feed_set(row, 8, has_slot(s, PF_SLOT_EXTERNAL_ID),
		    s->slot[PF_SLOT_EXTERNAL_ID]);
	pf_feed_set(row, 9, launch->event_id != 0, launch->event_id);
	pf_feed_set(row, 10, launch->op_id != 0, launch->op_id);
	pf_feed_set(row, 11, step, step ? step->step : 0);
	pf_feed_set(row, 12, has_slot(s, PF_SLOT_BYTES),
		    s->slot[PF_SLOT_BYTES]);
}

static int add_row(struct gpu_rows *g, struct batch *b, size_t track,
		   const struct pf_span *s, struct pf_err *err)
{
	const int64_t event_id = (int64_t)(track + 1) << 32 | s->seq;
	const struct pf_ingest_call *call = NULL;
	const struct pf_ingest_arrow *arrow;
	struct pf_ingest_call launch = { 0 };
	struct pf_ingest_step *step = NULL;

	PF_TRY(find_call(g, s, &call, err));
	PF_TRY(ingest_arrow_to(g->in, track, s->start_ns, &arrow, err) < 0);
	if (call)
		launch = *call;
	if (arrow && !launch.op_id)
		launch.op_id = arrow->op_id;
	if (arrow && !launch.comm)
		launch.comm = arrow->comm;
	if (arrow && !call)
		launch.start_ns = arrow->start_ns;
	if (call || arrow)
		step = find_step(g->in, &launch);
	if (launch.comm) {
		b->comms[b->comm_count].event_id = event_id;
		b->comms[b->comm_count++].comm = (uint32_t)launch.comm;
	}
	count_work(g, s, call != NULL, step);
	fill_row(g, &b->rows[b->count++], event_id, s, &launch, step);
	return 0;
}

/* ---- steps ---- */

PF_ORDER(compare_steps, struct pf_ingest_step, PF_UP(start_ns) PF_UP(event_id))

int pf_ingest_steps(struct pf_ingest *in, struct pf_err *err)
{
	PF_STMT(st) = pf_db_prepare(
		in->db,
		"INSERT INTO step(trace_id, step, track_id, event_id,"
		" start_ns, dur_ns, gpu_count) VALUES(?1,?2,?3,?4,?5,?6,0)",
		err);

	PF_TRY(!st);
	pf_sort(in->steps, in->step_count, sizeof(*in->steps), compare_steps);
	for (size_t i = 0; i < in->step_count; i++) {
		const struct pf_ingest_step *s = &in->steps[i];

		PF_BIND(st, in->trace_id, s->step, s->event_id >> 32,
			s->event_id, s->start_ns, s->dur_ns);
		PF_TRY(pf_db_put(in->db, st, err));
	}
	return 0;
}

/* Now it is known what was launched in each. */
static int complete_steps(struct gpu_rows *g, struct pf_err *err)
{
	const struct pf_ingest *in = g->in;
	PF_STMT(st) = pf_db_prepare(
		in->db,
		"UPDATE step SET gpu_count = ?4, gpu_end_ns = ?5"
		" WHERE trace_id = ?1 AND start_ns = ?2 AND event_id = ?3",
		err);

	PF_TRY(!st);
	for (size_t i = 0; i < in->step_count; i++) {
		const struct pf_ingest_step *s = &in->steps[i];

		if (!s->gpu_count)
			continue;
		PF_BIND(st, in->trace_id, s->start_ns, s->event_id,
			s->gpu_count, s->gpu_end_ns);
		PF_TRY(pf_db_put(g->in->db, st, err));
	}
	return 0;
}

/* ---- all GPU tracks in order of time ---- */

static int open_streams(struct gpu_rows *g, struct pf_err *err)
{
	static const uint64_t columns =
		PF_COLBIT(PF_COL_START) | PF_COLBIT(PF_COL_DUR) |
		PF_COLBIT(PF_COL_ORDER) | PF_COLBIT(PF_COL_NAME) |
		PF_COLBIT(PF_COL_TYPE) | PF_COLBIT(PF_COL_ARGS) |
		PF_COLBIT(PF_COL_MASK) |
		PF_COLBIT(PF_COL_SLOT + PF_SLOT_CORRELATION) |
		PF_COLBIT(PF_COL_SLOT + PF_SLOT_EXTERNAL_ID) |
		PF_COLBIT(PF_COL_SLOT + PF_SLOT_BYTES);
	struct pf_ingest *in = g->in;

	for (size_t i = in->first_track; i < in->track_count; i++) {
		const struct pf_ingest_track *t = pf_ingest_track(in, i);

		PF_TRY(t->class_letter == 'g' && t->event_count &&
		       pf_cursors_add(&g->tracks, in->db, (uint32_t)i + 1,
				      columns, i, err));
	}
	return 0;
}

/* The maker: 1, 0 behind the last, or -1. */
static int make_batch(void *context, size_t place, struct pf_err *err)
{
	struct gpu_rows *g = context;
	struct batch *b = &g->batches[place];
	const struct pf_span *s;
	size_t track;
	int rc = 1;

	PF_TRY(!g->calls && (gather_calls(g, err) || open_streams(g, err) ||
			     ingest_arrows_sort(g->in, err)));
	b->count = b->comm_count = 0;
	while (b->count < PF_FEED_ROWS &&
	       (rc = pf_cursors_next(&g->tracks, &track, &s, err)) > 0)
		PF_TRY(add_row(g, b, track, s, err));
	return rc < 0 ? -1 : b->count > 0;
}

static int put_batch(struct gpu_rows *g, const struct batch *b,
		     struct pf_err *err)
{
	pf_db_give_way(g->in->db); /* averages read it meanwhile */
	for (size_t i = 0; i < b->comm_count; i++)
		PF_TRY(ingest_comm_put(g->in, g->comm, b->comms[i].event_id,
				       b->comms[i].comm, err));
	g->feed = (struct pf_feed){ b->count, b->rows };
	return pf_db_put(g->in->db, g->insert, err);
}

static int write_rows(struct gpu_rows *g, struct pf_err *err)
{
	/* averages keep another thread busy meanwhile */
	bool beside = pf_ingest_threads(g->in->options) > 2;
	struct pf_ahead *maker = pf_ahead_new(make_batch, g, BATCHES, beside);
	size_t place;
	int rc;

	while ((rc = pf_ahead_next(maker, &place, err)) > 0 &&
	       !put_batch(g, &g->batches[place], err))
		;
	pf_ahead_free(maker);
	return rc ? -1 : 0;
}

static int prepare(struct gpu_rows *g, struct pf_err *err)
{
	g->batches = pf_calloc(BATCHES, sizeof(*g->batches));
	PF_TRY(pf_feed_register(g->in->db, &g->feed, err));
	g->insert = pf_db_prepare(g->in->db, insert_rows, err);
	g->comm = g->insert ? ingest_comm_prepare(g->in, err) : NULL;
	return g->comm ? 0 : -1;
}

static void release(struct gpu_rows *g)
{
	pf_cursors_release(&g->tracks);
	pf_spool_free(g->calls);
	sqlite3_finalize(g->insert);
	sqlite3_finalize(g->comm);
	pf_feed_drop(g->in->db);
	free(g->batches);
}

int pf_ingest_gpu_rows(struct pf_ingest *in, struct pf_err *err)
{
	struct gpu_rows g = { .in = in };
	int rc = prepare(&g, err) || write_rows(&g, err) ||
				 put_facts(&g, err) || complete_steps(&g, err)
			 ? -1
			 : 0;

	release(&g);
	return rc;
}
