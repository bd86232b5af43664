/* SPDX-License-Identifier: MIT */
/*
 * Tracks that only the names of their process and line tell from those of the
 * host (TensorFlow, JAX, torch_npu) become tracks of GPUs before they are merged: names
 * come with metadata events, which may stand anywhere in the file.  A track
 * has the number of its device and stream then, as profilers with categories
 * write it.
 */
#include "config.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/intern.h"
#include "base/mem.h"
#include "base/spool.h"
#include "events/args.h"
#include "events/traces.h"
#include "formats/planes.h"
#include "ingest/impl.h"
#include "store/query.h"
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
			text[i] = (const char *)sqlite3_column_text(st, i);
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

int pf_ingest_device_tracks(struct pf_ingest *in, struct pf_err *err)
{
	sqlite3_stmt *st = pf_named_prepare(in->db, "device_lines", err);
	const char *text[4];
	bool is_of_planes = false;
	int rc;

	sqlite3_bind_int64(st, 1, in->trace_id);
	while ((rc = pf_db_step(in->db, st, err)) == 1) {
		for (int i = 0; i < 4; i++) {
			text[i] = (const char *)sqlite3_column_text(st, i);
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

struct pf_ingest_device *pf_ingest_device_new(struct pf_ingest *in)
{
	struct pf_ingest_device *d = pf_calloc(1, sizeof(*d));

	d->texts.db = in->db;
	return d;
}

void pf_ingest_device_free(struct pf_ingest_device *d)
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

	if (ev->name != PF_ID_INLINE &&
	    pf_texts_get(&d->texts, PF_TEXT_NAME, ev->name, &name, &name_len,
			 err) < 0)
		return -1;
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
		d->found = pf_grow(d->found, &d->cap, d->count + 1,
				   sizeof(*d->found));
		PF_TRY(judge(d, ev, &d->found[d->count], err));
		*place = d->count++;
	}
	*out = d->found[*place];
	return 0;
}

/* What the file itself could not have: it is reserved while it is read. */
#define OWN_TYPE (1u << 16)

void pf_ingest_device_reserve(struct pf_ingest *in)
{
	bool is_new;

	/* Nothing is added: the dictionary may hold none. */
	in->plain_type =
		pf_ids_find(&in->types, "", 0,
			    (uint32_t)('X' << 8 | PF_KIND_HOST), 0, &is_new);
	for (unsigned k = 0; k < PF_KIND_COUNT; k++) {
		uint32_t id = pf_ids_find(&in->types, "", 0, OWN_TYPE | k,
					  PF_INGEST_TYPES_MAX, &is_new);

		in->device_type[k] = id == PF_ID_INLINE ? in->plain_type : id;
		if (!is_new)
			continue;
		in->type = pf_grow(in->type, &in->type_cap, (size_t)id + 1,
				   sizeof(*in->type));
		in->type[id] = (struct pf_ingest_type){ 'X', (uint8_t)k };
	}
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

int pf_ingest_device_types(struct pf_ingest *in,
			   const struct pf_ingest_device *d, struct pf_err *err)
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
		sqlite3_bind_int64(st, 1, in->device_type[k]);
		sqlite3_bind_int64(st, 2, k);
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

int pf_ingest_device_event(struct pf_ingest *in, struct pf_ingest_device *d,
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
		a->types = pf_grow(a->types, &a->types_cap, a->type_count + 1,
				   sizeof(*a->types));
		a->phases = pf_grow(a->phases, &a->phases_cap,
				    a->type_count + 1, sizeof(*a->phases));
		a->types[a->type_count] = (uint32_t)sqlite3_column_int64(st, 0);
		a->phases[a->type_count++] =
			*(const char *)sqlite3_column_text(st, 1);
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
	if (ev->args != PF_ID_INLINE &&
	    pf_texts_get(&a->texts, PF_TEXT_ARGS, ev->args, &args.p, &args.len,
			 err) < 0)
		return -1;
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

int pf_ingest_arrows_gather(struct pf_ingest *in, struct pf_err *err)
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

bool pf_ingest_arrow_begins(const struct pf_ingest_arrows *a, size_t track,
			    int64_t before_ns, int64_t *start_ns)
{
	if (!a || !a->next || (uint64_t)a->next->host_track != track ||
	    a->next->host_ns >= before_ns)
		return false;
	*start_ns = a->next->host_ns;
	return true;
}

int pf_ingest_arrow_resolve(struct pf_ingest_arrows *a, int64_t op_id,
			    uint32_t comm, struct pf_err *err)
{
	const struct pf_ingest_arrow found = {
		.gpu_track = a->next->gpu_track,
		.gpu_ns = a->next->gpu_ns,
		.start_ns = a->next->host_ns,
		.op_id = op_id,
		.comm = comm,
	};

	if (op_id && pf_sorter_add(a->resolved, &found, err))
		return -1;
	a->next = pf_sorter_next(a->by_host, err);
	return err->code ? -1 : 0;
}

int pf_ingest_arrows_sort(struct pf_ingest *in, struct pf_err *err)
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

int pf_ingest_arrow_to(struct pf_ingest *in, size_t track, int64_t start_ns,
		       const struct pf_ingest_arrow **arrow, struct pf_err *err)
{
	struct pf_ingest_arrows *a = in->arrows;
	uint64_t *at = a ? &a->at[track - in->first_track] : NULL;

	while (a && *at < pf_spool_count(a->by_gpu)) {
		*arrow = pf_spool_at(a->by_gpu, *at, err);
		if (!*arrow)
			return -1;
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
