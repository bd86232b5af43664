/* SPDX-License-Identifier: MIT */
/*
 * 1. Traces and databases become summaries (work.h).  2. The ranks of all
 * parts are listed in a database that is in no folder, get their labels, and
 * are put in order there (schema/fleet/plan.sql).  3. They are copied in this
 * order, and so are their strings.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "compare/fleet_copy.h"
#include "compare/fleet_inputs.h"
#include "compare/fleet_labels.h"
#include "compare/merge.h"
#include "compare/fleet_places.h"
#include "compare/fleet_summary.h"
#include "compare/fleet_work.h"
#include "store/query.h"

#define NAMED 8 /* failures that are told */

/* Columns of the table "entry", as schema/fleet/plan.sql has them. */
enum {
	PART,
	PART_RANK,
	CAPTURE,
	RANK,
	WORLD_SIZE,
	LABELS,
	ERROR,
	PATH,
	DB,
	XXH128,
	FORMAT,
	FILE_BYTES,
	JSON_BYTES,
	BASE_NS,
	FIRST_NS,
	ENTRY_COLUMNS = 22
};

static const char *const scratch_schemas[] = { "schema/fleet/scratch.sql",
					       NULL };
static const struct pf_db_kind scratch_kind = {
	.application_id = PF_FLEET_APPLICATION_ID,
	.version = PF_FLEET_VERSION,
	.schemas = scratch_schemas,
};

struct merging {
	struct pf_fleet_merge *m;
	struct pf_fleet_inputs inputs;
	struct pf_fleet_work work;
	struct pf_db scratch, db;
	struct pf_fleet_part *parts;
	size_t part_count;
	struct pf_fleet_copy copy;
	struct pf_fleet_out out;
	struct pf_outplace place;
	char *folder; /* of the output */
	/* The capture that is being written. */
	struct {
		char *name;
		int64_t id, taken_ns; /* PF_NO_INT: not known */
	} capture;
};

/* ---- which ranks there are ---- */

/* What is relative is so to the folder of the part. */
static void bind_db(sqlite3_stmt *to, sqlite3_stmt *from, const char *folder)
{
	const char *db = (const char *)sqlite3_column_text(from, DB - 1);
	char *full = db ? pf_place_from(folder ? folder : "/", db) : NULL;

	if (full)
		sqlite3_bind_text(to, DB + 1, full, -1, SQLITE_TRANSIENT);
	else
		sqlite3_bind_null(to, DB + 1);
	free(full);
}

static int list_rows(struct merging *g, size_t part, struct pf_db *db,
		     const char *folder, sqlite3_stmt *to, struct pf_err *err)
{
	sqlite3_stmt *from = pf_named_prepare(db, "fleet/ranks", err);
	int rc = from ? 0 : -1;

	while (!rc && (rc = pf_db_step(db, from, err)) == 1) {
		sqlite3_bind_int64(to, PART + 1, (int64_t)part);
		for (int i = PART_RANK; i < ENTRY_COLUMNS; i++)
			sqlite3_bind_value(to, i + 1,
					   sqlite3_column_value(from, i - 1));
		bind_db(to, from, folder);
		rc = pf_db_put(&g->scratch, to, err);
	}
	sqlite3_finalize(from);
	return rc;
}

/* A fleet that cannot be read is a rank that failed. */
static int list_failed(struct merging *g, size_t part, const char *why,
		       sqlite3_stmt *to, struct pf_err *err)
{
	const char *path = g->parts[part].path;
	char *name = pf_fleet_capture_name(path);

	g->m->made.failed++;
	sqlite3_bind_int64(to, PART + 1, (int64_t)part);
	sqlite3_bind_int64(to, PART_RANK + 1, 0);
	sqlite3_bind_text(to, CAPTURE + 1, g->m->capture ? g->m->capture : name,
			  -1, SQLITE_TRANSIENT);
	sqlite3_bind_text(to, ERROR + 1, why, -1, SQLITE_TRANSIENT);
	sqlite3_bind_text(to, PATH + 1, path, -1, SQLITE_TRANSIENT);
	sqlite3_bind_text(to, ENTRY_COLUMNS, PACKAGE_VERSION, -1,
			  SQLITE_STATIC);
	free(name);
	return pf_db_put(&g->scratch, to, err);
}

/*
 * A part is listed as a whole or not at all: its rows are counted before the
 * first is taken, and what is damaged after that ends the merge.
 */
