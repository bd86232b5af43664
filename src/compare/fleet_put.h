/* SPDX-License-Identifier: MIT */
/*
 * Writing a fleet: strings get their numbers in the order of their first use,
 * and rows are the fields of structs (show/rows.h).  Memory grows with the
 * number of distinct strings.
 */
#ifndef PF_COMPARE_FLEET_PUT_H
#define PF_COMPARE_FLEET_PUT_H

#include "base/intern.h"
#include "compare/fleet.h"

struct pf_fleet_out {
	struct pf_db *db; /* borrowed, of pf_fleet_kind */
	struct pf_intern texts;
	sqlite3_stmt *text;
	int64_t rank_id; /* that is being written */
};

int pf_fleet_out_open(struct pf_fleet_out *out, struct pf_db *db,
		      struct pf_err *err);
void pf_fleet_out_close(struct pf_fleet_out *out);

/* The number of a string. */
int pf_fleet_text(struct pf_fleet_out *out, const char *s, size_t len,
		  int64_t *id, struct pf_err *err);

/*
 * Rows of a table of the rank.  The key of a field is the name of its column;
 * that of a text has "_id" behind it.
 */
#define PF_FLEET_PUT(out, table, fields, rows, row_count, err)                 \
	pf_fleet_put(out, table, PF_FIELDS(fields), rows, row_count,           \
		     sizeof(*(rows)), err)
int pf_fleet_put(struct pf_fleet_out *out, const char *table,
		 const struct pf_field *fields, size_t count, const void *rows,
		 size_t row_count, size_t row_bytes, struct pf_err *err);

#endif
