/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "store/vtab_group.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define NO_PLACE UINT64_MAX

void pf_vtab_group_release(struct pf_vtab_group *g)
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
static int64_t field_at(const struct pf_scan *s, enum pf_field f, uint32_t i)
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

	pf_scan_start(s);
	while ((rc = pf_scan_next_block(s, err)) > 0) {
		if (pf_scan_need(s, key_column(g), err))
			return -1;
		for (uint32_t i = s->at; i < s->end; i++)
			if (pf_scan_passes(s, i))
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
	sqlite3_stmt *st = pf_db_prepare(
		db, "SELECT id FROM main.string ORDER BY text, id", err);
	int rc = st ? 0 : -1;

	while (st && (rc = pf_db_step(db, st, err)) > 0) {
		int64_t id = sqlite3_column_int64(st, 0);

		if (id >= 0)
			add_group(g, (size_t)id);
	}
	sqlite3_finalize(st);
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

int pf_vtab_group_start(struct pf_vtab_group *g, struct pf_scan *s,
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
	if (count_groups(g, s, err))
		return -1;
	add_group(g, g->key_count - 1); /* NULL comes first */
	if (g->key == PF_GROUP_NAME && order_by_text(g, s, err))
		return -1;
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

		if (to >= g->record_count || !pf_scan_passes(s, i))
			continue;
		g->offset[key]++;
		record = g->records + to * width;
		for (int f = 0; f < PF_FIELD_COUNT; f++)
			if (g->fields >> f & 1)
				*record++ = field_at(s, (enum pf_field)f, i);
	}
}

static int gather(struct pf_vtab_group *g, struct pf_scan *s,
		  struct pf_err *err)
{
	int rc;

	pf_scan_start(s);
	while ((rc = pf_scan_next_block(s, err)) > 0) {
		if (pf_scan_need(s, gather_columns(g), err))
			return -1;
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
		pf_scan_start(s);
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
	if (g->field_count && gather(g, s, err))
		return -1;
	for (; from < g->next_group; from++)
		g->offset[g->groups[from]] = NO_PLACE;
	return 1;
}

/* The next event of the group that is walked in place. */
static int walk(struct pf_vtab_group *g, struct pf_scan *s, struct pf_err *err)
{
	int rc;

	while ((rc = pf_scan_next(s, err)) > 0) {
		if (pf_scan_need(s, key_column(g), err))
			return -1;
		if (key_at(g, s, s->at) == g->walked)
			return 1;
	}
	g->is_walking = false;
	return rc;
}

int pf_vtab_group_next(struct pf_vtab_group *g, struct pf_scan *s,
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

int pf_vtab_group_field(struct pf_vtab_group *g, struct pf_scan *s,
			enum pf_field f, int64_t *value, struct pf_err *err)
{
	if (g->key != PF_GROUP_NONE && !g->is_walking) {
		*value = g->records[g->at * g->field_count + g->place[f]];
		return 0;
	}
	if (pf_scan_need(s, field_columns[f], err))
		return -1;
	*value = field_at(s, f, s->at);
	return 0;
}