static int list_part(struct merging *g, size_t part, sqlite3_stmt *to,
		     struct pf_err *err)
{
	const char *path = g->parts[part].path;
	struct pf_err why = { 0 };
	char *folder = NULL;
	struct pf_db *db;
	int rc;

	if (path)
		folder = pf_place_folder(path, &why);
	db = path && !folder ? NULL : pf_fleet_part_db(&g->copy, part, &why);
	rc = db ? list_rows(g, part, db, folder, to, err)
		: list_failed(g, part, why.text, to, err);
	free(folder);
	return rc;
}

static int list_all(struct merging *g, struct pf_err *err)
{
	sqlite3_stmt *to = pf_db_prepare(
		&g->scratch,
		"INSERT INTO entry VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?,"
		" ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
		err);
	int rc = to ? 0 : -1;

	for (size_t i = 0; i < g->part_count && !rc; i++)
		rc = list_part(g, i, to, err);
	sqlite3_finalize(to);
	return rc;
}

static int add_labels(struct merging *g, struct pf_err *err)
{
	const struct pf_fleet_merge *m = g->m;

	if (pf_fleet_labels_add(&g->scratch, m->label_file, m->labels,
				m->label_count, err))
		return -1;
	return pf_db_run_file(&g->scratch, "schema/fleet/label.sql", err);
}

/* ---- writing them ---- */

static int end_capture(struct merging *g, struct pf_err *err)
{
	sqlite3_stmt *st;
	int rc = -1;

	if (!g->capture.name)
		return 0;
	st = pf_db_prepare(&g->db, "INSERT INTO capture VALUES(?1, ?2, ?3)",
			   err);
	if (st) {
		sqlite3_bind_int64(st, 1, g->capture.id);
		sqlite3_bind_text(st, 2, g->capture.name, -1, SQLITE_STATIC);
		if (g->capture.taken_ns != PF_NO_INT)
			sqlite3_bind_int64(st, 3, g->capture.taken_ns);
		rc = pf_db_step(&g->db, st, err);
	}
	sqlite3_finalize(st);
	free(g->capture.name);
	g->capture.name = NULL;
	return rc;
}

static int enter_capture(struct merging *g, sqlite3_stmt *plan,
			 struct pf_err *err)
{
	const char *name = (const char *)sqlite3_column_text(plan, CAPTURE);
	int64_t base = pf_db_int_or(plan, BASE_NS, PF_NO_INT);
	int64_t first = pf_db_int_or(plan, FIRST_NS, PF_NO_INT), at;

	if (!g->capture.name || strcmp(g->capture.name, name) != 0) {
		if (end_capture(g, err))
			return -1;
		g->capture.name = pf_strdup(name);
		g->capture.id++;
		g->capture.taken_ns = PF_NO_INT;
	}
	if (base != PF_NO_INT && first != PF_NO_INT &&
	    !__builtin_add_overflow(base, first, &at) &&
	    (g->capture.taken_ns == PF_NO_INT || at < g->capture.taken_ns))
		g->capture.taken_ns = at;
	return 0;
}

static int put_rank(struct merging *g, sqlite3_stmt *plan, sqlite3_stmt *to,
		    struct pf_err *err)
{
	const char *db = (const char *)sqlite3_column_text(plan, DB);
	char *relative = db ? pf_place_relative(g->folder, db) : NULL;
	int rc;

	sqlite3_bind_int64(to, 1, g->out.rank_id);
	sqlite3_bind_int64(to, 2, g->capture.id);
	for (int i = RANK; i < ENTRY_COLUMNS; i++)
		sqlite3_bind_value(to, i, sqlite3_column_value(plan, i));
	if (relative)
		sqlite3_bind_text(to, DB, relative, -1, SQLITE_TRANSIENT);
	rc = pf_db_step(&g->db, to, err);
	sqlite3_reset(to);
	free(relative);
	return rc;
}

static int put_ranks(struct merging *g, sqlite3_stmt *plan, sqlite3_stmt *to,
		     struct pf_err *err)
{
	int rc;

	while ((rc = pf_db_step(&g->scratch, plan, err)) == 1) {
		int64_t part = sqlite3_column_int64(plan, PART);
		bool is_bad = sqlite3_column_type(plan, ERROR) != SQLITE_NULL;

		g->out.rank_id++;
		if (is_bad && g->m->made.errors++ < NAMED)
			pf_log_warn("%s", (const char *)sqlite3_column_text(
						  plan, ERROR));
		if (enter_capture(g, plan, err) || put_rank(g, plan, to, err) ||
		    (!is_bad &&
		     pf_fleet_copy_rank(&g->copy, (size_t)part,
					sqlite3_column_int64(plan, PART_RANK),
					err)))
			return -1;
	}
	g->m->made.ranks = g->out.rank_id;
	g->m->made.captures = g->capture.id;
	return rc ? -1 : end_capture(g, err);
}

