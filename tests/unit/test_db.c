/* SPDX-License-Identifier: MIT */
#include "unit/support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/outplace.h"
#include "store/db.h"

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

/* An empty database of ours, at a new path to be freed. */
static char *make_database(const char *dir, const char *name)
{
	char *path = support_path_take(dir, name);
	struct pf_err err = { 0 };
	struct pf_db db;

	pf_db_create(&db, path, &err);
	support_no_error(&err);
	pf_db_finish(&db, &err);
	support_no_error(&err);
	return path;
}

static void run_sql(const char *path, const char *text)
{
	sqlite3 *sql;

	assert_int_equal(sqlite3_open(path, &sql), SQLITE_OK);
	assert_int_equal(sqlite3_exec(sql, text, NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(sql);
}

static void assert_refused(const char *path, enum pf_code code,
			   const char *text)
{
	struct pf_err err = { 0 };
	struct pf_db db;

	assert_int_equal(pf_db_open(&db, path, true, &err), -1);
	support_error(&err, code, text);
	assert_null(db.sql);
}

static void created_databases_open(void **state)
{
	char *path = make_database(*state, "good.db");
	struct pf_err err = { 0 };
	sqlite3_stmt *st;
	struct pf_db db;

	pf_db_open(&db, path, true, &err);
	support_no_error(&err);
	st = pf_db_prepare(&db, "SELECT count(*) FROM event ; ", &err);
	support_no_error(&err);
	assert_int_equal(pf_db_step(&db, st, &err), 1);
	assert_int_equal(sqlite3_column_int(st, 0), 0);
	assert_int_equal(pf_db_step(&db, st, &err), 0);
	sqlite3_finalize(st);
	assert_null(pf_db_prepare(&db, "SELECT 1; SELECT 2", &err));
	support_error(&err, PF_EDB, "one statement");
	pf_db_close(&db);
	pf_db_close(&db);
	free(path);
}

static void opened_databases_are_read_only(void **state)
{
	char *path = make_database(*state, "locked.db");
	struct pf_err err = { 0 };
	struct pf_db db;

	pf_db_open(&db, path, false, &err);
	support_no_error(&err);
	assert_int_equal(pf_db_exec(&db, "DELETE FROM trace", &err), -1);
	assert_int_equal(pf_db_exec(&db, "CREATE TEMP TABLE t(x)", &err), -1);
	assert_int_equal(pf_db_exec(&db, "ATTACH ':memory:' AS x", &err), -1);
	pf_db_close(&db);
	free(path);
}

static void others_are_refused(void **state)
{
	char *missing = support_path_take(*state, "missing.db");
	char *text = support_path_take(*state, "text.db");
	char *empty = support_path_take(*state, "empty.db");
	char *foreign = support_path_take(*state, "foreign.db");
	char *newer = make_database(*state, "newer.db");
	char *cut = make_database(*state, "cut.db");

	assert_refused(missing, PF_EOPEN, "missing.db");
	assert_refused(*state, PF_EOPEN, "directory");
	support_write(text,
		      "no database at all, just some text, and more of"
		      " it, so that there are a hundred bytes of it here",
		      95);
	assert_refused(text, PF_EDB, "not a profan database");
	support_write(empty, "", 0);
	assert_refused(empty, PF_EDB, "not a profan database");
	run_sql(foreign, "CREATE TABLE t(x)");
	assert_refused(foreign, PF_EDB, "not a profan database");
	run_sql(newer, "PRAGMA user_version = 99");
	assert_refused(newer, PF_EDB, "newer profan");
	run_sql(newer, "PRAGMA user_version = 1");
	assert_refused(newer, PF_EDB, "older profan");
	assert_true(pf_db_is_ours(newer));
	run_sql(newer, "PRAGMA user_version = 0");
	assert_refused(newer, PF_EDB, "damaged");
	assert_int_equal(truncate(cut, 50), 0);
	assert_refused(cut, PF_EDB, "cut.db");
	free(missing);
	free(text);
	free(empty);
	free(foreign);
	free(newer);
	free(cut);
}

static void create_never_overwrites(void **state)
{
	char *path = make_database(*state, "there.db");
	struct pf_err err = { 0 };
	struct pf_db db;

	assert_int_equal(pf_db_create(&db, path, &err), -1);
	support_error(&err, PF_EIO, "there.db");
	pf_db_close(&db);
	free(path);
}

static void only_our_files_may_be_replaced(void **state)
{
	const struct pf_outrule rule = { .is_ours = pf_db_is_ours,
					 .is_database = true };
	char *ours = make_database(*state, "ours.db");
	char *text = support_path_take(*state, "notes.txt");
	char *none = support_path_take(*state, "none.db");
	struct pf_err err = { 0 };

	support_write(text, "precious", 8);
	assert_int_equal(pf_outplace_check(ours, &rule, &err), 0);
	assert_int_equal(pf_outplace_check(none, &rule, &err), 0);
	support_no_error(&err);
	assert_int_equal(pf_outplace_check(text, &rule, &err), -1);
	support_error(&err, PF_EIO, "notes.txt");
	memset(&err, 0, sizeof(err));
	assert_int_equal(pf_outplace_check(*state, &rule, &err), -1);
	support_error(&err, PF_EIO, "is a folder");
	free(ours);
	free(text);
	free(none);
}

/* Whoever reads with two connections reads one file, or is told. */
static void another_file_is_not_opened_beside(void **state)
{
	char *path = make_database(*state, "first.db");
	char *other = make_database(*state, "second.db");
	struct pf_err err = { 0 };
	struct pf_db db, beside;

	assert_int_equal(pf_db_open(&db, path, true, &err), 0);
	assert_int_equal(pf_db_open_beside(&beside, &db, &err), 0);
	pf_db_close(&beside);
	assert_int_equal(rename(other, path), 0);
	assert_int_equal(pf_db_open_beside(&beside, &db, &err), -1);
	support_error(&err, PF_EIO, "was replaced while it was read");
	assert_true(db.is_for_one);
	db.is_for_one = false; /* as of a large file */
	assert_null(pf_db_lend(&db));
	pf_db_close(&db);
	free(path);
	free(other);
}

static const char *own_path, *other_path, *aside_path;
static int (*open_own)(const char *path, int flags, int mode);

/* The other file has the name only while it is opened. */
static int open_other(const char *path, int flags, int mode)
{
	bool is_it = !strcmp(path, own_path);
	int fd;

	if (is_it) {
		assert_int_equal(rename(own_path, aside_path), 0);
		assert_int_equal(rename(other_path, own_path), 0);
	}
	fd = open_own(path, flags, mode);
	if (is_it) {
		assert_int_equal(rename(own_path, other_path), 0);
		assert_int_equal(rename(aside_path, own_path), 0);
	}
	return fd;
}

static void a_name_that_was_lent_is_seen(void **state)
{
	char *path = make_database(*state, "own.db");
	char *other = make_database(*state, "other.db");
	char *aside = support_path_take(*state, "aside");
	sqlite3_vfs *vfs = sqlite3_vfs_find(NULL);
	struct pf_err err = { 0 };
	struct pf_db db, beside;

	assert_int_equal(pf_db_see_files(&err), 0);
	assert_int_equal(pf_db_open(&db, path, true, &err), 0);
	own_path = path, other_path = other, aside_path = aside;
	open_own = (int (*)(const char *, int, int))vfs->xGetSystemCall(vfs,
									"open");
	vfs->xSetSystemCall(vfs, "open", (sqlite3_syscall_ptr)open_other);
	assert_int_equal(pf_db_open_beside(&beside, &db, &err), -1);
	vfs->xSetSystemCall(vfs, "open", (sqlite3_syscall_ptr)open_own);
	support_error(&err, PF_EIO, "was replaced while it was read");
	pf_db_close(&db);
	free(path);
	free(other);
	free(aside);
}

/* A full disk is an error of the system, not of the database. */
static void a_full_file_is_an_io_error(void **state)
{
	char *path = support_path_take(*state, "full.db");
	struct pf_err err = { 0 };
	struct pf_db db;

	pf_db_create(&db, path, &err);
	support_no_error(&err);
	assert_int_equal(pf_db_exec(&db, "PRAGMA max_page_count=40", &err), 0);
	assert_int_equal(pf_db_exec(&db,
				    "INSERT INTO meta VALUES('x',"
				    " zeroblob(2000000))",
				    &err),
			 -1);
	support_error(&err, PF_EIO, "full");
	pf_db_close(&db);
	free(path);
}

/* It is rolled back under whoever reads it: that says nothing of the input. */
static void who_reads_a_full_file_blames_the_machine(void **state)
{
	struct pf_err full = { 0 }, err = { 0 };
	char *path = support_path_take(*state, "rolled.db");
	sqlite3_stmt *st;
	struct pf_db db;
	int rc;

	pf_db_create(&db, path, &err);
	pf_db_exec(&db,
		   "PRAGMA max_page_count=100; WITH RECURSIVE n(x) AS (SELECT 1"
		   " UNION ALL SELECT x + 1 FROM n WHERE x < 400)"
		   "INSERT INTO meta SELECT 'k' || x, zeroblob(200) FROM n",
		   &err);
	support_no_error(&err);
	st = pf_db_prepare(&db, "SELECT value FROM meta", &err);
	assert_non_null(st);
	assert_int_equal(pf_db_step(&db, st, &err), 1);
	assert_int_equal(pf_db_exec(&db,
				    "INSERT INTO meta VALUES('large', "
				    "zeroblob(1000000))",
				    &full),
			 -1);
	assert_int_equal(full.code, PF_EIO);
	while ((rc = pf_db_step(&db, st, &err)) == 1)
		;
	assert_int_equal(rc, -1);
	assert_false(pf_err_is_of_input(&err));
	sqlite3_finalize(st);
	err = (struct pf_err){ 0 };
	assert_null(pf_db_prepare(&db, "SELECT value FROM meta", &err));
	assert_false(pf_err_is_of_input(&err));
	pf_db_close(&db);
	free(path);
}

/* By its text, not its bindings; never one that somebody else has. */
static void kept_statements_are_used_again(void **state)
{
	static const char text[] = "SELECT ?1, ?2 ;\n";
	char *path = make_database(*state, "kept.db");
	sqlite3_stmt *first, *second, *other;
	struct pf_err err = { 0 };
	struct pf_db db;

	pf_db_open(&db, path, false, &err);
	first = pf_db_prepare(&db, text, &err);
	second = pf_db_prepare(&db, text, &err);
	support_no_error(&err);
	assert_ptr_not_equal(first, second);
	sqlite3_bind_int(first, 1, 7);
	assert_int_equal(pf_db_step(&db, first, &err), 1);
	assert_int_equal(sqlite3_column_int(first, 0), 7);
	pf_db_keep(&db, first);
	pf_db_keep(&db, NULL);
	other = pf_db_prepare(&db, "SELECT ?1, ?2, 3", &err);
	assert_ptr_not_equal(other, first);
	assert_ptr_equal(pf_db_prepare(&db, text, &err), first);
	assert_int_equal(pf_db_step(&db, first, &err), 1);
	assert_int_equal(sqlite3_column_type(first, 0), SQLITE_NULL);
	pf_db_keep(&db, first);
	pf_db_keep(&db, second);
	pf_db_keep(&db, other);
	pf_db_close(&db);
	free(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(created_databases_open),
		cmocka_unit_test(opened_databases_are_read_only),
		cmocka_unit_test(others_are_refused),
		cmocka_unit_test(create_never_overwrites),
		cmocka_unit_test(only_our_files_may_be_replaced),
		cmocka_unit_test(another_file_is_not_opened_beside),
		cmocka_unit_test(a_name_that_was_lent_is_seen),
		cmocka_unit_test(a_full_file_is_an_io_error),
		cmocka_unit_test(who_reads_a_full_file_blames_the_machine),
		cmocka_unit_test(kept_statements_are_used_again),
	};

	return cmocka_run_group_tests_name("db", tests, set_up, tear_down);
}
