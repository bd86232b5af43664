/* SPDX-License-Identifier: MIT */
/*
 * The virtual tables over a database that ingest made of a small trace whose
 * every event is a formula of its number.
 */
#include "unit/scene.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/query.h"
#include "store/vtab.c"

#define EVENTS        40000 /* on two tracks: three full blocks at least */
#define HARMED_EVENTS 24000 /* two blocks on one of them */

static struct scene scene, harmed;

static void add_event(struct pf_buf *out, int i)
{
	const char *category = i % 5 == 4 ? "cuda_runtime" : "cpu_op";

	pf_buf_addf(out,
		    "%s{\"ph\":\"X\",\"cat\":\"%s\",\"name\":\"n%d\","
		    "\"pid\":1,\"tid\":%d,\"ts\":%d,\"dur\":%d",
		    i ? ",\n" : "", category, i % 17, 1 + (i % 4 == 3), i * 10,
		    1 + i % 9);
	if (i % 3)
		pf_buf_addf(out,
			    ",\"args\":{\"External id\":%d,"
			    "\"s\":\"t\\u00e9\\\"%d\",\"r\":1.50,"
			    "\"l\":[1,2],\"b\":true,\"z\":null}",
			    i, i % 7);
	pf_buf_adds(out, "}");
}

static void make_scene(struct scene *out, int events)
{
	struct pf_buf json = { 0 };

	pf_buf_adds(&json, "{\"traceEvents\":[\n");
	for (int i = 0; i < events; i++)
		add_event(&json, i);
	pf_buf_adds(&json, "\n]}\n");
	scene_open(out, json.data);
	pf_buf_release(&json);
}

static int make_databases(void **state)
{
	(void)state;
	make_scene(&scene, EVENTS);
	make_scene(&harmed, HARMED_EVENTS);
	return 0;
}

static int drop_databases(void **state)
{
	(void)state;
	scene_close(&scene);
	scene_close(&harmed);
	return 0;
}

static sqlite3 *connect_with(size_t group_bytes)
{
	struct pf_err err = { 0 };
	sqlite3 *sql;

	assert_int_equal(sqlite3_open(scene.path, &sql), SQLITE_OK);
	vtab_register_with(sql, group_bytes, &err);
	support_no_error(&err);
	return sql;
}

/* All rows, cells separated by "|", rows by newlines. */
static char *rows_of(sqlite3 *sql, const char *text)
{
	struct pf_buf out = { 0 };
	sqlite3_stmt *st = NULL;
	int rc = sqlite3_prepare_v2(sql, text, -1, &st, NULL);

	pf_buf_adds(&out, "");
	while (!rc && (rc = sqlite3_step(st)) == SQLITE_ROW) {
		for (int i = 0; i < sqlite3_column_count(st); i++) {
			const unsigned char *s = sqlite3_column_text(st, i);

			pf_buf_addf(&out, "%s%s", i ? "|" : "",
				    s ? (const char *)s : "-");
		}
		pf_buf_adds(&out, "\n");
		rc = 0;
	}
	if (rc != SQLITE_DONE)
		pf_buf_addf(&out, "error: %s\n", sqlite3_errmsg(sql));
	sqlite3_finalize(st);
	return out.data;
}

static void assert_rows(sqlite3 *sql, const char *text, const char *want)
{
	char *got = rows_of(sql, text);

	if (strcmp(got, want))
		fail_msg("%s\ngave:\n%s\nnot:\n%s", text, got, want);
	free(got);
}

/* Two statements that must say the same. */
static void assert_equal_rows(sqlite3 *sql, const char *a, const char *b)
{
	char *want = rows_of(sql, b);

	assert_null(strstr(want, "error"));
	assert_true(strlen(want) > 0);
	assert_rows(sql, a, want);
	free(want);
}

static void event_has_every_column(void **state)
{
	sqlite3 *sql = connect_with(1 << 20);

	(void)state;
	assert_rows(sql,
		    "SELECT trace_id, ph, category, kind, name, start_ns,"
		    " dur_ns, end_ns, parent_id, external_id, correlation,"
		    " args, flow_id, file_order, id = track_id << 32 | seq"
		    " FROM event WHERE file_order = 20000",
		    "1|X|cpu_op|1|n8|200000000|3000|200003000|-|20000|-|"
		    "{\"External id\":20000,\"s\":\"t\\u00e9\\\"1\","
		    "\"r\":1.50,\"l\":[1,2],\"b\":true,\"z\":null}|-|20000|"
		    "1\n");
	assert_rows(sql, "SELECT args FROM event WHERE file_order = 3", "-\n");
	assert_rows(
		sql,
		"SELECT count(*), count(DISTINCT id), sum(dur_ns),"
		" sum(file_order), count(args), sum(external_id) FROM event",
		"40000|40000|199990000|799980000|26666|533306667\n");
	sqlite3_close(sql);
}

