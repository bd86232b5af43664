/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <csv.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/num.h"
#include "compare/fleet_labels.h"
#include "show/table.h"

#define COLUMNS_MAX 64
#define CELL_MAX    4096

struct reading {
	struct pf_db *scratch;
	sqlite3_stmt *insert;
	const char *file;
	char *names[COLUMNS_MAX]; /* of the first line */
	char *cells[COLUMNS_MAX];
	size_t name_count, cell_count, line;
	size_t rank_column;
	struct pf_err *err;
	int rc;
};

/* rank PF_NO_INT: of all. */
static int add_label(struct reading *r, int64_t rank, const char *key,
		     size_t key_len, const char *value)
{
	int rc;

	if (rank == PF_NO_INT)
		sqlite3_bind_null(r->insert, 1);
	else
		sqlite3_bind_int64(r->insert, 1, rank);
	sqlite3_bind_text(r->insert, 2, key, (int)key_len, SQLITE_STATIC);
	sqlite3_bind_text(r->insert, 3, value, -1, SQLITE_STATIC);
	rc = pf_db_step(r->scratch, r->insert, r->err);
	sqlite3_reset(r->insert);
	return rc;
}

/* ---- the file ---- */

static void forget_cells(struct reading *r)
{
	for (size_t i = 0; i < r->cell_count; i++)
		free(r->cells[i]);
	r->cell_count = 0;
}

static int take_names(struct reading *r)
{
	r->rank_column = COLUMNS_MAX;
	for (size_t i = 0; i < r->cell_count; i++) {
		r->names[i] = r->cells[i];
		if (!strcmp(r->names[i], "rank"))
			r->rank_column = i;
	}
	r->name_count = r->cell_count;
	r->cell_count = 0;
	if (r->rank_column < COLUMNS_MAX)
		return 0;
	return pf_fail(r->err, PF_EDATA,
		       "'%s': the first line has no column 'rank'", r->file);
}

static int take_row(struct reading *r)
{
	int64_t rank;
	int rc = 0;

	if (r->cell_count > r->name_count)
		return pf_fail(r->err, PF_EDATA,
			       "'%s': row %zu has %zu cells, and the first "
			       "row %zu",
			       r->file, r->line, r->cell_count, r->name_count);
	if (r->rank_column >= r->cell_count ||
	    pf_num_int(r->cells[r->rank_column], &rank) || rank < 0)
		return pf_fail(r->err, PF_EDATA,
			       "'%s': row %zu has no number of a rank", r->file,
			       r->line);
	for (size_t i = 0; i < r->cell_count && !rc; i++)
		if (i != r->rank_column && *r->cells[i])
			rc = add_label(r, rank, r->names[i],
				       strlen(r->names[i]), r->cells[i]);
	return rc;
}

static void on_cell(void *text, size_t len, void *arg)
{
	struct reading *r = arg;

	if (r->rc)
		return;
	if (r->cell_count == COLUMNS_MAX || len > CELL_MAX)
		r->rc = pf_fail(r->err, PF_ELIMIT,
				"'%s': row %zu has more than %d columns or a "
				"cell of more than %d bytes",
				r->file, r->line + 1, COLUMNS_MAX, CELL_MAX);
	else
		r->cells[r->cell_count++] = pf_memdup0(text, len);
}

static void on_row(int end, void *arg)
{
	struct reading *r = arg;

	(void)end;
	r->line++;
	if (!r->rc)
		r->rc = r->name_count ? take_row(r) : take_names(r);
	forget_cells(r);
}

static int parse(struct reading *r, FILE *in)
{
	struct csv_parser parser;
	char bytes[4096];
	size_t n;

	if (csv_init(&parser, 0))
		return pf_fail(r->err, PF_EIO, "out of memory");
	while (!r->rc && (n = fread(bytes, 1, sizeof(bytes), in)) > 0)
		if (csv_parse(&parser, bytes, n, on_cell, on_row, r) != n)
			r->rc = pf_fail(r->err, PF_EDATA, "'%s': %s", r->file,
					csv_strerror(csv_error(&parser)));
	if (!r->rc)
		csv_fini(&parser, on_cell, on_row, r);
	csv_free(&parser);
	if (!r->rc && ferror(in))
		r->rc = pf_fail_errno(r->err, "cannot read '%s'", r->file);
	if (!r->rc && !r->name_count)
		r->rc = pf_fail(r->err, PF_EDATA, "'%s' is empty", r->file);
	return r->rc;
}

static int read_file(struct reading *r)
{
	FILE *in = fopen(r->file, "re");
	int rc;

	if (!in)
		return pf_fail_errno(r->err, "cannot open '%s'", r->file);
	rc = parse(r, in);
	fclose(in);
	forget_cells(r);
	for (size_t i = 0; i < r->name_count; i++)
		free(r->names[i]);
	return rc;
}

/* ---- both ---- */

static int add_words(struct reading *r, const char *const *labels, size_t count)
{
	int rc = 0;

	for (size_t i = 0; i < count && !rc; i++) {
		size_t len = strcspn(labels[i], "=");

		if (!len || labels[i][len] != '=')
			return pf_fail(r->err, PF_EUSAGE,
				       "'--label %s': it is KEY=VALUE",
				       labels[i]);
		rc = add_label(r, PF_NO_INT, labels[i], len,
			       labels[i] + len + 1);
	}
	return rc;
}

int pf_fleet_labels_add(struct pf_db *scratch, const char *file,
			const char *const *labels, size_t count,
			struct pf_err *err)
{
	struct reading r = { .scratch = scratch, .file = file, .err = err };
	int rc = -1;

	r.insert = pf_db_prepare(scratch,
				 "INSERT INTO label (rank, key, value)"
				 " VALUES(?1, ?2, ?3)",
				 err);
	if (r.insert)
		rc = file ? read_file(&r) : 0;
	if (!rc)
		rc = add_words(&r, labels, count);
	sqlite3_finalize(r.insert);
	return rc;
}
