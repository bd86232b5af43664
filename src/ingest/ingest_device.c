/* SPDX-License-Identifier: MIT */
/*
 * Tracks that only the names of their process and line tell from those of the
 * host (TensorFlow, JAX, torch_npu) become tracks of GPUs before they are merged: names
 * come with metadata events, which may stand anywhere in the file.  A track
 * has the number of its device and stream then, as profilers with categories
 * write it.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/intern.h"
#include "base/mem.h"
#include "events/device_line.h"
#include "ingest/ingest_impl.h"
#include "store/named.h"
#include "store/texts.h"
#include "formats/planes.h"

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
	sqlite3_stmt *st = pf_named_prepare(in->db, "npu_lines", err);
	const char *text[5];
	int rc;

	if (!st)
		return -1;
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
	sqlite3_finalize(st);
	return rc;
}

int pf_ingest_device_tracks(struct pf_ingest *in, struct pf_err *err)
{
	sqlite3_stmt *st = pf_named_prepare(in->db, "device_lines", err);
	const char *text[4];
	bool is_of_planes = false;
	int rc;

	if (!st)
		return -1;
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
	pf_map_init(&d->places);
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
		if (judge(d, ev, &d->found[d->count], err))
			return -1;
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
	sqlite3_stmt *st;
	int rc = 0;

	if (!d)
		return 0;
	st = pf_db_prepare(in->db,
			   "INSERT OR IGNORE INTO event_type(id, ph, category,"
			   " kind) VALUES(?1, 'X', '', ?2)",
			   err);
	for (int k = 0; st && k < PF_KIND_COUNT && rc >= 0; k++) {
		if (!d->has_type[k])
			continue;
		sqlite3_bind_int64(st, 1, in->device_type[k]);
		sqlite3_bind_int64(st, 2, k);
		rc = pf_db_step(in->db, st, err);
		sqlite3_reset(st);
	}
	sqlite3_finalize(st);
	return st && rc >= 0 ? 0 : -1;
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
		pf_map_init(&d->places);
		d->count = 0;
		d->line = line;
	}
	if (find(d, ev, &found, err))
		return -1;
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
