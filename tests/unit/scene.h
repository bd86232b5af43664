/* SPDX-License-Identifier: MIT */
/*
 * Small traces in a database of their own, and the document that an analysis
 * makes of it.  unit/events.h has the events to write them with.
 */
#ifndef PF_TESTS_SCENE_H
#define PF_TESTS_SCENE_H

#include "unit/support.h"

#include "store/db.h"
#include "ingest/ingest.h"
#include "show/doc.h"

struct scene {
	char *dir, *path; /* the folder, which goes at the end; the database */
	struct pf_db db;
	struct pf_err err; /* db.err, unless a test has one of its own */
	struct pf_doc doc;
};

/* Fail the test if a trace cannot be read; second may be NULL. */
void scene_open(struct scene *s, const char *json);
void scene_open_two(struct scene *s, const char *first, const char *second);
/* One trace or two; the options lack nothing but the files. */
void scene_open_with(struct scene *s, const char *const *jsons, size_t count,
		     const struct pf_ingest_options *options);
void scene_close(struct scene *s);
/* Forget the document, for the next analysis. */
void scene_clear(struct scene *s);
/* Change the database behind the program's back. */
void scene_change(struct scene *s, const char *sql);

/*
 * Fail the test if there is no such table, row or column.  The scalars are the
 * row 0 of the table NULL.
 */
const struct pf_table *scene_table(const struct scene *s, const char *name);
size_t scene_row_count(const struct scene *s, const char *table);
const struct pf_cell *scene_cell(const struct scene *s, const char *table,
				 size_t row, const char *key);
bool scene_has_note(const struct scene *s, const char *part);

/* The cell holds this. */
void scene_int(const struct scene *s, const char *table, size_t row,
	       const char *key, int64_t want);
void scene_real(const struct scene *s, const char *table, size_t row,
		const char *key, double want);
void scene_text(const struct scene *s, const char *table, size_t row,
		const char *key, const char *want);
void scene_null(const struct scene *s, const char *table, size_t row,
		const char *key);

#endif
