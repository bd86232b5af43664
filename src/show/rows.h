/* SPDX-License-Identifier: MIT */
/*
 * Tables and figures out of structs: a column is a field, so what is declared
 * and what is shown cannot differ.
 *
 *	struct gap { int64_t stream, gap_ns; const char *after; };
 *	static const struct pf_field gap_fields[] = {
 *		PF_FIELD(struct gap, stream, "stream", "Stream", PF_INT),
 *		PF_FIELD(struct gap, gap_ns, "gap_ns", "Idle", PF_NS),
 *		PF_FIELD(struct gap, after, "after", "After", PF_TEXT),
 *	};
 *	PF_ROWS(doc, "gaps", "Idle time", gap_fields, gaps, gap_count);
 *
 * A field is an int64_t, a double, a bool or a const char *; a member of
 * another type does not compile.  Null are: an integer of kind PF_KNOWN that
 * is negative or of kind PF_MAYBE that is PF_NO_INT, a double that is not a number, a text that is NULL.  Texts are
 * copied.
 *
 * Columns that are not there in all cases: put fields into an array of one's
 * own and add PF_ABSENT to the kind of some.
 */
#ifndef PF_SHOW_ROWS_H
#define PF_SHOW_ROWS_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "show/doc.h"

enum pf_field_type {
	PF_FIELD_INT,
	PF_FIELD_REAL,
	PF_FIELD_BOOL,
	PF_FIELD_TEXT
};

struct pf_field {
	struct pf_col col;
	enum pf_field_type type;
	size_t at, row_bytes; /* of the member; of its struct */
};

#define PF_FIELD_TYPE(member)                                                  \
	_Generic((member), int64_t                                 \
		 : PF_FIELD_INT, double                            \
		 : PF_FIELD_REAL, bool                             \
		 : PF_FIELD_BOOL, const char *                     \
		 : PF_FIELD_TEXT)

/* "row" is the type of the struct. */
#define PF_FIELD(row, member, key, title, kind)                                \
	{                                                                      \
		{ key, title, kind }, PF_FIELD_TYPE(((row *)NULL)->member),    \
			offsetof(row, member), sizeof(row)                     \
	}

/* An array of fields, as two arguments. */
#define PF_FIELDS(fields) (fields), (sizeof(fields) / sizeof(*(fields)))

/* An empty table with these columns, as pf_doc_table(). */
struct pf_table *pf_doc_fields(struct pf_doc *doc, const char *name,
			       const char *title, const struct pf_field *fields,
			       size_t count);

/* The same of no document, as pf_table_new(). */
struct pf_table *pf_fields_table(const char *name, const char *title,
				 const struct pf_field *fields, size_t count);

/* Add one row; "row" is an lvalue.  A row of another size is a bug: abort. */
#define PF_PUT(t, fields, row)                                                 \
	pf_table_put(t, PF_FIELDS(fields), &(row), sizeof(row))
void pf_table_put(struct pf_table *t, const struct pf_field *fields,
		  size_t count, const void *row, size_t row_bytes);

/* A table of an array; borrowed, as pf_doc_table(). */
#define PF_ROWS(doc, name, title, fields, rows, row_count)                     \
	pf_doc_rows(doc, name, title, PF_FIELDS(fields), rows, row_count,      \
		    sizeof(*(rows)))
struct pf_table *pf_doc_rows(struct pf_doc *doc, const char *name,
			     const char *title, const struct pf_field *fields,
			     size_t count, const void *rows, size_t row_count,
			     size_t row_bytes);

/* The fields of one struct as figures of the document. */
#define PF_SCALARS(doc, fields, row)                                           \
	pf_doc_put(doc, PF_FIELDS(fields), &(row), sizeof(row))
void pf_doc_put(struct pf_doc *doc, const struct pf_field *fields, size_t count,
		const void *row, size_t row_bytes);

/* A share or a mean; not a number, so null, if there is no whole. */
static inline double pf_ratio(double part, int64_t whole)
{
	return whole > 0 ? part / (double)whole : NAN;
}

/* What a field of a row holds; a text is borrowed. */
struct pf_cell pf_field_cell(const struct pf_field *field, const void *row);

#endif
