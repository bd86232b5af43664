/* SPDX-License-Identifier: MIT */
/*
 * Memory snapshots.  One pass over the pickle, which keeps its entries in a
 * spool; when all has been read the levels are known, and each entry becomes
 * an event: allocations and frees as Kineto's [memory] records have them.
 */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/sat.h"
#include "ingest/ingest_memsnap.h"

#define BATCH_EVENTS   32768u
#define DEVICE_CUDA    1 /* c10::DeviceType */
#define PROGRESS_BYTES (1 << 22)

/* ---- bytes ---- */

static int64_t read_input(void *arg, void *buf, size_t len, struct pf_err *err)
{
	struct pf_ingest_snap *r = arg;
	size_t rest = r->head->len - r->head_at;
	struct pf_ingest *in = r->in;
	int64_t n;

	if (rest > len)
		rest = len;
	memcpy(buf, r->head->data + r->head_at, rest);
	r->head_at += rest;
	n = pf_input_read(r->input, (char *)buf + rest, len - rest, err);
	if (in->options->progress)
		in->options->progress(in->bytes_before +
					      pf_input_consumed(r->input),
				      in->events_before + r->snap.entry_count);
	return n < 0 ? -1 : n + (int64_t)rest;
}

/* ---- batches ---- */

int pf_ingest_snap_flush(struct pf_ingest_snap *r, struct pf_err *err)
{
	struct pf_ingest *in = r->in;
	int64_t first_order = in->event_count;

	pf_ingest_count(in, &r->parsed.batch);
	if (pf_ingest_settle(in, &r->parsed, &r->type_ids, &r->type_ids_cap,
			     err) ||
	    pf_ingest_write_runs(in, r->sorter, &r->parsed, r->type_ids,
				 first_order, &r->lock, err))
		return -1;
	return 0;
}

static uint32_t find_text(struct pf_dict *d, const char *text)
{
	return pf_dict_find(d, text, strlen(text), 0);
}

static uint32_t find_name(struct pf_ingest_snap *r, uint32_t number)
{
	size_t len;
	const char *text = pf_snap_text(&r->snap, number, &len);

	return pf_dict_find(&r->parsed.names, text, len, 0);
}

/* Track of a device; letter: a class of trace/batch.h. */
static uint32_t find_track(struct pf_ingest_snap *r, char letter,
			   int64_t device, const char *tid)
{
	char text[96], pid[32];

	snprintf(pid, sizeof(pid), "CUDA %" PRId64, device);
	snprintf(text, sizeof(text), "%c%08zx%s%s", letter, strlen(pid), pid,
		 tid);
	return find_text(&r->parsed.tracks, text);
}

static void put(struct pf_ingest_snap *r, struct pf_event *ev,
		const char *category, uint32_t mask, const int64_t *slots)
{
	struct pf_batch *b = &r->parsed.batch;

	ev->type = pf_batch_type(b, find_text(&r->parsed.categories, category),
				 (char)ev->ph, (enum pf_kind)ev->kind);
	ev->order = (int32_t)b->event_count++;
	b->kind_count[ev->kind]++;
	pf_batch_put(b, ev, mask, slots);
}

/* ---- entries ---- */

/*
 * Arguments of an event.  Slots stand for what differs; those from
 * PF_SLOT_FRACTION on hold decimals (trace/event.h).
 */
struct args {
	char text[256];
	size_t len;
	uint32_t mask;
	int64_t slots[PF_SLOT_COUNT];
};

static void add_slot(struct args *a, const char *key, int slot, int64_t value)
{
	a->len += (size_t)snprintf(a->text + a->len, sizeof(a->text) - a->len,
				   ",\"%s\":$%c", key, 'a' + slot);
	a->mask |= UINT32_C(1) << slot;
	a->slots[slot] = slot < PF_SLOT_FRACTION ? value : value * 16;
}

static int64_t start_of(const struct pf_snap *s, const struct pf_snap_device *d,
			int64_t time_us)
{
	return d && !d->timed_count ? time_us : (time_us - s->first_us) * 1000;
}

/* Bytes as they change what is allocated, and the levels after it. */
static void add_levels(struct args *a, const struct pf_snap_device *d,
		       const struct pf_snap_entry *e)
{
	if (e->action == PF_SNAP_OOM || e->action == PF_SNAP_ALLOC ||
	    e->action == PF_SNAP_FREE)
		add_slot(a, "Total Allocated", PF_SLOT_ALLOCATED,
			 pf_sat_add(d->base, e->level));
	if (d->has_reserved_base)
		add_slot(a, "Total Reserved", PF_SLOT_RESERVED,
			 pf_sat_add(d->reserved_base, e->reserved));
}

static void make_args(const struct pf_ingest_snap *r, struct args *a,
		      const struct pf_snap_device *d,
		      const struct pf_snap_entry *e)
{
	bool is_free = e->action == PF_SNAP_FREE;

	a->mask = 0;
	a->len = (size_t)snprintf(a->text, sizeof(a->text),
				  "{\"Device Type\":%d,\"Device Id\":%" PRId64,
				  DEVICE_CUDA, d->number);
	add_slot(a, "Bytes", PF_SLOT_BYTES, is_free ? -e->size : e->size);
	if (e->has_address)
		add_slot(a, "Addr", PF_SLOT_ADDR, e->address);
	add_levels(a, d, e);
	if (e->has_stream)
		add_slot(a, "stream", PF_SLOT_GENERIC, e->stream);
	if (e->device_free >= 0)
		add_slot(a, "device_free", PF_SLOT_GENERIC + 1, e->device_free);
	if (e->stack)
		add_slot(a, "stack", PF_SLOT_STACK, r->stack_base + e->stack);
	a->text[a->len++] = '}';
}

