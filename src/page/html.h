/* SPDX-License-Identifier: MIT */
/*
 * Figures as a report shows them: three digits that can be read at a glance.
 * The exact value stands beside them in the page (attribute data-v) and in
 * the JSON of the command.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/intern.h"
#include "page/gather.h"
#include "page/timeline.h"
#include "show/doc.h"

/* Appended: 850 ns, 12.3 us, 644 ms, 1.211 s. */
void pf_figure_ns(struct pf_buf *out, int64_t ns);
/* 512 B, 1.6 MiB. */
void pf_figure_bytes(struct pf_buf *out, int64_t bytes);
/* 12.3 %, <0.1 %. */
void pf_figure_ratio(struct pf_buf *out, double ratio);
/* 1,234,567. */
void pf_figure_count(struct pf_buf *out, int64_t n);

/* A number by the kind of its column; nothing for null and texts. */
void pf_figure_cell(struct pf_buf *out, const struct pf_cell *cell,
		    enum pf_col_kind kind);

/* The exact value, as JSON has it. */
void pf_figure_exact(struct pf_buf *out, const struct pf_cell *cell);

/*
 * Pieces of HTML: every text goes through pf_escape_html(), every number is
 * shown short with its exact value beside it.
 */

/*
 * Tooltips of cells whose text is cut or shortened, and of words that are ours.
 * Names come back in many rows, so a tooltip is written only where it differs
 * from the one that the same text had before on the page (at first: itself);
 * reports/shared.js gives it to the cells between.
 */

struct pf_titles {
	struct pf_intern texts; /* escaped: what is shown, and tooltips */
	uint32_t *in_force;     /* tooltip of each as a shown text */
	size_t cap;
	struct pf_data *words; /* show/glossary.h */
	bool *is_used;         /* of each: it stands on the page */
};

int pf_titles_init(struct pf_titles *t, struct pf_err *err);
void pf_titles_release(struct pf_titles *t);

/* The words on the page and what they mean, as a list: tooltips need a mouse. */
void pf_titles_list(const struct pf_titles *t, struct pf_buf *out);

/* A string of ours or of a trace; NULL: nothing. */
void pf_html_text(struct pf_buf *out, const char *s);
/* Prose: no line ends between a number and its unit. */
void pf_html_prose(struct pf_buf *out, const char *s, size_t len);

/* The digest of a trace's file, short, whole as a tooltip; NULL: nothing. */
void pf_html_digest(struct pf_buf *out, const char *digest);

void pf_html_ratio(struct pf_buf *out, double ratio);

/*
 * A table of the page: one of a part's document in columns of its choice.  How
 * a column looks is said where its field is (PF_BAR and so on: show/doc.h);
 * "cols" names them by their keys, "key; key=Title of the page; key".  Absent
 * columns are left out.
 */
struct pf_html_table {
	const char *id, *caption;
	enum pf_part part;
	const char *name; /* of the table in the part */
	size_t rows_max;
	const char *cols;
	const char *share; /* key of a share to sum, or NULL */
	/* Key of the length of what begins at "start_ns", which is a link to
	 * it; NULL: it is a time like others. */
	const char *span;
	/* Only such rows; NULL: all. */
	bool (*is_wanted)(const struct pf_table *t, size_t row);
};

/* One of them; after the columns what else is to be said: ".share = KEY". */
#define TABLE(id_, caption_, part_, name_, max_, cols_, ...)                   \
	{                                                                      \
		.id = id_, .caption = caption_, .part = part_, .name = name_,  \
		.rows_max = max_, .cols = cols_, __VA_ARGS__                   \
	}

struct pf_html_page {
	const struct pf_parts *parts;
	const char *source_url;               /* or NULL */
	const struct pf_timelines *timelines; /* of the page, or NULL */
	int64_t first_ns;                     /* of the first trace */
	const char *command; /* that made all tables, or NULL: by part */
	struct pf_titles *titles;
};

/* A word of ours in the column of "key", or as a title (NULL), with what it means
 * as a tooltip (show/glossary.h). */
void pf_html_word(struct pf_buf *out, const struct pf_html_page *page,
		  const char *key, const char *word, size_t len);

/* One of the few figures above all; below it a few words, or NULL. */
void pf_html_tile(struct pf_buf *out, const struct pf_html_page *page,
		  const struct pf_col *col, const struct pf_cell *cell,
		  const struct pf_buf *detail);

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
