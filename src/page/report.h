/* SPDX-License-Identifier: MIT */
/*
 * The report of a database: the same verdicts and figures as a page of HTML
 * that needs nothing but itself, as Markdown, or as a document.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "analysis/advise/advise.h"
#include "base/buf.h"
#include "page/gather.h"
#include "page/page.h"
#include "page/timeline.h"
#include "page/verdict.h"
#include "show/doc.h"
#include "store/db.h"

/* The few figures that a reviewer looks for first. */

struct pf_tile {
	struct pf_col col;
	struct pf_cell value; /* a number */
	struct pf_buf detail; /* a few words below it; may be empty */
};

#define PF_TILES 8

struct pf_tiles {
	struct pf_tile tile[PF_TILES];
	size_t count;
};

struct pf_report_args {
	struct pf_window_args window;
	struct pf_page_args page;
	bool no_page;  /* verdicts and tiles are all that is wanted */
	bool no_tiles; /* then: and no tiles */
};

struct pf_report {
	struct pf_db *db;
	struct pf_report_args args;
	struct pf_redact *redact;
	struct pf_parts parts;
	struct pf_verdicts verdicts;
	struct pf_tiles tiles;
	struct pf_timelines timelines; /* if wanted */
	struct pf_advise advise;
};

/* Gather everything; db_name is how commands of the page name the file. */
int pf_report_make(struct pf_db *db, const struct pf_report_args *args,
		   const char *db_name, struct pf_report *out);
void pf_report_release(struct pf_report *r);

/* Once: the names of the timeline are changed on the way. */
int pf_report_html(struct pf_report *r, struct pf_buf *out);
/* html_name: of the page beside it, or NULL. */
void pf_report_md(const struct pf_report *r, const char *html_name,
		  struct pf_buf *out);
void pf_report_doc(const struct pf_report *r, struct pf_doc *doc);