static void arg_has_every_member(void **state)
{
	sqlite3 *sql = connect_with(1 << 20);

	(void)state;
	assert_rows(sql,
		    "SELECT key, value, type, typeof(value) FROM arg"
		    " WHERE event_id = (SELECT id FROM event"
		    " WHERE file_order = 20000)",
		    "External id|20000|integer|integer\n"
		    "s|t\xc3\xa9\"1|text|text\n"
		    "r|1.5|real|real\n"
		    "l|[1,2]|array|text\n"
		    "b|1|true|integer\n"
		    "z|-|null|null\n");
	assert_rows(sql, "SELECT count(*) FROM arg", "159996\n");
	assert_rows(sql,
		    "SELECT count(*), sum(value) FROM arg"
		    " WHERE key = 'External id'",
		    "26666|533306667\n");
	sqlite3_close(sql);
}

static void pruning_loses_nothing(void **state)
{
	static const char *const where[] = {
		"name = 'n3'",
		"name = 'no such name'",
		"name_id = 4",
		"track_id = 2",
		"track_id = 9",
		"trace_id = 1",
		"trace_id = 2",
		"kind = 4",
		"kind = 99",
		"category = 'cuda_runtime'",
		"category = 'none'",
		"start_ns >= 150000000",
		"start_ns > 150000000 AND start_ns < 150500000",
		"start_ns = 200000000",
		"end_ns > 399000000",
		"id >= (2 << 32) + 100 AND id < (2 << 32) + 17000",
		"id = (1 << 32) + 16384",
		"id = -1",
		"id = NULL",
		"id > 9e99",
		"start_ns < 1500.5",
		"name = 'n3' AND track_id = 1 AND start_ns < 100000000",
		"name IN ('n1', 'n2', 'n16')",
		"id BETWEEN -5 AND 5",
		"name = 7",
		"kind = '4'",
		"name = 'N3' COLLATE NOCASE",
	};
	sqlite3 *sql = connect_with(1 << 20);

	(void)state;
	assert_rows(sql,
		    "CREATE TEMP TABLE every AS SELECT id, trace_id, track_id,"
		    " kind, category, name, name_id, start_ns, end_ns,"
		    " file_order FROM event",
		    "");
	for (size_t i = 0; i < sizeof(where) / sizeof(*where); i++) {
		char *a = sqlite3_mprintf("SELECT count(*), sum(file_order)"
					  " FROM event WHERE %s",
					  where[i]);
		char *b = sqlite3_mprintf(
			"SELECT count(*), sum(file_order) FROM every WHERE %s",
			where[i]);

		assert_equal_rows(sql, a, b);
		sqlite3_free(a);
		sqlite3_free(b);
	}
	sqlite3_close(sql);
}

static char *group_by(sqlite3 *sql, const char *column, const char *then)
{
	char *text = sqlite3_mprintf(
		"SELECT %s, count(*), sum(dur_ns), sum(end_ns),"
		" count(parent_id), min(seq), max(file_order), max(name)"
		" FROM event WHERE start_ns > 5000 GROUP BY %s%s ORDER BY 1",
		column, column, then);
	char *rows = rows_of(sql, text);

	sqlite3_free(text);
	assert_null(strstr(rows, "error"));
	assert_true(*rows);
	return rows;
}

/* Grouped in passes or walked in place: as SQLite sorts it. */
static void groups_do_not_depend_on_the_buffer(void **state)
{
	static const size_t budgets[] = { 8, 20000, 200000, 1 << 24 };
	static const char *const columns[] = { "name", "name_id", "category",
					       "kind" };
	static const char *const counts[] = { "17\n", "17\n", "2\n", "2\n" };
	char *sorted[4], *names, *falling;
	sqlite3 *sql = connect_with(1 << 20);

	(void)state;
	for (size_t c = 0; c < 4; c++)
		sorted[c] = group_by(sql, columns[c], " || ''");
	names = rows_of(sql, "SELECT name FROM event ORDER BY name || ''");
	falling = rows_of(sql, "SELECT name, count(*) FROM event GROUP BY name"
			       " || '' ORDER BY name || '' DESC");
	sqlite3_close(sql);
	for (size_t b = 0; b < 4; b++) {
		sql = connect_with(budgets[b]);
		for (size_t c = 0; c < 4; c++) {
			char *grouped = group_by(sql, columns[c], "");
			char *count = sqlite3_mprintf(
				"SELECT count(*) FROM (SELECT %s FROM event"
				" GROUP BY %s)",
				columns[c], columns[c]);

			assert_string_equal(grouped, sorted[c]);
			assert_rows(sql, count, counts[c]);
			free(grouped);
			sqlite3_free(count);
		}
		assert_rows(sql, "SELECT name FROM event ORDER BY name", names);
		assert_rows(sql,
			    "SELECT name, count(*) FROM event GROUP BY name"
			    " ORDER BY name DESC",
			    falling);
		sqlite3_close(sql);
	}
	for (size_t c = 0; c < 4; c++)
		free(sorted[c]);
	free(names);
	free(falling);
}

