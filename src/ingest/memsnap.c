/* SPDX-License-Identifier: MIT */
/*
 * Rows of a snapshot beside its events: frames and stacks, segments and
 * blocks, settings, what the history says.  Ids go on from trace to trace.
 */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/mem.h"
#include "base/sat.h"
#include "formats/memsnap/snap.h"
#include "ingest/impl.h"

struct pf_ingest_snap {
	struct pf_ingest *in;
	struct pf_snap snap;
	struct pf_ingest_sink sink;
	struct pf_ingest_stacks stacks;
	int64_t segment_base, block_base; /* rows that were there before */
};

static void bind_if(sqlite3_stmt *st, int i, bool is_known, int64_t value)
{
	if (is_known)
		sqlite3_bind_int64(st, i, value);
}

/* Integers of SQL are signed: a key of 2^63 and more is the text of its digits. */
static void bind_key(sqlite3_stmt *st, int i, int64_t key, unsigned is)
{
	if (!(is & PF_SNAP_UNSIGNED)) {
		bind_if(st, i, is != 0, key);
		return;
	}
	sqlite3_bind_text(st, i, PF_PRINTED(24, "%" PRIu64, (uint64_t)key), -1,
			  SQLITE_TRANSIENT);
}

/* ---- frames and stacks ---- */

static void frame_of(const void *arg, uint32_t i, struct pf_ingest_frame *out)
{
	const struct pf_ingest_snap *r = arg;
	struct pf_snap_frame f;
	size_t len;

	memcpy(&f, pf_intern_text(&r->snap.stacks.frames, i, &len), sizeof(f));
	out->file = pf_snap_text(&r->snap, f.file, &out->file_len);
	out->name = pf_snap_text(&r->snap, f.name, &out->name_len);
	out->line = f.line;
}

/* ---- segments and blocks ---- */

/* A text of the snapshot: its place among the names of the batch. */
static uint32_t ingest_snap_name(struct pf_ingest_snap *r, uint32_t number)
{
	size_t len;
	const char *text = pf_snap_text(&r->snap, number, &len);

	return pf_dict_find(&r->sink.parsed.names, text, len, 0);
}

/* Texts of a trace go into the database as valid UTF-8 only. */
static int bind_text(struct pf_ingest_snap *r, sqlite3_stmt *st, int i,
		     uint32_t number)
{
	const struct pf_dict *d = &r->sink.parsed.names;
	uint32_t entry = ingest_snap_name(r, number);
	const struct pf_dict_entry *e = &d->entries[entry];

	return sqlite3_bind_text(st, i,
				 e->text_len ? d->text.data + e->text_at : "",
				 (int)e->text_len, SQLITE_TRANSIENT);
}

static void bind_stack(struct pf_ingest_snap *r, sqlite3_stmt *st, int i,
		       uint32_t stack)
{
	bind_if(st, i, stack != 0, r->stacks.stack_base + stack);
}

static void bind_segment(struct pf_ingest_snap *r, sqlite3_stmt *st,
			 const void *record, int64_t i)
{
	const struct pf_snap_segment *g = record;

	const char *pool = PF_PRINTED(32, "%u:%u", g->pool_a, g->pool_b);
	PF_BIND(st, r->segment_base + i + 1, r->in->trace_id, g->device);
	bind_key(st, 4, g->address, g->address_is);
	sqlite3_bind_int64(st, 5, g->total);
	bind_key(st, 6, g->stream, g->stream_is);
	if (g->pool_a != PF_SNAP_NO_TEXT)
		sqlite3_bind_text(st, 7, pool, -1, SQLITE_TRANSIENT);
	bind_if(st, 8, g->is_expandable >= 0, g->is_expandable);
	bind_if(st, 9, g->is_large >= 0, g->is_large);
	bind_stack(r, st, 10, g->stack);
}

static void bind_block(struct pf_ingest_snap *r, sqlite3_stmt *st,
		       const void *record, int64_t i)
{
	const struct pf_snap_block *b = record;

	(void)i;
	sqlite3_bind_int64(st, 1, r->segment_base + b->segment + 1);
	bind_key(st, 2, b->address, b->address_is);
	sqlite3_bind_int64(st, 3, b->size);
	sqlite3_bind_int64(st, 4, b->requested);
	bind_text(r, st, 5, b->state);
	bind_stack(r, st, 6, b->stack);
}

