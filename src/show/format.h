/* SPDX-License-Identifier: MIT */
/*
 * What a format implements; private to show/.  The calls come in this
 * order: begin, scalars, for each table (head, row*, tail), notes, end.
 */
#pragma once

#include <stdio.h>

#include "base/buf.h"
#include "base/json.h"
#include "show/render.h"
#include "show/doc.h"

struct pf_text;

struct pf_printer {
	struct pf_row_sink sink;         /* first: a printer is a row sink */
	const struct pf_format_ops *ops; /* of style.format */
	struct pf_style style;
	FILE *out;
	struct pf_buf buf;        /* written out when it is large */
	struct pf_jsonw json;     /* json.c */
	struct pf_buf keys;       /* json.c: of the table, each with a NUL */
	bool is_terminal;         /* csv.c: mask what could steer it */
	size_t failed_count;      /* notes of checks that failed were printed */
	size_t section;           /* parts printed so far: csv, text, md */
	const char *name, *title; /* of the table being printed */
	const struct pf_col *cols; /* with keys made unique */
	size_t col_count;
	struct pf_table *gathered; /* owns cols; text.c: rows for the widths */
	const bool *is_whole;      /* the same; both of show/doc.h */
	const bool *is_spare;      /* per column, or NULL: none is */
	struct pf_text *text;      /* text.c: how the table looks, or NULL */
	size_t row_count;
};

/* What begins is an empty line away from the part before it. */
static inline void pf_printer_section(struct pf_printer *p)
{
	if (p->section)
		pf_buf_addc(&p->buf, '\n');
}

/* What a format has nothing to print for is NULL. */
struct pf_format_ops {
	void (*begin)(struct pf_printer *p);
	void (*scalars)(struct pf_printer *p, const struct pf_scalar *scalars,
			size_t count);
	void (*head)(struct pf_printer *p);
	void (*row)(struct pf_printer *p, const struct pf_cell *cells);
	void (*tail)(struct pf_printer *p);
	void (*notes)(struct pf_printer *p, const char *const *notes,
		      size_t count);
	void (*end)(struct pf_printer *p);
	/* What is folded away begins or ends. */
	void (*fold)(struct pf_printer *p, bool is_begin);
	/* Frees what it keeps of a table, whole or not. */
	void (*release)(struct pf_printer *p);
	/* Instead of all these: the format is of nothing but checks. */
	void (*checks)(struct pf_printer *p, const struct pf_doc *doc);
};

/*
 * Defines a format and enters it in the list, which src/entries.sh makes;
 * options show them in the order of the numbers:
 *
 *	PF_FORMAT(20, csv) = { "csv", PF_WIDE, &ops };
 */
#define PF_FORMAT(number, name) const struct pf_format pf_format_##name

/* The value for people (units, separators), not escaped if it is a text. */
void pf_cell_show(struct pf_buf *out, const struct pf_cell *cell,
		  enum pf_col_kind kind);
