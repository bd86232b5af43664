/* SPDX-License-Identifier: MIT */
/*
 * Which columns of a table a format shows.  csv and json have all but those
 * for people; text and md leave out those that are for programs, as long as
 * no two rows look the same for it: rows do if all their texts are equal.
 * Private to render/.
 */
#ifndef PF_SHOW_CHOOSE_H
#define PF_SHOW_CHOOSE_H

#include <stdbool.h>
#include <stddef.h>

#include "show/doc.h"

/* Zero-initialised, it owns its arrays. */
struct pf_choice {
	const struct pf_table *table;
	bool is_wide;
	struct pf_col *cols; /* with their bare kinds */
	size_t *places;      /* of them in the table */
	bool *is_spare;      /* PF_SPARE */
	bool *is_whole;      /* PF_WHOLE */
	size_t count;
	bool *tells; /* only there to tell rows apart */
	/*
	 * A short text for people has the whole one in another column of the
	 * same title (count of columns: none); rows that look the same
	 * with it show that one.
	 */
	size_t *instead;
	bool *is_same; /* by row: looks like another one */
};

void pf_choice_make(struct pf_choice *c, const struct pf_table *t,
		    bool is_wide);
/* Is there nothing to say in this row (PF_QUIET)? */
bool pf_choice_is_quiet(const struct pf_choice *c, size_t row);

/* The figures that this format shows: copies of structs, the caller frees. */
struct pf_scalar *pf_choose_scalars(const struct pf_scalar *all, size_t *count,
				    bool is_wide);

void pf_choice_release(struct pf_choice *c);

/* The cell of a row to be shown in chosen column i; borrowed. */
const struct pf_cell *pf_choice_cell(const struct pf_choice *c, size_t row,
				     size_t i);

#endif
