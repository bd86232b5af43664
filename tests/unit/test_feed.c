/* SPDX-License-Identifier: MIT */
#include "unit/support.h"

#include <stdio.h>
#include <stdlib.h>

#include "store/query.h"

static int set_up(void **state)
{
	*state = support_tmp_take();
	return 0;
}

static int tear_down(void **state)
{
	support_tmp_release(*state);
	return 0;
}

static void count_is(struct pf_db *db, const char *sql, int64_t expected)
{
	struct pf_err err = { 0 };
	int64_t number;

	assert_int_equal(pf_db_number(db, sql, &number, &err), 0);
	support_no_error(&err);
	assert_int_equal(number, expected);
}

/* Row r: its number, a number that is not known in odd rows, the last cell. */
static void fill(struct pf_feed *feed, size_t count, int64_t from)
{
	static struct pf_feed_row rows[PF_FEED_ROWS];

	*feed = (struct pf_feed){ count, rows };
	for (size_t r = 0; r < count; r++) {
		int64_t number = from + (int64_t)r;

		rows[r].nulls = 0;
		pf_feed_set(&rows[r], 0, true, number);
		pf_feed_set(&rows[r], 1, number % 2 == 0, -number);
		pf_feed_set(&rows[r], PF_FEED_COLUMNS - 1, true,
			    INT64_MIN + number);
	}
}

static void rows_arrive_batch_by_batch(void **state)
{
	static struct pf_feed feed;
	struct pf_err err = { 0 };
	struct pf_db db;
	sqlite3_stmt *st;
	char sql[99];
	char *path = support_path_take(*state, "feed.db");

	pf_db_create(&db, path, &err);
	support_no_error(&err);
	assert_int_equal(pf_feed_register(&db, &feed, &err), 0);
	assert_int_equal(pf_db_exec(&db, "CREATE TABLE t(a, b, c)", &err), 0);
	snprintf(sql, sizeof(sql), "INSERT INTO t SELECT c0, c1, c%d FROM feed",
		 PF_FEED_COLUMNS - 1);
	st = pf_db_prepare(&db, sql, &err);
	assert_non_null(st);
	fill(&feed, PF_FEED_ROWS, 0);
	assert_int_equal(pf_db_put(&db, st, &err), 0);
	fill(&feed, 3, PF_FEED_ROWS);
	assert_int_equal(pf_db_put(&db, st, &err), 0);
	fill(&feed, 0, 0);
	assert_int_equal(pf_db_put(&db, st, &err), 0);
	count_is(&db, "SELECT count(*) FROM t WHERE a = rowid - 1",
		 PF_FEED_ROWS + 3);
	count_is(&db, "SELECT count(*) FROM t WHERE b IS iif(a % 2, NULL, -a)",
		 PF_FEED_ROWS + 3);
	count_is(&db,
		 "SELECT count(*) FROM t"
		 " WHERE c = a - 9223372036854775807 - 1",
		 PF_FEED_ROWS + 3);

	pf_feed_drop(&db);
	fill(&feed, 3, 0);
	assert_int_equal(pf_db_put(&db, st, &err), 0);
	count_is(&db, "SELECT count(*) FROM t", PF_FEED_ROWS + 3);
	/* and the next, without what was prepared being prepared again */
	assert_int_equal(pf_feed_register(&db, &feed, &err), 0);
	assert_int_equal(pf_db_put(&db, st, &err), 0);
	count_is(&db, "SELECT count(*) FROM t", PF_FEED_ROWS + 6);
	assert_int_equal(
		sqlite3_stmt_status(st, SQLITE_STMTSTATUS_REPREPARE, 0), 0);
	sqlite3_finalize(st);
	pf_db_close(&db);
	free(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_arrive_batch_by_batch),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
