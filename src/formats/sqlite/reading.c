/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "base/num.h"
#include "formats/sqlite/reading.h"

void pf_reading_release(struct pf_reading *g)
{
	if (g->is_open)
		pf_rows_close(&g->rows);
	free(g->rest);
	*g = (struct pf_reading){ 0 };
}

const char *pf_reading_find(const struct pf_reading *g, const char *name)
{
	char full[256];

	if (!g->suffix)
		return pf_foreign_table(g->f, name);
	snprintf(full, sizeof(full), "%s%s", name, g->suffix);
	return pf_foreign_table(g->f, full);
}

/* "NVTX_EVENTS_V2" of "NVTX_EVENTS": 2; 0: it is none. */
static int64_t version_of(const char *table, const char *name)
{
	size_t n = strlen(name);

	return strncasecmp(table, name, n) || strncasecmp(table + n, "_V", 2)
		       ? 0
		       : pf_num_or_none(table + n + 2);
}

static bool has_columns(const struct pf_reading *g, const char *table,
			const struct pf_reading_table *t)
{
	struct pf_err ignored = { 0 };
	uint64_t must = (UINT64_C(1) << t->must) - 1;
	struct pf_rows r;
	bool has = !pf_rows_open(&r, g->f, table, t->columns, t->column_count,
				 NULL, &ignored) &&
		   (r.has & must) == must;

	pf_rows_close(&r);
	return has;
}

const char *pf_reading_version(const struct pf_reading *g,
			       const struct pf_reading_table *t)
{
	const char *found = pf_reading_find(g, t->name);
	int64_t last = 0;

	for (size_t i = 0; !found && t->must && i < g->f->table_count; i++)
		if (version_of(g->f->tables[i], t->name) > last &&
		    has_columns(g, g->f->tables[i], t))
			last = version_of(g->f->tables[i], t->name);
	for (size_t i = 0; last > 0 && i < g->f->table_count; i++)
		if (version_of(g->f->tables[i], t->name) == last)
			found = g->f->tables[i];
	return found;
}

/* ---- tables ---- */

/* Open the table at hand: 1, 0 if there is none. */
static int open_table(struct pf_reading *g, struct pf_err *err)
{
	const struct pf_reading_table *t = g->tables[g->at];
	const char *name = pf_reading_version(g, t);

	if (!name || (t->wanted && !t->wanted(g->reader)))
		return 0;
	if (pf_rows_open(&g->rows, g->f, name, t->columns, t->column_count,
			 t->where, err)) {
		pf_rows_close(&g->rows);
		return -1;
	}
	g->is_open = true;
	return 1;
}

static int close_table(struct pf_reading *g, struct pf_err *err)
{
	const struct pf_reading_table *t = g->tables[g->at++];

	if (g->is_open)
		pf_rows_close(&g->rows);
	g->is_open = false;
	return t->end ? t->end(g->reader, err) : 0;
}

/* 1: the batch is full, 0: the table has no more. */
static int read_table(struct pf_reading *g, size_t most, struct pf_err *err)
{
	const struct pf_reading_table *t = g->tables[g->at];
	int rc;

	if (!g->is_open) {
		rc = open_table(g, err);
		if (rc <= 0)
			return rc;
	}
	while (!pf_sink_is_full(g->sink, most)) {
		rc = pf_rows_next(&g->rows, err);
		if (rc <= 0)
			return rc;
		if (t->map(g->reader, &g->rows, err))
			return -1;
		g->sink->parsed.batch.event_count++;
	}
	return 1;
}

int pf_reading_fill(struct pf_reading *g, size_t most, struct pf_err *err)
{
	while (g->at < g->table_count) {
		int rc = read_table(g, most, err);

		if (rc)
			return rc;
		if (close_table(g, err))
			return -1;
	}
	return 0;
}

int pf_reading_each(struct pf_reading *g, const char *name,
		    const char *const *columns, size_t count,
		    int (*row)(void *, const struct pf_rows *, struct pf_err *),
		    struct pf_err *err)
{
	const char *table = pf_reading_find(g, name);
	struct pf_rows r;
	int rc;

	if (!table)
		return 0;
	rc = pf_rows_open(&r, g->f, table, columns, count, NULL, err);
	if (!rc)
		while ((rc = pf_rows_next(&r, err)) == 1) {
			rc = row(g->reader, &r, err);
			if (rc)
				break;
		}
	pf_rows_close(&r);
	return rc < 0 ? -1 : 0;
}

/* ---- rows ---- */

bool pf_reading_times(struct pf_reading *g, const struct pf_rows *r,
		      struct pf_sink_put *put)
{
	int64_t start_ns, end_ns;
	enum pf_cell start = pf_rows_int(r, 0, &start_ns);
	enum pf_cell end = pf_rows_int(r, 1, &end_ns);

	if (start == PF_CELL_NULL) {
		pf_sink_note(g->sink, PF_SKIP_NO_TIME);
		return false;
	}
	if (start == PF_CELL_OTHER || end == PF_CELL_OTHER) {
		pf_sink_note(g->sink, PF_SKIP_MALFORMED);
		return false;
	}
	if (end == PF_CELL_NULL) {
		pf_sink_note(g->sink, PF_REPAIR_NO_DURATION);
		end_ns = start_ns;
	}
	return pf_sink_times(g->sink, start_ns, end_ns, put);
}

/* ---- what is not read ---- */

static bool is_read(const struct pf_reading *g, const char *table)
{
	for (size_t i = 0; i < g->table_count; i++) {
		const struct pf_reading_table *t = g->tables[i];
		const char *name = pf_reading_version(g, t);

		if (name && !strcasecmp(name, table) &&
		    (!t->wanted || t->wanted(g->reader) || t->where))
			return true;
	}
	return false;
}

static bool is_of_suffix(const struct pf_reading *g, const char *table)
{
	size_t len = strlen(table), n = g->suffix ? strlen(g->suffix) : 0;

	return len > n && (!n || !strcasecmp(table + len - n, g->suffix));
}

int pf_reading_count_rest(struct pf_reading *g, bool (*describes)(const char *),
			  struct pf_err *err)
{
	struct pf_batch *b = &g->sink->parsed.batch;

	for (size_t i = 0; i < g->f->table_count; i++) {
		const char *name = g->f->tables[i];
		struct pf_reading_rest *rest;
		int64_t rows;

		if (!is_of_suffix(g, name) || describes(name) ||
		    is_read(g, name))
			continue;
		if (pf_foreign_count(g->f, name, &rows, err))
			return -1;
		if (!rows)
			continue;
		b->event_count += rows;
		pf_repair_note(&b->repairs, PF_SKIP_TABLE, rows,
			       PF_OFFSET_UNKNOWN);
		g->rest = pf_grow(g->rest, &g->rest_cap, g->rest_count + 1,
				  sizeof(*g->rest));
		rest = &g->rest[g->rest_count++];
		*rest = (struct pf_reading_rest){ name, rows };
	}
	return 0;
}
