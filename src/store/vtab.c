/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "store/vtab.h"

#include <inttypes.h>

#include "base/asset.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/num.h"
#include "base/search.h"
#include "formats/event.h"
#include "store/argtext.h"
#include "store/block.h"
#include "store/lexicon.h"

struct pf_lexicon *pf_lexicon_open(sqlite3 *sql, size_t group_bytes)
{
	struct pf_lexicon *d = pf_calloc(1, sizeof(*d));

	d->db.sql = sql;
	d->users = 1;
	d->group_bytes = group_bytes;
	return d;
}

static void release(struct pf_lexicon *d)
{
	for (size_t i = 0; i < d->string_count; i++)
		free(d->string[i].text);
	free(d->string);
	for (size_t i = 0; i < d->type_count; i++) {
		free(d->type[i].ph);
		free(d->type[i].category);
	}
	free(d->type);
	free(d->track);
	for (size_t i = 0; d->args && i < PF_LEXICON_ARGS; i++)
		free(d->args[i].text);
	free(d->args);
	free(d->args_text);
	sqlite3_finalize(d->get_string);
	sqlite3_finalize(d->get_args);
	sqlite3_finalize(d->find_string);
}

void pf_lexicon_close(struct pf_lexicon *d)
{
	if (--d->users)
		return;
	release(d);
	free(d);
}

/* ---- what is read at once ---- */

static int load_types(struct pf_lexicon *d, struct pf_err *err)
{
	PF_STMT(st) = pf_db_prepare(
		&d->db,
		"SELECT id, ph, category, kind,"
		" dense_rank() OVER (ORDER BY category) - 1"
		" FROM main.event_type WHERE id >= 0 AND id < 65536"
		" ORDER BY id",
		err);
	size_t cap = 0;
	int rc;

	while ((rc = pf_db_step(&d->db, st, err)) > 0) {
		size_t id = (size_t)sqlite3_column_int64(st, 0);
		struct pf_lexicon_type *t;
		const char *ph = pf_sqlite_text(st, 1);
		const char *category = pf_sqlite_text(st, 2);
		int64_t kind = sqlite3_column_int64(st, 3);
		int64_t rank = sqlite3_column_int64(st, 4);

		PF_ROOM_ZERO(d->type, cap, id + 1);
		t = d->type + id;
		d->type_count = id + 1;
		t->ph = pf_strdup(ph ? ph : "");
		t->category = pf_strdup(category ? category : "");
		t->kind = kind >= 0 && kind < PF_KIND_COUNT ? (uint32_t)kind
							    : PF_KIND_HOST;
		t->category_rank = (uint32_t)rank;
		if (d->category_count <= (size_t)rank)
			d->category_count = (size_t)rank + 1;
	}
	return rc;
}

static int load_tracks(struct pf_lexicon *d, struct pf_err *err)
{
	PF_STMT(st) =
		pf_db_prepare(&d->db,
			      "SELECT id, trace_id FROM main.track ORDER BY id"
			      " LIMIT 1048576",
			      err);
	size_t cap = 0;
	int rc;

	while ((rc = pf_db_step(&d->db, st, err)) > 0) {
		struct pf_lexicon_track *t =
			PF_ONE_MORE(d->track, d->track_count, cap);

		t->id = sqlite3_column_int64(st, 0);
		t->trace_id = sqlite3_column_int64(st, 1);
	}
	return rc;
}

static int load_shape(struct pf_lexicon *d, struct pf_err *err)
{
	int64_t count, has_inline;

	PF_TRY(pf_db_number(&d->db, "SELECT max(id) + 1 FROM main.string",
			    &count, err));
	PF_TRY(pf_db_number(&d->db,
			    "SELECT 1 FROM main.block_column"
			    " WHERE column_id = 8 LIMIT 1",
			    &has_inline, err));
	if (count < 0 || count > PF_LEXICON_IDS_MAX)
		count = PF_LEXICON_IDS_MAX;
	d->has_inline = has_inline;
	d->string = pf_calloc((size_t)count + 1, sizeof(*d->string));
	d->string_count = (size_t)count;
	d->args = pf_calloc(PF_LEXICON_ARGS, sizeof(*d->args));
	return 0;
}

int pf_lexicon_load(struct pf_lexicon *d, struct pf_err *err)
{
	if (d->is_loaded)
		return 0;
	release(d);
	d->string = NULL;
	d->type = NULL;
	d->track = NULL;
	d->args = NULL;
	d->args_text = NULL;
	d->get_string = d->get_args = d->find_string = NULL;
	d->string_count = d->type_count = d->track_count = 0;
	d->category_count = 0;
	PF_TRY(load_shape(d, err));
	PF_TRY(load_types(d, err));
	PF_TRY(load_tracks(d, err));
	d->get_string = pf_db_prepare(
		&d->db, "SELECT text FROM main.string WHERE id = ?1", err);
	d->get_args = pf_db_prepare(
		&d->db, "SELECT text FROM main.argset WHERE id = ?1", err);
	d->find_string = pf_db_prepare(
		&d->db, "SELECT id FROM main.string WHERE text = ?1", err);
	PF_TRY(!d->get_string || !d->get_args || !d->find_string);
	d->is_loaded = true;
	return 0;
}

/* ---- look-ups ---- */

/* Run "st" for an id: a copy of its text in *text, or 0 or -1. */
static int get_text(struct pf_lexicon *d, sqlite3_stmt *st, uint32_t id,
		    char **text, size_t *len, struct pf_err *err)
{
	int rc;

	sqlite3_bind_int64(st, 1, id);
	rc = pf_db_step(&d->db, st, err);
	if (rc > 0) {
		const unsigned char *p = sqlite3_column_text(st, 0);

		*len = p ? (size_t)sqlite3_column_bytes(st, 0) : 0;
		*text = pf_memdup0(p ? (const char *)p : "", *len);
	}
	sqlite3_reset(st);
	return rc;
}

int pf_lexicon_string(struct pf_lexicon *d, uint32_t id, const char **text,
		      uint32_t *len, struct pf_err *err)
{
	struct pf_lexicon_text *s = d->string + id;
	char *copy;
	size_t n;
	int rc;

	if (id < d->string_count && s->text) {
		*text = s->text;
		*len = s->len;
		return 1;
	}
	rc = get_text(d, d->get_string, id, &copy, &n, err);
	if (rc <= 0)
		return rc;
	*text = copy;
	*len = (uint32_t)n;
	if (id < d->string_count && d->text_bytes + n < PF_LEXICON_TEXT_MAX) {
		d->text_bytes += n + 32;
		s->text = copy;
		s->len = (uint32_t)n;
		return 1;
	}
	free(d->args_text);
	d->args_text = copy;
	return 2;
}

/* The id of a text, or -1 if it is none's, or -2 on an error. */
static int64_t lexicon_find_string(struct pf_lexicon *d, const char *text,
				   int len, struct pf_err *err)
{
	int64_t id = -1;
	int rc;

	sqlite3_bind_text(d->find_string, 1, text, len, SQLITE_STATIC);
	rc = pf_db_step(&d->db, d->find_string, err);
	if (rc > 0)
		id = sqlite3_column_int64(d->find_string, 0);
	sqlite3_reset(d->find_string);
	sqlite3_clear_bindings(d->find_string);
	return rc < 0 ? -2 : id;
}