static void group_by_name_needs_no_sorter(void **state)
{
	sqlite3 *sql = connect_with(1 << 20);
	char *plan = rows_of(sql, "EXPLAIN QUERY PLAN SELECT name, count(*),"
				  " sum(dur_ns) FROM event GROUP BY name");

	(void)state;
	assert_null(strstr(plan, "TEMP B-TREE"));
	free(plan);
	sqlite3_close(sql);
}

/* An inner loop must not prepare groups for each row of the outer one. */
static void joins_are_not_grouped(void **state)
{
	sqlite3 *sql = connect_with(1 << 20);
	char *plan = rows_of(sql, "EXPLAIN QUERY PLAN SELECT e.name, count(*)"
				  " FROM annotation AS a CROSS JOIN event AS e"
				  " ON e.id = a.event_id GROUP BY e.name");

	(void)state;
	assert_non_null(strstr(plan, "VIRTUAL TABLE INDEX 0:i:"));
	free(plan);
	plan = rows_of(sql, "EXPLAIN QUERY PLAN SELECT name, count(*)"
			    " FROM event WHERE kind = 1 GROUP BY name");
	assert_non_null(strstr(plan, "VIRTUAL TABLE INDEX 2:d:"));
	free(plan);
	sqlite3_close(sql);
}

static void joins_find_parents(void **state)
{
	sqlite3 *sql = connect_with(1 << 20);

	(void)state;
	assert_equal_rows(sql,
			  "SELECT count(*) FROM event AS e"
			  " JOIN event AS p ON p.id = e.parent_id",
			  "SELECT count(parent_id) FROM event"
			  " UNION ALL SELECT 1 WHERE 0");
	assert_rows(sql,
		    "SELECT count(*) FROM event AS e"
		    " JOIN arg AS a ON a.event_id = e.id"
		    " WHERE e.name = 'n5' AND a.key = 'r'",
		    "1569\n");
	sqlite3_close(sql);
}

static void tables_are_read_only(void **state)
{
	sqlite3 *sql = connect_with(1 << 20);

	(void)state;
	assert_int_not_equal(
		sqlite3_exec(sql, "DELETE FROM event", NULL, NULL, NULL),
		SQLITE_OK);
	assert_int_not_equal(sqlite3_exec(sql,
					  "CREATE VIRTUAL TABLE e2"
					  " USING event",
					  NULL, NULL, NULL),
			     SQLITE_OK);
	sqlite3_close(sql);
}

/* An export holds what the virtual tables show, without them. */
static void export_writes_the_same_rows(void **state)
{
	static const char *const sums[] = {
		"SELECT count(*), sum(id), sum(trace_id), sum(track_id),"
		" sum(seq), min(ph), max(category), sum(kind), max(name),"
		" sum(name_id), sum(start_ns), sum(dur_ns), sum(end_ns),"
		" sum(parent_id), sum(external_id), sum(correlation),"
		" sum(length(args)), sum(flow_id), sum(file_order) FROM event",
		"SELECT count(*), sum(event_id), count(DISTINCT key),"
		" count(DISTINCT value), count(DISTINCT type) FROM arg",
		"SELECT id, class, pid, tid, event_count FROM track",
		"SELECT stored_count, json_bytes FROM trace",
	};
	char *path = support_path_take(scene.dir, "rows.db");
	struct pf_err err = { 0 };
	struct pf_db db;
	sqlite3 *rows;

	(void)state;
	pf_db_open(&db, scene.path, true, &err);
	support_no_error(&err);
	pf_export_rows(&db, path, false, &err);
	support_no_error(&err);
	assert_int_equal(sqlite3_open(path, &rows), SQLITE_OK);
	for (size_t i = 0; i < sizeof(sums) / sizeof(*sums); i++) {
		char *want = rows_of(db.sql, sums[i]);

		assert_null(strstr(want, "error"));
		assert_rows(rows, sums[i], want);
		free(want);
	}
	assert_rows(rows, "PRAGMA integrity_check", "ok\n");
	sqlite3_close(rows);
	assert_int_equal(pf_export_rows(&db, path, false, &err), -1);
	support_error(&err, PF_EIO, "exists");
	pf_db_close(&db);
	free(path);
}

