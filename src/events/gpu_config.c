/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "events/gpu_config.h"
#include "base/sat.h"
#include "base/search.h"
#include "store/query.h"

#define GAPS_MOST      16    /* ids a configuration, in a table of them */
#define DEFAULT_SHARED 49152 /* bytes a block may have without asking */

/* -1 also for what no device reports. */
static double real_or_none(sqlite3_stmt *stmt, int column)
{
	double d = sqlite3_column_type(stmt, column) == SQLITE_NULL
			   ? -1
			   : sqlite3_column_double(stmt, column);

	return d >= 0 && d <= 1e12 ? d : -1;
}

static void read_row(sqlite3_stmt *stmt, struct pf_gpu_config *c)
{
	c->id = sqlite3_column_int64(stmt, 0);
	c->device = pf_db_int_or(stmt, 1, -1);
	c->stream = pf_db_int_or(stmt, 2, -1);
	for (int i = 0; i < 3; i++) {
		c->grid[i] = pf_db_int_or(stmt, 3 + i, -1);
		c->block[i] = pf_db_int_or(stmt, 6 + i, -1);
	}
	c->registers = pf_db_int_or(stmt, 9, -1);
	c->shared_bytes = pf_db_int_or(stmt, 10, -1);
	c->blocks_per_sm = real_or_none(stmt, 11);
	c->occupancy = real_or_none(stmt, 12);
	if (c->occupancy == 0 && c->shared_bytes > DEFAULT_SHARED)
		c->occupancy = -1;
}

/*
 * Ids ascend with few gaps: a table of them is small.  One is looked up for
 * each event, and no processor foresees which way a search goes.
 */
static void list_places(struct pf_gpu_configs *c)
{
	const int64_t first = c->count ? c->items[0].id : 0;
	const int64_t last = c->count ? c->items[c->count - 1].id : -1;
	const int64_t range = pf_sat_sub(last, first);

	if (range < 0 || range / GAPS_MOST > (int64_t)c->count)
		return;
	c->places = pf_alloc(((size_t)range + 1) * sizeof(*c->places));
	memset(c->places, 0xff, ((size_t)range + 1) * sizeof(*c->places));
	for (size_t i = 0; i < c->count; i++)
		if (c->items[i].id >= first && c->items[i].id <= last)
			c->places[c->items[i].id - first] = (uint32_t)i;
}

int pf_gpu_configs_load(struct pf_gpu_configs *c, struct pf_db *db,
			struct pf_err *err)
{
	sqlite3_stmt *stmt = pf_named_prepare(db, "gpu_configs", err);
	size_t cap = 0;
	int rc;

	if (!stmt)
		return -1;
	while ((rc = pf_db_step(db, stmt, err)) == 1) {
		c->items = pf_grow(c->items, &cap, c->count + 1,
				   sizeof(*c->items));
		read_row(stmt, &c->items[c->count]);
		c->items[c->count++].op_name = pf_arena_string(
			&c->texts, (const char *)sqlite3_column_text(stmt, 13));
	}
	sqlite3_finalize(stmt);
	if (!rc)
		list_places(c);
	return rc;
}

const struct pf_gpu_config *pf_gpu_configs_find(const struct pf_gpu_configs *c,
						int64_t id)
{
	const struct pf_gpu_config *items = c->items;
	size_t at, top = c->count - 1;

	if (!c->count || id < items[0].id || id > items[top].id)
		return NULL;
	if (c->places) {
		at = c->places[id - items[0].id];
		return at < c->count ? &items[at] : NULL;
	}
	at = PF_SEARCH(i, top, items[i].id < id);
	return items[at].id == id ? &items[at] : NULL;
}

void pf_gpu_configs_release(struct pf_gpu_configs *c)
{
	free(c->items);
	free(c->places);
	pf_arena_release(&c->texts);
	*c = (struct pf_gpu_configs){ 0 };
}