static void bind_past(struct pf_ingest_snap *r, sqlite3_stmt *st,
		      const void *record, int64_t i)
{
	const struct pf_snap_past *p = record;

	(void)i;
	PF_BIND(st, r->block_base + p->block + 1, p->bytes);
	bind_stack(r, st, 3, p->stack);
}

/* A row of each record of a spool. */
static int put_each(struct pf_ingest_snap *r, struct pf_spool *records,
		    const char *sql,
		    void (*bind)(struct pf_ingest_snap *r, sqlite3_stmt *st,
				 const void *record, int64_t i),
		    struct pf_err *err)
{
	PF_STMT(st) = pf_db_prepare(r->in->db, sql, err);

	PF_TRY(!st);
	for (uint64_t i = 0; i < pf_spool_count(records); i++) {
		const void *record = pf_spool_at(records, i, err);

		PF_TRY(!record);
		bind(r, st, record, (int64_t)i);
		PF_TRY(pf_db_put(r->in->db, st, err));
	}
	return 0;
}

/* ---- settings and history ---- */

static void bind_value(struct pf_ingest_snap *r, sqlite3_stmt *st,
		       const struct pf_pickle_val *v)
{
	char text[32];
	double real;

	memcpy(&real, &v->v, sizeof(real));
	switch ((enum pf_pickle_type)v->type) {
	case PF_PICKLE_TEXT:
		bind_text(r, st, 3, (uint32_t)v->v);
		return;
	case PF_PICKLE_BOOL:
		snprintf(text, sizeof(text), "%s", v->v ? "true" : "false");
		break;
	case PF_PICKLE_INT:
		snprintf(text, sizeof(text), "%" PRId64, v->v);
		break;
	case PF_PICKLE_UINT:
		snprintf(text, sizeof(text), "%" PRIu64, (uint64_t)v->v);
		break;
	case PF_PICKLE_REAL:
		snprintf(text, sizeof(text), "%.17g", real);
		break;
	case PF_PICKLE_NONE:
		snprintf(text, sizeof(text), "none");
		break;
	default:
		snprintf(text, sizeof(text), "too large");
	}
	sqlite3_bind_text(st, 3, text, -1, SQLITE_TRANSIENT);
}

static int put_settings(struct pf_ingest_snap *r, struct pf_err *err)
{
	PF_STMT(st) =
		pf_db_prepare(r->in->db,
			      "INSERT OR REPLACE INTO mem_setting VALUES(?1,"
			      " coalesce(?4 || '.', '') || ?2, ?3)",
			      err);

	PF_TRY(!st);
	for (size_t i = 0; i < r->snap.setting_count; i++) {
		const struct pf_snap_setting *s = &r->snap.settings[i];

		sqlite3_bind_int64(st, 1, r->in->trace_id);
		bind_text(r, st, 2, s->key);
		bind_value(r, st, &s->value);
		if (s->prefix != PF_SNAP_NO_TEXT)
			bind_text(r, st, 4, s->prefix);
		PF_TRY(pf_db_put(r->in->db, st, err));
	}
	return 0;
}

static int put_history(struct pf_ingest_snap *r, struct pf_err *err)
{
	PF_STMT(st) = pf_db_prepare(
		r->in->db,
		"INSERT INTO mem_history VALUES(?1,?2,?3,?4,?5,?6,?7,?8,?9,"
		"?10,?11,?12,?13,?14)",
		err);

	PF_TRY(!st);
	for (size_t i = 0; i < r->snap.device_count; i++) {
		const struct pf_snap_device *d = &r->snap.devices[i];

		if (d->is_cut)
			continue;
		PF_BIND(st, r->in->trace_id, d->number, d->entry_count,
			d->timed_count, d->base, d->before_count,
			d->early_count, pf_sat_add(d->base, d->level),
			d->in_use, d->twice_count, d->differ_count,
			d->no_block_count, d->late_count, d->has_reserved_base);
		PF_TRY(pf_db_put(r->in->db, st, err));
	}
	return 0;
}

/*
 * What is kept of a history that is cut; it is compared with nothing
 * (mem_history).  Then of GPUs whose entries have no times: their order stands
 * for these.
 */