int pf_lexicon_args_text(struct pf_lexicon *d, uint32_t id, const char **text,
			 size_t *len, struct pf_err *err)
{
	struct pf_lexicon_args *a = d->args + id % PF_LEXICON_ARGS;
	char *copy;
	int rc;

	if (a->text && a->id == id) {
		*text = a->text;
		*len = a->len;
		return 1;
	}
	rc = get_text(d, d->get_args, id, &copy, len, err);
	if (rc <= 0)
		return rc;
	*text = copy;
	if (*len <= PF_LEXICON_ARGS_MAX) {
		free(a->text);
		a->text = copy;
		a->len = *len;
		a->id = id;
	} else {
		free(d->args_text);
		d->args_text = copy;
	}
	return 1;
}

/* trace_id of a track, -1 if the track is unknown. */
static int64_t lexicon_trace(const struct pf_lexicon *d, uint32_t track_id)
{
	size_t low = PF_SEARCH(i, d->track_count, d->track[i].id < track_id);

	return low < d->track_count && d->track[low].id == track_id
		       ? d->track[low].trace_id
		       : -1;
}

/*
 * Walking the events of blocks under a filter, in order of event id.  Columns
 * are decoded when they are first asked for, together with those in "wanted".
 */

#define PF_KINDS_ALL ((UINT32_C(1) << PF_KIND_COUNT) - 1)

/* Everything inclusive; filter_init() lets all events pass. */
struct pf_filter {
	int64_t id_low, id_high;
	int64_t start_low, start_high;
	int64_t end_low;       /* of a block's latest end only: a hint */
	int64_t trace_id;      /* -1: any */
	int64_t name;          /* string id; -1: any */
	bool name_is_exact;    /* inline names do not pass */
	uint32_t kinds;        /* bits 1 << enum pf_kind */
	int64_t category_rank; /* -1: any */
	bool is_none;          /* nothing passes */
};

struct pf_scan {
	struct pf_lexicon *lexicon;
	struct pf_filter filter;
	uint64_t wanted;
	sqlite3_stmt *blocks, *data;
	struct pf_block block;
	/* the block at hand */
	int64_t block_id;
	uint64_t loaded;
	uint32_t first_seq, track_id, count;
	uint32_t at, end; /* the event at hand; behind the last */
	bool is_running;
	/* values of slots and inline texts before event *_upto are counted */
	uint32_t slot_upto, slot_at[PF_SLOT_COUNT];
	uint32_t inline_upto;
	size_t inline_at;
	const char *inline_text[2]; /* name, args of event inline_upto */
	uint32_t inline_len[2];
};

static inline int64_t pf_scan_id(const struct pf_scan *s)
{
	return (int64_t)s->track_id << 32 | (s->first_seq + s->at);
}

/*
 * Invariants: block.id is track_id << 18 | block_no, and nothing else about
 * a block is believed before it is checked; slot_at[] counts the values of
 * events [0, slot_upto) of the block at hand.
 */

#define BLOCK_NO_BITS 18

static void filter_init(struct pf_filter *f)
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

static int scan_init(struct pf_scan *s, struct pf_lexicon *lexicon,
		     struct pf_err *err)
{
	memset(s, 0, sizeof(*s));
	s->lexicon = lexicon;
	s->block_id = -1;
	filter_init(&s->filter);
	s->blocks =
		pf_db_prepare(&lexicon->db,
			      "SELECT id, event_count, names FROM main.block"
			      " WHERE id BETWEEN ?1 AND ?2"
			      " AND first_start_ns <= ?3"
			      " AND last_start_ns >= ?4"
			      " AND max_end_ns >= ?5 ORDER BY id",
			      err);
	PF_TRY(!s->blocks);
	pf_block_init(&s->block, PF_BLOCK_EVENTS);
	return 0;
}

static void scan_release(struct pf_scan *s)
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

/* Start at the front; the filter is set before. */
static void scan_start(struct pf_scan *s)
{
	const struct pf_filter *f = &s->filter;

	sqlite3_reset(s->blocks);
	PF_BIND(s->blocks, f->id_low < 0 ? 0 : block_of(f->id_low),
		f->id_high < 0 ? -1 : block_of(f->id_high), f->start_high,
		f->start_low, f->end_low);
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
	if (pf_block_load(&s->lexicon->db, &s->data, s->block_id, s->count,
			  columns, &s->block, err)) {
		s->loaded = 0;
		return -1;
	}
	s->loaded |= columns;
	return 0;
}

/* Decode these columns of the block at hand unless they are. */
static int scan_need(struct pf_scan *s, uint64_t columns, struct pf_err *err)
{
	return columns & ~s->loaded ? load(s, columns | s->wanted, err) : 0;
}

/* ---- is there anything in this block? ---- */

/* Is the id, or "inline" unless that cannot match, in block.names? */
static bool names_have(const struct pf_filter *f, const unsigned char *p,
		       size_t len)
{
	uint64_t id = 0, wanted = (uint64_t)f->name;
	const unsigned char *end = len ? p + len : p;

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
	PF_TRY(load(s, PF_COLBIT(PF_COL_START), err));
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
	    lexicon_trace(s->lexicon, (uint32_t)track) != f->trace_id)
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
	PF_TRY(clip(s, track << 32 | s->first_seq, err));
	return s->at < s->end;
}

/*
 * To the next block with events that may pass: 1, 0, -1.  For callers that
 * walk [s->at, s->end) themselves, with scan_passes().
 */
static int scan_next_block(struct pf_scan *s, struct pf_err *err)
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

static bool scan_passes(const struct pf_scan *s, uint32_t i)
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

/* To the next event: 1, 0 at the end, -1 on error. */
static int scan_next(struct pf_scan *s, struct pf_err *err)
{
	s->at++;
	for (;;) {
		int rc;

		for (; s->at < s->end; s->at++)
			if (scan_passes(s, s->at))
				return 1;
		rc = scan_next_block(s, err);
		if (rc <= 0)
			return rc;
	}
}

/* ---- the event at hand ---- */

/* A slot's value of the event at hand: 1, 0 if it has none, -1 on error. */
static int scan_slot(struct pf_scan *s, int slot, int64_t *value,
		     struct pf_err *err)
{
	uint64_t columns = PF_COLBIT(PF_COL_SLOT + slot);
	uint32_t index;

