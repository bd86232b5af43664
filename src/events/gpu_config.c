/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <stdlib.h>

#include "events/gpu_config.h"
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

const struct pf_gpu_config *pf_gpu_configs_find(const struct pf_gpu_configs *c,
						int64_t id)
{
	size_t low = PF_SEARCH(i, c->count, c->items[i].id < id);

	return low < c->count && c->items[low].id == id ? &c->items[low] : NULL;
}

void pf_gpu_configs_release(struct pf_gpu_configs *c)
{
	free(c->items);
	pf_arena_release(&c->texts);
	*c = (struct pf_gpu_configs){ 0 };
}
