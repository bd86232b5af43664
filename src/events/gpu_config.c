/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <stdlib.h>

#include "events/gpu_config.h"
#include "base/sat.h"
#include "base/search.h"
#include "store/named.h"

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
	return rc;
}

/* Ids ascend with few gaps, so there are few places where one can be. */
const struct pf_gpu_config *pf_gpu_configs_find(const struct pf_gpu_configs *c,
						int64_t id)
{
	int64_t first, last, top = (int64_t)c->count - 1;
	const struct pf_gpu_config *items;
	size_t at;

	if (!c->count || id < c->items[0].id || id > c->items[top].id)
		return NULL;
	first = top - pf_sat_sub(c->items[top].id, id);
	last = pf_sat_sub(id, c->items[0].id);
	first = first > 0 ? first : 0;
	last = last < top ? last : top;
	if (first > last) /* they do not ascend */
		return NULL;
	items = c->items + first;
	at = PF_SEARCH(i, (size_t)(last - first), items[i].id < id);
	return items[at].id == id ? &items[at] : NULL;
}

void pf_gpu_configs_release(struct pf_gpu_configs *c)
{
	free(c->items);
	pf_arena_release(&c->texts);
	*c = (struct pf_gpu_configs){ 0 };
}
