/* SPDX-License-Identifier: MIT */
/*
 * Invariants: block.id is track_id << 18 | block_no, and nothing else about
 * a block is believed before it is checked; slot_at[] counts the values of
 * events [0, slot_upto) of the block at hand.
 */
#include "config.h"

#include "store/vtab_scan.h"

#include <inttypes.h>
#include <string.h>

#include "store/block_load.h"
#include "store/varint.h"

#define BLOCK_NO_BITS 18

void pf_filter_init(struct pf_filter *f)
{
	*f = (struct pf_filter){
		.id_high = INT64_MAX,
		.start_low = INT64_MIN,
		.start_high = INT64_MAX,
		.end_low = INT64_MIN,
		.trace_id = -1,
		.name = -1,
		.kinds = PF_KINDS_ALL,
		.category_rank = -1,
	};
}

int pf_scan_init(struct pf_scan *s, struct pf_lexicon *lexicon,
		 struct pf_err *err)
{
	memset(s, 0, sizeof(*s));
	s->lexicon = lexicon;
	s->block_id = -1;
	pf_filter_init(&s->filter);
	s->blocks =
		pf_db_prepare(&lexicon->db,
			      "SELECT id, event_count, names FROM main.block"
			      " WHERE id BETWEEN ?1 AND ?2"
			      " AND first_start_ns <= ?3"
			      " AND last_start_ns >= ?4"
			      " AND max_end_ns >= ?5 ORDER BY id",
			      err);
	s->data = s->blocks ? pf_block_statement(&lexicon->db, err) : NULL;
	if (!s->data)
		return -1;
	pf_block_init(&s->block);
	return 0;
}

void pf_scan_release(struct pf_scan *s)
{
	sqlite3_finalize(s->blocks);
	sqlite3_finalize(s->data);
	pf_block_release(&s->block);
	memset(s, 0, sizeof(*s));
}

static int64_t block_of(int64_t event_id)
{
	return (event_id >> 32) << BLOCK_NO_BITS |
	       (event_id & UINT32_MAX) >> PF_BLOCK_SHIFT;
}

void pf_scan_start(struct pf_scan *s)
{
	const struct pf_filter *f = &s->filter;

	sqlite3_reset(s->blocks);
	sqlite3_bind_int64(s->blocks, 1,
			   f->id_low < 0 ? 0 : block_of(f->id_low));
	sqlite3_bind_int64(s->blocks, 2,
			   f->id_high < 0 ? -1 : block_of(f->id_high));
	sqlite3_bind_int64(s->blocks, 3, f->start_high);
	sqlite3_bind_int64(s->blocks, 4, f->start_low);
	sqlite3_bind_int64(s->blocks, 5, f->end_low);
	s->at = s->end = 0;
	s->is_running = !f->is_none;
}

/* ---- decoding ---- */

static int load(struct pf_scan *s, uint64_t columns, struct pf_err *err)
{
	if (columns >> PF_COL_SLOT)
		columns |= PF_COLBIT(PF_COL_MASK);
	columns &= ~s->loaded;
	if (!columns)
		return 0;
	if (pf_block_load(&s->lexicon->db, s->data, s->block_id, s->count,
			  columns, &s->block, err)) {
		s->loaded = 0;
		return -1;
	}
	s->loaded |= columns;
	return 0;
}

int pf_scan_need(struct pf_scan *s, uint64_t columns, struct pf_err *err)
{
	return columns & ~s->loaded ? load(s, columns | s->wanted, err) : 0;
}

/* ---- is there anything in this block? ---- */

/* Is the id, or "inline" unless that cannot match, in block.names? */
static bool names_have(const struct pf_filter *f, const unsigned char *p,
		       size_t len)
{
	uint64_t id = 0, wanted = (uint64_t)f->name;
	const unsigned char *end = p + len;

	while (p < end) {
		uint64_t more = 0;

		for (unsigned shift = 0; shift < 35 && p < end; shift += 7) {
			more |= (uint64_t)(*p & 0x7f) << shift;
			if (*p++ < 0x80)
				break;
		}
		id += more;
		if (id == wanted)
			return true;
	}
	return id >= PF_ID_INLINE && !f->name_is_exact;
}

/* The events of the block at hand that ids and start times leave. */
static int clip(struct pf_scan *s, int64_t from_id, struct pf_err *err)
{
	const struct pf_filter *f = &s->filter;
	const int64_t *start = s->block.start_ns;

	s->at = 0;
	s->end = s->count;
	if (f->id_low > from_id)
		s->at = f->id_low - from_id < s->count
				? (uint32_t)(f->id_low - from_id)
				: s->count;
	if (f->id_high - from_id < s->count - INT64_C(1))
		s->end = f->id_high < from_id
				 ? 0
				 : (uint32_t)(f->id_high - from_id + 1);
	if (f->start_low == INT64_MIN && f->start_high == INT64_MAX)
		return 0;
	if (load(s, PF_COLBIT(PF_COL_START), err))
		return -1;
	while (s->at < s->end && start[s->at] < f->start_low)
		s->at++;
	while (s->at < s->end && start[s->end - 1] > f->start_high)
		s->end--;
	return 0;
}

static uint64_t filter_columns(const struct pf_filter *f)
{
	uint64_t columns = 0;

	if (f->kinds != PF_KINDS_ALL || f->category_rank >= 0)
		columns |= PF_COLBIT(PF_COL_TYPE);
	if (f->name >= 0)
		columns |= PF_COLBIT(PF_COL_NAME);
	return columns;
}