static void note_histories(struct pf_ingest_snap *r, const char *what,
			   bool is_cut)
{
	for (size_t i = 0; i < r->snap.device_count; i++) {
		const struct pf_snap_device *d = &r->snap.devices[i];

		const char *key =
			PF_PRINTED(48, "snap_%s_%" PRId64, what, d->number);
		if (is_cut ? d->is_cut && d->has_history
			   : d->entry_count && !d->timed_count)
			pf_ingest_note_fact(r->in, key, d->entry_count);
	}
}

static void note_facts(struct pf_ingest_snap *r)
{
	note_histories(r, "cut", true);
	note_histories(r, "untimed", false);
	pf_ingest_note_fact(r->in, "snap_is_list", r->snap.is_list);
	pf_ingest_note_fact(r->in, "snap_stacks", r->snap.stacks.nodes.count);
	pf_ingest_note_fact(r->in, "snap_lost_segments", r->snap.lost_count);
	pf_ingest_note_fact(r->in, "snap_lost_entries",
			    r->snap.entry_count -
				    (int64_t)pf_spool_count(r->snap.entries));
	pf_ingest_note_fact(r->in, "snap_bad_sums", r->snap.bad_sum_count);
	pf_ingest_note_fact(r->in, "snap_bad_order", r->snap.bad_order_count);
	pf_ingest_note_fact(r->in, "snap_dropped_frames",
			    r->snap.stacks.dropped_count);
}

/* Everything but events. */
static int ingest_snap_rows(struct pf_ingest_snap *r, struct pf_err *err)
{
	struct pf_snap *s = &r->snap;

	note_facts(r);
	r->stacks = (struct pf_ingest_stacks){ .frames = &s->stacks.frames,
					       .stacks = &s->stacks.nodes,
					       .frame = frame_of,
					       .arg = r };
	PF_TRY(pf_ingest_stacks_begin(r->in, &r->stacks, err));
	PF_TRY(pf_db_number(r->in->db,
			    "SELECT coalesce(max(id), 0) FROM segment",
			    &r->segment_base, err));
	PF_TRY(pf_db_number(r->in->db,
			    "SELECT coalesce(max(id), 0) FROM mem_block",
			    &r->block_base, err));
	PF_TRY(pf_ingest_stacks_put(&r->stacks, &r->sink.batcher,
				    &r->sink.parsed, err));
	PF_TRY(put_each(r, s->segments,
			"INSERT INTO segment VALUES(?1,?2,?3,?4,?5,?6,?7,?8,?9,"
			"?10)",
			bind_segment, err));
	PF_TRY(put_each(r, s->blocks,
			"INSERT INTO mem_block(segment_id, address, size_bytes,"
			" requested_bytes, state, stack_id)"
			" VALUES(?1,?2,?3,?4,?5,?6)",
			bind_block, err));
	PF_TRY(put_each(r, s->pasts, "INSERT INTO mem_past VALUES(?1, ?2, ?3)",
			bind_past, err));
	PF_TRY(put_settings(r, err));
	PF_TRY(put_history(r, err));
	return 0;
}

/*
 * Memory snapshots.  One pass over the pickle, which keeps its entries in a
 * spool; when all has been read the levels are known, and each entry becomes
 * an event: allocations and frees as Kineto's [memory] records have them.
 */

#define DEVICE_CUDA 1 /* c10::DeviceType */
#define LOOK_BYTES  4096u

/* ---- bytes ---- */

static int64_t read_input(void *arg, void *buf, size_t len, struct pf_err *err)
{
	struct pf_ingest_snap *r = arg;
	struct pf_ingest *in = r->in;
	int64_t n = pf_headed_read(&r->sink.from, buf, len, err);

	if (in->options->progress)
		in->options->progress(
			in->bytes_before +
				pf_input_consumed(r->sink.from.input),
			in->events_before + r->snap.entry_count);
	return n;
}

/* ---- batches ---- */

/* Track of a device; letter: a class of formats/batch.h. */
static uint32_t find_track(struct pf_ingest_snap *r, char letter,
			   int64_t device, const char *tid)
{
	return pf_parsed_track(&r->sink.parsed, letter,
			       PF_PRINTED(32, "CUDA %" PRId64, device), tid);
}

static void put(struct pf_ingest_snap *r, struct pf_event *ev,
		uint32_t category, uint32_t mask, const int64_t *slots)
{
	struct pf_batch *b = &r->sink.parsed.batch;

	ev->order = (int32_t)b->event_count++;
	pf_batch_store(b, ev, category, mask, slots);
}

