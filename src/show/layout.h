/* SPDX-License-Identifier: MIT */
/*
 * Where the columns of a table of text go: widths, columns that are left out
 * and columns that stand on a further line of each row.  Pure arithmetic on
 * widths; private to render/.
 *
 * Names get the room first: columns that may be left out are, the rightmost
 * first, before a text has less than 40 columns; then texts but the first go
 * to a line below, the rightmost first, if not all have 20 columns; what room
 * is left goes to the narrowest texts first.  No line is wider than the limit, unless it is a single number.
 */
#ifndef PF_SHOW_LAYOUT_H
#define PF_SHOW_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>

#define PF_LAYOUT_GAP 2 /* spaces between columns */

struct pf_place {
	/* In. */
	size_t natural; /* columns of the widest cell, and of the title */
	bool is_right;  /* numbers, which keep their width */
	bool is_spare;  /* may be left out */
	bool is_whole;  /* prose, the first to go below, alone on its line */
	/* Out. */
	bool is_hidden;
	size_t line, width;
};

struct pf_layout {
	struct pf_place *places;
	size_t count;
	size_t lines;  /* of a row */
	size_t indent; /* of those after the first */
};

/* Fill in what is "out"; limit SIZE_MAX: everything on one line. */
void pf_layout_find(struct pf_layout *layout, size_t limit);

#endif
