/* SPDX-License-Identifier: MIT */
/* The nodes of all launches as a table of a new file, for SQL. */
#include "config.h"

#include "base/outplace.h"
#include "analysis/graphs/graphs.h"

static const char *const schemas[] = { "schema/graph_node.sql", NULL };

/* It is no profan database: nothing of ours reads it. */
static const struct pf_db_kind kind = {
	.application_id = 0,
	.version = 1,
	.what = "a file of nodes",
	.schemas = schemas,
};

/* What is not bound is null. */
static void bind_text(sqlite3_stmt *st, int at, const char *text)
{
	if (text)
		sqlite3_bind_text(st, at, text, -1, SQLITE_STATIC);
}

static int put_launch(const struct pf_graphs *g, struct pf_db *to,
		      sqlite3_stmt *st, const struct pf_graph_launch *l,
		      struct pf_err *err)
{
	const struct pf_graph *graph = &g->graphs[l->graph];

	for (size_t i = 0; i < graph->count; i++) {
		const struct pf_graph_node *n = &graph->nodes[i];

		sqlite3_bind_int64(st, 1, graph->trace_id);
		sqlite3_bind_int64(st, 2, l->launch_id);
		sqlite3_bind_int64(st, 3, (int64_t)i);
		bind_text(st, 4, pf_role_word(n->in.role));
		if (n->in.layer >= 0)
			sqlite3_bind_int64(st, 5, n->in.layer);
		bind_text(st, 6, pf_part_word(n->in.part));
		bind_text(st, 7, pf_graphs_text(g, n->op));
		bind_text(st, 8, pf_graphs_text(g, n->module));
		bind_text(st, 9, pf_graph_how_word(n->how));
		if (pf_db_put(to, st, err) < 0)
			return -1;
	}
	return 0;
}

static int fill(const struct pf_graphs *g, struct pf_db *to, struct pf_err *err)
{
	sqlite3_stmt *st = pf_db_prepare(
		to, "INSERT INTO graph_node VALUES(?,?,?,?,?,?,?,?,?)", err);
	int rc = st ? 0 : -1;

	for (size_t i = 0; !rc && i < g->launch_count; i++)
		rc = put_launch(g, to, st, &g->launches_by_id[i], err);
	sqlite3_finalize(st);
	return rc;
}

int pf_graphs_store(const struct pf_graphs *g, const struct pf_db *db,
		    const char *path, struct pf_err *err)
{
	struct pf_outrule rule = { .is_database = true };
	struct pf_outplace place;
	struct pf_db to = { 0 };
	int rc;

	pf_db_protect(db, &rule);
	if (pf_outplace_open(&place, path, &rule, err))
		return -1;
	rc = pf_db_create_kind(&to, place.partial, &kind, err);
	if (!rc)
		rc = fill(g, &to, err);
	if (!rc)
		rc = pf_db_finish_with(&to, "schema/graph_node_indexes.sql",
				       err);
	if (!rc)
		rc = pf_outplace_commit(&place, err);
	pf_db_close(&to);
	pf_outplace_release(&place);
	return rc;
}