/* ---- entries ---- */

/*
 * Arguments of an event: which it has, and their values.  Slots stand for what
 * differs; those from PF_SLOT_FRACTION on hold decimals (formats/event.h).
 */
enum argument {
	BYTES,
	ADDR,
	ALLOCATED,
	RESERVED,
	STREAM,
	DEVICE_FREE,
	STACK,
	ARGUMENTS
};
#define ADDR_IS_UNSIGNED ARGUMENTS /* a bit beside theirs */
#define FORMS            (1u << (ARGUMENTS + 1))
static const struct {
	const char *key;
	int slot;
} arguments[ARGUMENTS] = {
	[BYTES] = { "Bytes", PF_SLOT_BYTES },
	[ADDR] = { "Addr", PF_SLOT_ADDR },
	[ALLOCATED] = { "Total Allocated", PF_SLOT_ALLOCATED },
	[RESERVED] = { "Total Reserved", PF_SLOT_RESERVED },
	[STREAM] = { "stream", PF_SLOT_GENERIC },
	[DEVICE_FREE] = { "device_free", PF_SLOT_GENERIC + 1 },
	[STACK] = { "stack", PF_SLOT_STACK },
};

struct args {
	unsigned has;  /* bits of enum argument, and ADDR_IS_UNSIGNED */
	bool is_apart; /* a stream that no slot can hold is in its text */
	uint32_t mask;
	int64_t slots[PF_SLOT_COUNT];
};

/*
 * Entries of the dictionaries that were found before, UINT32_MAX where none
 * was; void when these are emptied.
 */
struct pf_ingest_snap_found {
	uint32_t category;
	uint32_t *names;  /* by text */
	uint32_t *tracks; /* by device */
	uint32_t *args;   /* by device and what arguments there are */
	size_t name_count, track_count;
};

static void forget(struct pf_ingest_snap *r, struct pf_ingest_snap_found *f)
{
	f->category = pf_dict_word(&r->sink.parsed.categories, "allocator");
	memset(f->names, 0xff, f->name_count * sizeof(*f->names));
	memset(f->tracks, 0xff, f->track_count * sizeof(*f->tracks));
	memset(f->args, 0xff, f->track_count * FORMS * sizeof(*f->args));
}

static void add(struct args *a, enum argument which, int64_t value)
{
	int slot = arguments[which].slot;

	a->has |= 1u << which;
	a->mask |= UINT32_C(1) << slot;
	a->slots[slot] = slot < PF_SLOT_FRACTION ? value : value * 16;
}

/* A decimal slot has 60 bits: streams are small numbers, or pointers. */
static void add_stream(struct args *a, const struct pf_snap_entry *e)
{
	a->is_apart = e->stream < 0 || e->stream >> 59;
	if (a->is_apart)
		a->has |= 1u << STREAM;
	else
		add(a, STREAM, e->stream);
}

/*
 * Without times their number in the list, for events have an order.  An entry
 * without a time before the first that has one is held at that.
 */
static int64_t start_of(const struct pf_snap *s, const struct pf_snap_device *d,
			int64_t time_us)
{
	if (d && !d->timed_count)
		return time_us;
	if (d && time_us < d->first_us)
		time_us = d->first_us;
	return (time_us - s->first_us) * 1000;
}

/* Bytes as they change what is allocated, and the levels after it. */
static void make_args(const struct pf_ingest_snap *r, struct args *a,
		      const struct pf_snap_device *d,
		      const struct pf_snap_entry *e)
{
	a->mask = a->has = 0;
	a->is_apart = false;
	add(a, BYTES, e->action == PF_SNAP_FREE ? -e->size : e->size);
	if (e->address_is)
		add(a, ADDR, e->address);
	if (e->address_is & PF_SNAP_UNSIGNED)
		a->has |= 1u << ADDR_IS_UNSIGNED;
	if (!d->is_cut &&
	    (e->action == PF_SNAP_OOM || e->action == PF_SNAP_ALLOC ||
	     e->action == PF_SNAP_FREE))
		add(a, ALLOCATED, pf_sat_add(d->base, e->level));
	if (d->has_reserved_base)
		add(a, RESERVED, pf_sat_add(d->reserved_base, e->reserved));
	if (e->stream_is)
		add_stream(a, e);
	if (e->device_free >= 0)
		add(a, DEVICE_FREE, e->device_free);
	if (e->stack)
		add(a, STACK, r->stacks.stack_base + e->stack);
}

