/* SPDX-License-Identifier: MIT */
/*
 * A document: what an analysis answers.  Scalars (single figures with a key,
 * a title and a kind), tables in order, and notes (sentences for people, such
 * as what was left out).  A zero-initialised struct is an empty document; it
 * owns all that is added to it.
 */
#ifndef PF_SHOW_DOC_H
#define PF_SHOW_DOC_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "show/table.h"

struct pf_scalar {
	struct pf_col col;   /* key and title owned */
	struct pf_cell cell; /* text owned */
};

struct pf_doc {
	struct pf_scalar *scalars;
	size_t scalar_count, scalar_cap;
	struct pf_table **tables;
	size_t table_count, table_cap;
	/* The finding is all there is to say: no empty tables for people. */
	bool is_nothing;
	/* Of many ranks: people get a page of it, as of folded tables. */
	bool is_of_many;
	/* Tables after these may be folded away; 0: none. */
	size_t main_tables;
	char **notes;
	size_t note_count, note_cap;
	size_t failed_count; /* of the notes, the first: checks that failed */
	/*
	 * Set by who asks for the document, or not at all: names of tables
	 * with a space between them.  Those are cut to the limit of "order",
	 * and the first is put in its order.  Both are borrowed.
	 */
	const char *lists;
	struct pf_order order;
};

void pf_doc_release(struct pf_doc *doc);

/* Add a figure; both are copied.  One of kind PF_FULL is for csv and json. */
void pf_doc_cell(struct pf_doc *doc, const struct pf_col *col,
		 const struct pf_cell *cell);

void pf_doc_int(struct pf_doc *doc, const char *key, const char *title,
		enum pf_col_kind kind, int64_t value);
void pf_doc_real(struct pf_doc *doc, const char *key, const char *title,
		 enum pf_col_kind kind, double value);
/* A figure that is not known. */
void pf_doc_null(struct pf_doc *doc, const char *key, const char *title,
		 enum pf_col_kind kind);
/* s NULL: null. */
void pf_doc_string(struct pf_doc *doc, const char *key, const char *title,
		   const char *s);

/*
 * The answer in one sentence without a full stop, under the key "finding":
 * for people it stands above everything else.  Call it first.
 */
#define PF_DOC_FINDING "finding"
void pf_doc_finding(struct pf_doc *doc, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/*
 * All rows of the lists are there: put them in order, and note how many were
 * left out.  PF_EUSAGE if the first list has no column of order.word.
 */
int pf_doc_settle(struct pf_doc *doc, struct pf_err *err);

/* A new table at the end; borrowed, the document frees it. */
struct pf_table *pf_doc_table(struct pf_doc *doc, const char *name,
			      const char *title, const struct pf_col *cols,
			      size_t count);
/* The same of a table that has its rows, in the order of the lists. */
void pf_doc_adopt(struct pf_doc *doc, struct pf_table *t);

/*
 * A sentence without a full stop; may quote texts from traces.  Cut at 1023
 * bytes.
 */
void pf_doc_note(struct pf_doc *doc, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/*
 * A check that was asked for failed: "failed: " and the reason, before all
 * other notes.  Formats for people begin with them.
 */
void pf_doc_failed(struct pf_doc *doc, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

#endif
