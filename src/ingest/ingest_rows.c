/* SPDX-License-Identifier: MIT */
/* What is written once a trace is complete, apart from its events. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/asset.h"
#include "ingest/ingest_impl.h"
#include "ingest/source_name.h"

static int put(struct pf_ingest *in, sqlite3_stmt *st, struct pf_err *err)
{
	int rc = pf_db_step(in->db, st, err);

	sqlite3_reset(st);
	return rc < 0 ? -1 : 0;
}

static int put_tracks(struct pf_ingest *in, struct pf_err *err)
{
	sqlite3_stmt *st = pf_db_prepare(
		in->db,
		"INSERT INTO track(id, trace_id, class, pid, tid, event_count,"
		" first_ns, last_ns, name) VALUES(?1,?2,?3,?4,?5,?6,?7,?8,?9)",
		err);
	int rc = st ? 0 : -1;

	for (size_t i = in->first_track; i < in->track_count && !rc; i++) {
		const struct pf_ingest_track *t = pf_ingest_track(in, i);

		sqlite3_bind_int64(st, 1, (int64_t)i + 1);
		sqlite3_bind_int64(st, 2, in->trace_id);
		sqlite3_bind_text(st, 3, pf_track_class_name(t->class_letter),
				  -1, SQLITE_STATIC);
		sqlite3_bind_text(st, 4, t->pid, -1, SQLITE_STATIC);
		sqlite3_bind_text(st, 5, t->tid, -1, SQLITE_STATIC);
		sqlite3_bind_int64(st, 6, t->event_count);
		sqlite3_bind_int64(st, 7, t->first_ns);
		sqlite3_bind_int64(st, 8, t->last_ns);
		sqlite3_bind_text(st, 9, t->name, -1, SQLITE_STATIC);
		rc = put(in, st, err);
	}
	sqlite3_finalize(st);
	return rc;
}

static int put_repairs(struct pf_ingest *in, struct pf_err *err)
{
	sqlite3_stmt *st = pf_db_prepare(
		in->db,
		"INSERT INTO repair(trace_id, kind, is_skip, count,"
		" first_offset) VALUES(?1,?2,?3,?4,?5)",
		err);
	int rc = st ? 0 : -1;

	for (int k = 0; k < PF_REPAIR_KINDS && !rc; k++) {
		if (!in->repairs.of[k].count)
			continue;
		sqlite3_bind_int64(st, 1, in->trace_id);
		sqlite3_bind_text(st, 2, pf_repair_word((enum pf_repair_kind)k),
				  -1, SQLITE_STATIC);
		sqlite3_bind_int64(st, 3, k >= PF_REPAIR_FIRST_SKIP);
		sqlite3_bind_int64(st, 4, in->repairs.of[k].count);
		if (in->repairs.of[k].first_offset >= 0)
			sqlite3_bind_int64(st, 5,
					   in->repairs.of[k].first_offset);
		else
			sqlite3_bind_null(st, 5);
		rc = put(in, st, err);
	}
	sqlite3_finalize(st);
	return rc;
}

static int put_fact(struct pf_ingest *in, sqlite3_stmt *st, const char *key,
		    int64_t value, struct pf_err *err)
{
	sqlite3_bind_int64(st, 1, in->trace_id);
	sqlite3_bind_text(st, 2, key, -1, SQLITE_TRANSIENT);
	sqlite3_bind_int64(st, 3, value);
	return put(in, st, err);
}

static int put_facts(struct pf_ingest *in, struct pf_err *err)
{
	const struct {
		const char *key;
		int64_t value;
	} facts[] = {
		{ "ts_fraction_digits", in->ts_fraction_digits },
		{ "link_equal", in->link_equal },
		{ "link_differ", in->link_differ },
		{ "link_absent", in->link_absent },
		{ "ext_lower", in->ext_lower },
	};
	sqlite3_stmt *st = pf_db_prepare(
		in->db, "INSERT INTO trace_fact VALUES(?1, ?2, ?3)", err);
	int rc = st ? 0 : -1;
	char key[16];

	for (size_t i = 0; i < sizeof(facts) / sizeof(*facts) && !rc; i++)
		rc = put_fact(in, st, facts[i].key, facts[i].value, err);
	for (int f = 0; f < PF_FACT_EXT_LOWER && !rc; f++)
		if (in->facts >> f & 1)
			rc = put_fact(in, st, pf_fact_key((enum pf_fact)f), 1,
				      err);
	for (int k = 0; k < PF_KIND_COUNT && !rc; k++) {
		snprintf(key, sizeof(key), "kind_%d", k);
		if (in->kind_count[k])
			rc = put_fact(in, st, key, in->kind_count[k], err);
	}
	for (size_t i = 0; i < in->extra_fact_count && !rc; i++)
		rc = put_fact(in, st, in->extra_facts[i].key,
			      in->extra_facts[i].value, err);
	sqlite3_finalize(st);
	return rc;
}

static void bind_known(sqlite3_stmt *st, int i, int64_t value, bool known)
{
	if (known)
		sqlite3_bind_int64(st, i, value);
}

static int put_trace(struct pf_ingest *in, struct pf_err *err)
{
	int64_t skipped = 0, rank;
	struct pf_source_name name;
	sqlite3_stmt *st = pf_db_prepare(
		in->db,
		"INSERT INTO trace(id, path, format, compression, file_bytes,"
		" json_bytes, rank, first_ns, last_ns, event_count,"
		" stored_count, metadata_count, paired_count, skipped_count,"
		" xxh128, worker, span) VALUES"
		"(?1,?2,?14,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12,?13,?15,?16,?17)",
		err);
	int rc;

	if (!st)
		return -1;
	pf_source_name_read(&name, in->path);
	/* Before the file's own word (schema/ingest.sql): the user's. */
	rank = in->options->rank >= 0 ? in->options->rank + in->trace_id - 1
				      : (in->owner_rank >= 0 ? in->owner_rank
							     : in->named_rank);
	for (int k = PF_REPAIR_FIRST_SKIP; k < PF_REPAIR_KINDS; k++)
		skipped += in->repairs.of[k].count;
	sqlite3_bind_int64(st, 1, in->trace_id);
	sqlite3_bind_text(st, 2, in->path, -1, SQLITE_STATIC);
	sqlite3_bind_text(st, 3, in->compression, -1, SQLITE_STATIC);
	bind_known(st, 4, in->file_bytes, in->file_bytes >= 0);
	sqlite3_bind_int64(st, 5, in->json_bytes);
	bind_known(st, 6, rank, rank >= 0);
	bind_known(st, 7, in->first_ns, in->stored_count > 0);
	bind_known(st, 8, in->last_ns, in->stored_count > 0);
	sqlite3_bind_int64(st, 9, in->event_count);
	sqlite3_bind_int64(st, 10, in->stored_count);
	sqlite3_bind_int64(st, 11, in->metadata_count);
	sqlite3_bind_int64(st, 12, in->paired_count);
	sqlite3_bind_int64(st, 13, skipped);
	sqlite3_bind_text(st, 14, in->format_name, -1, SQLITE_STATIC);
	sqlite3_bind_text(st, 15, in->digest, -1, SQLITE_STATIC);
	sqlite3_bind_text(st, 16, name.worker, -1, SQLITE_STATIC);
	bind_known(st, 17, name.span, name.span >= 0);
	rc = put(in, st, err);
	sqlite3_finalize(st);
	free(name.worker);
	return rc;
}