static void write_argument(struct pf_buf *text, int i, const struct args *a,
			   const struct pf_snap_entry *e)
{
	char letter = i == ADDR && a->has >> ADDR_IS_UNSIGNED & 1 ? 'A' : 'a';

	pf_buf_addf(text, ",\"%s\":", arguments[i].key);
	if (i != STREAM || !a->is_apart)
		pf_buf_addf(text, "$%c", letter + arguments[i].slot);
	else if (e->stream_is & PF_SNAP_UNSIGNED)
		pf_buf_addu(text, (uint64_t)e->stream);
	else
		pf_buf_addi(text, e->stream);
}

static uint32_t find_args(struct pf_ingest_snap *r, const struct args *a,
			  const struct pf_snap_device *d,
			  const struct pf_snap_entry *e)
{
	PF_AUTO(pf_buf_release) struct pf_buf text = { 0 };

	pf_buf_addf(&text, "{\"Device Type\":%d,\"Device Id\":%" PRId64,
		    DEVICE_CUDA, d->number);
	for (int i = 0; i < ARGUMENTS; i++)
		if (a->has >> i & 1)
			write_argument(&text, i, a, e);
	pf_buf_addc(&text, '}');
	return pf_dict_find(&r->sink.parsed.args, text.data, text.len, a->mask);
}

static enum pf_kind kind_of(const struct pf_snap_entry *e)
{
	return e->action == PF_SNAP_ALLOC || e->action == PF_SNAP_FREE
		       ? PF_KIND_MEMORY
	       : e->action == PF_SNAP_OOM ? PF_KIND_OOM
					  : PF_KIND_INSTANT;
}

static void put_entry(struct pf_ingest_snap *r, struct pf_ingest_snap_found *f,
		      const struct pf_snap_entry *e)
{
	const struct pf_snap_device *d = &r->snap.devices[e->device];
	uint32_t *track = &f->tracks[e->device], *name = &f->names[e->name];
	uint32_t *args;
	struct args a;
	struct pf_event ev = {
		.start_ns = start_of(&r->snap, d, e->time_us),
		.ph = 'i',
		.kind = (uint8_t)kind_of(e),
	};

	make_args(r, &a, d, e);
	args = &f->args[(size_t)e->device * FORMS + a.has];
	if (*track == UINT32_MAX)
		*track = find_track(r, 'm', d->number, "allocator");
	if (*name == UINT32_MAX)
		*name = ingest_snap_name(r, e->name);
	if (*args == UINT32_MAX || a.is_apart)
		*args = find_args(r, &a, d, e);
	ev.track = *track;
	ev.name = *name;
	ev.args = *args;
	put(r, &ev, f->category, a.mask, a.slots);
}

static int put_all(struct pf_ingest_snap *r, struct pf_ingest_snap_found *f,
		   struct pf_err *err)
{
	uint64_t count = pf_spool_count(r->snap.entries);

	for (uint64_t i = 0; i < count; i++) {
		const struct pf_snap_entry *e =
			pf_spool_at(r->snap.entries, i, err);

		int rc;

		PF_TRY(!e);
		put_entry(r, f, e);
		rc = pf_ingest_sink_offer(&r->sink, err);
		PF_TRY(rc < 0);
		if (rc)
			forget(r, f);
	}
	return 0;
}

static int put_entries(struct pf_ingest_snap *r, struct pf_err *err)
{
	struct pf_ingest_snap_found f = {
		.name_count = r->snap.pickle.texts.count,
		.track_count = r->snap.device_count,
	};
	int rc;

	f.names = pf_calloc(f.name_count + 1, sizeof(*f.names));
	f.tracks = pf_calloc(f.track_count + 1, sizeof(*f.tracks));
	f.args = pf_calloc(f.track_count * FORMS + 1, sizeof(*f.args));
	forget(r, &f);
	rc = put_all(r, &f, err);
	free(f.names);
	free(f.tracks);
	free(f.args);
	return rc;
}

/* ---- annotations ---- */

