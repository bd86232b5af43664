/* SPDX-License-Identifier: MIT */
/*
 * Pieces of HTML: every text goes through pf_escape_html(), every number is
 * shown short with its exact value beside it.
 */
#ifndef PF_PAGE_HTML_H
#define PF_PAGE_HTML_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/intern.h"
#include "page/gather.h"
#include "page/timeline.h"
#include "show/doc.h"

/*
 * Tooltips of cells whose text is cut or shortened.  Names come back in many
 * rows, so a tooltip is written only where it differs from the one that the
 * same text had before on the page (at first: itself); reports/app.js gives
 * it to the cells between.
 */

struct pf_titles {
	struct pf_intern texts; /* escaped: what is shown, and tooltips */
	uint32_t *in_force;     /* tooltip of each as a shown text */
	size_t cap;
};

void pf_titles_init(struct pf_titles *t);
void pf_titles_release(struct pf_titles *t);

/* Append ' title="..."' if it is needed.  Both texts are escaped. */
void pf_titles_add(struct pf_titles *t, const struct pf_buf *shown,
		   const struct pf_buf *title, struct pf_buf *out);

/* A string of ours or of a trace; NULL: nothing. */
void pf_html_text(struct pf_buf *out, const char *s);
void pf_html_bytes(struct pf_buf *out, const char *s, size_t len);

/* The digest of a trace's file, short, whole as a tooltip; NULL: nothing. */
void pf_html_digest(struct pf_buf *out, const char *digest);

/* A sentence with marked names (page/verdict.h). */
void pf_html_sentence(struct pf_buf *out, const struct pf_buf *sentence);

/* A figure (page/figure.h): "<0.1 %" must be escaped, too. */
void pf_html_cell(struct pf_buf *out, const struct pf_cell *cell,
		  enum pf_col_kind kind);
void pf_html_ratio(struct pf_buf *out, double ratio);

enum pf_html_style {
	PF_HTML_PLAIN,  /* by the kind of the column */
	PF_HTML_KERNEL, /* a kernel's name: short, whole as a tooltip */
	PF_HTML_BAR,    /* a ratio with a bar */
	PF_HTML_TIME,   /* start of a span in the trace: a link */
	PF_HTML_STEP,   /* start on the trace's clock: a link */
	PF_HTML_FRAME,  /* "file.py:12 f" */
	PF_HTML_CHANGE, /* a number with its sign */
	PF_HTML_DEVICE, /* plain; 0 in all rows: no device was recorded */
};

struct pf_html_col {
	const char *key;   /* of the table's column; absent ones are left out */
	const char *title; /* or NULL: the table's own */
	enum pf_html_style style;
	const char *span; /* PF_HTML_TIME, _STEP: key of its length */
};

struct pf_html_table {
	const char *id, *caption;
	enum pf_part part;
	const char *name;               /* of the table in the part */
	const struct pf_html_col *cols; /* ends with key NULL */
	size_t rows_max;
	const char *share; /* key of a share to sum, or NULL */
	/* Only such rows; NULL: all. */
	bool (*is_wanted)(const struct pf_table *t, size_t row);
};

struct pf_html_page {
	const struct pf_parts *parts;
	const char *source_url;               /* or NULL */
	const struct pf_timelines *timelines; /* of the page, or NULL */
	int64_t first_ns;                     /* of the first trace */
	const char *command; /* that made all tables, or NULL: by part */
	struct pf_titles *titles;
};

/* How many rows the table would have. */
size_t pf_html_count(const struct pf_parts *p, const struct pf_html_table *t);

/* The table, without columns in which nothing stands; nothing if it has no
 * rows. */
void pf_html_table(struct pf_buf *out, const struct pf_html_page *page,
		   const struct pf_html_table *t);

/* The side of the page's timeline that shows a trace, or NULL. */
const struct pf_timeline_side *pf_html_side(const struct pf_html_page *page,
					    int64_t trace_id);

/* A link to a span of the timeline, in ns after the first event of its trace,
 * if there is one; else just the text. */
void pf_html_span(struct pf_buf *out, const struct pf_html_page *page,
		  int64_t trace_id, int64_t from_ns, int64_t to_ns,
		  const char *text);

/* Short words for the columns of a page's tables: struct pf_html_col. */

#define STYLED(key, title, style, span)                                        \
	{                                                                      \
		key, title, style, span                                        \
	}
#define COL(key)             STYLED(key, NULL, PF_HTML_PLAIN, NULL)
#define COL_AS(key, title)   STYLED(key, title, PF_HTML_PLAIN, NULL)
#define BAR(key, title)      STYLED(key, title, PF_HTML_BAR, NULL)
#define CHANGE(key, title)   STYLED(key, title, PF_HTML_CHANGE, NULL)
#define KERNEL(key, title)   STYLED(key, title, PF_HTML_KERNEL, NULL)
#define DEVICE(key, title)   STYLED(key, title, PF_HTML_DEVICE, NULL)
#define FRAME(key)           STYLED(key, "Line or annotation", PF_HTML_FRAME, NULL)
#define TIME(key, title, ns) STYLED(key, title, PF_HTML_TIME, ns)
#define END                  STYLED(NULL, NULL, PF_HTML_PLAIN, NULL)

#endif