/* A block row: 1 there may be events in it, 0 there are none, -1. */
static int enter(struct pf_scan *s, struct pf_err *err)
{
	int64_t id = sqlite3_column_int64(s->blocks, 0);
	int64_t count = sqlite3_column_int64(s->blocks, 1);
	int64_t track = id >> BLOCK_NO_BITS;
	const struct pf_filter *f = &s->filter;

	if (id < 0 || track >= INT64_C(1) << 31 || count < 1 ||
	    count > PF_BLOCK_EVENTS)
		return pf_fail(err, PF_EDB, "block %" PRId64 " is damaged", id);
	if (f->trace_id >= 0 &&
	    pf_lexicon_trace(s->lexicon, (uint32_t)track) != f->trace_id)
		return 0;
	if (f->name >= 0 &&
	    !names_have(f, sqlite3_column_blob(s->blocks, 2),
			(size_t)sqlite3_column_bytes(s->blocks, 2)))
		return 0;
	if (id != s->block_id) {
		s->block_id = id;
		s->loaded = 0;
	}
	s->track_id = (uint32_t)track;
	s->first_seq = (uint32_t)(id & ((1 << BLOCK_NO_BITS) - 1))
		       << PF_BLOCK_SHIFT;
	s->count = (uint32_t)count;
	s->slot_upto = 0;
	memset(s->slot_at, 0, sizeof(s->slot_at));
	s->inline_upto = UINT32_MAX;
	if (clip(s, track << 32 | s->first_seq, err))
		return -1;
	return s->at < s->end;
}

int pf_scan_next_block(struct pf_scan *s, struct pf_err *err)
{
	int rc;

	while (s->is_running) {
		rc = pf_db_step(&s->lexicon->db, s->blocks, err);
		if (rc > 0)
			rc = enter(s, err);
		else
			s->is_running = false;
		if (rc > 0)
			rc = load(s, filter_columns(&s->filter), err) ? -1 : 1;
		if (rc < 0) {
			s->is_running = false;
			return -1;
		}
		if (rc > 0)
			return 1;
	}
	s->at = s->end = 0;
	return 0;
}

bool pf_scan_passes(const struct pf_scan *s, uint32_t i)
{
	const struct pf_filter *f = &s->filter;

	if (f->kinds != PF_KINDS_ALL || f->category_rank >= 0) {
		uint32_t type = s->block.type[i];
		const struct pf_lexicon_type *t;

		if (type >= s->lexicon->type_count)
			return false;
		t = s->lexicon->type + type;
		if (!(f->kinds >> t->kind & 1))
			return false;
		if (f->category_rank >= 0 &&
		    t->category_rank != f->category_rank)
			return false;
	}
	if (f->name >= 0 && s->block.name[i] != f->name)
		return s->block.name[i] == PF_ID_INLINE && !f->name_is_exact;
	return true;
}

int pf_scan_next(struct pf_scan *s, struct pf_err *err)
{
	s->at++;
	for (;;) {
		int rc;

		for (; s->at < s->end; s->at++)
			if (pf_scan_passes(s, s->at))
				return 1;
		rc = pf_scan_next_block(s, err);
		if (rc <= 0)
			return rc;
	}
}

/* ---- the event at hand ---- */

int pf_scan_slot(struct pf_scan *s, int slot, int64_t *value,
		 struct pf_err *err)
{
	uint64_t columns = PF_COLBIT(PF_COL_SLOT + slot);
	uint32_t index;

	if (pf_scan_need(s, columns | PF_COLBIT(PF_COL_MASK), err))
		return -1;
	if (s->at < s->slot_upto) {
		s->slot_upto = 0;
		memset(s->slot_at, 0, sizeof(s->slot_at));
	}
	for (; s->slot_upto < s->at; s->slot_upto++)
		for (uint32_t m = s->block.mask[s->slot_upto]; m; m &= m - 1)
			s->slot_at[__builtin_ctz(m)]++;
	if (!(s->block.mask[s->at] >> slot & 1))
		return 0;
	index = s->slot_at[slot];
	if (index >= s->block.slot_count[slot])
		return pf_fail(err, PF_EDB, "a slot column is short");
	*value = s->block.slot[slot][index];
	return 1;
}

static int take_inline(struct pf_scan *s, int which, struct pf_err *err)
{
	const struct pf_buf *b = &s->block.inline_text;
	const unsigned char *p = (const unsigned char *)b->data + s->inline_at;
	uint32_t len;

	if (b->len - s->inline_at < 4)
		return pf_fail(err, PF_EDB, "an inline text is missing");
	len = (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 |
	      (uint32_t)p[3] << 24;
	if (len > b->len - s->inline_at - 4)
		return pf_fail(err, PF_EDB, "an inline text is damaged");
	s->inline_text[which] = b->data + s->inline_at + 4;
	s->inline_len[which] = len;
	s->inline_at += 4 + (size_t)len;
	return 0;
}

int pf_scan_inline(struct pf_scan *s, int which, const char **text,
		   uint32_t *len, struct pf_err *err)
{
	if (pf_scan_need(s,
			 PF_COLBIT(PF_COL_NAME) | PF_COLBIT(PF_COL_ARGS) |
				 PF_COLBIT(PF_COL_INLINE),
			 err))
		return -1;
	if (s->inline_upto == UINT32_MAX || s->inline_upto > s->at) {
		s->inline_upto = UINT32_MAX;
		s->inline_at = 0;
	}
	while (s->inline_upto != s->at) {
		uint32_t i = ++s->inline_upto; /* from UINT32_MAX to 0 */

		if ((s->block.name[i] == PF_ID_INLINE &&
		     take_inline(s, 0, err)) ||
		    (s->block.args[i] == PF_ID_INLINE &&
		     take_inline(s, 1, err))) {
			s->inline_upto = UINT32_MAX;
			return -1;
		}
	}
	*text = s->inline_text[which];
	*len = s->inline_len[which];
	return 0;
}