	PF_TRY(scan_need(s, columns | PF_COLBIT(PF_COL_MASK), err));
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

/* The inline name (0) or args (1) of the event at hand: 0 or -1. */
static int scan_inline(struct pf_scan *s, int which, const char **text,
		       uint32_t *len, struct pf_err *err)
{
	PF_TRY(scan_need(s,
			 PF_COLBIT(PF_COL_NAME) | PF_COLBIT(PF_COL_ARGS) |
				 PF_COLBIT(PF_COL_INLINE),
			 err));
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

/*
 * Events in groups of equal name, category or kind, so that SQLite need not
 * sort them: the events of as many groups as fit in a fixed buffer are
 * gathered in one pass over the blocks; a group too large for it is walked in
 * place.  Only plain numbers can be gathered.
 */

enum pf_group_key {
	PF_GROUP_NONE,
	PF_GROUP_NAME_ID, /* ascending ids */
	PF_GROUP_NAME,    /* ascending texts */
	PF_GROUP_CATEGORY,
	PF_GROUP_KIND,
};

/* What is gathered of an event: fields that the used columns are made of. */
enum event_field {
	PF_FIELD_ID,
	PF_FIELD_START,
	PF_FIELD_DUR,
	PF_FIELD_ORDER,
	PF_FIELD_NAME,
	PF_FIELD_TYPE,
	PF_FIELD_PARENT,
	PF_FIELD_COUNT
};

struct pf_vtab_group {
	enum pf_group_key key; /* set these two before vtab_group_start() */
	bool is_descending;
	unsigned fields; /* bits */
	unsigned place[PF_FIELD_COUNT], field_count;
	uint32_t *groups; /* keys that occur, in the order of rows */
	uint64_t *counts; /* of events, by key */
	uint64_t *offset; /* where a group's next record goes, by key */
	size_t group_count, key_count, next_group;
	int64_t *records;
	size_t record_count, at; /* in this pass */
	bool is_walking;         /* the scan itself is at the event */
	uint32_t walked;
};

/* ---- group ---- */

#define NO_PLACE UINT64_MAX

static void vtab_group_release(struct pf_vtab_group *g)
{
	free(g->groups);
	free(g->counts);
	free(g->offset);
	free(g->records);
	memset(g, 0, sizeof(*g));
}

/* ---- fields and keys ---- */

static const uint64_t field_columns[PF_FIELD_COUNT] = {
	[PF_FIELD_START] = PF_COLBIT(PF_COL_START),
	[PF_FIELD_DUR] = PF_COLBIT(PF_COL_DUR),
	[PF_FIELD_ORDER] = PF_COLBIT(PF_COL_ORDER),
	[PF_FIELD_NAME] = PF_COLBIT(PF_COL_NAME),
	[PF_FIELD_TYPE] = PF_COLBIT(PF_COL_TYPE),
	[PF_FIELD_PARENT] = PF_COLBIT(PF_COL_PARENT),
};

/* Its columns are decoded. */
static int64_t field_at(const struct pf_scan *s, enum event_field f, uint32_t i)
{
	const struct pf_block *b = &s->block;

	switch (f) {
	case PF_FIELD_START:
		return b->start_ns[i];
	case PF_FIELD_DUR:
		return b->dur_ns[i];
	case PF_FIELD_ORDER:
		return b->order[i];
	case PF_FIELD_NAME:
		return b->name[i];
	case PF_FIELD_TYPE:
		return b->type[i];
	case PF_FIELD_PARENT:
		return b->parent[i];
	default:
		return (int64_t)s->track_id << 32 | (s->first_seq + i);
	}
}

static uint64_t key_column(const struct pf_vtab_group *g)
{
	return g->key == PF_GROUP_NAME || g->key == PF_GROUP_NAME_ID
		       ? PF_COLBIT(PF_COL_NAME)
		       : PF_COLBIT(PF_COL_TYPE);
}

/* Always below g->key_count, whose last key is for what is not known. */
static inline size_t key_at(const struct pf_vtab_group *g,
			    const struct pf_scan *s, uint32_t i)
{
	size_t key = 0, unknown = g->key_count - 1;
	uint32_t type;

	if (g->key == PF_GROUP_NAME || g->key == PF_GROUP_NAME_ID) {
		key = s->block.name[i];
		return key < unknown ? key : unknown;
	}
	type = s->block.type[i];
	if (type >= s->lexicon->type_count || !s->lexicon->type[type].ph)
		return unknown;
	key = g->key == PF_GROUP_CATEGORY ? s->lexicon->type[type].category_rank
					  : s->lexicon->type[type].kind;
	return key < unknown ? key : unknown;
}

/* ---- counting ---- */

static int count_groups(struct pf_vtab_group *g, struct pf_scan *s,
			struct pf_err *err)
{
	int rc;

	scan_start(s);
	while ((rc = scan_next_block(s, err)) > 0) {
		PF_TRY(scan_need(s, key_column(g), err));
		for (uint32_t i = s->at; i < s->end; i++)
			if (scan_passes(s, i))
				g->counts[key_at(g, s, i)]++;
	}
	return rc;
}

static void add_group(struct pf_vtab_group *g, size_t key)
{
	if (key < g->key_count && g->counts[key] && !g->offset[key]) {
		g->offset[key] = NO_PLACE;
		g->groups[g->group_count++] = (uint32_t)key;
	}
}

/* Names in the order of their texts: SQLite's own comparison. */
static int order_by_text(struct pf_vtab_group *g, struct pf_scan *s,
			 struct pf_err *err)
{
	struct pf_db *db = &s->lexicon->db;
	PF_STMT(st) = pf_db_prepare(
		db, "SELECT id FROM main.string ORDER BY text, id", err);
	int rc;

	while ((rc = pf_db_step(db, st, err)) > 0) {
		int64_t id = sqlite3_column_int64(st, 0);

		if (id >= 0)
			add_group(g, (size_t)id);
	}
	return rc;
}

static void reverse(uint32_t *groups, size_t count)
{
	for (size_t i = 0; i < count / 2; i++) {
		uint32_t swap = groups[i];

		groups[i] = groups[count - 1 - i];
		groups[count - 1 - i] = swap;
	}
}

/* Count the groups; the scan's filter is set. */
static int vtab_group_start(struct pf_vtab_group *g, struct pf_scan *s,
			    unsigned fields, struct pf_err *err)
{
	g->fields = fields;
	for (int f = 0; f < PF_FIELD_COUNT; f++)
		if (fields >> f & 1)
			g->place[f] = g->field_count++;
	g->key_count =
		1 + (g->key == PF_GROUP_CATEGORY ? s->lexicon->category_count
		     : g->key == PF_GROUP_KIND   ? PF_KIND_COUNT
						 : s->lexicon->string_count);
	g->counts = pf_calloc(g->key_count, sizeof(*g->counts));
	g->offset = pf_calloc(g->key_count, sizeof(*g->offset));
	g->groups = pf_calloc(g->key_count, sizeof(*g->groups));
	s->wanted = 0;
	PF_TRY(count_groups(g, s, err));
	add_group(g, g->key_count - 1); /* NULL comes first */
	PF_TRY(g->key == PF_GROUP_NAME && order_by_text(g, s, err));
	for (size_t i = 0; i < g->key_count; i++)
		add_group(g, i);
	if (g->is_descending)
		reverse(g->groups, g->group_count);
	return 0;
}

/* ---- passes ---- */

static uint64_t gather_columns(const struct pf_vtab_group *g)
{
	uint64_t columns = key_column(g);

	for (int f = 0; f < PF_FIELD_COUNT; f++)
		if (g->fields >> f & 1)
			columns |= field_columns[f];
	return columns;
}

static void gather_block(struct pf_vtab_group *g, struct pf_scan *s)
{
	size_t width = g->field_count;

	for (uint32_t i = s->at; i < s->end; i++) {
		size_t key = key_at(g, s, i);
		uint64_t to = g->offset[key];
		int64_t *record;

		if (to >= g->record_count || !scan_passes(s, i))
			continue;
		g->offset[key]++;
		record = g->records + to * width;
		for (int f = 0; f < PF_FIELD_COUNT; f++)
			if (g->fields >> f & 1)
				*record++ = field_at(s, (enum event_field)f, i);
	}
}

static int gather(struct pf_vtab_group *g, struct pf_scan *s,
		  struct pf_err *err)
{
	int rc;

	scan_start(s);
	while ((rc = scan_next_block(s, err)) > 0) {
		PF_TRY(scan_need(s, gather_columns(g), err));
		gather_block(g, s);
	}
	return rc;
}

/* Take as many groups as fit, one at least: 1, 0 if none is left, -1. */
static int next_pass(struct pf_vtab_group *g, struct pf_scan *s,
		     struct pf_err *err)
{
	size_t width = g->field_count ? g->field_count : 1;
	size_t room = s->lexicon->group_bytes / sizeof(int64_t) / width, from;
	size_t total = 0;

	g->record_count = g->at = 0;
	from = g->next_group;
	if (from == g->group_count)
		return 0;
	if (g->counts[g->groups[from]] > room) {
		g->walked = g->groups[from];
		g->next_group++;
		g->is_walking = true;
		s->wanted = gather_columns(g);
		scan_start(s);
		return 1;
	}
	for (; g->next_group < g->group_count; g->next_group++) {
		uint32_t key = g->groups[g->next_group];

		if (g->counts[key] > room - total)
			break;
		g->offset[key] = total;
		total += g->counts[key];
	}
	if (!g->records)
		g->records = pf_alloc(room * width * sizeof(int64_t));
	g->record_count = total;
	PF_TRY(g->field_count && gather(g, s, err));
	for (; from < g->next_group; from++)
		g->offset[g->groups[from]] = NO_PLACE;
	return 1;
}

/* The next event of the group that is walked in place. */
static int walk(struct pf_vtab_group *g, struct pf_scan *s, struct pf_err *err)
{
	int rc;

	while ((rc = scan_next(s, err)) > 0) {
		PF_TRY(scan_need(s, key_column(g), err));
		if (key_at(g, s, s->at) == g->walked)
			return 1;
	}
	g->is_walking = false;
	return rc;
}

/* To the next event: 1, 0, -1. */
static int vtab_group_next(struct pf_vtab_group *g, struct pf_scan *s,
			   struct pf_err *err)
{
	int rc;

	if (!g->is_walking && g->at + 1 < g->record_count) {
		g->at++;
		return 1;
	}
	if (g->is_walking) {
		rc = walk(g, s, err);
		if (rc)
			return rc;
	}
	rc = next_pass(g, s, err);
	return rc > 0 && g->is_walking ? walk(g, s, err) : rc;
}

/* A field of the event at hand, gathered or in place. */
static int vtab_group_field(struct pf_vtab_group *g, struct pf_scan *s,
			    enum event_field f, int64_t *value,
			    struct pf_err *err)
{
	if (g->key != PF_GROUP_NONE && !g->is_walking) {
		*value = g->records[g->at * g->field_count + g->place[f]];
		return 0;
	}
	PF_TRY(scan_need(s, field_columns[f], err));
	*value = field_at(s, f, s->at);
	return 0;
}

/* What the files of the virtual tables share.  Not for others. */

/* Columns of event, op and frame, in the order of their declaration. */
enum event_column {
	EV_ID,
	EV_TRACE_ID,
	EV_TRACK_ID,
	EV_SEQ,
	EV_PH,
	EV_CATEGORY,
	EV_KIND,
	EV_NAME,
	EV_NAME_ID,
	EV_START_NS,
	EV_DUR_NS,
	EV_END_NS,
	EV_PARENT_ID,
	EV_EXTERNAL_ID,
	EV_CORRELATION,
	EV_ARGS,
	EV_FLOW_ID,
	EV_FILE_ORDER,
	EV_COLUMN_COUNT
};

enum arg_column { ARG_EVENT_ID, ARG_KEY, ARG_VALUE, ARG_TYPE };

/* What kind of table; also which events it has. */
struct pf_vtab_shape {
	const char *name, *declaration;
	uint32_t kinds;
	bool is_arg;
};

/* Shared by the tables of a connection; the last one frees it. */
struct pf_vtab_shared {
	struct pf_lexicon *lexicon; /* NULL while no table is connected */
	size_t group_bytes;
};

struct pf_vtab {
	sqlite3_vtab base; /* first: SQLite's own */
	const struct pf_vtab_shape *shape;
	struct pf_vtab_shared *shared;
	struct pf_lexicon *lexicon;
};

struct pf_vtab_cursor {
	sqlite3_vtab_cursor base; /* first */
	bool is_ready, is_eof;
	struct pf_scan scan;
	struct pf_vtab_group group; /* in use if group.key is not NONE */
	struct pf_buf text;         /* the text given out last */
	/* table arg: the members of the event at hand */
	struct pf_buf args, wanted_key;
	bool has_wanted_key;
	struct pf_argtext walk;
	struct pf_arg member;
};

/* ---- texts ---- */

static int give_text(struct pf_vtab_cursor *c, sqlite3_context *out,
		     uint32_t id, struct pf_err *err)
{
	const char *text;
	uint32_t len;
	int rc;

	if (id == PF_ID_INLINE && c->group.key == PF_GROUP_NONE) {
		PF_TRY(scan_inline(&c->scan, 0, &text, &len, err));
		sqlite3_result_text(out, text, (int)len, SQLITE_TRANSIENT);
		return 0;
	}
	rc = pf_lexicon_string(c->scan.lexicon, id, &text, &len, err);
	if (rc > 0)
		sqlite3_result_text(out, text, (int)len,
				    rc == 1 ? SQLITE_STATIC : SQLITE_TRANSIENT);
	return rc < 0 ? -1 : 0;
}

static int fill_slots(struct pf_vtab_cursor *c, int64_t *slots,
		      struct pf_err *err)
{
	struct pf_scan *s = &c->scan;

	PF_TRY(scan_need(s, PF_COLBIT(PF_COL_MASK), err));
	for (uint32_t m = s->block.mask[s->at]; m; m &= m - 1) {
		int slot = __builtin_ctz(m);

		PF_TRY(scan_slot(s, slot, &slots[slot], err) < 0);
	}
	return 0;
}

/* The argument text with slots in place: 1 in "out", 0 no arguments, -1. */
static int build_args(struct pf_vtab_cursor *c, struct pf_buf *out,
		      struct pf_err *err)
{
	struct pf_scan *s = &c->scan;
	int64_t slots[PF_SLOT_COUNT] = { 0 };
	uint64_t all_slots = ~(PF_COLBIT(PF_COL_SLOT) - 1);
	const char *text;
	uint32_t id, inline_len;
	size_t len;

	PF_TRY(scan_need(s, PF_COLBIT(PF_COL_ARGS), err));
	id = s->block.args[s->at];
	if (id == PF_ID_NONE)
		return 0;
	PF_TRY(scan_need(s, all_slots & ((PF_COLBIT(PF_COL_COUNT)) - 1), err));
	PF_TRY(fill_slots(c, slots, err));
	if (id == PF_ID_INLINE) {
		PF_TRY(scan_inline(s, 1, &text, &inline_len, err));
		len = inline_len;
	} else {
		int rc = pf_lexicon_args_text(s->lexicon, id, &text, &len, err);

		if (rc <= 0)
			return rc;
	}
	pf_buf_clear(out);
	pf_argtext_build(text, len, s->block.mask[s->at], slots, out);
	return 1;
}

/* ---- event, op, frame ---- */

static int give_slot(struct pf_vtab_cursor *c, sqlite3_context *out, int slot,
		     struct pf_err *err)
{
	int64_t value;
	int rc = scan_slot(&c->scan, slot, &value, err);

	if (rc > 0)
		sqlite3_result_int64(out, value);
	return rc < 0 ? -1 : 0;
}

static void give_type(struct pf_vtab_cursor *c, sqlite3_context *out,
		      int column, int64_t id)
{
	const struct pf_lexicon *d = c->scan.lexicon;
	const struct pf_lexicon_type *t;

	if (id < 0 || (uint64_t)id >= d->type_count || !d->type[id].ph)
		return;
	t = d->type + id;
	if (column == EV_KIND)
		sqlite3_result_int64(out, t->kind);
	else
		sqlite3_result_text(out, column == EV_PH ? t->ph : t->category,
				    -1, SQLITE_STATIC);
}

static int give_parent(struct pf_vtab_cursor *c, sqlite3_context *out,
		       int64_t id, struct pf_err *err)
{
	int64_t distance;

	PF_TRY(vtab_group_field(&c->group, &c->scan, PF_FIELD_PARENT, &distance,
				err));
	if (distance && distance <= (id & UINT32_MAX))
		sqlite3_result_int64(out, id - distance);
	return 0;
}

/* Which field a column is made from; PF_FIELD_COUNT: none. */
static enum event_field column_field(int column)
{
	switch (column) {
	case EV_PH:
	case EV_CATEGORY:
	case EV_KIND:
		return PF_FIELD_TYPE;
	case EV_NAME:
	case EV_NAME_ID:
		return PF_FIELD_NAME;
	case EV_START_NS:
	case EV_END_NS:
		return PF_FIELD_START;
	case EV_DUR_NS:
		return PF_FIELD_DUR;
	case EV_FILE_ORDER:
		return PF_FIELD_ORDER;
	case EV_EXTERNAL_ID:
	case EV_CORRELATION:
	case EV_FLOW_ID:
	case EV_ARGS:
		return PF_FIELD_COUNT;
	default:
		return PF_FIELD_ID;
	}
}

static int give_other(struct pf_vtab_cursor *c, sqlite3_context *out,
		      int column, struct pf_err *err)
{
	int rc;

	switch (column) {
	case EV_EXTERNAL_ID:
		return give_slot(c, out, PF_SLOT_EXTERNAL_ID, err);
	case EV_CORRELATION:
		return give_slot(c, out, PF_SLOT_CORRELATION, err);
	case EV_FLOW_ID:
		return give_slot(c, out, PF_SLOT_FLOW_ID, err);
	default:
		rc = build_args(c, &c->text, err);
		if (rc > 0)
			sqlite3_result_text64(out, c->text.data, c->text.len,
					      SQLITE_TRANSIENT, SQLITE_UTF8);
		return rc < 0 ? -1 : 0;
	}
}

/* The value of a column of the event or member at hand. */
static int vtab_event_column(struct pf_vtab_cursor *c, sqlite3_context *out,
			     int column, struct pf_err *err)
{
	enum event_field field = column_field(column);
	int64_t v, dur;

	if (field == PF_FIELD_COUNT)
		return give_other(c, out, column, err);
	PF_TRY(vtab_group_field(&c->group, &c->scan, field, &v, err));
	switch (column) {
	case EV_TRACE_ID:
		v = lexicon_trace(c->scan.lexicon, (uint32_t)(v >> 32));
		break;
	case EV_TRACK_ID:
		v >>= 32;
		break;
	case EV_SEQ:
		v &= UINT32_MAX;
		break;
	case EV_PH:
	case EV_CATEGORY:
	case EV_KIND:
		give_type(c, out, column, v);
		return 0;
	case EV_NAME:
		return give_text(c, out, (uint32_t)v, err);
	case EV_NAME_ID:
		if (v >= PF_ID_INLINE)
			return 0;
		break;
	case EV_END_NS:
		PF_TRY(vtab_group_field(&c->group, &c->scan, PF_FIELD_DUR, &dur,
					err));
		v = pf_num_wrap_add(v, dur);
		break;
	case EV_PARENT_ID:
		return give_parent(c, out, v, err);
	default:
		break;
	}
	sqlite3_result_int64(out, v);
	return 0;
}

/* ---- arg ---- */

static bool key_is_wanted(struct pf_vtab_cursor *c)
{
	if (!c->has_wanted_key ||
	    memchr(c->member.key, '\\', c->member.key_len))
		return true;
	return c->member.key_len == c->wanted_key.len &&
	       !memcmp(c->member.key, c->wanted_key.data, c->member.key_len);
}

/* To the next member of table arg, across events: 1, 0, -1. */
static int vtab_next_arg(struct pf_vtab_cursor *c, struct pf_err *err)
{
	for (;;) {
		int rc;

		while (pf_argtext_next(&c->walk, &c->member))
			if (key_is_wanted(c))
				return 1;
		rc = scan_next(&c->scan, err);
		if (rc <= 0)
			return rc;
		rc = build_args(c, &c->args, err);
		PF_TRY(rc < 0);
		c->walk = (struct pf_argtext){
			.text = c->args.data,
			.len = rc ? c->args.len : 0,
		};
	}
}

static const char *json_type(const struct pf_arg *m)
{
	switch (m->value_len ? m->value[0] : 0) {
	case '"':
		return "text";
	case '{':
		return "object";
	case '[':
		return "array";
	case 't':
		return "true";
	case 'f':
		return "false";
	case 'n':
	case 0:
		return "null";
	default:
		break;
	}
	for (size_t i = 0; i < m->value_len; i++)
		if (strchr(".eEIN", m->value[i]))
			return "real";
	return "integer";
}

/* Numbers become numbers; an integer past 64 bits becomes a real one. */
static void give_number(sqlite3_context *out, const struct pf_arg *m,
			bool is_integer)
{
	char text[80];
	size_t len = m->value_len < sizeof(text) ? m->value_len : 79;
	const char *digits = text;
	int64_t v = 0;
	bool fits = is_integer, negative;

	memcpy(text, m->value, len);
	text[len] = '\0';
	negative = text[0] == '-';
	for (digits += negative; fits && *digits; digits++)
		fits = *digits >= '0' && *digits <= '9' &&
		       !__builtin_mul_overflow(v, 10, &v) &&
		       !__builtin_sub_overflow(v, *digits - '0', &v);
	if (fits && !negative)
		fits = !__builtin_sub_overflow(0, v, &v);
	if (fits)
		sqlite3_result_int64(out, v);
	else
		sqlite3_result_double(out, strtod(text, NULL));
}

static void give_value(struct pf_vtab_cursor *c, sqlite3_context *out)
{
	const struct pf_arg *m = &c->member;
	const char *type = json_type(m);

	if (!strcmp(type, "text")) {
		pf_buf_clear(&c->text);
		pf_buf_reserve(&c->text, 1);
		if (m->value_len > 2)
			pf_json_unescape(m->value + 1, m->value_len - 2,
					 &c->text);
		sqlite3_result_text64(out, c->text.data, c->text.len,
				      SQLITE_TRANSIENT, SQLITE_UTF8);
	} else if (!strcmp(type, "object") || !strcmp(type, "array")) {
		sqlite3_result_text64(out, m->value, m->value_len,
				      SQLITE_TRANSIENT, SQLITE_UTF8);
	} else if (!strcmp(type, "integer") || !strcmp(type, "real")) {
		give_number(out, m, type[0] == 'i');
	} else if (strcmp(type, "null")) {
		sqlite3_result_int(out, type[0] == 't');
	}
}

static void vtab_arg_column(struct pf_vtab_cursor *c, sqlite3_context *out,
			    int column)
{
	switch (column) {
	case ARG_EVENT_ID:
		sqlite3_result_int64(out, pf_scan_id(&c->scan));
		break;
	case ARG_KEY:
		pf_buf_clear(&c->text);
		pf_buf_reserve(&c->text, 1);
		pf_json_unescape(c->member.key, c->member.key_len, &c->text);
		sqlite3_result_text64(out, c->text.data, c->text.len,
				      SQLITE_TRANSIENT, SQLITE_UTF8);
		break;
	case ARG_VALUE:
		give_value(c, out);
		break;
	default:
		sqlite3_result_text(out, json_type(&c->member), -1,
				    SQLITE_STATIC);
	}
}

/*
 * Plans.  idxNum is the enum pf_group_key (+ DESCENDING); idxStr holds one letter for each
 * constraint that xFilter gets the value of, in order, a colon, and the used
 * columns in hexadecimal.  SQLite checks every constraint again itself, so a
 * plan may let too much pass, never too little.
 */

#define DESCENDING 16 /* in idxNum */
#define EQ         SQLITE_INDEX_CONSTRAINT_EQ
#define GE         SQLITE_INDEX_CONSTRAINT_GE
#define GT         SQLITE_INDEX_CONSTRAINT_GT
#define LE         SQLITE_INDEX_CONSTRAINT_LE
#define LT         SQLITE_INDEX_CONSTRAINT_LT

static const struct use {
	int column;
	unsigned char ops[2];
	char code;
	bool is_text;
	double share; /* of the events that pass, a guess */
} event_uses[] = {
	{ EV_ID, { EQ, EQ }, 'i', false, 1e-6 },
	{ EV_ID, { GE, GT }, '>', false, 0.3 },
	{ EV_ID, { LE, LT }, '<', false, 0.3 },
	{ EV_TRACE_ID, { EQ, EQ }, 't', false, 0.5 },
	{ EV_TRACK_ID, { EQ, EQ }, 'k', false, 0.1 },
	{ EV_START_NS, { EQ, EQ }, 's', false, 0.001 },
	{ EV_START_NS, { GE, GT }, 'g', false, 0.3 },
	{ EV_START_NS, { LE, LT }, 'l', false, 0.3 },
	{ EV_END_NS, { GE, GT }, 'e', false, 0.6 },
	{ EV_NAME, { EQ, EQ }, 'n', true, 0.02 },
	{ EV_NAME_ID, { EQ, EQ }, 'm', false, 0.02 },
	{ EV_KIND, { EQ, EQ }, 'd', false, 0.2 },
	{ EV_CATEGORY, { EQ, EQ }, 'c', true, 0.2 },
}, arg_uses[] = {
	{ ARG_EVENT_ID, { EQ, EQ }, 'i', false, 1e-6 },
	{ ARG_EVENT_ID, { GE, GT }, '>', false, 0.3 },
	{ ARG_EVENT_ID, { LE, LT }, '<', false, 0.3 },
	{ ARG_KEY, { EQ, EQ }, 'y', true, 0.1 },
};

#define COUNT(a) (sizeof(a) / sizeof(*(a)))

/* ---- xBestIndex ---- */

static const struct use *find_use(const struct pf_vtab *v,
				  sqlite3_index_info *info, int i)
{
	const struct sqlite3_index_constraint *k = info->aConstraint + i;
	const struct use *uses = v->shape->is_arg ? arg_uses : event_uses;
	size_t count = v->shape->is_arg ? COUNT(arg_uses) : COUNT(event_uses);

	for (size_t u = 0; u < count; u++) {
		if (uses[u].column != k->iColumn ||
		    (uses[u].ops[0] != k->op && uses[u].ops[1] != k->op))
			continue;
		if (uses[u].is_text &&
		    strcmp(sqlite3_vtab_collation(info, i), "BINARY"))
			continue;
		return uses + u;
	}
	return NULL;
}

/* Fields for the used columns; false if one cannot be gathered. */
static bool gather_fields(uint64_t used, unsigned *fields)
{
	static const unsigned of[EV_COLUMN_COUNT] = {
		[EV_ID] = 1u << PF_FIELD_ID,
		[EV_TRACE_ID] = 1u << PF_FIELD_ID,
		[EV_TRACK_ID] = 1u << PF_FIELD_ID,
		[EV_SEQ] = 1u << PF_FIELD_ID,
		[EV_PH] = 1u << PF_FIELD_TYPE,
		[EV_CATEGORY] = 1u << PF_FIELD_TYPE,
		[EV_KIND] = 1u << PF_FIELD_TYPE,
		[EV_NAME] = 1u << PF_FIELD_NAME,
		[EV_NAME_ID] = 1u << PF_FIELD_NAME,
		[EV_START_NS] = 1u << PF_FIELD_START,
		[EV_DUR_NS] = 1u << PF_FIELD_DUR,
		[EV_END_NS] = 1u << PF_FIELD_START | 1u << PF_FIELD_DUR,
		[EV_PARENT_ID] = 1u << PF_FIELD_ID | 1u << PF_FIELD_PARENT,
		[EV_FILE_ORDER] = 1u << PF_FIELD_ORDER,
	};

	*fields = 0;
	for (int c = 0; c < EV_COLUMN_COUNT; c++) {
		if (!(used >> c & 1))
			continue;
		if (!of[c])
			return false;
		*fields |= of[c];
	}
	return true;
}

/*
 * Groups always come sorted, even where sqlite3_vtab_distinct() says that
 * "together" is enough: SQLite 3.40 says so also when it then leaves out the
 * sorting for an equal ORDER BY.
 */
static enum pf_group_key order_key(struct pf_vtab *v, sqlite3_index_info *info)
{
	unsigned fields;

	if (v->shape->is_arg || info->nOrderBy != 1 || v->lexicon->has_inline ||
	    !gather_fields(info->colUsed, &fields))
		return PF_GROUP_NONE;
	switch (info->aOrderBy[0].iColumn) {
	case EV_NAME:
		return PF_GROUP_NAME;
	case EV_NAME_ID:
		return PF_GROUP_NAME_ID;
	case EV_CATEGORY:
		return PF_GROUP_CATEGORY;
	case EV_KIND:
		return PF_GROUP_KIND;
	default:
		return PF_GROUP_NONE;
	}
}

/* Rows come in order of id, and so of track within one group of them. */
static bool is_natural_order(struct pf_vtab *v, sqlite3_index_info *info)
{
	int column;

	if (info->nOrderBy != 1 || info->aOrderBy[0].desc)
		return false;
	column = info->aOrderBy[0].iColumn;
	return v->shape->is_arg ? column == ARG_EVENT_ID
				: column == EV_ID || column == EV_TRACK_ID;
}

/*
 * Is the constraint's value the same for the whole statement?  If it is not,
 * xFilter may be called for each row of another table: nothing to prepare
 * groups for.
 */
static bool is_known(sqlite3_index_info *info, int i)
{
	sqlite3_value *value;

	return sqlite3_vtab_rhs_value(info, i, &value) == SQLITE_OK;
}

/* Which constraints help, and what xFilter gets of them. */
static int vtab_plan(struct pf_vtab *v, sqlite3_index_info *info)
{
	double rows = v->shape->is_arg ? 4e7 : 5e6;
	char codes[COUNT(event_uses) * 4 + 1];
	enum pf_group_key key = PF_GROUP_NONE;
	bool is_joined = false;
	int count = 0;

	for (int i = 0; i < info->nConstraint; i++) {
		const struct use *u = find_use(v, info, i);

		if (!u || !info->aConstraint[i].usable ||
		    (size_t)count + 1 >= sizeof(codes))
			continue;
		codes[count++] = u->code;
		info->aConstraintUsage[i].argvIndex = count;
		rows *= u->share;
		is_joined |= !is_known(info, i);
	}
	codes[count] = '\0';
	if (is_natural_order(v, info))
		info->orderByConsumed = 1;
	else if (!is_joined)
		key = order_key(v, info);
	if (key != PF_GROUP_NONE)
		info->orderByConsumed = 1;
	info->idxNum = (int)key;
	if (key != PF_GROUP_NONE && info->aOrderBy[0].desc)
		info->idxNum |= DESCENDING;
	info->idxStr = sqlite3_mprintf("%s:%llx", codes, info->colUsed);
	info->needToFreeIdxStr = 1;
	info->estimatedRows = rows < 1 ? 1 : (sqlite3_int64)rows;
	info->estimatedCost = rows + 100;
	if (strchr(codes, 'i') && !v->shape->is_arg)
		info->idxFlags = SQLITE_INDEX_SCAN_UNIQUE;
	return info->idxStr ? SQLITE_OK : SQLITE_NOMEM;
}

/* ---- xFilter ---- */

static void raise(int64_t *limit, int64_t v)
{
	if (v > *limit)
		*limit = v;
}

static void lower(int64_t *limit, int64_t v)
{
	if (v < *limit)
		*limit = v;
}

static void apply_integer(struct pf_filter *f, char code, int64_t v)
{
	switch (code) {
	case 'i':
		raise(&f->id_low, v);
		lower(&f->id_high, v);
		break;
	case '>':
		raise(&f->id_low, v);
		break;
	case '<':
		lower(&f->id_high, v);
		break;
	case 't':
		f->trace_id = v < 0 ? INT64_MAX : v;
		break;
	case 'k':
		v = v < 0 ? -1 : v > INT32_MAX ? INT32_MAX : v;
		raise(&f->id_low, v < 0 ? INT64_MAX : v << 32);
		lower(&f->id_high, v < 0 ? -1 : v << 32 | UINT32_MAX);
		break;
	case 's':
		raise(&f->start_low, v);
		lower(&f->start_high, v);
		break;
	case 'g':
		raise(&f->start_low, v);
		break;
	case 'l':
		lower(&f->start_high, v);
		break;
	case 'e':
		raise(&f->end_low, v);
		break;
	case 'm':
		f->is_none |= v < 0 || v > UINT32_MAX;
		f->name = v;
		f->name_is_exact = true;
		break;
	case 'd':
		f->kinds &= v < 0 || v >= PF_KIND_COUNT ? 0 : 1u << v;
		break;
	default:
		break;
	}
}

static int apply_text(struct pf_vtab_cursor *c, char code, const char *text,
		      int len, struct pf_err *err)
{
	struct pf_filter *f = &c->scan.filter;
	const struct pf_lexicon *d = c->scan.lexicon;

	if (code == 'y' && !c->has_wanted_key) {
		pf_buf_clear(&c->wanted_key);
		pf_buf_add(&c->wanted_key, text, (size_t)len);
		c->has_wanted_key = true;
	} else if (code == 'n' && f->name == -1) {
		int64_t id =
			lexicon_find_string(c->scan.lexicon, text, len, err);

		if (id == -2)
			return -1;
		f->name = id >= 0 ? id : PF_ID_INLINE;
		f->is_none |= id < 0 && !d->has_inline;
	} else if (code == 'c') {
		f->category_rank = INT64_MAX; /* unless it is found */
		for (size_t i = 0; i < d->type_count; i++)
			if (d->type[i].ph && !strcmp(d->type[i].category, text))
				f->category_rank = d->type[i].category_rank;
	}
	return 0;
}

/* Nothing compares with NULL; values of other types are left to SQLite. */
static int apply(struct pf_vtab_cursor *c, char code, sqlite3_value *value,
		 struct pf_err *err)
{
	bool is_text = code == 'n' || code == 'c' || code == 'y';
	int type = sqlite3_value_type(value);
	const unsigned char *text;

	c->scan.filter.is_none |= type == SQLITE_NULL;
	if (!is_text && type == SQLITE_INTEGER)
		apply_integer(&c->scan.filter, code,
			      sqlite3_value_int64(value));
	if (!is_text || type != SQLITE_TEXT)
		return 0;
	text = sqlite3_value_text(value);
	if (!text)
		return 0;
	return apply_text(c, code, (const char *)text,
			  sqlite3_value_bytes(value), err);
}

static uint64_t wanted_columns(const struct pf_vtab *v, uint64_t used)
{
	static const uint64_t of[EV_COLUMN_COUNT] = {
		[EV_PH] = PF_COLBIT(PF_COL_TYPE),
		[EV_CATEGORY] = PF_COLBIT(PF_COL_TYPE),
		[EV_KIND] = PF_COLBIT(PF_COL_TYPE),
		[EV_NAME] = PF_COLBIT(PF_COL_NAME),
		[EV_NAME_ID] = PF_COLBIT(PF_COL_NAME),
		[EV_START_NS] = PF_COLBIT(PF_COL_START),
		[EV_DUR_NS] = PF_COLBIT(PF_COL_DUR),
		[EV_END_NS] = PF_COLBIT(PF_COL_START) | PF_COLBIT(PF_COL_DUR),
		[EV_PARENT_ID] = PF_COLBIT(PF_COL_PARENT),
		[EV_EXTERNAL_ID] = PF_COLBIT(PF_COL_SLOT + PF_SLOT_EXTERNAL_ID),
		[EV_CORRELATION] = PF_COLBIT(PF_COL_SLOT + PF_SLOT_CORRELATION),
		[EV_ARGS] = PF_COLBIT(PF_COL_ARGS) | PF_COLBIT(PF_COL_MASK),
		[EV_FLOW_ID] = PF_COLBIT(PF_COL_SLOT + PF_SLOT_FLOW_ID),
		[EV_FILE_ORDER] = PF_COLBIT(PF_COL_ORDER),
	};
	uint64_t columns = 0;

	if (v->shape->is_arg)
		return PF_COLBIT(PF_COL_ARGS) | PF_COLBIT(PF_COL_MASK);
	for (int c = 0; c < EV_COLUMN_COUNT; c++)
		if (used >> c & 1)
			columns |= of[c];
	return columns;
}

static int vtab_apply(struct pf_vtab_cursor *c, int plan, const char *codes,
		      sqlite3_value **values, struct pf_err *err)
{
	const struct pf_vtab *v = (const struct pf_vtab *)c->base.pVtab;
	uint64_t used;
	unsigned fields;

	filter_init(&c->scan.filter);
	c->scan.filter.kinds = v->shape->kinds;
	c->has_wanted_key = false;
	for (; *codes && *codes != ':'; codes++, values++)
		PF_TRY(apply(c, *codes, *values, err));
	used = *codes ? strtoull(codes + 1, NULL, 16) : UINT64_MAX;
	vtab_group_release(&c->group);
	if (plan != PF_GROUP_NONE && gather_fields(used, &fields)) {
		c->group.key = (enum pf_group_key)(plan & ~DESCENDING);
		c->group.is_descending = plan & DESCENDING;
		return vtab_group_start(&c->group, &c->scan, fields, err);
	}
	c->scan.wanted = wanted_columns(v, used);
	scan_start(&c->scan);
	return 0;
}

#define EVENT_COLUMNS                                                          \
	"CREATE TABLE x(id INTEGER PRIMARY KEY, trace_id INTEGER,"             \
	" track_id INTEGER, seq INTEGER, ph TEXT, category TEXT,"              \
	" kind INTEGER, name TEXT, name_id INTEGER, start_ns INTEGER,"         \
	" dur_ns INTEGER, end_ns INTEGER, parent_id INTEGER,"                  \
	" external_id INTEGER, correlation INTEGER, args TEXT,"                \
	" flow_id INTEGER, file_order INTEGER) WITHOUT ROWID"

static const struct pf_vtab_shape shapes[] = {
	{ "event", EVENT_COLUMNS, PF_KINDS_ALL, false },
	{ "op", EVENT_COLUMNS,
	  1u << PF_KIND_HOST | 1u << PF_KIND_CPU_OP | 1u << PF_KIND_ANNOTATION,
	  false },
	{ "frame", EVENT_COLUMNS, 1u << PF_KIND_PYTHON, false },
	{ "arg",
	  "CREATE TABLE x(event_id INTEGER, key TEXT, value, type TEXT,"
	  " PRIMARY KEY (event_id, key)) WITHOUT ROWID",
	  PF_KINDS_ALL, true },
};

/* What a module owns: which table it is, and what all tables share. */
struct module {
	const struct pf_vtab_shape *shape;
	struct pf_vtab_shared *shared;
	unsigned *users; /* of shared */
};

/* ---- errors ---- */

static int tell(sqlite3_vtab *base, const struct pf_err *err)
{
	sqlite3_free(base->zErrMsg);
	base->zErrMsg = sqlite3_mprintf("%s", err->text);
	return err->code == PF_EIO ? SQLITE_IOERR : SQLITE_CORRUPT_VTAB;
}

/* ---- tables ---- */

static int connect_table(sqlite3 *sql, void *aux, int argc,
			 const char *const *argv, sqlite3_vtab **out,
			 char **message)
{
	struct module *m = aux;
	struct pf_vtab *v;
	int rc = sqlite3_declare_vtab(sql, m->shape->declaration);

	(void)argc;
	(void)argv;
	(void)message;
	if (rc)
		return rc;
	sqlite3_vtab_config(sql, SQLITE_VTAB_INNOCUOUS);
	v = pf_calloc(1, sizeof(*v));
	v->shape = m->shape;
	v->shared = m->shared;
	if (m->shared->lexicon)
		m->shared->lexicon->users++;
	else
		m->shared->lexicon =
			pf_lexicon_open(sql, m->shared->group_bytes);
	v->lexicon = m->shared->lexicon;
	*out = &v->base;
	return SQLITE_OK;
}

static int disconnect_table(sqlite3_vtab *base)
{
	PF_OWN struct pf_vtab *v = (struct pf_vtab *)base;

	if (v->lexicon->users == 1)
		v->shared->lexicon = NULL;
	pf_lexicon_close(v->lexicon);
	return SQLITE_OK;
}

static int best_index(sqlite3_vtab *base, sqlite3_index_info *info)
{
	struct pf_vtab *v = (struct pf_vtab *)base;
	struct pf_err err = { 0 };

	if (pf_lexicon_load(v->lexicon, &err))
		return tell(base, &err);
	return vtab_plan(v, info);
}

/* ---- cursors ---- */

static int open_cursor(sqlite3_vtab *base, sqlite3_vtab_cursor **out)
{
	struct pf_vtab_cursor *c = pf_calloc(1, sizeof(*c));

	(void)base;
	*out = &c->base;
	return SQLITE_OK;
}

static int close_cursor(sqlite3_vtab_cursor *base)
{
	PF_OWN struct pf_vtab_cursor *c = (struct pf_vtab_cursor *)base;

	scan_release(&c->scan);
	vtab_group_release(&c->group);
	pf_buf_release(&c->text);
	pf_buf_release(&c->args);
	pf_buf_release(&c->wanted_key);
	return SQLITE_OK;
}

static int next_row(sqlite3_vtab_cursor *base)
{
	struct pf_vtab_cursor *c = (struct pf_vtab_cursor *)base;
	struct pf_vtab *v = (struct pf_vtab *)base->pVtab;
	struct pf_err err = { 0 };
	int rc;

	if (v->shape->is_arg)
		rc = vtab_next_arg(c, &err);
	else if (c->group.key != PF_GROUP_NONE)
		rc = vtab_group_next(&c->group, &c->scan, &err);
	else
		rc = scan_next(&c->scan, &err);
	c->is_eof = rc <= 0;
	return rc < 0 ? tell(base->pVtab, &err) : SQLITE_OK;
}

static int filter(sqlite3_vtab_cursor *base, int plan, const char *codes,
		  int argc, sqlite3_value **argv)
{
	struct pf_vtab_cursor *c = (struct pf_vtab_cursor *)base;
	struct pf_vtab *v = (struct pf_vtab *)base->pVtab;
	struct pf_err err = { 0 };

	(void)argc;
	c->is_eof = true;
	if (!c->is_ready) {
		if (pf_lexicon_load(v->lexicon, &err) ||
		    scan_init(&c->scan, v->lexicon, &err)) {
			scan_release(&c->scan);
			return tell(base->pVtab, &err);
		}
		c->is_ready = true;
	}
	memset(&c->walk, 0, sizeof(c->walk));
	if (vtab_apply(c, plan, codes ? codes : "", argv, &err))
		return tell(base->pVtab, &err);
	return next_row(base);
}

static int is_eof(sqlite3_vtab_cursor *base)
{
	return ((struct pf_vtab_cursor *)base)->is_eof;
}

static int column(sqlite3_vtab_cursor *base, sqlite3_context *out, int i)
{
	struct pf_vtab_cursor *c = (struct pf_vtab_cursor *)base;
	const struct pf_vtab *v = (const struct pf_vtab *)base->pVtab;
	struct pf_err err = { 0 };

	if (v->shape->is_arg)
		vtab_arg_column(c, out, i);
	else if (vtab_event_column(c, out, i, &err))
		return tell(base->pVtab, &err);
	return SQLITE_OK;
}

static int no_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *out)
{
	(void)base;
	*out = 0;
	return SQLITE_OK;
}

/* Without xCreate: the tables are there by name alone. */
static const sqlite3_module methods = {
	.iVersion = 2,
	.xConnect = connect_table,
	.xBestIndex = best_index,
	.xDisconnect = disconnect_table,
	.xOpen = open_cursor,
	.xClose = close_cursor,
	.xFilter = filter,
	.xNext = next_row,
	.xEof = is_eof,
	.xColumn = column,
	.xRowid = no_rowid,
};

/* ---- registration ---- */

static void free_module(void *p)
{
	PF_OWN struct module *m = p;

	if (--*m->users == 0) {
		free(m->users);
		free(m->shared);
	}
}

#define GROUP_BYTES ((size_t)24 << 20) /* of the buffer for GROUP BY */

static int vtab_register_with(sqlite3 *sql, size_t group_bytes,
			      struct pf_err *err)
{
	size_t count = PF_LEN(shapes);
	struct pf_vtab_shared *shared = pf_calloc(1, sizeof(*shared));
	unsigned *users = pf_calloc(1, sizeof(*users));
	int rc = SQLITE_OK;

	*users = (unsigned)count;
	shared->group_bytes = group_bytes;
	for (size_t i = 0; i < count; i++) {
		struct module *m = pf_calloc(1, sizeof(*m));

		m->shape = &shapes[i];
		m->shared = shared;
		m->users = users;
		/* SQLite frees the module, also when this fails. */
		if (sqlite3_create_module_v2(sql, shapes[i].name, &methods, m,
					     free_module))
			rc = SQLITE_ERROR;
	}
	if (rc ||
	    sqlite3_exec(sql, pf_asset("schema/views_read.sql", NULL), NULL,
			 NULL, NULL) ||
	    sqlite3_exec(sql, pf_asset("schema/views_event.sql", NULL), NULL,
			 NULL, NULL))
		return pf_fail(err, PF_EDB, "cannot register tables: %s",
			       sqlite3_errmsg(sql));
	return 0;
}

int pf_vtab_register(sqlite3 *sql, struct pf_err *err)
{
	return vtab_register_with(sql, GROUP_BYTES, err);
}