/*
 * The statements of a file, each with the trace's id as ?1, those behind it
 * if it has them.
 */
static int run_script(struct pf_ingest *in, const char *name,
		      const int64_t more[2], struct pf_err *err)
{
	size_t len;
	const char *sql = pf_asset(name, &len);

	if (!sql)
		return pf_fail(err, PF_EDB, "%s is missing", name);
	while (*sql) {
		sqlite3_stmt *st;
		int rc;

		if (sqlite3_prepare_v2(in->db->sql, sql, -1, &st, &sql))
			return pf_db_fail(in->db, name, err);
		if (!st)
			continue;
		sqlite3_bind_int64(st, 1, in->trace_id);
		for (int i = 2; i <= sqlite3_bind_parameter_count(st); i++)
			sqlite3_bind_int64(st, i, more[i - 2]);
		rc = pf_db_step(in->db, st, err);
		sqlite3_finalize(st);
		if (rc < 0)
			return -1;
	}
	return 0;
}

int pf_ingest_trace_rows(struct pf_ingest *in, struct pf_err *err)
{
	if (put_trace(in, err) || put_tracks(in, err) || put_repairs(in, err) ||
	    put_facts(in, err))
		return -1;
	/* names of processes and threads, base time, rank */
	return run_script(in, "schema/ingest.sql", NULL, err);
}

/* ---- files that could not be read ---- */

int pf_ingest_mark_stacks(struct pf_ingest *in, struct pf_err *err)
{
	sqlite3_stmt *st =
		pf_db_prepare(in->db,
			      "SELECT (SELECT coalesce(max(id), 0) FROM stack),"
			      " (SELECT coalesce(max(id), 0) FROM stack_frame)",
			      err);
	int rc = st ? pf_db_step(in->db, st, err) : -1;

	if (rc == 1) {
		in->mark.stack = sqlite3_column_int64(st, 0);
		in->mark.stack_frame = sqlite3_column_int64(st, 1);
		in->mark.has_stacks = true;
	}
	sqlite3_finalize(st);
	return rc < 0 ? -1 : 0;
}

int pf_ingest_unread_row(struct pf_ingest *in, struct pf_err *err)
{
	const int64_t last[2] = { in->mark.stack, in->mark.stack_frame };
	sqlite3_stmt *st;
	int rc = -1;

	if (in->mark.has_stacks &&
	    run_script(in, "schema/unread.sql", last, err))
		return -1;
	st = pf_db_prepare(in->db, "INSERT INTO unread VALUES(?1,?2,?3,?4,?5)",
			   err);
	if (!st)
		return -1;
	sqlite3_bind_int64(st, 1, in->trace_id);
	sqlite3_bind_text(st, 2, in->path, -1, SQLITE_STATIC);
	bind_known(st, 3, in->file_bytes, in->file_bytes >= 0);
	bind_known(st, 4, in->named_rank, in->named_rank >= 0);
	sqlite3_bind_text(st, 5, in->unread, -1, SQLITE_STATIC);
	rc = put(in, st, err);
	sqlite3_finalize(st);
	return rc;
}
