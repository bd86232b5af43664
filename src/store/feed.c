/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <stdlib.h>

#include "base/buf.h"
#include "base/mem.h"
#include "store/feed.h"

struct feed_table {
	sqlite3_vtab base;
	const struct pf_feed *feed;
};

struct feed_cursor {
	sqlite3_vtab_cursor base;
	const struct pf_feed *feed;
	size_t at;
};

static int connect(sqlite3 *sql, void *feed, int argc, const char *const *argv,
		   sqlite3_vtab **out, char **message)
{
	struct pf_buf text = { 0 };
	struct feed_table *t;
	int rc;

	(void)argc;
	(void)argv;
	(void)message;
	pf_buf_adds(&text, "CREATE TABLE feed(");
	for (int i = 0; i < PF_FEED_COLUMNS; i++)
		pf_buf_addf(&text, "%sc%d", i ? "," : "", i);
	pf_buf_adds(&text, ")");
	rc = sqlite3_declare_vtab(sql, text.data);
	pf_buf_release(&text);
	if (rc)
		return rc;
	t = pf_calloc(1, sizeof(*t));
	t->feed = feed;
	*out = &t->base;
	return SQLITE_OK;
}

static int disconnect(sqlite3_vtab *base)
{
	free(base);
	return SQLITE_OK;
}

static int best_index(sqlite3_vtab *base, sqlite3_index_info *info)
{
	(void)base;
	info->estimatedRows = PF_FEED_ROWS;
	info->estimatedCost = PF_FEED_ROWS;
	return SQLITE_OK;
}

static int open_cursor(sqlite3_vtab *base, sqlite3_vtab_cursor **out)
{
	struct feed_cursor *c = pf_calloc(1, sizeof(*c));

	c->feed = ((struct feed_table *)base)->feed;
	*out = &c->base;
	return SQLITE_OK;
}

static int close_cursor(sqlite3_vtab_cursor *base)
{
	free(base);
	return SQLITE_OK;
}

static int filter(sqlite3_vtab_cursor *base, int index, const char *text,
		  int argc, sqlite3_value **argv)
{
	(void)index;
	(void)text;
	(void)argc;
	(void)argv;
	((struct feed_cursor *)base)->at = 0;
	return SQLITE_OK;
}

static int next(sqlite3_vtab_cursor *base)
{
	((struct feed_cursor *)base)->at++;
	return SQLITE_OK;
}

static int is_end(sqlite3_vtab_cursor *base)
{
	const struct feed_cursor *c = (struct feed_cursor *)base;

	return c->at >= c->feed->count;
}

static int column(sqlite3_vtab_cursor *base, sqlite3_context *out, int i)
{
	const struct feed_cursor *c = (struct feed_cursor *)base;
	const struct pf_feed_row *row = &c->feed->rows[c->at];

	if (!(row->nulls >> i & 1))
		sqlite3_result_int64(out, row->cell[i]);
	return SQLITE_OK;
}

static int rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *out)
{
	*out = (sqlite3_int64)((struct feed_cursor *)base)->at;
	return SQLITE_OK;
}

/* Without a way to create one it is there by its name alone. */
static const sqlite3_module module = {
	.xConnect = connect,
	.xDisconnect = disconnect,
	.xBestIndex = best_index,
	.xOpen = open_cursor,
	.xClose = close_cursor,
	.xFilter = filter,
	.xNext = next,
	.xEof = is_end,
	.xColumn = column,
	.xRowid = rowid,
};

int pf_feed_register(struct pf_db *db, const struct pf_feed *feed,
		     struct pf_err *err)
{
	if (sqlite3_create_module(db->sql, "feed", &module, (void *)feed))
		return pf_db_fail(db, "cannot prepare a table", err);
	return 0;
}

void pf_feed_drop(struct pf_db *db)
{
	sqlite3_create_module(db->sql, "feed", NULL, NULL);
}
