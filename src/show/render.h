/* SPDX-License-Identifier: MIT */
/*
 * Printing a document, or rows as they come, in one of the formats.  Every
 * text is escaped here, by format, and nowhere else:
 *
 *	text  for people: aligned, units, no line over the width: long texts
 *	      have two lines and lose their middle, but not what tells two
 *	      rows apart; control bytes and invalid UTF-8 as \xNN
 *	csv   raw numbers, header of keys; several tables of a document follow
 *	      each other after an empty line, scalars are the table "key,value"
 *	json  {"command": C, "version": V, "scalars": {},
 *	      "tables": {NAME: [{KEY: V}]}, "notes": []}
 *	md    GitHub tables
 *	schema  no figures: the JSON Schema of what json would be
 *	junit, github  checks that were asked for and nothing else
 *
 * csv, json and md write rows as they come; text keeps the first 10,000 to
 * find the widths and then writes on with these.
 */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "base/err.h"
#include "show/doc.h"

/*
 * The version of all documents in json.  Within it figures, tables and columns
 * may be added; none is renamed or removed, and none changes its kind.
 */
#define PF_DOC_VERSION 1

/* What the rest of the program may ask of a format. */
enum pf_format_flags {
	PF_WIDE = 1,       /* every column (PF_FULL), raw numbers */
	PF_FOR_PEOPLE = 2, /* of a document with nothing only the finding */
	PF_SHORT = 4,      /* lists end early */
	PF_OF_CHECKS = 8,  /* there is no figure and no table in it */
};

struct pf_format_ops;
struct pf_format {
	const char *name;
	unsigned flags;                  /* enum pf_format_flags */
	const struct pf_format_ops *ops; /* NULL: see pf_format_page */
};

/* Every format in the order of help, then the page and those of checks; NULL. */
extern const struct pf_format *const pf_formats[];
/* Their names as an option's words: "html|text|csv|json|md|schema". */
extern const char pf_format_names[];
/* "|text|csv|json|md|schema", and with "|html" (1), "|junit|github" (2) or both. */
extern const char pf_format_words[4][64];

/* Those that somebody names; the page, "html", is made by report/. */
extern const struct pf_format pf_format_text, pf_format_csv, pf_format_json,
	pf_format_md, pf_format_schema, pf_format_page, pf_format_junit,
	pf_format_github;

struct pf_style {
	const struct pf_format *format;
	int width;           /* columns of text output; 0 = no limit */
	const char *command; /* for json; not NULL */
	const size_t *rows;  /* of each table, at most; NULL: all */
	bool is_page;        /* tables without a row are left out */
	bool is_color;       /* text for a terminal that has colors */
};

/*
 * Colors of text, all of them: they say again what the words say, and change
 * neither these nor the room they take.  Without is_color: nothing.
 */
enum pf_paint {
	PF_PAINT_NONE,
	PF_PAINT_HEAD,  /* titles, heads of columns, what is large */
	PF_PAINT_DIM,   /* rules, notes */
	PF_PAINT_ALARM, /* severe, bad, failed */
	PF_PAINT_CARE,  /* warnings */
};
void pf_paint(struct pf_buf *out, const struct pf_style *style,
	      enum pf_paint paint, const char *s, size_t len);
/* What a word that stands alone says of severity. */
enum pf_paint pf_paint_of_word(const char *s);

/* Print the whole document.  Write errors are found by the final check. */
int pf_render_doc(const struct pf_style *style, const struct pf_doc *doc,
		  FILE *out, struct pf_err *err);

/*
 * The same in at most "budget" bytes: tables end early, and notes say so.
 * PF_EUSAGE if even without rows it has more.
 */
int pf_render_budget(const struct pf_style *style, struct pf_doc *doc,
		     FILE *out, size_t budget, struct pf_err *err);

/*
 * The same in at most "lines" lines of text, if fewer rows do: one after the
 * other the table that has most lines to give gives a row, then the last ones
 * of one row go, and a note says how many are left out.
 */
int pf_render_lines(const struct pf_style *style, struct pf_doc *doc, FILE *out,
		    size_t lines, struct pf_err *err);

/*
 * A sink that prints one table called "name" as its rows come.  finish() ends
 * the output (also when no row came) and frees the sink; free() alone drops
 * it.
 */
struct pf_row_sink *pf_render_rows(const struct pf_style *style,
				   const char *name, FILE *out);
int pf_render_finish(struct pf_row_sink *sink, struct pf_err *err);
void pf_render_free(struct pf_row_sink *sink);