static int put_annotations(struct pf_ingest_snap *r, struct pf_err *err)
{
	for (uint64_t i = 0; i < pf_spool_count(r->snap.marks); i++) {
		const struct pf_snap_mark *m =
			pf_spool_at(r->snap.marks, i, err);
		struct pf_event ev = { .args = PF_ID_NONE,
				       .kind = PF_KIND_ANNOTATION };

		PF_TRY(!m);
		ev.start_ns = start_of(&r->snap, NULL, m->time_us);
		ev.name = ingest_snap_name(r, m->name);
		ev.ph = m->is_start ? 'B' : 'E';
		ev.track = find_track(r, 'h', m->has_device ? m->device : -1,
				      "annotations");
		put(r, &ev,
		    pf_dict_word(&r->sink.parsed.categories, "user_annotation"),
		    0, NULL);
	}
	return 0;
}

/* ---- all of it ---- */

static void describe(struct pf_ingest_snap *r)
{
	struct pf_ingest *in = r->in;
	struct pf_snap *s = &r->snap;

	in->json_bytes = s->pickle.bytes;
	for (size_t i = 0; i < s->device_count; i++) {
		const struct pf_snap_device *d = &s->devices[i];
		int64_t odd = d->has_history
				      ? pf_snap_exceptions(d) - d->late_count
				      : 0;

		if (odd)
			pf_repair_note(&s->repairs, PF_REPAIR_HISTORY, odd,
				       PF_OFFSET_UNKNOWN);
		if (d->late_count)
			pf_repair_note(&s->repairs, PF_REPAIR_LATE,
				       d->late_count, PF_OFFSET_UNKNOWN);
	}
	if (s->bad_sum_count + s->bad_order_count)
		pf_repair_note(&s->repairs, PF_REPAIR_SUMS,
			       s->bad_sum_count + s->bad_order_count,
			       PF_OFFSET_UNKNOWN);
	pf_repairs_add(&in->repairs, &s->repairs);
	if (s->has_times)
		pf_batch_base(&r->sink.parsed.batch, s->first_us * 1000);
}

static int write_all(struct pf_ingest_snap *r, struct pf_err *err)
{
	int64_t skipped;

	describe(r);
	PF_TRY(ingest_snap_rows(r, err));
	PF_TRY(put_entries(r, err));
	PF_TRY(put_annotations(r, err));
	/* what was left out is part of the list, too */
	skipped = r->snap.entry_count + r->snap.mark_count -
		  (int64_t)pf_spool_count(r->snap.entries) -
		  (int64_t)pf_spool_count(r->snap.marks);
	r->sink.parsed.batch.event_count += skipped;
	return pf_ingest_sink_flush(&r->sink, err) < 0 ? -1 : 0;
}

static int read_snapshot(struct pf_ingest *in, struct pf_input *input,
			 const struct pf_buf *head, struct pf_err *err)
{
	struct pf_ingest_snap r = { .in = in };
	int rc;

	pf_ingest_sink_init(&r.sink, in, input, head);
	rc = pf_snap_load(&r.snap, in->directory, in->options->salvage,
			  read_input, &r, err);
	if (!rc)
		rc = write_all(&r, err);
	pf_snap_release(&r.snap);
	pf_ingest_sink_release(&r.sink);
	return rc;
}

/* Any pickle: what is no snapshot is refused with its reason. */
static bool claims(const char *head, size_t len)
{
	const unsigned char *b = (const unsigned char *)head;

	return len >= 2 && b[0] == 0x80 && b[1] >= 2 && b[1] <= 5;
}

/*
 * Folders hold pickles of every kind: a snapshot's first entries have keys
 * that no other is likely to have.
 */
static int look(struct pf_input *input, struct pf_buf *head,
		struct pf_seen *seen, struct pf_err *err)
{
	static const char *const keys[] = { "segments", "device_traces",
					    "total_size" };

	PF_TRY(pf_input_append(input, head, LOOK_BYTES, err) < 0);
	for (size_t i = 0; i < PF_LEN(keys); i++)
		if (memmem(head->data, head->len, keys[i], strlen(keys[i])))
			return 1;
	snprintf(seen->why, sizeof(seen->why),
		 "is a pickle, but no memory snapshot");
	return 0;
}

PF_INGEST_FORMAT(20, memsnap) = { "memsnap", claims, read_snapshot, look,
				  true };