static int write_all(struct merging *g, struct pf_err *err)
{
	sqlite3_stmt *plan = pf_named_prepare(&g->scratch, "fleet/plan", err);
	sqlite3_stmt *to = pf_db_prepare(
		&g->db,
		"INSERT INTO rank VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?,"
		" ?, ?, ?, ?, ?, ?, ?, ?, ?)",
		err);
	int rc = plan && to ? put_ranks(g, plan, to, err) : -1;

	sqlite3_finalize(plan);
	sqlite3_finalize(to);
	return rc;
}

/* ---- the output ---- */

static int set_up_out(struct merging *g, struct pf_err *err)
{
	const char **inputs = pf_calloc(g->inputs.count + 1, sizeof(*inputs));
	const struct pf_outrule rule = {
		.inputs = inputs,
		.input_count = g->inputs.count,
		.is_ours = pf_fleet_is,
		.is_database = true,
	};
	int rc;

	for (size_t i = 0; i < g->inputs.count; i++)
		inputs[i] = g->inputs.items[i].path;
	rc = pf_outplace_open(&g->place, g->m->out, &rule, err);
	free(inputs);
	if (!rc)
		rc = pf_db_create_kind(&g->db, g->place.partial, &pf_fleet_kind,
				       err);
	if (!rc)
		rc = pf_fleet_out_open(&g->out, &g->db, err);
	return rc;
}

static int finish(struct merging *g, struct pf_err *err)
{
	pf_fleet_copy_release(&g->copy);
	pf_fleet_out_close(&g->out);
	if (pf_db_finish_with(&g->db, "schema/fleet/indexes.sql", err))
		return -1;
	return pf_outplace_commit(&g->place, err);
}

/* ---- the whole ---- */

static int find_inputs(struct merging *g, struct pf_err *err)
{
	struct pf_fleet_merge *m = g->m;
	struct pf_fleet_shard shard = { 0 };

	if (m->shard && pf_fleet_shard_read(m->shard, &shard, err))
		return -1;
	g->folder = pf_place_folder(m->out, err);
	if (!g->folder)
		return -1;
	return pf_fleet_inputs_find(m->arguments, m->count, &shard, m->out,
				    &g->inputs, err);
}

static int summarise(struct merging *g, struct pf_err *err)
{
	const struct pf_fleet_inputs *in = &g->inputs;
	int rc;

	g->work = (struct pf_fleet_work){ .inputs = in,
					  .capture = g->m->capture,
					  .keep = g->m->keep,
					  .threads = g->m->threads };
	rc = pf_fleet_work(&g->work, err);
	g->m->made.failed = g->work.failed;
	g->m->made.passed = g->work.passed;
	g->parts = pf_calloc(in->count + PF_FLEET_WORKERS, sizeof(*g->parts));
	for (size_t i = 0; i < g->work.part_count; i++)
		g->parts[g->part_count++].given = &g->work.parts[i];
	for (size_t i = 0; i < in->count; i++)
		if (in->items[i].source == PF_SOURCE_FLEET)
			g->parts[g->part_count++].path = in->items[i].path;
	return rc;
}

static int merge(struct merging *g, struct pf_err *err)
{
	if (find_inputs(g, err) || set_up_out(g, err) || summarise(g, err) ||
	    pf_db_create_kind(&g->scratch, "", &scratch_kind, err) ||
	    pf_fleet_copy_init(&g->copy, &g->out, g->parts, g->part_count,
			       err) ||
	    list_all(g, err) || add_labels(g, err) || write_all(g, err))
		return -1;
	return finish(g, err);
}

int pf_fleet_merge(struct pf_fleet_merge *m, struct pf_err *err)
{
	struct merging g = { .m = m };
	int rc = merge(&g, err);

	pf_fleet_copy_release(&g.copy);
	pf_fleet_out_close(&g.out);
	pf_db_close(&g.scratch);
	pf_db_close(&g.db);
	pf_outplace_release(&g.place);
	pf_fleet_work_release(&g.work);
	pf_fleet_inputs_release(&g.inputs);
	free(g.capture.name);
	free(g.parts);
	free(g.folder);
	return rc;
}
