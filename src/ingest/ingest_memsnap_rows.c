/* SPDX-License-Identifier: MIT */
/*
 * Rows of a snapshot beside its events: frames and stacks, segments and
 * blocks, settings, what the history says.  Ids go on from trace to trace.
 */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/sat.h"
#include "ingest/ingest_memsnap.h"

static void bind_if(sqlite3_stmt *st, int i, bool is_known, int64_t value)
{
	if (is_known)
		sqlite3_bind_int64(st, i, value);
}

/* Integers of SQL are signed: a key of 2^63 and more is the text of its digits. */
static void bind_key(sqlite3_stmt *st, int i, int64_t key, unsigned is)
{
	char text[24];

	if (!(is & PF_SNAP_UNSIGNED)) {
		bind_if(st, i, is != 0, key);
		return;
	}
	snprintf(text, sizeof(text), "%" PRIu64, (uint64_t)key);
	sqlite3_bind_text(st, i, text, -1, SQLITE_TRANSIENT);
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

static int put_segments(struct pf_ingest_snap *r, int64_t base,
			struct pf_err *err)
{
	sqlite3_stmt *st = pf_db_prepare(
		r->in->db,
		"INSERT INTO segment VALUES(?1,?2,?3,?4,?5,?6,?7,?8,?9,?10)",
		err);
	int rc = st ? 0 : -1;

	for (uint64_t i = 0; i < pf_spool_count(r->snap.segments) && !rc; i++) {
		const struct pf_snap_segment *g =
			pf_spool_at(r->snap.segments, i, err);
		char pool[32];

		if (!g) {
			rc = -1;
			break;
		}
		snprintf(pool, sizeof(pool), "%u:%u", g->pool_a, g->pool_b);
		sqlite3_bind_int64(st, 1, base + (int64_t)i + 1);
		sqlite3_bind_int64(st, 2, r->in->trace_id);
		sqlite3_bind_int64(st, 3, g->device);
		bind_key(st, 4, g->address, g->address_is);
		sqlite3_bind_int64(st, 5, g->total);
		bind_key(st, 6, g->stream, g->stream_is);
		if (g->pool_a != PF_SNAP_NO_TEXT)
			sqlite3_bind_text(st, 7, pool, -1, SQLITE_TRANSIENT);
		bind_if(st, 8, g->is_expandable >= 0, g->is_expandable);
		bind_if(st, 9, g->is_large >= 0, g->is_large);
		bind_if(st, 10, g->stack != 0, r->stacks.stack_base + g->stack);
		rc = pf_db_put(r->in->db, st, err);
	}
	sqlite3_finalize(st);
	return rc;
}

/* Texts of a trace go into the database as valid UTF-8 only. */
static int bind_text(struct pf_ingest_snap *r, sqlite3_stmt *st, int i,
		     uint32_t number)
{
	const struct pf_dict *d = &r->parsed.names;
	uint32_t entry = pf_ingest_snap_name(r, number);
	const struct pf_dict_entry *e = &d->entries[entry];

	return sqlite3_bind_text(st, i,
				 e->text_len ? d->text.data + e->text_at : "",
				 (int)e->text_len, SQLITE_TRANSIENT);
}

static int put_blocks(struct pf_ingest_snap *r, int64_t base,
		      struct pf_err *err)
{
	sqlite3_stmt *st = pf_db_prepare(
		r->in->db,
		"INSERT INTO mem_block(segment_id, address, size_bytes,"
		" requested_bytes, state, stack_id)"
		" VALUES(?1,?2,?3,?4,?5,?6)",
		err);
	int rc = st ? 0 : -1;

	for (uint64_t i = 0; i < pf_spool_count(r->snap.blocks) && !rc; i++) {
		const struct pf_snap_block *b =
			pf_spool_at(r->snap.blocks, i, err);

		if (!b) {
			rc = -1;
			break;
		}
		sqlite3_bind_int64(st, 1, base + b->segment + 1);
		bind_key(st, 2, b->address, b->address_is);
		sqlite3_bind_int64(st, 3, b->size);
		sqlite3_bind_int64(st, 4, b->requested);
		bind_text(r, st, 5, b->state);
		bind_if(st, 6, b->stack != 0, r->stacks.stack_base + b->stack);
		rc = pf_db_put(r->in->db, st, err);
	}
	sqlite3_finalize(st);
	return rc;
}

/* blocks: how many there were before these. */
static int put_pasts(struct pf_ingest_snap *r, int64_t blocks,
		     struct pf_err *err)
{
	sqlite3_stmt *st = pf_db_prepare(
		r->in->db, "INSERT INTO mem_past VALUES(?1, ?2, ?3)", err);
	int rc = st ? 0 : -1;

	for (uint64_t i = 0; i < pf_spool_count(r->snap.pasts) && !rc; i++) {
		const struct pf_snap_past *p =
			pf_spool_at(r->snap.pasts, i, err);

		if (!p) {
			rc = -1;
			break;
		}
		sqlite3_bind_int64(st, 1, blocks + p->block + 1);
		sqlite3_bind_int64(st, 2, p->bytes);
		bind_if(st, 3, p->stack != 0, r->stacks.stack_base + p->stack);
		rc = pf_db_put(r->in->db, st, err);
	}
	sqlite3_finalize(st);
	return rc;
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
	sqlite3_stmt *st =
		pf_db_prepare(r->in->db,
			      "INSERT OR REPLACE INTO mem_setting VALUES(?1,"
			      " coalesce(?4 || '.', '') || ?2, ?3)",
			      err);
	int rc = st ? 0 : -1;

	for (size_t i = 0; i < r->snap.setting_count && !rc; i++) {
		const struct pf_snap_setting *s = &r->snap.settings[i];

		sqlite3_bind_int64(st, 1, r->in->trace_id);
		bind_text(r, st, 2, s->key);
		bind_value(r, st, &s->value);
		if (s->prefix != PF_SNAP_NO_TEXT)
			bind_text(r, st, 4, s->prefix);
		rc = pf_db_put(r->in->db, st, err);
	}
	sqlite3_finalize(st);
	return rc;
}

static int put_history(struct pf_ingest_snap *r, struct pf_err *err)
{
	sqlite3_stmt *st = pf_db_prepare(
		r->in->db,
		"INSERT INTO mem_history VALUES(?1,?2,?3,?4,?5,?6,?7,?8,?9,"
		"?10,?11,?12,?13,?14)",
		err);
	int rc = st ? 0 : -1;

	for (size_t i = 0; i < r->snap.device_count && !rc; i++) {
		const struct pf_snap_device *d = &r->snap.devices[i];
		const int64_t columns[] = {
			r->in->trace_id, d->number,
			d->entry_count,  d->timed_count,
			d->base,         d->before_count,
			d->early_count,  pf_sat_add(d->base, d->level),
			d->in_use,       d->twice_count,
			d->differ_count, d->no_block_count,
			d->late_count,   d->has_reserved_base,
		};

		if (d->is_cut)
			continue;
		for (size_t c = 0; c < sizeof(columns) / sizeof(*columns); c++)
			sqlite3_bind_int64(st, (int)c + 1, columns[c]);
		rc = pf_db_put(r->in->db, st, err);
	}
	sqlite3_finalize(st);
	return rc;
}

/* What is kept of a history; it is compared with nothing (mem_history). */
static void note_cut(struct pf_ingest_snap *r)
{
	for (size_t i = 0; i < r->snap.device_count; i++) {
		const struct pf_snap_device *d = &r->snap.devices[i];
		char key[48];

		snprintf(key, sizeof(key), "snap_cut_%" PRId64, d->number);
		if (d->is_cut && d->has_history)
			pf_ingest_note_fact(r->in, key, d->entry_count);
	}
}

/* Of a GPU whose entries have no times: their order stands for these. */
static void note_untimed(struct pf_ingest_snap *r)
{
	for (size_t i = 0; i < r->snap.device_count; i++) {
		const struct pf_snap_device *d = &r->snap.devices[i];
		char key[48];

		snprintf(key, sizeof(key), "snap_untimed_%" PRId64, d->number);
		if (d->entry_count && !d->timed_count)
			pf_ingest_note_fact(r->in, key, d->entry_count);
	}
}

static void note_facts(struct pf_ingest_snap *r)
{
	note_cut(r);
	note_untimed(r);
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

int pf_ingest_snap_rows(struct pf_ingest_snap *r, struct pf_err *err)
{
	int64_t base = 0, blocks = 0;

	note_facts(r);
	r->stacks = (struct pf_ingest_stacks){ .frames = &r->snap.stacks.frames,
					       .stacks = &r->snap.stacks.nodes,
					       .frame = frame_of,
					       .arg = r };
	if (pf_ingest_stacks_begin(r->in, &r->stacks, err) ||
	    pf_db_number(r->in->db, "SELECT coalesce(max(id), 0) FROM segment",
			 &base, err) ||
	    pf_db_number(r->in->db,
			 "SELECT coalesce(max(id), 0) FROM mem_block", &blocks,
			 err) ||
	    pf_ingest_stacks_put(&r->stacks, &r->batcher, &r->parsed, err))
		return -1;
	return put_segments(r, base, err) || put_blocks(r, base, err) ||
			       put_pasts(r, blocks, err) ||
			       put_settings(r, err) || put_history(r, err)
		       ? -1
		       : 0;
}