/* ---- hostile files ---- */

static const char *const probes[] = {
	"SELECT count(*), sum(length(args)), sum(length(name)),"
	" sum(start_ns / 1000), max(parent_id), max(correlation) FROM event",
	"SELECT name, count(*), sum(dur_ns / 1000) FROM event GROUP BY name",
	"SELECT category, count(*) FROM event GROUP BY category",
	"SELECT count(*) FROM arg WHERE key = 's'",
	"SELECT count(*) FROM event WHERE name = 'n3'",
};

static void probe(const char *path)
{
	struct pf_err err = { 0 };
	struct pf_db db;

	if (pf_db_open(&db, path, true, &err))
		return;
	for (size_t i = 0; i < sizeof(probes) / sizeof(*probes); i++)
		free(rows_of(db.sql, probes[i]));
	pf_db_close(&db);
}

static void damaged_files_do_no_harm(void **state)
{
	char *path = support_path_take(harmed.dir, "damaged.db");
	struct pf_buf bytes = { 0 };
	uint64_t seed = 77;
	int rounds = getenv("LONG") ? 30 : 3;

	(void)state;
	support_read(harmed.path, &bytes);
	for (int round = 0; round < rounds; round++) {
		struct pf_buf copy = { 0 };

		pf_buf_add(&copy, bytes.data, bytes.len);
		for (int k = 0; k < 1 + round % 8; k++)
			copy.data[100 +
				  support_random(&seed) % (copy.len - 100)] ^=
				(char)(1 << support_random(&seed) % 8);
		support_write(path, copy.data,
			      round % 10 == 9 ? copy.len / 2 : copy.len);
		probe(path);
		pf_buf_release(&copy);
	}
	pf_buf_release(&bytes);
	free(path);
}

static void hostile_values_do_no_harm(void **state)
{
	static const char *const attacks[] = {
		"UPDATE block SET event_count = 16384",
		"UPDATE block SET event_count = -1",
		"UPDATE block SET event_count = 1",
		"UPDATE block SET id = id + (1 << 50)",
		"UPDATE block SET id = -id",
		"UPDATE block SET names = x'ffffffffffffffffff'",
		"UPDATE block SET names = x''",
		"UPDATE block_column SET data = x''",
		"UPDATE block_column SET data = zeroblob(1000)",
		"UPDATE block_column SET column_id = -column_id - 30",
		"DELETE FROM block_column WHERE column_id = 7",
		"DELETE FROM block_column WHERE column_id = 16",
		"DELETE FROM string",
		"DELETE FROM event_type",
		"DELETE FROM track",
		"DELETE FROM argset",
		"UPDATE string SET id = id + 4294967290",
		"UPDATE event_type SET id = id + 60000, kind = -5",
		"UPDATE event_type SET kind = 1 << 40",
		"UPDATE argset SET text = '{\"a\":$a,\"'",
		"DROP TABLE argset",
		"DROP TABLE block_column; CREATE VIEW block_column AS SELECT"
		" 1 AS block_id, 2 AS column_id, zeroblob(99) AS data",
	};
	char *path = support_path_take(harmed.dir, "hostile.db");
	struct pf_buf bytes = { 0 };

	(void)state;
	support_read(harmed.path, &bytes);
	for (size_t i = 0; i < sizeof(attacks) / sizeof(*attacks); i++) {
		sqlite3 *sql;

		support_write(path, bytes.data, bytes.len);
		assert_int_equal(sqlite3_open(path, &sql), SQLITE_OK);
		if (sqlite3_exec(sql, attacks[i], NULL, NULL, NULL))
			fail_msg("%s: %s", attacks[i], sqlite3_errmsg(sql));
		sqlite3_close(sql);
		probe(path);
	}
	pf_buf_release(&bytes);
	free(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(event_has_every_column),
		cmocka_unit_test(arg_has_every_member),
		cmocka_unit_test(pruning_loses_nothing),
		cmocka_unit_test(groups_do_not_depend_on_the_buffer),
		cmocka_unit_test(group_by_name_needs_no_sorter),
		cmocka_unit_test(joins_are_not_grouped),
		cmocka_unit_test(joins_find_parents),
		cmocka_unit_test(tables_are_read_only),
		cmocka_unit_test(export_writes_the_same_rows),
		cmocka_unit_test(damaged_files_do_no_harm),
		cmocka_unit_test(hostile_values_do_no_harm),
	};

	return cmocka_run_group_tests_name("vtab", tests, make_databases,
					   drop_databases);
}
