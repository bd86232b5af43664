/* SPDX-License-Identifier: MIT */
/* Databases that stay open from one command to the next. */
#include "unit/support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "store/db.h"

static char *dir, *name, *first, *second;
static int (*open_next)(const char *path, int flags, int mode);
static bool is_swapped;

static int set_up(void **state)
{
	(void)state;
	dir = support_tmp_take();
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	support_tmp_release(dir);
	return 0;
}

/* A database that has so many texts. */
static char *make_database(const char *as, int texts)
{
	char *path = support_path_take(dir, as);
	struct pf_err err = { 0 };
	struct pf_db db;
	char sql[99];

	pf_db_create(&db, path, &err);
	support_no_error(&err);
	for (int i = 1; i <= texts; i++) {
		snprintf(sql, sizeof(sql),
			 "INSERT INTO string VALUES(%d, 'text %d')", i, i);
		assert_int_equal(pf_db_exec(&db, sql, &err), 0);
	}
	pf_db_finish(&db, &err);
	support_no_error(&err);
	return path;
}

/* The name becomes another file's. */
static void give_name(const char *path)
{
	char *new = support_path_take(dir, "new.db");

	assert_int_equal(link(path, new), 0);
	assert_int_equal(rename(new, name), 0);
	free(new);
}

/* SQLite opens a file: just before, the name is given to another. */
static int open_another(const char *path, int flags, int mode)
{
	if (!is_swapped && strstr(path, "name.db")) {
		is_swapped = true;
		give_name(second);
	}
	return open_next(path, flags, mode);
}

static int64_t count_texts(struct pf_cmd_kept *kept)
{
	char select[] = "SELECT count(*) FROM string", csv[] = "--format=csv";
	char *argv[] = { name, select, csv, NULL };
	struct pf_err err = { 0 };
	FILE *out = tmpfile();
	char line[64];

	assert_non_null(out);
	assert_int_equal(pf_cmd_run(pf_cmd_find("query", &err), 3, argv, out,
				    kept, &err),
			 0);
	support_no_error(&err);
	rewind(out);
	assert_non_null(fgets(line, sizeof(line), out));
	assert_non_null(fgets(line, sizeof(line), out));
	fclose(out);
	return atoll(line);
}

static void what_stays_is_what_was_opened(void **state)
{
	sqlite3_vfs *vfs = sqlite3_vfs_find(NULL);
	struct pf_cmd_kept kept = { 0 };
	struct pf_err err = { 0 };

	(void)state;
	assert_int_equal(pf_db_see_files(&err), 0);
	name = support_path_take(dir, "name.db");
	first = make_database("first.db", 1);
	second = make_database("second.db", 2);
	give_name(first);
	open_next = (int (*)(const char *, int, int))vfs->xGetSystemCall(
		vfs, "open");
	vfs->xSetSystemCall(vfs, "open", (sqlite3_syscall_ptr)open_another);
	assert_int_equal(count_texts(&kept), 2);
	assert_true(is_swapped);
	give_name(first);
	assert_int_equal(count_texts(&kept), 1);
	assert_int_equal(count_texts(&kept), 1);
	give_name(second);
	assert_int_equal(count_texts(&kept), 2);
	pf_cmd_kept_release(&kept);
	free(name);
	free(first);
	free(second);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_stays_is_what_was_opened),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
