/* SPDX-License-Identifier: MIT */
/*
 * Printing a document, or rows as they come, in one of the formats.  Every
 * text is escaped here, by format, and nowhere else:
 *
 *	text  for people: aligned, units, long texts shortened to the width;
 *	      control bytes and invalid UTF-8 as \xNN
 *	csv   raw numbers, header of keys; several tables of a document follow
 *	      each other after an empty line, scalars are the table "key,value"
 *	json  {"command": C, "scalars": {}, "tables": {NAME: [{KEY: V}]},
 *	      "notes": []}
 *	md    GitHub tables
 *
 * csv, json and md write rows as they come; text keeps the first 10,000 to
 * find the widths and then writes on with these.
 */
#ifndef PF_RENDER_RENDER_H
#define PF_RENDER_RENDER_H

#include <stdbool.h>
#include <stdio.h>

#include "base/err.h"
#include "table/doc.h"

/* In the order of PF_FORMAT_WORDS. */
enum pf_format { PF_FORMAT_TEXT, PF_FORMAT_CSV, PF_FORMAT_JSON, PF_FORMAT_MD };
#define PF_FORMAT_WORDS "text|csv|json|md"
/* And a page, which report/ makes, of commands that have one. */
#define PF_FORMAT_HTML       (PF_FORMAT_MD + 1)
#define PF_FORMAT_HTML_WORDS PF_FORMAT_WORDS "|html"

struct pf_style {
	enum pf_format format;
	int width;           /* columns of text output; 0 = no limit */
	const char *command; /* for json; not NULL */
};

/* Print the whole document.  Write errors are found by the final check. */
int pf_render_doc(const struct pf_style *style, const struct pf_doc *doc,
		  FILE *out, struct pf_err *err);

/*
 * A sink that prints one table called "name" as its rows come.  finish() ends
 * the output (also when no row came) and frees the sink; free() alone drops
 * it.
 */
struct pf_row_sink *pf_render_rows(const struct pf_style *style,
				   const char *name, FILE *out);
int pf_render_finish(struct pf_row_sink *sink, struct pf_err *err);
void pf_render_free(struct pf_row_sink *sink);

#endif