static void put_entry(struct pf_ingest_snap *r, const struct pf_snap_entry *e)
{
	const struct pf_snap_device *d = &r->snap.devices[e->device];
	struct pf_event ev = {
		.start_ns = start_of(&r->snap, d, e->time_us),
		.name = find_name(r, e->name),
		.track = find_track(r, 'm', d->number, "allocator"),
		.ph = 'i',
		.kind = e->action == PF_SNAP_ALLOC || e->action == PF_SNAP_FREE
				? PF_KIND_MEMORY
			: e->action == PF_SNAP_OOM ? PF_KIND_OOM
						   : PF_KIND_INSTANT,
	};
	struct args a;

	make_args(r, &a, d, e);
	ev.args = pf_dict_find(&r->parsed.args, a.text, a.len, a.mask);
	put(r, &ev, "allocator", a.mask, a.slots);
}

static int put_entries(struct pf_ingest_snap *r, size_t most,
		       struct pf_err *err)
{
	uint64_t count = pf_spool_count(r->snap.entries);

	for (uint64_t i = 0; i < count; i++) {
		const struct pf_snap_entry *e =
			pf_spool_at(r->snap.entries, i, err);

		if (!e)
			return -1;
		put_entry(r, e);
		if (r->parsed.batch.count < most)
			continue;
		if (pf_ingest_snap_flush(r, err))
			return -1;
		pf_parsed_begin(&r->parsed);
	}
	return 0;
}

/* ---- annotations ---- */

static int put_annotations(struct pf_ingest_snap *r, struct pf_err *err)
{
	for (uint64_t i = 0; i < pf_spool_count(r->snap.marks); i++) {
		const struct pf_snap_mark *m =
			pf_spool_at(r->snap.marks, i, err);
		struct pf_event ev = { .args = PF_ID_NONE,
				       .kind = PF_KIND_ANNOTATION };

		if (!m)
			return -1;
		ev.start_ns = start_of(&r->snap, NULL, m->time_us);
		ev.name = find_name(r, m->name);
		ev.ph = m->is_start ? 'B' : 'E';
		ev.track = find_track(r, 'h', m->has_device ? m->device : -1,
				      "annotations");
		put(r, &ev, "user_annotation", 0, NULL);
	}
	return 0;
}

/* ---- all of it ---- */

static void describe(struct pf_ingest_snap *r)
{
	struct pf_ingest *in = r->in;
	struct pf_snap *s = &r->snap;
	struct pf_buf text = { 0 };

	in->json_bytes = s->pickle.bytes;
	in->found_list = true;
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
		pf_repair_note(&s->repairs, PF_REPAIR_HISTORY,
			       s->bad_sum_count + s->bad_order_count,
			       PF_OFFSET_UNKNOWN);
	pf_repairs_add(&in->repairs, &s->repairs);
	if (!s->has_times)
		return;
	pf_buf_addf(&text, "%" PRId64, s->first_us * 1000);
	pf_batch_member(&r->parsed.batch, "baseTimeNanoseconds", &text);
	pf_buf_release(&text);
}

static int write_all(struct pf_ingest_snap *r, struct pf_err *err)
{
	size_t most = r->in->options->chunk_bytes;
	int64_t skipped;

	/* Tests choose small chunks: then batches are small too. */
	if (!most || most > BATCH_EVENTS)
		most = BATCH_EVENTS;
	describe(r);
	if (pf_ingest_snap_rows(r, err) || put_entries(r, most, err) ||
	    put_annotations(r, err))
		return -1;
	/* what was left out is part of the list, too */
	skipped = r->snap.entry_count + r->snap.mark_count -
		  (int64_t)pf_spool_count(r->snap.entries) -
		  (int64_t)pf_spool_count(r->snap.marks);
	r->parsed.batch.event_count += skipped;
	return pf_ingest_snap_flush(r, err);
}

static int read_snapshot(struct pf_ingest *in, struct pf_input *input,
			 const struct pf_buf *head, struct pf_err *err)
{
	struct pf_ingest_snap r = { .in = in, .input = input, .head = head };
	int rc;

	pf_parsed_init(&r.parsed);
	r.sorter = pf_ingest_sorter_new();
	pthread_mutex_init(&r.lock, NULL);
	rc = pf_snap_load(&r.snap, in->directory, read_input, &r, err);
	if (!rc)
		rc = write_all(&r, err);
	pf_snap_release(&r.snap);
	pthread_mutex_destroy(&r.lock);
	pf_ingest_sorter_free(r.sorter);
	pf_parsed_release(&r.parsed);
	free(r.type_ids);
	return rc;
}

/* Any pickle: what is no snapshot is refused with its reason. */
static bool claims(const char *head, size_t len)
{
	const unsigned char *b = (const unsigned char *)head;

	return len >= 2 && b[0] == 0x80 && b[1] >= 2 && b[1] <= 5;
}

PF_INGEST_FORMAT(20, memsnap) = { "memsnap", claims, read_snapshot };
