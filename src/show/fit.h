/* SPDX-License-Identifier: MIT */
/*
 * Long texts in narrow columns: a text has two lines in its column; what is
 * longer loses its middle, but not what tells it from the other texts of the
 * column.  All texts here are masked (base/utf8.h).  Private to render/.
 */
#ifndef PF_SHOW_FIT_H
#define PF_SHOW_FIT_H

#include <stdbool.h>
#include <stddef.h>

/* Second and further lines of a cell begin with spaces, but in narrow ones. */
size_t pf_fit_indent(size_t width);

/* How many columns a text has in a column of this width. */
size_t pf_fit_columns(size_t width);

/* May a text be cut at word ends, or does it then need a line more? */
bool pf_fit_is_loose(const char *s, size_t len, size_t width);

/* Bytes of the line that a text begins with; > 0 if len is. */
size_t pf_fit_line(const char *s, size_t len, size_t width, bool is_loose);

struct pf_fit_name {
	char *whole;     /* set by the caller, who owns it */
	char *shown;     /* the caller frees it */
	size_t row, col; /* for the caller */
	size_t columns;  /* at most so many columns are shown */
	bool is_path;    /* its end is what matters */
};

/*
 * Fill in "shown" so that names that differ do so as shown; puts the names
 * into another order.  Where nothing else helps a name is shown whole.
 */
void pf_fit_names(struct pf_fit_name *names, size_t count);

#endif
